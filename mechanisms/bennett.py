"""Bennett's linkage: a loop of four skew hinges that turns all round."""

import numpy as np

import varint as vi
from varint.mechanisms._links import link
from varint.mechanisms._sizes import Positive


def build(
    crank: Positive = 0.5,
    coupler: Positive = 1.0,
    twist: float = np.pi / 6,
    angle: float = np.pi / 3,
    rate: float = 2 * np.pi,
) -> vi.Mechanism:
    """Links of 1 kg/m; crank and rocker are of one length, coupler and ground of another.

    Every link is the common perpendicular of its two hinges. The twist about the coupler follows from Bennett's
    condition, sin(twist) / length alike for all links. The crank turns about z at the origin.

    Zero of the coordinates: the pose at the start, with the crank at ``angle``.

    Parameters
    ----------
    crank : float, m
        Length of crank and rocker.
    coupler : float, m
        Length of coupler and ground.
    twist : float, rad
        From the first hinge to the second about the crank.
    angle : float, rad
        Of the crank about z at the start, from the ground link drawn out beyond the crank's pivot.
    rate : float, rad/s
        Of the crank at the start.
    """
    points, axes = hinges(crank, coupler, twist, angle)
    bodies = [
        link("crank", points[0], points[1]),
        link("coupler", points[1], points[2]),
        link("rocker", points[3], points[2]),
    ]
    joints = [
        vi.Revolute("crank pivot", "world", "crank", point=points[0], axis=axes[0]),
        vi.Revolute("crank pin", "crank", "coupler", point=points[1], axis=axes[1]),
        vi.Revolute("rocker pin", "coupler", "rocker", point=points[2], axis=axes[2]),
        vi.Revolute("rocker pivot", "world", "rocker", point=points[3], axis=axes[3]),
    ]
    return vi.Mechanism("Bennett's linkage", bodies, joints, start={"rates": {"crank pivot": rate}})


def coupler_twist(crank: float, coupler: float, twist: float) -> float:
    """Twist of the coupler (rad) by Bennett's condition. Raises MechanismError where there is none."""
    sine = np.sin(twist) * coupler / crank
    if sine == 0 or abs(sine) > 1 or crank == coupler:
        raise vi.MechanismError(
            f"no Bennett linkage has links of {crank:g} and {coupler:g} m and a twist of {twist:g} rad"
        )
    return np.arcsin(sine)


def hinges(crank: float, coupler: float, twist: float, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Points (4, 3), m, and axes (4, 3) of the hinges at the crank's ``angle``, along Denavit and Hartenberg's chain.

    The hinge angles obey tan(angle / 2) tan(next / 2) = sin((b + a) / 2) / sin((b - a) / 2), with a and b the
    twists of crank and coupler (Bennett 1903); opposite ones add up to a full turn.
    """
    other = coupler_twist(crank, coupler, twist)
    ratio = np.sin(0.5 * (other + twist)) / np.sin(0.5 * (other - twist))
    following = 2 * np.arctan2(ratio * np.cos(0.5 * angle), np.sin(0.5 * angle))
    point, (along, _, axis), points, axes = np.zeros(3), np.eye(3), [], []
    for turn, length, tilt in (
        (angle, crank, twist),
        (following, coupler, other),
        (-angle, crank, twist),
        (-following, coupler, other),
    ):
        points.append(point)
        axes.append(axis)
        along = np.cos(turn) * along + np.sin(turn) * np.cross(axis, along)
        point = point + length * along
        axis = np.cos(tilt) * axis + np.sin(tilt) * np.cross(along, axis)
    return np.array(points), np.array(axes)


EXPECTED = {"bodies": 3, "rows": 20, "mobility": 1, "redundant": 3, "loops": 1, "dt": 0.01}
