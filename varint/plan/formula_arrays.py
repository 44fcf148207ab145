"""Arrays of the plan: functions of users of the poses of bodies, and the measures that are parts of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from varint.model.structure import Structure
from varint.plan.roles import Roles


def formula_arrays(structure: Structure, roles: Roles, places: Sequence[int], slot: np.ndarray, count: int) -> dict:
    """Return the arrays of `plan.formulas`, on bodies of ``structure``.

    ``places``: of the measures of forces among the ``count`` of the plan.
    """
    parts: list[tuple[int, Any]] = [
        (m, one) for m, one in zip(places, roles.measures, strict=True) if hasattr(one, "formula")
    ]
    formulas = list({id(one.formula): one for _, one in parts}.values())
    number = {id(one.formula): k for k, one in enumerate(formulas)}
    part_of = np.full(count if parts else 0, -1)
    part_of[[m for m, _ in parts]] = np.arange(len(parts))
    bodies = [[slot[structure.body_index[name]] for name in one.bodies] for one in formulas]
    none = np.zeros(0, dtype=np.int64)

    def joined(arrays: list) -> np.ndarray:
        return np.concatenate([none, *arrays]).astype(np.int64)

    def ends(arrays: list) -> np.ndarray:
        return np.cumsum([0, *map(len, arrays)])

    operations = [one.formula.operation for one in formulas]
    outputs = [one.formula.output for one in formulas]
    return {
        "operation": np.concatenate([np.zeros((0, 3), dtype=np.int64), *operations]),
        "constant": np.concatenate([np.zeros(0), *(one.formula.constant for one in formulas)]),
        "first": ends(operations),
        "output": joined(outputs),
        "output_first": ends(outputs),
        "body": joined(bodies),
        "body_first": ends(bodies),
        "part_of": part_of,
        "formula": np.array([number[id(one.formula)] for _, one in parts], dtype=np.int64),
        "end": np.reshape([one.ends for _, one in parts], (-1, 2)).astype(np.int64),
        "share": np.reshape([one.share for _, one in parts], (-1, 2)).astype(float),
        "leads": np.array([one.leads for _, one in parts], dtype=np.int64),
    }
