"""Loads on bodies: wrenches against their definitions, and exact derivatives against differences."""

import numpy as np
import pytest
from poses import moved
from random_mechanisms import random_body, unit
from scipy.spatial.transform import Rotation

import varint as vi
from varint.step.laws import evaluate_laws
from varint.step.loads import LOAD_NAMES, differentiate_loads, evaluate_loads, load_power
from varint.step.workspace import workspace

INPUT, STEP = 2.5, 1e-4


def loads(rng):
    """Name to force: every kind of load, with each use of it."""
    contact = {"ground": (0, 0, 9.0), "normal": unit(rng), "point": rng.standard_normal(3), "stiffness": 3.0}
    contact |= {"friction": 0.4, "smoothing": 0.3}
    found = {
        "push": vi.PointForce("f", "b", direction=unit(rng), magnitude=INPUT, point=rng.standard_normal(3)),
        "push by a torque": vi.PointTorque("f", "b", direction=unit(rng), magnitude=INPUT),
        "follower": vi.PointForce(
            "f", "b", direction=unit(rng), magnitude=INPUT, point=rng.standard_normal(3), fixed_in="body"
        ),
        "follower by a torque": vi.PointTorque("f", "b", direction=unit(rng), magnitude=INPUT, fixed_in="body"),
        "resistance": vi.BodyDamper("f", "b", linear=1.3, angular=0.7),
        "resistance by the square": vi.Drag("f", "b", linear=1.3, angular=0.7),
        "sliding": vi.GroundContact("f", "b", **contact),
        "sliding, damped": vi.GroundContact("f", "b", **contact, damping=0.8),
        "sliding of a ball": vi.GroundContact("f", "b", **contact, damping=0.1, radius=0.7),
        "sliding of a ball, sticking": vi.GroundContact("f", "b", **contact, radius=0.7, creep=0.01),
        "sliding, sticking": vi.GroundContact("f", "b", **contact, damping=0.8, creep=0.01),
        "sliding, creeping": vi.GroundContact("f", "b", **contact, damping=0.8, creep=50.0),
    }
    balls = {"stiffness": 9.0, "friction": 0.4, "smoothing": 0.3, "radius_a": 2.0, "radius_b": 3.0}
    balls |= {"center_a": (0.3, -0.5, 0.8), "center_b": (-0.7, 0.2, 0.4)}
    return found | {
        "sliding of two balls": vi.SphereContact("f", "b", "c", **balls),
        "sliding of two balls, damped": vi.SphereContact("f", "c", "b", **balls, damping=0.2),
        "sliding of two balls, sticking": vi.SphereContact("f", "b", "c", **balls, damping=0.2, creep=0.01),
        "sliding of two balls, creeping": vi.SphereContact("f", "b", "c", **balls, creep=2e3),
    }


NAMES = tuple(loads(np.random.default_rng(0)))
SPEEDS = {"fast": 3.0, "slow": 0.05, "at rest": 0.0}


class Case:
    """One load on a free body, or one on each of two, at random poses; what slides is pressed on."""

    def __init__(self, name, rng, speed):
        force = loads(rng)[name]
        names = ("b", "c") if "two" in name else ("b",)
        bodies, joints = [random_body(rng, each) for each in names], [vi.Free(each, "world", each) for each in names]
        self.plan = vi.Mechanism("free", bodies, joints, forces=[force]).compiled.plan
        self.ws = workspace(self.plan)
        self.ws.efforts.input[:] = INPUT
        self.x = np.vstack([rng.standard_normal((len(names), 3)), np.zeros(3)])
        self.R = np.concatenate([Rotation.random(len(names), rng=rng).as_matrix(), np.eye(3)[None]])
        self.v = speed * rng.standard_normal((len(names), 6))
        if "two" in name:
            line = unit(rng)
            a, b = (self.x[k] + self.R[k] @ self.point(k) for k in range(2))
            self.x[1] += a + 4.0 * line - b
        elif name.startswith("sliding"):
            height = force.normal @ (self.x[0] + self.R[0] @ self.plan.loads.point[0] - (0, 0, 9.0))
            self.x[0] -= (height + 2.0) * force.normal
        self.normal = getattr(force, "normal", None)

    def point(self, body):
        """(3,) where the load on a body acts, body axes."""
        return self.plan.loads.point[list(self.plan.loads.body).index(body)]

    def wrench(self, motion=None, v=None):
        """(n, 6) after motions (nb, 6) of the bodies, at velocities ``v`` (nb, 6)."""
        motion = np.zeros_like(self.v) if motion is None else motion
        x, R = moved(self.x, self.R, motion[:, :3], motion[:, 3:])
        v = self.v if v is None else v
        evaluate_laws(self.plan, self.ws, x, R, v, 0.0)
        evaluate_loads(self.plan, self.ws, R, v)
        return self.ws.efforts.wrench.copy()

    def derivatives(self):
        """(n, 6, nb, 6) by pose and by velocity."""
        loads, work = self.plan.loads, self.ws.efforts
        self.wrench()
        work.wrench_by_pose[:] = work.wrench_by_velocity[:] = np.nan
        differentiate_loads(self.plan, self.ws, self.x, self.R, self.v)
        found = np.zeros((2, len(loads.kind), 6, *self.v.shape))
        for part, parts in zip(found, (work.wrench_by_pose, work.wrench_by_velocity), strict=True):
            for n, i in enumerate(loads.body):
                part[n, :, i] = parts[n, 0]
                if loads.other[n] >= 0:
                    part[n, :, loads.body[loads.other[n]]] = parts[n, 1]
        return found


