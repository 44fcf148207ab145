"""Every function, class and method for users, with an argument that is right for each of its parameters."""

import dataclasses
import inspect
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from force_samples import sample_mechanism, samples
from fuzz._wrong import a_driven_mechanism, a_mechanism, a_run
from in_process import Here
from random_mechanisms import random_body, random_joint

import varint as vi
from varint.model.joints import REGISTRY
from varint.viz.plots import plot_run


class Call(NamedTuple):
    """``right``: parameter to a function that makes its right argument. ``then``: what is done with the answer."""

    function: Callable
    right: dict[str, Callable[[], Any]]
    then: Callable[[Any], object] = lambda answer: None


@cache
def _four_bar() -> vi.Mechanism:
    return vi.mechanisms.four_bar()


@cache
def _reduced_run() -> vi.Trajectory:
    return vi.redmax.simulate(a_driven_mechanism(), 0.01, dt=0.005)


@cache
def _longer_run() -> vi.Trajectory:
    """Of nodes enough for a spectrum."""
    return vi.simulate(a_driven_mechanism(), 0.2, 0.01)


@cache
def _comparison():
    return vi.compare(a_mechanism(), 0.02, (0.01, 0.005))


def _ensemble(**arguments):
    with mock.patch("varint.ensembles.ensemble_run.Processes", Here):
        return vi.ensemble(**arguments)


def _kept_ensemble() -> str:
    _ensemble(build="double_pendulum", parameters={}, duration=0.01, dt=0.005, output="kept", overwrite=True)
    return "kept"


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


def _rights(**values: Any) -> dict[str, Callable[[], Any]]:
    return {name: value if inspect.isfunction(value) else _always(value) for name, value in values.items()}


def _short_run(mechanism: vi.Mechanism) -> None:
    """A state and two steps of what was described."""
    state = mechanism.state()
    if not any((force.solved_for or force.reduced_only) for force in mechanism.forces):
        vi.simulate(mechanism, 2e-3, 1e-3, state=state).force  # noqa: B018  worked out when it is asked for


def _joint_calls() -> dict[str, Call]:
    rng, found = np.random.default_rng(3), {}
    for kind, cls in REGISTRY.items():
        body = random_body(rng, "b")
        sample = random_joint(rng, kind, "joint", "world", "b", body.position + 0.2)
        fields = {f.name: getattr(sample, f.name) for f in dataclasses.fields(sample) if f.init}

        def then(joint, body=body):
            _short_run(vi.Mechanism("one", [body], [joint]))

        found[kind] = Call(cls, {name: _always(value) for name, value in fields.items()}, then)
    return found


def _force_calls() -> dict[str, Call]:
    rng, found = np.random.default_rng(4), {}
    for name, together in samples(rng).items():
        base = sample_mechanism(rng, together)
        together = list(base.forces)
        for k, force in enumerate(together):
            fields = {f.name: getattr(force, f.name) for f in dataclasses.fields(force) if f.init}
            others = together[:k] + together[k + 1 :]

            def then(force, base=base, others=others):
                _short_run(vi.Mechanism("forced", base.bodies, base.joints, forces=[force, *others]))

            key = f"{name}, {k}" if k else name
            found[key] = Call(type(force), {field: _always(value) for field, value in fields.items()}, then)
    return found


def _body_calls() -> dict[str, Call]:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    pose = {"position": (0.0, 0.0, 1.0), "quat_wxyz": (1.0, 0.0, 0.0, 0.0)}
    shapes: dict[str, dict[str, Any]] = {
        "box": {"size": (1.0, 2.0, 3.0), "mass": 1.0, **pose},
        "cylinder": {"radius": 1.0, "length": 2.0, "mass": 1.0, **pose},
        "capsule": {"radius": 1.0, "length": 2.0, "mass": 1.0, **pose},
        "sphere": {"radius": 1.0, "mass": 1.0, **pose},
        "ellipsoid": {"semi_axes": (1.0, 2.0, 3.0), "mass": 1.0, **pose},
        "rod": {"start": (0.0, 0.0, 0.0), "end": (1.0, 0.0, 0.0), "mass": 1.0, "radius": 0.1},
        "mesh": {"vertices": corners, "triangles": faces, "mass": 1.0, **pose},
        "composite": {"parts": lambda: [vi.Body.sphere("s", 1.0, 1.0), (1.0, (1.0, 0.0, 0.0))]},
    }

    def then(body):
        _short_run(vi.Mechanism("one", [body], [vi.Free("f", "world", body.name)]))

    found = {
        f"Body.{name}": Call(getattr(vi.Body, name), _rights(name="b", **rest), then) for name, rest in shapes.items()
    }
    solids = {"solids": lambda: [{"kind": "sphere", "sizes": [1.0], "position": (0.0, 0.0, 0.5)}]}
    return found | {"Body": Call(vi.Body, _rights(name="b", mass=1.0, inertia=np.eye(3), **pose, **solids), then)}


