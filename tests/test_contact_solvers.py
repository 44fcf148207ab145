"""Contact solvers at velocity level: their laws in closed form, with the flaw of each as a number."""

import numpy as np
import pytest

import varint as vi
from varint.methods.reduced.contact_solvers import CONTACT_SOLVERS, REGISTRY
from varint.methods.reduced.contact_solvers.bisp import MOST_PASSES
from varint.methods.reduced.contact_solvers.gauss_seidel import SWEEPS
from varint.methods.reduced.contact_solvers.mixed_lcp import BoxProblem, MixedProblem, PyramidProblem
from varint.methods.reduced.contacts import Contacts

G, DT = 9.81, 0.01
slow = pytest.mark.slow
RIVALS = [name for name, kind in CONTACT_SOLVERS.items() if kind is not Contacts]
BOXES = ["staggered", "gauss_seidel", "bisp", "lcp_box"]
PYRAMIDS = ["staggered_pyramid", "single_qp", "lcp_pyramid"]
# friction at 45 degrees to the tangents, of that along them
OBLIQUE = {"cones": 1.0} | dict.fromkeys(BOXES, np.sqrt(2.0)) | dict.fromkeys(PYRAMIDS, np.sqrt(0.5))


def along(angle):
    """Direction in the plane; the tangents of a contact are the axes."""
    return np.array([np.cos(angle), np.sin(angle), 0.0])


def slider(mu, slope=0.0, downhill=0.0, feet=None, height=0.0):
    """A body on a plane that leans by ``slope`` towards ``downhill``, rad; touches at its centre, or at ``feet``."""
    gravity = G * (np.sin(slope) * along(downhill) - np.cos(slope) * np.array([0.0, 0.0, 1.0]))
    body = vi.Body("block", mass=2.0, inertia=np.diag([0.02, 0.03, 0.04]), position=(0, 0, height))
    contact = vi.HardContact("floor", "block", points=feet, friction=mu)
    return vi.Mechanism("slider", [body], [vi.Free("base", "world", "block")], forces=[contact], gravity=gravity)


def run(mechanism, solver, duration, dt=DT, velocity=(0, 0, 0)):
    state = mechanism.state(velocity={"block": velocity})
    method = vi.Reduced("euler", dt=dt, contact_solver=solver)
    return vi.simulate(vi.Problem(mechanism, duration, state), method)


# ---------------------------------------------------------------------------------------- friction polygons


