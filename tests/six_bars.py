"""A Stephenson six-bar, for tests: a four-bar whose coupler carries a point on a link to an input crank.

With the input crank held its assembly modes are the intersections of the coupler curve, a sextic, with a circle: up to
six. Complex numbers x + i z; nothing of the package is used to find them.
"""

import numpy as np

import varint as vi

CRANK, COUPLER, ROCKER, GROUND = 0.568, 0.631, 0.952, 0.907  # m
POINT = -0.598 + 0.467j  # of the coupler, seen from its crank pin along it
INPUT_PIVOT, INPUT, LINK = 0.268 + 0.238j, 0.3, 1.049  # m; the input crank stands along z
GRID = 20_000


def coupler_points(angle, side):
    """Crank pin, rocker pin, coupler point at the crank ``angle``, on the branch ``side`` 1 or -1; nan where open."""
    pin = CRANK * np.exp(1j * angle)
    diagonal = GROUND - pin
    along = (abs(diagonal) ** 2 + COUPLER**2 - ROCKER**2) / (2 * abs(diagonal))
    with np.errstate(invalid="ignore"):
        to_end = (along + 1j * side * np.sqrt(COUPLER**2 - along**2)) * diagonal / abs(diagonal)
    return pin, pin + to_end, pin + POINT * to_end / COUPLER


def intersections():
    """(crank pin, rocker pin, coupler point) of each mode."""
    angles = np.linspace(0, 2 * np.pi, GRID)
    modes = []
    for side in (1, -1):
        off = abs(coupler_points(angles, side)[2] - INPUT_PIVOT - 1j * INPUT) - LINK
        crossed = np.flatnonzero(np.sign(off[:-1]) * np.sign(off[1:]) < 0)
        share = off[crossed] / (off[crossed] - off[crossed + 1])
        modes += [coupler_points(angle, side) for angle in angles[crossed] + share * (angles[1] - angles[0])]
    return modes


def stephenson():
    """The six-bar, put together in the first of its modes; coordinates are zero there."""

    def place(point):
        return np.array([point.real, 0.0, point.imag])

    def link(name, *ends):
        length = abs(ends[1] - ends[0])
        return vi.Body(name, mass=1.0, inertia=length**2 / 12 * np.eye(3), position=place(sum(ends) / len(ends)))

    def hinge(name, a, b, point):
        return vi.Revolute(name, a, b, point=place(point), axis=(0, -1, 0))

    crank_pin, rocker_pin, point = intersections()[0]
    input_pin = INPUT_PIVOT + 1j * INPUT
    bodies = [
        link("crank", 0j, crank_pin),
        link("coupler", crank_pin, rocker_pin, point),
        link("rocker", complex(GROUND), rocker_pin),
        link("link", input_pin, point),
        link("input", INPUT_PIVOT, input_pin),
    ]
    joints = [
        hinge("crank pivot", "world", "crank", 0j),
        hinge("crank pin", "crank", "coupler", crank_pin),
        hinge("rocker pin", "coupler", "rocker", rocker_pin),
        hinge("rocker pivot", "world", "rocker", complex(GROUND)),
        hinge("tracer", "coupler", "link", point),
        hinge("input pin", "link", "input", input_pin),
        hinge("input pivot", "world", "input", INPUT_PIVOT),
    ]
    return vi.Mechanism("Stephenson six-bar", bodies, joints)
