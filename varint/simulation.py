"""`simulate`: run a mechanism and get its trajectory, in memory or in a file that survives a kill."""

import time

import numpy as np

from varint._numba import announce_compilation
from varint.analysis.forces import check_laws
from varint.analysis.quantities import joint_drift
from varint.analysis.trajectory import Trajectory
from varint.compile import compile_structure
from varint.errors import ArgumentError, ConvergenceError, FileError, StateError
from varint.integrators.march import March, join_blocks
from varint.integrators.schemes import scheme
from varint.io.run_file import RunWriter, fingerprint, load_progress
from varint.kernels.step import DEEPEST_SUBSTEP, run
from varint.loads import command_array, is_controlled, load_arrays, recorded_loads
from varint.mechanism import Mechanism
from varint.model.checks import array_of, positive
from varint.model.state import State

BLOCK_SECONDS = 0.25  # of stepping between two looks at the clock, the file and the progress
LARGEST_GAP = 1e-8  # of a joint in a state to start from, in sizes of a part ...
ROUND_OFF = 1e-12  # ... and of the coordinates
CLOSURES = ("clusters", "single")
LARGEST_BLOCK = 1 << 27  # bytes of recorded nodes in one block


def simulate(
    mechanism: Mechanism,
    duration: float,
    dt: float,
    *,
    state: State | None = None,
    order: int = 2,
    tol: float = 1e-10,
    every: int = 1,
    closures: str = "clusters",
    force=None,
    torque=None,
    output=None,
    resume: bool = False,
    progress=None,
) -> Trajectory:
    """Simulate a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
    duration, dt : float
        s; the run ends at the last whole step within the duration.
    state : State, optional
        From ``mechanism.state(...)``; ``mechanism.state()`` where not given.
    order : {1, 2, 4, 6}
        2: node-momentum form, second order. 4, 6: its compositions by Suzuki (5 stages) and Kahan
        and Li (9 stages). 1: start and outputs of VI as printed.
    tol : float
        Largest residual of a step, m/s; a joint may be off by ``tol * dt`` metres.
    every : int
        Record each ``every``-th node.
    closures : {"clusters", "single"}
        A dense node for each cluster of loops, or one for all of them (VI section 4.3): the same motion, slower.
    force, torque : dict, optional
        Body name to (3,), or (steps + 1, 3) with one value a node, linear in between. Forces at the
        centre of mass, N, world; torques N m, body axes.
    output : path, optional
        HDF5 file, written as the run goes.
    resume : bool
        Go on with the unfinished run in ``output``, to the same bits as if it had not stopped.
    progress : callable, optional
        Called as ``progress(steps done, steps in all)``.

    Raises
    ------
    ArgumentError, StateError, FileError
        Before the first step; MechanismError where the law of a user's force is wrong there.
    ConvergenceError
        A step could not be solved; carries the trajectory up to there.
    """
    dt = positive(dt, "dt", ArgumentError)
    duration = positive(duration, "duration", ArgumentError)
    tol = positive(tol, "tol", ArgumentError)
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise ArgumentError(f"every must be a whole number from 1, got {every!r}")
    if duration / dt > 2**53:
        raise ArgumentError(f"duration {duration:g} s is more than 2^53 steps of dt = {dt:g} s")
    steps = int(np.floor(duration / dt * (1 + 1e-12) + 1e-9))
    if steps < 1:
        raise ArgumentError(f"duration {duration:g} s is shorter than one step dt = {dt:g} s")
    if resume and output is None:
        raise ArgumentError("resume needs output=, the file of the run to go on with")
    if closures not in CLOSURES:
        raise ArgumentError(f"closures must be one of {', '.join(CLOSURES)}, got {closures!r}")
    for force_ in mechanism.forces:
        if force_.reduced_only:
            raise ArgumentError(f"{force_.label} acts in varint.redmax.simulate(integrator='euler') only")
    compiled = mechanism.compiled
    if closures == "single" or mechanism.forces:
        compiled = compile_structure(mechanism, clustered=closures == "clusters", forced=True)
    loads = load_arrays(mechanism, compiled, steps, force, torque)
    if compiled.plan.stop_gauge.size and order > 2:
        raise ArgumentError(
            f"hard stops need order 1 or 2, got {order}: give the stops a stiffness, or lower the order"
        )
    commands = command_array(mechanism, compiled, steps, dt)
    controllers = [f for f, k in enumerate(compiled.force) if is_controlled(mechanism.forces[k])]
    march = March(compiled, scheme(order), dt, tol, every, loads, commands)
    state = _checked(mechanism, mechanism.state() if state is None else state)
    announce_compilation(run)
    check_laws(mechanism, state)
    first = march.start(state)
    _check_start(march, mechanism)
    if controllers:
        march.inputs = first.command[0, compiled.force[controllers]] = _called(march, mechanism, controllers)
    march.advance(0)  # compiles or loads the kernels, which is no stepping time
    settings = {
        "duration": duration,
        "dt": dt,
        "order": order,
        "tol": tol,
        "every": int(every),
        "steps": steps,
        "closures": closures,
    }
    recorded = recorded_loads(compiled, loads, every)
    writer, blocks, spent, counts = None, [first], 0.0, np.zeros(2, dtype=np.int64)
    if output is not None:
        inputs = (state.position, state.quat_wxyz, state.velocity, state.angular_velocity, *loads, commands)
        if resume:
            saved = load_progress(output)
            if saved.fingerprint != fingerprint(mechanism, settings, inputs):
                raise FileError(
                    f"'{output}' holds another run: to go on, the mechanism, its start and loads, dt, order, tol and"
                    " every must be the same"
                )
            blocks, counts, spent = [saved.block], saved.counts, saved.wall_time
            if saved.status > 0:
                raise FileError(f"the run in '{output}' cannot go on: {saved.message}")
            march.restore(saved.checkpoint)
            if controllers:
                march.inputs = _called(march, mechanism, controllers)
            if march.node > steps:
                raise ArgumentError(f"the run in '{output}' is past {duration:g} s already, at {march.node * dt:g} s")
            writer = RunWriter.reopen(output, settings)
        else:
            writer = RunWriter(output, mechanism, settings, inputs, recorded, march.checkpoint())
            writer.append(first, dt, 0, march.checkpoint(), counts, spent)
    try:
        size = every
        nb = len(mechanism.bodies)
        while march.node < steps and march.failure is None:
            began = time.perf_counter()
            if controllers:
                block = _controlled(march, mechanism, controllers, commands, min(size, steps - march.node))
            else:
                block = march.advance(min(size, steps - march.node))
            elapsed = time.perf_counter() - began
            spent += elapsed
            counts += (block.newton_iterations, block.substeps)
            if writer:
                checkpoint = march.checkpoint() if march.failure is None else None
                writer.append(block, dt, march.node, checkpoint, counts, spent)
            blocks.append(block)
            if progress:
                progress(march.node, steps)
            factor = np.clip(BLOCK_SECONDS / max(elapsed, 1e-9), 0.5, 8.0)
            size = int(np.clip(size * factor, 1, max(1, LARGEST_BLOCK * every // (112 * nb))))
        status, message, error = _outcome(march, mechanism)
        if writer:
            writer.finish(status, message)
    finally:
        if writer:
            writer.close()
    t = dt * np.concatenate([block.node for block in blocks])
    trajectory = Trajectory(
        mechanism=mechanism,
        t=t,
        position=np.concatenate([block.position for block in blocks]),
        quat_wxyz=np.concatenate([block.quat_wxyz for block in blocks]),
        velocity=np.concatenate([block.velocity for block in blocks]),
        angular_velocity=np.concatenate([block.angular_velocity for block in blocks]),
        load=recorded[: len(t)],
        work=np.concatenate([block.work for block in blocks]),
        command=np.concatenate([block.command for block in blocks]),
        newton_iterations=int(counts[0]),
        substeps=int(counts[1]),
        steps=march.node,
        success=status == 0,
        status=status,
        message=message,
        wall_time=spent,
    )
    if error:
        raise ConvergenceError(message, **error, trajectory=trajectory)
    return trajectory


def _controlled(march, mechanism, controllers, commands, steps):
    """March ``steps`` steps; the functions that command forces are called at each node, for the step that follows."""
    blocks = []
    for _ in range(steps):
        nodes = [0, 0] if commands.shape[1] == 1 else [march.node, march.node + 1]
        march.commands, march.command_rates = commands[:, nodes]
        march.commands[:, controllers], march.first_command = march.inputs, march.node
        block = march.advance(1)
        blocks.append(block)
        if march.failure:
            break
        march.inputs = _called(march, mechanism, controllers)
        block.command[:, march.compiled.force[controllers]] = march.inputs
    return join_blocks(blocks)


def _called(march, mechanism, controllers):
    """What the functions that command forces give at the present node."""
    t, state, values = march.node * march.dt, march.state(), np.empty(len(controllers))
    for k, f in enumerate(controllers):
        force = mechanism.forces[march.compiled.force[f]]
        what = f"{force.command_name} of {force.label} at t = {t:g} s"
        values[k] = array_of(force.command(t, state), (), what, ArgumentError)
    return values


def _outcome(march, mechanism):
    """Status, message, and where it failed."""
    if march.failure is None:
        return 0, "the run reached its end", None
    node, body, joint = march.failure
    compiled = march.compiled
    time_ = node * march.dt
    body = mechanism.bodies[compiled.order[body]].name if body >= 0 else None
    number = compiled.joints[joint] if joint >= 0 else -1
    joint = mechanism.joints[number].name if number >= 0 else None
    where = f"body '{body}'" + (f" and joint '{joint}'" if joint else "")
    message = (
        f"the step at t = {time_:g} s could not be solved, not even in {2**DEEPEST_SUBSTEP} sub-steps;"
        f" the residual is largest at {where}. A smaller dt may help; infinite loads or a lock-up cannot be solved"
    )
    return 1, message, {"time": time_, "body": body, "joint": joint}


def _checked(mechanism, state):
    if not isinstance(state, State):
        raise ArgumentError(f"state must come from mechanism.state(...), got {state!r}")
    nb = len(mechanism.bodies)
    for name, width in (("position", 3), ("quat_wxyz", 4), ("velocity", 3), ("angular_velocity", 3)):
        array_of(getattr(state, name), (nb, width), f"{name} of the state", ArgumentError)
    left = joint_drift(mechanism.compiled, state.position[None], state.quat_wxyz[None])[0]
    if not left <= LARGEST_GAP * mechanism.compiled.length + ROUND_OFF * np.abs(state.position).max():
        raise StateError(f"the state leaves a joint {left:.3g} m open: mechanism.assemble(state) closes it")
    return state


def _check_start(march, mechanism):
    for f, here, aim in march.off_aim():
        if not abs(here - aim) <= LARGEST_GAP * max(1.0, march.compiled.length):
            force = mechanism.forces[march.compiled.force[f]]
            raise StateError(
                f"{force.label} starts at {aim:g}, but coordinate {force.coordinate} of joint '{force.joint}' is at"
                f" {here:g}: give a state with mechanism.state(coordinates={{'{force.joint}': ...}})"
            )
