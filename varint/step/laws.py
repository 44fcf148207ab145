"""The laws of a plan: efforts along sums of measures at a pose, and their derivatives (docs/theory.md section 10).

They are evaluated in maximal coordinates in the middle of a step, and at a node for records; in reduced coordinates at
a node or a stage.
"""

import numpy as np

from varint.base.numba import indirect, inner_sizes, natural, njit, switch
from varint.model.forces import LAWS
from varint.step.compliant.beams import SIZE, measure_beams
from varint.step.measures import measure_rate, weighted_measure
from varint.step.paths.measures import evaluate_paths
from varint.step.plan import EffortWork, Plan

LAW_NAMES = tuple(sorted(LAWS))
VECTORS, MATRICES = inner_sizes(3), inner_sizes(3, 3)
STATE_ITERATIONS = 50
SETTLED = 1e-15  # of max(1, |state|): a smaller increment ends the iteration
# columns of ``EffortWork.settled``: what the stored solution depends on (input, a_start, span), the solution (a, da/dt,
# 1 / (1 - span dflow/da)), and from KEY_NUMBERS on the flow's parameters, on which it depends too
KEY_INPUT, KEY_START, KEY_SPAN, KNOWN_STATE, KNOWN_FLOW, KNOWN_SHARE, KEY_NUMBERS = range(7)

_SOURCES = {
    "value": "value",
    "rate": "rate",
    "input": "given",
    "state": "state",
    "table": "plan.laws.table[plan.laws.table_first[f] : plan.laws.table_first[f + 1]]",
    "function": "work.function[f]",
}


def _tuple(parts):
    return f"({', '.join(parts)},)"


def _call(law, function):
    """Return the function and the code of a call of it."""
    places = {name: f"plan.laws.parameter[plan.laws.first[f] + {k}]" for k, name in enumerate(law.parameters)}
    arguments = law.call_arguments(function, _SOURCES | places)
    return function, f"function({', '.join(one if isinstance(one, str) else _tuple(one) for one in arguments)})"


_laws = [LAWS[name] for name in LAW_NAMES]
_GIVEN = "plan, work, f, value, rate, given"
_calls = {law.name: _call(law, law.effort) for law in _laws}
_plain_effort = switch("plain_effort", _GIVEN, [None if law.has_state else _calls[law.name] for law in _laws])
_FLOWING = f"{_GIVEN}, state"
_effort_with_state = switch(
    "effort_with_state", _FLOWING, [_calls[law.name] if law.has_state and not law.flow else None for law in _laws]
)
_effort_at_state = switch("effort_at_state", _FLOWING, [_calls[law.name] if law.flow else None for law in _laws])
_flow_alone = switch(
    "flow_alone",
    "plan, work, f, given, state",
    [_call(law, law.flow) if law.flow else None for law in _laws],
)
_FLOWS_ALONE = np.array([law.flow is not None for law in _laws])
_flow_places = [[law.parameters.index(name) for name in law.flow_parameters] for law in _laws]
# the parameters of a law's flow lie within _FLOW_FIRST : _FLOW_END of the law's
_FLOW_FIRST = np.array([min(places, default=0) for places in _flow_places])
_FLOW_END = np.array([max(places, default=-1) + 1 for places in _flow_places])
SETTLED_SIZE = KEY_NUMBERS + int((_FLOW_END - _FLOW_FIRST).max())


@njit
def _none():
    return 0.0


_potential = switch(
    "potential",
    "plan, f, value",
    [_call(law, law.potential) if law.potential else (_none, "function()") for law in _laws],
)
SPRING = LAW_NAMES.index("spring")
_spring, _spring_potential = LAWS["spring"].effort, LAWS["spring"].potential
TAKES_INPUT = np.array(["input" in law.arguments for law in _laws])
HAS_POTENTIAL = np.array([law.potential is not None for law in _laws])


