"""The `Trajectory` that users get: a recorded motion, with methods that show and write it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from varint.model.state import State
from varint.results.diagnostics import DIAGNOSTICS, RecordedDiagnostics
from varint.results.node_watch import judge_nodes
from varint.results.recorded_motion import RecordedMotion
from varint.results.table_columns import listed_name

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure

    from varint.views.animation import Movie
    from varint.views.page import Page


class Diagnostics(RecordedDiagnostics):
    __doc__ = RecordedDiagnostics.__doc__

    def to_csv(self, path: str | Path, *what: str) -> None:
        """Write a table of the quantities "energy", "drift", ..., or of all, as `Trajectory.to_csv`."""
        from varint.files.runs.tables import to_csv

        to_csv(cast(Any, self), path, self._listed(what))

    def to_dataframe(self, *what: str) -> pandas.DataFrame:
        """Return a table of pandas, as `Trajectory.to_dataframe`."""
        from varint.files.runs.tables import to_dataframe

        return to_dataframe(cast(Any, self), self._listed(what))

    def to_xarray(self, *what: str) -> xarray.Dataset:
        """Return a Dataset of xarray, as `Trajectory.to_xarray`."""
        from varint.files.runs.tables import to_xarray

        return to_xarray(cast(Any, self), self._listed(what))

    def _listed(self, what: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(listed_name(name, DIAGNOSTICS, "there are no diagnostics") for name in what or DIAGNOSTICS)


class Trajectory(RecordedMotion):
    __doc__ = RecordedMotion.__doc__

    if TYPE_CHECKING:

        @overload
        def at(self, t: float) -> State: ...
        @overload
        def at(self, t: np.ndarray) -> Trajectory: ...
        def at(self, t: ArrayLike) -> State | Trajectory: ...

    @cached_property
    def unresolved_body(self) -> np.ndarray:
        """Return the number (T,) of a body whose motion a step did not resolve, else -1, see `unresolved`.

        What the last steps did not resolve belongs to the whole run: a part of it does not have it. Of methods that do
        not record it, such as those of the user, the number of a body whose joint is open.
        """
        return super().unresolved_body if "unresolved_body" in self.nodes else judge_nodes(self, by_energy=False)

    @cached_property
    def diagnostics(self) -> Diagnostics | None:
        """Energy, momenta and drift at a stride of their own, where ``diagnostics_every`` asked for them."""
        recorded = self.record.diagnostics
        return None if recorded is None else Diagnostics(self.mechanism, recorded)

    def point(self, body: str, point: ArrayLike | None = None) -> np.ndarray:
        """Return positions (T, 3), m, world, of a point of ``body``; its `path` has velocities too.

        ``point`` (3,): where it is in the reference configuration, m, world; the centre of mass where not given. For
        one state: `Mechanism.point`. Raises MechanismError for a name that no body has, ArgumentError.
        """
        return self.path(body, point).position

    def moment_arm(self, force: str, joint: str) -> np.ndarray:
        """Return the derivative of the length of a `Tendon` or `Musculotendon` by a joint coordinate, m/rad or 1.

        (T,), or (T, dof) where the joint has several coordinates; one entry of `moment_arms`. Raises ArgumentError for
        a force that is not along a path, and for a joint that is cut from the tree or has no coordinate; MechanismError
        for unknown names.
        """
        from varint.derivatives.linear.moment_arms import moment_arm

        return moment_arm(self, force, joint)

    def to_csv(self, path: str | Path, *what: str | tuple[str, object]) -> None:
        """Write a table: a row a node, a column for the time and for each number, with its unit in the heading.

        ``what``: "coordinates", "reactions", "force", "energy", ..., all in docs/pictures.md; by default
        coordinates, rates, poses, velocities and the energy. A pair ("link", "elbow") has the position and velocity of
        the joint's point on the body, ("link", (x, y, z)) that of a point of it in the reference configuration, m,
        world. A file of that name is replaced. Numbers are written in full. Raises ArgumentError for another suffix
        than .csv, and for an unknown name with the list; FileError.
        """
        from varint.files.runs.tables import to_csv

        to_csv(self, path, what)

    def to_dataframe(self, *what: str | tuple[str, object]) -> pandas.DataFrame:
        """Return a table of pandas with the time as its index; ``attrs["units"]`` has the units of its columns.

        ``what``: quantities, see `to_csv`. Raises ArgumentError where pandas is missing, which
        ``pip install "varint-dynamics[tables]"`` brings.
        """
        from varint.files.runs.tables import to_dataframe

        return to_dataframe(self, what)

    def to_xarray(self, *what: str) -> xarray.Dataset:
        """Return a Dataset of xarray with a variable for each quantity, over time and body, joint or force.

        ``what``: quantities, see `to_csv`. Raises ArgumentError where xarray is missing, which
        ``pip install "varint-dynamics[tables]"`` brings.
        """
        from varint.files.runs.tables import to_xarray

        return to_xarray(self, what)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the run to a file, .h5 or .hdf5, as ``simulate(output=)`` does; `varint.load` reads it.

        A whole run can go on from there, by ``simulate(output=path, resume=True)``; some of its nodes cannot.

        Raises
        ------
        FileError
            The file exists, without ``overwrite``, or cannot be written.
        ArgumentError
            Another suffix, or nodes between the steps of a run in reduced coordinates, which no file holds.
        """
        from varint.files.runs.save import save_run

        save_run(self.record, path, overwrite)

    def plot(
        self,
        *what: str,
        path: str | Path | None = None,
        of: str | Iterable[str] | None = None,
        times: ArrayLike | None = None,
        trace: object = None,
        plane: str | None = None,
        labels: bool = False,
    ) -> Figure:
        """Return a picture of ``what``, a matplotlib Figure of one panel a quantity and unit; else of energy and drift.

        ``what``: "energy", "reactions", "mechanism", "coupler", ..., all in docs/pictures.md. `varint.plot` draws the
        same panels on axes of yours. The picture is written where ``path`` is given, by its suffix: .png, .pdf or .svg.

        Parameters
        ----------
        of : names of bodies, joints and forces, optional
            Subjects of the curves; else the first eight of a panel.
        times : times, s, optional
            Times of the poses of "mechanism", else six over the run; time of "coupler" and "snapshot", else the end.
        trace : name of a body or joint, or (body, point), or a list of these, optional
            Points whose paths all pictures but curves show; ``point`` (3,), m, world, reference configuration.
        plane : {"xy", "xz", "yz", "yx", "zx", "zy", "isometric"}, optional
            View of these pictures; else the plane in which the joints move.
        labels : bool
            Whether bodies and joints are named, in "mechanism", "coupler" and "snapshot", at the last pose.

        Raises ArgumentError for an unknown quantity or name, with the nearest; FileError.
        """
        from varint.views.plots import plot

        return plot(self, what, path, of=of, times=times, trace=trace, plane=plane, labels=labels)

    def view(
        self, path: str | Path | None = None, *, frames: int = 1000, trace: object = None, plane: str | None = None
    ) -> Page:
        """Return a page that shows the run in space, with its curves; a notebook shows it inline.

        ``path``: a file, .html, that the page is written to. It needs no other file and no network. ``frames``: the
        largest number of recorded nodes after the first that it shows, taken evenly; ``trace``: points whose paths it
        shows at first, ``plane``: the view at first, see `plot`. Raises ArgumentError, FileError.
        """
        from varint.views.overlay import show

        return show(self, path=path, frames=frames, trace=trace, plane=plane)

    def animate(
        self,
        path: str | Path,
        *,
        fps: float = 25.0,
        speed: float = 1.0,
        trace: object = None,
        plane: str | None = None,
        camera: ArrayLike | None = None,
        width: int = 640,
    ) -> Movie:
        """Write a film of the mechanism, .mp4, .webm or .gif, without a display; a notebook plays the result.

        ``fps``: frames a second, up to 50, of poses between the nodes, see `at`; ``speed``: of the film over that of
        the run; ``trace``, ``plane``: see `plot`; ``camera``, in place of the plane: azimuth and elevation in
        degrees, turned from the front to the right, and above the horizon; ``width``: of a frame in pixels.

        Raises ArgumentError, also for more than 3000 frames, and where .mp4 or .webm need the package imageio-ffmpeg,
        which ``pip install "varint-dynamics[film]"`` brings; FileError.
        """
        from varint.views.animation import animate

        return animate(self, path, fps=fps, speed=speed, trace=trace, plane=plane, camera=camera, width=width)
