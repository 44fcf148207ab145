"""Explicit integrators on trees: their compiled steps are those of scipy's solvers."""

import numpy as np
import pytest
from force_samples import IN_THE_WORLD, SAMPLES, sample_mechanism
from random_mechanisms import random_tree, random_velocity_state

import varint as vi
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.integrators import INTEGRATORS, Task
from varint.methods.reduced.integrators.explicit import Explicit
from varint.methods.reduced.start import start_of
from varint.results.inputs.at_times import InputsAtTimes

EXPLICIT = [name for name, kind in INTEGRATORS.items() if issubclass(kind, Explicit)]
NOT_EXPLICIT = {"Contact", "ContactPairs", "HardContact", "JointCoulombFriction"}
NOT_COMPILED = {
    "PathMass",
    "Gear",
    "RackAndPinion",
    "Screw",
    "Belt",
    "Equality",
    "Coupling",
    "CoordinateMap",
    "Attachment",
    "UserConstraint",
    "PrescribedMotion",
    *IN_THE_WORLD,
}
END = 1.0  # s


def explicit_on(mechanism, state=None, integrator="dop853", **loads):
    """The integrator at its start."""
    equations = Equations(mechanism, lambda compiled: InputsAtTimes(mechanism, compiled, 10, 0.1, **loads))
    q, qdot = start_of(equations, state or mechanism.state(), {})
    return INTEGRATORS[integrator](equations, q, qdot, Task(END, None, 1e-6, 1e-8))


def check_steps(steps, *given, **options):
    """Each compiled step from a state of scipy's leads to where scipy's does, and proposes the same next step.

    But for round-off, which the sizes of steps after a rejected one show most.
    """
    mine, scipys = explicit_on(*given, **options), explicit_on(*given, **options)
    assert mine.run is not None
    for _ in range(steps):
        mine.march(1, np.inf)
        scipys.step()
        assert mine.t == pytest.approx(scipys.t, rel=1e-9)
        scale = 1.0 + np.abs(scipys.y).max()
        assert np.abs(mine.y - scipys.y).max() < 1e-8 * scale
        assert mine.solver.h_abs == pytest.approx(scipys.solver.h_abs, rel=1e-3)
        assert (mine.steps, mine.evaluations) == (scipys.steps, scipys.evaluations)
        within = np.linspace(mine.t - mine.size, mine.t, 5)
        assert np.abs(mine.states(within) - scipys.states(within)).max() < 1e-8 * scale
        turns = mine.equations.memory()["turns"].copy()
        scipys.settle()
        period = mine.equations.compiled.plan.measures.period
        counted = np.flatnonzero(period > 0.0)  # angles, from one evaluation to the next
        assert turns[counted] == pytest.approx(scipys.equations.memory()["turns"][counted], abs=0.1)
        mine.settle()
        mine.recall(scipys.memory())


@pytest.mark.parametrize("integrator", EXPLICIT)
@pytest.mark.parametrize("floating", [False, True])
def test_random_trees(rng, integrator, floating):
    mechanism = random_tree(rng, 5, floating=floating)
    check_steps(4, mechanism, random_velocity_state(rng, mechanism), integrator=integrator)


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - NOT_EXPLICIT - NOT_COMPILED))
def test_every_force(rng, name):
    mechanism = sample_mechanism(rng, SAMPLES[name])
    check_steps(3, mechanism, random_velocity_state(rng, mechanism, 0.5))


@pytest.mark.parametrize("integrator", EXPLICIT)
def test_constant_loads(rng, integrator):
    mechanism = vi.mechanisms.n_pendulum(n=2)
    name = mechanism.bodies[1].name
    check_steps(3, mechanism, integrator=integrator, force={name: (0, 0, 5.0)}, torque={name: (1.0, 2.0, 3.0)})
    pushed, still = explicit_on(mechanism, force={name: (0, 0, 5.0)}), explicit_on(mechanism)
    for run in (pushed, still):
        run.march(5, np.inf)
    assert np.abs(pushed.y - still.y).max() > 1e-3


