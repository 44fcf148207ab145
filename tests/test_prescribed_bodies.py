"""Bodies and points that move in the world as told: `PrescribedBody`, `PrescribedPoint`."""

import dataclasses

import numpy as np
import pytest
import quaternion
from random_mechanisms import random_tree, random_velocity_state
from redmax_matrices import acceleration_by_matrices
from scipy.integrate import solve_ivp

import varint as vi
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.integrators import INTEGRATORS
from varint.methods.reduced.start import start_of
from varint.model.rotation_vectors import quat_from_vector, quat_product
from varint.results.inputs.at_nodes import starts_of_motions
from varint.results.inputs.courses import Span, courses_by_rows

FORMULATIONS = {"maximal": vi.simulate, "reduced": vi.redmax.simulate}
both = pytest.mark.parametrize("simulate", FORMULATIONS.values(), ids=FORMULATIONS)


def turning(angle, axis=(0, 0, 1)):
    """The orientation as a function of time, by its angle."""
    return lambda t: quaternion.from_rotation_vector(angle(t) * np.array(axis, dtype=float))


def hanging(*forces):
    """A pendulum of 2 kg, 0.7 m below its hinge."""
    body = vi.Body("bob", mass=2.0, inertia=np.diag([0.3, 0.2, 0.1]), position=(0, 0, -0.7))
    hinge = vi.Revolute("hinge", "world", "bob", point=(0, 0, 0), axis=(0, 1, 0))
    return vi.Mechanism("pendulum", [body], [hinge], forces=forces)


def angle(t):
    return 0.5 * np.sin(3 * t)


def on_circle(t):
    """Where the bob is when the hinge is at `angle`."""
    return -0.7 * np.sin(angle(t)), 0.0, -0.7 * np.cos(angle(t))


def chain(count, first="world"):
    """Links on balls, bent."""
    points = np.array([(0.3 * (i % 2), 0.1 * (i == 2), -0.5 * i) for i in range(count)])
    middles = [(0.3 * (i % 2), 0.0, -0.25 - 0.5 * i) for i in range(count)]
    bodies = [vi.Body.box(f"link {i}", (0.1, 0.08, 0.5), 1 + 0.2 * i, position=p) for i, p in enumerate(middles)]
    ends = [first, *(body.name for body in bodies)]
    joints = [vi.Spherical(f"ball {i}", ends[i], ends[i + 1], point=p) for i, p in enumerate(points)]
    return bodies, joints


def led_by_its_tip():
    bodies, joints = chain(3)
    tip = np.array([0.2, 0.0, -1.4])

    def position(t):
        return tip + [0.1 * np.sin(3 * t), 0.1 * (1 - np.cos(4 * t)), 0.1 * np.sin(2 * t) ** 2]

    force = vi.PrescribedPoint("lead", body="link 2", point=tip, position=position)
    return vi.Mechanism("led", bodies, joints, forces=[force])


def hung_from_a_body():
    """It floats, so that reduced coordinates move its own."""
    bodies, joints = chain(2, "top")
    top = vi.Body.box("top", (0.3, 0.3, 0.1), 2.0, position=(0, 0, 0.05))
    force = vi.PrescribedBody(
        "lead",
        body="top",
        position=lambda t: (0.1 * np.sin(3 * t), 0.05 * np.sin(t), 0.05 + 0.2 * np.sin(2 * t)),
        quat_wxyz=lambda t: quat_from_vector(
            np.array([0.5 * np.sin(2 * t), 0.3 * np.sin(3 * t) ** 2, 0.8 * (1 - np.cos(2 * t))])
        ),
    )
    joints = [vi.Free("base", "world", "top"), *joints]
    return vi.Mechanism("hung", [top, *bodies], joints, forces=[force])


SCENES = {"point": led_by_its_tip, "body": hung_from_a_body}


# ---------------------------------------------------------------------------------------- closed forms


