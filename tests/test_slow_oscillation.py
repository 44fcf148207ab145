"""Oscillations that are off in frequency, since steps of order 2 are long for them."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

import varint as vi
from varint.cli import main

ORIGIN = (0, 0, 0)
RATE = 10.0  # rad/s, of the load on its spring


def load(damping=0.0, forces=(), gravity=ORIGIN):
    body = vi.Body.box("load", (0.1, 0.1, 0.1), 1.0)
    slide = vi.Prismatic("slide", "world", "load", point=ORIGIN, axis=(0, 0, 1))
    spring = vi.TorsionSpring("spring", joint="slide", stiffness=RATE**2, damping=damping)
    return vi.Mechanism("oscillator", [body], [slide], forces=[spring, *forces], gravity=gravity)


def swung(turn, periods=12, mechanism=None, **options):
    mechanism = mechanism or load()
    state = mechanism.state(coordinates={"slide": 0.1})
    return vi.simulate(mechanism, periods * 2 * np.pi / RATE, turn / RATE, state=state, **options)


def lag_of(run):
    """How much slower than it should the load swings, relative, by the times at which it passes zero upwards."""
    x, t = run.coordinates["slide"].ravel(), run.t
    up = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    passed = t[up] - x[up] * (t[up + 1] - t[up]) / (x[up + 1] - x[up])
    return 1.0 - 2 * np.pi * (len(passed) - 1) / (passed[-1] - passed[0]) / RATE


@pytest.mark.parametrize("turn", [0.55, 0.8, 2.0, 6.0])
def test_a_load_that_swings_slow_is_named_with_what_it_lags(turn):
    with pytest.warns(vi.UnresolvedWarning, match="body 'load' most") as told:
        run = swung(turn, periods=60)
    text = str(told[0].message)
    assert float(text.split("this period is ")[1].split("%")[0]) / 100 == pytest.approx(lag_of(run), rel=0.1)
    assert ("order=4" in text) == (turn < 1.0)


@pytest.mark.parametrize("options", [{"dt": None}, {"order": 4}])
def test_what_the_warning_advises_resolves(options):
    with pytest.warns(vi.UnresolvedWarning) as told:
        swung(0.8)
    dt = float(str(told[0].message).split("dt = ")[1].split(" s")[0])
    run = swung(dt * RATE) if "dt" in options else swung(0.8, order=4)
    assert abs(lag_of(run)) < 2.5e-3


def test_a_chosen_step_resolves():
    mechanism = load()
    state = mechanism.state(coordinates={"slide": 0.1})
    assert abs(lag_of(vi.simulate(mechanism, 6.0, "auto", order=2, state=state))) < 0.02


def between_stops(dt):
    """A load at 1 m/s that meets stops each 0.02 s."""
    body = vi.Body.box("load", (0.1, 0.1, 0.1), 1.0)
    stop = vi.JointStop("stop", joint="slide", lower=-0.01, upper=0.01, restitution=1.0)
    slide = vi.Prismatic("slide", "world", "load", point=ORIGIN, axis=(0, 0, 1))
    mechanism = vi.Mechanism("shuttle", [body], [slide], forces=[stop], gravity=ORIGIN)
    vi.simulate(mechanism, 1.0, dt, state=mechanism.state(rates={"slide": 1.0}))


def test_an_oscillation_late_in_a_long_run_is_named():
    push = vi.Motor("push", joint="slide", effort=lambda t: float(t > 960.0))
    with pytest.warns(vi.UnresolvedWarning, match="oscillates, body 'load'"):
        vi.simulate(load(forces=[push]), 1000.0, 0.08)


QUIET = {
    "small beside the motion": lambda: swung(0.2),
    "decays": lambda: swung(1.0, mechanism=load(damping=100.0)),
    "is damped within some periods": lambda: swung(0.6, mechanism=load(damping=4.0)),
    "bounces": lambda: swung(0.1, mechanism=load(forces=[vi.JointStop("stop", joint="slide", lower=-1e-3)])),
    "goes to and fro between impacts": lambda: between_stops(0.007),
    "is driven to and fro by the time": lambda: vi.simulate(
        load(forces=[vi.Motor("push", joint="slide", effort=lambda t: 1e4 * np.cos(80.0 * t))]), 10.0, 0.01
    ),
    "rests": lambda: vi.simulate(load(), 1.0, 0.1),
    "falls": lambda: vi.simulate(
        vi.Mechanism("stone", [vi.Body.sphere("stone", 0.1, 1.0)], [vi.Free("free", "world", "stone")]), 1.0, 0.05
    ),
}


@pytest.mark.parametrize("name", QUIET)
def test_what_does_not_oscillate_is_not_named(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", vi.UnresolvedWarning)
        QUIET[name]()


def test_a_crank_that_turns_is_named_for_its_spin_alone():
    arm = vi.Body.rod("arm", ORIGIN, (1, 0, 0), 1.0)
    mechanism = vi.Mechanism("crank", [arm], [vi.Revolute("h", "world", "arm", point=ORIGIN, axis=(0, 0, 1))])
    with pytest.warns(vi.UnresolvedWarning) as told:
        vi.simulate(mechanism, 4.0, 0.05, state=mechanism.state(rates={"h": 8.0}))
    assert ["spins" in str(each.message) for each in told] == [True]


def test_the_command_reports_it(tmp_path, capsys):
    mechanism = replace(load(), start={"coordinates": {"slide": 0.1}})
    vi.save_mechanism(mechanism, tmp_path / "load.toml")
    main(["run", str(tmp_path / "load.toml"), "--duration", "8", "--dt", "0.08", "--json"])
    assert "free oscillation on springs" in json.loads(capsys.readouterr().out)["unresolved"]["message"]
