"""A mechanism read from MJCF beside MuJoCo's own model of the file: the same state and what MuJoCo makes of it."""

import dataclasses
from pathlib import Path

import numpy as np

import varint as vi
from varint.io.formats.mjcf import compiled
from varint.io.mjcf_source import MJCFSource
from varint.io.xml_files import read_xml
from varint.model.import_report import ImportNotes
from varint.model.rotation_vectors import quat_from_matrix, quat_from_vector

OFF = ("CONTACT", "LIMIT", "FRICTIONLOSS")
SMOOTHED = (vi.JointStop, vi.LengthStop, vi.JointFriction)


class Peer:
    """``mechanism`` without limits and friction, which are smooth or soft in one of the two, beside ``model``."""

    def __init__(self, path, packages=()):
        import mujoco

        self.mj = mujoco
        read = vi.load_mechanism(path, packages=packages)
        self.report = read.import_report
        forces = [force for force in read.forces if not isinstance(force, SMOOTHED)]
        self.mechanism = dataclasses.replace(read, forces=forces, start={})
        named = compiled(MJCFSource(read_xml(path), Path(path), [Path(p) for p in packages], ImportNotes(Path(path))))
        try:
            self.model = mujoco.MjModel.from_xml_path(str(path))  # of the file itself
        except ValueError:  # some name materials and sensors that are not there, which we never need
            self.model = named
        assert (named.nbody, named.nq) == (self.model.nbody, self.model.nq)
        self.bodies = {named.body(i).name: i for i in range(1, named.nbody)}
        self.joints = {named.joint(i).name: i for i in range(named.njnt)}
        self.tendons = {named.tendon(i).name: i for i in range(named.ntendon)}
        for flag in OFF:
            self.model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
        self.data = mujoco.MjData(self.model)

    def randomise(self, rng, size=1.0):
        """A random state of MuJoCo's, with all that follows from it."""
        mujoco, m, d = self.mj, self.model, self.data
        mujoco.mj_resetData(m, d)
        d.qvel[:] = rng.uniform(-size, size, m.nv)
        mujoco.mj_integratePos(m, d.qpos, rng.uniform(-size, size, m.nv), 1.0)
        self.forward()

    def forward(self):
        """All that follows from MuJoCo's state."""
        self.mj.mj_forward(self.model, self.data)
        self.mj.mj_rnePostConstraint(self.model, self.data)

    def links(self, body):
        """Numbers of the model's bodies that are one body of ours, with the one that gives it its name."""
        first = self.bodies[body]
        weld = self.model.body_weldid
        return first, [i for i in range(1, self.model.nbody) if weld[i] == weld[first]]

    def centre(self, members):
        mass = self.model.body_mass[members]
        return mass @ self.data.xipos[members] / mass.sum()

    def motion(self, body, acceleration=False):
        """Rotation, centre, and velocity or acceleration of it in the world, with the angular one."""
        m, d = self.model, self.data
        first, members = self.links(body)
        R, x = d.xmat[first].reshape(3, 3), self.centre(members)
        arm, found, kind = x - d.xpos[first], np.zeros(6), self.mj.mjtObj.mjOBJ_XBODY
        self.mj.mj_objectVelocity(m, d, kind, first, found, 0)
        w, v = found[:3].copy(), found[3:] + np.cross(found[:3], arm)
        if not acceleration:
            return R, x, v, w
        self.mj.mj_objectAcceleration(m, d, kind, first, found, 0)
        a = found[3:] + self.gravity() + np.cross(found[:3], arm) + np.cross(w, np.cross(w, arm))
        return a, found[:3].copy()

    def gravity(self):
        off = self.model.opt.disableflags & int(self.mj.mjtDisableBit.mjDSBL_GRAVITY)
        return np.zeros(3) if off else self.model.opt.gravity

    def state(self):
        """Ours of MuJoCo's."""
        rows = []
        for body in self.mechanism.bodies:
            if body.name in self.bodies:
                R, x, v, w = self.motion(body.name)
                rows.append((x, quat_from_matrix(R), v, R.T @ w))
            else:
                joint = self.joints[body.name.removeprefix("rotor of ")]
                q = self.data.qpos[self.model.jnt_qposadr[joint]] - self.model.qpos0[self.model.jnt_qposadr[joint]]
                rate = np.array([0.0, 0.0, self.data.qvel[self.model.jnt_dofadr[joint]]])
                rows.append((body.position, quat_from_vector([0.0, 0.0, q]), np.zeros(3), rate))
        return vi.State(*(np.array(column) for column in zip(*rows, strict=True)))

    def errors_of_accelerations(self):
        """The largest error of ours, linear or angular, over the largest acceleration."""
        ours = vi.accelerations(self.mechanism, self.state())
        worst, size = 0.0, 1.0
        for number, body in enumerate(self.mechanism.bodies):
            if body.name in self.bodies:
                linear, angular = self.motion(body.name, acceleration=True)
                R = self.motion(body.name)[0]
                size = max(size, np.abs(linear).max(), np.abs(angular).max())
                worst = max(
                    worst,
                    np.abs(ours.linear[number] - linear).max(),
                    np.abs(R @ ours.angular[number] - angular).max(),
                )
        return worst / size
