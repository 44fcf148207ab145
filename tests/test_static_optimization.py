"""Efforts and muscles of motions that are given as tables: closed forms of one joint, mass of muscles, loops, input."""

import dataclasses
import math
import re

import numpy as np
import pytest
from test_path_mass import SHORT, TORQUES, TWO, bones, muscle, to_zero

import varint as vi
from varint.model.forces.musculotendon import degroote_curves

T = np.linspace(0.0, 0.3, 61)
MASS, LENGTH, GRAVITY = 1.2, 0.3, 9.81
FIBRE = {"optimal_length": 0.12, "slack_length": 0.18, "excitation": 0.5}
MUSCLES = {"a": ((0.0, 0.3), 0.04, 900.0), "b": ((0.02, 0.3), 0.06, 500.0)}  # on the world, on the arm, N


def flexors(strength=1.0):
    return [
        vi.Musculotendon(
            name,
            path=[vi.At("world", (at[0], 0, at[1])), vi.At("arm", (reach, 0, 0))],
            max_force=strength * force,
            **FIBRE,
        )
        for name, (at, reach, force) in MUSCLES.items()
    ]


def one_joint(*forces):
    """A rod about -y, so that the angle counts from x to z."""
    rod = vi.Body.rod("arm", (0, 0, 0), (LENGTH, 0, 0), mass=MASS)
    hinge = vi.Revolute("elbow", "world", "arm", point=(0, 0, 0), axis=(0, -1, 0))
    return vi.Mechanism("one joint", [rod], [hinge], forces=forces)


def swing(t):
    """Angle, rate and acceleration."""
    return 0.3 * np.sin(4.0 * t), 1.2 * np.cos(4.0 * t), -4.8 * np.sin(4.0 * t)


def pull(name, angle, rate):
    """Length, moment arm, active and passive tension by the formulas of the paper."""
    at, reach, force = MUSCLES[name]
    point = reach * np.array([math.cos(angle), math.sin(angle)])
    along = np.array(at) - point
    length = float(np.linalg.norm(along))
    arm = -along @ [-point[1], point[0]] / length
    fibre = (length - FIBRE["slack_length"]) / FIBRE["optimal_length"]
    speed = arm * rate / (10.0 * FIBRE["optimal_length"])
    active, _, of_speed, _, passive, _ = degroote_curves(fibre, speed)
    return arm, force * active * of_speed, force * passive


def torque(inertia):
    """(T,) N m, that the swing requires."""
    angle, _, second = swing(T)
    return inertia * second + MASS * GRAVITY * 0.5 * LENGTH * np.cos(angle)


def test_efforts_of_one_joint():
    mechanism = one_joint()
    inertia = vi.EquationsOfMotion(mechanism).mass_matrix([0.0])[0, 0]
    found = vi.efforts_of_motion(mechanism, T, {"elbow": swing(T)[0]})
    assert inertia == pytest.approx(MASS * LENGTH**2 / 3.0, rel=1e-3)
    assert found["elbow"] == pytest.approx(torque(inertia), abs=1e-7)


def test_two_muscles_share_by_their_arms():
    """Least a1^2 + a2^2 with c1 a1 + c2 a2 = tau has a_i = c_i tau / (c1^2 + c2^2)."""
    mechanism = one_joint(*flexors())
    found = vi.static_optimization(mechanism, T, {"elbow": swing(T)[0]})
    required = torque(vi.EquationsOfMotion(one_joint()).mass_matrix([0.0])[0, 0])
    angle, rate, _ = swing(T)
    for k in range(T.size):
        arms, active, passive = np.array([pull(name, angle[k], rate[k]) for name in MUSCLES]).T
        wanted, each = required[k] + passive @ arms, -active * arms
        activation = each * wanted / (each @ each)
        assert (activation > 0.0).all()
        assert (activation < 1.0).all()
        for name, own, tension in zip(MUSCLES, activation, passive + activation * active, strict=True):
            assert found.activation[name][k] == pytest.approx(own, rel=1e-6)
            assert found.tension[name][k] == pytest.approx(tension, rel=1e-6, abs=1e-6)
    assert np.abs(found.residual["elbow"]).max() < 1e-8
    assert found.effort["elbow"] == pytest.approx(required, abs=1e-7)


