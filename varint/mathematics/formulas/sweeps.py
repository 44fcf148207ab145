"""Formulas at a pose: results, gradients by motions, and changes of both along motions, exact to round-off; compiled.

With operations v_n = f_n(v_a, v_b), a and b below n, the gradient of sum_k factor_k result_k goes down,

    pull_a += pull_n df_n/da,    pull_b += pull_n df_n/db,

and the change of it along a motion, where all v change by t_n = t_a df_n/da + t_b df_n/db, likewise,

    dpull_a += dpull_n df_n/da + pull_n (t_a d2f_n/da2 + t_b d2f_n/dadb).

A motion of a body is a translation, m, world, and a rotation vector, body axes; of the rotation matrix R it makes
R [theta]. With W = d/dR and U = R^T W, a gradient by rotations is sum_j e_j x u_j over the columns of U.
"""

from varint.base.numba import njit
from varint.mathematics.formulas.operations import CONSTANT, INPUT, apply_operation, bend_operation
from varint.mathematics.formulas.records import POSE
from varint.mathematics.vectors import cross, rotate_back, sub, vector


@njit
def evaluate_formula(table, work, f, position, rotation):
    """Evaluate formula f at a pose: write ``work.value`` and ``work.slope``.

    ``position`` (nb + 1, 3), m, world, ``rotation`` (nb + 1, 3, 3).
    """
    first = table.first[f]
    for n in range(table.first[f + 1] - first):
        code = table.operation[first + n, 0]
        if code == INPUT:
            i, k = table.body[table.body_first[f] + n // POSE], n % POSE
            work.value[n] = position[i, k] if k < 3 else rotation[i, (k - 3) // 3, (k - 3) % 3]
        elif code == CONSTANT:
            work.value[n] = table.constant[first + n]
        else:
            a, b = work.value[table.operation[first + n, 1]], work.value[table.operation[first + n, 2]]
            work.value[n], work.slope[n, 0], work.slope[n, 1] = apply_operation(code, a, b)


@njit
def result_of(table, work, f, k):
    """Return result k of formula f, numbers both, after `evaluate_formula`.

    ``table``: a `Formulas`; ``work``: its `FormulaWork`, of which ``value`` (operations,) is read.
    """
    return work.value[table.output[table.output_first[f] + k]]


@njit
def pull_results(table, work, f, bent):
    """Write the gradient of the sum of the results times ``work.factor`` (outputs,) to ``work.pull`` (operations,).

    ``table``: a `Formulas`; ``work``: its `FormulaWork`; ``f``: number of the formula.
    ``bent``: also its change along the motion in ``work.tangent`` to ``work.pull_change``, at constant factors.
    """
    first, size = table.first[f], table.first[f + 1] - table.first[f]
    for n in range(size):
        work.pull[n] = work.pull_change[n] = 0.0
    for k in range(table.output_first[f + 1] - table.output_first[f]):
        work.pull[table.output[table.output_first[f] + k]] += work.factor[k]
    for n in range(size - 1, -1, -1):
        code = table.operation[first + n, 0]
        if code in (INPUT, CONSTANT):
            continue
        a, b = table.operation[first + n, 1], table.operation[first + n, 2]
        pull, to_a, to_b = work.pull[n], work.slope[n, 0], work.slope[n, 1]
        work.pull[a] += pull * to_a
        work.pull[b] += pull * to_b
        if bent:
            aa, ab, bb = bend_operation(code, work.value[a], work.value[b], work.value[n], to_a)
            t_a, t_b, change = work.tangent[a], work.tangent[b], work.pull_change[n]
            work.pull_change[a] += change * to_a + pull * (aa * t_a + ab * t_b)
            work.pull_change[b] += change * to_b + pull * (ab * t_a + bb * t_b)


@njit
def pull_value(table, work, f, factor, bent):
    """Apply `pull_results` to a ``factor`` times the only result of formula f, by ``work.factor`` (results,)."""
    work.factor[0] = factor
    pull_results(table, work, f, bent)


@njit
def move_formula(table, work, f, rotation, i, motion):
    """Write the changes of all operations of formula f to ``work.tangent``, along the ``motion`` (6,) of its body i.

    ``rotation`` (nb + 1, 3, 3).
    """
    first, R = table.first[f], rotation[table.body[table.body_first[f] + i]]
    x, y, z = vector(motion[3:])
    for n in range(table.first[f + 1] - first):
        code, work.tangent[n] = table.operation[first + n, 0], 0.0
        if code == INPUT:
            k = n - POSE * i
            if 0 <= k < 3:
                work.tangent[n] = motion[k]
            elif 0 <= k - 3 < 9:
                row, column = (k - 3) // 3, (k - 3) % 3
                turned = (0.0, z, -y) if column == 0 else (-z, 0.0, x) if column == 1 else (y, -x, 0.0)
                work.tangent[n] = R[row, 0] * turned[0] + R[row, 1] * turned[1] + R[row, 2] * turned[2]
        elif code != CONSTANT:
            to_a, to_b = work.slope[n, 0], work.slope[n, 1]
            a, b = table.operation[first + n, 1], table.operation[first + n, 2]
            work.tangent[n] = work.tangent[a] * to_a + (work.tangent[b] * to_b if to_b != 0.0 else 0.0)


@njit
def _columns(pull, first, R):
    """Return the columns (3,) of R^T W, with R (3, 3) and W (3, 3) in ``pull`` (n,) from ``first`` on, row by row."""
    u = rotate_back(R, (pull[first], pull[first + 3], pull[first + 6]))
    v = rotate_back(R, (pull[first + 1], pull[first + 4], pull[first + 7]))
    return u, v, rotate_back(R, (pull[first + 2], pull[first + 5], pull[first + 8]))


@njit
def _turn(u, v, w):
    """Return sum_j e_j x u_j, (3,), of three columns ``u``, ``v``, ``w``, (3,) each."""
    return v[2] - w[1], w[0] - u[2], u[1] - v[0]


@njit
def gradient_of_pull(pull, i, R):
    """Return the gradient by motions of body i at R (3, 3), as two vectors (3,); ``pull`` (n,): see `FormulaWork`."""
    u, v, w = _columns(pull, POSE * i + 3, R)
    return (pull[POSE * i], pull[POSE * i + 1], pull[POSE * i + 2]), _turn(u, v, w)


@njit
def change_of_gradient(work, i, R, turn):
    """Return the change of `gradient_of_pull` of body i, which turns by ``turn`` (3,), rad, body axes."""
    linear, angular = gradient_of_pull(work.pull_change, i, R)
    u, v, w = _columns(work.pull, POSE * i + 3, R)
    return linear, sub(angular, _turn(cross(turn, u), cross(turn, v), cross(turn, w)))


@njit
def coefficients_of(table, values, f, i, R):
    """Return factors of the velocity of body i and, body axes, of its angular velocity, of a formula of rates.

    ``values`` (n,): of its operations, or their changes; R (3, 3).
    """
    at = table.output_first[f] + 6 * i
    linear = values[table.output[at]], values[table.output[at + 1]], values[table.output[at + 2]]
    angular = values[table.output[at + 3]], values[table.output[at + 4]], values[table.output[at + 5]]
    return linear, rotate_back(R, angular)
