"""Random mechanisms of hinges, slides and balls with everything that sets in, saturates or dissipates strongly."""

import dataclasses

import numpy as np
from random_mechanisms import random_body, unit

import varint as vi

KINDS = ("Revolute", "Prismatic", "Spherical")
TURNS = 5.0  # of a hinge at the start, at most
DAMPINGS = (-3.0, 6.0)  # powers of ten of c dt / m
RESTITUTIONS = (0.0, 0.0, 0.5, 1.0)
APART = 0.6  # m, centres of bodies: no two shapes overlap
NEAR = (0.0, 1e-3, 0.05, 0.3)  # rad or m: distances of limits from the start


def random_limited(rng, dt):
    """A mechanism and the arguments of its state: stops, lengths, contacts, springs, servos, dampers and friction.

    ``dt``: step by which dampings are scaled, s. Hinges may start beyond turns, limits may be reached at once.
    """
    n = int(rng.integers(1, 5))
    bodies, joints = [], []
    for i in range(n):
        parent = int(rng.integers(-1, i)) if i else -1
        shapes = [vi.SphereShape(rng.uniform(0.05, 0.15))] if rng.random() < 0.5 else []
        bodies.append(dataclasses.replace(random_body(rng, f"b{i}", 0.5), collision=shapes))
        if parent < 0 and i and rng.random() < 0.3:
            joints.append(vi.Free(f"j{i}", "world", f"b{i}"))
            continue
        point = bodies[i].position + 0.4 * unit(rng)
        kind = str(rng.choice(KINDS))
        ends = "world" if parent < 0 else f"b{parent}", f"b{i}"
        axis = {} if kind == "Spherical" else {"axis": unit(rng)}
        joints.append(getattr(vi, kind)(f"j{i}", *ends, point=point, **axis))
    moving = [joint for joint in joints if joint.dof == 1]
    start = {joint.name: _start_of(rng, joint) for joint in moving if rng.random() < 0.7}
    rates = {joint.name: rng.uniform(-3.0, 3.0) for joint in moving}
    forces = []
    for joint in moving:
        for _ in range(int(rng.integers(0, 3))):
            forces.append(_force_along(rng, f"f{len(forces)}", joint.name, start.get(joint.name, 0.0), dt))
    state = vi.Mechanism("free of limits", bodies, joints).state(coordinates=start)
    if rng.random() < 0.5:
        forces.append(_floor(rng, f"f{len(forces)}", int(rng.integers(n)), state))
    shaped = [i for i in range(n) if bodies[i].collision]
    if len(shaped) > 1 and rng.random() < 0.7:
        a, b = (int(i) for i in rng.choice(shaped, 2, replace=False))
        if _gap(state.position, bodies, a, b) > 0.0:
            restitution = float(rng.choice(RESTITUTIONS))
            forces.append(vi.Contact(f"f{len(forces)}", f"b{a}", f"b{b}", restitution=restitution))
    for _ in range(int(rng.integers(0, 3))):
        forces.append(_tether(rng, f"f{len(forces)}", bodies, state))
    return vi.Mechanism("random limits", bodies, joints, forces=_without_twins(forces)), {
        "coordinates": start,
        "rates": rates,
    }


def random_touching(rng, dt):
    """As `random_limited`, with boxes, capsules and spheres that slide with friction, and tethers beside taut ones.

    A body hangs on two or three tethers, one of which is taut at the start; more bodies are free, and touch later.
    """
    n = int(rng.integers(2, 5))
    bodies = [dataclasses.replace(random_body(rng, f"b{i}"), collision=[_shape(rng)]) for i in range(n)]
    for i, body in enumerate(bodies):
        bodies[i] = dataclasses.replace(body, position=(0.6 * i, 0.0, 0.0) + 0.1 * rng.uniform(-1.0, 1.0, 3))
    joints = [_joint_of(rng, bodies, i) for i in range(n)]
    moving = [joint for joint in joints if joint.dof == 1]
    start = {joint.name: _start_of(rng, joint) for joint in moving if rng.random() < 0.7}
    rates = {joint.name: rng.uniform(-3.0, 3.0) for joint in moving}
    state = vi.Mechanism("free of limits", bodies, joints).state(coordinates=start)
    forces = []
    for joint in moving:
        if rng.random() < 0.7:
            forces.append(_force_along(rng, f"f{len(forces)}", joint.name, start.get(joint.name, 0.0), dt))
    hung = int(rng.integers(n))
    for k in range(int(rng.integers(2, 4))):
        slack = 0.0 if k == 0 else float(rng.choice(NEAR[1:]))
        forces.append(_hung(rng, f"f{len(forces)}", bodies, hung, state, slack))
    law = {"friction": float(rng.choice((0.0, 0.3))), "restitution": float(rng.choice(RESTITUTIONS))}
    pairs = [(f"b{i}", f"b{j}") for j in range(n) for i in range(j) if _apart(state.position, i, j)]
    pairs += [(body.name, "world") for body in bodies]
    height = float(state.position[:, 2].min()) - 0.35 - float(rng.choice(NEAR))
    ground = vi.PlaneShape((0.0, 0.0, height))
    forces += [vi.Contact(f"c{k}", *pair, **law) for k, pair in enumerate(pairs)]
    mechanism = vi.Mechanism("random touching", bodies, joints, forces=_without_twins(forces), ground=(ground,))
    return mechanism, {"coordinates": start, "rates": rates}


