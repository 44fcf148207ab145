"""Pictures of runs: what is in them, by the content of the figures."""

import dataclasses
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from force_samples import sample_mechanism, samples

import varint as vi
from varint.results.derived import QUANTITIES
from varint.results.table_columns import GROUPS, columns
from varint.views.panels import DRAWN, MECHANISM, MOST, ONLY_DRAWN, PATH, WITHIN
from varint.views.plots import plot_run

STRANGE = "50 $ of links_{ \\frac"


@pytest.fixture(scope="module")
def run():
    """Joints of several kinds and four forces."""
    rng = np.random.default_rng(1)
    forces = [
        dataclasses.replace(force, name=f"{name} {force.name}")
        for name in ("Spring", "Motor and JointServo", "Musculotendon")
        for force in samples(rng)[name]
    ]
    mechanism = sample_mechanism(rng, forces)
    return vi.simulate(mechanism, 0.1, 0.01, state=mechanism.state(rates={"hinge": 0.5}))


@pytest.fixture(scope="module")
def four_bar():
    return vi.simulate(vi.mechanisms.four_bar(), 1.0, 0.01)


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()] if axes.get_legend() else []


def label_of(axes):
    return axes.get_ylabel().replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("what", GROUPS)
def test_each_quantity_has_panels_by_unit_with_its_columns(what, run):
    if what in ("contact_force", "penetration"):
        with pytest.raises(vi.ArgumentError, match=f"none of the forces of 'forced' has any: there is no '{what}' to"):
            run.plot(what)
        run = vi.simulate(vi.mechanisms.rimless_wheel(), 0.05, 0.01)
    parts = WITHIN.get(what, [what])
    known = [column for part in parts for column in columns(run, part)]
    units = list(dict.fromkeys(column.unit for column in known))
    figure = run.plot(what)
    assert len(figure.axes) == len(units)
    for axes, unit in zip(figure.axes, units, strict=True):
        own = [column for column in known if column.unit == unit]
        label = re.sub(r"10[⁻¹²³⁰-⁹]+ ", "", label_of(axes))
        assert f"({unit.replace('^2', '²')})" in label or not unit
        assert what.partition("_")[0] in label.lower()
        lines = axes.lines[:-1] if what == "drift" else axes.lines  # the last one is that of round-off
        assert len(lines) == min(len(own), MOST)
        named = {column.name: column for column in own}
        labels = [own[0].name] if what == "drift" else legend(axes) or [own[0].name]
        for line, name in zip(lines, labels, strict=True):
            np.testing.assert_array_equal(line.get_xdata(), run.t)
            values = named[name].values
            if what == "drift":
                values = np.maximum(values, np.finfo(float).eps * run.mechanism.compiled.length)
            np.testing.assert_allclose(line.get_ydata(), values, atol=1e-17)
    assert figure.axes[-1].get_xlabel() == "Time (s)"
    assert [axes.get_yscale() for axes in figure.axes].count("log") == (what == "drift")


@pytest.mark.slow
def test_several_quantities_share_the_time(run):
    figure = run.plot("coordinates", "energy", "drift")
    coordinates = len({column.unit for column in columns(run, "coordinates")})
    assert len(figure.axes) == coordinates + 2
    assert {axes.get_xlim() for axes in figure.axes} == {(0.0, 0.1)}
    assert [bool(axes.get_xlabel()) for axes in figure.axes] == [False] * (coordinates + 1) + [True]
    for axes in figure.axes:
        box = axes.get_legend()
        if box is not None:  # above the curves, not over them
            figure.draw_without_rendering()
            assert box.get_window_extent().y0 >= axes.get_window_extent().y1


