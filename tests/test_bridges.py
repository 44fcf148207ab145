"""Runs within JAX and PyTorch: their gradients are those of `vi.gradient` and of differences of runs."""

import dataclasses
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from fed_back_four_bar import NAMED, NODES, fed_back

import varint as vi
from varint.derivatives.numbers import differences
from varint.derivatives.objective import by_states
from varint.extras.bridges.rollout import Cotangents, Rollout, RolloutStates

DURATION, DT, ORDER = 0.2, 0.01, 4
TIMES = [0.0, 0.07, 0.2]
SIZES = (3, 4, 3, 3)
VALUES = {"mass": np.array([1.3, 0.6]), "length": np.array(0.8)}
RNG = np.random.default_rng(3)
WEIGHTS = [RNG.standard_normal((len(TIMES), 2, n)) for n in SIZES]


def build(mass, length):
    """A double pendulum that falls out of a plane, with balls for joints."""
    sizes = (0.1, 0.05, length), (0.08, 0.1, 0.5)
    below, end = (0.0, 0.0, -length / 2), (0.1, 0.0, -length - 0.25)
    first = vi.Body.box("first", sizes[0], mass[0], position=below)
    second = vi.Body.box("second", sizes[1], mass[1], position=end)
    joints = [
        vi.Spherical("shoulder", "world", "first", point=(0.0, 0.0, 0.0)),
        vi.Spherical("elbow", "first", "second", point=(0.0, 0.0, -length)),
    ]
    return vi.Mechanism("pendulum", [first, second], joints, gravity=(3.0, 2.0, -9.0))


def loss(states, weights=WEIGHTS):
    """Of the states as arrays of any library: a small function after the run."""
    return sum((weight * part**2).sum() for weight, part in zip(weights, states, strict=True))


def loss_of_states(states):
    return float(loss([np.array([getattr(state, name) for state in states]) for name in RolloutStates._fields]))


def exact():
    """By `vi.gradient`, whose objective is differenced by the states."""
    return vi.gradient(
        build, loss_of_states, DURATION, DT, order=ORDER, times=TIMES, parameters=VALUES, with_respect_to=list(VALUES)
    )


def by_runs(name, k):
    """The derivative by a component of a parameter, by differences of runs."""

    def value(share):
        changed = {key: np.array(array) for key, array in VALUES.items()}
        changed[name].reshape(-1)[k] += share
        mechanism = build(changed["mass"], float(changed["length"]))
        run = vi.simulate(mechanism, DURATION, DT, order=ORDER, tol=1e-13)
        return loss_of_states([run.state(round(time / DT)) for time in TIMES])

    return differences(value, 1e-3)


def check(found):
    """``found``: the gradient by name."""
    scale = max(np.abs(found[name]).max() for name in VALUES)
    for name, value in VALUES.items():
        runs = np.reshape([by_runs(name, k) for k in range(value.size)], value.shape)
        np.testing.assert_allclose(found[name], exact()[name], rtol=0, atol=1e-7 * scale, err_msg=name)
        np.testing.assert_allclose(found[name], runs, rtol=0, atol=1e-7 * scale, err_msg=name)


def rollout_of(make, **options):
    return make(build, DURATION, DT, order=ORDER, times=TIMES, **options)


def names_after_the_example(library):
    """The names that the example of docs/bridges.md for this library has made."""
    page = (Path(__file__).parent.parent / "docs" / "bridges.md").read_text()
    (block,) = [block for block in re.findall(r"```python\n(.*?)```", page, re.S) if f"import {library}\n" in block]
    exec(block, names := {})
    return names


# ------------------------------------------------------------------------------------------ without the libraries


def test_cotangents_are_the_gradient_of_their_product_with_the_states():
    """Those by quaternions too, which are turned into derivatives by rotation vectors."""
    mechanism = vi.mechanisms.double_pendulum("spherical")
    run = vi.simulate(mechanism, DURATION, DT)
    states = [run.state(0), run.state(9)]
    objective = Cotangents(RolloutStates(*(RNG.standard_normal((2, 2, n)) for n in SIZES)))

    def plain(given):
        return objective(given)

    args = states, False, mechanism.compiled.length, DURATION
    np.testing.assert_allclose(by_states(objective, *args)[1], by_states(plain, *args)[1], atol=1e-9)


