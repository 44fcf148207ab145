"""Loads on single bodies by their own motion: wrenches and their exact derivatives (docs/theory.md section 10).

A wrench is a force, N, world, and a torque, N m, body axes, on the body with pose x, R and velocity v, w:

    push         input times a force and a torque fixed in the world, at a point p of the body
    follower     the same fixed in the body
    resistance   -c |v|^(n - 1) v, or -c |w|^(n - 1) w; n = 1 or 2
    sliding      friction -F s / |s| on a ball about a point p, or on p itself; s is the velocity of what touches, along
                 the surface; F = mu N tanh(|s| / v0) or min(mu N, c |s|), N the normal force, by the law that presses

What touches is at R p - a n from the centre of mass; a is the radius of the ball on a plane. Of two balls each has
such a load, and s is their relative velocity at one point, which divides the distance of their centres as the radii
do: a = r / (r + r') times that distance. So the two forces are opposite and have no torque together.
"""

import math

from varint.base.numba import Float2, Float3, indirect, njit
from varint.mathematics.vectors import ZERO, add, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.step.dense import dot6
from varint.step.measures import weighted_curvature
from varint.step.plan import Plan, Workspace

LOAD_NAMES = ("push", "follower", "resistance", "sliding")
PUSH, FOLLOWER, RESISTANCE, SLIDING = range(4)


@njit
def body_of(plan, n, s):
    """Return the slot of the body of load n (s = 0), or of the other body of its wrench (s = 1); nb without one."""
    if s == 0:
        return plan.loads.body[n]
    other = plan.loads.other[n]
    return plan.loads.body[other] if other >= 0 else plan.bodies.mass.size


@njit
def pressed_side(plan, n):
    """Return the side of the body of a sliding load in the measure along which it is pressed."""
    return 0 if plan.measures.body[plan.loads.pressed[n], 0] == plan.loads.body[n] else 1


@njit
def _normal(plan, work, n):
    """Return the unit vector along which sliding load n is pressed, (3,), world."""
    return vector(work.gradient[plan.loads.pressed[n], pressed_side(plan, n)])


@njit
def _arm(plan, work, n):
    """Return the distance of the sliding body from the point of sliding load n, against the normal, m."""
    return plan.loads.radius[n] + plan.loads.share[n] * work.value[plan.loads.pressed[n]]


@njit
def _surface_velocity(plan, work, n, R, v, normal):
    """Return the velocity of the touching point of the body, (3,), m/s, world.

    Of the body of load n: ``R`` (3, 3), its rotation matrix, body to world, and ``v`` (6,), its velocity; ``normal``
    (3,): see `_normal`.
    """
    turn = vector(v[3:])
    s = add(vector(v), rotate(R, cross(turn, vector(plan.loads.point[n]))))
    return sub(s, scale(_arm(plan, work, n), cross(rotate(R, turn), normal)))


@njit
def _relative_velocity(plan, work, n, rotation, velocity):
    """Return the velocity of the touching point over the surface that it touches, (3,), m/s, world.

    ``rotation`` (nb, 3, 3), ``velocity`` (nb, 6): of the bodies.
    """
    i, other, normal = plan.loads.body[n], plan.loads.other[n], _normal(plan, work, n)
    s = _surface_velocity(plan, work, n, rotation[i], velocity[i], normal)
    if other >= 0:
        j = plan.loads.body[other]
        s = sub(s, _surface_velocity(plan, work, other, rotation[j], velocity[j], _normal(plan, work, other)))
    return s


@njit
def _friction(plan, n, pressure, speed):
    """Return (F, F / ``speed``, dF / dspeed, dF / dpressure) of the force F of friction, N.

    ``pressure``: normal force, N; ``speed``: of the sliding, m/s.
    """
    mu, c = plan.loads.friction[n], plan.loads.creep[n]
    bound = mu * pressure
    if bound <= 0.0:  # a law of the user may pull
        return 0.0, 0.0, 0.0, 0.0
    if c == 0.0:
        v0 = plan.loads.smoothing[n]
        share = math.tanh(speed / v0)
        ratio = bound * share / speed if speed > 0.0 else bound / v0
        return bound * share, ratio, bound * (1.0 - share * share) / v0, mu * share
    if c * speed <= bound:
        return c * speed, c, c, 0.0
    return bound, bound / speed, 0.0, mu


