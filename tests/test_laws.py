"""Laws: derivatives, potentials, parameters by name; and the states of laws in a run, in both formulations."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
from force_samples import sample_mechanism, samples
from random_mechanisms import random_velocity_state

import varint as vi
from varint.base.numba import addresses_of
from varint.methods.reduced.integrators import INTEGRATORS
from varint.methods.variational.schemes import SCHEMES
from varint.model.forces.base import FORCES, Effort
from varint.model.forces.law import LAWS, VARIABLES, Law
from varint.step.laws import LAW_NAMES, evaluate_laws, law_potential
from varint.step.workspace import workspace

STEP = 1e-5
every_law = pytest.mark.parametrize("name", sorted(LAWS))


def push(value, rate):
    return -2.0 * value**3 - 0.3 * rate, -6.0 * value**2, -0.3


def random_arguments(rng, law):
    """By name; value and rate anywhere but where a law has a kink or a pole."""
    given = {name: rng.uniform(0.3, 1.5) for name in law.parameters}
    given |= {"value": rng.uniform(0.3, 1.5), "rate": rng.uniform(-1.0, 1.0), "input": rng.uniform(-1.0, 1.0)}
    if {"lower", "upper"} <= set(law.parameters):
        given |= {"value": rng.uniform(-1.5, 1.5), "lower": -0.2, "upper": 0.3}
    pieces = rng.standard_normal((4, 6))
    pieces[:, 0] = (-9.0, 0.2, 0.9, 9.0)
    given |= {"state": rng.standard_normal(), "table": pieces, "function": addresses_of([push])[0]}
    return {name: given[name] for name in law.arguments}


def called(law, given, **changed):
    """The numbers that ``effort`` gives, with those of ``flow`` where it is a function of its own."""
    found = law.effort(*law.call_arguments(law.effort, given | changed))
    if law.flow:
        flow, by_state = law.flow(*law.call_arguments(law.flow, given | changed))
        found = *found, flow, 0.0, 0.0, by_state
    return np.array(found)


@pytest.mark.slow
def test_results_and_arguments_of_every_law():
    """Three numbers, or eight where there is a state; arguments that are given, or parameters that the force names."""
    for name, law in LAWS.items():
        assert law.name == name
        assert set(law.arguments) == (set(law.arguments) & set(VARIABLES)) | set(law.parameters)
        found = called(law, random_arguments(np.random.default_rng(0), law))
        assert found.shape == ((8,) if law.has_state else (3,))
        named = {"value": 0.0, "table": np.zeros((1, 6))} | dict.fromkeys(law.parameters, 0.0)
        assert law.potential is None or law.call_arguments(law.potential, named)
    assert tuple(sorted(LAWS)) == LAW_NAMES


@every_law
def test_derivatives_against_differences(name, rng):
    """Of the effort, and of the flow of a state, by value, rate and state."""
    law, by = LAWS[name], ("value", "rate", "state")
    acting = 0
    for _ in range(100):
        given = random_arguments(rng, law)
        found = called(law, given)
        slopes = {"effort": found[1:4] if law.has_state else [*found[1:3], 0.0]}
        slopes["flow"] = found[5:8] if law.has_state else np.zeros(3)
        for k, argument in enumerate(by):
            differences = np.zeros(8)
            if argument in given:
                samples = [called(law, given, **{argument: given[argument] + s * STEP}) for s in (1, -1, 2, -2)]
                slope = (8 * (samples[0] - samples[1]) - (samples[2] - samples[3])) / (12 * STEP)
                if np.abs(samples[2] + samples[3] - 2 * found).max() > 1e-7:  # a kink is near
                    continue
                differences[: slope.size] = slope
            size = 1.0 + np.abs(found).max()
            assert slopes["effort"][k] == pytest.approx(differences[0], abs=1e-8 * size)
            if law.has_state:
                assert slopes["flow"][k] == pytest.approx(differences[4], abs=1e-8 * size)
        acting += found[0] != 0.0
    assert acting > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(name for name, law in LAWS.items() if law.potential))
def test_potential_is_minus_the_integral_of_the_effort(name, rng):
    """Without damping, from a start to any value, by Gauss-Legendre."""
    law = LAWS[name]
    nodes, weights = np.polynomial.legendre.leggauss(20)
    for _ in range(20):
        still = {"damping": 0.0, "rate": 0.0, "rest": 0.7}
        given = random_arguments(rng, law)
        given |= {argument: value for argument, value in still.items() if argument in given}
        if name == "hunt-crossley":  # whose effort is no polynomial across its limit
            given["lower"] = 2.0
        ends = np.sort(rng.uniform(0.95, 1.5, 2))  # in one piece of the table, on one side of a limit and of the rest
        values = ends[0] + 0.5 * (nodes + 1.0) * (ends[1] - ends[0])
        work = (
            0.5
            * (ends[1] - ends[0])
            * sum(w * called(law, given, value=x)[0] for w, x in zip(weights, values, strict=True))
        )
        low, high = (law.potential(*law.call_arguments(law.potential, given | {"value": x})) for x in ends)
        assert high - low == pytest.approx(-work, abs=1e-12 * (1.0 + abs(high)))


@pytest.mark.slow
def test_dampers_take_energy_and_stops_only_push_back(rng):
    for name, law in LAWS.items():
        for _ in range(50):
            given = random_arguments(rng, law)
            found = called(law, given)
            assert name == "user" or name.startswith("muscle") or found[2] <= 0.0  # muscles push faster, too
            if name == "cable":
                assert found[0] <= 0.0
            if name == "stop":
                assert found[0] * (given["value"] - 0.05) <= 0.0
            if name == "dry friction":
                assert found[0] * given["rate"] <= 0.0
            if name == "speed servo":
                assert found[0] * (given["rate"] - given["input"]) <= 0.0


def test_parameters_are_told_by_their_names():
    law = LAWS["spring"]
    assert law.values({"damping": 3.0, "stiffness": 1.0, "rest": 2.0}) == (1.0, 2.0, 3.0)
    for wrong in ({"stiffness": 1.0}, {"stiffness": 1.0, "rest": 2.0, "damping": 3.0, "more": 4.0}):
        with pytest.raises(TypeError, match="law 'spring' has the parameters"):
            law.values(wrong)
    with pytest.raises(ValueError, match="law 'spring' is already registered"):
        Law("spring", push)
    assert law is LAWS["spring"]


@pytest.mark.slow
def test_a_plan_holds_the_parameters_of_each_law_in_their_order(rng):
    """Each law of all samples: what the plan gives to its function is what the force gave, by name."""
    seen = set()
    for forces in samples(rng).values():
        if any((force.solved_for or force.restricted) for force in forces):
            continue
        mechanism = sample_mechanism(rng, forces)
        compiled = mechanism.compiled
        laws = compiled.plan.laws
        efforts = [e for force in mechanism.forces for e in force.elements(mechanism)]
        for f, number in enumerate(laws.element):
            element = efforts[number]
            assert isinstance(element, Effort)
            assert LAW_NAMES[laws.kind[f]] == element.law.name
            first = laws.first[f]
            for k, name in enumerate(element.law.parameters):
                assert laws.parameter[first + k] == element.parameters[name]
            assert (laws.state[f] >= 0) == element.law.has_state
            seen.add(element.law.name)
    muscles = {name for name in LAWS if name.startswith("muscle")}  # of which one is among the samples
    assert seen & muscles
    assert seen | muscles | {"servo with integral"} == set(LAWS)


@pytest.mark.parametrize("span", [0.0, 0.01, -0.02, 3.0])
def test_efforts_of_a_plan_are_those_of_the_laws(span, rng):
    """What `evaluate_laws` finds, the effort through a law's own state over ``span`` included."""
    servo = vi.JointServo("g", joint="slider", target=0.4, stiffness=3.0, damping=0.5, integral=7.0)
    found = samples(rng)
    (actuator,), (spring,) = found["FirstOrderActuator"], found["TorsionSpring"]
    mechanism = sample_mechanism(rng, [actuator, servo, replace(spring, name="spring")])
    compiled = mechanism.compiled
    plan, ws, nb = compiled.plan, workspace(compiled.plan, functions=compiled.functions), len(mechanism.bodies)
    state = random_velocity_state(rng, mechanism)
    ws.position[0, :-1], ws.quat[0, :-1] = state.position[compiled.order], state.quat_wxyz[compiled.order]
    ws.efforts.input[:], ws.efforts.state[:] = (0.3, 0.4, 0.0), rng.standard_normal(ws.efforts.state.size)
    velocity = np.hstack([state.velocity, state.angular_velocity])[compiled.order]
    assert nb == 4

    def efforts(velocity):
        evaluate_laws(plan, ws, ws.position[0], ws.rotation[0], velocity, span)
        return [array.copy() for array in (ws.efforts.effort, ws.efforts.sum_rate, ws.efforts.flow)]

    efforts(velocity)
    given = [e for force in mechanism.forces for e in force.elements(mechanism)]
    for s in range(plan.laws.sum_law.size - 1):
        for f in range(plan.laws.sum_law[s], plan.laws.sum_law[s + 1]):
            element, e = given[plan.laws.element[f]], plan.laws.element[f]
            law, work = element.law, ws.efforts
            arguments = dict(element.parameters)
            arguments |= {"value": work.sum_value[s], "rate": work.sum_rate[s], "input": work.input[e]}
            if law.has_state:
                n = plan.laws.state[f]
                arguments["state"] = work.state[n] + span * work.flow[n]
            found = law.effort(*law.call_arguments(law.effort, arguments))
            assert work.effort[e] == pytest.approx(found[0], abs=1e-13 * (1.0 + abs(found[0])))
            if law.has_state:
                assert work.flow[n] == pytest.approx(found[4], abs=1e-12 * (1.0 + abs(found[4])))
                slope = found[3] * span / (1.0 - span * found[7])
                assert work.law_by_value[f] == pytest.approx(found[1] + slope * found[5], abs=1e-12)
                assert work.law_by_rate[f] == pytest.approx(found[2] + slope * found[6], abs=1e-12)
            potential = law_potential(plan, f, work.sum_value[s])
            assert (potential != 0.0) == (law.potential is not None)


