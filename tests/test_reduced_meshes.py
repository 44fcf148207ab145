"""Deformable bodies in reduced coordinates, against the steps in maximal ones; and their damping in both."""

from dataclasses import replace

import numpy as np
import pytest
from rubber_pads import arm, left, pad, right
from scipy.linalg import eigh

import varint as vi
from varint.mathematics.elasticity.materials import MATERIALS
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.mesh_dynamics import MeshInverse


def four_bar(**given):
    """A loop whose coupler a pad holds to its rocker."""
    ends = [(-0.4, 0.0, 0.0), (-0.25, 0.0, 0.3), (0.3, 0.0, 0.35), (0.4, 0.0, 0.0)]
    bodies = [vi.Body.rod(name, a, b, mass=0.4) for name, a, b in zip("abc", ends, ends[1:], strict=False)]
    pairs = zip(("world", "a", "b", "c"), ("a", "b", "c", "world"), ends, strict=True)
    joints = [
        vi.Revolute(f"pin {k}", first, second, point=point, axis=(0.0, 1.0, 0.0))
        for k, (first, second, point) in enumerate(pairs)
    ]
    soft = pad(attach={"b": left, "c": right}, **given)
    return vi.Mechanism("four-bar", bodies, joints, forces=[soft], start={"rates": {"pin 0": 2.0}})


@pytest.mark.slow
def test_derivatives_against_differences(rng):
    """Of the residuals of joints and vertices by both, with poses, rates and accelerations that change together."""
    inverse = MeshInverse(Equations(replace(arm(), gravity=(0.5, 1.0, -9.0))))
    nq, free = inverse.equations.nq, inverse.meshes.free
    q, v, a = rng.standard_normal((3, nq)) * [[0.1], [1.0], [10.0]]
    x = (inverse.meshes.points[free] + 0.003 * rng.standard_normal((len(free), 3))).ravel()
    speed, second = rng.standard_normal((2, x.size))
    by = 1.0, 0.7, 0.3

    def residual(change):
        inverse.free = np.array([x + change[nq:], speed, second])
        own = change[:nq]
        tau, _ = inverse.evaluate(0.0, q + by[0] * own, v + by[1] * own, a + by[2] * own, np.zeros(0))
        return np.append(tau.copy(), inverse.residual())

    residual(np.zeros(nq + x.size))
    tau = inverse.derivatives(*by)[0]
    mixed = inverse.stiffness.mixed @ inverse.along_joints()
    found = np.block([[tau, mixed.T], [mixed, inverse.stiffness.free.toarray()]])
    step = 1e-6
    wanted = np.column_stack([residual(step * e) - residual(-step * e) for e in np.eye(nq + x.size)]) / (2 * step)
    assert np.abs(found - wanted).max() <= 1e-9 * np.abs(wanted).max()


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "within"), [("sdirk2", 0.05), ("bdf2", 0.5)])
def test_both_formulations_agree_at_order_2(integrator, within):
    apart = []
    for dt in (2e-3, 1e-3):
        maximal = vi.simulate(arm(), 0.04, dt)
        reduced = vi.redmax.simulate(arm(), 0.04, dt, integrator=integrator)
        apart.append(np.abs(reduced.vertices["pad"][-1] - maximal.vertices["pad"][-1]).max())
        assert np.abs(reduced.position[-1] - maximal.position[-1]).max() <= 3 * apart[-1]
    assert np.log2(apart[0] / apart[1]) == pytest.approx(2.0, abs=within)
    assert apart[1] < 1e-2 * np.ptp(maximal.vertices["pad"], axis=0).max()


