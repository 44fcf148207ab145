"""The page of a run in a browser: it draws, plays and answers to its controls, without an error."""

import subprocess
import sys

import numpy as np
import pytest
from browser import Shown, browser

import varint as vi

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


def test_each_toggle_shows_and_hides(shown):
    run, page = shown
    page.scrub(float(run.t[len(run) // 2]))
    names = list(page.state["show"])
    assert len(names) == 11
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


def test_a_narrow_window_keeps_its_controls(leg):
    _, page = leg
    page.driver.set_window_size(500, 900)
    try:
        for name in ("play", "scrub", "speed", "view", "plots"):
            script = "const box = document.getElementById(arguments[0]).getBoundingClientRect();"
            left, right, top = page.driver.execute_script(f"{script} return [box.left, box.right, box.top]", name)
            width, height = page.driver.execute_script("return [innerWidth, innerHeight]")
            assert left >= 0, name
            assert right <= width, name
            assert top < height, name
        assert page.driver.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        page.driver.set_window_size(1280, 800)


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
