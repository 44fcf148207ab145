"""Beams that tests hold against references, and their equilibria by Newton's method under a load that grows."""

import numpy as np

import varint as vi
from varint.linear.rest import at_rest
from varint.model.rotation_vectors import quat_from_vector, quat_product

LOW = vi.Section(EA=1e5, GJ=5.0, EI=10.0, kGA=4e4, mass_per_length=1.0)  # 1 m long in most tests
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
