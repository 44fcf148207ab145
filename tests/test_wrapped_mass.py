"""Mass along paths around spheres and cylinders: both formulations, energy over touches, what is refused.

The geometry is that of `algebra.wrapping`, whose tests hold it; the derivatives of arcs are measured by differences.
"""

import numpy as np
import pytest
from test_massive_paths import check_momenta, points_at
from test_path_mass import of_lagrange, slope
from test_wraps import elbow_path, two_links

import varint as vi
from varint.mathematics.arcs import arc_along, arc_length, arc_of, arc_point, turns_around
from varint.mathematics.wrapping import wrapped_arc, wrapped_length
from varint.model.rotation_vectors import rotation_matrix
from varint.step.paths.masses import add_path_momenta
from varint.step.workspace import workspace

IDLE = {"max_force": 0.0, "optimal_length": 0.5, "slack_length": 0.3, "activation_times": None}
CYLINDER = vi.CylinderSurface((0, 0, -0.4), (0.1, 1, 0.05), 0.2, side=(1, 0, -0.4))
SPHERE = vi.SphereSurface((0, 0, -0.4), 0.2, side=(1, 0.3, -0.4))


def heavy(path, **given):
    """A muscle without force."""
    return vi.Musculotendon("m", path=path, **({"mass": 0.8, "smoothing": 0.01} | IDLE | given))


def bent_path(surface):
    """From the first of three bodies around the second, past a point of it, to the last."""
    return [
        vi.At("b0", (0.1, 0, 0)),
        vi.Around("b1", surface),
        vi.At("b1", (0.12, 0.03, -0.75)),
        vi.At("b2", (0.05, 0.1, -1.0)),
    ]


def arm(surface, **given):
    bodies = [vi.Body.box(f"b{k}", (0.1, 0.1, 0.4), mass=1.0, position=(0, 0, -0.4 * k)) for k in range(3)]
    joints = [
        vi.Spherical(f"j{k}", "world" if k == 0 else f"b{k - 1}", f"b{k}", point=(0, 0, 0.2 - 0.4 * k))
        for k in range(3)
    ]
    return vi.Mechanism("arm", bodies, joints, forces=[heavy(bent_path(surface), **given)])


# ------------------------------------------------------------------------------------------------ arcs


def ends_at(motion, t):
    """Jets of p and q, each of which has a place, a rate and an acceleration."""
    return [tuple(tuple(map(float, row)) for row in (x + t * v + t * t / 2 * a, v + t * a, a)) for x, v, a in motion]


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", [0.0, 0.02])
@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (0.0, 0.0, 0.0)])
def test_derivatives_of_arcs(axis, smoothing, rng):
    turned = 0
    for _ in range(40):
        p = rng.standard_normal(3)
        motion = np.array([[p, *0.3 * rng.standard_normal((2, 3))], [-p, *0.3 * rng.standard_normal((2, 3))]])
        motion[1, 0] += 0.6 * rng.standard_normal(3)
        surface = (0.5, 1.0, smoothing, tuple(2.0 * rng.standard_normal(3) * (1.0, 1.0, axis[2] == 0.0)))
        ends = ends_at(motion, 0.0)
        p, q = ends[0][0], ends[1][0]
        if not turns_around(p, q, axis, surface):
            continue
        here = arc_of(*ends, axis, surface)
        whole = arc_length(here)
        if whole[0] < 0.05:
            continue
        turned += 1
        _, _, first, last = wrapped_arc(p, q, axis, surface)
        for part, point in ((0.0, first), (1.0, last)):
            assert arc_point(here, part)[0][0] == pytest.approx(point, abs=1e-13)
        lines = np.linalg.norm(np.subtract(p, first)) + np.linalg.norm(np.subtract(q, last))
        assert lines + whole[0] == pytest.approx(wrapped_length(p, q, axis, surface)[0], abs=1e-13)
        step = 1e-5
        back, ahead = (arc_of(*ends_at(motion, s), axis, surface) for s in (-step, step))
        for k in (0, 1):
            change = (arc_length(ahead)[k] - arc_length(back)[k]) / (2 * step)
            assert change == pytest.approx(whole[k + 1], abs=1e-5 * (1.0 + abs(whole[k + 1])))
            for part in (0.0, 0.3, 1.0):
                for what in (0, 1):
                    value = arc_point(here, part)[what][k + 1]
                    sides = [np.array(arc_point(arc, part)[what][k]) for arc in (ahead, back)]
                    scale = 1.0 + np.abs(value).max()
                    assert np.abs((sides[0] - sides[1]) / (2 * step) - value).max() < 1e-4 * scale
        x, t, bend = arc_point(here, 0.3)
        sides = [arc_point(here, 0.3 + s * 1e-4) for s in (1, -1)]
        assert np.subtract(sides[0][0][0], sides[1][0][0]) / (2e-4 * whole[0]) == pytest.approx(t[0], abs=1e-6)
        curved = np.subtract(sides[0][1][0], sides[1][1][0]) / (2e-4 * whole[0])
        assert curved == pytest.approx(bend, rel=1e-5, abs=1e-6)
        rates = np.array([arc_point(arc_along(p, q, axis, surface, k), 0.3)[0][1] for k in range(6)])
        assert np.concatenate([ends[0][1], ends[1][1]]) @ rates == pytest.approx(x[1], abs=1e-12)
    assert turned > 10


