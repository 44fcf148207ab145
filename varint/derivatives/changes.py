"""Effects of a changed description on the objectives of a run: functions with the same derivatives as the objectives.

``before``, ``after``, ``plan``: plans of the run's mechanism and of a changed one.
"""

from collections.abc import Callable
from dataclasses import fields

import numpy as np

from varint.base.errors import ArgumentError, MechanismError
from varint.derivatives.along_run import MotionSum, of_plan
from varint.derivatives.backward import MEASURED, Adjoint, momentum_of
from varint.derivatives.numbers import OTHER_PARTS, Differences
from varint.derivatives.objective import motion_between
from varint.derivatives.stage_slopes import StageSlopes, arrays_of, slopes_of_plan
from varint.derivatives.taped import MaximalTape
from varint.mechanism.mechanism import Mechanism
from varint.model.rotation_vectors import vector_from_matrix
from varint.model.state import State
from varint.step.derivatives.by_numbers import acting, pushing
from varint.step.derivatives.by_products import holding
from varint.step.limits.parts import one_sided
from varint.step.plan import TERMS, ByNumbers, Plan, Workspace

BEND = 1e-7  # deviation of a change from twice that over half the step, relative, up to which the start is linear
ROUND_OFF = 1e-13  # of a start, relative to the size of the mechanism and of its velocities
OTHERS = ("loads", "constraints", "massive_paths", *TERMS)  # parts of a plan that must keep their structure
REDUNDANT = (
    "more points of a contact touch than determine its forces, so there is no derivative by {}: take three points that"
    " are not in a line"
)


class Changes:
    """The sums that the backward pass of ``run`` evaluates for changed descriptions; ``sums`` holds all of them.

    ``objectives``: number of the objectives.
    """

    def __init__(self, run: MaximalTape, objectives: int, sums: list[MotionSum]) -> None:
        self.run, self.objectives, self.sums = run, objectives, sums
        self._own: dict[Callable, MotionSum] = {}

    def along(self, kernel: Callable, mechanism: Mechanism) -> tuple[MotionSum, MotionSum]:
        """Return the sums for a changed ``mechanism`` and for the mechanism of the run; ``kernel``: `holding`."""
        if kernel not in self._own:
            self._own[kernel] = self._new(kernel, self.run.mechanism)
        return self._new(kernel, mechanism), self._own[kernel]

    def of_stages(self, differences: Differences["Changed"], step: float) -> StageSlopes | None:
        """Return the derivative of laws and loads in the stages, or None if they do not change.

        ``differences``: by the number, of size ``step``.
        """
        kernels = {each.kernel for each in differences.made.values()} - {None}
        if not kernels:
            return None
        plans = {share: self.run.compiled_of(each.changed).plan for share, each in differences.made.items()}
        slopes = slopes_of_plan(self.run.compiled.plan, plans, differences.step)
        kernel = self.run.pushing if pushing in kernels else acting
        self.sums.append(made := StageSlopes(self.objectives, self.run, slopes, kernel, step))
        return made

    def _new(self, kernel: Callable, mechanism: Mechanism) -> MotionSum:
        """Return a sum by ``kernel`` for ``mechanism``, added to ``sums``."""
        self.sums.append(MotionSum(self.objectives, of_plan(self.run, self.run.compiled_of(mechanism), kernel)))
        return self.sums[-1]


class Changed:
    """Functions of a ``changed`` description with the same derivatives as the objectives of one run.

    Without the laws and loads in the stages, see `Changes.of_stages`. ``start``: initial state of the run of the
    ``changed`` mechanism. Raises MechanismError if it has other bodies, joints or laws.
    """

    def __init__(self, changes: Changes, changed: Mechanism, start: State) -> None:
        run, compiled = changes.run, changes.run.compiled_of(changed)
        plan, before, order = compiled.plan, run.compiled.plan, compiled.order
        if not np.array_equal(order, run.compiled.order) or not same_structure(before, plan):
            raise MechanismError(OTHER_PARTS)
        check_contacts(before, plan)
        self.run, self.changed, self.start = run, changed, start
        first, shape = run.first, (len(order), 2, 3)
        rates = np.hstack([start.velocity, start.angular_velocity]).reshape(shape)
        self.moved = np.hstack([motion_between(first, start).reshape(shape), rates])  # m, rad, m/s, rad/s
        self.scale = np.array([run.compiled.length, 1.0, *np.abs(rates).max(axis=(0, 2))])
        rows = before.rows.role.size
        measures = any(differ(a[rows:], b[rows:]) for a, b in measured(before, plan))
        tables = differ(before.products.table, plan.products.table)
        measures |= tables and bool((before.measures.product[rows:] >= 0).any())
        of_products = before.measures.product[one_sided(before).measure] >= 0
        if tables and of_products.any():
            raise MechanismError("the motions of a joint with a hard stop along its coordinate cannot change")
        efforts = any(map(differ, (*before.laws, *before.loads), (*plan.laws, *plan.loads)))
        self.kernel = (
            (pushing if measures else acting) if measures or efforts else None
        )  # for laws and loads in the stages
        self.along = [changes.along(holding, changed)] if tables else []

    def value(self, k: int, adjoint: Adjoint) -> float:
        """Return the function for objective ``k``, with its ``adjoint``, after the backward pass."""
        run, start, compiled = self.run, self.start, self.run.compiled_of(self.changed)
        plan, before, order = compiled.plan, run.compiled.plan, compiled.order
        velocity = np.hstack([start.velocity[order], start.angular_velocity[order]])
        moved = np.hstack([motion_between(run.first, start)[order], momentum_of(plan.bodies, velocity)])
        check_shares(adjoint.ws, before, plan)
        total = along_numbers(adjoint.by, before, plan) + np.sum(adjoint.by_start * moved)
        total += adjoint.given.along(self.changed, start, run.dt)
        total += adjoint.law_state[: len(compiled.law_start)] @ (compiled.law_start - run.compiled.law_start)
        for changed, unchanged in self.along:
            total += changed.totals[k] - unchanged.totals[k]
        return float(total)


