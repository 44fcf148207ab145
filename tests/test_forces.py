"""Forces: derivatives, action and reaction, energy, order, stiffness, files, and clear errors."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from random_mechanisms import LOWER, random_body, random_closed, random_joint, random_tree, random_velocity_state, unit
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import varint as vi
from varint.analysis.forces import forces_at, potential_energy
from varint.compile import compile_structure
from varint.kernels import newton
from varint.kernels import plan as kinds
from varint.kernels.configuration import place
from varint.kernels.forces import law
from varint.kernels.gauges import measure
from varint.kernels.workspace import workspace
from varint.kinematics.frames import JointFrames, moved, reference_pose
from varint.model.checks import freeze
from varint.model.forces import FORCES
from varint.model.forces.base import coordinate_gauge
from varint.model.forces.spring import BetweenPoints
from varint.model.joints import REGISTRY
from varint.model.rotation import rotation_matrix

NODES = ("t", "position", "quat_wxyz", "velocity", "angular_velocity", "work", "command")
PARAMETERS = {
    "TorsionSpring": {"stiffness": 3.0, "rest_angle": 0.4, "damping": 0.2},
    "JointDamper": {"damping": 0.3},
    "JointFriction": {"effort": 0.5, "smoothing": 0.2},
    "JointStop": {"lower": -0.3, "upper": -0.05, "stiffness": 40.0, "damping": 0.1},
    "Motor": {"effort": 0.7},
    "JointServo": {"target": 0.3, "stiffness": 5.0, "damping": 0.4},
    "VelocityMotor": {"speed": 0.4, "max_effort": 0.6, "smoothing": 0.3},
    "Spring": {"stiffness": 30.0, "damping": 0.2},
    "Cable": {"stiffness": 30.0, "damping": 0.2},
}
KINDS = tuple(PARAMETERS)  # along coordinates and between points; the others: test_more_forces.py
NO_TABLE = np.zeros((0, 6))
CONSERVATIVE = ("TorsionSpring", "JointStop", "Spring", "Cable")


def with_forces(mechanism, *forces):
    return dataclasses.replace(mechanism, forces=forces)


def gauged(mechanism):
    """(joint name, coordinate) wherever a force along a coordinate can act."""
    return [
        (joint.name, k)
        for joint in mechanism.joints
        for k in range(joint.dof)
        if coordinate_gauge(joint, k, *mechanism.anchors(joint))
    ]


def random_force(rng, kind, name, mechanism, **parameters):
    """A force of type ``kind`` between random points or along a random coordinate of ``mechanism``."""
    parameters = PARAMETERS[kind] | parameters
    if issubclass(FORCES[kind], BetweenPoints):
        ends = rng.choice([*mechanism.body_index, "world"], 2, replace=False)
        a, b = ((mechanism.body(end).position if end != "world" else 0.0) + rng.standard_normal(3) for end in ends)
        rest = {"rest_length": rng.uniform(0.5, 0.9) * np.linalg.norm(b - a)}
        return FORCES[kind](name, *map(str, ends), point_a=a, point_b=b, **rest | parameters)
    joint, coordinate = gauged(mechanism)[rng.integers(len(gauged(mechanism)))]
    return FORCES[kind](name, joint=joint, coordinate=coordinate, **parameters)


def one_of_each(rng, mechanism, names=KINDS, **parameters):
    return with_forces(
        mechanism, *(random_force(rng, kind, f"f{k}", mechanism, **parameters) for k, kind in enumerate(names))
    )


def forces_of(mechanism, state, command=None):
    """`forces_at` of one state."""
    arrays = (state.position, state.quat_wxyz, state.velocity, state.angular_velocity)
    command = np.zeros(len(mechanism.forces)) if command is None else command
    return forces_at(mechanism, *(array[None] for array in arrays), command[None])


def test_parameters_and_readme_cover_the_registry():
    assert set(PARAMETERS) <= set(FORCES)
    readme = (Path(__file__).parent.parent / "README.md").read_text().split("**Forces:**")[1].split("* **")[0]
    assert all(f"`{kind}`" in readme for kind in FORCES)


# derivatives


def one_joint_each(rng):
    """A body on each kind of joint, alternately b and a of it, both ends in motion."""
    bodies = [random_body(rng, "base")]
    joints = [random_joint(rng, "Free", "base", "world", "base", bodies[0].position)]
    for k, kind in enumerate(REGISTRY):
        bodies.append(random_body(rng, kind))
        ends = ("base", kind) if k % 2 else (kind, "base")
        joints.append(random_joint(rng, kind, kind, *ends, bodies[-1].position + 0.5 * unit(rng)))
    return vi.Mechanism("one of each joint", bodies, joints)


def along_every_coordinate(rng, mechanism):
    """A motor along every coordinate that has a gauge, and springs between points, one of them from the world."""
    forces = [vi.Motor(f"{j} {k}", joint=j, coordinate=k, effort=0.0) for j, k in gauged(mechanism)]
    names = [body.name for body in mechanism.bodies]
    for k, (a, b) in enumerate([("world", names[1]), (names[2], names[3]), (names[4], "world")]):
        p, q = rng.standard_normal((2, 3))
        forces.append(vi.Spring(f"spring {k}", a, b, point_a=p, point_b=q, stiffness=1.0))
    return with_forces(mechanism, *forces)


def gauges_at(compiled, x, R):
    """Values (ng,) and gradients (ng, nb, 6) at a pose in the order of the description, the world last."""
    plan, order = compiled.plan, np.append(compiled.order, -1)
    value, sides = np.zeros(plan.gauge_kind.size), np.zeros((plan.gauge_kind.size, 2, 6))
    still = np.zeros((plan.mass.size, 6))
    measure(plan, np.ascontiguousarray(x[order]), np.ascontiguousarray(R[order]), still, sides, value)
    gradient = np.zeros((value.size, len(x), 6))
    for e, bodies in enumerate(plan.gauge_body):
        gradient[e, order[bodies]] = sides[e]
    return value, gradient[:, :-1]


def test_gradients_of_all_gauges_against_differences(rng):
    mechanism = along_every_coordinate(rng, one_joint_each(rng))
    compiled = compile_structure(mechanism, forced=True)
    assert set(compiled.plan.gauge_kind) == {kinds.LENGTH, kinds.SLIDE, kinds.TURN}
    nb, step = len(mechanism.bodies), 1e-4
    x, R = reference_pose(mechanism)
    for _ in range(2):
        random = np.zeros((nb + 1, 6))
        random[:-1] = rng.standard_normal((nb, 6))
        pose = moved(x, R, random)
        _, gradient = gauges_at(compiled, *pose)
        for i, k in np.ndindex(nb, 6):
            motion = np.zeros((nb + 1, 6))
            motion[i, k] = step
            samples = [gauges_at(compiled, *moved(*pose, s * motion))[0] for s in (1, -1, 2, -2)]
            turns = compiled.plan.gauge_kind == kinds.TURN
            near, far = samples[0] - samples[1], samples[2] - samples[3]
            for change in (near, far):
                change[turns] = (change[turns] + np.pi) % (2 * np.pi) - np.pi
            slope = (8 * near - far) / (12 * step)
            # a TURN bends without bound where its two directions get lost, at a pose that its joint forbids
            size = 1.0 + np.abs(gradient).max(axis=(1, 2)) ** 5
            assert (np.abs(slope - gradient[:, i, k]) < 1e-9 * size).all()


def test_coordinate_gauges_are_the_joint_coordinates(rng):
    """Value and rate, wherever the joints hold."""
    mechanism = along_every_coordinate(rng, one_joint_each(rng))
    compiled = compile_structure(mechanism, forced=True)
    assert {joint for joint, _ in gauged(mechanism)} == {"base", "Helical", *LOWER} - {"Fixed", "Spherical", "Rod"}
    numbers = {mechanism.forces[k].name: e for e, k in enumerate(compiled.force)}
    for _ in range(5):
        x, R = reference_pose(mechanism)
        v, w = np.zeros_like(x), np.zeros_like(x)
        q, rates = ({joint.name: rng.standard_normal(joint.dof) for joint in mechanism.joints} for _ in range(2))
        for joint in mechanism.joints:
            frames = JointFrames(mechanism, joint)
            child = mechanism.body_index[joint.name]
            frames.place(child, x, R, q[joint.name])
            frames.move(child, x, R, v, w, rates[joint.name])
        motion = np.hstack([v, np.einsum("nji,nj->ni", R, w)])[:-1]
        value, gradient = gauges_at(compiled, x, R)
        for joint, k in gauged(mechanism):
            e = numbers[f"{joint} {k}"]
            measured = JointFrames(mechanism, mechanism.joint(joint)).measure(x, R)[k]
            assert value[e] == pytest.approx(measured, abs=1e-12)
            assert np.vdot(gradient[e], motion) == pytest.approx(rates[joint][k], abs=1e-11)


@pytest.mark.parametrize("kind", ["SPRING", "CABLE", "STOP", "FRICTION", "DRAG", "SERVO", "INPUT", "MOTOR"])
def test_laws_against_differences(kind, rng):
    """Slopes by value and rate, minus the potential's slope where undamped, no push of cables, no pull of stops."""
    number, command, step = getattr(kinds, kind), 0.3, 1e-5
    acting = 0
    for value, rate in rng.uniform(-1, 1, (100, 2)):
        p = np.array([2.0, 0.2, 0.5, -0.3])
        effort, by_value, by_rate = law(number, p, value, rate, command, NO_TABLE)
        around = [
            law(number, p, value + a, rate + b, command, NO_TABLE)[0]
            for a, b in step * np.array([*np.eye(2), *-np.eye(2)])
        ]
        assert (around[0] - around[2]) / (2 * step) == pytest.approx(by_value, abs=1e-4)
        assert (around[1] - around[3]) / (2 * step) == pytest.approx(by_rate, abs=1e-4)
        assert by_rate <= 0
        acting += effort != 0
        p[2] = 0.0
        if kind in ("SPRING", "CABLE", "STOP"):
            ahead, behind = potential_energy(number, p, np.array([value + step, value - step]), NO_TABLE)
            assert law(number, p, value, 0.0, 0.0, NO_TABLE)[0] == pytest.approx(
                (behind - ahead) / (2 * step), abs=1e-4
            )
        if kind in ("CABLE", "STOP"):
            assert effort <= 0 if value > 0.2 else effort >= 0
        if kind in ("FRICTION", "DRAG"):
            assert effort * rate <= 0
        if kind == "MOTOR":
            assert effort * (rate - command) <= 0
    assert acting > 20


