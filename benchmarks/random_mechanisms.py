"""Random mechanisms of all joints and forces: is every wrong run reported, and are quiet runs left in peace?

    python random_mechanisms.py FILE [COUNT]    # goes on with the runs in FILE (CSV), mechanism by mechanism
    python random_mechanisms.py FILE [COUNT] --limits   # the same of hinges, slides and balls with limits and dampers
    python random_mechanisms.py FILE --page     # prints the table of docs/reliability.md

Each mechanism follows from its number and runs for 1 s at each order and step, and in reduced coordinates. A third has
motors, dampers and a prescribed motion. With ``--limits`` they have stops, lengths, contacts, springs, servos, dampers
of any strength and friction, start up to five turns away and run for 0.3 s (tests/random_limits.py). A run is *wrong*
if the energy balance jumps by more than `JUMP`, if joints open by more than `OPEN`, or if it leaves the reduced
reference by more than `FAR` times the error that its order gives, which is estimated by the same run with half the
step. It is *quiet* if it is far from all three and its bodies are within `QUIET_ERROR` of the size of the mechanism
from where they should be.
"""

import csv
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicHermiteSpline

import varint as vi
from varint.kinematics.drift import joint_drift
from varint.results.component_energies import component_energies, largest_jump

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from force_samples import KINDS, in_any_motion, random_force, sample_mechanism, samples, with_forces
from random_limits import random_limited
from random_mechanisms import random_closed, random_tree, random_velocity_state

COUNT = 1000  # mechanisms
SPEEDS = (1.0, 3.0, 8.0)  # m/s and rad/s, of bodies at the start, before joints take their share
AUTO_OF = 4  # "auto", which takes longest, runs for one mechanism in so many
STEPS, FINEST, ORDERS = (0.01, 0.005, 0.002), 0.001, (2, 4)  # s
JUMP, OPEN, FAR = 0.05, 1e-9, 50.0  # of the energy that takes part, m, times
AT_END = 5  # nodes after a jump, from which on it counts as one that does not come back before the end
QUIET_JUMP, QUIET_FAR, QUIET_ERROR = 0.005, 5.0, 0.05  # as `resolution_runs.CALM`; of the size of the mechanism
LEAST = 1e-6  # of the size of the mechanism: errors below are round-off or the reference's own
AUTO = 1e3  # of `LEAST`: error that is expected of runs without a fixed step
DRIVES = ("Motor", "JointDamper", "VelocityMotor", "JointServo")


class Population(NamedTuple):
    """Kind of mechanisms: ``make``, function of a number to kind, mechanism and state, and how long they run, s.

    ``steps``: s, of each order. ``finer``: s, shorter and shorter ones, which only tell the errors of these, the first
    one half as long as the last of ``steps``: where runs are cut at the same impacts a single one tells too little.
    ``varied``: whether adaptive steps and "auto" run as well. ``reference``: arguments of the reduced run that tells
    what is right.
    """

    make: Callable
    duration: float
    steps: tuple
    finer: tuple
    varied: bool
    reference: dict


class Run(NamedTuple):
    """One run. ``outcome``: "done" or the name of the error that ended it. ``jump``: of the energy scale.

    ``drift``: m. ``apart``: largest distance of the bodies to the reference, by the size of the mechanism.
    ``error``: the same, that its order gives; NaN where there is no reference. ``reported``: number of warnings and
    unresolved nodes.
    """

    seed: int
    kind: str
    method: str
    order: int
    dt: float
    outcome: str
    jump: float = np.nan
    drift: float = np.nan
    apart: float = np.nan
    error: float = np.nan
    reported: int = 0
    seconds: float = 0.0

    @property
    def wrong(self) -> list[str]:
        """Names of the measures by which the run is wrong."""
        far = self.apart > FAR * max(self.error, LEAST)
        judged = {"energy": self.jump > JUMP, "drift": self.drift > OPEN, "reference": far}
        return [name for name, is_wrong in judged.items() if is_wrong]

    @property
    def quiet(self) -> bool:
        """Whether it is far from wrong by each measure that is known, with bodies nearly where they should be."""
        far = self.apart > QUIET_FAR * max(self.error, LEAST)
        resolved = self.error <= QUIET_ERROR and not self.apart > QUIET_ERROR  # unknown where no finer run succeeds
        return resolved and not (self.jump > QUIET_JUMP or self.drift > OPEN or far)


