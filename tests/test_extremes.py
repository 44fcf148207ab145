"""Numbers at the edge: a right result, or one of varint's own errors that names what was given; never a stall."""

import numpy as np
import pytest
from poses import measured, pose_of
from random_mechanisms import LOWER, random_closed, random_joint, random_track, random_tree, random_velocity_state

import varint as vi
from varint.kinematics.closure import Closure
from varint.kinematics.frames import JointFrames
from varint.model.joints import REGISTRY
from varint.model.motion import joint_pose

HUGE = [1e200, -1e300, np.nan, np.inf]
MOVABLE = sorted(set(REGISTRY) - {"Fixed"})


@pytest.fixture
def closings(monkeypatch):
    """A list that grows by one each time poses are moved onto the joints."""
    calls: list = []
    close = Closure.close
    monkeypatch.setattr(Closure, "close", lambda self, *args: [calls.append(1), close(self, *args)][1])
    return calls


# ------------------------------------------------------------------------------------------- coordinates


@pytest.mark.parametrize("size", [10.0, 1e4, 1e9])
@pytest.mark.parametrize("kind", [kind for kind in MOVABLE if kind not in ("SplineSurface", "Composite")])
def test_trees_are_placed_at_once(kind, size, rng, closings):
    """Whatever the number of turns, the pose is that of the coordinates, up to the digits that these have."""
    mechanism = random_tree(rng, 3, kinds=(kind,))
    coordinates = {joint.name: rng.uniform(-size, size, joint.dof) for joint in mechanism.joints}
    x, R = pose_of(mechanism.state(coordinates=coordinates))
    assert not closings
    tolerance = 1e-9 + 1e-14 * size * np.abs(x).max()
    for joint in mechanism.joints:
        found = JointFrames(mechanism, joint).relative_pose(x, R)
        for one, other in zip(found, joint_pose(joint, coordinates[joint.name]), strict=True):
            np.testing.assert_allclose(one, other, atol=tolerance)


def beside_a_loop(size):
    """A four-bar with a wheel on its coupler and a slide to the world beside it."""
    bar = vi.mechanisms.four_bar()
    wheel = vi.Body.cylinder("wheel", 0.1, 0.05, 1.0, position=bar.bodies[1].position)
    block = vi.Body.box("block", (0.1, 0.1, 0.1), 1.0, position=(0, 1, 0))
    joints = [
        *bar.joints,
        vi.Revolute("axle", "coupler", "wheel", point=wheel.position, axis=(0, 1, 0)),
        vi.Prismatic("slide", "world", "block", point=(0, 1, 0), axis=(0, 1, 0)),
    ]
    mechanism = vi.Mechanism("beside", [*bar.bodies, wheel, block], joints)
    return mechanism, {"axle": size, "slide": size}


@pytest.mark.parametrize("size", [3.0, 1e4])
def test_joints_beside_a_loop_are_placed_at_once(size, closings):
    mechanism, coordinates = beside_a_loop(size)
    state = mechanism.state(coordinates=coordinates)
    assert not closings
    np.testing.assert_allclose(state.position[-1], (0, 1 + size, 0), rtol=1e-15)
    turn = measured(mechanism, "axle", *pose_of(state))[0]
    assert np.exp(1j * turn) == pytest.approx(np.exp(1j * size), abs=1e-10)
    np.testing.assert_allclose(state.position[:3], mechanism.state().position[:3], atol=1e-12)


@pytest.mark.parametrize("turns", [1, -3, 1000, 100_000_000])
def test_whole_turns_of_a_loop_are_left_out(turns, closings):
    """A crank that goes all round; the way to the pose is that without the turns."""
    mechanism = vi.mechanisms.four_bar(crank=0.4, coupler=1.0, rocker=0.8, ground=1.0)
    part = np.copysign(1.0, turns)
    expected = mechanism.state(coordinates={"crank pivot": part})
    closings.clear()
    state = mechanism.state(coordinates={"crank pivot": part + 2 * np.pi * turns})
    assert len(closings) <= 8
    np.testing.assert_allclose(state.position, expected.position, atol=1e-15 * abs(turns) + 1e-11)


