"""Entries of four rows of an array as lanes: of four bodies, or four rows of joints, at once."""

from varint.base.numba import apart, four, natural, njit


@njit(contract=False, inline="always")
def block(first, count):
    """Return the next four of ``count`` numbers from ``first`` on; the last one again where fewer are left."""
    last = count - 1
    return natural(first), natural(min(first + 1, last)), natural(min(first + 2, last)), natural(min(first + 3, last))


@njit(contract=False, inline="always")
def pick(x, i, k):
    """Return entry k of the four rows i of ``x`` (n, m) as lanes."""
    return four(x[i[0], k], x[i[1], k], x[i[2], k], x[i[3], k])


@njit(contract=False, inline="always")
def put(x, i, k, lanes):
    """Write lanes to entry k of the four rows i of ``x`` (n, m)."""
    x[i[0], k], x[i[1], k], x[i[2], k], x[i[3], k] = apart(lanes)


@njit(contract=False, inline="always")
def pick_pair(x, rest, i, k):
    """Return entry k of four rows in double-double."""
    return pick(x, i, k), pick(rest, i, k)


@njit(contract=False, inline="always")
def put_pair(x, rest, i, k, pair):
    """Write lanes in double-double to entry k of four rows."""
    put(x, i, k, pair[0])
    put(rest, i, k, pair[1])


@njit(contract=False, inline="always")
def pick_three(x, i, k):
    """Return three entries of four rows, from k on."""
    return pick(x, i, k), pick(x, i, k + 1), pick(x, i, k + 2)


@njit(contract=False, inline="always")
def pick_row(R, i, a):
    """Return row a of the four matrices i of ``R`` (n, 3, 3)."""
    return (
        four(R[i[0], a, 0], R[i[1], a, 0], R[i[2], a, 0], R[i[3], a, 0]),
        four(R[i[0], a, 1], R[i[1], a, 1], R[i[2], a, 1], R[i[3], a, 1]),
        four(R[i[0], a, 2], R[i[1], a, 2], R[i[2], a, 2], R[i[3], a, 2]),
    )
