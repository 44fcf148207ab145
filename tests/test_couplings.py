"""Couplings of joint coordinates and prescribed motions: closed forms, order, work, momenta, states, errors."""

import dataclasses

import numpy as np
import pytest
from force_samples import wave
from scipy.integrate import solve_ivp

import varint as vi
from varint.model.forces import FORCES
from varint.model.forces.coupled import Coupled

G = 9.81
MASS, ARM, INERTIA = 2.0, 0.3, 0.05  # of a pendulum; inertia about its centre


def pendulum(name, x, mass=MASS, arm=ARM, inertia=INERTIA):
    """A body that hangs ``arm`` below the pivot at (x, 0, 0), and its joint about y."""
    body = vi.Body(name, mass=mass, inertia=np.full(3, inertia) * np.eye(3), position=(x, 0, -arm))
    return body, vi.Revolute(f"{name} pivot", "world", name, point=(x, 0, 0), axis=(0, 1, 0))


def pair(*forces):
    """Two pendulums side by side."""
    (a, pivot_a), (b, pivot_b) = (
        pendulum("a", 0.0),
        pendulum("b", 1.0, mass=1.0, arm=0.2, inertia=0.02),
    )
    return vi.Mechanism("pair", [a, b], [pivot_a, pivot_b], forces=forces)


def gear(**radii):
    return vi.Gear("gear", joint_a="a pivot", joint_b="b pivot", **{"radius_a": 0.3, "radius_b": 0.7} | radii)


def geared_reference(t, q0, rate0, ratio):
    """Angle and rate of pendulum a with q_b = ratio q_a: one degree of freedom."""
    inertia = INERTIA + MASS * ARM**2 + ratio**2 * (0.02 + 1.0 * 0.2**2)

    def slope(_, y):
        torque = -MASS * G * ARM * np.sin(y[0]) - ratio * 1.0 * G * 0.2 * np.sin(ratio * y[0])
        return y[1], torque / inertia

    return solve_ivp(slope, (0.0, t[-1]), (q0, rate0), "DOP853", t, rtol=1e-12, atol=1e-12).y


@pytest.mark.parametrize("internal", [False, True])
def test_geared_pendulums_follow_their_one_equation(internal):
    mechanism, ratio = pair(gear(internal=internal)), (1 if internal else -1) * 0.3 / 0.7
    state = mechanism.state(coordinates={"a pivot": 0.4}, rates={"a pivot": 12.0})  # goes round
    errors = []
    for dt in (0.004, 0.002):
        run = vi.simulate(mechanism, 3.0, dt, state=state)
        q = geared_reference(run.t, 0.4, 12.0, ratio)[0]
        assert np.abs(q).max() > 4 * np.pi
        np.testing.assert_allclose(run.coordinates["b pivot"], ratio * run.coordinates["a pivot"], atol=1e-12)
        errors.append(np.abs(run.coordinates["a pivot"] - q).max())
        assert run.substeps == 0
    assert 3.5 < errors[0] / errors[1] < 4.5
    assert errors[1] < 1e-2
    # the force between the teeth turns b against its weight
    acceleration = np.gradient(run.angular_velocity[:, 1, 1], run.t, edge_order=2)
    torque = (0.02 + 1.0 * 0.2**2) * acceleration + 1.0 * G * 0.2 * np.sin(run.coordinates["b pivot"])
    sense = -1.0 if internal else 1.0
    np.testing.assert_allclose(sense * 0.7 * run.force["gear"], torque, atol=0.02)
    np.testing.assert_allclose(run.energy, run.energy[0], atol=2e-3)
    assert np.abs(run.power["gear"]).max() == 0.0
    assert np.abs(run.work).max() == 0.0