@njit
def contact_torque(plan, work, n, R, force):
    """Return the torque, (3,), N m, body axes, of a ``force`` (3,), N, world, on the touching point.

    ``R`` (3, 3): rotation matrix of the body of load n, body to world.
    """
    lever = cross(vector(plan.loads.point[n]), rotate_back(R, force))
    return sub(lever, scale(_arm(plan, work, n), rotate_back(R, cross(_normal(plan, work, n), force))))


@njit
def _pressure(plan, work, n):
    """Return the normal force of sliding load n, N."""
    return work.effort[plan.laws.element[plan.loads.pressing[n]]]


@njit
def wrench_of(plan, work, n, rotation, velocity, effort, out):
    """Write the wrench of load n to ``out`` (6,), of bodies with ``rotation`` (nb, 3, 3) and ``velocity`` (nb, 6).

    ``effort``: its input, or the normal force of a sliding load, N. Returns the effort along it.
    """
    loads, kind = plan.loads, plan.loads.kind[n]
    R, v = rotation[loads.body[n]], velocity[loads.body[n]]
    force, torque, point = vector(loads.force[n]), vector(loads.torque[n]), vector(loads.point[n])
    if kind == PUSH:
        turned = add(rotate_back(R, torque), cross(point, rotate_back(R, force)))
        write(out, scale(effort, force), scale(effort, turned))
    elif kind == FOLLOWER:
        write(out, scale(effort, rotate(R, force)), scale(effort, add(torque, cross(point, force))))
    elif kind == RESISTANCE:
        line, turn = vector(v), vector(v[3:])
        along, about = loads.linear[n], loads.angular[n]
        if loads.power[n] == 2:
            along, about = along * math.sqrt(dot(line, line)), about * math.sqrt(dot(turn, turn))
        write(out, scale(-along, line), scale(-about, turn))
        return -along * math.sqrt(dot(line, line)) - about * math.sqrt(dot(turn, turn))
    else:
        s, normal = _relative_velocity(plan, work, n, rotation, velocity), _normal(plan, work, n)
        s = sub(s, scale(dot(normal, s), normal))
        force, ratio, _, _ = _friction(plan, n, effort, math.sqrt(dot(s, s)))
        pull, effort = scale(-ratio, s), -force
        write(out, pull, contact_torque(plan, work, n, R, pull))
    return effort


@njit
def evaluate_loads(plan, ws, rotation, velocity):
    """Write wrenches to ``ws.efforts.wrench``, of bodies with ``rotation`` (nb, 3, 3) and ``velocity`` (nb, 6).

    The efforts along them go to ``ws.efforts.effort``. After `evaluate_laws` at the same pose.
    """
    work, loads = ws.efforts, plan.loads
    for n in range(loads.kind.size):
        e = loads.element[n]
        effort = _pressure(plan, work, n) if loads.kind[n] == SLIDING else work.input[e]
        work.effort[e] = wrench_of(plan, work, n, rotation, velocity, effort, work.wrench[n])


@njit(seconds=1, what="implicit steps in reduced coordinates")
def differentiate_loads(plan, ws, position, rotation, velocity):
    """Write the derivatives ``ws.efforts.wrench_by_pose`` and ``wrench_by_velocity`` (n, 2, 6, 6).

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3), ``velocity`` (nb, 6). After `evaluate_loads`.
    """
    work, loads = ws.efforts, plan.loads
    for n in range(loads.kind.size):
        i, kind, effort = loads.body[n], loads.kind[n], work.input[loads.element[n]]
        by_pose, by_velocity = work.wrench_by_pose[n, 0], work.wrench_by_velocity[n, 0]
        by_pose[:] = 0.0
        by_velocity[:] = 0.0
        if kind == RESISTANCE:
            differentiate_resistance(plan, n, velocity, by_velocity)
        elif kind == SLIDING:
            differentiate_sliding(plan, ws, n, position, rotation, velocity)
        else:
            R, point = rotation[i], vector(loads.point[n])
            force, torque = scale(effort, vector(loads.force[n])), scale(effort, vector(loads.torque[n]))
            for k in range(3):
                axis = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
                if kind == PUSH:
                    moment = cross(point, cross(rotate_back(R, force), axis))
                    _write_column(by_pose, 3 + k, ZERO, add(cross(rotate_back(R, torque), axis), moment))
                else:
                    _write_column(by_pose, 3 + k, rotate(R, cross(axis, force)), ZERO)


