"""Random impacts of one body on one to four planes, with friction, restitution and inertia drawn at random."""

import numpy as np
import pytest
from contact_scenes import missed_by

from varint.methods.reduced.contacts import Blocked
from varint.methods.reduced.events.impacts import solve_impacts
from varint.methods.reduced.events.law import ContactLaw

COUNT = 2500


def random_problem(rng):
    """Rows (n, 6), inverse masses (6,) and the law of contacts of a body, coefficients of friction up to 2."""
    count = rng.integers(1, 5)
    a, b = rng.uniform(0.05, 1.0, 2)
    inverse = np.append(np.ones(3), 1.0 / np.array([a, b, rng.uniform(abs(a - b), a + b)]))  # of a rigid body
    rows = np.zeros((3 * count, 6))
    for p in range(count):
        frame, arm = np.linalg.qr(rng.standard_normal((3, 3)))[0], rng.standard_normal(3)
        for k, r in enumerate((p, count + 2 * p, count + 2 * p + 1)):
            rows[r] = *frame[k], *np.cross(arm, frame[k])
    return rows, inverse, ContactLaw(count, np.arange(count), rng.uniform(0.0, 2.0, count))


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_no_impact_gains_energy(seed):
    """Of 10^4 none. Those with no restitution obey the law to 1e-10; some in a thousand to 1e-8, or are refused."""
    rng, told, lossless = np.random.default_rng(seed), 0, 0
    for n in range(COUNT):
        rows, inverse, law = random_problem(rng)
        velocity, elastic = rng.standard_normal(6), n % 4 > 0
        E = rows * np.sqrt(inverse)
        restitution = rng.uniform(0.0, 1.0, law.K) * elastic
        try:
            hit = solve_impacts(law, E @ E.T, rows @ velocity, restitution, *np.zeros((2, law.K), dtype=bool))
        except Blocked:
            told += 1
            continue
        after = velocity + inverse * (rows.T @ hit.z)
        before_energy, energy = (0.5 * v @ (v / inverse) for v in (velocity, after))
        assert energy <= before_energy * (1 + 1e-13)
        assert hit.energy.sum() == pytest.approx(energy - before_energy, abs=1e-10 * before_energy)
        assert (rows @ after)[: law.K].min() > -1e-9
        if not elastic and (rows @ velocity)[: law.K].max() < 0:
            left = missed_by(law.friction, rows @ after, hit.z)
            assert left < 1e-8
            told += left >= 1e-10
            lossless += 1
    assert told <= 4 * COUNT / 1000
    assert lossless > 50
