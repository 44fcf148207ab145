"""Planar linkages in closed form by the angle of their crank, for tests: complex numbers x + i z.

A linkage is a function of the angle q, rad, that gives the ends of all links with their first and second derivatives by
q, (3, links, 2). They follow from the closure of the loop by hand; nothing of the package is used.
"""

import numpy as np

import varint as vi


def turning(length, angle, rate=1.0, change=0.0):
    """length e^(i angle) with its derivatives, of an angle with these of its own, (3,)."""
    e = length * np.exp(1j * angle)
    return np.array([e, 1j * rate * e, (1j * change - rate**2) * e])


def fixed(place):
    return np.array([place, 0.0, 0.0], dtype=complex)


def stacked(*links):
    return np.stack([np.stack(ends, axis=-1) for ends in links], axis=1)


def four_bar(a, b, c, ground, side=1):
    """Crank a, coupler b, rocker c, m: a e^iq + b e^it = ground + c e^ip.

    The rocker's end is left of the diagonal from the crank pin to the pivot, or right of it: ``side`` 1 or -1.

    Its derivative, turned by -t and by -p: c sin(p - t) p' = a sin(q - t) and b sin(p - t) t' = a sin(q - p). The
    second one likewise.
    """

    def ends(q):
        diagonal = ground - a * np.exp(1j * q)
        size = abs(diagonal)
        along = (size**2 + b**2 - c**2) / (2 * size)
        to_end = (along + 1j * side * np.sqrt(b**2 - along**2)) * diagonal / size  # from the crank pin
        t, p = np.angle(to_end), np.angle(to_end - diagonal)
        s, k = np.sin(p - t), np.cos(p - t)
        dt, dp = a * np.sin(q - p) / (b * s), a * np.sin(q - t) / (c * s)
        ddt = (b * k * dt**2 + a * np.cos(q - p) - c * dp**2) / (b * s)
        ddp = (a * np.cos(q - t) + b * dt**2 - c * k * dp**2) / (c * s)
        pin, pivot = turning(a, q), fixed(ground)
        return stacked((fixed(0.0), pin), (pin, pin + turning(b, t, dt, ddt)), (pivot, pivot + turning(c, p, dp, ddp)))

    return ends


def parallelogram(a, b):
    """The branch of a four-bar of cranks a and ground b on which the coupler stays level; also where it lies flat."""

    def ends(q):
        pin, pivot = turning(a, q), fixed(b)
        return stacked((fixed(0.0), pin), (pin, pin + pivot), (pivot, pivot + pin))

    return ends


def slider_crank(a, b):
    """Crank a and rod b to a slider on x, which is a link upright about its centre: a sin q = - b sin t."""

    def ends(q):
        if a == b:
            t, dt, ddt = -q, -1.0, 0.0
        else:
            t = -np.arcsin(a * np.sin(q) / b)
            dt = -a * np.cos(q) / (b * np.cos(t))
            ddt = (a * np.sin(q) + b * np.sin(t) * dt**2) / (b * np.cos(t))
        pin = turning(a, q)
        wrist, up = pin + turning(b, t, dt, ddt), fixed(0.5j)
        return stacked((fixed(0.0), pin), (pin, wrist), (wrist - up, wrist + up))

    return ends


def motions(linkage, q):
    """Centres (3, links), complex, and angles (3, links) of the links, each with two derivatives by q."""
    start, end = np.moveaxis(linkage(q), -1, 0)
    along = end - start
    turns = np.imag(np.conj(along[0]) * along) / np.abs(along[0]) ** 2
    turns[0] = np.angle(along[0])
    return 0.5 * (start + end), turns


def state_of(linkage, q, rate):
    """The `vi.State` of links whose z axis points to their end and whose y axis is the world's."""
    centres, turns = motions(linkage, q)
    half = 0.5 * (0.5 * np.pi - turns[0])
    none = np.zeros_like(half)
    quat = np.stack([np.cos(half), none, np.sin(half), none], axis=1)
    return vi.State(in_space(centres[0]), quat, rate * in_space(centres[1]), rate * about_y(turns[1]))


def changes_of_state(linkage, q, rate):
    """(2, links, 12) derivatives of `state_of` by q and by the rate: position, rotation, velocity, angular velocity."""
    centres, turns = motions(linkage, q)
    pose = np.hstack([in_space(centres[1]), about_y(turns[1])])
    change = rate * np.hstack([in_space(centres[2]), about_y(turns[2])])
    return np.array([np.hstack([pose, change]), np.hstack([np.zeros_like(pose), pose])])


def in_space(place):
    return np.stack([place.real, np.zeros(len(place)), place.imag], axis=1)


def about_y(turn):
    """From x towards z is negative about y."""
    return np.stack([np.zeros(len(turn)), -turn, np.zeros(len(turn))], axis=1)
