"""Robots in URDF with their companions, of which one or both were changed, swapped or left out.

What loads comes back from JSON to the same bits, and loading changes no file. A save over the two then either replaces
both, and they load as what was saved, or is refused and leaves both; a TOML file that is not the companion stays.
"""

import hashlib
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fuzz.json_files import OF_BYTES, pick
from fuzz.kinds import Kind, register
from fuzz.toml_files import OF_TEXT, TOKEN
from fuzz.xml_files import OF_XML, OFTEN

import varint as vi
from varint.files.own.mechanism_data import to_data

CATALOGUE = ("four_bar", "minitaur_leg", "double_pendulum", "cart_pole")
MARKER = "m.urdf.saving"  # left by a save that was killed
MARK = b'# Companion of "m.urdf": '


class Pair(NamedTuple):
    """``marker``: content of the marker of a save, or None; ``mixed``: whether it was killed between the two files."""

    names: tuple[str, ...]
    robot: bytes | None
    companion: bytes | None
    marker: bytes | None = None
    mixed: bool = False


@cache
def originals() -> dict[str, tuple[str, str]]:
    """Name to the texts of a robot and its companion, each as m.urdf and m.toml."""
    pairs = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.urdf"
        for name in CATALOGUE:
            vi.save_mechanism(_saved(name), path)
            pairs[name] = path.read_text(), path.with_suffix(".toml").read_text()
    return pairs


@cache
def _saved(name: str) -> vi.Mechanism:
    """A mechanism with a motor, which URDF does not hold, and a start."""
    made = getattr(vi.mechanisms, name)()
    hinge = next(joint for joint in made.joints if isinstance(joint, vi.Revolute))
    forces = [*made.forces, vi.Motor("added motor", joint=hinge.name, effort=0.5)]
    return vi.Mechanism(made.name, made.bodies, made.joints, forces=forces, start=made.start)


@cache
def _small() -> vi.Mechanism:
    return vi.mechanisms.double_pendulum()


def _changed_text(rng, text: str, changes: dict, often: tuple = ()) -> tuple[list[str], bytes]:
    names = []
    for _ in range(int(rng.integers(1, 3))):
        names.append(pick(rng, often if often and rng.random() < 0.8 else sorted(changes)))
        text = changes[names[-1]](rng, text) if TOKEN.search(text) else text
    content = text.encode(errors="replace")
    if rng.random() < 0.15:
        names.append(pick(rng, sorted(OF_BYTES)))
        content = OF_BYTES[names[-1]](rng, content)
    return names, content


def _interrupted(rng, name: str) -> tuple[bytes, bytes, bytes, bool]:
    """Marker, robot and companion of a save of mechanism ``name`` over another one that was killed, and if in between.

    The marker may be cut short or changed: what it says then is unknown, and any answer is fine.
    """
    new = [text.encode() for text in originals()[name]]
    old = [text.encode() for text in originals()[pick(rng, [other for other in CATALOGUE if other != name])]]
    marker = "".join(f"{hashlib.sha256(content).hexdigest()}\n" for content in new).encode()
    chosen = pick(rng, [(0, 0), (1, 0), (0, 1), (1, 1)])
    robot, companion = ((old, new)[which][k] for k, which in enumerate(chosen))
    if rng.random() < 0.3:
        return pick(rng, list(OF_BYTES.values()))(rng, marker), robot, companion, False
    return marker, robot, companion, chosen[0] != chosen[1]


@register
class CompanionFiles(Kind):
    """Robots with their companions."""

    name = "companion"
    count = 10_000
    few = 100
    suffix = ".txt"

    def prepare(self):
        originals()

    def case(self, rng, number, seed):
        name = pick(rng, CATALOGUE)
        texts, names = originals()[name], [name]
        robot, companion = (text.encode() for text in texts)
        what = pick(rng, ["robot", "companion", "companion", "both", "swapped", "left out", "interrupted"])
        if what in ("robot", "both"):
            more, robot = _changed_text(rng, texts[0], OF_XML, OFTEN)
            names += more
        if what in ("companion", "both"):
            more, companion = _changed_text(rng, texts[1], OF_TEXT)
            names += more
        if what == "swapped":
            other = pick(rng, CATALOGUE)
            names += ["companion of", other]
            companion = originals()[other][1].encode()
        marker, mixed = None, False
        if what == "interrupted":
            marker, robot, companion, mixed = _interrupted(rng, name)
        if what == "left out":
            robot, companion = pick(rng, [(robot, None), (None, companion)])
        return Pair((what, *names), robot, companion, marker, mixed)

    def check(self, case, folder):
        paths = {name: folder / name for name in ("m.urdf", "m.toml", MARKER)}
        contents = {"m.urdf": case.robot, "m.toml": case.companion, MARKER: case.marker}
        try:
            for name, content in contents.items():
                if content is not None:
                    paths[name].write_bytes(content)
            return _loaded(paths, folder, case.mixed) or _saved_over(paths, folder)
        finally:
            for path in paths.values():
                path.unlink(missing_ok=True)

    def describe(self, case):
        return ", ".join(case.names)

    def save(self, case, path):
        path.write_text(self.describe(case))
        for suffix, content in ((".urdf", case.robot), (".toml", case.companion)):
            if content is not None:
                path.with_suffix(suffix).write_bytes(content)


def _there(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def _loaded(paths: dict[str, Path], folder: Path, mixed: bool) -> str | None:
    """What is wrong with loading the companion, and the robot; ``mixed``: both must be refused."""
    before, again = _there(folder), folder / "again.json"
    for name in ("m.toml", "m.urdf"):
        try:
            mechanism = vi.load_mechanism(paths[name])
            if mixed:
                return f"{name} loads although its save was interrupted"
            vi.save_mechanism(mechanism, again)
            if repr(to_data(vi.load_mechanism(again))) != repr(to_data(mechanism)):
                return f"{name} came back another"
        except vi.VarintError:
            continue
        finally:
            again.unlink(missing_ok=True)
            if _there(folder) != before:
                raise AssertionError(f"loading {name} changed files")
    return None


def _saved_over(paths: dict[str, Path], folder: Path) -> str | None:
    """What is wrong with saves of other mechanisms over the files."""
    for mechanism in (_saved("double_pendulum"), _small()):
        before = _there(folder)
        try:
            vi.save_mechanism(mechanism, paths["m.urdf"])
        except vi.VarintError:
            if _there(folder) != before:
                return "a save that was refused changed files"
            continue
        old = before.get("m.toml")
        now = _there(folder)
        if old is not None and not old.removeprefix(b"\xef\xbb\xbf").startswith(MARK) and now.get("m.toml") != old:
            return "a TOML file that is not the companion was replaced"
        if MARKER in now:
            return "a save left its marker"
        forces = bool(mechanism.forces)
        read = vi.load_mechanism(paths["m.toml" if forces else "m.urdf"])
        if [force.name for force in read.forces] != [force.name for force in mechanism.forces]:
            return "the files do not load as what was saved"
    return None
