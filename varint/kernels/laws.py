"""The laws of a plan: efforts along sums of measures at a pose, and their derivatives (docs/theory.md section 10).

The variational integrator asks for them in the middle of a step, the reduced form at a node or the end of a stage.
"""

from varint._dispatch import switch
from varint._jit import njit
from varint.kernels.measures import rate_of, weighted_measure
from varint.model.forces import LAWS

LAW_NAMES = tuple(sorted(LAWS))
STATE_ITERATIONS = 50
SETTLED = 1e-15  # of a state, or one

_SOURCES = {
    "value": "value",
    "rate": "rate",
    "input": "given",
    "state": "state",
    "table": "plan.table[plan.law_table[f] : plan.law_table[f + 1]]",
    "function": "ws.law_function[f]",
}


def _call(law, wanted):
    places = {name: f"plan.law_parameter[plan.law_first[f] + {k}]" for k, name in enumerate(law.parameters)}
    return f"function({', '.join((_SOURCES | places)[name] for name in wanted)})"


def _effort_call(law):
    call = _call(law, law.arguments)
    return call if law.has_state else f"(*{call}, 0.0, 0.0, 0.0, 0.0, 0.0)"


_laws = [LAWS[name] for name in LAW_NAMES]
_effort = switch(
    "effort", "plan, ws, f, value, rate, given, state", [(law.effort, _effort_call(law)) for law in _laws], "(0.0,) * 8"
)
_potential = switch(
    "potential",
    "plan, f, value",
    [(law.potential, _call(law, law.potential_arguments)) if law.potential else (None, "0.0") for law in _laws],
    "0.0",
)


@njit
def law_effort(plan, ws, f, value, rate, span):
    """Effort of law f and its derivatives by value and rate, those through its own state included.

    The state a is that of the start plus ``span`` times its flow da/dt here, solved for where the flow depends on it.
    """
    given, s = ws.input[plan.law_element[f]], plan.law_state[f]
    if s < 0:
        effort, by_value, by_rate, _, _, _, _, _ = _effort(plan.law_kind[f], plan, ws, f, value, rate, given, 0.0)
        return effort, by_value, by_rate
    start = state = ws.law_state[s]
    for _ in range(STATE_ITERATIONS):
        effort, by_value, by_rate, by_state, flow, flow_by_value, flow_by_rate, flow_by_state = _effort(
            plan.law_kind[f], plan, ws, f, value, rate, given, state
        )
        slope = 1.0 - span * flow_by_state
        change = (start + span * flow - state) / slope
        state += change
        if not abs(change) > SETTLED * max(1.0, abs(state)):
            break
    ws.law_flow[s] = flow
    through = by_state * span / slope
    return effort, by_value + through * flow_by_value, by_rate + through * flow_by_rate


@njit
def law_potential(plan, f, value):
    """J, of law f; zero where it has none."""
    return _potential(plan.law_kind[f], plan, f, value)


@njit
def evaluate_laws(plan, ws, position, rotation, velocity, span):
    """All efforts at a pose (nb + 1, 3), (nb + 1, 3, 3) with velocities (nb, 6).

    Of measures ``ws.value``, near ``ws.value_near``, and ``ws.gradient``; of sums ``ws.sum_value``, ``sum_rate``,
    ``sum_effort``, ``sum_by_value`` and ``sum_by_rate``; of laws ``ws.law_by_value``, ``law_by_rate``, ``law_flow``,
    and ``ws.effort``. ``span``: see `law_effort`.
    """
    for s in range(plan.sum_law.size - 1):
        value = rate = 0.0
        for t in range(plan.sum_first[s], plan.sum_first[s + 1]):
            m = plan.sum_measure[t]
            ws.value[m] = weighted_measure(plan, ws, m, ws.value_near[m], position, rotation, ws.gradient[m])
            value += plan.measure_weight[m] * ws.value[m]
            rate += rate_of(plan.measure_body[m], ws.gradient[m], velocity)
        effort = by_value = by_rate = 0.0
        for f in range(plan.sum_law[s], plan.sum_law[s + 1]):
            own, own_by_value, own_by_rate = law_effort(plan, ws, f, value, rate, span)
            ws.effort[plan.law_element[f]] = own
            ws.law_by_value[f], ws.law_by_rate[f] = own_by_value, own_by_rate
            effort, by_value, by_rate = effort + own, by_value + own_by_value, by_rate + own_by_rate
        ws.sum_value[s], ws.sum_rate[s] = value, rate
        ws.sum_effort[s], ws.sum_by_value[s], ws.sum_by_rate[s] = effort, by_value, by_rate
