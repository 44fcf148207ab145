"""What a trajectory gives: nodes, times in between, paths of points, rates, tables, files."""

import csv
import pickle
from functools import cache

import force_samples
import numpy as np
import pytest

import varint as vi
from varint.model.rotation_vectors import rotation_matrix
from varint.results.table_columns import GROUPS, columns


@cache
def run(name="four_bar", duration=1.0, dt=0.001, order=2, **parameters):
    return vi.simulate(getattr(vi.mechanisms, name)(**parameters), duration, dt, order=order, tol=1e-12)


@cache
def reduced(name="four_bar", duration=1.0, dt=0.001):
    return vi.redmax.simulate(getattr(vi.mechanisms, name)(), duration, dt, rtol=1e-10)


@cache
def with_muscle():
    rng = np.random.default_rng(1)
    mechanism = force_samples.sample_mechanism(rng, force_samples.samples(rng)["Musculotendon"])
    return vi.simulate(mechanism, 0.05, 0.01)


def on_the_ground():
    return vi.simulate(vi.mechanisms.rimless_wheel(), 0.05, 0.01)


# ---------------------------------------------------------------------------------------- nodes


@pytest.mark.parametrize(("wrong", "meant"), [("time", "t"), ("positions", "position"), ("energi", "energy")])
def test_an_unknown_attribute_is_named_with_the_nearest(wrong, meant):
    with pytest.raises(AttributeError, match=f"a Trajectory has no attribute '{wrong}', did you mean '{meant}'?"):
        getattr(run(duration=0.1, dt=0.01), wrong)


@pytest.mark.parametrize("made", [run, reduced])
def test_nodes_are_counted_chosen_and_gone_through(made):
    whole = made(duration=0.1, dt=0.01)
    assert len(whole) == len(whole.t) == 11
    assert isinstance(whole[3], vi.State)
    assert np.array_equal(whole[3].position, whole.position[3])
    assert np.array_equal(whole[-1].angular_velocity, whole.angular_velocity[-1])
    assert [state.velocity[0, 0] for state in whole] == whole.velocity[:, 0, 0].tolist()
    part = whole[2:9:3]
    assert type(part) is type(whole) is type(pickle.loads(pickle.dumps(whole)))
    assert type(whole.at(whole.t[:2])) is vi.Trajectory
    assert isinstance(part, vi.Trajectory)
    assert part.t.tolist() == whole.t[2:9:3].tolist()
    for name in ("position", "energy", "drift", "acceleration", "work"):
        assert np.array_equal(getattr(part, name), getattr(whole, name)[2:9:3]), name
    for name in ("coordinates", "rates"):
        values, all_values = getattr(part, name), getattr(whole, name)
        for joint in values:
            assert values[joint] == pytest.approx(all_values[joint][2:9:3], abs=1e-12)
    assert np.array_equal(whole[5:][2:].t, whole.t[7:])


def test_a_part_of_a_run_has_the_charts_and_efforts_of_its_nodes():
    mechanism = vi.mechanisms.spinning_top()
    whole = vi.redmax.simulate(mechanism, 0.2, 0.01, chart="zxz")
    part = whole[4:12]
    assert np.array_equal(part.q, whole.q[4:12])
    for joint, names in whole.charts.items():
        assert np.array_equal(part.charts[joint], names[4:12])


def test_a_state_starts_another_run():
    whole = run(duration=0.2, dt=0.01)
    again = vi.simulate(whole.mechanism, 0.1, 0.01, state=whole[10], tol=1e-12)
    assert again.position == pytest.approx(whole.position[10:], abs=1e-10)


@pytest.mark.parametrize("index", [11, -12, 10**30])
def test_a_node_that_is_not_there(index):
    with pytest.raises(IndexError, match="there is no node"):
        run(duration=0.1, dt=0.01)[index]


@pytest.mark.parametrize("index", [1.5, "3", None, True, slice(4, 2), slice(None, None, -1), slice(0.5, 3), [1, 2]])
def test_a_choice_of_nodes_that_is_none(index):
    with pytest.raises(vi.ArgumentError):
        run(duration=0.1, dt=0.01)[index]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), [("four_bar", {}), ("free_body", {"spin": 0.0, "perturbation": 9.0})])
