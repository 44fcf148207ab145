"""Nets of particles and springs: forces, orders, momenta, ropes against closed forms, starts, files and wrong input."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.sparse.linalg import splu

import varint as vi
from varint.drawing.scene import skins_of
from varint.meshes.vertex_order import VertexOrder
from varint.model.rotation_vectors import rotation_matrix
from varint.views.poses import poses_of
from varint.views.web_scene import scene_data


def far():
    """A body that falls by itself: a mechanism needs one."""
    return vi.Body.box("far", (0.1, 0.1, 0.1), mass=1.0, position=(0.0, 5.0, 0.0))


def alone(net, **given):
    return vi.Mechanism("net", [far()], [vi.Free("free", "world", "far")], forces=[net], **given)


def corners(points):
    """Of the edge at the largest y of a cloth."""
    return (np.abs(np.abs(points[:, 0]) - np.abs(points[:, 0]).max()) < 1e-9) & (
        points[:, 1] > points[:, 1].max() - 1e-9
    )


def cloth(divisions=(3, 3), attach=None, **given):
    how = {"mass": 0.2, "stiffness": (40.0, 20.0, 5.0), "directions": ((1, 0, 0), (0, 0.6, 0.8))} | given
    attach = {"world": corners} if attach is None else attach
    return vi.ParticleNet.cloth("cloth", (0.6, 0.6), divisions, attach=attach, **how)


def hung(**given):
    """A cloth between a bar that swings and the world."""
    bar = vi.Body.rod("bar", (-0.3, 0.0, 0.0), (0.3, 0.0, 0.0), mass=0.4)
    attach = {"bar": lambda p: p[:, 1] < 1e-9, "world": lambda p: p[:, 1] > 0.6 - 1e-9}
    how = {"mass": 0.2, "stiffness": 60.0, "damping": 2e-3} | given
    net = vi.ParticleNet.cloth("cloth", (0.6, 0.6), (3, 3), attach=attach, position=(0, 0.3, 0), **how)
    hinge = vi.Revolute("hinge", "world", "bar", point=(-0.3, 0, 0), axis=(0, 1, 0))
    return vi.Mechanism("hung", [bar], [hinge], forces=[net])


def random_net(rng, slack=False):
    """Twelve particles, each tied to the next four."""
    springs = [(i, j) for i in range(12) for j in range(i + 1, min(i + 5, 12))]
    points = rng.standard_normal((12, 3))
    return vi.ParticleNet(
        "net", points, masses=rng.uniform(0.5, 2.0, 12), springs=springs, stiffness=rng.uniform(1.0, 5.0, len(springs)),
        damping=rng.uniform(0.0, 0.5, len(springs)), slack=slack,
    )  # fmt: skip


# forces


@pytest.mark.parametrize("slack", [False, True])
def test_derivatives_against_differences(rng, slack):
    mesh = random_net(rng, slack).mesh
    x, v, step = mesh.points + 0.2 * rng.standard_normal(mesh.points.shape), rng.standard_normal((12, 3)), 1e-6
    if slack:
        assert 0 < np.count_nonzero(mesh.tensions(x)) < len(mesh.springs)
    force, K = mesh.forces(x), mesh.stiffness(x).toarray()
    damping = np.zeros((36, 36))
    for entries, pair in zip(mesh.blocks(mesh.viscosity(x, v)), mesh.springs, strict=True):
        at = (3 * pair[:, None] + np.arange(3)).ravel()
        damping[np.ix_(at, at)] += entries
    for k in range(36):
        change = np.zeros(36)
        change[k] = step
        change = change.reshape(12, 3)
        rise = mesh.energy(x + change) - mesh.energy(x - change)
        assert -rise / (2 * step) == pytest.approx(force.ravel()[k], abs=1e-8)
        slope = (mesh.forces(x + change) - mesh.forces(x - change)).ravel() / (2 * step)
        assert -slope == pytest.approx(K[:, k], abs=1e-7)
        faster = mesh.forces(x, mesh.viscosity(x, v + change)) - mesh.forces(x, mesh.viscosity(x, v - change))
        assert -faster.ravel() / (2 * step) == pytest.approx(damping[:, k], abs=1e-7)
    spin, shift = rng.standard_normal((2, 3))
    rigid = np.cross(spin, x) + shift
    assert np.abs(mesh.forces(x, mesh.viscosity(x, rigid))).max() <= 1e-13
    assert np.abs(force.sum(axis=0)).max() <= 1e-13
    assert np.abs(np.cross(x, force).sum(axis=0)).max() <= 1e-12


def test_projected_stiffness_is_not_negative(rng):
    mesh = random_net(rng).mesh
    x = 0.6 * mesh.points  # all springs are pressed
    assert np.linalg.eigvalsh(mesh.stiffness(x).toarray()).min() < -0.1
    assert np.linalg.eigvalsh(mesh.stiffness(x, projected=True).toarray()).min() > -1e-12


def test_factors_in_the_order_of_the_vertices(rng):
    """They solve as well as others, at less fill-in; a second matrix of the pattern takes the same order."""
    net = cloth((12, 12), attach={})
    matrices = [net.mesh.stiffness(net.points + 0.01 * rng.standard_normal(net.points.shape)) for _ in range(2)]
    order, right = None, rng.standard_normal((3 * len(net.points), 2))
    for matrix in matrices:
        matrix.setdiag(matrix.diagonal() + 100.0)
        order = order or VertexOrder(matrix)
        factors = order.factor(matrix)
        assert matrix @ factors.solve(right) == pytest.approx(right, abs=1e-12)
        assert matrix @ factors.solve(right[:, 0]) == pytest.approx(right[:, 0], abs=1e-12)
    assert factors.size < 0.9 * splu(matrix).nnz


# runs


@pytest.mark.slow
@pytest.mark.parametrize(("order", "dts"), [(2, (4e-3, 2e-3, 1e-3)), (4, (1.6e-2, 8e-3, 4e-3))])
def test_order_against_an_independent_integration(order, dts):
    net = cloth(damping=2e-3)
    mesh, mechanism = net.mesh, alone(net)
    held = np.array(net.attach[0].vertices)
    free = np.setdiff1d(np.arange(len(net.points)), held)

    def rate(t, y):
        x, v = net.points.copy(), np.zeros_like(net.points)
        x[free], v[free] = y.reshape(2, -1, 3)
        f = mesh.forces(x) + mesh.forces(x, mesh.viscosity(x, v)) + mesh.mass[:, None] * mechanism.gravity
        return np.concatenate([v[free], f[free] / mesh.mass[free, None]]).ravel()

    start = np.concatenate([net.points[free], np.zeros((len(free), 3))]).ravel()
    wanted = solve_ivp(rate, (0, 0.16), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1].reshape(2, -1, 3)
    errors = []
    for dt in dts:
        run = vi.simulate(mechanism, 0.16, dt, order=order)
        errors.append(np.abs(run.vertices["cloth"][-1][free] - wanted[0]).max())
    assert np.abs(run.vertex_velocities["cloth"][-1][free] - wanted[1]).max() <= 300 * errors[-1]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.15)
    assert errors[2] < 1e-3 * np.abs(wanted[0] - net.points[free]).max()


@pytest.mark.slow
def test_momenta_of_bodies_and_net():
    a = vi.Body.box("a", (0.1, 0.2, 0.15), mass=0.7, position=(-0.3, 0.02, 0.03))
    b = vi.Body.box("b", (0.1, 0.1, 0.1), mass=0.3, position=(0.3, 0.0, 0.0))
    free = [vi.Free("free a", "world", "a"), vi.Free("free b", "world", "b")]
    start = {
        "velocity": {"a": [0.1, 0.2, 0.3], "b": [1.0, -0.5, 0.2]},
        "angular_velocity": {"a": [1.0, 0.2, -0.4], "b": [1.0, 2.0, 3.0]},
    }
    attach = {"a": lambda p: p[:, 0] < -0.299, "b": lambda p: p[:, 0] > 0.299}
    for given in ({}, {"damping": 5e-3}, {"slack": True}):
        net = cloth(attach=attach, **given)
        run = vi.simulate(vi.Mechanism("pair", [a, b], free, forces=[net], gravity=(0, 0, 0), start=start), 0.4, 4e-3)
        for momentum in (run.linear_momentum, run.angular_momentum):
            assert np.abs(momentum - momentum[0]).max() <= 1e-12
            assert np.abs(momentum[0]).max() > 0.05
        assert np.abs(run.energy_balance).max() < 2e-3 * run.kinetic.max()


@pytest.mark.slow
def test_the_same_net_of_bodies_and_springs():
    """Particles as bodies, springs as forces: both motions agree at order 2, with a body that both are attached to."""
    net = hung(damping=0.0).forces[0]
    net = replace(net, masses=np.where(np.isin(np.arange(16), [*net.attach[0].vertices]), 0.0, net.masses))
    hung_net = replace(hung(), forces=[net])
    held = {v: part.body for part in net.attach for v in part.vertices}
    names = [held.get(v, f"p {v}") for v in range(16)]
    mass = net.masses
    bodies = [
        vi.Body.sphere(name, 1e-3, mass[v], position=net.points[v]) for v, name in enumerate(names) if v not in held
    ]
    joints = [vi.Translational(body.name, "world", body.name, point=body.position) for body in bodies]
    springs = [
        vi.Spring(
            f"s {k}",
            names[i],
            names[j],
            point_a=net.points[i],
            point_b=net.points[j],
            stiffness=stiffness,
            rest_length=rest,
        )
        for k, ((i, j), stiffness, rest) in enumerate(zip(net.springs, net.stiffness, net.rest_length, strict=True))
        if names[i] != names[j]
    ]  # fmt: skip
    of_bodies = vi.Mechanism("bodies", [*hung_net.bodies, *bodies], [*hung_net.joints, *joints], forces=springs)
    apart = []
    for dt in (4e-3, 2e-3):
        one, other = vi.simulate(hung_net, 0.4, dt), vi.simulate(of_bodies, 0.4, dt)
        own = [v for v in range(16) if v not in held]
        apart.append(np.abs(one.vertices["cloth"][-1][own] - other.position[-1, 1:]).max())
    assert np.log2(apart[0] / apart[1]) == pytest.approx(2.0, abs=0.2)
    assert apart[1] < 2e-3 * np.abs(one.vertices["cloth"][-1] - net.points).max()


@pytest.mark.slow
def test_both_formulations_agree_at_order_2():
    apart = []
    for dt in (8e-3, 4e-3):
        maximal = vi.simulate(hung(), 0.32, dt)
        reduced = vi.redmax.simulate(hung(), 0.32, dt, integrator="sdirk2")
        apart.append(np.abs(reduced.vertices["cloth"][-1] - maximal.vertices["cloth"][-1]).max())
    assert np.log2(apart[0] / apart[1]) == pytest.approx(2.0, abs=0.2)
    assert reduced.work[-1, 0] == pytest.approx(maximal.work[-1, 0], rel=1e-2)
    assert maximal.work[-1, 0] < -1e-4


@pytest.mark.slow
def test_energy_of_a_cloth_held_at_two_corners_has_no_trend():
    """Its error over 2000 steps, the second half as the first; how far it falls is the scale of its energy."""
    net = cloth(directions=((1, 0, 0), (0, 0, 1)))
    run = vi.simulate(alone(net), 8.0, 4e-3, every=4)
    error = run.energy_balance
    fall = np.ptp(run.vertices["cloth"][..., 2].mean(axis=1))
    assert np.abs(error).max() < 1e-3 * net.mass * 9.81 * fall
    first, second = (part.mean() for part in np.array_split(error[1:], 2))
    assert abs(second - first) < 0.3 * np.abs(error).max()


def test_a_net_that_is_thrown():
    """Unattached, with a velocity: its centre falls freely, and points without springs are point masses."""
    v = np.array([1.0, -2.0, 3.0])
    square = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    net = vi.ParticleNet(
        "net",
        square,
        masses=0.1,
        springs=[(0, 1), (1, 2)],
        stiffness=10.0,
        rest_length=0.9,
        velocities=np.tile(v, (4, 1)),
    )
    run = vi.simulate(alone(net), 0.2, 1e-2)
    x = run.vertices["net"]
    fallen = v * run.t[:, None] + 0.5 * run.mechanism.gravity * run.t[:, None] ** 2
    assert x[:, 3] - x[0, 3] == pytest.approx(fallen, abs=1e-12)
    assert x.mean(axis=1) - x[0].mean(axis=0) == pytest.approx(fallen, abs=1e-12)
    assert np.linalg.norm(x[-1, 1] - x[-1, 0]) < 0.999


# ropes


def hanging(n, stiffness=50.0, mass=1.0, length=1.2, span=0.8, g=9.81):
    """A rope between two points of a height, and its particles at rest, by Newton's method on the forces."""
    net = vi.ParticleNet.rope(
        "rope", vi.At("world", (0, 0, 0)), vi.At("world", (span, 0, 0)), segments=n, mass=mass, stiffness=stiffness,
        length=length, slack=False,
    )  # fmt: skip
    x, mesh, inner = net.points * [1.0, 1.0, 1.1], net.mesh, (3 * np.arange(1, n)[:, None] + np.arange(3)).ravel()
    for _ in range(60):
        f = (mesh.forces(x) + mesh.mass[:, None] * [0, 0, -g]).ravel()[inner]
        step = np.zeros(x.size)
        step[inner] = np.linalg.solve(mesh.stiffness(x).toarray()[np.ix_(inner, inner)], f)
        x += min(1.0, 0.05 / np.abs(step).max()) * step.reshape(-1, 3)
    assert np.abs(f).max() < 1e-11
    return net, x


