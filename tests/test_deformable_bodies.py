"""Deformable bodies in steps: frequencies, momenta, orders, starts, files and wrong input."""

import sys
from dataclasses import replace

import h5py
import numpy as np
import pytest
from rubber_pads import RUBBER, arm, left, pad, right
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import varint as vi
from varint.mathematics.elasticity.materials import MATERIALS
from varint.mathematics.elasticity.tetrahedra import box_mesh
from varint.meshes.attached_meshes import AttachedMeshes
from varint.meshes.mesh_start import equilibrium
from varint.model.rotation_vectors import rotation_matrix


def pair(gravity=(0.0, 0.0, 0.0), **given):
    """Two boxes that float, with a pad between them."""
    a = vi.Body.box("a", (0.1, 0.2, 0.15), mass=0.7, position=(-0.2, 0.02, 0.03))
    b = vi.Body.box("b", (0.1, 0.1, 0.1), mass=0.3, position=(0.2, 0.0, 0.0))
    free = [vi.Free("free a", "world", "a"), vi.Free("free b", "world", "b")]
    start = {
        "velocity": {"a": [0.1, 0.2, 0.3], "b": [0.1, -0.5, 0.2]},
        "angular_velocity": {"a": [1.0, 0.2, -0.4], "b": [1.0, 2.0, 3.0]},
    }
    return vi.Mechanism("pair", [a, b], free, forces=[pad(**given)], gravity=gravity, start=start)


# frequencies


def timoshenko(E, density, length, depth):
    """First frequency, Hz, of a clamped beam of rectangular section with nu = 0, shear factor 5/6."""
    radius2, stiff, shear = depth**2 / 12, E / density, 5 / 6 * E / 2 / density

    def determinant(w):
        a, b = w**2 / stiff, w**2 / shear
        middle = (a + b) / 2
        root = np.sqrt(middle**2 + a / radius2 - a * b)
        p, q = np.sqrt(root - middle), np.sqrt(root + middle)
        u, v, x, y = (p * p + b) / p, (q * q - b) / q, p * length, q * length
        rows = [
            [1, 0, 1, 0],
            [0, u, 0, v],
            [u * p * np.cosh(x), u * p * np.sinh(x), -v * q * np.cos(y), -v * q * np.sin(y)],
            [(p - u) * np.sinh(x), (p - u) * np.cosh(x), (v - q) * np.sin(y), (q - v) * np.cos(y)],
        ]
        return np.linalg.det(np.array(rows))

    slender = 1.8751040687**2 * np.sqrt(stiff * radius2) / length**2
    return brentq(determinant, 0.7 * slender, 1.02 * slender) / (2 * np.pi)


@pytest.mark.slow
def test_first_frequency_of_a_cantilever():
    """1 % with 48 by 14 cells along and across the bending, one in the other direction, without Poisson's effect."""
    errors = []
    for divisions in ((24, 7, 1), (48, 14, 1)):
        body = vi.DeformableBody.box(
            "beam", (1.0, 0.25, 0.3), divisions, E=1e6, nu=0.0, density=1000.0, attach={"world": left}
        )
        errors.append(body.frequencies(1)[0] / timoshenko(1e6, 1000.0, 1.0, 0.25) - 1)
    assert 0 < errors[1] < 0.01
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)  # second order in the size of the elements


def test_frequencies_of_what_floats():
    found = pad((2, 1, 1), attach={}).frequencies(8)
    assert np.all(found[:6] < 1e-3 * found[6])


# runs


@pytest.mark.slow
@pytest.mark.parametrize("material", MATERIALS)
def test_momenta_are_kept(material):
    run = vi.simulate(pair(material=material), 0.1, 2e-3)
    for momentum in (run.linear_momentum, run.angular_momentum):
        assert np.abs(momentum - momentum[0]).max() <= 1e-13
        assert np.abs(momentum[0]).max() > 0.1
    body = run.mechanism.forces[0]
    x = np.einsum("n,tni->ti", body.mesh.mass, run.vertices["pad"]) + run.position.transpose(0, 2, 1) @ [0.7, 0.3]
    assert x[-1] - x[0] == pytest.approx(run.linear_momentum[0] * 0.1, abs=1e-12)


