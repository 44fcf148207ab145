"""The arrays of `EquationsOfMotion`: against differences, against each other, and the preconditioner in use."""

from dataclasses import replace

import force_samples
import numpy as np
import pytest
from random_mechanisms import random_velocity_state
from scipy.sparse.linalg import cg

import varint as vi
from varint.model.known_forces import USES

NAMES = [
    "double_pendulum",
    "cart_pole",
    "spinning_top",
    "four_bar",
    "bennett",
    "governor",
    "free_body",
    "roller_coaster",
]
SAMPLES = force_samples.SAMPLES
STEP = 1e-5


def sampled(name):
    return force_samples.sample_mechanism(np.random.default_rng(1), SAMPLES[name])


REFUSED = {*force_samples.STATES, *force_samples.IN_THE_WORLD, *force_samples.SOLVED_FOR}
TAKEN = [name for name in SAMPLES if name not in REFUSED]
DIFFERENTIABLE = [name for name in TAKEN if name != "PathMass"]


def refused(use):
    """Names of the samples with a force that a use refuses."""
    refuses = set(USES[use].refuses)
    return {name for name in SAMPLES if any(traits & refuses for traits in sampled(name).force_traits)}


def test_samples_are_named_by_what_refuses_them():
    assert set(SAMPLES) - refused("equations") == set(TAKEN)
    assert set(TAKEN) - refused("derivatives") == set(DIFFERENTIABLE)


def moving(mechanism, rng):
    """The equations, and q and dq (nq,) of a random state."""
    equations = vi.EquationsOfMotion(mechanism)
    return equations, *equations.coordinates(random_velocity_state(rng, mechanism, 0.3))


def differences(function, q):
    """(..., nq) derivatives of a function of q, by central differences of fourth order."""
    columns = []
    for unit in np.eye(len(q)):
        near, far = (function(q + s * STEP * unit) - function(q - s * STEP * unit) for s in (0.5, 1.0))
        columns.append((8.0 * near - far) / (6.0 * STEP))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("name", NAMES)
def test_jacobians_against_differences(name, rng):
    equations, q, qdot = moving(getattr(vi.mechanisms, name)(), rng)
    J, Jdot = equations.jacobian(q), equations.jacobian_rate(q, qdot)
    nb = len(equations.mechanism.bodies)
    assert J.shape == Jdot.shape == (nb, 6, equations.size)
    state = equations.state(q, qdot)
    moved = np.concatenate([state.velocity, state.angular_velocity], axis=1)
    np.testing.assert_allclose(J @ qdot, moved, atol=1e-12 * (1 + abs(moved).max()))
    by_q = differences(lambda x: equations.state(x, qdot).position, q)
    np.testing.assert_allclose(J[:, :3], by_q, atol=1e-8)
    along = (equations.jacobian(q + STEP * qdot) - equations.jacobian(q - STEP * qdot)) / (2.0 * STEP)
    np.testing.assert_allclose(Jdot, along, atol=1e-7 * (1 + abs(along).max()))


@pytest.mark.parametrize("name", NAMES)
def test_mass_bias_and_forces_agree(name, rng):
    """M = J^T M_b J; the bias is what the force of the same motion without gravity and forces has."""
    mechanism = getattr(vi.mechanisms, name)()
    equations, q, qdot = moving(mechanism, rng)
    J = equations.jacobian(q)
    M = sum(
        body.mass * part[:3].T @ part[:3] + part[3:].T @ body.inertia @ part[3:]
        for body, part in zip(mechanism.bodies, J, strict=True)
    )
    np.testing.assert_allclose(equations.mass_matrix(q), M, atol=1e-12 * abs(M).max())
    bare = vi.EquationsOfMotion(replace(mechanism, forces=(), gravity=np.zeros(3)))
    bias = equations.bias(q, qdot)
    np.testing.assert_allclose(bias, -bare.force(0.0, q, qdot), atol=1e-10 * (1 + abs(bias).max()))
    x = rng.standard_normal(equations.size)
    np.testing.assert_allclose(M @ equations.solve_mass(q, x), x, atol=1e-9 * abs(x).max())


@pytest.mark.parametrize("name", [*NAMES, *DIFFERENTIABLE])
def test_stiffness_and_damping_against_differences(name, rng):
    mechanism = sampled(name) if name in SAMPLES else getattr(vi.mechanisms, name)()
    equations, q, qdot = moving(mechanism, rng)
    K, D = equations.stiffness(0.3, q, qdot), equations.damping(0.3, q, qdot)
    scale = max(1.0, abs(K).max(), abs(D).max())
    by_q = -differences(lambda x: equations.force(0.3, x, qdot), q)
    by_rate = -differences(lambda x: equations.force(0.3, q, x), qdot)
    np.testing.assert_allclose(K, by_q, atol=3e-7 * scale)
    np.testing.assert_allclose(D, by_rate, atol=3e-7 * scale)


@pytest.mark.parametrize("name", ["four_bar", "bennett", "rhombus_chain", "slider_crank"])
def test_multipliers_hold_the_loops(name, rng):
    equations, q, qdot = moving(getattr(vi.mechanisms, name)(), rng)
    G, multipliers = equations.violations(q, qdot)[2], equations.multipliers(0.0, q, qdot)
    effort = equations.mass_matrix(q) @ equations.acceleration(0.0, q, qdot) - equations.force(0.0, q, qdot)
    assert np.abs(effort).max() > 0.1
    np.testing.assert_allclose(G.T @ multipliers, effort, atol=1e-10 * np.abs(effort).max())
    least = np.linalg.lstsq(G.T, effort, rcond=1e-9)[0]
    np.testing.assert_allclose(multipliers, least, atol=1e-9 * np.abs(least).max())


