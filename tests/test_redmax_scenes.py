"""Runs of the reference implementation of REDMAX: energies and final poses, reproduced, or why they are not."""

import dataclasses
from functools import cache

import numpy as np
import pytest
import redmax_scenes
from redmax_scenes import SCENES, energy
from reference_friction import ReferenceFriction, ball, bar, pin

import varint as vi
from varint.cli import main
from varint.mechanisms._redmax import CM, ERG
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.linear_solves import reduced_damping_and_stiffness
from varint.model.rotation_vectors import rotation_matrix

PRESETS = vi.mechanisms.SCENES
FACTS = {name: vi.mechanisms.module(name).EXPECTED for name in PRESETS}
FIGURES = {name: given for given in SCENES if (name := redmax_scenes.of_catalogue(given))}
OTHERS = {name for name, facts in FACTS.items() if "differs" in facts}
LONG = ("redmax_20", "redmax_32", "redmax_33")  # runs of seconds


@cache
def preset_run(name):
    """The run of a preset that its published energy is of."""
    facts = FACTS[name]
    options = {"integrator": "euler", "baumgarte": facts.get("baumgarte", 5.0)}
    return vi.redmax.simulate(getattr(vi.mechanisms, name)(), facts["duration"], dt=facts["dt"], **options)


def test_there_are_36_presets():
    assert list(PRESETS) == [f"redmax_{number:02d}" for number in range(36)]
    assert set(vi.mechanisms.ALL) == {*PRESETS, *vi.mechanisms.NAMES}
    for facts in FACTS.values():
        assert facts.keys() - {"baumgarte", "differs"} == {"dt", "duration", "energy"}


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in PRESETS])
def test_published_energies(name):
    """To a millionth, or the file of the scene says why not. In its docs the table has the same figures."""
    found, published = energy(preset_run(name)) / ERG, FACTS[name]["energy"]
    assert np.isfinite(found)
    assert (abs(found - published) < 1e-6 * abs(published)) == (name not in OTHERS)
    if name in FIGURES:
        assert FIGURES[name]["runs"]["euler"]["H_published"] == pytest.approx(published, rel=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_energy_and_final_poses_of_presets(name):
    run, figures = preset_run(name), FIGURES[name]["runs"]["euler"]
    expected = ERG * figures["reproduced"]["H"]
    assert energy(run) == pytest.approx(expected, abs=1e-9 * max(abs(expected), run.kinetic.max()))
    X = CM * np.array(figures["final"]["body_transforms"], dtype=float)[:, :3, 3]
    assert run.position[-1] == pytest.approx(X, abs=1e-8 * max(np.abs(X).max(), CM))


def test_a_preset_runs_from_the_command_line(capsys):
    assert main(["run", "redmax_07", "--duration", "0.5"]) == 0
    assert "redmax 7" in capsys.readouterr().out
    assert main(["info", "redmax_35"]) == 0
    assert "two bars that float in a plane" in capsys.readouterr().out


# friction of joints from their load, in joints of several coordinates or beside hard contacts
ONLY_REDUCED = ("redmax_28", "redmax_31", "redmax_33")


@pytest.mark.parametrize("name", PRESETS)
def test_presets_in_maximal_coordinates(name):
    """A tenth of the documented run, at half its step; those that only reduced coordinates know are refused by name."""
    mechanism, facts = getattr(vi.mechanisms, name)(), FACTS[name]
    only = [force for force in mechanism.forces if force.restricted and name in ONLY_REDUCED]
    if only:
        with pytest.raises(vi.VarintError, match=only[0].name):
            vi.simulate(mechanism, facts["dt"], facts["dt"])
        return
    run = vi.simulate(mechanism, 0.1 * facts["duration"], facts["dt"] / 2)
    assert run.drift.max() < 1e-12
    assert np.abs(run.energy_balance).max() < 0.03 * max(run.kinetic.max(), 1e-9)


BDF = [
    pytest.param(given, integrator, id=f"{given['suite']} {given['id']} {integrator}")
    for given in SCENES
    for integrator in ("euler", "bdf1", "bdf2")
    if integrator in given["runs"] and not redmax_scenes.of_catalogue(given)
]


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(("given", "integrator"), BDF)
def test_energy_and_final_poses_of_others(given, integrator):
    figures, (mechanism, start) = given["runs"][integrator], redmax_scenes.build(given)
    h = figures["h"]
    run = vi.redmax.simulate(mechanism, h * (figures["nsteps"] + 0.5), dt=h, state=start, integrator=integrator)
    expected = figures["reproduced"]["H"]
    scale = max(abs(expected), np.abs(run.kinetic).max())
    # of this scene the reference's own Newton tolerance shows
    loose = 1000 if (given["suite"], given["id"]) == ("matlab-diff", -2) else 1
    assert energy(run) == pytest.approx(expected, abs=loose * 1e-9 * scale)
    X = np.array(figures["final"]["body_transforms"], dtype=float)
    assert run.position[-1] == pytest.approx(X[:, :3, 3], abs=loose * 1e-8 * np.abs(X).max())


CONTINUOUS = [
    pytest.param(given, id=f"{given['suite']} {given['id']}") for given in SCENES if "continuous" in given["runs"]
]


@pytest.mark.slow
@pytest.mark.parametrize("given", CONTINUOUS)
def test_continuous_equations(given):
    mechanism, start, cm, erg = redmax_scenes.mechanism_of(given)
    figures = given["runs"]["continuous"]
    run = vi.redmax.simulate(mechanism, figures["t1"], state=start, rtol=1e-11, atol=1e-13, baumgarte=5.0)
    size = max(abs(erg * figures["H"]), np.abs(run.kinetic).max())
    assert energy(run) == pytest.approx(erg * figures["H"], abs=1e-6 * size)
    X = cm * np.array(figures["final"]["body_transforms"], dtype=float)[:, :3, 3]
    assert run.position[-1] == pytest.approx(X, abs=1e-5 * max(np.abs(X).max(), cm))


@pytest.mark.slow
def test_objective_and_its_gradient():
    """Scene 100: where the tip of two links is after a second, by constant torques. Its gradients are an adjoint's."""
    given = redmax_scenes.scene("matlab-diff", 100)
    task = given["adjoint"]

    def objective(p):
        motors = [
            vi.Motor(f"motor {j}", joint=f"j{j}", effort=task["scale"] * value)
            for j, value in zip(task["parameter_order_joints"], p, strict=True)
        ]
        mechanism, start = redmax_scenes.build(given, motors)
        run = vi.redmax.simulate(mechanism, task["t1"], dt=task["h"], state=start, integrator=task["integrator"])
        tip = run.position[-1, task["body"]] + rotation_matrix(run.quat_wxyz[-1, task["body"]]) @ task["x_body"]
        return task["w_pos"] / 2 * np.sum((tip - task["target"]) ** 2) + task["w_reg"] / 2 * np.sum(np.square(p))

    for case in task["evaluations"]:
        p, h = np.array(case["p"], dtype=float), 1e-5
        assert objective(p) == pytest.approx(case["objective"], rel=1e-9)
        gradient = [(objective(p + step) - objective(p - step)) / (2 * h) for step in h * np.eye(2)]
        assert gradient == pytest.approx(case["gradient_reference"], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("given", CONTINUOUS)
def test_runge_kutta_is_as_near_as_the_reference(given):
    """Energies by the pair of the reference's ode45, whose rtol is 1e-4; scipy's steps are longer at the same rtol."""
    mechanism, start, _, erg = redmax_scenes.mechanism_of(given)
    figures = given["runs"]["continuous"]
    run = vi.redmax.simulate(
        mechanism, figures["t1"], state=start, integrator="rk45", rtol=1e-6, atol=1e-8, baumgarte=5.0
    )
    theirs = [abs(given["runs"][f"ode45_{kind}"]["H_published"] - figures["H"]) for kind in ("redmax", "recursive")]
    assert abs(energy(run) / erg - figures["H"]) <= max(theirs)


# --------------------------------------------------------------------- where the reference's step is another than ours


def alone(them, t, q, free):
    return np.zeros((0, q.size)), []


def explicit(them, h, v, f, M):
    return M, M @ v + h * f


class TheirStep:
    """Linearly implicit Euler with what the reference does in one scene in place of what is ours.

    ``rows(them, t, q, free)``: rows of v at the end of a step, t, and their values, by ``free``, v without rows;
    ``system(them, h, v, f, M)``: A and b of A v = b without them.
    """

    def __init__(self, name, rows=alone, system=explicit, joints=None, forces=True):
        whole, self.facts = getattr(vi.mechanisms, name)(), FACTS[name]
        joints = whole.joints if joints is None else joints(whole.joints)
        self.mechanism = dataclasses.replace(whole, joints=joints, forces=whole.forces if forces else [], start={})
        self.equations, self.rows, self.system = Equations(self.mechanism), rows, system

    def column(self, joint):
        return vi.redmax.coordinates(self.mechanism)[joint].start

    def run(self, q):
        """q and v at the end, from rest at ``q``."""
        e, h, v = self.equations, self.facts["dt"], np.zeros_like(q)
        for step in range(round(self.facts["duration"] / h)):
            e.place(q)
            e.move(q, v)
            A, b = self.system(self, h, v, e.reduced_force(0.0), e.mass_matrix())
            G, g = self.rows(self, h * (step + 1), q, np.linalg.solve(A, b))
            unit = 1.0 / np.sqrt(np.diag(A))
            A, b, G = A * np.outer(unit, unit), b * unit, G * unit
            size = np.linalg.norm(G, axis=1)
            G, g = G / size[:, None], g / size
            saddle = np.block([[A, G.T], [G, np.zeros((len(G), len(G)))]])
            v = unit * np.linalg.lstsq(saddle, np.concatenate([b, g]), rcond=1e-12)[0][: q.size]
            q = q + h * v
        return q, v

    def at(self, body, point):
        """Where ``point`` of a body, of the world in the reference, is, and its derivative (3, nq)."""
        e, described = self.equations, self.mechanism.body(body)
        slot, nq = e.compiled.slot[self.mechanism.body_index[body]], e.nq
        arm = e.rotation[slot] @ rotation_matrix(described.quat_wxyz).T @ (point - described.position)
        linear, angular = e.jacobian().reshape(-1, 2, 3, nq)[slot]
        return e.position[slot] + arm, linear + np.cross(e.rotation[slot] @ angular, arm, axisa=0, axisc=0)

    def energy(self, q, v):
        """Kinetic energy and that of gravity, erg."""
        e = self.equations
        e.place(q)
        e.move(q, v)
        masses = np.array([body.mass for body in self.mechanism.bodies])
        height = masses @ e.position[e.compiled.slot[: masses.size]] @ self.mechanism.gravity
        return (0.5 * v @ e.mass_matrix() @ v - height) / ERG


def beyond_limits(them, t, q, free):
    """Scene 6: only what is beyond a limit is held, at 5 1/s times the excess; at the upper limit it grows."""
    column = them.column("joint 2")
    row, limit = np.eye(q.size)[[column]], np.pi / 4
    for side in (1, -1):
        over = side * q[column] - limit
        if over >= 0.0 and side * free[column] > side * 5.0 * over:
            return row, [5.0 * over]
    return row[:0], []


def drawn_to(course, joint):
    """Scenes 9 and 20: a joint at the rate of its course at the end of a step, and 5 1/s times the way there."""

    def rows(them, t, q, _):
        column = them.column(joint)
        place, rate = course(t)
        return np.eye(q.size)[[column]], [rate + 5.0 * (place - q[column])]

    return rows


def logistic(size, duration, held):
    """Its place and rate; ``held``: at ``size`` from ``duration`` on."""

    def course(t):
        if held and t >= duration:
            return size, 0.0
        x = np.exp(7.0 - 14.0 * t / duration)
        return size / (1 + x), size * 14.0 / duration * x / (1 + x) ** 2

    return course


def moved_by_velocities(them, t, q, _):
    """Scenes 13 and 20: velocity and angular velocity of the last body are given, its place is not."""
    e = them.equations
    number = len(them.mechanism.bodies) - 1
    J = e.jacobian().reshape(-1, 6, q.size)[e.compiled.slot[number]]
    turning = -t if t < 2 else t - 4 if t < 6 else 8 - t if t < 8 else 0.0
    along = 0.0 if t < 4 else -2 * (t - 4) if t < 6 else 2 * (t - 8) if t < 8 else 0.0
    return J[[4, 0, 2]], [turning, CM * along, 0.0]


def both(*parts):
    def rows(*args):
        found = [part(*args) for part in parts]
        return np.concatenate([G for G, _ in found]), np.concatenate([g for _, g in found])

    return rows


THEIRS = {
    "redmax_06": (beyond_limits, 3e-7),  # their quadratic program's tolerance
    "redmax_09": (drawn_to(logistic(1.5 * np.pi, 7.0, held=True), "joint 1"), 1e-9),
    "redmax_13": (moved_by_velocities, 1e-7),
    "redmax_20": (both(moved_by_velocities, drawn_to(logistic(0.5 * np.pi, 10.0, held=False), "joint 3")), 1e-9),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", THEIRS)
def test_why_energies_differ(name):
    """With what the reference does in these scenes its energies come out: that is all the difference."""
    rows, tolerance = THEIRS[name]
    them = TheirStep(name, rows, forces=False)
    start = np.zeros(them.equations.nq)
    gained = them.energy(*them.run(start)) - them.energy(start, start)
    assert gained == pytest.approx(FACTS[name]["energy"], rel=tolerance)


def pushed_apart(them, h, v, f, M):
    """Scene 24: the damper pushes where it should pull; of the stiffness the turning of the force is left out."""
    D, _ = reduced_damping_and_stiffness(them.equations)
    (spring,) = them.mechanism.forces
    return M - h * D - h * h * spring.stiffness / spring.damping * D, M @ v + h * (f - 2.0 * D @ v)


def test_why_the_energy_of_a_spring_with_a_damper_differs():
    them = TheirStep("redmax_24", system=pushed_apart)
    (spring,) = them.mechanism.forces
    start = np.array([np.pi / 2, -np.pi / 2])
    before = them.energy(start, np.zeros(2))
    after = them.energy(*them.run(start))
    ends = them.at(spring.body_a, spring.point_a)[0], them.at(spring.body_b, spring.point_b)[0]
    strain = np.linalg.norm(ends[1] - ends[0]) / spring.rest_length - 1.0
    assert after - before + 0.5e6 * strain**2 == pytest.approx(FACTS["redmax_24"]["energy"], rel=1e-10)


def held_together(*pairs, baumgarte):
    """Points of bodies, of the world in the reference, held together in x and z of the world."""

    def rows(them, t, q, _):
        found = []
        for body_a, body_b, point in pairs:
            (a, J_a), (b, J_b) = them.at(body_a, point), them.at(body_b, point)
            found += [((J_a - J_b)[k], -baumgarte * (a - b)[k]) for k in (0, 2)]
        return np.array([row for row, _ in found]), [value for _, value in found]

    return rows


def turned_at(rate):
    """Scene 32: the second joint at its rate, from the end of the first step on."""
    return lambda them, t, q, _: (np.eye(q.size)[[them.column("joint 2")]], [rate])


@pytest.mark.slow
def test_why_the_energy_of_a_swinging_linkage_differs():
    """Scene 32: from rest, and the gap of the loop closes in axes of the world, not of the base, which turns."""
    loop = vi.mechanisms.redmax_32().joints[-1]
    rows = both(held_together(("body 4", "body 1", loop.point), baumgarte=20.0), turned_at(4 * np.pi))
    them = TheirStep("redmax_32", rows, joints=lambda joints: joints[:-1], forces=False)
    start = np.pi * np.eye(4)[them.column("joint 1")]
    gained = them.energy(*them.run(start)) - them.energy(start, np.zeros(4))
    assert gained == pytest.approx(FACTS["redmax_32"]["energy"], rel=1e-9)


def test_why_the_energy_of_heavy_springs_differs():
    """Scene 12: springs as they are at the start of a step, and masses at their ends held by rows, not welded."""
    whole = vi.mechanisms.redmax_12()
    places = {j.body_b: (j.body_a, whole.body(j.body_b).position) for j in whole.joints if isinstance(j, vi.Fixed)}

    def loose(joints):
        return [
            vi.Translational(j.name, "world", j.body_b, point=places[j.body_b][1]) if j.body_b in places else j
            for j in joints
        ]

    rows = held_together(*((a, b, point) for b, (a, point) in places.items()), baumgarte=5.0)
    them = TheirStep("redmax_12", rows, joints=loose)
    start = np.zeros(them.equations.nq)
    before = them.energy(start, start)
    gained = them.energy(*them.run(start)) - before
    for spring in them.mechanism.forces:
        ends = [
            point if body == "world" else them.at(body, point)[0]
            for body, point in ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b))
        ]
        gained += 0.5 * spring.stiffness * (np.linalg.norm(ends[1] - ends[0]) - spring.rest_length) ** 2 / ERG
    assert gained == pytest.approx(FACTS["redmax_12"]["energy"], rel=1e-8)


LEANING = np.array([[1, 0, 0], [0, np.sqrt(0.5), -np.sqrt(0.5)], [0, np.sqrt(0.5), np.sqrt(0.5)]])  # of the pins
FRICTION = {
    "redmax_27": (pin(0.5, 1.0, LEANING), 0.6),
    "redmax_28": (ball(1.0), 5.0),
    "redmax_29": (bar(5.0, 0.5, 5.0), 0.8),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FRICTION)
def test_why_energies_with_friction_differ(name):
    """With the friction of the reference its energies come out."""
    facts = FACTS[name]
    them = ReferenceFriction(getattr(vi.mechanisms, name)(), *FRICTION[name])
    assert them.run(facts["dt"], round(facts["duration"] / facts["dt"])) == pytest.approx(facts["energy"], rel=1e-8)
