"""Arithmetic in files of mechanisms: numbers, names, lists of them, + - * / **, sqrt, sin, cos, tan and pi."""

import ast
import math
import operator
import warnings
from collections.abc import Callable, Collection

from varint.base.checks import shown, suggestion
from varint.base.errors import VarintError

Value = float | list
LONGEST = 1000  # characters
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tan": math.tan,
}  # fmt: skip
CONSTANTS = {"pi": math.pi}
OPERATIONS: dict[type, tuple[str, Callable[[float, float], float]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.Pow: ("**", math.pow),
}


class Refused(ValueError):
    """An expression is wrong."""


def evaluated(text: str, value_of: Callable[[str], Value | None], names: Collection[str]) -> Value:
    """Return the value of an expression: a number, or a list of numbers and lists.

    Numbers and lists are multiplied and divided by numbers, lists of one length added and subtracted. Nothing but
    arithmetic is done: there are no calls but those of the four functions, no attributes and no indices.

    Parameters
    ----------
    text : str
    value_of : function of a name
        Its value; None where there is no such name.
    names : collection of str
        Those that there are, for errors.

    Raises
    ------
    Refused
        What is wrong, with its place in the text.
    """
    if len(text) > LONGEST:
        raise Refused(f"an expression of {len(text)} characters: {LONGEST} at most")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, on what is refused below
            tree = ast.parse(text.strip(), mode="eval").body
        return _value(tree, value_of, names)
    except SyntaxError as problem:
        place = f" at its character {problem.offset}" if problem.offset else ""
        raise Refused(f"{shown(text)} is no number and no expression: wrong{place}") from None
    except (RecursionError, MemoryError):
        raise Refused("an expression is nested too deep") from None
    except (Refused, VarintError):  # also of another parameter
        raise
    except (ArithmeticError, ValueError) as problem:
        raise Refused(f"{shown(text)} has no value: {problem}") from None


def _value(node: ast.expr, value_of: Callable[[str], Value | None], names: Collection[str]) -> Value:
    def of(part: ast.expr) -> Value:
        return _value(part, value_of, names)

    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.Name):
        value = CONSTANTS.get(node.id, value_of(node.id))
        if value is None:
            near = suggestion(node.id, [*names, *CONSTANTS, *FUNCTIONS])
            raise Refused(f"there is no parameter {node.id!r}{near}")
        return value
    if isinstance(node, ast.Tuple | ast.List):
        return [of(part) for part in node.elts]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return _scaled(of(node.operand), -1.0 if isinstance(node.op, ast.USub) else 1.0)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return _combined(type(node.op), of(node.left), of(node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        if len(node.args) == 1 and not node.keywords:
            return FUNCTIONS[node.func.id](_number(of(node.args[0]), node.func.id))
        raise Refused(f"{node.func.id} takes one number")
    code = ast.unparse(node)
    raise Refused(
        f"{shown(code)} is no arithmetic: there are numbers, names, + - * / **, {', '.join(FUNCTIONS)} and pi"
    )


def _combined(kind: type, left: Value, right: Value) -> Value:
    sign, operation = OPERATIONS[kind]
    if isinstance(left, list) and isinstance(right, list) and kind in (ast.Add, ast.Sub):
        if len(left) != len(right):
            raise Refused(f"lists of {len(left)} and {len(right)} cannot be joined by {sign}")
        return [_combined(kind, a, b) for a, b in zip(left, right, strict=True)]
    if isinstance(left, list) and kind in (ast.Mult, ast.Div):
        return [_combined(kind, part, _number(right, sign)) for part in left]
    if isinstance(right, list) and kind is ast.Mult:
        return [_combined(kind, _number(left, sign), part) for part in right]
    return operation(_number(left, sign), _number(right, sign))


def _scaled(value: Value, factor: float) -> Value:
    return [_scaled(part, factor) for part in value] if isinstance(value, list) else factor * value


def _number(value: Value, operation: str) -> float:
    if isinstance(value, list):
        raise Refused(f"{operation} takes numbers here, got a list of {len(value)}")
    return value