@pytest.mark.slow
def test_quantities_of_the_whole_share_a_panel_where_they_have_one_unit(four_bar):
    (axes,) = four_bar.plot("energy", "kinetic", "potential").axes
    assert legend(axes) == ["kinetic", "potential", "energy"]
    assert label_of(axes) == "Energy (J)"
    for line, name in zip(axes.lines, legend(axes), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), getattr(four_bar, name))
    names = [legend(axes) for axes in four_bar.plot("kinetic", "drift", "energy", "potential", "rank_margin").axes]
    assert names == [[], ["at the nodes", "round-off"], ["kinetic", "potential", "energy"], []]
    assert len(four_bar.plot("energy", "coordinates", "kinetic").axes) == 3
    assert len(four_bar.plot("position", "drift").axes) == 2  # both m
    assert len(four_bar.plot("energy", "energy").axes[0].lines) == 3
    axes = four_bar.plot("kinetic", "potential").axes[0]
    assert label_of(axes) == "Energy (J)"
    assert len(axes.lines) == 2


def test_efforts_are_called_so(run):
    assert [label_of(axes) for axes in run.plot("force").axes] == [
        f"Effort of forces ({unit})" for unit in dict.fromkeys(column.unit for column in columns(run, "force"))
    ]


def test_zeros_of_a_planar_mechanism_are_one_line(four_bar):
    note = four_bar.plot("reactions", "position", "velocity").get_supxlabel()
    assert (
        note.replace("\n", " ")
        == "not drawn as they are zero: 16 curves of reactions, 3 curves of position, 3 curves of velocity"
    )


@pytest.mark.slow
def test_the_traced_point_has_a_dot_on_the_last_pose(four_bar):
    trace = ("coupler", (0.6, 0, 0.9))
    without = four_bar.plot(MECHANISM).axes[0].patches
    for times in (None, np.linspace(0.1, 0.8, 9)):
        figure = four_bar.plot(MECHANISM, trace=trace, times=times)
        (axes,) = figure.axes
        dot = max(axes.patches, key=lambda patch: patch.get_zorder())
        end = four_bar.at([1.0 if times is None else 0.8]).path(*trace).position[0, [0, 2]]
        np.testing.assert_allclose(dot.get_xy()[:-1].mean(axis=0), end, atol=1e-9)
        way = max(axes.collections, key=lambda each: each.get_zorder())
        assert way.get_zorder() == dot.get_zorder()
        assert len(way.get_segments()[0]) == len(four_bar)
    assert len(axes.patches) > len(without)


def test_what_is_left_out_is_told_and_can_be_chosen():
    pendulum = vi.simulate(vi.mechanisms.n_pendulum(n=10), 0.05, 0.01)
    figure = pendulum.plot("position")
    (axes,) = figure.axes
    assert len(axes.lines) == MOST
    note = figure.get_supxlabel()
    assert note.splitlines()[0] == "not drawn as they are zero: 10 curves of position"
    assert "beyond 8, choose by of: 'link 5 x'" in note.replace("\n", " ")
    (axes,) = pendulum.plot("position", of="link 10").axes
    assert legend(axes) == ["link 10 x", "link 10 y", "link 10 z"]
    figure = pendulum.plot("position", "rates", of=["link 9", "joint 2", "joint 4"])
    assert legend(figure.axes[0])[0] == "link 9 x"
    assert legend(figure.axes[1]) == ["joint 2 rate", "joint 4 rate"]
    assert not figure.get_supxlabel()


