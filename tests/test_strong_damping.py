"""Strong dissipation at order 2: no step leaves more than half of a momentum, and what has stopped stays."""

import warnings

import numpy as np
import pytest

import varint as vi

ORIGIN = (0, 0, 0)
DT = 1e-3
BLOCK = vi.Body.sphere("b", 0.1, 1.0)
SLIDE = vi.Prismatic("p", "world", "b", point=ORIGIN, axis=(1, 0, 0))
FREE = vi.Free("f", "world", "b")
ALONG = {
    "joint damper": lambda c: vi.JointDamper("d", joint="p", damping=c),
    "torsion spring": lambda c: vi.TorsionSpring("d", joint="p", stiffness=0.0, damping=c),
    "servo": lambda c: vi.JointServo("d", joint="p", target=0.0, stiffness=0.0, damping=c),
    "friction": lambda c: vi.JointFriction("d", joint="p", effort=1e2 * c, smoothing=1e2),
    "motor": lambda c: vi.VelocityMotor("d", joint="p", speed=0.0, max_effort=1e2 * c, smoothing=1e2),
    "body damper": lambda c: vi.BodyDamper("d", "b", linear=c),
    "bushing": lambda c: vi.Bushing("d", "world", "b", point=ORIGIN, stiffness=[0.0] * 6, damping=[c] * 6),
    "spring": lambda c: vi.Spring("d", "world", "b", point_a=(-1, 0, 0), point_b=ORIGIN, stiffness=0.0, damping=c),
}
ENDS = {"point_a": (-1, 0, 0), "point_b": ORIGIN, "stiffness": 1e-6}
ONE_SIDED = {
    "cable": lambda c: vi.Cable("d", "world", "b", rest_length=0.5, damping=c, **ENDS),
    "tendon": lambda c: vi.Tendon(
        "d", path=[vi.At("world", (-1, 0, 0)), vi.At("b", ORIGIN)], stiffness=1e-6, rest_length=0.5, damping=c
    ),
    "cable over points": lambda c: vi.MultiPointCable(
        "d", bodies=["world", "b"], points=[(-1, 0, 0), ORIGIN], stiffness=1e-6, rest_length=0.5, damping=c
    ),
    "soft stop": lambda c: vi.JointStop("d", joint="p", lower=-1.0, upper=-0.5, stiffness=1e-6, damping=c),
    "soft length": lambda c: vi.LengthStop("d", "world", "b", lower=0.0, upper=0.5, damping=c, **ENDS),
}
SIZES = (1e-3, 0.1, 1.0, 1.9, 2.1, 4.0, 5.9, 6.1, 10.0, 1e2, 1e4, 1e6)


def slowed(name, z, order=2, steps=4, dt=DT):
    """Velocities of a block of 1 kg from 1 m/s on, with c dt / m = ``z``."""
    force = (ALONG | ONE_SIDED)[name](z / dt)
    joint = SLIDE if getattr(force, "joint", None) else FREE
    mechanism = vi.Mechanism("m", [BLOCK], [joint], gravity=ORIGIN, forces=[force])
    run = vi.simulate(mechanism, steps * dt, dt, order=order, state=mechanism.state(velocity={"b": (1, 0, 0)}))
    return run.velocity[:, 0, 0]


@pytest.mark.parametrize("name", ALONG)
def test_the_factor_of_a_step(name):
    bends = name in ("friction", "motor")
    for z in SIZES:
        factor = slowed(name, z)[1]
        assert -0.5 <= factor <= 1.0
        assert z < 2.0 or factor <= 0.5
        lead = (1.0 if z > 2.0 else 0.0) if bends else (1 / 3 if z > 6.0 else 0.0)
        expected = (1 - (1 - lead) * z / 2) / (1 + (1 + lead) * z / 2)
        assert factor == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("name", ONE_SIDED)
def test_what_only_pulls_or_pushes_does_not_throw_back(name):
    for z in (1.9, 2.1, 6.1, 1e3, 1e6):
        speeds = slowed(name, z, steps=20)
        lead = 1.0 if z > 2.0 else 0.0
        assert speeds[1] == pytest.approx((1 - (1 - lead) * z / 2) / (1 + (1 + lead) * z / 2), abs=1e-6)
        assert speeds.min() > -1e-6


@pytest.mark.parametrize("name", ONE_SIDED)
def test_compositions_would_throw_it_back_and_refuse(name):
    with pytest.raises(vi.ArgumentError, match="Take order=2, which damps at any step"):
        slowed(name, 1e3, order=4)


