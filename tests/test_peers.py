"""Robots of other packages: what is read of them equals what Pinocchio reads, and each runs or is refused in words.

The extra varint-dynamics[test-peers] installs Pinocchio and the robots. Without them this file is skipped.
"""

import warnings

import numpy as np
import pytest
from robot_files import found, label

import varint as vi
from varint.model.rotation_vectors import quat_from_vector, rotation_matrix

pin = pytest.importorskip("pinocchio", reason="needs the extra varint-dynamics[test-peers]")

URDF = found(".urdf")
KNOWN = 1e-10  # of masses, frames and inertias
MOVED = 1e-9  # of accelerations, over the largest

if not URDF:
    pytest.skip("needs the robots of the extra varint-dynamics[test-peers]", allow_module_level=True)


def loaded(path):
    """The mechanism, or a skip where it is refused."""
    try:
        return vi.load_mechanism(path)
    except (vi.FileError, vi.MechanismError) as problem:
        assert str(path) in str(problem)  # noqa: PT017
        pytest.skip("refused")


def offsets(report):
    """Of joints that mimic others: the coordinate of the file where ours is zero."""
    told = [entry.what for entry in report.approximated if "the offset of <mimic>" in entry.what]
    return {what.split("'")[1]: float(what.split(" zero at ")[1].split(",")[0]) for what in told}


class Peer:
    """A mechanism without what Pinocchio does not know, beside Pinocchio's model of the same file."""

    def __init__(self, path):
        read = loaded(path)
        report, self.offset = read.import_report, offsets(read.import_report)
        self.whole = not any("has no mass and nothing hangs" in entry.what for entry in report.approximated)
        self.repaired = any("largest moment of inertia" in entry.what for entry in report.approximated)
        self.dampers = [force for force in read.forces if isinstance(force, vi.JointDamper)]
        self.mechanism = vi.Mechanism(read.name, read.bodies, read.joints, forces=self.dampers)
        floats = any(joint.name.endswith(" floats") for joint in read.joints)
        base = (pin.JointModelFreeFlyer(),) if floats else ()
        self.model = pin.buildModelFromUrdf(str(path), *base)
        self.data = self.model.createData()

    def numbers(self, joint):
        """Of the joint in the model, or of those that it is made of, with massless links in between."""
        if joint.name.endswith(" floats"):
            return [self.model.getJointId("root_joint")]
        return [self.model.getJointId(name) for name in joint.name.split(" + ")]

    def number(self, joint):
        """Of the one that moves the body."""
        return self.numbers(joint)[-1]

    def configuration(self, coordinates):
        """Pinocchio's q of coordinates by joint; joints of other kinds stay at zero."""
        q = pin.neutral(self.model)
        for joint in self.mechanism.joints:
            value = np.atleast_1d(coordinates.get(joint.name, np.zeros(joint.dof)))
            if self.model.nqs[self.number(joint)] == 7:
                w, x, y, z = quat_from_vector(value[3:])
                first = self.model.idx_qs[self.number(joint)]
                q[first : first + 7] = [*(value[:3] + self.start_of(joint)), x, y, z, w]
                continue
            numbers = self.numbers(joint)
            for number, part in zip(numbers, value, strict=False) if len(numbers) == joint.dof else ():
                first, size = self.model.idx_qs[number], self.model.nqs[number]
                angle = part + self.offset.get(self.model.names[number], 0.0)
                q[first : first + size] = [np.cos(angle), np.sin(angle)] if size == 2 else angle
        return q

    def start_of(self, joint):
        """Where the link of a base that floats begins, from where its joint has its anchor."""
        if not joint.name.endswith(" floats"):
            return np.zeros(3)
        body, number = self.mechanism.body(joint.body_b), self.number(joint)
        return body.position - rotation_matrix(body.quat_wxyz) @ self.model.inertias[number].lever

    def ready(self):
        """Whether the joints are one to one, and of kinds with the same coordinates."""
        known = all(
            len(self.numbers(joint)) == joint.dof or (isinstance(joint, vi.Free) and not joint.name.endswith(" floats"))
            for joint in self.mechanism.joints
        )
        return known and self.whole


