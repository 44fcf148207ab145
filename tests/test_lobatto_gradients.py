"""Gradients of runs by collocation: the transposed step, and whole runs against differences."""

import dataclasses

import numpy as np
import pytest
from collocation_gradients import LAST, check, end_of
from force_samples import SAMPLES, sample_mechanism, with_forces
from marched_steps import slope_of
from random_mechanisms import random_closed, random_tree, random_velocity_state
from run_gradients import objective_of
from test_gradients_of_numbers import PRODUCTS, hanging, numbers_of

import varint as vi
from varint.base.numba import allocate
from varint.derivatives.collocation.tape import CollocationTape
from varint.derivatives.numbers import differences, numbers_in
from varint.derivatives.taped import TapeSetting
from varint.methods.variational.schemes import scheme
from varint.step.collocation.adjoint import prepare_step
from varint.step.collocation.steps import evaluate
from varint.step.collocation.tape import play_step
from varint.step.collocation.transposed import TransposedWork, carry_pulls, motions_back, spread_duals, transpose
from varint.step.workspace import tangent_work

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::varint.base.errors.ReplacedRateWarning"),  # starts have other rates
]


# -------------------------------------------------------------------------------------------- the derivative of a step


def taped(mechanism, state, dt, steps, order):
    """The march of a run whose steps are kept, at its end."""
    setting = TapeSetting(scheme(2), dt, 0.0, steps, end=steps * dt)
    return CollocationTape(mechanism, state, setting, [steps], vi.Lobatto(dt, order)).march


def solved_step(mechanism, state, dt, s):
    """A run, and the scratch of its derivatives, at the second of its steps, with random duals."""
    run = taped(mechanism, state, dt, 2, 2 * s - 2)
    own = allocate(TransposedWork, run.sizes)
    own.reversed.rotation[:, -1] = own.reversed.body_rotation[:, -1] = np.eye(3)
    play_step(run.compiled.plan, run.ws, run.tree, run.closures, run.work, run.taped, 1)
    prepare_step(run.compiled.plan, run.ws, run.tree, run.closures, run.rule, run.work, run.taped.given[1], dt)
    rng = np.random.default_rng(5)
    own.rate[:] = rng.standard_normal(own.rate.shape)
    multiplier = rng.standard_normal((run.closures.rows[1] - run.closures.rows[0], s - 1))
    for head in range(*run.closures.rows):  # rows of one sum share their multipliers
        first, count = head - run.closures.rows[0], run.compiled.plan.rows.chain[head]
        multiplier[first : first + count] = multiplier[first]
    own.reversed.closures.multiplier[:] = multiplier.ravel()
    spread_duals(run.tree, run.work, own)
    return run, own


def product(run, own, dt):
    """The duals times what a step leaves open, at its present iterate."""
    q = own.rate.shape[0]
    evaluate(run.compiled.plan, run.ws, run.tree, run.closures, run.rule, run.work, run.taped.given[1], dt)
    row = run.work.closures.row.reshape(-1, q)  # of the nodes after the first
    mu = own.reversed.closures.multiplier.reshape(-1, q)[:, ::-1]
    return float(np.sum(own.rate * run.work.open[:q]) + np.sum(mu * row))


@pytest.mark.many
@pytest.mark.parametrize("s", [3, 5])
@pytest.mark.parametrize("name", ["Spring", "JointDamper on a ball", "Drag", "GroundContact", "Equality", "none"])
def test_the_transposed_step_is_that_of_the_differences_of_its_residual(name, s):
    rng, dt = np.random.default_rng(3), 0.02
    mechanism = random_closed(rng, 5, 1) if name == "none" else sample_mechanism(rng, SAMPLES[name])
    run, own = solved_step(mechanism, random_velocity_state(rng, mechanism), dt, s)
    given, q, scratch = run.taped.given[1], s - 1, tangent_work(run.compiled.plan)
    transpose(
        run.compiled.plan, run.ws, run.tree, run.closures, run.rule, run.work, own, scratch, given, dt, 0
    )  # fmt: skip
    found = np.zeros((s, run.tree.mass.size))
    motions_back(run.tree, run.work, own)
    for k in range(1, s):
        carry_pulls(run.tree, run.work, own.pull[k], k, found[k])
    by, exact, least = run.work.by.copy(), np.zeros_like(found), 0.1 * np.abs(found).max()
    for k in range(1, q + 1):
        for i in range(run.tree.mass.size):

            def value(change, k=k, i=i):
                run.work.by[:] = by
                run.work.by[k, i] += change
                return product(run, own, dt)

            exact[k, i] = slope_of(value, 1e-3, least)
    np.testing.assert_allclose(found[1:], exact[1:], rtol=0, atol=1e-7 * least)


