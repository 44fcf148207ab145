"""Mobility, redundancy, motions and singular poses, over the catalogue and on mechanisms made for it."""

from dataclasses import replace

import numpy as np
import pytest
from poses import pose_of, rows_at
from random_mechanisms import random_closed, random_tree
from test_sweep import scaled

import varint as vi
from varint.cli import main
from varint.kinematics.diagnosis import _direction
from varint.mechanisms._links import link

AXIS = (0, 1, 0)


def bars(carried=False):
    """Two bars in line, pinned at both ends: they can begin to move, no more. Carried: by an arm that turns."""
    base = "arm" if carried else "world"
    bodies = [link("left", (0, 0, 0), (1, 0, 0)), link("right", (1, 0, 0), (2, 0, 0))]
    joints = [
        vi.Revolute("left end", base, "left", point=(0, 0, 0), axis=AXIS),
        vi.Revolute("middle", "left", "right", point=(1, 0, 0), axis=AXIS),
        vi.Revolute("right end", base, "right", point=(2, 0, 0), axis=AXIS),
    ]
    if carried:
        bodies.append(link("arm", (0, 0, 0), (2, 0, 0)))
        joints.append(vi.Revolute("shoulder", "world", "arm", point=(0, 0, 0), axis=(0, 0, 1)))
    return vi.Mechanism("bars", bodies, joints)


def bars_in_a_four_bar():
    """A four-bar whose coupler is doubled by two bars in line: one cluster that moves, with motions that end."""
    A, B, C, D = (np.array(point) for point in ((0, 0, 0), (0.2, 0, 0.6), (2.2, 0, 1.0), (2, 0, 0)))
    M = (B + C) / 2
    bodies = [link("crank", A, B), link("coupler", B, C), link("rocker", D, C), link("left", B, M), link("right", M, C)]
    ends = [("world", "crank", A), ("crank", "coupler", B), ("coupler", "rocker", C), ("world", "rocker", D)]
    ends += [("crank", "left", B), ("left", "right", M), ("right", "rocker", C)]
    joints = [vi.Revolute(f"{k}", a, b, point=point, axis=AXIS) for k, (a, b, point) in enumerate(ends)]
    return vi.Mechanism("bars in a four-bar", bodies, joints)


def parallelogram(angle):
    return vi.mechanisms.four_bar(crank=0.5, coupler=1.0, rocker=0.5, ground=1.0, angle=angle)


def check_motions(mechanism, state):
    """Allowed, as many as the mobility, orthonormal in the kinetic metric."""
    diagnosis = mechanism.diagnose(state)
    motions = diagnosis.motions
    assert motions.shape == (diagnosis.mobility, len(mechanism.bodies), 6)
    G = rows_at(mechanism, *pose_of(state))[1]
    np.testing.assert_allclose(np.einsum("rnk,mnk->rm", G, motions), 0.0, atol=1e-6)
    mass = np.array([body.mass for body in mechanism.bodies])
    inertia = np.array([body.inertia for body in mechanism.bodies])
    metric = np.einsum("n,ani,bni->ab", mass, motions[..., :3], motions[..., :3])
    metric += np.einsum("nij,ani,bnj->ab", inertia, motions[..., 3:], motions[..., 3:])
    np.testing.assert_allclose(metric, np.eye(diagnosis.mobility), atol=1e-9)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_catalogue(name):
    mechanism, facts = getattr(vi.mechanisms, name)(), vi.mechanisms.module(name).EXPECTED
    run = vi.simulate(mechanism, 0.1, 0.01, on_unresolved="ignore")
    state = vi.State(run.position[-1], run.quat_wxyz[-1], run.velocity[-1], run.angular_velocity[-1])
    diagnosis = mechanism.diagnose(state)
    assert diagnosis.mobility == diagnosis.generic_mobility == facts["mobility"]
    kept = int(np.sum(~mechanism.compiled.plan.constraints.driven))  # by forces
    assert diagnosis.redundancy == mechanism.rows + kept - 6 * len(mechanism.bodies) + facts["mobility"]
    assert diagnosis.redundancy == len(diagnosis.redundant) == facts["redundant"]
    assert diagnosis.unique_multipliers == (diagnosis.redundancy == 0)
    assert diagnosis.gap < 1e-8 < 1e-3 < diagnosis.rank_margin
    check_motions(mechanism, state)
    check_removable(mechanism, state, diagnosis)


