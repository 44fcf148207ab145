"""Coordinate maps: joints that follow functions of others, against hyper-reduced equations."""

import numpy as np
import pytest
from coupled_pendulums import G, crank, rig
from force_samples import wave
from scipy.integrate import solve_ivp

import varint as vi

# coordinate maps


def finger(*forces, n=4):
    """A chain of ``n`` equal bars on hinges about y, straight and level, without gravity."""
    bars = [vi.Body.box(f"b{k}", (0.3, 0.05, 0.05), 0.5 - 0.08 * k, position=(0.3 * k + 0.15, 0, 0)) for k in range(n)]
    hinges = [
        vi.Revolute(f"h{k}", f"b{k - 1}" if k else "world", f"b{k}", point=(0.3 * k, 0, 0), axis=(0, 1, 0))
        for k in range(n)
    ]
    return vi.Mechanism("finger", bars, hinges, gravity=(0, 0, -3), forces=forces)


CURLS = {
    "one": np.array([[0.4], [0.8], [1.0], [0.6]]),
    "two": np.array([[1.0, 0.0], [0.5, 0.2], [0.0, 1.0], [-0.3, 0.7]]),
    "one at rest": np.array([[1.0], [0.0], [0.7], [0.5]]),
}


def curled(matrix):
    return finger(vi.CoordinateMap("curl", coordinates=[(f"h{k}", 0) for k in range(4)], matrix=matrix))


def hyper_reduced(matrix, start, rates, duration):
    """q at the end, by DIFF eq. 2.90 for a plane chain: M and its forces by differences of energies, dense."""
    bodies = finger().bodies
    m, l = np.array([body.mass for body in bodies]), 0.3
    inertia = np.array([body.inertia[1, 1] for body in bodies])
    lever = np.tril(np.full((4, 4), l)) - np.diag(np.full(4, l / 2))

    def equations(t, y):
        k = matrix.shape[1]
        q = start + matrix @ y[:k]
        qdot, a = matrix @ y[k:], np.cumsum(start + matrix @ y[:k])  # a: angles from level, about y, so down
        turned = np.tril(np.ones((4, 4)))  # of the absolute angles by q
        X, Z = -lever * np.sin(a), -lever * np.cos(a)  # of the centres by the absolute angles
        J = np.concatenate([X @ turned, Z @ turned])
        w = turned @ qdot
        drift = np.concatenate([-(lever * np.cos(a)) @ w**2, (lever * np.sin(a)) @ w**2])
        M = J.T @ (np.tile(m, 2)[:, None] * J) + turned.T @ (inertia[:, None] * turned)
        force = -J.T @ (np.tile(m, 2) * drift) + J.T @ np.concatenate([np.zeros(4), -3.0 * m])
        assert q.shape == (4,)
        return np.concatenate([y[k:], np.linalg.solve(matrix.T @ M @ matrix, matrix.T @ force)])

    y = np.concatenate([np.zeros(matrix.shape[1]), rates])
    found = solve_ivp(equations, (0.0, duration), y, rtol=1e-11, atol=1e-12).y[:, -1]
    return start + matrix @ found[: matrix.shape[1]], matrix @ found[matrix.shape[1] :]


@pytest.mark.slow
@pytest.mark.parametrize("name", CURLS)
def test_coordinate_maps_follow_the_hyper_reduced_equations(name):
    """Against equations with the chained Jacobian, written out; both formulations, slopes 2 and 4."""
    matrix, duration = CURLS[name], 0.5
    k, mechanism = matrix.shape[1], curled(matrix)
    start, rates = matrix @ [0.2, -0.1][:k], np.array([1.5, -0.8][:k])
    qdot = matrix @ rates
    state = mechanism.state(
        coordinates={f"h{k}": q for k, q in enumerate(start)}, rates={f"h{k}": v for k, v in enumerate(qdot)}
    )
    assert mechanism.diagnose(state).mobility == k
    exact, _ = hyper_reduced(matrix, start, rates, duration)
    reduced = vi.redmax.simulate(mechanism, duration, state=state, rtol=1e-10)
    np.testing.assert_allclose(reduced.q[-1], exact, atol=1e-8)
    for order in (2, 4):
        runs = [vi.simulate(mechanism, duration, dt, state=state, order=order) for dt in (0.02, 0.01)]
        errors = []
        for run in runs:
            q = np.array([run.coordinates[f"h{k}"] for k in range(4)])
            np.testing.assert_allclose(matrix @ np.linalg.pinv(matrix) @ q, q, atol=1e-11)
            errors.append(np.abs(q[:, -1] - exact).max())
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def rigged():
    """`rig` with a slider and an angle that follow an angle."""
    places = [("a", 0), ("b", 0), ("d", 0)]
    return rig(vi.CoordinateMap("map", coordinates=places, functions=[crank, wave]))


