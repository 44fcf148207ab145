"""Files of other packages that `repair=True` reads: masses and freedom of MuJoCo's or Pinocchio's model, and runs.

The extra test-peers installs some of them, `robot_files.py` says how to get the others; what is not there is
skipped.
"""

import warnings

import numpy as np
import pytest
from mujoco_peer import Peer
from robot_files import label, models, packages_of
from test_mjcf import MOVED, check_bodies

import varint as vi

mujoco = pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
OLD = ("half_cheetah", "hopper", "swimmer", "walker2d", "humanoid_fixed")  # which MuJoCo refuses
EXPANDED = ("n_humanoid", "cow", "mesh", "nutbolt", "tactile")
WELDED = ("constraints",)
SOFT = {"floppy": 1153, "moving_base_strain": 22, "multiflex": 3879, "rope": 66}  # degrees of freedom of MuJoCo
SLIDING = ("general_dyntype",)
NAMES = (*OLD, *EXPANDED, *WELDED, *SOFT, *SLIDING)
MODELS = [path for path in models() if path.stem in NAMES and "convex" not in path.parts]
if not MODELS:
    pytest.skip("needs the models of the extra varint-dynamics[test-peers]", allow_module_level=True)


def of(*names):
    """Files of these names that the parametrized test takes; skipped where no package that is installed has any."""
    missing = pytest.param(None, marks=pytest.mark.skip("needs more packages, see robot_files.py"), id="none")
    return pytest.mark.parametrize("path", [path for path in MODELS if path.stem in names] or [missing], ids=label)


def repaired(path):
    with pytest.raises((vi.FileError, vi.MechanismError), match="repair=True"):
        vi.load_mechanism(path, packages=packages_of(path))
    return vi.load_mechanism(path, packages=packages_of(path), repair=True)


@pytest.mark.slow
@of(*OLD, *EXPANDED)
def test_bodies_and_accelerations_are_those_of_mujoco(path):
    repaired(path)
    peer = Peer(path, packages_of(path), repair=True)
    check_bodies(peer)
    peer.model.opt.disableflags |= int(peer.mj.mjtDisableBit.mjDSBL_ACTUATION)
    peer.model.opt.density = peer.model.opt.viscosity = 0.0  # not understood, as the report says
    kept = [force for force in peer.mechanism.forces if "actuator " not in force.name]
    peer.mechanism = vi.Mechanism(
        "m", peer.mechanism.bodies, peer.mechanism.joints, forces=kept, gravity=peer.mechanism.gravity
    )
    peer.randomise(np.random.default_rng(3), 0.5)
    assert peer.errors_of_accelerations() < MOVED


@pytest.mark.slow
@of(*(name for name in OLD if name != "humanoid_fixed"))
def test_masses_and_freedom_of_older_files_are_those_of_pinocchio(path):
    """But for the total mass that one of the files asks for, which Pinocchio does not read."""
    pin = pytest.importorskip("pinocchio", reason="needs the extra varint-dynamics[test-peers]")
    read = repaired(path)
    bodies = [body for body in read.bodies if not body.name.startswith("rotor of ")]
    theirs = pin.buildModelFromMJCF(str(path))
    assert sum(joint.dof for joint in read.joints if joint.body_b in {body.name for body in bodies}) == theirs.nv
    masses = np.array(sorted(body.mass for body in bodies))
    found = np.array(sorted(inertia.mass for inertia in theirs.inertias if inertia.mass > 0.0))
    factor = 14.0 / found.sum() if path.stem == "half_cheetah" else 1.0
    assert masses == pytest.approx(factor * found, rel=1e-9)


@pytest.mark.slow
@of(*WELDED, *SLIDING)
def test_masses_of_welded_and_sliding_bodies(path):
    """One of the files MuJoCo refuses for a tendon; its bodies are those of the other two."""
    read = repaired(path)
    assert sum(body.mass for body in read.bodies) == pytest.approx(1.0 if path.stem in SLIDING else 3520.0)
    if path.stem in WELDED:
        assert read.joint("weld").body_b == "beam2"


@pytest.mark.slow
@of(*SOFT)
def test_masses_and_freedom_of_flexible_bodies_are_those_of_mujoco(path):
    read, m = repaired(path), mujoco.MjModel.from_xml_path(str(path))
    assert m.nv == SOFT[path.stem]
    soft = [force for force in read.forces if isinstance(force, (vi.ParticleNet, vi.DeformableBody))]
    mass = sum(body.mass for body in read.bodies) + sum(force.mass for force in soft)
    assert mass == pytest.approx(m.body_mass.sum(), rel=1e-9)
    free = sum(3 * (len(force.points) - sum(len(part.vertices) for part in force.attach)) for force in soft)
    rods = [joint for joint in read.joints if isinstance(joint, vi.Rod)]
    moves = sum(joint.dof for joint in read.joints if joint not in rods)
    cells = 21 - 3 if path.stem == "moving_base_strain" else 0  # corners on three slides, that turn about one of them
    assert free + moves + cells == m.nv


@pytest.mark.slow
@of(*NAMES)
def test_runs_stay_closed(path):
    read = repaired(path)
    t = 0.02 if path.stem in ("floppy", "multiflex") else 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vi.UnresolvedWarning)
        traj = vi.simulate(read, t, 1e-3, every=10)
    assert np.isfinite(traj.position).all()
    assert traj.drift.max() < 1e-9
