"""Steps of a mechanism with their derivatives, ahead and back, and by differences, for tests."""

import numpy as np

from varint.derivatives.linear.step_tangents import NO_INPUTS
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme
from varint.model.rotation_vectors import quat_from_vector, quat_product, vector_from_quat
from varint.step.configuration import place
from varint.step.derivatives.adjoint import carry_back
from varint.step.derivatives.columns import carry_forward
from varint.step.rows import evaluate_rows
from varint.step.workspace import by_numbers, states_of, tangent_work, workspace

STEP = 1e-2  # of differences, the largest, of random changes
HALVINGS = 20  # of it, at most
RESTING = 1e-9  # two extrapolations that differ by less, relative
OF_RUNS = 1e-8  # the same for whole runs
TINY = 1e-300
DIVERGING = 1e3  # times the least difference: round-off has taken over


class Marched:
    """A mechanism some steps after its start, whose next steps are kept; gradients by the states of laws are one."""

    def __init__(self, mechanism, state, dt, order, kept=200, after=2):
        self.compiled, self.plan, self.made = mechanism.compiled, mechanism.compiled.plan, (mechanism, state, dt, order)
        self.march = March(self.compiled, scheme(order), dt, 1e-13, 1, kept=kept)
        self.march.start(state)
        self.march.advance(after)
        self.before = self.march.checkpoint()

    def jacobian(self):
        """(nr, 6 nb) of the rows that are constraints; of a sum in its first row, the others are zero."""
        ws, nb = self.march.ws, self.plan.bodies.mass.size
        G = np.zeros((self.plan.rows.role.size, nb + 1, 6))
        for r in np.flatnonzero(ws.released == 0.0):
            for s in range(2):
                G[r, self.plan.measures.body[r, s]] += ws.jacobian[self.march.pose, r, s]
        for first, size in zip(self.plan.constraints.row, self.plan.constraints.size, strict=True):
            G[first], G[first + 1 : first + size] = G[first : first + size].sum(axis=0), 0.0
        return G[:, :-1].reshape(len(G), 6 * nb)

    def changes(self, rng, count):
        """(count, nb, 12) random ones: of poses that keep the joints closed, of momenta by 1 m/s and 1 rad/s."""
        self.march.restore(self.before)
        _, sizes, V = np.linalg.svd(self.jacobian())
        motions = V[int((sizes > 1e-8 * max(sizes.max(initial=0.0), 1.0)).sum()) :]
        pose = (rng.standard_normal((count, len(motions))) @ motions).reshape(count, -1, 6)
        pose *= min(1.0, self.compiled.length)
        changes = np.concatenate([pose, rng.standard_normal(pose.shape)], axis=2)
        return self.of_velocities(changes[:, self.compiled.slot])

    def of_velocities(self, changes):
        """(n, nb, 12) changes of momenta in the order of the plan, of velocities in that of the description."""
        found, bodies = changes[:, self.compiled.order], self.plan.bodies
        found[..., 6:9] *= bodies.mass[:, None]
        found[..., 9:] = np.einsum("ijk,nik->nij", bodies.inertia, found[..., 9:])
        return found

    def forward(self, changes, steps):
        self.march.restore(self.before)
        self.march.ws.tape.count[0] = 0
        self.march.advance(steps)
        self.count = int(self.march.ws.tape.count[0])
        found, ws = changes.copy(), workspace(self.plan, 1, self.compiled.functions)
        states = np.zeros((len(changes), states_of(self.plan)))
        work, stages = tangent_work(self.plan), (0, self.count)
        carry_forward(self.plan, ws, self.march.ws.tape, work, stages, NO_INPUTS, found, np.empty_like(found), states)
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
            rows[ws.released > 0.0] = 0.0
            back = -np.linalg.pinv(self.jacobian(), rcond=1e-8) @ rows
            self.moved(np.hstack([back.reshape(nb, 6), np.zeros((nb, 6))]))
        self.march.advance(steps)
        assert self.march.failure is None
        pose = self.march.pose
        return ws.position[pose, :-1].copy(), ws.quat[pose, :-1].copy(), ws.momentum.copy()

    def differences(self, change, steps):
        """Along a change (nb, 12): central differences of halved sizes, extrapolated until they rest (Ridders)."""

        def slope(size):
            (x, q, p), (y, r, s) = (self.end_from(sign * size * change, steps) for sign in (1, -1))
            turn = vector_from_quat(quat_product(r * [1, -1, -1, -1], q))
            return np.concatenate([x - y, turn, p - s], axis=1) / (2 * size)

        return extrapolated(slope, STEP, largest_error)


def extrapolated(slope, size, error, resting=RESTING):
    """The limit of ``slope`` (an even function of a size) at zero, from halved sizes: Ridders' method.

    ``error``: of an array relative to another. ``resting``: two of them that differ by less are enough.
    """
    least, best, last = np.inf, None, []
    for halving in range(HALVINGS):
        row = [slope(size / 2**halving)]
        for k, coarser in enumerate(last):
            row.append(row[k] + (row[k] - coarser) / (4 ** (k + 1) - 1))
            apart = max(error(row[k], row[-1]), error(coarser, row[-1]))
            if apart < least:
                least, best = apart, row[-1]
        if least < resting or (best is not None and error(last[-1], row[-1]) > DIVERGING * least):
            break
        last = row
    return best


def slope_of(function, size, scale=TINY):
    """The derivative at 0 of a function of a number, to a share of it or of the ``scale``."""

    def slope(step):
        return (function(step) - function(-step)) / (2 * step)

    def error(found, exact):
        return np.abs(found - exact).max() / max(np.abs(exact).max(), scale)

    return extrapolated(slope, size, error, OF_RUNS)


def largest_error(found, exact):
    """Of poses and of momenta, relative to the largest of each."""
    return max(
        np.abs(found[..., part] - exact[..., part]).max() / np.abs(exact[..., part]).max()
        for part in (slice(0, 6), slice(6, 12))
    )


def check_transpose(marched, rng, steps, changes=None, rtol=1e-12):
    """Changes ahead, random ones where not given, and gradients back have the same products.

    To ``rtol`` of the sum of the sizes of their terms.
    """
    changes = marched.changes(rng, 3) if changes is None else changes
    gradient = rng.standard_normal(changes.shape[1:])
    ahead = np.sum(marched.forward(changes, steps) * gradient, axis=(1, 2)) + marched.states.sum(axis=1)
    products = changes * marched.backward(gradient)
    assert (np.abs(ahead - products.sum(axis=(1, 2))) <= rtol * np.abs(products).sum(axis=(1, 2))).all()


def check_differences(marched, rng, steps, rtol=1e-7):
    """Along a random change, relative to the largest of poses and of momenta."""
    change = marched.changes(rng, 1)
    found = marched.forward(change, steps)[0]
    assert largest_error(found, marched.differences(change[0], steps)) < rtol
