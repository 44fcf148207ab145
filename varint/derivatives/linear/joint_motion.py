"""Motions of the joints that are given as tables, and the efforts that they require."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, choice, known_name, of_type
from varint.base.display import names_text
from varint.base.errors import ArgumentError
from varint.kinematics.open_stops import PoseWithTurns, check_open_along
from varint.kinematics.turns import near_of
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.equations_of_motion import EquationsOfMotion
from varint.methods.reduced.tree import Tree, find_tree
from varint.model.forces.base import Force
from varint.model.forces.coupled import Coupled
from varint.model.forces.driven import Driven
from varint.model.known_forces import is_hard

DEGREE = 5  # of the splines: accelerations are smooth, and of fourth order in the spacing
HELD = 1e-10  # of the size of a row: what is left of one that the ratio of a rotor satisfies
DEPENDENT = 1e10  # condition of couplings' rows by the coordinates that follow, at most
ACT, LEFT_OUT, FOLDED = "act", "left out", "folded"  # what muscles and prescribed motions do; couplings
OPEN = 1e-4  # of the size of a part: how far a table may open loops


class JointMotion(NamedTuple):
    """A motion at T times: ``t`` (T,), s, ``q``, ``rates`` and ``second`` (T, nq), coordinates of the spanning tree."""

    t: np.ndarray
    q: np.ndarray
    rates: np.ndarray
    second: np.ndarray


def joint_motion(mechanism: Mechanism, t: ArrayLike, coordinates: Mapping[str, ArrayLike]) -> JointMotion:
    """Return the motion through ``coordinates`` at times ``t``: splines of degree 5. Raises ArgumentError.

    A joint with one coordinate that a coupling of two ties to one of these in proportion needs no table.
    """
    from scipy.interpolate import make_interp_spline  # slow to import

    times = array_of(t, (None,), "t", ArgumentError)
    if times.size <= DEGREE or (np.diff(times) <= 0.0).any():
        raise ArgumentError(f"t must be {DEGREE + 1} times or more that rise, s, got {times.size}")
    of_type(coordinates, Mapping, "coordinates", ArgumentError)
    for name in coordinates:
        known_name(name, mechanism.joint_index, "coordinates: no joint", ArgumentError)
    tree = find_tree(mechanism)
    q = np.zeros((times.size, tree.nq))
    for name, place in tree.columns.items():
        size = place.stop - place.start
        if not size:
            continue
        shape = (times.size,) if size == 1 else (times.size, size)
        if name in coordinates:
            q[:, place] = array_of(coordinates[name], shape, f"coordinates of '{name}'", ArgumentError).reshape(
                -1, size
            )
    missing: dict[str, int] = {}
    for name, place in tree.columns.items():
        size = place.stop - place.start
        if not size or name in coordinates:
            continue
        leader = _leader(mechanism, name, coordinates) if size == 1 else None
        if leader is None:
            missing[name] = size
            continue
        joint, number, ratio = leader
        q[:, place.start] = ratio * q[:, tree.columns[joint].start + number]
    if missing:
        raise _missing(mechanism, missing, [name for name in coordinates if name not in tree.columns])
    spline = make_interp_spline(times, q, DEGREE)
    return JointMotion(times, q, spline(times, 1), spline(times, 2))


def _missing(mechanism: Mechanism, missing: Mapping[str, int], cut: list[str]) -> ArgumentError:
    """Return the error for joints without a table, with the numbers of their coordinates.

    ``cut``: joints whose table is not used, as loops are cut there. Rotors follow their joints: they are named if
    nothing else is missing. One of two joints that are coupled is enough.
    """
    named = [name for name in missing if name not in mechanism.rotors] or list(missing)
    first = named[0]
    tied = [name for name in named if _leader(mechanism, first, {name: 0.0}) or _leader(mechanism, name, {first: 0.0})]
    or_tied = f" (or of {names_text(tied)}, coupled to it)" if tied else ""
    others = [name for name in named[1:] if name not in tied]
    more = f", and those of {names_text(others)}" if others else ""
    more += f". Those of {names_text(cut)} do not count: loops are cut there" if cut else ""
    return ArgumentError(
        f"coordinates: those of joint '{first}'{or_tied} are missing, as T numbers, or T rows of {missing[first]}{more}"
    )


def _leader(mechanism: Mechanism, name: str, tables: Mapping[str, ArrayLike]) -> tuple[str, int, float] | None:
    """Return joint, coordinate and ratio that the joint ``name`` follows in a coupling of two, as rotors of MJCF do.

    ``tables``: coordinates of the joints that may lead. None if there is no such coupling.
    """
    pairs = (terms for force in mechanism.forces if isinstance(force, Coupled) for terms in force.terms_of(mechanism))
    for first, second in (terms for terms in pairs if len(terms) == 2):
        for (joint, number, factor, bent), (other, _, follower_factor, curved) in ((first, second), (second, first)):
            if other == name and joint in tables and not bent and not curved:
                return joint, number, -factor / follower_factor
    return None


def without(mechanism: Mechanism, replaced: Mapping[str, Force]) -> Mechanism:
    """Return the mechanism without prescribed motions of joints and hard stops, with ``replaced`` forces by name."""
    kept = (force for force in mechanism.forces if not (isinstance(force, Driven) or is_hard(mechanism, force)))
    forces = [replaced.get(force.name, force) for force in kept]
    return replace(mechanism, forces=forces)


def check_stops(mechanism: Mechanism, equations: EquationsOfMotion, motion: JointMotion) -> None:
    """Raise ArgumentError if a hard stop of ``mechanism`` is closed in the motion, which ``equations`` go through."""
    if not any(is_hard(mechanism, force) for force in mechanism.forces):
        return
    states = ((t, equations.state(q, rates)) for t, q, rates, _ in zip(*motion, strict=True))
    poses = (
        PoseWithTurns(state.position, state.quat_wxyz, near_of(mechanism, state), f" at t = {t:.9g} s")
        for t, state in states
    )
    check_open_along(mechanism, poses, "efforts of motions", "take times at which it is open")


class Required(NamedTuple):
    """Efforts ``along`` (T, nq) the coordinates of the tree, N, N m, and the ``rows`` (T, m, nq) of loops."""

    along: np.ndarray
    rows: np.ndarray


def required_efforts(equations: EquationsOfMotion, motion: JointMotion) -> Required:
    """Return M ddq - force at each time of a motion. Raises ArgumentError where the motion opens loops or couplings."""
    along, rows = np.empty_like(motion.q), []
    largest = OPEN * equations.mechanism.compiled.length
    for k, (t, q, rates, second) in enumerate(zip(*motion, strict=True)):
        gap, _, jacobian = equations.violations(q, rates)
        if np.abs(gap).max(initial=0.0) > largest:
            row = int(np.abs(gap).argmax())
            raise ArgumentError(
                f"coordinates open loops or couplings by {np.abs(gap[row]):.3g} (m, rad) at t = {t:g} s, most at"
                f" {equations._row_label(row)}: give a table that keeps to it"
            )
        rows.append(jacobian.copy())
        along[k] = equations.mass_matrix(q) @ second - equations.force(t, q, rates)
    return Required(along, np.array(rows))


def by_joint(tree: Tree, columns: np.ndarray) -> dict[str, np.ndarray]:
    """Return values (T, nq) by name of joint: (T,), or (T, dof) for a joint with several coordinates.

    Joints all of whose values are NaN are left out.
    """
    of_joints = {name: columns[:, place] for name, place in tree.columns.items() if place.stop > place.start}
    of_joints = {name: values for name, values in of_joints.items() if not np.isnan(values).all()}
    return {name: values[:, 0] if values.shape[1] == 1 else values for name, values in of_joints.items()}


def rotor_folds(mechanism: Mechanism, tree: Tree) -> tuple[np.ndarray, list[int]]:
    """Return the derivatives (nq, n) of all coordinates of the tree by the n without rotors, and the numbers (n,).

    A rotor, see `rotor_names`, turns in proportion to the joint whose armature it stands for.
    """
    folds, rotors = np.eye(tree.nq), []
    for name in sorted(mechanism.rotors & tree.columns.keys()):
        leader = _leader(mechanism, name, {other: 0.0 for other in tree.columns if other not in mechanism.rotors})
        if leader is None or tree.columns[name].stop - tree.columns[name].start != 1:
            continue
        joint, number, ratio = leader
        rotors.append(tree.columns[name].start)
        folds[rotors[-1], tree.columns[joint].start + number] = ratio
    kept = [column for column in range(tree.nq) if column not in rotors]
    return folds[:, kept], kept


def folded_rows(rows: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Return ``rows`` (m, nq) by the coordinates that ``folds`` (nq, n) keeps, without rows that become zero."""
    folded = rows @ folds
    return folded[np.abs(folded).max(axis=1, initial=0.0) > HELD * np.abs(rows).max(axis=1, initial=0.0)]


