"""A cart on four wheels that roll without slip: a spring steers its front axle back, and the cart swings ahead.

Each wheel has two rows A(q) v = 0, `vi.UserRateConstraint`; two of the eight are redundant, as wheels of one axle slide
together. Against equations of motion in eight coordinates with multipliers.
"""

import numpy as np
from scipy.integrate import solve_ivp

import varint as vi

CHASSIS, AXLE, WHEEL = 10.0, 2.0, 1.0  # kg
RADIUS, TRACK = 0.15, 0.3  # m: of a wheel; half the track
REAR, FRONT = -0.4, 0.5  # m: both axles before the chassis' centre
SPRING, STEERED, SPEED = 2.0, 0.4, 1.0  # N m/rad, rad and m/s
PLACES = {"rear left": (REAR, TRACK), "rear right": (REAR, -TRACK), "front left": (FRONT, TRACK)}
PLACES["front right"] = FRONT, -TRACK


def no_slip(position, rotation):
    """Rows (2, 1, 6): the lowest point of a wheel has no velocity along x and y, v + omega x (0, 0, -r) = 0."""
    return [[[1.0, 0.0, 0.0, 0.0, -RADIUS, 0.0]], [[0.0, 1.0, 0.0, RADIUS, 0.0, 0.0]]]


def build():
    """The cart along x, its wheels' axes along y; it starts with SPEED of the rear axle, and the steering turned."""
    upright = 0.5**0.5, 0.5**0.5, 0.0, 0.0
    bodies = [
        vi.Body.box("chassis", (1.0, 0.4, 0.1), CHASSIS, position=(0, 0, RADIUS)),
        vi.Body.box("axle", (0.05, 2 * TRACK, 0.05), AXLE, position=(FRONT, 0, RADIUS)),
    ]
    joints = [
        vi.Planar("ground", "world", "chassis", axis=(0, 0, 1)),
        vi.Revolute("steering", "chassis", "axle", point=(FRONT, 0, RADIUS), axis=(0, 0, 1)),
    ]
    forces = [vi.TorsionSpring("spring", joint="steering", stiffness=SPRING)]
    for name, (x, y) in PLACES.items():
        place = (x, y, RADIUS)
        bodies.append(vi.Body.cylinder(name, RADIUS, 0.02, WHEEL, position=place, quat_wxyz=upright))
        carrier = "axle" if name.startswith("front") else "chassis"
        joints.append(vi.Revolute(f"{name} turns", carrier, name, point=place, axis=(0, 1, 0)))
        forces.append(vi.UserRateConstraint(f"{name} rolls", [name], no_slip))
    yaw = SPEED * np.tan(STEERED) / (FRONT - REAR)
    start = {
        "coordinates": {"steering": STEERED},
        "rates": {"steering": 0.0},
        "velocity": {"chassis": (SPEED, -REAR * yaw, 0.0)},
        "angular_velocity": {"chassis": (0.0, 0.0, yaw)},
    }
    return vi.Mechanism("cart", bodies, joints, forces=forces, start=start)


def rows(q):
    """A (8, 8) by the rates of q = (x, y of the chassis, heading, steering, turns of the wheels)."""
    A = np.zeros((8, 8))
    for k, (x, y) in enumerate(PLACES.values()):
        front, heading = x == FRONT, q[2] + (q[3] if x == FRONT else 0.0)
        along, aside = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
        body = np.array([np.cos(q[2]), np.sin(q[2])])
        lever = x * body + y * aside  # from the chassis' centre
        by_heading, by_steering = np.array([-lever[1], lever[0]]), -y * along if front else np.zeros(2)
        for n, direction in enumerate((along, aside)):
            A[2 * k + n, :2] = direction
            A[2 * k + n, 2], A[2 * k + n, 3] = direction @ by_heading, direction @ by_steering
        A[2 * k, 4 + k] = -RADIUS
    return A


def kinetic(q, v, bodies):
    """Kinetic energy, J: wheels are symmetric about their axes, so that turns and headings do not mix in it."""
    aside = np.array([-np.sin(q[2]), np.cos(q[2])])
    centre = v[:2]
    total = 0.5 * CHASSIS * centre @ centre + 0.5 * bodies["chassis"] * v[2] ** 2
    pivot = centre + FRONT * v[2] * aside
    total += 0.5 * AXLE * pivot @ pivot + 0.5 * bodies["axle"] * (v[2] + v[3]) ** 2
    for k, (x, y) in enumerate(PLACES.values()):
        heading, turn = (q[2] + q[3], v[2] + v[3]) if x == FRONT else (q[2], v[2])
        velocity = centre + x * v[2] * aside - y * turn * np.array([np.cos(heading), np.sin(heading)])
        total += (
            0.5 * WHEEL * velocity @ velocity + 0.5 * bodies["across"] * turn**2 + 0.5 * bodies["spin"] * v[4 + k] ** 2
        )
    return total


def solution(t):
    """Coordinates (T, 8) at times ``t``, by the equations of motion with multipliers."""
    mechanism = build()
    wheel = mechanism.body("rear left")
    inertias = {name: mechanism.body(name).inertia[2, 2] for name in ("chassis", "axle")}
    inertias |= {"spin": wheel.inertia[2, 2], "across": wheel.inertia[0, 0]}
    units, h = np.eye(8), 1e-5

    def mass(q):  # T is a quadratic form of the rates
        ones = [kinetic(q, u, inertias) for u in units]
        both = [[kinetic(q, u + w, inertias) for w in units] for u in units]
        return np.array(both) - np.add.outer(ones, ones)

    def rate(_, state):
        q, v = np.split(state, 2)
        A, bend = rows(q), (rows(q + h * v) - rows(q - h * v)) @ v / (2 * h)
        change = (mass(q + h * v) - mass(q - h * v)) @ v / (2 * h)
        slope = np.array([kinetic(q + h * u, v, inertias) - kinetic(q - h * u, v, inertias) for u in units]) / (2 * h)
        push = slope - change
        push[3] -= SPRING * q[3]
        matrix = np.block([[mass(q), -A.T], [A, np.zeros((8, 8))]])
        return np.concatenate([v, np.linalg.lstsq(matrix, np.concatenate([push, -bend]), rcond=1e-10)[0][:8]])

    yaw = SPEED * np.tan(STEERED) / (FRONT - REAR)
    q = np.array([0.0, 0.0, 0.0, STEERED, 0.0, 0.0, 0.0, 0.0])
    v = np.array([SPEED, -REAR * yaw, yaw, 0.0, 0.0, 0.0, 0.0, 0.0])
    for k in range(4):
        v[4 + k] = rows(q)[2 * k, :4] @ v[:4] / RADIUS
    return solve_ivp(rate, (0.0, t[-1]), [*q, *v], t_eval=t, rtol=1e-9, atol=1e-10, method="DOP853").y[:8].T


def main():
    mechanism = build()
    for dt in (0.02, 0.01):
        run = vi.simulate(mechanism, 2.0, dt)
        error = np.abs(run.position[:, 0, :2] - solution(run.t)[:, :2]).max()
        print(f"dt = {dt} s: {error:.2e} m from the own equations, energy changes by {np.ptp(run.energy):.1e} J")


if __name__ == "__main__":
    main()
