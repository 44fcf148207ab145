"""Derivatives through joints with a compliance: gradients, linearisations, equilibria."""

from dataclasses import replace

import numpy as np
import pytest
from test_compliant_joints import KINDS, pendulum, soft

import varint as vi
from varint.derivatives.linear.step_matrix import step_matrix
from varint.derivatives.numbers import differences, number_of
from varint.model.joints import REGISTRY
from varint.model.rotation_vectors import quat_from_vector, quat_product

pytestmark = pytest.mark.slow  # they compile functions that few others need

DT, STEPS = 0.005, 3


def objective(state):
    """A number with all parts of the state in it."""
    rng, nb = np.random.default_rng(3), len(state.position)
    parts = state.position, state.velocity, state.quat_wxyz, state.angular_velocity
    return float(sum(np.sum(rng.standard_normal((nb, part.shape[1])) * part) for part in parts))


def final(mechanism, state=None, order=2, dt=DT, **forces):
    """The objective of a run."""
    run = vi.simulate(
        mechanism, STEPS * dt, dt, state=state, order=order, tol=1e-13, on_unresolved="ignore", **forces
    )  # fmt: skip
    return objective(run.state(-1))


def check_numbers(mechanism, names, order=2, **forces):
    """The gradient by numbers against differences of runs."""
    found = vi.gradient(mechanism, objective, STEPS * DT, DT, with_respect_to=names, order=order, **forces)
    for name in names:
        if name == "dt":
            expected = differences(lambda change: final(mechanism, None, order, DT + change), 1e-3 * DT)
            assert found[name] == pytest.approx(expected, rel=1e-7)
            continue
        number = number_of(mechanism, name)
        way = number.directions()[0] if number.symmetric else np.ones(number.value.shape)

        def along(share, number=number, way=way):
            return final(number.replaced(number.value + share * way), None, order, **forces)

        expected = differences(along, 2e-3 * number.size.max())
        assert np.sum(found[name] * way) == pytest.approx(expected, rel=1e-7, abs=1e-10), name


def check_start(mechanism, state, order=2):
    """The gradient by a free start against a difference."""
    by = vi.gradient(mechanism, objective, STEPS * DT, DT, with_respect_to=["start"], state=state, order=order)["start"]
    way = np.random.default_rng(1).standard_normal((4, *state.position.shape))

    def along(share):
        x, turn, v, w = share * way
        quat = quat_product(state.quat_wxyz, quat_from_vector(turn))
        moved = vi.State(state.position + x, quat, state.velocity + v, state.angular_velocity + w)
        return final(mechanism, moved, order)

    found = sum(
        np.sum(a * b) for a, b in zip((by.position, by.rotation, by.velocity, by.angular_velocity), way, strict=True)
    )
    assert found == pytest.approx(differences(along, 1e-4), rel=1e-7)


def check_linear(mechanism, state, order=2):
    """A linearised step against differences along the chart; the gradient by the start along it too."""
    linear = vi.linearize(mechanism, state, DT, order=order)
    way = np.random.default_rng(0).standard_normal(len(linear.A))

    def after(share):
        run = vi.simulate(mechanism, DT, DT, state=linear.state_at(share * way), order=order, tol=1e-13)
        return linear.coordinates(run.state(-1))

    found, expected = linear.A @ way, differences(after, 1e-4)
    assert np.abs(found - expected).max() < 1e-7 * np.abs(expected).max()
    return linear


@pytest.mark.many
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint(kind):
    body = vi.Body.box("one", (0.1, 0.2, 0.3), 1.0, position=(0.2, 0.1, -0.3))
    other = vi.Body.box("two", (0.1, 0.2, 0.3), 2.0, position=(0.1, -0.2, 0.2))
    joint = REGISTRY[kind]("joint", "two", "one", **KINDS[kind], compliance=1e-3, damping_time=1e-2)
    mechanism = vi.Mechanism("one", [body, other], [joint])
    start, rng = mechanism.state(), np.random.default_rng(4)
    state = vi.State(start.position, start.quat_wxyz, rng.standard_normal((2, 3)), rng.standard_normal((2, 3)))
    check_start(mechanism, state)
    check_linear(mechanism, state)
    moving = replace(mechanism, start={"velocity": {"one": (1.0, 0.5, -0.3)}, "angular_velocity": {"one": (1, 2, 3)}})
    check_numbers(moving, ["joint.compliance", "joint.damping_time"])


@pytest.mark.parametrize(("order", "damping_time"), [(2, None), (2, 1e-2), (4, 1e-2)])
def test_trees(order, damping_time):
    mechanism = replace(pendulum(1e-3, damping_time), start={"rates": {"pin 0": 2.0, "pin 1": -3.0}})
    check_start(mechanism, mechanism.state(), order)
    names = ["gravity", "a.mass", "b.inertia", "pin 0.compliance", "pin 1.point", "b.position", "dt"]
    check_numbers(mechanism, [*names, "pin 1.damping_time"] if damping_time else names, order)


