"""States that satisfy the joints, from joint coordinates, rates and whatever is known of single bodies.

What is asked for is held: a joint with given coordinates is welded at them, a body with a given
pose or velocity is made heavy; everything else moves as little as the kinetic metric allows.
"""

from dataclasses import replace

import numpy as np

from varint.compile import compile_structure
from varint.errors import AssemblyError, StateError
from varint.kernels.constrain import close_joints, match_velocity
from varint.kernels.plan import workspace
from varint.kinematics import JointFrames, forward_pose, forward_velocity, reference_pose
from varint.model.checks import array_of, freeze, unit_quaternion
from varint.model.motion import joint_pose
from varint.model.rotation import quat_from_matrix, rotation_matrix
from varint.model.state import State
from varint.model.structure import suggestion

TOLERANCE = 1e-13  # of a closed joint, relative to the size of the coordinates
ITERATIONS = 100
LONGEST_MOVE = 0.2  # rad or m: a loop is driven to its coordinates in pieces no longer than this
HEAVY = 1e4  # times the whole mass, for what is given of a body; more would cost digits, passes make up for it
PASSES = 4
LARGEST_TWIST = 1e-6  # between the pose of a joint and that of its coordinates


def make_state(structure, *, coordinates, rates, position, quat_wxyz, velocity, angular_velocity) -> State:
    """See ``Mechanism.state``."""
    coordinates = _by_joint(structure, coordinates, "coordinates")
    rates = _by_joint(structure, rates, "rates")
    position = _by_body(structure, position, "position", 3)
    quat_wxyz = _by_body(structure, quat_wxyz, "quat_wxyz", 4)
    velocity = _by_body(structure, velocity, "velocity", 3)
    angular_velocity = _by_body(structure, angular_velocity, "angular_velocity", 3)

    x, R = reference_pose(structure)
    if not (coordinates or rates or position or quat_wxyz or velocity or angular_velocity):
        rest = np.zeros((len(structure.bodies), 3))
        quats = np.array([body.quat_wxyz for body in structure.bodies])
        return State(*(freeze(array) for array in (x[:-1], quats, rest, rest)))
    plain = compile_structure(structure)
    if coordinates and not plain.topology.clusters:
        forward_pose(structure, plain.topology, coordinates, x, R)
    held = {structure.joint_index[name]: q for name, q in coordinates.items()}
    for _ in range(PASSES if position or quat_wxyz else 1):
        for body, value in position.items():
            x[body] = value
        for body, value in quat_wxyz.items():
            R[body] = rotation_matrix(value)
        _close(structure, held, position, quat_wxyz, x, R)
    _check_sense(structure, x, R)

    v, w = forward_velocity(structure, plain.topology, rates, x, R) if rates else (np.zeros_like(x), np.zeros_like(x))
    w = np.einsum("nji,nj->ni", R, w)
    for _ in range(PASSES if velocity or angular_velocity else 1 if rates else 0):
        for body, value in velocity.items():
            v[body] = value
        for body, value in angular_velocity.items():
            w[body] = value
        _match(structure, rates, velocity, angular_velocity, x, R, v, w)
    return State(*(freeze(array) for array in (x[:-1], quat_from_matrix(R[:-1]), v[:-1], w[:-1])))


def _close(structure, held, heavy_x, heavy_R, x, R):
    """Move x, R onto all joints, those in ``held`` welded at their coordinates; in place."""
    frames = {j: JointFrames(structure, structure.joints[j]) for j in held}
    here = {j: frame.measure(x, R) for j, frame in frames.items()}
    longest = max((np.abs(held[j] - here[j]).max(initial=0.0) for j in held), default=0.0)
    pieces = max(1, int(np.ceil(longest / LONGEST_MOVE)))
    size = max(1.0, np.abs(x).max())
    for piece in range(1, pieces + 1):
        share = piece / pieces
        pose = {j: joint_pose(structure.joints[j], (1 - share) * here[j] + share * held[j]) for j in held}
        compiled, ws = _welded(structure, pose, heavy_x, heavy_R, x, R)
        left = close_joints(compiled.plan, ws, ITERATIONS, TOLERANCE * size)
        if not left <= 10 * TOLERANCE * size:
            joint = structure.joints[_worst_joint(compiled, ws)]
            raise AssemblyError(
                f"mechanism '{structure.name}' cannot be put together: {joint.label} stays {left:.3g} m open."
                " Change the coordinates or poses asked for, or the dimensions of its loop"
            )
        x[compiled.order] = ws.position[0, :-1]
        R[compiled.order] = ws.rotation[0, :-1]


