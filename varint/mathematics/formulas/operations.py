"""The operations of a formula: numbers, values, and first and second derivatives, compiled."""

import math

from varint.base.numba import njit

INPUT, CONSTANT, ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER = range(7)
SQRT, EXP, LOG, SIN, COS, TAN, ARCSIN, ARCCOS, ARCTAN, ARCTAN2, SINH, COSH, TANH, ABSOLUTE = range(7, 21)
OF_ONE = {  # operations of one argument, by the names that numpy has for them
    "sqrt": SQRT, "exp": EXP, "log": LOG, "sin": SIN, "cos": COS, "tan": TAN, "arcsin": ARCSIN, "arccos": ARCCOS,
    "arctan": ARCTAN, "sinh": SINH, "cosh": COSH, "tanh": TANH, "absolute": ABSOLUTE,
}  # fmt: skip


@njit
def apply_operation(code, a, b):
    """Return the value of an operation on numbers ``a`` and ``b``, (3,) with its derivatives by both.

    ``code``: ADD, ..., ABSOLUTE. POWER: ``b`` is a constant, and has no derivative.
    """
    if code == ADD:
        return a + b, 1.0, 1.0
    if code == SUBTRACT:
        return a - b, 1.0, -1.0
    if code == MULTIPLY:
        return a * b, b, a
    if code == DIVIDE:
        return a / b, 1.0 / b, -a / (b * b)
    if code == POWER:
        return a**b, b * a ** (b - 1.0), 0.0
    if code == SQRT:
        root = math.sqrt(a)
        return root, 0.5 / root, 0.0
    if code == EXP:
        grown = math.exp(a)
        return grown, grown, 0.0
    if code == LOG:
        return math.log(a), 1.0 / a, 0.0
    if code == SIN:
        return math.sin(a), math.cos(a), 0.0
    if code == COS:
        return math.cos(a), -math.sin(a), 0.0
    if code == TAN:
        slope = math.tan(a)
        return slope, 1.0 + slope * slope, 0.0
    if code == ARCSIN:
        return math.asin(a), 1.0 / math.sqrt(1.0 - a * a), 0.0
    if code == ARCCOS:
        return math.acos(a), -1.0 / math.sqrt(1.0 - a * a), 0.0
    if code == ARCTAN:
        return math.atan(a), 1.0 / (1.0 + a * a), 0.0
    if code == ARCTAN2:
        square = a * a + b * b
        return math.atan2(a, b), b / square, -a / square
    if code == SINH:
        return math.sinh(a), math.cosh(a), 0.0
    if code == COSH:
        return math.cosh(a), math.sinh(a), 0.0
    if code == TANH:
        share = math.tanh(a)
        return share, 1.0 - share * share, 0.0
    return abs(a), (1.0 if a >= 0.0 else -1.0), 0.0


@njit
def bend_operation(code, a, b, value, slope):
    """Return the second derivatives (3,) by a and a, a and b, b and b, of an operation on two numbers.

    ``value``, ``slope``: a number each, the value and its derivative by a, of `apply_operation`.
    """
    if code == MULTIPLY:
        return 0.0, 1.0, 0.0
    if code == DIVIDE:
        return 0.0, -1.0 / (b * b), 2.0 * a / (b * b * b)
    if code == POWER:
        return b * (b - 1.0) * a ** (b - 2.0), 0.0, 0.0
    if code == SQRT:
        return -0.5 * slope / a, 0.0, 0.0
    if code in (EXP, SINH, COSH):
        return value, 0.0, 0.0
    if code == LOG:
        return -slope * slope, 0.0, 0.0
    if code in (SIN, COS):
        return -value, 0.0, 0.0
    if code == TAN:
        return 2.0 * value * slope, 0.0, 0.0
    if code in (ARCSIN, ARCCOS):
        return a * slope * slope * slope, 0.0, 0.0
    if code == ARCTAN:
        return -2.0 * a * slope * slope, 0.0, 0.0
    if code == ARCTAN2:
        square = a * a + b * b
        mixed = (a - b) * (a + b) / (square * square)
        return -2.0 * a * b / (square * square), mixed, 2.0 * a * b / (square * square)
    if code == TANH:
        return -2.0 * value * slope, 0.0, 0.0
    return 0.0, 0.0, 0.0
