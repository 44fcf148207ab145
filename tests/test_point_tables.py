"""Tables of points of bodies: by a joint on the body, and by their place in the reference configuration."""

import numpy as np
import pytest

import varint as vi


def test_points_of_bodies_are_columns(tmp_path):
    run = vi.simulate(vi.mechanisms.double_pendulum(), 0.05, 0.01)
    tip = run.mechanism.body("link 2").position + np.array([0.1, 0.0, 0.2])
    run.to_csv(tmp_path / "points.csv", ("link 2", "joint 2"), ("link 2", tip), "energy")
    head, *rows = (line.split(",") for line in (tmp_path / "points.csv").read_text().splitlines())
    table = np.array(rows, dtype=float)
    assert head[1:7] == [
        f"link 2 at joint 2 {name}" for name in ("x (m)", "y (m)", "z (m)", "vx (m/s)", "vy (m/s)", "vz (m/s)")
    ]
    anchor = run.mechanism.anchors(run.mechanism.joint("joint 2"))[1]
    assert np.array_equal(table[:, 1:4], run.path("link 2", anchor).position)
    assert np.array_equal(table[:, 7:10], run.path("link 2", tip).position)
    assert np.array_equal(table[:, 10:13], run.path("link 2", tip).velocity)
    assert np.array_equal(table[:, 13], run.energy)
    for wrong, words in (
        (("link 3", "joint 2"), "points: no body 'link 3', did you mean"),
        (("link 1", "joint 3"), "points: no joint of body 'link 1'"),
        (("link 1", (0.0, 1.0)), r"the point of body 'link 1' must be"),
        (("a", "b", "c"), "there are no columns"),
    ):
        with pytest.raises(vi.ArgumentError, match=words):
            run.to_csv(tmp_path / "wrong.csv", wrong)
