"""A Geneva drive: a pin moves a slotted wheel by a quarter of a turn, a disc locks it in between."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, polar, prism
from varint.mechanisms._sizes import Positive

CENTRES = 0.1  # m, between the pivots
ARM = REACH = CENTRES * np.sqrt(0.5)  # m, of the pin on its crank and of the slots of the wheel: four slots
PIN, LOCK, WIDTH = 0.004, 0.04, 0.01  # m, radii of the pin and of the disc that locks
CUT = 0.02  # m, from the pivot of the driver to the flat of its disc


def build(rate: float = 2.0 * np.pi, clearance: Positive = 2e-4) -> vi.Mechanism:
    """A driver at the origin, with pin and disc, and a wheel of four slots at x = 0.1 m, in the x-z plane.

    The pin moves the wheel while it is in a slot; for the rest of the turn the disc of the driver lies in a hollow of
    the wheel. Both are outlines of flats.

    Zero of the coordinates: the pose at the start, with the pin to the left of both pivots and the wheel locked
    ("driver" and "wheel", rad, from x towards z).

    Parameters
    ----------
    rate : float, rad/s
        Of the driver, prescribed.
    clearance : float, m
        Of the pin on both sides in its slot, and of the disc in its hollow; at most 0.001.
    """
    if clearance > 1e-3:
        raise vi.MechanismError(f"clearance must be at most 0.001 m, got {clearance:g} m")
    pivot = np.array([CENTRES, 0.0, 0.0])
    half = np.arccos(CUT / LOCK)  # angle of the flat seen from the pivot
    rim = [polar(LOCK, angle) for angle in np.linspace(np.pi + half, 3.0 * np.pi - half, 49)]
    at = polar(ARM, np.pi)
    pin = vi.CapsuleShape(at - (0, WIDTH, 0), at + (0, WIDTH, 0), PIN)
    driver = vi.Body("driver", mass=0.2, inertia=np.diag([2e-4, 3e-4, 2e-4]), collision=[prism(rim, WIDTH), pin])
    horns = [prism(outline, WIDTH) for outline in _horns(clearance)]
    wheel = vi.Body("wheel", mass=0.2, inertia=np.diag([2e-4, 3e-4, 2e-4]), position=pivot, collision=horns)
    joints = [hinge("driver", "world", "driver", np.zeros(3)), hinge("wheel", "world", "wheel", pivot)]
    forces = [vi.PrescribedMotion("drive", joint="driver", rate=rate), vi.Contact("contact", "driver", "wheel")]
    start = {"rates": {"driver": rate}}
    return vi.Mechanism("Geneva drive", [driver, wheel], joints, (0, 0, 0), forces=forces, start=start)


def _horns(clearance):
    """Convex outlines (4, 3) about the pivot of the wheel: two pieces between slots, with a flat of the hollow each."""
    locked, side = LOCK + clearance, PIN + clearance
    half = np.arccos((CENTRES**2 + locked**2 - REACH**2) / (2.0 * CENTRES * locked))  # of the hollow, from the driver
    middle, end = (polar(locked / np.cos(0.5 * half), angle) for angle in (0.0, half))  # of its flat
    along, across = polar(1.0, 0.75 * np.pi), polar(1.0, 1.25 * np.pi)  # of a slot, towards the hollow
    inner, mouth = (t * along + side * across for t in (side, np.sqrt(REACH**2 - side**2)))
    piece = np.array([inner, mouth, end - (CENTRES, 0, 0), middle - (CENTRES, 0, 0)])
    for turn in 0.5 * np.pi * np.arange(4):
        for upper in (1.0, -1.0):
            x, z = piece[:, 0], upper * piece[:, 2]
            yield np.stack([np.cos(turn) * x - np.sin(turn) * z, 0.0 * x, np.sin(turn) * x + np.cos(turn) * z], axis=1)


def wheel_angle(driver):
    """Of the wheel at angles of the driver, rad, without clearance.

    The pin is in a slot from 3/4 pi to 5/4 pi of each turn, where the wheel points at it.
    """
    turns, rest = np.divmod(driver, 2.0 * np.pi)
    in_slot = np.clip(rest, 0.75 * np.pi, 1.25 * np.pi) - np.pi  # from x
    seen = np.arctan2(ARM * np.sin(in_slot), CENTRES - ARM * np.cos(in_slot))  # of the pin, from the pivot of the wheel
    return -0.5 * np.pi * turns - 0.25 * np.pi - seen


EXPECTED = {
    "bodies": 2,
    "rows": 10,
    "mobility": 2,
    "redundant": 0,
    "loops": 0,
    "dt": 0.002,
    "duration": 2.0,
    "variants": [{"rate": 12.0}],
    "impossible": [{"clearance": 0.002}],
}
