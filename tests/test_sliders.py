"""Parameters with sliders: each change runs the mechanism again and redraws, and errors stand in place of pictures."""

import html
import re
import sys

import numpy as np
import pytest

import varint as vi

RANGES = {"angle": (0.1, 3.0), "length": (0.5, 2.0, 0.1)}
RUN = {"duration": 0.2, "dt": 0.01}


def build(angle=0.5, length=1.0, links=1):
    if length > 1.95:
        raise ValueError("a string of <this> length is missing")
    bodies, joints, last = [], [], "world"
    for k in range(links):
        bodies.append(vi.Body.sphere(f"bob {k}", 0.05, 1.0, position=(0, 0, -length * (k + 1))))
        joints.append(vi.Revolute(f"hinge {k}", last, f"bob {k}", point=(0, 0, -length * k), axis=(0, 1, 0)))
        last = f"bob {k}"
    return vi.Mechanism("pendulum", bodies, joints, start={"coordinates": {"hinge 0": angle}})


@pytest.fixture
def ipywidgets():
    return pytest.importorskip("ipywidgets", reason="needs varint-dynamics[notebook]")


def page_of(text):
    """The page within ``text``, without its data."""
    (inside,) = re.findall(r'srcdoc="([^"]*)"', text)
    return html.unescape(inside)


def without_widgets(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)


# --------------------------------------------------------------------------------------------------------- by code


def test_values_set_by_code_run_again(monkeypatch):
    without_widgets(monkeypatch)
    c = vi.controls(build, RANGES, **RUN)
    assert c.values == {"angle": 0.5, "length": 1.0}  # the defaults of build
    first = c.trajectory
    assert np.array_equal(first.position, vi.simulate(build(), **RUN).position)
    assert page_of(c.html) == first.view().html
    c.set(angle=0.3)
    assert np.array_equal(c.trajectory.position, vi.simulate(build(0.3), **RUN).position)
    assert page_of(c.html) == c.trajectory.view().html
    assert "angle=0.3, length=1, Trajectory of 'pendulum': 21 nodes" in repr(c)
    again = c.trajectory
    c.set({"angle": 0.3}, length=1)
    assert c.trajectory is again  # nothing changed


def test_parameters_of_the_start_and_of_the_run():
    ranges = {"rates.hinge 0": (-1.0, 2.0), "dt": (0.01, 0.05), "order": [2, 4], "links": (1, 3, 1)}
    c = vi.controls(build, ranges, 0.2, tol=1e-9)
    assert c.values == {"rates.hinge 0": pytest.approx(0.5), "dt": pytest.approx(0.03), "order": 2, "links": 1}
    c.set({"rates.hinge 0": 1.0}, dt=0.02, order=4, links=3)
    assert c.trajectory.rates["hinge 0"][0] == pytest.approx(1.0)
    assert len(c.trajectory.mechanism.bodies) == 3
    settings = c.trajectory.settings
    assert (settings["dt"], settings["order"], settings["tol"]) == (0.02, 4, 1e-9)


def test_catalogue_file_and_method(tmp_path):
    c = vi.controls("four_bar", {"crank": (0.1, 0.6), "case": ["double-crank", "crank-rocker"]}, 0.1, vi.Reduced())
    assert c.values == {"crank": pytest.approx(0.35), "case": "crank-rocker"}  # the middle, on a step; the default
    assert isinstance(c.trajectory, type(vi.simulate(vi.Problem(build(), 0.1), vi.Reduced())))
    file = tmp_path / "pendulum.toml"
    file.write_text(
        """
        name = "pendulum"
        parameters = {length = 0.7}

        [bodies.bob]
        mass = 1.0
        position = [0, 0, "-length"]
        inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]

        [joints.hinge]
        type = "Revolute"
        body_a = "world"
        body_b = "bob"
        point = [0, 0, 0]
        axis = [0, 1, 0]
        """
    )
    c = vi.controls(file, {"length": (0.5, 2.0)}, **RUN)
    assert (c.values, c.error) == ({"length": 0.7}, None)
    c.set(length=0.9)
    assert c.trajectory.position[0, 0] == pytest.approx([0, 0, -0.9])


