"""Loops that repeat what the tree allows already: all their rows are redundant, and only round-off is left of them.

Such a mechanism moves as it does without these loops. The locked triangle is the opposite: a loop that nothing moves.
"""

from dataclasses import replace

import numpy as np
import pytest
from random_mechanisms import random_joint, random_velocity_state

import varint as vi
from varint.methods.reduced.integrators import INTEGRATORS
from varint.model.joints import REGISTRY

O, X, Y, Z = (np.array(vector, dtype=float) for vector in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)))
SLANTED = np.array([0.3, 0.8, 0.2])
GRAVITY = (1.0, 2.0, -9.0)
CLOSING = [name for name, kind in INTEGRATORS.items() if not kind.trees_only]


def links(count):
    """One behind the other along x, of unequal moments."""
    return [
        vi.Body.box(f"b{k}", (1.0, 0.2 + 0.1 * k, 0.3), 1.0 + 0.5 * k, position=(k + 0.6, 0.1, 0.2))
        for k in range(count)
    ]


def hinge(name, a, b, point, axis=SLANTED):
    return vi.Revolute(name, a, b, point=point, axis=axis)


def triangle():
    """Of two bars and the ground."""
    feet = [hinge("foot", "world", "b0", O, Y), hinge("other foot", "world", "b1", 2 * X, Y)]
    return [*feet, hinge("apex", "b0", "b1", X + 2 * Z, Y)]


# name to joints, those that move, and further ones that repeat them
CASES = {
    "door on two hinges": ([hinge("j", "world", "b0", O)], [hinge("copy", "world", "b0", SLANTED)]),
    "door on a floating frame": (
        [vi.Free("free", "world", "b0"), hinge("j", "b0", "b1", X)],
        [hinge("copy", "b0", "b1", X + SLANTED), hinge("third", "b1", "b0", X - SLANTED)],
    ),
    "carriage on two rails": (
        [vi.Prismatic("j", "world", "b0", point=O, axis=SLANTED)],
        [vi.Prismatic("copy", "world", "b0", point=Y, axis=SLANTED)],
    ),
    "hinge and sleeve": (
        [hinge("j", "world", "b0", SLANTED)],
        [vi.Cylindrical("copy", "world", "b0", point=O, axis=SLANTED)],
    ),
    "screw and sleeve": (
        [vi.Helical("j", "world", "b0", point=SLANTED, axis=SLANTED, lead=0.3)],
        [vi.Cylindrical("copy", "world", "b0", point=O, axis=SLANTED)],
    ),
    "fixed twice": (
        [hinge("j", "world", "b0", O), vi.Fixed("weld", "b0", "b1", point=X)],
        [vi.Fixed("copy", "b0", "b1", point=X + Y)],
    ),
    "both hinges twice": (
        [hinge("j", "world", "b0", O), hinge("k", "b0", "b1", X, Y)],
        [hinge("copy of j", "world", "b0", SLANTED), hinge("copy of k", "b0", "b1", X - 0.4 * Y, Y)],
    ),
    "two hinges and a plane": (
        [hinge("j", "world", "b0", O, Y), hinge("k", "b0", "b1", X, Y)],
        [vi.Planar("copy", "world", "b1", point=2 * X, axis=Y)],
    ),
    "two hinges and a hook": (
        [hinge("j", "world", "b0", O, X), hinge("k", "b0", "b1", O, Y)],
        [vi.Universal("copy", "world", "b1", point=O, axis=X, axis_b=Y)],
    ),
}


def doubled(kind, rng):
    """Two links on joints of ``kind``, each of which is there twice."""
    bodies = links(2)
    joints = [random_joint(rng, kind, f"j{k}", ["world", "b0"][k], f"b{k}", bodies[k].position - 0.3) for k in (0, 1)]
    return bodies, joints, [replace(joint, name=f"copy {joint.name}") for joint in joints]