@njit
def differentiate_resistance(plan, n, velocity, by_velocity):
    """Write the derivatives of load n, a resistance, by the velocity of its body to ``by_velocity`` (6, 6), zero.

    ``velocity`` (nb, 6): of all bodies.
    """
    loads, v = plan.loads, velocity[plan.loads.body[n]]
    _resistance(loads.linear[n], loads.power[n], vector(v), 0, by_velocity)
    _resistance(loads.angular[n], loads.power[n], vector(v[3:]), 3, by_velocity)


@njit
def _write_column(matrix, k, force, torque):
    """Write ``force`` (3,) and ``torque`` (3,) to column k of ``matrix`` (6, 6)."""
    for a in range(3):
        matrix[a, k], matrix[3 + a, k] = force[a], torque[a]


@njit
def _resistance(c, power, v, first, by_velocity):
    """Write -c I, or -c (|v| I + v v^T / |v|), to the block of the translations or the rotations.

    ``v`` (3,): linear velocity, m/s, or angular, rad/s; ``first``: 0 or 3, where its block of ``by_velocity`` (6, 6)
    starts; ``power``: of the speed, 1 or 2.
    """
    speed = math.sqrt(dot(v, v))
    for a in range(3):
        for b in range(3):
            share = 1.0 if a == b else 0.0
            if power == 2:
                share = share * speed + (v[a] * v[b] / speed if speed > 0.0 else 0.0)
            by_velocity[first + a, first + b] = -c * share


@indirect(seconds=1, what="sliding friction")
def differentiate_sliding(
    plan: Plan, ws: Workspace, n: int, position: Float2, rotation: Float3, velocity: Float2
) -> None:
    """Write the derivatives of sliding load n by the poses and velocities of its bodies, to ``ws.efforts``.

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3), ``velocity`` (nb, 6). To ``wrench_by_pose`` and
    ``wrench_by_velocity``; scratch: ``motion``, ``change``.
    """
    work, m = ws.efforts, plan.loads.pressed[n]
    side, normal = pressed_side(plan, n), _normal(plan, work, n)
    u = _relative_velocity(plan, work, n, rotation, velocity)
    s = sub(u, scale(dot(normal, u), normal))
    speed = math.sqrt(dot(s, s))
    _, ratio, slope, by_pressure = _friction(plan, n, _pressure(plan, work, n), speed)
    along = scale(1.0 / speed if speed > 0.0 else 0.0, s)
    work.motion[:] = 0.0
    for q in range(2):
        b = body_of(plan, n, q)
        if b < plan.bodies.mass.size:
            for k in range(6):
                work.motion[side if q == 0 else 1 - side, k] = velocity[b, k]
    weighted_curvature(plan, ws, m, position, rotation, work.motion, work.change)
    turning, growing = ZERO, ZERO  # the sum of angular velocities, each times its arm, and that by the distance
    for q in range(2 if plan.loads.other[n] >= 0 else 0):
        e = n if q == 0 else plan.loads.other[n]
        b = plan.loads.body[e]
        spin = rotate(rotation[b], vector(velocity[b, 3:]))
        turning = add(turning, scale(_arm(plan, work, e), spin))
        growing = add(growing, scale(plan.loads.share[e], spin))
    sliding = u, s, along, (ratio, slope, by_pressure), (turning, growing)
    _by_motion(plan, work, n, 0, rotation, velocity, sliding)
    if plan.loads.other[n] >= 0:
        _by_motion(plan, work, n, 1, rotation, velocity, sliding)