def test_weak_muscles_leave_a_residual():
    found = vi.static_optimization(one_joint(*flexors(0.01)), T, {"elbow": swing(T)[0]})
    angle, rate, _ = swing(T)
    for k in (0, 20, 60):
        arms, active, passive = np.array([pull(name, angle[k], rate[k]) for name in MUSCLES]).T
        most = -0.01 * (active + passive) @ arms
        assert found.residual["elbow"][k] == pytest.approx(found.effort["elbow"][k] - most, rel=1e-9)
    assert all((own == 1.0).all() for own in found.activation.values())


def test_some_of_the_muscles():
    """The others have to be without an activation of their own."""
    muscles = flexors()
    with pytest.raises(vi.ArgumentError, match="musculotendon 'b' has a law with an internal variable"):
        vi.static_optimization(one_joint(*muscles), T, {"elbow": swing(T)[0]}, muscles=["a"])
    found = vi.static_optimization(one_joint(muscles[0]), T, {"elbow": swing(T)[0]}, muscles=["a"])
    assert np.abs(found.residual["elbow"]).max() < 1e-6
    assert list(found.tension) == ["a"]


def test_a_run_with_the_activations_makes_the_motion():
    """Excitations at once, as values at nodes."""
    angle, rate, _ = swing(T)
    found = vi.static_optimization(one_joint(*flexors()), T, {"elbow": angle})
    excited = [
        vi.Musculotendon(
            m.name, path=m.path, max_force=m.max_force, activation_times=None,
            **FIBRE | {"excitation": found.activation[m.name]},
        )
        for m in flexors()
    ]  # fmt: skip
    mechanism = one_joint(*excited)
    state = mechanism.state(coordinates={"elbow": angle[0]}, rates={"elbow": rate[0]})
    run = vi.simulate(mechanism, 0.3, 0.005, state=state, order=4)
    assert run.coordinates["elbow"] == pytest.approx(angle, abs=1e-4)


def test_mass_of_a_muscle_in_the_efforts():
    """A motion with torques of an independent derivation; the efforts are linear in the mass."""
    given = {"length": 0.5, "gravity": 0.0, "start": (0.9, -1.4)}
    q = np.array([to_zero(t)[0] for t in T])
    table = {"joint 1": q[:, 0], "joint 2": q[:, 1]}

    def efforts(*forces):
        found = vi.efforts_of_motion(bones(*forces, **given), T, table)
        return np.array([found["joint 1"], found["joint 2"]]).T

    none, whole, part = efforts(), efforts(muscle(SHORT)), efforts(muscle(SHORT, 0.3))
    assert whole[::10] == pytest.approx(np.array(TORQUES), abs=2e-6)
    assert part == pytest.approx(none + 0.3 * (whole - none), abs=1e-10)
    assert np.abs(whole - none).max() > 4.0


