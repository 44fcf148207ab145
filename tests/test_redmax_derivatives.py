"""The derivatives of the inverse dynamics against differences: all joints, forces and rows."""

import numpy as np
import pytest
from force_samples import IN_STEPS, NAMES, OF_RATES, SAMPLES, bent_map, sample_mechanism, samples
from random_mechanisms import LOWER, random_body, random_closed, random_joint, random_tree

import varint as vi
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.inverse import InverseDynamics
from varint.methods.reduced.linear_solves import reduced_damping_and_stiffness
from varint.model.forces.base import FORCES
from varint.model.joints import REGISTRY
from varint.model.rotation_vectors import matrix_from_vector
from varint.results.inputs.at_times import InputsAtTimes

CONSTRAINTS = {name for name in NAMES if "Prescribed" in name} | {
    "Gear", "RackAndPinion", "Screw", "Belt", "Equality", "Coupling", "CoordinateMap", "Attachment", "UserConstraint",
    *OF_RATES,
}  # fmt: skip
SMOOTH = [name for name in IN_STEPS if name not in CONSTRAINTS]


def check(rng, mechanism, size=0.5, baumgarte=2.0, tolerance=1e-7, around=None):
    equations = Equations(mechanism, lambda compiled: InputsAtTimes(mechanism, compiled, 1, 1.0), baumgarte)
    inverse = InverseDynamics(equations)
    q, rates, second = size * rng.standard_normal((3, equations.nq))
    if around is not None:
        q, rates = around.q + 0.1 * q, around.qdot + rates
    multiplier = rng.standard_normal(equations.row_count)
    equations.place(q)
    equations.move(q, rates)
    equations.load(0.0)
    equations.keep_turns()
    numbers = rng.uniform(0.5, 2.0, 3)
    directions = rng.standard_normal((3, equations.nq))

    def at(x):
        return np.concatenate(inverse.evaluate(0.0, *([q, rates, second] + x * directions), multiplier))

    h = 1e-3
    slope = sum(c * (at(k * h) - at(-k * h)) for k, c in zip((1, 2, 3), (45, -9, 1), strict=True)) / (60 * h)
    at(0.0)
    inverse.derivatives(1.0, 1.0, 1.0)
    found = np.concatenate(inverse.along(*directions))
    assert found == pytest.approx(slope, abs=tolerance * max(1.0, np.abs(slope).max(initial=0.0)))
    tau, gap = inverse.derivatives(*numbers)
    y = rng.standard_normal(equations.nq)
    along = np.concatenate(inverse.along(*np.outer(numbers, y)))
    assert np.concatenate([tau @ y, gap @ y]) == pytest.approx(
        along, abs=1e-10 * max(1.0, np.abs(along).max(initial=0.0))
    )


@pytest.mark.parametrize("kind", [kind for kind in REGISTRY if kind != "Fixed"])
def test_every_joint(rng, kind):
    for _ in range(3):
        check(rng, random_tree(rng, 3, kinds=(kind,)))


def test_random_trees_and_loops(rng):
    for _ in range(3):
        check(rng, random_tree(rng, 8))
        mechanism = random_closed(rng, 5, 2)
        check(rng, mechanism, around=vi.redmax.reduced_state(mechanism, mechanism.state()))


def closed_by(rng, kind, reverse, tree="Revolute"):
    """A loop of seven bodies: six joints of type ``tree``, then two of type ``kind``, one of which closes it."""
    bodies = [random_body(rng, f"b{i}") for i in range(7)]
    names = ["world", *(body.name for body in bodies)]
    joints = [
        random_joint(rng, kind if i == 6 else tree, f"j{i}", names[i], names[i + 1], rng.standard_normal(3))
        for i in range(7)
    ]
    ends = ("b6", "world") if reverse else ("world", "b6")
    return vi.Mechanism("loop", bodies, [*joints, random_joint(rng, kind, "cut", *ends, rng.standard_normal(3))])


CLOSING = sorted(set(LOWER) - {"Free", "Fixed"})  # the one has no rows; the other is never the joint that is cut


@pytest.mark.parametrize("kind", CLOSING)
@pytest.mark.parametrize("reverse", [False, True])
def test_every_joint_that_closes_a_loop(rng, kind, reverse):
    for _ in range(3):
        mechanism = closed_by(rng, kind, reverse)
        (((_, (cut,)),),) = mechanism.compiled.topology.nodes
        assert type(mechanism.joints[cut]) is REGISTRY[kind]
        check(rng, mechanism)