@njit
def _settle(plan, work, f, input, span):
    """Solve for the internal variable of a law whose flow depends on it and the input alone, see `law_effort`.

    Writes to ``work.settled`` the internal variable a, its flow, and 1 / (1 - ``span`` dflow/da). The solution is used
    again as long as input, a_start, ``span`` and the flow's parameters are the same, that is in all iterations of a
    step; at a node, where ``span`` is zero, it is always calculated.
    """
    kind, s = natural(plan.laws.kind[f]), natural(plan.laws.state[f])
    first, parameter = natural(plan.laws.first[f]), plan.laws.parameter
    known, start, begin, end = work.settled[s], work.state[s], _FLOW_FIRST[kind], _FLOW_END[kind]
    same = span != 0.0 and known[KEY_SPAN] == span and known[KEY_INPUT] == input and known[KEY_START] == start
    for k in range(begin, end):
        same &= known[KEY_NUMBERS + natural(k - begin)] == parameter[first + natural(k)]
    if same:
        return
    state = start
    for _ in range(STATE_ITERATIONS):
        flow, slope = _flow_alone(kind, plan, work, f, input, state)
        change = (start + span * flow - state) / (1.0 - span * slope)
        state += change
        if not abs(change) > SETTLED * max(1.0, abs(state)):
            break
    flow, slope = _flow_alone(kind, plan, work, f, input, state)
    known[KEY_INPUT], known[KEY_START], known[KEY_SPAN] = input, start, span
    known[KNOWN_STATE], known[KNOWN_FLOW], known[KNOWN_SHARE] = state, flow, 1.0 / (1.0 - span * slope)
    for k in range(begin, end):
        known[KEY_NUMBERS + natural(k - begin)] = parameter[first + natural(k)]


@njit(inline="always")
def law_effort(plan, work, f, value, rate, span):
    """Return the effort of law f and its derivatives by value and rate, its internal variable solved for.

    ``value``, ``rate``: of its sum, m or rad, and per second; effort in N or N m. ``span``, s: see `other_law_effort`,
    which writes ``work.flow`` and ``work.by_state`` (states, 4) of laws with an internal variable.
    """
    if plan.laws.kind[f] == SPRING:  # most are, and a call among all laws takes longer than this one
        return _spring(value, rate, *_spring_numbers(plan, f))
    return other_law_effort(plan, work, f, value, rate, span)


@njit(inline="always")
def _spring_numbers(plan, f):
    """Return stiffness, rest and damping of law f, a spring."""
    first, parameter = natural(plan.laws.first[f]), plan.laws.parameter
    return parameter[first], parameter[first + 1], parameter[first + 2]


@indirect(seconds=1, what="forces")
def other_law_effort(
    plan: Plan, work: EffortWork, f: int, value: float, rate: float, span: float
) -> tuple[float, float, float]:
    """Return the effort of law f and its derivatives by value and rate, also through its internal variable.

    ``value``, ``rate``: of its sum, m or rad, and per second; effort in N or N m. The internal variable solves a =
    a_start + ``span`` da/dt, with da/dt at a and at this value, rate and input. ``span``, s: half of the step in
    maximal coordinates, the coefficient of da/dt in an implicit stage in reduced ones, zero at a node. Writes da/dt to
    ``work.flow`` (states,), and to ``work.by_state`` (states, 4) the derivative of the effort by a_start, and those of
    a_start + 2 ``span`` da/dt, its value at the end of the step, by a_start, value and rate.
    """
    input, s, kind = work.input[natural(plan.laws.element[f])], plan.laws.state[f], natural(plan.laws.kind[f])
    if s < 0:
        return _plain_effort(kind, plan, work, f, value, rate, input)
    s = natural(s)
    by_start = work.by_state[s]
    if _FLOWS_ALONE[kind]:
        _settle(plan, work, f, input, span)
        solved = work.settled[s]
        state, share = solved[KNOWN_STATE], solved[KNOWN_SHARE]
        effort, by_value, by_rate, by_state = _effort_at_state(kind, plan, work, f, value, rate, input, state)
        work.flow[s], by_start[0], by_start[1] = solved[KNOWN_FLOW], by_state * share, 2.0 * share - 1.0
        return effort, by_value, by_rate
    start = state = work.state[s]
    for _ in range(STATE_ITERATIONS):
        effort, by_value, by_rate, by_state, flow, flow_by_value, flow_by_rate, flow_by_state = _effort_with_state(
            kind, plan, work, f, value, rate, input, state
        )
        slope = 1.0 - span * flow_by_state
        change = (start + span * flow - state) / slope
        state += change
        if not abs(change) > SETTLED * max(1.0, abs(state)):
            break
    work.flow[s] = flow
    through = by_state * span / slope
    ends = 2.0 * span / slope
    by_start[0], by_start[1] = by_state / slope, 2.0 / slope - 1.0
    by_start[2], by_start[3] = ends * flow_by_value, ends * flow_by_rate
    return effort, by_value + through * flow_by_value, by_rate + through * flow_by_rate


@njit
def is_alone(plan, f):
    """Return whether the flow of the internal variable of law f depends on it and the input alone."""
    return _FLOWS_ALONE[plan.laws.kind[f]]


