"""The comparison of both formulations: what it measures, what it says, what it writes."""

import json
from dataclasses import replace

import numpy as np
import pytest

import varint as vi
from varint.model.rotation_vectors import rotation_matrix
from varint.results.record import HeldNodes
from varint.studies.comparison.differences import turn
from varint.studies.comparison.series import fitted_order, make_series

DT = (0.02, 0.01, 0.005)


@pytest.fixture(scope="module")
def tree():
    """Of a motion so wide and long that the errors of order 6 are above that of the reference."""
    mechanism = vi.mechanisms.double_pendulum(angle=2.0)
    return vi.compare(mechanism, 1.2, DT, order=(2, 6), integrators=("dop853", "bdf2"))


@pytest.fixture(scope="module")
def loop():
    return vi.compare(vi.mechanisms.four_bar(rate=3.0), 0.2, DT)


# what it measures


@pytest.mark.slow
def test_differences_are_those_of_the_runs(tree):
    mechanism = tree.mechanism
    exact = vi.redmax.simulate(mechanism, 1.2, dt=0.02, rtol=1e-12)
    run = vi.simulate(mechanism, 1.2, 0.005, every=4, tol=1e-12)
    found = [values[-1] for values in tree.vi.difference]
    for name, values in zip(("position", "velocity", "angular_velocity"), np.delete(found, 1, axis=0), strict=True):
        expected = np.linalg.norm(getattr(run, name) - getattr(exact, name), axis=2).max(axis=1)
        assert values == pytest.approx(expected, rel=1e-6, abs=1e-13)
    relative = np.swapaxes(rotation_matrix(exact.quat_wxyz), 2, 3) @ rotation_matrix(run.quat_wxyz)
    sine = np.linalg.norm(relative - np.swapaxes(relative, 2, 3), axis=(2, 3)) / np.sqrt(8.0)
    assert found[1] == pytest.approx(np.arcsin(sine).max(axis=1), rel=1e-6, abs=1e-13)
    assert tree.t == pytest.approx(np.arange(61) * 0.02)
    assert tree.vi.energy[-1] == pytest.approx(run.energy - run.energy[0], abs=1e-12)
    assert np.array_equal(tree.vi.drift[-1], run.drift)


@pytest.mark.slow
def test_orders_by_fit(tree, loop):
    second, sixth, adaptive, bdf2 = tree.series
    assert [series.name for series in tree.series] == ["VI order 2", "VI order 6", "REDMAX dop853", "REDMAX bdf2"]
    assert tree.vi is second
    assert tree.redmax is adaptive
    assert list(second.order) == pytest.approx([2.0] * 4, abs=0.05)
    assert list(sixth.order) == pytest.approx([6.0] * 4, abs=0.2)
    assert list(bdf2.order) == pytest.approx([2.0] * 4, abs=0.15)
    assert list(loop.vi.order) == pytest.approx([2.0] * 4, abs=0.05)
    assert np.isnan(adaptive.order).all()
    assert (np.diff(adaptive.error.position) < 0).all()


@pytest.mark.slow
def test_reference_is_converged_and_its_error_bounds_what_is_fitted(tree, loop):
    for comparison in (tree, loop):
        assert max(comparison.reference_error) < 1e-9
        for series in comparison.series:
            for error, fitted, least in zip(series.error, series.fitted, comparison.reference_error, strict=True):
                assert np.array_equal(fitted, error > least)
    rough = vi.compare(vi.mechanisms.double_pendulum(), 0.4, DT, order=6, rtol=1e-6)
    assert not rough.vi.fitted.position.any()
    assert np.isnan(rough.vi.order.position)
    assert "< below the error of the reference" in str(rough)


@pytest.mark.slow
def test_loops_stay_closed_in_maximal_coordinates_and_drift_in_reduced_ones(tree, loop):
    assert tree.unstabilised is None
    assert loop.unstabilised.name == "REDMAX dop853 b=0"
    assert loop.vi.drift.max() < 1e-12
    assert loop.unstabilised.drift[0].max() > 1e-7
    long = vi.redmax.simulate(loop.mechanism, 0.2, dt=0.02, rtol=1e-4, baumgarte=0.0)
    assert np.array_equal(loop.unstabilised.drift[0], long.drift)


