"""The derivatives of the inverse dynamics against differences: all joints, forces and rows."""

import numpy as np
import pytest
from random_mechanisms import random_closed, random_joint, random_tree, unit

import varint as vi
from varint.model.forces.base import FORCES
from varint.model.joints import REGISTRY
from varint.model.rotation import matrix_from_vector
from varint.redmax.equations import Equations
from varint.redmax.inputs import Inputs
from varint.redmax.inverse import InverseDynamics
from varint.redmax.linear import reduced_damping_and_stiffness


def check(rng, mechanism, size=0.5, baumgarte=2.0, tolerance=1e-7, around=None):
    equations = Equations(mechanism, lambda compiled: Inputs(mechanism, compiled, 1, 1.0), baumgarte)
    inverse = InverseDynamics(equations)
    q, rates, second = size * rng.standard_normal((3, equations.nq))
    if around is not None:
        q, rates = around.q + 0.1 * q, around.qdot + rates
    multiplier = rng.standard_normal(len(equations.closures))
    equations.place(q)
    equations.move(q, rates)
    equations.load(0.0)
    equations.turns[:] = equations.value
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


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_the_catalogue(rng, name):
    mechanism = getattr(vi.mechanisms, name)()
    check(rng, mechanism, around=vi.redmax.reduced_state(mechanism, mechanism.state()))


def forces(rng):
    """One of each kind of gauge and law, on bodies b0, b1, b2 and the joint "hinge"."""
    p, n = (lambda: rng.standard_normal(3)), lambda: unit(rng)
    points = {"point_a": p(), "point_b": p()}
    return {
        "Spring": [vi.Spring("f", "b0", "b2", stiffness=7.0, damping=2.0, rest_length=1.0, **points)],
        "Spring to the world": [vi.Spring("f", "world", "b2", stiffness=7.0, damping=2.0, rest_length=1.0, **points)],
        "Cable": [vi.Cable("f", "b0", "b1", stiffness=7.0, damping=2.0, rest_length=0.1, **points)],
        "TorsionSpring": [vi.TorsionSpring("f", joint="hinge", stiffness=5.0, damping=1.0, rest_angle=0.3)],
        "second angle": [vi.TorsionSpring("f", joint="hooke", coordinate=1, stiffness=5.0, damping=1.0)],
        "JointDamper on a slide": [vi.JointDamper("f", joint="slider", damping=3.0)],
        "JointFriction": [vi.JointFriction("f", joint="hinge", effort=2.0, smoothing=1.0)],
        "Motor and JointServo": [
            vi.Motor("f", joint="hinge", effort=2.0),
            vi.JointServo("g", joint="slider", target=1.0, stiffness=3.0),
        ],
        "PointForce": [
            vi.PointForce("f", "b1", direction=n(), magnitude=2.0, point=p()),
            vi.PointForce("g", "b2", direction=n(), magnitude=3.0, point=p(), fixed_in="body"),
        ],
        "PointTorque": [vi.PointTorque("f", "b1", direction=n(), magnitude=2.0)],
        "BodyDamper": [vi.BodyDamper("f", "b2", linear=2.0, angular=0.5)],
        "Drag": [vi.Drag("f", "b2", linear=2.0, angular=0.5)],
        "CentralGravity": [vi.CentralGravity("f", "b0", "b2", mu=4.0)],
        "Bushing": [
            vi.Bushing("f", "b0", "b2", point=p(), stiffness=rng.uniform(1, 2, 6), damping=rng.uniform(1, 2, 6))
        ],
        "GroundContact": [
            vi.GroundContact(
                "f", "b2", point=p(), ground=(0, 0, 50.0), stiffness=2.0, damping=0.3, friction=0.2, smoothing=1.0
            )
        ],
        "JointStop": [vi.JointStop("f", joint="hinge", upper=-9.0, stiffness=3.0, damping=0.1)],
        "StrainSpring": [vi.StrainSpring("f", "b0", "b2", stiffness=2.0, damping=2.0, **points)],
        "TabulatedSpring": [
            vi.TabulatedSpring("f", "b0", "b2", values=np.arange(9.0), efforts=-(np.arange(9.0) ** 2), **points)
        ],
        "TabulatedTorsionSpring": [
            vi.TabulatedTorsionSpring("f", joint="hinge", values=np.array([-9.0, 9.0]), efforts=np.array([3.0, -4.0]))
        ],
        "LengthStop": [vi.LengthStop("f", "b0", "b2", upper=0.1, stiffness=2.0, damping=0.1, **points)],
        "MultiPointSpring": [
            vi.MultiPointSpring(
                "f", ["world", "b0", "b1", "b3"], points=rng.standard_normal((4, 3)), stiffness=2.0, damping=1.0
            )
        ],
        "MultiPointCable": [
            vi.MultiPointCable(
                "f", ["b0", "b1", "b3"], points=rng.standard_normal((3, 3)), stiffness=2.0, rest_length=0.1
            )
        ],
    }


def a_mechanism(rng, forces=()):
    tree = random_tree(rng, 4, kinds=("Spherical",))
    bodies = tree.bodies
    kinds = {"hinge": "Revolute", "slider": "Cylindrical", "hooke": "Universal", "ball": "Spherical"}
    joints = [
        random_joint(rng, kind, name, f"b{i - 1}" if i else "world", f"b{i}", bodies[i].position + 0.3)
        for i, (name, kind) in enumerate(kinds.items())
    ]
    return vi.Mechanism("forced", bodies, joints, forces=forces)


def test_covers_the_forces():
    kinds = {type(force).__name__ for given in forces(np.random.default_rng(0)).values() for force in given}
    assert kinds == {name for name, force in FORCES.items() if not force.held and not force.reduced_only}


@pytest.mark.parametrize("name", forces(np.random.default_rng(0)))
def test_every_force(rng, name):
    check(rng, a_mechanism(rng, forces(rng)[name]))


# ---------------------------------------------------------------------------------------- linearly implicit Euler


def placed(rng, mechanism):
    """Equations at a random pose and velocity, with the loads worked out."""
    equations = Equations(mechanism, lambda compiled: Inputs(mechanism, compiled, 1, 1.0))
    q, rates = 0.5 * rng.standard_normal((2, equations.nq))
    equations.place(q)
    equations.move(q, rates)
    equations.load(0.0)
    equations.turns[:] = equations.value
    equations.load(0.0)
    return equations, q, rates


def slope_of(function, x, h=1e-3):
    """(..., n) central differences of order six."""
    columns = []
    for e in h * np.eye(len(x)):
        pairs = [function(x + k * e) - function(x - k * e) for k in (1, 2, 3)]
        columns.append(sum(c * d for c, d in zip((45, -9, 1), pairs, strict=True)) / (60 * h))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("name", sorted(set(forces(np.random.default_rng(0))) - {"GroundContact"}))
def test_reduced_damping(rng, name):
    """D is the derivative of the reduced forces by the rates; of dry friction on a normal force, but for that force."""
    equations, q, rates = placed(rng, a_mechanism(rng, forces(rng)[name]))

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
    equations, _, _ = placed(rng, a_mechanism(rng, forces(rng)[name]))
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
