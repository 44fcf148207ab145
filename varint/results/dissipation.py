"""Dissipative efforts of a mechanism: how large c dt / m is of the motions that they damp.

c: the slope of an effort against its rate, N s/m or N m s/rad; m: the inertia that it moves, with all joints. The
number z = c dt / m decides whether steps of ``dt`` end such a motion, let it swing, or amplify it.
"""

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varint.base.errors import ArgumentError, VarintError
from varint.mechanism.mechanism import Mechanism
from varint.model.forces import LAWS
from varint.model.joints.base import Joint
from varint.model.known_forces import USES
from varint.model.motion import Slide
from varint.model.state import State
from varint.results.forces import gradients_at
from varint.results.reactions import accelerations_and_reactions
from varint.step.laws import LAW_NAMES
from varint.step.loads import LOAD_NAMES
from varint.step.plan import Plan

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion

RESISTANCE, SLIDING = (LOAD_NAMES.index(name) for name in ("resistance", "sliding"))
SLACK = 0.1  # k dt / c of a spring k beside a damper c, below which elements of beams creep, and do not swing
SAMPLES = 24  # poses at which inertias are looked at, beside that of the start
AT_BOUND = 0.9  # of the largest effort of friction or a motor: from there on its slope is next to none
FURTHEST = 1.5  # dt: nodes of steps that are all recorded are no further apart
IN_A_ROW = 4  # nodes with efforts of alternating signs at their bound, which no motion has that steps resolve


class AmplifiedError(ArgumentError):
    """A method may amplify what a dissipative force damps."""


class DampedEfforts(NamedTuple):
    """n dissipative efforts at a pose.

    force : (n,) number in the description
    slope : (n,) largest slope of the effort against its rate, SI units
    constant : (n,) whether the slope is that at all rates
    gradient : (n, nb, 6) of the rate by the velocities of the bodies, m/s, world, and rad/s, body axes
    """

    force: np.ndarray
    slope: np.ndarray
    constant: np.ndarray
    gradient: np.ndarray


class Ranges(NamedTuple):
    """Ranges of z of the motions that are damped over some poses.

    least, most : (n,) of each, the largest last
    effort : number of the effort with the largest
    damping : DampedEfforts
        At the first pose.
    fixed : bool
        Whether they are the same in all poses of a run.
    """

    least: np.ndarray
    most: np.ndarray
    effort: int
    damping: DampedEfforts
    fixed: bool

    @property
    def largest(self) -> float:
        """Return the largest z."""
        return float(self.most[-1])

    def with_other(self, other: "Ranges") -> "Ranges":
        """Return the ranges over both."""
        effort = other.effort if other.largest > self.largest else self.effort
        most, least = np.maximum(self.most, other.most), np.minimum(self.least, other.least)
        return self._replace(least=least, most=most, effort=effort)

    def described(self, mechanism: Mechanism, dt: float) -> str:
        """Return a sentence about the effort with the largest z, up to the next sentence."""
        slope = self.damping.slope[self.effort]
        return (
            f"{mechanism.forces[self.damping.force[self.effort]].label} damps by up to {slope:.4g} (SI units), which is"
            f" {self.largest:.4g} for c dt / m with dt = {dt:g} s and the least inertia m that it may move"
        )


