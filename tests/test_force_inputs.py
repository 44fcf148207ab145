"""Descriptions and inputs of forces: clear errors, motors and controllers, files."""

import dataclasses
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from force_samples import KINDS, one_of_each, with_forces, with_measure
from poses import arrays_of
from random_mechanisms import random_tree

import varint as vi

NODES = ("t", "position", "quat_wxyz", "velocity", "angular_velocity", "work", "command")

# inputs and errors


def arm():
    """A slider that carries a hinge and, on it, a ball joint."""
    bodies = [vi.Body.box(n, (0.1, 0.1, 0.1), 1.0, position=(0, 0, -k)) for k, n in enumerate("abc")]
    joints = [
        vi.Prismatic("slide", "world", "a", point=(0, 0, 0), axis=(1, 0, 0)),
        vi.Revolute("hinge", "a", "b", point=(0, 0, -0.5), axis=(0, 1, 0)),
        vi.Spherical("ball", "b", "c", point=(0, 0, -1.5)),
        vi.Fixed("weld", "a", "b", point=(0, 0, 0)),
    ]
    return vi.Mechanism("arm", bodies, joints[:3]), vi.Mechanism("welded", bodies, [*joints[:1], joints[3], joints[2]])


ENDS = {"point_a": (0, 0, 0), "point_b": (0, 0, -1)}


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (lambda: vi.Spring("s", "a", "b", **ENDS, stiffness=-1), ("spring 's'", "stiffness", "-1")),
        (lambda: vi.Spring("s", "a", "b", **ENDS, stiffness=1, damping=-2), ("spring 's'", "damping", "-2")),
        (lambda: vi.Spring("s", "a", "b", **ENDS, stiffness=1, rest_length=-1), ("spring 's'", "rest_length")),
        (lambda: vi.Spring("s", "a", "b", **ENDS, stiffness=np.nan), ("spring 's'", "stiffness", "finite")),
        (lambda: vi.Spring("s", "a", "b", **ENDS, stiffness=(1, 2)), ("spring 's'", "stiffness", "number")),
        (lambda: vi.Spring("s", "a", "b", **ENDS, stiffness="stiff"), ("spring 's'", "stiffness", "stiff")),
        (lambda: vi.Spring("s", "a", "a", **ENDS, stiffness=1), ("spring 's'", "'a'", "itself")),
        (lambda: vi.Spring("s", "a", "bb", **ENDS, stiffness=1), ("spring 's'", "'bb'", "did you mean")),
        (lambda: vi.Spring("s", "a", "b", point_a=(0, 0), point_b=(0, 0, 1), stiffness=1), ("spring 's'", "point_a")),
        (lambda: vi.Cable("c", "a", "b", **ENDS, stiffness=-1), ("cable 'c'", "stiffness", "-1")),
        (lambda: vi.TorsionSpring("t", joint="hinge", stiffness=-3), ("torsionspring 't'", "stiffness", "-3")),
        (lambda: vi.TorsionSpring("t", joint="hnge", stiffness=3), ("torsionspring 't'", "'hnge'", "'hinge'")),
        (
            lambda: vi.TorsionSpring("t", joint="hinge", coordinate=1, stiffness=3),
            ("'t'", "'hinge'", "no coordinate 1"),
        ),
        (lambda: vi.TorsionSpring("t", joint="hinge", coordinate=-1, stiffness=3), ("'t'", "no coordinate -1")),
        (
            lambda: vi.TorsionSpring("t", joint="hinge", coordinate="x", stiffness=3),
            ("'t'", "coordinate", "a whole number", "'x'"),
        ),
        (lambda: vi.TorsionSpring("t", joint="hinge", coordinate=[0], stiffness=3), ("'t'", "coordinate")),
        (lambda: vi.JointDamper("d", joint="hinge", damping=-1), ("jointdamper 'd'", "damping", "-1")),
        (lambda: vi.JointFriction("f", joint="hinge", effort=-1), ("jointfriction 'f'", "effort", "-1")),
        (lambda: vi.JointFriction("f", joint="hinge", effort=1, smoothing=0), ("jointfriction 'f'", "smoothing")),
        (lambda: vi.JointStop("l", joint="hinge", stiffness=0), ("jointstop 'l'", "stiffness", "positive")),
        (lambda: vi.JointStop("l", joint="hinge", stiffness=1, lower=1, upper=1), ("jointstop 'l'", "lower", "upper")),
        (lambda: vi.JointStop("l", joint="hinge", stiffness=1, upper=np.nan), ("jointstop 'l'", "upper")),
        (lambda: vi.JointStop("l", joint="hinge", stiffness=1, lower="low"), ("jointstop 'l'", "lower", "low")),
        (lambda: vi.JointStop("l", joint="hinge", stiffness=1, upper=(1, 2)), ("jointstop 'l'", "upper")),
        (lambda: vi.JointServo("p", joint="hinge", target=0, stiffness=-1), ("jointservo 'p'", "stiffness", "-1")),
        (lambda: vi.JointServo("p", joint="hinge", target="up", stiffness=1), ("jointservo 'p'", "target", "up")),
        (lambda: vi.VelocityMotor("v", joint="hinge", speed=1, max_effort=-1), ("velocitymotor 'v'", "max_effort")),
        (lambda: vi.VelocityMotor("v", joint="hinge", speed=1, max_effort=1, smoothing=0), ("'v'", "smoothing")),
        (lambda: vi.VelocityMotor("v", joint="hinge", speed=np.inf, max_effort=1), ("velocitymotor 'v'", "speed")),
        (lambda: vi.Motor("m", joint="hinge", effort=np.nan), ("motor 'm'", "effort", "finite")),
        (lambda: vi.Motor("m", joint="hinge", effort=None), ("motor 'm'", "effort")),
        (lambda: vi.Motor("m", joint="hinge", effort=np.zeros((3, 2))), ("motor 'm'", "effort", "(3, 2)")),
        (lambda: vi.Motor("", joint="hinge", effort=1), ("force needs a name",)),
        (lambda: "not a force", ("expected a force",)),
    ],
)
def test_descriptions_that_are_no_force(force, words):
    with pytest.raises(vi.MechanismError) as caught:
        with_forces(arm()[0], force())
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_force_on_a_joint_without_coordinates():
    with pytest.raises(vi.MechanismError, match=r"jointdamper 'd': .*'weld' has no coordinate 0, it has none"):
        with_forces(arm()[1], vi.JointDamper("d", joint="weld", damping=1.0))