@pytest.mark.slow
@both
@pytest.mark.parametrize("dt", [1e-2, 1e-4])
def test_a_floating_body_by_its_closed_form(simulate, dt):
    """Newton's and Euler's equations, to 1e-8 at any step: the derivatives of functions have a spacing of their own."""
    body = vi.Body("b", mass=2.0, inertia=np.diag([0.3, 0.2, 0.1]), position=(0, 0, 1))
    lift = vi.PrescribedBody(
        "lift",
        body="b",
        position=lambda t: (0.1 * np.sin(3 * t), 0.05 * (1 - np.cos(3 * t)), 1 + 0.2 * np.sin(2 * t)),
        quat_wxyz=turning(lambda t: np.sin(3 * t)),
    )
    mechanism = vi.Mechanism("lifted", [body], [vi.Free("base", "world", "b")], forces=[lift])
    run = simulate(mechanism, max(0.02, 50 * dt), dt=dt)
    s, c, zero = np.sin(3 * run.t), np.cos(3 * run.t), 0.0 * run.t
    bend = np.array([-0.9 * s, 0.45 * c, -0.8 * np.sin(2 * run.t)]).T
    assert run.acceleration[:, 0] == pytest.approx(bend, abs=1e-8)
    assert run.angular_acceleration[:, 0] == pytest.approx(np.array([zero, zero, -9 * s]).T, abs=1e-8)
    effort = np.concatenate([2 * (bend + [0, 0, 9.81]), np.array([zero, zero, -0.9 * s]).T], axis=1)
    assert run.force["lift"] == pytest.approx(effort, abs=2e-8)
    speed = np.array([0.3 * c, 0.15 * s, 0.4 * np.cos(2 * run.t), zero, zero, 3 * c]).T
    assert run.power["lift"] == pytest.approx(np.sum(effort * speed, axis=1), abs=1e-7)
    assert np.abs(run.energy_balance).max() < 20 * dt**2


@pytest.mark.slow
@both
def test_torque_in_space(simulate):
    """Of a body that turns about changing axes: what it takes is the rate of its angular momentum."""
    inertia = np.diag([0.3, 0.2, 0.1])
    body = vi.Body("b", mass=2.0, inertia=inertia)

    def quat(t):
        return quaternion.from_rotation_vector(np.array([1.5 * np.sin(2 * t), 1.0 - np.cos(3 * t), 0.7 * t]))

    lift = vi.PrescribedBody("lift", body="b", position=(0, 0, 0), quat_wxyz=quat)
    mechanism = vi.Mechanism("turned", [body], [vi.Free("base", "world", "b")], forces=[lift], gravity=(0, 0, 0))
    run = simulate(mechanism, 1.0, dt=0.02)
    h, expected = 1e-3, []

    def spin(t):
        """World: of the change of the quaternion, by differences of order 4."""
        dq = (8 * (quat(t + h) - quat(t - h)) - quat(t + 2 * h) + quat(t - 2 * h)) / (12 * h)
        return 2 * (dq * quat(t).conj()).vec

    def momentum(t):
        R = quaternion.as_rotation_matrix(quat(t))
        return R @ inertia @ R.T @ spin(t)

    for t in run.t:
        expected.append(
            (8 * (momentum(t + h) - momentum(t - h)) - momentum(t + 2 * h) + momentum(t - 2 * h)) / (12 * h)
        )
    assert run.force["lift"][:, 3:] == pytest.approx(np.array(expected), abs=1e-7)
    assert run.quat_wxyz[:, 0] == pytest.approx(np.array([quat(t).components for t in run.t]), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
def test_a_pendulum_whose_pivot_is_shaken(order):
    """Kapitza's: (J + m l^2) theta'' = (g + z'') m l sin(theta), which stands upside down where it is shaken fast."""
    height, pace, m, length, J = 0.05, 60.0, 0.5, 0.4, 0.02
    pivot = vi.Body.box("pivot", (0.1, 0.1, 0.1), 1.0)
    bob = vi.Body("bob", mass=m, inertia=J * np.eye(3), position=(0, 0, length))
    joints = [vi.Free("base", "world", "pivot"), vi.Revolute("hinge", "pivot", "bob", point=(0, 0, 0), axis=(0, 1, 0))]
    shake = vi.PrescribedBody("shake", body="pivot", position=lambda t: (0, 0, height * (1 - np.cos(pace * t))))
    mechanism = vi.Mechanism("Kapitza's", [pivot, bob], joints, forces=[shake])
    state = mechanism.state(coordinates={"hinge": 0.2})

    def slope(t, y):
        lift = height * pace**2 * np.cos(pace * t)
        return [y[1], m * length * (9.81 + lift) * np.sin(y[0]) / (J + m * length**2)]

    exact = solve_ivp(slope, (0, 1), [0.2, 0], "DOP853", rtol=1e-11, atol=1e-12, dense_output=True).sol
    errors = []
    for dt in (0.004, 0.002):
        run = vi.simulate(mechanism, 1.0, dt, state=state, order=order, on_unresolved="ignore")
        errors.append(np.abs(run.coordinates["hinge"] - exact(run.t)[0]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)
    red = vi.redmax.simulate(mechanism, 1.0, dt=0.002, state=state, rtol=1e-10)
    assert red.coordinates["hinge"] == pytest.approx(exact(red.t)[0], abs=1e-7)
    assert np.abs(red.coordinates["hinge"]).max() < 1.0  # it does not fall


# ---------------------------------------------------------------------------------------- one formulation by the other


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("scene", SCENES)
def test_orders_of_the_variational_form(scene, order):
    """Of positions, velocities and efforts; energy and work close at the same order."""
    mechanism, T, found = SCENES[scene](), 0.4, []
    exact = vi.redmax.simulate(mechanism, T, rtol=1e-12, baumgarte=20.0)
    for n in (60, 120):
        run = vi.simulate(mechanism, T, T / n, order=order)
        pairs = [(getattr(run, name), getattr(exact, name)) for name in ("position", "velocity", "angular_velocity")]
        pairs.append((run.force["lead"], exact.force["lead"]))
        errors = [np.abs(one[-1] - other[-1]).max() for one, other in pairs]
        found.append([*errors, np.abs(run.energy_balance).max()])
    assert np.log2(np.divide(*found)) == pytest.approx(np.full(5, float(order)), abs=0.25)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "bdf1", "sdirk2", "bdf2"])
