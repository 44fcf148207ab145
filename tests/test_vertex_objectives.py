"""Objectives of gradients that read vertices of deformable bodies and nets, against differences of runs."""

from dataclasses import replace

import numpy as np
import pytest
from net_models import changed, hung, swinging, value_of

import varint as vi
from varint.derivatives.numbers import differences

DT, STEPS = 4e-3, 6
TIMES = (0.0, 0.5 * STEPS * DT, STEPS * DT)


def flying():
    """A damped cloth between a bar on a hinge and a body that spins freely."""
    start = {"rates": {"hinge": 0.7}, "velocity": {"block": [0.1, 0.2, -0.3]}}
    return swinging(start | {"angular_velocity": {"block": [1.0, -2.0, 0.7]}})


def finger(E=2e4, density=600.0, tip=0.05):
    """A soft finger on a plate that is free, with a body at its tip."""
    soft = vi.DeformableBody.box(
        "finger", (0.1, 0.1, 0.2), (1, 1, 2), E=E, nu=0.3, density=density, position=(0, 0, 0.1), damping=5e-3,
        attach={"plate": lambda p: p[:, 2] < 1e-9, "tip": lambda p: (p[:, 2] > 0.2 - 1e-9) & (p[:, 0] > 0)},
    )  # fmt: skip
    plate = vi.Body.box("plate", (0.2, 0.2, 0.02), mass=0.2, position=(0, 0, -0.01))
    tip = vi.Body.box("tip", (0.02, 0.1, 0.02), mass=tip, position=(0.05, 0, 0.21))
    joints = [vi.Free("base", "world", "plate"), vi.Free("end", "world", "tip")]
    start = {"velocity": {"plate": [0.1, 0.0, -0.5], "tip": [0.4, 0.1, 0.0]}}
    start |= {"angular_velocity": {"plate": [0.5, 1.0, 2.0]}}
    return vi.Mechanism("finger", [plate, tip], joints, forces=[soft], start=start)


def of_all(states):
    """Two numbers that places and velocities of all vertices of three states go into, and those of a body."""
    weight, total = np.linspace(0.2, 1.0, 3), np.zeros(2)
    for k, state in enumerate(states):
        for x, v in zip(state.vertices.values(), state.vertex_velocities.values(), strict=True):
            each = np.sin(1.0 + np.arange(x.size)).reshape(x.shape)
            total += (k + 1.0) * np.array([np.sum(each * x) + np.sum(x[-1] ** 2), np.sum(each * v) + v[0] @ x[-1]])
        total[0] += weight @ state.position[0] + state.angular_velocity[-1, 1]
    return total


