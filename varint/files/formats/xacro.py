"""Macros of ROS that make URDF: expanded by the package xacro, in a process of its own, where it is installed."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

from varint.base.errors import FileError
from varint.files.formats.base import Format, register
from varint.files.robots.packages import ImportOptions
from varint.files.robots.xml_files import MOST_BYTES, load_content, read_bytes
from varint.mechanism.mechanism import Mechanism

MACROS = (b"<xacro:", b"${", b"$(")
LONGEST = 60.0  # s, that macros may take
EXPAND = """import json, sys
sys.path[:] = json.loads(sys.argv.pop(1))
import xacro
sys.stdout.buffer.write(xacro.process_file(sys.argv[1]).toxml("utf-8"))"""


def load(path: Path, options: ImportOptions) -> Mechanism:
    """Return the mechanism in a file, macros expanded. Raises FileError, also if xacro is missing."""
    content = read_bytes(path)
    if any(mark in content for mark in MACROS):
        if importlib.util.find_spec("xacro") is None:
            raise FileError(
                f"'{path}' has macros, which the package xacro expands: install it (pip install xacro), or load what"
                f" `xacro {path.name} > robot.urdf` writes"
            )
        content = _expanded(path)
    return load_content(content, path, options)


def _expanded(path: Path) -> bytes:
    """Return the XML that xacro makes of a file. Raises FileError."""
    safe = [folder for folder in sys.path if folder]
    command = [sys.executable, "-P", "-c", EXPAND, json.dumps(safe), str(path.resolve())]
    try:
        run = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        raise FileError(f"'{path}': its macros take xacro more than {LONGEST:g} s") from None
    if run.returncode:
        said = run.stderr.decode("utf-8", "replace").strip().splitlines() or [f"it ended with {run.returncode}"]
        raise FileError(f"'{path}': xacro cannot expand its macros: {said[-1][:200]}")
    if len(run.stdout) > MOST_BYTES:
        raise FileError(
            f"'{path}': xacro makes more than {MOST_BYTES // 1_000_000} MB of it: too large for a mechanism"
        )
    return run.stdout


register(Format(".xacro", "robots of ROS with macros", load, imports=True))
