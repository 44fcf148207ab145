"""The measures of a plan at a pose: values, gradients and curvature, whatever their kinds (measures/)."""

from typing import Any

import numpy as np

from varint.base.numba import Float1, Float2, Float3, call_back, indirect, natural, njit, switch
from varint.mathematics.vectors import continued, cross, dot, turn_of, vector
from varint.measures import KINDS, number_of
from varint.measures.angle import angle, angle_value
from varint.measures.base import Kind
from varint.step.dense import dot6
from varint.step.plan import Plan, Workspace

KIND_NAMES = tuple(sorted(KINDS))
ANGULAR = np.array([KINDS[name].facts.angular for name in KIND_NAMES])  # whether the unit of a kind is rad
BENDS = np.array([KINDS[name].facts.bends for name in KIND_NAMES])  # see measures/base.py
POINT, AXIS, DISTANCE = number_of("point"), number_of("axis"), number_of("distance")  # of the fused rows, see rows.py
ANGLE = number_of("angle")

Motions = tuple[Float1, Float1]


def _pointers(kind: Kind) -> tuple[Any, Any]:
    """Return the value and the curvature of a rare kind as functions that are called through pointers."""
    value, change = kind.evaluate, kind.curve
    if kind.facts.of_three:

        def evaluate(
            plan: Plan, ws: Workspace, m: int, position: Float2, rotation: Float3, G_a: Float1, G_b: Float1
        ) -> float:
            return value(plan, ws, m, position, rotation, G_a, G_b)

        def curve(
            plan: Plan, ws: Workspace, m: int, position: Float2, rotation: Float3, motions: Motions,
            out_a: Float1, out_b: Float1,
        ) -> None:  # fmt: skip
            change(plan, ws, m, position, rotation, motions, out_a, out_b)

    else:

        def evaluate(
            plan: Plan, ws: Workspace, m: int, x_a: Float1, A: Float2, x_b: Float1, B: Float2,
            G_a: Float1, G_b: Float1,
        ) -> float:  # fmt: skip
            return value(plan, ws, m, x_a, A, x_b, B, G_a, G_b)

        def curve(
            plan: Plan, ws: Workspace, m: int, x_a: Float1, A: Float2, x_b: Float1, B: Float2, motions: Motions,
            out_a: Float1, out_b: Float1,
        ) -> None:  # fmt: skip
            change(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b)

    for function in (evaluate, curve):
        function.__name__ = function.__qualname__ = f"{function.__name__}_{kind.name}"
    label = f"measures of the kind '{kind.name}'"
    return indirect(evaluate, seconds=1, what=label), indirect(curve, seconds=1, what=label)


_kinds = [KINDS[name] for name in KIND_NAMES]
_POINTERS = {n: _pointers(kind) for n, kind in enumerate(_kinds) if kind.facts.rare}
RARE_KINDS = tuple(function for functions in _POINTERS.values() for function in functions)
_FUNCTIONS = [_POINTERS.get(n, (kind.evaluate, kind.curve)) for n, kind in enumerate(_kinds)]


def prepare_kinds(plan: Plan) -> None:
    """Compile, or load, the functions of the rare kinds that a plan has."""
    for kind, functions in _POINTERS.items():
        if kind in plan.measures.kind:
            for function in functions:
                function.prepare()


_AT = "plan, ws, m, x_a, A, x_b, B"
_POSES, _ALONG = "position, rotation", "motions, out_a, out_b"
_evaluate = switch(
    "evaluate",
    f"{_AT}, {_POSES}, G_a, G_b",
    [
        (value, f"function(plan, ws, m, {_POSES}, G_a, G_b)" if k.facts.of_three else f"function({_AT}, G_a, G_b)")
        for k, (value, _) in zip(_kinds, _FUNCTIONS, strict=True)
    ],
)
_curve = switch(
    "curve",
    f"{_AT}, {_POSES}, {_ALONG}",
    [
        (change, f"function(plan, ws, m, {_POSES}, {_ALONG})" if k.facts.of_three else f"function({_AT}, {_ALONG})")
        for k, (_, change) in zip(_kinds, _FUNCTIONS, strict=True)
    ],
)