def test_numbers_of_a_mechanism_are_parameters():
    """By the names of `vi.gradient`; an input takes one value a node."""
    rod = vi.Body.rod("rod", (0, 0, 0), (0, 0, -1), 1.0)
    pin = vi.Revolute("pin", "world", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    pendulum = vi.Mechanism("pendulum", [rod], [pin], forces=[vi.Motor("motor", joint="pin", effort=0.0)])
    effort, weights = np.sin(np.arange(21)), [weight[1:2, :1] for weight in WEIGHTS]
    given = {"rod.mass": np.array(1.3), "motor.effort": effort}
    rollout = Rollout(pendulum, DURATION, DT, None, {"order": ORDER})
    states = rollout.states(given)
    changed = dataclasses.replace(
        pendulum,
        bodies=[dataclasses.replace(rod, mass=1.3)],
        forces=[vi.Motor("motor", joint="pin", effort=effort)],
    )
    run = vi.simulate(changed, DURATION, DT, order=ORDER, tol=1e-12)
    for name, part in zip(RolloutStates._fields, states, strict=True):
        assert np.array_equal(part[0], getattr(run, name)[-1])
    by_mass, by_effort = rollout.back(given, list(given), weights)

    def value(state):
        pairs = zip(RolloutStates._fields, weights, strict=True)
        return sum(float(np.sum(weight * getattr(state, name))) for name, weight in pairs)

    exact = vi.gradient(changed, value, DURATION, DT, order=ORDER, with_respect_to=["rod.mass", "motor.effort"])
    np.testing.assert_allclose(by_mass, exact["rod.mass"], rtol=1e-7)
    np.testing.assert_allclose(by_effort, exact["motor.effort"], rtol=0, atol=1e-7 * np.abs(by_effort).max())
    with pytest.raises(vi.ArgumentError, match="'rods'"):
        rollout.states({"rods.mass": 1.0})


def test_rollouts_warn_of_unresolved_steps_once_or_not(recwarn):
    chain = vi.mechanisms.n_pendulum(n=5, angle=2.5)
    found = {}
    for how in ("warn", "ignore"):
        rollout = Rollout(chain, 2.0, 0.02, None, {"on_unresolved": how})
        ones = [np.ones_like(array) for array in rollout.states({"link 1.mass": 1.0})]
        found[how] = rollout.back({"link 1.mass": 1.0}, ["link 1.mass"], ones)[0]
        assert [w.category for w in recwarn] == [vi.UnresolvedWarning]
    assert found["warn"] == found["ignore"]


def test_a_rollout_warns_in_its_first_unresolved_run_alone(recwarn):
    """A descent runs the same mechanism hundreds of times."""
    rollout = Rollout(vi.mechanisms.n_pendulum(n=5, angle=2.5), 2.0, 0.02, None, {})
    for mass in (1.0, 1.01):
        rollout.states({"link 1.mass": mass})
    assert [w.category for w in recwarn] == [vi.UnresolvedWarning]


def test_the_path_of_a_point_is_that_of_states():
    mechanism, place = vi.mechanisms.double_pendulum("spherical"), (0.1, -0.2, 0.3)
    rollout = Rollout(mechanism, DURATION, DT, TIMES, {})
    run = vi.simulate(mechanism, DURATION, DT, tol=1e-12)
    by_states = [run.at(t).point(1, place) for t in TIMES]
    np.testing.assert_allclose(rollout.states({}).path(1, place), by_states, rtol=0, atol=1e-15)
    states = rollout.states({})
    for number in (2, -1):
        with pytest.raises(
            vi.ArgumentError, match=f"number of a body must be a whole number from 0 up to 1, got {number}"
        ):
            states.path(number, place)
    for wrong, got in (([0, 0], "2"), (np.zeros((3, 1)), r"shape \(3, 1\)")):
        with pytest.raises(vi.ArgumentError, match=f"place must be three numbers, got {got}"):
            states.path(1, wrong)


def test_the_path_of_a_point_takes_the_name_of_a_body():
    rollout = Rollout(build, DURATION, DT, TIMES, {})
    states = rollout.states(VALUES)
    with pytest.raises(vi.ArgumentError, match="names of bodies are not known here: give the number of 'second'"):
        states.path("second", (0.1, 0.2, 0.3))
    states.mechanism = rollout.mechanism
    assert np.array_equal(states.path("second", (0.1, 0.2, 0.3)), states.path(1, (0.1, 0.2, 0.3)))
    with pytest.raises(vi.ArgumentError, match="no body 'secnd', did you mean 'second'"):
        states.path("secnd", (0, 0, 0))


def test_the_angle_of_a_hinge_is_its_coordinate():
    """Also of a hinge on the world, of axes that are turned in the reference, and of one by the gradient."""
    mechanism = vi.mechanisms.four_bar()
    states = Rollout(mechanism, 0.5, DT, times := [0.1, 0.3, 0.5], {}).states({})
    states.mechanism, states.parameters = mechanism, ()
    run = vi.simulate(mechanism, 0.5, DT, tol=1e-12)
    for joint in mechanism.joints:
        poses = [vi.State(*list(vars(run.at(t)).values())[:4]) for t in times]  # without turns, as those of a rollout
        by_states = [mechanism.coordinates(pose)[joint.name] for pose in poses]
        np.testing.assert_allclose(states.angle(joint.name), by_states, rtol=0, atol=1e-14, err_msg=joint.name)
    states.parameters = ["crank pin.axis[0]"]
    with pytest.raises(
        vi.ArgumentError, match=r"angle of revolute joint 'crank pin' has no derivative by 'crank pin\.axis"
    ):
        states.angle("crank pin")
    with pytest.raises(vi.ArgumentError, match="no joint 'crnk pin', did you mean 'crank pin'"):
        states.angle("crnk pin")
    states.mechanism = build(**VALUES)
    with pytest.raises(vi.ArgumentError, match="'elbow' is no hinge"):
        states.angle("elbow")
    states.parameters = None
    with pytest.raises(vi.ArgumentError, match="angles are those of a rollout of a Mechanism"):
        states.angle("elbow")


def check_angle(found):
    """The derivative of a sum of angles by the inputs, through a library, is that of `vi.gradient`."""
    mechanism = fed_back()

    def angles(mechanism, states):
        return float(sum(mechanism.coordinates(state)["rocker pin"] for state in states))

    given = {"times": TIMES, "of_mechanism": True, "with_respect_to": ["motor.effort"]}
    replaced = [
        dataclasses.replace(force, effort=NAMED["motor.effort"]) if force.name == "motor" else force
        for force in mechanism.forces
    ]
    exact = vi.gradient(dataclasses.replace(mechanism, forces=replaced), angles, DURATION, DT, **given)["motor.effort"]
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-8 * np.abs(exact).max())


