"""Entries of events and loads in the energy balance of a run (balance.py)."""

from varint.base.numba import njit

LANDING = 3  # nodes whose change of energy is that of a landing: at the start and the end of its piece, and the next


@njit
def add_event(ws):
    """Account for an event, after which momenta obey the rows; resets ``ws.balance.size`` and ``ws.balance.smooth``.

    The work of the event is its element's.
    """
    ws.balance.size[0], ws.balance.smooth[0] = 0.0, 0


@njit
def add_landing(plan, ws, element):
    """Account for contacts of an element that land within a piece, without rebound, at an instant that is not located.

    The lost energy follows only from the energies at the nodes around the piece. Sets ``ws.balance.landing`` and
    ``ws.balance.lander``.
    """
    c = plan.components.of_element[element]
    ws.balance.landing[c], ws.balance.lander[c] = LANDING, element
    add_event(ws)


@njit
def add_load(plan, ws, i, work):
    """Add the work, J, of the load on body i in a piece of a step to ``ws.balance.load``."""
    ws.balance.load[plan.components.of_body[i]] += work
