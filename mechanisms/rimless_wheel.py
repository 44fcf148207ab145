"""A rimless wheel that walks down a slope: the simplest passive walker."""

import numpy as np

import varint as vi
from varint.mechanisms._links import NORMAL, polar, prism
from varint.mechanisms._sizes import Positive

TREAD = 0.2  # m, of the feet across
HUB, SPOKE = 1.0, 0.1  # kg
HUB_RADIUS, WIDTH = 0.05, 0.01  # m, radii of the hub and of the spokes


def build(spokes: int = 8, slope: float = 0.08, length: Positive = 0.5, rate: float = 2.0) -> vi.Mechanism:
    """Legs like the spokes of a wheel, which rolls on its feet down a rough plane through the origin.

    At each step the foot in front lands without rebound, the one behind lifts off, and a part of the energy is lost;
    the slope makes up for it. Walking settles at a rate in closed form (McGeer 1990).

    Zero of the coordinates: the pose at the start, where the wheel leaves its foot behind ("plane": displacements along
    -z and x, m, and angle from x towards z, rad).

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
    angles = -0.5 * np.pi - slope + half * (2.0 * np.arange(spokes) + 1.0)  # the first is that of the foot in front
    normal = polar(1.0, 0.5 * np.pi - slope)
    middle = length * np.cos(half) * normal
    tips = [polar(length, angle) for angle in angles]
    rods = [vi.Body.rod(f"spoke {k}", middle, middle + tip, SPOKE, WIDTH) for k, tip in enumerate(tips, start=1)]
    massive = vi.Body.composite("wheel", [vi.Body.sphere("hub", HUB_RADIUS, HUB, position=middle), *rods])
    sides = [polar(HUB_RADIUS, angle + 0.5 * np.pi) for angle in angles]
    legs = [prism([tip, side, -side], TREAD) for tip, side in zip(tips, sides, strict=True)]
    wheel = vi.Body("wheel", mass=massive.mass, inertia=massive.inertia, position=middle, collision=legs)
    arm = -tips[0]
    velocity = rate * np.array([arm[2], 0.0, -arm[0]])
    start = {"velocity": {"wheel": velocity}, "angular_velocity": {"wheel": (0.0, rate, 0.0)}}
    joint = vi.Planar("plane", "world", "wheel", axis=NORMAL)
    floor = vi.Contact("floor", "wheel", "world", friction=2.0)
    ground = [vi.PlaneShape((0, 0, 0), normal)]
    return vi.Mechanism("rimless wheel", [wheel], [joint], forces=[floor], ground=ground, start=start)


def walking_rate(spokes=8, slope=0.08, length=0.5, gravity=9.81):
    """Angular velocity just after each landing of a steady walk, rad/s.

    A landing keeps the moment of momentum about the new foot: w+ = r w-, r = (J + m l^2 cos(2 a)) / (J + m l^2), and a
    step brings the energy 2 m g l sin(a) sin(slope).
    """
    half, mass = np.pi / spokes, HUB + spokes * SPOKE
    moment = 0.4 * HUB * HUB_RADIUS**2 + spokes * SPOKE * (length**2 / 3.0 + WIDTH**2 / 4.0)
    about = moment + mass * length**2
    kept = (moment + mass * length**2 * np.cos(2.0 * half)) / about
    gained = 4.0 * mass * gravity * length * np.sin(half) * np.sin(slope) / about
    return np.sqrt(kept**2 * gained / (1.0 - kept**2))


EXPECTED = {
    "bodies": 1,
    "rows": 3,
    "mobility": 3,
    "redundant": 0,
    "loops": 0,
    "dt": 0.005,
    "variants": [{"spokes": 6, "slope": 0.2}],
    "impossible": [{"spokes": 4}],
}
