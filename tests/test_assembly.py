"""Assembly from wrong guesses: every joint closed, on the branch of the guess, holding what is held."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from poses import measured, measured_rates, moved, pose_of, rows_at
from scipy.spatial.transform import Rotation
from test_sweep import scaled

import varint as vi
from varint.kinematics import assembly
from varint.kinematics.closure import Closure
from varint.model.rotation_vectors import quat_from_matrix, rotation_matrix

every_mechanism = pytest.mark.parametrize("name", vi.mechanisms.NAMES)
MOVE = 0.05  # rad, or sizes of a part: of one move towards the reference
AXIS = (0, -1, 0)


def build(name):
    return replace(getattr(vi.mechanisms, name)(), start={})


def directions(rng, count):
    vectors = rng.standard_normal((count, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def displaced(rng, state, length, turn=0.2):
    """Every body of a state moved by ``length`` and turned by ``turn``, each its own way."""
    n = len(state.position)
    x, R = moved(*pose_of(state), length * directions(rng, n), turn * directions(rng, n))
    return replace(state, position=x[:-1], quat_wxyz=quat_from_matrix(R[:-1]))


def gap(mechanism, state):
    """m, relative to the size of the coordinates where that is above 1 m."""
    g, _ = rows_at(mechanism, *pose_of(state))
    return np.abs(g).max(initial=0.0) / max(1.0, np.abs(state.position).max())


def turns(a, b):
    """(nb,) rad, and with the axis (nb, 3) in body axes, from the orientations of a state to those of another."""
    relative = np.swapaxes(rotation_matrix(a.quat_wxyz), 1, 2) @ rotation_matrix(b.quat_wxyz)
    return Rotation.from_matrix(relative).as_rotvec()


def apart(mechanism, a, b):
    """Largest distance of a body in two states, rad or sizes of a part."""
    length = mechanism.compiled.length
    shift = np.linalg.norm(a.position - b.position, axis=1).max() / length
    return max(shift, np.linalg.norm(turns(a, b), axis=1).max())


def arrives(mechanism, state, goal):
    """Whether small moves, each closed again, lead to ``goal`` without a jump: then both are on one branch."""
    for _ in range(100):
        left = apart(mechanism, state, goal)
        if left < MOVE:
            return True
        share = MOVE / left
        x, R = moved(*pose_of(state), share * (goal.position - state.position), share * turns(state, goal))
        last = state
        state = mechanism.assemble(replace(state, position=x[:-1], quat_wxyz=quat_from_matrix(R[:-1])))
        if apart(mechanism, last, state) > 2 * MOVE:
            return False
    return False


def assembled(name, rng, trials, share):
    """Of that many displaced guesses, how many come back closed and on the branch of the reference."""
    mechanism = build(name)
    goal = mechanism.state()
    good = 0
    for _ in range(trials):
        state = mechanism.assemble(displaced(rng, goal, share * mechanism.compiled.length))
        good += gap(mechanism, state) < 1e-12 and arrives(mechanism, state, goal)
    return good


@pytest.mark.slow
@pytest.mark.many
@every_mechanism
def test_displaced_mechanisms_come_back(name, rng):
    assert assembled(name, rng, 5, 0.2) == 5


@pytest.mark.slow
@pytest.mark.long
@every_mechanism
def test_displaced_mechanisms_come_back_nearly_always(name, rng):
    assert assembled(name, rng, 100, 0.2) >= 95


@every_mechanism
def test_a_good_guess_stays(name):
    mechanism = getattr(vi.mechanisms, name)()
    guess = mechanism.state()
    state = mechanism.assemble(guess)
    for field in ("position", "quat_wxyz"):
        np.testing.assert_allclose(getattr(state, field), getattr(guess, field), atol=1e-12)
    for field in ("velocity", "angular_velocity"):
        np.testing.assert_allclose(getattr(state, field), getattr(guess, field), atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"coordinates": {"joint 2": 0.4}}, {"rates": {"joint 1": 2.0}}])
def test_poses_along_trees_need_no_equations(monkeypatch, given):
    mechanism = build("double_pendulum")
    state = mechanism.state(**given)
    monkeypatch.setattr(assembly, "are_closed", lambda *pose: False)
    solved = mechanism.state(**given)
    for own in ("position", "quat_wxyz", "velocity", "angular_velocity"):
        assert getattr(state, own).tobytes() == getattr(solved, own).tobytes()
    monkeypatch.undo()
    monkeypatch.setattr(Closure, "close", None)
    mechanism.state(**given)
    with pytest.raises(TypeError):
        build("four_bar").state(coordinates={"crank pivot": 0.4})


def test_the_other_branch_is_seen_as_such():
    """The test of branches above tells the open four-bar from the crossed one."""
    mechanism = build("four_bar")
    goal = mechanism.state()
    pin, pivot = np.array([0.2, 0, 0.2 * np.sqrt(3)]), np.array([1.0, 0, 0])
    along = (pivot - pin) / np.linalg.norm(pivot - pin)

    def mirrored(points):
        return pin + 2 * np.outer((points - pin) @ along, along) - (points - pin)

    x, R = pose_of(goal)
    across = np.array([-along[2], 0, along[0]])
    x[1:3] = mirrored(x[1:3])
    for body in (1, 2):
        direction = R[body, :, 2] - 2 * (R[body, :, 2] @ across) * across
        R[body] = np.column_stack([np.cross((0, 1, 0), direction), (0, 1, 0), direction])
    crossed = mechanism.assemble(replace(goal, position=x[:-1], quat_wxyz=quat_from_matrix(R[:-1])))
    np.testing.assert_allclose(crossed.position, x[:-1], atol=1e-12)
    assert not arrives(mechanism, crossed, goal)


# --------------------------------------------------------------------------------------------- holding


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "rhombus_chain", "n_pendulum", "bennett"])
def test_held_bodies_keep_pose_and_velocity(name, rng):
    mechanism = getattr(vi.mechanisms, name)()
    goal = mechanism.state()
    held = mechanism.bodies[0].name
    guess = displaced(rng, goal, 0.1 * mechanism.compiled.length, 0.1)
    guess.position[0], guess.quat_wxyz[0] = goal.position[0], -goal.quat_wxyz[0]
    state = mechanism.assemble(guess, hold=[held])
    assert gap(mechanism, state) < 1e-12
    np.testing.assert_allclose(state.position[0], guess.position[0], atol=1e-15)
    np.testing.assert_allclose(state.quat_wxyz[0], guess.quat_wxyz[0], atol=1e-14)
    np.testing.assert_allclose(state.velocity[0], goal.velocity[0], atol=1e-15)
    np.testing.assert_allclose(state.angular_velocity[0], goal.angular_velocity[0], atol=1e-15)
    _, G = rows_at(mechanism, *pose_of(state))
    velocity = np.hstack([state.velocity, state.angular_velocity])
    assert np.abs(np.einsum("rnk,nk->r", G, velocity)).max() < 1e-10


def test_held_joints_keep_their_coordinates_and_rates(rng):
    mechanism = vi.mechanisms.slider_crank()
    goal = mechanism.state(coordinates={"crank pivot": 0.3}, rates={"crank pivot": 2.0})
    guess = displaced(rng, goal, 0.05, 0.05)
    for field in ("position", "quat_wxyz"):  # the crank and the slider are on their own joints
        getattr(guess, field)[[0, 2]] = getattr(goal, field)[[0, 2]]
    for joint in ("crank pivot", "slide"):
        state = mechanism.assemble(guess, hold=[joint])
        assert gap(mechanism, state) < 1e-12
        x, R = pose_of(guess)
        np.testing.assert_allclose(
            measured(mechanism, joint, *pose_of(state)), measured(mechanism, joint, x, R), atol=1e-12
        )
        rates = measured_rates(mechanism, joint, guess)
        np.testing.assert_allclose(measured_rates(mechanism, joint, state), rates, atol=1e-7)


@pytest.mark.slow
def test_coordinates_and_rates_are_met(rng):
    mechanism = build("four_bar")
    for q in (-2.0, -0.1, 0.05, 2.5):
        guess = displaced(rng, mechanism.state(), 0.1)
        state = mechanism.assemble(guess, coordinates={"crank pivot": q}, rates={"crank pivot": 3.0})
        expected = mechanism.state(coordinates={"crank pivot": q}, rates={"crank pivot": 3.0})
        for field in ("position", "velocity", "angular_velocity"):
            np.testing.assert_allclose(getattr(state, field), getattr(expected, field), atol=1e-10)


def test_velocities_change_as_little_as_they_must(rng):
    """The change is at right angles, in the kinetic metric, to every velocity that the joints allow."""
    mechanism = build("rhombus_chain")
    here = mechanism.state()
    n = len(mechanism.bodies)
    guess = replace(here, velocity=rng.standard_normal((n, 3)), angular_velocity=rng.standard_normal((n, 3)))
    state = mechanism.assemble(guess)
    np.testing.assert_allclose(state.position, here.position, atol=1e-14)
    momentum = np.hstack(
        [
            [body.mass * dv for body, dv in zip(mechanism.bodies, guess.velocity - state.velocity, strict=True)],
            [
                body.inertia @ dw
                for body, dw in zip(mechanism.bodies, guess.angular_velocity - state.angular_velocity, strict=True)
            ],
        ]
    )
    _, G = rows_at(mechanism, *pose_of(here))
    _, sizes, V = np.linalg.svd(G.reshape(len(G), -1))
    allowed = V[np.sum(sizes > 1e-9) :]
    assert len(allowed) == 8
    assert np.abs(allowed @ momentum.ravel()).max() < 1e-10
    assert np.abs(G.reshape(len(G), -1) @ np.hstack([state.velocity, state.angular_velocity]).ravel()).max() < 1e-10


@pytest.mark.slow
def test_large_chains_are_assembled(rng):
    """Sparse equations: the cost is that of the bodies."""
    mechanism = vi.mechanisms.n_pendulum(n=300)
    state = mechanism.assemble(displaced(rng, mechanism.state(), 0.02, 0.02))
    assert gap(mechanism, state) < 1e-12


# ------------------------------------------------------------------------------------------- impossible


def four_bar_by_lengths(crank, coupler, rocker, ground):
    """A four-bar described open: crank and coupler straight along x, the rocker upright."""
    upright = (np.sqrt(0.5), 0, -np.sqrt(0.5), 0)
    bodies = [
        vi.Body.box("crank", (crank, 0.1, 0.1), 1.0, position=(crank / 2, 0, 0)),
        vi.Body.box("coupler", (coupler, 0.1, 0.1), 1.0, position=(crank + coupler / 2, 0, 0)),
        vi.Body.box("rocker", (rocker, 0.1, 0.1), 1.0, position=(ground, 0, rocker / 2), quat_wxyz=upright),
    ]
    tip, top = (crank + coupler, 0, 0), (ground, 0, rocker)
    joints = [
        vi.Revolute("crank pivot", "world", "crank", point=(0, 0, 0), axis=AXIS),
        vi.Revolute("crank pin", "crank", "coupler", point=(crank, 0, 0), axis=AXIS),
        vi.Revolute("rocker pin", "coupler", "rocker", point=tip, point_b=top, axis=AXIS),
        vi.Revolute("rocker pivot", "world", "rocker", point=(ground, 0, 0), axis=AXIS),
    ]
    return vi.Mechanism("open four-bar", bodies, joints)


def test_a_mechanism_described_open_is_closed():
    mechanism = four_bar_by_lengths(0.4, 1.0, 0.8, 1.0)
    assert not mechanism.is_closed
    state = mechanism.state()
    assert gap(mechanism, state) < 1e-12
    run = vi.simulate(mechanism, 0.2, 0.01)
    assert run.drift.max() < 1e-11


def test_links_that_are_too_short_are_named():
    """Links of 0.9 m in all for 1 m: the gaps at the four joints of the stretched loop add up to 0.1 m."""
    loop = r"the loop 'rocker pin' - 'rocker pivot' - 'crank pivot' - 'crank pin' stays open by 0\.1 m"
    with pytest.raises(vi.AssemblyError, match=loop):
        four_bar_by_lengths(0.2, 0.3, 0.4, 1.0).state()


CONFLICTS = {
    "two bodies": ({"hold": ["crank", "rocker"]}, r"holding body 'crank', body 'rocker'.*'rocker pivot' 0\.1 m"),
    "body and joint": ({"hold": ["rocker", "crank pivot"]}, r"holding body 'rocker', revolute joint 'crank pivot'"),
    "coordinates": (
        {"coordinates": {"rocker pivot": 2.0}},
        "path.*the loop .*'crank pivot'.*Free joint 'rocker pivot'",
    ),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_conflicts_are_named(case):
    arguments, message = CONFLICTS[case]
    mechanism = vi.mechanisms.four_bar()
    state = mechanism.state()
    wrong = replace(state, position=state.position + [(0, 0, 0), (0, 0, 0), (0.1, 0, 0)])
    with pytest.raises(vi.AssemblyError, match=message):
        mechanism.assemble(wrong, **arguments)


@cache
def guess():
    return vi.mechanisms.four_bar().state()


BAD = {
    "no state": (lambda: {"guess": None}, "guess must be a State"),
    "other mechanism": (lambda: {"guess": vi.mechanisms.n_pendulum(2).state()}, r"position of the guess.*\(3, 3\)"),
    "nan": (
        lambda: {"guess": replace(guess(), velocity=np.full((3, 3), np.nan))},
        "velocity of the guess must be finite",
    ),
    "norm": (lambda: {"guess": replace(guess(), quat_wxyz=2 * guess().quat_wxyz)}, "body 'crank' in the guess.*norm 2"),
    "unknown": (lambda: {"guess": guess(), "hold": ["crnk"]}, "hold: no body or joint 'crnk', did you mean 'crank'"),
    "both": (
        lambda: {"guess": guess(), "hold": ["rocker pivot"], "coordinates": {"rocker pivot": 0.0}},
        "'rocker pivot' is both held and given coordinates",
    ),
    "rates": (
        lambda: {"guess": guess(), "rates": {"crank pivot": 1.0, "rocker pivot": 9.0}},
        "no velocity .*'(crank|rocker) (pin|pivot)'",
    ),
    "unknown joint": (
        lambda: {"guess": guess(), "rates": {"crank pim": 0.0}},
        "rates: no joint 'crank pim', did you mean",
    ),
    "hold a number": (lambda: {"guess": guess(), "hold": 3}, "hold must be a list of names, got 3"),
    "hold numbers": (lambda: {"guess": guess(), "hold": [["crank"]]}, "hold must be .* one of them is"),
    "values without names": (
        lambda: {"guess": guess(), "coordinates": [0.1]},
        "coordinates must be a dict of joint name to values",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_guesses(case):
    arguments, message = BAD[case]
    with pytest.raises(vi.StateError, match=message):
        vi.mechanisms.four_bar().assemble(**arguments())


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e3])
def test_any_size(size):
    """A slider is driven to its place in pieces, and rates are compared, by the size of the parts."""
    mechanism = scaled(vi.mechanisms.slider_crank(crank=0.3, rod=1.0, angle=np.pi / 3), size)
    for place in (0.72, 1.29):
        state = mechanism.state(coordinates={"slide": size * place})
        assert np.abs(rows_at(mechanism, *pose_of(state))[0]).max() < 1e-12 * size
        angle = np.pi / 3 + measured(mechanism, "crank pivot", *pose_of(state))[0]
        assert np.cos(angle) == pytest.approx((0.3**2 + place**2 - 1) / (0.6 * place), abs=1e-10)
    with pytest.raises(vi.StateError, match="no velocity"):
        mechanism.state(rates={"crank pivot": 1e-3, "slide": 1e-3 * size})
    assert not mechanism.state(rates={"crank pivot": 0.0}).velocity.any()


def test_a_name_for_body_and_joint():
    box = vi.Body.box("box", (1, 1, 1), 1.0)
    mechanism = vi.Mechanism("box", [box], [vi.Spherical("box", "world", "box", point=(0, 0, 0))])
    with pytest.raises(vi.StateError, match="'box' is the name of a body and of a joint"):
        mechanism.assemble(mechanism.state(), hold=["box"])


def test_a_lock_up_names_the_loop_that_locks():
    """A dyad on the coupler of a four-bar whose crank turns: at its full length the dyad stops the crank."""
    places = {"O1": (0, 0), "A": (0, 0.1), "O2": (0.4, 0), "B": (0.4, 0.3), "C": (0.2, 0.3), "D": (-0.075, 0.36)}
    at = {name: (x, 0.0, z) for name, (x, z) in (places | {"O3": (-0.35, 0.3)}).items()}
    links = {"crank": "O1 A", "coupler": "A B", "rocker": "O2 B", "arm": "C D", "swing": "O3 D"}
    bodies = [vi.Body.rod(name, *(at[end] for end in ends.split()), mass=1.0) for name, ends in links.items()]
    pins = {"O1": "world crank", "A": "crank coupler", "B": "coupler rocker", "O2": "world rocker"}
    pins |= {"C": "coupler arm", "D": "arm swing", "O3": "world swing"}
    joints = [vi.Revolute(name, *pair.split(), point=at[name], axis=(0, 1, 0)) for name, pair in pins.items()]
    linkage = vi.Mechanism("six-bar", bodies, joints)
    lockup = linkage.sweep("O1", np.linspace(0.0, 2 * np.pi, 73), on_lockup="ignore").lockup
    assert 0.1 < lockup < 3.0
    linkage.assemble(linkage.state(), coordinates={"O1": lockup - 1e-3})
    with pytest.raises(vi.AssemblyError, match=r"the loop .*, locked at joints 'D', ('C', 'O3'|'O3', 'C'), stays open"):
        linkage.assemble(linkage.state(), coordinates={"O1": lockup + 1e-2})