# ------------------------------------------------------------------------------------------------------ whole runs


def with_springs(mechanism, stiffness=5.0, damping=0.3):
    hinges = [joint for joint in mechanism.joints if joint.dof == 1]
    springs = [
        vi.TorsionSpring(f"spring {k}", joint=joint.name, stiffness=stiffness, damping=damping)
        for k, joint in enumerate(hinges[:2])
    ]
    return with_forces(mechanism, *springs)


OF_SPRINGS = ["spring 0.stiffness", "spring 0.damping", "spring 1.rest_angle"]
TEN = {
    "n_pendulum": OF_SPRINGS,
    "tree": [],
    "cart_pole": ["motor.effort"],
    "four_bar": OF_SPRINGS,
    "slider_crank": OF_SPRINGS,
    "bricard": OF_SPRINGS,
    "rhombus_chain": [],
    "governor": ["right spring.stiffness", "right spring.damping", "right spring.point_b"],
    "stewart_platform": [],
    "delta_robot": [],
    "spinning_top": [],
    "roller_coaster": ["track.point"],
}


@pytest.mark.many
@pytest.mark.parametrize(("name", "numbers"), TEN.items())
def test_mechanisms_of_the_catalogue(rng, name, numbers):
    mechanism = getattr(vi.mechanisms, name)(**({"damping": 500.0} if name == "governor" else {}))  # not strong
    mechanism = with_springs(mechanism) if numbers is OF_SPRINGS else mechanism
    state = random_velocity_state(rng, mechanism, 0.3)
    bodies = [f"{mechanism.bodies[k].name}.mass" for k in (0, -1)]
    check(mechanism, ["gravity", "dt", *bodies, *numbers], rng, 0.04, 0.01, 6, state)


JOINTS = (
    "Revolute", "Prismatic", "Spherical", "Cylindrical", "Planar", "Universal", "Free", "Helical", "Composite",
    "SplineCurve", "SplineSurface",
)  # fmt: skip


@pytest.mark.many
@pytest.mark.parametrize(("kind", "order"), [(kind, 8 if k % 2 else 4) for k, kind in enumerate(JOINTS)])
def test_trees_of_all_joints(kind, order):
    """At one of two orders each; at the one between them below."""
    rng = np.random.default_rng(3)
    mechanism = random_tree(rng, 4, (kind,))
    check(
        mechanism, ["gravity", "b1.mass", "b2.inertia", "dt"], rng, 0.1, 0.02, order,
        random_velocity_state(rng, mechanism),
    )  # fmt: skip


def kinds_and_starts():
    """Each joint from a start that moves with it; from one that is given too, of which one is not long."""
    for kind in (*JOINTS, "Fixed"):
        yield kind, "none"
        yield pytest.param(kind, "a state", marks=[] if kind == "Revolute" else [pytest.mark.long])


