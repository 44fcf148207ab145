"""Short runs that compile what most of the fast tests need, and no more: two rows, for two workers."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import varint as vi
from varint.base.numba.compiler import SUBJECTS
from varint.cli import warming
from varint.cli.warming import DT
from varint.geometry.narrow import find_features
from varint.geometry.shape_records import feature_space
from varint.plan.shape_table import most_features, parts_of, shape_table

NAMES = ("start", "gravity", "rod 0.mass", "hinge.point", "strut.stiffness", "dt")


def steps():
    for mechanism in (vi.mechanisms.double_pendulum(), vi.mechanisms.four_bar(), vi.mechanisms.governor()):
        warming._asked(vi.simulate(mechanism, 5 * DT, DT))
    warming._asked(vi.simulate(warming._rig(), 5 * DT, DT, order=4))
    vi.simulate(warming._rig(), 5 * DT, DT, order=6, output_times=[1.5 * DT])


def gradients():
    vi.gradient(warming._rig(), warming._height, 5 * DT, DT, with_respect_to=[*NAMES])
    linkage = vi.mechanisms.four_bar()
    vi.gradient(linkage, warming._height, 5 * DT, DT, with_respect_to=["start", "coupler.mass", "crank pin.point[0]"])


def hard_stops():
    stop = vi.JointStop("end stop", joint="hinge", lower=-0.2, upper=0.2, restitution=0.5)
    mechanism = warming._rig(stop)
    moving = mechanism.state(rates={"hinge": 5.0})
    warming._asked(vi.simulate(mechanism, 0.1, 0.01, state=moving))
    warming._asked(vi.redmax.simulate(mechanism, 0.1, 0.01, state=moving))


def joints_as_products():
    screw = warming._rig(screw=True)
    warming._asked(vi.simulate(screw, 5 * DT, DT))
    warming._asked(vi.redmax.simulate(screw, 5 * DT, dt=DT))


def drives_and_linearisations():
    linkage = vi.mechanisms.four_bar()
    drive = vi.PrescribedMotion("drive", joint="crank pivot", rate=1.0)
    warming._asked(vi.simulate(replace(linkage, forces=[drive]), 5 * DT, DT))
    vi.modes(linkage, vi.equilibrium(linkage))
    vi.linearize(linkage)


def contacts():
    """Those of points; their functions say their types."""
    for entry in SUBJECTS["contacts"]:
        entry.compile(entry.annotated)


def reduced_steps():
    for mechanism in (vi.mechanisms.four_bar(), vi.mechanisms.governor(), warming._rig()):
        for integrator in ("dop853", "bdf2", "sdirk2"):
            warming._asked(vi.redmax.simulate(mechanism, 5 * DT, dt=DT, integrator=integrator))


def contacts_of_shapes():
    low = vi.Body.box("low", (0.4, 0.4, 0.1), 1.0, position=(0, 0, 0.05), collision=True)
    high = vi.Body.sphere("high", 0.1, 1.0, position=(0, 0, 0.201), collision=True)
    forces = [vi.Contact("floor", "low", "world", friction=0.3), vi.Contact("pair", "high", "low", friction=0.3)]
    frees = [vi.Free(body.name, "world", body.name) for body in (low, high)]
    mechanism = vi.Mechanism("shapes", [low, high], frees, forces=forces, ground=[vi.PlaneShape()])
    vi.simulate(mechanism, 10 * DT, DT)
    box = vi.BoxShape([1, 1, 1])
    table, pose = shape_table(parts_of(0, [box]) + parts_of(1, [box])), (np.zeros(3), np.eye(3))
    find_features(table, 0, 1, pose, pose, 0.1, feature_space(most_features(table, 0, 1)))


def paths():
    path = [vi.At("world", (0.1, 0.0, 0.0)), vi.At("rod 1", (0.0, 0.1, -1.5))]
    vi.simulate(warming._rig(vi.PathMass("muscle", path=path, mass=0.1)), 5 * DT, DT)
    light = vi.Musculotendon("muscle", path=path, max_force=1.0, optimal_length=1.0, slack_length=0.5)
    vi.simulate(warming._rig(light), 5 * DT, DT)


ROWS: list[list[Callable[[], object]]] = [  # a row shares most, and has its short ones at the end
    [warming.poses, steps, gradients, joints_as_products, drives_and_linearisations, paths],
    [contacts, reduced_steps, warming.gradients_in_reduced_coordinates, hard_stops, warming.friction_and_contacts]
    + [contacts_of_shapes, warming.contacts_in_steps],
]
