"""Strongly damped beams and joints, whose velocities change sign from node to node: forces are those of the steps."""

import warnings

import numpy as np
import pytest
from beam_models import LOW

import varint as vi
from varint.model.rotation_vectors import rotation_matrix
from varint.results.forces import forces_at
from varint.results.stiff_damping import rates_of_steps, stiff_damping
from varint.views.overlay import _thinned

PUSH = 1.0  # N


def finger(damping, every=1, order=2, duration=0.3):
    """A leaf of plastic with a pad at its tip, which a push presses on a plane in steps of 1 ms."""
    plastic = vi.Section.rectangle(0.010, 0.002, E=2.1e9, nu=0.4, density=1200.0)
    pad = vi.Body.box("pad", (0.01, 0.01, 0.01), 0.003, position=(0.065, 0, 0))
    parts = vi.beam(
        "finger", "world", "pad", point_a=(0, 0, 0), point_b=(0.06, 0, 0), elements=4, section=plastic,
        normal=(0, 0, 1), damping=damping,
    )  # fmt: skip
    touch = vi.HardContact("touch", "pad", ground=(0, 0, -0.006), radius=0.005)
    push = vi.PointForce("push", "pad", direction=(0, 0, -1), magnitude=PUSH)
    forces = [*parts.forces, touch, push]
    mechanism = vi.Mechanism("finger", [pad, *parts.bodies], parts.joints, forces=forces, gravity=(0, 0, 0))
    return vi.simulate(mechanism, duration, 1e-3, order=order, every=every, on_unresolved="ignore")


def spinning(dt, damping=1e-3):
    """A free beam that spins as one body."""
    parts = vi.beam("beam", None, None, point_a=(0, 0, 0), point_b=(1, 0, 0), elements=4, section=LOW, damping=damping)
    free = vi.Free("free", "world", "beam 0")
    mechanism = vi.Mechanism("beam", parts.bodies, [free, *parts.joints], gravity=(0, 0, 0), forces=parts.forces)
    spin = np.array([0.0, 0.0, 3.0])
    lines = {body.name: np.cross(spin, body.position) for body in mechanism.bodies}
    turns = {body.name: rotation_matrix(body.quat_wxyz).T @ spin for body in mechanism.bodies}
    return vi.simulate(mechanism, 0.1, dt, state=mechanism.state(velocity=lines, angular_velocity=turns))


@pytest.mark.slow
def test_forces_of_contacts_and_sections_are_those_of_the_steps():
    run = finger(2e-3)
    touch, shear = run.contact_force["touch"][-60:, 2], vi.section_forces(run, "finger")[-60:, 3, 1]
    assert np.abs(touch - touch.mean()).max() < 0.02 * touch.mean()
    assert touch.mean() == pytest.approx(finger(1e-5).contact_force["touch"][-60:, 2].mean(), rel=0.01)
    assert np.abs(touch - shear - PUSH).max() < 0.005  # the leaf bears the rest
    # by the velocities at the nodes they jump by many times the push
    arrays = run.position, run.quat_wxyz, run.velocity, run.angular_velocity
    load = forces_at(run.mechanism, *arrays, run.command).load
    pad = run.mechanism.body_index["finger 4"]
    assert np.abs(np.diff(load[-60:, pad, 2])).min() > 10.0 * PUSH


@pytest.mark.slow
@pytest.mark.parametrize("every", [3, 4])
def test_a_warning_names_the_beam_where_nodes_are_left_out(every):
    run = finger(2e-3, every)
    with pytest.warns(vi.SparseNodesWarning, match="beamelement 'finger .' has a damping time of 0.002 s.*every=1"):
        vi.section_forces(run, "finger")
    with pytest.warns(vi.SparseNodesWarning, match="change sign from node to node"):
        assert run.contact_force["touch"].shape == (len(run), 3)


@pytest.mark.slow
def test_no_warning_where_the_forces_are_right():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for run in (finger(2e-3), finger(0.0, 3), finger(1e-6, 4)):
            vi.section_forces(run, "finger")
            assert run.contact_force["touch"].shape == (len(run), 3)


