"""Members in threads of this process."""

import threading

import pytest
from ensemble_members import TIMES, figures, pendulum, quiet, top
from in_process import Here

import varint as vi

MEMBERS = [{"angle": 0.3}, {"angle": 1.2}, {"fault": "raise"}, {"angle": 0.7, "order": 4}, {"angle": 0.4, "every": 2}]


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"measure": top}])
def test_members_in_threads_have_the_rows_of_others(monkeypatch, tmp_path, options):
    threaded = quiet(pendulum, MEMBERS, workers="threads", **options)
    kept = quiet(pendulum, MEMBERS, workers="threads", output=tmp_path / "e", **options)
    monkeypatch.setattr("varint.studies.ensembles.ensemble_run.Processes", Here)
    here = quiet(pendulum, MEMBERS, **options)
    assert figures(threaded) == figures(kept) == figures(here)
    assert [member.number for member in threaded.failures] == [2]
    assert figures(vi.load_ensemble(tmp_path / "e")) == figures(here)
    again = quiet(
        pendulum, [*MEMBERS, {"angle": 0.9}], workers="threads", output=tmp_path / "e", resume=True, **options
    )
    assert figures(again)["energy_error"][:5] == figures(here)["energy_error"]
    assert len(again) == 6


def test_build_is_called_by_one_thread_at_a_time():
    inside, most = [], []

    def build(angle):
        inside.append(angle)
        most.append(len(inside))
        mechanism = vi.mechanisms.double_pendulum(angle=angle)
        inside.remove(angle)
        return mechanism

    vi.ensemble(build, {"angle": [0.1 * n for n in range(1, 13)]}, **TIMES, workers="threads")
    assert most == [1] * 12


def test_an_error_of_the_caller_s_ends_the_threads():
    before = threading.active_count()

    def progress(done, total, failures):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        vi.ensemble(pendulum, {"angle": [0.1 * n for n in range(1, 40)]}, **TIMES, workers="threads", progress=progress)
    assert threading.active_count() == before


def test_a_member_that_exits_is_an_error_of_its_own():
    def build(angle):
        if angle > 1.0:
            raise SystemExit(3)
        return vi.mechanisms.double_pendulum(angle=angle)

    found = quiet(build, {"angle": [0.5, 1.5, 0.7]}, workers="threads")
    assert [member.number for member in found.failures] == [1]
    assert found.failures[0].message.startswith("SystemExit")


def test_another_word_is_refused():
    with pytest.raises(vi.ArgumentError, match="workers must be a whole number from 1, or 'threads', got 'thread'"):
        vi.ensemble(pendulum, {"angle": [0.1]}, **TIMES, workers="thread")
