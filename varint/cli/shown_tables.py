"""Print tables that remain legible in a narrow terminal."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from varint.base.printable import printable

if TYPE_CHECKING:
    from rich.console import Console


NARROWEST = 30  # least width, in characters, of a last column whose texts are wrapped


def show_rows(console: "Console", columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """Print a table to ``console``; if it does not fit, print the cells of each row one below the other.

    columns : headings; a leading ``>`` marks a column of numbers, right-aligned. The line is omitted if all are empty
    rows : the texts of the cells, one per column; nothing but the title is printed if there are no rows
    title : line above the table, in bold; empty: none

    The last column is wrapped if it holds texts. If the table is too wide, headings are first
    broken at their spaces; if it is still too wide, the cells of a row are printed one below the other.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    rows = [[printable(text) for text in row] for row in rows]
    if title:
        console.print(Text(printable(title), style="bold"))
    if not rows:
        return None
    names = [printable(column.lstrip(">")) for column in columns]
    text_last = not columns[-1].startswith(">")
    cells = [max(map(cell_len, texts)) for texts in zip(*rows, strict=True)]
    if text_last:
        cells[-1] = min(cells[-1], NARROWEST)

    def width() -> int:
        """Return the width of the table in characters, with the headings as they are in ``names``."""
        headings = [max(map(cell_len, name.split("\n"))) for name in names]
        return sum(map(max, cells, headings)) + 3 * len(cells)

    if width() > console.width:
        names = [
            name.replace(" ", "\n") if cell_len(name) > cell_width else name
            for name, cell_width in zip(names, cells, strict=True)
        ]
    if width() > console.width:
        return _show_stacked(console, [name.replace("\n", " ") for name in names], rows)
    table = Table(box=box.SIMPLE_HEAD, show_header=any(names), pad_edge=False)
    for number, (column, name) in enumerate(zip(columns, names, strict=True)):
        wrapped = text_last and number == len(columns) - 1
        table.add_column(Text(name), no_wrap=not wrapped, overflow="fold")
        table.columns[-1].justify = "right" if column.startswith(">") else "left"
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
    return None


def _show_stacked(console: "Console", names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print the first cell of each row on a line, the others indented below it as "name: text".

    ``names``: one heading per column; the first is not printed. Empty cells are left out. If all headings are empty, a
    row of two cells is one line if that fits.
    """
    from rich.cells import cell_len
    from rich.padding import Padding
    from rich.text import Text

    console.print()
    for first, *others in rows:
        if len(others) == 1 and not any(names) and cell_len(f"{first}: {others[0]}") <= console.width:
            console.print(Text(f"{first}: {others[0]}"))
            continue
        console.print(Text(first))
        for name, text in zip(names[1:], others, strict=True):
            if text:
                console.print(Padding(Text(f"{name}: {text}" if name else text), (0, 0, 0, 2)))
    console.print()
