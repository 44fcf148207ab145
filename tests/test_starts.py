"""Initial states: what is not named stays, compact bodies close, wheels drive their cart."""

import numpy as np
import pytest

import varint as vi

Y = (0.0, 1.0, 0.0)


def arm(forces=(), start=None):
    """Return three rods of 1 m with hinges j0, j1, j2 about y."""
    bodies = [vi.Body.rod(f"b{k}", (k, 0, 0), (k + 1, 0, 0), mass=1.0) for k in range(3)]
    joints = [
        vi.Revolute(f"j{k}", "world" if k == 0 else f"b{k - 1}", f"b{k}", point=(k, 0, 0), axis=Y) for k in range(3)
    ]
    return vi.Mechanism("arm", bodies, joints, forces=list(forces), start=start or {})


COUPLED = {
    "coupling": vi.Coupling("c", terms=[("j1", 0, 0.5), ("j2", 0, -1.0)]),
    "map": vi.CoordinateMap("c", coordinates=[("j1", 0), ("j2", 0)], matrix=[[1.0], [0.5]]),
}


@pytest.mark.parametrize("force", COUPLED)
@pytest.mark.parametrize("named", [{"j1": 0.8}, {"j1": 0.8, "j2": 0.4}, {"j2": 0.4}])
def test_couplings_move_no_other_joint(force, named):
    """Of an arm whose second and third joints are coupled, the first holds, for coordinates and rates."""
    mechanism = arm([COUPLED[force]])
    state = mechanism.state(coordinates=named, rates=named)
    for values in (mechanism.coordinates(state), mechanism.rates(state)):
        assert [float(values[f"j{k}"]) for k in range(3)] == pytest.approx([0.0, 0.8, 0.4], abs=1e-12)


def four_bar_on_an_arm():
    """Return a four-bar at the end of an arm of one joint, j0."""
    bodies = [
        vi.Body.rod("base", (0, 0, 0), (1, 0, 0), mass=1.0),
        vi.Body.rod("crank", (1, 0, 0), (1, 0, 0.3), mass=1.0),
        vi.Body.rod("coupler", (1, 0, 0.3), (1.8, 0, 0.5), mass=1.0),
        vi.Body.rod("rocker", (1.8, 0, 0.5), (1.7, 0, 0), mass=1.0),
    ]
    ends = [
        ("j0", "world", "base", (0, 0, 0)),
        ("crank joint", "base", "crank", (1, 0, 0)),
        ("c1", "crank", "coupler", (1, 0, 0.3)),
        ("c2", "coupler", "rocker", (1.8, 0, 0.5)),
        ("rocker joint", "base", "rocker", (1.7, 0, 0)),
    ]
    return vi.Mechanism("m", bodies, [vi.Revolute(n, a, b, point=p, axis=Y) for n, a, b, p in ends])


def test_loops_move_no_joint_outside():
    """A crank that is set moves its loop, not the arm that carries it; a named arm joint holds its value beside it."""
    mechanism = four_bar_on_an_arm()
    for arm_angle in (0.0, 0.5):
        named = {"crank joint": 0.3} | ({"j0": arm_angle} if arm_angle else {})
        state = mechanism.state(coordinates=named, rates={"crank joint": 1.0})
        q, v = mechanism.coordinates(state), mechanism.rates(state)
        assert float(q["j0"]) == pytest.approx(arm_angle, abs=1e-12)
        assert float(v["j0"]) == pytest.approx(0.0, abs=1e-12)
        assert float(q["rocker joint"]) == pytest.approx(0.188851, abs=1e-6)


def test_legs_of_a_floating_robot_leave_its_base():
    """One leg of a minitaur moves; base and other legs hold, and have no velocity."""
    mechanism = vi.mechanisms.minitaur()
    hip = "front left left hip"
    before = mechanism.state()
    q0 = mechanism.coordinates(before)
    state = mechanism.state(coordinates={hip: float(q0[hip]) + 0.3}, rates={hip: 1.0})
    assert np.abs(state.position[0] - before.position[0]).max() == 0.0
    assert np.abs(state.velocity[0]).max() <= 1e-12
    q = mechanism.coordinates(state)
    moved = {name for name in q if np.abs(q[name] - q0[name]).max() > 1e-9}
    assert hip in moved
    assert all(name.startswith("front left ") for name in moved)


