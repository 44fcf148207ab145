"""Small vibrations about an equilibrium: frequencies, shapes and decay."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eig, eigh

from varint.base.checks import of_type
from varint.base.display import Shown, count_text, html_table, numbers_text
from varint.base.errors import ArgumentError, StateError
from varint.derivatives.linear.equilibrium import equilibrium
from varint.derivatives.linear.rest import at_rest
from varint.kinematics.assembly import checked_state
from varint.kinematics.open_stops import check_open
from varint.mechanism.mechanism import Mechanism
from varint.model.known_forces import USES
from varint.model.state import State

AT_REST = 1e-6  # of weights and stiffness: what may push at an equilibrium
ZERO = 1e-13  # of the largest stiffness over mass: motions without stiffness; round-off leaves some 1e-16


@dataclass(frozen=True, eq=False)
class Modes(Shown):
    """The n small motions of a mechanism about its equilibrium, from the slowest to the fastest.

    frequency : (n,) Hz
        Without damping; negative for a motion that falls away from an unstable equilibrium, zero for a free one.
    omega : (n,) rad/s
        The same, 2 pi times it.
    shape : (n, nb, 6)
        m (world) and rad (body axes) of the bodies, scaled so that shape . M shape = 1 kg m^2.
    decay : (2 n,) complex, 1/s
        Roots of the damped system, by size of their imaginary part; real parts are negative where motions die away.
    """

    mechanism: str
    frequency: np.ndarray
    omega: np.ndarray
    shape: np.ndarray
    decay: np.ndarray

    def __len__(self) -> int:
        return len(self.frequency)

    @property
    def stable(self) -> bool:
        """Whether all frequencies are positive: no motion falls away or is free."""
        return bool((self.frequency > 0).all())

    def _facts(self) -> Iterable[str]:
        yield f"'{self.mechanism}'"
        yield count_text(len(self), "mode")
        if len(self):
            yield f"{numbers_text(self.frequency[:5])} Hz{' ...' if len(self) > 5 else ''}"

    def _repr_html_(self) -> str:
        rows = [(k, f"{f:.6g}", f"{1 / f:.6g}" if f > 0 else "") for k, f in enumerate(self.frequency)]
        return html_table(("mode", "frequency (Hz)", "period (s)"), rows, repr(self))


def modes(mechanism: Mechanism, state: State | None = None) -> Modes:
    """Find frequencies and shapes of small motions about an equilibrium, loops and redundant closures included.

    With the stiffness K of forces and reactions (exact, the curvature of the joints included), the mass M and the
    motions N that the joints allow: (N^T K N) a = omega^2 (N^T M N) a.

    Parameters
    ----------
    mechanism : Mechanism
    state : State, optional
        An equilibrium, as `vi.equilibrium` gives it; that next to ``mechanism.state()`` where not given.

    Raises
    ------
    ArgumentError
        Hard stops that are closed in the state, laws with an internal variable. StateError: a state in which forces do
        not balance.
    """
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    state = equilibrium(mechanism) if state is None else state
    checked_state(mechanism, state, "state")
    check_open(mechanism, state, USES["rest"])
    rest = at_rest(mechanism, state)
    push, largest = np.abs(rest.unbalanced).max(initial=0.0), rest.push(mechanism.compiled.length)
    if push > AT_REST * largest:
        raise StateError(
            f"'{mechanism.name}' is not at rest in this state: {push:.3g} N m push along a motion. Give"
            " state=vi.equilibrium(mechanism, state)"
        )
    stiffness, mass, damping = (rest.along(each) for each in (rest.stiffness, rest.mass, rest.damping))
    n, slot = len(mass), mechanism.compiled.slot
    if n == 0:
        return Modes(mechanism.name, np.zeros(0), np.zeros(0), np.zeros((0, len(slot), 6)), np.zeros(0, dtype=complex))
    square, shape = eigh(0.5 * (stiffness + stiffness.T), 0.5 * (mass + mass.T))
    square = np.where(np.abs(square) <= ZERO * np.abs(square).max(), 0.0, square)
    omega = np.sign(square) * np.sqrt(np.abs(square))
    shapes = (rest.motions @ shape).T.reshape(n, -1, 6)[:, slot]
    by_mass = np.linalg.solve(mass, np.hstack([stiffness, damping]))
    roots = eig(np.block([[np.zeros((n, n)), np.eye(n)], [-by_mass]]), right=False)
    roots = roots[np.lexsort((roots.imag, np.abs(roots.imag)))]
    return Modes(mechanism.name, omega / (2 * np.pi), omega, shapes, roots)
