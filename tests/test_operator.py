"""The exact derivative of a step's residual as an operator, its transpose, and solutions refined with it."""

from dataclasses import replace

import force_samples
import numpy as np
import pytest
from random_mechanisms import random_closed

import varint as vi
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme
from varint.results.inputs.at_nodes import Commands
from varint.step.compliant.beams import evaluate_beams
from varint.step.derivatives.columns import apply_wide, refine_wide
from varint.step.derivatives.operator import apply_transposed, prepare_operator
from varint.step.intervals import StepSpan
from varint.step.ldu import solve_newton
from varint.step.limits.rows import set_closed
from varint.step.momentum import momentum_derivative
from varint.step.newton import evaluate_step
from varint.step.pairs import curve_pairs
from varint.step.roles import stiffen_roles
from varint.step.workspace import tangent_work

pytestmark = pytest.mark.slow  # they compile functions that few others need

STEP = 3e-5  # of differences, m/s and rad/s
# neither masses along paths, which gradients refuse, nor rows of rates, which rely on both poses, nor beams, whose
# efforts are unknowns: the residual at given unknowns is not what the operator differentiates (test_beams.py compares
# with the same efforts as others have them)
LEFT_OUT = {*force_samples.OF_RATES, "BeamElement", "PathMass", "JointCoulombFriction"}
SAMPLES = tuple(name for name in force_samples.NAMES if name not in LEFT_OUT)
every_sample = pytest.mark.parametrize("name", SAMPLES)


class Step:
    """A step of a mechanism from some pose, with velocities and multipliers that solve nothing."""

    def __init__(self, mechanism, rng, h, speed, at_end=False, state=None):
        self.rng, self.h = rng, h
        compiled = mechanism.compiled
        self.plan, nb = compiled.plan, len(mechanism.bodies)
        nr = self.plan.rows.role.size
        commands = np.zeros((2, 1, compiled.force.size))
        commands[0] = rng.standard_normal(compiled.force.size)
        march = March(compiled, scheme(2), h, 1e-12, 1)
        march.give(march.load, march.series, *commands)
        march.start(mechanism.state() if state is None else state)
        self.ws = ws = march.ws
        ws.efforts.input[:] = commands[0, 0]
        ws.efforts.state[:] = rng.standard_normal(ws.efforts.state.size)
        for n in range(self.plan.limits.measure.size):
            set_closed(self.plan, ws, n, True)
        self.start, self.end = 0, 1
        self.upper = self.end if at_end else self.start
        self.active = ws.released == 0.0
        self.active[self.plan.compliant.joint_row] = True
        self.velocity = speed * rng.uniform(-1.0, 1.0, (nb, 6))
        self.multiplier = self.row(nr)
        ws.goal[:] = rng.standard_normal((nb, 6))

    def row(self, nr):
        """A random vector of the rows; all rows of a constraint have one number, rows of efforts in the middle zero."""
        row = self.rng.standard_normal(nr) * self.active
        for first, size in self.constraints():
            row[first : first + size] = row[first]
        return row

    def constraints(self):
        return zip(self.plan.constraints.row, self.plan.constraints.size, strict=True)

    def vectors(self):
        return self.rng.standard_normal(self.velocity.shape), self.row(self.multiplier.size)

    def residual(self, velocity, multiplier):
        ws = self.ws
        ws.velocity[:], ws.multiplier[:] = velocity, multiplier
        merit, _, _, _ = evaluate_step(self.plan, ws, self.start, self.end, self.h, self.upper, 0.0)
        assert np.isfinite(merit)
        rows = np.where(self.active, ws.residual_row, 0.0)
        for first, size in self.constraints():
            rows[first + 1 : first + size] = multiplier[first + 1 : first + size] - multiplier[first]
        return np.concatenate([ws.residual_body.ravel(), rows])

    def moved(self, body, row, share):
        u = 0.5 * self.h * self.velocity[:, 3:]
        c = np.sqrt(1.0 - np.sum(u**2, axis=1))[:, None]
        change = np.hstack([body[:, :3], c * body[:, 3:] + np.cross(u, body[:, 3:])])
        return self.velocity + share * change, self.multiplier + share * row

    def ready(self):
        self.residual(self.velocity, self.multiplier)
        prepare_operator(self.plan, self.ws, 0.5 * self.h)

    def applied(self, body, row):
        work, step, k = tangent_work(self.plan), StepSpan(self.upper, self.end, self.h), int(self.rng.integers(8))
        curve_pairs(self.plan, self.ws, work, self.upper)
        given, found = wide(body, row), wide(body, row)
        for column in range(8):  # of which the others are something else
            for vectors, vector in zip(given, (body, row), strict=True):
                vectors[..., column] = (1 + k - column) * vector
        apply_wide(self.plan, self.ws, work, step, 8, *given, *found)
        return np.concatenate([found[0][..., k].ravel(), found[1][:, k]])

    def transposed(self, body, row):
        out = np.zeros_like(body), np.zeros_like(row)
        apply_transposed(self.plan, self.ws, StepSpan(self.upper, self.end, self.h), body, row, *out)
        return np.concatenate([out[0].ravel(), out[1]])