def test_attachments_elsewhere_move_nothing():
    """An attachment in another tree moves no joint of the arm."""
    more = [vi.Body.sphere("p", 0.05, 0.1, position=(1.0, 2.0, 0)), vi.Body.rod("q", (0, 2, 0), (2, 2, 0), mass=1.0)]
    of = arm()
    joints = [*of.joints, vi.Revolute("jq", "world", "q", point=(0, 2, 0), axis=Y), vi.Free("fp", "world", "p")]
    to = [("q", (0.5, 2.0, 0), 0.5), ("q", (1.5, 2.0, 0), 0.5)]
    attachment = vi.Attachment("a", "p", point=(1.0, 2.0, 0), to=to)
    mechanism = vi.Mechanism("m", [*of.bodies, *more], joints, forces=[attachment])
    q = mechanism.coordinates(mechanism.state(coordinates={"j1": 0.8}))
    assert [float(q[name]) for name in ("j0", "j1", "j2", "jq")] == pytest.approx([0.0, 0.8, 0.0, 0.0], abs=1e-12)


def wheeled(start=None):
    """Return a cart with two rolling wheels of radius 0.1 m, 0.4 m apart, and a pendulum on it."""
    base = vi.Body.box("base", (0.3, 0.3, 0.1), 5.0, position=(0.05, 0, 0.15))
    pendulum = vi.Body.rod("pendulum", (0.05, 0, 0.2), (0.05, 0, 0.6), mass=1.0)
    quarter = (0.5**0.5, 0.5**0.5, 0, 0)
    sides = (("l", 0.2), ("r", -0.2))
    wheels = [vi.Body.cylinder(n, 0.1, 0.02, 0.2, position=(0, y, 0.1), quat_wxyz=quarter) for n, y in sides]
    hinges = [vi.Revolute(f"j{n}", "base", n, point=(0, y, 0.1), axis=Y) for n, y in sides]
    swing = vi.Revolute("swing", "base", "pendulum", point=(0.05, 0, 0.2), axis=Y)
    rolling = [vi.RollingWheel(f"roll {n}", n, radius=0.1, axis=Y) for n, _ in sides]
    joints = [vi.Free("f", "world", "base"), *hinges, swing]
    return vi.Mechanism("cart", [base, pendulum, *wheels], joints, forces=rolling, start=start or {})


@pytest.mark.parametrize("named", [{"jl": 0.5}, {"jl": 0.5, "jr": 3.0}, {"jl": 7.0, "swing": 0.4}])
def test_wheels_turn_without_their_cart(named):
    """Angles of rolling wheels ask nothing of the base: it stays, and so do the other joints."""
    mechanism = wheeled()
    q = mechanism.coordinates(mechanism.state(coordinates=named))
    for name in ("jl", "jr", "swing"):
        assert float(q[name]) == pytest.approx(named.get(name, 0.0), abs=1e-12)
    assert np.abs(q["f"]).max() < 1e-12


def test_what_is_free_in_a_coupling_moves_least():
    """j1 + j2 = j3: the free two share what j1 asks for, at each angle."""
    sum_of_two = vi.Coupling("c", terms=[("j0", 0, 1.0), ("j1", 0, 1.0), ("j2", 0, -1.0)])
    mechanism = arm([sum_of_two])
    state = mechanism.state(coordinates={"j0": 1.0}, rates={"j0": 1.0})
    for values in (mechanism.coordinates(state), mechanism.rates(state)):
        assert [float(values[f"j{k}"]) for k in range(3)] == pytest.approx([1.0, -0.5, 0.5], abs=1e-12)


def test_gears_of_a_high_ratio_count_the_turns_of_the_fast_joint():
    """A joint that is named at 1 rad drives a rotor, geared 1 to 30, by 30 rad."""
    mechanism = arm([vi.Coupling("c", terms=[("j1", 0, 30.0), ("j2", 0, -1.0)])])
    q = mechanism.coordinates(mechanism.state(coordinates={"j1": 1.0}))
    assert [float(q[f"j{k}"]) for k in range(3)] == pytest.approx([0.0, 1.0, 30.0], abs=1e-11)