@pytest.mark.slow
def test_mass_of_a_muscle_with_its_force():
    """``mass=`` of a Musculotendon is the PathMass of its path, in runs and in static optimisation."""
    path = [vi.At(*point) for point in TWO]
    given = {"path": path, "max_force": 20.0, "optimal_length": 0.8, "slack_length": 0.5, "excitation": 0.6}
    apart = [vi.Musculotendon("m", **given), vi.PathMass("mass", path=path, mass=0.7, belly=(0.1, 0.8))]
    together = [vi.Musculotendon("m", **given, mass=0.7, belly=(0.1, 0.8))]
    runs = [vi.redmax.simulate(bones(*forces), 0.3, rtol=1e-8) for forces in (apart, together)]
    assert np.array_equal(runs[0].q, runs[1].q)
    assert np.array_equal(runs[0].kinetic, runs[1].kinetic)
    assert runs[1].force["m"][-1] < -1.0
    assert np.abs(runs[1].energy_balance).max() < 1e-6
    table = {"joint 1": 0.2 * np.sin(5.0 * T), "joint 2": 0.3 * np.sin(4.0 * T)}
    found = [vi.static_optimization(bones(*forces), T, table) for forces in (apart, together)]
    assert np.array_equal(found[0].effort["joint 1"], found[1].effort["joint 1"])
    without = vi.static_optimization(bones(apart[0]), T, table)
    assert np.abs(without.effort["joint 1"] - found[0].effort["joint 1"]).max() > 1.0


def test_no_mass_of_a_muscle_is_none():
    path = [vi.At(*point) for point in TWO]
    given = {"path": path, "max_force": 20.0, "optimal_length": 0.8, "slack_length": 0.5, "excitation": 0.6}
    runs = [vi.simulate(bones(vi.Musculotendon("m", **given | more)), 0.2, 0.01) for more in ({}, {"mass": 0.0})]
    assert np.array_equal(runs[0].position, runs[1].position)


def test_mass_is_refused_where_it_is_not_known():
    path = [vi.At(*point) for point in TWO]
    given = {"path": path, "max_force": 20.0, "optimal_length": 0.8, "slack_length": 0.5}
    heavy = bones(vi.Musculotendon("m", **given, mass=0.7))
    with pytest.raises(vi.ArgumentError, match=r"'m' has mass that moves.*straight_muscle_mass"):
        vi.simulate(heavy, 0.1, 0.01, adaptive=True)
    with pytest.raises(vi.ArgumentError, match="'m' has mass that moves"):
        vi.redmax.simulate(heavy, 0.1, dt=0.01, integrator="bdf2")
    with pytest.raises(vi.MechanismError, match="mass"):
        vi.Musculotendon("m", **given, mass=-0.7)
    with pytest.raises(vi.MechanismError, match="belly of musculotendon 'm'"):
        vi.Musculotendon("m", **given, mass=0.7, belly=(0.5, 0.2))


def test_coupled_joints():
    """Two joints that turn alike: what counts is the sum of the efforts along the motion that is left."""
    path = [vi.At("bone 1", (0.3, 0, 0.1)), vi.At("bone 2", (1.4, 0, 0.1))]
    force = vi.Musculotendon("m", path=path, max_force=2000.0, optimal_length=0.6, slack_length=0.5)
    alike = vi.Coupling("alike", terms=[("joint 1", 0, 1.0), ("joint 2", 0, -1.0)])
    mechanism = bones(force, alike, start=(0.0, 0.0), gravity=0.0)
    angle = 0.2 * np.sin(4.0 * T)
    found = vi.static_optimization(mechanism, T, {"joint 1": angle, "joint 2": angle})
    equations = vi.EquationsOfMotion(bones(gravity=0.0))
    k = 20
    rates, second = np.full(2, 0.8 * math.cos(4.0 * T[k])), np.full(2, -16.0 * angle[k])
    efforts = equations.mass_matrix(np.full(2, angle[k])) @ second + equations.bias(np.full(2, angle[k]), rates)
    state = mechanism.state(coordinates={"joint 1": angle[k], "joint 2": angle[k]})
    arms = vi.moment_arms(mechanism, "m", state=state)
    given = -found.tension["m"][k] * (arms["joint 1"] + arms["joint 2"])
    left = found.residual["joint 1"][k] + found.residual["joint 2"][k]
    assert found.residual["joint 1"] == pytest.approx(found.residual["joint 2"], abs=1e-12)
    assert given + left == pytest.approx(efforts.sum(), abs=1e-5)
    with pytest.raises(vi.ArgumentError, match=r"open loops or couplings by .* most at coupling 'alike': give"):
        vi.static_optimization(mechanism, T, {"joint 1": angle, "joint 2": 0.5 * angle})
    with pytest.raises(vi.ArgumentError, match="'bones' has loops or couplings"):
        vi.efforts_of_motion(bones(alike, start=(0.0, 0.0)), T, {"joint 1": angle, "joint 2": angle})


