"""Hard contacts as a role of a step."""

from varint.step.contacts.broad_phase import copy_near, list_all
from varint.step.contacts.cones import unfold_cones
from varint.step.contacts.features import feature_rates, locate_contact, turned_features, write_feature_frame
from varint.step.contacts.finding import choose_features, find_between, misses_features
from varint.step.contacts.interior import start_inside
from varint.step.contacts.nodes import project_contacts, solve_at_node, works_at_node
from varint.step.contacts.parts import sizes_of_contacts
from varint.step.contacts.rims import fix_rims, look_at_rims
from varint.step.contacts.rows import (
    drive_contacts,
    finish_contacts,
    fold_contacts,
    press_contacts,
)
from varint.step.contacts.starts import CALM, keep_line
from varint.step.role import Role

AT_NODES = project_contacts, solve_at_node, start_inside
OF_SHAPES = (
    choose_features, misses_features, find_between, fix_rims, look_at_rims, locate_contact, turned_features,
    write_feature_frame, feature_rates,
)  # fmt: skip


def _begin(ws):
    """List all contacts, and count velocities below CALM as round-off."""
    list_all(ws)
    ws.starts.still[0] = CALM


CONTACTS = Role(
    lambda plan: plan.contacts.body.size,
    {
        "residual": press_contacts, "matrices": fold_contacts, "unfold": unfold_cones, "finish": finish_contacts,
        "copy": copy_near, "remember": keep_line, "drive": drive_contacts, "work": works_at_node,
    },
    also=lambda plan, stages: AT_NODES + OF_SHAPES * bool(plan.contacts.pair_shape.size),
    sizes=lambda plan, stages: sizes_of_contacts(plan),
    border=lambda plan: (3 * sizes_of_contacts(plan)["coupled"], 2),
    begin=_begin,
    smooth=False,
    events=True,
)  # fmt: skip
