"""Loops over the vertices that bodies hold, compiled; results go to the last arguments.

``slot`` (n,): of the body of each; ``arm`` (n, 3) m, the vertex in the axes of the body. Arrays of bodies are those of
`AttachedMeshes.place` and `AttachedMeshes.velocities`.
"""

from varint.base.numba import njit

WHAT = "deformable bodies"


@njit(seconds=1, what=WHAT)
def place_vertices(position, rotation, vertices, slot, arm, x):
    """Write the places of ``vertices`` (n,) into ``x`` (.., 3), m: position + R arm.

    ``position`` (nb, 3), m, ``rotation`` (nb, 3, 3): of bodies; ``slot`` (n,) and ``arm`` (n, 3), m: of the vertices.
    """
    for n in range(vertices.size):
        s = slot[n]
        R = rotation[s]
        for i in range(3):
            turned = R[i, 0] * arm[n, 0] + R[i, 1] * arm[n, 1] + R[i, 2] * arm[n, 2]
            x[vertices[n], i] = position[s, i] + turned


@njit(seconds=1, what=WHAT)
def move_vertices(motion, rotation, slot, arm, v):
    """Write velocities ``v`` (n, 3), m/s: v + R (w x arm).

    ``motion`` (nb, 6), ``rotation`` (nb, 3, 3): of the bodies; ``slot`` (n,) and ``arm`` (n, 3), m: of the vertices.
    """
    for n in range(slot.size):
        s = slot[n]
        R, w = rotation[s], motion[s, 3:]
        a = w[1] * arm[n, 2] - w[2] * arm[n, 1]
        b = w[2] * arm[n, 0] - w[0] * arm[n, 2]
        c = w[0] * arm[n, 1] - w[1] * arm[n, 0]
        for i in range(3):
            v[n, i] = motion[s, i] + (R[i, 0] * a + R[i, 1] * b + R[i, 2] * c)


@njit(seconds=1, what=WHAT)
def add_wrenches(load, rotation, vertices, slot, arm, wrench):
    """Add force, world, and moment, body axes, of the ``load`` (.., 3) on ``vertices`` (n,) to ``wrench`` (nb, 6).

    ``rotation`` (nb, 3, 3): of the bodies; ``slot`` (n,) and ``arm`` (n, 3), m: of the vertices.
    """
    for n in range(vertices.size):
        s, f = slot[n], load[vertices[n]]
        R = rotation[s]
        a = R[0, 0] * f[0] + R[1, 0] * f[1] + R[2, 0] * f[2]
        b = R[0, 1] * f[0] + R[1, 1] * f[1] + R[2, 1] * f[2]
        c = R[0, 2] * f[0] + R[1, 2] * f[1] + R[2, 2] * f[2]
        for i in range(3):
            wrench[s, i] += f[i]
        wrench[s, 3] += arm[n, 1] * c - arm[n, 2] * b
        wrench[s, 4] += arm[n, 2] * a - arm[n, 0] * c
        wrench[s, 5] += arm[n, 0] * b - arm[n, 1] * a


@njit(seconds=1, what=WHAT)
def fill_jacobian(rotation, slot, column, arm, J):
    """Set the entries of ``J`` (n, 3, b, 6), which is zero, by the body ``column`` (n,) of each vertex: 1, -R [arm].

    ``rotation`` (nb, 3, 3): of the bodies; ``slot`` (n,) and ``arm`` (n, 3), m: of the vertices.
    """
    for n in range(slot.size):
        R, k = rotation[slot[n]], column[n]
        for i in range(3):
            J[n, i, k, i] = 1.0
            J[n, i, k, 3] = R[i, 2] * arm[n, 1] - R[i, 1] * arm[n, 2]
            J[n, i, k, 4] = R[i, 0] * arm[n, 2] - R[i, 2] * arm[n, 0]
            J[n, i, k, 5] = R[i, 1] * arm[n, 0] - R[i, 0] * arm[n, 1]


@njit(seconds=1, what=WHAT)
def add_entries(entries, chosen, of_entry, data):
    """Add the ``chosen`` (n,) ones of ``entries`` (N,) to ``data`` (nnz,), each to its place ``of_entry`` (n,)."""
    for n in range(chosen.size):
        data[of_entry[n]] += entries[chosen[n]]
