"""numpy-quaternion: arguments take its quaternions, runs and states give them, and rotations are checked against it."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import quaternion as oracle

import varint as vi
from varint.kinematics.assembly import checked_state
from varint.mathematics import quaternion as compiled
from varint.model import rotation_vectors as rotation
from varint.model.solid import Solid

QUAT = np.array([0.8, 0.0, -0.6, 0.0])
INERTIA = np.diag([0.3, 0.2, 0.1])
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
SHAPES = {
    "box": {"size": (1, 2, 3)},
    "cylinder": {"radius": 0.1, "length": 1.0},
    "capsule": {"radius": 0.1, "length": 1.0},
    "sphere": {"radius": 0.1},
    "ellipsoid": {"semi_axes": (0.1, 0.2, 0.3)},
    "mesh": {"vertices": CORNERS, "triangles": FACES},
}
FORMS = {
    "scalar": lambda: oracle.quaternion(*QUAT),
    "array of one": lambda: np.array(oracle.quaternion(*QUAT)),
    "entry of an array": lambda: oracle.as_quat_array([QUAT, QUAT])[1],
}
RUNS = {"maximal": vi.simulate, "reduced": vi.redmax.simulate}


def unit_rows(rng, *shape):
    q = rng.standard_normal((*shape, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def floating(*forces):
    body = vi.Body("top", mass=2.0, inertia=INERTIA)
    return vi.Mechanism("free", [body], [vi.Free("base", "world", "top")], forces=forces, gravity=(0, 0, 0))


# --------------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", ["plain", "solid", *SHAPES])
def test_bodies_and_solids(shape, form):
    def of(quat):
        if shape == "plain":
            return vi.Body("b", mass=1.0, inertia=INERTIA, quat_wxyz=quat)
        if shape == "solid":
            return Solid("sphere", (0.1,), quat_wxyz=quat)
        return getattr(vi.Body, shape)("b", mass=1.0, quat_wxyz=quat, **SHAPES[shape])

    given, usual = of(FORMS[form]()), of(QUAT)
    for name in {"quat_wxyz", "position", "inertia"} & vars(usual).keys():
        assert getattr(given, name).tobytes() == getattr(usual, name).tobytes()
    assert given.quat_wxyz.dtype == float
    assert not given.quat_wxyz.flags.writeable


@pytest.mark.parametrize("form", FORMS)
def test_start_of_a_state(form):
    mechanism = floating()
    states = [mechanism.state(quat_wxyz={"top": quat}) for quat in (FORMS[form](), QUAT)]
    assert states[0].quat_wxyz.tobytes() == states[1].quat_wxyz.tobytes()


@pytest.mark.parametrize("rows", ["one", "list", "array", "function"])
def test_prescribed_orientations(rows):
    angles = 0.02 * np.arange(11)
    usual = rotation.quat_from_vector(angles[:, None] * np.array([0.0, 0.6, 0.8]))
    axis = oracle.quaternion(0.0, 0.0, 0.6, 0.8)
    forms = {
        "one": (oracle.quaternion(*usual[0]), usual[0]),
        "list": (list(oracle.as_quat_array(usual)), usual),
        "array": (oracle.as_quat_array(usual), usual),
        "function": (lambda t: np.exp(0.1 * t * axis), lambda t: oracle.as_float_array(np.exp(0.1 * t * axis))),
    }
    runs = []
    for quat in forms[rows]:
        moved = vi.PrescribedBody("lead", body="top", position=(0.0, 0.0, 0.0), quat_wxyz=quat)
        runs.append(vi.simulate(floating(moved), 0.1, 0.01))
    assert runs[0].success
    assert runs[0].quat_wxyz.tobytes() == runs[1].quat_wxyz.tobytes()
    assert runs[0].angular_velocity.tobytes() == runs[1].angular_velocity.tobytes()


def test_states_of_quaternions_run_alike():
    mechanism = vi.mechanisms.four_bar()
    usual = mechanism.state()
    given = replace(usual, quat_wxyz=oracle.as_quat_array(usual.quat_wxyz))
    assert given.quat_wxyz.tobytes() == usual.quat_wxyz.tobytes()
    assert repr(given) == repr(usual)
    for one, other in zip(checked_state(mechanism, given, "x"), checked_state(mechanism, usual, "x"), strict=True):
        assert one.tobytes() == other.tobytes()
    runs = [vi.simulate(mechanism, 0.1, 0.01, state=state) for state in (given, usual)]
    assert runs[0].quat_wxyz.tobytes() == runs[1].quat_wxyz.tobytes()
    assembled = [mechanism.assemble(state) for state in (given, usual)]
    assert assembled[0].quat_wxyz.tobytes() == assembled[1].quat_wxyz.tobytes()


@pytest.mark.parametrize(
    ("quat", "message"),
    [
        (oracle.quaternion(1, 1, 0, 0), "norm 1.41"),
        (oracle.quaternion(np.nan, 0, 0, 0), "must be finite, got nan"),
        (oracle.quaternion(0, np.inf, 0, 0), "must be finite, got inf"),
        (oracle.quaternion(0, 0, 0, 0), "must have norm 1"),
        (oracle.as_quat_array(np.eye(4)[:2]), r"array of numbers of shape \(4,\), got shape \(2, 4\)"),
        ([oracle.one, None], r"array of numbers of shape \(4,\)"),
    ],
    ids=["norm", "nan", "inf", "zero", "two", "mixed"],
)
def test_quaternions_that_cannot_be_used(quat, message):
    with pytest.raises(vi.MechanismError, match=f"quat_wxyz of body 'b' .*{message}"):
        vi.Body("b", mass=1.0, inertia=INERTIA, quat_wxyz=quat)
    with pytest.raises(vi.VarintError, match=f"quat_wxyz of body 'top' .*{message}"):
        floating().state(quat_wxyz={"top": quat})


def test_a_quaternion_is_no_position():
    with pytest.raises(vi.MechanismError, match="position of body 'b' must be an array of numbers"):
        vi.Body("b", mass=1.0, inertia=INERTIA, position=oracle.one)


def test_states_of_the_wrong_number_of_quaternions():
    mechanism = vi.mechanisms.four_bar()
    state = replace(mechanism.state(), quat_wxyz=oracle.as_quat_array(np.eye(4)[:2]))
    with pytest.raises(vi.ArgumentError, match=r"quat_wxyz of the state must be .*got shape \(2, 4\)"):
        vi.simulate(mechanism, 0.1, 0.01, state=state)


@pytest.mark.slow
def test_the_package_starts_without_it():
    command = "import sys, varint; varint.mechanisms.four_bar().state(); print('quaternion' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


# ----------------------------------------------------------------------------------------- of runs and of states


@pytest.mark.parametrize("simulate", RUNS.values(), ids=RUNS)
def test_orientations_of_runs_and_states(simulate):
    run = simulate(vi.mechanisms.four_bar(), 0.2, 0.01)
    for given, kind in ((run, "nodes"), (run.at([0.05, 0.113]), "times"), (run.at(0.113), "state")):
        assert given.orientation.dtype == oracle.quaternion, kind
        assert given.orientation.shape == given.quat_wxyz.shape[:-1]
        assert oracle.as_float_array(given.orientation).tobytes() == given.quat_wxyz.tobytes()
    matrices = oracle.as_rotation_matrix(run.orientation)
    np.testing.assert_allclose(matrices, rotation.rotation_matrix(run.quat_wxyz), atol=1e-15)


# ------------------------------------------------------------------------------------------------ between nodes


def turns_between(a, b):
    """Angles (...), rad, between two arrays of quaternions, from their quotient: an arc cosine would lose digits."""
    vector = oracle.as_float_array(a.conj() * b)[..., 1:]
    return 2 * np.arcsin(np.linalg.norm(vector, axis=-1))


@pytest.mark.parametrize(("kind", "error"), [("order 2", 6e-5), ("order 4", 3e-7), ("dop853", 1e-10)])
def test_uniform_rotation_between_nodes_is_slerp(kind, error):
    """About a principal axis, where slerp is exact; ``error``: rad, by which rates and poses of a scheme differ."""
    mechanism = floating()
    start = mechanism.state(quat_wxyz={"top": QUAT}, angular_velocity={"top": (0.0, 0.0, 3.0)})
    if kind == "dop853":
        run = vi.redmax.simulate(mechanism, 1.0, 0.05, state=start, integrator=kind, rtol=1e-12, atol=1e-12)
    else:
        run = vi.simulate(mechanism, 1.0, 0.05, state=start, order=int(kind[-1]), tol=1e-13)
    share, q = np.linspace(0.0, 1.0, 7), run.orientation[:, 0]
    for k in (0, 5, len(run) - 2):
        times = run.t[k] + share * (run.t[k + 1] - run.t[k])
        times[-1] = run.t[k + 1]
        assert (
            turns_between(run.at(times).orientation[:, 0], oracle.slerp(q[k], q[k + 1], 0.0, 1.0, share)).max() < error
        )


def test_between_nodes_of_a_tumbling_body_against_slerp_and_squad():
    """Four nodes with rates give an error of h^8, squad, through the poses of four nodes, h^4, slerp h^2."""
    mechanism = floating()
    start = mechanism.state(angular_velocity={"top": (2.0, 0.5, 1.0)})
    exact = vi.simulate(mechanism, 1.6, 0.0025, state=start, order=6, tol=1e-13)
    errors = {"at": [], "slerp": [], "squad": []}
    for stride in (32, 16):
        coarse = exact[::stride]
        nodes = np.arange(5 * stride, 15 * stride, stride) + stride // 2  # in the middle of steps, off the ends
        times, true, q = exact.t[nodes], exact.orientation[nodes, 0], coarse.orientation[:, 0]
        k = nodes // stride
        errors["slerp"].append(turns_between(oracle.slerp(q[k], q[k + 1], 0.0, 1.0, 0.5), true).max())
        errors["squad"].append(turns_between(oracle.squad(q, coarse.t, times), true).max())
        errors["at"].append(turns_between(coarse.at(times).orientation[:, 0], true).max())
    order = {name: np.log2(one / other) for name, (one, other) in errors.items()}
    for name, expected in (("at", 8), ("squad", 4), ("slerp", 2)):
        assert abs(order[name] - expected) < 0.4
    assert errors["at"][1] < 1e-12 < errors["squad"][1] < errors["slerp"][1]


# ---------------------------------------------------------------------------------------------------- rotations


def test_products_matrices_and_vectors(rng):
    a, b = unit_rows(rng, 2, 50)
    p, q = oracle.as_quat_array(a), oracle.as_quat_array(b)
    np.testing.assert_allclose(rotation.quat_product(a, b), oracle.as_float_array(p * q), atol=4e-16)
    np.testing.assert_allclose(rotation.rotation_matrix(a), oracle.as_rotation_matrix(p), atol=1e-15)
    vector = rotation.vector_from_quat(np.where(a[:, :1] < 0, -a, a))
    np.testing.assert_allclose(
        rotation.quat_from_vector(vector), oracle.as_float_array(oracle.from_rotation_vector(vector)), atol=4e-16
    )
    signed = np.where(a[:, 0] < 0, -p, p)
    np.testing.assert_allclose(vector, oracle.as_rotation_vector(signed), atol=1e-14)


@pytest.mark.parametrize("variant", ["compiled", "python"])
def test_compiled_products_and_matrices(variant, rng):
    def of(function):
        return function if variant == "compiled" else function.py_func

    for a, b in zip(*unit_rows(rng, 2, 20), strict=True):
        p, q, R = oracle.quaternion(*a), oracle.quaternion(*b), np.empty((3, 3))
        product = np.array(of(compiled.multiply)(a, b))
        np.testing.assert_allclose(product, (p * q).components, atol=4e-16)
        of(compiled.rotation_matrix)(product, R)
        np.testing.assert_allclose(R, oracle.as_rotation_matrix(p * q), atol=2e-15)