def rigged_state(mechanism, rate=3.0):
    b, d = crank(0.4), wave(0.4)
    at = {"a": 0.4, "b": b[0], "d": d[0], "c": (0.1, 0.2)}
    rates = {"a": rate, "b": b[1] * rate, "d": d[1] * rate, "c": (0.3, -1.0)}
    return mechanism.state(coordinates=at, rates=rates)


def test_functions_of_a_map_have_their_derivatives():
    for function in (crank, wave):
        for x in (0.3, 2.0, -4.0):
            above, below = np.array(function(x + 1e-6)), np.array(function(x - 1e-6))
            assert (above - below)[:2] / 2e-6 == pytest.approx(function(x)[1:], abs=1e-8)


@pytest.mark.slow
def test_a_map_by_functions_in_both_formulations():
    """Turns are counted; both formulations agree, with slopes 2 and 4; no energy is lost, the map holds."""
    mechanism, duration = rigged(), 1.5
    assert mechanism.diagnose().mobility == rig().diagnose().mobility - 2
    state = rigged_state(mechanism)
    exact = vi.redmax.simulate(mechanism, duration, state=state, rtol=1e-11, atol=1e-13, baumgarte=20.0)
    assert exact.coordinates["a"][-1] - exact.coordinates["a"][0] > 3.5  # past half a turn
    assert np.abs(exact.energy - exact.energy[0]).max() < 1e-8 * exact.kinetic.max()
    for order in (2, 4):
        errors = []
        for dt in (0.01, 0.005):
            run = vi.simulate(mechanism, duration, dt, state=state, order=order)
            q = run.coordinates
            for joint, function in (("b", crank), ("d", wave)):
                kept = q[joint] - np.array([function(x)[0] for x in q["a"]])
                assert np.ptp(kept) < 1e-11
            errors.append(np.abs(run.position[-1] - exact.position[-1]).max())
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_polynomials_are_functions_with_their_derivatives(tmp_path):
    given = {"coordinates": [("a", 0), ("b", 0)]}
    maps = [
        vi.CoordinateMap("m", **given, functions=[lambda x: (x * (0.4 + x * x), 0.4 + 3.0 * x * x, 6.0 * x)]),
        vi.CoordinateMap("m", **given, polynomials=[(0.0, 0.4, 0.0, 1.0)]),
    ]
    assert maps[1].maps[0](0.3) == pytest.approx((0.147, 0.67, 1.8), rel=1e-14)
    mechanisms = [rig(own) for own in maps]
    states = [each.state(coordinates={"a": 0.5}) for each in mechanisms]
    runs = [vi.simulate(each, 0.1, 0.005, state=state) for each, state in zip(mechanisms, states, strict=True)]
    assert runs[1].coordinates["b"][0] == pytest.approx(0.325, abs=1e-12)
    assert runs[1].position == pytest.approx(runs[0].position, abs=1e-13)
    vi.save_mechanism(mechanisms[1], tmp_path / "m.json")
    again = vi.simulate(vi.load_mechanism(tmp_path / "m.json"), 0.1, 0.005, state=states[1])
    assert np.array_equal(again.position, runs[1].position)


