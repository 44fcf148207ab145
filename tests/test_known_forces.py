"""The table of which use of a mechanism knows which forces holds: each cell is tried."""

from dataclasses import replace

import numpy as np
import pytest

import varint as vi
from varint.formulations import Stepped
from varint.methods.reduced.integrators import with_contacts
from varint.model.known_forces import TRAITS, USES

DT, STEPS = 0.01, 2
DURATION = STEPS * DT


def wound(smoothing):
    """A muscle with mass around a ball."""
    ball = vi.Around("link 1", vi.SphereSurface((0.3, 0.5, -0.5), 0.1))
    path = [vi.At("world", (0.5, 0.0, 0.2)), ball, vi.At("link 2", (0.1, 0.0, -1.2))]
    lengths = {"optimal_length": 0.5, "slack_length": 0.5, "smoothing": smoothing}
    return vi.Musculotendon("force", path=path, max_force=1.0, activation_times=None, mass=0.1, **lengths)


def forced(*forces):
    """A double pendulum with forces."""
    return replace(vi.mechanisms.double_pendulum(), forces=forces)


def touching():
    """A double pendulum above a plane that its second link could touch."""
    pendulum = vi.mechanisms.double_pendulum()
    bodies = [replace(body, collision=[vi.SphereShape(0.01)]) for body in pendulum.bodies]
    floor = [vi.PlaneShape((0, 0, -9.0))]
    return replace(pendulum, bodies=bodies, ground=floor, forces=[vi.Contact("force", "link 2", "world")])


def resisting():
    """`touching` with rolling resistance."""
    mechanism = touching()
    return replace(mechanism, forces=[replace(mechanism.forces[0], rolling=0.001)])


def rimmed():
    """`touching` with a cylinder."""
    mechanism = touching()
    bodies = [replace(body, collision=[vi.CylinderShape((0, 0, 0), (0, 0, 0.01), 0.01)]) for body in mechanism.bodies]
    return replace(mechanism, bodies=bodies)


def several():
    body = vi.Body.box("body", (0.2, 0.1, 0.4), 1.0, position=(0.0, 0.0, -0.3))
    ball = vi.Universal("joint", "world", "body", point=(0, 0, 0), axis=(1, 0, 0), axis_b=(0, 1, 0))
    drive = vi.PrescribedMotion("force", joint="joint", coordinate=0, rate=0.0)
    return vi.Mechanism("two turns", [body], [ball], forces=[drive])


def curved(value):
    return value + 0.1 * value * value, 1.0 + 0.2 * value, 0.2


def moved():
    tip = forced().body("link 2").position
    return forced(vi.PrescribedPoint("force", body="link 2", point=tip, position=tip))


def attached():
    """Links that a joint holds together, once more."""
    knee = forced().joint("joint 2").point
    return forced(vi.Attachment("force", "link 2", point=knee, to=[("link 1", knee, 1.0)]))


def lean(position, rotation):
    """How much more the second link leans than the first, m."""
    return 0.4 * (rotation[1][0, 2] - rotation[0][0, 2])


def soft():
    """A double pendulum whose first joint is called as the forces of the others."""
    bare = vi.mechanisms.double_pendulum()
    joints = [replace(joint, compliance=1e-3) for joint in bare.joints]
    joints[0] = replace(joints[0], name="force")
    return replace(bare, joints=joints, start={})


def soft_events():
    """`soft` with a hard stop of the same name."""
    mechanism = soft()
    stop = vi.JointStop("force", joint="joint 2", lower=-3.0, upper=3.0)
    return replace(mechanism, forces=[*mechanism.forces, stop])


def swivelling():
    """A double pendulum whose second joint is a ball with friction."""
    bare = vi.mechanisms.double_pendulum()
    ball = vi.Spherical("joint 2", "link 1", "link 2", point=bare.joint("joint 2").point)
    friction = vi.JointCoulombFriction("force", joint="joint 2", coefficient=0.1, radius=0.01)
    return replace(bare, joints=[bare.joints[0], ball], forces=[friction], start={})


