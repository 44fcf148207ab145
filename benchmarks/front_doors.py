"""What people wait for before a simulation, beside it and in loops around it: the table "Waits" of docs/speed.md.

    python benchmarks/front_doors.py COMMIT [--rounds N]

Times of a commit before and of this tree, in turns and in one run: processor seconds, the least of all rounds, of
processes with bytecode and compiled functions in their caches. Loops are short, so that some of them are not
interrupted on a busy machine.
"""

import contextlib
import os
import resource
import subprocess
import sys
import time

from check import ROOT, Tree, git, parser_of, tree_of, work_for

ROUNDS, POSES, STEPS = 12, 181, 200
LOOPS = ("cart_pole", "four_bar", "minitaur")
STARTS = {  # processes
    "`varint --help`": ["-m", "varint", "--help"],
    "a typo, `varint rum`": ["-m", "varint", "rum"],
    "`import varint; varint.simulate`": ["-c", "import varint; varint.simulate"],
}
SWEEPS = {"four-bar": ("four_bar", "crank pivot"), "six-bar": ("klann_leg", "shaft")}
ASKED = {
    "`varint --help`": "0.4 of before",
    "a typo, `varint rum`": "0.4 of before",
    "`import varint; varint.simulate`": "0.6 of before",
    "four-bar": "1 ms",
    "six-bar": "5 ms",
    "loop": "1.05",
    "gym": "100,000/s",
}


def works():
    """Name to a function that returns the processor seconds of a loop's pass, of a sweep, of an action."""
    from dataclasses import replace
    from functools import partial

    import numpy as np

    import varint as vi

    def timed(work, count, *arguments):
        began = time.thread_time()
        for _ in range(count):
            work(*arguments)
        return (time.thread_time() - began) / count

    made = {}

    def once(key, make):
        if key not in made:
            made[key] = make()
        return made[key]

    def loop(name, reads):
        sim = once((name, reads), lambda: vi.Stepper(getattr(vi.mechanisms, name)(), 1e-3))

        def step():
            sim.step()
            sim.coordinates if reads == "coordinates" else sim.state.position  # noqa: B018  # properties

        return timed(step, STEPS)

    def swept(name, joint):
        mechanism = once(name, getattr(vi.mechanisms, name))
        return timed(mechanism.sweep, 1, joint, np.linspace(0.0, 2.0 * np.pi, POSES))

    def environment(name, actions):
        mechanism = getattr(vi.mechanisms, name)()
        if name == "four_bar":
            mechanism = replace(mechanism, forces=[vi.Motor("motor", joint="crank pivot", effort=0.0)])
        env = vi.gym.make(
            mechanism, reward=lambda sim: 1.0, actions={"motor": (-20.0, 20.0)}, dt=0.005, frame_skip=4, steps=actions
        )
        env.reset(seed=0)
        return env

    def action(name, length):
        """An action, and its share of the reset where episodes have a length."""
        env, count = once((name, "gym", length), lambda: environment(name, length)), length or STEPS
        effort = np.array([0.1], dtype=np.float32)
        began = time.thread_time()
        for _ in range(count):
            env.step(effort)
        if length:
            env.reset()
        return (time.thread_time() - began) / count

    named = {}
    for name in LOOPS:
        for reads in ("coordinates", "state"):
            named[f"{name} {reads}"] = partial(loop, name, reads)
    named |= {f"sweep {name}": partial(swept, *how) for name, how in SWEEPS.items()}
    for name in ("cart_pole", "four_bar"):
        named |= {f"gym {name}": partial(action, name, None), f"gym {name} episodes": partial(action, name, 200)}
    return named


NAMES = (
    *(f"{name} {reads}" for name in LOOPS for reads in ("coordinates", "state")),
    *(f"sweep {name}" for name in SWEEPS),
    *(f"gym {name}{more}" for name in ("cart_pole", "four_bar") for more in ("", " episodes")),
)


def of_process(path, arguments):
    """Processor seconds of a process of the tree at ``path``."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-P", *arguments]
    subprocess.run(command, env=environment | {"PYTHONPATH": str(path)}, capture_output=True, cwd="/", check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compared(before, now, rounds):
    """Name to the least seconds of the tree at ``before`` and of this one."""
    paths = before, now
    trees = [Tree(path, __file__) for path in paths]
    best = {name: [float("inf")] * 2 for name in (*STARTS, *NAMES)}
    for k in range(rounds + 1):  # the first one compiles, and writes bytecode
        for name in best:
            for side in (0, 1) if k % 2 else (1, 0):
                start = STARTS.get(name)
                seconds = trees[side].seconds(name) if start is None else of_process(paths[side], start)
                best[name][side] = min(best[name][side], seconds)
        print(f"round {k} of {rounds}", file=sys.stderr, flush=True)
    return best


def main():
    """Print the table."""
    args = parser_of(__doc__, ROUNDS).parse_args()
    if args.serve:
        with contextlib.suppress(BrokenPipeError):
            return work_for(works(), sys.stdin, sys.stdout)

    with tree_of(args.commit) as before:
        best = compared(before, ROOT, args.rounds)
    print(f"| wait | {git('log', '-1', '--format=%h', args.commit)} | now | asked |\n|---|---|---|---|")
    for name in STARTS:
        then, now = best[name]
        print(f"| {name} | {then:.2f} s | {now:.2f} s, {now / then:.2f} | {ASKED[name]} |")
    for name in SWEEPS:
        then, now = (1e3 * seconds for seconds in best[f"sweep {name}"])
        print(f"| `sweep`, {POSES} poses of a {name} | {then:.0f} ms | {now:.1f} ms | {ASKED[name]} |")
    for name in LOOPS:
        ratios = [state / read for read, state in zip(best[f"{name} coordinates"], best[f"{name} state"], strict=True)]
        label = f"loop of a `Stepper` that reads `state.position`, over one that reads `coordinates`: `{name}`"
        print(f"| {label} | {ratios[0]:.2f} | {ratios[1]:.2f} | {ASKED['loop']} |")
    for name in ("cart_pole", "four_bar"):
        for more, label in (("", ""), (" episodes", ", with a reset each 200")):
            rates = [f"{1.0 / seconds:,.0f}/s" for seconds in best[f"gym {name}{more}"]]
            asked = ASKED["gym"] if not more else ""
            what = f"actions of a Gymnasium environment, four steps of 5 ms each: `{name}`{label}"
            print(f"| {what} | {' | '.join(rates)} | {asked} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
