"""Sizes of the arrays of hard contacts."""

import numpy as np

from varint.geometry.shape_records import feature_space

MOST_COUPLED = 400  # contacts between moving bodies that touch at once: their block takes 11 MB


def space_for_features(plan):
    """Return the number of features that one pair of shapes of a plan can have at most."""
    return feature_space(int(np.diff(plan.contacts.pair_first).max(initial=0)))


def sizes_of_contacts(plan):
    """Return the sizes, by name, of the arrays of the contacts of a plan in a run."""
    contacts, nb = plan.contacts, plan.bodies.mass.size
    coupled = min(int(np.count_nonzero(contacts.other != nb)), MOST_COUPLED)
    touched = {"touched": nb, "touched_rows": plan.rows.role.size}
    inside = min(contacts.body.size, MOST_COUPLED)
    return {
        "contacts": contacts.body.size,
        "contact_pairs": contacts.pair_shape.shape[0],
        "shapes": contacts.shapes.kind.size,
        "features": contacts.body.size - contacts.height.size,
        "coupled": coupled,
        **(touched if contacts.body.size else dict.fromkeys(touched, 0)),
        "inside": inside,
        "inside_rows": 3 * inside,
        "inside_block": 9 * inside * inside,
    }
