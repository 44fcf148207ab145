"""Work against precision beside MuJoCo's RK4: chains of hinges released from horizontal, 10 s.

As a script it writes docs/work_precision.md and its figure; takes some twenty minutes.
"""

import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import mujoco
import mujoco.rollout
import numpy as np
from common import chain

import varint as vi
from varint.analysis.quantities import kinetic_energy, potential_energy
from varint.integrators.march import March
from varint.integrators.schemes import SCHEMES as ALL_SCHEMES
from varint.problem import MOST_STEPS
from varint.redmax.equations import Equations
from varint.redmax.integrators import INTEGRATORS, Task

DURATION, BEFORE_CHAOS, GRID = 10.0, 2.0, 0.1  # s: of a run, of the error of places, spacing of the places compared
LENGTHS = (2, 10, 50)
WANTED = (1e-4, 1e-6, 1e-8, 1e-10)  # energy errors
TARGET = 1.0  # time of ours over that of RK4
FACTOR = {2: 2**0.5, 10: 2**0.5, 50: 2.0}  # from step to step, by the length
FINEST = 7e-11  # energy errors below it are of no interest ...
COARSEST = 1e-2  # ... nor above it
REPEATS, ENOUGH = 7, 1.0  # timings of a method and step: so many, or until they took as many seconds
BLOCK = 2000  # steps whose energies are worked out together
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)  # of integrators with error control
REDUCED = ("dop853",)
TOLERANCE = 1e-10  # m/s, of the steps of schemes: the default
LEFT_OUT = ("constraint", "contact", "limit", "spring", "damper", "sensor")  # of what MuJoCo does in a step
FEWEST, MOST = 2, {2: 400}  # steps between two places that are compared; most, by the order
SCHEMES = {name: scheme for name, scheme in ALL_SCHEMES.items() if not scheme.staggered}


class Point(NamedTuple):
    """A run: its method, step, s, or tolerance, energy error, error of places and wall time, s."""

    method: str
    size: float
    energy: float
    place: float
    wall: float


def scale_of(mechanism):
    """m g L n of a chain, J."""
    return float(
        sum(body.mass for body in mechanism.bodies) * np.linalg.norm(mechanism.gravity) * len(mechanism.bodies)
    )


class Chain:
    """What the methods share: the chain of ``n`` links, its start, and the places that errors are measured against."""

    def __init__(self, n):
        self.n, self.mechanism = n, chain(n, np.pi / 2)
        self.start, self.scale = self.mechanism.state(), scale_of(self.mechanism)
        self.energy = self.energies(*(array[None] for array in arrays_of(self.start)))[0]
        finest = vi.redmax.simulate(self.mechanism, BEFORE_CHAOS, GRID, integrator="dop853", rtol=1e-13, atol=1e-13)
        self.places = finest.position

    def energies(self, position, velocity, angular_velocity):
        """(T,) J."""
        return kinetic_energy(self.mechanism, velocity, angular_velocity) + potential_energy(self.mechanism, position)

    def energy_error(self, *arrays):
        """The largest, of m g L n."""
        return np.abs(self.energies(*arrays) - self.energy).max() / self.scale

    def place_error(self, position):
        """The largest of a centre of mass in the first seconds, of the length; position (T, nb, 3) on the grid."""
        return np.abs(position - self.places[: len(position)]).max() / self.n


def arrays_of(nodes):
    return nodes.position, nodes.velocity, nodes.angular_velocity


# ---------------------------------------------------------------------------------------- the methods


class Ours:
    """A scheme of the variational integrator, with ``count`` steps on the grid."""

    def __init__(self, case, scheme, count):
        self.case, self.dt, self.steps = case, GRID / count, round(DURATION / GRID) * count
        self.scheme, self.count, self.method, self.size = SCHEMES[scheme], count, scheme, GRID / count

    def march(self, every):
        march = March(self.case.mechanism.compiled, self.scheme, self.dt, TOLERANCE, every)
        march.start(self.case.start)
        return march

    def seconds(self):
        march = self.march(1 << 40)
        march.advance(0)
        began = time.thread_time()
        march.advance(self.steps)
        return time.thread_time() - began

    def errors(self):
        march, worst, places = self.march(1), 0.0, [self.case.start.position[None]]
        for first in range(0, self.steps, BLOCK):
            nodes = march.advance(min(BLOCK, self.steps - first))
            if march.failure:
                return np.inf, np.inf
            worst = max(worst, self.case.energy_error(*arrays_of(nodes)))
            on_grid = (nodes.node % self.count == 0) & (nodes.node * self.dt < BEFORE_CHAOS + GRID / 2)
            places.append(nodes.position[on_grid])
        return worst, self.case.place_error(np.concatenate(places))