class Newton:
    """One Newton system of a mechanism with forces, from a random pose, velocity and target."""

    def __init__(self, rng, mechanism, speed, clustered=True):
        compiled = compile_structure(mechanism, clustered, forced=True)
        self.plan, self.ws = compiled.plan, workspace(compiled.plan, 1)
        state, nb = mechanism.state(), len(mechanism.bodies)
        self.ws.position[:, :-1], self.ws.quat[:, :-1] = state.position[compiled.order], state.quat_wxyz[compiled.order]
        place(self.plan, self.ws, 0)
        self.velocity = speed * rng.standard_normal((nb, 6))
        self.target = rng.standard_normal((nb, 6))
        ws = self.ws
        measure(self.plan, ws.position[0], ws.rotation[0], ws.velocity, ws.gauge_gradient, ws.gauge_value)

    def residual(self, h, velocity, multiplier):
        plan, ws = self.plan, self.ws
        ws.velocity[:], ws.multiplier[:], ws.target[:] = velocity, multiplier, self.target
        assert np.isfinite(newton._evaluate(plan, ws, 0, 1, h, 0, False)[0])
        return np.concatenate([ws.residual_body.ravel(), ws.residual_row[plan.row_kind != kinds.EFFORT]])

    def at_rest(self, h):
        """The same with springs at rest where the middle of the step is: laws without effort, but with slopes."""
        self.residual(h, self.velocity, 0.0)
        parameters = self.plan.law_parameter.copy()
        parameters[:, 1] = np.repeat(self.ws.middle_value, np.diff(self.plan.gauge_law))
        self.plan = dataclasses.replace(self.plan, law_parameter=freeze(parameters))
        return self

    def error(self, h):
        """Relative error of the matrix: Newton's increment d solves A d = -r, so the change of r along d must be -r."""
        r = self.residual(h, self.velocity, 0.0)
        newton._newton_increment(self.plan, self.ws, 1, h, 0)
        dv, dm = self.ws.increment_body.copy(), self.ws.increment_row.copy()
        step = 1e-3 / np.abs(dv).max()
        a, b, c, d = (self.residual(h, self.velocity + s * step * dv, s * step * dm) for s in (1, -1, 2, -2))
        return np.abs((8 * (a - b) - (c - d)) / (12 * step) + r).max() / np.abs(r).max()


def coupled_everywhere(rng, **parameters):
    """Random mechanism with loops whose gauges have rows in tree joints and in closures, and blocks of their own."""
    mechanism = random_closed(rng, 8, 2, kinds=("Spherical", "Universal", "Cylindrical"))
    names = ["TorsionSpring"] * 5 + ["Spring"] * 6 + ["TorsionSpring"] * 5
    mechanism = one_of_each(rng, mechanism, names, **parameters)
    tree = mechanism.bodies[0].position, mechanism.joints[0].point
    ends = {"point_a": tree[0], "point_b": tree[1] + 1.0}
    world = vi.Spring("to the world", "b0", "world", **ends, **PARAMETERS["Spring"] | parameters)
    return with_forces(mechanism, *mechanism.forces, world)


@pytest.mark.parametrize("clustered", [True, False])
@pytest.mark.parametrize(("speed", "damping"), [(0.5, 0.0), (0.0, 2.0)])
def test_newton_matrix_is_exact_where_efforts_vanish(rng, speed, damping, clustered):
    """Stiffness at any motion, damping at rest: all rows, own blocks, fills, signs and sides."""
    for _ in range(5):
        case = Newton(rng, coupled_everywhere(rng, stiffness=500.0, damping=damping), speed, clustered)
        tree_rows = case.plan.joint_rows[case.plan.mass.size]
        row = case.plan.gauge_row
        assert (row < 0).any()
        assert ((row >= 0) & (row < tree_rows)).any()
        assert (row >= tree_rows).any()
        assert set(case.plan.gauge_kind) >= {kinds.LENGTH, kinds.TURN}
        assert case.at_rest(0.02).error(0.02) < 1e-8
        assert (case.ws.rank == np.diff(case.plan.node_row)).all()