def pair(bodies, joints, copies):
    """The mechanism with the copies, and without them."""
    return [vi.Mechanism("repeated", bodies, which, gravity=GRAVITY) for which in ([*joints, *copies], joints)]


def assert_same_motion(closed, tree, state, integrator, tolerance=1e-9):
    runs = [
        vi.redmax.simulate(mechanism, 0.2, dt=0.01, state=state, integrator=integrator) for mechanism in (closed, tree)
    ]
    assert runs[0].success
    for name in ("position", "velocity", "angular_velocity"):
        np.testing.assert_allclose(*(getattr(run, name) for run in runs), atol=tolerance, err_msg=integrator)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("case", CASES)
def test_loops_that_repeat_the_tree_change_nothing(case, rng):
    """In any integrator; the variational integrator is of second order with them as it is without."""
    joints, copies = CASES[case]
    closed, tree = pair(links(2 if "b1" in {joint.body_b for joint in joints} else 1), joints, copies)
    state = random_velocity_state(rng, tree)
    for integrator in CLOSING:
        assert_same_motion(closed, tree, state, integrator)
    exact = vi.redmax.simulate(closed, 0.2, dt=0.01, state=state, rtol=1e-11)
    errors = []
    for dt in (0.002, 0.001):
        run = vi.simulate(closed, 0.2, dt, every=round(0.01 / dt), state=state)
        assert run.drift.max() < 1e-11
        errors.append(np.abs(run.position - exact.position).max())
    assert errors[1] < 1e-13 or errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("kind", sorted(set(REGISTRY) - {"Fixed"}))
def test_each_joint_twice(kind, rng):
    closed, tree = pair(*doubled(kind, rng))
    state = random_velocity_state(rng, tree, 0.5)
    for integrator in ("dop853", "euler", "sdirk2"):
        assert_same_motion(closed, tree, state, integrator)


@pytest.mark.parametrize("integrator", CLOSING)
def test_a_loop_that_nothing_moves(integrator):
    """A triangle of bars stands still, and a link that hangs on it moves as if it hung on the ground."""
    bodies, link = links(3), hinge("j", "b1", "b2", 2 * X + Z)
    locked = vi.Mechanism("locked", bodies[:2], triangle(), gravity=GRAVITY)
    run = vi.redmax.simulate(locked, 0.2, dt=0.01, integrator=integrator)
    assert np.abs(run.position - run.position[0]).max() < 1e-9
    hung = vi.Mechanism("hung", bodies, [*triangle(), link], gravity=GRAVITY)
    alone = vi.Mechanism("alone", bodies[2:], [replace(link, body_a="world")], gravity=GRAVITY)
    runs = [
        vi.redmax.simulate(mechanism, 0.2, dt=0.01, integrator=integrator, state=mechanism.state(rates={"j": 2.0}))
        for mechanism in (hung, alone)
    ]
    np.testing.assert_allclose(runs[0].position[:, 2], runs[1].position[:, 0], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("friction", [False, True])
@pytest.mark.parametrize("case", ["door on two hinges", "door on a floating frame", "both hinges twice"])
def test_hard_stops_and_friction(case, friction):
    joints, copies = CASES[case]
    forces: list = [vi.JointStop("stop", joint="j", lower=-0.02, upper=0.02, restitution=0.5)]
    if friction:
        forces.append(vi.JointCoulombFriction("dry", joint="j", coefficient=0.3, radius=0.05))
    bodies = links(2 if "b1" in {joint.body_b for joint in joints} else 1)
    closed, tree = pair(bodies, joints, copies)
    state = tree.state(rates={"j": 0.7})
    runs = [
        vi.redmax.simulate(replace(mechanism, forces=forces), 0.2, dt=0.01, state=state, integrator="euler")
        for mechanism in (closed, tree)
    ]
    assert runs[1].force["stop"].any()
    np.testing.assert_allclose(*(run.position for run in runs), atol=1e-9)
    if friction:
        assert runs[1].force["dry"].any()
        np.testing.assert_allclose(*(run.force["dry"] for run in runs), atol=1e-6)
