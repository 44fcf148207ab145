"""Attachments: points at the weighted mean of others, as rows in maximal coordinates."""

from itertools import permutations

import numpy as np
import pytest

import varint as vi
from varint.model.rotation_vectors import rotation_matrix
from varint.results.derived import conserves_momentum

O = (0.0, 0.0, 0.0)


def ball(name, position, mass=1.5):
    return vi.Body.sphere(name, radius=0.02, mass=mass, position=position)


def floats(*names):
    return [vi.Translational(name, "world", name) for name in names]


def carts(*forces, bodies=(), joints=()):
    """Masses of 2 and 3 kg on slides along x, with what is attached to them."""
    a = vi.Body.box("a", (0.2, 0.2, 0.2), mass=2.0)
    b = vi.Body.box("b", (0.2, 0.2, 0.2), mass=3.0, position=(1.0, 0.0, 0.0))
    slides = [vi.Prismatic(f"slide {name}", "world", name, axis=(1, 0, 0)) for name in "ab"]
    return vi.Mechanism("carts", [a, b, *bodies], [*slides, *joints], gravity=O, forces=forces)


ON_RODS = vi.Attachment("on rods", "p", to=[("r0", (0, 0, -1), 0.6), ("r1", (1, 0, -1), 0.4)])
IN_BETWEEN = vi.Attachment("in between", "q", to=[("p", (0.4, 0, -1), 0.5), ("r2", (2, 0, -1), 0.5)])
ON_BOTH = vi.Attachment("on both", "s", to=[("q", (1.2, 0, -1), 0.7), ("p", (0.4, 0, -1), 0.3)])


def hung(*forces):
    """Three pendulums, a ball on two of them, one between that and the third, and one on both balls."""
    rods = [vi.Body.rod(f"r{k}", (k, 0, 0), (k, 0, -1), mass=1.0) for k in range(3)]
    hinges = [vi.Spherical(f"hinge {k}", "world", f"r{k}", point=(k, 0, 0)) for k in range(3)]
    balls = [ball("p", (0.4, 0, -1), 0.3), ball("q", (1.2, 0, -1), 0.5), ball("s", (0.96, 0, -1), 0.2)]
    start = {"rates": {"hinge 0": (0.3, 1.0, 0.2), "hinge 1": (-0.5, 0.0, 0.0)}}
    joints = [*hinges, *floats("p", "q", "s")]
    return vi.Mechanism("hung", [*rods, *balls], joints, forces=forces or (IN_BETWEEN, ON_BOTH, ON_RODS), start=start)


def place(mechanism, position, quat, body, point):
    """(3,) where a point of a body of the reference configuration is at a node."""
    reference, number = mechanism.body(body), mechanism.body_index[body]
    own = rotation_matrix(reference.quat_wxyz).T @ (np.array(point) - reference.position)
    return position[number] + rotation_matrix(quat[number]) @ own


def gap(mechanism, force, position, quat):
    """(3,) from the mean to the attached point at a node."""
    parts = [(force.body, force.point_of(mechanism), -1.0), *force.to]
    return sum(w * place(mechanism, position, quat, body, point) for body, point, w in parts if body != "world") + sum(
        w * point for body, point, w in parts if body == "world"
    )


def test_the_mass_of_an_attached_particle():
    # NOTES 0.18: [[2, 0], [0, 3]] + 1.5 w w' with w = (1/4, 3/4)
    tied = vi.Attachment("tied", "p", to=[("a", O, 0.25), ("b", (1, 0, 0), 0.75)])
    mechanism = carts(tied, bodies=[ball("p", (0.75, 0, 0))], joints=floats("p"))
    push = np.array([2.0, -1.0])
    pull = np.linalg.solve([[2.09375, 0.28125], [0.28125, 3.84375]], push)
    run = vi.simulate(mechanism, 0.5, 0.01, force={"a": (push[0], 0, 0), "b": (push[1], 0, 0)})
    assert np.abs(run.position[-1, :2, 0] - (0.0, 1.0) - 0.125 * pull).max() < 1e-12
    assert np.abs(run.position[:, 2] - 0.25 * run.position[:, 0] - 0.75 * run.position[:, 1]).max() < 1e-13
    # the particle's mass times its acceleration
    assert np.abs(run.force["tied"][5] - (1.5 * (0.25 * pull[0] + 0.75 * pull[1]), 0, 0)).max() < 1e-9


