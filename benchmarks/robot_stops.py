"""Every URDF, SDF and MJCF of packages of the extra test-peers: stops act on no joint that is within its limits.

Each joint with hard limits is let go 0.01 rad, or 0.01 of the size of a part, inside each of them, in both
formulations: for as long as no limit is reached it moves as without stops. `files_of` and `alike` take few of what a
program made.

    python benchmarks/robot_stops.py FILE             # goes on with the robots in FILE (a line of JSON each)
    python benchmarks/robot_stops.py FILE panda go1   # those with such names alone
    python benchmarks/robot_stops.py FILE --page      # prints the table of docs/reliability.md

Rates that change their sign at each node, `rings`, come from strong dampers; the table says whether stops have a part.
"""

import json
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from robot_files import PACKAGES, files_of, label, models, packages_of  # noqa: E402

import varint as vi  # noqa: E402
from varint.model.forces.coupling import Coupled  # noqa: E402
from varint.model.motion import coordinate_units  # noqa: E402

INSIDE = 0.01  # rad, or of the size of a part, from a limit; a quarter of narrower ranges
DT, STEPS = 1e-3, 4
SHORTER = 16  # times, of implicit steps that do not converge: those of loops near a singular pose
ALIKE = 1e-9  # relative to the largest velocity of the robot, which is its acceleration times the time from rest
LEAST = 1.0  # m/s^2, rad/s^2: smaller accelerations are round-off, of a robot that friction holds
STILL = 1e-10  # rad/s or m/s: rates of round-off
LOOKED_AT = 10001  # places of a coordinate that leads others
SIDES = ("lower", "upper")
TOO = " (without stops too)"


class Start(NamedTuple):
    """A joint next to a limit: its name and coordinate, and those of all joints that are set, by name."""

    joint: str
    number: int
    side: str
    coordinates: dict[str, np.ndarray]


class Result(NamedTuple):
    """What became of the starts of a robot; ``worst``: largest relative difference by formulation, see `ALIKE`.

    ``unreachable``: starts in which loops or couplings take another joint beyond its limits, with that joint.
    """

    starts: int
    worst: dict[str, float]
    rings: list[str]
    frozen: list[str]
    unreachable: dict[str, str]
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


def coupled(mechanism: vi.Mechanism) -> dict[str, set[str]]:
    """Return for each joint the names of those that couplings move with it, and its own."""
    graph = nx.Graph()
    graph.add_nodes_from(joint.name for joint in mechanism.joints)
    for force in mechanism.forces:
        if isinstance(force, Coupled):
            nx.add_path(graph, [term[0] for terms in force.sums(mechanism) for term in terms])
    return {name: names for names in nx.connected_components(graph) for name in names}


def leaders(mechanism: vi.Mechanism, joint: str) -> dict[int, tuple[int, Callable]]:
    """Return for each coordinate of a joint that follows another one of it: that one, and the map to it."""
    maps = [force for force in mechanism.forces if isinstance(force, vi.CoordinateMap)]
    return {
        number: (force.coordinates[0][1], function)
        for force in maps
        if force.coordinates[0][0] == joint
        for (name, number), function in zip(force.coordinates[1:], force.maps, strict=False)
        if name == joint
    }


def follow(mechanism: vi.Mechanism, joint: str, q: np.ndarray) -> None:
    """Set the coordinates ``q`` of a joint that follow others of it."""
    for number, (leader, function) in leaders(mechanism, joint).items():
        q[number] = function(q[leader])[0]


def set_coordinate(mechanism: vi.Mechanism, stop: vi.JointStop, q: np.ndarray, value: float) -> None:
    """Set the coordinate of a stop in ``q`` to a value, or as near as the one that it follows lets it."""
    leader, function = leaders(mechanism, stop.joint).get(stop.coordinate, (stop.coordinate, None))
    if function is not None:
        ranges = [each for each in hard_stops(mechanism) if (each.joint, each.coordinate) == (stop.joint, leader)]
        places = np.linspace(ranges[0].lower, ranges[0].upper, LOOKED_AT) if ranges else q[leader : leader + 1]
        value = min(places, key=lambda place: abs(function(place)[0] - value))
    q[leader] = value
    follow(mechanism, stop.joint, q)


def inset(mechanism: vi.Mechanism, stop: vi.JointStop) -> float:
    """Return how far from the limits of a stop its joint is let go, in its own unit."""
    angular = coordinate_units(mechanism.joint(stop.joint))[stop.coordinate] == "rad"
    return min(INSIDE * (1.0 if angular else mechanism.compiled.length), 0.25 * (stop.upper - stop.lower))


def places(mechanism: vi.Mechanism, state: vi.State) -> dict[str, np.ndarray]:
    """Return the coordinates of all joints, as arrays."""
    return {name: np.atleast_1d(q) for name, q in mechanism.coordinates(state).items()}


