"""What is said of the installation: versions, what is compiled, extras, examples, completions."""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from command_line import documented, folder, json_of, keys_told, report_of
from packaging.requirements import Requirement

import varint as vi
from varint.cli import COMMANDS, main
from varint.cli import doctor_command as doctor
from varint.cli.warming import KINDS

__all__ = ["folder"]  # a fixture of every test here
ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_version_names_what_matters(capsys):
    import numba
    import numpy

    with pytest.raises(SystemExit):
        main(["--version"])
    line = capsys.readouterr().out.strip()
    assert line.startswith(f"varint {vi.__version__}, numba {numba.__version__}, numpy {numpy.__version__}, processor ")


@pytest.mark.slow
def test_every_key_is_documented_and_told():
    units = documented("`varint doctor --json`")
    assert keys_told(report_of(["doctor"]), units) == set(units)


@pytest.mark.slow
def test_packages_and_extras_are_those_of_the_project(capsys):
    found, _ = json_of(capsys, ["doctor", "--json"])
    packages = {Requirement(each["name"] + each["allowed"]) for each in found["packages"]}
    assert packages == set(map(Requirement, PROJECT["dependencies"]))
    assert found["ok"]
    extras = {each["name"]: each for each in found["extras"]}
    assert set(extras) == set(PROJECT["optional-dependencies"])
    assert all(each["gives"] for each in extras.values())
    wanted = {"view", "film", "mjcf", "dask", "contact", "peers", "docs", "test"} & set(doctor.GIVES)
    assert len(wanted) == 8
    assert doctor.extras()["test-peers"] == doctor.extras()["peers"]


@pytest.mark.slow
def test_a_version_that_is_too_old_is_told(monkeypatch, capsys):
    versions = {"numba": "0.10.0", "rich": None}
    real = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: versions.get(name, real(name)))
    found, _ = json_of(capsys, ["doctor", "--json"])
    assert not found["ok"]
    assert {each["name"] for each in found["packages"] if not each["fits"]} == {"numba", "rich"}
    assert main(["doctor"]) == 0
    assert "numba, rich" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------------ examples


def test_examples_are_listed_and_copied(capsys):
    found, _ = json_of(capsys, ["examples", "--json"])
    listed = {each["name"]: each["what"] for each in found["examples"]}
    assert listed["four_bar.py"] == "A four-bar linkage of one's own, its crank driven at constant speed"
    assert "robots/arm.urdf" in listed
    assert all(listed[name] for name in listed if name.endswith((".py", ".ipynb", ".sh")))
    copied, _ = json_of(capsys, ["examples", "--copy", "here/below", "--json"])
    assert {Path(path).relative_to("here/below").as_posix() for path in copied["output"]} == set(listed)
    for name in listed:
        assert Path("here/below", name).read_bytes() == (ROOT / "examples" / name).read_bytes()


def test_a_copy_replaces_nothing_unless_told(capsys):
    Path("here").mkdir()
    Path("here/four_bar.py").write_text("mine")
    found, _ = json_of(capsys, ["examples", "--copy", "here", "--json"], 2)
    assert "exists: use --force to replace it" in found["error"]
    assert [path.name for path in Path("here").iterdir()] == ["four_bar.py"]
    assert main(["examples", "--copy", "here", "--force", "--quiet"]) == 0
    assert Path("here/four_bar.py").read_text() != "mine"
    assert json_of(capsys, ["examples", "--force", "--json"], 2)[0]["kind"] == "ArgumentError"
    Path("file").write_text("")
    assert json_of(capsys, ["examples", "--copy", "file", "--json"], 2)[0]["kind"] == "FileError"


# --------------------------------------------------------------------------------------------------- completions

