"""VI Fig. 8: variational integrators in maximal and in minimal coordinates at three tolerances of Newton's method."""

from functools import partial

from experiment import Experiment, curves, in_turns

import varint as vi

LINKS, TOLERANCES, DT, DURATION = (1, 2, 5, 10, 20, 50, 100), (1e-6, 1e-8, 1e-10), 0.01, 10.0
ANGLE = 0.3  # rad from hanging
LAST = vi.Recording(every=1_000_000)
MOST = 5.0  # s: methods that take longer get no longer chains


def methods(tol):
    """The methods by name."""
    return {
        "maximal, order 1": vi.Variational(dt=DT, order=1, tol=tol, on_unresolved="ignore"),
        "maximal, order 2": vi.Variational(dt=DT, order=2, tol=tol, on_unresolved="ignore"),
        "minimal, order 2, quasi-Newton": vi.Reduced("variational2_recursive", dt=DT, tol=tol),
        "minimal, order 2, Newton": vi.Reduced("variational2", dt=DT, tol=tol),
        "minimal, order 3, Newton": vi.Reduced("variational3", dt=DT, tol=tol),
    }


def measure():
    """Time of 1000 steps, s, by tolerance, method and links; "failed", or None where it would take too long."""
    measured = {"links": list(LINKS)}
    for tol in TOLERANCES:
        times = {name: [] for name in methods(tol)}
        for n in LINKS:
            problem, seconds = vi.Problem(vi.mechanisms.n_pendulum(n=n, angle=ANGLE), DURATION), {}

            def run(name, tol=tol, problem=problem, seconds=seconds):
                try:
                    wall = vi.simulate(problem, methods(tol)[name], LAST).wall_time
                except vi.ConvergenceError:
                    seconds[name] = "failed"
                    return
                seconds[name] = min(wall, seconds.get(name, wall))

            left = [name for name, own in times.items() if not own or (own[-1] is not None and slow(own) <= MOST)]
            in_turns({name: partial(run, name) for name in left}, rounds=3, enough=1.0)
            for name, own in times.items():
                own.append(seconds.get(name))
        measured[f"{tol:g}"] = times
    return measured


def slow(times):
    """The last time that was measured, s."""
    return next((t for t in reversed(times) if isinstance(t, float)), 0.0)


def draw(measured, figure):
    """A panel for each tolerance."""
    panels = {}
    for tol in (f"{tol:g}" for tol in TOLERANCES):
        panels[f"tolerance {tol}"] = {
            name: (measured["links"], [t if isinstance(t, float) else None for t in times])
            for name, times in measured[tol].items()
        }
    curves(figure, panels, "links", "time for 1000 steps (s)")


def seen(measured):
    """Failures, and ratios."""
    texts = []
    for tol in (f"{tol:g}" for tol in TOLERANCES):
        times = measured[tol]
        failed = [
            f"{name} at {', '.join(str(n) for n, t in zip(LINKS, own, strict=True) if t == 'failed')} links"
            for name, own in times.items()
            if "failed" in own
        ]
        ours = times["maximal, order 2"]
        ratios = [
            f"{name} {other[k] / ours[k]:.2g} at {LINKS[k]}"
            for name, other in times.items()
            for k in [max((k for k, t in enumerate(other) if isinstance(t, float)), default=0)]
            if name.startswith("minimal") and isinstance(other[k], float)
        ]
        texts.append(
            f"Tolerance {tol}: failed: {'; '.join(failed) or 'none'}; time over that of order 2 in maximal coordinates"
            f" at the longest chain that ran: {', '.join(ratios)}."
        )
    return " ".join(texts)


EXPERIMENTS = [
    Experiment(
        "vi_8",
        "Tolerances of variational integrators (VI Fig. 8)",
        "all methods reach 1e-6; at lower tolerances and more links those in minimal coordinates fail to converge"
        " in 100 iterations, and the maximal one goes on.",
        measure,
        draw,
        seen,
    )
]
