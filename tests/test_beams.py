"""Beams and cables: elements in a step, loops, both formulations, results, and wrong input."""

import numpy as np
import pytest
from beam_models import LOW, STEEL, bend, cantilever, flexible_four_bar, flexure, floating, rope, settled

import varint as vi
from varint.methods.variational import strong_damping
from varint.model.rotation_vectors import quat_from_vector, quat_product, rotation_matrix
from varint.plan import roles

FALL = (0, -9.81, 0)
BAR = vi.Section.rectangle(0.01, 0.01, **STEEL)


def clamped(elements=5, section=LOW, gravity=(0, -50, 30), **how):
    """A beam between two walls: its last element closes a loop with the world."""
    parts = vi.beam(
        "beam", "world", "world", point_a=(0, 0, 0), point_b=(1, 0, 0), elements=elements, section=section,
        normal=(0, 1, 0), **how,
    )  # fmt: skip
    return vi.Mechanism("clamped", parts.bodies, parts.joints, gravity=gravity, forces=parts.forces)


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("make", [lambda: cantilever(4, gravity=FALL), lambda: clamped(damping=1e-4)])
def test_efforts_as_unknowns_give_the_steps_of_other_efforts(make, order, monkeypatch):
    options = {"order": order, "tol": 1e-12, "on_unresolved": "ignore"}
    run = vi.simulate(make(), 0.1, 2e-3, **options)
    monkeypatch.setattr(roles, "_beams", lambda *arguments: [])
    monkeypatch.setattr(strong_damping, "REACHED", np.inf)  # of a beam, damping is a time, and takes no lead
    plain = vi.simulate(make(), 0.1, 2e-3, **options)
    assert plain.mechanism.compiled.plan.beams.first.size == 0
    assert run.mechanism.compiled.plan.beams.first.size > 0
    assert np.abs(run.position - plain.position).max() < 1e-12
    assert np.abs(run.quat_wxyz - plain.quat_wxyz).max() < 1e-12
    assert np.abs(run.energy_balance - plain.energy_balance).max() < 1e-11


