"""Hard stops, joint friction and contacts with planes in a step of the linearly implicit Euler scheme.

DIFF sections 1.11 to 1.13, 2.8, 2.11. A stop with the gap g = sign (limit - measure), or a point of a body at the
distance g from a plane, asks for

    dg/dt >= -g / h             so that it ends at the limit, not beyond;
    dg/dt >= -b g               where it is beyond already, b the rate of `Equations.baumgarte`;
    dg/dt >= -e dg0/dt          at an impact: it closes in, and without the stop would be hit within the step.

An approach slower than one step produces by itself is at rest on its stop: no restitution. Impulses act against
approaching rates only, so that e <= 1 dissipates energy, however many stops are hit at once. With friction a rebound
can add energy (Kane and Levinson); then it is left out.

All rows together, one-sided ones first, then friction, are one problem of a few impulses (recursions/cones.py). Where
that is not solved, convex programs with given bounds of the friction (program.py) find other starts, or name the rows
that contradict each other. Prescribed joints are rows of G, the last of them; their multipliers are the efforts that
hold them.
"""

import itertools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from varint.base.distribution import install_command
from varint.base.errors import ArgumentError
from varint.methods.reduced.bearing_friction import JointFrictions
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.ground import Ground
from varint.methods.reduced.program import MET, Elimination, Infeasible, NotSolved, eliminate, has_solver, solve_program
from varint.methods.reduced.recursions.cones import SOLVED, Cones, room, solve_cones
from varint.methods.reduced.saddle import REDUNDANT, LinearStep, solve_saddle
from varint.step.limits.parts import one_sided

MANY_PASSES = 20  # convex programs, where the impulses are not found at once
TINY = 1e-8  # of the size of a row without loops: the least size of S that counts


class Blocked(ArithmeticError):
    """The stops or the friction leave no motion; the message names them."""


class ContactEfforts(NamedTuple):
    """Efforts, N, N m, or impulses, N s, N m s.

    along : (..., ne) along the measure of each element
    frictions : (..., d) of each `JointCoulombFriction`, by its name, along the motions that the joint allows
    ground : (..., 6) of each `HardContact`, by its name: force and torque about the centre of mass, world
    drives : (..., nd) of the prescribed columns of q
    """

    along: np.ndarray
    frictions: dict[str, np.ndarray]
    ground: dict[str, np.ndarray]
    drives: np.ndarray


class ContactRows(NamedTuple):
    """The rows of a step.

    jacobian : (6 nb, nq) of the bodies
    load : (n, nb + 1, 6) of a unit impulse along each
    by_rates : (n, nq) N: rates along them
    bound : (m,) least rates along the one-sided ones, m/s, rad/s
    rebound : (m,) least rates along these after an impact
    """

    jacobian: np.ndarray
    load: np.ndarray
    by_rates: np.ndarray
    bound: np.ndarray
    rebound: np.ndarray


class GivenStep(NamedTuple):
    """A step to be done: its size, s, the rates before it, and its equations without contacts, in two forms."""

    h: float
    before: np.ndarray
    step: LinearStep
    rest: Elimination


