"""Forces along coordinates and between points, for tests."""

import dataclasses
from collections.abc import Mapping
from functools import cache

import numpy as np
from random_mechanisms import random_body, random_closed, random_joint, random_tree, unit

import varint as vi
from varint.model.forces import FORCES
from varint.model.forces.measured import coordinate_measure, is_free_rotation
from varint.model.forces.spring import BetweenPoints
from varint.model.rotation_vectors import rotation_matrix
from varint.results.forces import forces_at

PARAMETERS = {
    "TorsionSpring": {"stiffness": 3.0, "rest_angle": 0.4, "damping": 0.2},
    "JointDamper": {"damping": 0.3},
    "JointFriction": {"effort": 0.5, "smoothing": 0.2},
    "JointStop": {"lower": -0.3, "upper": -0.05, "stiffness": 40.0, "damping": 0.1},
    "Motor": {"effort": 0.7},
    "JointServo": {"target": 0.3, "stiffness": 5.0, "damping": 0.4},
    "VelocityMotor": {"speed": 0.4, "max_effort": 0.6, "smoothing": 0.3},
    "Spring": {"stiffness": 30.0, "damping": 0.2},
    "Cable": {"stiffness": 30.0, "damping": 0.2},
}
KINDS = tuple(PARAMETERS)  # along coordinates and between points; the others: test_more_forces.py
CONSERVATIVE = ("TorsionSpring", "JointStop", "Spring", "Cable")


MIDDLE = {"track": {"at": 2.5}, "sheet": {"at": (0.5, 1.5)}}  # of a piece, where splines are smooth
MORE = {"track": "SplineCurve", "sheet": "SplineSurface", "gimbal": "Composite"}


def with_forces(mechanism, *forces):
    return dataclasses.replace(mechanism, forces=forces)


def with_measure(mechanism):
    """(joint name, coordinate) wherever a force along a coordinate can act."""
    return [
        (joint.name, k)
        for joint in mechanism.joints
        for k in range(joint.dof)
        if coordinate_measure(joint, k, *mechanism.anchors(joint))
    ]


def in_any_motion(mechanism):
    """Those of `with_measure` that are no rotation vectors: a free motion goes beyond half a turn."""
    return [(name, k) for name, k in with_measure(mechanism) if not is_free_rotation(mechanism.joint(name), k)]


def random_force(rng, kind, name, mechanism, **parameters):
    """A force of type ``kind`` between random points or along a random coordinate of ``mechanism``."""
    parameters = PARAMETERS[kind] | parameters
    if issubclass(FORCES[kind], BetweenPoints):
        ends = rng.choice([*mechanism.body_index, "world"], 2, replace=False)
        a, b = ((mechanism.body(end).position if end != "world" else 0.0) + rng.standard_normal(3) for end in ends)
        rest = {"rest_length": rng.uniform(0.5, 0.9) * np.linalg.norm(b - a)}
        return FORCES[kind](name, *map(str, ends), point_a=a, point_b=b, **rest | parameters)
    places = in_any_motion(mechanism)
    joint, coordinate = places[rng.integers(len(places))]
    return FORCES[kind](name, joint=joint, coordinate=coordinate, **parameters)


def one_of_each(rng, mechanism, names=KINDS, **parameters):
    return with_forces(
        mechanism, *(random_force(rng, kind, f"f{k}", mechanism, **parameters) for k, kind in enumerate(names))
    )


def forces_of(mechanism, state, command=None):
    """`forces_at` of one state."""
    arrays = (state.position, state.quat_wxyz, state.velocity, state.angular_velocity)
    command = np.zeros(len(mechanism.forces)) if command is None else command
    return forces_at(mechanism, *(array[None] for array in arrays), command[None])


def coupled_everywhere(rng, **parameters):
    """Random mechanism with loops whose measures have rows in tree joints, in closures, and none."""
    mechanism = random_closed(rng, 8, 2, kinds=("Spherical", "Universal", "Cylindrical"))
    names = ["TorsionSpring"] * 5 + ["Spring"] * 6 + ["TorsionSpring"] * 5
    mechanism = one_of_each(rng, mechanism, names, **parameters)
    tree = mechanism.bodies[0].position, mechanism.joints[0].point
    ends = {"point_a": tree[0], "point_b": tree[1] + 1.0}
    world = vi.Spring("to the world", "b0", "world", **ends, **PARAMETERS["Spring"] | parameters)
    return with_forces(mechanism, *mechanism.forces, world)


def cubic(value, rate):
    return -(value**3) - 0.5 * rate, -3.0 * value**2, -0.5


