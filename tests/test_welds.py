"""Bodies on rigid `Fixed` joints are one body in the steps; poses, reactions and energies of all are still there."""

from dataclasses import replace

import numpy as np
import pytest

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

TURNED = (0.8, 0.2, -0.4, 0.4)


def links(count, plates=True):
    """A chain of links with a plate each: ``plates`` welded on, or of the same mass within the links."""
    bodies, joints = [], []
    for k in range(count):
        start = np.array([k, 0.0, 0.0])
        link = vi.Body.rod(f"link {k}", start, start + (1.0, 0.0, 0.0), mass=1.0)
        plate = vi.Body.box(
            f"plate {k}", (0.2, 0.1, 0.3), mass=0.5 + 0.1 * k, position=start + (0.7, 0.1, 0.05), quat_wxyz=TURNED
        )
        if plates:
            bodies += [plate, link] if k == 1 else [link, plate]
            joints.append(vi.Fixed(f"weld {k}", f"link {k}", f"plate {k}"))
        else:
            bodies.append(one_body(f"link {k}", link, plate))
        axis = (0.0, 1.0, 0.0) if k % 2 else (0.0, 0.6, 0.8)
        above = f"link {k - 1}" if k else "world"
        joints.append(vi.Revolute(f"hinge {k}", above, f"link {k}", point=start, axis=axis))
    return vi.Mechanism("links", bodies, joints, start={"rates": {"hinge 0": 1.0}})


def one_body(name, *parts):
    mass = sum(part.mass for part in parts)
    centre = sum(part.mass * part.position for part in parts) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        R, d = rotation_matrix(part.quat_wxyz), part.position - centre
        inertia += R @ part.inertia @ R.T + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return vi.Body(name, mass=mass, inertia=0.5 * (inertia + inertia.T), position=centre)


def both(mechanism, duration=0.2, dt=0.01, **method):
    """The run without the bodies that others carry, and that with all of them."""
    assert mechanism.merged is not mechanism.compiled
    return (vi.simulate(mechanism, duration, dt, tol=1e-13, **more, **method) for more in ({}, {"closures": "single"}))


def assert_same(merged, whole, near=1e-11):
    for name in ("position", "velocity", "angular_velocity", "energy", "t"):
        assert_near(getattr(merged, name), getattr(whole, name), near, name)
    for joint in merged.mechanism.joint_index:
        one, two = merged.reactions[joint], whole.reactions[joint]
        assert_near(one.force, two.force, 100 * near, joint)
        assert_near(one.torque, two.torque, 100 * near, joint)
    assert_near(rotation_matrix(merged.quat_wxyz), rotation_matrix(whole.quat_wxyz), near, "axes")


def assert_near(value, other, near, what):
    assert np.abs(value - other).max(initial=0.0) <= near * max(1.0, np.abs(other).max(initial=0.0)), what


def test_carried_bodies_move_as_with_their_rows():
    mechanism = links(3)
    assert mechanism.merged.plan.bodies.mass.size == 3
    merged, whole = both(mechanism)
    assert_same(merged, whole)
    assert merged.drift.max() < 1e-14
    assert np.abs(merged.reactions["weld 1"].force).max() > 1.0


def test_the_same_as_one_body_of_all_masses():
    merged, made = vi.simulate(links(3), 0.2, 0.01), vi.simulate(links(3, plates=False), 0.2, 0.01)
    for name in ("hinge 0", "hinge 2"):
        assert np.abs(merged.coordinates[name] - made.coordinates[name]).max() < 1e-12
        assert np.abs(merged.reactions[name].force - made.reactions[name].force).max() < 1e-9
    assert np.abs(merged.energy - merged.energy[0] - made.energy + made.energy[0]).max() < 1e-12


def test_forces_on_carried_bodies():
    base = links(2)
    forces = [
        vi.Spring(
            "coil", "world", "plate 1", point_a=(0.5, 0, 1), point_b=(1.7, 0.1, 0.2), stiffness=80.0, damping=1.0
        ),
        vi.PointTorque("twist", "plate 0", direction=(0.1, 0.2, 0.3), magnitude=1.0),
        vi.PointForce("push", "plate 1", direction=(1.0, 2.0, 3.0), magnitude=2.0),
        vi.PointForce("jet", "plate 0", direction=(1, 2, 3), magnitude=3.0, fixed_in="body", point=(0.2, 0.3, 0.4)),
        vi.TorsionSpring("coil at the hinge", joint="hinge 1", stiffness=3.0, rest_angle=0.2),
    ]
    mechanism = vi.Mechanism("pushed", base.bodies, base.joints, forces=forces)
    # a law sees the bodies in the middle of a step, and the middle of a carried body is that of its carrier: order 2
    apart = []
    for dt in (0.01, 0.005):
        merged, whole = both(mechanism, dt=dt)
        apart.append(np.abs(merged.position[-1] - whole.position[-1]).max())
        assert_same(merged, whole, 1e-3)
    assert 3.7 < apart[0] / apart[1] < 4.3


