"""A run as data: what a file holds of it and what a trajectory is made of."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from varint.mechanism import Mechanism


class Counts(NamedTuple):
    """What a run has done: steps, Newton iterations, sub-steps beyond one a step, evaluations of the accelerations."""

    steps: int = 0
    newton_iterations: int = 0
    substeps: int = 0
    evaluations: int = 0


@dataclass(frozen=True, eq=False)
class Record:
    """A run of T recorded nodes.

    Attributes
    ----------
    mechanism : Mechanism
    settings : dict
        Arguments of the run, JSON-ready; ``formulation`` says who made it.
    layout : dict
        JSON-ready: what the columns of the arrays belong to, where the mechanism alone does not say it.
    nodes : dict of name to (T, ...)
        "t" in s among them.
    load : (T or 1, nb, 6)
        External force, N, world, and torque, N m, body, without gravity; one for all where constant.
    counts : Counts
    status : int
        0 done, 1 a step could not be solved, -1 unfinished.
    message : str
    wall_time : float
        Seconds spent stepping.
    """

    mechanism: Mechanism
    settings: dict
    layout: dict
    nodes: dict[str, np.ndarray]
    load: np.ndarray
    counts: Counts
    status: int
    message: str
    wall_time: float

    def common(self) -> dict:
        """The fields that trajectories of both formulations have."""
        names = ("t", "position", "quat_wxyz", "velocity", "angular_velocity", "work", "command")
        return {name: self.nodes[name] for name in names} | {
            "law_states": self.nodes["law_state"],
            "unresolved_body": self.nodes.get("unresolved_body", np.full(len(self.nodes["t"]), -1)),
            "mechanism": self.mechanism,
            "load": self.load,
            "steps": self.counts.steps,
            "newton_iterations": self.counts.newton_iterations,
            "substeps": self.counts.substeps,
            "success": self.status == 0,
            "status": self.status,
            "message": self.message,
            "wall_time": self.wall_time,
        }
