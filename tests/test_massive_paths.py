"""Mass along paths in maximal coordinates: momenta of the discrete Lagrangian, orders, energy, what is refused."""

import dataclasses

import numpy as np
import pytest
from test_path_mass import ONE, TWO, bones, end_of, muscle, tied

import varint as vi
from varint.model.rotation_vectors import rotation_matrix
from varint.step.paths.masses import add_path_momenta, finish_paths
from varint.step.workspace import workspace

GAUSS = np.polynomial.legendre.leggauss(3)


def arm(**given):
    """Three bodies in space, and a path from the world over all of them."""
    bodies = [vi.Body.box(f"b{k}", (0.1, 0.1, 0.4), mass=1.0, position=(0, 0, -0.4 * k)) for k in range(3)]
    joints = [
        vi.Spherical(f"j{k}", "world" if k == 0 else f"b{k - 1}", f"b{k}", point=(0, 0, 0.2 - 0.4 * k))
        for k in range(3)
    ]
    path = [vi.At("world", (0.3, 0, 0.3)), vi.At("b0", (0.1, 0.05, 0)), vi.At("b1", (0.1, 0, -0.5)),
            vi.At("b2", (0.05, 0.1, -0.9))]  # fmt: skip
    return vi.Mechanism("arm", bodies, joints, forces=[vi.PathMass("m", path=path, **({"mass": 0.7} | given))])


def points_at(force, mechanism, x, quat):
    """(n, 3) points of the path at poses (nb, 3), (nb, 4) in the order of the description."""
    places = []
    for at in force.path:
        if at.body == "world":
            places.append(at.point)
            continue
        k = mechanism.body_index[at.body]
        body = mechanism.bodies[k]
        places.append(x[k] + rotation_matrix(quat[k]) @ rotation_matrix(body.quat_wxyz).T @ (at.point - body.position))
    return np.array(places)


def fractions(points):
    size = np.linalg.norm(np.diff(points, axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(size)]) / size.sum()


def on_segment(points, s, k, alpha):
    return points[k] + (alpha - s[k]) / (s[k + 1] - s[k]) * (points[k + 1] - points[k])


def lagrangian(force, before, after, h, gravity):
    """Ld by Gauss's rule with points (n, 3) at both ends of a step."""
    s = fractions(before), fractions(after)
    middle, (start, end) = 0.5 * (s[0] + s[1]), force.belly
    total = 0.0
    for k in range(len(before) - 1):
        low, high = max(middle[k], start), min(middle[k + 1], end)
        for node, weight in zip(*GAUSS, strict=True) if high > low else ():
            alpha = 0.5 * (low + high + node * (high - low))
            e = on_segment(after, s[1], k, alpha) - on_segment(before, s[0], k, alpha)
            total += 0.5 * weight * (high - low) * e @ e
    total *= force.mass / (end - start) / (2.0 * h)
    for points, own in ((before, s[0]), (after, s[1])):
        for k in range(len(before) - 1):
            low, high = max(own[k], start), min(own[k + 1], end)
            if high > low:
                centre = on_segment(points, own, k, 0.5 * (low + high))
                total += 0.5 * h * force.mass / (end - start) * (high - low) * gravity @ centre
    return total


def quaternion_product(p, q):
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


def moved(pose, body, along, size):
    """The pose with a body moved in the world, or turned about an axis of its own."""
    x, quat = pose[0].copy(), pose[1].copy()
    if along < 3:
        x[body, along] += size
    else:
        turn = np.array([np.cos(0.5 * size), *(np.sin(0.5 * size) * np.eye(3)[along - 3])])
        quat[body] = quaternion_product(quat[body], turn)
    return x, quat


def check_momenta(mechanism, poses, value, h, tolerance):
    """Check the momenta of a step of h between two poses against differences of ``value``, of both poses, J s."""
    plan = mechanism.compiled.plan
    ws, order = workspace(plan), mechanism.compiled.order
    for k, (x, quat) in enumerate(poses):
        ws.position[k, :-1], ws.quat[k, :-1] = x[order], quat[order]
        ws.rotation[k, :-1] = rotation_matrix(quat[order])
    add_path_momenta(plan, ws, 0, 1, h)
    first = -ws.residual_body
    finish_paths(plan, ws, 0, 1, h)
    found = np.zeros((2, 3, 6))
    found[:, order] = first, ws.momentum
    step = 1e-5
    for end in range(2):
        for body in range(3):
            for along in range(6):
                sides = []
                for size in (step, -step):
                    changed = list(poses)
                    changed[end] = moved(poses[end], body, along, size)
                    sides.append(value(changed))
                slope = (sides[0] - sides[1]) / (2.0 * step)
                assert found[end, body, along] == pytest.approx(slope, abs=tolerance)
    assert np.abs(found).max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("belly", [(0.0, 1.0), (0.15, 0.6)])