def four_bar():
    pins = [(0, 0, 0), (0, 0, 1), (2, 0, 1.5), (2, 0, 0)]
    bodies = [vi.Body.rod(str(k), pins[k], pins[k + 1], mass=1.0) for k in range(3)]
    pen = vi.Body.box("pen", (0.1, 0.1, 0.5), mass=0.4, position=(1.0, 0.2, 2.0), quat_wxyz=TURNED)
    nib = vi.Body.sphere("nib", radius=0.05, mass=0.1, position=(1.2, 0.3, 2.5))
    post = vi.Body.box("post", (0.1, 0.1, 0.5), mass=0.4, position=(2.0, 0.0, -0.3), quat_wxyz=TURNED)
    ends = [("world", "0"), ("0", "1"), ("1", "2"), ("post", "2")]
    joints = [vi.Revolute(f"pin {k}", *pair, point=pins[k], axis=(0, 1, 0)) for k, pair in enumerate(ends)]
    welds = [vi.Fixed("nib", "nib", "pen"), vi.Fixed("pen", "1", "pen"), vi.Fixed("post", "post", "world")]
    return vi.Mechanism("four-bar", [nib, *bodies, pen, post], [*welds, *joints], start={"rates": {"pin 0": 2.0}})


def test_loops_and_bodies_on_the_world():
    mechanism = four_bar()
    assert mechanism.merged.plan.bodies.mass.size == 3
    merged, whole = both(mechanism)
    assert_same(merged, whole, 1e-10)
    assert np.array_equal(merged.position[:, -1], np.tile(mechanism.bodies[-1].position, (len(merged.t), 1)))
    assert np.abs(merged.reactions["post"].force).max() > 1.0


@pytest.mark.slow
def test_driven_adaptive_and_composed_runs():
    mechanism = four_bar()
    drive = vi.PrescribedMotion("drive", joint="pin 0", position=lambda t: 0.3 * np.sin(3.0 * t))
    driven = vi.Mechanism("driven", mechanism.bodies, mechanism.joints, forces=[drive])
    assert_same(*both(driven, order=4), 1e-9)
    adaptive, fine = vi.simulate(mechanism, 0.2, 0.01, adaptive=True), vi.simulate(mechanism, 0.2, 1e-4)
    assert np.abs(adaptive.position[-1] - fine.position[-1]).max() < 1e-4
    times = [0.013, 0.1511]
    assert_same(*both(mechanism, output_times=times), 1e-10)


def test_a_welded_group_that_floats():
    a = vi.Body.box("a", (1, 2, 3), mass=1.0)
    b = vi.Body.box("b", (1, 1, 1), mass=2.0, position=(2, 0, 0), quat_wxyz=TURNED)
    pair = vi.Mechanism("pair", [a, b], [vi.Fixed("weld", "a", "b")], gravity=(0, 0, 0))
    whole = one_body("whole", a, b)
    single = vi.Mechanism("single", [whole], [vi.Free("free", "world", "whole")], gravity=(0, 0, 0))
    spin = np.array([0.4, 3.0, 0.2])
    velocity = [np.cross(spin, body.position - whole.position) for body in (a, b)]
    spins = np.array([spin, rotation_matrix(b.quat_wxyz).T @ spin])
    x = replace(pair.state(), velocity=np.array(velocity), angular_velocity=spins)
    y = replace(single.state(), angular_velocity=spin[None])
    one, two = vi.simulate(single, 0.5, 0.01, state=y), vi.simulate(pair, 0.5, 0.01, state=x)
    centre = (two.position[:, 0] + 2.0 * two.position[:, 1]) / 3.0
    assert np.abs(centre - one.position[:, 0]).max() < 1e-12
    assert np.abs(two.angular_velocity[:, 0] - one.angular_velocity[:, 0]).max() < 1e-12
    assert np.abs(two.angular_momentum - two.angular_momentum[0]).max() < 1e-12


