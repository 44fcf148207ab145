"""Height fields as ground of balls and capsules, against planes and closed forms."""

import math
from dataclasses import replace

import numpy as np
import pytest

import varint as vi

R = 0.1  # m
LEVEL = vi.HeightField(np.zeros((9, 9)), 0.13, position=(-0.31, -0.47, 0))
LINE = vi.CapsuleShape((0, -0.15, 0), (0, 0.15, 0), R)


def run_on(ground, velocity, duration=0.4, dt=0.01, normal=(0, 0, 1), shape=None, **law):
    """A ball, or another shape, that begins to slide on the ground at the origin."""
    shape = shape or vi.SphereShape(R)
    body = vi.Body("b", mass=1.0, inertia=0.004 * np.eye(3), position=R * np.array(normal), collision=[shape])
    contact = vi.Contact("c", "b", "world", **law)
    mechanism = vi.Mechanism("m", [body], [vi.Free("f", "world", "b")], forces=[contact], ground=[ground])
    return vi.simulate(mechanism, duration, dt, state=mechanism.state(velocity={"b": velocity}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "law", "off"),
    [(None, {"friction": 0.4}, 0.0), (None, {"friction": 0.4, "rolling": 0.01}, 0.0), (LINE, {"friction": 0.4}, 1e-11)],
)
def test_a_level_field_is_a_plane(shape, law, off):
    """Sliding, then rolling, across the edges of many triangles."""
    velocity = (1, 0.33, 0) if shape is None else (1, 0, 0)
    field, plane = (run_on(ground, velocity, shape=shape, **law) for ground in (LEVEL, vi.PlaneShape()))
    assert np.abs(field.position - plane.position).max() <= off
    assert np.abs(field.velocity - plane.velocity).max() <= off
    assert plane.position[-1, 0, 0] > 2 * 0.13 - 0.31


@pytest.mark.slow
def test_a_tilted_field_is_a_tilted_plane():
    """Along heights that grow with x, and by the axes of the field."""
    angle, x = 0.2, 0.13 * np.arange(9) - 0.31
    normal = np.array([-math.sin(angle), 0, math.cos(angle)])
    heights = np.repeat(math.tan(angle) * x[:, None], 9, axis=1)
    half = math.cos(0.5 * angle), 0.0, -math.sin(0.5 * angle), 0.0
    turned = LEVEL.moved(np.zeros(3), np.array([[normal[2], 0, normal[0]], [0, 1, 0], [-normal[0], 0, normal[2]]]))
    assert turned.quat_wxyz == pytest.approx(half)
    velocity = np.array([math.cos(angle), 0.33, math.sin(angle)])
    plane = run_on(vi.PlaneShape(normal=normal), velocity, normal=normal, friction=0.4)
    for ground in (vi.HeightField(heights, 0.13, position=(-0.31, -0.47, 0)), turned):
        field = run_on(ground, velocity, normal=normal, friction=0.4)
        assert np.abs(field.position - plane.position).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("angle", [0.1, 0.4])
def test_an_edge_that_bends_upwards_takes_what_goes_into_it(angle):
    """Without friction v becomes v cos(angle), where the ball meets the slope: R tan(angle / 2) before the edge."""
    rise = math.tan(angle) * 0.3
    field = vi.HeightField([[0, 0], [0, 0], [rise, rise]], 0.3, position=(-0.2, -0.15, 0))
    run = run_on(field, (1, 0, 0), duration=0.2)
    met = 0.1 - R * math.tan(0.5 * angle)  # s, and m
    before = run.t < met
    assert run.velocity[before, 0, 0] == pytest.approx(1.0, abs=1e-12)
    after = run.velocity[run.t > met + 0.01][0, 0]
    t = run.t[run.t > met + 0.01][0] - met
    along = math.cos(angle) - 9.81 * math.sin(angle) * t
    assert after @ [math.cos(angle), 0, math.sin(angle)] == pytest.approx(along, abs=1e-9)
    assert after @ [-math.sin(angle), 0, math.cos(angle)] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_thrown_balls_stay_above_a_rough_field():
    rng = np.random.default_rng(4)
    heights = 0.15 * rng.random((8, 8))
    field = vi.HeightField(heights, 0.25, position=(-0.8, -0.8, 0))
    names = [f"b{i}" for i in range(4)]
    bodies = [
        vi.Body.sphere(name, R, 1.0, position=(0.3 * i - 0.4, 0.1, 0.4), collision=True) for i, name in enumerate(names)
    ]
    forces = [
        vi.ContactPairs("ground", bodies=names, others=["world"], friction=0.5, restitution=0.3),
        vi.ContactPairs("balls", bodies=names, friction=0.5),
    ]
    mechanism = vi.Mechanism("m", bodies, [vi.Free(f"f{n}", "world", n) for n in names], forces=forces, ground=[field])
    state = replace(mechanism.state(), velocity=0.5 * rng.standard_normal((4, 3)))
    run = vi.simulate(mechanism, 0.6, 0.005, state=state)
    assert run.penetration["ground"].max() < 5e-5  # at edges, see docs/limits.md
    assert run.energy[-1] < run.energy[0]
    assert np.diff(run.energy).max() < 1e-3 * run.energy[0]