def test_two_forces_of_one_name():
    forces = [vi.JointDamper("d", joint=joint, damping=1.0) for joint in ("slide", "hinge")]
    with pytest.raises(vi.MechanismError, match="two forces are called 'd'"):
        with_forces(arm()[0], *forces)
    run = vi.simulate(with_forces(arm()[0], forces[0]), 0.1, 0.01)
    with pytest.raises(vi.MechanismError, match="no force 'dd', did you mean 'd'"):
        run.force["dd"]
    with pytest.raises(vi.MechanismError, match="no force 'dd', did you mean 'd'"):
        run.law_state["dd"]


def test_inputs_that_are_no_row_of_finite_numbers():
    with pytest.raises(vi.MechanismError, match="effort of motor 'm' must be finite, got nan"):
        vi.Motor("m", joint="hinge", effort=[0.0, np.nan])
    with pytest.raises(
        vi.MechanismError, match=r"effort of motor 'm' must be one number or one value a node, or a function, got"
    ):
        vi.Motor("m", joint="hinge", effort=np.zeros((11, 1)))


def test_input_of_the_wrong_length():
    for steps, shape in [(10, (10,)), (10, (12,)), (10, (1,))]:
        mechanism = with_forces(arm()[0], vi.Motor("m", joint="hinge", effort=np.zeros(shape)))
        with pytest.raises(vi.ArgumentError, match=r"effort of motor 'm' must be one number, or 11"):
            vi.simulate(mechanism, steps * 0.01, 0.01)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "finite"), (np.zeros(2), "shape"), (None, ""), ("x", "number")])
def test_controllers_that_return_no_number(value, word):
    """The error names the force and the time; one in a later step as well."""
    motor = vi.Motor("m", joint="hinge", effort=lambda t, state: value if t > 0.045 else 0.1)
    with pytest.raises(vi.ArgumentError, match=rf"effort of motor 'm' at t = 0\.05 s .*{word}"):
        vi.simulate(with_forces(arm()[0], motor), 0.1, 0.01)


def test_errors_of_functions_name_the_force():
    """Of a function of the wrong signature, and of one that fails later; of the state, and of the time alone."""
    for function, problem in [(lambda: 0.0, TypeError), (lambda t, state: 1.0 / (t < 0.045), ZeroDivisionError)]:
        motor = vi.Motor("m", joint="hinge", effort=function)
        with pytest.raises(problem) as caught:
            vi.simulate(with_forces(arm()[0], motor), 0.1, 0.01)
        assert "effort of motor 'm' at t = " in caught.value.__notes__[0]
        assert "f(t, state)" in caught.value.__notes__[0]
    motion = vi.PrescribedMotion("p", joint="hinge", position=lambda t, state: 0.0)
    with pytest.raises(TypeError) as caught:
        vi.simulate(with_forces(arm()[0], motion), 0.1, 0.01)
    assert "position of prescribedmotion 'p' at t = " in caught.value.__notes__[0]
    assert caught.value.__notes__[0].endswith("f(t)")