@pytest.mark.slow
def test_a_map_by_functions_follows_its_hyper_reduced_equation():
    """A wheel that drives a carriage: (I + m f'^2) a'' + m f' f'' a'^2 = -m g f' along z, by its own equation."""
    wheel = vi.Body("wheel", mass=1.0, inertia=np.diag([0.3, 0.2, 0.3]), position=(0, 0, 0))
    carriage = vi.Body("carriage", mass=2.0, inertia=np.eye(3) * 0.1, position=(1, 0, 0))
    joints = [
        vi.Revolute("turn", "world", "wheel", point=(0, 0, 0), axis=(0, 1, 0)),
        vi.Prismatic("lift", "world", "carriage", point=(1, 0, 0), axis=(0, 0, 1)),
    ]
    cam = vi.CoordinateMap("cam", coordinates=[("turn", 0), ("lift", 0)], functions=[wave])
    mechanism = vi.Mechanism("cam", [wheel, carriage], joints, forces=[cam])

    def equation(t, y):
        _, slope, bend = wave(y[0])
        return y[1], -(2.0 * slope * bend * y[1] ** 2 + 2.0 * G * slope) / (0.2 + 2.0 * slope**2)

    y = solve_ivp(equation, (0.0, 0.4), (0.0, 3.0), rtol=1e-12, atol=1e-12).y[:, -1]
    state = mechanism.state(rates={"turn": 3.0})
    assert vi.redmax.simulate(mechanism, 0.4, state=state, rtol=1e-11).q[-1, 0] == pytest.approx(y[0], abs=1e-7)
    for integrator, order in (("bdf1", 1), ("bdf2", 2), ("sdirk2", 2), ("euler", 1)):
        errors = [
            abs(vi.redmax.simulate(mechanism, 0.4, dt=dt, state=state, integrator=integrator).q[-1, 0] - y[0])
            for dt in (0.002, 0.001)
        ]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
    run = vi.simulate(mechanism, 0.4, 0.002, state=state, order=4)
    assert run.coordinates["turn"][-1] == pytest.approx(y[0], abs=1e-6)
    # accelerations and the effort at nodes: along the lift, what the carriage takes beside its weight
    acceleration = equation(0.0, y)[1]
    _, slope, bend = wave(y[0])
    lifted = slope * acceleration + bend * y[1] ** 2
    assert run.acceleration[-1, 1, 2] == pytest.approx(lifted, abs=1e-4)
    assert run.force["cam"][-1] == pytest.approx(2.0 * (lifted + G), abs=1e-3)


@pytest.mark.slow
def test_wrong_coordinate_maps_are_named():
    places = [("a", 0), ("b", 0), ("c", 1)]
    for matrix, words in (
        (np.ones((2, 1)), "'m' must be"),
        (np.eye(3), "fewer columns than the 3 coordinates, and one or more, got 3"),
        (np.zeros((3, 0)), "one or more, got 0"),
        ([[1, 2], [2, 4], [3, 6]], "columns of the matrix of coordinatemap 'm' must be independent"),
        ([[np.nan], [1], [1]], "finite"),
    ):
        with pytest.raises(vi.MechanismError, match=words):
            vi.CoordinateMap("m", coordinates=places, matrix=matrix)
    with pytest.raises(vi.MechanismError, match=r"must be .joint, coordinate., got"):
        vi.CoordinateMap("m", coordinates=[("a", 0, 1.0), ("b", 0)], matrix=[[1], [1]])
    with pytest.raises(vi.MechanismError, match="needs matrix=, polynomials= or functions=, one of the three"):
        vi.CoordinateMap("m", coordinates=places)
    with pytest.raises(vi.MechanismError, match="3 coordinates, 1 functions"):
        vi.CoordinateMap("m", coordinates=places, functions=[wave])
    with pytest.raises(vi.MechanismError, match="3 coordinates, 1 polynomials"):
        vi.CoordinateMap("m", coordinates=places, polynomials=[(0.0, 1.0)])
    with pytest.raises(vi.MechanismError, match="needs one coefficient or more"):
        vi.CoordinateMap("m", coordinates=places, polynomials=[(0.0, 1.0), ()])
    with pytest.raises(vi.MechanismError, match="a row of polynomials of coordinatemap 'm' must be finite"):
        vi.CoordinateMap("m", coordinates=places[:2], polynomials=[(0.0, np.inf)])
    with pytest.raises(vi.MechanismError, match="function 1 of coordinatemap 'm' must compile to"):
        vi.CoordinateMap("m", coordinates=places, functions=[wave, lambda x: x])
    wrong = vi.CoordinateMap("m", coordinates=[("a", 0), ("b", 0)], functions=[lambda x: (x * x, x, 1.0)])
    mechanism = rig(wrong)
    state = mechanism.state(coordinates={"a": 0.5})
    told = "the slope of function 0 of coordinatemap 'm' is 0.5 at 0.5, its values rise by 1"
    with pytest.raises(vi.MechanismError, match=told):
        vi.simulate(mechanism, 0.1, 0.01, state=state)
    with pytest.raises(vi.MechanismError, match=told):
        vi.redmax.simulate(mechanism, 0.1, state=state)
    with pytest.raises(vi.ArgumentError, match="'map' has functions of coordinates, which gradients do not support"):
        vi.gradient(rigged(), lambda state: state.position[0, 0], 0.1, 0.01, with_respect_to=["start"])
    twice = vi.CoordinateMap("m", coordinates=[("a", 0), ("a", 0)], matrix=[[1], [2]])
    with pytest.raises(vi.MechanismError, match="names the same coordinate twice"):
        rig(twice).state()