def test_legends_of_long_names_keep_quantity_and_component():
    name = "elevation of the upper arm against the left scapula"
    plain = vi.mechanisms.n_pendulum(n=1)
    mech = plain.replace(joints=[dataclasses.replace(plain.joints[0], name=name)], start={})
    (forces, torques) = vi.simulate(mech, 0.02, 0.01).plot("reactions").axes
    for axes, word in ((forces, "force"), (torques, "torque")):
        assert [text[-len(word) - 2 :] for text in legend(axes)] == [f"{word} {axis}" for axis in "xyz"]
        assert all(text.startswith("elevation of the") and len(text) == 40 for text in legend(axes))


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        (("reaction",), {}, ("'reaction'", "did you mean 'reactions'?", "coordinates", "path")),
        (("torque",), {}, ("'torque', did you mean 'force' (efforts of forces, N or N m) or 'reactions'", *DRAWN)),
        ((3,), {}, ("nothing to draw is called 3: there are position",)),
        (("coordinates",), {"of": ["crank pivt"]}, ("'crank pivt'", "joints", "did you mean 'crank pivot'?")),
        (("coordinates",), {"of": "coupler"}, ("'coupler'", "joints")),
        (("energy",), {"of": "coupler"}, ("'coupler'", "whole mechanism")),
        ((), {"of": "coupler"}, ("'coupler'", "whole mechanism")),
        (("coordinates",), {"of": 3}, ("of must be a list of names",)),
        (("force",), {}, ("four-bar", "no forces")),
        (("energy",), {"times": [0.5]}, ("times has no effect", "mechanism")),
        (("energy",), {"trace": "coupler"}, ("trace has no effect", "path")),
        (("energy",), {"plane": "xz"}, ("plane has no effect",)),
        ((MECHANISM,), {"times": [0.5, 1.2]}, ("times must be from 0 to 1 s",)),
        ((MECHANISM,), {"times": "soon"}, ("times must be a time or a list of times",)),
        ((MECHANISM,), {"plane": "xx"}, ("plane must be one of", "isometric")),
        ((PATH,), {"trace": "couplr"}, ("'couplr'", "did you mean 'coupler'?")),
        ((PATH,), {"trace": ("coupler", (1, 2))}, ("traced point of body 'coupler'", "(3,)")),
        ((PATH,), {"trace": 7}, ("trace must be",)),
        (("energy",), {"path": "p.jpg"}, ("p.jpg", ".png or .pdf or .svg")),
    ],
)  # fmt: skip
def test_mistakes(what, options, words, four_bar):
    with pytest.raises(vi.ArgumentError) as caught:
        four_bar.plot(*what, **options)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.slow
def test_formats(four_bar, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    heads = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}
    for suffix, head in heads.items():
        four_bar.plot("energy", path=f"p{suffix}")
        vi.mechanisms.four_bar().plot(path=f"m{suffix}")
        for name in "pm":
            assert (tmp_path / f"{name}{suffix}").read_bytes().startswith(head)
    with pytest.raises(vi.FileError, match="no folder 'none'"):
        four_bar.plot("energy", path="none/p.png")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(vi.FileError, match=r"cannot write 'folder\.png'"):
        four_bar.plot("energy", path="folder.png")