@pytest.mark.parametrize("kind", sorted(set(REGISTRY) - set(LOWER)))
def test_products_of_exponentials_in_a_loop(rng, kind):
    for _ in range(3):
        mechanism = closed_by(rng, "Rod", False, kind)
        (((_, (cut,)),),) = mechanism.compiled.topology.nodes
        assert isinstance(mechanism.joints[cut], vi.Rod)
        check(rng, mechanism)


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_the_catalogue(rng, name):
    mechanism = getattr(vi.mechanisms, name)()
    check(rng, mechanism, around=vi.redmax.reduced_state(mechanism, mechanism.state()))


def test_covers_the_forces():
    kinds = {type(force).__name__ for name in SMOOTH for force in SAMPLES[name]}
    # constraints: test_redmax_couplings.py; friction by what a joint transmits: test_redmax_friction.py
    assert kinds == {
        name for name, force in FORCES.items() if not (force.constraint or (force.solved_for or force.restricted))
    }


@pytest.mark.parametrize("name", SMOOTH)
def test_every_force(rng, name):
    check(rng, sample_mechanism(rng, samples(rng)[name]))


@pytest.mark.slow
def test_couplings_that_are_not_linear(rng):
    check(rng, sample_mechanism(rng, [bent_map()]))


# ---------------------------------------------------------------------------------------- linearly implicit Euler


def placed(rng, mechanism):
    """Equations at a random pose and velocity, with the loads worked out."""
    equations = Equations(mechanism, lambda compiled: InputsAtTimes(mechanism, compiled, 1, 1.0))
    q, rates = 0.5 * rng.standard_normal((2, equations.nq))
    equations.place(q)
    equations.move(q, rates)
    equations.load(0.0)
    equations.keep_turns()
    equations.load(0.0)
    return equations, q, rates


def slope_of(function, x, h=1e-3):
    """(..., n) central differences of order six."""
    columns = []
    for e in h * np.eye(len(x)):
        pairs = [function(x + k * e) - function(x - k * e) for k in (1, 2, 3)]
        columns.append(sum(c * d for c, d in zip((45, -9, 1), pairs, strict=True)) / (60 * h))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("name", sorted(set(SMOOTH) - {"GroundContact"}))
def test_reduced_damping(rng, name):
    """D is the derivative of the reduced forces by the rates; of dry friction on a normal force, but for that force."""
    equations, q, rates = placed(rng, sample_mechanism(rng, samples(rng)[name]))

    def reduced(rates):
        equations.move(q, rates)
        return equations.generalised(equations.load(0.0))

    slope = slope_of(reduced, rates)
    reduced(rates)
    D, _ = reduced_damping_and_stiffness(equations)
    assert pytest.approx(slope, abs=1e-8 * max(1.0, np.abs(slope).max())) == D


@pytest.mark.parametrize("name", ["Spring", "Spring to the world", "Cable", "StrainSpring", "MultiPointSpring"])
def test_reduced_stiffness_of_springs(rng, name):
    """K is J^T times the symmetric part of the derivative of body wrenches by motions of the bodies, in body axes."""
    equations, _, _ = placed(rng, sample_mechanism(rng, samples(rng)[name]))
    nb = equations.nb
    x, R = equations.position.copy(), equations.rotation.copy()
    equations.velocity[:] = 0.0

    def wrenches(motion):
        for b, part in enumerate(motion.reshape(nb, 6)):
            equations.position[b] = x[b] + R[b] @ part[:3]
            equations.rotation[b] = R[b] @ matrix_from_vector(part[3:])
        load = equations.load(0.0)
        load[:, :3] = np.einsum("bji,bj->bi", equations.rotation[:-1], load[:, :3])
        return load.ravel()

    K = slope_of(wrenches, np.zeros(6 * nb))
    wrenches(np.zeros(6 * nb))
    J = equations.jacobian().reshape(nb, 6, -1)
    J[:, :3] = np.einsum("bji,bjn->bin", R[:-1], J[:, :3])
    J = J.reshape(6 * nb, -1)
    expected = J.T @ (0.5 * (K + K.T)) @ J
    _, found = reduced_damping_and_stiffness(equations)
    assert found == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())
