"""Steps a second of a cart-pole that Python steps, beside MuJoCo's loop: ``python stepper.py``; needs mujoco.

All loops run in turns, many rounds. The fastest round of each is printed, by the processor's time that it took, or by
the clock where it has several threads; and its ratio to MuJoCo's loop.
"""

import os
import platform
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
from rich.console import Console
from rich.table import Table

import varint as vi

DT, STEPS, MANY, ROUNDS, SHORT_ROUNDS = 1e-3, 4000, 40_000, 40, 20


def as_mjcf(mechanism: vi.Mechanism, integrator: str) -> str:
    """The cart-pole in MuJoCo's format, with a motor on the cart."""
    cart, pole = mechanism.bodies

    def inertial(body: vi.Body) -> str:
        place, moments = (" ".join(f"{x:.17g}" for x in np.ravel(v)) for v in (body.position, np.diag(body.inertia)))
        return f'<inertial pos="{place}" mass="{body.mass:.17g}" diaginertia="{moments}"/>'

    gravity = " ".join(f"{x:.17g}" for x in mechanism.gravity)
    return (
        f'<mujoco><option timestep="{DT}" integrator="{integrator}" gravity="{gravity}"/><worldbody>'
        f'<body><joint name="track" type="slide" axis="1 0 0"/>{inertial(cart)}'
        f'<body><joint name="pivot" axis="0 -1 0"/>{inertial(pole)}</body></body></worldbody>'
        '<actuator><motor name="motor" joint="track"/></actuator></mujoco>'
    )


def mujoco_loop(integrator: str, feedback: bool) -> Callable[[], None]:
    """MuJoCo's loop in Python: set the control, step, and where there is ``feedback`` read position and velocity."""
    model = mujoco.MjModel.from_xml_string(as_mjcf(vi.mechanisms.cart_pole(), integrator))
    data = mujoco.MjData(model)
    data.qpos[1] = 1.0

    def run() -> None:
        ctrl, q, v, step = data.ctrl, data.qpos, data.qvel, mujoco.mj_step
        for _ in range(STEPS):
            ctrl[0] = -q[0] - 0.1 * v[0] if feedback else 0.1
            step(model, data)

    return run


def stepper_loop(feedback: bool, order: int = 2, every: int | None = None) -> Callable[[], None]:
    """The same loop of a `Stepper`."""
    sim = vi.Stepper(vi.mechanisms.cart_pole(), DT, order=order, every=every)

    def run() -> None:
        inputs = sim.inputs
        for _ in range(STEPS):
            if feedback:
                inputs[0] = -sim.coordinates[0] - 0.1 * sim.rates[0]
            else:
                inputs[0] = 0.1
            sim.step()

    return run


def by_name() -> Callable[[], None]:
    """The loop of a `Stepper` that reads a state, and coordinates and rates of that by the names of joints."""
    mechanism = vi.mechanisms.cart_pole()
    sim = vi.Stepper(mechanism, DT)

    def run() -> None:
        inputs = sim.inputs
        for _ in range(STEPS):
            state = sim.state
            q, rate = mechanism.coordinates(state), mechanism.rates(state)
            inputs[0] = -q["track"] - 0.1 * rate["track"]
            sim.step()

    return run


def regulated() -> Callable[[], None]:
    """The loop of a `Stepper` with the inputs of a regulator."""
    mechanism = vi.mechanisms.cart_pole(angle=3.0)
    regulator = vi.lqr(mechanism, mechanism.state(coordinates={"pivot": np.pi}), dt=DT)
    sim = vi.Stepper(mechanism, DT)

    def run() -> None:
        for _ in range(STEPS):
            sim.set("motor", regulator.inputs(sim.state)["motor"])
            sim.step()

    return run


def with_energies() -> Callable[[], None]:
    """The loop of a `Stepper` that reads the energy."""
    sim = vi.Stepper(vi.mechanisms.cart_pole(), DT)

    def run() -> None:
        for _ in range(STEPS):
            sim.energy.total  # noqa: B018  # a property
            sim.step()

    return run


def hundreds() -> Callable[[], None]:
    """A hundred steps a call."""
    sim = vi.Stepper(vi.mechanisms.cart_pole(), DT)

    def run() -> None:
        for _ in range(STEPS // 100):
            sim.step(100)

    return run


def simulated(effort: object, every: int) -> Callable[[], float]:
    """The same motion by `simulate`: its seconds."""
    mechanism = vi.mechanisms.cart_pole(effort=effort)

    def run() -> float:
        began = time.thread_time()
        vi.simulate(mechanism, MANY * DT, DT, every=every)
        return (time.thread_time() - began) * STEPS / MANY

    return run


def controller(t: float, state: vi.State) -> float:
    """N"""
    return -float(state.position[0, 0]) - 0.1 * float(state.velocity[0, 0])


def in_threads(count: int) -> Callable[[], float]:
    """Steppers in so many threads, a hundred steps a call: the fewest seconds by the clock."""
    sims = [vi.Stepper(vi.mechanisms.cart_pole(), DT) for _ in range(count)]

    def once() -> float:
        gate = threading.Barrier(count + 1)

        def march(sim: vi.Stepper) -> None:
            gate.wait()
            for _ in range(STEPS // 100):
                sim.step(100)

        threads = [threading.Thread(target=march, args=(sim,)) for sim in sims]
        for thread in threads:
            thread.start()
        gate.wait()
        began = time.perf_counter()
        for thread in threads:
            thread.join()
        return (time.perf_counter() - began) / count

    return lambda: min(once() for _ in range(SHORT_ROUNDS))


def measured() -> dict[str, float]:
    """Steps a second of each loop, the fastest of its rounds."""
    loops: dict[str, Callable[[], float | None]] = {
        "MuJoCo, semi-implicit Euler, order 1": mujoco_loop("Euler", False),
        "MuJoCo, Euler, reads and feeds back": mujoco_loop("Euler", True),
        "MuJoCo, RK4": mujoco_loop("RK4", False),
        "Stepper, order 2": stepper_loop(False),
        "Stepper, order 2, reads and feeds back": stepper_loop(True),
        "Stepper, order 2, feeds back and records": stepper_loop(True, every=1),
        "Stepper, state, coordinates and rates by name": by_name(),
        "Stepper, inputs of a regulator": regulated(),
        "Stepper, reads the energy": with_energies(),
        "Stepper, order 4": stepper_loop(False, order=4),
        "Stepper, step(100)": hundreds(),
        "simulate, order 2": simulated(0.1, 1 << 40),
        "simulate with f(t, state), records": simulated(controller, 1),
        "a Stepper in 1 thread, step(100)": in_threads(1),
        "Steppers in 2 threads, step(100)": in_threads(2),
    }
    best = dict.fromkeys(loops, np.inf)
    for _ in range(ROUNDS):
        for name, loop in loops.items():
            began = time.thread_time()
            own = loop()
            best[name] = min(best[name], own or time.thread_time() - began)
    return {name: STEPS / seconds for name, seconds in best.items()}


def processor() -> str:
    """Its kind."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    """Print the machine and the table."""
    console = Console(width=100)
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, MuJoCo {mujoco.__version__}"
    console.print(f"{processor()}, {os.cpu_count()} cores; {versions}; cart-pole, {DT:g} s", highlight=False)
    table = Table("loop", "steps/s", "of MuJoCo's")
    rates = measured()
    first = next(iter(rates.values()))
    for name, rate in rates.items():
        table.add_row(name, f"{rate:,.0f}", f"{rate / first:.2f}")
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
