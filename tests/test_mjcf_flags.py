"""MJCF: what options disable, welds that hold a point, actuators with several controls, rotors at a key."""

import numpy as np
import pytest

import varint as vi

mujoco = pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
pytestmark = pytest.mark.slow  # `make test` does without MuJoCo
GEOM = '<geom size=".1" pos=".3 0 0"/>'


@pytest.fixture
def read(written):
    def read(inside, **options):
        return vi.load_mechanism(written(f"<mujoco>{inside}</mujoco>", "m.xml"), **options)

    return read


def accelerations(text):
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{text}</mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return data.qacc.copy()


LOST = '<joint name="j" axis="0 1 0" range="-10 10" limited="true" frictionloss=".5"/>'
EQUALITY = '<equality><joint joint1="j" polycoef=".2 0 0 0 0"/></equality>'


@pytest.mark.parametrize(
    ("flags", "kinds"),
    [
        ('constraint="disable"', set()),
        ('limit="disable"', {"JointFriction"}),
        ('frictionloss="disable"', {"JointStop"}),
        ("", {"JointStop", "JointFriction"}),
    ],
)
def test_disabled_constraints_are_left_out(read, flags, kinds):
    option = f"<option><flag {flags}/></option>"
    mech = read(f"{option}<worldbody><body>{LOST}{GEOM}</body></worldbody>")
    assert {type(force).__name__ for force in mech.forces} == kinds
    if not kinds:
        mech = read(f"{option}<worldbody><body>{LOST}{GEOM}</body></worldbody>{EQUALITY}")
        assert mech.joint("j").dof == 1
        assert vi.simulate(mech, 0.3, 1e-3).coordinates["j"][-1] == pytest.approx(1.3239, abs=1e-4)


@pytest.mark.parametrize(("disabled", "group"), [("1", 1), ("1 3", 3), ("2", 1), ("", 0)])
def test_groups_of_actuators(read, disabled, group):
    text = (
        f'<option actuatorgroupdisable="{disabled}"/><worldbody><body><joint name="j" axis="0 1 0" ref="20"/>{GEOM}'
        f'</body></worldbody><actuator><position joint="j" kp="50" group="{group}"/></actuator>'
    )
    mech = read(text)
    angular = vi.accelerations(mech, mech.state()).angular[0][1]
    assert angular == pytest.approx(accelerations(text)[0], rel=1e-9)


@pytest.mark.parametrize(("scale", "kind"), [("0", vi.Spherical), ("1", vi.Fixed), ("0.5", vi.Fixed)])
def test_torquescale_of_a_weld(read, scale, kind):
    body = f'<body name="b"><freejoint/>{GEOM}</body><body name="c"><freejoint/>{GEOM}</body>'
    weld = f'<equality><weld name="w" body1="b" body2="c" torquescale="{scale}"/></equality>'
    mech = read(f"<worldbody>{body}</worldbody>{weld}", strict=True)
    assert type(mech.joint("w")) is kind
    assert tuple(mech.joint("w").point) == (0.0, 0.0, 0.0)


def test_weld_within_one_body_has_no_effect(read):
    body = f'<body name="a"><joint name="j" axis="0 1 0"/>{GEOM}<body name="b"><geom size=".1"/></body></body>'
    mech = read(f'<worldbody>{body}</worldbody><equality><weld body1="a" body2="b"/></equality>', strict=True)
    assert [joint.name for joint in mech.joints] == ["j"]
    assert any("no effect" in entry.what for entry in mech.import_report.approximated)


@pytest.mark.filterwarnings("ignore::varint.LeftOutWarning")
def test_actuators_of_several_controls_are_reported(read):
    motor = '<dcmotor name="m" joint="j" motorconst="1" resistance="1" input="pos vel" controller="10 0 5"/>'
    text = (
        f'<worldbody><body><joint name="j" axis="0 1 0"/>{GEOM}</body></worldbody>'
        f'<actuator>{{}}<motor name="last" joint="j"/></actuator>'
        '<keyframe><key ctrl="{} 3"/></keyframe>'
    )
    try:
        mujoco.MjSpec.from_string(f"<mujoco>{text.format(motor, '1 2')}</mujoco>").compile()
    except ValueError:
        pytest.skip("this MuJoCo has no actuators with several controls")
    mech = read(text.format(motor, "1 2"))
    assert [entry.what for entry in mech.import_report.not_understood] == ["actuator 'm' <dcmotor> with 2 controls"]
    assert float(mech.forces[0].effort) == 3.0
    with pytest.raises(vi.FileError, match="2 controls"):
        read(text.format(motor, "1 2"), strict=True)


def test_rotors_start_with_their_joints(read):
    joints = '<joint name="j" axis="0 1 0" armature=".3"/>'
    text = f'<worldbody><body>{joints}{GEOM}</body></worldbody><keyframe><key qpos=".4" qvel="-2"/></keyframe>'
    mech = read(text)
    assert mech.start["coordinates"]["rotor of j"] == pytest.approx([0.4])
    assert mech.start["rates"]["rotor of j"] == pytest.approx([-2.0])
    state = mech.state()
    assert np.linalg.norm(mech.rates(state)["rotor of j"]) == pytest.approx(2.0)


def test_noise_of_sensors_of_older_files(read):
    text = f'<option><flag sensornoise="enable"/></option><worldbody><body>{LOST}{GEOM}</body></worldbody>'
    with pytest.raises(vi.FileError, match="sensornoise"):
        read(text)
    passive = text.replace('sensornoise="enable"', 'passive="disable"').replace("<joint ", '<joint damping="3" ')
    kinds = {type(force).__name__ for force in read(passive, repair=True).forces}
    assert kinds == {"JointStop", "JointFriction"}
    assert "sensornoise" in str(read(text, repair=True).import_report)


@pytest.mark.parametrize(
    ("one", "other", "ends"),
    [
        ("-.03 .03", "-.03 .03", [(-1.0, 1.0)]),
        ("-.03 .03", "-.03 .02", [(-1.0, 1.0), (-2 / 3, np.inf)]),
        ("-.03 .06", "-.09 .06", [(-1.0, np.inf)]),
    ],
    ids=str,
)
def test_limits_of_tendons_that_others_stop_sooner(read, one, other, ends):
    """Of limits along one coordinate the nearest count, as in MuJoCo; two at one place are one."""
    joint = f'<joint name="j" axis="0 1 0" range="-80 {np.degrees(2):.17g}" limited="true"/>'
    tendons = "".join(
        f'<fixed name="t{factor}" limited="true" range="{bounds}"><joint joint="j" coef="{factor}"/></fixed>'
        for bounds, factor in ((one, 0.03), (other, -0.03))
    )
    mechanism = read(f"<worldbody><body>{joint}{GEOM}</body></worldbody><tendon>{tendons}</tendon>")
    of_joint, *stops = mechanism.forces
    assert of_joint.upper == pytest.approx(2.0)
    assert [(stop.lower, stop.upper) for stop in stops] == [pytest.approx(pair) for pair in ends]
    told = [entry.what for entry in mechanism.import_report.read]
    assert sum("beyond other limits of its joint" in what for what in told) == 2 - len(ends)
