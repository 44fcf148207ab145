"""Short members of ensembles have the rows that they have as any other member, to the bit."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import varint as vi
from varint.results.quantities import potential_energy
from varint.step.energy.bodies import MOST_SUMMED, gravity_energies
from varint.studies.ensembles import work
from varint.studies.ensembles.short_members import ROOMS, short_figures
from varint.studies.ensembles.source import Builder, Source

RUN = {"duration": 0.5, "dt": 0.01}
FREE = ["double_pendulum", "four_bar", "n_pendulum", "spinning_top"]


def task(build, run):
    return work.MemberTask(Source(build, "of a test"), vi.Variational, run, None, None, False)


def rows(monkeypatch, build, run=None, parameters=None):
    """Whether a member ran as a short one, its row, and that which it has as any other; without the time it took."""
    taken = []

    def watched(*given):
        taken.append(short_figures(*given))
        return taken[-1]

    found = []
    for function in (watched, lambda *given: None):
        monkeypatch.setattr(work, "short_figures", function)
        row = work.run_member(task(build, run or RUN), build, 0, parameters or {})
        found.append({name: repr(value) for name, value in row.items() if name != "wall_time"})
    return taken[:1] not in ([], [None]), *found


@pytest.mark.parametrize("name", FREE)
def test_short_members_have_the_rows_of_others_to_the_bit(monkeypatch, name):
    short, one, other = rows(monkeypatch, getattr(vi.mechanisms, name))
    assert short == (name != "spinning_top")  # which spins by 0.3 rad a step
    assert one == other


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
@pytest.mark.parametrize("order", [2, 4])
def test_members_of_the_catalogue_have_one_row_however_they_run(monkeypatch, name, order):
    build, dt = getattr(vi.mechanisms, name), 0.2 * vi.mechanisms.module(name).EXPECTED["dt"]
    _, one, other = rows(monkeypatch, build, {"duration": 30 * dt, "dt": dt, "order": order})
    assert one == other


def welded():
    pair = vi.mechanisms.double_pendulum()
    return replace(pair, joints=[pair.joints[0], vi.Fixed("weld", "link 1", "link 2")])


def soft():
    pair = vi.mechanisms.double_pendulum()
    return replace(pair, joints=[replace(pair.joints[0], compliance=1e-6), pair.joints[1]])


def sprung():
    pair = vi.mechanisms.double_pendulum()
    return replace(pair, forces=[vi.TorsionSpring("spring", joint="joint 1", stiffness=1.0)])


def open_start():
    pair = vi.mechanisms.double_pendulum()
    state = pair.state()
    return pair, replace(state, position=state.position + [0.0, 0.0, 1e-3])


def fast_start():
    pair = vi.mechanisms.double_pendulum()
    return pair, pair.state(rates={"joint 1": 50.0, "joint 2": -80.0})


@pytest.mark.parametrize("build", [welded, soft, sprung, open_start, fast_start])
def test_other_mechanisms_and_starts_run_as_any_member(monkeypatch, build):
    """The last two end in an error, and in steps that do not resolve the motion."""
    short, one, other = rows(monkeypatch, build)
    assert not short
    assert one == other
    assert (one["status"] == "'error'") == (build is open_start)
    assert (one.get("unresolved", "None") != "None") == (build is fast_start)


@pytest.mark.parametrize(
    "more",
    [{"order": 1}, {"adaptive": True}, {"every": 5}, {"force": {"link 1": [0, 0, 1]}}, {"order": [2]}, {"dt": 1.0}],
)
def test_other_runs_run_as_any_member(monkeypatch, more):
    """The last two end in an error."""
    short, one, other = rows(monkeypatch, vi.mechanisms.double_pendulum, RUN | more)
    assert not short
    assert one == other
    assert (one["status"] == "'error'") == (more in ({"order": [2]}, {"dt": 1.0}))


def test_members_with_other_numbers_share_their_arrays(monkeypatch):
    build = Builder(vi.mechanisms.double_pendulum)
    ROOMS.clear()
    for angle in (0.3, 1.1, 0.3, -2.0):
        short, one, other = rows(monkeypatch, build, parameters={"angle": angle})
        assert short
        assert one == other
    assert len(ROOMS) == 1


def test_threads_have_arrays_of_their_own():
    mechanisms = [vi.mechanisms.double_pendulum(angle=angle) for angle in np.linspace(0.1, 1.0, 12)]
    starts = [mechanism.state() for mechanism in mechanisms]

    def figures(mechanism, state):
        return short_figures(vi.Variational, mechanism, state, RUN)[:-1]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(figures, mechanisms, starts))
    assert found == list(map(figures, mechanisms, starts))
    assert len(set(found)) == len(found)


@pytest.mark.slow
@pytest.mark.parametrize("nb", [1, 2, 3, 5, 6, 8, 21, MOST_SUMMED // 3])
def test_energies_of_gravity_have_the_bits_of_numpy(nb):
    rng = np.random.default_rng(nb)
    bodies = [vi.Body.sphere(f"b{i}", 0.1, mass) for i, mass in enumerate(rng.uniform(0.1, 3.0, nb))]
    joints = [vi.Free(f"f{i}", "world", body.name) for i, body in enumerate(bodies)]
    mechanism = vi.Mechanism("balls", bodies, joints, gravity=rng.normal(size=3))
    position, out = rng.normal(size=(50, nb, 3)), np.empty(50)
    masses = np.array([body.mass for body in bodies])
    gravity_energies(masses, mechanism.gravity, position, np.empty(3 * nb), out)
    assert np.array_equal(out, potential_energy(mechanism, position))