@pytest.mark.slow
def test_attached_vertices_are_where_their_bodies_are():
    run = vi.simulate(pair(), 0.05, 1e-3)
    body = run.mechanism.forces[0]
    for part in body.attach:
        path = run.path(part.body, body.points[part.vertices[1]])
        assert run.vertices["pad"][:, part.vertices[1]] == pytest.approx(path.position, abs=1e-13)
        assert run.vertex_velocities["pad"][:, part.vertices[1]] == pytest.approx(path.velocity, abs=1e-12)


@pytest.mark.slow
def test_velocities_are_the_rates_of_the_vertices():
    run = vi.simulate(arm(), 0.02, 1e-4)
    x, v = run.vertices["pad"], run.vertex_velocities["pad"]
    rate = (x[2:] - x[:-2]) / 2e-4
    assert np.abs(rate - v[1:-1]).max() <= 1e-3 * np.abs(v).max()


def reference(mechanism, duration):
    """Vertices and poses at the end, by another way: the tip is one rigid body with the vertices that it holds.

    With lumped masses its mass, centre and inertia are those of the tip and of these vertices; DOP853, rotation
    vectors with Newton's and Euler's equations.
    """
    body, tip = mechanism.forces[0], mechanism.body("b")
    mesh, held = body.mesh, np.array(body.attach[1].vertices)
    free = np.setdiff1d(np.arange(len(body.points)), [*held, *body.attach[0].vertices])
    m, points = mesh.mass[held], body.points[held]
    mass = tip.mass + m.sum()
    centre = (tip.mass * tip.position + m @ points) / mass

    def about(d):
        return np.eye(3) * (d @ d) - np.outer(d, d)

    J = tip.inertia + tip.mass * about(tip.position - centre)
    J = J + sum(each * about(point - centre) for each, point in zip(m, points, strict=True))
    arms = points - centre

    def rate(t, y):
        c, q, v, w = y[:3], y[3:7] / np.linalg.norm(y[3:7]), y[7:10], y[10:13]
        R = rotation_matrix(q)
        x = body.points.copy()
        x[free], x[held] = y[13 : 13 + 3 * len(free)].reshape(-1, 3), c + arms @ R.T
        f = mesh.forces(x) + mesh.mass[:, None] * mechanism.gravity
        total = f[held].sum(axis=0) + tip.mass * mechanism.gravity
        torque = np.cross(x[held] - c, f[held]).sum(axis=0) + np.cross(
            R @ (tip.position - centre), tip.mass * mechanism.gravity
        )
        spin = np.linalg.solve(J, R.T @ torque - np.cross(w, J @ w))
        dq = 0.5 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))])
        return np.concatenate(
            [v, dq, total / mass, spin, y[-3 * len(free) :], (f[free] / mesh.mass[free, None]).ravel()]
        )

    still = np.zeros(3 * len(free))
    start = np.concatenate([centre, [1, 0, 0, 0], np.zeros(6), body.points[free].ravel(), still])
    y = solve_ivp(rate, (0, duration), start, "DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
    R = rotation_matrix(y[3:7] / np.linalg.norm(y[3:7]))
    return y[13 : 13 + len(still)].reshape(-1, 3), y[:3] + R @ (tip.position - centre), free


@pytest.mark.slow
@pytest.mark.parametrize(("order", "dts"), [(2, (2e-3, 1e-3, 5e-4)), (4, (4e-3, 2e-3, 1e-3))])
def test_order_against_an_independent_integration(order, dts):
    whole = arm()
    mechanism = replace(whole, bodies=whole.bodies[:1], joints=whole.joints[:1])
    wanted, tip, free = reference(mechanism, 0.08)
    errors = []
    for dt in dts:
        run = vi.simulate(mechanism, 0.08, dt, order=order)
        errors.append(np.abs(run.vertices["pad"][-1][free] - wanted).max())
    assert np.abs(run.position[-1, 0] - tip).max() <= 2 * errors[-1]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.15)
    assert errors[2] < 1e-4 * np.abs(wanted - mechanism.forces[0].points[free]).max()


