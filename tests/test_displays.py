"""What is seen at a prompt and in a notebook: a few lines, small tables, whatever the size of the mechanism."""

import base64
import copy
import dataclasses
import importlib.metadata
import io
import pickle
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import force_samples
import numpy as np
import pytest
from PIL import Image
from random_mechanisms import random_joint

import varint as vi
from varint.analysis.by_name import ByName
from varint.analysis.derived import QUANTITIES
from varint.display import value_text
from varint.formulations.base import solve
from varint.formulations.stepped import Own
from varint.integrators.schemes import SCHEMES
from varint.kinematics.diagnosis import Diagnosis
from varint.model.forces.law import LAWS

LINES, CHARACTERS = 5, 400
MANY = 1000
MAPPINGS = ("coordinates", "rates", "reactions", "force", "power", "law_state", "force_potential", "dissipated")
ENDS = {"point_a": (0, 0, 0), "point_b": (0, 0, 1)}
BAR = vi.Section.circle(0.01, E=2e11, nu=0.3, density=7850.0)
NAME = "<b>&\"'" + "long " * 100


def looped():
    """A loop with a motor, a user's law and a table, under a long name with signs of HTML in it."""
    four = vi.mechanisms.four_bar()
    bodies = [dataclasses.replace(four.bodies[0], name=NAME), *four.bodies[1:]]
    ends = {"crank": NAME}
    joints = [
        dataclasses.replace(j, body_a=ends.get(j.body_a, j.body_a), body_b=ends.get(j.body_b, j.body_b))
        for j in four.joints
    ]
    joints[0] = dataclasses.replace(joints[0], name=NAME)
    forces = [vi.Motor(NAME, joint=NAME, effort=0.5)]
    return vi.Mechanism(NAME, bodies, joints, forces=forces, start={"rates": {NAME: 1.0}})


def gradient_of(mechanism):
    def objective(state):
        return 0.0

    none = np.zeros((len(mechanism.bodies), 3))
    objective.gradient = lambda state: (none, none, none, none)
    return vi.gradient(mechanism, objective, 0.02, 0.01, with_respect_to=["start", "gravity"])


