"""What is no mechanism, no state and no run: each with its exception, naming the culprit."""

import numpy as np
import pytest

import varint as vi

NAN = float("nan")
BOX = vi.Body.box("box", (0.1, 0.1, 1.0), 1.0)
BALL = vi.Body.sphere("ball", 0.1, 1.0, position=(1, 0, 0))
ORIGIN, X, Y = (0, 0, 0), (1, 0, 0), (0, 1, 0)


def build(*joints, bodies=(BOX, BALL), **rest):
    return vi.Mechanism("machine", bodies, joints, **rest)


def joined(joint_type, *, ends=("box", "ball"), **arguments):
    """Builds a mechanism of two bodies that floats but for one joint, "link"."""
    return lambda: build(joint_type("link", *ends, **arguments))


BAD_MECHANISMS = {
    "unknown body": (joined(vi.Fixed, ends=("box", "bal")), "'link'.*'bal', did you mean 'ball'"),
    "unknown first body": (joined(vi.Fixed, ends=("wrld", "ball")), "'link'.*'wrld', did you mean 'world'"),
    "unlike any body": (joined(vi.Fixed, ends=("box", "q")), "'link'.*no body 'q': there are 'box', 'ball', 'world'$"),
    "two bodies of a name": (lambda: build(vi.Free("f", "world", "box"), bodies=(BOX, BOX)), "called 'box'"),
    "two joints of a name": (lambda: build(vi.Free("f", "world", "box"), vi.Free("f", "world", "ball")), "called 'f'"),
    "body connected to nothing": (lambda: build(vi.Free("f", "world", "box")), "'ball' is connected to nothing.*Free"),
    "no joints": (lambda: build(bodies=[BOX]), "'box' is connected to nothing"),
    "no bodies": (lambda: build(bodies=()), "'machine' has no bodies"),
    "a joint among the bodies": (lambda: build(bodies=[vi.Free("f", "world", "box")]), "expected a body"),
    "a body among the joints": (lambda: build(BALL), "expected a joint"),
    "joint without a name": (lambda: vi.Free("", "world", "box"), "joint needs a name"),
    "joint to itself": (joined(vi.Fixed, ends=("box", "box")), "'link' connects 'box' to itself"),
    "world to itself": (joined(vi.Fixed, ends=("world", "world")), "'link' connects 'world' to itself"),
    "zero axis": (joined(vi.Revolute, point=ORIGIN, axis=ORIGIN), "axis of .*'link' must not be zero"),
    "nan axis": (joined(vi.Revolute, point=ORIGIN, axis=(0, NAN, 1)), "axis of .*'link' must be finite"),
    "infinite axis": (joined(vi.Prismatic, axis=(0, np.inf, 1)), "axis of .*'link' must be finite"),
    "axis shape": (joined(vi.Cylindrical, point=ORIGIN, axis=(0, 1)), "axis of .*'link' must be .*shape"),
    "axis text": (joined(vi.Cylindrical, point=ORIGIN, axis="y"), "axis of .*'link' must be .*'y'"),
    "second axis zero": (joined(vi.Universal, point=ORIGIN, axis=X, axis_b=ORIGIN), "axis_b of .*'link'.*zero"),
    "second axis nan": (joined(vi.Universal, point=ORIGIN, axis=X, axis_b=(0, NAN, 0)), "axis_b of .*'link'.*finite"),
    "axes not at right angles": (joined(vi.Universal, point=ORIGIN, axis=X, axis_b=(1, 9, 0)), "'link' .*right angles"),
    "no anchor": (joined(vi.Spherical), "'link' needs point="),
    "nan anchor": (joined(vi.Spherical, point=(0, 0, NAN)), "point of .*'link' must be finite"),
    "anchor shape": (joined(vi.Spherical, point=0.0), "point of .*'link' must be .*shape"),
    "nan second anchor": (
        joined(vi.Spherical, point=ORIGIN, point_b=(0, 0, NAN)),
        "point_b of .*'link' must be finite",
    ),
    "rod without length": (joined(vi.Rod, point=ORIGIN), "'link' needs point and point_b apart"),
    "rod of no length": (joined(vi.Rod, point=ORIGIN, point_b=X, length=0.0), "length of .*'link' must be positive"),
    "rod of nan": (joined(vi.Rod, point=ORIGIN, point_b=X, length=NAN), "length of .*'link' must be finite"),
    "nan gravity": (lambda: build(vi.Fixed("f", "box", "ball"), gravity=(0, 0, NAN)), "gravity of .*'machine'.*finite"),
    "gravity shape": (lambda: build(vi.Fixed("f", "box", "ball"), gravity=-9.81), "gravity of .*'machine'.*shape"),
    "unknown start": (
        lambda: build(vi.Fixed("f", "box", "ball"), start={"speed": {}}),
        "start of .*'machine': unknown key 'speed'",
    ),
}