def after(mechanism, order=2, dt=DT):
    run = vi.simulate(mechanism, STEPS * dt, dt, order=order, tol=1e-13)
    return of_all([run.state(0), run.state(STEPS // 2), run.state(STEPS)])


def check(mechanism, names, rng, order=2, share=2e-3):
    found = vi.gradient(
        mechanism, of_all, STEPS * DT, DT, order=order, times=TIMES, with_respect_to=names, tol=1e-13,
        on_unresolved="ignore",
    )  # fmt: skip
    assert found.value == pytest.approx(after(mechanism, order), abs=1e-11)
    for name in names:
        value = value_of(mechanism, name)
        way = (np.abs(value).max() or 1.0) * rng.uniform(0.2, 1.0, value.shape)

        def at(s, name=name, value=value, way=way):
            moved = value + s * way
            return after(changed(mechanism, name, moved if moved.ndim else float(moved)), order)

        wanted = differences(at, share)
        along = np.tensordot(found[name], way, way.ndim) if way.ndim else found[name] * way
        assert np.abs(wanted).min() > 1e-7, name
        assert along == pytest.approx(wanted, rel=1e-7, abs=1e-8 * np.abs(wanted).max()), name


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
def test_of_particles(rng, order):
    of_net = [f"cloth.{field}" for field in ("stiffness", "damping", "masses", "rest_length")]
    check(flying(), [*of_net, "block.mass", "block.position", "gravity"], rng, order)


@pytest.mark.slow
def test_by_a_mass_that_is_small_beside_others():
    """It is smaller than the steps by which all masses of a net are changed."""
    mechanism = replace(hung(), start={"rates": {"hinge": 2.0}})
    masses = value_of(mechanism, "cloth.masses")
    attached = np.concatenate([part.vertices for part in mechanism.forces[0].attach])
    light = int(np.setdiff1d(np.arange(masses.size), attached)[0])
    masses[light] = 5e-4 * masses.max()
    mechanism = changed(mechanism, "cloth.masses", masses)
    found = vi.gradient(
        mechanism, of_all, STEPS * DT, DT, times=TIMES, with_respect_to=["cloth.masses"], tol=1e-13,
        on_unresolved="ignore",
    )["cloth.masses"]  # fmt: skip
    way = masses[light] * np.eye(masses.size)[light]
    wanted = differences(lambda s: after(changed(mechanism, "cloth.masses", masses + s * way)), 1e-2)
    assert masses[light] * found[:, light] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.slow
def test_of_a_deformable_body(rng):
    check(finger(), ["finger.E", "finger.density", "finger.damping", "finger.nu", "tip.mass", "plate.position"], rng)


@pytest.mark.slow
def test_by_the_start_and_the_step():
    mechanism = finger()
    found = vi.gradient(
        mechanism, of_all, STEPS * DT, DT, times=TIMES, with_respect_to=["start", "dt"], tol=1e-13,
        on_unresolved="ignore",
    )  # fmt: skip
    by, first, ways = found["start"], mechanism.state(), np.random.default_rng(2).uniform(-1, 1, (3, 2, 3))

    def at(s):
        names = "position", "velocity", "angular_velocity"
        moved = {
            name: dict(zip(("plate", "tip"), getattr(first, name) + s * way, strict=True))
            for name, way in zip(names, ways, strict=True)
        }
        run = vi.simulate(mechanism, STEPS * DT, DT, tol=1e-13, state=mechanism.state(**moved))
        return of_all([run.state(0), run.state(STEPS // 2), run.state(STEPS)])

    along = sum(np.tensordot(one, way, 2) for one, way in zip((by.position, by.velocity, by[3]), ways, strict=True))
    assert along == pytest.approx(differences(at, 1e-3), rel=1e-6)
    by_step = differences(lambda s: after(mechanism, dt=DT * (1 + s)), 1e-3) / DT
    assert found["dt"] == pytest.approx(by_step, rel=1e-7)


@pytest.mark.slow
def test_a_stiffness_by_which_the_tip_reaches_a_height():
    """Newton's method for E, with the height of a vertex at the end and its derivative."""
    height, E, count = 0.2, 2e4, 0

    def reached(state):
        return state.vertices["finger"][:, 2].max()

    def settled(E):
        return vi.gradient(
            lambda E: finger(E=E), reached, 0.04, DT, parameters={"E": E}, with_respect_to=["E"],
            on_unresolved="ignore",
        )  # fmt: skip

    first = settled(E)
    height = first.value + 2e-4
    for _ in range(8):
        found = settled(E)
        count += 1
        if abs(found.value - height) < 1e-12:
            break
        E += (height - found.value) / found["E"]
    assert abs(found.value - height) < 1e-12
    assert count <= 6
    assert pytest.approx(2e4, rel=1e-3) != E


@pytest.mark.slow
def test_a_controller_that_reads_a_particle():
    """A motor that a function of the state commands by the place and velocity of a particle."""

    def build(gain):
        def effort(t, state):
            return -gain * state.vertices["cloth"][4, 2] - 0.3 * state.vertex_velocities["cloth"][3, 2]

        plain = hung()
        return replace(plain, forces=[plain.forces[0], vi.Motor("motor", joint="hinge", effort=effort)])

    def end(state):
        return state.vertices["cloth"][4, 2] + 0.1 * state.velocity[0, 0]

    names = ["gain", "cloth.masses"]
    found = vi.gradient(
        build, end, STEPS * DT, DT, parameters={"gain": 3.0}, with_respect_to=names, on_unresolved="ignore"
    )

    def at(s):
        return end(vi.simulate(build(3.0 + s), STEPS * DT, DT, tol=1e-13).state(-1))

    def by_masses(s):
        mechanism = build(3.0)
        cloth = replace(mechanism.forces[0], masses=mechanism.forces[0].masses * (1.0 + s))
        heavier = replace(mechanism, forces=[cloth, mechanism.forces[1]])
        return end(vi.simulate(heavier, STEPS * DT, DT, tol=1e-13).state(-1))

    assert found.value == pytest.approx(at(0.0), abs=1e-12)
    assert found["gain"] == pytest.approx(differences(at, 0.05), rel=1e-6)
    along = found["cloth.masses"] @ build(3.0).forces[0].masses
    assert along == pytest.approx(differences(by_masses, 0.02), rel=1e-6)


@pytest.mark.slow
def test_own_gradient_of_an_objective():
    """Six parts: the last two by places and velocities of vertices, by name."""
    mechanism = hung()

    def end(state):
        return state.vertices["cloth"][4, 2] ** 2 + 0.1 * state.vertex_velocities["cloth"][3, 0] + state.position[0, 0]

    def own(state):
        by_x, by_v, by_position = np.zeros((9, 3)), np.zeros((9, 3)), np.zeros((1, 3))
        by_x[4, 2], by_v[3, 0], by_position[0, 0] = 2.0 * state.vertices["cloth"][4, 2], 0.1, 1.0
        return by_position, *np.zeros((3, 1, 3)), {"cloth": by_x}, {"cloth": by_v}

    asked = {"with_respect_to": ["cloth.stiffness", "gravity"], "on_unresolved": "ignore"}
    plain = vi.gradient(mechanism, end, 2 * DT, DT, **asked)
    end.gradient = own
    given = vi.gradient(mechanism, end, 2 * DT, DT, **asked)
    for name in asked["with_respect_to"]:
        assert given[name] == pytest.approx(plain[name], rel=1e-8, abs=1e-12)
    for wrong, message in (
        (lambda state: (*np.zeros((4, 1, 3)), {"flag": np.zeros((9, 3))}, {}), "names no .* net: 'flag'"),
        (lambda state: (*np.zeros((4, 1, 3)), {"cloth": np.zeros((8, 3))}, {}), r"by vertices of 'cloth'"),
        (lambda state: np.zeros((5, 1, 3)), "must have four arrays"),
    ):
        end.gradient = wrong
        with pytest.raises(vi.ArgumentError, match=message):
            vi.gradient(mechanism, end, 2 * DT, DT, **asked)


def test_states_have_vertices():
    """Those of a run, of a Stepper and of functions of the state are the same, and a run may start from one."""
    mechanism, seen = swinging(), []

    def effort(t, state):
        seen.append(state.vertices["cloth"][4].copy())
        return 0.2

    motor = vi.Motor("motor", joint="hinge", effort=effort)
    driven = replace(mechanism, forces=[mechanism.forces[0], motor])
    run, sim = vi.simulate(driven, 3 * DT, DT, tol=1e-12), vi.Stepper(mechanism, DT, order=2, tol=1e-12)
    sim.step(3)
    state = sim.state
    assert isinstance(state, vi.MeshState)
    for name in ("vertices", "vertex_velocities"):
        whole = getattr(run, name)["cloth"]
        assert np.array_equal(getattr(state, name)["cloth"], whole[-1])
        assert np.array_equal(getattr(sim, name)["cloth"], whole[-1])
        assert np.array_equal(getattr(run.state(-1), name)["cloth"], whole[-1])
    assert np.array_equal(seen[:4], run.vertices["cloth"][:4, 4])
    assert "9 vertices of 'cloth'" in repr(state)
    assert not isinstance(vi.simulate(vi.mechanisms.four_bar(), 0.01, 1e-3).state(-1), vi.MeshState)
    again = vi.simulate(mechanism, DT, DT, state=run.state(0))
    assert np.array_equal(again.position[0], run.position[0])


def test_states_in_reduced_coordinates():
    mechanism = hung()
    run = vi.redmax.simulate(mechanism, 2 * DT, DT, integrator="sdirk2")
    sim = vi.Stepper(mechanism, vi.Reduced("sdirk2", dt=DT))
    sim.step(2)
    for name in ("vertices", "vertex_velocities"):
        assert np.array_equal(getattr(sim.state, name)["cloth"], getattr(run, name)["cloth"][-1])


@pytest.mark.slow
@pytest.mark.parametrize("make", [finger, flying])
def test_starts_with_vertices(make):
    """A run that starts from a state of another goes on as that did, and its gradient knows it."""
    mechanism = make()
    for simulate, given in ((vi.simulate, {"tol": 1e-13}), (vi.redmax.simulate, {"integrator": "sdirk2"})):
        whole = simulate(mechanism, 6 * DT, DT, **given)
        rest = simulate(mechanism, 3 * DT, DT, state=whole.state(3), **given)
        for name, x in whole.vertices.items():
            assert rest.vertices[name][0] == pytest.approx(x[3], abs=1e-14)
            assert rest.vertices[name] == pytest.approx(x[3:], abs=1e-11)
            assert rest.vertex_velocities[name] == pytest.approx(whole.vertex_velocities[name][3:], abs=1e-9)
    state = vi.simulate(mechanism, 3 * DT, DT, tol=1e-13).state(-1)
    name = f"{mechanism.forces[0].name}.density" if make is finger else "cloth.damping"
    given, value = {"state": state, "with_respect_to": [name], "times": TIMES[1:]}, value_of(mechanism, name)
    way = np.ones_like(value) * value.max()
    found = vi.gradient(mechanism, of_all, STEPS * DT, DT, tol=1e-13, on_unresolved="ignore", **given)
    reduced = vi.redmax.gradient(mechanism, of_all, STEPS * DT, DT, scheme="sdirk2", **given)
    for each, simulate, how in (
        (found, vi.simulate, {"tol": 1e-13}), (reduced, vi.redmax.simulate, {"integrator": "sdirk2"}),
    ):  # fmt: skip

        def at(s, simulate=simulate, how=how):
            run = simulate(changed(mechanism, name, value + s * way), STEPS * DT, DT, state=state, **how)
            return of_all([run.state(STEPS // 2), run.state(STEPS)])

        along = np.tensordot(each[name], way, way.ndim) if way.ndim else each[name] * way
        wanted = differences(at, 2e-3)
        assert along == pytest.approx(wanted, rel=1e-7, abs=1e-7 * np.abs(wanted).max())


def test_states_of_other_meshes_are_refused():
    state = vi.simulate(finger(), DT, DT).state(-1)
    for change in ({"vertices": {}}, {"vertices": {"finger": np.zeros((2, 3))}}):
        for simulate in (vi.simulate, vi.redmax.simulate):
            how = {"integrator": "bdf2"} if simulate is vi.redmax.simulate else {}
            with pytest.raises(vi.StateError, match=r"vertices.*finger"):
                simulate(finger(), DT, DT, state=replace(state, **change), **how)
