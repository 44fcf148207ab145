"""When contacts of collocation steps begin to slide, stop and let go: against closed forms and own integrations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_lobatto_contacts import simulate
from test_lobatto_friction import EXACT, on_slope
from test_stops import GRAVITY

import varint as vi

CORNERS = [(x, y, -0.05) for x in (-0.05, 0.05) for y in (-0.05, 0.05)]


def boxed(*forces, friction=0.0, points=CORNERS):
    """A box of 1 kg that stands on corners."""
    box = vi.Body.box("box", (0.1, 0.1, 0.1), 1.0)
    ground = vi.HardContact("ground", "box", points=points, ground=(0, 0, -0.05), friction=friction)
    return vi.Mechanism("boxed", [box], [vi.Free("base", "world", "box")], forces=[ground, *forces])


def pulse(axis, largest):
    """A force for 0.1 s, N."""
    return vi.PointForce("push", "box", direction=axis, magnitude=lambda t: largest * np.sin(np.pi * t / 0.1) ** 2)


@pytest.mark.parametrize("order", [4, 8])
@pytest.mark.parametrize("rise", [0.0, 1.0])
def test_a_body_that_meets_a_wall_falls_along_it(order, rise):
    """Nothing presses it on the wall, so that no friction holds it."""
    box = vi.Body.box("box", (0.1, 0.1, 0.1), 1.0)
    wall = vi.HardContact("wall", "box", normal=(-1, 0, 0), ground=(0.1, 0, 0), friction=0.5)
    mechanism = vi.Mechanism("m", [box], [vi.Free("base", "world", "box")], forces=[wall])
    run = simulate(mechanism, 0.5, 0.05, order, mechanism.state(velocity={"box": (1, 0, rise)}))
    # the blow takes 0.5 of 1 N s along the wall, at 0.1 s
    left = rise - GRAVITY * 0.1 - np.sign(rise - GRAVITY * 0.1) * min(0.5, abs(rise - GRAVITY * 0.1))
    height = rise * 0.1 - 0.5 * GRAVITY * 0.1**2 + left * 0.4 - 0.5 * GRAVITY * 0.4**2
    assert run.position[-1, 0] == pytest.approx([0.1, 0, height], abs=1e-10)


@pytest.mark.parametrize(("dt", "most"), [(0.02, 1e-6), (0.01, 1e-7), (0.005, 1e-8)])
def test_a_box_on_four_corners_begins_to_slide_where_friction_ends(dt, most):
    def motion(t, y):
        push = 8.0 * np.sin(np.pi * t / 0.1) ** 2
        return [y[1], max(push - 0.3 * GRAVITY, 0.0) if y[1] <= 0.0 else push - 0.3 * GRAVITY]

    start = 0.1 / np.pi * np.arcsin(np.sqrt(0.3 * GRAVITY / 8.0))
    exact = solve_ivp(motion, (start, 0.1), [0.0, 1e-300], **EXACT).y[0, -1]
    run = simulate(boxed(pulse((1, 0, 0), 8.0), friction=0.3), 0.1, dt, 6, None)
    assert run.position[-1, 0, 0] == pytest.approx(exact, abs=most)


@pytest.mark.parametrize("order", [6, 8])
def test_a_slip_that_turns_by_more_than_a_right_angle_goes_on(order):
    angle, friction, across = np.pi / 4, 0.05, np.array([0.0, 1.0, 0.0])
    mechanism, state, up = on_slope(angle, friction, 0.02)
    state = vi.State(state.position, state.quat_wxyz, state.velocity + 0.05 * across, state.angular_velocity)
    run = simulate(mechanism, 0.5, 0.02, order, state)
    along, load = GRAVITY * np.sin(angle), friction * GRAVITY * np.cos(angle)

    def motion(_, y):
        return [y[2], y[3], -along - load * y[2] / np.hypot(*y[2:]), -load * y[3] / np.hypot(*y[2:])]

    exact = solve_ivp(motion, (0.0, 0.5), [0.0, 0.0, 0.02, 0.05], **EXACT).y[:, -1]
    found = [each[-1, 0] @ way for each in (run.position, run.velocity) for way in (up, across)]
    assert found == pytest.approx(exact, abs=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_driven_arm_whose_leg_meets_the_ground(friction):
    arm = vi.Body.box("arm", (0.4, 0.05, 0.05), 1.0, position=(0.2, 0, 0.5))
    leg = vi.Body.box("leg", (0.05, 0.05, 0.5), 0.5, position=(0.4, 0, 0.25))
    joints = [
        vi.Revolute("shoulder", "world", "arm", point=(0, 0, 0.5), axis=(0, 1, 0)),
        vi.Revolute("knee", "arm", "leg", point=(0.4, 0, 0.5), axis=(0, 1, 0)),
    ]
    tip = vi.HardContact("tip", "leg", points=[(0.4, 0, 0)], friction=friction, ground=(0, 0, 0.1), restitution=0.3)
    drive = vi.PrescribedMotion("drive", joint="shoulder", position=lambda t: 0.25 * np.sin(4 * t) ** 2)
    mechanism = vi.Mechanism("m", [arm, leg], joints, forces=[tip, drive])
    state = mechanism.state(coordinates={"knee": 0.9})
    right = vi.redmax.simulate(mechanism, 1.2, state=state, rtol=1e-10)
    for dt in (0.02, 0.005):
        run = simulate(mechanism, 1.2, dt, 6, state)
        assert np.abs(run.position[-1] - right.position[-1]).max() < 1e-7


@pytest.mark.parametrize("points", [[(0, 0, -0.05)], CORNERS])
@pytest.mark.parametrize("order", [4, 8])
def test_a_box_that_is_lifted_and_falls_back_within_a_step(points, order):
    """A force that is larger than the weight for a while, in one step of 0.1 s or in many."""
    mechanism = boxed(pulse((0, 0, 1), 12.0), points=points)
    right = simulate(mechanism, 0.1, 0.001, 8, None).position[-1, 0, 2]
    found = [simulate(mechanism, 0.1, dt, order, None).position[-1, 0, 2] for dt in (0.02, 0.01)]
    assert found == pytest.approx([right, right], abs=2e-5)
    simulate(mechanism, 0.1, 0.1, order, None)  # is solved, though it resolves nothing


def test_a_box_that_falls_and_is_lifted_again_within_a_step_stays_above_the_ground():
    mechanism = boxed(pulse((0, 0, 1), 20.0), points=[(0, 0, -0.05)])
    right = simulate(mechanism, 0.1, 0.001, 8, None).position[-1, 0, 2]
    assert simulate(mechanism, 0.1, 0.1, 8, None).position[-1, 0, 2] == pytest.approx(right, abs=1e-4)


def test_many_bodies_that_meet_their_floors_in_one_step():
    """Each swings on a spring and is thrown back, e = 0.6, at an instant of its own."""
    count, pulsation, restitution = 18, 2 * np.pi / 0.4, 0.6
    floors = [0.1 + 0.0005 * k for k in range(count)]
    bodies = [vi.Body.sphere(f"b{k}", 0.05, 1.0, position=(k, 0, 0)) for k in range(count)]
    joints = [vi.Prismatic(f"j{k}", "world", f"b{k}", point=(k, 0, 0), axis=(0, 0, 1)) for k in range(count)]
    forces = [vi.TorsionSpring(f"s{k}", joint=f"j{k}", stiffness=pulsation**2) for k in range(count)]
    forces += [
        vi.HardContact(f"g{k}", f"b{k}", ground=(0, 0, -floors[k]), restitution=restitution) for k in range(count)
    ]
    mechanism = vi.Mechanism("many", bodies, joints, forces=forces, gravity=(0, 0, 0))
    run = simulate(mechanism, 0.4, 0.4, 10, mechanism.state(coordinates={f"j{k}": 0.11 for k in range(count)}))
    meets = np.arccos(-np.array(floors) / 0.11) / pulsation
    back, rest = restitution * 0.11 * pulsation * np.sin(pulsation * meets), pulsation * (0.4 - meets)
    exact = -np.array(floors) * np.cos(rest) + back / pulsation * np.sin(rest)
    assert run.position[-1, :, 2] == pytest.approx(exact, abs=1e-6)
