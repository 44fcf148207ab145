"""No step of a plain mechanism takes more instructions than the file of counts says: benchmarks/instructions.py."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "instructions.py"
NOT_COMPARED = 2  # exit status


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_steps_take_no_more_instructions_than_before():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    if done.returncode == NOT_COMPARED:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