@njit
def flow_at_state(plan, work, f, value, rate, state):
    """Return the flow of the internal variable of law f at a ``state``, a number, and derivatives.

    ``value``, ``rate``: of its sum, m or rad, and per second. In order: effort by state, flow, flow by value, by rate
    and by state; the first is left out, zero, where the flow is one of `is_alone`.
    """
    input, kind = work.input[natural(plan.laws.element[f])], natural(plan.laws.kind[f])
    if _FLOWS_ALONE[kind]:
        flow, slope = _flow_alone(kind, plan, work, f, input, state)
        return 0.0, flow, 0.0, 0.0, slope
    _, _, _, by_state, flow, by_value, by_rate, slope = _effort_with_state(
        kind, plan, work, f, value, rate, input, state
    )
    return by_state, flow, by_value, by_rate, slope


@njit
def has_potential(plan, f):
    """Return whether law f has a potential."""
    return HAS_POTENTIAL[plan.laws.kind[f]]


@njit(inline="always")
def law_potential(plan, f, value):
    """Return the potential of law f, J, at a ``value`` of its sum, m or rad; zero for a law without one."""
    if plan.laws.kind[f] == SPRING:
        return _spring_potential(value, *_spring_numbers(plan, f))
    return _potential(plan.laws.kind[f], plan, f, value)


@njit(seconds=1, what="steps in maximal coordinates")
def evaluate_laws(plan, ws, position, rotation, velocity, span):
    """Evaluate all laws at a pose (nb + 1, 3), (nb + 1, 3, 3) with velocities (nb, 6).

    Writes to ``ws.efforts``: ``value`` (near ``value_near``) and, times its weight, ``gradient`` of measures;
    ``sum_value``, ``sum_rate``, ``sum_effort`` and its derivatives of sums; ``effort`` of elements and its derivatives,
    ``flow`` of internal variables. ``span``: see `law_effort`.
    """
    measure_beams(plan, ws, position, rotation)
    for first in plan.beams.sum:
        for k in range(SIZE):
            _evaluate_sum(plan, ws, natural(first + k), velocity, span)
    evaluate_other_laws(plan, ws, position, rotation, velocity, span)


@njit
def evaluate_other_laws(plan, ws, position, rotation, velocity, span):
    """Evaluate laws as `evaluate_laws`, without the elements of beams.

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3), ``velocity`` (nb, 6) and ``span`` as there. Values of
    measures go to ``ws.efforts.value``.
    """
    work, position, rotation = ws.efforts, VECTORS(position), MATRICES(rotation)
    if plan.paths.measure.size:
        evaluate_paths(plan, ws, position, rotation)
    for number in range(plan.rows.role.size, plan.measures.kind.size):
        m = natural(number)
        if plan.measures.fused[m]:
            continue
        work.value[m] = weighted_measure(plan, ws, m, work.value_near[m], position, rotation, work.gradient[m])
    for n in range(plan.laws.other.size):
        _evaluate_sum(plan, ws, natural(plan.laws.other[n]), velocity, span)


@njit(inline="always")
def _evaluate_sum(plan, ws, s, velocity, span):
    """Evaluate the laws along sum s, whose measures are known, with velocities (nb, 6)."""
    work = ws.efforts
    value = rate = 0.0
    for number in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
        m = natural(number)
        value += plan.measures.weight[m] * work.value[m]
        rate += measure_rate(plan, m, work.gradient[m], velocity)
    evaluate_along(plan, work, s, value, rate, span)


@njit(inline="always")
def evaluate_along(plan, work, s, value, rate, span):
    """Evaluate the laws along sum s, whose value and rate are known.

    ``value``, ``rate``: m or rad, and per second; ``span``, s: see `law_effort`. Writes entry s of ``work.sum_value``
    (ns,), ``sum_rate``, ``sum_effort``, ``sum_by_value`` and ``sum_by_rate``, and of its laws ``work.effort``,
    ``law_by_value`` and ``law_by_rate``.
    """
    effort = by_value = by_rate = 0.0
    for number in range(plan.laws.sum_law[s], plan.laws.sum_law[s + 1]):
        f = natural(number)
        of_law, own_by_value, own_by_rate = law_effort(plan, work, f, value, rate, span)
        work.effort[natural(plan.laws.element[f])] = of_law
        work.law_by_value[f], work.law_by_rate[f] = own_by_value, own_by_rate
        effort, by_value, by_rate = effort + of_law, by_value + own_by_value, by_rate + own_by_rate
    work.sum_value[s], work.sum_rate[s] = value, rate
    work.sum_effort[s], work.sum_by_value[s], work.sum_by_rate[s] = effort, by_value, by_rate