@pytest.mark.slow
def test_without_names_it_is_the_picture_of_plot_run(four_bar, tmp_path):
    plot_run(four_bar, tmp_path / "a.png")
    figure = four_bar.plot(path=tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert [label_of(axes) for axes in figure.axes] == [
        "Energy \N{MINUS SIGN} that at the start (J)",
        "Joint drift (m)",
    ]


@pytest.mark.slow
def test_names_with_any_signs(tmp_path):
    body = vi.Body.rod("_b$1$_", (0, 0, 0), (1, 0, 0), 1.0)
    joint = vi.Revolute("_j$\\x$", "world", "_b$1$_", point=(0, 0, 0), axis=(0, 1, 0))
    spring = vi.TorsionSpring("_f_{", joint="_j$\\x$", stiffness=1.0)
    run = vi.simulate(vi.Mechanism(STRANGE, [body], [joint], forces=[spring]), 0.1, 0.01)
    figure = run.plot("position", "coordinates", "force", PATH, MECHANISM, trace="_j$\\x$", path=tmp_path / "p.svg")
    assert legend(figure.axes[0]) == ["_b$1$_ x", "_b$1$_ y", "_b$1$_ z"]
    assert legend(figure.axes[1]) == ["_j$\\x$"]
    assert legend(figure.axes[3]) == ["_j$\\x$"]
    assert figure.get_suptitle() == STRANGE
    assert run.plot().get_suptitle() == STRANGE


def test_ways_of_points_are_seen_in_the_plane(four_bar):
    (axes,) = four_bar.plot(PATH, of="coupler").axes
    (line,) = axes.collections[0].get_segments()
    np.testing.assert_allclose(line, four_bar.position[:, 1, [0, 2]], atol=1e-14)
    assert legend(axes) == ["coupler"]
    assert axes.get_aspect() == 1.0
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x (m)", "z (m)")
    (axes,) = four_bar.plot(PATH, trace=("coupler", (0.6, 0, 0.9)), plane="zx").axes
    np.testing.assert_allclose(
        axes.collections[0].get_segments()[0], four_bar.path("coupler", (0.6, 0, 0.9)).position[:, [2, 0]], atol=1e-14
    )
    (axes,) = four_bar.plot(PATH, trace=["rocker pin", "crank"]).axes
    assert legend(axes) == ["rocker pin", "crank"]
    (x, z), radius = axes.collections[1].get_segments()[0].T, 0.2
    np.testing.assert_allclose(np.hypot(x, z), radius, atol=1e-9)


def test_poses_fade_into_the_past(four_bar):
    one = len(four_bar.plot(MECHANISM, times=0.5).axes[0].patches)
    figure = four_bar.plot(MECHANISM, times=[0.0, 0.3, 0.5])
    (axes,) = figure.axes
    grounds = 2
    assert len(axes.patches) - grounds == 3 * (one - grounds)
    # the crank of each pose: from its pivot to its pin, paler the earlier
    cranks = sorted((p for p in axes.patches if p.get_zorder() % 10 == 2.0), key=lambda p: p.get_zorder())
    assert len(cranks) == 3
    shades = [np.mean(patch.get_facecolor()[:3]) for patch in cranks]
    assert shades == sorted(shades, reverse=True)
    pins = four_bar.at(np.array([0.0, 0.3, 0.5])).path("crank", (0.2, 0, 0.2 * np.sqrt(3))).position[:, [0, 2]]
    for patch, pin in zip(cranks, pins, strict=True):
        distances = np.linalg.norm(patch.get_xy() - pin, axis=1)
        assert distances.min() == pytest.approx(np.sort(distances)[5], rel=0.01)  # a round end about the pin
    assert len(four_bar.plot(MECHANISM).axes[0].patches) - grounds == 6 * (one - grounds)


def test_runs_of_one_node_and_long_ones():
    mechanism = vi.mechanisms.four_bar()
    whole = vi.simulate(mechanism, 0.1, 0.01)
    start = whole[:1]
    figure = start.plot("energy", MECHANISM)
    assert figure.axes[0].lines[0].get_marker() == "o"
    long = vi.simulate(vi.mechanisms.double_pendulum(), 1200.0, 0.1, order=1, on_unresolved="ignore")
    figure = long.plot("energy")
    assert figure.axes[0].get_xlabel() == "Time (min)"
    assert figure.axes[0].get_xlim() == pytest.approx((0, 20))


@pytest.mark.slow
def test_reduced_runs_are_drawn_alike():
    run = vi.redmax.simulate(vi.mechanisms.four_bar(), 0.1, dt=0.01)
    figure = run.plot("coordinates", "rates", "reactions", MECHANISM)
    assert len(figure.axes) >= 4


@pytest.mark.slow
def test_notebooks_show_figures_by_themselves(four_bar):
    for figure in (four_bar.plot(), four_bar.plot(MECHANISM), four_bar.mechanism.plot()):
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_all_quantities_can_be_drawn():
    assert set(QUANTITIES) <= set(DRAWN)
    assert set(DRAWN) - set(GROUPS) == set(ONLY_DRAWN)


@pytest.mark.slow
def test_nothing_global_is_touched(four_bar, tmp_path):
    before = dict(matplotlib.rcParams)
    four_bar.plot("energy", MECHANISM, path=tmp_path / "p.png")
    four_bar[:3].animate(tmp_path / "p.gif")
    assert dict(matplotlib.rcParams) == before
    code = (
        "import sys, varint as vi, varint.views.panels, varint.views.animation;"
        "vi.mechanisms.four_bar().plot(path='p.png'); assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={**env(), "DISPLAY": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def env():
    import os
    from pathlib import Path

    return {**os.environ, "PYTHONPATH": str(Path(vi.__file__).parent.parent)}


def test_the_docstring_names_what_there_is():
    words = set(re.findall(r'"(\w+)"', vi.Trajectory.plot.__doc__))
    assert words <= {*DRAWN, "xy", "xz", "yz", "yx", "zx", "zy", "isometric"}