# ------------------------------------------------------------------------------------------------ the path


class Course:
    """The path of a force at one pose: its points, the ends of arcs among them, and what is between them."""

    def __init__(self, force, mechanism, x, quat):
        points = iter(points_at(Points(force), mechanism, x, quat))
        self.points, self.arcs, around = [next(points)], {}, None
        for entry in force.path[1:]:
            if isinstance(entry, vi.Around):
                around = entry
                continue
            here, there = self.points[-1], next(points)
            if around is not None:
                self._turn(around, force.smoothing, mechanism, (x, quat), here, there)
            self.points.append(there)
            around = None
        self.points = np.array(self.points)
        size = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        for k, (*_, length) in self.arcs.items():
            size[k] = length
        self.length = size.sum()
        self.s = np.concatenate([[0.0], np.cumsum(size)]) / self.length

    def _turn(self, around, smoothing, mechanism, pose, here, there):
        """Both ends of an arc; it keeps the centre, the first radius and height, the turn, and the length."""
        surface, k = around.surface, mechanism.body_index[around.body]
        body = mechanism.bodies[k]
        R = rotation_matrix(pose[1][k]) @ rotation_matrix(body.quat_wxyz).T
        centre, axis = pose[0][k] + R @ (surface.centre - body.position), R @ surface.axis
        seen = [tuple(map(float, each)) for each in (here - centre, there - centre, axis, R @ surface.sideways)]
        course, n, first, last = wrapped_arc(*seen[:3], (surface.radius, surface.mode, smoothing, seen[3]))
        assert course == 1
        low, high = (axis @ np.array(each) for each in (first, last))
        first, last = np.array(first) - low * axis, np.array(last) - high * axis
        angle = np.arctan2(np.dot(n, np.cross(first, last)), first @ last) % (2 * np.pi)
        length = np.hypot(angle * np.linalg.norm(first), high - low)
        self.arcs[len(self.points) - 1 + 1] = (centre, first, np.array(n), angle, axis, low, high, length)
        self.points += [centre + first + low * axis, centre + last + high * axis]

    def at(self, k, alpha):
        """The particle at a fraction of the length, as if segment k went on beyond its ends."""
        part = (alpha - self.s[k]) / (self.s[k + 1] - self.s[k])
        if k not in self.arcs:
            return self.points[k] + part * (self.points[k + 1] - self.points[k])
        centre, first, n, angle, axis, low, high, _ = self.arcs[k]
        turned = np.cos(part * angle) * first + np.sin(part * angle) * np.cross(n, first)
        return centre + turned + (low + part * (high - low)) * axis

    def place(self, alpha):
        k = min(max(int(np.searchsorted(self.s, alpha, side="right")) - 1, 0), len(self.s) - 2)
        return self.at(k, alpha)


class Points:
    """The points of a path alone."""

    def __init__(self, force):
        self.path = [entry for entry in force.path if isinstance(entry, vi.At)]


def lagrangian(force, before, after, h, gravity):
    """Ld by Gauss's rule of many nodes, with each particle on one segment at both poses."""
    middle, (start, end) = 0.5 * (before.s + after.s), force.belly
    nodes, weights = np.polynomial.legendre.leggauss(20)
    total, density = 0.0, force.mass / (end - start)
    for k in range(len(middle) - 1):
        low, high = max(middle[k], start), min(middle[k + 1], end)
        for node, weight in zip(nodes, weights, strict=True) if high > low else ():
            alpha = 0.5 * (low + high + node * (high - low))
            e = after.at(k, alpha) - before.at(k, alpha)
            total += 0.25 * weight * (high - low) * density * (e @ e) / h
    for course in (before, after):
        for k in range(len(middle) - 1):
            low, high = max(course.s[k], start), min(course.s[k + 1], end)
            for node, weight in zip(nodes, weights, strict=True) if high > low else ():
                place = course.at(k, 0.5 * (low + high + node * (high - low)))
                total += 0.25 * h * weight * (high - low) * density * (gravity @ place)
    return total


