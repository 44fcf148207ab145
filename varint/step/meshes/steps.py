"""Parts of a step of bodies that deformable bodies are attached to, which Python puts together.

The march of methods/variational/deformable_march.py finds the unknowns of bodies, rows and vertices at once: with the
factors of the LDU for the bodies, those of its own for the vertices, and the Schur complement of the latter on the
bodies that vertices are attached to.
"""

from varint.base.numba import njit
from varint.step.border import solve_border
from varint.step.configuration import mass_pivots
from varint.step.dense import copy_motions
from varint.step.derivatives.adjoint import solve_velocities_back
from varint.step.derivatives.tape import keep_load, keep_stage
from varint.step.intervals import StepSpan
from varint.step.ldu import solve_newton
from varint.step.momentum import momentum_derivative
from varint.step.newton import evaluate_step
from varint.step.projection import momenta_and_rates, node_works
from varint.step.roles import add_matrices
from varint.step.step import _finish_part, begin_part, remember_step


@njit(seconds=3, what="steps with deformable bodies")
def begin_stage(plan, ws, inputs, h, stage, extrapolate, when):
    """Write loads, inputs and targets of a stage, the momenta ``ws.goal`` that it starts from, and start values.

    ``ws.goal`` (nb, 6). Arguments: see `varint.step.step.advance_step` and its stages.
    """
    begin_part(plan, ws, inputs, h, stage, extrapolate, when, 0.0)


@njit(seconds=3, what="steps with deformable bodies")
def evaluate_stage(plan, ws, pose, h, increment):
    """Write the residuals of bodies and rows without deformable bodies, see `evaluate_step`; return the merit, or NaN.

    ``ws.residual_body`` (nb, 6), ``ws.residual_row`` (nr,). ``pose``: at the start of the stage, 0 or 1; ``h``: its
    size, s; ``increment``: m/s.
    """
    return evaluate_step(plan, ws, pose, 1 - pose, h, pose, increment)[0]


@njit(seconds=5, what="steps with deformable bodies")
def solve_bodies(plan, ws, border, pose, h, fresh):
    """Solve Newton's system of the bodies in place of ``ws.increment_body`` and ``ws.increment_row``, right-hand sides.

    ``increment_body`` (nb, 6), ``increment_row`` (nr,). ``border``: of the meshes; factored if ``fresh``. The solutions
    are changes of the pose over h: m/s, and rad/s in body axes at the end. ``pose``: at the start of the stage, 0 or 1;
    ``h``: its size, s.
    """
    end, half_step = 1 - pose, 0.5 * h
    for i in range(plan.bodies.mass.size):
        w = ws.velocity[i]
        momentum_derivative(plan.bodies.mass[i], plan.bodies.inertia[i], w[3], w[4], w[5], half_step, ws.ldu.D[i])
    add_matrices(plan, ws, pose, end, h, False)
    solve_newton(plan, ws, ws.increment_body, ws.increment_row, pose, end)
    solve_border(plan, ws, border, StepSpan(pose, end, h), not fresh, ws.increment_body, ws.increment_row)


@njit(seconds=4, what="steps with deformable bodies")
def finish_stage(plan, ws, inputs, pose, h, tol, stage, when, last):
    """Bring the bodies to the end of a solved stage, the pose 1 - ``pose``; return whether their joints are closed.

    ``ws.momentum`` (nb, 6) is left without what the deformable bodies add to it over the stage. ``when``: an
    `Interval`. ``h``: size of the stage, s; ``tol``, m/s; ``last``: whether it is the last one of the step. Clears
    ``ws.balance.at_node``.
    """
    ws.balance.at_node[0] = False  # the energy of bodies alone has no balance
    if ws.tape.h.size:
        keep_stage(plan, ws, pose, pose, h, when.node, 0.5 * (when.before + when.after))
    closed = _finish_part(plan, ws, inputs, pose, h, tol, when, last)
    if ws.tape.h.size:
        keep_load(plan, ws)
    copy_motions(ws.velocity, ws.saved_step.velocity[stage])
    if last:
        remember_step(plan, ws)
    return closed


@njit(seconds=3, what="steps with deformable bodies")
def project_with(plan, ws, pose, added, work):
    """Do `project` with the inertia ``added`` (nb, 6, 6) to the bodies; write works, J, to ``work`` (ne,)."""
    momenta_and_rates(plan, ws, pose)
    _add_inertia(ws, added)
    solve_newton(plan, ws, ws.increment_body, ws.increment_row, pose, pose)
    node_works(plan, ws, work)


@njit
def _add_inertia(ws, added):
    """Add ``added`` (nb, 6, 6) to the pivots ``ws.ldu.D``."""
    for i in range(added.shape[0]):
        for a in range(6):
            for b in range(6):
                ws.ldu.D[i, a, b] += added[i, a, b]


@njit(seconds=4, what="derivatives of steps with deformable bodies")
def velocities_with_back(plan, ws, pose, added, state, by):
    """Do `velocities_back` with the inertia ``added`` (nb, 6, 6) to the bodies, which stays where it is.

    ``state`` (nb, 12) is changed in place. Writes the velocities to ``ws.velocity`` and the impulses to
    ``ws.multiplier``; scratch: ``ws.increment_body``, ``ws.increment_row``.
    """
    momenta_and_rates(plan, ws, pose)
    _add_inertia(ws, added)
    solve_newton(plan, ws, ws.increment_body, ws.increment_row, pose, pose)
    copy_motions(ws.increment_body, ws.velocity)
    for r in range(ws.multiplier.size):
        ws.multiplier[r], ws.increment_row[r] = ws.increment_row[r], 0.0
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            ws.increment_body[i, k] = state[i, 6 + k]
    mass_pivots(plan, ws.ldu.D)
    _add_inertia(ws, added)
    solve_velocities_back(plan, ws, pose, state, by)
