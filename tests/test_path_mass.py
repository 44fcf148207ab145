"""Mass along paths: exact integrals with their momentum flux, runs, energy, momentum, input.

The figures are of an independent derivation, and of an independent integration of the plane case.
"""

import dataclasses

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import varint as vi

START = (0.0, -0.5)
ONE = [("bone 1", (0.25, 0, 0.1)), ("bone 2", (1.75, 0, 0.1))]
TWO = [("bone 1", (0.2, 0, 0.1)), ("bone 1", (0.95, 0, 0.15)), ("bone 2", (1.3, 0, 0.12)), ("bone 2", (1.8, 0, 0.05))]
SHORT = [("bone 1", (0.1, 0, 0.04)), ("bone 2", (0.7, 0, 0.04))]
MOVED = np.array([0.3, -0.8]), np.array([1.2, -0.7])


def bone(number, length=1.0):
    """A thin rod of 1 kg along x; its inertia about x does not matter in the plane."""
    along = length**2 / 12
    return vi.Body(
        f"bone {number}", mass=1.0, inertia=np.diag([1e-3, along, along]), position=((number - 0.5) * length, 0, 0)
    )


def bones(*forces, length=1.0, gravity=9.81, start=START, parts=((), ())):
    """Two rods in the plane of x and z; angles count from x to z, each against the rod before it."""
    hinge = {"axis": (0, -1, 0)}
    joints = [
        vi.Revolute("joint 1", "world", "bone 1", point=(0, 0, 0), **hinge),
        vi.Revolute("joint 2", "bone 1", "bone 2", point=(length, 0, 0), **hinge),
    ]
    angles = dict(zip(("joint 1", "joint 2"), start, strict=True))
    bodies = [bone(1, length), bone(2, length), *parts[0]]
    given = {"gravity": (0, 0, -gravity), "forces": forces, "start": {"coordinates": angles}}
    return vi.Mechanism("bones", bodies, [*joints, *parts[1]], **given)


def muscle(path, mass=1.0, **given):
    return vi.PathMass("muscle", path=[vi.At(*point) for point in path], mass=mass, **given)


def turned(q, body, x, z):
    """Place (2,) of a point of a bone of 1 m, in the reference at (x, z), when the joints are at q."""
    angle, elbow = q[0], np.zeros(2)
    if body == "bone 2":
        elbow, angle, x = np.array([np.cos(q[0]), np.sin(q[0])]), q[0] + q[1], x - 1.0
    c, s = np.cos(angle), np.sin(angle)
    return elbow + np.array([c * x - s * z, s * x + c * z])


def places(q, path):
    return np.array([turned(q, body, p[0], p[2]) for body, p in path])


def fractions(points):
    size = np.linalg.norm(np.diff(points, axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(size)]) / size.sum()


def material(q, path, alpha):
    """Places (n, 2) of the particles at the fractions ``alpha`` (n,) of the length."""
    points = places(q, path)
    s = fractions(points)
    return np.stack([np.interp(alpha, s, points[:, k]) for k in range(2)], axis=1)


def slope(function, q, along, h=1e-3):
    """Derivative along a direction, by differences of sixth order."""
    weights = {1: 45, 2: -9, 3: 1}
    total = sum(w * (function(q + n * h * along) - function(q - n * h * along)) for n, w in weights.items())
    return total / (60 * h)


def flux(q, rates, path, mass=1.0):
    """m l sum_j (ds_j/dt)^2 X_j^T (t_j-1 - t_j) over the inner points."""
    points = places(q, path)
    sides = np.diff(points, axis=0)
    length = np.linalg.norm(sides, axis=1)
    t = sides / length[:, None]
    speed = slope(lambda p: fractions(places(p, path)), q, rates)
    X = np.array([slope(lambda p: places(p, path), q, unit) for unit in np.eye(2)])  # (2, n, 2)
    inner = range(1, len(path) - 1)
    return mass * length.sum() * sum(speed[j] ** 2 * X[:, j] @ (t[j - 1] - t[j]) for j in inner)


