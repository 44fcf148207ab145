"""Models of MuJoCo with muscles: accelerations with random activations, an elbow, a finger and a leg with a knee."""

import dataclasses

import numpy as np
import pytest
from test_wraps import MODEL

import varint as vi

mujoco = pytest.importorskip("mujoco", reason="needs varint-dynamics[mjcf]")
pytestmark = pytest.mark.slow  # `make test` does without MuJoCo

ELBOW = """<mujoco><compiler angle="radian"/><option timestep="0.001"/><worldbody><site name="w1" pos="0 .02 .3"/>
<site name="w2" pos="-.02 -.02 .28"/>
<body name="upper"><joint name="flex" axis="0 1 0"/><joint name="twist" axis="1 .2 0"/>
<inertial pos="0 0 -.15" mass="1.8" diaginertia=".014 .015 .002"/>
<geom name="groove" type="cylinder" pos="0 0 -.3" quat=".7 .7 0 0" size=".02 .05" mass="0"/>
<site name="u1" pos=".02 0 -.1"/><site name="u2" pos="-.03 0 -.12"/><site name="front" pos=".06 0 -.3"/>
<site name="back" pos="-.06 0 -.3"/>
<body name="fore" pos="0 0 -.3"><joint name="elbow" axis="0 -1 0"/>
<inertial pos=".01 0 -.12" mass="1.1" diaginertia=".008 .008 .001"/>
<site name="f1" pos=".025 .01 -.05"/><site name="f2" pos="-.03 0 -.02"/></body></body></worldbody>
<tendon><spatial name="biceps"><site site="w1"/><site site="u1"/><geom geom="groove" sidesite="front"/><site site="f1"/>
</spatial><spatial name="triceps"><site site="w2"/><site site="u2"/><geom geom="groove" sidesite="back"/>
<site site="f2"/></spatial><spatial name="short"><site site="u1"/><site site="f1"/></spatial></tendon>
<actuator><muscle name="biceps" tendon="biceps" lengthrange=".25 .5" force="400"/>
<muscle name="triceps" tendon="triceps" lengthrange=".2 .5" force="500"/>
<muscle name="short" tendon="short" lengthrange=".05 .3" force="300" vmax="5"/></actuator></mujoco>"""

LEG = """<mujoco><compiler angle="radian"/><worldbody><site name="p1" pos=".06 0 .05"/>
<site name="p2" pos="-.07 0 .02"/>
<body name="thigh"><joint name="hip" axis="0 1 0"/><inertial pos="0 0 -.2" mass="8" diaginertia=".15 .15 .03"/>
<site name="t1" pos=".04 0 -.2"/><site name="t2" pos="-.03 0 -.3"/>
<geom name="condyle" type="cylinder" pos="0 0 -.4" quat=".7 .7 0 0" size=".025 .05" mass="0"/>
<site name="fore" pos=".1 0 -.4"/>
<body name="shank" pos="0 0 -.4"><joint name="knee_x" type="slide" axis="1 0 0"/>
<joint name="knee_z" type="slide" axis="0 0 1"/>
<joint name="knee" axis="0 1 0"/><inertial pos="0 0 -.18" mass="4" diaginertia=".06 .06 .006"/>
<site name="s1" pos=".035 .005 -.07"/><site name="s2" pos="-.03 0 -.06"/></body></body></worldbody>
<equality><joint name="x" joint1="knee_x" joint2="knee" polycoef=".002 -.004 .01 -.003 .0007"/>
<joint name="z" joint1="knee_z" joint2="knee" polycoef="0 0.001 -0.006 0.002 0"/></equality>
<tendon><spatial name="rectus"><site site="p1"/><site site="t1"/><geom geom="condyle" sidesite="fore"/><site site="s1"/>
</spatial><spatial name="ham"><site site="p2"/><site site="s2"/></spatial><spatial name="gas"><site site="t2"/>
<site site="s2"/></spatial></tendon><actuator><muscle name="rectus" tendon="rectus" lengthrange=".4 .7" force="900"/>
<muscle name="ham" tendon="ham" lengthrange=".3 .6" force="800"/><muscle name="gas" tendon="gas" lengthrange=".05 .3"
force="600"/></actuator></mujoco>"""


def activated(mechanism, activation):
    """The mechanism with muscles whose activations stay as they are."""
    forces = list(mechanism.forces)
    for k, value in activation.items():
        forces[k] = dataclasses.replace(
            forces[k], activation_times=None, activation_blend=0.0, excitation=np.array(float(value))
        )
    return dataclasses.replace(mechanism, forces=forces)


def exact_accelerations(model, data, knees):
    """(nv,) of MuJoCo's equations with joints that follow polynomials of another exactly, in place of its springs."""
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, M, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, M)
    force = data.qfrc_actuator + data.qfrc_passive - data.qfrc_bias
    G, right = np.zeros((len(knees), model.nv)), np.zeros(len(knees))
    for row, (held, free, polynomial) in enumerate(knees):
        x, rate = data.qpos[free], data.qvel[free]
        G[row, held], G[row, free] = 1.0, -polynomial.deriv()(x)
        right[row] = polynomial.deriv(2)(x) * rate**2
    zero = np.zeros((len(knees), len(knees)))
    return np.linalg.solve(np.block([[M, -G.T], [G, zero]]), np.concatenate([force, right]))[: model.nv]


@pytest.mark.parametrize(
    ("text", "most"), [(ELBOW, 1e-8), (MODEL, 1e-7), (LEG, 1e-8)], ids=["elbow", "ring and pulleys", "leg"]
)
def test_accelerations_with_random_activations(text, most, tmp_path, rng):
    """MuJoCo's path through a ring is exact to 1e-6 alone."""
    path = tmp_path / "model.xml"
    path.write_text(text)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mechanism = vi.load_mechanism(path)
    assert not mechanism.import_report.not_understood
    muscles = {force.name: k for k, force in enumerate(mechanism.forces) if isinstance(force, vi.Musculotendon)}
    assert len(muscles) == model.nu
    knees = [
        (int(model.eq_obj1id[k]), int(model.eq_obj2id[k]), np.polynomial.Polynomial(model.eq_data[k, :5]))
        for k in range(model.neq)
    ]
    rest = {held: polynomial(0.0) for held, _, polynomial in knees}
    for _ in range(10):
        q, rates = rng.uniform(-0.6, 0.6, model.nv), rng.uniform(-2.0, 2.0, model.nv)
        slides = model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE
        q[slides] *= 0.1
        for held, free, polynomial in knees:
            q[held], rates[held] = polynomial(q[free]), polynomial.deriv()(q[free]) * rates[free]
        data.qpos[:], data.qvel[:], data.act[:] = q, rates, rng.uniform(0.0, 1.0, model.na)
        mujoco.mj_forward(model, data)
        expected = exact_accelerations(model, data, knees)
        if not knees:
            assert data.qacc == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())
        names = [f"actuator {model.actuator(k).name}" for k in range(model.nu)]
        own = activated(mechanism, {muscles[name]: data.act[k] for k, name in enumerate(names)})
        equations = vi.EquationsOfMotion(own)
        shift = np.array([rest.get(k, 0.0) for k in range(model.nv)])
        found = equations.acceleration(0.0, q - shift, rates)
        assert found == pytest.approx(expected, abs=most * np.abs(expected).max())
