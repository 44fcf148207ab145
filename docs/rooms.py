"""Draws docs/images/rooms.svg, the rooms of the package by floor, from their imports; `make docs` runs it."""

import sys
from html import escape
from pathlib import Path

import networkx as nx

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from test_layers import PUBLIC, ROOMS, rooms_graph

PICTURE = Path(__file__).with_name("images") / "rooms.svg"
CONTENTS = {
    "base": "errors, checks, the compile decorator and its cache",
    "mathematics": "vectors, rotations, double-double numbers, products of exponentials",
    "measures": "scalars of two poses, their gradients",
    "geometry": "shapes that touch",
    "model": "bodies, joints, forces as they are described",
    "step": "one step, compiled: rows, Newton's method, LDU",
    "plan": "the description and its topology as arrays",
    "kinematics": "joint coordinates, closing of loops, assembly",
    "meshes": "deformable bodies",
    "drawing": "one pose as a picture",
    "mechanism": "the description with methods: Mechanism",
    "results": "a run as data: energy, reactions, tables",
    "views": "curves, films, the page in the browser",
    "files": "robot files, mechanism files, run files",
    "runs": "the procedure of every run, Trajectory",
    "methods": "simulate: variational and reduced integrators",
    "derivatives": "gradients, linearisation, regulators",
    "extras": "Stepper, JAX, PyTorch, other simulators",
    "studies": "analyses, comparison, ensembles",
    "cli": "the command varint",
}
COLOURS = {  # of the rooms from the one named on, upwards
    "base": "#e8e8e8",
    "measures": "#d5e8f5",
    "step": "#fbe3c6",
    "kinematics": "#d8efd9",
    "results": "#f7d9e3",
    "derivatives": "#e6dff2",
}
BOX, PITCH, LEFT, GAP, MARGIN = (116, 26), 44, 12, 12, 14  # px


def floors(graph: nx.DiGraph) -> dict[str, int]:
    """Return the floor of each room: one above the highest room that it imports from."""
    number = {}
    for room in reversed(list(nx.topological_sort(graph))):
        number[room] = 1 + max((number[other] for other in graph[room]), default=-1)
    return number


def svg() -> str:
    """Return the text of the picture: boxes by floor, and the imports that do not follow from others."""
    graph = rooms_graph()
    graph.remove_nodes_from(PUBLIC)
    floor = floors(graph)
    height = 2 * MARGIN + PITCH * max(floor.values()) + BOX[1]
    corners, parts, colour = {}, [], ""
    for room in ROOMS:
        colour = COLOURS.get(room, colour)
        beside = [other for other in ROOMS if floor[other] == floor[room]]
        left = LEFT + 0.5 * (2 - len(beside)) * (BOX[0] + GAP) + beside.index(room) * (BOX[0] + GAP)
        x, y = corners[room] = left, height - MARGIN - BOX[1] - PITCH * floor[room]
        parts.append(f'<rect x="{x:g}" y="{y:g}" width="{BOX[0]}" height="{BOX[1]}" rx="4" fill="{colour}"/>')
        parts.append(f'<text x="{x + BOX[0] / 2:g}" y="{y + 17:g}" text-anchor="middle">{room}</text>')
        if room == beside[0]:
            contents = "; ".join(CONTENTS[other] for other in beside)
            place = f'x="{LEFT + 2 * BOX[0] + GAP + 16}" y="{y + 17:g}"'
            parts.append(f'<text {place} fill="#555" font-size="12">{escape(contents)}</text>')
    for upper, lower in sorted(nx.transitive_reduction(graph).edges):
        (x, y), (x_lower, y_lower) = corners[upper], corners[lower]
        ends = f'x1="{x + BOX[0] / 2:g}" y1="{y + BOX[1]:g}" x2="{x_lower + BOX[0] / 2:g}" y2="{y_lower - 3:g}"'
        parts.append(f'<line {ends} stroke="#777" marker-end="url(#head)"/>')
    head = (
        '<defs><marker id="head" markerWidth="7" markerHeight="7" refX="5" refY="3" orient="auto">'
        '<path d="M0,0 L6,3 L0,6 z" fill="#777"/></marker></defs>'
    )
    size = f'width="740" height="{height}" viewBox="0 0 740 {height}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">'
    return "\n".join([opening, head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])


if __name__ == "__main__":
    PICTURE.write_text(svg())
