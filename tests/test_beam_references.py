"""Beams against solutions of the elastica and of Timoshenko's beam, computed apart from the package or published."""

import numpy as np
import pytest
from beam_models import LOW, STEEL, cantilever, loads, place_of, settled, tip_of

import varint as vi
from varint.linear.rest import at_rest

THIN = vi.Section(EA=1e7, GJ=1.0, EI=1.0, kGA=1e7, mass_per_length=1.0, size=(0.05, 0.05))  # next to inextensible


@pytest.mark.parametrize("elements", [1, 2, 8])
def test_small_loads_are_exact(elements):
    """w = F L^3 / 3 EI + F L / kGA, and T L / GJ, with any number of elements."""
    force = 1e-4
    tip = tip_of(lambda _: cantilever(elements, force=(0, force, 0)), elements)
    assert tip[1] == pytest.approx(force * (1 / 30 + 1 / 4e4), rel=1e-8)
    tip = tip_of(lambda _: cantilever(elements, force=(0, 0, force)), elements)
    assert tip[2] == pytest.approx(force * (1 / 30 + 1 / 4e4), rel=1e-8)


def test_a_large_load_has_order_two_in_the_mesh():
    error = [tip_of(lambda s, n=n: cantilever(n, force=(0, 20 * s, 0)), n, 4)[1] - 0.493823807755 for n in (8, 16)]
    assert abs(error[1]) < 3e-4
    assert error[0] / error[1] == pytest.approx(4.0, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("load", "tip", "steps"),
    [
        (1, (1 - 0.0564332362834, 0.3017207738), 2),
        (5, (1 - 0.387628360724, 0.713791523612), 6),
        (10, (1 - 0.554995597754, 0.81060902488), 10),
    ],
)
def test_elastica(load, tip, steps):
    """Mattiasson 1981, table 1."""
    found = tip_of(lambda share: cantilever(16, THIN, force=(0, share * load, 0)), 16, steps)
    assert found[:2] == pytest.approx(tip, abs=2e-3 * tip[1])


def test_timoshenko_beam_under_a_large_load():
    """Nachbagauer et al. 2011: L 2 m, 0.5 x 0.1 m, 62.5 MN."""
    section = vi.Section.rectangle(0.1, 0.5, **STEEL)
    ends = [tip_of(lambda s, n=n: cantilever(n, section, 2.0, force=(0, 62.5e6 * s, 0)), n, 4) for n in (8, 16)]
    errors = [np.array(end[:2]) - (2 - 0.150971144239, 0.710568597854) for end in ends]
    assert np.abs(errors[1]).max() < 2e-3 * 0.71
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.3)


@pytest.mark.slow
def test_rolls_up_to_a_circle():
    tip = tip_of(lambda share: cantilever(16, THIN, torque=(0, 0, 2 * np.pi * share)), 16, 10)
    assert tip == pytest.approx(np.zeros(3), abs=1e-10)


def bend(elements, force, radius=100.0):
    """An arc of 45 degrees in the x-y plane, with a force out of the plane at its tip (Bathe and Bolourchi)."""
    section = vi.Section(EA=1e7, GJ=8.33333e5, EI=8.33333e5, kGA=4.16667e6, mass_per_length=1.0)
    end = radius * np.array([np.sqrt(0.5), 1 - np.sqrt(0.5), 0.0])
    parts = vi.beam(
        "beam", "world", None, point_a=(0, 0, 0), point_b=end, elements=elements, section=section, normal=(0, 1, 0),
        curvature=1 / radius,
    )  # fmt: skip
    forces = [*parts.forces, *loads(f"beam {elements}", (0, 0, force))]
    return vi.Mechanism("bend", parts.bodies, parts.joints, gravity=(0, 0, 0), forces=forces)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("load", "tip"), [(300, (58.778897, 22.244679, 40.192392)), (600, (47.150096, 15.684689, 53.475478))]
)
def test_curved_beam(load, tip):
    found = tip_of(lambda share: bend(16, share * load), 16, 10)
    assert found == pytest.approx(tip, abs=2e-3 * tip[2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("angle", "moved", "steps"),
    [
        (0, (None, -0.0107127648, 0.0), 3),
        (30, (-0.00768097, -0.01020761, 0.07954738), 3),
        (60, (-0.02048672, -0.00674204, 0.12995786), 10),
        (90, (None, 0.0, 0.146252357), 10),
    ],
)
def test_princeton_beam(angle, moved, steps):
    """Bending about both axes with twist: 8.896 N at an angle from the strong direction."""
    E, nu, height, width, length = 71.7e9, 0.31, 12.3777e-3, 3.2024e-3, 0.508
    G, y, z = E / (2 * (1 + nu)), height * width**3 / 12, width * height**3 / 12
    area = height * width
    section = vi.Section(
        EA=E * area, GJ=0.198 * G * (y + z), EI=np.array([E * y, E * z]), kGA=G * area, mass_per_length=1.0
    )
    c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    tip = tip_of(
        lambda share: cantilever(16, section, length, force=(0, -8.896 * share * c, 8.896 * share * s)), 16, steps
    )
    for k, value in enumerate(moved):
        if value is not None:
            assert tip[k] - length * (k == 0) == pytest.approx(value, abs=2e-3 * 0.13)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("force", "shift", "shortening"), [(5, 0.0417171985, 0.00104168584), (20, 0.162625212517, 0.0159648196686)]
)
def test_guided_beam_of_a_flexure(force, shift, shortening):
    """Its end is held parallel: two of them carry the stage of a parallelogram flexure, a closed loop."""
    mechanism, state = settled(lambda share: flexure(16, 2 * share * force), 4)
    moved = place_of(mechanism, state, "stage") - (1.0, 0.0, 0.0)
    assert moved[1] == pytest.approx(shift, abs=2e-3 * shift)
    # the beams of a stage that is free to turn pull and push a little: the shortening is that of their mean
    assert moved[0] == pytest.approx(-shortening, abs=0.03 * shortening)