# ------------------------------------------------------------------------------- a law with a state


GAIN, CONSTANT, COMMAND = 2.0, 0.05, 1.3


def arm(command=COMMAND, gravity=(0, 0, 0)):
    """A box that turns about the vertical through its centre, moved by the actuator."""
    hinge = vi.Revolute("hinge", "world", "arm", point=(0, 0, 0), axis=(0, 0, 1))
    actuator = vi.FirstOrderActuator("a", joint="hinge", gain=GAIN, time_constant=CONSTANT, command=command)
    body = vi.Body.box("arm", (0.5, 0.1, 0.1), 2.0, position=(0, 0, 0))
    return vi.Mechanism("arm", [body], [hinge], forces=[actuator], gravity=gravity)


def exact(t):
    """Angle, rate, activation: J angle'' = gain a, a = command (1 - exp(-t / T))."""
    inertia, T = arm().bodies[0].inertia[2, 2], CONSTANT
    lag = 1.0 - np.exp(-t / T)
    scale = GAIN * COMMAND / inertia
    return scale * (0.5 * t**2 - T * t + T**2 * lag), scale * (t - T * lag), COMMAND * lag


def errors_of(run):
    angle, rate, activation = exact(run.t)
    return (
        np.abs(run.coordinates["hinge"] - angle).max(),
        np.abs(run.angular_velocity[:, 0, 2] - rate).max(),
        np.abs(run.law_states[:, 0] - activation).max(),
    )