@pytest.mark.slow
def test_small_swings_are_those_of_the_first_mode():
    """A cantilever that begins to sag: the part in its first mode goes as 1 - cos(w t)."""
    bare = vi.Body.box("far", (0.1, 0.1, 0.1), mass=1.0, position=(0.0, 5.0, 0.0))
    body = pad((6, 1, 1), attach={"world": left}, E=2e6)
    free = [vi.Free("free", "world", "far")]
    mechanism = vi.Mechanism("sag", [bare], free, forces=[body], gravity=(0.0, 0.0, -0.1))
    moving = np.flatnonzero(~left(body.points))
    columns = (3 * moving[:, None] + np.arange(3)).ravel()
    mass = np.repeat(body.mesh.mass[moving], 3)
    square, mode = eigh(body.mesh.stiffness(body.points).toarray()[np.ix_(columns, columns)], np.diag(mass))
    assert np.sqrt(square[:3]) / (2 * np.pi) == pytest.approx(body.frequencies(3), rel=1e-9)
    one = int(np.argmax(np.abs(mode[2::3, :2].T @ mass[2::3])))  # that bends along gravity
    run = vi.simulate(mechanism, 0.05, 2.5e-4)
    along = (run.vertices["pad"] - body.points)[:, moving].reshape(len(run), -1) @ (mass * mode[:, one])
    pulled = (mass * mode[:, one]) @ np.tile(mechanism.gravity, len(moving)) / square[one]
    assert along == pytest.approx(pulled * (1 - np.cos(np.sqrt(square[one]) * run.t)), abs=2e-3 * abs(pulled))
    assert run.t[-1] * np.sqrt(square[one]) > 5.0


@pytest.mark.slow
def test_energy_has_no_trend():
    run = vi.simulate(arm(divisions=(2, 1, 1)), 4.0, 4e-3)
    error = run.energy_balance
    first, last = (np.abs(part).max() for part in np.array_split(error[1:], 4)[::3])
    assert np.abs(error).max() < 1e-3 * run.kinetic.max()
    assert last < 2 * first
    assert abs(np.mean(error[750:]) - np.mean(error[:250])) < 0.3 * np.abs(error).max()


@pytest.mark.slow
def test_energy_error_is_of_second_order():
    errors = [np.abs(vi.simulate(arm(), 0.1, dt).energy_balance).max() for dt in (2e-3, 1e-3)]
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.3)