@pytest.mark.parametrize("made", [vi.simulate, vi.redmax.simulate])
def test_turns_are_counted_over_the_whole_run(made, name, options):
    """Of angles and rotation vectors; also by nodes that are more than half a turn apart, and between nodes."""
    whole = made(getattr(vi.mechanisms, name)(**options), 5.0, 0.005)
    joint = whole.mechanism.joints[0].name
    q = whole.coordinates[joint]
    assert np.linalg.norm(q[-1]) > 4 * np.pi
    assert whole[::200].coordinates[joint] == pytest.approx(q[::200], abs=1e-9)
    assert whole[300:][::50].coordinates[joint] == pytest.approx(q[300::50], abs=1e-9)
    copied = pickle.loads(pickle.dumps(whole[::200]))
    assert copied.coordinates[joint] == pytest.approx(q[::200], abs=1e-9)
    between = whole.at(np.array([0.5, 2.5, 4.9975]))
    assert between.coordinates[joint][:2] == pytest.approx(q[[100, 500]], abs=1e-9)
    assert between.coordinates[joint][2] == pytest.approx(q[-2:].mean(axis=0), abs=1e-2)


def test_what_a_trajectory_tells_cannot_be_set():
    with pytest.raises(AttributeError, match="cannot be set"):
        run(duration=0.1, dt=0.01).energy = 3


def test_energy_of_a_part_counts_from_its_first_node():
    mechanism = vi.mechanisms.four_bar()
    damper = vi.JointDamper("damper", joint="rocker pivot", damping=0.2)
    damped = vi.Mechanism("damped", mechanism.bodies, mechanism.joints, forces=[damper])
    whole = vi.simulate(damped, 1.0, 0.001)
    part = whole[400:]
    assert whole.dissipated["damper"][400] > 0.01
    assert part.dissipated["damper"] == pytest.approx(
        whole.dissipated["damper"][400:] - whole.dissipated["damper"][400]
    )
    assert np.abs(part.energy_balance).max() < 1e-3


# ---------------------------------------------------------------------------------------- between nodes


@pytest.mark.parametrize(("order", "rates"), [(2, (4, 3)), (4, (8, 7))])
def test_the_order_of_the_motion_between_nodes(order, rates):
    fine = run(duration=1.0, dt=0.0005, order=6)
    errors = []
    for step in (8, 16):
        part = fine[::step]
        part.record.settings["order"], kept = order, part.record.settings["order"]
        between = part.at(fine.t)
        part.record.settings["order"] = kept
        errors.append(
            [
                max(np.abs(between.position - fine.position).max(), np.abs(between.quat_wxyz - fine.quat_wxyz).max()),
                max(
                    np.abs(between.velocity - fine.velocity).max(),
                    np.abs(between.angular_velocity - fine.angular_velocity).max(),
                ),
            ]
        )
    measured = np.log2(np.array(errors[1]) / errors[0])
    assert measured == pytest.approx(rates, abs=0.6)


def test_a_time_between_nodes_is_a_state():
    whole = run(duration=0.1, dt=0.01)
    here, between = whole.at(0.05), whole.at(0.0523)
    assert isinstance(between, vi.State)
    assert here.position == pytest.approx(whole.position[5], abs=1e-14)
    assert between.quat_wxyz == pytest.approx(whole.at(np.array([0.0523])).quat_wxyz[0], abs=0)
    assert np.linalg.norm(between.quat_wxyz, axis=1) == pytest.approx(1.0, abs=1e-15)
    assert (
        np.array_equal(whole.at(whole.t).velocity, whole.velocity)
        or np.abs(whole.at(whole.t).velocity - whole.velocity).max() < 1e-12
    )