def check_removable(mechanism, state, diagnosis):
    """Without the redundant rows the rest has the rank of all; they are of cut joints."""
    joined = replace(mechanism, forces=())  # rows of joints alone
    compiled = joined.compiled
    G = rows_at(joined, *pose_of(state))[1].reshape(mechanism.rows, 6 * len(mechanism.bodies))
    cuts = {j for _, joints in compiled.topology.clusters for j in joints}
    first, taken = compiled.plan.joints.rows, []
    for k, j in enumerate(compiled.joints):
        for row in range(first[k + 1] - first[k]):
            if (mechanism.joints[j].name, _direction(compiled, state, j, row)) in diagnosis.redundant:
                assert j in cuts
                taken.append(first[k] + row)
    assert len(taken) == diagnosis.redundancy
    rest = np.linalg.svd(np.delete(G, taken, axis=0), compute_uv=False)
    assert rest.min(initial=1.0) > 1e-4


def test_redundant_rows_of_a_planar_loop_by_name():
    diagnosis = vi.mechanisms.four_bar().diagnose()
    cut = {joint for joint, _ in diagnosis.redundant}
    assert len(cut) == 1
    assert {direction for _, direction in diagnosis.redundant} == {"force along y", "torque about x", "torque about z"}
    assert diagnosis.joints == ("crank pivot", "crank pin", "rocker pin", "rocker pivot")
    assert f"{cut.pop()}: " in str(diagnosis)
    assert "1 degree of freedom" in str(diagnosis)
    assert "not unique" in str(diagnosis)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_named_rows_can_be_taken_away(name):
    """The loop closed by a joint of fewer rows in the place of its cut joint moves alike, and nothing is redundant."""
    mechanism = getattr(vi.mechanisms, name)()
    diagnosis = mechanism.diagnose()
    (cut,) = {joint for joint, _ in diagnosis.redundant}
    joints = [
        vi.PointOnLine(j.name, j.body_a, j.body_b, point=j.point, axis=AXIS) if j.name == cut else j
        for j in mechanism.joints
    ]
    lighter = vi.Mechanism("without", mechanism.bodies, joints, start=mechanism.start).diagnose()
    assert (lighter.mobility, lighter.redundancy) == (1, 0)
    np.testing.assert_allclose(np.abs(lighter.motions), np.abs(diagnosis.motions), atol=1e-9)


def test_direction_follows_the_pose():
    """The four-bar on a turntable: what was along y is along its normal there."""
    bar = vi.mechanisms.four_bar()
    table = vi.Body.box("table", (1, 1, 0.1), 1.0)
    ends = lambda name: "table" if name == "world" else name  # noqa: E731
    joints = [vi.Revolute(j.name, ends(j.body_a), ends(j.body_b), point=j.point, axis=j.axis) for j in bar.joints] + [
        vi.Revolute("turntable", "world", "table", point=(0, 0, 0), axis=(0, 0, 1))
    ]
    mechanism = vi.Mechanism("turned", [*bar.bodies, table], joints)
    diagnosis = mechanism.diagnose(mechanism.state(coordinates={"turntable": np.pi / 6}))
    assert (diagnosis.mobility, diagnosis.redundancy, diagnosis.singular) == (2, 3, False)
    directions = {direction for _, direction in diagnosis.redundant}
    assert "force along (0.5, -0.866, 0)" in directions
    assert "torque about z" in directions
    assert "turntable" not in diagnosis.joints


def test_free_body_and_trees():
    body = vi.mechanisms.free_body().diagnose()
    assert (body.mobility, body.generic_mobility, body.redundancy) == (6, 6, 0)
    assert body.motions.shape == (6, 1, 6)
    rng = np.random.default_rng(5)
    for floating in (False, True):
        tree = random_tree(rng, 7, floating=floating)
        diagnosis = tree.diagnose()
        assert diagnosis.mobility == 6 * 7 - tree.rows == diagnosis.generic_mobility
        assert diagnosis.unique_multipliers
        check_motions(tree, tree.state())


@pytest.mark.parametrize("seed", range(4))
def test_random_loops(seed):
    rng = np.random.default_rng(seed)
    mechanism = random_closed(rng, 6, 3, cuts=("Rod", "Revolute", "Spherical"))
    G = rows_at(mechanism, *pose_of(mechanism.state()))[1].reshape(mechanism.rows, 36)
    rank = np.linalg.matrix_rank(G, tol=1e-8)
    diagnosis = mechanism.diagnose()
    assert (diagnosis.mobility, diagnosis.redundancy) == (36 - rank, mechanism.rows - rank)
    check_motions(mechanism, mechanism.state())


