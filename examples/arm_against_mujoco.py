"""An arm of four hinges falls, here and in MuJoCo: ``python examples/arm_against_mujoco.py``; needs mujoco."""

import sys

import numpy as np

import varint as vi

DURATION, DT = 2.0, 0.001  # s
START = {"turret": 0.4, "shoulder": -0.6, "elbow": 1.1, "wrist": 0.8}  # rad
RATES = {"turret": 1.0, "shoulder": 0.0, "elbow": -0.5, "wrist": 2.0}  # rad/s


def arm() -> vi.Mechanism:
    """Straight along x in the reference configuration, where all coordinates are zero; z is up."""
    bodies = [
        vi.Body.box("base", size=(0.12, 0.12, 0.3), mass=4.0, position=(0, 0, 0.15)),
        vi.Body.box("upper arm", size=(0.4, 0.08, 0.08), mass=2.0, position=(0.2, 0, 0.3)),
        vi.Body.box("forearm", size=(0.3, 0.06, 0.06), mass=1.2, position=(0.55, 0, 0.3)),
        vi.Body.box("hand", size=(0.1, 0.04, 0.12), mass=0.4, position=(0.75, 0, 0.3)),
    ]
    joints = [
        vi.Revolute("turret", "world", "base", point=(0, 0, 0), axis=(0, 0, 1)),
        vi.Revolute("shoulder", "base", "upper arm", point=(0, 0, 0.3), axis=(0, 1, 0)),
        vi.Revolute("elbow", "upper arm", "forearm", point=(0.4, 0, 0.3), axis=(0, 1, 0)),
        vi.Revolute("wrist", "forearm", "hand", point=(0.7, 0, 0.3), axis=(1, 0, 0)),
    ]
    return vi.Mechanism("arm", bodies, joints)


def as_mjcf(chain: vi.Mechanism, dt: float) -> str:
    """A chain of hinged bodies whose axes are the world's, in MuJoCo's format; frames are at the hinges."""
    text, at = "", np.zeros(3)

    def numbers(values):
        return " ".join(f"{value:.17g}" for value in np.ravel(values))

    for body, joint in zip(chain.bodies, chain.joints, strict=True):
        text += f'<body pos="{numbers(joint.point - at)}"><joint name="{joint.name}" axis="{numbers(joint.axis)}"/>'
        moments = numbers(np.diag(body.inertia))
        text += (
            f'<inertial pos="{numbers(body.position - joint.point)}" mass="{body.mass:.17g}" diaginertia="{moments}"/>'
        )
        at = joint.point
    gravity = numbers(chain.gravity)
    option = f'<option timestep="{dt:.17g}" integrator="RK4" gravity="{gravity}"/>'
    return f"<mujoco>{option}<worldbody>{text}{'</body>' * len(chain.bodies)}</worldbody></mujoco>"


def run() -> vi.Trajectory:
    mech = arm()
    return vi.simulate(mech, DURATION, DT, state=mech.state(coordinates=START, rates=RATES), order=4)


def run_mujoco() -> tuple[np.ndarray, np.ndarray]:
    """Angles and rates of the hinges at the same nodes (T, 4), rad, rad/s."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(as_mjcf(arm(), DT))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = list(START.values()), list(RATES.values())
    found = [(data.qpos.copy(), data.qvel.copy())]
    for _ in range(round(DURATION / DT)):
        mujoco.mj_step(model, data)
        found.append((data.qpos.copy(), data.qvel.copy()))
    angles, rates = (np.array(values) for values in zip(*found, strict=True))
    return angles, rates


def main(picture=None):
    ours, (angles, rates) = run(), run_mujoco()
    for k, name in enumerate(START):
        off = abs(ours.coordinates[name] - angles[:, k]).max(), abs(ours.rates[name] - rates[:, k]).max()
        print(f"{name}: angles agree to {off[0]:.1e} rad, rates to {off[1]:.1e} rad/s")
    print(f"energy is kept to {abs(ours.energy - ours.energy[0]).max():.1e} J of {np.ptp(ours.kinetic):.1f} J")
    if picture:
        ours.plot("coordinates", "rates", "reactions", path=picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
