"""The checks of derivatives of Dojo (Howell et al., Dojo: A Differentiable Physics Engine for Robotics), redone.

Taken from its repository, dojo-sim/Dojo.jl: test/minimal.jl differentiates the maps between maximal and minimal
coordinates of an n-pendulum (links of 1 kg and 1 m, 0.05 m square, on hinges along x, from 0.3 pi at rest, after 1 s; 1
and 2 links at 0.1 s, 5 links at 0.01 s) and multiplies them; test/jacobian.jl holds the derivative of a step by the
implicit function theorem against differences. Its step is that of src/integrators/constraint.jl and integrator.jl,
which `Links` does again in the plane: with velocities v, w of the step before as the state,

    m (v' - v) = h m g + G_x^T l        J (w' c' - w c) = G_a^T l        c = sqrt(1 - (h w / 2)^2)
    x' = x + h v'                       a' = a + 2 arcsin(h w' / 2)      joints closed at x', a'

G at x, a. The places are those of order 2 here, whose state has the velocity at the node in place of that of the step.
"""

import numpy as np
import pytest

import varint as vi

G, LENGTH = 9.81, 1.0
INERTIA = (LENGTH**2 + 0.05**2) / 12  # of 1 kg about x
CASES = [(1, 0.1), (2, 0.1), (5, 0.01)]


class Links:
    """Dojo's step of n links in the y-z plane; a state has n angles against the vertical, and n rates of a step."""

    def __init__(self, n, h):
        self.n, self.h = n, h
        self.reach = LENGTH * (np.tril(np.ones((n, n)), -1) + 0.5 * np.eye(n))  # of centres along the links

    def centres(self, a):
        """(2 n,) y and z of the centres of links that hang from the origin."""
        return np.concatenate([self.reach @ np.sin(a), -self.reach @ np.cos(a)])

    def by_angles(self, a):
        """(2 n, n) derivative of `centres`."""
        return np.vstack([self.reach * np.cos(a), self.reach * np.sin(a)])

    def step(self, before, here):
        """The angles (n,) after the poses ``before`` and ``here``, (n,) each.

        The multipliers are eliminated: what the motions that the joints allow do not see of them is zero.
        """
        h, allowed = self.h, self.by_angles(here)
        v, u = (self.centres(here) - self.centres(before)) / h, np.sin(0.5 * (here - before))
        push = allowed.T @ (v + h * np.repeat([0.0, -G], self.n)) + INERTIA * 2 / h * u * np.sqrt(1 - u**2)
        after = 2 * here - before
        for _ in range(30):
            u = np.sin(0.5 * (after - here))
            left = allowed.T @ (self.centres(after) - self.centres(here)) / h + INERTIA * 2 / h * u * np.sqrt(1 - u**2)
            slope = allowed.T @ self.by_angles(after) / h + np.diag(INERTIA / h * np.cos(after - here))
            after = after - np.linalg.solve(slope, left - push)
        return after

    def derivative(self, before, here):
        """(n, n), (n, n): of the step by both poses, by complex ones."""
        tiny, units = 1e-30, np.eye(self.n)
        by = [
            np.array([self.step(before + 1j * tiny * e * k, here + 1j * tiny * e * (1 - k)).imag for e in units]).T
            for k in (1, 0)
        ]
        return by[0] / tiny, by[1] / tiny

    def node_rates(self, here, after):
        """The rates (n,) at the node ``here`` that order 2 starts the step to ``after`` with."""
        h, allowed = self.h, self.by_angles(here)
        v, u = (self.centres(after) - self.centres(here)) / h, np.sin(0.5 * (after - here))
        momentum = allowed.T @ (v - 0.5 * h * np.repeat([0.0, -G], self.n)) + INERTIA * 2 / h * u * np.sqrt(1 - u**2)
        return np.linalg.solve(allowed.T @ allowed + INERTIA * np.eye(self.n), momentum)


def after_one_second(n, h):
    """Two poses that follow each other."""
    links, here = Links(n, h), np.full(n, 0.3 * np.pi)
    before = here
    for _ in range(round(1 / h)):
        before, here = here, links.step(before, here)
    return links, before, here


def pendulum(n):
    """The coordinates of its joints are angles against the vertical, and against the link before."""
    bodies = [vi.Body.box(f"link {k}", (0.05, 0.05, LENGTH), 1.0, position=(0, 0, -(k + 0.5))) for k in range(n)]
    ends = ["world", *(body.name for body in bodies)]
    joints = [vi.Revolute(f"hinge {k}", *ends[k : k + 2], point=(0, 0, -k), axis=(1, 0, 0)) for k in range(n)]
    return vi.Mechanism("n-pendulum", bodies, joints)


