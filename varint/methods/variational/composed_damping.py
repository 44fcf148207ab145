"""Compositions of orders 4 to 8 refuse dissipative forces that they may amplify.

A stage of size g h multiplies the momentum along a damper by (1 - g z / 2) / (1 + g z / 2), z = c h / m. A negative
stage has a pole at z = -2 / g, about which the product over the stages is above one: a band of z where any velocity
grows without bound. Slopes of dry friction go from zero to their largest, so that they are in a band for some speed if
that one is beyond its lower end. Below, dry friction comes to rest too.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from varint.base.errors import ArgumentError, VarintError
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.schemes import Scheme
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

RESISTANCE, SLIDING = (LOAD_NAMES.index(name) for name in ("resistance", "sliding"))
SAMPLES = 24  # poses at which inertias are looked at, beside that of the start
SLACK = 1.5  # times less than at these poses, or more, inertias of a run may be
LESS = 0.9  # times the step that would be at the lower end of a band: the one that is proposed
NEAR = 0.02  # relative: a z that is the same in all poses and as near to a band as that is in it


class AmplifiedError(ArgumentError):
    """A composition may amplify what a dissipative force damps."""


class Damping(NamedTuple):
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


def refuse_amplified(mechanism: Mechanism, scheme: Scheme, dt: float, state: State, adaptive: bool = False) -> None:
    """Raise AmplifiedError for a dissipative force that steps of ``dt``, s, of a composition may amplify.

    z is bounded for the whole run by the bodies' own inertias. If that does not suffice, by the inertias with all
    joints at the pose of the start and at SAMPLES more, with SLACK; those of a body on one joint with one coordinate
    are the same in all poses. Where slopes are constant, and steps not ``adaptive``, all z may lie beyond a band.
    """
    bands = scheme.amplified
    if not len(bands):
        return
    damping = _damping_at(mechanism, state)
    if not damping.slope.size:
        return
    ranges = _all_z(_free_mobility(mechanism, damping), damping, dt)
    if ranges.largest < bands[0, 0]:
        return
    if not set().union(*mechanism.force_traits) & set(USES["reactions"].refuses):
        ranges = _all_z(_mobility(mechanism, state, damping), damping, dt)
        slack = 1.0 + NEAR if _is_alone(mechanism, damping) else SLACK
        for pose in _poses(mechanism, state) if slack == SLACK else ():
            at_pose = _damping_at(mechanism, pose)  # the same efforts in the same order, but for quadratic drag
            if len(at_pose.slope) == len(damping.slope):
                at_pose = damping._replace(gradient=at_pose.gradient)
                ranges = ranges.with_other(_all_z(_mobility(mechanism, pose, at_pose), at_pose, dt))
        constant = bool(damping.constant.all()) and not adaptive
        if not ranges.reach(bands, slack, constant):
            return
    n, z = ranges.effort, ranges.largest
    raise AmplifiedError(
        f"{mechanism.forces[damping.force[n]].label} damps by up to {damping.slope[n]:.4g} (SI units), which is"
        f" {z:.4g} for c dt / m with dt = {dt:g} s and the least inertia m that it may move. Scheme '{scheme.name}' of"
        f" order {scheme.order} amplifies such motion at values from {bands[0, 0]:.4g} to {bands[0, 1]:.4g}. Take"
        f" order=2, which damps at any step, or dt below {LESS * dt * bands[0, 0] / z:.2g} s"
    )


class _Ranges(NamedTuple):
    """Ranges of z of the motions that are damped: least and largest of each, and the effort with the largest."""

    least: np.ndarray
    most: np.ndarray
    effort: int

    @property
    def largest(self) -> float:
        """Return the largest z."""
        return float(self.most[-1])

    def with_other(self, other: "_Ranges") -> "_Ranges":
        """Return the ranges over both."""
        effort = other.effort if other.largest > self.largest else self.effort
        return _Ranges(np.minimum(self.least, other.least), np.maximum(self.most, other.most), effort)

    def reach(self, bands: np.ndarray, slack: float, constant: bool) -> bool:
        """Return whether a motion may be in a band, or through it where slopes are not ``constant``."""
        if not constant:
            return bool(slack * self.largest >= bands[0, 0])
        least, most = self.least[:, None] / slack, self.most[:, None] * slack
        return bool(((most >= bands[:, 0]) & (least <= bands[:, 1])).any())


def _damping_at(mechanism: Mechanism, state: State) -> Damping:
    """Return the dissipative efforts of the forces at ``state``."""
    compiled, nb = mechanism.compiled, len(mechanism.bodies)
    plan, rows = compiled.plan, list[tuple[int, float, bool, np.ndarray]]()
    laws, measures, loads = plan.laws, plan.measures, plan.loads
    slopes = [_steepness(plan, f) for f in range(laws.kind.size)]
    gradient = gradients_at(mechanism, state) if any(slopes) else np.zeros((measures.kind.size, 2, 6))
    slots = np.append(compiled.order, nb)  # the body of each slot, the world last
    for s in range(laws.sum_law.size - 1):
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
    forces, slopes_of_rows, alike = (np.array([row[k] for row in rows]) for k in range(3))
    return Damping(forces, slopes_of_rows, alike, np.array([row[3] for row in rows]).reshape(-1, nb, 6))


def _steepness(plan: Plan, f: int) -> float:
    """Return the largest slope of law ``f`` against its rate."""
    law, first = LAWS[LAW_NAMES[plan.laws.kind[f]]], plan.laws.first[f]
    numbers = plan.laws.parameter[first : first + len(law.parameters)].tolist()
    return law.steepness(dict(zip(law.parameters, numbers, strict=True)))


def _free_mobility(mechanism: Mechanism, damping: Damping) -> np.ndarray:
    """Return rates (n, n) by unit impulses along the efforts, of bodies without joints: no run has larger ones."""
    mass = np.array([body.mass for body in mechanism.bodies])
    inverse = np.linalg.inv([body.inertia for body in mechanism.bodies])
    push, turn = damping.gradient[..., :3], damping.gradient[..., 3:]
    answer = np.concatenate([push / mass[:, None], np.einsum("bij,nbj->nbi", inverse, turn)], axis=2)
    return np.einsum("nbk,mbk->nm", damping.gradient, answer)


def _mobility(mechanism: Mechanism, state: State, damping: Damping) -> np.ndarray:
    """Return rates (n, n) by unit impulses along the efforts, of bodies in their joints at ``state``."""
    nodes = 1 + len(damping.slope)
    load = np.concatenate([np.zeros((1, *damping.gradient.shape[1:])), damping.gradient])
    x, q = (np.repeat(array[None], nodes, axis=0) for array in (state.position, state.quat_wxyz))
    still = np.zeros((nodes, len(mechanism.bodies), 3))
    acceleration = accelerations_and_reactions(mechanism, load, x, q, still, still)[0]
    return np.einsum("nbk,mbk->nm", damping.gradient, acceleration[1:] - acceleration[0])


def _all_z(mobility: np.ndarray, damping: Damping, dt: float) -> _Ranges:
    """Return c dt / m of all motions that are damped."""
    root = np.sqrt(dt * damping.slope)
    matrix = root[:, None] * mobility * root
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return _Ranges(values, values, int(np.argmax(np.abs(vectors[:, -1]))))


def _is_alone(mechanism: Mechanism, damping: Damping) -> bool:
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
    """Yield states with random coordinates of joints, those that can be assembled; none for mechanisms with loops."""
    rng, length = np.random.default_rng(0), mechanism.compiled.length
    joints = [joint for joint in mechanism.joints if 0 < joint.dof < 6]
    for _ in range(0 if mechanism.compiled.topology.clusters else SAMPLES):
        reach = {joint.name: np.where(_slides(joint), length, np.pi) for joint in joints}
        try:
            yield mechanism.state(coordinates={name: rng.uniform(-size, size) for name, size in reach.items()})
        except VarintError:
            continue


def _slides(joint: Joint) -> np.ndarray:
    """Return which (dof,) of the coordinates of a joint are displacements."""
    return np.array([isinstance(motion, Slide) for motion in joint.allowed for _ in range(motion.size)])