def test_prescribed_motions_do_not_act():
    angle = swing(T)[0]
    driven = one_joint(vi.PrescribedMotion("drive", joint="elbow", position=lambda t: float(swing(t)[0])))
    found = [vi.efforts_of_motion(each, T, {"elbow": angle})["elbow"] for each in (driven, one_joint())]
    assert np.array_equal(*found)
    run = vi.simulate(driven, 0.3, 0.005, order=4)
    again = vi.efforts_of_motion(driven, run.t, run.coordinates)
    assert again["elbow"][5:-5] == pytest.approx(run.force["drive"][5:-5], abs=1e-4)


def test_a_prescribed_motion_is_named_and_acts_where_that_is_asked_for():
    """A drive at the elbow takes all of the effort there: the muscles rest. Left out, they make the motion."""
    table = {"elbow": swing(T)[0]}
    drive = vi.PrescribedMotion("drive", joint="elbow", position=lambda t: float(swing(t)[0]))
    driven, alone = one_joint(*flexors(), drive), vi.static_optimization(one_joint(*flexors()), T, table)
    with pytest.warns(vi.LeftOutWarning, match="leaves out prescribedmotion 'drive' of 'one joint'.*drives='act'"):
        told = vi.static_optimization(driven, T, table)
    left_out, acting = (vi.static_optimization(driven, T, table, drives=drives) for drives in ("left out", "act"))
    for name in MUSCLES:
        assert np.array_equal(told.activation[name], alone.activation[name])
        assert np.array_equal(left_out.activation[name], alone.activation[name])
        assert np.abs(acting.activation[name]).max() < 1e-12
        assert alone.activation[name].min() > 0.0
    assert not acting.residual["elbow"].any()
    assert np.array_equal(acting.effort["elbow"], alone.effort["elbow"])
    with pytest.raises(vi.ArgumentError, match="drives must be"):
        vi.static_optimization(driven, T, table, drives="all")


def test_a_drive_at_one_joint_leaves_the_other_to_the_muscles():
    path = [vi.At("bone 1", (0.3, 0, 0.1)), vi.At("bone 2", (1.4, 0, 0.1))]
    force = vi.Musculotendon("m", path=path, max_force=2000.0, optimal_length=0.6, slack_length=0.5)
    mechanism = bones(force, start=(0.0, 0.0), gravity=0.0)
    table = {"joint 1": 0.1 * np.sin(4.0 * T), "joint 2": 0.4 + 0.1 * np.sin(4.0 * T)}
    drive = vi.PrescribedMotion("drive", joint="joint 1", rate=0.0)
    acting = vi.static_optimization(mechanism.with_forces(add=[drive]), T, table, drives="act")
    assert not acting.residual["joint 1"].any()
    k = 20
    state = mechanism.state(coordinates={name: values[k] for name, values in table.items()})
    arm = vi.moment_arms(mechanism, "m", state=state)["joint 2"]
    left = acting.residual["joint 2"][k]
    assert -acting.tension["m"][k] * arm + left == pytest.approx(acting.effort["joint 2"][k], abs=1e-5)


