"""Every URDF, SDF and MJCF of the packages of varint[test-peers]: stops act on no joint that is within its limits.

Each joint with hard limits is let go 0.01 rad, or 0.01 of the size of a part, inside each of them, in both
formulations: for as long as no limit is reached it moves as without stops. `found` and `alike` take few of what a
program made.

python benchmarks/robot_stops.py            # prints a table of the robots
python benchmarks/robot_stops.py panda go1  # of those with such names

Rates that change their sign at each node, `rings`, come from strong dampers; the table says whether stops have a part.
"""

import re
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from robot_files import found, label, models, packages_of  # noqa: E402

import varint as vi  # noqa: E402
from varint.model.motion import coordinate_units  # noqa: E402

INSIDE = 0.01  # rad, or of the size of a part, from a limit; a quarter of narrower ranges
DT, STEPS = 1e-3, 4
ALIKE = 1e-9  # relative to the largest velocity of the robot, which is its acceleration times the time from rest
LEAST = 1.0  # m/s^2, rad/s^2: smaller accelerations are round-off, of a robot that friction holds
STILL = 1e-10  # rad/s or m/s: rates of round-off
SIDES = ("lower", "upper")


class Start(NamedTuple):
    """A joint next to a limit: its name and coordinate, and those of all joints that are set, by name."""

    joint: str
    number: int
    side: str
    coordinates: dict[str, np.ndarray]


class Result(NamedTuple):
    """What became of the starts of a robot; ``worst``: largest relative difference by formulation, see `ALIKE`."""

    starts: int
    worst: dict[str, float]
    rings: list[str]
    frozen: list[str]
    refused: dict[str, str]


def loaded(path: Path) -> vi.Mechanism:
    """Return the mechanism of a file without contacts, or else repaired. Raises FileError, MechanismError."""
    try:
        mechanism = vi.load_mechanism(path, packages=packages_of(path))
    except (vi.FileError, vi.MechanismError):
        mechanism = vi.load_mechanism(path, packages=packages_of(path), repair=True)
    touching = (vi.Contact, vi.HardContact)
    return replace(mechanism, forces=[force for force in mechanism.forces if not isinstance(force, touching)])


def hard_stops(mechanism: vi.Mechanism) -> list[vi.JointStop]:
    """Return the hard limits of joint coordinates."""
    return [force for force in mechanism.forces if isinstance(force, vi.JointStop) and force.stiffness is None]


def starts_of(mechanism: vi.Mechanism) -> Iterator[Start]:
    """Yield a start for each limit of each joint; other joints are inside their limits too, near to zero."""
    stops, length = hard_stops(mechanism), mechanism.compiled.length
    reference = {name: np.atleast_1d(q) for name, q in mechanism.coordinates(mechanism.state()).items()}

    def inset(stop: vi.JointStop) -> float:
        angular = coordinate_units(mechanism.joint(stop.joint))[stop.coordinate] == "rad"
        return min(INSIDE * (1.0 if angular else length), 0.25 * (stop.upper - stop.lower))

    inside: dict[str, np.ndarray] = {}
    for stop in stops:
        d = inset(stop)
        q = float(reference[stop.joint][stop.coordinate])
        if not stop.lower + 0.5 * d <= q <= stop.upper - 0.5 * d:
            inside.setdefault(stop.joint, reference[stop.joint].copy())
            inside[stop.joint][stop.coordinate] = min(max(q, stop.lower + d), stop.upper - d)
    for stop in stops:
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            limit = getattr(stop, side)
            if np.isfinite(limit):
                q = inside.get(stop.joint, reference[stop.joint]).copy()
                q[stop.coordinate] = limit + sign * inset(stop)
                yield Start(stop.joint, stop.coordinate, side, {**inside, stop.joint: q})


def difference(held: vi.Trajectory, free: vi.Trajectory, count: int) -> float:
    """Return the largest difference of velocities at the first ``count`` nodes, relative to the largest velocity."""
    apart = 0.0
    for name in ("velocity", "angular_velocity"):
        a, b = (getattr(run, name)[:count] for run in (held, free))
        apart = max(apart, np.abs(a - b).max() / max(np.abs(b).max(), LEAST * STEPS * DT))
    return apart


def rates_along(run: vi.Trajectory, start: Start, count: int) -> np.ndarray:
    """Return the rates (count,) of the joint that is next to a limit."""
    return np.reshape(run.rates[start.joint], (len(run.t), -1))[:count, start.number]


