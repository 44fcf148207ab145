"""Gradients by the motions of joints that are products of exponentials, against differences of whole runs."""

import dataclasses

import numpy as np
import pytest
from test_gradients import check, objective_of
from test_products import loop

import varint as vi
from varint.derivatives.numbers import differences


def screwed(**screw):
    """A hinged link, and a nut on a screw at its end."""
    plain = vi.mechanisms.double_pendulum()
    given = {"point": (0.1, 0.05, -1.0), "axis": (0.2, 0.1, 1.0), "lead": 0.05} | screw
    joints = [plain.joints[0], vi.Helical("screw", "link 1", "link 2", **given)]
    return dataclasses.replace(plain, joints=joints)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_a_screw(rng, order):
    mechanism = screwed()
    state = mechanism.state(rates={"joint 1": 1.0, "screw": 3.0})
    names = ["screw.lead", "screw.axis", "screw.point", "link 2.mass", "gravity"]
    found = check(mechanism, names, rng, order=order, state=state)
    assert abs(found["screw.lead"]) > 1e-3


@pytest.mark.slow
def test_a_screw_and_impacts(rng):
    """A stop is met twice, once it is held; the instants move with the lead too."""
    for restitution in (0.5, 0.0):
        stop = vi.JointStop("stop", joint="joint 1", lower=-0.05, upper=3.0, restitution=restitution)
        mechanism = dataclasses.replace(screwed(), forces=[stop])
        state = mechanism.state(coordinates={"joint 1": 0.02}, rates={"joint 1": -2.5, "screw": 0.5})
        check(mechanism, ["screw.lead", "screw.axis", "link 1.mass"], rng, 0.06, state=state)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["SplineSurface", "Composite"])
def test_loops(kind, rng):
    """A loop that a product closes; its start is assembled anew for each number."""
    mechanism = loop(rng, kind)
    check(mechanism, ["cut.point", "ball.point[0]", "right.mass", "gravity"], rng)


@pytest.mark.slow
def test_a_track(rng):
    """The frames of a spline, by parameters of the function that makes them, at nodes on the way."""
    given = {"radius": 20.0, "height": 6.0}
    build = vi.mechanisms.roller_coaster
    one = objective_of(build(), rng)

    def objective(states):
        return sum(map(one, states))

    times = [0.02, 0.05]
    found = vi.gradient(
        build, objective, 0.05, 2e-3, times=times, parameters=given, with_respect_to=list(given), order=2
    )
    for name in given:

        def value(share, name=name):
            run = vi.simulate(build(**given | {name: given[name] + share}), 0.05, 2e-3, tol=1e-13)
            return objective([run.at(t) for t in times])

        assert found[name] == pytest.approx(differences(value, 1e-2), rel=1e-7)


@pytest.mark.slow
def test_parts_in_a_row(rng):
    """A composite joint, by a parameter of the function that makes it."""

    def build(lead, tilt):
        body = vi.Body.box("nut", (0.1, 0.2, 0.3), 2.0, position=(0.1, 0.2, 0.3))
        parts = [
            {"type": "Prismatic", "axis": (np.sin(tilt), 0.0, np.cos(tilt))},
            {"type": "Helical", "axis": (0.0, 1.0, 0.2), "lead": lead},
        ]
        joint = vi.Composite("joint", "world", "nut", point=(0.0, 0.1, 0.0), parts=parts)
        return vi.Mechanism("composite", [body], [joint], start={"rates": {"joint": [0.5, 2.0]}})

    given = {"lead": 0.1, "tilt": 0.3}
    objective = objective_of(build(**given), rng)
    found = vi.gradient(build, objective, 0.05, 2e-3, parameters=given, with_respect_to=list(given))
    for name in given:

        def value(share, name=name):
            run = vi.simulate(build(**given | {name: given[name] + share}), 0.05, 2e-3, tol=1e-13)
            return objective(run[-1])

        assert found[name] == pytest.approx(differences(value, 1e-3), rel=1e-7)
