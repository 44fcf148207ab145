"""Extended numbers against fractions, and stages that are solved with them against 60 digits of `decimal`."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from random_mechanisms import random_tree, random_velocity_state

import varint as vi
from varint.base.numba import apart, fma, four, njit
from varint.mathematics import double_double as extended
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme
from varint.step.measures import AXIS, DISTANCE, POINT
from varint.step.plan import JOINT

CLOSE = Fraction(1, 2**100)
DIGITS = 60


def exact(x):
    """The fraction that an extended number is."""
    return Fraction(x[0]) + Fraction(x[1])


def numbers_of(rng, *shape):
    """Random extended numbers, shape (..., 2)."""
    head = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    rest = head * rng.uniform(-0.5, 0.5, shape) * 2.0**-53
    return np.stack([head, rest], axis=-1)


def as_vector(numbers):
    """Extended numbers (3, 2) as an extended vector."""
    return tuple(map(float, numbers[:, 0])), tuple(map(float, numbers[:, 1]))


def fractions_of(vector):
    return [Fraction(a) + Fraction(b) for a, b in zip(*vector, strict=True)]


def test_sums_products_quotients_and_roots(rng):
    for numbers in numbers_of(rng, 300, 2):
        x, y = (tuple(map(float, each)) for each in numbers)
        a, b = exact(x), exact(y)
        assert abs(exact(extended.add(x, y)) - (a + b)) <= CLOSE * (abs(a) + abs(b))
        assert abs(exact(extended.sub(x, y)) - (a - b)) <= CLOSE * (abs(a) + abs(b))
        assert abs(exact(extended.times(x, y)) - a * b) <= CLOSE * abs(a * b)
        assert abs(exact(extended.divide(x, y)) - a / b) <= CLOSE * abs(a / b)
        if a > 0:
            assert abs(exact(extended.square_root(x)) ** 2 - a) <= 4 * CLOSE * a
        assert exact(extended.exact_sum(x[0], y[0])) == Fraction(x[0]) + Fraction(y[0])
        assert exact(extended.exact_product(x[0], y[0])) == Fraction(x[0]) * Fraction(y[0])


@pytest.mark.slow
def test_vectors(rng):
    for numbers in numbers_of(rng, 100, 5, 3):
        a, b = as_vector(numbers[0]), as_vector(numbers[1])
        (a0, a1, a2), (b0, b1, b2) = fractions_of(a), fractions_of(b)
        size = max(map(abs, (a0, a1, a2))) * max(map(abs, (b0, b1, b2)))
        assert abs(exact(extended.dot(a, b)) - (a0 * b0 + a1 * b1 + a2 * b2)) <= 8 * CLOSE * size
        expected = (a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0)
        for found, wanted in zip(fractions_of(extended.cross(a, b)), expected, strict=True):
            assert abs(found - wanted) <= 8 * CLOSE * size
        M = tuple(as_vector(row) for row in numbers[2:])
        of_matrix = [fractions_of(row) for row in M]
        size = max(abs(entry) for row in of_matrix for entry in row) * max(map(abs, (a0, a1, a2)))
        for rotated, rows in (
            (extended.rotate(M, a), of_matrix),
            (extended.rotate_back(M, a), list(zip(*of_matrix, strict=True))),
        ):
            for found, row in zip(fractions_of(rotated), rows, strict=True):
                assert abs(found - sum(x * y for x, y in zip(row, (a0, a1, a2), strict=True))) <= 8 * CLOSE * size


@pytest.mark.slow
def test_plain_numbers_times_vectors(rng):
    """The same bits as vectors whose rests are zero."""
    for numbers in numbers_of(rng, 100, 4, 3):
        plain, nothing, b = as_vector(numbers[0])[0], (0.0, 0.0, 0.0), as_vector(numbers[1])
        M = tuple(as_vector(row) for row in numbers[1:])
        assert extended.dot_plain(plain, b) == extended.dot((plain, nothing), b)
        assert extended.cross_plain(plain, b) == extended.cross((plain, nothing), b)
        assert extended.rotate_plain(M, plain) == extended.rotate(M, (plain, nothing))
        assert extended.scale_by_plain(plain[0], b) == extended.scale((plain[0], 0.0), b)


@pytest.mark.slow
def test_lanes_are_four_floats(rng):
    """Each operation on four numbers at once gives the bits that it gives for each of them."""

    @njit(cache=False)
    def on_lanes(x, y, out):
        a = four(x[0, 0], x[1, 0], x[2, 0], x[3, 0]), four(x[0, 1], x[1, 1], x[2, 1], x[3, 1])
        b = four(y[0, 0], y[1, 0], y[2, 0], y[3, 0]), four(y[0, 1], y[1, 1], y[2, 1], y[3, 1])
        c = extended.add(extended.times(a, b), extended.square_root(extended.times(b, b)))
        heads, rests = extended.sub((1.0, 0.0), extended.divide(c, (-b[0], -b[1])))
        heads, rests = apart(heads), apart(rests)
        for k in range(4):
            out[k, 0], out[k, 1] = heads[k], rests[k]

    @njit(cache=False)
    def on_floats(a, b):
        c = extended.add(extended.times(a, b), extended.square_root(extended.times(b, b)))
        return extended.sub((1.0, 0.0), extended.divide(c, (-b[0], -b[1])))

    x, y, out = numbers_of(rng, 4), numbers_of(rng, 4), np.zeros((4, 2))
    on_lanes(x, y, out)
    for a, b, found in zip(x.tolist(), y.tolist(), out.tolist(), strict=True):
        assert tuple(found) == on_floats(tuple(a), tuple(b))


def test_fused_multiply_add_rounds_once():
    @njit(cache=False)
    def fused(a, b, c):
        return fma(a, b, c)

    a, b = 1.0 + 2.0**-30, 1.0 - 2.0**-30
    assert a * b == 1.0
    assert fused(a, b, -1.0) == -(2.0**-60)


# --- stages -----------------------------------------------------------------------------------------------------------


def decimals(head, rest=None):
    """Decimals of an array, and of what rounding took off it."""
    rest = np.zeros_like(head) if rest is None else rest
    both = [Decimal(float(a)) + Decimal(float(b)) for a, b in zip(np.ravel(head), np.ravel(rest), strict=True)]
    return np.array(both, dtype=object).reshape(np.shape(head))


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dtype=object)


def rotation(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ],
        dtype=object,
    )


def poses(march):
    """Positions (nb, 3) and quaternions (nb, 4) at the present node, with their rests, as decimals."""
    ws, pose, nb = march.ws, march.pose, march.compiled.plan.bodies.mass.size
    position = decimals(ws.position[pose, :nb], ws.position_rest[pose])
    return position, decimals(ws.quat[pose, :nb], ws.quat_rest[pose])


def open_rows(march):
    """How far the rows of the joints are open, m or rad: the formulas of docs/theory.md section 2 in decimals."""
    plan = march.compiled.plan
    position, quat = poses(march)
    x = [*position, np.array([Decimal(0)] * 3, dtype=object)]
    R = [*(rotation(q) for q in quat), rotation([Decimal(1), Decimal(0), Decimal(0), Decimal(0)])]
    values = []
    for r in np.flatnonzero(plan.rows.role == JOINT):
        a, b = (plan.measures.body[r, s] for s in (plan.measures.first[r], 1 - plan.measures.first[r]))
        u, w, c = (decimals(getattr(plan.measures, name)[r]) for name in ("u", "w", "c"))
        apart, turned = R[a].T @ (x[b] - x[a]), R[a].T @ (R[b] @ w)
        kind = plan.measures.kind[r]
        if kind == POINT:
            values.append(u @ (apart + turned) - c.item())
        elif kind == AXIS:
            values.append(u @ turned)
        elif kind == DISTANCE:
            d = apart + turned - u
            values.append((d @ d - c.item() ** 2) / (2 * c.item()))
    assert values
    return max(abs(value) for value in values), max(abs(q @ q - 1) for q in quat)


def marched(mechanism, state, steps, order=6, dt=0.002):
    march = March(mechanism.compiled, scheme(order), dt, 1e-10, 1)
    march.start(state)
    for _ in range(steps):
        assert march.advance(1).substeps == 0
        assert march.ws.extended.used[0]
    return march


def wheel():
    """Its centre of mass is the origin: nothing has a size but the wheel itself."""
    body = vi.Body.cylinder("wheel", radius=0.3, length=0.1, mass=1.0)
    return vi.Mechanism("wheel", [body], [vi.Revolute("axle", "world", "wheel", point=(0, 0, 0), axis=(0, 0.6, 0.8))])


MECHANISMS = {
    "wheel": lambda rng: wheel(),
    "four-bar": lambda rng: vi.mechanisms.four_bar(),
    "jansen leg": lambda rng: vi.mechanisms.jansen_leg(),
    "tree": lambda rng: random_tree(rng, 5, kinds=("Revolute", "Spherical", "Universal", "Prismatic", "Rod")),
}


def a_start(name, rng):
    """One of `MECHANISMS`, and a state in which it moves."""
    mechanism = MECHANISMS[name](rng)
    return mechanism, random_velocity_state(rng, mechanism) if name in ("tree", "wheel") else mechanism.state()


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_joints_are_closed_beyond_plain_numbers(name, rng):
    mechanism, state = a_start(name, rng)
    with localcontext() as context:
        context.prec = DIGITS
        gap, norm = open_rows(marched(mechanism, state, 20))
        assert gap < 1e-18  # plain numbers leave 1e-16
        assert norm < 1e-28


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_steps_go_back_to_where_they_came_from(name, rng):
    mechanism, state = a_start(name, rng)
    with localcontext() as context:
        context.prec = DIGITS
        march = marched(mechanism, state, 20)
        before = poses(march)
        march.advance(10)
        # the motion turned round, with the values that Newton's method starts from
        for array in (march.ws.momentum, march.ws.momentum_rest, march.ws.velocity, march.ws.history):
            array *= -1.0
        march.advance(10)
        for now, then in zip(poses(march), before, strict=True):
            assert abs(now - then).max() < 1e-18


@pytest.mark.slow
def test_momenta_of_a_floating_chain_beyond_plain_numbers(rng):
    """No outer force: the sums over the bodies stay the same."""
    chain = vi.mechanisms.snake(n=4)
    march = March(chain.compiled, scheme(6), 0.01, 1e-10, 1)
    march.start(random_velocity_state(rng, chain))
    with localcontext() as context:
        context.prec = DIGITS

        def momenta():
            position, quat = poses(march)
            p = decimals(march.ws.momentum, march.ws.momentum_rest)
            turning = [cross(x, q[:3]) + rotation(r) @ q[3:] for x, r, q in zip(position, quat, p, strict=True)]
            return np.append(p[:, :3].sum(axis=0), np.sum(turning, axis=0))

        march.advance(1)
        first = momenta()
        march.advance(30)
        change = abs(momenta() - first).max()
        assert change < Decimal("1e-20") * abs(first).max()
