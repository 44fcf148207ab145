"""Schemes, reduced integrators, formats of mechanism files: chosen by name, offered wherever there is a choice."""

import dataclasses

import numpy as np
import pytest

import varint as vi
from varint.cli import main
from varint.files import formats
from varint.files.runs.reader import load_settings
from varint.methods.reduced.integrators import DEFAULT, INTEGRATORS, with_contacts
from varint.methods.reduced.integrators.base import REGISTRY
from varint.methods.reduced.integrators.fixed_steps import FixedSteps
from varint.methods.variational.schemes import ORDERS, SCHEMES


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaint(capsys, argv):
    with pytest.raises(SystemExit):
        main(argv)
    return capsys.readouterr().err


@pytest.mark.many
@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.slow
def test_scheme_by_name(name):
    mechanism, scheme = vi.mechanisms.four_bar(), SCHEMES[name]
    by_name = vi.simulate(mechanism, 0.2, 0.01, scheme=name, output="run.h5")
    by_order = vi.simulate(mechanism, 0.2, 0.01, order=scheme.order)
    first = next(found.name for found in SCHEMES.values() if found.order == scheme.order)
    assert (by_name.position.tobytes() == by_order.position.tobytes()) == (name == first)
    settings = load_settings("run.h5")
    assert (settings["scheme"], settings["order"]) == (name, scheme.order)
    assert main(["run", "four_bar", "--duration", "0.2", "--scheme", name, "-o", "other.h5"]) == 0
    assert vi.load("other.h5").position.tobytes() == by_name.position.tobytes()


@pytest.mark.slow
def test_two_schemes_of_one_order(monkeypatch):
    """Two half steps beside the default of order 2: another run, which a resume tells apart."""
    other = dataclasses.replace(SCHEMES["rattle"], name="halves", stages=np.array([0.5, 0.5]))
    monkeypatch.setitem(SCHEMES, "halves", other)
    mechanism = vi.mechanisms.double_pendulum()
    halves = vi.simulate(mechanism, 0.2, 0.01, scheme="halves", output="run.h5")
    default = vi.simulate(mechanism, 0.2, 0.01, order=2)
    assert np.abs(halves.position - default.position).max() > 1e-8
    fine = vi.simulate(mechanism, 0.2, 0.005, every=2)
    assert halves.position == pytest.approx(fine.position, abs=1e-12)
    with pytest.raises(vi.FileError, match="holds another run"):
        vi.simulate(mechanism, 0.2, 0.01, output="run.h5", resume=True)
    vi.simulate(mechanism, 0.3, 0.01, output="run.h5", resume=True, scheme="halves")


def test_unknown_names(capsys):
    mechanism = vi.mechanisms.double_pendulum()
    with pytest.raises(vi.ArgumentError, match=f"scheme must be one of {', '.join(SCHEMES)}, got 'ratle'.*'rattle'"):
        vi.simulate(mechanism, 0.1, 0.01, scheme="ratle")
    with pytest.raises(vi.ArgumentError, match=f"order must be one of {', '.join(map(str, ORDERS))}, got 3"):
        vi.simulate(mechanism, 0.1, 0.01, order=3)
    with pytest.raises(vi.ArgumentError, match=f"integrator must be one of {', '.join(INTEGRATORS)}, got 'dop'"):
        vi.redmax.simulate(mechanism, 0.1, integrator="dop")
    for option, known in (("--scheme", SCHEMES), ("--integrator", INTEGRATORS)):
        words = complaint(capsys, ["run", "double_pendulum", option, "none"])
        assert all(name in words for name in known)


@pytest.mark.slow
def test_an_integrator_more_is_one_class(monkeypatch):
    """An implicit midpoint rule, as a user would write it: by the stage and back."""

    class Midpoint(FixedSteps):
        name, order, what = "midpoint", 2, "implicit midpoint rule"

        def solve(self, t, h, q, v, integral):
            s = 0.5 * h
            x, rates = self.stages.solve(t + s, s, q, q + s * v, q + s * v, integral)
            return 2 * x - q, 2 * rates - v

    monkeypatch.setitem(REGISTRY, "midpoint", Midpoint)
    monkeypatch.setitem(INTEGRATORS, "midpoint", Midpoint)
    mechanism, errors = vi.mechanisms.double_pendulum(), []
    exact = vi.redmax.simulate(mechanism, 0.4, rtol=1e-11)
    for n in (40, 80):
        run = vi.redmax.simulate(mechanism, 0.4, dt=0.4 / n, integrator="midpoint", output="run.h5", overwrite=True)
        errors.append(np.abs(run.position[-1] - exact.position[-1]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    longer = vi.redmax.simulate(mechanism, 0.5, dt=0.005, integrator="midpoint", output="run.h5", resume=True)
    whole = vi.redmax.simulate(mechanism, 0.5, dt=0.005, integrator="midpoint")
    assert longer.position.tobytes() == whole.position.tobytes()
    argv = ["run", "double_pendulum", "--integrator", "midpoint", "--duration", "0.4", "--dt", "0.005"]
    assert main([*argv, "-o", "other.h5"]) == 0
    assert vi.load("other.h5").position.tobytes() == run.position.tobytes()


def test_facts_of_the_integrators():
    assert DEFAULT in INTEGRATORS
    assert [kind.default for kind in INTEGRATORS.values()].count(True) == 1
    assert with_contacts()
    for name, kind in INTEGRATORS.items():
        assert kind.name == name
        assert kind.order >= 1
        assert kind.what
    for name, kind in INTEGRATORS.items():
        if kind.fixed:
            with pytest.raises(vi.ArgumentError, match=f"'{name}' needs dt="):
                vi.redmax.simulate(vi.mechanisms.double_pendulum(), 1.0, integrator=name)
        else:
            assert vi.redmax.simulate(vi.mechanisms.double_pendulum(), 0.01, integrator=name).success


def test_a_format_more_is_one_entry(monkeypatch):
    """Mechanisms as Python literals."""

    def save(mechanism, path):
        path.write_text(repr(formats.data.to_data(mechanism)))

    def load(path):
        return formats.data.from_data(eval(path.read_text()), str(path))

    mechanism = vi.mechanisms.four_bar()
    assert main(["info", "m.literal"]) == 2  # not known yet
    monkeypatch.setitem(formats.FORMATS, ".literal", formats.Format(".literal", "a Python literal", load, save))
    vi.save_mechanism(mechanism, "m.literal")
    read = vi.load_mechanism("m.literal")
    assert read.state().position.tobytes() == mechanism.state().position.tobytes()
    assert main(["run", "m.literal", "--duration", "0.1"]) == 0


def test_formats_that_cannot_be_written():
    for suffix, format_ in formats.FORMATS.items():
        if format_.save is None:
            with pytest.raises(vi.FileError, match=f"cannot write 'm{suffix}'.*json"):
                vi.save_mechanism(vi.mechanisms.four_bar(), f"m{suffix}")
