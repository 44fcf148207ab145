"""VI Fig. 6: chains of closed segments of four links, and Fig. 7: Minitaur."""

import numpy as np
from experiment import Experiment, curves, slope, timed

import varint as vi

SEGMENTS, REDUCED, DT, DURATION = (1, 2, 3, 5, 8, 12, 16, 20), (1, 2, 3, 5, 8), 0.01, 10.0  # 1, 1, s, s
EXPLICIT = {f"RK4, {1000 * dt:g} ms": dt for dt in (0.01, 0.001)}


def measure_segments():
    """Time of 1000 steps, s, gaps and, for reduced coordinates, what became of each run."""
    measured = {"segments": list(SEGMENTS), "seconds": [], "gap": [], "energy": [], "reduced": {}}
    for m in SEGMENTS:
        method = vi.Variational(dt=DT, on_unresolved="ignore")
        run, spent = timed(vi.mechanisms.rhombus_chain(m=m), method, DURATION, vi.Recording())
        measured["seconds"].append(spent)
        measured["gap"].append(float(run.drift.max()))
        measured["energy"].append(float(np.abs(run.energy - run.energy[0]).max() / run.kinetic.max()))
    for name, dt in EXPLICIT.items():
        measured["reduced"][name] = [outcome(m, dt) for m in REDUCED]
    return measured


def outcome(m, dt):
    """Largest energy error, of the kinetic energy, and gap, m, of RK4 in reduced coordinates; None where it failed."""
    try:
        run = vi.simulate(vi.Problem(vi.mechanisms.rhombus_chain(m=m), DURATION), vi.Reduced("rk4", dt=dt))
    except vi.ConvergenceError:
        return None
    return [float(np.abs(run.energy - run.energy[0]).max() / run.kinetic.max()), float(run.drift.max())]


def draw_segments(measured, figure):
    """Time against segments."""
    panel = {"variational, order 2": (measured["segments"], measured["seconds"])}
    curves(figure, {"chains of rhombi": panel}, "segments", "time for 1000 steps (s)")


def seen_segments(measured):
    """Growth, gaps, and the runs in reduced coordinates."""
    texts = []
    for name, outcomes in measured["reduced"].items():
        of_each = [
            f"{m}: failed" if one is None else f"{m}: energy {one[0]:.1g}, gap {one[1]:.1g} m"
            for m, one in zip(REDUCED, outcomes, strict=True)
        ]
        texts.append(f"In reduced coordinates, {name}, by segments: {'; '.join(of_each)}.")
    return (
        f"Time grows with the power {slope(measured['segments'], measured['seconds']):.2f} of the number of segments;"
        f" all {len(SEGMENTS)} runs end, with gaps below {max(measured['gap']):.1g} m and energy errors of at most"
        f" {max(measured['energy']):.2g} of the largest kinetic energy. {' '.join(texts)}"
    )


def measure_minitaur():
    """Gap, m, and energy, J, of a fall of Minitaur's closed legs, and time a step, s."""
    run, seconds = timed(vi.mechanisms.minitaur(), vi.Variational(dt=0.001), 2.0, vi.Recording())
    return {
        "t": run.t[::10].tolist(),
        "gap": run.drift[::10].tolist(),
        "energy": (run.energy_balance[::10]).tolist(),
        "a step": seconds / (len(run) - 1),
        "bodies": len(run.mechanism.bodies),
    }


def draw_minitaur(measured, figure):
    """Balance of the energy over time."""
    panels = {"balance of the energy (J)": {"": (measured["t"], measured["energy"])}}
    panels["largest gap of a joint (m)"] = {"": (measured["t"], measured["gap"])}
    curves(figure, panels, "time (s)", "", "linear-linear")


def seen_minitaur(measured):
    """Size of both."""
    return (
        f"{measured['bodies']} bodies, 1 ms: {1e6 * measured['a step']:.0f} us a step, gaps below"
        f" {max(measured['gap']):.1g} m, balance of the energy within {np.abs(measured['energy']).max():.1g} J."
    )


EXPERIMENTS = [
    Experiment(
        "vi_6",
        "Chains of closed segments (VI Fig. 6)",
        "the time is linear in the number of segments; an integrator in minimal coordinates could not simulate two or"
        " more of them reliably, whatever its step.",
        measure_segments,
        draw_segments,
        seen_segments,
    ),
    Experiment(
        "vi_7",
        "Minitaur (VI Fig. 7)",
        "a robot whose legs are such closed segments is shown as an application.",
        measure_minitaur,
        draw_minitaur,
        seen_minitaur,
    ),
]