def ranges_of(
    mechanism: Mechanism,
    state: State,
    dt: float,
    bound: float,
    at_start: bool = False,
    held: float = np.inf,
    beams: bool = False,
    forces: np.ndarray | None = None,
) -> Ranges | None:
    """Return the `Ranges` of a run from ``state`` with steps of ``dt``, s; None if all z are below ``bound``.

    By inertias with all joints at the pose of the start and at SAMPLES more; those of a body on one joint with one
    coordinate are the same in all poses. Where such inertias are not known, by the bodies' own, which are the least.
    ``at_start``: at the pose of the start alone, and without joints with a compliance, whose damping is a time, and
    elements of beams whose k dt / c is above SLACK; or of such elements alone, ``beams``. ``held``: efforts with a
    spring k beside their damper c are left out from k dt / c = ``held`` on: whatever the inertia, such motions swing,
    or end at rates above k / c. ``forces`` (n,): numbers of those that are looked at, by default all.
    """
    damping = _damping_at(mechanism, state, not at_start, held / dt)
    if at_start:
        slack = _slack_beams(mechanism, state, SLACK / dt)
        damping = slack if beams else DampedEfforts(*map(np.concatenate, zip(damping, slack, strict=True)))
    if forces is not None:
        damping = DampedEfforts(*(part[np.isin(damping.force, forces)] for part in damping))
    if not damping.slope.size:
        return None
    ranges = _all_z(_free_mobility(mechanism, damping), damping, dt)
    if ranges.largest < bound:
        return None
    if set().union(*mechanism.force_traits) & set(USES["reactions"].refuses):
        return ranges._replace(least=np.zeros_like(ranges.least))
    ranges = _all_z(_mobility(mechanism, state, damping), damping, dt)
    if at_start or _is_alone(mechanism, damping):
        return ranges._replace(fixed=True)
    for pose in _poses(mechanism, state):
        at_pose = _damping_at(mechanism, pose, True, held / dt)  # the same efforts, but for quadratic drag
        if len(at_pose.slope) == len(damping.slope):
            at_pose = damping._replace(gradient=at_pose.gradient)
            ranges = ranges.with_other(_all_z(_mobility(mechanism, pose, at_pose), at_pose, dt))
    return ranges


def _damping_at(mechanism: Mechanism, state: State, with_soft: bool, held: float) -> DampedEfforts:
    """Return the dissipative efforts at ``state``; ``with_soft``: also of beams and of joints with a compliance.

    Without those whose spring is ``held``, 1/s, times as stiff as their damper, or more.
    """
    compiled, nb = mechanism.compiled, len(mechanism.bodies)
    plan, rows = compiled.plan, list[tuple[int, float, bool, np.ndarray]]()
    laws, measures, loads = plan.laws, plan.measures, plan.loads
    slopes = slopes_of_laws(plan, held)
    gradient = gradients_at(mechanism, state) if slopes.any() else np.zeros((measures.kind.size, 2, 6))
    slots = np.append(compiled.order, nb)  # the body of each slot, the world last
    for s in range(0 if with_soft else plan.compliant.joint_sum.size, laws.sum_law.size - 1):
        if measures.fused[laws.sum_first[s]] and not with_soft:
            continue
        whole = np.zeros((nb + 1, 6))
        for m in range(laws.sum_first[s], laws.sum_first[s + 1]):
            np.add.at(whole, slots[measures.body[m]], gradient[m])
        for f in range(laws.sum_law[s], laws.sum_law[s + 1]):
            force, constant = int(compiled.force[laws.element[f]]), LAWS[LAW_NAMES[laws.kind[f]]].has_constant_slope
            rows.append((force, slopes[f], constant, whole[:nb]))
    weight = float(np.linalg.norm(mechanism.gravity))
    for n in range(loads.kind.size):
        body, force = int(compiled.order[loads.body[n]]), int(compiled.force[loads.element[n]])
        linear = angular = 0.0
        if loads.kind[n] == RESISTANCE:
            linear, angular = float(loads.linear[n]), float(loads.angular[n])
            if loads.power[n] == 2:
                linear *= 2.0 * float(np.linalg.norm(state.velocity[body]))
                angular *= 2.0 * float(np.linalg.norm(state.angular_velocity[body]))
        elif loads.kind[n] == SLIDING:
            creep, pressed = float(loads.creep[n]), float(loads.friction[n]) * mechanism.bodies[body].mass * weight
            linear = creep if creep else pressed / float(loads.smoothing[n])
        for k in range(6):
            axis = np.zeros((nb, 6))
            axis[body, k] = 1.0
            constant = loads.kind[n] == RESISTANCE and loads.power[n] == 1
            rows.append((force, linear if k < 3 else angular, constant, axis))
    rows = [row for row in rows if row[1] > 0.0]
    forces, alike = (np.array([row[k] for row in rows], dtype=kind) for k, kind in ((0, int), (2, bool)))
    slopes_of_rows = np.array([row[1] for row in rows])
    return DampedEfforts(forces, slopes_of_rows, alike, np.array([row[3] for row in rows]).reshape(-1, nb, 6))