def test_what_newtons_matrix_leaves_out_is_of_second_order_in_the_step(rng):
    """All laws and kinds of gauge, with their efforts: the part left out is effort times h^2."""
    case = Newton(rng, one_of_each(rng, random_closed(rng, 8, 2), [*KINDS] * 3), 0.5)
    errors = [case.error(h) for h in (0.02, 0.01, 0.005)]
    assert errors[0] < 0.02
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(2, abs=0.35)


# action and reaction


def test_internal_forces_sum_to_nothing(rng):
    for _ in range(8):
        mechanism = random_tree(rng, 6, kinds=("Revolute", "Universal", "Free2D", "Cylindrical"), floating=True)
        names = [body.name for body in mechanism.bodies]
        inner = []
        for k, kind in enumerate([*KINDS] * 2):
            force = random_force(rng, kind, f"f{k}", mechanism)
            if isinstance(force, BetweenPoints):
                one, other = rng.permutation(names)[:2].tolist()
                force = dataclasses.replace(force, body_a=one, body_b=other)
            inner.append(force)
        mechanism = with_forces(mechanism, *inner)
        state = random_velocity_state(rng, mechanism)
        found = forces_of(mechanism, state, rng.standard_normal(len(inner)))
        load = found.load[0]
        moment = np.cross(state.position, load[:, :3]) + np.einsum(
            "nij,nj->ni", rotation_matrix(state.quat_wxyz), load[:, 3:]
        )
        size = np.abs(load).max()
        assert size > 1
        assert np.abs(load[:, :3].sum(axis=0)).max() < 1e-13 * size
        assert np.abs(moment.sum(axis=0)).max() < 1e-13 * size
        # what they do on the bodies is what they do along their gauges
        motion = np.hstack([state.velocity, state.angular_velocity])
        assert np.vdot(load, motion) == pytest.approx(found.power.sum(), abs=1e-11 * size)


@pytest.mark.parametrize("kind", CONSERVATIVE)
def test_wrench_is_minus_the_gradient_of_the_potential(kind, rng):
    mechanism = one_of_each(rng, random_tree(rng, 6), [kind] * 6, damping=0.0)
    nb, step = 6, 1e-4
    state = mechanism.state()
    x, q = state.position, Rotation.from_quat(state.quat_wxyz, scalar_first=True)
    steps = step * np.array([1, -1, 2, -2])
    position = np.tile(x, (nb, 6, 4, 1, 1))
    quat = np.tile(state.quat_wxyz, (nb, 6, 4, 1, 1))
    for i in range(nb):
        for k in range(3):
            position[i, k, :, i, k] += steps
            turned = q[i] * Rotation.from_rotvec(np.outer(steps, np.eye(3)[k]))
            quat[i, 3 + k, :, i] = turned.as_quat(scalar_first=True)
    position, quat = position.reshape(-1, nb, 3), quat.reshape(-1, nb, 4)
    rest = np.zeros_like(position)
    V = forces_at(mechanism, position, quat, rest, rest, np.zeros((len(rest), 6))).potential.sum(axis=1)
    V = V.reshape(nb, 6, 4)
    slope = (8 * (V[..., 0] - V[..., 1]) - (V[..., 2] - V[..., 3])) / (12 * step)
    load = forces_of(mechanism, state).load[0]
    assert np.abs(load).max() > 0.1
    assert np.abs(load + slope).max() < 1e-7 * np.abs(load).max()


# energy, momentum, time reversal


def spring_pendulum(**parameters):
    """A box hung off its centre on a spring."""
    bob = vi.Body.box("bob", (0.2, 0.1, 0.3), 1.0, position=(0, 0, -1))
    ends = {"point_a": (0, 0, 0), "point_b": (0.03, 0.02, -0.85)}
    spring = vi.Spring("spring", "world", "bob", **ends, **{"stiffness": 60.0, "rest_length": 0.7} | parameters)
    mechanism = vi.Mechanism("spring pendulum", [bob], [vi.Free("free", "world", "bob")], forces=[spring])
    return mechanism, mechanism.state(velocity={"bob": (0.8, 0.3, 0)}, angular_velocity={"bob": (0.5, 1.0, 0.2)})


def floating_group():
    """A floating chain of four balls on balls, with three springs between links that are no neighbours."""
    names, at = "abcd", np.array([(0.0, 0, 0), (0.5, 0.1, 0), (0.9, 0.3, 0.2), (1.3, 0.1, 0.5)])
    bodies = [vi.Body.box(n, (0.3, 0.2, 0.1), 1.0 + i, position=at[i]) for i, n in enumerate(names)]
    joints = [
        vi.Spherical(n + m, n, m, point=at[i : i + 2].mean(axis=0)) for i, (n, m) in enumerate(["ab", "bc", "cd"])
    ]
    springs = [
        vi.Spring(
            n + m, n, m, point_a=at[names.index(n)], point_b=at[names.index(m)] + 0.05, stiffness=k, rest_length=l
        )
        for n, m, k, l in [("a", "c", 30, 0.6), ("b", "d", 20, 0.8), ("a", "d", 40, 1.2)]
    ]
    mechanism = vi.Mechanism("floating group", bodies, joints, gravity=(0, 0, 0), forces=springs)
    return mechanism, random_velocity_state(np.random.default_rng(5), mechanism, 0.4)


def sprung_four_bar(**parameters):
    """Torsion springs at a hinge of the tree and at all the others, one of which is cut."""
    mechanism = vi.mechanisms.four_bar(rate=2.0)
    springs = [
        vi.TorsionSpring(joint.name, joint=joint.name, stiffness=2.0 + k, rest_angle=0.1 * k, **parameters)
        for k, joint in enumerate(mechanism.joints)
    ]
    mechanism = with_forces(mechanism, *springs)
    return mechanism, mechanism.state()


def ball_on_a_cable():
    """A ball thrown about on an elastic cable that goes slack again and again."""
    ball = vi.Body.sphere("ball", 0.05, 1.0, position=(0, 0, -1))
    cable = vi.Cable("cable", "world", "ball", point_a=(0, 0, 0), point_b=(0, 0, -1), stiffness=200.0)
    mechanism = vi.Mechanism("ball on a cable", [ball], [vi.Free("free", "world", "ball")], forces=[cable])
    return mechanism, mechanism.state(position={"ball": (0.5, 0, -0.2)}, velocity={"ball": (0.2, 0.5, 0)})


def weights_on_a_cable(damping=0.0):
    """Two weights that swing on a taut cable over two pulleys, one of them held by a spring from below."""
    bodies = [vi.Body.sphere(name, 0.05, 1.0, position=(x, 0, -1)) for x, name in enumerate("mn")]
    joints = [vi.Free(f"free {name}", "world", name) for name in "mn"]
    points = [(0, 0, -1), (0, 0, 0), (1, 0, 0), (1, 0, -1)]
    cable = vi.MultiPointCable(
        "cable", ["m", "world", "world", "n"], points=points, stiffness=2000.0, rest_length=2.995, damping=damping
    )
    below = {"point_a": (1, 0, -2), "point_b": (1, 0, -1)}
    spring = vi.Spring("spring", "world", "n", **below, stiffness=3.0, rest_length=1.0)
    mechanism = vi.Mechanism("weights", bodies, joints, forces=[cable, spring])
    return mechanism, mechanism.state(velocity={"m": (0.6, 0.3, 0.4), "n": (0.3, -0.5, -0.6)})


