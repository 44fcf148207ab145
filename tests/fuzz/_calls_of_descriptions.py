"""Joints, forces, bodies and mechanisms, each with right arguments."""

import dataclasses
from typing import Any

import numpy as np
from force_samples import sample_mechanism, samples
from fuzz._call import Call, always, four_bar, rights, short_run
from fuzz._wrong import a_driven_mechanism
from random_mechanisms import random_body, random_joint

import varint as vi
from varint.model.joints import REGISTRY


def joint_calls() -> dict[str, Call]:
    rng, found = np.random.default_rng(3), {}
    for kind, cls in REGISTRY.items():
        body = random_body(rng, "b")
        sample = random_joint(rng, kind, "joint", "world", "b", body.position + 0.2)
        fields = {f.name: getattr(sample, f.name) for f in dataclasses.fields(sample) if f.init}

        def then(joint, body=body):
            short_run(vi.Mechanism("one", [body], [joint]))

        found[kind] = Call(cls, {name: always(value) for name, value in fields.items()}, then)
    return found


def force_calls() -> dict[str, Call]:
    rng, found = np.random.default_rng(4), {}
    for name, together in samples(rng).items():
        base = sample_mechanism(rng, together)
        together = list(base.forces)
        for k, force in enumerate(together):
            fields = {f.name: getattr(force, f.name) for f in dataclasses.fields(force) if f.init}
            others = together[:k] + together[k + 1 :]

            def then(force, base=base, others=others):
                short_run(vi.Mechanism("forced", base.bodies, base.joints, forces=[force, *others]))

            key = f"{name}, {k}" if k else name
            found[key] = Call(type(force), {field: always(value) for field, value in fields.items()}, then)
    return found


def body_calls() -> dict[str, Call]:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    pose = {"position": (0.0, 0.0, 1.0), "quat_wxyz": (1.0, 0.0, 0.0, 0.0)}
    touches = {"collision": True}
    shapes: dict[str, dict[str, Any]] = {
        "box": {"size": (1.0, 2.0, 3.0), "mass": 1.0, **pose, **touches},
        "cylinder": {"radius": 1.0, "length": 2.0, "mass": 1.0, **pose, **touches},
        "capsule": {"radius": 1.0, "length": 2.0, "mass": 1.0, **pose, **touches},
        "sphere": {"radius": 1.0, "mass": 1.0, **pose, **touches},
        "ellipsoid": {"semi_axes": (1.0, 2.0, 3.0), "mass": 1.0, **pose, "collision": False},
        "rod": {"start": (0.0, 0.0, 0.0), "end": (1.0, 0.0, 0.0), "mass": 1.0, "radius": 0.1, **touches},
        "mesh": {"vertices": corners, "triangles": faces, "mass": 1.0, **pose, **touches},
        "composite": {"parts": lambda: [vi.Body.sphere("s", 1.0, 1.0), (1.0, (1.0, 0.0, 0.0))]},
    }

    def then(body):
        short_run(vi.Mechanism("one", [body], [vi.Free("f", "world", body.name)]))

    found = {
        f"Body.{name}": Call(getattr(vi.Body, name), rights(name="b", **rest), then) for name, rest in shapes.items()
    }
    solids = {
        "solids": lambda: [{"kind": "sphere", "sizes": [1.0], "position": (0.0, 0.0, 0.5)}],
        "collision": lambda: [{"type": "BoxShape", "size": (0.1, 0.2, 0.3), "friction": 0.1}],
    }
    found |= {"Body": Call(vi.Body, rights(name="b", mass=1.0, inertia=np.eye(3), **pose, **solids), then)}
    return found | shape_calls()


