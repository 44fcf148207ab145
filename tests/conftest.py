"""Shared fixtures, and kernels that are compiled before the first test."""

import contextlib
import gc
import signal
import sys
import tempfile
import warnings
import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from compiled_first import ROWS
from force_samples import RESTRICTED
from holonomic import FLEXIBLE, MUSCLES, ROLLING, TOUCHING

from varint.base.numba import is_compiled
from varint.base.numba.cache import WantedCode
from varint.step.step import run

SOME = 3  # slow cases of a test of many cases are run in continuous integration; the others are long
FEW = 3  # cases of each test that are among the fast ones; the others are slow
USUAL = ("double_pendulum", "four_bar", "Revolute", "Spherical", "Spring", "Gear", "2", "bdf2")  # cases that go first
RARE = {*TOUCHING, *ROLLING, *FLEXIBLE, *MUSCLES, *RESTRICTED}  # that go last: they compile what no others need

sys.dont_write_bytecode = False  # the assertions of all tests are rewritten in 15 s, which .pyc files save
gc.disable()  # until the tests are collected: thousands of items and functions, of which none goes


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so in the background; some tests interrupt runs
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Give the workers a folder in which each claims what it compiles, if that is not done yet."""
    config = node.config
    if not hasattr(config, "claims"):
        config.claims = None if is_compiled(run) else tempfile.TemporaryDirectory()
        config.add_cleanup(lambda: config.claims and config.claims.cleanup())
    node.workerinput["claims"] = config.claims and config.claims.name


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """A worker compiles its share of what the tests need, in this process: what it has typed once serves all that it
    compiles later. It goes through a row of its own, then takes what is left of the others. Before it imports the
    tests, as some of them place bodies there."""
    given = getattr(session.config, "workerinput", {})
    if not given.get("claims"):
        return
    number = int(given["workerid"].removeprefix("gw"))
    rows = [list(row) for row in ROWS]
    own = rows.pop(number % len(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for compiling in (own if number < len(ROWS) else own[::-1]) + [each for row in rows for each in row[::-1]]:
            with contextlib.suppress(FileExistsError):
                Path(given["claims"], compiling.__name__).touch(exist_ok=False)
                _compile(compiling)


def _compile(compiling):
    """Compile what a kind of runs needs. What fails, fails in the tests too."""
    WantedCode.ahead, usual = False, WantedCode.ahead  # no third process beside two workers
    with contextlib.suppress(Exception):
        compiling()
    WantedCode.ahead = usual


def pytest_collection_finish():
    """What is collected stays: it is not looked through for garbage again and again; what tests make, seldom."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    fast, many = defaultdict(list), defaultdict(list)  # cases by test
    for item in items:
        if not item.get_closest_marker("slow"):
            fast[item.nodeid.partition("[")[0]].append(item)
    for cases in fast.values():
        if len(cases) > FEW:
            for item in set(cases) - set(_representative(cases)):
                item.add_marker("slow")
    for item in items:
        if item.get_closest_marker("many") and item.get_closest_marker("slow"):
            many[item.nodeid.partition("[")[0]].append(item)
    for cases in many.values():
        for item in sorted(cases, key=_number)[SOME:]:
            item.add_marker("long")


def _representative(cases):
    """`FEW` of the cases of a test: each has as many values of its parameters as possible that none before it has."""
    values = {item: set(item.nodeid.partition("[")[2].removesuffix("]").split("-")) for item in cases}
    often = [item for item in cases if not values[item] & RARE]
    waiting = often if len(often) >= FEW else cases
    waiting = sorted(waiting, key=lambda item: (-len(values[item].intersection(USUAL)), _number(item)))
    chosen, seen = [], set()
    for _ in range(FEW):
        item = max(waiting, key=lambda item: len(values[item] - seen))
        waiting.remove(item)
        chosen.append(item)
        seen |= values[item]
    return chosen


def _number(item):
    """A number that seems random, the same at every run."""
    return zlib.crc32(item.nodeid.encode())


@pytest.fixture
def rng(request):
    """A generator of its own for each test, the same at every run."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture
def written(tmp_path):
    """Writes a text to a file of its own and returns the path."""

    def write(text, name="m.xml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def jax():
    """JAX, in double precision."""
    jax = pytest.importorskip("jax", reason="needs varint-dynamics[jax]")
    with jax.enable_x64(True):
        yield jax


@pytest.fixture
def torch():
    """PyTorch."""
    return pytest.importorskip("torch", reason="needs varint-dynamics[torch]")
