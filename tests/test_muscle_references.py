"""Tendons of an elbow and a finger at poses whose lengths and moment arms others computed, and touches of a surface.

The numbers of the paths are those of MyoElbow and MyoFinger of the MyoSim models (Apache 2.0), all of which
`benchmarks/myo_models.py` compares.
"""

import numpy as np
import pytest
from test_wraps import elbow_path, two_links

import varint as vi

HUMERUS = np.array([-0.017545, -0.007, 0.17])  # m, in axes of the base
ULNA = HUMERUS + [0.0061, -0.2904, -0.0123]
BICEPS = {  # points by body, m, in its axes
    "world": [(-0.0392, 0.0035, 0.148), (-0.0289, 0.0139, 0.1564)],
    "humerus": [(0.0213, 0.0179, 0.0103), (0.0238, -0.0051, 0.012), (0.0134, -0.0283, 0.0014),
                (0.0107, -0.0774, -0.0016), (0.017, -0.1212, 0.0002), (0.0228, -0.1754, -0.0063)],
    "ulna": [(0.0075, -0.0484, 0.0218)],
}  # fmt: skip


def rods(places):
    """Bodies that only have to be there, from place to place."""
    return [
        vi.Body.rod(name, start, np.add(start, (0.03, 0.03, 0.03)), mass=1.0, radius=0.01)
        for name, start in places.items()
    ]


def test_biceps_of_the_elbow():
    """Bent by one radian, of MuJoCo."""
    places = {"humerus": HUMERUS, "ulna": ULNA}
    points = [vi.At(body, places.get(body, np.zeros(3)) + point) for body, listed in BICEPS.items() for point in listed]
    head = vi.SphereSurface(HUMERUS + [-0.001, -0.0008, 0.0012], 0.025, side=HUMERUS + [0.0, 0.03, -0.02])
    tendon = vi.Tendon("biceps", path=[*points[:2], vi.Around("humerus", head), *points[2:]], stiffness=1.0)
    joints = [
        vi.Revolute("shoulder", "world", "humerus", point=HUMERUS, axis=(-0.058898, 0.0023, 0.998261)),
        vi.Revolute("elbow", "humerus", "ulna", point=ULNA, axis=(0.0494, 0.0366, 0.998108)),
    ]
    arm = vi.Mechanism("arm", rods(places), joints, forces=[tendon])
    state = arm.state(coordinates={"shoulder": 0.0, "elbow": 1.0})
    run = vi.simulate(arm, 1e-3, 1e-3, state=state)
    assert run.length["biceps"][0] == pytest.approx(0.3965381844661235, abs=1e-10)
    arms = vi.moment_arms(arm, "biceps", state=state)
    assert [arms["shoulder"], arms["elbow"]] == pytest.approx([-0.0199390429271, -0.0394622788029], abs=1e-10)


def test_deep_flexor_of_the_finger():
    """Three joints bent, a sphere and two cylinders, of MuJoCo."""
    places = {"proximal": (0, 0, 0.3), "middle": (0.1, 0, 0.3), "distal": (0.2, 0, 0.3)}
    across = (0, 1, 0)
    path = [
        vi.At("world", (-0.02, 0, 0.28)),
        vi.Around("proximal", vi.SphereSurface((0, 0, 0.3), 0.024)),
        vi.At("proximal", (0.035, 0, 0.28)),
        vi.At("proximal", (0.075, 0, 0.275)),
        vi.Around("middle", vi.CylinderSurface((0.1, 0, 0.3), across, 0.020)),
        vi.At("middle", (0.13, 0, 0.28)),
        vi.At("middle", (0.18, 0, 0.28)),
        vi.Around("distal", vi.CylinderSurface((0.2, 0, 0.3), across, 0.018)),
        vi.At("distal", (0.24, 0, 0.29)),
    ]
    names = list(places)
    joints = [
        vi.Revolute(f"{name} joint", before, name, point=places[name], axis=across)
        for name, before in zip(names, ("world", *names[:-1]), strict=True)
    ]
    tendon = vi.Tendon("deep flexor", path=path, stiffness=1.0)
    finger = vi.Mechanism("finger", rods(places), joints, forces=[tendon])
    angles = dict(zip((joint.name for joint in joints), (0.6, 0.8, 0.4), strict=True))
    state = finger.state(coordinates=angles)
    run = vi.simulate(finger, 1e-4, 1e-4, state=state)
    assert run.length["deep flexor"][0] == pytest.approx(0.21767976621544077, abs=1e-10)
    arms = list(vi.moment_arms(finger, "deep flexor", state=state).values())
    assert arms == pytest.approx([-0.026298252549, -0.0315942018163, -0.0217197119776], abs=1e-10)


@pytest.mark.parametrize("smoothing", [0.01, 0.005])
def test_energy_over_touches_of_a_surface(smoothing):
    """A path that meets and leaves a smooth surface six times and more."""
    tendon = vi.Tendon("t", path=elbow_path(), stiffness=20.0, rest_length=0.9, smoothing=smoothing, one_sided=False)
    mechanism = two_links(tendon)
    state = mechanism.state(coordinates={"shoulder": 0.3, "elbow": 0.8})
    run = vi.simulate(vi.Problem(mechanism, 6.0, state=state), vi.Reduced("dop853", rtol=1e-8))
    last = run.path("lower", (0.25, 0.05, -1.4)).position
    straight = np.linalg.norm(last - [0.3, 0, 0.2], axis=1)
    wraps = run.length["t"] - straight > 1e-3
    assert np.count_nonzero(np.diff(wraps)) >= 6
    assert np.ptp(run.energy) < 1e-5
