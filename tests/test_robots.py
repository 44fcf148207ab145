"""One robot in several formats moves the same way."""

from pathlib import Path

import numpy as np
import pytest
from written_robots import mjcf_of, sdf_of, urdf_and_closures

import varint as vi

ROBOTS = Path(__file__).parent.parent / "examples" / "robots"
OF_TREES = {"arm": ".urdf", "five_bar": ".toml", "leg": ".toml"}  # what holds all joints of the one in URDF


def positions(traj, names):
    return traj.position[:, [traj.mechanism.body_index[name] for name in names]]


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_TREES)
def test_robots_of_the_examples(name):
    """In URDF, in SDF and in MJCF: nothing is left over, and they move the same way."""
    pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
    read = [vi.load_mechanism(ROBOTS / f"{name}{suffix}", strict=True) for suffix in (OF_TREES[name], ".sdf", ".xml")]
    assert (read[0].diagnose().mobility, len(read[0].compiled.topology.clusters) > 0) == (
        {"arm": 3, "five_bar": 2, "leg": 2}[name],
        name != "arm",
    )
    runs = [vi.simulate(mechanism, 1.0, 0.002) for mechanism in read]
    names = [body.name for body in read[0].bodies]
    one, *others = (positions(traj, names) for traj in runs)
    assert np.ptp(one, axis=0).max() > 0.05
    for other in others:
        assert other == pytest.approx(one, abs=1e-9)
    assert max(traj.drift.max() for traj in runs) < 1e-9
    assert np.ptp(runs[0].energy_balance) < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "delta_robot", "bennett", "peaucellier"])
def test_loops_of_the_catalogue_in_all_formats(name, tmp_path):
    """As SDF, as URDF with closures, and as MJCF with a connect for each, written by hand and by varint."""
    pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
    given = getattr(vi.mechanisms, name)()
    given = vi.Mechanism(given.name, given.bodies, given.joints, gravity=given.gravity)
    (tmp_path / "m.sdf").write_text(sdf_of(given))
    tree, closures = urdf_and_closures(given, "m.urdf")
    (tmp_path / "m.urdf").write_text(tree)
    (tmp_path / "m.toml").write_text(closures)
    (tmp_path / "m.xml").write_text(mjcf_of(given))
    vi.save_mechanism(given, tmp_path / "own.xml")
    names = [body.name for body in given.bodies]
    wanted = positions(vi.simulate(given, 0.5, 0.005), names)
    assert np.ptp(wanted, axis=0).max() > 0.03
    for file in ("m.sdf", "m.toml", "m.xml", "own.xml"):
        read = vi.load_mechanism(tmp_path / file, strict=True)
        assert positions(vi.simulate(read, 0.5, 0.005), names) == pytest.approx(wanted, abs=1e-9), file
