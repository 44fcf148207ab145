"""Gradients of runs with nets and deformable bodies, against differences of runs."""

from dataclasses import replace

import numpy as np
import pytest
from net_models import changed, hung, swinging, value_of

import varint as vi
from varint.derivatives.numbers import differences
from varint.mathematics.elasticity.materials import viscosity

pytestmark = pytest.mark.slow  # they compile functions that few others need

DT, STEPS = 4e-3, 6
TIMES = (0.5 * STEPS * DT, STEPS * DT)


def flying():
    """A cloth of damped springs between a bar on a hinge, which a motor turns, and a body that spins freely."""
    start = {"rates": {"hinge": 0.7}, "velocity": {"block": [0.1, 0.2, -0.3]}}
    return swinging(start | {"angular_velocity": {"block": [1.0, -2.0, 0.7]}})


def pad():
    """A plate on a soft, damped pad."""
    plate = vi.Body.box("plate", (0.2, 0.1, 0.02), mass=0.2, position=(0, 0, 0.11))
    soft = vi.DeformableBody.box(
        "pad", (0.2, 0.1, 0.1), (2, 1, 2), E=1e4, nu=0.3, density=500.0, position=(0, 0, 0.05), damping=2e-2,
        attach={"world": lambda p: p[:, 2] < 1e-9, "plate": lambda p: p[:, 2] > 0.1 - 1e-9},
    )  # fmt: skip
    start = {"velocity": {"plate": [0.1, 0.0, -0.5]}, "angular_velocity": {"plate": [0.5, 1.0, 2.0]}}
    free = [vi.Free("free", "world", "plate")]
    return vi.Mechanism("pad", [plate], free, forces=[soft], start=start)


def seen(states):
    """Numbers that all parts of two states go into."""
    return np.concatenate([s.position[-1] + 0.1 * s.velocity[0] + 0.02 * s.angular_velocity[-1] for s in states])


