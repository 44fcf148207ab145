"""MJCF, the format of MuJoCo: files are read through MuJoCo's own compiler (the extra mjcf)."""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from varint.base.distribution import install_command
from varint.base.errors import FileError
from varint.files.formats.base import Format, register
from varint.files.mjcf.assembly import assemble_welds, frames_of, redundant_slides
from varint.files.mjcf.contacts import contacts_of
from varint.files.mjcf.flex import RODS, Elasticity, Flex, flexes_of, rigid_parts
from varint.files.mjcf.forces import MJCFForces
from varint.files.mjcf.models import ModelSource, compiled_model, notes_of
from varint.files.mjcf.numbers import (
    EQ_CONNECT,
    EQ_JOINT,
    EQ_WELD,
    JOINT_BALL,
    JOINT_FREE,
    JOINT_HINGE,
    JOINT_SLIDE,
    SHAPES,
    active_equalities,
    is_off,
    is_turn_free,
)
from varint.files.mjcf.source import MJCFSource
from varint.files.mjcf.writer import save
from varint.files.robots.kinds import Composite, Fixed, Free, Prismatic, Revolute, Spherical
from varint.files.robots.mechanism import mechanism_of
from varint.files.robots.robot import NEAR, Acting, Link, Pose, Ratio, Robot, RobotShape, Tie
from varint.files.robots.xml_files import XMLElement, load_xml, reads
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.import_report import REPAIR, ImportNotes
from varint.model.rotation_vectors import rotation_matrix

KINDS = {JOINT_FREE: Free, JOINT_BALL: Spherical, JOINT_SLIDE: Prismatic, JOINT_HINGE: Revolute}
WHATS = {JOINT_FREE: "free", JOINT_BALL: "ball", JOINT_SLIDE: "slide", JOINT_HINGE: "hinge"}
SHOWN = (0, 1, 2)  # groups of geoms that MuJoCo shows unless asked otherwise
GREY = np.array([0.5, 0.5, 0.5, 1.0], dtype=np.float32)  # of geoms without a colour
LINE = re.compile(r"line \d")  # in messages of the compiler: of the text that it is given, not of the user's file
ELEMENT = "Element name "


@reads("mujocoinclude", "part of an MJCF file")
def refused(root: XMLElement, notes: ImportNotes, packages: Sequence[Path]) -> Mechanism:
    """Raise FileError: the file is no mechanism by itself."""
    raise root.error("<mujocoinclude> is a part of a model: load an MJCF file that includes it")


@reads("mujoco", "MJCF")
def read(root: XMLElement, notes: ImportNotes, packages: Sequence[Path]) -> Mechanism:
    """Return the mechanism of a model. Equalities and limits, which are soft in MuJoCo, are exact."""
    source = MJCFSource(root, notes.path, packages, notes)
    spec, model = compiled(source)
    return _mechanism(model, source, notes, elasticity_of(spec))


def of_model(model_or_spec: Any, repair: bool = False) -> Mechanism:
    """Return the mechanism of an MjSpec or MjModel.

    Raises FileError, and ArgumentError for a model with unnamed parts.
    """
    model, name = compiled_model(model_or_spec)
    if model.nflex and not repair:
        refusal = f"'{name}' has {model.nflex} flexible bodies (flex), which are not read"
        raise FileError(f"{refusal}: leave them out, or load the model with {REPAIR}")
    notes = notes_of(name, repair)
    if model.nplugin and (model.body_plugin.max() >= 0 or model.actuator_plugin.max(initial=-1) >= 0):
        notes.left_out("plugins that act on bodies and in actuators, of which none is run")
    spec = model_or_spec if type(model_or_spec).__name__ == "MjSpec" else None
    return _mechanism(model, ModelSource(model, name, spec), notes, elasticity_of(spec))


def _mechanism(
    model: Any, source: MJCFSource | ModelSource, notes: ImportNotes, elasticity: Sequence[Elasticity]
) -> Mechanism:
    reading = _Reading(model, source, notes, elasticity)
    mechanism = mechanism_of(reading.robot(), notes)
    forces = MJCFForces(model, source, notes, (reading.places, reading.wide), reading.at_rest)
    whole = forces.added_to(mechanism, reading.flexes, elasticity)
    report = whole.import_report
    bodies = {number: report.body_of.get(reading.body(number)) for number in range(1, model.nbody)} | {0: WORLD}
    contacts = contacts_of(model, whole, bodies)
    vars(whole)["import_report"] = replace(report, contacts=contacts)
    return whole