def test_a_hanging_rope_is_an_elastic_catenary():
    """Its lowest point against that of the elastic catenary (Irvine 1981), at second order; it stays at rest."""
    stiffness, mass, length, span, g = 50.0, 1.0, 1.2, 0.8, 9.81
    W = mass * g

    def reach(H):  # horizontal distance of the ends with the horizontal tension H
        return H * length / (stiffness * length) + 2 * H * length / W * np.arcsinh(W / (2 * H))

    H = brentq(lambda H: reach(H) - span, 1e-3, 10 * W)
    sag = W * length / (8 * stiffness * length) + H * length / W * (np.sqrt(1 + (W / (2 * H)) ** 2) - 1)
    errors = []
    for n in (10, 20):
        net, x = hanging(n)
        errors.append(abs(-x[:, 2].min() - sag))
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.3)
    assert errors[1] < 2e-3 * sag
    there = replace(net, points=x, rest_length=net.rest_length)
    run = vi.simulate(alone(there), 0.1, 5e-3)
    assert np.abs(run.vertices["rope"] - x).max() < 1e-11


def test_frequencies_of_a_chain_that_hangs():
    """j_k sqrt(g / L) / 4 pi, j_k the zeros of the Bessel function J0: the tension at rest stiffens it."""
    zeros, g, length = np.array([2.404825558, 5.520078110, 8.653727913]), 9.81, 1.0
    errors = []
    for n in (40, 80):
        net = vi.ParticleNet.rope(
            "chain", vi.At("world", (0, 0, 0)), (0, 0, -length), segments=n, mass=1.0, stiffness=1e6
        )
        below = np.cumsum(net.masses[:0:-1])[::-1] * g  # tensions
        x = net.points.copy()
        x[1:, 2] -= np.cumsum(below / net.stiffness)
        assert np.abs(net.mesh.forces(x)[1:, 2] - net.masses[1:] * g).max() < 1e-6
        found = net.frequencies(6, at=x)
        assert found[::2] == pytest.approx(found[1::2], rel=1e-6)  # along x and y
        errors.append(np.abs(found[::2] / (zeros * np.sqrt(g / length) / (4 * np.pi)) - 1).max())
    assert errors[1] < 3e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.1)


