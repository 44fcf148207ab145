"""Second derivatives of a step: against trep's pendulum, the discrete equations by hand, and linear systems nearby."""

import dataclasses

import force_samples
import numpy as np
import pytest
from force_samples import with_forces
from holonomic import HOLONOMIC
from random_mechanisms import random_closed, random_velocity_state
from test_linearize import SAMPLES, driven_four_bar, pendulum, stepped_pendulum

import varint as vi

pytestmark = pytest.mark.slow  # they compile functions that few others need

DT = 5e-3
ENOUGH = {"free_body": 2e-6}  # of which smaller differences of gradients do not help
WEIGHT = 9.8  # N m, of the pendulum
TREP = 0.2, 0.5, 0.8, 0.1  # its angle, momentum, torque and step


def held_chain():
    """Four links: the first is driven, and a gear couples the next two."""
    gear = vi.Gear("gear", joint_a="joint 2", joint_b="joint 3", radius_a=2.0, radius_b=1.0)
    drive = vi.PrescribedMotion("drive", joint="joint 1", position=lambda t: 0.3 + 0.4 * t + t**2)
    return with_forces(vi.mechanisms.n_pendulum(4), gear, drive)


def moving(rng, name):
    """A mechanism of the catalogue or of here, and a state of it that moves."""
    if name == "held_chain":
        mechanism = held_chain()
        state = mechanism.state(
            coordinates={"joint 1": 0.3, "joint 2": 0.2, "joint 3": -0.4, "joint 4": 0.1},
            rates={"joint 1": 0.4, "joint 2": 0.5, "joint 3": -1.0, "joint 4": -0.3},
        )
        return mechanism, mechanism.assemble(state, coordinates={"joint 1": 0.3}, rates={"joint 1": 0.4})
    mechanism = driven_four_bar() if name == "driven_four_bar" else getattr(vi.mechanisms, name)()
    return mechanism, random_velocity_state(rng, mechanism, 0.3)


NAMES = ["double_pendulum", "four_bar", "bennett", "driven_four_bar", "held_chain", "free_body"]


# ------------------------------------------------------------------------------------------------------- the chart


@pytest.mark.parametrize("name", [*NAMES, "n_four_bar", "governor"])
@pytest.mark.parametrize("size", [1e-2, 0.3])
def test_states_have_the_coordinates_asked_for(rng, name, size):
    mechanism, state = moving(rng, name)
    system = vi.linearize(mechanism, state)
    x = size * rng.uniform(-1.0, 1.0, len(system.A))
    found = system.state_at(x)
    assert system.coordinates(found) == pytest.approx(x, abs=1e-13)
    assert vi.simulate(mechanism, 1e-4, 1e-4, state=found).drift[0] < 1e-13
    again = mechanism.assemble(found)
    for field in dataclasses.fields(vi.State)[:4]:
        assert getattr(again, field.name) == pytest.approx(getattr(found, field.name), abs=1e-12)
    if name == "held_chain":
        there = mechanism.coordinates(found), mechanism.rates(found)
        for values, first, total in zip(there, (0.3, 0.4), (2 * 0.2 - 0.4, 2 * 0.5 - 1.0), strict=True):
            assert values["joint 1"] == pytest.approx(first, abs=1e-12)
            assert 2 * values["joint 2"] + values["joint 3"] == pytest.approx(total, abs=1e-12)


def test_coordinates_of_a_tree_are_those_of_its_joints(rng):
    mechanism, state = moving(rng, "double_pendulum")
    system, x = vi.linearize(mechanism, state, DT), np.array([0.4, -0.9, 0.7, -0.2])
    here, rates = mechanism.coordinates(state), mechanism.rates(state)
    exact = mechanism.state(
        coordinates={joint: here[joint] + x[k] for k, joint in enumerate(system.names)},
        rates={joint: rates[joint] + x[2 + k] for k, joint in enumerate(system.names)},
    )
    found = system.state_at(x)
    for field in dataclasses.fields(vi.State)[:4]:
        assert getattr(found, field.name) == pytest.approx(getattr(exact, field.name), abs=1e-13)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "held_chain"])  # whose drive moves on
def test_a_step_ends_at_its_offset(rng, name):
    mechanism, state = moving(rng, name)
    step = vi.linearize(mechanism, state, 0.02)
    end = vi.simulate(mechanism, 0.02, 0.02, state=step.state, tol=1e-13)[-1]
    found = step.state_at(step.offset)
    for field in dataclasses.fields(vi.State)[:4]:
        assert getattr(found, field.name) == pytest.approx(getattr(end, field.name), abs=1e-11)


