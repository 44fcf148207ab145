"""FORMULA: a function that a user wrote of the poses of n bodies (mathematics/formulas/), m.

    g(x_1, R_1, ..., x_n, R_n),    one measure for each pair of its bodies, and one of the world and the first

Their sum has the value and the whole gradient: the first has the value, and all measures of a body have the same share
of the gradient by it, as the rows of a sum must not be zero to have one effort (step/closure_nodes.py). The curvature
of a pair has the mixed derivatives by its two bodies whole, and a share of those by one body twice. As the function may
say where bodies are, not only how they lie to each other, its row is one to the world: hence the measure with that.
What poses the function gets, and which part a measure is, stands in `plan.formulas`; there are no numbers.

FORMULA_RATE: a function that gives factors of velocities, m/s. It has a rate alone, and is split up likewise:

    gradient . velocities = sum_i a_i(x_1, R_1, ...) . x_i' + b_i(x_1, R_1, ...) . (R_i omega_i)
"""

from dataclasses import dataclass

from varint.base.numba import njit
from varint.mathematics.formulas.sweeps import (
    change_of_gradient,
    coefficients_of,
    evaluate_formula,
    gradient_of_pull,
    move_formula,
    pull_value,
    result_of,
)
from varint.mathematics.formulas.trace import Formula
from varint.mathematics.vectors import add, cross, scale, sub, vector, write
from varint.measures.base import Measure, Numbers, register

NO_CHANGE = 0.0, 0.0, 0.0


@njit
def formula(plan, ws, m, position, rotation, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py.

    ``position`` (nb + 1, 3), m, world, and ``rotation`` (nb + 1, 3, 3): poses of all bodies.
    """
    table, work, part = plan.formulas, ws.formulas, plan.formulas.part_of[m]
    f = table.formula[part]
    evaluate_formula(table, work, f, position, rotation)
    pull_value(table, work, f, 1.0, False)
    for k in range(6):
        G_a[k] = G_b[k] = 0.0
    for s in range(2):
        i = table.end[part, s]
        if i >= 0:
            linear, angular = gradient_of_pull(work.pull, i, rotation[table.body[table.body_first[f] + i]])
            write(G_a if s == 0 else G_b, scale(table.share[part, s], linear), scale(table.share[part, s], angular))
    return result_of(table, work, f, 0) if table.leads[part] else 0.0


@njit
def curve_formula(plan, ws, m, position, rotation, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py. ``position`` (nb + 1, 3), m, world, and ``rotation`` (nb + 1, 3, 3): poses of all bodies.
    """
    table, work, part = plan.formulas, ws.formulas, plan.formulas.part_of[m]
    f = table.formula[part]
    evaluate_formula(table, work, f, position, rotation)
    for k in range(6):
        out_a[k] = out_b[k] = 0.0
    for moved in range(2):
        if table.end[part, moved] < 0:
            continue
        motion = motions[0] if moved == 0 else motions[1]
        move_formula(table, work, f, rotation, table.end[part, moved], motion)
        for s in range(2):
            i = table.end[part, s]
            if i < 0:
                continue
            pull_value(table, work, f, table.share[part, s] if s == moved else 1.0, True)
            turn = vector(motion[3:]) if s == moved else NO_CHANGE
            R = rotation[table.body[table.body_first[f] + i]]
            linear, angular = change_of_gradient(work, i, R, turn)
            out = out_a if s == 0 else out_b
            write(out, add(vector(out), linear), add(vector(out[3:]), angular))


@njit
def formula_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by):
    """Return zero: there are no numbers to add derivatives of to ``by``, and its weight is always one."""
    return 0.0


@dataclass(frozen=True, eq=False)
class FormulaMeasure(Measure):
    """A part of the function ``formula`` of the poses of ``bodies``, see the top of this file.

    ``ends``: numbers of body a and body b among them, -1 for the world; ``share``: of the derivatives by either that it
    has; ``leads``: whether it has the value.
    """

    bodies: tuple[str, ...]
    formula: Formula
    ends: tuple[int, int]
    share: tuple[float, float]
    leads: bool

    rare = True
    bends = True
    of_three = True

    def numbers(self, A, x_a, B, x_b):
        return Numbers()


@dataclass(frozen=True, eq=False)
class PoseFormula(FormulaMeasure):
    """A value of poses, m."""

    kind = "formula"


register("formula", formula, curve_formula, formula_numbers, PoseFormula)


@njit
def formula_rate(plan, ws, m, position, rotation, G_a, G_b):
    """Return zero and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py.

    ``position`` (nb + 1, 3), m, world, and ``rotation`` (nb + 1, 3, 3): poses of all bodies.
    """
    table, work, part = plan.formulas, ws.formulas, plan.formulas.part_of[m]
    f = table.formula[part]
    evaluate_formula(table, work, f, position, rotation)
    for k in range(6):
        G_a[k] = G_b[k] = 0.0
    for s in range(2):
        i = table.end[part, s]
        if i >= 0:
            R = rotation[table.body[table.body_first[f] + i]]
            linear, angular = coefficients_of(table, work.value, f, i, R)
            write(G_a if s == 0 else G_b, scale(table.share[part, s], linear), scale(table.share[part, s], angular))
    return 0.0


@njit
def curve_formula_rate(plan, ws, m, position, rotation, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py. ``position`` (nb + 1, 3), m, world, and ``rotation`` (nb + 1, 3, 3): poses of all bodies.
    """
    table, work, part = plan.formulas, ws.formulas, plan.formulas.part_of[m]
    f = table.formula[part]
    evaluate_formula(table, work, f, position, rotation)
    for k in range(6):
        out_a[k] = out_b[k] = 0.0
    for moved in range(2):
        if table.end[part, moved] < 0:
            continue
        motion = motions[0] if moved == 0 else motions[1]
        move_formula(table, work, f, rotation, table.end[part, moved], motion)
        for s in range(2):
            i = table.end[part, s]
            if i < 0:
                continue
            R = rotation[table.body[table.body_first[f] + i]]
            linear, angular = coefficients_of(table, work.tangent, f, i, R)
            share = 1.0
            if s == moved:
                share = table.share[part, s]
                angular = sub(angular, cross(vector(motion[3:]), coefficients_of(table, work.value, f, i, R)[1]))
            out = out_a if s == 0 else out_b
            write(out, add(vector(out), scale(share, linear)), add(vector(out[3:]), scale(share, angular)))


@dataclass(frozen=True, eq=False)
class RateFormula(FormulaMeasure):
    """A rate of poses, m/s: six factors for each body, of its velocity and of its angular velocity in world axes."""

    kind = "formula_rate"
    of_rates = True
    stiffening = False


register("formula_rate", formula_rate, curve_formula_rate, formula_numbers, RateFormula)
