"""Times of this tree over those of a commit before, for the table of targets of docs/speed.md, in turns and in one run.

    python benchmarks/speed_targets.py COMMIT [--rounds N]

Each figure is the least of all rounds, as in `check`, of which this takes the processes. Members of ensembles are run
one after another in the process itself: processor time, without the start of a worker.
"""

import sys
import time
from contextlib import ExitStack

from check import compared, git, parser_of, tree_of, work_for

ROUNDS = 5
TARGETS = {  # name to the ratio asked for
    "chain, n = 2": 0.55,
    "chain, n = 10": 0.45,
    "chain, n = 100": 0.40,
    "chain, n = 400": 0.40,
    "chain in motion, n = 100": None,
    "ball chain, n = 100": 0.45,
    "rhombi, m = 8": 0.6,
    "four-bar": 0.6,
    "double pendulum at 10 ms": 0.5,
    "order 6, n = 10": 0.35,
    "order 8, n = 10": 0.35,
    "springs and dampers, n = 10": None,
    "a member of an ensemble": 0.15,
    "a member with its file": None,
    "simulate, one step": 0.3,
    "gradient, n = 10": None,
    "a step with a controller": 1 / 3,
}


def works(stack):
    """Name to a function that returns seconds: of a step, a member, or a call; ``stack``: of contexts to close."""
    import tempfile
    from functools import partial
    from itertools import count
    from pathlib import Path

    import varint as vi
    from varint.studies.ensembles import source, work

    chain = vi.mechanisms.n_pendulum
    plain, long = chain(n=10), chain(n=100)
    springs = [vi.TorsionSpring(f"s {j.name}", joint=j.name, stiffness=1.0, damping=0.1) for j in plain.joints]
    forced = vi.Mechanism("chain with springs", plain.bodies, plain.joints, forces=springs)
    pair = chain(n=2)
    motor = vi.Motor("motor", joint="joint 1", effort=lambda t, state: -0.1 * state.angular_velocity[0, 1])
    driven = vi.Mechanism("driven", pair.bodies, pair.joints, forces=[motor])
    moving = vi.simulate(long, 2.0, 1e-3, every=2000, on_unresolved="ignore").state(-1)
    bodies = [f"{body.name}.mass" for body in plain.bodies]

    def steps(mechanism, count, dt=1e-3, **given):
        run = vi.simulate(mechanism, count * dt, dt, every=count, on_unresolved="ignore", **given)
        return run.wall_time / count

    def whole(work):
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    number = count()

    def member(build, task):
        began = time.process_time()
        row = work.run_member(task, build, next(number), {"angle": 0.5})
        taken = time.process_time() - began
        assert row["status"] == "done", row
        return taken

    named = source.source_of("double_pendulum")
    if hasattr(work, "MemberTask"):
        task, method = work.MemberTask, vi.Variational
    else:  # older trees
        task, method = work.Task, "maximal"
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    build = getattr(source, "Builder", lambda build: build)(vi.mechanisms.double_pendulum)
    in_memory, in_folder = (
        task(named, method, {"duration": 10.0, "dt": 0.01}, where, None, False) for where in (None, folder)
    )

    def of_gradient():
        vi.gradient(
            plain, lambda state: float(state.position[-1, 2]), 1.0, 1e-3, with_respect_to=["start", *bodies],
            on_unresolved="ignore",
        )  # fmt: skip

    return {
        "chain, n = 2": partial(steps, pair, 1000),
        "chain, n = 10": partial(steps, plain, 300),
        "chain, n = 100": partial(steps, long, 40),
        "chain, n = 400": partial(steps, chain(n=400), 20),
        "chain in motion, n = 100": partial(steps, long, 40, state=moving),
        "ball chain, n = 100": partial(steps, chain(n=100, joint="spherical"), 40),
        "rhombi, m = 8": partial(steps, vi.mechanisms.rhombus_chain(m=8), 50),
        "four-bar": partial(steps, vi.mechanisms.four_bar(), 300),
        "double pendulum at 10 ms": partial(steps, pair, 2000, 0.01),
        "order 6, n = 10": partial(steps, plain, 30, order=6),
        "order 8, n = 10": partial(steps, plain, 15, order=8),
        "springs and dampers, n = 10": partial(steps, forced, 200),
        "a member of an ensemble": partial(member, build, in_memory),
        "a member with its file": partial(member, build, in_folder),
        "simulate, one step": lambda: whole(lambda: vi.simulate(pair, 0.01, 0.01)),
        "gradient, n = 10": lambda: whole(of_gradient),
        "a step with a controller": partial(steps, driven, 200),
    }


def main():
    args = parser_of(__doc__, ROUNDS).parse_args()
    if args.serve:
        with ExitStack() as stack:
            return work_for(works(stack), sys.stdin, sys.stdout)
    with tree_of(args.commit) as before:
        best = compared(before, list(TARGETS), args.rounds, __file__)
    print(f"| against {git('log', '-1', '--format=%h', args.commit)} | before, us | now, us | ratio | asked |")
    print("|---|---|---|---|---|")
    for name, (then, now) in best.items():
        asked = "" if TARGETS[name] is None else f"{TARGETS[name]:.2f}"
        print(f"| {name} | {then * 1e6:.4g} | {now * 1e6:.4g} | {now / then:.2f} | {asked} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
