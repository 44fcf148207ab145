"""Angles in radians that look like degrees: a warning that names them, at the line of the user."""

import warnings

import numpy as np
import pytest

import varint as vi


def crank(angle=0.0, joint=vi.Revolute, **limits):
    body = vi.Body("bar", mass=1.0, inertia=np.eye(3), position=(0.5, 0, 0))
    hinge = joint("crank", "world", "bar", point=(0, 0, 0), axis=(0, 1, 0))
    stops = [vi.JointStop("end", joint="crank", **limits)] if limits else []
    return vi.Mechanism("one", [body], [hinge], forces=stops, start={"coordinates": {"crank": angle}})


@pytest.mark.parametrize("angle", [90, 45.0, -30, 360])
def test_a_start_in_degrees(angle):
    with pytest.warns(
        vi.DegreesWarning, match=rf"coordinates of revolute joint 'crank': {angle:g} rad, .*degrees"
    ) as at:
        mechanism = crank(angle)
    assert [each.filename for each in at] == [__file__]
    with pytest.warns(vi.DegreesWarning, match=r"numpy.radians\(180\)") as at:
        mechanism.state(coordinates={"crank": 180})
    assert [each.filename for each in at] == [__file__]


def test_stops_in_degrees():
    with pytest.warns(vi.DegreesWarning, match="of jointstop 'end': ") as found:
        crank(lower=-45, upper=60.0)
    assert [str(each.message).partition(" of ")[0] for each in found] == ["lower", "upper"]


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (
            lambda: vi.TorsionSpring("s", joint="crank", stiffness=1.0, rest_angle=90),
            "rest_angle of torsionspring 's'",
        ),
        (lambda: vi.JointServo("servo", joint="crank", stiffness=1.0, target=-45.0), "target of jointservo 'servo'"),
    ],
)
def test_springs_and_servos_in_degrees(force, words):
    with pytest.warns(vi.DegreesWarning, match=f"{words}: .*looks like degrees"):
        crank().with_forces(add=[force()])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = vi.JointServo("servo", joint="crank", stiffness=1.0, target=np.full(3, 90.0))
        crank().with_forces(add=[table])


def test_angles_in_radians_pass():
    """Any size that is no multiple of 15, fewer than five turns, and all that slides."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for angle in (0.0, np.pi, 4 * np.pi, 15.0, 31.0, np.radians(90), 375.0, 100 * np.pi):
            crank(angle).state(coordinates={"crank": -angle})
        crank(90.0, vi.Prismatic, lower=-45.0, upper=120.0)
        crank(lower=-np.pi / 4, upper=np.inf)
