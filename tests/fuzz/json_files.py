"""Mechanism files in JSON that were changed: their structure, their values, their text, their bytes.

What loads must be what the text says, key by key, and must then start and run, or end in an error of varint's.
"""

import copy
import json
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from force_samples import sample_mechanism, samples
from fuzz.kinds import Kind, register
from fuzz.text_and_mechanism import difference, read_by_itself
from random_mechanisms import random_body, random_joint

import varint as vi
from varint.files.own.file_format import with_present_types
from varint.files.own.mechanism_data import to_data
from varint.model.joints import REGISTRY

STEPS = 2
CATALOGUE = ("double_pendulum", "four_bar", "governor", "escapement", "stewart_platform", "cart_pole", "minitaur_leg")


class Raw(str):
    """Text that stands in the file as it is."""


class Pairs(list):
    """An object whose keys may repeat: (key, value)."""


class Case(NamedTuple):
    """``names``: of the file that was changed and of the changes."""

    names: tuple[str, ...]
    content: bytes


# ------------------------------------------------------------------------------------------- files to change


@cache
def originals() -> dict[str, dict]:
    """Name to the data of a mechanism: of the catalogue, with each force, with all joints."""
    rng = np.random.default_rng(7)
    found = {name: to_data(getattr(vi.mechanisms, name)()) for name in CATALOGUE}
    for name, forces in samples(rng).items():
        if not any(callable(value) for force in forces for value in vars(force).values()):
            found[name] = to_data(sample_mechanism(rng, forces))
    bodies = [random_body(rng, f"b{k}") for k in range(len(REGISTRY))]
    ends = ["world", *(body.name for body in bodies)]
    joints = [
        random_joint(rng, kind, f"joint {k}", ends[k], ends[k + 1], bodies[k].position + 0.1)
        for k, kind in enumerate(REGISTRY)
    ]
    start = {"velocity": {"b0": rng.standard_normal(3)}, "position": {"b1": bodies[1].position}}
    found["joints"] = to_data(vi.Mechanism("one of each", bodies, joints, start=start))
    found["shapes"] = with_shapes()
    return json.loads(json.dumps(found))