def bends(differences: Differences[Changed]) -> bool:
    """Return whether the initial state is not linear in the number: over the step, compared with half the step."""
    step, made = differences.step, differences.made
    if not all(share in made for share in (step, -step, 0.5 * step, -0.5 * step)):  # at a bound, from one side
        return False
    whole = made[step].moved - made[-step].moved
    halves = 2.0 * (made[0.5 * step].moved - made[-0.5 * step].moved)
    apart, size = (np.abs(change).max(axis=(0, 2)) for change in (whole - halves, halves))
    return bool((apart > BEND * size + ROUND_OFF * made[step].scale).any())


def same_structure(before: Plan, after: Plan) -> bool:
    """Return whether two plans differ in values of floats only."""
    pairs = ((before.joints, after.joints), (before.measures, after.measures), (before.laws, after.laws))
    return all(
        a.shape == b.shape and (a.dtype.kind == "f" or np.array_equal(a, b))
        for one, other in (*pairs, *((getattr(before, name), getattr(after, name)) for name in OTHERS))
        for a, b in zip(arrays_of(one), arrays_of(other), strict=True)
    )


def check_contacts(before: Plan, after: Plan) -> None:
    """Raise MechanismError if normals of planes or collision shapes differ: gradients have no derivatives by these."""
    old, new = ([each.contacts.frame, *each.contacts.shapes] for each in (before, after))
    if any(map(differ, old, new)):
        raise MechanismError("the normals of planes and the collision shapes of bodies have no derivatives")


def check_shares(ws: Workspace, before: Plan, after: Plan) -> None:
    """Raise ArgumentError if redundant contacts, whose forces are not unique, differ in points or friction.

    ``ws``: of the adjoint, after the backward pass.
    """
    contacts = ws.contacts
    if contacts.redundant[0] and any(map(differ, *_geometry(before, after))):
        raise ArgumentError(REDUNDANT.format("the places of its points"))
    loose = contacts.hits > 0
    if differ(before.contacts.friction[loose], after.contacts.friction[loose]):
        raise ArgumentError(REDUNDANT.format("its friction"))


def _geometry(before: Plan, after: Plan) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return points, radii and heights of contacts with planes, in both plans."""
    names = ("point", "radius", "height")
    return [getattr(before.contacts, name) for name in names], [getattr(after.contacts, name) for name in names]


def differ(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays are not equal."""
    return not np.array_equal(a, b)


def measured(before: Plan, after: Plan) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the arrays of numbers of measures in pairs, one of each plan."""
    names = (*MEASURED, "rest")
    return [(getattr(before.measures, name), getattr(after.measures, name)) for name in names]


def along_numbers(by: ByNumbers, before: Plan, after: Plan) -> float:
    """Return the product of the gradient ``by`` with the change of the numbers of bodies and rows."""
    total = 0.0
    for name in ("mass", "inertia", "gravity"):
        total += np.sum(getattr(by, name) * (getattr(after.bodies, name) - getattr(before.bodies, name)))
    for name in MEASURED:  # zero for the measures of forces, see `pushing`
        total += np.sum(getattr(by, name) * (getattr(after.measures, name) - getattr(before.measures, name)))
    for part in TERMS:
        for field in fields(getattr(by, part)):
            change = getattr(getattr(after, part), field.name) - getattr(getattr(before, part), field.name)
            total += np.sum(getattr(getattr(by, part), field.name) * change)
    rest, turned = before.measures.rest, after.measures.rest
    for m in np.flatnonzero((rest != turned).any(axis=(1, 2)) & by.rest.any(axis=1)):
        total += by.rest[m] @ vector_from_matrix(turned[m] @ rest[m].T)
    return float(total)