def of_lagrange(equations, q, rates):
    """(nq,) dM/dt dq - dT/dq by differences."""
    units = np.eye(q.size)
    by_q = np.array([slope(equations.mass_matrix, q, unit) for unit in units])
    return np.einsum("kij,k,j->i", by_q, rates, rates) - 0.5 * np.einsum("kij,i,j->k", by_q, rates, rates)


# ------------------------------------------------------------------------------------------------ equations


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "given"),
    [(ONE, {}), (TWO, {}), (TWO, {"belly": (0.2, 0.9)}), (TWO, {"belly": (0.5, 0.6)}), (ONE, {"lumped": 20})],
)
def test_bias_is_that_of_lagrange(path, given):
    equations = vi.EquationsOfMotion(bones(muscle(path, **given)))
    exact = of_lagrange(equations, *MOVED)
    assert np.abs(equations.bias(*MOVED) - exact).max() < 1e-9 * np.abs(exact).max()


@pytest.mark.slow
def test_without_the_flux_it_is_another():
    equations = vi.EquationsOfMotion(bones(muscle(TWO)))
    exact = of_lagrange(equations, *MOVED)
    assert np.abs(equations.bias(*MOVED) + flux(*MOVED, TWO) - exact).max() > 1e-4 * np.abs(exact).max()
    particles = vi.EquationsOfMotion(bones(muscle(TWO, lumped=20_001))).bias(*MOVED)
    assert np.abs(equations.bias(*MOVED) + flux(*MOVED, TWO) - particles).max() < 3e-5


@pytest.mark.slow
def test_a_path_over_three_bodies_in_space(rng):
    """Also a point of the world, and a belly."""
    bodies = [vi.Body.box(f"b{k}", (0.1, 0.1, 0.4), mass=1.0, position=(0, 0, -0.4 * k)) for k in range(3)]
    joints = [vi.Spherical(f"j{k}", "world" if k == 0 else f"b{k - 1}", f"b{k}", point=(0, 0, 0.2 - 0.4 * k))
              for k in range(3)]  # fmt: skip
    path = [vi.At("world", (0.3, 0, 0.3)), vi.At("b0", (0.1, 0.05, 0)), vi.At("b1", (0.1, 0, -0.5)),
            vi.At("b2", (0.05, 0.1, -0.9))]  # fmt: skip
    mechanism = vi.Mechanism("arm", bodies, joints, forces=[vi.PathMass("m", path=path, mass=0.7, belly=(0.1, 0.8))])
    equations = vi.EquationsOfMotion(mechanism)
    q, rates = rng.uniform(-0.5, 0.5, (2, equations.size))
    exact = of_lagrange(equations, q, rates)
    assert np.abs(equations.bias(q, rates) - exact).max() < 1e-9 * np.abs(exact).max()
    potential = np.array([slope(lambda p: np.array(equations.energy(p, 0 * p)), q, unit) for unit in np.eye(q.size)])
    assert equations.force(0.0, q, 0 * q) == pytest.approx(-potential, abs=1e-9)
    assert 0.5 * rates @ equations.mass_matrix(q) @ rates == pytest.approx(
        equations.energy(q, rates) - equations.energy(q, 0 * q), rel=1e-12
    )
    ddq = equations.acceleration(0.0, q, rates)
    assert equations.mass_matrix(q) @ ddq == pytest.approx(equations.force(0.0, q, rates), abs=1e-10)
    assert equations.solve_mass(q, equations.force(0.0, q, rates)) == pytest.approx(ddq, rel=1e-9)


