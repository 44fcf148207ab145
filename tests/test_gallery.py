"""The examples of docs/gallery.md: each prints its answer, draws it, and the answer is that of a closed form."""

import importlib
import runpy
import sys
from functools import cache
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parent.parent
GALLERY = runpy.run_path(str(ROOT / "docs" / "gallery.py"))
NAMES = [script.stem for script in GALLERY["SCRIPTS"]]
NEEDS = {"sliding_box": "clarabel"}


@cache
def answer(name):
    sys.path.insert(0, str(ROOT / "examples" / "gallery"))
    try:
        return importlib.import_module(name).answer()
    finally:
        sys.path.pop(0)


def assembly_modes(found):
    assert max(found["errors"]) < 1e-12
    assert max(found["closed"]) < 1e-12
    assert found["curves"][0][:, 2].min() > 0 > found["curves"][1][:, 2].max()


def cardan_joint(found):
    assert found["ratio"] == pytest.approx(found["exact"], abs=1e-12)
    assert found["ratio"].max() == pytest.approx(2 / np.sqrt(3), abs=1e-12)
    assert found["mech"].diagnose().redundancy == 3


def catenary(found):
    for name, rel in (("sag", 1e-2), ("pull", 1e-3), ("carried", 1e-9)):
        assert found[name][0] == pytest.approx(found[name][1], rel=rel)


def chain_modes(found):
    for k in range(3):
        off = [chain[k] / rope[k] - 1 for chain, rope, _ in found.values()]
        assert np.log2(off[-2] / off[-1]) == pytest.approx(2.0, abs=0.1)
    assert off[-1] < 3e-3


def clock_rate(found):
    assert found["lost"] == pytest.approx(found["exact"], rel=1e-5)
    assert found["lost"][3] - found["lost"][2] == pytest.approx(8.22, abs=0.01)


def crane(found):
    assert found["left"] == pytest.approx(found["exact"], abs=1e-3)
    assert found["left"][3] < 1e-3 < 0.05 < found["left"].max()


def exact_line(found):
    assert abs(found["tip"][:, 2] + found["depth"]).max() < 1e-13
    assert np.ptp(found["tip"][:, 0]) > 0.5


def foucault(found):
    assert np.degrees(found["found"]) == pytest.approx(np.degrees(found["exact"]), abs=0.1)
    assert np.degrees(found["exact"]) == pytest.approx(-271.1, abs=0.3)


def governor_speed(found):
    settled = found["speed"] > 7.0
    assert found["arm"][settled] == pytest.approx(found["exact"][settled], abs=0.01)
    assert np.degrees(found["arm"])[-1] > 70


def intermediate_axis(found):
    assert found["found"] == pytest.approx(found["exact"], rel=1e-5)


def kapitza(found):
    largest = {factor: abs(run.coordinates["pivot"]).max() for factor, run in found["runs"].items()}
    assert largest[0.8] > np.pi / 2
    assert max(largest[factor] for factor in (1.2, 2.0, 3.0)) < 0.4
    assert found["found"] == pytest.approx(found["exact"], rel=0.01)


def leg_torque(found):
    assert found["torque"][0.02][::5] == pytest.approx(found["weight"], abs=0.02)
    assert abs(found["torque"][2.0]).max() > 4 * abs(found["torque"][1.0]).max()
    assert all(abs(torque[:-1].mean()) < 1e-9 for torque in found["torque"].values())


def lock_up(found):
    assert found["limits"] == pytest.approx(found["exact"], abs=1e-6)


def muscle_mass(found):
    """Three particles are the muscle, those at its ends and in the middle: their forces by differences of places."""
    example = sys.modules["muscle_mass"]

    def ends(t, ankle=0.0):
        angles = example.swing(t)
        hip, knee = angles["hip"], angles["hip"] + angles["knee"]
        turned = {"thigh": hip, "shank": knee, "foot": knee + angles["ankle"] + ankle}
        R = {name: np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
             for name, a in turned.items()}  # fmt: skip
        heel = R["thigh"] @ example.KNEE + R["shank"] @ (example.ANKLE - example.KNEE)
        return R["thigh"] @ example.ORIGIN, heel + R["foot"] @ (example.HEEL - example.ANKLE)

    def particles(t, ankle=0.0):
        first, last = ends(t, ankle)
        return np.array([first, 0.5 * (first + last), last])

    shares, h = np.array([1, 4, 1]) / 6, 1e-4
    off = {share: found["off"][share] for share in example.SHARES}
    for number in range(10, 131, 20):
        t = found["t"][number]
        second = (particles(t + h) - 2 * particles(t) + particles(t - h)) / h**2
        arm = (particles(t, h) - particles(t, -h)) / (2 * h)
        torque = np.sum(shares[:, None] * arm * (second + [0, 0, 9.81]))
        assert off[0.8][number] / (0.8 * example.SHANK) == pytest.approx(torque, abs=2e-4)
    assert off[0.8] == pytest.approx(4 * off[0.2], abs=1e-10)
    assert abs(off[0.0]).max() < 1e-12 < 1.0 < abs(off[0.8]).max()