@pytest.mark.slow
def test_wall_times_and_evaluations_are_counted(tree):
    for series in tree.series:
        assert (series.wall_time > 0).all()
        assert (np.diff(series.evaluations) > 0).all()
        assert series.wall_time.shape == series.values.shape


@pytest.mark.slow
def test_runs_that_leave_the_reference_are_not_fitted():
    comparison = vi.compare(vi.mechanisms.double_pendulum(angle=2.7), 4.0, (0.02, 0.01, 0.005))
    assert (comparison.vi.apart[:2] < 3.5).all()
    assert not comparison.vi.fitted.position[:2].any()
    assert "> at some time" in str(comparison)
    apart = np.argmax(comparison.t >= comparison.vi.apart[0])
    assert comparison.vi.difference.position[0, apart:].max() > 0.3


@pytest.mark.slow
def test_dissipation_is_no_energy_error():
    pendulum = vi.mechanisms.double_pendulum()
    forces = [vi.JointDamper("damper", joint=pendulum.joints[0].name, damping=1.0)]
    damped = vi.Mechanism("damped", pendulum.bodies, pendulum.joints, forces=forces, start=pendulum.start)
    comparison = vi.compare(damped, 0.4, DT)
    lost = np.ptp(comparison.reference.energy)
    error = np.abs(comparison.vi.energy).max(axis=1)
    assert lost > 0.1
    assert error[-1] < 1e-3 * lost
    assert fitted_order(DT, error, error > 0) == pytest.approx(2.0, abs=0.1)


@pytest.mark.slow
def test_state_to_start_from():
    mechanism = vi.mechanisms.double_pendulum()
    state = mechanism.state(rates={mechanism.joints[0].name: 3.0})
    comparison = vi.compare(mechanism, 0.1, 0.01, state=state)
    for run in (comparison.vi.runs[0], comparison.redmax.runs[0], comparison.reference):
        assert run.velocity[0] == pytest.approx(state.velocity, abs=1e-12)
    assert np.isnan(comparison.vi.order).all()  # of one step


def test_turn_of_small_and_large_angles():
    angle = np.array([0.0, 1e-14, 1e-3, 3.0])
    quat = np.stack([np.cos(angle / 2), np.sin(angle / 2), 0 * angle, 0 * angle], axis=1)
    for sign in (1.0, -1.0):
        assert turn(sign * quat, np.array([1.0, 0, 0, 0])) == pytest.approx(angle, rel=1e-12)


# what it says and writes


@pytest.mark.slow
def test_run_that_stopped_is_told(tree):
    whole = tree.vi.runs[0]
    nodes = HeldNodes({name: array[:6] for name, array in whole.nodes.items()})
    short = vi.Trajectory(replace(whole.record, nodes=nodes, status=1, message="a step was too long"))
    runs = (short, *tree.vi.runs[1:])
    vi_ = tree.vi
    series = make_series(vi_.name, "dt", vi_.values, runs, vi_.wall_time, tree.reference, tree.reference_error)
    assert np.isnan(series.error.position[0])
    assert series.difference.position[0, :6] == pytest.approx(vi_.difference.position[0, :6], abs=0)
    assert series.fitted.position.tolist() == [False, True, True]
    stopped = replace(tree, series=(series, *tree.series[1:]))
    assert "VI order 2, dt = 0.02: stopped at 0.1 s, a step was too long." in str(stopped)
    stopped.plot()


@pytest.mark.slow
def test_page_states_what_was_run(loop):
    page = str(loop)
    for words in ("four-bar", "0.2 s", "order 2", "rtol = 1e-12", "b = 5 1/s", "numpy", "varint"):
        assert words in page
    tables = [block for block in page.split("\n\n") if block.startswith("|")]
    assert len(tables) == 2
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1
    assert f"{loop.vi.error.position[0]:.2e}" in page
    assert f"{loop.vi.order.orientation:.2f}" in page


@pytest.mark.slow
def test_folder_of_page_numbers_and_figure(loop, tmp_path):
    written = loop.save(tmp_path / "four_bar")
    assert [path.name for path in written] == [f"comparison.{kind}" for kind in ("md", "json", "png", "pdf")]
    assert written[0].read_text().startswith(str(loop))
    numbers = json.loads(written[1].read_text())
    run = numbers["series"][0]["runs"][1]
    assert run["dt"] == 0.01
    assert run["error"]["velocity"] == loop.vi.error.velocity[1]
    assert numbers["series"][1]["order"]["position"] is None
    assert numbers["settings"]["duration"] == 0.2
    (tmp_path / "again.json").write_text(json.dumps(numbers["mechanism"]))
    again = vi.load_mechanism(tmp_path / "again.json")
    assert np.array_equal(again.state().velocity, loop.mechanism.state().velocity)
    assert numbers["start"]["velocity"] == loop.reference.velocity[0].tolist()
    assert written[2].read_bytes().startswith(b"\x89PNG")
    assert written[3].read_bytes().startswith(b"%PDF")


