"""Efforts of laws and loads at given nodes of a motion."""

from varint.base.numba import Float1, Float2, Float3, indirect, njit
from varint.mathematics.quaternion import rotation_matrix
from varint.step.configuration import follow_measured
from varint.step.dense import add_scaled6, dot6
from varint.step.laws import evaluate_along, evaluate_laws, law_potential
from varint.step.loads import evaluate_loads
from varint.step.plan import Plan, Workspace


@njit
def add_efforts(plan, work, load):
    """Add the loads of all efforts to ``load`` (nb, 6). After `evaluate_laws`, `evaluate_loads`."""
    laws = plan.laws
    for s in range(laws.sum_law.size - 1):
        for m in range(laws.sum_first[s], laws.sum_first[s + 1]):
            for side in range(2):
                i = plan.measures.body[m, side]
                if i < load.shape[0]:
                    add_scaled6(load[i], work.sum_effort[s], work.gradient[m, side])
    for n in range(plan.loads.kind.size):
        i = plan.loads.body[n]
        add_scaled6(load[i], 1.0, work.wrench[n])


@njit
def sum_efforts(plan, work, velocity, load, power):
    """Add the loads of all efforts to ``load`` (nb, 6); write ``power`` (ne,), W, of each element.

    ``velocity`` (nb, 6), world, and body axes. After `evaluate_laws`, `evaluate_loads`.
    """
    laws = plan.laws
    add_efforts(plan, work, load)
    for s in range(laws.sum_law.size - 1):
        for f in range(laws.sum_law[s], laws.sum_law[s + 1]):
            power[laws.element[f]] = work.effort[laws.element[f]] * work.sum_rate[s]
    for n in range(plan.loads.kind.size):
        power[plan.loads.element[n]] = 0.0
    for n in range(plan.loads.kind.size):  # friction between two bodies is a load on each
        power[plan.loads.element[n]] += dot6(work.wrench[n], velocity[plan.loads.body[n]])


@indirect(seconds=2, what="forces in reduced coordinates")
def evaluate_efforts(
    plan: Plan,
    ws: Workspace,
    position: Float2,
    rotation: Float3,
    velocity: Float2,
    span: float,
    load: Float2,
    power: Float1,
) -> None:
    """Add the loads of all efforts at a pose and velocity to ``load`` (nb, 6); write ``power`` (ne,), W, of elements.

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3), ``velocity`` (nb, 6), ``span``: see `evaluate_laws`.
    """
    follow_measured(plan, ws, position, rotation)
    evaluate_laws(plan, ws, position, rotation, velocity, span)
    evaluate_loads(plan, ws, rotation, velocity)
    sum_efforts(plan, ws.efforts, velocity, load, power)


@njit
def keep_turns(plan, work):
    """Let angles count their turns from the present values: copies them to ``work.value_near``."""
    for m in range(plan.rows.role.size, work.value.size):
        work.value_near[m] = work.value[m]


@njit
def replace_rates(plan, work, sums, rates):
    """Evaluate the laws along ``sums`` (k,) again, with these ``rates`` (k,). After `evaluate_laws`."""
    for k in range(sums.size):
        evaluate_along(plan, work, sums[k], work.sum_value[sums[k]], rates[k], 0.0)


@njit(seconds=2, what="efforts at recorded nodes")
def efforts_at_nodes(plan, ws, nodes, inputs, states, given_rates, out):
    """Write effort, power, W, and potential, J, of each element at T nodes, and the sums of loads.

    ``nodes``: position (T, nb, 3), quat (T, nb, 4), velocity (T, nb, 6); ``inputs`` (T, ne); ``states`` (T, n) of laws.
    ``given_rates`` (sums, rates): (k,) and (T, k), in place of the rates by the velocities. ``out``: effort, power,
    potential (T, ne), load (T, nb, 6), and of sums with laws value and rate (T, ns). Load: world force, body torque.
    Angles go on past pi from one node to the next. Uses ``ws.position``, ``ws.rotation``, ``ws.velocity``,
    ``ws.efforts.input`` and ``ws.efforts.state``.
    """
    position, quat, velocity = nodes
    effort, power, potential, load, value, rate = out
    work, laws = ws.efforts, plan.laws
    for node in range(position.shape[0]):
        for i in range(plan.bodies.mass.size):
            for k in range(3):
                ws.position[0, i, k] = position[node, i, k]
            for k in range(6):
                ws.velocity[i, k] = velocity[node, i, k]
            rotation_matrix(quat[node, i], ws.rotation[0, i])
        for e in range(work.input.size):
            work.input[e] = inputs[node, e]
        for n in range(work.state.size):
            work.state[n] = states[node, n]
        follow_measured(plan, ws, ws.position[0], ws.rotation[0])
        evaluate_laws(plan, ws, ws.position[0], ws.rotation[0], ws.velocity, 0.0)
        replace_rates(plan, work, given_rates[0], given_rates[1][node])
        evaluate_loads(plan, ws, ws.rotation[0], ws.velocity)
        sum_efforts(plan, work, ws.velocity, load[node], power[node])
        for e in range(work.effort.size):
            effort[node, e] = work.effort[e]
        for s in range(laws.sum_law.size - 1):
            value[node, s], rate[node, s] = work.sum_value[s], work.sum_rate[s]
            for f in range(laws.sum_law[s], laws.sum_law[s + 1]):
                potential[node, laws.element[f]] = law_potential(plan, f, work.sum_value[s])
        keep_turns(plan, work)
