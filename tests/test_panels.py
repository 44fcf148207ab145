"""Panels of runs on given axes: what is drawn against the trajectory, axes, colours, mistakes."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import varint as vi
from varint.drawing.axes import Scaled
from varint.drawing.style import COLOURS, LINES
from varint.results.table_columns import GROUPS, columns
from varint.views.curves import BINS, DENSE, FEW, bins, envelope, means, running_mean, typical, window
from varint.views.panels import COUPLER, DRAWN, ERROR, IN_METRES, MECHANISM, PATH, PHASE, POSED, SNAPSHOT

PEN = ("coupler", (0.6, 0, 0.9))


@pytest.fixture(scope="module")
def run():
    return vi.simulate(vi.mechanisms.four_bar(), 1.0, 0.01)


@pytest.fixture(scope="module")
def long():
    """Of more nodes than pixels, and swings that cannot be followed."""
    return vi.simulate(vi.mechanisms.double_pendulum(), 200.0, 0.01)


@pytest.fixture
def axes():
    return Figure().subplots()


def entries(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()] if axes.get_legend() else []


def label_of(axes):
    return axes.get_ylabel().replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ")


def band_of(drawn):
    """Times, smallest and largest of a band."""
    (path,) = drawn.get_paths()
    times = np.unique(path.vertices[:, 0])
    inside = [path.vertices[path.vertices[:, 0] == t, 1] for t in times]
    return times, np.array([v.min() for v in inside]), np.array([v.max() for v in inside])


# ---------------------------------------------------------------------------------------- axes


@pytest.mark.parametrize("name", [ERROR, PHASE, PATH, MECHANISM, COUPLER, SNAPSHOT, "energy", "drift", "coordinates"])
def test_panels_are_drawn_on_the_axes_that_are_given(name, run, axes):
    before = len(axes.get_children())
    assert getattr(vi.plot, name)(run, ax=axes) is axes
    assert len(axes.get_children()) > before
    alone = getattr(vi.plot, name)(run)
    assert alone is not axes
    assert alone.figure is not axes.figure
    assert (alone.get_xlabel(), alone.get_ylabel()) == (axes.get_xlabel(), axes.get_ylabel())
    assert "(" in axes.get_xlabel()
    assert "(" in axes.get_ylabel()


def test_several_units_are_several_axes(run):
    moments = vi.plot.momentum(run)
    assert [label_of(axes) for axes in moments] == ["Linear momentum (N s)", "Angular momentum (N m s)"]
    given = Figure().subplots(1, 2)
    found = vi.plot.momentum(run, given)
    assert list(found) == list(given)
    one = Figure().subplots()
    assert vi.plot.momentum(run, one, unit="N m s") is one
    for line, column in zip(one.lines, columns(run, "angular_momentum"), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), column.values)
    assert vi.plot.momentum(run, [one], unit="N s") is one


def test_there_is_a_function_for_everything_that_is_drawn():
    assert set(DRAWN) <= set(vi.plot.__all__)
    for name in DRAWN:
        function = getattr(vi.plot, name)
        assert function.__name__ == name
        options = set(inspect.signature(function).parameters) - {"trajectory", "ax"}
        assert options <= {"of", "unit", "times", "labels", "trace", "plane"}
        assert ("trace" in options) == (name in IN_METRES)
        assert all(option in function.__doc__ for option in options)


@pytest.mark.slow
def test_matplotlib_is_imported_when_something_is_drawn():
    code = "import sys, varint; assert 'matplotlib' not in sys.modules; varint.plot; assert 'matplotlib' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------------------------------- what is drawn


def test_few_nodes_are_drawn_as_they_are(run, axes):
    vi.plot.coordinates(run, axes, of=["crank pivot", "rocker pivot"])
    assert entries(axes) == ["crank pivot", "rocker pivot"]
    for line, name in zip(axes.lines, entries(axes), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), run.t)
        np.testing.assert_array_equal(line.get_ydata(), run.coordinates[name])


@pytest.mark.slow
def test_bands_reach_to_the_extremes_with_their_mean(long, axes):
    vi.plot.rates(long, axes)
    assert len(axes.collections) == len(axes.lines) == 2
    for band, line, column in zip(axes.collections, axes.lines, columns(long, "rates"), strict=True):
        times, lowest, highest = band_of(band)
        assert len(times) == BINS
        assert lowest.min() == column.values.min()
        assert highest.max() == column.values.max()
        edges = bins(len(long))
        for k in (0, 17, BINS - 1):
            own = column.values[edges[k] : edges[k + 1] + 1]
            assert (lowest[k], highest[k]) == (own.min(), own.max())
        assert (line.get_ydata() > column.values.min()).all()
        assert (line.get_ydata() < column.values.max()).all()
        at, expected = running_mean(long.t, column.values, window(long.t))
        np.testing.assert_array_equal(line.get_xdata(), at)
        np.testing.assert_array_equal(line.get_ydata(), expected)
        k = len(at) // 2
        inside = np.abs(long.t - at[k]) <= window(long.t) / 2
        assert line.get_ydata()[k] == pytest.approx(column.values[inside].mean(), abs=1e-3 * np.ptp(column.values))
    lines_are_apart(axes)


def test_bands_of_slow_curves_have_the_curve_in_them(axes):
    """A mean over a tenth of the run would leave the curve."""
    slow = vi.simulate(vi.mechanisms.double_pendulum(), 2.0, 0.001)
    assert len(slow) > DENSE * BINS
    vi.plot.coordinates(slow, axes)
    for line, column in zip(axes.lines, columns(slow, "coordinates"), strict=True):
        exact = np.interp(line.get_xdata(), slow.t, column.values)
        np.testing.assert_allclose(line.get_ydata(), exact, atol=0.01 * np.ptp(column.values))


def test_every_node_is_in_one_mean(rng):
    values = rng.standard_normal(12_345)
    edges = bins(len(values))
    counts = np.diff(edges) + (np.arange(BINS) == BINS - 1)
    assert counts.sum() == len(values)
    assert means(values) @ counts == pytest.approx(values.sum())
    assert means(values)[3] == pytest.approx(values[edges[3] : edges[4]].mean())
    assert len(envelope(np.arange(12_345.0), values)[0]) == len(means(values))


def test_energy_error_has_a_band_and_its_mean(long, axes):
    vi.plot.energy_error(long, axes)
    error = long.energy - long.energy[0]
    (band,) = axes.collections
    _, lowest, highest = band_of(band)
    assert (lowest.min(), highest.max()) == (error.min(), error.max())
    mean = axes.lines[-1]
    assert mean.get_ydata().mean() == pytest.approx(error.mean(), rel=0.02)
    assert entries(axes) == ["smallest to largest", "mean over 20 s"]
    assert label_of(axes) == "Energy \N{MINUS SIGN} that at the start (10⁻³ J)"


def test_drift_has_its_largest_and_typical_value_above_round_off(long, axes):
    vi.plot.drift(long, axes)
    floor = np.finfo(float).eps * long.mechanism.compiled.length
    largest, median, round_off = axes.lines
    assert entries(axes) == ["largest", "median", "round-off"]
    assert len(largest.get_xdata()) == FEW
    shown = np.maximum(long.drift, floor)
    assert largest.get_ydata().max() == shown.max()
    parts = np.array_split(shown, FEW)
    np.testing.assert_array_equal(largest.get_ydata(), [part.max() for part in parts])
    np.testing.assert_array_equal(median.get_ydata(), [np.median(part) for part in parts])
    assert set(round_off.get_ydata()) == {floor}
    assert axes.get_yscale() == "log"
    assert floor / 10 < axes.get_ylim()[0] < floor
    assert label_of(axes) == "Joint drift (m)"


def test_parts_of_few_nodes_have_one_each():
    t = np.arange(5.0)
    times, medians, largest = typical(t, t**2)
    np.testing.assert_array_equal(times, t)
    np.testing.assert_array_equal(medians, largest)


def test_phase_portraits_have_rates_over_coordinates(run, axes):
    vi.plot.phase(run, axes, of="rocker pivot")
    curve, start = axes.lines
    np.testing.assert_array_equal(curve.get_xdata(), run.coordinates["rocker pivot"])
    np.testing.assert_array_equal(curve.get_ydata(), run.rates["rocker pivot"])
    np.testing.assert_array_equal(start.get_xydata()[0], curve.get_xydata()[0])
    assert (axes.get_xlabel(), label_of(axes)) == ("rocker pivot (rad)", "rocker pivot rate (rad/s)")
    portrait = vi.phase_portrait(run, "rocker pivot").plot().axes[0]
    np.testing.assert_array_equal(portrait.lines[0].get_xydata(), curve.get_xydata())
    assert portrait.get_ylabel() == axes.get_ylabel()
    every = vi.plot.phase(run)
    assert entries(every) == [column.name for column in columns(run, "coordinates")]


def test_coupler_curves_have_the_mechanism_once(run, axes):
    vi.plot.coupler(run, axes, times=0.3, trace=PEN)
    way = max(axes.collections, key=lambda each: each.get_zorder()).get_segments()[0]
    np.testing.assert_allclose(way, run.path(*PEN).position[:, [0, 2]], atol=1e-14)
    dot = max(axes.patches, key=lambda patch: patch.get_zorder())
    at = run.at([0.3]).path(*PEN).position[0, [0, 2]]
    np.testing.assert_allclose(dot.get_xy()[:-1].mean(axis=0), at, atol=1e-9)
    alone = vi.plot.snapshot(run, times=0.3, trace=PEN)
    assert len(alone.patches) == len(axes.patches)
    assert entries(vi.plot.coupler(run)) == ["coupler"]  # the one body that no joint ties to the world
    ends = [vi.plot.snapshot(run).patches, vi.plot.snapshot(run, times=1.0).patches]
    for one, other in zip(*ends, strict=True):
        np.testing.assert_array_equal(one.get_xy(), other.get_xy())


def test_ways_are_named_beside_them(run):
    axes = vi.plot.path(run)
    assert entries(axes) == [text.get_text() for text in axes.texts] == ["crank", "coupler", "rocker"]
    for text, body in zip(axes.texts, range(3), strict=True):
        np.testing.assert_allclose(text.xy, run.position[0, body, [0, 2]])


@pytest.mark.slow
def test_nothing_drawn_is_nan(run, long):
    for trajectory in (run, long):
        for name in DRAWN:
            if name in GROUPS and GROUPS[name].of == "forces":
                continue
            for axes in np.atleast_1d(getattr(vi.plot, name)(trajectory)):
                for line in axes.lines:
                    assert np.isfinite(line.get_xydata()).all(), name
                for drawn in axes.collections:
                    assert all(np.isfinite(path.vertices).all() for path in drawn.get_paths()), name


def test_what_is_left_out_is_told_on_given_axes(axes):
    pendulum = vi.simulate(vi.mechanisms.n_pendulum(n=10), 0.05, 0.01)
    vi.plot.rates(pendulum, axes)
    assert entries(axes)[-1] == "and 2 more, see of="
    assert len(axes.lines) == 8


# ---------------------------------------------------------------------------------------- for all readers


def lines_are_apart(axes):
    looks = {(line.get_color(), str(line.get_linestyle()), str(line._dash_pattern)) for line in axes.lines}
    assert len(looks) == len(axes.lines)
    assert len({look[0] for look in looks}) == len({look[2] for look in looks}) == len(looks)


def test_curves_are_apart_in_colour_and_in_grey(run):
    assert len(set(COLOURS)) == len(set(map(str, LINES))) == 8
    lines_are_apart(vi.plot.reactions(run, unit="N"))
    for colour in COLOURS:  # dark enough on white
        assert np.array([0.2126, 0.7152, 0.0722]) @ to_rgb(colour) < 0.75


@pytest.mark.slow
def test_texts_can_be_read_in_a_column(run):
    """In a column of 85 mm they are 6 points high or more."""
    figure = run.plot("coordinates", PHASE, MECHANISM, trace=PEN)
    scale = 85 / (25.4 * figure.get_figwidth())
    figure.draw_without_rendering()
    for axes in figure.axes:
        texts = [axes.xaxis.label, axes.yaxis.label, *axes.get_xticklabels(), *axes.get_yticklabels(), *axes.texts]
        texts += axes.get_legend().get_texts() if axes.get_legend() else []
        assert min(text.get_fontsize() for text in texts) * scale >= 6.0


@pytest.mark.parametrize(
    ("power", "values", "texts"),
    [
        (0, [0.0, 0.25, 0.5], ["0.00", "0.25", "0.50"]),
        (-3, [-0.0005, 0.0, 0.0005], ["−0.5", "0.0", "0.5"]),
        (0, [-23.0002, -23.0001], ["−23.0002", "−23.0001"]),
        (3, [0.0, 2e4, 4e4], ["0", "20", "40"]),
        (0, [1.0], ["1"]),
        (0, [], []),
        (-12, [-3e-28, 1e-12], ["0", "1"]),
    ],
)
def test_numbers_of_an_axis(power, values, texts):
    assert Scaled(power).format_ticks(values) == texts


# ---------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("energy", {"trajectory": 3}, ("trajectory", "Trajectory")),
        ("energy", {"ax": "top"}, ("ax must be",)),
        ("energy", {"ax": [1, 2]}, ("ax must be",)),
        ("energy", {"unit": "N"}, ("unit must be one of J",)),
        ("momentum", {"ax": Figure().subplots()}, ("2 panels", "'N s', 'N m s'", "1 axes", "unit=")),
        ("energy", {"ax": list(Figure().subplots(1, 2))}, ("1 panel", "2 axes")),
        ("coordinates", {"of": "crank pivt"}, ("'crank pivt'", "did you mean 'crank pivot'?")),
        ("phase", {"of": "crank"}, ("'crank'", "joints")),
        ("snapshot", {"times": [0.1, 0.2]}, ("'snapshot' is at one time, got 2", "'mechanism'")),
        ("coupler", {"times": 3.0}, ("times must be from 0 to 1 s",)),
        ("coupler", {"trace": "couplr"}, ("'couplr'", "did you mean 'coupler'?")),
        ("path", {"plane": "xx"}, ("plane must be one of",)),
        ("force", {}, ("no forces",)),
    ],
)
def test_mistakes(name, given, words, run):
    with pytest.raises(vi.ArgumentError) as caught:
        getattr(vi.plot, name)(**({"trajectory": run} | given))
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_names_of_bodies_and_joints_at_the_last_pose(run):
    names = {*run.mechanism.body_index, *run.mechanism.joint_index}
    for what in POSED:
        (plain,), (named,) = (run.plot(what, labels=labels).axes for labels in (False, True))
        texts = {name for text in named.texts for name in text.get_text().split("\n")}
        assert texts - {text.get_text() for text in plain.texts} | names == texts
    assert len(vi.plot.snapshot(run, labels=True).texts) >= len(names)
    with pytest.raises(vi.ArgumentError, match="labels has no effect here"):
        run.plot("energy", labels=True)
    with pytest.raises(vi.ArgumentError, match="labels must be True or False"):
        run.plot("snapshot", labels="all")


def test_unknown_names_and_options(run):
    with pytest.raises(AttributeError, match="no panel 'enrgy', did you mean 'energy'"):
        vi.plot.enrgy  # noqa: B018
    with pytest.raises(vi.ArgumentError, match="did you mean 'coupler'"):
        run.plot("couplr")
    with pytest.raises(TypeError, match="trace"):
        vi.plot.energy(run, trace="coupler")
    assert set(GROUPS) <= set(vi.plot.__all__)
