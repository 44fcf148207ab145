"""Damping in rows of compliant joints that ring too fast for the steps, in runs with friction of hard contacts.

A contact that closes loads such a row at once. Without damping it rings about its load from then on. With steps of h
its force changes sign in each: the force of the contact swings between twice the load and nothing, and friction
reverses with it. No step resolves that, and Newton's method meets other states of the contacts each time. A damping
time of h / 2 makes the row take its load within the step, f = -g' / alpha with g' at its end (soft_joints.py), and
changes the motion by no more than the compliance itself does. A row with the mobility W, 1/kg or 1/(kg m^2), rings too
fast if (h / 2)^2 W is above its compliance alpha.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from varint.measures import KINDS
from varint.model.forces.joint_compliance import JointCompliance
from varint.model.structure import Structure
from varint.plan.compiled import Compiled
from varint.step.march.spare_workspaces import share_keys
from varint.step.plan import Plan

SHARE = 0.5  # damping time, of a step


def with_settled_rows(structure: Structure, compiled: Compiled, dt: float) -> Compiled:
    """Return ``compiled`` with damping in the rows of ``structure`` that ring too fast for steps of ``dt``, s.

    They are those of joints for which no damping time is given, in components with hard contacts that have friction.
    If there are none, ``compiled`` is returned unchanged.
    """
    plan = compiled.plan
    component = plan.components.of_element
    rubbing = set(component[plan.contacts.element[plan.contacts.friction > 0.0]].tolist())
    if not rubbing or not plan.compliant.joint_sum.size:
        return compiled
    undamped = [
        isinstance(force, JointCompliance) and structure.joint(force.joint).damping_time is None
        for force in structure.forces
    ]
    parameter, changed = plan.laws.parameter.copy(), False
    row: Any = next(force.elements(structure)[0] for force in structure.forces if isinstance(force, JointCompliance))
    stiffness_at, damping_at = (row.law.parameters.index(name) for name in ("stiffness", "damping"))
    for s in plan.compliant.joint_sum.tolist():
        f = plan.laws.sum_law[s]
        first, half_step = plan.laws.first[f], 0.5 * dt
        stiffness = parameter[first + stiffness_at]
        if component[plan.laws.element[f]] not in rubbing or not undamped[compiled.force[plan.laws.element[f]]]:
            continue
        if half_step**2 * stiffness * _mobility(plan, s) > 1.0:
            parameter[first + damping_at], changed = SHARE * dt * stiffness, True
    if not changed:
        return compiled
    settled = replace(compiled, plan=replace(plan, laws=replace(plan.laws, parameter=parameter)))
    share_keys(settled.plan, plan)
    return settled


def _mobility(plan: Plan, s: int) -> float:
    """Return the mobility, 1/kg or 1/(kg m^2), of the row of sum s by its bodies, without levers and other joints."""
    m, total = plan.laws.sum_first[s], 0.0
    turns = KINDS[sorted(KINDS)[plan.measures.kind[m]]].facts.angular
    for i in plan.measures.body[m].tolist():
        if i < plan.bodies.mass.size:
            total += np.linalg.eigvalsh(plan.bodies.inverse_inertia[i])[0] if turns else 1.0 / plan.bodies.mass[i]
    return float(total)
