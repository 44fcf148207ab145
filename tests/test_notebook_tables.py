"""Tables in a notebook: small, whole, without colours, with the numbers."""

import base64
import dataclasses
import io
import re

import numpy as np
import pytest
from displayed import CHARACTERS, SHOWN, Tables, things
from PIL import Image

import varint as vi


@pytest.fixture(scope="module")
def held():
    return things()


@pytest.mark.slow
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


@pytest.mark.slow
def test_names_are_escaped(held):
    for what in ("loop mechanism", "loop run", "diagnosis", "comparison", "sweep"):
        text = held[what]._repr_html_()
        assert "&lt;b&gt;&amp;" in text
        assert "<b>" not in text


@pytest.mark.slow
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
    none = vi.mechanisms.four_bar(case="double-rocker").sweep("crank pivot", [100.0], on_lockup="ignore")
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


@pytest.mark.slow
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