def geared(**forces):
    """Two wheels and an arm, geared together."""
    bodies = [vi.Body.cylinder(f"w{k}", 0.1, 0.05, 1.0, position=(k, 0, 0)) for k in range(3)]
    joints = [vi.Revolute(f"j{k}", "world", f"w{k}", point=(k, 0, 0), axis=(0, 0, 1)) for k in range(3)]
    gear = vi.Gear("gear", joint_a="j0", joint_b="j1", radius_a=0.3, radius_b=0.1)
    return vi.Mechanism("geared", bodies, joints, forces=[gear])


@pytest.mark.slow
def test_turns_that_couplings_count_are_driven(closings):
    mechanism = geared()
    state = mechanism.state(coordinates={"j0": 9.0, "j2": 1e6})
    follower = measured(mechanism, "j1", *pose_of(state))[0]
    assert np.exp(1j * follower) == pytest.approx(np.exp(-27j), abs=1e-10)
    assert len(closings) == 69  # the second wheel turns by 27 rad
    with pytest.raises(vi.StateError, match=r"revolute joint 'j0' are 1e\+06 rad.* away: .* no farther than 200"):
        mechanism.state(coordinates={"j0": 1e6})


@pytest.mark.slow
def test_screws_in_loops_are_driven_a_bounded_way():
    """A nut that is kept from turning: each radian of the screw is another place."""
    nut = vi.Body.box("nut", (0.1, 0.1, 0.1), 1.0)
    spindle = vi.Body.cylinder("spindle", 0.05, 1.0, 1.0)
    joints = [
        vi.Revolute("bearing", "world", "spindle", point=(0, 0, 0), axis=(0, 0, 1)),
        vi.Helical("thread", "spindle", "nut", point=(0, 0, 0), axis=(0, 0, 1), lead=0.01),
        vi.Prismatic("guide", "world", "nut", point=(0, 0, 0), axis=(0, 0, 1)),
    ]
    mechanism = vi.Mechanism("jack", [spindle, nut], joints)
    state = mechanism.state(coordinates={"thread": 20.0})
    assert state.position[1] == pytest.approx([0, 0, 0.01 * 20.0 / (2 * np.pi)], abs=1e-10)
    with pytest.raises(vi.StateError, match="helical joint 'thread' are 1e"):
        mechanism.state(coordinates={"thread": 1e4})


@pytest.mark.parametrize("size", HUGE)
@pytest.mark.parametrize("kind", MOVABLE)
def test_coordinates_and_rates_that_are_too_large(kind, size, rng):
    mechanism = random_tree(rng, 1, kinds=(kind,))
    given = {"j0": np.full(mechanism.joints[0].dof, size)}
    state = mechanism.state()
    for call in (
        lambda: mechanism.state(coordinates=given),
        lambda: mechanism.state(rates=given),
        lambda: mechanism.assemble(state, coordinates=given),
        lambda: mechanism.assemble(state, rates=given),
    ):
        with pytest.raises(vi.StateError, match=r"of \w+ joint 'j0' must be (finite|at most 1e\+15)"):
            call()


@pytest.mark.parametrize("size", [1e200, np.nan])
@pytest.mark.parametrize("what", ["position", "velocity", "angular_velocity"])
def test_states_that_are_too_large(what, size):
    mechanism = vi.mechanisms.four_bar()
    state = mechanism.state()
    arrays = {key: np.array(getattr(state, key)) for key in ("position", "quat_wxyz", "velocity", "angular_velocity")}
    arrays[what][1, 2] = size
    guess = vi.State(**arrays)
    calls = [
        lambda: mechanism.state(**{what: {"coupler": (0, 0, size)}}),
        lambda: mechanism.assemble(guess),
        lambda: mechanism.diagnose(guess),
        lambda: mechanism.sweep("crank pivot", [0.1], guess),
        lambda: vi.redmax.simulate(mechanism, 0.1, state=guess),
    ]
    for call in calls:
        with pytest.raises(vi.StateError, match=f"{what} of"):
            call()


