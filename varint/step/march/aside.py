"""Instants between nodes: by a step of the scheme of a share of the step's size, beside the run."""

from varint.base.numba import njit
from varint.step.newton import CONVERGED
from varint.step.step import advance_step, record_node


@njit(seconds=6, what="instants between steps")
def step_aside(plan, ws, inputs, pose, node, width, dt, stages, tol, interval_velocity, out):
    """Step from ``node`` and write the end, see `record_node`; returns the status and the pose that holds the end.

    The step takes ``width`` times ``dt`` s, the spacing of the nodes. Other arguments as in `run`.
    """
    status, end, _, _ = advance_step(plan, ws, inputs, pose, stages, tol, False, node, width, dt)
    if status == CONVERGED:
        record_node(plan, ws, end, interval_velocity, out)
    return status, end
