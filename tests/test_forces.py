"""Forces along coordinates and between points: derivatives, Newton's matrix, action and reaction."""

import dataclasses

import numpy as np
import pytest
from force_samples import (
    CONSERVATIVE,
    IN_STEPS,
    KINDS,
    NAMES,
    SAMPLES,
    coupled_everywhere,
    forces_of,
    one_of_each,
    random_force,
    sample_mechanism,
    samples,
    with_forces,
    with_measure,
)
from poses import move_child
from random_mechanisms import random_body, random_closed, random_joint, random_tree, random_velocity_state, unit
from scipy.spatial.transform import Rotation

import varint as vi
from varint.base.checks import freeze
from varint.kinematics.frames import JointFrames, moved, reference_pose
from varint.model.forces import FORCES
from varint.model.forces.coupled import Coupled
from varint.model.forces.law import LAWS
from varint.model.forces.no_slip import NoSlip
from varint.model.forces.spring import BetweenPoints
from varint.model.forces.user_rows import UserRows
from varint.model.joints import REGISTRY
from varint.model.rotation_vectors import rotation_matrix
from varint.plan import compile_structure
from varint.results.forces import forces_at
from varint.step import newton
from varint.step.configuration import follow_products, place
from varint.step.laws import LAW_NAMES, evaluate_laws
from varint.step.measures import KIND_NAMES, measure_at
from varint.step.plan import EFFORT
from varint.step.workspace import workspace


def test_samples_cover_the_registry():
    """A force that no sample uses is tested by nothing below."""
    made = samples(np.random.default_rng(0))
    assert tuple(made) == NAMES
    assert [n for n, given in made.items() if not any(f.solved_for or f.restricted for f in given)] == IN_STEPS
    assert {type(force).__name__ for given in SAMPLES.values() for force in given} == set(FORCES)
    assert {type(force).__name__ for name in IN_STEPS for force in SAMPLES[name]} == {
        kind for kind, force in FORCES.items() if not (force.solved_for or force.restricted)
    }


@pytest.mark.many
@pytest.mark.parametrize("name", IN_STEPS)
def test_every_force_acts_and_its_work_is_in_the_balance(name, rng):
    """Each changes the motion; energy, work and what is dissipated agree to second order."""
    mechanism = sample_mechanism(rng, samples(rng)[name])
    state = random_velocity_state(rng, mechanism, 0.5)
    runs = [vi.simulate(mechanism, 0.1, dt, state=state, tol=1e-12) for dt in (0.002, 0.001)]
    free = vi.simulate(with_forces(mechanism), 0.1, 0.002, state=state)
    assert np.abs(runs[0].position - free.position).max() > 1e-6
    for force in mechanism.forces:
        assert np.abs(runs[0].force[force.name]).max() > 1e-3
        work = np.abs(runs[0].work[:, mechanism.force_index[force.name]]).max()
        assert work == 0.0 if isinstance(force, Coupled | NoSlip | vi.Attachment | UserRows) else work > 1e-6
    coarse, fine = (np.abs(run.energy_balance).max() for run in runs)
    assert coarse > 1e-9
    assert coarse / fine == pytest.approx(4.0, rel=0.2)


def test_friction_by_what_a_joint_transmits_takes_energy(rng):
    """One of the forces that most uses refuse."""
    assert set(SAMPLES) - set(IN_STEPS) == {
        "Contact",
        "ContactPairs",
        "DeformableBody",
        "HardContact",
        "JointCoulombFriction",
        "ParticleNet",
        "PathMass",
    }
    mechanism = sample_mechanism(rng, samples(rng)["JointCoulombFriction"])
    state = random_velocity_state(rng, mechanism, 0.5)
    run = vi.redmax.simulate(mechanism, 0.1, dt=0.002, integrator="euler", state=state)
    power = run.power["f"]  # where the motion reverses, the rate at the end of a step is not that over the step
    assert power.max() < 0.01 * np.abs(power).max()
    assert run.dissipated["f"][-1] > 1e-4


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
    """A motor along every coordinate that has a measure, and springs between points, one of them from the world."""
    forces = [vi.Motor(f"{j} {k}", joint=j, coordinate=k, effort=0.0) for j, k in with_measure(mechanism)]
    names = [body.name for body in mechanism.bodies]
    for k, (a, b) in enumerate([("world", names[1]), (names[2], names[3]), (names[4], "world")]):
        p, q = rng.standard_normal((2, 3))
        forces.append(vi.Spring(f"spring {k}", a, b, point_a=p, point_b=q, stiffness=1.0))
    return with_forces(mechanism, *forces)


def measures_of_laws(plan):
    """The measure (ns,) of each sum along which laws act, where each sum has one."""
    assert (np.diff(plan.laws.sum_first) == 1).all()
    return plan.laws.sum_first[:-1]