def things():
    """What a user holds in hands, by a description of it."""
    large, loop = vi.mechanisms.n_pendulum(n=MANY), looped()
    held = {}
    for what, mechanism, joint in (("large", large, "joint 1"), ("loop", loop, NAME)):
        state = mechanism.state()
        run = vi.simulate(mechanism, 0.02, 0.01)
        by = gradient_of(mechanism)
        held |= {
            f"{what} gradient": by,
            f"{what} gradient by the start": by["start"],
            f"{what} mechanism": mechanism,
            f"{what} body": mechanism.bodies[0],
            f"{what} joint": mechanism.joints[0],
            f"{what} state": state,
            f"{what} reduced state": vi.redmax.reduced_state(mechanism, state),
            f"{what} compiled": mechanism.compiled,
            f"{what} plan": mechanism.compiled.plan,
            f"{what} topology": mechanism.compiled.topology,
            f"{what} part of the plan": mechanism.compiled.plan.joints,
            f"{what} run": run,
            f"{what} reaction": run.reactions[joint],
            f"{what} forces": run.forces_along,
            f"{what} record": run.record,
            f"{what} nodes": run.nodes,
            f"{what} chosen nodes": run[1:].nodes,
            f"{what} path": run.path(mechanism.bodies[0].name),
            f"{what} relative": run.relative(mechanism.bodies[0].name, mechanism.bodies[1].name),
        }
        for name in (
            "coordinates",
            "rates",
            "reactions",
            "force",
            "power",
            "law_state",
            "force_potential",
            "dissipated",
        ):
            held[f"{what} {name}"] = getattr(run, name)
    modes = loop.assembly_modes({NAME: 0.0}, starts=10)
    compared = vi.compare(loop, duration=0.02, dt=[0.01, 0.005])
    held |= {
        "reduced run": vi.redmax.simulate(loop, 0.02, dt=0.01),
        "problem": vi.Problem(loop, 0.02),
        "method": vi.Variational(0.01, order=4),
        "reduced method": vi.Reduced("radau"),
        "rival": vi.Maximal("kkt", dt=0.01),
        "step matrix": vi.step_matrix(loop, None, 0.01),
        "peer": vi.Peer("mujoco", "rk4"),
        "recording": vi.Recording(every=2),
        "stepper": vi.Stepper(large, 0.01),
        "controls": vi.controls(lambda gravity: large, {"gravity": (1.0, 9.81)}, 0.02, 0.01, show="energy"),
        "checkpoint of a stepper": vi.Stepper(loop, 0.01).save(),
        "equations of motion": vi.redmax.EquationsOfMotion(loop),
        "large diagnosis": made_diagnosis(large),
        "diagnosis": loop.diagnose(),
        "step choice": vi.choose_step(loop, 0.02),
        "import report": loop.import_report,
        "assembly modes": modes,
        "assembly mode": modes[0],
        "sweep": loop.sweep(NAME, np.linspace(0.0, 0.1, 30)),
        "comparison": compared,
        "series": compared.vi,
        "settings": compared.settings,
        "quantities": compared.vi.error,
        "deformable spring": vi.deformable_spring("d", "a", "b", **ENDS, mass=1.0, stiffness=1.0, segments=50),
        "straight muscle mass": vi.straight_muscle_mass("m", "a", "b", **ENDS, mass=1.0),
        "point of a path": vi.At("a", (0.0, 0.1, 0.2)),
        "beam": vi.beam("e", "a", "b", **ENDS, elements=50, section=BAR),
        "section of a beam": BAR,
        "wrong state": vi.State([1.0] * 500, None, "x" * 2000, np.zeros(3)),
    }
    return held | studies(loop) | kinds()


def studies(loop):
    """What the studies find."""
    run = vi.simulate(loop, 0.4, 0.02, diagnostics_every=1)
    angle = run.coordinates[NAME]
    return {
        "diagnostics": run.diagnostics,
        "trend": vi.energy_trend(run),
        "section": vi.poincare_section(run, NAME, value=float(angle[5]), direction=0),
        "portrait": vi.phase_portrait(run, NAME),
        "spectrum": vi.power_spectrum(run),
        "exponent": vi.lyapunov_exponent(loop, 0.16, 0.01, interval=0.01),
        "exponents": vi.lyapunov_spectrum(loop, 0.16, 0.01, interval=0.01),
        "linear system": vi.linearize(loop, dt=0.01),
        "second derivatives": vi.linearize(vi.mechanisms.cart_pole(), dt=0.01).second_derivatives(np.ones(4)),
        "linearizer": vi.Linearizer(loop, 0.01),
        "regulator": vi.lqr(vi.mechanisms.cart_pole()),
        "orbit": vi.periodic_orbit(vi.mechanisms.n_pendulum(1), vi.mechanisms.n_pendulum(1).state(), 1.7, 0.05),
        "orders": vi.order_study(loop, 0.02, (0.01, 0.005)),
        "reversal": vi.time_reversal(loop, 0.02, 0.01),
    }


def kinds():
    """One of each joint and force, and the entries of the registries."""
    rng = np.random.default_rng(1)
    joints = {name: random_joint(rng, name, "j", "a", "b", rng.standard_normal(3)) for name in vi.REGISTRY}
    forces = {type(f).__name__: f for several in force_samples.samples(rng).values() for f in several}
    assert set(forces) == set(vi.FORCES)
    entries = [value for registry in (QUANTITIES, LAWS, SCHEMES) for value in registry.values()]
    path = [*forces["Musculotendon"].path, vi.CylinderSurface([0, 0, 0], [0, 0, 1], 0.1)]
    path.append(next(part.surface for part in path if isinstance(part, vi.Around)))
    parts = {type(part).__name__: part for part in path}
    return joints | forces | parts | {f"{type(value).__name__} {value.name}": value for value in entries}


