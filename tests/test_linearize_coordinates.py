"""Linear systems in the joints' own coordinates, off equilibrium and in motion, against differences of equations."""

import numpy as np
import pytest
from random_mechanisms import random_body, random_joint
from test_any_coordinate import TAKING

import varint as vi

PAIRS = [("Revolute", "Prismatic"), ("Spherical", "Universal"), ("Prismatic", "Revolute"), ("Planar", "Cylindrical")]
OTHERS = [(a, b) for a in TAKING for b in TAKING if (a, b) not in PAIRS]
DT = 5e-3


def carried(first, second):
    """A body on a joint of one kind, which carries another on a joint of the other kind, that is pushed."""
    rng = np.random.default_rng(5)
    bodies = [random_body(rng, name) for name in ("upper", "lower")]
    below = random_joint(rng, first, "first", "world", "upper", bodies[0].position + 0.3)
    joint = random_joint(rng, second, "second", "upper", "lower", bodies[1].position + 0.2)
    push = vi.PointForce("push", "lower", direction=(0.3, 0.1, 1.0), magnitude=2.0, point=bodies[1].position + 0.1)
    return vi.Mechanism("carried", bodies, [below, joint], forces=[push])


def start(mechanism, moving):
    """Equations, q and dq (nq,) off equilibrium."""
    rng, equations = np.random.default_rng(1), vi.EquationsOfMotion(mechanism)
    q, _ = equations.coordinates(mechanism.state())
    return equations, q + 0.3 * rng.standard_normal(q.size), moving * rng.standard_normal(q.size)


def columns(mechanism, system):
    """Number in the equations of each coordinate of the system."""
    places = {}
    for name, part in vi.redmax.coordinates(mechanism).items():
        numbers = np.arange(part.start, part.stop) if isinstance(part, slice) else np.atleast_1d(part)
        places |= {name if len(numbers) == 1 else f"{name}[{k}]": n for k, n in enumerate(numbers)}
    return np.array([places[name] for name in system.names])


def slope(function, x, k, h=2e-3):
    """Derivative by x[k], of sixth order."""
    unit = np.zeros(len(x))
    unit[k] = h
    ahead = [function(x + s * unit) - function(x - s * unit) for s in (1, 2, 3)]
    return (45 * ahead[0] - 9 * ahead[1] + ahead[2]) / (60 * h)


def check(first, second, moving):
    mechanism = carried(first, second)
    equations, q, qdot = start(mechanism, moving)
    system = vi.linearize(mechanism, equations.state(q, qdot))
    n, order = q.size, columns(mechanism, system)
    whole = np.concatenate([q, qdot])
    both = np.concatenate([order, n + order])

    def flow(x):
        return np.concatenate([x[n:], equations.acceleration(0.0, x[:n], x[n:])])

    A = np.array([slope(flow, whole, k)[both] for k in both]).T
    reach = 1e-6 if "SplineSurface" in (first, second) else 1e-7  # differences of both sides near a knot
    assert pytest.approx(A, abs=reach * max(1.0, np.abs(A).max())) == system.A
    assert system.offset == pytest.approx(flow(whole)[both], abs=1e-9 * max(1.0, np.abs(flow(whole)).max()))


@pytest.mark.parametrize("moving", [0.0, 1.0])
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_accelerations_of_joints_on_joints(first, second, moving):
    check(first, second, moving)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("moving", [0.0, 1.0])
@pytest.mark.parametrize(("first", "second"), OTHERS)
def test_accelerations_of_every_joint_on_every_other(first, second, moving):
    check(first, second, moving)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), PAIRS[:2])
def test_a_step_and_its_inputs(first, second):
    mechanism = carried(first, second)
    equations, q, qdot = start(mechanism, 1.0)
    system = vi.linearize(mechanism, equations.state(q, qdot), DT)
    order, whole, n = columns(mechanism, system), np.concatenate([q, qdot]), q.size
    both = np.concatenate([order, n + order])

    def step(x):
        end = vi.simulate(mechanism, DT, DT, state=equations.state(x[:n], x[n:]))[-1]
        return np.concatenate(equations.coordinates(end))

    A = np.array([slope(step, whole, k)[both] for k in both]).T
    assert pytest.approx(A, abs=1e-8 * np.abs(A).max()) == system.A
    assert system.offset == pytest.approx((step(whole) - whole)[both], abs=1e-11)


@pytest.mark.parametrize(("first", "second"), PAIRS[:2])
def test_states_are_those_of_the_coordinates_asked_for(first, second):
    mechanism = carried(first, second)
    equations, q, qdot = start(mechanism, 1.0)
    system = vi.linearize(mechanism, equations.state(q, qdot))
    order, n = columns(mechanism, system), q.size
    x = 0.2 * np.random.default_rng(2).standard_normal(2 * n)
    state = system.state_at(x)
    assert system.coordinates(state) == pytest.approx(x, abs=1e-12)
    reached = equations.coordinates(state)
    assert reached[0][order] == pytest.approx(q[order] + x[:n], abs=1e-11)
    assert reached[1][order] == pytest.approx(qdot[order] + x[n:], abs=1e-11)


def test_the_chart_agrees_at_rest():
    """At rest A is the same, off equilibrium it is not; the result says which coordinates it has."""
    mechanism = carried("Revolute", "Prismatic")
    equations, q, qdot = start(mechanism, 0.0)
    state = equations.state(q, qdot)
    joints, chart = vi.linearize(mechanism, state), vi.linearize(mechanism, state, chart=True)
    assert (joints.chart, chart.chart) == (False, True)
    assert "coordinates of joints" in repr(joints)
    assert "coordinates of the chart" in repr(chart)
    assert np.abs(joints.A - chart.A).max() > 0.1  # off equilibrium
    rest = vi.mechanisms.cart_pole()
    same = [vi.linearize(rest, chart=chart).A for chart in (False, True)]
    assert same[0] == pytest.approx(same[1], abs=1e-12)


@pytest.mark.slow
def test_second_derivatives_are_those_of_joints():
    mechanism = carried("Revolute", "Prismatic")
    equations, q, qdot = start(mechanism, 1.0)
    system = vi.linearize(mechanism, equations.state(q, qdot), DT)
    costate = np.random.default_rng(3).standard_normal(len(system.A))

    def gradient(x):
        return costate @ vi.linearize(mechanism, system.state_at(x), DT).A

    zero = np.zeros(len(system.A))
    xx = np.array([slope(gradient, zero, k, 1e-2) for k in range(len(zero))])
    assert system.second_derivatives(costate).xx == pytest.approx(xx, abs=1e-6 * np.abs(xx).max())
