"""Energy, momenta and drift at a stride of their own: the numbers of the nodes, to the bit, however a run is made."""

import json
from itertools import pairwise

import h5py
import numpy as np
import pytest
from file_runs import in_process
from force_samples import with_forces
from signed_files import signed

import varint as vi
from varint.cli import main
from varint.files.runs import reader as run_reader
from varint.files.runs.space import WantedSpace
from varint.files.runs.writer import RunWriter
from varint.results.derived import QUANTITIES
from varint.results.diagnostics import DIAGNOSTICS
from varint.results.record import HeldNodes
from varint.runs import running

DT = 0.01
STEPS = 43
ARRAYS = ("t", *DIAGNOSTICS)


def wound():
    """A pendulum that turns some times about a spring, with a damper and a motor."""
    pendulum = vi.mechanisms.double_pendulum()
    spring = vi.TorsionSpring("spring", joint="joint 1", stiffness=0.05, rest_angle=0.2, damping=1e-3)
    motor = vi.Motor("motor", joint="joint 1", effort=0.3)
    servo = vi.JointServo("servo", joint="joint 1", target=0.1, stiffness=0.3, damping=1e-3, integral=2.0)
    return with_forces(pendulum, spring, motor, servo, vi.JointDamper("damper", joint="joint 1", damping=0.02))


def pushed(simulate, *given, **options):
    """A wound pendulum with a load that varies."""
    mechanism, steps = wound(), round(given[0] / DT)
    start = mechanism.state(rates={"joint 1": 30.0})
    force = np.cos(0.1 * np.arange(STEPS + 1))[: steps + 1, None] * [1.0, 0.5, 0.0]
    return simulate(mechanism, *given, state=start, force={"link 2": force}, **options)


UNTOLD = {"on_unresolved": "ignore"}  # of a link that spins by 0.3 rad a step


def stopped():
    plain = vi.mechanisms.n_pendulum(n=3, angle=1.5)
    stops = [vi.JointStop(f"stop {k}", joint=f"joint {k}", lower=-0.1, upper=0.1, restitution=0.5) for k in (2, 3)]
    return with_forces(plain, *stops, vi.JointCoulombFriction("friction", joint="joint 1", coefficient=0.3, radius=0.1))


def lifted(t):
    return 0.1 * t * t, 0.2 * t, 0.2


def reduced(integrator):
    return lambda *given, **options: vi.redmax.simulate(*given, integrator=integrator, **options)


SCENES = {  # name to a function (duration, dt, options); whether it can be made longer
    "wound": (lambda *given, **options: pushed(vi.simulate, *given, **UNTOLD, **options), False),
    "wound, order 4": (lambda *given, **options: vi.simulate(wound(), *given, order=4, **options), True),
    "loops": (lambda *given, **options: vi.simulate(vi.mechanisms.four_bar(), *given, **options), True),
    "printed": (lambda *given, **options: vi.simulate(vi.mechanisms.free_body(), *given, order=1, **options), True),
    "spline": (lambda *given, **options: vi.simulate(vi.mechanisms.roller_coaster(), *given, **options), True),
    "reduced": (lambda *given, **options: pushed(reduced("bdf2"), *given, **options), False),
    "error control": (lambda *given, **options: reduced("dop853")(wound(), *given, **options), True),
    "prescribed": (
        lambda *given, **options: vi.redmax.simulate(
            vi.mechanisms.cart_pole(), *given, prescribed={"track": lifted}, **options
        ),
        True,
    ),
    "stops": (lambda *given, **options: reduced("euler")(stopped(), *given, **options), True),
}
FAST, SHORT = ("wound",), ("reduced", "loops")
MARKS = [pytest.mark.slow, pytest.mark.long]
CASES = [pytest.param(name, marks=[] if name in FAST else MARKS[:1] if name in SHORT else MARKS) for name in SCENES]


