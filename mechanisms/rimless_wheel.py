"""A rimless wheel that walks down a slope: the simplest passive walker."""

import numpy as np

import varint as vi
from varint.mechanisms._links import polar
from varint.mechanisms._sizes import Positive

GRAVITY, TREAD = 9.81, 0.2  # m/s^2; m, between the feet on both sides
HUB, SPOKE = 1.0, 0.1  # kg
HUB_RADIUS, WIDTH = 0.05, 0.01  # m, of the hub and of the spokes


def build(spokes: int = 8, slope: float = 0.08, length: Positive = 0.5, rate: float = 2.0) -> vi.Mechanism:
    """Legs like the spokes of a wheel, which rolls on its feet over a rough plane, along x.

    At each step the foot in front lands without rebound, the one behind lifts off, and a part of the energy is lost;
    the slope makes up for it. Walking settles at `walking_rate` in the file of the mechanism (McGeer 1990).

    Zero of the coordinates: the pose at the start, where the wheel leaves its foot behind ("free": displacements along
    x, y and z, m, and rotation vector; x is down the slope, z square to it).

    Parameters
    ----------
    spokes : int
        Number of legs, 5 at least.
    slope : float, rad
        Of the plane downwards along x.
    length : float, m
        Of the legs.
    rate : float, rad/s
        At the start, about the foot in front.
    """
    if spokes < 5:
        raise vi.MechanismError(f"spokes must be at least 5, got {spokes}")
    half = np.pi / spokes
    angles = -0.5 * np.pi - half + 2.0 * half * np.arange(spokes)
    middle = np.array([0.0, 0.0, length * np.cos(half)])
    tips = [middle + polar(length, angle) for angle in angles]
    spokes_of = [vi.Body.rod(f"spoke {k}", middle, tip, SPOKE, WIDTH) for k, tip in enumerate(tips, start=1)]
    wheel = vi.Body.composite("wheel", [vi.Body.sphere("hub", HUB_RADIUS, HUB, position=middle), *spokes_of])
    feet = [tip + (0.0, side, 0.0) for tip in tips for side in (-0.5 * TREAD, 0.5 * TREAD)]
    floor = vi.HardContact("floor", "wheel", points=feet, friction=2.0)
    arm = middle - np.array([length * np.sin(half), 0.0, 0.0])  # from the foot in front to the middle
    velocity = rate * np.array([arm[2], 0.0, -arm[0]])
    start = {"velocity": {"wheel": velocity}, "angular_velocity": {"wheel": (0.0, rate, 0.0)}}
    gravity = GRAVITY * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    free = vi.Free("free", "world", "wheel")
    return vi.Mechanism("rimless wheel", [wheel], [free], gravity, forces=[floor], start=start)


def walking_rate(spokes=8, slope=0.08, length=0.5):
    """Angular velocity just after each landing of a steady walk, rad/s.

    A landing keeps the moment of momentum about the new foot: w+ = r w-, r = (J + m l^2 cos(2 a)) / (J + m l^2), and a
    step brings the energy 2 m g l sin(a) sin(slope).
    """
    half, mass = np.pi / spokes, HUB + spokes * SPOKE
    moment = 0.4 * HUB * HUB_RADIUS**2 + spokes * SPOKE * (length**2 / 3.0 + WIDTH**2 / 4.0)
    about = moment + mass * length**2
    kept = (moment + mass * length**2 * np.cos(2.0 * half)) / about
    gained = 4.0 * mass * GRAVITY * length * np.sin(half) * np.sin(slope) / about
    return np.sqrt(kept**2 * gained / (1.0 - kept**2))


EXPECTED = {
    "bodies": 1,
    "rows": 0,
    "mobility": 6,
    "redundant": 0,
    "loops": 0,
    "dt": 0.005,
    "walking": walking_rate(),
    "variants": [{"spokes": 6, "slope": 0.2}],
    "impossible": [{"spokes": 4}],
}
