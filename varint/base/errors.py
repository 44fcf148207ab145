"""Everything that varint raises on purpose.

VarintError
|-- MechanismError       a body, a joint or their graph is not a mechanism        (ValueError)
|-- StateError           a configuration or velocity that cannot be used          (ValueError)
|   `-- AssemblyError    no configuration near the given one satisfies the joints
|-- ArgumentError        a bad argument of a run: dt, duration, order, loads ...  (ValueError)
|   `-- PeerError        another simulator is not installed, or cannot represent a mechanism
|-- ConvergenceError     a step that could not be solved; carries the trajectory  (RuntimeError)
|   `-- UnresolvedError  steps that did not resolve the motion, where asked for
|-- EnsembleError        members of an ensemble failed                            (RuntimeError)
`-- FileError            a file that cannot be read or written                    (OSError)

UnresolvedWarning        the same as UnresolvedError, as a warning                (UserWarning)
LockedWarning            nothing moved, as the joints allow no motion             (UserWarning)
SparseNodesWarning       recorded nodes are too far apart for the result          (UserWarning)
TurnsWarning             an angle may have any number of turns at the start       (UserWarning)
RestartWarning           a run starts from a node that is not all of its state     (UserWarning)
ReplacedRateWarning      a prescribed motion replaces a rate of the start          (UserWarning)
FailedMembersWarning     members of an ensemble failed                            (UserWarning)
KinkWarning              a gradient passes a jump of a force, or is at a kink     (UserWarning)
DegreesWarning           an angle in rad looks like degrees                       (UserWarning)
LeftOutWarning           a part of a file or a force that a result depends on      (UserWarning)
FormatWarning            a file is read in the meaning of an older format         (UserWarning)
"""

from functools import partial
from typing import Any

from varint.base.printable import printable


class VarintError(Exception):
    """Base of all errors raised by varint."""

    def __str__(self) -> str:
        return printable(super().__str__())


class MechanismError(VarintError, ValueError):
    """A body, a joint or their graph does not describe a mechanism."""


class StateError(VarintError, ValueError):
    """A configuration or velocity that cannot be used."""


class AssemblyError(StateError):
    """No configuration near the given one satisfies all joints."""


class ArgumentError(VarintError, ValueError):
    """An argument of a run is out of its range or has the wrong shape."""


class PeerError(ArgumentError):
    """Another simulator is not installed, or has no counterpart of a joint or a force."""


class FileError(VarintError, OSError):
    """A file cannot be read or written."""


class ConvergenceError(VarintError, RuntimeError):
    """A step could not be solved, not even in the smallest sub-steps.

    Attributes
    ----------
    time : float
        Start of the failed step, s.
    body, joint : str or None
        Where the residual was largest.
    trajectory : Trajectory
        Everything up to ``time``; ``trajectory.success`` is False.
    """

    def __init__(self, message: str, *, time: float, body: str | None, joint: str | None, trajectory: Any) -> None:
        super().__init__(message)
        self.time = time
        self.body = body
        self.joint = joint
        self.trajectory = trajectory

    def __reduce__(self) -> tuple:
        """Return all parts for copying and pickling, as from a worker process: message, attributes, trajectory."""
        named = {"time": self.time, "body": self.body, "joint": self.joint, "trajectory": self.trajectory}
        return partial(type(self), **named), self.args, self.__dict__


class UnresolvedError(ConvergenceError):
    """Steps did not resolve the motion, and ``on_unresolved="raise"`` was asked for.

    ``time``, s, is the first of `Trajectory.unresolved`, or of a motor's; the trajectory is that of the whole run.
    """


class EnsembleError(VarintError, RuntimeError):
    """Members of an ensemble failed; ``varint ensemble`` ends with it."""


class VarintWarning(UserWarning):
    """Base of the warnings of varint, whose texts have no control characters."""

    def __str__(self) -> str:
        return printable(super().__str__())


class UnresolvedWarning(VarintWarning):
    """Steps did not resolve the motion, which may gain or lose energy without a reason, or the effort of a motor, or
    turn a body that spins further than its angular velocity says.

    The message proposes a step that resolves the motion around there, or says that shorter steps do not.
    """


class SparseNodesWarning(VarintWarning):
    """Recorded nodes are too far apart to know the motion in between, or the turns of a body.

    A body turns by more than half a turn from one to the next, or its velocity in between is inaccurate, by an
    estimate; or velocities along a strongly damped beam change sign from node to node. Use a smaller ``every``.
    """


class TurnsWarning(VarintWarning):
    """Poses do not say how many turns an angle between wide stops has at the start: `State.turns` of a state do."""


class RestartWarning(VarintWarning):
    """A run starts from a node of a run by the same method, whose steps depend on those before, see `State`."""


class ReplacedRateWarning(VarintWarning):
    """A run starts with the rate of a `PrescribedMotion` in place of the one that its start gives."""


class LockedWarning(VarintWarning):
    """A mechanism did not move, though a force with an input acts, or a sweep ended, as joints allow no motion."""


class FailedMembersWarning(VarintWarning):
    """Members of an ensemble failed; the table has their messages."""


class KinkWarning(VarintWarning):
    """A run whose gradient is taken passes a jump of an effort, or stands at a kink by one of the numbers."""


class LeftOutWarning(VarintWarning):
    """A part is left out that the result depends on: of an imported file, or a force in a study of a motion."""


class FormatWarning(VarintWarning):
    """A file has no format mark, and a name in it had another meaning then: it is read in that meaning."""


class DegreesWarning(VarintWarning):
    """An angle of a joint or of its stop is a multiple of 15 from 30 to 360 rad: were degrees meant?"""