@pytest.mark.parametrize("joint", [True, False])
def test_loops_leave_the_base_that_floats_with_them(joint):
    """A four-bar on a body that floats, with a Free joint or without any: the body stays."""
    of = four_bar_on_an_arm()
    mechanism = vi.Mechanism("m", of.bodies, [*([vi.Free("f", "world", "base")] if joint else []), *of.joints[1:]])
    state = mechanism.state(coordinates={"crank joint": 0.3}, rates={"crank joint": 1.0})
    assert float(mechanism.coordinates(state)["rocker joint"]) == pytest.approx(0.188851, abs=1e-6)
    assert np.abs(state.position[0] - mechanism.bodies[0].position).max() < 1e-15
    assert np.abs(state.velocity[0]).max() + np.abs(state.angular_velocity[0]).max() < 1e-15


def test_a_body_takes_what_hangs_on_it_along():
    """The base of a cart is set, and its speed: wheels roll, the pendulum keeps its angle; its joint may be named."""
    mechanism = wheeled()
    state = mechanism.state(position={"base": (1.05, 0, 0.15)}, velocity={"base": (0.5, 0, 0)}, rates={"swing": 0.3})
    q, v = mechanism.coordinates(state), mechanism.rates(state)
    assert q["f"] == pytest.approx([1.0, 0, 0, 0, 0, 0], abs=1e-9)
    assert float(q["swing"]) == pytest.approx(0.0, abs=1e-12)
    assert [float(v[name]) for name in ("jl", "jr", "swing")] == pytest.approx([5.0, 5.0, 0.3], abs=1e-6)


def test_conflicts_name_joints_to_free():
    """Coordinates and rates that a coupling forbids: the error names the joints of which one has to be freed."""
    mechanism = arm([COUPLED["coupling"]])
    for key in ("coordinates", "rates"):
        with pytest.raises(vi.StateError, match=f"Free one of the joints 'j1', 'j2', whose {key} are prescribed"):
            mechanism.state(**{key: {"j1": 0.8, "j2": 0.7}})


def test_start_values_are_kept():
    """Joints that are not named keep the coordinates of the mechanism's start."""
    mechanism = arm(start={"coordinates": {"j0": 0.3, "j2": 0.5}})
    q = mechanism.coordinates(mechanism.state(coordinates={"j1": 0.8, "j2": -0.1}))
    assert [float(q[f"j{k}"]) for k in range(3)] == pytest.approx([0.3, 0.8, -0.1], abs=1e-12)


def test_other_loops_keep_their_start():
    """Of two geared pairs, one is named: the other keeps its start, as does a joint of neither."""
    of, by = arm(), {name: name.replace("j", "k") for name in ("j0", "j1", "j2")}
    bodies = [vi.Body.rod(f"c{k}", (k, 2, 0), (k + 1, 2, 0), mass=1.0) for k in range(3)]
    joints = [
        vi.Revolute(by[joint.name], "world" if k == 0 else f"c{k - 1}", f"c{k}", point=(k, 2, 0), axis=Y)
        for k, joint in enumerate(of.joints)
    ]
    gears = [vi.Coupling(f"c {n}", terms=[(f"{n}1", 0, 1.0), (f"{n}2", 0, 1.0)]) for n in "jk"]
    start = {"coordinates": {"j1": 0.1, "k0": 0.3, "k1": 0.4, "k2": -0.4}}
    mechanism = vi.Mechanism("two arms", [*of.bodies, *bodies], [*of.joints, *joints], forces=gears, start=start)
    q = mechanism.coordinates(mechanism.state(coordinates={"j2": 0.8}))
    values = [float(q[name]) for name in ("j0", "j1", "j2", "k0", "k1", "k2")]
    assert values == pytest.approx([0.0, -0.8, 0.8, 0.3, 0.4, -0.4], abs=1e-12)


