"""A mechanism that a page steps: what a request changes, what an answer holds, and what is refused."""

import http.client
import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from browser import Shown, browser
from test_view import decoded
from test_view_live import curve, positions

import varint as vi
from varint.extras.live import live_session
from varint.files.runs import save


class Client:
    """Requests of a page."""

    def __init__(self, live):
        self.host = live.address.removeprefix("http://").rstrip("/")

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection(self.host, timeout=30)
        connection.request(method, path, body, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def step(self, first=0, epoch=0, **more):
        status, body = self.ask("POST", "/step", json.dumps({"from": first, "epoch": epoch, **more}))
        assert status == 200
        return json.loads(body)


def cart_pole():
    return vi.mechanisms.cart_pole(angle=0.3)


@pytest.mark.slow
def test_frames_are_those_of_a_run_and_angles_count_turns():
    mech = vi.mechanisms.four_bar(rate=20.0)
    with vi.live(mech, 0.002, order=4, every=5, browser=False) as live:
        client = Client(live)
        chunks = [client.step()]
        while chunks[-1]["time"] < 0.999:
            chunks.append(client.step(sum(c["count"] for c in chunks), until=chunks[-1]["time"] + 0.1))
        kept = live.trajectory()
    whole = vi.simulate(mech, 1.0, 0.002, order=4, every=5)
    assert [c["message"] for c in chunks] == [""] * len(chunks)
    assert kept.position == pytest.approx(whole.position, abs=1e-12)
    assert positions(chunks, 3) == pytest.approx(whole.position, rel=1e-6, abs=1e-6)
    turns = curve(chunks, 3, 3 + 4 + 4)
    assert turns[-1] > 2 * np.pi
    assert turns == pytest.approx(whole.coordinates["crank pivot"], abs=1e-3)


def test_inputs_act_from_the_next_step_on_and_are_recorded():
    mech = cart_pole()
    with vi.live(mech, 0.01, every=1, browser=False) as live:
        client = Client(live)
        client.step(until=0.1)
        answer = client.step(11, inputs={"motor": 5.0}, until=0.2)
        assert answer["inputs"] == [5.0]
        run = live.trajectory()
    stepper = vi.Stepper(mech, 0.01, every=1)
    stepper.step(10)
    stepper.set("motor", 5.0)
    stepper.step(10)
    assert np.array_equal(run.position, stepper.trajectory().position)
    assert np.array_equal(run.command, stepper.trajectory().command)


@pytest.mark.slow
def test_a_joint_is_moved_and_its_loop_follows():
    mech = vi.mechanisms.jansen_leg()
    with vi.live(mech, browser=False) as live:
        client = Client(live)
        client.step(until=0.1)
        answer = client.step(3, coordinates={"crank pivot": [0.7]})
        assert (answer["epoch"], answer["count"], answer["time"], answer["message"]) == (1, 1, 0.0, "")
        start = live.trajectory()
        assert start.coordinates["crank pivot"][0] == pytest.approx(0.7, abs=1e-12)
        assert start.drift.max() < 1e-10
        assert not start.velocity.any()
        answer = client.step(1, epoch=1, coordinates={"upper pivot": [3.0]})  # out of reach
        assert "upper pivot" in answer["message"]
        assert (answer["epoch"], answer["count"]) == (1, 0)
        assert np.array_equal(live.trajectory().position, start.position)
        assert client.step(0, epoch=1, reset=True)["epoch"] == 2
        assert np.array_equal(live.trajectory()[0].position, mech.state().position)


def test_other_joints_of_a_tree_keep_their_coordinates():
    mech = vi.mechanisms.double_pendulum()
    with vi.live(mech, browser=False) as live:
        before = Client(live).step()["coordinates"]
        name, _ = list(live.trajectory().coordinates)
        after = Client(live).step(coordinates={name: [before[0] + 0.4]})["coordinates"]
    assert np.subtract(after, before) == pytest.approx([0.4, 0.0], abs=1e-12)


@pytest.mark.slow
def test_coupled_joints_follow_a_moved_one():
    links = [vi.Body.rod(f"link {k}", (k, 0, 0), (k + 1, 0, 0), mass=1.0) for k in range(3)]
    hinges = [
        vi.Revolute(f"hinge {k}", "world" if k == 0 else f"link {k - 1}", f"link {k}", point=(k, 0, 0), axis=(0, -1, 0))
        for k in range(3)
    ]
    gear = vi.Coupling("gear", terms=[("hinge 0", 0, 1.0), ("hinge 2", 0, 2.0)])
    with vi.live(vi.Mechanism("geared", links, hinges, forces=[gear]), browser=False) as live:
        before = Client(live).step()["coordinates"]
        answer = Client(live).step(coordinates={"hinge 0": [0.3]})
    assert answer["message"] == ""
    assert np.subtract(answer["coordinates"], before) == pytest.approx([0.3, 0.0, -0.15], abs=1e-9)


def test_a_step_that_cannot_be_solved_is_a_message_and_the_last_state_is_kept():
    mech = vi.mechanisms.free_body(spin=1000.0)
    with vi.live(mech, 3.0, every=1, browser=False) as live:
        answer = Client(live).step(until=30.0)
        assert answer["failed"]
        assert "could not be solved" in answer["message"]
        assert len(live.trajectory()) == answer["count"]


WRONG = (
    ({"inputs": {"moter": 1.0}}, "did you mean 'motor'"),
    ({"inputs": {"motor": "a"}}, "input of force 'motor'"),
    ({"coordinates": {"pivt": [1.0]}}, "pivt"),
    ({"coordinates": {"pivot": ["a"]}}, "coordinate of joint 'pivot'"),
    ({"coordinates": {"pivot": 1.0}}, "pivot"),
    ({"coordinates": ["pivot"]}, "coordinates"),
    ({"inputs": 3}, "inputs"),
    ({"until": "soon"}, "until"),
    ({"from": -1}, "from"),
)


@pytest.mark.slow
def test_wrong_requests_are_messages():
    with vi.live(cart_pole(), browser=False) as live:
        client = Client(live)
        for request, words in WRONG:
            status, body = client.ask("POST", "/step", json.dumps({"from": 0, "epoch": 0, **request}))
            assert status == 200
            assert words in json.loads(body)["message"]
            assert client.step()["count"] == 1


def test_other_pages_cannot_step():
    with vi.live(cart_pole(), browser=False) as live:
        client = Client(live)
        body = json.dumps({"from": 0, "epoch": 0, "until": 1.0})
        for headers, status in (
            ({"Origin": "http://elsewhere.example"}, 403),
            ({"Host": "elsewhere.example"}, 403),
            ({"Content-Type": "text/plain"}, 415),
            ({"Content-Length": "99999999999"}, 413),
        ):
            assert client.ask("POST", "/step", body, **headers)[0] == status
        assert client.ask("POST", "/step", "[1]")[0] == 400
        assert client.ask("POST", "/step", "[" * 100_000)[0] == 400
        assert client.ask("POST", "/other", body)[0] == 404
        assert client.ask("GET", "/step")[0] == 404
        assert client.ask("GET", "/run.h5", Host="elsewhere.example")[0] == 403
        assert len(live.trajectory()) == 1


def test_no_page_from_elsewhere_holds_or_reads_it():
    with vi.live(cart_pole(), browser=False) as live:
        for path in ("/", "/nothing"):
            connection = http.client.HTTPConnection(Client(live).host, timeout=30)
            connection.request("GET", path)
            headers = connection.getresponse().headers
            assert headers["Content-Security-Policy"].startswith("frame-ancestors 'self' http://localhost:*")
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_numbers_that_overflow_are_refused():
    with vi.live(cart_pole(), browser=False) as live:
        client = Client(live)
        for request in ({"inputs": {"motor": 1e300}}, {"until": 1e300}, {"coordinates": {"pivot": [1e300]}}):
            answer = client.step(**request)
            assert "must be at most" in answer["message"]
            assert answer["time"] == 0.0


@pytest.mark.slow
def test_the_run_is_saved(tmp_path):
    with vi.live(cart_pole(), 0.01, browser=False) as live:
        client = Client(live)
        client.step(until=0.5)
        status, content = client.ask("GET", "/run.h5")
        kept = live.trajectory()
    assert status == 200
    (tmp_path / "run.h5").write_bytes(content)
    assert np.array_equal(vi.load(tmp_path / "run.h5").position, kept.position)


def session_of(live):
    """The data of the live view that its page holds."""
    page = Client(live).ask("GET", "/")[1].decode()
    return json.loads(page.split('<script id="data" type="application/json">')[1].split("</script>")[0])["session"]


@pytest.mark.slow
def test_frames_are_in_memory_once_and_a_part_of_them_while_they_are_saved(monkeypatch):
    room = 4_000_000
    monkeypatch.setattr(live_session, "ROOM", room)
    monkeypatch.setattr(save, "PART", room // 10)
    stepper = vi.Stepper(vi.mechanisms.double_pendulum(), 0.002, every=1)
    session = live_session.LiveSession(stepper, 1, None, None, None)
    session.answer({"epoch": 0, "until": 0.1})
    session.file().close()
    tracemalloc.start()
    try:
        answer = {"message": "", "time": 0.0}
        while not answer["message"]:
            answer = session.answer({"epoch": 0, "from": 10**9, "until": answer["time"] + 1.0})
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        with session.file() as file:
            size = file.seek(0, 2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "frames fill the memory for them, 4 MB" in answer["message"]
    assert 0.8 * room < held < 1.4 * room
    assert size > 0.9 * room
    assert peak < held + 0.6 * room


def test_answers_hold_fewer_frames_where_these_are_large(monkeypatch):
    monkeypatch.setattr(live_session, "ANSWER", 3000)
    with vi.live(vi.mechanisms.double_pendulum(), 0.002, every=1, browser=False) as live:
        answer = Client(live).step(until=0.1)
    assert 0 < answer["count"] < 20
    assert answer["more"]


def test_sliders_know_stops_units_and_ranges():
    arm = vi.Body.rod("arm", (0, 0, 0), (1, 0, 0), mass=2.0)
    hinge = vi.Revolute("hinge", "world", "arm", point=(0, 0, 0), axis=(0, -1, 0))
    forces = [
        vi.JointStop("stop", joint="hinge", lower=-0.5, upper=1.0),
        vi.Motor("motor", joint="hinge", effort=0.0),
        vi.JointServo("servo", joint="hinge", target=0.0, stiffness=1.0),
    ]
    with vi.live(vi.Mechanism("arm", [arm], [hinge], forces=forces), browser=False) as live:
        session = session_of(live)
    (slider,) = session["coordinates"]
    assert (slider["low"], slider["high"], slider["unit"]) == (-0.5, 1.0, "rad")
    motor, servo = session["inputs"]
    assert (motor["unit"], servo["unit"], servo["high"]) == ("N m", "rad", 4.0)
    assert motor["high"] >= 2.0 * 9.81 * 1.0


@pytest.mark.slow
def test_sliders_of_coupled_joints_end_where_the_stops_of_the_other_are_reached():
    fingers = [vi.Body.box(f"finger {k}", (0.1, 0.1, 0.1), mass=0.1, position=(k, 0, 0)) for k in range(2)]
    slides = [vi.Prismatic(f"slide {k}", "world", f"finger {k}", point=(k, 0, 0), axis=(0, 1, 0)) for k in range(2)]
    forces = [
        vi.Equality("mimic", joint_a="slide 0", joint_b="slide 1", factor=-2.0),
        vi.JointStop("stop", joint="slide 0", lower=0.0, upper=0.04),
    ]
    with vi.live(vi.Mechanism("hand", fingers, slides, forces=forces), browser=False) as live:
        one, other = session_of(live)["coordinates"]
    assert (one["low"], one["high"]) == (0.0, 0.04)
    assert (other["low"], other["high"]) == (-0.08, 0.0)


def test_a_stepper_gives_its_last_nodes():
    stepper = vi.Stepper(cart_pole(), 0.01, every=2)
    for steps in (7, 2, 4, 1):
        stepper.step(steps)
        whole = stepper.trajectory()
        for first in range(len(whole.t[whole.t < stepper.time + 1e-9]) - (1 if round(stepper.time / 0.01) % 2 else 0)):
            part = stepper.trajectory(first)
            for name in whole.nodes:
                assert np.array_equal(part.nodes[name], whole.nodes[name][first:]), name
    with pytest.raises(vi.ArgumentError, match="node 8 is not recorded yet: 7 is the last"):
        stepper.trajectory(8)


@pytest.mark.slow
def test_the_page_steps_pauses_resets_and_moves_joints(tmp_path):
    mech = cart_pole()
    with browser(tmp_path) as driver, vi.live(mech, browser=False) as live:
        page = Shown(driver, live.address)
        assert not page.state["playing"]
        page.click("#play")
        page.wait(lambda state: state["playing"] and state["time"] > 0.2)
        page.click("#play")
        paused = page.wait(lambda state: not state["playing"] and state["idle"])
        assert live.trajectory().t[-1] == pytest.approx(paused["end"])
        assert paused["time"] == pytest.approx(paused["end"])
        page.click("#forward")
        on = page.wait(lambda state: state["end"] > paused["end"])
        assert on["frames"] == paused["frames"] + 1
        slide = (
            "const r = document.querySelector(`[data-slider='${arguments[0]}'] input[type=range]`);"
            "r.value = arguments[1]; r.dispatchEvent(new Event('input')); r.dispatchEvent(new Event('change'))"
        )
        driver.execute_script(slide, "motor", 3.0)
        page.wait(lambda state: state["idle"] and live.trajectory().command[-1, 0] == 3.0)
        driver.execute_script(slide, "pivot", 1.0)
        moved = page.wait(lambda state: state["epoch"] == 1 and state["idle"])
        assert (moved["frames"], moved["message"]) == (1, "")
        assert live.trajectory().coordinates["pivot"][0] == pytest.approx(1.0)
        place = np.array([moved["bodies"][body.name] for body in mech.bodies])
        assert place == pytest.approx(live.trajectory().position[0], abs=1e-6)
        page.click("#reset")
        page.wait(lambda state: state["epoch"] == 2 and state["idle"])
        page.check_no_errors()


@pytest.mark.slow
def test_the_command_serves_a_live_view():
    command = [sys.executable, "-m", "varint", "view", "cart_pole", "--live", "--no-open", "--dt", "0.01"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = next(line for line in process.stderr if "http://" in line).split()[0]
            connection = http.client.HTTPConnection(address.removeprefix("http://").rstrip("/"), timeout=30)
            body = json.dumps({"from": 0, "epoch": 0, "until": 0.1})
            connection.request("POST", "/step", body, {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())
            assert answer["time"] == pytest.approx(0.1)
            assert decoded(answer["t"], "<f8", answer["count"])[-1] == pytest.approx(0.1)
        finally:
            process.terminate()
            process.wait(60)


BAR = ("back", "play", "forward", "scrub", "clock", "speed", "reset", "save", "record")


@pytest.mark.slow
def test_the_live_view_fits_a_phone(tmp_path):
    """390 px wide: one row of buttons below the slider of time, sliders within the window, a long message boxed."""
    with browser(tmp_path) as driver, vi.live(vi.mechanisms.jansen_leg(), browser=False) as live:
        metrics = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        page = Shown(driver, live.address)
        page.wait(lambda state: state["idle"])
        find = driver.execute_script
        find(
            "const r = document.querySelector('[data-slider=\"upper pivot\"] input[type=number]');"
            "r.value = 3; r.dispatchEvent(new Event('change'))"
        )
        page.wait(lambda state: state["idle"] and "upper pivot" in state["message"])
        box = "const b = arguments[0].getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom]"
        boxes = [find(box, find("return document.getElementById(arguments[0])", name)) for name in BAR]
        for k, (left, right, top, bottom) in enumerate(boxes):
            assert 0 <= left < right <= 390, BAR[k]
            assert 0 <= top < bottom <= 844, BAR[k]
            for other in boxes[:k]:
                assert right <= other[0] or other[1] <= left or bottom <= other[2] or other[3] <= top, BAR[k]
        buttons = [boxes[BAR.index(name)] for name in ("back", "play", "forward", "reset", "save", "record")]
        assert len({round(top) for _, _, top, _ in buttons}) == 1
        for row in find("return [...document.querySelectorAll('[data-slider] input')]"):
            left, right, *_ = find(box, row)
            assert 0 <= left < right <= 390
        notes = find(box, find("return document.getElementById('notes')"))
        assert notes[3] - notes[2] < 0.25 * find("return document.getElementById('stage').clientHeight") + 20
        assert find("return document.documentElement.scrollWidth") <= 390
        page.check_no_errors()
