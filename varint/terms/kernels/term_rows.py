"""Operations on the rows of terms at a pose; a term's state says which of its rows are constraints.

Each acts on all terms. Hard limits are the only term so far, and these are their functions.
"""

from varint.terms.limits.kernels.limit_parts import (  # noqa: F401
    number_parts,  # arrays of zeros for gradients by numbers, by field name
    one_sided,  # one-sided rows: measure, sign, value, restitution, element
    plan_parts,  # parts of a plan, by field name
    rows_state,  # a copy of the state
    set_rows,  # go back to such a copy, with the rows at a pose
    sizes_of,  # of the arrays of a run
)
from varint.terms.limits.kernels.limits import (  # noqa: F401
    add_numbers,  # add the gradient by the values of rows that are constraints in a stage
    close_rows,  # residuals and Jacobians at the end of a step
    efforts_at_node,  # from the multipliers there
    has_terms,  # whether a plan has rows of terms
    keep_rows,  # the state as that of a stage on a tape
    place_rows,  # Jacobians at a pose
    play_rows,  # go back to the state of a stage, with the rows at pose 0
    release_pulling,  # open the row whose multiplier at a node pulls most
    rest_at_node,  # at a recorded node: constraints are the rows at rest there
)
from varint.terms.limits.kernels.stop_gaps import evaluate_gaps  # noqa: F401  # of one-sided rows at any pose