@pytest.mark.slow
@pytest.mark.parametrize("path", URDF, ids=label)
def test_bodies_and_joints_are_those_of_pinocchio(path):
    peer = Peer(path)
    mechanism, model, data = peer.mechanism, peer.model, peer.data
    pin.forwardKinematics(model, data, peer.configuration({}))
    for joint in mechanism.joints:
        number, body = peer.number(joint), mechanism.body(joint.body_b)
        inertia, place = model.inertias[number], data.oMi[number]
        above = model.names[model.parents[peer.numbers(joint)[0]]]
        moved_by = next((other.body_b for other in mechanism.joints if other.name.split(" + ")[-1] == above), "world")
        assert moved_by == joint.body_a
        assert body.mass == pytest.approx(inertia.mass, rel=KNOWN)
        assert rotation_matrix(body.quat_wxyz) == pytest.approx(place.rotation, abs=KNOWN)
        assert body.position == pytest.approx(place.act(inertia.lever), abs=KNOWN)
        if not joint.name.endswith(" floats"):
            first = data.oMi[peer.numbers(joint)[0]]  # the hinges of one joint can be apart
            assert joint.point == pytest.approx(first.translation, abs=KNOWN)
        if not peer.repaired:
            assert body.inertia == pytest.approx(inertia.inertia, abs=KNOWN)


@pytest.mark.slow
@pytest.mark.parametrize("path", URDF, ids=label)
def test_accelerations_are_those_of_pinocchio(path):
    """Its articulated-body algorithm, at random states, with the damping of the file."""
    peer = Peer(path)
    if not peer.ready() or peer.repaired:
        pytest.skip("other joints or inertias than Pinocchio's")
    mechanism, model, data, rng = peer.mechanism, peer.model, peer.data, np.random.default_rng(7)
    for _ in range(3):
        coordinates = {joint.name: rng.uniform(-1, 1, joint.dof) for joint in mechanism.joints}
        turning = [joint for joint in mechanism.joints if not isinstance(joint, vi.Free)]
        rates = {joint.name: rng.uniform(-1, 1, joint.dof) for joint in turning}
        v, damping = np.zeros(model.nv), np.zeros(model.nv)
        for joint in turning:
            v[[model.idx_vs[number] for number in peer.numbers(joint)]] = rates[joint.name]
        for force in peer.dampers:
            number = peer.numbers(mechanism.joint(force.joint))[force.coordinate]
            damping[model.idx_vs[number]] = force.damping
        q = peer.configuration(coordinates)
        pin.forwardKinematics(model, data, q, v, pin.aba(model, data, q, v, -damping * v))
        ours = vi.accelerations(mechanism, mechanism.state(coordinates=coordinates, rates=rates))
        linear, angular = np.zeros_like(ours.linear), np.zeros_like(ours.angular)
        for joint in mechanism.joints:
            number, row = peer.number(joint), mechanism.body_index[joint.body_b]
            arm, turn = model.inertias[number].lever, data.oMi[number].rotation
            spin = pin.getVelocity(model, data, number, pin.ReferenceFrame.LOCAL).angular
            found = pin.getClassicalAcceleration(model, data, number, pin.ReferenceFrame.LOCAL)
            linear[row] = turn @ (found.linear + np.cross(found.angular, arm) + np.cross(spin, np.cross(spin, arm)))
            angular[row] = found.angular
        size = max(1.0, np.abs(linear).max(), np.abs(angular).max())
        assert ours.linear == pytest.approx(linear, abs=MOVED * size)
        assert ours.angular == pytest.approx(angular, abs=MOVED * size)


@pytest.mark.slow
@pytest.mark.parametrize("path", [*URDF, *found(".sdf")], ids=label)
def test_runs_of_a_second_stay_closed(path):
    mechanism = loaded(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vi.UnresolvedWarning)
        traj = vi.simulate(mechanism, 1.0, 1e-3, every=10)
    assert np.isfinite(traj.position).all()
    assert traj.drift.max() < 1e-9
