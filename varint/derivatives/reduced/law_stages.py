"""Laws in the stages of a reduced run, recorded as those of a maximal run are, so that both are looked at alike."""

from collections.abc import Sequence

import numpy as np

from varint.base.numba import allocate
from varint.derivatives.along_run import MotionSum
from varint.derivatives.reduced.residuals import ReducedAdjoint
from varint.derivatives.reduced.stage_derivatives import evaluate_stage, inverse_of
from varint.derivatives.reduced.tape import ReducedTape
from varint.step.plan import ByNumbers, Tape
from varint.step.workspace import by_numbers, workspace_sizes

AT_ONCE = 1e-30  # s, a span in place of zero, of stages that take the flow of internal variables as it is


class LawStages:
    """See `varint.derivatives.jumps.LawRun`."""

    is_adaptive = False

    def __init__(self, run: ReducedTape) -> None:
        self.run, self.compiled = run, run.equations.compiled
        self.mechanism, self.dt = run.equations.mechanism, run.setting.dt
        self.tape: Tape

    def go_back(self, adjoints: Sequence[ReducedAdjoint], sums: Sequence[MotionSum]) -> None:
        """Make the ``sums`` on the gradients by efforts and internal variables in all stages."""
        if not sums:
            return
        for k, by in enumerate(self._gradients(adjoints)):
            for each in sums:
                each.totals[k] = each.add(len(self.tape.h), OfLaws(by), each.totals[k])
                each.totals[k] = each.add(0, OfLaws(by), each.totals[k])

    def _gradients(self, adjoints: Sequence[ReducedAdjoint]) -> list[ByNumbers]:
        """Return the gradients by efforts and states of laws of all stages, with values and rates; fills the tape."""
        run, e, plan = self.run, self.run.equations, self.compiled.plan
        inverse, laws, count = inverse_of(e), plan.laws, sum(len(step.stages) for step in run.steps)
        self.tape = tape = allocate(Tape, workspace_sizes(plan, 1, count, False))
        gradients, first, states = [by_numbers(plan, count) for _ in adjoints], laws.sum_first, e.law_state.size
        measured, ends = slice(first[0], first[-1]), plan.measures.body[first[0] : first[-1]]
        n = 0
        for k, step in enumerate(run.steps):
            e.use(step.tree)
            for m, stage in enumerate(step.stages):
                evaluate_stage(inverse, step, stage)
                work, span = e.ws.efforts, stage.s or 0.5 * AT_ONCE
                tape.h[n], tape.share[n] = 2.0 * span, stage.t / self.dt
                tape.input[n], tape.state[n] = work.input, stage.integral
                for by, adjoint in zip(gradients, adjoints, strict=True):
                    dual = adjoint.back.duals[k][m]
                    motion = np.vstack([inverse.motion_along(dual.tau[: e.nq]), np.zeros(6)])  # the world's last
                    along = np.einsum("msk,msk->m", work.gradient[measured], motion[ends])
                    by.effort[n] = -np.add.reduceat(along, first[:-1] - first[0])
                    by.state[n, :states] = dual.integral / (2.0 if stage.s else AT_ONCE)
                    by.value[n], by.rate[n] = work.sum_value, work.sum_rate
                n += 1
        return gradients


class OfLaws:
    """See `varint.derivatives.jumps.LawGradient`."""

    def __init__(self, by: ByNumbers) -> None:
        self.by = by
