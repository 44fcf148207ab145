"""Beams that tests hold against references, and their equilibria by Newton's method under a load that grows."""

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq

import varint as vi
from varint.derivatives.linear.rest import at_rest
from varint.model.rotation_vectors import quat_from_vector, quat_product, rotation_matrix

LOW = vi.Section(EA=1e5, GJ=5.0, EI=10.0, kGA=4e4, mass_per_length=1.0)  # 1 m long in most tests
THIN = vi.Section(EA=1e7, GJ=1.0, EI=1.0, kGA=1e7, mass_per_length=1.0, size=(0.05, 0.05))  # next to inextensible
STEEL = {"E": 2.07e11, "nu": 0.3, "density": 7850.0}


def cantilever(elements, section=LOW, length=1.0, force=None, torque=None, gravity=(0, 0, 0), **how):
    """A beam along x that is clamped at the origin, with a force and a torque (3,), world, at its tip."""
    parts = vi.beam(
        "beam", "world", None, point_a=(0, 0, 0), point_b=(length, 0, 0), elements=elements, section=section,
        **({"normal": (0, 1, 0)} | how),
    )  # fmt: skip
    tip = f"beam {elements}"
    return vi.Mechanism(
        "cantilever", parts.bodies, parts.joints, gravity=gravity, forces=[*parts.forces, *loads(tip, force, torque)]
    )


def loads(body, force=None, torque=None):
    """Forces of the mechanism for a force and a torque (3,), world, on ``body``; None for one that is not there."""
    given = []
    if force is not None:
        given.append(vi.PointForce("force", body, direction=force, magnitude=float(np.linalg.norm(force))))
    if torque is not None:
        given.append(vi.PointTorque("torque", body, direction=torque, magnitude=float(np.linalg.norm(torque))))
    return given


def settled(make, steps=1):
    """The mechanism ``make(share)`` at rest under the whole load, as (mechanism, state)."""
    state = None
    for share in np.arange(1, steps + 1) / steps:
        mechanism = make(share)
        state = mechanism.state() if state is None else state
        for _ in range(30):
            rest = at_rest(mechanism, state)
            motion = rest.motions @ np.linalg.solve(rest.along(rest.stiffness), rest.unbalanced)
            motion = motion.reshape(-1, 6)[np.argsort(mechanism.compiled.order)]
            quat = [
                quat_product(q, quat_from_vector(turn)) for q, turn in zip(state.quat_wxyz, motion[:, 3:], strict=True)
            ]
            state = vi.State(state.position + motion[:, :3], np.array(quat), state.velocity, state.angular_velocity)
            if np.abs(motion).max() < 1e-9 * np.abs(state.position).max():
                break
        else:
            raise AssertionError("no equilibrium")
    return mechanism, state


def place_of(mechanism, state, body):
    """(3,) m, world."""
    return state.position[mechanism.body_index[body]]


def tip_of(make, elements, steps=1):
    """(3,) place of the tip under the whole load."""
    mechanism, state = settled(make, steps)
    return place_of(mechanism, state, f"beam {elements}")


def flexible_four_bar():
    """The one of the catalogue with a coupler of steel."""
    return vi.mechanisms.flexible_four_bar(elements=6, E=2.1e11, nu=0.3, density=7850.0)


def thin_cantilever(elements, force=None, torque=None, gravity=(0, 0, 0)):
    """A cantilever of 1 m with EI = GJ = 1 N m^2 and 1 kg/m, next to inextensible and unshearable."""
    return cantilever(elements, THIN, force=force, torque=torque, gravity=gravity)


def deep_cantilever(elements, force):
    """One of the 2 m beam of steel, 0.5 x 0.1 m, of Nachbagauer et al. 2011, with a ``force`` across at its tip, N."""
    return cantilever(elements, vi.Section.rectangle(0.1, 0.5, **STEEL), 2.0, force=(0, force, 0))


def bend(elements, force, radius=100.0):
    """An arc of 45 degrees in the x-y plane, with a force out of the plane at its tip (Bathe and Bolourchi)."""
    section = vi.Section(EA=1e7, GJ=8.33333e5, EI=8.33333e5, kGA=4.16667e6, mass_per_length=1.0)
    end = radius * np.array([np.sqrt(0.5), 1 - np.sqrt(0.5), 0.0])
    parts = vi.beam(
        "beam", "world", None, point_a=(0, 0, 0), point_b=end, elements=elements, section=section, normal=(0, 1, 0),
        curvature=1 / radius,
    )  # fmt: skip
    forces = [*parts.forces, *loads(f"beam {elements}", (0, 0, force))]
    return vi.Mechanism("bend", parts.bodies, parts.joints, gravity=(0, 0, 0), forces=forces)