def wide(*vectors):
    """Eight columns of each, zero."""
    return [np.zeros((*vector.shape, 8)) for vector in vectors]


def check(step, tolerance=1e-7):
    """The operator against differences along three vectors, its transpose against the operator: relative errors."""
    errors = []
    for _ in range(3):
        body, row = step.vectors()
        near, far = (
            step.residual(*step.moved(body, row, k * STEP)) - step.residual(*step.moved(body, row, -k * STEP))
            for k in (1, 2)
        )
        expected = (8 * near - far) / (12 * STEP)
        step.ready()
        found = step.applied(body, row)
        error = np.abs(found - expected).max() / np.abs(expected).max()
        assert error <= tolerance
        other = step.vectors()
        back = step.transposed(*other)
        one, two = np.concatenate([other[0].ravel(), other[1]]) * found, np.concatenate([body.ravel(), row]) * back
        transposed = abs(one.sum() - two.sum()) / max(np.abs(one).sum(), np.abs(two).sum())
        assert transposed <= 1e-13
        errors.append((error, transposed))
    return np.max(errors, axis=0)


@pytest.mark.parametrize("at_end", [False, True])
@every_sample
def test_operator_with_every_force(rng, name, at_end):
    mechanism = force_samples.sample_mechanism(rng, force_samples.samples(rng)[name])
    check(Step(mechanism, rng, 0.05, 5.0, at_end))


@pytest.mark.parametrize("at_end", [False, True])
def test_operator_of_couplings_that_are_not_linear(rng, at_end):
    check(Step(force_samples.sample_mechanism(rng, [force_samples.bent_map()]), rng, 0.05, 5.0, at_end))


@pytest.mark.parametrize("at_end", [False, True])
def test_operator_where_efforts_have_rows_everywhere(rng, at_end):
    check(Step(force_samples.coupled_everywhere(rng), rng, 0.02, 1.0, at_end))  # a rod turns no further


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("loops", [0, 1])
def test_operator_of_joints_with_a_compliance(rng, loops, at_end):
    rigid = random_closed(rng, 5, loops, kinds=("Revolute", "Cylindrical"))
    joints = [
        replace(joint, compliance=10.0 ** rng.uniform(-3, -1, len(joint.forbidden)) * (k != 1), damping_time=0.01)
        for k, joint in enumerate(rigid.joints)
    ]
    check(Step(replace(rigid, joints=joints), rng, 0.02, 1.0, at_end))


@pytest.mark.parametrize("name", ["governor", "roller_coaster", "andrews_squeezer", "escapement"])
def test_operator_of_loops_products_couplings_and_drives(rng, name):
    check(Step(getattr(vi.mechanisms, name)(), rng, 0.01, 1.0, at_end=True))


