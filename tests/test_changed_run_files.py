"""Run files changed by accident or on purpose: they are refused, and nothing but the file is read."""

import json

import h5py
import numpy as np
import pytest
from file_runs import DT, NODES, run, same
from hostile_runs import replaced
from signed_files import signed

import varint as vi
from varint.files.runs.contents import Checkpoint, Progress, checksum_of
from varint.files.runs.reader import load_settings
from varint.results.record import Counts


def set_state(name, value):
    def change(file):
        for turn in "01":
            file[f"checkpoint/{turn}/state/{name}"][...] = value

    return change


def huge(file):
    """Declare many more nodes than there are bytes."""
    for name in NODES:
        file[name].resize(30_000_000, axis=0)
    file["blocks"][-1, 0] = 30_000_000
    for turn in "01":
        file[f"checkpoint/{turn}/progress"][1] = 30_000_000


def huge_text(file):
    del file["mechanism"]
    file.create_dataset("mechanism", (), dtype="S2000000000")


def changed_type(file):
    values = file["position"][()]
    del file["position"]
    file.create_dataset("position", data=values.astype("f4"), maxshape=(None, *values.shape[1:]), chunks=True)


def two_endings(file):
    for turn in "01":
        group = file[f"checkpoint/{turn}/state"]
        del group["ending"]
        group["ending"] = np.array([[-1, -1]])


def many_names(file):
    """Give one array of 8 MB five hundred names."""
    first = file["checkpoint/0/state"].create_dataset("large", data=np.zeros(1_000_000))
    for number in range(500):
        file[f"checkpoint/0/state/{number}"] = first


def compressed(file):
    values = file["position"][()]
    del file["position"]
    file.create_dataset("position", data=values, maxshape=(None, *values.shape[1:]), chunks=True, compression="gzip")


def set_setting(name, value):
    def change(file):
        settings = json.loads(bytes(file.attrs["settings"])) | {name: value}
        file.attrs["settings"] = np.bytes_(json.dumps(settings))

    return change


def set_attribute(name, text):
    return lambda file: file.attrs.__setitem__(name, np.bytes_(text))


ON_LOAD = {
    "external link": replaced("position", h5py.ExternalLink("other.h5", "position")),
    "soft link": replaced("velocity", h5py.SoftLink("/position")),
    "link to a checkpoint": replaced("checkpoint/0/state", h5py.SoftLink("/checkpoint/1/state")),
    "more nodes than bytes": huge,
    "a text longer than the file": huge_text,
    "another type": changed_type,
    "two bodies where there is one": two_endings,
    "settings that are none": set_attribute("settings", "[]"),
    "settings without a step": set_attribute("settings", '{"formulation": "maximal"}'),
    "nodes that are none": set_attribute("nodes", '{"t": 3}'),
    "nodes with negative widths": set_attribute("nodes", '{"t": [[-1], "<f8"]}'),
    "nodes of objects": set_attribute("nodes", '{"t": [[], "|O"]}'),
    "one array under many names": many_names,
    "compressed chunks": compressed,
    "a duration that is no number": set_setting("duration", float("nan")),
    "negative steps": set_setting("steps", -5),
    "no node ever": set_setting("every", 0),
    "a node beyond counting": set_setting("every", 10**30),
    "no step": set_setting("dt", 0.0),
    "a step back": set_setting("dt", -1.0),
    "deep nesting": set_attribute("layout", "[" * 20000),
}
LARGE = ("more nodes than bytes", "a text longer than the file")


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name for name in ON_LOAD]
)
def test_file_changed_on_purpose_is_refused(tmp_path, name):
    path = tmp_path / "run.h5"
    run(path)
    run(tmp_path / "other.h5")
    signed(path, ON_LOAD[name])
    with pytest.raises(vi.FileError, match="damaged or not a run of varint"):
        vi.load(path)
    with pytest.raises(vi.FileError, match="damaged or not a run of varint"):
        run(path, 2.0, resume=True)


@pytest.mark.slow
def test_other_files_are_never_read(tmp_path):
    path, secret = tmp_path / "run.h5", tmp_path / "secret"
    run(path)
    secret.write_bytes(np.arange(1e4).tobytes())
    for make in ("external", "virtual"):
        run(path, duration=1.0, overwrite=True)

        def change(file, make=make):
            shape = file["position"].shape
            del file["position"]
            if make == "external":
                file.create_dataset("position", shape, "f8", external=[(secret, 0, h5py.h5f.UNLIMITED)])
            else:
                layout = h5py.VirtualLayout(shape, "f8")
                layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "position", shape)
                file.create_virtual_dataset("position", layout)

        with h5py.File(path, "r+") as file:
            change(file)
        with pytest.raises(vi.FileError, match="not stored as runs are"):
            vi.load(path)


