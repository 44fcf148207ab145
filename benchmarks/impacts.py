"""Random impacts and contact problems: does one gain energy, is one not solved? (tests/test_random_body_impacts.py)

    python benchmarks/impacts.py [COUNT]

COUNT (10000) impacts of one to five bodies that touch, thrown at each other with friction up to 2, restitution up to 1
and masses 1:1000, and as many random contact problems of one to five bodies.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from contact_scenes import FAMILIES, energy_of_impact, miss_of_random


def main(count: int) -> None:
    """Print the largest gain of energy, and what random problems miss, by family."""
    rng, gains, told, began = np.random.default_rng(1), [], 0, time.perf_counter()
    for _ in range(count):
        before, after = energy_of_impact(rng)
        told += before is None
        if before is not None:
            gains.append((after - before) / before)
    seconds = time.perf_counter() - began
    print(f"{len(gains)} impacts: largest relative gain {max(gains):.1e}, {told} told, {seconds:.0f} s")
    for family in FAMILIES:
        rng = np.random.default_rng(2)
        missed = [miss_of_random(rng, *family) for _ in range(count // len(FAMILIES))]
        solved = [each for each in missed if each is not None]
        largest = max(solved, default=0.0)
        print(f"{family}: {len(solved)} solved, to {largest:.1e} at worst, {len(missed) - len(solved)} told")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
