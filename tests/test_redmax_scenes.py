"""Runs of the reference implementation of REDMAX, reproduced: energies and final poses."""

import numpy as np
import pytest
import redmax_scenes
from redmax_scenes import SCENES

import varint as vi
from varint.model.rotation import rotation_matrix

RUNS = [
    pytest.param(given, integrator, id=f"{given['suite']} {given['id']} {integrator}")
    for given in SCENES
    for integrator in ("euler", "bdf1", "bdf2")
    if integrator in given["runs"]
]


@pytest.mark.parametrize(("given", "integrator"), RUNS)
def test_energy_and_final_poses(given, integrator):
    mechanism, start = redmax_scenes.build(given)
    run = redmax_scenes.run(given, integrator, mechanism, start, every=1)
    figures = given["runs"][integrator]
    expected = figures["reproduced"]["H"]
    scale = max(abs(expected), np.abs(run.kinetic).max())
    # of this scene the reference's own Newton tolerance shows
    loose = 1000 if (given["suite"], given["id"]) == ("matlab-diff", -2) else 1
    assert redmax_scenes.energy(run) == pytest.approx(expected, abs=loose * 1e-9 * scale)
    X = np.array(figures["final"]["body_transforms"], dtype=float)
    assert run.position[-1] == pytest.approx(X[:, :3, 3], abs=loose * 1e-8 * np.abs(X).max())


CONTINUOUS = [
    pytest.param(given, id=f"{given['suite']} {given['id']}") for given in SCENES if "continuous" in given["runs"]
]


@pytest.mark.slow
@pytest.mark.parametrize("given", CONTINUOUS)
def test_continuous_equations(given):
    mechanism, start = redmax_scenes.build(given)
    figures = given["runs"]["continuous"]
    run = vi.redmax.simulate(mechanism, figures["t1"], state=start, rtol=1e-11, baumgarte=5.0)
    size = max(abs(figures["H"]), np.abs(run.kinetic).max())
    assert redmax_scenes.energy(run) == pytest.approx(figures["H"], abs=1e-6 * size)
    X = np.array(figures["final"]["body_transforms"], dtype=float)
    assert run.position[-1] == pytest.approx(X[:, :3, 3], abs=1e-5 * np.abs(X).max())


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


@pytest.mark.parametrize("given", CONTINUOUS)
def test_runge_kutta_is_as_near_as_the_reference(given):
    """Energies by the pair of the reference's ode45, whose rtol is 1e-4; scipy's steps are longer at the same rtol."""
    mechanism, start = redmax_scenes.build(given)
    figures = given["runs"]["continuous"]
    run = vi.redmax.simulate(
        mechanism, figures["t1"], state=start, integrator="rk45", rtol=1e-6, atol=1e-8, baumgarte=5.0
    )
    theirs = [abs(given["runs"][f"ode45_{kind}"]["H_published"] - figures["H"]) for kind in ("redmax", "recursive")]
    assert abs(redmax_scenes.energy(run) - figures["H"]) <= max(theirs)
