"""An ensemble of 1000 double pendulums, each of 2 s at 1 ms and in a file of its own: how busy it keeps the cores."""

import os
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

import varint as vi
from varint.ensembles.run import usable_cores

MEMBERS = 1000
BUSY = 0.9  # of the time of all cores


def others_and_idle():
    """Seconds since the machine started of all its cores together: at work, and waiting for work or for the disk."""
    user, nice, system, idle, waiting, *rest = map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9])
    tick = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + sum(rest)) / tick, (idle + waiting) / tick


def own():
    """Seconds of the processor that this process and those that it has waited for took."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measure(members=MEMBERS):
    draws = vi.random_draws(members, {"angle": ("uniform", 0.1, 3.0)}, seed=1)
    vi.simulate(vi.mechanisms.double_pendulum(), 0.01, 0.001)  # compiled, so that the workers need not
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began, used, (_, idle) = time.perf_counter(), own(), others_and_idle()
        found = vi.ensemble("double_pendulum", draws, 2.0, 1e-3, output=f"{folder}/runs")
        wall, used, idle = time.perf_counter() - began, own() - used, others_and_idle()[1] - idle
    cores = usable_cores()
    busy, machine = used / (cores * wall), 1.0 - idle / (os.cpu_count() * wall)
    stepping = float(found.table["wall_time"].sum())
    yield f"{len(found)} members, {len(found.failures)} failed", f"{wall:.1f} s", "", not found.failures
    yield (
        "cores kept busy by the ensemble",
        f"{100 * busy:.0f} %",
        f"{100 * BUSY:.0f} %, alone on the machine",
        busy >= BUSY,
    )
    yield "cores busy with anything", f"{100 * machine:.0f} %", "", None
    yield "processor time of a member", f"{1e3 * used / members:.1f} ms", "", None
    yield "of that stepping", f"{1e3 * stepping / members:.1f} ms", "", None


if __name__ == "__main__":
    for what, figure, target, _ in measure(int(sys.argv[1]) if len(sys.argv) > 1 else MEMBERS):
        print(f"{what:40} {figure:>10}  {target}")