def bushed_body(damping=0.0):
    """A box on a bushing off its centre."""
    box = vi.Body.box("box", (0.1, 0.2, 0.3), 2.0, position=(1, 0, 0))
    stiffness = np.array([400, 500, 600, 5, 6, 7])
    bushing = vi.Bushing(
        "bushing", "world", "box", point=(1, 0.05, 0.1), stiffness=stiffness, damping=damping * stiffness
    )
    mechanism = vi.Mechanism("bushed", [box], [vi.Free("free", "world", "box")], forces=[bushing])
    return mechanism, mechanism.state(velocity={"box": (0.3, -0.2, 0.1)}, angular_velocity={"box": (1.0, -0.6, 0.8)})


SETUPS = {
    "spring_pendulum": (spring_pendulum, 0.01),
    "floating_group": (floating_group, 0.01),
    "sprung_four_bar": (sprung_four_bar, 0.005),
    "ball_on_a_cable": (ball_on_a_cable, 0.005),
    "weights_on_a_cable": (weights_on_a_cable, 0.01),
    "bushed_body": (bushed_body, 0.005),
}


@pytest.mark.parametrize("steps", [2_000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "bound", "trend"),
    [
        ("spring_pendulum", 1e-3, 2e-4),
        ("floating_group", 1.5e-2, 5e-4),
        ("sprung_four_bar", 2e-4, 1e-5),
        ("weights_on_a_cable", 5e-4, 1e-5),
        ("bushed_body", 2e-3, 1e-5),
    ],
)
def test_energy_is_kept(name, bound, trend, steps):
    """Relative to the largest kinetic energy; the trend is that of the means over tenths of the run."""
    build, dt = SETUPS[name]
    mechanism, state = build()
    run = vi.simulate(mechanism, steps * dt, dt, state=state)
    size = run.kinetic.max()
    energy = run.energy / size
    assert np.ptp(run.potential) > 0.5 * size
    own = sum(run.force_potential[name] for name in mechanism.force_index)
    gravity = -run.position @ mechanism.gravity @ [body.mass for body in mechanism.bodies]
    np.testing.assert_allclose(own + gravity, run.potential, atol=1e-9)
    assert np.abs(energy - energy[0]).max() < bound
    assert run.drift.max() < 1e-11
    assert run.newton_iterations < 3 * steps
    assert run.substeps == 0
    if steps == 100_000:
        means = energy[1:].reshape(10, -1).mean(axis=1)
        assert abs(np.polyfit(np.linspace(0, 1, 10), means, 1)[0]) < trend


@pytest.mark.parametrize("damping", [0.0, 0.02])
@pytest.mark.parametrize("name", ["weights_on_a_cable", "bushed_body"])
def test_cables_and_bushings_are_of_second_order(name, damping):
    """Positions by their differences from step to half step; with damping the balance of energy as well.

    That of bodies which do not turn is exact.
    """
    mechanism, state = SETUPS[name][0](damping * (1000.0 if name == "weights_on_a_cable" else 1.0))
    runs = [vi.simulate(mechanism, 0.8, 0.8 / n, state=state, every=n, tol=1e-13) for n in (320, 640, 1280)]
    ends = [np.concatenate([run.position[-1], run.quat_wxyz[-1]], axis=1) for run in runs]
    steps = [np.abs(one - other).max() for one, other in pairwise(ends)]
    assert np.log2(steps[0] / steps[1]) == pytest.approx(2, abs=0.1)
    balances = [abs(run.energy_balance[-1]) for run in runs]
    if damping:
        lost = sum(runs[0].dissipated.values())[-1]
        assert lost > 1e-3 * runs[0].kinetic[0]
        assert lost > 10 * balances[0]
        order = np.log2(balances[0] / balances[1])
        assert max(balances) < 1e-12 if name == "weights_on_a_cable" else order == pytest.approx(2, abs=0.2)


def test_slack_and_taut_cable(rng):
    """Its potential is smooth but once, so each jerk leaves an error of its own; the step rules their size."""
    mechanism, state = ball_on_a_cable()
    errors = []
    for dt in (0.004, 0.001):
        run = vi.simulate(mechanism, 20, dt, state=state)
        slack = run.force["cable"] == 0.0
        assert 0.3 < slack.mean() < 0.7
        assert (run.force["cable"] <= 0).all()
        errors.append(np.abs(run.energy - run.energy[0]).max() / run.kinetic.max())
    assert errors[0] < 1e-2
    assert errors[1] < errors[0] / 8


@pytest.mark.parametrize("order", [2, 4])
def test_momenta_with_inner_springs(order):
    mechanism, state = floating_group()
    run = vi.simulate(mechanism, 20.0, 0.01, state=state, order=order, tol=1e-13)
    for momentum in (run.linear_momentum, run.angular_momentum):
        assert np.abs(momentum - momentum[0]).max() < 1e-12 * np.linalg.norm(momentum[0])


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("name", SETUPS)
def test_runs_backwards_to_where_it_started(name, order):
    build, dt = SETUPS[name]
    mechanism, state = build()
    there = vi.simulate(mechanism, 200 * dt, dt, state=state, order=order, tol=1e-13)
    turned = vi.State(there.position[-1], there.quat_wxyz[-1], -there.velocity[-1], -there.angular_velocity[-1])
    back = vi.simulate(mechanism, 200 * dt, dt, state=turned, order=order, tol=1e-13)
    assert np.abs(back.position[-1] - state.position).max() < 1e-10
    assert np.abs(back.velocity[-1] + state.velocity).max() < 1e-9


# order


def sprung_double_pendulum(damping):
    """Two uniform rods of 1 m about y on torsion springs, the lower tip tied to a point beside: and its state."""
    bodies = [
        vi.Body.box(n, (0.1, 0.1, 1.0), m, position=(0, 0, z)) for n, m, z in [("a", 1.0, -0.5), ("b", 2.0, -1.5)]
    ]
    joints = [vi.Revolute(n, *n.split("-"), point=(0, 0, z), axis=(0, 1, 0)) for n, z in [("world-a", 0), ("a-b", -1)]]
    forces = [
        vi.TorsionSpring("1", joint="world-a", stiffness=4.0, rest_angle=0.3, damping=damping),
        vi.TorsionSpring("2", joint="a-b", stiffness=7.0, rest_angle=-0.5, damping=2 * damping),
        vi.Spring("tip", "b", "world", point_a=(0, 0, -2), point_b=(1.2, 0, -1), stiffness=15.0, rest_length=0.7,
                  damping=3 * damping),
        vi.Spring("across", "world", "a", point_a=(-0.5, 0, 0), point_b=(0, 0, -1), stiffness=9.0, rest_length=0.9),
    ]  # fmt: skip
    mechanism = vi.Mechanism("sprung double pendulum", bodies, joints, forces=forces)
    return mechanism, mechanism.state(coordinates={"world-a": 0.4, "a-b": 0.6}, rates={"world-a": 1.0, "a-b": -2.0})


