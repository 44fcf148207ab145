"""Collocation along curves and surfaces: their joints close loops, bodies that they carry are counted freely."""

import numpy as np
import pytest
from collocation_gradients import check
from random_mechanisms import random_tree, random_velocity_state

import varint as vi


def control_frames(n=6):
    """A ring of frames that turn with it, with hills."""
    frames = np.tile(np.eye(4), (n, 1, 1))
    for T, angle in zip(frames, 2 * np.pi * np.arange(n) / n, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        T[:3, :3], T[:3, 3] = [[c, -s, 0], [s, c, 0], [0, 0, 1]], [c, s, 0.3 * np.cos(2 * angle)]
    return frames


FRAMES = control_frames()
START = vi.SplineCurve.pose(FRAMES, 0.3)[:3, 3]


def cart(*forces):
    """A cart on a track, an arm that hangs from it by a ball, a link that hangs from the arm by a hinge."""
    places = {"cart": (0.05, 0, 0.02), "arm": (0, 0.1, -0.3), "tip": (0, 0.1, -0.7)}
    solid = {"mass": 0.5, "inertia": np.diag([0.02, 0.03, 0.04])}
    bodies = [vi.Body(name, **solid, position=START + place) for name, place in places.items()]
    joints = [
        vi.SplineCurve("track", "world", "cart", point=(0, 0, 0), frames=FRAMES, at=0.3),
        vi.Spherical("ball", "cart", "arm", point=START),
        vi.Revolute("hinge", "arm", "tip", point=START + [0, 0.1, -0.5], axis=(1, 0, 0)),
    ]
    return vi.Mechanism("cart", bodies, joints, forces=forces)


FORCES = {
    "none": (),
    "spring": (vi.TorsionSpring("s", joint="track", stiffness=5.0, rest_angle=0.6, damping=0.1),),
    "motor": (vi.Motor("m", joint="track", effort=lambda t: 3 * np.sin(5 * t)),),
    "stop": (vi.JointStop("s", joint="track", lower=0.2, upper=0.6, restitution=0.5),),
    "motion": (vi.PrescribedMotion("p", joint="track", position=lambda t: 0.3 + 0.2 * np.sin(3 * t)),),
}


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("forces", FORCES.values(), ids=FORCES)
def test_forces_along_a_track_act_as_in_reduced_coordinates(forces):
    mechanism = cart(*forces)
    state = mechanism.state(rates={"hinge": 1.0} | ({} if "p" in {f.name for f in forces} else {"track": 1.0}))
    right = vi.redmax.simulate(mechanism, 0.3, 0.01, state=state, integrator="dop853", rtol=1e-12, atol=1e-12)
    errors = []
    for dt, order in ((0.01, 4), (0.005, 4), (0.005, 6)):
        run = vi.simulate(vi.Problem(mechanism, 0.3, state), vi.Lobatto(dt, order))
        errors.append(np.abs(run.position[:: round(0.01 / dt)] - right.position).max())
        assert run.coordinates["track"][-1] == pytest.approx(right.coordinates["track"][-1], abs=10 * errors[-1])
    assert np.log2(errors[0] / errors[1]) > 3.8
    assert errors[2] < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 21])
def test_rows_that_are_chosen_anew_within_a_run(seed):
    """Between two nodes other components of the joint's error become the rows."""
    rng = np.random.default_rng(seed)
    mechanism = random_tree(rng, 4, ("SplineCurve", "SplineSurface"))
    state = random_velocity_state(rng, mechanism)
    right = vi.redmax.simulate(mechanism, 0.1, 0.01, state=state, integrator="dop853", rtol=1e-12, atol=1e-12)
    run = vi.simulate(vi.Problem(mechanism, 0.1, state), vi.Lobatto(0.01, 6))
    np.testing.assert_allclose(run.position, right.position, rtol=0, atol=3e-8)  # no curve is smooth at its knots


@pytest.mark.slow
def test_a_track_that_ends_in_a_loop_and_its_gradient(rng):
    """A slide carries the cart too: the track closes a loop, or is the tree's, as the description has it."""
    straight = np.tile(np.eye(4), (6, 1, 1))
    straight[:, 0, 3] = 0.2 * np.arange(6)
    body = vi.Body("cart", mass=1.0, inertia=np.diag([0.02, 0.03, 0.04]))
    track = vi.SplineCurve("track", "world", "cart", point=(0, 0, 0), frames=straight, closed=False, at=1.0)
    slide = vi.Prismatic("slide", "world", "cart", point=(0, 0, 0), axis=(1, 0, 0))
    spring = vi.TorsionSpring("spring", joint="track", stiffness=2.0, rest_angle=1.3)
    mechanism = vi.Mechanism("loop", [body], [track, slide], forces=[spring])
    run = vi.simulate(vi.Problem(mechanism, 1.0), vi.Lobatto(0.02, 6))
    # 1 kg, 0.2 m a piece: 2 / 0.2^2 N/m
    assert run.coordinates["slide"] == pytest.approx(0.06 * (1 - np.cos(np.sqrt(50.0) * run.t)), abs=1e-9)
    check(mechanism, ["gravity", "cart.mass", "spring.stiffness", "dt"], rng, 0.1, 0.02, 6)