def test_three_masses_are_exact_on_two_points():
    """Simpson's rule: m/6 at both ends, 2 m/3 at the middle."""
    with_, without = (vi.EquationsOfMotion(bones(*given)) for given in ([muscle(ONE)], []))
    q = MOVED[0]
    ends = np.array([slope(lambda p: places(p, ONE), q, unit, 1e-2) for unit in np.eye(2)])
    middle = ends.mean(axis=1)
    own = sum(ends[:, k] @ ends[:, k].T for k in range(2)) / 6 + 2 / 3 * middle @ middle.T
    assert np.abs(with_.mass_matrix(q) - without.mass_matrix(q) - own).max() < 1e-13
    state = bones().state(coordinates={"joint 1": 0.3, "joint 2": -0.8})
    joined = tied().state(coordinates={"joint 1": 0.3, "joint 2": -0.8})
    alone = vi.EquationsOfMotion(bones(muscle(ONE)))
    assert vi.energy(tied(), joined).total == pytest.approx(alone.energy(*alone.coordinates(state)), abs=1e-12)


def test_mass_matrix_of_the_start():
    given = {"length": 0.5, "start": (0.9, -1.4)}
    M = [[0.459158452, 0.104579226], [0.104579226, 0.083333333]]
    assert vi.EquationsOfMotion(bones(**given)).mass_matrix(given["start"]) == pytest.approx(np.array(M), abs=1e-9)
    M = [[0.601272089, 0.130636044], [0.130636044, 0.0972]]
    found = vi.EquationsOfMotion(bones(muscle(SHORT), **given)).mass_matrix(given["start"])
    assert found == pytest.approx(np.array(M), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("belly", [(0.0, 1.0), (0.2, 0.7), (0.4, 0.45)])
def test_energy_is_the_integral_over_the_belly(belly):
    with_, without = (vi.EquationsOfMotion(bones(*given)) for given in ([muscle(TWO, 0.6, belly=belly)], []))
    count = 200_000
    alpha = belly[0] + (belly[1] - belly[0]) * (np.arange(count) + 0.5) / count
    q, rates = MOVED
    velocity = slope(lambda p: material(p, TWO, alpha), q, rates, 1e-2)
    kinetic, potential = 0.3 * np.mean(np.sum(velocity**2, axis=1)), 0.6 * 9.81 * material(q, TWO, alpha)[:, 1].mean()
    assert with_.energy(q, rates) - without.energy(q, rates) == pytest.approx(kinetic + potential, abs=1e-7)


@pytest.mark.slow
def test_ends_included_overestimate_the_inertia():
    """A muscle held at its other end: m r^2 / 3 exactly, times (2 N - 1) / (2 (N - 1)) of N particles."""
    path = [("world", (0.0, 0.0, 0.0)), ("bone 1", (0.3, 0.0, 0.0))]
    bare, exact, lumped = (
        vi.EquationsOfMotion(bones(*given)).mass_matrix((0.0, 0.0))[0, 0]
        for given in ([], [muscle(path)], [muscle(path, lumped=20)])
    )
    assert exact - bare == pytest.approx(0.03, rel=1e-12)
    assert lumped - bare == pytest.approx(0.03 * 39 / 38, rel=1e-12)


def test_lumped_as_a_truth_value_is_twenty_particles():
    path = [vi.At(*point) for point in TWO]
    given = {"max_force": 0.0, "optimal_length": 0.5, "slack_length": 0.5, "mass": 1.0, "activation_times": None}
    M = [
        vi.EquationsOfMotion(bones(force)).mass_matrix(MOVED[0])
        for force in (
            muscle(TWO, lumped=20),
            muscle(TWO, lumped=True),
            vi.Musculotendon("m", path=path, lumped=True, **given),
            vi.Musculotendon("m", path=path, lumped=False, **given),
            muscle(TWO),
        )
    ]
    assert np.array_equal(M[0], M[1])
    assert np.array_equal(M[1], M[2])
    assert np.array_equal(M[3], M[4])
    assert np.abs(M[2] - M[3]).max() > 1e-3


# ------------------------------------------------------------------------------------------------ runs


@pytest.mark.slow
@pytest.mark.parametrize(("path", "most"), [(ONE, 1e-7), (TWO, 1e-7)])
def test_energy_stays(path, most):
    run = vi.redmax.simulate(bones(muscle(path)), 5.0, rtol=1e-10)
    assert np.abs(run.energy - run.energy[0]).max() < most
    assert run.kinetic.max() > 25.0


@pytest.mark.slow
def test_particles_jump_where_points_pass_them():
    run = vi.redmax.simulate(bones(muscle(TWO, lumped=20)), 5.0, rtol=1e-9)
    assert 1e-4 < np.abs(run.energy - run.energy[0]).max() < 0.1


@pytest.mark.slow
def test_energy_drifts_without_the_flux():
    equations = vi.EquationsOfMotion(bones(muscle(TWO)))

    def slopes(t, y):
        q, rates = y[:2], y[2:]
        side = equations.force(t, q, rates) - flux(q, rates, TWO)
        return np.concatenate([rates, equations.solve_mass(q, side)])

    y = solve_ivp(slopes, (0.0, 2.0), [*START, 0.0, 0.0], method="DOP853", rtol=1e-8, atol=1e-10).y.T
    energy = np.array([equations.energy(part[:2], part[2:]) for part in y])
    assert np.abs(energy - energy[0]).max() > 1e-3


def end_of(mechanism, duration=1.0, **given):
    run = vi.redmax.simulate(mechanism, duration, **given)
    return run.q[-1]


@pytest.mark.slow
def test_reference_at_one_second():
    run = vi.redmax.simulate(bones(muscle(ONE)), 1.0, rtol=1e-11)
    assert run.q[-1] == pytest.approx([-2.87220382, 0.48956307], abs=1e-7)
    assert run.qdot[-1] == pytest.approx([-2.31417914, 0.25844554], abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "order"), [("euler", 1), ("heun", 2), ("rk4", 4)])
