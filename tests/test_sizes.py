"""The motion of a mechanism over its size does not depend on the size: hard stops and contacts from nm to Mm."""

import numpy as np
import pytest

import varint as vi

DURATION, DT = 0.6, 0.002
SIZES = [1e-9, 1e-6, 1e3]  # m
SAME = 1e-9  # of the size
RTOL = 1e-10


def pendulum(L):
    """Return a rod of ``L`` m that falls on a stop of its joint and on one of a length."""
    body = vi.Body.rod("b", (0, 0, 0), (L, 0, 0), L**3)
    forces = [
        vi.JointStop("s", joint="j", upper=1.0, restitution=0.5),
        vi.JointFriction("f", joint="j", effort=0.2 * L**5),
        vi.LengthStop("l", "world", "b", point_a=(0, 0, L), point_b=(L, 0, 0), upper=1.9 * L),
    ]
    joint = vi.Revolute("j", "world", "b", point=(0, 0, 0), axis=(0, 1, 0))
    return vi.Mechanism("m", [body], [joint], forces=forces, gravity=(0, 0, -9.81 * L))


def slide(L):
    """Return a box that falls along its guide on a stop in m, with a rod that falls on a stop in rad."""
    box = vi.Body.box("a", (0.2 * L, 0.2 * L, 0.2 * L), 2.0 * L**3, position=(0, 0, 0.5 * L))
    rod = vi.Body.rod("b", (0, 0, 0.5 * L), (L, 0, 0.5 * L), L**3)
    joints = [
        vi.Prismatic("p", "world", "a", axis=(0, 0, 1)),
        vi.Revolute("j", "a", "b", point=(0, 0, 0.5 * L), axis=(0, 1, 0)),
    ]
    forces = [
        vi.JointStop("s", joint="p", lower=-0.3 * L, restitution=0.5),
        vi.JointStop("t", joint="j", upper=1.0, restitution=0.3),
    ]
    return vi.Mechanism("m", [box, rod], joints, forces=forces, gravity=(0, 0, -9.81 * L))


def loop(L):
    """Return a four-bar linkage that falls on two stops of one joint, and on one of a length."""
    at = [(0, 0, 0), (0, 0, 0.5 * L), (L, 0, 0.7 * L), (L, 0, 0)]
    bodies = [vi.Body.rod(name, at[k], at[k + 1], L**3) for k, name in enumerate("abc")]
    ends = zip(("world", *"abc"), (*"abc", "world"), at, strict=True)
    joints = [vi.Revolute(f"j{k}", a, b, point=p, axis=(0, 1, 0)) for k, (a, b, p) in enumerate(ends)]
    forces = [
        vi.JointStop("s", joint="j0", upper=0.4, lower=-0.4, restitution=0.5),
        vi.LengthStop("l", "world", "c", point_a=(L, 0, 0.9 * L), point_b=(L, 0, 0.7 * L), upper=0.45 * L),
    ]
    return vi.Mechanism("m", bodies, joints, forces=forces, gravity=(3.0 * L, 0, -9.81 * L))


def motion(make, L, integrator):
    """Return the positions (T, nb, 3) over ``L``; ``integrator``: of reduced coordinates, None in maximal ones."""
    mechanism = make(L)
    if integrator is None:
        return vi.simulate(mechanism, DURATION, DT).position / L
    method = vi.Reduced(integrator, dt=DT, **({} if integrator in ("bdf2", "sdirk2") else {"rtol": RTOL}))
    return vi.simulate(vi.Problem(mechanism, DURATION), method).position / L


def check(make, integrator, sizes=SIZES):
    """Check that the motion is that of a mechanism of 1 m, and that it is one."""
    at_one = motion(make, 1.0, integrator)
    assert np.abs(at_one[-1] - at_one[0]).max() > 0.1
    for L in sizes:
        if integrator is None and L < 1e-8:  # the default tolerance of a step, 1e-10 m/s, is a tenth of these speeds
            continue
        np.testing.assert_allclose(motion(make, L, integrator), at_one, rtol=0.0, atol=SAME, err_msg=f"{L} m")


@pytest.mark.parametrize("integrator", [None, "dop853"])
def test_stops_at_every_size(integrator):
    check(pendulum, integrator)


def test_stops_of_nanometres_with_a_tolerance_of_their_size():
    run = vi.simulate(pendulum(1e-9), DURATION, DT, tol=1e-17)
    np.testing.assert_allclose(run.position / 1e-9, motion(pendulum, 1.0, None), rtol=0.0, atol=SAME)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["rk45", "radau", "bdf2", "sdirk2"])
def test_stops_at_every_size_in_other_steps(integrator):
    check(pendulum, integrator, [*SIZES, 1e6])


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("make", [slide, loop])
@pytest.mark.parametrize("integrator", [None, "dop853", "radau", "bdf2", "sdirk2"])
def test_stops_in_loops_and_on_slides_at_every_size(make, integrator):
    check(make, integrator, [*SIZES, 1e6])