def kinds_of_laws(plan):
    return {KIND_NAMES[k] for k in plan.measures.kind[measures_of_laws(plan)]}


def measures_at(compiled, x, R, seen=None, known=()):
    """Values (ns,) and gradients (ns, nb, 6) at a pose in the order of the description, the world last.

    ``seen``: pose, in the order of the kernel, at which coordinates of products of exponentials are known, or for
    ``known`` ones of some joints, by their numbers.
    """
    plan, order = compiled.plan, np.append(compiled.order, -1)
    measures, sides = measures_of_laws(plan), np.zeros((2, 6))
    position, rotation, ws = np.ascontiguousarray(x[order]), np.ascontiguousarray(R[order]), workspace(plan)
    for n, joint in zip(plan.joints.product, compiled.joints, strict=True):
        if n >= 0 and joint in known:
            ws.products.q[n, : len(known[joint])] = known[joint]
    follow_products(plan, ws, *(seen if seen else (position, rotation)))
    value, gradient = np.zeros(len(measures)), np.zeros((len(measures), len(x), 6))
    for s, m in enumerate(measures):
        value[s] = measure_at(plan, ws, m, position, rotation, sides)
        gradient[s, order[plan.measures.body[m]]] = sides
    return value, gradient[:, :-1]


@pytest.mark.slow
def test_gradients_of_all_measures_of_laws_against_differences(rng):
    mechanism = along_every_coordinate(rng, one_joint_each(rng))
    compiled = compile_structure(mechanism)
    assert kinds_of_laws(compiled.plan) == {"length", "point", "angle", "rotation", "coordinate"}
    nb, step = len(mechanism.bodies), 1e-4
    x, R = reference_pose(mechanism)
    seen = [np.ascontiguousarray(part[np.append(compiled.order, -1)]) for part in (x, R)]
    kinds = [KIND_NAMES[k] for k in compiled.plan.measures.kind[measures_of_laws(compiled.plan)]]
    for size in (1.0, 0.1):  # coordinates of products are searched for near where they are known
        random = np.zeros((nb + 1, 6))
        random[:-1] = size * rng.standard_normal((nb, 6))
        pose = moved(x, R, random)
        _, gradient = measures_at(compiled, *pose, seen)
        checked = np.array([size < 1.0 or kind != "coordinate" for kind in kinds])
        for i, k in np.ndindex(nb, 6):
            motion = np.zeros((nb + 1, 6))
            motion[i, k] = step
            samples = [measures_at(compiled, *moved(*pose, s * motion), seen)[0] for s in (1, -1, 2, -2)]
            turns = compiled.plan.measures.period[measures_of_laws(compiled.plan)] > 0.0
            near, far = samples[0] - samples[1], samples[2] - samples[3]
            for change in (near, far):
                change[turns] = (change[turns] + np.pi) % (2 * np.pi) - np.pi
            slope = (8 * near - far) / (12 * step)
            # an ANGLE bends without bound where its two directions get lost, at a pose that its joint forbids
            size = 1.0 + np.abs(gradient).max(axis=(1, 2)) ** 5
            assert (np.abs(slope - gradient[:, i, k]) < 1e-9 * size)[checked].all()


@pytest.mark.slow
def test_measures_of_coordinates_are_the_joint_coordinates(rng):
    """Value and rate, wherever the joints hold."""
    mechanism = along_every_coordinate(rng, one_joint_each(rng))
    compiled = compile_structure(mechanism)
    assert {joint for joint, _ in with_measure(mechanism)} == {"base", *REGISTRY} - {"Fixed", "Rod"}
    laws = compiled.plan.laws
    sums = np.searchsorted(laws.sum_law, np.arange(laws.kind.size), side="right") - 1
    owners = compiled.force[laws.element]
    numbers = {mechanism.forces[k].name: s for k, s in zip(owners, sums, strict=True)}
    for _ in range(5):
        x, R = reference_pose(mechanism)
        v, w = np.zeros_like(x), np.zeros_like(x)
        q, rates = ({joint.name: 0.7 * rng.standard_normal(joint.dof) for joint in mechanism.joints} for _ in range(2))
        for joint in mechanism.joints:
            frames = JointFrames(mechanism, joint)
            child = mechanism.body_index[joint.name]
            frames.place(child, x, R, q[joint.name])
            move_child(frames, child, x, R, v, w, rates[joint.name])
        motion = np.hstack([v, np.einsum("nji,nj->ni", R, w)])[:-1]
        known = {number: q[joint.name] for number, joint in enumerate(mechanism.joints)}  # which of several
        value, gradient = measures_at(compiled, x, R, None, known)
        for joint, k in with_measure(mechanism):
            e = numbers[f"{joint} {k}"]
            period = compiled.plan.measures.period[measures_of_laws(compiled.plan)[e]]
            off = value[e] - q[joint][k]
            assert off - (period * round(off / period) if period else 0.0) == pytest.approx(0.0, abs=1e-11)
            assert np.vdot(gradient[e], motion) == pytest.approx(rates[joint][k], abs=1e-11)


