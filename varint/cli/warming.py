"""Short runs of every kind: what they compile is what all others need.

`KINDS` is the one list of them. ``varint compile`` goes through it, and so do the builder of the wheels and the tests.
Each kind runs in a process of its own: ``python -m varint.cli.warming KIND``.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import varint as vi
from varint.base.numba.cache import ORIGINS, WantedCode
from varint.step.loads import differentiate_sliding
from varint.step.measures import RARE_KINDS

DT = 0.001  # s
ASKED: tuple[str, ...] = ("energy", "energy_balance", "linear_momentum", "angular_momentum", "drift", "acceleration")
ASKED += ("coordinates", "rates", "force", "power", "dissipated", "force_potential", "rank_margin")
KINDS: dict[str, Callable[[], object]] = {}
FIRST = "poses"  # what all others need: before them
PLACE = Path(vi.__file__).parents[1]
KIND_OF_RUN = """
import runpy, sys  # with -P: nothing of the folder that the user is in is imported
sys.path.append(sys.argv.pop(1))
runpy.run_module("varint.cli.warming", run_name="__main__", alter_sys=True)
"""


class Done(NamedTuple):
    """Result of a kind: number of functions compiled, present already, and shipped with varint; the time, s."""

    kind: str
    compiled: int
    kept: int
    shipped: int
    seconds: float


def kind(run: Callable[[], object]) -> Callable[[], object]:
    """Register a kind of run, named as its function, as a decorator."""
    KINDS[run.__name__.replace("_", " ")] = run
    return run


def warm(
    kinds: Sequence[str] = (), jobs: int = 0, shipped: bool = True, environment: Mapping[str, str] | None = None
) -> Iterator[Done]:
    """Run ``kinds``, by default all, ``jobs`` at a time, by default one a core; each as it is done.

    ``shipped``: whether what came with varint will do; if not, it is compiled anew for this processor.
    ``environment``: variables of these processes beside those of this one. Raises RuntimeError where one fails.
    """
    names = list(kinds or KINDS)
    waiting = [name for name in names if name != FIRST]
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        if FIRST in names:
            yield _run(FIRST, shipped, environment or {})
        begun = [pool.submit(_run, name, shipped, environment or {}) for name in waiting]
        try:
            for future in as_completed(begun):
                yield future.result()
        finally:
            for future in begun:
                future.cancel()


def _run(name: str, shipped: bool, environment: Mapping[str, str]) -> Done:
    began = time.perf_counter()
    command = [sys.executable, "-P", "-c", KIND_OF_RUN, str(PLACE), name, *([] if shipped else ["--anew"])]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"'{name}' ended with an error: {done.stderr.strip()}")
    counts = json.loads(done.stdout.splitlines()[-1])
    compiled, cached, shipped_ones = (counts.get(origin, 0) for origin in ("compiled", "kept", "shipped"))
    return Done(name, compiled, cached, shipped_ones, time.perf_counter() - began)


def _asked(run: vi.Trajectory) -> None:
    """Read all that is computed from the nodes."""
    for name in ASKED:
        getattr(run, name)
    for joint in run.mechanism.joints:
        run.reactions[joint.name]
    run.at(run.t[1] * 0.5)


def _rig(*forces: Any, screw: bool = False) -> vi.Mechanism:
    """Return two rods that hang from the world by a hinge, and by a ball or a screw, with the ``forces``."""
    rods = [vi.Body.box(f"rod {k}", (0.1, 0.2, 1.0), 1.0, position=(0, 0, -0.5 - k)) for k in range(2)]
    hinge = vi.Revolute("hinge", "world", "rod 0", point=(0, 0, 0), axis=(0, 1, 0))
    second = vi.Spherical("ball", "rod 0", "rod 1", point=(0, 0, -1))
    if screw:
        second = vi.Helical("screw", "rod 0", "rod 1", point=(0, 0, -1), axis=(0, 0, 1), lead=0.1)
    points = {"point_a": (0, 0.3, -0.5), "point_b": (1, 0, -0.5)}
    spring = vi.Spring("strut", "rod 0", "world", stiffness=10.0, damping=0.1, rest_length=0.5, **points)
    drag = vi.Drag("drag", "rod 1", linear=0.1, angular=0.1)
    return vi.Mechanism("rig", rods, [hinge, second], forces=[spring, drag, *forces], gravity=np.array([0, 0, -9.81]))


def _height(state: vi.State) -> float:
    return float(state.position[-1, 2] + state.velocity[-1, 0])


@kind
def poses() -> None:
    linkage = vi.mechanisms.four_bar()
    linkage.diagnose()
    linkage.sweep("crank pivot", [0.0, 0.1])
    linkage.assemble(linkage.state(), hold="crank pivot")
    vi.mechanisms.cart_pole().state(coordinates={"pivot": 0.1})


@kind
def steps() -> None:
    for order in (1, 2, 4, 6):
        _asked(vi.simulate(vi.mechanisms.four_bar(), 5 * DT, DT, order=order))
        damping = {"damping": 100.0} if order > 2 else {}  # compositions refuse that of the catalogue
        governor = vi.mechanisms.governor(**damping)
        _asked(vi.simulate(governor, 5 * DT, DT, order=order, output_times=[1.5 * DT]))
    _asked(vi.simulate(vi.mechanisms.ball_on_turntable(), 5 * DT, DT))
    vi.simulate(_rig(), 0.05, 0.01, adaptive=True, on_unresolved="ignore")
    vi.simulate(vi.mechanisms.double_pendulum(), 0.1, dt="auto", energy_error=1e-4)
    vi.compare(vi.mechanisms.double_pendulum(), duration=0.02, dt=[0.01, 0.005])
    vi.ensemble("double_pendulum", {"angle": [0.1]}, 5 * DT, DT, workers="threads")
    run = vi.simulate(_rig(), 5 * DT, DT, force={"rod 1": (0, 0, 1)}, on_unresolved="substep", diagnostics_every=1)
    _asked(run)


@kind
def steps_of_collocation() -> None:
    vi.simulate(vi.Problem(vi.mechanisms.double_pendulum(), 5 * DT), vi.Lobatto(DT))
    sim = vi.Stepper(vi.mechanisms.cart_pole(), vi.Lobatto(DT))
    sim.set("motor", float(sim.coordinates[0]))
    sim.step()


@kind
def steps_from_python() -> None:
    sim = vi.Stepper(vi.mechanisms.cart_pole(), DT, extrapolate=True)
    sim.set("motor", float(sim.coordinates[0]))
    sim.step()
    sim.restore(sim.save())


@kind
def hard_stops_and_drives() -> None:
    stop = vi.JointStop("end stop", joint="hinge", lower=-0.2, upper=0.2, restitution=0.5)
    mechanism = _rig(stop)
    moving = mechanism.state(rates={"hinge": 5.0})
    for order in (2, 4):
        _asked(vi.simulate(mechanism, 0.1, 0.01, state=moving, order=order))
    _asked(vi.redmax.simulate(mechanism, 0.1, 0.01, state=moving))
    drive = vi.PrescribedMotion("drive", joint="hinge", position=np.sin)
    driven = vi.simulate(_rig(drive), 5 * DT, DT)
    _asked(driven)
    vi.inverse_dynamics(driven)
    actuator = vi.FirstOrderActuator("actuator", joint="hinge", gain=1.0, time_constant=0.1, command=np.sin)
    _asked(vi.simulate(_rig(actuator), 5 * DT, DT))


@kind
def joints_as_products() -> None:
    _asked(vi.simulate(_rig(screw=True), 5 * DT, DT))
    _asked(vi.simulate(vi.mechanisms.roller_coaster(), 5 * DT, DT))
    _asked(vi.redmax.simulate(_rig(screw=True), 5 * DT, dt=DT))
    vi.gradient(_rig(screw=True), _height, 5 * DT, DT, with_respect_to=["start", "screw.lead", "rod 0.mass"])


@kind
def explicit_steps_in_reduced_coordinates() -> None:
    for mechanism in (vi.mechanisms.four_bar(), vi.mechanisms.governor(), _rig()):
        _asked(vi.redmax.simulate(mechanism, 5 * DT, dt=DT, integrator="dop853"))
    vi.redmax.simulate(vi.mechanisms.four_bar(), 5 * DT, dt=DT, integrator="radau")
    path = [vi.At("world", np.array([0.1, 0, 0])), vi.At("rod 1", np.array([0, 0.1, -1.5]))]
    heavy = _rig(vi.PathMass("muscle", path=path, mass=0.1))
    vi.redmax.simulate(heavy, 5 * DT, dt=DT)
    vi.simulate(heavy, 5 * DT, DT)
    light = vi.Musculotendon("muscle", path=path, max_force=1.0, optimal_length=1.0, slack_length=0.5)
    vi.simulate(_rig(light), 5 * DT, DT)


@kind
def implicit_steps_in_reduced_coordinates() -> None:
    for integrator in ("euler", "bdf2", "sdirk2"):
        for mechanism in (vi.mechanisms.four_bar(), vi.mechanisms.governor(), _rig()):
            _asked(vi.redmax.simulate(mechanism, 5 * DT, dt=DT, integrator=integrator))


@kind
def contacts_in_steps() -> None:
    floor = vi.HardContact("floor", "rod 1", points=[(0, 0, -1.99)], radius=0.01, ground=(0, 0, -2.0), friction=0.3)
    mechanism = _rig(floor)
    _asked(vi.simulate(mechanism, 5 * DT, DT, state=mechanism.state(rates={"hinge": 5.0})))


@kind
def contacts_of_shapes() -> None:
    low = vi.Body.box("low", (0.4, 0.4, 0.1), 1.0, position=(0, 0, 0.05), collision=True)
    high = vi.Body.sphere("high", 0.1, 1.0, position=(0, 0, 0.201), collision=True)
    forces = [vi.Contact("floor", "low", "world", friction=0.3), vi.Contact("pair", "high", "low", friction=0.3)]
    frees = [vi.Free(body.name, "world", body.name) for body in (low, high)]
    mechanism = vi.Mechanism("shapes", [low, high], frees, forces=forces, ground=[vi.PlaneShape()])
    run = vi.simulate(mechanism, 10 * DT, DT)
    _asked(run)
    run.penetration["floor"]
    _asked(vi.redmax.simulate(mechanism, 5 * DT, DT))


@kind
def rare_measures_and_sliding_friction() -> None:
    """Compile functions whose annotations give their types."""
    for function in (*RARE_KINDS, differentiate_sliding):
        function.prepare()


@kind
def friction_of_joints() -> None:
    rub = vi.JointCoulombFriction("rub", joint="hinge", coefficient=0.2, radius=0.05)
    mechanism = _rig(rub)
    _asked(vi.simulate(mechanism, 5 * DT, DT, state=mechanism.state(rates={"hinge": 5.0})))


@kind
def friction_and_contacts() -> None:
    if importlib.util.find_spec("clarabel") is None:
        return
    stop = vi.JointStop("end stop", joint="hinge", lower=-0.01, upper=0.01, restitution=0.5)
    rub = vi.JointCoulombFriction("rub", joint="hinge", coefficient=0.2, radius=0.05)
    floor = vi.HardContact("floor", "rod 1", points=[(0, 0, -1.99)], radius=0.01, ground=(0, 0, -2.0), friction=0.3)
    mechanism = _rig(stop, rub, floor)
    state = mechanism.state(rates={"hinge": 5.0})
    _asked(vi.redmax.simulate(mechanism, 0.05, dt=0.005, integrator="euler", state=state))


@kind
def steps_at_velocity_level() -> None:
    for integrator in vi.Maximal.integrators():
        for mechanism in (vi.mechanisms.four_bar(), _rig()):
            _asked(vi.simulate(vi.Problem(mechanism, 5 * DT), vi.Maximal(integrator, dt=DT, stabilisation="project")))


@kind
def small_motions() -> None:
    mechanism = vi.mechanisms.four_bar()
    rest = vi.equilibrium(mechanism)
    vi.modes(mechanism, rest)
    for each in (mechanism, vi.mechanisms.governor(damping=100.0), _rig()):  # order 4 refuses that of the catalogue
        for options in ({}, {"dt": 0.01}, {"dt": 0.01, "order": 4}):
            vi.linearize(each, **options)
    vi.lyapunov_spectrum(vi.mechanisms.double_pendulum(angle=2.5), 0.4, 0.01, interval=0.02)
    hanging = vi.mechanisms.double_pendulum(angle=0.0)
    result = vi.modes(hanging)
    guess = hanging.state(coordinates={"joint 1": 0.05, "joint 2": 0.05 * 2**0.5})
    vi.periodic_orbit(hanging, guess, 1 / result.frequency[0], 0.02, order=4)
    vi.inverse_dynamics(vi.simulate(mechanism, 5 * DT, DT), joints=["crank pivot"])


@kind
def gradients() -> None:
    stop = vi.JointStop("end stop", joint="hinge", lower=-0.2, upper=0.2, restitution=0.5)
    names = ["start", "gravity", "rod 0.mass", "rod 0.inertia", "hinge.point", "hinge.axis", "strut.stiffness", "dt"]
    vi.gradient(_rig(), _height, 5 * DT, DT, with_respect_to=names, order=4)
    stopped = _rig(stop)
    start = stopped.state(rates={"hinge": 5.0})
    vi.gradient(stopped, _height, 0.1, 0.01, with_respect_to=[*names, "end stop.restitution"], state=start)
    linkage = vi.mechanisms.four_bar()
    names = ["start", "gravity", "coupler.mass", "crank pin.point[0]"]
    vi.gradient(linkage, _height, 5 * DT, DT, with_respect_to=names)
    motor = vi.Motor("motor", joint="crank pivot", effort=0.1)
    drive = vi.PrescribedMotion("drive", joint="crank pivot", rate=1.0)
    vi.gradient(replace(linkage, forces=[motor]), _height, 5 * DT, DT, with_respect_to=["motor.effort", "start"])
    vi.gradient(replace(linkage, forces=[drive]), _height, 5 * DT, DT, with_respect_to=["drive.rate", "start"])
    vi.gradient(_rig(), _height, 0.05, 0.01, with_respect_to=["start"], adaptive=True)
    names = ["start", "gravity", "rod 0.mass", "hinge.point", "strut.stiffness", "strut.point_a", "dt"]
    vi.gradient(_rig(), _height, 5 * DT, vi.Lobatto(DT), with_respect_to=names)


@kind
def gradients_in_reduced_coordinates() -> None:
    names = ["start", "gravity", "rod 0.mass", "rod 0.inertia", "strut.stiffness"]
    for scheme in ("bdf2", "dop853"):
        vi.redmax.gradient(_rig(), _height, 5 * DT, DT, with_respect_to=names, scheme=scheme)
    linkage = vi.mechanisms.four_bar()
    vi.redmax.gradient(linkage, _height, 5 * DT, DT, with_respect_to=["start", "coupler.mass"], scheme="bdf2")


if __name__ == "__main__":
    WantedCode.shipped, WantedCode.ahead = "--anew" not in sys.argv, False
    warnings.simplefilter("ignore")
    KINDS[sys.argv[1]]()
    print(json.dumps(ORIGINS))