def swing(t):
    return 0.2 * np.sin(3.0 * t)


@dataclasses.dataclass(frozen=True)
class Swung:
    """A motion from a place: a function of time that can be pickled."""

    place: tuple

    def __call__(self, t):
        return np.array(self.place) + [0.1 * np.sin(3.0 * t), 0.05 * np.sin(2.0 * t), 0.1 * np.sin(t) ** 2]


OF_RATES = (
    "RollingWheel",
    "KnifeEdge",
    "UserRateConstraint",
)  # samples of constraints on velocities, whose steps have no operator
# samples that small motions and gradients do not know
IN_THE_WORLD = {"PrescribedPoint", "PrescribedBody", *OF_RATES}


@dataclasses.dataclass(frozen=True)
class PathOfThree:
    """The length of a path over points of three bodies, less ``length``."""

    length: float = 0.0

    def __call__(self, position, rotation):
        points = np.array([[0.1, -0.2, 0.3], [0.2, 0.3, -0.1], [-0.3, 0.1, 0.2]])
        ends = [position[k] + rotation[k] @ point for k, point in enumerate(points)]
        return np.linalg.norm(ends[1] - ends[0]) + 0.7 * np.linalg.norm(ends[2] - ends[1]) - self.length


def across(position, rotation):
    """A row of two bodies: no velocity along the side of the first, and some of the turning of the second."""
    lean = 0.1 * np.sin(position[0, 0] - position[1, 2])
    return [[*rotation[0][:, 1], 0.0, lean, 0.2], [0.1, lean, 0.0, *(0.2 * rotation[1][:, 0])]]


def pressing(value, rate):
    """A law of contact, without damping."""
    return (-0.2 * value, -0.2, 0.0) if value < 0.0 else (0.0, 0.0, 0.0)


def wrapped_path():
    """Around a ball of a third body."""
    ball = vi.Around("b1", vi.SphereSurface([0.0, 0.0, 0.0], 0.4))
    return [vi.At("b0", [1.5, 0.2, 0.1]), ball, vi.At("b2", [-1.2, 0.2, 0.3])]


def straight_path():
    return [vi.At("b0", [0.5, 0.2, 1.1]), vi.At("b3", [-0.2, 0.4, 0.7])]