@pytest.mark.parametrize("case", BAD_MECHANISMS)
def test_bad_mechanisms(case):
    make, message = BAD_MECHANISMS[case]
    with pytest.raises(vi.MechanismError, match=message):
        make()


def test_anchors_may_differ_along_free_directions():
    assert joined(vi.Prismatic, point=ORIGIN, point_b=(0, 0, 5), axis=(0, 0, 1))().rows == 5
    assert joined(vi.PlanarTranslation, point=ORIGIN, point_b=(1, 2, 0), axis=(0, 0, 1))().rows == 4


APART = {
    "anchors apart": (vi.Spherical, {"point": ORIGIN, "point_b": (0, 0, 0.25)}),
    "anchors off the axis": (vi.Prismatic, {"point": ORIGIN, "point_b": (0.1, 0, 5), "axis": (0, 0, 1)}),
    "anchors off the plane": (vi.PlanarTranslation, {"point": ORIGIN, "point_b": (1, 2, 0.1), "axis": (0, 0, 1)}),
    "rod too long": (vi.Rod, {"point": ORIGIN, "point_b": (0, 0, 1), "length": 1.5}),
}


@pytest.mark.parametrize("case", APART)
def test_anchors_apart_are_brought_together(case):
    joint_type, arguments = APART[case]
    mechanism = joined(joint_type, **arguments)()
    assert not mechanism.is_closed
    run = vi.simulate(mechanism, 0.1, 0.01)
    assert run.drift.max() < 1e-11


def test_lookups_suggest():
    mechanism = vi.mechanisms.four_bar()
    assert mechanism.body("crank").name == "crank"
    assert mechanism.joint("crank pin").name == "crank pin"
    with pytest.raises(vi.MechanismError, match="no body 'crnk', did you mean 'crank'"):
        mechanism.body("crnk")
    with pytest.raises(vi.MechanismError, match="no joint 'crank pim', did you mean 'crank pin'"):
        mechanism.joint("crank pim")


def test_mechanisms_cannot_be_changed():
    mechanism = vi.mechanisms.four_bar()
    with pytest.raises(AttributeError):
        mechanism.gravity = (0, 0, 0)
    with pytest.raises(ValueError, match="read-only"):
        mechanism.gravity[2] = 0
    with pytest.raises(TypeError):
        mechanism.start["rates"] = {}


# ---------------------------------------------------------------------------------------------- states

