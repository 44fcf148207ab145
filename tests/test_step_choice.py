"""`choose_step` and ``dt="auto"``: the energy error that comes of them, what is told, what is refused."""

import json
import re

import numpy as np
import pytest

import varint as vi
from varint.cli import main
from varint.methods.variational.schemes import SCHEMES

REGULAR = (
    "bennett", "bricard", "cart_pole", "double_pendulum", "four_bar", "governor", "n_pendulum", "peaucellier",
    "roller_coaster", "sarrus", "slider_crank", "spinning_top",
)  # fmt: skip
DURATION, LONGER = 10.0, 2  # s; times as long as the run that the step was chosen for
WANTED = (1e-3, 1e-5, 1e-7)
SWING = {"rates": {"pivot": 3.0}}


def pendulum(**more):
    """0.3 kg m on a hinge; swings to 59 degrees."""
    body = vi.Body.box("bob", size=(0.1, 0.1, 1.0), mass=1.0, position=(0, 0, -0.5))
    pivot = vi.Revolute("pivot", "world", "bob", point=(0, 0, 0), axis=(0, 1, 0))
    return vi.Mechanism("pendulum", [body], [pivot], start=SWING, **more)


def before_a_stop():
    """The same with a hard stop that it does not reach, with which `varint.Lobatto` is not chosen."""
    return pendulum(forces=[vi.JointStop("stop", joint="pivot", upper=3.0)])


def error_of(run):
    return np.abs(run.energy_balance).max() / run.kinetic.max()


def achieved(mechanism, found, duration):
    return error_of(vi.simulate(vi.Problem(mechanism, duration), found.method))


@pytest.mark.slow
@pytest.mark.long
def test_errors_of_longer_runs_are_as_wanted_over_the_catalogue():
    ratios = {}
    for name in REGULAR:
        mechanism = getattr(vi.mechanisms, name)()
        for wanted in WANTED:
            found = vi.choose_step(mechanism, DURATION, energy_error=wanted)
            ratios[name, wanted] = achieved(mechanism, found, LONGER * DURATION) / wanted
    values = np.array(list(ratios.values()))
    assert (values <= 1.0).mean() >= 0.9, ratios
    assert values.max() <= 10.0, ratios
    assert np.median(values) > 0.02, ratios  # nor are steps much smaller than need be


@pytest.mark.slow
@pytest.mark.parametrize("wanted", WANTED)
def test_errors_are_as_wanted_and_not_much_smaller(wanted):
    mechanism = vi.mechanisms.four_bar()
    found = vi.choose_step(mechanism, DURATION, energy_error=wanted)
    assert 0.01 * wanted < achieved(mechanism, found, LONGER * DURATION) <= wanted
    assert found.expected_error <= wanted / 3


@pytest.mark.slow
def test_the_same_arguments_give_the_same_bits():
    first, second = (vi.choose_step(pendulum(), 3.0, energy_error=1e-6) for _ in range(2))
    assert (first.dt, first.scheme, first.cost, first.reason) == (second.dt, second.scheme, second.cost, second.reason)


def test_the_step_of_order_2_goes_by_the_root_of_the_error():
    coarse, fine = (vi.choose_step(pendulum(), 5.0, energy_error=e, order=2) for e in (1e-3, 1e-5))
    assert (coarse.scheme, fine.scheme) == ("rattle", "rattle")
    assert coarse.dt / fine.dt == pytest.approx(10.0, rel=0.5)
    assert 5.0 / fine.dt == pytest.approx(round(5.0 / fine.dt), abs=1e-6)


def test_a_named_scheme_is_kept():
    assert vi.choose_step(pendulum(), 5.0, scheme="kahan-li").scheme == "kahan-li"
    assert vi.choose_step(pendulum(), 5.0, order=4).order == 4


