"""What goes to another process comes back whole, or says that it cannot go; addresses never travel.

Copies of whole mechanisms within one process: test_copies.py.
"""

import copy
import inspect
import multiprocessing
import pickle
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, is_dataclass
from unittest.mock import patch

import force_samples
import numpy as np
import pytest
from random_mechanisms import random_joint

import varint as vi
from varint.base import errors
from varint.base.numba import addresses_of
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme
from varint.step.ldu import solve_any
from varint.step.step import run
from varint.step.workspace import workspace

WAYS = {
    **{f"pickle {n}": lambda thing, n=n: pickle.loads(pickle.dumps(thing, n)) for n in range(2, 6)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def same(a, b):
    """Whether two things have the same contents, to the bit."""
    if type(a) is not type(b) and not (isinstance(a, Mapping) and isinstance(b, Mapping)):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, vi.Trajectory):
        return same(a.record, b.record)
    if is_dataclass(a):
        return all(same(getattr(a, field.name), getattr(b, field.name)) for field in fields(a))
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b or (a != a and b != b))


@pytest.fixture(scope="module")
def elsewhere():
    """Calls a function in another process, which begins with nothing of this one."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield lambda function, *arguments: pool.submit(function, *arguments).result()


def law(value, rate):
    return -30.0 * value - 0.4 * rate, -30.0, -0.4


def command(t, state):
    return 0.3 * np.sin(5.0 * t) + state.velocity[0, 0]


def build(law=law):
    """A user's law, a function that commands a motor, a stop and a closed loop."""
    four_bar = vi.mechanisms.four_bar()
    forces = [
        vi.UserJointForce("spring", joint="crank pivot", law=law),
        vi.Motor("motor", joint="rocker pivot", effort=command),
        vi.JointStop("stop", joint="rocker pivot", upper=3.0, stiffness=20.0),
    ]
    return vi.Mechanism("travels", four_bar.bodies, four_bar.joints, forces=forces, start=dict(four_bar.start))


def test_the_test_sees_differences():
    mechanism = build()
    assert same(mechanism, build())
    assert not same(mechanism, vi.mechanisms.four_bar())
    assert not same(np.zeros(3), np.zeros(3, dtype=np.float32))
    assert not same({"a": np.zeros(2)}, {"a": np.array([0.0, 1e-300])})


CLASSES = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, vi.VarintError)]


def made(kind):
    """An error of that class, with all that its constructor takes."""
    parameters = inspect.signature(kind.__init__).parameters.values()
    given = {p.name: f"the {p.name}" for p in parameters if p.kind is p.KEYWORD_ONLY}
    error = kind("body 'a' is wrong: mend it", **given)
    error.add_note("a note")
    return error


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_errors_travel_whole(kind, way):
    error = made(kind)
    other = WAYS[way](error)
    assert type(other) is kind
    assert (str(other), other.args, vars(other)) == (str(error), error.args, vars(error))


def fails(formulation):
    """A run of 0.2 s with a step that cannot be solved."""
    pendulum = vi.mechanisms.double_pendulum()
    if formulation == "maximal":
        late = np.zeros((21, 3))
        late[10:] = 1e15, 0, 0
        return vi.simulate(pendulum, 0.2, 0.01, force={"link 2": late})
    with patch("varint.methods.reduced.implicit.ITERATIONS", 1):
        return vi.redmax.simulate(pendulum, 0.2, dt=0.1, integrator="bdf1")


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_run_that_fails_in_a_worker_tells_where(formulation, elsewhere):
    with pytest.raises(vi.ConvergenceError) as here:
        fails(formulation)
    with pytest.raises(vi.ConvergenceError) as there:
        elsewhere(fails, formulation)
    here, there = here.value, there.value
    assert str(there) == str(here)
    assert (there.time, there.body, there.joint) == (here.time, here.body, here.joint)
    assert not there.trajectory.success
    assert np.array_equal(there.trajectory.position, here.trajectory.position)
    assert np.array_equal(there.trajectory.energy, here.trajectory.energy)
    assert elsewhere(len, "the pool still works") == 20


@pytest.mark.parametrize("way", WAYS)
def test_every_force_travels(way, rng):
    seen = set()
    for forces in force_samples.samples(rng).values():
        for force in forces:
            if not any("lambda" in getattr(v, "__qualname__", "") for v in vars(force).values()):
                assert same(WAYS[way](force), force)
                seen.add(type(force).__name__)
    assert seen == set(vi.FORCES)


@pytest.mark.parametrize("way", WAYS)
def test_every_joint_travels(way, rng):
    for name in vi.REGISTRY:
        joint = random_joint(rng, name, "joint", "a", "b", rng.standard_normal(3))
        assert same(joint.forbidden, WAYS[way](joint).forbidden)  # worked out of the fields, by some joints
        assert same(WAYS[way](joint), joint)