def test_chains_in_any_order_have_the_same_bits():
    runs = [vi.simulate(hung(*order), 0.2, 0.01) for order in permutations((IN_BETWEEN, ON_BOTH, ON_RODS))]
    for run in runs[1:]:
        assert np.array_equal(run.position, runs[0].position)
        assert np.array_equal(run.quat_wxyz, runs[0].quat_wxyz)
        assert np.array_equal(run.velocity, runs[0].velocity)
    for run in runs:
        for force in run.mechanism.forces:
            assert np.abs(gap(run.mechanism, force, run.position[-1], run.quat_wxyz[-1])).max() < 1e-12


def test_energy_is_kept_to_order_two():
    drifts = []
    for dt in (0.01, 0.005):
        energy = vi.simulate(hung(), 0.4, dt).energy
        drifts.append(np.abs(energy - energy[0]).max())
    assert 3.5 < drifts[0] / drifts[1] < 4.5


def test_momenta_of_what_floats_are_kept():
    bodies = [
        vi.Body.box("a", (0.3, 0.2, 0.1), mass=2.0),
        vi.Body.box("b", (0.1, 0.2, 0.3), mass=1.0, position=(1, 0, 0.2)),
        vi.Body.box("c", (0.2, 0.1, 0.1), mass=0.5, position=(0.5, 0.4, 0)),
    ]
    point = np.array([0.4, 0.1, 0.1])
    masters = [("a", point + (0.3, 0, 0), 0.5), ("b", point + (-0.1, 0.2, 0), 0.7), ("b", point + (0.4, 0.7, 0), -0.2)]
    tied = vi.Attachment("tied", "c", point=point, to=masters)
    mechanism = vi.Mechanism(
        "afloat",
        bodies,
        [vi.Free(f"free {body.name}", "world", body.name) for body in bodies],
        gravity=O,
        forces=[tied],
        start={"velocity": {"a": (0.2, 0.1, 0)}, "angular_velocity": {"a": (1, 2, 0.5), "b": (-1, 0.5, 2)}},
    )
    run = vi.simulate(mechanism, 0.5, 0.01)
    assert conserves_momentum(run)
    assert np.abs(gap(mechanism, tied, run.position[-1], run.quat_wxyz[-1])).max() < 1e-12
    assert np.abs(run.force["tied"]).max() > 0.05
    assert np.abs(run.linear_momentum - run.linear_momentum[0]).max() < 1e-12
    assert np.abs(run.angular_momentum - run.angular_momentum[0]).max() < 1e-12


def test_states_follow_what_they_are_attached_to():
    wall = vi.Attachment("on the wall", "s", to=[("q", (1.2, 0, -1), 0.6), ("world", (0.6, 0, -1), 0.4)])
    mechanism = hung(ON_RODS, IN_BETWEEN, wall)
    state = mechanism.state(coordinates={"hinge 0": (0.0, 0.5, 0.0)}, rates={"hinge 0": (0.0, 1.0, 0.0)})
    assert np.abs(mechanism.coordinates(state)["hinge 0"] - (0.0, 0.5, 0.0)).max() < 1e-9
    assert np.abs(mechanism.rates(state)["hinge 0"] - (0.0, 1.0, 0.0)).max() < 1e-9
    run = vi.simulate(mechanism, 0.02, 0.01, state=state)
    for force in mechanism.forces:
        for node in (0, -1):
            assert np.abs(gap(mechanism, force, run.position[node], run.quat_wxyz[node])).max() < 1e-9
    assert np.abs(state.velocity[5] - 0.6 * state.velocity[4]).max() < 1e-9


def test_one_master_is_a_ball_joint():
    rods = [vi.Body.rod("r0", O, (0, 0, -1), mass=1.0), vi.Body.rod("r1", (0, 0, -1), (0.6, 0, -1.8), mass=0.5)]
    top, knee = np.zeros(3), np.array([0.0, 0.0, -1.0])
    start = {"angular_velocity": {"r0": (1.0, 0, 0.5)}}
    balls = [vi.Spherical("top", "world", "r0", point=top), vi.Spherical("knee", "r0", "r1", point=knee)]
    jointed = vi.Mechanism("jointed", rods, balls, start=start)
    free = [vi.Free(f"free {rod.name}", "world", rod.name) for rod in rods]
    tied = [
        vi.Attachment("top", "r0", point=top, to=[("world", top, 1.0)]),
        vi.Attachment("knee", "r1", point=knee, to=[("r0", knee, 1.0)]),
    ]
    attached = vi.Mechanism("attached", rods, free, forces=tied)
    by_joints, by_ties = (vi.simulate(each, 0.3, 0.01, state=jointed.state()) for each in (jointed, attached))
    assert np.abs(by_ties.position - by_joints.position).max() < 1e-10
    assert np.abs(by_ties.angular_velocity - by_joints.angular_velocity).max() < 1e-9
    for name in ("top", "knee"):
        assert np.abs(by_ties.force[name] - by_joints.reactions[name].force).max() < 1e-7