def without_end_rates(mechanism: Mechanism) -> np.ndarray:
    """Return the numbers of the dissipative forces that steps with rates towards their end take by other rates.

    These are elements of beams, and friction of bodies on the ground.
    """
    loads, force = mechanism.compiled.plan.loads, mechanism.compiled.force
    beams = [k for k, each in enumerate(mechanism.forces) if each.mean_rates]
    return np.union1d(np.array(beams, dtype=np.int64), force[loads.element[loads.kind == SLIDING]])


def _slack_beams(mechanism: Mechanism, state: State, held: float) -> DampedEfforts:
    """Return the efforts of elements of beams at ``state`` with springs below ``held``, 1/s, times their dampers."""
    all_of_them = _damping_at(mechanism, state, True, held)
    of_beam = np.array([mechanism.forces[force].mean_rates for force in all_of_them.force], dtype=bool)
    return DampedEfforts(*(part[of_beam] for part in all_of_them))


def slopes_of_laws(plan: Plan, held: float = np.inf) -> np.ndarray:
    """Return the largest slope of each law (nf,) of its effort against its rate, SI units; zero where it is not known.

    Zero also beside a spring of ``held``, 1/s, times the slope or more.
    """
    laws, slopes = plan.laws, np.zeros(plan.laws.kind.size)
    for f, first in enumerate(laws.first.tolist()):
        law = LAWS[LAW_NAMES[laws.kind[f]]]
        numbers = laws.parameter[first : first + len(law.parameters)].tolist()
        parameters = dict(zip(law.parameters, numbers, strict=True))
        slope = law.steepness(parameters)
        is_held = slope > 0.0 and law.has_constant_slope and parameters.get("stiffness", 0.0) >= held * slope
        slopes[f] = 0.0 if is_held else slope
    return slopes


def _free_mobility(mechanism: Mechanism, damping: DampedEfforts) -> np.ndarray:
    """Return rates (n, n) by unit impulses along the efforts, of bodies without joints: no run has larger ones."""
    mass = np.array([body.mass for body in mechanism.bodies])
    inverse = np.linalg.inv([body.inertia for body in mechanism.bodies])
    push, turn = damping.gradient[..., :3], damping.gradient[..., 3:]
    answer = np.concatenate([push / mass[:, None], np.einsum("bij,nbj->nbi", inverse, turn)], axis=2)
    return np.einsum("nbk,mbk->nm", damping.gradient, answer)


def _mobility(mechanism: Mechanism, state: State, damping: DampedEfforts) -> np.ndarray:
    """Return rates (n, n) by unit impulses along the efforts, of bodies in their joints at ``state``."""
    nodes = 1 + len(damping.slope)
    load = np.concatenate([np.zeros((1, *damping.gradient.shape[1:])), damping.gradient])
    x, q = (np.repeat(array[None], nodes, axis=0) for array in (state.position, state.quat_wxyz))
    still = np.zeros((nodes, len(mechanism.bodies), 3))
    acceleration = accelerations_and_reactions(mechanism, load, x, q, still, still)[0]
    return np.einsum("nbk,mbk->nm", damping.gradient, acceleration[1:] - acceleration[0])


def _all_z(mobility: np.ndarray, damping: DampedEfforts, dt: float) -> Ranges:
    """Return c dt / m of all motions that are damped."""
    root = np.sqrt(dt * damping.slope)
    matrix = root[:, None] * mobility * root
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return Ranges(values, values, int(np.argmax(np.abs(vectors[:, -1]))), damping, False)


