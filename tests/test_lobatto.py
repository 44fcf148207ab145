"""Variational collocation: orders against reduced coordinates, energy without a trend, exact reversal, entrances."""

import numpy as np
import pytest
from random_mechanisms import random_tree, random_velocity_state

import varint as vi
from varint.methods.variational.lobatto import ORDERS
from varint.methods.variational.lobatto_rule import node_rule
from varint.methods.variational.lobatto_run import FASTEST, LobattoRun
from varint.runs.method import PLACES

LAST = vi.Recording(every=10**9)


def tree_in_motion(n=4, seed=3):
    """Bodies with skew principal axes on hinges in all directions, some with the world or the parent as second body."""
    rng = np.random.default_rng(seed)
    mechanism = random_tree(rng, n, ("Revolute",))
    return mechanism, random_velocity_state(rng, mechanism)


def end_of(mechanism, state, duration, method):
    return vi.simulate(vi.Problem(mechanism, duration, state), method, LAST).state(-1)


def distance(one, other):
    return max(
        np.abs(one.position - other.position).max(),
        np.abs(one.velocity - other.velocity).max(),
        np.abs(one.angular_velocity - other.angular_velocity).max(),
    )


def measured_order(mechanism, state, order, steps, duration=0.4):
    """The order by which the error falls from the first to the second number of steps."""
    exact = end_of(mechanism, state, duration, vi.Reduced("dop853", rtol=1e-13, dt=duration / 8))
    errors = [distance(end_of(mechanism, state, duration, vi.Lobatto(duration / n, order)), exact) for n in steps]
    assert errors[1] < 1e-4
    return np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0])


# ------------------------------------------------------------------------------------- accuracy


