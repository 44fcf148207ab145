"""Models that MuJoCo made in this process: an MjSpec or an MjModel in place of a file."""

from pathlib import Path
from typing import Any

from varint.base.errors import ArgumentError, FileError
from varint.files.mjcf.numbers import count_actuators
from varint.files.robots.xml_files import XMLElement
from varint.model.import_report import ImportNotes

NAMED = {"body": "nbody", "joint": "njnt", "tendon": "ntendon", "actuator": "", "equality": "neq"}


class ModelSource:
    """Stand-in for the file of a compiled model, with what readers ask of one: see `MJCFSource`."""

    def __init__(self, model: Any, name: str, spec: Any = None) -> None:
        path = Path(name or "mujoco")
        self.root = XMLElement("mujoco", {"model": name}, 0, path)
        self.files = {} if spec is None else mesh_files(spec)
        self.elements = {
            (group, str(getattr(model, group)(number).name)): XMLElement(
                group, {"name": str(getattr(model, group)(number).name)}, 0, path
            )
            for group in NAMED
            for number in range(size_of(model, group))
        }

    def at(self, group: str, name: str) -> XMLElement:
        """Return the element of a name, without a line."""
        return self.elements.get((group, name), self.root)

    @property
    def joint_names(self) -> set[str]:
        """Return names of joints."""
        return {name for group, name in self.elements if group == "joint"}


def mesh_files(spec: Any) -> dict[str, Path]:
    """Return the files of the meshes of an MjSpec by their names, as far as they are there."""
    folder = Path(spec.modelfiledir, spec.meshdir)
    named = {str(mesh.name): folder / mesh.file for mesh in spec.meshes if mesh.file}
    return {name or path.stem: path for name, path in named.items() if path.is_file()}


def size_of(model: Any, group: str) -> int:
    """Return the number of elements of a group in a model."""
    return count_actuators(model) if group == "actuator" else int(getattr(model, NAMED[group]))


def is_model(candidate: object) -> bool:
    """Return whether an object is an MjSpec or an MjModel, by its class's name: MuJoCo may not be installed."""
    kind = type(candidate)
    return kind.__name__ in ("MjSpec", "MjModel") and kind.__module__.partition(".")[0] == "mujoco"


def compiled_model(model_or_spec: Any) -> tuple[Any, str]:
    """Return the MjModel of an MjSpec or MjModel, with names for all parts, and its name. Raises FileError."""
    if type(model_or_spec).__name__ == "MjSpec":
        spec, name = model_or_spec.copy(), str(model_or_spec.modelname)
        _name_parts(spec)
        try:
            return spec.compile(), name
        except (ValueError, TypeError, RuntimeError) as problem:
            raise FileError(f"MuJoCo's compiler says: {' '.join(str(problem).split())}") from None
    for group in NAMED:
        for number in range(size_of(model_or_spec, group)):
            if not getattr(model_or_spec, group)(number).name:
                raise ArgumentError(f"{group} {number} of the MjModel has no name: name it, or give the MjSpec")
    return model_or_spec, model_or_spec.names[: model_or_spec.names.index(b"\0")].decode()


def _name_parts(spec: Any) -> None:
    """Name the unnamed parts of an MjSpec, in place."""
    lists = {"body": spec.bodies, "joint": spec.joints, "tendon": spec.tendons, "actuator": spec.actuators}
    for group, parts in (*lists.items(), ("equality", spec.equalities)):
        taken = {part.name for part in parts}
        for part in parts:
            number = 1
            wanted = name = f"joint of {part.parent.name}" if group == "joint" else group
            if part.name:
                continue
            while name in taken:
                number += 1
                name = f"{wanted} {number}"
            part.name = name
            taken.add(name)


def notes_of(name: str, repair: bool) -> ImportNotes:
    """Return notes on a model without a file."""
    return ImportNotes(Path(name or "mujoco"), repair)