def poses_of(mechanism, rng, shifts=(0.0, 0.1)):
    poses = []
    for shift in shifts:
        turns = {f"j{k}": 0.15 * np.array([0.3, -0.5, 0.7]) * (k + 1) + shift * rng.uniform(0.5, 1.0, 3)
                 for k in range(3)}  # fmt: skip
        state = mechanism.state(coordinates=turns)
        poses.append((state.position, state.quat_wxyz))
    return poses


# ------------------------------------------------------------------------------------------------ maximal coordinates


@pytest.mark.slow
@pytest.mark.parametrize(("surface", "belly"), [(CYLINDER, (0.0, 1.0)), (SPHERE, (0.0, 1.0)), (SPHERE, (0.3, 0.55))])
def test_momenta_are_the_derivatives_of_the_discrete_lagrangian(surface, belly, rng):
    mechanism, h = arm(surface, belly=belly), 0.05
    force = mechanism.forces[0]

    def value(poses):
        return lagrangian(force, *(Course(force, mechanism, *pose) for pose in poses), h, mechanism.gravity)

    check_momenta(mechanism, poses_of(mechanism, rng), value, h, 5e-8)


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", [0.0, 0.02])
@pytest.mark.parametrize("q", [(0.3, 0.3), (-0.3, -2.0)])
def test_the_line_of_two_poses_is_an_arc_or_none(smoothing, q):
    """Of these two poses the path is on the surface at the first alone."""
    mechanism = two_links(heavy(elbow_path(), smoothing=smoothing))
    state = mechanism.state(coordinates=dict(zip(("shoulder", "elbow"), q, strict=True)))
    plan, order = mechanism.compiled.plan, mechanism.compiled.order
    ws = workspace(plan)
    for k in range(2):
        ws.position[k, :-1], ws.rotation[k, :-1] = state.position[order], rotation_matrix(state.quat_wxyz[order])
    add_path_momenta(plan, ws, 0, 1, 0.01)
    assert ws.massive_paths.turned[1] == (q == (0.3, 0.3))
    length = vi.redmax.simulate(mechanism, 1e-6, 1e-6, state=state).length["m"][0]
    assert ws.massive_paths.length[0, 0] == pytest.approx(length, rel=1e-14)