class Newton:
    """One Newton system of a mechanism with forces, from a random pose, velocity and target."""

    def __init__(self, rng, mechanism, speed, clustered=True):
        compiled = compile_structure(mechanism, clustered)
        self.plan, self.ws = compiled.plan, workspace(compiled.plan, 1)
        state, nb = mechanism.state(), len(mechanism.bodies)
        self.ws.position[:, :-1], self.ws.quat[:, :-1] = state.position[compiled.order], state.quat_wxyz[compiled.order]
        place(self.plan, self.ws, 0)
        self.velocity = speed * rng.standard_normal((nb, 6))
        self.target = rng.standard_normal((nb, 6))
        ws = self.ws
        evaluate_laws(self.plan, ws, ws.position[0], ws.rotation[0], ws.velocity, 0.0)
        ws.efforts.value_near[:] = ws.efforts.value

    def residual(self, h, velocity, multiplier):
        plan, ws = self.plan, self.ws
        ws.velocity[:], ws.multiplier[:], ws.goal[:] = velocity, multiplier, self.target
        assert np.isfinite(newton.evaluate_step(plan, ws, 0, 1, h, 0, 0.0)[0])
        return np.concatenate([ws.residual_body.ravel(), ws.residual_row[plan.rows.role != EFFORT]])

    def at_rest(self, h):
        """The same with springs at rest where the middle of the step is: laws without effort, but with slopes."""
        self.residual(h, self.velocity, 0.0)
        laws = self.plan.laws
        parameters, values = laws.parameter.copy(), np.repeat(self.ws.efforts.sum_value, np.diff(laws.sum_law))
        for first, kind, value in zip(laws.first, laws.kind, values, strict=True):
            parameters[first + LAWS[LAW_NAMES[kind]].parameters.index("rest")] = value
        self.plan = dataclasses.replace(self.plan, laws=dataclasses.replace(laws, parameter=freeze(parameters)))
        return self

    def error(self, h):
        """Relative error of the matrix: Newton's increment d solves A d = -r, so the change of r along d must be -r."""
        r = self.residual(h, self.velocity, 0.0)
        newton.newton_increment(self.plan, self.ws, 1, h, 0, False)
        dv, dm = self.ws.increment_body.copy(), self.ws.increment_row.copy()
        step = 1e-3 / np.abs(dv).max()
        a, b, c, d = (self.residual(h, self.velocity + s * step * dv, s * step * dm) for s in (1, -1, 2, -2))
        return np.abs((8 * (a - b) - (c - d)) / (12 * step) + r).max() / np.abs(r).max()


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [True, False])
@pytest.mark.parametrize(("speed", "damping"), [(0.2, 0.0), (0.0, 2.0)])
def test_newton_matrix_is_exact_where_efforts_vanish(rng, speed, damping, clustered):
    """Stiffness at any motion, damping at rest: all rows, own blocks, fills, signs and sides."""
    for _ in range(5):
        case = Newton(rng, coupled_everywhere(rng, stiffness=500.0, damping=damping), speed, clustered)
        tree_rows = case.plan.joints.rows[case.plan.bodies.mass.size]
        row = case.plan.measures.row[measures_of_laws(case.plan)]
        assert (row < 0).any()  # a measure without a row
        assert ((row >= 0) & (row < tree_rows)).any()
        assert (row >= tree_rows).any()
        assert "length" in kinds_of_laws(case.plan)
        assert kinds_of_laws(case.plan) & {"angle", "rotation"}
        assert case.at_rest(0.02).error(0.02) < 1e-8
        assert (case.ws.ldu.rank == np.diff(case.plan.loops.node_row)).all()


@pytest.mark.slow
def test_what_newtons_matrix_leaves_out_is_of_second_order_in_the_step(rng):
    """All laws and kinds of measure, with their efforts: the part left out is effort times h^2."""
    case = Newton(rng, one_of_each(rng, random_closed(rng, 8, 2), [*KINDS] * 3), 0.5)
    errors = [case.error(h) for h in (0.02, 0.01, 0.005)]
    assert errors[0] < 0.02
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(2, abs=0.35)


# action and reaction


@pytest.mark.slow
def test_internal_forces_sum_to_nothing(rng):
    for _ in range(8):
        mechanism = random_tree(rng, 6, kinds=("Revolute", "Universal", "Planar", "Cylindrical"), floating=True)
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
        # what they do on the bodies is what they do along their measures
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