def pinned(*order):
    """A rod that hangs from the world, one from that, one from points of the latter, and one between two of them."""
    foot, middle = (0.6, 0, -1.8), (0.2, 0, -1.8)
    ends = [(O, (0, 0, -1)), ((0, 0, -1), foot), (foot, (0.6, 0, -2.8)), (middle, (0.2, 0, -2.8))]
    rods = [vi.Body.rod(f"r{k}", *pair, mass=1.0 - 0.1 * k) for k, pair in enumerate(ends)]
    tied = [
        vi.Attachment("top", "r0", point=O, to=[("world", O, 1.0)]),
        vi.Attachment("knee", "r1", point=(0, 0, -1), to=[("r0", (0, 0, -1), 1.0)]),
        vi.Attachment("foot", "r2", point=foot, to=[("r1", (0.5, 0, -1.8), 0.5), ("r1", (0.7, 0, -1.8), 0.5)]),
        vi.Attachment("middle", "r3", point=middle, to=[("r1", foot, 0.5), ("r0", (-0.2, 0, -1.8), 0.5)]),
    ]
    joints = [vi.Free(f"free {rod.name}", "world", rod.name) for rod in rods]
    return vi.Mechanism("pinned", rods, joints, forces=[tied[k] for k in order or range(4)])


@pytest.mark.slow
def test_attachments_to_one_body_have_no_rows():
    mechanism = pinned()
    state = mechanism.state(angular_velocity={"r0": (1.0, 0.0, 0.5)})
    assert mechanism.compiled.plan.constraints.row.size == 12
    assert mechanism.merged.plan.constraints.row.size == 3  # of the one between two bodies
    how = {"state": state, "tol": 1e-13}
    run, rows = (vi.simulate(mechanism, 0.2, 0.01, **how, **more) for more in ({}, {"closures": "single"}))
    assert np.abs(run.position - rows.position).max() < 1e-13
    assert np.abs(run.angular_velocity - rows.angular_velocity).max() < 1e-10
    for force in mechanism.forces:
        assert np.abs(run.force[force.name] - rows.force[force.name]).max() < 1e-10
        assert np.abs(run.force[force.name]).max() > 5.0
        assert np.abs(gap(mechanism, force, run.position[-1], run.quat_wxyz[-1])).max() < 1e-12
    for order in ((3, 2, 1, 0), (2, 0, 3, 1)):
        other = vi.simulate(pinned(*order), 0.2, 0.01, **how)
        for name in ("position", "quat_wxyz", "velocity", "angular_velocity"):
            assert np.array_equal(getattr(other, name), getattr(run, name))
    stepper = vi.Stepper(mechanism, 0.01, **how)
    stepper.step(20)
    assert np.array_equal(stepper.state.position, run.position[-1])


def test_attachments_that_keep_their_rows():
    """Of bodies that another joint or constraint holds, and of one that is attached twice."""
    rods = [vi.Body.rod("r0", O, (0, 0, -1), mass=1.0), vi.Body.rod("r1", (0, 0, -1), (0, 0, -2), mass=0.5)]
    hinge, knee = vi.Spherical("hinge", "world", "r0", point=O), (0.0, 0.0, -1.0)
    tied = vi.Attachment("knee", "r1", point=knee, to=[("r0", knee, 1.0)])
    free = vi.Free("free", "world", "r1", point=knee)

    def left(*forces, joint=free):
        return vi.Mechanism("left", rods, [hinge, joint], forces=forces).merged.plan.constraints.row.size

    assert left(tied) == 0
    assert left(tied, joint=vi.Translational("free", "world", "r1")) == 3
    assert left(tied, vi.Attachment("foot", "r1", point=(0, 0, -2), to=[("world", (0, 0, -2), 1.0)])) == 6
    assert left(tied, vi.PrescribedMotion("drive", joint="free", coordinate=3, rate=1.0)) == 4


def test_welded_masters():
    # two bodies that are one in the kernel, each a master of the same particle
    weld = vi.Fixed("weld", "r0", "arm", point=(0, 0, -1))
    arm = vi.Body.rod("arm", (0, 0, -1), (0.8, 0, -1), mass=0.4)
    rod = vi.Body.rod("r0", O, (0, 0, -1), mass=1.0)
    tied = vi.Attachment("tied", "p", to=[("r0", (0, 0, -0.5), 0.5), ("arm", (0.8, 0, -1), 0.5)])
    merged = vi.Attachment("tied", "p", to=[("r0", (0.4, 0, -0.75), 1.0)])
    runs = []
    for force in (tied, merged):
        mechanism = vi.Mechanism(
            "welded",
            [rod, arm, ball("p", (0.4, 0, -0.75))],
            [vi.Spherical("hinge", "world", "r0", point=O), weld, *floats("p")],
            forces=[force],
            start={"rates": {"hinge": (0.3, 1.0, 0.2)}},
        )
        runs.append(vi.simulate(mechanism, 0.3, 0.01))
    assert np.abs(runs[0].position - runs[1].position).max() < 1e-11
    assert np.abs(runs[0].force["tied"] - runs[1].force["tied"]).max() < 1e-7


