"""Derivatives of an objective by numbers of the description, through the vertices of deformable bodies and nets.

With sigma and epsilon, the derivatives of the objective by the s and e of each stage (adjoint.py), the derivative
by a number is, by differences, that of one scalar: the sum over the stages of sigma . s + epsilon . e. The motion of
the bodies and of free vertices is that of the run, as are the derivatives by it; s, e, and all of attached vertices
follow with the changed number. Terms of the same kind come from the start of the vertices and, at the nodes, from the
momenta of held vertices and from what the objective reads of vertices.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from varint.base.errors import MechanismError
from varint.derivatives.along_run import MotionSum
from varint.derivatives.backward import Adjoint
from varint.derivatives.local import Derivative
from varint.derivatives.meshes.adjoint import MeshAdjoint, NodeDuals, StageDuals
from varint.derivatives.meshes.start_changes import MeshStart
from varint.derivatives.meshes.tape import MeshTape
from varint.derivatives.numbers import OTHER_PARTS, Differences, Number, by_differences, differences, of_shape
from varint.mechanism.mechanism import Mechanism
from varint.meshes.attached_meshes import AttachedMeshes
from varint.model.body import Body
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.joints.base import Joint

OF_INERTIA = ("mass", "inertia")  # fields of a body on which no mesh depends
OF_EACH = {
    "stiffness": "elements",
    "damping": "elements",
    "rest_length": "elements",
    "masses": "vertices",
}  # fields of a net that have one number for each of these

AT_KINK = 1e-5  # factor on the steps by a rest length: forces are linear in it, except where a spring goes slack
AT_START = ("stiffness", "masses")  # those of OF_EACH on which positions, velocities or momenta at the start depend


class MeshSums(NamedTuple):
    """Contributions of each element (m,) and vertex (n,) to the scalar (see above), in the unit of the objective."""

    elements: np.ndarray
    vertices: np.ndarray

    @property
    def total(self) -> float:
        """Their sum; the term of the start is not among them."""
        return float(self.elements.sum() + self.vertices.sum())


def share_of_steps(number: Number, mechanism: Mechanism) -> float:
    """Share of the steps of a number for its differences: smaller ones by rest lengths of a net."""
    if number.field is None or isinstance(number.field.item, Body | Joint):
        return 1.0
    of_a_mesh = any(number.field.item.name == mesh.name for mesh in soft_meshes(mechanism))
    return AT_KINK if of_a_mesh and number.field.attribute == "rest_length" else 1.0


class MeshNumbers:
    """The derivatives by numbers through vertices.

    Parameters
    ----------
    run : MeshTape
    objectives : int
        Their number.
    sums : list of MotionSum
        The sums along the backward pass that the derivatives need are appended.
    """

    def __init__(self, run: MeshTape, objectives: int, sums: list[MotionSum]) -> None:
        self.run, self.objectives, self.sums = run, objectives, sums
        self.own = {body.name: body.mesh for body in soft_meshes(run.mechanism)}

    def is_own(self, number: Number) -> bool:
        """Return whether nothing but a deformable body or net depends on a number."""
        return number.field is not None and number.field.item.name in self.own and self._of_force(number)

    def by(self, number: Number) -> Derivative | None:
        """Return a function (k, adjoint) for the derivative of objective k by a number; None if no mesh depends on it.

        The derivative has the shape of the number.
        """
        if number.series is not None:
            return None
        if number.field is not None:
            item, attribute, _ = number.field
            if isinstance(item, Joint) or (isinstance(item, Body) and attribute in OF_INERTIA):
                return None
            if self._of_force(number) and not self.is_own(number):
                return None
            if attribute in OF_EACH and number.value.ndim and self.is_own(number):
                return self._by_each(number)
        share = share_of_steps(number, self.run.mechanism)
        parts = by_differences(number, self.run.mechanism, self._changed, share)
        return lambda k, adjoint: of_shape(number, [part.of(lambda each: each.value(k, adjoint)) for part in parts])

    def start(self, mechanism: Mechanism) -> MeshStart:
        """Return the start of the vertices of a changed mechanism; its bodies start where the bodies of the run do."""
        return MeshStart(AttachedMeshes(mechanism, self.run.compiled), *self.run.bodies_at_start, self.run.march.given)

    def _of_force(self, number: Number) -> bool:
        assert number.field is not None
        return not isinstance(number.field.item, Body | Joint)

    def _changed(self, mechanism: Mechanism) -> "ChangedMeshes":
        changed = ChangedMeshes(self, mechanism)
        self.sums.append(changed.sum)
        return changed

    def _by_each(self, number: Number) -> Derivative:
        """Return a function for the derivatives by a field of a net with one number for each spring or particle.

        Along the run all numbers change at once, as each acts by itself. Their effect on the start, which depends on
        all of them together, is found for one number after another.
        """
        assert number.field is not None
        name, kind = number.field.item.name, OF_EACH[number.field.attribute]
        mechanism = self.run.mechanism
        step = share_of_steps(number, mechanism) * float(number.steps[0])
        every = np.ones_like(number.value)
        stages = Differences(lambda share: self._changed(number.replaced(number.value + share * every)), step)
        meshes = AttachedMeshes(mechanism, self.run.compiled)
        names = [force.name for force in mechanism.forces if force.name in self.own]
        counts = [len(getattr(mesh, "points" if kind == "vertices" else "elements")) for mesh in meshes.meshes]
        first = int(np.sum(counts[: names.index(name)]))
        place = slice(first, first + counts[names.index(name)])
        at_start = number.field.attribute in AT_START
        starts = by_differences(number, mechanism, self.start) if at_start else []

        def derivative(k: int, adjoint: Adjoint) -> np.ndarray:
            assert isinstance(adjoint, MeshAdjoint)
            along = _array_of(stages, lambda each: getattr(each.sums(k), kind)[place])
            return along + [each.of(adjoint.start_value) for each in starts] if starts else along

        return derivative


class ChangedMeshes:
    """The scalar (see above) with a changed ``mechanism``, summed up in the backward pass."""

    def __init__(self, numbers: MeshNumbers, mechanism: Mechanism) -> None:
        self.numbers, self.start = numbers, numbers.start(mechanism)
        self.meshes = self.start.meshes
        self.sum = MotionSum(numbers.objectives, self._add)

    def sums(self, k: int) -> MeshSums:
        """Return the sums for objective k, without the term of the start; after the backward pass."""
        sums = self.sum.totals[k]
        assert isinstance(sums, MeshSums)
        return sums

    def value(self, k: int, adjoint: Adjoint) -> float:
        """Return the scalar for objective k; after the backward pass."""
        assert isinstance(adjoint, MeshAdjoint)
        return self.sums(k).total + adjoint.start_value(self.start)

    def _add(self, count: int, adjoint: Adjoint, total: MeshSums | float) -> MeshSums:
        assert isinstance(adjoint, MeshAdjoint)
        if not isinstance(total, MeshSums):
            elements = sum(len(mesh.elements) for mesh in self.meshes.meshes)
            total = MeshSums(np.zeros(elements), np.zeros(len(self.meshes.points)))
        for each in adjoint.duals:
            if isinstance(each, StageDuals):
                self._add_stage(each, total)
            else:
                self._add_node(each, total)
        return total

    def _add_stage(self, stage: StageDuals, total: MeshSums) -> None:
        meshes, h, x = self.meshes, stage.h, stage.x.copy()
        for k in range(2):
            meshes.place(stage.position[k], stage.rotation[k], x[k])
        middle, velocity, both = 0.5 * (x[0] + x[1]), (x[1] - x[0]) / h, stage.by_loads(meshes)
        by_force = 0.5 * h * (both[1] - both[0])  # gradient by the forces in the middle
        responses, viscosities = meshes.responses(middle), meshes.viscosities(middle, velocity)
        total.elements[:] += meshes.by_element(by_force, responses) + meshes.by_element(by_force, viscosities)
        by_mass = np.sum((both[0] + both[1]) * velocity, axis=1) + by_force @ meshes.gravity
        total.vertices[:] += meshes.mass * by_mass

    def _add_node(self, node: NodeDuals, total: MeshSums) -> None:
        meshes = self.meshes
        velocities = [meshes.velocities(each, node.rotation) for each in (node.momenta, node.velocity)]
        total.vertices[meshes.held] -= meshes.mass[meshes.held] * np.sum(velocities[0] * velocities[1], axis=1)
        by_x, by_v = node.by_vertices
        if not node.by_vertices.any():
            return
        x, v = np.zeros((2, *by_x.shape))  # the places of free vertices stay zero: no number changes them along the run
        meshes.place(node.position, node.rotation, x)
        v[meshes.held] = velocities[1]
        # the momenta of the run over the mass, to first order: a step of a mass may be longer than small masses
        share = meshes.mass[meshes.free] / self.numbers.run.march.meshes.mass[meshes.free]
        v[meshes.free] = (2.0 - share)[:, None] * node.free
        total.vertices[:] += np.sum(by_x * x + by_v * v, axis=1)


def _array_of(changed: Differences, value: Callable[[ChangedMeshes], np.ndarray]) -> np.ndarray:
    """Return the derivative of ``value``, an array, as `Differences.of` does of a number."""

    def at(share: float) -> np.ndarray:
        if share not in changed.made:
            raise MechanismError(OTHER_PARTS)  # as when it was made: `differences` then takes the other side
        return value(changed.made[share])

    return np.asarray(differences(at, changed.step))