unstable: list[str] = []  # what MuJoCo said of a run that it gave up; it would write it to a file
mujoco.set_mju_user_warning(unstable.append)


class Rk4:
    """MuJoCo's, by its rollout in one thread: no Python between the steps."""

    method = "RK4"

    def __init__(self, case, count):
        self.case, self.count, self.size = case, count, GRID / count
        self.steps = round(DURATION / GRID) * count
        self.model = mujoco.MjModel.from_xml_string(as_mjcf(case.mechanism, self.size))
        self.data = mujoco.MjData(self.model)
        self.start = np.zeros((1, mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))

    def blocks(self, steps):
        """The states of blocks of so many steps."""
        state, done = self.start, 0
        with mujoco.rollout.Rollout(nthread=0) as roll:
            while done < self.steps:
                count = min(steps, self.steps - done)
                out, _ = roll.rollout(self.model, self.data, state, nstep=count)
                state, done = out[:, -1], done + count
                yield out[0]

    def seconds(self):
        steps = min(self.steps, 20_000)
        out = np.empty((1, steps, self.start.size))
        state, none = self.start, np.empty((1, steps, 0))
        with mujoco.rollout.Rollout(nthread=0) as roll:
            began = time.thread_time()
            for first in range(0, self.steps, steps):
                count = min(steps, self.steps - first)
                roll.rollout(
                    self.model, self.data, state, nstep=count, state=out[:, :count], sensordata=none[:, :count]
                )
                state = out[:, count - 1].copy()
            return time.thread_time() - began

    def errors(self):
        worst, places, node = 0.0, [self.case.start.position[None]], 0
        unstable.clear()
        for states in self.blocks(BLOCK):
            q, rates = states[:, 1 : 1 + self.case.n], states[:, 1 + self.case.n :]
            position, velocity, angular = motion_of(self.case, q, rates)
            worst = max(worst, self.case.energy_error(position, velocity, angular))
            nodes = node + 1 + np.arange(len(states))
            node += len(states)
            places.append(position[(nodes % self.count == 0) & (nodes * self.size < BEFORE_CHAOS + GRID / 2)])
        return (np.inf if unstable else worst), self.case.place_error(np.concatenate(places))


class Reduced:
    """An integrator in reduced coordinates with error control, which chooses its steps."""

    def __init__(self, case, integrator, rtol):
        self.case, self.integrator, self.size = case, integrator, rtol
        self.method = integrator

    def run(self, duration, dt=None):
        options = {"integrator": self.integrator, "rtol": self.size, "atol": 0.01 * self.size}
        return vi.redmax.simulate(self.case.mechanism, duration, dt, **options)

    def seconds(self):
        equations = Equations(self.case.mechanism)
        nothing = np.zeros(equations.nq)
        task = Task(DURATION, None, self.size, 0.01 * self.size)
        integrator = INTEGRATORS[self.integrator](equations, nothing, nothing, task)
        began = time.thread_time()
        while integrator.t < DURATION:
            integrator.march(MOST_STEPS, np.inf)
        return time.thread_time() - began

    def errors(self):
        near = self.run(BEFORE_CHAOS, GRID)
        return self.case.energy_error(*arrays_of(self.run(DURATION))), self.case.place_error(near.position)


def as_mjcf(chain, dt):
    """The chain in MuJoCo's format; bodies' frames are at the hinges, with the world's axes at the start."""
    text, at = "", np.zeros(3)

    def numbers(values):
        return " ".join(f"{value:.17g}" for value in np.ravel(values))

    for body, joint in zip(chain.bodies, chain.joints, strict=True):
        text += (
            f'<body pos="{numbers(joint.point - at)}"><joint axis="{numbers(joint.axis)}"/>'
            f'<inertial pos="{numbers(body.position - joint.point)}" quat="{numbers(body.quat_wxyz)}"'
            f' mass="{body.mass:.17g}" diaginertia="{numbers(np.diag(body.inertia))}"/>'
        )
        at = joint.point
    left_out = " ".join(
        f'{name}="disable"' for name in ("constraint", "contact", "limit", "spring", "damper", "sensor")
    )
    option = (
        f'<option timestep="{dt:.17g}" integrator="RK4" gravity="{numbers(chain.gravity)}"><flag {left_out}/></option>'
    )
    return f"<mujoco>{option}<worldbody>{text}{'</body>' * len(chain.bodies)}</worldbody></mujoco>"


