"""Compiled functions of ``varint/step/`` that only one of the two steps calls, by role and by what they do.

    python benchmarks/one_step.py            # the table, as docs/architecture.md has it
    python benchmarks/one_step.py --list     # the names of the functions, as the page has them

The two steps are that of order 2 (``step/step.py``) and collocation (``step/collocation/``). From `ENTRIES` functions
are followed by the names in their code, through pointers (`indirect`) and hooks of roles (`in_turn`) too.
A function counts where it is reached first, in the order of `ENTRIES`: what ends a step calls residuals as well.
Those that only one step calls and that belong to `GROUPS`, each with its reason, may remain; the others belong to a
role (`FILES`) and are copies to be removed.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

import varint.step

ENTRIES = {  # what functions do: the compiled functions by which it begins, in the step of order 2 and in collocation
    "residual": (
        ("step.step.begin_part", "step.newton.evaluate_step", "step.step._finish_part", "step.damping.choice"),
        ("step.collocation.steps.evaluate", "step.collocation.steps.finish_step", "step.collocation.end_rates"),
    ),
    "matrix": (
        ("step.newton.newton_increment",),
        ("step.collocation.elimination.eliminate", "step.collocation.path_masses.solve_paths"),
    ),
    "events": (
        ("step.limits.impacts", "step.contacts.events", "step.contacts.steps.solve_contacts", "step.step.run"),
        ("step.collocation.stops", "step.collocation.contacts", "step.collocation.steps.march_nodes",
         "methods.variational.collocation_events"),
    ),
    "back": (
        ("step.derivatives.adjoint", "step.contacts.adjoint", "step.contacts.stages_back"),
        ("step.collocation.adjoint",),
    ),
    "numbers": (
        ("step.derivatives.by_numbers", "step.derivatives.by_products"),
        ("step.collocation.by_numbers", "step.collocation.tree_rows"),
    ),
}  # fmt: skip
GROUPS = {  # files whose functions one step alone may call, and why
    "joints of the tree": (
        "rows of the step of order 2 with impulses; collocation moves links as their joints allow",
        ("lower_pairs.py", "pairs.py", "pair_impulses.py", "ball_pairs.py", "collocation/tree_rows.py"),
    ),
    "elimination": (
        "one scalar of the step of order 2 is a block q x q of collocation",
        ("ldu.py", "closure_nodes.py", "border.py", "dense.py", "lane_picks.py", "collocation/elimination.py",
         "collocation/closures.py", "collocation/idle_rows.py", "collocation/effort_blocks.py",
         "collocation/transposed.py"),
    ),
    "rates and flows over a step": (
        "rows of rates and internal variables have a value over a step by its scheme alone; both call their kinds",
        ("rates.py", "formulas.py", "collocation/conditions_on_rates.py", "collocation/internal_variables.py"),
    ),
    "the scheme itself": (
        "unknowns, momenta, start values, sub-steps, and what a step of one kind alone has",
        ("step.py", "newton.py", "middle.py", "law_works.py", "momentum.py", "configuration.py", "restart.py",
         "stage_starts.py", "inputs.py", "projection.py", "pace.py", "roles.py", "double/", "energy/", "derivatives/",
         "march/", "nodes/", "collocation/steps.py", "collocation/shown.py", "collocation/held_steps.py",
         "collocation/tape.py", "collocation/adjoint.py", "collocation/by_numbers.py"),
    ),
}  # fmt: skip
FILES = {  # role: its files
    "laws and loads": ("laws.py", "measures.py", "loads.py", "efforts.py", "damping/", "collocation/efforts.py",
                       "collocation/end_rates.py", "collocation/internal_variables.py"),
    "compliant rows": ("compliant/",),
    "masses along paths": ("paths/", "collocation/path_masses.py"),
    "prescribed motions": ("constraints.py",),
    "hard limits": ("limits/", "events.py", "one_sided.py", "collocation/stops.py",
                    "collocation/gap_polynomials.py"),
    "contacts": ("contacts/", "collocation/contacts.py", "collocation/facing.py",
                 "collocation/friction.py", "collocation/slips.py"),
    "bearings": ("bearings/",),
    "meshes": ("meshes/",),
}  # fmt: skip

Table = dict[tuple[str, str], tuple[set[str], set[str]]]


def _names(code: CodeType) -> set[str]:
    parts = (part for part in code.co_consts if isinstance(part, CodeType))
    return {*code.co_names, *code.co_freevars}.union(*map(_names, parts))


def compiled(value: Any) -> FunctionType | None:
    """Return the function in Python of a compiled one, None for anything else."""
    function = getattr(value, "py_func", None)
    return function if isinstance(function, FunctionType) else None


def called(function: FunctionType) -> Iterator[FunctionType]:
    """Yield the compiled functions that a compiled function names."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name in sorted(_names(function.__code__)):
        value = cells[name].cell_contents if name in cells else function.__globals__.get(name)
        for each in value if isinstance(value, tuple | list) else (value,):
            if found := compiled(each):
                yield found


