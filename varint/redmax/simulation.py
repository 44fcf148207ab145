"""`simulate`: run a mechanism in reduced coordinates."""

import time
from collections.abc import Mapping

import numpy as np

from varint.errors import ArgumentError, ConvergenceError, StateError
from varint.mechanism import Mechanism
from varint.model.checks import positive
from varint.model.rotation import rotation_matrix
from varint.model.state import State
from varint.redmax import adaptive, fixed
from varint.redmax.charts import EXPONENTIAL, ORDERS
from varint.redmax.contacts import Contacts, check_integrator
from varint.redmax.couplings import prescribed_motions
from varint.redmax.equations import Equations
from varint.redmax.implicit import check_closures
from varint.redmax.inputs import Inputs
from varint.redmax.inverse import driving_efforts
from varint.redmax.states import ReducedState, checked, maximal_nodes, reduce
from varint.redmax.trajectory import ReducedTrajectory, mean_rates

LARGEST_GAP = 1e-6  # of a joint in a state to start from, in sizes of a part


def simulate(
    mechanism: Mechanism,
    duration: float,
    *,
    dt: float | None = None,
    state: State | ReducedState | None = None,
    integrator: str = "dop853",
    rtol: float = 1e-8,
    atol: float | None = None,
    baumgarte: float = 5.0,
    every: int = 1,
    force=None,
    torque=None,
    prescribed=None,
    chart: str = EXPONENTIAL,
) -> ReducedTrajectory:
    """Simulate a mechanism in the coordinates of its spanning tree (REDMAX), the cut joints as constraints.

    Parameters
    ----------
    mechanism : Mechanism
    duration : float
        s
    dt : float, optional
        Spacing of the nodes, s, and size of the steps without error control; where not given, the nodes are the
        steps that the integrator chooses.
    state : State or ReducedState, optional
        ``mechanism.state()`` where not given.
    integrator : {"rk45", "dop853", "radau", "euler", "bdf1", "bdf2", "sdirk2"}
        The first three with error control, of order 5, 8 and, for stiff forces, 5. The others in steps of ``dt``:
        linearly implicit Euler, of order 1, and implicit schemes of order 1, 2, 2; they take energy out of the motion.
    rtol, atol : float
        Largest error of a step, relative and absolute (m, rad, m/s, rad/s, J); ``atol`` is ``rtol / 100`` where not
        given.
    baumgarte : float
        Rate b at which gaps of the cut joints close, 1/s: g'' + 2 b g' + b^2 g = 0 with error control, and
        g' + b g = 0 in steps of ``dt``.
    every : int
        Record each ``every``-th node.
    force, torque : dict, optional
        As in `varint.simulate`; one value a node needs ``dt``.
    prescribed : dict, optional
        Name of a tree joint to a function of time that gives its coordinates, their rates and the rates of these,
        (q, qdot, qddot), each a number or (dof,): hybrid dynamics. From the start on the joint is where it says.
    chart : str
        Coordinates of free rotations: "exponential", rotation vectors, or one of the twelve orders of Euler angles,
        such as "xyz" or "zxz", which gives way to another near its singularity.

    Raises
    ------
    ArgumentError, StateError
        Before the first step.
    ConvergenceError
        A step could not be done; carries the trajectory up to there.
    """
    duration = positive(duration, "duration", ArgumentError)
    rtol = positive(rtol, "rtol", ArgumentError)
    atol = 0.01 * rtol if atol is None else positive(atol, "atol", ArgumentError)
    dt = None if dt is None else positive(dt, "dt", ArgumentError)
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise ArgumentError(f"every must be a whole number from 1, got {every!r}")
    if integrator not in (*adaptive.METHODS, *fixed.METHODS):
        known = ", ".join((*adaptive.METHODS, *fixed.METHODS))
        raise ArgumentError(f"integrator must be one of {known}, got {integrator!r}")
    if chart not in (EXPONENTIAL, *ORDERS):
        raise ArgumentError(f"chart must be one of {', '.join((EXPONENTIAL, *ORDERS))}, got {chart!r}")
    if integrator in fixed.METHODS and dt is None:
        raise ArgumentError(f"integrator {integrator!r} needs dt=, the size of its steps")
    steps = 1 if dt is None else int(np.floor(duration / dt * (1 + 1e-12) + 1e-9))
    if steps < 1:
        raise ArgumentError(f"duration {duration:g} s is shorter than one step dt = {dt:g} s")
    if prescribed is None or isinstance(prescribed, Mapping):
        prescribed = prescribed_motions(mechanism, steps, dt, duration) | dict(prescribed or {})
    touching = check_integrator(mechanism, integrator)
    equations = Equations(
        mechanism,
        lambda compiled: Inputs(mechanism, compiled, steps, dt or duration, force, torque),
        baumgarte,
        prescribed,
        chart,
    )
    if not equations.nq:
        raise ArgumentError(f"mechanism '{mechanism.name}' has no coordinate: nothing can move")
    q, qdot = _start(equations, mechanism.state() if state is None else state)
    equations.aim[:] = equations.couplings @ q
    began = time.perf_counter()
    end = duration if dt is None else steps * dt
    run: fixed.Fixed | adaptive.Adaptive
    contacts = Contacts(equations) if touching else None
    if integrator in fixed.METHODS:
        if integrator != "euler":
            check_closures(equations)
        run = fixed.Fixed(equations, integrator, q, qdot, end, dt, contacts)
    else:
        run = adaptive.Adaptive(equations, integrator, q, qdot, end, rtol, atol)
    t, trees, y = _recorded(run, None if dt is None else dt * np.arange(1, steps + 1), every)
    return _trajectory(equations, run, contacts, t, trees, y, time.perf_counter() - began)


