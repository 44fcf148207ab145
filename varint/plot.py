"""Panels of a run on axes of matplotlib: ``vi.plot.energy(traj)``, ``vi.plot.drift(traj, ax=axes)``, ...

There is a function for everything that `Trajectory.plot` draws, by the same name, all in docs/pictures.md. Each is
called with a trajectory and optionally ``ax``, the axes to draw on; without it there is a figure of its own,
``result.figure``. It returns the axes. Where a quantity has several units, there is a panel for each: ``ax`` is then a
list of as many axes, and the result an array of them; ``unit="N"`` chooses one. The other options are those of
`Trajectory.plot`: ``of`` for curves, ``trace``, ``plane``, ``times`` and ``labels`` for drawings of the mechanism.
"""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from varint.base.checks import suggestion
from varint.results.table_columns import GROUPS
from varint.views.panels import DRAWN, IN_METRES, ONLY_DRAWN, POSED, owned
from varint.views.plots import draw

__all__ = list(DRAWN)


def _options(name: str) -> list[str]:
    """Return the options of a panel."""
    chosen = ["of"] if owned(name) else []
    metres = ["trace", "plane"] if name in IN_METRES else ["unit"]
    return [*chosen, *(["times", "labels"] if name in POSED else []), *metres]


def _function(name: str) -> Callable[..., Any]:
    options = _options(name)
    signature = Signature(
        [
            Parameter("trajectory", Parameter.POSITIONAL_OR_KEYWORD),
            Parameter("ax", Parameter.POSITIONAL_OR_KEYWORD, default=None),
            *(Parameter(each, Parameter.KEYWORD_ONLY, default=None) for each in options),
        ]
    )

    def function(*arguments: Any, **named: Any) -> Any:
        bound = signature.bind(*arguments, **named).arguments
        return draw(bound.pop("trajectory"), name, bound.pop("ax", None), **bound)

    subject = ONLY_DRAWN.get(name) or GROUPS[name].what
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"Draw {subject}, on ``ax`` or in a figure of its own; returns the axes. Options, as in `Trajectory.plot`:"
        f" {', '.join(options)}; see `varint.plot`. Raises ArgumentError."
    )
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


globals().update({_name: _function(_name) for _name in DRAWN})


def __getattr__(name: str) -> Any:
    raise AttributeError(f"there is no panel '{name}'{suggestion(name, DRAWN) or '.'} There are {', '.join(DRAWN)}")
