"""What is seen at a prompt and in a notebook: a few lines, small tables, whatever the size of the mechanism."""

import copy
import dataclasses
import importlib.metadata
import pickle
import tomllib
from pathlib import Path

import force_samples
import numpy as np
import pytest
from displayed import CHARACTERS, LINES, Tables, things

import varint as vi
from varint.base.display import value_text
from varint.methods.stepped import Own
from varint.results.by_name import ByName
from varint.runs.method import solve

MAPPINGS = ("coordinates", "rates", "reactions", "force", "power", "law_state", "force_potential", "dissipated")


@pytest.fixture(scope="module")
def held():
    return things()


@pytest.mark.long
@pytest.mark.slow
def test_every_repr_is_a_few_lines(held):
    for what, thing in held.items():
        text = repr(thing)
        assert text.startswith("by name of a " if isinstance(thing, ByName) else type(thing).__name__), what
        assert "array(" not in text, what
        assert " object at 0x" not in text, what
        assert len(text) <= CHARACTERS, what
        assert len(text.splitlines()) <= LINES, what


@pytest.mark.long
@pytest.mark.slow
def test_every_public_class_is_among_them(held):
    public = [getattr(module, name) for module in (vi, vi.redmax) for name in module.__all__]
    classes = [one for one in public if isinstance(one, type) and not issubclass(one, Exception)]
    for one in classes:
        assert any(isinstance(thing, one) for thing in held.values()), one
    assert len(classes) > 50


def test_a_list_in_itself_is_shown():
    inside = []
    inside.append(inside)
    assert value_text(inside).count("...") == 1
    assert value_text([[1, [2.5]]]) == "((1, (2.5)))"


def test_what_a_repr_says():
    four = vi.mechanisms.four_bar()
    assert repr(four) == "Mechanism 'four-bar': 3 bodies, 4 joints, no forces, gravity (0, 0, -9.81) m/s^2"
    joint = four.joint("crank pivot")
    assert repr(joint) == "Revolute 'crank pivot': 'world' - 'crank', point=(0, 0, 0), axis=(0, -1, 0)"
    assert repr(four.body("crank")).startswith("Body 'crank': mass 0.4 kg, position (0.1, 0, 0.173205) m, ")
    apart = dataclasses.replace(joint, point_b=(0, 0, 1))
    assert "point=(0, 0, 0), point_b=(0, 0, 1)" in repr(apart)
    motor = vi.Motor("m", joint="crank pivot", effort=np.zeros(100))
    assert repr(motor) == "Motor 'm': joint='crank pivot', effort=array (100,)"
    assert repr(vi.Motor("m", joint="j", effort=abs)) == "Motor 'm': joint='j', effort=abs"
    spring = vi.Spring("s", "a", "world", point_a=(0, 0, 0), point_b=(0, 1, 0), stiffness=3)
    assert "stiffness=3" in repr(spring)
    assert "at rest" in repr(vi.mechanisms.n_pendulum(n=2).state())
    assert "speeds up to 2.04" in repr(four.state())
    assert repr(four.diagnose()).startswith("Diagnosis of 'four-bar': 1 degree of freedom, 3 redundant rows, ")
    sweep = four.sweep("crank pivot", [0.0, 0.1])
    driven = "joint 'crank pivot' driven, values from 0 to 0.1 rad"
    assert repr(sweep) == f"Sweep of 'four-bar': 2 configurations, {driven}, no lock-up"
    locked = dataclasses.replace(sweep, lockup=0.25, branch_points=np.arange(1.0, 9.0))
    assert repr(locked).endswith("to 0.1 rad, locked at 0.25 rad, 8 branch points (1, 2, 3, 4, 5, 6, ...) rad")


def test_a_repr_of_a_force_is_of_what_was_given(rng):
    """Fields at their default are left out, others are there."""
    for forces in force_samples.samples(rng).values():
        for force in forces:
            text = repr(force)
            for field in dataclasses.fields(force):
                value = getattr(force, field.name)
                if isinstance(value, float) and value != field.default and len(text) < CHARACTERS:
                    assert f"{field.name}={value:.6g}" in text


@pytest.mark.long
@pytest.mark.slow
def test_reprs_survive_copies(held):
    for what in ("loop mechanism", "loop state", "diagnosis", "comparison", "Revolute", "Motor"):
        thing = held[what]
        assert repr(copy.deepcopy(thing)) == repr(thing) == repr(pickle.loads(pickle.dumps(thing)))


@pytest.mark.slow
def test_a_run_in_a_file_shows_itself(tmp_path, monkeypatch):
    monkeypatch.setattr("varint.files.runs.reader.HELD", 0)  # a large one
    run = vi.simulate(vi.mechanisms.four_bar(), 0.02, 0.01, output=tmp_path / "run.h5")
    assert repr(run.nodes).startswith("StoredNodes: 't', 'position', ")
    assert repr(run) == "Trajectory of 'four-bar': 3 nodes, t = 0 to 0.02 s; the run reached its end"
    assert {"order 2 (rattle)", "2, 0"} <= set(Tables(run._repr_html_()).texts)


