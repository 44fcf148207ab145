"""Loads on one body: wrenches against their definitions, and exact derivatives against differences."""

import numpy as np
import pytest
from poses import moved
from random_mechanisms import random_body, unit
from scipy.spatial.transform import Rotation

import varint as vi
from varint.kernels.laws import evaluate_laws
from varint.kernels.loads import LOAD_NAMES, differentiate_loads, evaluate_loads, load_power
from varint.kernels.workspace import workspace

INPUT, STEP = 2.5, 1e-4


def loads(rng):
    """Name to force: every kind of load, with each use of it."""
    contact = {"ground": (0, 0, 9.0), "normal": unit(rng), "point": rng.standard_normal(3), "stiffness": 3.0}
    contact |= {"friction": 0.4, "smoothing": 0.3}
    return {
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


NAMES = tuple(loads(np.random.default_rng(0)))
SPEEDS = {"fast": 3.0, "slow": 0.05, "at rest": 0.0}


class Case:
    """One load on a free body at a random pose; a point that slides is pressed on its plane."""

    def __init__(self, name, rng, speed):
        force = loads(rng)[name]
        mechanism = vi.Mechanism("one", [random_body(rng, "b")], [vi.Free("free", "world", "b")], forces=[force])
        self.plan = mechanism.compiled.plan
        self.ws = workspace(self.plan)
        self.ws.efforts.input[:] = INPUT
        self.x = np.vstack([rng.standard_normal(3), np.zeros(3)])
        self.R = np.concatenate([Rotation.random(rng=rng).as_matrix()[None], np.eye(3)[None]])
        self.v = speed * rng.standard_normal((1, 6))
        if name.startswith("sliding"):
            normal, point = self.plan.loads.normal[0], self.plan.loads.point[0]
            height = normal @ (self.x[0] + self.R[0] @ point - (0, 0, 9.0))
            self.x[0] -= (height + 2.0) * normal

    def wrench(self, motion=None, v=None):
        """(6,) after a motion (6,) of the body, at velocity ``v`` (6,)."""
        motion = np.zeros(6) if motion is None else motion
        x, R = moved(self.x, self.R, motion[None, :3], motion[None, 3:])
        v = self.v if v is None else v[None]
        evaluate_laws(self.plan, self.ws, x, R, v, 0.0)
        evaluate_loads(self.plan, self.ws, R, v)
        return self.ws.efforts.wrench[0].copy()

    def derivatives(self):
        self.wrench()
        self.ws.efforts.wrench_by_pose[:] = self.ws.efforts.wrench_by_velocity[:] = np.nan
        differentiate_loads(self.plan, self.ws, self.x, self.R, self.v)
        return self.ws.efforts.wrench_by_pose[0].copy(), self.ws.efforts.wrench_by_velocity[0].copy()


def slope(at):
    """(6, 6) of a function of (6,), by differences of fourth order."""
    columns = []
    for e in STEP * np.eye(6):
        columns.append((8 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / (12 * STEP))
    return np.array(columns).T


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
        assert np.abs(by_pose - slope(lambda e, c=case: c.wrench(motion=e))).max() < 1e-7 * size
        assert np.abs(by_velocity - slope(lambda e, c=case: c.wrench(v=c.v[0] + e))).max() < tolerance * size
        if kink:
            assert not by_velocity.any()
        elif name != "follower by a torque":  # it is what it is
            assert np.abs(by_pose).max() + np.abs(by_velocity).max() > 1e-3


def test_wrenches_by_their_definitions(rng):
    """Force in the world and torque in the body; efforts and powers."""
    for name in NAMES:
        case = Case(name, rng, 1.0)
        wrench, plan, work = case.wrench(), case.plan, case.ws.efforts
        R, v, w = case.R[0], case.v[0, :3], case.v[0, 3:]
        force, torque, point = (getattr(plan.loads, part)[0] for part in ("force", "torque", "point"))
        kind = LOAD_NAMES[plan.loads.kind[0]]
        if kind == "push":
            expected = [*(INPUT * force), *(INPUT * (R.T @ torque + np.cross(point, R.T @ force)))]
            effort = INPUT
        elif kind == "follower":
            expected = [*(INPUT * R @ force), *(INPUT * (torque + np.cross(point, force)))]
            effort = INPUT
        elif kind == "resistance":
            c, d = plan.loads.linear[0], plan.loads.angular[0]
            if plan.loads.power[0] == 2:
                c, d = c * np.linalg.norm(v), d * np.linalg.norm(w)
            expected = [*(-c * v), *(-d * w)]
            effort = -c * np.linalg.norm(v) - d * np.linalg.norm(w)
        else:
            normal = plan.loads.normal[0]
            touching = R @ point - plan.loads.radius[0] * normal
            s = v + np.cross(R @ w, touching)
            s = s - (normal @ s) * normal
            pressure, creep = work.effort[0], plan.loads.creep[0]
            assert pressure > 1.0
            smooth = np.tanh(np.linalg.norm(s) / 0.3) if creep == 0.0 else 1.0
            effort = -0.4 * pressure * smooth
            if "sticking" in name:
                effort = -creep * np.linalg.norm(s)
                assert -effort < 0.4 * pressure
            pull = effort * s / np.linalg.norm(s)
            expected = [*pull, *(R.T @ np.cross(touching, pull))]
        assert wrench == pytest.approx(expected, abs=1e-13)
        assert work.effort[plan.loads.element[0]] == pytest.approx(effort, abs=1e-13)
        assert load_power(plan, work, 0, case.v) == pytest.approx(np.dot(expected, case.v[0]), abs=1e-12)


def test_nothing_slides_off_the_ground(rng):
    case = Case("sliding", rng, 1.0)
    case.x[0] += 10.0 * case.plan.loads.normal[0]
    assert not case.wrench().any()
    by_pose, by_velocity = case.derivatives()
    assert not by_pose.any()
    assert not by_velocity.any()
