"""Derivatives of steps: against differences, their transposes, and the two-form that steps keep."""

import force_samples
import numpy as np
import pytest
from random_mechanisms import random_closed, random_velocity_state

import varint as vi
from varint.integrators.march import March
from varint.integrators.schemes import scheme
from varint.kernels.adjoint import carry_back
from varint.kernels.columns import carry_forward
from varint.kernels.configuration import place
from varint.kernels.rows import evaluate_rows
from varint.kernels.workspace import by_numbers, states_of, tangent_work, workspace
from varint.linear.tangents import NO_INPUTS
from varint.model.rotation import quat_from_vector, quat_product, vector_from_quat

STEP = 1e-3  # of differences, sizes of random changes
SAMPLES = force_samples.samples(np.random.default_rng(0))
HARD = ("andrews_squeezer", "delta_robot")  # light bodies, next to a singular pose: too large changes for differences
UNSTABLE = [("governor", 8)]  # its stiff dampers in the backward stages: differences would need far smaller changes


def has_derivatives(mechanism):
    return not mechanism.compiled.plan.limits.measure.size


DIFFERENTIABLE = [
    name
    for name, forces in SAMPLES.items()
    if has_derivatives(force_samples.sample_mechanism(np.random.default_rng(1), forces))
]
CATALOGUE = [name for name in vi.mechanisms.NAMES if has_derivatives(getattr(vi.mechanisms, name)())]


class Marched:
    """A mechanism two steps after its start, whose next steps are kept; gradients by the states of laws are one."""

    def __init__(self, mechanism, state, dt, order, kept=200):
        self.compiled, self.plan, self.made = mechanism.compiled, mechanism.compiled.plan, (mechanism, state, dt, order)
        self.march = March(self.compiled, scheme(order), dt, 1e-13, 1)
        self.march.ws = workspace(self.plan, self.march.scheme.stages.size, self.compiled.functions, kept=kept)
        self.march.start(state)
        self.march.advance(2)
        self.before = self.march.checkpoint()

    def jacobian(self):
        """(nr, 6 nb) of the rows that are constraints."""
        ws, nb = self.march.ws, self.plan.bodies.mass.size
        G = np.zeros((self.plan.rows.role.size, nb + 1, 6))
        for r in np.flatnonzero(ws.compliance == 0.0):
            for s in range(2):
                G[r, self.plan.measures.body[r, s]] += ws.jacobian[self.march.pose, r, s]
        return G[:, :-1].reshape(len(G), 6 * nb)

    def changes(self, rng, count):
        """(count, nb, 12) random ones as large as the state, of poses that keep the joints closed."""
        self.march.restore(self.before)
        _, sizes, V = np.linalg.svd(self.jacobian())
        motions = V[int((sizes > 1e-8 * max(sizes.max(initial=0.0), 1.0)).sum()) :]
        nb = self.plan.bodies.mass.size
        pose = (rng.standard_normal((count, len(motions))) @ motions).reshape(count, nb, 6)
        pose *= min(1.0, self.compiled.length)
        momentum = rng.standard_normal((count, nb, 6)) * max(1.0, np.abs(self.march.ws.momentum).max())
        return np.concatenate([pose, momentum], axis=2)

    def forward(self, changes, steps):
        self.march.restore(self.before)
        self.march.ws.tape.count[0] = 0
        self.march.advance(steps)
        self.count = int(self.march.ws.tape.count[0])
        found, ws = changes.copy(), workspace(self.plan, 1, self.compiled.functions)
        states = np.zeros((len(changes), states_of(self.plan)))
        work, stages = tangent_work(self.plan), (0, self.count)
        carry_forward(self.plan, ws, self.march.ws.tape, work, stages, NO_INPUTS, found, states)
        self.states = states
        return found

    def backward(self, gradient):
        """After `forward`."""
        found, ws = gradient.copy(), workspace(self.plan, 1, self.compiled.functions)
        by = by_numbers(self.plan, self.count)
        work, own = tangent_work(self.plan), np.ones(states_of(self.plan))
        carry_back(self.plan, ws, self.march.ws.tape, work, (0, self.count), found, own, by)
        return found

    def moved(self, change):
        ws, pose = self.march.ws, self.march.pose
        ws.position[pose, :-1] += change[:, :3]
        ws.quat[pose, :-1] = quat_product(ws.quat[pose, :-1], quat_from_vector(change[:, 3:6]))
        ws.momentum[:] += change[:, 6:]
        place(self.plan, ws, pose)

    def end_from(self, change, steps):
        """The state after so many steps from the changed one, put back onto the rows."""
        self.march.restore(self.before)
        self.moved(change)
        ws, pose, nb = self.march.ws, self.march.pose, self.plan.bodies.mass.size
        for _ in range(4):
            rows = np.zeros(self.plan.rows.role.size)
            evaluate_rows(self.plan, ws, ws.position[pose], ws.rotation[pose], rows, ws.jacobian[pose])
            rows[ws.compliance > 0.0] = 0.0
            back = -np.linalg.pinv(self.jacobian(), rcond=1e-8) @ rows
            self.moved(np.hstack([back.reshape(nb, 6), np.zeros((nb, 6))]))
        self.march.advance(steps)
        assert self.march.failure is None
        pose = self.march.pose
        return ws.position[pose, :-1].copy(), ws.quat[pose, :-1].copy(), ws.momentum.copy()

    def differences(self, change, steps):
        """Of fourth order, along a change (nb, 12)."""

        def slope(size):
            (x, q, p), (y, r, s) = (self.end_from(sign * size * change, steps) for sign in (1, -1))
            turn = vector_from_quat(quat_product(r * [1, -1, -1, -1], q))
            return np.concatenate([x - y, turn, p - s], axis=1) / (2 * size)

        return (4 * slope(STEP / 2) - slope(STEP)) / 3


