"""Loops of imported files that are redundant only within the digits of the file: found, and snapped by ``repair``.

Axes are products of rounded rotations, link by link, so that hinges of a planar loop, parallel in the robot, may
differ by 1e-7 rad in its file.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from varint.base.errors import AssemblyError, StateError
from varint.kinematics.misfits import Misfit, quick_misfits
from varint.mechanism.mechanism import Mechanism
from varint.model.import_report import Imported, ImportReport
from varint.model.joints.base import AxisJoint

SNAP = 1e-5  # rad: axes nearer than this to parallel, or square, are meant to be so


def with_exact_loops(mechanism: Mechanism, path: str, repair: bool) -> Mechanism:
    """Return an imported mechanism with the misfits of its loops in the import report.

    If ``repair``, with axes snapped.

    ``path``: of the file. Mechanisms that cannot be assembled, and large ones, are left to `Mechanism.diagnose`.
    """
    misfits = _misfits(mechanism)
    if not misfits:
        return mechanism
    report = mechanism.import_report
    if repair:
        changed = {before.name: (before, after) for misfit in misfits for before, after in _snapped(mechanism, misfit)}
        changes = [_change(*pair, report, path) for pair in changed.values()]
        snapped = {name: after for name, (_, after) in changed.items()}
        mechanism = replace(mechanism, joints=[snapped.get(joint.name, joint) for joint in mechanism.joints])
        report = replace(report, repaired=(*report.repaired, *changes))
        misfits = _misfits(mechanism)
    inexact = tuple(_entry(str(misfit), misfit.joint, report, path) for misfit in misfits)
    vars(mechanism)["import_report"] = replace(report, inexact=inexact)
    return mechanism


def _misfits(mechanism: Mechanism) -> list[Misfit]:
    if not mechanism.compiled.topology.clusters:
        return []
    try:
        state = mechanism.state()
    except (AssemblyError, StateError):  # raised again, and in full, to those who ask for a state
        return []
    return quick_misfits(mechanism, mechanism.compiled, state)


def _snapped(mechanism: Mechanism, misfit: Misfit) -> Iterator[tuple[AxisJoint, AxisJoint]]:
    """Yield the joints of a loop whose axes change, before and after: parallel or square to the most frequent ones."""
    members = [mechanism.joint(name) for name in misfit.joints]
    joints = [joint for joint in members if isinstance(joint, AxisJoint)]
    alike = [sum(_is_along(joint.axis, other.axis) for other in joints) for joint in joints]
    exact: list[np.ndarray] = []
    for k in sorted(range(len(joints)), key=lambda k: -alike[k]):
        axis = _snapped_axis(joints[k].axis, exact)
        if np.array_equal(axis, joints[k].axis):
            exact.append(axis)
        else:
            yield joints[k], replace(joints[k], axis=axis)


def _is_along(axis: np.ndarray, other: np.ndarray) -> bool:
    return np.array_equal(axis, other) or np.array_equal(axis, -other)


def _snapped_axis(axis: np.ndarray, exact: Iterable[np.ndarray]) -> np.ndarray:
    for other in exact:
        cosine = float(axis @ other)
        if np.linalg.norm(axis - np.sign(cosine) * other) < SNAP:
            return np.sign(cosine) * other
        if 0.0 < abs(cosine) < SNAP:
            axis = axis - cosine * other
    return axis


def _change(before: AxisJoint, after: AxisJoint, report: ImportReport, path: str) -> Imported:
    angle = np.linalg.norm(before.axis - after.axis)
    says = f"the axis of joint '{before.name}' is turned by {angle:.1e} rad, so that its loop is exact"
    return _entry(says, before.name, report, path)


def _entry(message: str, joint: str, report: ImportReport, path: str) -> Imported:
    """Return an entry of the report at the place of a joint."""
    places = [(one.file, one.line) for one in report.read if one.what.startswith(f"joint '{joint}' ")]
    return Imported(message, *(places or [(path, 0)])[0])