@pytest.mark.parametrize("scene", SCENES)
def test_orders_in_steps_of_one_size(scene, integrator):
    mechanism, T, found = SCENES[scene](), 0.25, []
    exact = vi.redmax.simulate(mechanism, T, rtol=1e-11)
    for n in (200, 400):
        run = vi.redmax.simulate(mechanism, T, dt=T / n, integrator=integrator)
        found.append(
            [np.abs(getattr(run, name)[-1] - getattr(exact, name)[-1]).max() for name in ("position", "velocity")]
        )
    order = INTEGRATORS[integrator].order
    assert np.log2(np.divide(*found)) == pytest.approx(np.full(2, float(order)), abs=0.3)


def equations_of(mechanism, state=None):
    """The equations, with q and rates at the start."""
    state = state or mechanism.state()
    moved = courses_by_rows(mechanism, Span(100, 0.01, 1.0), starts_of_motions(mechanism, state))
    equations = Equations(mechanism, baumgarte=1.0, moved=moved)
    return equations, *start_of(equations, state, {})


def test_recursion_of_a_tree_is_the_matrix_solution(rng):
    """Hybrid dynamics: a base is moved in the recursion, without rows."""
    for _ in range(3):
        tree = random_tree(rng, 8, floating=True)
        base = next(joint for joint in Equations(tree).tree.joints if isinstance(joint, vi.Free))
        place, rest = tree.body(base.body_b).position, tree.body(base.body_b).quat_wxyz
        lead = vi.PrescribedBody(
            "lead",
            body=base.body_b,
            position=lambda t, p=place: p + [0.1 * np.sin(t), t * t, 0.3 * t],
            quat_wxyz=lambda t, q=rest: quat_product(quat_from_vector(np.array([np.sin(t), t * t, 0.2 * t])), q),
        )
        mechanism = dataclasses.replace(tree, forces=[lead])
        equations, q, rates = equations_of(mechanism, random_velocity_state(rng, mechanism))
        assert equations.row_count == 0
        found = equations.acceleration(0.3, q, rates).copy()
        size = np.abs(found).max()
        assert found == pytest.approx(acceleration_by_matrices(equations, 0.3, q, rates), abs=1e-10 * size)


