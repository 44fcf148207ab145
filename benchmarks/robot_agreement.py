"""Agreement of robot files with MuJoCo: masses, centres, inertias, axes, limits, accelerations at a random state."""

import dataclasses
import signal
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from mujoco_peer import SMOOTHED, Peer  # noqa: E402

import varint as vi  # noqa: E402

SUFFIXES = (".urdf", ".sdf", ".world", ".xml", ".osim", ".xacro")
MODELS = ("<mujoco", "<robot", "<sdf")  # of files .xml
OF_PICTURES = ("visual", "collision", "material", "transmission", "gazebo")
HEAD = (
    "| file | loads | repaired | runs 1 s | mass | centre | inertia | axes | limits | accelerations |\n"
    + "|---" * 10
    + "|\n"
)
COLUMNS = ("mass", "centre", "inertia", "axes", "limits", "accelerations")
AGREES = 1e-6  # of the largest value in a column
LONGEST = 60  # s of a processor, of a file
DT = 1e-3


class URDFPeer(Peer):
    """`Peer` of a URDF, as MuJoCo's compiler reads it without its shapes."""

    def __init__(self, path: Path, read: vi.Mechanism) -> None:
        import mujoco

        self.mj = mujoco
        root = ElementTree.fromstring(path.read_bytes().lstrip())
        for parent in (root, *root.iter("link")):
            for element in [child for child in parent if child.tag in OF_PICTURES]:
                parent.remove(element)
        self.model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
        forces = [force for force in read.forces if not isinstance(force, SMOOTHED)]
        self.mechanism = dataclasses.replace(read, forces=forces, start={})
        self.bodies = {self.model.body(i).name: i for i in range(1, self.model.nbody)}
        self.joints = {self.model.joint(i).name: i for i in range(self.model.njnt)}
        for body in read.bodies:
            if body.name in read.rotors:  # of Drake's elements, which MuJoCo does not read
                joint = self.joints[body.name.removeprefix("rotor of ")]
                self.model.dof_armature[self.model.jnt_dofadr[joint]] = body.inertia[2, 2]
        self._without("CONTACT", "LIMIT", "FRICTIONLOSS")
        self.data = mujoco.MjData(self.model)


def files_of(folders: list[Path]) -> Iterator[Path]:
    """Yield the robot files in folders; of .xml those that are models."""
    for folder in folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
            if path.suffix.lower() not in SUFFIXES or not path.is_file():
                continue
            if path.suffix.lower() != ".xml" or any(mark in path.read_text("utf-8", "replace") for mark in MODELS):
                yield path


def row(path: Path, name: str, packages: list[Path]) -> str:
    """Return the line of a file."""
    cells = [name, "no", "", "", *[""] * len(COLUMNS)]
    try:
        with limited(LONGEST), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read = vi.load_mechanism(path, packages=packages)
            except (vi.FileError, vi.MechanismError):
                read = vi.load_mechanism(path, packages=packages, repair=True)
            cells[1:3] = "yes", str(len(read.import_report.repaired) or "")
            cells[4:] = agreement(path, read, packages)
            cells[3] = f"{vi.simulate(read, 1.0, DT, every=10).drift.max():.0e}"
    except (vi.VarintError, TimeoutError) as problem:
        cells[1 if cells[1] == "no" else 3] = str(problem).replace(f"'{path}', ", "").replace("|", "/").split(";")[0]
    return f"| {' | '.join(cells)} |\n"


def agreement(path: Path, read: vi.Mechanism, packages: list[Path]) -> list[str]:
    """Return "yes" or the largest difference in each column; the reason in the first where nothing is compared."""
    try:
        if path.suffix.lower() == ".urdf":
            peer = URDFPeer(path, read)
        elif path.suffix.lower() == ".xml":
            peer = Peer(path, packages, repair=bool(read.import_report.repaired))
        else:
            return ["not read by MuJoCo", *[""] * (len(COLUMNS) - 1)]
        errors = differences(peer, read)
    except (ImportError, ValueError, KeyError, AssertionError, ElementTree.ParseError, vi.VarintError) as problem:
        return [f"not compared: {str(problem).splitlines()[0][:60] if str(problem) else type(problem).__name__}"] + [
            ""
        ] * (len(COLUMNS) - 1)
    return ["" if error is None else "yes" if error < AGREES else f"{error:.0e}" for error in errors]


