"""Operations of terms at a pose: their rows, of which the state of the term says which are constraints.

Each acts on all terms; there is one so far, whose functions these are.
"""

from varint.terms.limits.kernels.limit_parts import (  # noqa: F401
    number_parts,  # of a gradient by numbers, by the names of its fields
    one_sided,  # rows whose rate has one sign: measure, sign, value, restitution, element
    plan_parts,  # of a plan, by the names of its fields
    rows_state,  # a copy of the state
    set_rows,  # go back to such a copy, with the rows at a pose
    sizes_of,  # of the arrays of a run
)
from varint.terms.limits.kernels.limits import (  # noqa: F401
    add_numbers,  # add the gradient by the numbers of rows that take part in a stage
    close_rows,  # residuals and Jacobians at the end of a step
    efforts_at_node,  # from the multipliers there
    has_terms,  # whether a plan has rows of terms
    keep_rows,  # the state as that of a stage on a tape
    place_rows,  # Jacobians at a pose
    play_rows,  # go back to the state of a stage, with the rows at pose 0
    release_pulling,  # the row whose force at a node has the wrong sign most takes no part any more
    rest_at_node,  # the state that belongs to a recorded node
)
from varint.terms.limits.kernels.stop_gaps import evaluate_gaps  # noqa: F401  # of one-sided rows at any pose
