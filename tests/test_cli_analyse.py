"""``varint analyse``: what it computes, draws, reports, and says to mistakes."""

from pathlib import Path

import pytest
from command_line import documented, folder, json_of, keys_told, report_of

import varint as vi
from varint.cli import main
from varint.cli.analyse_command import VERBS
from varint.cli.facts import Listing

__all__ = ["folder"]  # a fixture of every test here

PENDULUM = ["double_pendulum", "-p", "angle=2.0"]


@pytest.fixture
def run(folder):
    """A run in the folder."""
    return vi.simulate(vi.mechanisms.double_pendulum(angle=2.0), 10.0, 0.01, output="run.h5")


OF_RUNS = {
    "energy-trend": ["energy-trend", "run.h5", "--quantity", "energy_balance"],
    "poincare": ["poincare", "run.h5", "--of", "joint 1", "--value", "-2", "--direction", "either"],
    "spectrum": ["spectrum", "run.h5", "--what", "rates", "--of", "joint 2", "--segments", "2"],
    "phase": ["phase", "run.h5", "--of", "joint 2:0", "--wrapped"],
}
OF_MECHANISMS = {
    "lyapunov": ["lyapunov", *PENDULUM, "--duration", "2", "--dt", "0.02", "--interval", "0.1", "--order", "4"],
    "exponents": ["exponents", *PENDULUM, "--duration", "2", "--dt", "0.02", "--interval", "0.1", "--count", "2"],
    "order": ["order", "four_bar", "--duration", "0.1", "--dt", "0.02,0.01", "--order", "2,4"],
    "reversal": ["reversal", *PENDULUM, "--duration", "0.5", "--dt", "0.02", "--scheme", "suzuki"],
}
ALL = {name: ["analyse", *argv] for name, argv in (OF_RUNS | OF_MECHANISMS).items()}


def test_every_study_is_tested():
    assert set(ALL) == set(VERBS)


@pytest.mark.slow
def test_numbers_are_those_of_the_functions(run, capsys):
    found, errors = json_of(capsys, [*ALL["energy-trend"], "--json"])
    trend = vi.energy_trend(run, "energy_balance")
    assert not errors
    assert (found["study"], found["mechanism"], found["quantity"]) == (
        "energy-trend",
        "2-link pendulum",
        "energy balance",
    )
    assert (found["slope"], found["error"], found["unit"]) == (trend.slope, trend.error, "J")
    assert found["output"] == []

    found, _ = json_of(capsys, [*ALL["poincare"], "--json"])
    section = vi.poincare_section(run, "joint 1", -2.0, 0)
    assert [row["t"] for row in found["states"]] == section.t.tolist()
    assert [row["rate"] for row in found["states"]] == section.rates["joint 2"].tolist()
    assert (found["direction"], found["shown"]) == (0, "joint 2")

    found, _ = json_of(capsys, [*ALL["spectrum"], "--json"])
    first = vi.power_spectrum(run, "rates", of="joint 2", segments=2).peaks()[0]
    assert found["peaks"][0] == {
        "column": "joint 2 rate",
        "frequency": first.frequency,
        "amplitude": first.amplitude,
        "unit": "rad/s",
        "power": first.power,
    }

    found, _ = json_of(capsys, [*ALL["phase"], "--json"])
    portrait = vi.phase_portrait(run, "joint 2", wrapped=True)
    assert found["coordinate_range"] == [portrait.coordinate.min(), portrait.coordinate.max()]
    assert found["rate_range"] == [portrait.rate.min(), portrait.rate.max()]