def after(mechanism, order, dt=DT, state=None):
    run = vi.simulate(mechanism, STEPS * dt, dt, order=order, tol=1e-13, state=state)
    return seen([run.state(STEPS // 2), run.state(STEPS)])


def check(mechanism, names, order, rng, share=2e-4):
    """All numbers at once, each along a direction in no proportion."""
    found = vi.gradient(
        mechanism, seen, STEPS * DT, DT, order=order, times=TIMES, with_respect_to=names, tol=1e-13,
        on_unresolved="ignore",
    )  # fmt: skip
    assert found.value == pytest.approx(after(mechanism, order), abs=1e-12)
    for name in names:
        value = value_of(mechanism, name)
        way = (np.abs(value).max() or 1.0) * rng.uniform(0.2, 1.0, value.shape)
        if value.ndim == 2 and name.endswith("inertia"):
            way = np.diag(np.diag(value))

        ahead, behind = (after(changed(mechanism, name, value + s * way), order) for s in (share, -share))
        wanted = (ahead - behind) / (2.0 * share)
        along = np.tensordot(found[name], way, way.ndim) if way.ndim else found[name] * way
        assert np.abs(wanted).max() > 1e-9, name
        assert along == pytest.approx(wanted, abs=1e-6 * np.abs(wanted).max()), name
    return found


def test_by_numbers_of_a_net_and_of_bodies(rng):
    of_net = [f"cloth.{field}" for field in ("stiffness", "damping", "masses", "rest_length")]
    of_bodies = ["block.mass", "block.inertia", "block.position", "motor.effort", "gravity"]
    check(flying(), [*of_net, *of_bodies], 2, rng)


def test_at_order_four(rng):
    check(flying(), ["cloth.damping", "block.mass"], 4, rng)


def test_at_a_bound():
    """By the damping of springs without any, from one side."""
    plain = replace(hung(damping=0.0), start={"rates": {"hinge": 2.0}})
    found = vi.gradient(plain, seen, STEPS * DT, DT, times=TIMES, with_respect_to=["cloth.damping"])["cloth.damping"]
    step, size = 1e-3, plain.forces[0].damping.shape
    values = [after(changed(plain, "cloth.damping", np.full(size, k * step)), 2) for k in range(3)]
    wanted = (-1.5 * values[0] + 2.0 * values[1] - 0.5 * values[2]) / step
    assert found.sum(axis=1) == pytest.approx(wanted, abs=1e-4 * np.abs(wanted).max())


def test_by_the_start_and_the_step():
    mechanism, order = flying(), 2
    found = vi.gradient(
        mechanism, seen, STEPS * DT, DT, times=TIMES, with_respect_to=["start", "dt", "cloth.stiffness[3]"], tol=1e-13,
        on_unresolved="ignore",
    )  # fmt: skip
    by, first = found["start"], mechanism.state()

    def state(s):
        return mechanism.state(
            coordinates={"hinge": 0.3 * s}, rates={"hinge": 0.7 + s},
            position={"block": first.position[1] + s * np.array([0.1, -0.2, 0.3])},
            quat_wxyz={"block": [1.0, 0.5 * s, -0.2 * s, 0.3 * s]},
            velocity={"block": first.velocity[1] + s * np.array([1.0, 2.0, -1.0])},
            angular_velocity={"block": first.angular_velocity[1] + s * np.array([0.4, -1.0, 0.5])},
        )  # fmt: skip

    def part(name):
        return differences(lambda s: getattr(state(s), name), 1e-3)

    turns = np.array([[0.0, 0.3, 0.0], [1.0, -0.4, 0.6]])
    along = sum(
        np.tensordot(one, other, 2)
        for one, other in (
            (by.position, part("position")), (by.rotation, turns),
            (by.velocity, part("velocity")), (by.angular_velocity, part("angular_velocity")),
        )
    )  # fmt: skip
    assert along == pytest.approx(differences(lambda s: after(mechanism, order, state=state(s)), 1e-3), abs=2e-8)
    by_step = differences(lambda s: after(mechanism, order, dt=DT * (1 + s)), 1e-3) / DT
    assert found["dt"] == pytest.approx(by_step, rel=1e-6, abs=1e-6)


def test_by_numbers_of_a_deformable_body(rng):
    mechanism = pad()
    check(mechanism, ["pad.E", "pad.density", "pad.damping", "gravity"], 2, rng)


def test_by_parameters_and_part_by_part():
    def build(stiffness):
        plain = pad()
        return replace(plain, forces=[replace(plain.forces[0], E=stiffness)])

    asked = {"with_respect_to": ["stiffness", "gravity"], "on_unresolved": "ignore"}
    asked |= {"parameters": {"stiffness": 1e4}, "times": TIMES}
    whole = vi.gradient(build, seen, STEPS * DT, DT, **asked)
    alone = vi.gradient(pad(), seen, STEPS * DT, DT, times=TIMES, with_respect_to=["pad.E"], on_unresolved="ignore")
    assert whole["stiffness"] == pytest.approx(alone["pad.E"], rel=1e-9)
    with pytest.raises(vi.ArgumentError, match=r"memory= must be (\d+) bytes") as refused:
        vi.gradient(build, seen, STEPS * DT, DT, memory=1.0, **asked)
    least = int(str(refused.value).split("must be ")[1].split()[0])
    cut = vi.gradient(build, seen, STEPS * DT, DT, memory=1.6 * least, **asked)
    for name in ("stiffness", "gravity"):
        assert np.array_equal(cut[name], whole[name])


def test_a_driven_bar(rng):
    """Beside a prescribed motion: the velocities at the start are those of the motion."""
    places = 0.1 * np.sin(40.0 * DT * np.arange(STEPS + 1))
    mechanism = swinging(force=vi.PrescribedMotion("drive", joint="hinge", position=places))
    check(mechanism, ["cloth.stiffness", "cloth.masses", "block.mass", "gravity"], 2, rng)


def test_viscous_stress_by_places(rng):
    F, rate = np.eye(3) + 0.2 * rng.standard_normal((4, 3, 3)), rng.standard_normal((4, 3, 3))
    found = viscosity(F, rate, 2.0, 3.0).by_place.tangent
    for i, j in np.ndindex(3, 3):
        unit = np.zeros((3, 3))
        unit[i, j] = 1.0
        wanted = differences(lambda s, unit=unit: viscosity(F + s * unit, rate, 2.0, 3.0).stress, 1e-2)
        assert found[..., i, j] == pytest.approx(wanted, abs=1e-11)
    net = hung(damping=0.3).forces[0].mesh
    x, v = net.points + 0.05 * rng.standard_normal(net.points.shape), rng.standard_normal(net.points.shape)
    blocks, way = net.blocks(net.viscosity(x, v).by_place), rng.standard_normal(x.shape)
    wanted = -differences(lambda s: net.on_vertices(net.viscosity(x + s * way, v)), 1e-4)
    along = np.einsum("mab,mb->ma", blocks, way[net.elements].reshape(len(blocks), -1))
    assert along == pytest.approx(wanted.reshape(along.shape), abs=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"adaptive": True}, "particle net 'cloth' is a deformable body, which gradients of adaptive steps"),
        ({"on_unresolved": "substep"}, "steps with deformable bodies are not divided"),
        ({"order": 1}, "need order 2 or above|needs order 2"),
    ],
)
def test_what_has_no_gradient(given, message):
    with pytest.raises(vi.ArgumentError, match=message):
        vi.gradient(hung(), lambda s: s.position[0, 2], 0.01, 1e-3, with_respect_to=["bar.mass"], **given)


