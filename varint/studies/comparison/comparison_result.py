"""`Comparison`, the result of `compare`."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from varint.base.display import Shown, count_text, described, names_text, value_text
from varint.base.printable import printable
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.trajectory import ReducedTrajectory
from varint.studies.comparison.comparison_page import facts, in_html, markdown
from varint.studies.comparison.differences import Quantities, largest
from varint.studies.comparison.files import save, save_figure
from varint.studies.comparison.peer_lines import PeerLine
from varint.studies.comparison.series import Series

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Settings(Shown):
    """Settings of the comparison.

    duration : float, s
    dt : steps, s, from the largest to the smallest
    orders : of VI
    integrators : of REDMAX
    own : names of other methods, user-defined ones among them
    rtol, check : float, tolerance of the reference, and of the run that estimates its error
    tol : float, of a step of VI, m/s
    baumgarte : float, 1/s
    """

    duration: float
    dt: tuple[float, ...]
    orders: tuple[int, ...]
    integrators: tuple[str, ...]
    own: tuple[str, ...]
    rtol: float
    check: float
    tol: float
    baumgarte: float


@dataclass(frozen=True, eq=False)
class Comparison(Shown):
    """Runs of a mechanism in maximal and in reduced coordinates; ``str()`` gives a page in Markdown.

    Attributes
    ----------
    mechanism : Mechanism
    settings : Settings
    reference : ReducedTrajectory
        T nodes, the largest ``dt`` apart.
    reference_difference : Quantities of (T,)
        Of the reference from a run at ten times its tolerance: more than its error.
    series : tuple of Series
        VI by its orders, then REDMAX by its integrators, ``own``, ``peers``, and where there are loops
        ``unstabilised``.
    peer_lines : tuple of PeerLine
        The requested other simulators, with the reasons why some did not run.
    """

    mechanism: Mechanism
    settings: Settings
    reference: ReducedTrajectory
    reference_difference: Quantities
    series: tuple[Series, ...]
    peer_lines: tuple[PeerLine, ...] = ()

    @property
    def t(self) -> np.ndarray:
        """(T,) s, the nodes that all runs have."""
        return self.reference.t

    @property
    def reference_error(self) -> Quantities:
        """Quantities of float: the largest of ``reference_difference`` over time."""
        return largest(self.reference_difference)

    @property
    def vi(self) -> Series:
        """The variational integrator, of the first order that was asked for."""
        return self.series[0]

    @property
    def redmax(self) -> Series | None:
        """REDMAX, by the first of its integrators; None if all are user-defined."""
        return self.series[len(self.settings.orders)] if self.settings.integrators else None

    @property
    def own(self) -> tuple[Series, ...]:
        """Series of other methods, user-defined ones among them."""
        first = len(self.settings.orders) + len(self.settings.integrators)
        return self.series[first : first + len(self.settings.own)]

    @property
    def peers(self) -> tuple[Series, ...]:
        """Series of the other simulators that ran."""
        ran = {line.title for line in self.peer_lines if not line.refusal}
        return tuple(series for series in self.series if series.name in ran)

    @property
    def unstabilised(self) -> Series | None:
        """REDMAX with nothing that closes the gaps of loops; None where there is no loop."""
        settings = self.settings
        stabilised = sum(map(len, (settings.orders, settings.integrators, settings.own, self.peers)))
        return self.series[stabilised] if len(self.series) > stabilised else None

    def _facts(self) -> Iterable[str]:
        yield f"{self.settings.duration:.6g} s"
        yield f"dt {value_text(self.settings.dt)} s"
        yield f"{count_text(len(self.series), 'series', 'series')}: {names_text(s.name for s in self.series)}"
        yield f"the reference is off by {self.reference_error.position:.1e} m"

    def __repr__(self) -> str:
        return described(self, self._facts(), self.mechanism.name)

    def _repr_html_(self) -> str:
        return in_html(self)

    def __str__(self) -> str:
        return printable(markdown(self))

    def plot(self, path: str | Path | None = None) -> "Figure":
        """Return the figure (matplotlib); drawn into ``path``, .png or .pdf, where given.

        Raises ArgumentError for another format, FileError if it cannot be written.
        """
        from varint.studies.comparison.error_figure import draw

        figure = draw(self, facts(self))
        if path is not None:
            save_figure(figure, path)
        return figure

    def save(self, path: str | Path) -> list[Path]:
        """Write page, numbers and figure into the folder ``path``, or one of them into a file.

        A folder gets ``comparison.md``, ``.json``, ``.png`` and ``.pdf``, in place of existing ones. Returns the paths
        of the written files. Raises ArgumentError, FileError.
        """
        return save(self, path)
