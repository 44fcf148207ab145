"""The command at terminals and in pipes: narrow ones, closed ones, full ones."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import COMPARE, RUN, UNSOLVABLE, folder, report_of, shown
from rich.console import Console

import varint as vi
from varint.cli import COMMANDS
from varint.cli.facts import Fact, FactColumn, Facts, Listing, Report
from varint.cli.shown_tables import show_rows

__all__ = ["folder"]  # a fixture of every test here


def in_a_shell(line):
    """Exit codes of the parts of the pipe ``line``, and stderr, in which VARINT is the command."""
    line = line.replace("VARINT", f"{sys.executable} -m varint")
    script = f"{line}\necho codes: ${{PIPESTATUS[@]}} >&2"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=300)
    err, _, codes = done.stderr.rpartition("codes: ")
    return [int(code) for code in codes.split()], err


CLOSED = ["VARINT info | true", "VARINT run four_bar --duration 0.1 -o r.h5 | true", "VARINT plot r.h5 | true"]
CLOSED_LONG = [
    "VARINT info | head -1",
    "VARINT info --json | true",
    "VARINT info four_bar | true",
    "VARINT run four_bar --duration 0.1 --json | true",
    "VARINT info r.h5 | true",
    "VARINT compare double_pendulum --duration 0.1 --dt 0.02 --rtol 1e-9 | head -1",
    "VARINT --help | true",
    "VARINT run --help | true",
    "VARINT --version | true",
]


@pytest.mark.slow
@pytest.mark.parametrize("line", [*CLOSED, *(pytest.param(line, marks=pytest.mark.long) for line in CLOSED_LONG)])
def test_a_closed_pipe_is_no_error(line):
    if "r.h5" in line and " -o " not in line:
        vi.simulate(vi.mechanisms.double_pendulum(), 0.1, 0.01, output="r.h5")
    assert in_a_shell(line) == ([0, 0], "")


@pytest.mark.slow
def test_the_exit_code_stays_what_it_is_where_nobody_reads():
    codes, err = in_a_shell(f"VARINT {' '.join(UNSOLVABLE)} | true")
    assert codes == [3, 0]
    assert err.startswith("varint: error: the step at t = 0 s")
    codes, err = in_a_shell("VARINT info none.h5 2>&1 | true")
    assert codes == [2, 0]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no full device")
def test_a_full_disk_behind_stdout_is_told():
    codes, err = in_a_shell("VARINT info > /dev/full")
    assert codes == [2]
    assert err == "varint: error: cannot write the output: No space left on device\n"


LONG_NAMES = ["front right upper connecting rod", "rear left lower rocker bearing", "x"]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_names_and_words_stay_whole_in_narrow_terminals(width):
    columns = [
        FactColumn("a", "joint"),
        FactColumn("b", "body a"),
        FactColumn("c", "rows", "", True),
        FactColumn("d", "mass", "kg", True),
    ]
    rows = [(name, name, 5, 0.25) for name in LONG_NAMES]
    text = "a sentence of some words that has to go over several lines of a narrow terminal to be read"
    facts = Facts([Fact("e", "a label that is long", text), Fact("f", "mass", 2.5, "kg"), Fact("g", "none", None)])
    out = shown(Report([Listing("all", columns, rows), facts]), width)
    lines = out.splitlines()
    assert max(map(len, lines)) <= width
    for name in LONG_NAMES:
        assert out.count(name) >= 1 + (width > 40)
    assert max(len(set(line.split()) & set(text.split())) for line in lines) >= 4  # several words in a line
    assert all(word in out.split() for word in text.split())
    assert "(kg)" in out
    assert "2.5 kg" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    "argv", [["info"], ["info", "stewart_platform"], ["info", "governor"], RUN, COMPARE, ["doctor"], ["examples"]]
)
def test_every_report_fits_in_forty_columns(argv):
    report = report_of(argv)
    out = shown(report, 40)
    assert max(map(len, out.splitlines())) <= 40
    wide = set(shown(report, 300).split())
    long = [word for word in wide if len(word) > 24]  # paths, which a narrow column breaks
    for word in out.split():
        assert word in wide or word.rstrip(":,") in wide or word.endswith(":") or any(word in each for each in long)


def test_wide_tables_break_their_headings_first():
    console = Console(width=34, record=True, file=io.StringIO())
    show_rows(console, ["what", ">angular velocity (rad/s)", ">mass (kg)"], [("crank", "1.25", "3.5")])
    out = console.export_text()
    assert re.search(r"^ *crank +1.25 +3.5 *$", out, re.M)
    assert "velocity" in out


def test_lists_are_cut_for_people_alone():
    listing = Listing("all", [FactColumn("a", "number")], [(number,) for number in range(50)])
    assert "... 10 more" in shown(Report([listing]), 80)
    assert len(listing.data()["all"]) == 50


@pytest.mark.slow
def test_names_that_the_terminal_cannot_write_are_written_as_numbers():
    mechanism = vi.mechanisms.cart_pole()
    vi.save_mechanism(vi.Mechanism("Brüdigam's", mechanism.bodies, mechanism.joints), "m.json")
    argv, env = [sys.executable, "-m", "varint", "info", "m.json"], os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(r"Br\xfcdigam's")


PLAIN = [
    ["info"],
    ["info", "four_bar"],
    [*RUN, "-o", "r.h5"],
    ["info", "r.h5"],
    ["plot", "r.h5", "energy", "-o", "p.png"],
    COMPARE,
    ["analyse", "energy-trend", "r.h5"],
    ["ensemble", "double_pendulum", "--vary", "angle=0.1:0.2:2", "--duration", "0.1"],
    ["convert", "four_bar", "f.json"],
    ["doctor"],
    ["examples"],
    ["examples", "--copy", "here"],
    ["--version"],
    ["--help"],
    *([command, "--help"] for command in COMMANDS),
    ["info", "four_bra"],
]


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    "variables", [{"NO_COLOR": "1", "TERM": "xterm-256color"}, {"TERM": "dumb", "LC_ALL": "C", "PYTHONUTF8": "0"}]
)
@pytest.mark.parametrize("argv", PLAIN, ids=" ".join)
def test_every_command_at_a_plain_and_narrow_terminal(argv, variables, capfd):
    """40 columns, no colours, ASCII alone: nothing longer, no sequences of control, no traceback."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    if argv[:2] != RUN[:2]:
        vi.simulate(vi.mechanisms.four_bar(), 0.2, 0.01, output="r.h5")
    left = ("COLUMNS", "LINES", "LANG", "NO_COLOR", "FORCE_COLOR")
    environment = {key: value for key, value in os.environ.items() if key not in left}
    environment |= variables | {"PYTHONIOENCODING": "ascii"}
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    command = [sys.executable, "-m", "varint", *argv]
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=subprocess.PIPE, env=environment)
    os.close(its)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        parts.append(part)
    errors = process.communicate()[1].decode("ascii")
    os.close(ours)
    out = b"".join(parts).decode("ascii")  # raises where there is anything else
    assert process.returncode == (2 if argv[-1] == "four_bra" else 0), errors
    assert "Traceback" not in errors
    assert "\x1b" not in out + errors
    lines = [line for line in out.splitlines() if len(line) > 40]
    too_long = [line for line in lines if max(map(len, line.split())) < 15]  # else there is no place to break it
    assert not too_long or argv[-1] in ("--version", "--help"), too_long


@pytest.mark.slow
def test_stdout_that_is_closed_is_no_error():
    code = (
        "import os; os.close(1)\nimport sys; sys.stdout = None\nfrom varint.cli import main\nsys.exit(main(['info']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=os.environ)
    assert (done.returncode, done.stderr) == (0, "")