@pytest.mark.many
@pytest.mark.parametrize(("kind", "given"), list(kinds_and_starts()))
def test_every_number_of_joints_that_carry_bodies(kind, given):
    """Their points and axes, and centres of mass: from a state that is given, or from one that moves with them."""
    rng = np.random.default_rng(3)
    mechanism = hanging(rng, kind)
    state, names = random_velocity_state(rng, mechanism, 0.5) if given == "a state" else None, []
    for name in numbers_of(mechanism):
        if name == "gravity" or name.endswith("inertia"):
            continue
        try:
            vi.gradient(
                vi.Problem(mechanism, 0.01, state), lambda s: 0.0, vi.Lobatto(0.01, 6), with_respect_to=[name]
            )  # fmt: skip
        except vi.ArgumentError as problem:
            assert "cannot change" in str(problem), name  # noqa: PT017
        else:
            names.append(name)
    assert {"joint.point", "lower.position", "upper.mass", "ball.point_b"} <= set(names)
    if kind not in PRODUCTS:
        check(mechanism, names, rng, 0.04, 0.01, 6, state)
        return
    # starts that are assembled anew bend too much for differences: against the steps of another method
    objective, problem = objective_of(mechanism, rng), vi.Problem(mechanism, 0.04, state)
    methods = vi.Lobatto(0.01, 8), vi.Variational(dt=5e-4, order=6)
    one, other = (vi.gradient(problem, objective, method, with_respect_to=names) for method in methods)
    for name in names:
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=1e-8 * max(1.0, np.abs(other[name]).max()))


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "stewart_platform"])
def test_points_of_loops(rng, name):
    mechanism = getattr(vi.mechanisms, name)()
    joints = (mechanism.joints[0], mechanism.joints[-1])
    names = [f"{joint.name}.point[0]" for joint in joints] + [f"{mechanism.bodies[0].name}.position[0]"]
    check(mechanism, names, rng, 0.04, 0.01, 6)


def test_balls_that_are_counted_anew():
    """Over half a turn, in steps that turn far."""
    rng = np.random.default_rng(1)
    mechanism = random_tree(rng, 3, ("Spherical", "Free"))
    state = random_velocity_state(rng, mechanism, 2.0)
    check(mechanism, ["gravity", "b1.mass"], rng, 0.8, 0.1, 8, state)


OTHERS = (
    "Spring", "Spring to the world", "Cable", "PointDamper", "TorsionSpring", "second angle", "JointDamper on a ball",
    "JointFriction on a ball", "PointForce", "PointTorque", "Drag", "CentralGravity", "BeamElement", "GroundContact",
    "SphereContact", "UserContact", "TabulatedTorsionSpring", "MultiPointSpring", "VelocityMotor", "rotation vector",
    "Tendon", "Gear", "RackAndPinion", "Screw", "Belt", "Equality", "Coupling", "CoordinateMap", "UserConstraint",
)  # fmt: skip


@pytest.mark.many
@pytest.mark.parametrize("name", OTHERS)
def test_every_number_of_forces_and_constraints(name):
    rng = np.random.default_rng(3)
    mechanism = sample_mechanism(rng, SAMPLES[name])
    numbers = [f"{force.name}.{field}" for force in mechanism.forces for field in numbers_in(force)]
    state = random_velocity_state(np.random.default_rng(7), mechanism)
    check(mechanism, ["gravity", "b0.mass", "dt", *numbers], rng, 0.05, 0.01, 6, state)


# ---------------------------------------------------------------------------------------------------------- inputs


def driven(**motion):
    linkage = vi.mechanisms.four_bar()
    return with_forces(linkage, vi.PrescribedMotion("motor", joint=linkage.joints[0].name, **motion))


def turning(t):
    return 0.3 * np.sin(3 * t) + t * t


def test_a_drive_by_a_function_of_time(rng):
    mechanism = driven(position=turning)
    check(mechanism, ["gravity", "coupler.mass", "coupler.inertia", "dt"], rng, 0.1, 0.02, 6, start=False)


def test_a_drive_whose_function_has_a_parameter(rng):
    objective = objective_of(driven(position=turning), rng)

    def build(rate):
        return driven(position=lambda t: 0.3 * np.sin(rate * t) + t * t)

    def value(change):
        return objective(end_of(build(3.0 + change), None, 0.1, 0.02, 6))

    found = vi.gradient(
        build, objective, 0.1, vi.Lobatto(0.02, 6), parameters={"rate": 3.0}, with_respect_to=["rate"]
    )  # fmt: skip
    assert found["rate"] == pytest.approx(differences(value, 3e-3), rel=1e-7)