def free_nodes(stops: list[vi.JointStop], run: vi.Trajectory) -> int:
    """Return how many nodes of a run without stops come before the first beyond a limit."""
    count = len(run.t)
    for stop in stops:
        q = np.reshape(run.coordinates[stop.joint], (len(run.t), -1))[:, stop.coordinate]
        beyond = np.flatnonzero((q <= stop.lower) | (q >= stop.upper))
        count = min(count, int(beyond[0]) if beyond.size else count)
    return count


def rings(rates: np.ndarray) -> bool:
    """Return whether the changes of rates (T,) from node to node have another sign each time, and do not decay."""
    change = np.diff(rates)
    alternates = len(change) >= 3 and bool(np.all(change[1:] * change[:-1] < 0.0))
    return alternates and np.abs(change[-1]) > 0.25 * np.abs(change[0]) and np.abs(rates).max() > STILL


def reduced(mechanism: vi.Mechanism, state: vi.State) -> vi.Trajectory:
    """Return a run in reduced coordinates: in steps of ``DT`` with dampers or friction, whose steps would be short."""
    stiff = any(isinstance(force, vi.JointDamper | vi.JointFriction) for force in mechanism.forces)
    if stiff:
        return vi.redmax.simulate(mechanism, STEPS * DT, DT, state=state, integrator="bdf1")
    return vi.redmax.simulate(mechanism, STEPS * DT, DT, state=state, rtol=1e-12)


FORMULATIONS = {
    "maximal": lambda mechanism, state: vi.simulate(mechanism, STEPS * DT, DT, state=state),
    "reduced": reduced,
}


def result(mechanism: vi.Mechanism) -> Result:
    """Return what becomes of all starts of a mechanism."""
    stops = hard_stops(mechanism)
    without = replace(mechanism, forces=[force for force in mechanism.forces if force not in stops])
    outcome = Result(0, dict.fromkeys(FORMULATIONS, 0.0), [], [], {})
    starts = 0
    for start in starts_of(mechanism):
        where = f"{start.joint} at its {start.side} limit"
        try:
            state = mechanism.state(coordinates=start.coordinates)
        except vi.VarintError as problem:
            outcome.refused[where] = str(problem)
            continue
        starts += 1
        for name, run in FORMULATIONS.items():
            try:
                free, held = run(without, state), run(mechanism, state)
            except vi.VarintError as problem:
                outcome.refused[f"{where}, {name}"] = str(problem)
                continue
            count = free_nodes(stops, free)
            if count < 2:
                outcome.refused[f"{where}, {name}"] = "a limit is reached in the first step"
                continue
            outcome.worst[name] = max(outcome.worst[name], difference(held, free, count))
            own, other = (rates_along(each, start, count) for each in (held, free))
            if rings(own):
                too = " (without stops too)" if rings(other) else ""
                outcome.rings.append(f"{where}, {name}{too}")
            if not own[1:].any() and other[1:].any():
                outcome.frozen.append(f"{where}, {name}")
    return outcome._replace(starts=starts)


def alike(paths: list[Path]) -> list[Path]:
    """Return the first of the files whose names differ in numbers alone, in one folder."""
    first: dict[str, Path] = {}
    for path in paths:
        first.setdefault(re.sub(r"\d+", "#", str(path)), path)
    return list(first.values())


HEAD = "| file | limits | maximal | reduced | rings | frozen | without a run |\n|---|---|---|---|---|---|---|\n"


def row(path: Path) -> str:
    """Return the line of a file; "" for one without limits."""
    name = label(path)
    try:
        mechanism = loaded(path)
        if not hard_stops(mechanism):
            return ""
        outcome = result(mechanism)
    except vi.VarintError as problem:
        return f"| {name} | | | | | | {str(problem).splitlines()[0][:160].replace('|', '/')} |\n"
    worst = [f"{outcome.worst[each]:.0e}" for each in FORMULATIONS]
    lists = [f"{len(part)} {'; '.join(part)}".rstrip() if part else "0" for part in (outcome.rings, outcome.frozen)]
    refused = [f"{where}: {why[:120]}" for where, why in outcome.refused.items()]
    last = "0" if not refused else f"{len(refused)}: {refused[0]}".replace("|", "/").replace("\n", " ")
    return f"| {name} | {outcome.starts} | {' | '.join([*worst, *lists, last])} |\n"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    robots = alike([*found(".urdf"), *found(".sdf"), *models()])
    if sys.argv[1:]:
        robots = [path for path in robots if any(word in str(path) for word in sys.argv[1:])]
    print(HEAD, end="")
    for robot in robots:
        began = time.perf_counter()
        print(row(robot), end="", flush=True)
        print(f"{time.perf_counter() - began:.1f} s {robot.name}", file=sys.stderr)
