"""Flexible mechanisms of the catalogue against closed forms; beams themselves are in the tests of beams."""

import dataclasses

import numpy as np
import pytest

import varint as vi


def moved(name, duration, **parameters):
    dt = vi.mechanisms.module(name).EXPECTED["dt"]
    return vi.simulate(getattr(vi.mechanisms, name)(**parameters), duration, dt)


def height(run, body):
    return run.position[:, run.mechanism.body_index[body], 2]


@pytest.mark.slow
def test_the_stage_of_a_flexure_swings_about_its_sag():
    """Two guided beams: 24 EI / L^3, and 13/35 of the mass of each leaf moves with the stage."""
    run = moved("parallelogram_flexure", 1.0)
    EI, leaf, mass = 2.07e11 * 0.01 * 5e-4**3 / 12, 7850.0 * 0.01 * 5e-4 * 0.1, 0.1
    stiffness = 24 * EI / 0.1**3
    sag = (mass + leaf) * 9.81 / stiffness  # half of the weight of each leaf
    fallen = height(run, "stage")[0] - height(run, "stage")
    assert fallen.max() == pytest.approx(2 * sag, rel=0.03)
    assert fallen.mean() == pytest.approx(sag, rel=0.05)
    w = np.sqrt(stiffness / (mass + 26 / 35 * leaf))
    crossings = run.t[1:][np.diff(np.sign(fallen - sag)) > 0]
    assert np.diff(crossings).mean() == pytest.approx(2 * np.pi / w, rel=0.02)


@pytest.mark.slow
def test_a_spinning_beam_keeps_its_angular_momentum_and_stretches():
    run = moved("spinning_beam", 2.0)
    about = run.angular_momentum[:, 1]
    assert np.abs(about - about[0]).max() < 1e-12 * np.abs(about[0])
    tip = np.linalg.norm(run.position[:, run.mechanism.body_index["beam 4"]], axis=1)
    rate, rho, EA, near, far = 4.0, 0.1, 1000.0, 0.1, 1.1  # a rod that turns: rho w^2 (far^2 - r^2) / 2 at r
    stretch = rho * rate**2 / (2 * EA) * (far**2 * (far - near) - (far**3 - near**3) / 3)
    assert tip.mean() - tip[0] == pytest.approx(stretch, rel=0.1)


@pytest.mark.slow
def test_the_coupler_of_a_flexible_four_bar_bends_less_where_it_is_thick():
    """The crank goes round; the middle of the coupler leaves its chord as 1 over the square of its thickness."""
    most = []
    for thickness in (0.04, 0.08):
        run = moved("flexible_four_bar", 0.5, thickness=thickness)
        a, middle, b = (run.position[:, run.mechanism.body_index[f"coupler {k}"]] for k in (0, 2, 4))
        most.append(np.abs(np.linalg.norm(np.cross(middle - a, b - a), axis=1)).max())
    assert most[0] / most[1] == pytest.approx(4.0, abs=1.0)
    assert most[0] > 2e-4


def drawn_together(name):
    """The run of two carts, ``left`` and ``right``, that come together evenly."""
    run = moved(name, 0.5)
    left, right = (run.position[:, run.mechanism.body_index[cart], 0] for cart in ("left", "right"))
    assert left + right == pytest.approx(np.zeros(len(run)), abs=1e-9)
    assert left[-1] > left[0] + 0.01
    return run


@pytest.mark.slow
def test_a_cable_draws_carts_together_evenly():
    run = drawn_together("cable_between_carts")
    nodes = [run.mechanism.body_index[f"cable {k}"] for k in range(9)]
    pieces = np.linalg.norm(np.diff(run.position[:, nodes], axis=1), axis=2)
    assert pieces.max() < 0.125 * (1 + 40.0 / 2000.0)  # no pull beyond four times the weight


@pytest.mark.slow
def test_a_net_draws_carts_together_evenly():
    run = drawn_together("net_between_carts")
    net = run.mechanism.forces[0]
    lowest = run.vertices["net"][..., 2].min(axis=1)
    assert lowest[-1] < -0.1
    assert np.abs(run.energy_balance).max() < 1e-3 * net.mass * 9.81 * -lowest.min()


@pytest.mark.parametrize("n", [3, 4, 6])
def test_a_tensegrity_prism_holds_itself_up(n):
    """Without weight and at rest all forces balance; with both no cable goes slack, and all struts move alike."""
    prism = vi.mechanisms.tensegrity(n=n)
    still = vi.simulate(dataclasses.replace(prism, gravity=(0, 0, 0), start={}), 0.2, 2e-3)
    assert np.abs(still.position - still.position[0]).max() < 1e-14
    assert all(force[0] < -10.0 for force in still.force.values())
    run = vi.simulate(prism, 1.0, 2e-3)
    assert max(force.max() for force in run.force.values()) < 0.0
    away = np.linalg.norm(run.position - run.position[0], axis=2)
    assert away.max() > 0.005
    assert away == pytest.approx(np.repeat(away[:, :1], n, axis=1), abs=1e-12)


@pytest.mark.slow
def test_a_starfish_swims_without_momentum():
    """It starts with none about any axis; arms across from each other beat alike, and the energy holds."""
    run = moved("starfish", 0.3)
    tips = [height(run, f"bone {arm}.3") for arm in range(5)]
    assert np.ptp(tips[0]) > 0.02
    for one, other in ((1, 4), (2, 3)):
        assert tips[one] == pytest.approx(tips[other], abs=0.2 * np.ptp(tips[0]))  # the mesh is not symmetric
    for momentum in (run.linear_momentum, run.angular_momentum):
        assert np.abs(momentum - momentum[0]).max() < 1e-12
    assert np.abs(run.energy_balance).max() < 1e-3 * run.energy[0]
