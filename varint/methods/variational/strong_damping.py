"""Which dissipative efforts of a run may be strong, see `varint.step.damping.choice`."""

import numpy as np

from varint.model.forces import LAWS
from varint.results.dissipation import slopes_of_laws
from varint.step.damping.choice import LEAD, WHOLE, choose_leads
from varint.step.damping.end_rates import apply_ahead, differentiate_ahead
from varint.step.damping.records import MOST_EFFORTS
from varint.step.damping.relaxing import first_share
from varint.step.laws import LAW_NAMES
from varint.step.loads import RESISTANCE
from varint.step.measures import KIND_NAMES
from varint.step.one_sided import has_terms
from varint.step.plan import Plan, Workspace

COMPARED = 0.02  # z from which on an effort is compared with the others
REACHED = 0.5  # sum of z over the efforts on a body from which on any of them may be strong in the run
ALL_STRONG = 1.0  # of that sum: without comparisons
DEEPENING = {  # number of each such law to the place of its damping among its parameters
    LAW_NAMES.index(name): law.parameters.index("damping") for name, law in LAWS.items() if law.deepening
}
LENGTH = KIND_NAMES.index("length")
SPEED = 0.25  # of the size of the parts in a step: so fast a body may be, for quadratic resistance


def start_damping(plan: Plan, ws: Workspace, dt: float) -> None:
    """Choose the efforts that may be strong in a run with steps up to ``dt``, s; after `evaluate_laws` at its start.

    Inertias are those of the bodies without joints, which are the least. Where there are more than MOST_EFFORTS, those
    that may be strong by these inertias are for the whole run.
    """
    damping = ws.damping
    damping.active[0], damping.count[0] = False, 0
    damping.lead[:] = damping.load_lead[:] = 0.0
    if not damping.start.size:
        return
    law, law_sum, slope, z = _laws(plan, ws, dt)
    load, axis, load_slope, load_z = _loads(plan, dt)
    if not law.size + load.size:
        return
    bends = np.array([not LAWS[LAW_NAMES[kind]].has_constant_slope for kind in plan.laws.kind[law]], dtype=bool)
    load_bends = plan.loads.power[load] == 2
    nb = plan.bodies.mass.size
    on_body = np.zeros(nb + 1)
    bodies = [plan.measures.body[plan.laws.sum_first[s] : plan.laws.sum_first[s + 1]].ravel() for s in law_sum]
    for n, each in enumerate(bodies):
        on_body[np.unique(each)] += z[n]
    np.maximum.at(on_body, plan.loads.body[load], load_z)
    on_body[nb] = 0.0
    if not on_body.max() > REACHED:
        return
    damping.active[0], damping.strongest[0] = True, on_body.max()
    for function in (choose_leads, apply_ahead, differentiate_ahead, *(first_share,) * has_terms(plan)):
        function.prepare()
    some, some_loads = np.flatnonzero(z > COMPARED), np.flatnonzero(load_z > COMPARED)
    count, first = some.size + some_loads.size, some.size
    if count > damping.law.size or count > MOST_EFFORTS:
        strong = [on_body[each].max() > ALL_STRONG and slope[n] > 0.0 for n, each in enumerate(bodies)]
        damping.lead[law] = np.where(strong, np.where(bends, WHOLE, LEAD), 0.0)
        strong_load = on_body[plan.loads.body[load]] > ALL_STRONG
        damping.load_lead[load] = np.where(strong_load, np.where(load_bends, WHOLE, LEAD), 0.0)
        return
    damping.count[0] = count
    damping.law[:first], damping.sum[:first], damping.load[:first] = law[some], law_sum[some], -1
    damping.slope[:first], damping.bends[:first] = slope[some], bends[some]
    damping.bends[first:count] = load_bends[some_loads]
    damping.law[first:count] = damping.sum[first:count] = -1
    damping.load[first:count], damping.axis[first:count] = load[some_loads], axis[some_loads]
    damping.slope[first:count] = load_slope[some_loads]


def _laws(plan: Plan, ws: Workspace, dt: float) -> tuple[np.ndarray, ...]:
    """Return numbers, sums, slopes and z of the laws that dissipate, of bodies without joints.

    Of laws whose slope depends on their value the slope is 0 and z infinite.
    """
    laws, measures, work = plan.laws, plan.measures, ws.efforts
    slopes = np.maximum(slopes_of_laws(plan), -work.law_by_rate)
    of_sum = np.searchsorted(laws.sum_law, np.arange(laws.kind.size), side="right") - 1
    plain = np.zeros(laws.sum_law.size - 1, dtype=bool)
    plain[laws.other[laws.other >= plan.compliant.joint_sum.size]] = True
    plain &= ~measures.fused[np.minimum(laws.sum_first[:-1], measures.fused.size - 1)]
    deep = np.zeros(laws.kind.size, dtype=bool)
    for kind, place in DEEPENING.items():
        of_kind = np.flatnonzero(laws.kind == kind)
        deep[of_kind] = laws.parameter[laws.first[of_kind] + place] > 0.0
    slopes[deep] = 0.0
    law = np.flatnonzero(((slopes > 0.0) | deep) & plain[of_sum])
    if not law.size:
        return law, law, slopes[law], slopes[law]
    gradient = work.gradient
    push, turn = gradient[..., :3], gradient[..., 3:]
    by_force = np.append(1.0 / plan.bodies.mass, 0.0)
    by_torque = np.concatenate([plan.bodies.inverse_inertia, np.zeros((1, 3, 3))])
    turned = np.einsum("msi,msij,msj->ms", turn, by_torque[measures.body], turn)
    lever = np.stack([np.sum(measures.u**2, axis=1), np.sum(measures.w**2, axis=1)], axis=1)  # of its points, squared
    most = lever * np.linalg.eigvalsh(by_torque)[measures.body, -1]
    turned = np.where((measures.kind == LENGTH)[:, None], most, turned)  # in any pose
    each = np.sum(np.sum(push * push, axis=2) * by_force[measures.body] + turned, axis=1)
    z = [
        np.inf if deep[f] else dt * slopes[f] * each[laws.sum_first[s] : laws.sum_first[s + 1]].sum()
        for f, s in zip(law, of_sum[law], strict=True)
    ]
    return law, of_sum[law], slopes[law], np.array(z)


def _loads(plan: Plan, dt: float) -> tuple[np.ndarray, ...]:
    """Return numbers, axes, slopes and z of the resistances to the motions of bodies, of bodies without joints."""
    rows = []
    for n in np.flatnonzero(plan.loads.kind == RESISTANCE).tolist():
        i = plan.loads.body[n]
        least = 1.0 / np.linalg.eigvalsh(plan.bodies.inverse_inertia[i])[-1]
        parts = (0, plan.loads.linear[n], plan.bodies.mass[i]), (3, plan.loads.angular[n], least)
        for first, slope, inertia in parts:
            fastest = SPEED * (plan.bodies.length[0] if first == 0 else 1.0) / dt
            now = slope * (2.0 * fastest if plan.loads.power[n] == 2 else 1.0)
            rows += [(n, first + k, slope, dt * now / inertia) for k in range(3) if slope > 0.0]
    load, axis = (np.array([row[k] for row in rows], dtype=np.int64) for k in range(2))
    slope, z = (np.array([row[k] for row in rows], dtype=float) for k in range(2, 4))
    return load, axis, slope, z
