"""Two mechanisms, one written and read again, that are to be the same."""

import dataclasses

import numpy as np
import pytest

import varint as vi


def check_alike(one, other, same):
    """Bodies and start are the same, and so are accelerations there; those that are welded may have been merged."""
    welds = [{joint.body_a, joint.body_b} for joint in one.joints if isinstance(joint, vi.Fixed)]
    merged = set().union(*welds) - {"world", *other.body_index}
    masters = set().union(*(weld - merged for weld in welds if weld & merged))
    assert sum(body.mass for body in other.bodies) == pytest.approx(sum(body.mass for body in one.bodies), rel=same)
    kept = [k for k, body in enumerate(one.bodies) if body.name not in {*merged, *masters}]
    rows = [other.body_index[one.bodies[k].name] for k in kept]
    for body in (one.bodies[k] for k in kept):
        read = other.body(body.name)
        assert read.mass == pytest.approx(body.mass, rel=same)
        assert read.inertia == pytest.approx(body.inertia, abs=same * np.abs(body.inertia).max())
        assert read.position == pytest.approx(body.position, abs=same * max(1.0, np.abs(body.position).max()))
    a, b = one.state(), other.state()
    sign = np.sign(np.sum(a.quat_wxyz[kept] * b.quat_wxyz[rows], axis=1))[:, None]
    assert sign * b.quat_wxyz[rows] == pytest.approx(a.quat_wxyz[kept], abs=same)
    for key in ("position", "velocity", "angular_velocity"):
        size = max(1.0, np.abs(getattr(a, key)).max())
        assert getattr(b, key)[rows] == pytest.approx(getattr(a, key)[kept], abs=10 * same * size), key
    if any({"contacts", "internal"} & set(traits) for traits in one.force_traits):  # accelerations of a state have none
        one, other = (dataclasses.replace(each, forces=()) for each in (one, other))
    wanted, found = vi.accelerations(one, a), vi.accelerations(other, b)
    size = max(1.0, np.abs(wanted.linear).max())
    assert found.linear[rows] == pytest.approx(wanted.linear[kept], abs=1e-9 * size)
