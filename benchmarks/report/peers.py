"""Other simulators beside varint: chains, an hour, loops and the problems of IFToMM, and the first result."""

import os
import subprocess
import sys
import tempfile
import time
from functools import cache

import numpy as np
from experiment import Experiment, curves, timed

import varint as vi
from varint.drawing.style import line
from varint.extras.peers.base import simulators

LAST = vi.Recording(every=1_000_000)
CHAINS = {  # title: (links, angle from hanging, rad, time up to which places are compared, s)
    "2 links, mild": (2, 0.3, 5.0),
    "10 links, mild": (10, 0.3, 2.0),
    "2 links, violent": (2, np.pi / 2, 2.0),
    "10 links, violent": (10, np.pi / 2, 1.0),
    "50 links, violent": (50, np.pi / 2, 1.0),
}
DURATION, STEPS, TOLERANCES = 5.0, (0.01, 0.005, 0.0025, 0.00125), (1e-4, 1e-6, 1e-8, 1e-10)
OF_CHAINS = ("mujoco:euler", "mujoco:rk4", "pinocchio:euler", "pinocchio:rk4")
OF_LOOPS = ("mujoco:rk4", "pinocchio:rk4", "drake:discrete", "exudyn:trapezoidal")
ROUNDS, TOO_LONG = 3, 4.0  # of timing; s: a run that takes longer is not repeated, nor done in shorter steps
MILD = np.radians(45)


def installed(names):
    """Those of the simulators, as "mujoco:rk4", that are installed."""
    return [name for name in names if name.split(":")[0] in simulators() and found(name.split(":")[0])]


@cache
def found(simulator):
    """Whether a simulator is installed."""
    try:
        vi.simulate(vi.Problem(vi.mechanisms.double_pendulum(), 0.01), vi.Peer(simulator, dt=0.01), LAST)
    except vi.PeerError:
        return False
    return True


def ways(names, order=(2, 4, 6)):
    """Label to a function of a step that gives the method, in three groups."""
    of = {f"variational, order {n}": lambda dt, n=n: vi.Variational(dt, n, on_unresolved="ignore") for n in order}
    return of | {name: lambda dt, name=name: vi.Peer(name, dt=dt) for name in installed(names)}


def relative_energy(run):
    """The largest error of the balance of the energy, over the largest kinetic energy."""
    return float(np.abs(run.energy_balance).max() / run.kinetic.max())


# ------------------------------------------------------------------------------------------------- chains


@cache
def chains():
    """By chain and method: rows (step or tolerance, energy error, error of places, m, time, s)."""
    return {title: of_chain(*case) for title, case in CHAINS.items()}


def of_chain(n, angle, until):
    """One of `chains`."""
    mechanism = vi.mechanisms.n_pendulum(n=n, angle=angle)
    grid = vi.Reduced("dop853", dt=STEPS[0], rtol=1e-12, atol=1e-13)
    places = vi.simulate(vi.Problem(mechanism, until), grid).position
    methods = {label: (make, STEPS) for label, make in ways(OF_CHAINS).items()}
    methods["reduced, dop853"] = (lambda rtol: vi.Reduced("dop853", dt=STEPS[0], rtol=rtol, atol=rtol), TOLERANCES)
    rows, spent = {label: [] for label in methods}, dict.fromkeys(methods, 0.0)
    for k in range(max(len(sizes) for _, sizes in methods.values())):
        for label, (make, sizes) in methods.items():
            if k >= len(sizes) or spent[label] > TOO_LONG:
                continue
            try:
                run = vi.simulate(vi.Problem(mechanism, DURATION), make(sizes[k]))
                every = 1 if label.startswith("reduced") else round(STEPS[0] / sizes[k])
                apart = np.abs(run.position[::every][: len(places)] - places).max()
                rows[label].append([sizes[k], relative_energy(run), float(apart), run.wall_time])
                spent[label] = run.wall_time
            except vi.ConvergenceError:
                continue
    for _ in range(ROUNDS - 1):
        for label, (make, _) in methods.items():
            for row in rows[label]:
                if row[3] < TOO_LONG:
                    row[3] = min(row[3], vi.simulate(vi.Problem(mechanism, DURATION), make(row[0]), LAST).wall_time)
    return rows


