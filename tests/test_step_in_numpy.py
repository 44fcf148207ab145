"""The step in plain NumPy takes the steps of the kernels."""

from pathlib import Path

import numpy as np
import pytest
from test_layers import FILES, ROOT, imports

import varint as vi
from varint.model.rotation_vectors import rotation_matrix
from varint.step import step_in_numpy

BALL_ROWS = 3  # of a hinge, the first ones


def two_rods():
    """Return a chain of a ball joint and a hinge, in space, with bodies whose axes are not the world's."""
    bodies = [
        vi.Body.box("upper", size=(0.1, 0.2, 1.0), mass=1.0, position=(0, 0, -0.5), quat_wxyz=(0.8, 0.0, 0.6, 0.0)),
        vi.Body.box("lower", size=(0.1, 0.3, 1.0), mass=2.0, position=(0, 0.1, -1.5)),
    ]
    joints = [
        vi.Spherical("shoulder", "world", "upper", point=(0, 0, 0)),
        vi.Revolute("elbow", "upper", "lower", point=(0, 0, -1), axis=(1, 1, 0)),
    ]
    start = {"rates": {"shoulder": (1.0, 2.0, -3.0), "elbow": 4.0}}
    return vi.Mechanism("two rods", bodies, joints, start=start)


def rows_of(mechanism):
    """Return the rows of the joints of a mechanism of hinges and balls, from its reference configuration."""
    names = [body.name for body in mechanism.bodies]
    poses = {body.name: (body.position, rotation_matrix(body.quat_wxyz)) for body in mechanism.bodies}
    poses["world"] = np.zeros(3), np.eye(3)
    rows = []
    for joint in mechanism.joints:
        a, b = ((names.index(name) if name in names else -1) for name in (joint.body_a, joint.body_b))
        (x_a, A), (x_b, B) = poses[joint.body_a], poses[joint.body_b]
        axis = np.array(getattr(joint, "axis", (1.0, 0.0, 0.0)))
        points = A.T @ (joint.point - x_a), B.T @ (joint.point - x_b)
        hinge = step_in_numpy.hinge(a, b, *points, A.T @ axis, B.T @ axis)
        rows += hinge[:BALL_ROWS] if isinstance(joint, vi.Spherical) else hinge
    return rows


@pytest.mark.parametrize("mechanism", [vi.mechanisms.four_bar, two_rods])
def test_steps_are_those_of_the_kernels(mechanism):
    mechanism, steps, h = mechanism(), 20, 0.01
    run = vi.simulate(mechanism, duration=steps * h, dt=h, order=2)
    mass = np.array([body.mass for body in mechanism.bodies])
    inertia = np.array([body.inertia for body in mechanism.bodies])
    load = np.hstack([mass[:, None] * mechanism.gravity, np.zeros((len(mass), 3))])
    rows = rows_of(mechanism)
    world = [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
    x, q = np.vstack([run.position[0], world[0]]), np.vstack([run.quat_wxyz[0], world[1]])
    start = np.hstack([run.velocity[0], run.angular_velocity[0]])
    momentum = step_in_numpy.momenta(mass, inertia, start, 0.0)
    for k in range(steps + 1):
        velocity = step_in_numpy.project(mass, inertia, rows, x, q, momentum)
        for value, wanted in [
            (x[:-1], run.position[k]),
            (q[:-1], run.quat_wxyz[k]),
            (velocity[:, :3], run.velocity[k]),
            (velocity[:, 3:], run.angular_velocity[k]),
        ]:
            np.testing.assert_allclose(value, wanted, rtol=0.0, atol=1e-12 * np.max(np.abs(wanted)))
        x, q, momentum = step_in_numpy.step(mass, inertia, rows, load, x, q, momentum, h)
    assert np.max(np.abs(run.position[-1] - run.position[0])) > 0.1


def test_nothing_of_the_package_imports_it():
    mentions = [path for path in FILES if "step_in_numpy" in path.read_text()]
    assert not [path for path in mentions for name in imports(path) if "step_in_numpy" in name]
    assert set(imports(Path(step_in_numpy.__file__))) == {"numpy"}


def test_the_page_on_architecture_shows_its_lines():
    source = Path(step_in_numpy.__file__).read_text()
    page = (ROOT / "docs" / "architecture.md").read_text()
    (block,) = [block for block in page.split("```python\n")[1:] if "evaluate_rows" in block]
    assert block.split("```")[0] in source
