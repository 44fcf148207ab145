"""Bodies at weighted means of points of others, in reduced coordinates."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from reduced_gradient_checks import check
from test_attachments import IN_BETWEEN, ON_BOTH, ON_RODS, O, ball, carts, floats, gap, hung, pinned

import varint as vi

ALL = ("position", "quat_wxyz", "velocity", "angular_velocity")
NEAR = {"rtol": 1e-11, "atol": 1e-12}
STEPS = ["rk4", "matrix", "radau", "bdf2", "sdirk2", "euler"]


def swinging():
    mechanism = pinned()
    return mechanism, mechanism.state(angular_velocity={"r0": (1.0, 0.0, 0.5)})


def gaps(run):
    """(forces,) m, the largest at any node."""
    nodes = range(len(run))
    return [max(np.abs(gap(run.mechanism, f, run.position[k], run.quat_wxyz[k])).max() for k in nodes)
            for f in run.mechanism.forces]  # fmt: skip


@pytest.mark.parametrize("integrator", ["dop853", "bdf2"])
def test_the_mass_of_an_attached_particle(integrator):
    # NOTES 0.18, as in test_attachments.py
    tied = vi.Attachment("tied", "p", to=[("a", O, 0.25), ("b", (1, 0, 0), 0.75)])
    mechanism = carts(tied, bodies=[ball("p", (0.75, 0, 0))], joints=floats("p"))
    push = np.array([2.0, -1.0])
    pull = np.linalg.solve([[2.09375, 0.28125], [0.28125, 3.84375]], push)
    loads = {"force": {"a": (push[0], 0, 0), "b": (push[1], 0, 0)}}
    run = vi.redmax.simulate(mechanism, 0.5, 0.01, integrator=integrator, **loads)
    assert np.abs(run.velocity[-1, :2, 0] - 0.5 * pull).max() < 1e-12
    assert np.abs(run.force["tied"][5] - (1.5 * (0.25 * pull[0] + 0.75 * pull[1]), 0, 0)).max() < 1e-9
    equations = vi.EquationsOfMotion(mechanism)
    q, still = np.zeros((2, equations.size))
    M, G = equations.mass_matrix(q), equations.violations(q, still)[2]
    motions = np.linalg.svd(G)[2][len(G) :].T  # that it allows, by those of the slides
    slides = [vi.redmax.coordinates(mechanism)[name].start for name in ("slide a", "slide b")]
    motions = motions @ np.linalg.inv(motions[slides])
    assert np.abs(motions.T @ M @ motions - [[2.09375, 0.28125], [0.28125, 3.84375]]).max() < 1e-14


@pytest.mark.slow
def test_chains_in_any_order_have_the_same_bits():
    runs = [vi.redmax.simulate(hung(*order), 0.05, 0.01) for order in permutations((IN_BETWEEN, ON_BOTH, ON_RODS))]
    for run in runs[1:]:
        assert all(np.array_equal(getattr(run, name), getattr(runs[0], name)) for name in ALL)
    assert max(gaps(runs[0])) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: (hung(), hung().state()), swinging])
def test_both_formulations_approach_each_other_at_order_two(make):
    mechanism, state = make()
    exact = vi.redmax.simulate(mechanism, 0.2, 0.01, state=state, **NEAR)
    assert np.abs(exact.energy - exact.energy[0]).max() < 1e-9
    assert max(gaps(exact)) < 1e-10
    apart = {name: [] for name in ("position", *(force.name for force in mechanism.forces))}
    for dt in (0.01, 0.005):
        run = vi.simulate(mechanism, 0.2, dt, state=state)
        apart["position"].append(np.abs(run.position[-1] - exact.position[-1]).max())
        for force in mechanism.forces:
            apart[force.name].append(np.abs(run.force[force.name][-1] - exact.force[force.name][-1]).max())
    for coarse, fine in apart.values():
        assert 1.9 < np.log2(coarse / fine) < 2.1


@pytest.mark.slow
@pytest.mark.parametrize("integrator", STEPS)
def test_integrators_close_it(integrator):
    within = {"euler": 5e-3, "bdf2": 2e-3, "sdirk2": 2e-4}.get(integrator, 1e-5)
    for mechanism, state in ((hung(), hung().state()), swinging()):
        exact = vi.redmax.simulate(mechanism, 0.1, 0.01, state=state, **NEAR)
        run = vi.redmax.simulate(mechanism, 0.1, 0.01, state=state, integrator=integrator)
        assert np.abs(run.position - exact.position).max() < within
        assert max(gaps(run)) < within


def test_attachments_to_one_body_are_ball_joints_of_the_tree():
    mechanism, state = swinging()
    names = ["top is a ball", "knee is a ball", "foot is a ball", "free r3"]
    assert list(vi.redmax.coordinates(mechanism)) == names
    equations = vi.EquationsOfMotion(mechanism, state)
    assert len(equations.multipliers(0.0, *equations.coordinates(state))) == 3  # of the one between two bodies
    run = vi.redmax.simulate(mechanism, 0.05, 0.01, state=state)
    assert list(run.columns) == names
    assert run.coordinates["free r1"].shape == (6, 6)  # measured
    for order in ((3, 2, 1, 0), (2, 0, 3, 1)):
        other = vi.redmax.simulate(pinned(*order), 0.05, 0.01, state=state)
        assert all(np.array_equal(getattr(other, name), getattr(run, name)) for name in (*ALL, "q"))
    with pytest.raises(vi.ArgumentError, match="'free r1' is held by attachment 'knee'"):
        vi.redmax.simulate(mechanism, 0.1, 0.01, state=state, prescribed={"free r1": lambda t: np.zeros((3, 6))})


def test_a_body_does_not_hang_from_itself():
    rods = [vi.Body.rod("r0", O, (0, 0, -1), mass=1.0), vi.Body.rod("r1", (0, 0, -1), (0.5, 0, -1), mass=0.5)]
    joints = [vi.Free("base", "world", "r0"), vi.Free("tip", "r0", "r1")]
    tied = vi.Attachment("tied", "r0", point=(0, 0, -1), to=[("r1", (0, 0, -1), 1.0)])
    start = {"angular_velocity": {"r0": (1.0, 0.2, 0.5)}}
    mechanism = vi.Mechanism("circle", rods, joints, forces=[tied], start=start)
    assert list(vi.redmax.coordinates(mechanism)) == ["base", "tip"]
    runs = vi.redmax.simulate(mechanism, 0.1, 0.01), vi.simulate(mechanism, 0.1, 0.001)
    assert np.abs(runs[0].position[-1] - runs[1].position[-1]).max() < 1e-6


def test_friction_of_a_joint_that_carries_an_attached_body():
    """The load of the hinge's bearing includes what the attached rod pulls by."""
    rods = [vi.Body.rod("r0", O, (1, 0, 0), mass=1.0), vi.Body.rod("r1", (1, 0, 0), (1, 0, -1), mass=2.0)]
    hinge = vi.Revolute("hinge", "world", "r0", point=O, axis=(0, 1, 0))
    rub = vi.JointCoulombFriction("rub", joint="hinge", coefficient=0.3, radius=0.1)
    knee = vi.Spherical("knee", "r0", "r1", point=(1, 0, 0))
    tied = vi.Attachment("tied", "r1", point=(1, 0, 0), to=[("r0", (1, 0, 0), 1.0)])
    jointed = vi.Mechanism("jointed", rods, [hinge, knee], forces=[rub])
    attached = vi.Mechanism("attached", rods, [hinge, vi.Free("free", "world", "r1")], forces=[rub, tied])
    runs = [vi.redmax.simulate(each, 0.1, 0.01, integrator="euler") for each in (jointed, attached)]
    assert np.abs(runs[0].position - runs[1].position).max() < 1e-9
    assert np.abs(runs[0].friction["rub"] - runs[1].friction["rub"]).max() < 1e-6
    assert np.abs(runs[0].friction["rub"]).max() > 0.1