def rubbing_beside():
    """Friction of a joint beside a contact of another name."""
    rubbing = vi.JointCoulombFriction("force", joint="joint 1", coefficient=0.1, radius=0.01)
    floor = vi.HardContact("floor", "link 2", ground=(0.0, 0.0, -9.0))
    return forced(rubbing).with_forces(add=floor)


MECHANISMS = {
    "impulses": lambda: forced(vi.JointCoulombFriction("force", joint="joint 1", coefficient=0.1, radius=0.01)),
    "several rub": swivelling,
    "rubs beside": rubbing_beside,
    "wraps": lambda: forced(
        vi.Tendon(
            "force",
            path=[
                vi.At("world", (0.5, 0.0, 0.2)),
                vi.Around("link 1", vi.SphereSurface((0.3, 0.5, -0.5), 0.1)),
                vi.At("link 2", (0.1, 0.0, -1.2)),
            ],
            stiffness=1.0,
        )
    ),
    "path": lambda: forced(
        vi.PathMass("force", path=[vi.At("world", (0.1, 0.0, 0.2)), vi.At("link 1", (0.0, 0.1, 0.0))], mass=0.1)
    ),
    "mass around": lambda: forced(wound(0.005)),
    "sharp": lambda: forced(wound(0.0)),
    "mesh": lambda: forced(
        vi.DeformableBody.box(
            "force", (0.2, 0.1, 0.1), (2, 1, 1), E=1e4, nu=0.3, density=100.0, attach={"link 1": range(4)}
        )
    ),
    "contacts": lambda: forced(vi.HardContact("force", "link 2", ground=(0.0, 0.0, -9.0))),
    "shapes": touching,
    "resists": resisting,
    "rims": rimmed,
    "hard": lambda: forced(vi.JointStop("force", joint="joint 1", lower=-3.0, upper=3.0)),
    "soft": soft,
    "soft events": soft_events,
    "moved": moved,
    "several": several,
    "driven": lambda: forced(vi.PrescribedMotion("force", joint="joint 1", rate=0.0)),
    "attached": attached,
    "of poses": lambda: forced(vi.UserConstraint("force", ["link 1", "link 2"], lean)),
    "coupled": lambda: forced(vi.Gear("force", joint_a="joint 1", joint_b="joint 2", radius_a=0.1, radius_b=0.2)),
    "bent": lambda: forced(vi.CoordinateMap("force", coordinates=[("joint 1", 0), ("joint 2", 0)], functions=[curved])),
    "rolling": lambda: forced(vi.KnifeEdge("force", body="link 2", direction=(1, 0, 0.3), normal=(0, 1, 0))),
    "internal": lambda: forced(vi.JointServo("force", joint="joint 1", target=0.1, stiffness=3.0, integral=1.0)),
    "series": lambda: forced(vi.Motor("force", joint="joint 1", effort=np.zeros(STEPS + 1))),
    "feedback": lambda: forced(vi.Motor("force", joint="joint 1", effort=lambda t, state: 0.0)),
    "extrapolated": lambda: forced(vi.Motor("force", joint="joint 1", effort=vi.extrapolated(lambda t, state: 0.0))),
}


def objective(state):
    return float(state.position[0, 0])


def reduced(mechanism):
    state = mechanism.state()
    return vi.redmax.gradient(mechanism, objective, DURATION, DT, state=state, with_respect_to=["gravity"])


def simulated(mechanism):
    """A run in reduced coordinates, of what they know; else in maximal ones."""
    if mechanism.force_traits[0] & {"soft", "shapes", "mesh"}:
        return vi.simulate(mechanism, DURATION, DT)
    return vi.redmax.simulate(mechanism, DURATION, DT, integrator=with_contacts()[0])


def efforts(mechanism):
    run = simulated(mechanism)
    free = len(mechanism.joints) - isinstance(mechanism.forces[0], vi.CoordinateMap | vi.Gear | vi.UserConstraint)
    return vi.inverse_dynamics(run, joints=[joint.name for joint in mechanism.joints[:free]])


