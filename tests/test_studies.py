"""Studies of a recorded run against closed forms: trends, crossings, sections, spectra, phase portraits."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.special import ellipk

import varint as vi
from varint.files.runs import reader as run_reader
from varint.mathematics.batches import cautious_mean, fitted
from varint.runs import running

G = 9.81
HANGING = -2.0  # rad, of "joint 1", from the start at 2 rad


def recursive(gain, memory, noise):
    """Values of which each is ``gain`` of the noise and ``memory`` of the one before."""
    from scipy.signal import lfilter  # imported in half a second

    return lfilter([gain], [1.0, -memory], noise)


def pendulum(angle=2.0):
    return vi.mechanisms.n_pendulum(1, angle=angle)


def inertia_about_the_hinge(body):
    return body.inertia[1, 1] + body.mass * 0.25


def period(angle):
    link = pendulum().bodies[0]
    return 4 * ellipk(np.sin(angle / 2) ** 2) / np.sqrt(link.mass * G * 0.5 / inertia_about_the_hinge(link))


@pytest.fixture(scope="module")
def swing():
    return vi.simulate(pendulum(), 20.0, 0.02, order=6, tol=1e-13)


@pytest.fixture(scope="module")
def chaos():
    return vi.simulate(vi.mechanisms.double_pendulum(angle=2.0), 40.0, 0.01, order=4)


# ------------------------------------------------------------------------------------------------------- trends


@pytest.mark.slow
@pytest.mark.parametrize(("memory", "count"), [(0.0, 300), (0.9, 2000), (-0.5, 1000)])
def test_intervals_hold_the_true_slope_nineteen_times_in_twenty(rng, memory, count):
    """Of noise whose values depend on those before, of which the plain formula would be too sure."""
    t, inside, plain = 0.01 * np.arange(count), 0, 0
    away, spread = t - t.mean(), count * t.var()
    for _ in range(500):
        noise = recursive(1.0, memory, rng.standard_normal(count + 200))[200:]
        found = fitted(t, 0.3 * t + noise, line=True)
        inside += found.interval[0] < 0.3 < found.interval[1]
        slope = away @ noise / spread
        plain += abs(slope) < 1.96 * np.sqrt((noise - slope * away).var() / spread)
    assert 0.90 <= inside / 500 <= 0.99
    assert (plain / 500 < 0.6) == (memory > 0.5)


@pytest.mark.slow
def test_intervals_hold_the_slope_of_a_walk_with_a_drift(rng):
    """As round-off adds up. By batches alone the interval would hold it in two cases of five."""
    t, inside = np.arange(1000.0), 0
    for _ in range(500):
        found = fitted(t, np.cumsum(rng.standard_normal(1000) + 0.05), line=True)
        inside += found.interval[0] < 0.05 < found.interval[1]
    assert 0.85 <= inside / 500 <= 0.98


@pytest.mark.slow
def test_intervals_hold_the_true_mean(rng):
    t, inside = np.arange(2000.0), 0
    for _ in range(500):
        noise = recursive(1.0, 0.9, rng.standard_normal(2200))[200:]
        found = fitted(t, 2.0 + noise, line=False)
        inside += found.interval[0] < 2.0 < found.interval[1]
    assert 0.90 <= inside / 500 <= 0.99


def test_a_slope_below_the_last_digit_of_the_values(rng):
    """Values near 1000, rounded as by a sum, whose line rises by a fifth of their last digit over the run."""
    t, digit = np.arange(2e5), np.spacing(1000.0)
    away = rng.normal(0.0, 2.0, len(t)) + 0.2 * t / t[-1]
    found = fitted(t, 1000.0 + digit * np.rint(away), line=True)
    assert found.value == pytest.approx(0.2 * digit / t[-1], abs=3 * found.error)
    assert found.error < 0.1 * 0.2 * digit / t[-1]
    assert np.ptp(found.away) < digit
    assert len(set(found.away)) > 100


def lifted(rate=0.3):
    body = vi.Body.box("load", (0.1, 0.1, 0.1), 2.0)
    joint = vi.Prismatic("shaft", "world", "load", point=(0, 0, 0), axis=(0, 0, 1))
    return vi.Mechanism("lift", [body], [joint], forces=[vi.PrescribedMotion("winch", joint="shaft", rate=rate)])


def test_slope_of_the_energy_of_a_load_that_is_lifted():
    run = vi.simulate(lifted(), 4.0, 0.01)
    found = vi.energy_trend(run)
    assert found.slope == pytest.approx(2.0 * G * 0.3, rel=1e-12)
    assert found.significant
    assert found.change == pytest.approx(4 * found.slope)
    assert found.error < 1e-10
    balance = vi.energy_trend(run, "energy_balance")
    assert abs(balance.slope) < 1e-10


def test_a_damped_run_has_a_trend_and_its_balance_has_not(chaos):
    assert abs(vi.energy_trend(chaos).slope) < 1e-6
    link = pendulum()
    oil = vi.JointDamper("oil", joint="joint 1", damping=0.02)
    damped = vi.simulate(vi.Mechanism("damped", link.bodies, link.joints, forces=[oil]), 20.0, 0.01)
    found = vi.energy_trend(damped)
    assert found.interval[1] < 0
    assert found.change == pytest.approx(np.polyfit(damped.t, damped.energy, 1)[0] * 20, rel=0.02)
    assert abs(vi.energy_trend(damped, "energy_balance").slope) < 1e-3 * abs(found.slope)


def test_a_vector_is_asked_for_by_its_part():
    body = vi.Body.box("b", (0.1, 0.1, 0.1), 2.0)
    run = vi.simulate(vi.Mechanism("falls", [body], [vi.Free("f", "world", "b", point=(0, 0, 0))]), 1.0, 0.01)
    found = vi.energy_trend(run, ("linear_momentum", 2))
    assert (found.quantity, found.unit) == ("linear momentum z", "N s")
    assert found.slope == pytest.approx(-2 * G)


@pytest.mark.slow
@pytest.mark.parametrize("driven", ["loads", "lift", "reduced"])
def test_trends_of_large_runs_are_read_part_by_part(tmp_path, monkeypatch, driven):
    """No array of the bodies is ever read as a whole, and the numbers are the same to the bit."""
    path = tmp_path / "run.h5"
    monkeypatch.setattr(running, "LARGEST_BLOCK", 1 << 12)
    if driven == "loads":
        push = np.linspace(0, 1, 1001)[:, None] * [0.3, 0.0, 0.2]
        held = vi.simulate(pendulum(), 10.0, 0.01, force={"link 1": push}, output=path)
    elif driven == "lift":
        held = vi.simulate(lifted(), 10.0, 0.01, output=path)
    else:
        held = vi.redmax.simulate(lifted(), 3.0, 0.01, integrator="bdf2", output=path)
    monkeypatch.setattr(run_reader, "HELD", 0)
    monkeypatch.setattr(run_reader, "PART", 1 << 10)
    late = vi.load(path)
    assert len(list(late.parts())) > 2
    for name in ("energy", "energy_balance"):
        one, other = vi.energy_trend(held, name), vi.energy_trend(late, name)
        assert (one.slope, one.error) == (other.slope, other.error)
    assert not set(late.nodes._known) & {"position", "quat_wxyz", "velocity", "angular_velocity", "work", "load"}


# ---------------------------------------------------------------------------------------------------- crossings


def test_periods_of_a_pendulum_by_an_elliptic_integral(swing):
    times = vi.crossings(swing, "joint 1", HANGING, -1)
    assert len(times) == 9
    assert times[0] == pytest.approx(period(2.0) / 4, rel=1e-8)
    assert np.diff(times) == pytest.approx(period(2.0), rel=1e-8)
    back = vi.crossings(swing, "joint 1", HANGING, 1)
    assert back[:8] - times[:8] == pytest.approx(period(2.0) / 2, rel=1e-8)
    assert np.array_equal(vi.crossings(swing, ("joint 1", 0), HANGING), np.sort(np.concatenate([times, back])))


def test_a_function_of_the_state_crosses_where_the_coordinate_does(swing):
    times = vi.crossings(swing, lambda state: state.position[0, 0], 0.0)
    assert times == pytest.approx(vi.crossings(swing, "joint 1", HANGING), abs=1e-9)


def test_crossings_between_nodes_at_irregular_times():
    run = vi.redmax.simulate(pendulum(), 20.0, rtol=1e-11)
    assert np.ptp(np.diff(run.t)) > 0
    assert np.diff(vi.crossings(run, "joint 1", HANGING, 1)) == pytest.approx(period(2.0), rel=1e-6)


def test_a_value_at_a_node_is_found_once(swing):
    for node in (3, 40, 77):
        value = swing.coordinates["joint 1"][node]
        times = vi.crossings(swing, "joint 1", value)
        assert np.abs(times - swing.t[node]).min() < 1e-12
        assert np.diff(times).min() > 1e-3


def test_a_value_that_is_touched_at_a_node_is_found_once(swing):
    x = swing.position[40, 0, 0]
    times = vi.crossings(swing, lambda state: -((state.position[0, 0] - x) ** 2))
    assert times.tolist() == pytest.approx([swing.t[40]], abs=1e-12)


def test_an_angle_takes_a_value_in_every_turn():
    spinning = pendulum().state(rates={"joint 1": 9.0})
    run = vi.simulate(pendulum(), 5.0, 0.005, state=spinning, order=4)
    turned = run.coordinates["joint 1"]
    assert turned[-1] > 20
    assert len(vi.crossings(run, "joint 1", 0.5, 1)) == np.floor((turned[-1] - 0.5) / (2 * np.pi)) + 1
    lead = vi.Mechanism(
        "screw",
        [vi.Body.box("nut", (0.1, 0.1, 0.1), 1.0)],
        [vi.Helical("thread", "world", "nut", point=(0, 0, 0), axis=(0, 0, 1), lead=0.1)],
        gravity=(0, 0, 0),
        start={"rates": {"thread": 9.0}},
    )
    run = vi.simulate(lead, 3.0, 0.02, order=4)
    assert vi.crossings(run, "thread", 0.5) == pytest.approx([0.5 / 9.0], rel=1e-5)  # another turn is another place


def test_no_crossing_is_no_error_and_no_section(swing):
    assert vi.crossings(swing, "joint 1", 1.0).size == 0
    with pytest.raises(vi.ArgumentError, match=r"never takes 1, rising: it goes from -3.99"):
        vi.poincare_section(swing, "joint 1", 1.0)


@pytest.mark.filterwarnings("ignore::varint.SparseNodesWarning")
def test_crossings_between_nodes_that_are_too_far_apart_are_an_error(swing, chaos):
    fine = vi.crossings(swing, "joint 1", HANGING)
    apart = period(2.0) / (swing.t[1] - swing.t[0])  # nodes in a period
    assert vi.crossings(swing[:: int(apart / 16)], "joint 1", HANGING) == pytest.approx(fine, abs=0.01)
    with pytest.raises(
        vi.ArgumentError, match=r"crossings: the nodes around t = .*miss body 'link 1'.*smaller 'every'"
    ):
        vi.crossings(swing[:: int(apart / 5)], "joint 1", HANGING)
    spinning = vi.simulate(pendulum(), 2.0, 0.005, state=pendulum().state(rates={"joint 1": 20.0}))
    with pytest.raises(
        vi.ArgumentError, match=r"body 'link 1' turns by some .* no more than half a turn: record nodes"
    ):
        vi.crossings(spinning[::50], "joint 1", 0.5)
    every = round(1.0 / (chaos.t[1] - chaos.t[0]))
    with pytest.raises(vi.ArgumentError, match="crossings: "):
        vi.poincare_section(chaos[::every], "joint 1", HANGING)


# ----------------------------------------------------------------------------------------------------- sections


def test_section_of_a_double_pendulum_lies_on_the_surface_and_on_that_of_the_energy(chaos):
    section = vi.poincare_section(chaos, "joint 1", HANGING)
    off = (section.coordinates["joint 1"] - HANGING + np.pi) % (2 * np.pi) - np.pi
    assert len(section.t) > 10
    assert np.abs(off).max() < 1e-12
    assert (section.rates["joint 1"] > 0).all()
    # the energy in closed form, with absolute angles from hanging
    link = vi.mechanisms.double_pendulum().bodies[0]
    a, b = off, off + section.coordinates["joint 2"]
    da = section.rates["joint 1"]
    db = da + section.rates["joint 2"]
    own = link.inertia[1, 1]
    kinetic = 0.5 * (own + 0.25 + 1.0) * da**2 + 0.5 * (own + 0.25) * db**2 + 0.5 * np.cos(a - b) * da * db
    energy = kinetic - G * (1.5 * np.cos(a) + 0.5 * np.cos(b))
    assert energy == pytest.approx(-2 * G * np.cos(2.0), abs=4 * np.ptp(chaos.energy))
    assert section.shown.name == "joint 2"
    assert np.abs(section.shown.coordinate).max() <= np.pi


def test_the_other_coordinate_is_shown_where_it_is_asked_for(chaos):
    section = vi.poincare_section(chaos, "joint 2", direction=0, show="joint 2")
    assert section.shown.name == "joint 2"
    assert np.abs(section.shown.coordinate).max() < 1e-12
    assert {-1.0, 1.0} == set(np.sign(section.shown.rate))


# ------------------------------------------------------------------------------------------------------ spectra


def small_oscillations():
    """Frequencies, Hz, of a double pendulum about hanging, and their shapes in absolute angles, as columns."""
    link = vi.mechanisms.double_pendulum().bodies[0]
    own = inertia_about_the_hinge(link)
    mass = np.array([[own + 1.0, 0.5], [0.5, own]])
    squares, shapes = eigh(G * np.diag([1.5, 0.5]), mass)
    return np.sqrt(squares) / (2 * np.pi), shapes, mass


@pytest.fixture(scope="module")
def ripple():
    hanging = vi.mechanisms.double_pendulum(angle=0.0)
    return vi.simulate(hanging, 40.0, 0.01, order=4, state=hanging.state(rates={"joint 1": 1e-3}))


@pytest.mark.parametrize("segments", [1, 3])
def test_lines_are_the_small_oscillations_in_closed_form(ripple, segments):
    frequency, shapes, mass = small_oscillations()
    spectrum = vi.power_spectrum(ripple, segments=segments)
    peaks = spectrum.peaks(2)
    modal = shapes.T @ mass @ np.array([1e-3, 1e-3])  # both links start with the rate of the first joint
    for k in (0, 1):
        amplitude = modal[k] / (2 * np.pi * frequency[k]) * shapes[:, k]
        for joint, size in (("joint 1", amplitude[0]), ("joint 2", amplitude[1] - amplitude[0])):
            line = min((p for p in peaks if p.column == joint), key=lambda p, k=k: abs(p.frequency - frequency[k]))
            assert line.frequency == pytest.approx(frequency[k], rel=2e-4)
            assert line.amplitude == pytest.approx(abs(size), rel=2e-2)


def test_power_adds_up_to_the_variance(chaos):
    spectrum = vi.power_spectrum(chaos, "velocity", of="link 2", segments=8)
    assert spectrum.columns == ("link 2 vx", "link 2 vy", "link 2 vz")
    assert spectrum.units == ("m/s",) * 3
    total = np.trapezoid(spectrum.power, spectrum.frequency, axis=0)
    assert total[[0, 2]] == pytest.approx(chaos.velocity[:, 1, [0, 2]].var(axis=0), rel=0.15)


def test_nodes_that_are_not_equally_spaced_are_resampled(ripple, rng):
    frequency = small_oscillations()[0]
    uneven = ripple.at(np.sort(rng.uniform(0, 40, 3000)))
    spectrum = vi.power_spectrum(uneven, of="joint 1")
    assert spectrum.resampled
    assert spectrum.peaks(2)[0].frequency == pytest.approx(frequency[0], rel=2e-4)
    assert not vi.power_spectrum(ripple).resampled
    every = vi.simulate(pendulum(), 10.05, 0.01, every=10)  # the last node is nearer than the others
    assert not vi.power_spectrum(every).resampled


def test_spectrum_of_a_point(ripple):
    frequency = small_oscillations()[0]
    spectrum = vi.power_spectrum(ripple, ("link 2", (0, 0, -2)))
    assert spectrum.columns == ("point of link 2 x", "point of link 2 y", "point of link 2 z")
    assert spectrum.peaks(1)[0].frequency == pytest.approx(frequency[0], rel=2e-4)


# ---------------------------------------------------------------------------------------------- phase portraits


def test_phase_portrait_is_a_level_of_the_energy(swing):
    portrait = vi.phase_portrait(swing, "joint 1")
    link = swing.mechanism.bodies[0]
    kinetic = 0.5 * inertia_about_the_hinge(link) * portrait.rate**2
    energy = kinetic - G * 0.5 * np.cos(portrait.coordinate - HANGING)
    assert energy == pytest.approx(-G * 0.5 * np.cos(2.0), abs=1e-7)


def test_wrapped_angles_lie_in_one_turn(chaos):
    portrait = vi.phase_portrait(chaos, "joint 2", wrapped=True)
    counted = chaos.coordinates["joint 2"]
    assert np.abs(counted).max() > np.pi
    assert portrait.coordinate.min() >= -np.pi
    assert portrait.coordinate.max() < np.pi
    assert np.exp(1j * portrait.coordinate) == pytest.approx(np.exp(1j * counted), abs=1e-12)
    assert vi.phase_portrait(chaos, "joint 2").coordinate == pytest.approx(counted)


# ----------------------------------------------------------------------------------- what they all have in common


RESULTS = {
    "trend": lambda run: vi.energy_trend(run),
    "section": lambda run: vi.poincare_section(run, "joint 1", HANGING),
    "spectrum": lambda run: vi.power_spectrum(run),
    "phase": lambda run: vi.phase_portrait(run, "joint 2", wrapped=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_results_are_drawn_and_told_in_a_line(chaos, tmp_path, name):
    result = RESULTS[name](chaos)
    figure = result.plot(tmp_path / "a.png")
    (axes,) = figure.axes
    assert axes.get_xlabel().endswith(")")
    assert axes.get_ylabel().endswith(")")
    assert "2-link pendulum" in figure.get_suptitle()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert len(repr(result)) < 400
    assert "\n" not in repr(result)
    with pytest.raises(vi.ArgumentError, match=r"a\.jpg"):
        result.plot(tmp_path / "a.jpg")


MISTAKES = {
    "quantity": (lambda run: vi.energy_trend(run, "enrgy"), "did you mean 'energy'"),
    "vector": (lambda run: vi.energy_trend(run, "linear_momentum"), r"choose a part of it, \('linear_momentum', 0\)"),
    "part": (lambda run: vi.energy_trend(run, ("linear_momentum", 3)), "up to 2, got 3"),
    "no part": (lambda run: vi.energy_trend(run, ("energy", 0)), "leave out its part"),
    "few for a trend": (lambda run: vi.energy_trend(run[:7]), "needs 8 nodes or more, the trajectory has 7"),
    "no run": (lambda run: vi.energy_trend(run[0]), "trajectory must be a Trajectory"),
    "a file": (lambda run: vi.energy_trend("run.h5"), r"must be a Trajectory, got 'run.h5': vi.load reads a file"),
    "joint": (lambda run: vi.crossings(run, "joint"), "no joint 'joint', did you mean 'joint"),
    "number": (lambda run: vi.crossings(run, ("joint 1", 1)), "has no coordinate 1"),
    "direction": (lambda run: vi.crossings(run, "joint 1", direction=2), "direction must be one of -1, 0, 1, got 2"),
    "one node": (lambda run: vi.crossings(run[:1], "joint 1"), "lie between nodes"),
    "no number": (lambda run: vi.crossings(run, lambda state: "a"), "called as of"),
    "value": (lambda run: vi.crossings(run, "joint 1", np.nan), "value must be finite"),
    "show": (lambda run: vi.poincare_section(run, "joint 1", HANGING, show="joint"), "no joint 'joint'"),
    "what": (lambda run: vi.power_spectrum(run, "coordinate"), "did you mean 'coordinates'"),
    "of": (lambda run: vi.power_spectrum(run, of="joint"), "no joint 'joint'"),
    "forces": (lambda run: vi.power_spectrum(run, "force"), "nothing that is called 'force'"),
    "point": (lambda run: vi.power_spectrum(run, ("link 2",)), "got 1 parts"),
    "few for a spectrum": (lambda run: vi.power_spectrum(run, segments=700), "16 nodes in each segment"),
    "wrapped": (lambda run: vi.phase_portrait(run, "joint 1", wrapped=1), "wrapped must be True or False"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(chaos, name):
    study, words = MISTAKES[name]
    with pytest.raises(vi.ArgumentError, match=words):
        study(chaos)


def test_what_is_no_angle_is_not_wrapped():
    run = vi.simulate(lifted(), 0.1, 0.01)
    with pytest.raises(vi.ArgumentError, match="has no turns to leave out"):
        vi.phase_portrait(run, "shaft", wrapped=True)
    assert vi.phase_portrait(run, "shaft", wrapped=None).unit == "m"


def test_trend_takes_diagnostics():
    mechanism = vi.mechanisms.double_pendulum()
    fine = vi.simulate(mechanism, 20.0, 0.01)
    rare = vi.simulate(mechanism, 20.0, 0.01, every=1000, diagnostics_every=1)
    assert vi.energy_trend(rare).nodes == 2001
    assert vi.energy_trend(rare).slope == vi.energy_trend(fine).slope


@pytest.mark.slow
def test_errors_of_means_hold_for_short_runs_of_motions_that_linger():
    """Noise, and a slow change that a twentieth of it hides: batches of a few values look independent, and are not."""
    rng = np.random.default_rng(5)
    held = {fitted: 0, cautious_mean: 0}
    for _ in range(200):
        slow = recursive(np.sqrt(1 - 0.98**2), 0.98, rng.standard_normal(1360))[1000:]
        values = 1.5 + 0.15 * slow + rng.standard_normal(360)
        for estimate, arguments in ((fitted, (False,)), (cautious_mean, ())):
            low, high = estimate(np.arange(360.0), values, *arguments).interval
            held[estimate] += low < 1.5 < high
    assert held[fitted] < 180
    assert held[cautious_mean] >= 190