def princeton(elements, force, degrees):
    """The beam of the Princeton experiment with a ``force`` at its tip, N, at an angle from the strong direction."""
    E, nu, height, width, length = 71.7e9, 0.31, 12.3777e-3, 3.2024e-3, 0.508
    G, y, z = E / (2 * (1 + nu)), height * width**3 / 12, width * height**3 / 12
    area = height * width
    section = vi.Section(
        EA=E * area, GJ=0.198 * G * (y + z), EI=np.array([E * y, E * z]), kGA=G * area, mass_per_length=1.0
    )
    angle = np.deg2rad(degrees)
    return cantilever(elements, section, length, force=(0, -force * np.cos(angle), force * np.sin(angle)))


def guided(elements, force):
    """A beam along x whose end moves, without turning, under a force along y."""
    stage = vi.Body.box("stage", (0.02, 0.02, 0.02), 1.0, position=(1, 0, 0))
    parts = vi.beam(
        "beam", "world", "stage", point_a=(0, 0, 0), point_b=(1, 0, 0), elements=elements, section=LOW, normal=(0, 1, 0)
    )
    guide = vi.Translational("guide", "world", "stage", point=(1, 0, 0))
    forces = [*parts.forces, *loads("stage", (0, force, 0))]
    return vi.Mechanism("guided", [stage, *parts.bodies], [guide, *parts.joints], gravity=(0, 0, 0), forces=forces)


def flexure(elements, force):
    """A stage on two beams along x that are clamped in the world, 1 m apart, with a force along y."""
    bodies, joints, forces = [vi.Body.box("stage", (0.02, 2.0, 0.02), 1.0, position=(1, 0, 0))], [], []
    for k, y in enumerate((-1.0, 1.0)):
        parts = vi.beam(
            f"beam {k}", "world", "stage", point_a=(0, y, 0), point_b=(1, y, 0), elements=elements, section=LOW,
            normal=(0, 1, 0),
        )  # fmt: skip
        bodies, joints, forces = bodies + parts.bodies, joints + parts.joints, forces + parts.forces
    return vi.Mechanism("flexure", bodies, joints, gravity=(0, 0, 0), forces=[*forces, *loads("stage", (0, force, 0))])


def floating(elements):
    """A thin beam that nothing holds."""
    parts = vi.beam("beam", None, None, point_a=(0, 0, 0), point_b=(1, 0, 0), elements=elements, section=THIN)
    free = vi.Free("free", "world", "beam 0")
    return vi.Mechanism("floating", parts.bodies, [free, *parts.joints], gravity=(0, 0, 0), forces=parts.forces)


def column(elements, load):
    """A thin beam along x between hinges about z, of which one slides along x under a ``load``, N."""
    parts = vi.beam(
        "beam", None, None, point_a=(0, 0, 0), point_b=(1, 0, 0), elements=elements, section=THIN, normal=(0, 1, 0)
    )
    shoe = vi.Body.box("shoe", (0.02, 0.02, 0.02), 1.0, position=(1, 0, 0))
    joints = [
        vi.Revolute("foot", "world", "beam 0", point=(0, 0, 0), axis=(0, 0, 1)),
        *parts.joints,
        vi.Prismatic("slide", "world", "shoe", axis=(1, 0, 0)),
        vi.Revolute("head", "shoe", f"beam {elements}", point=(1, 0, 0), axis=(0, 0, 1)),
    ]
    forces = [*parts.forces, *loads("shoe", (-load, 0, 0))]
    return vi.Mechanism("column", [*parts.bodies, shoe], joints, gravity=(0, 0, 0), forces=forces)


def strip(elements, load):
    """A cantilever that is stiff in the plane of a ``load`` across at its tip, N, and has GJ = EI = 1 across it."""
    section = vi.Section(EA=1e7, GJ=1.0, EI=np.array([1.0, 1e5]), kGA=1e7, mass_per_length=1.0, size=(0.1, 0.01))
    return cantilever(elements, section, force=(0, -load, 0))


def propeller(elements, rate, EA=1e7):
    """A thin beam along x on a hub that turns about z at ``rate``, rad/s, and its state of steady motion."""
    section = replace(THIN, EA=EA, inertia_per_length=np.array([2e-7, 1e-7, 1e-7]))
    parts = vi.beam(
        "beam", "hub", None, point_a=(0, 0, 0), point_b=(1, 0, 0), elements=elements, section=section, normal=(0, 1, 0)
    )
    hub = vi.Body.sphere("hub", 0.1, 1.0)
    pivot = vi.Revolute("pivot", "world", "hub", point=(0, 0, 0), axis=(0, 0, 1))
    forces = [*parts.forces, vi.PrescribedMotion("drive", joint="pivot", rate=rate)]
    mechanism = vi.Mechanism(
        "propeller", [hub, *parts.bodies], [pivot, *parts.joints], gravity=(0, 0, 0), forces=forces
    )
    mass = np.array([body.mass for body in parts.bodies])
    x = np.linspace(0.0, 1.0, elements + 1)
    for _ in range(6):  # each element carries what is beyond it
        tension = np.cumsum((mass * rate**2 * x)[::-1])[::-1][1:]
        x = np.concatenate([[0.0], np.cumsum((1.0 + tension / EA) / elements)])
    place = np.zeros((elements + 2, 3))
    place[1:, 0] = x
    still = mechanism.state()
    velocity, spin = rate * np.roll(place, 1, axis=1) * (0, 1, 0), np.tile((0.0, 0.0, rate), (elements + 2, 1))
    turned = np.einsum("nji,nj->ni", rotation_matrix(still.quat_wxyz), spin)
    return mechanism, vi.State(place, still.quat_wxyz, velocity, turned)


