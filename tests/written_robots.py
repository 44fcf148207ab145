"""Mechanisms written as SDF, URDF with closures in TOML, and MJCF, by a few lines for the tests of the readers."""

import numpy as np

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

SDF_TYPES = {vi.Revolute: "revolute", vi.Prismatic: "prismatic", vi.Spherical: "ball", vi.Universal: "universal"}
URDF_TYPES = {vi.Revolute: "continuous", vi.Spherical: "spherical"}
MOMENTS = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}


def text(values):
    return " ".join(repr(float(value)) for value in values)


def moments(body):
    return {key: repr(float(body.inertia[place])) for key, place in MOMENTS.items()}


def sdf_of(mechanism):
    """All joints as they are: loops need nothing else."""
    lines = [f'<sdf version="1.9"><model name="{mechanism.name}">']
    for body in mechanism.bodies:
        w, x, y, z = body.quat_wxyz
        lines.append(
            f'<link name="{body.name}"><pose rotation_format="quat_xyzw">{text([*body.position, x, y, z, w])}</pose>'
        )
        inertia = "".join(f"<{key}>{value}</{key}>" for key, value in moments(body).items())
        lines.append(f"<inertial><mass>{float(body.mass)!r}</mass><inertia>{inertia}</inertia></inertial></link>")
    for joint in mechanism.joints:
        lines.append(f'<joint name="{joint.name}" type="{SDF_TYPES[type(joint)]}">')
        lines.append(f'<pose relative_to="__model__">{text([*joint.point, 0, 0, 0])}</pose>')
        lines.append(f"<parent>{joint.body_a}</parent><child>{joint.body_b}</child>")
        for tag, name in (("axis", "axis"), ("axis2", "axis_b")):
            if hasattr(joint, name):
                axis = text(getattr(joint, name))
                lines.append(f'<{tag}><xyz expressed_in="__model__">{axis}</xyz></{tag}>')
        lines.append("</joint>")
    return "\n".join([*lines, "</model></sdf>"])


def urdf_and_closures(mechanism, name):
    """The tree that the joints reach first, and TOML that includes it, the file ``name``, and adds the others.

    Links are in axes of the world at the joint that moves them; a universal joint is two hinges and a massless link.
    """
    placed = {"world": np.zeros(3)}
    lines, closures = [f'<robot name="{mechanism.name}"><link name="world"/>'], []
    waiting = list(mechanism.joints)
    while waiting:
        tree = next((j for j in waiting if (j.body_a in placed) != (j.body_b in placed)), None)
        joint = tree or waiting[0]
        waiting.remove(joint)
        if tree is None:
            closures.append(closure(joint))
            continue
        assert joint.body_a in placed  # the tree leads away from the world
        parent, body = joint.body_a, mechanism.body(joint.body_b)
        placed[body.name] = joint.point
        lines.append(link(body, joint.point))
        at = joint.point - placed[parent]
        if isinstance(joint, vi.Universal):
            lines.append(f'<link name="cross of {joint.name}"/>')
            lines.append(hinge(f"{joint.name} 1", "continuous", parent, f"cross of {joint.name}", at, joint.axis))
            parent, at = f"cross of {joint.name}", np.zeros(3)
            lines.append(hinge(f"{joint.name} 2", "continuous", parent, body.name, at, joint.axis_b))
        else:
            axis = getattr(joint, "axis", (1.0, 0.0, 0.0))
            lines.append(hinge(joint.name, URDF_TYPES[type(joint)], parent, body.name, at, axis))
    return "\n".join([*lines, "</robot>"]), "\n".join([f'include = "{name}"', *closures])


def link(body, origin):
    R = rotation_matrix(body.quat_wxyz)
    turned = vi.Body(body.name, mass=body.mass, inertia=R @ body.inertia @ R.T)
    inertia = " ".join(f'{key}="{value}"' for key, value in moments(turned).items())
    at = f'<origin xyz="{text(body.position - origin)}"/>'
    mass = f'<mass value="{float(body.mass)!r}"/>'
    return f'<link name="{body.name}"><inertial>{at}{mass}<inertia {inertia}/></inertial></link>'


def hinge(name, kind, parent, child, at, axis):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<origin xyz="{text(at)}"/><axis xyz="{text(axis)}"/></joint>'


def closure(joint):
    fields = [f'type = "{type(joint).__name__}"', f'body_a = "{joint.body_a}"', f'body_b = "{joint.body_b}"']
    arrays = [f"{key} = {getattr(joint, key).tolist()}" for key in ("point", "axis", "axis_b") if hasattr(joint, key)]
    return "\n".join([f'[closures."{joint.name}"]', *fields, *arrays])


def mjcf_of(mechanism):
    """The tree that the joints reach first, each body at its centre in axes of the world; the others are connects."""
    lines, equality, inside, waiting = {"world": []}, [], [], list(mechanism.joints)
    centre = {"world": np.zeros(3)} | {body.name: body.position for body in mechanism.bodies}
    while waiting:
        joint = next((j for j in waiting if (j.body_a in lines) != (j.body_b in lines)), waiting[0])
        waiting.remove(joint)
        if joint.body_b in lines:
            anchor = text(joint.point - centre[joint.body_a]) if joint.body_a != "world" else text(joint.point)
            ends = f'body1="{joint.body_a}" body2="{joint.body_b}"'
            equality.append(f'<connect name="{joint.name}" {ends} anchor="{anchor}"/>')
            continue
        body = mechanism.body(joint.body_b)
        at = text(joint.point - body.position)
        if isinstance(joint, vi.Spherical):
            moves = f'<joint name="{joint.name}" type="ball" pos="{at}"/>'
        else:
            axes = [getattr(joint, key) for key in ("axis", "axis_b") if hasattr(joint, key)]
            moves = "".join(
                f'<joint name="{joint.name} {k}" pos="{at}" axis="{text(axis)}"/>' for k, axis in enumerate(axes)
            )
        R = rotation_matrix(body.quat_wxyz)
        turned = R @ body.inertia @ R.T
        full = text(turned[place] for place in MOMENTS.values())
        inertial = f'<inertial pos="0 0 0" mass="{float(body.mass)!r}" fullinertia="{full}"/>'
        lines[body.name] = [
            f'<body name="{body.name}" pos="{text(body.position - centre[joint.body_a])}">',
            moves,
            inertial,
        ]
        inside.append((joint.body_a, body.name))
    for above, name in reversed(inside):
        lines[above] += [*lines[name], "</body>"]
    parts = [*lines["world"], "</worldbody><equality>", *equality, "</equality></mujoco>"]
    return "\n".join([f'<mujoco model="{mechanism.name}"><worldbody>', *parts])