def test_rows_of_a_point_are_exact(rng):
    """Rates and accelerations of a point less its target, by differences along the motion; and the matrix solution."""
    equations, q, rates = equations_of(led_by_its_tip())
    assert equations.row_count == 3
    q, rates, t, h = q + 0.2 * rng.standard_normal(q.size), rng.standard_normal(q.size), 0.13, 1e-4
    found = equations.acceleration(t, q, rates).copy()
    size = np.abs(found).max()
    assert found == pytest.approx(acceleration_by_matrices(equations, t, q, rates), abs=1e-10 * size)

    def violated(s):
        there = q + s * rates + 0.5 * s * s * found, rates + s * found
        equations.imposed(t + s, *there)
        equations.place_and_move(*there)
        return [part.copy() for part in equations.violations(*there)[:2]]

    (before, _), (value, rate), (after, _) = (violated(s) for s in (-h, 0.0, h))
    assert rate == pytest.approx((after - before) / (2 * h), abs=1e-5)
    assert (after - 2 * value + before) / h**2 == pytest.approx(-2 * rate - value, abs=1e-4)  # Baumgarte's, of rate 1


# ---------------------------------------------------------------------------------------- scenes


@pytest.mark.slow
@both
def test_a_stewart_platform_whose_legs_follow(simulate):
    """The efforts of the legs by inverse dynamics exert the same on the platform as what moves it."""
    plain = vi.mechanisms.stewart_platform()
    place = plain.body("platform").position
    lift = vi.PrescribedBody(
        "lift",
        body="platform",
        position=lambda t: place + [0.05 * np.sin(3 * t), 0.04 * (1 - np.cos(2 * t)), 0.05 * np.sin(2 * t)],
        quat_wxyz=lambda t: quat_from_vector(0.1 * np.array([np.sin(3 * t), np.sin(2 * t), 2 - 2 * np.cos(3 * t)])),
    )
    mechanism = dataclasses.replace(plain, start={}, gravity=(0, 0, -9.81), forces=[lift])
    run = simulate(mechanism, 0.2, dt=0.01)
    legs = [joint.name for joint in mechanism.joints if isinstance(joint, vi.Prismatic)]
    efforts, wrench, k = vi.inverse_dynamics(run, joints=legs), np.zeros((len(run), 6)), mechanism.body_index
    for n, leg in enumerate(legs, start=1):
        foot, head = mechanism.joint(f"foot {n}").point, mechanism.joint(f"head {n}").point
        top = run.path("platform", head).position
        along = (top - foot) / np.linalg.norm(top - foot, axis=1, keepdims=True)
        force = efforts[leg][:, None] * along
        wrench += np.hstack([force, np.cross(top - run.position[:, k["platform"]], force)])
    assert wrench == pytest.approx(run.force["lift"], abs=1e-7 * np.abs(wrench).max())
    assert np.abs(run.energy_balance).max() < 1e-3
    assert run.drift.max() < 1e-9


def hand():
    """An arm with its elbow driven, and a finger whose last joint flexes by half the one before, its tip held."""
    lengths = {"forearm": 0.3, "palm": 0.1, "proximal": 0.05, "middle": 0.03, "distal": 0.02}
    at, names, bodies, joints = np.array([0.0, 0.0, 0.0]), ["world", *lengths], [], []
    turns = [0.0, 0.3, 0.9, 1.6, 2.0]  # the finger is bent
    kinds = [vi.Revolute, vi.Universal, vi.Universal, vi.Revolute, vi.Revolute]
    for n, (name, length) in enumerate(lengths.items()):
        along = np.array([np.cos(turns[n]), 0.0, -np.sin(turns[n])])
        bodies.append(vi.Body.box(name, (length, 0.02, 0.02), 20 * length, position=at + 0.5 * length * along,
                                  quat_wxyz=quat_from_vector(np.array([0, turns[n], 0]))))  # fmt: skip
        axes = {"axis": (0, 1, 0)} | ({"axis_b": (0, 0, 1)} if kinds[n] is vi.Universal else {})
        joints.append(kinds[n](f"joint {n}", names[n], name, point=at, **axes))
        at = at + length * along
    forces = [
        vi.PrescribedMotion("elbow", joint="joint 0", position=lambda t: 0.05 * (1 - np.cos(6 * t))),
        vi.Equality("tendon", joint_a="joint 3", joint_b="joint 4", factor=0.5),
        vi.PrescribedPoint("fingertip", body="distal", point=at, position=at),
        *(vi.JointDamper(f"damper {n}", joint=f"joint {n}", damping=0.002) for n in (3, 4)),
    ]
    return vi.Mechanism("hand", bodies, joints, forces=forces), at


