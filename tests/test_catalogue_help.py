"""What the catalogue says of itself: parameters, units, the zero of the coordinates."""

import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest
from command_line import ROOT, folder

import varint as vi
from varint.cli import main
from varint.cli.listed_mechanisms import entry
from varint.kinematics.frames import joint_coordinates

__all__ = ["folder"]  # a fixture of every test here


UNITS = {
    "1",
    "rad",
    "rad/s",
    "m",
    "m/s",
    "m/s^2",
    "kg",
    "N",
    "N m",
    "N/m",
    "N s/m",
    "Pa",
    "kg/m^3",
    "N m/rad",
    "N m s/rad",
}


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_every_parameter_of_the_catalogue_is_told_with_its_unit(name):
    found, signature = entry(name), inspect.signature(vi.mechanisms.module(name).build)
    assert [one.name for one in found.parameters] == list(signature.parameters)
    assert found.what.endswith(".")
    assert found.text.endswith(".")
    for one in found.parameters:
        annotation = signature.parameters[one.name].annotation
        counted = annotation in (int, str, bool)
        assert one.unit == "" if counted else one.unit in UNITS, one
        assert not counted or one.kind == annotation.__name__, one
        assert counted or "float" in one.kind, one
        assert one.what.endswith("."), one


def test_info_lists_parameters_with_defaults_and_units(capsys):
    assert main(["info", "governor"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^ stiffness +800000 +N/m +float +Of each spring\.", out, re.M)
    assert "zero of the coordinates the pose at the start: the arms 30 degrees" in " ".join(out.split())


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_the_zero_of_the_coordinates_is_where_the_catalogue_says(name):
    """The pose at the start, or the coordinates that are not zero there are named."""
    mechanism, zero = getattr(vi.mechanisms, name)(), entry(name).zero
    state = mechanism.state()
    poses = state.position[None], state.quat_wxyz[None]
    away = {
        joint.name
        for joint in mechanism.joints
        if joint.dof and np.abs(joint_coordinates(mechanism, joint, *poses)).max() > 1e-9
    }
    assert all(f'"{joint}"' in zero for joint in away)
    assert zero.startswith("the pose at the start") != bool(set(mechanism.start.get("coordinates", {})))
    assert bool(away) <= (
        name in ("cart_pole", "escapement", "newtons_cradle", "slider_crank", "spline_knee", "woodpecker")
    )


def test_the_page_of_the_catalogue_says_so_too(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import catalogue

    assert (ROOT / "docs" / "catalogue.md").read_text().endswith(catalogue.described()), "run make docs"


def test_a_docstring_that_does_not_fit_is_found(monkeypatch):
    module = vi.mechanisms.module("tree")
    monkeypatch.setattr(module.build, "__doc__", "Tree.\n\nParameters\n----------\nlength : float, m\n    Of it.\n")
    with pytest.raises(ValueError, match="'length : float, m'"):
        entry("tree")


def test_info_of_a_file_says_where_its_coordinates_are_zero(capsys):
    vi.save_mechanism(vi.mechanisms.four_bar(), "m.json")
    assert main(["info", "m.json"]) == 0
    assert "zero of the coordinates the reference configuration" in " ".join(capsys.readouterr().out.split())


PENDULUM = """\
include = "more.toml"
name = "pendulum"

[parameters]                   # SI units
length = 0.5                   # m, from the pin to the tip
tip = "(length, 0, -mass)"     # m
mass = 2

[bodies.rod]
rod = {start = [0, 0, 0], end = "tip"}
mass = "mass"

[joints.pin]
type = "Revolute"
body_a = "world"
body_b = "rod"
point = [0, 0, 0]
axis = [0, 1, 0]
"""


def test_info_of_a_file_tells_its_parameters(capsys):
    Path("more.toml").write_text("[parameters]\nmass = 1.0  # kg\ngap = [\n  0.1, # a\n  0.2,\n]   # m, #2\n")
    Path("m.toml").write_text(PENDULUM)
    assert main(["info", "m.toml", "-p", "mass=length/2", "--json"]) == 0
    found = {one.pop("name"): one for one in json.loads(capsys.readouterr().out)["parameters"]}
    assert found == {
        "mass": {"default": 2, "value": 0.25, "what": ""},
        "gap": {"default": [0.1, 0.2], "value": [0.1, 0.2], "what": "m, #2"},
        "length": {"default": 0.5, "value": 0.5, "what": "m, from the pin to the tip"},
        "tip": {"default": "(length, 0, -mass)", "value": [0.5, 0, -0.25], "what": "m"},
    }
    assert main(["info", "m.toml"]) == 0
    assert "(length, 0, -mass)" in (out := capsys.readouterr().out)
    assert "m, from the pin to the tip" in out
