"""Rates that forces at the nodes go by, where springs damped strongly make velocities change sign.

A mode of an element of a beam, of a row of a joint with a compliance or of another spring, with the damping time tau
and the angular frequency w, decays at the rate tau w^2 where that is far above w. A step of order 2 multiplies its
momentum by (1 - s) / (1 + s), s = tau w^2 h / 2. Far above s = 1 it changes sign from node to node and hardly decays,
whatever excited it. Its velocity over a step is smaller by 1 / s than those at the nodes, which are no motion, but the
damping at a node goes by them.
"""

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varint.base.callers import level_of_user
from varint.base.errors import SparseNodesWarning
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.spring import SPRING
from varint.results.forces import Rates, forces_at, reference_gradients
from varint.results.since import turns_before
from varint.step.laws import LAW_NAMES
from varint.step.measures import ANGULAR

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion

STIFF = 2.0  # of s: below, the mode is gone within some steps
EVEN = 1e-9  # of dt: distances of nodes that are those of steps
SHAKES = 2.0  # times the range of a spring's value: by so much a step at the rate at a node would change it
FEW = 5  # nodes: no range is known of fewer
STILL = 1e-13  # rad, or of the size of the mechanism: changes in a step that are round-off
SEEN = 0.05  # of the largest elastic effort: a damping effort that is not the motion's


class StiffDamping(NamedTuple):
    """The springs of a mechanism whose damping steps of some size do not resolve: n laws, each along a sum.

    law, sum : (n,) their numbers in the plan
    stiffness, rest, damping : (n,) of the laws
    size : (n,) s
    angular : (n,) whether the sum is an angle
    """

    law: np.ndarray
    sum: np.ndarray
    stiffness: np.ndarray
    rest: np.ndarray
    damping: np.ndarray
    size: np.ndarray
    angular: np.ndarray


def stiff_damping(mechanism: Mechanism, dt: float) -> StiffDamping:
    """Return the damped springs with s above STIFF in steps of ``dt``, s, by the masses of their own bodies alone.

    In the reference pose.
    """
    plan = mechanism.compiled.plan
    laws, measures, bodies = plan.laws, plan.measures, plan.bodies
    f = np.flatnonzero(laws.kind == LAW_NAMES.index("spring"))
    stiffness, rest, damping = (
        laws.parameter[laws.first[f] + SPRING.parameters.index(name)] for name in ("stiffness", "rest", "damping")
    )
    s = np.searchsorted(laws.sum_law, f, side="right") - 1
    if not (damping * stiffness).any():
        return StiffDamping(*(part[:0] for part in (f, s, stiffness, rest, damping, damping, s > 0)))
    push, turn = np.split(reference_gradients(mechanism), 2, axis=2)
    by_force = np.append(1.0 / bodies.mass, 0.0)  # and of the world
    by_torque = np.concatenate([bodies.inverse_inertia, np.zeros((1, 3, 3))])
    mobility = np.sum(push * push, axis=2) * by_force[measures.body]
    mobility = np.sum(mobility + np.einsum("msi,msij,msj->ms", turn, by_torque[measures.body], turn), axis=1)
    before = np.concatenate([[0.0], np.cumsum(mobility)])
    size = 0.5 * dt * damping * (before[laws.sum_first[s + 1]] - before[laws.sum_first[s]])
    chosen = (size > STIFF) & (stiffness > 0.0)
    angular = ANGULAR[measures.kind[laws.sum_first[s]]]
    return StiffDamping(*(part[chosen] for part in (f, s, stiffness, rest, damping, size, angular)))


def rates_of_steps(run: "RecordedMotion") -> Rates | None:
    """Return the rates at which forces of the `StiffDamping` of a run are evaluated at its nodes.

    Where springs are damped strongly, in runs of order 2 of which each node is recorded, they are the means of the
    changes over the steps before and after a node over dt, at the first node of a run its own, at the last in line with
    those before. None for other runs, whose forces go by the velocities at the nodes.
    """
    if not has_means(run):
        return None
    dt, sums = run.settings["dt"], np.unique(stiff_damping(run.mechanism, run.settings["dt"]).sum)
    motion = run.position, run.quat_wxyz, run.velocity, run.angular_velocity
    at_nodes = forces_at(run.mechanism, *motion, run.command, run.law_states, turns_before(run))
    over_steps, rates = np.diff(at_nodes.value[:, sums], axis=0) / dt, at_nodes.rate[:, sums]
    rates[1:-1] = 0.5 * (over_steps[1:] + over_steps[:-1])
    if run.t[0] > 0.0:
        rates[0] = 2.0 * rates[1] - rates[2]
    rates[-1] = 2.0 * rates[-2] - rates[-3]
    return Rates(sums, rates)


OF_WHOLE = "_forces_of_whole"  # attribute of a part of a run that has the forces of the whole, which are means


def has_means(run: "RecordedMotion") -> bool:
    """Return whether forces are evaluated at mean rates over steps, see `rates_of_steps`."""
    settings = run.settings
    if "scheme" not in settings or run.order != 2 or settings.get("turn") is not None or len(run) < 4:
        return False
    if not stiff_damping(run.mechanism, settings["dt"]).law.size:
        return False
    late = np.abs(np.diff(run.t) - settings["dt"]).max()
    return bool(late <= EVEN * settings["dt"] + 4.0 * np.spacing(run.t[-1]))


def warn_of_shaking(run: "RecordedMotion") -> None:
    """Give a SparseNodesWarning if forces at the nodes go by velocities that are no motion.

    That is, if at the rate at a node the value of a spring would change in a step by more than SHAKES times its range
    over the run, and its damping is more than SEEN of the largest elastic effort of such springs.
    """
    if "scheme" not in run.settings or run.order == 1 or len(run) < FEW or has_means(run):
        return
    if OF_WHOLE in vars(run):
        return
    dt, mechanism = run.settings["dt"], run.mechanism
    stiff = stiff_damping(mechanism, dt)
    if not stiff.law.size:
        return
    motion = run.position, run.quat_wxyz, run.velocity, run.angular_velocity
    at_nodes = forces_at(mechanism, *motion, run.command, run.law_states, turns_before(run))
    value, rate = at_nodes.value[:, stiff.sum], np.abs(at_nodes.rate[:, stiff.sum])
    elastic = (stiff.stiffness * np.abs(value - stiff.rest)).max(axis=0)
    largest = np.array([elastic[stiff.angular == angular].max() for angular in stiff.angular])
    still = STILL * np.where(stiff.angular, 1.0, mechanism.compiled.length)
    moves = rate * dt > np.maximum(SHAKES * np.ptp(value, axis=0), still)
    seen = (stiff.damping * rate > SEEN * largest) & moves
    shaking = np.flatnonzero(seen.any(axis=0))
    if shaking.size:
        worst = shaking[np.argmax(stiff.size[shaking])]
        compiled = mechanism.compiled
        force = mechanism.forces[compiled.force[compiled.plan.laws.element[stiff.law[worst]]]]
        warnings.warn(
            f"{force.label} has a damping time of {stiff.damping[worst] / stiff.stiffness[worst]:g} s, and steps of"
            f" {dt:g} s do not resolve how fast that ends motion along it: velocities change sign from node to"
            " node, and with them reactions and forces of beams and hard contacts. Record each node, every=1, at order"
            " 2: these forces are then means of two steps. Or take a smaller damping time: this then dies out sooner",
            SparseNodesWarning,
            stacklevel=level_of_user(),
        )