@pytest.mark.slow
def test_the_cheapest_is_taken_and_the_reason_shows_the_trials():
    found = vi.choose_step(vi.mechanisms.double_pendulum(), 5.0, energy_error=1e-5)
    rows = re.findall(r"^([\w-]+(?: \d+)?)  +([\d.e-]+) +([\d.e-]+) +([\d.e+]+)(  chosen)?$", found.reason, re.M)
    assert len({scheme for scheme, *_ in rows}) >= 5
    margins = {scheme: 3.0 * 1.4 ** int(scheme.removeprefix("lobatto ")) for scheme, *_ in rows if "lobatto" in scheme}
    good = [(float(cost), name) for name, _, error, cost, _ in rows if float(error) <= 1e-5 / margins.get(name, 3.0)]
    assert margins
    assert min(good)[1] == found.scheme
    assert [scheme for scheme, *_, note in rows if note] == [found.scheme]
    tight = vi.choose_step(vi.mechanisms.double_pendulum(), 5.0, energy_error=1e-9)
    assert tight.order > vi.choose_step(vi.mechanisms.double_pendulum(), 5.0, energy_error=1e-2).order


@pytest.mark.slow
def test_a_run_with_dt_auto_says_what_was_chosen(capsys):
    run = vi.simulate(before_a_stop(), 5.0, energy_error=1e-6)
    told, chosen = capsys.readouterr().err, run.settings["chosen"]
    assert re.search(rf"^varint: dt = .*\({run.settings['scheme']}\) .* energy error of 1e-06: .*$", told, re.MULTILINE)
    assert chosen["energy_error"] == 1e-6
    assert "Trial runs of 'pendulum'" in chosen["reason"]
    assert error_of(run) <= 1e-6
    found = vi.choose_step(before_a_stop(), 5.0, energy_error=1e-6)
    assert (run.settings["dt"], run.settings["scheme"]) == (found.dt, found.scheme)
    assert found.method.arguments() == vi.Variational.arguments()
    assert vi.simulate(before_a_stop(), 5.0, dt="auto").settings["chosen"]["energy_error"] == 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("wanted", WANTED)
def test_trees_of_hinges_run_by_collocation_where_that_is_cheaper(wanted, capsys):
    """At a cost, in evaluations, below that of the cheapest scheme, and with the error of longer runs as wanted."""
    mechanism = vi.mechanisms.n_pendulum(n=5, angle=1.57)
    found = vi.choose_step(mechanism, DURATION, energy_error=wanted)
    assert isinstance(found.method, vi.Lobatto)
    assert found.scheme == f"lobatto {found.order}"
    assert (found.method.order, found.method.dt) == (found.order, found.dt)
    assert achieved(mechanism, found, LONGER * DURATION) <= wanted
    run = vi.simulate(mechanism, DURATION, dt="auto", energy_error=wanted)
    assert f"and varint.Lobatto of order {found.order} were chosen" in capsys.readouterr().err
    assert run.settings["formulation"] == "lobatto"
    assert run.settings["chosen"]["reason"] == found.reason
    given = vi.simulate(vi.Problem(mechanism, DURATION), found.method)
    assert np.array_equal(run.position, given.position)
    costs = [vi.choose_step(mechanism, DURATION, energy_error=wanted, order=order).cost for order in (2, 4, 6)]
    assert found.cost < min(costs)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "spinning_top"])
def test_loops_and_other_joints_run_by_collocation_where_that_is_cheaper(name):
    mechanism = getattr(vi.mechanisms, name)()
    found = vi.choose_step(mechanism, DURATION, energy_error=1e-7)
    assert isinstance(found.method, vi.Lobatto)
    assert achieved(mechanism, found, LONGER * DURATION) <= 1e-7


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        {"order": 4},
        {"scheme": "suzuki"},
        {"tol": 1e-11},
        {"on_unresolved": "substep"},
        {"output_times": [0.5]},
        {"force": {"bob": (0.1, 0.0, 0.0)}},
    ],
)
def test_arguments_that_collocation_has_not_keep_the_schemes(arguments):
    run = vi.simulate(pendulum(), 1.0, dt="auto", **arguments)
    assert run.settings["formulation"] == "maximal"
    assert run.settings["chosen"]


