"""Run files that were changed: their bytes, what is in them, and what is in them with the checksums made right again.

What loads must be what was written, unless its checksums were made right; whatever is in it, a run that goes on from it
ends well or in an error of varint's, and nothing but the file is read.
"""

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
from fuzz.kinds import Kind, register
from signed_files import signed

import varint as vi
from varint.files.own.mechanism_data import to_data
from varint.files.runs.reader import load_settings

DT = 0.01
SECRET = 1.2345678901234567e89  # in a file that nobody named
NASTY = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, -1e300, 5e-324, 2.0**63, 0.5, 99.0, -7.0]
TEXTS = ["", "{}", "[]", "null", "3", "[" * 5000, '{"t": 3}', "NaN", '"x"', "\x00", "é", "9" * 400]


def _loads(steps):
    load = np.zeros((steps + 1, 3))
    load[:, 0] = np.arange(steps + 1)
    return {"force": {"link 2": load}}


def _spring():
    pendulum = vi.mechanisms.double_pendulum()
    forces = [vi.JointServo("servo", joint="joint 1", target=0.3, stiffness=5.0, damping=0.5, integral=2.0)]
    return vi.Mechanism("servo", pendulum.bodies, pendulum.joints, forces=forces)


def _by_nodes(duration, dt, **to):
    """A loop by collocation, with a motor, a spring whose turns are counted, and a load."""
    linkage = vi.mechanisms.four_bar()
    joint = linkage.joints[0].name
    spring = vi.TorsionSpring("spring", joint=joint, stiffness=1.0, damping=0.1)
    forces = [vi.Motor("motor", joint=joint, effort=0.5), spring]
    driven = vi.Mechanism("driven", linkage.bodies, linkage.joints, forces=forces, start=linkage.start)
    problem = vi.Problem(driven, duration, force={linkage.bodies[1].name: (0.0, 0.0, 1.0)})
    return vi.simulate(problem, vi.Lobatto(dt), vi.Recording(**to))


RUNS: dict[str, Callable] = {
    "tree": lambda **to: vi.simulate(vi.mechanisms.double_pendulum(), **to),
    "loop": lambda **to: vi.simulate(vi.mechanisms.four_bar(), order=4, every=3, **to),
    "product": lambda **to: vi.simulate(vi.mechanisms.roller_coaster(), **to),
    "loads": lambda **to: vi.simulate(vi.mechanisms.double_pendulum(), **to, **_loads(round(to["duration"] / DT))),
    "collocation": _by_nodes,
    "servo": lambda **to: vi.simulate(_spring(), **to),
    "dop853": lambda **to: vi.redmax.simulate(vi.mechanisms.four_bar(), integrator="dop853", **to),
    "radau": lambda **to: vi.redmax.simulate(vi.mechanisms.spinning_top(), integrator="radau", **to),
    "bdf2": lambda **to: vi.redmax.simulate(vi.mechanisms.double_pendulum(), integrator="bdf2", **to),
}


class Original(NamedTuple):
    """A file before its change; ``left_open``: as a kill leaves it."""

    name: str
    content: bytes
    left_open: bool
    arrays: dict
    settings: dict
    mechanism: dict


@cache
def originals() -> list[Original]:
    """Every run, finished and stopped by a kill."""
    with tempfile.TemporaryDirectory() as folder:
        return _originals(Path(folder))


def _originals(folder: Path) -> list[Original]:
    found = []
    for name, run in RUNS.items():
        path = folder / "original.h5"
        seen: list[bytes] = []

        def look(done, total, path=path, seen=seen):
            seen.append(path.read_bytes())

        run(duration=0.4, dt=DT, output=path, progress=look)
        seen.append(path.read_bytes())
        for content, left_open in ((seen[0], True), (seen[-1], False)):
            path.write_bytes(content)
            run_ = vi.load(path)
            arrays = {key: np.array(run_.nodes[key]) for key in run_.nodes}
            found.append(Original(name, content, left_open, arrays, load_settings(path), to_data(run_.mechanism)))
        path.unlink()
    return found


class Case(NamedTuple):
    """A change by ``change`` of an original, repeatable by its own random numbers."""

    original: Original
    change: str
    signed: bool
    seed: list


OF_BYTES: dict[str, Callable] = {}
OF_FILES: dict[str, Callable] = {}


def change(registry: dict[str, Callable]) -> Callable:
    """Decorator: add a change to a registry under its name."""

    def add(function: Callable) -> Callable:
        registry[function.__name__] = function
        return function

    return add


# ------------------------------------------------------------------------------------------- changes of bytes


@change(OF_BYTES)
def cut_short(rng, content):
    return content[: int(rng.integers(len(content)))]


@change(OF_BYTES)
def bits_changed(rng, content):
    changed = bytearray(content)
    for place in rng.integers(len(content), size=int(rng.integers(1, 30))):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


@change(OF_BYTES)
def head_changed(rng, content):
    changed = bytearray(content)
    for place in rng.integers(2048, size=int(rng.integers(1, 4))):
        changed[place] = int(rng.integers(256))
    return bytes(changed)