CUBE = vi.BoxShape((2 * R, 2 * R, 2 * R))
WHEEL = vi.CylinderShape((0, -0.04, 0), (0, 0.04, 0), R)


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "velocity"), [(CUBE, (1, 0.33, 0)), (CUBE, (0, 0, 0)), (WHEEL, (1, 0.2, 0))])
def test_a_level_field_is_a_plane_to_boxes_and_wheels(shape, velocity):
    field, plane = (run_on(ground, velocity, shape=shape, friction=0.4) for ground in (LEVEL, vi.PlaneShape()))
    assert np.abs(field.position - plane.position).max() < 1e-9
    if velocity == (0, 0, 0):
        assert np.abs(field.position - field.position[0]).max() < 1e-13


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "seed"), [("box", 0), ("box", 1), ("box", 11), ("hull", 0), ("hull", 8), ("rod", 0), ("rod", 3)]
)
def test_shapes_thrown_on_a_rough_field_stay_above_it(kind, seed):
    """Corners that slide into a valley among them, "box" 11 and "hull" 8: see docs/limits.md for cylinders."""
    rng = np.random.default_rng(seed)
    field = vi.HeightField(0.08 * np.random.default_rng(1).random((12, 12)), 0.15, position=(-0.8, -0.8, 0))
    shape = {
        "rod": vi.CylinderShape((0, 0, -0.1), (0, 0, 0.1), R),
        "hull": vi.ConvexMesh(0.12 * rng.standard_normal((12, 3)), hull=True),
        "box": vi.BoxShape((0.2, 0.15, 0.1)),
    }[kind]
    body = vi.Body("b", mass=1.0, inertia=0.004 * np.eye(3), position=(0, 0, 0.4), collision=[shape])
    contact = vi.Contact("c", "b", "world", friction=0.5, restitution=0.3)
    mechanism = vi.Mechanism("m", [body], [vi.Free("f", "world", "b")], forces=[contact], ground=[field])
    velocity, spin = 0.5 * rng.standard_normal((1, 3)), 5.0 * rng.standard_normal((1, 3))
    state = replace(mechanism.state(), velocity=velocity, angular_velocity=spin)
    run = vi.simulate(mechanism, 1.2, 0.004, state=state)
    assert run.penetration["c"].max() < 1e-9
    assert run.energy[-1] < 0.8 * run.energy[0]
    assert (run.energy - np.minimum.accumulate(run.energy)).max() < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("shape", [vi.BoxShape((0.2, 0.3, 0.1)), vi.CylinderShape((0, 0, -0.05), (0, 0, 0.05), 0.1)])
def test_steep_sides_stop_what_runs_into_them(shape):
    """A post of 86 degrees, narrower than the box; shapes slide into its side along x without gravity."""
    spacing, heights = 0.02, np.zeros((9, 21))
    heights[5:7, 10] = 0.3
    post = vi.HeightField(heights, spacing, position=(-4 * spacing, -10 * spacing, 0))
    body = vi.Body("body", mass=1.0, inertia=0.004 * np.eye(3), position=(-0.4, 0, 0.15), collision=[shape])
    slide, contact = vi.Prismatic("slide", "world", "body", axis=(1, 0, 0)), vi.Contact("contact", "body", "world")
    mechanism = vi.Mechanism("post", [body], [slide], gravity=(0, 0, 0), forces=[contact], ground=[post])
    run = vi.simulate(mechanism, 0.8, 0.005, state=mechanism.state(rates={"slide": 1.0}))
    side = spacing * 0.1 / 0.3  # m, at the height of the lower edge; the post rises by 0.3 m over a spacing from x = 0
    assert run.position[-1, 0, 0] == pytest.approx(side - 0.1, abs=1e-9)
    assert np.abs(run.velocity[-1]).max() < 1e-9
    assert run.penetration["contact"].max() < 1e-9


def test_what_a_height_field_refuses():
    with pytest.raises(vi.MechanismError, match="need two points or more along each axis"):
        vi.HeightField([[0.0, 1.0]], 0.1)
    with pytest.raises(vi.MechanismError, match="spacing of a HeightField must be positive"):
        vi.HeightField(np.zeros((3, 3)), 0.0)
    with pytest.raises(vi.MechanismError, match="has 24642 triangles, more than 20000"):
        vi.HeightField(np.zeros((112, 112)), 0.1)
    with pytest.raises(
        vi.MechanismError,
        match="'world': a HeightField touches no plane, no height field and",
    ):
        run_on(LEVEL, (0, 0, 0), shape=vi.HollowSphereShape(1.0))


def test_a_height_field_in_a_file(tmp_path):
    field = vi.HeightField([[0.0, 0.1], [0.2, 0.0], [0.0, 0.1]], 0.5, position=(0, 0, 1))
    body = vi.Body.sphere("b", 0.1, 1.0, collision=True)
    mechanism = vi.Mechanism("m", [body], [vi.Free("f", "world", "b")], ground=[field])
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    (again,) = vi.load_mechanism(tmp_path / "m.json").ground
    assert np.array_equal(again.heights, field.heights)
    assert (again.spacing, again.position[2]) == (0.5, 1.0)
    with pytest.raises(vi.FileError, match="a HeightField is written to no robot file"):
        vi.save_mechanism(replace(mechanism, bodies=[replace(body, collision=[field])]), tmp_path / "m.urdf")
