"""Studies of a mechanism by several runs: Lyapunov exponents, orders of accuracy, time reversal."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import varint as vi
from varint.mathematics.batches import fitted
from varint.methods.variational.schemes import SCHEMES
from varint.studies.clock import Clock, by_clock
from varint.studies.lyapunov import _Neighbours
from varint.studies.order_study import straight

G = 9.81
QUICK = {"interval": 0.1, "order": 4}


def about_its_hinge(body, length):
    """kg m^2"""
    return body.inertia[1, 1] + body.mass * length**2 / 4


def inverted_double_pendulum():
    """1/s: the larger rate at which it falls, its links upright, in absolute angles."""
    link = vi.mechanisms.double_pendulum().bodies[0]
    own = about_its_hinge(link, 1.0)
    mass = np.array([[own + 1.0, 0.5], [0.5, own]])
    return np.sqrt(np.linalg.eigvals(np.linalg.solve(mass, G * np.diag([1.5, 0.5]))).max())


def upright_parallelogram():
    """1/s: two upright cranks that carry a coupler."""
    mech = vi.mechanisms.four_bar("change-point", angle=np.pi / 2, rate=0.0)
    crank, coupler = mech.body("crank"), mech.body("coupler")
    inertia = 2 * about_its_hinge(crank, 0.4) + coupler.mass * 0.4**2
    return np.sqrt((crank.mass + coupler.mass) * G * 0.4 / inertia)


UNSTABLE = {
    "tree": (lambda: vi.mechanisms.double_pendulum(angle=np.pi), inverted_double_pendulum, 4.0),
    "loop": (lambda: vi.mechanisms.four_bar("change-point", angle=np.pi / 2, rate=0.0), upright_parallelogram, 4.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", UNSTABLE)
def test_exponent_of_an_unstable_equilibrium_in_closed_form(name):
    build, rate, duration = UNSTABLE[name]
    found = vi.lyapunov_exponent(build(), duration, 0.01, **QUICK)
    assert found.exponent == pytest.approx(rate(), rel=5e-3)
    assert found.rates[-1] == pytest.approx(rate(), rel=1e-3)
    assert len(found.t) == len(found.rates) == len(found.convergence) == round(0.9 * duration / 0.1)
    assert found.convergence[-1] == pytest.approx(found.exponent, rel=1e-9)


@pytest.mark.slow
def test_neighbours_start_at_the_time_of_the_run():
    """A torque along the angle that sets in after two seconds: nothing grows before, at a known rate after."""
    body = vi.Body.box("bar", (0.1, 0.1, 1.0), 1.0, position=(0, 0, -0.5))
    hinge = vi.Revolute("hinge", "world", "bar", point=(0, 0, 0), axis=(0, 1, 0))

    def push(t, state):
        return 4.0 * (t > 2.0 - 1e-9) * 2 * np.arctan2(state.quat_wxyz[0, 2], state.quat_wxyz[0, 0])

    motor = vi.Motor("push", joint="hinge", effort=push)
    mech = vi.Mechanism("pushed", [body], [hinge], forces=[motor], gravity=(0, 0, 0))
    found = vi.lyapunov_exponent(mech, 4.0, 0.005, interval=0.1)
    assert np.abs(found.rates[(found.t > 1.5) & (found.t < 2.05)]).max() < 1.0
    assert found.rates[-1] == pytest.approx(np.sqrt(4.0 / about_its_hinge(body, 1.0)), rel=2e-2)


@pytest.mark.slow
def test_motions_of_the_drives_are_shared_by_neighbours():
    """A prescribed crank leaves a four-bar no freedom to part in; with an arm on its coupler only that one parts."""
    mech = vi.mechanisms.four_bar(rate=0.0)
    drive = vi.PrescribedMotion("drive", joint="crank pivot", position=lambda t: 0.1 * np.sin(3 * t))
    driven = vi.Mechanism("driven", mech.bodies, mech.joints, forces=[drive])
    with pytest.raises(vi.ArgumentError, match="mechanism 'driven' cannot move from its state"):
        vi.lyapunov_exponent(driven, 2.0, 0.01, interval=0.1)
    pin = mech.body("coupler").position
    arm = vi.Body.box("arm", (0.1, 0.1, 0.5), 1.0, position=pin + [0, 0, 0.25])
    hinge = vi.Revolute("arm pin", "coupler", "arm", point=pin, axis=(0, -1, 0))
    carrying = vi.Mechanism("carrying", [*mech.bodies, arm], [*mech.joints, hinge], forces=[drive])
    run = vi.simulate(carrying, 1.0, 0.01)
    neighbours = _Neighbours(carrying, 0.1, 1e-6)
    here = run[50]
    near = neighbours.near(here, neighbours.first(here))
    for of_state in (carrying.coordinates, carrying.rates):
        one, other = of_state(here), of_state(near)
        assert one["crank pivot"] == pytest.approx(other["crank pivot"], abs=1e-11)
        assert abs(one["arm pin"] - other["arm pin"]) > 1e-8
    assert np.linalg.norm(neighbours.apart(here, near)) == pytest.approx(1e-6, rel=1e-3)
    assert vi.lyapunov_exponent(carrying, 2.0, 0.01, interval=0.1).exponent > 0.3


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", ["pendulum", "top", "linkage"])
def test_exponents_of_regular_motions_fall_to_zero(name):
    mech = {
        "pendulum": lambda: vi.mechanisms.n_pendulum(1, angle=1.0),
        "top": lambda: vi.mechanisms.spinning_top(),
        "linkage": lambda: vi.mechanisms.four_bar(),
    }[name]()
    short, long = (vi.lyapunov_exponent(mech, duration, 0.01, interval=0.5).exponent for duration in (30.0, 240.0))
    assert abs(long) < 0.05
    assert abs(long) < 0.5 * abs(short)


def equations(t, y):
    """Of a double pendulum, from absolute angles and their rates: written by hand, and of no code of the package."""
    a, b, da, db = y
    own, cos, sin = 1.01 / 12 + 0.25, np.cos(a - b), np.sin(a - b)
    mass = np.array([[own + 1.0, 0.5 * cos], [0.5 * cos, own]])
    right = [-0.5 * sin * db**2 - 1.5 * G * np.sin(a), 0.5 * sin * da**2 - 0.5 * G * np.sin(b)]
    return [da, db, *np.linalg.solve(mass, right)]


def exponent_by_hand(start, duration, interval):
    """Two neighbours, the second set back: by scipy, in angles and rates."""
    y, rng, rates = np.array(start), np.random.default_rng(5), []
    away = rng.standard_normal(4)
    for _ in range(round(duration / interval)):
        away *= 1e-7 / np.linalg.norm(away)
        ends = [
            solve_ivp(equations, (0, interval), at, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
            for at in (y, y + away)
        ]
        y, away = ends[0], ends[1] - ends[0]
        rates.append(np.log(np.linalg.norm(away) / 1e-7) / interval)
    used = np.array(rates[len(rates) // 10 :])
    return fitted(np.arange(len(used)), used, line=False)


@pytest.mark.long
@pytest.mark.slow
def test_exponent_of_a_chaotic_double_pendulum_agrees_with_one_by_hand():
    hand = exponent_by_hand([2.5, 2.5, 0.0, 0.0], 400.0, 0.25)
    found = vi.lyapunov_exponent(vi.mechanisms.double_pendulum(angle=2.5), 400.0, 0.005, interval=0.25, order=4)
    assert found.exponent == pytest.approx(hand.value, abs=3 * np.hypot(found.error, hand.error))
    assert found.exponent > 8 * found.error
    assert found.error < 0.15


# -------------------------------------------------------------------------------------------------------- orders


@pytest.mark.slow
@pytest.mark.parametrize("reference", ["reduced", "finest"])
def test_orders_of_a_four_bar(reference):
    steps = 0.2 / np.array([12, 24, 48])
    found = vi.order_study(vi.mechanisms.four_bar(), 0.2, steps, order=(2, 4, 6), reference=reference)
    for series, order in zip(found.series, (2, 4, 6), strict=True):
        assert list(series.order) == pytest.approx([order] * 4, abs=0.25)
        assert series.fitted.position.sum() >= 2
        slopes = found.local_order(series, "velocity")
        assert np.isnan(slopes[0])
        assert slopes[1] == pytest.approx(order, abs=0.15)


def test_neither_round_off_nor_coarse_steps_are_fitted():
    dt = 0.1 / 2 ** np.arange(9)
    error = 3 * dt**4
    error[:2] = [0.3, 0.25]  # too coarse
    error[6:] = [2e-9, 1.9e-9, 2.1e-9]  # nothing gained
    used = straight(dt, error, np.ones(9, dtype=bool))
    assert used.tolist() == [False, False, True, True, True, True, False, False, False]
    clear = np.array([True] * 4 + [False] * 5)
    assert straight(dt, 3 * dt**4, clear).tolist() == clear.tolist()
    assert not straight(dt, error, np.zeros(9, dtype=bool)).any()
    noisy = np.array([1e-3, 1e-9, 1e-5])
    assert not straight(dt[:3], noisy, np.ones(3, dtype=bool))[0]


def test_steps_below_the_error_of_the_reference_have_no_order():
    spin = vi.Mechanism(
        "wheel",
        [vi.Body.cylinder("wheel", 0.3, 0.05, 1.0)],
        [vi.Revolute("axle", "world", "wheel", point=(0, 0, 0), axis=(0, 0, 1))],
    )
    found = vi.order_study(spin, 0.2, (0.02, 0.01))  # at rest: no error at all
    assert not any(used.any() for used in found.series[0].fitted)
    assert np.isnan(found.series[0].order.position)
    assert "no order, all below the reference's error" in repr(found)
    assert "nan" not in repr(found)


# ----------------------------------------------------------------------------------------------------- reversal


@pytest.mark.parametrize("scheme", [name for name, scheme in SCHEMES.items() if not scheme.staggered])
def test_symmetric_schemes_return_to_round_off(scheme):
    found = vi.time_reversal(vi.mechanisms.four_bar(), 1.0, 0.01, scheme=scheme)
    for off, way in zip(found.distance, found.way, strict=True):
        assert off < 1e-10 * way
        assert way > 0.5
    assert found.scheme == scheme
    assert len(found.t) == len(found.difference.position) == 101


def test_a_scheme_that_is_not_symmetric_does_not_return():
    (staggered,) = (name for name, scheme in SCHEMES.items() if scheme.staggered)
    assert vi.time_reversal(vi.mechanisms.four_bar(), 1.0, 0.01, scheme=staggered).distance.position > 1e-3


def slider(*forces):
    body = vi.Body.box("sled", (0.1, 0.1, 0.1), 2.0)
    rail = vi.Prismatic("rail", "world", "sled", point=(0, 0, 0), axis=(1, 0, 0))
    return vi.Mechanism("slider", [body], [rail], forces=forces, start={"rates": {"rail": 3.0}})


def test_a_damper_comes_back_short_by_a_closed_form():
    """x = (m / c) v (1 - e) forward, e = exp(-c T / m), and back from the speed that is left."""
    damped = slider(vi.JointDamper("oil", joint="rail", damping=1.5))
    found = vi.time_reversal(damped, 2.0, 0.01, order=4)
    left = np.exp(-1.5 * 2.0 / 2.0)
    assert found.distance.position == pytest.approx(2.0 / 1.5 * 3.0 * (1 - left) ** 2, rel=1e-8)
    assert found.distance.velocity == pytest.approx(3.0 * (1 - left**2), rel=1e-8)
    assert found.way.position == pytest.approx(2.0 / 1.5 * 3.0 * (1 - left), rel=1e-8)
    assert found.way.velocity == pytest.approx(3.0)


@pytest.mark.filterwarnings("ignore::varint.ReplacedRateWarning")  # the slider starts with another rate
@pytest.mark.parametrize("motion", [{"rate": 0.7}, {"position": lambda t: 0.5 * t + 0.2 * np.sin(3 * t)}])
def test_prescribed_motions_are_run_backward(motion):
    found = vi.time_reversal(slider(vi.PrescribedMotion("winch", joint="rail", **motion)), 1.3, 0.01)
    assert found.distance.position < 1e-12
    assert found.way.position > 0.5


@pytest.mark.parametrize("effort", [lambda t, state: np.sin(5 * t), lambda t: np.sin(5 * t)])
def test_the_clock_of_inputs_is_set_anew(effort):
    pushed = slider(vi.Motor("push", joint="rail", effort=effort))
    clock = Clock()
    own = by_clock(pushed, clock)
    assert own.forces[0].of_time == pushed.forces[0].of_time
    whole = vi.simulate(pushed, 1.0, 0.01)
    clock.start = 0.4
    rest = vi.simulate(own, 0.6, 0.01, state=whole[40])
    assert rest.position[-1] == pytest.approx(whole.position[-1], abs=1e-13)
    clock.start, clock.direction = 1.0, -1.0
    assert clock(0.25) == 0.75
    still = slider()
    assert by_clock(still, clock) is still


# ----------------------------------------------------------------------------------- what they all have in common

RESULTS = {
    "lyapunov": lambda: vi.lyapunov_exponent(vi.mechanisms.n_pendulum(1), 1.6, 0.02, interval=0.1),
    "order": lambda: vi.order_study(vi.mechanisms.n_pendulum(1), 0.2, (0.02, 0.01)),
    "reversal": lambda: vi.time_reversal(vi.mechanisms.n_pendulum(1), 0.2, 0.02),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_results_are_drawn_and_told_in_a_line(tmp_path, name):
    result = RESULTS[name]()
    figure = result.plot(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")
    assert "pendulum" in figure.get_suptitle()
    (axes,) = figure.axes
    assert "(s)" in axes.get_xlabel()
    assert len(repr(result)) < 400
    assert "\n" not in repr(result)


WITH_HISTORY = vi.FirstOrderActuator("slow", joint="rail", gain=1.0, time_constant=0.1, command=1.0)
MISTAKES = {
    "few intervals": (lambda m: vi.lyapunov_exponent(m, 1.0, 0.01, interval=0.1), "16 intervals, 1 s are 10 of 0.1 s"),
    "interval": (lambda m: vi.lyapunov_exponent(m, 1.0, 0.01, interval=-1), "interval must be positive"),
    "separation": (lambda m: vi.lyapunov_exponent(m, 2.0, 0.01, separation=0), "separation must be positive"),
    "far": (
        lambda m: vi.lyapunov_exponent(vi.mechanisms.double_pendulum(angle=np.pi), 80.0, 0.01, interval=5.0),
        "too far for a neighbour: give an interval shorter than 5 s",
    ),
    "history": (lambda m: vi.lyapunov_exponent(slider(WITH_HISTORY), 2.0, 0.01), "law with an internal variable"),
    "history backward": (lambda m: vi.time_reversal(slider(WITH_HISTORY), 1.0, 0.01), "law with an internal variable"),
    "mechanism": (lambda m: vi.time_reversal(vi.State, 1.0, 0.01), "mechanism must be a Mechanism"),
    "order": (lambda m: vi.order_study(m, 0.2, order=3), "order must be one of"),
    "steps": (lambda m: vi.order_study(m, 0.2, (0.01, 0.02)), "dt must fall"),
    "reference": (lambda m: vi.order_study(m, 0.2, (0.02,), reference="best"), "reference must be one of"),
    "kind": (lambda m: RESULTS["order"]().local_order(RESULTS["order"]().series[0], "speed"), "kind must be one of"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    study, words = MISTAKES[name]
    with pytest.raises(vi.ArgumentError, match=words):
        study(vi.mechanisms.n_pendulum(1))