def _match(structure, rates, heavy_v, heavy_w, x, R, v, w):
    """Change v (world), w (body) to satisfy all joints, with the given ``rates``; in place."""
    poses = {
        structure.joint_index[name]: JointFrames(structure, structure.joint(name)).relative_pose(x, R) for name in rates
    }
    compiled, ws = _welded(structure, poses, heavy_v, heavy_w, x, R)
    plan = compiled.plan
    close_joints(plan, ws, 0, 0.0)
    ws.velocity[:, :3], ws.velocity[:, 3:] = v[compiled.order], w[compiled.order]
    row_rates = np.zeros(plan.row_c.size)
    for k, j in enumerate(compiled.joints):
        if j in poses:
            joint = structure.joints[j]
            frames = JointFrames(structure, joint)
            dv, dw = frames.relative_velocity(x, R, rates[joint.name])
            rows = slice(plan.joint_rows[k], plan.joint_rows[k + 1])
            G = ws.jacobian[0, rows, 1 - plan.first_body[k]]
            row_rates[rows] = G @ np.concatenate([dv, R[frames.b].T @ dw])
    left = match_velocity(plan, ws, row_rates)
    if not left <= 1e-9 * max(1.0, np.abs(v).max(), np.abs(row_rates).max(initial=0.0)):
        joint = structure.joints[_worst_joint(compiled, ws)]
        raise StateError(
            f"no velocity of mechanism '{structure.name}' has the rates asked for: {joint.label} would part at"
            f" {left:.3g} m/s. Leave out the rates that follow from the others"
        )
    v[compiled.order], w[compiled.order] = ws.velocity[:, :3], ws.velocity[:, 3:]


def _check_sense(structure, x, R):
    """Half a turn keeps axes at right angles: see that each joint is where its own coordinates lead."""
    for joint in structure.joints:
        turn, shift = JointFrames(structure, joint).relative_pose(x, R)
        if np.abs(turn - joint_pose(joint, joint.measure(turn, shift))[0]).max() > LARGEST_TWIST:
            raise AssemblyError(
                f"mechanism '{structure.name}' cannot be put together: {joint.label} would be turned over."
                " Change the coordinates or poses asked for"
            )


def _welded(structure, held, heavy_x, heavy_R, x, R):
    """Plan with the joints in ``held`` welded at their poses, bodies hard to shift or to turn, and its workspace."""
    compiled = compile_structure(structure, held=held)
    plan = compiled.plan
    mass, inertia, heavy = plan.mass.copy(), plan.inertia.copy(), HEAVY * plan.mass.sum()
    if min(len(heavy_x), len(heavy_R)) < mass.size:  # if all are given, none gives way: their own masses weigh best
        mass[compiled.slot[list(heavy_x)]] = heavy
        inertia[compiled.slot[list(heavy_R)]] = heavy * compiled.length**2 * np.eye(3)
    plan = plan._replace(mass=freeze(mass), inertia=freeze(inertia))
    ws = workspace(plan, 1)
    ws.position[0, :-1] = x[compiled.order]
    ws.quat[0, :-1] = quat_from_matrix(R[compiled.order])
    return replace(compiled, plan=plan), ws


def _worst_joint(compiled, ws) -> int:
    plan = compiled.plan
    row = int(np.argmax(np.nan_to_num(plan.row_scale * np.abs(ws.residual_row), nan=np.inf)))
    return int(compiled.joints[np.searchsorted(plan.joint_rows, row, side="right") - 1])


def _by_joint(structure, values, what):
    checked = {}
    for name, value in (values or {}).items():
        if name not in structure.joint_index:
            raise StateError(f"{what}: no joint '{name}'{suggestion(name, structure.joint_index)}")
        joint = structure.joint(name)
        value = [value] if np.isscalar(value) else value
        checked[name] = array_of(value, (joint.dof,), f"{what} of {joint.label}", StateError)
    return checked


def _by_body(structure, values, what, size):
    checked = {}
    for name, value in (values or {}).items():
        if name not in structure.body_index:
            raise StateError(f"{what}: no body '{name}'{suggestion(name, structure.body_index)}")
        label = f"{what} of body '{name}'"
        check = unit_quaternion(value, label, StateError) if size == 4 else array_of(value, (size,), label, StateError)
        checked[structure.body_index[name]] = check
    return checked