def unfolded(columns: np.ndarray, kept: list[int], size: int) -> np.ndarray:
    """Return values (T, size) of all coordinates, NaN where they are not ``kept``, from ``columns`` (T, n)."""
    values = np.full((len(columns), size), np.nan)
    values[:, kept] = columns
    return values


def _followers(mechanism: Mechanism, tree: Tree, kept: list[int]) -> list[int]:
    """Return the places among ``kept`` columns of the coordinates that couplings name first, but for rotors' ones."""
    places = []
    for force in mechanism.forces:
        for terms in force.terms_of(mechanism) if isinstance(force, Coupled) else ():
            if any(joint in mechanism.rotors for joint, *_ in terms) or any(t[0] not in tree.columns for t in terms):
                continue
            joint, number, *_ = terms[0]
            places.append(kept.index(tree.columns[joint].start + number))
    return places


def _count_at_leaders(
    mechanism: Mechanism, efforts: np.ndarray, rows: list[np.ndarray], followers: list[int]
) -> np.ndarray:
    """Add the efforts at ``followers`` to the other ``efforts`` (T, n) by the ratios of rates; NaN at followers.

    ``rows``: T arrays (m, n) of the couplings. Raises ArgumentError where these do not determine the followers.
    """
    leaders = [column for column in range(efforts.shape[1]) if column not in followers]
    counted = np.full_like(efforts, np.nan)
    for k, each in enumerate(rows):
        of_followers = each[:, followers]
        if len(set(followers)) != len(each) or np.linalg.cond(of_followers) > DEPENDENT:
            raise ArgumentError(
                f"'{mechanism.name}' has loops, or couplings that do not determine the coordinates that they name"
                " first: couplings='folded' has no joints to count at; use vi.inverse_dynamics of a run, with joints="
            )
        ratios = -np.linalg.solve(of_followers, each[:, leaders])
        counted[k, leaders] = efforts[k, leaders] + ratios.T @ efforts[k, followers]
    return counted