def test_rotation_vectors_of_many_turns():
    """In reduced coordinates: the pose is that of the vector, and a run from there starts at once."""
    mechanism = vi.mechanisms.spinning_top()
    q = np.array([3.0e5, -2.0e5, 1.0e5])
    reduced = vi.redmax.ReducedState(q, np.zeros(3))
    run = vi.redmax.simulate(mechanism, 0.01, dt=0.01, state=reduced)
    expected = joint_pose(mechanism.joints[0], q)[0]
    first = vi.redmax.maximal_state(mechanism, reduced)
    np.testing.assert_allclose(run.position[0], first.position, atol=1e-9)
    assert np.isfinite(expected).all()
    assert np.linalg.norm(run.q[-1]) < 2 * np.pi
    with pytest.raises(vi.StateError, match="q of the reduced state must be at most"):
        vi.redmax.simulate(mechanism, 0.01, dt=0.01, state=vi.redmax.ReducedState(1e200 * q, np.zeros(3)))


# ------------------------------------------------------------------------------------------- sweeps


@pytest.mark.parametrize("values", [[0.0, 1e9], [1e300], [0.0, 600.0, 0.0]])
def test_sweeps_of_a_long_way(values):
    with pytest.raises(vi.ArgumentError, match=r"values of the sweep of .*'crank pivot' lead .* at most 1000"):
        vi.mechanisms.four_bar().sweep("crank pivot", values)


@pytest.mark.slow
def test_sweeps_of_many_steps(monkeypatch):
    """Up to a lock-up, where steps get shorter and shorter."""
    monkeypatch.setattr("varint.mechanism.sweep.MOST_STEPS", 10)
    with pytest.raises(vi.ArgumentError, match="10 steps led no farther than to"):
        vi.mechanisms.four_bar(crank=1.0, coupler=0.4, rocker=0.8, ground=1.0, angle=1.0).sweep("crank pivot", [0.5])


# ------------------------------------------------------------------------------------------- descriptions


@pytest.mark.parametrize("size", [1e200, 1e308, 1e-200, 1e-310, 5e-324])
def test_axes_of_any_size(size):
    """The direction is what counts."""
    hinge = vi.Revolute("j", "world", "b", point=(0, 0, 0), axis=(size, 0, size))
    np.testing.assert_allclose(hinge.axis, np.array([1, 0, 1]) / np.sqrt(2), rtol=1e-15)
    hook = vi.Universal("j", "world", "b", point=(0, 0, 0), axis=(size, 0, 0), axis_b=(0, -size, 0))
    np.testing.assert_array_equal(hook.axis_b, [0, -1, 0])


def test_axes_keep_their_bits(rng):
    for _ in range(100):
        given = rng.standard_normal(3) * 10.0 ** rng.integers(-5, 6)
        axis = vi.Revolute("j", "world", "b", point=(0, 0, 0), axis=given).axis
        np.testing.assert_array_equal(axis, given / np.linalg.norm(given))
        np.testing.assert_array_equal(vi.Revolute("j", "world", "b", point=(0, 0, 0), axis=axis).axis, axis)


@pytest.mark.parametrize("size", [1e200, 1.7e308, 1e-310, 0.0])
def test_quaternions_of_no_unit_size(size):
    with pytest.raises(vi.MechanismError, match="quat_wxyz of body 'b' must have norm 1"):
        vi.Body("b", mass=1.0, inertia=np.eye(3), quat_wxyz=(size, 0, 0, size))


