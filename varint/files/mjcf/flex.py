"""Flexible bodies of MJCF (<flexcomp>) with `repair=True`: rods, nets, elastic and rigid bodies in their place.

MuJoCo gives each vertex a body on three slides. Where an equality, which is soft in MuJoCo, keeps the lengths of edges,
a rope of up to MOST_RODS edges becomes rods between these bodies. Longer ropes, cloth and solids become nets of stiff
springs: so many rods would cost too much, and cloth and solids have more edges than degrees of freedom. Edges with a
stiffness become a net of such springs. Elasticity in three dimensions is that of Saint Venant and Kirchhoff, with the
same forces as in MuJoCo. A body interpolated from the eight corners of one cell becomes rigid if an equality holds its
strain at zero.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from varint.files.mjcf.numbers import EQ_FLEX, EQ_FLEX_STRAIN, EQ_FLEXES, JOINT_SLIDE, is_off
from varint.files.robots.kinds import DeformableBody, Free, ParticleNet, Rod, Spherical
from varint.files.robots.robot import Link, Pose, Tie
from varint.files.robots.xml_files import XMLElement
from varint.mathematics.elasticity.tetrahedra import signed_volumes
from varint.model.forces.base import Force
from varint.model.forces.soft_mesh import attached_parts
from varint.model.import_report import ImportNotes

STRETCH = 0.01  # extension, over its length, of a spring in place of an edge of fixed length by the weight of the net
MOST_RODS = 200  # a rope with more edges becomes a net: each rod closes a loop, and all loops are solved together
STANDARD = 9.81  # m/s^2, for the stiffness of springs if the model has no gravity
RODS, NET, STIFF_NET, ELASTIC, RIGID = "rods", "net", "stiff net", "elastic", "rigid"


class Elasticity(NamedTuple):
    """Young's modulus, Pa, Poisson's ratio and damping time, s, of a flexible body, as its file gives them."""

    young: float
    poisson: float
    damping: float


@dataclass(eq=False)
class Flex:
    """A flexible body.

    kind : what it becomes; "" where it is left out, and then ``why``
    vertices : (n, 3) m, world, in the reference configuration
    on : (n,) numbers of the bodies that carry its vertices, or (k,) of those that carry the corners from which it is
        interpolated
    vertex_bodies : bodies of ``on`` on three free slides (`_is_vertex`) that carry one vertex or corner; others hold
        pinned ones
    edges : (m, 2) vertices
    elements : (m, 4) vertices of tetrahedra of positive volume; (0, 4) unless it has three dimensions
    """

    number: int
    name: str
    at: XMLElement
    kind: str
    why: str
    vertices: np.ndarray
    on: np.ndarray
    vertex_bodies: list[int]
    edges: np.ndarray
    elements: np.ndarray = field(default_factory=lambda: np.zeros((0, 4), dtype=np.int64))


def flexes_of(model: Any, data: Any, source: Any, elasticity: Sequence[Elasticity], notes: ImportNotes) -> list[Flex]:
    """Return the flexible bodies of a model at the pose of ``data``, with notes on their replacements.

    Raises MechanismError if an active `connect` or `weld` holds one of their vertices.
    """
    import mujoco

    if not model.nflex:
        return []
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_flex(model, data)
    flexes = []
    for number in range(model.nflex):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, number) or f"flex {number}"
        flexes.append(_flex(model, data, number, name, source.at("flex", name), elasticity))
    flex_of_body = {body: flex for flex in flexes for body in flex.vertex_bodies}
    active = [] if is_off(model, "EQUALITY") else np.flatnonzero(model.eq_active0).tolist()
    for number in active:
        if model.eq_type[number] not in EQ_FLEXES and model.eq_objtype[number] == mujoco.mjtObj.mjOBJ_BODY:
            of = flex_of_body.get(int(model.eq_obj1id[number]), flex_of_body.get(int(model.eq_obj2id[number])))
            if of is not None:
                raise of.at.wrong(
                    f"a connect or weld holds a vertex of flexible body '{of.name}': only a <pin> can, to the body that"
                    " its <flexcomp> is in"
                )
    for flex in flexes:
        says = f"flexible body '{flex.name}' of {len(flex.vertices)} vertices, {_mass(model, flex):.3g} kg"
        notes.repaired(f"{says}, {_what(model, flex, elasticity)}", flex.at)
    moved = [body for flex in flexes if flex.kind not in (RODS, "") for body in flex.vertex_bodies]
    places = [model.jnt_qposadr[model.body_jntadr[body]] + k for body in moved for k in range(3)]
    dofs = [model.body_dofadr[body] + k for body in moved for k in range(3)]
    if model.nkey and (model.key_qpos[0, places].any() or model.key_qvel[0, dofs].any()):
        notes.approximated(
            "<key> of vertices is left out: flexible bodies start in their reference shape, but for ropes of rods"
        )
    return flexes


def _flex(model: Any, data: Any, number: int, name: str, at: XMLElement, elasticity: Sequence[Elasticity]) -> Flex:
    first, count = int(model.flex_vertadr[number]), int(model.flex_vertnum[number])
    edge = int(model.flex_edgeadr[number])
    edges = model.flex_edge[edge : edge + int(model.flex_edgenum[number])].astype(np.int64)
    if model.flex_interp[number]:
        node = int(model.flex_nodeadr[number])
        on = model.flex_nodebodyid[node : node + int(model.flex_nodenum[number])]
    else:
        on = model.flex_vertbodyid[first : first + count]
    vertex_bodies = [
        int(body) for body in np.unique(on) if _is_vertex(model, int(body)) and np.count_nonzero(on == body) == 1
    ]
    vertices = data.flexvert_xpos[first : first + count].copy()
    flex = Flex(number, name, at, "", "", vertices, on.astype(np.int64), vertex_bodies, edges)
    if model.flex_dim[number] == 3:
        start = int(model.flex_elemdataadr[number])
        elements = model.flex_elem[start : start + 4 * int(model.flex_elemnum[number])].reshape(-1, 4).astype(np.int64)
        turned = signed_volumes(vertices, elements) < 0.0
        elements[turned] = elements[turned][:, [0, 2, 1, 3]]
        flex.elements = elements
    flex.kind, flex.why = _kind(model, flex, elasticity)
    return flex


def _is_vertex(model: Any, body: int) -> bool:
    """Return whether a body is a point on three free slides, and carries nothing.

    There is no spring, damping, friction, armature or limit; no geom, child body or gravcomp.
    """
    first = int(model.body_jntadr[body])
    if model.body_jntnum[body] != 3 or (model.jnt_type[first : first + 3] != JOINT_SLIDE).any():
        return False
    dof = int(model.body_dofadr[body])
    acting = [getattr(model, key)[dof : dof + 3].any() for key in ("dof_damping", "dof_armature", "dof_frictionloss")]
    acting += [getattr(model, key)[first : first + 3].any() for key in ("jnt_stiffness", "jnt_limited")]
    hangs = model.body_geomnum[body] or (model.body_parentid == body).any() or model.body_gravcomp[body]
    return not any(acting) and not hangs


def _kind(model: Any, flex: Flex, elasticity: Sequence[Elasticity]) -> tuple[str, str]:
    """Return the kind that a flexible body becomes, and why it becomes nothing."""
    number, dim = flex.number, int(model.flex_dim[flex.number])
    equalities = set()
    if not is_off(model, "EQUALITY"):
        active = np.flatnonzero(model.eq_active0 & np.isin(model.eq_type, EQ_FLEXES))
        equalities = {int(model.eq_type[one]) for one in active if model.eq_obj1id[one] == number}
    constants = elasticity[number] if elasticity else None
    stiff = bool(model.flex_edgestiffness[number])
    pinned = len(flex.on) - len(flex.vertex_bodies)
    if not flex.vertex_bodies or any(
        model.body_jntnum[body] and body not in flex.vertex_bodies for body in _bodies_on(model, flex)
    ):
        return (
            "",
            "no vertex is free, or one is neither pinned nor alone on a body of three slides that carries nothing else",
        )
    if (stiff or constants is None or constants.young) and any(is_off(model, kind) for kind in ("SPRING", "DAMPER")):
        return "", "<option> switches springs or dampers off"
    if constants is None:
        return "", "an MjModel does not hold its elasticity: load the file, or the MjSpec"
    if _bends(model, number):
        return "", "it has bending stiffness or plasticity, which are not read"
    if constants.young and not (equalities or stiff) and dim == 3 and not model.flex_interp[number]:
        return ELASTIC, ""
    if constants.young:
        return (
            "",
            "its Young's modulus is read only for a solid that has no interpolation, no stiff edges and no equality",
        )
    if equalities == {EQ_FLEX_STRAIN} and model.flex_interp[number] and model.flex_nodenum[number] == 8 and pinned < 2:
        return RIGID, ""
    if model.flex_interp[number]:
        return (
            "",
            "its dof= interpolates: single cells with flexstrain alone and at most one pinned corner are read",
        )
    if equalities == {EQ_FLEX}:
        return (RODS if dim == 1 and len(flex.edges) <= MOST_RODS else STIFF_NET), ""
    if not equalities and stiff:
        return NET, ""
    return (
        "",
        "it needs an edge stiffness without equality, the equality of edges alone, or for a solid a Young's modulus",
    )


def _bends(model: Any, number: int) -> bool:
    """Return whether a flexible body has bending stiffness or plasticity."""
    if hasattr(model, "flex_plasticmode") and model.flex_plasticmode[number]:
        return True
    if hasattr(model, "flex_bendingadr"):  # from MuJoCo 4 on
        return bool(model.flex_bendingadr[number] >= 0)
    bending = np.reshape(getattr(model, "flex_bending", np.zeros(len(model.flex_edge))), (len(model.flex_edge), -1))
    edge = int(model.flex_edgeadr[number])
    return bool(bending[edge : edge + int(model.flex_edgenum[number])].any())


def _bodies_on(model: Any, flex: Flex) -> list[int]:
    """Return the bodies of ``on`` to which pins fix vertices, except the world and parents of ``vertex_bodies``."""
    parents = {int(model.body_parentid[body]) for body in flex.vertex_bodies}
    return [int(body) for body in np.unique(flex.on) if int(body) not in parents and int(body) != 0]


def _mass(model: Any, flex: Flex) -> float:
    return float(model.body_mass[flex.vertex_bodies].sum())


def _what(model: Any, flex: Flex, elasticity: Sequence[Elasticity]) -> str:
    """Return the replacement of a flexible body, in words."""
    if flex.kind == RODS:
        rods = int(np.count_nonzero(np.diff(flex.on[flex.edges])))
        count = len(flex.vertex_bodies)
        return f"is {count} bodies on three slides each, and {rods} rods, which keep the lengths of edges exactly"
    if flex.kind == NET:
        return f"is a ParticleNet of {len(flex.edges)} springs"
    if flex.kind == STIFF_NET:
        stiffness = _stiff_constants(model, flex)[0]
        return (
            f"is a ParticleNet: its {len(flex.edges)} edges, kept by a soft equality in MuJoCo, are springs of"
            f" {stiffness.min():.3g} to {stiffness.max():.3g} N/m, critically damped; the weight of the whole"
            f" net on one of them would stretch it by {STRETCH:.0%}"
        )
    if flex.kind == ELASTIC:
        constants = elasticity[flex.number]
        return (
            f"is a DeformableBody (stvk) of {len(flex.elements)} tetrahedra, E {constants.young:g} Pa, nu"
            f" {constants.poisson:g}: its mass, with that of pinned vertices, is spread evenly over the volume"
        )
    if flex.kind == RIGID:
        return "is a rigid body in place of its one cell, whose shape MuJoCo keeps by a soft equality"
    return f"is left out: {flex.why}"


def _stiff_constants(model: Any, flex: Flex) -> tuple[np.ndarray, np.ndarray]:
    """Return stiffness, N/m, and critical damping, N s/m, of the springs in place of edges of fixed length."""
    lengths = np.linalg.norm(np.diff(flex.vertices[flex.edges], axis=1)[:, 0], axis=1)
    weight = _mass(model, flex) * (float(np.linalg.norm(model.opt.gravity)) or STANDARD)
    stiffness = weight / (STRETCH * lengths)
    inverse = np.where(np.isin(flex.on, flex.vertex_bodies), 1.0 / np.maximum(model.body_mass[flex.on], 1e-300), 0.0)
    both = inverse[flex.edges].sum(axis=1)
    damping = np.where(both > 0.0, 2.0 * np.sqrt(stiffness / np.maximum(both, 1e-300)), 0.0)
    return stiffness, damping


# ------------------------------------------------------------------------------------------------- in its place


def rigid_parts(model: Any, data: Any, flexes: Sequence[Flex], names: Sequence[str]) -> tuple[list[Link], list[Tie]]:
    """Return the link and tie of each flex of kind RIGID, and a rod for each edge of each flex of kind RODS."""
    links: list[Link] = []
    ties: list[Tie] = []
    for flex in flexes:
        if flex.kind == RODS:
            for number, (one, other) in enumerate(flex.edges):
                a, b = (names[flex.on[vertex]] for vertex in (one, other))
                fields = {"point": flex.vertices[one], "point_b": flex.vertices[other]}
                if a != b:
                    ties.append(Tie(f"edge {number} of {flex.name}", "edge", flex.at, a, b, Rod, fields=fields))
        elif flex.kind == RIGID:
            points, masses = data.xpos[flex.vertex_bodies], model.body_mass[flex.vertex_bodies]
            centre = masses @ points / masses.sum()
            apart = points - centre
            inertia = np.einsum("i,ij,ij->", masses, apart, apart) * np.eye(3) - (apart.T * masses) @ apart
            links.append(Link(flex.name, flex.at, Pose(np.eye(3), centre), float(masses.sum()), inertia=inertia))
            above = names[model.body_parentid[flex.vertex_bodies[0]]]
            pins = _pins(model, data, flex)
            kind, point = (Spherical, pins[0]) if len(pins) else (Free, centre)
            tie = Tie(f"{flex.name} on {above}", "flex", flex.at, above, flex.name, kind, fields={"point": point})
            ties.append(tie)
    return links, ties


def _pins(model: Any, data: Any, flex: Flex) -> np.ndarray:
    """Return the positions (n, 3), m, world, of the corners that are fixed to other bodies."""
    import mujoco

    node, count = int(model.flex_nodeadr[flex.number]), int(model.flex_nodenum[flex.number])
    offsets = model.flex_node[node : node + count]
    held = [k for k in range(count) if int(flex.on[k]) not in flex.vertex_bodies]
    places = []
    for k in held:
        place = np.zeros(3)
        mujoco.mju_mulMatVec(place, data.xmat[flex.on[k]].reshape(3, 3), offsets[k])
        places.append(place + data.xpos[flex.on[k]])
    return np.array(places).reshape(-1, 3)


def soft_forces(
    model: Any, flexes: Sequence[Flex], elasticity: Sequence[Elasticity], names: Sequence[str]
) -> Iterator[Force]:
    """Yield the nets and deformable bodies that replace flexible bodies.

    ``names``: for each body of the model the name that it has in the mechanism.
    """
    for flex in flexes:
        if flex.kind not in (NET, STIFF_NET, ELASTIC):
            continue
        held: dict[str, list[int]] = {}
        for vertex, body in enumerate(flex.on.tolist()):
            if body not in flex.vertex_bodies:
                held.setdefault(names[body], []).append(vertex)
        attach = attached_parts(held)
        if flex.kind == ELASTIC:
            constants = elasticity[flex.number]
            whole = _mass(model, flex) * len(flex.on) / len(flex.vertex_bodies)  # with the share of pinned vertices
            density = whole / float(np.abs(signed_volumes(flex.vertices, flex.elements)).sum())
            law: dict[str, Any] = {"E": constants.young, "nu": constants.poisson, "damping": constants.damping}
            yield DeformableBody(
                flex.name, flex.vertices, flex.elements, density=density, material="stvk", attach=attach, **law
            )
            continue
        masses = np.where(np.isin(flex.on, flex.vertex_bodies), model.body_mass[flex.on], 0.0)
        if flex.kind == STIFF_NET:
            stiffness, damping = _stiff_constants(model, flex)
        else:
            stiffness = np.full(len(flex.edges), float(model.flex_edgestiffness[flex.number]))
            damping = np.full(len(flex.edges), float(model.flex_edgedamping[flex.number]))
        springs: dict[str, Any] = {"springs": flex.edges, "stiffness": stiffness, "damping": damping}
        yield ParticleNet(flex.name, flex.vertices, masses=masses, attach=attach, **springs)
