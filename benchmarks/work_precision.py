"""Work against precision beside MuJoCo's RK4: ten violent seconds, an hour of a mild motion; and loops.

    python benchmarks/work_precision.py [violent] [hour] [loops]

Prints the tables of docs/work_precision.md; some five minutes each. Times are of stepping alone, the least of several
rounds in which all runs take part in turns, nothing recorded.
"""

import sys
import time
from pathlib import Path

import numpy as np

import varint as vi

sys.path.insert(0, str(Path(__file__).with_name("report")))
from peers import time_at

ERRORS = (1e-4, 1e-6, 1e-8)  # of the energy, over m g L n
FINEST, COARSEST = 3e-9, 1e-2  # errors between which runs are timed
NODES = 20_000  # of a run whose energy is looked at
ROUNDS = 3
LAST = vi.Recording(every=1 << 40)
ORDERS, LOBATTO_ORDERS = (2, 4, 6, 8), (4, 6, 8, 10)
STEPS = [0.08 * 2 ** (-k / 2) for k in range(24)]  # s
CASES = {  # links, angle from hanging, rad, duration, s, the longest run, s of the clock
    "violent": [(2, np.pi / 2, 10.0, 0.3), (10, np.pi / 2, 10.0, 1.0), (50, np.pi / 2, 10.0, 3.0)],
    "hour": [(2, 0.3, 3600.0, 9.0)],
}
LINKAGES = (  # name in the catalogue, arguments, duration, s, the longest run, s of the clock
    ("four_bar", {}, 10.0, 1.5),
    ("slider_crank", {}, 10.0, 1.5),
    ("bricard", {}, 10.0, 1.5),
    ("rhombus_chain", {"m": 4}, 4.0, 3.0),
    ("rhombus_chain", {"m": 16}, 4.0, 8.0),
    ("stewart_platform", {}, 4.0, 3.0),
    ("minitaur", {}, 2.0, 4.0),
    ("andrews_squeezer", {}, 0.05, 0.6),
)
ON_LOOPS = ("mujoco:rk4", "order 4", "order 6", "Lobatto 6", "Lobatto 8", "Lobatto 10", "dop853")
LOOP_ERRORS = (1e-4, 1e-6, 1e-8, 1e-10)  # of the energy, over the largest kinetic energy
TOLERANCES = [10.0 ** -(k / 2) for k in range(8, 27)]
METHODS = (
    {"mujoco:rk4": lambda dt: vi.Peer("mujoco:rk4", dt=dt)}
    | {f"order {order}": lambda dt, order=order: vi.Variational(dt, order, on_unresolved="ignore") for order in ORDERS}
    | {
        f"Lobatto {order}": lambda dt, order=order: vi.Lobatto(dt, order, on_unresolved="ignore")
        for order in LOBATTO_ORDERS
    }
)


def run_of(mechanism, method, duration):
    """The largest error of the energy, over m g L n, infinite where the run broke off, and the seconds it stepped."""
    steps = round(duration / method.dt)
    try:
        run = vi.simulate(vi.Problem(mechanism, duration), method, vi.Recording(every=max(1, steps // NODES)))
    except vi.ConvergenceError:
        return np.inf, 0.0
    scale = 9.81 * len(mechanism.bodies) ** 2  # J, of links of 1 kg and 1 m
    return float(np.abs(run.energy - run.energy[0]).max() / scale), run.wall_time


def points(n, angle, duration, longest):
    """Method to rows (step, s, error, seconds)."""
    mechanism, rows = vi.mechanisms.n_pendulum(n=n, angle=angle), {label: [] for label in METHODS}
    for label, make in METHODS.items():
        for dt in STEPS:
            steps = round(duration / dt)
            error, seconds = run_of(mechanism, make(duration / steps), duration)
            if error <= COARSEST:
                rows[label].append([duration / steps, error, np.inf])
            if error < FINEST or seconds > longest:
                break
    for _ in range(ROUNDS):
        for label, make in METHODS.items():
            for row in rows[label]:
                row[2] = min(row[2], vi.simulate(vi.Problem(mechanism, duration), make(row[0]), LAST).wall_time)
    return rows


def table(name):
    """Times over those of MuJoCo's RK4 at the same error."""
    began = time.perf_counter()
    others = list(METHODS)[1:]
    lines = [f"| links | error | RK4, s | {' | '.join(others)} |", "|---|---|---|" + "---|" * len(others)]
    for n, *case in CASES[name]:
        found = points(n, *case)
        for wanted in ERRORS:
            base, *times = (time_at(rows, 1, wanted, 2) for rows in found.values())
            cells = ["" if t is None or base is None else f"{t / base:.2f}" for t in times]
            lines.append(f"| {n} | {wanted:g} | {'' if base is None else f'{base:.3g}'} | {' | '.join(cells)} |")
    print("\n".join([f"{name}, {time.perf_counter() - began:.0f} s", "", *lines, ""]), flush=True)


def series(label, duration):
    """Methods from coarse to fine."""
    if label == "dop853":
        return [vi.Reduced("dop853", rtol=rtol, dt=duration / 1000) for rtol in TOLERANCES]
    return [METHODS[label](duration / round(duration / dt)) for dt in STEPS]


def error_and_time(problem, method):
    """The largest error of the energy over the largest kinetic energy, infinite where a run broke off, and seconds."""
    try:
        run = vi.simulate(problem, method)
    except vi.ConvergenceError:
        return np.inf, 0.0
    return float(np.abs(run.energy_balance).max() / run.kinetic.max()), run.wall_time


def loops():
    """Milliseconds for a simulated second of linkages, at energy errors over the largest kinetic energy."""
    print(f"| mechanism | error | {' | '.join(ON_LOOPS)} |", "|---|---|" + "---|" * len(ON_LOOPS), sep="\n")
    for name, arguments, duration, longest in LINKAGES:
        mechanism = getattr(vi.mechanisms, name)(**arguments)
        problem = vi.Problem(mechanism, duration)
        rows = {label: [] for label in ON_LOOPS}
        for label in ON_LOOPS:
            for number, method in enumerate(series(label, duration)):
                error, seconds = error_and_time(problem, method)
                if error <= COARSEST:
                    rows[label].append([number, error, np.inf])
                if error < 0.1 * LOOP_ERRORS[-1] or seconds > longest:
                    break
        for _ in range(ROUNDS):
            for label in ON_LOOPS:
                methods = series(label, duration)
                for row in rows[label]:
                    row[2] = min(row[2], vi.simulate(problem, methods[row[0]], LAST).wall_time)
        for wanted in LOOP_ERRORS:
            times = (time_at(rows[label], 1, wanted, 2) for label in ON_LOOPS)
            cells = ["" if t is None else f"{1e3 * t / duration:.3g}" for t in times]
            print(f"| {mechanism.name} | {wanted:g} | {' | '.join(cells)} |", flush=True)
        least = (min((row[1] for row in rows[label]), default=np.inf) for label in ON_LOOPS)
        print(f"| | least | {' | '.join(f'{error:.0e}' for error in least)} |", flush=True)


if __name__ == "__main__":
    for case in sys.argv[1:] or [*CASES, "loops"]:
        loops() if case == "loops" else table(case)