def samples(rng):
    """Name to forces for `sample_mechanism`: every force of the registry, and of some of them more than one use."""
    p, n = (lambda: rng.standard_normal(3)), lambda: unit(rng)
    points = {"point_a": p(), "point_b": p()}
    return {
        "Spring": [vi.Spring("f", "b0", "b2", stiffness=7.0, damping=2.0, rest_length=1.0, **points)],
        "Spring to the world": [vi.Spring("f", "world", "b2", stiffness=7.0, damping=2.0, rest_length=1.0, **points)],
        "Cable": [vi.Cable("f", "b0", "b1", stiffness=7.0, damping=2.0, rest_length=0.1, **points)],
        "TorsionSpring": [vi.TorsionSpring("f", joint="hinge", stiffness=5.0, damping=1.0, rest_angle=0.3)],
        "second angle": [vi.TorsionSpring("f", joint="hooke", coordinate=1, stiffness=5.0, damping=1.0)],
        "JointDamper on a slide": [vi.JointDamper("f", joint="slider", damping=3.0)],
        "JointDamper on a ball": [vi.JointDamper("f", joint="ball", damping=0.7)],
        "JointFriction": [vi.JointFriction("f", joint="hinge", effort=2.0, smoothing=1.0)],
        "JointFriction on a ball": [vi.JointFriction("f", joint="ball", effort=0.4, smoothing=1.0)],
        "PointDamper": [vi.PointDamper("f", "b0", "b2", damping=0.6, **points)],
        "Motor and JointServo": [
            vi.Motor("f", joint="hinge", effort=2.0),
            vi.JointServo("g", joint="slider", target=1.0, stiffness=3.0),
        ],
        "FirstOrderActuator": [vi.FirstOrderActuator("f", joint="hinge", gain=2.0, time_constant=0.05, command=1.0)],
        "PointForce": [
            vi.PointForce("f", "b1", direction=n(), magnitude=2.0, point=p()),
            vi.PointForce("g", "b2", direction=n(), magnitude=3.0, point=p(), fixed_in="body"),
        ],
        "PointTorque": [vi.PointTorque("f", "b1", direction=n(), magnitude=2.0)],
        "BodyDamper": [vi.BodyDamper("f", "b2", linear=2.0, angular=0.5)],
        "Drag": [vi.Drag("f", "b2", linear=2.0, angular=0.5)],
        "CentralGravity": [vi.CentralGravity("f", "b0", "b2", mu=4.0)],
        "Bushing": [
            vi.Bushing(  # the ratios of damping and stiffness differ
                "f",
                "b0",
                "b2",
                point=p(),
                stiffness=(k := rng.uniform(1, 2, 6)),
                damping=k * rng.uniform(1, 1.05, 6) * (0.3, 0.5, 0.8, 1.2, 1.9, 3.0),
            )
        ],
        "BeamElement": [
            vi.BeamElement(
                "f",
                "b0",
                "b2",
                point_a=p(),
                point_b=p(),
                stiffness=rng.uniform(1, 2, 6),
                damping=rng.uniform(1, 2, 6),
            )
        ],
        "GroundContact": [
            vi.GroundContact(
                "f", "b2", point=p(), ground=(0, 0, 50.0), stiffness=2.0, damping=0.3, friction=0.2, smoothing=1.0
            ),
            vi.GroundContact(
                "g",
                "b1",
                points=[p(), p()],
                radius=0.3,
                ground=(0, 0, 50.0),
                law="hunt-crossley",
                stiffness=0.1,
                damping=0.01,
                friction=0.2,
                creep=0.1,
            ),
        ],
        "SphereContact": [
            vi.SphereContact(
                "f", "b0", "b2", radius_a=9.0, radius_b=11.0, stiffness=2.0, damping=0.3, friction=0.2, smoothing=1.0
            ),
            vi.SphereContact(
                "g",
                "b1",
                "b2",
                radius_a=9.0,
                radius_b=11.0,
                center_a=p(),
                law="hunt-crossley",
                stiffness=0.1,
                damping=0.5,
                exponent=1.4,
                friction=0.2,
                creep=0.1,
            ),
        ],
        "UserContact": [
            vi.UserContact("f", "b2", law=pressing, radius=0.2, ground=(0, 0, 50.0), friction=0.2, smoothing=1.0)
        ],
        "JointStop": [vi.JointStop("f", joint="hinge", upper=-9.0, stiffness=3.0, damping=0.1)],
        "StrainSpring": [vi.StrainSpring("f", "b0", "b2", stiffness=2.0, damping=2.0, **points)],
        "TabulatedSpring": [
            vi.TabulatedSpring("f", "b0", "b2", values=np.arange(9.0), efforts=-((np.arange(9.0) + 0.5) ** 2), **points)
        ],
        "TabulatedTorsionSpring": [
            vi.TabulatedTorsionSpring("f", joint="hinge", values=np.array([-9.0, 9.0]), efforts=np.array([3.0, -4.0]))
        ],
        "LengthStop": [vi.LengthStop("f", "b0", "b2", upper=0.1, stiffness=2.0, damping=0.1, **points)],
        "MultiPointSpring": [
            vi.MultiPointSpring(
                "f", ["world", "b0", "b1", "b3"], points=rng.standard_normal((4, 3)), stiffness=2.0, damping=1.0
            )
        ],
        "MultiPointCable": [
            vi.MultiPointCable(
                "f", ["b0", "b1", "b3"], points=rng.standard_normal((3, 3)), stiffness=2.0, rest_length=0.1
            )
        ],
        "VelocityMotor": [vi.VelocityMotor("f", joint="hinge", speed=0.5, max_effort=2.0, smoothing=1.0)],
        "UserSpring": [vi.UserSpring("f", "b0", "b2", law=cubic, **points)],
        "UserJointForce": [vi.UserJointForce("f", joint="slider", law=cubic)],
        "rotation vector": [
            vi.TorsionSpring(f"f{k}", joint="ball", coordinate=k, stiffness=5.0 - k, damping=0.3, rest_angle=0.2)
            for k in range(3)
        ],
        "roll, pitch, yaw": [
            vi.Motor("f", joint="ball", coordinate=0, angles="xyz", effort=2.0),
            vi.JointServo("g", joint="ball", coordinate=1, angles="xyz", target=1.0, stiffness=3.0),
            vi.TorsionSpring("h", joint="ball", coordinate=2, angles="ZXY", stiffness=3.0, damping=0.5),
        ],
        "spline": [
            vi.TorsionSpring("f", joint="track", stiffness=3.0, damping=0.5),
            vi.Motor("g", joint="track", effort=1.0),
        ],
        "surface": [vi.TorsionSpring("f", joint="sheet", coordinate=1, stiffness=5.0, damping=1.0)],
        "three turns": [
            vi.TorsionSpring("f", joint="gimbal", coordinate=1, stiffness=5.0, damping=1.0, rest_angle=0.3),
            vi.Motor("g", joint="gimbal", coordinate=2, effort=1.0),
        ],
        "Tendon": [vi.Tendon("f", path=wrapped_path(), stiffness=2.0, damping=1.0, rest_length=0.5, smoothing=0.05)],
        "Musculotendon": [
            vi.Musculotendon(
                "f",
                path=[*wrapped_path(), vi.Pulley(2.0), *straight_path()],
                max_force=3.0,
                optimal_length=2.0,
                slack_length=1.5,
                excitation=0.6,
                activation_times=(0.05, 0.1),
                pennation=0.2,
                smoothing=0.05,
            )
        ],
        "Gear": [vi.Gear("f", joint_a="hinge", joint_b="hooke", radius_a=0.3, radius_b=0.7)],
        "RackAndPinion": [vi.RackAndPinion("f", joint_a="hinge", joint_b="slider", radius=0.2)],
        "Screw": [vi.Screw("f", joint="slider", pitch=0.5)],
        "Belt": [vi.Belt("f", joints=["hinge", "hooke"], radii=[0.3, -0.1])],
        "Equality": [vi.Equality("f", joint_a="hinge", joint_b="hooke", coordinate_b=1, factor=0.5)],
        "Coupling": [vi.Coupling("f", terms=[("hinge", 0, 1.0), ("slider", 0, 2.0), ("hooke", 1, -0.5)])],
        "CoordinateMap": [
            vi.CoordinateMap(
                "f", coordinates=[("hinge", 0), ("slider", 0), ("hooke", 1)], matrix=[[1.0], [0.2], [-0.5]]
            )
        ],
        "Attachment": [
            vi.Attachment(
                "f", "b3", point=(0.4, -0.1, 0.6), to=[("b0", (0.1, 0.2, 0.3), 0.4), ("b1", (0.6, -0.3, 0.8), 0.6)]
            )
        ],
        "UserConstraint": [vi.UserConstraint("f", ["b3", "b0", "b1"], g=PathOfThree())],
        "PrescribedMotion": [vi.PrescribedMotion("f", joint="hinge", position=swing)],
        "PrescribedPoint": [vi.PrescribedPoint("f", body="b2", point=(0.1, 0.2, 0.3), position=Swung((0.1, 0.2, 0.3)))],
        "PrescribedBody": [vi.PrescribedBody("f", body="b3", position=Swung((0.0, 0.0, 0.0)))],  # from its place
        "RollingWheel": [
            vi.RollingWheel("f", "b3", radius=0.4, axis=(1, 0, 0), centre=(0.1, 0.2, 0.3), ground=(0, 0, -0.1))
        ],
        "KnifeEdge": [vi.KnifeEdge("f", "b2", point=p(), direction=n(), normal=(0, 0, 1))],
        "UserRateConstraint": [vi.UserRateConstraint("f", ["b2", "b0"], A=across)],
        "HardContact": [
            vi.HardContact("f", "b2", points=[(0, 0, 0), (0, 0, 0.1)], radius=0.05, ground=(0, 0, -50), friction=0.3)
        ],
        "Contact": [vi.Contact("f", "b1", "b3", friction=0.3)],
        "ContactPairs": [vi.ContactPairs("f", bodies=["b0", "b2", "b3"], restitution=0.5)],
        "PathMass": [
            vi.PathMass(
                "f", path=[vi.At("b0", (0.1, 0.2, 0)), vi.At("b1", (0, 0.3, 0.2)), vi.At("b2", (0.2, 0, 0))], mass=0.4
            )
        ],
        "DeformableBody": [
            vi.DeformableBody.box(
                "f",
                (1.0, 0.5, 0.5),
                (2, 1, 1),
                E=50.0,
                nu=0.3,
                density=0.5,
                attach={"b0": range(4), "b2": range(8, 12)},
            )
        ],
        "ParticleNet": [
            vi.ParticleNet.cloth(
                "f", (1.0, 0.5), (2, 1), mass=0.5, stiffness=20.0, damping=0.01, attach={"b0": range(2), "b2": [4]}
            )
        ],
        "JointCoulombFriction": [vi.JointCoulombFriction("f", joint="hinge", coefficient=0.2, radius=0.05)],
    }


