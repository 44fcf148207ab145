"""What the ensembles of the tests are made of, and what is compared of them."""

import os
import signal
import warnings
from pathlib import Path

import varint as vi

TIMES = {"duration": 0.1, "dt": 0.01}


def pendulum(angle=1.0, fault="", folder=""):
    """A double pendulum, or what goes wrong with it."""
    if folder:
        with open(Path(folder, "built"), "a") as file:
            file.write(f"{angle!r}\n")
    if fault == "raise":
        raise KeyError("no such thing")
    if fault == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "kill once" and not Path(folder, "killed").exists():
        Path(folder, "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "print":
        print("printed while it is built")
    return vi.mechanisms.double_pendulum(angle=angle)


def top(trajectory):
    return {"top": trajectory.position[:, -1, 2].max()}


def quiet(*arguments, **options):
    """An ensemble with members that fail on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vi.FailedMembersWarning)
        return vi.ensemble(*arguments, **TIMES, **options)


def figures(ensemble):
    """The table but for the time that it took, as texts: NaN is itself."""
    return {name: list(map(repr, values)) for name, values in ensemble.table.items() if name != "wall_time"}
