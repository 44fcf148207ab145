"""The report: the experiments of the sources and the comparison with other simulators, run again on this machine.

    python benchmarks/report [NAME ...]

Writes docs/report/: a page, and for each experiment a figure (PNG and SVG) and its figures (JSON). With names only
these are measured anew; the page shows all that were ever measured there.
"""

import json
import os
import platform
import re
import sys
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy is imported: all methods run in one thread

from importlib import import_module  # noqa: E402
from importlib.metadata import PackageNotFoundError, distribution, version  # noqa: E402

from matplotlib.figure import Figure  # noqa: E402
from rich.console import Console  # noqa: E402

MODULES = ("vi_energy", "vi_closure", "vi_solver", "vi_scaling", "vi_loops", "vi_tolerance", "redmax_energy", "peers",
           "every_method")  # fmt: skip
PACKAGES = ("varint", "numba", "numpy", "scipy", "mujoco", "pin", "drake", "exudyn")
FOLDER = Path(__file__).parents[2] / "docs" / "report"
SIZE, DPI = (9.0, 4.2), 90  # inches


def main(names: list[str]) -> int:
    """Run the experiments of these names, or all, and write the page."""
    experiments = {e.name: e for module in MODULES for e in import_module(module).EXPERIMENTS}
    unknown = [name for name in names if name not in experiments]
    if unknown:
        print(f"no experiment '{unknown[0]}': there are {', '.join(experiments)}")
        return 2
    FOLDER.mkdir(exist_ok=True)
    for name in names or experiments:
        began = time.perf_counter()
        measured = experiments[name].measure()
        seconds = round(time.perf_counter() - began, 1)
        text = json.dumps({"machine": machine(), "seconds": seconds, "measured": measured}, indent=1)
        (FOLDER / f"{name}.json").write_text(text + "\n")
        figure = Figure(figsize=SIZE, layout="constrained")
        experiments[name].draw(measured, figure)
        for suffix in ("png", "svg"):
            metadata = {"Date": None} if suffix == "svg" else None
            figure.savefig(FOLDER / f"{name}.{suffix}", dpi=DPI, metadata=metadata)
        Console().print(f"[bold]{name}[/bold] {seconds:g} s: {experiments[name].seen(measured)}")
    (FOLDER / "report.md").write_text(page(experiments))
    return 0


def machine() -> dict[str, str]:
    """What ran the experiment: processor, cores and versions."""

    models = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    versions = {name: version(name) for name in PACKAGES if is_installed(name)}
    return {"processor": f"{models[0]}, {os.cpu_count()} cores", "python": platform.python_version(), **versions}


def is_installed(name: str) -> bool:
    """Whether there is a distribution of that name."""
    try:
        return bool(distribution(name))
    except PackageNotFoundError:
        return False


def page(experiments: dict) -> str:
    """The page, in Markdown."""
    lines = [
        "# Report: the experiments of the sources, run again",
        "",
        "Made by `make report`. Times are of the processor, in one thread, the least of several turns in which all",
        "methods take part one after the other. Compare ratios, not seconds.",
        "",
    ]
    for name, experiment in experiments.items():
        path = FOLDER / f"{name}.json"
        if not path.is_file():
            continue
        held = json.loads(path.read_text())
        lines += [
            f"## {experiment.title}",
            "",
            f"**The source:** {experiment.source}",
            "",
            f"**Here:** {experiment.seen(held['measured'])}",
            "",
            *([experiment.table(held["measured"]), ""] if experiment.table else []),
            f"![{experiment.title}]({name}.png)",
            "",
            f"[figures]({name}.json), [drawing]({name}.svg); {held['seconds']:g} s on {held['machine']['processor']}",
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
