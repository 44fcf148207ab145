"""``varint doctor``: what is installed, what is compiled, and whether that fits together."""

import sys
from argparse import Namespace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from varint.base.distribution import DISTRIBUTION, install_command
from varint.cli.parser import COMMANDS
from varint.cli.shared import Commands

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from varint.cli.facts import Report, ReportPart

ABOUT = "Report which versions are installed, what is compiled and where, and which extras there are."
GIVES = {  # extra: what it is for
    "contact": "hard contact and joint friction in reduced coordinates",
    "dask": "ensembles on a Dask cluster",
    "dev": "all that the development of varint needs",
    "docs": "building the documentation",
    "fem": "mesh files of deformable bodies",
    "film": "films of runs",
    "gym": "environments of Gymnasium",
    "jax": "runs as differentiable functions in JAX",
    "learn": "the examples that learn",
    "lint": "the checks of make lint",
    "mjcf": "robots in MJCF, by MuJoCo",
    "notebook": "sliders in notebooks",
    "parquet": "tables of ensembles as Parquet",
    "peers": "programs and robots that varint is compared with",
    "tables": "tables as pandas and xarray",
    "test": "the fast tests",
    "test-all": "all tests but those with peers",
    "test-peers": "the same as peers",
    "torch": "runs as differentiable functions in PyTorch",
    "view": "the 3-D view in a browser",
}


class Installed(NamedTuple):
    """A package: the version that is there, None where it is not, and those that varint allows."""

    name: str
    version: str | None
    allowed: str

    @property
    def fits(self) -> bool:
        """Return whether it is installed, in an allowed version."""
        from packaging.specifiers import SpecifierSet

        return self.version is not None and SpecifierSet(self.allowed).contains(self.version, prereleases=True)


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser("doctor", help=COMMANDS["doctor"], description=ABOUT)
    parser.set_defaults(execute=execute)


def version() -> str:
    """Return one line: versions of varint, numba and numpy, and the class of this processor."""
    import varint
    from varint.base.numba.shipped import cpu_class

    of = (f"{name} {_version(name)}" for name in ("numba", "numpy"))
    return ", ".join([f"varint {varint.__version__}", *of, f"processor of class {cpu_class()}"])


def execute(args: Namespace) -> "Report":
    """Return the report on the installation."""
    from varint.cli.facts import Report

    return Report([*_packages(), *_compiled(), *_extras()])


def requirements() -> "list[Requirement]":
    """Return the requirements of varint, with extras as markers: of this checkout, or of the installed package."""
    import tomllib

    from packaging.requirements import Requirement

    import varint

    project = Path(varint.__file__).parents[1] / "pyproject.toml"
    project_data = tomllib.loads(project.read_text()).get("project", {}) if project.is_file() else {}
    if project_data.get("name") != DISTRIBUTION:
        return [Requirement(text) for text in metadata.requires(DISTRIBUTION) or ()]
    listed = [Requirement(text) for text in project_data["dependencies"]]
    for extra, texts in project_data["optional-dependencies"].items():
        listed += [Requirement(f"{text}; extra == '{extra}'") for text in texts]
    return listed


def extras() -> dict[str, list[Installed]]:
    """Return the packages that each extra installs; "" stands for varint itself."""
    from packaging.markers import default_environment

    packages: dict[str, list[Installed]] = {}
    listed = requirements()
    names = {marker.split('"')[1] for each in listed if "extra ==" in (marker := str(each.marker))}
    for name in ("", *sorted(names)):
        environment: dict[str, Any] = {**default_environment(), "extra": name}
        mine = [each for each in listed if (each.marker.evaluate(environment) if each.marker else not name)]
        packages[name] = [_installed(each) for each in mine if each.name != DISTRIBUTION]
        for requirement in (each for each in mine if each.name == DISTRIBUTION):
            packages[name] += [one for other in sorted(requirement.extras) for one in packages.get(other, ())]
    return packages


