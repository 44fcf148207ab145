"""The gradient of a run by the motions that joints allow which are products of exponentials.

The share of these joints in a gradient is a sum over poses: of the values of their rows and of their gradients, each
with its dual (by_numbers.py). The poses and duals are kept, so that `holding` gives the sum for other motions too.
"""

from varint.base.numba import njit
from varint.mathematics.products.rows import product_row
from varint.mathematics.products.stages import count
from varint.step.dense import dot6
from varint.step.derivatives.operator import first_row
from varint.step.plan import JOINT


@njit
def keep_products(plan, ws, pose, body, velocity, row, shares, by):
    """Keep poses and duals of the rows of products at a pose, for the sum over these rows of

        (a ``ws.multiplier`` ``body`` + b ``row`` ``velocity``) . G + c ``row`` g,    ``shares`` = (a, b, c),

    with their gradients G and values g; ``body``, ``velocity`` (nb, 6), ``row`` (nr,). ``by``: a `ByProducts`; one that
    is full counts on in ``by.count``. Writes ``by.factor``, ``by.motion``, ``by.position``, ``by.rotation``, ``by.q``
    and ``by.order``.
    """
    products = plan.products
    for n in range(products.start.size):
        e = by.count[0]
        by.count[0] += 1
        if e >= by.factor.shape[0]:
            continue
        for i in range(6 - count(products.table, products.start[n])):
            r = products.row[n] + i
            if ws.released[r] > 0.0:
                continue
            by.factor[e, i] = shares[2] * row[r]
            for s in range(2):
                b = plan.measures.body[r, s]
                if b < plan.bodies.mass.size:
                    for a in range(6):
                        by.motion[e, i, s, a] = shares[0] * ws.multiplier[r] * body[b, a]
                        by.motion[e, i, s, a] += shares[1] * row[r] * velocity[b, a]
        _keep_coordinates(plan, ws, n, e, body, velocity, row, shares, by)
        for s in range(2):
            b = products.body[n, s]
            for a in range(3):
                by.position[e, s, a] = ws.position[pose, b, a]
                for c in range(3):
                    by.rotation[e, s, a, c] = ws.rotation[pose, b, a, c]
        for a in range(6):
            by.q[e, a], by.order[e, a] = ws.products.q[n, a], ws.products.order[n, a]


@njit
def _keep_coordinates(plan, ws, n, e, body, velocity, row, shares, by):
    """Keep duals of the constraints and one-sided rows along coordinates of joint n, which come after its rows.

    ``body``, ``velocity`` (nb, 6), ``row`` (nr,): see `keep_products`. Adds to ``by.factor`` and ``by.motion``.
    """
    products = plan.products
    for r in range(plan.rows.role.size):
        if plan.measures.product[r] != n or plan.rows.role[r] == JOINT or ws.released[r] > 0.0:
            continue
        i = 6 - count(products.table, products.start[n]) + int(plan.measures.c[r])
        weight = plan.measures.weight[r]
        by.factor[e, i] += weight * shares[2] * row[first_row(plan, r)]
        for end in range(2):
            b, s = products.body[n, end], products.side[n] if end == 0 else 1 - products.side[n]
            if b < plan.bodies.mass.size:
                for a in range(6):
                    by.motion[e, i, s, a] += weight * shares[0] * ws.multiplier[r] * body[b, a]
                    by.motion[e, i, s, a] += weight * shares[1] * row[r] * velocity[b, a]


@njit(seconds=3, what="derivatives of steps")
def holding(plan, ws, tape, stages, by, total):
    """Return ``total`` plus the sum that `keep_products` kept, with the motions of ``plan``; see `by_numbers.acting`.

    Writes ``ws.products.q`` and ``ws.products.order``.
    """
    products, work, by = plan.products, ws.products, by.products
    for e in range(min(by.count[0], by.factor.shape[0])):
        n = e % products.start.size
        for a in range(6):
            work.q[n, a], work.order[n, a] = by.q[e, a], by.order[e, a]
        side = products.side[n]
        first, second = ws.efforts.change[side], ws.efforts.change[1 - side]
        for i in range(6):  # coordinates come after the rows
            value = product_row(
                products, work, n, i, by.position[e, 0], by.rotation[e, 0], by.position[e, 1], by.rotation[e, 1],
                first, second,
            )  # fmt: skip
            total += by.factor[e, i] * value
            for s in range(2):
                total += dot6(by.motion[e, i, s], ws.efforts.change[s])
    return total
