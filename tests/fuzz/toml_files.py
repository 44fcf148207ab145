"""Mechanism files in TOML that were changed: their lines, tokens and bytes.

What loads must come back from a file of its own to the same bits, or it ends in an error of varint's.
"""

import re
import tempfile
from functools import cache
from pathlib import Path

from fuzz.json_files import CATALOGUE, DEEP, OF_BYTES, Case, change, misspelt, pick
from fuzz.kinds import Kind, register

import varint as vi
from varint.files.own.mechanism_data import to_data

BY_HAND = """\
name = "arm"
gravity = [0, 0, "-g"]
include = "hand.toml"
[parameters]
g = 9.81
length = 0.4
twice = "2 * length ** 1 + sin(0)"
tip = "(length, 0, 0)"
ends = [[0, 0, 0], "tip"]
[bodies."upper arm"]
rod = {start = [0, 0, 0], end = "tip", radius = "length / 40"}
density = 2700
[joints.shoulder]
type = "Revolute"
body_a = "world"
body_b = "upper arm"
point = [0, 0, 0]
axis = [0, 1, 0]
[joints.'wrist']
type = "Composite"
body_a = "upper arm"
body_b = "hand"
point = "tip"
parts = [{type = "Revolute", axis = [0, "cos(0)", 0]}, {type = "Prismatic", axis = [1, 0, 0]}]
[forces.spring]
type = "MultiPointSpring"
bodies = ["world", "upper arm"]
points = [[0, 0, 1], "tip / 2"]
stiffness = "3 * g * length"
[forces.motor]
type = "Motor"
joint = "shoulder"
effort = "sqrt(twice)"
[start.rates]
shoulder = "pi / 2"
"""
HAND = '[parameters]\nlength = 0.1\n[bodies.hand]\nsphere = "twice"\nmass = 0.2\nposition = "tip + (0.1, 0, 0)"\n'
SIDECAR = """\
include = ["robot.urdf", "hand.toml"]
[closures.tip]
type = "Revolute"
body_a = "left_rod"
body_b = "right_rod"
point = "(0, 0, -0.4)"
axis = [0, 1, 0]
[joints.grip]
type = "Spherical"
body_a = "right_rod"
body_b = "hand"
point = "tip + (0, 0, -0.4)"
[parameters]
twice = 0.05
tip = [0, 0, 0]
[start.coordinates]
left_motor = 0.1
"""
ROBOT = Path(__file__).parent.parent.parent / "examples" / "robots" / "five_bar.urdf"
TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[A-Za-z_]+|-?[0-9][0-9.e+-]*|[\[\]{}=,]')
NUMBERS = ("nan", "-inf", "1e999", "9" * 5000, "0x10", "1_000", "-0.0", "1e-320", "true", "2026-01-01", '"9 ** 9 ** 9"')
TEXTS = (
    '""',
    '"1 + 1"',
    '"__import__"',
    '"a.b"',
    '"length"',
    '"ends"',
    '"../m.toml"',
    '"/etc/passwd"',
    "'''\n'''",
    '"\\ud800"',
)
OF_TEXT: dict = {}


@cache
def originals() -> dict[str, str]:
    """Name to the text of a file."""
    found = {"by hand": BY_HAND, "beside a robot": SIDECAR}
    with tempfile.TemporaryDirectory() as folder:
        for name in CATALOGUE:
            path = Path(folder) / "m.toml"
            vi.save_mechanism(getattr(vi.mechanisms, name)(), path)
            found[name] = path.read_text()
    return found


def token(rng, text, pattern=TOKEN):
    return pick(rng, list(pattern.finditer(text)))


@change(OF_TEXT)
def token_replaced(rng, text):
    found = token(rng, text)
    new = pick(rng, [token(rng, text).group(), pick(rng, NUMBERS), pick(rng, TEXTS), ""])
    return text[: found.start()] + new + text[found.end() :]


@change(OF_TEXT)
def word_misspelt(rng, text):
    found = token(rng, text, re.compile("[A-Za-z_]{2,}"))
    return text[: found.start()] + misspelt(rng, found.group()) + text[found.end() :]


@change(OF_TEXT)
def number_changed(rng, text):
    found = token(rng, text, re.compile(r"-?\b[0-9][0-9.]*"))
    return text[: found.start()] + pick(rng, NUMBERS) + text[found.end() :]


@change(OF_TEXT)
def lines_moved(rng, text):
    lines = text.splitlines(keepends=True)
    i, j = (int(k) for k in rng.integers(len(lines), size=2))
    what = pick(rng, ["swap", "repeat", "leave out"])
    if what == "swap":
        lines[i], lines[j] = lines[j], lines[i]
    elif what == "repeat":
        lines.insert(i, lines[j])
    else:
        del lines[i]
    return "".join(lines)


@change(OF_TEXT)
def nested_deep(rng, text):
    found, depth = token(rng, text), pick(rng, DEEP)
    left, right = pick(rng, [("[", "]"), ("{a = ", "}"), ('"(', ')"')])
    return text[: found.start()] + left * depth + "1" + right * depth + text[found.end() :]


@change(OF_TEXT)
def key_added(rng, text):
    line = pick(
        rng, ["gravty = 1", "include = 3", "[parameters]", "a.b.c = 1", "[[bodies]]", "[start]", "[x.y]", "'' = 1"]
    )
    lines = text.splitlines(keepends=True)
    lines.insert(int(rng.integers(len(lines) + 1)), line + "\n")
    return "".join(lines)


@register
class TomlFiles(Kind):
    """Files of mechanisms in TOML."""

    name = "toml"
    count = 10_000
    few = 200
    suffix = ".toml"

    def prepare(self):
        originals()

    def case(self, rng, number, seed):
        name, names = pick(rng, sorted(originals())), []
        text = originals()[name]
        for _ in range(int(rng.integers(1, 3))):
            names.append(pick(rng, sorted(OF_TEXT)))
            text = OF_TEXT[names[-1]](rng, text) if TOKEN.search(text) else text
        content = text.encode(errors="replace")
        if rng.random() < 0.3:
            names.append(pick(rng, sorted(OF_BYTES)))
            content = OF_BYTES[names[-1]](rng, content)
        return Case((name, *names), content)

    def check(self, case, folder):
        path = folder / "m.toml"
        path.write_bytes(case.content)
        (folder / "hand.toml").write_text(HAND)
        (folder / "robot.urdf").write_text(ROBOT.read_text())
        before = sorted(folder.iterdir())
        try:
            mechanism = vi.load_mechanism(path)
        finally:
            left = sorted(folder.iterdir())
        if left != before:
            return "wrote files"
        again = folder / "again.toml"
        vi.save_mechanism(mechanism, again)
        came_back = repr(to_data(vi.load_mechanism(again))) == repr(to_data(mechanism))
        again.unlink()
        return None if came_back else "came back another"

    def describe(self, case):
        return ", ".join(case.names)

    def save(self, case, path):
        path.write_bytes(case.content)
