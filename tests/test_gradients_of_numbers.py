"""Gradients by every number of every body and joint, against differences of runs."""

import pytest
from random_mechanisms import LOWER, random_body, random_joint, random_velocity_state
from run_gradients import check_along

import varint as vi
from varint.gradients.numbers import numbers_in
from varint.model.joints import REGISTRY

NOT_ALONE = {"Universal": ("joint.axis", "joint.axis_b")}  # they are at right angles
PRODUCTS = [kind for kind in REGISTRY if kind not in LOWER]


def hanging(rng, kind):
    """Two bodies: one on a ball joint, and from that one the other on a joint of the kind."""
    upper, lower = (random_body(rng, name) for name in ("upper", "lower"))
    ball = vi.Spherical("ball", "world", "upper", point=upper.position + 0.3)
    joint = random_joint(rng, kind, "joint", "upper", "lower", lower.position + 0.4 * rng.standard_normal(3))
    return vi.Mechanism("hanging", [upper, lower], [ball, joint])


def numbers_of(mechanism):
    """Names of all numbers of the description."""
    items = [*mechanism.bodies, *mechanism.joints, *mechanism.forces]
    return ["gravity", *(f"{item.name}.{key}" for item in items for key in numbers_in(item))]


FAST = "Revolute", "Rod"


@pytest.mark.parametrize("given", ["a state", "none"])
@pytest.mark.parametrize(
    "kind", [*FAST, *(pytest.param(kind, marks=pytest.mark.slow) for kind in LOWER if kind not in FAST)]
)
def test_every_number(rng, kind, given):
    """Of the joint, and the body that hangs from it; from a state that is given, or from one that moves with them."""
    mechanism = hanging(rng, kind)
    state = random_velocity_state(rng, mechanism, 0.5) if given == "a state" else None
    names = [name for name in numbers_of(mechanism) if name.startswith(("joint.", "lower."))]
    for name in [name for name in names if name in NOT_ALONE.get(kind, ())]:
        names.remove(name)
        with pytest.raises(vi.ArgumentError, match=f"of '{name}' cannot change"):
            vi.gradient(mechanism, lambda s: 0.0, 0.01, 2e-3, with_respect_to=[name], state=state)
    check_along(mechanism, names, rng, 0.006, 2e-3, state=state)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PRODUCTS)
def test_numbers_beside_products_of_exponentials(rng, kind):
    mechanism = hanging(rng, kind)
    state = random_velocity_state(rng, mechanism, 0.5)
    own = [name for name in numbers_of(mechanism) if name.startswith("joint.") or name.endswith("position")]
    others = [name for name in numbers_of(mechanism) if name not in own]
    check_along(mechanism, others, rng, 0.006, 2e-3, state=state)
    for name in own:
        with pytest.raises(vi.ArgumentError, match=f"'{name}' cannot change .* (product of exponentials|is no pose)"):
            vi.gradient(mechanism, lambda s: 0.0, 0.01, 2e-3, with_respect_to=[name], state=state)


@pytest.mark.slow
@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_the_catalogue(rng, name):
    """Of the first and last body and joint, and every force; what cannot change alone says so."""
    mechanism = getattr(vi.mechanisms, name)()
    dt = vi.mechanisms.module(name).EXPECTED["dt"]
    ends = [mechanism.bodies[0], mechanism.bodies[-1], mechanism.joints[0], mechanism.joints[-1]]
    items = [*dict.fromkeys(ends), *mechanism.forces]
    state, names = random_velocity_state(rng, mechanism, 0.3), ["gravity"]
    for number in [f"{item.name}.{key}" for item in items for key in numbers_in(item)]:
        try:
            vi.gradient(mechanism, lambda s: 0.0, dt, dt, with_respect_to=[number], state=state)
        except vi.ArgumentError as problem:
            if "cannot change" not in str(problem):
                raise
        else:
            names.append(number)
    assert [each for each in names if each.endswith(".mass")]
    check_along(mechanism, names, rng, 3 * dt, dt, state=state)
