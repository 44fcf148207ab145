"""`Lobatto`: variational collocation of orders 4 to 10 in maximal coordinates."""

import functools
import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from varint.base.checks import choice, positive
from varint.base.errors import ArgumentError, ConvergenceError, UnresolvedError, UnresolvedWarning, VarintError
from varint.kinematics.initial_state import checked_arrays, checked_start
from varint.kinematics.start_at_stops import stops_settings
from varint.mechanism.mechanism import Mechanism
from varint.methods.settings import shared_settings
from varint.methods.variational.collocation_march import CollocationMarch
from varint.methods.variational.links import check_links, is_tree_of_hinges
from varint.methods.variational.lobatto_run import LobattoAtTimes, LobattoRun
from varint.methods.variational.massive_paths import check_masses_of_paths
from varint.model.known_forces import USES, Use, refuse
from varint.results.contact_forces import check_depth
from varint.results.derived import energies
from varint.results.dissipation import find_given, without_end_rates
from varint.results.forces import check_laws
from varint.results.inputs.at_nodes import Commands, Loads, starts_of_motions
from varint.results.lagging import find_lagging
from varint.results.resolution import Unresolved
from varint.results.undamped import BY_ORDER_2, diagonal_factor, find_undamped
from varint.runs.method import Method, register, solve
from varint.runs.problem import MOST_STEPS, Problem, Recording
from varint.runs.run import Run
from varint.runs.running import Job
from varint.runs.trajectory import Trajectory

ORDERS = (4, 6, 8, 10)
ON_UNRESOLVED = ("warn", "raise", "ignore")
ROUND_OFF = 1e-9  # of the potential energy: kinetic energies that are smaller do not count
SHORTER = 4  # times shorter steps are tried before they are proposed ...
MOST = 20_000  # ... up to so many
GIVEN = 0.05  # of the largest kinetic energy: what a force that only dissipates may give in a step
UNRESOLVED = 0.01  # of the largest kinetic energy: change of the energy of a motion that the steps do not resolve