def largest_error(found, exact):
    """Of poses and of momenta, relative to the largest of each."""
    return max(
        np.abs(found[..., part] - exact[..., part]).max() / np.abs(exact[..., part]).max()
        for part in (slice(0, 6), slice(6, 12))
    )


def check_transpose(marched, rng, steps):
    changes, gradient = marched.changes(rng, 3), rng.standard_normal((marched.plan.bodies.mass.size, 12))
    ahead = np.sum(marched.forward(changes, steps) * gradient, axis=(1, 2)) + marched.states.sum(axis=1)
    behind = np.sum(changes * marched.backward(gradient), axis=(1, 2))
    size = max(np.abs(changes * marched.backward(gradient)).sum(), 1.0)
    assert np.abs(ahead - behind).max() < (1e-11 if marched.plan.products.start.size else 1e-12) * size


@pytest.mark.parametrize("order", [2, *(pytest.param(order, marks=pytest.mark.slow) for order in (4, 8))])
@pytest.mark.parametrize("name", CATALOGUE)
def test_catalogue(rng, name, order):
    mechanism = getattr(vi.mechanisms, name)()
    state = random_velocity_state(rng, mechanism, 0.3)
    marched = Marched(mechanism, state, vi.mechanisms.module(name).EXPECTED["dt"], order)
    check_transpose(marched, rng, 3)
    if len(mechanism.bodies) > 8 or name in HARD or (name, order) in UNSTABLE:
        return
    change = marched.changes(rng, 1)
    assert largest_error(marched.forward(change, 2)[0], marched.differences(change[0], 2)) < 1e-6


@pytest.mark.parametrize("order", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_forces_and_couplings(rng, name, order):
    mechanism = force_samples.with_forces(force_samples.sample_mechanism(np.random.default_rng(1)), *SAMPLES[name])
    marched = Marched(mechanism, random_velocity_state(rng, mechanism, 0.3), 2e-3, order)
    check_transpose(marched, rng, 3)
    change = marched.changes(rng, 1)
    assert largest_error(marched.forward(change, 2)[0], marched.differences(change[0], 2)) < 1e-7


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(k, marks=pytest.mark.slow) for k in range(5, 100))])
def test_random_loops(seed):
    rng = np.random.default_rng(seed)
    mechanism = random_closed(rng, int(rng.integers(4, 9)), int(rng.integers(1, 3)))
    marched = Marched(mechanism, random_velocity_state(rng, mechanism, 0.3), 1e-3, 2)
    check_transpose(marched, rng, 2)


def two_form(a, b, angular):
    """The canonical one of changes a, b (nb, 12), rotation vectors and angular momenta (nb, 3) in body axes."""
    (x, s, p, k), (y, t, q, l) = np.split(a, 4, axis=1), np.split(b, 4, axis=1)
    return np.sum(x * q - y * p) + np.sum(s * l - t * k) + np.sum(angular * np.cross(s, t))


@pytest.mark.parametrize("order", [2, 4, *(pytest.param(order, marks=pytest.mark.slow) for order in (6, 8))])
@pytest.mark.parametrize("name", ["n_pendulum", "spinning_top", "four_bar", "jansen_leg", "bricard", "sarrus"])
def test_steps_keep_the_two_form(rng, name, order):
    """M^T J M = J, with J that of the momenta in body axes."""
    mechanism = getattr(vi.mechanisms, name)()
    marched = Marched(mechanism, random_velocity_state(rng, mechanism, 0.5), 1e-3, order)
    changes, before = marched.changes(rng, 6), marched.march.ws.momentum[:, 3:].copy()
    ends = marched.forward(changes, 3)
    after = marched.march.ws.momentum[:, 3:]
    start = np.array([[two_form(a, b, before) for a in changes] for b in changes])
    end = np.array([[two_form(a, b, after) for a in ends] for b in ends])
    assert np.abs(end - start).max() < 1e-12 * np.abs(start).max()


def test_halved_steps_are_kept(rng):
    """A top that turns further than a step may: the derivatives are those of the sub-steps that were taken."""
    mechanism = vi.mechanisms.spinning_top()
    marched = Marched(mechanism, mechanism.state(rates={mechanism.joints[0].name: (3.0, 2.0, 60.0)}), 0.02, 4)
    change = marched.changes(rng, 1)
    found = marched.forward(change, 2)
    assert marched.count > 2 * marched.march.scheme.stages.size
    assert largest_error(found[0], marched.differences(change[0], 2)) < 1e-6