@pytest.mark.slow
def test_numbers_of_mechanisms(capsys):
    mechanism = vi.mechanisms.double_pendulum(angle=2.0)
    found, _ = json_of(capsys, [*ALL["lyapunov"], "--json"])
    exponent = vi.lyapunov_exponent(mechanism, 2.0, 0.02, interval=0.1, order=4)
    assert (found["exponent"], found["error"]) == (exponent.exponent, exponent.error)
    assert found["convergence"] == exponent.convergence.tolist()

    found, _ = json_of(capsys, [*ALL["exponents"], "--json"])
    spectrum = vi.lyapunov_spectrum(mechanism, 2.0, 0.02, interval=0.1, count=2)
    assert [row["exponent"] for row in found["exponents"]] == spectrum.exponents.tolist()
    assert [row["error"] for row in found["exponents"]] == spectrum.errors.tolist()

    found, _ = json_of(capsys, [*ALL["order"], "--json"])
    study = vi.order_study(vi.mechanisms.four_bar(), 0.1, (0.02, 0.01), order=(2, 4))
    assert [row["position"] for row in found["errors"]] == [e for s in study.series for e in s.error.position]
    assert [row["method"] for row in found["orders"]] == ["VI order 2", "VI order 4"]
    assert found["orders"][0]["position"] == pytest.approx(study.series[0].order.position, abs=0.01)

    found, _ = json_of(capsys, [*ALL["reversal"], "--json"])
    reversal = vi.time_reversal(mechanism, 0.5, 0.02, scheme="suzuki")
    assert [row["off"] for row in found["distance"]] == list(reversal.distance)
    assert found["scheme"] == "suzuki"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_pictures(run, suffix, capsys):
    argv = [*ALL["phase"], "-o", f"a.{suffix}"]
    assert main(argv) == 0
    assert capsys.readouterr().out.split()[-1] == f"a.{suffix}"
    first = Path(f"a.{suffix}").read_bytes()
    assert len(first) > 1000
    assert main(argv) == 2
    assert f"'a.{suffix}' exists: use --force to replace it" in capsys.readouterr().err
    assert Path(f"a.{suffix}").read_bytes() == first
    assert main([*argv, "--force", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_documented_is_all_that_is_reported(run):
    """Every key and unit, and every fact with a label is in the table."""
    units, seen = documented("`varint analyse"), set()
    for argv in ALL.values():
        report = report_of(argv)
        seen |= keys_told(report, units)
        assert all(part.rows for part in report.parts if isinstance(part, Listing))
    assert seen == set(units)


MISTAKES = {
    "study": (["poincar", "run.h5"], ("'poincar'", "did you mean 'poincare'?")),
    "of a mechanism": (["order", "run.h5"], ("order is of a mechanism", "run.h5")),
    "of a run": (["phase", "four_bar", "--of", "a"], ("phase is of a run, .h5 or .hdf5", "four_bar")),
    "no effect": (["phase", "run.h5", "--value", "1"], ("--value has no effect on phase: it belongs to poincare",)),
    "parameter": (["phase", "run.h5", "-p", "a=1"], ("--param has no effect on phase",)),
    "no joint": (["phase", "run.h5"], ("--of JOINT",)),
    "two joints": (["poincare", "run.h5", "--of", "a", "--of", "b"], ("--of JOINT", "once")),
    "joint": (["phase", "run.h5", "--of", "joint"], ("no joint 'joint'", "did you mean 'joint")),
    "quantity": (["energy-trend", "run.h5", "--quantity", "drft"], ("did you mean 'drift'?",)),
    "section": (["poincare", "run.h5", "--of", "joint 1", "--value", "2.2", "--direction", "rising"], ("never takes",)),
    "several steps": (["reversal", "four_bar", "--dt", "0.1,0.2"], ("--dt is one number here, got 2",)),
    "mechanism": (["reversal", "four_bra"], ("no mechanism 'four_bra'", "did you mean 'four_bar'?")),
    "picture": (["phase", "run.h5", "--of", "joint 1", "-o", "a.jpg"], ("a.jpg", ".png or .pdf or .svg")),
    "over the run": (["phase", "run.h5", "--of", "joint 1", "-o", "run.h5"], ("run.h5",)),
    "force": (["phase", "run.h5", "--of", "joint 1", "--force"], ("--force replaces a picture: it needs -o",)),
    "intervals": (["lyapunov", "four_bar", "--duration", "1", "--interval", "0.5"], ("16 intervals",)),
}


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(run, name, capsys):
    argv, words = MISTAKES[name]
    assert main(["analyse", *argv]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert all(word in line for word in words), line
    assert [path.name for path in Path().iterdir()] == ["run.h5"]
