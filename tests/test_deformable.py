"""Springs with mass: equilibrium, eigenfrequencies, and both formulations."""

import numpy as np
import pytest

import varint as vi

GRAVITY = 9.81


def hanging(mass=2.0, segments=5, damping=0.0):
    """A block on a spring of 0.5 kg under the world."""
    block = vi.Body.box("block", (0.1, 0.1, 0.1), mass, position=(0, 0, -1.0))
    slide = vi.Prismatic("slide", "world", "block", point=(0, 0, -1.0), axis=(0, 0, 1))
    spring = vi.deformable_spring(
        "spring", "world", "block", point_a=(0, 0, 0), point_b=(0, 0, -1.0), mass=0.5, stiffness=100.0,
        segments=segments, damping=damping,
    )  # fmt: skip
    return vi.Mechanism("hanging", [block, *spring.bodies], [slide, *spring.joints], forces=spring.forces)


@pytest.mark.slow
@pytest.mark.parametrize("segments", [1, 2, 5])
def test_hangs_by_the_load_and_half_its_own_mass(segments):
    run = vi.redmax.simulate(hanging(segments=segments, damping=20.0), 10.0, integrator="bdf2", dt=0.01)
    assert run.kinetic[-1] < 1e-8
    assert run.coordinates["slide"][-1] == pytest.approx(-(2.0 + 0.25) * GRAVITY / 100.0, rel=1e-4)


@pytest.mark.parametrize("mode", [1, 2])
def test_vibrates_at_the_eigenfrequencies_of_the_chain(mode):
    """Between two walls: w = 2 n sqrt(k / m) sin(j pi / 2 n)."""
    n, k, m, size = 6, 50.0, 0.3, 1e-3
    spring = vi.deformable_spring(
        "s", "world", "world", point_a=(0, 0, 0), point_b=(1, 0, 0), mass=m, stiffness=k, segments=n
    )
    mechanism = vi.Mechanism("string", spring.bodies, spring.joints, gravity=(0, 0, 0), forces=spring.forces)
    assert sum(body.mass for body in mechanism.bodies) == pytest.approx(m * (n - 1) / n)
    shape = size * np.sin(mode * np.pi * np.arange(1, n) / n)
    state = mechanism.state(coordinates={f"s {i}": (x, 0, 0) for i, x in enumerate(shape, start=1)})
    w = 2 * n * np.sqrt(k / m) * np.sin(mode * np.pi / (2 * n))
    T = 4 * np.pi / w
    expected = np.outer(np.cos(w * np.linspace(0.0, T, 41)), shape)
    for run in (
        vi.redmax.simulate(mechanism, T, dt=T / 40, state=state, rtol=1e-10),
        vi.simulate(mechanism, T, T / 4000, state=state, every=100),
    ):
        moved = np.array([run.coordinates[f"s {i}"][:, 0] for i in range(1, n)]).T
        assert moved == pytest.approx(expected, abs=1e-3 * size)


def test_both_formulations_agree_at_order_two():
    """A pendulum that a slack, heavy spring ties to the world."""
    body = vi.Body.box("body", (0.1, 0.1, 1.0), 1.0, position=(0.5, 0, 0), quat_wxyz=(np.sqrt(0.5), 0, np.sqrt(0.5), 0))
    joint = vi.Spherical("pivot", "world", "body", point=(0, 0, 0))
    spring = vi.deformable_spring(
        "spring", "body", "world", point_a=(1, 0, 0), point_b=(1.5, 0.3, 0.2), mass=0.4, stiffness=40.0, segments=4,
        rest_length=0.4,
    )  # fmt: skip
    mechanism = vi.Mechanism("tied", [body, *spring.bodies], [joint, *spring.joints], forces=spring.forces)
    T = 0.5
    exact = vi.redmax.simulate(mechanism, T, dt=T, rtol=1e-11)
    assert np.abs(exact.energy_balance).max() < 1e-8
    errors = [
        np.abs(vi.simulate(mechanism, T, T / n, tol=1e-12).position[-1] - exact.position[-1]).max() for n in (200, 400)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"segments": 0}, "segments of deformable spring 's' must be a whole number from 1, got 0"),
        ({"mass": 0.0}, "mass of deformable spring 's'"),
        ({"point_b": (0, 0, 0)}, "deformable spring 's' needs two points that are apart"),
    ],
)
def test_bad_parameters(change, message):
    given = {"point_a": (0, 0, 0), "point_b": (1, 0, 0), "mass": 1.0, "stiffness": 1.0, "segments": 2} | change
    with pytest.raises(vi.MechanismError, match=message):
        vi.deformable_spring("s", "world", "b", **given)
