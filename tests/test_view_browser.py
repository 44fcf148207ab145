"""The page of a run in a browser: it draws, plays and answers to its controls, without an error."""

import io
import subprocess
import sys

import numpy as np
import pytest
from browser import Shown, browser
from PIL import Image

import varint as vi
from varint.drawing.following import floor_height

pytestmark = pytest.mark.slow
SHOWN = {
    "jansen_leg": {"duration": 2.0, "dt": 0.002},
    "stewart_platform": {"duration": 2.0, "dt": 0.01},
    "rhombus_chain": {"m": 8, "duration": 1.0, "dt": 0.002},
    "n_pendulum": {"n": 100, "duration": 1.0, "dt": 0.002},
}


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


def run_of(name):
    options = dict(SHOWN[name])
    duration, dt = options.pop("duration"), options.pop("dt")
    return vi.simulate(getattr(vi.mechanisms, name)(**options), duration, dt, on_unresolved="ignore")


@pytest.fixture(scope="module", params=SHOWN)
def shown(request, driver, tmp_path_factory):
    """A run and its page."""
    run = run_of(request.param)
    path = tmp_path_factory.mktemp("page") / "run.html"
    run.view(path)
    return run, Shown(driver, path.as_uri())


@pytest.fixture
def leg(driver, tmp_path):
    run = run_of("jansen_leg")
    run.view(tmp_path / "leg.html")
    return run, Shown(driver, (tmp_path / "leg.html").as_uri())


def test_it_opens_and_draws(shown):
    run, page = shown
    state = page.wait(lambda state: state["drawn"] > 0)
    assert state["frames"] == len(run)
    assert (state["start"], state["end"]) == (run.t[0], run.t[-1])
    assert set(state["bodies"]) == set(run.mechanism.body_index)
    assert state["plots"][0] == ["kinetic", "potential", "energy"]
    page.check_no_errors()


