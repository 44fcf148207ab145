"""The `Mechanism` that users write: its description and its kinematic analyses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, checked_call
from varint.base.display import html_table, numbers_text, value_text
from varint.base.errors import ArgumentError
from varint.kinematics.assembly import assemble, checked_state, make_state, with_checked_arrays
from varint.kinematics.diagnosis import Diagnosis, diagnose
from varint.kinematics.followers import with_start
from varint.kinematics.frames import in_body
from varint.kinematics.joint_reader import JointReader
from varint.mechanism.assembly_modes import AssemblyModes
from varint.mechanism.mode_search import assembly_modes
from varint.mechanism.shown_state import ShownState
from varint.mechanism.sweep import ON_LOCKUP, Sweep, sweep
from varint.model.degrees import warn_of_degrees
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.import_report import ImportReport
from varint.model.joints.base import Joint
from varint.model.motion import coordinate_units
from varint.model.start_arguments import MOTION_KEYS
from varint.model.state import REFUSE, State
from varint.model.structure import Structure
from varint.plan import CompiledStructure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOTIONS = ("rates", "velocity", "angular_velocity")  # keys of ``start`` that hold velocities, not poses
START_UNITS = {"position": "m", "quat_wxyz": "", "velocity": "m/s", "angular_velocity": "rad/s"}  # of its bodies


@checked_call
@dataclass(frozen=True, eq=False)
class Mechanism(CompiledStructure):
    __doc__ = f"""A mechanism. {Structure.__doc__}"""
    _from_text = ": vi.mechanisms holds the catalogue, vi.load_mechanism reads a file"

    @cached_property
    def import_report(self) -> ImportReport:
        """Report on the imported file; empty if the mechanism was not imported.

        Set by `varint.load_mechanism`. Copies made by ``dataclasses.replace`` have an empty report.
        """
        return ImportReport()

    def __reduce__(self) -> tuple:
        return *super().__reduce__(), {"import_report": self.import_report}

    @cached_property
    def rigid_twin(self) -> Mechanism:
        """Return the mechanism without compliances of joints; itself if no joint has a compliance."""
        if all(joint.compliance is None for joint in self.joints):
            return self
        joints = [replace(joint, compliance=None, damping_time=None) for joint in self.joints]
        return replace(self, joints=joints)

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
        """Return a state that satisfies all joints and has the specified coordinates, poses and velocities.

        Without arguments on joints and bodies it has those of ``start``.

        Parameters
        ----------
        coordinates, rates : dict
            Joint name to its coordinates (m, rad) and their rates (m/s, rad/s): (dof,), or a number if it has one.
        position, quat_wxyz : dict
            Body name to centre of mass (3,), m, world, and orientation (4,), a quaternion w, x, y, z, body to world.
        velocity, angular_velocity : dict
            Body name to velocity (3,) of the centre of mass, m/s, world, and angular velocity (3,), rad/s, body axes.
        beyond_stops : str
            What a run from this state does if it is beyond a hard stop by more than the tolerance of closed joints.
            "refuse": it raises StateError. "come back": the stop pushes the joint, or the length, back to the limit
            from where it is, at a rate of 5 / s (``baumgarte`` of `varint.redmax`), or lets it come back faster by
            itself. Contacts that overlap are refused either way.

        Joints that are named hold their values. Others move only as loops, couplings and constraints of forces require;
        those that these connect with a named joint start from the reference configuration. With ``coordinates``, all
        other joints keep those of ``start``, or else of the reference configuration. A loop is moved to its coordinates
        in small steps, on the branch of the reference configuration. The path omits full turns that leave the pose
        unchanged and that nothing counts. Of rates that are free, angular ones of joints are the least, then
        displacements: a base on driven wheels does not pitch. Poses and velocities of bodies are approached as closely
        as the joints allow, and the joints that carry these bodies follow. Joints with a compliance are treated as
        rigid. If only coordinates and rates are specified, beams move as rigid bodies, and deform only if the joints
        require it.

        The state carries the coordinates asked for with all their turns: springs, stops and servos start from them.
        If a joint is set only through poses of bodies, its angle is the one nearest to zero, or to the middle of the
        range between its stops. If several turns remain possible, a run from this state gives a TurnsWarning.

        Raises
        ------
        StateError
            Unknown names, wrong shapes, numbers above 1e15, velocities that the joints do not allow, coordinates of a
            loop or a coupling more than 200 rad, or 200 times the size of a body, from the reference configuration.
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
            arguments |= self.start
        twin = self.rigid_twin
        if coordinates:
            bodies = {**(position or {}), **(quat_wxyz or {})}
            start = self.start.get("coordinates")
            arguments["coordinates"] = with_start(twin, twin.compiled, coordinates, start, bodies)
        state = make_state(twin, lambda: twin.compiled, **arguments)
        warn_of_degrees(self, coordinates or {})
        return state if beyond_stops == REFUSE else replace(state, beyond_stops=beyond_stops)

    def assemble(
        self,
        guess: State,
        hold: str | Iterable[str] = (),
        *,
        coordinates: Mapping[str, ArrayLike] | None = None,
        rates: Mapping[str, ArrayLike] | None = None,
    ) -> State:
        """Return the state nearest to ``guess`` that satisfies all joints, which the guess may violate, on its branch.

        Parameters
        ----------
        guess : State
            Approximate poses, with errors up to about a fifth of the size of the bodies, and velocities.
        hold : sequence of str
            Names of bodies and joints. A body keeps its pose and velocity of the guess, a joint its coordinates and
            rates, measured at the guess.
        coordinates, rates : dict
            Joint name to coordinates (m, rad) and rates (m/s, rad/s), satisfied exactly: (dof,), or a number if it has
            one.

        All else moves, and changes its velocity, as little as possible, measured by the kinetic energy of such a
        motion; if that does not close the joints, as of compact bodies, measured by the lengths of the bodies.

        Raises
        ------
        StateError
            An invalid guess, an unknown name, or velocities that the joints do not allow.
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
        """Drive a coordinate of a joint through ``values``: the configurations of a linkage, without dynamics.

        Parameters
        ----------
        joint : str or (str, int)
            A joint with one coordinate, or a joint and the index of its coordinate, from 0.
        values : array_like (T,)
            m or rad; angles may exceed pi. The mechanism moves continuously from ``state`` to the first value and from
            each value to the next, on its branch. What the joints leave free moves as little as possible, measured
            by the kinetic energy of such a motion.
        state : State, optional
            Initial configuration; default: ``state()``. Its velocities are not used.
        on_lockup : str
            The sweep ends where the linkage locks; its arrays then have fewer rows than ``values``. "warn", the
            default: also issue a LockedWarning; "ignore": only set `Sweep.lockup`.

        Returns
        -------
        Sweep
            Poses and coordinates, a row for each value reached.

        Raises
        ------
        ArgumentError
            No such joint or coordinate, values that are not finite numbers, a path longer than 1000 rad, or than
            1000 times the size of a body, or with more than 10000 steps between values.
        AssemblyError
            The joints cannot be closed at ``state``.
        """
        twin = self.rigid_twin
        return sweep(twin, twin.compiled, joint, values, self.state() if state is None else state, on_lockup)

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
            Joint name to its coordinates (m, rad): (dof,), or a number if it has one. They must fix all degrees of
            freedom of the loops; joints in no loop that are not named keep those of ``state()``.
        starts : int
            Number of random starts, 10 to 100 ms each. The result reports how often each mode was reached, and
            estimates the share of modes not reached.
        seed : int
            Seed of the random starts: the same seed gives the same modes.
        bodies : str or sequence of str, optional
            Bodies whose poses distinguish modes; default: all. Others may move: the legs of a platform may spin about
            their own axes.

        Stops are ignored. Couplings count turns from the reference configuration. Modes that differ by less than 1e-5
        rad and 1e-5 of the size of a body count as one. If special dimensions leave a mode movable at the held
        coordinates, one pose of that motion is returned.

        Raises
        ------
        ArgumentError
            Unknown joints or bodies, wrong shapes, coordinates that leave degrees of freedom.
        """
        poses = {key: None if key in MOTIONS else self.start.get(key) for key in MOTION_KEYS}
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
        """Return a picture of the mechanism at ``state``, by default ``state()``; a matplotlib Figure.

        Bodies are drawn from joint to joint, extended to the size that their inertia implies. ``path``: file to write,
        .png, .pdf or .svg, default none; ``plane``: "xy" (x to the right), "xz", "yz", "yx", "zx", "zy" or
        "isometric", by default the plane in which the joints move, isometric if they move in none; ``labels``: whether
        to write the names of bodies and joints. Deformable bodies and nets have their shape at the start of a run.
        Raises ArgumentError, FileError; StateError if that shape has no equilibrium.
        """
        from varint.drawing.mechanism_picture import plot_mechanism
        from varint.meshes.mesh_start import vertices_at

        state = self.state() if state is None else state
        return plot_mechanism(self, state, path, plane, labels, vertices_at(self, self.compiled, state))

    def diagnose(self, state: State | None = None) -> Diagnosis:
        """Return mobility, redundant rows, instantaneous motions and singularity at the pose of ``state``.

        ``state``: default ``state()``. Each cluster of loops is analysed with dense matrices: the cost grows with the
        cube of the number of its bodies. Joints with a compliance count as rigid.
        """
        return diagnose(self.rigid_twin, self.rigid_twin.compiled, self.state() if state is None else state)

    def _repr_html_(self) -> str:
        from varint.drawing.thumbnail import thumbnail

        bodies = [(body.name, f"{body.mass:.6g}", numbers_text(body.position)) for body in self.bodies]
        joints = [
            (j.name, type(j).__name__, j.body_a, j.body_b, ", ".join(j.own_facts()), j.dof, _units_text(j))
            for j in self.joints
        ]
        forces = [(f.name, type(f).__name__, ", ".join(f._facts())) for f in self.forces]
        tables = (
            (("joint", "type", "body a", "body b", "geometry (m, world)", ">coordinates", "unit"), joints),
            (("force", "type", "acts on and parameters"), forces),
            (("start", "joint or body", "value", "unit"), list(self._start_rows())),
        )
        position, quat = (np.array([getattr(body, name) for body in self.bodies]) for name in ("position", "quat_wxyz"))
        parts = [thumbnail(self, position, quat, [soft.mesh.points for soft in soft_meshes(self)])]
        parts += [html_table(("body", ">mass (kg)", ">position (m)"), bodies, repr(self))]
        return "".join([*parts, *(html_table(columns, rows) for columns, rows in tables if rows)])

    def _start_rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield the rows of ``start``: key, name, value, unit."""
        for key, values in self.start.items():
            for name, value in (values or {}).items():
                unit = START_UNITS[key] if key in START_UNITS else _units_text(self.joint(name), key == "rates")
                yield key, name, value_text(value), unit

    def show(self, state: State | None = None) -> ShownState:
        """Return two tables of a state, by body and by joint, for a prompt or a notebook.

        ``state``: default ``state()``. Raises StateError for a state that does not match the bodies.
        """
        state = self.state() if state is None else state
        return ShownState(self, with_checked_arrays(self, state, "state"))

    def coordinates(self, state: State) -> dict[str, np.ndarray]:
        """Return the coordinates (dof,) of each joint by name at ``state``, m or rad; shape () if it has one.

        Angles include the full turns that the state carries; without, they are the ones nearest to zero or to the
        middle of the range between their stops, see `State`. Raises StateError for a state that does not match the
        bodies.
        """
        return self._joint_reader.coordinates(state)

    def rates(self, state: State) -> dict[str, np.ndarray]:
        """Return the rates (dof,) of each joint by name at ``state``, m/s or rad/s; shape () if it has one."""
        return self._joint_reader.rates(state)

    def point(self, state: State, body: str, point: ArrayLike | None = None) -> np.ndarray:
        """Return the position (3,), m, world, at ``state`` of a point of ``body``.

        `Trajectory.path` returns the positions over a run.

        ``point`` (3,): position in the reference configuration, m, world; default: the centre of mass. Raises
        MechanismError for a name that no body has, ArgumentError if ``point`` is not three numbers, StateError for a
        state that does not match the bodies.
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
        """Return the number of scalar constraints of the joints, with redundant ones, without compliant ones."""
        return sum(len(joint.rigid) for joint in self.joints)


def _units_text(joint: Joint, rates: bool = False) -> str:
    """Return the units of the coordinates, or of their rates: one if they are alike."""
    units = [(unit or "1") + "/s" * rates for unit in coordinate_units(joint)]
    return ", ".join(units[:1] if len(set(units)) == 1 else units)