def elasticity_of(spec: Any) -> list[Elasticity]:
    """Return elasticity of the flexible bodies of an MjSpec; an MjModel (None) does not have it."""
    flexes = spec.flexes if spec is not None else ()
    return [Elasticity(float(flex.young), float(flex.poisson), float(flex.damping)) for flex in flexes]


def compiled(source: MJCFSource) -> tuple[Any, Any]:
    """Return the MjSpec and MjModel that MuJoCo's compiler makes. Raises FileError."""
    try:
        import mujoco
    except ImportError:
        raise source.root.error(f"MJCF is read by MuJoCo's compiler: {install_command('mjcf')}") from None
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            files = {"include": source.submodels, "assets": source.assets}
            spec = mujoco.MjSpec.from_string(source.text, **files)
            model = spec.compile()
    except (ValueError, TypeError, RuntimeError, MemoryError, mujoco.FatalError) as problem:
        message = _without_place(" ".join(str(problem).split()))
        name = next((word for word in message.split("'")[1::2] if word), "")
        at = next((element for (_, part), element in source.named.items() if part == name), source.root)
        advice = f"; or load the file with {REPAIR}" if "balanceinertia" in message else ""
        raise at.error(f"MuJoCo's compiler says: {message}{advice}") from None
    for warning in warned:
        says = " ".join(str(warning.message).split())
        source.notes.approximated(f"MuJoCo's compiler warns: {says}", source.root)
    return spec, model


def _without_place(message: str) -> str:
    """Return a message of the compiler without the element and line that it ends with."""
    line = LINE.search(message)
    if line is None:
        return message
    element = message.find(ELEMENT, 0, line.start())
    return message[: element if element >= 0 else line.start()].rstrip(" ").removesuffix(",")


