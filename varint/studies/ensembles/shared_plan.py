"""The plan of a member from that of the member before: the same one, or the same with other numbers."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from varint.mechanism.mechanism import Mechanism
from varint.model.joints.base import Joint
from varint.plan import recompile
from varint.step.march.spare_workspaces import share_keys

OF_A_PLAN = "compiled", "merged"  # derived from a description without its start
NOT_IN_A_PLAN = "start"
NAMES: dict[Any, list[str]] = {}  # of the fields of a class, which are slow to find


def share_plan(mechanism: Mechanism, earlier: Mechanism | None) -> None:
    """Give ``mechanism`` the plan of an ``earlier`` one, if that has been compiled and fits, with other numbers or not.

    Other parts are compiled when needed.
    """
    if earlier is None or mechanism is earlier or "compiled" not in vars(earlier):
        return
    made = vars(earlier)
    if same_description(mechanism, earlier):
        vars(mechanism).update({name: made[name] for name in OF_A_PLAN if name in made})
    elif made.get("merged") is earlier.compiled and same_arrangement(mechanism, earlier):
        compiled = recompile(mechanism, earlier.compiled, placed_alike(mechanism, earlier))
        share_keys(compiled.plan, earlier.compiled.plan)
        vars(mechanism).update(dict.fromkeys(OF_A_PLAN, compiled))


def same_arrangement(one: Mechanism, other: Mechanism) -> bool:
    """Return whether two mechanisms without forces have the same bodies, on the same joints, but for numbers.

    False where there are joints that are products of exponentials, or have a compliance, which acts as a force.
    """
    if one.forces or other.forces or other.compiled.plan.products.start.size:
        return False
    if any(joint.compliant for joint in (*one.joints, *other.joints)):
        return False
    if [body.name for body in one.bodies] != [body.name for body in other.bodies]:
        return False
    return len(one.joints) == len(other.joints) and all(map(_joined_alike, one.joints, other.joints))


def _joined_alike(a: Joint, b: Joint) -> bool:
    ends = (a.name, a.body_a, a.body_b) == (b.name, b.body_a, b.body_b)
    return ends and type(a) is type(b) and [row.kind for row in a.rigid] == [row.kind for row in b.rigid]


def placed_alike(one: Mechanism, other: Mechanism) -> bool:
    """Return whether the joints agree, and the poses of the bodies in the reference configurations."""
    poses = ([(body.position, body.quat_wxyz) for body in mechanism.bodies] for mechanism in (one, other))
    return agree(one.joints, other.joints) and agree(*poses)


def same_description(one: Mechanism, other: Mechanism) -> bool:
    """Return whether all but the starts agree, to the bit of each number; functions have to be the same objects."""
    names = [name for name in _names(type(one)) if name != NOT_IN_A_PLAN]
    return type(one) is type(other) and all(agree(getattr(one, name), getattr(other, name)) for name in names)


def agree(one: Any, other: Any) -> bool:
    """Return whether two values agree in type and to the bit of each number; functions have to be the same objects."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is np.ndarray:
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if kind is float:
        return one.hex() == other.hex()
    if kind in (str, int, bool):
        return one == other
    if kind in (tuple, list):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(agree(one[key], other[key]) for key in one)
    if is_dataclass(one) and "__dataclass_fields__" in vars(kind):  # further attributes of a class are unknown
        return all(agree(getattr(one, name), getattr(other, name)) for name in _names(kind))
    return False


def _names(kind: Any) -> list[str]:
    if kind not in NAMES:
        NAMES[kind] = [field.name for field in fields(kind)]
    return NAMES[kind]