_TRANSPOSED = "plan, m, A, B, pull, out_a, out_b"
_transposed = switch(
    "transposed", _TRANSPOSED, [(k.transposed, f"function({_TRANSPOSED})") if k.transposed else None for k in _kinds]
)
OWN_TRANSPOSE = np.array([kind.transposed is not None for kind in _kinds])  # see measures/base.py
_NUMBERS = "plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by"
_by_numbers = switch(
    "by_numbers", _NUMBERS, [(k.by_numbers, f"function({_NUMBERS})") if k.by_numbers else None for k in _kinds]
)


@njit
def measure_at(plan, ws, m, position, rotation, gradient):
    """Return the value of measure m at a pose, an angle in [-pi, pi]; write its ``gradient`` (2, 6) by side.

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3).
    """
    first = plan.measures.first[m]
    a, b = plan.measures.body[m, first], plan.measures.body[m, 1 - first]
    if plan.measures.kind[m] == ANGLE:  # most are angles, and a call among all kinds takes as long as to find one
        a, b, first, last = natural(a), natural(b), natural(first), natural(1 - first)
        return angle(plan, ws, m, position[a], rotation[a], position[b], rotation[b], gradient[first], gradient[last])
    return _evaluate(
        plan.measures.kind[m], plan, ws, m, position[a], rotation[a], position[b], rotation[b],
        position, rotation, gradient[first], gradient[1 - first],
    )  # fmt: skip


@njit
def mapped_value(ws, m, value):
    """Return (value, slope, curvature) of the user's function of measure m at ``value``.

    Where there is no such function: (``value``, 1, 0).
    """
    address = ws.efforts.mapped[m]
    if address == 0:
        return value, 1.0, 0.0
    return call_back(address, value, 0.0)


@njit
def weighted_measure(plan, ws, m, near, position, rotation, gradient):
    """Return `measure_at`, an angle with the turns that bring it nearest to ``near``; the gradient times the weight.

    Where there is a user's function of the measure, its value and gradient. ``position`` (nb + 1, 3), ``rotation``
    (nb + 1, 3, 3): of the pose; ``gradient`` (2, 6): written, by side.
    """
    value = continued(plan.measures.period[m], near, measure_at(plan, ws, m, position, rotation, gradient))
    value, slope, _ = mapped_value(ws, m, value)
    weight = plan.measures.weight[m] * slope
    if weight != 1.0:
        for s in range(2):
            for k in range(6):
                gradient[s, k] *= weight
    return value


@njit(inline="always")
def weighted_value(plan, ws, m, near, position, rotation, scratch):
    """Return the value of `weighted_measure`; its gradient, where it is not left out, is in ``scratch`` (2, 6).

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3).
    """
    if plan.measures.kind[m] != ANGLE or ws.efforts.mapped[m] != 0:
        return weighted_measure(plan, ws, m, near, position, rotation, scratch)
    first = natural(plan.measures.first[m])
    a, b = natural(plan.measures.body[m, first]), natural(plan.measures.body[m, natural(1 - first)])
    return continued(plan.measures.period[m], near, angle_value(plan, m, rotation[a], rotation[b]))


@njit
def weighted_curvature(plan, ws, m, position, rotation, motion, out):
    """Write the change of the weighted gradient along ``motion`` (2, 6) of the two bodies to ``out`` (2, 6), by side.

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3). That of a third body is in ``ws.efforts.third``, see
    `take_third`.
    """
    first = plan.measures.first[m]
    a, b = plan.measures.body[m, first], plan.measures.body[m, 1 - first]
    _curve(
        plan.measures.kind[m], plan, ws, m, position[a], rotation[a], position[b], rotation[b],
        position, rotation, (motion[first], motion[1 - first]), out[first], out[1 - first],
    )  # fmt: skip
    weight = plan.measures.weight[m]
    if ws.efforts.mapped[m] != 0:
        gradient, along = ws.efforts.slope, 0.0
        value = measure_at(plan, ws, m, position, rotation, gradient)
        value = continued(plan.measures.period[m], ws.efforts.value_near[m], value)
        _, slope, bend = mapped_value(ws, m, value)
        for s in range(2):
            along += dot6(gradient[s], motion[s])
        for s in range(2):
            for k in range(6):
                out[s, k] = slope * out[s, k] + bend * along * gradient[s, k]
    for s in range(2):
        for k in range(6):
            out[s, k] *= weight