def test_a_rope_is_slack_below_its_length():
    net = vi.ParticleNet.rope(
        "rope", vi.At("world", (0, 0, 0)), vi.At("world", (1, 0, 0)), segments=4, mass=1.0, stiffness=10.0, length=1.5
    )
    assert net.mesh.energy(net.points) < 1e-20
    assert np.linalg.norm(np.diff(net.points, axis=0), axis=1) == pytest.approx(np.full(4, 0.375), rel=1e-9)
    straight = np.linspace(0, 2.0, 5)[:, None] * [1.0, 0.0, 0.0]
    assert net.mesh.energy(straight) == pytest.approx(0.5 * 10.0 * 0.5**2)
    assert net.mesh.energy(0.5 * straight) == 0.0
    assert replace(net, slack=False).mesh.energy(0.5 * straight) == pytest.approx(0.5 * 10.0 * 0.5**2)
    assert net.mass == pytest.approx(1.0)


# starts


def test_a_start_elsewhere_carries_the_net_along(rng):
    """Bodies that are moved as one rigid body move the net so; one that is moved alone draws it evenly."""
    net = vi.ParticleNet.rope(
        "rope", vi.At("a", (0, 0, 0)), vi.At("b", (1, 0, 0)), segments=4, mass=1.0, stiffness=10.0, slack=False
    )
    a, b = (vi.Body.box(name, (0.1, 0.1, 0.1), 1.0, position=(x, 0, 0)) for name, x in (("a", -0.05), ("b", 1.05)))
    free = [vi.Free(f"free {body.name}", "world", body.name) for body in (a, b)]
    mechanism = vi.Mechanism("two", [a, b], free, forces=[net], gravity=(0, 0, 0))
    q = rng.standard_normal(4)
    R = rotation_matrix(q / np.linalg.norm(q))
    turned = mechanism.state(
        position={"a": R @ a.position, "b": R @ b.position},
        quat_wxyz=dict.fromkeys("ab", q / np.linalg.norm(q)),
        velocity={"b": [1.0, 2.0, 3.0]},
        angular_velocity={},
    )
    run = vi.simulate(mechanism, 1e-3, 1e-3, state=turned)
    assert run.vertices["rope"][0] == pytest.approx(net.points @ R.T, abs=1e-9)
    assert run.potential[0] == pytest.approx(0.0, abs=1e-12)
    assert run.vertex_velocities["rope"][0] == pytest.approx(np.linspace(0, 1, 5)[:, None] * [1.0, 2.0, 3.0], abs=1e-9)
    stretched = mechanism.state(position={"b": [1.45, 0.0, 0.0]}, velocity={}, angular_velocity={})
    run = vi.simulate(mechanism, 1e-3, 1e-3, state=stretched)
    assert run.vertices["rope"][0][:, 0] == pytest.approx(np.linspace(0, 1.4, 5), abs=1e-9)


