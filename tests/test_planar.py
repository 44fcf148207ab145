"""The planar joint of three motions, the one without rotation, and files from the time when both had other names."""

import hashlib
import io
import json
import pickle
import warnings

import numpy as np
import pytest

import varint as vi
from varint.files.own.file_format import FORMAT, MARK
from varint.files.own.mechanism_data import to_data
from varint.files.runs import writer
from varint.files.runs.contents import fingerprint

LENGTH, GRAVITY = 0.8, 9.81


def rod_on_its_tip(kind=vi.Planar):
    """A rod that leans by 0.1 rad, in a vertical plane on a smooth floor."""
    top = LENGTH * np.sin(0.1), 0, LENGTH * np.cos(0.1)
    rod = vi.Body.rod("rod", start=(0, 0, 0), end=top, mass=1.3, radius=1e-3)
    floor = vi.HardContact("floor", "rod", points=[(0, 0, 0)], friction=0.0)
    return vi.Mechanism("tip", [rod], [kind("plane", "world", "rod", axis=(0, 1, 0))], forces=[floor])


def two_plates():
    """A plate on a plane, another plate on it."""
    bodies = [vi.Body.box(name, (0.3, 0.2, 0.1), 1.0) for name in "ab"]
    joints = [
        vi.PlanarTranslation("table", "world", "a", axis=(0, 0, 1)),
        vi.Composite("two", "a", "b", point=(0, 0, 0), parts=[{"type": "PlanarTranslation", "axis": (1, 0, 0)}]),
    ]
    return vi.Mechanism("plates", bodies, joints, start={"rates": {"table": (0.1, 0.2)}})


def as_before(data):
    """The data of a file from before the mark."""
    text = json.dumps({key: value for key, value in data.items() if key != MARK})
    return text.replace('"PlanarTranslation"', '"Planar"')


def test_free2d_is_its_other_name():
    assert vi.Free2D is vi.Planar
    joint = vi.Planar("p", "world", "b", axis=(0, 0, 1))
    assert (joint.dof, len(joint.forbidden)) == (3, 3)
    assert vi.PlanarTranslation("p", "world", "b", axis=(0, 0, 1)).dof == 2
    assert {"Planar", "Free2D", "PlanarTranslation"} <= set(vi.__all__)


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_rod_on_its_tip_falls(formulation):
    """The centre moves straight down; with s = l / 2 and I = m l^2 / 12 energy gives the rate at each angle."""
    mechanism = rod_on_its_tip()
    if formulation == "maximal":
        run = vi.simulate(mechanism, 0.5, 1e-3)
    else:
        run = vi.redmax.simulate(mechanism, 0.5, integrator="dop853", dt=1e-3)
    angle = 0.1 + run.coordinates["plane"][:, 2] * np.sign(run.coordinates["plane"][-1, 2])
    half, inertia = LENGTH / 2, mechanism.body("rod").inertia[1, 1] / mechanism.body("rod").mass
    rate = np.sqrt(2 * GRAVITY * half * (np.cos(0.1) - np.cos(angle)) / (inertia + (half * np.sin(angle)) ** 2))
    assert angle[-1] > 0.5
    assert np.abs(run.rates["plane"][:, 2]) == pytest.approx(rate, abs=2e-4)
    assert run.position[:, 0, 0] == pytest.approx(run.position[0, 0, 0], abs=1e-9)
    assert run.position[:, 0, 2] == pytest.approx(half * np.cos(angle), abs=1e-5)


def test_without_rotation_it_stands():
    run = vi.simulate(rod_on_its_tip(vi.PlanarTranslation), 0.5, 1e-3)
    assert run.position[-1] == pytest.approx(run.position[0], abs=1e-9)


def test_files_without_the_mark_have_the_older_meaning(tmp_path):
    path, mechanism = tmp_path / "old.json", two_plates()
    path.write_text(as_before(to_data(mechanism)))
    with pytest.warns(vi.FormatWarning, match=r"'.*old\.json' has no format mark: 2 joints \('table', 'two'\)"):
        read = vi.load_mechanism(path)
    assert to_data(read) == to_data(mechanism)
    marked = {MARK: FORMAT} | json.loads(path.read_text())
    marked.pop("start")  # of two coordinates
    path.write_text(json.dumps(marked))
    assert [joint.dof for joint in vi.load_mechanism(path).joints] == [3, 3]