def test_scrub_moves_the_bodies_to_where_the_run_has_them(shown):
    run, page = shown
    for k in (len(run) // 3, len(run) - 1):
        page.scrub(float(run.t[k]))
        state = page.wait(lambda state, k=k: state["frame"] == k)
        found = np.array([state["bodies"][body.name] for body in run.mechanism.bodies])
        assert found == pytest.approx(run.position[k], rel=1e-6, abs=1e-6)
        energy = float(state["values"][0][2])
        assert energy == pytest.approx(run.energy[k], rel=1e-3, abs=1e-3 * run.kinetic.max())
    page.scrub(0.0)
    page.check_no_errors()


def test_play_advances_and_stops(shown):
    _, page = shown
    page.scrub(0.0)
    page.click("#play")
    begun = page.wait(lambda state: state["playing"] and state["time"] > 0)
    page.wait(lambda state: state["time"] > begun["time"])
    page.click("#play")
    paused = page.wait(lambda state: not state["playing"])
    assert page.state["time"] == paused["time"]
    page.check_no_errors()


@pytest.mark.many
def test_each_toggle_shows_and_hides(shown):
    run, page = shown
    page.scrub(float(run.t[len(run) // 2]))
    names = list(page.state["show"])
    assert len(names) == 12
    arrows = ("force", "torque", "reaction", "reaction torque")
    for name in names:
        before = page.state["show"][name]
        for _ in range(2):
            page.click(f'[data-toggle="{name}"]')
            before = not before
            state = page.wait(lambda state, name=name, on=before: state["show"][name] is on)
            if name in ("bodies", "joints", "grid", "frames", "axes"):
                assert (state["visible"][name] > 0) is before, name
            if name == "names":
                assert state["labels"] == (len(run.mechanism.bodies) if before else 0)
            if name in arrows and not before:
                assert not state["arrows"].get(name), name
    page.click('[data-toggle="reaction"]')
    page.wait(lambda state: state["arrows"].get("reaction", 0) > 0)
    page.click('[data-toggle="reaction"]')
    page.check_no_errors()


def test_points_that_touch_are_drawn_with_their_forces(driver, tmp_path):
    """A rimless wheel on two feet of one leg, then for the first time on the next."""
    run = vi.simulate(vi.mechanisms.rimless_wheel(), 0.5, 0.005)
    run.view(tmp_path / "wheel.html")
    page = Shown(driver, (tmp_path / "wheel.html").as_uri())
    assert page.state["show"]["contact"]
    for node in (10, 80):
        page.scrub(float(run.t[node]))
        state = page.wait(lambda state, node=node: state["frame"] == node and state["settled"])
        assert state["arrows"]["contact"] == len(run.contacts.at(node)) == 2
    page.click('[data-toggle="contact"]')
    page.wait(lambda state: not state["arrows"]["contact"])
    page.check_no_errors()


def test_steps_keys_speed_and_loop(leg):
    run, page = leg
    page.press("ArrowRight")
    page.wait(lambda state: state["frame"] == 1)
    page.press("ArrowRight", shiftKey=True)
    page.wait(lambda state: state["frame"] == 11)
    page.click("#back")
    assert page.wait(lambda state: state["frame"] == 10)["time"] == pytest.approx(run.t[10])
    page.press("End")
    page.wait(lambda state: state["frame"] == len(run) - 1)
    page.press("Home")
    page.wait(lambda state: state["frame"] == 0)
    speed = page.state["speed"]
    page.press("+")
    page.wait(lambda state: state["speed"] > speed)
    for _ in range(20):
        page.press("+")
    page.press("l")
    assert page.state["loop"] is False
    page.press(" ")
    page.wait(lambda state: not state["playing"] and state["frame"] == len(run) - 1)
    page.press(" ")  # from the start again
    page.wait(lambda state: not state["playing"] and state["frame"] == len(run) - 1)
    page.check_no_errors()


def test_the_camera_follows_a_body(leg):
    run, page = leg
    number = run.mechanism.body_index["lower triangle"]
    script = "const s = document.getElementById('follow'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))"
    page.driver.execute_script(script, str(number))
    before = page.wait(lambda state: state["follow"] == number)
    page.scrub(float(run.t[300]))
    after = page.wait(lambda state: state["frame"] == 300 and state["target"] != before["target"])
    shift = run.position[300, number] - run.position[0, number]
    assert np.subtract(after["camera"], before["camera"]) == pytest.approx(shift, abs=1e-5)
    assert np.subtract(after["target"], before["target"]) == pytest.approx(shift, abs=1e-5)
    page.check_no_errors()


def test_traces_and_curves_are_chosen(leg):
    _, page = leg
    page.click('[data-trace="lower triangle"]')
    page.click('[data-trace="ankle"]')
    page.click('[data-curve="ankle"]')
    page.click('[data-curve="kinetic"]')
    page.click('[data-curve="ankle rate"]')
    state = page.wait(lambda state: len(state["plots"]) == 3)
    assert state["traces"] == ["lower triangle", "ankle"]
    assert state["plots"] == [["potential", "energy"], ["crank pivot", "ankle"], ["ankle rate"]]
    page.click('[data-trace="ankle"]')
    assert page.wait(lambda state: len(state["traces"]) == 1)["traces"] == ["lower triangle"]
    page.check_no_errors()


def test_a_second_run_is_shown_over_the_first_one(driver, tmp_path):
    """Each at the time of the page, the shorter one at its end beyond that; curves of both in one plot."""
    runs = [vi.simulate(vi.mechanisms.double_pendulum(angle=angle), t, 0.01) for angle, t in ((0.5, 1.0), (1.0, 1.5))]
    vi.show(*runs, names=["low", "high"], path=tmp_path / "runs.html")
    page = Shown(driver, (tmp_path / "runs.html").as_uri())
    assert page.state["runs"] == ["low", "high (translucent, dashed)"]
    assert page.state["end"] == pytest.approx(1.5)
    for t, nodes in ((0.7, (70, 70)), (1.3, (100, 130))):
        page.scrub(t)
        state = page.wait(lambda state, t=t: abs(state["shown"] - t) < 1e-6)
        for run, node, bodies in zip(runs, nodes, (state["bodies"], state["ghosts"][0]), strict=True):
            found = np.array([bodies[body.name] for body in run.mechanism.bodies])
            assert found == pytest.approx(run.position[node], abs=1e-5)
    page.click('[data-toggle="bodies"]')
    page.wait(lambda state: not state["visible"]["bodies"])
    page.check_no_errors()


CONTROLS = ("back", "play", "forward", "scrub", "clock", "speed", "loop", "record", "open", "view", "plots")
BOXES = """
const boxes = arguments[0].map((id) => document.getElementById(id).getBoundingClientRect());
return boxes.map(({ left, right, top, bottom }) => [left, right, top, bottom]);
"""


@pytest.mark.parametrize("width", [390, 500, 1400])
def test_controls_fit_the_window_and_do_not_overlap(width, leg):
    """On a phone too: nothing to scroll sideways, and buttons that a finger hits."""
    _, page = leg
    phone = width < 700
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": phone}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page.wait(lambda state: page.driver.execute_script("return innerWidth") == width)
        boxes = dict(zip(CONTROLS, page.driver.execute_script(BOXES, CONTROLS), strict=True))
        for name, (left, right, top, bottom) in boxes.items():
            assert 0 <= left < right <= width, name
            assert 0 <= top < 844, name
            assert bottom <= 844 or name == "plots", name
        bar = [boxes[name] for name in CONTROLS[:8]]
        for k, (left, right, top, bottom) in enumerate(bar):
            for other in bar[:k]:
                assert right <= other[0] or other[1] <= left or bottom <= other[2] or other[3] <= top, CONTROLS[k]
        assert page.driver.execute_script("return document.documentElement.scrollWidth") <= width
        if phone:
            assert all(boxes[name][3] - boxes[name][2] >= 36 for name in ("back", "play", "forward", "speed", "record"))
            assert boxes["view"][3] - boxes["view"][2] > 0.45 * 844
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_shadows_fall_on_the_ground(leg):
    """Pixels below the leg, which change with the shadows alone."""
    _, page = leg

    def dark():
        with Image.open(io.BytesIO(page.driver.get_screenshot_as_png())) as picture:
            pixels = np.asarray(picture.convert("L")).astype(int)
        return int((pixels[int(0.75 * len(pixels)) : -60, :950] < 225).sum())

    page.wait(lambda state: state["drawn"] > 0)
    with_shadows = dark()
    page.click('[data-toggle="shadows"]')
    page.wait(lambda state: not state["show"]["shadows"])
    assert with_shadows > 1.3 * dark() + 100


def test_a_robot_that_floats_is_followed_above_its_floor(driver, tmp_path):
    """The camera moves with the trunk, and the grid lies on the floor."""
    run = vi.simulate(vi.mechanisms.minitaur_landing(), 0.4, 0.005)
    run.view(tmp_path / "robot.html")
    page = Shown(driver, (tmp_path / "robot.html").as_uri())
    first = page.wait(lambda state: state["drawn"] > 0)
    trunk = run.mechanism.body_index["trunk"]
    assert first["follow"] == trunk
    assert first["floor"] == pytest.approx(floor_height(run.mechanism))
    page.scrub(float(run.t[40]))
    moved = page.wait(lambda state: state["frame"] == 40 and state["target"] != first["target"])
    shift = run.position[40, trunk] - run.position[0, trunk]
    assert np.linalg.norm(shift) > 0.01
    assert np.subtract(moved["camera"], first["camera"]) == pytest.approx(shift, abs=1e-5)
    page.check_no_errors()


def test_a_film_is_recorded(leg):
    _, page = leg
    page.click("#play")
    page.press("r")
    page.wait(lambda state: state["recording"] and state["time"] > 0.2)
    page.click("#record")
    page.wait(lambda state: not state["recording"] and state["film"] > 1000)
    page.check_no_errors()


def test_the_live_viewer_gets_the_frames_as_they_come(driver):
    """The page plays while the run is computed, and goes on without its server."""
    options = ["rhombus_chain", "-p", "m=8", "--duration", "20", "--dt", "0.001"]
    command = [sys.executable, "-m", "varint", "view", *options]
    with subprocess.Popen([*command, "--no-open"], stderr=subprocess.PIPE, text=True) as process:
        try:
            address = next(line for line in process.stderr if "http://" in line).split()[0]
            page = Shown(driver, address)
            early = page.state
            assert early["playing"]
            page.wait(lambda state: state["time"] > early["time"])
            done = page.wait(lambda state: state["done"])
            assert done["frames"] == 1001
            assert done["end"] == pytest.approx(20.0)
            page.scrub(10.0)
            page.check_no_errors()
        finally:
            process.terminate()
            process.wait(60)


def test_a_page_whose_server_ends_says_so(driver):
    command = [sys.executable, "-m", "varint", "view", "n_pendulum", "-p", "n=100", "--duration", "2000"]
    with subprocess.Popen([*command, "--no-open"], stderr=subprocess.PIPE, text=True) as process:
        try:
            address = next(line for line in process.stderr if "http://" in line).split()[0]
            page = Shown(driver, address)
        finally:
            process.terminate()
            process.wait(60)
    state = page.wait(lambda state: state["lost"])
    assert "no more frames will come" in state["notes"]
    assert state["frames"] > 0
