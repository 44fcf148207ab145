"""Every mechanism of the catalogue: the facts it names, a short run, and what is known of its motion in closed form."""

import pickle
import re
import subprocess
import sys
from functools import cache

import cloudpickle
import holonomic
import numpy as np
import pytest
from poses import pose_of, rows_at
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import ellipk

import varint as vi
from varint.cli.listed_mechanisms import entry
from varint.kinematics.frames import JointFrames
from varint.model.forces.along_path import AlongPath
from varint.model.forces.beam_element import BeamElement
from varint.model.forces.spring import Cable
from varint.model.joints.base import ProductJoint

GRAVITY = 9.81
every_mechanism = pytest.mark.parametrize("name", vi.mechanisms.NAMES)
FACTS = {name: vi.mechanisms.module(name).EXPECTED for name in vi.mechanisms.NAMES}
ALWAYS = {"bodies", "rows", "mobility", "redundant", "loops", "dt"}
SOMETIMES = {"duration", "variants", "impossible", "order", "period", "precession"}


def given(key):
    """Parametrises a test by every set of parameters that a mechanism names under ``key``."""
    cases = [(name, parameters) for name, facts in FACTS.items() for parameters in facts.get(key, ())]
    assert cases
    return pytest.mark.parametrize(("name", "parameters"), cases)


def build(name, **parameters):
    return getattr(vi.mechanisms, name)(**parameters)


def expected(name):
    return FACTS[name]


@cache
def short_run(name, refined=1, **parameters):
    """The first 200 of the mechanism's own steps from the start that it names, each in ``refined`` pieces."""
    dt = expected(name)["dt"]
    return vi.simulate(build(name, **parameters), 200 * dt, dt / refined)


def state_at(run, node):
    return vi.State(run.position[node], run.quat_wxyz[node], run.velocity[node], run.angular_velocity[node])


def mobility(mechanism, run, nodes=(0, 37, 111)):
    """Degrees of freedom at a generic pose: those of the pose with the largest rank."""
    rank = 0
    for node in nodes:
        _, G = rows_at(mechanism, *pose_of(state_at(run, node)))
        if len(G):
            rank = max(rank, np.linalg.matrix_rank(G.reshape(len(G), -1), tol=1e-7))
    return 6 * len(mechanism.bodies) - rank


def joint_angle(mechanism, name, run):
    """Coordinate (T,) of a joint with one, without jumps."""
    frames = JointFrames(mechanism, mechanism.joint(name))
    return np.unwrap([frames.measure(*pose_of(state_at(run, node)))[0] for node in range(len(run.t))])


def zeros(t, values):
    """Times at which ``values`` change sign, by cubic interpolation."""
    found = []
    for i in np.flatnonzero(values[1:] * values[:-1] < 0):
        near = slice(max(0, i - 1), i + 3)
        cubic = np.polynomial.Polynomial.fit(t[near], values[near], len(t[near]) - 1)
        roots = cubic.roots()
        roots = roots[np.isreal(roots)].real
        found.append(roots[np.argmin(np.abs(roots - 0.5 * (t[i] + t[i + 1])))])
    return np.array(found)


# ---------------------------------------------------------------------------------------- all of them


def test_lists_of_tests_name_what_the_mechanisms_have():
    """The lists of holonomic.py, by which tests choose mechanisms before these are built."""
    found = {name: build(name) for name in vi.mechanisms.NAMES}
    soft = BeamElement | Cable | vi.ParticleNet | vi.DeformableBody

    def having(test):
        return [name for name, mechanism in found.items() if any(map(test, mechanism.forces))]

    for trait, names in (("contacts", holonomic.TOUCHING), ("rolling", holonomic.ROLLING)):
        assert [n for n, mechanism in found.items() if any(trait in t for t in mechanism.force_traits)] == names
    assert having(lambda force: isinstance(force, soft)) == holonomic.FLEXIBLE
    assert having(lambda force: isinstance(force, vi.Musculotendon)) == holonomic.MUSCLES
    products = {n for n, mechanism in found.items() if any(isinstance(j, ProductJoint) for j in mechanism.joints)}
    along = products | set(having(lambda force: isinstance(force, AlongPath)))
    coupled = products | set(having(lambda force: isinstance(force, vi.Coupling)))
    for name in holonomic.HOLONOMIC:
        assert (name in along, name in coupled) == (name in holonomic.ALONG_PATHS, name in holonomic.COUPLED), name
    assert not any(found[name].compiled.plan.limits.measure.size for name in holonomic.HOLONOMIC)


