"""Configuration and velocity of every body."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, choice, quaternion_components, whole_number
from varint.base.display import Shown, count_text, field_facts, html_table, numbers_text
from varint.base.errors import StateError
from varint.model.rotation_vectors import rotation_matrix

LISTED = 30  # bodies in a notebook
BEYOND_STOPS = REFUSE, COME_BACK = "refuse", "come back"


@dataclass(frozen=True, eq=False)
class State(Shown):
    """Pose and velocity of the nb bodies of a mechanism, in the order of its description, and what poses do not say.

    Made by ``Mechanism.state``, which makes it consistent with the joints. ``quat_wxyz`` may be given as an array (nb,)
    of numpy-quaternions.

    Forces and stops count the turns of angles, and laws may have internal variables, as the integral of a servo. A
    state carries both: those of a run and of `Mechanism.state` do. One that is made of poses alone has no ``turns``:
    its angles are the nearest to zero, or to the middle of the range that stops leave them, where that is up to one
    turn. Where stops leave an angle more than that, a run that starts there gives a TurnsWarning. Without ``memory``
    internal variables start at the values that the force describes.

    Steps of one size by methods of one step go on from a node of a run as the run does. A node is not all where steps
    depend on those before: of order 1, "bdf2" and adaptive steps, which give a RestartWarning, and of error control,
    which goes on within its tolerances; ``resume=True`` and `Stepper.restore` go on with these.
    """

    position: np.ndarray  # (nb, 3) centre of mass, m, world
    quat_wxyz: np.ndarray  # (nb, 4) body to world, unit
    velocity: np.ndarray  # (nb, 3) m/s, world
    angular_velocity: np.ndarray  # (nb, 3) rad/s, body
    # joint name to its coordinates (dof,), m, rad, with all turns; NaN or no entry: the nearest, see above
    turns: Mapping[str, np.ndarray] = field(default_factory=dict, kw_only=True)
    # force name to the internal variables (n,) of its laws; no entry: those at the start of a run
    memory: Mapping[str, np.ndarray] = field(default_factory=dict, kw_only=True)
    # what a run does that starts here beyond a hard stop: REFUSE or COME_BACK, see `Mechanism.state`
    beyond_stops: str = field(default=REFUSE, kw_only=True)
    # of a node after the first of a run: the name of the method of that run, see `check_restart`
    made_by: str = field(default="", kw_only=True)
    # m, of such a node of a run in reduced coordinates, which may open loops: the largest violation of a joint
    open_by: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        if self.beyond_stops not in BEYOND_STOPS:
            choice(self.beyond_stops, BEYOND_STOPS, "beyond_stops of the state", StateError)
        if isinstance(self.quat_wxyz, np.ndarray):
            object.__setattr__(self, "quat_wxyz", quaternion_components(self.quat_wxyz))

    @staticmethod
    def of_block(block: np.ndarray, turns: Mapping[str, np.ndarray]) -> "State":
        """Return the state of a block (5, nb, 3) that nothing else has, without checks, which take as long as a step.

        It has positions, velocities, angular velocities, and quaternions in what follows, see `state_block`.
        """
        state: State = object.__new__(State)
        attributes = state.__dict__
        attributes["_block"], attributes["position"], attributes["_turns"] = block, block[0], turns
        return state

    def __getstate__(self) -> dict[str, object]:
        """Return the attributes, all parts of a block among them."""
        for name in _PARTS:
            getattr(self, name)
        return {name: value for name, value in vars(self).items() if name not in ("_block", "_turns")}

    def of_bodies(self, *motion: np.ndarray) -> "State":
        """Return the state with other poses and velocities of the bodies, in the order of the fields, and its turns."""
        x, quat, v, w = motion
        return replace(self, position=x, quat_wxyz=quat, velocity=v, angular_velocity=w)

    def copied(self) -> "State":
        """Return the same state with arrays of its own, where they can be written to."""
        motion = (self.position, self.quat_wxyz, self.velocity, self.angular_velocity)
        arrays = (array.copy() if array.flags.writeable else array for array in motion)
        turns, memory = ({name: values.copy() for name, values in each.items()} for each in (self.turns, self.memory))
        return replace(self.of_bodies(*arrays), turns=turns, memory=memory)

    @property
    def orientation(self) -> np.ndarray:
        """Return orientations (nb,), a numpy-quaternion array of ``quat_wxyz``."""
        import quaternion  # slow to import, so only on demand

        return quaternion.as_quat_array(self.quat_wxyz)

    def point(self, body: int, place: "ArrayLike" = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Return the position (3,) of a point fixed to a body, m, world.

        ``body``: its number, ``mechanism.body_index[name]``. ``place``: the point (3,), m, from the centre of mass in
        body axes. Raises StateError for a number that no body has, and for what is no point.
        """
        number, arm, _ = self._lever(body, place)
        return self.position[number] + arm

    def point_velocity(self, body: int, place: "ArrayLike" = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Return the velocity (3,) of a point fixed to a body, m/s, world; arguments and errors as in `point`."""
        number, arm, rotation = self._lever(body, place)
        return self.velocity[number] + np.cross(rotation @ self.angular_velocity[number], arm)

    def _lever(self, body: int, place: ArrayLike) -> tuple[int, np.ndarray, np.ndarray]:
        """Return the body's number, the point seen from its centre of mass (3,), m, world, and its rotation matrix."""
        if isinstance(body, str):
            raise StateError(
                f"a state knows bodies by their numbers: mechanism.point(state, {body!r}, point) takes the name and a"
                f" point of the reference configuration; or give mechanism.body_index[{body!r}] for {body!r}, and"
                " the place from its centre of mass in body axes"
            )
        number = whole_number(body, "number of a body", 0, StateError, len(self.position) - 1)
        rotation = rotation_matrix(self.quat_wxyz[number])
        return number, rotation @ array_of(place, (3,), "place of a point", StateError), rotation

    def _facts(self) -> Iterable[str]:
        if not self._is_whole:
            yield from field_facts(self)
            return
        yield count_text(len(self.position), "body", "bodies")
        yield f"centres from {numbers_text(self.position.min(axis=0))} to {numbers_text(self.position.max(axis=0))} m"
        if not (np.any(self.velocity) or np.any(self.angular_velocity)):
            yield "at rest"
            return
        fastest = (np.linalg.norm(speed, axis=1).max() for speed in (self.velocity, self.angular_velocity))
        yield "speeds up to {:.4g} m/s and {:.4g} rad/s".format(*fastest)

    @property
    def _is_whole(self) -> bool:
        """Return whether all arrays have the shapes of a state of a mechanism."""
        arrays = self._arrays
        plain = all(isinstance(a, np.ndarray) and a.ndim == 2 and a.size and a.dtype.kind in "iuf" for a in arrays)
        return plain and len({len(array) for array in arrays}) == 1

    @property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        return self.position, self.quat_wxyz, self.velocity, self.angular_velocity

    def _repr_html_(self) -> str | None:
        if not self._is_whole:
            return None  # and the notebook takes the repr
        speeds = "velocity (m/s)", "angular velocity (rad/s)"
        columns = ("body number", "position (m)", "orientation (w, x, y, z)", *speeds)
        rows = [(i, *map(numbers_text, row)) for i, row in enumerate(zip(*self._arrays, strict=True))]
        return html_table(columns, rows, repr(self), LISTED)


class _BlockPart:
    """A field of a `State.of_block`, which is made of the block and the turns when it is first read.

    Most readers want one of the fields, and making all of them takes as long as a step.
    """

    def __init__(self, name: str, take: "Part") -> None:
        self.name, self.take = name, take

    def __get__(self, state: State | None, owner: type | None = None) -> object:
        attributes = {} if state is None else vars(state)
        if "_block" not in attributes:
            raise AttributeError(f"a State without {self.name}")
        part = attributes[self.name] = self.take(attributes["_block"], attributes["_turns"])
        return part


def state_block(bodies: int) -> tuple[np.ndarray, ...]:
    """Return a block of zeros for `State.of_block`, and its position, quaternions, velocity and angular velocity."""
    block = np.zeros((5, bodies, 3))
    return block, *(_PARTS[name](block, {}) for name in ("position", "quat_wxyz", "velocity", "angular_velocity"))


Part = Callable[[np.ndarray, Mapping[str, np.ndarray]], Any]
_PARTS: dict[str, Part] = {
    "position": lambda block, turns: block[0],
    "velocity": lambda block, turns: block[1],
    "angular_velocity": lambda block, turns: block[2],
    "quat_wxyz": lambda block, turns: block[3:].reshape(-1)[: 4 * block.shape[1]].reshape(-1, 4),
    "turns": lambda block, turns: dict(turns),
    "memory": lambda block, turns: {},
}
for _name, _take in _PARTS.items():
    setattr(State, _name, _BlockPart(_name, _take))  # not in the class: a dataclass would take it for a default
