"""Steps beside impacts that do not resolve the motion: the contacts and stops that acted are named."""

import re

import pytest

import varint as vi


def hinged_rods(forces, start):
    rods = [
        vi.Body.rod("a", (0, 0, 0), (0, 0, -1), mass=1.0),
        vi.Body.rod("b", (0, 0, -1), (0, 0, -2), mass=1.0),
    ]
    joints = [
        vi.Revolute("shoulder", "world", "a", point=(0, 0, 0), axis=(0, 1, 0)),
        vi.Revolute("elbow", "a", "b", point=(0, 0, -1), axis=(0, 1, 0)),
    ]
    return vi.Mechanism("rods", rods, joints, forces=forces, start={"coordinates": start})


HANDS = {"shoulder": 2.0, "elbow": 1.0}


def test_a_contact_that_acted_is_named():
    floor = vi.HardContact("floor", body="b", points=[(0, 0, -2)], ground=(0, 0, -1.5), restitution=0.9, friction=0.3)
    ceiling = vi.HardContact("ceiling", body="b", points=[(0, 0, -2)], ground=(0, 0, 9), normal=(0, 0, -1))
    with pytest.warns(vi.UnresolvedWarning, match="The likely cause is hardcontact 'floor', which acted") as told:
        vi.simulate(hinged_rods([floor, ceiling], HANDS), 4.0, 0.1)
    (message,) = [str(each.message) for each in told]
    assert "'ceiling'" not in message
    assert re.search(r"changes velocities within a step\. Try dt = 0\.00\d+ s", message)


def test_no_contact_is_named_where_none_acted():
    floor = vi.HardContact("floor", body="b", points=[(0, 0, -2)], ground=(0, 0, -9))
    with pytest.warns(vi.UnresolvedWarning, match="did not resolve its motion") as told:
        vi.simulate(hinged_rods([floor], {"shoulder": 3.0, "elbow": 1.0}), 4.0, 0.3)
    assert "likely cause" not in str(told[0].message)
