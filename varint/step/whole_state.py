"""Whether the numbers of a state can be calculated with."""

from varint.base.numba import njit

LARGEST_READ = 1e15  # m, rad, m/s, rad/s: `varint.model.bounds.LARGEST_MOTION`
UNIT_ROUND_OFF = 4 * 2.220446049250313e-16  # of the square of a quaternion's norm, as in `unit_quaternions`


@njit
def is_whole_body(position, quat, velocity, spin):
    """Return whether the numbers of a body are finite and small enough, and its quaternion a unit.

    ``position``, ``velocity`` (3,), ``spin`` (3,); ``quat`` (4,).
    """
    square, is_whole = 0.0, True
    for k in range(3):
        is_whole &= abs(position[k]) <= LARGEST_READ and abs(velocity[k]) <= LARGEST_READ
        is_whole &= abs(spin[k]) <= LARGEST_READ
    for k in range(4):
        square += quat[k] * quat[k]
    return is_whole and abs(square - 1.0) <= UNIT_ROUND_OFF


@njit
def is_whole_state(position, quat, velocity, spin):
    """Return whether `is_whole_body` holds for all bodies.

    ``position``, ``velocity``, ``spin`` (nb, 3); ``quat`` (nb, 4).
    """
    is_whole = True
    for i in range(position.shape[0]):
        is_whole &= is_whole_body(position[i], quat[i], velocity[i], spin[i])
    return is_whole
