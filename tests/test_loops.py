"""Loops: clusters against one dense node, singular poses, long runs, random closed mechanisms, benchmark problems."""

import numpy as np
import pytest
from random_mechanisms import LOWER, random_joint, random_tree, random_velocity_state

import varint as vi

GRAVITY = 9.81


def folds(run, m):
    """How often each rhombus of a chain folds flat: the sine of its opening changes sign."""
    angle = 2 * np.arctan2(run.quat_wxyz[..., 2], run.quat_wxyz[..., 0])
    opening = np.sin(angle[:, 0 : 4 * m : 4] - angle[:, 1 : 4 * m : 4])
    return (opening[1:] * opening[:-1] < 0).sum(axis=0)


def flat_four_bars(N, off, rate=5.0):
    """n_four_bar turned by ``off`` (rad) short of level, all uprights at ``rate``; built by hand, not by assembly."""
    mechanism = vi.mechanisms.n_four_bar(N=N)
    angle = np.pi / 2 - off
    along = np.array([np.sin(angle), 0.0, np.cos(angle)])
    across = rate * np.array([np.cos(angle), 0.0, -np.sin(angle)])
    ups, levels = np.arange(N + 1)[:, None] * np.eye(3)[0], (np.arange(N)[:, None] + 0.5) * np.eye(3)[0]
    turn = [np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0]
    state = vi.State(
        np.vstack([ups + along / 2, levels + along]),
        np.vstack([np.tile(turn, (N + 1, 1)), np.tile([1.0, 0, 0, 0], (N, 1))]),
        np.vstack([np.tile(across / 2, (N + 1, 1)), np.tile(across, (N, 1))]),
        np.vstack([np.tile([0, rate, 0], (N + 1, 1)), np.zeros((N, 3))]),
    )
    return mechanism, state


# ---------------------------------------------------------------------------------------- clusters


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters", "dt"),
    [
        ("rhombus_chain", {}, 0.005),  # chaotic: at 10 ms round-off grows to 2e-9 within 10 s
        ("rhombus_chain", {"m": 8}, 0.001),  # here to 1e-4
        ("minitaur", {}, 0.001),
        ("peaucellier", {}, 0.01),
        ("n_four_bar", {"N": 10}, 0.01),
        ("ladder", {"k": 10}, 0.0001),
        ("scissor_lift", {}, 0.005),
    ],
)
def test_one_dense_node_moves_as_clusters_do(name, parameters, dt):
    mechanism = getattr(vi.mechanisms, name)(**parameters)
    runs = [vi.simulate(mechanism, 1000 * dt, dt, closures=closures) for closures in ("clusters", "single")]
    assert np.abs(runs[0].position - runs[1].position).max() < 1e-9
    assert np.abs(runs[0].quat_wxyz - runs[1].quat_wxyz).max() < 1e-9


def test_unknown_closures():
    with pytest.raises(vi.ArgumentError, match="clusters, single"):
        vi.simulate(vi.mechanisms.four_bar(), 0.1, 0.01, closures="dense")


# ----------------------------------------------------------------------------------- singular poses


@pytest.mark.slow
@pytest.mark.parametrize("m", [1, 2, 4, 8, 16])
def test_rhombi_fold_flat(m):
    mechanism = vi.mechanisms.rhombus_chain(m=m, opening=1.0, tilt=0.3)
    coarse, fine = (vi.simulate(mechanism, 10.0, dt) for dt in (0.01, 0.005))
    errors = [np.abs(run.energy - run.energy[0]).max() / (4 * m * GRAVITY) for run in (coarse, fine)]
    assert folds(coarse, m).min() >= 4
    assert coarse.substeps == 0
    assert coarse.drift.max() < 1e-10
    assert errors[0] < 0.05
    assert 2.5 < errors[0] / errors[1] < 6  # of second order, as far as chaos lets the two be compared


@pytest.mark.slow
@pytest.mark.long
def test_folding_does_not_tell_in_the_energy():
    """Ten minutes of four rhombi, thousands of folds: the energy wanders by whips, it does not jump.

    The motion is chaotic: whether a whip is large enough to be told is luck.
    """
    run = vi.simulate(vi.mechanisms.rhombus_chain(m=4, opening=1.0, tilt=0.3), 600, 0.01, on_unresolved="ignore")
    minutes = run.energy[1:].reshape(10, -1).mean(axis=1) - run.energy[0]
    assert folds(run, 4).sum() > 1000
    assert run.rank_margin.min() < 1e-4
    assert run.substeps == 0
    assert np.abs(minutes).max() < 2e-2 * run.kinetic.max()


@pytest.mark.parametrize("N", [1, 2, 5, 20])
@pytest.mark.parametrize("off", [1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 0.0])
def test_start_at_a_singular_pose(N, off):
    mechanism, state = flat_four_bars(N, off)
    run = vi.simulate(mechanism, 1.0, 0.001, state=state)
    error = np.abs(run.energy - run.energy[0]).max() / run.kinetic.max()
    assert run.drift.max() < 1e-10
    assert error < 1e-4
    np.testing.assert_allclose(run.quat_wxyz[:, : N + 1], run.quat_wxyz[:, :1].repeat(N + 1, axis=1), atol=1e-9)


