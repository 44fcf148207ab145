"""The first pages of the site run from top to bottom, as a newcomer would run them."""

import re
import shlex
import time
from pathlib import Path

import pytest
from PIL import Image

import varint as vi
from varint.cli import main

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"```(python|sh)\n(.*?)```", re.S)


def run_page(name, folder, monkeypatch):
    """Python blocks in one namespace and lines of the command `varint`, in ``folder``; returns names and seconds."""
    monkeypatch.chdir(folder)
    names, begin = {}, time.perf_counter()
    for language, text in BLOCK.findall((DOCS / f"{name}.md").read_text()):
        if language == "python":
            exec(text, names)
        else:
            for line in text.splitlines():
                if line.startswith("varint "):
                    assert main(shlex.split(line.split("#")[0])[1:]) == 0, line
    return names, time.perf_counter() - begin


@pytest.mark.slow
def test_quick_start_leads_to_a_film(monkeypatch, tmp_path, capsys):
    """In much less than ten minutes, also where all is compiled first."""
    names, seconds = run_page("quickstart", tmp_path, monkeypatch)
    assert "1 degree of freedom" in capsys.readouterr().out
    with capsys.disabled():
        print(f"\nthe quick start took {seconds:.1f} s")
    assert seconds < 300
    made = {path.name for path in tmp_path.iterdir()}
    assert {"four_bar.png", "poses.png", "four_bar.gif", "run.h5", "run.csv", "again.h5", "reactions.pdf"} <= made
    with Image.open(tmp_path / "four_bar.gif") as film:
        assert film.n_frames == pytest.approx(20, abs=2)
    run = names["run"]
    assert run.rates["crank pivot"] == pytest.approx(names["np"].full(len(run), 6.283185), abs=1e-6)
    assert vi.load("again.h5").energy == pytest.approx(run.energy, abs=1e-9)


@pytest.mark.slow
def test_first_page_draws_its_moving_picture(monkeypatch, tmp_path):
    names, _ = run_page("index", tmp_path, monkeypatch)
    assert names["run"].success
    assert (tmp_path / "klann_walk.gif").stat().st_size < 1_000_000
    assert (DOCS / "images" / "klann_walk.gif").stat().st_size < 1_000_000


@pytest.mark.slow
def test_concepts_hold(monkeypatch, tmp_path):
    names, _ = run_page("concepts", tmp_path, monkeypatch)
    assert (names["diagnosis"].mobility, names["diagnosis"].redundancy) == (1, 3)
    errors = [abs(run.energy_balance).max() for run in (names["run"], names["half"])]
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.3)
    assert errors[0] / names["run"].kinetic.max() == pytest.approx(0.005, abs=0.001)


@pytest.mark.slow
def test_recipes_work(monkeypatch, tmp_path):
    names, _ = run_page("howto", tmp_path, monkeypatch)
    assert names["best"].x == pytest.approx([0.7], abs=1e-6)
    assert names["masses"].x == pytest.approx([1.2, 0.8, 1.1, 0.9], abs=1e-5)
    down, normal = (names[name] for name in ("slope", "normal"))
    assert names["speed"] == pytest.approx(9.81 * (names["np"].sin(down) - 0.3 * normal[2]), rel=1e-12)
    assert names["sweep"].lockup == pytest.approx(names["np"].arccos(-0.354167) - names["np"].pi / 3, abs=1e-4)
    assert (len(names["modes"]), names["walk"].success) == (8, True)
    assert len(names["result"].table["pin force"]) == 6
    assert {"film.gif", "long.h5", "curves.pdf", "run.csv"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.slow
def test_the_page_on_steps_balances_its_pole(monkeypatch, tmp_path):
    sim = run_page("stepper", tmp_path, monkeypatch)[0]["sim"]
    assert sim.time == pytest.approx(8.0)
    assert sim.coordinates == pytest.approx([0.0, 3.14159], abs=0.01)


@pytest.mark.slow
def test_machine_elements_do_what_their_page_says(monkeypatch, tmp_path):
    names, _ = run_page("machine_elements", tmp_path, monkeypatch)
    np, run = names["np"], names["run"]
    train = vi.simulate(names["train"], 1.0, 0.01).rates
    assert train["input bearing"][-1] / train["output bearing"][-1] == pytest.approx(12.0, rel=1e-9)
    assert train["input bearing"][-1] == pytest.approx(0.01 / names["felt"], rel=1e-9)
    belt = vi.simulate(names["drive"], 0.5, 0.005).rates
    assert [belt["drum bearing"][-1], belt["idler bearing"][-1]] == pytest.approx([3.0, -20.0])
    valve = vi.simulate(names["valve"], 0.05, 2e-4, state=names["valve"].state(rates={"cam bearing": 20.0}))
    assert valve.force["cam"] == pytest.approx(0.2 * (9.81 + 4.0 * np.cos(20.0 * valve.t)), abs=1e-6)
    lifted, speed = names["lifted"], 20.0
    assert lifted.coordinates["slide"] == pytest.approx(0.02 * np.sin(speed * lifted.t), abs=1e-12)
    assert lifted.force["flank"] == pytest.approx(0.2 * (9.81 - 0.02 * speed**2 * np.sin(speed * lifted.t)), abs=1e-6)
    assert names["turned"].max() == pytest.approx(11.1, abs=0.2)
    held = names["turned"][1500:]
    assert 0.1 < names["turned"].max() - held[-1] < 1.0
    assert np.ptp(held) < 1e-12
    assert names["stroke"] == pytest.approx(0.01, rel=1e-3)
    pin = vi.simulate(names["loose"], 1.0, 1e-3).path("rod", (0, 0, 0)).position
    assert np.linalg.norm(pin, axis=1).max() == pytest.approx(1e-3, rel=1e-6)
    assert [names["lost"].min(), names["lost"].max()] == pytest.approx([-0.01, 0.01], abs=1e-9)
    angle = names["angle"]
    assert angle[1000] > 4.9
    assert 0.0 <= angle.max() - angle[-1] < 0.03
    assert names["stops"] == pytest.approx(1.5, rel=0.01)
    assert run.coordinates["wheel bearing"][-1] == pytest.approx(2 * np.pi)
    assert np.abs(run.rates["wheel bearing"][:200]).max() < 1e-9  # at rest, while the pin is out of the slots


@pytest.mark.slow
def test_closed_loops_beside_mujoco(monkeypatch, tmp_path):
    """The figures of the page, by their size."""
    pytest.importorskip("mujoco", reason="needs varint-dynamics[mujoco]")
    names, _ = run_page("closed_loops", tmp_path, monkeypatch)
    crank, exact = names["crank"], names["exact"].coordinates[names["crank"]][-1]
    ours, theirs = names["ours"], names["theirs"]
    assert ours.drift.max() < 1e-12 < 1e-6 < theirs.drift.max()
    assert abs(ours.coordinates[crank][-1] - exact) < 2e-4 < 2e-3 < abs(theirs.coordinates[crank][-1] - exact)
    assert names["again"].diagnose().mobility == 1
    assert abs(names["angle"] - exact) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("page", "name", "height"), [("particles", "flag", -0.5), ("deformable", "finger", -0.01)])
def test_nets_and_deformable_bodies_run(page, name, height, monkeypatch, tmp_path):
    names, _ = run_page(page, tmp_path, monkeypatch)
    run = names["run"]
    assert run.vertices[name][-1, :, 2].min() < height
    assert abs(run.energy_balance).max() < 1e-3 * run.kinetic.max()
