"""What a gradient costs, over a run: `python gradients.py` prints tables of docs/gradients.md and docs/redmax.md.

`python gradients.py memory` prints the one of time over memory alone, `python gradients.py runs` that of whole calls,
`python gradients.py collocation` that of calls along `vi.Lobatto`.
"""

import dataclasses
import sys
import time

import numpy as np

import varint as vi
from varint.derivatives.along_run import go_back
from varint.derivatives.backward import adjoints_of
from varint.derivatives.local import Local
from varint.derivatives.numbers import number_of
from varint.derivatives.reduced import records as reduced_records
from varint.derivatives.reduced import residuals as reduced_residuals
from varint.derivatives.reduced import tape as reduced_tape
from varint.derivatives.reduced.gradient import SCHEMES
from varint.derivatives.taped import MaximalTape, TapeSetting, sizes
from varint.methods.variational.schemes import scheme

STEPS, DT, REPEATS = 1000, 0.001, 5


def seconds(function):
    """Least of some trials, of the processor, and what it gave last."""
    least = np.inf
    for _ in range(REPEATS):
        begin = time.process_time()
        found = function()
        least = min(least, time.process_time() - begin)
    return least, found


def alternating(*functions):
    """Least processor time of each function, s, in turn after one call of each."""
    least = [np.inf] * len(functions)
    for trial in range(REPEATS + 1):
        for k, function in enumerate(functions):
            begin = time.process_time()
            function()
            least[k] = min(least[k], time.process_time() - begin) if trial else np.inf
    return least


def whole_calls(mechanism, dt, start=None):
    """Time of the run, ms, and ratios over it of `gradient` by the start, and by the start and ten masses or fewer.

    The objective is the height of the last body in the last state, plus an integral along the run: the potential energy
    of a mass that the last body carries, as a sum over ten instants. Then the same for the height alone.
    """
    masses = [f"{body.name}.mass" for body in mechanism.bodies[:10]]
    times = STEPS * dt * np.arange(1, 11) / 10

    def height(state):
        return float(state.position[-1, 2])

    def height_and_integral(states):
        return height(states[-1]) + 9.81 * STEPS * dt / 10 * sum(map(height, states))

    def gradient(objective, names, times=None):
        return vi.gradient(
            mechanism, objective, STEPS * dt, dt, with_respect_to=names, times=times, state=start,
            on_unresolved="ignore",
        )  # fmt: skip

    run, *others = alternating(
        lambda: vi.simulate(mechanism, STEPS * dt, dt, every=STEPS, tol=1e-12, state=start, on_unresolved="ignore"),
        lambda: gradient(height, ["start"]),
        lambda: gradient(height, ["start", *masses]),
        lambda: gradient(height_and_integral, ["start", *masses], times),
    )
    return 1e3 * run, [other / run for other in others]


def print_whole_calls():
    """The table of whole calls, on mechanisms that start at rest, in motion, and in a state that is given."""
    chains = [(f"{n} links", vi.mechanisms.n_pendulum(n), None) for n in (2, 10, 100)]
    plain = vi.mechanisms.n_pendulum(10)
    moving = dataclasses.replace(plain, start={"rates": {joint.name: 0.5 for joint in plain.joints}})
    linkage = vi.mechanisms.four_bar()
    loops = [
        ("four-bar", linkage, None),
        ("four-bar, state= given", linkage, linkage.state()),
        ("rhombi, m = 4", vi.mechanisms.rhombus_chain(4), None),
    ]
    for what, mechanism, start in (*chains, ("10 links in motion", moving, None), *loops):
        for dt in (1e-3, 1e-2):
            run, (by_start, by_masses, integral) = whole_calls(mechanism, dt, start)
            print(
                f"{what}, {1e3 * dt:g} ms: run {run:.1f} ms, gradient by the start {by_start:.2f} of it,"
                f" with masses {by_masses:.2f}, with an integral {integral:.2f}"
            )


def through_collocation(mechanism, dt, order, steps=200):
    """As `whole_calls`, along `vi.Lobatto`: by start and gravity, dt and a mass too, all masses too."""
    problem, method = vi.Problem(mechanism, steps * dt, mechanism.state()), vi.Lobatto(dt, order, "ignore")
    masses, few = [f"{body.name}.mass" for body in mechanism.bodies], ["start", "gravity"]
    lists = few, [*few, "dt", masses[0]], [*few, *masses]

    def gradient(names):
        return vi.gradient(problem, lambda state: float(state.position[-1, 2]), method, with_respect_to=names)

    run, *others = alternating(
        lambda: vi.simulate(problem, method, vi.Recording(every=steps)),
        *(lambda names=names: gradient(names) for names in lists),
    )
    return 1e3 * run, [other / run for other in others]


def print_through_collocation():
    """The table of calls along collocation."""
    springs = dataclasses.replace(
        chain(10),
        forces=[dataclasses.replace(spring, stiffness=5.0, damping=0.1) for spring in chain(10).forces],
    )
    cases = [(f"{n} links", vi.mechanisms.n_pendulum(n, angle=0.5), 0.01) for n in (2, 10)]
    cases += [("10 links, a spring and damper in each joint", springs, 0.01)]
    cases += [("100 links", vi.mechanisms.n_pendulum(100, angle=0.5), 0.005)]
    cases += [
        (what, getattr(vi.mechanisms, name)(), 0.01)
        for what, name in (
            ("four-bar", "four_bar"),
            ("slider-crank", "slider_crank"),
            ("Bricard", "bricard"),
            ("Jansen leg", "jansen_leg"),
            ("rhombi", "rhombus_chain"),
            ("Stewart platform", "stewart_platform"),
        )
    ]
    for what, mechanism, dt in cases:
        found = [through_collocation(mechanism, dt, order) for order in (4, 8)]
        times = ", ".join(f"{run:.1f}" for run, _ in found)
        ratios = " | ".join(", ".join(f"{others[k]:.1f}" for _, others in found) for k in range(3))
        print(f"| {what} | {times} | {ratios} |")


