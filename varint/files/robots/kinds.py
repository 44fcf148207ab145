"""The joints and forces that robots in files are described with."""

from varint.model.forces.applied import PointForce as PointForce
from varint.model.forces.contact_pairs import ContactPairs as ContactPairs
from varint.model.forces.coordinate_map import CoordinateMap as CoordinateMap
from varint.model.forces.coupling import Coupling as Coupling
from varint.model.forces.deformable_body import DeformableBody as DeformableBody
from varint.model.forces.joint import (
    JointDamper as JointDamper,
)
from varint.model.forces.joint import (
    JointFriction as JointFriction,
)
from varint.model.forces.joint import (
    JointResistance as JointResistance,
)
from varint.model.forces.joint import (
    JointServo as JointServo,
)
from varint.model.forces.joint import (
    Motor as Motor,
)
from varint.model.forces.joint import (
    TorsionSpring as TorsionSpring,
)
from varint.model.forces.musculotendon import Musculotendon as Musculotendon
from varint.model.forces.on_body import BodyDamper as BodyDamper
from varint.model.forces.particle_net import ParticleNet as ParticleNet
from varint.model.forces.routed import MultiPointCable as MultiPointCable
from varint.model.forces.routed import MultiPointSpring as MultiPointSpring
from varint.model.forces.spring import Cable as Cable
from varint.model.forces.spring import Spring as Spring
from varint.model.forces.stop import JointStop as JointStop
from varint.model.forces.stop import LengthStop as LengthStop
from varint.model.forces.tendon import Tendon as Tendon
from varint.model.joints.composite import Composite as Composite
from varint.model.joints.fixed import Fixed as Fixed
from varint.model.joints.free import Free as Free
from varint.model.joints.free2d import Planar as Planar
from varint.model.joints.helical import Helical as Helical
from varint.model.joints.prismatic import Prismatic as Prismatic
from varint.model.joints.revolute import Revolute as Revolute
from varint.model.joints.rod import Rod as Rod
from varint.model.joints.spherical import Spherical as Spherical
from varint.model.joints.universal import Universal as Universal
