"""The settings of a run that its file and its trajectory keep, as far as all methods share them."""

from typing import Any

import numpy as np

from varint.kinematics.turns import turns_settings
from varint.model.state import State
from varint.runs.problem import Problem, Recording


def shared_settings(
    problem: Problem, recording: Recording, steps: int, times: np.ndarray | None, state: State
) -> dict[str, Any]:
    """Return the settings by name: ``steps`` in all, ``times`` of output, s, and the ``state`` at the start."""
    return {
        "duration": problem.duration,
        "every": recording.every,
        "diagnostics_every": recording.diagnostics_every,
        "output_times": None if times is None else len(times),
        "steps": steps,
        **turns_settings(state.turns, state.memory),
    }
