"""Bodies: moments of every shape against quadrature, and what is no body."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import varint as vi

NAN = float("nan")
QUAT = (0.5, -0.5, 0.5, 0.5)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
CUBE = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
CUBE_FACES = np.array(  # two triangles a side, counter-clockwise from outside
    [
        [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5]],  # x
        [[0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6]],  # y
        [[0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]],  # z
    ]
).reshape(-1, 3)


def between(start, stop):
    """Gauss points and weights of an interval; exact for polynomials up to order 23."""
    return 0.5 * (start + stop) + 0.5 * (stop - start) * NODES, 0.5 * (stop - start) * WEIGHTS


def moments_of(points, weights):
    """Centre (3,) and inertia per kilogram (3, 3) about it of a cloud of points."""
    weights = weights / weights.sum()
    centre = weights @ points
    arms = points - centre
    second = np.einsum("n,ni,nj->ij", weights, arms, arms)
    return centre, np.trace(second) * np.eye(3) - second


def stack_of_ellipses(intervals, half_axes):
    """Quadrature of a solid whose sections across z are ellipses with ``half_axes(z)``; exact where smooth."""
    angle = np.arange(8) * np.pi / 4
    radius, radial = between(0.0, 1.0)
    points, weights = [], []
    for interval in intervals:
        for z, dz in zip(*between(*interval), strict=True):
            a, b = half_axes(z)
            for r, dr in zip(radius, radial, strict=True):
                points.append(np.column_stack([a * r * np.cos(angle), b * r * np.sin(angle), np.full(8, z)]))
                weights.append(np.full(8, a * b * r * dr * dz))
    return np.concatenate(points), np.concatenate(weights)


def box_points(x, y, z):
    axes = [between(-0.5 * length, 0.5 * length) for length in (x, y, z)]
    points = np.stack(np.meshgrid(*(nodes for nodes, _ in axes)), axis=-1).reshape(-1, 3)
    weights = np.prod(np.meshgrid(*(weights for _, weights in axes)), axis=0).ravel()
    return points, weights


def capsule_radius(z, radius=0.2, length=0.7):
    return np.sqrt(radius**2 - max(0.0, abs(z) - length / 2) ** 2)


SHAPES = {
    "box": (lambda **pose: vi.Body.box("b", (0.3, 0.5, 0.9), 2.0, **pose), box_points(0.3, 0.5, 0.9)),
    "cylinder": (
        lambda **pose: vi.Body.cylinder("b", 0.2, 0.7, 2.0, **pose),
        stack_of_ellipses([(-0.35, 0.35)], lambda z: (0.2, 0.2)),
    ),
    "capsule": (
        lambda **pose: vi.Body.capsule("b", 0.2, 0.7, 2.0, **pose),
        stack_of_ellipses([(-0.55, -0.35), (-0.35, 0.35), (0.35, 0.55)], lambda z: (capsule_radius(z),) * 2),
    ),
    "sphere": (
        lambda **pose: vi.Body.sphere("b", 0.4, 2.0, **pose),
        stack_of_ellipses([(-0.4, 0.4)], lambda z: (np.sqrt(0.16 - z * z),) * 2),
    ),
    "ellipsoid": (
        lambda **pose: vi.Body.ellipsoid("b", (0.3, 0.5, 0.4), 2.0, **pose),
        stack_of_ellipses([(-0.4, 0.4)], lambda z: np.array([0.3, 0.5]) * np.sqrt(1 - z * z / 0.16)),
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_against_quadrature(shape):
    build, cloud = SHAPES[shape]
    centre, inertia = moments_of(*cloud)
    np.testing.assert_allclose(centre, 0.0, atol=1e-14)
    body = build(position=(1, 2, 3), quat_wxyz=QUAT)
    assert body.mass == 2.0
    np.testing.assert_allclose(body.inertia, 2.0 * inertia, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(body.position, (1, 2, 3))
    np.testing.assert_array_equal(body.quat_wxyz, QUAT)


def sphere_mesh(subdivisions):
    """An octahedron, its faces split in four again and again, blown up to the unit sphere."""
    vertices = [np.array(v, dtype=float) for v in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1))]
    faces = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    for _ in range(subdivisions):
        middle = {}

        def half(i, j, middle=middle):
            key = frozenset((i, j))
            if key not in middle:
                middle[key] = len(vertices)
                vertices.append(vertices[i] + vertices[j])
                vertices[-1] /= np.linalg.norm(vertices[-1])
            return middle[key]

        split = [(i, j, k, half(i, j), half(j, k), half(k, i)) for i, j, k in faces]
        faces = [face for i, j, k, a, b, c in split for face in ((i, a, c), (a, j, b), (c, b, k), (a, b, c))]
    return np.array(vertices), np.array(faces)


@pytest.mark.slow
def test_mesh_against_ellipsoid():
    errors = []
    for subdivisions in (3, 4):
        vertices, faces = sphere_mesh(subdivisions)
        mesh = vi.Body.mesh("b", vertices * (0.3, 0.5, 0.4), faces, 2.0)
        errors.append(np.abs(mesh.inertia - vi.Body.ellipsoid("b", (0.3, 0.5, 0.4), 2.0).inertia).max())
    assert errors[1] < 1e-3
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("offset", [(0, 0, 0), (-0.5, -0.5, -0.5), (30, -20, 10)])
def test_mesh_of_a_box_is_a_box(offset):
    size = np.array([0.3, 0.5, 0.9])
    pose = {"position": np.array([1.0, 2.0, 3.0]), "quat_wxyz": QUAT}
    mesh = vi.Body.mesh("b", CUBE * size + offset, CUBE_FACES, 2.0, **pose)
    box = vi.Body.box("b", size, 2.0)
    np.testing.assert_allclose(mesh.inertia, box.inertia, rtol=1e-13, atol=1e-13)
    centre = pose["position"] + Rotation.from_quat(QUAT, scalar_first=True).apply(0.5 * size + offset)
    np.testing.assert_allclose(mesh.position, centre, rtol=1e-14)
    np.testing.assert_array_equal(mesh.quat_wxyz, QUAT)


def test_rod_is_a_cylinder_between_two_points(rng):
    for _ in range(5):
        start, end = rng.standard_normal((2, 3))
        length = np.linalg.norm(end - start)
        rod = vi.Body.rod("b", start, end, 2.0, radius=0.1)
        np.testing.assert_allclose(rod.inertia, vi.Body.cylinder("b", 0.1, length, 2.0).inertia, rtol=1e-14)
        turn = Rotation.from_quat(rod.quat_wxyz, scalar_first=True)
        np.testing.assert_allclose(rod.position + turn.apply([0, 0, length / 2]), end, atol=1e-14)
        np.testing.assert_allclose(rod.position - turn.apply([0, 0, length / 2]), start, atol=1e-14)
    for end in ((0, 0, 2), (0, 0, -2)):
        turn = Rotation.from_quat(vi.Body.rod("b", (0, 0, 0), end, 2.0).quat_wxyz, scalar_first=True)
        np.testing.assert_allclose(turn.apply([0, 0, 2]), end, atol=1e-14)
    thin = vi.Body.rod("b", (0, 0, 0), (3, 0, 0), 2.0)
    np.testing.assert_allclose(thin.inertia[0, 0], 2.0 * 3**2 / 12, rtol=1e-3)
    np.testing.assert_allclose(thin.inertia[2, 2], 2.0 * 0.03**2 / 2, rtol=1e-12)


def test_composite_of_two_half_boxes_is_the_box():
    turn = Rotation.from_quat(QUAT, scalar_first=True)
    halves = [
        vi.Body.box(f"half {side}", (0.3, 0.5, 0.45), 1.0, position=turn.apply([0, 0, side * 0.225]), quat_wxyz=QUAT)
        for side in (-1, 1)
    ]
    whole = vi.Body.composite("whole", halves)
    assert whole.mass == 2.0
    np.testing.assert_allclose(whole.inertia, vi.Body.box("b", (0.3, 0.5, 0.9), 2.0).inertia, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(whole.position, 0.0, atol=1e-15)
    np.testing.assert_array_equal(whole.quat_wxyz, QUAT)


def test_composite_with_turned_parts_and_point_masses():
    ball = vi.Body.sphere("ball", 0.1, 2.0, position=(1, 0, 0), quat_wxyz=QUAT)
    body = vi.Body.composite("body", [ball, (1.0, (4, 0, 0))])
    np.testing.assert_allclose(body.position, (2, 0, 0), rtol=1e-15)
    turn = Rotation.from_quat(QUAT, scalar_first=True).as_matrix()
    own, arms = 2.0 * 0.4 * 0.1**2, 2.0 * 1**2 + 1.0 * 2**2  # parallel axes, across x
    world = np.diag([own, own + arms, own + arms])
    np.testing.assert_allclose(turn @ body.inertia @ turn.T, world, atol=1e-14)


def test_composite_of_point_masses_uses_world_axes():
    points = [(mass, side * axis) for mass, axis in zip((1.0, 2.0, 3.0), np.eye(3), strict=True) for side in (-1, 1)]
    body = vi.Body.composite("body", points)
    np.testing.assert_allclose(body.inertia, np.diag([10.0, 8.0, 6.0]), atol=1e-15)
    np.testing.assert_array_equal(body.quat_wxyz, (1, 0, 0, 0))


def test_bodies_cannot_be_changed():
    body = vi.Body.sphere("b", 0.1, 1.0)
    with pytest.raises(AttributeError):
        body.mass = 2.0
    for array in (body.inertia, body.position, body.quat_wxyz):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_the_given_arrays_are_copied():
    inertia, position = np.eye(3), np.zeros(3)
    body = vi.Body("b", mass=1.0, inertia=inertia, position=position)
    inertia[0, 0] = position[0] = 5.0
    assert body.inertia[0, 0] == 1.0
    assert body.position[0] == 0.0


def direct(**changes):
    return lambda: vi.Body("culprit", **({"mass": 1.0, "inertia": np.eye(3)} | changes))


def mesh(vertices=CUBE, triangles=CUBE_FACES, mass=1.0, **pose):
    return lambda: vi.Body.mesh("culprit", vertices, triangles, mass, **pose)


def shaped(shape, *arguments, **pose):
    return lambda: getattr(vi.Body, shape)("culprit", *arguments, **pose)


nan_inertia, nan_vertices = np.eye(3), CUBE.copy()
nan_inertia[1, 2] = nan_vertices[5, 1] = NAN
BAD = {
    "mass zero": direct(mass=0.0),
    "mass negative": direct(mass=-1.0),
    "mass nan": direct(mass=NAN),
    "mass infinite": direct(mass=np.inf),
    "mass array": direct(mass=[1.0]),
    "mass text": direct(mass="heavy"),
    "mass none": direct(mass=None),
    "inertia nan": direct(inertia=nan_inertia),
    "inertia shape": direct(inertia=np.ones(3)),
    "inertia ragged": direct(inertia=[[1, 0, 0], [0, 1], [0, 0, 1]]),
    "inertia text": direct(inertia="box"),
    "inertia asymmetric": direct(inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]),
    "inertia zero": direct(inertia=np.zeros((3, 3))),
    "inertia of a line": direct(inertia=np.diag([1, 1, 0])),
    "inertia negative": direct(inertia=np.diag([1, 1, -1])),
    "inertia triangle": direct(inertia=np.diag([1, 1, 2.1])),
    "position nan": direct(position=(0, NAN, 0)),
    "position shape": direct(position=(0, 0)),
    "quaternion norm": direct(quat_wxyz=(1, 1, 0, 0)),
    "quaternion zero": direct(quat_wxyz=(0, 0, 0, 0)),
    "quaternion nan": direct(quat_wxyz=(NAN, 0, 0, 0)),
    "quaternion shape": direct(quat_wxyz=(1, 0, 0)),
    "box zero": shaped("box", (1, 0, 1), 1.0),
    "box negative": shaped("box", (1, -1, 1), 1.0),
    "box nan": shaped("box", (1, NAN, 1), 1.0),
    "box shape": shaped("box", (1, 1), 1.0),
    "box number": shaped("box", 1.0, 1.0),
    "box mass": shaped("box", (1, 1, 1), 0.0),
    "box position": shaped("box", (1, 1, 1), 1.0, position=(0, 0, NAN)),
    "cylinder radius": shaped("cylinder", 0.0, 1.0, 1.0),
    "cylinder length": shaped("cylinder", 1.0, -1.0, 1.0),
    "cylinder nan": shaped("cylinder", NAN, 1.0, 1.0),
    "capsule radius": shaped("capsule", -0.1, 1.0, 1.0),
    "capsule length": shaped("capsule", 0.1, NAN, 1.0),
    "sphere radius": shaped("sphere", 0.0, 1.0),
    "sphere nan": shaped("sphere", NAN, 1.0),
    "sphere mass": shaped("sphere", 1.0, NAN),
    "ellipsoid axis": shaped("ellipsoid", (1, 1, -1), 1.0),
    "ellipsoid shape": shaped("ellipsoid", 1.0, 1.0),
    "ellipsoid flat": shaped("ellipsoid", (1, 1e-9, 1e-9), 1.0),
    "rod without length": shaped("rod", (1, 0, 0), (1, 0, 0), 1.0),
    "rod nan": shaped("rod", (NAN, 0, 0), (1, 0, 0), 1.0),
    "rod radius": shaped("rod", (0, 0, 0), (1, 0, 0), 1.0, 0.0),
    "rod mass": shaped("rod", (0, 0, 0), (1, 0, 0), -1.0),
    "mesh open": mesh(triangles=CUBE_FACES[:-1]),
    "mesh flipped": mesh(triangles=CUBE_FACES[:, ::-1]),
    "mesh with one triangle flipped": mesh(triangles=np.vstack([CUBE_FACES[:-1], CUBE_FACES[-1:, ::-1]])),
    "mesh twice": mesh(triangles=np.vstack([CUBE_FACES, CUBE_FACES])),
    "mesh nan": mesh(vertices=nan_vertices),
    "mesh flat": mesh(vertices=CUBE * (1, 1, 0)),
    "mesh vertex shape": mesh(vertices=CUBE[:, :2]),
    "mesh ragged": mesh(vertices=[[0, 0, 0], [1, 0]]),
    "mesh text": mesh(vertices="cube"),
    "mesh triangle shape": mesh(triangles=CUBE_FACES.ravel()),
    "mesh fractions": mesh(triangles=CUBE_FACES + 0.5),
    "mesh empty": mesh(triangles=np.zeros((0, 3), dtype=int)),
    "mesh unknown vertex": mesh(triangles=CUBE_FACES + 1),
    "mesh negative vertex": mesh(triangles=CUBE_FACES - 1),
    "mesh mass": mesh(mass=0.0),
    "mesh position": mesh(position=(NAN, 0, 0)),
    "mesh quaternion": mesh(quat_wxyz=(1, 1, 0, 0)),
    "composite empty": shaped("composite", []),
    "composite part": shaped("composite", [1.0]),
    "composite triple": shaped("composite", [(1.0, (0, 0, 0), 3)]),
    "composite mass": shaped("composite", [(-1.0, (0, 0, 0))]),
    "composite position": shaped("composite", [(1.0, (0, 0, NAN))]),
    "composite of a point": shaped("composite", [(1.0, (0, 0, 0))]),
    "composite on a line": shaped("composite", [(1.0, (0, 0, 0)), (1.0, (1, 0, 0))]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_bodies_are_named(case):
    with pytest.raises(vi.MechanismError, match="'culprit'"):
        BAD[case]()


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_body_needs_a_name(name):
    with pytest.raises(vi.MechanismError, match="needs a name"):
        vi.Body(name, mass=1.0, inertia=np.eye(3))


def test_the_world_is_no_body():
    with pytest.raises(vi.MechanismError, match="'world'"):
        vi.Body("world", mass=1.0, inertia=np.eye(3))


@pytest.mark.parametrize("build", [shaped("box", (1, 1, 1), 1.0, colour="red"), mesh(colour="red")])
def test_unknown_arguments(build):
    with pytest.raises(TypeError, match="colour"):
        build()
