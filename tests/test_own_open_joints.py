"""Runs of methods of the user whose joints open: warned of in Python, in comparisons, by the command and in files."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import varint as vi
from varint.cli import main
from varint.formulations import Stepped
from varint.runs.method import REGISTERED
from varint.studies.comparison.comparison_page import remarks
from varint.studies.comparison.error_figure import _drawn_over_time

SCRIPT = """
import varint as vi
from dataclasses import dataclass
from varint.formulations import Stepped, register
@register
@dataclass(frozen=True, eq=False)
class Parting(Stepped):
    formulation = "parting"
    def stepper(self, problem):
        return lambda s, dt: vi.State(s.position + 0.05, s.quat_wxyz, s.velocity, s.angular_velocity)
"""
WORDS = (
    r"method 'parting' leaves joints of '2-link pendulum' open at 4 recorded nodes, first at t = 0.01 s, by 0.05 m at"
    r" body 'link 1', and by 0.2 m at most, at t = 0.04 s"
)


def parting(gap):
    def step(s, dt):
        return vi.State(s.position + gap, s.quat_wxyz, s.velocity, s.angular_velocity)

    return step


@dataclass(frozen=True, eq=False)
class Parting(Stepped):
    gap: float = 0.05
    formulation = "parting"

    def stepper(self, problem):
        return parting(self.gap)


def test_open_joints_are_warned_of_and_named(tmp_path):
    problem = vi.Problem(vi.mechanisms.double_pendulum(), 0.04)
    path = tmp_path / "run.h5"
    with pytest.warns(vi.UnresolvedWarning, match=WORDS) as told:
        run = vi.simulate(problem, Parting(dt=0.01), vi.Recording(output=path))
    assert told[0].filename == __file__
    assert run.drift[1] == pytest.approx(0.05)
    for each in (run, vi.load(path)):
        assert each.unresolved.tolist() == run.t[1:].tolist()
        assert not each.unresolved_body[1:].any()


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_gaps_count_by_the_size_of_a_part(size):
    ball = vi.Body.sphere("ball", radius=0.1 * size, mass=1.0, position=(0, 0, -size))
    pivot = vi.Spherical("pivot", "world", "ball", point=(0, 0, 0))
    mechanism = vi.Mechanism("ball", [ball], [pivot], gravity=(0, 0, 0))
    length = mechanism.compiled.length
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not vi.simulate(vi.Problem(mechanism, 0.02), Parting(0.01, 0.4e-3 * length)).unresolved.size
    with pytest.warns(vi.UnresolvedWarning, match=r"open at 1 recorded nodes, first at t = 0.02 s"):
        vi.simulate(vi.Problem(mechanism, 0.02), Parting(0.01, 0.6e-3 * length))


def test_comparisons_warn_of_them():
    step, other = parting(0.05), parting(0.0)
    step.__name__, other.__name__ = "mine", "other"
    with pytest.warns(vi.UnresolvedWarning, match=r"in steps of 0\.02 s, method 'mine' leaves joints") as told:
        result = vi.compare(vi.mechanisms.double_pendulum(), 0.04, [0.02, 0.01], integrators=[other, step])
    assert (len(told), told[0].filename) == (1, __file__)
    assert [text.partition(":")[0] for text in remarks(result)] == ["mine, dt = 0.02", "mine, dt = 0.01"]
    assert _drawn_over_time(result) == [result.vi, *result.own]


def test_the_command_warns_of_them(tmp_path, capsys):
    file, run = tmp_path / "parting_method.py", tmp_path / "run.h5"
    file.write_text(SCRIPT)
    try:
        words = ["double_pendulum", "--method", str(file), "--duration", "0.04", "--dt", "0.01", "-o", str(run)]
        assert main(["run", *words]) == 0
    finally:
        REGISTERED.pop("parting", None)
    shown = capsys.readouterr()
    assert "leaves joints of '2-link pendulum' open" in " ".join((shown.out + shown.err).split())
    assert main(["info", str(run)]) == 0  # the method is not known here
    shown = capsys.readouterr()
    assert "by 0.05 m at body 'link 1'" in " ".join((shown.out + shown.err).split())


def test_closed_joints_are_not(recwarn):
    mechanism = vi.mechanisms.four_bar(rate=3.0)

    @dataclass(frozen=True, eq=False)
    class Closing(Stepped):
        formulation = "closing"

        def stepper(self, problem):
            return lambda s, dt: mechanism.assemble(s)

    run = vi.simulate(vi.Problem(mechanism, 0.02), Closing(dt=0.01))
    assert np.all(run.unresolved_body == -1)
    assert not recwarn.list