# of `samples`, so that collecting the tests makes none
NAMES = (
    "Spring", "Spring to the world", "Cable", "TorsionSpring", "second angle", "JointDamper on a slide",
    "JointDamper on a ball", "JointFriction", "JointFriction on a ball", "PointDamper", "Motor and JointServo",
    "FirstOrderActuator", "PointForce", "PointTorque", "BodyDamper", "Drag", "CentralGravity", "Bushing",
    "BeamElement", "GroundContact", "SphereContact", "UserContact", "JointStop", "StrainSpring", "TabulatedSpring",
    "TabulatedTorsionSpring", "LengthStop", "MultiPointSpring", "MultiPointCable", "VelocityMotor", "UserSpring",
    "UserJointForce", "rotation vector", "roll, pitch, yaw", "spline", "surface", "three turns", "Tendon",
    "Musculotendon", "Gear", "RackAndPinion", "Screw", "Belt", "Equality", "Coupling", "CoordinateMap", "Attachment",
    "UserConstraint", "PrescribedMotion", "PrescribedPoint", "PrescribedBody", "RollingWheel", "KnifeEdge",
    "UserRateConstraint", "HardContact", "Contact", "ContactPairs", "PathMass", "DeformableBody", "ParticleNet",
    "JointCoulombFriction",
)  # fmt: skip
STATES = {"FirstOrderActuator", "Musculotendon"}  # with states of their own
SOLVED_FOR = {"HardContact", "Contact", "ContactPairs", "DeformableBody", "ParticleNet", "JointCoulombFriction"}
RESTRICTED = {*SOLVED_FOR, "PathMass"}  # that most uses refuse; test_forces.py compares with what the forces say
IN_STEPS = [name for name in NAMES if name not in RESTRICTED]


