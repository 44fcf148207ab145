"""Efforts of laws and loads at given nodes of a motion."""

from varint._numba import njit
from varint.algebra.quaternion import rotation_matrix
from varint.kernels.dense import add_scaled6, dot6
from varint.kernels.laws import evaluate_laws, law_potential
from varint.kernels.loads import add_wrenches, evaluate_loads


@njit
def efforts_at_nodes(plan, ws, nodes, inputs, states, out):
    """Of each element at T nodes: effort, power, W, potential, J, (T, ne); of all together the load (T, nb, 6).

    ``nodes``: position (T, nb, 3), quat (T, nb, 4), velocity (T, nb, 6); ``inputs`` (T, ne); ``states`` of laws
    (T, n). ``out``: effort, power, potential, load, and of sums with laws value and rate (T, ns). Load: world force,
    body torque. Angles go on past pi from one node to the next.
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
        evaluate_laws(plan, ws, ws.position[0], ws.rotation[0], ws.velocity, 0.0)
        evaluate_loads(plan, ws, ws.rotation[0], ws.velocity)
        for s in range(laws.sum_law.size - 1):
            value[node, s], rate[node, s] = work.sum_value[s], work.sum_rate[s]
            for f in range(laws.sum_law[s], laws.sum_law[s + 1]):
                e = laws.element[f]
                effort[node, e], power[node, e] = work.effort[e], work.effort[e] * work.sum_rate[s]
                potential[node, e] = law_potential(plan, f, work.sum_value[s])
            for t in range(laws.sum_first[s], laws.sum_first[s + 1]):
                m = laws.sum_measure[t]
                work.value_near[m] = work.value[m]
                for side in range(2):
                    i = plan.measures.body[m, side]
                    if i < plan.bodies.mass.size:
                        add_scaled6(load[node, i], work.sum_effort[s], work.gradient[m, side])
        for n in range(plan.loads.kind.size):
            e = plan.loads.element[n]
            effort[node, e] = work.effort[e]
            power[node, e] = dot6(work.wrench[n], ws.velocity[plan.loads.body[n]])
        add_wrenches(plan, work, load[node])
