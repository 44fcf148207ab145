"""VI Fig. 4a: the energy of a double pendulum over an hour at 10 ms."""

import numpy as np
from experiment import Experiment, curves

import varint as vi

HOUR, DT, EVERY, POINTS = 3600.0, 0.01, 10, 180  # s, s, steps between nodes kept, points of a curve
METHODS = {
    "variational, order 1": vi.Variational(dt=DT, order=1, on_unresolved="ignore"),
    "variational, order 2": vi.Variational(dt=DT, order=2, on_unresolved="ignore"),
    "Heun, reduced": vi.Reduced("heun", dt=DT),
}
MINUTES = (1, 10, 30, 60)


def measure():
    """Energy less that at the start, J: the mean and the largest size in each of the pieces of the hour."""
    measured = {}
    for degrees in (45, 90):
        mechanism = vi.mechanisms.n_pendulum(n=2, angle=np.radians(degrees))
        for name, method in METHODS.items():
            run = vi.simulate(vi.Problem(mechanism, HOUR), method, vi.Recording(every=EVERY))
            change = run.energy - run.energy[0]
            pieces = np.array_split(change[1:], POINTS)
            measured[f"{degrees} degrees: {name}"] = {
                "minutes": [60 * (k + 1) / POINTS for k in range(POINTS)],
                "mean": [float(piece.mean()) for piece in pieces],
                "largest": [float(np.abs(piece).max()) for piece in pieces],
                "at minutes": {str(m): float(change[round(m * 60 / DT / EVERY)]) for m in MINUTES},
            }
    return measured


def draw(measured, figure):
    """The largest change in each piece of the hour, a panel for each start."""
    panels = {}
    for name, curve in measured.items():
        start, method = name.split(": ")
        panels.setdefault(start, {})[method] = (curve["minutes"], curve["largest"])
    curves(figure, panels, "time (min)", "largest change of the energy (J)", "linear-log")


def seen(measured):
    """The changes after an hour."""
    text = []
    for start in ("45 degrees", "90 degrees"):
        heun = measured[f"{start}: Heun, reduced"]["at minutes"]
        first, second = (max(measured[f"{start}: variational, order {n}"]["largest"]) for n in (1, 2))
        late = measured[f"{start}: variational, order 2"]["mean"]
        drift = np.mean(late[-POINTS // 10 :]) - np.mean(late[: POINTS // 10])
        text.append(
            f"From {start} Heun's method gains {', '.join(f'{value:.3g}' for value in heun.values())} J after"
            f" {', '.join(heun)} min; order 1 stays within {first:.2g} J and order 2 within {second:.2g} J, whose mean"
            f" over the last tenth of the hour is that over the first plus {drift:.1g} J."
        )
    return " ".join(text)


EXPERIMENTS = [
    Experiment(
        "vi_4a",
        "Energy over an hour (VI Fig. 4a)",
        "the energy of a double pendulum at 10 ms grows over an hour with Heun's method and stays with the variational "
        "integrator of order 1.",
        measure,
        draw,
        seen,
    )
]