def test_rigid_motions_of_a_floating_mechanism_come_first():
    mechanism = vi.mechanisms.snake(n=4)
    motions = mechanism.diagnose().motions
    R = pose_of(mechanism.state())[1][:-1]
    spread = np.ptp(np.einsum("nij,mnj->mni", R, motions[..., 3:]), axis=1).max(axis=1)
    assert spread[:6].max() < 1e-9
    assert spread[6:].min() > 1e-2


# ------------------------------------------------------------------------------------- singular poses


@pytest.mark.slow
def test_flat_parallelogram():
    """In line it can go on as a parallelogram or as its crossed twin: two motions here, one nearby."""
    flat = parallelogram(0.0).diagnose()
    assert (flat.mobility, flat.generic_mobility, flat.redundancy) == (2, 1, 4)
    assert flat.singular
    assert "singular pose: 1 at neighbouring poses" in str(flat)
    check_motions(parallelogram(0.0), parallelogram(0.0).state())
    near = parallelogram(1e-3).diagnose()
    assert (near.mobility, near.redundancy, near.singular) == (1, 3, False)
    assert "close to a singular pose" in str(near)


def test_flat_pose_found_by_assembly():
    """Driven there, the pose is only as flat as round-off allows."""
    mechanism = parallelogram(0.5)
    diagnosis = mechanism.diagnose(mechanism.state(coordinates={"crank pivot": -0.5}))
    assert (diagnosis.mobility, diagnosis.generic_mobility) == (2, 1)


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e3])
def test_flat_pose_of_any_size(size):
    mechanism = scaled(parallelogram(0.5), size)
    diagnosis = mechanism.diagnose(mechanism.state(coordinates={"crank pivot": -0.5}))
    assert (diagnosis.mobility, diagnosis.generic_mobility) == (2, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "mobility", "generic"), [(bars(), 1, 0), (bars(carried=True), 2, 1), (bars_in_a_four_bar(), 2, 1)]
)
def test_motion_that_leads_nowhere(mechanism, mobility, generic):
    diagnosis = mechanism.diagnose()
    assert (diagnosis.mobility, diagnosis.generic_mobility) == (mobility, generic)
    check_motions(mechanism, mechanism.state())


@pytest.mark.slow
def test_loops_one_below_the_other_are_counted_alone():
    chain = vi.mechanisms.rhombus_chain(m=3).diagnose()
    assert (chain.mobility, chain.redundancy, chain.singular) == (6, 9, False)


def test_joints_without_rows_in_a_loop():
    box = vi.Body.box("box", (0.3, 0.2, 0.1), 1.0)
    twice = vi.Mechanism("twice free", [box], [vi.Free("one", "world", "box"), vi.Free("two", "world", "box")])
    assert (twice.diagnose().mobility, twice.diagnose().redundancy) == (6, 0)
    welded = vi.Mechanism("twice welded", [box], [vi.Fixed("one", "world", "box"), vi.Fixed("two", "world", "box")])
    assert (welded.diagnose().mobility, welded.diagnose().redundancy) == (0, 6)
    assert welded.diagnose().motions.shape == (0, 1, 6)


def test_states_that_cannot_be_diagnosed():
    mechanism = parallelogram(0.5)
    state = mechanism.state()
    apart = replace(state, position=state.position + [(0, 0, 0), (0, 0, 0), (0.1, 0, 0)])
    with pytest.raises(vi.StateError, match=r"leaves a joint 0\.1 m open: mechanism\.assemble"):
        mechanism.diagnose(apart)
    with pytest.raises(vi.StateError, match="state must be a State, got 'flat'"):
        mechanism.diagnose("flat")
    with pytest.raises(vi.StateError, match=r"position of the state must be .* \(3, 3\)"):
        mechanism.diagnose(vi.mechanisms.double_pendulum().state())


@pytest.mark.slow
def test_info_prints_it(capsys):
    assert main(["info", "four_bar"]) == 0
    facts = " ".join(capsys.readouterr().out.split())
    assert "degrees of freedom 1 redundant rows, 3" in facts
    assert "force along y, torque about x, torque about z" in facts
    assert main(["info", "rhombus_chain", "-p", "m=12"]) == 0
    assert "degrees of freedom 24" in " ".join(capsys.readouterr().out.split())


def test_info_of_a_flat_parallelogram(capsys):
    lengths = ["crank=0.5", "coupler=1.0", "rocker=0.5", "ground=1.0", "angle=0.0"]
    assert main(["info", "four_bar", *(word for length in lengths for word in ("-p", length))]) == 0
    assert "degrees of freedom 2, 1 at neighbouring poses: singular" in " ".join(capsys.readouterr().out.split())
