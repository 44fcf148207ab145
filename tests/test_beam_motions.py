"""Motions of flexible links against solutions with cubic elements, computed apart from the package."""

import importlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import varint as vi
from varint.model.rotation_vectors import rotation_matrix


def at_times(run, times):
    """Nodes of a run at ``times``."""
    return [int(np.argmin(np.abs(run.t - time))) for time in times]


def pendulum(elements):
    """A bar of rubber, pinned at one end, from rest along the horizontal."""
    section = vi.Section(
        EA=1000.0, GJ=1.0, EI=1e-1 / 12, kGA=1000 * 5 / 6 / 2.6, mass_per_length=0.1,
        inertia_per_length=(2e-5 / 12, 1e-5 / 12, 1e-5 / 12),
    )  # fmt: skip
    bar = vi.beam(
        "bar", None, None, point_a=(0, 0, 0), point_b=(1, 0, 0), elements=elements, section=section, normal=(0, 0, 1)
    )
    pin = vi.Revolute("pin", "world", "bar 0", point=(0, 0, 0), axis=(0, 1, 0))
    return vi.Mechanism("flexible pendulum", bar.bodies, [pin, *bar.joints], forces=bar.forces)


def tip_of_pendulum(elements, dt, times=(0.25, 0.5, 0.75, 1.0)):
    mechanism = pendulum(elements)
    run = vi.simulate(mechanism, times[-1], dt)
    return moved(run, elements, (1.0, 0.0, 0.0))[at_times(run, times)][:, [0, 2]]


def moved(run, body, point):
    """(T, 3) where a ``point`` (3,) of the reference configuration goes with a body."""
    reference = run.mechanism.bodies[body]
    turned = rotation_matrix(run.quat_wxyz[:, body]) @ rotation_matrix(reference.quat_wxyz).T
    return run.position[:, body] + turned @ (np.array(point) - reference.position)


@pytest.mark.slow
def test_flexible_pendulum():
    """Tip at 0.25, 0.5, 0.75 and 1 s by 8 cubic elements, which differ from 6 by 1e-4."""
    tip = [(0.88894, -0.28673), (-0.20733, -0.94393), (-0.86260, -0.43636), (-0.92864, 0.09975)]
    errors = [np.linalg.norm(tip_of_pendulum(n, 1e-3) - tip, axis=1).max() for n in (16, 32)]
    assert errors[1] < 1.4e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.6)


@pytest.mark.slow
def test_flexible_pendulum_has_order_two_in_time():
    tips = [tip_of_pendulum(4, dt, (0.25, 0.5)) for dt in (0.00125, 0.000625, 0.0003125)]
    steps = [np.abs(a - b).max() for a, b in pairwise(tips)]
    assert steps[0] / steps[1] == pytest.approx(4.0, abs=0.3)


def slider_crank(elements):
    """A crank of 0.15 m at 150 rad/s, and a rod of steel, 0.3 m x 8 mm x 8 mm (Simeon 1996)."""
    E, area = 2e11, 0.008**2
    section = vi.Section(
        EA=E * area, GJ=0.141 * E / 2.6 * area**2, EI=E * area**2 / 12, kGA=5 / 6 * E / 2.6 * area,
        mass_per_length=7870.0 * area,
    )  # fmt: skip
    pin, wrist, z = (0.15, 0, 0), (0.45, 0, 0), (0, 0, 1)
    rod = vi.beam("rod", None, None, point_a=pin, point_b=wrist, elements=elements, section=section, normal=(0, 1, 0))
    crank = vi.Body.rod("crank", (0, 0, 0), pin, mass=0.05)
    slider = vi.Body.box("slider", (0.02, 0.02, 0.02), mass=0.075552, position=wrist)
    joints = [
        vi.Revolute("main", "world", "crank", point=(0, 0, 0), axis=z),
        vi.Revolute("pin", "crank", "rod 0", point=pin, axis=z),
        *rod.joints,
        vi.Revolute("wrist", f"rod {elements}", "slider", point=wrist, axis=z),
        vi.Prismatic("slide", "world", "slider", axis=(1, 0, 0)),
    ]
    drive = vi.PrescribedMotion("drive", joint="main", rate=150.0)
    bodies = [crank, *rod.bodies, slider]
    return vi.Mechanism("slider-crank", bodies, joints, gravity=(0, 0, 0), forces=[*rod.forces, drive])


def deflection(elements, times):
    """Of the middle of the rod from its chord, m, from a start with the velocities of a rigid rod."""
    mechanism = slider_crank(elements)
    state = mechanism.state()
    velocity, spin = np.zeros((2, elements + 3, 3))
    for k, body in enumerate(mechanism.bodies[:-1]):
        rate, centre = (150.0, 0.0) if k == 0 else (-75.0, 0.45)
        velocity[k, 1] = rate * (body.position[0] - centre)
        spin[k] = rotation_matrix(body.quat_wxyz).T @ (0.0, 0.0, rate)
    state = replace(state, velocity=velocity, angular_velocity=spin)
    run = vi.simulate(mechanism, times[-1], 2e-5, state=state, every=100)
    places = ((1, 0.15), (1 + elements // 2, 0.3), (1 + elements, 0.45))
    a, middle, b = (moved(run, k, (x, 0.0, 0.0))[at_times(run, times)] for k, x in places)
    along = (b - a) / np.linalg.norm(b - a, axis=1)[:, None]
    off = middle - 0.5 * (a + b)
    return along[:, 0] * off[:, 1] - along[:, 1] * off[:, 0]


@pytest.mark.slow
def test_slider_crank_with_a_flexible_rod():
    """Deflections at 0.02, 0.04 and 0.06 s by 4 cubic elements, of 1.87 mm at most."""
    reference = np.array([-7.79e-5, -9.626e-4, -1.716e-4])
    errors = [np.abs(deflection(n, (0.02, 0.04, 0.06)) - reference).max() / 1.87e-3 for n in (8, 16)]
    assert errors[0] < 7e-3
    assert errors[1] < 1.5e-3  # the reference is no more exact


@pytest.mark.slow
def test_a_loaded_beam_takes_a_fifth_of_the_bodies_of_rigid_pieces(monkeypatch):
    """Six elements against 40 rods on hinges with springs: three swings of a load at the tip."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    link = importlib.import_module("flexible_link")
    monkeypatch.setattr(link, "STEPS", 600)
    load = link.LOADS[0]
    wanted = link.tip(link.as_beam(32, load), load)
    beam, pieces = (
        np.abs(link.tip(made, load) - wanted).max() / np.abs(wanted).max()
        for made in (link.as_beam(6, load), link.as_pieces(40, load))
    )
    assert beam < pieces
    assert pieces < 0.01  # the same motion
    assert 5 * len(link.as_beam(6, load).bodies) <= len(link.as_pieces(40, load).bodies)