@register
@dataclass(frozen=True, eq=False)
class Lobatto(Method):
    """Variational collocation (Lobatto IIIA-IIIB) in maximal coordinates, for trees and loops.

    Symplectic and symmetric where forces have a potential. A step of order 2 s - 2 solves for the poses at s - 1 nodes
    at once, by Newton's method in O(n). At the same small energy error it takes a part of the time of `Variational` of
    orders 4 to 8 (docs/work_precision.md).

    Loops may be closed by any joint, redundant and overconstrained ones too. Joints are closed at all nodes; those
    along splines keep the order between the knots. Forces that depend on pose, velocity, time and an internal
    variable, such as muscles, masses along paths over points, joints with a compliance, rolling wheels, inputs of all
    kinds, loads, prescribed motions and couplings are taken (docs/known_forces.md); the order holds where they are
    smooth, and through the impacts of hard stops and of hard contacts, with friction. Springs need steps
    below about 3 over the frequency of their fastest oscillation.
    Runs have gradients (`gradient`); adaptive steps need `Variational`.

    Parameters
    ----------
    dt : float
        Step, s. One that cannot be solved is divided; where that does not help the run ends with a ConvergenceError.
    order : {4, 6, 8, 10}
    on_unresolved : {"warn", "raise", "ignore"}
        Action at the end of a run whose energy changed by more than 1 % of its largest kinetic energy; without loads
        on bodies (``force``, ``torque``). A `Stepper` has no end and does not watch the energy.

    Raises
    ------
    ArgumentError
    """

    dt: float
    order: int = 8
    on_unresolved: str = ON_UNRESOLVED[0]

    formulation: ClassVar[str] = "lobatto"
    called: ClassVar[str] = "varint.Lobatto"
    option: ClassVar[str] = "--lobatto"
    orders: ClassVar[tuple[int, ...]] = ORDERS

    def __post_init__(self) -> None:
        object.__setattr__(self, "dt", positive(self.dt, "dt", ArgumentError))
        choice(self.order, ORDERS, f"order of {self.called}", ArgumentError)
        choice(self.on_unresolved, ON_UNRESOLVED, "on_unresolved", ArgumentError)

    @property
    def title(self) -> str:
        """The name of the method's series in a comparison."""
        return f"Lobatto order {self.order}"

    @property
    def use(self) -> Use:
        """See `Method`."""
        return USES["collocation steps"]

    def prepare(self, problem: Problem, recording: Recording) -> tuple[Run, Job]:
        """See `Method`."""
        mechanism, steps = problem.mechanism, problem.steps(self.dt)
        times = recording.times(steps * self.dt)
        self.check(mechanism)
        begun = checked_arrays(mechanism, problem.start())
        check_depth(mechanism, begun, mechanism.compiled.length)
        state = checked_start(mechanism, begun)
        check_laws(mechanism, state)
        stride = recording.stride if times is None else MOST_STEPS
        march = CollocationMarch(mechanism, state, self.order // 2 + 1, self.dt, stride)
        loads = Loads(mechanism, march.compiled, steps, problem.force, problem.torque)
        commands = Commands(mechanism, march.compiled, steps, self.dt, starts_of_motions(mechanism, state))
        parts = mechanism, march, state, steps, loads, commands
        run = LobattoRun(*parts) if times is None else LobattoAtTimes(*parts).at(times)
        settings = {
            "formulation": self.formulation,
            "integrator": self.title,
            "dt": self.dt,
            **shared_settings(problem, recording, steps, times, state),
            "order": self.order,
            **stops_settings(state),
        }
        start = (state.position, state.quat_wxyz, state.velocity, state.angular_velocity)
        of_times = [] if times is None else [times]
        inputs = (*start, *state.memory.values(), *loads.arrays(), *commands.arrays(), *of_times)
        steady = None if loads.varies else loads.recorded(np.zeros(1))
        return run, Job(mechanism, settings, inputs, steady, recording)

    def check(self, mechanism: Mechanism) -> None:
        """Raise ArgumentError for the first part of a mechanism that the method does not support."""
        refuse(mechanism, self.use)
        check_masses_of_paths(mechanism)
        check_links(mechanism, self.called)

    @staticmethod
    def cost(mechanism: Mechanism) -> float:
        """Return the cost of a step over that of a tree of as many hinges: loops and other joints take twice as long.

        Measured on fourteen mechanisms of the catalogue: 0.9 to 2 times.
        """
        return 1.0 if is_tree_of_hinges(mechanism) else 2.0

    def _advice(self, trajectory: Trajectory, when: float, most: float) -> str:
        """Return the rest of a message: whether shorter steps keep the energy to ``most``, J, up to ``when``, s.

        Empty where that would be another motion, or takes too long.
        """
        dt = trajectory.settings["dt"] / SHORTER
        if not 0.0 < when <= MOST * dt:
            return ""
        finer = replace(self, dt=dt, order=trajectory.order, on_unresolved="ignore")
        try:
            change = energies(solve(Problem(trajectory.mechanism, when, trajectory[0]), finer))[0]
        except ConvergenceError:
            return f". Steps of {dt:g} s do not either"
        except VarintError:  # inputs with one value a node, or a function of the user that fails in other states
            return ""
        resolved = np.abs(change - change[0]).max() <= most
        return f". Use a smaller dt: {dt:g} s does" if resolved else f". Steps of {dt:g} s do not either"

    def report(self, trajectory: Trajectory, stacklevel: int) -> None:
        """See `Method`."""
        if self.on_unresolved == "ignore" or not len(trajectory.t):
            return
        factor, dt = functools.partial(diagonal_factor, trajectory.order // 2), trajectory.settings["dt"]
        called = f"`Lobatto` of order {trajectory.order}"
        mechanism = trajectory.mechanism
        touches = "contacts" in set().union(*mechanism.force_traits)  # no effort has rates towards the end beside these
        others = np.arange(len(mechanism.forces)) if touches else without_end_rates(mechanism)
        lasting = find_undamped(trajectory, dt, factor, called, BY_ORDER_2, forces=others) if others.size else None
        lasting = lasting or find_lagging(trajectory, dt, factor, called)
        if lasting is not None:
            self._tell(trajectory, lasting, stacklevel + 1)
            return
        load = trajectory.record.load
        if load is None or load.any():  # whose work is known by the recorded nodes alone
            return
        change, kinetic = energies(trajectory)
        change = np.abs(change - change[0])
        weight = sum(body.mass for body in mechanism.bodies) * float(np.linalg.norm(mechanism.gravity))
        scale = max(float(np.max(kinetic)), ROUND_OFF * weight * float(np.max(np.abs(trajectory.position))))
        gain = find_given(trajectory, GIVEN * scale)
        if gain is not None:
            self._tell(trajectory, _unresolved(trajectory, gain, scale), stacklevel + 1)
            return
        if not change.max() > UNRESOLVED * scale:
            return
        when = float(trajectory.t[int(np.argmax(change > UNRESOLVED * scale))])
        advice = self._advice(trajectory, when, UNRESOLVED * scale)
        message = (
            f"steps of {trajectory.settings['dt']:g} s do not resolve the motion: by t = {when:g} s the energy changed"
            f" by more than {UNRESOLVED:.0%} of the largest kinetic energy, {scale:.3g} J{advice}"
        )
        self._tell(trajectory, Unresolved(message, when, None), stacklevel + 1)

    def _tell(self, trajectory: Trajectory, unresolved: Unresolved, stacklevel: int) -> None:
        message, time, body = unresolved
        if self.on_unresolved == "raise":
            raise UnresolvedError(message, time=time, body=body, joint=None, trajectory=trajectory)
        warnings.warn(message, UnresolvedWarning, stacklevel=stacklevel)


def _unresolved(trajectory: Trajectory, gain: tuple[int, int, float], scale: float) -> Unresolved:
    """Return the word about a damper that began to act within a step, see `find_given`; ``scale``: J, of its run."""
    number, node, energy = gain
    begin, end = trajectory.t[node : node + 2].tolist()
    message = (
        f"{trajectory.mechanism.forces[number].label} gave {energy:.3g} J from t = {begin:g} to {end:g} s, where the"
        f" kinetic energy of the run is {scale:.3g} J at most, though it can only store and dissipate energy: its"
        f" damping began within a step that is too long for it. Take {BY_ORDER_2}, or a smaller dt"
    )
    return Unresolved(message, end, None)
