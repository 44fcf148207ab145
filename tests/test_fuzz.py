"""Some hundred cases of each kind of wrong input find nothing; and what the fuzzers look for they find."""

import dataclasses
import inspect
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from fuzz import run
from fuzz.kinds import Kind, case_of, judged, load_kinds

import varint as vi
from varint.base import checks
from varint.files.own import body_data, mechanism_data
from varint.model.forces import FORCES
from varint.model.joints import REGISTRY

KINDS = load_kinds()
SLOW = {"api", "companion", "ensemble", "hdf5", "repair", "xml"}  # two seconds and more
RESULTS = {
    "AssemblyMode",
    "AssemblyModes",
    "Controls",
    "Gradient",
    "ImportReport",
    "LiveView",
    "MeshState",
    "StateGradient",
    "Trajectory",
    "Sweep",
    "StepChoice",
}  # classes that runs make, not users
SEED = 3
OTHERS = ("studies.comparison", "studies.ensembles", "studies.sliders")  # places in the room that are no study


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Calls write files."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in KINDS])
def test_few_cases_find_nothing(name, folder):
    kind, found = KINDS[name](), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # huge numbers may overflow on the way to an error
        for number in range(kind.few):
            case = case_of(kind, SEED, number)
            verdict = judged(kind, case, folder)
            if verdict.outcome != "fine":
                found.append((number, kind.describe(case), verdict))
    assert not found


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.long] * (n == "api")) for n in KINDS])
def test_a_worker_starts(name, folder):
    """As `fuzz.worker` does: calls that are right are made once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        KINDS[name]().prepare()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_many_cases_find_nothing(name):
    found = run.fuzz(name, 5 * KINDS[name].few, SEED + 1)
    assert not found, run.report(name, 5 * KINDS[name].few, SEED + 1, found, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "hdf5")) for n in KINDS])
def test_a_case_follows_from_its_seed_and_number(name, folder):
    kind = KINDS[name]()
    for number in (0, 17):
        one, other = (kind.describe(case_of(KINDS[name](), 5, number)) for _ in range(2))
        assert one == other
    kind.save(case_of(kind, 5, 0), folder / f"case{kind.suffix}")
    assert (folder / f"case{kind.suffix}").stat().st_size > 0


# ------------------------------------------------------------------------------- the table of calls is complete


@pytest.mark.slow
def test_every_public_name_is_called_with_all_its_parameters():
    from fuzz import _calls

    calls = _calls.calls()
    used = {call.function for call in calls.values()}  # by any of its names
    public = {name: getattr(vi, name) for name in vi.__all__}
    missing = {
        name
        for name, thing in public.items()
        if callable(thing)
        and not (inspect.isclass(thing) and issubclass(thing, Exception))
        and name not in RESULTS
        and name not in calls
        and thing not in used
    }
    assert missing <= {*FORCES, "Force", "Joint"}
    for name, cls in (REGISTRY | FORCES).items():
        assert cls in used, name
    for name in vi.mechanisms.NAMES:
        build = getattr(vi.mechanisms, name)
        assert not inspect.signature(build).parameters or f"mechanisms.{name}" in calls
    for name, call in calls.items():
        if dataclasses.is_dataclass(call.function):
            fields = {field.name for field in dataclasses.fields(call.function) if field.init}
            assert fields == set(call.right), name
    studies = [name for name, place in vi.PLACES.items() if place.startswith("studies.") and place not in OTHERS]
    whole = ("simulate", "redmax.simulate", "choose_step", "compare", "deformable_spring", "ensemble", *studies)
    for name in whole:
        function = vi.ensemble if name == "ensemble" else calls[name].function  # which is called in one process
        parameters = inspect.signature(function).parameters.values()
        assert {p.name for p in parameters if p.kind is not p.VAR_KEYWORD} == set(calls[name].right), name


# --------------------------------------------------------------------------------- what is wrong is found


class Fake(Kind):
    """Each case is what `check` does."""

    def check(self, case, folder):
        return case()


def raised(error):
    def fail():
        raise error

    return fail


NOTED = LookupError("of the user's")
NOTED.add_note("raised by effort of motor 'm'")


@pytest.mark.parametrize(
    ("case", "outcome"),
    [
        (lambda: None, "fine"),
        (raised(vi.MechanismError("mass of body 'b' must be positive")), "fine"),
        (raised(NOTED), "fine"),
        (raised(LookupError("of the package")), "foreign"),
        (raised(vi.MechanismError("Body.__init__() got an unexpected keyword argument 'mas'")), "foreign"),
        (lambda: "mass was dropped", "altered"),
    ],
)
def test_verdicts(case, outcome, folder):
    assert judged(Fake(), case, folder).outcome == outcome


@pytest.mark.slow
def test_a_key_that_is_dropped_is_found(monkeypatch, folder):
    """With a reader that takes no notice of what it does not know."""
    made = mechanism_data.made

    def lenient(cls, given, what):
        known = {field.name for field in dataclasses.fields(cls)}
        return made(cls, {key: value for key, value in given.items() if key in known}, what)

    kind = KINDS["json"]()
    for module in (checks, body_data):
        monkeypatch.setattr(module, "check_keys", lambda *arguments: None)
    for module in (mechanism_data, body_data):
        monkeypatch.setattr(module, "made", lenient)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdicts = [judged(kind, case_of(kind, SEED, number), folder) for number in range(300)]
    assert any(verdict.outcome == "altered" and verdict.message.endswith("was dropped") for verdict in verdicts)


def test_the_comparison_of_text_and_mechanism():
    from fuzz.text_and_mechanism import difference

    said = {"axis": [0, 0, 2.0], "mass": 1, "point": None, "quat_wxyz": [1, 0, 0, 0], "stiffness": [1.0, 2.0]}
    got = {
        "axis": [0, 0, 1.0],
        "mass": 1.0,
        "point": None,
        "quat_wxyz": [1.0, 0, 0, 0],
        "stiffness": np.diag([1.0, 2.0]),
    }
    got["stiffness"] = got["stiffness"].tolist()
    assert difference(said, got) is None
    for key, value in {"axis": [0, 0, -1.0], "mass": True, "stiffness": [1.0, 3.0], "colour": "red"}.items():
        assert difference(said | {key: value}, got), key


def test_a_truth_value_that_passes_for_a_number_is_found(monkeypatch, folder):
    from fuzz import api
    from fuzz._call import Call

    kind = KINDS["api"]()
    monkeypatch.setattr(api, "calls", lambda: {"simulate": Call(lambda dt: dt, {"dt": lambda: 0.1})})
    for wrong in ("True", "'1.0'", "a date", "complex 0-d"):
        assert judged(kind, api.Case("simulate", {"dt": (wrong, None)}), folder).outcome == "altered"
    assert judged(kind, api.Case("simulate", {"dt": ("0.5", None)}), folder).outcome == "fine"


@pytest.mark.slow
def test_what_mujoco_has_and_a_report_does_not_name_is_found(folder):
    pytest.importorskip("mujoco")
    from fuzz.mujoco_files import PLAIN, lost

    path = folder / "m.xml"
    path.write_text(PLAIN)
    read = vi.load_mechanism(path)
    known = {"any"}
    assert lost(path, read, known | _told(read)) is None
    changes = {'mass="1"': 'mass="2"', 'range="-1 1"': 'range="-1 2"', 'axis="0 0 1"': 'axis="0 1 0"'}
    for (before, after), column in zip(changes.items(), ("mass", "limits", "axes"), strict=True):
        path.write_text(PLAIN.replace(before, after))
        assert column in lost(path, read, known | _told(read))
    path.write_text(PLAIN.replace('<joint name="z" type="ball" damping=".2"/>', ""))
    assert lost(path, read, known | _told(read)).startswith("bodies move: 4")


def _told(mechanism):
    from fuzz.mujoco_files import entries

    return entries(mechanism.import_report)


@pytest.mark.slow
def test_what_takes_long_or_much_is_found(folder):
    kind = Fake()
    kind.longest = 0.05
    busy = lambda: sum(range(10_000_000)) and None  # noqa: E731
    assert judged(kind, busy, folder).outcome == "slow"
    kind.longest = 60.0
    taken = judged(kind, lambda: bytes(b"x" * (600 << 20))[:0] and None, folder)
    assert taken.outcome == ("large" if Path("/proc/self/status").exists() else "fine")


WORKER = """
import json, os, sys, time
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    _, first, last = map(int, line.split())
    for number in range(first, last):
        print(json.dumps({"start": number}), flush=True)
        if number == 2:
            os.abort()
        if number == 4:
            time.sleep(60)
        outcome = "foreign" if number == 5 else "fine"
        print(json.dumps({"done": number, "outcome": outcome, "where": "", "message": ""}), flush=True)
