"""The one entrance: what passes as a number, an array, a name, a choice, and with which words the rest is refused."""

import datetime
import decimal
import json

import numpy as np
import pytest

import varint as vi
from varint.base import checks
from varint.base.paths import path_of


class Hostile:
    """Raises whatever it is asked."""

    __hash__ = None

    def fail(self, *_):
        raise ArithmeticError("hostile")

    __repr__ = __eq__ = __float__ = __len__ = __iter__ = __array__ = fail


NUMBERS = [
    2,
    2.0,
    np.float32(2),
    np.int8(2),
    np.uint64(2),
    np.longdouble(2),
    np.array(2),
    np.array(2.0, dtype=np.float16),
]
NO_NUMBERS = {
    "truth value": True,
    "truth value of numpy": np.True_,
    "text": "1.0",
    "text in an array": np.array("1.0"),
    "bytes": b"1",
    "complex": 1.0 + 0j,
    "complex in an array": np.array(1j),
    "date": datetime.date(2020, 1, 1),
    "date of numpy": np.datetime64("2020-01-01"),
    "time of numpy": np.timedelta64(1, "s"),
    "decimal": decimal.Decimal(1),
    "none": None,
    "row": [1.0],
    "above all floats": 10**400,
    "thousands of digits": 10**5000,
    "above double precision": np.longdouble("1e4000"),
    "nan": np.nan,
    "masked": np.ma.array(1.0, mask=True),
    "object": object(),
    "hostile": Hostile(),
}


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_numbers_of_every_size_pass(value):
    found = checks.finite(value, "mass")
    assert type(found) is float
    assert found == 2.0


@pytest.mark.parametrize("case", NO_NUMBERS)
def test_what_is_no_number_is_refused(case):
    with pytest.raises(vi.MechanismError, match=r"^mass must be (a number|finite), got ") as caught:
        checks.finite(NO_NUMBERS[case], "mass")
    assert len(str(caught.value)) < 300


IN_ITSELF = []
IN_ITSELF.append(IN_ITSELF)
NO_ARRAYS = {
    "truth values": [True, False, True],
    "truth value among numbers": [0.0, True, 0.0],
    "truth values deep inside": np.array([True, False, True]),
    "texts": ["1", "2", "3"],
    "objects": np.array([1.0, 2.0, 3.0], dtype=object),
    "complex": [1j, 0, 0],
    "dates": np.array(["2020-01-01"] * 3, dtype="M8[D]"),
    "records": np.zeros(3, dtype=[("x", float)]),
    "above all floats": [10**400, 0, 0],
    "masked": np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
    "ragged": [1, [2, 3]],
    "in itself": IN_ITSELF,
    "hostile": [Hostile()] * 3,
    "set": {1, 2, 3},
    "shape that numpy would spread": [1.0],
    "number that numpy would spread": 1.0,
    "nan": [0.0, np.nan, 0.0],
}


@pytest.mark.parametrize("case", NO_ARRAYS)
def test_what_is_no_array_is_refused(case):
    with pytest.raises(vi.StateError, match=r"^point must be (an array of numbers of shape \(3,\)|finite), got "):
        checks.array_of(NO_ARRAYS[case], (3,), "point", vi.StateError)


def test_arrays_are_own_floats_that_nobody_changes():
    given = np.arange(6).reshape(2, 3)
    found = checks.array_of(given, (None, 3), "points")
    assert found.dtype == float
    assert not found.flags.writeable
    given[:] = 7
    assert found.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(
        vi.MechanismError, match=r"points must be an array of numbers of shape \(n, 3\), got shape \(3,\)"
    ):
        checks.array_of([1, 2, 3], (None, 3), "points")


def test_whole_numbers():
    assert [checks.whole_number(n, "n") for n in (3, np.int8(3), np.array(3))] == [3, 3, 3]
    for wrong in (3.0, True, "3", None, np.array([3]), np.array(3.0), 1j, np.timedelta64(3), Hostile()):
        with pytest.raises(vi.MechanismError, match="n must be a whole number"):
            checks.whole_number(wrong, "n")
    with pytest.raises(vi.MechanismError, match="n must be a whole number from 1, got 0"):
        checks.whole_number(0, "n", 1, most=4)
    for wrong in (5, 10**5000):
        with pytest.raises(vi.MechanismError, match="n must be a whole number from 1 up to 4, got"):
            checks.whole_number(wrong, "n", 1, most=4)