class Contacts:
    """The hard stops, the joint friction and the contacts with planes of ``equations``.

    Of the last step, ``work`` (ne,) of the elements, J, ``impulse`` (nc,), see `parts`, and ``z`` (n,) along all rows.
    """

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        rows = one_sided(equations.compiled.plan)
        self.measure, self.sign, self.least = rows.measure, rows.sign, rows.value
        self.frictions, self.ground = JointFrictions(equations), Ground(equations)
        if equations.paths and len(self.frictions):
            raise ArgumentError(
                f"{self.frictions.labels[0]} needs the normal loads of its joint, which mass along paths does not have:"
                " remove one of them"
            )
        self.restitution = np.concatenate([rows.restitution, self.ground.restitution])
        self.one_sided = len(self.restitution)
        points = len(self.ground.restitution)
        self.first = self.one_sided + np.cumsum([0, *self.frictions.sizes, *[2] * points])
        self.pressed_by = np.append(  # number of the one-sided row that presses on a disc; -1: all that a joint bears
            np.full(len(self.frictions.sizes), -1), np.arange(self.one_sided - points, self.one_sided)
        )
        ground = self.ground.element
        self.element = np.concatenate([rows.element, ground, self.frictions.element, np.repeat(ground, 2)])
        self.work, self.z = np.zeros(equations.ne), np.zeros(self.first[-1])
        self.driven = int(equations.driven_columns.sum())
        joints = [bearing.free.shape[1] for bearing in self.frictions.bearings]
        self.sizes = [equations.ne, *joints, *[6] * len(self.ground), self.driven]
        self.impulse = np.zeros(sum(self.sizes))
        self._last_room = room(0, 0, 0)

    def room_for(self, n: int, K: int, T: int) -> Cones:
        """Return arrays for a problem of n rows, K discs and T terms; the same as long as the sizes are."""
        if (self._last_room.z.size, self._last_room.bound.size, self._last_room.f.size) != (n, K, T):
            self._last_room = room(n, K, T)
        return self._last_room

    def parts(self, impulse: np.ndarray) -> ContactEfforts:
        """Return ``impulse`` (..., nc), or efforts in its place, as views by the force or drive that exerts them."""
        ends = list(itertools.accumulate(self.sizes, initial=0))
        along, *others, drives = [impulse[..., i:j] for i, j in itertools.pairwise(ends)]
        names, count = [*self.frictions.names, *self.ground.names], len(self.frictions)
        named = list(zip(names, others, strict=True))
        return ContactEfforts(along, dict(named[:count]), dict(named[count:]), drives)

    def solve(self, h: float, rates: np.ndarray, step: LinearStep, offset: np.ndarray) -> np.ndarray:
        """Return the rates (nq,) at the end of a ``step`` from ``rates`` (nq,), with impulses of the contacts.

        After `Equations.load`. ``offset`` (nq,): difference of the coordinates' mean rates from their rates. Sets
        ``work``, ``impulse`` and ``z``. Raises Blocked.
        """
        self.work[:] = self.impulse[:] = 0.0
        if not len(self.frictions):
            free, multiplier = solve_saddle(step.A, step.G, step.G, step.b, step.g)
            rows = self._rows(h, rates, free, offset)
            if self._obeyed(rows, free):
                self.z[:] = 0.0
                self.parts(self.impulse).drives[:] = self._of_drives(multiplier)
                return free
        rest = eliminate(step)
        task = GivenStep(h, rates, step, rest)
        rows = self._rows(h, rates, rest.p + rest.E @ rest.target, offset)
        self.z = self._settle(task, rows)
        after = rest.p + rest.E @ (rest.target + (rows.by_rates @ rest.E).T @ self.z)
        self._record(task, rows, after)
        return after

    def _obeyed(self, rows: ContactRows, rates: np.ndarray) -> bool:
        """Return whether ``rates`` (nq,) need no impulse."""
        return bool((rows.by_rates[: self.one_sided] @ rates >= np.maximum(rows.bound, rows.rebound)).all())

    def _settle(self, task: GivenStep, rows: ContactRows) -> np.ndarray:
        """Return the impulses z (n,), with rebounds at impacts if possible without added energy. Raises Blocked."""
        try:
            if (rows.rebound > rows.bound).any():
                try:
                    z = self._impulses(task, rows, np.maximum(rows.bound, rows.rebound))
                except Infeasible:  # a rebound hits another stop within the step
                    return self._impulses(task, rows, rows.bound)
                if self._energy_gained(task, rows, z) <= 0.0:
                    return z
            return self._impulses(task, rows, rows.bound)
        except Infeasible as problem:
            raise self.contradiction(self.element[problem.rows]) from None
        except NotSolved:
            names = ", ".join(
                dict.fromkeys([*map(self._label, self.element[: self.one_sided]), *self.frictions.labels])
            )
            raise Blocked(f"the program of {names} could not be solved") from None

    def contradiction(self, elements: np.ndarray) -> Blocked:
        """Return the error that names the motions which cannot be obeyed together with rows of ``elements``."""
        names = ", ".join(dict.fromkeys([*map(self._label, elements), *self._motions]))
        return Blocked(f"no motion obeys all of {names or 'the loops'} at once")

    def labelled(self, elements: Iterable[int]) -> str:
        """Return the labels of the forces of ``elements``, each once."""
        return ", ".join(dict.fromkeys(map(self._label, elements)))

    def _energy_gained(self, task: GivenStep, rows: ContactRows, z: np.ndarray) -> float:
        """Return the energy, J, that the impulses ``z`` (n,) add; 0 without friction, which never adds energy."""
        if len(self.first) == 1:
            return 0.0
        E, along = task.rest.E, rows.by_rates
        after = task.rest.p + E @ (task.rest.target + (along @ E).T @ z)
        return float(0.5 * z @ (along @ (task.before + after)))

    def _impulses(self, task: GivenStep, rows: ContactRows, bound: np.ndarray) -> np.ndarray:
        """Return the impulses z (n,) with which one-sided rates are at least ``bound`` (m,).

        Rows that are far from that are left out until they are not.
        """
        moving, m = self.moving(task, rows, bound), self.one_sided
        reduced = rows.by_rates @ task.rest.E
        free = rows.by_rates @ task.rest.p + reduced @ task.rest.target
        near = moving & ((free[:m] < bound) | (self.z[:m] > 0.0))
        while True:
            problem = ContactProblem(self, task, rows, bound, near)
            z = problem.solve(self.z)
            missed = ~near & moving & (free[:m] + reduced[:m] @ (reduced.T @ z) < bound)
            if not missed.any():
                return z
            near |= missed

    def moving(self, task: GivenStep, rows: ContactRows, bound: np.ndarray) -> np.ndarray:
        """Return whether any impulse changes the rate along each one-sided row (m,); raises Infeasible.

        That is where one that nothing changes is below its ``bound`` (m,).
        """
        along, rest = rows.by_rates[: self.one_sided], task.rest
        reduced = along @ rest.E
        size = np.linalg.norm(reduced, axis=1)
        fixed = size <= REDUNDANT * np.linalg.norm(along, axis=1) * np.linalg.norm(rest.E)
        short = fixed & (bound - along @ rest.p - reduced @ rest.target > MET)
        if short.any():
            raise Infeasible(np.flatnonzero(short))
        return ~fixed

    def _record(self, task: GivenStep, rows: ContactRows, after: np.ndarray) -> None:
        """Write ``work`` and ``impulse`` of the step that ends at the rates ``after`` (nq,)."""
        parts, z, m, middle = self.parts(self.impulse), self.z, self.one_sided, 0.5 * (task.before + after)
        count = len(self.measure)
        np.add.at(self.work, self.element, z * (rows.by_rates @ middle))
        np.subtract.at(parts.along, self.element[:count], self.sign * z[:count])
        joints = m + int(self.frictions.sizes.sum())
        for name, impulse in zip(self.frictions.names, self.frictions.joint_impulses(z[m:joints]), strict=True):
            parts.frictions[name][:] = impulse
        if len(self.ground):
            self.ground.add_impulses(z[count:m], z[joints:], rows.load[count:m], rows.load[joints:], parts.ground)
        step = task.step
        parts.drives[:] = self._of_drives(task.rest.multiplier(step.A @ after - step.b - rows.by_rates.T @ z))

    def _of_drives(self, multiplier: np.ndarray) -> np.ndarray:
        """Return the part of the multipliers (k,) of G that belongs to prescribed columns, the last rows."""
        return multiplier[len(multiplier) - self.driven :]

    def _rows(self, h: float, rates: np.ndarray, free: np.ndarray, offset: np.ndarray) -> ContactRows:
        """Return the rows of the step; ``free`` (nq,): rates without them."""
        e = self.equations
        along = np.zeros((self.measure.size, e.nb + 1, 6))
        for s, k in enumerate(self.measure):
            np.add.at(along[s], e.compiled.plan.measures.body[k], -self.sign[s] * e.ws.efforts.gradient[k])
        gap, normal, tangent = self.ground.loads()
        load = np.concatenate([along, normal, self.frictions.loads(), tangent])
        J = e.jacobian()
        by_rates = load[:, :-1].reshape(len(load), -1) @ J
        gap = np.append(self.sign * (self.least - e.ws.efforts.value[self.measure]), gap)
        one_sided = by_rates[: self.one_sided]
        before, after, faster = one_sided @ rates, one_sided @ free, one_sided @ offset
        n = np.where(gap >= 0.0, -gap / h, -e.baumgarte * gap) - faster
        hit = (
            (before < 0.0)
            & (gap + h * (after + faster) < 0.0)
            & (-before > np.abs(after - before))
            & (self.restitution > 0.0)
        )
        return ContactRows(J, load, by_rates, n, np.where(hit, -self.restitution * before, n))

    def disc_rows(self, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the discs that count while the one-sided rows ``near`` (m,) do, and of their rows."""
        discs = np.flatnonzero(np.append(near, True)[self.pressed_by])  # the last: of discs without a pressing row
        first = self.first
        rows = [np.arange(first[k], first[k + 1]) for k in discs]
        return discs, np.concatenate([np.zeros(0, dtype=np.int64), *rows])

    @property
    def _motions(self) -> list[str]:
        return [f"the motion prescribed for {drive.label}" for drive in self.equations.drives]

    def _label(self, element: int) -> str:
        force = self.equations.mechanism.forces[self.equations.compiled.force[element]]
        return f"{force.label} on joint '{force.joint}'" if hasattr(force, "joint") else force.label


class ContactProblem:
    """The impulses of ``contacts`` in a ``task`` along the one-sided rows ``near`` (m,) and the discs that they press.

    ``bound`` (m,): least rates along the one-sided rows.
    """

    def __init__(
        self, contacts: Contacts, task: GivenStep, rows: ContactRows, bound: np.ndarray, near: np.ndarray
    ) -> None:
        self.contacts, self.task, self.rows, self.bound = contacts, task, rows, bound
        self.normals = np.flatnonzero(near)
        self.discs, of_discs = contacts.disc_rows(near)
        self.kept = np.concatenate([self.normals, of_discs])
        E, p, target = task.rest.E, task.rest.p, task.rest.target
        along = rows.by_rates[self.kept]
        reduced = along @ E
        S, count = reduced @ reduced.T, len(self.normals)
        sizes = np.diff(contacts.first)[self.discs]
        self.first = count + np.concatenate([[0], np.cumsum(sizes)])
        natural = along**2 @ (1.0 / np.diag(task.step.A))
        D = np.maximum(np.diag(S), TINY * natural)
        for i, j in itertools.pairwise(self.first):
            D[i:j] = max(np.abs(S[i:j, i:j]).sum(axis=1).max(), D[i:j].max())
        D[D == 0.0] = 1.0  # nothing that moves is along this row
        free = along @ p + reduced @ target
        free[:count] -= bound[self.normals]
        at_work = np.abs(along) @ np.abs(p) + np.abs(reduced) @ np.abs(target)
        at_work[:count] += np.maximum(bound[self.normals], 0.0)
        self.scale = float((at_work / np.sqrt(D)).max(initial=0.0)) or 1.0
        values_of_room = (S, free, D, self.first, *self._terms(reduced))
        self.cones = contacts.room_for(len(free), len(self.discs), len(values_of_room[5]))
        for array, values in zip(self.cones, values_of_room, strict=False):
            array[...] = values

    def solve(self, start: np.ndarray) -> np.ndarray:
        """Return the impulses (n,) along all rows, from a ``start`` (n,); raises Infeasible, NotSolved, Blocked."""
        kept = self.kept
        if not len(kept):
            return np.zeros(len(start))
        impulse = self.cones.z
        impulse[:] = start[kept]
        missed = solve_cones(self.cones, self.scale)
        if missed > SOLVED:
            self._solve_by_programs(start[kept], missed)
        z = np.zeros(len(start))
        z[kept] = impulse
        return z

    def _solve_by_programs(self, start: np.ndarray, missed: float) -> None:
        """Fill ``cones.z`` from the solutions of convex programs, with bounds of the friction by the one before."""
        along, count = self.rows.by_rates[self.kept], len(self.normals)
        normals, bound, impulse = along[:count], self.bound[self.normals], self.cones.z
        if not has_solver():
            labels = ", ".join(self.contacts.frictions.labels)
            raise Blocked(
                f"the friction of {labels} was not found to more than {missed:.1g} of the step, and the package"
                f" clarabel, which gives other starts, is missing: {install_command('contact')}"
            )
        ends = list(itertools.pairwise(self.first))
        bounds = self.bounds(start)
        for _ in range(MANY_PASSES):
            discs = [(c, along[i:j]) for c, (i, j) in zip(bounds, ends, strict=True)]
            try:
                program = solve_program(self.task.step, normals, bound, discs)
            except Infeasible as problem:
                raise Infeasible(self.normals[problem.rows]) from None
            z = np.concatenate([program.alpha, *program.beta])
            impulse[:] = z
            if not ends:
                return
            missed = min(missed, solve_cones(self.cones, self.scale))
            if missed <= SOLVED:
                return
            bounds = 0.5 * (bounds + self.bounds(z))
        names = ", ".join([*self.contacts.frictions.labels, *self.contacts.ground.labels])
        raise Blocked(
            f"no friction of {names} was found that agrees with the pressures that it causes itself, to more than"
            f" {missed:.1g} of the step. There may be none at this pose: with long arms on small bearings, or large"
            " coefficients of friction, a joint can jam from one instant to the next. Other steps dt, larger or"
            " smaller, may pass it"
        )

    def bounds(self, z: np.ndarray) -> np.ndarray:
        """Return the bounds (K,) of the discs at the impulses ``z`` of the kept rows."""
        cones = self.cones
        sizes = cones.weight * np.abs(cones.F @ z + cones.f)
        return np.array([sizes[i:j].sum() for i, j in itertools.pairwise(cones.term)])

    def _terms(self, reduced: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return F (T, n), f (T,), weights (T,) and the first term of each disc (K + 1,), see `Cones`."""
        contacts, kept = self.contacts, self.kept
        bearings, owner = contacts.frictions.bearings, contacts.frictions.owner
        points = self.discs[len(owner) :]  # all bearings are kept
        n, count = len(kept), len(points)
        F = np.zeros((count, n))
        F[np.arange(count), np.searchsorted(self.normals, contacts.pressed_by[points])] = 1.0
        friction = contacts.ground.friction[contacts.pressed_by[points] - len(contacts.measure)]
        if bearings:
            frictions = contacts.frictions
            pressures = self._pressures(reduced)
            f, weight = np.append(pressures[:, 0], np.zeros(count)), np.append(frictions.weights, friction)
            F = np.concatenate([pressures[:, 1:], F])
            return F, f, weight, np.cumsum([0, *frictions.pressing, *[1] * count])
        return F, np.zeros(count), friction, np.arange(count + 1)

    def _pressures(self, reduced: np.ndarray) -> np.ndarray:
        """See `JointFrictions.pressures`."""
        h, before, step, rest = self.task
        along, load = self.rows.by_rates[self.kept], self.rows.load[self.kept]
        after = np.column_stack([rest.p + rest.E @ rest.target, rest.E @ reduced.T])
        impulse = step.A @ after
        impulse[:, 0] -= step.b
        impulse[:, 1:] -= along.T
        multiplier = rest.multiplier(impulse)
        return self.contacts.frictions.pressures(h, self.rows.jacobian, before, after, multiplier, load)