def test_controller_sees_the_nodes_and_equals_the_numbers_it_returns():
    """A function's value is held over the step that begins there; constant steps at half a node either way agree."""
    seen = []

    def effort(t, state):
        seen.append((t, state.position.copy(), state.velocity.copy()))
        return 0.4

    both = [
        with_forces(arm()[0], vi.Motor("m", joint="hinge", effort=given), vi.JointDamper("d", joint="slide", damping=1))
        for given in (effort, 0.4)
    ]
    controlled, constant = (vi.simulate(mechanism, 0.5, 0.01, order=4) for mechanism in both)
    assert np.array_equal(controlled.position, constant.position)
    assert np.array_equal(controlled.work, constant.work)
    assert [t for t, *_ in seen] == pytest.approx(0.01 * np.arange(51))
    assert all(np.array_equal(x, controlled.position[k]) for k, (_, x, _) in enumerate(seen))
    assert all(np.array_equal(v, controlled.velocity[k]) for k, (_, _, v) in enumerate(seen))


def rotor(**motor):
    body = vi.Body.cylinder("rotor", radius=0.2, length=0.1, mass=5.0)
    hinge = vi.Revolute("hinge", "world", "rotor", point=(0, 0, 0), axis=(0, 0, 1))
    return vi.Mechanism("rotor", [body], [hinge], forces=[vi.VelocityMotor("drive", joint="hinge", **motor)])


@pytest.mark.slow
def test_velocity_motor_gives_all_it_has_and_then_holds_its_speed():
    """Of 0.1 kg m^2: at 0.2 N m the speed grows by 2 rad/s each second, up to 5 rad/s; without sub-steps."""
    coarse = {"on_unresolved": "ignore"}  # efforts at the nodes swing, see tests/test_steep_motors.py
    run = vi.simulate(rotor(speed=5.0, max_effort=0.2), 4.0, 0.01, **coarse)
    speed = run.angular_velocity[:, 0, 2]
    assert np.abs(speed - 2 * run.t)[run.t < 2.4].max() < 1e-12
    assert speed[-1] == pytest.approx(5.0, abs=2e-3)
    assert run.newton_iterations < 2.1 * run.steps
    assert run.substeps == 0
    assert np.abs(run.energy_balance).max() < 1e-3 * run.energy[-1]
    steps = np.where(run.t < 2, 1.0, -1.0)
    turned = vi.simulate(rotor(speed=steps, max_effort=2.0), 4.0, 0.01, **coarse)
    assert turned.angular_velocity[[199, -1], 0, 2] == pytest.approx([1.0, -1.0], abs=1e-3)
    follows = vi.simulate(rotor(speed=lambda t, state: np.sin(t), max_effort=2.0), 4.0, 0.01, **coarse)
    assert np.abs(follows.angular_velocity[:, 0, 2] - np.sin(follows.t)).max() < 0.011


def test_inputs_are_linear_between_nodes():
    """A motor's ramp against the closed form: a slider of mass 3 pushed by F = 2 t, at rest before."""
    ramp = 2.0 * np.linspace(0, 1, 101)
    mechanism = dataclasses.replace(
        with_forces(arm()[0], vi.Motor("push", joint="slide", effort=ramp)),
        bodies=arm()[0].bodies[:1],
        joints=arm()[0].joints[:1],
    )
    run = vi.simulate(mechanism, 1.0, 0.01)
    assert run.velocity[:, 0, 0] == pytest.approx(run.t**2, abs=1e-12)
    assert run.work[-1, 0] == pytest.approx(0.5, abs=1e-4)
    assert np.array_equal(run.work[run.mechanism.forces[0].name], run.work[:, 0])
    with pytest.raises(vi.MechanismError, match="no force 'shaft'"):
        run.work["shaft"]
    assert np.array_equal(run.force["push"], ramp)


# files


def test_json_keeps_every_force_to_the_bit(rng, tmp_path):
    mechanism = one_of_each(rng, random_tree(rng, 5), [*KINDS] * 2)
    series = vi.Motor("series", joint=with_measure(mechanism)[0][0], coordinate=np.int64(with_measure(mechanism)[0][1]),
                      effort=rng.standard_normal(21))  # fmt: skip
    limit = vi.JointStop(
        "one side", joint=with_measure(mechanism)[0][0], upper=np.float32(0.3), stiffness=np.float32(7.0)
    )
    mechanism = with_forces(mechanism, *mechanism.forces, series, limit)
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    read = vi.load_mechanism(tmp_path / "m.json")
    assert {type(force).__name__ for force in read.forces} == set(KINDS)
    for one, other in zip(mechanism.forces, read.forces, strict=True):
        assert type(one) is type(other)
        for field in dataclasses.fields(one):
            assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), (one.label, field.name)
    for one, other in zip(*(arrays_of(m.compiled.plan) for m in (mechanism, read)), strict=True):
        assert one.tobytes() == other.tobytes()
    runs = [vi.simulate(m, 0.2, 0.01) for m in (mechanism, read)]
    for name in NODES:
        assert np.array_equal(*(getattr(run, name) for run in runs))