@pytest.mark.slow
def test_far_turns_between_nodes():
    """Of a body that turns by 2 rad from node to node, on stencils of 4 nodes."""
    fine = vi.simulate(vi.mechanisms.free_body(spin=0.0, perturbation=8.0), 3.0, 0.005, order=4)
    between = fine[::50].at(fine.t)
    assert between.quat_wxyz == pytest.approx(fine.quat_wxyz, abs=1e-6)
    assert between.angular_velocity == pytest.approx(fine.angular_velocity, abs=1e-6)


def test_nodes_of_uneven_spacing():
    steps = vi.redmax.simulate(vi.mechanisms.double_pendulum(), 2.0, rtol=1e-10)  # the integrator's own
    assert np.ptp(np.diff(steps.t)) > 1e-3
    even = vi.redmax.simulate(vi.mechanisms.double_pendulum(), 2.0, 0.1, rtol=1e-10)
    assert steps.at(even.t[:-1]).position == pytest.approx(even.position[:-1], abs=1e-6)


@pytest.mark.parametrize("t", [-1e-9, 0.1001, np.nan, [0.05, 0.05], [0.06, 0.02], [], "0.05", True])
def test_times_that_are_none_of_the_run(t):
    with pytest.raises(vi.ArgumentError):
        run(duration=0.1, dt=0.01).at(t)


# ---------------------------------------------------------------------------------------- points and bodies


def derivative(values, t):
    """By differences of fourth order, at all nodes but the two at each end."""
    h = t[1] - t[0]
    return (8 * (values[3:-1] - values[1:-3]) - (values[4:] - values[:-4])) / (12 * h)


@pytest.mark.slow
def test_the_path_of_a_point():
    whole = run(dt=0.0005, order=6)
    point = np.array([0.25, 0.0, 0.3])
    path = whole.path("coupler", point)
    assert path.position[0] == pytest.approx(
        whole.position[0, 1]
        + rotation_matrix(whole.quat_wxyz[0, 1])
        @ rotation_matrix(whole.mechanism.bodies[1].quat_wxyz).T
        @ (point - whole.mechanism.bodies[1].position),
        abs=1e-14,
    )
    assert derivative(path.position, whole.t) == pytest.approx(path.velocity[2:-2], abs=1e-6)
    assert derivative(path.velocity, whole.t) == pytest.approx(path.acceleration[2:-2], rel=1e-5, abs=1e-4)
    assert np.array_equal(whole.path("rocker").position, whole.position[:, 2])
    assert "coupler" in repr(path)
    with pytest.raises(vi.MechanismError, match="did you mean 'coupler'"):
        whole.path("couplr")
    with pytest.raises(vi.ArgumentError, match="point"):
        whole.path("coupler", (0.0, 1.0))


def test_a_pin_is_the_same_point_of_both_bodies():
    whole = run()
    pin = whole.mechanism.joint("crank pin").point
    of_crank, of_coupler = (whole.path(body, pin) for body in ("crank", "coupler"))
    for name in ("position", "velocity", "acceleration"):
        assert getattr(of_crank, name) == pytest.approx(getattr(of_coupler, name), abs=1e-8), name


@pytest.mark.slow
def test_a_body_as_seen_from_another():
    whole = run(dt=0.0005, order=6)
    seen = whole.relative("crank", "coupler")
    assert derivative(seen.position, whole.t) == pytest.approx(seen.velocity[2:-2], abs=1e-6)
    assert np.abs(seen.angular_velocity) @ [0, 1, 0] == pytest.approx(np.abs(whole.rates["crank pin"]), abs=1e-9)
    back = whole.relative("coupler", "crank")
    turn = rotation_matrix(seen.quat_wxyz)
    assert rotation_matrix(back.quat_wxyz) == pytest.approx(np.swapaxes(turn, 1, 2), abs=1e-14)
    assert back.position == pytest.approx(-np.einsum("tji,tj->ti", turn, seen.position), abs=1e-14)
    world = whole.relative("world", "rocker")
    assert np.array_equal(world.position, whole.position[:, 2])
    assert world.angular_velocity == pytest.approx(whole.angular_velocity[:, 2], abs=0)
    with pytest.raises(vi.ArgumentError, match="did you mean 'rocker'"):
        whole.relative("world", "rockr")


