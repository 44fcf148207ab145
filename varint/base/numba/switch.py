"""A compiled function that calls one of several by a number: what makes a kind of measure or a law one file."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

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


def in_turn(name: str, arguments: str, cases: Mapping[int, Callable]) -> Callable:
    """Return a compiled ``name(plan, ws, arguments)`` that calls those functions whose bits are set in ``ws.acts[0]``.

    ``cases``: bit to function, of ``plan``, ``ws`` and ``arguments``, in the order of the calls. What is called through
    a pointer (`indirect`) is compiled only where it is prepared.
    """
    scope: dict[str, Any] = {}
    listed = ", ".join(filter(None, ["plan", "ws", arguments]))
    lines = [f"def {name}({listed}):", "    acts = ws.acts[0]", f"    if acts & {sum(1 << bit for bit in cases)}:"]
    for bit, function in cases.items():
        scope[f"case_{bit}"] = function
        lines += [f"        if acts & {1 << bit}:", f"            case_{bit}({listed})"]
    exec(compile("\n".join(lines), f"<{name} in turn>", "exec"), scope)
    return njit(scope[name], cache=False)
