"""A function with right arguments, and the mechanisms and runs that calls share."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple
from unittest import mock

from fuzz._wrong import a_driven_mechanism, a_mechanism
from in_process import Here

import varint as vi


class Call(NamedTuple):
    """``right``: parameter to a function that makes its right argument. ``then``: what is done with the answer."""

    function: Callable
    right: dict[str, Callable[[], Any]]
    then: Callable[[Any], object] = lambda answer: None


@cache
def four_bar() -> vi.Mechanism:
    return vi.mechanisms.four_bar()


@cache
def reduced_run() -> vi.Trajectory:
    return vi.redmax.simulate(a_driven_mechanism(), 0.01, dt=0.005)


@cache
def longer_run() -> vi.Trajectory:
    """Of nodes enough for a spectrum."""
    return vi.simulate(a_driven_mechanism(), 0.2, 0.01)


@cache
def comparison():
    return vi.compare(a_mechanism(), 0.02, (0.01, 0.005))


def ensemble(**arguments):
    with mock.patch("varint.studies.ensembles.ensemble_run.Processes", Here):
        return vi.ensemble(**arguments)


def kept_ensemble() -> str:
    ensemble(build="double_pendulum", parameters={}, duration=0.01, dt=0.005, output="kept", overwrite=True)
    return "kept"


def always(value: Any) -> Callable[[], Any]:
    return lambda: value


def rights(**values: Any) -> dict[str, Callable[[], Any]]:
    return {name: value if inspect.isfunction(value) else always(value) for name, value in values.items()}


def short_run(mechanism: vi.Mechanism) -> None:
    """A state and two steps of what was described."""
    state = mechanism.state()
    if not any((force.solved_for or force.restricted) for force in mechanism.forces):
        vi.simulate(mechanism, 2e-3, 1e-3, state=state).force  # noqa: B018  worked out when it is asked for