def made_diagnosis(mechanism):
    """With a thousand redundant rows; to find those of a thousand bodies takes long."""
    names = tuple(joint.name for joint in mechanism.joints)
    redundant = tuple((name, "force along y") for name in names)
    state, none = mechanism.state(), np.zeros((0, MANY, 6))
    return Diagnosis(mechanism, mechanism.compiled, state, 7, 6, MANY, redundant, names, 0.1, 1e-12, none)


@pytest.fixture(scope="module")
def held():
    return things()


@pytest.mark.slow
def test_every_repr_is_a_few_lines(held):
    for what, thing in held.items():
        text = repr(thing)
        assert text.startswith("by name of a " if isinstance(thing, ByName) else type(thing).__name__), what
        assert "array(" not in text, what
        assert " object at 0x" not in text, what
        assert len(text) <= CHARACTERS, what
        assert len(text.splitlines()) <= LINES, what


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


def test_reprs_survive_copies(held):
    for what in ("loop mechanism", "loop state", "diagnosis", "comparison", "Revolute", "Motor"):
        thing = held[what]
        assert repr(copy.deepcopy(thing)) == repr(thing) == repr(pickle.loads(pickle.dumps(thing)))


@pytest.mark.slow
def test_a_run_in_a_file_shows_itself(tmp_path, monkeypatch):
    monkeypatch.setattr("varint.io.run_reader.HELD", 0)  # a large one
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
    assert set(listed) == {*vi.__all__, "bridges", "gym", "plot", "redmax", "__version__"}
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
    assert vi.__version__ == importlib.metadata.version("varint")
    for text, version in (
        ('[project]\nname = "varint"\nversion = "7.8.9"', "7.8.9"),
        ('[project]\nname = "other"\nversion = "7.8.9"', importlib.metadata.version("varint")),
    ):
        (tmp_path / "pyproject.toml").write_text(text)
        assert vi.__version__ == version


# ------------------------------------------------------------------------------------------- names of what can be asked


@pytest.mark.parametrize("of", MAPPINGS)
def test_mappings_show_and_complete_their_names(held, of):
    mapping = getattr(held["loop run"], of)
    names = list(mapping)
    assert names
    assert mapping._ipython_key_completions_() == names


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


# ------------------------------------------------------------------------------------------- tables in a notebook