def test_operator_of_closed_limits_and_a_coupling_in_a_loop(rng):
    loop = random_closed(rng, 6, 1, kinds=("Revolute", "Cylindrical"))
    names = list(dict.fromkeys(name for name, _ in force_samples.with_measure(loop)))[:3]
    forces = [
        vi.Gear("gear", joint_a=names[0], joint_b=names[1], radius_a=0.3, radius_b=0.2)
        if all(loop.joint(n).dof == 1 for n in names[:2])
        else vi.Coupling("coupling", terms=[(names[0], 0, 1.0), (names[1], 0, 0.7)]),
        vi.JointStop("stop", joint=names[2], upper=5.0),
        vi.TorsionSpring("on the limit", joint=names[2], stiffness=3.0, damping=0.2),
    ]
    check(Step(force_samples.with_forces(loop, *forces), rng, 0.02, 1.0))


def refined(mechanism, state, h, commands=None):
    """What is left after each pass, relative, in the step that follows twenty others."""
    compiled = mechanism.compiled
    plan, nb = compiled.plan, len(mechanism.bodies)
    march = March(compiled, scheme(2), h, 1e-11, 1)
    march.give(march.load, march.series, *Commands(mechanism, compiled, 21, h).at(np.arange(22)))
    march.start(state)
    march.advance(20)
    ws, step = march.ws, StepSpan(march.pose, 1 - march.pose, h)
    ws.goal[:] = ws.momentum
    evaluate_step(plan, ws, march.pose, 1 - march.pose, h, march.pose, 0.0)
    evaluate_beams(plan, ws, ws.efforts.position, ws.efforts.rotation)  # their gradients, as `play_stage` does
    prepare_operator(plan, ws, 0.5 * h)
    rng = np.random.default_rng(0)
    body, row = rng.standard_normal((nb, 6)), rng.standard_normal(plan.rows.role.size) * (ws.released == 0.0)
    for first, size in zip(plan.constraints.row, plan.constraints.size, strict=True):
        row[first : first + size] = row[first]
    work, exact, right = tangent_work(plan), wide(body, row), wide(body, row)
    exact[0][..., 0], exact[1][:, 0] = body, row
    curve_pairs(plan, ws, work, step.upper)
    apply_wide(plan, ws, work, step, 1, *exact, *right)
    for i in range(nb):
        derivative = plan.bodies.mass[i], plan.bodies.inertia[i], *ws.velocity[i, 3:], 0.5 * h, ws.ldu.D[i]
        momentum_derivative(*derivative)
    stiffen_roles(plan, ws, *step[:2], h, False)
    solve_newton(plan, ws, *(part[..., 0].copy() for part in right), *step[:2])
    refine_wide(plan, ws, work, step, 1, *right)
    return work.left[: np.flatnonzero(work.left).max(initial=0) + 1]


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_refined_solves_of_the_catalogue(name):
    mechanism = getattr(vi.mechanisms, name)()
    assert refined(mechanism, mechanism.state(), vi.mechanisms.module(name).EXPECTED["dt"]).min() <= 1e-13


@every_sample
def test_refined_solves_with_every_force(rng, name):
    mechanism = force_samples.sample_mechanism(rng, force_samples.samples(rng)[name])
    assert refined(mechanism, mechanism.state(), 0.005).min() <= 1e-13


def test_each_pass_leaves_its_share(rng):
    mechanism = force_samples.coupled_everywhere(rng)
    coarse, fine = (refined(mechanism, mechanism.state(), h) for h in (0.004, 0.002))
    assert coarse.min() <= 1e-13
    assert fine.min() <= 1e-13
    assert coarse[1] < 0.05 * coarse[0]
    assert fine[0] < 0.5 * coarse[0]  # the share is of the order of h^2
