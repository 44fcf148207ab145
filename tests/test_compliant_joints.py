"""Joints with a compliance: rows that are stiff springs, rigid ones in the limit."""

from dataclasses import replace

import numpy as np
import pytest

import varint as vi
from varint.model.joints import REGISTRY
from varint.model.joints.base import ProductJoint

AXIS = {"point": (0, 0, 0), "axis": (0, 1, 0)}
KINDS = {
    "Cylindrical": AXIS,
    "Fixed": {},
    "PlanarTranslation": AXIS,
    "Planar": AXIS,
    "PointOnLine": AXIS,
    "PointOnPlane": AXIS,
    "Prismatic": AXIS,
    "Revolute": AXIS,
    "Rod": {"point": (0, 0, 1), "point_b": (0, 0, 0)},
    "Spherical": {"point": (0, 0, 0)},
    "Translational": {},
    "Universal": AXIS | {"axis_b": (1, 0, 0)},
}
STEEL = 1e-9  # m/N, rad/(N m)


def soft(mechanism, compliance, damping_time=None, names=None):
    """The mechanism with that compliance in all joints, or in those of ``names``."""
    chosen = [joint.name for joint in mechanism.joints] if names is None else names
    joints = [
        replace(joint, compliance=compliance, damping_time=damping_time) if joint.name in chosen else joint
        for joint in mechanism.joints
    ]
    return replace(mechanism, joints=joints)


def pendulum(compliance=None, damping_time=None):
    """Two rods of 1 m, 1 kg, from horizontal."""
    bodies = [vi.Body.rod(name, (k, 0, 0), (k + 1, 0, 0), mass=1.0, radius=0.02) for k, name in enumerate("ab")]
    joints = [
        vi.Revolute(f"pin {k}", a, b, point=(k, 0, 0), axis=(0, 1, 0), compliance=compliance, damping_time=damping_time)
        for k, (a, b) in enumerate([("world", "a"), ("a", "b")])
    ]
    return vi.Mechanism("pendulum", bodies, joints)


def apart(one, other):
    """m, the largest distance of the bodies at any node."""
    return np.abs(one.position - other.position).max()


def test_every_kind_of_joint_is_here():
    assert set(KINDS) == {name for name, kind in REGISTRY.items() if not issubclass(kind, ProductJoint)} - {"Free"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_rigid_motion_is_the_limit(kind):
    """The error is in proportion to the compliance."""
    body = vi.Body.box("one", (0.1, 0.2, 0.3), 1.0, position=(0.2, 0.1, -0.3))
    joint = REGISTRY[kind]("joint", "world", "one", **KINDS[kind])
    rigid = vi.Mechanism("one", [body], [joint])
    start, speeds = rigid.state(), (np.array([[0.5, 0.3, 0.2]]), np.array([[1.0, 2.0, -1.0]]))
    state = rigid.assemble(vi.State(start.position, start.quat_wxyz, *speeds))
    run = vi.simulate(rigid, 0.1, 1e-3, state=state, tol=1e-12)
    errors = []
    for compliance in (1e-7, 1e-8):
        other = vi.simulate(soft(rigid, compliance), 0.1, 1e-3, state=state, tol=1e-12, on_unresolved="ignore")
        errors.append(apart(run, other) + np.abs(run.quat_wxyz - other.quat_wxyz).max())
    assert errors[0] < 1e-4
    assert errors[1] < 0.12 * errors[0] + 1e-13


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bricard"])
def test_loops_of_steel(name):
    """1e9 N/m at 1 ms: the motion of the rigid loop, and at most one more iteration a step."""
    rigid = getattr(vi.mechanisms, name)()
    run, steel = (vi.simulate(mechanism, 0.5, 1e-3) for mechanism in (rigid, soft(rigid, STEEL)))
    assert apart(run, steel) < 1e-6
    assert steel.newton_iterations <= run.newton_iterations + 500
    assert np.abs(steel.energy_balance).max() <= 1.1 * np.abs(run.energy_balance).max()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "more", "steps"),
    [
        ("klann_leg", 0.2, 300),
        ("ratchet", 0.3, 240),  # up to where its pawl catches
        ("minitaur_landing", 0.7, 300),
        ("governor", 0.8, 300),  # its dampers lead, see tests/test_strong_damping.py
        ("four_bar", 0.1, 300),
        ("n_pendulum", 0.1, 300),
        ("double_pendulum", 0.07, 300),
    ],
)
def test_start_values_follow_the_ringing(name, more, steps):
    """So many more iterations a step, though stiff joints ring undamped, under forces of some 100 N from the start."""
    rigid = getattr(vi.mechanisms, name)()
    names = [joint.name for joint in rigid.joints if type(joint).__name__ in KINDS]
    run, steel = (
        vi.simulate(mechanism, 1e-3 * steps, 1e-3, on_unresolved="ignore")
        for mechanism in (rigid, soft(rigid, STEEL, None, names))
    )
    assert steel.newton_iterations <= run.newton_iterations + more * steps


