"""Files of runs of methods of the user that did not end, and calls that name a method: what the messages offer."""

import pytest

import varint as vi
from varint.cli import main
from varint.runs.method import REGISTERED

SCRIPT = """
import varint as vi
from dataclasses import dataclass
from varint.formulations import Stepped, register
@register
@dataclass(frozen=True, eq=False)
class Failing(Stepped):
    formulation = "failing"
    def stepper(self, problem):
        return lambda s, dt: 1 / 0
"""


def test_a_failed_run_does_not_offer_to_be_resumed(tmp_path, capsys):
    file, run = tmp_path / "failing_method.py", tmp_path / "run.h5"
    file.write_text(SCRIPT)
    words = ["run", "double_pendulum", "--method", str(file), "--duration", "0.04", "--dt", "0.01", "-o", str(run)]
    try:
        assert main(words) != 0
        assert run.exists()
        capsys.readouterr()
        assert main(words) == 2
        shown = " ".join(capsys.readouterr().err.split())
        assert "exists: use --force to replace it" in shown
        method, problem = REGISTERED["failing"](dt=0.01), vi.Problem(vi.mechanisms.double_pendulum(), 0.04)
        with pytest.raises(vi.FileError, match=r"exists") as told:
            vi.simulate(problem, method, vi.Recording(output=run))
        assert "resume" not in str(told.value)
    finally:
        REGISTERED.pop("failing", None)
    assert vi.load(run).message == (
        "the run was not finished, and its method cannot resume it: overwrite=True begins it anew"
    )


def test_a_method_by_its_name_is_sent_to_the_call_that_takes_it():
    with pytest.raises(vi.ArgumentError, match=r"simulate\(varint.Problem.*formulation= belongs to varint.ensemble"):
        vi.simulate(vi.mechanisms.double_pendulum(), 0.1, 0.01, formulation="rattle-rows")
