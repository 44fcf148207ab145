"""Every mechanism of the catalogue at its documented step, 10 s where it names no other; writes the page."""

import io
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import varint as vi
from varint.cli.listed_mechanisms import entry

DURATION, DRIFT_LIMIT = 10.0, 1e-10  # s, m
DOCS = Path(__file__).parents[1] / "docs"
ACROSS, WIDTH, HEIGHT, NAME = 6, 300, 220, 22  # of the picture: mechanisms a row; pixels of each, and of its name
COLOURS = 64
HEAD = """# The catalogue

Each mechanism is simulated from its documented start for 10 s with its documented step and order 2 (the squeezer, which
its motor accelerates all the time, for 0.05 s). Mobility: degrees of freedom at a generic pose. Redundant: rows of
constraints that could be left out. Energy error: the largest absolute value of the energy balance, and its ratio to the
largest kinetic energy. Closure: the largest violation of a joint. Made by `make docs`.

![Every mechanism of the catalogue at its start, with its name](images/catalogue.png)

Where coordinates are zero differs from mechanism to mechanism, for some at the start, for others at rest: each says so
below, and `varint info NAME` does.

| mechanism | bodies | loops | rows | mobility | redundant | step (ms) | energy error (J) | of kinetic | closure (m)\
 | sub-steps | iterations a step |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def known(name, facts):
    """The columns of a row of the table that no run is needed for."""
    fixed = " | ".join(str(facts[key]) for key in ("bodies", "loops", "rows", "mobility", "redundant"))
    return f"| {name} | {fixed} | {facts['dt'] * 1e3:g}"


def described():
    """What each mechanism is, its parameters and the zero of its coordinates, as `varint info NAME` tells it."""
    lines = ["\n## Parameters\n"]
    for each in map(entry, vi.mechanisms.NAMES):
        lines += [f"* **{each.name}.** {each.text} Zero of the coordinates: {each.zero}"]
        for one in each.parameters:
            unit = f" {one.unit}" if one.unit else ""
            lines += [f"  * `{one.name}` = {_default(one.default)}{unit}: {one.what}"]
    return "\n".join(lines) + "\n"


def _default(value):
    return f"{value:.6g}" if isinstance(value, float) else f"`{value!r}`" if isinstance(value, str) else f"{value}"


def picture(path):
    """Draw every mechanism at its start on one sheet."""
    names = vi.mechanisms.NAMES
    sheet = Image.new("RGB", (ACROSS * WIDTH, -(-len(names) // ACROSS) * (HEIGHT + NAME)), "white")
    for k, name in enumerate(names):
        content = io.BytesIO()
        figure = getattr(vi.mechanisms, name)().plot()
        for axes in figure.axes:
            axes.set_axis_off()
        figure.savefig(content, format="png", dpi=100, bbox_inches="tight")
        drawn = Image.open(content).convert("RGB")
        drawn.thumbnail((WIDTH - 10, HEIGHT - 10))
        x, y = k % ACROSS * WIDTH, k // ACROSS * (HEIGHT + NAME)
        sheet.paste(drawn, (x + (WIDTH - drawn.width) // 2, y + NAME + (HEIGHT - drawn.height) // 2))
        ImageDraw.Draw(sheet).text((x + WIDTH // 2, y + NAME // 2), name, fill="black", anchor="mm", font_size=15)
    sheet.quantize(COLOURS).save(path, optimize=True)


def runs():
    """(name, facts, trajectory) of each."""
    for name in vi.mechanisms.NAMES:
        module = vi.mechanisms.module(name)
        facts = module.EXPECTED
        yield name, facts, vi.simulate(module.build(), facts.get("duration", DURATION), facts["dt"])


def measure():
    rows = []
    for name, facts, run in runs():
        error, drift = np.abs(run.energy_balance).max() / run.kinetic.max(), run.drift.max()
        figures = f"energy error {error:.1e} of kinetic, closure {drift:.0e} m, {run.substeps} sub-steps"
        rows.append((f"{name}, {facts['dt'] * 1e3:g} ms", figures, f"closure < {DRIFT_LIMIT:g} m", drift < DRIFT_LIMIT))
    return rows


if __name__ == "__main__":
    lines = []
    for name, facts, run in runs():
        error = np.abs(run.energy_balance).max()
        lines.append(
            f"{known(name, facts)} | {error:.1e} | {error / run.kinetic.max():.1e}"
            f" | {run.drift.max():.0e} | {run.substeps} | {run.newton_iterations / run.steps:.1f} |"
        )
    (DOCS / "catalogue.md").write_text(HEAD + "\n".join(lines) + "\n" + described())
    picture(DOCS / "images" / "catalogue.png")