def test_steps_of_one_size_converge(integrator, order):
    exact = end_of(bones(muscle(TWO)), 0.5, rtol=1e-11)
    errors = [
        np.abs(end_of(bones(muscle(TWO)), 0.5, dt=0.5 / n, integrator=integrator) - exact).max() for n in (100, 200)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["rk45", "matrix"])
def test_other_pairs_agree(integrator):
    exact = end_of(bones(muscle(TWO)), 0.5, rtol=1e-11)
    assert end_of(bones(muscle(TWO)), 0.5, rtol=1e-9, integrator=integrator) == pytest.approx(exact, abs=1e-7)


@pytest.mark.slow
def test_small_mass_changes_the_run_in_proportion():
    bare, *others = (end_of(bones(*given), rtol=1e-11) for given in ([], [muscle(TWO, 1e-4)], [muscle(TWO, 1e-5)]))
    first, second = (np.abs(end - bare).max() for end in others)
    assert first / second == pytest.approx(10.0, rel=0.01)


def test_zero_mass_is_no_force():
    """To the bit, in both formulations."""
    for simulate in (vi.simulate, vi.redmax.simulate):
        runs = [simulate(bones(*given), 0.5, 0.01) for given in ([], [muscle(TWO, 0.0)])]
        assert np.array_equal(runs[0].position, runs[1].position)
        assert np.array_equal(runs[0].velocity, runs[1].velocity)


@pytest.mark.slow
def test_momentum_of_two_free_bodies():
    bodies = [
        vi.Body.box(name, (0.3, 0.2, 0.1), 1.0 + k, position=(0.5 * k, 0.1 * k, 0)) for k, name in enumerate("ab")
    ]
    joints = [vi.Free("base", "world", "a"), vi.Spherical("ball", "a", "b", point=(0.25, 0, 0))]
    path = [vi.At("a", (-0.1, 0.1, 0.05)), vi.At("a", (0.1, 0.15, 0.1)), vi.At("b", (0.6, 0.2, 0.1))]
    forces = [vi.PathMass("m", path=path, mass=0.7)]
    mechanism = vi.Mechanism("free", bodies, joints, gravity=(0, 0, 0), forces=forces)
    state = mechanism.state(rates={"base": (0.1, 0.2, 0.3, 1.0, 2.0, 3.0), "ball": (1.0, -3.0, 2.0)})
    run = vi.redmax.simulate(mechanism, 1.0, state=state, rtol=1e-12)
    for momentum in (run.linear_momentum, run.angular_momentum):
        assert np.abs(momentum - momentum[0]).max() < 1e-12 * max(1.0, len(run))
    assert np.abs(run.energy - run.energy[0]).max() < 1e-11
    euler = vi.redmax.simulate(mechanism, 1.0, state=state, rtol=1e-12, chart="xyz")
    assert euler.position[-1] == pytest.approx(run.position[-1], abs=1e-9)


