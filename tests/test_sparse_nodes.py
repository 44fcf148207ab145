"""Motion between nodes that are too far apart: the estimate of its error against runs with all nodes."""

import warnings

import numpy as np
import pytest

import varint as vi
from varint.results.interpolation import velocity_errors

DT = 0.005


@pytest.fixture(scope="module", params=[2, 4])
def fine(request):
    """A double pendulum whose links turn over."""
    mech = vi.mechanisms.double_pendulum()
    state = mech.state(coordinates={"joint 1": 2.0, "joint 2": 0.5})
    return vi.simulate(mech, 10.0, DT, state=state, order=request.param)


def errors_of(fine, sparse, every):
    """Return the largest errors of velocities, m/s, and angular velocities, rad/s, in each interval, (T - 1, nb)."""
    times = fine.t[: every * (len(sparse) - 1)]
    between = sparse.at(times)
    apart = np.linalg.norm(
        [
            between.velocity - fine.velocity[: len(times)],
            between.angular_velocity - fine.angular_velocity[: len(times)],
        ],
        axis=-1,
    )
    return apart.reshape(2, len(sparse) - 1, every, -1).max(axis=2)


@pytest.mark.filterwarnings("ignore::varint.SparseNodesWarning")
@pytest.mark.parametrize("every", [16, 24])
def test_estimated_errors_are_those_of_the_interpolation(fine, every):
    sparse = fine[::every]
    true = errors_of(fine, sparse, every)
    estimated = velocity_errors(sparse.nodes, np.arange(len(sparse) - 1), sparse.order, jumps=False)
    largest = true.max(axis=1)
    assert (estimated.max(axis=1) > 0.5 * largest).all()
    assert (estimated.max(axis=1) < (3.0 if fine.order == 2 else 30.0) * largest).all()


@pytest.mark.parametrize(("every", "known"), [(4, True), (40, False)])
def test_a_state_between_nodes_is_right_or_reported(fine, every, known):
    sparse = fine[::every]
    middle = fine.t[every // 2 :: every][: len(sparse) - 1]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        between = sparse.at(middle)
    off = np.abs(between.energy - fine.energy[0]).max()
    if known:
        assert not told
        assert off < 0.02 * np.ptp(fine.kinetic)
    else:
        assert off > 0.1 * np.ptp(fine.kinetic)
        (message,) = [str(each.message) for each in told]
        assert "velocity of body 'link" in message or "turns by some" in message
        assert "smaller 'every'" in message


@pytest.fixture(scope="module")
def long():
    """A double pendulum whose links turn over, 20 s long."""
    mech = vi.mechanisms.double_pendulum()
    return vi.simulate(mech, 20.0, DT, state=mech.state(coordinates={"joint 1": 2.0, "joint 2": 0.5}))


def test_a_section_of_sparse_nodes_is_an_error_that_names_the_body(long):
    section = vi.poincare_section(long[::2], "joint 1", -np.pi / 2, 0)
    fine = vi.poincare_section(long, "joint 1", -np.pi / 2, 0)
    assert section.states.energy == pytest.approx(fine.states.energy, abs=0.01 * np.ptp(long.kinetic))
    with pytest.raises(vi.ArgumentError, match=r"crossings: .* body 'link \d' .*smaller 'every' or 'dt', or .*output_"):
        vi.poincare_section(long[::40], "joint 1", -np.pi / 2, 0)


@pytest.mark.parametrize("begin", [-0.3, -0.5])  # before the crossing, which the gap has, or ends a node before
def test_one_gap_leaves_out_no_more_states_than_it_has(long, begin):
    """States next to a gap stay: what its nodes miss says nothing of the short interval beside it."""
    every = vi.poincare_section(long, "joint 1", -np.pi / 2, 0).t
    crossed = every[7]  # of 15, 1.8 s from others
    gap = (long.t > crossed + begin) & (long.t < (crossed + 0.1 if begin > -0.4 else crossed - 1e-9))
    if begin < -0.4:
        gap[np.flatnonzero(gap)[-1]] = False  # the last node before the crossing
    lost = every[(every > long.t[gap][0] - DT) & (every < long.t[gap][-1] + DT)]
    holed = long.at(long.t[~gap])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        section = vi.poincare_section(holed, "joint 1", -np.pi / 2, 0)
    left = np.setdiff1d(every, lost)
    assert section.t == pytest.approx(left, abs=1e-4)
    messages = [str(each.message) for each in told if "of the section" in str(each.message)]
    assert len(messages) == (1 if lost.size else 0)
    assert all(f"of the {len(every)} states of the section 'joint 1' = -1.57" in each for each in messages)
    if lost.size:
        with pytest.raises(vi.ArgumentError, match=r"too far apart|half a turn"):
            vi.crossings(holed, "joint 1", -np.pi / 2)


def test_nodes_that_nearly_coincide_do_not_amplify_round_off():
    hanging = vi.mechanisms.double_pendulum(angle=0.0)
    run = vi.simulate(hanging, 4.0, 0.01, order=4, state=hanging.state(rates={"joint 1": 1e-3}))
    times = np.arange(0.0, 4.0, 0.05)
    uneven = run.at(np.sort(np.concatenate([times, [2.0 + 1e-7]])))
    middle = np.array([1.93, 1.98, 2.02, 2.07])
    assert uneven.at(middle).velocity == pytest.approx(run.at(middle).velocity, abs=1e-7)


def test_impacts_do_not_count_as_sparse_nodes():
    ball = vi.Body.sphere("ball", radius=0.1, mass=1.0, position=(0, 0, 0.5))
    floor = vi.HardContact("floor", body="ball", restitution=0.5)
    mech = vi.Mechanism("bounces", [ball], [vi.Free("free", "world", "ball")], forces=[floor])
    run = vi.simulate(mech, 1.0, 0.002)
    assert len(vi.crossings(run, lambda state: state.velocity[0, 2])) > 2
    run.at(np.linspace(0.0, 1.0, 1777))
    with pytest.warns(vi.SparseNodesWarning, match="velocity of body 'ball' there is uncertain by about"):
        run[::20].at(np.linspace(0.0, 1.0, 1777))


def test_pictures_say_nothing_of_velocities(fine, tmp_path):
    """They need poses alone."""
    sparse = fine[::24]
    with pytest.warns(vi.SparseNodesWarning, match="uncertain by about"):
        sparse.at(fine.t[12 : 24 * (len(sparse) - 1) : 24])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sparse.plot("mechanism", times=[0.06, 3.05], path=tmp_path / "poses.png")
