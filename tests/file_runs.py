"""Runs in files, in tests of what happens to files."""

import subprocess
import sys
from pathlib import Path

import varint as vi

DT = 0.01
NODES = ("t", "position", "quat_wxyz", "velocity", "angular_velocity")
ROOT = Path(__file__).parent.parent


def run(path, duration=1.0, **options):
    return vi.simulate(vi.mechanisms.double_pendulum(), duration, DT, output=path, **options)


def whole(duration, dt=DT, **options):
    return vi.simulate(vi.mechanisms.double_pendulum(), duration, dt, **options)


def same(one, other):
    return all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in NODES)


def in_process(code, *arguments, **options):
    code = "import sys, resource, varint as vi\n" + code
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, **options)