def inside_limits(mechanism: vi.Mechanism) -> dict[str, np.ndarray]:
    """Return coordinates, near to zero, of the joints that the reference has on a limit or beyond.

    One of coupled joints is set, as the others follow.
    """
    reference, together = places(mechanism, mechanism.state()), coupled(mechanism)
    inside: dict[str, np.ndarray] = {}
    for stop in hard_stops(mechanism):
        d, q = inset(mechanism, stop), float(reference[stop.joint][stop.coordinate])
        follows = bool(inside.keys() & (together[stop.joint] - {stop.joint}))
        follows = follows or stop.coordinate in leaders(mechanism, stop.joint)
        if not (follows or stop.lower + 0.5 * d <= q <= stop.upper - 0.5 * d):
            inside.setdefault(stop.joint, reference[stop.joint].copy())
            set_coordinate(mechanism, stop, inside[stop.joint], min(max(q, stop.lower + d), stop.upper - d))
    return inside


def beyond(mechanism: vi.Mechanism, state: vi.State) -> list[vi.JointStop]:
    """Return the hard stops beyond which joints are."""
    q = places(mechanism, state)
    return [stop for stop in hard_stops(mechanism) if not stop.lower <= q[stop.joint][stop.coordinate] <= stop.upper]


def starts_of(mechanism: vi.Mechanism, inside: dict[str, np.ndarray]) -> Iterator[Start]:
    """Yield a start for each limit of each joint; the coordinates ``inside`` are those of `inside_limits`."""
    together, reference = coupled(mechanism), places(mechanism, mechanism.state())
    for stop in hard_stops(mechanism):
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            limit = getattr(stop, side)
            if np.isfinite(limit):
                q = inside.get(stop.joint, reference[stop.joint]).copy()
                set_coordinate(mechanism, stop, q, limit + sign * inset(mechanism, stop))
                others = {name: value for name, value in inside.items() if name not in together[stop.joint]}
                yield Start(stop.joint, stop.coordinate, side, {**others, stop.joint: q})


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
    """Return a run in reduced coordinates: in steps of ``DT`` with dampers or friction, whose steps would be short.

    In steps `SHORTER` times shorter where these do not converge.
    """
    stiff = any(isinstance(force, vi.JointDamper | vi.JointFriction) for force in mechanism.forces)
    if stiff:
        steps = partial(vi.redmax.simulate, mechanism, STEPS * DT, state=state, integrator="bdf1")
        try:
            return steps(DT)
        except vi.ConvergenceError:
            return steps(DT / SHORTER, every=SHORTER)
    return vi.redmax.simulate(mechanism, STEPS * DT, DT, state=state, rtol=1e-12)


FORMULATIONS = {
    "maximal": lambda mechanism, state: vi.simulate(mechanism, STEPS * DT, DT, state=state),
    "reduced": reduced,
}


def without_stops(mechanism: vi.Mechanism, stops: list[vi.JointStop]) -> vi.Mechanism:
    """Return a mechanism without some of its stops."""
    return replace(mechanism, forces=[force for force in mechanism.forces if force not in stops])


def result(mechanism: vi.Mechanism) -> Result:
    """Return what becomes of all starts of a mechanism.

    Stops that contradict others, as those of a gripper whose fingers mimic each other with the wrong sign, are left
    out: no pose is within both.
    """
    outcome = Result(0, dict.fromkeys(FORMULATIONS, 0.0), [], [], {}, {})
    inside = inside_limits(mechanism) if hard_stops(mechanism) else {}
    for stop in beyond(mechanism, mechanism.state(coordinates=inside)) if inside else []:
        mechanism = without_stops(mechanism, [stop])
        outcome.unreachable.update({f"{stop.joint} at its {side} limit": "limits contradict" for side in SIDES})
    stops, starts = hard_stops(mechanism), 0
    free_mechanism = without_stops(mechanism, stops)
    for start in starts_of(mechanism, inside) if stops else []:
        where = f"{start.joint} at its {start.side} limit"
        try:
            state = mechanism.state(coordinates=start.coordinates)
        except vi.VarintError as problem:
            outcome.refused[where] = str(problem)
            continue
        if others := beyond(mechanism, state):
            outcome.unreachable[where] = others[0].joint
            continue
        starts += 1
        for name, run in FORMULATIONS.items():
            try:
                free = run(free_mechanism, state)
            except vi.VarintError as problem:
                outcome.refused[f"{where}, {name}{TOO}"] = str(problem)
                continue
            try:
                held = run(mechanism, state)
            except vi.VarintError as problem:
                outcome.refused[f"{where}, {name}"] = str(problem)
                continue
            count = free_nodes(stops, free)
            if count < 2:
                outcome.refused[f"{where}, {name}"] = "a limit is reached in the first step"
                continue
            outcome.worst[name] = max(outcome.worst[name], difference(held, free, count))
            at_stop, unstopped = (rates_along(each, start, count) for each in (held, free))
            if rings(at_stop):
                outcome.rings.append(f"{where}, {name}{TOO if rings(unstopped) else ''}")
            if not at_stop[1:].any() and unstopped[1:].any():
                outcome.frozen.append(f"{where}, {name}")
    return outcome._replace(starts=starts)


