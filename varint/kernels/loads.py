"""Loads on single bodies by their own motion: wrenches and their exact derivatives (docs/theory.md section 10).

A wrench is a force, N, world, and a torque, N m, body axes, on the body with pose x, R and velocity v, w:

    push         input times a force and a torque fixed in the world, at a point p of the body
    follower     the same fixed in the body
    resistance   -c |v|^(n - 1) v, or -c |w|^(n - 1) w; n = 1 or 2
    sliding      of the surface of a ball about a point p, or of p, on a plane with normal n: -F s / |s|, s the velocity
                 of what touches along the plane; F = mu N tanh(|s| / v0) or min(mu N, c |s|), N the effort of the
                 law that presses it on
"""

import math

from varint._numba import njit
from varint.algebra.vectors import ZERO, add, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.kernels.dense import dot6
from varint.kernels.measures import weighted_curvature

LOAD_NAMES = ("push", "follower", "resistance", "sliding")
PUSH, FOLLOWER, RESISTANCE, SLIDING = range(4)


@njit
def _sliding_velocity(plan, n, R, v):
    """Velocity along the plane of what touches it, world, and its size."""
    normal, turn = vector(plan.loads.normal[n]), vector(v[3:])
    s = add(vector(v), rotate(R, cross(turn, vector(plan.loads.point[n]))))
    s = sub(s, scale(plan.loads.radius[n], cross(rotate(R, turn), normal)))
    s = sub(s, scale(dot(normal, s), normal))
    return s, math.sqrt(dot(s, s))


@njit
def _friction(plan, n, pressure, speed):
    """Force F of friction, N, F / ``speed``, and the derivatives of F by the speed and the ``pressure``, N."""
    mu, c = plan.loads.friction[n], plan.loads.creep[n]
    bound = mu * pressure
    if c == 0.0:
        v0 = plan.loads.smoothing[n]
        share = math.tanh(speed / v0)
        ratio = bound * share / speed if speed > 0.0 else bound / v0
        return bound * share, ratio, bound * (1.0 - share * share) / v0, mu * share
    if c * speed <= bound:
        return c * speed, c, c, 0.0
    return bound, bound / speed, 0.0, mu


@njit
def _torque(plan, n, R, force):
    """Torque, body axes, of a ``force``, world, on what touches the plane."""
    lever = cross(vector(plan.loads.point[n]), rotate_back(R, force))
    return sub(lever, scale(plan.loads.radius[n], rotate_back(R, cross(vector(plan.loads.normal[n]), force))))


@njit
def _pressure(plan, work, n):
    """Normal force of a sliding load, N."""
    return work.effort[plan.laws.element[plan.loads.pressing[n]]]


@njit
def wrench_of(plan, n, R, v, given, out):
    """Write the wrench of load n to ``out`` (6,), of a body with ``R`` (3, 3) and velocity ``v`` (6,).

    ``given``: its input, or the normal force of a sliding load, N. Returns the effort along it.
    """
    loads, kind = plan.loads, plan.loads.kind[n]
    force, torque, point = vector(loads.force[n]), vector(loads.torque[n]), vector(loads.point[n])
    if kind == PUSH:
        turned = add(rotate_back(R, torque), cross(point, rotate_back(R, force)))
        write(out, scale(given, force), scale(given, turned))
    elif kind == FOLLOWER:
        write(out, scale(given, rotate(R, force)), scale(given, add(torque, cross(point, force))))
    elif kind == RESISTANCE:
        line, turn = vector(v), vector(v[3:])
        along, about = loads.linear[n], loads.angular[n]
        if loads.power[n] == 2:
            along, about = along * math.sqrt(dot(line, line)), about * math.sqrt(dot(turn, turn))
        write(out, scale(-along, line), scale(-about, turn))
        return -along * math.sqrt(dot(line, line)) - about * math.sqrt(dot(turn, turn))
    else:
        s, speed = _sliding_velocity(plan, n, R, v)
        force, ratio, _, _ = _friction(plan, n, given, speed)
        pull, given = scale(-ratio, s), -force
        write(out, pull, _torque(plan, n, R, pull))
    return given


@njit
def evaluate_loads(plan, ws, rotation, velocity):
    """Wrenches ``ws.efforts.wrench``, and ``effort`` along them, of bodies with ``rotation`` and ``velocity`` (nb, 6).

    After `evaluate_laws` at the same pose.
    """
    work, loads = ws.efforts, plan.loads
    for n in range(loads.kind.size):
        i, e = loads.body[n], loads.element[n]
        given = _pressure(plan, work, n) if loads.kind[n] == SLIDING else work.input[e]
        work.effort[e] = wrench_of(plan, n, rotation[i], velocity[i], given, work.wrench[n])


