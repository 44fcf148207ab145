"""Parameters of rollouts, of any library: what is refused, by name, and what is taken together."""

import dataclasses

import numpy as np
import pytest
from fed_back_four_bar import fed_back
from test_bridges import DT, DURATION, build, loss_of_states

import varint as vi
from varint.extras.bridges.rollout import Rollout


def given(parameters, mechanism=None):
    """As a rollout takes them whose library has no arrays of its own."""
    rollout = Rollout(mechanism or fed_back(), DURATION, DT, None, {})
    return rollout.given(parameters, "tensor", lambda what, value: None)


REFUSED = {
    "start": ({"start": 1.0}, "'start' is no parameter of a rollout.*vi.gradient"),
    "a part of the start": ({"start.velocity": 1.0}, "'start.velocity' is no parameter of a rollout"),
    "dt": ({"dt": 0.01}, "'dt' is no parameter of a rollout"),
    "force": (
        {"coupler.force": np.zeros(3)},
        "'coupler.force': loads are no parameters of a rollout.*a PointForce",
    ),
    "part of a torque": ({"coupler.torque[0]": 1.0}, "loads are no parameters of a rollout.*a PointTorque"),
    "part beside the whole": (
        {"spring.stiffness": 1.0, "crank pin.point[0]": 0.1, "crank pin.point": np.zeros(3)},
        r"'crank pin.point\[0\]' is part of 'crank pin.point': give one of them",
    ),
    "one part twice": (
        {"crank pin.point[0]": 0.1, "crank pin.point[00]": 0.1},
        r"'crank pin.point\[0\]' and 'crank pin.point\[00\]' are one number",
    ),
    "one point as two": (
        {"crank pin.point[0]": 0.1, "crank pin.point_b": np.zeros(3)},
        "'crank pin.point' moves the anchors of .*'crank pin' on both bodies",
    ),
    "a column": (
        {"motor.effort": np.zeros((21, 1))},
        r"effort of motor 'motor' must be one number, or 21 for one value a node, got shape \(21, 1\)",
    ),
    "unknown": ({"motr.effort": 0.1}, "there is no 'motr.effort': no body.* called 'motr', did you mean 'motor'"),
    "complex": ({"coupler.mass": 1.0 + 2.0j}, "parameter 'coupler.mass' must be a number or an array, got"),
    "text": ({"coupler.mass": "abc"}, "parameter 'coupler.mass' must be a number or an array, got 'abc'"),
    "None": ({"coupler.mass": None}, "parameter 'coupler.mass' must be a number or an array, got None"),
    "no name": ({3: 1.0}, "names of parameters must be texts, such as 'rod.mass', got 3"),
    "no dict": (np.zeros(500), "^parameters must be a dict of name to tensor, got a ndarray$"),
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_wrong_parameters_are_refused_by_name(wrong):
    parameters, message = REFUSED[wrong]
    with pytest.raises(vi.ArgumentError, match=message):
        given(parameters)


def test_parts_of_a_number_are_parameters_together():
    """Also the two anchors of a joint that have places of their own."""
    assert given({"crank pin.point[0]": 0.1, "crank pin.point[2]": 0.2}) == {
        "crank pin.point[0]": 0.1,
        "crank pin.point[2]": 0.2,
    }
    plain = fed_back()
    pin = plain.joint("crank pin")
    apart = dataclasses.replace(pin, point_b=pin.point + [0.0, 0.1, 0.0])
    joints = [apart if joint is pin else joint for joint in plain.joints]
    opened = dataclasses.replace(plain, joints=joints)
    assert len(given({"crank pin.point[0]": 0.1, "crank pin.point_b": np.zeros(3)}, opened)) == 2


def test_a_function_without_such_a_parameter_is_named():
    message = "the function that makes the mechanism has no parameter 'masss', did you mean 'mass'"
    with pytest.raises(vi.ArgumentError, match=message):
        given({"masss": 1.0}, build)
    with pytest.raises(vi.ArgumentError, match=message):
        vi.gradient(build, loss_of_states, DURATION, DT, parameters={"masss": 1.0}, with_respect_to=["masss"])
