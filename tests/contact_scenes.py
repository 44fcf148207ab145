"""Scenes of hard contact that several tests and benchmarks share."""

import dataclasses
import math

import numpy as np

import varint as vi
from varint.step.contacts.nodes import solve_at_node, take_right_sides
from varint.step.workspace import workspace

G = 9.81
LINK, THICK = 0.2, 0.05  # m
FAMILIES = [  # of random problems: bodies, contacts, largest ratio of masses, largest coefficient of friction
    (1, 4, 1.0, 1.5),
    (2, 6, 1.0, 0.8),
    (3, 12, 1000.0, 0.8),
    (5, 20, 1000.0, 1.0),
]


def free_scene(name, bodies, forces, gravity=(0.0, 0.0, -G)):
    """A mechanism of free ``bodies`` above a floor."""
    free = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies]
    return vi.Mechanism(name, bodies, free, gravity, forces=forces, ground=(vi.PlaneShape(),))


def linked_chain(n):
    """A chain of ``n`` links along x on the ground, by ball joints, and its state at rest."""
    places = LINK * (np.arange(n) + 0.5)
    bodies = [vi.Body.box(f"b{i}", (LINK, THICK, THICK), 0.1, position=(x, 0, THICK / 2)) for i, x in enumerate(places)]
    joints = [vi.Free("free", "world", "b0")] + [
        vi.Spherical(f"j{i}", f"b{i - 1}", f"b{i}", point=(LINK * i, 0, THICK / 2)) for i in range(1, n)
    ]
    feet = np.array([(a, b, -THICK / 2) for a in (-0.09, 0.09) for b in (-THICK / 2, THICK / 2)])
    forces = [vi.HardContact(f"f{i}", b.name, points=b.position + feet, friction=0.5) for i, b in enumerate(bodies)]
    mechanism = vi.Mechanism("lying chain", bodies, joints, forces=forces, gravity=(0.0, 0.0, -G))
    return mechanism, mechanism.state()


def random_inertia(rng, mass):
    """Principal moments of a rigid body, kg m^2."""
    a, b = rng.uniform(0.05, 1.0, 2)
    return mass * np.array([a, b, rng.uniform(abs(a - b), a + b)])


def random_contacts(rng, bodies, count, ratio, friction):
    """Plan and workspace with ``count`` contacts between random points of ``bodies`` free ones and the world.

    Also their rows (3 count, 6 bodies), normals first, the inverse masses and moments, and the coefficients of
    friction, up to ``friction``. Masses are up to 1:``ratio``.
    """
    masses = ratio ** rng.uniform(0.0, 1.0, bodies)
    spheres = [vi.SphereShape(0.1, (0.3 * k, 0, 0)) for k in range(4)]
    own = [
        vi.Body(f"b{i}", mass=m, inertia=np.diag(random_inertia(rng, m)), position=(9.0 * i, 0, 0), collision=spheres)
        for i, m in enumerate(masses)
    ]
    pairs = vi.ContactPairs("all", bodies=[b.name for b in own], others=[*(b.name for b in own), "world"], friction=1.0)
    mechanism = free_scene("random", own, [pairs], (0, 0, 0))
    plan, table = mechanism.compiled.plan, mechanism.compiled.plan.contacts
    inverse = np.empty((bodies, 6))
    for i, body in enumerate(own):
        inverse[mechanism.compiled.slot[i]] = 1.0 / np.append(np.full(3, body.mass), np.diag(body.inertia))
    taken = np.sort(rng.choice(table.body.size, min(count, table.body.size), replace=False))
    rows, mobility = np.zeros((3 * taken.size, 6 * bodies)), table.mobility.copy()
    ws = workspace(plan)
    mu = rng.uniform(0.0, friction, table.body.size)
    for p, k in enumerate(taken):
        frame = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        for side, i in enumerate((table.body[k], table.other[k])):
            if i == bodies:
                continue
            arm, sign = rng.standard_normal(3), 1.0 if side == 0 else -1.0
            ws.contacts.upper[k, :, 6 * side : 6 * side + 6] = sign * np.hstack([frame, np.cross(arm, frame)])
            for a, r in enumerate((p, taken.size + 2 * p, taken.size + 2 * p + 1)):
                rows[r, 6 * i : 6 * i + 6] = ws.contacts.upper[k, a, 6 * side : 6 * side + 6]
        own_rows = rows[[p, taken.size + 2 * p, taken.size + 2 * p + 1]]
        mobility[k] = np.mean((own_rows * inverse.ravel() * own_rows).sum(1))
    ws.contacts.taking[taken] = True
    plan = dataclasses.replace(plan, contacts=dataclasses.replace(table, friction=mu, mobility=mobility))
    return plan, ws, rows, inverse.ravel(), mu[taken]