@pytest.mark.slow
def test_pictures_that_are_shown():
    c = vi.controls(build, RANGES, **RUN, show="energy")
    assert re.fullmatch(r'<img style="width:57[23]px;max-width:100%" src="data:image/png;base64,iVBOR[^"]+">', c.html)
    shown = ["coordinates", "view", lambda run: f"{len(run)} < 30 nodes", "energy", lambda run: run.plot("drift")]
    pieces = re.findall(r"<(iframe|pre|img)", vi.controls(build, RANGES, **RUN, show=shown).html)
    assert pieces == ["iframe", "pre", "img", "img"]
    assert "21 &lt; 30 nodes</pre>" in vi.controls(build, RANGES, **RUN, show=shown).html


def test_an_impossible_parameter_shows_its_error():
    c = vi.controls(build, RANGES, **RUN)
    c.set(length=2.0)
    assert isinstance(c.error, ValueError)
    assert c.trajectory is None
    assert "iframe" not in c.html
    assert "ValueError: a string of &lt;this&gt; length is missing; raised by build, at line" in c.html
    assert "length=2, ValueError: a string" in repr(c)
    c.set(length=1.0)
    assert c.error is None
    assert "iframe" in c.html


def test_a_failing_run_shows_its_error():
    c = vi.controls(build, {"dt": (0.01, 2.0)}, 20.0, on_unresolved="raise")
    c.set(dt=1.0)
    assert isinstance(c.error, vi.ConvergenceError)
    assert c.trajectory is c.error.trajectory
    assert html.escape(" ".join(str(c.error).split())) in c.html
    assert "iframe" not in c.html


def test_an_error_of_show_is_shown():
    c = vi.controls(build, RANGES, **RUN, show=lambda run: run.nothing)
    assert isinstance(c.error, AttributeError)
    assert c.trajectory.success
    assert "AttributeError: " in c.html


def test_warnings_are_given_and_stand_beneath():
    c = vi.controls("four_bar", {"crank": (0.2, 1.0, 0.05)}, 1.0, 0.01)
    assert not c.warnings  # at 0.6 m
    with pytest.warns(vi.UnresolvedWarning) as caught:
        c.set(crank=0.85)
    assert caught[0].filename == __file__
    assert c.warnings == [str(caught[0].message)]
    assert c.error is None
    assert html.escape(c.warnings[0]) in c.html.partition("</iframe>")[2]


# ------------------------------------------------------------------------------------------------------ in a notebook


@pytest.mark.slow
def test_sliders_run_and_redraw(ipywidgets):
    c = vi.controls(build, {**RANGES, "links": (1, 3, 1), "order": [2, 4]}, **RUN)
    angle, length, links, order, picture = c.widget.children
    assert [type(each).__name__ for each in c.widget.children] == [
        "FloatSlider",
        "FloatSlider",
        "IntSlider",
        "Dropdown",
        "HTML",
    ]
    assert [each.description for each in c.widget.children[:-1]] == ["angle", "length", "links", "order"]
    assert (angle.min, angle.max, angle.value, length.step) == (0.1, 3.0, 0.5, 0.1)
    assert not angle.continuous_update
    assert picture.value == c.html
    angle.value = 1.0
    assert c.values["angle"] == 1.0
    assert page_of(picture.value) == c.trajectory.view().html
    assert c.trajectory.coordinates["hinge 0"][0] == pytest.approx(1.0)
    order.index = 1
    assert c.trajectory.settings["order"] == 4
    length.value = 2.0
    assert "a string of" in picture.value  # and the sliders stay
    assert c.widget.children == (angle, length, links, order, picture)
    length.value = 1.5
    assert page_of(picture.value) == c.trajectory.view().html


@pytest.mark.slow
def test_sliders_follow_values_set_by_code(ipywidgets):
    runs = []
    c = vi.controls(build, {**RANGES, "order": [2, 4]}, **RUN, show=lambda run: runs.append(run) or "drawn")
    angle, length, order, _ = c.widget.children
    c.set(angle=2.0, length=0.9, order=4)
    assert (angle.value, length.value, order.index) == (2.0, 0.9, 1)
    assert len(runs) == 2  # once for all three


