"""Writes the tables of runs.md, pictures.md, known_forces.md, rivals.md and redmax.md: ``make docs``."""

from pathlib import Path

from varint.extras.rivals.maximal import RULES
from varint.files.formats import FORMATS
from varint.methods.reduced.contact_solvers import REGISTRY
from varint.methods.reduced.integrators import INTEGRATORS
from varint.methods.variational.schemes import SCHEMES
from varint.model.known_forces import TRAITS, USES
from varint.results.derived import QUANTITIES
from varint.results.table_columns import GROUPS
from varint.views.panels import ONLY_DRAWN, owned

NAMES = ("runs.md", "pictures.md", "known_forces.md", "rivals.md", "redmax.md")
PAGES = [Path(__file__).with_name(name) for name in NAMES]


def tables() -> dict[str, str]:
    """The tables by the names of their places in the page."""
    return {
        "schemes": _table(
            ("`scheme=`", "order", "what it is"),
            [(f"`{scheme.name}`", str(scheme.order), scheme.what) for scheme in SCHEMES.values()],
        ),
        "integrators": _table(
            ("`integrator=`", "order", "what it is", "stiff forces", "joint friction", "hard contacts"),
            [
                (
                    f"`{name}`",
                    str(kind.order),
                    kind.what,
                    "yes" * kind.stiff,
                    "yes" * kind.contacts,
                    "yes" * (kind.contacts or kind.locates),
                )
                for name, kind in INTEGRATORS.items()
            ],
        ),
        "maximal rivals": _table(
            ("`integrator=`", "what it is"), [(f"`{name}`", rule.what) for name, rule in RULES.items()]
        ),
        "contact solvers": _table(
            ("`contact_solver=`", "what it is"), [(f"`{name}`", rival.what) for name, rival in sorted(REGISTRY.items())]
        ),
        "formats": _table(
            ("suffix", "what it holds", "written"),
            [(f"`{suffix}`", each.what, "yes" if each.save else "") for suffix, each in FORMATS.items()],
        ),
        "quantities": _table(
            ("attribute", "unit", "what it is"),
            [(f"`{name}`", each.unit, _first_line(each.evaluate)) for name, each in QUANTITIES.items()],
        ),
        "groups": _table(
            ("name", "of all", "what it is"),
            [
                (f'`"{name}"`', each.of, _first_line(QUANTITIES[name].evaluate) if not each.of else each.what)
                for name, each in GROUPS.items()
            ],
        ),
        "known forces": _table(
            ("", *(trait.which for trait in TRAITS.values())),
            [(use.asked, *("no" * (name in use.refuses) for name in TRAITS)) for use in USES.values()],
        ),
        "drawn": _table(
            ("name", "of all", "what it is"),
            [(f'`"{name}"`', owned(name), what) for name, what in ONLY_DRAWN.items()],
        ),
    }


def filled(page: str) -> str:
    """The page with its tables written anew."""
    for name, table in tables().items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        if begin not in page:
            continue
        before, rest = page.split(begin)
        page = f"{before}{begin}{table}\n{end}{rest.split(end)[1]}"
    return page


def _table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _first_line(function):
    line = function.__doc__.partition("\n")[0].partition(": ")[0].rstrip(".")
    return line.removeprefix("Return ").removeprefix("the ")


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(filled(path.read_text()))
