"""Formulas from functions of users: called once with numbers that keep record of what is done with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from varint.base.display import Shown
from varint.mathematics.formulas.operations import (
    ADD,
    ARCTAN2,
    CONSTANT,
    DIVIDE,
    INPUT,
    MULTIPLY,
    OF_ONE,
    POWER,
    SUBTRACT,
    apply_operation,
)
from varint.mathematics.formulas.records import POSE

NO_ARGUMENTS = 0, 0
PLAIN = int, float, np.integer, np.floating


@dataclass(frozen=True, eq=False)
class Formula(Shown):
    """Results by the poses of bodies.

    Attributes
    ----------
    operation : (n, 3) int
        Code and arguments of each operation; the first 12 of each body are its pose, see `records.POSE`.
    constant : (n,)
    output : (m,) int
        Operations that are the results.
    """

    operation: np.ndarray
    constant: np.ndarray
    output: np.ndarray

    def __call__(self, position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Return the results (m,) at positions (bodies, 3) and rotation matrices (bodies, 3, 3)."""
        inputs = np.concatenate([position, np.reshape(rotation, (len(position), 9))], axis=1).ravel()
        values = np.zeros(len(self.operation))
        for n, (code, a, b) in enumerate(self.operation.tolist()):
            if code in (INPUT, CONSTANT):
                values[n] = inputs[n] if code == INPUT else self.constant[n]
            else:
                with np.errstate(all="ignore"):
                    values[n] = apply_operation(code, values[a], values[b])[0]
        return values[self.output]


class UnknownNumber:
    """A number that is not known yet, and what it is made of."""

    def __init__(
        self, code: int, a: "UnknownNumber | None" = None, b: "UnknownNumber | None" = None, number: float = 0.0
    ) -> None:
        self.code, self.a, self.b, self.number = code, a, b, number

    def __neg__(self) -> "UnknownNumber":
        return self * -1.0

    def __pos__(self) -> "UnknownNumber":
        return self

    def __abs__(self) -> "UnknownNumber":
        return self.absolute()  # type: ignore[attr-defined]

    def conjugate(self) -> "UnknownNumber":
        return self

    def __add__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else _made(ADD, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else _made(SUBTRACT, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _made(SUBTRACT, other, self)

    def __mul__(self, other: Any) -> Any:
        return self if _is(other, 1.0) else 0.0 if _is(other, 0.0) else _made(MULTIPLY, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self if _is(other, 1.0) else _made(DIVIDE, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if _is(other, 0.0) else _made(DIVIDE, other, self)

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, UnknownNumber):
            return (other * self.log()).exp()  # type: ignore[attr-defined]
        if _is(other, 1.0) or _is(other, 0.0):
            return self if other else 1.0
        return self * self if _is(other, 2.0) else _made(POWER, self, other)

    def __rpow__(self, other: Any) -> Any:
        return (self * np.log(other)).exp()

    def square(self) -> "UnknownNumber":
        return self * self

    def arctan2(self, other: Any) -> Any:
        return _made(ARCTAN2, self, other)

    def hypot(self, other: Any) -> Any:
        return (self * self + other * other).sqrt()

    def _refuse(self, *_: Any) -> NoReturn:
        raise TypeError(
            "a number by the poses is compared or taken apart, which has no derivative: write the function in"
            " arithmetic and numpy's functions (np.sqrt, np.sin, np.arctan2, np.cross, np.linalg.norm, ...), without"
            " `if`, `min`, `max` or `where` of such numbers, and with np in place of math"
        )

    __hash__ = object.__hash__
    __bool__ = __float__ = __int__ = __index__ = __complex__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse  # type: ignore[assignment]
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __round__ = __floor__ = __ceil__ = __trunc__ = _refuse


def _unary(code: int) -> Callable:
    return lambda self: UnknownNumber(code, self, self)


for _name, _code in OF_ONE.items():
    setattr(UnknownNumber, _name, _unary(_code))


def _is(value: Any, number: float) -> bool:
    return isinstance(value, PLAIN) and float(value) == number


def _traced(value: Any) -> "UnknownNumber | None":
    if isinstance(value, UnknownNumber):
        return value
    return UnknownNumber(CONSTANT, number=float(value)) if isinstance(value, PLAIN) else None


def _made(code: int, a: Any, b: Any) -> Any:
    first, last = _traced(a), _traced(b)
    return NotImplemented if first is None or last is None else UnknownNumber(code, first, last)


def trace(function: Callable, bodies: int) -> Any:
    """Call ``function(position, rotation)`` with arrays of `UnknownNumber` (bodies, 3) and (bodies, 3, 3)."""
    inputs = [UnknownNumber(INPUT, number=float(k)) for k in range(POSE * bodies)]
    table = np.array(inputs, dtype=object).reshape(bodies, POSE)
    return function(table[:, :3].copy(), table[:, 3:].reshape(bodies, 3, 3).copy())


def formula_of(results: Sequence[Any], bodies: int) -> Formula:
    """Return the formula of ``results``, `UnknownNumber` or numbers, equal operations once.

    Raises TypeError for other results.
    """
    rows: list[tuple[int, int, int]] = [(INPUT, *NO_ARGUMENTS)] * (POSE * bodies)
    constants, number_of, known = [0.0] * len(rows), {}, {}

    def place(result: UnknownNumber) -> int:
        stack = [result]
        while stack:
            item = stack[-1]
            if id(item) in number_of:
                stack.pop()
                continue
            if item.code == INPUT:
                number_of[id(item)] = int(item.number)
                continue
            waits = [each for each in (item.a, item.b) if each is not None and id(each) not in number_of]
            if waits:
                stack.extend(waits)
                continue
            a, b = (NO_ARGUMENTS[0] if each is None else number_of[id(each)] for each in (item.a, item.b))
            key = item.code, a, b, item.number
            if key not in known:
                known[key] = len(rows)
                rows.append((item.code, a, b))
                constants.append(item.number)
            number_of[id(item)] = known[key]
        return number_of[id(result)]

    traced = [_traced(result) for result in results]
    for result, item in zip(results, traced, strict=True):
        if item is None:
            raise TypeError(f"a result is {type(result).__name__}, not a number")
    output = [place(item) for item in traced if item is not None]
    return Formula(np.array(rows, dtype=np.int64), np.array(constants), np.array(output, dtype=np.int64))