ASKED = """
source ./script
COMP_WORDS=(varint {words}); COMP_CWORD={at}; COMP_LINE="varint {words}"; COMP_POINT=${{#COMP_LINE}}
_shtab_varint
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
COMPLETED = {
    "comp": {"compare", "compile", "completion"},
    "run four_b": {"four_bar"},
    "info stew": {"stewart_platform"},
    "run four_bar --sch": {"--scheme"},
    "run four_bar --scheme kahan": {"kahan-li"},
    "completion z": {"zsh"},
}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_names_options_and_choices(capsys):
    assert main(["completion", "bash"]) == 0
    Path("script").write_text(capsys.readouterr().out)
    for words, wanted in COMPLETED.items():
        script = ASKED.format(words=words, at=len(words.split()))
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        assert set(done.stdout.split()) == wanted, (words, done.stderr)


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_get_a_script(shell, capsys):
    found, _ = json_of(capsys, ["completion", shell, "--json"])
    assert all(command in found["script"] for command in COMMANDS)


# ------------------------------------------------------------------------------------------------------- compile


def test_compile_tells_what_it_does(monkeypatch, capsys, tmp_path):
    from varint.cli import warming

    asked = []

    def warm(**options):
        asked.append(options)
        yield from (warming.Done(kind, k, 1, 0, 0.5) for k, kind in enumerate(KINDS))

    monkeypatch.setattr(warming, "warm", warm)
    assert main(["compile", "--jobs", "2", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [each["kind"] for each in found["kinds"]] == list(KINDS)
    assert set(found) == set(documented("`varint compile --json`"))
    assert asked == [{"jobs": 2, "shipped": False}]
    assert err.splitlines()[1].startswith(f"varint: 2 of {len(KINDS)}: ")
    assert main(["compile", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert json_of(capsys, ["compile", "--jobs", "0", "--json"], 2)[0]["kind"] == "ArgumentError"


def test_kinds_are_run_each_in_a_process_the_first_before_the_others(monkeypatch):
    from varint.cli import warming

    begun = []

    def run(name, shipped, environment):
        begun.append(name)
        if name == "gradients":
            raise RuntimeError("no")
        return warming.Done(name, 0, 0, 0, 0.0)

    monkeypatch.setattr(warming, "_run", run)
    found = warming.warm(["steps", "poses"], jobs=2)
    assert next(found).kind == "poses"
    assert next(found).kind == "steps"
    with pytest.raises(RuntimeError, match="no"):
        list(warming.warm(["gradients"]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["poses", pytest.param("steps", marks=pytest.mark.long)])
def test_a_kind_that_was_run_compiles_nothing_more(kind):
    from varint.cli import warming

    (first,) = warming.warm([kind])
    (again,) = warming.warm([kind])
    assert first.compiled + first.kept == again.kept > 5
    assert again.compiled == 0


@pytest.mark.parametrize("kind", ["steps", "small motions", "gradients"])
def test_compositions_refuse_no_run_that_compiles(kind, monkeypatch):
    """A refusal would end `varint compile` and the making of wheels. Nothing is compiled here."""
    from varint.cli import warming
    from varint.methods.variational.composed_damping import refuse_amplified
    from varint.methods.variational.schemes import scheme

    asked = []

    class Asked:
        def __getattr__(self, name):
            if not name[0].islower() or name == "mechanisms":
                return getattr(vi, name)
            if name not in ("simulate", "linearize", "gradient"):
                return MagicMock()
            return self.ask

        def ask(self, mechanism, *places, order=2, dt=None, **options):
            places = [each for each in places if isinstance(each, float)]
            if order > 2:
                asked.append((mechanism, order, dt or places[-1]))
            return MagicMock()

    monkeypatch.setattr(warming, "vi", Asked())
    monkeypatch.setattr(warming, "_asked", lambda run: None)
    KINDS[kind]()
    assert asked
    for mechanism, order, dt in asked:
        refuse_amplified(mechanism, scheme(order), dt, mechanism.state())


# ---------------------------------------------------------------------------------------------------- importing


IMPORTED = "import sys; {code}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
LIGHT = {
    "import varint": {"numba", "scipy", "networkx", "h5py", "matplotlib", "rich", "pandas"},
    "import varint; varint.Mechanism": {"h5py", "matplotlib", "rich", "pandas"},
    "import varint; varint.simulate": {"matplotlib", "rich", "pandas"},
    "from varint.cli import main; main(['info', '--json'])": {"matplotlib", "rich", "h5py", "networkx"},
    "from varint.cli import main; main(['info'])": {"matplotlib", "h5py", "networkx"},
}


@pytest.mark.slow
@pytest.mark.parametrize("code", LIGHT)
def test_what_is_not_needed_is_not_imported(code):
    done = subprocess.run([sys.executable, "-c", IMPORTED.format(code=code)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not LIGHT[code] & set(done.stdout.splitlines()[-1].split())