def test_momenta_are_the_derivatives_of_the_discrete_lagrangian(belly, rng):
    mechanism, h = arm(belly=belly), 0.05
    force, poses = mechanism.forces[0], []
    for shift in (0.0, 0.1):
        turns = {
            f"j{k}": 0.4 * np.array([0.3, -0.5, 0.7]) * (k + 1) + shift * rng.uniform(0.5, 1.0, 3) for k in range(3)
        }
        state = mechanism.state(coordinates=turns)
        poses.append((state.position, state.quat_wxyz))

    def value(poses):
        return lagrangian(force, *(points_at(force, mechanism, *pose) for pose in poses), h, mechanism.gravity)

    check_momenta(mechanism, poses, value, h, 2e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "given"), [(ONE, {}), (TWO, {}), (TWO, {"belly": (0.2, 0.7)})])
def test_both_formulations_agree_at_orders_two_and_four(path, given):
    mechanism = bones(muscle(path, **given))
    exact = end_of(mechanism, 0.5, rtol=1e-12)
    for order, steps, slack, most in ((2, (100, 200), 0.02, 2e-4), (4, (50, 100), 0.15, 1e-6)):
        errors = []
        for count in steps:
            run = vi.simulate(mechanism, 0.5, 0.5 / count, order=order, tol=1e-12)
            errors.append(np.abs([run.coordinates[f"joint {k + 1}"][-1] - exact[k] for k in (0, 1)]).max())
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=slack)
        assert errors[1] < most


@pytest.mark.slow
def test_order_six():
    mechanism = bones(muscle(TWO))
    exact = end_of(mechanism, 0.5, rtol=1e-12)
    run = vi.simulate(mechanism, 0.5, 0.01, order=6)
    assert [run.coordinates[f"joint {k + 1}"][-1] for k in (0, 1)] == pytest.approx(exact, abs=1e-8)


@pytest.mark.slow
def test_particles_agree_with_those_in_reduced_coordinates():
    mechanism = bones(muscle(TWO, lumped=7))
    exact = end_of(mechanism, 0.3, rtol=1e-10)
    run = vi.simulate(mechanism, 0.3, 0.001)
    assert [run.coordinates[f"joint {k + 1}"][-1] for k in (0, 1)] == pytest.approx(exact, abs=1e-4)


@pytest.mark.slow
def test_two_points_are_three_masses():
    """The discrete Lagrangian of three particles on couplings is the same, by Simpson's rule."""
    runs = [vi.simulate(mechanism, 0.5, 0.005, tol=1e-12) for mechanism in (bones(muscle(ONE)), tied())]
    assert runs[0].position == pytest.approx(runs[1].position[:, :2], abs=1e-10)
    assert runs[0].velocity == pytest.approx(runs[1].velocity[:, :2], abs=1e-9)
    assert runs[0].energy == pytest.approx(runs[1].energy, abs=1e-9)


@pytest.mark.slow
def test_newton_takes_few_iterations():
    run = vi.simulate(bones(muscle(TWO, 50.0)), 0.5, 0.005)
    assert run.record.counts.newton_iterations <= 3 * 100 + 10  # the first steps know no history
    assert not run.unresolved.size
    assert run.drift.max() < 1e-12


@pytest.mark.slow
def test_the_end_changes_with_a_small_mass_in_proportion():
    bare, *others = (
        vi.simulate(bones(*given), 0.5, 0.005, tol=1e-13).position[-1]
        for given in ([], [muscle(TWO, 1e-3)], [muscle(TWO, 1e-4)])
    )
    first, second = (np.abs(end - bare).max() for end in others)
    assert first / second == pytest.approx(10.0, rel=0.01)


