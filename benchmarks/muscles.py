"""What ten muscles on a two-joint arm add to a step, and a model with 80 muscles beside MuJoCo's RK4."""

import dataclasses
import tempfile
import time
from pathlib import Path

import numpy as np
from common import march_of

import varint as vi

MOST_OF_ARM, MOST_OF_MUJOCO = 4.0, 3.0  # times the arm without muscles, and MuJoCo at the same error
STEPS, ROUNDS = 500, 12
LEGS = ("left", "right")
SEGMENTS = (("thigh", 8.0, 0.4), ("shank", 4.0, 0.4), ("foot", 1.0, 0.15))  # name, kg, m
SPAN, MUSCLES = 0.2, 80  # s of the comparison


def arm(count, mass=0.0, wrapped=0):
    """Two rods on hinges with so many muscles from the world to the second, ``wrapped`` of them about the elbow."""
    bones = [vi.Body.rod(f"bone {k}", (0, 0, -0.3 * k), (0, 0, -0.3 * (k + 1)), mass=1.5, radius=0.03) for k in (0, 1)]
    hinges = [
        vi.Revolute("shoulder", "world", "bone 0", point=(0, 0, 0), axis=(0, 1, 0)),
        vi.Revolute("elbow", "bone 0", "bone 1", point=(0, 0, -0.3), axis=(0, 1, 0)),
    ]
    muscles = []
    for k in range(count):
        side = 1.0 if k % 2 else -1.0
        ends = [vi.At("world", (0.05 * side, 0.01 * k, 0.1)), vi.At("bone 1", (0.03 * side, 0.005 * k, -0.4))]
        if k < wrapped:
            roller = vi.CylinderSurface((0, 0, -0.3), (0, 1, 0), 0.02, side=(0.2 * side, 0, -0.3))
            ends.insert(1, vi.Around("bone 0", roller))
        muscles.append(
            vi.Musculotendon(
                f"muscle {k}", path=ends, max_force=60.0, optimal_length=0.25, slack_length=0.25, excitation=0.1 * k,
                smoothing=0.0005, mass=mass,
            )
        )  # fmt: skip
    start = {"coordinates": {"shoulder": 0.4, "elbow": 0.3}}
    return vi.Mechanism(f"arm with {count} muscles", bones, hinges, forces=muscles, start=start)


def steps_of_the_arm():
    """us a step by name: without muscles, with ten, and as many that wrap or have mass."""
    cases = {
        "bare": arm(0),
        "ten muscles": arm(10),
        "ten muscles, six around a roller": arm(10, wrapped=6),
        "ten muscles with mass": arm(10, mass=0.1),
    }
    marches = {name: march_of(mechanism, dt=0.002) for name, mechanism in cases.items()}
    for march in marches.values():
        march.advance(50)
    saved = {name: march.checkpoint() for name, march in marches.items()}
    best = dict.fromkeys(cases, np.inf)
    for _ in range(ROUNDS):  # in turn, so that all see the same machine
        for name, march in marches.items():
            march.restore(saved[name])
            began = time.perf_counter()
            march.advance(STEPS)
            best[name] = min(best[name], (time.perf_counter() - began) / STEPS * 1e6)
    return best


