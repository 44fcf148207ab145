"""Double-double arithmetic, errors of 2^-104: each number is the unevaluated sum of two floats.

A double-double number is (head, rest), where head is the sum rounded to a float; a double-double vector is
(heads, rests), two tuples of three. All functions take floats, or lanes,
four of them. Names in code say *extended* for double-double, and *plain* for a float.
Errors are some units of 2^-104 of the sizes of all terms together (Dekker, Numer. Math. 18 (1971) 224; of inner
products: Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26 (2005) 1955). Each operation has to round by itself, hence
``contract=False``.
"""

from varint.base.numba import fma, njit, root


@njit(contract=False, inline="always")
def exact_sum(a, b):
    """Return the sum of two plain numbers in double-double, exact: `sums.two_sum`, but never contracted."""
    total = a + b
    added = total - a
    return total, (a - (total - added)) + (b - added)


@njit(contract=False, inline="always")
def exact_product(a, b):
    """Return the product of two plain numbers in double-double, exact."""
    head = a * b
    return head, fma(a, b, -head)


@njit(contract=False, inline="always")
def joined(head, rest):
    """Return the double-double number that is the sum of a plain number and a much smaller one."""
    total = head + rest
    return total, rest - (total - head)


@njit(contract=False, inline="always")
def add(x, y):
    """Return x + y."""
    head, rest = exact_sum(x[0], y[0])
    return joined(head, rest + (x[1] + y[1]))


@njit(contract=False, inline="always")
def sub(x, y):
    """Return x - y."""
    head, rest = exact_sum(x[0], -y[0])
    return joined(head, rest + (x[1] - y[1]))


@njit(contract=False, inline="always")
def times(x, y):
    """Return x y."""
    head, rest = exact_product(x[0], y[0])
    return joined(head, fma(x[0], y[1], fma(x[1], y[0], rest)))


@njit(contract=False, inline="always")
def divide(x, y):
    """Return x / y."""
    head = x[0] / y[0]
    left = fma(-head, y[0], x[0]) + fma(-head, y[1], x[1])
    return joined(head, left / y[0])


@njit(contract=False, inline="always")
def square_root(x):
    """Return the square root of x, which has to be above zero."""
    head = root(x[0])
    return joined(head, (fma(-head, head, x[0]) + x[1]) / (2.0 * head))


@njit(contract=False, inline="always")
def vector_of(x, y, z):
    """Return the double-double vector (3 heads, 3 rests) of three double-double numbers (head, rest)."""
    return (x[0], y[0], z[0]), (x[1], y[1], z[1])


@njit(contract=False, inline="always")
def add_vectors(a, b):
    """Return a + b."""
    (a0, a1, a2), (r0, r1, r2) = a
    (b0, b1, b2), (s0, s1, s2) = b
    return vector_of(add((a0, r0), (b0, s0)), add((a1, r1), (b1, s1)), add((a2, r2), (b2, s2)))


@njit(contract=False, inline="always")
def sub_vectors(a, b):
    """Return a - b."""
    (a0, a1, a2), (r0, r1, r2) = a
    (b0, b1, b2), (s0, s1, s2) = b
    return vector_of(sub((a0, r0), (b0, s0)), sub((a1, r1), (b1, s1)), sub((a2, r2), (b2, s2)))


@njit(contract=False, inline="always")
def scale(x, a):
    """Return x a."""
    (a0, a1, a2), (r0, r1, r2) = a
    return vector_of(times(x, (a0, r0)), times(x, (a1, r1)), times(x, (a2, r2)))


@njit(contract=False, inline="always")
def dot(a, b):
    """Return the inner product of two double-double vectors."""
    (a0, a1, a2), (r0, r1, r2) = a
    (b0, b1, b2), (s0, s1, s2) = b
    p0, e0 = exact_product(a0, b0)
    p1, e1 = exact_product(a1, b1)
    p2, e2 = exact_product(a2, b2)
    head, t1 = exact_sum(p0, p1)
    head, t2 = exact_sum(head, p2)
    rest = fma(a0, s0, fma(r0, b0, e0)) + fma(a1, s1, fma(r1, b1, e1)) + fma(a2, s2, fma(r2, b2, e2))
    return joined(head, rest + (t1 + t2))


