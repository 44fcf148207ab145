"""Constraints by functions of users: the bodies, and the function as a formula of their poses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from varint.base.checks import check_name, function_of, sequence_of, shown
from varint.base.errors import MechanismError
from varint.mathematics.formulas.trace import Formula, formula_of, trace
from varint.measures.formula import FormulaMeasure
from varint.model.body import WORLD
from varint.model.forces.base import Constraint, Element, Force
from varint.model.rotation_vectors import rotation_matrix

if TYPE_CHECKING:
    from varint.model.structure import Structure

SAME = 1e-12  # relative difference between the function and its formula
TRIAL = 0.1  # m and parts of a rotation: how far from the reference configuration both are compared as well


@dataclass(frozen=True, eq=False)
class UserRows(Force):
    """Rows by a function of the positions (n, 3) and rotation matrices (n, 3, 3) of n ``bodies``."""

    bodies: Sequence[str]

    constraint = True
    measure: ClassVar[type[FormulaMeasure]]
    written: ClassVar[str]  # name of the field with the function

    def __post_init__(self) -> None:
        super().__post_init__()
        names = sequence_of(self.bodies, f"bodies of {self.label}", "names")
        names = tuple(check_name(name, f"a body of {self.label}") for name in names)
        if not names or len(set(names)) < len(names) or WORLD in names:
            raise MechanismError(
                f"bodies of {self.label} must be one or more bodies, each once, without the world: {shown(names)}"
            )
        self._set("bodies", names)
        function_of(self.function, self._subject)
        len(self.formulas)

    @property
    def function(self) -> Callable:
        """Return the function that the user wrote."""
        return getattr(self, self.written)

    @property
    def _subject(self) -> str:
        return f"{self.written} of {self.label}"

    def shaped(self, results: Any) -> np.ndarray:
        """Return ``results`` of the function as rows (m, k). Raises MechanismError for other shapes."""
        raise NotImplementedError

    @cached_property
    def formulas(self) -> tuple[Formula, ...]:
        """Return a formula for each row."""
        try:
            results = trace(self.function, len(self.bodies))
        except Exception as problem:  # whatever the user's function raises
            raise MechanismError(f"{self._subject} raised {problem!r}") from problem
        rows = self.shaped(results)
        try:
            return tuple(formula_of(row.tolist(), len(self.bodies)) for row in rows)
        except TypeError as problem:
            raise MechanismError(f"{self._subject} must give numbers: {problem}") from problem

    def check_rows(self, structure: "Structure") -> np.ndarray:
        """Return the rows (m, k) in the reference configuration.

        Raises MechanismError where they are not finite, or the function is none of its arguments alone.
        """
        bodies = [structure.body(self._moving(structure, name)) for name in self.bodies]
        x = np.array([body.position for body in bodies])
        R = rotation_matrix(np.array([body.quat_wxyz for body in bodies]))
        rows = np.array([formula(x, R) for formula in self.formulas])
        for n, row in enumerate(rows):
            if not np.isfinite(row).all():
                raise MechanismError(
                    f"row {n} of {self._subject} must be finite in the reference configuration, got {shown(row)}"
                )
        shift = TRIAL * np.cos(np.arange(12.0 * len(bodies)).reshape(len(bodies), 12))
        for place in ((x, R), (x + shift[:, :3], R + shift[:, 3:].reshape(-1, 3, 3))):
            self._compare(*place)
        return rows

    def _compare(self, x: np.ndarray, R: np.ndarray) -> None:
        """Compare the formulas with the function; raises MechanismError."""
        with np.errstate(all="ignore"):
            try:
                is_now = np.array(self.shaped(self.function(x.copy(), R.copy())), dtype=float)
            except Exception as problem:  # whatever the user's function raises
                raise MechanismError(f"{self._subject} raised {problem!r} for an array of numbers") from problem
        rows = np.array([formula(x, R) for formula in self.formulas])
        if rows.shape == is_now.shape:
            slack = SAME * (1.0 + np.abs(rows).max(initial=0.0, where=np.isfinite(rows)))
            wrong = np.abs(rows - is_now) > slack
            if not wrong.any():
                return
            row, entry = np.argwhere(wrong)[0]
            where = f"row {row}, entry {entry}, is {is_now[row, entry]:g} now and was {rows[row, entry]:g}"
        else:
            where = f"it had {len(rows)} rows and now has {len(is_now)}"
        raise MechanismError(f"{self._subject} is not a function of position and rotation alone: {where}")

    def elements(self, structure: "Structure") -> list[Element]:
        self.check_rows(structure)
        return [self._element(formula) for formula in self.formulas]

    def _element(self, formula: Formula) -> Constraint:
        """Return the constraint of a row: the sum of a measure of the world and the first body, and one a pair."""
        bodies, measures = tuple(self.bodies), list[FormulaMeasure]()
        count = len(bodies)
        for a, b in [(-1, 0), *combinations(range(count), 2)]:
            share = 1.0 / count if a == 0 else 1.0 / max(1, count - 1), 1.0 / count if b == 0 else 1.0 / (count - 1)
            names = (WORLD if a < 0 else bodies[a]), bodies[b]
            measures.append(self.measure(*names, bodies, formula, (a, b), share, not measures))
        return Constraint(tuple(measures), (1.0,) * len(measures), rank=self.name)

    def acts_on(self, structure: "Structure") -> list[str]:
        return [WORLD, *self.bodies]
