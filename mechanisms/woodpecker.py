"""The woodpecker toy: it pecks its way down a pole, stuck and released in turn."""

import numpy as np

import varint as vi
from varint.mechanisms._links import NORMAL, hinge

POLE = 2.5e-3  # m, radius
SLEEVE_RADIUS, HALF_SLEEVE = 3.1e-3, 5.8e-3  # m
SLEEVE_MASS, SLEEVE_MOMENT = 3e-4, 5e-9  # kg, kg m^2
BIRD_MASS, BIRD_MOMENT = 4.5e-3, 7e-7
SPRING_AT = 1e-2  # m, of the spring from the middle of the pole
BEAK_UP, BEAK_BACK = 2e-2, 2.01e-2  # m, from the middle of the bird
STIFFNESS, FRICTION, BEAK = 5.6e-3, 0.3, 0.5  # N m/rad; restitution of the beak


FROM_SPRING = 1.5e-2  # m, of the middle of the bird


def build(tilt: float = -0.1, swing: float = -0.2788, fall: float = -0.3411, peck: float = -7.4583) -> vi.Mechanism:
    """A sleeve on a pole, which turns by its clearance, and a bird on a rotary spring, in the x-z plane.

    The lower edge of the sleeve jams on the pole as the bird swings, and the sleeve slides down in between; the beak
    hits the pole. The numbers are those of Glocker, Dynamik von Starrkoerpersystemen mit Reibung und Stoessen (1995),
    whose sleeve stays in the middle of the pole.

    Zero of the coordinates: the sleeve and the bird straight ("sleeve": height, m, and angle, rad; "spring": angle of
    the bird about the sleeve, rad; angles from x towards z).

    Parameters
    ----------
    tilt : float, rad
        Of the sleeve at the start.
    swing : float, rad
        Of the bird in space at the start.
    fall : float, m/s
        Speed of the sleeve upwards at the start.
    peck : float, rad/s
        Angular velocity of the bird in space at the start.
    """
    bird_at = np.array([SPRING_AT + FROM_SPRING, 0.0, 0.0])
    tube = {"kind": "box", "sizes": (2 * SLEEVE_RADIUS, 2 * SLEEVE_RADIUS, 2 * HALF_SLEEVE)}
    back = {"kind": "capsule", "sizes": (4e-3, 2.2 * BEAK_UP)}
    beak = {"kind": "box", "sizes": (BEAK_BACK, 2e-3, 2e-3), "position": (-0.5 * BEAK_BACK, 0, BEAK_UP)}
    sleeve = vi.Body("sleeve", mass=SLEEVE_MASS, inertia=np.diag(3 * [SLEEVE_MOMENT]), **_seen(tube))
    moments = np.diag(3 * [BIRD_MOMENT])
    bird = vi.Body("bird", mass=BIRD_MASS, inertia=moments, position=bird_at, **_seen(back, beak))
    parts = [{"type": "Prismatic", "axis": (0, 0, 1)}, {"type": "Revolute", "axis": NORMAL}]
    joints = [
        vi.Composite("sleeve", "world", "sleeve", point=(0, 0, 0), parts=parts),
        hinge("spring", "sleeve", "bird", (SPRING_AT, 0, 0)),
    ]
    edges = [(SLEEVE_RADIUS, 0, -HALF_SLEEVE), (SLEEVE_RADIUS, 0, HALF_SLEEVE)]
    pole = {"ground": (POLE, 0, 0), "normal": (1, 0, 0), "friction": FRICTION}
    forces = [
        vi.TorsionSpring("rotary spring", joint="spring", stiffness=STIFFNESS),
        vi.HardContact("lower edge", "sleeve", points=edges[:1], **pole),
        vi.HardContact("upper edge", "sleeve", points=edges[1:], **pole),
        vi.HardContact("beak", "bird", points=[bird_at + (-BEAK_BACK, 0, BEAK_UP)], restitution=BEAK, **pole),
    ]
    start = {
        "coordinates": {"sleeve": (0.0, tilt), "spring": swing - tilt},
        "rates": {"sleeve": (fall, 0.0), "spring": peck},
    }
    return vi.Mechanism("woodpecker", [sleeve, bird], joints, forces=forces, start=start)


def _seen(*solids):
    """Solids of a body for all pictures; it touches by points alone."""
    return {"solids": solids, "collision": True}


EXPECTED = {
    "bodies": 2,
    "rows": 9,
    "mobility": 3,
    "redundant": 0,
    "loops": 0,
    "dt": 2e-4,
    "duration": 1.0,
    "variants": [{"swing": -0.2}],
}
