"""MuJoCo as a peer: joint coordinates, loops closed by soft constraints; the mechanism is passed as MJCF."""

from typing import Any

import numpy as np

from varint.base.errors import PeerError
from varint.extras.peers.base import BodyMotion, Simulator, register
from varint.files.mjcf.writer import Document
from varint.model.state import State

FASTEST = 2.0  # time constant of soft constraints, in steps: the shortest that MuJoCo does not lengthen by itself
IMPEDANCE = 0.9999  # of soft constraints: the largest that MuJoCo accepts
TOLERANCE = 1e-12  # of MuJoCo's solver, below the default 1e-8, so that its error is that of the step


@register
class MuJoCo(Simulator):
    """Simulate with MuJoCo's C loop and a model compiled from MJCF.

    Loops are closed by ``connect`` and ``weld`` constraints, as stiff as MuJoCo's stable range allows: solref =
    (2 dt, 1), solimp = 0.9999 over all violations. Joint stops are limits of the same stiffness.
    """

    name = "mujoco"
    package = distribution = "mujoco"
    integrators = {
        "euler": "semi-implicit, with implicit damping of joints",
        "rk4": "Runge-Kutta of order 4",
        "implicitfast": "semi-implicit, implicit in velocities, without the Coriolis terms",
        "implicit": "semi-implicit, implicit in velocities",
    }
    loops = "soft constraints, solref = (2 dt, 1), solimp = 0.9999"

    def build(self) -> None:
        """See `Simulator`."""
        import mujoco

        self.document = Document(self.mechanism)
        self.refused += self.document.refused
        if self.refused:
            return
        try:
            self.model = m = mujoco.MjModel.from_xml_string(self.document.text)
        except ValueError as problem:
            raise PeerError(f"mujoco does not compile '{self.mechanism.name}': {problem}") from None
        m.opt.timestep, m.opt.tolerance = self.dt, TOLERANCE
        m.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{_spelled(self.integrator)}")
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)  # else a diverged run restarts silently
        for ref, imp in ((m.eq_solref, m.eq_solimp), (m.jnt_solref, m.jnt_solimp)):
            ref[:] = FASTEST * self.dt, 1.0
            imp[:, :2] = IMPEDANCE
        self.data = mujoco.MjData(m)
        self.bodies = [m.body(body.name).id for body in self.mechanism.bodies]
        self.control = np.array(self.document.control)

    def start(self, state: State) -> None:
        """See `Simulator`."""
        import mujoco

        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.document.coordinates(state)

    def advance(self, steps: int) -> np.ndarray:
        """See `Simulator`: returns states (steps, n) in the layout of mj_getState."""
        import mujoco
        from mujoco import rollout

        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        present = np.empty(mujoco.mj_stateSize(self.model, kind))
        mujoco.mj_getState(self.model, self.data, present, kind)
        control = np.broadcast_to(self.control, (1, steps, self.control.size)).copy() if self.control.size else None
        warm = self.data.qacc_warmstart.copy()
        states, _ = rollout.rollout(
            self.model, self.data, present[None], control, nstep=steps, initial_warmstart=warm[None]
        )
        return states[0]

    def motion(self, states: Any) -> BodyMotion:
        """See `Simulator`."""
        import mujoco

        m, d = self.model, mujoco.MjData(self.model)
        n, chosen = len(states), self.bodies
        position, velocity, spin = np.empty((3, n, len(chosen), 3))
        rotation = np.empty((n, len(chosen), 3, 3))
        for k, row in enumerate(states):
            mujoco.mj_setState(m, d, row, mujoco.mjtState.mjSTATE_FULLPHYSICS)
            mujoco.mj_kinematics(m, d)
            mujoco.mj_comPos(m, d)
            mujoco.mj_comVel(m, d)
            position[k], rotation[k] = d.xpos[chosen], d.xmat[chosen].reshape(-1, 3, 3)
            about, turning = d.subtree_com[m.body_rootid[chosen]], d.cvel[chosen]
            velocity[k] = turning[:, 3:] + np.cross(turning[:, :3], position[k] - about)
            spin[k] = np.einsum("bji,bj->bi", rotation[k], turning[:, :3])
        return BodyMotion(position, rotation, velocity, spin)


def _spelled(integrator: str) -> str:
    """Return the name of ``integrator``, a key of `MuJoCo.integrators`, in ``mjtIntegrator``."""
    return {"euler": "EULER", "rk4": "RK4", "implicit": "IMPLICIT", "implicitfast": "IMPLICITFAST"}[integrator]