def test_states_that_there_are_none_of():
    """Out of reach of a loop, and half a turn away, where rotation vectors begin anew."""
    for name, x in (("peaucellier", 2.0), ("four_bar", 3.3)):
        system = vi.linearize(getattr(vi.mechanisms, name)())
        with pytest.raises(vi.StateError, match="no state with closed joints was reached"):
            system.state_at([x, 0.0])
    with pytest.raises(vi.ArgumentError, match=r"x must be an array of numbers of shape \(2,\), got shape \(1,\)"):
        system.state_at([0.1])


# -------------------------------------------------------------------------------------------------- by hand


def second_of(step, *point):
    """(3, 3, 2) second derivatives of a step by (q, p, u): complex steps of its first derivatives."""
    found = []
    for k in range(3):
        moved = np.array(point[:3], dtype=complex)
        moved[k] += 1e-20j
        found.append(step(*moved, *point[3:])[1].imag.T / 1e-20)
    return np.array(found)


def trep_pendulum(q, p, u, h):
    """trep's step, the midpoint rule in the angle, and its derivatives by (q, p, u).

    The whole impulse of the torque acts at the start, so that p is the momentum before it: f- = h u, f+ = 0.
    """
    end = q + h * p
    for _ in range(50):
        middle = 0.5 * (q + end)
        residual = (end - q) / h + 0.5 * h * WEIGHT * np.sin(middle) - h * u - p
        end = end - residual / (1 / h + 0.25 * h * WEIGHT * np.cos(middle))
    bend = 0.25 * h * WEIGHT * np.cos(0.5 * (q + end))
    end_by = np.array([1 / h - bend, 1.0, h]) / (1 / h + bend)
    momentum_by = (end_by - [1.0, 0.0, 0.0]) / h - bend * (end_by + [1.0, 0.0, 0.0])
    return np.array([end, (end - q) / h - 0.5 * h * WEIGHT * np.sin(0.5 * (q + end))]), np.array([end_by, momentum_by])


def trep_second(q, p, u, h):
    """fdxdx, fdxdu and fdudu of that as (3, 3, 2) by (q, p, u): its two equations differentiated twice."""
    (end, _), (end_by, _) = trep_pendulum(q, p, u, h)
    middle, middle_by = 0.5 * (q + end), 0.5 * (end_by + [1.0, 0.0, 0.0])
    both = 0.5 * h * WEIGHT * np.sin(middle) * np.outer(middle_by, middle_by)
    bend = 0.25 * h * WEIGHT * np.cos(middle)
    bent = both / (1 / h + bend)
    return np.stack([bent, (1 / h - bend) * bent + both], axis=2)


def contracted(system, costate):
    """(3, 3) of `second_derivatives` by (q, p, u)."""
    found = system.second_derivatives(costate)
    return np.block([[found.xx, found.xu], [found.xu.T, found.uu]])


def trep_system(h, mechanism=None):
    q, p, u, _ = TREP
    mechanism = pendulum(u) if mechanism is None else mechanism
    return vi.linearize(mechanism, mechanism.state(coordinates={"pin": q}, rates={"pin": p}), h)


def test_treps_second_derivatives_by_two_ways():
    assert trep_second(*TREP) == pytest.approx(second_of(trep_pendulum, *TREP), abs=1e-13)


@pytest.mark.parametrize(
    ("costate", "orders"),
    [((1.0, 0.0), [[3, 3, 4], [3, 3, 4], [4, 4, 5]]), ((0.0, 1.0), [[3, 3, 3], [3, 3, 5], [3, 5, 5]])],
)
def test_the_pendulum_of_treps_check(costate, orders):
    """Its fdxdx, fdxdu and fdudu in our discretisation; the orders in h, by q, p and u, of the gaps to trep's own."""
    gaps = []
    for h in TREP[3] * 0.5 ** np.arange(5):
        exact = second_of(stepped_pendulum, *TREP[:3], h) @ costate
        assert contracted(trep_system(h), costate) == pytest.approx(exact, abs=1e-10 * np.abs(exact).max() + 1e-14)
        gaps.append(np.abs(exact - trep_second(*TREP[:3], h) @ costate))
    assert np.log2(gaps[-2] / gaps[-1]) == pytest.approx(np.array(orders, dtype=float), abs=0.25)


