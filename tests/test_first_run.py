"""The first simulations of plain mechanisms compile no more than the file of counts says: benchmarks/first_run.py."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "first_run.py"
NOT_COMPARED = 2  # exit status


@pytest.mark.slow
def test_first_runs_compile_no_more_than_before():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    if done.returncode == NOT_COMPARED:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
