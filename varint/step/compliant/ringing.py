"""Start values of Newton's iteration in steps whose compliant joints ring.

Stiff undamped rows oscillate at a few frequencies, the highest with a period of two steps. The third backward
differences u of the velocities consist mostly of this oscillation, and are extrapolated by linear prediction,

    u' = sum_j share_j u_j,    u_0 the last, u_1 the one before, ..., LAGS of them

The coefficients share_j are the same for all velocities, and fit the last FITTED u by least squares. The normal
equations need only the inner products of the u, of which each step adds one row. With the last velocity v and its
differences D, the start values are v + D v + D^2 v + u'.
"""

import math

from varint.base.numba import indirect, njit
from varint.step.compliant.records import FITTED, LAGS, RINGING
from varint.step.dense import lu_factor, lu_solve
from varint.step.plan import Plan, Workspace

WHAT = "joints with a compliance"
RIDGE = 1e-14  # of the trace of the normal equations, added to their diagonal


@indirect(seconds=2, what=WHAT)
def keep_ringing(plan: Plan, ws: Workspace) -> None:
    """Update ``ws.ringing`` after a step, from the third differences ``ws.history[:, RINGING]`` (stages, nb, 6)."""
    ringing, length = ws.ringing, plan.bodies.length[0]
    for stage in range(ringing.missed.size):
        change, product, share = ringing.change[stage], ringing.product[stage], ringing.share[stage]
        for n in range(LAGS + FITTED - 1, 0, -1):
            for j in range(LAGS + 1):
                product[n, j] = product[n - 1, j]
        for j in range(LAGS + 1):
            product[0, j] = 0.0
        missed = 0.0
        for i in range(change.shape[0]):
            for k in range(6):
                unit, value, u = 1.0 if k < 3 else length, ws.history[stage, RINGING, i, k], change[i, k]
                left = value
                for j in range(LAGS):
                    left -= share[j] * u[j]
                missed += (unit * left) ** 2
                for j in range(LAGS, 0, -1):
                    u[j] = u[j - 1]
                u[0] = value
                for j in range(LAGS + 1):
                    product[0, j] += unit * unit * value * u[j]
        ringing.missed[stage] = missed
        _fit(product, ringing.normal, share)


@njit
def _fit(product, normal, share):
    """Write the least-squares coefficients to ``share`` (LAGS,), zeros at rest.

    ``product`` (LAGS + FITTED, LAGS + 1): product[n, j] = u_n . u_(n+j). ``normal`` (LAGS, LAGS): scratch.
    """
    trace = 0.0
    for j in range(LAGS):
        share[j] = 0.0
        for k in range(j, LAGS):
            normal[j, k] = 0.0
            for n in range(FITTED):
                normal[j, k] += product[n + 1 + j, k - j]
            normal[k, j] = normal[j, k]
        for n in range(FITTED):
            share[j] += product[n, 1 + j]
        trace += normal[j, j]
    if not trace > 0.0:  # at rest
        return
    for j in range(LAGS):
        normal[j, j] += RIDGE * trace
    lu_factor(normal, LAGS)
    lu_solve(normal, LAGS, share)


@indirect(seconds=2, what=WHAT)
def extrapolate_ringing(ws: Workspace, stage: int, length: float, still: float) -> None:
    """Write the start values of Newton's iteration to ``ws.velocity``, from ``ws.history[stage]`` (n, nb, 6).

    They follow from the linear prediction if it would have predicted the last step better than all polynomials below,
    else, as after an impact and in the first steps, from the best of these: polynomials in the step number i, with or
    without a part of alternating sign. With the backward differences D of `step._extrapolate`, the start values that
    are exact for a polynomial of degree a - 1 plus (-1)^i times one of degree b - 1 (none for b = 0), and their errors
    at the last step, are

        b = 0    D^0 + ... + D^(a-1)                           D^a
        b = 1    D^0 + ... + D^(a-1) -   D^a                 2 D^a -   D^(a+1)
        b = 2    D^0 + ... + D^(a-1) - 3 D^a + D^(a+1)       4 D^a - 4 D^(a+1) + D^(a+2)

    The pair (a, b) of the least error is taken. ``length``, m, scales rad/s to m/s. If the norm of all last velocities
    is below ``still``, m/s, they are the start values.
    """
    history, velocity, ringing = ws.history[stage], ws.velocity, ws.ringing
    best, degree, times, scale = math.inf, 1, 0, 0.0
    for b in range(3):
        for a in range(1, history.shape[0] - b):
            size = scale = 0.0
            for i in range(velocity.shape[0]):
                for k in range(6):
                    missed = (1.0 if b == 0 else 2.0 * b) * history[a, i, k]
                    if b > 0:
                        missed -= (1.0 if b == 1 else 4.0) * history[a + 1, i, k]
                    if b == 2:
                        missed += history[a + 2, i, k]
                    unit = 1.0 if k < 3 else length
                    size += (unit * missed) ** 2
                    scale += (unit * history[0, i, k]) ** 2
            if size < best:
                best, degree, times = size, a, b
    predicts = ringing.missed[stage] < best
    if predicts:
        degree, times = RINGING, 0
    if scale < still * still:
        degree, times, predicts = 1, 0, False
    for i in range(velocity.shape[0]):
        for k in range(6):
            value = history[0, i, k]
            for j in range(1, degree):
                value += history[j, i, k]
            if times > 0:
                value -= (1.0 if times == 1 else 3.0) * history[degree, i, k]
            if times == 2:
                value += history[degree + 1, i, k]
            if predicts:
                for j in range(LAGS):
                    value += ringing.share[stage, j] * ringing.change[stage, i, k, j]
            velocity[i, k] = value