def motor_pendulum(q, p, u, h):
    """`stepped_pendulum` with the effort 2 tanh((u - w) / 0.4) at the rate w = 2 sin(turn / 2) / h of the step."""
    turn = h * p
    for _ in range(50):
        effort = 2.0 * np.tanh((u - 2.0 * np.sin(0.5 * turn) / h) / 0.4)
        slope = 5.0 * (1.0 - 0.25 * effort**2)  # by u - w
        residual = np.sin(turn) / h - p + 0.5 * h * WEIGHT * np.sin(q) - 0.5 * h * effort
        by_turn = np.cos(turn) / h + 0.5 * slope * np.cos(0.5 * turn)
        turn = turn - residual / by_turn
    turn_by = np.array([-0.5 * h * WEIGHT * np.cos(q), 1.0, 0.5 * h * slope]) / by_turn
    end, end_by = q + turn, turn_by + [1.0, 0.0, 0.0]
    effort_by = slope * (np.array([0.0, 0.0, 1.0]) - np.cos(0.5 * turn) * turn_by / h)
    momentum = np.sin(turn) / h - 0.5 * h * WEIGHT * np.sin(end) + 0.5 * h * effort
    momentum_by = np.cos(turn) / h * turn_by - 0.5 * h * WEIGHT * np.cos(end) * end_by + 0.5 * h * effort_by
    return np.array([end, momentum]), np.array([end_by, momentum_by])


@pytest.mark.parametrize("h", [0.1, 0.01, 1e-3])
def test_a_motor_whose_effort_bends(h):
    motor = vi.VelocityMotor("motor", joint="pin", speed=TREP[2], max_effort=2.0, smoothing=0.4)
    system, costate = trep_system(h, with_forces(pendulum(), motor)), np.array([0.7, -1.3])
    exact = second_of(motor_pendulum, *TREP[:3], h) @ costate
    assert np.hstack([system.A, system.B]) == pytest.approx(motor_pendulum(*TREP[:3], h)[1], abs=1e-10)
    assert np.abs(exact[2, 2]) > 0.1 * np.abs(exact).max()
    assert contracted(system, costate) == pytest.approx(exact, abs=1e-8 * np.abs(exact).max())


# ----------------------------------------------------------------------------------- differences of linear systems


def nearby(system, mechanism, x, inputs, order):
    """(2 n, 2 n + m): A and B of the step from the state at x, in the coordinates of ``system``, inputs changed."""
    forces = []
    for force in mechanism.forces:
        if force.name in system.inputs:
            change = inputs[system.inputs.index(force.name)]
            field = force.command_name
            force = dataclasses.replace(force, **{field: getattr(force, field) + change})
        forces.append(force)
    changed = with_forces(mechanism, *forces)
    other = vi.linearize(changed, system.state_at(x), system.dt, order=order)
    read = system._about.read_changes
    end = vi.simulate(changed, system.dt, system.dt, state=other.state, order=order, tol=1e-13)[-1]
    both, n2 = read(end, other._linearizer._changes(other.state, other.basis)), len(other.basis)
    return np.hstack([both[:, :n2] @ np.linalg.inv(read(other.state, other.basis)), both[:, n2:]])