RATES = ["four_bar", "stewart_platform", "free_body", "roller_coaster", "snake", "cart_pole", "spatial_slider_crank"]


@pytest.mark.slow
@pytest.mark.parametrize("name", RATES)
def test_rates_are_those_of_the_coordinates(name):
    whole = run(name, duration=0.2, dt=0.0005, order=4)
    for joint in whole.mechanism.joints:
        q, rates = whole.coordinates[joint.name], whole.rates[joint.name]
        assert rates.shape == q.shape
        scale = 1 + np.abs(rates).max(initial=0.0)
        assert derivative(q, whole.t) == pytest.approx(rates[2:-2], abs=2e-7 * scale)


@pytest.mark.slow
def test_rates_of_both_formulations_agree():
    maximal, others = run(order=4), reduced()
    for joint in maximal.rates:
        assert maximal.rates[joint] == pytest.approx(others.rates[joint], abs=1e-6)
    for joint, columns_ in others.columns.items():
        assert others.rates[joint] == pytest.approx(others.qdot[:, columns_.start], abs=1e-9)


@pytest.mark.parametrize("name", RATES)
def test_coordinates_and_rates_of_a_state(name):
    whole = run(name, duration=0.05, dt=0.0005, order=4)
    q, rates = (getattr(whole.mechanism, what)(whole[-1]) for what in ("coordinates", "rates"))
    for joint in whole.mechanism.joints:
        assert q[joint.name] == pytest.approx(whole.coordinates[joint.name][-1], abs=1e-9)
        assert rates[joint.name] == pytest.approx(whole.rates[joint.name][-1], abs=1e-6)
    with pytest.raises(vi.StateError):
        whole.mechanism.coordinates(vi.mechanisms.klann_leg().state())


# ---------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize("what", GROUPS)
def test_columns_of_everything(what):
    made = {with_muscle: ("length", "length_rate", "law_state"), on_the_ground: ("contact_force", "penetration")}
    of_some = [make for make, known in made.items() if what in known]
    whole = of_some[0]() if of_some else run("governor", duration=0.05, dt=0.01)
    found = columns(whole, what)
    assert found, what
    for column in found:
        assert column.values.shape == whole.t.shape
        assert column.heading == f"{column.name} ({column.unit})" or not column.unit
    assert len({column.name for column in found}) == len(found)


def test_columns_have_the_units_of_their_coordinates():
    whole = run("governor", duration=0.05, dt=0.01)
    units = {column.name: column.unit for what in ("coordinates", "rates", "force") for column in columns(whole, what)}
    assert units["bearing"] == "rad"
    assert units["slide"] == "m"
    assert units["bearing rate"] == "rad/s"
    assert units["right spring effort"] in ("N", "N m")
    track = run("roller_coaster", duration=0.02, dt=0.01)
    assert {column.unit for column in columns(track, "coordinates")} <= {"", "rad", "m"}


def test_columns_of_some():
    whole = run(duration=0.1, dt=0.01)
    names = [column.name for column in columns(whole, "reactions", of="crank pin")]
    assert names == [f"crank pin {word} {axis}" for word in ("force", "torque") for axis in "xyz"]
    reaction = whole.reactions["crank pin"]
    force, torque = columns(whole, "reaction_magnitudes", of="crank pin")
    assert (force.heading, torque.heading) == ("crank pin force magnitude (N)", "crank pin torque magnitude (N m)")
    np.testing.assert_allclose(force.values**2, np.sum(reaction.force**2, axis=1))
    np.testing.assert_allclose(torque.values**2, np.sum(reaction.torque**2, axis=1))
    assert [c.name for c in columns(whole, "position", of=["rocker", "crank"])][::3] == ["rocker x", "crank x"]
    with pytest.raises(vi.ArgumentError, match="did you mean 'reactions'"):
        columns(whole, "reaction")
    with pytest.raises(vi.ArgumentError, match="no joint 'crank pn', did you mean 'crank pin'"):
        columns(whole, "coordinates", of=["crank pn"])
    with pytest.raises(vi.ArgumentError, match="no body 'crnk', did you mean 'crank'"):
        columns(whole, "position", of="crnk")
    with pytest.raises(vi.ArgumentError, match="whole mechanism"):
        columns(whole, "energy", of=["crank"])


