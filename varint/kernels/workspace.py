"""Fresh scratch for a run."""

import numpy as np

from varint.kernels.dense import WIDE
from varint.kernels.ldu import solve_newton
from varint.kernels.on_motions import bend_of_rows, on_motions
from varint.kernels.plan import KNOWN, Plan, Workspace
from varint.kernels.product_coordinates import follow


def workspace(plan: Plan, stages: int) -> Workspace:
    """Fresh scratch for ``plan`` and a scheme of that many sub-steps; the solver is compiled."""
    solve_newton.prepare()
    nb, nr, ne, nn = plan.mass.size, plan.row_c.size, plan.fill_row.size, plan.node_row.size - 1
    ng, nf = plan.gauge_kind.size, plan.law_kind.size
    largest = int(np.diff(plan.node_row).max(initial=0))
    quat = np.zeros((2, nb + 1, 4))
    quat[..., 0] = 1.0
    rotation = np.zeros((2, nb + 1, 3, 3))
    rotation[...] = np.eye(3)
    return Workspace(
        position=np.zeros((2, nb + 1, 3)),
        quat=quat,
        rotation=rotation,
        momentum=np.zeros((nb, 6)),
        jacobian=np.zeros((2, nr, 2, 6)),
        load=np.zeros((nb, 6)),
        velocity=np.zeros((nb, 6)),
        multiplier=np.zeros(nr),
        row_near=near_of(plan),
        row_aim=np.zeros(nr),
        row_rate=np.zeros(nr),
        history=np.zeros((stages, 3, nb, 6)),
        base=np.zeros((nb, 6)),
        target=np.zeros((nb, 6)),
        residual_body=np.zeros((nb, 6)),
        residual_row=np.zeros(nr),
        increment_body=np.zeros((nb, 6)),
        increment_row=np.zeros(nr),
        command=np.zeros(nf),
        effort=np.zeros(nf),
        work=np.zeros(nf),
        integral=np.zeros(nf),
        closed=np.zeros(plan.stop_gauge.size, dtype=np.bool_),
        rest_gap=np.zeros(plan.stop_gauge.size),
        compliance=plan.row_compliance.copy(),
        middle_position=np.zeros((nb + 1, 3)),
        middle_rotation=rotation[0].copy(),
        middle_turn=np.zeros((nb + 1, 4)),
        middle_value=np.zeros(ng),
        gauge_value=np.zeros(ng),
        gauge_sum=np.zeros(ng),
        gauge_rate=np.zeros(ng),
        gauge_effort=np.zeros(ng),
        gauge_damping=np.zeros(ng),
        gauge_gradient=np.zeros((ng, 2, 6)),
        gauge_upper=np.zeros((ng, 2, 6)),
        gauge_lower=np.zeros((ng, 2, 6)),
        D=np.zeros((nb, 6, 6)),
        X=np.zeros((nb, 6, WIDE)),
        S=np.zeros((nb, 6, WIDE)),
        Y=np.zeros((nb, 6, WIDE)),
        K=np.zeros(plan.row_start[-1]),
        pivot=np.zeros((2, nr), dtype=np.int64),
        rank=np.zeros(nn, dtype=np.int64),
        last_pivot=np.zeros(nn),
        closure_scale=np.zeros(nr),
        closure_column=np.zeros((2, largest)),
        fill_lower=np.zeros((ne, 6)),
        fill_upper=np.zeros((ne, 6)),
        fill_joint_lower=np.zeros((ne, 6)),
        fill_joint_upper=np.zeros((ne, 6)),
    )


def near_of(plan: Plan) -> np.ndarray:
    """A fresh `Workspace.row_near`; where joints are products of exponentials, what knows them is compiled."""
    if plan.product_joint.size:
        for function in (on_motions, bend_of_rows, follow):
            function.prepare()
    return np.zeros(plan.row_c.size + KNOWN * plan.product_joint.size)