def shape_calls() -> dict[str, Call]:
    """Shapes that touch."""
    surface = {"friction": 0.3, "restitution": 0.5}
    line = {"a": (0.0, 0.0, 0.0), "b": (0.0, 0.0, 1.0), "radius": 0.1}
    place = {"position": (0.0, 0.1, 0.2), "quat_wxyz": (1.0, 0.0, 0.0, 0.0)}
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    given: dict[str, dict] = {
        "SphereShape": {"radius": 0.1, "center": (0.0, 0.1, 0.2)},
        "CapsuleShape": line,
        "CylinderShape": line,
        "HollowSphereShape": {"radius": 0.1, "center": (0.0, 0.1, 0.2)},
        "HollowCylinderShape": line,
        "BoxShape": {"size": (0.1, 0.2, 0.3), **place},
        "ConvexMesh": {"vertices": corners, "hull": True, **place},
        "HeightField": {"heights": [(0.0, 0.1), (0.2, 0.0), (0.0, 0.1)], "spacing": 0.5, **place},
        "PlaneShape": {"point": (0.0, 0.0, -1.0), "normal": (0.0, 0.0, 1.0)},
    }

    def then(shape):
        body = vi.Body("b", mass=1.0, inertia=np.eye(3), collision=[shape])
        short_run(vi.Mechanism("one", [body], [vi.Free("f", "world", "b")], ground=[shape]))

    return {name: Call(getattr(vi, name), rights(**own, **surface), then) for name, own in given.items()}


def mechanism_calls() -> dict[str, Call]:
    four, state = four_bar(), four_bar().state()
    made = {
        "name": "m",
        "bodies": lambda: list(four.bodies),
        "joints": lambda: list(four.joints),
        "gravity": (0.0, 0.0, -9.81),
        "start": lambda: {"rates": {"crank pivot": 1.0}},
        "forces": lambda: [vi.JointDamper("d", joint="crank pin", damping=1.0)],
        "ground": lambda: [vi.PlaneShape()],
        "import_report": vi.ImportReport(),
    }
    motion = {
        "coordinates": lambda: {"crank pivot": 0.1},
        "rates": lambda: {"crank pivot": 1.0},
        "position": lambda: {"crank": np.array(state.position[0])},
        "quat_wxyz": lambda: {"crank": np.array(state.quat_wxyz[0])},
        "velocity": lambda: {"crank": (0.0, 0.0, 0.0)},
        "angular_velocity": lambda: {"crank": (0.0, 0.0, 0.0)},
    }
    held = {"guess": state, "hold": lambda: ["rocker"], "coordinates": lambda: {}, "rates": lambda: {}}
    values = dict(vars(state))
    kept = {name: dict(values.pop(name)) for name in ("turns", "memory")}
    arrays = {name: np.array(array) for name, array in values.items()} | kept

    def with_state(**given):
        return four.state(**given)

    def use(state):
        four.assemble(state)
        vi.simulate(four, 2e-3, 1e-3, state=state)

    found = {
        "Mechanism": Call(vi.Mechanism, rights(**made), short_run),
        "Mechanism.assemble": Call(four.assemble, rights(**held)),
        "Mechanism.pose": Call(
            four.pose, rights(targets=lambda: {"crank": state.position[0].tolist()}, hold=lambda: [], state=state)
        ),
        "Mechanism.sweep": Call(
            four.sweep, rights(joint="crank pivot", values=[0.0, 0.1], state=state, on_lockup="ignore")
        ),
        "Mechanism.assembly_modes": Call(
            four.assembly_modes,
            rights(hold=lambda: {"crank pivot": 0.1}, starts=2, seed=0, bodies=lambda: ["rocker"]),
            repr,
        ),
        "AssemblyModes.plot": Call(
            four.assembly_modes({"crank pivot": 0.0}, starts=4).plot, rights(path=None, plane=None, labels=False)
        ),
        "Mechanism.show": Call(four.show, rights(state=state), repr),
        "Mechanism.diagnose": Call(four.diagnose, rights(state=state), str),
        "Mechanism.plot": Call(four.plot, rights(state=state, path=None, plane=None, labels=False)),
        "Mechanism.body": Call(four.body, rights(name="crank")),
        "Mechanism.joint": Call(four.joint, rights(name="crank pin")),
        "Mechanism.force": Call(a_driven_mechanism().force, rights(name="motor")),
        "State": Call(vi.State, rights(**arrays), use),
        "State.point": Call(four.state().point, rights(body=1, place=(0.0, 0.0, 0.1)), repr),
        "State.point_velocity": Call(four.state().point_velocity, rights(body=1, place=(0.0, 0.0, 0.1)), repr),
        "Sweep.state": Call(four.sweep("crank pivot", [0.0, 0.1]).state, rights(i=1)),
        "Sweep.plot": Call(four.sweep("crank pivot", [0.0, 0.1]).plot, rights(path=None, of=lambda: ["rocker pin"])),
    }
    for name, value in motion.items():
        found[f"Mechanism.state {name}"] = Call(with_state, rights(**{name: value}))
    spring = {
        "name": "s", "body_a": "world", "body_b": "crank", "point_a": (0.0, 0.0, 1.0), "point_b": (0.1, 0.0, 0.3),
        "mass": 1.0, "stiffness": 10.0, "segments": 2, "damping": 1.0, "rest_length": 1.0,
    }  # fmt: skip

    def with_spring(parts):
        all_ = ([*getattr(four, kind), *getattr(parts, kind)] for kind in ("bodies", "joints", "forces"))
        bodies, joints, forces = all_
        short_run(vi.Mechanism("sprung", bodies, joints, forces=forces))

    beams = _beam_calls(with_spring)
    muscle = {name: spring[name] for name in ("name", "body_a", "body_b", "point_a", "point_b", "mass")}
    return (
        found
        | beams
        | {
            "deformable_spring": Call(vi.deformable_spring, rights(**spring), with_spring),
            "straight_muscle_mass": Call(vi.straight_muscle_mass, rights(**muscle), with_spring),
            "At": Call(vi.At, rights(body="crank", point=(0.0, 0.1, 0.2)), lambda at: at.point.sum()),
        }
        | _path_calls()
        | _mesh_calls()
    )