BOXES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
TOO_LARGE = {
    "mass": lambda v: vi.Body("b", mass=v, inertia=np.eye(3)),
    "inertia": lambda v: vi.Body("b", mass=1.0, inertia=v * np.eye(3)),
    "position": lambda v: vi.Body("b", mass=1.0, inertia=np.eye(3), position=(v, 0, v)),
    "size": lambda v: vi.Body.box("b", (v, v, v), 1.0),
    "mass of a box": lambda v: vi.Body.box("b", (1, 1, 1), v),
    "radius": lambda v: vi.Body.cylinder("b", v, 1.0, 1.0),
    "length": lambda v: vi.Body.capsule("b", 1.0, v, 1.0),
    "semi_axes": lambda v: vi.Body.ellipsoid("b", (v, v, v), 1.0),
    "ends": lambda v: vi.Body.rod("b", (-v, 0, 0), (v, 0, 0), 1.0),
    "vertices": lambda v: vi.Body.mesh("b", v * np.vstack([np.zeros(3), np.eye(3)]), BOXES, 1.0),
    "part": lambda v: vi.Body.composite("b", [vi.Body.box("a", (1, 1, 1), 1.0), (v, (v, 0, 0))]),
    "point": lambda v: vi.Revolute("b", "world", "a", point=(v, 0, 0), axis=(0, 0, 1)),
    "lead": lambda v: vi.Helical("b", "world", "a", point=(0, 0, 0), axis=(0, 0, 1), lead=v),
    "at": lambda v: vi.SplineCurve(
        "b", "world", "a", point=(0, 0, 0), frames=random_track(np.random.default_rng(0)), at=v, closed=False
    ),
    "at of a surface": lambda v: vi.SplineSurface(
        "b", "world", "a", point=(0, 0, 0), controls=np.zeros((5, 5, 6)), at=(v, v)
    ),
    "controls": lambda v: vi.SplineSurface("b", "world", "a", point=(0, 0, 0), controls=np.full((5, 5, 6), v)),
}


@pytest.mark.parametrize("case", TOO_LARGE)
@pytest.mark.parametrize("size", [1e60, 1e160, 1.7e308])
def test_descriptions_that_are_too_large(case, size):
    with pytest.raises(vi.MechanismError, match=r"'b' must be at most"):
        TOO_LARGE[case](size)


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-60])
@pytest.mark.parametrize("case", ["mass", "lead"])
def test_descriptions_that_are_too_small(case, size):
    with pytest.raises(vi.MechanismError, match="'b' must be at least 1e-50"):
        TOO_LARGE[case](size)


# ------------------------------------------------------------------------------------------- reduced runs


@pytest.mark.parametrize("rate", [-5.0, np.nan, np.inf, 1e200, (1, 2)])
def test_rates_of_closing_that_are_none(rate):
    with pytest.raises(vi.ArgumentError, match="baumgarte must be"):
        vi.redmax.simulate(vi.mechanisms.four_bar(), 0.1, baumgarte=rate)


@pytest.mark.slow
def test_rates_of_closing_that_explicit_steps_cannot_follow():
    """A gap g becomes (1 - b h) g: bounded below b h = 2, refused from there on; trees have no gaps."""
    bar, step = vi.mechanisms.four_bar(), 0.01
    run = vi.redmax.simulate(bar, 2.0, dt=step, integrator="euler", baumgarte=1.9 / step)
    assert run.drift.max() < 0.01
    with pytest.raises(vi.ArgumentError, match=r"baumgarte 200 1/s times dt 0\.01 s must be less than 2"):
        vi.redmax.simulate(bar, 2.0, dt=step, integrator="euler", baumgarte=2.0 / step)
    assert vi.redmax.simulate(vi.mechanisms.snake(), 1.0, dt=step, integrator="euler", baumgarte=1e6).success
    for integrator in ("bdf1", "bdf2", "sdirk2"):
        assert vi.redmax.simulate(bar, 0.5, dt=step, integrator=integrator, baumgarte=1e6).drift.max() < 1e-4