def chain(links):
    """A chain with a spring in each joint."""
    plain = vi.mechanisms.n_pendulum(links)
    springs = [vi.TorsionSpring(f"spring {joint.name}", joint=joint.name, stiffness=0.1) for joint in plain.joints]
    return vi.Mechanism("chain", plain.bodies, plain.joints, forces=springs)


def numbers_of(mechanism):
    """All masses, inertias, points and stiffnesses, and how many numbers that are."""
    names = [f"{body.name}.{what}" for body in mechanism.bodies for what in ("mass", "inertia")]
    names += [f"{joint.name}.point" for joint in mechanism.joints]
    names += [f"{force.name}.stiffness" for force in mechanism.forces]
    return names, 7 * len(mechanism.bodies) + 3 * len(mechanism.joints) + len(mechanism.forces)


def ratios(links, order):
    """The run that is kept, the way back along it, and all numbers: over the run alone."""
    mechanism = chain(links)
    state, (names, count) = mechanism.state(), numbers_of(mechanism)
    given = {"order": order, "every": STEPS, "tol": 1e-12, "on_unresolved": "ignore"}
    run, _ = seconds(lambda: vi.simulate(mechanism, STEPS * DT, DT, **given))
    setting = TapeSetting(scheme(order), DT, 1e-12, STEPS)
    taped, kept = seconds(lambda: MaximalTape(mechanism, state, setting, [STEPS]))
    by = np.random.default_rng(0).standard_normal((1, 1, links, 12))

    def back(names=()):
        adjoints, sums = adjoints_of(kept, by, {}), []
        local = Local(kept, True, 1, sums)
        derivatives = [local.by(number_of(mechanism, name)) for name in names]
        go_back(kept, adjoints, sums)
        return [each(0, adjoints[0]) for each in derivatives]

    alone, _ = seconds(back)
    with_numbers, _ = seconds(lambda: back(names))
    return taped / run, alone / run, (with_numbers - alone) / run, count


def over_memory(links=10, steps=20_000, shares=(1.0, 0.5, 0.1, 0.01, 0.003, 0.001)):
    """Of a long run: shares of the memory of all stages, bytes, parts, checkpoints, passes, time over that of all."""
    mechanism, trials = chain(links), []
    state, by = mechanism.state(), np.ones((1, 1, links, 12))
    setting = TapeSetting(scheme(2), DT, 1e-12, steps)
    checkpoint, stage = sizes(mechanism.compiled, setting)
    whole = checkpoint + 1.2 * steps * stage
    for share in shares:

        def gradient(share=share):
            run = MaximalTape(mechanism, state, setting._replace(memory=max(1.0, 1.01 * share * whole)), [steps])
            go_back(run, adjoints_of(run, by, {}), [])
            return run

        trials.append((share, share * whole, *seconds(gradient)))
    return [
        (share, size, len(run.passes), run.layout.checkpoints, run.passes.mean(), time / trials[0][2])
        for share, size, time, run in trials
    ]


def reduced_ratios(mechanism, name, steps=200):
    """The same in reduced coordinates: the run that is kept, back along it, and each number."""
    state = mechanism.state()
    setting = reduced_records.ReducedSetting(steps, DT, None, None, 5.0, {}, "exponential", 1e-8)
    given = {"dt": DT, "every": steps, "integrator": name, "state": state}
    run, _ = seconds(lambda: vi.redmax.simulate(mechanism, steps * DT, **given))
    taped, kept = seconds(lambda: reduced_tape.ReducedTape(mechanism, SCHEMES[name], state, setting, [steps]))
    by = np.random.default_rng(0).standard_normal((1, len(mechanism.bodies), 12))
    back, adjoint = seconds(lambda: reduced_residuals.ReducedAdjoint(kept, by, np.zeros((len(by), 2, 0, 3))))
    scalar, _ = seconds(lambda: adjoint.scalar(mechanism, state))
    return (taped + back) / run, 4 * scalar / run


if __name__ == "__main__":
    if sys.argv[1:] == ["runs"]:
        print_whole_calls()
        sys.exit()
    if sys.argv[1:] == ["collocation"]:
        print_through_collocation()
        sys.exit()
    for share, size, parts, checkpoints, passes, ratio in over_memory():
        print(
            f"{share:g} of the memory, {size / 1e6:.2g} MB: {parts} parts, {checkpoints} checkpoints,"
            f" each part marched {passes:.2f} times, {ratio:.2f} of the time"
        )
    if sys.argv[1:] == ["memory"]:
        sys.exit()
    print_whole_calls()
    for links in (2, 10, 100):
        for order in (2, 4):
            taped, back, numbers, count = ratios(links, order)
            print(
                f"{links} links, order {order}: run {taped:.1f}, back {back:.1f}, {count} numbers {numbers:.1f},"
                f" in all {taped + back + numbers:.1f}"
            )
    for what, mechanism in (
        ("2 links", vi.mechanisms.n_pendulum(2)),
        ("10 links", vi.mechanisms.n_pendulum(10)),
        ("100 links", vi.mechanisms.n_pendulum(100)),
        ("four-bar", vi.mechanisms.four_bar()),
        ("Jansen leg", vi.mechanisms.jansen_leg()),
    ):
        for name in ("bdf1", "bdf2"):
            start, number = reduced_ratios(mechanism, name)
            print(f"reduced, {what}, {name}: start {start:.1f}, number {number:.1f}")
