"""Operations on the rows of terms at a pose; a term's state says which of its rows are constraints.

Each acts on all terms: those of one-sided rows on hard limits, which have rows in the LDU; contacts are folded into
the pivots of their bodies.
"""

from varint._numba import njit
from varint.terms.contacts.kernels.contact_accelerations import (  # noqa: F401
    accelerate_contacts,  # accelerations at a node, and the forces there
    forces_of_contacts,  # in world axes
    rest_contacts,  # at a recorded node: those that rest take part
)
from varint.terms.contacts.kernels.contact_broad_phase import (  # noqa: F401
    copy_near,  # what a step changes of contacts
    list_all,  # take all contacts for near
)
from varint.terms.contacts.kernels.contact_cones import add_pushes  # noqa: F401  # impulses to vectors of bodies
from varint.terms.contacts.kernels.contact_depths import depths_of_pairs  # noqa: F401  # by which shapes overlap
from varint.terms.contacts.kernels.contact_nodes import (  # noqa: F401
    project_contacts,  # velocities at a node
    works_at_node,  # the work of friction in these, of each element
)
from varint.terms.contacts.kernels.contact_parts import (
    sizes_of_contacts,
    space_for_features,  # noqa: F401  # of one pair of shapes
)
from varint.terms.contacts.kernels.contact_rows import (  # noqa: F401
    add_works_before_node,  # the part of their works that belongs before a step
    finish_contacts,  # their works and states at its end
    fold_contacts,  # right sides and pivots in Newton's system
    has_contacts,  # whether a plan has contacts
    press_contacts,  # residuals of a step
    unfold_contacts,  # what impulses change by
)
from varint.terms.contacts.kernels.contact_stages_back import stage_back  # noqa: F401  # derivatives of a stage
from varint.terms.contacts.kernels.contact_starts import (  # noqa: F401
    CALM,
    keep_impulses,  # of joints, and ...
    keep_line,  # ... velocities: start values of the next step
)
from varint.terms.contacts.kernels.contact_tapes import (
    carried_of,  # noqa: F401  # numbers that a stage hands on beside poses and momenta
    contact_number_parts,
    contacts_state,
    keep_contacts,
    play_contacts,
    set_contacts,
)
from varint.terms.limits.kernels.limit_parts import (  # noqa: F401
    one_sided,  # one-sided rows: measure, sign, value, restitution, element
    one_sided_number_parts,
    one_sided_state,
    plan_parts,  # parts of a plan with one-sided rows, by field name
    set_one_sided,
    sizes_of_rows,
)
from varint.terms.limits.kernels.limits import (  # noqa: F401
    add_numbers,  # add the gradient by the values of rows that are constraints in a stage
    close_rows,  # residuals and Jacobians at the end of a step
    efforts_at_node,  # from the multipliers there
    has_rows,  # whether a plan has one-sided rows
    keep_one_sided,
    place_rows,  # Jacobians at a pose
    play_one_sided,
    release_pulling,  # open the row whose multiplier at a node pulls most
    rest_at_node,  # at a recorded node: constraints are the rows at rest there
)
from varint.terms.limits.kernels.stop_gaps import evaluate_gaps  # noqa: F401  # of one-sided rows at any pose


@njit
def has_terms(plan):
    """Whether a plan has terms."""
    return has_rows(plan) or has_contacts(plan)


def sizes_of(plan, kept):
    """Sizes of the arrays of a run with ``kept`` stages on its tape."""
    events = {"events": kept if has_events(plan) else 0}
    return sizes_of_rows(plan) | sizes_of_contacts(plan) | events


def has_events(plan):
    """Whether runs of a plan may have events."""
    return plan.limits.measure.size + plan.contacts.body.size > 0


def number_parts(plan):
    """Arrays of zeros for gradients by numbers, by field name."""
    return one_sided_number_parts(plan) | contact_number_parts(plan)


def rows_state(ws):
    """A copy of the state of all rows."""
    return one_sided_state(ws), contacts_state(ws)


def set_rows(plan, ws, pose, state):
    """Go back to a `rows_state`, with the rows of limits at a pose."""
    rows, contacts = state
    set_one_sided(plan, ws, pose, rows)
    set_contacts(ws, contacts)


@njit
def keep_rows(plan, ws, at, k):
    """Keep the state as that of stage, or event, k of a tape: ``at`` is the tape, or its `Events`."""
    keep_one_sided(ws, at, k)
    if has_contacts(plan):
        keep_contacts(plan, ws, at.contacts, k)


@njit
def play_rows(plan, ws, at, k):
    """Go back to the state that `keep_rows` kept, with the rows at pose 0."""
    play_one_sided(plan, ws, at, k)
    if has_contacts(plan):
        play_contacts(plan, ws, at.contacts, k)