def test_a_beam_clamped_to_a_body():
    section = vi.Section.rectangle(0.02, 0.02, E=1e8, nu=0.3, density=1000.0)
    parts = vi.beam("leaf", "world", "tip", point_a=(0, 0, 0), point_b=(1, 0, 0), elements=4, section=section)
    tip = vi.Body.box("tip", (0.1, 0.1, 0.1), mass=1.0, position=(1.05, 0, 0))
    mechanism = vi.Mechanism(
        "clamped", [tip, *parts.bodies], [vi.Free("tip", "world", "tip"), *parts.joints], forces=parts.forces
    )
    merged, whole = both(mechanism, 0.05, 0.001)
    assert_same(merged, whole, 3e-6)
    one, two = (vi.section_forces(run, "leaf") for run in (merged, whole))
    assert np.abs(one - two).max() < 3e-4 * np.abs(two).max()  # both of order 2 in the step


def test_what_depends_on_its_own_motion_stays():
    base = links(2)

    def kept(*forces, joints=()):
        return vi.Mechanism("kept", base.bodies, [*base.joints, *joints], forces=list(forces))

    within = vi.Spring("s", "link 0", "plate 0", point_a=(0, 0, 0), point_b=(0, 0, 1), stiffness=1.0)
    drag = vi.Drag("d", "plate 1", linear=0.1)
    hinge = vi.Revolute("beside", "link 0", "plate 0", point=(0, 0, 0), axis=(1, 0, 0))
    for mechanism, names in (
        (kept(within), {"link 0", "plate 0", "plate 1"}),
        (kept(drag), {"link 0", "link 1", "plate 1"}),
        (kept(joints=[hinge]), {"link 0", "plate 0", "plate 1"}),
    ):
        left = {mechanism.bodies[i].name for i in mechanism.merged.order}
        assert left == names
        assert_same(*both(mechanism))
    soft = vi.Fixed("weld 0", "link 0", "plate 0", compliance=1e-4)
    joints = [soft if joint.name == "weld 0" else joint for joint in base.joints]
    assert len(vi.Mechanism("soft", base.bodies, joints).merged.order) == 3


def test_mechanisms_without_welds_are_compiled_once():
    mechanism = vi.mechanisms.four_bar()
    assert mechanism.merged is mechanism.compiled


def sizes(record):
    """Shapes of all arrays of a record, by their names."""
    return {name: sizes(part) if hasattr(part, "__dict__") else np.shape(part) for name, part in vars(record).items()}


@pytest.mark.slow
def test_a_hundred_welds_cost_nothing():
    """The plan has the very arrays of that of the chain without welds, so its steps the same instructions."""
    welded, made = links(100), links(100, plates=False)
    assert sizes(welded.merged.plan) == sizes(made.compiled.plan)
    runs = [vi.simulate(each, 0.02, 0.01) for each in (welded, made)]
    assert runs[0].newton_iterations == runs[1].newton_iterations
    for name in ("hinge 0", "hinge 99"):
        assert_near(runs[0].reactions[name].force, runs[1].reactions[name].force, 1e-9, name)
    # a weld bears what its plate needs
    v, g = runs[0].velocity[:, 2 * 99 + 1], np.array([0, 0, -9.81])
    force = runs[0].reactions["weld 99"].force[1]
    assert_near(force, welded.bodies[-1].mass * ((v[2] - v[0]) / 0.02 - g), 1e-3, "weld 99")


def test_loads_on_carried_bodies_keep_their_rows():
    mechanism, load = links(2), {"plate 1": (0.0, 0.0, 5.0)}
    run, whole = (vi.simulate(mechanism, 0.1, 0.01, force=load, **more) for more in ({}, {"closures": "single"}))
    stepper = vi.Stepper(mechanism, 0.01, force=load)
    stepper.step(10)
    assert np.array_equal(stepper.state.position, run.position[-1])
    assert_same(run, whole)


@pytest.mark.slow
def test_loads_on_other_bodies():
    bodies, joints = (list(part) for part in (four_bar().bodies, four_bar().joints))
    mechanism = vi.Mechanism("pushed", bodies, joints)
    varying = np.outer(np.linspace(0.0, 1.0, 21), (0.0, 0.0, 5.0))
    loads = {"force": {"0": varying}, "torque": {"2": (0.0, 1.0, 0.0)}}
    assert mechanism.merged.welded(mechanism) == {"1", "nib", "pen", "post"}
    merged, whole = both(mechanism, **loads)
    assert_same(merged, whole, 1e-10)
    assert np.array_equal(merged.load, whole.load)
    assert np.abs(merged.load).max() == 5.0


