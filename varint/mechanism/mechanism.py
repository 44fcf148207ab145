"""The `Mechanism` that users write: a description, and what can be asked of it."""

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


MOTIONS = ("rates", "velocity", "angular_velocity")  # keys of a start that are no poses
START_UNITS = {"position": "m", "quat_wxyz": "", "velocity": "m/s", "angular_velocity": "rad/s"}  # of bodies


@checked_call
@dataclass(frozen=True, eq=False)
class Mechanism(CompiledStructure):
    __doc__ = f"""A mechanism. {Structure.__doc__}"""
    _from_text = ": vi.mechanisms has those of the catalogue, vi.load_mechanism reads a file"

    @cached_property
    def import_report(self) -> ImportReport:
        """Report on the parts of the file that this was imported from; empty where it was not imported.

        Set by `varint.load_mechanism`. What is made of this mechanism by ``dataclasses.replace`` has an empty one.
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
        """Return a state that satisfies all joints and holds the arguments.

        Without arguments on joints and bodies, the mechanism's ``start``.

        Parameters
        ----------
        coordinates, rates : dict
            Joint name to its coordinates (m, rad) and their rates; a number where there is one.
        position, quat_wxyz : dict
            Body name to centre of mass (3,), m, world, and orientation (4,).
        velocity, angular_velocity : dict
            Body name to velocity (3,), m/s, world, and angular velocity (3,), rad/s, body.
        beyond_stops : str
            What a run does that starts beyond a hard stop, by more than joints may be open. "refuse": it raises
            StateError. "come back": the stop pushes the joint, or the length, back to the limit from where it is,
            at a rate of 5 / s (``baumgarte`` of `varint.redmax`), or lets it come back faster by itself. Contacts that
            overlap are refused either way.

        Joints that are named hold their values. Others move only as loops, couplings and constraints of forces require;
        those that these connect with a named joint start from the reference configuration. Where ``coordinates`` are
        given, all other joints keep those of ``start``, else those of the reference configuration. A loop is moved to
        its coordinates in small steps, on the branch of the reference configuration; whole turns are left out where
        they lead back to the same pose and nothing counts them. Of rates that are free the angular ones of joints are
        the least, then the displacements: a base on driven wheels does not pitch. Poses and velocities of bodies are
        approached as closely as the joints allow, and the joints that carry these bodies follow. Joints with a
        compliance are treated as rigid. If only coordinates and rates are given, beams stay undeformed where the joints
        allow it, and strain otherwise.
        The state carries the coordinates asked for with all their turns: springs, stops and servos start from them.
        Joints that only ``position`` or ``quat_wxyz`` move have the turn nearest to zero, or to the middle of the range
        of their stops; where that leaves more than one turn, a run from there gives a TurnsWarning.

        Raises
        ------
        StateError
            Unknown names, wrong shapes, numbers above 1e15, no such velocity, coordinates of a loop or a coupling more
            than 200 rad or sizes of a part away.
        AssemblyError
            The joints cannot be closed; names the loop, and the joints that stay open by how much.
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
        """Return the state that satisfies all joints near a guess that need not, on the guess's branch.

        Parameters
        ----------
        guess : State
            Poses that may be wrong by a fifth of the size of the parts, and velocities.
        hold : sequence of str
            Bodies and joints. A body keeps its pose and velocity of the guess, a joint its
            coordinates and rates, measured at the guess.
        coordinates, rates : dict
            Joint name to coordinates (m, rad) and rates that are met exactly; a number where there is one.

        All else moves, and changes its velocity, as little as the kinetic metric allows; as little as the lengths of
        the bodies allow where that does not close the joints, as of compact bodies.

        Raises
        ------
        StateError
            A bad guess, unknown names, no such velocity.
        AssemblyError
            The joints cannot be closed; names the loop, and the joints that stay open by how much.
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
            A joint with one coordinate, or a joint and the number of its coordinate.
        values : array_like (T,)
            m or rad; angles may pass pi. From one to the next the mechanism moves continuously, from
            ``state`` to the first as well, and stays on its branch. What the joints leave free
            moves as little as the kinetic metric allows.
        state : State, optional
            Where to start; ``state()`` where not given. Its velocities do not matter.
        on_lockup : str
            A linkage that locks ends the sweep, whose arrays then have fewer rows than ``values``. "warn": a
            LockedWarning says where; "ignore": `Sweep.lockup` alone does.

        Returns
        -------
        Sweep
            Poses and coordinates, a row for each value reached.

        Raises
        ------
        ArgumentError
            No such joint or coordinate, values that are not finite numbers, a path of more than 1000 rad or sizes of a
            part, or of more than 10000 steps between values.
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
            Joint name to its coordinates (m, rad); a number where there is one. Joints in no loop keep those of
            ``state()``. They have to fix all degrees of freedom.
        starts : int
            Number of starts, 10 to 100 ms each. The result reports how often each mode was reached, and estimates how
            much was not.
        seed : int
            Of the starts: the same seed gives the same modes.
        bodies : str or sequence of str, optional
            Bodies whose poses distinguish modes, all where not given. Others may move: the legs of a platform
            may turn about themselves.

        Stops are no limits here. Couplings count turns from the reference configuration. Modes nearer than 1e-5 rad or
        sizes of a part are one. Of modes that can still move at the held coordinates, for special dimensions, one is
        kept.

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

        Bodies reach from joint to joint, and as far as their inertia shows. ``path``: where it is written, .png, .pdf
        or .svg; ``plane``: "xy", "xz", "yz", "yx", "zx", "zy" or "isometric", by default the plane in which the joints
        move, isometric where there is none; ``labels``: whether bodies and joints are named. Deformable bodies and
        nets are drawn as a run starts with them. Raises ArgumentError, FileError; StateError where they find no
        equilibrium.
        """
        from varint.drawing.mechanism_picture import plot_mechanism
        from varint.meshes.mesh_start import vertices_at

        state = self.state() if state is None else state
        return plot_mechanism(self, state, path, plane, labels, vertices_at(self, self.compiled, state))

    def diagnose(self, state: State | None = None) -> Diagnosis:
        """Return mobility, redundant rows, instantaneous motions and singularity at the pose of ``state``.

        ``state``: ``state()`` where not given. Each cluster of loops is analysed dense: the cost grows with the
        cube of the bodies in it. Joints with a compliance count as rigid ones.
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
            (("joint", "type", "body a", "body b", "m, world", ">coordinates", "unit"), joints),
            (("force", "type", "acts on and parameters"), forces),
            (("start", "of", "value", "unit"), list(self._start_rows())),
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
        """Return a state with the names of bodies and joints: two tables, at a prompt and in a notebook.

        ``state``: ``state()`` where not given. Raises StateError for a state of other bodies.
        """
        state = self.state() if state is None else state
        return ShownState(self, with_checked_arrays(self, state, "state"))

    def coordinates(self, state: State) -> dict[str, np.ndarray]:
        """Return the coordinates (dof,) of each joint by name at ``state``, () of one coordinate.

        M, rad. Angles have the turns that the state carries, else those nearest to zero or to the middle of the range
        that stops leave them, see `State`.

        Raises StateError for a state of other bodies.
        """
        return self._joint_reader.coordinates(state)

    def rates(self, state: State) -> dict[str, np.ndarray]:
        """Return the rates (dof,) of each joint's coordinates by name at ``state``, () of one coordinate.

        M/s, rad/s.
        """
        return self._joint_reader.rates(state)

    def point(self, state: State, body: str, point: ArrayLike | None = None) -> np.ndarray:
        """Return the position (3,), m, world, at ``state`` of a point of ``body``.

        `Trajectory.path` has those of a run.

        ``point`` (3,): where it is in the reference configuration, m, world; the centre of mass where not given. Raises
        MechanismError for a name that no body has, ArgumentError for what is no point, StateError for a state of other
        bodies.
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
