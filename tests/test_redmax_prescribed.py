"""Hybrid dynamics: joints whose motion is a function of time."""

import numpy as np
import pytest
from random_mechanisms import LOWER, random_closed, random_tree, random_velocity_state
from redmax_matrices import acceleration_by_matrices

import varint as vi
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.integrators import INTEGRATORS

ORDERS = {
    name: kind.order for name, kind in INTEGRATORS.items() if kind.fixed and kind.order <= 2 and not kind.trees_only
}


def swing(rng, dof):
    """A smooth motion of ``dof`` coordinates, with its rates."""
    a, b, w = rng.standard_normal((3, dof))
    return lambda t: (a + b * np.sin(w * t), b * w * np.cos(w * t), -b * w * w * np.sin(w * t))


@pytest.mark.slow
def test_recursion_is_the_matrix_solution(rng):
    for closed in (False, True):
        for _ in range(5):
            mechanism = random_closed(rng, 8, 1) if closed else random_tree(rng, 8, floating=True)
            tree = Equations(mechanism).tree
            names = [name for name in tree.columns if name in mechanism.joint_index]
            driven = {name: swing(rng, mechanism.joint(name).dof) for name in rng.choice(names, 2, replace=False)}
            equations = Equations(mechanism, prescribed=driven, baumgarte=1.0)
            start = vi.redmax.reduced_state(mechanism, random_velocity_state(rng, mechanism))
            found = equations.acceleration(0.3, start.q, start.qdot)
            size = np.abs(found).max()
            assert found == pytest.approx(
                acceleration_by_matrices(equations, 0.3, start.q, start.qdot), abs=1e-10 * size
            )
            for name, motion in driven.items():
                assert found[tree.columns[name]] == pytest.approx(motion(0.3)[2])


@pytest.mark.slow
def test_a_run_drives_itself_as_it_was_driven():
    """The efforts that a prescribed motion takes, given to a motor, bring the same motion about."""
    mechanism = vi.mechanisms.double_pendulum()
    name = mechanism.joints[0].name

    def motion(t):
        return 0.5 * np.sin(3 * t), 1.5 * np.cos(3 * t), -4.5 * np.sin(3 * t)

    T, n = 1.0, 400
    driven = vi.redmax.simulate(mechanism, T, dt=T / n, prescribed={name: motion}, rtol=1e-11)
    assert driven.coordinates[name] == pytest.approx(0.5 * np.sin(3 * driven.t), abs=1e-14)
    motor = vi.Motor("motor", joint=name, effort=driven.driving[name][:, 0])
    free = vi.Mechanism("free", mechanism.bodies, mechanism.joints, forces=[motor])
    start = vi.redmax.ReducedState(driven.q[0], driven.qdot[0])
    run = vi.redmax.simulate(free, T, dt=T / n, state=start, rtol=1e-10)
    assert run.position[-1] == pytest.approx(driven.position[-1], abs=1e-4)  # efforts are linear in between
    assert np.abs(driven.energy_balance).max() < 1e-4 * driven.kinetic.max()


def test_the_crank_of_a_loop():
    mechanism = vi.mechanisms.slider_crank()
    state = mechanism.state()
    reduced = vi.redmax.reduced_state(mechanism, state)
    name = next(name for name in vi.redmax.coordinates(mechanism) if "world" in vars(mechanism.joint(name)).values())
    first = vi.redmax.coordinates(mechanism)[name].start
    angle, rate = reduced.q[first], reduced.qdot[first]
    run = vi.redmax.simulate(mechanism, 0.2, dt=0.001, prescribed={name: lambda t: (angle + rate * t, rate, 0.0)})
    assert run.drift.max() < 1e-7
    assert run.coordinates[name][-1] == pytest.approx(angle + 0.2 * rate)
    assert np.abs(run.energy_balance).max() < 1e-4 * run.kinetic.max()


def test_wrong_requests_are_refused():
    mechanism = vi.mechanisms.four_bar()
    columns = vi.redmax.coordinates(mechanism)
    name, cut = next(iter(columns)), next(j.name for j in mechanism.joints if j.name not in columns)
    for prescribed, message in (
        ({"nothing": np.sin}, "no joint 'nothing'"),
        ({cut: np.sin}, "closes a loop"),
        ({name: 3.0}, "must be a function, got 3.0"),
        ({name: np.sin}, "must be \\(q, qdot, qddot\\)"),
        ([name], "must be a dict"),
    ):
        with pytest.raises(vi.ArgumentError, match=message):
            vi.redmax.simulate(mechanism, 1.0, prescribed=prescribed)


# ---------------------------------------------------------------------------------------- steps of one size