def test_a_state_that_leaves_one_open_is_refused():
    mechanism = hung()
    state = mechanism.state()
    apart = replace(state, position=state.position + np.eye(6)[3][:, None] * (0.1, 0, 0))
    with pytest.raises(
        vi.StateError, match=r"leaves a joint, an attachment or a constraint .* m open: mechanism.assemble"
    ):
        vi.redmax.simulate(mechanism, 0.1, state=apart)


@pytest.mark.slow
def test_gradients_of_a_run():
    rng = np.random.default_rng(5)
    check(hung(), ["p.mass", "r0.mass", "gravity"], rng, "bdf2")


@pytest.mark.slow
def test_inverse_dynamics_of_both_runs_agree():
    motor = vi.Motor("motor", joint="slide a", effort=lambda t: 2.0 + t)
    tied = vi.Attachment("tied", "p", to=[("a", O, 0.25), ("b", (1, 0, 0), 0.75)])
    mechanism = carts(tied, motor, bodies=[ball("p", (0.75, 0, 0))], joints=floats("p"))
    for run in (vi.simulate(mechanism, 0.1, 0.01), vi.redmax.simulate(mechanism, 0.1, 0.01)):
        assert np.abs(vi.inverse_dynamics(run)["motor"] - (2.0 + run.t)).max() < 1e-6


@pytest.mark.slow
def test_runs_in_files_and_their_continuation(tmp_path):
    mechanism, state = swinging()
    whole = vi.redmax.simulate(mechanism, 0.1, 0.01, state=state)
    whole.save(tmp_path / "whole.h5")
    again = vi.load(tmp_path / "whole.h5")
    assert np.array_equal(again.position, whole.position)
    assert np.array_equal(again.force["knee"], whole.force["knee"])