def test_studies_take_schemes():
    problem = vi.Problem(pendulum(), 1.0)
    assert vi.Variational(dt="auto").with_step(problem).scheme in SCHEMES


@pytest.mark.slow
@pytest.mark.parametrize("make", [pendulum, before_a_stop])
def test_a_run_goes_on_with_the_step_chosen_for_it(make, tmp_path, capsys):
    path, pendulum = tmp_path / "run.h5", make
    first = vi.simulate(pendulum(), 1.0, dt="auto", energy_error=1e-6, output=path)
    capsys.readouterr()
    run = vi.simulate(pendulum(), 2.5, dt="auto", energy_error=1e-6, output=path, resume=True)
    assert not capsys.readouterr().err  # nothing was chosen
    assert run.settings["dt"] == first.settings["dt"]
    assert run.settings["chosen"] == first.settings["chosen"]
    whole = vi.simulate(vi.Problem(pendulum(), 2.5), vi.choose_step(pendulum(), 1.0, energy_error=1e-6).method)
    assert len(run) == len(whole) > len(first)
    assert np.array_equal(run.position, whole.position)
    for other in ({"energy_error": 1e-5}, {"energy_error": 1e-6, "scheme": "rattle"}):
        with pytest.raises(vi.FileError, match="another run"):
            vi.simulate(pendulum(), 3.0, dt="auto", output=path, resume=True, **other)
    vi.simulate(pendulum(), 1.0, 0.01, output=path, overwrite=True)
    with pytest.raises(vi.ArgumentError, match=r"go on with it by dt=0\.01"):
        vi.simulate(pendulum(), 2.0, dt="auto", output=path, resume=True)


def test_a_step_for_a_mechanism_with_hard_stops():
    stop = vi.JointStop("stop", joint="pivot", lower=-0.2, upper=0.3, restitution=0.8)
    mechanism = pendulum(forces=[stop])
    found = vi.choose_step(mechanism, 3.0, energy_error=1e-3)
    assert achieved(mechanism, found, 6.0) <= 1e-3


@pytest.mark.slow
def test_work_counts_where_energy_does_not_stay():
    damper = vi.TorsionSpring("spring", joint="pivot", stiffness=8.0, damping=0.4)
    motor = vi.Motor("motor", joint="pivot", effort=lambda t, state: 2.0 * np.sin(5 * t))
    for force in (damper, vi.Motor("motor", joint="pivot", effort=3.0)):  # which turns it faster and faster
        mechanism = pendulum(forces=[force])
        found = vi.choose_step(mechanism, 4.0, energy_error=1e-5)
        assert achieved(mechanism, found, 4.0) <= 1e-5
    held = pendulum(forces=[motor])  # an input that is held from node to node does its work all the same
    assert achieved(held, vi.choose_step(held, 4.0, energy_error=1e-3), 4.0) <= 1e-3


@pytest.mark.slow
def test_what_rests_or_keeps_its_energy_at_any_step_is_still_resolved():
    rest = vi.Mechanism("at rest", pendulum().bodies, pendulum().joints)
    assert vi.choose_step(rest, 2.0).dt > 0.01
    free = vi.mechanisms.free_body()
    found = vi.choose_step(free, 5.0)
    fastest = np.linalg.norm(vi.simulate(free, 5.0, 0.01).angular_velocity, axis=2).max()
    assert found.dt * fastest <= 0.5


