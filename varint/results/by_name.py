"""Values by the name of a joint or a force."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import numpy as np

from varint.base.checks import known_name
from varint.base.display import LONGEST, names_text, shortened

Item = TypeVar("Item")
Value = TypeVar("Value")


class ByName(Mapping[str, Value], Generic[Item, Value]):
    """Values by the name of a joint or a force, each worked out when first asked for.

    ``index``: name to number; ``find``: raises MechanismError for an unknown name; ``of``: what has the
    names. A copy, a pickled one too, is a dict of all values.
    """

    def __init__(
        self,
        index: Mapping[str, int],
        find: Callable[[str], Item],
        evaluate: Callable[[Item], Value],
        of: str = "joint",
    ) -> None:
        self._index, self._find, self._evaluate, self._of = index, find, evaluate, of
        self._known: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        item = self._find(name)  # which refuses what is no name
        if name not in self._known:
            self._known[name] = self._evaluate(item)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._index

    def get(self, name: str, default: Any = None) -> Any:
        known = name in self
        return self[name] if known else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return shortened(f"by name of a {self._of}: {names_text(self) or 'nothing'}", LONGEST)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __reduce__(self) -> tuple:
        return dict, (dict(self),)


def by_contact(values: Mapping[str, Value]) -> ByName[str, Value]:
    """Return ``values`` by the name of a hard contact; any other name raises MechanismError."""
    numbers = {name: number for number, name in enumerate(values)}
    return ByName(
        numbers, lambda name: known_name(name, values, "no hard contact"), lambda name: values[name], "contact"
    )


class NamedColumns(np.ndarray):
    """An array (T, n) whose columns have names too: ``array["name"]`` is the column (T,). Parts of it are plain."""

    _column: Callable[[str], int] | None = None

    @classmethod
    def of(cls, values: np.ndarray, column: Callable[[str], int]) -> "NamedColumns":
        """Return a view of ``values`` (T, n); ``column``: the number of a name, raises an error for an unknown one."""
        named = values.view(cls)
        named._column = column
        return named

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and self._column is not None:
            return np.asarray(self)[:, self._column(key)]
        return np.asarray(self)[key]

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()
