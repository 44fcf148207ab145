"""Newton's matrix of a step as a sparse matrix: against differences of the step's residual, and its names."""

from dataclasses import replace

import force_samples
import numpy as np
import pytest
from random_mechanisms import random_velocity_state
from scipy.sparse.linalg import spsolve

import varint as vi
from varint.derivatives.linear.step_tangents import TangentRun
from varint.methods.variational.schemes import scheme
from varint.model.known_forces import USES
from varint.step.derivatives.tape import play_stage
from varint.step.newton import evaluate_step

SAMPLES = force_samples.SAMPLES
STEP = 1e-5


def sampled(name):
    return force_samples.sample_mechanism(np.random.default_rng(1), SAMPLES[name])


REFUSED = {*force_samples.STATES, *force_samples.IN_THE_WORLD, *force_samples.RESTRICTED}
TAKEN = [name for name in SAMPLES if name not in {*REFUSED, "BeamElement"}]  # efforts of beams are unknowns of the
# residual: test_beams.py


def test_samples_are_named_by_what_refuses_them():
    refuses = {*USES["linearize step"].refuses, "hard"}
    assert {name for name in SAMPLES if any(traits & refuses for traits in sampled(name).force_traits)} == REFUSED


class Residual:
    """The residual of the step from ``state`` by velocities (nb, 6) and multipliers (nr,), in kernel order."""

    def __init__(self, mechanism, state, dt):
        run = TangentRun(mechanism, scheme(2), state, dt, 1)
        run.march_on(1)
        self.plan, self.ws = run.compiled.plan, run.aside
        self.upper, self.h = play_stage(self.plan, self.ws, run.march.ws.tape, 0)
        self.velocity, self.multiplier = self.ws.velocity.copy(), self.ws.multiplier.copy()

    def __call__(self, velocity, multiplier):
        self.ws.velocity[:], self.ws.multiplier[:] = velocity, multiplier
        evaluate_step(self.plan, self.ws, 0, 1, self.h, self.upper, 0.0)
        return self.ws.residual_body.copy(), self.ws.residual_row.copy()


