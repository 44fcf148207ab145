"""Mechanisms at rest and their small motions, against closed forms, differences and simulations."""

import re
from pathlib import Path

import numpy as np
import pytest
from force_samples import with_forces
from planar_links import four_bar, motions, parallelogram
from scipy.linalg import eigh
from scipy.optimize import brentq

import varint as vi

G, L, MASS = 9.81, 1.0, 1.0


def chain(n, stiffness=0.0, gravity=G):
    """Slender links of 1 kg and 1 m on hinges along y, hanging down; with torsion springs at the hinges."""
    inertia = np.diag([MASS * L**2 / 12, MASS * L**2 / 12, 1e-3])
    bodies = [vi.Body(f"link {k}", mass=MASS, inertia=inertia, position=(0, 0, -(k + 0.5) * L)) for k in range(n)]
    ends = ["world", *(body.name for body in bodies)]
    joints = [vi.Revolute(f"hinge {k}", ends[k], ends[k + 1], point=(0, 0, -k * L), axis=(0, 1, 0)) for k in range(n)]
    springs = [vi.TorsionSpring(f"spring {k}", joint=f"hinge {k}", stiffness=stiffness) for k in range(n)]
    return vi.Mechanism("chain", bodies, joints, gravity=(0, 0, -gravity), forces=springs if stiffness else [])


def chain_matrices(n, stiffness=0.0, gravity=G):
    """Mass and stiffness by the angles of the links against the vertical, of first order."""
    reach = np.tril(np.ones((n, n))) * L - 0.5 * L * np.eye(n)  # sideways motion of centre i by angle j
    mass = MASS * reach.T @ reach + MASS * L**2 / 12 * np.eye(n)
    bend = np.eye(n) - np.eye(n, k=-1)
    weight = MASS * gravity * reach.sum(axis=0)  # m g times the height that each angle lifts, by angle^2 / 2
    return mass, np.diag(weight) + stiffness * bend.T @ bend


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_a_hanging_chain(n):
    mass, stiffness = chain_matrices(n)
    found = vi.modes(chain(n))
    assert found.omega == pytest.approx(np.sqrt(eigh(stiffness, mass, eigvals_only=True)), rel=1e-9)
    assert found.stable
    assert len(found) == n


def test_a_beam_of_links_on_springs():
    mass, stiffness = chain_matrices(10, stiffness=40.0, gravity=0.0)
    found = vi.modes(chain(10, stiffness=40.0, gravity=0.0))
    assert found.omega == pytest.approx(np.sqrt(eigh(stiffness, mass, eigvals_only=True)), rel=1e-9)
    assert found.frequency == pytest.approx(found.omega / (2 * np.pi))


@pytest.mark.slow
def test_shapes_vibrate_as_they_say():
    """A run from a small share of a mode swings with its frequency and keeps its shape."""
    mechanism = vi.mechanisms.four_bar()
    rest = vi.equilibrium(mechanism)
    found = vi.modes(mechanism, rest)
    period, joint = 1 / found.frequency[0], mechanism.joints[0].name
    start = mechanism.assemble(rest, rates={joint: 1e-4})
    run = vi.simulate(mechanism, period, period / 200, state=start, order=6, tol=1e-13)
    angle = run.coordinates[joint] - run.coordinates[joint][0]
    assert angle[-1] == pytest.approx(0.0, abs=1e-7 * np.abs(angle).max() + 1e-12)
    half = len(angle) // 2
    assert angle[half] == pytest.approx(0.0, abs=1e-6 * np.abs(angle).max() + 1e-9)
    moved = run.position[50] - run.position[0]
    shape = found.shape[0, :, :3]
    share = np.sum(moved * shape) / np.sum(shape**2)
    assert np.abs(moved - share * shape).max() < 1e-3 * np.abs(moved).max()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "jansen_leg", "peaucellier", "sarrus", "klann_leg"])