def test_the_path_of_a_point_has_a_gradient(torch):
    """By the pose, and by the place itself."""
    states = RolloutStates(*(torch.tensor(RNG.standard_normal((3, 2, n)), requires_grad=True) for n in SIZES))
    place = torch.tensor([0.1, -0.2, 0.3], requires_grad=True, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda p, q, r: RolloutStates(p, q, None, None).path(1, r), (*states[:2], place))


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_a_missing_library_names_the_extra(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    message = rf'needs the package {library}: pip install "varint-dynamics\[{library}\]"'
    with pytest.raises(vi.ArgumentError, match=message):
        rollout_of(getattr(vi.bridges, f"{library}_rollout"))


# ----------------------------------------------------------------------------------------------------- PyTorch


def test_torch_has_the_gradient_of_the_run(torch):
    given = {name: torch.tensor(value, requires_grad=True) for name, value in VALUES.items()}
    states = rollout_of(vi.bridges.torch_rollout)(given)
    assert [(*part.shape, part.dtype) for part in states] == [(3, 2, n, torch.float64) for n in SIZES]
    loss(states, [torch.tensor(weight) for weight in WEIGHTS]).backward()
    check({name: value.grad.numpy() for name, value in given.items()})


def test_torch_composes_with_what_comes_before(torch):
    """Of numbers of half the bits; what needs no gradient gets none."""
    rollout = vi.bridges.torch_rollout(build, DURATION, DT, order=ORDER)
    scale = torch.tensor(0.25, requires_grad=True)
    mass = torch.exp(scale * torch.tensor([1.0, -1.0]))
    states = rollout({"mass": mass, "length": 0.8})
    assert states.position.shape == (1, 2, 3)
    states.position[0, 1].square().sum().sqrt().backward()
    values = {"mass": mass.detach().numpy().astype(float), "length": 0.8}

    def distance(state):
        return float(np.linalg.norm(state.position[1]))

    g = vi.gradient(build, distance, DURATION, DT, order=ORDER, parameters=values, with_respect_to=["mass"])
    assert float(scale.grad) == pytest.approx(g["mass"] @ (values["mass"] * [1.0, -1.0]), rel=1e-5)
    assert scale.grad.dtype == torch.float32


def test_torch_passes_on_what_is_wrong(torch):
    rollout = vi.bridges.torch_rollout(build, DURATION, DT, order=1)
    mass = torch.tensor(VALUES["mass"], requires_grad=True)
    states = rollout({"mass": mass, "length": 0.8})
    with pytest.raises(vi.ArgumentError, match="order 2 or more"):
        states.position.sum().backward()
    with pytest.raises(vi.ArgumentError, match="parameters"):
        rollout(mass)

    states = rollout_of(vi.bridges.torch_rollout)({"mass": mass, "length": 0.8})
    with pytest.raises(vi.ArgumentError, match="finite"):
        (states.position.sum() * float("nan")).backward()
    with pytest.raises(vi.ArgumentError, match=r"no argument 'schem'.*scheme"):
        rollout_of(vi.bridges.torch_rollout, schem="kahan-li")


def curved(rollout):
    """Linear in the states, and a cube of the mass, whose second derivative is not all there is."""
    return lambda mass: rollout({"first.mass": mass}).position.sum() + mass**3


def test_torch_refuses_second_derivatives(torch):
    value = curved(vi.bridges.torch_rollout(build(**VALUES), DURATION, DT))
    mass = torch.tensor(1.3, requires_grad=True, dtype=torch.float64)
    (slope,) = torch.autograd.grad(value(mass), mass, create_graph=True)
    (plain,) = torch.autograd.grad(value(mass), mass)
    assert slope.detach() == plain
    with pytest.raises(vi.ArgumentError, match="first derivatives only"):
        torch.autograd.grad(slope, mass)
    with pytest.raises(vi.ArgumentError, match="first derivatives only"):
        torch.autograd.functional.hessian(value, mass)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # of torch.func.jvp itself
def test_torch_takes_its_own_grad_and_refuses_other_transforms(torch):
    value = curved(vi.bridges.torch_rollout(build(**VALUES), DURATION, DT))
    mass = torch.tensor(1.3, requires_grad=True, dtype=torch.float64)
    (plain,) = torch.autograd.grad(value(mass), mass)
    assert torch.func.grad(value)(mass.detach()) == plain
    one = torch.ones((), dtype=torch.float64)
    for refused in (
        lambda: torch.func.jvp(value, (one,), (one,)),
        lambda: torch.func.vmap(value)(torch.stack([one, one])),
        lambda: torch.func.jacrev(value)(one),
    ):
        with pytest.raises(vi.ArgumentError, match="no jvp, no vmap"):
            refused()


def test_torch_refuses_what_would_lose_a_gradient(torch):
    rollout = vi.bridges.torch_rollout(fed_back(), DURATION, DT)
    effort = torch.tensor(0.1, requires_grad=True)
    with pytest.raises(vi.ArgumentError, match=r"'motor.effort' is a list of tensors.*torch\.stack"):
        rollout({"motor.effort": [effort] * NODES})
    with pytest.raises(vi.ArgumentError, match=r"'motor.effort' is complex"):
        rollout({"motor.effort": effort * 1j})
    with pytest.raises(vi.ArgumentError, match=r"got a Tensor$"):
        rollout(effort)
    states = rollout({"coupler.mass": 1.1, "motor.effort": torch.stack([effort] * NODES)})
    assert torch.autograd.grad(states.path("coupler", (0, 0, 0)).sum(), effort)[0] != 0.0


def test_torch_has_the_gradient_of_an_angle(torch):
    rollout = vi.bridges.torch_rollout(fed_back(), DURATION, DT, times=TIMES)
    effort = torch.tensor(NAMED["motor.effort"], requires_grad=True)
    check_angle(torch.autograd.grad(rollout({"motor.effort": effort}).angle("rocker pin").sum(), effort)[0].numpy())


def test_torch_takes_the_options_of_a_gradient(torch):
    plain = build(VALUES["mass"], 0.8)
    options = {"state": plain.state(), "torque": {"second": (0.1, 0.2, 0.0)}, "tol": 1e-11}
    rollout = rollout_of(vi.bridges.torch_rollout, **options)
    mass = torch.tensor(VALUES["mass"], requires_grad=True)
    loss(rollout({"mass": mass, "length": 0.8}), [torch.tensor(weight) for weight in WEIGHTS]).backward()
    given = {"order": ORDER, "times": TIMES, "parameters": VALUES, "with_respect_to": ["mass"], **options}
    g = vi.gradient(build, loss_of_states, DURATION, DT, **given)
    np.testing.assert_allclose(mass.grad.numpy(), g["mass"], rtol=1e-7)


def test_torch_example_of_the_page(torch):
    names = names_after_the_example("torch")
    after = [names["rollout"]({"mass": 1.0, "length": 0.8 + h}).position[:, 0, 2] for h in (1e-5, -1e-5)]
    ahead, behind = (float((z + 0.3).square().sum()) for z in after)
    assert float(names["length"].grad) == pytest.approx((ahead - behind) / 2e-5, rel=1e-7)


# ---------------------------------------------------------------------------------------------------------- JAX


def test_jax_has_the_gradient_of_the_run(jax):
    rollout = rollout_of(vi.bridges.jax_rollout)
    states = rollout(VALUES)
    assert [(*part.shape, part.dtype) for part in states] == [(3, 2, n, np.float64) for n in SIZES]
    check(jax.grad(lambda given: loss(rollout(given)))(VALUES))


def test_jax_composes_within_jit_and_vmap(jax):
    """With a small function before the run: the same numbers as outside of them."""
    rollout = rollout_of(vi.bridges.jax_rollout, bodies=2)

    def of_scale(scale):
        return loss(rollout({"mass": jax.numpy.exp(scale * np.array([1.0, -1.0])), "length": 0.8}))

    scales = np.array([0.25, -0.1])
    plain = [jax.value_and_grad(of_scale)(scale) for scale in scales]
    jitted = [jax.jit(jax.value_and_grad(of_scale))(scale) for scale in scales]
    mapped = jax.vmap(jax.value_and_grad(of_scale))(scales)
    np.testing.assert_allclose(jitted, plain, rtol=1e-12)
    np.testing.assert_allclose(np.transpose(mapped), plain, rtol=1e-12)
    expected = [differences(lambda share, s=s: float(of_scale(s + share)), 1e-3) for s in scales]
    np.testing.assert_allclose(np.array(plain)[:, 1], expected, rtol=1e-7)


def test_jax_says_what_is_wrong(jax):
    rollout = vi.bridges.jax_rollout(build, DURATION, DT, order=1)
    with pytest.raises(vi.ArgumentError, match="order 2 or more"):
        jax.grad(lambda given: loss(rollout(given), [1.0] * 4))(VALUES)
    with pytest.raises(vi.ArgumentError, match="bodies="):
        jax.jit(rollout)(VALUES)
    with pytest.raises(vi.ArgumentError, match="parameters"):
        rollout(1.0)
    with jax.enable_x64(False), pytest.raises(vi.ArgumentError, match="jax_enable_x64"):
        rollout(VALUES)


@pytest.mark.slow
def test_jax_refuses_second_derivatives(jax):
    value = curved(vi.bridges.jax_rollout(build(**VALUES), DURATION, DT))
    for second in (jax.hessian(value), jax.grad(jax.grad(value)), jax.jit(jax.grad(jax.grad(value)))):
        with pytest.raises(vi.ArgumentError, match="first derivatives only"):
            second(1.3)


@pytest.mark.slow
def test_jax_has_the_gradient_of_an_angle(jax):
    rollout = vi.bridges.jax_rollout(fed_back(), DURATION, DT, times=TIMES)
    value = jax.jit(jax.grad(lambda effort: rollout({"motor.effort": effort}).angle("rocker pin").sum()))
    check_angle(np.asarray(value(NAMED["motor.effort"])))


@pytest.mark.slow
def test_jax_takes_lists_and_refuses_complex_numbers(jax):
    rollout = vi.bridges.jax_rollout(fed_back(), DURATION, DT)

    def value(effort):
        return rollout({"motor.effort": [effort] * NODES}).path("coupler", (0, 0, 0)).sum()

    h = 1e-4
    assert jax.grad(value)(0.1) == pytest.approx(float(value(0.1 + h) - value(0.1 - h)) / (2 * h), rel=1e-6)
    with pytest.raises(vi.ArgumentError, match=r"'motor.effort' is complex"):
        rollout({"motor.effort": jax.numpy.asarray(1j)})
    with pytest.raises(vi.ArgumentError, match=r"no body.* called 'motr'"):
        jax.jit(rollout)({"motr.effort": 0.1})
    states = jax.jit(rollout)({"motor.effort": 0.1})
    with pytest.raises(vi.ArgumentError, match="give the number of 'coupler'"):
        states.path("coupler", (0, 0, 0))


def test_jax_example_of_the_page(jax):
    names = names_after_the_example("jax")
    ahead, behind = (float(names["loss"]({"mass": 1.0, "length": 0.8 + h})) for h in (1e-5, -1e-5))
    assert float(names["slope"]["length"]) == pytest.approx((ahead - behind) / 2e-5, rel=1e-7)
