"""An ensemble of 1000 double pendulums, each of 2 s at 1 ms and in a file of its own: how busy it keeps the cores."""

import os
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

import varint as vi
from varint.studies.ensembles.ensemble_run import usable_cores

MEMBERS = 1000
BUSY = 0.9  # of the time of all cores


def own():
    """Seconds of the processor that this process and those that it has waited for took."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Watch(threading.Thread):
    """Looks at the processes that this one has started, ten times a second.

    ``running``, ``blocked``: process to the seconds that it was on a core, and that it waited for anything but a core.
    """

    def __init__(self):
        super().__init__(daemon=True)
        self.running, self.blocked, self.end = {}, {}, threading.Event()

    def run(self):
        while not self.end.wait(0.1):
            for children in Path("/proc/self/task").glob("*/children"):
                for process in children.read_text().split():
                    self.look(process)

    def look(self, process):
        try:
            running, waiting, _ = map(int, Path(f"/proc/{process}/schedstat").read_text().split())
            began = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])
        except (FileNotFoundError, ProcessLookupError):  # it has just ended
            return
        alive = time.clock_gettime(time.CLOCK_BOOTTIME) - began / os.sysconf("SC_CLK_TCK")
        self.running[process], self.blocked[process] = running / 1e9, alive - (running + waiting) / 1e9


def measure(members=MEMBERS):
    draws = vi.random_draws(members, {"angle": ("uniform", 0.1, 3.0)}, seed=1)
    vi.simulate(vi.mechanisms.double_pendulum(), 0.01, 0.001).drift  # noqa: B018  compiled, so that no worker has to
    watch = Watch()
    with tempfile.TemporaryDirectory() as folder:
        watch.start()
        began, used = time.perf_counter(), own()
        found = vi.ensemble("double_pendulum", draws, 2.0, 1e-3, output=f"{folder}/runs", on_unresolved="ignore")
        wall, used = time.perf_counter() - began, own() - used
        watch.end.set()
    busy, running, blocked = used / (usable_cores() * wall), sum(watch.running.values()), sum(watch.blocked.values())
    stepping = float(found.table["wall_time"].sum())
    yield f"{len(found)} members, {len(found.failures)} failed", f"{wall:.1f} s", "", not found.failures
    yield "cores kept busy, alone on the machine", f"{100 * busy:.0f} %", f"{100 * BUSY:.0f} %", busy >= BUSY
    yield (
        f"{len(watch.running)} workers, at work where a core is free",
        f"{100 * running / (running + blocked):.0f} %",
        "",
        None,
    )
    yield "processor time of a member", f"{1e3 * used / members:.1f} ms", "", None
    yield "of that stepping, alone on the machine", f"{1e3 * stepping / members:.1f} ms", "", None


if __name__ == "__main__":
    for what, figure, target, _ in measure(int(sys.argv[1]) if len(sys.argv) > 1 else MEMBERS):
        print(f"{what:40} {figure:>10}  {target}")
