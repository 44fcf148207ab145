"""Workspaces that short runs take over from runs before them: making one takes as long as some hundred steps."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from weakref import WeakKeyDictionary

import numpy as np

from varint.base.numba import CompiledRecord
from varint.step.plan import Plan, Workspace
from varint.step.workspace import prepare_workspace, workspace, workspace_sizes

LARGEST_SPARE = 1 << 18  # bytes of a workspace
MOST_SPARES = 8
SPARES: list["Spare"] = []
KEYS: WeakKeyDictionary[Plan, dict[tuple, tuple]] = WeakKeyDictionary()  # by the arguments of `spare_workspace`


class Spare:
    """A fresh workspace. ``key``: all that its sizes and contents depend on."""

    def __init__(self, key: tuple, ws: Workspace) -> None:
        self.key, self.ws = key, ws
        memory = {id(owner): owner for owner in map(_owner, _arrays(ws)) if owner.size}.values()
        small = sum(part.nbytes for part in memory) <= LARGEST_SPARE
        self.contents = [(part, part.copy()) for part in memory] if small else []

    def renew(self) -> None:
        """Restore the contents of the workspace as they were when it was made."""
        for part, content in self.contents:
            part[...] = content

    def put_back(self) -> None:
        """Keep the workspace, where it is small, for another run; nobody may use it from here on."""
        if self.contents:
            SPARES.append(self)
            del SPARES[:-MOST_SPARES]


def spare_workspace(
    plan: Plan, stages: int = 1, functions=(), inactive: Sequence[int] = (), kept: int = 0, sharpened: bool = False
) -> Spare:
    """Return a fresh workspace, as `workspace` makes it of the same arguments, the caller's until it is put back."""
    key = workspace_key(plan, stages, functions, inactive, kept, sharpened)
    for spare in tuple(SPARES):
        if spare.key == key:
            try:
                SPARES.remove(spare)
            except ValueError:  # another thread was faster
                continue
            spare.renew()
            return spare
    return Spare(key, workspace(plan, stages, functions, inactive, kept, sharpened))


def workspace_key(
    plan: Plan, stages: int = 1, functions=(), inactive: Sequence[int] = (), kept: int = 0, sharpened: bool = False
) -> tuple:
    """Return the key of a `Spare` for the arguments of `workspace`, worked out once a plan."""
    asked = stages, functions, tuple(inactive), kept, sharpened
    keys = KEYS.setdefault(plan, {})
    if asked not in keys:
        keys[asked] = _key(plan, *asked)
    return keys[asked]


def share_keys(plan: Plan, like: Plan) -> None:
    """Let a plan that differs from another in numbers alone have its keys: workspaces of one fit the other."""
    KEYS[plan] = KEYS.setdefault(like, {})


def _key(plan: Plan, stages: int, functions: tuple, inactive: tuple[int, ...], kept: int, sharpened: bool) -> tuple:
    """Return the key of a `Spare`, and compile the kernels that the functions of the workspace need."""
    prepare_workspace(plan, stages)
    loops = plan.loops
    features = np.diff(plan.contacts.pair_first).max(initial=0)
    parts = loops.node_row.tobytes(), loops.row_start.tobytes(), loops.fill_row.size, int(features)
    rows = plan.rows.role.tobytes(), *((int(plan.constraints.row[c]), int(plan.constraints.size[c])) for c in inactive)
    return (*workspace_sizes(plan, stages, kept, sharpened).values(), parts, rows, functions)


@contextmanager
def borrowed_joint_workspace(plan: Plan) -> Iterator[Workspace]:
    """Yield a `joint_workspace`, which is put back when the context ends."""
    spare = spare_workspace(plan, inactive=range(plan.constraints.row.size))
    yield spare.ws
    spare.put_back()


@contextmanager
def borrowed_coupled_workspace(plan: Plan, functions: tuple) -> Iterator[Workspace]:
    """Yield a `coupled_workspace`, which is put back when the context ends."""
    spare = spare_workspace(plan, functions=functions, inactive=np.flatnonzero(plan.constraints.driven).tolist())
    yield spare.ws
    spare.put_back()


def _arrays(record: CompiledRecord) -> Iterator[np.ndarray]:
    for part in record:
        if isinstance(part, CompiledRecord):
            yield from _arrays(part)
        else:
            yield part


def _owner(array: np.ndarray) -> np.ndarray:
    """Return the array that owns the memory of another."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
