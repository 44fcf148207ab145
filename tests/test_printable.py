"""Names with control characters are written as in Python wherever a terminal or a picture shows them."""

import contextlib
import csv

import numpy as np
import pytest

import varint as vi
from varint.cli import main

ESC = "\x1b[31mred\u009b\u202e"
SHOWN = r"\x1b[31mred\x9b\u202e"


@pytest.fixture
def mechanism():
    body = vi.Body(ESC, mass=1.0, inertia=0.1 * np.eye(3), position=(0.5, 0, 0))
    hinge = vi.Revolute(f"h {ESC}", "world", ESC, point=(0, 0, 0), axis=(0, 1, 0))
    return vi.Mechanism(f"m {ESC}", [body], [hinge])


def is_clean(text):
    return not any(mark in text for mark in ("\x1b", "\u009b", "\u202e"))


def test_messages_and_displays(mechanism):
    for text in (repr(mechanism), repr(mechanism.bodies[0]), mechanism._repr_html_()):
        assert is_clean(text)
    with pytest.raises(vi.StateError) as error:
        mechanism.state(coordinates={f"x {ESC}": 1.0})
    assert is_clean(str(error.value))
    message = str(vi.ArgumentError(f"body {ESC}"))
    assert message == f"body {SHOWN}"
    assert is_clean(str(vi.LockedWarning(ESC)))


@pytest.mark.parametrize("form", ["toml", "json"])
def test_info(mechanism, form, tmp_path, capsys):
    path = tmp_path / f"a.{form}"
    vi.save_mechanism(mechanism, path)
    for argv in (["info", str(path)], ["info", str(path), "--json"], ["plot", str(path), ESC]):
        with contextlib.suppress(SystemExit):
            main(argv)
        out, err = capsys.readouterr()
        assert is_clean(out + err)
        assert "x1b" in out + err or r"\u001b" in out


def test_tables_and_legends(mechanism, tmp_path):
    run = vi.simulate(mechanism, 0.01, 0.001)
    run.to_csv(tmp_path / "a.csv")
    assert all(map(is_clean, next(csv.reader((tmp_path / "a.csv").read_text("utf-8").splitlines()))))
    figure = run.plot("coordinates")
    texts = [text.get_text() for text in figure.findobj(lambda one: hasattr(one, "get_text"))]
    assert texts
    assert all(map(is_clean, texts))