@pytest.mark.long
@pytest.mark.slow
def test_other_equations_move_it_the_same():
    apart = []
    for dt in (0.01, 0.005):
        steps = vi.simulate(hung(), 0.2, dt)
        forces = vi.simulate(vi.Problem(hung(), 0.2), vi.Maximal(dt=dt))
        apart.append(np.abs(steps.position[-1] - forces.position[-1]).max())
    assert 1.8 < apart[0] / apart[1] < 2.2  # the steps by accelerations are of first order
    assert apart[1] < 5e-4


def test_modes_have_the_mass_of_what_is_attached():
    tied = vi.Attachment("tied", "p", to=[("a", O, 0.25), ("b", (1, 0, 0), 0.75)])
    springs = [
        vi.TorsionSpring(f"spring {name}", joint=f"slide {name}", stiffness=k) for name, k in (("a", 5), ("b", 8))
    ]
    mechanism = carts(tied, *springs, bodies=[ball("p", (0.75, 0, 0))], joints=floats("p"))
    assert mechanism.diagnose().mobility == 2
    squares = np.linalg.eigvals(np.linalg.solve([[2.09375, 0.28125], [0.28125, 3.84375]], np.diag([5.0, 8.0])))
    assert np.abs(np.sort(vi.modes(mechanism).omega) - np.sqrt(np.sort(squares))).max() < 1e-7


def test_lines_lead_to_each_part():
    found = ON_RODS.branches(hung()) + IN_BETWEEN.branches(hung())
    assert [[(body, *point) for body, point in line] for line, _ in found] == [
        [("p", 0.4, 0.0, -1.0), ("r0", 0.0, 0.0, -1.0)],
        [("p", 0.4, 0.0, -1.0), ("r1", 1.0, 0.0, -1.0)],
        [("q", 1.2, 0.0, -1.0), ("p", 0.4, 0.0, -1.0)],
        [("q", 1.2, 0.0, -1.0), ("r2", 2.0, 0.0, -1.0)],
    ]
    assert hung().plot().axes


def test_it_is_saved_and_loaded(tmp_path):
    for ending in ("json", "toml"):
        path = tmp_path / f"hung.{ending}"
        vi.save_mechanism(hung(), path)
        loaded = vi.load_mechanism(path)
        for force, other in zip(hung().forces, loaded.forces, strict=True):
            assert (other.name, other.body) == (force.name, force.body)
            for part, again in zip(force.to, other.to, strict=True):
                assert (again[0], again[2]) == (part[0], part[2])
                assert np.array_equal(again[1], part[1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: vi.Attachment("t", "p", to=[("a", O, 0.5)]), "weights of attachment 't' must sum to 1, got 0.5"),
        (lambda: vi.Attachment("t", "p", to=[]), "must sum to 1"),
        (lambda: vi.Attachment("t", "p", to=[("a", O)]), "must have parts .body, point, weight."),
        (lambda: vi.Attachment("t", "p", to=[("a", O, 0.0), ("b", O, 1.0)]), "body 'a' in to .* must not be zero"),
        (lambda: vi.Attachment("t", "p", to=[("p", O, 1.0)]), "attaches body 'p' to itself"),
        (lambda: carts(vi.Attachment("t", "a", to=[("x", O, 1.0)])), "'x'"),
        (lambda: carts(vi.Attachment("t", "world", point=O, to=[("a", O, 1.0)])), "not on the world"),
        (lambda: carts(vi.Attachment("t", "a", to=[("b", (1, 0, 0), 1.0)])), "is not at the mean .1.0, 0.0, 0.0."),
        (
            lambda: carts(
                vi.Attachment("t", "a", to=[("b", O, 1.0)]), vi.Attachment("u", "b", to=[("a", (1, 0, 0), 1.0)])
            ),
            "in a circle, of bodies 'a' to 'b' to 'a'|'b' to 'a' to 'b'",
        ),
    ],
)
def test_wrong_attachments(make, message):
    with pytest.raises(vi.MechanismError, match=message):
        make()
