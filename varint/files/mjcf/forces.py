"""Forces of an MJCF model beside the joints' own springs: tendons, actuators, rotors, gravcomp; and its start."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from varint.base.errors import AssemblyError, StateError
from varint.files.mjcf.flex import Elasticity, Flex, soft_forces
from varint.files.mjcf.models import ModelSource
from varint.files.mjcf.muscles import is_muscle, muscle, wrapped_tendon, wraps_of
from varint.files.mjcf.numbers import (
    BIAS_AFFINE,
    BIAS_NONE,
    DYN_NONE,
    EQ_CONNECT,
    EQ_FLEXES,
    EQ_JOINT,
    EQ_TENDON,
    EQ_WELD,
    GAIN_FIXED,
    JOINT_BALL,
    JOINT_FREE,
    TRN_JOINT,
    TRN_JOINTINPARENT,
    WRAP_JOINT,
    WRAP_SITE,
    active_equalities,
    count_actuators,
    is_off,
)
from varint.files.mjcf.source import MJCFSource
from varint.files.robots.kinds import (
    BodyDamper,
    Coupling,
    JointDamper,
    JointFriction,
    JointServo,
    JointStop,
    LengthStop,
    Motor,
    MultiPointCable,
    MultiPointSpring,
    PointForce,
    TorsionSpring,
)
from varint.files.robots.rotors import leave_out_armature, rotor_of
from varint.files.robots.xml_files import XMLElement
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD, Body
from varint.model.forces.base import Force
from varint.model.import_report import ImportNotes
from varint.model.joints.base import Joint
from varint.model.rotation_vectors import left_jacobian, rotation_matrix, vector_from_matrix

SAME_LIMIT = 1e-9  # rad or m: limits that are this near are met together
GROUPS = 31  # of actuators, that can be disabled
Places = Mapping[int, tuple[str, int, float]]
Wide = Mapping[int, tuple[str, int]]


class MJCFForces:
    """Adds to a mechanism what acts in the model; ``rest``: MuJoCo's data in the reference configuration.

    places, wide : see the reading of a model
    bodies, joints, rotors : of armatures; the last: joint and number of the coordinate that each follows
    heavier : armatures of balls, kg m^2, by the bodies whose inertia they are part of
    """

    def __init__(
        self, model: Any, source: MJCFSource | ModelSource, notes: ImportNotes, places: tuple[Places, Wide], rest: Any
    ) -> None:
        self.m, self.source, self.notes, self.rest = model, source, notes, rest
        self.places, self.wide = places
        self.bodies: list[Body] = []
        self.joints: list[Joint] = []
        self.rotors: dict[str, tuple[str, int]] = {}
        self.heavier: dict[str, float] = {}

    def added_to(self, mechanism: Mechanism, flexes: Sequence[Flex], elasticity: Sequence[Elasticity]) -> Mechanism:
        """Return the mechanism with the forces of the model, flexible bodies included, and its report."""
        self.mechanism = mechanism
        self.stops = [force for force in mechanism.forces if isinstance(force, JointStop)]
        flex_bodies = {body for flex in flexes for body in flex.vertex_bodies}
        names = ["" if body in flex_bodies else self.body_named(body) for body in range(self.m.nbody)]
        forces = [*mechanism.forces, *self._rotors(), *self._dampers(), *self._weights()]
        if not is_off(self.m, "EQUALITY"):
            forces += self._equalities()
        forces += self._tendons()
        if not is_off(self.m, "ACTUATION"):
            forces += self._actuators()
        forces += soft_forces(self.m, flexes, elasticity, names)
        self._polynomials()
        whole = dataclasses.replace(
            mechanism,
            bodies=[*(self._heavy(body) for body in mechanism.bodies), *self.bodies],
            joints=[*mechanism.joints, *self.joints],
            forces=forces,
        )
        return self.notes.attached(self._started(whole))

    def _heavy(self, body: Body) -> Body:
        """Return a body with the armature of its ball joint."""
        if body.name not in self.heavier:
            return body
        return dataclasses.replace(body, inertia=body.inertia + self.heavier[body.name] * np.eye(3))

    # ------------------------------------------------------------------------------------------------- joints

    def _rotors(self) -> Iterator[Force]:
        """Yield couplings to rotors, which replace armatures: each turns about itself at the rate of the joint."""
        m = self.m
        for joint in range(m.njnt):
            dof, name = int(m.jnt_dofadr[joint]), str(m.joint(joint).name)
            armature, at = float(m.dof_armature[dof]), self.source.at("joint", name)
            if not armature or (joint not in self.places and m.jnt_type[joint] not in (JOINT_FREE, JOINT_BALL)):
                continue
            if joint not in self.places:
                self._widen(joint, name, armature, at)
                continue
            tie, number, _ = self.places[joint]
            point = self.mechanism.joint(tie).point
            assert point is not None  # of all that a file has
            body, hinge, coupling = rotor_of(name, (tie, number), armature, point)
            self.bodies.append(body)
            self.joints.append(hinge)
            self.rotors[hinge.name] = tie, number
            self.notes.read(f"armature of joint '{name}' is the inertia of a rotor coupled to it", at)
            yield coupling

    def _widen(self, joint: int, name: str, armature: float, at: XMLElement) -> None:
        """Add the armature of a ball joint, kg m^2, to the inertia of its body, or warn that it is left out.

        It is inertia against the angular velocity over the parent: of a body whose parent is the world its own.
        """
        body = int(self.m.jnt_bodyid[joint])
        if self.m.jnt_type[joint] != JOINT_BALL:
            self.notes.left_out(f"armature of free joint '{name}'", at)
            return
        if name in self.mechanism.joint_index and self._hangs_on_the_world(name):
            self.heavier[self.notes.body_of[str(self.m.body(body).name)]] = armature
            self.notes.read(f"armature of ball '{name}' is part of the inertia of its body", at)
            return
        leave_out_armature(name, armature, self.notes, at)

    def _hangs_on_the_world(self, name: str) -> bool:
        """Return whether one of the bodies of a joint is the world."""
        joint = self.mechanism.joint(name)
        return WORLD in (joint.body_a, joint.body_b)

    def _dampers(self) -> Iterator[Force]:
        """Yield the dampers and the friction of joints with several axes."""
        m = self.m
        for joint in np.flatnonzero((m.jnt_type == JOINT_FREE) | (m.jnt_type == JOINT_BALL)):
            dof, name = int(m.jnt_dofadr[joint]), str(m.joint(joint).name)
            damping, at, body = float(m.dof_damping[dof]), self.source.at("joint", name), int(m.jnt_bodyid[joint])
            if m.dof_frictionloss[dof] and not is_off(m, "FRICTIONLOSS"):
                yield from self._friction(int(joint), name, float(m.dof_frictionloss[dof]), at)
            if not damping or is_off(m, "DAMPER"):
                continue
            if name not in self.mechanism.joint_index:
                self.notes.left_out(f"damping of ball '{name}', which is not alone", at)
            elif m.jnt_type[joint] == JOINT_FREE:
                of = self.notes.body_of[str(m.body(body).name)]
                off = np.abs(self.mechanism.body(of).position - self.rest.xpos[body]).max()
                if off > 1e-9:
                    says = f"damping of joint '{name}' acts at the centre of mass, not at the origin of the body"
                    self.notes.approximated(says, at)
                yield BodyDamper(f"damping of {name}", of, linear=damping, angular=damping)
            else:
                self.notes.read(f"damping of ball '{name}' is a JointDamper", at)
                yield JointDamper(f"damping of {name}", joint=name, damping=damping)

    def _friction(self, joint: int, name: str, effort: float, at: XMLElement) -> Iterator[Force]:
        """Yield the friction of a ball joint, in MuJoCo a bound about each axis of its body by itself."""
        if self.m.jnt_type[joint] != JOINT_BALL or name not in self.mechanism.joint_index:
            of = "a free joint" if self.m.jnt_type[joint] == JOINT_FREE else "a ball that is not alone"
            self.notes.left_out(f"friction of joint '{name}', {of}", at)
            return
        force = JointFriction(f"friction of {name}", joint=name, effort=effort)
        smooth = f"about each axis of the body by itself, it sets in over {force.smoothing:g} rad/s, and nothing sticks"
        self.notes.approximated(f"friction of ball '{name}' is a JointFriction: {smooth}", at)
        yield force

    def _weights(self) -> Iterator[Force]:
        """Yield forces against the weight of bodies with gravcomp."""
        m, size = self.m, float(np.linalg.norm(self.mechanism.gravity))
        for body in np.flatnonzero(m.body_gravcomp):
            name = str(m.body(body).name)
            of, at = self.notes.body_of.get(name, WORLD), self.source.at("body", name)
            share = float(m.body_gravcomp[body] * m.body_mass[body] * size)
            if of == WORLD or share <= 0.0:
                continue
            point = self.rest.xpos[body] + self.rest.xmat[body].reshape(3, 3) @ m.body_ipos[body]
            self.notes.read(f"gravcomp of body '{name}' is a force against gravity", at)
            yield PointForce(f"gravcomp of {name}", of, direction=-self.mechanism.gravity, magnitude=share, point=point)

    # ------------------------------------------------------------------------------------------------- tendons

    def _terms(self, tendon: int) -> list[tuple[int, float]] | None:
        """Return the moving joints of a fixed tendon with their factors; None for a spatial tendon."""
        m, wraps = self.m, wraps_of(self.m, tendon)
        if m.wrap_type[wraps[0]] != WRAP_JOINT:
            return None
        terms = [(int(m.wrap_objid[wrap]), float(m.wrap_prm[wrap])) for wrap in wraps]
        return [(joint, factor) for joint, factor in terms if joint in self.places and factor]

    def _equalities(self) -> Iterator[Force]:
        """Yield the couplings of fixed tendons."""
        m = self.m
        others = set(m.eq_type.tolist()) - {EQ_CONNECT, EQ_WELD, EQ_JOINT, *EQ_FLEXES}
        for number, name, at in active_equalities(m, self.source, self.notes, others):
            if m.eq_type[number] != EQ_TENDON:
                raise at.wrong(f"equality '{name}' is not connect, weld, joint or tendon: leave it out")
            constant, slope, *higher = (float(one) for one in m.eq_data[number, :5])
            tendons = [int(m.eq_obj1id[number]), int(m.eq_obj2id[number])]
            sums = [self._terms(tendon) for tendon in tendons if tendon >= 0]
            if constant or any(higher) or any(terms is None for terms in sums):
                kind = "of spatial tendons" if None in sums else f"with polycoef {m.eq_data[number, :5].tolist()}"
                defect = at.wrong(
                    f"equality '{name}' {kind} is not held: fixed tendons, and polycoef of a slope alone, are"
                )
                change = f"equality '{name}' {kind}: left out, its joints move without it"
                self.notes.mend(defect, change, at)
                continue
            factors: dict[int, float] = {}
            for terms, scale in zip(sums, (1.0, -slope), strict=False):
                for joint, factor in terms or ():
                    factors[joint] = factors.get(joint, 0.0) + scale * factor
            held = [(*self.places[joint][:2], factor) for joint, factor in factors.items() if factor]
            if len(held) < 2:
                raise at.wrong(f"equality '{name}' of tendons is of fewer than two joints that move: fix the joint")
            self.notes.read(f"equality '{name}' of tendons is a Coupling", at)
            yield Coupling(name, terms=held)

    def _tendons(self) -> Iterator[Force]:
        m = self.m
        for tendon in range(m.ntendon):
            name = str(m.tendon(tendon).name)
            at, terms = self.source.at("tendon", name), self._terms(tendon)
            for property_name in ("frictionloss", "armature"):
                if getattr(m, f"tendon_{property_name}")[tendon]:
                    self.notes.left_out(f"{property_name} of tendon '{name}'", at)
            stiffness = 0.0 if is_off(m, "SPRING") else float(m.tendon_stiffness[tendon])
            damping = 0.0 if is_off(m, "DAMPER") else float(m.tendon_damping[tendon])
            limited = bool(m.tendon_limited[tendon]) and not is_off(m, "LIMIT")
            if not (stiffness or damping or limited):
                self.notes.read(f"tendon '{name}' has no effort of its own", at)
                continue
            if terms is None:
                yield from self._spatial(tendon, name, at, (stiffness, damping), limited)
            elif len(terms) == 1:
                yield from self._fixed(tendon, name, at, terms[0], (stiffness, damping), limited)
            else:
                self.notes.left_out(f"spring, damping or limits of fixed tendon '{name}' of several joints", at)

    def _fixed(
        self,
        tendon: int,
        name: str,
        at: XMLElement,
        term: tuple[int, float],
        effort: tuple[float, float],
        limited: bool,
    ) -> Iterator[Force]:
        """Yield the forces of a fixed tendon of one joint, along its coordinate."""
        m, (joint, factor), (stiffness, damping) = self.m, term, effort
        tie, number, zero = self.places[joint]
        along: dict[str, Any] = {"joint": tie, "coordinate": number}
        lower, upper = m.tendon_lengthspring[tendon]
        if stiffness and lower != upper:
            self.notes.left_out(f"spring of tendon '{name}' with a range of rest", at)
            stiffness = 0.0
        if stiffness or damping:
            spring: dict[str, Any] = {"stiffness": stiffness * factor**2, "damping": damping * factor**2}
            yield TorsionSpring(f"tendon {name}", rest_angle=float(lower) / factor - zero, **spring, **along)
            self.notes.read(f"tendon '{name}' is a TorsionSpring", at)
        if limited:
            lower, upper = sorted(float(bound) / factor - zero for bound in m.tendon_range[tendon])
            stops = [stop for stop in self.stops if (stop.joint, stop.coordinate) == (tie, number)]
            if any(stop.lower >= lower - SAME_LIMIT for stop in stops):  # it is met first, or at once
                lower = -np.inf
            if any(stop.upper <= upper + SAME_LIMIT for stop in stops):
                upper = np.inf
            if np.isinf([lower, upper]).all():
                self.notes.read(f"limits of tendon '{name}' lie beyond other limits of its joint: left out", at)
                return
            self.stops.append(JointStop(f"limits of tendon {name}", lower=lower, upper=upper, **along))
            yield self.stops[-1]
            self.notes.read(f"limits of tendon '{name}' are a JointStop, hard", at)

    def _spatial(
        self, tendon: int, name: str, at: XMLElement, effort: tuple[float, float], limited: bool
    ) -> Iterator[Force]:
        """Yield the forces of a tendon over sites: a spring, or a cable that is slack up to its rest length."""
        m, (stiffness, damping), wraps = self.m, effort, wraps_of(self.m, tendon)
        if any(m.wrap_type[wrap] != WRAP_SITE for wrap in wraps):
            yield from wrapped_tendon(self, tendon, name, at, effort)
            if limited:
                self.notes.left_out(f"limits of tendon '{name}' around surfaces or pulleys", at)
            return
        sites = [int(m.wrap_objid[wrap]) for wrap in wraps]
        bodies = [self.body_named(int(m.site_bodyid[site])) for site in sites]
        points = np.array([self.site_point(site) for site in sites])
        if len(set(bodies)) < 2:
            self.notes.read(f"tendon '{name}' stays on one body: no effort", at)
            return
        lower, upper = (float(bound) for bound in m.tendon_lengthspring[tendon])
        arguments: dict[str, Any] = {"points": points, "rest_length": upper}
        if stiffness and lower == upper:
            yield MultiPointSpring(f"tendon {name}", bodies, stiffness=stiffness, damping=damping, **arguments)
            damping = 0.0
        elif stiffness and lower <= 0.0:
            yield MultiPointCable(f"tendon {name}", bodies, stiffness=stiffness, **arguments)
        elif stiffness:
            self.notes.left_out(f"spring of tendon '{name}' with a range of rest", at)
        if damping:
            yield MultiPointSpring(f"damping of tendon {name}", bodies, stiffness=0.0, damping=damping, **arguments)
        if limited and len(sites) == 2:
            ends = [max(0.0, float(bound)) for bound in m.tendon_range[tendon]]
            pair: dict[str, Any] = {"point_a": points[0], "point_b": points[1], "lower": ends[0], "upper": ends[1]}
            yield LengthStop(f"limits of tendon {name}", *bodies, **pair)
        elif limited:
            self.notes.left_out(f"limits of tendon '{name}' over several sites", at)
        self.notes.read(f"tendon '{name}' over sites", at)

    def body_named(self, body: int) -> str:
        """Return the name of the body that a body of the model is part of."""
        return WORLD if body == 0 else self.notes.body_of[str(self.m.body(body).name)]

    def site_point(self, site: int) -> np.ndarray:
        """Place of a site in the reference configuration (3,), m, world."""
        body = self.m.site_bodyid[site]
        return self.rest.xpos[body] + self.rest.xmat[body].reshape(3, 3) @ self.m.site_pos[site]

    # ------------------------------------------------------------------------------------------------- actuators

    def _actuators(self) -> Iterator[Force]:
        m, bounded = self.m, []
        control = m.key_ctrl[0] if m.nkey else np.zeros(m.nu)
        first_control = getattr(m, "actuator_ctrladr", np.arange(m.nu))
        controls = getattr(m, "actuator_ctrlnum", np.ones(m.nu))
        for number in range(count_actuators(m)):
            name = str(m.actuator(number).name)
            at = self.source.at("actuator", name)
            group = int(m.actuator_group[number])
            if 0 <= group < GROUPS and int(m.opt.disableactuator) >> group & 1:
                self.notes.read(f"actuator '{name}' of group {group}, which <option> disables: left out", at)
                continue
            if controls[number] != 1:
                self.notes.left_out(f"actuator '{name}' <{at.tag}> with {controls[number]:g} controls", at)
                continue
            place = int(first_control[number])
            joint = int(m.actuator_trnid[number, 0])
            of_joint = m.actuator_trntype[number] in (TRN_JOINT, TRN_JOINTINPARENT)
            linear = m.actuator_gaintype[number] == GAIN_FIXED and m.actuator_biastype[number] in (
                BIAS_NONE,
                BIAS_AFFINE,
            )
            plain = linear and m.actuator_dyntype[number] == DYN_NONE
            for property_name in ("armature", "damping"):
                if np.any(getattr(m, f"actuator_{property_name}", np.zeros(count_actuators(m)))[number]):
                    self.notes.left_out(f"{property_name} of actuator '{name}'", at)
            if is_muscle(m, number):
                narrow = m.actuator_ctrllimited[place] and m.actuator_ctrlrange[place].tolist() != [0.0, 1.0]
                bounded += [at] * bool(m.actuator_forcelimited[number] or narrow)
                yield from muscle(self, number, name, at, float(control[place]), self._tendon_at)
                continue
            if not of_joint or not plain or joint not in self.places:
                self.notes.left_out(f"actuator '{name}' <{at.tag}>", at)
                continue
            if m.actuator_forcelimited[number] or m.actuator_ctrllimited[place] or m.jnt_actfrclimited[joint]:
                bounded.append(at)
            yield from self._driven(name, at, number, joint, float(control[place]))
        if m.na and m.nkey and m.key_act[0].any():
            self.notes.approximated("activations of <key> are left out: they start at zero", self.source.root)
        if bounded:
            says = f"bounds of controls and forces of actuators: left out, {len(bounded)} in all"
            self.notes.approximated(says, bounded[0])

    def _tendon_at(self, tendon: int) -> XMLElement:
        return self.source.at("tendon", str(self.m.tendon(tendon).name))

    def _driven(self, name: str, at: XMLElement, number: int, joint: int, control: float) -> Iterator[Force]:
        """Yield the forces of an actuator whose effort is affine in control, length and rate, at a constant control."""
        m, (tie, coordinate, zero) = self.m, self.places[joint]
        gear, along = float(m.actuator_gear[number, 0]), {"joint": tie, "coordinate": coordinate}
        affine = [float(one) for one in m.actuator_biasprm[number, :3]] if m.actuator_biastype[number] else [0.0] * 3
        constant = gear * (float(m.actuator_gainprm[number, 0]) * control + affine[0] + affine[1] * gear * zero)
        stiffness, damping = -affine[1] * gear**2, -affine[2] * gear**2
        if stiffness < 0.0 or damping < 0.0:
            self.notes.left_out(f"actuator '{name}', which pushes away", at)
            return
        arguments: dict[str, Any] = along
        force: Force
        if stiffness:
            target = np.array(constant / stiffness)
            force = JointServo(f"actuator {name}", target=target, stiffness=stiffness, damping=damping, **arguments)
        else:
            force = Motor(f"actuator {name}", effort=np.array(constant), **arguments)
            if damping:
                yield JointDamper(f"damping of actuator {name}", damping=damping, **arguments)
        yield force
        kind = type(force).__name__
        self.notes.read(f"actuator '{name}' <{at.tag}> is a {kind} at the control {control:g}", at)

    def _polynomials(self) -> None:
        """Note springs and dampers that are not linear, where the model has them."""
        m = self.m
        fields = (("jnt_stiffnesspoly", "joint"), ("dof_dampingpoly", "dof"))
        for field, of in (*fields, ("tendon_stiffnesspoly", "tendon"), ("tendon_dampingpoly", "tendon")):
            for number, row in enumerate(getattr(m, field, ())):
                if np.any(row):
                    group = "tendon" if of == "tendon" else "joint"
                    name = str(getattr(m, group)(m.dof_jntid[number] if of == "dof" else number).name)
                    at = self.source.at(group, name)
                    self.notes.left_out(f"polynomial of the spring or damping of {group} '{name}'", at)

    # ------------------------------------------------------------------------------------------------- start

    def _started(self, mechanism: Mechanism) -> Mechanism:
        """Return the mechanism with the first <key> as its start, where its loops can be closed there."""
        m = self.m
        if not m.nkey:
            return self._within_limits(mechanism)
        at = next(self.source.root.all("keyframe"), self.source.root)
        if m.nkey > 1:
            self.notes.approximated(f"the first of {m.nkey} <key> is the start", at)
        moved = m.nmocap and not np.allclose(m.key_mpos[0].reshape(-1, 3), m.body_pos[m.body_mocapid >= 0])
        turned = m.nmocap and not np.allclose(m.key_mquat[0].reshape(-1, 4), m.body_quat[m.body_mocapid >= 0])
        if moved or turned:
            self.notes.not_understood("<key> moves mocap bodies, which stay where they are", at)
        coordinates, rates = self._of_key()
        for coupling, (tie, number) in self.rotors.items():  # which would have to be found by iteration
            for of in (coordinates, rates):
                if tie in of:
                    of[coupling] = of[tie][number : number + 1]
        motion = {name: value for name, value in (("coordinates", coordinates), ("rates", rates)) if value}
        started = dataclasses.replace(mechanism, start=motion)
        try:
            started.state()
        except (StateError, AssemblyError) as problem:
            self.notes.approximated(f"<key> is left out: {problem}", at)
            return mechanism
        self.notes.read("<key> is the start", at)
        return started

    def _within_limits(self, mechanism: Mechanism) -> Mechanism:
        """Return the mechanism with coordinates outside its start at zero, if it closes: rotors must not move it."""
        if not mechanism.start:
            return mechanism
        zero = {joint.name: np.zeros(joint.dof) for joint in self.mechanism.joints if joint.dof}
        started = dataclasses.replace(mechanism, start={"coordinates": zero | mechanism.start["coordinates"]})
        try:
            started.state()
        except (StateError, AssemblyError):
            return mechanism
        return started

    def _of_key(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return the coordinates and rates of the first <key>, by joints."""
        m, qpos, qvel = self.m, self.m.key_qpos[0], self.m.key_qvel[0]
        coordinates: dict[str, np.ndarray] = {}
        rates: dict[str, np.ndarray] = {}
        for joint in range(m.njnt):
            place, dof = int(m.jnt_qposadr[joint]), int(m.jnt_dofadr[joint])
            if joint in self.places:
                tie, number, zero = self.places[joint]
                size = self.mechanism.joint(tie).dof
                coordinates.setdefault(tie, np.zeros(size))[number] = qpos[place] - zero
                rates.setdefault(tie, np.zeros(size))[number] = qvel[dof]
                continue
            if joint not in self.wide:
                continue
            tie, number = self.wide[joint]
            free, body = bool(m.jnt_type[joint] == JOINT_FREE), m.jnt_bodyid[joint]
            first = place + 3 if free else place
            R0 = self.rest.xmat[body].reshape(3, 3)
            turn = rotation_matrix(qpos[first : first + 4])
            vector = vector_from_matrix(turn @ R0.T if free else R0 @ turn @ R0.T)
            spin = R0 @ qvel[dof + 3 * free : dof + 3 * free + 3]  # in the axes of the joint on the body
            change = np.linalg.solve(left_jacobian(vector).T, spin)
            if free:
                vector = np.append(qpos[place : place + 3] - self.rest.xpos[body], vector)
                change = np.append(qvel[dof : dof + 3], change)
            size = self.mechanism.joint(tie).dof
            entries = slice(number, number + change.size)
            coordinates.setdefault(tie, np.zeros(size))[entries] = vector
            rates.setdefault(tie, np.zeros(size))[entries] = change
        return coordinates, {name: rate for name, rate in rates.items() if rate.any()}
