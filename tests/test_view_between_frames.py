"""The motion that a page shows between frames that are far apart, as those of long steps are."""

import numpy as np
import pytest
from browser import Shown, browser
from test_view import data_of, decoded

import varint as vi

POSES = """
const [position, quaternion] = [new THREE.Vector3(), new THREE.Quaternion()];
return arguments[0].map((time) => data.bodies.map((_, body) => {
  motion.pose(body, motion.at(time), position, quaternion);
  return [...position.toArray(), quaternion.w, quaternion.x, quaternion.y, quaternion.z];
}));
"""


def run_of(mechanism, duration, dt, **start):
    state = mechanism.state(**start) if start else None
    return vi.simulate(vi.Problem(mechanism, duration, state), vi.Lobatto(dt, order=8, on_unresolved="ignore"))


def test_velocities_come_where_lines_do_not_show_the_motion():
    linkage = vi.mechanisms.four_bar()
    assert data_of(run_of(linkage, 0.1, 0.002).view().html)["frames"]["velocities"] is None
    run = run_of(linkage, 0.5, 0.05)
    found = data_of(run.view().html)["frames"]["velocities"]
    values = decoded(found["values"], "<i2", len(run), 3, 6) / 32767
    assert values[..., :3] * found["scale"] == pytest.approx(run.velocity, abs=1e-4 * found["scale"])
    assert values[..., 3:] * found["turning"] == pytest.approx(run.angular_velocity, abs=1e-4 * found["turning"])
    assert not found["strikes"]
    assert data_of(run[:1].view().html)["frames"]["velocities"] is not None  # as of a page that gets frame by frame


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


def shown_at(driver, path, run, times):
    """Poses (K, nb, 7) that the page of a run shows."""
    run.view(path)
    page = Shown(driver, path.as_uri())
    poses = driver.execute_script(POSES, times.tolist())
    page.check_no_errors()
    return np.array(poses)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "error"), [("four_bar", 2e-3), ("jansen_leg", 1e-3)])
def test_long_steps_at_sixty_frames_a_second(driver, tmp_path, name, error):
    """Bodies turn by 0.8 rad a step of 50 ms: against a run that records these times, by steps of its own."""
    mechanism, times = getattr(vi.mechanisms, name)(), np.arange(61) / 60
    run = run_of(mechanism, 1.0, 0.05)
    method = vi.Lobatto(0.05, order=8, on_unresolved="ignore")
    exact = vi.simulate(vi.Problem(mechanism, 1.0), method, vi.Recording(output_times=times))
    found = shown_at(driver, tmp_path / "run.html", run, times)
    np.testing.assert_allclose(found[..., :3], exact.position, rtol=0, atol=error)
    along = np.abs(np.sum(found[..., 3:] * exact.quat_wxyz, axis=-1))
    assert 2 * np.arccos(np.minimum(along, 1.0)).max() < 6e-3
    lines = np.array([[np.interp(times, run.t, each) for each in body] for body in run.position.T.swapaxes(0, 1)])
    assert np.abs(lines.transpose(2, 0, 1) - exact.position).max() > 8 * error


@pytest.mark.slow
def test_frames_alone_where_a_body_turns_too_far_between(driver, tmp_path):
    """By 5 rad a step, of which poses show 1.28 back."""
    wheel = vi.Mechanism(
        "wheel",
        [vi.Body.cylinder("disc", 0.3, 0.1, 1.0)],
        [vi.Revolute("axle", "world", "disc", point=(0, 0, 0), axis=(0, 0, 1))],
    )
    run = run_of(wheel, 1.0, 0.1, rates={"axle": 50.0})
    found = shown_at(driver, tmp_path / "run.html", run, np.array([0.0, 0.05, 0.099, 0.1]))
    np.testing.assert_allclose(found[:3, 0, 3:], np.broadcast_to(found[0, 0, 3:], (3, 4)), atol=1e-12)
    assert np.abs(found[3] - found[0]).max() > 0.1


@pytest.mark.slow
def test_a_ball_that_strikes_between_frames_is_not_shown_in_the_ground(driver, tmp_path):
    ball = vi.Mechanism(
        "ball",
        [vi.Body.sphere("ball", 0.1, 1.0, position=(0, 0, 1.0))],
        [vi.Free("free", "world", "ball")],
        forces=[vi.HardContact("ground", body="ball", radius=0.1, restitution=0.8)],
    )
    run, times = run_of(ball, 2.0, 0.05), np.arange(481) / 240
    found = shown_at(driver, tmp_path / "run.html", run, times)
    exact = 0.1 - found[:, 0, 2].min()
    assert exact < 0.02  # of the 0.2 m that the ball moves in a step


@pytest.mark.parametrize(("frames", "curved"), [(501, True), (41, False)])
def test_frames_that_miss_swings_are_joined_by_lines(frames, curved):
    """Curves with the velocities of frames far apart would swing beyond the motion."""
    slide = vi.Prismatic("slide", "world", "load", point=(0, 0, 0), axis=(0, 0, 1))
    spring = vi.TorsionSpring("spring", joint="slide", stiffness=(20 * np.pi) ** 2)  # ten periods a second
    load = vi.Body.box("load", (0.1, 0.1, 0.1), 1.0)
    mechanism = vi.Mechanism("oscillator", [load], [slide], forces=[spring], gravity=(0, 0, 0))
    run = vi.simulate(mechanism, 4.71, 0.001, state=mechanism.state(coordinates={"slide": 0.01}), order=4)
    velocities = data_of(run.view(frames=frames).html)["frames"]["velocities"]
    assert (velocities is not None) == curved
