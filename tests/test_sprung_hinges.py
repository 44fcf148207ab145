"""Efforts along the angles of hinges, which trees take into the pivots of the hinges, against rows of their own."""

import numpy as np
import pytest

import varint as vi
from varint.plan import joints
from varint.step.plan import EFFORT, IN_PIVOT

DIRECTIONS = ([1.0, 0.2, 0.0], [0.3, 1.0, -0.5], [0.0, 0.4, 1.0])


def arm(stiffness=20.0, damping=0.3, closed=False):
    """Three bodies on hinges in space, with springs and dampers; ``closed``: the last is tied to the world."""
    bodies, hinges, point, before = [], [], np.zeros(3), "world"
    for n, axis in enumerate(DIRECTIONS):
        step = 0.5 * np.roll([1.0, 0.3, -0.2], n)
        bodies.append(vi.Body(f"link {n}", mass=1.0 + n, inertia=np.diag([0.02, 0.03, 0.025]), position=point + step))
        hinges.append(vi.Revolute(f"hinge {n}", before, f"link {n}", point=point, axis=axis))
        before, point = f"link {n}", point + 2.0 * step
    if closed:
        hinges.append(vi.Spherical("ball", before, "world", point=point))
    springs = [
        vi.TorsionSpring(f"spring {n}", joint=f"hinge {n}", stiffness=stiffness, rest_angle=0.4, damping=damping)
        for n in range(len(DIRECTIONS))
    ]
    return vi.Mechanism("arm", bodies, hinges, forces=springs)


@pytest.fixture
def with_rows(monkeypatch):
    """Run a function of a mechanism, which it makes, with a row for each effort."""

    def run(function, **numbers):
        with monkeypatch.context() as patch:
            patch.setattr(joints, "_angles", lambda roles: {})
            mechanism = arm(**numbers)
            assert (mechanism.compiled.plan.rows.role == EFFORT).any()
            return function(mechanism)

    return run


def test_trees_have_no_rows_for_them_and_loops_do():
    plan = arm().compiled.plan
    assert plan.joints.sprung.all()
    assert not (plan.rows.role == EFFORT).any()
    assert (plan.measures.row[plan.rows.role.size :] == IN_PIVOT).all()
    assert plan.bodies.loaded.all()
    assert not plan.bodies.coupled.any()
    looped = arm(closed=True).compiled.plan
    assert not looped.joints.sprung.any()
    assert (looped.rows.role == EFFORT).any()


@pytest.mark.parametrize(("stiffness", "damping", "order"), [(20.0, 0.3, 2), (1e4, 100.0, 2), (20.0, 0.3, 4)])
def test_motion_and_reactions_are_those_with_rows(with_rows, stiffness, damping, order):
    def motion(mechanism):
        return vi.simulate(mechanism, 0.5, 0.002, order=order)

    run, other = motion(arm(stiffness, damping)), with_rows(motion, stiffness=stiffness, damping=damping)
    for name in ("position", "velocity", "work"):
        here, there = getattr(run, name), getattr(other, name)
        assert np.abs(here - there).max() < 1e-11 * np.abs(there).max(), name
    for name in ("spring 0", "spring 2"):
        here, there = run.power[name], other.power[name]
        assert np.abs(here - there).max() < 1e-11 * np.abs(there).max(), name
    for name in ("hinge 0", "hinge 2"):
        here, there = run.reactions[name].force, other.reactions[name].force
        assert np.abs(here - there).max() < 1e-9 * np.abs(there).max()
    assert run.newton_iterations <= 1.05 * other.newton_iterations


def test_gradients_are_those_with_rows(with_rows):
    def gradient(mechanism):
        found = vi.gradient(
            mechanism, lambda state: float(state.position[-1, 2]), 0.1, 0.002,
            with_respect_to=["start", "link 1.mass", "spring 2.stiffness"],
        )  # fmt: skip
        return np.array([found["link 1.mass"], found["spring 2.stiffness"]])

    here, there = gradient(arm()), with_rows(gradient)
    assert np.abs(here - there).max() < 1e-11 * np.abs(there).max()
    assert np.abs(here).min() > 0.0