def flexure(elements, force):
    """A stage on two beams along x that are clamped in the world, 1 m apart, with a force along y."""
    bodies, joints, forces = [vi.Body.box("stage", (0.02, 2.0, 0.02), 1.0, position=(1, 0, 0))], [], []
    for k, y in enumerate((-1.0, 1.0)):
        parts = vi.beam(
            f"beam {k}", "world", "stage", point_a=(0, y, 0), point_b=(1, y, 0), elements=elements, section=LOW,
            normal=(0, 1, 0),
        )  # fmt: skip
        bodies, joints, forces = bodies + parts.bodies, joints + parts.joints, forces + parts.forces
    return vi.Mechanism("flexure", bodies, joints, gravity=(0, 0, 0), forces=[*forces, *loads("stage", (0, force, 0))])


def test_frequencies():
    """Timoshenko's cantilever: 11.1095865 rad/s, the second 69.287474; an error of fourth order in the mesh."""
    first = [np.unique(np.round(vi.modes(cantilever(n)).frequency * 2 * np.pi, 6))[:2] for n in (4, 8)]
    errors = np.array([own[0] - 11.109586541839 for own in first])
    assert abs(errors[1]) < 1e-4 * 11.1
    assert errors[0] / errors[1] > 14.0


def test_buckling():
    """A column that is clamped at its foot loses its stiffness at pi^2 EI / 4 L^2."""
    stiffness = []
    for load in (2.3, 2.6):
        mechanism, state = settled(lambda share, load=load: cantilever(32, THIN, force=(-load * share, 0, 0)))
        rest = at_rest(mechanism, state)
        stiffness.append(np.linalg.eigvalsh(0.5 * (rest.along(rest.stiffness) + rest.along(rest.stiffness).T))[0])
    critical = 2.3 + 0.3 * stiffness[0] / (stiffness[0] - stiffness[1])
    assert critical == pytest.approx(np.pi**2 / 4, rel=2e-3)


@pytest.mark.slow
def test_spin_up():
    """Simo and Vu-Quoc 1986: the deflection across in the rotating frame, and the stretch at a constant rate."""

    def turn(t):
        early = 0.4 * (t**2 / 2 + (15 / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * t / 15) - 1))
        return np.where(t < 15.0, early, 6.0 * t - 45.0)

    section = vi.Section(
        EA=2.8e7, GJ=1.4e4, EI=1.4e4, kGA=1e7, mass_per_length=1.2, inertia_per_length=np.array([1.2e-3, 6e-4, 6e-4])
    )
    parts = vi.beam(
        "beam", "hub", None, point_a=(0, 0, 0), point_b=(10, 0, 0), elements=20, section=section, normal=(0, 1, 0)
    )
    hub = vi.Body.sphere("hub", 0.1, 1.0)
    pivot = vi.Revolute("pivot", "world", "hub", point=(0, 0, 0), axis=(0, 0, 1))
    motion = vi.PrescribedMotion("spin", joint="pivot", position=turn)
    mechanism = vi.Mechanism(
        "spin-up", [hub, *parts.bodies], [pivot, *parts.joints], gravity=(0, 0, 0), forces=[*parts.forces, motion]
    )
    run = vi.simulate(mechanism, 18.0, 1.25e-3, order=4, every=100)
    tip, angle = run.position[:, mechanism.body_index["beam 20"]], turn(run.t)
    along = np.cos(angle) * tip[:, 0] + np.sin(angle) * tip[:, 1] - 10.0
    across = -np.sin(angle) * tip[:, 0] + np.cos(angle) * tip[:, 1]
    at = [int(np.argmin(abs(run.t - t))) for t in (2.5, 7.5, 12.5)]
    assert across[at] == pytest.approx([-0.1512836, -0.5590834, -0.1126962], abs=0.02 * 0.56)
    assert along[run.t > 15.5].mean() == pytest.approx(5.13957e-4, rel=5e-3)


@pytest.mark.slow
def test_catenary():
    """A cable of 1 m held 0.8 m apart hangs as a chain of 20 rigid links: sag and horizontal pull."""
    section = vi.Section(EA=1e7, GJ=1.0, EI=1.0, kGA=1.0, mass_per_length=1.0)
    parts = vi.cable(
        "rope", "world", "world", point_a=(0, 0, 0), point_b=(0.8, 0, 0), elements=20, section=section, length=1.0
    )
    mechanism = vi.Mechanism("rope", parts.bodies, parts.joints, forces=parts.forces)
    state = vi.equilibrium(mechanism)
    assert -state.position[:, 2].min() == pytest.approx(0.26579156661632, abs=1e-6)
    pull = vi.simulate(mechanism, 1e-3, 1e-3, state=state).force["rope 10"][0]
    assert abs(pull) / 9.81 == pytest.approx(0.33797610959393, rel=1e-2)
