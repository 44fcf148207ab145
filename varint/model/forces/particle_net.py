"""A net: particles with springs between them, some of which may be attached to bodies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import (
    MOST,
    array_of,
    check_name,
    freeze,
    in_a_shape,
    not_negative,
    positive,
    sequence_of,
    shown,
    unit_axis,
    whole_number,
)
from varint.base.errors import ArgumentError, MechanismError
from varint.mathematics.elasticity.spring_net import SpringNet
from varint.model.arrays import Pairs, Points, Values
from varint.model.forces.base import Element, Force, register
from varint.model.forces.path import At
from varint.model.forces.soft_mesh import AttachedVertices, SoftMesh, attached_parts, checked_attach
from varint.model.mesh_reader import Chosen, MeshSource
from varint.model.sagging import sagging_points

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class ParticleNet(Force):
    """Particles of three coordinates with springs between them: nets, cloth, ropes, point masses.

    It stands among the forces of a mechanism. Free particles move by themselves; attached ones move with their bodies,
    whose inertia they add to. No spring needs a closure, and no particle a body. For `varint.simulate` of order 2 and
    above, and `varint.redmax.simulate` with the implicit integrators in steps of dt; ``traj.vertices`` and
    ``traj.vertex_velocities`` hold the motion. See docs/particles.md.

    Parameters
    ----------
    name : str
    points : (n, 3)
        Places of the particles, m, world, in the reference configuration of the bodies.
    masses : float or (n,)
        Of each particle, kg; zero for attached ones that add no inertia.
    springs : (m, 2)
        Numbers of the two particles of each.
    stiffness, damping : float or (m,)
        Of each spring, N/m and N s/m.
    rest_length : float or (m,), optional
        Of each spring, m; the distance of its points where not given.
    slack : bool
        If true, springs resist extension only: one below its rest length has damping, and no elastic force.
    attach : dict of body name to numbers of particles, or sequence of AttachedVertices
        The world among the bodies; nothing is attached where not given.
    velocities : (n, 3), optional
        Of the free particles at the start, m/s, world; where not given they move along with the bodies.

    Raises
    ------
    MechanismError
        Also for springs of a particle with itself or of no length, for two springs between the same particles, and for
        particles of two bodies.
    """

    points: Points
    masses: float | Values = field(kw_only=True)
    springs: Pairs = field(kw_only=True)
    stiffness: float | Values = field(kw_only=True)
    rest_length: float | Values | None = field(default=None, kw_only=True)
    damping: float | Values = field(default=0.0, kw_only=True)
    slack: bool = field(default=False, kw_only=True)
    attach: Sequence[AttachedVertices] = field(default=(), kw_only=True)
    velocities: Points | None = field(default=None, kw_only=True)

    solved_for: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        points = array_of(self.points, (None, 3), f"points of {self.label}")
        self._set("points", points)
        springs = _checked_springs(self.springs, len(points), self.label)
        self._set("springs", springs)
        distances = np.linalg.norm(points[springs[:, 1]] - points[springs[:, 0]], axis=1)
        if (distances == 0.0).any():
            worst = int(np.argmin(distances))
            raise MechanismError(
                f"springs of {self.label}: number {worst} is between {_both(springs[worst])}, which are at one point"
            )
        self._set("attach", checked_attach(self.attach, len(points), self.label))
        self._check_masses()
        self._each_spring("stiffness", above_zero=True)
        self._each_spring("damping")
        if self.rest_length is None:
            self._set("rest_length", freeze(distances))
        self._each_spring("rest_length", above_zero=True)
        if self.velocities is not None:
            self._set("velocities", array_of(self.velocities, points.shape, f"velocities of {self.label}"))

    @property
    def label(self) -> str:
        """Return the name in messages, see `Force`."""
        return f"particle net '{self.name}'"

    @classmethod
    def cloth(
        cls,
        name: str,
        size: ArrayLike,
        divisions: Sequence[int],
        *,
        mass: float,
        stiffness: ArrayLike,
        damping: float = 0.0,
        slack: bool = False,
        attach: Mapping[str, Chosen] | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        directions: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    ) -> "ParticleNet":
        """Make a rectangle of square or rectangular cells.

        Parameters
        ----------
        size : (2,)
            Its length and its width, m.
        divisions : (2,)
            Numbers of cells along these.
        mass : float
            Of all, kg: a quarter of that of a cell for each of its corners.
        stiffness : float or (3,)
            Of springs along the edges of the cells, along both diagonals of each cell, and between every second
            particle along the edges, N/m; 0 leaves a kind out. A number k is (k, k / 2, 0).
        damping : float
            Of each spring over its stiffness, s.
        slack : bool
            As in `ParticleNet`.
        attach : dict, optional
            Body name to the particles attached to it: their numbers, a mask of all of them, or a function of the points
            (n, 3), m, that gives a mask (n,). Particle i (ny + 1) + j is i cells along the length, j along the width.
        position : (3,)
            Its centre, m, world, in the reference configuration.
        directions : (2, 3)
            Of its length and width, world; the second is made perpendicular to the first.
        """
        label = f"particle net {shown(check_name(name, 'a particle net'))}"
        points, number = _grid(label, size, divisions, position, directions)
        ends = (np.isin(np.arange(count), (0, count - 1)) for count in number.shape)
        shares = np.multiply.outer(*(np.where(end, 0.5, 1.0) for end in ends))
        stiffnesses = in_a_shape(stiffness, ((), (3,)), f"stiffness of {label}")
        kinds = (
            np.ravel(stiffnesses)
            if np.ndim(stiffnesses)
            else np.array([float(stiffnesses), 0.5 * float(stiffnesses), 0.0])
        )
        if not kinds[0] > 0.0 or not (kinds >= 0.0).all():
            raise MechanismError(
                f"stiffness of {label} must be positive along edges, and zero or positive for the others"
            )
        shifts = ((1, 0), (0, 1)), ((1, 1), (1, -1)), ((2, 0), (0, 2))
        springs = [
            (k, _shifted(number, *shift)) for k, of in zip(kinds, shifts, strict=True) if k > 0.0 for shift in of
        ]
        constants = np.concatenate([np.full(len(pairs), k) for k, pairs in springs])
        return cls(
            name,
            points,
            masses=positive(mass, f"mass of {label}") * (shares / shares.sum()).ravel(),
            springs=np.concatenate([pairs for _, pairs in springs]),
            stiffness=constants,
            damping=not_negative(damping, f"damping of {label}") * constants,
            slack=slack,
            attach=_chosen(name, points, attach),
        )

    @classmethod
    def rope(
        cls,
        name: str,
        a: At | ArrayLike,
        b: At | ArrayLike,
        *,
        segments: int,
        mass: float,
        stiffness: float,
        damping: float = 0.0,
        length: float | None = None,
        slack: bool = True,
        down: ArrayLike = (0.0, 0.0, -1.0),
    ) -> "ParticleNet":
        """Make a rope between two ends.

        Parameters
        ----------
        a, b : At or (3,)
            The point of a body, "world" among them, that holds an end; or the place of a free end, m, world, reference.
        segments : int
            n springs between n + 1 particles in line, from 1; particle 0 is at ``a``.
        mass : float
            Of all, kg, spread evenly: an n-th at each inner particle, half of it at either end.
        stiffness : float
            Of the whole rope, N/m (EA over its length): n times as much for each spring.
        damping : float
            Of each spring over its stiffness, s.
        length : float, optional
            Unloaded, m; the distance of the ends where not given.
        slack : bool
            As in `ParticleNet`; without it a rope pushes back too.
        down : (3,)
            Direction of the sag: a rope longer than that distance lies on an arc in the reference configuration.
        """
        label = f"particle net {shown(check_name(name, 'a particle net'))}"
        (body_a, start), (body_b, end) = _end(a, f"a of {label}"), _end(b, f"b of {label}")
        distance = float(np.linalg.norm(end - start))
        if distance == 0.0:
            raise MechanismError(f"{label} needs two ends that are apart")
        n = whole_number(segments, f"segments of {label}", 1, most=MOST)
        rest = (distance if length is None else positive(length, f"length of {label}")) / n
        points = sagging_points(start, end, rest, n, unit_axis(down, f"down of {label}"), label)
        shares = np.ones(n + 1)
        shares[[0, n]] = 0.5
        ends: dict[str, list[int]] = {}
        for particle, body in ((0, body_a), (n, body_b)):
            if body is not None:
                ends.setdefault(body, []).append(particle)
        constant = n * positive(stiffness, f"stiffness of {label}")
        return cls(
            name,
            points,
            masses=positive(mass, f"mass of {label}") * shares / n,
            springs=np.column_stack([np.arange(n), np.arange(1, n + 1)]),
            stiffness=constant,
            rest_length=rest,
            damping=not_negative(damping, f"damping of {label}") * constant,
            slack=slack,
            attach=attached_parts(ends),
        )

    @cached_property
    def mesh(self) -> SpringNet:
        """Return its energy, forces, tensions and stiffness as functions of the places of its particles."""
        each: Any = self
        return SpringNet(
            self.points, each.masses, each.springs, each.stiffness, each.rest_length, each.damping, self.slack
        )

    @property
    def mass(self) -> float:
        """Return the mass, kg."""
        return float(np.sum(self.masses))

    def frequencies(self, count: int = 6, at: "ArrayLike | None" = None) -> np.ndarray:
        """Return the lowest natural frequencies (count,), Hz, with the attached particles at rest.

        Zero for free motions.

        ``at`` (n, 3), m: equilibrium of the particles under their loads, whose tensions add to the stiffness; the
        points where not given. Raises ArgumentError unless ``count`` is below the number of free coordinates.
        """
        place = self.points if at is None else array_of(at, self.points.shape, "at", ArgumentError)
        free = self._element.free
        count = whole_number(count, "count", 1, ArgumentError)
        if count >= 3 * len(free):
            raise ArgumentError(f"{self.label} has {3 * len(free)} coordinates: count must be less, got {count}")
        return self.mesh.frequencies(place, free, count)

    @property
    def _element(self) -> SoftMesh:
        return SoftMesh(self.name, self.label, self.mesh, tuple(self.attach), self.velocities)

    def elements(self, structure: "Structure") -> list[Element]:
        for part in self.attach:
            self._body(structure, part.body)
        return [self._element]

    def _check_masses(self) -> None:
        label, count = f"masses of {self.label}", len(self.points)
        masses = np.array(np.broadcast_to(in_a_shape(self.masses, ((), (count,)), label), (count,)))
        self._set("masses", freeze(masses))
        held = np.isin(np.arange(count), [vertex for part in self.attach for vertex in part.vertices])
        if held.all():
            raise MechanismError(f"attach of {self.label}: every particle is attached, so that none can move")
        wrong = np.flatnonzero(np.where(held, masses < 0.0, masses <= 0.0))
        if wrong.size:
            least = "zero or positive" if held[wrong[0]] else "positive"
            raise MechanismError(f"{label} must be {least}, got {masses[wrong[0]]:g} kg of particle {wrong[0]}")

    def _each_spring(self, name: str, above_zero: bool = False) -> None:
        """Check the field ``name``, one value for all springs or one each, and keep it as an array (m,)."""
        label, count = f"{name} of {self.label}", len(self.springs)
        values = np.array(np.broadcast_to(in_a_shape(getattr(self, name), ((), (count,)), label), (count,)))
        wrong = np.flatnonzero(values <= 0.0 if above_zero else values < 0.0)
        if wrong.size:
            least = "positive" if above_zero else "zero or positive"
            raise MechanismError(f"{label} must be {least}, got {values[wrong[0]]:g} of spring {wrong[0]}")
        self._set(name, freeze(values))


def _checked_springs(listed: ArrayLike, count: int, label: str) -> np.ndarray:
    """Return integers (m, 2). Raises MechanismError."""
    subject = f"springs of {label}"
    none = (
        listed.shape[:1] == (0,) if isinstance(listed, np.ndarray) else isinstance(listed, (list, tuple)) and not listed
    )
    array = np.zeros((0, 2)) if none else array_of(listed, (None, 2), subject)
    if not np.array_equal(array, np.floor(array)) or ((array < 0) | (array >= count)).any():
        raise MechanismError(f"{subject} must be pairs of numbers of its {count} points, 0 to {count - 1}")
    springs = array.astype(np.int64)
    same = np.flatnonzero(springs[:, 0] == springs[:, 1])
    if same.size:
        raise MechanismError(f"{subject}: number {same[0]} is of particle {springs[same[0], 0]} with itself")
    ordered = np.sort(springs, axis=1)
    _, first, places = np.unique(ordered, axis=0, return_index=True, return_inverse=True)
    twice = np.flatnonzero(first[places.ravel()] != np.arange(len(springs)))
    if twice.size:
        one, other = first[places.ravel()[twice[0]]], twice[0]
        raise MechanismError(
            f"{subject}: numbers {one} and {other} are both between {_both(ordered[other])}: give one spring with the"
            " sum of both stiffnesses"
        )
    return freeze(springs)


def _both(pair: np.ndarray) -> str:
    return f"particles {pair[0]} and {pair[1]}"


def _end(end: At | ArrayLike, label: str) -> tuple[str | None, np.ndarray]:
    """Return the body that holds an end of a rope, None for a free one, and its point."""
    return (end.body, end.point) if isinstance(end, At) else (None, array_of(end, (3,), label))


def _grid(
    label: str, size: ArrayLike, divisions: Sequence[int], position: ArrayLike, directions: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 3) of a rectangle of cells, and their numbers (nx + 1, ny + 1) in the grid; see `cloth`."""
    lengths = array_of(size, (2,), f"size of {label}")
    if not (lengths > 0.0).all():
        raise MechanismError(f"size of {label} must be above zero, got {lengths.tolist()}")
    counts = sequence_of(divisions, f"divisions of {label}", "two whole numbers")
    if len(counts) != 2:
        raise MechanismError(f"divisions of {label} must be two whole numbers, got {shown(divisions)}")
    nx, ny = (whole_number(count, f"divisions of {label}", 1, most=MOST) for count in counts)
    along, across = array_of(directions, (2, 3), f"directions of {label}")
    x = unit_axis(along, f"directions of {label}")
    if np.linalg.norm(np.cross(x, across)) <= 1e-9 * np.linalg.norm(across):
        raise MechanismError(f"directions of {label} must not be parallel, got {shown(directions)}")
    y = unit_axis(across - (across @ x) * x, f"directions of {label}")
    i, j = (part.ravel() for part in np.indices((nx + 1, ny + 1)))
    u, v = lengths[0] * (i / nx - 0.5), lengths[1] * (j / ny - 0.5)
    points = array_of(position, (3,), f"position of {label}") + u[:, None] * x + v[:, None] * y
    return points, np.arange(len(points)).reshape(nx + 1, ny + 1)


def _shifted(number: np.ndarray, i: int, j: int) -> np.ndarray:
    """Return pairs (m, 2) of numbers of a grid that are (i, j) cells apart; i not negative."""
    rows, columns = number.shape
    first = number[: rows - i, max(-j, 0) : columns - max(j, 0)]
    second = number[i:, max(j, 0) : columns + min(j, 0)]
    return np.column_stack([first.ravel(), second.ravel()])


def _chosen(name: str, points: np.ndarray, attach: Mapping[str, Chosen] | None) -> list[AttachedVertices]:
    source = MeshSource(name, points, np.zeros((0, 4), dtype=np.int64), np.arange(len(points)), {})
    return attached_parts(source.attached(attach))