def test_a_net_beside_a_deformable_body():
    """One starts where it is carried, the other in equilibrium."""
    bar = vi.Body.box("bar", (0.1, 0.1, 0.1), mass=0.5, position=(0.35, 0, 0))
    pad = vi.DeformableBody.box(
        "pad", (0.3, 0.1, 0.1), (2, 1, 1), E=1e5, nu=0.3, density=500.0, position=(0.15, 0, 0),
        attach={"world": lambda p: p[:, 0] < 1e-9, "bar": lambda p: p[:, 0] > 0.3 - 1e-9},
    )  # fmt: skip
    rope = vi.ParticleNet.rope("rope", vi.At("bar", (0.4, 0, 0)), (0.4, 0, -0.5), segments=5, mass=0.1, stiffness=100.0)
    mechanism = vi.Mechanism("both", [bar], [vi.Free("free", "world", "bar")], forces=[rope, pad])
    state = mechanism.state(position={"bar": [0.36, 0.01, 0.0]}, velocity={}, angular_velocity={})
    run = vi.simulate(mechanism, 2e-3, 1e-3, state=state)
    held = [v for part in pad.attach for v in part.vertices]
    forces = pad.mesh.forces(run.vertices["pad"][0])
    assert np.abs(np.delete(forces, held, axis=0)).max() <= 1e-9 * np.abs(forces[held]).max()
    assert run.vertices["rope"][0] == pytest.approx(rope.points + [0.01, 0.01, 0.0], abs=1e-9)