def motion_of(case, q, rates):
    """Places, velocities and angular velocities (T, n, 3) of the links at hinge angles and rates (T, n)."""
    turned, turning = np.cumsum(q, axis=1), np.cumsum(rates, axis=1)
    first = case.mechanism.bodies[0].position * 2
    heading = np.arctan2(first[2], first[0]) - turned  # a turn about +y takes x to -z
    along = np.stack([np.cos(heading), 0 * heading, np.sin(heading)], axis=2)
    across = np.stack([np.sin(heading), 0 * heading, -np.cos(heading)], axis=2) * turning[..., None]

    def middle(ends):
        return np.cumsum(ends, axis=1) - 0.5 * ends

    return middle(along), middle(across), np.stack([0 * turning, turning, 0 * turning], axis=2)


def check_same(case):
    """That both have the same energy and accelerations at the start, and again in motion."""
    model = mujoco.MjModel.from_xml_string(as_mjcf(case.mechanism, 0.01))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    for size in (0.0, 1.0):
        q, rates = size * rng.standard_normal((2, case.n))
        data.qpos[:], data.qvel[:] = q, rates
        model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        mujoco.mj_forward(model, data)
        names = [joint.name for joint in case.mechanism.joints]
        state = case.mechanism.state(
            coordinates=dict(zip(names, q, strict=True)), rates=dict(zip(names, rates, strict=True))
        )
        motion = motion_of(case, q[None], rates[None])
        for mine, theirs in zip(arrays_of(state), motion, strict=True):
            np.testing.assert_allclose(mine, theirs[0], atol=1e-12 * case.n * (1 + np.abs(rates).sum()))
        energy = case.energies(*(array[None] for array in arrays_of(state)))[0]
        assert abs(energy - data.energy.sum()) <= 1e-10 * case.scale, (energy, data.energy)
        turning = vi.accelerations(case.mechanism, state).angular[:, 1]
        theirs = np.cumsum(data.qacc)
        assert np.abs(turning - theirs).max() <= 1e-10 * max(1.0, np.abs(theirs).max()), (turning, theirs)


# ---------------------------------------------------------------------------------------- measuring


def methods_of(case):
    """All runs of a case."""
    counts = np.unique(np.round(FEWEST * FACTOR[case.n] ** np.arange(0, 30)).astype(int)).tolist()
    runs: list = [[Rk4(case, count) for count in counts]]
    for name, scheme in SCHEMES.items():
        runs.append([Ours(case, name, count) for count in counts if count <= MOST.get(scheme.order, np.inf)])
    runs += [[Reduced(case, integrator, rtol) for rtol in TOLERANCES] for integrator in REDUCED]
    return runs


def points_of(case):
    """The points of a case; the runs of all methods are timed in turns."""
    found = []
    for runs in methods_of(case):
        for run in runs:
            energy, place = run.errors()
            if energy <= COARSEST:
                found.append((run, energy, place))
            if energy <= FINEST:
                break
    walls = defaultdict(list)
    for _ in range(REPEATS):
        for run, *_ in found:
            if sum(walls[run]) < ENOUGH:
                walls[run].append(run.seconds())
    return [Point(run.method, run.size, energy, place, min(walls[run])) for run, energy, place in found]


def time_for(points, wanted):
    """Wall time at an error, s: on lines between neighbours of the cheapest points; infinite where none gets there."""
    best = []
    for point in sorted(points, key=lambda p: (p.wall, p.energy)):
        if not best or point.energy < best[-1].energy:
            best.append(point)
    if not best or wanted < best[-1].energy:
        return np.inf
    errors, walls = ([np.log(getattr(p, name)) for p in best[::-1]] for name in ("energy", "wall"))
    return float(np.exp(np.interp(np.log(wanted), errors, walls)))


def cheapest(points, wanted):
    """(method, s) of the cheapest of ours at an error."""
    of_each = {p.method: time_for([o for o in points if o.method == p.method], wanted) for p in points}
    of_each.pop("RK4", None)
    return min(of_each.items(), key=lambda item: item[1])


def compared(points):
    """(wanted error, s of RK4, method, s of it) for each wanted error; the method is the cheapest of ours."""
    theirs = [point for point in points if point.method == "RK4"]
    return [(wanted, time_for(theirs, wanted), *cheapest(points, wanted)) for wanted in WANTED]