def check_against_linear_systems(mechanism, state, order, rng, to):
    system = vi.linearize(mechanism, state, DT, order=order)
    n2, m = system.B.shape
    costate, steps = rng.standard_normal(n2), np.repeat([2e-3, 2e-2], [n2 // 2, n2 // 2 + m])
    exact = np.zeros((n2 + m, n2 + m))
    for k, (h, unit) in enumerate(zip(steps, np.eye(n2 + m), strict=True)):
        at = [costate @ nearby(system, mechanism, *np.split(t * unit, [n2]), order) for t in (h, -h, h / 2, -h / 2)]
        exact[k] = (8.0 * (at[2] - at[3]) - (at[0] - at[1])) / (6.0 * h)
    found = system.second_derivatives(costate)
    least = to * np.abs(exact).max()
    assert np.block([[found.xx, found.xu], [found.xu.T, found.uu]]) == pytest.approx(exact, abs=least)
    for k, unit in enumerate(np.eye(n2 + m)):  # of a fixed chart, so symmetric without being made so
        by_x, by_u = system.hessian_product(costate, *np.split(unit, [n2]))
        assert np.concatenate([by_x, by_u]) == pytest.approx(exact[:, k], abs=least)
    dx, du = rng.standard_normal(n2), rng.standard_normal(m)
    by_x, by_u = system.hessian_product(costate, dx, du)
    size = np.abs(found.xx @ dx).max()
    assert by_x == pytest.approx(found.xx @ dx + found.xu @ du, abs=max(1e-9, 0.5 * to) * size)
    assert by_u == pytest.approx(found.xu.T @ dx + found.uu @ du, abs=max(1e-9, 0.5 * to) * size)


@pytest.mark.many
@pytest.mark.parametrize("name", NAMES)
def test_differences_of_linear_systems(rng, name):
    check_against_linear_systems(*moving(rng, name), 2, rng, ENOUGH.get(name, 2e-9))


@pytest.mark.many
@pytest.mark.parametrize("name", NAMES)
def test_steps_of_fourth_order(rng, name):
    check_against_linear_systems(*moving(rng, name), 4, rng, ENOUGH.get(name, 5e-9))


def check_symmetry(mechanism, state, dt, rng):
    """Each product by itself, not made symmetric: the chart and the adjoint are right to second order."""
    system = vi.linearize(mechanism, state, dt)
    n2, m = system.B.shape
    costate, units = rng.standard_normal(n2), np.eye(n2 + m)
    products = (system.hessian_product(costate, *np.split(unit, [n2])) for unit in units)
    found = np.array([np.concatenate(product) for product in products])
    assert found == pytest.approx(found.T, abs=2e-8 * np.abs(found).max())


@pytest.mark.many
@pytest.mark.parametrize("name", [n for n in HOLONOMIC if n not in ("roller_coaster", "escapement")])
def test_the_catalogue_is_symmetric(rng, name):
    check_symmetry(*moving(rng, name), 0.01, rng)


@pytest.mark.many
@pytest.mark.parametrize("name", SAMPLES)
def test_every_force_is_symmetric(rng, name):
    forces = force_samples.SAMPLES[name]
    mechanism = force_samples.sample_mechanism(np.random.default_rng(1), forces)
    check_symmetry(mechanism, random_velocity_state(rng, mechanism, 0.3), DT, rng)


@pytest.mark.many
@pytest.mark.parametrize("seed", range(12))
def test_random_loops(seed):
    rng = np.random.default_rng(seed)
    mechanism = random_closed(rng, int(rng.integers(4, 7)), 1)
    state = random_velocity_state(rng, mechanism, 0.3)
    check_symmetry(mechanism, state, DT, rng)
    system = vi.linearize(mechanism, state)
    x = 0.01 * rng.uniform(-1.0, 1.0, len(system.A))
    assert system.coordinates(system.state_at(x)) == pytest.approx(x, abs=1e-13)


# ------------------------------------------------------------------------------------------------ what is held


def test_feedback_is_held(rng):
    """An input that is a function of the state has the same second derivatives as the number that it gives there."""
    mechanism = vi.mechanisms.cart_pole()
    state = mechanism.state(coordinates={"pivot": 2.0, "track": 0.3}, rates={"pivot": -1.0})

    def with_effort(effort):
        return with_forces(mechanism, *(dataclasses.replace(force, effort=effort) for force in mechanism.forces))

    fed = with_effort(lambda t, s: 40.0 * float(s.position[0, 0]))
    value = 40.0 * float(state.position[0, 0])
    costate = rng.standard_normal(4)
    found, exact = (contracted(vi.linearize(each, state, 0.05), costate) for each in (fed, with_effort(value)))
    assert abs(value) > 1.0
    assert found == pytest.approx(exact, abs=1e-11 * np.abs(exact).max())


def test_an_angle_that_passes_half_a_turn():
    """A spring at an angle of pi: it goes on counting the turns on both sides of it."""
    spring = vi.TorsionSpring("spring", joint="pin", stiffness=3.0, rest_angle=0.0)
    mechanism = with_forces(pendulum(), spring)
    ends = [
        contracted(vi.linearize(mechanism, mechanism.state(coordinates={"pin": angle}), 0.1), np.ones(2))
        for angle in (np.pi - 1e-9, np.pi)
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)


def test_the_linear_system_stays(rng):
    """Second derivatives use a run of their own."""
    mechanism, state = moving(rng, "driven_four_bar")
    system, fresh = (vi.linearize(mechanism, state, DT) for _ in range(2))
    costate = rng.standard_normal(4)
    system.second_derivatives(costate)
    first = system.hessian_product(costate, np.ones(4), np.ones(3))
    system.state_at(0.1 * np.ones(4))
    again = system.hessian_product(costate, np.ones(4), np.ones(3))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert np.array_equal(system.fdx, fresh.fdx)
    assert np.array_equal(system.fdu, fresh.fdu)


# -------------------------------------------------------------------------------------- where there is little to find


def test_symmetry_leaves_nothing():
    """A pendulum that hangs at rest without torque: the step is odd in all of x and u."""
    mechanism = pendulum(0.0)
    found = contracted(vi.linearize(mechanism, mechanism.state(), 0.1), np.ones(2))
    assert np.abs(found).max() < 1e-11


def test_what_cannot_move_has_none():
    fixed = vi.Mechanism("fixed", [vi.Body.box("b", size=(1, 1, 1), mass=1.0)], [vi.Fixed("f", "world", "b")])
    system = vi.linearize(fixed, dt=0.01)
    assert system.second_derivatives([]).xx.shape == (0, 0)
    assert system.state_at([]).position == pytest.approx(fixed.state().position)


def test_a_spring_that_sets_in_is_refused():
    """One whose gap is next to zero has none within reach of round-off; a little farther away it is smooth."""
    stop = vi.JointStop("stop", joint="pin", upper=0.2, stiffness=50.0)
    mechanism = with_forces(pendulum(), stop)

    def system(angle):
        return vi.linearize(mechanism, mechanism.state(coordinates={"pin": angle}), 0.01)

    middle = system(0.2 + 0.25 * 0.01**2 * 9.8 * np.sin(0.2))  # half of the step's turn above the limit
    with pytest.raises(vi.StateError, match="a step of 'pendulum' has no second derivatives at this state"):
        middle.second_derivatives(np.ones(2))
    for angle, stiffness in ((0.19, 0.0), (0.21, 50.0)):
        plain = with_forces(pendulum(), vi.TorsionSpring("spring", joint="pin", stiffness=stiffness, rest_angle=0.2))
        exact = vi.linearize(plain, plain.state(coordinates={"pin": angle}), 0.01)
        assert contracted(system(angle), np.ones(2)) == pytest.approx(contracted(exact, np.ones(2)), abs=1e-10)


def test_next_to_the_end_of_reach():
    """The crank is longer than the rod, and turns by three hundredths of a radian more."""
    mechanism = vi.mechanisms.slider_crank(crank=1.0, rod=0.5, angle=np.arcsin(0.5) - 0.03, rate=0.1)
    system = vi.linearize(mechanism, dt=DT)
    with pytest.raises(vi.StateError, match="no state with closed joints was reached"):
        system.state_at([0.04, 0.0])
    found = np.array([system.hessian_product([0.7, -1.3], unit)[0] for unit in np.eye(2)])
    assert found == pytest.approx(found.T, abs=2e-8 * np.abs(found).max())


def test_what_it_says_and_refuses():
    system = trep_system(0.1)
    found = system.second_derivatives([1.0, 0.0])
    assert repr(found).startswith("SecondDerivatives: 1 coordinate, 1 input, largest xx 0.0")
    assert (found.xx.shape, found.xu.shape, found.uu.shape) == ((2, 2), (2, 1), (1, 1))
    by_x, by_u = system.hessian_product([1.0, 0.0], [0.0, 0.0])
    assert not by_x.any()
    assert not by_u.any()
    smooth = vi.linearize(pendulum())
    for call in (lambda: smooth.second_derivatives([1.0, 0.0]), lambda: smooth.hessian_product([1.0, 0.0], [1.0, 0.0])):
        with pytest.raises(
            vi.ArgumentError, match=r"second derivatives are those of a step of varint\.Variational: give linearize dt="
        ):
            call()
    wrong = "must be an array of numbers of shape"
    with pytest.raises(vi.ArgumentError, match=f"costate {wrong}"):
        system.second_derivatives([1.0])
    with pytest.raises(vi.ArgumentError, match=f"dx {wrong}"):
        system.hessian_product([1.0, 0.0], [1.0])
    with pytest.raises(vi.ArgumentError, match=f"du {wrong}"):
        system.hessian_product([1.0, 0.0], [1.0, 0.0], [1.0, 2.0])


def test_a_step_that_meets_a_stop_has_none():
    stop = vi.JointStop("stop", joint="pin", lower=-1.0, upper=0.21, restitution=0.5)
    system = trep_system(0.1, with_forces(pendulum(0.8), stop))
    with pytest.raises(vi.ArgumentError, match="meets a hard stop, where there are no second derivatives"):
        system.second_derivatives([1.0, 0.0])
