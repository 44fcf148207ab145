"""A mechanism read from MJCF beside MuJoCo's own model of the file: the same state and what MuJoCo makes of it.

`Peer` is of a file, `MusclePeer` of an MjSpec whose muscles have activations that stay.
"""

import dataclasses
from pathlib import Path

import numpy as np

import varint as vi
from varint.files.formats.mjcf import compiled
from varint.files.mjcf.source import MJCFSource
from varint.files.robots.xml_files import read_xml
from varint.model.import_report import ImportNotes
from varint.model.rotation_vectors import quat_from_matrix, quat_from_vector

OFF = ("CONTACT", "LIMIT", "FRICTIONLOSS")
NESTED = 3  # the most equalities that lead from one joint to another, one after another
SMOOTHED = (vi.JointStop, vi.LengthStop, vi.JointFriction)


class Peer:
    """``mechanism`` without limits and friction, which are smooth or soft in one of the two, beside ``model``."""

    def __init__(self, path, packages=(), repair=False):
        import mujoco

        self.mj = mujoco
        read = vi.load_mechanism(path, packages=packages, repair=repair)
        self.report = read.import_report
        forces = [force for force in read.forces if not isinstance(force, SMOOTHED)]
        self.mechanism = dataclasses.replace(read, forces=forces, start={})
        notes = ImportNotes(Path(path), repair)
        _, named = compiled(MJCFSource(read_xml(path, notes), Path(path), [Path(p) for p in packages], notes))
        try:
            self.model = mujoco.MjModel.from_xml_path(str(path))  # of the file itself
        except ValueError:  # some name materials and sensors that are not there, which we never need
            self.model = named
        assert (named.nbody, named.nq) == (self.model.nbody, self.model.nq)
        self.bodies = {named.body(i).name: i for i in range(1, named.nbody)}
        self.joints = {named.joint(i).name: i for i in range(named.njnt)}
        self.tendons = {named.tendon(i).name: i for i in range(named.ntendon)}
        self._without(*OFF)
        self.data = mujoco.MjData(self.model)

    def _without(self, *flags):
        for flag in flags:
            self.model.opt.disableflags |= int(getattr(self.mj.mjtDisableBit, f"mjDSBL_{flag}"))

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


class MusclePeer(Peer):
    """`Peer` of an MjSpec with muscles; equalities of joints are held exactly, where MuJoCo's are springs."""

    def __init__(self, spec):
        import mujoco

        self.mj, self.model = mujoco, spec.copy().compile()
        read = vi.load_mechanism(spec)
        self.report, m = read.import_report, self.model
        forces = [force for force in read.forces if not isinstance(force, SMOOTHED)]
        self.mechanism = dataclasses.replace(read, forces=forces, start={})
        self.bodies = {m.body(i).name: i for i in range(1, m.nbody)}
        self.joints = {m.joint(i).name: i for i in range(m.njnt)}
        self._without(*OFF, "EQUALITY")
        self.equalities = [
            (int(m.eq_obj1id[k]), int(m.eq_obj2id[k]), np.polynomial.Polynomial(m.eq_data[k, :5]))
            for k in np.flatnonzero((m.eq_type == mujoco.mjtEq.mjEQ_JOINT) & (m.eq_active0 > 0))
        ]
        self.data = mujoco.MjData(m)

    @property
    def muscles(self):
        return [force for force in self.mechanism.forces if isinstance(force, vi.Musculotendon)]

    def excite(self, rng):
        """Random activations of the muscles; other actuators stay at their control of zero."""
        m = self.model
        given = {f"actuator {m.actuator(i).name}": i for i in range(m.nu)}
        at = {force.name: float(rng.uniform(0.0, 1.0)) for force in self.muscles}
        for name, activation in at.items():
            self.data.act[m.actuator_actadr[given[name]]] = activation
        forces = [
            dataclasses.replace(force, activation_times=None, activation_blend=0.0, excitation=at[force.name])
            if force.name in at
            else force
            for force in self.mechanism.forces
        ]
        self.mechanism = dataclasses.replace(self.mechanism, forces=forces)

    def within_ranges(self, rng, rate=1.0):
        """A random state: coordinates within the ranges of their joints, where they have one, that hold equalities."""
        m, d = self.model, self.data
        activation, control = d.act.copy(), d.ctrl.copy()
        self.mj.mj_resetData(m, d)
        d.act[:], d.ctrl[:] = activation, control
        d.qvel[:] = rng.uniform(-rate, rate, m.nv)
        self.mj.mj_integratePos(m, d.qpos, rng.uniform(-1.0, 1.0, m.nv), 0.5)
        for joint in np.flatnonzero(m.jnt_limited):
            low, high = m.jnt_range[joint]
            d.qpos[m.jnt_qposadr[joint]] = rng.uniform(low, high)
        for first, second, polynomial in NESTED * self.equalities:
            place, dof = m.jnt_qposadr[first], m.jnt_dofadr[first]
            d.qpos[place], d.qvel[dof] = m.qpos0[place] + polynomial(0.0), 0.0
            if second >= 0:
                other, turning = m.jnt_qposadr[second], m.jnt_dofadr[second]
                x = d.qpos[other] - m.qpos0[other]
                d.qpos[place] = m.qpos0[place] + polynomial(x)
                d.qvel[dof] = polynomial.deriv()(x) * d.qvel[turning]
        self.forward()

    def keep_equalities(self):
        """MuJoCo's accelerations with equalities held exactly, from its mass matrix and forces."""
        if not self.equalities:
            return
        m, d, mujoco = self.model, self.data, self.mj
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, M, d.qM) if hasattr(d, "qM") else mujoco.mj_fullM(m, d, M)
        count = len(self.equalities)
        G, right = np.zeros((count, m.nv)), np.zeros(count)
        for row, (first, second, polynomial) in enumerate(self.equalities):
            G[row, m.jnt_dofadr[first]] = 1.0
            if second >= 0:
                place, dof = m.jnt_qposadr[second], m.jnt_dofadr[second]
                x = d.qpos[place] - m.qpos0[place]
                G[row, dof] = -polynomial.deriv()(x)
                right[row] = polynomial.deriv(2)(x) * d.qvel[dof] ** 2
        force = d.qfrc_actuator + d.qfrc_passive - d.qfrc_bias
        whole = np.block([[M, -G.T], [G, np.zeros((count, count))]])
        d.qacc[:] = np.linalg.solve(whole, np.concatenate([force, right]))[: m.nv]
        mujoco.mj_rnePostConstraint(m, d)


def with_first_parameter_twice(young, poisson):
    """Young's modulus and Poisson's ratio with the same shear modulus and twice the first Lamé parameter."""
    shear, first = 0.5 * young / (1.0 + poisson), 2.0 * young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
    ratio = 0.5 * first / (first + shear)
    return 2.0 * shear * (1.0 + ratio), ratio