def test_momentum_of_free_bodies():
    bodies = [
        vi.Body.box(name, (0.3, 0.2, 0.1), 1.0 + k, position=(0.5 * k, 0.1 * k, 0)) for k, name in enumerate("ab")
    ]
    joints = [vi.Free("base", "world", "a"), vi.Spherical("ball", "a", "b", point=(0.25, 0, 0))]
    path = [vi.At("a", (-0.1, 0.1, 0.05)), vi.At("a", (0.1, 0.15, 0.1)), vi.At("b", (0.6, 0.2, 0.1))]
    mechanism = vi.Mechanism("free", bodies, joints, gravity=(0, 0, 0), forces=[vi.PathMass("m", path=path, mass=0.7)])
    state = mechanism.state(rates={"base": (0.1, 0.2, 0.3, 1.0, 2.0, 3.0), "ball": (1.0, -3.0, 2.0)})
    run = vi.simulate(mechanism, 0.5, 0.005, order=4, state=state, tol=1e-13)
    for momentum in (run.linear_momentum, run.angular_momentum):
        assert np.abs(momentum - momentum[0]).max() < 1e-6
    assert np.abs(run.energy - run.energy[0]).max() < 1e-5


@pytest.mark.slow
def test_a_loop_with_mass_along_a_path():
    plain = vi.mechanisms.four_bar()
    first, last = (plain.bodies[k] for k in (0, -1))
    path = [vi.At(first.name, first.position), vi.At(last.name, last.position)]
    mechanism = dataclasses.replace(plain, forces=[*plain.forces, vi.PathMass("m", path=path, mass=2.0)])
    run, exact = vi.simulate(mechanism, 0.5, 0.002, order=4), vi.redmax.simulate(mechanism, 0.5, rtol=1e-10)
    assert run.position[-1] == pytest.approx(exact.position[-1], abs=1e-6)
    assert run.drift.max() < 1e-11


@pytest.mark.slow
def test_a_muscle_with_mass_is_its_force_and_its_mass():
    path = [vi.At(*point) for point in TWO]
    given = {"path": path, "max_force": 20.0, "optimal_length": 0.8, "slack_length": 0.5, "excitation": 0.6}
    apart = [vi.Musculotendon("m", **given), vi.PathMass("mass", path=path, mass=0.7, belly=(0.1, 0.8))]
    together = [vi.Musculotendon("m", **given, mass=0.7, belly=(0.1, 0.8))]
    runs = [vi.simulate(bones(*forces), 0.3, 0.003) for forces in (apart, together)]
    assert np.array_equal(runs[0].position, runs[1].position)
    reduced = vi.redmax.simulate(bones(*together), 0.3, rtol=1e-9)
    assert runs[1].position[-1] == pytest.approx(reduced.position[-1], abs=2e-4)
    assert np.abs(runs[1].energy_balance).max() < 2e-3
    assert not runs[1].unresolved.size


@pytest.mark.slow
def test_a_run_goes_on_from_its_file(tmp_path):
    mechanism = bones(muscle(TWO))
    whole = vi.simulate(mechanism, 0.2, 0.005)
    vi.simulate(mechanism, 0.1, 0.005, output=tmp_path / "run.h5")
    rest = vi.simulate(mechanism, 0.2, 0.005, output=tmp_path / "run.h5", resume=True)
    assert np.array_equal(rest.position, whole.position)
    assert np.array_equal(rest.velocity, whole.velocity)


@pytest.mark.slow
def test_energy_has_no_trend():
    run = vi.simulate(bones(muscle(TWO)), 200.0, 0.01, order=4, every=10)
    halves = run.energy[: len(run) // 2].mean(), run.energy[len(run) // 2 :].mean()
    assert halves[0] == pytest.approx(halves[1], abs=2e-4)
    assert np.abs(run.energy - run.energy[0]).max() < 5e-3
    assert not run.unresolved.size


def test_what_is_refused():
    heavy = bones(muscle(TWO))
    with pytest.raises(vi.ArgumentError, match="'muscle' has mass that moves with its path: take order=2"):
        vi.simulate(heavy, 0.1, 0.01, order=1)
    stopped = bones(muscle(TWO), vi.JointStop("stop", joint="joint 1", lower=-3.0, upper=3.0))
    with pytest.raises(vi.ArgumentError, match="'stop' acts in impacts"):
        vi.simulate(stopped, 0.1, 0.01)
    with pytest.raises(vi.ArgumentError, match="'muscle' has mass that moves with its path"):
        vi.simulate(heavy, 0.1, 0.01, adaptive=True)
    with pytest.raises(vi.ArgumentError, match="'muscle' has mass that moves with its path"):
        _ = vi.simulate(heavy, 0.02, 0.01).acceleration
