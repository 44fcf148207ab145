"""A bushing: springs and dampers in all six directions between two frames."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np

from varint.base.checks import array_of, in_a_shape
from varint.base.errors import MechanismError
from varint.measures.frame import FrameCoordinate
from varint.model.arrays import Matrix, Vector
from varint.model.forces.base import Effort, Element, Force, register
from varint.model.forces.spring import SPRING

if TYPE_CHECKING:
    from varint.model.structure import Structure

ALIKE = 1e-9  # shares of stiffness that differ by less are one
DISTINCT = 0.01  # derivatives need shares that differ by this: differences of a thousandth may exchange others
SIGNS = np.array([1.0, 0.83, 0.67, 0.47, 0.29, 0.17])  # of no plane that directions are mostly in


@register
@dataclass(frozen=True, eq=False)
class Bushing(Force):
    """Linear stiffness and damping between frames of two bodies that agree in the reference configuration.

    Coordinates: shift of b's frame along the three axes of a's (m), then the rotation vector (rad) of b's frame
    against a's, in a's axes, whose turns are followed. At a whole turn it has no derivative but along itself: beyond
    that, joints have to leave one axis of rotation. ``point`` (3,), m: origin of the frames; ``axes`` (3, 3): its
    columns, world. ``stiffness``, ``damping``: (6,) diagonals or (6, 6), symmetric, without negative eigenvalue; SI
    units.

    Its effort as one number has no meaning: it is a sum over the directions in which it decouples.
    """

    body_a: str
    body_b: str
    point: Vector = field(kw_only=True)
    axes: Matrix = field(default_factory=lambda: np.eye(3), kw_only=True)
    stiffness: Annotated[np.ndarray, (6,), (6, 6)] = field(kw_only=True)
    damping: Annotated[np.ndarray, (6,), (6, 6)] = field(default_factory=lambda: np.zeros(6), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.body_a == self.body_b:
            raise MechanismError(f"{self.label} needs two bodies, got '{self.body_a}' twice")
        self._set("point", array_of(self.point, (3,), f"point of {self.label}"))
        self._set("axes", array_of(self.axes, (3, 3), f"axes of {self.label}"))
        if not np.allclose(self.axes.T @ self.axes, np.eye(3), atol=1e-8) or np.linalg.det(self.axes) < 0:
            raise MechanismError(f"axes of {self.label} must be the columns of a rotation matrix")
        for name in ("stiffness", "damping"):
            matrix = in_a_shape(getattr(self, name), ((6,), (6, 6)), f"{name} of {self.label}")
            matrix = matrix if matrix.ndim == 2 else np.diag(matrix)
            scaled = matrix / (np.abs(matrix).max() or 1.0)
            if not np.allclose(scaled, scaled.T, rtol=1e-9) or np.linalg.eigvalsh(scaled)[0] < -1e-9:
                raise MechanismError(f"{name} of {self.label} must be symmetric, without negative eigenvalue")
            self._set(name, matrix)

    def check_derivative(self, attribute: str) -> None:
        share = _shares(self.stiffness, self.damping)[2]
        alike = np.diff(np.sort(share), prepend=-1.0).min(initial=1.0) < DISTINCT
        other = {"stiffness": self.damping, "damping": self.stiffness}.get(attribute)
        if other is not None and other.any() and alike:
            raise MechanismError(
                f"{self.label} has no derivative by its {attribute}: along some axes damping and stiffness have nearly "
                "the same ratio, so that the axes along which it decouples are not unique. Let the shares "
                f"stiffness / (stiffness + damping) along its axes differ by {DISTINCT}, or use varint.redmax.gradient"
            )

    def elements(self, structure: "Structure") -> list[Element]:
        a, b = (self._body(structure, name) for name in (self.body_a, self.body_b))
        return [
            Effort(
                (FrameCoordinate(a, b, self.axes @ way[:3], self.axes @ way[3:], self.point, self.point),),
                SPRING,
                {"stiffness": stiffness, "rest": 0.0, "damping": damping},
            )
            for way, stiffness, damping in _decoupled(self.stiffness, self.damping)
        ]


def _decoupled(K: np.ndarray, D: np.ndarray) -> list[tuple[np.ndarray, float, float]]:
    """Return directions w (6,), k, d with K = sum k w w^T, D = sum d w w^T, k + d = 1."""
    scale, half, share, W = _shares(K, D)
    ways = half @ W
    ways *= np.where(SIGNS @ ways < 0.0, -1.0, 1.0)  # signs do not jump with the matrices
    return [(way, k, 1.0 - k) for way, k in zip((scale[:, None] * ways).T, share, strict=True)]


def _shares(K: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return scales (6,), a root H (6, m) of the scaled K + D, the shares (m,) of K in it and their axes W (m, m).

    The scaled K is H W diag(shares) W^T H^T. The symmetric root of a regular K + D changes smoothly with it.
    """
    scale = np.sqrt(np.maximum(np.diag(K), 0.0) + np.maximum(np.diag(D), 0.0))
    there = scale > 0.0
    scale[~there] = 1.0
    size, U = np.linalg.eigh(((K + D) / np.outer(scale, scale))[np.ix_(there, there)])
    significant = size > 1e-12
    turn = U.T if significant.all() else np.identity(int(np.count_nonzero(significant)))
    half, inverse = (U[:, significant] * np.sqrt(size[significant]) ** sign @ turn for sign in (1, -1))
    share, W = np.linalg.eigh(inverse.T @ (K / np.outer(scale, scale))[np.ix_(there, there)] @ inverse)
    if share.size and np.ptp(share) < ALIKE:  # no axes are their own
        W = np.eye(share.size)
    root = np.zeros((6, share.size))
    root[there] = half
    return scale, root, np.clip(share, 0.0, 1.0), W