def over_the_top(found):
    assert (found["over"] == found["exact"]).all()
    assert 0.3 < found["over"].mean() < 0.7


def overconstrained(found):
    assert (found["good"].generic_mobility, found["good"].redundancy) == (1, 3)
    assert found["bad"].generic_mobility == 0
    assert found["pin"] == pytest.approx(found["exact"], abs=1e-12)


def planetary_gear(found):
    assert found["ratio"][0] == pytest.approx(found["ratio"][1], rel=1e-9)
    assert found["ratio"][1] == pytest.approx(2 / 7)
    assert found["inertia"][0] == pytest.approx(found["inertia"][1], rel=1e-6)


def predictable(found):
    assert found["exponent"] == pytest.approx(1.28, abs=4 * found["error"])
    assert found["seen"] == pytest.approx(found["predicted"], rel=0.35)


def robot_arm(found):
    for name, exact in found["weight"].items():
        assert found["run"].force[f"{name} motor"][0] == pytest.approx(exact, rel=1e-9)
    assert found["balance"] < 1e-6


def scissor_force(found):
    assert found["force"] == pytest.approx(found["exact"], rel=2e-3)


def shaking_force(found):
    along, across = found["alone"]
    assert along == pytest.approx(found["formula"], abs=0.03 * found["formula"].max())
    assert abs(across).max() < 1e-6
    assert np.hypot(*found["half"]).max() < 0.65 * abs(along).max()


def sleeping_top(found):
    assert found["spin awake"] == pytest.approx(found["critical"], rel=0.1)
    assert found["exact"] < found["seen"] < found["exact"] + 5


def sliding_box(found):
    assert found["way"][0] == pytest.approx(found["way"][1], rel=5e-3)
    assert found["front"][0] == pytest.approx(found["front"][1], rel=1e-5)


def spring_pendulum(found):
    assert found["off"] < 1e-9
    sideways = {name: abs(found[name].position[:, 0, 0]).max() for name in ("tuned", "detuned")}
    assert sideways["tuned"] > 0.09
    assert sideways["detuned"] < 0.002


def stewart_pose(found):
    assert max(found["off"], found["turned"]) < 1e-10


def straight_lines(found):
    parts = [np.ptp(along) / np.ptp(across) for along, across in found.values()]
    assert parts == pytest.approx([270, 369, 403], rel=0.01)


def tippe_top(found):
    assert found["lean"][0] < 10
    assert found["lean"][-1] > 170
    assert np.ptp(found["jellett"]) < 1e-10 * found["jellett"][0]
    assert found["energy"][0] > 0.02


def which_order(found):
    best = {order: errors.min() for order, errors in found["errors"].items()}
    assert best[2] > 1e2 * best[4] > 1e4 * best[6]
    assert best[8] < 1e-13
    assert found["choice"].scheme.startswith("lobatto")


def whip(found):
    following, equal = found["errors"].values()
    assert following.max() < 1e-5
    assert equal.max() > 50 * following.max()


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_answers_and_draws(name, monkeypatch, tmp_path, capsys):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    found = answer(name)
    globals()[name](found)
    example = sys.modules[name]
    monkeypatch.setattr(example, "answer", lambda: found)
    example.main(tmp_path / "picture.png")
    assert capsys.readouterr().out.count("\n") >= 1
    assert matplotlib.image.imread(tmp_path / "picture.png").std() > 0.01
    if hasattr(example, "film"):
        example.film(tmp_path / "film.gif")
        with Image.open(tmp_path / "film.gif") as film:
            assert film.n_frames >= 20


def test_scripts_are_short():
    assert len(NAMES) >= 24
    for script in GALLERY["SCRIPTS"]:
        title, text = GALLERY["told"](script)
        code = script.read_text().split('"""', 2)[2]
        assert title.endswith("?"), script.name
        assert len(text) > 200, script.name
        assert len([line for line in code.splitlines() if line.strip()]) <= 60, script.name


def test_pages_are_of_today():
    """But for what the scripts print, which `make docs` puts there."""
    assert GALLERY["index"]() == GALLERY["INDEX"].read_text(), "run docs/gallery.py"
    assert sorted(path.stem for path in GALLERY["PAGES"].glob("*.md")) == NAMES
    for script in GALLERY["SCRIPTS"]:
        text = (GALLERY["PAGES"] / f"{script.stem}.md").read_text()
        printed = text.split("```text\n")[1].split("```")[0]
        assert GALLERY["page"](script, printed) == text, f"run docs/gallery.py {script.stem}"
        assert (GALLERY["IMAGES"] / f"{script.stem}.png").stat().st_size < 60_000
        if GALLERY["moves"](script):
            assert (GALLERY["IMAGES"] / f"{script.stem}.gif").stat().st_size < 600_000
