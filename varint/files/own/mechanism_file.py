"""Mechanisms in files; the suffix says in which format."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from varint.base.checks import arguments_of, flag, known_name, of_type, sequence_of
from varint.base.errors import ArgumentError, FileError
from varint.base.paths import path_of
from varint.files.formats import FORMATS
from varint.files.mjcf.models import is_model
from varint.files.own.parameters import FileParameter
from varint.files.robots.loop_repair import with_exact_loops
from varint.files.robots.packages import ImportOptions
from varint.files.runs.contents import SUFFIXES
from varint.mechanism.mechanism import Mechanism

ENVIRONMENT = "ROS_PACKAGE_PATH"  # folders of packages, as the tools of ROS have it


def save_mechanism(mechanism: Mechanism, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a mechanism in the format of the path's suffix. A file of that name is replaced.

    What URDF does not hold goes to the companion of the file: a TOML file of the same name, which includes it. A later
    save rewrites the companion, or removes it where it would be empty. ``overwrite``: also replace a TOML file in that
    place which is not the companion.

    Raises FileError if the file cannot be written, or a mechanism not in this format, or if a TOML file is in the place
    of the companion; all files are then as they were.
    """
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    path = Path(path_of(path))
    overwrite = flag(overwrite, "overwrite", ArgumentError)
    written = {suffix: format_.save for suffix, format_ in FORMATS.items() if format_.save}
    if path.suffix not in written:
        raise FileError(f"cannot write '{path}': {_known(written, 'written')}")
    arguments = (overwrite,) if FORMATS[path.suffix].companion else ()
    try:
        written[path.suffix](mechanism, path, *arguments)
    except FileError:
        raise
    except OSError as problem:
        raise FileError(f"cannot write '{path}': {problem.strerror}") from None


def load_mechanism(
    path: Any,
    parameters: Mapping[str, Any] | None = None,
    *,
    strict: bool = False,
    packages: Sequence[str | Path] = (),
    repair: bool = False,
) -> Mechanism:
    """Read a mechanism from a file: data, or a script that defines ``build() -> Mechanism``, by its suffix.

    In place of a path there may be a model of MuJoCo's, an MjSpec or an MjModel, such as ``myo_sim.load_spec(name)``.
    ``parameters``: in place of those of a TOML file, as numbers or expressions, or arguments of ``build``. ``strict``:
    raise FileError where an imported file (URDF, SDF, MJCF, OSIM) has what is not understood, which otherwise
    `Mechanism.import_report` lists; a LeftOutWarning names the parts that the motion depends on. ``packages``: folders
    in which ``package://`` and ``model://`` of such files are looked for, before those of the environment variable
    ROS_PACKAGE_PATH. ``repair``: read imported files with defects that other programs pass over, and list the changes
    in ``import_report.repaired``: inertias that no body has become the nearest possible ones, moments of inertia of
    links without mass are left out, and so are a second <axis> and a <mimic> of a joint that is not there; XML may have
    "--" in comments, attributes without a blank in between and zero bytes at its end; axes of loops that are parallel
    or square but for the digits of the file become so. In MJCF attached models, meshes that MuJoCo makes, flexible
    bodies, older elements, welds with a turn and redundant slides are read as well (docs/formats.md). Without it all
    but the loops are errors, and loops are in ``import_report.inexact``.

    Raises FileError if it cannot be read, with file and line; MechanismError if it describes none; ArgumentError for
    parameters that the file does not have.
    """
    if is_model(path):
        from varint.files.formats.mjcf import of_model

        if parameters:
            raise ArgumentError("a model of MuJoCo's has no parameters: leave them out")
        mechanism = of_model(path, flag(repair, "repair", ArgumentError))
        mechanism = with_exact_loops(mechanism, "", repair)
        return _checked(mechanism, strict)
    path = Path(path_of(path))
    if path.suffix not in FORMATS:
        of_run = ", and varint.load reads the run" if path.suffix.lower() in SUFFIXES else ""
        raise FileError(f"cannot read '{path}': {_known(FORMATS, 'read')}{of_run}")
    mechanism = _loaded(path, parameters, import_options(packages, repair))
    if mechanism.import_report:
        mechanism = with_exact_loops(mechanism, str(path), repair)
    return _checked(mechanism, strict)


def _checked(mechanism: Mechanism, strict: bool) -> Mechanism:
    """Return a mechanism; raises FileError, or warns, if parts of its file were not understood."""
    if flag(strict, "strict", ArgumentError):
        mechanism.import_report.check()
    mechanism.import_report.warn_of_left_out()
    return mechanism


def _loaded(path: Path, parameters: Mapping[str, Any] | None, options: ImportOptions) -> Mechanism:
    format_ = FORMATS[path.suffix]
    arguments = format_.arguments(path, options)
    if not parameters:
        return format_.load(*arguments)
    of_type(parameters, Mapping, "parameters", ArgumentError)
    if format_.opened is None:
        raise ArgumentError(f"'{path}' has no parameters: files of {path.suffix} have none")
    with format_.opened(*arguments) as build:
        names = arguments_of(build)
        for name in parameters:
            if names is not None:
                known_name(name, names, f"'{path}' has no parameter", ArgumentError)
        return of_type(build(**parameters), Mechanism, f"what build() of '{path}' returns", FileError)


def parameters_in(
    path: str | Path,
    replaced: Mapping[str, Any] = MappingProxyType({}),
    repair: bool = False,
    packages: Sequence[str | Path] = (),
) -> list[FileParameter]:
    """Return the parameters of a mechanism file; values in ``replaced`` take the place of the file's.

    None of a script, whose ``build`` says so itself, and of formats that have no parameters. Raises as
    `load_mechanism`.
    """
    path = Path(path_of(path))
    format_ = FORMATS.get(path.suffix)
    return (
        []
        if format_ is None or format_.parameters is None
        else format_.parameters(path, import_options(packages, repair), replaced)
    )


def import_options(packages: Sequence[str | Path] = (), repair: bool = False) -> ImportOptions:
    """Return the options of an import; its folders are ``packages``, then the folders of the environment.

    Raises ArgumentError.
    """
    listed = sequence_of(packages, "packages", "folders", ArgumentError)
    folders = [Path(path_of(folder, "a folder of packages")) for folder in listed]
    folders += [Path(folder) for folder in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if folder]
    return ImportOptions(folders, flag(repair, "repair", ArgumentError))


def _known(suffixes: Iterable[str], done: str) -> str:
    return f"files of mechanisms that can be {done} end in {' or '.join(suffixes)}"
