"""Public things to be shown, one of each."""

import dataclasses
from functools import cache
from html.parser import HTMLParser

import force_samples
import numpy as np
from random_mechanisms import random_joint

import varint as vi
from varint.kinematics.diagnosis import Diagnosis
from varint.methods.variational.schemes import SCHEMES
from varint.model.forces.law import LAWS
from varint.results.derived import QUANTITIES

LINES, CHARACTERS = 5, 400
MANY = 1000
TIMES = np.linspace(0.0, 0.1, 6)
ENDS = {"point_a": (0, 0, 0), "point_b": (0, 0, 1)}
MANY_VERTICES = {"d": np.zeros((1000, 3))}
BAR = vi.Section.circle(0.01, E=2e11, nu=0.3, density=7850.0)
NAME = "<b>&\"'" + "long " * 100


def looped():
    """A loop with a motor, a user's law and a table, under a long name with signs of HTML in it."""
    four = vi.mechanisms.four_bar()
    bodies = [dataclasses.replace(four.bodies[0], name=NAME), *four.bodies[1:]]
    ends = {"crank": NAME}
    joints = [
        dataclasses.replace(j, body_a=ends.get(j.body_a, j.body_a), body_b=ends.get(j.body_b, j.body_b))
        for j in four.joints
    ]
    joints[0] = dataclasses.replace(joints[0], name=NAME)
    forces = [vi.Motor(NAME, joint=NAME, effort=0.5)]
    return vi.Mechanism(NAME, bodies, joints, forces=forces, start={"rates": {NAME: 1.0}})


def pulled():
    """One joint with a muscle, under long names."""
    path = [vi.At("world", (0.0, 0.0, 0.3)), vi.At(NAME, (0.05, 0.0, 0.0))]
    muscle = {"max_force": 500.0, "optimal_length": 0.1, "slack_length": 0.2}
    arm = vi.Body.rod(NAME, (0, 0, 0), (0.3, 0, 0), mass=1.0)
    hinge = vi.Revolute(NAME, "world", NAME, point=(0, 0, 0), axis=(0, -1, 0))
    return vi.Mechanism(NAME, [arm], [hinge], forces=[vi.Musculotendon(NAME, path=path, **muscle)])


def gradient_of(mechanism):
    def objective(state):
        return 0.0

    none = np.zeros((len(mechanism.bodies), 3))
    objective.gradient = lambda state: (none, none, none, none)
    return vi.gradient(mechanism, objective, 0.02, 0.01, with_respect_to=["start", "gravity"])


def _closed(live):
    live.close()
    return live


@cache
def things():
    """What a user holds in hands, by a description of it."""
    large, loop = vi.mechanisms.n_pendulum(n=MANY), looped()
    held = {}
    for what, mechanism, joint in (("large", large, "joint 1"), ("loop", loop, NAME)):
        state = mechanism.state()
        run = vi.simulate(mechanism, 0.02, 0.01)
        by = gradient_of(mechanism)
        held |= {
            f"{what} gradient": by,
            f"{what} gradient by the start": by["start"],
            f"{what} mechanism": mechanism,
            f"{what} body": mechanism.bodies[0],
            f"{what} joint": mechanism.joints[0],
            f"{what} state": state,
            f"{what} reduced state": vi.redmax.reduced_state(mechanism, state),
            f"{what} compiled": mechanism.compiled,
            f"{what} plan": mechanism.compiled.plan,
            f"{what} topology": mechanism.compiled.topology,
            f"{what} part of the plan": mechanism.compiled.plan.joints,
            f"{what} run": run,
            f"{what} reaction": run.reactions[joint],
            f"{what} forces": run.forces_along,
            f"{what} record": run.record,
            f"{what} nodes": run.nodes,
            f"{what} chosen nodes": run[1:].nodes,
            f"{what} path": run.path(mechanism.bodies[0].name),
            f"{what} relative": run.relative(mechanism.bodies[0].name, mechanism.bodies[1].name),
        }
        for name in (
            "coordinates",
            "rates",
            "reactions",
            "force",
            "power",
            "law_state",
            "force_potential",
            "dissipated",
        ):
            held[f"{what} {name}"] = getattr(run, name)
    modes = loop.assembly_modes({NAME: 0.0}, starts=10)
    compared = vi.compare(loop, duration=0.02, dt=[0.01, 0.005])
    held |= {
        "reduced run": vi.redmax.simulate(loop, 0.02, dt=0.01),
        "problem": vi.Problem(loop, 0.02),
        "method": vi.Variational(0.01, order=4),
        "collocation": vi.Lobatto(0.01, order=6),
        "reduced method": vi.Reduced("radau"),
        "rival": vi.Maximal("kkt", dt=0.01),
        "step matrix": vi.step_matrix(loop, None, 0.01),
        "peer": vi.Peer("mujoco", "rk4"),
        "recording": vi.Recording(every=2),
        "stepper": vi.Stepper(large, 0.01),
        "controls": vi.controls(lambda gravity: large, {"gravity": (1.0, 9.81)}, 0.02, 0.01, show="energy"),
        "live view": _closed(vi.live(loop, 0.01, browser=False)),
        "checkpoint of a stepper": vi.Stepper(loop, 0.01).save(),
        "equations of motion": vi.redmax.EquationsOfMotion(loop),
        "large diagnosis": made_diagnosis(large),
        "diagnosis": loop.diagnose(),
        "step choice": vi.choose_step(loop, 0.02),
        "import report": loop.import_report,
        "assembly modes": modes,
        "assembly mode": modes[0],
        "sweep": loop.sweep(NAME, np.linspace(0.0, 0.1, 30)),
        "comparison": compared,
        "series": compared.vi,
        "settings": compared.settings,
        "quantities": compared.vi.error,
        "deformable spring": vi.deformable_spring("d", "a", "b", **ENDS, mass=1.0, stiffness=1.0, segments=50),
        "straight muscle mass": vi.straight_muscle_mass("m", "a", "b", **ENDS, mass=1.0),
        "point of a path": vi.At("a", (0.0, 0.1, 0.2)),
        "attached vertices": vi.AttachedVertices("a", range(1000)),
        "deformable body": vi.DeformableBody.box(
            "d", (1, 1, 1), (5, 5, 5), E=1.0, nu=0.3, density=1.0, attach={"a": range(6)}
        ),
        "state with vertices": vi.MeshState(
            **vars(loop.state()), vertices=MANY_VERTICES, vertex_velocities=MANY_VERTICES
        ),
        "particle net": vi.ParticleNet.cloth("n", (1, 1), (9, 9), mass=1.0, stiffness=1.0, attach={"a": range(6)}),
        "beam": vi.beam("e", "a", "b", **ENDS, elements=50, section=BAR),
        "section of a beam": BAR,
        "ball that touches": vi.SphereShape(0.1),
        "capsule that touches": vi.CapsuleShape((0, 0, 0), (0, 0, 1), 0.1),
        "box that touches": vi.BoxShape((1, 2, 3)),
        "cylinder that touches": vi.CylinderShape((0, 0, 0), (0, 0, 1), 0.1),
        "mesh that touches": vi.ConvexMesh(np.random.default_rng(0).normal(size=(100, 3)), hull=True),
        "ground that touches": vi.PlaneShape(),
        "uneven ground that touches": vi.HeightField(np.zeros((30, 40)), 0.1),
        "bowl that touches": vi.HollowSphereShape(0.1),
        "hole that touches": vi.HollowCylinderShape((0, 0, 0), (0, 0, 1), 0.1),
        "wrong state": vi.State([1.0] * 500, None, "x" * 2000, np.zeros(3)),
    }
    return held | studies(loop) | kinds()