CALLS = {
    "steps": lambda m: vi.simulate(m, DURATION, DT),
    "composed steps": lambda m: vi.simulate(m, DURATION, DT, order=4),
    "adaptive steps": lambda m: vi.simulate(m, DURATION, DT, adaptive=True, on_unresolved="ignore"),
    "step choice": lambda m: vi.choose_step(m, DURATION, energy_error=0.1, order=2),
    "collocation steps": lambda m: vi.simulate(vi.Problem(m, duration=DURATION), vi.Lobatto(DT)),
    "contact steps": lambda m: vi.redmax.simulate(m, DURATION, DT, integrator=with_contacts()[0]),
    "contact solvers": lambda m: vi.redmax.simulate(
        m, DURATION, DT, integrator=with_contacts()[0], contact_solver="gauss_seidel"
    ),
    "located steps": lambda m: vi.redmax.simulate(m, DURATION, DT),
    "stiff steps": lambda m: vi.redmax.simulate(m, DURATION, DT, integrator="radau"),
    "reduced steps": lambda m: vi.redmax.simulate(m, DURATION, DT, integrator="rk4"),
    "implicit steps": lambda m: vi.redmax.simulate(m, DURATION, DT, integrator="bdf2"),
    "tree steps": lambda m: vi.redmax.simulate(m, DURATION, DT, integrator="gauss"),
    "rivals": lambda m: vi.simulate(vi.Problem(m, duration=DURATION), Still(dt=DT)),
    "velocity level": lambda m: vi.simulate(vi.Problem(m, duration=DURATION), vi.Maximal(dt=DT)),
    "states": lambda m: vi.energy(m, m.state()),
    "equations": lambda m: vi.EquationsOfMotion(m),
    "derivatives": lambda m: vi.EquationsOfMotion(m).stiffness(0.0, np.zeros(2), np.zeros(2)),
    "reactions": lambda m: simulated(m).acceleration,
    "runs within": lambda m: vi.time_reversal(m, DURATION, DT),
    "rest": lambda m: vi.equilibrium(m),
    "linearize": lambda m: vi.linearize(m),
    "linearize step": lambda m: vi.linearize(m, dt=DT),
    "tangents": lambda m: vi.periodic_orbit(m, m.state(), DURATION, DT, fixed_period=True),
    "collocation tangents": lambda m: vi.periodic_orbit(
        vi.Problem(m, DURATION, m.state()), vi.Lobatto(DT), fixed_period=True
    ),
    "gradient": lambda m: vi.gradient(m, objective, DURATION, DT, with_respect_to=["gravity"]),
    "collocation gradient": lambda m: vi.gradient(
        vi.Problem(m, duration=DURATION), objective, vi.Lobatto(DT), with_respect_to=[f"{m.bodies[0].name}.mass"]
    ),
    "adaptive gradient": lambda m: vi.gradient(m, objective, DURATION, DT, with_respect_to=["gravity"], adaptive=True),
    "reduced gradient": reduced,
    "inverse dynamics": efforts,
}


class Still(Stepped):
    """Stays where it is."""

    formulation, called = "still", "Still"

    def stepper(self, problem):
        return lambda state, dt: state


def test_all_are_tried():
    assert set(MECHANISMS) == set(TRAITS)
    assert set(CALLS) == set(USES)


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("trait", TRAITS)
@pytest.mark.parametrize("use", USES)
def test_each_cell(use, trait):
    """Refused by the table's error where the table says so, else not for its force."""
    mechanism = MECHANISMS[trait]()
    assert trait in mechanism.force_traits[0]
    try:
        CALLS[use](mechanism)
        message = ""
    except vi.ConvergenceError:  # no periodic motion near a guess, say
        message = ""
    except vi.ArgumentError as problem:
        message = str(problem)
        assert "do not support" in message
        assert "'force'" in message
    assert bool(message) == bool(set().union(*mechanism.force_traits) & set(USES[use].refuses))


def test_the_remedy_names_an_integrator():
    assert f"integrator='{with_contacts()[0]}'" in TRAITS["impulses"].remedy
