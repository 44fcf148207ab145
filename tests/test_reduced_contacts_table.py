"""`contacts` of runs in reduced coordinates: points and forces that make up the force and torque of each contact."""

import itertools

import numpy as np
import pytest

import varint as vi
from varint.cli.summary import _contacts
from varint.methods.reduced.ground_points import forces_at_points

SLOPE = 0.3
NORMAL = np.array([np.sin(SLOPE), 0.0, np.cos(SLOPE)])


def box_on_a_slope(friction, downhill=0.0):
    """A box on its four lower corners, beside a ball that rolls on the same plane."""
    turned = (np.cos(SLOPE / 2), 0.0, np.sin(SLOPE / 2), 0.0)
    bodies = [
        vi.Body.box("box", (0.4, 0.3, 0.2), 2.0, position=0.1 * NORMAL, quat_wxyz=turned),
        vi.Body.sphere("ball", 0.1, 1.0, position=0.1 * NORMAL + [0, 1.0, 0]),
    ]
    along = np.array([np.cos(SLOPE), 0.0, -np.sin(SLOPE)])
    feet = [a * along + [0, b, 0] for a, b in itertools.product((-0.2, 0.2), (-0.15, 0.15))]
    forces = [
        vi.HardContact("feet", "box", points=feet, normal=NORMAL, friction=friction),
        vi.HardContact("rolling", "ball", radius=0.1, normal=NORMAL, friction=0.5),
    ]
    joints = [vi.Free(f"base of {body.name}", "world", body.name) for body in bodies]
    return vi.Mechanism("slope", bodies, joints, forces=forces), feet


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "dop853"])
def test_forces_at_points_make_up_the_contact(integrator):
    mechanism, feet = box_on_a_slope(0.6)
    run = vi.redmax.simulate(mechanism, 0.05, dt=0.01, integrator=integrator)
    touching = run.contacts
    assert np.unique(touching.contact).tolist() == ["feet", "rolling"]
    at = touching.at(3)
    of_feet, of_ball = (np.flatnonzero(at.contact == name) for name in ("feet", "rolling"))
    assert at.point[of_feet] == pytest.approx(np.array(feet), abs=1e-9)
    assert at.point[of_ball] == pytest.approx((run.position[3, 1] - 0.1 * NORMAL)[None], abs=1e-12)
    assert at.normal == pytest.approx(np.tile(NORMAL, (5, 1)))
    assert (at.force @ NORMAL > 0.0).all()
    for name, rows in (("feet", of_feet), ("rolling", of_ball)):
        assert at.force[rows].sum(axis=0) == pytest.approx(run.contact_force[name][3], abs=1e-12)
    assert at.force[of_feet].sum(axis=0) == pytest.approx([0.0, 0.0, 2.0 * 9.81], abs=1e-6)
    about = np.cross(at.point[of_feet] - run.position[3, 0], at.force[of_feet]).sum(axis=0)
    assert about == pytest.approx(run._contact_wrench["feet"][3, 3:], abs=1e-9)


@pytest.mark.slow
def test_as_in_maximal_coordinates():
    """Points of a box that slides; forces too, where the plane's load is as far uphill as friction turns the box."""
    mechanism, _ = box_on_a_slope(0.2)
    runs = vi.simulate(mechanism, 0.1, 0.01), vi.redmax.simulate(mechanism, 0.1, dt=0.01)
    expected, found = (run.contacts.at(8) for run in runs)
    assert found.contact.tolist() == expected.contact.tolist()
    assert found.body_a.tolist() == expected.body_a.tolist()
    assert found.point == pytest.approx(expected.point, abs=1e-4)
    for rows in (slice(0, 4), slice(4, 5)):
        assert found.force[rows].sum(axis=0) == pytest.approx(expected.force[rows].sum(axis=0), rel=1e-3, abs=1e-3)
    figures = [dict(zip(("name", "share", "points"), row[:3], strict=True)) for row in _contacts(runs[1]).rows]
    assert [row["points"] for row in figures] == [4, 1]
    assert all(row["share"] > 0.8 for row in figures)


@pytest.mark.slow
def test_a_body_in_the_air_has_no_points():
    body = vi.Body.sphere("ball", 0.1, 1.0, position=(0, 0, 1.0))
    floor = vi.HardContact("floor", "ball", radius=0.1)
    mechanism = vi.Mechanism("falls", [body], [vi.Free("base", "world", "ball")], forces=[floor])
    run = vi.redmax.simulate(mechanism, 0.1, dt=0.01, integrator="euler")
    assert len(run.contacts) == 0


@pytest.mark.slow
def test_a_force_that_only_pulls_is_shared_evenly():
    """As round-off may leave: none of the points may pull, and the sum stays."""
    mechanism, _ = box_on_a_slope(0.5)
    at = mechanism.state()
    wrench = {"feet": np.append(-1e-15 * NORMAL, np.zeros(3))[None]}
    rows = forces_at_points(mechanism, at.position[None], at.quat_wxyz[None], wrench)
    assert rows[0, :4, :3].sum(axis=0) == pytest.approx(-1e-15 * NORMAL, rel=1e-9)