def draw_chains(column, label):
    """A function that draws time against that error."""

    def draw(measured, figure):
        figure.set_size_inches(14.0, 4.6)
        panels = {
            title: {name: ([row[column] for row in rows], [row[3] for row in rows]) for name, rows in of.items()}
            for title, of in measured.items()
        }
        curves(figure, panels, label, f"time for {DURATION:g} s (s)")

    return draw


def time_at(rows, column, wanted, of_time=3):
    """Time, s, in column ``of_time``, at an error, between neighbours in logarithms; None where no run gets there."""
    best = []
    for row in sorted(rows, key=lambda row: row[of_time]):
        if not best or row[column] < best[-1][column]:
            best.append(row)
    if not best or best[-1][column] > wanted:
        return None
    best = np.log(np.maximum(np.array(best)[::-1], 1e-16))
    return float(np.exp(np.interp(np.log(wanted), best[:, column], best[:, of_time])))


def table_of_chains(column, errors):
    """A function that gives the table of times over those of MuJoCo's RK4 at errors."""

    def table(measured):
        labels = list(next(iter(measured.values())))
        lines = [f"| chain | error | {' | '.join(labels)} |", "|---|---|" + "---|" * len(labels)]
        for title, of in measured.items():
            for wanted in errors:
                base = time_at(of.get("mujoco:rk4", []), column, wanted)
                times = [time_at(of[label], column, wanted) for label in labels]
                ratios = " | ".join("" if t is None or base is None else f"{t / base:.2f}" for t in times)
                lines.append(f"| {title} | {wanted:g} | {ratios} |")
        return "\n".join(["Times over those of MuJoCo's RK4 at the same error; empty: one of both never got there.", "",
                          *lines])  # fmt: skip

    return table


def seen_chains(column, what, errors):
    """A function that says who is ahead."""

    def seen(measured):
        texts = []
        for title, of in measured.items():
            base = time_at(of.get("mujoco:rk4", []), column, errors[-1])
            ours = {
                label: t for label, rows in of.items() if label.startswith("variational")
                if (t := time_at(rows, column, errors[-1])) is not None
            }  # fmt: skip
            if not base or not ours:
                continue
            label = min(ours, key=ours.get)
            texts.append(f"{title}: {label} {ours[label] / base:.2g}")
        agree = [min(row[2] for row in rows) for of in measured.values() for rows in of.values() if rows]
        return (
            f"All methods tend to one motion: {max(agree):.1g} m is the largest error of places that is left at their"
            f" shortest steps. Time"
            f" of the best variational scheme over that of MuJoCo's RK4 at {what} of {errors[-1]:g}:"
            f" {'; '.join(texts)}."
            " Pinocchio steps in a loop of Python around its compiled accelerations."
        )

    return seen


# ------------------------------------------------------------------------------------------------- an hour

HOUR, DT, POINTS = 3600.0, 0.01, 180
SHOWN = 100.0  # J: what is above is no longer drawn


def hour():
    """Energy less that at the start, J, of a double pendulum: mean and largest size in pieces of the hour."""
    mechanism, measured = vi.mechanisms.n_pendulum(n=2, angle=MILD), {}
    methods = {label: make(DT) for label, make in ways(("mujoco:euler", "mujoco:rk4", "pinocchio:rk4"), (2, 4)).items()}
    methods["reduced, dop853, 1e-8"] = vi.Reduced("dop853", dt=DT, rtol=1e-8)
    methods["reduced, Gauss of 2 stages"] = vi.Reduced("gauss", dt=DT, stages=2)
    for label, method in methods.items():
        run, spent = timed(mechanism, method, HOUR, vi.Recording(every=10), rounds=1)  # an hour averages by itself
        change = run.energy - run.energy[0]
        count = max(1, round(POINTS * run.t[-1] / HOUR))
        pieces = np.array_split(change[1:], count)
        measured[label] = {
            "minutes": [60 * (k + 1) / POINTS for k in range(count)],
            "mean": [float(piece.mean()) for piece in pieces],
            "largest": [float(np.abs(piece).max()) for piece in pieces],
            "seconds": spent,
        }
    return measured


