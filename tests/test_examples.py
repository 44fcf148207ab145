"""The scripts in examples/ run, and do what they claim."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from PIL import Image
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import varint as vi

EXAMPLES = Path(__file__).parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))

import arm_against_mujoco  # noqa: E402
import cart_pole_swing_up  # noqa: E402
import chaos  # noqa: E402
import clock  # noqa: E402
import foot_path  # noqa: E402
import four_bar  # noqa: E402
import net_between_carts  # noqa: E402
import starfish  # noqa: E402

GRAVITY = 9.81
NOTEBOOKS = "needs nbclient, of the extra varint-dynamics[test-all]"


@cache
def shared_run(example):
    return example.run()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "words"),
    [(cart_pole_swing_up, "caught for good at"), (clock, "it ticks every"), (foot_path, "the foot keeps to its path")],
)
def test_prints_and_draws(example, words, monkeypatch, tmp_path, capsys):
    kept = shared_run(example)
    monkeypatch.setattr(example, "run", lambda: kept)
    example.main(tmp_path / "picture.png")
    assert words in capsys.readouterr().out
    assert matplotlib.image.imread(tmp_path / "picture.png").std() > 0.01


@pytest.mark.slow
def test_pole_stands():
    """Swung up from hanging in several swings, and balanced for the last four seconds."""
    run = shared_run(cart_pole_swing_up)
    angle, cart = cart_pole_swing_up.from_upright(run), run.coordinates["track"]
    assert abs(angle[0]) > 3.0
    swings = np.flatnonzero(np.diff(np.sign(run.angular_velocity[run.t < 5.0, 1, 1])))
    assert len(swings) >= 4
    assert abs(cart).max() < 0.6
    standing = run.t > 8.0
    assert abs(angle[standing]).max() < 0.05
    assert abs(angle[-1]) < 1e-3
    assert abs(cart[-1]) < 1e-2
    assert abs(run.energy_balance).max() < 0.01 * run.kinetic.max()


def test_foot_follows():
    """To a millimetre all the way round, three times, at the angles of inverse kinematics."""
    run = shared_run(foot_path)
    place, wanted = foot_path.foot(run), foot_path.path(run.t)
    assert np.linalg.norm(place - wanted, axis=1).max() < 1e-3
    turns = np.unwrap(np.arctan2(*((place - foot_path.CENTRE) / foot_path.HALF).T[::-1]))
    assert turns[-1] - turns[0] == pytest.approx(6 * np.pi, abs=0.05)
    angles = vi.mechanisms.module("minitaur_leg").hip_angles(place)
    for number, hip in enumerate(foot_path.HIPS):
        np.testing.assert_allclose(run.coordinates[hip], angles[:, number], atol=1e-9)


@pytest.mark.slow
def test_clock_settles():
    """On the cycle in which the stops take what the impulses give; from a wilder start on the same one."""
    run = shared_run(clock)
    kinetic, period = settled_clock()
    for trajectory in (run, clock.run(angle=0.0, rate=3.0, duration=4.5)):
        times, at_mid_swing = clock.ticks(trajectory)
        assert at_mid_swing[-3:].mean() == pytest.approx(kinetic, rel=0.008)
        assert np.diff(times)[-3:].mean() == pytest.approx(period, rel=0.005)
        assert abs(trajectory.energy_balance).max() < 1e-3 * trajectory.kinetic.max()
    at = np.searchsorted(run.t, clock.ticks(run)[0][-4:])
    given, taken = (-np.diff(run.dissipated["motor"][at]), np.diff(run.dissipated["bank"][at]))
    assert given == pytest.approx(4 * clock.EFFORT * clock.WINDOW, rel=0.02)  # two impulses a period
    assert taken.mean() == pytest.approx(given.mean(), rel=0.01)


def settled_clock():
    """Kinetic energy at mid-swing (J) and period (s) of the limit cycle, from the pendulum's equation of motion."""
    mechanism = vi.mechanisms.escapement()
    body, stop = mechanism.bodies[0], mechanism.force("bank")
    arm, bank = -body.position[2], stop.upper
    moment, weight = body.inertia[1, 1] + body.mass * arm**2, body.mass * GRAVITY * arm
    impulse = clock.EFFORT * 2 * clock.WINDOW

    def until(angle, start):
        """Time and rate at which the pendulum comes to an angle from a start (angle, rate)."""

        def motion(_, y):
            stopping = min(0.0, -stop.stiffness * (y[0] - bank) - stop.damping * y[1]) if y[0] > bank else 0.0
            drive = np.copysign(clock.EFFORT, y[1]) if abs(y[0]) < clock.WINDOW else 0.0
            return y[1], (stopping + drive - weight * np.sin(y[0])) / moment

        def there(_, y):
            return y[0] - angle

        there.terminal, there.direction = True, angle - start[0] or -1.0
        found = solve_ivp(motion, (0, 1), start, events=there, rtol=1e-8, atol=1e-11, max_step=2e-3)
        return found.t[-1], found.y[1, -1]

    def gain(rate):
        """Kinetic energy gained from one stop to the other, J."""
        return 0.5 * moment * (until(bank, (bank, rate))[1] ** 2 - rate**2) + impulse

    arriving = brentq(gain, 0.5, 3.0, xtol=1e-6)
    contact, leaving = until(bank, (bank, arriving))
    swing, _ = until(-bank, (bank, leaving))
    kinetic = 0.5 * moment * leaving**2 + weight * (1 - np.cos(bank)) + 0.5 * impulse
    return kinetic, 2 * (contact + swing)