def minimal_coordinates(duration, damping):
    """Angles from the vertical of both rods, and their rates, at the end: Lagrange's equations by DOP853."""
    I = [m * (1 + 0.1**2) / 12 for m in (1.0, 2.0)]

    def tips(p):
        elbow = np.array([-np.sin(p[0]), -np.cos(p[0])])
        return elbow, elbow + np.array([-np.sin(p[1]), -np.cos(p[1])])

    def lengths(p):
        elbow, tip = tips(p)
        return np.array([p[0], p[1] - p[0], *(np.sqrt(((d) ** 2).sum()) for d in (tip - (1.2, -1), elbow - (-0.5, 0)))])

    stiffness, rest = np.array([4.0, 7.0, 15.0, 9.0]), np.array([0.3, -0.5, 0.7, 0.9])

    def potential(p):
        elbow, tip = tips(p)
        weight = 9.81 * (0.5 * elbow[1] + (elbow[1] + tip[1]))
        return weight + 0.5 * (stiffness * (lengths(p) - rest) ** 2).sum()

    def derivative(_, y):
        p, r = y[:2], y[2:]
        moved = [p + 1e-30j * e for e in np.eye(2)]
        dV = np.array([potential(z).imag for z in moved]) / 1e-30
        dl = np.array([lengths(z).imag for z in moved]).T / 1e-30
        drag = dl.T @ (damping * np.array([1.0, 2.0, 3.0, 0.0]) * (dl @ r))
        c, s = np.cos(p[0] - p[1]), np.sin(p[0] - p[1])
        M = np.array([[I[0] + 0.25 + 2.0, c], [c, I[1] + 0.5]])
        return np.concatenate([r, np.linalg.solve(M, [-s * r[1] ** 2, s * r[0] ** 2] - dV - drag)])

    return solve_ivp(derivative, (0, duration), [0.4, 1.0, 1.0, -1.0], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


@pytest.mark.parametrize(("order", "damping", "steps"), [(2, 0.0, 64), (2, 0.5, 64), (4, 0.0, 48), (6, 0.0, 48)])
def test_order_of_positions_and_velocities(order, damping, steps):
    mechanism, state = sprung_double_pendulum(damping)
    exact = minimal_coordinates(0.5, damping)
    errors = []
    for n in (steps, 2 * steps):
        run = vi.simulate(mechanism, 0.5, 0.5 / n, state=state, order=order, tol=1e-13)
        assert run.substeps == 0
        angle = 2 * np.arctan2(run.quat_wxyz[-1, :, 2], run.quat_wxyz[-1, :, 0])
        errors.append((np.abs(angle - exact[:2]).max(), np.abs(run.angular_velocity[-1, :, 1] - exact[2:]).max()))
    assert np.min(errors) > 1e-12
    assert np.log2(np.divide(*errors)) == pytest.approx([order, order], abs=0.15)


@pytest.mark.parametrize(
    "names", [("Spring", "TorsionSpring", "JointDamper"), ("JointFriction", "Motor", "JointServo")]
)
def test_energy_balance_closes_at_second_order(names, rng):
    mechanism = one_of_each(rng, random_closed(rng, 5, 1), names)
    state = random_velocity_state(rng, mechanism, 0.5)
    gaps = []
    for dt in (0.004, 0.002):
        run = vi.simulate(mechanism, 0.4, dt, state=state, tol=1e-12, torque={"b4": (0.2, 0.1, 0.3)})
        assert run.substeps == 0
        gaps.append(np.abs(run.energy_balance).max())
        assert np.abs(sum(run.dissipated.values())).max() > 5 * gaps[-1]
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(2, abs=0.2)


def test_accounts_agree(rng):
    """Work is the integral of power, and what is dissipated all of it that did not go into a potential."""
    mechanism = one_of_each(rng, random_tree(rng, 5))
    state = random_velocity_state(rng, mechanism, 0.5)
    gaps = []
    for dt in (0.002, 0.001):
        run = vi.simulate(mechanism, 0.3, dt, state=state, tol=1e-12)
        assert list(run.force) == list(run.power) == list(run.dissipated) == [force.name for force in mechanism.forces]
        power = np.array(list(run.power.values()))
        integral = 0.5 * dt * (power[:, 1:] + power[:, :-1]).sum(axis=1)
        gaps.append(np.abs(run.work[-1] - integral))
        for force in mechanism.forces:
            kind = type(force).__name__
            lost = run.dissipated[force.name]
            assert lost[0] == 0.0
            if kind in ("JointDamper", "JointFriction"):
                assert (run.power[force.name] <= 0).all()
                assert (np.diff(lost) >= 0).all()
            if kind in ("Motor", "JointServo"):
                assert np.array_equal(lost, -run.work[:, mechanism.force_index[force.name]])
        assert (run.force[mechanism.forces[KINDS.index("Motor")].name] == PARAMETERS["Motor"]["effort"]).all()
    smooth = [k for k, kind in enumerate(KINDS) if kind not in ("JointStop", "Cable")]
    assert np.abs(run.work[-1]).min() > 0
    assert (gaps[1][smooth] < 0.3 * gaps[0][smooth] + 1e-12).all()
    assert (gaps[1] < 0.02 * np.abs(run.work).max(axis=0)).all()


def test_torsion_spring_is_wound_up_over_several_turns():
    """A rotor that swings by 10 rad to either side, against the closed form of a harmonic oscillator."""
    rotor = vi.Body.cylinder("rotor", radius=0.2, length=0.1, mass=5.0)
    hinge = vi.Revolute("hinge", "world", "rotor", point=(0, 0, 0), axis=(0, 0, 1))
    spring = vi.TorsionSpring("spring", joint="hinge", stiffness=0.4)
    mechanism = vi.Mechanism("rotor", [rotor], [hinge], forces=[spring])
    omega = np.sqrt(0.4 / (0.5 * 5.0 * 0.2**2))
    run = vi.simulate(mechanism, 10.0, 0.001, state=mechanism.state(rates={"hinge": 10 * omega}), every=20)
    assert np.abs(run.coordinates["hinge"] - 10 * np.sin(omega * run.t)).max() < 1e-2
    assert np.abs(run.force["spring"] + 0.4 * run.coordinates["hinge"]).max() < 1e-12
    assert np.abs(run.energy - run.energy[0]).max() < 1e-4 * run.energy[0]


# hard cases


@pytest.mark.parametrize(
    ("stretch", "arm", "iterations", "bound"),
    [
        *((stretch, (0, 0, 0), 3.1, 1e-4) for stretch in (1e-3, 1e-2, 5e-2, 0.2)),
        (1e-3, (0.02, 0.01, 0.1), 6.0, 0.2),
        # here the spring spins the bob up by more than the 29 degrees of a step: sub-steps, and no more than a bound
        *((stretch, (0.02, 0.01, 0.1), 9.0, 2.0) for stretch in (1e-2, 5e-2)),
    ],
)
def test_spring_a_million_times_stiffer_than_gravity(stretch, arm, iterations, bound):
    """On its centre or off it, at a step of 3 / omega: no failure, iterations a piece, energy against that stored."""
    mass, length, dt, steps = 0.01, 1.0, 1e-3, 3000
    bob = vi.Body.box("bob", (0.05, 0.05, 0.2), mass, position=(0, 0, -length))
    end = np.array([0, 0, -length]) + arm
    rest, stiffness = np.linalg.norm(end) / (1 + stretch), 1e6 * mass * 9.81 / length
    spring = vi.Spring("s", "world", "bob", point_a=(0, 0, 0), point_b=end, stiffness=stiffness, rest_length=rest)
    mechanism = vi.Mechanism("stiff", [bob], [vi.Free("free", "world", "bob")], forces=[spring])
    run = vi.simulate(mechanism, steps * dt, dt, state=mechanism.state(velocity={"bob": (0.3, 0.1, 0)}))
    stored = 0.5 * stiffness * (rest * stretch) ** 2 + run.kinetic[0]
    assert run.newton_iterations < iterations * (steps + run.substeps)
    assert np.ptp(run.energy) < bound * stored
    if bound < 1:
        assert run.substeps == 0


@pytest.mark.parametrize(
    ("kind", "stiffness", "damping", "iterations"),
    [
        ("TorsionSpring", 1e6, 0.0, 2.1),
        ("TorsionSpring", 0.0, 1e4, 2.1),
        ("TorsionSpring", 1e6, 1e4, 2.1),
        ("Spring", 1e4, 0.0, 3.5),
        ("Spring", 1e6, 0.0, 5.5),
        ("Spring", 1e4, 1e3, 4.5),
    ],
)
def test_newton_converges_with_stiff_forces_all_along_a_chain(kind, stiffness, damping, iterations):
    """Ten links of 1 kg at 10 ms, where the plain chain takes 2 iterations: at all joints, or across them."""
    chain = vi.mechanisms.n_pendulum(10)
    law = {"stiffness": stiffness, "damping": damping}
    if kind == "TorsionSpring":
        forces = [vi.TorsionSpring(joint.name, joint=joint.name, **law) for joint in chain.joints[1:]]
    else:
        forces = [
            vi.Spring(a.name, a.name, b.name, point_a=a.position, point_b=b.position, **law)
            for a, b in zip(chain.bodies, chain.bodies[2:], strict=False)
        ]
    run = vi.simulate(with_forces(chain, *forces), 2.0, 0.01)
    assert run.substeps == 0
    assert run.newton_iterations < iterations * run.steps
    assert run.kinetic.max() > 100
    assert np.abs(run.energy_balance).max() < 2e-3 * run.kinetic.max()


# loops


def test_cut_joints_take_forces_like_tree_joints():
    """The same forces on a loop that is cut at one joint or another, in clusters and in a single node."""
    four_bar = vi.mechanisms.four_bar(rate=2.0)
    names = list(four_bar.joint_index)
    forces = [
        *(vi.TorsionSpring(f"s {n}", joint=n, stiffness=2.0 + k, rest_angle=0.2) for k, n in enumerate(names)),
        *(vi.JointDamper(f"d {n}", joint=n, damping=0.01) for n in names),
        vi.Motor("m", joint="rocker pivot", effort=0.3),
        vi.Spring("diagonal", "crank", "rocker", point_a=(0.1, 0, 0), point_b=(1, 0, 0.2), stiffness=5.0, damping=0.1),
    ]
    mechanism = with_forces(four_bar, *forces)
    run = vi.simulate(mechanism, 2.0, 0.005, tol=1e-13)
    others = [vi.simulate(mechanism, 2.0, 0.005, tol=1e-13, closures="single")]
    order = [1, 0, 2]
    bodies, joints = [four_bar.bodies[i] for i in order], [*four_bar.joints[2:], *four_bar.joints[:2]]
    turned = dataclasses.replace(mechanism, bodies=bodies, joints=joints)
    cuts = {m.joints[m.compiled.topology.clusters[0][1][0]].name for m in (mechanism, turned)}
    assert len(cuts) == 2
    others.append(vi.simulate(turned, 2.0, 0.005, tol=1e-13))
    others[-1] = dataclasses.replace(others[-1], position=others[-1].position[:, order])
    for other in others:
        assert np.abs(other.position - run.position).max() < 1e-9
        assert np.abs(other.work - run.work).max() < 1e-9
    assert np.abs(run.work[-1]).min() > 1e-4


@pytest.mark.parametrize("seed", range(4))
def test_clusters_and_single_closures_agree(seed):
    rng = np.random.default_rng(seed)
    mechanism = coupled_everywhere(rng)
    state = random_velocity_state(rng, mechanism, 0.3)
    one, other = (
        vi.simulate(mechanism, 0.2, 0.002, state=state, tol=1e-13, closures=how) for how in ("clusters", "single")
    )
    assert one.substeps == 0
    assert np.abs(one.position - other.position).max() < 1e-9
    assert np.abs(one.work - other.work).max() < 1e-7


# inputs and errors


def arm():
    """A slider that carries a hinge and, on it, a ball joint."""
    bodies = [vi.Body.box(n, (0.1, 0.1, 0.1), 1.0, position=(0, 0, -k)) for k, n in enumerate("abc")]
    joints = [
        vi.Prismatic("slide", "world", "a", point=(0, 0, 0), axis=(1, 0, 0)),
        vi.Revolute("hinge", "a", "b", point=(0, 0, -0.5), axis=(0, 1, 0)),
        vi.Spherical("ball", "b", "c", point=(0, 0, -1.5)),
        vi.Fixed("weld", "a", "b", point=(0, 0, 0)),
    ]
    return vi.Mechanism("arm", bodies, joints[:3]), vi.Mechanism("welded", bodies, [*joints[:1], joints[3], joints[2]])


ENDS = {"point_a": (0, 0, 0), "point_b": (0, 0, -1)}


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (lambda: vi.Spring("s", "a", "b", **ENDS, stiffness=-1), ("spring 's'", "stiffness", "-1")),
        (lambda: vi.Spring("s", "a", "b", **ENDS, stiffness=1, damping=-2), ("spring 's'", "damping", "-2")),
        (lambda: vi.Spring("s", "a", "b", **ENDS, stiffness=1, rest_length=-1), ("spring 's'", "rest_length")),
        (lambda: vi.Spring("s", "a", "b", **ENDS, stiffness=np.nan), ("spring 's'", "stiffness", "finite")),
        (lambda: vi.Spring("s", "a", "b", **ENDS, stiffness=(1, 2)), ("spring 's'", "stiffness", "number")),
        (lambda: vi.Spring("s", "a", "b", **ENDS, stiffness="stiff"), ("spring 's'", "stiffness", "stiff")),
        (lambda: vi.Spring("s", "a", "a", **ENDS, stiffness=1), ("spring 's'", "'a'", "itself")),
        (lambda: vi.Spring("s", "a", "bb", **ENDS, stiffness=1), ("spring 's'", "'bb'", "did you mean")),
        (lambda: vi.Spring("s", "a", "b", point_a=(0, 0), point_b=(0, 0, 1), stiffness=1), ("spring 's'", "point_a")),
        (lambda: vi.Cable("c", "a", "b", **ENDS, stiffness=-1), ("cable 'c'", "stiffness", "-1")),
        (lambda: vi.TorsionSpring("t", joint="hinge", stiffness=-3), ("torsionspring 't'", "stiffness", "-3")),
        (lambda: vi.TorsionSpring("t", joint="hnge", stiffness=3), ("torsionspring 't'", "'hnge'", "'hinge'")),
        (
            lambda: vi.TorsionSpring("t", joint="hinge", coordinate=1, stiffness=3),
            ("'t'", "'hinge'", "no coordinate 1"),
        ),
        (lambda: vi.TorsionSpring("t", joint="hinge", coordinate=-1, stiffness=3), ("'t'", "no coordinate -1")),
        (lambda: vi.TorsionSpring("t", joint="hinge", coordinate="x", stiffness=3), ("'t'", "no coordinate 'x'")),
        (lambda: vi.TorsionSpring("t", joint="hinge", coordinate=[0], stiffness=3), ("'t'", "coordinate")),
        (lambda: vi.TorsionSpring("t", joint="ball", stiffness=3), ("'t'", "'ball'", "rotation vector")),
        (lambda: vi.JointDamper("d", joint="hinge", damping=-1), ("jointdamper 'd'", "damping", "-1")),
        (lambda: vi.JointFriction("f", joint="hinge", effort=-1), ("jointfriction 'f'", "effort", "-1")),
        (lambda: vi.JointFriction("f", joint="hinge", effort=1, smoothing=0), ("jointfriction 'f'", "smoothing")),
        (lambda: vi.JointStop("l", joint="hinge", stiffness=0), ("jointstop 'l'", "stiffness", "positive")),
        (lambda: vi.JointStop("l", joint="hinge", stiffness=1, lower=1, upper=1), ("jointstop 'l'", "lower", "upper")),
        (lambda: vi.JointStop("l", joint="hinge", stiffness=1, upper=np.nan), ("jointstop 'l'", "upper")),
        (lambda: vi.JointStop("l", joint="hinge", stiffness=1, lower="low"), ("jointstop 'l'", "lower", "low")),
        (lambda: vi.JointStop("l", joint="hinge", stiffness=1, upper=(1, 2)), ("jointstop 'l'", "upper")),
        (lambda: vi.JointServo("p", joint="hinge", target=0, stiffness=-1), ("jointservo 'p'", "stiffness", "-1")),
        (lambda: vi.JointServo("p", joint="hinge", target="up", stiffness=1), ("jointservo 'p'", "target", "up")),
        (lambda: vi.VelocityMotor("v", joint="hinge", speed=1, max_effort=-1), ("velocitymotor 'v'", "max_effort")),
        (lambda: vi.VelocityMotor("v", joint="hinge", speed=1, max_effort=1, smoothing=0), ("'v'", "smoothing")),
        (lambda: vi.VelocityMotor("v", joint="hinge", speed=np.inf, max_effort=1), ("velocitymotor 'v'", "speed")),
        (lambda: vi.Motor("m", joint="hinge", effort=np.nan), ("motor 'm'", "effort", "finite")),
        (lambda: vi.Motor("m", joint="hinge", effort=None), ("motor 'm'", "effort")),
        (lambda: vi.Motor("m", joint="hinge", effort=np.zeros((3, 2))), ("motor 'm'", "effort", "(3, 2)")),
        (lambda: vi.Motor("", joint="hinge", effort=1), ("force needs a name",)),
        (lambda: "not a force", ("expected a force",)),
    ],
)
def test_descriptions_that_are_no_force(force, words):
    with pytest.raises(vi.MechanismError) as caught:
        with_forces(arm()[0], force())
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_force_on_a_joint_without_coordinates():
    with pytest.raises(vi.MechanismError, match=r"jointdamper 'd': .*'weld' has no coordinate 0, it has none"):
        with_forces(arm()[1], vi.JointDamper("d", joint="weld", damping=1.0))