def differences(peer: Peer, read: vi.Mechanism) -> list[float | None]:
    """Return the largest difference of each column, of the largest value; None where nothing is there."""
    m, d = peer.model, peer.data
    peer.mj.mj_forward(m, d)
    pairs: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {column: [] for column in COLUMNS}
    for body in read.bodies:
        if body.name not in peer.bodies:
            continue
        first, members = peer.links(body.name)
        R, centre = d.xmat[first].reshape(3, 3), peer.centre(members)
        inertia = np.zeros((3, 3))
        for i in members:
            turn, arm = d.ximat[i].reshape(3, 3), d.xipos[i] - centre
            inertia += turn @ np.diag(m.body_inertia[i]) @ turn.T
            inertia += m.body_mass[i] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        pairs["mass"].append((np.array(body.mass), m.body_mass[members].sum()))
        pairs["centre"].append((body.position, centre))
        pairs["inertia"].append((R @ body.inertia @ R.T, inertia))
    for joint in read.joints:
        number = peer.joints.get(joint.name)
        if number is not None and joint.dof == 1 and hasattr(joint, "axis"):
            pairs["axes"].append((joint.axis, d.xaxis[number]))
    for stop in read.forces:
        number = peer.joints.get(getattr(stop, "joint", ""))
        if isinstance(stop, vi.JointStop) and number is not None and m.jnt_limited[number]:
            theirs = m.jnt_range[number] - m.qpos0[m.jnt_qposadr[number]]
            pairs["limits"].append((np.array([stop.lower, stop.upper]), theirs))
    errors = [
        max(np.abs(a - b).max() for a, b in both) / max(1e-300, *(np.abs(b).max() for _, b in both)) if both else None
        for both in pairs.values()
    ]
    peer.randomise(np.random.default_rng(1))
    for bounds in (m.actuator_forcelimited, m.actuator_ctrllimited, m.jnt_actfrclimited):  # which the report names
        bounds[:] = False
    if m.nkey:
        d.ctrl[:] = m.key_ctrl[0]
    peer.forward()
    errors[-1] = None if peer.mechanism.forces and _couples(peer.mechanism) else peer.errors_of_accelerations()
    return errors


def _couples(mechanism: vi.Mechanism) -> bool:
    """Return whether something holds exactly that is soft in MuJoCo, or that MuJoCo does not read in a URDF."""
    held = [force for force in mechanism.forces if isinstance(force, vi.Coupling | vi.CoordinateMap)]
    of_rotors = [force for force in held if isinstance(force, vi.Coupling) and _drives_rotor(mechanism, force)]
    return len(held) > len(of_rotors) or len(mechanism.joints) > len(mechanism.bodies)


def _drives_rotor(mechanism: vi.Mechanism, coupling: vi.Coupling) -> bool:
    """Return whether a coupling only holds a rotor, which stands for armature, exact in MuJoCo too."""
    return any(mechanism.joint(name).body_b in mechanism.rotors for name, *_ in coupling.terms)


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in the block after some seconds of a processor."""

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s of a processor")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def table(folders: list[Path]) -> Iterator[str]:
    """Yield the lines of the table of the robot files in folders, and the numbers of files in it."""
    yield HEAD
    count = loaded = ran = 0
    for path in files_of(folders):
        name = str(next((path.relative_to(folder) for folder in folders if path.is_relative_to(folder)), path))
        line = row(path, path.name if name == "." else name, [folder for folder in folders if folder.is_dir()])
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        count, loaded, ran = count + 1, loaded + (cells[1] == "yes"), ran + cells[3].startswith(tuple("0123456789"))
        yield line
    yield f"\n{count} files, {loaded} load, {ran} run for 1 s\n"