@pytest.mark.slow
def test_the_hand():
    """DIFF section 2.9: elbow and fingertips prescribed, joints of a finger coupled."""
    mechanism, tip = hand()
    exact, errors = vi.redmax.simulate(mechanism, 0.5, dt=0.05, rtol=1e-11), []
    for n in (100, 200):
        run = vi.simulate(mechanism, 0.5, 0.5 / n)
        errors.append(
            [
                np.abs(run.position[-1] - exact.position[-1]).max(),
                np.abs(run.force["fingertip"][-1] - exact.force["fingertip"][-1]).max(),
                np.abs(run.energy_balance).max(),
            ]
        )
        assert run.path("distal", tip).position == pytest.approx(np.tile(tip, (n + 1, 1)), abs=1e-12)
        assert run.coordinates["joint 4"] == pytest.approx(0.5 * run.coordinates["joint 3"], abs=1e-11)
        assert run.coordinates["joint 0"] == pytest.approx(0.05 * (1 - np.cos(6 * run.t)), abs=1e-12)
        assert np.abs(run.work[:, mechanism.force_index["fingertip"]]).max() < 1e-15  # what is held moves nothing
    assert np.log2(np.divide(*errors)) == pytest.approx(np.full(3, 2.0), abs=0.2)


# ---------------------------------------------------------------------------------------- too much, and against


@both
@pytest.mark.parametrize(
    "forces",
    [
        [vi.PrescribedPoint("a", body="bob", point=(0, 0, -0.7), position=on_circle)],
        [
            vi.PrescribedBody("a", body="bob", position=on_circle, quat_wxyz=turning(angle, (0, 1, 0))),
            vi.PrescribedPoint("b", body="bob", point=(0, 0, -1.4), position=lambda t: 2 * np.array(on_circle(t))),
            vi.PrescribedMotion("c", joint="hinge", position=angle),
        ],
    ],
    ids=["one", "three"],
)
def test_more_than_enough_works_where_it_agrees(simulate, forces):
    """A point of a pendulum has one way to go, and three rows. All together exert the torque that the motion takes."""
    mechanism = hanging(*forces)
    options = {"order": 4} if simulate is vi.simulate else {"rtol": 1e-10}
    run = simulate(mechanism, 0.5, dt=0.01, **options)
    q, bend = angle(run.t), -4.5 * np.sin(3 * run.t)
    assert run.coordinates["hinge"] == pytest.approx(q, abs=1e-8)
    power = sum(run.power[force.name] for force in forces)
    torque = (0.2 + 2 * 0.49) * bend + 2 * 9.81 * 0.7 * np.sin(q)
    assert power == pytest.approx(torque * 1.5 * np.cos(3 * run.t), abs=1e-6)


AGAINST = {
    "at the start": (lambda t: (0, 0, -0.7 - 0.1 * t), vi.StateError, "asks body 'bob' for a velocity .* by 0.1 m/s"),
    "later": (lambda t: (0, 0, -0.7 - 0.5 * t * t), vi.ConvergenceError, "a motion that the joints"),
    "elsewhere": (lambda t: (0, 0.1, -0.7), vi.StateError, "starts 0.1 m, or rad, from where .* mechanism.state"),
}


@both
@pytest.mark.parametrize("case", AGAINST)
def test_what_cannot_be_followed_is_named(simulate, case):
    position, error, words = AGAINST[case]
    mechanism = hanging(vi.PrescribedPoint("pull", body="bob", point=(0, 0, -0.7), position=position))
    with pytest.raises(error, match=f"prescribedpoint 'pull' .*{words}"):
        simulate(mechanism, 1.0, dt=0.01)