def test_two_forces_of_one_name():
    forces = [vi.JointDamper("d", joint=joint, damping=1.0) for joint in ("slide", "hinge")]
    with pytest.raises(vi.MechanismError, match="two forces are called 'd'"):
        with_forces(arm()[0], *forces)
    run = vi.simulate(with_forces(arm()[0], forces[0]), 0.1, 0.01)
    with pytest.raises(vi.MechanismError, match="no force 'dd', did you mean 'd'"):
        run.force["dd"]


def test_input_of_the_wrong_length():
    for steps, shape in [(10, (10,)), (10, (12,)), (10, (1,))]:
        mechanism = with_forces(arm()[0], vi.Motor("m", joint="hinge", effort=np.zeros(shape)))
        with pytest.raises(vi.ArgumentError, match=r"effort of motor 'm' must be one number, or 11"):
            vi.simulate(mechanism, steps * 0.01, 0.01)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "finite"), (np.zeros(2), "shape"), (None, ""), ("x", "number")])
def test_controllers_that_return_no_number(value, word):
    """The error names the force and the time; one in a later step as well."""
    motor = vi.Motor("m", joint="hinge", effort=lambda t, state: value if t > 0.045 else 0.1)
    with pytest.raises(vi.ArgumentError, match=rf"effort of motor 'm' at t = 0\.05 s .*{word}"):
        vi.simulate(with_forces(arm()[0], motor), 0.1, 0.01)