def test_flags():
    assert checks.flag(True, "closed") is True
    assert checks.flag(np.False_, "closed") is False
    for wrong in (1, 0, "yes", None, [], Hostile()):
        with pytest.raises(vi.MechanismError, match="closed must be True or False"):
            checks.flag(wrong, "closed")


def test_names_and_choices():
    assert checks.known_name("crank", {"crank": 0}, "no body") == "crank"
    for wrong in (["crank"], np.zeros(3), {}, None, 3, Hostile()):
        with pytest.raises(vi.MechanismError, match=r"no body .*a name is a text"):
            checks.known_name(wrong, {"crank": 0}, "no body")
        with pytest.raises(vi.MechanismError, match="order must be one of 1, 2"):
            checks.choice(wrong, (1, 2), "order")
        with pytest.raises(vi.MechanismError, match="scheme must be one of a, b"):
            checks.choice(wrong, ("a", "b"), "scheme")
    assert checks.choice(np.int64(2), (1, 2), "order") == 2
    for wrong in (True, 1.0, "1"):
        with pytest.raises(vi.MechanismError, match="order must be one of 1, 2"):
            checks.choice(wrong, (1, 2), "order")
    for wrong in ("", "  ", None, 3, b"x", "\ud800"):
        with pytest.raises(vi.MechanismError, match="a body needs a name"):
            checks.check_name(wrong, "a body")


def test_paths():
    for wrong in (3, None, b"x", "a\0b", "\ud800", "x" * 5000, Hostile()):
        with pytest.raises(vi.FileError):
            path_of(wrong)
    for use in (vi.load, vi.load_mechanism, lambda path: vi.save_mechanism(vi.mechanisms.four_bar(), path)):
        with pytest.raises(vi.FileError, match="must be a text or a path, got 3"):
            use(3)


# -------------------------------------------------------------------------------------------- where it is used


MECHANISM = vi.mechanisms.four_bar()
RUN: dict = {"mechanism": MECHANISM, "duration": 0.1, "dt": 0.01}
WRONG_RUNS = {
    "no mechanism": ({"mechanism": "four_bar"}, "mechanism must be a Mechanism, got 'four_bar'"),
    "duration as text": ({"duration": "1"}, "duration must be a number, got '1'"),
    "duration as truth value": ({"duration": True}, "duration must be a number, got True"),
    "duration above all floats": ({"duration": 10**400}, "duration must be a number"),
    "dt as complex": ({"dt": 0.01 + 0j}, "dt must be a number"),
    "every as truth value": ({"every": True}, "every must be a whole number from 1, got True"),
    "every above all": ({"every": 10**400}, "every must be a whole number from 1 up to 9007199254740992"),
    "state of another kind": ({"state": 3}, "state must be a State"),
    "resume as text": ({"resume": "yes", "output": "x.h5"}, "resume must be True, False or 'any', got 'yes'"),
    "progress": ({"progress": 3}, "progress must be a function, got 3"),
    "force by no name": ({"force": {("crank",): (0, 0, 1)}}, "force: no body .*a name is a text"),
    "force as truth values": ({"force": {"crank": (True, False, True)}}, "force on body 'crank' must be of shape"),
}
MAXIMAL = {
    "scheme in a list": ({"scheme": ["rattle"]}, "scheme must be one of"),
    "closures in a list": ({"closures": ["single"]}, "closures must be one of clusters, single"),
    "an integrator": ({"integrator": "bdf2"}, "no argument 'integrator' here: it belongs to varint.Reduced"),
    "misspelt": ({"ordr": 2}, "no argument 'ordr' here, did you mean 'order'"),
}
REDUCED = {
    "integrator in a list": ({"integrator": ["bdf2"]}, "integrator must be one of"),
    "chart in an array": ({"chart": np.zeros(3)}, "chart must be one of exponential"),
    "a scheme": ({"scheme": "rattle"}, "no argument 'scheme' here: it belongs to varint.Variational"),
    "misspelt": ({"baumgrte": 5.0}, "no argument 'baumgrte' here, did you mean 'baumgarte'"),
}