@pytest.mark.slow
@pytest.mark.parametrize(("order", "steps"), [(4, (40, 80)), (6, (20, 40)), (8, (5, 10)), (10, (5, 6))])
def test_orders_of_a_tree_in_space(order, steps):
    assert measured_order(*tree_in_motion(), order, steps) == pytest.approx(order, abs=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_joints_stay_closed_and_energy_without_gravity_too(order):
    mechanism, state = tree_in_motion(5, seed=11)
    run = vi.simulate(vi.Problem(mechanism, 1.0, state), vi.Lobatto(0.005, order))
    assert np.max(run.drift) < 1e-13
    top = vi.Mechanism("top", mechanism.bodies, mechanism.joints, gravity=(0, 0, 0))
    run = vi.simulate(vi.Problem(top, 1.0, state), vi.Lobatto(0.005, order))
    assert np.abs(run.energy - run.energy[0]).max() < 1e-3 * run.kinetic[0]


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_it_runs_back_to_its_start(order):
    mechanism, state = tree_in_motion()
    back = vi.time_reversal(vi.Problem(mechanism, 0.5, state), vi.Lobatto(0.01, order)).distance
    assert max(back.position, back.velocity) < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_energy_has_no_trend(order):
    mechanism = vi.mechanisms.n_pendulum(n=2, angle=0.5)
    run = vi.simulate(vi.Problem(mechanism, 1000.0), vi.Lobatto(0.01, order), vi.Recording(every=20))
    trend = vi.energy_trend(run)
    assert abs(trend.slope) < 4 * trend.error + 1e-14


@pytest.mark.slow
def test_energy_of_a_whipping_chain():
    """Order 8 keeps the energy to 1e-6 of m g L n at 5 ms."""
    mechanism = vi.mechanisms.n_pendulum(n=10, angle=np.pi / 2)
    run = vi.simulate(vi.Problem(mechanism, 10.0), vi.Lobatto(0.005), vi.Recording(every=10))
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6 * 9.81 * 100
    assert run.newton_iterations < 2.5 * 2000


@pytest.mark.slow
@pytest.mark.parametrize("s", range(3, 7))
def test_rule_is_that_of_one_action(s):
    """Exact for polynomials up to degree 2 s - 3; sums over rows zero and symmetric to the last bit."""
    rule = node_rule(s)
    assert np.array_equal(rule.stiffness, rule.stiffness.T)
    assert not rule.stiffness.sum(axis=0).any()
    inner = np.polynomial.legendre.Legendre.basis(s - 1).deriv().roots()
    nodes = 0.5 * (np.concatenate([[-1.0], np.sort(inner), [1.0]]) + 1.0)
    for degree in range(1, s):
        values = nodes**degree
        assert values @ rule.stiffness @ values == pytest.approx(degree**2 / (2 * degree - 1), rel=1e-12)
    for degree in range(2 * s - 2):
        assert rule.weight @ nodes**degree == pytest.approx(1 / (degree + 1), rel=1e-13)


# ------------------------------------------------------------------------------------- runs


@pytest.mark.parametrize("order", ORDERS)
def test_an_oscillation_grows_where_a_failing_step_says_it_may(order):
    rule, found = node_rule(order // 2 + 1), []
    ends, inner = [0, -1], slice(1, -1)
    for turn in (0.999 * FASTEST[order], 1.0003 * FASTEST[order]):  # frequency times step, of mass and step one
        A = rule.stiffness - turn**2 * np.diag(rule.weight)
        A = A[np.ix_(ends, ends)] - A[ends, inner] @ np.linalg.solve(A[inner, inner], A[inner, ends])
        found.append(abs(A[0, 0] + A[1, 1]) / abs(A[0, 1]))  # trace of the map of position and momentum over a step
    assert found[0] <= 2.0 < found[1]


@pytest.mark.slow
def test_blocks_and_strides_do_not_change_the_motion():
    mechanism, state = tree_in_motion()
    problem = vi.Problem(mechanism, 0.5, state)
    every, few = (vi.simulate(problem, vi.Lobatto(0.005), vi.Recording(every=k)) for k in (1, 7))
    for name in ("t", "position", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(every, name)[::7], getattr(few, name)[:-1])
        assert np.array_equal(getattr(every, name)[-1], getattr(few, name)[-1])


@pytest.mark.slow
def test_it_resumes_to_the_same_bits(tmp_path):
    mechanism, state = tree_in_motion()
    for duration, resume in ((0.2, False), (0.5, True)):
        vi.simulate(
            vi.Problem(mechanism, duration, state),
            vi.Lobatto(0.005),
            vi.Recording(output=tmp_path / "run.h5", resume=resume),
        )
    whole = vi.simulate(vi.Problem(mechanism, 0.5, state), vi.Lobatto(0.005))
    loaded = vi.load(tmp_path / "run.h5")
    assert loaded.settings["formulation"] == "lobatto"
    for name in ("t", "position", "quat_wxyz", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(loaded, name), getattr(whole, name))


@pytest.mark.slow
def test_the_start_is_the_one_of_other_methods():
    mechanism, state = tree_in_motion()
    run, other = (vi.simulate(vi.Problem(mechanism, 0.01, state), m) for m in (vi.Lobatto(0.01), vi.Variational(0.01)))
    assert distance(run.state(0), other.state(0)) < 1e-13
    assert np.abs(run.quat_wxyz[0] - other.quat_wxyz[0]).max() < 1e-14
    assert vi.Lobatto.formulation in PLACES
    assert LobattoRun.__doc__


# ------------------------------------------------------------------------------------- forces


def forced_tree(effort=lambda t: 0.5 * np.sin(3.0 * t)):
    """A tree with springs, dampers, friction, a motor, and what acts between bodies that no hinge joins."""
    mechanism, state = tree_in_motion()
    (a, b, c, d), hinges = mechanism.bodies, [joint.name for joint in mechanism.joints]
    forces = [
        *(vi.TorsionSpring(f"coil {name}", joint=name, stiffness=3.0, damping=0.3, rest_angle=0.2) for name in hinges),
        vi.JointFriction("friction", joint=hinges[0], effort=0.3, smoothing=0.5),
        vi.Motor("motor", joint=hinges[1], effort=effort),
        vi.Spring("spring", a.name, d.name, point_a=a.position, point_b=d.position, stiffness=20.0, damping=0.5),
        vi.BodyDamper("oil", c.name, linear=0.4, angular=0.02),
        vi.PointForce("push", b.name, direction=(0, 1, 0), magnitude=1.0),
    ]
    return vi.Mechanism("forced tree", mechanism.bodies, mechanism.joints, forces=forces), state


@pytest.mark.slow
@pytest.mark.parametrize(("order", "steps"), [(4, (40, 80)), (6, (20, 40)), (8, (6, 10)), (10, (2, 4))])
def test_orders_with_forces(order, steps):
    assert measured_order(*forced_tree(), order, steps) == pytest.approx(order, abs=0.4)


@pytest.mark.slow
def test_works_and_inputs_are_those_of_reduced_coordinates():
    mechanism, state = forced_tree()
    problem = vi.Problem(mechanism, 1.0, state)
    run, other = vi.simulate(problem, vi.Lobatto(0.01)), vi.simulate(problem, vi.Reduced("dop853", rtol=1e-12, dt=0.01))
    assert np.abs(run.position - other.position).max() < 1e-11
    assert np.abs(run.work - other.work).max() < 1e-10
    assert np.array_equal(run.command, other.command)
    assert np.abs(run.energy_balance - run.energy_balance[0]).max() < 1e-12


@pytest.mark.slow
def test_a_law_along_a_hinge_costs_no_iterations():
    """Newton's matrix has its derivative: a spring that makes a motion of 1 rad a step takes no more than gravity."""
    plain = vi.mechanisms.n_pendulum(n=3, angle=1.0)
    coil = [vi.TorsionSpring(j.name, joint=j.name, stiffness=400.0, damping=4.0) for j in plain.joints]
    coils = vi.Mechanism("coils", plain.bodies, plain.joints, forces=coil)
    counts = [vi.simulate(vi.Problem(each, 1.0), vi.Lobatto(0.01)).newton_iterations for each in (plain, coils)]
    assert counts[1] < counts[0] + 150


@pytest.mark.slow
def test_energy_of_springs_has_no_trend():
    plain = vi.mechanisms.n_pendulum(n=2, angle=0.5)
    coils = [vi.TorsionSpring(j.name, joint=j.name, stiffness=20.0) for j in plain.joints]
    mechanism = vi.Mechanism("coils", plain.bodies, plain.joints, forces=coils)
    run = vi.simulate(vi.Problem(mechanism, 1000.0), vi.Lobatto(0.01, 6), vi.Recording(every=20))
    trend = vi.energy_trend(run)
    assert abs(trend.slope) < 4 * trend.error + 1e-14
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6


@pytest.mark.slow
def test_runs_with_forces_resume_to_the_same_bits(tmp_path):
    mechanism, state = forced_tree(0.5)
    for duration, resume in ((0.2, False), (0.5, True)):
        recording = vi.Recording(output=tmp_path / "run.h5", resume=resume)
        vi.simulate(vi.Problem(mechanism, duration, state), vi.Lobatto(0.005), recording)
    whole, loaded = vi.simulate(vi.Problem(mechanism, 0.5, state), vi.Lobatto(0.005)), vi.load(tmp_path / "run.h5")
    for name in ("t", "position", "quat_wxyz", "velocity", "angular_velocity", "work", "command"):
        assert np.array_equal(getattr(loaded, name), getattr(whole, name))


# ------------------------------------------------------------------------------------- loops and other joints


def pair_in_flight():
    bodies = [vi.Body.box(name, (1, 1, 1), 1.0, position=(x, 0, 0)) for name, x in (("one", 0), ("two", 1))]
    return vi.Mechanism("pair", bodies, [vi.Revolute("hinge", "one", "two", point=(0.5, 0, 0), axis=(0, 1, 0))])


@pytest.mark.slow
def test_a_four_bar_keeps_its_order_and_its_joints_closed():
    """Redundant rows: 20, of which 17 count."""
    mechanism = vi.mechanisms.four_bar()
    assert measured_order(mechanism, mechanism.state(), 6, (40, 80)) == pytest.approx(6, abs=0.3)
    run = vi.simulate(vi.Problem(mechanism, 1.0), vi.Lobatto(0.0125, 8))
    assert np.max(run.drift) < 1e-14
    assert np.abs(run.energy - run.energy[0]).max() < 2e-7
    assert run.newton_iterations < 3.0 * 80


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("order", [4, 6])
@pytest.mark.parametrize("name", ["slider_crank", "jansen_leg", "klann_leg", "delta_robot", "spatial_slider_crank"])
def test_linkages_keep_the_order(name, order):
    mechanism = getattr(vi.mechanisms, name)()
    steps = (80, 160) if order == 4 else (60, 120)
    assert measured_order(mechanism, mechanism.state(), order, steps) > order - 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["bricard", "bennett", "sarrus", "n_four_bar", "rhombus_chain", "peaucellier", "minitaur"]
)
def test_overconstrained_and_singular_loops_are_at_round_off(name):
    mechanism = getattr(vi.mechanisms, name)()
    exact = end_of(mechanism, mechanism.state(), 0.1, vi.Reduced("dop853", rtol=1e-12, dt=0.0125))
    run = vi.simulate(vi.Problem(mechanism, 0.1), vi.Lobatto(0.002))
    assert distance(run.state(-1), exact) < 1e-9
    assert np.max(run.drift) < 2e-14


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        vi.mechanisms.cart_pole,
        vi.mechanisms.spinning_top,
        vi.mechanisms.free_body,
        lambda: vi.mechanisms.n_pendulum(4, joint="spherical"),
    ],
)
def test_slides_balls_and_free_bodies_are_those_of_reduced_coordinates(mechanism):
    made = mechanism()
    exact = end_of(made, made.state(), 0.5, vi.Reduced("dop853", rtol=1e-12, dt=0.0625))
    assert distance(end_of(made, made.state(), 0.5, vi.Lobatto(0.005)), exact) < 1e-9


