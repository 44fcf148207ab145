"""Efforts along hinges and slides that are linear in their coordinate and rate, for simulators without such laws."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from varint.extras.peers.base import Simulator
from varint.files.robots.kinds import JointDamper, JointServo, Motor, TorsionSpring
from varint.files.robots.motion_tree import MotionTree, part_at
from varint.model.forces.base import Force


class LinearEffort(NamedTuple):
    """``constant - stiffness q - damping dq/dt`` of a hinge or slide, N or N m; q as varint counts it."""

    constant: float
    stiffness: float
    damping: float

    def from_reference(self, reference: float) -> "LinearEffort":
        """Return the same effort by the coordinate ``q - reference``."""
        return self._replace(constant=self.constant - self.stiffness * reference)


def linear_efforts(
    simulator: Simulator, tree: MotionTree, besides: tuple[type[Force], ...] = ()
) -> Mapping[str, LinearEffort]:
    """Return the sums of the efforts on each part, by its name.

    Other forces, but for the classes ``besides``, are noted among the refused of the ``simulator``.
    """
    sums: dict[str, LinearEffort] = {}

    def take(force: Force) -> str | None:
        if type(force) in besides:
            return None
        if not isinstance(force, TorsionSpring | JointDamper | Motor | JointServo):
            return ""
        part = part_at(tree.parts, force.joint, force.coordinate or 0)
        if part is None:
            return " on a joint that has no such hinge or slide"
        constant, refusal = constant_effort(force)
        if refusal is not None:
            return refusal
        effort = LinearEffort(constant, getattr(force, "stiffness", 0.0), getattr(force, "damping", 0.0))
        before = sums.get(part.name, LinearEffort(0.0, 0.0, 0.0))
        sums[part.name] = LinearEffort(*(a + b for a, b in zip(before, effort, strict=True)))
        return None

    simulator.refuse_forces(take)
    return sums


def constant_effort(force: Any) -> tuple[float, str | None]:
    """Return the effort of a spring, damper, motor or servo at coordinate and rate zero, N or N m, and None.

    If it is no number, 0 and the reason.
    """
    if isinstance(force, TorsionSpring):
        return force.stiffness * force.rest_angle, None
    if isinstance(force, JointDamper):
        return 0.0, None
    if not (isinstance(force.input, np.ndarray) and force.input.ndim == 0):
        return 0.0, " whose input is no number"
    if isinstance(force, Motor):
        return float(force.input), None
    return force.stiffness * float(force.input), " with an integral" if force.integral else None