def test_rank_margin_is_the_sine_of_the_angle_left():
    mechanism = vi.mechanisms.four_bar(case="change-point")
    margins = []
    for angle in (0.3, 0.03, 0.003):
        flat = mechanism.state(coordinates={"crank pivot": angle - np.pi / 3})
        run = vi.simulate(mechanism, 1e-4, 1e-4, state=flat)
        margins.append(run.rank_margin[0] / np.sin(angle))
    np.testing.assert_allclose(margins, margins[0], rtol=0.2)
    assert vi.simulate(vi.mechanisms.n_pendulum(), 0.1, 0.01).rank_margin.min() == 1.0


# ------------------------------------------------------------------------------------- random loops


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("block", [0, 1, 2, *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 10))])
def test_random_closed_mechanisms(block):
    """Joints with rows of their own, 2 to 12 bodies, 1 to 4 loops: assembled from a bad guess, then two seconds."""
    for seed in range(20 * block, 20 * block + 20):
        rng = np.random.default_rng(seed)
        floating = bool(seed % 2)
        tree = random_tree(rng, int(rng.integers(2, 13)), LOWER, floating, (0, 0, 0 if floating else -GRAVITY))
        joints = list(tree.joints)
        for k in range(rng.integers(1, 5)):
            a, b = (tree.bodies[i] for i in rng.choice(len(tree.bodies), 2, replace=False))
            point = 0.5 * (a.position + b.position)
            joints.append(random_joint(rng, str(rng.choice(LOWER)), f"cut{k}", a.name, b.name, point))
        mechanism = vi.Mechanism("random closed", tree.bodies, joints, gravity=tree.gravity)

        reference = mechanism.state()
        guess = vi.State(
            reference.position + 0.01 * rng.standard_normal(reference.position.shape),
            reference.quat_wxyz,
            reference.velocity,
            reference.angular_velocity,
        )
        run = vi.simulate(mechanism, 0.01, 0.01, state=mechanism.assemble(guess))
        assert run.drift[0] < 1e-11, seed

        state = random_velocity_state(rng, mechanism)
        run = vi.simulate(mechanism, 2.0, 0.01, state=state, on_unresolved="ignore")  # some of them whip
        assert run.success
        assert run.drift.max() < 1e-9, seed
        if floating:
            for momentum in (run.linear_momentum, run.angular_momentum):
                assert np.abs(momentum - momentum[0]).max() < 1e-9, seed
        else:
            assert balance_error(run) < 1e-9, seed


def balance_error(run):
    """Rate of the linear momentum by accelerations, against gravity and the reactions of the world's joints."""
    mechanism = run.mechanism
    mass = np.array([body.mass for body in mechanism.bodies])
    rate = np.einsum("n,tni->ti", mass, run.acceleration)
    force = mass.sum() * np.broadcast_to(mechanism.gravity, rate.shape)
    for joint in mechanism.joints:
        if "world" in (joint.body_a, joint.body_b):
            force = force + (1 if joint.body_a == "world" else -1) * run.reactions[joint.name].force
    return np.abs(rate - force).max() / max(1.0, np.abs(rate).max())


# --------------------------------------------------------------------------------------- long runs


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("minitaur", marks=pytest.mark.long), "n_four_bar"])
def test_a_hundred_thousand_steps(name):
    """Five starts that differ by round-off, for the motion is chaotic.

    The energy is judged by the median: one run in fifteen has a node within 1e-6 of a singular pose, where it jumps.
    """
    dt = vi.mechanisms.module(name).EXPECTED["dt"]
    mechanism = getattr(vi.mechanisms, name)()
    state, offsets, slopes = mechanism.state(), [], []
    for factor in 1.0 + 1e-13 * np.arange(5):
        start = vi.State(state.position, state.quat_wxyz, factor * state.velocity, factor * state.angular_velocity)
        run = vi.simulate(mechanism, 100_000 * dt, dt, every=10, state=start, on_unresolved="ignore")
        tenths = run.energy[1:].reshape(10, -1).mean(axis=1) / run.kinetic.max()
        drifts = run.drift[1:].reshape(10, -1).mean(axis=1)
        offsets.append(np.abs(tenths - run.energy[0] / run.kinetic.max()).max())
        slopes.append(abs(np.polyfit(np.arange(10), tenths, 1)[0]))
        assert run.steps == 100_000
        assert run.substeps <= 3  # a step that starts next to a singular pose may be cut
        assert run.drift.max() < 1e-10
        assert drifts.max() < 1e-12  # no trend in the closure ...
    assert np.median(offsets) < 5e-4
    assert np.median(slopes) < 2e-5  # ... nor in the energy


@pytest.mark.slow
@pytest.mark.parametrize(
    ("N", "order", "dt", "tolerance"),
    [(2, 6, 0.01, 1e-6), pytest.param(40, 4, 0.02, 1e-3, marks=pytest.mark.slow)],
)
def test_reference_values_of_the_four_bars_in_a_row(N, order, dt, tolerance):
    """IFToMM A02, through its singular poses."""
    duration = {2: 10.0, 40: 20.0}[N]
    place = {2: (0.32845811154, 0.94451853818), 40: (0.41090115375, 0.91167990098)}[N]
    run = vi.simulate(vi.mechanisms.n_four_bar(N=N), duration, dt, order=order)
    assert np.abs(2 * run.position[-1, 0, [0, 2]] - place).max() < tolerance
    assert run.drift.max() < 1e-10