@pytest.mark.parametrize("case", WRONG_RUNS)
@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate], ids=["maximal", "reduced"])
def test_wrong_arguments_of_both_runs(simulate, case):
    arguments, message = WRONG_RUNS[case]
    with pytest.raises(vi.VarintError, match=message):
        simulate(**RUN | arguments)


@pytest.mark.parametrize("case", [*MAXIMAL, *(f"reduced: {name}" for name in REDUCED)])
def test_wrong_arguments_of_a_run(case):
    reduced = case.startswith("reduced: ")
    arguments, message = REDUCED[case[9:]] if reduced else MAXIMAL[case]
    with pytest.raises(vi.ArgumentError, match=message):
        (vi.redmax.simulate if reduced else vi.simulate)(**RUN | arguments)


NO_NAMES = [["crank"], np.array(["crank"]), {"crank"}, {}, None, 3, 1j, Hostile()]


@pytest.mark.parametrize("name", NO_NAMES, ids=[type(name).__name__ for name in NO_NAMES])
def test_what_is_no_name_finds_nothing(name):
    run = vi.simulate(MECHANISM, 0.01, 0.01)
    uses = [
        MECHANISM.body, MECHANISM.joint, MECHANISM.force, run.coordinates.__getitem__, run.reactions.__getitem__,
        vi.mechanisms.module, lambda n: MECHANISM.sweep(n, [0.0]),
        lambda n: MECHANISM.assemble(MECHANISM.state(), [n]),
        lambda n: vi.Revolute("j", n, "b", point=(0, 0, 0), axis=(0, 0, 1)),
        lambda n: vi.Motor("m", joint=n, effort=1.0),
        lambda n: vi.Drag("d", n, linear=1.0),
        lambda n: vi.MultiPointSpring("s", [n, "b"], points=np.eye(3)[:2], stiffness=1),
        lambda n: vi.Belt("b", joints=[n, "j"], radii=[1, 2]),
        lambda n: vi.Coupling("c", terms=[(n, 0, 1), ("j", 0, 1)]),
        lambda n: vi.Mechanism(n, MECHANISM.bodies, MECHANISM.joints), lambda n: vi.Body.sphere(n, 1.0, 1.0),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(vi.VarintError):
            use(name)
    assert name not in run.coordinates


def test_the_catalogue_checks_its_parameters():
    for name, given, message in [
        ("n_pendulum", {"n": True}, "n of n_pendulum must be a whole number"),
        ("n_pendulum", {"n": 2.0}, "n of n_pendulum must be a whole number"),
        ("n_pendulum", {"n": 10**9}, "n of n_pendulum must be a whole number up to 100000"),
        ("n_pendulum", {"angle": "1.0"}, "angle of n_pendulum must be a number, got '1.0'"),
        ("n_pendulum", {"joint": ["revolute"]}, "joint of n_pendulum needs a name"),
        ("ladder", {"closed": 1}, "closed of ladder must be True or False"),
        ("delta_robot", {"position": (1, 2)}, "position of delta_robot must be an array"),
        ("four_bar", {"crank": 0.0, "coupler": 0.0}, "four_bar|links"),
    ]:
        with pytest.raises(vi.MechanismError, match=message):
            getattr(vi.mechanisms, name)(**given)
    with pytest.raises(vi.MechanismError, match="'n_pendulum' has no parameter 'm': it takes n, joint, angle"):
        vi.mechanisms.n_pendulum(m=3)


def own_error(*_):
    raise LookupError("of the user's own")


@pytest.mark.parametrize(
    ("force", "whose"),
    [
        (lambda: vi.Motor("m", joint="joint 1", effort=own_error), "effort of motor 'm' at t = 0 s"),
        (
            lambda: vi.PrescribedMotion("p", joint="joint 1", position=own_error),
            "position of prescribedmotion 'p' at t",
        ),
        (
            lambda: vi.TabulatedTorsionSpring("t", joint="joint 1", values=[0, 1], efforts=own_error),
            "efforts of tabulated",
        ),
    ],
)
@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate], ids=["maximal", "reduced"])
def test_errors_of_functions_travel_with_a_note(simulate, force, whose):
    base = vi.mechanisms.double_pendulum()
    with pytest.raises(LookupError, match="of the user's own") as caught:
        simulate(vi.Mechanism("m", base.bodies, base.joints, forces=[force()]), 0.1, dt=0.01)
    (note,) = caught.value.__notes__
    assert note.startswith(f"raised by {whose}")
    assert "a function that is called as f(" in note


