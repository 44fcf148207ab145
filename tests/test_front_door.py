"""Every function that simulates takes a Problem and a method, to the bits of its keywords."""

import numpy as np
import pytest

import varint as vi
from varint.formulations import Stepped

DT = 0.01


def hanging():
    return vi.mechanisms.double_pendulum(angle=0.4)


def height(state):
    return float(state.position[-1, 2])


def multipliers(*args, **options):
    return vi.periodic_orbit(*args, **options).multipliers


def near_the_slower_mode(mechanism):
    return mechanism.state(coordinates={"joint 1": 0.3, "joint 2": 0.12}), 1 / vi.modes(mechanism).frequency[0]


def by_keywords_and_by_parts(study):
    """The numbers of a study by its keywords, and by a Problem and a method."""
    m, method = hanging(), vi.Variational(dt=DT, order=4)
    if study == "gradient":
        names = {"with_respect_to": ["gravity"]}
        return (
            vi.gradient(m, height, 0.1, DT, order=4, **names)["gravity"],
            vi.gradient(vi.Problem(m, 0.1), height, method, **names)["gravity"],
        )
    if study == "reduced gradient":
        names = {"with_respect_to": ["gravity"]}
        return (
            vi.redmax.gradient(m, height, 0.1, DT, **names)["gravity"],
            vi.gradient(vi.Problem(m, 0.1), height, vi.Reduced("bdf2", dt=DT), **names)["gravity"],
        )
    if study == "linearize":
        return vi.linearize(m, dt=DT, order=4).A, vi.linearize(vi.Problem(m, 1.0), method).A
    if study == "Linearizer":
        return vi.Linearizer(m, DT, order=4).at().A, vi.Linearizer(vi.Problem(m, 1.0), method).at().A
    if study == "periodic_orbit":
        guess, period = near_the_slower_mode(vi.mechanisms.double_pendulum(angle=0.0))
        return multipliers(m, guess, period, 0.05, order=4), multipliers(
            vi.Problem(m, period, guess), vi.Variational(dt=0.05, order=4)
        )
    if study == "lyapunov_exponent":
        return (
            vi.lyapunov_exponent(m, 0.4, DT, order=4, interval=0.02).rates,
            vi.lyapunov_exponent(vi.Problem(m, 0.4), method, interval=0.02).rates,
        )
    if study == "lyapunov_spectrum":
        return (
            vi.lyapunov_spectrum(m, 0.4, DT, order=4, interval=0.02).exponents,
            vi.lyapunov_spectrum(vi.Problem(m, 0.4), method, interval=0.02).exponents,
        )
    if study == "time_reversal":
        return (
            vi.time_reversal(m, 0.2, DT, order=4).difference.position,
            vi.time_reversal(vi.Problem(m, 0.2), method).difference.position,
        )
    if study == "choose_step":
        return vi.choose_step(m, 0.5, order=4).dt, vi.choose_step(vi.Problem(m, 0.5), vi.Variational(order=4)).dt
    return (
        vi.order_study(m, 0.04, (0.02, 0.01), order=4).series[0].error.position,
        vi.order_study(vi.Problem(m, 0.04), vi.Variational(order=4), (0.02, 0.01)).series[0].error.position,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "study",
    [
        "gradient", "reduced gradient", "linearize", "Linearizer", "periodic_orbit", "lyapunov_exponent",
        "lyapunov_spectrum", "time_reversal", "choose_step", "order_study",
    ],
)  # fmt: skip
def test_both_forms_have_the_same_bits(study):
    keywords, parts = by_keywords_and_by_parts(study)
    assert np.size(keywords)
    np.testing.assert_array_equal(keywords, parts)


def test_studies_run_reduced_coordinates():
    m = hanging()
    back = vi.time_reversal(vi.Problem(m, 0.1), vi.Reduced("dop853", dt=DT))
    assert back.distance.position < 1e-9 < back.way.position
    (series,) = vi.order_study(vi.Problem(m, 0.4), vi.Reduced("bdf2", dt=DT), (0.02, 0.01, 0.005)).series
    assert series.order.position == pytest.approx(2.0, abs=0.3)


def test_a_comparison_takes_methods_beside_a_problem():
    methods = [vi.Variational(order=4), vi.Reduced("bdf2", dt=0.02)]
    comparison = vi.compare(vi.Problem(hanging(), 0.04), methods, 0.02)
    assert [series.name for series in comparison.series] == ["VI order 4", "REDMAX bdf2"]


class Resting(Stepped):
    """Stays where it is."""

    formulation, called = "resting", "Resting"

    def stepper(self, problem):
        return lambda state, dt: state


STEP = vi.Variational(dt=DT)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: vi.gradient(p, height, STEP, order=4, with_respect_to=["gravity"]), "give 'order' to the Problem"),
        (lambda p: vi.gradient(p, height, Resting(dt=DT), with_respect_to=["gravity"]), "does not support method"),
        (lambda p: vi.gradient(p, height, vi.Reduced("radau", dt=DT), with_respect_to=["gravity"]), "integrator"),
        (lambda p: vi.linearize(p, vi.Reduced(dt=DT)), "does not support method 'REDMAX dop853': use varint.V"),
        (lambda p: vi.linearize(p, STEP, 0.1), "give 'dt' to the Problem"),
        (lambda p: vi.periodic_orbit(p), "periodic_orbit needs a method beside a Problem"),
        (lambda p: vi.periodic_orbit(p, vi.Variational(dt=DT, adaptive=True)), "does not support 'adaptive'"),
        (lambda p: vi.time_reversal(p, vi.Reduced()), "needs dt=, the step or the spacing of its nodes"),
        (lambda p: vi.time_reversal(p, STEP, vi.Recording()), "takes no Recording"),
        (lambda p: vi.lyapunov_exponent(p, vi.Variational(dt=DT, adaptive=True)), "does not support 'adaptive'"),
        (lambda p: vi.order_study(p, vi.Variational(), (0.1, 0.05), order=4), "give 'order' to the Problem"),
        (lambda p: vi.order_study(p, vi.Reduced(), (0.1, 0.05)), "chooses its steps"),
        (lambda p: vi.compare(p, 1.0), "method must be a Method"),
    ],
)
def test_what_a_study_cannot_do_is_refused(call, message):
    with pytest.raises(vi.ArgumentError, match=message):
        call(vi.Problem(hanging(), 0.1))


def test_loads_on_bodies_are_refused_by_name():
    pushed = vi.Problem(hanging(), 0.1, force={"link 1": (1.0, 0.0, 0.0)})
    with pytest.raises(vi.ArgumentError, match="time_reversal takes no loads on bodies"):
        vi.time_reversal(pushed, STEP)