def test_a_much_stronger_damper_ends_a_motion_after_a_sixth_of_a_step():
    speeds = slowed("joint damper", 1e6, steps=60)
    assert DT * (0.5 * (speeds[1:] + speeds[:-1])).sum() == pytest.approx(DT / 6, rel=1e-4)


@pytest.mark.parametrize(("stiffness", "damping"), [(1e6, 1e2), (1e4, 1e4), (1e6, 1e6)])
def test_a_strongly_damped_pressure_does_not_throw_back(stiffness, damping):
    """Hunt and Crossley's law lets go at the rate 1 / c, and so does the body, however fast it came."""
    law = {"law": "hunt-crossley", "stiffness": stiffness, "damping": damping}
    force = vi.GroundContact("d", "b", radius=0.1, ground=(-0.1005, 0, 0), normal=(1, 0, 0), **law)
    mechanism = vi.Mechanism("m", [BLOCK], [SLIDE], gravity=ORIGIN, forces=[force])
    run = vi.simulate(mechanism, 40 * DT, DT, state=mechanism.state(velocity={"b": (-1, 0, 0)}))
    assert run.velocity[-1, 0, 0] == pytest.approx(1.0 / damping, rel=0.01)
    assert run.velocity[:, 0, 0].max() < 1.01 / damping


@pytest.mark.parametrize("order", [1, 2, 4])
def test_beams_that_ring_are_told(order):
    """An element of a beam goes by mean rates: it says so where its damper should end a motion at once."""

    def told(stiffness, damping):
        beam = vi.BeamElement("d", "world", "b", point_a=ORIGIN, point_b=ORIGIN, stiffness=stiffness, damping=damping)
        mechanism = vi.Mechanism("m", [BLOCK], [FREE], gravity=ORIGIN, forces=[beam])
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            vi.simulate(mechanism, 10 * DT, DT, order=order, state=mechanism.state(velocity={"b": (1e-3, 0, 0)}))
        return [str(each.message) for each in found]

    (message,) = told([0.0] * 6, [1e6] * 6)
    assert "beamelement 'd' damps by up to 1e+06" in message
    assert "at once, and may turn it round. Take dt below" in message
    assert not told([1e4] * 6, [1.0] * 6)


@pytest.mark.parametrize("z", SIZES)
def test_drag_slows_without_turning(z):
    force = vi.Drag("d", "b", linear=z / DT)
    mechanism = vi.Mechanism("m", [BLOCK], [FREE], gravity=ORIGIN, forces=[force])
    run = vi.simulate(mechanism, 5 * DT, DT, state=mechanism.state(velocity={"b": (1, 0, 0)}))
    speed = run.velocity[:, 0, 0]
    assert (speed >= 0.0).all()
    assert (np.diff(speed) < 0.0).all()


