"""Elements of MJCF that MuJoCo's compiler expands: which of them `repair=True` lets it, and within which bounds."""

import math

from varint.files.robots.xml_files import XMLElement

OF_SHAPES = "mujoco.sdf."  # the names of MuJoCo's own plugins that make meshes begin so
MOST_DIVISIONS = 500  # of a mesh that MuJoCo makes, along an edge
MOST_VERTICES = 20_000  # of flexible bodies
FROM_FILES = ("mesh", "gmsh")  # types of <flexcomp>


def shape_plugins(whole: XMLElement, by_geoms: bool) -> set[int]:
    """Return the ids of the plugin elements that make meshes of shapes with mass; empty if no mass depends on them.

    ``by_geoms``: whether inertias are those of geoms throughout.
    """
    bodies = [*whole.all("worldbody")]
    shapes, needed = [], False
    for body in bodies:
        bodies += [child for child in body.children if child.tag in ("body", "frame", "replicate")]
        of_sdf = [geom for geom in body.all("geom") if geom.attributes.get("type") == "sdf"]
        shapes += of_sdf
        needed |= bool(of_sdf) and body.tag == "body" and (by_geoms or not any(body.all("inertial")))
    if not needed:
        return set()
    ids: set[int] = set()
    instances = set()
    for extension in whole.all("extension"):
        plugins = [one for one in extension.all("plugin") if one.attributes.get("plugin", "").startswith(OF_SHAPES)]
        instances |= {part.attributes.get("name", "") for one in plugins for part in one.all("instance")}
        ids |= {id(one) for one in [extension, *plugins]}
    meshes = [mesh for asset in whole.all("asset") for mesh in asset.all("mesh")]
    for plugin in [plugin for shape in [*meshes, *shapes] for plugin in shape.all("plugin")]:
        name, instance = plugin.attributes.get("plugin", ""), plugin.attributes.get("instance", "")
        if name.startswith(OF_SHAPES) or instance in instances:
            ids.add(id(plugin))
    return ids


def bound_divisions(mesh: XMLElement) -> None:
    """Raise FileError where a <mesh> with builtin= has more divisions than `MOST_DIVISIONS`."""
    for word in mesh.attributes.get("params", "").split():
        try:
            number = float(word)
        except ValueError:
            raise mesh.error(f"params of <mesh> must be numbers, got {word!r}") from None
        if not abs(number) <= MOST_DIVISIONS:
            raise mesh.error(f"params of <mesh> with builtin= must be at most {MOST_DIVISIONS}, got {word}")


def checked_flexcomp(element: XMLElement, copies: int) -> None:
    """Raise FileError for a <flexcomp> from a file or a plugin, or with more than `MOST_VERTICES` in all ``copies``."""
    kind = element.attributes.get("type", "grid")
    if kind in FROM_FILES or "file" in element.attributes or any(element.all("plugin")):
        raise element.error("<flexcomp> of files and plugins is not read: give its points, or a grid")
    count = element.numbers("count", 3, (10.0, 10.0, 10.0))
    vertices = math.prod(max(1.0, abs(one)) for one in count) * max(1, copies)
    if kind != "direct" and not vertices <= MOST_VERTICES:
        raise element.error(f"<flexcomp> has {vertices:g} vertices, more than {MOST_VERTICES}")
