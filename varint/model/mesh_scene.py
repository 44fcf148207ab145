"""Scenes in mesh files, in which one mesh may be shown many times: their sizes are bounded before they are made."""

import xml.parsers.expat as expat
from typing import Any

MOST_NODES = 100_000  # of a scene
MOST_TRIANGLES = 5_000_000
MOST_REPEATED = 20_000_000  # bytes of text of meshes that are shown again


def check_nodes(content: bytes) -> None:
    """Raise ValueError where the nodes and meshes of a COLLADA file, each as often as it is shown, are too many."""
    sizes: dict[str, int] = {}  # bytes of meshes
    mesh, begin = "", 0
    inside: dict[str, list[str]] = {}  # nodes in a node, or shown by it
    open_nodes = [""]

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal mesh, begin
        tag = tag.rpartition(":")[2]
        if tag == "geometry":
            mesh, begin = f"mesh {attributes.get('id')}", parser.CurrentByteIndex
        elif tag == "instance_geometry":
            inside.setdefault(open_nodes[-1], []).append(f"mesh {attributes.get('url', '').removeprefix('#')}")
        elif tag == "node":
            name = attributes.get("id") or f"#{len(inside)}"
            inside.setdefault(open_nodes[-1], []).append(name)
            inside.setdefault(name, [])
            open_nodes.append(name)
        elif tag == "instance_node":
            inside.setdefault(open_nodes[-1], []).append(attributes.get("url", "").removeprefix("#"))

    def end(tag: str) -> None:
        tag = tag.rpartition(":")[2]
        if tag == "node":
            open_nodes.pop()
        elif tag == "geometry":
            sizes[mesh] = parser.CurrentByteIndex - begin

    def entity(*_: object) -> None:
        raise ValueError("entities are not read")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.EntityDeclHandler = start, end, entity
    parser.Parse(content, True)
    waiting, count, size = [""], 0, 0
    while waiting:
        name = waiting.pop()
        waiting += inside.get(name, ())
        count, size = count + 1, size + sizes.get(name, 0)
        if count > MOST_NODES:
            raise ValueError(f"its nodes, each as often as it is shown, are more than {MOST_NODES}")
        if size > len(content) + MOST_REPEATED:
            raise ValueError(f"its meshes, each as often as it is shown, have more than {MOST_REPEATED} bytes")


def merged(scene: Any) -> Any:
    """Return the mesh of a trimesh.Scene. Raises ValueError where it has more than `MOST_TRIANGLES`."""
    shown = scene.graph.geometry_nodes
    count = sum(len(getattr(mesh, "faces", ())) * len(shown.get(name, ())) for name, mesh in scene.geometry.items())
    if count > MOST_TRIANGLES:
        raise ValueError(
            f"its meshes, each as often as it is shown, have {count} triangles, more than {MOST_TRIANGLES}"
        )
    return scene.to_mesh()