def by_differences(mechanism, state, dt, rows):
    """The matrix by central differences of fourth order; ``rows``: numbers in the plan of each row."""
    residual, slot = Residual(mechanism, state, dt), mechanism.compiled.slot
    columns = []
    for n in range(6 * slot.size + len(rows)):
        velocity, multiplier = np.zeros_like(residual.velocity), np.zeros_like(residual.multiplier)
        if n < 6 * slot.size:
            velocity[slot[n // 6], n % 6] = STEP
        else:
            multiplier[rows[n - 6 * slot.size]] = STEP
        total = 0.0
        for share, weight in ((0.5, 8.0), (1.0, -1.0)):
            for sign in (1.0, -1.0):
                change = sign * share
                body, row = residual(residual.velocity + change * velocity, residual.multiplier + change * multiplier)
                whole = np.concatenate([body[slot].ravel(), [row[own[0]] for own in rows]])
                total = total + sign * weight * whole / (6.0 * STEP)
        columns.append(total)
    return np.array(columns).T


def rows_of(mechanism, found):
    """Numbers in the plan of the rows of ``found``, by its names."""
    compiled, plan = mechanism.compiled, mechanism.compiled.plan
    joint, out = np.repeat(compiled.joints, np.diff(plan.joints.rows)), []
    for name, place in found.rows.items():
        if name in mechanism.joint_index:
            own = [[r] for r in np.flatnonzero((joint == mechanism.joint_index[name]) & (plan.rows.role == 0))]
        else:
            mine = np.flatnonzero(compiled.force[plan.constraints.element] == mechanism.force_index[name])
            own = [
                list(range(plan.constraints.row[c], plan.constraints.row[c] + plan.constraints.size[c])) for c in mine
            ]
        assert len(own) == place.stop - place.start
        out += own
    return out


CATALOGUE = ["double_pendulum", "cart_pole", "four_bar", "bennett", "governor", "spinning_top", "roller_coaster"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CATALOGUE, *TAKEN])
def test_it_is_the_derivative_of_the_residual(name, rng):
    mechanism = sampled(name) if name in SAMPLES else getattr(vi.mechanisms, name)()
    state, dt = random_velocity_state(rng, mechanism, 0.3), 5e-3
    found = vi.step_matrix(mechanism, state, dt)
    expected = by_differences(mechanism, state, dt, rows_of(mechanism, found))
    matrix = found.matrix.toarray()
    assert matrix.shape == expected.shape
    nb = 6 * len(mechanism.bodies)
    for part in (np.s_[:nb, :nb], np.s_[:nb, nb:], np.s_[nb:, :nb], np.s_[nb:, nb:]):
        scale = max(1e-3, abs(expected[part]).max(initial=0.0))
        np.testing.assert_allclose(matrix[part], expected[part], atol=1e-7 * scale)


@pytest.mark.slow
def test_its_blocks_have_names():
    mechanism = vi.mechanisms.four_bar()
    found = vi.step_matrix(mechanism, None, 0.01)
    assert list(found.bodies) == [body.name for body in mechanism.bodies]
    assert list(found.rows) == [joint.name for joint in mechanism.joints]
    body, joint = mechanism.bodies[1].name, mechanism.joints[0]
    block = found.matrix[found.bodies[body], found.bodies[body]].toarray()
    assert block[0, 0] == pytest.approx(mechanism.bodies[1].mass)
    beside = found.matrix[found.rows[joint.name], found.bodies[body]]
    assert (beside.nnz == 0) == (body not in (joint.body_a, joint.body_b))
    assert found.velocity.shape == (3, 6)
    assert "3 bodies" not in repr(found)
    assert f"{found.matrix.nnz} entries" in repr(found)


@pytest.mark.slow
def test_the_jacobian_and_the_reactions_hold_the_joints(rng):
    """G times the velocities is zero, and M a less all other forces is G^T times something."""
    mechanism = vi.mechanisms.four_bar(rate=3.0)
    state = mechanism.state()
    G = vi.step_matrix(mechanism, state, 1e-3).jacobian.toarray()
    velocity = np.hstack([state.velocity, state.angular_velocity]).ravel()
    assert np.abs(G @ velocity).max() < 1e-14 * np.abs(velocity).max() * len(velocity)
    found, spin = vi.accelerations(mechanism, state), state.angular_velocity
    force = np.concatenate(
        [
            [*(b.mass * (a - mechanism.gravity)), *(b.inertia @ turn + np.cross(w, b.inertia @ w))]
            for b, a, turn, w in zip(mechanism.bodies, found.linear, found.angular, spin, strict=True)
        ]
    )
    multipliers = np.linalg.lstsq(G.T, force, rcond=None)[0]
    np.testing.assert_allclose(G.T @ multipliers, force, atol=1e-13 * np.abs(force).max())


@pytest.mark.slow
def test_bodies_in_another_order_than_the_kernels(rng):
    """The description from the tip to the root: the same matrix, with its blocks exchanged."""
    mechanism = vi.mechanisms.n_pendulum(3)
    turned = replace(mechanism, bodies=mechanism.bodies[::-1], joints=mechanism.joints[::-1])
    one, other = (vi.step_matrix(each, None, 0.01) for each in (mechanism, turned))
    for first in (*one.bodies, *one.rows):
        for second in (*one.bodies, *one.rows):
            blocks = [
                found.matrix[places[first], places[second]].toarray()
                for found in (one, other)
                for places in [{**found.bodies, **found.rows}]
            ]
            np.testing.assert_allclose(blocks[0], blocks[1], atol=1e-12)


@pytest.mark.slow
def test_a_newton_step_with_it_solves_the_step(rng):
    """From velocities that are a little off: the increment takes the residual to its square."""
    mechanism = vi.mechanisms.n_pendulum(4)
    state, dt, slot = random_velocity_state(rng, mechanism, 0.3), 0.01, mechanism.compiled.slot
    found, residual = vi.step_matrix(mechanism, state, dt), Residual(mechanism, state, dt)
    off = 1e-4 * rng.standard_normal(residual.velocity.shape)
    body, row = residual(residual.velocity + off, residual.multiplier)
    rows = np.concatenate(rows_of(mechanism, found))
    change = -spsolve(found.matrix, np.concatenate([body[slot].ravel(), row[rows]]))
    velocity, multiplier = residual.velocity + off, residual.multiplier.copy()
    velocity[slot] += change[: off.size].reshape(-1, 6)
    multiplier[rows] += change[off.size :]
    after = np.concatenate([part.ravel() for part in residual(velocity, multiplier)])
    assert abs(after).max() < 1e-3 * max(abs(body).max(), abs(row).max())


@pytest.mark.slow
def test_a_chain_has_few_entries():
    """Bodies touch their own joints alone: entries grow as the links do."""
    counts = [vi.step_matrix(vi.mechanisms.n_pendulum(n), None, 0.001).matrix.nnz for n in (10, 20, 40)]
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])


def test_what_it_cannot_take_is_refused():
    mechanism = vi.mechanisms.double_pendulum()
    stop = vi.JointStop("stop", joint="joint 1", lower=-3.0, upper=0.001)
    stopped = replace(mechanism, forces=[stop])
    state = stopped.state(coordinates={"joint 1": 0.0}, rates={"joint 1": 1.0})
    with pytest.raises(vi.StateError, match="meets a hard stop"):
        vi.step_matrix(stopped, state, 0.01)
    fast = mechanism.state(rates={"joint 2": 200.0})
    with pytest.raises(vi.StateError, match="too long for the motion"):
        vi.step_matrix(mechanism, fast, 0.01)
    servo = vi.JointServo("servo", joint="joint 1", target=0.1, stiffness=3.0, integral=1.0)
    with pytest.raises(vi.ArgumentError, match="internal variable"):
        vi.step_matrix(replace(mechanism, forces=[servo]), None, 0.01)
    with pytest.raises(vi.ArgumentError, match="dt must be positive"):
        vi.step_matrix(mechanism, None, 0.0)


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_accelerations_take_the_reference_state_by_default(name):
    mechanism = getattr(vi.mechanisms, name)()
    found, expected = vi.accelerations(mechanism), vi.accelerations(mechanism, mechanism.state())
    assert np.array_equal(found.linear, expected.linear)
    assert found.reactions.keys() == {joint.name for joint in mechanism.joints}
