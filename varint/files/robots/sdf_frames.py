"""The frames of SDF: worlds and models in one another, what is included, and where each frame of a name is."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from varint.base.checks import known_name, shown
from varint.base.errors import MechanismError
from varint.files.robots.packages import SCHEMES, found_file
from varint.files.robots.robot import Pose, pose_of, still
from varint.files.robots.xml_files import XMLElement, read_xml, unknown
from varint.model.body import WORLD
from varint.model.import_report import ImportNotes
from varint.model.rotation_vectors import rotation_matrix

MODEL_FRAME = "__model__"
MOST_INCLUDED = 200  # files
CONFIG = "model.config"
DRAKE_JOINT = "drake:joint"
CHILD = {"joint": "child", DRAKE_JOINT: "drake:child"}  # elements that name the child of a joint


class Scope:
    """A model, or the world of a file: what has a name in it, and where that is.

    name : of the model in its surroundings; "" of the outermost
    path : of names from the outermost on, with "::" behind each
    pose : the <pose> that places it, its own or that of what includes it
    links, joints, frames, models : by name
    ground : a link called "world", which is taken for the world
    """

    def __init__(self, at: XMLElement, name: str, outer: "Scope | None", include: XMLElement | None = None) -> None:
        self.at, self.name, self.outer = at, name, outer
        self.path: str = f"{outer.path}{name}::" if outer is not None and name else ""
        self.by = include if include is not None else at
        says = self.by if self.by.one("static") is not None else at  # that of an <include> counts
        self.static: bool = _is_true(says, "static") or (outer is not None and outer.static)
        pose = self.by.one("pose")
        self.pose = pose if pose is not None else at.one("pose")
        self.links = self.at.named("link")
        self.ground = self.links.pop(WORLD, None)
        self.joints = self.at.named(*CHILD)
        self.frames = self.at.named("frame")
        self.models: dict[str, Scope] = {}
        self.open: list[str] = []  # frames that are being placed
        self.placed: dict[str, Pose] = {}

    def add(self, model: "Scope") -> None:
        """Put a model into this."""
        if model.name in self.models:
            raise model.by.error(f"a model '{model.name}' is there already: names must be unique")
        self.models[model.name] = model

    def all(self) -> Iterator["Scope"]:
        """Yield this scope and the models in it."""
        yield self
        for model in self.models.values():
            yield from model.all()

    # ---------------------------------------------------------------------------------------------------- places

    def place(self) -> Pose:
        """Return the pose of its frame, in the world."""
        if self.outer is None:
            return still()
        return self.outer.place() @ self.outer.frame(self.name, self.by)

    def frame(self, name: str, at: XMLElement) -> Pose:
        """Return the pose of the named frame in this scope; ``at``: the element that refers to it.

        Raises MechanismError.
        """
        if name in ("", MODEL_FRAME) or (self.outer is None and name == WORLD):
            return still()
        if name not in self.placed:
            if name in self.open:
                raise at.wrong(f"the pose of '{name}' is needed for itself, by {' and '.join(self.open)}")
            self.open.append(name)
            self.placed[name] = self._found(name, at)
            self.open.pop()
        return self.placed[name]

    def _found(self, name: str, at: XMLElement) -> Pose:
        first, _, rest = name.partition("::")
        if rest and first in self.models:
            return self.frame(first, at) @ self.models[first].frame(rest, at)
        if name in self.links or (name == WORLD and self.ground is not None):
            return self.posed(self.links.get(name, self.ground or self.at), MODEL_FRAME)
        if name in self.frames:
            element = self.frames[name]
            return self.posed(element, element.attributes.get("attached_to", "") or MODEL_FRAME)
        if name in self.models:
            model = self.models[name]
            here = self._of_pose(model.pose, MODEL_FRAME)
            inner = model.placement_frame()
            return here @ model.frame(inner, model.by).inverse() if inner else here
        known = [*self.links, *self.frames, *self.models, *self.joints]
        known_name(name, known, f"{at.place}: no frame", MechanismError)
        return self.of_joint(name)

    def placement_frame(self) -> str:
        """Return the name of its frame that its pose places, "" by default: by the <include>, or else by the model."""
        if self.by is not self.at:
            named = self.by.one("placement_frame")
            if named is not None:
                return _own_text(named)
        return self.at.attributes.get("placement_frame", "")

    def of_joint(self, name: str) -> Pose:
        """Return the pose of a joint, by default that of its child."""
        joint = self.joints[name]
        return self.posed(joint, child_of(joint))

    def posed(self, element: XMLElement, default: str) -> Pose:
        """Return the pose of an element by its <pose>, by default in the frame ``default``."""
        return self._of_pose(element.one("pose"), default, element)

    def _of_pose(self, pose: XMLElement | None, default: str, at: XMLElement | None = None) -> Pose:
        if pose is None:
            return self.frame(default, at or self.at)
        newer, older = (pose.attributes.get(key, "") for key in ("relative_to", "frame"))
        if newer and older and newer != older:
            raise pose.wrong(f"relative_to='{newer}' and frame='{older}', its older name, differ: leave one out")
        other = newer or older
        return self.frame(other or default, pose) @ numbers_of(pose)

    # ----------------------------------------------------------------------------------------------------- links

    def link(self, name: str, at: XMLElement) -> str:
        """Return the whole name of the link, or "world", that a frame of this scope is attached to.

        Raises MechanismError.
        """
        seen: list[str] = []
        while name not in self.links:
            if name == WORLD and WORLD not in self.frames and WORLD not in self.models:
                return WORLD
            if name in seen:
                raise at.wrong(f"the frame '{name}' is attached to itself")
            seen.append(name)
            first, _, rest = name.partition("::")
            if name in self.frames:
                name = self.frames[name].attributes.get("attached_to", "") or MODEL_FRAME
            elif name in (MODEL_FRAME, ""):
                if self.outer is None:
                    return WORLD
                return self._canonical(at)
            elif rest and first in self.models:
                return self.models[first].link(rest, at)
            elif name in self.models:
                return self.models[name].link(MODEL_FRAME, at)
            else:
                known = [*self.links, *self.frames, *self.models, *self.joints]
                known_name(name, known, f"{at.place}: no link", MechanismError)
                name = child_of(self.joints[name])
        return self.path + name

    def _canonical(self, at: XMLElement) -> str:
        """Return the link that the frame of the model is attached to."""
        named = self.at.attributes.get("canonical_link", "")
        if named:
            return self.link(named, at)
        if self.links:
            return self.path + next(iter(self.links))
        for model in self.models.values():
            return model.link(MODEL_FRAME, at)
        raise self.at.wrong(f"the model '{self.name}' has no link")


def child_of(joint: XMLElement) -> str:
    """Return the name of the child of a joint."""
    return _own_text(joint.child(CHILD[joint.tag]))


def numbers_of(pose: XMLElement) -> Pose:
    """Return the pose of the numbers of a <pose>."""
    if not pose.text.strip():
        return still()
    form = pose.attributes.get("rotation_format", "euler_rpy")
    if form == "quat_xyzw":
        x, y, z, qx, qy, qz, qw = pose.own_numbers(7)
        norm = math.hypot(qx, qy, qz, qw)
        if not norm > 0.0:
            raise pose.wrong("the quaternion of a <pose> must not be zero")
        return Pose(rotation_matrix(np.array([qw, qx, qy, qz]) / norm), np.array([x, y, z]))
    if form != "euler_rpy":
        raise pose.error(f"rotation_format of <pose> must be euler_rpy or quat_xyzw, got {shown(form)}")
    values = pose.own_numbers(6)
    unit = math.pi / 180.0 if pose.attributes.get("degrees", "") in ("true", "1") else 1.0
    return pose_of(values[:3], [unit * angle for angle in values[3:]])


class Includes:
    """The models of a file and of those that it includes."""

    def __init__(self, path: Path, packages: Sequence[Path], notes: ImportNotes) -> None:
        self.packages, self.notes, self.count = packages, notes, 0
        self.folders = [path.resolve().parent, *(folder.resolve() for folder in packages)]

    def outermost(self, root: XMLElement) -> Scope:
        """Return the scope of a file: that of its world, or one around its models."""
        worlds = list(root.all(WORLD))
        if len(worlds) > 1:
            raise worlds[1].error("a file has one <world>, this is another: leave one out")
        scope = Scope(worlds[0] if worlds else root, "", None)
        self._fill(scope, [])
        return scope

    def _fill(self, scope: Scope, chain: list[Path]) -> None:
        """Put the models of a scope into it, and theirs into them."""
        for element in scope.at.all("model", "include"):
            model, inside = self._model(element, scope, chain)
            scope.add(model)
            self._fill(model, inside)

    def _model(self, element: XMLElement, scope: Scope, chain: list[Path]) -> tuple[Scope, list[Path]]:
        if element.tag == "model":
            return Scope(element, element.need("name"), scope), chain
        path = self._included(element)
        self.count += 1
        if path in chain:
            raise element.error(f"the file '{path}' includes itself")
        if self.count > MOST_INCLUDED:
            raise element.error(f"more than {MOST_INCLUDED} files are included")
        if element.attributes.get("merge", "") in ("true", "1"):
            raise element.error("<include> with merge is not read: include the model without it")
        root = read_xml(path, self.notes)
        models = list(root.all("model"))
        if root.tag != "sdf" or len(models) != 1:
            raise element.error(f"the file '{path}' must hold one <model> in <sdf>")
        for part, at in unknown(root, ("model",), ("version",)):
            self.notes.not_understood(part, at)
        name = element.one("name")
        model_name = _own_text(name) if name is not None else models[0].need("name")
        self.notes.read(f"model '{model_name}' is included", element)
        return Scope(models[0], model_name, scope, element), [*chain, path]

    def _included(self, element: XMLElement) -> Path:
        """Return the file that an <include> names, within the folder of the loaded file or a folder of packages."""
        uri = _own_text(element.child("uri"))
        if "://" in uri and not uri.startswith((*SCHEMES, "file://")):
            raise element.error(f"<include> of {shown(uri)}: nothing is fetched; copy the model into the folder")
        file = found_file(uri, element.path, self.packages)
        if file is not None and file.is_dir():
            file = self._of_folder(file, element)
        if file is None or not file.is_file():
            raise element.error(f"<include> of {shown(uri)}: there is no such file; name the folder of its package")
        file = file.resolve()
        if not any(file.is_relative_to(folder) for folder in self.folders):
            raise element.error(f"<include> of '{file}', which is outside the folder of the file, and is not read")
        return file

    def _of_folder(self, folder: Path, element: XMLElement) -> Path | None:
        """Return the file of the model in a folder: the last that its model.config names, or model.sdf."""
        config = (folder / CONFIG).resolve()
        if not config.is_file() or not any(config.is_relative_to(known) for known in self.folders):
            return folder / "model.sdf"
        named = list(read_xml(config, self.notes).all("sdf"))
        if not named:
            raise element.error(f"'{config}' names no <sdf>")
        return folder / _own_text(named[-1])


def _own_text(element: XMLElement) -> str:
    """Return the text of an element. Raises FileError if it is blank."""
    if not element.text.strip():
        raise element.error(f"<{element.tag}> is empty")
    return element.text.strip()


def _is_true(element: XMLElement, tag: str) -> bool:
    """Return whether an element has a child of that name that says true."""
    child = element.one(tag)
    return child is not None and child.text.strip().lower() in ("true", "1")
