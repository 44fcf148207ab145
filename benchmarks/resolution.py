"""What finds the runs that their steps did not resolve: hits, false alarms and cost of several measures of a step."""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import varint as vi
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme
from varint.results.component_energies import FEW, component_energies
from varint.results.inputs.at_nodes import Commands
from varint.results.resolution import largest_change, step_for_change

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import resolution_runs

TOLERANCE, LONGEST = 1e-10, 10.0  # m/s, s
SEEDS, OTHER_SEEDS = range(200), range(1000, 1200)
MEASURES = {  # name: (bound, cost)
    "`Trajectory.unresolved`": (0.5, "not a projection"),
    "sub-steps at all": (0.5, "none"),
    "turn of a body in a step, rad": (0.25, "little"),
    "change of energy in one step": (0.02, "a projection"),
    "the same, or sub-steps": (0.02, "a projection"),
    "change of energy in five steps": (0.01, "a projection"),
    "Newton's start value": (0.3, "little"),
    "two half steps": (1e-4, "three times the steps"),
}
FALSE_ALARMS = 0.02  # of the quiet runs
PROPOSED = 0.9  # of the runs that are told: those quiet at the step that is proposed


class Case(NamedTuple):
    """A run to be made; ``stepwise``: whether the measures that need each step by itself are taken too.

    ``adaptive``: as of `varint.simulate`.
    """

    name: str
    mechanism: vi.Mechanism
    state: vi.State
    duration: float
    dt: float
    order: int
    stepwise: bool = False
    adaptive: bool | float = False

    def run(self, dt=None):
        return vi.simulate(
            self.mechanism, self.duration, dt or self.dt, order=self.order, state=self.state, adaptive=self.adaptive,
            on_unresolved="ignore",
        )  # fmt: skip


class Found(NamedTuple):
    """Of one run: the truth, measures by name, and whether the proposed step resolves it, None where none is."""

    verdict: str
    measures: dict[str, float]
    at_proposed: bool | None


def whips():
    """Long chains that are let go level, and many rhombi."""
    for mechanism, duration in (
        (vi.mechanisms.n_pendulum(n=10, angle=np.pi / 2), LONGEST),
        (vi.mechanisms.n_pendulum(n=50, angle=np.pi / 2), 5.0),
        (vi.mechanisms.rhombus_chain(m=16), 5.0),
    ):
        for dt in (0.01, 0.005, 0.002, 0.001):
            for order in (2, 4, 6):
                yield Case(mechanism.name, mechanism, mechanism.state(), duration, dt, order)


def catalogue():
    """Every mechanism and variant at its documented step and at twice that."""
    for name in vi.mechanisms.NAMES:
        facts = vi.mechanisms.module(name).EXPECTED
        for parameters in ({}, *facts.get("variants", ())):
            mechanism = getattr(vi.mechanisms, name)(**parameters)
            for order in (2, 4):
                for dt in (facts["dt"], 2 * facts["dt"]):
                    duration = min(LONGEST, facts.get("duration", LONGEST))
                    yield Case(name, mechanism, mechanism.state(), duration, dt, order)


def random_ones(seeds, stepwise):
    for seed in seeds:
        try:
            name, mechanism, state = resolution_runs.random_run(seed)
        except vi.VarintError:  # a mechanism that cannot move
            continue
        for dt in (0.01, 0.005):
            yield Case(name, mechanism, state, 2.0, dt, 2, stepwise)
        if seed % 3 == 0:
            yield Case(name, mechanism, state, 2.0, 0.01, 4)


def _largest_change(found, steps):
    """Largest change of the errors of components within so many steps, of the energy that takes part."""
    return max(float((np.abs(own.error[steps:] - own.error[:-steps]) / own.energy[steps:]).max()) for own in found)


def examine(case):
    """What was `Found`; None for a run that ended with an exception."""
    try:
        run = case.run()
    except vi.ConvergenceError:
        return None
    found = list(component_energies(run))
    scale = sum(own.scale for own in found)
    cosine = np.abs(np.einsum("tbi,tbi->tb", run.quat_wxyz[1:], run.quat_wxyz[:-1])).clip(max=1.0)
    one_step = _largest_change(found, 1)
    values = [
        float(run.unresolved.size),
        float(run.substeps),
        float(2 * np.arccos(cosine).max()),
        one_step,
        max(one_step, float(run.substeps > 0)),
        max(_largest_change(found, k) for k in range(1, FEW + 1)),
    ]
    values += step_by_step(case, scale) if case.stepwise else [np.nan, np.nan]
    at_proposed = None
    if run.unresolved.size and case.stepwise:
        try:
            proposed = step_for_change(run.mechanism, case.dt, largest_change(run))
            at_proposed = not case.run(proposed).unresolved.size
        except vi.ConvergenceError:
            at_proposed = False
    return Found(resolution_runs.verdict(run), dict(zip(MEASURES, values, strict=True)), at_proposed)