@every_mechanism
def test_facts(name):
    mechanism, facts = build(name), expected(name)
    assert set(facts) >= ALWAYS
    assert set(facts) <= ALWAYS | SOMETIMES, "a fact that no test reads"
    assert len(mechanism.bodies) == facts["bodies"]
    assert mechanism.rows == facts["rows"]
    assert sum(len(cuts) for _, cuts in mechanism.compiled.topology.clusters) == facts["loops"]
    freedoms = mobility(mechanism, short_run(name))
    assert freedoms - np.sum(~mechanism.compiled.plan.constraints.driven) == facts["mobility"]
    assert mechanism.rows - (6 * len(mechanism.bodies) - freedoms) == facts["redundant"]
    assert vi.mechanisms.module(name).__doc__.strip()


@every_mechanism
def test_start(name):
    mechanism = build(name)
    state = mechanism.state()
    g, G = rows_at(mechanism, *pose_of(state))
    velocity = np.hstack([state.velocity, state.angular_velocity])
    assert np.abs(g).max(initial=0.0) < 1e-12
    assert np.abs(np.einsum("rnk,nk->r", G, velocity)).max(initial=0.0) < 1e-11


@pytest.mark.many
@every_mechanism
def test_short_run(name):
    run, fine = short_run(name), short_run(name, refined=4)
    assert run.success
    assert len(run.t) == 201
    assert run.drift.max() < 1e-10
    error, fine_error = (np.abs(r.energy_balance).max() / r.kinetic.max() for r in (run, fine))
    assert error < 0.02
    assert fine_error < max(0.1 * error, 1e-10)  # of second order


@given("variants")
def test_parameters(name, parameters):
    run = vi.simulate(build(name, **parameters), 0.5, expected(name)["dt"])
    assert run.drift.max() < 1e-10
    assert np.abs(run.energy_balance).max() < 0.02 * run.kinetic.max()


def test_private_files_are_no_mechanisms():
    assert "n_pendulum" in vi.mechanisms.NAMES
    assert not any(name.startswith("_") for name in vi.mechanisms.NAMES)
    with pytest.raises(vi.ArgumentError, match="no mechanism 'doublependulum', did you mean 'double_pendulum'"):
        vi.mechanisms.module("doublependulum")
    with pytest.raises(AttributeError, match="no mechanism 'fourbar', did you mean 'four_bar'\\? there are andrews_"):
        _ = vi.mechanisms.fourbar
    with pytest.raises(AttributeError, match="no mechanism 'xyz': there are andrews_squeezer"):
        _ = vi.mechanisms.xyz


SIGNED = ("roller_coaster", "height")  # of hills, or valleys
LENGTHS = [(name, one) for name in vi.mechanisms.NAMES for one in entry(name).parameters if one.unit in ("m", "kg")]
LENGTHS = [(name, one) for name, one in LENGTHS if one.kind == "float" and (name, one.name) != SIGNED]


@pytest.mark.parametrize(("name", "one"), LENGTHS, ids=lambda part: getattr(part, "name", part))
def test_lengths_and_masses_are_not_negative(name, one):
    with pytest.raises(vi.MechanismError, match=f"^{one.name} of {name} must be (zero or )?positive, got -0.4"):
        build(name, **{one.name: -0.4})


def test_lengths_that_may_be_zero_and_heights_that_may_be_negative():
    assert build("three_link_loop", span=0.0).state()
    assert build("roller_coaster", height=-6.0).state()
    assert build("four_bar", crank=None).body("crank").mass == pytest.approx(0.4)


