"""Measures: gradients, exact curvature, and the fused rows, against differences and against each other."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from force_samples import with_forces, with_measure
from poses import moved, pose_of
from random_mechanisms import random_body, random_joint, unit
from scipy.spatial.transform import Rotation

import varint as vi
from varint.derivatives.numbers import differences
from varint.measures import KINDS, Numbers
from varint.model.joints import REGISTRY
from varint.model.joints.base import ProductJoint
from varint.step.configuration import follow_products
from varint.step.measures import (
    KIND_NAMES,
    add_by_numbers,
    curve_rows,
    measure_at,
    weighted_curvature,
    weighted_measure,
    weighted_value,
)
from varint.step.plan import JOINT
from varint.step.rows import evaluate_rows
from varint.step.workspace import by_numbers, joint_workspace, workspace

PRODUCTS = sorted(kind for kind, joint in REGISTRY.items() if issubclass(joint, ProductJoint))
OF_RATES = {name for name, kind in KINDS.items() if kind.facts.of_rates}  # they are no scalars: test_rolling.py
OF_TWO = sorted({name for name, kind in KINDS.items() if not kind.facts.of_three} - OF_RATES)  # others: test_wraps.py
SCALARS = sorted(set(OF_TWO) - {"product", "coordinate"})  # those of a product stand in its own table
OF_NUMBERS = sorted(set(SCALARS) - {"rim"})  # there is no gradient by the numbers of a wheel
STEP = 3e-4


def turned(R, w):
    """``R`` (3, 3) after a rotation vector in its own axes."""
    return R @ Rotation.from_rotvec(w).as_matrix()


def of_two(numbers, kind):
    """Plan, workspace and number of a measure of that kind, made of ``numbers``, between two bodies."""
    bodies = [random_body(np.random.default_rng(k), name) for k, name in enumerate(("a", "b"))]
    spring = vi.Spring("s", "a", "b", point_a=(0, 0, 0), point_b=(1, 0, 0), stiffness=1.0)
    joints = [vi.Free(f"free {name}", "world", name) for name in ("a", "b")]
    plan = vi.Mechanism("two", bodies, joints, forces=[spring]).compiled.plan
    m = int(plan.laws.sum_first[0])
    arrays = {name: np.array(getattr(plan.measures, name)) for name in ("kind", *vars(numbers))}
    for name, value in {"kind": KIND_NAMES.index(kind), **vars(numbers)}.items():
        arrays[name][m] = value
    plan = replace(plan, measures=replace(plan.measures, **arrays))
    return plan, joint_workspace(plan), m


def value_and_gradient(plan, ws, m, x, R):
    gradient = np.zeros((2, 6))
    return measure_at(plan, ws, m, x, R, gradient), plan.measures.weight[m] * gradient


def curvature(plan, ws, m, x, R):
    """K (12, 12): column j is the change of the gradient (2, 6) along unit motion j of its two bodies."""
    K, out = np.empty((12, 12)), np.empty((2, 6))
    for j in range(12):
        weighted_curvature(plan, ws, m, x, R, np.eye(12)[j].reshape(2, 6), out)
        K[:, j] = out.ravel()
    return K


def by_differences(plan, ws, m, x, R):
    """The gradient (12,) and K (12, 12), by differences of sixth order of value and gradient."""
    bodies = plan.measures.body[m]
    slope, K = np.zeros(12), np.zeros((12, 12))
    for j in range(12):
        side, k = divmod(j, 6)
        i = bodies[side]
        found = []
        for s in (1, -1, 2, -2, 3, -3):
            x_s, R_s = x.copy(), R.copy()
            if k < 3:
                x_s[i, k] += s * STEP
            else:
                R_s[i] = turned(R[i], s * STEP * np.eye(3)[k - 3])
            found.append(value_and_gradient(plan, ws, m, x_s, R_s))
        weight, period = plan.measures.weight[m], plan.measures.period[m]
        for ahead, behind, factor in zip(found[::2], found[1::2], (45, -9, 1), strict=True):
            change = ahead[0] - behind[0]
            if period:
                change = (change + 0.5 * period) % period - 0.5 * period
            slope[j] += factor * weight * change / (60 * STEP)
            K[:, j] += factor * (ahead[1] - behind[1]).ravel() / (60 * STEP)
    return slope, K


class Checked(NamedTuple):
    size: float
    by_differences: float
    by_symmetry: float


def check(plan, ws, m, x, R):
    """Gradient and curvature of measure m, and what the curvature is symmetric but for: size and relative errors."""
    gradient = value_and_gradient(plan, ws, m, x, R)[1].ravel()
    slope, differences = by_differences(plan, ws, m, x, R)
    K = curvature(plan, ws, m, x, R)
    assert np.abs(gradient - slope).max() < 1e-9 * (1.0 + np.abs(gradient).max())
    size = 1.0 + np.abs(K).max()
    assert np.abs(K - differences).max() < 1e-7 * size
    odd = K - K.T
    for s in range(2):
        a, b, c = gradient[6 * s + 3 : 6 * s + 6]
        odd[6 * s + 3 : 6 * s + 6, 6 * s + 3 : 6 * s + 6] -= [[0, -c, b], [c, 0, -a], [-b, a, 0]]
    assert np.abs(odd).max() < 1e-12 * size
    return Checked(size, np.abs(K - differences).max() / size, np.abs(odd).max() / size)


def random_pose(rng, nb):
    """Positions (nb + 1, 3) and rotations (nb + 1, 3, 3) anywhere, the world last."""
    x = np.vstack([rng.standard_normal((nb, 3)), np.zeros(3)])
    return x, np.concatenate([Rotation.random(nb, rng=rng).as_matrix(), np.eye(3)[None]])


def random_pair(rng, kind):
    """Numbers of a kind of measure and a pose of two bodies, one where it has a gradient."""
    numbers, (x, R) = random_numbers(rng), random_pose(rng, 2)
    plan, _, m = of_two(numbers, kind)
    a, b = np.roll(plan.measures.body[m], -plan.measures.first[m])
    while kind == "elevation" and abs(numbers.u @ R[a].T @ R[b] @ numbers.w) > 0.7:
        R[b] = Rotation.random(rng=rng).as_matrix()
    return numbers, x, R


def random_numbers(rng):
    rest = Rotation.random(rng=rng).as_matrix()
    return Numbers(u=unit(rng), v=rng.standard_normal(3), w=rng.standard_normal(3), c=rng.uniform(0.5, 1.5), rest=rest)


@pytest.mark.parametrize("kind", SCALARS)
def test_gradient_and_curvature_of_a_kind(kind, rng):
    for _ in range(10):
        numbers, x, R = random_pair(rng, kind)
        assert check(*of_two(numbers, kind), x, R).size > 1.01


def by_its_numbers(plan, ws, m, x, R, motion, factor):
    """The derivatives of the slope along ``motion`` (2, 6) plus ``factor`` times the value, by differences."""

    def found(name, k, share):
        arrays = {each: np.array(getattr(plan.measures, each)) for each in ("u", "v", "w", "c", "rest")}
        if name == "rest":
            arrays["rest"][m] = Rotation.from_rotvec(share * np.eye(3)[k]).as_matrix() @ arrays["rest"][m]
        elif name == "c":
            arrays["c"][m] += share
        else:
            arrays[name][m, k] += share
        value, gradient = value_and_gradient(replace(plan, measures=replace(plan.measures, **arrays)), ws, m, x, R)
        return float(np.sum(gradient * motion) + plan.measures.weight[m] * factor * value)

    sizes = {"u": 3, "v": 3, "w": 3, "c": 1, "rest": 3}
    return {
        name: [differences(lambda s, name=name, k=k: found(name, k, s), 2e-3) for k in range(size)]
        for name, size in sizes.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", OF_NUMBERS)
def test_derivatives_by_the_numbers_of_a_kind(kind, rng):
    for _ in range(5):
        numbers, x, R = random_pair(rng, kind)
        plan, ws, m = of_two(numbers, kind)
        motion, factor = rng.standard_normal((2, 6)), rng.standard_normal()
        value, gradient = value_and_gradient(plan, ws, m, x, R)
        by = by_numbers(plan, 0)
        add_by_numbers(plan, ws, m, x, R, motion, factor, value, by)
        exact = by_its_numbers(plan, ws, m, x, R, motion, factor)
        size = 1.0 + max(np.abs(each).max() for each in exact.values())
        for name, expected in exact.items():
            np.testing.assert_allclose(np.ravel(getattr(by, name)[m]), expected, atol=1e-7 * size, err_msg=name)
        along = np.sum(gradient * motion) / plan.measures.weight[m]
        assert by.weight[m] == pytest.approx(along + factor * value, rel=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-6, 9.9e-4, 1.01e-3, 0.1, 1.0, 2.5, 3.0])
def test_frame_at_rotations_from_zero_to_almost_half_a_turn(angle, rng):
    """The rotation vector, its limit at zero, both sides of where its series ends, and far from there."""
    for _ in range(5):
        numbers = random_numbers(rng)
        plan, ws, m = of_two(numbers, "frame")
        x, R = random_pose(rng, 2)
        first = plan.measures.first[m]
        a, b = plan.measures.body[m, first], plan.measures.body[m, 1 - first]
        rotation = angle * unit(rng)
        R[b] = R[a] @ Rotation.from_rotvec(rotation).as_matrix() @ numbers.rest
        value, _ = value_and_gradient(plan, ws, m, x, R)
        shift = numbers.u @ R[a].T @ (x[b] + R[b] @ numbers.w - x[a]) - numbers.c
        assert value == pytest.approx(shift + numbers.v @ rotation, abs=1e-13)
        check(plan, ws, m, x, R)


def test_length_of_zero_bends_as_the_vector_between_its_points(rng):
    """No direction there: the curvature is that of the vector, to be taken times the slope of an effort."""
    numbers = random_numbers(rng)
    plan, ws, m = of_two(numbers, "length")
    x, R = random_pose(rng, 2)
    a, b = (plan.measures.body[m, side] for side in (plan.measures.first[m], 1 - plan.measures.first[m]))
    R[a] = R[b] = np.eye(3)  # where the points are the same to the last bit
    x[b], x[a] = 0.0, 0.0
    arrays = {name: np.array(getattr(plan.measures, name)) for name in ("u", "w")}
    arrays["u"][m] = arrays["w"][m] = (0.25, -0.5, 0.75)
    plan = replace(plan, measures=replace(plan.measures, **arrays))
    value, gradient = value_and_gradient(plan, ws, m, x, R)
    assert value == 0.0
    assert not gradient.any()
    arm = arrays["u"][m]
    cross = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    D = np.zeros((3, 12))  # of the vector, by the motions
    for body, sign in ((a, -1.0), (b, 1.0)):
        side = list(plan.measures.body[m]).index(body)
        D[:, 6 * side : 6 * side + 3], D[:, 6 * side + 3 : 6 * side + 6] = sign * np.eye(3), -sign * cross
    assert np.abs(curvature(plan, ws, m, x, R) - D.T @ D).max() < 1e-15


def one_of_each_joint(rng):
    """A body on each kind of joint, alternately b and a of it, with forces that need every kind of measure."""
    bodies = [random_body(rng, "base")]
    joints = [random_joint(rng, "Free", "base", "world", "base", bodies[0].position)]
    for k, kind in enumerate(sorted(REGISTRY)):
        bodies.append(random_body(rng, kind))
        ends = ("base", kind) if k % 2 else (kind, "base")
        joints.append(random_joint(rng, kind, kind, *ends, bodies[-1].position + 0.5 * unit(rng)))
    mechanism = vi.Mechanism("one of each joint", bodies, joints)
    names = [body.name for body in bodies]
    coordinates = with_measure(mechanism)
    forces = [vi.Motor(f"{j} {k}", joint=j, coordinate=k, effort=0.0) for j, k in coordinates]
    forces.append(vi.Motor("pitch", joint="Spherical", coordinate=1, angles="xyz", effort=0.0))
    forces.append(vi.Coupling("sum", terms=[(*coordinates[k], factor) for k, factor in ((0, 2.0), (-1, -0.7))]))
    for k, (a, b) in enumerate([("world", names[1]), (names[2], names[3]), (names[4], "world")]):
        p, q = rng.standard_normal((2, 3))
        forces.append(vi.Spring(f"spring {k}", a, b, point_a=p, point_b=q, stiffness=1.0))
        if a != "world":
            forces.append(vi.Bushing(f"bushing {k}", a, b, point=p, stiffness=np.ones(6)))
            forces.append(vi.BeamElement(f"element {k}", a, b, point_a=p, point_b=q, stiffness=np.ones(6)))
    return with_forces(mechanism, *forces)


def near_its_joints(rng, mechanism, plan):
    """A pose, in the order of the kernel, in which every joint is slightly open, and a workspace that knows it."""
    x, R = pose_of(mechanism.state())
    order, ws = np.append(mechanism.compiled.order, -1), workspace(plan)
    seen = (np.ascontiguousarray(part[order]) for part in (x, R))
    follow_products(plan, ws, *seen)
    x, R = moved(x, R, *(0.1 * rng.standard_normal((2, len(mechanism.bodies), 3))))
    return ws, np.ascontiguousarray(x[order]), np.ascontiguousarray(R[order])


@pytest.mark.slow
def test_measures_of_a_mechanism(rng):
    """Rows and measures of forces: every kind, both orders of the sides, the world, weights."""
    mechanism = one_of_each_joint(rng)
    plan = mechanism.compiled.plan
    assert {KIND_NAMES[k] for k in plan.measures.kind} == set(OF_TWO) - {"rim"}
    assert {*plan.measures.first.tolist()} == {0, 1}
    assert (plan.measures.weight != 1.0).any()
    ws, x, R = near_its_joints(rng, mechanism, plan)
    for m in range(plan.measures.kind.size):
        along = np.ix_([0, 1, 2, 6, 7, 8], [0, 1, 2, 6, 7, 8])
        assert KINDS[KIND_NAMES[plan.measures.kind[m]]].facts.bends or not curvature(plan, ws, m, x, R)[along].any()
        if plan.measures.body[m].max() < plan.bodies.mass.size:
            check(plan, ws, m, x, R)
        value, alone = (of(plan, ws, m, 7.0, x, R, np.zeros((2, 6))) for of in (weighted_measure, weighted_value))
        assert alone == pytest.approx(value, abs=1e-14)
    for m in np.flatnonzero(plan.measures.body.max(axis=1) == plan.bodies.mass.size):
        gradient = value_and_gradient(plan, ws, m, x, R)[1].ravel()
        slope, differences = by_differences(plan, ws, m, x, R)
        K = curvature(plan, ws, m, x, R)
        assert np.abs(gradient - slope).max() < 1e-9 * (1.0 + np.abs(gradient).max())
        assert np.abs(K - differences).max() < 1e-7 * (1.0 + np.abs(K).max())


@pytest.mark.parametrize("ends", [("one", "two"), ("two", "one"), ("world", "one")], ids="-".join)
@pytest.mark.parametrize("kind", PRODUCTS)
def test_rows_of_products_at_large_poses(kind, ends, rng):
    """The bodies anywhere, the joint open by a tenth: the coordinates that the rows solve for are far from known."""
    for _ in range(3):
        bodies = [random_body(rng, name) for name in ("one", "two") if name in ends]
        mechanism = vi.Mechanism("pair", bodies, [random_joint(rng, kind, "j", *ends, rng.standard_normal(3))])
        plan, joint = mechanism.compiled.plan, mechanism.joints[0]
        q = rng.uniform(0.2, 0.8, joint.dof)
        state = mechanism.state(coordinates={"j": q})
        order, ws = np.append(mechanism.compiled.order, -1), workspace(plan)
        x, R = pose_of(state)
        whole = Rotation.random(rng=rng).as_matrix()
        if "world" not in ends:
            x, R = x @ whole.T, whole @ R
            R[-1], x[-1] = np.eye(3), 0.0
        follow_products(plan, ws, *(np.ascontiguousarray(part[order]) for part in (x, R)))
        x, R = moved(x, R, *(0.1 * rng.standard_normal((2, len(bodies), 3))))
        x, R = (np.ascontiguousarray(part[order]) for part in (x, R))
        assert (plan.measures.product == 0).sum() == 6 - joint.dof
        for m in np.flatnonzero(plan.measures.product == 0):
            check(plan, ws, m, x, R)


@pytest.mark.slow
def test_fused_rows_are_the_measures_of_the_table(rng):
    """step/rows.py writes points, axes and distances once more, for a joint at a time."""
    mechanism = one_of_each_joint(rng)
    plan = mechanism.compiled.plan
    ws, x, R = near_its_joints(rng, mechanism, plan)
    g, jacobian = np.zeros(plan.rows.role.size), np.zeros((plan.rows.role.size, 2, 6))
    ws.efforts.value_near[:] = 0.0
    evaluate_rows(plan, ws, x, R, g, jacobian)
    of_joints = np.flatnonzero(plan.rows.role == JOINT)
    assert {KIND_NAMES[plan.measures.kind[r]] for r in of_joints} == {"point", "axis", "distance", "product"}
    for r in of_joints:
        value, gradient = value_and_gradient(plan, ws, r, x, R)
        assert g[r] == pytest.approx(value, abs=1e-14)
        assert np.abs(jacobian[r] - gradient).max() < 1e-14 * (1.0 + np.abs(gradient).max())
    # a constraint's value is the weighted sum of its measures, in its first row
    first, size = plan.constraints.row[0], plan.constraints.size[0]
    gradient, total = np.zeros((2, 6)), 0.0
    for r in range(first, first + size):
        total += plan.measures.weight[r] * weighted_measure(plan, ws, r, 0.0, x, R, gradient)
        assert np.abs(jacobian[r] - gradient).max() < 1e-14 * (1.0 + np.abs(gradient).max())
    assert g[first] == pytest.approx(total, abs=1e-14)
    assert not g[first + 1 : first + size].any()


def test_curvature_of_rows_along_a_motion_of_all_bodies(rng):
    mechanism = one_of_each_joint(rng)
    plan = mechanism.compiled.plan
    ws, x, R = near_its_joints(rng, mechanism, plan)
    motion = rng.standard_normal((plan.bodies.mass.size, 6))
    rows = np.arange(plan.rows.role.size)
    out = np.empty((rows.size, 2, 6))
    curve_rows(plan, ws, rows, x, R, motion, out)
    with_world = np.vstack([motion, np.zeros(6)])
    for r in rows:
        own = curvature(plan, ws, r, x, R) @ with_world[plan.measures.body[r]].ravel()
        expected = 0.0 if ws.released[r] > 0.0 else own
        assert np.abs(out[r].ravel() - expected).max() < 1e-12 * (1.0 + np.abs(own).max())
