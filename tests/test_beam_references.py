"""Beams against solutions of the elastica and of Timoshenko's beam, computed apart from the package or published."""

import numpy as np
import pytest
from beam_cases import CASES, Case, catenary, spin_up
from beam_models import cantilever, flexure, place_of, rope, settled, thin_cantilever, tip_of

import varint as vi

FAST = ("a large load", "frequencies")  # in the names of cases that take less than a second
ROUND_OFF = 1e-6  # of the largest number: smaller errors have no order


def marked(case: Case):
    return pytest.param(case, id=case.name, marks=[] if any(word in case.name for word in FAST) else pytest.mark.slow)


@pytest.mark.parametrize("elements", [1, 2, 8])
def test_small_loads_are_exact(elements):
    """w = F L^3 / 3 EI + F L / kGA, and T L / GJ, with any number of elements."""
    force = 1e-4
    tip = tip_of(lambda _: cantilever(elements, force=(0, force, 0)), elements)
    assert tip[1] == pytest.approx(force * (1 / 30 + 1 / 4e4), rel=1e-8)
    tip = tip_of(lambda _: cantilever(elements, force=(0, 0, force)), elements)
    assert tip[2] == pytest.approx(force * (1 / 30 + 1 / 4e4), rel=1e-8)


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("case", [marked(case) for case in CASES if not case.halved])
def test_error_with_16_elements_and_its_order(case):
    found = [case.values(n) for n in (8, 16)]
    errors = [np.linalg.norm(values - np.array(case.reference)) / case.scale for values in found]
    assert case.error(found[1]) < case.most
    if errors[0] > ROUND_OFF:
        assert np.log2(errors[0] / errors[1]) > case.order - 0.25


@pytest.mark.slow
@pytest.mark.parametrize(
    ("force", "shift", "shortening"), [(5, 0.0417171985, 0.00104168584), (20, 0.162625212517, 0.0159648196686)]
)
def test_guided_beams_of_a_flexure(force, shift, shortening):
    """Two beams carry the stage of a parallelogram flexure and keep it next to parallel: a closed loop."""
    mechanism, state = settled(lambda share: flexure(16, 2 * share * force), 4)
    moved = place_of(mechanism, state, "stage") - (1.0, 0.0, 0.0)
    assert moved[1] == pytest.approx(shift, abs=2e-3 * shift)
    # the beams of a stage that is free to turn pull and push a little: the shortening is that of their mean
    assert moved[0] == pytest.approx(-shortening, abs=0.03 * shortening)


@pytest.mark.long
@pytest.mark.slow
def test_a_cable_of_20_elements_hangs_as_20_rigid_links():
    """Sag and horizontal pull of the chain, 0.8 m from wall to wall."""
    chain = 0.26579156661632, 0.33797610959393
    assert catenary(20, 0.8)[:2] == pytest.approx(chain, abs=1e-6)
    assert -vi.equilibrium(rope(20, 0.8)).position[:, 2].min() == pytest.approx(chain[0], abs=1e-6)


@pytest.mark.slow
def test_spin_up():
    """Simo and Vu-Quoc 1986, with 20 elements: 2 % of the deflection, 0.5 % of the stretch at a constant rate."""
    case = next(case for case in CASES if case.values is spin_up)
    found = spin_up(20)
    assert case.error(found) < 0.02
    assert found[4] == pytest.approx(case.reference[4], rel=5e-3)
    assert found[5] == pytest.approx(case.reference[5], rel=0.05)


@pytest.mark.slow
def test_low_frequencies_of_a_thin_beam_of_many_elements():
    """The slowest motion has 1e-10 of the stiffness over mass of the fastest."""
    mechanism = thin_cantilever(32)
    assert vi.modes(mechanism, mechanism.state()).omega[0] == pytest.approx(1.8751040687**2, rel=1e-4)
