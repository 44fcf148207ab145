"""Sizes of the arrays of hard contacts."""


def sizes_of_contacts(plan):
    """Sizes of the arrays of a run."""
    count = plan.contacts.body.size
    touched = {"touched": plan.bodies.mass.size, "touched_rows": plan.rows.role.size}
    return {"contacts": count, **(touched if count else dict.fromkeys(touched, 0))}
