"""Values that are wrong somewhere, by the name of what they are, and what each of them can never pass for."""

import datetime
import decimal
import fractions
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import varint as vi


class Hostile:
    """Raises whatever it is asked."""

    __hash__ = None  # type: ignore[assignment]

    def _raise(self, *_: Any) -> Any:
        raise ArithmeticError("hostile")

    __repr__ = __str__ = __eq__ = __float__ = __int__ = __index__ = __len__ = __iter__ = __bool__ = __array__ = _raise
    __getitem__ = __lt__ = __le__ = __gt__ = __ge__ = __fspath__ = _raise


class Text(str):
    """A str by another name."""


def _in_itself() -> list:
    found: list = []
    found.append(found)
    return found


def _deep(depth: int) -> list:
    found: list = []
    for _ in range(depth):
        found = [found]
    return found


def raising(*_: Any) -> Any:
    raise RuntimeError("a function that raises")


@cache
def a_mechanism() -> vi.Mechanism:
    return vi.mechanisms.double_pendulum()


@cache
def a_driven_mechanism() -> vi.Mechanism:
    return vi.mechanisms.cart_pole(effort=0.1)


@cache
def a_run() -> vi.Trajectory:
    return vi.simulate(a_driven_mechanism(), 0.01, 0.005)


WRONG: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "numpy's True": lambda: np.True_,
    "no text": lambda: "",
    "a blank": lambda: " ",
    "'1.0'": lambda: "1.0",
    "'world'": lambda: "world",
    "'nosuch'": lambda: "nosuch",
    "a str of another class": lambda: Text("nosuch"),
    "half a surrogate": lambda: "\ud800",
    "a zero byte": lambda: "a\0b",
    "a long text": lambda: "x" * 5000,
    "bytes": lambda: b"x",
    "a path": lambda: Path("nosuch/x.json"),
    "1j": lambda: 1j,
    "complex 0-d": lambda: np.array(1j),
    "complex of zero imaginary part": lambda: np.complex128(1.0),
    "a date": lambda: datetime.date(2020, 1, 1),
    "numpy's date": lambda: np.datetime64("2020-01-01"),
    "a time": lambda: datetime.timedelta(1),
    "numpy's time": lambda: np.timedelta64(1, "s"),
    "a decimal": lambda: decimal.Decimal("1"),
    "a fraction": lambda: fractions.Fraction(1, 2),
    "nan": lambda: np.nan,
    "inf": lambda: np.inf,
    "-inf": lambda: -np.inf,
    "-1": lambda: -1,
    "0": lambda: 0,
    "1": lambda: 1,
    "2": lambda: 2,
    "0.5": lambda: 0.5,
    "2.0": lambda: 2.0,
    "2**63": lambda: 2**63,
    "10**9": lambda: 10**9,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "1e308": lambda: 1e308,
    "-1e308": lambda: -1e308,
    "1e200": lambda: 1e200,
    "1e-200": lambda: 1e-200,
    "5e-324": lambda: 5e-324,
    "1e16": lambda: 1e16,
    "float32": lambda: np.float32(1.5),
    "int8": lambda: np.int8(3),
    "longdouble": lambda: np.longdouble("1e4000"),
    "0-d": lambda: np.array(2.0),
    "0-d nan": lambda: np.array(np.nan),
    "(1,)": lambda: np.array([1.0]),
    "[1.0]": lambda: [1.0],
    "(3,)": lambda: np.ones(3),
    "(2, 3)": lambda: np.ones((2, 3)),
    "(3, 3, 3)": lambda: np.ones((3, 3, 3)),
    "(0,)": lambda: np.zeros(0),
    "zeros": lambda: np.zeros(3),
    "[]": list,
    "()": tuple,
    "{}": dict,
    "a set": lambda: {1, 2, 3},
    "ragged": lambda: [1, [2, 3]],
    "texts": lambda: ["a", "b", "c"],
    "texts of numbers": lambda: ["1", "0", "0"],
    "truths": lambda: [True, False, True],
    "a truth among numbers": lambda: [0.0, True, 0.0],
    "array of truths": lambda: np.array([True, False, True]),
    "array of texts": lambda: np.array(["1", "0", "0"]),
    "array of complex": lambda: np.array([1.0 + 0j, 0, 0]),
    "array of objects": lambda: np.array([1, 0, 0], dtype=object),
    "array of dates": lambda: np.array(["2020-01-01"] * 3, dtype="M8[D]"),
    "array of records": lambda: np.zeros(3, dtype=[("a", float)]),
    "masked": lambda: np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False]),
    "nans": lambda: [np.nan] * 3,
    "Nones": lambda: [None] * 3,
    "huge whole numbers": lambda: [10**400, 0, 0],
    "1e308s": lambda: [1e308] * 3,
    "1e200s": lambda: [1e200, -1e200, 1e200],
    "1e-320s": lambda: [1e-320, 0, 0],
    "range": lambda: range(3),
    "an iterator": lambda: iter([1.0, 2.0, 3.0]),
    "a list in itself": _in_itself,
    "a deep list": lambda: _deep(500),
    "a deeper list": lambda: _deep(100_000),
    "a dict of nothing known": lambda: {"nosuch": 1.0},
    "a dict of numbers": lambda: {1: 2},
    "a dict of None": lambda: {None: None},
    "a dict of tuples": lambda: {(): 1},
    "an object": object,
    "a hostile object": Hostile,
    "hostile objects": lambda: [Hostile(), Hostile(), Hostile()],
    "a class": lambda: int,
    "a class of errors": lambda: vi.VarintError,
    "a module": lambda: np,
    "a function that raises": lambda: raising,
    "a function without arguments": lambda: lambda: 1.0,
    "a function that gives nan": lambda: lambda *_: np.nan,
    "a function that gives text": lambda: lambda *_: "x",
    "a function that gives None": lambda: lambda *_: None,
    "a function that gives an array": lambda: lambda *_: np.ones(3),
    "a function that gives True": lambda: lambda *_: True,
    "a function that gives huge": lambda: lambda *_: 10**400,
    "a mechanism": lambda: a_mechanism(),
    "another mechanism": lambda: vi.mechanisms.n_pendulum(3),
    "a state": lambda: a_mechanism().state(),
    "a state of another mechanism": lambda: vi.mechanisms.n_pendulum(3).state(),
    "a state of texts": lambda: vi.State(*(["a"] * 4)),
    "a state of Nones": lambda: vi.State(None, None, None, None),
    "a reduced state of Nones": lambda: vi.redmax.ReducedState(None, None),
    "a body": lambda: vi.Body.sphere("b", 0.1, 1.0),
    "a joint": lambda: vi.Free("f", "world", "b"),
    "a trajectory": lambda: a_run(),
}  # fmt: skip

