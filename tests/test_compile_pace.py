"""Clocks of compilations: they move on a terminal, and estimates follow what this machine took."""

import os
import pty
import subprocess
import sys

import pytest

from varint.base.numba import pace
from varint.base.numba.pace import CompilationPace

SCRIPT = """
import time
from varint.base.numba import pace
pace.TICK = 0.1
with pace.PACE.timed({seconds}):
    with pace.PACE.timed(1):
        time.sleep(0.55)
print("done", flush=True)
"""


def on_a_terminal(script):
    """What a program writes to a terminal."""
    own, its = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", script], stdout=its, stderr=its) as process:
        os.close(its)
        parts = []
        while True:
            try:
                parts.append(os.read(own, 4096))
            except OSError:  # closed
                break
            if not parts[-1]:
                break
        assert process.wait(60) == 0
    os.close(own)
    return b"".join(parts).decode()


def test_the_clock_moves_on_a_terminal_and_is_taken_away():
    text = on_a_terminal(SCRIPT.format(seconds=5))
    ticks = text.split("\r\x1b[K")
    assert 3 <= sum(tick.startswith("varint: ... ") for tick in ticks) <= 6  # of one clock, not of two
    assert ticks[-1].startswith("done")


def test_no_clock_without_a_terminal_or_an_announcement():
    run = subprocess.run([sys.executable, "-c", SCRIPT.format(seconds=5)], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("done\n", "")
    silent = "from varint.base.numba.pace import PACE\nwith PACE.timed(0): print('done')"
    assert on_a_terminal(silent).strip() == "done"


@pytest.mark.parametrize(("spent", "estimate"), [(1.0, 10), (20.0, 20), (5.0, 5), (1000.0, 40), (2.0, 2)])
def test_estimates_follow_what_the_first_function_took(spent, estimate, monkeypatch):
    """The first was estimated to take 10 s; one that took less than 2 s, or was to take less than 5, says nothing."""
    now = [0.0]
    monkeypatch.setattr(pace.time, "monotonic", lambda: now[0])
    own = CompilationPace()
    with own.timed(4):
        now[0] += 40.0
    assert own.estimate(10) == 10
    with own.timed(10):
        now[0] += spent
    assert own.estimate(10) == estimate
    assert own.estimate(0.1) >= 1
