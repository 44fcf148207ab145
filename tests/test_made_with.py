"""A run goes on with what wrote it: the versions, the class of processor, the coefficients of its scheme."""

import json
from dataclasses import replace

import numpy as np
import pytest
from signed_files import signed

import varint as vi
from varint.cli import main
from varint.files.runs import made_with
from varint.methods.variational.schemes import SCHEMES

INSTALLED = made_with._installed()
OTHERS = {
    "varint": "another version of varint wrote it",
    "numba": "another version of numba wrote it",
    "processor": "another class of processor wrote it",
}
SIMULATE = {
    "maximal": lambda duration, **options: vi.simulate(vi.mechanisms.four_bar(), duration, 0.01, **options),
    "reduced": lambda duration, **options: vi.redmax.simulate(
        vi.mechanisms.four_bar(), duration, dt=0.01, integrator="bdf2", **options
    ),
}


def pretend(monkeypatch, **other):
    monkeypatch.setattr(made_with, "_installed", lambda: INSTALLED | other)


def forget(file):
    """Leave out what files did not record before."""
    settings = json.loads(file.attrs["settings"])
    del settings["made_with"]
    file.attrs["settings"] = np.bytes_(json.dumps(settings).encode())


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("formulation", SIMULATE)
@pytest.mark.parametrize("name", OTHERS)
def test_a_run_of_another_is_refused_unless_any_may_go_on(formulation, name, tmp_path, monkeypatch):
    simulate, path = SIMULATE[formulation], tmp_path / "run.h5"
    simulate(0.1, output=path)
    before = path.read_bytes()
    pretend(monkeypatch, **{name: "9.9"})
    with pytest.raises(vi.FileError, match=rf"same bits: {OTHERS[name]}, .*, here is 9\.9\. .*resume='any' goes on"):
        simulate(0.2, output=path, resume=True)
    assert path.read_bytes() == before
    longer = simulate(0.2, output=path, resume="any")
    assert longer.position.tobytes() == simulate(0.2).position.tobytes()
    assert longer.settings["made_with"][name] == INSTALLED[name]
    (entry,) = longer.settings["resumed_with"]
    assert (entry["t"], entry[name]) == (pytest.approx(0.1), "9.9")
    assert "resumed_with" in vi.load(path).settings
    once_more = simulate(0.3, output=path, resume=True)  # the last to write it is the one that goes on
    assert once_more.settings["resumed_with"] == [entry]
    monkeypatch.undo()
    with pytest.raises(vi.FileError, match=r"9\.9, here is"):
        simulate(0.4, output=path, resume=True)


def test_other_coefficients_of_a_scheme(tmp_path, monkeypatch):
    path, of_scheme = tmp_path / "run.h5", {"scheme": "suzuki"}
    SIMULATE["maximal"](0.1, output=path, **of_scheme)
    stages = SCHEMES["suzuki"].stages.copy()
    stages[[0, -1]] += 1e-15
    monkeypatch.setitem(SCHEMES, "suzuki", replace(SCHEMES["suzuki"], stages=stages))
    with pytest.raises(vi.FileError, match="another set of scheme coefficients wrote it"):
        SIMULATE["maximal"](0.2, output=path, resume=True, **of_scheme)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", SIMULATE)
def test_a_file_that_does_not_record_it(formulation, tmp_path):
    """A file of before is read, refused to go on by itself, and the same run but for that."""
    simulate, path = SIMULATE[formulation], tmp_path / "run.h5"
    simulate(0.1, output=path)
    signed(path, forget)
    assert "made_with" not in vi.load(path).settings
    with pytest.raises(vi.FileError, match="it is not known which version wrote it"):
        simulate(0.2, output=path, resume=True)
    longer = simulate(0.2, output=path, resume="any")
    assert "made_with" not in longer.settings
    assert [entry["varint"] for entry in longer.settings["resumed_with"]] == [vi.__version__]
    assert longer.position.tobytes() == simulate(0.2).position.tobytes()
    assert "resumed_with" not in simulate(0.1).settings


def test_a_run_that_was_saved_carries_it(tmp_path, monkeypatch):
    run = SIMULATE["maximal"](0.1)
    pretend(monkeypatch, varint="9.9")
    run.save(tmp_path / "run.h5")
    with pytest.raises(vi.FileError, match="another version of varint wrote it"):
        SIMULATE["maximal"](0.2, output=tmp_path / "run.h5", resume=True)


@pytest.mark.slow
@pytest.mark.parametrize("entry", [3, {"varint": 3}, {"numba": None}])
def test_entries_of_another_type_are_refused(entry, tmp_path):
    path = tmp_path / "run.h5"
    SIMULATE["maximal"](0.1, output=path)

    def change(file, name, value):
        settings = json.loads(file.attrs["settings"]) | {name: value}
        file.attrs["settings"] = np.bytes_(json.dumps(settings).encode())

    for name, value in (("made_with", entry), ("resumed_with", entry), ("resumed_with", [{"varint": "1"}])):
        before = path.read_bytes()
        signed(path, lambda file, name=name, value=value: change(file, name, value))
        with pytest.raises(vi.FileError, match="damaged or not a run of varint: its setting"):
            vi.load(path)
        path.write_bytes(before)


@pytest.mark.slow
def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    argv = ["run", "four_bar", "-o", "run.h5"]
    assert main([*argv, "--duration", "0.1"]) == 0
    pretend(monkeypatch, numba="9.9")
    assert main(["run", "--resume", "four_bar", "-o", "run.h5", "--duration", "0.2"]) == 2
    assert "--resume any goes on nevertheless" in capsys.readouterr().err
    assert main(["run", "--resume", "any", "four_bar", "-o", "run.h5", "--duration", "0.2"]) == 0
    capsys.readouterr()
    assert main(["info", "run.h5"]) == 0
    assert "at 0.1 s with" in capsys.readouterr().out
    assert main(["info", "run.h5", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["made_with"]["numba"] == INSTALLED["numba"]
    assert data["resumed_with"][0]["numba"] == "9.9"
    with pytest.raises(vi.ArgumentError, match="resume must be True, False or 'any', got 'some'"):
        SIMULATE["maximal"](0.3, output="run.h5", resume="some")