def _flexed() -> vi.Mechanism:
    """One joint with a muscle."""
    arm = vi.Body.rod("arm", (0, 0, 0), (0.3, 0, 0), mass=1.0)
    hinge = vi.Revolute("elbow", "world", "arm", point=(0, 0, 0), axis=(0, -1, 0))
    path = [vi.At("world", (0.0, 0.0, 0.3)), vi.At("arm", (0.05, 0.0, 0.0))]
    muscle = vi.Musculotendon("flexor", path=path, max_force=500.0, optimal_length=0.1, slack_length=0.2)
    return vi.Mechanism("flexed", [arm], [hinge], forces=[muscle])


def _path_calls() -> dict[str, Call]:
    """Parts of paths, moment arms, and motions as tables."""
    bare = vi.Mechanism("arm", _flexed().bodies, _flexed().joints)
    times = np.linspace(0.0, 0.1, 7)
    motion = {"mechanism": bare, "t": times, "coordinates": lambda: {"elbow": 0.1 * np.sin(times)}}
    surface = {"centre": (0.0, 0.1, 0.2), "radius": 0.1, "side": (0.0, 0.3, 0.2)}
    around = {"body": "crank", "surface": lambda: vi.SphereSurface((0.0, 0.1, 0.2), 0.1)}
    wrapped = vi.mechanisms.wrapped_double_pendulum()
    return {
        "Around": Call(vi.Around, rights(**around)),
        "SphereSurface": Call(vi.SphereSurface, rights(**surface)),
        "CylinderSurface": Call(vi.CylinderSurface, rights(**surface, axis=(0.0, 0.0, 1.0))),
        "Pulley": Call(vi.Pulley, rights(divisor=2.0)),
        "efforts_of_motion": Call(vi.efforts_of_motion, rights(**motion), lambda found: found["elbow"].sum()),
        "static_optimization": Call(
            vi.static_optimization,
            rights(**motion | {"mechanism": _flexed()}, muscles=lambda: ["flexor"], drives="act"),
            lambda found: found.tension["flexor"].sum(),
        ),
        "moment_arms": Call(
            vi.moment_arms, rights(motion=wrapped, force=wrapped.forces[0].name, state=wrapped.state())
        ),
        "Trajectory.moment_arm": Call(
            vi.simulate(wrapped, 0.002, 0.001).moment_arm,
            rights(force=wrapped.forces[0].name, joint=wrapped.joints[0].name),
        ),
    }