def _start(equations, state):
    """q and qdot (nq,) of a `State` or `ReducedState`, in the charts of the equations."""
    if isinstance(state, ReducedState):
        reduced = checked(equations, state)
        return equations.in_charts(reduced.q, reduced.qdot)
    if not isinstance(state, State):
        raise StateError(f"state must come from mechanism.state(...) or be a ReducedState, got {state!r}")
    reduced = reduce(equations.tree, equations.mechanism, state)
    q, qdot = equations.in_charts(reduced.q, reduced.qdot)
    _check_closed(equations, q, qdot, state)
    return q, qdot


def _check_closed(equations, q, qdot, state):
    """That the joints of ``state`` are closed, which ``q`` has lost."""
    length, slot = equations.compiled.length, equations.compiled.slot
    equations.place(q)
    equations.move(q, qdot)
    gaps = [
        np.abs(equations.position[slot] - state.position).max(),
        length * np.abs(equations.rotation[slot] - rotation_matrix(state.quat_wxyz)).max(),
    ]
    if len(equations.closures):
        rows = equations.closures.evaluate(equations.position, equations.rotation, equations.velocity)
        gaps.append(np.abs(rows.value).max())
    if not max(gaps) <= LARGEST_GAP * length:
        raise StateError(f"the state leaves a joint {max(gaps):.3g} m open: mechanism.assemble(state) closes it")


def _recorded(run, times, every):
    """Times (T,), trees and states (T, ...) of each ``every``-th node: at ``times``, or the integrator's own."""
    t, trees, y = [0.0], [run.equations.tree], [run.y.copy()]
    passed = 0
    while run.t < run.end and run.failure is None:
        states, tree = run.step(np.empty(0) if times is None else times)
        if times is None:
            if run.failure is None and (run.steps % every == 0 or run.t == run.end):
                t.append(run.t)
                trees.append(run.equations.tree)
                y.append(run.y.copy())
            continue
        for row in states:
            passed += 1
            if passed % every == 0:
                t.append(times[passed - 1])
                trees.append(tree)
                y.append(row)
    return np.array(t), trees, np.array(y)


def _efforts(equations, contacts, trees, t, q, qdot, integral, impulse):
    """Efforts of hard stops (T, nf), of joint friction by its name, and of prescribed joints by theirs."""
    if not contacts:
        return np.zeros((len(t), equations.nf)), {}, driving_efforts(equations, trees, t, q, qdot, integral)
    stops, friction, drives = contacts.parts(mean_rates(impulse, t))
    columns = np.zeros_like(q)
    columns[:, equations.driven_columns] = drives
    return stops, friction, {drive.name: columns[:, drive.columns] for drive in equations.drives}


def _trajectory(equations, run, contacts, t, trees, y, wall_time):
    nq, mechanism = equations.nq, equations.mechanism
    parts = np.cumsum([nq, nq, equations.nf, equations.servos.size])
    q, qdot, work, integral, impulse = np.split(y, parts, axis=1)
    for drive in equations.drives:
        q[:, drive.columns], qdot[:, drive.columns], _ = np.swapaxes([drive.at(time_) for time_ in t], 0, 1)
    position, quat_wxyz, velocity, angular_velocity = maximal_nodes(equations, trees, q, qdot)
    by_force, inputs = equations.forced.by_force, equations.inputs
    commands = []
    for k, time_ in enumerate(t):
        state = State(position[k], quat_wxyz[k], velocity[k], angular_velocity[k])
        commands.append(inputs.command(time_, lambda state=state: state))
    stops, friction, driving = _efforts(equations, contacts, trees, t, q, qdot, integral, impulse)
    regulating = np.zeros_like(work)
    regulating[:, equations.servos] = -equations.forced.plan.law_parameter[equations.servos, 1] * integral
    loads = [inputs.load(time_) for time_ in t] if len(inputs.series) else [inputs.constant]
    trajectory = ReducedTrajectory(
        mechanism=mechanism,
        t=t,
        position=position,
        quat_wxyz=quat_wxyz,
        velocity=velocity,
        angular_velocity=angular_velocity,
        load=np.array(loads)[:, equations.compiled.slot],
        work=by_force(work),
        command=by_force(np.array(commands)),
        newton_iterations=run.newton_iterations,
        substeps=0,
        steps=run.steps,
        success=run.failure is None,
        status=0 if run.failure is None else 1,
        message=run.failure or "the run reached its end",
        wall_time=wall_time,
        q=q,
        qdot=qdot,
        columns=equations.tree.columns,
        evaluations=run.evaluations,
        driving=driving,
        stopping=by_force(stops),
        friction=friction,
        regulating=by_force(regulating),
        charts={name: np.array([tree.charts[name] for tree in trees]) for name in equations.tree.charts},
    )
    if run.failure:
        message = f"the step at t = {run.t:g} s could not be done: {run.failure}"
        raise ConvergenceError(message, time=run.t, body=None, joint=None, trajectory=trajectory)
    return trajectory