@pytest.mark.slow
def test_energy_of_a_gear_train_stays_for_a_hundred_thousand_steps():
    mechanism = pair(gear())
    run = vi.simulate(mechanism, 1000.0, 0.01, state=mechanism.state(rates={"a pivot": 4.0}), every=100)
    error = run.energy - run.energy[0]
    halves = error[: len(error) // 2].mean(), error[len(error) // 2 :].mean()
    assert np.abs(error).max() < 0.05
    assert abs(halves[0] - halves[1]) < 2e-3


def rig(*forces):
    """One joint of each kind of coordinate on the world, and bodies that are not alike."""
    rng = np.random.default_rng(3)
    bodies, joints = [], []
    for k, name in enumerate("abcd"):
        place = np.array([k, 0.0, 0.0])
        inertia = np.diag(rng.uniform(0.1, 0.15, 3))
        bodies.append(
            vi.Body(name, mass=rng.uniform(1, 2), inertia=inertia, position=place + 0.1 * rng.standard_normal(3))
        )
        axis = {"axis": (0.0, 0.6, 0.8)}
        kind = (vi.Revolute, vi.Prismatic, vi.Cylindrical, vi.Revolute)[k]
        joints.append(kind(name, "world" if k < 3 else "a", name, point=place, **axis))
    return vi.Mechanism("rig", bodies, joints, forces=forces)


CASES = {
    "rack": (vi.RackAndPinion("f", joint_a="a", joint_b="b", radius=0.2), {("a", 0): -0.2, ("b", 0): 1.0}),
    "screw": (vi.Screw("f", joint="c", pitch=0.5), {("c", 0): 1.0, ("c", 1): -0.5 / (2 * np.pi)}),
    "equality": (vi.Equality("f", joint_a="b", joint_b="c", factor=2.0), {("b", 0): -2.0, ("c", 0): 1.0}),
    "belt": (vi.Belt("f", joints=["a", "d"], radii=[0.3, -0.1]), {("a", 0): 0.3, ("d", 0): 0.1}),
    "differential": (
        vi.Coupling("f", terms=[("a", 0, 1.0), ("d", 0, -2.0), ("c", 1, 0.5)]),
        {("a", 0): 1.0, ("d", 0): -2.0, ("c", 1): 0.5},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_couplings_hold_and_keep_energy(name):
    force, terms = CASES[name]
    mechanism = rig(force)
    assert mechanism.diagnose().mobility == rig().diagnose().mobility - 1
    assert len(mechanism.diagnose().motions) == mechanism.diagnose().mobility
    (joint, _), *_ = terms
    turning = [0.3, 0.3 * 2 * np.pi / 0.5] if name == "screw" else 0.7
    state = mechanism.state(rates={joint: turning})
    runs = [vi.simulate(mechanism, 1.0, dt, state=state) for dt in (0.01, 0.005)]
    for run in runs:
        total = 0.0
        for (j, k), factor in terms.items():
            q = run.coordinates[j]
            total = total + factor * (q if q.ndim == 1 else q[:, k])
        np.testing.assert_allclose(total, total[0], atol=1e-11)
        assert run.substeps == 0
    errors = [np.abs(run.energy - run.energy[0]).max() for run in runs]
    assert errors[1] < 0.3 * errors[0] + 1e-12
    assert errors[0] < 0.05


def test_efforts_balance_at_every_node():
    """Accelerations with the coupling's effort are those of the equations without it and the effort as a torque."""
    run = vi.simulate(pair(gear()), 1.0, 0.005, state=pair(gear()).state(coordinates={"a pivot": 1.0}))
    effort = run.force["gear"]
    free = pair(
        vi.Motor("ma", joint="a pivot", effort=0.3 * effort), vi.Motor("mb", joint="b pivot", effort=0.7 * effort)
    )
    same = vi.simulate(free, 1.0, 0.005, state=pair(gear()).state(coordinates={"a pivot": 1.0}))
    np.testing.assert_allclose(same.acceleration[0], run.acceleration[0], atol=1e-9)
    np.testing.assert_allclose(same.coordinates["a pivot"], run.coordinates["a pivot"], atol=2e-4)
    np.testing.assert_allclose(same.reactions["b pivot"].force[0], run.reactions["b pivot"].force[0], atol=1e-9)


def test_momenta_of_a_floating_gear_box(rng):
    carrier = vi.Body("carrier", mass=3.0, inertia=np.diag([0.2, 0.3, 0.4]), position=(0, 0, 0))
    a = vi.Body("a", mass=1.0, inertia=np.diag([0.02, 0.03, 0.04]), position=(0.2, 0.1, 0.0))
    b = vi.Body("b", mass=2.0, inertia=np.diag([0.05, 0.06, 0.04]), position=(-0.3, 0.0, 0.1))
    joints = [
        vi.Free("base", "world", "carrier"),
        vi.Revolute("ja", "carrier", "a", point=(0.2, 0, 0), axis=(0, 0, 1)),
        vi.Revolute("jb", "carrier", "b", point=(-0.2, 0, 0), axis=(0, 0, 1)),
    ]
    forces = [vi.Gear("g", joint_a="ja", joint_b="jb", radius_a=0.1, radius_b=0.3)]
    mechanism = vi.Mechanism("box", [carrier, a, b], joints, gravity=(0, 0, 0), forces=forces)
    assert mechanism.diagnose().mobility == 7
    state = mechanism.state(rates={"ja": 6.0}, angular_velocity={"carrier": (0.4, 0.5, 0.6)})
    run = vi.simulate(mechanism, 10.0, 0.01, state=state, tol=1e-13)
    assert np.abs(run.linear_momentum - run.linear_momentum[0]).max() < 1e-12
    assert np.abs(run.angular_momentum - run.angular_momentum[0]).max() < 1e-12
    np.testing.assert_allclose(0.1 * run.coordinates["ja"] + 0.3 * run.coordinates["jb"], 0.0, atol=1e-11)


# prescribed motion


def swing(t):
    return 0.2 + 3.0 * t + 0.5 * np.sin(4.0 * t)


def driven(position):
    body, pivot = pendulum("a", 0.0)
    force = vi.PrescribedMotion("drive", joint="a pivot", position=position)
    return vi.Mechanism("driven", [body], [pivot], forces=[force])


@pytest.mark.slow
@pytest.mark.parametrize("how", ["function", "array"])
def test_prescribed_motion_and_what_it_takes(how):
    errors = []
    for dt in (0.01, 0.005):
        t = dt * np.arange(round(4.0 / dt) + 1)
        mechanism = driven(swing if how == "function" else swing(t))
        run = vi.simulate(mechanism, 4.0, dt, state=mechanism.state(coordinates={"a pivot": 0.2}))
        q, rate = swing(t), 3.0 + 2.0 * np.cos(4.0 * t)
        np.testing.assert_allclose(run.coordinates["a pivot"], q, atol=1e-12)  # goes round twice
        inertia = INERTIA + MASS * ARM**2
        effort = inertia * -8.0 * np.sin(4.0 * t) + MASS * G * ARM * np.sin(q)
        errors.append(
            (
                np.abs(run.angular_velocity[:, 0, 1] - rate)[1:-1].max(),
                np.abs(run.force["drive"] - effort)[1:-1].max(),
                np.abs(run.energy_balance)[1:-1].max(),
                np.abs(run.power["drive"] - effort * rate)[2:-2].max(),
            )
        )
    errors = np.array(errors)
    assert (errors[1] < 0.3 * errors[0] + 1e-9).all(), errors
    assert (errors[1] < [1e-3, 1e-2, 2e-2, 5e-2]).all(), errors


def test_prescribed_motion_at_order_four():
    errors = []
    for dt in (0.02, 0.01):
        crank, pivot_a = pendulum("a", 0.0)
        rod = vi.Body("b", mass=1.0, inertia=0.02 * np.eye(3), position=(0, 0, -0.8))
        joints = [pivot_a, vi.Revolute("elbow", "a", "b", point=(0, 0, -0.6), axis=(0, 1, 0))]
        drive = vi.PrescribedMotion("drive", joint="a pivot", position=lambda t: 0.3 * np.sin(3.0 * t))
        mechanism = vi.Mechanism("arm", [crank, rod], joints, forces=[drive])
        run = vi.simulate(mechanism, 1.0, dt, order=4)
        errors.append(run.coordinates["elbow"][-1])
    fine = vi.simulate(mechanism, 1.0, 0.002, order=4).coordinates["elbow"][-1]
    assert 11 < abs(errors[0] - fine) / abs(errors[1] - fine) < 22


def test_prescribed_coordinate_in_a_loop():
    four_bar = vi.mechanisms.four_bar()
    crank = four_bar.joints[0].name
    speed = 4.0
    start = four_bar.state()
    q0 = float(vi.simulate(four_bar, 0.001, 0.001, state=start).coordinates[crank][0])
    mechanism = dataclasses.replace(
        four_bar, forces=[vi.PrescribedMotion("drive", joint=crank, position=lambda t: q0 + speed * t)]
    )
    run = vi.simulate(mechanism, 2.0, 0.002, state=start)
    np.testing.assert_allclose(run.coordinates[crank], q0 + speed * run.t, atol=1e-11)
    assert run.drift.max() < 1e-10
    assert np.abs(run.energy_balance).max() < 1e-3 * np.abs(run.energy).max()


class Stopped(Exception):
    pass


@pytest.mark.slow
def test_stopped_and_read_runs_have_the_same_bits(tmp_path):
    t = 0.01 * np.arange(3001)
    drive = vi.PrescribedMotion("drive", joint="a pivot", position=swing(t))
    mechanism = pair(drive, vi.Belt("belt", joints=["b pivot", "a pivot"], radii=[0.2, 0.1]))
    start = mechanism.state(coordinates={"a pivot": 0.2})
    whole = vi.simulate(mechanism, 30.0, 0.01, state=start)

    def stop(done, _):
        if done > 100:
            raise Stopped

    file = tmp_path / "run.h5"
    with pytest.raises(Stopped):
        vi.simulate(mechanism, 30.0, 0.01, state=start, output=file, progress=stop)
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    read = vi.load_mechanism(tmp_path / "m.json")
    resumed = vi.simulate(read, 30.0, 0.01, state=start, output=file, resume=True)
    for name in ("position", "quat_wxyz", "velocity", "angular_velocity", "work"):
        assert getattr(whole, name).tobytes() == getattr(resumed, name).tobytes()


@pytest.mark.slow
def test_couplings_of_loops_in_one_node_and_in_clusters():
    chain = vi.mechanisms.rhombus_chain(m=3)
    forces = [
        vi.Equality("e", joint_a="left 1", joint_b="left 3", factor=-0.5),
        vi.Gear("g", joint_a="top left 1", joint_b="top left 2", radius_a=0.1, radius_b=0.2),
    ]
    mechanism = dataclasses.replace(chain, forces=forces)
    assert mechanism.diagnose().mobility == chain.diagnose().mobility - 2
    runs = [vi.simulate(mechanism, 0.5, 0.002, closures=closures) for closures in ("clusters", "single")]
    for run in runs:
        assert run.drift.max() < 1e-11
        assert np.abs(run.energy - run.energy[0]).max() < 1e-2
        q = run.coordinates
        assert np.abs(q["left 3"] + 0.5 * q["left 1"]).max() < 1e-11
        assert np.abs(0.1 * q["top left 1"] + 0.2 * q["top left 2"]).max() < 1e-11
    assert np.abs(runs[0].position - runs[1].position).max() < 1e-9


# states


@pytest.mark.slow
def test_states_follow_the_couplings():
    mechanism = pair(gear())
    state = mechanism.state(coordinates={"a pivot": 7.0}, rates={"a pivot": 2.0})
    run = vi.simulate(mechanism, 0.01, 0.01, state=state)
    full = 2 * np.pi
    assert (run.coordinates["b pivot"][0] + 3.0 + full / 2) % full - full / 2 == pytest.approx(0.0, abs=1e-10)
    assert run.angular_velocity[0, 1, 1] == pytest.approx(-6.0 / 7.0, abs=1e-10)
    np.testing.assert_allclose(run.angular_velocity[0], state.angular_velocity, atol=1e-10)


def test_a_state_that_couplings_forbid_is_refused():
    with pytest.raises(vi.AssemblyError, match="gear 'gear'"):
        pair(gear()).state(coordinates={"a pivot": 0.5, "b pivot": 0.5})
    with pytest.raises(vi.StateError, match="coupling"):
        pair(gear()).state(rates={"a pivot": 1.0, "b pivot": 1.0})


# wrong requests


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (lambda: gear(radius_a=-1.0), "radius_a of gear 'gear' must be positive"),
        (lambda: vi.Gear("g", joint_a="a", joint_b="b", radius_a=1, radius_b=1), "gear 'g'.*'b' is a displacement"),
        (lambda: vi.Gear("g", joint_a="a", joint_b="a", radius_a=1, radius_b=1), "same coordinate twice"),
        (lambda: vi.RackAndPinion("r", joint_a="b", joint_b="a", radius=1), "must be an angle"),
        (lambda: vi.RackAndPinion("r", joint_a="a", joint_b="b", radius=0.0), "not zero"),
        (lambda: vi.Screw("s", joint="a", pitch=1.0), "no coordinate 1"),
        (lambda: vi.Coupling("c", terms=[("a", 0, 1.0)]), "two terms"),
        (lambda: vi.Coupling("c", terms=[("a", 0), ("b", 0)]), "must be .joint, coordinate, factor"),
        (lambda: vi.Coupling("c", terms=[("a", 0, np.nan), ("b", 0, 1)]), "finite"),
        (lambda: vi.Equality("e", joint_a="a", joint_b="nowhere"), "equality 'e'.*nowhere"),
        (lambda: vi.Belt("b", joints=["a", "d"], radii=[1.0]), "as many radii"),
        (lambda: vi.PrescribedMotion("p", joint="c", coordinate=2, position=0.0), "no coordinate 2"),
    ],
)
def test_wrong_couplings_are_named(force, message):
    with pytest.raises(vi.MechanismError, match=message):
        rig(force())


def test_wrong_prescribed_motions_are_named():
    mechanism = driven(swing)
    with pytest.raises(vi.StateError, match=r"prescribedmotion 'drive' starts at 0.2.*'a pivot' is at 0"):
        vi.simulate(mechanism, 1.0, 0.01)
    mechanism = driven(lambda t: np.nan)
    with pytest.raises(vi.ArgumentError, match="position of prescribedmotion 'drive' at t = "):
        vi.simulate(mechanism, 1.0, 0.01)
    with pytest.raises(vi.ArgumentError, match="101 for one value a node"):
        vi.simulate(driven(np.zeros(7)), 1.0, 0.01)


def test_cases_cover_the_registry():
    tested = {type(force).__name__ for force, _ in CASES.values()} | {type(gear()).__name__, "CoordinateMap"}
    assert tested == {name for name, force in FORCES.items() if issubclass(force, Coupled)}


@pytest.mark.slow
def test_gear_trains_take_linear_memory():
    """Each chain of rows is a node of its own: the matrix of the closures is banded."""

    def entries(n):
        bodies, joints, forces = [], [], []
        for k in range(n):
            body, pivot = pendulum(f"wheel {k}", float(k))
            bodies.append(body)
            joints.append(pivot)
            if k:
                pair_ = {"joint_a": f"wheel {k - 1} pivot", "joint_b": f"wheel {k} pivot"}
                forces.append(vi.Gear(f"gear {k}", **pair_, radius_a=0.5, radius_b=0.5))
        train = vi.Mechanism("train", bodies, joints, forces=forces)
        assert train.diagnose().mobility == 1
        run = vi.simulate(train, 0.1, 0.01, state=train.state(rates={"wheel 0 pivot": 3.0}))
        q = run.coordinates
        np.testing.assert_allclose(q[f"wheel {n - 1} pivot"], (-1) ** (n - 1) * q["wheel 0 pivot"], atol=1e-11)
        return train.compiled.plan.loops.row_start[-1]

    assert entries(40) < 5 * entries(10)


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


def crank(x):
    """Of an angle: where a slider-crank of 0.2 and 0.5 m has its slider."""
    s, c = np.sin(x), np.cos(x)
    root = np.sqrt(0.25 - 0.04 * s * s)
    slope = -0.2 * s - 0.04 * s * c / root
    return 0.2 * c + root, slope, -0.2 * c - 0.04 * (c * c - s * s) / root - 0.04**2 * s * s * c * c / root**3


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
    with pytest.raises(vi.MechanismError, match="needs matrix= or functions=, one of the two"):
        vi.CoordinateMap("m", coordinates=places)
    with pytest.raises(vi.MechanismError, match="3 coordinates, 1 functions"):
        vi.CoordinateMap("m", coordinates=places, functions=[wave])
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