def test_controller_sees_the_nodes_and_equals_the_numbers_it_returns():
    """A function's value is held over the step that begins there; constant steps at half a node either way agree."""
    seen = []

    def effort(t, state):
        seen.append((t, state.position.copy(), state.velocity.copy()))
        return 0.4

    both = [
        with_forces(arm()[0], vi.Motor("m", joint="hinge", effort=given), vi.JointDamper("d", joint="slide", damping=1))
        for given in (effort, 0.4)
    ]
    controlled, constant = (vi.simulate(mechanism, 0.5, 0.01, order=4) for mechanism in both)
    assert np.array_equal(controlled.position, constant.position)
    assert np.array_equal(controlled.work, constant.work)
    assert [t for t, *_ in seen] == pytest.approx(0.01 * np.arange(51))
    assert all(np.array_equal(x, controlled.position[k]) for k, (_, x, _) in enumerate(seen))
    assert all(np.array_equal(v, controlled.velocity[k]) for k, (_, _, v) in enumerate(seen))


def rotor(**motor):
    body = vi.Body.cylinder("rotor", radius=0.2, length=0.1, mass=5.0)
    hinge = vi.Revolute("hinge", "world", "rotor", point=(0, 0, 0), axis=(0, 0, 1))
    return vi.Mechanism("rotor", [body], [hinge], forces=[vi.VelocityMotor("drive", joint="hinge", **motor)])