def test_other_types_need_no_mark(tmp_path):
    path = tmp_path / "old.json"
    data = to_data(rod_on_its_tip())
    del data[MARK]
    data["joints"][0]["type"] = "Free2D"
    path.write_text(json.dumps(data))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(vi.load_mechanism(path).joints[0], vi.Planar)


@pytest.mark.parametrize("mark", [1, 3, 2.0, "2", True, None])
def test_other_marks_are_refused(tmp_path, mark):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(to_data(two_plates()) | {MARK: mark}))
    with pytest.raises(vi.MechanismError, match="format must be 2, got"):
        vi.load_mechanism(path)
    if mark is not None:
        path = tmp_path / "m.toml"
        path.write_text(f'name = "m"\nformat = {json.dumps(mark)}\n[bodies.b]\nmass = 1.0\n')
        with pytest.raises(vi.MechanismError, match="line 2, column 1: format must be 2, got"):
            vi.load_mechanism(path)


PLATE = '[bodies.{name}]\nbox = [0.3, 0.2, 0.1]\nmass = 1\n[joints."on {name}"]\ntype = "Planar"\nbody_a = "world"\n'


def plate(name):
    return PLATE.format(name=name) + f'body_b = "{name}"\naxis = [0, 0, "up"]\n[parameters]\nup = 1\n'


def test_each_toml_file_has_its_own_mark(tmp_path):
    (tmp_path / "old.toml").write_text(plate("a"))
    main = tmp_path / "main.toml"
    main.write_text('format = 2\nname = "both"\ninclude = "old.toml"\n' + plate("b"))
    with pytest.warns(vi.FormatWarning, match=r"old\.toml' has no format mark: 1 joint \('on a'\)"):
        read = vi.load_mechanism(main)
    assert {joint.name: joint.dof for joint in read.joints} == {"on a": 2, "on b": 3}
    vi.save_mechanism(read, tmp_path / "again.toml")
    assert to_data(vi.load_mechanism(tmp_path / "again.toml")) == to_data(read)


def test_the_companion_of_a_robot_is_marked(tmp_path):
    vi.save_mechanism(rod_on_its_tip(), tmp_path / "tip.urdf")
    read = vi.load_mechanism(tmp_path / "tip.toml")
    assert isinstance(read.joint("plane"), vi.Planar)


def test_runs_from_before_are_read(tmp_path, monkeypatch):
    mechanism, path = two_plates(), tmp_path / "run.h5"
    with monkeypatch.context() as patched, warnings.catch_warnings():
        patched.setattr(writer, "to_data", lambda mechanism: json.loads(as_before(to_data(mechanism))))
        warnings.simplefilter("ignore", vi.FormatWarning)
        vi.simulate(mechanism, 0.1, 0.01, output=path)
    with pytest.warns(vi.FormatWarning, match=r"run\.h5' has no format mark"):
        run = vi.load(path)
    assert to_data(run.mechanism) == to_data(mechanism)
    assert run.coordinates["table"][-1] == pytest.approx((0.01, 0.02))


def test_runs_of_the_other_meaning_do_not_go_on():
    """Digests of runs from before stay, but where the joint had the name that another one has."""

    def digest_before(mechanism):
        data = to_data(mechanism, solids=False)
        return hashlib.sha256(json.dumps([json.loads(as_before(data)), {"dt": 0.1}]).encode()).hexdigest()

    older, newer = (rod_on_its_tip(kind) for kind in (vi.PlanarTranslation, vi.Planar))
    assert fingerprint(newer, {"dt": 0.1}, []) != digest_before(older)
    pendulum = vi.mechanisms.double_pendulum()
    assert fingerprint(pendulum, {"dt": 0.1}, []) == digest_before(pendulum)


def test_pickles_of_the_other_meaning_are_refused():
    mechanism = rod_on_its_tip()
    assert isinstance(pickle.loads(pickle.dumps(mechanism)).joints[0], vi.Planar)
    older = pickle.dumps(vi.PlanarTranslation("p", "world", "b", axis=(0, 0, 1)), protocol=0)
    older = older.replace(b"planar_translation\nPlanarTranslation", b"planar\nPlanar")
    with pytest.raises(ModuleNotFoundError, match="planar"):
        pickle.load(io.BytesIO(older))
    free = pickle.dumps(mechanism.joints[0], protocol=0).replace(b"free2d\nPlanar", b"free2d\nFree2D")
    assert isinstance(pickle.loads(free), vi.Planar)
