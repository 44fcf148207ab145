"""A state as the node about which changes are taken: with its rows, momenta and rates, in a workspace of its own."""

import numpy as np

from varint.derivatives.linear.candidates import Candidates
from varint.derivatives.linear.minimal_coordinates import Coordinates, coordinates_at
from varint.derivatives.linear.step_tangents import basis_of
from varint.kinematics.turns import count_from, near_of
from varint.mechanism.mechanism import Mechanism
from varint.model.state import State
from varint.step.configuration import place_anew
from varint.step.workspace import tangent_work, workspace


class PlacedState:
    """The node of a ``state`` of a mechanism, which `place` sets; ``ws``: the workspace, in which it is pose 0."""

    state: State

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.compiled = mechanism, mechanism.compiled
        plan = self.compiled.plan
        self.work, self.ws = tangent_work(plan), workspace(plan, functions=self.compiled.functions)
        self.candidates = Candidates(mechanism)

    @property
    def kept_elements(self) -> np.ndarray:
        """Elements (c,) of the forces that keep, or prescribe, a sum."""
        return self.compiled.plan.constraints.element

    def place(self, state: State) -> None:
        """Set pose, momenta, and rates of the sums that constraints keep."""
        plan, ws, order = self.compiled.plan, self.ws, self.compiled.order
        self.state = state
        ws.position[0, :-1], ws.quat[0, :-1] = state.position[order], state.quat_wxyz[order]
        count_from(plan, ws, near_of(self.mechanism, state))
        place_anew(plan, ws, 0)
        velocity = np.hstack([state.velocity, state.angular_velocity])[order]
        ws.momentum[:, :3] = plan.bodies.mass[:, None] * velocity[:, :3]
        ws.momentum[:, 3:] = np.einsum("nab,nb->na", plan.bodies.inertia, velocity[:, 3:])
        moving = np.vstack([velocity, np.zeros(6)])
        for first, size in zip(plan.constraints.row, plan.constraints.size, strict=True):
            rows = slice(first, first + size)
            ws.efforts.target_rate[first] = np.sum(ws.jacobian[0, rows] * moving[plan.measures.body[rows]])

    def coordinates(self) -> Coordinates:
        """Return minimal coordinates about the state. Raises StateError, see `coordinates_at`."""
        return coordinates_at(self.candidates, self.ws, self.work, self.state)

    def along(self, coordinates: Coordinates) -> np.ndarray:
        """Return changes (2 n, nb, 12) of pose and velocity by coordinates about the state, and by their rates."""
        return basis_of(coordinates, self.compiled, self.ws, self.work)
