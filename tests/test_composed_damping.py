"""Compositions refuse dissipative forces that they may amplify, before the first step."""

import numpy as np
import pytest

import varint as vi
from varint.methods.variational.schemes import SCHEMES

ORIGIN = (0, 0, 0)
DT = 1e-3
BLOCK = vi.Body.sphere("b", 0.1, 1.0)
SLIDE = vi.Prismatic("p", "world", "b", point=ORIGIN, axis=(1, 0, 0))
FREE = vi.Free("f", "world", "b")


def dissipative(z, dt=DT):
    """A mechanism of one block of 1 kg for each dissipative force with c dt / m = ``z``."""
    c = z / dt
    forces = [
        (SLIDE, vi.JointDamper("d", joint="p", damping=c)),
        (SLIDE, vi.TorsionSpring("d", joint="p", stiffness=1.0, damping=c)),
        (SLIDE, vi.JointServo("d", joint="p", target=0.0, stiffness=1.0, damping=c)),
        (SLIDE, vi.JointFriction("d", joint="p", effort=c * 1e-2)),
        (SLIDE, vi.VelocityMotor("d", joint="p", speed=0.0, max_effort=c * 1e-2)),
        (FREE, vi.BodyDamper("d", "b", linear=c)),
        (FREE, vi.Bushing("d", "world", "b", point=ORIGIN, stiffness=[0.0] * 6, damping=[c, 0, 0, 0, 0, 0])),
        (FREE, vi.Drag("d", "b", linear=0.5 * c)),
    ]
    return [vi.Mechanism("m", [BLOCK], [joint], gravity=ORIGIN, forces=[force]) for joint, force in forces]


def moving(mechanism):
    return mechanism.state(velocity={"b": (1.0, 0, 0)})


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [name for name, scheme in SCHEMES.items() if scheme.order > 2])
def test_a_force_in_a_band_is_refused_with_its_value_and_the_bound(scheme):
    for lower, upper in SCHEMES[scheme].amplified:
        for mechanism in dissipative(0.5 * (lower + upper)):
            with pytest.raises(vi.ArgumentError, match=r"'d' damps by up to .* c dt / m .* order=2"):
                vi.simulate(mechanism, 0.02, DT, scheme=scheme, state=moving(mechanism))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [name for name, scheme in SCHEMES.items() if scheme.order > 2])
def test_forces_below_the_bands_come_to_rest(scheme):
    for mechanism in dissipative(0.9 * SCHEMES[scheme].amplified[0, 0]):
        run = vi.simulate(mechanism, 0.2, DT, scheme=scheme, state=moving(mechanism))
        speed = np.abs(run.velocity[:, 0, 0])
        assert speed.max() < 1.001
        assert (np.diff(run.kinetic) < 1e-12).all()


def test_bands_are_those_of_the_factor_of_a_step():
    np.testing.assert_allclose(SCHEMES["suzuki"].amplified, [[3.0228, 3.0552]], atol=1e-4)
    np.testing.assert_allclose(SCHEMES["sofroniou-spaletta-13"].amplified, [[5.6555, 5.773]], atol=2e-4)
    np.testing.assert_allclose(SCHEMES["sofroniou-spaletta-21"].amplified, [[5.226, 5.228], [8.0285, 8.671]], atol=5e-4)


def test_a_constant_inertia_may_lie_beyond_a_band():
    mechanism = dissipative(3.3)[0]
    run = vi.simulate(mechanism, 0.05, DT, order=4, state=moving(mechanism))
    assert abs(run.rates["p"][-1]) < 1e-3


@pytest.mark.parametrize("order", [4, 6, 8])
@pytest.mark.parametrize("start", [0.0, 0.5])
def test_an_inertia_that_may_pass_a_band_is_refused(order, start):
    parts = [{"type": "Revolute", "axis": (0, 1, 0)}, {"type": "Prismatic", "axis": (0, 0, -1)}]
    bob = vi.Body.sphere("bob", 0.1, 1.0, position=(0, 0, -0.9))
    arm = vi.Composite("r", "world", "bob", point=ORIGIN, parts=parts)
    hoist = vi.PrescribedMotion("hoist", joint="r", coordinate=1, rate=-0.1)
    damper = vi.JointDamper("pivot", joint="r", coordinate=0, damping=1500.0)  # z = 1.9 at the start
    mechanism = vi.Mechanism("hoisted", [bob], [arm], forces=[hoist, damper])
    state = mechanism.state(coordinates={"r": (start, 0.0)}, rates={"r": (0.0, -0.1)})
    with pytest.raises(vi.ArgumentError, match="'pivot'"):
        vi.simulate(mechanism, 1.0, DT, order=order, state=state)


def test_dampers_add_up():
    forces = [vi.JointDamper(f"d{k}", joint="p", damping=1e3) for k in range(3)]
    mechanism = vi.Mechanism(
        "m", [BLOCK], [SLIDE], gravity=ORIGIN, forces=[*forces, vi.BodyDamper("e", "b", linear=39)]
    )
    with pytest.raises(vi.ArgumentError, match="c dt / m"):
        vi.simulate(mechanism, 0.02, DT, order=4, state=moving(mechanism))


def test_light_links_between_heavy_ones_are_no_reason():
    rotor = vi.Body("rotor", mass=1.0, inertia=np.diag([0.002, 0.002, 0.004]), position=(0.2, 0, 0))
    light = [vi.Body(name, mass=1e-3, inertia=np.eye(3) * 1e-7) for name in ("yoke", "arm")]
    joints = [
        vi.Revolute("az", "world", "yoke", point=ORIGIN, axis=(0, 0, 1)),
        vi.Revolute("el", "yoke", "arm", point=ORIGIN, axis=(0, 1, 0)),
        vi.Revolute("sp", "arm", "rotor", point=(0.2, 0, 0), axis=(1, 0, 0)),
    ]
    damper = vi.JointDamper("d", joint="el", damping=0.01)
    mechanism = vi.Mechanism("gimbal", [*light, rotor], joints, forces=[damper])
    vi.simulate(mechanism, 0.01, DT, order=4)


def test_gradients_and_chosen_steps_know():
    mechanism = dissipative(3.04)[0]
    with pytest.raises(vi.ArgumentError, match="'d' damps"):
        vi.gradient(
            mechanism,
            lambda run: run.velocity[-1, 0, 0],
            0.02,
            DT,
            order=4,
            state=moving(mechanism),
            with_respect_to=["d.damping"],
        )
    run = vi.simulate(mechanism, 0.02, "auto", order=4, state=moving(mechanism))
    assert abs(run.rates["p"][-1]) < 1e-3