NO_NUMBER = {
    "True", "False", "numpy's True", "'1.0'", "'world'", "bytes", "1j", "complex 0-d",
    "complex of zero imaginary part", "a date", "numpy's date", "a time", "numpy's time", "nan", "10**400",
    "-10**400", "0-d nan", "longdouble", "texts", "array of truths", "array of texts", "array of complex",
    "truths", "a hostile object", "an object", "a state", "{}", "[]", "(2, 3)",
}  # fmt: skip
NO_NAME = {
    "None", "True", "no text", "a blank", "bytes", "a path", "1j", "a date", "nan", "0", "1", "0.5", "10**400",
    "0-d", "(3,)", "[]", "()", "{}", "a set", "texts", "an object", "a hostile object", "a class",
    "half a surrogate", "a body", "a joint", "array of texts",
}  # fmt: skip
NO_ARRAY = {
    "True", "'1.0'", "'world'", "bytes", "1j", "a date", "nan", "texts", "texts of numbers", "truths",
    "a truth among numbers", "array of truths", "array of texts", "array of complex", "array of objects",
    "array of dates", "array of records", "masked", "nans", "Nones", "huge whole numbers", "a set", "{}",
    "ragged", "a hostile object", "a list in itself", "(3, 3, 3)", "a dict of numbers",
}  # fmt: skip
