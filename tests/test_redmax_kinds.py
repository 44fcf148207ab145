"""Kinds of scenes that the reference implementation shows and its file of figures has not.

Joint limits: test_redmax_stops.py; friction inside joints: test_redmax_friction.py; prescribed joints:
test_redmax_prescribed.py; springs with mass: test_deformable.py.
"""

import numpy as np
import pytest

import varint as vi


def test_torque_on_a_body():
    """A constant torque about the hinge: q = tau t^2 / (2 I), of the scheme t (t + h) for t^2."""
    body = vi.Body.box("b", (0.3, 0.2, 0.1), 1.5)
    hinge = vi.Revolute("hinge", "world", "b", point=(0, 0, 0), axis=(0, 0, 1))
    mechanism = vi.Mechanism("torque", [body], [hinge], gravity=(0, 0, 0))
    h = 0.01
    run = vi.redmax.simulate(mechanism, 1.0, dt=h, integrator="euler", torque={"b": (0, 0, 0.05)})
    expected = 0.05 * run.t * (run.t + h) / (2 * body.inertia[2, 2])
    assert run.coordinates["hinge"] == pytest.approx(expected, rel=1e-10)


def test_body_of_a_mesh_moves_as_the_box_that_it_is():
    size = np.array([0.2, 0.3, 1.0])
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size / 2 - (0, 0, 0.5)
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]
    runs = []
    for body in (vi.Body.mesh("b", corners, triangles, 2.0), vi.Body.box("b", size, 2.0, position=(0, 0, -0.5))):
        pivot = vi.Spherical("pivot", "world", "b", point=(0, 0, 0))
        mechanism = vi.Mechanism("mesh", [body], [pivot])
        state = mechanism.state(coordinates={"pivot": (0.5, 1.0, 0)}, rates={"pivot": (0, 1.0, 2.0)})
        runs.append(vi.redmax.simulate(mechanism, 2.0, dt=0.1, state=state, rtol=1e-10))
    assert runs[0].position == pytest.approx(runs[1].position, abs=1e-7)
    assert np.abs(runs[0].energy - runs[0].energy[0]).max() < 1e-7


# ---------------------------------------------------------------------------------------- external friction


def block(*contacts, **start):
    body = vi.Body.box("block", (0.1, 0.2, 0.3), 2.0, position=(0, 0, 0.15))
    mechanism = vi.Mechanism("block", [body], [vi.Free("base", "world", "block")], forces=contacts)
    return mechanism, mechanism.state(**start)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "bdf2", "radau"])
def test_block_slides_to_rest_on_the_ground(integrator):
    """x = v^2 / (2 mu g), and the block sinks by m g / (4 k)."""
    contacts = [
        vi.GroundContact(f"c{k}", "block", point=(x, y, 0), stiffness=2e5, damping=200.0, friction=0.3)
        for k, (x, y) in enumerate((x, y) for x in (-0.05, 0.05) for y in (-0.1, 0.1))
    ]
    mechanism, state = block(*contacts, velocity={"block": (1, 0, 0)})
    run = vi.redmax.simulate(mechanism, 0.5, dt=1e-3, integrator=integrator, state=state, rtol=1e-6)
    assert run.position[-1, 0, 0] == pytest.approx(1 / (2 * 0.3 * 9.81), abs=3e-3)
    assert abs(run.velocity[-1, 0, 0]) < 1e-3
    assert run.position[-1, 0, 2] - 0.15 == pytest.approx(-2 * 9.81 / (4 * 2e5), rel=1e-2)
    exact = vi.simulate(mechanism, 0.5, 1e-3, state=state)
    assert run.position == pytest.approx(exact.position, abs=3e-3)


# ---------------------------------------------------------------------------------------- a body's prescribed motion


@pytest.mark.slow
def test_tip_of_an_arm_follows_a_circle():
    """Prescribed in maximal coordinates: a carrier with a prescribed motion, to which the arm closes a loop."""
    first = vi.Body.box("first", (1.0, 0.1, 0.1), 1.0, position=(0.5, 0, 0))
    second = vi.Body.box("second", (0.1, 0.1, 1.0), 1.0, position=(1.0, 0, 0.5))
    carrier = vi.Body.sphere("carrier", 0.05, 0.1, position=(1.0, 0, 1.0))
    joints = [
        vi.Revolute("shoulder", "world", "first", point=(0, 0, 0), axis=(0, -1, 0)),
        vi.Revolute("elbow", "first", "second", point=(1, 0, 0), axis=(0, -1, 0)),
        vi.Translational("path", "world", "carrier"),
        vi.PointOnLine("tip", "second", "carrier", point=(1, 0, 1), axis=(0, 1, 0)),
    ]
    mechanism = vi.Mechanism("arm", [first, second, carrier], joints)

    def circle(t, r=0.3, T=1.0):
        """From rest at the start, once around."""
        a = 2 * np.pi * (10 * (t / T) ** 3 - 15 * (t / T) ** 4 + 6 * (t / T) ** 5)
        da = 2 * np.pi * (30 * t**2 - 60 * t**3 + 30 * t**4)
        dda = 2 * np.pi * (60 * t - 180 * t**2 + 120 * t**3)
        s, c = np.sin(a), np.cos(a)
        along, across = np.array([-s, 0.0, c]), np.array([-c, 0.0, -s])
        return r * np.array([c - 1, 0, s]), r * da * along, r * (dda * along + da**2 * across)

    run = vi.redmax.simulate(mechanism, 1.0, dt=0.05, prescribed={"path": circle}, rtol=1e-10)
    tip = np.array([1.0, 0.0, 1.0]) + [circle(t)[0] for t in run.t]
    assert run.position[:, 2] == pytest.approx(tip, abs=1e-9)
    # two links of one metre: the angle between them by the law of cosines, at rest 90 degrees
    distance = np.hypot(tip[:, 0], tip[:, 2])
    bend = np.arccos(distance**2 / 2 - 1)
    assert run.coordinates["elbow"] == pytest.approx(bend - np.pi / 2, abs=1e-6)
    shoulder = np.arctan2(tip[:, 2], tip[:, 0]) - bend / 2
    assert run.coordinates["shoulder"] == pytest.approx(shoulder, abs=1e-6)
    assert run.drift.max() < 1e-7
    # the efforts on the carrier do the work of the whole arm
    fine = vi.redmax.simulate(mechanism, 1.0, dt=1e-3, prescribed={"path": circle}, rtol=1e-10)
    assert np.abs(fine.energy_balance).max() < 1e-4 * fine.kinetic.max()
