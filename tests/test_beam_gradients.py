"""Gradients of runs by the material and the shape of beams and cables."""

import numpy as np
import pytest
from marched_steps import slope_of

import varint as vi

SIZES = {"E": 2e9, "density": 1200.0, "size": 0.01}  # Pa, kg/m^3, m


def leaf(E, density, size, damping=1e-3):
    """A cantilever of 4 elements, ``size`` high."""
    section = vi.Section.rectangle(0.02, size, E=E, nu=0.3, density=density)
    parts = vi.beam(
        "leaf", "world", None, point_a=(0, 0, 0), point_b=(1, 0, 0), elements=4, section=section, normal=(0, 0, 1),
        damping=damping,
    )  # fmt: skip
    return vi.Mechanism("leaf", parts.bodies, parts.joints, forces=parts.forces)


def little_damped(E, density, size):
    """A leaf whose damping order 4 does not refuse."""
    return leaf(E, density, size, damping=1e-4)


def rope(E, density, size):
    """A cable of 4 elements and of diameter ``size`` that a cart stretches."""
    section = vi.Section.circle(size, E=1e-2 * E, nu=0.3, density=density)
    parts = vi.cable(
        "rope", "world", "cart", point_a=(0, 0, 0), point_b=(1, 0, 0), elements=4, section=section, damping=1e-3
    )
    cart = vi.Body.box("cart", (0.1, 0.1, 0.1), 1.0, position=(1.05, 0, 0))
    slide = vi.Prismatic("slide", "world", "cart", axis=(1, 0, 0))
    joints = [slide, *parts.joints]
    return vi.Mechanism("rope", [cart, *parts.bodies], joints, forces=parts.forces, start={"rates": {"slide": 1.0}})


def measured(state):
    """A number of the pose and the velocity of a node."""
    return float(state.position[1] @ (0.3, 0.1, 1.0) + 0.01 * state.velocity[1] @ (0.5, 0.0, 1.0))


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize(("make", "order"), [(leaf, 2), (little_damped, 4), (rope, 2)])
def test_by_material_and_shape(make, order, name):
    """Against differences of whole runs."""
    value = SIZES[name]

    def changed(share):
        run = vi.simulate(make(**{**SIZES, name: value + share}), 0.05, 1e-3, order=order, tol=1e-13)
        return measured(run.state(len(run) - 1))

    found = vi.gradient(make, measured, 0.05, 1e-3, order=order, parameters=SIZES, with_respect_to=[name])[name]
    expected = slope_of(changed, 1e-3 * value, 1e-300)
    assert found == pytest.approx(expected, rel=1e-7)


@pytest.mark.long
@pytest.mark.slow
def test_by_the_numbers_of_an_element():
    """All elements alike: their stiffness times its derivative by E, and their damping in proportion."""
    mechanism, names = leaf(**SIZES), [f"leaf {k}.{what}" for k in range(4) for what in ("stiffness", "damping")]
    g = vi.gradient(mechanism, measured, 0.05, 1e-3, with_respect_to=names)
    total = sum(
        np.sum(g[name] * getattr(mechanism.force(name.split(".")[0]), name.split(".")[1])) / SIZES["E"]
        for name in names
    )
    by_E = vi.gradient(leaf, measured, 0.05, 1e-3, parameters=SIZES, with_respect_to=["E"])["E"]
    assert total == pytest.approx(by_E, rel=1e-7)


@pytest.mark.slow
def test_by_the_points_of_an_element():
    """The effort of an element is an unknown of a step, and changes with its points."""
    bodies = [vi.Body.box(name, (0.1, 0.2, 0.3), 1.0, position=(x, 0, 0)) for name, x in (("a", 0.0), ("b", 1.0))]
    joints = [vi.Revolute("hinge", "world", "a", point=(0, 0, 0), axis=(0, 0, 1)), vi.Free("free", "world", "b")]
    state = vi.Mechanism("two", bodies, joints).state(rates={"hinge": 0.5, "free": (0.1, 0.2, 0.3, 0.4, -0.3, 0.2)})
    how = {"stiffness": (30.0, 20.0, 10.0, 3.0, 2.0, 1.0), "damping": (0.3, 0.2, 0.1, 0.03, 0.02, 0.01)}

    def linked(a, b):
        beam = vi.BeamElement("beam", "a", "b", point_a=a, point_b=b, **how)
        return vi.Mechanism("two", bodies, joints, forces=[beam])

    points = np.array([[0.2, 0.1, 0.0], [0.7, 0.0, 0.1]])
    names = ["beam.point_a", "beam.point_b"]
    found = vi.gradient(linked(*points), measured, 0.05, 1e-3, with_respect_to=names, state=state)
    for side, name in enumerate(names):
        for k in range(3):

            def changed(share, place=(side, k)):
                moved = points.copy()
                moved[place] += share
                run = vi.simulate(linked(*moved), 0.05, 1e-3, state=state, tol=1e-13)
                return measured(run.state(len(run) - 1))

            assert found[name][k] == pytest.approx(slope_of(changed, 1e-3, 1e-300), rel=1e-6)