def with_shapes() -> dict:
    """Bodies that float, one of each shape, as they are written by hand."""
    corners = [[0, 0, 0], [0.4, 0, 0], [0, 0.3, 0], [0, 0, 0.2]]
    bodies: list[dict] = [
        {"name": "box", "box": [0.1, 0.2, 0.3], "mass": 2.0, "position": [0, 0, 1]},
        {"name": "cylinder", "cylinder": {"radius": 0.1, "length": 0.5}, "mass": 1.0, "quat_wxyz": [0.6, 0, 0.8, 0]},
        {"name": "capsule", "capsule": {"radius": 0.1, "length": 0.5}, "mass": 1.0, "position": [1, 0, 0]},
        {"name": "sphere", "sphere": 0.1, "mass": 0.5},
        {
            "name": "ellipsoid",
            "ellipsoid": {"semi_axes": [0.1, 0.2, 0.3]},
            "mass": 1,
            "quat_wxyz": [0.7071, 0.7071, 0, 0],
        },
        {"name": "rod", "rod": {"start": [0, 0, 0], "end": [0, 1, 0], "radius": 0.01}, "mass": 0.2},
        {
            "name": "mesh",
            "mesh": {"vertices": corners, "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]},
            "mass": 1.0,
            "position": [0, 1, 0],
        },
        {
            "name": "composite",
            "composite": [
                {"name": "core", "box": [0.1, 0.2, 0.3], "mass": 2.0},
                {"name": "pair", "composite": [{"name": "ball", "sphere": 0.1, "mass": 1.0}, [0.5, [0, 0, 1]]]},
                [0.25, [0, 1, 0]],
            ],
        },
    ]
    joints = [
        {"type": "Free", "name": f"joint {k}", "body_a": "world", "body_b": b["name"]} for k, b in enumerate(bodies)
    ]
    return {"$schema": "mechanism.schema.json", "name": "shapes", "bodies": bodies, "joints": joints}


ONLY = {"box": "size", "sphere": "radius", "ellipsoid": "semi_axes", "composite": "parts"}  # arguments of their shapes
SHAPES = (*ONLY, "cylinder", "capsule", "rod", "mesh")


def by_inertia(entry: dict) -> dict:
    """A body as files say it, with mass and inertia in place of a shape."""
    shapes = [key for key in entry if key in SHAPES]
    return to_data(_floating(_shaped(entry)))["bodies"][0] if shapes else entry


def _shaped(entry: dict) -> vi.Body:
    (shape,) = [key for key in entry if key in SHAPES] or [None]
    if shape is None:
        return vi.Body(**entry)
    value = entry[shape]
    sizes = dict(value) if isinstance(value, dict) else {ONLY[shape]: value}
    if shape == "composite":
        sizes["parts"] = [_shaped(part) if isinstance(part, dict) else part for part in sizes["parts"]]
    return getattr(vi.Body, shape)(**{key: value for key, value in entry.items() if key != shape}, **sizes)


def _floating(body: vi.Body) -> vi.Mechanism:
    return vi.Mechanism("one", [body], [vi.Free("free", "world", body.name)])


def written(data: Any) -> str:
    """The JSON of data with `Raw` and `Pairs` in it."""
    if isinstance(data, Raw):
        return str(data)
    if isinstance(data, Pairs):
        return "{" + ",\n".join(f"{json.dumps(key)}: {written(value)}" for key, value in data) + "}"
    if isinstance(data, dict):
        return written(Pairs(data.items()))
    if isinstance(data, list):
        return "[" + ", ".join(map(written, data)) + "]"
    return json.dumps(data)


def places(data: Any, path: tuple = ()) -> Iterator[tuple]:
    """Paths to all that the data holds."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def at(data: Any, path: tuple) -> Any:
    for key in path:
        data = data[key]
    return data


# ----------------------------------------------------------------------------------------------- changes

WRONG = (
    None, True, False, "", "1.0", "world", "nosuch", "none", 0, 1, -1, 2, 0.5, -0.5, 1.0, 2**31, 2**63,
    -(2**63), 10**18, 1e-320, 1e-200, 1e16, 1e100, 1e200, 1e300, 1.7e308, -1e308, [], {}, [[]], [None], [1, 2],
    [1, 2, 3], [0, 0, 0], [1e200, 0, 0], [1e-300, 0, 0], [True, False, True], ["1", "0", "0"],
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]], {"a": 1}, {"name": "x"}, {"world": [0, 0, 0]}, "é", "\ud800", "a\nb",
    "x" * 3000, Raw("NaN"), Raw("Infinity"), Raw("-Infinity"), Raw("1e999"), Raw("9" * 400), Raw("9" * 5000),
    Raw("1" + "0" * 320 + ".5"), Raw("-0"), Raw("01"), Raw("1."),
)  # fmt: skip
DEEP = (5, 70, 900, 3000, 100_000)

Change = Callable[[np.random.Generator, Any], Any]
OF_DATA: dict[str, Change] = {}
OF_BYTES: dict[str, Change] = {}


def change(registry: dict[str, Change]) -> Callable[[Change], Change]:
    def add(function: Change) -> Change:
        registry[function.__name__] = function
        return function

    return add


def pick(rng, items):
    items = list(items)
    return items[int(rng.integers(len(items)))]


def somewhere(rng, data, kinds: type | tuple = object) -> tuple | None:
    """A path, near the top as likely as deep down, to something of these kinds."""
    found = [path for path in places(data) if isinstance(at(data, path), kinds)]
    if not found:
        return None
    depth = pick(rng, sorted({len(path) for path in found}))
    return pick(rng, [path for path in found if len(path) == depth])


def misspelt(rng, name: str) -> str:
    if len(name) < 2:
        return name + "x"
    k = int(rng.integers(len(name) - 1))
    return pick(
        rng, [name[:k] + name[k + 1 :], name[:k] + name[k + 1] + name[k] + name[k + 2 :], name + "s", name.upper()]
    )


def renamed(data: dict, old: str, new: str) -> None:
    pairs = [(new if key == old else key, value) for key, value in data.items()]
    data.clear()
    data.update(pairs)


@change(OF_DATA)
def wrong_value(rng, data):
    path = somewhere(rng, data)
    at(data, path[:-1])[path[-1]] = copy.deepcopy(pick(rng, WRONG))
    return data


@change(OF_DATA)
def wrong_number(rng, data):
    path = somewhere(rng, data, (int, float))
    if path:
        value = at(data, path)
        numbers = (
            -value,
            0.0,
            value * 1e3,
            1e200,
            -1e250,
            str(value),
            [value],
            bool(value),
            None,
            Raw("NaN"),
            value + 1,
        )
        at(data, path[:-1])[path[-1]] = pick(rng, numbers)
    return data


@change(OF_DATA)
def wrong_name(rng, data):
    """A name in place of another one, known, misspelt or none."""
    path = somewhere(rng, data, str)
    if path:
        other = somewhere(rng, data, str)
        value = at(data, path)
        names = (at(data, other), misspelt(rng, value), "", 3, None, [value], {value: value}, "world", True)
        at(data, path[:-1])[path[-1]] = pick(rng, names)
    return data


@change(OF_DATA)
def left_out(rng, data):
    path = somewhere(rng, data)
    del at(data, path[:-1])[path[-1]]
    return data


@change(OF_DATA)
def key_misspelt(rng, data):
    inside = [()] + [path for path in places(data) if isinstance(at(data, path), dict) and at(data, path)]
    inside = at(data, pick(rng, inside))
    key = pick(rng, inside)
    renamed(inside, key, misspelt(rng, key))
    return data


@change(OF_DATA)
def key_added(rng, data):
    inside = at(data, pick(rng, [()] + [path for path in places(data) if isinstance(at(data, path), dict)]))
    known = ("gravty", "colour", "type", "name", "mass", "point", "lower", "gravity", "label", "__class__", "")
    inside[pick(rng, known)] = copy.deepcopy(pick(rng, WRONG))
    return data


@change(OF_DATA)
def keys_swapped(rng, data):
    inside = [at(data, p) for p in [(), *places(data)] if isinstance(at(data, p), dict) and len(at(data, p)) > 1]
    if not inside:
        return data
    inside = pick(rng, inside)
    one, other = (str(key) for key in rng.choice(list(inside), 2, replace=False))
    inside[one], inside[other] = inside[other], inside[one]
    return data


@change(OF_DATA)
def element_repeated(rng, data):
    path = somewhere(rng, data, list)
    inside = at(data, path) if path else []
    if inside:
        inside.insert(int(rng.integers(len(inside) + 1)), copy.deepcopy(pick(rng, inside)))
    return data


@change(OF_DATA)
def elements_swapped(rng, data):
    path = somewhere(rng, data, list)
    inside = at(data, path) if path else []
    if len(inside) > 1:
        i, j = rng.choice(len(inside), 2, replace=False)
        inside[i], inside[j] = inside[j], inside[i]
    return data


@change(OF_DATA)
def part_of_elsewhere(rng, data):
    path, other = somewhere(rng, data), somewhere(rng, data)
    value = copy.deepcopy(at(data, other))
    at(data, path[:-1])[path[-1]] = value
    return data


@change(OF_DATA)
def nested_deep(rng, data):
    path, depth = somewhere(rng, data), pick(rng, DEEP)
    value = written(at(data, path))
    shape = pick(rng, ["list", "object"])
    nested = "[" * depth + value + "]" * depth if shape == "list" else '{"a":' * depth + value + "}" * depth
    at(data, path[:-1])[path[-1]] = Raw(nested)
    return data


@change(OF_DATA)
def key_twice(rng, data):
    path = pick(rng, [()] + [path for path in places(data) if isinstance(at(data, path), dict) and at(data, path)])
    inside = at(data, path)
    key = pick(rng, inside)
    pairs = Pairs(inside.items())
    pairs.insert(int(rng.integers(len(pairs) + 1)), (key, copy.deepcopy(pick(rng, [inside[key], *WRONG]))))
    if not path:
        return pairs
    at(data, path[:-1])[path[-1]] = pairs
    return data


@change(OF_DATA)
def only_a_part(rng, data):
    return copy.deepcopy(at(data, somewhere(rng, data)))


@change(OF_BYTES)
def cut_short(rng, content):
    return content[: int(rng.integers(len(content) + 1))]


@change(OF_BYTES)
def bytes_changed(rng, content):
    content = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        if content:
            k = int(rng.integers(len(content)))
            content[k] = int(rng.integers(256)) if rng.random() < 0.5 else ord(pick(rng, ',:"{}[]0123456789.e-+ \\'))
    return bytes(content)


@change(OF_BYTES)
def bytes_left_out(rng, content):
    k, n = int(rng.integers(len(content) + 1)), int(rng.integers(1, 40))
    return content[:k] + content[k + n :]


@change(OF_BYTES)
def bytes_put_in(rng, content):
    k = int(rng.integers(len(content) + 1))
    more = pick(rng, [b"\x00", b"\xff\xfe", b"// why\n", b"\xef\xbb\xbf", b",", b"NaN", b"}", rng.bytes(9), b"\xe9"])
    return content[:k] + more + content[k:]


@change(OF_BYTES)
def another_encoding(rng, content):
    text = content.decode(errors="replace").replace("b", "é", int(rng.integers(3)))
    encoding = pick(rng, ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "cp037", "utf-7"])
    return text.encode(encoding, errors="replace")


@change(OF_BYTES)
def something_behind(rng, content):
    return content + pick(rng, [b"\n\n", b"x", b"{}", content, b"\x00", b"]"])


@register
class JsonFiles(Kind):
    """Changed JSON files."""

    name, suffix, count, few = "json", ".json", 10_000, 300

    def prepare(self) -> None:
        """Compiles what the files need, as they are before their changes."""
        for name, data in originals().items():
            found = self.check(Case((name,), written(data).encode()), Path())
            assert found is None, f"{name}: {found}"

    def case(self, rng: np.random.Generator, number: int, seed: int) -> Case:
        name = pick(rng, originals())
        data, names = copy.deepcopy(originals()[name]), [name]
        for _ in range(int(rng.integers(0, 4))):
            if not isinstance(data, dict) or not data:
                break
            way = pick(rng, OF_DATA)
            if any(isinstance(part, Raw | Pairs) for part in _parts(data)):
                break
            data = OF_DATA[way](rng, data)
            names.append(way)
        content = written(data).encode(errors="surrogatepass")
        if len(names) == 1 or rng.random() < 0.15:
            way = pick(rng, OF_BYTES)
            content = OF_BYTES[way](rng, content)
            names.append(way)
        return Case(tuple(names), content)

    def check(self, case: Case, folder: Path) -> str | None:
        path = folder / "mechanism.json"
        path.write_bytes(case.content)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            mechanism = vi.load_mechanism(path)
        try:
            said = read_by_itself(case.content)
        except ValueError as problem:
            return f"loads, although {problem}"
        said.pop("$schema", None)
        said["bodies"] = [by_inertia(body) for body in said["bodies"]]
        if any(each.category is vi.FormatWarning for each in told):  # it names the types that it reads as others
            with warnings.catch_warnings(action="ignore"):
                said["joints"] = with_present_types(said["joints"], "the file")
        if found := difference(said, json.loads(json.dumps(to_data(mechanism)))):
            return found
        state = mechanism.state()
        if not any((force.solved_for or force.restricted) for force in mechanism.forces):
            vi.simulate(mechanism, STEPS * 1e-3, 1e-3, state=state)
        return None

    def describe(self, case: Case) -> str:
        return f"{', '.join(case.names)}: {len(case.content)} bytes"

    def save(self, case: Case, path: Path) -> None:
        path.write_bytes(case.content)


def _parts(data: Any) -> Iterator[Any]:
    for path in places(data):
        yield at(data, path)