@njit
def _by_motion(plan, work, n, q, rotation, velocity, sliding):
    """Write the derivatives of a sliding load by pose and velocity of its body (q = 0) or of the other (1).

    To ``work.wrench_by_pose`` and ``work.wrench_by_velocity``. ``rotation`` (nb + 1, 3, 3), ``velocity`` (nb, 6);
    ``sliding``: relative velocity, its part along the surface and the direction of this, (ratio, slope, by pressure) of
    the friction, and the pair (turning, growing) of `differentiate_sliding`.
    """
    u, s, along, (ratio, slope, by_pressure), spins = sliding
    e, f, sign = n if q == 0 else plan.loads.other[n], plan.loads.pressing[n], 1.0 if q == 0 else -1.0
    R, R_load = rotation[plan.loads.body[e]], rotation[plan.loads.body[n]]
    spin, point, arm = vector(velocity[plan.loads.body[e], 3:]), vector(plan.loads.point[e]), _arm(plan, work, e)
    normal, towards, side = _normal(plan, work, n), _normal(plan, work, e), pressed_side(plan, e)
    gradient, force = work.gradient[plan.loads.pressed[n], side], scale(-ratio, s)
    # the rate is v . g: by the pose v . dg = (K v - g_theta x w) . d, see measures/base.py
    lever, carried = cross(vector(gradient[3:]), spin), cross(spin, point)
    for k in range(6):
        axis = (1.0 if k % 3 == 0 else 0.0, 1.0 if k % 3 == 1 else 0.0, 1.0 if k % 3 == 2 else 0.0)
        centre, moved, shifted = axis, axis, ZERO
        if k >= 3:
            centre = rotate(R, cross(axis, point))
            moved = sub(centre, scale(arm, cross(rotate(R, axis), towards)))
            turned_spin = rotate(R, cross(axis, spin))
            shifted = sub(rotate(R, cross(axis, carried)), scale(arm, cross(turned_spin, towards)))
        turned = work.change[side, k] - (lever[k - 3] if k >= 3 else 0.0)
        normal_by_pose = work.law_by_value[f] * gradient[k] + work.law_by_rate[f] * turned
        normal_by_velocity = work.law_by_rate[f] * gradient[k]
        dn, tilt = _tilt(plan, work, n, scale(sign, centre), gradient[k], (u, spins))
        pull = scale(-by_pressure, along)
        for by, ds, bent, dp in (
            (work.wrench_by_velocity[n, q], moved, ZERO, normal_by_velocity),
            (work.wrench_by_pose[n, q], shifted, tilt, normal_by_pose),
        ):
            ds = add(scale(sign, sub(ds, scale(dot(normal, ds), normal))), bent)
            df = add(scale(-ratio, ds), scale((ratio - slope) * dot(along, ds), along))
            df = add(df, scale(dp, pull))
            _write_column(by, k, df, contact_torque(plan, work, n, R_load, df))
        lean = add(
            scale(plan.loads.share[n] * gradient[k], cross(normal, force)),
            scale(_arm(plan, work, n), cross(dn, force)),
        )
        torque = scale(-1.0, rotate_back(R_load, lean))
        if q == 0 and k >= 3:  # the force and the normal turn against the axes of the body
            back = cross(vector(plan.loads.point[n]), cross(rotate_back(R, force), axis))
            back = sub(back, scale(arm, cross(rotate_back(R, cross(normal, force)), axis)))
            torque = add(torque, back)
        for a in range(3):
            work.wrench_by_pose[n, q, 3 + a, k] += torque[a]


@njit
def _tilt(plan, work, n, shift, longer, sliding):
    """Return the changes of the normal of sliding load n and, with it and the arms, of the sliding velocity, (3,) each.

    By a ``shift`` (3,) of its centre over that of the other, world, by which their distance grows by ``longer``; zero
    on a plane. ``sliding``: the relative velocity (3,), m/s, world, and the pair (turning, growing) of
    `differentiate_sliding`.
    """
    if plan.loads.other[n] < 0:
        return ZERO, ZERO
    normal, distance = _normal(plan, work, n), work.value[plan.loads.pressed[n]]
    u, (turning, growing) = sliding
    dn = scale(1.0 / distance if distance > 0.0 else 0.0, sub(shift, scale(dot(normal, shift), normal)))
    du = scale(-1.0, add(scale(longer, cross(growing, normal)), cross(turning, dn)))
    along = sub(du, scale(dot(normal, du) + dot(dn, u), normal))
    return dn, sub(along, scale(dot(normal, u), dn))


@njit
def load_power(plan, work, n, velocity):
    """Return the power, W, of load n on bodies with ``velocity`` (nb, 6)."""
    return dot6(work.wrench[n], velocity[plan.loads.body[n]])
