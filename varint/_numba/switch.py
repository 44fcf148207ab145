"""A compiled function that calls one of several by a number: what makes a kind of measure or a law one file."""

from collections.abc import Callable, Sequence

from varint._numba.jit import njit


def switch(name: str, arguments: str, cases: Sequence[tuple], wrappers: Sequence = ()) -> Callable:
    """A compiled ``name(number, arguments)`` that gives the result of the case with that number.

    Parameters
    ----------
    cases : sequence of (function, call)
        ``call`` is an expression in ``arguments`` in which the function is named ``function``. The last case stands
        for every other number as well.
    wrappers : sequence of function or None, optional
        One a case: applied to its result, so that all results are of one type.
    """
    lines = [f"def {name}(number, {arguments}):"]
    scope: dict = {}
    for number, (function, call) in enumerate(cases):
        scope[f"case_{number}"] = function
        call = call.replace("function(", f"case_{number}(", 1)
        if wrappers and wrappers[number] is not None:
            scope[f"wrapper_{number}"] = wrappers[number]
            call = f"wrapper_{number}({call})"
        lines.append(f"    return {call}" if number == len(cases) - 1 else f"    if number == {number}:")
        if number < len(cases) - 1:
            lines.append(f"        return {call}")
    exec(compile("\n".join(lines), f"<{name} by number>", "exec"), scope)
    return njit(scope[name], cache=False)
