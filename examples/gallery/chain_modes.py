"""At which frequencies does a hanging chain swing?

A chain of forty links hangs from a hook. What are its first modes, and how near are they to those of a rope?

`vi.modes` linearises about the rest. Bernoulli's rope of length L has the frequencies j sqrt(g / L) / (4 pi), with the
zeros j of Bessel's function J0; links of finite length come near them as the square of their number.

Source: D. Bernoulli (1732); Lamb, Hydrodynamics, section 191 has the same equation.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.special import jn_zeros

import varint as vi

NUMBERS, MODES = (5, 10, 20, 40), 3


def frequencies(links):
    """(MODES,) Hz of the chain and of a rope of its length, and (MODES, n) shapes: links, sideways."""
    mech = vi.mechanisms.n_pendulum(links, angle=0.0)
    small = vi.modes(mech, mech.state(coordinates={}))
    order = np.argsort(small.frequency)[:MODES]
    rope = jn_zeros(0, MODES) * np.sqrt(9.81 / links) / (4 * np.pi)
    return small.frequency[order], rope, small.shape[order][:, :, 0]


def answer() -> dict:
    return {links: frequencies(links) for links in NUMBERS}


def main(picture=None):
    found = answer()
    for links, (chain, rope, _) in found.items():
        off = ", ".join(f"{100 * ratio:+.2f} %" for ratio in chain / rope - 1)
        print(f"{links:3} links: the first {MODES} modes are off those of a rope by {off}")
    if picture:
        figure = Figure(figsize=(6, 3.8), layout="constrained")
        shapes, errors = figure.subplots(1, 2, width_ratios=(1, 1.5))
        shape = found[NUMBERS[-1]][2]
        for k, style in enumerate(("k-", "k--", "k:")):
            moved = shape[k] / shape[k][-1]
            shapes.plot(moved, -0.5 - np.arange(NUMBERS[-1]), style, label=f"mode {k + 1}")
            off = [abs(chain[k] / rope[k] - 1) for chain, rope, _ in found.values()]
            errors.loglog(NUMBERS, off, "o" + style[1:], color="k")
        shapes.set(xlabel="sideways, of its end", ylabel="height from the hook (m)")
        errors.set(xlabel="links", ylabel="|frequency / that of a rope - 1|")
        errors.set_xticks(NUMBERS, NUMBERS)
        errors.minorticks_off()
        figure.legend(*shapes.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
