"""A starfish: arms of bones on hinges in soft flesh, one deformable body."""

import numpy as np

import varint as vi
from varint.mechanisms._sizes import Positive

HUB, BONE, DEPTH = 0.03, 0.035, 0.02  # m: of the first hinges from the centre, length of a bone, height of the flesh
FLESH = {"E": 3e4, "nu": 0.4, "density": 1000.0}


def build(arms: int = 5, bones: int = 4, cell: Positive = 0.028, rate: float = 2.0) -> vi.Mechanism:
    """The skeleton is a tree of rigid bodies, and the vertices of the flesh near a bone move with it.

    It has no weight, as in water, and no motors. Its hinges start with rates that go with the cosine of twice the angle
    of their arm, so that arms beat against each other.

    Zero of the coordinates: the pose at the start, all arms straight: "joint a.b" is the angle of bone b of arm a to
    the part before it, positive up.

    Parameters
    ----------
    arms : int
        From 3.
    bones : int
        Of an arm, from 1; 35 mm each.
    cell : float, m
        Length of the cells of the flesh, of six tetrahedra each.
    rate : float, rad/s
        Largest rate of the hinges at the start.
    """
    if arms < 3 or bones < 1:
        raise vi.MechanismError(f"a starfish needs 3 arms at least, of one bone or more, got {arms} arms of {bones}")
    angles = 2 * np.pi * np.arange(arms) / arms
    bodies, joints, rates = [vi.Body.cylinder("hub", 0.02, 0.01, mass=0.02)], [vi.Free("swimming", "world", "hub")], {}
    for arm, angle in enumerate(angles):
        outward, aside = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([-np.sin(angle), np.cos(angle), 0.0])
        for bone in range(bones):
            name, near = f"bone {arm}.{bone}", HUB + bone * BONE
            bodies.append(vi.Body.rod(name, near * outward, (near + BONE) * outward, mass=0.004))
            before = f"bone {arm}.{bone - 1}" if bone else "hub"
            joints.append(vi.Revolute(f"joint {arm}.{bone}", before, name, point=near * outward, axis=-aside))
            rates[joints[-1].name] = float(rate * np.cos(2 * angle))
    points, tetrahedra = _mesh(angles, HUB + bones * BONE, cell)
    held = _held(points, angles, bones, cell)
    flesh = vi.DeformableBody("flesh", points, tetrahedra, attach=held, **FLESH)
    return vi.Mechanism("starfish", bodies, joints, gravity=(0, 0, 0), forces=[flesh], start={"rates": rates})


def _along_and_across(points, angles):
    """Coordinates (arms, n) of points (n, 2 or 3) along and across each arm, m."""
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    return c * points[:, 0] + s * points[:, 1], c * points[:, 1] - s * points[:, 0]


def _mesh(angles, reach, cell):
    """Points and tetrahedra: the cells of a grid whose middle is within the outline, six tetrahedra each."""
    count = int(np.ceil((reach + 0.01) / cell))
    corner = np.arange(-count, count)
    i, j = (index.ravel() for index in np.meshgrid(corner, corner, indexing="ij"))
    along, across = _along_and_across(cell * np.column_stack([i + 0.5, j + 0.5]), angles)
    width = 0.022 - 0.008 * along / reach
    inside = ((along > -0.01) & (along < reach + 0.004) & (np.abs(across) < width)).any(axis=0)
    i, j = i[inside], j[inside]
    size = 2 * count + 1

    def number(a, b, c):
        return ((i + a + count) * size + j + b + count) * 2 + c

    # all six share the diagonal from corner 0 to corner 7: the other edge of each
    ways = [(4, 6), (6, 2), (2, 3), (3, 1), (1, 5), (5, 4)]
    at = [number(k >> 2, k >> 1 & 1, k & 1) for k in range(8)]
    tetrahedra = np.concatenate([np.column_stack([at[0], at[a], at[b], at[7]]) for a, b in ways])
    used, tetrahedra = np.unique(tetrahedra, return_inverse=True)
    tetrahedra = tetrahedra.reshape(-1, 4)
    grid = np.column_stack([used // 2 // size - count, used // 2 % size - count, used % 2 - 0.5])
    points = grid * [cell, cell, DEPTH]
    corners = points[tetrahedra]
    turned = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0
    tetrahedra[turned] = tetrahedra[turned][:, [0, 2, 1, 3]]
    return points, tetrahedra


def _held(points, angles, bones, cell):
    """Body name to the vertices near its bone; the hub holds those about the centre."""
    along, across = _along_and_across(points, angles)
    found = {"hub": np.hypot(points[:, 0], points[:, 1]) < 0.8 * HUB}
    nearest = np.argmin(np.where(along > 0.0, np.abs(across), np.inf), axis=0)  # arm of each vertex
    for arm in range(len(angles)):
        for bone in range(bones):
            middle = np.abs(along[arm] - HUB - (bone + 0.5) * BONE) < 0.4 * BONE
            found[f"bone {arm}.{bone}"] = middle & (np.abs(across[arm]) < 0.75 * cell) & (nearest == arm)
    missed = [body for body, mask in found.items() if not mask.any()]
    if missed:
        raise vi.MechanismError(f"cells of {cell:g} m leave no vertex near {missed[0]}: take smaller ones")
    return {body: np.flatnonzero(mask) for body, mask in found.items()}


EXPECTED = {
    "bodies": 21,
    "rows": 100,
    "mobility": 26,
    "redundant": 0,
    "loops": 0,
    "dt": 0.002,
    "duration": 0.5,
    "variants": [{"arms": 9, "bones": 2, "cell": 0.025, "rate": -1.0}],
    "impossible": [{"arms": 2}, {"bones": 0}, {"cell": 0.1}],
}
