"""All benchmarks: ``python benchmarks/run.py [NAME ...]``. Exit status 1 where a target is missed."""

import importlib
import sys

from rich.console import Console
from rich.table import Table

NAMES = ("newton", "scaling", "ldu", "loops", "forces", "hour", "redmax", "derivatives", "threads", "resolution")


def main(names):
    missed = 0
    for name in names or NAMES:
        table = Table("what", "measured", "target", "", title=importlib.import_module(name).__doc__)
        for what, figure, target, good in importlib.import_module(name).measure():
            table.add_row(what, figure, target, "" if good is None else "met" if good else "[red]MISSED[/red]")
            missed += good is False
        Console().print(table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