def reached(starts: Iterable[FunctionType]) -> set[FunctionType]:
    """Return the compiled functions that are reached from some, and these."""
    waiting, seen = list(starts), set()
    while waiting:
        function = waiting.pop()
        if function not in seen:
            seen.add(function)
            waiting += called(function)
    return seen


def starts_of(names: Iterable[str]) -> Iterator[FunctionType]:
    """Yield the functions of names below ``varint``; of a module all compiled ones that it names."""
    for name in names:
        module, _, last = f"varint.{name}".rpartition(".")
        value = compiled(getattr(importlib.import_module(module), last, None))
        if value:
            yield value
            continue
        yield from filter(None, map(compiled, vars(importlib.import_module(f"varint.{name}")).values()))


def label(function: FunctionType) -> str:
    """Return file below ``varint/step/`` and name of a function."""
    path = function.__module__.removeprefix("varint.step.").replace(".", "/")
    return f"{path}.py {function.__qualname__.split('.')[-1]}"


def _belongs(path: str, places: Iterable[str]) -> bool:
    return any(path.startswith(place) if place.endswith("/") else path == place for place in places)


def role_of(function: FunctionType) -> str:
    """Return the group or the role that a function belongs to, else "shared"."""
    path = label(function).split()[0]
    places = {name: files for name, (_, files) in GROUPS.items()} | FILES
    fitting = [(name, place) for name, files in places.items() for place in files if _belongs(path, (place,))]
    return max(fitting, key=lambda pair: len(pair[1]))[0] if fitting else "other"


def alone() -> Table:
    """Return (role, what) to the functions that the step of order 2, or collocation, alone calls."""
    for module in pkgutil.walk_packages(varint.step.__path__, "varint.step."):
        importlib.import_module(module.name)
    whats: tuple[dict[FunctionType, str], ...] = {}, {}
    for what, entries in ENTRIES.items():
        for of_step, names in zip(whats, entries, strict=True):
            for function in reached(starts_of(names)):
                of_step.setdefault(function, what)
    table: Table = {}
    for k in range(2):
        for function, what in whats[k].items():
            if function not in whats[1 - k] and (function.__module__ or "").startswith("varint.step."):
                table.setdefault((role_of(function), what), (set(), set()))[k].add(label(function))
    return table


def counts(table: Table) -> dict[str, tuple[int, int]]:
    """Return how many functions of each role, without `GROUPS`, the step of order 2, and collocation, alone calls."""
    sides = {role: [pair for (name, _), pair in table.items() if name == role] for role in FILES}
    return {role: (sum(len(a) for a, _ in pairs), sum(len(b) for _, b in pairs)) for role, pairs in sides.items()}


def names(table: Table, role: str) -> Iterator[str]:
    """Yield the functions of a role that one step alone calls, file by file, as docs/architecture.md has them."""
    by_file: dict[str, list[str]] = {}
    for (of_role, _), sides in table.items():
        for each in sorted(set().union(*sides)) if of_role == role else ():
            path, function = each.split()
            by_file.setdefault(path, []).append(function)
    for path, functions in sorted(by_file.items()):
        yield f"`{path}` {', '.join(sorted(functions))}"


def main() -> None:
    """See the top."""
    table = alone()
    if "--list" not in sys.argv:
        print(f"| role | {' | '.join(ENTRIES)} | order 2 | collocation |\n|---|{'---|' * (len(ENTRIES) + 2)}")
        for role, total in counts(table).items():
            cells = (table.get((role, what), (set(), set())) for what in ENTRIES)
            parts = (f"{len(a)} + {len(b)}" if a or b else "" for a, b in cells)
            print(f"| {role} | {' | '.join(parts)} | {total[0]} | {total[1]} |")
        return
    for role in FILES:
        print(f"* {role}: {'; '.join(names(table, role)) or 'none'}")


if __name__ == "__main__":
    main()