def missed_by(mu, u, z):
    """The largest that rates and impulses, normals first, miss the law by, with the coefficients ``mu``."""
    K = mu.size
    slip, push = u[K:].reshape(-1, 2), z[K:].reshape(-1, 2)
    speed, size, bound = np.linalg.norm(slip, axis=1), np.linalg.norm(push, axis=1), mu * z[:K]
    against = push * speed[:, None] + bound[:, None] * slip  # zero where it slides, small where it sticks
    return max(-u[:K].min(), -z[:K].min(), np.abs(u[:K] * z[:K]).max(), (size - bound).max(), np.abs(against).max())


def miss_of_random(rng, bodies, count, ratio, friction):
    """What a random problem misses, relative to its impulses; None where the solver says that it has none."""
    plan, ws, rows, inverse, mu = random_contacts(rng, bodies, count, ratio, friction)
    velocity = rng.standard_normal(6 * bodies)
    ws.increment_body[:] = (velocity / inverse).reshape(-1, 6)
    take_right_sides(ws)
    if not solve_at_node(plan, ws, 0):
        return None
    taken = np.flatnonzero(ws.contacts.taking)
    z = np.concatenate([ws.contacts.z[taken, 0], ws.contacts.z[taken, 1:].ravel()])
    return missed_by(mu, rows @ (velocity + inverse * (rows.T @ z)), z) / max(1.0, np.abs(z).max())


def energy_of_impact(rng):
    """Energy, J, before and after the impacts of `touching_bodies`; None twice where a run ends with an error."""
    mechanism, state = touching_bodies(rng)
    try:
        run = vi.simulate(mechanism, 1e-6, 1e-6, state=state, on_unresolved="ignore")
    except vi.ConvergenceError:
        return None, None
    return run.energy[0], run.energy[-1]


def touching_bodies(rng, ratio=1000.0, friction=2.0):
    """One to five bodies with offset balls that touch in a chain from the ground on, thrown; mechanism and state."""
    count = int(rng.integers(1, 6))
    centre, radius, bodies, forces = np.array([0.0, 0.0, 0.0]), 0.0, [], []
    for i in range(count):
        own = rng.uniform(0.05, 0.3)
        way = rng.standard_normal(3)
        way[2] = abs(way[2]) + 0.5
        way /= np.linalg.norm(way)
        centre = np.array([0.0, 0.0, own]) if i == 0 else centre + (radius + own) * way
        radius, mass = own, ratio ** rng.uniform(0.0, 1.0)
        away = 0.1 * rng.standard_normal(3)
        shape, inertia = vi.SphereShape(own, away), np.diag(0.04 * random_inertia(rng, mass))
        bodies.append(vi.Body(f"b{i}", mass=mass, inertia=inertia, position=centre - away, collision=[shape]))
        law = {"friction": rng.uniform(0, friction), "restitution": rng.uniform(0, 1) * (rng.random() < 0.8)}
        forces.append(vi.Contact(f"c{i}", f"b{i}", f"b{i - 1}" if i else "world", **law))
    mechanism = free_scene("thrown", bodies, forces, (0, 0, 0))
    velocity, spin = rng.standard_normal((2, count, 3))
    velocity[:, 2] -= 1.0
    return mechanism, dataclasses.replace(mechanism.state(), velocity=velocity, angular_velocity=spin)


def settling_stack(count, tilt, axis):
    """Boxes above each other that land on a corner, turned by ``tilt`` rad about ``axis``, one this way, one that."""
    angle = 0.5 * tilt
    drop = 0.5 * (math.cos(tilt) + math.sin(tilt) * np.abs(axis).sum()) - 0.5
    bodies, forces = [], []
    for k in range(count):
        quat = np.append(math.cos(angle), math.sin(angle) * np.asarray(axis) * (1 if k % 2 == 0 else -1))
        position = (0, 0, 0.5 + k + 1.5 * (2 * k + 1) * drop + 1e-9 * (k + 1))
        bodies.append(vi.Body.box(f"b{k}", (1, 1, 1), 1.0, position=position, quat_wxyz=quat, collision=True))
        forces.append(vi.Contact(f"c{k}", f"b{k}", f"b{k - 1}" if k else "world", friction=0.5))
    return free_scene("settling", bodies, forces)