def test_the_lengths_of_the_cases_of_a_four_bar_are_told():
    told = next(one.what for one in entry("four_bar").parameters if one.name == "case")
    for case, lengths in vi.mechanisms.module("four_bar").CASES.items():
        assert f'"{case}" {", ".join(f"{length:g}" for length in lengths)}' in told


@every_mechanism
def test_what_users_read_has_no_names_of_the_source(name):
    found, source = entry(name), vars(vi.mechanisms.module(name))
    parameters = {one.name for one in found.parameters}
    text = " ".join([found.what, found.text, found.zero, *(one.what for one in found.parameters)])
    quoted = set(re.findall(r"'(\w+)'", text))
    assert not (quoted & set(source)) - parameters


def test_arguments_that_are_no_parameters():
    for arguments, options, words in (
        ((), {"crankk": 1}, "'four_bar' has no parameter 'crankk', did you mean 'crank'\\? it takes case, crank, "),
        ((), {"xyz": 1}, "'four_bar' has no parameter 'xyz': it takes case, crank, "),
        (("crank-rocker",), {"case": "crank-rocker"}, "'four_bar': multiple values for argument 'case'; it takes case"),
        ((1,) * 8, {}, "'four_bar': too many positional arguments; it takes case"),
    ):
        with pytest.raises(vi.MechanismError, match=words):
            vi.mechanisms.four_bar(*arguments, **options)
    with pytest.raises(vi.MechanismError, match="'bricard' has no parameter 'angle': it takes none"):
        vi.mechanisms.bricard(angle=1.0)


@given("impossible")
def test_impossible_parameters(name, parameters):
    with pytest.raises(vi.MechanismError):
        build(name, **parameters)


# ------------------------------------------------------------------------------------------- pendulums


def test_pendulum_swings_with_its_period():
    """A compound pendulum: T = 4 sqrt(I / (m g l)) K(sin(a / 2))."""
    for angle in (0.1, 2.0):
        moment = 1.01 / 12 + 0.25  # about the hinge
        period = 4 * np.sqrt(moment / (GRAVITY * 0.5)) * ellipk(np.sin(angle / 2) ** 2)
        run = vi.simulate(build("n_pendulum", n=1, angle=angle), 2.5 * period, 0.005, order=4)
        turns = zeros(run.t, run.angular_velocity[:, 0, 1])  # at rest twice a period, at the start too
        turns = turns[turns > 0.25 * period]
        np.testing.assert_allclose(turns[:4], 0.5 * period * np.arange(1, 5), rtol=1e-6)


def test_double_pendulum_against_lagrange():
    """Two uniform links in minimal coordinates: angles from hanging, by Lagrange's equations."""
    own, g = 1.01 / 12, GRAVITY

    def lagrange(_, y):
        a, b, da, db = y
        M = np.array([[own + 1.25, 0.5 * np.cos(a - b)], [0.5 * np.cos(a - b), own + 0.25]])
        f = [-0.5 * np.sin(a - b) * db**2 - 1.5 * g * np.sin(a), 0.5 * np.sin(a - b) * da**2 - 0.5 * g * np.sin(b)]
        return [da, db, *np.linalg.solve(M, f)]

    run = vi.simulate(build("double_pendulum"), 2.0, 0.005, order=4)
    start = [np.pi / 4, np.pi / 4, 0, 0]
    exact = solve_ivp(lagrange, (0, 2.0), start, "DOP853", run.t, rtol=1e-11, atol=1e-11).y
    angles = np.unwrap(2 * np.arctan2(run.quat_wxyz[:, :, 2], run.quat_wxyz[:, :, 0]), axis=0)
    np.testing.assert_allclose(angles.T, exact[:2], atol=2e-5)
    np.testing.assert_allclose(run.angular_velocity[:, :, 1].T, exact[2:], atol=2e-4)


def test_tree_grows():
    for depth, branching, links in ((1, 2, 1), (2, 3, 4), (4, 1, 4), (4, 2, 15)):
        assert len(build("tree", depth=depth, branching=branching).bodies) == links