def start_and_swing(rng, mechanism, count):
    """A random state, and smooth motions of the first ``count`` tree joints that start there."""
    state = random_velocity_state(rng, mechanism)
    reduced, columns = vi.redmax.reduced_state(mechanism, state), vi.redmax.coordinates(mechanism)
    names = [name for name in columns if name in mechanism.joint_index][:count]

    def motion(q, v):
        a, w = rng.uniform(0.3, 1.0, q.size), rng.uniform(2.0, 4.0, q.size)
        return lambda t: (
            q + v / w * np.sin(w * t) + a * (1 - np.cos(w * t)),
            v * np.cos(w * t) + a * w * np.sin(w * t),
            a * w * w * np.cos(w * t) - v * w * np.sin(w * t),
        )

    return state, {name: motion(reduced.q[columns[name]], reduced.qdot[columns[name]]) for name in names}


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("integrator", ORDERS)
@pytest.mark.parametrize("closed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_order_in_steps_of_one_size(integrator, closed):
    """Of positions, velocities, efforts of the drives and the balance of energy, in which their work counts."""
    rng = np.random.default_rng(3)
    mechanism = random_closed(rng, 8, 1) if closed else random_tree(rng, 5, LOWER, floating=True)
    state, prescribed = start_and_swing(rng, mechanism, 2)
    T, found = 0.25, []
    exact = vi.redmax.simulate(mechanism, T, rtol=1e-11, state=state, prescribed=prescribed)
    for n in (60, 120):
        run = vi.redmax.simulate(mechanism, T, dt=T / n, integrator=integrator, state=state, prescribed=prescribed)
        errors = [run.position[-1] - exact.position[-1], run.velocity[-1] - exact.velocity[-1]]
        errors += [run.driving[name][-1] - exact.driving[name][-1] for name in prescribed]
        found.append([np.abs(error).max() for error in (*errors, run.energy_balance)])
        for name, motion in prescribed.items():
            q, rates, _ = np.swapaxes([motion(t) for t in run.t], 0, 1)
            assert run.q[:, run.columns[name]] == pytest.approx(q, abs=1e-14)
            assert run.qdot[:, run.columns[name]] == pytest.approx(rates, abs=1e-14)
    assert np.log2(np.divide(*found)) == pytest.approx(np.full(len(found[0]), ORDERS[integrator]), abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
def test_a_driven_ball_beyond_one_turn(integrator):
    """Its rotation vector stays the given one, longer than those that charts have."""
    bodies = [
        vi.Body.box("a", (0.1, 0.2, 0.3), 1.0, position=(0, 0, -0.5)),
        vi.Body.box("b", (0.1, 0.1, 0.4), 1.0, position=(0.2, 0, -1.2)),
    ]
    joints = [
        vi.Spherical("ball", "world", "a", point=(0, 0, 0)),
        vi.Spherical("next", "a", "b", point=(0, 0, -1)),
    ]
    mechanism, axis = vi.Mechanism("turned", bodies, joints), np.array([0.2, 0.3, 1.0])
    motion = {"ball": lambda t: (axis * (4 * t + 2 * t * t), axis * (4 + 4 * t), 4 * axis)}
    exact, errors = vi.redmax.simulate(mechanism, 1.0, rtol=1e-11, prescribed=motion), []
    for n in (100, 200):
        run = vi.redmax.simulate(mechanism, 1.0, dt=1 / n, prescribed=motion, integrator=integrator)
        errors.append(np.abs(run.position[-1] - exact.position[-1]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[integrator], abs=0.15)


@pytest.mark.parametrize("integrator", ORDERS)
@pytest.mark.slow
@pytest.mark.many
def test_a_loop_that_has_no_freedom_left(integrator):
    """Kinematics alone: the loop is closed at the crank's angle, whatever the forces."""
    mechanism = vi.mechanisms.four_bar(case="crank-rocker")
    angle = mechanism.sweep("crank pivot", [0.0]).coordinates["crank pivot"][0]
    start = vi.redmax.reduced_state(mechanism, mechanism.state(coordinates={"crank pivot": angle}))
    motion = {"crank pivot": lambda t: (angle + 2.0 * t * t, 4.0 * t, 4.0)}
    errors = []
    for dt in (0.01, 0.005):
        run = vi.redmax.simulate(mechanism, 0.5, dt=dt, state=start, integrator=integrator, prescribed=motion)
        sweep = mechanism.sweep("crank pivot", angle + 2.0 * run.t**2)
        errors.append(np.abs(run.coordinates["rocker pivot"] - sweep.coordinates["rocker pivot"]).max())
    assert errors[1] < 3e-3
    assert errors[1] < 0.6 * errors[0] if ORDERS[integrator] == 1 else errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("integrator", [name for name in ORDERS if INTEGRATORS[name].stiff])
def test_drags_a_stiff_spring_along(integrator):
    """Steps far longer than the spring's period: what hangs on it goes with the driven slide."""
    bodies = [vi.Body("a", mass=1.0, inertia=np.eye(3)), vi.Body("b", mass=1.0, inertia=np.eye(3), position=(1, 0, 0))]
    joints = [
        vi.Prismatic("ja", "world", "a", point=(0, 0, 0), axis=(1, 0, 0)),
        vi.Prismatic("jb", "world", "b", point=(1, 0, 0), axis=(1, 0, 0)),
    ]
    spring = vi.Spring("spring", "a", "b", point_a=(0, 0, 0), point_b=(1, 0, 0), stiffness=1e8, damping=1e4)
    mechanism = vi.Mechanism("dragged", bodies, joints, forces=[spring])
    motion = {"ja": lambda t: (np.sin(t) ** 2, np.sin(2 * t), 2 * np.cos(2 * t))}
    run = vi.redmax.simulate(mechanism, 1.0, dt=0.01, integrator=integrator, prescribed=motion)
    assert np.abs(run.coordinates["jb"] - np.sin(run.t) ** 2).max() < 1e-6


# ---------------------------------------------------------------------------------------- accelerations, reactions


def driven_pendulum():
    body = vi.Body("b", mass=2.0, inertia=np.diag([0.3, 0.2, 0.1]), position=(0, 0, -0.7))
    return vi.Mechanism("driven", [body], [vi.Revolute("hinge", "world", "b", point=(0, 0, 0), axis=(0, 1, 0))])


@pytest.mark.parametrize("integrator", ["dop853", "euler", "bdf2"])
@pytest.mark.parametrize("how", ["prescribed", "force"])
def test_driven_pendulum_by_its_closed_form(integrator, how):
    mechanism, prescribed, tight = driven_pendulum(), None, 1e-9
    if how == "prescribed":
        prescribed = {"hinge": lambda t: (np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t))}
    else:
        tight = 1e-5  # differences of the position
        motion = vi.PrescribedMotion("drive", joint="hinge", position=lambda t: np.sin(3 * t))
        mechanism = vi.Mechanism("driven", mechanism.bodies, mechanism.joints, forces=[motion])
    run = vi.redmax.simulate(mechanism, 1.0, dt=0.05, integrator=integrator, prescribed=prescribed)
    q, rate, bend = np.sin(3 * run.t), 3 * np.cos(3 * run.t), -9 * np.sin(3 * run.t)
    none = 0.0 * q
    along, inwards = np.array([-np.cos(q), none, np.sin(q)]).T, np.array([np.sin(q), none, np.cos(q)]).T
    acceleration = 0.7 * (bend[:, None] * along + rate[:, None] ** 2 * inwards)
    assert run.acceleration[:, 0] == pytest.approx(acceleration, abs=tight)
    assert run.angular_acceleration[:, 0] == pytest.approx(np.array([none, bend, none]).T, abs=10 * tight)
    assert run.reactions["hinge"].force == pytest.approx(2.0 * (acceleration + [0, 0, 9.81]), abs=10 * tight)
    assert run.reactions["hinge"].torque == pytest.approx(np.zeros((len(q), 3)), abs=10 * tight)
    torque = (0.2 + 2.0 * 0.49) * bend + 2.0 * 9.81 * 0.7 * np.sin(q)
    assert run.driving["hinge"][:, 0] == pytest.approx(torque, abs=10 * tight)
    if how == "force":
        assert run.force["drive"] == pytest.approx(torque, abs=10 * tight)
        assert run.power["drive"] == pytest.approx(torque * rate, abs=30 * tight)


@pytest.mark.parametrize("seed", range(4))
def test_accelerations_are_those_of_the_motion(seed):
    rng = np.random.default_rng(seed)
    mechanism = random_closed(rng, 6, 1) if seed % 2 else random_tree(rng, 5, LOWER, floating=True)
    state, prescribed = start_and_swing(rng, mechanism, 2)
    dt = 1e-3
    run = vi.redmax.simulate(mechanism, 10 * dt, dt=dt, rtol=1e-12, state=state, prescribed=prescribed)
    difference = (run.velocity[2:] - run.velocity[:-2]) / (2 * dt)
    size = np.abs(difference).max()
    assert run.acceleration[1:-1] == pytest.approx(difference, abs=1e-4 * size)
    spin = (run.angular_velocity[2:] - run.angular_velocity[:-2]) / (2 * dt)
    assert run.angular_acceleration[1:-1] == pytest.approx(spin, abs=1e-4 * np.abs(spin).max())


# ---------------------------------------------------------------------------------------- one of several coordinates


def swung(t):
    return 0.4 * np.sin(3.0 * t)


KINDS = {
    "Spherical": (vi.Spherical, {}, 1, None),
    "Spherical in angles": (vi.Spherical, {}, 0, "xyz"),
    "Cylindrical": (vi.Cylindrical, {"axis": (0, 1, 0.2)}, 1, None),
    "Universal": (vi.Universal, {"axis": (1, 0, 0), "axis_b": (0, 1, 0)}, 1, None),
    "Free": (vi.Free, {}, 4, None),
}


def one_of_several(name, **motion):
    """Two bars, the first on a joint of which one coordinate is prescribed."""
    kind, given, coordinate, angles = KINDS[name]
    bodies = [
        vi.Body.box("a", (0.1, 0.2, 0.6), 1.5, position=(0.1, 0, -0.3)),
        vi.Body.box("b", (0.1, 0.1, 0.5), 1.0, position=(0.3, 0.1, -0.8)),
    ]
    joints = [
        kind("joint", "world", "a", point=(0, 0, 0), **given),
        vi.Revolute("knee", "a", "b", point=(0.2, 0.05, -0.6), axis=(0, 1, 0)),
    ]
    motion = motion or {"position": swung}
    drive = vi.PrescribedMotion("drive", joint="joint", coordinate=coordinate, angles=angles, **motion)
    return vi.Mechanism("two bars", bodies, joints, forces=[drive])


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_one_coordinate_of_several(name):
    """Against the maximal form: orders two and four of positions, the same effort."""
    mechanism, T = one_of_several(name), 0.2
    exact = vi.redmax.simulate(mechanism, T, rtol=1e-11)
    measured = exact.coordinates["joint"]
    if KINDS[name][3] is None:
        assert measured[:, KINDS[name][2]] == pytest.approx(swung(exact.t), abs=1e-9)
    assert exact.drift.max() < 1e-9
    for order, counts in ((2, (80, 160)), (4, (20, 40))):
        errors = []
        for n in counts:
            run = vi.simulate(mechanism, T, T / n, order=order)
            errors.append(np.abs(run.position[-1] - exact.position[-1]).max())
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
        assert run.force["drive"][-1] == pytest.approx(exact.force["drive"][-1], rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ORDERS)
def test_one_coordinate_of_several_in_steps_of_one_size(integrator):
    mechanism, T = one_of_several("Spherical"), 0.2
    exact, errors = vi.redmax.simulate(mechanism, T, rtol=1e-11), []
    for n in (40, 80):
        run = vi.redmax.simulate(mechanism, T, dt=T / n, integrator=integrator)
        errors.append([np.abs(getattr(run, what)[-1] - getattr(exact, what)[-1]).max() for what in ("q", "qdot")])
    assert np.log2(np.divide(*errors)) == pytest.approx(np.full(2, ORDERS[integrator]), abs=0.25)


def test_one_coordinate_of_several_beyond_one_turn():
    """At a constant rate from where the start has it; the work of the drive balances the energy."""
    mechanism = one_of_several("Cylindrical", rate=9.0)
    drive = vi.PrescribedMotion("turn", joint="joint", coordinate=0, rate=9.0)
    mechanism = vi.Mechanism("m", mechanism.bodies, mechanism.joints, forces=[drive])
    state = mechanism.state(coordinates={"joint": (0.3, 0.1)})
    run = vi.redmax.simulate(mechanism, 1.0, dt=0.002, rtol=1e-9, state=state)
    assert run.coordinates["joint"][:, 0] == pytest.approx(0.3 + 9.0 * run.t, abs=1e-7)
    assert np.abs(run.energy_balance).max() < 1e-3 * run.kinetic.max()


def test_where_one_coordinate_of_several_is_not_known():
    mechanism = one_of_several("Spherical")
    with pytest.raises(
        vi.ArgumentError, match="prescribes a joint of several coordinates, which equations of motion do not support"
    ):
        vi.redmax.EquationsOfMotion(mechanism)
    with pytest.raises(
        vi.ArgumentError, match="several coordinates, which gradients in reduced coordinates do not support"
    ):
        vi.redmax.gradient(mechanism, lambda state: 0.0, 0.1, 0.01, with_respect_to=["a.mass"])
    state = mechanism.state(coordinates={"joint": (0.0, 0.3, 0.0)})
    with pytest.raises(vi.StateError, match=r"starts .* from where the state has coordinate 1 of joint 'joint'"):
        vi.redmax.simulate(mechanism, 0.1, state=state)
