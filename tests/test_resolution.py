"""Whether steps resolve a motion: rods that turn far, the balance of energy in the kernels, and what is said of it."""

import dataclasses
import io
import re
import warnings

import numpy as np
import pytest
from force_samples import coupled_everywhere
from random_mechanisms import random_closed, random_tree, random_velocity_state
from resolution_runs import random_run, verdict
from rich.console import Console

import varint as vi
from varint.cli.summary import summary
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme
from varint.results.inputs.at_nodes import Commands
from varint.step.newton import DIRECTION_BOUND

WRONG = 0.05  # of the energy scale


def random_case(seed):
    """A tree of two to six bodies on joints of all types, or every fourth time a closed mechanism, that moves."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    mechanism = random_closed(rng, n + 1, 1 + seed % 2) if seed % 4 == 3 else random_tree(rng, n)
    return mechanism, random_velocity_state(rng, mechanism)


def has_rod(mechanism):
    return any(isinstance(joint, vi.Rod) for joint in mechanism.joints)


def energy_error(run):
    """The largest, of the kinetic energy at the start and the largest change of the potential energy."""
    return np.abs(run.energy_balance).max() / (run.kinetic[0] + np.abs(run.potential - run.potential[0]).max())


def ten_links():
    return vi.mechanisms.n_pendulum(n=10, angle=np.pi / 2)


# ---------------------------------------------------------------------------------------- rods


def ball(name, position):
    return vi.Body.sphere(name, radius=0.1, mass=1.0, position=position)


def on_rods():
    """Two balls on rods from the origin, the first level, the second upright."""
    joints = [
        vi.Rod("1", "world", "a", point=(0, 0, 0), point_b=(1, 0, 0)),
        vi.Rod("2", "a", "b", point=(1, 0, 0), point_b=(1, 0, 1)),
    ]
    return vi.Mechanism("on rods", [ball("a", (1, 0, 0)), ball("b", (1, 0, 1))], joints)


def on_links():
    """The same with the balls fixed to massless links on spherical joints."""
    bodies = [vi.Body(name, mass=1.0, inertia=1e-6 * np.eye(3), position=(1, 0, z)) for name, z in (("a", 0), ("b", 1))]
    joints = [vi.Spherical("1", "world", "a", point=(0, 0, 0)), vi.Spherical("2", "a", "b", point=(1, 0, 0))]
    return vi.Mechanism("on links", bodies, joints)


@pytest.mark.parametrize("dt", [0.01, 0.005])
@pytest.mark.parametrize("seed", [107, 175, 263])
def test_a_rod_that_whips_keeps_its_energy(seed, dt):
    mechanism, state = random_case(seed)
    assert has_rod(mechanism)
    run = vi.simulate(mechanism, 2.0, dt, state=state, on_unresolved="ignore")
    assert energy_error(run) < 0.03
    assert run.substeps > 0 or dt < 0.01  # else this would test nothing


@pytest.mark.parametrize("kind", ["rod", "tether"])
def test_a_rod_turns_no_further_than_its_bound(kind):
    """A ball at 1 m from the origin at 40 rad/s, without gravity: the pieces of a step of 10 ms turn by 0.1 rad."""
    if kind == "rod":
        parts = {"joints": [vi.Rod("1", "world", "a", point=(0, 0, 0), point_b=(1, 0, 0))]}
    else:
        stop = {"point_a": (0, 0, 0), "point_b": (1, 0, 0), "upper": 1.0, "restitution": 0.0}
        parts = {"joints": [vi.Free("1", "world", "a")], "forces": [vi.LengthStop("stop", "world", "a", **stop)]}
    mechanism = vi.Mechanism("sling", [ball("a", (1, 0, 0))], gravity=(0, 0, 0), **parts)
    run = vi.simulate(mechanism, 1.0, 0.01, state=mechanism.state(velocity={"a": (0, 40.0, 0)}))
    assert run.substeps == 300
    assert 0.1 < DIRECTION_BOUND < 0.2
    assert run.kinetic == pytest.approx(800.0, rel=1e-9)
    angle = np.unwrap(np.arctan2(run.position[:, 0, 1], run.position[:, 0, 0]))
    assert angle[-1] == pytest.approx(400 * np.arcsin(0.1), abs=1e-8)  # the scheme in closed form


@pytest.mark.parametrize("rate", [0.0, 6.0])
def test_double_pendulum_of_rods_keeps_its_energy_without_drift(rate):
    rods, links = on_rods(), on_links()
    turning = dict.fromkeys("ab", (0, 0, rate))
    states = rods.state(velocity=dict.fromkeys("ab", (0, rate, 0))), links.state(angular_velocity=turning)
    runs = [vi.simulate(m, 120.0, 0.01, state=state) for m, state in zip((rods, links), states, strict=True)]
    for run in runs:
        assert run.substeps == 0
        error = run.energy - run.energy[0]
        assert np.abs(error).max() < 0.01 * run.kinetic.max()
        quarters = error[1:].reshape(4, -1).mean(axis=1)
        assert np.ptp(quarters) < 1e-3 * run.kinetic.max()
    assert max(abs(run.energy - run.energy[0]).mean() for run in runs) < 1e-3 * runs[1].kinetic.max()


def test_balls_on_rods_move_as_in_reduced_coordinates():
    mechanism = on_rods()
    state = mechanism.state(velocity={"a": (0, 3.0, 0), "b": (0, 3.0, 0)})
    exact = vi.redmax.simulate(mechanism, 1.0, dt=0.1, state=state)
    gaps = [
        np.abs(vi.simulate(mechanism, 1.0, dt, state=state, every=round(0.1 / dt)).position - exact.position).max()
        for dt in (0.002, 0.001)
    ]
    assert gaps[1] < 2e-4
    assert gaps[0] / gaps[1] == pytest.approx(4.0, rel=0.05)


# ---------------------------------------------------------------------------------------- the balance in the kernels


def bouncing():
    """A box on a slide between stops, one of them elastic, with a damper and a motor."""
    box = vi.Body.box("box", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 1))
    slide = vi.Prismatic("slide", "world", "box", point=(0, 0, 1), axis=(0, 0, 1))
    forces = [
        vi.JointStop("stop", joint="slide", lower=-0.5, upper=0.3, restitution=0.7),
        vi.JointDamper("damper", joint="slide", damping=0.4),
        vi.Motor("motor", joint="slide", effort=3.0),
    ]
    return vi.Mechanism("bouncing", [box], [slide], forces=forces)


def driven():
    """A double pendulum whose first joint is driven, over a second at 2 ms."""
    links, t = vi.mechanisms.double_pendulum(angle=0.3), 0.002 * np.arange(501)
    forces = [vi.PrescribedMotion("drive", joint="joint 1", position=0.5 * t * np.sin(6 * t))]
    return vi.Mechanism("driven", links.bodies, links.joints, forces=forces)


CASES = {
    "governor": vi.mechanisms.governor,
    "four_bar": vi.mechanisms.four_bar,
    "top": vi.mechanisms.spinning_top,
    "bouncing": bouncing,
    "driven": driven,
    "forces": lambda: coupled_everywhere(np.random.default_rng(5)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("order", [2, 4])
def test_the_kernels_balance_is_that_of_the_trajectory(name, order):
    """The energy that came from nowhere, summed step by step, is the energy balance of the nodes."""
    mechanism, dt, steps = CASES[name](), 0.002, 500
    if (name, order) == ("governor", 4):
        mechanism = vi.mechanisms.governor(damping=1e3)  # as much as order 4 takes in these steps
    compiled = mechanism.compiled
    march = March(compiled, scheme(order), dt, 1e-12, 1)
    march.give(march.load, march.series, *Commands(mechanism, compiled, steps, dt).at(np.arange(steps + 1)))
    march.start(mechanism.state())
    found = []
    for _ in range(steps):
        block = march.advance(1)
        assert march.failure is None
        assert (block.unresolved_body < 0).all()
        found.append(float(march.ws.balance.error[0]))  # of the steps but the last
    run = vi.simulate(mechanism, dt * steps, dt, order=order, tol=1e-12)
    expected = run.energy_balance[:-1]
    assert np.abs(np.array(found) - expected).max() < 2e-3 * march.ws.balance.scale[0]


@pytest.mark.parametrize("seed", [0, 1, 2, 9, 10])
def test_the_oscillation_is_what_comes_back(seed):
    """It takes the error from the second order of the step to the fourth, with joints and turning bodies."""
    left = []
    for dt in (0.004, 0.002):
        mechanism, state = random_run(seed)[1:]
        march = March(mechanism.compiled, scheme(2), dt, 1e-13, 1)
        march.start(state)
        errors, oscillations = [], []
        for _ in range(round(0.6 / dt)):
            march.advance(1)
            balance = march.ws.balance
            errors.append(float(balance.error[0]))  # at the node before the present one
            oscillations.append(float(balance.oscillation[0]))  # at the one before that
        kept = np.array(errors)[1:-1] - np.array(oscillations)[2:]
        left.append((np.ptp(errors), np.ptp(kept)))
        assert march.ws.balance.unresolved[0] < 0
    assert left[0][1] < 0.3 * left[0][0]
    assert left[0][0] / left[1][0] == pytest.approx(4.0, rel=0.2)
    assert left[0][1] / left[1][1] > 10.0


# ---------------------------------------------------------------------------------------- what is said


@pytest.mark.slow
def test_a_chain_that_whips_is_told():
    """Ten links from level, at 16 ms and order 4: in a minute much of its energy scale comes from nowhere."""
    chain = ten_links()
    with pytest.warns(vi.UnresolvedWarning, match=r"body 'link \d+' .* at \d+ .* Try dt = \d") as caught:
        run = vi.simulate(chain, 60.0, 0.016, order=4)
    assert energy_error(run) > 0.1
    assert len(caught) == 1
    assert caught[0].filename == __file__
    times = run.unresolved
    assert 0 < times.size == np.count_nonzero(run.unresolved_body >= 0)
    assert f"t = {times[0]:g} s" in str(caught[0].message)
    jumps = np.abs(np.diff(run.energy)) > WRONG * np.ptp(run.potential)
    assert np.abs(run.t[1:][jumps][0] - times).min() < 0.04


COARSE = {  # steps, s, that do not resolve the mechanism
    "bennett": 0.12,
    "delta_robot": 0.12,
    "double_pendulum": 0.12,
    "four_bar": 0.12,
    "jansen_leg": 0.12,
    "klann_leg": 0.024,
    "minitaur_leg": 0.06,
    "parallelogram_flexure": 0.012,
    "rhombus_chain": 0.12,
    "sarrus": 0.12,
    "slider_crank": 0.12,
    "spatial_slider_crank": 0.06,
    "tree": 0.12,
    "two_bones_one_muscle": 0.06,
}


def told(mechanism, state, duration, dt, order):
    with pytest.warns(vi.UnresolvedWarning) as caught:
        vi.simulate(mechanism, duration, dt, order=order, state=state)
    return float(
        re.search(r"Try dt = (\S+) s: in a step velocities changed by up to \d+% of", str(caught[0].message))[1]
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", COARSE)
def test_the_proposed_step_resolves_the_catalogue(name):
    mechanism, dt = getattr(vi.mechanisms, name)(), COARSE[name]
    duration = dt * round(3.0 / dt)
    proposed = told(mechanism, mechanism.state(), duration, dt, 2)
    assert dt / 38 < proposed <= dt / 2
    vi.simulate(mechanism, duration, proposed, on_unresolved="raise")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 5, 9, 13, 17, 25, 29, 33, 41])
def test_the_proposed_step_resolves_random_chains(seed):
    _, mechanism, state = random_run(seed)
    proposed = told(mechanism, state, 2.0, 0.01, 2)
    assert 0.01 / 18 < proposed <= 0.005
    vi.simulate(mechanism, 2.0, proposed, state=state, on_unresolved="raise")


def test_a_motion_that_is_prescribed_is_said_to_hold():
    """A crank that turns ten times in 0.7 s, at 10 ms: the motion is that of the joints, the work of the drive not."""
    linkage = vi.mechanisms.four_bar()
    drive = vi.PrescribedMotion("drive", joint="crank pivot", rate=90.0)
    driven = dataclasses.replace(linkage, forces=[drive])
    with pytest.warns(vi.UnresolvedWarning, match="follow its prescribed motion, velocities, energy"):
        vi.simulate(driven, 0.7, 0.01, state=driven.state(rates={"crank pivot": 90.0}))


def test_a_closed_mechanism_that_whips_is_told():
    """Twelve bodies with loops, at 1 ms: 4 J in one step."""
    rng = np.random.default_rng(137)
    mechanism = random_closed(rng, 12, int(rng.integers(4, 9)), cuts=("Rod", "PointOnPlane", "Revolute", "Spherical"))
    state = random_velocity_state(rng, mechanism)
    with pytest.warns(vi.UnresolvedWarning, match="'random closed' did not resolve its motion, first at t = 0.5"):
        run = vi.simulate(mechanism, 0.7, 0.001, state=state)
    assert np.abs(np.diff(run.energy)).max() > 3.0


def test_on_unresolved_says_what_to_do():
    chain = ten_links()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = vi.simulate(chain, 8.0, 0.01, order=4, on_unresolved="ignore")
        assert run.unresolved.size
        assert not vi.simulate(chain, 1.0, 0.01, order=4, on_unresolved="raise").unresolved.size
    with pytest.raises(vi.UnresolvedError, match="did not resolve its motion") as caught:
        vi.simulate(chain, 8.0, 0.01, order=4, on_unresolved="raise")
    assert isinstance(caught.value, vi.ConvergenceError)
    assert caught.value.time == run.unresolved[0]
    assert caught.value.body in str(caught.value)
    assert np.array_equal(caught.value.trajectory.position, run.position)
    with pytest.raises(
        vi.ArgumentError, match="on_unresolved must be one of warn, raise, substep, ignore, got 'shout'"
    ):
        vi.simulate(chain, 1.0, 0.01, on_unresolved="shout")


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 7])
def test_a_run_that_stopped_finds_the_same_steps(tmp_path, every):
    chain, path = ten_links(), tmp_path / "run.h5"
    common = {"order": 4, "every": every, "on_unresolved": "ignore"}
    whole = vi.simulate(chain, 12.0, 0.02, **common)
    assert whole.unresolved.size > 1
    for duration in (7.08, 9.1, 12.0):
        run = vi.simulate(chain, duration, 0.02, output=path, resume=path.exists(), **common)
    for other in (run, vi.load(path)):
        assert np.array_equal(other.unresolved_body, whole.unresolved_body)
        assert np.array_equal(other.unresolved, whole.unresolved)
        assert np.array_equal(other.position, whole.position)
    steps = np.round(vi.simulate(chain, 12.0, 0.02, **common | {"every": 1}).unresolved / 0.02)
    last = np.round(whole.t[-1] / 0.02)
    expected = np.unique(np.minimum(every * np.ceil(steps / every), last))
    assert np.array_equal(expected, np.round(whole.unresolved / 0.02))


def test_the_summary_of_a_run_says_so():
    chain = ten_links()
    console = Console(width=400, record=True, file=io.StringIO())
    for duration in (1.0, 8.0):
        summary(vi.simulate(chain, duration, 0.01, order=4, on_unresolved="ignore")).show(console)
    assert console.export_text().count("did not resolve its motion, first at t = 7.0") == 1


def test_reduced_runs_have_none():
    assert vi.redmax.simulate(ten_links(), 0.1, dt=0.01).unresolved.size == 0


def judged(seeds, *steps):
    """Of runs of 2 s with these steps: (verdict, whether told, name) of each that does not end with an exception."""
    found = []
    for seed in seeds:
        try:
            name, mechanism, state = random_run(seed)
        except vi.VarintError:  # a mechanism that cannot move
            continue
        for dt in steps:
            try:
                run = vi.simulate(mechanism, 2.0, dt, state=state, on_unresolved="ignore")
            except vi.ConvergenceError:
                continue
            found.append((verdict(run), bool(run.unresolved.size), f"{name} at {dt} s"))
    return found


@pytest.mark.slow
def test_jumps_of_the_energy_are_told_and_quiet_runs_are_not():
    found = judged(range(24), 0.01)
    assert sum(truth == "wrong" for truth, _, _ in found) >= 3
    assert sum(truth == "quiet" for truth, _, _ in found) >= 10
    assert [name for truth, told, name in found if truth == "wrong" and not told] == []
    assert [name for truth, told, name in found if truth == "quiet" and told] == []


@pytest.mark.long
@pytest.mark.slow
def test_every_jump_of_a_large_set_is_told():
    """The set of benchmarks/resolution.py: no wrong run without a word, below 2 % of the quiet ones with one."""
    found = judged(range(200), 0.01, 0.005)
    assert [name for truth, told, name in found if truth == "wrong" and not told] == []
    quiet = [told for truth, told, _ in found if truth == "quiet"]
    assert len(quiet) > 150
    assert np.mean(quiet) < 0.02


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
@pytest.mark.slow
@pytest.mark.many
def test_the_catalogue_is_resolved_at_its_documented_steps(name):
    """For 10 s, or for as long as is documented."""
    facts = vi.mechanisms.module(name).EXPECTED
    duration = min(10.0, facts.get("duration", 10.0))
    run = vi.simulate(getattr(vi.mechanisms, name)(), duration, facts["dt"], on_unresolved="raise")
    assert energy_error(run) < WRONG


@pytest.mark.slow
@pytest.mark.long
def test_random_mechanisms_are_resolved_or_told():
    """416 mechanisms over 2 s: at 5 ms no more than 1 % are wrong, and none without a word at any step."""
    for dt, most in ((0.01, 0.015), (0.005, 0.01), (0.002, 0.01)):
        wrong = {True: 0, False: 0}
        for seed in range(416):
            mechanism, state = random_case(seed)
            try:
                run = vi.simulate(mechanism, 2.0, dt, state=state, on_unresolved="ignore")
            except vi.ConvergenceError:
                wrong[has_rod(mechanism)] += 1
                continue
            if energy_error(run) > WRONG:
                wrong[has_rod(mechanism)] += 1
                assert run.unresolved.size, f"mechanism {seed} at {dt} s"
        print(f"dt = {dt} s: wrong {wrong[True]} with a rod, {wrong[False]} without, of 416")
        assert sum(wrong.values()) <= most * 416