def state_of(mechanism, angles, rates):
    """From angles against the vertical."""
    names = [joint.name for joint in mechanism.joints]
    parts = (dict(zip(names, np.diff(each, prepend=0.0), strict=True)) for each in (angles, rates))
    return mechanism.state(**dict(zip(("coordinates", "rates"), parts, strict=True)))


def in_angles(system):
    """A of a step, of angles against the vertical."""
    n = len(system.names)
    sums = np.kron(np.eye(2), np.tril(np.ones((n, n))))
    return sums @ system.A @ np.linalg.inv(sums)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "h"), CASES)
def test_the_step_of_dojo(n, h):
    """Two poses lead to the next two: the derivative of that is the same."""
    links, before, here = after_one_second(n, h)
    mechanism = pendulum(n)
    first = vi.linearize(mechanism, state_of(mechanism, before, links.node_rates(before, here)), h)
    middle = vi.simulate(mechanism, h, h, state=first.state, tol=1e-13)[-1]
    angles = np.cumsum([mechanism.coordinates(middle)[name] for name in first.names])
    assert angles == pytest.approx(here, abs=1e-11)
    second = vi.linearize(mechanism, middle, h)
    one = in_angles(first)
    two = in_angles(second) @ one
    by_both = two[:n] @ np.linalg.inv(np.vstack([np.eye(2 * n)[:n], one[:n]]))
    exact = np.hstack(links.derivative(before, here))
    assert by_both == pytest.approx(exact, abs=1e-9 * np.abs(exact).max())


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2])
def test_the_gap_to_dojos_state_is_of_second_order(n):
    """With its rates, those of the step before, in the place of rates at the node: local errors of order h^2."""
    angles, rates, gaps = np.linspace(0.9, 0.4, n), np.linspace(-1.0, 2.0, n), []
    mechanism = pendulum(n)
    for h in (0.01, 0.005, 0.0025):
        links = Links(n, h)
        before = angles - h * rates
        by_before, by_here = links.derivative(before, angles)
        # of (a, a') with a' the rate (a - a_before) / h, to the same after the step
        dojo = np.block([
            [by_before + by_here, -h * by_before],
            [(by_before + by_here - np.eye(n)) / h, -by_before],
        ])  # fmt: skip
        gaps.append(np.abs(dojo - in_angles(vi.linearize(mechanism, state_of(mechanism, angles, rates), h))).max())
    assert np.log2(gaps[:-1] / np.array(gaps[1:])) == pytest.approx([2.0, 2.0], abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "h"), CASES)
def test_between_maximal_and_minimal_coordinates(n, h):
    """Both maps against differences, their product, and the step by the chain rule: rows of the end, fdx, basis."""
    links, before, here = after_one_second(n, h)
    mechanism = pendulum(n)
    system = vi.linearize(mechanism, state_of(mechanism, here, links.node_rates(here, links.step(before, here))), h)
    both = np.tensordot(system.rows, system.basis, ((1, 2), (1, 2)))
    assert both == pytest.approx(np.eye(2 * n), abs=1e-12)

    names = [joint.name for joint in mechanism.joints]
    coordinates, rates = (np.array([found[name] for name in names]) for found in
                          (mechanism.coordinates(system.state), mechanism.rates(system.state)))  # fmt: skip

    def maximal(x):
        state = mechanism.state(
            coordinates=dict(zip(names, x[:n], strict=True)), rates=dict(zip(names, x[n:], strict=True))
        )
        return np.hstack([state.position, state.quat_wxyz, state.velocity, state.angular_velocity])

    x, step, turned = np.concatenate([coordinates, rates]), 1e-3, system.state.quat_wxyz
    for k, e in enumerate(np.eye(2 * n)):
        near, far = (maximal(x + s * e) - maximal(x - s * e) for s in (step, 2 * step))
        slope = (8 * near - far) / (12 * step)
        spin = 2 * (
            slope[:, 4:7] * turned[:, :1] - slope[:, 3:4] * turned[:, 1:] - np.cross(turned[:, 1:], slope[:, 4:7])
        )
        found = np.hstack([slope[:, :3], spin, slope[:, 7:]])
        assert system.basis[k] == pytest.approx(found, abs=1e-9 * np.abs(found).max())

    after = vi.linearize(mechanism, vi.simulate(mechanism, h, h, state=system.state, tol=1e-13)[-1], h)
    chained = np.tensordot(np.tensordot(after.rows, system.fdx, 2), system.basis, ((1, 2), (1, 2)))
    assert chained[:n] == pytest.approx(system.A[:n], abs=1e-11 * np.abs(system.A).max())