def test_a_table_as_text(tmp_path):
    whole = run(duration=0.1, dt=0.01)
    whole.to_csv(tmp_path / "all.csv")
    with open(tmp_path / "all.csv", newline="") as file:
        head, *rows = csv.reader(file)
    table = np.array(rows, dtype=float)
    assert head[:2] == ["t (s)", "crank pivot (rad)"]
    assert np.array_equal(table[:, 0], whole.t)  # to the bit
    assert np.array_equal(table[:, 1], whole.coordinates["crank pivot"])
    assert np.array_equal(table[:, head.index("rocker qw")], whole.quat_wxyz[:, 2, 0])
    whole[::5].to_csv(str(tmp_path / "some.csv"), "energy")
    assert (tmp_path / "some.csv").read_text().splitlines()[0] == "t (s),energy (J)"
    assert len((tmp_path / "some.csv").read_text().splitlines()) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.csv", "some.csv"]


def test_tables_that_cannot_be_written(tmp_path):
    whole = run(duration=0.1, dt=0.01)
    with pytest.raises(vi.ArgumentError, match=r"must end in \.csv"):
        whole.to_csv(tmp_path / "x.txt")
    with pytest.raises(vi.FileError, match="cannot write"):
        whole.to_csv(tmp_path / "nowhere" / "x.csv")
    (tmp_path / "kept.csv").write_text("before")
    with pytest.raises(vi.ArgumentError, match="did you mean 'rates'"):
        whole.to_csv(tmp_path / "kept.csv", "rate")
    assert (tmp_path / "kept.csv").read_text() == "before"


@pytest.mark.slow
@pytest.mark.parametrize("word", ["torque", "nothing of the kind", "rate"])
def test_tables_of_what_there_is_not_tell_what_there_is(word, tmp_path):
    for package in ("pandas", "xarray"):
        pytest.importorskip(package, reason="needs varint-dynamics[tables]")
    whole = run(duration=0.1, dt=0.01)
    for table in (lambda name: whole.to_csv(tmp_path / "x.csv", name), whole.to_dataframe, whole.to_xarray):
        with pytest.raises(
            vi.ArgumentError, match=rf"there are no columns '{word}'.*are {', '.join(GROUPS)}$"
        ) as caught:
            table(word)
        assert ("did you mean 'force' (efforts of forces, N or N m)" in str(caught.value)) == (word == "torque")


@pytest.mark.slow
def test_a_table_of_pandas():
    pytest.importorskip("pandas", reason="needs varint-dynamics[tables]")
    whole = run(duration=0.1, dt=0.01)
    table = whole.to_dataframe("coordinates", "reactions")
    assert table.index.name == "t (s)"
    assert np.array_equal(table["crank pivot"], whole.coordinates["crank pivot"])
    assert np.array_equal(table["crank pin force z"], whole.reactions["crank pin"].force[:, 2])
    assert table.attrs["units"]["crank pin torque y"] == "N m"


@pytest.mark.slow
def test_a_dataset_of_xarray():
    pytest.importorskip("xarray", reason="needs varint-dynamics[tables]")
    whole = run("governor", duration=0.1, dt=0.01)
    data = whole.to_xarray(*GROUPS)
    assert np.array_equal(data["position"].sel(axis="z").transpose("time", "bodies"), whole.position[..., 2])
    for name in whole.force:
        assert np.array_equal(data["force"].sel(forces=name), whole.force[name])
    assert np.array_equal(
        data["reactions"].sel(joints="bearing", wrench="torque x"), whole.reactions["bearing"].torque[:, 0]
    )
    force = data["reaction_magnitudes"].sel(joints="bearing", magnitude="force")
    assert np.array_equal(force, whole.reactions["bearing"].force_magnitude)
    assert np.array_equal(data["coordinates"].sel(coordinate="bearing"), whole.coordinates["bearing"])
    assert np.array_equal(data["linear_momentum"], whole.linear_momentum)
    assert data["velocity"].attrs["units"] == "m/s"