# ------------------------------------------------------------------------------------------ spinning


@pytest.mark.parametrize(("spin", "tilt"), [(30.0, np.pi / 6), (-30.0, 1.0), (25.0, np.pi / 2), (20.0, 2.5)])
def test_top_precesses_steadily(spin, tilt):
    rate = vi.mechanisms.module("spinning_top").steady_precession(spin, tilt)
    along, across, moment = 0.3**2 / 2, (3 * 0.3**2 + 0.05**2) / 12 + 0.2**2, GRAVITY * 0.2
    assert np.cos(tilt) * across * rate**2 - along * spin * rate + moment == pytest.approx(0, abs=1e-12)
    run = vi.simulate(build("spinning_top", spin=spin, tilt=tilt), 2.0, 0.0025, order=4)
    axis = run.position[:, 0] / 0.2
    np.testing.assert_allclose(np.arccos(axis[:, 2]), tilt, atol=1e-6)
    np.testing.assert_allclose(np.unwrap(np.arctan2(axis[:, 1], axis[:, 0])), rate * run.t, atol=1e-5)
    np.testing.assert_allclose(run.angular_velocity[:, 0, 2], spin, rtol=1e-8)


def test_top_default():
    assert expected("spinning_top")["precession"] == pytest.approx(1.55, rel=0.05)


@pytest.mark.parametrize("angular_velocity", [None, (1.0, 6.0, 3.0), (3.0, 6.0, 1.0), (5.0, 1.0, 1.0)])
def test_free_body_turns_over_with_its_period(angular_velocity):
    mechanism = build("free_body")
    moments = np.diag(mechanism.body("box").inertia)
    if angular_velocity is None:
        state, period = mechanism.state(), expected("free_body")["period"]
    else:
        state = mechanism.state(angular_velocity={"box": angular_velocity})
        period = vi.mechanisms.module("free_body").period(moments, np.array(angular_velocity))
    run = vi.simulate(mechanism, 2.2 * period, period / 800, state=state, order=4)
    flips = zeros(run.t, run.angular_velocity[:, 0, 1])
    assert len(flips) >= 4
    np.testing.assert_allclose(np.diff(flips), period / 2, rtol=1e-6)


def test_free_body_keeps_its_angular_momentum():
    run = short_run("free_body")
    np.testing.assert_allclose(run.angular_momentum, np.broadcast_to(run.angular_momentum[0], (201, 3)), atol=1e-11)
    np.testing.assert_array_equal(run.position, 0.0)


@pytest.mark.parametrize("joint", ["universal", "revolute"])
def test_snake_keeps_its_momenta(joint):
    run = short_run("snake", joint=joint)
    for momentum in (run.linear_momentum, run.angular_momentum):
        assert np.abs(momentum[0]).max() > 0.1
        np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-10)


# --------------------------------------------------------------------------------------------- loops


def rocker_angle(angle, crank, coupler, rocker, ground):
    """Of the rocker from x towards z, by the law of cosines at its pivot."""
    x, z = crank * np.cos(angle) - ground, crank * np.sin(angle)
    diagonal = np.hypot(x, z)
    return np.arctan2(z, x) % (2 * np.pi) - np.arccos((diagonal**2 + rocker**2 - coupler**2) / (2 * diagonal * rocker))


@pytest.mark.parametrize("lengths", [(0.4, 1.0, 0.8, 1.0), (0.3, 0.8, 0.9, 1.1)])
def test_four_bar_rocker_follows_the_crank(lengths):
    start = np.pi / 3
    mechanism = build(
        "four_bar", **dict(zip(("crank", "coupler", "rocker", "ground"), lengths, strict=True)), angle=start
    )
    run = vi.simulate(mechanism, 2.0, 0.005)
    crank = start + joint_angle(mechanism, "crank pivot", run)
    rocker = rocker_angle(start, *lengths) + joint_angle(mechanism, "rocker pivot", run)
    assert np.ptp(crank) > 2 * np.pi  # all round
    np.testing.assert_allclose(rocker, rocker_angle(crank, *lengths), atol=1e-10)