def check(run, fine, coarse, but=()):
    """That ``run`` has the diagnostics of the nodes of ``fine``, and the nodes of ``coarse``, to the bit."""
    assert len(run.diagnostics) == len(fine)
    for name in ARRAYS:
        assert getattr(run.diagnostics, name).tobytes() == getattr(fine, name).tobytes(), name
    assert list(run.nodes) == list(coarse.nodes)
    for name in set(run.nodes) - set(but):
        assert run.nodes[name].tobytes() == coarse.nodes[name].tobytes(), name


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", CASES)
def test_they_are_those_of_the_nodes_however_the_run_is_cut(name, tmp_path, monkeypatch):
    simulate, grows = SCENES[name]
    fine, coarse = (simulate(STEPS * DT, DT, every=every) for every in (2, 10))
    options = {"every": 10, "diagnostics_every": 2}
    path = tmp_path / "run.h5"
    with monkeypatch.context() as patch:
        patch.setattr(running, "LARGEST_BLOCK", 0)  # a step a block
        check(simulate(STEPS * DT, DT, **options), fine, coarse)
    monkeypatch.setattr(running, "LARGEST_BLOCK", 2000)  # about ten steps
    monkeypatch.setattr(run_reader, "HELD", 0)
    check(simulate(STEPS * DT, DT, output=path, **options), fine, coarse)
    check(vi.load(path), fine, coarse)
    if grows:
        for first in (17, 30)[: 1 if name in FAST else 2]:
            simulate(first * DT, DT, output=path, overwrite=True, **options)
            assert vi.load(path).diagnostics.t[-1] == vi.load(path).t[-1] == pytest.approx(first * DT)
            check(simulate(STEPS * DT, DT, output=path, resume=True, **options), fine, coarse)
            check(vi.load(path), fine, coarse)


@pytest.mark.slow
def test_scenes_hold_what_they_are_for():
    run = pushed(vi.simulate, STEPS * DT, DT, **UNTOLD)
    assert np.ptp(run.coordinates["joint 1"]) > 3 * np.pi
    assert np.abs(run.work_from_outside).max() > 0.1
    run = SCENES["stops"][0](STEPS * DT, DT)
    assert np.abs(run.stopping).max() > 1.0
    run = SCENES["prescribed"][0](STEPS * DT, DT)
    assert np.abs(run.work_from_outside).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("killed", [5, 6, 7])
def test_a_kill_leaves_both_tables_whole(tmp_path, monkeypatch, killed):
    path, options = tmp_path / "run.h5", {"every": 10, "diagnostics_every": 2}
    simulate = SCENES["wound, order 4"][0]
    fine, coarse = (simulate(STEPS * DT, DT, every=every) for every in (2, 10))
    monkeypatch.setattr(running, "LARGEST_BLOCK", 0)
    commit, count = RunWriter._commit, []

    def commits(writer, checkpoint):
        count.append(checkpoint)
        if len(count) == killed:
            raise KeyboardInterrupt  # rows are on the disk that no checkpoint counts
        commit(writer, checkpoint)

    with monkeypatch.context() as patch:
        patch.setattr(RunWriter, "_commit", commits)
        with pytest.raises(KeyboardInterrupt, match=r"interrupted at t = .*; resume=True goes on with '.*run.h5'"):
            simulate(STEPS * DT, DT, output=path, **options)
    left = vi.load(path)
    assert left.diagnostics.energy.tobytes() == fine.energy[: len(left.diagnostics)].tobytes()
    check(simulate(STEPS * DT, DT, output=path, resume=True, **options), fine, coarse)


@pytest.mark.slow
def test_steps_of_the_integrators_own(tmp_path):
    path, options = tmp_path / "run.h5", {"integrator": "dop853", "every": 6}
    fine, coarse = (vi.redmax.simulate(wound(), 0.3, integrator="dop853", every=every) for every in (3, 6))
    check(vi.redmax.simulate(wound(), 0.3, diagnostics_every=3, **options), fine, coarse)
    vi.redmax.simulate(wound(), 0.2, output=path, diagnostics_every=3, **options)
    check(vi.redmax.simulate(wound(), 0.3, output=path, resume=True, diagnostics_every=3, **options), fine, coarse)