def test_errors_of_progress_and_of_prescribed_motions_travel_with_a_note():
    mechanism = vi.mechanisms.double_pendulum()
    for simulate in (vi.simulate, vi.redmax.simulate):
        with pytest.raises(LookupError) as caught:
            simulate(mechanism, 0.1, dt=0.01, progress=own_error)
        assert caught.value.__notes__ == ["raised by progress, a function that is called as progress(done, total)"]
    with pytest.raises(LookupError) as caught:
        vi.redmax.simulate(mechanism, 0.1, prescribed={"joint 1": own_error})
    assert "the motion prescribed for revolute joint 'joint 1'" in caught.value.__notes__[0]


def test_a_potential_that_gives_no_number_is_named():
    def law(value, rate):
        return -value, -1.0, 0.0

    base = vi.mechanisms.double_pendulum()
    force = vi.UserJointForce("u", joint="joint 1", law=law, potential=lambda q: "much")
    run = vi.simulate(vi.Mechanism("m", base.bodies, base.joints, forces=[force]), 0.02, 0.01)
    with pytest.raises(vi.MechanismError, match=r"potential of userjointforce 'u' at .* must be a number, got 'much'"):
        _ = run.energy


def test_accelerations_that_are_not_finite_are_an_error_of_the_package():
    base = vi.mechanisms.double_pendulum()
    force = vi.Motor("m", joint="joint 1", effort=1e308)
    mechanism = vi.Mechanism(
        "m", base.bodies, base.joints, forces=[force, vi.Motor("n", joint="joint 1", effort=1e308)]
    )
    with np.errstate(all="ignore"), pytest.raises(vi.StateError, match="accelerations at the start are not finite"):
        vi.redmax.simulate(mechanism, 0.1, dt=0.01)


# ------------------------------------------------------------------------------------------------- JSON files


BASE = {
    "name": "pendulum",
    "bodies": [{"name": "bob", "mass": 1.0, "inertia": np.eye(3).tolist()}],
    "joints": [
        {"type": "Revolute", "name": "elbow", "body_a": "world", "body_b": "bob", "point": [0, 0, 1], "axis": [0, 1, 0]}
    ],
    "forces": [{"type": "Motor", "name": "motor", "joint": "elbow", "effort": 0.0}],
    "start": {"rates": {"elbow": 1.0}, "velocity": {"bob": [0, 0, 0]}},
}


def loaded(tmp_path, data):
    path = tmp_path / "m.json"
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return vi.load_mechanism(path)


def changed(place, **more):
    data = json.loads(json.dumps(BASE))
    inside = data
    for key in place:
        inside = inside[key]
    inside.update(more)
    return data