def test_a_start_elsewhere_carries_the_mesh_along(rng):
    """Both bodies moved as one rigid body: no energy, no force, and the velocities of a rigid motion."""
    mechanism = pair()
    q = rng.standard_normal(4)
    R = rotation_matrix(q / np.linalg.norm(q))
    position = {body.name: R @ body.position for body in mechanism.bodies}
    x, y, z, w = Rotation.from_matrix(R).as_quat()
    spin = np.array([0.3, -0.2, 0.5])
    state = mechanism.state(
        position=position,
        quat_wxyz={name: [w, x, y, z] for name in position},
        velocity={name: np.cross(spin, place) for name, place in position.items()},
        angular_velocity=dict.fromkeys(position, R.T @ spin),
    )
    run = vi.simulate(mechanism, 2e-3, 1e-3, state=state)
    body = mechanism.forces[0]
    placed = body.points @ R.T
    assert run.vertices["pad"][0] == pytest.approx(placed, abs=1e-12)
    assert run.vertex_velocities["pad"][0] == pytest.approx(np.cross(spin, placed), abs=1e-10)
    assert run.potential[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("material", MATERIALS)
def test_a_start_with_a_stretch_is_at_rest(material):
    """A bar whose end was pulled: the free vertices are in equilibrium, as the forces on them say."""
    mechanism = pair(material=material)
    state = mechanism.state(position={"b": [0.25, 0.01, 0.02]}, velocity={}, angular_velocity={})
    run = vi.simulate(mechanism, 1e-3, 1e-3, state=state)
    body = mechanism.forces[0]
    forces = body.mesh.forces(run.vertices["pad"][0])
    held = [v for part in body.attach for v in part.vertices]
    assert np.abs(np.delete(forces, held, axis=0)).max() <= 1e-9 * np.abs(forces[held]).max()
    assert np.abs(forces[held]).max() > 1.0


@pytest.mark.parametrize("material", MATERIALS)
def test_starts_with_small_strains(material):
    """Energies are sums that nearly cancel there: their round-off is no reason to refuse a start."""
    mechanism = arm(material=material)
    meshes, body = AttachedMeshes(mechanism, mechanism.compiled), mechanism.forces[0]
    for way in np.vstack([np.eye(3), -np.eye(3)]):
        for size in (1e-5, 7.5e-5, 1.5e-4):
            x = meshes.points.copy()
            x[meshes.held] += size * way
            equilibrium(meshes, x, np.tile(np.eye(3), (len(x), 1, 1)))
            forces = body.mesh.forces(x)
            assert np.abs(forces[meshes.free]).max() <= 1e-8 * np.abs(forces[meshes.held]).max()


def test_two_deformable_bodies_are_one_after_the_other():
    both = pair()
    more = replace(both.forces[0], name="second", density=100.0, material="stvk")
    run = vi.simulate(replace(both, forces=[*both.forces, more]), 0.01, 1e-3)
    assert run.vertices["second"].shape == run.vertices["pad"].shape
    assert np.abs(run.angular_momentum - run.angular_momentum[0]).max() <= 1e-13
    assert np.abs(run.vertices["second"] - run.vertices["pad"]).max() > 1e-6


@pytest.mark.slow
def test_functions_of_the_state_and_loads_act():
    def effort(t, state):
        return 0.02 * np.sin(50 * t) - 0.01 * state.angular_velocity[1, 1]

    mechanism = arm()
    mechanism = replace(mechanism, forces=[*mechanism.forces, vi.Motor("motor", joint="hinge", effort=effort)])
    run = vi.simulate(mechanism, 0.05, 1e-3, force={"bob": (0.0, 0.0, 0.5)})
    bare = vi.simulate(arm(), 0.05, 1e-3)
    assert np.abs(run.energy_balance).max() < 0.01 * run.kinetic.max()
    assert np.abs(run.vertices["pad"][-1] - bare.vertices["pad"][-1]).max() > 1e-5


def test_a_mesh_that_nothing_holds_falls():
    bare = vi.Body.box("far", (0.1, 0.1, 0.1), mass=1.0, position=(0.0, 5.0, 0.0))
    mechanism = vi.Mechanism("falls", [bare], [vi.Free("free", "world", "far")], forces=[pad(attach={})])
    run = vi.simulate(mechanism, 0.1, 1e-2)
    fallen = run.vertices["pad"] - run.vertices["pad"][0]
    assert fallen == pytest.approx(
        0.5 * mechanism.gravity * run.t[:, None, None] ** 2 * np.ones(fallen.shape), abs=1e-12
    )
    assert run.position[-1, 0] - run.position[0, 0] == pytest.approx(fallen[-1, 0], abs=1e-12)


def test_between_nodes():
    run = vi.simulate(arm(), 0.02, 1e-3)
    there = run.at(np.array([0.005, 0.0105]))
    assert there.vertices["pad"][0] == pytest.approx(run.vertices["pad"][5], abs=1e-15)
    middle = 0.5 * (run.vertices["pad"][10] + run.vertices["pad"][11])
    assert there.vertices["pad"][1] == pytest.approx(middle, abs=1e-5)


# files


@pytest.mark.slow
def test_runs_go_on_to_the_same_bits(tmp_path):
    mechanism, path = arm(), tmp_path / "run.h5"
    whole = vi.simulate(mechanism, 0.02, 1e-3)
    vi.simulate(mechanism, 0.008, 1e-3, output=path)
    run = vi.simulate(mechanism, 0.02, 1e-3, output=path, resume=True)
    for name in ("position", "quat_wxyz", "velocity", "vertices", "vertex_velocities"):
        assert np.array_equal(run.nodes[name], whole.nodes[name])
    assert vi.load(path).energy == pytest.approx(whole.energy, abs=0)
    every = vi.simulate(mechanism, 0.02, 1e-3, every=7)
    assert np.array_equal(every.vertices["pad"], whole.vertices["pad"][[0, 7, 14, 20]])


def test_chunks_of_a_file_are_small_for_many_vertices(tmp_path):
    points = np.random.default_rng(3).normal(size=(1500, 3))
    net = vi.ParticleNet("net", points, springs=[[0, 1]], stiffness=1.0, masses=np.ones(1500))
    rod = vi.Body.rod("rod", (0, 0, 0), (0, 0, -1), mass=1.0)
    mechanism = vi.Mechanism("net", [rod], [vi.Spherical("ball", "world", "rod", point=(0, 0, 0))], forces=[net])
    vi.simulate(mechanism, 3e-3, 1e-3, output=tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert (
            max(np.prod(array.chunks) for array in file.values() if isinstance(array, h5py.Dataset) and array.chunks)
            <= 8192
        )
    assert (tmp_path / "run.h5").stat().st_size < 3_000_000


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_mechanism_files(tmp_path, suffix):
    mechanism, path = arm(), tmp_path / f"arm{suffix}"
    vi.save_mechanism(mechanism, path)
    run, again = vi.simulate(mechanism, 5e-3, 1e-3), vi.simulate(vi.load_mechanism(path), 5e-3, 1e-3)
    assert np.array_equal(run.vertices["pad"], again.vertices["pad"])


def written_mesh(path):
    """A box with triangles, a named group of them, and a point that belongs to no tetrahedron."""
    meshio = pytest.importorskip("meshio", reason="needs varint-dynamics[fem]")
    points, tetrahedra = box_mesh(np.array([0.3, 0.1, 0.1]), (2, 1, 1))
    body = vi.DeformableBody("any", points, tetrahedra, **RUBBER)
    faces = body.surface[left(points)[body.surface].all(axis=1)]
    points = np.vstack([[9.0, 9.0, 9.0], 1000 * points])
    cells = [("triangle", faces + 1), ("tetra", tetrahedra + 1)]
    sets = {"base": [np.arange(len(faces)), np.array([], dtype=int)]}
    meshio.Mesh(points, cells, cell_sets=sets).write(path)
    return body


@pytest.mark.parametrize("suffix", [".vtu", ".msh", ".inp"])
def test_mesh_files(tmp_path, suffix):
    path = tmp_path / f"part{suffix}"
    made = written_mesh(path)
    attach = {"world": np.flatnonzero(left(made.points)) + 1, "b": right}
    body = vi.DeformableBody.from_mesh(path, attach=attach, scale=1e-3, **RUBBER)
    assert body.name == "part"
    assert body.points == pytest.approx(made.points, abs=1e-15)
    assert np.array_equal(body.tetrahedra, made.tetrahedra)
    assert [part.vertices for part in body.attach] == [
        tuple(np.flatnonzero(side(made.points)).tolist()) for side in (left, right)
    ]


def test_named_sets_of_mesh_files(tmp_path):
    path = tmp_path / "part.inp"
    made = written_mesh(path)
    body = vi.DeformableBody.from_mesh(path, attach={"world": "base"}, name="finger", scale=1e-3, **RUBBER)
    assert body.name == "finger"
    assert body.attach[0].vertices == tuple(np.flatnonzero(left(made.points)).tolist())
    with pytest.raises(vi.ArgumentError, match=r"no set 'bose'.*'base'"):
        vi.DeformableBody.from_mesh(path, attach={"world": "bose"}, **RUBBER)


def test_without_meshio(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "meshio", None)
    with pytest.raises(vi.ArgumentError, match=r'pip install "varint-dynamics\[fem\]"'):
        vi.DeformableBody.from_mesh(tmp_path / "part.msh", **RUBBER)


# wrong input

CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tetrahedra": [[0, 2, 1, 3]]}, "number 0 has a volume of -0.167.*inverted: exchange two"),
        ({"points": CORNERS * [1, 1, 0]}, "volume of 0 m.*flat"),
        ({"nu": 0.5}, "nu of deformable body 'part' must be above -1 and below 0.5, got 0.5, where the material would"),
        ({"nu": -1.0}, "must be above -1"),
        ({"E": 0.0}, "E of deformable body 'part'"),
        ({"density": -1.0}, "density of deformable body 'part'"),
        ({"material": "neohokean"}, "neohookean"),
        ({"tetrahedra": [[0, 1, 2, 4]]}, "numbers of its 4 points, 0 to 3"),
        ({"tetrahedra": [[0, 1, 2, 2.5]]}, "numbers of its 4 points"),
        ({"tetrahedra": np.zeros((0, 4))}, "there is none"),
        ({"tetrahedra": [[0, 1, 2, 3], [1, 2, 0, 3]]}, "number 1 has the same vertices as number 0"),
        ({"points": [*CORNERS, [2, 2, 2]]}, "point 4 belongs to none"),
        ({"attach": {"a": [0], "b": [0]}}, "vertex 0 is attached to 'a' and to 'b'"),
        ({"attach": {"a": [4]}}, "there is no vertex 4, only 0 to 3"),
        ({"attach": {"a": []}}, "none is given, leave 'a' out"),
        ({"attach": {"a": [1, 1]}}, "must be different"),
        ({"attach": {"a": [0, 1], "b": [2, 3]}}, "every vertex is attached"),
    ],
)
def test_wrong_descriptions(given, message):
    right_ones = {"points": CORNERS, "tetrahedra": [[0, 1, 2, 3]], **RUBBER}
    with pytest.raises(vi.MechanismError, match=message):
        vi.DeformableBody("part", **right_ones | given)


