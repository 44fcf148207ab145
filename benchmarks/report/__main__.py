"""The report: the experiments of the sources and the comparison with other simulators, run again on this machine.

    python benchmarks/report [NAME ...] [--out FOLDER]

Writes FOLDER, by default build/report/: a page, and for each experiment a figure (PNG and SVG) and its figures (JSON).
With names only these are measured and drawn; "draw" draws all that were measured in the folder. The page shows these
too. The report in the documentation is that of ``--out docs/report``.
"""

import argparse
import json
import os
import platform
import re
import sys
import time
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy is imported: all methods run in one thread

from importlib import import_module  # noqa: E402
from importlib.metadata import PackageNotFoundError, distribution, version  # noqa: E402

from matplotlib.figure import Figure  # noqa: E402
from rich.console import Console  # noqa: E402

import varint  # noqa: E402

MODULES = ("vi_energy", "vi_closure", "vi_solver", "vi_scaling", "vi_loops", "vi_tolerance", "redmax_energy", "peers",
           "every_method", "contacts")  # fmt: skip
PACKAGES = ("numba", "numpy", "scipy", "mujoco", "pin", "drake", "exudyn")
FOLDER = Path(__file__).parents[2] / "build" / "report"
SIZE, DPI = (9.0, 4.2), 90  # inches
DRAW = "draw"


def main(arguments: list[str]) -> int:
    """Run and draw the experiments of these names, or all, and write the page of the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"an experiment, or {DRAW}; default all experiments")
    parser.add_argument(
        "--out", type=Path, default=FOLDER, metavar="FOLDER", help="folder to write, default %(default)s"
    )
    args = parser.parse_args(arguments)
    names, folder = args.names, args.out
    experiments = {e.name: e for module in MODULES for e in import_module(module).EXPERIMENTS}
    unknown = [name for name in names if name not in experiments and name != DRAW]
    if unknown:
        print(f"no experiment '{unknown[0]}': there are {', '.join(experiments)}; {DRAW} draws all again")
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    for name in (each for each in names or experiments if each != DRAW):
        began = time.perf_counter()
        measured = experiments[name].measure()
        seconds = round(time.perf_counter() - began, 1)
        text = json.dumps({"machine": machine(), "seconds": seconds, "measured": measured}, indent=1)
        (folder / f"{name}.json").write_text(text + "\n")
        Console().print(f"[bold]{name}[/bold] {seconds:g} s: {experiments[name].seen(measured)}")
        draw(experiments[name], json.loads(text)["measured"], folder)
    held = {name: json.loads(path.read_text()) for name in experiments if (path := folder / f"{name}.json").is_file()}
    for name in held if DRAW in names else ():
        draw(experiments[name], held[name]["measured"], folder)
    (folder / "report.md").write_text(page(experiments, held))
    Console().print(f"written: {folder / 'report.md'}", soft_wrap=True)
    return 0


def draw(experiment: Any, measured: Any, folder: Path) -> None:
    """Write the picture of what an experiment measured."""
    figure = Figure(figsize=SIZE, layout="constrained")
    experiment.draw(measured, figure)
    figure.savefig(folder / f"{experiment.name}.png", dpi=DPI)
    figure.savefig(folder / f"{experiment.name}.svg", metadata={"Date": None})
    Console().print(f"drawn: {folder / experiment.name}.png, .svg; its figures are in the .json", soft_wrap=True)


def machine() -> dict[str, str]:
    """What ran the experiment: processor, cores and versions."""
    known = Path("/proc/cpuinfo")
    models = re.findall(r"^model name\s*: (.*)$", known.read_text(), re.M) if known.is_file() else []
    versions = {name: version(name) for name in PACKAGES if is_installed(name)}
    processor = f"{(models or [platform.processor()])[0]}, {os.cpu_count()} cores"
    return {"processor": processor, "python": platform.python_version(), "varint": varint.__version__, **versions}


def is_installed(name: str) -> bool:
    """Whether there is a distribution of that name."""
    try:
        return bool(distribution(name))
    except PackageNotFoundError:
        return False


def page(experiments: dict, held: dict) -> str:
    """The page, in Markdown; ``held``: what was measured, by name."""
    lines = [
        "# Report: the experiments of the sources, run again",
        "",
        "Made by `make report`. Times are of one thread, the least of several turns in which all methods take part one",
        "after the other. Compare ratios, not seconds. What is said here about figures is made from them.",
        "",
    ]
    for name, one in held.items():
        experiment, measured = experiments[name], one["measured"]
        lines += [f"## {experiment.title}", ""]
        lines += [f"**The source:** {experiment.source}", ""] if experiment.source else []
        lines += [
            f"**Here:** {experiment.seen(measured)}",
            "",
            *([experiment.table(measured), ""] if experiment.table else []),
            f"![{experiment.title}]({name}.png)",
            "",
            f"[figures]({name}.json), [drawing]({name}.svg); {one['seconds']:g} s on {one['machine']['processor']}",
            "",
        ]
    machines = {", ".join(f"{key} {value}" for key, value in one["machine"].items()) for one in held.values()}
    return "\n".join([*lines, "## Machine", "", *(f"* {each}" for each in sorted(machines)), ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