def chain(count, stiffness, across=()):
    """A pendulum of ``count`` links, on torsion springs with dampers."""
    mechanism = vi.mechanisms.n_pendulum(count)
    springs = [
        vi.TorsionSpring(f"spring {k}", joint=joint.name, stiffness=stiffness, damping=0.1 * stiffness)
        for k, joint in enumerate(mechanism.joints)
    ]
    return replace(mechanism, forces=[*springs, *across])


def test_the_preconditioner_inverts_stiff_joints(rng):
    """Springs and dampers along joints are in it exactly; with no step it is M^-1."""
    equations, q, qdot = moving(chain(8, 1e3), rng)
    h, x = 0.01, rng.standard_normal(8)
    P = equations.preconditioner(0.0, q, qdot, h)
    whole = equations.mass_matrix(q) + (h * 100.0 + h * h * 1e3) * np.eye(8)
    np.testing.assert_allclose(whole @ (P @ x), x, atol=1e-10 * abs(x).max())
    plain = equations.preconditioner(0.0, q, qdot, 0.0)
    np.testing.assert_allclose(plain @ x, equations.solve_mass(q, x), rtol=1e-10)
    moved = P @ x
    equations.mass_matrix(np.zeros(8))  # at another pose
    assert np.array_equal(P @ x, moved)


@pytest.mark.parametrize("name", ["cart_pole", "spinning_top", "four_bar", "governor", *DIFFERENTIABLE])
def test_the_preconditioner_is_symmetric_and_positive(name, rng):
    mechanism = sampled(name) if name in SAMPLES else getattr(vi.mechanisms, name)()
    equations, q, qdot = moving(mechanism, rng)
    P = equations.preconditioner(0.3, q, qdot, 0.02) @ np.eye(equations.size)
    np.testing.assert_allclose(P, P.T, atol=1e-9 * abs(P).max())
    free = abs(P).max(axis=0) > 0.0
    assert (np.linalg.eigvalsh(0.5 * (P + P.T)[np.ix_(free, free)]) > 0.0).all()


def test_blocks_of_bodies_are_those_of_the_forces(rng):
    """A spring from a body to the world, and a drag, are in it but for the turning of the spring."""
    points = {"point_a": (0.0, 0.0, -2.5), "point_b": (1.0, 0.5, -2.0)}
    spring = vi.Spring("strut", "link 3", "world", stiffness=400.0, damping=30.0, rest_length=0.0, **points)
    drag = vi.Drag("drag", "link 2", linear=2.0, angular=0.5)
    bare = vi.mechanisms.n_pendulum(3)
    equations, q, qdot = moving(replace(bare, forces=[spring, drag]), rng)
    of_bias, of_spring = (
        vi.EquationsOfMotion(replace(bare, forces=forces)).damping(0.0, q, qdot) for forces in ([], [spring])
    )
    h, along = 0.02, (of_spring - of_bias) / 30.0  # g g^T of the gradient g of the spring's length
    assert np.linalg.matrix_rank(along, tol=1e-9) == 1
    whole = equations.mass_matrix(q) + h * (equations.damping(0.0, q, qdot) - of_bias) + h * h * 400.0 * along
    P = equations.preconditioner(0.0, q, qdot, h) @ np.eye(3)
    np.testing.assert_allclose(P @ whole, np.eye(3), atol=1e-9)


def test_it_makes_conjugate_gradients_converge_sooner(rng):
    """Stiff springs along the joints of a chain, and weak ones across it."""
    ends = {"point_a": (0.0, 0.0, -1.0), "point_b": (0.5, 0.0, -5.0)}
    across = [vi.Spring("across", "link 2", "link 8", stiffness=20.0, rest_length=0.0, **ends)]
    equations, q, qdot = moving(chain(12, 5e3, across), rng)
    h, b = 0.02, rng.standard_normal(12)
    A = equations.mass_matrix(q) + h * equations.damping(0.0, q, qdot) + h * h * equations.stiffness(0.0, q, qdot)
    A = 0.5 * (A + A.T)

    def iterations(**how):
        count = []
        _, failed = cg(A, b, rtol=1e-8, callback=count.append, maxiter=500, **how)
        assert not failed
        return len(count)

    assert iterations(M=equations.preconditioner(0.0, q, qdot, h)) < 0.5 * iterations()


def test_prescribed_coordinates_stay():
    mechanism = vi.mechanisms.double_pendulum()
    drive = vi.PrescribedMotion("drive", joint="joint 1", position=np.sin)
    driven = replace(mechanism, forces=[drive])
    equations = vi.EquationsOfMotion(driven, driven.state(coordinates={"joint 1": 0.0}))
    q, x = np.array([0.0, 0.4]), np.array([3.0, 2.0])
    found = equations.solve_mass(q, x)
    np.testing.assert_allclose(found, [0.0, 2.0 / equations.mass_matrix(q)[1, 1]])
    np.testing.assert_allclose(equations.preconditioner(0.0, q, q, 0.0) @ x, found)


def test_wrong_arguments_are_named():
    equations = vi.EquationsOfMotion(vi.mechanisms.double_pendulum())
    with pytest.raises(vi.ArgumentError, match=r"force takes t, s, first: force\(0.0, q, qdot\)"):
        equations.force(np.zeros(2), np.zeros(2))
    with pytest.raises(vi.ArgumentError, match="x must be"):
        equations.solve_mass([0.0, 0.0], [1.0, 2.0, 3.0])
    with pytest.raises(vi.ArgumentError, match="h must be zero or positive"):
        equations.preconditioner(0.0, [0.0, 0.0], [0.0, 0.0], -1.0)
    with pytest.raises(vi.ArgumentError, match="t must be"):
        equations.stiffness("now", [0.0, 0.0], [0.0, 0.0])