def test_foot_out_of_reach():
    with pytest.raises(vi.MechanismError, match=r"0\.1 to 0\.3 m"):
        vi.mechanisms.module("minitaur_leg").hip_angles([[0.0, -0.2], [0.0, -0.31]])


@pytest.mark.slow
def test_arm_falls_as_in_mujoco(capsys):
    """Two programs, the same angles: at a step of 1 ms both are of order 4."""
    arm_against_mujoco.main()
    assert capsys.readouterr().out.count("angles agree to") == 4
    ours, (angles, rates) = arm_against_mujoco.run(), arm_against_mujoco.run_mujoco()
    for k, name in enumerate(arm_against_mujoco.START):
        assert np.ptp(angles[:, k]) > 0.5
        assert ours.coordinates[name] == pytest.approx(angles[:, k], abs=1e-5)
        assert ours.rates[name] == pytest.approx(rates[:, k], abs=1e-4)


@pytest.mark.slow
def test_chaos_and_order():
    """Neighbours part slowly from an orderly start and fast from a wild one; orderly sections are closed curves."""
    assert chaos.lyapunov(0.4, 0.5, pieces=40)[-1] < 0.2
    assert chaos.lyapunov(2.0, 2.6, pieces=40)[-1] > 1.0
    orderly = chaos.poincare(0.4, 0.5, duration=200.0)
    middle = 0.5 * (orderly.min(axis=0) + orderly.max(axis=0))
    angle, rate = (orderly - middle).T / np.ptp(orderly, axis=0)[:, None]
    radius = np.hypot(angle, rate)
    assert radius.min() > 0.35  # nothing inside of it
    assert np.histogram(np.arctan2(rate, angle), 6)[0].min() > 0  # all the way round


def test_box_turns_over_on_time():
    """Every half period of Jacobi's solution."""
    _, times = chaos.turnovers()
    assert np.diff(times) == pytest.approx(vi.mechanisms.module("free_body").EXPECTED["period"] / 2, rel=1e-4)


@pytest.mark.slow
def test_four_bar_over_a_turn(tmp_path, capsys):
    """In at most 40 lines; it swings as its lengths say, and its drive gives as much as it takes."""
    assert len((EXAMPLES / "four_bar.py").read_text().splitlines()) <= 40
    four_bar.main(tmp_path)
    assert "the rocker swings by 39.96 degrees" in capsys.readouterr().out
    ends = [four_bar.COUPLER + four_bar.CRANK, four_bar.COUPLER - four_bar.CRANK]  # crank and coupler in line
    sides = four_bar.ROCKER**2 + four_bar.GROUND**2
    dead_ends = [np.arccos((sides - end**2) / (2 * four_bar.ROCKER * four_bar.GROUND)) for end in ends]
    run = vi.simulate(four_bar.mech, four_bar.TURN, 0.001)
    assert np.ptp(run.coordinates["rocker pivot"]) == pytest.approx(dead_ends[0] - dead_ends[1], abs=1e-5)
    assert run.rates["crank pivot"] == pytest.approx(2 * np.pi / four_bar.TURN, abs=1e-9)
    torque, power = run.force["drive"], run.power["drive"]
    assert power == pytest.approx(torque * 2 * np.pi / four_bar.TURN)
    assert abs(power[:-1].mean()) < 1e-3 * abs(power).max()
    assert abs(run.energy_balance).max() < 1e-4 * np.ptp(run.energy)
    table = np.genfromtxt(tmp_path / "turn.csv", delimiter=",", names=True, deletechars="")
    assert table["drive_effort_(N_m)"] == pytest.approx(torque, abs=1e-9)
    with Image.open(tmp_path / "turn.gif") as moving:
        assert moving.n_frames > 20
    assert {path.name for path in tmp_path.iterdir()} == {"turn.csv", "turn.pdf", "curve.png", "turn.gif"}


@pytest.mark.slow
def test_own_integrators_have_their_orders(monkeypatch, tmp_path, capsys):
    import own_integrator  # builds its mechanism when it is imported

    monkeypatch.setattr(own_integrator, "DURATION", 0.4)
    found = own_integrator.run()
    monkeypatch.setattr(own_integrator, "run", lambda: found)
    own_integrator.main(tmp_path / "picture.png")
    assert "| heun " in capsys.readouterr().out
    assert matplotlib.image.imread(tmp_path / "picture.png").std() > 0.01
    orders = {series.name: series.order.position for series in found.series}
    assert orders["heun"] == pytest.approx(2.0, abs=0.1)
    assert orders["verlet"] == pytest.approx(1.0, abs=0.25)
    assert orders["VI order 4"] == pytest.approx(4.0, abs=0.1)