@njit(seconds=1, what="implicit steps in reduced coordinates")
def differentiate_loads(plan, ws, position, rotation, velocity):
    """Derivatives ``ws.efforts.wrench_by_pose`` and ``wrench_by_velocity`` (n, 6, 6), after `evaluate_loads`."""
    work, loads = ws.efforts, plan.loads
    for n in range(loads.kind.size):
        i, kind, given = loads.body[n], loads.kind[n], work.input[loads.element[n]]
        by_pose, by_velocity = work.wrench_by_pose[n], work.wrench_by_velocity[n]
        by_pose[:] = 0.0
        by_velocity[:] = 0.0
        if kind == RESISTANCE:
            _resistance(loads.linear[n], loads.power[n], vector(velocity[i]), 0, by_velocity)
            _resistance(loads.angular[n], loads.power[n], vector(velocity[i, 3:]), 3, by_velocity)
        elif kind == SLIDING:
            _sliding(plan, ws, n, position, rotation, velocity, by_pose, by_velocity)
        else:
            R, point = rotation[i], vector(loads.point[n])
            force, torque = scale(given, vector(loads.force[n])), scale(given, vector(loads.torque[n]))
            for k in range(3):
                axis = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
                if kind == PUSH:
                    moment = cross(point, cross(rotate_back(R, force), axis))
                    _write_column(by_pose, 3 + k, ZERO, add(cross(rotate_back(R, torque), axis), moment))
                else:
                    _write_column(by_pose, 3 + k, rotate(R, cross(axis, force)), ZERO)


@njit
def _write_column(matrix, k, force, torque):
    for a in range(3):
        matrix[a, k], matrix[3 + a, k] = force[a], torque[a]


@njit
def _resistance(c, power, v, first, by_velocity):
    """-c I, or -c (|v| I + v v^T / |v|), in the block of the translations or the rotations."""
    speed = math.sqrt(dot(v, v))
    for a in range(3):
        for b in range(3):
            share = 1.0 if a == b else 0.0
            if power == 2:
                share = share * speed + (v[a] * v[b] / speed if speed > 0.0 else 0.0)
            by_velocity[first + a, first + b] = -c * share


@njit
def _sliding(plan, ws, n, position, rotation, velocity, by_pose, by_velocity):
    """Of a sliding load: by the velocity of its point, and by the normal force."""
    work, loads = ws.efforts, plan.loads
    i, normal, point = loads.body[n], vector(loads.normal[n]), vector(loads.point[n])
    R, v = rotation[i], velocity[i]
    s, speed = _sliding_velocity(plan, n, R, v)
    radius = loads.radius[n]
    _, ratio, slope, by_pressure = _friction(plan, n, _pressure(plan, work, n), speed)
    along = scale(1.0 / speed if speed > 0.0 else 0.0, s)
    f, m = loads.pressing[n], loads.pressed[n]
    side = 0 if plan.measures.body[m, 0] == i else 1
    gradient, motion, change = work.gradient[m, side], work.motion, work.change
    motion[:] = 0.0
    for k in range(6):
        motion[side, k] = v[k]
    weighted_curvature(plan, ws, m, position, rotation, motion, change)
    # the rate is v . g: by the pose v . dg = (K v - g_theta x w) . d, see measures/base.py
    lever = cross(vector(gradient[3:]), vector(v[3:]))
    spin = cross(vector(v[3:]), point)
    for k in range(6):
        axis = (1.0 if k % 3 == 0 else 0.0, 1.0 if k % 3 == 1 else 0.0, 1.0 if k % 3 == 2 else 0.0)
        moved, shifted = axis, ZERO
        if k >= 3:
            moved = sub(rotate(R, cross(axis, point)), scale(radius, cross(rotate(R, axis), normal)))
            turned_spin = rotate(R, cross(axis, vector(v[3:])))
            shifted = sub(rotate(R, cross(axis, spin)), scale(radius, cross(turned_spin, normal)))
        turned = change[side, k] - (lever[k - 3] if k >= 3 else 0.0)
        normal_by_pose = work.law_by_value[f] * gradient[k] + work.law_by_rate[f] * turned
        normal_by_velocity = work.law_by_rate[f] * gradient[k]
        pull = scale(-by_pressure, along)
        for by, ds, dn in ((by_velocity, moved, normal_by_velocity), (by_pose, shifted, normal_by_pose)):
            ds = sub(ds, scale(dot(normal, ds), normal))
            df = add(scale(-ratio, ds), scale((ratio - slope) * dot(along, ds), along))
            df = add(df, scale(dn, pull))
            _write_column(by, k, df, _torque(plan, n, R, df))
        if k >= 3:  # the force and the normal turn against the axes of the body
            force = scale(-ratio, s)
            torque = cross(point, cross(rotate_back(R, force), axis))
            torque = sub(torque, scale(radius, cross(rotate_back(R, cross(normal, force)), axis)))
            for a in range(3):
                by_pose[3 + a, k] += torque[a]


@njit
def load_power(plan, work, n, velocity):
    """W, of load n on bodies with ``velocity`` (nb, 6)."""
    return dot6(work.wrench[n], velocity[plan.loads.body[n]])