@pytest.mark.slow
def test_who_was_not_resolved_is_told_at_the_recorded_nodes():
    def simulate(**options):
        options |= {"order": 4, "on_unresolved": "ignore"}
        return vi.simulate(vi.mechanisms.n_pendulum(n=10, angle=np.pi / 2), 20.0, DT, **options)

    coarse = simulate(every=25)
    assert coarse.unresolved.size > 1
    run = simulate(every=25, diagnostics_every=5)
    assert run.unresolved_body.tobytes() == coarse.unresolved_body.tobytes()


def test_a_run_that_fails_has_them_up_to_there():
    force = np.zeros((STEPS + 1, 3))
    force[28:] = 1e15, 0, 0
    mechanism = vi.mechanisms.double_pendulum()
    runs = []
    for options in ({"every": 10, "diagnostics_every": 2}, {"every": 2}, {"every": 10}):
        with pytest.raises(vi.ConvergenceError) as caught:
            vi.simulate(mechanism, STEPS * DT, DT, force={"link 2": force}, **options)
        runs.append(caught.value.trajectory)
    assert runs[0].t[-1] == pytest.approx(28 * DT)
    check(*runs)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_quantities_of_parts_are_those_of_the_whole(name, rng):
    """Whatever the parts: angles of forces go on counting, and sums go on."""
    whole = SCENES[name][0](STEPS * DT, DT)
    for _ in range(4):
        cuts = [0, *sorted(rng.choice(np.arange(1, len(whole)), 7, replace=False)), len(whole)]

        class Cut(HeldNodes):
            def parts(self, cuts=cuts):
                for begin, end in pairwise(cuts):
                    yield HeldNodes({name: array[begin:end] for name, array in self.items()})

        late = type(whole)(whole.record.part(Cut(whole.nodes)))
        assert len(list(late.parts())) == 8
        for quantity in DIAGNOSTICS:
            assert getattr(late, quantity).tobytes() == getattr(whole, quantity).tobytes(), quantity


@pytest.mark.slow
def test_saved_and_loaded(tmp_path):
    path = tmp_path / "run.h5"
    run = vi.simulate(vi.mechanisms.four_bar(), 0.5, DT, every=10, diagnostics_every=2)
    run.save(path)
    check(vi.load(path), vi.simulate(vi.mechanisms.four_bar(), 0.5, DT, every=2), run)
    longer = vi.simulate(vi.mechanisms.four_bar(), 0.7, DT, every=10, diagnostics_every=2, output=path, resume=True)
    check(longer, *(vi.simulate(vi.mechanisms.four_bar(), 0.7, DT, every=every) for every in (2, 10)))
    assert vi.simulate(vi.mechanisms.four_bar(), 0.5, DT).diagnostics is None
    assert run[1:3].diagnostics is None


def test_wrong_strides_are_refused():
    mechanism = vi.mechanisms.double_pendulum()
    for simulate in (vi.simulate, vi.redmax.simulate):
        with pytest.raises(
            vi.ArgumentError, match=r"every must be a multiple of diagnostics_every, got every = 10 and"
        ):
            simulate(mechanism, 1.0, DT, every=10, diagnostics_every=4)
        for wrong in (0, -1, 1.5, True, "2"):
            with pytest.raises(vi.ArgumentError, match="diagnostics_every"):
                simulate(mechanism, 1.0, DT, every=10, diagnostics_every=wrong)


@pytest.mark.slow
def test_a_run_goes_on_with_the_same_stride(tmp_path):
    path, mechanism = tmp_path / "run.h5", vi.mechanisms.double_pendulum()
    vi.simulate(mechanism, 0.2, DT, every=4, diagnostics_every=2, output=path)
    for other in (None, 1):
        with pytest.raises(vi.FileError, match="holds another run"):
            vi.simulate(mechanism, 0.4, DT, every=4, diagnostics_every=other, output=path, resume=True)


# ------------------------------------------------------------------------------------------ what shows them