def test_with_other_forces():
    """A spring, a motor and a damper beside the rows."""
    bare = replace(pendulum(1e-3, 1e-2), start={"rates": {"pin 0": 2.0}})
    forces = [
        vi.Spring("spring", "a", "b", point_a=(0.2, 0, 0.1), point_b=(1.8, 0, 0.2), stiffness=50.0, damping=1.0),
        vi.Motor("motor", joint="pin 1", effort=0.3),
        vi.JointDamper("damper", joint="pin 0", damping=0.1),
    ]
    mechanism = replace(bare, forces=forces)
    names = ["spring.stiffness", "motor.effort", "damper.damping", "pin 0.compliance", "pin 1.point", "b.mass", "dt"]
    check_numbers(mechanism, names)
    linear = check_linear(mechanism, mechanism.state())
    assert linear.B.shape == (len(linear.A), 1)


def part_of_a_loop():
    """A four-bar, one joint of which has two compliant rows."""
    rigid = vi.mechanisms.four_bar()
    alpha = [1e-6, 0.0, 1e-6, 0.0, 0.0]
    joints = [replace(joint, compliance=alpha) if joint.name == "rocker pin" else joint for joint in rigid.joints]
    return replace(rigid, joints=joints)


@pytest.mark.parametrize("which", ["all", "one", "part"])
def test_loops(which):
    rigid = vi.mechanisms.four_bar()
    mechanism = {
        "all": lambda: soft(rigid, 1e-6, 1e-3),
        "one": lambda: soft(rigid, 1e-6, None, ["rocker pin"]),
        "part": part_of_a_loop,
    }[which]()
    mechanism = replace(mechanism, start={"rates": {"crank pivot": 3.0}})
    linear = check_linear(mechanism, mechanism.state(), 2)
    assert len(linear.names) == {"all": 18, "one": 3, "part": 2}[which]
    if which == "all":
        assert "rocker pin.row[4]" in linear.names
    alpha = "rocker pin.compliance[0]" if which == "part" else "rocker pin.compliance"
    found = vi.gradient(mechanism, objective, STEPS * DT, DT, with_respect_to=[alpha])[alpha]
    number = number_of(mechanism, alpha)
    expected = differences(lambda share: final(number.replaced(number.value + share)), 1e-2 * float(number.value))
    assert found == pytest.approx(expected, rel=1e-6)


def test_from_a_start_that_gives():
    """A state that leaves the joints open by their give stays as it is."""
    mechanism = pendulum(1e-3, 1e-2)
    state = vi.simulate(mechanism, 0.05, DT, on_unresolved="ignore").state(-1)
    check_start(mechanism, state)
    found = vi.gradient(mechanism, objective, STEPS * DT, DT, state=state, with_respect_to=["pin 0.compliance"])
    number = number_of(mechanism, "pin 0.compliance")
    expected = differences(lambda share: final(number.replaced(number.value + share), state), 1e-6)
    assert found["pin 0.compliance"] == pytest.approx(expected, rel=1e-7)


def bob(compliance):
    """2 kg on a weld that gives."""
    body = vi.Body.box("bob", (0.1, 0.2, 0.3), 2.0)
    return vi.Mechanism("bob", [body], [vi.Fixed("weld", "world", "bob", point=(0, 0, 0), compliance=compliance)])


def test_a_stiffness_from_a_measurement():
    """z = -g m alpha (1 - cos(t / sqrt(m alpha))): its derivative by alpha."""
    alpha, mass, t, g = 1e-2, 2.0, 0.2, 9.81
    found = vi.gradient(
        bob(alpha), lambda state: state.position[0, 2], t, 1e-4, with_respect_to=["weld.compliance"], order=4
    )  # fmt: skip
    phase = t / np.sqrt(mass * alpha)
    expected = -g * mass * (1.0 - np.cos(phase) - 0.5 * phase * np.sin(phase))
    assert found["weld.compliance"] == pytest.approx(expected, rel=1e-8)


def accelerations(mechanism, state):
    """(nb, 6) m/s^2, world, and rad/s^2, body axes."""
    found = vi.accelerations(mechanism, state)
    return np.hstack([found.linear, found.angular])


def test_an_equilibrium():
    mechanism = bob([1e-3] * 6)
    rest = vi.equilibrium(mechanism)
    assert rest.position[0] == pytest.approx([0.0, 0.0, -9.81 * 2.0 * 1e-3], abs=1e-12)
    hanging = vi.equilibrium(pendulum(1e-3))
    assert np.abs(accelerations(pendulum(1e-3), hanging)).max() < 1e-9