def turning():
    """A hinge with a spring turns over and over, and a body tumbles beyond the reach of a rotation vector."""
    bodies = [vi.Body.box(name, (0.3, 0.2, 0.1), 1.5) for name in "ab"]
    joints = [vi.Revolute("hinge", "world", "a", point=(0, 0, 0), axis=(0, 0, 1)), vi.Free("base", "world", "b")]
    spring = vi.TorsionSpring("spring", joint="hinge", stiffness=0.01, damping=0.0)
    mechanism = vi.Mechanism("turning", bodies, joints, forces=[spring], gravity=(0, 0, 0))
    return mechanism, mechanism.state(rates={"hinge": 20.0}, angular_velocity={"b": (3.0, 4.0, 5.0)})


@pytest.mark.parametrize("integrator", EXPLICIT)
def test_turns_and_charts(integrator):
    mechanism, state = turning()
    for options in ({}, {"dt": 0.1}, {"every": 1000}):
        run = vi.redmax.simulate(mechanism, 3.0, state=state, rtol=1e-10, integrator=integrator, **options)
        assert run.q[-1, 0] > 4 * np.pi
        assert np.abs(run.energy_balance - run.energy_balance[0]).max() < 1e-8
        assert np.abs(run.angular_momentum - run.angular_momentum[0])[:, :2].max() < 1e-8


def test_many_steps_at_once_are_the_same_as_one_by_one():
    """To the bit; they end at their number, at the time asked for, in front of the end, and where a chart is left."""
    many, alone = (explicit_on(vi.mechanisms.n_pendulum(n=2)) for _ in range(2))
    many.march(3, np.inf)
    for _ in range(3):
        alone.march(1, np.inf)
        alone.settle()
    assert many.steps == alone.steps == 3
    assert many.y.tobytes() == alone.y.tobytes()
    many.march(1000, many.t + 1e-6)
    assert many.steps == 4
    many.march(1000, np.inf)
    assert many.ends()
    assert many.t < END
    while many.t < END:
        many.march(1000, np.inf)
    assert many.t == END
    tumbling = explicit_on(*turning())
    tumbling.march(1000, np.inf)
    assert tumbling.t < 0.9
    balls = tumbling.equations.tree.balls[0]
    assert np.linalg.norm(tumbling.y[balls : balls + 3]) > 1.5 * np.pi


def test_what_varies_and_what_has_loops_is_left_to_scipy(rng):
    pendulum = vi.mechanisms.n_pendulum(n=1)
    name = pendulum.bodies[0].name
    assert explicit_on(pendulum).run is not None
    assert explicit_on(pendulum, force={name: np.ones((11, 3))}).run is None
    assert explicit_on(vi.mechanisms.four_bar()).run is None
    assert explicit_on(sample_mechanism(rng, SAMPLES["Gear"])).run is None
    for effort in (lambda t, state: -state.position[0, 2], np.linspace(0, 1, 11)):
        motor = vi.Motor("motor", joint=pendulum.joints[0].name, effort=effort)
        assert explicit_on(vi.Mechanism("m", pendulum.bodies, pendulum.joints, forces=[motor])).run is None


def test_what_is_not_finite_ends_the_run():
    """A joint effort that becomes infinite: the run ends with the trajectory up to there."""

    def law(value, rate):
        return (0.0 if abs(value) < 0.5 else np.inf), 0.0, 0.0

    pendulum = vi.mechanisms.n_pendulum(n=1, angle=1.0)
    force = vi.UserJointForce("wall", joint=pendulum.joints[0].name, law=law)
    mechanism = vi.Mechanism("m", pendulum.bodies, pendulum.joints, forces=[force])
    with pytest.raises(vi.ConvergenceError, match="not finite") as caught:
        vi.redmax.simulate(mechanism, 5.0)
    assert 0.1 < caught.value.trajectory.t[-1] < 1.0


def test_a_tolerance_below_round_off_is_refused():
    with pytest.raises(vi.ArgumentError, match=r"rtol must be at least 2\.5e-14"):
        vi.redmax.simulate(vi.mechanisms.n_pendulum(n=1), 0.1, rtol=1e-20)