def studies(loop):
    """What the studies find."""
    run = vi.simulate(loop, 0.4, 0.02, diagnostics_every=1)
    angle = run.coordinates[NAME]
    return {
        "diagnostics": run.diagnostics,
        "trend": vi.energy_trend(run),
        "section": vi.poincare_section(run, NAME, value=float(angle[5]), direction=0),
        "portrait": vi.phase_portrait(run, NAME),
        "spectrum": vi.power_spectrum(run),
        "exponent": vi.lyapunov_exponent(loop, 0.16, 0.01, interval=0.01),
        "static optimization": vi.static_optimization(pulled(), TIMES, {NAME: 0.1 * np.sin(TIMES)}),
        "exponents": vi.lyapunov_spectrum(loop, 0.16, 0.01, interval=0.01),
        "linear system": vi.linearize(loop, dt=0.01),
        "second derivatives": vi.linearize(vi.mechanisms.cart_pole(), dt=0.01).second_derivatives(np.ones(4)),
        "linearizer": vi.Linearizer(loop, 0.01),
        "regulator": vi.lqr(vi.mechanisms.cart_pole()),
        "orbit": vi.periodic_orbit(vi.mechanisms.n_pendulum(1), vi.mechanisms.n_pendulum(1).state(), 1.7, 0.05),
        "orders": vi.order_study(loop, 0.02, (0.01, 0.005)),
        "reversal": vi.time_reversal(loop, 0.02, 0.01),
    }


def kinds():
    """One of each joint and force, and the entries of the registries."""
    rng = np.random.default_rng(1)
    joints = {name: random_joint(rng, name, "j", "a", "b", rng.standard_normal(3)) for name in vi.REGISTRY}
    forces = {type(f).__name__: f for several in force_samples.samples(rng).values() for f in several}
    assert set(forces) == set(vi.FORCES)
    entries = [value for registry in (QUANTITIES, LAWS, SCHEMES) for value in registry.values()]
    path = [*forces["Musculotendon"].path, vi.CylinderSurface([0, 0, 0], [0, 0, 1], 0.1)]
    path.append(next(part.surface for part in path if isinstance(part, vi.Around)))
    parts = {type(part).__name__: part for part in path}
    return joints | forces | parts | {f"{type(value).__name__} {value.name}": value for value in entries}


def made_diagnosis(mechanism):
    """With a thousand redundant rows; to find those of a thousand bodies takes long."""
    names = tuple(joint.name for joint in mechanism.joints)
    redundant = tuple((name, "force along y") for name in names)
    state, none = mechanism.state(), np.zeros((0, MANY, 6))
    return Diagnosis(mechanism, mechanism.compiled, state, 7, 6, MANY, redundant, names, 0.1, 1e-12, none)


# ------------------------------------------------------------------------------------------- tables in a notebook


class Tables(HTMLParser):
    """Counts rows, and finds tags that are open, unknown or coloured."""

    PICTURE = {"alt", "width", "src"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.rows, self.cells, self.texts, self.styles, self.pictures = [], 0, 0, [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            assert {name for name, _ in attributes} == self.PICTURE
            self.pictures.append(dict(attributes)["src"])
            return
        assert tag in ("table", "caption", "tr", "td", "th")
        self.open.append(tag)
        self.rows += tag == "tr"
        self.cells += tag in ("td", "th")
        self.styles += [value for name, value in attributes if name == "style"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


SHOWN = [f"{size} {what}" for size in ("large", "loop") for what in ("mechanism", "state", "run")]