ON_RESUME = {
    "pose": set_state("place", [3, 2]),
    "node": set_state("place", [-3, 0]),
    "recorded": set_state("recorded", 10**6),
    "nothing recorded": set_state("recorded", 0),
    "not finite": set_state("momentum", np.nan),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_RESUME)
def test_checkpoint_changed_on_purpose_is_refused(tmp_path, name):
    path = tmp_path / "run.h5"
    run(path)
    signed(path, ON_RESUME[name])
    vi.load(path)
    with pytest.raises(vi.FileError, match="damaged or not a run of varint"):
        run(path, 2.0, resume=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("integrator", "state", "value"),
    [
        ("dop853", "charts", 99),
        ("radau", "integrator pivots", 99),
        ("radau", "integrator pivots", -1),
        ("dop853", "equations rank", 7.5),
        ("bdf2", "integrator counts", -5),
        ("dop853", "node", -5),
        ("dop853", "integrator t", 0.01),
    ],
)
def test_reduced_checkpoint_changed_on_purpose_is_refused(tmp_path, integrator, state, value):
    path, mechanism = tmp_path / "run.h5", vi.mechanisms.spinning_top()
    vi.redmax.simulate(mechanism, 0.1, dt=DT, integrator=integrator, output=path)
    signed(path, set_state(state, value))
    with pytest.raises(vi.FileError, match="damaged or not a run of varint"):
        vi.redmax.simulate(mechanism, 0.2, dt=DT, integrator=integrator, output=path, resume=True)


def test_error_of_a_users_function_where_a_run_goes_on_is_no_damage(tmp_path):
    def lift(t, broken=None):
        if t > 0.05 and broken:
            raise ValueError("of the user's")
        return 0.1 * t, 0.1, 0.0

    path, mechanism = tmp_path / "run.h5", vi.mechanisms.cart_pole()
    track = mechanism.joints[0].name
    vi.redmax.simulate(mechanism, 0.1, dt=DT, prescribed={track: lift}, output=path)
    with pytest.raises(ValueError, match="of the user's"):
        vi.redmax.simulate(mechanism, 0.2, dt=DT, prescribed={track: lambda t: lift(t, True)}, output=path, resume=True)


@pytest.mark.slow
def test_order_of_products_changed_on_purpose_is_refused(tmp_path):
    path, mechanism = tmp_path / "run.h5", vi.mechanisms.roller_coaster()
    vi.simulate(mechanism, 0.1, DT, output=path)
    signed(path, set_state("products order", 77))
    with pytest.raises(vi.FileError, match="unknown components"):
        vi.simulate(mechanism, 0.2, DT, output=path, resume=True)


@pytest.mark.slow
@pytest.mark.long
def test_one_changed_bit_is_noticed(tmp_path, rng):
    """Of a file that was closed: wherever a bit of a number or a text changes, the file is refused."""
    path = tmp_path / "run.h5"
    expected = run(path, 20.0)
    content = bytearray(path.read_bytes())
    settings = load_settings(path)
    refused = 0
    for _ in range(120):
        place, bit = int(rng.integers(len(content))), 1 << int(rng.integers(8))
        content[place] ^= bit
        path.write_bytes(content)
        try:
            found = vi.load(path)
            assert same(found, expected), place  # what is not used
            assert found.message == expected.message
            assert load_settings(path) == settings
        except vi.FileError:
            refused += 1
        content[place] ^= bit
    assert refused > 40


def test_a_checkpoint_of_another_version_is_named(tmp_path):
    def older(file):
        for turn in "01":
            del file[f"checkpoint/{turn}/state/depth"]

    path = tmp_path / "run.h5"
    run(path)
    signed(path, older)
    with pytest.raises(vi.FileError, match=r"another version of varint wrote it, whose checkpoints differ in depth"):
        run(path, 2.0, resume=True)


def test_checkpoint_is_what_was_kept():
    state = {"a": np.arange(3.0), "b": np.zeros((0, 2), dtype=np.int64)}
    long = "ä" * 700  # cut at a whole character
    arrays = Checkpoint(Progress(3, 5, 0, Counts(5, 10, 0, 0)), 1.5, long, state).arrays()
    assert arrays["message"].item().decode() == "ä" * 500
    assert arrays["checksum"] == checksum_of(arrays)
    arrays["state/a"] = arrays["state/a"] + 1e-9
    assert arrays["checksum"] != checksum_of(arrays)
