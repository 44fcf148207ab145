"""Studies and files, each with right arguments."""

from functools import wraps
from inspect import signature
from pathlib import Path

import numpy as np
from fuzz._call import Call, comparison, longer_run, reduced_run, rights, short_run
from fuzz._wrong import a_driven_mechanism, a_mechanism, a_run

import varint as vi
from varint.views.plots import plot_run


def study_calls() -> dict[str, Call]:
    motor, run = a_driven_mechanism(), longer_run()
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

    def linearized_by_nodes(**arguments):
        return repr(vi.linearize(vi.Problem(motor, 0.01), vi.Lobatto(**arguments)))

    def gradient_by_nodes(**arguments):
        return repr(vi.gradient(vi.Problem(motor, 0.02), height, vi.Lobatto(0.01, 6), **arguments))

    gradient_by_nodes.__signature__ = signature(vi.gradient)  # its defaults are right arguments

    return {
        "linearize by Lobatto": Call(linearized_by_nodes, rights(dt=0.01, order=6)),
        "gradient by Lobatto": Call(
            gradient_by_nodes,
            rights(with_respect_to=lambda: ["gravity", "start"], times=None, of_mechanism=False, memory=1e6),
        ),
        "energy_trend": Call(vi.energy_trend, rights(trajectory=run, quantity="energy"), seen),
        "energy_trend of a part": Call(
            vi.energy_trend, rights(trajectory=run, quantity=lambda: ("linear_momentum", 0)), seen
        ),
        "crossings": Call(vi.crossings, rights(**crossed)),
        "crossings of a function": Call(
            vi.crossings, rights(trajectory=run, of=lambda: height, value=0.0, direction=0)
        ),
        "crossings of a coordinate": Call(vi.crossings, rights(trajectory=run, of=lambda: ("pivot", 0), value=0.9)),
        "poincare_section": Call(vi.poincare_section, rights(**crossed, show="pivot"), seen),
        "poincare_section of a function": Call(
            vi.poincare_section, rights(trajectory=run, of=lambda: height, show=lambda: ("track", 0)), seen
        ),
        "phase_portrait": Call(vi.phase_portrait, rights(trajectory=run, joint="pivot", wrapped=True), seen),
        "phase_portrait of a coordinate": Call(
            vi.phase_portrait, rights(trajectory=run, joint=lambda: ("track", 0), wrapped=None), seen
        ),
        "power_spectrum": Call(
            vi.power_spectrum, rights(trajectory=run, what="coordinates", of=lambda: ["track"], segments=1), seen
        ),
        "power_spectrum of a point": Call(
            vi.power_spectrum, rights(trajectory=run, what=lambda: ("cart", (0.0, 0.0, 0.0)), of=None), seen
        ),
        "PowerSpectrum.peaks": Call(spectrum.peaks, rights(count=2), repr),
        "lyapunov_exponent": Call(vi.lyapunov_exponent, rights(**neighbours), seen),
        "equilibrium": Call(vi.equilibrium, rights(mechanism=hanging, state=hanging.state()), repr),
        "lyapunov_spectrum": Call(vi.lyapunov_spectrum, rights(**growing), seen),
        "linearize": Call(vi.linearize, rights(**common, dt=0.01), repr),
        "Linearizer": Call(vi.Linearizer, rights(mechanism=motor, dt=0.01, order=4, scheme=None), repr),
        "Linearizer.at": Call(vi.Linearizer(motor, 0.01).at, rights(state=motor.state()), repr),
        "linearize in continuous time": Call(vi.linearize, rights(mechanism=motor, state=motor.state()), repr),
        "Linearization.coordinates": Call(vi.linearize(motor).coordinates, rights(state=motor.state())),
        "Linearization.state_at": Call(vi.linearize(motor).state_at, rights(x=np.zeros(4)), repr),
        "Linearization.second_derivatives": Call(
            vi.linearize(motor, dt=0.01).second_derivatives, rights(costate=np.ones(4)), repr
        ),
        "Linearization.hessian_product": Call(
            vi.linearize(motor, dt=0.01).hessian_product, rights(costate=np.ones(4), dx=np.ones(4), du=np.ones(1))
        ),
        "lqr": Call(vi.lqr, rights(**regulated), repr),
        "Regulator.inputs": Call(vi.lqr(balanced, top).inputs, rights(state=top)),
        "Regulator.closed_loop": Call(vi.lqr(balanced, top).closed_loop, rights(mechanism=balanced), short_run),
        "periodic_orbit": Call(vi.periodic_orbit, rights(**periodic), repr),
        "holding": Call(vi.holding, rights(mechanism=balanced, state=top, joints=lambda: ["track", "pivot"]), repr),
        "inverse_dynamics": Call(vi.inverse_dynamics, rights(trajectory=run, joints=lambda: ["track"]), repr),
        "inverse_dynamics of a reduced run": Call(vi.inverse_dynamics, rights(trajectory=reduced_run(), joints=None)),
        "modes": Call(vi.modes, rights(mechanism=hanging, state=vi.equilibrium(hanging)), repr),
        "gradient": Call(vi.gradient, rights(**differentiated, **kept), repr),
        "gradient of a function": Call(vi.gradient, rights(**made_anew), repr),
        "redmax.gradient": Call(vi.redmax.gradient, rights(**in_coordinates), repr),
        "order_study": Call(vi.order_study, rights(**errors, reference="reduced"), seen),
        "order_study by the finest": Call(vi.order_study, rights(**errors, reference="finest"), seen),
        "OrderStudy.local_order": Call(study.local_order, rights(series=study.series[0], kind="position")),
        "time_reversal": Call(vi.time_reversal, rights(**common, duration=0.02, dt=0.01, tol=1e-12), seen),
        "time_reversal in a picture": Call(back, rights(path="back.png")),
    }


def file_calls() -> dict[str, Call]:
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
        "plot of curves": Call(on_axes("coordinates"), rights(**of_curves)),
        "plot of phases": Call(on_axes("phase"), rights(**of_curves)),
        "plot of poses": Call(on_axes("coupler"), rights(**of_poses)),
        "plot of all": Call(on_axes("energy_error"), rights(**panel)),
        "save_mechanism": Call(vi.save_mechanism, rights(mechanism=a_mechanism(), path="m.json", overwrite=False)),
        "load_mechanism": Call(loaded, rights(path="m.json", strict=True, packages=(".",), repair=True)),
        "load": Call(run_loaded, rights(path="r.h5")),
        "Trajectory.plot by name": Call(named, rights(what="energy")),
        "Trajectory.plot of curves": Call(drawn, rights(**curves)),
        "Trajectory.plot of poses": Call(posed, rights(**poses)),
        "Trajectory.animate": Call(a_run().animate, rights(**moving)),
        "Trajectory.animate from a camera": Call(a_run().animate, rights(**seen_from)),
        "Trajectory.view": Call(a_run().view, rights(**shown), repr),
        "Page.save": Call(a_run().view().save, rights(path="page.html")),
        "plot_run": Call(plot_run, rights(**figure)),
        "Comparison.save": Call(comparison().save, rights(path="comparison.json")),
        "Comparison.plot": Call(comparison().plot, rights(path=None)),
    }