def slope(at, bodies):
    """(n, 6, nb, 6) of a function of (nb, 6), by differences of fourth order."""
    columns = []
    for e in STEP * np.eye(6 * bodies).reshape(-1, bodies, 6):
        columns.append((8 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / (12 * STEP))
    return np.moveaxis(np.reshape(columns, (bodies, 6, *columns[0].shape)), (0, 1), (2, 3))


def test_every_kind_of_load_is_here(rng):
    seen = {LOAD_NAMES[Case(name, rng, 1.0).plan.loads.kind[0]] for name in NAMES}
    assert seen == set(LOAD_NAMES)


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_against_differences(name, speed, rng):
    for _ in range(5):
        case = Case(name, rng, SPEEDS[speed])
        by_pose, by_velocity = case.derivatives()
        size = 1.0 + np.abs(case.wrench()).max()
        if "creeping" in name and speed == "at rest":  # it would stick
            continue
        kink = "square" in name and speed == "at rest"  # |v| v has a slope at zero, not a second one
        tolerance = 1e-3 if kink else 1e-7
        assert np.abs(by_pose - slope(lambda e, c=case: c.wrench(motion=e), len(case.v))).max() < 1e-7 * size
        assert np.abs(by_velocity - slope(lambda e, c=case: c.wrench(v=c.v + e), len(case.v))).max() < tolerance * size
        if kink:
            assert not by_velocity.any()
        elif name != "follower by a torque":  # it is what it is
            assert np.abs(by_pose).max() + np.abs(by_velocity).max() > 1e-3


@pytest.mark.slow
def test_wrenches_by_their_definitions(rng):
    """Force in the world and torque in the body; efforts and powers."""
    for name in NAMES:
        case = Case(name, rng, 1.0)
        wrenches, plan, work = case.wrench(), case.plan, case.ws.efforts
        for n, i in enumerate(plan.loads.body):
            effort, expected = defined(case, name, n, i)
            assert wrenches[n] == pytest.approx(expected, abs=1e-13)
            assert work.effort[plan.loads.element[n]] == pytest.approx(effort, abs=1e-13)
            assert load_power(plan, work, n, case.v) == pytest.approx(np.dot(expected, case.v[i]), abs=1e-12)


def defined(case, name, n, i):
    """Effort and wrench (6,) of load n on body i."""
    plan, work, R, v, w = case.plan, case.ws.efforts, case.R[i], case.v[i, :3], case.v[i, 3:]
    force, torque, point = (getattr(plan.loads, part)[n] for part in ("force", "torque", "point"))
    kind = LOAD_NAMES[plan.loads.kind[n]]
    if kind == "push":
        return INPUT, [*(INPUT * force), *(INPUT * (R.T @ torque + np.cross(point, R.T @ force)))]
    if kind == "follower":
        return INPUT, [*(INPUT * R @ force), *(INPUT * (torque + np.cross(point, force)))]
    if kind == "resistance":
        c, d = plan.loads.linear[n], plan.loads.angular[n]
        if plan.loads.power[n] == 2:
            c, d = c * np.linalg.norm(v), d * np.linalg.norm(w)
        return -c * np.linalg.norm(v) - d * np.linalg.norm(w), [*(-c * v), *(-d * w)]
    if "two" in name:
        j = 1 - i
        centres = [case.x[k] + case.R[k] @ case.point(k) for k in range(2)]
        normal = (centres[i] - centres[j]) / 4.0
        radii = {1: 2.0, -1: 3.0} if "damped" not in name else {1: 3.0, -1: 2.0}
        touching = centres[i] - normal * 4.0 * radii[1 if i == 0 else -1] / 5.0
        s = v + np.cross(R @ w, touching - case.x[i])
        s -= case.v[j, :3] + np.cross(case.R[j] @ case.v[j, 3:], touching - case.x[j])
        touching = touching - case.x[i]
    else:
        normal, touching = case.normal, R @ point - plan.loads.radius[n] * case.normal
        s = v + np.cross(R @ w, touching)
    s = s - (normal @ s) * normal
    pressure, creep = work.effort[0], plan.loads.creep[n]
    assert pressure > 1.0
    smooth = np.tanh(np.linalg.norm(s) / 0.3) if creep == 0.0 else 1.0
    effort = -0.4 * pressure * smooth
    if "sticking" in name:
        effort = -creep * np.linalg.norm(s)
        assert -effort < 0.4 * pressure
    pull = effort * s / np.linalg.norm(s)
    return effort, [*pull, *(R.T @ np.cross(touching, pull))]


def test_nothing_slides_off_the_ground(rng):
    case = Case("sliding", rng, 1.0)
    case.x[0] += 10.0 * case.normal
    assert not case.wrench().any()
    for part in case.derivatives():
        assert not part.any()


def test_forces_of_two_balls_are_opposite(rng):
    """To the last bit; and without a torque."""
    case = Case("sliding of two balls, damped", rng, 1.0)
    one, other = case.wrench()
    assert np.array_equal(one[:3], -other[:3])
    bodies = zip(case.plan.loads.body, (one, other), strict=True)
    assert sum(np.cross(case.x[i], w[:3]) + case.R[i] @ w[3:] for i, w in bodies) == pytest.approx(0.0, abs=1e-13)
