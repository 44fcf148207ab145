"""Beams follow the rates of joints at the start: as rigid bodies, or strained as slowly as the joints allow."""

import numpy as np
import pytest
from beam_models import LOW, THIN, floating, guided, slider_crank

import varint as vi
from varint.kinematics.frames import with_world


def speeds(mechanism, state, parts):
    """Velocities and spins (n, 6), world, of the bodies whose names start with ``parts``."""
    _, R = with_world(state.position, state.quat_wxyz)
    spin = np.einsum("nij,nj->ni", R[:-1], state.angular_velocity)
    own = [k for k, body in enumerate(mechanism.bodies) if body.name.startswith(parts)]
    return state.position[own], np.hstack([state.velocity, spin])[own]


def test_the_rod_of_a_slider_crank_starts_as_a_rigid_one():
    mechanism = slider_crank(6)
    x, motion = speeds(mechanism, mechanism.state(rates={"main": 150.0}), "rod")
    assert motion[:, 5] == pytest.approx(np.full(7, -75.0), rel=1e-10)
    assert motion[:, 1] == pytest.approx(-75.0 * (x[:, 0] - 0.45), abs=1e-10)
    assert np.abs(motion[:, [0, 2, 3, 4]]).max() < 1e-10


def test_the_coupler_of_a_four_bar_starts_as_a_rigid_one():
    mechanism = vi.mechanisms.flexible_four_bar(elements=5)
    x, motion = speeds(mechanism, mechanism.state(rates={"crank pivot": 3.0}), "coupler")
    rate = motion[0, 3:]
    assert np.abs(rate).max() > 0.1
    assert motion[:, 3:] == pytest.approx(np.tile(rate, (6, 1)), abs=1e-10)
    assert motion[:, :3] == pytest.approx(motion[0, :3] + np.cross(rate, x - x[0]), abs=1e-10)


@pytest.mark.parametrize("elements", [1, 5])
def test_a_mass_at_the_end_of_a_beam_turns_with_the_hub(elements):
    """No joint but the beam leads to the mass."""
    hub, tip = vi.Body.sphere("hub", 0.1, 1.0), vi.Body.box("tip", (0.05, 0.05, 0.05), 2.0, position=(1.125, 0, 0))
    leaf = vi.beam("leaf", "hub", "tip", point_a=(0.1, 0, 0), point_b=(1.1, 0, 0), elements=elements, section=THIN)
    pivot = vi.Revolute("pivot", "world", "hub", point=(0, 0, 0), axis=(0, 0, 1))
    mechanism = vi.Mechanism("hub", [hub, tip, *leaf.bodies], [pivot, *leaf.joints], forces=leaf.forces)
    x, motion = speeds(mechanism, mechanism.state(rates={"pivot": 3.0}), ("tip", "leaf"))
    assert motion[:, :3] == pytest.approx(np.cross((0.0, 0.0, 3.0), x), abs=1e-10)
    assert motion[:, 3:] == pytest.approx(np.tile((0.0, 0.0, 3.0), (len(x), 1)), abs=1e-10)


@pytest.mark.parametrize("elements", [2, 8])
def test_a_flexure_starts_in_its_shape_under_a_load(elements):
    """It must strain: 3 s^2 - 2 s^3 with shear, the least work, and not a kink beside the stage."""
    model = guided(elements, 1e-9)
    slide = vi.Prismatic("slide", "world", "stage", axis=(0, 1, 0))
    mechanism = vi.Mechanism("flexure", model.bodies, [slide, *model.joints[1:]], forces=model.forces)
    x, motion = speeds(mechanism, mechanism.state(rates={"slide": 2.0}), ("beam", "stage"))
    s, shear = x[:, 0], 12 * LOW.EI[1] / LOW.kGA[0]
    assert motion[:, 1] == pytest.approx(2.0 * (3 * s**2 - 2 * s**3 + shear * s) / (1 + shear), abs=1e-4)
    assert np.abs(motion[:, [0, 2]]).max() < 1e-9


def test_rates_within_a_beam_are_kept():
    mechanism = floating(4)
    bend = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.5])
    rates = mechanism.rates(mechanism.state(rates={"beam 2": bend, "free": np.zeros(6)}))
    assert np.abs(rates["beam 2"] - bend).max() < 1e-12
    assert max(np.abs(rates[f"beam {k}"]).max() for k in (1, 3, 4)) < 1e-12


def watt_linkage():
    """Two arms and a coupler on hinges; the left arm and the coupler are rods of steel."""
    rod = vi.Section.circle(0.01, E=2.1e11, nu=0.3, density=7850.0)
    a, b, c, d, y = (-0.3, 0, 0.05), (0, 0, 0.05), (0, 0, -0.05), (0.3, 0, -0.05), (0, 1, 0)
    arm = vi.beam("arm", None, None, point_a=a, point_b=b, elements=6, section=rod, normal=(0, 0, 1))
    coupler = vi.beam("coupler", None, None, point_a=b, point_b=c, elements=4, section=rod, normal=(1, 0, 0))
    joints = [
        vi.Revolute("left", "world", "arm 0", point=a, axis=y),
        *arm.joints,
        vi.Revolute("upper", "arm 6", "coupler 0", point=b, axis=y),
        *coupler.joints,
        vi.Revolute("lower", "coupler 4", "far arm", point=c, axis=y),
        vi.Revolute("right", "world", "far arm", point=d, axis=y),
    ]
    bodies = [*arm.bodies, *coupler.bodies, vi.Body.rod("far arm", c, d, mass=0.2)]
    return vi.Mechanism("Watt", bodies, joints, gravity=(0, 0, 0), forces=[*arm.forces, *coupler.forces])


def test_coordinates_of_a_linkage_leave_its_beams_unstrained():
    mechanism = watt_linkage()
    state = mechanism.state(coordinates={"left": 0.2}, rates={"left": 1.0})
    coordinates = mechanism.coordinates(state)
    assert coordinates["left"] == pytest.approx(0.2, abs=1e-10)
    assert abs(coordinates["right"]) > 0.15
    run = vi.simulate(mechanism, 1e-6, 1e-6, state=state)
    assert run.potential[0] < 1e-12 * run.kinetic[0]


def test_coordinates_that_strain_beams_are_met():
    model = guided(4, 1e-9)
    slide = vi.Prismatic("slide", "world", "stage", axis=(0, 1, 0))
    mechanism = vi.Mechanism("flexure", model.bodies, [slide, *model.joints[1:]], forces=model.forces)
    assert mechanism.coordinates(mechanism.state(coordinates={"slide": 0.01}))["slide"] == pytest.approx(0.01)
