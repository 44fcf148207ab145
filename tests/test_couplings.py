"""Couplings of joint coordinates and prescribed motions: closed forms, order, work, momenta, states, errors."""

import dataclasses

import numpy as np
import pytest
from coupled_pendulums import G, rig
from scipy.integrate import solve_ivp

import varint as vi
from varint.model.forces import FORCES
from varint.model.forces.coupled import Coupled

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


def test_three_hinges_in_a_row_with_a_rotor_each_are_driven_far():
    """An open joint is as far from the other branch of its three angles, which must not be taken on the way."""
    parts = [{"type": "Revolute", "axis": axis} for axis in ((1, 0, 0), (0, 0, 1), (0, 1, 0))]
    inertia, names = 0.01 * np.eye(3), [f"rotor {k}" for k in range(3)]
    mechanism = vi.Mechanism(
        "leg with rotors",
        [
            vi.Body("leg", mass=1.0, inertia=inertia, position=(0, 0, -0.3)),
            *(vi.Body(name, mass=0.01, inertia=inertia, position=(1, 0, 0)) for name in names),
        ],
        [
            vi.Composite("hip", "world", "leg", parts=parts, point=(0, 0, 0)),
            *(vi.Revolute(name, "world", name, point=(1, 0, 0), axis=(0, 0, 1)) for name in names),
        ],
        forces=[vi.Coupling(f"gear {k}", terms=[("hip", k, 1.0), (name, 0, -1.0)]) for k, name in enumerate(names)],
    )
    angles = np.array([-0.25, -0.5, -2.5])
    run = vi.simulate(mechanism, 0.01, 0.001, state=mechanism.state(coordinates={"hip": angles}))
    np.testing.assert_allclose(run.coordinates["hip"][0], angles, atol=1e-12)
    driven = np.stack([run.coordinates[name] for name in names], axis=1)
    np.testing.assert_allclose(driven, run.coordinates["hip"], atol=1e-11)


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
    start = four_bar.replace(start={}).state()
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


@pytest.mark.slow
def test_coordinates_that_satisfy_the_couplings_need_no_solution(monkeypatch):
    """Time of starts in robots with many rotors: a chain of hinges, each with a rotor, at coordinates of all joints."""
    bodies, joints, forces = [], [], []
    for k in range(12):
        bodies.append(vi.Body(f"link {k}", mass=1.0, inertia=0.1 * np.eye(3), position=(k + 0.5, 0, 0)))
        joints.append(
            vi.Revolute(
                f"hinge {k}", bodies[k - 1].name if k else "world", f"link {k}", point=(k, 0, 0), axis=(0, 1, 0)
            )
        )
    for k in range(12):
        bodies.append(vi.Body(f"rotor {k}", mass=0.1, inertia=0.01 * np.eye(3)))
        joints.append(vi.Revolute(f"rotor {k}", "world", f"rotor {k}", point=(0, 0, 0), axis=(0, 0, 1)))
        forces.append(vi.Coupling(f"gear {k}", terms=[(f"hinge {k}", 0, 3.0), (f"rotor {k}", 0, -1.0)]))
    mechanism = vi.Mechanism("chain", bodies, joints, forces=forces)
    angles = {f"hinge {k}": 0.02 * (k + 1) for k in range(12)} | {f"rotor {k}": 0.06 * (k + 1) for k in range(12)}
    with monkeypatch.context() as patch:
        patch.setattr("varint.kinematics.closure.Closure.close", None)
        state = mechanism.state(coordinates=angles)
    assert mechanism.coordinates(state)["rotor 11"] == pytest.approx(0.72, abs=1e-12)
    # half a turn more than the hinge has: the pose alone agrees, the turns do not
    with pytest.raises(vi.AssemblyError):
        mechanism.state(coordinates=angles | {"rotor 0": 0.06 + 2 * np.pi})