@pytest.mark.parametrize("name", [name for name, scheme in SCHEMES.items() if not scheme.staggered])
def test_step_response_of_an_actuator_at_the_order_of_the_scheme(name):
    order = SCHEMES[name].order
    steps = (0.01, 0.005) if order < 6 else (0.025, 0.0125) if order == 6 else (0.1, 0.05)
    found = np.array([errors_of(vi.simulate(arm(), 0.3, dt, scheme=name, tol=1e-13)) for dt in steps])
    slopes = np.log2(found[0] / found[1])
    assert slopes[found[1] > 1e-12].min() > order - 0.35  # the angle's is higher where its error is all but round-off
    if order == 2:
        assert slopes == pytest.approx(np.full(3, 2.0), abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, kind in INTEGRATORS.items() if not kind.fixed or kind.order <= 2])
def test_step_response_of_an_actuator_in_reduced_coordinates(name):
    kind = INTEGRATORS[name]
    if not kind.fixed:
        assert max(errors_of(vi.redmax.simulate(arm(), 0.3, integrator=name, rtol=1e-9))) < 1e-6
        return
    runs = (vi.redmax.simulate(arm(), 0.3, dt=dt, integrator=name) for dt in (0.002, 0.001))
    found = np.array([errors_of(run) for run in runs])
    assert np.log2(found[0] / found[1]) == pytest.approx(np.full(3, kind.order), abs=0.1)