@pytest.mark.slow
def test_four_bar_state_at_a_crank_angle():
    mechanism = build("four_bar")
    for q in np.linspace(-3, 3, 13):
        state = mechanism.state(coordinates={"crank pivot": q}, rates={"crank pivot": 2.0})
        tip = Rotation.from_quat(state.quat_wxyz[2], scalar_first=True).apply([0, 0, 1])
        ahead, here, behind = (rocker_angle(np.pi / 3 + q + step, 0.4, 1.0, 0.8, 1.0) for step in (1e-6, 0.0, -1e-6))
        np.testing.assert_allclose(tip, (np.cos(here), 0, np.sin(here)), atol=1e-11)
        np.testing.assert_allclose(-state.angular_velocity[2, 1], (ahead - behind) / 1e-6, atol=1e-7)


def test_slider_follows_the_crank():
    start, r, l = np.pi / 3, 0.3, 1.0
    mechanism = build("slider_crank")
    run = vi.simulate(mechanism, 2.0, 0.005)
    angle = start + joint_angle(mechanism, "crank pivot", run)
    assert np.ptp(angle) > 2 * np.pi
    root = np.sqrt(l**2 - (r * np.sin(angle)) ** 2)
    np.testing.assert_allclose(run.position[:, 2, 0], r * np.cos(angle) + root, atol=1e-10)
    slope = -r * np.sin(angle) * (1 + r * np.cos(angle) / root)
    np.testing.assert_allclose(run.velocity[:, 2, 0], -slope * run.angular_velocity[:, 0, 1], atol=1e-8)


def test_three_link_loop_moves_alike_on_hinges_and_balls():
    hinges, balls = (short_run("three_link_loop", joint=joint) for joint in ("revolute", "spherical"))
    np.testing.assert_allclose(balls.position, hinges.position, atol=1e-8)
    assert mobility(balls.mechanism, balls) == 6  # it can swing out of its plane, and each link spin
    assert balls.mechanism.rows == 12


@pytest.mark.parametrize("m", [1, 2, 5])
def test_each_rhombus_is_a_loop_of_its_own(m):
    mechanism = build("rhombus_chain", m=m)
    clusters = mechanism.compiled.topology.clusters
    assert [len(cuts) for _, cuts in clusters] == [1] * m
    assert mobility(mechanism, vi.simulate(mechanism, 0.5, 0.01), nodes=(0, 17, 29)) == 2 * m


def test_rhombus_folds_up_as_a_mechanism_of_one_angle():
    """One rhombus hung straight stays symmetric; its half opening a obeys energy conservation."""
    run = vi.simulate(build("rhombus_chain", m=1, tilt=0.0), 0.25, 0.0025, order=4)
    a = np.arccos(np.clip(run.position[:, 0, 2] / -0.5, -1, 1))
    np.testing.assert_allclose(run.position[:, 1], run.position[:, 0] * (-1, 1, 1), atol=1e-10)
    np.testing.assert_allclose(run.position[:, 3, 2], -1.5 * np.cos(a), atol=1e-10)
    inertia = 4 * 1.01 / 12 + 2 * 0.25 + 0.5 * np.cos(a) ** 2 + 4.5 * np.sin(a) ** 2
    fall = 4 * GRAVITY * (np.cos(a) - np.cos(np.pi / 4))
    np.testing.assert_allclose(run.angular_velocity[:, 0, 1] ** 2, 2 * fall / inertia, atol=1e-5)


@pytest.mark.slow
def test_importing_the_file_of_a_mechanism_leaves_its_build():
    """As cloudpickle does where a function names a mechanism."""
    code = "import varint.mechanisms.four_bar, varint as vi; print(vi.mechanisms.four_bar().name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "four-bar\n"


def test_the_catalogue_travels_by_its_name():
    """In functions that cloudpickle takes elsewhere."""
    assert cloudpickle.loads(cloudpickle.dumps(vi.mechanisms)) is vi.mechanisms
    assert pickle.loads(pickle.dumps(vi.mechanisms)) is vi.mechanisms