def measured(n):
    case = Chain(n)
    check_same(case)
    return points_of(case)


def measure():
    rows = []
    for n in LENGTHS:
        for wanted, theirs, method, ours in compared(measured(n)):
            figures = f"{method} {ours:.4g} s, RK4 {theirs:.4g} s, ratio {ours / theirs:.2f}"
            rows.append((f"n = {n}, energy error {wanted:g}", figures, f"ratio <= {TARGET:g}", ours <= TARGET * theirs))
    return rows


# ---------------------------------------------------------------------------------------- the page


def draw(found, path):
    """A figure: time against energy error and against the error of places, a column for each length."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(found), 7), layout="constrained")
    axes = figure.subplots(2, len(found), squeeze=False, sharey="col")
    for column, (n, points) in enumerate(found.items()):
        for row, name in enumerate(("energy", "place")):
            axis = axes[row, column]
            methods = dict.fromkeys(point.method for point in points)
            for method, mark in zip(methods, ("o-", "s--", "^-.", "v:", "D-", "P--", "X-.", "*:"), strict=False):
                own = [point for point in points if point.method == method and getattr(point, name) > 1e-14]
                style = {"color": "black", "linewidth": 2} if method == "RK4" else {"linewidth": 1}
                axis.loglog(
                    [getattr(p, name) for p in own], [p.wall for p in own], mark, markersize=4, label=method, **style
                )
            axis.set_xlabel(
                "energy error, of m g L n" if name == "energy" else f"place error to {BEFORE_CHAOS:g} s, of n L"
            )
            axis.set_title(f"{n} links")
            axis.grid(alpha=0.3)
        axes[0, column].set_ylabel("time for 10 s (s)")
        axes[1, column].set_ylabel("time for 10 s (s)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(path, dpi=80)


def table(found):
    lines = ["| links | energy error | RK4 (s) | cheapest of ours | (s) | ours / RK4 |", "|---|---|---|---|---|---|"]
    for n, points in found.items():
        for wanted, theirs, method, ours in compared(points):
            lines.append(f"| {n} | {wanted:g} | {theirs:.4f} | {method} | {ours:.4f} | {ours / theirs:.2f} |")
    return "\n".join(lines)


def every_method(found):
    """Times over those of RK4 at each wanted error."""
    methods = [*SCHEMES, *REDUCED]
    lines = [f"| links | energy error | {' | '.join(methods)} |", "|---|---|" + "---|" * len(methods)]
    for n, points in found.items():
        for wanted, theirs, *_ in compared(points):
            ratios = [time_for([p for p in points if p.method == method], wanted) / theirs for method in methods]
            cells = " | ".join(f"{ratio:.2f}" if np.isfinite(ratio) else "" for ratio in ratios)
            lines.append(f"| {n} | {wanted:g} | {cells} |")
    return "\n".join(lines)


HEAD = f"""# Work against precision

Chains of n hinged links of 1 kg and 1 m (`n_pendulum`) are released at rest from horizontal and swing for 10 s: the
motion is chaotic, and the ends of long chains whip. The page reports how long it takes to keep the energy to a given
error, in varint and in MuJoCo with its Runge-Kutta method of order 4. Both have the same masses, inertias and hinges,
no damping and no contacts. Their energies and accelerations agree to 1e-10 at the start and in motion, which the
benchmark checks first.

* Error: the largest of the energy at any step, over m g L n. Chaos does not spoil it. The lower row of the figure has
  the largest error of a centre of mass in the first {BEFORE_CHAOS:g} s in its place, against `dop853` at a tolerance
  of 1e-13.
* Time: of the processor, one thread, stepping alone; the least of several turns, in which all methods take part one
  after the other. MuJoCo steps in `mujoco.rollout`, its fastest way, with contacts, constraints, limits, springs,
  dampers and sensors switched off. The schemes of varint run with the default `tol`. `dop853` is the integrator of
  `varint.redmax`, which chooses its steps; the others are of the variational integrator.
* Times at a given error lie on straight lines between neighbouring runs, in logarithms.

Made by `python benchmarks/work_precision.py`. Times are of the machine that made the page.

![time against error](images/work_precision.png)

"""


def write(found):
    docs = Path(__file__).parents[1] / "docs"
    draw(found, docs / "images" / "work_precision.png")
    text = HEAD + table(found) + "\n\nTimes of each method over those of RK4:\n\n" + every_method(found) + "\n"
    (docs / "work_precision.md").write_text(text)


if __name__ == "__main__":
    write({n: measured(n) for n in LENGTHS})