def test_effort_work_and_balance_of_an_actuator():
    """Its effort is the gain times its state at each node; the work is the change of energy."""
    runs = [vi.simulate(arm(), 0.3, dt) for dt in (0.01, 0.005)]
    for run in (*runs, vi.redmax.simulate(arm(), 0.3, rtol=1e-9)):
        assert run.force["a"] == pytest.approx(GAIN * run.law_states[:, 0], abs=1e-12)
        assert run.energy - run.energy[0] == pytest.approx(run.work[:, 0], abs=2e-3 * run.kinetic.max())
        assert run.law_states[0, 0] == 0.0
    coarse, fine = (np.abs(run.energy_balance).max() for run in runs)
    assert coarse < 1e-9 or coarse / fine == pytest.approx(4.0, rel=0.1)


def test_formulations_agree_on_an_actuator_in_a_chain(rng):
    actuator = vi.FirstOrderActuator("f", joint="hinge", gain=5.0, time_constant=0.1, command=0.9)
    mechanism = sample_mechanism(rng, [actuator])
    state = random_velocity_state(rng, mechanism, 0.5)
    reduced = vi.redmax.simulate(mechanism, 0.2, dt=0.01, rtol=1e-10, state=state)
    gaps = []
    for k in (4, 8):
        run = vi.simulate(mechanism, 0.2, 0.01 / k, every=k, state=state, tol=1e-12)
        gaps.append(
            [np.abs(getattr(run, field) - getattr(reduced, field)).max() for field in ("position", "law_states")]
        )
    assert np.log2(np.divide(*gaps)) == pytest.approx([2.0, 2.0], abs=0.1)


def both(mechanism, duration, dt, **given):
    return (
        lambda **more: vi.simulate(mechanism, duration, dt, **given, **more),
        lambda **more: vi.redmax.simulate(mechanism, duration, dt=dt, integrator="bdf2", **given, **more),
    )


@pytest.mark.slow
@pytest.mark.parametrize("formulation", [0, 1], ids=["maximal", "reduced"])
def test_resumed_runs_carry_the_states_of_laws(formulation, tmp_path):
    """The bits of the states, and of what they move, are those of a run in one piece; the checkpoint has them."""
    path = tmp_path / "run.h5"
    whole = both(arm(), 0.5, 0.01)[formulation]()
    both(arm(), 0.2, 0.01)[formulation](output=path)
    with h5py.File(path) as file:
        held = {}
        file["checkpoint"].visititems(
            lambda name, item: held.update({name: item[()]} if hasattr(item, "shape") else {})
        )
    end = vi.load(path).law_states[-1]
    assert end[0] == pytest.approx(exact(0.2)[2], abs=0.1)
    assert any(np.isin(end[0], value).any() for value in held.values()), sorted(held)
    resumed = both(arm(), 0.5, 0.01)[formulation](output=path, resume=True)
    read = vi.load(path)
    assert whole.law_states.shape == (len(whole.t), 1)
    for run in (resumed, read):
        for name in ("law_states", "position", "quat_wxyz", "angular_velocity", "work"):
            np.testing.assert_array_equal(getattr(run, name), getattr(whole, name))


def test_laws_without_states_have_none():
    assert vi.simulate(vi.mechanisms.governor(), 0.02, 0.01).law_states.shape == (3, 0)


def test_wrong_actuators():
    for given, message in (
        (
            {"gain": 2.0, "time_constant": 0.0, "command": 1.0},
            "time_constant of firstorderactuator 'a' must be positive",
        ),
        ({"gain": np.nan, "time_constant": 0.1, "command": 1.0}, "gain of firstorderactuator 'a'"),
        ({"gain": 2.0, "time_constant": 0.1, "command": "high"}, "command of firstorderactuator 'a'"),
    ):
        with pytest.raises(vi.MechanismError, match=message):
            vi.FirstOrderActuator("a", joint="hinge", **given)
    assert FORCES["FirstOrderActuator"] is vi.FirstOrderActuator