def test_unknown_bodies():
    with pytest.raises(vi.MechanismError, match=r"deformable body 'pad'.*'c'"):
        pair(attach={"c": left})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"order": 1}, "need order 2 or above"),
        ({"output_times": [0.01]}, "every= in place of output_times="),
        ({"diagnostics_every": 1}, "leave diagnostics_every= out"),
        ({"on_unresolved": "substep"}, "are not divided"),
        ({"adaptive": True}, "which adaptive steps do not support"),
    ],
)
def test_what_runs_do_not_take(given, message):
    with pytest.raises(vi.ArgumentError, match=f"deformable body 'pad'.*{message}"):
        vi.simulate(pair(), 0.02, 1e-3, **given)


def test_impacts_are_refused():
    mechanism = pair()
    stop = vi.HardContact("floor", "b", ground=(0, 0, -1))
    with pytest.raises(vi.ArgumentError, match="know no impacts, as of hardcontact 'floor'"):
        vi.simulate(replace(mechanism, forces=[*mechanism.forces, stop]), 0.02, 1e-3)


@pytest.mark.slow
def test_a_step_that_cannot_be_solved_names_a_body():
    mechanism = pair(material="neohookean")
    state = mechanism.state(velocity={"a": [400.0, 0, 0], "b": [-400.0, 0, 0]}, angular_velocity={})
    with pytest.raises(vi.ConvergenceError, match=r"could not be solved.*body '[ab]'") as caught:
        vi.simulate(mechanism, 0.1, 2e-2, state=state)
    assert np.isfinite(caught.value.trajectory.vertices["pad"]).all()