@njit(contract=False, inline="always")
def scale_by_plain(factor, a):
    """Return a plain number times a double-double vector."""
    (a0, a1, a2), (r0, r1, r2) = a
    x, d = exact_product(factor, a0)
    y, e = exact_product(factor, a1)
    z, f = exact_product(factor, a2)
    return vector_of(joined(x, fma(factor, r0, d)), joined(y, fma(factor, r1, e)), joined(z, fma(factor, r2, f)))


@njit(contract=False, inline="always")
def dot_plain(a, b):
    """Return the inner product of three plain numbers ``a`` and a double-double vector."""
    a0, a1, a2 = a
    (b0, b1, b2), (s0, s1, s2) = b
    p0, e0 = exact_product(a0, b0)
    p1, e1 = exact_product(a1, b1)
    p2, e2 = exact_product(a2, b2)
    head, t1 = exact_sum(p0, p1)
    head, t2 = exact_sum(head, p2)
    return joined(head, fma(a0, s0, e0) + fma(a1, s1, e1) + fma(a2, s2, e2) + (t1 + t2))


@njit(contract=False, inline="always")
def dot4(a, b):
    """Return the inner product of two vectors of four, each a tuple of double-double numbers."""
    x, y = (a[0][0], a[1][0], a[2][0]), (a[0][1], a[1][1], a[2][1])
    u, v = (b[0][0], b[1][0], b[2][0]), (b[0][1], b[1][1], b[2][1])
    return add(dot((x, y), (u, v)), times(a[3], b[3]))


@njit(contract=False, inline="always")
def _minor(x, y, u, v):
    """Return x y - u v of double-double numbers (head, rest)."""
    p, e = exact_product(x[0], y[0])
    q, f = exact_product(u[0], v[0])
    head, t = exact_sum(p, -q)
    rest = fma(x[0], y[1], fma(x[1], y[0], e)) - fma(u[0], v[1], fma(u[1], v[0], f))
    return joined(head, rest + t)


@njit(contract=False, inline="always")
def cross(a, b):
    """Return the vector product of two double-double vectors."""
    (a0, a1, a2), (r0, r1, r2) = a
    (b0, b1, b2), (s0, s1, s2) = b
    x, y, z = (a0, r0), (a1, r1), (a2, r2)
    u, v, w = (b0, s0), (b1, s1), (b2, s2)
    return vector_of(_minor(y, w, z, v), _minor(z, u, x, w), _minor(x, v, y, u))


@njit(contract=False, inline="always")
def _plain_minor(x, y, u, v):
    """Return x y - u v of plain numbers x and u and double-double numbers y and v (head, rest)."""
    p, e = exact_product(x, y[0])
    q, f = exact_product(u, v[0])
    head, t = exact_sum(p, -q)
    return joined(head, (fma(x, y[1], e) - fma(u, v[1], f)) + t)


@njit(contract=False, inline="always")
def cross_plain(a, b):
    """Return the vector product of three plain numbers ``a`` and a double-double vector."""
    x, y, z = a
    (b0, b1, b2), (s0, s1, s2) = b
    u, v, w = (b0, s0), (b1, s1), (b2, s2)
    return vector_of(_plain_minor(y, w, z, v), _plain_minor(z, u, x, w), _plain_minor(x, v, y, u))


@njit(contract=False, inline="always")
def rotate(M, a):
    """Return M a for a matrix whose rows are double-double vectors."""
    return vector_of(dot(M[0], a), dot(M[1], a), dot(M[2], a))


@njit(contract=False, inline="always")
def rotate_plain(M, a):
    """Return M a for a matrix as in `rotate` and three plain numbers ``a``."""
    return vector_of(dot_plain(a, M[0]), dot_plain(a, M[1]), dot_plain(a, M[2]))


@njit(contract=False, inline="always")
def rotate_back(M, a):
    """Return M^T a for a matrix as in `rotate`."""
    (x, p), (y, q), (z, r) = M
    return vector_of(
        dot(((x[0], y[0], z[0]), (p[0], q[0], r[0])), a),
        dot(((x[1], y[1], z[1]), (p[1], q[1], r[1])), a),
        dot(((x[2], y[2], z[2]), (p[2], q[2], r[2])), a),
    )
