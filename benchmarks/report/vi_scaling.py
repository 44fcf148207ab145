"""VI Fig. 5: time for 1000 steps of 10 ms of open and closed structures, against the number of links."""

from functools import partial

from experiment import Experiment, curves, in_turns, slope

import varint as vi

OPEN, CLOSED = (2, 5, 10, 20, 50, 100, 200), (4, 6, 10, 20, 50, 100)  # links
DT, DURATION = 0.01, 10.0  # s
JOINTS = ("revolute", "spherical")
METHODS = {
    "variational, order 1": vi.Variational(dt=DT, order=1, on_unresolved="ignore"),
    "variational, order 2": vi.Variational(dt=DT, order=2, on_unresolved="ignore"),
    "reduced, RK4": vi.Reduced("rk4", dt=DT),
}
LAST = vi.Recording(every=1_000_000)


def stepped(mechanism, method):
    """Steps alone: the time that the run states (s); None where it does not come to its end."""
    try:
        run = vi.simulate(vi.Problem(mechanism, DURATION), method, LAST)
    except vi.ConvergenceError:
        return None
    return run.wall_time


def measure(build, lengths):
    """Time of 1000 steps, s, of each method and kind of joint; None where the run failed."""
    measured = {"links": list(lengths)}
    for joint in JOINTS:
        for name in METHODS:
            measured[f"{joint}, {name}"] = []
    for n in lengths:
        for joint in JOINTS:
            mechanism, seconds = build(n=n, joint=joint), {}

            def run(name, mechanism=mechanism, seconds=seconds):
                one = stepped(mechanism, METHODS[name])
                seconds[name] = one if name not in seconds or one is None else min(one, seconds[name])

            in_turns({name: partial(run, name) for name in METHODS}, rounds=3)
            for name in METHODS:
                measured[f"{joint}, {name}"].append(seconds[name])
    return measured


def draw(measured, figure):
    """A panel for each kind of joint."""
    panels = {joint: {n: (measured["links"], measured[f"{joint}, {n}"]) for n in METHODS} for joint in JOINTS}
    curves(figure, panels, "links", "time for 1000 steps (s)")


def seen(measured):
    """Exponents, ratios at the two ends, failures."""
    texts = []
    for joint in JOINTS:
        _, two, rk4 = (measured[f"{joint}, {name}"] for name in METHODS)
        ratios = [f"{b / a:.2g} at {n}" for n, a, b in zip(measured["links"], two, rk4, strict=True) if a and b]
        fails = {name: [n for n, t in zip(measured["links"], measured[f"{joint}, {name}"], strict=True) if t is None]
                 for name in METHODS}  # fmt: skip
        failed = "; ".join(f"{name} failed at {', '.join(map(str, of))} links" for name, of in fails.items() if of)
        grown = slope(measured["links"][2:], two[2:])
        texts.append(
            f"{joint.capitalize()} joints: order 2 grows with the power {grown:.2f} of the links; RK4 over order 2:"
            f" {', '.join(ratios) or 'no run'}{'; ' + failed if failed else ''}."
        )
    return " ".join(
        [*texts, "The stages of RK4 are called from Python: its times at few links are those of the calls."]
    )


EXPERIMENTS = [
    Experiment(
        "vi_5a",
        "Time against links: pendulums (VI Fig. 5a)",
        "both methods are linear; the explicit one in reduced coordinates is faster for hinges, the variational one for"
        " ball joints.",
        partial(measure, vi.mechanisms.n_pendulum, OPEN),
        draw,
        seen,
    ),
    Experiment(
        "vi_5b",
        "Time against links: rings (VI Fig. 5b)",
        "one loop changes little; for ball joints the variational integrator is faster.",
        partial(measure, vi.mechanisms.ring, CLOSED),
        draw,
        seen,
    ),
]