@change(OF_BYTES)
def pages_lost(rng, content):
    first = 512 * int(rng.integers(len(content) // 512))
    size = 512 * int(rng.integers(1, 20))
    return content[:first] + bytes(min(size, len(content) - first)) + content[first + size :]


@change(OF_BYTES)
def pages_moved(rng, content):
    one, other = (512 * int(rng.integers(len(content) // 512)) for _ in range(2))
    changed = bytearray(content)
    changed[one : one + 512] = content[other : other + 512]
    return bytes(changed)


@change(OF_BYTES)
def something_behind(rng, content):
    return content + rng.bytes(int(rng.integers(1, 5000)))


# ------------------------------------------------------------------------------------------- changes of what is in it


def datasets(file):
    found = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    return found


def pick(rng, choices):
    return choices[int(rng.integers(len(choices)))]


@change(OF_FILES)
def numbers_changed(rng, file, secret):
    name = pick(rng, [name for name in datasets(file) if file[name].size and file[name].dtype.kind in "fibc"])
    item = file[name]
    values = np.array(item[()])
    flat = values.reshape(-1)
    with np.errstate(all="ignore"):
        for place in rng.integers(flat.size, size=int(rng.integers(1, 4))):
            flat[place] = np.float64(pick(rng, NASTY)).astype(values.dtype)
    item[...] = values


@change(OF_FILES)
def all_numbers_changed(rng, file, secret):
    name = pick(rng, [name for name in datasets(file) if file[name].size and file[name].dtype.kind in "fibc"])
    with np.errstate(all="ignore"):
        file[name][...] = np.full(file[name].shape, np.float64(pick(rng, NASTY)).astype(file[name].dtype))


@change(OF_FILES)
def part_deleted(rng, file, secret):
    del file[pick(rng, [*datasets(file), "checkpoint", "checkpoint/0", "checkpoint/1/state"])]


@change(OF_FILES)
def attribute_deleted(rng, file, secret):
    del file.attrs[pick(rng, list(file.attrs))]


@change(OF_FILES)
def part_renamed(rng, file, secret):
    names = datasets(file)
    one, other = pick(rng, names), pick(rng, names)
    if one != other:
        file.move(one, "other")
        file.move(other, one)
        file.move("other", other)


@change(OF_FILES)
def type_changed(rng, file, secret):
    name, kind = pick(rng, datasets(file)), pick(rng, ["f4", ">f8", "i8", "u8", "c16", "S8", "?", "f8", "O"])
    shape, chunks = file[name].shape, file[name].chunks
    del file[name]
    if kind == "O":
        file.create_dataset(name, shape, dtype=h5py.string_dtype())
    else:
        growing = {"maxshape": (None, *shape[1:]), "chunks": chunks} if chunks else {}
        file.create_dataset(name, shape, dtype=kind, **growing)


@change(OF_FILES)
def shape_changed(rng, file, secret):
    name = pick(rng, datasets(file))
    kind = file[name].dtype
    del file[name]
    shape = pick(rng, [(), (1,), (0,), (3, 3), (41, 2, 3), (1, 1, 1, 1), (7,)])
    file.create_dataset(name, shape, dtype=kind)


@change(OF_FILES)
def much_declared(rng, file, secret):
    name = pick(rng, datasets(file))
    kind, rows = file[name].dtype, int(pick(rng, [10**6, 3 * 10**7, 2**40]))
    if file[name].chunks and rng.random() < 0.7:
        file[name].resize(rows, axis=0)
        return
    shape = file[name].shape
    del file[name]
    packed = {"chunks": True, "compression": "gzip"} if rng.random() < 0.5 else {}
    file.create_dataset(name, (rows, *shape[1:]), dtype=kind, **packed)


@change(OF_FILES)
def counts_changed(rng, file, secret):
    rows = int(pick(rng, [0, -1, 1, 2, 10, 3 * 10**7, 2**62]))
    for turn in "01":
        file[f"checkpoint/{turn}/progress"][int(rng.integers(7))] = rows
    if rng.random() < 0.5:
        file["blocks"][-1, 0] = rows


@change(OF_FILES)
def linked_elsewhere(rng, file, secret):
    name = pick(rng, datasets(file))
    shape, kind = file[name].shape, file[name].dtype
    del file[name]
    how = pick(rng, ["external link", "soft link", "external storage", "virtual", "loop", "hard link"])
    if how == "external link":
        file[name] = h5py.ExternalLink(str(secret), "x")
    elif how == "soft link":
        file[name] = h5py.SoftLink("/" + pick(rng, datasets(file)))
    elif how == "hard link":
        file[name] = file[pick(rng, datasets(file))]
    elif how == "loop":
        file[name] = h5py.SoftLink("/" + name)
    elif how == "external storage" and shape and kind.kind == "f":
        file.create_dataset(name, shape, kind, external=[(str(secret), 0, h5py.h5f.UNLIMITED)])
    elif shape:
        layout = h5py.VirtualLayout(shape, kind)
        layout[...] = h5py.VirtualSource(str(secret), "x", shape)
        file.create_virtual_dataset(name, layout)


@change(OF_FILES)
def text_changed(rng, file, secret):
    name = pick(rng, [*file.attrs, "mechanism"])
    text = bytes(file[name][()]) if name == "mechanism" else bytes(file.attrs[name])
    how = rng.random()
    if how < 0.4:
        text = pick(rng, TEXTS).encode()
    elif how < 0.7:
        changed = bytearray(text)
        for place in rng.integers(len(text), size=int(rng.integers(1, 4))):
            changed[place] = ord(pick(rng, '0123456789.-eE,:"{}[] nN'))
        text = bytes(changed)
    else:
        try:
            data = json.loads(text)
        except ValueError:
            data = {}
        if isinstance(data, dict) and data:
            data[pick(rng, list(data))] = pick(rng, [None, 0, -1, 1e400, "x", [], {}, True, [1, 2], {"a": 1}, 10**400])
        text = json.dumps(data).encode()
    if name == "mechanism":
        del file[name]
        file[name] = np.bytes_(text)
    else:
        file.attrs[name] = np.bytes_(text)


@change(OF_FILES)
def attribute_of_another_type(rng, file, secret):
    name = pick(rng, list(file.attrs))
    file.attrs[name] = pick(rng, [3.0, "text of any length", np.arange(5), np.zeros((2000,)), np.bytes_(b"x" * 10)])


# ------------------------------------------------------------------------------------------- the kind


@register
class RunFiles(Kind):
    """See the module."""

    name, suffix, count, few = "hdf5", ".h5", 2_000, 12

    def prepare(self) -> None:
        originals()

    def case(self, rng, number, seed):
        known = originals()
        name = pick(rng, [*OF_BYTES, *OF_FILES, *OF_FILES])
        original = pick(rng, known if name in OF_BYTES else [one for one in known if not one.left_open])
        return Case(original, name, bool(rng.random() < 0.6) and name in OF_FILES, [seed, number, 1])

    def write(self, case, folder):
        (folder / "run.h5").write_bytes(changed(case, folder, folder / "secret.h5"))  # checksums of what is declared

    def check(self, case, folder):
        path, secret = folder / "run.h5", folder / "secret.h5"
        listing = sorted(other.name for other in folder.iterdir())
        told = None
        try:
            told = self._used(case, path)
        finally:
            left = sorted(other.name for other in folder.iterdir())
            path.unlink()
            secret.unlink(missing_ok=True)
        if left != listing:
            return f"left {left}"
        return told

    def _used(self, case, path):
        original = case.original
        loaded = vi.load(path)
        arrays = {name: np.array(loaded.nodes[name]) for name in loaded.nodes}
        if any((array == SECRET).any() for array in arrays.values() if array.dtype.kind == "f"):
            return "read another file"
        if not case.signed:
            told = difference(original, arrays, path, loaded)
            if told:
                return told
        np.isfinite(loaded.energy).all()
        np.isfinite(loaded.drift).all()
        repr(loaded)
        settings = load_settings(path)
        for duration in (original.settings["duration"], 0.5):
            try:
                RUNS[original.name](duration=duration, dt=DT, output=path, resume=True)
            except vi.VarintError:
                continue
            if not case.signed and settings != original.settings:
                return "settings changed"
        return None

    def describe(self, case):
        state = "stopped" if case.original.left_open else "finished"
        return f"{case.original.name} ({state}), {case.change}{', signed' if case.signed else ''}"

    def save(self, case, path):
        path.write_bytes(changed(case, path.parent, path.with_name("secret.h5")))


def changed(case: Case, folder: Path, secret: Path) -> bytes:
    """The content of the changed file."""
    rng = np.random.default_rng(case.seed)
    if case.change in OF_BYTES:
        return OF_BYTES[case.change](rng, case.original.content)
    path = folder / "under_change.h5"
    path.write_bytes(case.original.content)
    with h5py.File(secret, "w") as file:
        file["x"] = np.full(5000, SECRET)
    function = OF_FILES[case.change]
    try:
        if case.signed:
            signed(path, lambda file: function(rng, file, secret))
        else:
            with h5py.File(path, "r+") as file:
                function(rng, file, secret)
    except (OSError, LookupError, ValueError, TypeError, RuntimeError, AttributeError, ArithmeticError, MemoryError):
        pass  # HDF5 or its checksums cannot hold that; the file is as far as it came
    content = path.read_bytes()
    path.unlink()
    return content


def difference(original: Original, arrays: dict, path: Path, loaded) -> str | None:
    """By what a file that loads is another one than the original; of one left open, fewer nodes are none."""
    if set(arrays) != set(original.arrays):
        return f"holds {', '.join(arrays)}"
    for name, array in arrays.items():
        known = original.arrays[name]
        if original.left_open:
            known = known[: len(array)]
        if known.dtype != array.dtype or known.shape != array.shape or known.tobytes() != array.tobytes():
            return f"'{name}' changed"
    if load_settings(path) != original.settings:
        return "settings changed"
    if to_data(loaded.mechanism) != original.mechanism:
        return "mechanism changed"
    return None
