"""Coordinates, rates and energies of states by compiled calls: those of the frames, in any number of threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import varint as vi
from varint.kinematics.frames import joint_coordinates, joint_rates
from varint.results.dynamics import energy_at

PLACE = {"point": (0.4, 0.1, 0.2)}
ALONG = PLACE | {"axis": (1, 2, 3)}
JOINTS = [
    vi.Free("joint", "b 1", "b 2", **PLACE),
    vi.Spherical("joint", "b 1", "b 2", **PLACE),
    vi.Translational("joint", "b 1", "b 2", **PLACE),
    *(
        kind("joint", "b 1", "b 2", **ALONG)
        for kind in (vi.Revolute, vi.Prismatic, vi.Cylindrical, vi.PlanarTranslation)
    ),
    *(kind("joint", "world", "b 2", **ALONG) for kind in (vi.Planar, vi.PointOnLine, vi.PointOnPlane)),
    vi.Fixed("joint", "b 1", "b 2"),
    vi.Universal("joint", "b 1", "world", axis_b=(2, -1, 0), **ALONG),
    vi.Helical("joint", "b 1", "b 2", lead=0.1, **ALONG),
]


def two_bodies(joint):
    bodies = [vi.Body.box(f"b {k}", (0.1, 0.2, 0.3), 1.0, position=(0.3 * k, 0, 0.1)) for k in (1, 2)]
    joints = [joint]
    if "world" in (joint.body_a, joint.body_b):
        other = "b 1" if "b 1" not in (joint.body_a, joint.body_b) else "b 2"
        joints.append(vi.Free("other", "world", other))
    return vi.Mechanism("two bodies", bodies, joints)


def random_state(rng, nb):
    """Not closed: what is read is what the frames of each joint say."""
    quat = rng.normal(size=(nb, 4))
    quat /= np.linalg.norm(quat, axis=1, keepdims=True)
    return vi.State(rng.normal(size=(nb, 3)), quat, *rng.normal(size=(2, nb, 3)))


@pytest.mark.parametrize("joint", JOINTS, ids=lambda joint: type(joint).__name__)
def test_coordinates_and_rates_are_those_of_the_frames(rng, joint):
    mechanism, state = two_bodies(joint), random_state(rng, 2)
    motion = [array[None] for array in (state.position, state.quat_wxyz, state.velocity, state.angular_velocity)]
    q = joint_coordinates(mechanism, joint, *motion[:2])[0]
    rate = joint_rates(mechanism, joint, q[None], *motion)[0]
    found, rates = mechanism.coordinates(state)["joint"], mechanism.rates(state)["joint"]
    assert found.shape == q.shape
    np.testing.assert_allclose(found, q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(rates, rate, rtol=0, atol=1e-12)


def test_states_of_other_types_are_read_and_wrong_ones_told():
    mechanism = vi.mechanisms.double_pendulum()
    state = mechanism.state(coordinates={"joint 1": 0.3})
    found = mechanism.coordinates(state)
    lists = vi.State(*(array.tolist() for array in (state.position, state.quat_wxyz, state.velocity, state.velocity)))
    longer = vi.State(state.position, 1.00001 * state.quat_wxyz, state.velocity, state.angular_velocity)
    for other in (lists, longer):
        assert mechanism.coordinates(other)["joint 1"] == pytest.approx(found["joint 1"], abs=1e-15)
    for k, value in ((0, np.nan), (0, 1e16), (2, np.inf)):
        arrays = [state.position.copy(), state.quat_wxyz, state.velocity.copy(), state.angular_velocity]
        arrays[k][1, 2] = value
        with pytest.raises(vi.StateError):
            mechanism.coordinates(vi.State(*arrays))
        with pytest.raises(vi.StateError):
            vi.energy(mechanism, vi.State(*arrays))
    with pytest.raises(vi.StateError):
        mechanism.rates(vi.mechanisms.n_pendulum(3).state())
    found["joint 1"] = 7.0  # a reading is nobody else's
    assert mechanism.coordinates(state)["joint 1"] != 7.0


def test_threads_read_at_once():
    mechanism = vi.mechanisms.double_pendulum()
    states = [mechanism.state(coordinates={"joint 1": 0.1 * k}, rates={"joint 2": float(k)}) for k in range(8)]

    def read(k):
        for _ in range(200):
            assert mechanism.coordinates(states[k])["joint 1"] == pytest.approx(0.1 * k, abs=1e-14)
            assert mechanism.rates(states[k])["joint 2"] == pytest.approx(k, abs=1e-13)
            vi.energy(mechanism, states[k])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(read, range(8)))


@pytest.mark.parametrize("name", ["andrews_squeezer", "wrapped_double_pendulum", "two_bones_one_muscle"])
def test_energies_are_those_of_the_forces(name):
    mechanism = getattr(vi.mechanisms, name)()
    state = mechanism.state()
    found = vi.energy(mechanism, state)
    slow = energy_at(mechanism, state, lambda: np.zeros(len(mechanism.forces)))
    assert found.kinetic == pytest.approx(slow.kinetic, rel=1e-13, abs=1e-14)
    assert found.gravity == pytest.approx(slow.gravity, rel=1e-12, abs=1e-13)
    assert dict(found.forces) == pytest.approx(dict(slow.forces), rel=1e-13, abs=1e-14)