class Samples(Mapping):
    """`samples` of one seed, made when a test asks for the first of them."""

    def __getitem__(self, name):
        return _made()[name]

    def __iter__(self):
        return iter(NAMES)

    def __len__(self):
        return len(NAMES)


@cache
def _made():
    return samples(np.random.default_rng(0))


SAMPLES = Samples()


def wave(x):
    return 0.5 * x + 0.3 * np.sin(2 * x), 0.5 + 0.6 * np.cos(2 * x), -1.2 * np.sin(2 * x)


def square(x):
    return 0.4 * x * x, 0.8 * x, 0.8


def bent_map():
    """Coordinates of `sample_mechanism` that follow another by functions; such a force is in no file."""
    return vi.CoordinateMap("f", coordinates=[("hinge", 0), ("slider", 0), ("hooke", 1)], functions=[square, wave])


def sample_mechanism(rng, forces=()):
    """Four bodies b0 to b3 in a chain, on a hinge, a sliding and turning joint, a Hooke joint and a ball.

    More on a spline curve "track", a spline surface "sheet" or three turns "gimbal", where ``forces`` name these.
    """
    tree = random_tree(rng, 4, kinds=("Spherical",))
    bodies = tree.bodies
    if any(isinstance(force, vi.Contact | vi.ContactPairs) for force in forces):
        bodies = [dataclasses.replace(body, collision=[vi.SphereShape(1e-3)]) for body in bodies]
    kinds = {"hinge": "Revolute", "slider": "Cylindrical", "hooke": "Universal", "ball": "Spherical"}
    joints = [
        random_joint(rng, kind, name, f"b{i - 1}" if i else "world", f"b{i}", bodies[i].position + 0.3)
        for i, (name, kind) in enumerate(kinds.items())
    ]
    own = np.random.default_rng(7)
    for k, name in enumerate(dict.fromkeys(force.joint for force in forces if getattr(force, "joint", "") in MORE)):
        bodies = [*bodies, random_body(own, f"b{4 + k}")]
        ends = f"b{3 + k}", f"b{4 + k}"
        joint = random_joint(own, MORE[name], name, *ends, bodies[-1].position + 0.3)
        joints.append(dataclasses.replace(joint, **MIDDLE.get(name, {})))
    return vi.Mechanism("forced", bodies, joints, forces=[from_its_place(force, bodies) for force in forces])


def from_its_place(force, bodies):
    """The sample of a body in motion starts where the body is, the path of three bodies as long as it is there."""
    at = {body.name: body for body in bodies}
    if isinstance(force, vi.UserConstraint):
        x = np.array([at[name].position for name in force.bodies])
        R = np.array([rotation_matrix(at[name].quat_wxyz) for name in force.bodies])
        return dataclasses.replace(force, g=PathOfThree(force.g(x, R)))
    if not isinstance(force, vi.PrescribedBody):
        return force
    return dataclasses.replace(force, position=Swung(tuple(at[force.body].position)))
