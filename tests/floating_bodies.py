"""Bodies that float, with forces."""

import varint as vi


def box(name="m", position=(1, 0, 0)):
    return vi.Body.box(name, (0.1, 0.2, 0.3), 2.0, position=position)


def floating(*forces, bodies=None, gravity=(0, 0, 0)):
    bodies = bodies or [box()]
    joints = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies]
    return vi.Mechanism("floating", bodies, joints, forces=forces, gravity=gravity)
