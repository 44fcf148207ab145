"""Parts of files of which one share is read and another was dropped without a word."""

import re

import pytest
from osim_arm import LINEAR, arm, axis, body, custom

import varint as vi

MODEL = """<mujoco><worldbody><body name="b"><joint name="hinge" axis="0 1 0"/>
  <geom size="0.1" pos="0.5 0 0"/></body></worldbody>
  <tendon><fixed name="coil" stiffness="3" damping="0.4" springlength="0.1 0.2"><joint joint="hinge" coef="2"/></fixed>
  </tendon></mujoco>"""


@pytest.mark.slow
def test_the_damping_of_a_tendon_stays_where_its_spring_is_left_out(tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
    (tmp_path / "m.xml").write_text(MODEL)
    with pytest.warns(vi.LeftOutWarning, match="spring of tendon 'coil' with a range of rest"):
        mechanism = vi.load_mechanism(tmp_path / "m.xml")
    assert (mechanism.force("tendon coil").stiffness, mechanism.force("tendon coil").damping) == (0.0, 0.4 * 2**2)
    # within the range of rest the spring of the file has no effort: the rest is MuJoCo's
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = 0.075, 1.5
    mujoco.mj_forward(model, data)
    state = mechanism.state(coordinates={"hinge": 0.075}, rates={"hinge": 1.5})
    assert vi.accelerations(mechanism, state).angular[0] @ [0, 1, 0] == pytest.approx(data.qacc[0], rel=1e-9)


HAND = body("hand", 0.5, "0 -0.05 0", "0.001 0.001 0.001 0 0 0")


TURN = LINEAR.format(1, 0)


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (axis("rotation4", "0 0 1", TURN, "bend"), "an axis of joint 'wrist' is called 'rotation4': there"),
        (axis("rotation1", "0 0 1", TURN, "bend flexion"), "'rotation1' of joint 'wrist' is a function of 2"),
    ],
)
def test_axes_of_opensim_that_are_not_read_are_errors(tmp_path, turn, words):
    joints = custom("wrist", "forearm", "hand", "0 -0.3 0", "bend", turn)
    (tmp_path / "arm.osim").write_text(arm(joints=joints, bodies=HAND))
    with pytest.raises(vi.VarintError, match=re.escape(words)):
        vi.load_mechanism(tmp_path / "arm.osim")


def test_constraints_that_are_not_enforced_are_in_the_report(tmp_path):
    constraint = '<CoordinateCouplerConstraint name="off"><isEnforced>false</isEnforced></CoordinateCouplerConstraint>'
    (tmp_path / "arm.osim").write_text(arm(constraints=constraint))
    report = vi.load_mechanism(tmp_path / "arm.osim").import_report
    assert any(entry.what == "constraint 'off' is not enforced: left out" for entry in report.read)
