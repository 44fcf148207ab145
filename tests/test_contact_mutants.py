"""Wrong or extreme input of hard contacts: an error that names it, or a run of finite numbers."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest
from contact_scenes import free_scene

import varint as vi


def ball(name, position, radius=0.1):
    return vi.Body.sphere(name, radius, 1.0, position=position, collision=True)


@pytest.mark.parametrize("number", [np.nan, np.inf, -0.1, "rough", None])
@pytest.mark.parametrize("name", ["friction", "restitution", "rolling"])
def test_coefficients(name, number):
    for make in (
        lambda: vi.Contact("c", "a", "b", **{name: number}),
        lambda: vi.ContactPairs("c", bodies=["a", "b"], **{name: number}),
    ):
        with pytest.raises(vi.MechanismError, match=f"{name} of contact"):
            make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: vi.SphereShape(0.0),
        lambda: vi.SphereShape(-0.1),
        lambda: vi.BoxShape((0.1, 0.0, 0.1)),
        lambda: vi.CapsuleShape((0, 0, 0), (0, 0, 0.1), 0.0),
        lambda: vi.ConvexMesh(np.zeros((4, 3))),
        lambda: vi.ConvexMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]),
        lambda: vi.ConvexMesh(np.full((4, 3), np.nan)),
        lambda: vi.PlaneShape(normal=(0, 0, 0)),
    ],
)
def test_shapes_without_volume(make):
    with pytest.raises(vi.MechanismError, match=r"must|volume|plane|zero|finite|points"):
        make()


@pytest.mark.parametrize("depth", [1e-6, 0.05, 0.3])
def test_an_overlap_is_told_by_how_much(depth):
    """Up to where one is deep inside of the other."""
    boxes = [
        vi.Body.box(name, (1, 1, 1), 1.0, position=(0, 0, z), collision=True)
        for name, z in (("low", 0.5), ("high", 1.5 - depth))
    ]
    mechanism = free_scene("overlap", boxes, [vi.Contact("c", "low", "high")])
    with pytest.raises(vi.StateError, match=rf"contact 'c' starts with an overlap of {depth:g} m"):
        vi.simulate(mechanism, 0.1, 0.01)


def test_speeds_that_are_not_finite():
    mechanism = free_scene("fast", [ball("a", (0, 0, 0.5))], [vi.Contact("c", "a", "world")])
    state = mechanism.state()
    with pytest.raises(vi.VarintError, match=r"finite|velocity"):
        vi.simulate(mechanism, 0.1, 0.01, state=dataclasses.replace(state, velocity=np.full((1, 3), np.nan)))


@pytest.mark.slow
def test_a_layer_of_balls_falls_on_the_floor():
    """25 balls, all pairs: 325 contacts, which touch the floor and their neighbours."""
    spots = list(itertools.product(range(5), repeat=2))
    balls = [ball(f"b{i}{j}", (0.2 * i, 0.2 * j, 0.1 + 1e-3 * ((i + j) % 2))) for i, j in spots]
    names = [b.name for b in balls]
    pairs = vi.ContactPairs("all", bodies=names, friction=0.3)
    floor = vi.ContactPairs("floor", bodies=names, others=["world"], friction=0.3)
    mechanism = free_scene("layer", balls, [pairs, floor])
    run = vi.simulate(mechanism, 0.03, 0.01, on_unresolved="ignore")
    assert np.isfinite(run.position).all()
    assert np.isfinite(run.velocity).all()
    assert max(depth.max() for depth in run.penetration.values()) < 1e-9
    assert run.energy[-1] <= run.energy[0] * (1 + 1e-12)


def test_a_press_that_cannot_go_on_names_the_contacts_and_what_touches():
    bodies = [ball("hammer", (0, 0, 0.35)), ball("anvil", (0, 0, 0.1))]
    joints = [
        vi.Prismatic("guide", "world", "hammer", point=(0, 0, 0.35), axis=(0, 0, 1)),
        vi.Free("free", "world", "anvil"),
    ]
    forces = [vi.Contact("stand", "anvil", "world"), vi.Contact("pile", "hammer", "anvil")]
    forces += [vi.PrescribedMotion("press", joint="guide", rate=-1.0)]
    press = vi.Mechanism("press", bodies, joints, forces=forces, ground=(vi.PlaneShape(),))
    with pytest.raises(vi.ConvergenceError) as told:
        vi.simulate(press, 0.1, 1e-3)
    assert told.value.time == pytest.approx(0.05)
    assert "contact 'stand' of 'anvil' and the ground, contact 'pile' of 'hammer' and 'anvil'" in str(told.value)


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 9, 14, 22])
def test_stacks_that_a_ball_hits(monkeypatch, seed):
    """Redundant points slide in faces that touch: where only gaps decide, their impulses stay what they are."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    from stacks import HIT_DT, HIT_DURATION, hit_stack

    mechanism, state = hit_stack(seed)
    run = vi.simulate(mechanism, HIT_DURATION, HIT_DT, state=state, on_unresolved="ignore")
    assert max(depth.max() for depth in run.penetration.values()) < 1e-10
    assert np.diff(run.energy).max() < 1e-4 * run.energy[0]
    assert run.energy[-1] < run.energy[0]