def spin_angle(t):
    """Simo and Vu-Quoc 1986: from rest to 6 rad/s in 15 s."""
    early = 0.4 * (t**2 / 2 + (15 / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * t / 15) - 1))
    return np.where(t < 15.0, early, 6.0 * t - 45.0)


def spin_up(elements):
    """Their beam of 10 m on a hub that turns by `spin_angle`."""
    section = vi.Section(
        EA=2.8e7, GJ=1.4e4, EI=1.4e4, kGA=1e7, mass_per_length=1.2, inertia_per_length=np.array([1.2e-3, 6e-4, 6e-4])
    )
    parts = vi.beam(
        "beam", "hub", None, point_a=(0, 0, 0), point_b=(10, 0, 0), elements=elements, section=section, normal=(0, 1, 0)
    )
    hub = vi.Body.sphere("hub", 0.1, 1.0)
    pivot = vi.Revolute("pivot", "world", "hub", point=(0, 0, 0), axis=(0, 0, 1))
    forces = [*parts.forces, vi.PrescribedMotion("spin", joint="pivot", position=spin_angle)]
    return vi.Mechanism("spin-up", [hub, *parts.bodies], [pivot, *parts.joints], gravity=(0, 0, 0), forces=forces)


def pendulum(elements):
    """A bar of rubber, pinned at one end, from rest along the horizontal."""
    section = vi.Section(
        EA=1000.0, GJ=1.0, EI=1e-1 / 12, kGA=1000 * 5 / 6 / 2.6, mass_per_length=0.1,
        inertia_per_length=(2e-5 / 12, 1e-5 / 12, 1e-5 / 12),
    )  # fmt: skip
    bar = vi.beam(
        "bar", None, None, point_a=(0, 0, 0), point_b=(1, 0, 0), elements=elements, section=section, normal=(0, 0, 1)
    )
    pin = vi.Revolute("pin", "world", "bar 0", point=(0, 0, 0), axis=(0, 1, 0))
    return vi.Mechanism("flexible pendulum", bar.bodies, [pin, *bar.joints], forces=bar.forces)


def slider_crank(elements):
    """A crank of 0.15 m at 150 rad/s, and a rod of steel, 0.3 m x 8 mm x 8 mm (Simeon 1996)."""
    E, area = 2e11, 0.008**2
    section = vi.Section(
        EA=E * area, GJ=0.141 * E / 2.6 * area**2, EI=E * area**2 / 12, kGA=5 / 6 * E / 2.6 * area,
        mass_per_length=7870.0 * area,
    )  # fmt: skip
    pin, wrist, z = (0.15, 0, 0), (0.45, 0, 0), (0, 0, 1)
    rod = vi.beam("rod", None, None, point_a=pin, point_b=wrist, elements=elements, section=section, normal=(0, 1, 0))
    crank = vi.Body.rod("crank", (0, 0, 0), pin, mass=0.05)
    slider = vi.Body.box("slider", (0.02, 0.02, 0.02), mass=0.075552, position=wrist)
    joints = [
        vi.Revolute("main", "world", "crank", point=(0, 0, 0), axis=z),
        vi.Revolute("pin", "crank", "rod 0", point=pin, axis=z),
        *rod.joints,
        vi.Revolute("wrist", f"rod {elements}", "slider", point=wrist, axis=z),
        vi.Prismatic("slide", "world", "slider", axis=(1, 0, 0)),
    ]
    drive = vi.PrescribedMotion("drive", joint="main", rate=150.0)
    bodies = [crank, *rod.bodies, slider]
    return vi.Mechanism("slider-crank", bodies, joints, gravity=(0, 0, 0), forces=[*rod.forces, drive])


def rope(elements, span):
    """A cable of 1 m and 1 kg/m, next to inextensible, from wall to wall."""
    parts = vi.cable(
        "rope", "world", "world", point_a=(0, 0, 0), point_b=(span, 0, 0), elements=elements, section=THIN, length=1.0
    )
    return vi.Mechanism("rope", parts.bodies, parts.joints, forces=parts.forces)


def hanging_rope(elements, span):
    """The `rope` at rest, searched from points of the catenary, as (mechanism, state)."""
    mechanism, arc = rope(elements, span), np.arange(1, elements) / elements - 0.5
    c = brentq(lambda c: 2 * c * np.arcsinh(0.5 / c) - span, 1e-3, 10.0)  # m, pull over weight per length
    x, height = c * np.arcsinh(arc / c), np.sqrt(c**2 + arc**2) - np.sqrt(c**2 + 0.25)
    start = mechanism.state()
    place = 1.0001 * np.column_stack([x, 0 * x, height]) + (0.5 * span, 0.0, 0.0)
    return mechanism, vi.equilibrium(mechanism, replace(start, position=place))
