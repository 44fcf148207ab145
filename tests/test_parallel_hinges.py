"""Limits of a hip of three hinges, of which two become parallel: there their angles swing round, and the leg hardly."""

import dataclasses

import numpy as np
import pytest

import varint as vi

HIP = """\
<robot name="hip"><link name="world"/><link name="a"/><link name="b"/>
  <link name="leg"><inertial><origin xyz="0.02 -0.2 0.01"/><mass value="9"/>
    <inertia ixx="0.15" iyy="0.03" izz="0.16" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="z" type="revolute"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/>
    <limit lower="-1.0472" upper="3.14159"/></joint>
  <joint name="x" type="revolute"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
    <limit lower="-1.0472" upper="1.57079"/></joint>
  <joint name="y" type="revolute"><parent link="b"/><child link="leg"/><axis xyz="0 1 0"/>
    <limit lower="-1.57079" upper="1.0472"/></joint>
</robot>
"""
JOINT = "z + x + y"
START = (0.2287, 1.5366, 1.0472)


def swing(folder, rates, dt, duration=0.01, start=START):
    """A run from near the pose in which z and y are parallel."""
    path = folder / "hip.urdf"
    path.write_text(HIP)
    hip = vi.load_mechanism(path)
    return vi.simulate(hip, duration, dt, state=hip.state(coordinates={JOINT: start}, rates={JOINT: rates}))


def test_two_stops_hold_where_hinges_are_parallel(tmp_path):
    """The stop of x, 6e-6 rad from there, is met, and its impact pushes the one of y: a turn about z is left."""
    runs = [swing(tmp_path, (5.5, 6.08, 0.0), dt, 0.02, (0.2287, 1.5366, -1.57079)) for dt in (1e-3, 2e-4)]
    _, x, y = runs[0].coordinates[JOINT].T
    assert x.max() == pytest.approx(1.57079, abs=1e-6)
    assert x.max() <= 1.57079 + 1e-9
    np.testing.assert_allclose(y, -1.57079, atol=1e-8)
    assert runs[0].drift.max() < 1e-12
    assert np.all(np.diff(runs[0].energy) < 1e-5)  # what the stops take does not come back
    np.testing.assert_allclose(runs[0].coordinates[JOINT][-1], runs[1].coordinates[JOINT][-1], atol=1e-5)


@pytest.mark.slow
def test_a_stop_that_an_impact_pulls_lets_go_where_hinges_are_parallel(tmp_path):
    """With the other stop of y, of which the impact pulls 1e-6 N m s: y and z swing by 1.5 rad in 50 microseconds.

    The energy after the impact is that of one stop, in the inertia about the hinges before it.
    """
    runs = [swing(tmp_path, (-5.5, 6.08, 0.0), dt, 0.02) for dt in (1e-3, 2e-5)]
    for run in runs:
        assert run.drift.max() < 1e-12
        assert np.all(np.diff(run.energy) < 1e-5)
    np.testing.assert_allclose(runs[0].quat_wxyz[-1], runs[1].quat_wxyz[-1], atol=2e-4)
    hip, (z, x, y) = runs[1].mechanism, (0.198, 1.57079, 1.0472)
    free, body = dataclasses.replace(hip, forces=[]), hip.bodies[0]

    def kinetic(rates):
        state = free.state(coordinates={JOINT: (z, x, y)}, rates={JOINT: rates})
        v, w = state.velocity[0], state.angular_velocity[0]
        return 0.5 * (body.mass * v @ v + w @ body.inertia @ w)

    unit = np.eye(3)
    inertia = np.array([[kinetic(a + b) - kinetic(a) - kinetic(b) for b in unit] for a in unit])
    k = np.flatnonzero(np.diff(runs[1].kinetic) < -1.0)[0]
    rates = runs[1].rates[JOINT][k]
    lost = 0.5 * rates[1] ** 2 / np.linalg.inv(inertia)[1, 1]
    assert runs[1].kinetic[k] - runs[1].kinetic[k + 1] == pytest.approx(lost, rel=2e-3)


@pytest.mark.parametrize("rate", [0.5, 5.5])
def test_angles_that_swing_round_are_followed(tmp_path, rate):
    """Without a stop that holds y, z and y swing by half a turn in microseconds, onto another stop."""
    coarse, fine = (swing(tmp_path, (rate, 6.08, 0.0), dt) for dt in (1e-3, 1e-4))
    np.testing.assert_allclose(coarse.quat_wxyz[-1], fine.quat_wxyz[-1], atol=1e-4)
    assert np.abs(fine.coordinates[JOINT]).max() < 2 * np.pi
    assert fine.energy[-1] < fine.energy[0] - 1.0