@pytest.mark.slow
def test_tables_have_units(tmp_path):
    diagnostics = vi.simulate(vi.mechanisms.double_pendulum(), 0.2, DT, every=10, diagnostics_every=2).diagnostics
    table = diagnostics.to_dataframe()
    assert table.index.name == "t (s)"
    assert table.attrs["units"]["energy"] == "J"
    assert table["drift"].to_numpy().tobytes() == diagnostics.drift.tobytes()
    dataset = diagnostics.to_xarray("energy", "linear_momentum")
    assert dataset["linear_momentum"].dims == ("time", "axis")
    assert [dataset[name].attrs["units"] for name in ("energy", "linear_momentum", "time")] == ["J", "N s", "s"]
    diagnostics.to_csv(tmp_path / "table.csv", "kinetic", "drift")
    head, *rows = (tmp_path / "table.csv").read_text().splitlines()
    assert head == "t (s),kinetic (J),drift (m)"
    assert len(rows) == 11
    with pytest.raises(vi.ArgumentError, match="there are no diagnostics 'position': there are kinetic"):
        diagnostics.to_dataframe("position")
    assert "11 nodes" in repr(diagnostics)


@pytest.mark.slow
def test_pictures_and_summaries_show_them(tmp_path, capsys):
    path = tmp_path / "run.h5"
    given = ["run", "double_pendulum", "--duration", "1", "--every", "50", "--diagnostics-every", "2", "-o", str(path)]
    assert main([*given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["diagnostics_every"] == 2
    assert found["diagnostic_nodes"] == 51
    assert found["recorded_nodes"] == 3
    run = vi.load(path)
    fine = vi.simulate(vi.mechanisms.double_pendulum(), 1.0, DT, every=2)
    assert found["quantities"]["energy"]["largest_change"] == np.abs(fine.energy - fine.energy[0]).max()
    assert found["quantities"]["energy"]["largest_change"] > np.abs(run.energy - run.energy[0]).max()
    assert main(["info", str(path)]) == 0
    assert f"{np.abs(fine.energy - fine.energy[0]).max():.3g} J" in capsys.readouterr().out
    for picture in (run.plot(), run.plot("energy", "drift")):
        for axes in picture.axes:
            assert max(len(line.get_xdata()) for line in axes.lines) == 51
    together = run.plot("kinetic", "energy", "rank_margin", "coordinates")
    assert [len(axes.lines[0].get_xdata()) for axes in together.axes] == [51, 3, 3]


# ------------------------------------------------------------------------------------------ room, and bad files


def test_room_counts_both_tables():
    wanted = WantedSpace(100_000, 1000, 500, finer=(10, 100))
    assert wanted.size == 100 * 500 + 10_000 * 100
    assert wanted.remedy(1_010_000) == "every=5000 fits, or a shorter duration"
    assert WantedSpace(100_000, 5000, 500, finer=(10, 100)).size <= 1_010_000
    assert wanted.remedy(1000) == "give a larger diagnostics_every, or a shorter duration"


def test_a_run_that_does_not_fit_is_refused(tmp_path, monkeypatch):
    def never(done, total):
        pytest.fail("it made a step")

    given = vi.mechanisms.double_pendulum(), 1e9, DT
    with pytest.raises(vi.FileError, match="larger diagnostics_every"):
        vi.simulate(*given, every=10**9, diagnostics_every=1, output=tmp_path / "run.h5", progress=never)


def declare(value):
    def change(file):
        for turn in "01":
            file[f"checkpoint/{turn}/progress"][-1] = value

    return change


def relink(file):
    del file["diagnostics/energy"]
    file["diagnostics/energy"] = h5py.SoftLink("/diagnostics/kinetic")


def huge(file):
    for name in ARRAYS:
        file[f"diagnostics/{name}"].resize(30_000_000, axis=0)
    file["diagnostics/blocks"][-1, 0] = 30_000_000
    declare(30_000_000)(file)


def columns(change):
    def changed(file):
        found = json.loads(file.attrs["diagnostics"])
        change(found)
        file.attrs["diagnostics"] = np.bytes_(json.dumps(found))

    return changed


def setting(value):
    def changed(file):
        settings = json.loads(file.attrs["settings"]) | {"diagnostics_every": value}
        file.attrs["settings"] = np.bytes_(json.dumps(settings))

    return changed


def set_state(name, value):
    def change(file):
        for turn in "01":
            file[f"checkpoint/{turn}/state/{name}"][...] = value

    return change


ON_LOAD = {
    "no rows": declare(0),
    "rows that are not there": declare(1000),
    "more rows than bytes": huge,
    "a link": relink,
    "without a group": lambda file: file.pop("diagnostics"),
    "a column too few": columns(lambda found: found.pop("drift")),
    "a column too wide": columns(lambda found: found.update(energy=[[2], "<f8"])),
    "none where the settings ask for them": lambda file: file.attrs.__setitem__("diagnostics", np.bytes_("{}")),
    "not asked for": setting(None),
    "a stride of nothing": setting(0),
    "a stride that does not divide": setting(3),
}
ON_RESUME = {
    "none before the checkpoint": set_state("diagnosed", [0, -1]),
    "too many before the checkpoint": set_state("diagnosed", [1000, -1]),
    "others than the nodes": set_state("diagnosed", [3, -1]),
    "a body that there is none of": set_state("diagnosed", [21, 7]),
    "sums that are none": set_state("since", np.nan),
}


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", [*ON_LOAD, *ON_RESUME])
def test_file_changed_on_purpose_is_refused(tmp_path, name):
    path, mechanism = tmp_path / "run.h5", vi.mechanisms.double_pendulum()
    vi.simulate(mechanism, 0.4, DT, every=4, diagnostics_every=2, output=path)
    signed(path, (ON_LOAD | ON_RESUME)[name])
    if name in ON_LOAD:
        with pytest.raises(vi.FileError, match="damaged or not a run of varint"):
            vi.load(path)
    else:
        vi.load(path)
    with pytest.raises(vi.FileError, match=r"damaged or not a run of varint|holds another run"):
        vi.simulate(mechanism, 0.8, DT, every=4, diagnostics_every=2, output=path, resume=True)


@pytest.mark.slow
def test_changed_numbers_are_noticed(tmp_path):
    path = tmp_path / "run.h5"
    vi.simulate(vi.mechanisms.double_pendulum(), 0.4, DT, every=4, diagnostics_every=2, output=path)
    with h5py.File(path, "r+") as file:
        file["diagnostics/energy"][3] += 1e-12
    with pytest.raises(vi.FileError, match=r"of 'diagnostics/energy' are not those that were written"):
        vi.load(path)


def test_every_quantity_but_the_dear_one_is_a_diagnostic():
    assert set(QUANTITIES) - set(DIAGNOSTICS) == {"rank_margin"}


LONG = "vi.simulate(vi.mechanisms.free_body(), 2e4, DT, every=1, diagnostics_every=1, output=sys.argv[1])\n"
READ = """
import numpy as np
from varint.views.plots import plot_run
small = vi.simulate(vi.mechanisms.free_body(), 0.1, 0.01, diagnostics_every=1)
plot_run(small, sys.argv[1] + ".png")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run = vi.load(sys.argv[1])
assert len(run) == len(run.diagnostics) == 2_000_001
first, count = 0, 0
for part in run.parts():
    energy = part.energy
    assert np.array_equal(energy, run.diagnostics.energy[first : first + len(part)])
    first, count = first + len(part), count + 1
assert first == 2_000_001 and count > 5
plot_run(run, sys.argv[1] + ".png")
run.plot("energy", "kinetic", path=sys.argv[1] + ".pdf")
print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / len(run))
"""


@pytest.mark.long
@pytest.mark.slow
def test_two_million_nodes_are_read_and_drawn_with_little_memory(tmp_path):
    path = tmp_path / "run.h5"
    made = in_process(LONG.replace("DT", "0.01"), path)
    assert made.returncode == 0, made.stderr
    with h5py.File(path) as file:
        assert sum(file[name].nbytes for name in ("position", "quat_wxyz", "velocity", "angular_velocity")) > 2e8
    read = in_process(READ, path)
    assert read.returncode == 0, read.stderr
    assert float(read.stdout) < 120  # bytes a node: times, energies and drift; a node and its diagnostics have 216
