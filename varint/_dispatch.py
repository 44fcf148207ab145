"""A compiled function that calls one of several by a number: what makes a kind of measure or a law one file."""

from collections.abc import Callable, Sequence

from varint._jit import njit


def switch(name: str, arguments: str, cases: Sequence[tuple[Callable, str]], otherwise: str = "") -> Callable:
    """A compiled ``name(number, arguments)`` that returns ``call`` of the case with that number.

    Parameters
    ----------
    cases : sequence of (function, call)
        ``call`` is an expression in ``arguments`` in which the function is named ``function``.
    otherwise : str
        Expression for any other number.
    """
    lines = [f"def {name}(number, {arguments}):"]
    scope: dict = {}
    for number, (function, call) in enumerate(cases):
        own = f"_case_{number}"
        scope[own] = function
        lines += [f"    if number == {number}:", f"        return {call.replace('function(', own + '(', 1)}"]
    lines.append(f"    return {otherwise or 'None'}")
    exec(compile("\n".join(lines), f"<{name} by number>", "exec"), scope)
    return njit(scope[name], cache=False)
