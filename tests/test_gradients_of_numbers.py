"""Gradients by every number of every body and joint, against differences of runs."""

import numpy as np
import pytest
from force_samples import with_forces
from holonomic import HOLONOMIC
from random_mechanisms import LOWER, random_body, random_joint, random_velocity_state
from run_gradients import check_along

import varint as vi
from varint.derivatives.numbers import number_of, numbers_in
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


FAST = ("Rod",)


@pytest.mark.slow
@pytest.mark.many
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


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.long] * (kind == "SplineSurface")) for kind in PRODUCTS]
)
def test_products_of_exponentials(rng, kind):
    mechanism = hanging(rng, kind)
    state, names = random_velocity_state(rng, mechanism, 0.5), []
    for name in numbers_of(mechanism):
        try:
            vi.gradient(mechanism, lambda s: 0.0, 0.01, 2e-3, with_respect_to=[name], state=state)
        except vi.ArgumentError as problem:
            if "cannot change" not in str(problem) or "is not a pose" not in str(problem):
                raise
        else:
            names.append(name)
    assert {"joint.point", "upper.position", "lower.mass", "ball.point"} <= set(names)
    check_along(mechanism, names, rng, 0.006, 2e-3, state=state)


LONGER = {"ladder", "minitaur", "minitaur_leg", "n_four_bar", "n_pendulum", "peaucellier", "rhombus_chain"}
LONGER |= {"scissor_lift", "snake", "stewart_platform", "three_link_loop", "tree"}


def parts_of(number):
    """Its name, or those of its components."""
    return [number.name] if number.value.ndim != 1 else [f"{number.name}[{k}]" for k in range(number.value.size)]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name in LONGER)) for name in HOLONOMIC]
)
def test_the_catalogue(rng, name):
    check_ends(rng, getattr(vi.mechanisms, name)(), vi.mechanisms.module(name).EXPECTED["dt"])


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", vi.mechanisms.SCENES)
def test_the_scenes(rng, name):
    """Those of which a gradient knows all; the others are refused by the name of what it does not know."""
    mechanism = getattr(vi.mechanisms, name)()
    try:
        vi.gradient(mechanism, lambda s: 0.0, 1e-3, 1e-3, with_respect_to=["gravity"])
    except vi.ArgumentError as problem:
        if not any(f"'{force.name}'" in str(problem) for force in mechanism.forces):
            raise
    else:
        check_ends(rng, mechanism, 1e-3)


def check_ends(rng, mechanism, dt):
    """Of the first and last body and joint, and the first force; what cannot change alone says so."""
    ends = [mechanism.bodies[0], mechanism.bodies[-1], mechanism.joints[0], mechanism.joints[-1]]
    found = {f"{item.name}.{key}" for item in (*ends, *mechanism.forces[:1]) for key in numbers_in(item)}
    numbers = [number_of(mechanism, name) for name in sorted(found) if not name.endswith((".inertia", ".axis"))]
    driven = any(isinstance(force, vi.PrescribedMotion) for force in mechanism.forces)  # starts on its course
    state, names = None if driven else random_velocity_state(rng, mechanism, 0.3), ["gravity"]
    for part in [part for number in numbers if number.value.ndim < 2 for part in parts_of(number)]:
        try:
            vi.gradient(mechanism, lambda s: 0.0, dt, dt, with_respect_to=[part], state=state)
        except vi.VarintError as problem:
            if not any(text in str(problem) for text in ("cannot change", "not both")):
                raise
        else:
            names.append(part)
    assert [each for each in names if each.endswith(".mass")]
    check_along(mechanism, names, rng, 2 * dt, dt, state=state, share=1.0)


@pytest.mark.slow
def test_numbers_that_would_lock_a_loop():
    """The axis of a hinge of a planar linkage: along itself nothing changes, out of the plane nothing moves."""
    mechanism = vi.mechanisms.four_bar()
    given = {"objective": lambda s: s.position[1, 2], "duration": 0.02, "dt": 0.01, "state": mechanism.state()}
    assert abs(vi.gradient(mechanism, with_respect_to=["crank pivot.axis[1]"], **given)["crank pivot.axis[1]"]) < 1e-9
    for k in (0, 2):
        with pytest.raises(vi.ArgumentError, match=r"'crank pivot.axis.*' cannot change .* would remove 1 degree"):
            vi.gradient(mechanism, with_respect_to=[f"crank pivot.axis[{k}]"], **given)
    among_others = ["crank pivot.point[0]", "rocker pin.point[2]", "crank pivot.axis[2]"]
    with pytest.raises(vi.ArgumentError, match=r"'crank pivot.axis\[2\]' cannot change"):
        vi.gradient(mechanism, with_respect_to=among_others, **given)
    assert len(vi.gradient(mechanism, with_respect_to=among_others[:2], **given).by) == 2
    bennett = vi.mechanisms.bennett()
    with pytest.raises(vi.ArgumentError, match=r"component 0 of 'crank pivot.point' cannot change .* would remove 1"):
        vi.gradient(bennett, with_respect_to=["crank pivot.point"], **given | {"state": bennett.state()})


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("kind", ["SplineCurve", "SplineSurface", "Composite", "Spherical"])
def test_efforts_along_coordinates_of_what_moves(rng, kind, order):
    """By the points and motions of a joint with a spring, and with a coordinate that is kept, along its coordinates."""
    plain = hanging(rng, kind)
    names = ["joint.point", "upper.position", "lower.mass", "ball.point"]
    state = random_velocity_state(rng, plain, 0.5)
    q = float(np.ravel(plain.coordinates(state)["joint"])[0])
    spring = vi.TorsionSpring("spring", joint="joint", stiffness=30.0, damping=0.1, rest_angle=q - 0.3)
    check_along(with_forces(plain, spring), [*names, "spring.stiffness"], rng, 0.006, 2e-3, state=state, order=order)
    drive = vi.PrescribedMotion("drive", joint="joint", rate=0.5)
    driven = with_forces(plain, drive)
    check_along(driven, [*names, "drive.rate"], rng, 0.006, 2e-3, state=state, order=order)