def _shape(rng):
    kind = int(rng.integers(3))
    if kind == 0:
        return vi.SphereShape(rng.uniform(0.05, 0.15))
    if kind == 1:
        return vi.BoxShape(rng.uniform(0.05, 0.25, 3))
    end = rng.uniform(0.05, 0.12) * unit(rng)
    return vi.CapsuleShape(-end, end, rng.uniform(0.03, 0.08))


def _joint_of(rng, bodies, i):
    if rng.random() < 0.4:
        return vi.Free(f"j{i}", "world", f"b{i}")
    axis, kind = {}, str(rng.choice(KINDS))
    if kind != "Spherical":
        axis["axis"] = unit(rng)
    return getattr(vi, kind)(f"j{i}", "world", f"b{i}", point=bodies[i].position + 0.4 * unit(rng), **axis)


def _apart(position, i, j):
    return np.linalg.norm(position[i] - position[j]) > APART


def _hung(rng, name, bodies, i, state, slack):
    """From the centre of a body to a point of the world above it."""
    anchor = state.position[i] + rng.uniform(0.3, 1.0) * unit(rng) * (1.0, 1.0, 0.3) + (0.0, 0.0, 0.5)
    upper = np.linalg.norm(state.position[i] - anchor) + slack
    arguments = {"point_a": bodies[i].position, "point_b": anchor, "restitution": float(rng.choice(RESTITUTIONS))}
    return vi.LengthStop(name, f"b{i}", "world", upper=upper, **arguments)


def _without_twins(forces):
    """``forces`` without stops that end where another one does, which is refused."""
    kept, ends = [], set()
    for force in forces:
        hard = isinstance(force, (vi.JointStop, vi.LengthStop))
        sides = [side for side in ("lower", "upper") if hard and np.isfinite(getattr(force, side))]
        between = (force.body_a, force.body_b) if isinstance(force, vi.LengthStop) else getattr(force, "joint", None)
        of_stop = {(between, side, getattr(force, side)) for side in sides}
        if not of_stop & ends:
            kept.append(force)
        ends |= of_stop
    return kept


def _start_of(rng, joint):
    turns = rng.random() < 0.5 and isinstance(joint, vi.Revolute)
    return float(rng.uniform(-1.0, 1.0) * (2 * np.pi * TURNS if turns else 0.5))


def _force_along(rng, name, joint, at, dt):
    kind = str(rng.choice(("JointStop", "JointStop", "TorsionSpring", "JointServo", "JointDamper", "JointFriction")))
    if kind == "JointStop":
        ends = at - float(rng.choice(NEAR)), at + float(rng.choice(NEAR))
        if ends[0] == ends[1]:
            ends = ends[0], ends[1] + 0.1
        return vi.JointStop(name, joint=joint, lower=ends[0], upper=ends[1], restitution=rng.choice(RESTITUTIONS))
    if kind == "TorsionSpring":
        return vi.TorsionSpring(name, joint=joint, stiffness=rng.uniform(1.0, 100.0), rest_angle=at + rng.normal())
    if kind == "JointServo":
        arguments = {"stiffness": rng.uniform(1.0, 50.0), "damping": rng.uniform(0.0, 2.0)}
        return vi.JointServo(name, joint=joint, target=at + rng.normal(), **arguments)
    if kind == "JointDamper":
        return vi.JointDamper(name, joint=joint, damping=10.0 ** rng.uniform(*DAMPINGS) / dt)  # of 1 kg or 1 kg m^2
    return vi.JointFriction(name, joint=joint, effort=rng.uniform(0.1, 5.0), smoothing=0.01)


def _floor(rng, name, i, state):
    ground = state.position[i] - [0.0, 0.0, 0.1 + float(rng.choice(NEAR)) + 1e-3]
    return vi.HardContact(name, f"b{i}", radius=0.1, ground=ground, restitution=float(rng.choice(RESTITUTIONS)))


def _gap(position, bodies, a, b):
    radii = bodies[a].collision[0].radius + bodies[b].collision[0].radius
    return np.linalg.norm(position[a] - position[b]) - radii


def _tether(rng, name, bodies, state):
    """From a centre of mass to another one or to a point of the world, taut at the start or a little later."""
    a = int(rng.integers(len(bodies)))
    b = int(rng.integers(len(bodies)))
    centre, anchor = bodies[a].position, bodies[b].position
    there = state.position[b]
    if a == b:
        anchor = there = state.position[a] + rng.uniform(0.3, 1.0) * unit(rng)
    upper = np.linalg.norm(state.position[a] - there) + float(rng.choice(NEAR))
    to = "world" if a == b else f"b{b}"
    restitution = float(rng.choice(RESTITUTIONS))
    return vi.LengthStop(name, f"b{a}", to, point_a=centre, point_b=anchor, upper=upper, restitution=restitution)
