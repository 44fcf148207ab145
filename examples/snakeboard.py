"""A snakeboard: a rider turns a rotor to and fro on a board, whose two axles turn against it and do not slip sideways.

Two rows A(q) v = 0, `vi.UserRateConstraint`, against equations of motion in six coordinates with multipliers (Ostrowski
and others, Nonholonomic mechanics and locomotion: the snakeboard example, 1994). Springs turn rotor and axles, so that
the energy stays.
"""

import numpy as np
from scipy.integrate import solve_ivp

import varint as vi

HALF, BOARD, ROTOR, AXLE = 0.2, 4.0, 2.0, 0.5  # m to an axle; kg
RADIUS, SPRING, AXLE_SPRING = 0.3, 3.0, 0.02  # m, of the rotor; N m/rad
TURNED, STEERED = 1.0, 0.5  # rad: rotor at the start, and axles, the rear one the other way
SIZES = {"board": (0.5, 0.15, 0.02), "axle": (0.03, 0.15, 0.03)}  # m


def sideways(position, rotation):
    """Rows (2, 2, 6): each axle has no velocity along its own y axis."""
    nothing = np.zeros(6)
    front, rear = ([*turned[:, 1], 0.0, 0.0, 0.0] for turned in rotation)
    return [[front, nothing], [nothing, rear]]


def build():
    """The board along x; coordinates of all joints zero in the reference configuration, where the springs rest."""
    board = vi.Body.box("board", SIZES["board"], BOARD)
    rotor = vi.Body.cylinder("rotor", radius=RADIUS, length=0.05, mass=ROTOR)
    axles = [
        vi.Body.box(name, SIZES["axle"], AXLE, position=(x, 0, 0)) for name, x in (("front", HALF), ("rear", -HALF))
    ]
    joints = [vi.Planar("ground", "world", "board", axis=(0, 0, 1))]
    joints += [
        vi.Revolute(f"{body.name} turns", "board", body.name, point=body.position, axis=(0, 0, 1))
        for body in (rotor, *axles)
    ]
    springs = [
        vi.TorsionSpring(f"{name} spring", joint=f"{name} turns", stiffness=stiffness)
        for name, stiffness in (("rotor", SPRING), ("front", AXLE_SPRING), ("rear", AXLE_SPRING))
    ]
    keeps = vi.UserRateConstraint("wheels", ["front", "rear"], sideways)
    start = {"coordinates": {"rotor turns": TURNED, "front turns": STEERED, "rear turns": -STEERED}}
    return vi.Mechanism("snakeboard", [board, rotor, *axles], joints, forces=[*springs, keeps], start=start)


def rows(q):
    """A (2, 6) by the rates of q = (x, y, heading, rotor, front, rear): sin and cos of the heading of each axle."""
    front, rear = q[2] + q[4], q[2] + q[5]
    return np.array(
        [
            [-np.sin(front), np.cos(front), HALF * np.cos(q[4]), 0.0, 0.0, 0.0],
            [-np.sin(rear), np.cos(rear), -HALF * np.cos(q[5]), 0.0, 0.0, 0.0],
        ]
    )


def solution(t):
    """Coordinates (T, 6) at times ``t``: the mass matrix is constant, as all centres of mass are on the board's own."""
    yaw = {name: body.inertia[2, 2] for name, body in ((body.name, body) for body in build().bodies)}
    M = np.zeros((6, 6))
    M[0, 0] = M[1, 1] = BOARD + ROTOR + 2 * AXLE
    M[2, 2] = sum(yaw.values()) + 2 * AXLE * HALF**2
    for k, name in ((3, "rotor"), (4, "front"), (5, "rear")):
        M[2, k] = M[k, 2] = M[k, k] = yaw[name]
    stiffness = np.array([0.0, 0.0, 0.0, SPRING, AXLE_SPRING, AXLE_SPRING])

    def rate(_, state):
        q, v = np.split(state, 2)
        h = 1e-5
        A, bend = rows(q), (rows(q + h * v) - rows(q - h * v)) @ v / (2 * h)
        matrix = np.block([[M, -A.T], [A, np.zeros((2, 2))]])
        return np.concatenate([v, np.linalg.solve(matrix, [*(-stiffness * q), *-bend])[:6]])

    start = np.array([0.0, 0.0, 0.0, TURNED, STEERED, -STEERED, *np.zeros(6)])
    return solve_ivp(rate, (0.0, t[-1]), start, t_eval=t, rtol=1e-11, atol=1e-12, method="DOP853").y[:6].T


def coordinates(run):
    """The coordinates (T, 6) of a run."""
    heading = 2 * np.unwrap(np.arctan2(run.quat_wxyz[:, 0, 3], run.quat_wxyz[:, 0, 0]))
    turns = [run.coordinates[f"{name} turns"].ravel() for name in ("rotor", "front", "rear")]
    return np.column_stack([run.position[:, 0, :2], heading, *turns])


def main():
    mechanism = build()
    for dt in (0.02, 0.01):
        run = vi.simulate(mechanism, 4.0, dt)
        error = np.abs(coordinates(run) - solution(run.t)).max()
        print(f"dt = {dt} s: {error:.2e} from the own equations, energy changes by {np.ptp(run.energy):.1e} J")
    print(f"it goes {np.linalg.norm(run.position[-1, 0] - run.position[0, 0]):.3f} m")


if __name__ == "__main__":
    main()