BAD_STATES = {
    "unknown joint": (
        {"coordinates": {"crank pim": 1.0}},
        "coordinates: no joint 'crank pim', did you mean 'crank pin'",
    ),
    "unknown joint of rates": ({"rates": {"crank pim": 1.0}}, "rates: no joint 'crank pim', did you mean 'crank pin'"),
    "too many coordinates": ({"coordinates": {"crank pin": (1, 2)}}, "coordinates of .*'crank pin'.*shape"),
    "ragged coordinates": ({"coordinates": {"crank pin": [[1], [2, 3]]}}, "coordinates of .*'crank pin'"),
    "nan coordinate": ({"coordinates": {"crank pin": NAN}}, "coordinates of .*'crank pin'.*finite"),
    "infinite coordinate": ({"coordinates": {"crank pin": np.inf}}, "coordinates of .*'crank pin'.*finite"),
    "text coordinate": ({"coordinates": {"crank pin": "up"}}, "coordinates of .*'crank pin'"),
    "no coordinate": ({"coordinates": {"crank pin": None}}, "coordinates of .*'crank pin'"),
    "too many rates": ({"rates": {"crank pin": (1, 2)}}, "rates of .*'crank pin'.*shape"),
    "nan rate": ({"rates": {"crank pin": NAN}}, "rates of .*'crank pin'.*finite"),
    "unknown body": ({"position": {"crnk": ORIGIN}}, "position: no body 'crnk', did you mean 'crank'"),
    "the world": ({"position": {"world": ORIGIN}}, "position: no body 'world'"),
    "position shape": ({"position": {"crank": (0, 0)}}, "position of body 'crank'.*shape"),
    "position nan": ({"position": {"crank": (0, 0, NAN)}}, "position of body 'crank'.*finite"),
    "quaternion norm": ({"quat_wxyz": {"crank": (1, 1, 0, 0)}}, "quat_wxyz of body 'crank'.*norm"),
    "quaternion shape": ({"quat_wxyz": {"crank": (1, 0, 0)}}, "quat_wxyz of body 'crank'.*shape"),
    "quaternion nan": ({"quat_wxyz": {"crank": (NAN, 0, 0, 0)}}, "quat_wxyz of body 'crank'.*finite"),
    "velocity shape": ({"velocity": {"crank": 1.0}}, "velocity of body 'crank'.*shape"),
    "velocity nan": ({"velocity": {"crank": (0, NAN, 0)}}, "velocity of body 'crank'.*finite"),
    "angular velocity shape": ({"angular_velocity": {"crank": (1, 2)}}, "angular_velocity of body 'crank'.*shape"),
    "angular velocity nan": ({"angular_velocity": {"crank": (0, NAN, 0)}}, "angular_velocity of body 'crank'.*finite"),
    "rates that contradict": (
        {"rates": {"crank pivot": 1.0, "rocker pivot": 9.0}},
        "rates .*'.* (pin|pivot)'",
    ),
}


@pytest.mark.parametrize("case", BAD_STATES)
def test_bad_states(case):
    given, message = BAD_STATES[case]
    with pytest.raises(vi.StateError, match=message):
        vi.mechanisms.four_bar().state(**given)