@pytest.mark.slow
def test_both_formulations_agree_on_a_loop_with_damping():
    apart = []
    for dt in (4e-3, 2e-3):
        maximal = vi.simulate(four_bar(damping=5e-3), 0.08, dt)
        reduced = vi.redmax.simulate(four_bar(damping=5e-3), 0.08, dt, integrator="sdirk2")
        apart.append(np.abs(reduced.vertices["pad"][-1] - maximal.vertices["pad"][-1]).max())
    assert np.log2(apart[0] / apart[1]) == pytest.approx(2.0, abs=0.15)
    assert apart[1] < 1e-3 * np.ptp(maximal.vertices["pad"], axis=0).max()
    assert reduced.work[-1, 0] == pytest.approx(maximal.work[-1, 0], rel=5e-3)
    assert maximal.work[-1, 0] < -1e-3


@pytest.mark.slow
def test_reduced_runs_go_on_to_the_same_bits(tmp_path):
    path, given = tmp_path / "run.h5", {"dt": 1e-3, "integrator": "bdf2"}
    whole = vi.redmax.simulate(arm(damping=1e-3), 0.012, **given)
    vi.redmax.simulate(arm(damping=1e-3), 0.005, output=path, **given)
    run = vi.redmax.simulate(arm(damping=1e-3), 0.012, output=path, resume=True, **given)
    for name in ("q", "qdot", "work", "vertices", "vertex_velocities"):
        assert np.array_equal(run.nodes[name], whole.nodes[name])
    assert vi.load(path).energy == pytest.approx(whole.energy, abs=0)


def test_reduced_starts_are_those_of_maximal_ones():
    mechanism = arm()
    state = mechanism.state(position={"b": [0.22, 0.01, 0.02]}, velocity={"b": [0.1, 0.0, 0.3]})
    state = mechanism.assemble(state)
    maximal = vi.simulate(mechanism, 1e-3, 1e-3, state=state)
    reduced = vi.redmax.simulate(mechanism, 1e-3, 1e-3, state=state, integrator="bdf1")
    for name in ("vertices", "vertex_velocities"):
        assert reduced.nodes[name][0] == pytest.approx(maximal.nodes[name][0], abs=1e-10)
    assert reduced.energy[0] == pytest.approx(maximal.energy[0], rel=1e-12)


# damping


@pytest.mark.parametrize("material", MATERIALS)
def test_damping_of_rigid_motions_and_of_strains(material, rng):
    """No force along rigid motions of a strained mesh; the power is that of the stress, and never above zero."""
    mesh = pad(material=material, damping=0.1).mesh
    x = mesh.points + 0.01 * rng.standard_normal(mesh.points.shape)
    spin, v = rng.standard_normal(3), rng.standard_normal(x.shape)
    rigid = np.cross(spin, x) + rng.standard_normal(3)
    size = np.abs(mesh.forces(x, mesh.viscosity(x, v))).max()
    assert np.abs(mesh.forces(x, mesh.viscosity(x, rigid))).max() <= 1e-13 * size
    force = mesh.forces(x, mesh.viscosity(x, v))
    assert np.sum(force * v) < 0
    assert np.abs(force.sum(axis=0)).max() <= 1e-12 * size
    assert np.abs(np.cross(x, force).sum(axis=0)).max() <= 1e-12 * size
    assert mesh.forces(x, mesh.viscosity(x, v + rigid)) == pytest.approx(force, abs=1e-12 * size)