@slow
@pytest.mark.parametrize("solver", [name for name in OBLIQUE if name != "single_qp"])
@pytest.mark.parametrize("angle", [0.0, np.pi / 4])
def test_what_slides_down_a_slope_stops_where_the_polygon_says(solver, angle):
    """After v^2 / (2 (k mu cos - sin) g) less v h / 2; Coulomb's k is 1 in all directions."""
    mu, slope = 0.5, 0.15
    slowing = G * (np.where(angle, OBLIQUE[solver], 1.0) * mu * np.cos(slope) - np.sin(slope))
    steps = 20
    speed = slowing * DT * steps
    stopped = run(slider(mu, slope, angle), solver, DT * (steps + 5), velocity=speed * along(angle))
    assert stopped.position[-1, 0] @ along(angle) == pytest.approx(
        speed**2 / (2 * slowing) - 0.5 * speed * DT, rel=1e-7
    )
    assert np.abs(stopped.velocity[-1]).max() < 1e-8
    assert stopped.force["floor"] == pytest.approx(np.full(len(stopped), 2.0 * G * np.cos(slope)), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("solver", OBLIQUE)
@pytest.mark.parametrize("side", [0.85, 1.2])
def test_slope_beside_the_cone(solver, side):
    """At 45 degrees a pyramid slides on a slope of 0.85 mu, where Coulomb sticks; a box sticks on one of 1.2 mu."""
    mu = 0.4
    slope = np.arctan(side * mu)
    moved = run(slider(mu, slope, np.pi / 4), solver, 0.1)
    excess = max(0.0, np.sin(slope) - OBLIQUE[solver] * mu * np.cos(slope)) * G
    speeds = excess * moved.t
    if solver == "single_qp":
        speeds = hovering_speeds(excess, mu * OBLIQUE[solver], len(moved))
    assert moved.velocity[:, 0] @ along(np.pi / 4) == pytest.approx(speeds, abs=1e-7)
    assert bool(excess) == (side > OBLIQUE[solver])


# ---------------------------------------------------------------------------------------- the single program lifts off


def hovering_speeds(excess, mu, nodes):
    """Of a point that slides from rest: d_k (1 + mu^2) = h a + mu^2 d_{k-1}, d the changes of its speed."""
    speeds, change = [0.0], 0.0
    for _ in range(nodes - 1):
        change = (DT * excess + mu**2 * change) / (1 + mu**2)
        speeds.append(speeds[-1] + change)
    return np.array(speeds)


@slow
@pytest.mark.parametrize("dt", [0.01, 0.005])
def test_single_program_hovers(dt):
    """The gap of what slides along an edge of the pyramid is h mu |v|, of all other solvers zero."""
    mu, slope = 0.5, 0.8
    for solver in OBLIQUE:
        slid = run(slider(mu, slope), solver, 0.3, dt)
        height, speed = slid.position[:, 0, 2], slid.velocity[:, 0, 0]
        assert height == pytest.approx(dt * mu * speed if solver == "single_qp" else 0.0 * speed, abs=1e-9)
        assert speed[-1] == pytest.approx(G * (np.sin(slope) - mu * np.cos(slope)) * 0.3, rel=0.02)


@slow
def test_single_program_throws_up_what_starts_fast():
    """The first step leaves (v - mu g h) / (1 + mu^2), and mu of it upwards: a jump that no smaller step lessens."""
    mu, speed = 0.25, 4.0
    for dt in (0.01, 0.005):
        thrown = run(slider(mu), "single_qp", 0.3, dt, (speed, 0, 0))
        after = (speed - mu * G * dt) / (1 + mu**2)
        assert thrown.velocity[1, 0] == pytest.approx([after, 0, mu * after], abs=1e-8)
        free = mu * after - G * dt * np.arange(int(mu * after / (G * dt)) + 1)
        assert thrown.position[:, 0, 2].max() == pytest.approx(dt * free.sum(), rel=1e-7)
        for solver in set(OBLIQUE) - {"single_qp"}:
            assert np.abs(run(slider(mu), solver, 0.1, dt, (speed, 0, 0)).position[:, 0, 2]).max() < 1e-10


# ---------------------------------------------------------------------------------------- what is left unfinished


def test_gauss_seidel_leaves_a_rate():
    """Two feet of a body of large inertia: after K sweeps the first leaves with g h (1 - c) c^(2 K - 1)."""
    arm, mass, inertia = 0.1, 2.0, 2.0
    shared, own = 1 / mass - arm**2 / inertia, 1 / mass + arm**2 / inertia
    c = shared / own
    body = vi.Body("block", mass=mass, inertia=inertia * np.eye(3))
    feet = [(arm, 0, 0), (-arm, 0, 0)]
    mechanism = vi.Mechanism(
        "rod", [body], [vi.Free("base", "world", "block")], forces=[vi.HardContact("floor", "block", points=feet)]
    )
    for solver in ("cones", "gauss_seidel", "staggered", "single_qp", "bisp", "lcp_box", "lcp_pyramid"):
        node = run(mechanism, solver, DT)
        rates = node.velocity[-1, 0, 2] - node.angular_velocity[-1, 0, 1] * np.array([arm, -arm])
        left = G * DT * (1 - c) * c ** (2 * SWEEPS - 1) if solver == "gauss_seidel" else 0.0
        assert rates == pytest.approx([left, 0.0], abs=1e-9)


def tip(mu):
    """A body that slides on a foot beside and below its centre: S_nn = 1 / m + x^2 / I, S_nt = x z / I."""
    body = vi.Body("block", mass=1.0, inertia=0.01 * np.eye(3), position=(0, 0, 0.2))
    contact = vi.HardContact("floor", "block", points=[(0.1, 0, 0)], friction=mu)
    return vi.Mechanism("tip", [body], [vi.Free("base", "world", "block")], forces=[contact])


@slow
def test_staggered_projections_end_at_painleve():
    """alpha = c - r alpha, r = mu |S_nt| / S_nn = mu here: found for r < 1, and a cycle from there on."""
    for mu in (0.3, 0.9):
        for solver in ("cones", "staggered", "staggered_pyramid", "bisp", "lcp_pyramid"):
            force = run(tip(mu), solver, DT, velocity=(-5, 0, 0)).force["floor"][-1]
            assert force == pytest.approx(G / (2 * (1 + mu)), rel=1e-6)
    for solver in ("cones", "lcp_pyramid"):
        assert run(tip(1.5), solver, DT, velocity=(-5, 0, 0)).force["floor"][-1] == pytest.approx(G / 5.0, rel=1e-6)
    for solver in ("staggered", "bisp"):
        with pytest.raises(vi.ConvergenceError, match=r"staggered projections of .*'floor' did not converge"):
            run(tip(1.5), solver, DT, velocity=(-5, 0, 0))


@pytest.mark.parametrize("mu", [0.3, 0.9, 1.5])
def test_box_of_the_complementarity_problem_is_an_estimate(mu):
    """Friction is mu times the load G / 2 without friction, the load what that leaves: none from mu = 1 on."""
    slid = run(tip(mu), "lcp_box", DT, velocity=(-5, 0, 0))
    assert slid.force["floor"][-1] == pytest.approx(max(0.0, G / 2 * (1 - mu)), abs=1e-9)
    assert slid.velocity[-1, 0, 0] == pytest.approx(-5 + DT * mu * G / 2, abs=1e-9)


# ---------------------------------------------------------------------------------------- joint friction in turn


def stuck_pendulum(share):
    """A level pendulum, held by its pin; ``share`` of its inertia about the pin is that of its centre, m l^2."""
    mass, arm = 2.0, 0.3
    inertia = mass * arm**2 * (1 - share) / share
    body = vi.Body("bar", mass=mass, inertia=inertia * np.eye(3), position=(arm, 0, 0))
    pin = vi.Revolute("pin", "world", "bar", point=(0, 0, 0), axis=(0, 1, 0))
    friction = vi.JointCoulombFriction("rubs", joint="pin", coefficient=5.0, radius=0.2)
    return vi.Mechanism("stuck", [body], [pin], forces=[friction]), G * DT * share / arm


@pytest.mark.parametrize("share", [0.75, 0.98])
def test_bilateral_projections_leave_a_rate_where_bodies_are_heavy(share):
    """A pass takes 1 - m l^2 / (I + m l^2) of the rate, by the inertia I of the free body in place of I + m l^2."""
    mechanism, free = stuck_pendulum(share)
    for solver in ("cones", "bisp"):
        moved = run_of(mechanism, solver, DT)
        left = free * share**MOST_PASSES if solver == "bisp" else 0.0
        assert moved.angular_velocity[-1, 0, 1] == pytest.approx(left, rel=1e-6, abs=1e-8 * free)


def test_bilateral_projections_that_are_far_off_end_the_run():
    """1 - 10^-4: 300 passes find 3 % of the friction."""
    with pytest.raises(vi.ConvergenceError, match=r"bilateral staggered projections of .*'rubs' did not converge"):
        run_of(stuck_pendulum(1 - 1e-4)[0], "bisp", DT)


@slow
@pytest.mark.parametrize(("scene", "close"), [("27", 1e-9), ("29", 1e-9), ("30", 3e-3), ("31", 1e-5)])
def test_scenes_with_joint_friction_end_as_by_the_cones(scene, close):
    """One row a joint, or a ball that slides along a tangent: boxes are discs. In scene 31 there is the ground too.

    At a standstill of scene 30 it ends after `MOST_PASSES`.
    """
    mechanism = getattr(vi.mechanisms, f"redmax_{scene}")()
    facts = vi.mechanisms.module(f"redmax_{scene}").EXPECTED
    given = {"dt": facts["dt"], "integrator": "euler", "baumgarte": facts.get("baumgarte", 5.0)}
    runs = [
        vi.redmax.simulate(mechanism, facts["duration"], contact_solver=solver, **given) for solver in ("cones", "bisp")
    ]
    expected, found = (run.kinetic + run.potential for run in runs)
    assert found == pytest.approx(expected, abs=close * np.ptp(expected))


def test_joint_friction_and_contact_in_one_step():
    """Bounds of both depend on both: every impulse of a leg that slides obeys the law of boxes."""
    leg = [vi.Body("thigh", mass=2.0, inertia=0.02 * np.eye(3), position=(0.1, 0, 0.7)),
           vi.Body("shin", mass=1.0, inertia=0.01 * np.eye(3), position=(0.1, 0, 0.3))]  # fmt: skip
    joints = [
        vi.Free("base", "world", "thigh"),
        vi.Revolute("knee", "thigh", "shin", point=(0.2, 0, 0.5), axis=(0, 1, 0)),
    ]
    forces = [
        vi.JointCoulombFriction("rubs", joint="knee", coefficient=0.3, radius=0.05),
        vi.HardContact("floor", "shin", points=[(0, 0, -0.3)], friction=0.4),
    ]
    mechanism = vi.Mechanism("leg", leg, joints, forces=forces)
    state = mechanism.state(velocity={"thigh": (1.0, 0, 0), "shin": (1.0, 0, 0)})
    runs = [
        vi.redmax.simulate(mechanism, 0.05, dt=DT, state=state, integrator="euler", contact_solver=solver)
        for solver in ("cones", "bisp")
    ]
    for name, least in (("floor", 5.0), ("rubs", 0.01)):
        expected = runs[0].force[name]
        assert np.abs(expected).max() > least
        assert runs[1].force[name] == pytest.approx(expected, abs=1e-7 * np.abs(expected).max())


# ---------------------------------------------------------------------------------------- pivots on demand


@slow
def test_pyramids_of_pivots_and_of_projections_are_one_law(monkeypatch):
    """Impulses of a box that lands and slides obey the pyramid's law in each step, and move it as projections do."""
    found = []
    solve = MixedProblem.impulses

    def kept(self, problem):
        z = solve(self, problem)
        found.append((self, problem, z))
        return z

    monkeypatch.setattr(MixedProblem, "impulses", kept)
    feet = [(x, y, z) for x in (-0.2, 0.2) for y in (-0.1, 0.1) for z in (-0.05, 0.05)]
    mechanism = slider(0.4, 0.2, 0.3, feet=feet, height=0.06)
    runs = [run(mechanism, solver, 0.4, velocity=(1, 0.5, 0)) for solver in ("lcp_pyramid", "staggered_pyramid")]
    assert runs[0].position == pytest.approx(runs[1].position, abs=1e-7)
    assert len(found) > 30
    for solver, problem, z in found:
        rates = problem.free + problem.reduced @ (problem.reduced.T @ z)
        alpha, beta, slip = z[:8], z[8:].reshape(8, 2), rates[8:].reshape(8, 2)
        above = rates[:8] - problem.bound
        assert alpha.min() >= 0.0
        assert above.min() > -1e-12
        assert np.abs(alpha * above).max() < 1e-12
        greatest, most = np.abs(slip).max(axis=1), 0.4 * alpha
        assert (np.abs(beta).sum(axis=1) <= most + 1e-12).all()
        assert np.einsum("pk,pk->p", beta, slip) == pytest.approx(-most * greatest, abs=1e-11)
        assert solver.columns < 8 + 4 * 8 + 8


def test_columns_are_computed_on_demand():
    """Of eight corners without friction no more are asked for than touch; two kinds of friction add their rows."""
    feet = [(x, y, z) for x in (-0.2, 0.2) for y in (-0.1, 0.1) for z in (0.0, 0.1)]
    for mu, most in ((0.0, (4, 4)), (0.5, (4 + 4 + 8 + 8, 4 + 16 + 4))):
        for kind, count in zip((PyramidProblem, BoxProblem), most, strict=True):
            counted = []
            solve = kind.impulses
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(kind, "impulses", lambda self, p, solve=solve, out=counted: _kept(self, p, solve, out))
                run(slider(mu, feet=feet), kind.name, 3 * DT)
            assert 0 < max(counted) <= count


def _kept(solver, problem, solve, out):
    z = solve(solver, problem)
    out.append(solver.columns)
    return z


@pytest.mark.parametrize("solver", ["lcp_box", "lcp_pyramid", "bisp", "staggered"])
def test_planes_that_contradict_each_other_are_named(solver):
    """A ball between two planes that are closer than its diameter, which come together faster than it can leave."""
    body = vi.Body.sphere("block", 0.1, 1.0, position=(0, 0, 0.1))
    walls = [
        vi.HardContact("floor", "block", radius=0.1, friction=0.2),
        vi.HardContact("ceiling", "block", radius=0.1, ground=(0, 0, 0.15), normal=(0, 0, -1), friction=0.2),
    ]
    mechanism = vi.Mechanism("squeezed", [body], [vi.Free("base", "world", "block")], forces=walls)
    with pytest.raises(vi.VarintError, match=r"'floor'.*'ceiling'"):
        run_of(mechanism, solver, DT)


# ---------------------------------------------------------------------------------------- one law where it is the same


@slow
@pytest.mark.parametrize("solver", RIVALS)
def test_without_friction_all_are_the_cones(solver):
    feet = [(x, y, 0) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    mechanism = slider(0.0, 0.3, 0.4, feet=feet, height=0.1)
    expected, found = (run(mechanism, each, 0.2, velocity=(1.0, 0.5, 0)) for each in ("cones", solver))
    close = 1e-4 if solver == "gauss_seidel" else 1e-8
    assert found.position == pytest.approx(expected.position, abs=close)


@slow
@pytest.mark.parametrize("solver", RIVALS)
def test_a_stop_in_a_loop_holds(solver):
    """Hard stops are rows without friction, and loops are eliminated."""
    mechanism = vi.mechanisms.four_bar(rate=3.0)
    crank = mechanism.joints[0].name
    reach = run_of(mechanism, "cones", 0.3).coordinates[crank][-1] * 0.5
    stopped = vi.Mechanism(
        "stopped", mechanism.bodies, mechanism.joints, forces=[vi.JointStop("stop", joint=crank, upper=reach)],
        gravity=mechanism.gravity, start=mechanism.start,
    )  # fmt: skip
    expected, found = (run_of(stopped, each, 0.3) for each in ("cones", solver))
    assert found.position == pytest.approx(expected.position, abs=1e-7)
    assert found.coordinates[crank].max() <= reach + 1e-3


def run_of(mechanism, solver, duration):
    return vi.redmax.simulate(mechanism, duration, dt=DT, integrator="euler", contact_solver=solver)


# ---------------------------------------------------------------------------------------- interface


@pytest.mark.parametrize("solver", RIVALS)
def test_what_they_do_not_take(solver):
    bouncing = vi.Mechanism(
        "ball", [vi.Body.sphere("block", 0.1, 1.0, position=(0, 0, 0.1))], [vi.Free("base", "world", "block")],
        forces=[vi.HardContact("floor", "block", radius=0.1, restitution=0.5)],
    )  # fmt: skip
    with pytest.raises(vi.ArgumentError, match=f"'floor' has a restitution, which contact_solver='{solver}' does not"):
        run_of(bouncing, solver, 0.1)
    pendulum = vi.mechanisms.double_pendulum()
    rubbing = vi.Mechanism(
        "rubbing", pendulum.bodies, pendulum.joints,
        forces=[vi.JointCoulombFriction("rubs", joint="joint 1", coefficient=0.1, radius=0.01, length=0.1)],
    )  # fmt: skip
    if REGISTRY[solver].joint_friction:
        assert run_of(rubbing, solver, 0.05).dissipated["rubs"][-1] > 0.0
        return
    with pytest.raises(vi.ArgumentError, match=r"'rubs' .* contact solvers at velocity level do not support"):
        run_of(rubbing, solver, 0.1)


def test_wrong_arguments():
    with pytest.raises(vi.ArgumentError, match=r"contact_solver must be one of cones, .*, got 'lemke'"):
        vi.Reduced("euler", dt=DT, contact_solver="lemke")
    with pytest.raises(vi.ArgumentError, match="contact_solver belongs to integrator 'euler', not to 'dop853'"):
        vi.Reduced("dop853", contact_solver="staggered")


@slow
def test_compare_names_each():
    methods = [vi.Reduced("euler", dt=DT, contact_solver=name) for name in ("cones", "single_qp", "staggered")]
    mechanism = slider(0.5, 0.8)
    compared = vi.compare(mechanism, duration=0.1, dt=[0.01, 0.005], integrators=methods)
    assert [series.name for series in compared.own] == [method.title for method in methods]
    assert compared.own[1].name == "REDMAX euler single_qp"


@slow
@pytest.mark.parametrize("solver", RIVALS)
def test_runs_resume_to_the_same_bits(solver, tmp_path):
    feet = [(x, y, 0) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    mechanism = slider(0.3, 0.2, 0.4, feet=feet, height=0.05)
    given = {"dt": DT, "integrator": "euler", "contact_solver": solver}
    whole = vi.redmax.simulate(mechanism, 0.4, **given)
    vi.redmax.simulate(mechanism, 0.2, output=tmp_path / "run.h5", **given)
    resumed = vi.redmax.simulate(mechanism, 0.4, output=tmp_path / "run.h5", resume=True, **given)
    assert np.array_equal(resumed.position, whole.position)
    with pytest.raises(vi.FileError, match="contact_solver"):
        vi.redmax.simulate(mechanism, 0.5, dt=DT, integrator="euler", output=tmp_path / "run.h5", resume=True)