class Tables(HTMLParser):
    """Counts rows, and finds tags that are open, unknown or coloured."""

    PICTURE = {"alt", "width", "src"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.rows, self.cells, self.texts, self.styles, self.pictures = [], 0, 0, [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            assert {name for name, _ in attributes} == self.PICTURE
            self.pictures.append(dict(attributes)["src"])
            return
        assert tag in ("table", "caption", "tr", "td", "th")
        self.open.append(tag)
        self.rows += tag == "tr"
        self.cells += tag in ("td", "th")
        self.styles += [value for name, value in attributes if name == "style"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


SHOWN = [f"{size} {what}" for size in ("large", "loop") for what in ("mechanism", "state", "run")]


@pytest.mark.parametrize("what", [*SHOWN, "large diagnosis", "diagnosis", "comparison", "reduced run", "sweep"])
def test_tables_are_small_whole_and_without_colours(held, what):
    text = held[what]._repr_html_()
    found = Tables(text)
    assert not found.open
    assert len(text) - sum(map(len, found.pictures)) < 20_000
    assert 1 < found.rows <= 48  # heads among them
    assert not re.search(r"colou?r|background|<script|class=", text)
    assert set(found.styles) <= {"text-align:left", "text-align:right"}


@pytest.mark.slow
def test_mechanisms_and_runs_have_a_small_picture_and_large_ones_none(held):
    for what in ("loop mechanism", "loop run", "reduced run"):
        (source,) = Tables(held[what]._repr_html_()).pictures
        assert len(source) < 20_000
        with Image.open(io.BytesIO(base64.b64decode(source.removeprefix("data:image/png;base64,")))) as picture:
            assert picture.format == "PNG"
            assert 200 < picture.width <= 480
            assert len(picture.getcolors()) > 4
    for what in ("large mechanism", "large run", "loop state", "diagnosis"):
        assert not Tables(held[what]._repr_html_()).pictures


def test_names_are_escaped(held):
    for what in ("loop mechanism", "loop run", "diagnosis", "comparison", "sweep"):
        text = held[what]._repr_html_()
        assert "&lt;b&gt;&amp;" in text
        assert "<b>" not in text


def test_a_table_says_what_was_left_out(held):
    assert "... 988 more" in held["large mechanism"]._repr_html_()
    assert "... 970 more" in held["large state"]._repr_html_()


@pytest.mark.slow
def test_tables_have_the_numbers():
    four = vi.mechanisms.four_bar()
    texts = Tables(four._repr_html_()).texts
    assert {"crank", "0.4", "(0.1, 0, 0.173205)", "Revolute", "crank pin"} <= set(texts)
    assert {"degrees of freedom at this pose", "rocker pin", "force along y, torque about x, torque about z"} <= set(
        Tables(four.diagnose()._repr_html_()).texts
    )
    found = vi.compare(four, duration=0.02, dt=0.01)
    texts = Tables(found._repr_html_()).texts
    error = f"{found.vi.error.position[0]:.2e}"
    assert {"Differences from the reference", "Energy, drift and cost", "VI order 2", error} <= set(texts)
    assert len(repr(found)) <= CHARACTERS


def test_the_table_of_a_mechanism_has_the_facts_of_its_parts():
    texts = Tables(vi.mechanisms.cart_pole(effort=2.0)._repr_html_()).texts
    assert {"point=(0, 0, 0), axis=(1, 0, 0)", "point=(0, 0, 0), axis=(0, -1, 0)"} <= set(texts)
    assert {"joint='track', effort=2.0", "m", "rad"} <= set(texts)
    assert texts[-4:] == ["coordinates", "pivot", "1", "rad"]
    top = vi.mechanisms.spinning_top()
    assert Tables(top._repr_html_()).texts[-4:] == ["rates", "tip", "(14.3288, 0, 26.3683)", "rad/s"]
    moved = dataclasses.replace(vi.mechanisms.free_body(), start={"velocity": {"box": (1, 2, 3)}, "rates": None})
    assert Tables(moved._repr_html_()).texts[-4:] == ["velocity", "box", "(1, 2, 3)", "m/s"]


def test_a_diagnosis_counts_and_calls_the_rank_margin_by_one_name():
    found = vi.mechanisms.four_bar().diagnose()
    margin = "(how far from a singular pose, 1 far to 0 singular)"
    texts = Tables(found._repr_html_()).texts
    for label, value in (
        ("6 n - rows", "-2 (6 x 3 bodies - 20 rows)"),
        ("redundant rows", "3"),
        ("loops", "1"),
        ("rank margin", f"{found.rank_margin:.2g} {margin}"),
    ):
        assert texts[texts.index(label) + 1] == value
    assert f"rank margin {found.rank_margin:.2g} {margin}" in repr(found)
    assert f"rank margin {found.rank_margin:.1e} {margin}" in str(found)
    near = dataclasses.replace(found, redundancy=0, redundant=(), rank_margin=1e-4)
    assert f"close to a singular pose: rank margin 1.0e-04 {margin}" in str(near)
    coupled = dataclasses.replace(found, couplings=np.zeros((1, 3, 6)))
    assert "-2 (6 x 3 bodies - 20 rows; 1 coupling not counted)" in Tables(coupled._repr_html_()).texts
    free = Tables(vi.mechanisms.free_body().diagnose()._repr_html_()).texts
    assert "6 (6 x 1 body - no rows)" in free
    assert free[free.index("loops") + 1] == "0"


@pytest.mark.slow
def test_the_table_of_a_sweep():
    sweep = vi.mechanisms.slider_crank().sweep("crank pivot", [0.0, 0.1])
    texts = Tables(sweep._repr_html_()).texts
    assert texts[texts.index("'crank pivot', driven") + 1 :][:3] == ["0", "0.1", "rad"]
    ends = [f"{q:.6g}" for q in sweep.coordinates["slide"]]
    assert texts[texts.index("slide") + 1 :][:3] == [*ends, "m"]
    assert texts[-4:] == ["locked", "no", "branch points", "none"]
    locked = dataclasses.replace(sweep, lockup=0.25, branch_points=np.array([1.0, 2.0]))
    assert Tables(locked._repr_html_()).texts[-4:] == ["locked", "at 0.25 rad", "branch points", "(1, 2) rad"]
    none = vi.mechanisms.four_bar(case="double-rocker").sweep("crank pivot", [100.0])
    assert len(none) == 0
    assert none.lockup is not None
    assert repr(none).startswith("Sweep of 'four-bar': no configurations, joint 'crank pivot' driven, locked at ")
    assert "locked" in Tables(none._repr_html_()).texts
    top = vi.mechanisms.free_body()
    name = top.joints[0].name
    assert (top.sweep((name, 1), [0.0, 0.1]).unit, top.sweep((name, 4), [0.0, 0.1]).unit) == ("m", "rad")
    turned = top.sweep((name, 4), [0.0, 0.1])
    assert f"joint '{name}' (coordinate 4) driven, values from 0 to 0.1 rad" in repr(turned)
    assert {f"'{name}' (coordinate 4), driven", f"{name} 5"} <= set(Tables(turned._repr_html_()).texts)


def test_the_table_of_a_state_heads_its_columns():
    texts = Tables(vi.mechanisms.four_bar().state()._repr_html_()).texts
    head = ["body number", "position (m)", "orientation (w, x, y, z)", "velocity (m/s)", "angular velocity (rad/s)"]
    assert texts[1:7] == [*head, "0"]


def test_a_wrong_state_is_shown_as_text(held):
    assert held["wrong state"]._repr_html_() is None
    assert repr(held["wrong state"]).startswith("State: position=500 of them, quat_wxyz=None, velocity='xxx")


def test_a_name_with_a_colon_stays_whole():
    four = vi.mechanisms.four_bar()
    joints = [dataclasses.replace(j, name=f"left: {j.name}") for j in four.joints]
    texts = Tables(vi.Mechanism("m", four.bodies, joints).diagnose()._repr_html_()).texts
    assert {"left: rocker pin", "force along y, torque about x, torque about z"} <= set(texts)


def test_a_state_is_shown_with_the_names_of_its_mechanism():
    mechanism = vi.mechanisms.slider_crank()
    shown = mechanism.show()
    lines = repr(shown).splitlines()
    assert lines[0] == "State of 'slider-crank'"
    assert lines[1].split()[:3] == ["body", "position", "(m)"]
    assert [line.split("  ")[0] for line in lines[2:5]] == list(mechanism.body_index)
    assert [line.split("  ")[0] for line in lines[6:]] == list(mechanism.joint_index)
    rates = mechanism.rates(mechanism.state())
    assert lines[6].split()[-2:] == [f"{float(rates['crank pivot']):.6g}", "rad"]
    texts = Tables(shown._repr_html_()).texts
    assert {"crank pivot", "slide", "rod", "m", "rad"} <= set(texts)
    large = vi.mechanisms.n_pendulum(n=50)
    assert repr(large.show()).splitlines()[-2:] == ["... 20 more bodies", "... 20 more joints"]
    with pytest.raises(vi.StateError):
        large.show(mechanism.state())
