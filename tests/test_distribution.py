"""The name of the distribution: the same everywhere, and not that of another package of the public index."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import varint as vi
from varint.base.distribution import DISTRIBUTION, install_command
from varint.cli import doctor_command as doctor

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PLACES = ("README.md", "pyproject.toml", "docs", "examples", "mechanisms", "varint", "packaging", "benchmarks")
TEXTS = {".md", ".py", ".toml", ".ipynb"}
OF_OTHERS = re.compile(r"\bvarint\[[a-zA-Z]|(install|uninstall) (-\S+ )*[\"']?varint\b(?![-_])|varint-\d+\.\d")


def test_the_project_has_the_name_that_messages_say():
    assert PROJECT["name"] == DISTRIBUTION == "varint-dynamics"
    own = [text for texts in PROJECT["optional-dependencies"].values() for text in texts if text.startswith("varint")]
    assert own
    assert all(text.startswith(f"{DISTRIBUTION}[") for text in own)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('pip install "varint[notebook]" notebook', True),
        ("pip install varint", True),
        ("pip install -e varint", True),
        ("pip install varint-0.1.0-cp311-none.whl", True),
        (install_command("film"), False),
        ("pip install varint_dynamics-0.1.0-py3-none-any.whl", False),
    ],
)
def test_names_of_the_other_package_are_seen(text, wrong):
    assert bool(OF_OTHERS.search(text)) == wrong


def test_no_page_message_or_notebook_names_the_other_package():
    paths = [path for place in PLACES for path in [ROOT / place, *(ROOT / place).rglob("*")] if path.suffix in TEXTS]
    assert len(paths) > 500
    told = [str(path.relative_to(ROOT)) for path in paths if OF_OTHERS.search(path.read_text(encoding="utf-8"))]
    assert told == []


def test_a_missing_extra_says_the_command_from_a_wheel_and_from_a_checkout():
    assert install_command("view") == 'pip install "varint-dynamics[view]" (in a checkout: pip install -e ".[view]")'


def test_doctor_says_the_command(capsys):
    from varint.cli import main

    main(["doctor"])
    assert " ".join(install_command("NAME").split()) in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("neighbour", [None, '[project]\nname = "varint"\ndependencies = ["other>=1"]\n'])
def test_doctor_reads_the_metadata_of_the_distribution(monkeypatch, tmp_path, neighbour):
    """Where varint is no checkout; a project of the other name may lie beside it."""
    if neighbour:
        (tmp_path / "pyproject.toml").write_text(neighbour)
    texts = {
        DISTRIBUTION: ["numpy>=2", 'clarabel>=0.10; extra == "contact"', f'{DISTRIBUTION}[contact]; extra == "test"'],
        "varint": ["other>=1"],
    }
    monkeypatch.setattr(vi, "__file__", str(tmp_path / "varint" / "__init__.py"))
    monkeypatch.setattr(metadata, "requires", texts.get)
    listed = {extra: [each.name for each in packages] for extra, packages in doctor.extras().items()}
    assert listed == {"": ["numpy"], "contact": ["clarabel"], "test": ["clarabel"]}