def _mesh_calls() -> dict[str, Call]:
    """Deformable bodies and their parts."""
    material = {"E": 1e5, "nu": 0.3, "density": 100.0, "material": "stvk", "damping": 1e-3}
    box = {"name": "d", "size": (0.2, 0.1, 0.1), "divisions": (2, 1, 1), "position": (0.0, 0.0, 0.1)}
    made = vi.DeformableBody.box(
        "d", (0.2, 0.1, 0.1), (2, 1, 1), attach={"crank": range(4)}, E=1e5, nu=0.3, density=1.0
    )
    return {
        "AttachedVertices": Call(vi.AttachedVertices, rights(body="crank", vertices=lambda: [0, 1, 2])),
        "DeformableBody.box": Call(
            vi.DeformableBody.box, rights(**box, **material, attach=lambda: {"crank": [0, 1]}), lambda body: body.mesh
        ),
        "DeformableBody.frequencies": Call(made.frequencies, rights(count=2)),
        **_net_calls(),
    }


def _net_calls() -> dict[str, Call]:
    """Nets of particles."""
    cloth = {"name": "n", "size": (0.2, 0.1), "divisions": (2, 1), "position": (0.0, 0.0, 0.1), "slack": True}
    springs = {"mass": 0.1, "stiffness": 50.0, "damping": 1e-3}
    sides = {"directions": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))}
    rope = {"name": "n", "a": lambda: vi.At("world", (0.0, 0.0, 1.0)), "b": lambda: vi.At("crank", (0.1, 0.0, 0.3))}
    length = {"segments": 3, "length": 0.9, "slack": False, "down": (0.0, 1.0, 0.0)}
    made = vi.ParticleNet.cloth("n", (0.2, 0.1), (2, 1), mass=0.1, stiffness=50.0, attach={"crank": range(2)})
    return {
        "ParticleNet.cloth": Call(
            vi.ParticleNet.cloth,
            rights(**cloth, **springs, **sides, attach=lambda: {"crank": [0, 1]}),
            lambda net: net.mesh,
        ),
        "ParticleNet.rope": Call(vi.ParticleNet.rope, rights(**rope, **springs, **length), lambda net: net.mesh),
        "ParticleNet.frequencies": Call(made.frequencies, rights(count=2, at=made.points)),
    }


def _beam_calls(then) -> dict[str, Call]:
    """Beams, cables and sections; ``then`` uses their parts."""
    material = {"E": 2e7, "nu": 0.3, "density": 1e3}
    bar = vi.Section.circle(0.1, **material)
    ends = {"name": "s", "body_a": "world", "body_b": "crank", "point_a": (0.0, 0.0, 1.0), "point_b": (0.1, 0.0, 0.3)}
    beam = {"section": lambda: bar, "elements": 2, "normal": (0.0, 1.0, 0.0), "curvature": 0.1, "damping": 1e-3}
    cable = {"section": lambda: bar, "elements": 3, "length": 1.0, "damping": 1e-3, "down": (0.0, 0.0, -1.0)}
    whole = {
        "EA": 1e5, "GJ": 5.0, "EI": np.full(2, 10.0), "kGA": np.full(2, 4e4), "mass_per_length": 1.0,
        "inertia_per_length": np.full(3, 1e-4), "size": np.full(2, 0.1), "round": True,
    }  # fmt: skip
    parts = vi.beam("b", "world", None, point_a=(0, 0, 0), point_b=(1, 0, 0), elements=2, section=bar)
    run = vi.simulate(vi.Mechanism("beam", parts.bodies, parts.joints, forces=parts.forces), 2e-3, 1e-3)
    return {
        "beam": Call(vi.beam, rights(**ends, **beam), then),
        "cable": Call(vi.cable, rights(**ends, **cable), then),
        "Section": Call(vi.Section, rights(**whole)),
        "Section.rectangle": Call(vi.Section.rectangle, rights(width=0.1, height=0.2, **material)),
        "Section.circle": Call(vi.Section.circle, rights(diameter=0.1, **material)),
        "Section.tube": Call(vi.Section.tube, rights(diameter=0.1, wall=0.01, **material)),
        "section_forces": Call(vi.section_forces, rights(run=run, beam="b")),
        "beam_deflection": Call(vi.beam_deflection, rights(run=run, beam="b", frame="chord")),
    }