def draw_hour(measured, figure):
    """The largest change in each piece."""
    panel = {
        label: (curve["minutes"], [value if value < SHOWN else None for value in curve["largest"]])
        for label, curve in measured.items()
    }
    curves(
        figure, {"double pendulum from 45 degrees, 10 ms": panel}, "time (min)", "change of energy (J)", "linear-log"
    )


def seen_hour(measured):
    """Trend and time of each."""
    texts = []
    for label, curve in measured.items():
        tenth, end = POINTS // 10, curve["minutes"][-1]
        if end < 60:
            texts.append(f"{label}: not finite after {end:.0f} min")
            continue
        trend = np.mean(curve["mean"][-tenth:]) - np.mean(curve["mean"][:tenth])
        texts.append(f"{label}: at most {max(curve['largest']):.1g} J, trend {trend:.1g} J, {curve['seconds']:.2g} s")
    return f"Largest change of the energy, last tenth of the hour less the first, and time: {'; '.join(texts)}."


# ------------------------------------------------------------------------------------------------- loops


def problems():
    """Title: (mechanism, duration, step), s."""
    arm = vi.Body.sphere("mass", radius=1e-3, mass=1.0, position=(-1, 0, 0))
    pivot = vi.Revolute("pivot", "world", "mass", point=(0, 0, 0), axis=(0, -1, 0))
    of, opening = vi.mechanisms, {"m": 4, "opening": 1.0, "tilt": 0.3}
    return {
        "A01 pendulum": (vi.Mechanism("A01", [arm], [pivot]), 10.0, 1e-3),
        "A02 N four-bars": (of.n_four_bar(N=2), 10.0, 1e-3),
        "A03 squeezer": (of.andrews_squeezer(), 0.05, 1e-5),
        "A04 Bricard": (of.bricard(), 10.0, 1e-3),
        "A05 governor": (of.governor(), 10.0, 1e-3),
        "four-bar": (of.four_bar(), 2.0, 1e-3),
        "slider-crank": (of.slider_crank(), 2.0, 1e-3),
        "Stewart platform": (of.stewart_platform(), 2.0, 1e-3),
        "4 rhombi": (of.rhombus_chain(**opening), 2.0, 1e-3),
        "ladder": (of.ladder(k=5, closed=True), 2.0, 1e-3),
        "free body": (of.free_body(), 10.0, 1e-3),
    }


def loops():
    """By problem and method: [energy error, of kinetic, gap, m, time a step, s], or why there is none."""
    return {title: {name: one(case, make) for name, make in ways(OF_LOOPS, (2, 4)).items()}
            for title, case in problems().items()}  # fmt: skip


def one(case, make):
    """One of `loops`."""
    mechanism, duration, dt = case
    problem = vi.Problem(mechanism, duration)
    try:
        run = vi.simulate(problem, make(dt))
        wall = min(run.wall_time, *(vi.simulate(problem, make(dt), LAST).wall_time for _ in range(2)))
    except vi.PeerError as refusal:
        return str(refusal).splitlines()[0]
    except vi.ConvergenceError as failure:
        return f"stopped at t = {failure.time:.2g} s"
    return [relative_energy(run), float(run.drift.max()), wall / round(duration / dt)]


def draw_loops(measured, figure):
    """Energy error and gap of each method and problem."""
    axes = figure.subplots(1, 2)
    for k, (axis, title) in enumerate(zip(axes, ("energy error, of kinetic", "largest gap (m)"), strict=True)):
        for number, name in enumerate(next(iter(measured.values()))):
            ran = [(p, of[name][k]) for p, of in measured.items() if isinstance(of[name], list)]
            look = {"color": line(number)["color"], "marker": "osD^vP"[number % 6], "linestyle": "none"}
            axis.semilogy([p for p, _ in ran], [max(value, 1e-17) for _, value in ran], label=name, **look)
        axis.set_title(title)
        axis.tick_params(axis="x", rotation=60)
        axis.grid(alpha=0.3)
    figure.set_size_inches(10.0, 5.4)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)


