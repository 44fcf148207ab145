"""The joints and forces that robots in files are described with."""

from varint.model.forces.applied import PointForce
from varint.model.forces.coordinate_map import CoordinateMap
from varint.model.forces.coupling import Coupling
from varint.model.forces.deformable_body import DeformableBody
from varint.model.forces.joint import JointDamper, JointFriction, JointServo, Motor, TorsionSpring
from varint.model.forces.musculotendon import Musculotendon
from varint.model.forces.on_body import BodyDamper
from varint.model.forces.particle_net import ParticleNet
from varint.model.forces.routed import MultiPointCable, MultiPointSpring
from varint.model.forces.spring import Cable, Spring
from varint.model.forces.stop import JointStop, LengthStop
from varint.model.forces.tendon import Tendon
from varint.model.joints.composite import Composite
from varint.model.joints.fixed import Fixed
from varint.model.joints.free import Free
from varint.model.joints.free2d import Free2D
from varint.model.joints.helical import Helical
from varint.model.joints.prismatic import Prismatic
from varint.model.joints.revolute import Revolute
from varint.model.joints.rod import Rod
from varint.model.joints.spherical import Spherical
from varint.model.joints.universal import Universal

__all__ = [
    "BodyDamper",
    "Cable",
    "Composite",
    "CoordinateMap",
    "Coupling",
    "DeformableBody",
    "Fixed",
    "Free",
    "Free2D",
    "Helical",
    "JointDamper",
    "JointFriction",
    "JointServo",
    "JointStop",
    "LengthStop",
    "Motor",
    "MultiPointCable",
    "MultiPointSpring",
    "Musculotendon",
    "ParticleNet",
    "PointForce",
    "Prismatic",
    "Revolute",
    "Rod",
    "Spherical",
    "Spring",
    "Tendon",
    "TorsionSpring",
    "Universal",
]
