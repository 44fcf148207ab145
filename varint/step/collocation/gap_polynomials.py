"""The gap of a one-sided row over a step: the polynomial through its values at the nodes, and where that is zero."""

from varint.base.numba import njit

WHOLE, UNRESOLVED = 1.0, 0.0  # values of meets[0] that are no share: no event was seen; try a shorter step
PULLS = 1e-3  # of the largest impulse of a row at the inner nodes, by weight: the least pulling one that counts
SUNK = 0.1  # of the gap at the end of a step: how deep one that was zero at its start may be at a node within
HALVINGS = 60  # bisections, down to round-off


@njit
def look_along(rule, gap, meets, q, touching):
    """Return whether the ``gap`` (s,) falls below -``touching``, m or rad, at a node or between two.

    If it was open before, ``meets`` (2,) takes the share where that was seen, and that of its root. If it was not, it
    takes the share of a node where the gap is deep though it is open at the end, for a shorter step.
    """
    opened = gap[0] > touching
    for k in range(1, q + 1):
        beyond = gap[k] < -touching
        share = rule.node[k] if beyond else _dip(rule, gap, k, touching)
        if share >= 0.0:
            expected = _root(rule, gap, rule.node[k - 1], share) if opened and share <= meets[0] else WHOLE
            if expected < WHOLE and (share < meets[0] or not 0.0 <= meets[1] < expected):
                meets[0], meets[1] = share, expected
            if beyond and not opened and -gap[k] > SUNK * gap[q] and gap[q] >= -touching and share < meets[0]:
                meets[0], meets[1] = share, -1.0
            return True
        opened = opened or gap[k] > touching
    return False


@njit
def _dip(rule, gap, k, touching):
    """Return about where the gap (s,) is least between nodes k - 1 and k, if below -``touching`` there; else -1.

    A share of the step. ``touching``: m or rad.
    """
    s, first, last = gap.size, 0.0, 0.0  # slopes at both nodes
    for j in range(s):
        first += rule.slope[k - 1, j] * gap[j]
        last += rule.slope[k, j] * gap[j]
    if not first < 0.0 < last:
        return -1.0
    low, high = rule.node[k - 1], rule.node[k]
    share = low + (high - low) * first / (first - last)
    for _ in range(2):  # Newton's method for a slope of zero of the Hermite cubic through both nodes, near enough
        at = (share - low) / (high - low)
        rise = gap[k] - gap[k - 1]
        a, b = (high - low) * first, (high - low) * last
        slope = a + at * (2.0 * (3.0 * rise - 2.0 * a - b) + 3.0 * at * (a + b - 2.0 * rise))
        bend = 2.0 * (3.0 * rise - 2.0 * a - b) + 6.0 * at * (a + b - 2.0 * rise)
        if bend > 0.0:
            share = min(max(share - (high - low) * slope / bend, low), high)
    return share if _along(rule, gap, share) < -touching else -1.0


@njit
def _along(rule, gap, share):
    """The polynomial through the values ``gap`` (s,) at a ``share`` of the step."""
    total = 0.0
    for j in range(gap.size):
        factor = gap[j]
        for k in range(gap.size):
            if k != j:
                factor *= (share - rule.node[k]) / (rule.node[j] - rule.node[k])
        total += factor
    return total


@njit
def _root(rule, gap, low, high):
    """Return the share in [low, high] where the polynomial through ``gap`` (s,), positive at ``low``, is zero."""
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if _along(rule, gap, middle) > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@njit
def first_pull(rule, multiplier, first, q, sign):
    """Return the share of the first inner node where the impulse of a row pulls, by PULLS; WHOLE for none.

    ``multiplier``: N s or N m s, those of the row from ``first`` on, one a node; ``sign``: of those that pull.
    """
    largest = 0.0
    for j in range(1, q):
        largest = max(largest, abs(multiplier[first + j]) / rule.weight[j])
    for j in range(1, q):
        if sign * multiplier[first + j] / rule.weight[j] > PULLS * largest:
            return rule.node[j]
    return WHOLE
