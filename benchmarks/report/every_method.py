"""Every registered method on one tree and one loop."""

import numpy as np
from experiment import Experiment, timed

import varint as vi
from varint.drawing.style import line
from varint.extras.peers.base import simulator_class, simulators
from varint.extras.rivals.maximal import RULES, STABILISATIONS
from varint.methods.reduced.integrators import INTEGRATORS
from varint.methods.variational.schemes import SCHEMES

CASES = {"double pendulum": ("double_pendulum", 2.0, 0.005), "four-bar": ("four_bar", 0.4, 0.005)}  # s, s
RTOL = 1e-8  # of integrators with error control
LAST = vi.Recording()


def methods(dt):
    """All methods by their titles."""
    of = [vi.Variational(dt=dt, scheme=name, on_unresolved="ignore") for name in SCHEMES]
    of += [vi.Reduced(name, dt=dt, rtol=RTOL) for name in INTEGRATORS]
    of += [vi.Maximal(name, dt=dt, stabilisation=hold) for name in RULES for hold in (None, *STABILISATIONS)]
    of += [vi.Peer(name, each, dt=dt) for name in simulators() for each in simulator_class(name).integrators]
    return {method.title: method for method in of}


def measure():
    """By case and method: [error of places, m, of the energy, of kinetic, gap, m, time a step, s], or why not."""
    return {title: of_case(*case) for title, case in CASES.items()}


def of_case(name, duration, dt):
    """One of `measure`."""
    mechanism = getattr(vi.mechanisms, name)()
    exact = vi.simulate(vi.Problem(mechanism, duration), vi.Reduced("dop853", dt=dt, rtol=1e-13, atol=1e-14)).position
    return {title: outcome(mechanism, method, duration, dt, exact) for title, method in methods(dt).items()}


def outcome(mechanism, method, duration, dt, exact):
    """The figures of a method, or why there are none."""
    try:
        run, least = timed(mechanism, method, duration, LAST)
        if not run.success:
            return run.message
    except (vi.ArgumentError, vi.ConvergenceError) as problem:
        return str(problem).splitlines()[0]
    energy = np.abs(run.energy_balance).max() / run.kinetic.max()
    gap, seconds = run.drift.max(), least / round(duration / dt)
    return [float(value) for value in (np.abs(run.position - exact).max(), energy, gap, seconds)]


def draw(measured, figure):
    """Error of places against the time a step."""
    axes = figure.subplots(1, len(measured), sharey=True)
    figure.set_size_inches(13.0, 6.0)
    for axis, (title, of) in zip(axes, measured.items(), strict=True):
        for number, (name, one) in enumerate(of.items()):
            if isinstance(one, list):
                marker = "osD^vPX*"[number // 8 % 8]
                axis.loglog(one[3], max(one[0], 1e-16), marker, color=line(number)["color"], label=name)
        axis.set(title=title, xlabel="time a step (s)")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("largest error of places (m)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", fontsize=6.5, ncols=2)


def table(measured):
    """All figures."""
    lines = []
    for title, of in measured.items():
        lines += [f"**{title}**, steps of {1000 * CASES[title][2]:g} ms, {CASES[title][1]:g} s", ""]
        lines += [
            "| method | error of places (m) | energy error, of kinetic | gap (m) | a step (us) |",
            "|---|---|---|---|---|",
        ]
        for name, one in of.items():
            cells = (
                [f"{v:.1e}" for v in one[:3]] + [f"{1e6 * one[3]:.3g}"] if isinstance(one, list) else [one, "", "", ""]
            )
            lines.append(f"| {name} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def seen(measured):
    """How many ran, and which kept the loop."""
    texts = []
    for title, of in measured.items():
        ran = {name: one for name, one in of.items() if isinstance(one, list)}
        closed = sum(one[2] < 1e-12 for one in ran.values())
        texts.append(f"{title}: {len(ran)} of {len(of)} methods run, {closed} of them with gaps below 1e-12 m")
    return f"{'; '.join(texts)}. The others say by name what they do not take."


EXPERIMENTS = [
    Experiment(
        "every_method",
        "Every method that is registered",
        "",
        measure,
        draw,
        seen,
        table,
    )
]
