"""MuJoCo's numbers for kinds of things in a compiled model, which are those of its format."""

from typing import Any

JOINT_FREE, JOINT_BALL, JOINT_SLIDE, JOINT_HINGE = range(4)
EQ_CONNECT, EQ_WELD, EQ_JOINT, EQ_TENDON = range(4)
TRN_JOINT, TRN_JOINTINPARENT = range(2)
WRAP_JOINT, WRAP_SITE = 1, 3
GAIN_FIXED, BIAS_NONE, BIAS_AFFINE, DYN_NONE = 0, 0, 1, 0
OF_BODIES = 1  # mjOBJ_BODY
SHAPES = {0: "plane", 2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}


def is_off(model: Any, name: str) -> bool:
    """Whether <option> takes a kind of effort out, as "GRAVITY"."""
    import mujoco

    bit = getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", None)
    return bit is not None and bool(model.opt.disableflags & int(bit))