def test_loops_by_differences_of_their_energy(name):
    """One coordinate: omega^2 = V'' / M, with V and M along the motion that the joints allow."""
    mechanism = getattr(vi.mechanisms, name)()
    rest = vi.equilibrium(mechanism)
    found = vi.modes(mechanism, rest)
    assert len(found) == 1
    joint = mechanism.joints[0].name
    at = float(np.ravel(mechanism.coordinates(rest)[joint])[0])
    masses = np.array([body.mass for body in mechanism.bodies])
    inertias = np.array([body.inertia for body in mechanism.bodies])

    def height(step):
        pose = mechanism.assemble(rest, coordinates={joint: at + step})
        return -masses @ pose.position @ mechanism.gravity

    h = 2e-3
    bend = (-height(2 * h) + 16 * height(h) - 30 * height(0) + 16 * height(-h) - height(-2 * h)) / (12 * h**2)
    moving = mechanism.assemble(rest, rates={joint: 1.0})
    mass = masses @ np.sum(moving.velocity**2, axis=1)
    mass += np.einsum("ni,nij,nj", moving.angular_velocity, inertias, moving.angular_velocity)
    assert found.omega[0] == pytest.approx(np.sqrt(bend / mass), rel=1e-6)


FOUR_BARS = {
    "crank-rocker": four_bar(0.4, 1.0, 0.8, 1.0),
    "double-rocker": four_bar(0.8, 0.4, 1.0, 0.9, side=-1),  # it comes to rest beyond its dead point
    "triple-rocker": four_bar(0.8, 0.7, 0.9, 1.2, side=-1),
    "change-point": parallelogram(0.4, 1.0),
}


@pytest.mark.parametrize("case", FOUR_BARS)
def test_a_four_bar_in_closed_form(case):
    """omega^2 = V'' / M where V' = 0, by the angle of the crank, with heights and speeds from the loop's closure.

    Links of 1 kg/m and 0.1 m square: m = l, J = m (l^2 + 0.1^2) / 12.
    """
    linkage = FOUR_BARS[case]
    mechanism = vi.mechanisms.four_bar(case=case)
    lengths = np.abs(linkage(1.0)[0, :, 1] - linkage(1.0)[0, :, 0])
    masses, inertias = lengths, lengths * (lengths**2 + 0.01) / 12

    def potential(q):
        """V and its first two derivatives, J."""
        return 9.81 * motions(linkage, q)[0].imag @ masses

    rest = vi.equilibrium(mechanism)
    near = np.pi / 3 + float(mechanism.coordinates(rest)["crank pivot"])
    q = brentq(lambda q: potential(q)[1], near - 0.05, near + 0.05, xtol=1e-15, rtol=1e-15)
    assert near == pytest.approx(q, abs=1e-9)
    centres, turns = motions(linkage, q)
    mass = np.abs(centres[1]) ** 2 @ masses + turns[1] ** 2 @ inertias
    assert vi.modes(mechanism, rest).omega == pytest.approx([np.sqrt(potential(q)[2] / mass)], rel=1e-9)


def test_a_hanging_parallelogram():
    """By hand: two cranks of mass m and length a, and a coupler of mass M that stays level."""
    m, M, a, g = 0.4, 1.0, 0.4, 9.81
    mechanism = vi.mechanisms.four_bar(case="change-point")
    omega = vi.modes(mechanism, vi.equilibrium(mechanism)).omega
    inertia = 2 * m * (a**2 / 3 + 0.01 / 12) + M * a**2
    assert omega == pytest.approx([np.sqrt((m + M) * g * a / inertia)], rel=1e-9)


def test_a_stretched_spring_balances_a_weight():
    """x = m g / k below its rest length, with omega^2 = k / m and damped roots of the closed form."""
    weight = vi.Body.sphere("weight", 0.1, 2.0, position=(0, 0, -1.2))
    slide = vi.Prismatic("slide", "world", "weight", point=(0, 0, 0), axis=(0, 0, 1))
    ends = {"point_a": (0, 0, 0), "point_b": (0, 0, -1.2)}
    spring = vi.Spring("spring", "world", "weight", **ends, stiffness=50.0, damping=3.0, rest_length=1.0)
    mechanism = vi.Mechanism("weight", [weight], [slide], forces=[spring])
    rest = vi.equilibrium(mechanism)
    assert rest.position[0, 2] == pytest.approx(-1.0 - 2.0 * G / 50.0, abs=1e-12)
    found = vi.modes(mechanism, rest)
    assert found.omega == pytest.approx([5.0], rel=1e-12)
    exact = np.roots([1.0, 1.5, 25.0])
    np.testing.assert_allclose(sorted(found.decay, key=np.imag), sorted(exact, key=np.imag), rtol=1e-12)