@pytest.mark.slow
def test_a_loop_with_mass_along_a_path():
    plain = vi.mechanisms.four_bar()
    first, last = (plain.bodies[k] for k in (0, -1))
    path = [vi.At(first.name, first.position), vi.At(last.name, last.position)]
    mechanism = dataclasses.replace(plain, forces=[*plain.forces, vi.PathMass("m", path=path, mass=2.0)])
    run = vi.redmax.simulate(mechanism, 1.0, rtol=1e-10)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6
    assert run.drift.max() < 1e-8
    masses = vi.straight_muscle_mass(
        "m", first.name, last.name, point_a=first.position, point_b=last.position, mass=2.0
    )
    parts = [[*own, *more] for own, more in zip((plain.bodies, plain.joints, plain.forces), masses, strict=True)]
    tied_ = dataclasses.replace(plain, bodies=parts[0], joints=parts[1], forces=parts[2])
    same = vi.redmax.simulate(tied_, 1.0, rtol=1e-10)
    assert same.position[-1, : len(plain.bodies)] == pytest.approx(run.position[-1], abs=1e-6)


# ------------------------------------------------------------------------------------------------ the 0.3 s test


def to_zero(t):
    """Angles, rates and accelerations from (0.9, -1.4) to zero within 0.3 s."""
    s, start = t / 0.3, np.array([0.9, -1.4])
    polynomial = np.polynomial.Polynomial([1, 0, 0, -10, 15, -6])
    return [start * polynomial.deriv(k)(s) / 0.3**k if k else start * polynomial(s) for k in range(3)]


TORQUES = [(0, 0), (-22.634447, 0.234887), (-20.510638, -3.869776), (-2.181621, -3.15556), (19.564988, 3.752866),
           (25.285393, 5.995567), (0, 0)]  # fmt: skip


@pytest.mark.slow
def test_reaching_in_three_tenths_of_a_second():
    given = {"length": 0.5, "gravity": 0.0, "start": (0.9, -1.4)}
    equations = vi.EquationsOfMotion(bones(muscle(SHORT), **given))

    def torque(t):
        q, rates, second = to_zero(t)
        return equations.mass_matrix(q) @ second + equations.bias(q, rates)

    for k, printed in enumerate(TORQUES):
        assert torque(0.05 * k) == pytest.approx(printed, abs=1e-6)
    motors = [
        vi.Motor(f"motor {k + 1}", joint=f"joint {k + 1}", effort=lambda t, k=k: float(torque(t)[k])) for k in (0, 1)
    ]
    assert np.abs(end_of(bones(muscle(SHORT), *motors, **given), 0.3, rtol=1e-11)).max() < 1e-9
    # the same torques where the muscle is a part of the proximal bone, as it lies at the start
    c, s = np.cos(-1.4), np.sin(-1.4)
    ends = np.array([[0.1, 0, 0.04], [0.5 + 0.2 * c - 0.04 * s, 0, 0.2 * s + 0.04 * c]])
    across = np.sum((ends[1] - ends[0]) ** 2) / 12
    rod = vi.Body("rod", mass=1.0, inertia=across * np.eye(3), position=ends.mean(axis=0))
    lumped = bones(*motors, **given, parts=([rod], [vi.Fixed("weld", "bone 1", "rod")]))
    assert end_of(lumped, 0.3, rtol=1e-10) == pytest.approx([0.081214, -0.229392], abs=1e-5)


# ------------------------------------------------------------------------------------------------ maximal coordinates