def pair(r, geared):
    """Return two pendulums of 1 m with spherical bobs of radius ``r``, m, coupled by a rod or a gear."""
    bodies = [vi.Body.sphere("a", r, 1.0, position=(0, 0, -1)), vi.Body.sphere("b", r, 1.0, position=(1, 0, -1))]
    joints = [vi.Revolute(f"j{n}", "world", n, point=(x, 0, 0), axis=Y) for n, x in (("a", 0), ("b", 1))]
    if geared:
        coupling = vi.Coupling("c", terms=[("ja", 0, 1.0), ("jb", 0, -1.0)])
        return vi.Mechanism("g", bodies, joints, forces=[coupling])
    rod = vi.Body.rod("c", (0, 0, -1), (1, 0, -1), 1.0)
    pins = [
        vi.Revolute("pa", "a", "c", point=(0, 0, -1), axis=Y),
        vi.Revolute("pb", "c", "b", point=(1, 0, -1), axis=Y),
    ]
    return vi.Mechanism("m", [*bodies, rod], [*joints, *pins])


@pytest.mark.parametrize("geared", [False, True])
@pytest.mark.parametrize("r", [0.1, 0.03, 0.01, 1e-3, 1e-5])
def test_loops_of_compact_bodies_close(r, geared):
    """However small the bobs are, the second pendulum stands at the angle of the first."""
    mechanism = pair(r, geared)
    assert float(mechanism.coordinates(mechanism.state(coordinates={"ja": 0.7}))["jb"]) == pytest.approx(0.7, abs=1e-11)


@pytest.mark.parametrize("geared", [False, True])
@pytest.mark.parametrize("r", [0.1, 1e-3, 1e-5])
def test_rates_of_loops_of_compact_bodies(r, geared):
    """`state` and `assemble` give both pendulums the rate that one is asked for."""
    mechanism = pair(r, geared)
    state = mechanism.state(coordinates={"ja": 3.0}, rates={"ja": 1.0})
    pushed = state.of_bodies(state.position, state.quat_wxyz, state.velocity + 0.1, state.angular_velocity)
    for one in (state, mechanism.assemble(pushed, rates={"ja": 1.0})):
        assert float(mechanism.rates(one)["jb"]) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("r", [0.1, 1e-3, 1e-5])
def test_compact_bobs_on_racks(r):
    """A bob at the end of a pinion's arm of 1 m drives a rack: 0.2 m at 1 rad."""
    bodies = [vi.Body.sphere("bob", r, 1.0, position=(0, 0, -1)), vi.Body.box("rack", (1, 0.1, 0.1), 1.0)]
    pinion = vi.Revolute("pinion", "world", "bob", point=(0, 0, 0), axis=Y)
    slide = vi.Prismatic("slide", "world", "rack", axis=(1, 0, 0))
    gear = vi.RackAndPinion("gear", joint_a="pinion", joint_b="slide", radius=0.2)
    mechanism = vi.Mechanism("m", bodies, [pinion, slide], forces=[gear])
    q = mechanism.coordinates(mechanism.state(coordinates={"pinion": 1.0}))
    assert abs(float(q["slide"])) == pytest.approx(0.2, abs=1e-12)


def test_assembly_of_compact_bodies():
    """`assemble` closes a loop of compact bodies from a guess that is off by 0.1 m."""
    mechanism = pair(1e-3, False)
    state = mechanism.state()
    wrong = state.position + np.array([(0, 0, 0), (0.1, 0, 0.05), (0, 0, 0)])
    made = mechanism.assemble(state.of_bodies(wrong, state.quat_wxyz, state.velocity, state.angular_velocity))
    q = mechanism.coordinates(made)
    assert float(q["jb"]) == pytest.approx(float(q["ja"]), abs=1e-10)