@pytest.mark.slow
def test_notebook_runs_and_shows():
    """Without a display; mechanism, diagnosis, run, comparison and table show as tables, plots as pictures."""
    nbclient, nbformat = pytest.importorskip("nbclient", reason=NOTEBOOKS), pytest.importorskip("nbformat")
    notebook = nbformat.read(EXAMPLES / "class.ipynb", 4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output]
    assert sum("text/html" in output["data"] for output in shown) >= 6
    assert sum("image/png" in output["data"] for output in shown) >= 4
    sizes = [len(str(value)) for output in shown for kind, value in output["data"].items() if kind != "image/png"]
    assert max(sizes) < 20_000


@pytest.mark.slow
def test_notebook_with_sliders_draws():
    """Each control is a widget, whose last child holds the picture; the first is the page of a run."""
    pytest.importorskip("ipywidgets", reason="needs varint-dynamics[notebook]")
    nbclient, nbformat = pytest.importorskip("nbclient", reason=NOTEBOOKS), pytest.importorskip("nbformat")
    notebook = nbformat.read(EXAMPLES / "sliders.ipynb", 4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    kind = "application/vnd.jupyter.widget-view+json"
    boxes = [output["data"][kind]["model_id"] for output in outputs if kind in output.get("data", {})]
    state = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    children = [[each.removeprefix("IPY_MODEL_") for each in state[box]["state"]["children"]] for box in boxes]
    assert [len(each) for each in children] == [6, 5, 3]
    pictures = [state[each[-1]]["state"]["value"] for each in children]
    assert [picture.count("srcdoc=") for picture in pictures] == [1, 0, 0]
    assert [picture.count("data:image/png") for picture in pictures] == [0, 2, 1]
    assert [state[each]["state"]["value"] for each in children[0][:-1]] == [0.3, 1.0, 0.9, 1.0, 6.283185307179586]
    (printed,) = [output["text"] for output in outputs if output.get("name") == "stdout"]
    assert printed == "crank 0.3 m: the rocker swings by 43.3 degrees\n"


@pytest.mark.long
@pytest.mark.slow
def test_shell_script_reads_what_the_command_prints():
    script = EXAMPLES / "step_study.sh"
    programs = {"VARINT": str(Path(sys.executable).with_name("varint")), "PYTHON": sys.executable}
    environment = os.environ | programs

    def study(*arguments):
        return subprocess.run(["sh", script, *arguments], env=environment, capture_output=True, text=True)

    done = study("four_bar", "1")
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    steps, errors = np.array([row.split()[:2] for row in rows], dtype=float).T
    assert head.split()[:2] == ["dt", "(s)"]
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx(np.log2(steps[:-1] / steps[1:]) * 2, abs=0.2)
    wrong = study("nosuch")
    assert wrong.returncode == 2
    assert "no mechanism 'nosuch'" in wrong.stderr


@pytest.mark.slow
def test_starfish_bends(monkeypatch, tmp_path, capsys):
    """Twenty joints in flesh of some hundred vertices; what moves it is inside, so it has no momentum."""
    monkeypatch.setattr(starfish, "DURATION", 0.2)
    starfish.main(tmp_path / "starfish.png")
    assert "420 vertices, 828 tetrahedra, 20 joints" in capsys.readouterr().out
    assert matplotlib.image.imread(tmp_path / "starfish.png").std() > 0.01
    run = starfish.run()
    assert np.ptp(run.vertices["flesh"][-1][:, 2]) > 0.04
    for momentum in (run.linear_momentum, run.angular_momentum):
        assert np.abs(momentum).max() < 1e-12


@pytest.mark.slow
def test_a_net_draws_two_carts_together(monkeypatch, tmp_path, capsys):
    """By as much from both sides; the energy of all is what damping leaves."""
    monkeypatch.setattr(net_between_carts, "DURATION", 0.6)
    net_between_carts.main(tmp_path / "net.png")
    assert "the carts move by up to" in capsys.readouterr().out
    assert matplotlib.image.imread(tmp_path / "net.png").std() > 0.01
    run = net_between_carts.run()
    left, right = run.coordinates["left track"], run.coordinates["right track"]
    assert left[-1] > 0.05
    assert np.abs(left + right).max() < 1e-9
    falls = run.vertices["net"][:, :, 2].mean(axis=1)
    assert falls[-1] < -0.1
    assert np.abs(run.energy_balance).max() < 0.01 * run.kinetic.max()
    assert run.energy[-1] - run.energy[0] == pytest.approx(run.work[-1, 0], abs=0.01 * run.kinetic.max())