def _is_alone(mechanism: Mechanism, damping: DampedEfforts) -> bool:
    """Return whether each effort is of a body that hangs on the world by one joint with one coordinate, alone."""
    bodies = {int(b) for b in np.argwhere(damping.gradient.any(axis=2))[:, 1]}
    for b in bodies:
        name = mechanism.bodies[b].name
        joints = [joint for joint in mechanism.joints if name in (joint.body_a, joint.body_b)]
        others = {end for joint in joints for end in (joint.body_a, joint.body_b)} - {name}
        if len(joints) != 1 or joints[0].dof != 1 or others & {body.name for body in mechanism.bodies}:
            return False
        if any(force.constraint and name in force.acts_on(mechanism) for force in mechanism.forces):
            return False
    return True


def _poses(mechanism: Mechanism, state: State) -> Iterator[State]:
    """Yield states with random coordinates of joints that can be assembled; no states of mechanisms with loops."""
    rng, length = np.random.default_rng(0), mechanism.compiled.length
    joints = [joint for joint in mechanism.joints if 0 < joint.dof < 6]
    for _ in range(0 if mechanism.compiled.topology.clusters else SAMPLES):
        reach = {joint.name: np.where(_slides(joint), length, np.pi) for joint in joints}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # these are not the user's states
                pose = mechanism.state(coordinates={name: rng.uniform(-size, size) for name, size in reach.items()})
        except VarintError:
            continue
        yield pose


def _slides(joint: Joint) -> np.ndarray:
    """Return which (dof,) of the coordinates of a joint are displacements."""
    return np.array([isinstance(motion, Slide) for motion in joint.allowed for _ in range(motion.size)])


def find_given(run: "RecordedMotion", least: float) -> tuple[int, int, float] | None:
    """Return number of a force, node and J of the most that a damped force gave from there to the next node.

    None if that is ``least``, J, or less. Of forces that only store and dissipate: all their laws have a damping, and
    take neither inputs nor states.
    """
    laws, compiled = run.mechanism.compiled.plan.laws, run.mechanism.compiled
    passive, other = set[int](), set[int]()
    for kind, element in zip(laws.kind.tolist(), laws.element.tolist(), strict=True):
        law = LAWS[LAW_NAMES[kind]]
        damped = "damping" in law.parameters and not {"input", "state"} & set(law.arguments)
        (passive if damped else other).add(int(compiled.force[element]))
    numbers = sorted(passive - other)
    if not numbers or len(run) < 2:
        return None
    energy = -np.diff([run.dissipated[run.mechanism.forces[k].name] for k in numbers], axis=1)
    k, node = map(int, np.unravel_index(energy.argmax(), energy.shape))
    return (numbers[k], node, float(energy[k, node])) if energy[k, node] > least else None


def find_alternating(run: "RecordedMotion") -> tuple[int, int] | None:
    """Return number of a force, and the first of IN_A_ROW nodes at which its effort is at its bound with signs in turn.

    Of friction and motors whose effort has a bound. None if there is none, or where nodes are further apart than a
    step: slower motions seem to turn round at each of these.
    """
    if len(run) < IN_A_ROW or np.diff(run.t).max() > FURTHEST * run.settings["dt"]:
        return None
    laws, compiled = run.mechanism.compiled.plan.laws, run.mechanism.compiled
    bounds = {
        int(compiled.force[element]): laws.parameter[first]  # the first parameter is the bound
        for kind, element, first in zip(laws.kind, laws.element, laws.first, strict=True)
        if "smoothing" in LAWS[LAW_NAMES[kind]].parameters
    }
    for number, bound in bounds.items():
        for effort in run.force[run.mechanism.forces[number].name].reshape(len(run), -1).T:
            at_bound = np.where(np.abs(effort) > AT_BOUND * bound, np.sign(effort), 0.0)
            turned = at_bound[1:] * at_bound[:-1] < 0.0
            in_a_row = np.lib.stride_tricks.sliding_window_view(turned, IN_A_ROW - 1).all(axis=1)
            if in_a_row.any():
                return number, int(np.argmax(in_a_row))
    return None