def step_by_step(case, scale):
    """Largest kinetic energies of two differences of velocities, of the scale.

    Between the extrapolation that Newton's method starts from and the solution; between the ends of a step and of two
    halves of it.
    """
    compiled, steps = case.mechanism.compiled, len(scale) - 1
    whole, halves = (march_of(case, pieces, steps) for pieces in (1, 2))
    whole.start(case.state)
    start, half = np.zeros((2, steps))
    for k in range(steps):
        saved, history = whole.checkpoint(), whole.ws.history.copy()
        block = whole.advance(1)
        guess = history[0, :3].sum(axis=0)  # of the second degree
        start[k] = kinetic_energy(compiled.plan, whole.ws.history[0, 0] - guess) if k >= 3 else 0.0
        history[0, 1:] = 0.0
        halves.failure = None
        halves.restore(saved | {"place": np.array([2 * k, int(saved["place"][1])]), "history": history})
        found = halves.advance(2)
        if halves.failure is None:
            apart = [getattr(block, name)[-1] - getattr(found, name)[-1] for name in ("velocity", "angular_velocity")]
            half[k] = kinetic_energy(compiled.plan, np.concatenate(apart, axis=1)[compiled.order])
    return [float((values / scale[1:]).max()) for values in (start, half)]


def march_of(case, pieces, steps):
    """A march with the steps of the case in that many ``pieces``."""
    compiled, dt = case.mechanism.compiled, case.dt / pieces
    march = March(compiled, scheme(case.order), dt, TOLERANCE, 1)
    commands = Commands(case.mechanism, compiled, pieces * steps, dt).at(np.arange(pieces * steps + 1))
    march.give(march.load, march.series, *commands)
    return march


def kinetic_energy(plan, velocity):
    """J, of velocities (nb, 6) by slot."""
    v, w = velocity[:, :3], velocity[:, 3:]
    return 0.5 * float(plan.bodies.mass @ (v * v).sum(axis=1) + np.einsum("ni,nij,nj->", w, plan.bodies.inertia, w))


def scores(found, name, bound):
    """Shares of wrong, quiet and other runs above ``bound``; of quiet ones where it is so low that none is missed."""
    by = {v: np.array([f.measures[name] for f in found if f.verdict == v]) for v in ("wrong", "quiet", "neither")}
    by = {v: values[~np.isnan(values)] for v, values in by.items()}
    shares = [float((values > bound).mean()) if values.size else np.nan for values in by.values()]
    return [*shares, float((by["quiet"] >= by["wrong"].min()).mean()) if by["wrong"].size else np.nan]


def survey(cases):
    return [found for case in cases if (found := examine(case)) is not None]


def measure():
    found = survey([*whips(), *catalogue(), *random_ones(SEEDS, True)])
    others = survey(random_ones(OTHER_SEEDS, False))
    rows = []
    for what, runs in (("first set", found), ("other seeds", others)):
        count = {v: sum(f.verdict == v for f in runs) for v in ("wrong", "quiet", "neither")}
        rows.append((what, ", ".join(f"{n} {v}" for v, n in count.items()), "", None))
        for name, (bound, cost) in MEASURES.items():
            hits, false, neither, all_hit = scores(runs, name, bound)
            if np.isnan(hits):
                continue
            figure = (
                f"hits {hits:.1%}, false alarms {false:.2%}, of the others {neither:.0%};"
                f" false where all are hit {all_hit:.1%}; costs {cost}"
            )
            own = name == next(iter(MEASURES))
            good = hits == 1.0 and false < FALSE_ALARMS if own else None
            target = f"100 %, < {FALSE_ALARMS:.0%}" if own else ""
            rows.append((f"{name} > {bound:g}", figure, target, good))
    tried = [f.at_proposed for f in found if f.at_proposed is not None]
    share = float(np.mean(tried))
    rows.append(
        (
            "resolved at the step that is proposed",
            f"{share:.1%} of {len(tried)}",
            f">= {PROPOSED:.0%}",
            share >= PROPOSED,
        )
    )
    return rows