class _Reading:
    """Data read from the compiled model.

    The reference configuration is the model's (qpos0), first joints of joint equalities moved by their constants.

    at_rest : MuJoCo's data in the reference configuration
    held : numbers of joints that an equality fixes
    places : number of each hinge and slide that moves to the name of the joint that it becomes, the index of its
        coordinate in that, and its value in the file in the reference configuration
    wide : number of each ball and free joint to the name of the joint that it becomes, and its first index in that
    flexes : flexible bodies
    """

    def __init__(
        self, model: Any, source: MJCFSource | ModelSource, notes: ImportNotes, elasticity: Sequence[Elasticity]
    ) -> None:
        import mujoco

        self.m, self.source, self.notes = model, source, notes
        self.places: dict[int, tuple[str, int, float]] = {}
        self.wide: dict[int, tuple[str, int]] = {}
        self.held: set[int] = set()
        self.flexes: list[Flex] = []
        self.at_rest = mujoco.MjData(model)
        self.ratios = [] if is_off(model, "EQUALITY") else list(self._ratios())
        mujoco.mj_kinematics(model, self.at_rest)
        if notes.repair and not is_off(model, "EQUALITY"):
            self._assemble()
        self.flexes = flexes_of(model, self.at_rest, source, elasticity, notes)
        poses = zip(self.at_rest.xmat, self.at_rest.xpos, strict=True)
        self.pose = [Pose(R.reshape(3, 3).copy(), p.copy()) for R, p in poses]

    def robot(self) -> Robot:
        """Return the model, in the reference configuration."""
        m = self.m
        links, ties = [], []
        soft = {body for flex in self.flexes if flex.kind != RODS for body in flex.vertex_bodies}
        for body in [body for body in range(1, m.nbody) if body not in soft]:
            link = self._link(body)
            links.append(link)
            ties.append(self._tie(body, link))
        if not is_off(m, "EQUALITY"):
            ties += self._closures()
        made = rigid_parts(m, self.at_rest, self.flexes, [self.body(body) for body in range(m.nbody)])
        links, ties = [*links, *made[0]], [*ties, *made[1]]
        gravity = np.zeros(3) if is_off(m, "GRAVITY") else m.opt.gravity.copy()
        self._note_world()
        name = self.source.root.attributes.get("model", "").strip() or "mujoco"
        return Robot(name, self.source.root, links, ties, self.ratios, gravity, ground=list(self._shapes(0)))

    def _joints(self, body: int) -> list[int]:
        """Return the numbers of the joints of a body that move."""
        first = int(self.m.body_jntadr[body])
        return [joint for joint in range(first, first + int(self.m.body_jntnum[body])) if joint not in self.held]

    def body(self, body: int) -> str:
        """Return the name of a body of the model."""
        return WORLD if body == 0 else str(self.m.body(body).name)

    # ------------------------------------------------------------------------------------------------- bodies

    def _link(self, body: int) -> Link:
        m, name = self.m, self.body(body)
        at = self.source.at("body", name)
        R = rotation_matrix(m.body_iquat[body])
        inertia = (R * m.body_inertia[body]) @ R.T
        link = Link(name, at, self.pose[body], float(m.body_mass[body]), m.body_ipos[body].copy(), inertia)
        if link.mass <= 0.0 and link.inertia.any():
            link.inertia = np.zeros((3, 3))
        link.shapes = list(self._shapes(body))
        if m.body_mocapid[body] >= 0:
            self.notes.approximated(f"mocap body '{name}' stays where it is", at)
        return link

    def _shapes(self, body: int) -> Iterator[RobotShape]:
        m, first = self.m, int(self.m.body_geomadr[body])
        for geom in range(first, first + int(m.body_geomnum[body])):
            kind = SHAPES.get(int(m.geom_type[geom]), "")
            if not kind:
                continue
            pose = Pose(rotation_matrix(m.geom_quat[geom]), m.geom_pos[geom].copy())
            a, b, c = (float(size) for size in m.geom_size[geom])
            mesh: Path | str = ""
            points = None
            sizes = {"sphere": (a,), "capsule": (a, 2.0 * b), "cylinder": (a, 2.0 * b)}.get(kind, (a, b, c))
            if kind == "box":
                sizes = (2.0 * a, 2.0 * b, 2.0 * c)
            elif kind == "mesh":
                number = int(m.geom_dataid[geom])
                frame = Pose(rotation_matrix(m.mesh_quat[number]), m.mesh_pos[number].copy())
                name = str(m.mesh(number).name)
                pose, sizes = pose @ frame.inverse(), tuple(float(scale) for scale in m.mesh_scale[number])
                mesh = self.source.files.get(name, name)
                first_vertex = int(m.mesh_vertadr[number])
                vertices = m.mesh_vert[first_vertex : first_vertex + int(m.mesh_vertnum[number])].astype(float)
                points = vertices @ frame.R.T + frame.p  # the compiler has moved them to the axes of inertia
            touches = m.geom_contype[geom] or m.geom_conaffinity[geom]
            role, friction = "collision" if touches else "visual", float(m.geom_friction[geom, 0])
            shape = RobotShape(role, kind, sizes, mesh, pose, points, friction, rgba=self._colour(geom))
            yield shape._replace(shown=int(m.geom_group[geom]) in SHOWN)

    def _colour(self, geom: int) -> tuple[float, ...] | None:
        """Return the colour of a geom, its own before that of its material; None without one."""
        rgba, material = self.m.geom_rgba[geom], int(self.m.geom_matid[geom])
        if np.array_equal(rgba, GREY):
            if material < 0:
                return None
            rgba = self.m.mat_rgba[material]
        return tuple(np.clip(rgba, 0.0, 1.0).tolist())

    # ------------------------------------------------------------------------------------------------- joints

    def _tie(self, body: int, link: Link) -> Tie:
        """Return the tie of a body to its parent: a joint, several as a Composite, or a rigid tie without one."""
        m, joints = self.m, self._moving_joints(body, link)
        above = self.body(int(m.body_parentid[body]))
        parts = [self._one(joint, body, above, link) for joint in joints]
        if not parts:
            return Tie(f"{link.name} on {above}", "no joint", link.at, above, link.name)
        tie = parts[0]
        if len(parts) > 1:
            if any(part.kind is Free for part in parts):
                raise tie.at.wrong(f"body '{link.name}' has a free joint beside others")
            tie = Tie(" + ".join(part.name for part in parts), "", tie.at, above, link.name, Composite, parts=parts)
        number = 0
        for joint in joints:
            if m.jnt_type[joint] in (JOINT_SLIDE, JOINT_HINGE):
                self.places[joint] = tie.name, number, float(self.at_rest.qpos[m.jnt_qposadr[joint]])
            else:
                self.wide[joint] = tie.name, number
            number += {JOINT_FREE: 6, JOINT_BALL: 3}.get(int(m.jnt_type[joint]), 1)
        return tie

    def _moving_joints(self, body: int, link: Link) -> list[int]:
        """Return the joints of a body that move, without slides that move along others. Raises MechanismError."""
        joints = self._joints(body)
        left_out = redundant_slides(self.m, joints, self.held)
        for joint in left_out:
            name = str(self.m.joint(joint).name)
            at = self.source.at("joint", name)
            slide = f"slide '{name}' of '{link.name}' moves along its other slides: they allow a motion twice"
            self.notes.mend(at.wrong(f"{slide}, their shares are undetermined; leave it out"), f"{slide}; left out", at)
        return [joint for joint in joints if joint not in left_out]

    def _one(self, joint: int, body: int, above: str, link: Link) -> Tie:
        m, rest = self.m, self.at_rest
        kind = int(m.jnt_type[joint])
        name = str(m.joint(joint).name) or f"slide {joint - int(m.body_jntadr[body])} of {link.name}"  # of a vertex
        at = self.source.at("joint", name)
        tie = Tie(name, WHATS[kind], at, above, link.name, KINDS[kind])
        tie.fields["point"] = self.pose[body].p if kind == JOINT_FREE else rest.xanchor[joint].copy()
        if kind in (JOINT_SLIDE, JOINT_HINGE):
            tie.fields["axis"] = rest.xaxis[joint].copy()
            tie.along = [self._along(joint, name, at)]
        elif m.jnt_stiffness[joint] and not is_off(m, "SPRING"):
            stiffness = float(m.jnt_stiffness[joint])
            tie.along = [Acting(number, stiffness=stiffness) for number in range(6 if kind == JOINT_FREE else 3)]
        if kind not in (JOINT_SLIDE, JOINT_HINGE) and m.jnt_limited[joint]:
            self.notes.left_out(f"limit of {WHATS[kind]} joint '{name}'", at)
        return tie

    def _along(self, joint: int, name: str, at: XMLElement) -> Acting:
        """Return efforts along a hinge or slide."""
        m = self.m
        place, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        zero = float(self.at_rest.qpos[place])
        if zero:
            self.notes.approximated(f"joint '{name}': its coordinate zero is {zero:g}", at)
        lower, upper = (float(bound) - zero for bound in m.jnt_range[joint])
        limited = bool(m.jnt_limited[joint]) and not is_off(m, "LIMIT")
        if limited and not lower < upper:
            self.notes.left_out(f"limits of joint '{name}', which leave no room", at)
            limited = False
        return Acting(
            0,
            lower if limited else -np.inf,
            upper if limited else np.inf,
            damping=0.0 if is_off(m, "DAMPER") else float(m.dof_damping[dof]),
            friction=0.0 if is_off(m, "FRICTIONLOSS") else float(m.dof_frictionloss[dof]),
            stiffness=0.0 if is_off(m, "SPRING") else float(m.jnt_stiffness[joint]),
            rest=float(m.qpos_spring[place]) - zero,
        )

    # ------------------------------------------------------------------------------------------------ closures

    def _closures(self) -> Iterator[Tie]:
        """Yield the ties of connect and weld."""
        m = self.m
        for number, name, at in active_equalities(m, self.source, self.notes, (EQ_CONNECT, EQ_WELD)):
            (a, first), (b, second) = frames_of(m, self.at_rest, number)
            weld = not is_turn_free(m, number)
            if m.eq_type[number] == EQ_WELD and not weld:
                self.notes.read(f"weld '{name}' with torquescale 0 holds a point alone", at)
            yield self._closure(name, at, weld, (self.body(a), first), (self.body(b), second))

    def _assemble(self) -> None:
        """Move the reference configuration to where welds hold, with a turn that they do not have in it."""
        m = self.m
        welds = [number for number in range(m.neq) if m.eq_type[number] == EQ_WELD and m.eq_active0[number]]
        turned = [number for number in welds if self._turn(number) > NEAR]
        moved = assemble_welds(m, self.at_rest) if turned else None
        if moved is None:
            return  # where there is one it is refused later
        names = ", ".join(f"'{m.equality(number).name}'" for number in turned)
        changes = [
            f"body '{self.body(body)}' moved by {shift:.3g} m and turned by {angle:.3g} rad"
            for body, shift, angle in moved
        ]
        at = self.source.at("equality", str(m.equality(turned[0]).name))
        says = f"weld {names} holds a turn that the zero pose does not have: assembled there, {', '.join(changes)}"
        self.notes.repaired(says, at)

    def _turn(self, number: int) -> float:
        (_, first), (_, second) = frames_of(self.m, self.at_rest, number)
        return float(np.abs(first.R - second.R).max())

    def _ratios(self) -> Iterator[Ratio]:
        """Yield the couplings by joint equalities, and move the reference configuration to where they hold."""
        m, qpos = self.m, self.at_rest.qpos
        for number, name, at in active_equalities(m, self.source, self.notes, (EQ_JOINT,)):
            constant, slope, *higher = (float(one) for one in m.eq_data[number, :5])
            first, second = int(m.eq_obj1id[number]), int(m.eq_obj2id[number])
            if second < 0:
                self.held.add(first)
            place = m.jnt_qposadr[first]
            qpos[place] = m.qpos0[place] + constant
            if constant:
                self.notes.read(f"equality '{name}' holds at {constant:g} of joint '{m.joint(first).name}'", at)
            if second >= 0 and not slope and not any(higher):
                self.held.add(first)
            elif second >= 0:
                names = [str(m.joint(joint).name) for joint in (first, second)]
                polynomial = (0.0, slope, *higher) if any(higher) else ()
                if polynomial and qpos[m.jnt_qposadr[second]] != m.qpos0[m.jnt_qposadr[second]]:
                    raise at.wrong(
                        f"equality '{name}' is a polynomial of joint '{names[1]}', which another equality moves to"
                        " where it holds: give that one the constant 0"
                    )
                yield Ratio(name, at, [(names[0], 0, 1.0), (names[1], 0, -slope)], polynomial)
            if first in self.held:
                self.notes.read(f"equality '{name}' holds joint '{m.joint(first).name}': it is fixed", at)

    def _closure(self, name: str, at: XMLElement, weld: bool, first: tuple[str, Pose], second: tuple[str, Pose]) -> Tie:
        """Return the joint that a connect or weld becomes: names of links, and the frames that are to coincide."""
        (a, one), (b, other) = first, second
        if weld and np.abs(one.R - other.R).max() > NEAR:
            advice = "and no pose near it is assembled" if self.notes.repair else f"or load the file with {REPAIR}"
            raise at.wrong(f"weld '{name}' holds a turn that '{a}' and '{b}' do not have in the zero pose, {advice}")
        if name in self.source.joint_names:
            name = f"{'weld' if weld else 'connect'} {name}"
        tie = Tie(name, "weld" if weld else "connect", at, a, b, Fixed if weld else Spherical)
        tie.fields = {"point": one.p, "point_b": other.p if np.abs(one.p - other.p).max() > 1e-12 else None}
        self.notes.approximated(f"'{name}', soft in MuJoCo, is a joint, and holds exactly", at)
        return tie

    # -------------------------------------------------------------------------------------------------- the rest

    def _note_world(self) -> None:
        """Note contacts and the fluid around the bodies, which are not imported."""
        m, root = self.m, self.source.root
        touching = int(np.count_nonzero((m.geom_contype != 0) | (m.geom_conaffinity != 0)))
        if touching:
            says = (
                f"{touching} geoms can collide in MuJoCo: their shapes are imported; they collide in"
                " mech.with_forces(add=mech.import_report.contacts)"
            )
            self.notes.approximated(says, root)
        for fluid in ("density", "viscosity"):
            if getattr(m.opt, fluid):
                self.notes.left_out(f"{fluid} of <option>, the fluid around the bodies", root)


register(Format(".mjcf", "robots of MuJoCo", load_xml, save, imports=True))