@pytest.mark.parametrize(
    ("t", "coordinates", "words"),
    [
        (T[:5], {"elbow": T[:5]}, "t must be 6 times or more"),
        (-T, {"elbow": T}, "t must be 6 times or more that rise"),
        (T, {}, "coordinates: those of joint 'elbow' are missing"),
        (T, {"elbow": T[1:]}, "coordinates of 'elbow'"),
        (T, {"elbo": T}, "no joint 'elbo', did you mean 'elbow'"),
        (T, T, "coordinates must be"),
    ],
)
def test_tables_that_are_no_motion(t, coordinates, words):
    for call in (vi.efforts_of_motion, vi.static_optimization):
        mechanism = one_joint(*(flexors() if call is vi.static_optimization else ()))
        with pytest.raises(vi.ArgumentError, match=words):
            call(mechanism, t, coordinates)


def test_muscles_that_are_none():
    table = {"elbow": swing(T)[0]}
    with pytest.raises(vi.ArgumentError, match="'one joint' has no muscle"):
        vi.static_optimization(one_joint(), T, table)
    cases = (
        (["c"], "'c', which is no muscle: there are a, b"),
        ([], "one name or more"),
        (5, "muscles"),
        (np.zeros((2, 2)), "each of muscles= must be a str"),
    )
    for wrong, words in cases:
        with pytest.raises(vi.ArgumentError, match=words):
            vi.static_optimization(one_joint(*flexors()), T, table, muscles=wrong)


def test_a_rotor_that_is_coupled_needs_no_table():
    """As an armature of MJCF is read: it adds its inertia, by the square of the ratio."""
    bare, (angle, _, second) = one_joint(), swing(T)
    moment, ratio = 0.02, -3.0
    rotor = vi.Body("rotor", mass=1.0, inertia=moment * np.eye(3), position=(0, 0, 0))
    axle = vi.Revolute("axle", "world", "rotor", point=(0, 0, 0), axis=(0, -1, 0))
    gear = vi.Coupling("gear", terms=[("axle", 0, 1.0), ("elbow", 0, -ratio)])
    geared = vi.Mechanism("geared", [*bare.bodies, rotor], [*bare.joints, axle], forces=[gear, *flexors()])
    plain = vi.static_optimization(one_joint(*flexors()), T, {"elbow": angle})
    found = vi.static_optimization(geared, T, {"elbow": angle})
    state = geared.state(coordinates={"elbow": angle[20], "axle": ratio * angle[20]})
    arms = {name: vi.moment_arms(geared, name, state=state)["elbow"] for name in MUSCLES}
    more = sum(-arms[name] * (found.tension[name][20] - plain.tension[name][20]) for name in MUSCLES)
    more += found.residual["elbow"][20] - plain.residual["elbow"][20]
    assert more == pytest.approx(moment * ratio**2 * second[20], rel=1e-4)


def armed(*forces, moment=0.02, ratio=-3.0):
    """The rod with a rotor that stands for an armature."""
    bare, name = one_joint(), "rotor of elbow"
    rotor = vi.Body(name, mass=1.0, inertia=moment * np.eye(3), position=(0, 0, 0))
    axle = vi.Revolute(name, "world", name, point=(0, 0, 0), axis=(0, -1, 0))
    tie = vi.Coupling(name, terms=[(name, 0, 1.0), ("elbow", 0, -ratio)])
    return vi.Mechanism("armed", [*bare.bodies, rotor], [*bare.joints, axle], forces=[tie, *forces])


def test_armatures_count_at_their_joints():
    """Efforts and residuals of a rotor are not listed beside those of its joint, where all of them count."""
    angle, _, second = swing(T)
    table = {"elbow": angle}
    wanted = torque(vi.EquationsOfMotion(one_joint()).mass_matrix([0.0])[0, 0]) + 0.02 * 3.0**2 * second
    net = vi.efforts_of_motion(armed(*flexors()), T, table, muscles="left out")
    assert list(net) == ["elbow"]
    assert net["elbow"] == pytest.approx(wanted, abs=1e-6)
    with pytest.raises(vi.ArgumentError, match=r"'a' of 'armed' has an activation, .*muscles='left out'"):
        vi.efforts_of_motion(armed(*flexors()), T, table)
    weak = vi.static_optimization(armed(*flexors(0.01)), T, table)
    assert list(weak.residual) == list(weak.effort) == ["elbow"]
    assert np.array_equal(weak.effort["elbow"], net["elbow"])
    state = armed(*flexors()).state(coordinates={"elbow": angle[20], "rotor of elbow": -3.0 * angle[20]})
    arms = {name: vi.moment_arms(armed(*flexors()), name, state=state)["elbow"] for name in MUSCLES}
    exerted = -sum(arms[name] * weak.tension[name][20] for name in MUSCLES)
    assert weak.residual["elbow"][20] == pytest.approx(wanted[20] - exerted, abs=1e-6)


