"""Scene 10 of the reference implementation of REDMAX: three bars pushed at the end, in a viscous medium."""

import varint as vi
from varint.mechanisms._redmax import CM, DYN, Scene


def build() -> vi.Mechanism:
    """Three bars of 10 x 1 x 1 cm end to end along x, hinged about y, without gravity. 1000 dyn along z push the
    end; each bar is braked by 10 g/s and 10 dyn cm s.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 10", gravity=(0, 0, 0))
    scene.chain(3)
    push = {"direction": (0, 0, 1), "magnitude": 1000 * DYN, "point": scene.point(3, (5, 0, 0))}
    scene.forces.append(vi.PointForce("push", "body 3", **push))
    for number in (1, 2, 3):
        drag = vi.BodyDamper(f"drag {number}", f"body {number}", linear=10 * DYN / CM, angular=10 * DYN * CM)
        scene.forces.append(drag)
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 2.0, "energy": 1088.342571137512}