def tied(mass=1.0):
    ends = dict(zip(("point_a", "point_b"), (point for _, point in ONE), strict=True))
    parts = vi.straight_muscle_mass("muscle", "bone 1", "bone 2", **ends, mass=mass)
    return bones(*parts.forces, parts=parts[:2])


@pytest.mark.slow
@pytest.mark.parametrize(("order", "most", "slack"), [(2, 1e-4, 0.1), (4, 1e-8, 0.2)])
def test_straight_muscle_in_maximal_coordinates(order, most, slack):
    errors = []
    for steps in (200, 400):
        run = vi.simulate(tied(), 1.0, 1.0 / steps, order=order)
        ends = np.array([run.coordinates[f"joint {k}"][-1] for k in (1, 2)])
        errors.append(np.abs(ends - [-2.87220382, 0.48956307]).max())
    # the reference has eight decimals, so the order is that of the fall above its round-off
    assert errors[1] < most
    if order == 2:
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=slack)


@pytest.mark.slow
def test_straight_muscle_is_of_order_four():
    exact = end_of(bones(muscle(ONE)), rtol=1e-12)
    errors = []
    for steps in (100, 200):
        run = vi.simulate(tied(), 1.0, 1.0 / steps, order=4)
        errors.append(np.abs([run.coordinates[f"joint {k + 1}"][-1] - exact[k] for k in (0, 1)]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.2)


@pytest.mark.slow
def test_straight_muscle_in_the_world():
    parts = vi.straight_muscle_mass("muscle", "world", "bone 1", point_a=(0, 0, 0.5), point_b=(0.6, 0, 0.1), mass=0.5)
    assert [body.name for body in parts.bodies] == ["muscle middle", "muscle b"]
    path = [("world", (0, 0, 0.5)), ("bone 1", (0.6, 0, 0.1))]
    exact = end_of(bones(muscle(path, 0.5)), 0.5, rtol=1e-11)
    run = vi.simulate(bones(*parts.forces, parts=parts[:2]), 0.5, 0.0025, order=4)
    assert [run.coordinates[f"joint {k}"][-1] for k in (1, 2)] == pytest.approx(exact, abs=1e-7)


# ------------------------------------------------------------------------------------------------ input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mass": -1.0}, "mass of pathmass 'm' must be zero or positive"),
        ({"belly": (0.2, 1.2)}, "belly of pathmass 'm' must be two fractions a1 < a2 from 0 to 1"),
        ({"belly": (0.5, 0.5)}, "belly of pathmass 'm' must be two fractions"),
        ({"path": [vi.At("bone 1", (0, 0, 0)), vi.At("bone 1", (1, 0, 0))]}, "path of pathmass 'm' must lead from one"),
        ({"path": [vi.At("bone 1", (1, 0, 0)), vi.At("bone 2", (1, 0, 0))]}, "points 0 and 1 are equal"),
        ({"path": [vi.At("bone 1", (1, 0, 0))]}, "path of pathmass 'm' needs at least two points, got 1"),
        ({"path": [("bone 1", (1, 0, 0))]}, "a point of the path of pathmass 'm' must be"),
        ({"path": [{"body": "bone 1"}]}, "a point of the path of pathmass 'm' needs 'body' and 'point'"),
        ({"path": [{"body": "bone 1", "pont": (0, 0, 0)}]}, "'pont'"),
        ({"lumped": 1}, "lumped of pathmass 'm' must be a whole number from 2"),
    ],
)
def test_wrong_input(change, message):
    given = {"path": [vi.At(*point) for point in ONE], "mass": 1.0} | change
    with pytest.raises(vi.MechanismError) as caught:
        vi.PathMass("m", **given)
    assert message in str(caught.value)


