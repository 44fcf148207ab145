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
TORQUE_SCALE = 10  # place in the data of a weld
CONSTRAINTS = ("EQUALITY", "LIMIT", "FRICTIONLOSS", "CONTACT")  # flags that the flag "constraint" includes
OF_BODIES = 1  # mjOBJ_BODY
SHAPES = {0: "plane", 2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}


def is_off(model: Any, name: str) -> bool:
    """Return whether <option> disables a kind of effort, such as "GRAVITY"."""
    import mujoco

    flags = (name, "CONSTRAINT") if name in CONSTRAINTS else (name,)
    bits = [getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}", None) for flag in flags]
    return any(bit is not None and bool(model.opt.disableflags & int(bit)) for bit in bits)


def is_turn_free(model: Any, number: int) -> bool:
    """Return whether an equality holds a point alone: a connect, or a weld whose torquescale is 0."""
    return bool(model.eq_type[number] == EQ_CONNECT or not model.eq_data[number, TORQUE_SCALE])


def count_actuators(model: Any) -> int:
    """Return the number of actuators, of which one may have several controls."""
    return int(model.actuator_trntype.size)


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
