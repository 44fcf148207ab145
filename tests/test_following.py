"""The camera of a robot that floats, and its floor."""

import numpy as np
import pytest

import varint as vi
from varint.drawing.following import camera_shift, floating_base, floor_height
from varint.kinematics.frames import with_world


def pair(start="world", **more):
    """Two bodies on a hinge, the second heavier; ``start``: what the first one is joined to by another hinge."""
    bodies = [vi.Body.box(name, (0.1, 0.1, 0.4), mass) for name, mass in (("light", 1.0), ("heavy", 2.0))]
    joints = [vi.Revolute("hinge", "light", "heavy", point=(0, 0, 0.2), axis=(0, 1, 0))]
    if start:
        joints.append(vi.Revolute("root", start, "light", point=(0, 0, -0.2), axis=(0, 1, 0)))
    return vi.Mechanism("pair", bodies, joints, **more)


def places(mechanism, shifts):
    """Positions (T, nb + 1, 3) of all bodies moved by ``shifts`` (T, 3)."""
    x, _ = with_world([body.position for body in mechanism.bodies], [body.quat_wxyz for body in mechanism.bodies])
    x = np.repeat(x[None], len(shifts), axis=0)
    x[:, :-1] += np.asarray(shifts)[:, None]
    return x


def test_the_base_is_the_heaviest_of_the_bodies_that_float_together():
    assert floating_base(pair(None)) == 1
    assert floating_base(pair()) is None
    assert floating_base(vi.mechanisms.free_body()) is None
    two, free = [vi.Body.sphere(name, 0.1, 1.0) for name in "ab"], [vi.Free(f"of {n}", "world", n) for n in "ab"]
    assert floating_base(vi.Mechanism("apart", two, free)) is None
    free = pair(None)
    held = vi.Mechanism("held", free.bodies, [vi.Free("float", "world", "light"), *free.joints])
    assert floating_base(held) == 1


@pytest.mark.parametrize(("ground", "kept"), [([], (-3.0, 0.0, 2.0)), ([vi.PlaneShape()], (-3.0, 0.0, 0.0))])
def test_the_camera_goes_along_on_a_floor_without_its_height(ground, kept):
    mech = pair(None, ground=ground)
    x = places(mech, [(0, 0, 0), (3, 0, -2)])
    assert camera_shift(mech, x) == pytest.approx(np.array([(0, 0, 0), kept]))


def test_the_camera_stays_where_little_moves_or_the_world_holds():
    small, large = [(0, 0, 0), (0.2, 0, 0)], [(0, 0, 0), (9, 0, 0)]
    assert not camera_shift(pair(None), places(pair(None), small)).any()
    assert not camera_shift(pair(), places(pair(), large)).any()
    assert camera_shift(pair(None), places(pair(None), large)).any()


def test_the_floor_is_the_highest_level_plane():
    planes = [vi.PlaneShape(point=(0, 0, height)) for height in (-1.0, -0.5)]
    wall = vi.PlaneShape(point=(4, 0, 7), normal=(1, 0, 0))
    assert floor_height(pair(None, ground=[*planes, wall])) == pytest.approx(-0.5)
    assert floor_height(pair(None, ground=[wall])) is None
    assert floor_height(pair(None, ground=planes, gravity=(0, -9.81, 0))) is None