def _installed(requirement: "Requirement") -> Installed:
    return Installed(requirement.name, _version(requirement.name), str(requirement.specifier))


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _packages() -> "list[ReportPart]":
    import platform

    import varint
    from varint.cli.facts import Fact, FactColumn, Facts, Listing

    required = extras()[""]
    wrong = [each.name for each in required if not each.fits]
    rows = [(each.name, each.version, each.allowed, each.fits) for each in required]
    columns = [FactColumn("name", "package"), FactColumn("version", "version"), FactColumn("allowed", "allowed")]
    facts = [
        Fact("varint", "varint", varint.__version__),
        Fact("place", "varint", str(Path(varint.__file__).parent)),
        Fact("python", "python", platform.python_version()),
        Fact("executable", "python", sys.executable),
        Fact("system", "system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
        Fact("ok", "", not wrong),
    ]
    if wrong:
        facts.append(Fact("", "not as it should be", ", ".join(wrong)))
    return [Facts(facts, "varint"), Listing("packages", [*columns, FactColumn("fits", "fits")], rows, "Packages")]


def _compiled() -> "list[ReportPart]":
    import os

    from varint.base.numba.cache import cache_folder
    from varint.base.numba.shipped import cpu_class, find, host
    from varint.cli.facts import Fact, Facts

    folder, shipped = cache_folder(), find()
    count, size = _files(folder)
    brought, _ = _files(shipped.folder)
    state = "native" if count else "shipped" if brought else "none"
    old = folder.parent if folder else None
    texts = {
        "native": "for this processor",
        "shipped": "as it came with varint, for a class of processors: 'varint compile' makes it for this one",
        "none": "nothing: the first run of each kind compiles, or 'varint compile'",
    }
    name, of_class = host(), cpu_class()
    return [
        Facts(
            [
                Fact("processor", "processor", name),
                Fact("cpu_class", "processor", of_class, text=f"of class {of_class}"),
                Fact("cores", "processor", os.cpu_count(), text=f"{os.cpu_count()} cores"),
                Fact("compiled", "compiled", state, text=texts[state]),
                Fact("native_functions", "", count),
                Fact("shipped_functions", "", brought),
                Fact("", "functions", count, text=f"{count} of this processor, {brought} that came with varint"),
                Fact("shipped_unused", "what came cannot be used" if shipped.why_not else "", shipped.why_not or None),
                Fact("cache", "kept in", folder and str(folder)),
                Fact("cache_size", "kept in", size, "B", f"{size / 1e6:.1f} MB"),
                Fact("cache_size_of_all", "all versions", _files(old, "**/*.nbc")[1], "B", _megabytes(old)),
            ],
            "Compiled functions",
        )
    ]


def _megabytes(folder: Path | None) -> str:
    return f"{_files(folder, '**/*.nbc')[1] / 1e6:.1f} MB in '{folder}', which may be removed" if folder else ""


def _files(folder: Path | None, pattern: str = "*.nbc") -> tuple[int, int]:
    """Return the number of files, and their size, bytes."""
    sizes = [path.stat().st_size for path in folder.glob(pattern)] if folder else []
    return len(sizes), sum(sizes)


def _extras() -> "list[ReportPart]":
    from varint.cli.facts import FactColumn, Listing
    from varint.extras.peers.base import simulators

    gives = dict.fromkeys(simulators(), "another simulator, for comparisons") | GIVES
    rows = []
    for name, packages in extras().items():
        if name:
            missing = [each.name for each in packages if not each.fits]
            rows.append((name, not missing, gives.get(name, ""), missing))
    columns = (
        FactColumn("name", "extra"),
        FactColumn("there", "there"),
        FactColumn("gives", "what it is for"),
        FactColumn("missing", "missing"),
    )
    return [Listing("extras", columns, rows, f"Extras: {install_command('NAME')}")]