@pytest.mark.slow
def test_damped_swings_are_those_of_the_first_mode():
    """A cantilever that begins to sag: its first mode decays with w damping / 2 of critical damping."""
    bare = vi.Body.box("far", (0.1, 0.1, 0.1), mass=1.0, position=(0.0, 5.0, 0.0))
    body = pad((6, 1, 1), attach={"world": left}, E=2e6, damping=2e-3)
    free = [vi.Free("free", "world", "far")]
    mechanism = vi.Mechanism("sag", [bare], free, forces=[body], gravity=(0.0, 0.0, -0.1))
    moving = np.flatnonzero(~left(body.points))
    columns = (3 * moving[:, None] + np.arange(3)).ravel()
    mass = np.repeat(body.mesh.mass[moving], 3)
    square, mode = eigh(body.mesh.stiffness(body.points).toarray()[np.ix_(columns, columns)], np.diag(mass))
    one = int(np.argmax(np.abs(mode[2::3, :2].T @ mass[2::3])))
    w, share = np.sqrt(square[one]), np.sqrt(square[one]) * body.damping / 2
    assert 0.05 < share < 0.5
    for run in (
        vi.simulate(mechanism, 0.05, 2.5e-4),
        vi.redmax.simulate(mechanism, 0.05, 2.5e-4, integrator="sdirk2"),
    ):
        along = (run.vertices["pad"] - body.points)[:, moving].reshape(len(run), -1) @ (mass * mode[:, one])
        pulled = (mass * mode[:, one]) @ np.tile(mechanism.gravity, len(moving)) / square[one]
        turned = np.sqrt(1 - share**2) * w * run.t
        decay = np.exp(-share * w * run.t) * (np.cos(turned) + share / np.sqrt(1 - share**2) * np.sin(turned))
        assert along == pytest.approx(pulled * (1 - decay), abs=2e-3 * abs(pulled))


@pytest.mark.slow
def test_damping_keeps_momenta_and_balances_energy():
    a = vi.Body.box("a", (0.1, 0.2, 0.15), mass=0.7, position=(-0.2, 0.02, 0.03))
    b = vi.Body.box("b", (0.1, 0.1, 0.1), mass=0.3, position=(0.2, 0.0, 0.0))
    free = [vi.Free("free a", "world", "a"), vi.Free("free b", "world", "b")]
    start = {"velocity": {"a": [0.1, 0.2, 0.3]}, "angular_velocity": {"a": [1.0, 0.2, -0.4], "b": [1.0, 2.0, 3.0]}}
    floating = vi.Mechanism("pair", [a, b], free, forces=[pad(damping=5e-3)], gravity=(0, 0, 0), start=start)
    lost, balance = [], []
    for dt in (2e-3, 1e-3):
        run = vi.simulate(floating, 0.1, dt)
        for momentum in (run.linear_momentum, run.angular_momentum):
            assert np.abs(momentum - momentum[0]).max() <= 1e-13
        lost.append(-run.work[-1, 0])
        balance.append(np.abs(run.energy_balance).max())
    assert lost[1] > 0.05 * run.energy[0]
    assert np.all(np.diff(run.work[:, 0]) < 0)
    assert balance[0] / balance[1] == pytest.approx(4.0, abs=0.4)
    assert balance[1] < 1e-4 * lost[1]


# wrong input


def test_what_is_refused():
    for wrong in (-1.0, np.nan, "much"):
        with pytest.raises(vi.MechanismError, match="damping of deformable body 'pad'"):
            arm(damping=wrong)
    drive = vi.PrescribedMotion("drive", joint="hinge", rate=1.0)
    with pytest.raises(vi.ArgumentError, match=r"'pad'.*no prescribed motions, as of .*'drive'"):
        vi.redmax.simulate(replace(arm(), forces=[*arm().forces, drive]), 0.01, 1e-3, integrator="bdf2")
    with pytest.raises(vi.ArgumentError, match=r"'pad'.*leave prescribed= out"):
        vi.redmax.simulate(arm(), 0.01, 1e-3, integrator="bdf2", prescribed={"hinge": lambda t: (t, 1.0, 0.0)})
    stop = vi.JointStop("stop", joint="hinge", upper=0.1)
    with pytest.raises(vi.ArgumentError, match=r"'pad'.*no impacts, as of .*'stop'"):
        vi.redmax.simulate(replace(arm(), forces=[*arm().forces, stop]), 0.01, 1e-3, integrator="sdirk2")
    for integrator in ("dop853", "radau", "euler", "gauss"):
        with pytest.raises(vi.ArgumentError, match="sdirk2"):
            vi.redmax.simulate(arm(), 0.01, 1e-3, integrator=integrator)