def test_accelerations():
    """Derivatives in continuous time against differences."""
    mechanism = pendulum(1e-3, 1e-2)
    state = vi.simulate(mechanism, 0.05, DT, on_unresolved="ignore").state(-1)
    linear, way = vi.linearize(mechanism, state), np.random.default_rng(0).standard_normal((2, 12))

    def after(share):
        x, turn, v, w = np.split(share * way, 4, axis=1)
        quat = quat_product(state.quat_wxyz, quat_from_vector(turn))
        moved = vi.State(state.position + x, quat, state.velocity + v, state.angular_velocity + w)
        return accelerations(mechanism, moved)

    found, expected = np.tensordot(linear.fdx, way, 2), differences(after, 1e-4)
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()


def test_rigid_joints_are_the_limit():
    """Of poses, by a mass and a point: the error is in proportion to the compliance. Rates of stiff rows ring on."""

    def of_pose(state):
        return float(state.position[1, 2] + 0.3 * state.position[0, 0] + state.quat_wxyz[1, 2])

    given = {"duration": 0.1, "dt": DT, "with_respect_to": ["a.mass", "pin 1.point"]}
    rigid = vi.gradient(replace(pendulum(), start={"rates": {"pin 1": 2.0}}), of_pose, **given)
    errors = []
    for compliance in (1e-7, 1e-8):
        found = vi.gradient(replace(pendulum(compliance), start={"rates": {"pin 1": 2.0}}), of_pose, **given)
        errors.append([np.abs(found[name] - rigid[name]).max() for name in given["with_respect_to"]])
    assert np.all(np.array(errors[1]) < 0.15 * np.array(errors[0]) + 1e-9)


def test_the_matrix_of_a_step():
    """Times the changes of the unknowns by the start it is minus those of the residuals: rows are of G and G'."""
    mechanism = pendulum(1e-3)
    found = step_matrix(mechanism, mechanism.state(), DT)
    M, count = found.matrix.toarray(), found.velocity.size
    assert M.shape == (22, 22)
    assert found.rows == {"pin 0": slice(12, 17), "pin 1": slice(17, 22)}
    assert np.array_equal(M[count:, count:], np.eye(10))
    share = 0.25 * DT * DT * 1e3  # h/2 h/2 k; at rest gradients at both ends are next to the same
    assert np.abs(M[count:, :count] - share * found.jacobian.toarray()).max() < 1e-3 * share


@pytest.mark.parametrize("name", ["pendulum", "four_bar"])
def test_reduced_coordinates(name):
    if name == "pendulum":
        mechanism = replace(pendulum(1e-3, 1e-2), start={"rates": {"pin 0": 2.0}})
        names = ["a.mass", "pin 0.compliance", "pin 1.damping_time"]
    else:
        loop = soft(vi.mechanisms.four_bar(), 1e-5, 1e-3, ["rocker pin"])
        mechanism, names = replace(loop, start={"rates": {"crank pivot": 3.0}}), ["rocker pin.compliance"]
    given = 0.02, 0.01
    found = vi.redmax.gradient(mechanism, objective, *given, with_respect_to=names, scheme="sdirk2")
    for name in names:
        number = number_of(mechanism, name)

        def along(share, number=number):
            changed = number.replaced(number.value + share)
            return objective(vi.redmax.simulate(changed, *given, integrator="sdirk2").state(-1))

        assert found[name] == pytest.approx(differences(along, 1e-2 * float(number.size)), rel=1e-7)


def test_exponents_and_adaptive_steps():
    mechanism = replace(pendulum(1e-3, 1e-2), start={"rates": {"pin 1": 2.0}})
    spectrum = vi.lyapunov_spectrum(mechanism, 0.16, 0.01)
    assert np.isfinite(spectrum.exponents).all()
    given = {"with_respect_to": ["pin 0.compliance"], "adaptive": True, "on_unresolved": "ignore"}
    assert np.isfinite(vi.gradient(mechanism, objective, 0.05, 0.01, **given)["pin 0.compliance"])


def test_beside_events():
    """Steps with impacts are refused by name, in every derivative."""
    stop = vi.JointStop("stop", joint="pin 1", lower=-3.0, upper=3.0)
    mechanism = replace(pendulum(1e-3), forces=[stop])
    for use in (
        lambda: vi.gradient(mechanism, objective, 0.1, DT, with_respect_to=["gravity"]),
        lambda: vi.linearize(mechanism, dt=DT),
    ):
        with pytest.raises(vi.ArgumentError, match=r"compliance of joint 'pin 0' .* has hard stops"):
            use()
