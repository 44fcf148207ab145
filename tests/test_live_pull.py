"""A body of a live view that the pointer pulls: where it goes, what is recorded, what is refused."""

import numpy as np
import pytest
from browser import Shown, browser
from test_live_view import Client
from test_view_shapes import mouse

import varint as vi
from varint.extras.live.pull import Pull, PulledStepper
from varint.model.rotation_vectors import rotation_matrix


def pendulum(mass=1.0):
    """A rod of 1 m from its hinge, with a damper, at rest."""
    rod = vi.Body.rod("rod", (0, 0, 0), (0, 0, -1), mass=mass, radius=0.02)
    hinge = vi.Revolute("hinge", "world", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    damper = vi.TorsionSpring("damper", joint="hinge", stiffness=0.0, damping=0.1 * mass)
    return vi.Mechanism("pendulum", [rod], [hinge], forces=[damper])


def place_of(run, body, point):
    """Places (T, 3) of a point of a body, m, world."""
    number = run.mechanism.body_index[body]
    return run.position[:, number] + rotation_matrix(run.quat_wxyz[:, number]) @ np.array(point)


def pulled(live, seconds, pull, every=1 / 30):
    """Step a live view while its page pulls; return messages."""
    client, answer, messages = Client(live), {"time": 0.0}, []
    while answer["time"] < seconds - 1e-9:
        answer = client.step(10**6, until=answer["time"] + every, pull=pull)
        messages.append(answer["message"])
    return messages


TIP = {"body": "rod", "point": [0, 0, -0.5], "to": [0.8, 0.3, -0.6]}


@pytest.mark.parametrize("mass", [0.01, 1.0, 100.0])
def test_a_point_goes_to_the_pointer_as_fast_for_any_mass(mass):
    """But for its weight; across the plane in which it can move nothing happens."""
    mech = vi.Mechanism("light", pendulum(mass).bodies, pendulum(mass).joints, gravity=(0, 0, 0))
    local = [0, 0, 0.5 if rod_is_up(mech) else -0.5]
    with vi.live(mech, browser=False) as live:
        assert not any(pulled(live, 2.0, {**TIP, "point": local}))
        tip = place_of(live.trajectory(), "rod", local)
    assert tip[-1] == pytest.approx([0.8, 0.0, -0.6], abs=0.01)
    assert tip[20, 0] == pytest.approx(0.5, abs=0.25)
    assert np.abs(tip[:, 1]).max() < 1e-9


def rod_is_up(mech):
    """Whether the z of the rod's body points to its hinge's side."""
    axes = rotation_matrix(mech.bodies[0].quat_wxyz)
    return bool((axes @ [0, 0, 1])[2] < 0)


@pytest.mark.parametrize("method", [0.002, vi.Reduced("rk4", dt=0.002)], ids=["maximal", "reduced"])
def test_the_pull_is_recorded_as_a_load_whose_work_is_the_energy(method, tmp_path):
    mech = vi.mechanisms.cart_pole(angle=0.3)
    with vi.live(mech, method, browser=False) as live:
        pull = {"body": "pole", "point": [0, 0, 0], "to": [0.4, 0, 0.1]}
        assert not any(pulled(live, 0.5, pull))
        Client(live).step(10**6, until=0.8)
        run = live.trajectory()
    pole = mech.body_index["pole"]
    assert np.abs(run.load[1:30, pole, :3]).max() > 0.1
    assert np.abs(run.load[35:]).max() == 0.0
    assert not run.load[0].any()
    power = (run.load[:, pole, :3] * run.velocity[:, pole]).sum(axis=1)
    power += (run.load[:, pole, 3:] * run.angular_velocity[:, pole]).sum(axis=1)
    work = np.trapezoid(power, run.t)
    assert run.energy[-1] - run.energy[0] == pytest.approx(work, rel=0.03)
    run.save(tmp_path / "run.h5")
    assert np.array_equal(vi.load(tmp_path / "run.h5").load, run.load)


def test_without_a_pull_a_live_view_steps_as_a_run():
    mech = vi.mechanisms.four_bar()
    with vi.live(mech, 0.001, every=10, browser=False) as live:
        pulled(live, 0.2, None)
        run = live.trajectory()
    whole = vi.simulate(mech, 0.2, 0.001, every=10)
    assert run.position == pytest.approx(whole.position, abs=1e-11)
    assert not run.load.any()


def test_a_loop_stays_closed_while_it_is_pulled():
    mech = vi.mechanisms.four_bar()
    with vi.live(mech, browser=False) as live:
        pulled(live, 0.3, {"body": mech.bodies[1].name, "point": [0, 0, 0], "to": [0.5, 0.2, 0.5]})
        run = live.trajectory()
    assert run.drift.max() < 1e-9
    assert run.load.any()


def test_what_cannot_move_is_told_and_the_rest_goes_on():
    with vi.live(vi.mechanisms.spinning_beam(), browser=False) as live:
        messages = pulled(live, 0.1, {"body": "hub", "point": [0, 0, 0], "to": [1, 0, 1]})
        assert messages[0] == "body 'hub' cannot be pulled there: its joints hold it"
        assert live.trajectory().t[-1] >= 0.1


@pytest.mark.parametrize(
    ("pull", "words"),
    [
        ([], "pull must be a dict"),
        ({"body": "rod"}, "pull must have body, point and to, got body"),
        ({**TIP, "body": "rot"}, "there is no body 'rot'"),
        ({**TIP, "body": 3}, "there is no body"),
        ({**TIP, "point": [0, 0]}, "point of pull"),
        ({**TIP, "to": [0, 0, "x"]}, "to of pull"),
        ({**TIP, "to": [0, 0, 1e300]}, "to of pull"),
    ],
)
def test_wrong_pulls_are_messages(pull, words):
    with vi.live(pendulum(), browser=False) as live:
        answer = Client(live).step(until=0.1, pull=pull)
        assert words in answer["message"], answer["message"]
        assert live.trajectory().t[-1] == 0.0


def test_loads_ramp_from_step_to_step():
    mech = pendulum()
    stepper = PulledStepper(mech, vi.Variational(dt=0.01, on_unresolved="ignore"), every=1)
    load = np.zeros((1, 6))
    load[0, 0] = 4.0
    stepper.pull(load, 4)
    stepper.step(6)
    stepper.pull(0 * load, 2)
    stepper.step(3)
    found = stepper.trajectory().load[:, 0, 0]
    assert found == pytest.approx([0, 1, 2, 3, 4, 4, 4, 2, 0, 0])


def test_a_pull_starts_without_a_force():
    mech = pendulum()
    pull = Pull(mech, "rod", np.zeros(3), np.array([5.0, 0, 0]))
    assert not pull.load(mech.state(), 0.016).any()
    assert pull.load(mech.state(), 0.016).any()


@pytest.mark.slow
def test_the_pointer_drags_a_body(tmp_path):
    """While it plays; the camera stays, and turns again where there is no body, or after a pause."""
    with browser(tmp_path) as driver, vi.live(pendulum(), browser=False) as live:
        page = Shown(driver, live.address)
        page.click("#play")
        seen = page.wait(lambda state: state["time"] > 0.2)
        x, y = seen["screen"]["rod"]
        mouse(driver, "mousePressed", x, y)
        held = page.wait(lambda state: state["pull"] is not None)
        assert held["pull"]["body"] == "rod"
        for k in range(1, 11):
            mouse(driver, "mouseMoved", x + 12 * k, y)
        page.wait(lambda state: state["bodies"]["rod"][0] > 0.1)
        assert page.state["camera"] == pytest.approx(seen["camera"], abs=1e-6)
        mouse(driver, "mouseReleased", x + 120, y)
        page.wait(lambda state: state["pull"] is None)
        assert np.abs(live.trajectory().load).max() > 0.1
        page.wait(lambda state: state["time"] > page.state["time"] or state["bodies"]["rod"][0] < 0.05)
        page.click("#play")
        paused = page.wait(lambda state: not state["playing"] and state["idle"])
        x, y = paused["screen"]["rod"]
        mouse(driver, "mousePressed", x, y)
        mouse(driver, "mouseMoved", x + 60, y)
        mouse(driver, "mouseReleased", x + 60, y)
        turned = page.wait(lambda state: np.abs(np.subtract(state["camera"], paused["camera"])).max() > 0.1)
        assert turned["pull"] is None
        page.check_no_errors()


@pytest.mark.slow
def test_the_live_view_refits(tmp_path):
    """A body that floats away beside one that is followed stays within the picture."""
    bodies = [vi.Body.sphere(name, 0.1, 1.0, position=(x, 0, 0)) for name, x in (("a", 0.0), ("b", 0.5))]
    joints = [vi.Free(f"{body.name} floats", "world", body.name, point=body.position) for body in bodies]
    mech = vi.Mechanism("two", bodies, joints, gravity=(0, 0, 0), start={"rates": {"b floats": [2, 0, 1, 0, 0, 0]}})
    with browser(tmp_path) as driver, vi.live(mech, browser=False) as live:
        page = Shown(driver, live.address)
        first = page.state
        page.click("#play")
        later = page.wait(lambda state: state["time"] > 1.5 and max(state["spread"]) <= 1.0)
        assert np.linalg.norm(np.subtract(later["camera"], later["target"])) > 1.5 * np.linalg.norm(
            np.subtract(first["camera"], first["target"])
        )
        page.check_no_errors()
