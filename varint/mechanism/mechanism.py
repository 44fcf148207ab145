"""The `Mechanism` that users write: its description and its kinematic analyses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, checked_call, known_name, sequence_of
from varint.base.display import html_table, names_text, numbers_text, value_text
from varint.base.errors import ArgumentError, MechanismError
from varint.kinematics.assembly import assemble, checked_state, make_state, with_checked_arrays
from varint.kinematics.diagnosis import Diagnosis, diagnose
from varint.kinematics.followers import with_start
from varint.kinematics.frames import in_body
from varint.kinematics.joint_reader import JointReader
from varint.mechanism.assembly_modes import AssemblyModes
from varint.mechanism.inverse_kinematics import Target, pose
from varint.mechanism.mode_search import assembly_modes
from varint.mechanism.shown_state import ShownState
from varint.mechanism.sweep import ON_LOCKUP, Sweep, sweep
from varint.mechanism.sweep_pool import SweepPool
from varint.model.degrees import warn_of_degrees
from varint.model.forces.base import Force
from varint.model.forces.joint_compliance import JointCompliance
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.joints.base import Joint
from varint.model.motion import coordinate_units
from varint.model.start_arguments import MOTION_KEYS
from varint.model.state import REFUSE, State
from varint.model.structure import Structure
from varint.plan import CompiledStructure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Removed = str | type[Force]  # see `Mechanism.with_forces`
VELOCITY_KEYS = ("rates", "velocity", "angular_velocity")  # the keys of ``start`` that are not poses
# units of the keys of ``start`` that set bodies; those of coordinates and rates depend on the joint
BODY_UNITS = {"position": "m", "quat_wxyz": "", "velocity": "m/s", "angular_velocity": "rad/s"}


@checked_call
@dataclass(frozen=True, eq=False)
class Mechanism(CompiledStructure):
    __doc__ = Structure.__doc__
    # appended to the error message if a text is passed where a mechanism is required, see `varint.base.checks.of_type`
    _from_text = ": vi.mechanisms holds the catalogue, vi.load_mechanism reads a file"

    @cached_property
    def rigid_twin(self) -> Mechanism:
        """Return the mechanism with all joints rigid; itself if no joint has a compliance."""
        if all(joint.compliance is None for joint in self.joints):
            return self
        joints = [replace(joint, compliance=None, damping_time=None) for joint in self.joints]
        return replace(self, joints=joints)

    def replace(self, **parts: Any) -> Mechanism:
        """Return a copy with other ``parts``, by the names that `Mechanism` takes: ``forces=[...]``, ``gravity=(...)``.

        Everything else is kept, also the import report and the meshes of the bodies that remain. Raises WrongArguments
        for an unknown name, MechanismError if the parts do not fit together.
        """
        return replace(self, **parts)

    def with_forces(self, *, add: Force | Sequence[Force] = (), remove: Removed | Sequence[Removed] = ()) -> Mechanism:
        """Return a copy without the forces ``remove`` and with the forces ``add`` at the end.

        Parameters
        ----------
        add : Force, or sequence of Force
        remove : str or type, or sequence of these
            Names of forces, or classes, of which all forces are removed: ``vi.JointStop``.

        Raises
        ------
        MechanismError
            No force has the name or is of the class; a force to remove is the compliance of a joint; two forces have
            the same name.
        """
        removed = {
            name for one in _listed(remove, str | type, "remove", "names or classes") for name in self._named(one)
        }
        staying = (force for force in self.forces if force.name not in removed)
        return replace(self, forces=[*staying, *_listed(add, Force, "add", "forces")])

    def _named(self, which: Removed) -> list[str]:
        """Return the names of the forces that a name or a class selects."""
        label = f"remove: mechanism {value_text(self.name)} has no force"
        if isinstance(which, type):
            names = [force.name for force in self.forces if isinstance(force, which)]
            if not names:
                kinds = names_text(dict.fromkeys(type(force).__name__ for force in self.forces))
                raise MechanismError(f"{label} of class {which.__name__}" + (f": there are {kinds}" if kinds else ""))
        else:
            names = [known_name(which, self.force_index, label)]
        for name in names:
            if isinstance(force := self.force(name), JointCompliance):
                raise MechanismError(f"remove: {force.label} belongs to its joint: set compliance=None on the joint")
        return names

    def state(
        self,
        *,
        coordinates: Mapping[str, ArrayLike] | None = None,
        rates: Mapping[str, ArrayLike] | None = None,
        position: Mapping[str, ArrayLike] | None = None,
        quat_wxyz: Mapping[str, ArrayLike] | None = None,
        velocity: Mapping[str, ArrayLike] | None = None,
        angular_velocity: Mapping[str, ArrayLike] | None = None,
        beyond_stops: str = REFUSE,
    ) -> State:
        """Return a state that satisfies all joints, at specified coordinates and rates, near specified poses of bodies.

        If neither joints nor bodies are specified, all values of ``start`` apply.

        Parameters
        ----------
        coordinates, rates : dict
            Joint name to its coordinates (m, rad) or their rates (m/s, rad/s): (dof,), or a number if the joint has one
            coordinate.
        position, quat_wxyz : dict
            Body name to centre of mass (3,), m, world, or orientation (4,), a quaternion w, x, y, z, body to world.
        velocity, angular_velocity : dict
            Body name to velocity (3,) of the centre of mass, m/s, world, or angular velocity (3,), rad/s, body axes.
        beyond_stops : str
            What a run does if it starts beyond a hard stop, by more than 1e-8 rad (angles) or 1e-8 times the size of
            the largest body (lengths). "refuse": it raises StateError. "come back": the stop returns the joint
            coordinate, or the measured length, to its limit: the violation decays at a rate of 5 / s (``baumgarte`` of
            `varint.redmax`), or faster if other forces help. Overlapping contacts are refused in both cases.

        Named joints have exactly the specified coordinates and rates. Named bodies come as close to their poses and
        velocities as the joints allow; the joints that carry them follow.

        Any other joint moves only if a loop, a coupling or a force with a constraint connects it to a joint that is
        named or carries a named body; its motion starts from the reference configuration. The rest keep the
        coordinates of ``start`` if ``coordinates`` are specified, else those of the reference configuration.

        A loop is moved to the specified coordinates in small steps, on the branch of the reference configuration. The
        path skips full turns that leave the pose unchanged, unless couplings count them.

        Rates that these arguments leave open are the smallest ones, by least squares: the angular rates of joints are
        minimised first, then the linear ones, as far as they are still free. So a base on driven wheels does not pitch.
        Compliant joints are treated as rigid. If only coordinates and rates are specified, beams move as rigid bodies,
        and deform only if the joints require it.

        The state stores the specified coordinates including full turns: springs, stops and servos start from them. If a
        joint is set only through poses of bodies, its angle is the one nearest to zero, or to the middle of the range
        between its stops. If this choice is ambiguous, because the stops allow more than one turn, a run from this
        state issues a TurnsWarning.

        Raises
        ------
        StateError
            Unknown names, wrong shapes, numbers above 1e15, an unknown ``beyond_stops``, rates that the joints do not
            allow, coordinates of a loop or a coupling more than 200 rad, or 200 times the size of the largest body,
            from the reference configuration.
        AssemblyError
            The joints cannot be closed: the message names the loop, the open joints and their gaps.
        """
        arguments = {
            "coordinates": coordinates,
            "rates": rates,
            "position": position,
            "quat_wxyz": quat_wxyz,
            "velocity": velocity,
            "angular_velocity": angular_velocity,
        }
        if all(value is None for value in arguments.values()):
            state = self._start_state.copied()
        else:
            twin = self.rigid_twin
            # `make_state` names an argument that is no mapping
            by_name = {name: value if isinstance(value, Mapping) else {} for name, value in arguments.items()}
            if by_name["coordinates"]:
                bodies, start = {**by_name["position"], **by_name["quat_wxyz"]}, self.start.get("coordinates")
                arguments["coordinates"] = with_start(twin, twin.compiled, by_name["coordinates"], start, bodies)
            state = make_state(twin, lambda: twin.compiled, **arguments)
            warn_of_degrees(self, by_name["coordinates"])
        return state if beyond_stops == REFUSE else replace(state, beyond_stops=beyond_stops)

    @cached_property
    def _start_state(self) -> State:
        """Return the state at the values of ``start``, which is made once."""
        twin = self.rigid_twin
        arguments = dict.fromkeys(MOTION_KEYS) | dict(self.start)
        return make_state(twin, lambda: twin.compiled, **arguments)

    def assemble(
        self,
        guess: State,
        hold: str | Iterable[str] = (),
        *,
        coordinates: Mapping[str, ArrayLike] | None = None,
        rates: Mapping[str, ArrayLike] | None = None,
    ) -> State:
        """Return the state nearest to ``guess``, on the same branch, that satisfies all joints.

        Parameters
        ----------
        guess : State
            Approximate poses and velocities; the poses may be wrong by up to about a fifth of the size of the bodies.
            Its ``turns`` and ``memory`` are kept, see `State`.
        hold : str or sequence of str
            Names of bodies and joints. A body keeps its pose and velocity of the guess, a joint its coordinates and
            rates, measured at the guess.
        coordinates, rates : dict
            Joint name to coordinates (m, rad) or rates (m/s, rad/s), satisfied exactly: (dof,), or a number if the
            joint has one coordinate. For a joint in ``hold``, ``rates`` replace those of the guess.

        All other poses and velocities change as little as possible in the kinetic-energy metric. If that does not close
        the joints, as with compact bodies of very small inertia, the changes are weighted by the lengths of the bodies
        instead. Compliant joints are not closed along their compliant directions.

        Raises
        ------
        StateError
            An invalid guess, an unknown name, a joint that is in both ``hold`` and ``coordinates``, or rates that the
            joints do not allow.
        AssemblyError
            The joints cannot be closed: the message names the loop, the open joints and their gaps.
        """
        return assemble(self, self.compiled, guess, hold, coordinates, rates)

    def sweep(
        self,
        joint: str | tuple[str, int],
        values: ArrayLike,
        state: State | None = None,
        *,
        on_lockup: str = ON_LOCKUP[0],
    ) -> Sweep:
        """Return the configurations of the mechanism as a joint coordinate passes through ``values``, without dynamics.

        Parameters
        ----------
        joint : str or (str, int)
            A joint with one coordinate, or a joint and the index of its coordinate, from 0.
        values : array_like (T,)
            m or rad; angles may exceed pi. The mechanism moves continuously from ``state`` to the first value and from
            each value to the next, on its branch. Remaining degrees of freedom move as little as possible in the
            kinetic-energy metric.
        state : State, optional
            Initial configuration; default: ``state()``. Its velocities are not used.
        on_lockup : str
            If the mechanism locks, the sweep ends there: its arrays have fewer rows than ``values``, and `Sweep.lockup`
            is the value at which it locks. "warn", the default, also issues a LockedWarning; "ignore" does not.

        Returns
        -------
        Sweep
            Poses and coordinates, one row per value reached.

        Raises
        ------
        ArgumentError
            No such joint or coordinate, values that are not finite numbers, a path longer than 1000 rad, or than
            1000 times the size of the largest body, or with more than 10000 steps between values.
        StateError
            A state that does not match the bodies.
        AssemblyError
            The joints cannot be closed at ``state``.
        """
        return sweep(self._sweep_pool, joint, values, state, on_lockup)

    @cached_property
    def _sweep_pool(self) -> SweepPool:
        """Return the equations that sweeps of this mechanism share."""
        return SweepPool(self.rigid_twin, self.rigid_twin.compiled, self.state)

    def pose(
        self, targets: Mapping[Target, ArrayLike], *, hold: str | Iterable[str] = (), state: State | None = None
    ) -> State:
        """Return a state at rest in which points of bodies are at ``targets``: inverse kinematics.

        Parameters
        ----------
        targets : mapping
            (body, point) to (3,), m, world: where the point is to be. ``point`` (3,): its position in the reference
            configuration, m, world, as in `point`. A body's name alone stands for its centre of mass. Three points of a
            body fix its orientation.
        hold : str or sequence of str
            Names of bodies that stay, and of joints that keep their coordinates, such as the `Free` joint of a base.
        state : State, optional
            Pose from which the search begins; default: ``state()``. The mechanism moves from there in small steps, as
            little as the targets require, so that loops and elbows stay on their branch where the targets permit.

        Joints are closed, couplings hold, and coordinates stay within their stops. Compliant joints are treated as
        rigid, and each `LengthStop` is ignored. Joints that are open in ``state`` are closed first, with ``hold`` held.
        If the search ends away from the targets, it is repeated from perturbed poses near that end, the same ones in
        each call.

        Raises
        ------
        ArgumentError
            Unknown bodies, wrong shapes, no target; a stop of an Euler angle, which is not supported unless its joint
            is in ``hold``.
        StateError
            A state or a name in ``hold`` that does not match the mechanism; targets that were not reached: the
            message gives the distance that is left, and the joints at their stops.
        """
        twin = self.rigid_twin
        return pose(twin, twin.compiled, targets, hold, self.state() if state is None else state)

    def assembly_modes(
        self,
        hold: Mapping[str, ArrayLike],
        *,
        starts: int = 200,
        seed: int = 0,
        bodies: str | Iterable[str] | None = None,
    ) -> AssemblyModes:
        """Return the poses in which the loops close at held coordinates, searched from random starts.

        Parameters
        ----------
        hold : dict
            Joint name to its coordinates (m, rad): (dof,), or a number if the joint has one coordinate. They must fix
            all degrees of freedom of the loops. Joints outside loops that are not named keep the coordinates of
            ``state()``.
        starts : int
            Number of random starts; each takes 10 to 100 ms. The result reports how often each mode was reached, and
            estimates the share of modes not reached.
        seed : int
            Seed of the random starts: the same seed gives the same modes.
        bodies : str or sequence of str, optional
            Bodies whose poses distinguish modes; default: all. Other bodies may differ or be movable within a mode, as
            legs of a platform that may spin about their own axes.

        Stops are ignored. Couplings count turns from the reference configuration. Modes that differ by less than 1e-5
        rad and 1e-5 of the size of the largest body count as one. If special dimensions leave a mode movable at the
        held coordinates, one pose of that motion is returned.

        Raises
        ------
        ArgumentError
            Unknown joints or bodies, wrong shapes, coordinates that leave degrees of freedom.
        """
        poses = {key: None if key in VELOCITY_KEYS else self.start.get(key) for key in MOTION_KEYS}
        twin = self.rigid_twin
        state = make_state(twin, lambda: twin.compiled, **poses)
        return assembly_modes(twin, twin.compiled, state, hold, starts=starts, seed=seed, bodies=bodies)

    def plot(
        self,
        state: State | None = None,
        path: str | Path | None = None,
        plane: str | None = None,
        *,
        labels: bool = False,
    ) -> Figure:
        """Draw the mechanism at ``state`` and return a matplotlib Figure.

        Bodies are drawn from joint to joint, extended to the size that their inertia implies. Deformable bodies and
        nets have the shape in which a run from ``state`` starts.

        Parameters
        ----------
        state : State, optional
            Default: ``state()``.
        path : str or Path, optional
            File to write, .png, .pdf or .svg; by default none is written.
        plane : str, optional
            "xy" (x to the right, y up), "xz", "yz", "yx", "zx", "zy" or "isometric"; by default the plane in which the
            joints move, isometric if they do not move in one plane.
        labels : bool
            Whether to write the names of bodies and joints.

        Raises
        ------
        ArgumentError
            An invalid state, plane or value of ``labels``, or a path with another suffix.
        FileError
            The file cannot be written.
        StateError
            A deformable body or net has no equilibrium at ``state``.
        """
        from varint.drawing.mechanism_picture import plot_mechanism
        from varint.meshes.mesh_start import vertices_at

        state = self.state() if state is None else state
        return plot_mechanism(self, state, path, plane, labels, vertices_at(self, self.compiled, state))

    def diagnose(self, state: State | None = None) -> Diagnosis:
        """Return mobility, redundant constraints, instantaneous motions and singularity at the pose of ``state``.

        ``state``: default ``state()``. Each cluster of loops is analysed with dense matrices: the cost grows with the
        cube of the number of its bodies. Compliant joints are treated as rigid. Raises StateError if the state does not
        match the bodies or leaves a joint open.
        """
        return diagnose(self.rigid_twin, self.rigid_twin.compiled, self.state() if state is None else state)

    def _repr_html_(self) -> str:
        from varint.drawing.thumbnail import thumbnail

        bodies = [(b.name, f"{b.mass:.6g}", numbers_text(b.position)) for b in self.bodies if b.name not in self.rotors]
        joints = [
            (j.name, type(j).__name__, j.body_a, j.body_b, ", ".join(j.own_facts()), j.dof, _units_text(j))
            for j in self.joints
            if j.name not in self.rotors
        ]
        forces = [(f.name, type(f).__name__, ", ".join(f._facts())) for f in self.forces if f.name not in self.rotors]
        tables = (
            (("joint", "type", "body a", "body b", "geometry (m, world)", ">coordinates", "unit"), joints),
            (("force", "type", "acts on and parameters"), forces),
            (("start", "joint or body", "value", "unit"), list(self._start_rows())),
        )
        position, quat = (np.array([getattr(body, name) for body in self.bodies]) for name in ("position", "quat_wxyz"))
        # in headings, ">" aligns the column to the right
        parts = [thumbnail(self, position, quat, [soft.mesh.points for soft in soft_meshes(self)])]
        parts += [html_table(("body", ">mass (kg)", ">position (m)"), bodies, repr(self))]
        return "".join([*parts, *(html_table(columns, rows) for columns, rows in tables if rows)])

    def _start_rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield the rows of the table of ``start``: key, name of the joint or body, value, unit."""
        for key, values in self.start.items():
            for name, value in (values or {}).items():
                if name in self.rotors:
                    continue
                unit = BODY_UNITS[key] if key in BODY_UNITS else _units_text(self.joint(name), key == "rates")
                yield key, name, value_text(value), unit

    def show(self, state: State | None = None) -> ShownState:
        """Return two tables of ``state``, by body and by joint, to print or to display in a notebook.

        ``state``: default ``state()``. Bodies that stand for armature (``rotors``) are left out: ``coordinates(state)``
        has the angles of their hinges. Raises StateError for a state that does not match the bodies.
        """
        state = self.state() if state is None else state
        return ShownState(self, with_checked_arrays(self, state, "state"))

    def coordinates(self, state: State) -> dict[str, np.ndarray]:
        """Return the coordinates (dof,) of each joint by name at ``state``, m or rad.

        The shape is () if the joint has one coordinate. Angles include the full turns that the state stores; if it
        stores none, they are the ones nearest to zero, or to the middle of the range between their stops, see `State`.
        Raises StateError for a state that does not match the bodies.
        """
        return self._joint_reader.coordinates(state)

    def rates(self, state: State) -> dict[str, np.ndarray]:
        """Return the rates (dof,) of each joint by name at ``state``, m/s or rad/s.

        The shape is () if the joint has one coordinate. Raises StateError for a state that does not match the bodies.
        """
        return self._joint_reader.rates(state)

    def point(self, state: State, body: str, point: ArrayLike | None = None) -> np.ndarray:
        """Return the position (3,), m, world, of a point of ``body`` at ``state``.

        ``point`` (3,): position in the reference configuration, m, world; default: the centre of mass. Raises
        MechanismError for an unknown body, ArgumentError if ``point`` is not three numbers, StateError for a state that
        does not match the bodies. `Trajectory.path` returns the positions over a run.
        """
        described, number = self.body(body), self.body_index[body]
        checked_state(self, state, "state")
        if point is None:
            point = described.position
        place = in_body(self, number, array_of(point, (3,), f"point of body '{body}'", ArgumentError))
        return state.point(number, place)

    @cached_property
    def _joint_reader(self) -> JointReader:
        return JointReader(self)

    @property
    def rows(self) -> int:
        """Return the number of scalar constraints of the joints, including redundant and excluding compliant ones."""
        return sum(len(joint.rigid) for joint in self.joints)


def _listed(value: Any, kind: Any, label: str, of: str) -> tuple:
    """Return one value of a ``kind``, or a sequence of such, as a tuple."""
    return (value,) if isinstance(value, kind) else sequence_of(value, label, of)


def _units_text(joint: Joint, rates: bool = False) -> str:
    """Return the units of the coordinates, or of their rates, comma-separated; one unit if all are equal."""
    units = [(unit or "1") + "/s" * rates for unit in coordinate_units(joint)]
    return ", ".join(units[:1] if len(set(units)) == 1 else units)