@pytest.mark.slow
def test_a_fast_spring_is_seen():
    """1000 times as fast as the pendulum, at rest at the start but for its swing."""
    bodies = [*pendulum().bodies, vi.Body.sphere("ball", radius=0.01, mass=0.1, position=(0, 0, -1.0))]
    slide = vi.Prismatic("slide", "bob", "ball", point=(0, 0, -1.0), axis=(0, 0, 1))
    spring = vi.Spring("spring", body_a="bob", body_b="ball", point_a=(0, 0, -0.5), point_b=(0, 0, -1.0), stiffness=1e4)
    mechanism = vi.Mechanism("sprung", bodies, [*pendulum().joints, slide], forces=[spring], start=SWING)
    found = vi.choose_step(mechanism, 2.0, energy_error=1e-6)
    assert found.dt < 2 * np.pi / np.sqrt(1e4 / 0.1)
    assert achieved(mechanism, found, 4.0) <= 1e-6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"dt": "automatic"}, "dt must be a number, s, or 'auto'"),
        ({}, "dt is missing: give a step, s, or energy_error="),
        ({"dt": 0.01, "energy_error": 1e-5}, "leave out dt"),
        ({"dt": "auto", "energy_error": 0.0}, "energy_error must be"),
        ({"dt": "auto", "energy_error": "small"}, "energy_error must be"),
        ({"dt": "auto", "duration": -1.0}, "duration must be"),
        ({"dt": "auto", "duration": 1e-310}, "duration must be at least 1e-50 s for dt='auto', got 1e-310"),
        ({"dt": "auto", "order": 3}, "order must be"),
        ({"dt": "auto", "energy_error": 1e-17}, "energy_error must be from 1e-13"),
        ({"dt": "auto", "energy_error": 2.0}, "to below 1, got 2"),
        (
            {"dt": "auto", "force": {"bob": np.zeros((11, 3))}},
            "force on body 'bob' must be of shape .3,., as one value",
        ),
        ({"dt": "auto", "force": {"bob": [[1.0], [2.0, 3.0]]}}, "force on body 'bob' must be"),
        ({"dt": "auto", "torque": 3}, "torque must be"),
        ({"dt": "auto", "state": 3}, "state must be"),
    ],
)
def test_refused(arguments, said):
    with pytest.raises(vi.ArgumentError, match=said):
        vi.simulate(pendulum(), **{"duration": 1.0} | arguments)


@pytest.mark.slow
def test_the_largest_duration():
    """It divided by the step is infinite."""
    assert vi.choose_step(pendulum(), 1e308).dt > 0.0


@pytest.mark.slow
def test_what_no_trial_reaches_is_refused(monkeypatch):
    monkeypatch.setattr("varint.methods.variational.step_choice.MOST_TRIALS", 1)
    with pytest.raises(vi.ArgumentError, match=r"no step keeps the energy .* to 1e-09: .* the least error was"):
        vi.choose_step(pendulum(), 1.0, energy_error=1e-9)


def test_inputs_with_one_value_a_node_are_refused():
    motor = vi.Motor("motor", joint="pivot", effort=np.zeros(11))
    with pytest.raises(
        vi.ArgumentError, match="motor 'motor' has one input value per node, which trials of steps do not support"
    ):
        vi.choose_step(pendulum(forces=[motor]), 1.0)
    with pytest.raises(vi.ArgumentError, match="energy_error"):
        vi.redmax.simulate(pendulum(), 1.0, 0.01, energy_error=1e-5)


@pytest.mark.slow
def test_the_command_chooses(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["run", "double_pendulum", "--duration", "2", "--energy-error", "1e-5"]
    assert main([*command, "--json", "-o", "run.h5"]) == 0
    out, err = capsys.readouterr()
    found, run = json.loads(out), vi.load("run.h5")
    assert (found["dt"], found["order"]) == (run.settings["dt"], run.settings["order"])
    assert found["wanted_energy_error"] == run.settings["chosen"]["energy_error"] == 1e-5
    assert "were chosen for an energy error of 1e-05" in err
    assert error_of(run) <= 1e-5
    assert main(["info", "run.h5"]) == 0
    assert "chosen for an energy error of" in capsys.readouterr().out
    assert main([*command[:-1], "1e-5", "--duration", "3", "-o", "run.h5", "--resume"]) == 0
    assert vi.load("run.h5").settings["dt"] == run.settings["dt"]
    for wrong, message in {("--dt", "0.01"): "--dt auto", ("--integrator", "dop853"): "not to --integrator"}.items():
        assert main([*command, *wrong]) == 2
        assert message in capsys.readouterr().err
