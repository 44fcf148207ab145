"""Warnings about a run whose steps did not resolve its motion."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from varint.kinematics.diagnosis import mobility_at
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Force
from varint.model.known_forces import USES, is_contact, is_hard
from varint.model.state import State
from varint.results.derived import energies, energy_gap
from varint.results.fast_spin import STAGGERED, fastest_spin
from varint.results.held_damping import explain_controllers, is_held_motor, response_along
from varint.results.node_watch import drift_of, is_reduced, open_bound, overlap_bound, overlaps_of
from varint.results.quantities import row_sums
from varint.results.recorded_motion import RecordedMotion
from varint.results.slow_oscillation import slowest_oscillation

MUCH_FINER = 8.0  # times shorter than the first step that was tried
FINER_RTOL, LEAST_RTOL = 0.01, 1e-13  # times smaller tolerances are proposed, down to round-off
FINER, FINER_LOOPS = 4, 16  # times smaller steps are proposed, these where loops may pass close to a singular pose,
CHANGE, CHANGE_LOOPS = 0.12, 0.055  # or steps in which velocities change by no more than this share of the largest
LOOKED_AT = 10_000  # nodes, for steep forces
IN_A_ROW = 3  # steps that are told of a steep force
BEFORE = 6  # nodes up to one that is not resolved, at which controllers are examined
MOST_NAMED = 3  # contacts in a message
ALTERNATES = 0.02  # of the largest rate: smaller alternations are not examined
SWING = 0.5  # of its law's width: smaller swings leave its effort as it is
Trial = Callable[[float], Callable[[float], bool | None]]  # see varint.runs.retrials.trial_of
MISSED = 0.25  # of its largest effort: smaller differences from it are not told
ONE_STAGE = np.ones(1)  # of the schemes of orders 1 and 2
SPUN = 3e-3  # of a turn that a step makes too far: less is not told
SLOW = 0.02  # of its frequency that an oscillation lacks: less is not told
EXCHANGED = 0.3  # of the changes of the kinetic energy, which springs store
EVEN = 1e-6  # steps that differ by more, relative, are adaptive
STEPS_OF_PERIOD = 40  # where it lacks 0.2 %
BETWEEN_IMPACTS = 8  # steps of a period with two impacts: what is shorter is not told from an oscillation
FEWEST = 5  # steps of a period in which order 4 lacks less than 0.2 %
RESOLVED_TURN = 0.12  # rad in a step at order 2, whose excess is 0.24 %


class Unresolved(NamedTuple):
    """First unresolved step of a motion: at ``time``, s, worst at ``body``; ``message`` describes it in full."""

    message: str
    time: float
    body: str | None


def find_unresolved(trajectory: RecordedMotion, dt: float | None, trial: Trial | None = None) -> Unresolved | None:
    """Return the `Unresolved` of a run with steps of ``dt``, s, or with error control.

    None if it resolved its motion. ``trial``: of the step or tolerance that is to be proposed, a function of the time,
    s, of what was not resolved: whether that resolves it, None where this is not known. What does not is not proposed.
    """
    times = trajectory.unresolved
    if not times.size:
        if "scheme" not in trajectory.settings or not dt:
            return None
        watches = find_swinging, find_alternating, find_fast_spin, find_slow_oscillation
        return next(filter(None, (watch(trajectory, dt) for watch in watches)), None)
    first, count = float(times[0]), times.size
    body = trajectory.mechanism.bodies[int(trajectory.unresolved_body[trajectory.t == first][0])].name
    node = int(np.searchsorted(trajectory.t, first))
    if is_judged_by_joints(trajectory):
        return _open_joints(trajectory, first, body)
    advice = _unstable_controllers(trajectory, dt, node) or _advice(trajectory, dt, first, trial)
    if "integrator" in trajectory.settings and drift_of(trajectory)[node] > open_bound(trajectory):
        message = (
            f"joints of '{trajectory.mechanism.name}' are open at {count} recorded nodes, first at t = {first:g} s, by"
            f" {drift_of(trajectory)[node]:.3g} m at body '{body}'. {advice}"
        )
        return Unresolved(message, first, body)
    overlap = _overlap_at(trajectory, node)
    if overlap is not None:
        message = (
            f"{overlap} at t = {first:g} s, the first of {count} recorded nodes like it: an impact was missed, or took"
            f" place where there is none. The motion is right up to there at best. {advice}, or varint.simulate"
        )
        return Unresolved(message, first, body)
    often = "then alone" if count == 1 else f"at {count} recorded nodes, the last at t = {times[-1]:g} s"
    gap, kinetic = energy_gap(trajectory, first)
    name = trajectory.mechanism.name
    if _is_prescribed(trajectory.mechanism, trajectory.state(0)):
        begins = (
            f"positions of '{name}' follow its prescribed motion, velocities, energy and reactions are not resolved"
        )
        ends = f"For these: {advice}; where positions are all that is needed, on_unresolved='ignore'"
    else:
        begins = f"the steps of '{name}' did not resolve its motion"
        ends = f"The motion is right up to there at best. {_impact_near(trajectory, node)}{advice}"
    message = (
        f"{begins}, first at t = {first:g} s, where the velocity of body '{body}' changed most, {often}: energy came or"
        f" went without work, {gap:.3g} J at most, where {kinetic:.3g} J of kinetic energy were there before. {ends}"
    )
    return Unresolved(message, first, body)


def is_judged_by_joints(trajectory: RecordedMotion) -> bool:
    """Return whether open joints are all that a run is judged by: one of a method of the user or another simulator."""
    return "integrator" in trajectory.settings and not is_reduced(trajectory)


def _open_joints(trajectory: RecordedMotion, first: float, body: str) -> Unresolved:
    """Return the `Unresolved` of a run by a method that does not keep joints closed, from the time ``first``, s, on."""
    drift, times = drift_of(trajectory), trajectory.unresolved
    most = int(np.argmax(drift))
    message = (
        f"method '{trajectory.settings['integrator']}' leaves joints of '{trajectory.mechanism.name}' open at"
        f" {times.size} recorded nodes, first at t = {first:g} s, by {drift[trajectory.t == first][0]:.3g} m at body"
        f" '{body}', and by {drift[most]:.3g} m at most, at t = {trajectory.t[most]:g} s: this is no motion of the"
        " mechanism. Take shorter steps, or close joints after each step, as mechanism.assemble(state) and the"
        " stabilisations of varint.Maximal do"
    )
    return Unresolved(message, first, body)


def _unstable_controllers(trajectory: RecordedMotion, dt: float | None, node: int) -> str | None:
    """Return the explanation of `explain_controllers` at a recorded ``node``, or at the last ones before it."""
    if trajectory._step_tolerance is not None or not dt:
        return None
    nodes = range(node, max(node - BEFORE, -1), -1)
    explained = (
        explain_controllers(trajectory.mechanism, float(trajectory.t[n]), trajectory.state(n), dt) for n in nodes
    )
    return next(filter(None, explained), None)


def _impact_near(trajectory: RecordedMotion, node: int) -> str:
    """Return a sentence on the hard contacts and stops that acted shortly before a recorded ``node``; else empty."""
    mechanism = trajectory.mechanism
    hard = _hard_forces(mechanism)
    if not hard or any(traits & set(USES["reactions"].refuses) for traits in mechanism.force_traits):
        return ""
    part = trajectory[max(0, node - BEFORE) : node + 1]
    work = np.abs(np.diff(part.work, axis=0)).max(axis=0, initial=0.0)
    acting = [
        force.label for force in hard if work[mechanism.force_index[force.name]] > 0.0 or np.any(part.force[force.name])
    ]
    if not acting:
        return ""
    named = ", ".join(acting[:MOST_NAMED])
    return (
        f"The likely cause is {named}, which acted within the {len(part)} recorded nodes up to there: an impact, or a"
        " contact that opens or closes, changes velocities within a step. "
    )


def _overlap_at(trajectory: RecordedMotion, node: int) -> str | None:
    """Return the deepest overlap at a node of a run with located contacts as text, None where nothing overlaps."""
    if "integrator" not in trajectory.settings:
        return None
    depths = {name: float(depth[node]) for name, depth in overlaps_of(trajectory).items()}
    name = max(depths, key=lambda each: depths[each], default=None)
    if name is None or depths[name] <= overlap_bound(trajectory):
        return None
    return f"shapes or points of {trajectory.mechanism.force(name).label} overlap by {depths[name]:.3g} m"


def _is_prescribed(mechanism: Mechanism, start: State) -> bool:
    """Return whether prescribed coordinates leave the mechanism no degree of freedom at the initial state of a run."""
    prescribed = int(np.count_nonzero(mechanism.compiled.plan.constraints.driven))
    return prescribed > 0 and mobility_at(mechanism, mechanism.compiled, start) <= prescribed


def _advice(
    trajectory: RecordedMotion,
    dt: float | None,
    first: float,
    trial: Trial | None,
) -> str:
    """Return the advice to try finer steps, or that they fail where two trials around the time ``first``, s, do.

    ``trial``: of a step or tolerance, whether a short run with it resolves the motion; None if that cannot be tried.
    """
    value, text = _finer_arguments(trajectory, dt)
    if trial is None or trial(value)(first) is not False:
        return f"Try {text}"
    if trajectory._step_tolerance is None and trial(value / MUCH_FINER)(first):
        return f"Try dt = {value / MUCH_FINER:.2g} s"
    tried, mechanism = text.partition(":")[0], trajectory.mechanism
    causes = ["an effort that jumps", "a joint at the end of its range"]
    causes += ["a singular pose"] * bool(mechanism.compiled.topology.clusters)
    causes += ["an impact of several contacts or stops"] * bool(_hard_forces(mechanism))
    return (
        f"A run from shortly before with {tried} does not resolve it either: shorter steps are not the remedy. Look for"
        f" what changes at once there, such as {', '.join(causes[:-1])} or {causes[-1]}"
    )


def _hard_forces(mechanism: Mechanism) -> list[Force]:
    """Return the hard contacts and stops of a mechanism."""
    return [force for force in mechanism.forces if is_hard(mechanism, force) or is_contact(mechanism, force)]


def _finer_arguments(trajectory: RecordedMotion, dt: float | None) -> tuple[float, str]:
    """Return the step, s, or the tolerance of a finer run, and its arguments."""
    if trajectory._step_tolerance is not None:
        tolerance = max(FINER_RTOL * trajectory._step_tolerance, LEAST_RTOL)
        return tolerance, f"rtol = {tolerance:g}"
    assert dt is not None  # the size of the steps
    if not _has_each_node(trajectory):
        finer = finer_step(trajectory.mechanism, dt)
        return finer, f"dt = {finer:g} s"
    change = largest_change(trajectory)
    finer = step_for_change(trajectory.mechanism, dt, change)
    return finer, (
        f"dt = {finer:.6g} s: in a step velocities changed by up to {change:.0%} of the largest, then by about"
        f" {change * finer / dt:.0%}"
    )


def finer_step(mechanism: Mechanism, dt: float) -> float:
    """Return the step, s, that resolves nine of ten motions unresolved at ``dt``, s (benchmarks/resolution.py)."""
    return dt / (FINER_LOOPS if mechanism.compiled.topology.clusters else FINER)


def step_for_change(mechanism: Mechanism, dt: float, change: float) -> float:
    """Return a fraction of ``dt``, s, at most half, with changes of velocities per step that are mostly resolved.

    ``change``: the `largest_change` in steps of ``dt``. Nine of ten runs that steps did not resolve are without a
    warning then (benchmarks/resolution.py).
    """
    most = CHANGE_LOOPS if mechanism.compiled.topology.clusters else CHANGE
    return dt / max(2, math.ceil(change / most))


def largest_change(trajectory: RecordedMotion) -> float:
    """Return the largest change of velocities from node to node over the largest velocity, both by kinetic energy.

    Of the components whose motion was not resolved.
    """
    mechanism, compiled = trajectory.mechanism, trajectory.mechanism.compiled
    of_body = compiled.plan.components.of_body[compiled.slot]
    unresolved = trajectory.unresolved_body
    largest = 0.0
    for c in np.unique(of_body[unresolved[unresolved >= 0]]):
        bodies = np.flatnonzero(of_body == c)
        mass = np.array([mechanism.bodies[int(i)].mass for i in bodies])
        inertia = np.array([mechanism.bodies[int(i)].inertia for i in bodies])
        changed = fastest = 0.0
        last: tuple[np.ndarray, ...] = ()
        for part in trajectory.parts():
            here = part.velocity[:, bodies], part.angular_velocity[:, bodies]
            joined = [np.concatenate([*pair]) for pair in zip(last, here, strict=True)] if last else here
            changed = max(changed, _twice_energies(mass, inertia, *(np.diff(each, axis=0) for each in joined)))
            fastest = max(fastest, _twice_energies(mass, inertia, *here))
            last = tuple(each[-1:] for each in here)
        largest = max(largest, math.sqrt(changed / fastest)) if fastest > 0.0 else largest
    return largest


def _twice_energies(mass: np.ndarray, inertia: np.ndarray, velocity: np.ndarray, spin: np.ndarray) -> float:
    """Return twice the largest kinetic energy, J, of velocities (T, n, 3), m/s, world, and rad/s, body axes."""
    of_each = np.einsum("i,tij,tij->t", mass, velocity, velocity) + np.einsum("tij,ijk,tik->t", spin, inertia, spin)
    return float(of_each.max(initial=0.0))


def _has_each_node(trajectory: RecordedMotion) -> bool:
    """Return whether each node of the run is recorded."""
    return not trajectory.settings.get("output_times") and trajectory.steps == len(trajectory) - 1


def find_fast_spin(trajectory: RecordedMotion, dt: float) -> Unresolved | None:
    """Return the `Unresolved` of a run at order 1 or 2 with a body whose steps turn it too far by SPUN or more.

    Compositions turn it too far by less, in all steps that are not done in halves.
    """
    spin = fastest_spin(trajectory, dt, ONE_STAGE) if trajectory.order <= 2 else None
    if spin is None or spin.excess < SPUN:
        return None
    mechanism, resolved = trajectory.mechanism, RESOLVED_TURN / (STAGGERED if trajectory.order == 1 else 1.0)
    message = (
        f"body '{mechanism.bodies[spin.body].name}' of '{mechanism.name}' spins at up to {spin.speed:.6g} rad/s,"
        f" {spin.turn:.3g} rad in a step of {dt:g} s. At order {trajectory.order} steps turn it {spin.excess:.2%}"
        " further than this angular velocity, and a precession is off by as much. Try"
        f" dt = {resolved / spin.speed:.3g} s{', or order=4' if _is_composed(mechanism) else ''}"
    )
    return Unresolved(message, float(trajectory.t[0]), mechanism.bodies[spin.body].name)


def find_slow_oscillation(trajectory: RecordedMotion, dt: float) -> Unresolved | None:
    """Return the `Unresolved` of a run at order 2 that oscillates, with most of its energy, too slowly by SLOW or more.

    Reported if each node is recorded.
    """
    mechanism, times = trajectory.mechanism, trajectory.t
    if trajectory.order != 2 or len(trajectory) < IN_A_ROW or not _has_each_node(trajectory):
        return None
    if np.ptp(np.diff(times)) > EVEN * dt:
        return None
    slow = slowest_oscillation(trajectory, dt, SLOW)
    if slow is None or _is_prescribed(mechanism, trajectory.state(0)):
        return None
    steps, body = slow.period / dt, mechanism.bodies[slow.body].name
    if len(trajectory) <= steps or (steps < BETWEEN_IMPACTS and _hard_forces(mechanism)):
        return None
    stored = row_sums(trajectory.forces_along.potential)
    if np.std(stored) < EXCHANGED * np.std(energies(trajectory)[1]):  # what is driven, damped or thrown to and fro
        return None
    message = (
        f"'{mechanism.name}' oscillates, body '{body}' most, with {steps:.3g} steps of {dt:g} s a period of about"
        f" {slow.period:.3g} s. At order 2 a free oscillation on springs with this period is {slow.lag:.1%} too slow;"
        f" the energy is right. Try dt = {slow.period / STEPS_OF_PERIOD:.2g} s"
        f"{', or order=4' if steps > FEWEST and _is_composed(mechanism) else ''}"
    )
    return Unresolved(message, float(times[0]), body)


def _is_composed(mechanism: Mechanism) -> bool:
    """Return whether the forces of a mechanism act in steps of order 4 and above."""
    refused = set(USES["composed steps"].refuses)
    return not any(traits & refused for traits in mechanism.force_traits)


def find_swinging(trajectory: RecordedMotion, dt: float) -> Unresolved | None:
    """Return the `Unresolved` of a run whose steps of ``dt``, s, are too long for a steep force along a coordinate.

    Such a force keeps the mean rate of each step. The rate at the nodes is off, or goes to and fro about it, out of the
    reach of the law, so that the effort there is not the one that acted. Reported if each node is recorded.
    """
    mechanism = trajectory.mechanism
    along = [force for force in mechanism.forces if isinstance(force, AlongCoordinate) and force.angles is None]
    steep_ones = [force for force in along if force.steepness()]
    if not steep_ones or not _has_each_node(trajectory) or len(trajectory) < IN_A_ROW + 2:
        return None
    trajectory = trajectory[:LOOKED_AT]
    for force in steep_ones:
        steep = force.steepness()
        largest = np.abs(trajectory.force[force.name]).max()
        wrong = _swings(trajectory, force, SWING * largest / steep) | _missed(trajectory, force, MISSED * largest)
        row = np.flatnonzero(np.convolve(wrong, np.ones(IN_A_ROW), "valid") > IN_A_ROW - 0.5)
        if not row.size:
            continue
        first = float(trajectory.t[row[0]])
        inertia = inertia_along(mechanism, force, trajectory.state(0))
        message = (
            f"the steps of '{mechanism.name}' are too long for {force.label}: from t = {first:g} s on its effort at the"
            " nodes is not the one that acted, which kept the mean rate of each step. With the inertia of"
            f" {inertia:.3g} that it moves at the start, dt below {2 * inertia / steep:.2g} s resolves it; or, at this"
            f" dt, max_effort / smoothing below {2 * inertia / dt:.3g}, in place of {steep:.3g}. A PrescribedMotion"
            " with rate= holds a speed at any step"
        )
        return Unresolved(message, first, mechanism.joint(force.joint).body_b)
    return None


def find_alternating(trajectory: RecordedMotion, dt: float) -> Unresolved | None:
    """Return the `Unresolved` of a run with a motor whose function damps more than the steps of ``dt``, s, allow.

    Where the effort is limited, the rate alternates from node to node and does not grow, and the energy balance holds.
    Reported if each node is recorded.
    """
    mechanism = trajectory.mechanism
    if not _has_each_node(trajectory) or len(trajectory) < IN_A_ROW + 2:
        return None
    for force in mechanism.forces:
        if not is_held_motor(force):
            continue
        shown = trajectory[:LOOKED_AT]
        width = ALTERNATES * np.abs(shown.rates[force.joint].reshape(len(shown), -1)[:, force.coordinate]).max()
        row = np.flatnonzero(np.convolve(_swings(shown, force, width), np.ones(IN_A_ROW), "valid") > IN_A_ROW - 0.5)
        explanation = _unstable_controllers(trajectory, dt, int(row[-1])) if row.size else None
        if explanation is not None:
            time = float(shown.t[row[0]])
            message = (
                f"from t = {time:g} s on the rate of joint '{force.joint}' of '{mechanism.name}' alternates from step"
                f" to step. {explanation}"
            )
            return Unresolved(message, time, mechanism.joint(force.joint).body_b)
    return None


def _swings(trajectory: RecordedMotion, force: AlongCoordinate, width: float) -> np.ndarray:
    """Return whether (T - 1,) the rate oscillates by more than ``width`` in a step and the next."""
    rate = trajectory.rates[force.joint].reshape(len(trajectory), -1)[:, force.coordinate]
    bend = np.diff(rate, 2) / 4  # half a swing
    wide = np.abs(bend) > width
    return np.concatenate([wide[1:] & wide[:-1] & (bend[1:] * bend[:-1] < 0), [False, False]])[: len(rate) - 1]


def _missed(trajectory: RecordedMotion, force: AlongCoordinate, most: float) -> np.ndarray:
    """Return whether (T - 1,) the effort by the work of a step differs by more than ``most`` from that at its nodes."""
    way = np.diff(trajectory.coordinates[force.joint].reshape(len(trajectory), -1)[:, force.coordinate])
    work = np.diff(trajectory.work[:, trajectory.mechanism.force_index[force.name]])
    effort = trajectory.force[force.name]
    moves = np.abs(way) > 0.5 * np.median(np.abs(way))
    missed = np.abs(work - 0.5 * (effort[1:] + effort[:-1]) * way)
    return moves & (missed > most * np.abs(way))


def inertia_along(mechanism: Mechanism, force: AlongCoordinate, state: State) -> float:
    """Return the inertia, kg m^2 or kg, that an effort of ``force`` accelerates at ``state``, by its coordinate."""
    return response_along(mechanism, force, state).inertia
