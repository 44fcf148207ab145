"""Runs by every method, with right arguments."""

import dataclasses
import functools
import inspect

import numpy as np
from fuzz._call import Call, ensemble, four_bar, kept_ensemble, rights
from fuzz._wrong import a_driven_mechanism, a_mechanism

import varint as vi


def _same_again(state: vi.State, dt: float) -> vi.State:
    """An integrator that stands still."""
    return state


def _of_catalogue(names: object, **others: object) -> object:
    """``vi.compare_catalogue``, which without names takes minutes for all of it."""
    return vi.compare_catalogue(["double_pendulum"] if names is None else names, **others)


def run_calls() -> dict[str, Call]:
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
        "stages": None, "tol": None, "contact_solver": "cones",
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
    by_nodes = {"dt": 0.005, "order": 6, "on_unresolved": "warn"}
    rival = {"integrator": "implicit_euler", "dt": 0.005, "stabilisation": "baumgarte", "rate": 20.0}
    looped = {"mechanism": four_bar(), "duration": 0.01, "dt": 0.005, "integrator": "euler", "baumgarte": 5.0}

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

    def of_nodes(**arguments):
        return ask(vi.simulate(vi.Problem(vi.mechanisms.double_pendulum(), 0.01), vi.Lobatto(**arguments)))

    def by_nodes_at_times(**arguments):
        problem = vi.Problem(four_bar(), 0.02, force={four_bar().bodies[0].name: (0.0, 0.0, 1.0)})
        return ask(vi.simulate(problem, vi.Lobatto(0.01), vi.Recording(**arguments)))

    def of_problem_by_nodes(**arguments):
        return ask(vi.simulate(vi.Problem(**arguments), vi.Lobatto(0.005)))

    def of_integrator(**arguments):
        return ask(vi.simulate(vi.Problem(motor, 0.01), vi.Reduced(**arguments)))

    def of_rival(**arguments):
        return ask(vi.simulate(vi.Problem(motor, 0.01), vi.Maximal(**arguments)))

    def of_peer(**arguments):
        return ask(vi.simulate(vi.Problem(motor, 0.01), vi.Peer(**arguments)))

    of_peer.__signature__ = inspect.signature(vi.Peer)  # its defaults are right arguments

    def of_stepper(**arguments):
        stepper = vi.Stepper(**arguments)
        stepper.step(2)
        return stepper.time, stepper.energy, stepper.coordinates, repr(stepper)

    names = ("mechanism", "state", "order", "scheme", "tol", "force", "torque")
    stepped = {name: maximal[name] for name in names} | {"dt": 0.005, "every": 1, "extrapolate": True}
    stepped["force"] = lambda: {"cart": (1.0, 0.0, 0.0)}

    stepped_by_nodes = {
        name: stepped[name] for name in ("mechanism", "state", "force", "torque", "every", "extrapolate")
    }
    stepped_by_nodes["dt"] = vi.Lobatto(0.005, on_unresolved="ignore")

    @functools.wraps(vi.show)  # with its defaults
    def shown(**arguments):
        run = vi.simulate(motor, 0.02, 0.01)
        return vi.show(run, run, **arguments)

    def of_live(**arguments):
        with vi.live(**arguments, browser=False) as live:
            return repr(live), live.trajectory().t

    def of_recording(**arguments):
        return ask(vi.simulate(vi.Problem(motor, 0.01), vi.Variational(0.005), vi.Recording(**arguments)))

    peer = {"simulator": "mujoco", "integrator": "rk4", "dt": 0.005}

    def of(cls, arguments):
        return rights(**{field.name: arguments[field.name] for field in dataclasses.fields(cls)})

    return {
        "Problem": Call(vi.Problem, of(vi.Problem, maximal), repr),
        "Variational": Call(vi.Variational, of(vi.Variational, maximal), repr),
        "Lobatto": Call(vi.Lobatto, of(vi.Lobatto, by_nodes), repr),
        "Reduced": Call(vi.Reduced, of(vi.Reduced, reduced), repr),
        "Peer": Call(vi.Peer, rights(**peer), repr),
        "Stepper": Call(of_stepper, rights(**stepped)),
        "show": Call(
            shown, rights(names=lambda: ["a", "b"], path="runs.html", frames=5, trace="cart", plane="xz"), repr
        ),
        "live": Call(
            of_live,
            rights(**{name: stepped[name] for name in ("mechanism", "dt", "state", "order", "scheme", "every")}),
        ),
        "Recording": Call(vi.Recording, of(vi.Recording, maximal), repr),
        "simulate a Problem": Call(of_problem, of(vi.Problem, maximal)),
        "Maximal": Call(vi.Maximal, of(vi.Maximal, rival), repr),
        "simulate by Maximal": Call(of_rival, of(vi.Maximal, rival)),
        "simulate by Variational": Call(of_scheme, of(vi.Variational, maximal)),
        "simulate by Lobatto": Call(of_nodes, of(vi.Lobatto, by_nodes)),
        "simulate a Problem by Lobatto": Call(of_problem_by_nodes, of(vi.Problem, maximal)),
        "simulate at times by Lobatto": Call(by_nodes_at_times, rights(output_times=lambda: [0.001, 0.015])),
        "Stepper of Lobatto": Call(of_stepper, rights(**stepped_by_nodes)),
        "live by Lobatto": Call(
            of_live, rights(**{name: stepped_by_nodes[name] for name in ("mechanism", "dt", "state")})
        ),
        "ensemble by Lobatto": Call(ensemble, rights(**members | {"formulation": "lobatto"}), repr),
        "simulate by Reduced": Call(of_integrator, of(vi.Reduced, reduced | {"prescribed": None})),
        "simulate by Peer": Call(of_peer, rights(**peer)),
        "simulate with a Recording": Call(of_recording, of(vi.Recording, maximal)),
        "simulate": Call(vi.simulate, rights(**maximal), ask),
        "choose_step": Call(vi.choose_step, rights(**choosing), repr),
        "extrapolated": Call(vi.extrapolated, rights(function=lambda: lambda t, state: 0.0)),
        "simulate by a chosen step": Call(automatic, rights(energy_error=1e-3), ask),
        "simulate at times": Call(vi.simulate, rights(**at_times, on_unresolved="substep"), ask),
        "simulate in adaptive steps": Call(vi.simulate, rights(**by_motion), ask),
        "simulate to a file": Call(to_file, rights(duration=0.01, output="run.h5", overwrite=True)),
        "simulate goes on": Call(going_on, rights(duration=0.02, resume=True)),
        "redmax.simulate": Call(vi.redmax.simulate, rights(**reduced), ask),
        "redmax.simulate at times": Call(vi.redmax.simulate, rights(**at_times), ask),
        "redmax.simulate of a loop": Call(vi.redmax.simulate, rights(**looped), ask),
        "ensemble": Call(ensemble, rights(**members), repr),
        "controls": Call(
            vi.controls,
            rights(
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
        "load_ensemble": Call(vi.load_ensemble, rights(path=kept_ensemble), repr),
        "random_draws": Call(
            vi.random_draws, rights(n=3, distributions=lambda: {"angle": ("uniform", 0.1, 0.2)}, seed=1), list
        ),
        "compare": Call(vi.compare, rights(**compared), str),
        "compare_catalogue": Call(
            _of_catalogue,
            rights(names=lambda: ["double_pendulum"], steps=1, order=2, progress=lambda: lambda *_: None),
            str,
        ),
        "compare with one's own": Call(vi.compare, rights(**compared | {"integrators": lambda: [_same_again]}), str),
        "energy": Call(vi.energy, rights(mechanism=motor, state=motor.state(), t=0.5), repr),
        "accelerations": Call(vi.accelerations, rights(mechanism=motor, state=motor.state(), t=0.5, closed=True)),
        "step_matrix": Call(vi.step_matrix, rights(mechanism=motor, state=motor.state(), dt=0.005), repr),
        "EquationsOfMotion": Call(vi.EquationsOfMotion, rights(mechanism=motor, state=None, baumgarte=5.0), repr),
        "redmax.EquationsOfMotion": Call(
            vi.redmax.EquationsOfMotion, rights(mechanism=motor, state=motor.state(), baumgarte=5.0), repr
        ),
        **{
            f"EquationsOfMotion.{name}": Call(getattr(equations, name), rights(**right))
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
        "redmax.coordinates": Call(vi.redmax.coordinates, rights(mechanism=motor)),
        "redmax.reduced_state": Call(vi.redmax.reduced_state, rights(mechanism=motor, state=motor.state())),
        "redmax.maximal_state": Call(
            vi.redmax.maximal_state,
            rights(mechanism=motor, reduced=vi.redmax.reduced_state(motor, motor.state())),
        ),
        "redmax.ReducedState": Call(
            vi.redmax.ReducedState,
            rights(q=np.zeros(2), qdot=np.zeros(2)),
            lambda reduced: vi.redmax.simulate(motor, 0.01, dt=0.005, state=reduced),
        ),
    }
