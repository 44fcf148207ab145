"""The command in tests: an empty folder, what it prints as JSON, what it reports, what its page says."""

import contextlib
import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from varint.cli import _parser, main
from varint.cli.facts import Facts
from varint.cli.parser import parse

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "command.md").read_text()
SHORT = ["--duration", "0.2"]
RUN = ["run", "four_bar", *SHORT]
COMPARE = ["compare", "double_pendulum", "--duration", "0.1", "--dt", "0.02", "--rtol", "1e-9"]
PRINTING = """import varint as vi

print("printed while it is read")


def build():
    print("printed while it is built")
    return vi.mechanisms.cart_pole(effort={effort})
"""
UNSOLVABLE = ["run", "free_body", "-p", "spin=1000", "--dt", "3", "--duration", "30"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def no_constant(name):
    raise AssertionError(f"{name} is no strict JSON")


def json_of(capsys, argv, code=0):
    """The one object on stdout, and stderr without what is compiled."""
    with contextlib.suppress(SystemExit):
        assert main(argv) == code
    out, err = capsys.readouterr()
    assert out.endswith("\n")
    assert out.count("\n") == 1
    lines = [line for line in err.splitlines() if "varint: compiling " not in line]
    return json.loads(out, parse_constant=no_constant), lines


def report_of(argv):
    args = parse(*_parser(), argv)
    args.command_line = argv
    return args.execute(args)


def shown(report, width):
    console = Console(width=width, record=True, file=io.StringIO(), highlight=False, markup=False)
    report.show(console)
    return console.export_text()


def keys_told(report, units):
    """Keys of a report, which has the ``units`` of its page, and in its table every fact with a label."""
    keys = set()
    text = " ".join(shown(report, 200).split())
    for part in report.parts:
        keys |= set(part.data())
        for fact in part.facts if isinstance(part, Facts) else ():
            if fact.key and fact.unit:
                assert units[fact.key] == fact.unit, fact.key
            if fact.label:
                assert " ".join(fact.shown.split()) in text, fact
    return keys


def documented(title):
    """Key to unit, of the table below the heading that starts so."""
    section = PAGE.split(f"### {title}")[1].split("\n###")[0]
    found = {}
    for keys, unit in re.findall(r"^\| (`.+?`) \| (.*?) ?\| ", section, re.M):
        found |= dict.fromkeys(re.findall(r"`(\w+)`", keys), unit)
    return found