def mechanism_of(seed):
    """Kind, mechanism and state of a number. A third is driven, a third of the others has one sample of every force."""
    rng = np.random.default_rng([seed, 7])
    if seed % 3 == 0:
        mechanism = random_tree(rng, int(rng.integers(2, 6)))
        forces = []
        if in_any_motion(mechanism):
            names = [str(name) for name in rng.choice(DRIVES, 3)]
            forces = [random_force(rng, name, f"f{i}", mechanism) for i, name in enumerate(names)]
            places = in_any_motion(mechanism)
            joint, coordinate = places[rng.integers(len(places))]
            size, speed = rng.uniform(0.1, 0.4), rng.uniform(1.0, 6.0)
            motion = lambda t: size * np.sin(speed * t)  # noqa: E731  from the reference configuration
            forces.append(vi.PrescribedMotion("motion", joint=joint, coordinate=coordinate, position=motion))
        return "driven", with_forces(mechanism, *forces), None
    if seed % 3 == 1:
        together = samples(rng)
        name = sorted(together)[seed // 3 % len(together)]
        mechanism = sample_mechanism(rng, together[name])
        return f"force {name}", mechanism, None
    closed = bool(seed % 2)
    n = int(rng.integers(2, 7))
    mechanism = random_closed(rng, n + 1, 1 + seed // 6 % 2) if closed else random_tree(rng, n)
    state = random_velocity_state(rng, mechanism, size=float(rng.choice(SPEEDS)))
    if in_any_motion(mechanism) and seed // 2 % 2:
        names = rng.choice(KINDS, 3, replace=False)
        forces = [random_force(rng, str(name), f"f{i}", mechanism) for i, name in enumerate(names)]
        mechanism = with_forces(mechanism, *forces)
    return "loops" if closed else "tree", mechanism, state


def limited_mechanism_of(seed):
    """Kind, mechanism and state of a number, with limits (tests/random_limits.py)."""
    mechanism, start = random_limited(np.random.default_rng([seed, 11]), LIMITED_STEP)
    kinds = dict.fromkeys(type(force).__name__ for force in mechanism.forces)
    return " ".join(kinds) or "free", mechanism, mechanism.state(**start)


LIMITED_STEP = 0.002  # s
ALL = Population(mechanism_of, 1.0, STEPS, (FINEST,), True, {"integrator": "dop853", "rtol": 1e-10, "atol": 1e-12})
HALVED = tuple(LIMITED_STEP / 2**k for k in (1, 2, 3))
LIMITED = Population(limited_mechanism_of, 0.3, (LIMITED_STEP,), HALVED, False, {"integrator": "radau", "rtol": 1e-8})


def methods(seed, population):
    """Method, order, step and function of a mechanism and ``state=``; "auto" chooses order and step itself."""
    duration, steps = population.duration, population.steps
    for order in ORDERS:
        for dt in (*steps, *population.finer):
            yield "fixed", order, dt, partial(vi.simulate, duration=duration, dt=dt, order=order)
        adaptive = partial(vi.simulate, duration=duration, dt=steps[0], order=order, adaptive=True)
        if population.varied:
            yield "adaptive", order, steps[0], adaptive
    if population.varied and seed % AUTO_OF == 0:
        yield "auto", 0, 0.0, partial(vi.simulate, duration=duration, dt="auto")
    if population.varied:
        yield "reduced", 0, steps[1], partial(vi.redmax.simulate, duration=duration, dt=steps[1])


def runs_of(seed, population):
    """All `Run` of one mechanism; none where the mechanism cannot be built or cannot move."""
    try:
        kind, mechanism, state = population.make(seed)
        state = mechanism.state() if state is None else state
    except vi.VarintError:
        return []
    reference = _reference(mechanism, state, population)
    made, paths = [], {}
    for method, order, dt, simulate in methods(seed, population):
        head, began = (seed, kind, method, order, dt), time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                run = simulate(mechanism, state=state)
            except vi.VarintError as problem:
                made.append(Run(*head, type(problem).__name__, reported=1))
                continue
        seconds = time.perf_counter() - began
        reported = len(caught) + int(run.unresolved.size)
        apart = np.nan
        if reference is not None and run.success:
            apart = _distance(_path(run), reference, run.t) / mechanism.compiled.length
        paths[head[2:]] = run
        made.append(Run(*head, "done", _jump(run), _drift(run), apart, np.nan, reported, seconds))
    sizes = (*population.steps, *population.finer)
    return [run._replace(error=_error(run, paths, mechanism, sizes)) for run in made if run.dt not in population.finer]


def _reference(mechanism, state, population):
    """Function of times (T,) to positions (T, n, 3) of the other formulation, or None where it cannot run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run = vi.redmax.simulate(
                mechanism, population.duration, dt=population.finer[0], state=state, **population.reference
            )
        except vi.VarintError:
            return None
    return _path(run) if run.success else None


def _path(run):
    return CubicHermiteSpline(run.t, run.position, run.velocity)


def _distance(path, other, times):
    return float(np.linalg.norm(path(times) - other(times), axis=2).max())


def _jump(run):
    """Largest jump of the energy balance of a component, of the energy that takes part, to the last `AT_END` nodes."""
    return max(largest_jump(run.t, own.error, own.energy, AT_END) for own in component_energies(run))


def _drift(run):
    return float(joint_drift(run.mechanism.compiled, run.position, run.quat_wxyz).max())


def _error(run, paths, mechanism, sizes):
    """Error that its order gives a run, by the size of the mechanism: the largest of it and of those of finer steps.

    ``sizes``, s: all fixed steps. Each error is by the next smaller one. NaN where neither that nor the run is known.
    """
    if run.outcome != "done" or run.method in ("auto", "reduced"):
        return LEAST * AUTO if run.outcome == "done" else np.nan
    first = sizes.index(run.dt)
    errors = [_error_of(paths, run.order, *pair) for pair in zip(sizes[first:-1], sizes[first + 1 :], strict=True)]
    return max(errors[:1] + [error for error in errors[1:] if error > errors[0]]) / mechanism.compiled.length


def _error_of(paths, order, dt, finer):
    """Error, m, of the run with fixed steps of ``dt`` s, by that with ``finer`` ones; NaN where one is not known."""
    coarse, fine = (paths.get(("fixed", order, size)) for size in (dt, finer))
    if coarse is None or fine is None:
        return np.nan
    return _distance(_path(coarse), _path(fine), coarse.t) / (1.0 - (finer / dt) ** order)


def survey(path, count, population):
    """Append the runs of the mechanisms up to ``count`` of a `Population` that are not in the file."""
    done = {run.seed for run in read(path)}
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if fresh:
            writer.writerow(Run._fields)
        for seed in range(max(done, default=-1) + 1, count):
            writer.writerows(runs_of(seed, population))
            file.flush()


def read(path):
    """All `Run` in the file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    types = Run.__annotations__
    return [Run(**{name: types[name](value) for name, value in row.items()}) for row in rows]


def with_errors_of_finer_steps(runs):
    """The runs with errors no smaller than those of finer steps of the same order.

    Two runs whose steps were all divided alike, where a law or a surface has kinks, are the same to round-off, and
    their difference is no estimate of an error. "auto" chooses by energy: where it is chaotic, positions are those of
    no step.
    """
    known = {}
    for run in runs:
        if run.method == "fixed" and np.isfinite(run.error):
            known.setdefault((run.seed, run.order), {})[run.dt] = run.error

    def least(run):
        of_order = known.get((run.seed, ORDERS[-1] if run.method == "auto" else run.order), {})
        return max((e for dt, e in of_order.items() if dt < run.dt or run.method == "auto"), default=0.0)

    return [run._replace(error=max(run.error, least(run))) for run in runs]


def page(runs):
    """The table of docs/reliability.md, and the wrong runs that nothing reports."""
    runs = with_errors_of_finer_steps(runs)
    lines = [
        "| method | runs | ended in an error | wrong | reported | quiet | false alarms |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys((run.method, run.order) for run in runs):
        of_method = [run for run in runs if (run.method, run.order) == name]
        done = [run for run in of_method if run.outcome == "done"]
        wrong, quiet = [run for run in done if run.wrong], [run for run in done if run.quiet]
        alarms = sum(run.reported > 0 for run in quiet)
        label = f"{name[0]}, order {name[1]}" if name[1] else name[0]
        share = f"{alarms} ({alarms / max(1, len(quiet)):.1%})"
        figures = [len(of_method), len(of_method) - len(done), len(wrong), sum(run.reported > 0 for run in wrong)]
        lines.append(f"| {label} | {' | '.join(map(str, [*figures, len(quiet), share]))} |")
    silent = [run for run in runs if run.outcome == "done" and run.wrong and not run.reported]
    lines += ["", f"{len({run.seed for run in runs})} mechanisms; wrong without a report: {len(silent)}"]
    lines += [f"seed {r.seed} ({r.kind}), {r.method} {r.order}, {r.dt:g} s: {', '.join(r.wrong)}" for r in silent]
    lines += [f"{name}: {count}" for name, count in Counter(w for r in silent for w in r.wrong).items()]
    return "\n".join(lines)


if __name__ == "__main__":
    file, *rest = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    file = Path(file)
    if "--page" not in sys.argv:
        survey(file, int(rest[0]) if rest else COUNT, LIMITED if "--limits" in sys.argv else ALL)
    print(page(read(file)))