@njit
def transposed_curvature(plan, m, rotation, motion, out):
    """Write the transpose of `weighted_curvature` along ``motion`` (2, 6) to ``out`` (2, 6), for `OWN_TRANSPOSE`.

    ``rotation`` (nb + 1, 3, 3).
    """
    first = plan.measures.first[m]
    a, b = plan.measures.body[m, first], plan.measures.body[m, 1 - first]
    pull = motion[first], motion[1 - first]
    _transposed(plan.measures.kind[m], plan, m, rotation[a], rotation[b], pull, out[first], out[1 - first])
    for s in range(2):
        for k in range(6):
            out[s, k] *= plan.measures.weight[m]


@njit
def curve_transposed(plan, ws, m, position, rotation, gradient, motion, out):
    """Write the transposed curvature of measure m times ``motion`` (2, 6) to ``out`` (2, 6).

    K z - (0, g_theta x z_theta) with z the motion and g the ``gradient`` (2, 6) of the measure.
    """
    if OWN_TRANSPOSE[plan.measures.kind[m]]:  # its gradient is that of no scalar
        transposed_curvature(plan, m, rotation, motion, out)
        return
    weighted_curvature(plan, ws, m, position, rotation, motion, out)
    for s in range(2):
        lever = cross(vector(gradient[s, 3:]), vector(motion[s, 3:]))
        for k in range(3):
            out[s, 3 + k] -= lever[k]


@njit
def pair_of(plan, m, vectors, out):
    """Copy vectors of the two bodies of measure m, of ``vectors`` (nb, 6), to ``out`` (2, 6); zero for the world."""
    for s in range(2):
        i = plan.measures.body[m, s]
        for k in range(6):
            out[s, k] = vectors[i, k] if i < vectors.shape[0] else 0.0


@njit
def take_third(plan, work, m, vectors):
    """Copy the vector of the third body of measure m, of ``vectors`` (nb, 6), to ``work.third``; zero for the world."""
    i = plan.measures.third[m]
    if i >= 0:
        for k in range(6):
            work.third[k] = vectors[i, k] if i < vectors.shape[0] else 0.0


@njit
def add_by_numbers(plan, ws, m, position, rotation, motion, factor, value, by):
    """Add to ``by`` the derivatives of the weighted measure along ``motion`` (2, 6) plus ``factor`` times itself.

    By its numbers and, in ``by.weight``, its weight. ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3). ``value``:
    of the measure, not weighted, with its turns. Not for rows of products of exponentials and wraps.
    """
    if plan.measures.product[m] >= 0 or plan.measures.third[m] >= 0:
        return
    first, weight = plan.measures.first[m], plan.measures.weight[m]
    a, b = plan.measures.body[m, first], plan.measures.body[m, 1 - first]
    along = _by_numbers(
        plan.measures.kind[m], plan, ws, m, position[a], rotation[a], position[b], rotation[b],
        (motion[first], motion[1 - first]), factor, weight, by,
    )  # fmt: skip
    by.weight[m] += along + factor * value


@njit(seconds=1, what="the diagnosis of poses")
def curve_rows(plan, ws, rows, position, rotation, motion, out):
    """Write `weighted_curvature` of ``rows`` (m,) to ``out`` (m, 2, 6), along ``motion`` (nb, 6).

    Zero for released rows, as of efforts. Scratch: ``ws.efforts.motion``.
    """
    ends = ws.efforts.motion
    for n in range(rows.size):
        r = rows[n]
        if ws.released[r] > 0.0:
            out[n] = 0.0
            continue
        for s in range(2):
            i = plan.measures.body[r, s]
            for k in range(6):
                ends[s, k] = motion[i, k] if i < motion.shape[0] else 0.0
        weighted_curvature(plan, ws, r, position, rotation, ends, out[n])


@njit(inline="always")
def measure_rate(plan, m, gradient, velocity):
    """Return `rate_of` of measure m; translations do not change angles.

    ``gradient`` (2, 6): by side; ``velocity`` (nb, 6): of the bodies.
    """
    if plan.measures.kind[m] != ANGLE:
        return rate_of(plan.measures.body[m], gradient, velocity)
    rate = 0.0
    for s in range(2):
        i = natural(plan.measures.body[m, s])
        if i < velocity.shape[0]:
            rate += dot(turn_of(gradient[s]), turn_of(velocity[i]))
    return rate


@njit
def rate_of(body, gradient, velocity):
    """Return the rate of a measure of two bodies with that gradient (2, 6), at ``velocity`` (nb, 6).

    ``body`` (2,): slots, nb for the world.
    """
    rate = 0.0
    for s in range(2):
        i = natural(body[s])
        if i < velocity.shape[0]:
            rate += dot6(gradient[s], velocity[i])
    return rate