def test_json_of_an_unknown_force(tmp_path):
    mechanism = with_forces(arm()[0], vi.JointDamper("d", joint="hinge", damping=1.0))
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text()
    for old, new, words in [
        ('"JointDamper"', '"JointDampr"', ("force 'd'", "'JointDampr'", "'JointDamper'?")),
        ('"damping": 1.0', '"damping": -1.0', ("jointdamper 'd'", "damping")),
        ('"damping"', '"dampening"', ("dampening",)),
    ]:
        assert old in text
        (tmp_path / "bad.json").write_text(text.replace(old, new))
        with pytest.raises(vi.MechanismError) as caught:
            vi.load_mechanism(tmp_path / "bad.json")
        assert all(word in str(caught.value) for word in ("bad.json", *words))


def test_functions_go_into_no_file(tmp_path):
    mechanism = with_forces(arm()[0], vi.Motor("m", joint="hinge", effort=lambda t, state: 0.0))
    with pytest.raises(vi.MechanismError, match="effort of motor 'm' is a function"):
        vi.save_mechanism(mechanism, tmp_path / "m.json")
    with pytest.raises(vi.VarintError, match="effort of motor 'm' is a function"):
        vi.simulate(mechanism, 0.1, 0.01, output=tmp_path / "run.h5")


BUILD = """
import numpy as np, varint as vi

def build(steps):
    mechanism = vi.mechanisms.double_pendulum()
    joint, other = mechanism.joint_index
    forces = [
        vi.TorsionSpring("spring", joint=joint, stiffness=3.0, rest_angle=7.0, damping=0.01),
        vi.Motor("motor", joint=other, effort=3 * np.sin(0.01 * np.arange(steps + 1))),
        vi.Cable("cable", "world", "link 2", point_a=(1, 0, 1), point_b=(0, 0, 0), stiffness=20.0, rest_length=1.5),
        vi.JointFriction("friction", joint=other, effort=0.2),
    ]
    return vi.Mechanism("forced", mechanism.bodies, mechanism.joints, forces=forces, start=mechanism.start)
"""


def built(steps):
    names = {}
    exec(BUILD, names)
    return names["build"](steps)


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 3])
def test_run_file_holds_forces(tmp_path, every):
    path = tmp_path / "run.h5"
    run = vi.simulate(built(300), 3.0, 0.01, output=path, every=every)
    read = vi.load(path)
    for name in (*NODES, "energy", "energy_balance"):
        assert np.array_equal(getattr(run, name), getattr(read, name))
    assert list(read.force) == ["spring", "motor", "cable", "friction"]
    for name in read.force:
        for what in ("force", "power", "dissipated"):
            assert np.array_equal(getattr(run, what)[name], getattr(read, what)[name])
    assert np.array_equal(read.command[:, 1], 3 * np.sin(0.01 * np.arange(0, 301, every)))
    assert np.abs(read.work[-1][[0, 1, 3]]).min() > 0  # the cable stays slack


@pytest.mark.slow
def test_killed_run_with_forces_goes_on_to_the_same_bits(tmp_path):
    """Also past the turns that its torsion spring has counted."""
    path, steps = tmp_path / "run.h5", 100_000
    script = BUILD + f"vi.simulate(build({steps}), {steps / 100}, 0.01, output={str(path)!r}, every=10)\n"
    process = subprocess.Popen([sys.executable, "-c", script])
    try:
        deadline = time.monotonic() + 200
        reached = 0
        while reached < 1000:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
            if path.exists():
                try:
                    reached = vi.load(path).steps
                except vi.FileError:  # not begun
                    continue
    finally:
        process.kill()
    assert process.wait() == -signal.SIGKILL
    assert vi.load(path).status == -1
    mechanism = built(steps)
    common = {"every": 10, "on_unresolved": "ignore"}  # the chain whips
    resumed = vi.simulate(mechanism, steps / 100, 0.01, output=path, resume=True, **common)
    whole = vi.simulate(mechanism, steps / 100, 0.01, **common)
    for name in NODES:
        assert np.array_equal(getattr(resumed, name), getattr(whole, name)), name
    assert np.abs(whole.coordinates[mechanism.joints[0].name]).max() > np.pi
    assert os.path.exists(path)


@pytest.mark.slow
def test_resume_refuses_other_forces(tmp_path):
    path = tmp_path / "run.h5"
    vi.simulate(built(50), 0.5, 0.01, output=path)
    other = with_forces(built(50), *built(50).forces[:3])
    with pytest.raises(vi.FileError, match="holds another run"):
        vi.simulate(other, 0.5, 0.01, output=path, resume=True)