def test_steps_that_fail_are_reported():
    """Of a loop of compliant joints, whose rows are no constraints."""
    mechanism = soft(vi.mechanisms.four_bar(), STEEL)
    state = mechanism.state(rates={"crank pivot": 1e7})
    with pytest.raises(vi.ConvergenceError, match="could not be"):
        vi.simulate(mechanism, 0.1, 1e-3, state=state)


def test_one_soft_joint_of_a_loop():
    rigid = vi.mechanisms.four_bar()
    run = vi.simulate(rigid, 0.5, 1e-3)
    errors = [apart(vi.simulate(soft(rigid, c, names=["rocker pin"]), 0.5, 1e-3), run) for c in (1e-7, 1e-8)]
    assert errors[1] == pytest.approx(0.1 * errors[0], rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("order", "damping_time"), [(2, None), (2, 1e-3), (4, None)])
def test_order_in_time(order, damping_time):
    mechanism = pendulum(1e-3, damping_time)
    exact = vi.simulate(mechanism, 0.2, 2e-4, order=6).position[-1]
    ends = [vi.simulate(mechanism, 0.2, 0.2 / n, order=order).position[-1] for n in (100, 200)]
    errors = [np.abs(end - exact).max() for end in ends]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def test_against_a_bushing_in_reduced_coordinates():
    """A ball of 1e4 N/m is six free coordinates with a bushing along three."""
    body = vi.Body.rod("rod", (0, 0, 0), (1, 0, 0), mass=1.0, radius=0.1)
    ball = vi.Spherical("ball", "world", "rod", point=(0, 0, 0), compliance=1e-4, damping_time=1e-3)
    bushing = vi.Bushing(
        "b", "world", "rod", point=(0, 0, 0), stiffness=[1e4] * 3 + [0] * 3, damping=[10.0] * 3 + [0] * 3
    )
    free = vi.Mechanism("free", [body], [vi.Free("free", "world", "rod")], forces=[bushing])
    exact = vi.redmax.simulate(free, 0.3, dt=0.3, rtol=1e-10).position[-1]
    one = vi.Mechanism("one", [body], [ball])
    errors = [np.abs(vi.simulate(one, 0.3, 0.3 / n).position[-1] - exact).max() for n in (300, 600)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("compliance", [1e-4, (1e-4, 1e-4, 0, 0, 0)])
@pytest.mark.parametrize("name", ["four_bar", "double_pendulum"])
def test_reduced_coordinates(name, compliance):
    """The steps in maximal coordinates approach them at order 2, with all rows compliant or some of them."""
    rigid = getattr(vi.mechanisms, name)()
    mechanism = soft(rigid, compliance, 1e-3)
    run = vi.redmax.simulate(mechanism, 0.1, dt=0.05, rtol=1e-9)
    assert np.abs(run.energy_balance).max() < 1e-8 * run.kinetic.max()
    errors = [np.abs(vi.simulate(mechanism, 0.1, 0.1 / n).position[-1] - run.position[-1]).max() for n in (200, 400)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    fine = vi.simulate(mechanism, 0.1, 1e-4)
    joint = mechanism.joints[0].name
    assert run.reactions[joint].force[-1] == pytest.approx(fine.reactions[joint].force[-1], abs=2e-3)
    assert run.coordinates[joint][-1] == pytest.approx(fine.coordinates[joint][-1], abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "dt"), [("sdirk2", 5e-4), ("bdf2", 5e-4), ("gauss", 5e-4), ("rk4", 1.25e-4)])
def test_other_integrators_in_reduced_coordinates(integrator, dt):
    mechanism = pendulum(1e-3, 1e-3)
    exact = vi.redmax.simulate(mechanism, 0.1, dt=0.1, rtol=1e-10).position[-1]
    run = vi.redmax.simulate(mechanism, 0.1, dt, integrator=integrator)
    assert np.abs(run.position[-1] - exact).max() < 1e-5


def test_rigid_joints_are_the_limit_in_reduced_coordinates():
    run = vi.redmax.simulate(pendulum(), 0.1, dt=0.1, rtol=1e-9)
    errors = [
        apart(vi.redmax.simulate(pendulum(c, 1e-3), 0.1, dt=0.1, integrator="radau", rtol=1e-9), run)
        for c in (1e-6, 1e-7)
    ]
    assert errors[1] == pytest.approx(0.1 * errors[0], rel=0.1)


def test_prescribed_compliant_joints_in_reduced_coordinates():
    drive = vi.PrescribedMotion("drive", joint="pin 0", rate=1.0)
    with pytest.raises(vi.ArgumentError, match="'pin 0' has a compliance, and so six free coordinates"):
        vi.redmax.simulate(replace(pendulum(1e-6), forces=[drive]), 0.1)
    with pytest.raises(vi.ArgumentError, match="'pin 0' has a compliance, and so six free coordinates"):
        vi.redmax.simulate(pendulum(1e-6), 0.1, prescribed={"pin 0": lambda t: (t, 1.0, 0.0)})


def slider(compliance, damping_time):
    """A body of 2 kg whose place along x is a compliant row."""
    plane = vi.PointOnPlane(
        "plane", "world", "body", point=(0, 0, 0), axis=(1, 0, 0), compliance=compliance, damping_time=damping_time
    )
    return vi.Mechanism("slider", [vi.Body.sphere("body", 0.1, 2.0)], [plane], gravity=(0, 0, 0))


@pytest.mark.slow
def test_the_row_of_notes_0_9():
    """Its velocities v' = v + h f / m, f at x + h/2 v' with v': m 2, alpha 1e-3, beta 0.01, h 0.05, x 0.1, v 0.3."""
    mechanism, h, x, v, places = slider(1e-3, 0.01), 0.05, 0.1, 0.3, [0.1]

    def pushed(v):
        state = mechanism.state()
        state = vi.State(
            state.position + (x + 0.5 * h * v, 0, 0), state.quat_wxyz, np.array([[v, 0, 0]]), np.zeros((1, 3))
        )
        return float(vi.accelerations(mechanism, state).linear[0, 0])

    for _ in range(4):
        slope = pushed(1.0) - pushed(0.0)
        v = (v + h * pushed(0.0)) / (1.0 - h * slope)
        x += h * v
        places.append(x)
    assert places == pytest.approx([0.1, 0.04133, -0.01751, -0.03722, -0.02292], abs=5e-6)


def test_a_step():
    """m v' = m v + h/2 f with f = -((x + x') / 2 + beta v') / alpha."""
    mechanism, h, x, v = slider(1e-3, 0.01), 0.05, 0.1, 0.3
    state = mechanism.state()
    state = vi.State(state.position + (x, 0, 0), state.quat_wxyz, np.array([[v, 0, 0]]), np.zeros((1, 3)))
    run = vi.simulate(mechanism, h, h, state=state)
    v = (2 * v - 0.5 * h * x / 1e-3) / (2 + 0.5 * h * (0.5 * h + 0.01) / 1e-3)
    assert run.position[-1, 0, 0] == pytest.approx(x + h * v, rel=1e-12)


def test_energy_holds():
    """Potential and kinetic energy of a soft double pendulum, without trend."""
    run = vi.simulate(pendulum(1e-4), 20.0, 1e-3, every=10)
    assert np.abs(run.energy_balance).max() < 3e-4 * run.kinetic.max()
    assert not vi.energy_trend(run).significant
    assert run.forces_along.potential.max() > 1e-3


@pytest.mark.slow
def test_reactions_are_those_of_rigid_joints():
    """Once the ringing of an unloaded start has died down; damping of half a step shows them half a step late."""
    state = pendulum().state(rates={"pin 0": 1.0, "pin 1": -3.0})
    run, steel = (vi.simulate(m, 0.3, 1e-3, state=state) for m in (pendulum(), pendulum(1e-10, 5e-4)))
    for joint in ("pin 0", "pin 1"):
        for quantity in ("force", "torque"):
            rigid, compliant = (getattr(each.reactions[joint], quantity)[20:] for each in (run, steel))
            assert compliant == pytest.approx(rigid, abs=0.1)


def test_rows_of_zero_compliance_are_rigid():
    zero, rigid = (vi.simulate(each, 0.1, 1e-3) for each in (pendulum(0.0), pendulum()))
    assert np.array_equal(zero.position, rigid.position)
    mechanism = pendulum([1e-3, 1e-3, 0, 0, 0])
    assert mechanism.rows == 6
    run = vi.simulate(mechanism, 0.3, 1e-3)
    assert run.drift.max() < 1e-10
    assert apart(run, vi.simulate(pendulum(), 0.3, 1e-3)) > 1e-3


@pytest.mark.slow
def test_modes():
    """A body on springs of 1e5 N/m: 1 / 2 pi sqrt(k / m) in three directions."""
    body = vi.Body.box("box", (0.1, 0.2, 0.3), 2.0)
    weld = vi.Fixed("weld", "world", "box", compliance=1e-5)
    found = vi.modes(vi.Mechanism("box", [body], [weld])).frequency
    assert np.sum(np.isclose(found, np.sqrt(1e5 / 2.0) / (2 * np.pi), rtol=1e-6)) == 3


@pytest.mark.parametrize("suffix", ["json", "toml", "urdf"])
def test_files(suffix, tmp_path):
    mechanism = pendulum([1e-6, 1e-6, 0, 0, 0], 1e-3)
    vi.save_mechanism(mechanism, tmp_path / f"m.{suffix}")
    again = vi.load_mechanism(tmp_path / f"m.{'toml' if suffix == 'urdf' else suffix}")
    one, other = vi.simulate(mechanism, 0.1, 1e-3), vi.simulate(again, 0.1, 1e-3)
    order = [again.body_index[body.name] for body in mechanism.bodies]
    assert np.abs(one.position - other.position[:, order]).max() < 1e-12


def test_run_files(tmp_path):
    run = vi.simulate(pendulum(1e-6, 1e-3), 0.1, 1e-3)
    run.save(tmp_path / "run.h5")
    assert np.array_equal(vi.load(tmp_path / "run.h5").energy, run.energy)


def test_forces_and_copies():
    """One force for each soft joint, before those that were given, in copies too."""
    damper = vi.JointDamper("damper", joint="pin 1", damping=0.1)
    mechanism = replace(pendulum(1e-6), forces=[damper])
    names = ["pin 0 compliance", "pin 1 compliance", "damper"]
    assert [force.name for force in mechanism.forces] == names
    assert [force.name for force in replace(mechanism, gravity=(0, 0, 0)).forces] == names
    assert mechanism.rigid_twin.forces == (damper,)
    assert mechanism.rigid_twin.rows == 10
    assert mechanism.rows == 0


REVOLUTE = {"name": "pin", "body_a": "a", "body_b": "b", "point": (0, 0, 0), "axis": (0, 0, 1)}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: vi.Revolute(**REVOLUTE, compliance=-1.0),
            "compliance of revolute joint 'pin' must be zero or positive",
        ),
        (lambda: vi.Revolute(**REVOLUTE, compliance=(1, 2)), r"a number or an array of numbers of shape \(5,\), got"),
        (lambda: vi.Revolute(**REVOLUTE, damping_time=1.0), "damping_time of revolute joint 'pin' needs compliance="),
        (
            lambda: vi.Revolute(**REVOLUTE, compliance=1.0, damping_time=-1.0),
            "damping_time of revolute joint 'pin' must",
        ),
        (lambda: vi.Free("free", "a", "b", compliance=1.0), "free joint 'free' has no rows: leave out compliance"),
        (lambda: vi.Helical(**REVOLUTE, lead=1.0, compliance=1.0), "helical joint 'pin' takes no compliance"),
        (
            lambda: vi.Composite("c", "a", "b", point=(0, 0, 0), parts=[{"type": "Spherical", "compliance": 1.0}]),
            "no 'compliance', it is that of the composite",
        ),
    ],
)
def test_wrong_input(make, message):
    with pytest.raises(vi.MechanismError, match=message):
        make()


@pytest.mark.parametrize(
    "use",
    [
        lambda mechanism: vi.redmax.simulate(mechanism, 0.1, 1e-3, integrator="euler"),
        lambda mechanism: vi.EquationsOfMotion(mechanism),
    ],
)
def test_what_has_no_such_rows(use):
    with pytest.raises(vi.ArgumentError, match="compliance of joint 'pin 0' makes rows of a joint springs"):
        use(pendulum(1e-6))


def test_diagnosis_takes_compliant_joints_for_rigid():
    rigid = vi.mechanisms.four_bar()
    joints = [replace(j, compliance=1e-6) if j.name == "rocker pin" else j for j in rigid.joints]
    found, expected = replace(rigid, joints=joints).diagnose(), rigid.diagnose()
    assert (found.mobility, found.redundancy) == (expected.mobility, expected.redundancy)
    assert "nan" not in str(found)