# files and pictures


@pytest.mark.slow
def test_runs_go_on_to_the_same_bits(tmp_path):
    path = tmp_path / "run.h5"
    whole = vi.simulate(hung(), 0.04, 2e-3)
    vi.simulate(hung(), 0.016, 2e-3, output=path)
    run = vi.simulate(hung(), 0.04, 2e-3, output=path, resume=True)
    for name in ("position", "quat_wxyz", "velocity", "vertices", "vertex_velocities", "work"):
        assert np.array_equal(run.nodes[name], whole.nodes[name])
    assert vi.load(path).energy == pytest.approx(whole.energy, abs=0)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_mechanism_files(tmp_path, suffix):
    path, mechanism = tmp_path / f"net{suffix}", hung(slack=True)
    vi.save_mechanism(mechanism, path)
    run, again = vi.simulate(mechanism, 4e-3, 2e-3), vi.simulate(vi.load_mechanism(path), 4e-3, 2e-3)
    assert np.array_equal(run.vertices["cloth"], again.vertices["cloth"])


def test_nets_are_drawn_as_lines(tmp_path):
    mechanism = hung()
    run = vi.simulate(mechanism, 4e-3, 2e-3)
    (skin,) = skins_of(mechanism)
    assert np.array_equal(skin.faces, 1 + mechanism.forces[0].springs)
    x, R = poses_of(run)
    (drawn,) = scene_data(mechanism, x[0], R[0], None)["skins"]
    assert (drawn["corners"], drawn["count"]) == (2, 16)
    figure = run.plot("mechanism", path=tmp_path / "poses.png")
    lines = [each for each in figure.axes[0].collections if isinstance(each, LineCollection)]
    assert max(len(each.get_segments()) for each in lines) == len(mechanism.forces[0].springs)