@pytest.mark.parametrize("name", ["PrescribedPoint", "PrescribedBody"])
def test_bodies_that_are_moved(rng, name):
    mechanism = sample_mechanism(np.random.default_rng(3), SAMPLES[name])
    state = random_velocity_state(np.random.default_rng(7), mechanism)
    check(mechanism, ["gravity", "b0.mass", "b2.inertia", "dt"], rng, 0.05, 0.01, 6, state, start=False)


def test_a_motion_of_a_body_whose_function_has_a_parameter(rng):
    def build(rate):
        first, second = (vi.Body.box(f"bar {k}", (0.1, 0.2, 1.0), 1.0, position=(0, 0, -0.5 - k)) for k in range(2))
        motion = vi.PrescribedBody(
            "motion", body="bar 0", position=lambda t: (rate * t * t + 0.1 * np.sin(rate * t), 0.2 * t * t, -0.5)
        )
        ball = vi.Spherical("ball", "bar 0", "bar 1", point=(0, 0, -1))
        return vi.Mechanism("moved", [first, second], [ball], forces=[motion])

    objective = objective_of(build(1.0), rng)
    found = vi.gradient(
        build, objective, 0.2, vi.Lobatto(0.02, 6), parameters={"rate": 1.0}, with_respect_to=["rate"]
    )  # fmt: skip
    exact = differences(lambda change: objective(end_of(build(1.0 + change), None, 0.2, 0.02, 6)), 1e-3)
    assert found["rate"] == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("moves", [False, True])
def test_inputs_with_one_value_a_node(rng, moves):
    values = np.cumsum(0.01 * rng.standard_normal(6)) if moves else rng.standard_normal(6)
    values[0] = 0.0

    def build(values):
        if moves:
            return driven(position=values)
        linkage = vi.mechanisms.four_bar()
        return with_forces(linkage, vi.Motor("motor", joint=linkage.joints[0].name, effort=values))

    objective, at = objective_of(build(values), rng), "motor.position" if moves else "motor.effort"
    found = vi.gradient(vi.Problem(build(values), 0.1), objective, vi.Lobatto(0.02, 6), with_respect_to=[at])[at]
    direction = rng.standard_normal(6)
    direction[0] = 0.0

    def value(change):
        return objective(end_of(build(values + change * direction), None, 0.1, 0.02, 6))

    assert found @ direction == pytest.approx(differences(value, 1e-3), rel=1e-7)


def test_inputs_that_are_functions_of_time_and_of_the_state(rng):
    def push(t, state):
        return 3.0 * np.sin(4 * t) - 2.0 * state.velocity[0, 0] - np.tanh(state.angular_velocity[1, 1])

    for effort in (push, lambda t: 3.0 * np.cos(5 * t)):
        mechanism = vi.mechanisms.cart_pole(effort=effort)
        check(mechanism, ["gravity", "cart.mass", "pole.inertia", "dt"], rng, 0.1, 0.02, 6)


def test_loads_on_bodies_constant_and_one_a_node(rng):
    mechanism = vi.mechanisms.four_bar()
    force, torque = {"coupler": rng.standard_normal((6, 3))}, {"crank": rng.standard_normal(3)}
    objective, names = objective_of(mechanism, rng), ["coupler.force", "crank.torque", "rocker.force", "gravity", "dt"]
    problem, method = vi.Problem(mechanism, 0.1, force=force, torque=torque), vi.Lobatto(0.02, 6)
    found = vi.gradient(problem, objective, method, with_respect_to=names)

    def value(name, change):
        of_force, of_torque = dict(force), dict(torque)
        body, kind = name.split(".")
        loads = of_force if kind == "force" else of_torque
        loads[body] = loads.get(body, np.zeros(3)) + change
        changed = vi.Problem(mechanism, 0.1, force=of_force, torque=of_torque)
        return objective(vi.simulate(changed, method, LAST).state(-1))

    for name in names[:3]:
        direction = rng.standard_normal(found[name].shape)
        exact = differences(lambda share, name=name, direction=direction: value(name, share * direction), 1e-2)
        assert np.sum(found[name] * direction) == pytest.approx(exact, rel=1e-7)


