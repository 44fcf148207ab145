"""Input of MuJoCo's compiler from an MJCF file: includes in place, names for all, nothing but data of motion.

The compiler opens no file: it gets the text, and the contents of meshes that lie in the folder of the file or in one
of those that are named.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from varint.base.checks import shown
from varint.base.errors import MechanismError
from varint.files.mjcf.expansion import bound_divisions, checked_flexcomp, shape_plugins
from varint.files.mjcf.repair import mend_model
from varint.files.mjcf.settings import WHOLE, is_colour, note_settings
from varint.files.robots.inertia_repair import nearest_inertia, repair_text
from varint.files.robots.written_shapes import numbers
from varint.files.robots.xml_files import XMLElement, read_xml
from varint.model.body import checked_inertia
from varint.model.import_report import REPAIR, ImportNotes
from varint.model.rotation_vectors import quat_from_matrix

MOST_BYTES = 200_000_000  # of all meshes
MOST_COPIES = 1000  # that <replicate> makes
MOST_FILES = 200  # that are included
UNREAD = "deformable bodies are not read"
BY_MUJOCO = "or give load_mechanism what MuJoCo makes of the file, mujoco.MjSpec.from_file(...)"
REFUSED = {
    "composite": f"write out its bodies, {BY_MUJOCO}",
    "deformable": UNREAD,
    "flex": UNREAD,
}
EXPANDED = {  # by MuJoCo's compiler, with repair
    "flexcomp": UNREAD,
    "attach": "write out its bodies, or <include> them",
    "model": "write out its bodies, or <include> them",
}
GROUPS = {"body": "body", "joint": "joint", "freejoint": "joint"}  # in bodies
SECTIONS = ("equality", "tendon", "actuator")
MATERIAL = "material"  # of geoms, and their attribute
NO_NUMBER = re.compile(r"(?<![\w.])[+-]?(nan|inf)(inity)?(?![\w.])", re.IGNORECASE)
DELAYS = {"delay", "nsample"}


class MJCFSource:
    """A file with all that it includes.

    text, assets, submodels : for the compiler, contents of meshes and of other models by their names there
    files : the path of each mesh by its name
    """

    def __init__(
        self,
        root: XMLElement,
        path: Path,
        packages: Sequence[Path],
        notes: ImportNotes,
        above: "MJCFSource | None" = None,
    ) -> None:
        self.root, self.notes = root, notes
        self.folder = path.resolve().parent
        self.models: dict[str, MJCFSource] = {}  # by their names here
        self.above: tuple[Path, ...] = (*(above.above if above is not None else ()), path.resolve())
        self.prefix: str = f"{above.prefix}model{len(above.models)} " if above is not None else ""  # of assets
        self.allowed = [self.folder, *(folder.resolve() for folder in packages)]
        self.assets: dict[str, bytes] = {}
        self.submodels: dict[str, bytes] = {}
        self.files: dict[str, Path] = {}
        self.missing: set[str] = set()
        self.named: dict[tuple[str, str], XMLElement] = {}  # by group and name
        self.given: set[str] = set()  # names of elements
        self.colours: dict[str, XMLElement] = {}  # materials that have a colour, by their names
        self.left_out: dict[str, list[XMLElement]] = {}
        self.included: int = above.included if above is not None else 0
        self.lines: list[str] = []
        whole = XMLElement(root.tag, root.attributes, root.line, root.path, list(self._flat(root, ())))
        self.by_geoms = any(of.attributes.get("inertiafromgeom") == "true" for of in whole.all("compiler"))
        mend_model(whole, self.by_geoms, notes)
        self.plugins = shape_plugins(whole, self.by_geoms) if notes.repair else set()
        self.stripped = any(of.attributes.get("strippath") == "true" for of in whole.all("compiler"))
        self.meshes = self._mesh_folders(whole)
        for element in [child for asset in whole.all("asset") for child in asset.children]:
            self._mesh(element)
            of = element.attributes
            if element.tag == MATERIAL and "name" in of and is_colour(of.get("rgba", "")):
                self.colours.setdefault(of["name"], element)
        self.balanced = any(of.attributes.get("balanceinertia") == "true" for of in whole.all("compiler"))
        self._write(whole, None, "", 1)
        if above is None:
            note_settings(whole, notes, self.colours)
        for tag, elements in self.left_out.items():
            why = f"{WHOLE.get(tag, WHOLE['contact'])}: left out, {len(elements)} in all"
            notes.approximated(f"<{tag}>, {why}", elements[0])
        self.text = "\n".join(self.lines)

    def at(self, group: str, name: str) -> XMLElement:
        """Return the element of a name; for a copy made by <replicate> the original."""
        while name and (group, name) not in self.named:
            name = name[:-1]
        return self.named.get((group, name), self.root)

    @property
    def joint_names(self) -> set[str]:
        """Return names of joints."""
        return {name for group, name in self.named if group == "joint"}

    # ------------------------------------------------------------------------------------------------ includes

    def _flat(self, element: XMLElement, above: tuple[Path, ...]) -> Iterator[XMLElement]:
        """Yield the children of an element, with the children of included files in place of each <include>."""
        for child in element.children:
            if child.tag == "include":
                path = self._included(child)
                self.included += 1
                if path in above or self.included > MOST_FILES:
                    raise child.error(f"<include> of '{path}', which is open already, or too many of them")
                self.notes.read(f"'{path.name}' is included", child)
                yield from self._flat(read_xml(path, self.notes), (*above, path))
            else:
                children = self._flat(child, above)
                self.given.add(child.attributes.get("name", ""))
                yield XMLElement(child.tag, dict(child.attributes), child.line, child.path, list(children))

    def _included(self, element: XMLElement) -> Path:
        name = element.need("file")
        file = self._found([element.path.resolve().parent / name, self.folder / name])
        if file is None:
            raise element.error(
                f"<include> of '{name}': there is no such file in the folder of this one or in a folder of packages=:"
                " name there the folder that it lies in, or one above"
            )
        return file

    def _found(self, candidates: list[Path]) -> Path | None:
        """Return the first path that is a file inside the folders that may be read, or None."""
        for path in candidates:
            try:
                inside = path.resolve()
                if inside.is_file() and any(inside.is_relative_to(folder) for folder in self.allowed):
                    return inside
            except (OSError, ValueError):  # a name too long, a zero byte
                continue
        return None

    # ------------------------------------------------------------------------------------------------- meshes

    def _mesh_folders(self, whole: XMLElement) -> list[Path]:
        """Return the folders that are searched for mesh files."""
        folders = [
            of.attributes[key]
            for of in whole.all("compiler")
            for key in ("meshdir", "assetdir")
            if key in of.attributes
        ]
        return [*(self.folder / name for name in reversed(folders)), self.folder]

    def _mesh(self, element: XMLElement) -> None:
        """Read the file of a <mesh>, which gets a name for the compiler."""
        file = element.attributes.get("file", "")
        if element.tag == "mesh" and any(id(plugin) not in self.plugins for plugin in element.all("plugin")):
            self.missing.add(element.attributes.get("name", ""))
        if element.tag != "mesh" or not file:
            return
        name = element.attributes.setdefault("name", Path(file).stem)
        if self.stripped:
            file = Path(file).name
        path = self._found([folder / file for folder in [*self.meshes, element.path.resolve().parent]])
        if path is None:
            self.missing.add(name)
            self.notes.approximated(f"the file of mesh '{name}' is not found: {file}", element)
            return
        content = path.read_bytes()
        if sum(map(len, self.assets.values())) + len(content) > MOST_BYTES:
            raise element.error(f"meshes of more than {MOST_BYTES // 1_000_000} MB are not read")
        asset = f"{self.prefix}mesh{len(self.assets)}{path.suffix.lower()}"
        self.assets[asset], self.files[name] = content, path
        element.attributes["file"] = asset

    # ------------------------------------------------------------------------------------------------- the text

    def _write(self, element: XMLElement, body: XMLElement | None, group: str, copies: int) -> None:
        """Append the lines of an element and its content.

        ``body``: its body; ``group``: its group of named parts, or "".
        """
        tag = element.tag
        if tag == "deformable" and all(child.tag == "skin" for child in element.children):
            self.left_out.setdefault("skin", []).extend(element.children)
            return
        if tag in REFUSED:
            raise self._unread(element, REFUSED[tag])
        if tag == "contact":
            self._write_excludes(element)
            return
        if tag == MATERIAL and self.colours.get(element.attributes.get("name", "")) is element:
            of = element.attributes
            self.lines.append(f"<material name={quoteattr(of['name'])} rgba={quoteattr(of['rgba'])}/>")
            if of.keys() == {"name", "rgba"}:
                return
        if tag in WHOLE and id(element) not in self.plugins:
            self.left_out.setdefault(tag, []).append(element)
            return
        if tag == "size" or self._without_mesh(element, body):
            return
        if tag in EXPANDED or (tag == "mesh" and "builtin" in element.attributes):
            self._expand(element, copies)
        if tag == "replicate":
            copies *= max(1, int(element.number("count")))
            if copies > MOST_COPIES:
                raise element.error(f"<replicate> makes {copies} copies, more than {MOST_COPIES}")
        if group:
            self._name(element, group, body)
        if tag == "inertial" and body is not None and self.notes.repair and not self.balanced:
            self._repair(element, body)
        for key, value in element.attributes.items():
            if NO_NUMBER.search(value) and key not in ("name", "class"):
                raise element.error(f"{key!r} of <{tag}> is no finite number: {shown(value)}")
        for key in DELAYS & element.attributes.keys():
            self.notes.left_out(f"{key} of <{tag}>", element)
        attributes = {key: value for key, value in element.attributes.items() if key not in DELAYS}
        if MATERIAL in attributes and (tag != "geom" or attributes[MATERIAL] not in self.colours):
            del attributes[MATERIAL]
        if tag == "compiler":
            for key in ("meshdir", "assetdir", "texturedir", "strippath"):
                attributes.pop(key, None)
        self.lines.append(f"<{tag}{''.join(f' {key}={quoteattr(value)}' for key, value in attributes.items())}>")
        if tag == "mujoco":
            self.lines.append('<compiler><lengthrange mode="none"/></compiler>')
        inside = element if tag in ("body", "worldbody") else body
        for child in element.children:
            of_child = GROUPS.get(child.tag, "") if inside is not None else tag if tag in SECTIONS else ""
            self._write(child, inside, of_child, copies)
        self.lines.append(f"</{tag}>")

    def _write_excludes(self, element: XMLElement) -> None:
        """Append the excludes of a <contact> between bodies of the file; its other elements are left out."""
        names = {"world", *self.given}
        for child in element.children:
            ends = [child.attributes.get(key, "") for key in ("body1", "body2")]
            if child.tag == "exclude" and names.issuperset(ends):
                bodies = "".join(f" body{k}={quoteattr(name)}" for k, name in enumerate(ends, 1))
                self.lines.append(f"<contact><exclude{bodies}/></contact>")
            else:
                self.left_out.setdefault(child.tag, []).append(child)

    def _unread(self, element: XMLElement, advice: str) -> MechanismError:
        name = element.attributes.get("name", "")
        subject = f"<{element.tag}>{f' {name!r}' if name else ''}"
        builtin = " with builtin=" if element.tag == "mesh" else ""
        return element.wrong(f"{subject}{builtin} is not read: {advice}")

    def _expand(self, element: XMLElement, copies: int) -> None:
        """Let MuJoCo's compiler expand an element. Raises MechanismError without repair, FileError."""
        tag, of = element.tag, element.attributes
        defect = self._unread(element, EXPANDED.get(tag, "give the file of a mesh"))
        name = of.get("name", "")
        if tag == "flexcomp":
            checked_flexcomp(element, copies)
            if not self.notes.repair:
                raise MechanismError(f"{defect}, or load the file with {REPAIR}")
            self._name(element, "flex", None)
            return  # what it becomes is noted later
        if tag == "mesh":
            bound_divisions(element)
            change = f"<mesh> '{name}' with builtin=: taken as MuJoCo's compiler makes it"
        elif tag == "model":
            change = f"<model> '{name or of.get('file', '')}': taken as MuJoCo's compiler expands it"
        else:
            change = f"<attach> of model '{of.get('model', '')}': taken as MuJoCo's compiler expands it"
        self.notes.mend(defect, change, element)
        if tag == "model":
            self._submodel(element)
        elif tag == "attach" and of.get("model") in self.models:
            for (group, part_name), part in self.models[of["model"]].named.items():
                self.named.setdefault((group, of.get("prefix", "") + part_name), part)

    def _submodel(self, element: XMLElement) -> None:
        """Read the file of a <model>, which the compiler gets by another name."""
        path = self._included(element)
        self.included += 1
        if path in self.above or self.included > MOST_FILES:
            raise element.error(f"<model> of '{path}', which is open already, or too many of them")
        root = read_xml(path, self.notes)
        if root.tag != "mujoco":
            raise root.error(f"<{root.tag}> is no model in MJCF")
        model = MJCFSource(root, path, self.allowed, self.notes, above=self)
        self.included = model.included
        if sum(map(len, [*self.assets.values(), *model.assets.values()])) > MOST_BYTES:
            raise element.error(f"meshes of more than {MOST_BYTES // 1_000_000} MB are not read")
        asset = f"{self.prefix}model{len(self.models)}.xml"
        self.assets |= model.assets
        self.submodels |= {**model.submodels, asset: model.text.encode()}
        self.files |= {name: file for name, file in model.files.items() if name not in self.files}
        self.models[element.attributes.get("name", "") or root.attributes.get("model", "")] = model
        element.attributes["file"] = asset

    def _repair(self, element: XMLElement, body: XMLElement) -> None:
        """Change the moments of an <inertial> that no body has, which the compiler refuses, to the nearest possible."""
        attributes = element.attributes
        if "fullinertia" in attributes:
            xx, yy, zz, xy, xz, yz = element.numbers("fullinertia", 6)
            inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        elif "diaginertia" in attributes:
            inertia = np.diag(element.numbers("diaginertia", 3))
        else:
            return
        mass = element.number("mass", 0.0)
        try:
            checked_inertia(inertia, _name_of(body))
            return
        except MechanismError:
            nearest = nearest_inertia(inertia, mass)
        if nearest is None or mass <= 0.0:
            return
        moments, axes = np.linalg.eigh(nearest)
        moments[2] = min(moments[2], moments[0] + moments[1])  # which the compiler takes to the last digit
        if "fullinertia" in attributes:
            del attributes["fullinertia"]
            attributes["quat"] = numbers(quat_from_matrix(axes * np.sign(np.linalg.det(axes))))
        else:
            moments = moments[np.argsort(np.argsort(np.diag(nearest)))]
        attributes["diaginertia"] = numbers(moments)
        label = f"body '{_name_of(body)}'"
        self.notes.repaired(repair_text(label, inertia, nearest, mass), element)

    def _name(self, element: XMLElement, group: str, body: XMLElement | None) -> None:
        """Name an element that has no name, and register it."""
        if not element.attributes.get("name", ""):
            wanted = f"joint of {_name_of(body)}" if group == "joint" and body else element.tag
            name, number = wanted, 1
            while (group, name) in self.named or name in self.given:
                number += 1
                name = f"{wanted} {number}"
            element.attributes["name"] = name
        self.named.setdefault((group, element.attributes["name"]), element)

    def _without_mesh(self, element: XMLElement, body: XMLElement | None) -> bool:
        """Return whether an element is a massless geom that cannot be compiled.

        Raises MechanismError if it carries mass.
        """
        attributes = element.attributes
        if element.tag == "mesh":
            return attributes.get("name", "") in self.missing
        if element.tag != "geom" or body is None:
            return False
        sdf = attributes.get("type") == "sdf"
        hfield = attributes.get("type") == "hfield" or "hfield" in attributes
        if not hfield and not sdf and attributes.get("mesh") not in self.missing:
            return False
        shape = f"shape '{attributes.get('mesh') or attributes.get('type', 'hfield')}' of '{_name_of(body)}'"
        if sdf and self.plugins and attributes.get("mesh") not in self.missing:
            change = f"{shape}, of an SDF: MuJoCo's compiler makes its mesh, for the mass; it touches nothing"
            self.notes.repaired(change, element)
            return False
        if body.tag == "body" and (self.by_geoms or not any(body.all("inertial"))) and not hfield:
            why = "its file is not found: give packages="
            if sdf:
                advice = "" if self.notes.repair else f", or load the file with {REPAIR}"
                why = f"plugins are not run: give it an <inertial>{advice}"
            raise element.wrong(f"{shape} gives the body its mass, and {why}")
        self.notes.approximated(f"{shape} is left out", element)
        return True


def _name_of(body: XMLElement) -> str:
    return body.attributes.get("name", body.tag)