RESULTS = {
    "run": lambda: vi.simulate(build(), 0.1, 0.01),
    "reduced run": lambda: vi.redmax.simulate(build(), 0.1, dt=0.01),
    "state": lambda: build().state(),
    "diagnosis": lambda: build().diagnose(),
    "sweep": lambda: vi.mechanisms.four_bar().sweep("crank pivot", [0.0, 0.1, 0.2]),
    "reduced state": lambda: vi.redmax.reduced_state(build(), build().state()),
    "some nodes": lambda: vi.simulate(build(), 0.1, 0.01)[2:9:3],
    "nodes of a reduced run": lambda: vi.redmax.simulate(build(), 0.1, dt=0.01)[2:],
    "comparison": lambda: vi.compare(vi.mechanisms.double_pendulum(), duration=0.1, dt=[0.02, 0.01]),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", RESULTS)
def test_results_travel(what):
    result = RESULTS[what]()
    asked = [name for name in ("energy", "drift", "coordinates", "reactions", "force") if hasattr(type(result), name)]
    before = {name: getattr(result, name) for name in asked}  # quantities that are worked out stay usable
    for way in WAYS.values():
        other = way(result)
        assert same(other, result)
        assert same({name: getattr(other, name) for name in asked}, before)
        assert same(way(before), before)


@pytest.mark.slow
def test_a_run_in_a_file_travels_without_it(tmp_path, monkeypatch, rng):
    monkeypatch.setattr("varint.files.runs.reader.HELD", 0)  # read array by array
    run = vi.simulate(force_samples.coupled_everywhere(rng), 0.1, 0.01, output=tmp_path / "run.h5")
    for way in ("pickle 5", "deepcopy"):
        other = WAYS[way](run)
        (tmp_path / "run.h5").rename(tmp_path / "away.h5")
        taken = {name: other.nodes[name] for name in other.nodes}
        energy, force, state = other.energy, dict(other.force), other.state(-1)
        (tmp_path / "away.h5").rename(tmp_path / "run.h5")
        assert same(taken, {name: run.nodes[name] for name in run.nodes})
        assert same(energy, run.energy)
        assert same(force, dict(run.force))
        assert same(vars(state), vars(run.state(-1)))


@pytest.mark.slow
def test_what_follows_from_a_copy_is_the_same():
    """Of results that work things out when asked."""
    diagnosis, sweep, comparison = (RESULTS[what]() for what in ("diagnosis", "sweep", "comparison"))
    for way in WAYS.values():
        assert same(way(diagnosis).motions, diagnosis.motions)
        assert str(way(diagnosis)) == str(diagnosis)
        assert same(vars(way(sweep).state(2)), vars(sweep.state(2)))
        assert str(way(comparison)) == str(comparison)
        assert same(way(comparison).reference_error, comparison.reference_error)


def simulated(mechanism):
    return vi.simulate(mechanism, 0.2, 0.01), vi.redmax.simulate(mechanism, 0.2, dt=0.01)


@pytest.mark.slow
def test_a_mechanism_gives_the_same_bits_in_another_process(elsewhere):
    """Both ways: a mechanism goes there, trajectories come back and answer for themselves."""
    mechanism = build()
    here = simulated(mechanism)
    for there in (elsewhere(simulated, mechanism), simulated(copy.deepcopy(mechanism))):
        for a, b in zip(here, there, strict=True):
            assert np.ptp(a.force["spring"]) > 0.1
            assert all(same(getattr(a, name), getattr(b, name)) for name in ("position", "velocity", "work", "t"))
            assert same(a.reactions, b.reactions)
            assert same(a.force, b.force)


def marched(compiled, state):
    """A march with a plan as it arrived."""
    march = March(compiled, scheme(2), 0.01, 1e-10, 1)
    march.start(state)
    function = march.ws.efforts.function
    return march.advance(20).position, function[function != 0].tolist() == addresses_of([law]).tolist()


@pytest.mark.slow
def test_a_compiled_plan_finds_its_addresses_where_it_arrives(elsewhere):
    mechanism = build()
    given = mechanism.compiled, mechanism.state()
    here, there = marched(*given), elsewhere(marched, *given)
    assert np.array_equal(here[0], there[0])
    assert here[1]
    assert there[1]


def test_what_holds_addresses_cannot_be_pickled():
    compiled = build().compiled
    ws = workspace(compiled.plan, functions=compiled.functions)
    march = March(compiled, scheme(2), 0.01, 1e-10, 1)
    for thing in (ws, ws.efforts, march):
        with pytest.raises(TypeError, match="holds addresses of its process and cannot be pickled"):
            pickle.dumps(thing)
    other = copy.deepcopy(ws)  # in the same process
    assert np.array_equal(other.efforts.function, ws.efforts.function)
    assert other.address != ws.address
    assert copy.copy(ws).position is ws.position


def identity(function):
    function.prepare()
    return function is solve_any, int(solve_any.cell[0]) != 0


@pytest.mark.slow
def test_compiled_functions_travel_by_name(elsewhere):
    for function in (solve_any, run):
        assert all(WAYS[way](function) is function for way in WAYS)
    assert elsewhere(identity, solve_any) == (True, True)


@pytest.mark.slow
def test_a_law_without_a_name_gets_the_error_of_pickle():
    mechanism = build(lambda value, rate: (-value, -1.0, 0.0))
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(mechanism)
