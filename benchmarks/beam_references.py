"""Errors of beams against references, and their orders in the mesh and in time, as one table.

``python benchmarks/beam_references.py [WORD]`` runs the cases of ``tests/beam_cases.py``, those with WORD in their
names, with 8, 16 and 32 elements, and those in motion with halved and quartered steps. Orders are those
of the changes from one to the next, so they need no reference. Errors are in parts of the largest number of a case.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from beam_cases import CASES

COUNTS = (8, 16, 32)
ROUND_OFF = 1e-8  # of the largest number: smaller changes have no order


def order(case, found):
    """Text of the order of three results, each at half of the element or step of the one before."""
    first, second = (np.abs(b - a).max() / case.scale for a, b in pairwise(found))
    return f"{np.log2(first / second):.1f}" if first > ROUND_OFF and second > 0.0 else "exact"


def row(case):
    meshes = [case.values(n) for n in COUNTS]
    errors = [case.error(found) for found in meshes[1:]]
    steps = order(case, [case.values(case.few, finer=k) for k in case.halved]) if case.halved else ""
    cells = [case.name, case.published, *(f"{error:.1e}" for error in errors), order(case, meshes), steps]
    return "| " + " | ".join(cells) + " |"


def main(word=""):
    print("| case | in print | error, 16 | error, 32 | order in the mesh | order in time |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        if word in case.name:
            print(row(case), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