# ------------------------------------------------------------------------------------------- memory, times, refusals


def test_the_bits_do_not_depend_on_the_memory(rng):
    mechanism = with_springs(vi.mechanisms.four_bar())
    objective, names = objective_of(mechanism, rng), ["start", "gravity", "coupler.mass", *OF_SPRINGS, "dt"]
    problem, method, times = vi.Problem(mechanism, 0.4), vi.Lobatto(0.01, 6), [0.1, 0.25, 0.4]

    def found(memory):
        return vi.gradient(
            problem, lambda states: sum(map(objective, states)), method, with_respect_to=names, times=times,
            memory=memory,
        )  # fmt: skip

    whole, parts = found(None), found(1e5)
    for name in names:
        one, other = (np.concatenate([np.ravel(part) for part in np.atleast_1d(g[name])]) for g in (whole, parts))
        assert np.array_equal(one, other), name


def test_products_of_exponentials_count_once(rng):
    """Of several objectives and of parts of the run, each gradient has its own sums."""
    mechanism = hanging(rng, "Composite")
    first, second = (objective_of(mechanism, rng) for _ in range(2))
    problem, method = vi.Problem(mechanism, 0.4, random_velocity_state(rng, mechanism, 0.5)), vi.Lobatto(0.02, 6)
    names = ["joint.point[2]", "lower.position[0]"]

    def found(objective, memory=None):
        return vi.gradient(problem, objective, method, with_respect_to=names, memory=memory)

    both = found(lambda state: np.array([first(state), second(state)]), 1.5e5)
    for k, objective in enumerate((first, second)):
        alone = found(objective)
        for name in names:
            np.testing.assert_allclose(np.asarray(both[name])[k], alone[name], rtol=1e-9, atol=1e-12)


def test_a_step_that_is_divided():
    """At first the double pendulum turns too far in a step of this order."""
    mechanism, rng = vi.mechanisms.n_pendulum(2, angle=0.5), np.random.default_rng(2)
    state = mechanism.state(rates={joint.name: 14.0 for joint in mechanism.joints})
    assert taped(mechanism, state, 0.1, 3, 4).taped.count[0] > 3
    check(mechanism, ["gravity", "link 1.mass", "dt"], rng, 0.3, 0.1, 4, state)


def test_times_and_several_numbers(rng):
    mechanism = vi.mechanisms.n_pendulum(3, angle=0.5)
    problem, method = vi.Problem(mechanism, 0.2), vi.Lobatto(0.02, 6)

    def both(states):
        return np.array([states[0].position[1, 2], states[1].velocity[2, 0]])

    found = vi.gradient(problem, both, method, with_respect_to=["link 2.mass"], times=[0.1, 0.2])["link 2.mass"]
    for k, (duration, part) in enumerate([(0.1, "position"), (0.2, "velocity")]):
        body, axis = ((1, 2), (2, 0))[k]

        def value(change, duration=duration, part=part, body=body, axis=axis):
            bodies = [*mechanism.bodies]
            bodies[1] = dataclasses.replace(bodies[1], mass=bodies[1].mass + change)
            changed = dataclasses.replace(mechanism, bodies=bodies)
            return getattr(end_of(changed, None, duration, 0.02, 6), part)[body, axis]

        assert found[k] == pytest.approx(differences(value, 1e-3), rel=1e-7)


def test_what_has_no_gradient_says_so():
    bent, moved = vi.mechanisms.spline_knee(), sample_mechanism(np.random.default_rng(3), SAMPLES["PrescribedPoint"])
    with pytest.raises(vi.ArgumentError, match="gradients of collocation steps"):
        vi.gradient(vi.Problem(bent, 0.1), lambda s: 0.0, vi.Lobatto(0.02, 6), with_respect_to=["gravity"])
    with pytest.raises(vi.ArgumentError, match="where the motion of prescribedpoint 'f' begins"):
        vi.gradient(vi.Problem(moved, 0.1), lambda s: 0.0, vi.Lobatto(0.02, 6), with_respect_to=["f.point"])
