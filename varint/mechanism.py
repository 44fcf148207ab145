"""The `Mechanism` that users write: a description, and what can be asked of it."""

from dataclasses import dataclass
from functools import cached_property

from varint.assembly import make_state
from varint.compile import Compiled, compile_structure
from varint.model.state import State
from varint.model.structure import Structure


@dataclass(frozen=True, eq=False)
class Mechanism(Structure):
    __doc__ = f"""A mechanism. {Structure.__doc__}"""

    @cached_property
    def compiled(self) -> Compiled:
        """Arrays for the kernels and the spanning tree behind them; made at first use."""
        return compile_structure(self)

    def state(
        self, *, coordinates=None, rates=None, position=None, quat_wxyz=None, velocity=None, angular_velocity=None
    ) -> State:
        """A state that satisfies all joints, holding what is given; without arguments, the mechanism's ``start``.

        Parameters
        ----------
        coordinates, rates : dict
            Joint name to its coordinates (m, rad) and their rates; a number where there is one.
        position, quat_wxyz : dict
            Body name to centre of mass (3,), m, world, and orientation (4,).
        velocity, angular_velocity : dict
            Body name to velocity (3,), m/s, world, and angular velocity (3,), rad/s, body.

        In a tree, joints not named keep the coordinates of the reference configuration and do not
        move; in a loop they follow. A loop is driven to its coordinates in small pieces, on the
        branch of the reference configuration. What is given of a body is held against the others, as far as
        the joints allow.

        Raises
        ------
        StateError
            Unknown names, wrong shapes, no such velocity.
        AssemblyError
            The joints cannot be closed; names the one that stays open.
        """
        given = {
            "coordinates": coordinates,
            "rates": rates,
            "position": position,
            "quat_wxyz": quat_wxyz,
            "velocity": velocity,
            "angular_velocity": angular_velocity,
        }
        if all(value is None for value in given.values()):
            given |= self.start
        return make_state(self, **given)

    @property
    def rows(self) -> int:
        """Number of scalar constraints, redundant ones included."""
        return self.compiled.plan.row_c.size