def test_efforts_of_joints_that_follow_count_where_they_follow():
    """The second joint follows the first by -2: power is the same, and the muscle has no part in it."""
    path = [vi.At("bone 1", (0.3, 0, 0.1)), vi.At("bone 2", (1.4, 0, 0.1))]
    force = vi.Musculotendon("m", path=path, max_force=2000.0, optimal_length=0.6, slack_length=0.5)
    geared = vi.Coupling("geared", terms=[("joint 2", 0, 1.0), ("joint 1", 0, 2.0)])
    angle = 0.2 * np.sin(4.0 * T)
    table = {"joint 1": angle, "joint 2": -2.0 * angle}
    free = vi.efforts_of_motion(bones(start=(0.0, 0.0)), T, table)
    found = vi.efforts_of_motion(
        bones(force, geared, start=(0.0, 0.0)), T, table, muscles="left out", couplings="folded"
    )
    assert list(found) == ["joint 1"]
    assert found["joint 1"] == pytest.approx(free["joint 1"] - 2.0 * free["joint 2"], abs=1e-9)
    run = vi.simulate(vi.mechanisms.four_bar(), 0.2, 0.02)
    with pytest.raises(vi.ArgumentError, match="'four-bar' has loops, or couplings that do not determine"):
        vi.efforts_of_motion(run.mechanism, run.t, run.coordinates, couplings="folded")


def test_missing_tables_name_joints_that_others_follow():
    """Of two joints that are coupled the table of one is enough; a rotor of an armature follows its joint."""
    turned = vi.Body("turned", mass=0.1, inertia=0.01 * np.eye(3))
    geared = vi.Coupling("geared", terms=[("elbow", 0, 1.0), ("axle", 0, -1.0)])
    arm = one_joint(*flexors())
    cases = {"turned": "'axle' (or of 'elbow', coupled to it) are missing", "rotor of elbow": "'elbow' are missing"}
    for name, words in cases.items():
        axle = "axle" if name == "turned" else name
        hinge = vi.Revolute(axle, "world", name, point=(0, 0, 0), axis=(0, 0, 1))
        tie = dataclasses.replace(geared, terms=[("elbow", 0, 1.0), (axle, 0, -1.0)])
        bodies = [dataclasses.replace(turned, name=name), *arm.bodies]
        mechanism = vi.Mechanism("geared", bodies, [hinge, *arm.joints], forces=[*arm.forces, tie])
        with pytest.raises(vi.ArgumentError, match=re.escape(words)):
            vi.static_optimization(mechanism, T, {})
        found = vi.static_optimization(mechanism, T, {"elbow": swing(T)[0]})
        assert sorted(found.activation) == sorted(MUSCLES)


def test_a_table_that_opens_a_loop_names_the_joint():
    four_bar = vi.mechanisms.four_bar()
    run = vi.simulate(four_bar, 0.2, 0.01)
    table = dict(run.coordinates)
    name = four_bar.joints[0].name
    table[name] = table[name] + 0.1
    with pytest.raises(
        vi.ArgumentError, match=r"open loops or couplings by .* most at revolute joint '.*': give a table"
    ):
        vi.efforts_of_motion(four_bar, run.t, table)