@pytest.mark.slow
def test_the_equilibrium_is_stable_and_near():
    """A double pendulum that starts upright but for a hair comes down; turned by a spring it stops at the balance."""
    upright = vi.mechanisms.double_pendulum(angle=np.pi - 0.01)
    rest = vi.equilibrium(upright)
    assert vi.modes(upright, rest).stable
    assert rest.position[:, 2] == pytest.approx([-0.5, -1.5], abs=1e-9)
    held = with_forces(vi.mechanisms.n_pendulum(1), vi.Motor("motor", joint="joint 1", effort=2.0))
    angle = float(held.coordinates(vi.equilibrium(held))["joint 1"])
    found = vi.accelerations(held, vi.equilibrium(held))
    assert np.abs(found.linear).max() < 1e-11
    assert angle != 0.0


def test_free_motions_have_no_frequency():
    found = vi.modes(vi.mechanisms.cart_pole())
    assert found.frequency[0] == 0.0
    assert not found.stable
    upside = vi.mechanisms.n_pendulum(1, angle=np.pi)
    assert vi.modes(upside, upside.state()).frequency[0] < 0


def test_shapes_are_scaled_by_the_mass():
    mechanism = vi.mechanisms.jansen_leg()
    found = vi.modes(mechanism)
    for shape in found.shape:
        twice = sum(
            body.mass * motion[:3] @ motion[:3] + motion[3:] @ body.inertia @ motion[3:]
            for body, motion in zip(mechanism.bodies, shape, strict=True)
        )
        assert twice == pytest.approx(1.0)
    assert "Hz" in repr(found)
    assert "frequency" in found._repr_html_()


@pytest.mark.slow
def test_bad_input():
    mechanism = vi.mechanisms.double_pendulum(angle=1.0)
    with pytest.raises(vi.StateError, match=r"not at rest in this state: .* N m push along a motion"):
        vi.modes(mechanism, mechanism.state())
    falling = vi.mechanisms.free_body()
    falling = vi.Mechanism("falling", falling.bodies, falling.joints)
    with pytest.raises(vi.ConvergenceError, match="no equilibrium of 'falling'"):
        vi.equilibrium(falling)
    hard = with_forces(mechanism, vi.JointStop("stop", joint="joint 1", lower=0.5, upper=3.0))
    with pytest.raises(vi.ArgumentError, match="small motions about rest support open hard stops alone"):
        vi.equilibrium(hard)
    with pytest.raises(vi.ArgumentError, match="mechanism"):
        vi.modes("four_bar")


@pytest.mark.long
@pytest.mark.slow
def test_the_examples_of_the_page(tmp_path, monkeypatch):
    """They run, and end as the page says."""
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[1] / "docs" / "linear.md").read_text()
    names: dict = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", page, re.S)), names)
    after = vi.simulate(names["cart"], 0.01, 0.01, state=names["state"], order=4)[-1]
    assert names["step"].coordinates(after) == pytest.approx(names["step"].offset, abs=1e-12)
    slopes = [names["slope"], *(names["iteration"](names[each], False)[1] for each in ("ilqr", "ddp"))]
    assert slopes == pytest.approx([3.2e-3, 1.0e-3, 6.0e-6], rel=0.05)
    closed = names["regulator"].closed_loop(names["cart"])
    run = vi.simulate(closed, 10.0, 0.01, state=names["start"])
    assert run.coordinates["pivot"][-1] == pytest.approx(np.pi, abs=1e-3)
    assert names["orbit"].stable
    assert names["orbit"].period > 1 / names["modes"].frequency[0]
    assert abs(names["spectrum"].exponents.sum()) < 1e-12