IMPOSSIBLE = {
    "rocker beyond its reach": {"coordinates": {"rocker pivot": 2.0}},
    "rocker apart from the crank": {"coordinates": {"crank pivot": 0.5, "rocker pivot": 0.5}},
    "body turned over": {"position": {"crank": (0, 0, 0.2)}, "quat_wxyz": {"crank": (0, 0, 0, 1)}},
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_impossible_states(case):
    with pytest.raises(vi.AssemblyError, match=r"'(crank|rocker|coupler)( pin| pivot)?'"):
        vi.mechanisms.four_bar().state(**IMPOSSIBLE[case])


BAD_STARTS = {
    "unknown joint": ({"rates": {"g": 1.0}}, "start of mechanism 'machine': rates: no joint 'g'"),
    "misspelt joint": ({"coordinates": {"lnk": 1.0}}, "coordinates: no joint 'lnk', did you mean 'link'"),
    "misspelt body": ({"position": {"bll": ORIGIN}}, "position: no body 'bll', did you mean 'ball'"),
    "shape": ({"rates": {"link": (1.0, 2.0)}}, "rates of revolute joint 'link'.*shape"),
    "truth value": ({"rates": {"link": True}}, "rates of revolute joint 'link'"),
    "text": ({"velocity": {"box": "fast"}}, "velocity of body 'box'.*'fast'"),
    "no names": ({"velocity": [1, 2, 3]}, "velocity must be a dict of body name"),
    "misspelt key": ({"velocty": {"box": ORIGIN}}, "unknown key 'velocty'; did you mean 'velocity'"),
    "text as a whole": ("rest", "start of mechanism 'machine'.*'rest'"),
}


@pytest.mark.parametrize("case", BAD_STARTS)
def test_bad_starts(case):
    start, message = BAD_STARTS[case]
    with pytest.raises(vi.MechanismError, match=message):
        build(vi.Revolute("link", "box", "ball", point=ORIGIN, axis=Y), start=start)


# ------------------------------------------------------------------------------------------------ runs

NODES = 11
BAD_RUNS = {
    "dt zero": ({"dt": 0}, "dt must be positive"),
    "dt negative": ({"dt": -0.01}, "dt must be positive"),
    "dt nan": ({"dt": NAN}, "dt must be finite"),
    "dt infinite": ({"dt": np.inf}, "dt must be finite"),
    "dt array": ({"dt": [0.01]}, "dt must be a number"),
    "dt text": ({"dt": "fast"}, "dt must be a number, s, or 'auto', got 'fast'"),
    "duration zero": ({"duration": 0}, "duration must be positive"),
    "duration negative": ({"duration": -1}, "duration must be positive"),
    "duration nan": ({"duration": NAN}, "duration must be finite"),
    "duration shorter than a step": ({"duration": 0.009}, "duration 0.009 s is shorter"),
    "tol zero": ({"tol": 0}, "tol must be positive"),
    "tol nan": ({"tol": NAN}, "tol must be finite"),
    "order": ({"order": 3}, "order must be one of 1, 2, 4, 6, 8, got 3"),
    "order text": ({"order": "second"}, "order must be one of"),
    "order list": ({"order": [2]}, "order must be one of"),
    "every zero": ({"every": 0}, "every must be"),
    "every negative": ({"every": -1}, "every must be"),
    "every fraction": ({"every": 1.5}, "every must be"),
    "force shape": ({"force": {"crank": (1, 2)}}, r"force on body 'crank'.*\(11, 3\).*\(2,\)"),
    "force on too few nodes": ({"force": {"crank": np.zeros((10, 3))}}, r"force on body 'crank'.*\(11, 3\)"),
    "force on an unknown body": ({"force": {"crnk": ORIGIN}}, "force: no body 'crnk', did you mean 'crank'"),
    "force on the world": ({"force": {"world": ORIGIN}}, "force: no body 'world'"),
    "force nan": ({"force": {"crank": (0, 0, NAN)}}, "force on body 'crank' must be finite"),
    "force text": ({"force": {"crank": "down"}}, "force on body 'crank'"),
    "force ragged": ({"force": {"crank": [[1], [2, 3]]}}, "force on body 'crank'"),
    "torque shape": ({"torque": {"crank": 1.0}}, "torque on body 'crank'"),
    "torque nan at a node": ({"torque": {"crank": np.full((NODES, 3), NAN)}}, "torque on body 'crank' must be finite"),
    "torque on an unknown body": ({"torque": {"crnk": ORIGIN}}, "torque: no body 'crnk', did you mean 'crank'"),
    "resume without a file": ({"resume": True}, "resume needs output="),
    "state of another mechanism": ({"state": vi.mechanisms.n_pendulum(2).state()}, r"position of the state.*\(3, 3\)"),
}


@pytest.mark.parametrize("case", BAD_RUNS)
def test_bad_runs(case):
    arguments, message = BAD_RUNS[case]
    with pytest.raises(vi.ArgumentError, match=message):
        vi.simulate(vi.mechanisms.four_bar(), **({"duration": 0.1, "dt": 0.01} | arguments))


def test_a_run_of_one_value_a_node():
    run = vi.simulate(vi.mechanisms.four_bar(), 0.1, 0.01, force={"crank": np.zeros((NODES, 3))})
    assert len(run.t) == NODES


@pytest.mark.parametrize("field", ["position", "quat_wxyz", "velocity", "angular_velocity"])
def test_a_state_with_nan_does_not_run(field):
    mechanism = vi.mechanisms.four_bar()
    state = mechanism.state()
    arrays = {
        name: np.array(getattr(state, name)) for name in ("position", "quat_wxyz", "velocity", "angular_velocity")
    }
    arrays[field][1, 2] = NAN
    with pytest.raises(vi.ArgumentError, match=f"{field} of the state"):
        vi.simulate(mechanism, 0.1, 0.01, state=vi.State(**arrays))
