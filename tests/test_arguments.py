"""The same arguments mean the same, and are refused in the same way, wherever they are taken."""

import inspect

import numpy as np
import pytest

import varint as vi
from varint.methods.variational.schemes import SCHEMES

RUNS = {"simulate": vi.simulate, "redmax": vi.redmax.simulate, "compare": vi.compare}
WRONG_TIMES = ["1", None, True, np.nan, -1.0, 0.0, [1.0], b"1", 1j]


@pytest.fixture(scope="module")
def mechanism():
    return vi.mechanisms.double_pendulum()


@pytest.mark.parametrize("which", RUNS)
@pytest.mark.parametrize("name", ["duration", "dt"])
def test_a_time_is_a_positive_number_everywhere(which, name, mechanism):
    for wrong in WRONG_TIMES:
        optional = wrong is None and (which, name) == ("redmax", "dt")
        if optional or (which == "compare" and name == "dt" and isinstance(wrong, list)):
            continue
        with pytest.raises(vi.ArgumentError, match=name):
            RUNS[which](mechanism, **{"duration": 0.02, "dt": 0.01} | {name: wrong})


@pytest.mark.parametrize("which", RUNS)
def test_what_is_no_mechanism_and_what_is_no_argument(which, mechanism):
    run = RUNS[which]
    with pytest.raises(vi.ArgumentError, match="mechanism must be a Mechanism, got 'pendulum'"):
        run("pendulum", 0.02, 0.01)
    with pytest.raises(vi.ArgumentError, match="'duraton' here, did you mean 'duration'"):
        run(mechanism, 0.02, 0.01, duraton=1.0)
    with pytest.raises((vi.ArgumentError, vi.StateError), match="state must be a State"):
        run(mechanism, 0.02, 0.01, state={"joint 1": 0.1})


def test_arguments_of_single_runs_are_none_of_a_comparison(mechanism):
    with pytest.raises(vi.ArgumentError, match=r"no argument 'scheme' here: it belongs to varint\.Variational"):
        vi.compare(mechanism, 0.02, 0.01, scheme="rattle")
    with pytest.raises(vi.ArgumentError, match="no argument 'integrator' here, did you mean 'integrators'"):
        vi.compare(mechanism, 0.02, 0.01, integrator="dop853")


@pytest.mark.parametrize("which", ["simulate", "compare"])
def test_a_reduced_state_is_told_how_to_get_a_state(which, mechanism):
    reduced = vi.redmax.reduced_state(mechanism, mechanism.state())
    with pytest.raises(vi.ArgumentError, match=r"state is a ReducedState: varint\.redmax\.maximal_state\(mechanism, s"):
        RUNS[which](mechanism, 0.02, 0.01, state=reduced)
    state = vi.redmax.maximal_state(mechanism, reduced)
    assert vi.simulate(mechanism, 0.02, 0.01, state=state).success


def test_a_scheme_and_an_order_that_differ_are_refused(mechanism):
    for name, scheme in SCHEMES.items():
        for order in {one.order for one in SCHEMES.values()} - {scheme.order}:
            message = f"scheme '{name}' is of order {scheme.order}, got order = {order} as well"
            with pytest.raises(vi.ArgumentError, match=message):
                vi.simulate(mechanism, 0.02, 0.01, scheme=name, order=order)
        both = vi.simulate(mechanism, 0.02, 0.01, scheme=name, order=scheme.order)
        assert both.position.tobytes() == vi.simulate(mechanism, 0.02, 0.01, scheme=name).position.tobytes()
    with pytest.raises(vi.ArgumentError, match="order must be one of"):
        vi.simulate(mechanism, 0.02, 0.01, scheme="rattle", order="2")


def test_the_default_order_is_two(mechanism):
    assert vi.simulate(mechanism, 0.02, 0.01).settings["order"] == 2
    assert vi.simulate(mechanism, 0.02, 0.01, order=None).settings["scheme"] == "rattle"


def test_the_arguments_that_runs_share_have_one_default():
    parameters = {name: inspect.signature(run).parameters for name, run in RUNS.items()}
    for name in ("state", "every", "force", "torque", "output", "resume", "progress"):
        assert parameters["simulate"][name].default == parameters["redmax"][name].default
        assert parameters["simulate"][name].kind == parameters["redmax"][name].kind