def test_steppers_take_the_steps_of_runs():
    mechanism = four_bar()
    run, stepper = vi.simulate(mechanism, 0.2, 0.01), vi.Stepper(mechanism, 0.01, every=2)
    stepper.step(20)
    for name in ("position", "quat_wxyz", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(stepper.state, name), getattr(run, name)[-1])
        assert np.array_equal(getattr(stepper.trajectory(), name), getattr(run, name)[::2])
    for name, own in stepper.columns.items():
        assert_near(stepper.coordinates[own], np.ravel(run.coordinates[name][-1]), 1e-13, name)
        assert_near(stepper.rates[own], np.ravel(run.rates[name][-1]), 1e-12, name)
    saved = stepper.save()
    stepper.step(3)
    first = stepper.state
    stepper.restore(saved)
    stepper.step(3)
    assert np.array_equal(stepper.state.position, first.position)
    assert stepper.energy.total == pytest.approx(run.energy[0], rel=1e-3)


@pytest.mark.slow
def test_controllers_see_all_bodies():
    base = links(2)
    motor = vi.Motor("motor", joint="hinge 1", effort=lambda t, state: -float(state.position[3, 2]))
    mechanism = vi.Mechanism("driven", base.bodies, base.joints, forces=[motor])
    merged, whole = both(mechanism)
    assert_same(merged, whole)
    assert_near(merged.force["motor"], -merged.position[:, 3, 2], 1e-12, "motor")


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_soft_contacts_of_carried_bodies(friction):
    base = links(2)
    feet = vi.GroundContact(
        "feet", "plate 1", ground=(0, 0, -0.5), points=[(1.6, 0.05, -0.1), (1.8, 0.15, -0.1)], radius=0.02,
        stiffness=2e3, damping=10, friction=friction, smoothing=0.05,
    )  # fmt: skip
    mechanism = vi.Mechanism("feet", base.bodies, base.joints, forces=[feet])
    apart = []
    for dt in (0.01, 0.005):
        merged, whole = both(mechanism, 0.6, dt)
        assert np.abs(merged.force["feet"]).max() > 50.0
        apart.append(np.abs(merged.position[-1] - whole.position[-1]).max())
    assert 3.5 < apart[0] / apart[1] < 4.5


@pytest.mark.slow
def test_hard_contacts_of_carried_bodies():
    base = links(2)
    points = [(1.6, 0.05, -0.1), (1.8, 0.15, -0.1)]
    feet = vi.HardContact("feet", "plate 1", ground=(0, 0, -0.5), points=points, radius=0.02, friction=0.3)
    mechanism = vi.Mechanism("feet", base.bodies, base.joints, forces=[feet])
    merged, whole = both(mechanism, 0.6, 0.005)
    assert_same(merged, whole, 1e-10)
    assert np.abs(merged.contact_force["feet"]).max() > 5.0
    assert_near(merged.contact_force["feet"], whole.contact_force["feet"], 1e-9, "feet")


@pytest.mark.slow
def test_balls_of_carried_bodies():
    base = links(2)
    ball = vi.Body.sphere("ball", radius=0.1, mass=0.5, position=(1.7, 0.1, -0.3))
    touch = vi.SphereContact(
        "touch", "ball", "plate 1", radius_a=0.1, radius_b=0.2, stiffness=2e3, friction=0.3, smoothing=0.05
    )
    joints = [*base.joints, vi.Free("ball", "world", "ball")]
    start = {"velocity": {"ball": (0.3, 0.0, 3.0)}}
    mechanism = vi.Mechanism("ball", [ball, *base.bodies], joints, forces=[touch], start=start)
    apart = []
    for dt in (0.002, 0.001):
        merged, whole = both(mechanism, 0.2, dt)
        assert np.abs(merged.force["touch"]).max() > 5.0
        apart.append(np.abs(merged.position[-1] - whole.position[-1]).max())
    assert 3.5 < apart[0] / apart[1] < 4.5


@pytest.mark.slow
def test_a_run_goes_on_to_the_same_bits(tmp_path):
    mechanism = four_bar()
    whole = vi.simulate(mechanism, 0.2, 0.01)
    path = tmp_path / "run.h5"
    vi.simulate(mechanism, 0.1, 0.01, output=path)
    longer = vi.simulate(mechanism, 0.2, 0.01, output=path, resume=True)
    for name in ("position", "quat_wxyz", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(longer, name), getattr(whole, name))


def test_against_reduced_coordinates():
    mechanism = links(3)
    reduced = vi.simulate(vi.Problem(mechanism, 0.1), vi.Reduced(dt=0.01, rtol=1e-11))
    run = vi.simulate(mechanism, 0.1, 1e-3, order=4)
    assert np.abs(run.position[-1] - reduced.position[-1]).max() < 1e-9
    assert np.abs(run.reactions["weld 2"].force[-1] - reduced.reactions["weld 2"].force[-1]).max() < 1e-6
