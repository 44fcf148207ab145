"""Mechanisms can be copied, pickled and shared between threads: all give the bits of one serial run."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from force_samples import coupled_everywhere

import varint as vi

WAYS = {"pickle": lambda thing: pickle.loads(pickle.dumps(thing)), "deepcopy": copy.deepcopy, "copy": copy.copy}
THREADS = 8


def results(mechanism, dt):
    run = vi.simulate(mechanism, 20 * dt, dt)
    return [run.position, run.quat_wxyz, run.velocity, run.angular_velocity, run.work]


def same_bits(some, others):
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(some, others, strict=True))


def arrays_in(thing, seen):
    """All arrays that hang on a description, as far as its parts are of this package, without its start."""
    if id(thing) in seen or isinstance(thing, vi.State):
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, tuple):
        for part in thing:
            yield from arrays_in(part, seen)
    elif type(thing).__module__.startswith("varint.model") or isinstance(thing, vi.Mechanism):
        for part in vars(thing).values():
            yield from arrays_in(part, seen)


def stopped():
    """Hard stops, a gear, a spring and a joint that is a product of exponentials."""
    sizes = {"size": (0.3, 0.2, 0.1), "mass": 1.0}
    bodies = [vi.Body.box(name, position=place, **sizes) for name, place in zip("abc", 2 * np.eye(3), strict=True)]
    joints = [
        vi.Revolute("1", "world", "a", point=(2, 0, 0.5), axis=(0, 1, 0)),
        vi.Revolute("2", "world", "b", point=(0, 2, 0.5), axis=(1, 0, 0)),
        vi.Helical("3", "world", "c", point=(0, 0, 2), axis=(0, 0, 1), lead=0.1),
    ]
    forces = [
        vi.JointStop("stop", joint="1", lower=-0.02, upper=0.02, restitution=0.5),
        vi.Gear("gear", joint_a="1", joint_b="2", radius_a=0.1, radius_b=0.2),
        vi.TorsionSpring("spring", joint="3", stiffness=3.0),
    ]
    return vi.Mechanism("stopped", bodies, joints, forces=forces, start={"rates": {"1": 2.0, "2": -1.0, "3": 1.0}})


MECHANISMS = {
    **{name: getattr(vi.mechanisms, name) for name in ("governor", "roller_coaster", "n_four_bar", "spinning_top")},
    "stopped": stopped,
    "forces": lambda: coupled_everywhere(np.random.default_rng(5)),
}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_copy_simulates_to_the_same_bits(name, way, compiled):
    mechanism = MECHANISMS[name]()
    dt = 1e-3
    expected = results(mechanism, dt) if compiled else None
    other = WAYS[way](mechanism)
    assert other.name == mechanism.name
    assert dict(other.start).keys() == dict(mechanism.start).keys()
    pairs = list(zip(arrays_in(other, set()), arrays_in(mechanism, set()), strict=True))
    assert pairs
    assert all(ours.flags.writeable or not copied.flags.writeable for copied, ours in pairs)
    assert same_bits(results(other, dt), expected or results(mechanism, dt))


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_every_mechanism_of_the_catalogue_is_copied(name):
    mechanism = getattr(vi.mechanisms, name)()
    state = list(vars(mechanism.state()).values())[:4]
    for way in WAYS.values():
        other = way(mechanism)
        assert same_bits(list(arrays_in(other, set())), list(arrays_in(mechanism, set())))
        assert same_bits(list(vars(other.state()).values())[:4], state)


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_threads_that_share_a_mechanism_give_the_bits_of_one_run(name):
    mechanism = MECHANISMS[name]()
    with ThreadPoolExecutor(THREADS) as pool:
        runs = list(pool.map(lambda _: results(mechanism, 1e-3), range(THREADS)))
    expected = results(mechanism, 1e-3)
    assert all(same_bits(run, expected) for run in runs)
