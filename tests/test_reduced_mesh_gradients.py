"""Gradients in reduced coordinates of runs with deformable bodies and nets, against differences of runs."""

from dataclasses import replace

import numpy as np
import pytest
from net_models import changed, value_of
from reduced_gradient_checks import ROUND_OFF, agree
from rubber_pads import arm
from test_reduced_meshes import four_bar
from test_vertex_objectives import finger, flying, of_all

import varint as vi
from varint.derivatives.meshes.numbers import AT_KINK
from varint.derivatives.numbers import SHARE, differences

DT, STEPS = 4e-3, 4
TIMES = (0.0, 0.5 * STEPS * DT, STEPS * DT)


def after(mechanism, scheme, state=None):
    run = vi.redmax.simulate(mechanism, STEPS * DT, DT, integrator=scheme, state=state)
    return of_all([run.state(0), run.state(STEPS // 2), run.state(STEPS)])


def check(mechanism, names, rng, scheme, share=2e-3):
    """All numbers at once, each along a direction in no proportion."""
    found = vi.redmax.gradient(
        mechanism, of_all, STEPS * DT, DT, scheme=scheme, times=TIMES, with_respect_to=names
    )  # fmt: skip
    assert found.value == pytest.approx(after(mechanism, scheme), abs=1e-11)
    for name in names:
        value = value_of(mechanism, name)
        way = (np.abs(value).max() or 1.0) * rng.uniform(0.2, 1.0, value.shape)

        def at(s, name=name, value=value, way=way):
            moved = value + s * way
            return after(changed(mechanism, name, moved if moved.ndim else float(moved)), scheme)

        wanted = differences(at, share)
        along = np.tensordot(found[name], way, way.ndim) if way.ndim else found[name] * way
        assert np.abs(wanted).min() > 1e-7, name
        noise = ROUND_OFF * np.abs(found.value).max() / share
        if name.endswith("rest_length"):  # the gradient differences forces over a step as short as this
            noise += np.finfo(float).eps * np.abs(wanted).max() / (SHARE * AT_KINK)
        assert along == pytest.approx(wanted, rel=1e-7, abs=1e-8 * np.abs(wanted).max() + noise), name


def loop(**given):
    """A four-bar whose coupler a damped pad holds to its rocker, with a spring."""
    plain = four_bar(damping=5e-3, **given)
    spring = vi.Spring(
        "spring", "a", "c", point_a=(-0.3, 0, 0.2), point_b=(0.35, 0, 0.2), stiffness=40.0, rest_length=0.5
    )  # fmt: skip
    return replace(plain, forces=[*plain.forces, spring])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["sdirk2", "bdf2", "bdf1"])
def test_of_a_deformable_body(rng, scheme):
    names = ["finger.E", "finger.density", "finger.damping", "finger.nu", "tip.mass", "plate.position"]
    check(finger(), names, rng, scheme)


@pytest.mark.slow
@pytest.mark.parametrize("material", ["neohookean", "stvk"])
def test_of_other_materials(rng, material):
    check(arm(material=material, damping=1e-3), ["pad.E", "pad.density", "pad.damping", "b.mass"], rng, "sdirk2")


@pytest.mark.slow
def test_of_particles(rng):
    of_net = [f"cloth.{field}" for field in ("stiffness", "damping", "masses", "rest_length")]
    check(flying(), [*of_net, "block.mass", "block.position", "motor.effort", "gravity"], rng, "bdf2")


@pytest.mark.slow
def test_of_a_loop(rng):
    check(loop(), ["pad.E", "pad.damping", "spring.stiffness", "a.mass"], rng, "sdirk2")


@pytest.mark.slow
@pytest.mark.parametrize("make", [finger, loop])
def test_by_the_start(make):
    mechanism = make()
    start = vi.redmax.reduced_state(mechanism, mechanism.state())
    given = {"times": TIMES, "with_respect_to": ["start.q", "start.qdot"], "scheme": "sdirk2"}
    found = vi.redmax.gradient(mechanism, of_all, STEPS * DT, DT, state=start, **given)
    for dq, dv in np.eye(2 * len(start.q)).reshape(-1, 2, len(start.q)):

        def at(s, dq=dq, dv=dv):
            return after(mechanism, "sdirk2", vi.redmax.ReducedState(start.q + s * dq, start.qdot + s * dv))

        along = found["start.q"] @ dq + found["start.qdot"] @ dv
        wanted = differences(at, 1e-3)
        assert along == pytest.approx(wanted, abs=1e-7 * np.abs(found["start.q"]).max())


@pytest.mark.slow
def test_by_the_state_at_the_start():
    mechanism = finger()
    given = {"times": TIMES, "with_respect_to": ["start"], "scheme": "bdf2"}
    by, first = vi.redmax.gradient(mechanism, of_all, STEPS * DT, DT, **given)["start"], mechanism.state()
    names, ways = ("position", "velocity", "angular_velocity"), np.random.default_rng(2).uniform(-1, 1, (3, 2, 3))

    def at(s):
        moved = {
            name: dict(zip(("plate", "tip"), getattr(first, name) + s * way, strict=True))
            for name, way in zip(names, ways, strict=True)
        }
        return after(mechanism, "bdf2", mechanism.state(**moved))

    along = sum(np.tensordot(one, way, 2) for one, way in zip((by.position, by.velocity, by[3]), ways, strict=True))
    assert along == pytest.approx(differences(at, 1e-3), rel=1e-7)


@pytest.mark.slow
def test_forwards_and_backwards():
    for mechanism in (finger(), loop(), flying()):
        for scheme in ("sdirk2", "bdf2", "bdf1"):
            agree(mechanism, scheme)


@pytest.mark.slow
def test_converges_to_the_gradient_in_maximal_coordinates():
    names, mechanism = ["finger.E", "finger.density", "tip.mass"], finger()
    end, apart = 0.016, []
    for dt in (2e-3, 1e-3):
        given = {"times": (0.0, 0.5 * end, end), "with_respect_to": names}
        reduced = vi.redmax.gradient(mechanism, of_all, end, dt, scheme="sdirk2", **given)
        maximal = vi.gradient(mechanism, of_all, end, dt, on_unresolved="ignore", **given)
        apart.append([np.abs(reduced[name] - maximal[name]).max() for name in names])
    assert np.log2(np.divide(*apart)) == pytest.approx(2.0, abs=0.15)


def test_what_has_no_gradient():
    given = {"with_respect_to": ["finger.E"], "scheme": "dop853"}
    with pytest.raises(vi.ArgumentError, match="finger"):
        vi.redmax.gradient(finger(), lambda state: state.position[0, 2], 0.01, 1e-3, **given)