@pytest.mark.slow
def test_a_run_shows_its_settings_and_a_part_of_it_its_span(tmp_path):
    four = vi.mechanisms.four_bar()
    run = vi.simulate(four, 0.04, 0.01, every=2)
    texts = Tables(run._repr_html_()).texts
    assert {"step (dt)", "0.01 s", "duration asked for", "0.04 s", "3 nodes, every 2 steps", "tol 1e-10"} <= set(texts)
    path = tmp_path / "part.h5"
    run[1:].save(path)
    for part in (run[1:], run.at(run.t[1:]), vi.load(path)):
        assert repr(part) == "Trajectory of 'four-bar': 2 nodes, t = 0.02 to 0.04 s; a part of a run"
        assert "2 nodes" in Tables(part._repr_html_()).texts
    run.save(path, overwrite=True)
    assert repr(vi.load(path)) == repr(run)
    assert repr(run).endswith("3 nodes, t = 0 to 0.04 s; the run reached its end")
    reduced = Tables(vi.redmax.simulate(four, 0.02, dt=0.01)._repr_html_()).texts
    assert {"3 nodes, each step", "rtol 1e-08, atol 1e-10"} <= set(reduced)


def test_a_run_by_a_method_of_the_users_is_no_part():
    def stay(state, dt):
        return state

    four = vi.mechanisms.four_bar()
    run = solve(vi.Problem(four, 0.04), Own(0.01, stay), vi.Recording(every=2))
    assert repr(run) == "Trajectory of 'four-bar': 3 nodes, t = 0 to 0.04 s; the run reached its end"
    assert repr(run[1:]) == "Trajectory of 'four-bar': 2 nodes, t = 0.02 to 0.04 s; a part of a run"


# ------------------------------------------------------------------------------------------- names in the package


def test_the_package_lists_what_is_public():
    listed = dir(vi)
    assert set(listed) == {*vi.__all__, "bridges", "formulations", "gym", "plot", "redmax", "__version__"}
    assert not {"REGISTRY", "LAWS", "FORCES"} & set(listed)
    assert {"compare", "redmax", "__version__", "Mechanism"} <= set(listed)
    assert all(hasattr(vi, name) for name in listed)
    assert sorted(vi.redmax.__all__) == dir(vi.redmax)
    star = {}
    exec("from varint import *", star)
    assert set(star) - {"__builtins__"} == set(vi.__all__)


def test_the_version_is_that_of_the_checkout_or_of_what_is_installed(tmp_path, monkeypatch):
    project = Path(vi.__file__).parents[1] / "pyproject.toml"
    own = tomllib.loads(project.read_text())["project"]["version"]
    assert vi.__version__ == own
    monkeypatch.setattr(vi, "__file__", str(tmp_path / "varint" / "__init__.py"))
    installed = {"varint-dynamics": "1.2.3", "varint": "1.0.2"}  # the other one encodes integers
    monkeypatch.setattr(importlib.metadata, "version", installed.__getitem__)
    assert vi.__version__ == "1.2.3"
    for text, version in (
        ('[project]\nname = "varint-dynamics"\nversion = "7.8.9"', "7.8.9"),
        ('[project]\nname = "other"\nversion = "7.8.9"', "1.2.3"),
    ):
        (tmp_path / "pyproject.toml").write_text(text)
        assert vi.__version__ == version


# ------------------------------------------------------------------------------------------- names of what can be asked


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("of", MAPPINGS)
def test_mappings_show_and_complete_their_names(held, of):
    mapping = getattr(held["loop run"], of)
    names = list(mapping)
    assert names
    assert mapping._ipython_key_completions_() == names


@pytest.mark.long
@pytest.mark.slow
def test_what_a_mapping_says(held):
    assert repr(held["large run"].reactions).endswith("'joint 6', ... 1000 in all")
    run = vi.simulate(vi.mechanisms.four_bar(), 0.02, 0.01)
    assert repr(run.coordinates) == "by name of a joint: 'crank pivot', 'crank pin', 'rocker pin', 'rocker pivot'"
    assert repr(run.force) == repr(run.law_state) == "by name of a force: nothing"
    assert repr(held["loop run"].power).startswith("by name of a force: '<b>")
    assert not run.coordinates._known  # nothing is worked out for that


def test_what_a_reaction_and_a_path_say():
    run = vi.simulate(vi.mechanisms.four_bar(), 0.02, 0.01)
    reaction = run.reactions["crank pin"]
    assert repr(reaction) == "Reaction: force (3, 3) N, torque (3, 3) N m, world, of the joint on its body b"
    path = run.path("crank", (0.2, 0.0, np.sqrt(3) / 5))
    at = "(0, 0, 0.2) m from its centre of mass, in body axes"
    assert repr(path) == f"PointPath: the point of body 'crank' at {at}, 3 nodes"
