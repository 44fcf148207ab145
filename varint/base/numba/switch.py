"""A compiled function that calls one of several by a number: what makes a kind of measure or a law one file."""

from collections.abc import Callable, Sequence

from varint.base.numba.jit import njit


def switch(name: str, arguments: str, cases: Sequence[tuple[Callable, str] | None]) -> Callable:
    """Return a compiled ``name(number, arguments)`` that gives the result of the case with that number.

    ``cases``: function and call of each number, None for numbers that it is never called with. A call is an
    expression in ``arguments`` in which the function is named ``function``. Any other number is taken as the last case.
    """
    scope, lines = {}, [f"def {name}(number, {arguments}):"]
    known = [number for number, case in enumerate(cases) if case]
    for number in known:
        function, call = cases[number]  # type: ignore[misc]
        scope[f"case_{number}"] = function
        result = f"return {call.replace('function(', f'case_{number}(', 1)}"
        lines += [f"    {result}"] if number == known[-1] else [f"    if number == {number}:", f"        {result}"]
    exec(compile("\n".join(lines), f"<{name} by number>", "exec"), scope)
    return njit(scope[name], cache=False)


def in_turn(name: str, arguments: str, cases: Sequence[tuple[Callable, Callable]]) -> Callable:
    """Return a compiled ``name(plan, arguments)`` that calls what acts in ``plan``, one function after another.

    ``cases``: a compiled function of ``plan`` that says whether the other one acts in it, and that one, of ``plan`` and
    ``arguments``. What is called through a pointer (`indirect`) is compiled only where it is prepared.
    """
    scope, lines = {}, [f"def {name}(plan, {arguments}):", "    pass"]
    for n, (acts, function) in enumerate(cases):
        scope[f"acts_{n}"], scope[f"case_{n}"] = acts, function
        lines += [f"    if acts_{n}(plan):", f"        case_{n}(plan, {arguments})"]
    exec(compile("\n".join(lines), f"<{name} in turn>", "exec"), scope)
    return njit(scope[name], cache=False)