# wrong input

LINE = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"masses": 0.0}, "masses of particle net 'net' must be positive, got 0 kg of particle 0"),
        ({"masses": [1.0, -1.0, 1.0]}, "got -1 kg of particle 1"),
        ({"masses": [1.0, 1.0]}, "masses of particle net 'net' must be"),
        ({"springs": [(0, 1), (1, 1)]}, "number 1 is of particle 1 with itself"),
        ({"springs": [(0, 3)]}, "pairs of numbers of its 3 points, 0 to 2"),
        ({"springs": np.array(1.0)}, "springs of"),
        ({"springs": [(0, 0.5)]}, "pairs of numbers of its 3 points"),
        ({"springs": [(0, 1), (1, 2), (1, 0)]}, "numbers 0 and 2 are both between particles 0 and 1"),
        ({"points": [[0, 0, 0], [0, 0, 0], [1, 0, 0]]}, "between particles 0 and 1, which are at one point"),
        ({"stiffness": 0.0}, "stiffness of particle net 'net' must be positive, got 0 of spring 0"),
        ({"stiffness": [1.0, -2.0]}, "got -2 of spring 1"),
        ({"damping": -1.0}, "damping of particle net 'net' must be zero or positive"),
        ({"rest_length": 0.0}, "rest_length of particle net 'net' must be positive"),
        ({"velocities": [[0, 0, 0]]}, "velocities of particle net 'net'"),
        ({"springs": [(0, 1), (1, [2])]}, "springs of particle net 'net'"),
        ({"springs": [(0, 1), ()]}, "springs of particle net 'net'"),
        ({"attach": {"world": [0, 1, 2]}}, "every particle is attached"),
        ({"attach": {"world": [3]}}, "there is no vertex 3, only 0 to 2"),
        ({"attach": {"world": [0], "b": [0]}}, "vertex 0 is attached to 'world' and to 'b'"),
    ],
)
def test_wrong_nets(given, message):
    right = {"points": LINE, "masses": 1.0, "springs": [(0, 1), (1, 2)], "stiffness": 2.0}
    vi.ParticleNet("net", **right)
    with pytest.raises(vi.MechanismError, match=message):
        vi.ParticleNet("net", **right | given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mass": 0.0}, "mass of particle net 'cloth' must be positive"),
        ({"stiffness": -1.0}, "stiffness of particle net 'cloth' must be positive"),
        ({"stiffness": (1.0, -1.0, 0.0)}, "stiffness of particle net 'cloth' must be positive along edges"),
        ({"stiffness": (1.0, 2.0)}, "stiffness of particle net 'cloth'"),
        ({"divisions": (0, 3)}, "divisions of particle net 'cloth'"),
        ({"divisions": (3,)}, "must be two whole numbers"),
        ({"directions": ((1, 0, 0), (2, 0, 0))}, "directions of particle net 'cloth' must not be parallel"),
        ({"attach": {"world": lambda p: p[:, 0] > 9.0}}, "the vertices of '.*' attached to 'world': there is none"),
    ],
)
def test_wrong_cloths(given, message):
    with pytest.raises(vi.VarintError, match=message):
        cloth(**given)


def test_nets_are_refused_by_name():
    with pytest.raises(vi.ArgumentError, match="particle net 'cloth' is a deformable body, which derivatives of acc"):
        vi.linearize(hung())
    with pytest.raises(vi.MechanismError, match=r"particle net 'cloth'.*'c'"):
        alone(cloth(attach={"c": corners}))


def test_particles_without_springs_fall():
    particles = vi.ParticleNet("dust", [(0, 0, 1), (0, 1, 1)], masses=1.0, springs=[], stiffness=1.0)
    ball = vi.Body.sphere("ball", 0.1, 1.0)
    run = vi.simulate(vi.Mechanism("dust", [ball], [vi.Free("free", "world", "ball")], forces=[particles]), 0.1, 1e-2)
    assert run.vertices["dust"][-1, :, 2] == pytest.approx(1.0 - 0.5 * 9.81 * 0.01, abs=1e-12)