def _mechanism_calls() -> dict[str, Call]:
    four, state = _four_bar(), _four_bar().state()
    made = {
        "name": "m",
        "bodies": lambda: list(four.bodies),
        "joints": lambda: list(four.joints),
        "gravity": (0.0, 0.0, -9.81),
        "start": lambda: {"rates": {"crank pivot": 1.0}},
        "forces": lambda: [vi.JointDamper("d", joint="crank pin", damping=1.0)],
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
    arrays = {name: np.array(array) for name, array in vars(state).items()}

    def with_state(**given):
        return four.state(**given)

    def use(state):
        four.assemble(state)
        vi.simulate(four, 2e-3, 1e-3, state=state)

    found = {
        "Mechanism": Call(vi.Mechanism, _rights(**made), _short_run),
        "Mechanism.assemble": Call(four.assemble, _rights(**held)),
        "Mechanism.sweep": Call(four.sweep, _rights(joint="crank pivot", values=[0.0, 0.1], state=state)),
        "Mechanism.assembly_modes": Call(
            four.assembly_modes,
            _rights(hold=lambda: {"crank pivot": 0.1}, starts=2, seed=0, bodies=lambda: ["rocker"]),
            repr,
        ),
        "AssemblyModes.plot": Call(
            four.assembly_modes({"crank pivot": 0.0}, starts=4).plot, _rights(path=None, plane=None, labels=False)
        ),
        "Mechanism.show": Call(four.show, _rights(state=state), repr),
        "Mechanism.diagnose": Call(four.diagnose, _rights(state=state), str),
        "Mechanism.plot": Call(four.plot, _rights(state=state, path=None, plane=None, labels=False)),
        "Mechanism.body": Call(four.body, _rights(name="crank")),
        "Mechanism.joint": Call(four.joint, _rights(name="crank pin")),
        "Mechanism.force": Call(a_driven_mechanism().force, _rights(name="motor")),
        "State": Call(vi.State, _rights(**arrays), use),
        "Sweep.state": Call(four.sweep("crank pivot", [0.0, 0.1]).state, _rights(i=1)),
        "Sweep.plot": Call(four.sweep("crank pivot", [0.0, 0.1]).plot, _rights(path=None, of=lambda: ["rocker pin"])),
    }
    for name, value in motion.items():
        found[f"Mechanism.state {name}"] = Call(with_state, _rights(**{name: value}))
    spring = {
        "name": "s", "body_a": "world", "body_b": "crank", "point_a": (0.0, 0.0, 1.0), "point_b": (0.1, 0.0, 0.3),
        "mass": 1.0, "stiffness": 10.0, "segments": 2, "damping": 1.0, "rest_length": 1.0,
    }  # fmt: skip

    def with_spring(parts):
        all_ = ([*getattr(four, kind), *getattr(parts, kind)] for kind in ("bodies", "joints", "forces"))
        bodies, joints, forces = all_
        _short_run(vi.Mechanism("sprung", bodies, joints, forces=forces))

    beams = _beam_calls(with_spring)
    muscle = {name: spring[name] for name in ("name", "body_a", "body_b", "point_a", "point_b", "mass")}
    return (
        found
        | beams
        | {
            "deformable_spring": Call(vi.deformable_spring, _rights(**spring), with_spring),
            "straight_muscle_mass": Call(vi.straight_muscle_mass, _rights(**muscle), with_spring),
            "At": Call(vi.At, _rights(body="crank", point=(0.0, 0.1, 0.2)), lambda at: at.point.sum()),
        }
        | _path_calls()
    )


def _path_calls() -> dict[str, Call]:
    """Parts of paths, and moment arms."""
    surface = {"centre": (0.0, 0.1, 0.2), "radius": 0.1, "side": (0.0, 0.3, 0.2)}
    around = {"body": "crank", "surface": lambda: vi.SphereSurface((0.0, 0.1, 0.2), 0.1)}
    wrapped = vi.mechanisms.wrapped_double_pendulum()
    return {
        "Around": Call(vi.Around, _rights(**around)),
        "SphereSurface": Call(vi.SphereSurface, _rights(**surface)),
        "CylinderSurface": Call(vi.CylinderSurface, _rights(**surface, axis=(0.0, 0.0, 1.0))),
        "Pulley": Call(vi.Pulley, _rights(divisor=2.0)),
        "moment_arms": Call(
            vi.moment_arms, _rights(motion=wrapped, force=wrapped.forces[0].name, state=wrapped.state())
        ),
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
        "beam": Call(vi.beam, _rights(**ends, **beam), then),
        "cable": Call(vi.cable, _rights(**ends, **cable), then),
        "Section": Call(vi.Section, _rights(**whole)),
        "Section.rectangle": Call(vi.Section.rectangle, _rights(width=0.1, height=0.2, **material)),
        "Section.circle": Call(vi.Section.circle, _rights(diameter=0.1, **material)),
        "Section.tube": Call(vi.Section.tube, _rights(diameter=0.1, wall=0.01, **material)),
        "section_forces": Call(vi.section_forces, _rights(run=run, beam="b")),
    }


def _same_again(state: vi.State, dt: float) -> vi.State:
    """An integrator that stands still."""
    return state


def _run_calls() -> dict[str, Call]:
    motor, nodes = a_driven_mechanism(), np.zeros((3, 3))
    equations, moving = vi.redmax.EquationsOfMotion(motor), {"q": np.zeros(2), "qdot": np.ones(2)}
    common = {
        "mechanism": motor, "duration": 0.01, "state": motor.state(), "every": 1, "force": lambda: {"cart": nodes},
        "torque": lambda: {"pole": (0.0, 0.1, 0.0)}, "output": None, "resume": False, "overwrite": False,
        "progress": lambda: lambda *_: None,
    }  # fmt: skip
    maximal = common | {
        "dt": 0.005, "order": 2, "scheme": None, "tol": 1e-10, "closures": "clusters", "on_unresolved": "warn",
        "energy_error": None, "diagnostics_every": 1, "output_times": None, "adaptive": False,
    }  # fmt: skip
    at_times = {"mechanism": motor, "duration": 0.01, "dt": 0.005, "output_times": (0.0, 0.004, 0.01)}
    by_motion = {
        "mechanism": motor, "duration": 0.01, "dt": 0.005, "adaptive": True, "on_unresolved": "substep",
        "diagnostics_every": 1, "every": 1, "output": None,
    }  # fmt: skip
    choosing = {
        "mechanism": motor, "duration": 0.01, "state": motor.state(), "energy_error": 1e-3, "order": 2, "scheme": None,
        "tol": 1e-10, "force": lambda: {"cart": (1.0, 0.0, 0.0)}, "torque": lambda: {"pole": (0.0, 0.1, 0.0)},
    }  # fmt: skip
    reduced = common | {
        "dt": 0.005, "integrator": "dop853", "rtol": 1e-8, "atol": 1e-10, "baumgarte": 5.0, "chart": "exponential",
        "prescribed": lambda: {"track": lambda t: (0.1 * t, 0.1, 0.0)}, "diagnostics_every": 1, "output_times": None,
        "stages": None, "tol": None,
    }  # fmt: skip
    compared = {
        "mechanism": a_mechanism(), "duration": 0.02, "dt": lambda: (0.01, 0.005), "state": a_mechanism().state(),
        "order": 2, "integrators": lambda: ["dop853"], "peers": lambda: ["mujoco"], "rtol": 1e-10,
        "progress": lambda: lambda *_: None,
    }  # fmt: skip
    members = {
        "build": lambda: vi.mechanisms.double_pendulum, "parameters": lambda: {"angle": [0.1, 0.2]}, "duration": 0.01,
        "dt": 0.005, "formulation": "maximal", "output": "members", "resume": False, "overwrite": True,
        "measure": lambda: lambda trajectory: {"first": 1.0}, "workers": 2, "scheduler": None,
        "progress": lambda: lambda *_: None, "on_unresolved": "warn",
    }  # fmt: skip
    rival = {"integrator": "implicit_euler", "dt": 0.005, "stabilisation": "baumgarte", "rate": 20.0}
    looped = {"mechanism": _four_bar(), "duration": 0.01, "dt": 0.005, "integrator": "euler", "baumgarte": 5.0}

    def ask(run):
        return run.energy, run.drift, repr(run), repr(run.diagnostics)

    def automatic(energy_error):
        return vi.simulate(a_mechanism(), 0.01, "auto", energy_error=energy_error)

    def to_file(duration, output, overwrite):
        vi.simulate(a_mechanism(), duration, 0.005, output=output, overwrite=overwrite)

    def going_on(duration, resume):
        vi.simulate(a_mechanism(), 0.01, 0.005, output="on.h5", overwrite=True)
        vi.simulate(a_mechanism(), duration, 0.005, output="on.h5", resume=resume)

    def of_problem(**arguments):
        return ask(vi.simulate(vi.Problem(**arguments), vi.Variational(0.005)))

    def of_scheme(**arguments):
        return ask(vi.simulate(vi.Problem(motor, 0.01), vi.Variational(**arguments)))

    def of_integrator(**arguments):
        return ask(vi.simulate(vi.Problem(motor, 0.01), vi.Reduced(**arguments)))

    def of_rival(**arguments):
        return ask(vi.simulate(vi.Problem(motor, 0.01), vi.Maximal(**arguments)))

    def of_peer(**arguments):
        return ask(vi.simulate(vi.Problem(motor, 0.01), vi.Peer(**arguments)))

    def of_stepper(**arguments):
        stepper = vi.Stepper(**arguments)
        stepper.step(2)
        return stepper.time, stepper.energy, stepper.coordinates, repr(stepper)

    names = ("mechanism", "state", "order", "scheme", "tol", "force", "torque")
    stepped = {name: maximal[name] for name in names} | {"dt": 0.005, "every": 1, "extrapolate": True}
    stepped["force"] = lambda: {"cart": (1.0, 0.0, 0.0)}

    def of_recording(**arguments):
        return ask(vi.simulate(vi.Problem(motor, 0.01), vi.Variational(0.005), vi.Recording(**arguments)))

    peer = {"simulator": "mujoco", "integrator": "rk4", "dt": 0.005}

    def of(cls, arguments):
        return _rights(**{field.name: arguments[field.name] for field in dataclasses.fields(cls)})

    return {
        "Problem": Call(vi.Problem, of(vi.Problem, maximal), repr),
        "Variational": Call(vi.Variational, of(vi.Variational, maximal), repr),
        "Reduced": Call(vi.Reduced, of(vi.Reduced, reduced), repr),
        "Peer": Call(vi.Peer, _rights(**peer), repr),
        "Stepper": Call(of_stepper, _rights(**stepped)),
        "Recording": Call(vi.Recording, of(vi.Recording, maximal), repr),
        "simulate a Problem": Call(of_problem, of(vi.Problem, maximal)),
        "Maximal": Call(vi.Maximal, of(vi.Maximal, rival), repr),
        "simulate by Maximal": Call(of_rival, of(vi.Maximal, rival)),
        "simulate by Variational": Call(of_scheme, of(vi.Variational, maximal)),
        "simulate by Reduced": Call(of_integrator, of(vi.Reduced, reduced | {"prescribed": None})),
        "simulate by Peer": Call(of_peer, _rights(**peer)),
        "simulate with a Recording": Call(of_recording, of(vi.Recording, maximal)),
        "simulate": Call(vi.simulate, _rights(**maximal), ask),
        "choose_step": Call(vi.choose_step, _rights(**choosing), repr),
        "extrapolated": Call(vi.extrapolated, _rights(function=lambda: lambda t, state: 0.0)),
        "simulate by a chosen step": Call(automatic, _rights(energy_error=1e-3), ask),
        "simulate at times": Call(vi.simulate, _rights(**at_times, on_unresolved="substep"), ask),
        "simulate in adaptive steps": Call(vi.simulate, _rights(**by_motion), ask),
        "simulate to a file": Call(to_file, _rights(duration=0.01, output="run.h5", overwrite=True)),
        "simulate goes on": Call(going_on, _rights(duration=0.02, resume=True)),
        "redmax.simulate": Call(vi.redmax.simulate, _rights(**reduced), ask),
        "redmax.simulate at times": Call(vi.redmax.simulate, _rights(**at_times), ask),
        "redmax.simulate of a loop": Call(vi.redmax.simulate, _rights(**looped), ask),
        "ensemble": Call(_ensemble, _rights(**members), repr),
        "controls": Call(
            vi.controls,
            _rights(
                build=lambda: vi.mechanisms.double_pendulum,
                parameters=lambda: {"angle": (0.1, 0.2)},
                duration=0.01,
                dt=0.005,
                formulation="maximal",
                show="energy",
                on_unresolved="warn",
            ),
            lambda controls: (controls.trajectory, controls.error),
        ),
        "load_ensemble": Call(vi.load_ensemble, _rights(path=_kept_ensemble), repr),
        "random_draws": Call(
            vi.random_draws, _rights(n=3, distributions=lambda: {"angle": ("uniform", 0.1, 0.2)}, seed=1), list
        ),
        "compare": Call(vi.compare, _rights(**compared), str),
        "compare_catalogue": Call(
            vi.compare_catalogue,
            _rights(names=lambda: ["double_pendulum"], steps=1, order=2, progress=lambda: lambda *_: None),
            str,
        ),
        "compare with one's own": Call(vi.compare, _rights(**compared | {"integrators": lambda: [_same_again]}), str),
        "energy": Call(vi.energy, _rights(mechanism=motor, state=motor.state(), t=0.5), repr),
        "accelerations": Call(vi.accelerations, _rights(mechanism=motor, state=motor.state(), t=0.5, closed=True)),
        "step_matrix": Call(vi.step_matrix, _rights(mechanism=motor, state=motor.state(), dt=0.005), repr),
        "EquationsOfMotion": Call(vi.EquationsOfMotion, _rights(mechanism=motor, state=None, baumgarte=5.0), repr),
        "redmax.EquationsOfMotion": Call(
            vi.redmax.EquationsOfMotion, _rights(mechanism=motor, state=motor.state(), baumgarte=5.0), repr
        ),
        **{
            f"EquationsOfMotion.{name}": Call(getattr(equations, name), _rights(**right))
            for name, right in {
                "coordinates": {"state": motor.state()},
                "state": moving,
                "acceleration": {"t": 0.5, **moving},
                "mass_matrix": {"q": np.zeros(2)},
                "solve_mass": {"q": np.zeros(2), "x": np.ones(2)},
                "bias": moving,
                "jacobian": {"q": np.zeros(2)},
                "jacobian_rate": moving,
                "stiffness": {"t": 0.5, **moving},
                "damping": {"t": 0.5, **moving},
                "preconditioner": {"t": 0.5, **moving, "h": 0.01},
                "force": {"t": 0.5, **moving},
                "violations": moving,
                "closed": moving,
                "energy": moving,
            }.items()
        },
        "redmax.coordinates": Call(vi.redmax.coordinates, _rights(mechanism=motor)),
        "redmax.reduced_state": Call(vi.redmax.reduced_state, _rights(mechanism=motor, state=motor.state())),
        "redmax.maximal_state": Call(
            vi.redmax.maximal_state,
            _rights(mechanism=motor, reduced=vi.redmax.reduced_state(motor, motor.state())),
        ),
        "redmax.ReducedState": Call(
            vi.redmax.ReducedState,
            _rights(q=np.zeros(2), qdot=np.zeros(2)),
            lambda reduced: vi.redmax.simulate(motor, 0.01, dt=0.005, state=reduced),
        ),
    }


def _study_calls() -> dict[str, Call]:
    motor, run = a_driven_mechanism(), _longer_run()
    cart = float(run.coordinates["track"][10])
    crossed = {"trajectory": run, "of": "track", "value": cart, "direction": 1}
    common = {"mechanism": motor, "state": motor.state(), "order": 2, "scheme": None}
    neighbours = common | {"duration": 0.8, "dt": 0.05, "interval": 0.05, "separation": 1e-6}
    errors = {"mechanism": motor, "duration": 0.02, "dt": (0.01, 0.005), "order": lambda: [2], "state": motor.state()}
    spectrum = vi.power_spectrum(run)
    study = vi.order_study(motor, 0.02, (0.01, 0.005), reference="finest")

    def height(state):
        return state.position[0, 0] - cart

    def seen(result):
        return repr(result), result.plot()

    hanging, balanced, pendulum = vi.mechanisms.four_bar(), vi.mechanisms.cart_pole(), vi.mechanisms.n_pendulum(1)
    top, scheme = balanced.state(coordinates={"pivot": np.pi}), {"order": 2, "scheme": None}
    growing = common | {"duration": 0.8, "dt": 0.05, "interval": 0.05, "count": 2}
    regulated = scheme | {"mechanism": balanced, "state": top, "Q": np.eye(4), "R": np.eye(1), "dt": 0.01}
    periodic = scheme | {
        "mechanism": pendulum, "state": pendulum.state(), "period": 1.7, "dt": 0.05, "fixed_period": False,
    }  # fmt: skip
    differentiated = common | {
        "objective": lambda: height,
        "duration": 0.02,
        "dt": 0.01,
        "with_respect_to": lambda: ["gravity", "start"],
        "times": None,
        "parameters": None,
        "of_mechanism": False,
        "tol": 1e-12,
        "force": None,
        "torque": None,
    }
    kept = {"adaptive": False, "on_unresolved": "warn", "memory": 1e6}
    made_anew = differentiated | {
        "adaptive": True,
        "on_unresolved": "ignore",
        "memory": None,
        "mechanism": lambda: lambda angle: vi.mechanisms.n_pendulum(1, angle=angle),
        "objective": lambda: lambda mechanism, states: height(states[0]),
        "of_mechanism": True,
        "with_respect_to": lambda: ["angle"],
        "times": (0.01, 0.02),
        "parameters": lambda: {"angle": 0.3},
        "state": None,
    }
    in_coordinates = {key: value for key, value in differentiated.items() if key not in ("order", "tol")} | {
        "with_respect_to": lambda: ["gravity", "start", "start.q"],
        "scheme": "bdf2",
        "rtol": 1e-8,
        "baumgarte": 5.0,
        "prescribed": None,
        "chart": "exponential",
    }

    def back(**given):
        return vi.time_reversal(motor, 0.02, 0.01).plot(**given)

    return {
        "energy_trend": Call(vi.energy_trend, _rights(trajectory=run, quantity="energy"), seen),
        "energy_trend of a part": Call(
            vi.energy_trend, _rights(trajectory=run, quantity=lambda: ("linear_momentum", 0)), seen
        ),
        "crossings": Call(vi.crossings, _rights(**crossed)),
        "crossings of a function": Call(
            vi.crossings, _rights(trajectory=run, of=lambda: height, value=0.0, direction=0)
        ),
        "crossings of a coordinate": Call(vi.crossings, _rights(trajectory=run, of=lambda: ("pivot", 0), value=0.9)),
        "poincare_section": Call(vi.poincare_section, _rights(**crossed, show="pivot"), seen),
        "poincare_section of a function": Call(
            vi.poincare_section, _rights(trajectory=run, of=lambda: height, show=lambda: ("track", 0)), seen
        ),
        "phase_portrait": Call(vi.phase_portrait, _rights(trajectory=run, joint="pivot", wrapped=True), seen),
        "phase_portrait of a coordinate": Call(
            vi.phase_portrait, _rights(trajectory=run, joint=lambda: ("track", 0), wrapped=None), seen
        ),
        "power_spectrum": Call(
            vi.power_spectrum, _rights(trajectory=run, what="coordinates", of=lambda: ["track"], segments=1), seen
        ),
        "power_spectrum of a point": Call(
            vi.power_spectrum, _rights(trajectory=run, what=lambda: ("cart", (0.0, 0.0, 0.0)), of=None), seen
        ),
        "PowerSpectrum.peaks": Call(spectrum.peaks, _rights(count=2), repr),
        "lyapunov_exponent": Call(vi.lyapunov_exponent, _rights(**neighbours), seen),
        "equilibrium": Call(vi.equilibrium, _rights(mechanism=hanging, state=hanging.state()), repr),
        "lyapunov_spectrum": Call(vi.lyapunov_spectrum, _rights(**growing), seen),
        "linearize": Call(vi.linearize, _rights(**common, dt=0.01), repr),
        "Linearizer": Call(vi.Linearizer, _rights(mechanism=motor, dt=0.01, order=4, scheme=None), repr),
        "Linearizer.at": Call(vi.Linearizer(motor, 0.01).at, _rights(state=motor.state()), repr),
        "linearize in continuous time": Call(vi.linearize, _rights(mechanism=motor, state=motor.state()), repr),
        "Linearization.coordinates": Call(vi.linearize(motor).coordinates, _rights(state=motor.state())),
        "Linearization.state_at": Call(vi.linearize(motor).state_at, _rights(x=np.zeros(4)), repr),
        "Linearization.second_derivatives": Call(
            vi.linearize(motor, dt=0.01).second_derivatives, _rights(costate=np.ones(4)), repr
        ),
        "Linearization.hessian_product": Call(
            vi.linearize(motor, dt=0.01).hessian_product, _rights(costate=np.ones(4), dx=np.ones(4), du=np.ones(1))
        ),
        "lqr": Call(vi.lqr, _rights(**regulated), repr),
        "Regulator.inputs": Call(vi.lqr(balanced, top).inputs, _rights(state=top)),
        "Regulator.closed_loop": Call(vi.lqr(balanced, top).closed_loop, _rights(mechanism=balanced), _short_run),
        "periodic_orbit": Call(vi.periodic_orbit, _rights(**periodic), repr),
        "inverse_dynamics": Call(vi.inverse_dynamics, _rights(trajectory=run, joints=lambda: ["track"]), repr),
        "inverse_dynamics of a reduced run": Call(vi.inverse_dynamics, _rights(trajectory=_reduced_run(), joints=None)),
        "modes": Call(vi.modes, _rights(mechanism=hanging, state=vi.equilibrium(hanging)), repr),
        "gradient": Call(vi.gradient, _rights(**differentiated, **kept), repr),
        "gradient of a function": Call(vi.gradient, _rights(**made_anew), repr),
        "redmax.gradient": Call(vi.redmax.gradient, _rights(**in_coordinates), repr),
        "order_study": Call(vi.order_study, _rights(**errors, reference="reduced"), seen),
        "order_study by the finest": Call(vi.order_study, _rights(**errors, reference="finest"), seen),
        "OrderStudy.local_order": Call(study.local_order, _rights(series=study.series[0], kind="position")),
        "time_reversal": Call(vi.time_reversal, _rights(**common, duration=0.02, dt=0.01, tol=1e-12), seen),
        "time_reversal in a picture": Call(back, _rights(path="back.png")),
    }


def _file_calls() -> dict[str, Call]:
    def loaded(path, **options):
        vi.save_mechanism(a_mechanism(), "m.json")
        return vi.load_mechanism(path, **options)

    def run_loaded(path):
        if not Path("r.h5").exists():
            vi.simulate(a_mechanism(), 0.01, 0.005, output="r.h5")
        return vi.load(path)

    figure = {"trajectory": a_run(), "path": "run.png", "order": 2, "method": "order 2"}
    curves = {"path": None, "of": lambda: ["cart"], "trace": "cart", "plane": "xz"}
    poses = {"path": "run.svg", "times": (0.0, 0.005), "trace": ("pole", (0.0, 0.0, 0.0))}
    poses |= {"plane": "isometric", "labels": True}
    moving = {"path": "run.gif", "fps": 25.0, "speed": 1.0, "trace": None, "plane": None, "camera": None, "width": 320}
    seen_from = moving | {"camera": (30.0, 20.0)}
    shown = {"path": "run.html", "frames": 10, "trace": "cart", "plane": "xz"}

    def named(what):
        return a_run().plot(what)

    @wraps(vi.Trajectory.plot)
    def drawn(**given):
        return a_run().plot("position", "path", **given)

    @wraps(vi.Trajectory.plot)
    def posed(**given):
        return a_run().plot("mechanism", **given)

    def on_axes(name, **given):
        function = getattr(vi.plot, name)
        return wraps(function)(lambda **chosen: function(**(given | chosen)))

    panel = {"trajectory": a_run(), "ax": None}
    of_curves = panel | {"of": lambda: ["track"], "unit": "m"}
    of_poses = panel | {"times": 0.005, "labels": True, "trace": ("pole", (0.0, 0.0, 0.0)), "plane": "xz"}
    return {
        "plot of curves": Call(on_axes("coordinates"), _rights(**of_curves)),
        "plot of phases": Call(on_axes("phase"), _rights(**of_curves)),
        "plot of poses": Call(on_axes("coupler"), _rights(**of_poses)),
        "plot of all": Call(on_axes("energy_error"), _rights(**panel)),
        "save_mechanism": Call(vi.save_mechanism, _rights(mechanism=a_mechanism(), path="m.json", overwrite=False)),
        "load_mechanism": Call(loaded, _rights(path="m.json", strict=True, packages=(".",), repair=True)),
        "load": Call(run_loaded, _rights(path="r.h5")),
        "Trajectory.plot by name": Call(named, _rights(what="energy")),
        "Trajectory.plot of curves": Call(drawn, _rights(**curves)),
        "Trajectory.plot of poses": Call(posed, _rights(**poses)),
        "Trajectory.animate": Call(a_run().animate, _rights(**moving)),
        "Trajectory.animate from a camera": Call(a_run().animate, _rights(**seen_from)),
        "Trajectory.view": Call(a_run().view, _rights(**shown), repr),
        "Page.save": Call(a_run().view().save, _rights(path="page.html")),
        "plot_run": Call(plot_run, _rights(**figure)),
        "Comparison.save": Call(_comparison().save, _rights(path="comparison.json")),
        "Comparison.plot": Call(_comparison().plot, _rights(path=None)),
    }


def _lookups() -> dict[str, Call]:
    """Of trajectories by the names of joints and forces."""
    found = {}
    names = {
        "force": "motor",
        "power": "motor",
        "law_state": "motor",
        "force_potential": "motor",
        "dissipated": "motor",
    }
    names |= {"coordinates": "track", "reactions": "track"}
    for formulation, run in (("", a_run()), ("reduced ", _reduced_run())):
        for what, name in names.items():
            mapping = getattr(run, what)
            found[f"{formulation}{what}[]"] = Call(mapping.__getitem__, _rights(name=name))
            found[f"{formulation}{what} in"] = Call(mapping.__contains__, _rights(present=name))
    return found


def _catalogue_calls() -> dict[str, Call]:
    found = {"mechanisms.module": Call(vi.mechanisms.module, _rights(key="four_bar"))}
    for name in vi.mechanisms.NAMES:
        build = getattr(vi.mechanisms, name)
        given = {key: parameter.default for key, parameter in inspect.signature(build).parameters.items()}
        if given:
            found[f"mechanisms.{name}"] = Call(build, {key: _always(value) for key, value in given.items()}, _short_run)
    curve, surface = (random_joint(np.random.default_rng(2), kind, "j", "world", "b", np.zeros(3)) for kind in SPLINES)
    found["SplineCurve.pose"] = Call(vi.SplineCurve.pose, _rights(frames=curve.frames, q=1.0, closed=True))
    found["SplineSurface.pose"] = Call(
        vi.SplineSurface.pose, _rights(controls=surface.controls, q=np.array([0.5, 0.5]))
    )
    return found


SPLINES = ("SplineCurve", "SplineSurface")


@cache
def calls() -> dict[str, Call]:
    """By their names."""
    parts = (
        _joint_calls,
        _force_calls,
        _body_calls,
        _mechanism_calls,
        _run_calls,
        _study_calls,
        _file_calls,
        _lookups,
        _catalogue_calls,
    )
    return {name: call for part in parts for name, call in part().items()}
