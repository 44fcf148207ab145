"""Gradients of runs by the start and by the numbers of the description, against differences of whole runs."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from force_samples import IN_THE_WORLD, sample_mechanism, with_forces
from gradient_objectives import KNOWN, SAMPLES, energy_of
from marched_steps import slope_of
from random_mechanisms import random_closed, random_velocity_state
from run_gradients import LENGTH, check, check_along, objective_of

import varint as vi
from varint.derivatives.numbers import differences, number_of, numbers_in
from varint.derivatives.objective import changed_state


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4, 6])
def test_numbers_of_a_tree(rng, order):
    names = ["gravity", "link 1.mass", "link 2.inertia", "link 2.position", "joint 2.point", "joint 1.axis"]
    check(vi.mechanisms.double_pendulum(), names, rng, order=order)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
def test_numbers_of_a_loop(rng, order):
    """Three hinges are redundant with the fourth; in the plane they stay closed."""
    names = ["gravity", "crank.mass", "coupler.position", "crank pin.point[0]", "rocker pivot.point[2]"]
    check(vi.mechanisms.four_bar(), names, rng, order=order)


def test_a_number_that_opens_a_loop_is_refused(rng):
    mechanism = vi.mechanisms.four_bar()
    with pytest.raises(
        vi.ArgumentError, match=r"component 1 of 'crank pin.point_b' cannot change .* 'crank pin.point_b\[0\]'"
    ):
        vi.gradient(mechanism, lambda state: 0.0, 0.1, 0.01, with_respect_to=["crank pin.point_b"])


@pytest.mark.slow
def test_a_point_moves_in_both_bodies(rng):
    """Along the axis of a hinge it changes nothing, and the loop stays closed."""
    mechanism = vi.mechanisms.four_bar()
    found = check(mechanism, ["crank pin.point", "crank pin.point_b[0]"], rng)
    assert abs(found["crank pin.point"][1]) < 1e-12 * np.abs(found["crank pin.point"]).max()


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
def test_numbers_of_what_moves_at_the_start(rng, order):
    mechanism = vi.mechanisms.double_pendulum()
    state = mechanism.state(coordinates={"joint 1": 0.3}, rates={"joint 1": 2.0, "joint 2": -1.0})
    names = ["link 1.mass", "link 2.inertia", "joint 2.point", "joint 1.axis", "dt"]
    check(mechanism, names, rng, order=order, state=state)


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.6, 0.0])
def test_through_an_impact(rng, restitution):
    """The instant of the impact moves with all numbers; a stop without restitution closes and holds."""
    stop = vi.JointStop("stop", joint="joint 1", lower=-0.05, upper=3.0, restitution=restitution)
    plain = vi.mechanisms.double_pendulum()
    mechanism = with_forces(plain, stop)
    state = mechanism.state(coordinates={"joint 1": 0.02}, rates={"joint 1": -2.5, "joint 2": 0.5})
    names = ["link 1.mass", "link 2.inertia", "gravity", "joint 2.point", "stop.lower", "dt"]
    names += ["stop.restitution"] if restitution else []
    found = check(mechanism, names, rng, 0.06, 2e-3, state=state)
    assert abs(found["stop.lower"]) > 1e-3


@pytest.mark.slow
def test_an_impact_without_speed_has_no_derivative(monkeypatch):
    monkeypatch.setattr("varint.derivatives.event_checks.GRAZING", 1e3)  # as if it were the slowest of all
    mechanism = with_forces(vi.mechanisms.n_pendulum(1), vi.JointStop("stop", joint="joint 1", lower=-0.1, upper=3.0))
    start = mechanism.state(rates={"joint 1": -2.5})
    with pytest.raises(vi.ArgumentError, match="jointstop 'stop' is reached with zero speed"):
        vi.gradient(mechanism, lambda s: 0.0, 0.2, 0.01, with_respect_to=["gravity"], state=start)


@pytest.mark.slow
def test_through_two_impacts_at_one_instant():
    """Two balls that are alike meet the floor together."""

    def build(restitution, lower):
        places = {"a": (0.0, 0.0, 0.2), "b": (1.0, 0.0, 0.2)}
        balls = [vi.Body.sphere(name, 0.05, 2.0, position=place) for name, place in places.items()]
        slides = [vi.Prismatic(f"slide {n}", "world", n, point=place, axis=(0, 0, 1)) for n, place in places.items()]
        floors = [
            vi.JointStop(f"floor {n}", joint=f"slide {n}", lower=lower, upper=9.0, restitution=restitution)
            for n in "ab"
        ]
        return vi.Mechanism("two balls", balls, slides, forces=floors)

    def heights(state):
        return float(state.position[0, 2] + 2.0 * state.position[1, 2])

    def value(restitution, lower):
        run = vi.simulate(build(restitution, lower), 0.5, 0.01)
        return heights(run.state(len(run) - 1))

    given = {"restitution": 0.8, "lower": -0.2}
    found = vi.gradient(build, heights, 0.5, 0.01, parameters=given, with_respect_to=list(given))
    for name in given:
        exact = differences(lambda share, name=name: value(**given | {name: given[name] + share}), 1e-4)
        assert found[name] == pytest.approx(exact, rel=1e-8)


@pytest.mark.slow
def test_through_several_impacts(rng):
    """A bouncing ball: its height after bounces is that of the closed form, and so are the slopes."""
    e, g, height, v = 0.8, 9.81, 0.2, 1.0
    ball = vi.Body.sphere("ball", 0.05, 2.0, position=(0.0, 0.0, height))
    slider = vi.Prismatic("slider", "world", "ball", point=(0.0, 0.0, height), axis=(0.0, 0.0, 1.0))
    floor = vi.JointStop("floor", joint="slider", lower=-height, upper=10.0, restitution=e)
    mechanism = vi.Mechanism("ball", [ball], [slider], forces=[floor])

    def last(e, g, floor, v, duration):
        drop, time = floor, 0.0
        speed = -((v**2 + 2 * g * drop) ** 0.5)
        time = (v - speed) / g
        while time - 2 * e * speed / g < duration:
            speed *= e
            time -= 2 * speed / g
        left = duration - time
        return -drop - e * speed * left - 0.5 * g * left**2 + height

    names = ["gravity", "floor.lower", "floor.restitution", "start", "dt"]
    start = mechanism.state(rates={"slider": v})
    found = vi.gradient(
        mechanism, lambda s: float(s.position[0, 2]), 1.2, 0.01, with_respect_to=names, state=start, order=2
    )
    here = {"e": e, "g": g, "floor": height, "v": v, "duration": 1.2}
    assert found.value == pytest.approx(last(**here), abs=1e-9)

    def slope(name):
        return differences(lambda s: last(**here | {name: here[name] + s}), 1e-5)

    assert found["gravity"][2] == pytest.approx(-slope("g"), rel=1e-7)
    assert found["floor.lower"] == pytest.approx(-slope("floor"), rel=1e-7)
    assert found["floor.restitution"] == pytest.approx(slope("e"), rel=1e-7)
    assert found["start"].velocity[0, 2] == pytest.approx(slope("v"), rel=1e-7)
    assert found["dt"] == pytest.approx(120 * slope("duration"), rel=1e-7)


@pytest.mark.slow
def test_a_joint_that_is_a_product_of_exponentials(rng):
    mechanism = vi.mechanisms.roller_coaster()
    check(mechanism, [f"{mechanism.bodies[0].name}.mass", "gravity", "dt"], rng)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("seed", [*range(20), *(pytest.param(k, marks=pytest.mark.long) for k in range(20, 100))])
def test_numbers_of_random_loops(seed):
    """Overconstrained ones among them."""
    rng = np.random.default_rng(seed)
    mechanism = random_closed(rng, int(rng.integers(4, 9)), int(rng.integers(1, 3)))
    state = random_velocity_state(rng, mechanism, 0.3)
    check(mechanism, ["gravity", f"{mechanism.bodies[1].name}.mass", "dt"], rng, 0.02, 1e-3, state=state)


@pytest.mark.slow
def test_numbers_that_forces_depend_on(rng):
    """The point of a slider under a spring along it, and a mass that a point attracts."""
    block = vi.Body.box("block", (0.2, 0.2, 0.2), 2.0)
    arm = vi.Body.box("arm", (0.1, 0.1, 0.6), 1.0, position=(0.0, 0.0, -0.4))
    joints = [
        vi.Prismatic("slider", "world", "block", point=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)),
        vi.Revolute("hinge", "block", "arm", point=(0.0, 0.0, -0.1), axis=(0.0, 1.0, 0.0)),
    ]
    forces = [
        vi.CentralGravity("star", "world", "arm", mu=3.0, point_a=(1.0, 0.0, 0.5)),
        vi.Spring("spring", "world", "arm", point_a=(1.0, 0.0, 0.0), point_b=(0.0, 0.0, -0.6), stiffness=20.0),
    ]
    mechanism = vi.Mechanism("cart", [block, arm], joints, forces=forces)
    check(mechanism, ["arm.mass", "block.mass", "slider.point", "hinge.point", "gravity"], rng)


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in IN_THE_WORLD and name != "Attachment"])
@pytest.mark.slow
@pytest.mark.many
def test_numbers_of_forces(rng, name):
    """Each number of each force and coupling, with the state that the mechanism starts from given."""
    mechanism = sample_mechanism(np.random.default_rng(1), SAMPLES[name])
    names = [f"{force.name}.{key}" for force in mechanism.forces for key in numbers_in(force)]
    state = random_velocity_state(rng, mechanism, 0.3)
    if "Stop" in name:  # it is hard, or soft
        alone = ("restitution",) if mechanism.forces[0].stiffness else ("stiffness", "damping")
        names = [each for each in names if not each.endswith(alone)]
    names = [each for each in names if each != "g.integral"]  # it is zero: another law acts where it is not
    names = [each for each in names if (name, each) != ("Musculotendon", "f.mass")]  # no pulley divides it
    rtol = 3e-7 if name == "Musculotendon" else 1e-7  # round-off of differences by its smoothing
    check_along(mechanism, names, rng, 0.02, 2e-3, state=state, rtol=rtol)


@pytest.mark.slow
def test_the_gain_of_a_law_with_a_state(rng):
    servo = vi.JointServo("servo", joint="joint 1", target=0.5, stiffness=3.0, damping=0.1, integral=20.0)
    mechanism = with_forces(vi.mechanisms.double_pendulum(), servo)
    check(mechanism, ["servo.integral", "servo.target", "link 1.mass", "dt"], rng, duration=0.2, order=4)


def test_a_number_that_changes_the_law_is_refused():
    servo = vi.JointServo("servo", joint="joint 1", target=0.5, stiffness=3.0)
    mechanism = with_forces(vi.mechanisms.double_pendulum(), servo)
    with pytest.raises(vi.ArgumentError, match=r"'servo.integral' cannot change .* laws are other ones"):
        vi.gradient(mechanism, lambda state: 0.0, 0.1, 0.01, with_respect_to=["servo.integral"])


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("state", ["at rest", "elsewhere"])
def test_couplings_keep_what_they_start_with(rng, order, state):
    """Where its sum is not zero at the start, a coupling keeps it at what the numbers make of it."""
    coupling = vi.Coupling("gears", terms=[("joint 1", 0, 1.0), ("joint 2", 0, -2.0)])
    plain = vi.mechanisms.n_pendulum(2)
    mechanism = with_forces(plain, coupling)
    start = plain.state(coordinates={"joint 1": 0.4, "joint 2": 0.9} if state == "elsewhere" else {})
    check(mechanism, ["link 1.mass", "joint 2.point", "gravity", "dt"], rng, order=order, state=start)

    def build(ratio):
        gears = vi.Coupling("gears", terms=[("joint 1", 0, 1.0), ("joint 2", 0, ratio)])
        return dataclasses.replace(mechanism, forces=[gears])

    objective = objective_of(mechanism, rng)
    given = {"with_respect_to": ["ratio"], "parameters": {"ratio": -2.0}, "state": start, "order": order}
    found = vi.gradient(build, objective, LENGTH, 2e-3, **given)["ratio"]

    def value(share):
        run = vi.simulate(build(-2.0 + share), LENGTH, 2e-3, order=order, state=start, tol=1e-13)
        return objective(run.state(len(run) - 1))

    assert found == pytest.approx(differences(value, 1e-3), rel=1e-7)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("kind", ["function", "series", "rate"])
@pytest.mark.filterwarnings("ignore::varint.ReplacedRateWarning")  # the start has another rate
def test_prescribed_motions(rng, kind, order):
    """By the numbers of a driven linkage, by its step, and by the values of the motion itself."""
    dt, steps = 2e-3, 25
    plain = vi.mechanisms.four_bar()
    angle, joint = 0.3, plain.joints[0].name
    given = {
        "function": lambda t: np.sin(angle * t),
        "series": np.sin(angle * dt * np.arange(steps + 1)),
        "rate": None,
    }[kind]
    motion = {"rate": angle} if kind == "rate" else {"position": given}
    mechanism = with_forces(plain, vi.PrescribedMotion("drive", joint=joint, **motion))
    start = mechanism.state(rates={joint: angle})
    if kind != "series":
        names = [f"{plain.bodies[1].name}.mass", "gravity", "dt"] + (["drive.rate"] if kind == "rate" else [])
        check(mechanism, names, rng, steps * dt, dt, order, start)
        return
    objective, along = objective_of(mechanism, rng), dt * rng.standard_normal(steps + 1) * (np.arange(steps + 1) > 0)
    by = vi.gradient(mechanism, objective, steps * dt, dt, with_respect_to="drive.position", state=start, order=order)

    def value(share):
        moved = with_forces(plain, dataclasses.replace(mechanism.forces[0], position=given + share * along))
        run = vi.simulate(moved, steps * dt, dt, order=order, state=start, tol=1e-13, on_unresolved="ignore")
        return objective(run.state(len(run) - 1))

    assert by["drive.position"] @ along == pytest.approx(differences(value, 1e-2), rel=1e-7)


@pytest.mark.slow
def test_inputs_over_time(rng):
    """Efforts with one value a node, and loads on a body, against differences of runs."""
    steps, dt = 20, 5e-3
    plain, objective = vi.mechanisms.double_pendulum(), None
    motor = vi.Motor("motor", joint="joint 1", effort=rng.standard_normal(steps + 1))
    mechanism = with_forces(plain, motor)
    objective = objective_of(mechanism, rng)
    loads = {"force": {"link 2": rng.standard_normal((steps + 1, 3))}, "torque": {"link 1": rng.standard_normal(3)}}
    names = ["motor.effort", "link 2.force", "link 1.torque", "link 1.force"]
    found = vi.gradient(mechanism, objective, steps * dt, dt, with_respect_to=names, order=4, **loads)
    assert [found[name].shape for name in names] == [(steps + 1,), (steps + 1, 3), (3,), (3,)]

    def value(effort, force, torque, other):
        run = vi.simulate(
            with_forces(plain, dataclasses.replace(motor, effort=effort)), steps * dt, dt, order=4, tol=1e-13,
            force={"link 2": force, "link 1": other}, torque={"link 1": torque},
        )  # fmt: skip
        return objective(run.state(len(run) - 1))

    here = [motor.effort, loads["force"]["link 2"], loads["torque"]["link 1"], np.zeros(3)]
    for k, name in enumerate(names):
        along = rng.standard_normal(found[name].shape)

        def changed(share, k=k, along=along):
            return value(*(each + share * along if m == k else each for m, each in enumerate(here)))

        assert np.sum(found[name] * along) == pytest.approx(differences(changed, 1e-2), rel=1e-8), name


def test_loads_and_sub_steps(rng):
    """Loads with one value a node; a top that turns further in a step than one can."""
    mechanism = vi.mechanisms.spinning_top()
    name = mechanism.bodies[0].name
    state = mechanism.state(rates={mechanism.joints[0].name: (3.0, 2.0, 60.0)})
    objective = objective_of(mechanism, rng)
    given = {"state": state, "order": 4, "torque": {name: rng.standard_normal((6, 3))}}
    found = vi.gradient(mechanism, objective, 0.1, 0.02, with_respect_to=[f"{name}.mass"], **given)

    def value(share):
        number = number_of(mechanism, f"{name}.mass")
        changed = number.replaced(number.value + share)
        run = vi.simulate(changed, 0.1, 0.02, tol=1e-13, **given | {"state": changed.assemble(state)})
        assert run.substeps > 0
        return objective(run.state(len(run) - 1))

    assert found[f"{name}.mass"] == pytest.approx(slope_of(value, 1e-3 * mechanism.bodies[0].mass), rel=1e-7)


@pytest.mark.parametrize("angle", [0.0, np.pi / 2, np.pi])
def test_at_rest_and_aligned(angle):
    """Nothing is infinite where links lie on a line, nothing moves or a spring is not stretched."""
    mechanism = vi.mechanisms.n_pendulum(3, angle=angle)
    spring = vi.Spring("spring", "link 1", "link 3", point_a=mechanism.bodies[0].position,
                       point_b=mechanism.bodies[0].position, stiffness=5.0, rest_length=0.0)  # fmt: skip
    mechanism = with_forces(mechanism, spring)
    names = ["start", "gravity", "link 1.mass", "spring.stiffness", "joint 2.point"]
    found = vi.gradient(mechanism, energy_of(mechanism), 0.05, 0.01, with_respect_to=names)
    for name in names:
        assert np.isfinite(np.asarray(found[name])).all()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("coupler", "'coupler' is no number: body 'coupler' has the numbers inertia, mass, position"),
        ("couple.mass", "no body, joint, force or parameter is called 'couple', .*'coupler'"),
        ("coupler.weight", "'coupler.weight' is no number: body 'coupler' has the numbers inertia, mass, position"),
        ("coupler.mass[0]", "there is no 'coupler.mass.0.'"),
        (3, "takes names"),
    ],
)
def test_unknown_names(name, problem):
    with pytest.raises(vi.ArgumentError, match=problem):
        vi.gradient(vi.mechanisms.four_bar(), lambda state: 0.0, 0.1, 0.01, with_respect_to=[name])


def test_what_has_no_derivative():
    pendulum = vi.mechanisms.n_pendulum(1)
    given = {"objective": lambda state: 0.0, "duration": 0.1, "dt": 0.01, "with_respect_to": ["gravity"]}
    with pytest.raises(vi.ArgumentError, match="order 2 or more"):
        vi.gradient(pendulum, order=1, **given)
    with pytest.raises(vi.ArgumentError, match="times must rise"):
        vi.gradient(pendulum, times=[0.015], **given)
    motor = vi.Motor("motor", joint="joint 1", effort=vi.extrapolated(lambda t, state: 1.0))
    with pytest.raises(vi.ArgumentError, match="motor 'motor' has an input that is extrapolated"):
        vi.gradient(with_forces(pendulum, motor), **given)
    with pytest.raises(vi.ArgumentError, match="the gradient has no 'mass'"):
        vi.gradient(pendulum, **given)["mass"]


@pytest.mark.slow
def test_the_examples_of_the_page():
    """The mass that is fitted is that of the mechanism that made the track."""
    page = (Path(__file__).parents[1] / "docs" / "gradients.md").read_text()
    names: dict = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", page, re.S)), names)
    assert names["fit"].x == pytest.approx([1.0], abs=1e-7)
    assert np.shape(names["g"]["gravity"]) == (3,)


def test_a_changed_state():
    state = vi.mechanisms.n_pendulum(1).state()
    change = np.zeros((1, 12))
    change[0, 4] = 0.1
    turned = changed_state(state, change)
    assert np.linalg.norm(turned.quat_wxyz[0]) == pytest.approx(1.0)
    assert 2 * np.arccos(abs(turned.quat_wxyz[0] @ state.quat_wxyz[0])) == pytest.approx(0.1)
