"""Joints of robots next to their limits move as without stops, in both formulations (benchmarks/robot_stops.py)."""

from pathlib import Path

import pytest
from robot_files import found, label

import varint as vi

FEW = ("kinova_description/robots/kinova.urdf", "panda_description/urdf/panda.urdf", "go1_description/urdf/go1.urdf")
LIMITS = ((-2.0, 2.0), (0.8203, 5.4629), (-1.0, 3.5), (3.5, 5.5), (-7.0, -4.0), (0.01, 0.012))
LINK = """
  <link name="l{k}"><inertial><origin xyz="0.1 0 0.2"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.012" izz="0.008" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j{k}" type="{kind}"><parent link="{parent}"/><child link="l{k}"/><origin xyz="0 0.05 0.4"/>
    <axis xyz="{axis}"/><limit lower="{low}" upper="{high}" effort="1" velocity="1"/></joint>"""


@pytest.fixture
def robot_stops(monkeypatch):
    """Return the benchmark as a module."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    import robot_stops

    return robot_stops


@pytest.fixture
def arm(tmp_path):
    """Return the file of an arm whose joints have limits beyond half a turn, or without zero, and a narrow slide."""
    text = "".join(
        LINK.format(
            k=k,
            kind="revolute" if high - low > 0.1 else "prismatic",
            parent="base" if k == 0 else f"l{k - 1}",
            axis=("0 1 0", "1 0 0")[k % 2],
            low=low,
            high=high,
        )
        for k, (low, high) in enumerate(LIMITS)
    )
    path = tmp_path / "arm.urdf"
    path.write_text(f'<robot name="arm"><link name="base"/>{text}</robot>')
    return path


def check(module, path):
    """Check all limits of the robot in a file; return the `Result`."""
    outcome = module.result(module.loaded(path))
    assert outcome.starts
    assert not outcome.refused
    assert max(outcome.worst.values()) <= module.ALIKE
    assert not outcome.rings
    assert not outcome.frozen
    return outcome


def test_an_arm_with_limits_of_all_kinds(robot_stops, arm):
    """Ranges about zero, up to more than half a turn, without zero, beyond a turn, and of 2 mm."""
    assert check(robot_stops, arm).starts == 2 * len(LIMITS)


@pytest.mark.slow
def test_a_stop_that_acts_within_its_limits_is_seen(robot_stops, arm, monkeypatch):
    """The check fails where a run differs: here the one with stops, under another gravity."""
    plain = robot_stops.FORMULATIONS["maximal"]

    def heavier_run(mechanism, state):
        if not robot_stops.hard_stops(mechanism):
            return plain(mechanism, state)
        return plain(vi.Mechanism("m", mechanism.bodies, mechanism.joints, gravity=(0, 0, -9.9)), state)

    monkeypatch.setitem(robot_stops.FORMULATIONS, "maximal", heavier_run)
    assert robot_stops.result(robot_stops.loaded(arm)).worst["maximal"] > 1e-3


def test_limits_that_contradict_are_left_out(robot_stops, tmp_path):
    """Two fingers mimic each other with the wrong sign, so that none leaves its limit 0: one finger's are left out."""
    text = "".join(
        LINK.format(k=k, kind="revolute", parent="base", axis="0 1 0", low=0.0, high=0.5).replace(
            "</joint>", mimic + "</joint>"
        )
        for k, mimic in ((0, ""), (1, '<mimic joint="j0" multiplier="-1"/>'))
    )
    path = tmp_path / "gripper.urdf"
    path.write_text(f'<robot name="gripper"><link name="base"/>{text}</robot>')
    outcome = check(robot_stops, path)
    assert set(outcome.unreachable) == {"j1 at its lower limit", "j1 at its upper limit"}
    assert outcome.starts == 2


def test_a_survey_goes_on_where_it_stopped(robot_stops, arm, tmp_path, monkeypatch, capsys):
    """A robot that the file has is not run again, and the table counts it."""
    monkeypatch.setattr(robot_stops, "robots", lambda: [robot_stops.Robot("pybullet", arm, "pybullet: arm.urdf")])
    for _ in range(2):
        robot_stops.survey(tmp_path / "results.jsonl", [])
    assert capsys.readouterr().out.count("[1/1] pybullet: arm.urdf: 12 starts") == 1
    outcomes = robot_stops.read(tmp_path / "results.jsonl")
    assert len(outcomes) == 1
    assert "| pybullet | 1 | 1 | 12 |" in robot_stops.page(outcomes)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FEW)
def test_robots_of_packages(robot_stops, name):
    """Of those that are installed."""
    paths = [path for path in found(".urdf") if label(path) == name]
    if not paths:
        pytest.skip("needs example-robot-data, see robot_files.py")
    check(robot_stops, paths[0])
