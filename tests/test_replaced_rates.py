"""Rates of the start beside prescribed motions: told where they differ, and shown as the run starts."""

import json
import warnings

import numpy as np
import pytest

import varint as vi
from varint.cli import main

METHODS = {"maximal": vi.simulate, "reduced": vi.redmax.simulate}


def crank(**drive):
    four_bar = vi.mechanisms.four_bar(case="crank-rocker").replace(start={})
    return four_bar.with_forces(add=[vi.PrescribedMotion("drive", joint="crank pivot", **drive)])


@pytest.mark.parametrize("method", METHODS)
def test_another_rate_of_the_start_is_told(method):
    mech = crank(rate=2.0)
    state = mech.state(rates={"crank pivot": 5.0})
    with pytest.warns(vi.ReplacedRateWarning, match=r"joint 'crank pivot' a rate of 5 rad/s, but .*'drive' .* 2 rad/s"):
        run = METHODS[method](mech, 0.02, dt=0.01, state=state)
    assert run.rates["crank pivot"][0] == pytest.approx(2.0)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_rate_no_rate_and_a_node_of_the_run_are_not_told(method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for drive, rate in (({"rate": 2.0}, 2.0), ({"rate": 2.0}, 0.0), ({"position": lambda t: np.sin(3 * t)}, 3.0)):
            mech = crank(**drive)
            start = mech.state(coordinates={"crank pivot": 0.0}, rates={"crank pivot": rate} if rate else None)
            run = METHODS[method](mech, 0.02, dt=0.01, state=start)
        mech = crank(rate=2.0)
        run = METHODS[method](mech, 0.02, dt=0.01)
        METHODS[method](mech, 0.02, dt=0.01, state=run[-1])


def test_a_stepper_tells_it_too():
    mech = crank(rate=2.0)
    with pytest.warns(vi.ReplacedRateWarning, match="5 rad/s"):
        vi.Stepper(mech, 0.01, state=mech.state(rates={"crank pivot": 5.0}))


def test_info_shows_the_rates_and_the_energy_of_the_start(tmp_path, capsys):
    mech = crank(rate=2.0).replace(start={"rates": {"crank pivot": 5.0}})
    vi.save_mechanism(mech, tmp_path / "crank.json")
    assert main(["info", str(tmp_path / "crank.json"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (sentence,) = [each for each in told["oddities"] if "prescribes 2 rad/s" in each]
    assert "a rate of 5 rad/s" in sentence
    run = vi.simulate(crank(rate=2.0), 0.01, dt=0.01)
    assert told["kinetic_energy"] == pytest.approx(run.kinetic[0])
    assert main(["info", str(tmp_path / "crank.json")]) == 0
    assert "'crank pivot' 2 rad/s" in " ".join(capsys.readouterr().out.split())


def test_a_shown_state_says_what_rates_a_run_starts_with():
    mech = crank(rate=2.0)
    assert repr(mech.show()).endswith("A run starts with joint 'crank pivot' at 2 rad/s, by prescribedmotion 'drive'")
    assert "at 2 rad/s, by prescribedmotion &#x27;drive&#x27;</p>" in mech.show()._repr_html_()
    assert "at the rate of its position" in repr(crank(position=lambda t: 0.1 * t).show())
    assert "A run starts" not in repr(vi.mechanisms.four_bar().show())