"""


@pytest.mark.slow
def test_processes_that_die_or_hang_are_told_and_the_others_go_on(monkeypatch, folder):
    (folder / "worker.py").write_text(WORKER)
    monkeypatch.setattr(run, "WORKER", folder / "worker.py")
    found = run.fuzz("any", 8, 1, workers=1, limit=1.0)
    assert [(case.number, case.outcome) for case in found] == [(2, "crash"), (4, "slow"), (5, "foreign")]
    assert "foreign 1, altered 0, crash 1, slow 1" in run.report("any", 8, 1, found, 0.0)


@pytest.mark.slow
def test_a_kind_more_is_one_file(monkeypatch, folder, capsys):
    """It is run by its own name and by "all", and what it finds is saved."""
    package = folder / "fuzz"
    package.mkdir()
    for path in run.FOLDER.glob("*.py"):
        if path.stem in ("kinds", "run", "worker"):
            (package / path.name).write_text(path.read_text())
    (package / "numbers_kind.py").write_text(
        "from fuzz.kinds import Kind, register\n\n\n@register\nclass Numbers(Kind):\n    name, count = 'numbers', 7\n\n"
        "    def case(self, rng, number, seed):\n        return number\n\n"
        "    def check(self, case, folder):\n        return 'three' if case == 3 else None\n\n"
        "    def describe(self, case):\n        return f'number {case}'\n"
    )
    environment = os.environ | {"TMPDIR": str(folder)}
    told = subprocess.run([sys.executable, package / "run.py", "all"], env=environment, capture_output=True, text=True)
    assert told.returncode == 1, told.stderr
    assert "numbers: 7 cases, seed 1: foreign 0, altered 1, crash 0, slow 0" in told.stdout
    (saved,) = folder.glob("varint-fuzz-numbers-1-*/3.txt")
    assert saved.read_text() == "number 3"


@pytest.mark.slow
def test_mutants_reach_every_change():
    """Each change of data and bytes is taken among some hundred cases, and what is written can be parsed mostly."""
    from fuzz import json_files

    kind = KINDS["json"]()
    cases = [case_of(kind, 1, number) for number in range(1200)]
    taken = {name for case in cases for name in case.names[1:]}
    assert taken == {*json_files.OF_DATA, *json_files.OF_BYTES}
    parsed = 0
    for case in cases:
        try:
            parsed += isinstance(json.loads(case.content), dict)
        except (ValueError, RecursionError):
            continue
    assert parsed > len(cases) // 2