def table_of_loops(measured):
    """Energy error, gap and time a step of each, or why there is none."""
    names = list(next(iter(measured.values())))
    lines = [f"| problem | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for title, of in measured.items():
        cells = [
            one if isinstance(one, str) else f"{one[0]:.1e}, {one[1]:.0e} m, {1e6 * one[2]:.3g} us"
            for one in of.values()
        ]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(["Energy error over the largest kinetic energy, gap, time a step.", "", *lines])


def seen_loops(measured):
    """What ran, and the gaps."""
    texts = []
    for name in next(iter(measured.values())):
        ran = [of[name] for of in measured.values() if isinstance(of[name], list)]
        gap = max((one[1] for one in ran), default=np.nan)
        texts.append(f"{name} runs {len(ran)} of {len(measured)} with gaps of at most {gap:.0e} m")
    return f"{'; '.join(texts)}."


# ------------------------------------------------------------------------------------------------- first result

SCRIPTS = {
    "varint": "import varint as vi; vi.simulate(vi.mechanisms.double_pendulum(), 1.0, 0.01).energy",
    "mujoco": "import mujoco; m = mujoco.MjModel.from_xml_string('<mujoco><worldbody><body><joint/>"
    '<geom size=".1"/></body></worldbody></mujoco>\'); d = mujoco.MjData(m); mujoco.mj_step(m, d)',
    "pinocchio": "import pinocchio as p; m = p.buildSampleModelManipulator(); p.aba(m, m.createData(), p.neutral(m),"
    " m.lowerPositionLimit * 0, m.lowerPositionLimit * 0)",
}


def first():
    """Seconds from the start of Python to the first result: on an empty cache of compiled functions, and later."""
    measured = {}
    for name, script in SCRIPTS.items():
        if name != "varint" and not found(name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"XDG_CACHE_HOME": folder}
            times = []
            for _ in range(4):
                began = time.perf_counter()
                subprocess.run([sys.executable, "-c", script], check=True, env=environment)
                times.append(time.perf_counter() - began)
        measured[name] = [times[0], min(times[1:])]
    return measured


def draw_first(measured, figure):
    """Bars."""
    axis = figure.subplots()
    at = np.arange(len(measured))
    for k, label in enumerate(("first time on a machine", "later")):
        axis.bar(
            at + 0.4 * (k - 0.5), [times[k] for times in measured.values()], 0.38, label=label, color=line(k)["color"]
        )
    axis.set(xticks=at, ylabel="time (s)", title="from the start of Python to the first result")
    axis.set_xticklabels(list(measured))
    axis.legend()


def seen_first(measured):
    """Both times of each."""
    return "; ".join(
        f"{name} {once:.1f} s the first time, {later:.1f} s later" for name, (once, later) in measured.items()
    )


EXPERIMENTS = [
    Experiment(
        "peers_energy",
        "Chains: time against the error of the energy",
        "MuJoCo's RK4 and Pinocchio's forward dynamics are what most people use.",
        chains,
        draw_chains(1, "energy error, of kinetic"),
        seen_chains(1, "an energy error", (1e-4, 1e-6)),
        table_of_chains(1, (1e-4, 1e-6, 1e-8)),
    ),
    Experiment(
        "peers_places",
        "Chains: time against the error of places",
        "",
        chains,
        draw_chains(2, "error of places (m)"),
        seen_chains(2, "an error of places, m,", (1e-3, 1e-5)),
        table_of_chains(2, (1e-3, 1e-5)),
    ),
    Experiment(
        "peers_hour",
        "A double pendulum for an hour",
        "VI shows this against Heun's method alone.",
        hour,
        draw_hour,
        seen_hour,
    ),
    Experiment(
        "peers_loops",
        "The problems of IFToMM, loops and a free body",
        "IFToMM's library of benchmark problems states solutions; docs/iftomm.md holds ours against them.",
        loops,
        draw_loops,
        seen_loops,
        table_of_loops,
    ),
    Experiment(
        "first_result",
        "From the start to the first result",
        "",
        first,
        draw_first,
        seen_first,
    ),
]