JOINTS = (
    "Composite", "Cylindrical", "Fixed", "Free", "Helical", "Planar", "PointOnLine", "PointOnPlane", "Prismatic",
    "Rod", "Spherical", "Translational", "Universal",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", JOINTS)
def test_each_joint_of_a_tree_from_both_its_sides(kind):
    """Seeds of which some joints have the parent as their body b."""
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        mechanism = random_tree(rng, 3, (kind, "Revolute"))
        state = random_velocity_state(rng, mechanism)
        exact = end_of(mechanism, state, 0.1, vi.Reduced("dop853", rtol=1e-12, dt=0.0125))
        assert distance(end_of(mechanism, state, 0.1, vi.Lobatto(0.0025, 6)), exact) < 1e-9


@pytest.mark.slow
def test_bodies_that_hang_from_nothing_fly():
    mechanism = pair_in_flight()
    state = mechanism.state(rates={"hinge": 3.0})
    end = end_of(mechanism, state, 1.0, vi.Lobatto(0.02))
    fall = sum(end.position) - sum(state.position) - sum(state.velocity) * 1.0
    assert fall == pytest.approx(2 * 0.5 * np.array(mechanism.gravity), abs=1e-11)


@pytest.mark.slow
def test_a_tumbling_ball_turns_more_than_once():
    """Angles of a ball are counted anew on the way; the motion is that of reduced coordinates, at its order."""
    mechanism = vi.mechanisms.n_pendulum(2, joint="spherical", angle=1.0)
    rng = np.random.default_rng(5)
    state = random_velocity_state(rng, mechanism)
    exact = end_of(mechanism, state, 2.0, vi.Reduced("dop853", rtol=1e-13, dt=0.125))
    errors = [distance(end_of(mechanism, state, 2.0, vi.Lobatto(2.0 / n, 6)), exact) for n in (200, 400)]
    assert errors[1] < 1e-5
    assert np.log2(errors[0] / errors[1]) > 5.3


@pytest.mark.slow
def test_a_stiff_spring_between_distant_bodies_converges():
    """The derivatives of a governor's springs are in Newton's matrix."""
    mechanism = vi.mechanisms.governor()
    run = vi.simulate(vi.Problem(mechanism, 0.2), vi.Lobatto(0.002))
    assert run.newton_iterations < 4.0 * 100
    exact = end_of(mechanism, mechanism.state(), 0.2, vi.Reduced("dop853", rtol=1e-11, dt=0.025))
    assert distance(run.state(-1), exact) < 1e-5


@pytest.mark.slow
def test_loops_resume_and_reverse(tmp_path):
    mechanism = vi.mechanisms.jansen_leg()
    for duration, resume in ((0.1, False), (0.2, True)):
        recording = vi.Recording(output=tmp_path / "run.h5", resume=resume)
        vi.simulate(vi.Problem(mechanism, duration), vi.Lobatto(0.005), recording)
    whole, loaded = vi.simulate(vi.Problem(mechanism, 0.2), vi.Lobatto(0.005)), vi.load(tmp_path / "run.h5")
    for name in ("t", "position", "quat_wxyz", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(loaded, name), getattr(whole, name))
    back = vi.time_reversal(vi.Problem(mechanism, 0.2), vi.Lobatto(0.005)).distance
    assert max(back.position, back.velocity) < 1e-9


# ------------------------------------------------------------------------------------- more refusals


def test_a_force_that_it_does_not_support_is_named():
    plain = vi.mechanisms.double_pendulum()
    friction = vi.JointCoulombFriction("friction", joint=plain.joints[0].name, coefficient=0.2, radius=0.05)
    mechanism = plain.with_forces(add=friction)
    with pytest.raises(vi.ArgumentError, match=r"'friction'.*collocation steps do not support"):
        vi.simulate(vi.Problem(mechanism, 0.1), vi.Lobatto(0.01))


@pytest.mark.slow
def test_a_chain_at_rest_is_not_unresolved(recwarn):
    run = vi.simulate(vi.Problem(vi.mechanisms.n_pendulum(n=3, angle=0.0), 1.0), vi.Lobatto(0.01))
    assert np.abs(run.velocity).max() < 1e-12
    assert not [each for each in recwarn if issubclass(each.category, vi.UnresolvedWarning)]


@pytest.mark.slow
def test_studies_take_it():
    problem = vi.Problem(vi.mechanisms.double_pendulum(), 0.2)
    assert vi.order_study(problem, [vi.Lobatto(0.02, 4)], (0.04, 0.02))
    ensemble = vi.ensemble(
        lambda angle: vi.mechanisms.n_pendulum(2, angle=angle), {"angle": [0.1, 0.2]}, 0.1,
        formulation="lobatto", dt=0.01,
    )  # fmt: skip
    assert len(ensemble) == 2


def test_arguments_are_checked():
    with pytest.raises(vi.ArgumentError, match="order"):
        vi.Lobatto(0.01, order=5)
    with pytest.raises(vi.ArgumentError, match="on_unresolved"):
        vi.Lobatto(0.01, on_unresolved="substep")


@pytest.mark.slow
def test_steps_that_are_too_long_are_reported():
    mechanism = vi.mechanisms.n_pendulum(n=2, angle=np.pi / 2)
    problem = vi.Problem(mechanism, 10.0)
    with pytest.warns(vi.UnresolvedWarning, match="do not resolve the motion"):
        vi.simulate(problem, vi.Lobatto(0.0625, order=4))
    with pytest.raises(vi.UnresolvedError, match="smaller dt"):
        vi.simulate(problem, vi.Lobatto(0.0625, order=4, on_unresolved="raise"))
    with pytest.raises(vi.ConvergenceError, match="nor divided into 64: it is too long") as caught:
        vi.simulate(problem, vi.Lobatto(5.0, order=4))
    assert caught.value.trajectory.t[0] == 0.0


@pytest.mark.slow
def test_a_step_that_cannot_be_solved_is_divided(tmp_path):
    linkage = vi.mechanisms.four_bar()
    motor = vi.PrescribedMotion("motor", joint=linkage.joints[0].name, position=lambda t: 40.0 * t**4)
    mechanism = vi.Mechanism("fast", linkage.bodies, linkage.joints, forces=[motor])
    run = vi.simulate(vi.Problem(mechanism, 1.0), vi.Lobatto(0.02, 6))
    assert 0 < run.substeps < 500
    assert np.abs(run.coordinates[linkage.joints[0].name] - 40.0 * run.t**4).max() < 1e-12
    assert np.max(run.drift) < 1e-13
    sparse = vi.simulate(vi.Problem(mechanism, 1.0), vi.Lobatto(0.02, 6), vi.Recording(every=5))
    assert np.array_equal(sparse.position, run.position[::5])


@pytest.mark.slow
def test_a_nut_that_gets_faster_turns_as_far_as_it_should():
    nut = vi.Body.box("nut", (0.1, 0.2, 0.1), 1.0)
    thread = vi.Helical("thread", "world", "nut", point=(0, 0, 0), axis=(0, 0, 1), lead=0.1)
    run = vi.simulate(vi.Problem(vi.Mechanism("screw", [nut], [thread]), 3.0), vi.Lobatto(0.02, 8))
    pitch, inertia = 0.1 / (2 * np.pi), (0.1**2 + 0.2**2) / 12
    angle = -9.81 * pitch / (inertia + pitch**2) * run.t**2 / 2
    assert np.abs(run.coordinates["thread"] - angle).max() < 1e-3 * np.abs(angle).max()
    assert np.max(run.drift) < 1e-14


def test_a_first_step_is_converged_where_multipliers_begin_far_off():
    """Parallel four-bars: the coordinates are there after one iteration, before the impulses of the loops are."""
    mechanism, dt = vi.mechanisms.n_four_bar(2), 1e-3
    one, finer = (vi.simulate(vi.Problem(mechanism, dt), vi.Lobatto(dt / n, 8)) for n in (1, 8))
    assert distance(one.state(-1), finer.state(-1)) < 1e-12