def test_wrong_input_of_others():
    with pytest.raises(vi.MechanismError, match="'bone 3'"):
        bones(muscle([*ONE, ("bone 3", (0, 0, 0))]))
    with pytest.raises(vi.MechanismError, match="'b' in a path"):
        vi.At("b", (0, 0))
    points = {"point_a": (0, 0, 0), "point_b": (1, 0, 0)}
    for change, message in (
        ({"mass": 0.0}, "mass of straight muscle mass 'm'"),
        ({"point_b": (0, 0, 0)}, "needs two points that are apart"),
        ({"body_b": "a"}, "both ends are on 'a'"),
    ):
        with pytest.raises(vi.MechanismError, match=message):
            vi.straight_muscle_mass("m", **({"body_a": "a", "body_b": "b", "mass": 1.0} | points | change))


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_files_carry_the_path(tmp_path, suffix):
    mechanism = bones(muscle(TWO, 0.4, belly=(0.1, 0.9), lumped=12))
    path = tmp_path / f"bones{suffix}"
    vi.save_mechanism(mechanism, path)
    read = vi.load_mechanism(path).forces[0]
    assert (read.mass, read.belly, read.lumped) == (0.4, (0.1, 0.9), 12)
    for here, there in zip(read.path, mechanism.forces[0].path, strict=True):
        assert here.body == there.body
        assert np.array_equal(here.point, there.point)


@pytest.mark.parametrize("integrator", ["bdf1", "bdf2", "sdirk2", "radau", "gauss", "variational2"])
def test_integrators_that_differentiate_refuse_it(integrator):
    with pytest.raises(vi.ArgumentError, match="pathmass 'muscle' has mass that moves with its path"):
        vi.redmax.simulate(bones(muscle(ONE)), 1.0, 0.01, integrator=integrator)


def test_other_refusals():
    mechanism = bones(muscle(ONE))
    with pytest.raises(vi.ArgumentError, match="take order=2 or above"):
        vi.simulate(mechanism, 1.0, 0.01, order=1)
    with pytest.raises(vi.ArgumentError, match="derivatives of the equations"):
        vi.EquationsOfMotion(mechanism).stiffness(0.0, *MOVED)
    run = vi.redmax.simulate(mechanism, 0.1, 0.01)
    with pytest.raises(vi.ArgumentError, match="accelerations of a run"):
        _ = run.acceleration


# ------------------------------------------------------------------------------------------------ with other forces


@pytest.mark.slow
def test_a_prescribed_joint_takes_the_effort_of_inverse_dynamics():
    drive = vi.PrescribedMotion("drive", joint="joint 1", position=lambda t: 0.5 * np.sin(2.0 * t))
    run = vi.redmax.simulate(bones(muscle(TWO), drive), 1.0, 0.01, rtol=1e-10)
    equations = vi.EquationsOfMotion(bones(muscle(TWO)))
    node = 70
    q, rates = run.q[node], run.qdot[node]
    first = -2.0 * np.sin(2.0 * run.t[node])
    M, force = equations.mass_matrix(q), equations.force(0.0, q, rates)
    second = (force[1] - M[1, 0] * first) / M[1, 1]
    assert run.driving["joint 1"][node, 0] == pytest.approx(M[0] @ [first, second] - force[0], rel=1e-6)
    assert np.abs(run.energy_balance).max() < 3e-3  # the work of the drive is summed over the nodes


@pytest.mark.slow
def test_an_elastic_stop_keeps_the_energy():
    stop = vi.JointStop("stop", joint="joint 2", lower=-0.6, upper=0.6, restitution=1.0)
    run = vi.redmax.simulate(bones(muscle(TWO), stop), 1.5, rtol=1e-9)
    free = vi.redmax.simulate(bones(muscle(TWO)), 1.5, rtol=1e-9)
    assert np.abs(free.q[:, 1]).max() > 0.7
    assert np.abs(run.q[:, 1]).max() < 0.6 + 1e-6
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6


def test_friction_by_normal_loads_is_refused():
    friction = vi.JointCoulombFriction("rub", joint="joint 1", coefficient=0.1, radius=0.05)
    with pytest.raises(vi.ArgumentError, match="normal loads"):
        vi.redmax.simulate(bones(muscle(TWO), friction), 0.1, 0.01, integrator="euler")