def test_both_formulations_agree_at_order_two():
    mechanism, T = clamped(4, damping=1e-4, gravity=(0, -9.81, 3)), 0.1
    exact = vi.redmax.simulate(mechanism, T, dt=T, rtol=1e-10)
    errors = [np.abs(vi.simulate(mechanism, T, T / n).position[-1] - exact.position[-1]).max() for n in (400, 800)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_an_element_is_the_same_from_either_end():
    ends = []
    for a, b, pa, pb, axes in (
        ("one", "two", (0, 0, 0), (1, 0, 0), np.eye(3)),
        ("two", "one", (1, 0, 0), (0, 0, 0), np.diag([-1.0, 1.0, -1.0])),
    ):
        bodies = [
            vi.Body.box("one", (0.1, 0.2, 0.3), 1.0),
            vi.Body.box("two", (0.3, 0.2, 0.1), 2.0, position=(1, 0, 0)),
        ]
        joints = [vi.Free("f", "world", "one"), vi.Free("g", "one", "two")]
        element = vi.BeamElement("e", a, b, point_a=pa, point_b=pb, axes=axes, stiffness=[90.0, 20, 20, 3, 4, 5])
        mechanism = vi.Mechanism("pair", bodies, joints, gravity=(0, 0, 0), forces=[element])
        state = mechanism.state(velocity={"two": (0.1, 1.0, -0.5)}, angular_velocity={"one": (0.4, 1.0, -2.0)})
        ends.append(vi.simulate(mechanism, 1.0, 0.01, state=state, tol=1e-13))
    assert np.abs(ends[0].position - ends[1].position).max() < 1e-11
    for quantity in ("linear_momentum", "angular_momentum"):
        momentum = getattr(ends[0], quantity)
        assert np.abs(momentum - momentum[0]).max() < 1e-12


def test_steel_takes_no_more_iterations_than_a_soft_beam():
    """1 m of 10 x 10 mm: 3e9 N/m in each of 16 elements, steps of 1 ms, 30 times the period of the fastest motion."""
    soft, stiff = (vi.simulate(cantilever(16, section, gravity=FALL), 0.2, 1e-3) for section in (LOW, BAR))
    assert stiff.newton_iterations <= 1.2 * soft.newton_iterations
    assert stiff.newton_iterations <= 4 * 200
    assert np.abs(stiff.energy_balance).max() < 1e-5 * np.abs(stiff.kinetic).max() + 1e-7
    assert np.abs(stiff.position[:, :, 2]).max() < 1e-12


def test_a_closed_loop_of_steel():
    run = vi.simulate(clamped(16, BAR, gravity=(0, 0, -100)), 0.1, 1e-3)
    assert run.newton_iterations <= 4 * 100 * 2
    assert run.drift.max() < 1e-12 if np.ndim(run.drift) else run.drift < 1e-12


def test_hinged_ends_are_joints_of_their_nodes():
    """A pendulum of steel: nearly that of a rigid bar, 1.5 g / L of angular acceleration."""
    parts = vi.beam("beam", None, None, point_a=(0, 0, 0), point_b=(1, 0, 0), elements=8, section=BAR, normal=(0, 0, 1))
    pin = vi.Revolute("pin", "world", "beam 0", point=(0, 0, 0), axis=(0, 1, 0))
    mechanism = vi.Mechanism("pendulum", parts.bodies, [*parts.joints, pin], forces=parts.forces)
    run = vi.simulate(mechanism, 0.2, 1e-3, every=200)
    tip = run.position[-1, mechanism.body_index["beam 8"]]
    assert np.arctan2(-tip[2], tip[0]) == pytest.approx(0.5 * 1.5 * 9.81 * 0.2**2, rel=0.02)


def test_mass_of_the_nodes():
    parts = vi.beam("beam", None, None, point_a=(0, 0, 0), point_b=(2, 0, 0), elements=4, section=BAR)
    masses = [body.mass for body in parts.bodies]
    assert sum(masses) == pytest.approx(2 * 7850 * 1e-4)
    assert masses == pytest.approx(7850 * 1e-4 * 0.5 * np.array([3 / 8, 7 / 6, 11 / 12, 7 / 6, 3 / 8]))


@pytest.mark.parametrize("elements", [2, 3, 4, 5, 9])
def test_inertia_of_the_whole(elements):
    """Mass, centre and inertia of a beam that moves as one are those of a homogeneous bar, for any number of nodes."""
    parts = vi.beam("beam", None, None, point_a=(0, 0, 0), point_b=(2, 0, 0), elements=elements, section=BAR)
    mass, x = np.array([body.mass for body in parts.bodies]), np.array([body.position[0] for body in parts.bodies])
    bar = vi.Body.box("bar", (2.0, 0.01, 0.01), 2 * 7850 * 1e-4)
    assert mass.min() > 0.0
    assert [mass.sum(), mass @ x] == pytest.approx([bar.mass, bar.mass])
    axes = [rotation_matrix(body.quat_wxyz) for body in parts.bodies]
    own = sum(R @ body.inertia @ R.T for R, body in zip(axes, parts.bodies, strict=True))
    whole = own + np.diag([0.0, 1.0, 1.0]) * (mass @ (x - 1.0) ** 2)
    assert whole == pytest.approx(bar.inertia, rel=1e-12, abs=1e-12)


def test_section_forces_of_a_cantilever():
    """A force and a torque at the tip: constant shear, a moment that grows towards the clamp, tension, torque."""
    mechanism, state = settled(lambda _: cantilever(8, force=(2e-3, 1e-3, 0), torque=(1e-3, 0, 0)))
    run = vi.simulate(mechanism, 1e-3, 1e-3, state=state)
    forces = vi.section_forces(run, "beam")
    assert forces.shape == (2, 8, 6)
    middle = (np.arange(8) + 0.5) / 8
    assert forces[0, :, 0] == pytest.approx(2e-3, rel=1e-3)
    assert forces[0, :, 1] == pytest.approx(1e-3, rel=1e-3)
    assert forces[0, :, 3] == pytest.approx(1e-3, rel=1e-3)
    assert forces[0, :, 5] == pytest.approx(1e-3 * (1 - middle), abs=1e-6)
    ends = vi.section_forces(run, "beam", at="ends")
    assert ends.shape == (2, 8, 2, 6)
    assert ends[0, 0, 0, 5] == pytest.approx(1e-3, abs=1e-6)  # at the clamp
    assert ends[0, -1, 1, 5] == pytest.approx(0.0, abs=1e-6)
    assert ends[0, 1:, 0, 4:] == pytest.approx(ends[0, :-1, 1, 4:], abs=1e-7)
    assert ends[0, :, :, :4].mean(axis=1) == pytest.approx(forces[0, :, :4])
    with pytest.raises(vi.ArgumentError, match="middles"):
        vi.section_forces(run, "beam", at="nodes")
    with pytest.raises(vi.ArgumentError, match="has no beam 'bean'"):
        vi.section_forces(run, "bean")


def at_start(mechanism, state):
    return vi.simulate(mechanism, 1e-9, 1e-9, state=state)


def test_deflection_of_a_cantilever():
    """From the clamp F L^3 / 3 EI + F L / kGA; from the chord that of a beam between hinges under the same moment."""
    force = 1e-3
    run = at_start(*settled(lambda _: cantilever(8, force=(0, force, 0))))
    found = vi.beam_deflection(run, "beam")
    assert found.shape == (2, 9, 3)
    assert found[0, 0] == pytest.approx(np.zeros(3), abs=1e-15)
    assert found[0, 8] == pytest.approx((0.0, force * (1 / 30 + 1 / 4e4), 0.0), abs=1e-9)
    from_chord = vi.beam_deflection(run, "beam", frame="chord")[0]
    assert from_chord[8, 1:] == pytest.approx(np.zeros(2), abs=1e-15)
    assert from_chord[4, 1] == pytest.approx(-force / 10 * (1 / 6 - 5 / 48), rel=1e-4)
    with pytest.raises(vi.ArgumentError, match="has no beam 'bean'"):
        vi.beam_deflection(run, "bean")
    with pytest.raises(vi.ArgumentError, match="frame of a deflection must be one of end, chord, got 'tip'"):
        vi.beam_deflection(run, "beam", frame="tip")


def test_deflection_moves_with_the_beam():
    """Nodes that are displaced in axes of the beam, which has turned as a whole."""
    mechanism = floating(4)
    start, turn = mechanism.state(), quat_from_vector(np.array([0.3, -1.1, 2.0]))
    R0, R = rotation_matrix(start.quat_wxyz[0]), rotation_matrix(turn)
    own = np.array([[0, 0, 0], [0, 3, -1], [0, 5, 2], [0, 2, 1], [0, 0, 0]]) * 1e-2
    place = (start.position + own @ R0.T) @ R.T + (1.0, 2.0, 3.0)
    quat = np.array([quat_product(turn, q) for q in start.quat_wxyz])
    run = at_start(mechanism, vi.State(place, quat, start.velocity, start.angular_velocity))
    for frame in ("end", "chord"):
        assert vi.beam_deflection(run, "beam", frame)[0] == pytest.approx(own, abs=1e-12)


def test_a_cable_is_no_beam():
    run = vi.simulate(rope(3, 0.8), 1e-3, 1e-3)
    with pytest.raises(vi.ArgumentError, match=r"no beam 'rope': 'rope 0' is a Cable, of which run.force\['rope 0'\]"):
        vi.section_forces(run, "rope")


@pytest.mark.parametrize("frame", ["end", "chord"])
def test_an_unloaded_arc_has_no_deflection(frame):
    mechanism = bend(4, 1.0)
    assert np.abs(vi.beam_deflection(at_start(mechanism, mechanism.state()), "beam", frame)).max() < 1e-10


def test_damping_is_a_relaxation_time():
    """The first mode decays at 1/2 tau w^2."""
    tau = 1e-3
    modes = vi.modes(cantilever(8, damping=tau))
    w = 2 * np.pi * modes.frequency.min()
    run = vi.simulate(
        cantilever(8, damping=tau), 2.0, 2e-3,
        state=cantilever(8).state(velocity={f"beam {k}": (0, 1e-3 * (k / 8) ** 2, 0) for k in range(1, 9)}),
    )  # fmt: skip
    energy = run.energy - run.energy.min()
    late = [energy[(run.t > t) & (run.t < t + 0.5)].max() for t in (0.2, 1.2)]
    assert late[1] < late[0]
    power = -np.gradient(run.energy, run.t)
    assert power[100:].mean() > 0
    assert w == pytest.approx(11.1, rel=0.02)


@pytest.mark.parametrize("round", [True, False])
def test_nodes_are_drawn_with_the_section(round):
    section = vi.Section.circle(0.02, **STEEL) if round else vi.Section.rectangle(0.02, 0.04, **STEEL)
    parts = vi.beam("beam", "world", None, point_a=(0, 0, 0), point_b=(1, 0, 0), elements=4, section=section)
    solids = [body.solids[0] for body in parts.bodies]
    assert [solid.kind for solid in solids] == ["cylinder" if round else "box"] * 4
    lengths = [solid.sizes[1 if round else 0] for solid in solids]
    assert lengths == pytest.approx([0.25, 0.25, 0.25, 0.125])


def test_sections():
    """Closed forms: a square's torsion constant is 0.1406 a^4, a thin tube's is 2 pi r^3 t."""
    square = vi.Section.rectangle(0.1, 0.1, E=1.0, nu=0.0, density=1.0)
    assert pytest.approx(0.5 * 0.140577 * 1e-4, rel=1e-5) == square.GJ
    assert pytest.approx([1e-4 / 12] * 2) == square.EI
    assert square.kGA == pytest.approx([0.5 * 0.01 * 10 / 12] * 2)
    tall = vi.Section.rectangle(0.1, 0.2, E=1.0, nu=0.0, density=1.0)
    assert pytest.approx([0.2 * 0.1**3 / 12, 0.1 * 0.2**3 / 12]) == tall.EI
    tube = vi.Section.tube(1.0, 1e-4, E=1.0, nu=0.3, density=1.0)
    assert pytest.approx(2 * np.pi * 0.5**3 * 1e-4 / 2.6, rel=1e-3) == tube.GJ
    assert tube.kGA[0] / (tube.EA / 2.6) == pytest.approx(2 * 1.3 / (4 + 3 * 0.3), rel=1e-3)
    full = vi.Section.tube(1.0, 0.5, E=1.0, nu=0.3, density=1.0)
    assert full.kGA == pytest.approx(vi.Section.circle(1.0, E=1.0, nu=0.3, density=1.0).kGA)


WITHOUT_TEXT: list = []
for _ in range(5000):  # deeper than a repr goes
    WITHOUT_TEXT = [WITHOUT_TEXT]


def a_beam(**change):
    given = {"point_a": (0, 0, 0), "point_b": (1, 0, 0), "elements": 2, "section": LOW} | change
    return vi.beam("b", "world", None, **given)


def a_cable(**change):
    given = {"point_a": (0, 0, 0), "point_b": (1, 0, 0), "elements": 4, "section": LOW} | change
    return vi.cable("c", "world", "world", **given)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: a_beam(elements=0), "elements of beam 'b' must be a whole number from 1, got 0"),
        (lambda: a_beam(point_b=(0, 0, 0)), "beam 'b' needs two points that are apart"),
        (lambda: a_beam(section=None), "section of beam 'b' must be a Section"),
        (lambda: a_beam(normal=(1, 0, 0)), "normal of beam 'b' must not be along the beam"),
        (lambda: a_beam(curvature=3.0), "curvature of beam 'b' must be at most 2 over the distance"),
        (lambda: a_beam(damping=-1.0), "damping of beam 'b'"),
        (
            lambda: vi.beam("b", "world", "world", point_a=(0, 0, 0), point_b=(1, 0, 0), elements=1, section=LOW),
            "beam 'b' has no node that moves",
        ),
        (lambda: a_cable(elements=1), "elements of cable 'c' must be a whole number from 2, got 1"),
        (lambda: a_cable(length=1e9), "length of cable 'c' must be at most 1e\\+08 times the distance of its points"),
        (lambda: a_beam(section=WITHOUT_TEXT), "section of beam 'b' must be a Section, got something of type list"),
        (lambda: a_cable(length=2.0, down=(1, 0, 0)), "down of cable 'c' must not be along the line"),
        (lambda: vi.Section.rectangle(0.0, 0.1, **STEEL), "width of a rectangular section"),
        (lambda: vi.Section.rectangle(0.1, 0.1, **(STEEL | {"nu": 0.51})), "nu of a rectangular section must be above"),
        (lambda: vi.Section.tube(0.1, 0.06, **STEEL), "wall of a tubular section must be at most half its diameter"),
        (
            lambda: vi.Section(EA=1.0, GJ=1.0, EI=np.zeros(2), kGA=np.ones(2), mass_per_length=1.0),
            "EI of a section must be positive",
        ),
        (
            lambda: vi.BeamElement("e", "a", "a", point_a=(0, 0, 0), point_b=(1, 0, 0), stiffness=np.ones(6)),
            "needs two bodies",
        ),
        (
            lambda: vi.BeamElement("e", "a", "b", point_a=(0, 0, 0), point_b=(1, 0, 0), stiffness=-np.ones(6)),
            "stiffness of beamelement 'e' must not be negative",
        ),
    ],
)
def test_wrong_input(make, message):
    with pytest.raises(vi.MechanismError, match=message):
        make()