def legs():
    """A model of MuJoCo: a pelvis held in the world, two legs of three segments, forty muscles each."""
    rng = np.random.default_rng(4)
    bodies, tendons, actuators = "", "", ""
    for leg, side in zip(LEGS, (-1.0, 1.0), strict=True):
        inner, closing = "", ""
        for number, (name, mass, length) in enumerate(SEGMENTS):
            turns = {"thigh": ("0 1 0", "1 0 0", "0 0 1"), "shank": ("0 1 0",), "foot": ("0 1 0", "1 0 0")}[name]
            place = f"0 {0.1 * side} 0" if not number else f"0 0 {-SEGMENTS[number - 1][2]}"
            inner += f'<body name="{leg} {name}" pos="{place}">'
            inner += "".join(f'<joint name="{leg} {name} {k}" axis="{axis}"/>' for k, axis in enumerate(turns))
            across, along = mass * length**2 / 12.0, 0.02 * mass * length**2
            inner += f'<inertial pos="0 0 {-0.5 * length}" mass="{mass}" diaginertia="{across} {across} {along}"/>'
            inner += f'<geom name="{leg} roll {number}" type="cylinder" quat=".7 .7 0 0" size=".02 .05" mass="0"/>'
            for k, x in enumerate((-0.2, 0.2)):
                inner += f'<site name="{leg} side {number} {k}" pos="{x} 0 0"/>'
            for k in range(MUSCLES // 2):
                x, y = rng.choice((-1, 1)) * rng.uniform(0.03, 0.05), rng.uniform(-0.02, 0.02)
                z = rng.uniform(0.2, 0.7)
                inner += f'<site name="{leg} {number} {k}" pos="{x:.4f} {y:.4f} {-z * length:.4f}"/>'
            closing += "</body>"
        bodies += inner + closing
        for k in range(MUSCLES // 2):
            low = k % 3
            first = f'<site site="hip {leg} {k}"/>' if not low else f'<site site="{leg} {low - 1} {k}"/>'
            around = f'<geom geom="{leg} roll {low}" sidesite="{leg} side {low} {k % 2}"/>' if k % 2 else ""
            tendons += f'<spatial name="{leg} {k}">{first}{around}<site site="{leg} {low} {k}"/></spatial>'
            actuators += f'<muscle name="{leg} {k}" tendon="{leg} {k}" force="10" lengthrange=".1 .6"/>'
        for k in range(MUSCLES // 2):
            x, z = rng.uniform(-0.08, 0.08), rng.uniform(0.05, 0.1)
            bodies += f'<site name="hip {leg} {k}" pos="{x:.4f} {0.1 * side} {z:.4f}"/>'
    return (
        '<mujoco><compiler angle="radian"/><option integrator="RK4"><flag contact="disable"/></option>'
        f"<worldbody>{bodies}</worldbody><tendon>{tendons}</tendon><actuator>{actuators}</actuator></mujoco>"
    )


def beside_mujoco():
    """Errors of the coordinates, rad, and times, s, of steps of both, by size of the step."""
    import mujoco

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "legs.xml"
        path.write_text(legs())
        model, imported = mujoco.MjModel.from_xml_path(str(path)), vi.load_mechanism(path)
    control = 0.3 + 0.2 * np.sin(np.arange(model.nu))
    names = [f"actuator {model.actuator(k).name}" for k in range(model.nu)]
    excited = dict(zip(names, control, strict=True))
    forces = [
        dataclasses.replace(force, excitation=np.array(excited[force.name])) if force.name in excited else force
        for force in imported.forces
    ]
    mechanism = dataclasses.replace(imported, forces=forces)
    exact = vi.redmax.simulate(mechanism, SPAN, rtol=1e-10).q[-1]
    found = {"varint": [], "MuJoCo": []}
    for dt in (0.004, 0.002, 0.001, 0.0005):

        def own(dt=dt):
            return vi.redmax.simulate(mechanism, SPAN, dt=dt, integrator="rk4", every=1_000_000).q[-1]

        error = np.abs(own() - exact).max()
        found["varint"].append((error, min(_timed(own) for _ in range(3))))
        model.opt.timestep = dt

        def march(model=model, dt=dt):
            data = mujoco.MjData(model)
            data.ctrl[:] = control
            for _ in range(round(SPAN / dt)):
                mujoco.mj_step(model, data)
            return data.qpos.copy()

        found["MuJoCo"].append((np.abs(march() - exact).max(), min(_timed(march) for _ in range(3))))
    return found


def _timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure():
    best = steps_of_the_arm()
    rows = [
        (f"a step of a two-joint arm, {name}", f"{t:.1f} us, {t / best['bare']:.1f} times", "", None)
        for name, t in best.items()
    ]
    ratio = best["ten muscles"] / best["bare"]
    rows.append(("ten muscles over the bare arm", f"{ratio:.2f} times", f"<= {MOST_OF_ARM}", ratio <= MOST_OF_ARM))
    found = beside_mujoco()
    for name, pairs in found.items():
        rows += [(f"{MUSCLES} muscles, {name}", f"error {e:.1e} rad, {1e3 * t:.0f} ms", "", None) for e, t in pairs]
    own, other = (np.log(np.array(found[name]).T) for name in ("varint", "MuJoCo"))
    common = max(own[0].min(), other[0].min())  # the smallest error that both reach
    times = [np.interp(common, pairs[0][::-1], pairs[1][::-1]) for pairs in (own, other)]
    ratio = float(np.exp(times[0] - times[1]))
    return [
        *rows,
        ("at the same error, over MuJoCo", f"{ratio:.2f} times", f"<= {MOST_OF_MUJOCO}", ratio <= MOST_OF_MUJOCO),
    ]


if __name__ == "__main__":
    for row in measure():
        print(*row, sep="   ")