def test_velocity_motor_gives_all_it_has_and_then_holds_its_speed():
    """Of 0.1 kg m^2: at 0.2 N m the speed grows by 2 rad/s each second, up to 5 rad/s; without sub-steps."""
    run = vi.simulate(rotor(speed=5.0, max_effort=0.2), 4.0, 0.01)
    speed = run.angular_velocity[:, 0, 2]
    assert np.abs(speed - 2 * run.t)[run.t < 2.4].max() < 1e-12
    assert speed[-1] == pytest.approx(5.0, abs=2e-3)
    assert run.newton_iterations < 1.1 * run.steps
    assert run.substeps == 0
    assert np.abs(run.energy_balance).max() < 1e-3 * run.energy[-1]
    steps = np.where(run.t < 2, 1.0, -1.0)
    turned = vi.simulate(rotor(speed=steps, max_effort=2.0), 4.0, 0.01)
    assert turned.angular_velocity[[199, -1], 0, 2] == pytest.approx([1.0, -1.0], abs=1e-3)
    follows = vi.simulate(rotor(speed=lambda t, state: np.sin(t), max_effort=2.0), 4.0, 0.01)
    assert np.abs(follows.angular_velocity[:, 0, 2] - np.sin(follows.t)).max() < 0.011


def test_inputs_are_linear_between_nodes():
    """A motor's ramp against the closed form: a slider of mass 3 pushed by F = 2 t, at rest before."""
    ramp = 2.0 * np.linspace(0, 1, 101)
    mechanism = dataclasses.replace(
        with_forces(arm()[0], vi.Motor("push", joint="slide", effort=ramp)),
        bodies=arm()[0].bodies[:1],
        joints=arm()[0].joints[:1],
    )
    run = vi.simulate(mechanism, 1.0, 0.01)
    assert run.velocity[:, 0, 0] == pytest.approx(run.t**2, abs=1e-12)
    assert run.work[-1, 0] == pytest.approx(0.5, abs=1e-4)
    assert np.array_equal(run.force["push"], ramp)


# files


def test_json_keeps_every_force_to_the_bit(rng, tmp_path):
    mechanism = one_of_each(rng, random_tree(rng, 5), [*KINDS] * 2)
    series = vi.Motor("series", joint=gauged(mechanism)[0][0], coordinate=np.int64(gauged(mechanism)[0][1]),
                      effort=rng.standard_normal(21))  # fmt: skip
    limit = vi.JointStop("one side", joint=gauged(mechanism)[0][0], upper=np.float32(0.3), stiffness=np.float32(7.0))
    mechanism = with_forces(mechanism, *mechanism.forces, series, limit)
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    read = vi.load_mechanism(tmp_path / "m.json")
    assert {type(force).__name__ for force in read.forces} == set(KINDS)
    for one, other in zip(mechanism.forces, read.forces, strict=True):
        assert type(one) is type(other)
        for field in dataclasses.fields(one):
            assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), (one.label, field.name)
    plans = [compile_structure(m, forced=True).plan for m in (mechanism, read)]
    for one, other in zip(*plans, strict=True):
        assert one.tobytes() == other.tobytes()
    runs = [vi.simulate(m, 0.2, 0.01) for m in (mechanism, read)]
    for name in NODES:
        assert np.array_equal(*(getattr(run, name) for run in runs))


def test_json_of_an_unknown_force(tmp_path):
    mechanism = with_forces(arm()[0], vi.JointDamper("d", joint="hinge", damping=1.0))
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text()
    for old, new, words in [
        ('"JointDamper"', '"JointDampr"', ("force 'd'", "'JointDampr'", "'JointDamper'?")),
        ('"damping": 1.0', '"damping": -1.0', ("jointdamper 'd'", "damping")),
        ('"damping"', '"dampening"', ("dampening",)),
    ]:
        assert old in text
        (tmp_path / "bad.json").write_text(text.replace(old, new))
        with pytest.raises(vi.MechanismError) as caught:
            vi.load_mechanism(tmp_path / "bad.json")
        assert all(word in str(caught.value) for word in ("bad.json", *words))


def test_functions_go_into_no_file(tmp_path):
    mechanism = with_forces(arm()[0], vi.Motor("m", joint="hinge", effort=lambda t, state: 0.0))
    with pytest.raises(vi.MechanismError, match="effort of motor 'm' is a function"):
        vi.save_mechanism(mechanism, tmp_path / "m.json")
    with pytest.raises(vi.VarintError, match="effort of motor 'm' is a function"):
        vi.simulate(mechanism, 0.1, 0.01, output=tmp_path / "run.h5")


BUILD = """
import numpy as np, varint as vi

def build(steps):
    mechanism = vi.mechanisms.double_pendulum()
    joint, other = mechanism.joint_index
    forces = [
        vi.TorsionSpring("spring", joint=joint, stiffness=3.0, rest_angle=7.0, damping=0.01),
        vi.Motor("motor", joint=other, effort=3 * np.sin(0.01 * np.arange(steps + 1))),
        vi.Cable("cable", "world", "link 2", point_a=(1, 0, 1), point_b=(0, 0, 0), stiffness=20.0, rest_length=1.5),
        vi.JointFriction("friction", joint=other, effort=0.2),
    ]
    return vi.Mechanism("forced", mechanism.bodies, mechanism.joints, forces=forces, start=mechanism.start)
"""


def built(steps):
    names = {}
    exec(BUILD, names)
    return names["build"](steps)


@pytest.mark.parametrize("every", [1, 3])
def test_run_file_holds_forces(tmp_path, every):
    path = tmp_path / "run.h5"
    run = vi.simulate(built(300), 3.0, 0.01, output=path, every=every)
    read = vi.load(path)
    for name in (*NODES, "energy", "energy_balance"):
        assert np.array_equal(getattr(run, name), getattr(read, name))
    assert list(read.force) == ["spring", "motor", "cable", "friction"]
    for name in read.force:
        for what in ("force", "power", "dissipated"):
            assert np.array_equal(getattr(run, what)[name], getattr(read, what)[name])
    assert np.array_equal(read.command[:, 1], 3 * np.sin(0.01 * np.arange(0, 301, every)))
    assert np.abs(read.work[-1]).min() > 0


def test_killed_run_with_forces_goes_on_to_the_same_bits(tmp_path):
    """Also past the turns that its torsion spring has counted."""
    path, steps = tmp_path / "run.h5", 20_000
    script = BUILD + f"vi.simulate(build({steps}), {steps / 100}, 0.01, output={str(path)!r}, every=10)\n"
    process = subprocess.Popen([sys.executable, "-c", script])
    try:
        deadline = time.monotonic() + 200
        reached = 0
        while reached < 1000:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
            if path.exists():
                try:
                    reached = vi.load(path).steps
                except vi.FileError:  # not begun
                    continue
    finally:
        process.kill()
    assert process.wait() == -signal.SIGKILL
    assert vi.load(path).status == -1
    mechanism = built(steps)
    resumed = vi.simulate(mechanism, steps / 100, 0.01, output=path, every=10, resume=True)
    whole = vi.simulate(mechanism, steps / 100, 0.01, every=10)
    for name in NODES:
        assert np.array_equal(getattr(resumed, name), getattr(whole, name)), name
    assert np.abs(whole.coordinates[mechanism.joints[0].name]).max() > np.pi
    assert os.path.exists(path)


def test_resume_refuses_other_forces(tmp_path):
    path = tmp_path / "run.h5"
    vi.simulate(built(50), 0.5, 0.01, output=path)
    other = with_forces(built(50), *built(50).forces[:3])
    with pytest.raises(vi.FileError, match="holds another run"):
        vi.simulate(other, 0.5, 0.01, output=path, resume=True)