@pytest.mark.long
@pytest.mark.slow
def test_flexure_and_four_bar_keep_their_energy():
    """1e5 steps of a flexible four-bar, and a flexure that swings."""
    run = vi.simulate(flexible_four_bar(), 100.0, 1e-3, every=20)
    assert not vi.energy_trend(run).significant
    state = settled(lambda share: flexure(8, 5 * share))[1]
    swing = vi.simulate(flexure(8, 1e-9), 20.0, 2e-3, state=state, every=10)
    assert np.abs(swing.energy_balance).max() < 1e-3 * swing.kinetic.max()


@pytest.mark.parametrize("make", [lambda: cantilever(3, gravity=FALL, damping=1e-4), lambda: clamped(4, damping=1e-4)])
def test_gradient_of_a_run(make):
    """By the velocity of a node at the start, against differences; with the last element in a loop as well."""
    mechanism, values = make(), []
    exact = vi.gradient(
        mechanism, lambda state: float(state.position[-1, 1]), 0.05, 1e-3, with_respect_to=["start"]
    ).by["start"]
    start = mechanism.state()
    for change in (1e-6, -1e-6):
        velocity = start.velocity.copy()
        velocity[1, 1] += change
        state = vi.State(start.position, start.quat_wxyz, velocity, start.angular_velocity)
        values.append(vi.simulate(mechanism, 0.05, 1e-3, state=state, tol=1e-13).position[-1, -1, 1])
    assert exact.velocity[1, 1] == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-6)