@pytest.mark.slow
def test_single_files(loop, tree, tmp_path):
    assert loop.save(tmp_path / "page.md") == [tmp_path / "page.md"]
    assert (tmp_path / "page.md").read_text() == f"{loop}\n"
    figure = tree.plot(tmp_path / "figure.pdf")
    assert (tmp_path / "figure.pdf").exists()
    assert len(figure.axes) == 6
    assert tree.plot()._repr_png_().startswith(b"\x89PNG")  # what a notebook shows
    with pytest.raises(vi.ArgumentError, match="figure"):
        tree.plot(tmp_path / "figure.md")
    with pytest.raises(vi.ArgumentError, match=r"\.json"):
        tree.save(tmp_path / "page.txt")
    with pytest.raises(vi.FileError, match="no folder"):
        tree.save(tmp_path / "none" / "page.md")


@pytest.mark.slow
def test_the_key_of_many_methods_leaves_the_panels_their_height(tree):
    several = [replace(tree.series[0], name=f"method {k}") for k in range(7)]
    figure = replace(tree, series=(*tree.series, *several)).plot()
    figure.draw_without_rendering()
    assert min(axes.get_position().height * figure.get_figheight() for axes in figure.axes if axes.axison) > 1.5  # in
    (key,) = (axes.get_legend() for axes in figure.axes if axes.get_legend())
    looks = [(line.get_color(), line._dash_pattern) for line in key.get_lines()]
    assert len(set(map(str, looks))) == len(looks) > 9


def test_progress_names_every_run():
    told = []
    comparison = vi.compare(
        vi.mechanisms.double_pendulum(), 0.1, (0.02, 0.01), progress=lambda *call: told.append(call)
    )
    total = 2 + sum(len(series.runs) for series in comparison.series)
    assert [call[:2] for call in told] == [(k, total) for k in range(total)]
    assert "VI order 2, dt = 0.01" in [call[2] for call in told]


MISTAKES = {
    "no duration": ({"duration": 0.0}, "duration must be positive"),
    "negative step": ({"dt": [0.01, -0.005]}, "dt must be positive"),
    "steps without number": ({"dt": [0.01, 5e-324]}, r"more than 2\^53 steps"),
    "no steps": ({"dt": []}, "dt is empty"),
    "steps that do not fall": ({"dt": [0.01, 0.01]}, "dt must fall"),
    "step that does not divide the duration": ({"dt": [0.03]}, "0.03 s does not divide the duration, 0.1 s"),
    "step that does not divide the largest": ({"dt": [0.01, 0.004]}, "0.004 s does not divide 0.01 s"),
    "unknown order": ({"order": [2, 3]}, "order must be one of 1, 2, 4, 6"),
    "no order": ({"order": []}, "order is empty"),
    "unknown integrator": ({"integrators": ["verlet"]}, "integrators must be one of matrix, rk45"),
    "no integrator": ({"integrators": []}, "integrators is empty"),
    "tolerance of zero": ({"rtol": 0.0}, "rtol must be positive"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    arguments, message = MISTAKES[name]
    with pytest.raises(vi.ArgumentError, match=message):
        vi.compare(vi.mechanisms.double_pendulum(), **({"duration": 0.1} | arguments))


@pytest.mark.slow
def test_inputs_with_one_value_a_node_fit_one_step():
    """With which they can be compared; at several steps they are refused by name."""
    t = 0.01 * np.arange(11)
    values = vi.mechanisms.cart_pole(effort=np.sin(5 * t))
    found = vi.compare(values, 0.1, 0.01)
    assert found.vi.runs[0].force["motor"] == pytest.approx(np.sin(5 * t))
    assert found.vi.difference.position.max() < 1e-3
    with pytest.raises(vi.ArgumentError, match="motor 'motor' has one effort a node, which fits one dt only"):
        vi.compare(values, 0.1, (0.01, 0.005))