@both
def test_the_orientation_of_the_start_is_kept(simulate):
    body = vi.Body.box("b", (0.3, 0.2, 0.1), 1.0)
    mechanism = vi.Mechanism("kept", [body], [vi.Free("base", "world", "b")], forces=[
        vi.PrescribedBody("carry", body="b", position=lambda t: (t, 0.2, 0)),
    ])  # fmt: skip
    start = quat_from_vector(np.array([0.3, -0.8, 2.0]))
    state = mechanism.state(position={"b": (0, 0.2, 0)}, quat_wxyz={"b": start}, angular_velocity={"b": (1, 2, 3)})
    run = simulate(mechanism, 0.3, dt=0.01, state=state)
    assert run.quat_wxyz[:, 0] == pytest.approx(np.tile(start, (len(run), 1)), abs=1e-12)
    assert run.position[-1, 0] == pytest.approx([0.3, 0.2, 0], abs=1e-12)


@pytest.mark.slow
@both
def test_one_row_a_node_in_a_file(tmp_path, simulate):
    """Arrays are the functions through them; a run in a file goes on."""
    t = 0.01 * np.arange(41)
    position = np.array([on_circle(time) for time in t])
    quat = np.array([turning(angle, (0, 1, 0))(time).components for time in t])
    mechanism = hanging(vi.PrescribedBody("a", body="bob", position=position, quat_wxyz=quat))
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    read = vi.load_mechanism(tmp_path / "m.json")
    options = {} if simulate is vi.simulate else {"rtol": 1e-10}
    run = simulate(read, 0.4, dt=0.01, output=tmp_path / "run.h5", **options)
    whole = simulate(mechanism, 0.4, dt=0.01, **options)
    assert run.position.tobytes() == whole.position.tobytes()
    assert vi.load(tmp_path / "run.h5").force["a"] == pytest.approx(whole.force["a"], abs=1e-12)
    assert run.coordinates["hinge"] == pytest.approx(angle(run.t), abs=1e-6)
    assert run.to_csv(tmp_path / "run.csv", "force") is None
    assert "a torque z (N m)" in (tmp_path / "run.csv").read_text()
    with pytest.raises(vi.ArgumentError, match="position of prescribedbody 'a' must have 51 values"):
        simulate(mechanism, 0.5, dt=0.01)


def test_wrong_values_are_named():
    for wrong in ((0, 1), "here", [[0, 1]], (0, 0, np.nan)):
        with pytest.raises(vi.MechanismError, match="position of prescribedpoint 'p' must be"):
            vi.PrescribedPoint("p", body="bob", point=(0, 0, 0), position=wrong)
    with pytest.raises(vi.MechanismError, match="quat_wxyz of prescribedbody 'p'"):
        vi.PrescribedBody("p", body="bob", position=(0, 0, 0), quat_wxyz=(1, 1, 0, 0))
    with pytest.raises(vi.MechanismError, match="prescribedbody 'p' acts on a body, not on the world"):
        hanging(vi.PrescribedBody("p", body="world", position=(0, 0, 0)))
    for given, message in (
        ({"position": lambda t: (0, 1)}, "position of prescribedbody 'p' at t = 0 s must be"),
        ({"position": (0, 0, -0.7), "quat_wxyz": lambda t: (2, 0, 0, 0)}, "quat_wxyz of prescribedbody 'p' at t = 0 s"),
        ({"position": (0, 0, -0.7), "quat_wxyz": turning(lambda t: 3.1)}, "is 3.1 rad from the reference"),
    ):
        with pytest.raises(vi.ArgumentError, match=message):
            vi.simulate(hanging(vi.PrescribedBody("p", body="bob", **given)), 0.1, 0.01)


def test_what_does_not_know_them_says_so():
    mechanism = hung_from_a_body()
    for study in (
        lambda: vi.gradient(mechanism, lambda state: 0.0, 0.1, 0.01, with_respect_to="gravity"),
        lambda: vi.redmax.gradient(mechanism, lambda state: 0.0, 0.1, 0.01, with_respect_to="gravity"),
        lambda: vi.linearize(mechanism),
        lambda: vi.equilibrium(mechanism),
        lambda: vi.time_reversal(mechanism, 0.1, 0.01),
        lambda: vi.redmax.EquationsOfMotion(mechanism),
    ):
        with pytest.raises(vi.ArgumentError, match="prescribedbody 'lead' moves a body in the world, which"):
            study()
