"""A mechanism that its joints lock says so where a run shows no motion."""

import dataclasses
import warnings

import numpy as np
import pytest

import varint as vi
from varint.cli import main


def four_bar_with_motor(tilt):
    """The four-bar of the catalogue with a motor; ``tilt``: rad, of the axis of its last joint about x."""
    mechanism = vi.mechanisms.four_bar(rate=0.0)
    joints = list(mechanism.joints)
    last = joints[-1]
    axis = np.asarray(last.axis, dtype=float)
    across = np.cross(axis, [1.0, 0.0, 0.0])
    joints[-1] = dataclasses.replace(last, axis=np.cos(tilt) * axis + np.sin(tilt) * across)
    return dataclasses.replace(mechanism, joints=joints, forces=[vi.Motor("motor", joint=joints[0].name, effort=1.0)])


def test_a_locked_linkage_says_so():
    with pytest.warns(vi.LockedWarning, match=r"did not move, though motor 'motor' acts: .* \(0 degrees of freedom\)"):
        run = vi.simulate(four_bar_with_motor(0.3), 0.1, 0.01)
    assert np.abs(run.velocity).max() < 1e-9


def test_the_command_says_so_in_its_table(tmp_path, capsys):
    vi.save_mechanism(four_bar_with_motor(0.3), tmp_path / "locked.toml")
    assert main(["run", str(tmp_path / "locked.toml"), "--duration", "0.1", "--dt", "0.01"]) == 0
    assert "did not move, though motor 'motor' acts" in " ".join(capsys.readouterr().out.split())


def test_a_linkage_that_moves_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = vi.simulate(four_bar_with_motor(0.0), 0.1, 0.01)
    assert np.abs(run.velocity).max() > 1e-3
