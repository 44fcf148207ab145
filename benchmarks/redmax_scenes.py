"""The 36 presets of the reference implementation of REDMAX, published energies and ours; a table of docs/redmax.md."""

from pathlib import Path

import varint as vi
from varint.cli.listed_mechanisms import entry
from varint.mechanisms._redmax import ERG

PAGE = Path(__file__).parents[1] / "docs" / "redmax.md"
BEGIN, END = "<!-- scenes -->\n", "<!-- end of scenes -->"


def known(name):
    """The columns of a row that no run is needed for: the first two, and the last."""
    facts = vi.mechanisms.module(name).EXPECTED
    what = entry(name).what.partition(": ")[2].rstrip(".")
    return f"| `{name}` | {what} | {facts['energy']:.9g} |", f" {facts.get('differs', '')} |"


def energy(name):
    """Of the end: kinetic, and potential above that of the start, erg."""
    facts = vi.mechanisms.module(name).EXPECTED
    options = {"integrator": "euler", "baumgarte": facts.get("baumgarte", 5.0)}
    run = vi.redmax.simulate(getattr(vi.mechanisms, name)(), facts["duration"], dt=facts["dt"], **options)
    return (run.kinetic[-1] + run.potential[-1] - run.potential[0]) / ERG


def row(name):
    published = vi.mechanisms.module(name).EXPECTED["energy"]
    found, (first, last) = energy(name), known(name)
    return f"{first} {found:.9g} | {abs(found / published - 1):.0e} |{last}"


if __name__ == "__main__":
    head = ["| scene | what it is | published, erg | ours, erg | difference | why |", "|---|---|---|---|---|---|"]
    before, rest = PAGE.read_text().split(BEGIN)
    table = "\n".join([*head, *map(row, vi.mechanisms.SCENES)])
    PAGE.write_text(f"{before}{BEGIN}{table}\n{END}{rest.split(END)[1]}")