@pytest.mark.slow
def test_a_cell_shows_the_widget(ipywidgets):
    c = vi.controls(build, RANGES, **RUN)
    shown = c._repr_mimebundle_()
    assert shown["application/vnd.jupyter.widget-view+json"]["model_id"] == c.widget.model_id
    still = shown["text/html"]  # for a saved notebook
    assert 'src="data:image/png;base64,' in still
    assert "<script" not in still
    assert "angle: 0.5" in still


@pytest.mark.slow
def test_units_stand_beside_sliders(ipywidgets):
    c = vi.controls("four_bar", {"crank": (0.1, 0.15), "rates.crank pivot": (1.0, 3.0), "dt": (0.005, 0.01)}, 0.02)
    labels = [each.description for each in c.widget.children[:-1]]
    assert labels == ["crank (m)", "rates.crank pivot (rad/s)", "dt (s)"]


def test_ipywidgets_may_be_missing(monkeypatch):
    without_widgets(monkeypatch)
    c = vi.controls(build, RANGES, **RUN)
    message = r'needs the package ipywidgets: pip install "varint-dynamics\[notebook\]"'
    with pytest.raises(vi.ArgumentError, match=message):
        _ = c.widget
    shown = c._repr_mimebundle_()
    assert re.search(message, html.unescape(shown["text/html"]))
    assert shown["text/html"].endswith(c.html)
    assert shown["text/plain"] == repr(c)


# ----------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parameters": [1]}, "parameters must be a Mapping"),
        ({"parameters": {"angel": (0.1, 1.0)}}, "no parameter 'angel', did you mean 'angle'"),
        ({"parameters": {"rates.hing": (0.0, 1.0)}}, "hing"),
        ({"parameters": {"angle": 0.5}}, r"parameters\['angle'\] must be \(low, high\), \(low, high, step\) or a list"),
        ({"parameters": {"angle": []}}, r"parameters\['angle'\] must be"),
        ({"parameters": {"angle": (1.0, 0.5)}}, "must be a lower and a higher number, got 1 and 0.5"),
        ({"parameters": {"angle": (0.0, np.inf)}}, "finite"),
        ({"parameters": {"angle": (0.0, 1.0, 0.0)}}, "the step of .* must be positive"),
        ({"parameters": {"angle": (0.0, 1.0, 2.0)}}, "the step of .* must be at most 1"),
        ({"parameters": {"dt": (0.01, 0.02)}}, "'dt' is an argument and a control: leave one out"),
        ({"duration": None}, "duration is missing: give duration=, or a control of this name"),
        ({"dt": vi.Variational(0.01), "order": 4}, r"give 'order' to the method, not to controls\(\)"),
        ({"steps": 3}, "no argument 'steps' here"),
        ({"build": build()}, "build must be a function that returns a Mechanism"),
        ({"show": "energie"}, "nothing to draw is called 'energie', did you mean 'energy'"),
        ({"show": []}, "show must name a picture"),
        ({"on_unresolved": "no"}, "on_unresolved must be one of"),
    ],
)
def test_mistakes(changes, words):
    given = {"build": build, "parameters": RANGES, **RUN} | changes
    with pytest.raises(vi.ArgumentError, match=words):
        vi.controls(**given)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"angel": 1.0}, "no control 'angel', did you mean 'angle'"),
        ({"angle": 3.5}, "angle must be from 0.1 to 3, got 3.5"),
        ({"angle": "far"}, "angle"),
        ({"links": 1.5}, "links must be a whole number"),
        ({"order": 3}, "order must be one of 2, 4, got 3"),
    ],
)
def test_values_that_cannot_be_set(values, words):
    c = vi.controls(build, {**RANGES, "links": (1, 3, 1), "order": [2, 4]}, **RUN)
    before = c.values, c.trajectory
    with pytest.raises(vi.ArgumentError, match=words):
        c.set({"length": 1.5}, **values)
    assert (c.values, c.trajectory) == before