def idle_muscles(mechanism: Mechanism) -> dict[str, Force]:
    """Return the muscles by name without their tension, but with their mass."""
    return {
        force.name: replace(force, max_force=0.0, activation_times=None, activation=0.0, excitation=0.0)  # type: ignore[call-arg]
        for force in mechanism.forces
        if force.activated
    }


def _has_dynamics(force: Force) -> bool:
    """Return whether a force is a muscle whose activation rises and falls."""
    return force.activated and bool(getattr(force, "activation_times", None))


def efforts_of_motion(
    mechanism: Mechanism,
    t: ArrayLike,
    coordinates: Mapping[str, ArrayLike],
    *,
    muscles: str = ACT,
    couplings: str | None = None,
) -> dict[str, np.ndarray]:
    """Return the efforts at the joints of a tree that a motion, given as a table, requires: M ddq + bias - forces.

    Mass along paths (`PathMass`, ``mass=`` of `Musculotendon`) counts. All forces of the mechanism act, but for
    prescribed motions of joints; hard stops have to be open. Efforts at a joint include those of the rotors that stand
    for its armature. `inverse_dynamics` does the same for a run, and for loops.

    Parameters
    ----------
    mechanism : Mechanism
    t : (T,)
        s, rising, six or more. Rates and accelerations are those of splines of degree 5 through the table.
    coordinates : dict
        Name of each joint to (T,), or (T, dof) where it has several coordinates; m, rad. ``traj.coordinates`` is one.
    muscles : {"act", "left out"}
        Left out: the efforts are those that muscles, and whatever else acts at the joints, exert together. The mass of
        muscles counts. Muscles act only without activation dynamics.
    couplings : {"folded"}, optional
        Folded: the coordinate that each `Coupling` names first follows the others, as in MJCF's equalities of joints.
        Its effort counts at these, by the ratio of the rates. By default couplings are refused, but for rotors.

    Returns
    -------
    dict
        Name of each joint to (T,) or (T, dof), N or N m, without rotors. Of a coordinate that follows others
        zero; joints that follow with all of theirs are left out.

    Raises
    ------
    ArgumentError
        A joint that is missing or unknown, arrays of other lengths, loops or couplings; a hard stop that is closed at
        one of the times; forces that time and state do not determine, as muscles with an activation:
        `static_optimization` takes these.
    """
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    choice(muscles, (ACT, LEFT_OUT), "muscles", ArgumentError)
    if couplings is not None:
        choice(couplings, (FOLDED,), "couplings", ArgumentError)
    bare = without(mechanism, idle_muscles(mechanism) if muscles == LEFT_OUT else {})
    dynamic = next((force for force in bare.forces if _has_dynamics(force)), None)
    if dynamic is not None:
        raise ArgumentError(
            f"{dynamic.label} of '{mechanism.name}' has an activation, which time and state do not determine: leave"
            f" muscles out by muscles='{LEFT_OUT}', or use vi.static_optimization"
        )
    motion, equations = joint_motion(bare, t, coordinates), EquationsOfMotion(bare)
    check_stops(mechanism, equations, motion)
    required, tree = required_efforts(equations, motion), find_tree(bare)
    folds, kept = rotor_folds(bare, tree)
    efforts, rows = required.along @ folds, [folded_rows(each, folds) for each in required.rows]
    if len(rows[0]) and couplings is None:
        raise ArgumentError(
            f"'{mechanism.name}' has loops or couplings, where efforts at all joints are not determined: use"
            f" couplings='{FOLDED}' where joints follow others, or vi.inverse_dynamics of a run, with joints="
        )
    if len(rows[0]):
        efforts = _count_at_leaders(bare, efforts, rows, _followers(bare, tree, kept))
    of_joints = by_joint(tree, unfolded(efforts, kept, tree.nq))
    return {name: np.nan_to_num(values, nan=0.0) for name, values in of_joints.items()}