def test_meshes_that_cannot_be_read(tmp_path):
    pytest.importorskip("meshio", reason="needs varint-dynamics[fem]")
    with pytest.raises(vi.FileError, match="there is no file"):
        vi.DeformableBody.from_mesh(tmp_path / "none.msh", **RUBBER)
    (tmp_path / "text.msh").write_text("no mesh\n")
    with pytest.raises(vi.FileError, match="cannot be read as a mesh"):
        vi.DeformableBody.from_mesh(tmp_path / "text.msh", **RUBBER)


def test_a_body_held_along_an_edge_turns_with_what_holds_it():
    """A turn about the edge, which moves no attached vertex, and a spin about it."""
    part = vi.DeformableBody.box(
        "part", (0.2, 0.3, 0.1), (1, 1, 1), E=1e5, nu=0.3, density=1000.0, position=(0.1, 0, 0.05),
        attach={"rod": lambda p: np.hypot(p[:, 0], p[:, 2]) < 1e-9},
    )  # fmt: skip
    rod = vi.Body.rod("rod", (0, -0.2, 0), (0, 0.2, 0), mass=0.5, radius=0.01)
    hinge = vi.Revolute("hinge", "world", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    mechanism = vi.Mechanism("pad", [rod], [hinge], forces=[part])
    run = vi.simulate(mechanism, 1e-3, 1e-3, state=mechanism.state(coordinates={"hinge": 1.0}, rates={"hinge": 2.0}))
    c, s = np.cos(1.0), np.sin(1.0)
    turned = part.points @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T
    assert run.vertices["part"][0] == pytest.approx(turned, abs=1e-9)
    assert run.vertex_velocities["part"][0] == pytest.approx(np.cross([0, 2.0, 0], turned), abs=1e-9)


def test_pictures_of_the_mechanism_show_the_mesh():
    mechanism = vi.mechanisms.net_between_carts()
    bare = replace(mechanism, forces=[])
    drawn, without = (len(each.plot().axes[0].collections) for each in (mechanism, bare))
    assert drawn == without + 1