@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
@pytest.mark.parametrize(("left", "right"), [(5.0, 8.0), (5.0, 5.0), (-3.0, 3.0)])
def test_rates_of_wheels_drive_a_cart(left, right, simulate):
    """A cart with two rolling wheels moves as its wheels say, and does not pitch; what it carries does not swing."""
    cart = wheeled()
    state = cart.state(rates={"jl": left, "jr": right})
    turn = 0.1 * (right - left) / 0.4
    run = simulate(cart, 0.002, dt=0.001, state=state)
    for velocity, spin in ((state.velocity, state.angular_velocity), (run.velocity[0], run.angular_velocity[0])):
        assert velocity[0] == pytest.approx([0.1 * (left + right) / 2, 0.05 * turn, 0.0], abs=1e-12)
        assert spin[0] == pytest.approx([0.0, 0.0, turn], abs=1e-12)
    assert float(cart.rates(state)["swing"]) == pytest.approx(0.0, abs=1e-12)


def test_rates_of_wheels_that_cannot_roll_together_are_refused():
    """Wheels behind each other on a cart roll at one rate; the error names the joints."""
    base = vi.Body.box("base", (0.6, 0.3, 0.1), 5.0, position=(0, 0, 0.15))
    quarter = (0.5**0.5, 0.5**0.5, 0, 0)
    places = {"front": 0.3, "rear": -0.3}
    wheels = [vi.Body.cylinder(n, 0.1, 0.02, 0.2, position=(x, 0, 0.1), quat_wxyz=quarter) for n, x in places.items()]
    hinges = [vi.Revolute(f"{n} axle", "base", n, point=(x, 0, 0.1), axis=Y) for n, x in places.items()]
    rolling = [vi.RollingWheel(f"roll {n}", n, radius=0.1, axis=Y) for n in places]
    slide = vi.Prismatic("track", "world", "base", axis=(1, 0, 0))
    mechanism = vi.Mechanism("m", [base, *wheels], [slide, *hinges], forces=rolling)
    state = mechanism.state(rates={"front axle": 5.0})
    assert state.velocity[:, 0] == pytest.approx([0.5] * 3, abs=1e-12)
    with pytest.raises(vi.StateError, match="Free one of the joints 'front axle', 'rear axle', whose rates"):
        mechanism.state(rates={"front axle": 5.0, "rear axle": 8.0})


def open_four_bar(rod=0.33, forces=()):
    """Return a four-bar whose rod ends apart from the rocker: closing it moves something."""
    end = (rod * np.cos(0.3), 0.0, 0.1 + rod * np.sin(0.3))
    bodies = [
        vi.Body.rod("crank", (0, 0, 0), (0, 0, 0.1), mass=1.0),
        vi.Body.rod("rod", (0, 0, 0.1), end, mass=1.0),
        vi.Body.rod("rocker", (0.3, 0, 0), (0.3, 0, 0.2), mass=1.0),
    ]
    joints = [
        vi.Revolute("pivot", "world", "crank", point=(0, 0, 0), axis=Y),
        vi.Revolute("a", "crank", "rod", point=(0, 0, 0.1), axis=Y),
        vi.Revolute("ground", "world", "rocker", point=(0.3, 0, 0), axis=Y),
        vi.Revolute("b", "rod", "rocker", point=end, point_b=(0.3, 0, 0.2), axis=Y),
    ]
    return vi.Mechanism("open", bodies, joints, forces=list(forces))


def test_closing_a_loop_leaves_driven_joints_where_they_count_from():
    spring = vi.Spring("spring", "world", "rod", point_a=(0, 0, 1), point_b=(0, 0, 0), stiffness=1.0)
    mech = open_four_bar(forces=[vi.PrescribedMotion("motor", joint="pivot", rate=2.0), spring])
    assert abs(float(open_four_bar().coordinates(open_four_bar().state())["pivot"])) > 1e-3  # free: all moves a little
    run = vi.simulate(mech, 0.1, 0.01)
    assert run.coordinates["pivot"] == pytest.approx(2.0 * run.t, abs=1e-12)
    reduced = vi.redmax.simulate(mech, 0.1, 0.01)
    assert reduced.coordinates["pivot"] == pytest.approx(2.0 * reduced.t, abs=1e-9)


def test_where_driven_joints_cannot_stay_all_of_them_move():
    both = [vi.PrescribedMotion(name, joint=name, rate=0.0) for name in ("pivot", "ground")]
    mech = open_four_bar(rod=0.45, forces=both)
    assert abs(float(mech.coordinates(mech.state())["pivot"])) > 1e-3
