"""Static optimisation: the least activations of muscles that make a motion.

At each time, with the tensions F = a F1 + F0 of the muscles at activations a, and the derivatives R of their lengths by
the coordinates:

    least  sum a^2    with  0 <= a <= 1  and  N^T (R^T F + tau) = 0

where tau are the efforts that the motion requires and the columns of N are the motions that loops allow. The rest of
the efforts is a residual, which is made as small as possible first: it counts WEIGHT times as much.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space

from varint.base.checks import choice, of_type, sequence_of
from varint.base.display import count_text, value_text
from varint.base.errors import ArgumentError, LeftOutWarning
from varint.derivatives.linear.joint_motion import (
    ACT,
    LEFT_OUT,
    JointMotion,
    by_joint,
    check_stops,
    folded_rows,
    joint_motion,
    required_efforts,
    rotor_folds,
    unfolded,
    without,
)
from varint.derivatives.linear.path_arms import path_arms
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.equations_of_motion import EquationsOfMotion
from varint.methods.reduced.kinematics import TreeKinematics
from varint.methods.reduced.tree import find_tree
from varint.model.forces.base import Force
from varint.results.forces import forces_at
from varint.results.inputs.courses import moved_coordinates
from varint.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WEIGHT = 1e5  # of residuals, over the largest effort of a muscle
RANK = 1e-10  # of rows of loops that depend on each other
MOST = 12  # curves of a picture


@dataclass(frozen=True, eq=False, repr=False)
class StaticOptimization(Study):
    """Muscles that make a motion, see `static_optimization`.

    Attributes
    ----------
    mechanism : str
    t : (T,) s
    activation : dict
        Name of a muscle to (T,), 0 to 1.
    tension : dict
        Name of a muscle to (T,), N, of its active and passive parts.
    effort : dict
        Name of a joint to the efforts (T,) or (T, dof), N or N m, that the motion requires without the muscles. Those
        of rotors that stand for armature count at their joints, here and in ``residual``.
    residual : dict
        Efforts that the muscles do not exert, by joint; along the motions that loops allow.
    """

    mechanism: str
    t: np.ndarray
    activation: dict[str, np.ndarray]
    tension: dict[str, np.ndarray]
    effort: dict[str, np.ndarray]
    residual: dict[str, np.ndarray]

    def _facts(self) -> Iterable[str]:
        yield value_text(self.mechanism)
        yield count_text(len(self.activation), "muscle")
        yield count_text(self.t.size, "time")
        yield f"activations up to {max(a.max() for a in self.activation.values()):.3g}"
        yield f"residuals up to {max(np.abs(r).max() for r in self.residual.values()):.3g} N m or N"

    @property
    def _title(self) -> str:
        shown = f"the {MOST} largest of " if len(self.tension) > MOST else ""
        return f"{self.mechanism}: tensions of {shown}{count_text(len(self.tension), 'muscle')}"

    def _draw(self, axes: Axes) -> None:
        from varint.drawing.axes import legend
        from varint.drawing.style import line
        from varint.views.curves import over_time, time_unit

        unit, symbol = time_unit(self.t)
        largest = sorted(self.tension, key=lambda name: -np.abs(self.tension[name]).max())[:MOST]
        curves = [axes.plot(self.t / unit, self.tension[name], **line(k))[0] for k, name in enumerate(largest)]
        axes.set_ylabel("Tension (N)")
        over_time(axes, self.t, unit, symbol)
        legend(axes, curves, largest)


def static_optimization(
    mechanism: Mechanism,
    t: ArrayLike,
    coordinates: Mapping[str, ArrayLike],
    *,
    muscles: Sequence[str] | None = None,
    drives: str | None = None,
) -> StaticOptimization:
    """Return the activations of muscles with the least sum of squares, at each time of a motion given as a table.

    Tensions follow length and rate of each path, without the time that activations take to rise and fall. The residual
    is the effort that the muscles cannot exert with activations from 0 to 1; it is the least possible. The mass of
    muscles counts, and all other forces act, but for prescribed motions of joints, see ``drives``; hard stops have to
    be open.

    Parameters
    ----------
    mechanism : Mechanism
    t, coordinates
        The motion, see `efforts_of_motion`; with loops or couplings, also the coordinates of the tree that follow.
    muscles : sequence of str, optional
        Names of `Musculotendon`; all where not given. Their excitations do not count.
    drives : {"left out", "act"}, optional
        Prescribed motions of joints. Left out: the muscles make the motion of their joints too; a LeftOutWarning names
        them where this is not said. They act: each exerts whatever effort its coordinate takes, the muscles make the
        other motions, and the residual is zero along it.

    Raises
    ------
    ArgumentError
        No muscle, an unknown one, or a table that is no motion, see `efforts_of_motion`. A prescribed motion that is
        to act along an Euler angle, or at a joint that is cut from the tree.
    """
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    names = _muscles(mechanism, muscles)
    driven = _driven(mechanism, drives)
    slack = {name: _at_activation(mechanism.force(name), 0.0) for name in names}
    relaxed = without(mechanism, slack)
    idle = without(mechanism, {name: _changed(muscle, max_force=0.0) for name, muscle in slack.items()})
    motion, equations = joint_motion(relaxed, t, coordinates), EquationsOfMotion(idle)
    check_stops(mechanism, equations, motion)
    required, kinematics = required_efforts(equations, motion), TreeKinematics(relaxed)
    arms = path_arms(kinematics, names, zip(motion.q, motion.rates, strict=True))
    passive, active = _tensions(relaxed, equations, motion, names)
    weight = WEIGHT / max(np.abs(active[:, :, None] * arms).max(), np.finfo(float).tiny)
    folds, kept = rotor_folds(relaxed, kinematics.tree)
    size, effort = motion.q.shape[1], required.along @ folds
    activation, residual = np.empty_like(active), np.empty_like(effort)
    for k in range(motion.t.size):
        rows = folded_rows(np.vstack([required.rows[k], np.eye(size)[driven]]), folds)
        free = null_space(rows, RANK) if len(rows) else np.eye(len(kept))
        efforts = -(active[k][:, None] * (arms[k] @ folds)).T
        wanted = effort[k] + passive[k] @ arms[k] @ folds
        activation[k] = _least(free.T @ efforts, free.T @ wanted, weight)
        residual[k] = free @ (free.T @ (wanted - efforts @ activation[k]))
    tension = passive + activation * active
    return StaticOptimization(
        mechanism.name,
        motion.t,
        dict(zip(names, activation.T, strict=True)),
        dict(zip(names, tension.T, strict=True)),
        by_joint(kinematics.tree, unfolded(effort, kept, size)),
        by_joint(kinematics.tree, unfolded(residual, kept, size)),
    )


def _driven(mechanism: Mechanism, drives: str | None) -> list[int]:
    """Return the columns of the tree with prescribed motions that act; warns where ``drives`` does not say so."""
    if drives is not None:
        choice(drives, (LEFT_OUT, ACT), "drives", ArgumentError)
    forces = [force for _, force in moved_coordinates(mechanism.forces)]
    if drives is None and forces:
        warnings.warn(
            f"static_optimization leaves out {', '.join(force.label for force in forces)} of '{mechanism.name}': the"
            f" muscles make the motion there too. Say so by drives='{LEFT_OUT}', or keep them by drives='{ACT}'",
            LeftOutWarning,
            stacklevel=3,
        )
    columns, tree = [], find_tree(mechanism)
    for force in forces if drives == ACT else ():
        cut = force.joint not in tree.columns
        if cut or force.angles is not None:
            why = f"at '{force.joint}', which is cut from the tree" if cut else "along an Euler angle"
            raise ArgumentError(f"{force.label} acts {why}: static_optimization takes drives='{LEFT_OUT}' there")
        columns.append(tree.columns[force.joint].start + force.coordinate)
    return columns


def _muscles(mechanism: Mechanism, muscles: Sequence[str] | None) -> list[str]:
    known = [force.name for force in mechanism.forces if force.activated]
    if not known:
        raise ArgumentError(f"'{mechanism.name}' has no muscle: add a vi.Musculotendon")
    asked = known if muscles is None else sequence_of(muscles, "muscles", "names", ArgumentError)
    names = [of_type(name, str, "each of muscles=", ArgumentError) for name in asked]
    other = next((name for name in names if name not in known), None)
    if other is not None or not names or len(set(names)) < len(names):
        fault = "needs one name or more, each once" if other is None else f"has {other!r}, which is no muscle"
        raise ArgumentError(f"muscles= {fault}: there are {', '.join(known)}")
    return names


def _at_activation(muscle: Force, activation: float) -> Force:
    """Return a muscle without dynamics at a constant activation."""
    return _changed(muscle, activation_times=None, activation=0.0, excitation=activation)


def _changed(muscle: Force, **fields: object) -> Force:
    return replace(muscle, **fields)  # type: ignore[arg-type]


def _tensions(
    relaxed: Mechanism, equations: EquationsOfMotion, motion: JointMotion, names: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tensions (T, m), N, of the passive muscles, and the additional tensions at full activation."""
    states = [equations.state(q, rates) for q, rates in zip(motion.q, motion.rates, strict=True)]
    x, quat, v, w = (
        np.array([getattr(state, name) for state in states])
        for name in ("position", "quat_wxyz", "velocity", "angular_velocity")
    )
    numbers = [relaxed.force_index[name] for name in names]
    command = np.zeros((motion.t.size, len(relaxed.forces)))
    passive = -forces_at(relaxed, x, quat, v, w, command).effort[:, numbers]
    command[:, numbers] = 1.0
    return passive, -forces_at(relaxed, x, quat, v, w, command).effort[:, numbers] - passive


def _least(efforts: np.ndarray, wanted: np.ndarray, weight: float) -> np.ndarray:
    """Return the least activations (m,) for which ``efforts`` (n, m) times them are nearest to ``wanted`` (n,)."""
    from scipy.optimize import lsq_linear

    matrix = np.vstack([weight * efforts, np.eye(efforts.shape[1])])
    side = np.concatenate([weight * wanted, np.zeros(efforts.shape[1])])
    return np.asarray(lsq_linear(matrix, side, (0.0, 1.0), method="bvls").x)
