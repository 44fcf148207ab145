"""Loops that are redundant only within the digits of a file: found, named, released, and snapped by `repair`."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from robot_files import found

import varint as vi
from varint.cli import main

PIVOTS = {"A": (0.0, 0.0), "B": (0.1, 0.3), "C": (0.7, 0.4), "D": (0.6, 0.0)}  # m, x and z: no parallelogram
LINKS = {"crank": "AB", "coupler": "BC", "rocker": "DC"}
ANGLE = 1.3439  # rad, of the frames about y


def four_bar(turn=0.0, ball=False, size=1.0):
    """A planar four-bar as SDF; the frame of its coupler, with the axis of joint B, is ``turn`` rad off; y is up."""
    pivots = {name: (size * x, size * z) for name, (x, z) in PIVOTS.items()}
    lines = ['<sdf version="1.9"><model name="bars">']
    for name, (start, end) in LINKS.items():
        (x, z), (u, w) = pivots[start], pivots[end]
        roll = turn if name == "coupler" else 0.0
        centre = f"<pose>{x} 0 {z} {roll} {ANGLE} 0</pose>"
        length = np.hypot(u - x, w - z)
        moments = f"<ixx>{length**2 / 12}</ixx><iyy>{length**2 / 11}</iyy><izz>{length**2 / 12}</izz>"
        inertial = f"<inertial><mass>1</mass><inertia>{moments}</inertia></inertial>"
        lines.append(f"<link name='{name}'>{centre}{inertial}</link>")
    for name, parent, child in (("A", "world", "crank"), ("B", "crank", "coupler"), ("D", "world", "rocker")):
        lines.append(
            f"<joint name='{name}' type='revolute'><parent>{parent}</parent><child>{child}</child>"
            "<axis><xyz>0 1 0</xyz></axis></joint>"
        )
    (x, z), kind = pivots["C"], "ball" if ball else "revolute"
    axis = "" if ball else "<axis><xyz>0 1 0</xyz></axis>"
    lines.append(
        f"<joint name='C' type='{kind}'><pose relative_to='__model__'>{x} 0 {z} 0 0 0</pose>"
        f"<parent>coupler</parent><child>rocker</child>{axis}</joint></model></sdf>"
    )
    return "\n".join(lines)


@pytest.fixture
def written(tmp_path):
    """A function that writes a four-bar and gives its path."""

    def write(*args, **kwargs):
        path = tmp_path / "bars.sdf"
        path.write_text(four_bar(*args, **kwargs))
        return path

    return write


@pytest.mark.parametrize("ball", [True, False])
def test_misfit_is_found_named_and_snapped(written, ball):
    path = written(7e-8, ball)
    read = vi.load_mechanism(path)
    (entry, *_) = read.import_report.inexact
    assert entry.file == str(path)
    assert entry.line == 8
    assert "joint 'C'" in entry.what
    assert "repair=True" in entry.what
    (misfit,) = read.diagnose().misfits
    assert misfit.joint == "C"
    assert set(misfit.joints) == set("ABCD")
    assert 1e-9 < misfit.size < 1e-6
    assert "force along y" in misfit.releases or not ball
    assert str(misfit) in str(read.diagnose())
    assert pickle.loads(pickle.dumps(read)).import_report.inexact[0] == entry

    snapped = vi.load_mechanism(path, repair=True)
    assert snapped.import_report.inexact == ()
    assert snapped.diagnose().misfits == ()
    assert snapped.diagnose().redundancy == (1 if ball else 3)
    (change,) = snapped.import_report.repaired
    assert "the axis of joint 'B' is turned by 7.0e-08 rad" in change.what
    for joint, before in zip(snapped.joints, read.joints, strict=True):
        if isinstance(joint, vi.Revolute):
            np.testing.assert_array_equal(joint.axis, snapped.joint("A").axis)
            np.testing.assert_allclose(joint.axis, before.axis, atol=1e-7)


def test_directions_to_release_do_not_depend_on_the_size_of_the_mechanism(written):
    """Of a micromachine as of a crane: forces are compared with torques over the size of the parts."""
    released = [vi.load_mechanism(written(7e-8, size=size)).diagnose().misfits[0].releases for size in (1e-3, 1, 1e4)]
    assert "force along y" in released[0]
    assert released[0] == released[1] == released[2]


def test_run_names_the_loop_and_the_remedies_work(written):
    """The run locks, as it says; snapped, or released as told, it goes on, and both move alike."""
    path = written(7e-8, ball=True)
    read = vi.load_mechanism(path)
    with pytest.raises(vi.ConvergenceError, match=r"force along y of joint 'C'.*repair=True") as caught:
        vi.simulate(read, 2.0, 1e-3)
    assert "smaller dt" not in str(caught.value)
    c = read.joint("C")
    line = vi.PointOnLine(c.name, c.body_a, c.body_b, point=c.point, point_b=c.point_b, axis=(0, 1, 0))
    released = replace(read, joints=[line if joint is c else joint for joint in read.joints])
    assert released.diagnose().misfits == ()
    runs = [vi.simulate(one, 2.0, 1e-3) for one in (vi.load_mechanism(path, repair=True), released)]
    assert np.abs(runs[0].position[-1] - runs[0].position[0]).max() > 0.05
    np.testing.assert_allclose(runs[0].position, runs[1].position, atol=1e-4)


def test_exact_loops_and_gross_ones_are_no_misfits(written):
    """Neither where the axes agree, nor where they are off by more than digits, where the loop is rigid."""
    assert vi.load_mechanism(written(0.0)).import_report.inexact == ()
    skew = vi.load_mechanism(written(0.1, ball=True))
    assert skew.import_report.inexact == ()
    assert skew.diagnose().generic_mobility < vi.load_mechanism(written(0.0, ball=True)).diagnose().mobility


def test_loops_beyond_the_largest_motion_are_left_to_the_checks_of_states(tmp_path):
    """Rows at 1e40 m are no numbers any more, which the singular values would not take."""
    path = tmp_path / "far.urdf"
    solid = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
    path.write_text(f"""<robot name="far"><link name="world"/><link name="cross"/><link name="b"/>
        <link name="a">{solid}</link><link name="c">{solid}</link>
        <joint name="base" type="floating"><parent link="world"/><child link="a"/></joint>
        <joint name="x" type="continuous"><parent link="a"/><child link="cross"/><axis xyz="1 0 0"/></joint>
        <joint name="y" type="continuous"><parent link="cross"/><child link="b"/><axis xyz="0 1 0"/></joint>
        <joint name="z" type="prismatic"><parent link="a"/><child link="c"/><origin xyz="0 1 0" rpy="0 0 1"/>
        <axis xyz="0 0 1"/><limit lower="0.1" upper="2"/><mimic joint="x" multiplier="2" offset="1e40"/></joint>
        <loop_joint name="l" type="spherical"><link1 link="b" xyz="0 0 1"/>
        <link2 link="c" xyz="-0.8414709848078965 -0.5403023058681398 0.9"/></loop_joint></robot>""")
    mechanism = vi.load_mechanism(path)
    assert mechanism.import_report.inexact == ()
    with pytest.raises(vi.VarintError, match="joint 'z'"):
        vi.simulate(mechanism, 0.01, 0.001)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "bennett", "bricard", "sarrus", "jansen_leg"])
def test_overconstrained_linkages_of_the_catalogue_are_exact(name):
    assert getattr(vi.mechanisms, name)().diagnose().misfits == ()


def test_command_says_it(written, capsys):
    path = str(written(7e-8))
    assert main(["info", path]) == 0
    assert "inexact" in capsys.readouterr().out
    main(["run", path, "--duration", "0.001", "--dt", "0.001", "--repair"])
    assert "varint: repaired: " in capsys.readouterr().err


CASSIE = [path for path in found(".sdf") if path.name == "cassie_v2.sdf"]


@pytest.mark.slow
@pytest.mark.skipif(not CASSIE, reason="needs the robots of the extra varint-dynamics[test-peers]")
def test_cassie_held_by_the_pelvis():
    """60 s in steps of 1 ms, closed to 1e-11 m; over 1 s as with the ball of the plantar rod on a line."""
    with pytest.raises(vi.ConvergenceError, match="force along y of joint 'right-plantar-foot-joint'"):
        vi.simulate(held(vi.load_mechanism(CASSIE[0])), 2.0, 1e-3)
    mechanism = held(vi.load_mechanism(CASSIE[0], repair=True))
    run = vi.simulate(mechanism, 60.0, 1e-3, every=100)
    assert run.drift.max() < 1e-11
    assert np.abs(run.energy_balance).max() < 0.05 * np.ptp(run.potential)
    joints = [
        vi.PointOnLine(
            j.name, j.body_a, j.body_b, point=j.point, axis=mechanism.joint(f"{j.name.split('-')[0]}-foot-op").axis
        )
        if j.name.endswith("-plantar-foot-joint")
        else j
        for j in mechanism.joints
    ]
    runs = [vi.simulate(one, 1.0, 1e-3) for one in (mechanism, replace(mechanism, joints=joints))]
    assert np.abs(runs[0].position[-1] - runs[0].position[0]).max() > 0.1
    np.testing.assert_allclose(runs[0].position, runs[1].position, atol=1e-4)


def held(mechanism):
    """The same with its pelvis fixed to the world."""
    joints = [joint for joint in mechanism.joints if not joint.name.endswith(" floats")]
    return replace(mechanism, joints=[*joints, vi.Fixed("hold", "world", "pelvis")])