@pytest.mark.parametrize("integrator", ["rk45", "dop853"])
def test_steps_that_get_nowhere_end_the_run(integrator):
    spring = vi.TorsionSpring("spring", joint="hinge", stiffness=1e22)
    body = vi.Body.box("arm", (0.1, 0.1, 1.0), 1.0, position=(0, 0, -0.5))
    hinge = vi.Revolute("hinge", "world", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    mechanism = vi.Mechanism("stiff", [body], [hinge], forces=[spring])
    state = mechanism.state(coordinates={"hinge": 0.01})
    with pytest.raises(
        vi.ConvergenceError, match=r"body 'arm'.* 501 steps in a row were shorter than 1e-09 s"
    ) as caught:
        vi.redmax.simulate(mechanism, 1.0, integrator=integrator, state=state)
    assert caught.value.body == "arm"
    assert 0.0 < caught.value.time < 1e-6
    assert caught.value.trajectory.t[-1] == caught.value.time


def test_accelerations_at_the_start_that_are_not_finite():
    mechanism = vi.Mechanism(
        "blown",
        [vi.Body.sphere("ball", 1e-40, 1e-40)],
        [vi.Free("free", "world", "ball")],
    )
    state = mechanism.state(angular_velocity={"ball": (1e15, 1e15, 0)})
    with pytest.raises(vi.StateError, match="accelerations at the start are not finite, first of body 'ball'"):
        vi.redmax.simulate(mechanism, 1.0, state=state, force={"ball": (1e300, 0, 0)})


def any_closed(seed):
    """A random closed mechanism, of joints of all kinds that have rows of their own, and its generator."""
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        return random_closed(rng, int(rng.integers(2, 7)), int(rng.integers(1, 4))), rng
    tree = random_tree(rng, int(rng.integers(2, 9)), LOWER, bool(seed % 2))
    joints = list(tree.joints)
    for k in range(rng.integers(1, 4)):
        a, b = (tree.bodies[i] for i in rng.choice(len(tree.bodies), 2, replace=False))
        point = 0.5 * (a.position + b.position)
        joints.append(random_joint(rng, str(rng.choice(LOWER)), f"cut{k}", a.name, b.name, point))
    return vi.Mechanism("random closed", tree.bodies, joints, gravity=tree.gravity), rng


def test_motions_that_grow_beyond_numbers_end_the_run():
    """A loop at steps that are too long for it."""
    mechanism, rng = any_closed(4)
    state = random_velocity_state(rng, mechanism)
    with pytest.raises(vi.ConvergenceError, match=r"body 'b\d'.*not finite any more"):
        vi.redmax.simulate(mechanism, 0.5, dt=0.01, state=state, integrator="euler")


@pytest.mark.slow
@pytest.mark.parametrize("block", [0, *(pytest.param(k, marks=pytest.mark.long) for k in range(1, 6))])
def test_random_closed_mechanisms_in_reduced_coordinates(block):
    """No stall and no error, and the motion to which the variational integrator converges."""
    for seed in range(20 * block, 20 * block + 20):
        mechanism, rng = any_closed(seed)
        state = random_velocity_state(rng, mechanism)
        exact = vi.redmax.simulate(mechanism, 0.5, dt=0.01, state=state)
        assert exact.steps < 5000, seed
        assert exact.drift.max() < 1e-6, seed
        errors = [
            np.abs(vi.simulate(mechanism, 0.5, dt, every=round(0.01 / dt), state=state).position - exact.position).max()
            for dt in (0.0005, 0.00025)
        ]
        assert errors[1] < 1e-6 or 3.0 < errors[0] / errors[1] < 5.0, (seed, errors)


@pytest.mark.parametrize("length", [1e200, 1e51, 1e-51, 1e-200])
def test_rods_of_no_length_to_calculate_with(length):
    with pytest.raises(vi.MechanismError, match="length of rod joint 'rod' must be at"):
        vi.Rod("rod", "world", "bob", point=(0, 0, 1), point_b=(0, 0, 0), length=length)