@pytest.mark.slow
def test_rates_of_the_steps_are_those_of_the_motion():
    """They differ from those at the nodes at order two, at all nodes but the first, which is the start."""
    apart = []
    for dt in (2e-3, 1e-3):
        run = spinning(dt)
        assert stiff_damping(run.mechanism, dt).size.max() > 2.0
        sums, rates = rates_of_steps(run)
        recorded = run.position, run.quat_wxyz, run.velocity, run.angular_velocity
        at_nodes = forces_at(run.mechanism, *recorded, run.command).rate[:, sums]
        assert np.array_equal(rates[0], at_nodes[0])
        apart.append(np.abs(rates - at_nodes)[-20:].max())
    assert apart[0] < 1e-4
    assert 3.5 < apart[0] / apart[1] < 4.5
    part = rates_of_steps(run[10:40]).rates
    assert np.array_equal(part[1:-1], rates[11:39])
    assert np.abs(part - rates[10:40]).max() < 1e-4


def test_other_runs_go_by_the_velocities_at_the_nodes():
    for run in (spinning(1e-3, 0.0), spinning(1e-3)[::2], spinning(1e-3)[:3]):
        assert rates_of_steps(run) is None


def two_rods(force, kind="joint", **soft):
    """Rods on hinges that fall, with a force; the first hinge is soft, or a `Bushing` that does not turn about y."""
    a, b = (vi.Body.rod(name, (k, 0, 0), (k + 1, 0, 0), mass=1.0) for k, name in enumerate("ab"))
    first = vi.Revolute("h", "world", "a", point=(0, 0, 0), axis=(0, 1, 0), **(soft if kind == "joint" else {}))
    second = vi.Revolute("g", "a", "b", point=(1, 0, 0), axis=(0, 1, 0))
    forces = [force]
    if kind == "bushing":
        first = vi.Free("h", "world", "a")
        k, c = 1e6 * np.array([1.0, 1.0, 1.0, 1.0, 0.0, 1.0]), soft["damping_time"]
        forces.append(vi.Bushing("mount", "world", "a", point=(0, 0, 0), stiffness=k, damping=c * k))
    return vi.simulate(vi.Mechanism("rods", [a, b], [first, second], forces=forces), 0.3, 1e-3, on_unresolved="ignore")


@pytest.mark.slow
@pytest.mark.parametrize("damping_time", [5e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("kind", ["joint", "bushing"])
def test_forces_beside_damped_joints_are_those_of_rigid_ones(kind, damping_time):
    """Of a plane, a stop, reactions and accelerations; by the velocities at the nodes they are tens of newtons off."""
    soft = {"compliance": 1e-8, "damping_time": damping_time}
    for force, read in (
        (
            vi.HardContact("floor", body="b", points=[(2, 0, 0)], ground=(0, 0, -0.1), normal=(0, 0, 1)),
            lambda run: [run.force["floor"], run.reactions["g"].force[:, 2], run.acceleration[:, 1, 2]],
        ),
        (vi.JointStop("floor", joint="g", lower=-0.1, upper=0.1), lambda run: [run.force["floor"]]),
    ):
        for found, rigid in zip(read(two_rods(force, kind, **soft)), read(two_rods(force)), strict=True):
            assert found[-20:] == pytest.approx(rigid[-20:], abs=0.03 * np.abs(rigid).max())


@pytest.mark.slow
def test_forces_of_couplings_beside_damped_joints_are_those_of_rigid_ones():
    drive = vi.PrescribedMotion("drive", joint="g", position=lambda t: 0.5 * t * t)
    rigid = two_rods(drive).force["drive"]
    found = two_rods(drive, compliance=1e-9, damping_time=1e-3).force["drive"]
    assert found[-20:] == pytest.approx(rigid[-20:], abs=0.02 * np.abs(rigid).max())


@pytest.mark.slow
def test_a_warning_names_the_damped_joint_where_nodes_are_left_out():
    floor = vi.HardContact("floor", body="b", points=[(2, 0, 0)], ground=(0, 0, -0.1), normal=(0, 0, 1))
    run = two_rods(floor, compliance=1e-9, damping_time=1e-3)
    with pytest.warns(vi.SparseNodesWarning, match="compliance of joint 'h' has a damping time of 0.001 s.*every=1"):
        assert len(run[::3].force["floor"]) == 101


@pytest.mark.slow
def test_a_page_of_fewer_frames_has_the_forces_of_the_whole():
    run = two_rods(vi.JointStop("floor", joint="g", lower=-0.1, upper=0.1), compliance=1e-9, damping_time=1e-3)
    assert vi.show(run, frames=50).frames < len(run)  # without a warning about nodes that are left out
    part = _thinned(run, 4)
    assert np.array_equal(part.forces_along.load, run.forces_along.load[::4])
