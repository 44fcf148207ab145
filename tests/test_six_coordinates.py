"""Composites of six coordinates, which forbid nothing: what acts along their coordinates acts, as in MuJoCo."""

import numpy as np
import pytest

import varint as vi

AXES = ("1 0 0", "0 1 0", "0 0 1")
SLIDES = "".join(f'<joint name="s{k}" type="slide" axis="{axis}" OF_SLIDES/>' for k, axis in enumerate(AXES))
HINGES = "".join(f'<joint name="h{k}" axis="{axis}" OF_TURNS/>' for k, axis in enumerate(AXES))
BALL = '<joint name="h" type="ball" OF_TURNS/>'
BESIDE = (
    '<body name="b" pos="2 0 0"><joint name="p" axis="1 0 0" damping="1"/><joint name="q" axis="0 1 0" damping="1"/>'
    '<geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/></body>'
)


def text_of(turns=HINGES, of_slides='damping=".5"', of_turns='damping=".5"', beside="", end=""):
    """Return a model of one body on three slides and ``turns``, with these attributes."""
    joints = (SLIDES + turns).replace("OF_SLIDES", of_slides).replace("OF_TURNS", of_turns)
    body = f'<body name="a">{joints}<geom size=".1" type="box" pos=".1 .02 0"/></body>'.replace(
        'size=".1"', 'size=".1 .2 .3"'
    )
    return f'<mujoco><option timestep="1e-4"/><worldbody>{body}{beside}</worldbody>{end}</mujoco>'


def compared(tmp_path, text):
    """Return accelerations of the first body by MuJoCo, at its centre, and by varint, at a state of random rates."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "six.xml"
    path.write_text(text)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.qvel[:] = rates = np.random.default_rng(0).uniform(-1.0, 1.0, model.nv)
    mujoco.mj_forward(model, data)
    mechanism = vi.load_mechanism(path)
    names = [joint.name for joint in mechanism.joints]
    state = mechanism.state(rates=dict(zip(names, np.split(rates, [6])[: len(names)], strict=True)))
    offset, turning = data.xipos[1] - data.xpos[1], data.qvel[3:6]
    expected = data.qacc[:3] + np.cross(data.qacc[3:6], offset) + np.cross(turning, np.cross(turning, offset))
    return expected, vi.accelerations(mechanism, state).linear[0], mechanism


@pytest.mark.parametrize("beside", ["", BESIDE], ids=["alone", "beside hinges"])
def test_damping_along_six_coordinates(tmp_path, beside):
    """The numbers of the report of this fault, for a ball of 0.1 m: not a free fall."""
    text = text_of(beside=beside).replace('size=".1 .2 .3" type="box" pos=".1 .02 0"', 'size=".1"')
    expected, reached, _ = compared(tmp_path, text)
    assert np.abs(expected - (-0.03269719, 0.05495937, -9.7004155)).max() < 1e-7
    assert np.abs(reached - expected).max() < 1e-9


def test_springs_and_servos_along_six_coordinates(tmp_path):
    end = '<actuator><position joint="h1" kp="3"/></actuator>'
    text = text_of(of_slides='damping=".5" ref=".1" stiffness="20"', of_turns='stiffness="4" damping=".2"', end=end)
    mechanism = compared(tmp_path, text)[2]
    kinds = [type(force).__name__ for force in mechanism.forces]
    assert kinds.count("TorsionSpring") == 6
    assert kinds.count("JointDamper") == 6
    run = vi.simulate(mechanism, 0.2, 1e-3)
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "six.xml"))
    data = mujoco.MjData(model)
    while data.time < 0.2 - 1e-9:
        mujoco.mj_step(model, data)
    assert np.abs(run.position[-1, 0] - data.xipos[1]).max() < 2e-4


def test_stops_of_six_coordinates_hold(tmp_path):
    """The body falls onto the stop of its upright slide and stays."""
    pytest.importorskip("mujoco")
    limited = SLIDES.replace('axis="0 0 1" OF_SLIDES', 'axis="0 0 1" range="-.05 1"')
    text = text_of().replace(SLIDES.replace("OF_SLIDES", 'damping=".5"'), limited.replace("OF_SLIDES", 'damping=".5"'))
    path = tmp_path / "stop.xml"
    path.write_text(text.replace('pos=".1 .02 0"', ""))
    run = vi.simulate(vi.load_mechanism(path), 0.5, 2e-3)
    assert run.position[:, 0, 2].min() > -0.0501
    assert run.position[-1, 0, 2] == pytest.approx(-0.05, abs=1e-3)


def test_armature_and_friction_along_six_coordinates(tmp_path):
    """Accelerations of a box whose slides have armatures: the slides see mass and armature, and damping."""
    pytest.importorskip("mujoco")
    text = text_of(of_slides='armature="3"', of_turns='damping=".1"').replace('pos=".1 .02 0"', "")
    path = tmp_path / "six.xml"
    path.write_text(text)
    mechanism = vi.load_mechanism(path)
    mass = mechanism.body("a").mass
    fall = vi.accelerations(mechanism, mechanism.state()).linear[0]
    assert fall == pytest.approx((0.0, 0.0, -9.81 * mass / (mass + 3.0)), rel=1e-9, abs=1e-9)


def test_three_slides_and_a_ball(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "ball.xml"
    path.write_text(text_of(BALL, of_turns=""))
    mechanism = vi.load_mechanism(path)
    assert vi.accelerations(mechanism, mechanism.state()).linear[0] == pytest.approx((0.0, 0.0, -9.81), abs=1e-9)
    run = vi.simulate(mechanism, 0.2, 1e-2)
    mass = mechanism.bodies[0].mass
    fallen = mass * 9.81 / 0.5 * (0.2 - mass / 0.5 * (1.0 - np.exp(-0.5 * 0.2 / mass)))
    assert run.position[0, 0, 2] - run.position[-1, 0, 2] == pytest.approx(fallen, rel=1e-4)


def test_reduced_coordinates_take_six_along_a_composite():
    """Both ways to simulate agree on a body on six dampers, and with the closed form of what slides."""
    slides = [{"type": "Prismatic", "axis": axis} for axis in np.eye(3).tolist()]
    turns = [{"type": "Revolute", "axis": axis} for axis in np.eye(3).tolist()]
    body = vi.Body.box("a", (0.1, 0.2, 0.3), 1.0)
    joint = vi.Composite("six", "world", "a", point=(0.0, 0.0, 0.0), parts=[*slides, *turns])
    dampers = [vi.JointDamper(f"d{k}", joint="six", damping=0.5 if k < 3 else 0.01, coordinate=k) for k in range(6)]
    mechanism = vi.Mechanism("m", [body], [joint], forces=dampers)
    state = mechanism.state(rates={"six": [0.3, -0.2, 0.1, 0.4, 0.5, -0.3]})
    mass = mechanism.bodies[0].mass
    slid = 0.3 * mass / 0.5 * (1.0 - np.exp(-0.5 * 0.2 / mass))
    run = vi.simulate(mechanism, 0.2, 1e-3, state=state)
    reduced = vi.redmax.simulate(mechanism, 0.2, dt=1e-3, state=state)
    assert run.position[-1, 0, 0] == pytest.approx(slid, rel=1e-5)
    assert reduced.position[-1, 0, 0] == pytest.approx(slid, rel=1e-5)
    assert np.abs(run.coordinates["six"][-1] - reduced.coordinates["six"][-1]).max() < 1e-5
