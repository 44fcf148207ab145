"""Why does my spring begin to swing sideways?

A weight hangs on a spring and is let go 5 cm below its rest. It bounces, then swings sideways, then bounces again. Why?

Its two frequencies, sqrt(k / m) and sqrt(g / l), are as two to one here, so that the bounce shakes the swing in
resonance: parametric, as a child on a swing. A tenth off that ratio it only bounces. scipy integrates the two equations
of motion, written by hand, to the same way.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import varint as vi

LENGTH, PULLED, ASIDE, DURATION = 1.0, 0.05, 1e-3, 60.0  # m, stretched by the weight; m; m; s


def run(ratio):
    """``ratio`` of the frequencies."""
    stiffness = ratio**2 * 9.81 / LENGTH  # N/m, of 1 kg
    rest = LENGTH - 9.81 / stiffness
    weight = vi.Body.sphere("weight", 0.05, 1.0, position=(ASIDE, 0, -LENGTH - PULLED))
    spring = vi.Spring(
        "spring", "world", "weight", point_a=(0, 0, 0), point_b=weight.position, stiffness=stiffness, rest_length=rest
    )
    mech = vi.Mechanism("spring", [weight], [vi.Translational("free", "world", "weight")], forces=[spring])
    return vi.simulate(mech, DURATION, 0.01, order=6), stiffness, rest


def by_hand(stiffness, rest, t):
    """(2, T) x and z, m."""

    def rates(_, y):
        length = np.hypot(y[0], y[1])
        pull = stiffness * (length - rest) / length
        return [y[2], y[3], -pull * y[0], -pull * y[1] - 9.81]

    start = [ASIDE, -LENGTH - PULLED, 0, 0]
    return solve_ivp(rates, (0, DURATION), start, "DOP853", t_eval=t, rtol=1e-11, atol=1e-13).y[:2]


def answer() -> dict:
    tuned, stiffness, rest = run(2.0)
    x, z = by_hand(stiffness, rest, np.minimum(tuned.t, DURATION))
    off = np.hypot(tuned.position[:, 0, 0] - x, tuned.position[:, 0, 2] - z).max()
    return {"tuned": tuned, "detuned": run(2.2)[0], "off": off}


def main(picture=None):
    found = answer()
    for name, text in (("tuned", "2 : 1"), ("detuned", "2.2 : 1")):
        print(f"at {text} it swings sideways by up to {1e3 * abs(found[name].position[:, 0, 0]).max():.1f} mm")
    print(f"the way at 2 : 1 is off that by scipy by {found['off']:.0e} m")
    if picture:
        figure = Figure(figsize=(6, 4.2), layout="constrained")
        panels = figure.subplots(2, sharex=True)
        for axes, column, name in zip(panels, (0, 2), ("sideways (m)", "up, at 2 : 1 (m)"), strict=True):
            styles = (("tuned", "k-", "2 : 1"), ("detuned", "C1--", "2.2 : 1"))[: 2 if column == 0 else 1]
            for key, style, label in styles:
                way = found[key].position[:, 0, column] + LENGTH * (column == 2)
                axes.plot(found[key].t, way, style, linewidth=0.8, label=label)
            axes.set_ylabel(name)
        panels[1].set_xlabel("time (s)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