def alike(paths: list[Path]) -> list[Path]:
    """Return the first of the files whose names differ in numbers alone, in one folder."""
    first: dict[str, Path] = {}
    for path in paths:
        first.setdefault(re.sub(r"\d+", "#", str(path)), path)
    return list(first.values())


class Robot(NamedTuple):
    """A file of robots, the package that it is of, and how the results name it."""

    package: str
    path: Path
    name: str


def robots() -> list[Robot]:
    """Return the robots of all packages, of files that are `alike` the first: URDF, SDF, then MJCF."""
    kinds = {".urdf": alike, ".sdf": alike, ".xml": lambda paths: alike(models(paths))}
    return [
        Robot(package, path, f"{package}: {label(path)}")
        for suffix, kind in kinds.items()
        for package in PACKAGES
        for path in kind(files_of(package, suffix))
    ]


def record(robot: Robot) -> dict:
    """Return what became of a robot: the fields of its `Result`, or why it is not loaded, and the time it took, s."""
    began = time.perf_counter()
    outcome = {"package": robot.package, "name": robot.name}
    try:
        outcome |= result(loaded(robot.path))._asdict()
    except vi.VarintError as problem:
        outcome["not loaded"] = str(problem).splitlines()[0].partition(", line ")[2] or str(problem)
    return {**outcome, "seconds": round(time.perf_counter() - began, 1)}


def line(outcome: dict) -> str:
    """Return a record in words: one line, and one more for each start that rings, freezes or is refused."""
    if "not loaded" in outcome:
        return f"not loaded, {outcome['not loaded'][:120]}"
    worst = ", ".join(f"{name} {value:.0e}" for name, value in outcome["worst"].items())
    lines = [f"{outcome['starts']} starts, {worst}"]
    lines += [f"    {kind}: {start}" for kind in ("rings", "frozen") for start in outcome[kind]]
    return "\n".join([*lines, *(f"    refused: {start}: {why[:160]}" for start, why in outcome["refused"].items())])


def survey(file: Path, words: list[str]) -> None:
    """Append the records of the robots with such words in their paths, or all, that a file does not have."""
    done = {outcome["name"] for outcome in read(file)} if file.exists() else set()
    chosen = [robot for robot in robots() if not words or any(word in str(robot.path) for word in words)]
    with file.open("a") as lines:
        for number, robot in enumerate(chosen, 1):
            if robot.name not in done:
                print(f"[{number}/{len(chosen)}] {robot.name}: ", end="", flush=True)
                outcome = record(robot)
                lines.write(json.dumps(outcome) + "\n")
                lines.flush()
                print(f"{line(outcome)} ({outcome['seconds']} s)", flush=True)


def read(file: Path) -> list[dict]:
    """Return the records of a file."""
    return [json.loads(each) for each in file.read_text().splitlines()]


HEAD = (
    "| package | files | with limits | starts | maximal | reduced | ring | frozen | unreachable "
    "| refused, of these without stops too | not loaded |\n"
)


def page(outcomes: list[dict]) -> str:
    """Return the table of packages; what rings without stops too does not count."""
    rows = ""
    for package in [*PACKAGES, "all"]:
        part = [each for each in outcomes if package in ("all", each["package"])]
        ran = [each for each in part if each.get("starts") or each.get("refused")]
        worst = [f"{max((each['worst'][name] for each in ran), default=0.0):.0e}" for name in FORMULATIONS]
        ringing = sum(not start.endswith(TOO) for each in ran for start in each["rings"])
        frozen, unreachable = (sum(len(each[kind]) for each in ran) for kind in ("frozen", "unreachable"))
        refused = [start.endswith(TOO) for each in ran for start in each["refused"]]
        counts = [len(part), len(ran), sum(each["starts"] for each in ran), *worst, ringing, frozen, unreachable]
        counts += [f"{len(refused)}, {sum(refused)}", sum("not loaded" in each for each in part)]
        rows += f"| {package} | {' | '.join(map(str, counts))} |\n" if part else ""
    return HEAD + "|---" * 11 + "|\n" + rows


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    arguments = [argument for argument in sys.argv[1:] if argument != "--page"]
    if "--page" not in sys.argv:
        survey(Path(arguments[0]), arguments[1:])
    print(page(read(Path(arguments[0]))))