UNKNOWN = {
    "at the top": (changed((), gravty=[0, 0, 0]), "unknown key 'gravty'; did you mean 'gravity'"),
    "of a body": (
        changed(("bodies", 0), mas=2.0),
        r"body 'bob' \(bodies\[0\]\): unknown key 'mas'; did you mean 'mass'",
    ),
    "of a joint": (
        changed(("joints", 0), pont=[0, 0, 0]),
        r"joint 'elbow' \(joints\[0\]\): unknown key 'pont'; did you mean 'point'",
    ),
    "of a force": (
        changed(("forces", 0), efort=1),
        r"force 'motor' \(forces\[0\]\): unknown key 'efort'; did you mean 'effort'",
    ),
    "of the start": (
        changed(("start",), rate={}),
        "start of mechanism 'pendulum': unknown key 'rate'; did you mean 'rates'",
    ),
    "of the rates": (changed(("start", "rates"), elbw=1.0), "rates: no joint 'elbw', did you mean 'elbow'"),
    "of the velocities": (changed(("start", "velocity"), bb=[0, 0, 0]), "velocity: no body 'bb', did you mean 'bob'"),
    "type of a joint": (changed(("joints", 0), type="Revolut"), r"\(joints\[0\]\): no joint type 'Revolut', did you"),
    "what is missing": (
        changed((), joints=[{"type": "Revolute", "name": "j"}]),
        r"'j' \(joints\[0\]\): 'body_a', 'body_b'",
    ),
    "value with its place": (
        changed(("joints", 0), axis=[0, 0, 0]),
        r"joints\[0\]: axis of revolute joint 'elbow' must",
    ),
    "truth value": (changed((), gravity=[True, 0, 0]), "gravity of mechanism 'pendulum' must be an array"),
    "no list": (changed((), joints={}), "joints must be a list"),
    "no object": (changed((), joints=[3]), r"joints\[0\] must be an object"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_a_key_that_is_not_known_is_refused_at_every_level(tmp_path, case):
    data, message = UNKNOWN[case]
    loaded(tmp_path, BASE)
    with pytest.raises(vi.MechanismError, match=message) as caught:
        loaded(tmp_path, data)
    assert "m.json" in str(caught.value)
    assert "__init__" not in str(caught.value)


TEXT = json.dumps(BASE, indent=1)
TEXTS = {
    "nan": (TEXT.replace('"mass": 1.0', '"mass": NaN'), "line 6: NaN is no number in JSON"),
    "infinity": (TEXT.replace('"effort": 0.0', '"effort": -Infinity'), "line [0-9]+: -Infinity is no number in JSON"),
    "infinity in a name": (TEXT.replace('"mass": 1.0', '"NaN": NaN'), "line 6: NaN is no number"),
    "a float above all": (TEXT.replace('"mass": 1.0', '"mass": 1e999'), "line 6: the number 1e999 is too large"),
    "digits": (
        TEXT.replace('"mass": 1.0', f'"mass": {"9" * 5000}'),
        "line 6: the number 9.* of 5000 digits is too large",
    ),
    "a key twice": (TEXT.replace('"mass": 1.0', '"mass": 1.0, "mass": 2.0'), "key 'mass' of 'bob' stands there twice"),
    "a key twice at the top": ('{"name": "a", "name": "b"}', "key 'name' of 'a' stands there twice"),
    "nested deep": ("[" * 100_000 + "]" * 100_000, "nested too deep"),
    "latin-1": (TEXT.replace("bob", "b\xf6b").encode("latin-1"), "line 5: not a text file in UTF-8"),
    "a zero byte": (TEXT.replace("bob", "b\0b").encode(), "line 5: Invalid control character"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_text_that_says_no_mechanism(tmp_path, case):
    text, message = TEXTS[case]
    with pytest.raises(vi.FileError, match=message):
        loaded(tmp_path, text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_every_encoding_of_json_is_read(tmp_path, encoding):
    assert loaded(tmp_path, TEXT.replace("bob", "b\xf6b").encode(encoding)).bodies[0].name == "b\xf6b"


def test_limits_that_are_not_given_are_no_infinities_in_a_file(tmp_path):
    base = vi.mechanisms.double_pendulum()
    stop = vi.JointStop("stop", joint="joint 1", upper=0.5, stiffness=3.0)
    vi.save_mechanism(vi.Mechanism("m", base.bodies, base.joints, forces=[stop]), tmp_path / "m.json")
    assert "Infinity" not in (tmp_path / "m.json").read_text()
    (read,) = vi.load_mechanism(tmp_path / "m.json").forces
    assert (read.lower, read.upper) == (-np.inf, 0.5)