# ------------------------------------------------------------------------------------------------ reduced coordinates


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize(
    ("surface", "belly", "smoothing"),
    [
        (CYLINDER, (0.0, 1.0), 0.01),
        *(
            pytest.param(surface, belly, smoothing, marks=pytest.mark.slow)
            for surface in (CYLINDER, SPHERE)
            for belly in ((0.0, 1.0), (0.45, 0.6))
            for smoothing in (0.0, 0.01)
        ),
    ],
)
def test_bias_is_that_of_lagrange(surface, belly, smoothing, rng):
    equations = vi.EquationsOfMotion(arm(surface, belly=belly, smoothing=smoothing))
    q, rates = rng.uniform(-0.2, 0.2, (2, equations.size))
    exact = of_lagrange(equations, q, rates)
    assert np.abs(equations.bias(q, rates) - exact).max() < 1e-9 * np.abs(exact).max()
    potential = np.array([slope(lambda p: np.array(equations.energy(p, 0 * p)), q, unit) for unit in np.eye(q.size)])
    assert equations.force(0.0, q, 0 * q) == pytest.approx(-potential, abs=1e-8)
    kinetic = equations.energy(q, rates) - equations.energy(q, 0 * q)
    assert 0.5 * rates @ equations.mass_matrix(q) @ rates == pytest.approx(kinetic, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("surface", [CYLINDER, SPHERE])
def test_energy_is_the_integral_over_the_belly(surface, rng):
    """The velocity of the material by differences of its places."""
    belly, count = (0.1, 0.7), 200
    mechanism, bare = arm(surface, belly=belly), arm(surface, mass=0.0)
    force = mechanism.forces[0]
    equations, without = vi.EquationsOfMotion(mechanism), vi.EquationsOfMotion(bare)
    q, rates = rng.uniform(-0.2, 0.2, (2, equations.size))
    alpha = belly[0] + (belly[1] - belly[0]) * (np.arange(count) + 0.5) / count

    def places(q):
        state = equations.state(q, 0 * q)
        course = Course(force, mechanism, state.position, state.quat_wxyz)
        return np.array([course.place(each) for each in alpha])

    velocity = slope(places, q, rates)
    kinetic, potential = 0.5 * np.mean(np.sum(velocity**2, axis=1)), -np.mean(places(q) @ mechanism.gravity)
    own = equations.energy(q, rates) - without.energy(q, rates)
    assert own == pytest.approx(force.mass * (kinetic + potential), abs=2e-5)


def test_no_mass_is_no_element():
    assert len(heavy(elbow_path(), mass=0.0).elements(two_links())) == 1
    assert len(heavy(elbow_path()).elements(two_links())) == 2


# ------------------------------------------------------------------------------------------------ runs


def swinging(smoothing):
    mechanism = two_links(heavy(elbow_path(), mass=1.0, smoothing=smoothing))
    return vi.Problem(mechanism, 6.0, state=mechanism.state(coordinates={"shoulder": 0.3, "elbow": 0.8}))


def touches_of(run):
    """Number of times at which the path meets or leaves the surface."""
    last = run.path("lower", (0.25, 0.05, -1.4)).position
    return np.count_nonzero(np.diff(run.length["m"] - np.linalg.norm(last - [0.3, 0, 0.2], axis=1) > 1e-3))


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", [0.01, 0.005])
def test_energy_over_touches_of_a_smooth_surface(smoothing):
    run = vi.simulate(swinging(smoothing), vi.Reduced("dop853", rtol=1e-8))
    assert touches_of(run) >= 6
    assert np.ptp(run.energy) < 1e-5


@pytest.mark.slow
def test_a_sharp_surface_is_an_impact_that_costs_energy():
    run = vi.simulate(swinging(0.0), vi.Reduced("dop853", rtol=1e-8))
    assert touches_of(run) >= 6
    assert np.ptp(run.energy) > 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("surface", [CYLINDER, SPHERE])
def test_both_formulations_agree_at_orders_two_and_four(surface):
    mechanism = arm(surface, belly=(0.1, 0.9), smoothing=0.01)
    state = mechanism.state(rates={"j1": (0.5, -1.0, 0.4), "j2": (0.5, 0.6, -0.5)})
    exact = vi.simulate(vi.Problem(mechanism, 0.3, state=state), vi.Reduced("dop853", rtol=1e-11)).position[-1]
    for order, steps, slack, most in ((2, (60, 120), 0.05, 1e-4), (4, (30, 60), 0.3, 1e-6)):
        runs = [vi.simulate(mechanism, 0.3, 0.3 / count, order=order, state=state, tol=1e-12) for count in steps]
        errors = [np.abs(run.position[-1] - exact).max() for run in runs]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=slack)
        assert errors[1] < most


@pytest.mark.slow
def test_momentum_of_free_bodies():
    bodies = [vi.Body.box(f"b{k}", (0.1, 0.1, 0.4), mass=1.0, position=(0, 0, -0.4 * k)) for k in range(3)]
    joints = [vi.Free("base", "world", "b0")] + [
        vi.Spherical(f"j{k}", f"b{k - 1}", f"b{k}", point=(0, 0, 0.2 - 0.4 * k)) for k in (1, 2)
    ]
    force = heavy(bent_path(SPHERE))
    mechanism = vi.Mechanism("free", bodies, joints, gravity=(0, 0, 0), forces=[force])
    state = mechanism.state(rates={"base": (0.1, 0.2, 0.3, 1.0, 2.0, 3.0), "j1": (1.0, -1.0, 0.5)})
    run = vi.simulate(mechanism, 0.2, 0.004, order=4, state=state, tol=1e-13)
    for momentum in (run.linear_momentum, run.angular_momentum):
        assert np.abs(momentum - momentum[0]).max() < 1e-6
    assert np.abs(run.energy - run.energy[0]).max() < 1e-5


def test_what_is_refused():
    pulley = [*elbow_path(), vi.Pulley(2.0), vi.At("upper", (0, 0, -0.5)), vi.At("lower", (0.1, 0, -1.5))]
    ring = vi.SphereSurface((0, 0, -1), 0.2, side=(0, 0, -1))
    through = [vi.At("world", (0.3, 0, 0.2)), vi.Around("upper", ring), vi.At("lower", (0.25, 0.05, -1.4))]
    for path, more, what in (
        (pulley, {}, "'m' has mass, which no pulley divides"),
        (through, {"smoothing": 0.0}, "'m' has mass.*the side on 'upper' lies within"),
        (elbow_path(), {"lumped": True}, "leave out lumped"),
        ([*elbow_path(), elbow_path()[-1]], {}, "points 1 and 2 are equal"),
    ):
        with pytest.raises(vi.MechanismError, match=what):
            heavy(path, **more)
    with pytest.raises(vi.ArgumentError, match=r"'m' has mass that meets a surface in impacts.*give it smoothing="):
        vi.simulate(two_links(heavy(elbow_path(), smoothing=0.0)), 0.1, 0.01)