def test_the_start_alone():
    """The velocities that bodies start with are given, whatever the masses of what hangs on them."""
    masses = vi.gradient(flying(), lambda states: states[0].velocity[0, 0], DT, DT, times=(0.0,), with_respect_to=[
        "cloth.masses", "cloth.stiffness"
    ])  # fmt: skip
    assert masses.value == pytest.approx(flying().state().velocity[0, 0], abs=1e-12)
    for name in ("cloth.masses", "cloth.stiffness"):
        assert np.abs(masses[name]).max() < 1e-9


def test_by_rest_lengths_of_springs_that_are_nearly_slack():
    """Stretched by 2e-4 of their length, less than the steps of other differences."""
    bar = vi.Body.rod("bar", (0, 0, 0), (1, 0, 0), mass=1.0)
    hinge = vi.Revolute("hinge", "world", "bar", point=(0, 0, 0), axis=(0, 1, 0))
    points = np.array([[0.5, 0, 0], [1.0, 0, 0], [0.5, 0, 1.0], [1.0, 0, 1.0], [0.75, 0.5, 0.5]])
    springs, attach = [[0, 2], [1, 3], [4, 2]], {"bar": [0, 1], "world": [2, 3]}

    def hanging(lengths):
        net = vi.ParticleNet(
            "net", points, springs=springs, stiffness=500.0, rest_length=lengths, slack=True, attach=attach,
            masses=[0, 0, 0, 0, 0.1],
        )  # fmt: skip
        return vi.Mechanism("bar on springs", [bar], [hinge], forces=[net])

    def lift(lengths):
        return vi.simulate(hanging(lengths), 6e-3, 1e-3, tol=1e-13).position[-1, 0, 2]

    lengths = np.append(np.full(2, 1.0 / (1.0 + 2e-4)), np.sqrt(0.5625) / 1.1)
    found = vi.gradient(
        hanging(lengths), lambda state: state.position[0, 2], 6e-3, 1e-3, with_respect_to=["net.rest_length"],
        tol=1e-13,
    )["net.rest_length"]  # fmt: skip
    for k, way in enumerate(1e-5 * np.eye(3)[:2]):
        assert found[k] == pytest.approx((lift(lengths + way) - lift(lengths - way)) / 2e-5, rel=1e-5)
