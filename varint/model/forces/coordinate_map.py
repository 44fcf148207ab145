"""Fewer coordinates in place of those of several joints, kept by a coupling for each one that follows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

import numpy as np
import scipy  # whose parts are imported where they are used

from varint.base.checks import array_of, check_name, function_of, sequence_of, shown, whole_number
from varint.base.errors import MechanismError
from varint.base.numba import compiled_law
from varint.model.forces.base import register
from varint.model.forces.coupled import Coupled

if TYPE_CHECKING:
    from varint.model.structure import Structure

INDEPENDENT = 1e-10  # of the largest pivot, the least of columns of a matrix that are independent
ROUND_OFF = 1e-14  # of the largest factor of a coupling, below which a factor is none
DIFFERENCE = 1e-5  # of a coordinate, relative to one or more
TOLERANCE = 1e-5  # of a derivative, relative


@register
@dataclass(frozen=True, eq=False)
class CoordinateMap(Coupled):
    """Keeps coordinates of joints to a map of fewer, hyper-reduced ones, linear or by functions (DIFF section 2.6).

    ``coordinates``: two or more (n) of (joint, coordinate), m or rad; they count their turns. One of the three:

    ``matrix`` (n, k), k < n: what each changes by with each of k hyper-reduced coordinates, which have no place of
    their own. The k rows that are most independent lead, and the others follow them.
    ``polynomials`` (n - 1) of the first coordinate, which leads: each other one is c0 + c1 first + c2 first^2 + ..., a
    row of coefficients for each, as knees have.
    ``functions`` (n - 1) of the first coordinate, which leads: each other one is f(first), and f returns (value, slope,
    curvature), which are compared with differences where a run starts. They are compiled by numba, and go into no file.

    `Mechanism.state` gives states on the map; what another one misses at the start of a run it goes on to miss. The
    effort is along each coordinate that follows, N or N m; ``traj.force`` is the sum of these. Gradients of runs know
    no functions and no polynomials.
    """

    coordinates: Sequence[tuple[str, int]] = field(kw_only=True)
    matrix: Annotated[np.ndarray, (None, None)] | None = field(default=None, kw_only=True)
    functions: Sequence[Callable] | None = field(default=None, kw_only=True)
    polynomials: Sequence[Sequence[float]] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs = sequence_of(self.coordinates, f"coordinates of {self.label}", "(joint, coordinate)")
        self._set("coordinates", tuple(self._place(place) for place in pairs))
        if sum(option is not None for option in (self.matrix, self.functions, self.polynomials)) != 1:
            raise MechanismError(f"{self.label} needs matrix=, polynomials= or functions=, one of the three")
        if self.matrix is not None:
            self._check_matrix()
        elif self.functions is not None:
            self._check_functions()
        else:
            self._check_polynomials()

    @property
    def maps(self) -> tuple[Callable, ...]:
        """Return functions of the first coordinate for the others, in their order; () if they follow a matrix."""
        return tuple(self.functions or map(_polynomial, self.polynomials or ()))  # type: ignore[arg-type]

    def _place(self, place: object) -> tuple[str, int]:
        label, form = f"a coordinate of {self.label}", "(joint, coordinate)"
        parts = sequence_of(place, label, form)
        if len(parts) != 2:
            raise MechanismError(f"coordinates of {self.label} must be {form}, got {shown(place)}")
        return check_name(parts[0], f"the joint of {label}"), whole_number(parts[1], f"the number of {label}")

    def _check_matrix(self) -> None:
        count = len(self.coordinates)
        self._set("matrix", array_of(self.matrix, (count, None), f"matrix of {self.label}"))  # type: ignore[arg-type]
        assert self.matrix is not None
        if not 0 < self.matrix.shape[1] < count:
            raise MechanismError(
                f"matrix of {self.label} must have fewer columns than the {count} coordinates, and one or more,"
                f" got {self.matrix.shape[1]}"
            )
        pivots = np.abs(np.diag(_factors(self.matrix)[1]))
        if pivots[-1] <= INDEPENDENT * pivots[0]:
            raise MechanismError(f"columns of the matrix of {self.label} must be independent: leave one out")

    def _check_functions(self) -> None:
        self._set("functions", sequence_of(self.functions, f"functions of {self.label}", "functions"))
        assert self.functions is not None
        self._check_count(self.functions, "function")
        for number, function in enumerate(self.functions):
            label = f"function {number} of {self.label}"
            function_of(function, label)
            try:
                compiled_law(function, 1)
            except TypeError as problem:
                raise MechanismError(f"{label} must compile to (value, slope, curvature): {problem}") from problem

    def _check_polynomials(self) -> None:
        label = f"polynomials of {self.label}"
        rows = sequence_of(self.polynomials, label, "rows of coefficients")
        self._set("polynomials", tuple(tuple(map(float, array_of(row, (None,), f"a row of {label}"))) for row in rows))
        self._check_count(rows, "polynomial")
        if not all(self.polynomials):  # type: ignore[arg-type]
            raise MechanismError(f"a row of {label} needs one coefficient or more")

    def _check_count(self, listed: Sequence, one: str) -> None:
        if len(listed) != max(1, len(self.coordinates) - 1):
            raise MechanismError(
                f"{self.label} needs a {one} for each coordinate after the first, which leads:"
                f" {len(self.coordinates)} coordinates, {len(listed)} {one}s"
            )

    def sums(self, structure: "Structure") -> list:
        if self.matrix is not None:
            return self._linear(self.matrix)
        first, *others = self.coordinates
        pairs = zip(others, self.maps, strict=True)
        return [[(*place, 1.0, None), (*first, -1.0, None, function)] for place, function in pairs]

    def _linear(self, matrix: np.ndarray) -> list:
        _, R, order = _factors(matrix)
        k = matrix.shape[1]
        followed = np.linalg.solve(R[:, :k], R[:, k:])  # (k, n - k) of the leading ones, by each that follows
        sums = []
        for row, factors in zip(order[k:], followed.T, strict=True):
            significant = np.abs(factors) > ROUND_OFF * max(1.0, np.abs(factors).max())
            leading = [
                (*self.coordinates[lead], -float(factor), None)
                for lead, factor in zip(order[:k][significant], factors[significant], strict=True)
            ]
            sums.append([(*self.coordinates[row], 1.0, None), *leading])
        return sums

    def check_functions(self, coordinate: Callable[[str, int], float]) -> None:
        """Check that functions are finite near the first coordinate, with slopes and curvatures of their values."""
        value = coordinate(*self.coordinates[0])
        for number, function in enumerate(self.maps):
            label, compiled = f"function {number} of {self.label}", compiled_law(function, 1)
            h = DIFFERENCE * max(1.0, abs(value))
            try:
                below, here, above = (np.array(compiled(x), dtype=float) for x in (value - h, value, value + h))
            except Exception as problem:  # whatever the user's function raises
                raise MechanismError(f"{label} raised {problem!r} at {value:g}, where the run starts") from problem
            if not np.isfinite([below, here, above]).all():
                raise MechanismError(f"{label} must be finite, got {here.tolist()} at {value:g}, where the run starts")
            slopes = (above - below)[:2] / (2 * h)
            for name, stated, is_ in zip(("slope", "curvature"), here[1:], slopes, strict=True):
                if abs(stated - is_) > TOLERANCE * max(1.0, np.abs(here).max(), abs(is_)):
                    raise MechanismError(
                        f"the {name} of {label} is {stated:g} at {value:g}, its values rise by {is_:g}"
                    )


@lru_cache(maxsize=4096)
def _polynomial(coefficients: tuple[float, ...]) -> Callable:
    """Return x -> (value, slope, curvature), one function for equal coefficients."""
    last = len(coefficients) - 1

    def polynomial(x: float) -> tuple[float, float, float]:
        value = slope = half = 0.0
        for k in range(last, -1, -1):  # Horner's rule, of the derivatives too
            half = half * x + slope
            slope = slope * x + value
            value = value * x + coefficients[k]
        return value, slope, 2.0 * half

    return polynomial


def _factors(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Q (k, k), R (k, n) and the order of the rows of the matrix, leading ones first."""
    return scipy.linalg.qr(matrix.T, pivoting=True, check_finite=False)
