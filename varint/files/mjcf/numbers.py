"""MuJoCo's numbers for kinds of things in a compiled model, which are those of its format."""

from collections.abc import Container, Iterator
from typing import Any

from varint.files.robots.xml_files import XMLElement
from varint.model.import_report import ImportNotes

JOINT_FREE, JOINT_BALL, JOINT_SLIDE, JOINT_HINGE = range(4)
EQ_CONNECT, EQ_WELD, EQ_JOINT, EQ_TENDON, EQ_FLEX, EQ_FLEX_VERTICES, EQ_FLEX_STRAIN = range(7)
EQ_FLEXES = (EQ_FLEX, EQ_FLEX_VERTICES, EQ_FLEX_STRAIN)
TRN_JOINT, TRN_JOINTINPARENT, TRN_TENDON = 0, 1, 3
WRAP_JOINT, WRAP_PULLEY, WRAP_SITE, WRAP_SPHERE, WRAP_CYLINDER = range(1, 6)
GAIN_FIXED, GAIN_MUSCLE = 0, 2
BIAS_NONE, BIAS_AFFINE, BIAS_MUSCLE = range(3)
DYN_NONE, DYN_MUSCLE = 0, 4
OF_BODIES = 1  # mjOBJ_BODY
SHAPES = {0: "plane", 2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}


def is_off(model: Any, name: str) -> bool:
    """Return whether <option> disables a kind of effort, such as "GRAVITY"."""
    import mujoco

    bit = getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", None)
    return bit is not None and bool(model.opt.disableflags & int(bit))


def active_equalities(
    model: Any, source: Any, notes: ImportNotes, kinds: Container[int]
) -> Iterator[tuple[int, str, XMLElement]]:
    """Yield number, name and element of each active equality of these ``kinds``; note the inactive ones."""
    for number, kind in enumerate(model.eq_type.tolist()):
        if kind not in kinds:
            continue
        name = str(model.equality(number).name)
        at = source.at("equality", name)
        if model.eq_active0[number]:
            yield number, name, at
        else:
            notes.approximated(f"equality '{name}' is not active: left out", at)