@pytest.mark.parametrize("name", ALONG)
def test_order_two_below(name):
    errors = [slowed(name, z, steps=round(8 / z), dt=DT * z)[-1] - np.exp(-8.0) for z in (0.5, 0.25)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("damping", [1e4, 1e6])
def test_an_arm_creeps_down(damping):
    rod = vi.Body.rod("r", ORIGIN, (0, 0, -1), 1.0, radius=0.02)
    hinge = vi.Revolute("h", "world", "r", point=ORIGIN, axis=(0, 1, 0))
    mechanism = vi.Mechanism("m", [rod], [hinge], forces=[vi.JointDamper("d", joint="h", damping=damping)])
    run = vi.simulate(mechanism, 0.1, DT, state=mechanism.state(coordinates={"h": 1.0}, rates={"h": 0.5}))
    np.testing.assert_allclose(run.rates["h"][-2:], -4.905 * np.sin(1.0) / damping, rtol=2e-3)


@pytest.mark.parametrize(("inertia", "effort"), [(1e-5, 0.1), (1e-4, 0.5), (1e-3, 1.0)])
def test_what_dry_friction_has_stopped_stays(inertia, effort):
    body = vi.Body("b", mass=0.1, inertia=np.eye(3) * inertia)
    hinge = vi.Revolute("h", "world", "b", point=ORIGIN, axis=(0, 0, 1))
    friction, push = vi.JointFriction("f", joint="h", effort=effort), vi.Motor("m", joint="h", effort=0.5 * effort)
    for forces, creep in (((friction,), 0.0), ((friction, push), 1e-2 * np.arctanh(0.5))):
        mechanism = vi.Mechanism("m", [body], [hinge], gravity=ORIGIN, forces=forces)
        run = vi.simulate(mechanism, 0.1, DT, state=mechanism.state(rates={"h": 10.0}))
        assert run.rates["h"].min() >= -1e-12
        np.testing.assert_allclose(run.rates["h"][-20:], creep, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_chains_of_dampers_only_slow_down(seed):
    """Dampers of random strengths between and on all links: no motion gains kinetic energy, none swings on."""
    rng = np.random.default_rng(seed)
    rods = [vi.Body.rod(f"r{k}", (0.2 * k, 0, 0), (0.2 * k + 0.2, 0, 0), 10 ** rng.uniform(-2, 0)) for k in range(6)]
    names = ["world", *(rod.name for rod in rods)]
    joints = [
        vi.Revolute(f"h{k}", names[k], names[k + 1], point=(0.2 * k, 0, 0), axis=rng.standard_normal(3))
        for k in range(6)
    ]
    forces = [vi.JointDamper(f"d{k}", joint=f"h{k}", damping=10 ** rng.uniform(-5, 2)) for k in range(6)]
    forces += [vi.JointFriction(f"f{k}", joint=f"h{k}", effort=10 ** rng.uniform(-4, 1)) for k in range(0, 6, 2)]
    forces += [vi.BodyDamper(f"b{k}", rods[k].name, linear=10 ** rng.uniform(-3, 3)) for k in range(1, 6, 2)]
    mechanism = vi.Mechanism("chain", rods, joints, gravity=ORIGIN, forces=forces)
    state = mechanism.state(rates={joint.name: rng.uniform(-1, 1) for joint in joints})
    run = vi.simulate(mechanism, 0.1, DT, state=state, on_unresolved="ignore")
    assert (np.diff(run.kinetic) <= 1e-9 * run.kinetic[0]).all()
    rates = np.array([run.rates[joint.name] for joint in joints])[:, -12:]
    bend = np.diff(rates, 2, axis=1)
    swings = (np.abs(bend) > 1e-3 * np.abs(rates).max()) & (np.sign(bend) != np.sign(np.roll(bend, 1, axis=1)))
    assert not swings[:, 1:].all(axis=1).any()


def test_a_run_goes_on_from_a_node():
    rod = vi.Body.rod("r", ORIGIN, (0, 0, -1), 1.0, radius=0.02)
    hinge = vi.Revolute("h", "world", "r", point=ORIGIN, axis=(0, 1, 0))
    forces = [vi.JointDamper("d", joint="h", damping=1e4), vi.JointFriction("f", joint="h", effort=1.0)]
    mechanism = vi.Mechanism("m", [rod], [hinge], forces=forces)
    whole = vi.simulate(mechanism, 0.02, DT, state=mechanism.state(coordinates={"h": 1.0}, rates={"h": 0.5}))
    rest = vi.simulate(mechanism, 0.01, DT, state=whole.state(10))
    np.testing.assert_allclose(rest.rates["h"], whole.rates["h"][10:], rtol=0, atol=1e-12)


def test_weak_dampers_beside_strong_ones_stay_of_second_order():
    """The pendulum at the end of a link that a damper all but locks."""
    rods = [vi.Body.rod(f"r{k}", (0.3 * k, 0, 0), (0.3 * k + 0.3, 0, 0), 0.5) for k in range(2)]
    joints = [
        vi.Revolute("h0", "world", "r0", point=ORIGIN, axis=(0, 1, 0)),
        vi.Revolute("h1", "r0", "r1", point=(0.3, 0, 0), axis=(0, 1, 0)),
    ]
    forces = [vi.JointDamper("lock", joint="h0", damping=1e7), vi.JointDamper("d", joint="h1", damping=0.1)]
    mechanism = vi.Mechanism("m", rods, joints, forces=forces)
    ends = [vi.simulate(mechanism, 0.4, dt).coordinates["h1"][-1] for dt in (1e-2, 5e-3, 2.5e-3)]
    assert np.log2((ends[0] - ends[1]) / (ends[1] - ends[2])) == pytest.approx(2.0, abs=0.2)


def chain(forces):
    rods = [vi.Body.rod(f"r{k}", (0.3 * k, 0, 0), (0.3 * k + 0.3, 0, 0), 0.5, radius=0.02) for k in range(2)]
    joints = [
        vi.Revolute("h0", "world", "r0", point=ORIGIN, axis=(0, 1, 0)),
        vi.Revolute("h1", "r0", "r1", point=(0.3, 0, 0), axis=(0, 0, 1)),
    ]
    return vi.Mechanism("chain", rods, joints, forces=forces)


GRADIENTS = {
    "d.damping": lambda x: [vi.JointDamper("d", joint="h1", damping=50.0 * x)],
    "d.effort": lambda x: [vi.JointFriction("d", joint="h0", effort=0.5 * x, smoothing=0.1)],
    "d.linear": lambda x: [vi.BodyDamper("d", "r1", linear=200.0 * x)],
    "d.speed": lambda x: [vi.VelocityMotor("d", joint="h0", speed=x, max_effort=5.0, smoothing=0.5)],
    "d.stiffness": lambda x: [
        vi.Spring("d", "world", "r1", point_a=(0, 0, 1), point_b=(0.5, 0, 0), stiffness=20.0 * x, damping=300.0)
    ],
}
UNITS = {"d.damping": 50.0, "d.effort": 0.5, "d.linear": 200.0, "d.speed": 1.0, "d.stiffness": 20.0}


@pytest.mark.slow
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_those_of_the_run(name):
    def last(state):
        return float(state.velocity[1] @ (1.0, 2.0, 3.0) + state.position[1] @ (3.0, 1.0, 2.0))

    def value(x, rate=0.5):
        mechanism = chain(GRADIENTS[name](x))
        state = mechanism.state(coordinates={"h0": 0.3}, rates={"h0": 1.0, "h1": rate})
        run = vi.simulate(mechanism, 0.04, 4e-3, state=state, on_unresolved="ignore", tol=1e-12)
        return last(run.state(len(run) - 1))

    mechanism = chain(GRADIENTS[name](1.0))
    state = mechanism.state(coordinates={"h0": 0.3}, rates={"h0": 1.0, "h1": 0.5})
    found = vi.gradient(mechanism, last, 0.04, 4e-3, state=state, with_respect_to=[name], tol=1e-12)
    exact = (value(1.0 + 1e-4) - value(1.0 - 1e-4)) / 2e-4
    assert found[name] * UNITS[name] == pytest.approx(exact, rel=1e-6, abs=1e-9)


def test_gradients_beside_prescribed_motions_are_refused():
    forces = [vi.PrescribedMotion("m", joint="h0", rate=1.0), vi.JointDamper("d", joint="h1", damping=50.0)]
    mechanism = chain(forces)
    with pytest.raises(vi.ArgumentError, match=r"jointdamper 'd' damps so strongly.*prescribedmotion 'm'"):
        vi.gradient(mechanism, lambda state: 0.0, 0.04, 4e-3, with_respect_to=["d.damping"])


@pytest.mark.slow
def test_gradients_beside_them_of_dampers_that_are_not_strong():
    """By the bodies' own inertias the light body alone would have a strong damper; with its joints it has not."""

    def mechanism(damping):
        rods = [vi.Body.rod("r0", ORIGIN, (0.3, 0, 0), 0.5, radius=0.02)]
        light = vi.Body("light", mass=0.01, inertia=np.eye(3) * 1e-6, position=(0.3, 0, 0))
        heavy = vi.Body.rod("r1", (0.3, 0, 0), (0.6, 0, 0), 0.5, radius=0.02)
        joints = [
            vi.Revolute("h0", "world", "r0", point=ORIGIN, axis=(0, 1, 0)),
            vi.Revolute("h1", "r0", "light", point=(0.3, 0, 0), axis=(0, 1, 0)),
            vi.Revolute("h2", "light", "r1", point=(0.3, 0, 0), axis=(1, 0, 0)),
        ]
        forces = [
            vi.PrescribedMotion("m", joint="h0", rate=1.0),
            vi.JointDamper("d", joint="h1", damping=damping),
        ]
        return vi.Mechanism("chain", [*rods, light, heavy], joints, forces=forces)

    def last(state):
        return float(state.velocity[2] @ (1.0, 2.0, 3.0))

    def value(damping):
        built = mechanism(damping)
        return last(vi.simulate(built, 0.04, 4e-3, state=built.state(rates={"h0": 1.0}), tol=1e-12).state(10))

    built = mechanism(1e-3)
    options = {"state": built.state(rates={"h0": 1.0}), "with_respect_to": ["d.damping"], "tol": 1e-12}
    slope = vi.gradient(built, last, 0.04, 4e-3, **options)["d.damping"]
    assert slope == pytest.approx((value(1.001e-3) - value(0.999e-3)) / 2e-6, rel=1e-5)


def test_a_lever_that_grows_during_the_run():
    """At the start the damper pulls along its arm; later it is all but a brake, z = 100."""
    ball = vi.Body("b", mass=1.0, inertia=np.eye(3) * 0.004)
    hinge = vi.Revolute("h", "world", "b", point=ORIGIN, axis=(0, 0, 1))
    damper = vi.Spring("d", "world", "b", point_a=(50, 0, 0), point_b=(1, 0, 0), stiffness=0.0, damping=400.0)
    motor = vi.Motor("m", joint="h", effort=lambda t: 314.0 if t < 1.0 else 0.0)
    mechanism = vi.Mechanism("m", [ball], [hinge], gravity=ORIGIN, forces=[damper, motor])
    run = vi.simulate(mechanism, 1.05, DT, on_unresolved="ignore")
    assert run.coordinates["h"][-1] > 1.4
    assert np.abs(run.rates["h"][-20:]).max() < 1e-9


@pytest.mark.parametrize("z", [20.0, 1e3, 1e6])
def test_a_slide_on_an_arm_that_turns_creeps_by_its_centrifugal_force(z):
    arm = vi.Body("arm", mass=1.0, inertia=np.eye(3) * 10.0)
    block = vi.Body("b", mass=1.0, inertia=np.eye(3) * 0.01, position=(1, 0, 0))
    joints = [
        vi.Revolute("h", "world", "arm", point=ORIGIN, axis=(0, 0, 1)),
        vi.Prismatic("s", "arm", "b", point=(1, 0, 0), axis=(1, 0, 0)),
    ]
    damper = vi.JointDamper("d", joint="s", damping=z / DT)
    mechanism = vi.Mechanism("m", [arm, block], joints, gravity=ORIGIN, forces=[damper])
    run = vi.simulate(mechanism, 0.2, DT, state=mechanism.state(rates={"h": 2.0}), tol=1e-12)
    creep = (run.coordinates["s"][-1] - run.coordinates["s"][100]) / 0.1
    assert creep == pytest.approx(4.0 * DT / z, rel=0.01)


@pytest.mark.parametrize("name", ["arm.mass", "d.damping"])
def test_gradients_of_a_slide_on_an_arm(name):
    def value(mass, damping, rate=2.0):
        mechanism = built(mass, damping)
        run = vi.simulate(mechanism, 0.04, 4e-3, state=mechanism.state(rates={"h": rate, "s": 0.7}), tol=1e-13)
        return last(run.state(len(run) - 1))

    def last(state):
        return float(state.velocity[1] @ (1.0, 2.0, 3.0) + state.position[1] @ (3.0, 1.0, 2.0))

    def built(mass, damping):
        arm = vi.Body("arm", mass=mass, inertia=np.eye(3) * 0.3, position=(0.2, 0, 0))
        block = vi.Body("b", mass=1.0, inertia=np.eye(3) * 0.01, position=(1, 0, 0))
        joints = [
            vi.Revolute("h", "world", "arm", point=ORIGIN, axis=(0, 0, 1)),
            vi.Prismatic("s", "arm", "b", point=(1, 0, 0), axis=(1, 0.3, 0)),
        ]
        forces = [
            vi.JointDamper("d", joint="s", damping=damping),
            vi.Spring("c", "world", "b", point_a=(0, 2, 0), point_b=(1, 0, 0), stiffness=3.0, damping=3e3),
        ]
        return vi.Mechanism("m", [arm, block], joints, gravity=(1, 2, 0), forces=forces)

    mechanism = built(1.0, 2e3)
    options = {"state": mechanism.state(rates={"h": 2.0, "s": 0.7}), "with_respect_to": [name], "tol": 1e-13}
    slope = vi.gradient(mechanism, last, 0.04, 4e-3, **options)[name]
    h = 1e-4
    if name == "arm.mass":
        exact = (value(1.0 + h, 2e3) - value(1.0 - h, 2e3)) / (2 * h)
    else:
        exact = (value(1.0, 2e3 * (1 + h)) - value(1.0, 2e3 * (1 - h))) / (4e3 * h)
    assert slope == pytest.approx(exact, rel=2e-6, abs=1e-12)
