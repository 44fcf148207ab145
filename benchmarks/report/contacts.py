"""Hard contact beside MuJoCo with its defaults, in steps of 10 ms: creep, penetration, energy, time."""

import dataclasses
import math
import time

import numpy as np
from experiment import Experiment

import varint as vi

STEP, G, ROUNDS = 0.01, 9.81, 5
CUBE, REST = 1.0, (0.0, 0.0, 0.0)  # m, m/s
LAST = vi.Recording(every=1_000_000)
COLUMNS = ("error, m", "penetration, m", "most energy gained in a step, J", "us a step")


@dataclasses.dataclass(frozen=True)
class Scene:
    """Cubes above each other on a plane; ``off``: (last positions, first ones) -> error, m."""

    masses: tuple
    friction: float
    gravity: tuple
    velocity: tuple
    duration: float
    off: object


def slope(tangent):
    """Gravity on a plane that is inclined by that tangent, m/s^2."""
    angle = math.atan(tangent)
    return G * math.sin(angle), 0.0, -G * math.cos(angle)


def moved(last, first):
    """Largest distance of a cube from where it was."""
    return float(np.linalg.norm(last - first, axis=1).max())


def stopped(last, first):
    """Error of the way of a cube that slides to its stop from 4 m/s."""
    return float(abs(last[0, 0] - first[0, 0] - 16.0 / (2.0 * 0.25 * G)))


SCENES = {
    "a cube on a slope of half the friction, 10 s": Scene((1.0,), 0.5, slope(0.25), REST, 10.0, moved),
    "a cube on a slope of 0.999 of the friction, 10 s": Scene((1.0,), 0.5, slope(0.4995), REST, 10.0, moved),
    "a cube that slides to a stop": Scene((1.0,), 0.25, (0.0, 0.0, -G), (4.0, 0.0, 0.0), 2.5, stopped),
    "ten equal cubes, 2 s": Scene((1.0,) * 10, 0.5, (0.0, 0.0, -G), REST, 2.0, moved),
    "ten cubes, the uppermost 1000 times as heavy, 2 s": Scene(
        tuple(1000.0 ** (np.arange(10) / 9)), 0.5, (0.0, 0.0, -G), REST, 2.0, moved
    ),
}


def ours(scene):
    """The figures of COLUMNS by varint."""
    bodies = [
        vi.Body.box(f"b{k}", (CUBE,) * 3, mass, position=(0, 0, CUBE * (k + 0.5)), collision=True)
        for k, mass in enumerate(scene.masses)
    ]
    free = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies]
    contacts = [
        vi.Contact(f"c{k}", f"b{k}", f"b{k - 1}" if k else "world", friction=scene.friction) for k in range(len(bodies))
    ]
    mechanism = vi.Mechanism("cubes", bodies, free, scene.gravity, forces=contacts, ground=(vi.PlaneShape(),))
    state = mechanism.state()
    state = dataclasses.replace(state, velocity=np.tile(scene.velocity, (len(bodies), 1)))
    run = vi.simulate(mechanism, scene.duration, STEP, state=state)
    depth = max(each.max() for each in run.penetration.values())
    problem = vi.Problem(mechanism, scene.duration, state=state)
    seconds = min(vi.simulate(problem, vi.Variational(STEP), LAST).wall_time for _ in range(ROUNDS))
    gained = max(0.0, float(np.diff(run.energy).max()))
    return [scene.off(run.position[-1], run.position[0]), float(depth), gained, 1e6 * seconds / run.steps]


def theirs(scene, cone):
    """The figures of COLUMNS by MuJoCo, with its default solver; ``cone``: "pyramidal", its default, or "elliptic"."""
    import mujoco

    bodies = "".join(
        f'<body pos="0 0 {CUBE * (k + 0.5)}"><freejoint/><geom type="box" size="{CUBE / 2} {CUBE / 2} {CUBE / 2}"'
        f' mass="{mass}" friction="{scene.friction} 0 0"/></body>'
        for k, mass in enumerate(scene.masses)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP}" gravity="{scene.gravity[0]} {scene.gravity[1]} {scene.gravity[2]}"'
        f' cone="{cone}"><flag energy="enable"/></option><worldbody><geom type="plane" size="50 50 1"'
        f' friction="{scene.friction} 0 0"/>{bodies}</worldbody></mujoco>'
    )
    steps = round(scene.duration / STEP)

    def start():
        data = mujoco.MjData(model)
        data.qvel.reshape(-1, 6)[:, :3] = scene.velocity
        mujoco.mj_forward(model, data)
        return data

    data, depth, energies = start(), 0.0, []
    first = data.qpos.reshape(-1, 7)[:, :3].copy()
    for _ in range(steps):
        energies.append(data.energy.sum())
        mujoco.mj_step(model, data)
        depth = max(depth, -data.contact.dist.min(initial=0.0))
    last, seconds = data.qpos.reshape(-1, 7)[:, :3].copy(), np.inf
    for _ in range(ROUNDS):
        data = start()
        began = time.perf_counter()
        mujoco.mj_step(model, data, steps)
        seconds = min(seconds, time.perf_counter() - began)
    gained = max(0.0, float(np.diff(energies).max()))
    return [scene.off(last, first), float(depth), gained, 1e6 * seconds / steps]


def measure():
    """By scene and tool: the figures of COLUMNS."""
    tools = {
        "varint": ours,
        "MuJoCo": lambda s: theirs(s, "pyramidal"),
        "MuJoCo, elliptic": lambda s: theirs(s, "elliptic"),
    }
    return {name: {tool: of(scene) for tool, of in tools.items()} for name, scene in SCENES.items()}


def shown(value):
    """Two digits, without an exponent where that is short."""
    return f"{value:.0f}" if value >= 10.0 else f"{value:.2g}"


def table(measured):
    """A row for each scene and tool."""
    rows = [f"| scene | tool | {' | '.join(COLUMNS)} |", "|---|---|" + "---|" * len(COLUMNS)]
    for scene, of in measured.items():
        rows += [
            f"| {scene} | {tool} | {' | '.join(shown(value) for value in figures)} |" for tool, figures in of.items()
        ]
    return "\n".join(rows)


def draw(measured, figure):
    """Errors against time a step."""
    axis = figure.subplots()
    for k, tool in enumerate(next(iter(measured.values()))):
        points = np.array([[of[tool][3], max(of[tool][0], 1e-16)] for of in measured.values()])
        axis.loglog(*points.T, "osd"[k], label=tool, color="k", fillstyle="full" if k == 0 else "none")
    axis.set(xlabel="time a step (us)", ylabel="error (m)")
    axis.grid(alpha=0.3)
    axis.legend()


def seen(measured):
    """Errors and times of both."""
    ours, other = ([of[tool] for of in measured.values()] for tool in ("varint", "MuJoCo"))
    ratios = [a[3] / b[3] for a, b in zip(ours, other, strict=True)]
    return (
        f"In steps of {1e3 * STEP:g} ms varint is off by at most {max(a[0] for a in ours):.1g} m and penetrates by"
        f" {max(a[1] for a in ours):.1g} m, MuJoCo with its defaults by {max(b[0] for b in other):.1g} m and"
        f" {max(b[1] for b in other):.1g} m: its contacts are soft, which can be tuned, and creep. A step of varint"
        f" takes {min(ratios):.2g} to {max(ratios):.2g} times that of MuJoCo, the most for stacks: contacts between"
        " moving bodies are a dense block here."
    )


EXPERIMENTS = [
    Experiment(
        "contacts_mujoco",
        "Hard contact beside MuJoCo",
        "",
        measure,
        draw,
        seen,
        table,
    )
]