@pytest.mark.parametrize(("package", "method"), [("pandas", "to_dataframe"), ("xarray", "to_xarray")])
def test_a_package_that_is_missing(package, method, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(vi.ArgumentError, match=rf'{package}: pip install "varint-dynamics\[tables\]"'):
        getattr(run(duration=0.1, dt=0.01), method)()


# ---------------------------------------------------------------------------------------- files


@pytest.mark.slow
@pytest.mark.parametrize("made", [run, reduced])
def test_a_saved_run_goes_on_to_the_same_bits(made, tmp_path):
    short, whole, path = made(duration=0.1, dt=0.01), made(duration=0.2, dt=0.01), tmp_path / "run.h5"
    short.save(path)
    found = vi.load(path)
    assert type(found) is type(short)
    for name in short.nodes:
        assert np.array_equal(found.nodes[name], short.nodes[name]), name
    assert found.settings == short.settings
    simulate = vi.simulate if made is run else vi.redmax.simulate
    options = {"tol": 1e-12} if made is run else {"rtol": 1e-10}
    longer = simulate(whole.mechanism, 0.2, 0.01, output=path, resume=True, **options)
    assert np.array_equal(longer.position, whole.position)
    assert np.array_equal(longer.velocity, whole.velocity)


def test_a_part_of_a_run_is_saved_but_does_not_go_on(tmp_path):
    whole, path = run(duration=0.1, dt=0.01), tmp_path / "part.h5"
    whole[::5].save(path)
    assert np.array_equal(vi.load(path).t, whole.t[::5])
    with pytest.raises(vi.FileError, match="holds another run"):
        vi.simulate(whole.mechanism, 0.2, 0.01, tol=1e-12, output=path, resume=True)
    whole.at([0.01, 0.05]).save(path, overwrite=True)
    assert len(vi.load(path)) == 2


def test_saving_keeps_what_is_there(tmp_path):
    whole, path = run(duration=0.1, dt=0.01), tmp_path / "run.h5"
    whole.save(path)
    before = path.read_bytes()
    with pytest.raises(vi.FileError, match="overwrite=True"):
        whole[:3].save(path)
    assert path.read_bytes() == before
    whole[:3].save(path, overwrite=True)
    assert len(vi.load(path)) == 3
    with pytest.raises(vi.ArgumentError, match=r"\.h5"):
        whole.save(tmp_path / "run.csv")
    with pytest.raises(vi.FileError, match="no folder"):
        whole.save(tmp_path / "nowhere" / "run.h5")
    with pytest.raises(vi.ArgumentError, match="between the nodes"):
        reduced(duration=0.1, dt=0.01).at([0.01, 0.05]).save(tmp_path / "between.h5")


@pytest.mark.slow
def test_a_run_larger_than_a_part_is_saved_whole(tmp_path, monkeypatch):
    from varint.files.runs import save as save_run

    monkeypatch.setattr(save_run, "PART", 2000)
    whole, path = run(duration=0.1, dt=0.001), tmp_path / "run.h5"
    whole.save(path)
    assert np.array_equal(vi.load(path).quat_wxyz, whole.quat_wxyz)


def test_contacts_by_name_in_tables(tmp_path):
    whole = on_the_ground()
    (name,) = whole.contact_force
    whole.to_csv(tmp_path / "c.csv", "contact_force", "penetration")
    table = np.genfromtxt(tmp_path / "c.csv", delimiter=",", names=True, deletechars="", replace_space=" ")
    assert np.array_equal(table[f"{name} contact force z (N)"], whole.contact_force[name][:, 2])
    assert np.array_equal(table[f"{name} penetration (m)"], whole.penetration[name])
    for mapping in (whole.contact_force, whole.penetration):
        with pytest.raises(vi.MechanismError, match=f"no hard contact 'nothing': there is '{name}'"):
            mapping["nothing"]
