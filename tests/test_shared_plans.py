"""Members of an ensemble take over plans and workspaces; their runs are those of `simulate`, to the bit."""

import gc
from dataclasses import fields, replace

import numpy as np
import pytest

import varint as vi
from varint.base.numba import CompiledRecord
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme
from varint.plan import compile_structure, recompile
from varint.step.march.spare_workspaces import SPARES, borrowed_coupled_workspace, spare_workspace
from varint.step.workspace import coupled_workspace, joint_workspace, workspace
from varint.studies.ensembles.shared_plan import placed_alike, same_arrangement, same_description, share_plan
from varint.studies.ensembles.source import Builder

CASES = {  # mechanisms without forces, and parameters
    "double_pendulum": ({"angle": 0.3}, {"angle": 1.1}),
    "n_pendulum": ({"n": 4, "joint": "spherical"}, {"n": 4, "joint": "spherical", "angle": 2.0}),
    "four_bar": ({}, {"crank": 0.35}),
    "rhombus_chain": ({"m": 3}, {"m": 3, "opening": 1.0}),
}


def arrays(record, name=""):
    for field, part in zip((each.name for each in fields(record)), record, strict=True):
        if field == "spans":  # addresses in memory
            continue
        if isinstance(part, CompiledRecord):
            yield from arrays(part, f"{name}.{field}")
        else:
            yield f"{name}.{field}", part


def same_bits(one, other):
    pairs = list(zip(arrays(one), arrays(other), strict=True))
    return [name for (name, a), (_, b) in pairs if a.shape != b.shape or a.tobytes() != b.tobytes()]


def pair_of(name):
    build = getattr(vi.mechanisms, name)
    return tuple(build(**parameters) for parameters in CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_a_plan_with_other_numbers_is_that_of_a_fresh_compilation(name):
    one, other = pair_of(name)
    assert same_arrangement(one, other)
    fresh, refilled = compile_structure(other), recompile(other, one.compiled)
    assert not same_bits(refilled.plan, fresh.plan)
    assert same_bits(one.compiled.plan, fresh.plan)  # else there was nothing to refill
    assert (refilled.length, refilled.forces, refilled.functions) == (fresh.length, fresh.forces, fresh.functions)
    for own in ("order", "slot", "joints", "law_start"):
        np.testing.assert_array_equal(getattr(refilled, own), getattr(fresh, own))


def test_the_plan_of_other_masses_keeps_the_measures():
    one = vi.mechanisms.four_bar()
    heavy = [replace(body, mass=2.0 * body.mass, inertia=1e3 * body.inertia) for body in one.bodies]
    other = replace(one, bodies=heavy)
    one.merged  # noqa: B018  compiled
    share_plan(other, one)
    assert not same_bits(other.compiled.plan, compile_structure(other).plan)
    assert other.compiled.plan.measures is one.compiled.plan.measures
    assert other.compiled.length != one.compiled.length
    for moved in pair_of("four_bar")[1], replace(other, joints=other.joints[::-1]):
        assert not placed_alike(moved, other)


def test_plans_are_shared_only_where_they_fit():
    one, other = pair_of("double_pendulum")
    again = vi.mechanisms.double_pendulum(angle=0.3)
    assert same_description(one, again)
    assert not same_description(one, other)
    share_plan(again, one)
    assert "compiled" not in vars(again)  # nothing to share yet
    assert one.merged is one.compiled
    share_plan(again, one)
    assert again.compiled is one.compiled
    for unlike in (vi.mechanisms.n_pendulum(n=2), vi.mechanisms.n_pendulum(n=3)):
        assert same_arrangement(unlike, one) == (len(unlike.bodies) == 2)
    sprung = vi.Mechanism(
        one.name, one.bodies, one.joints, forces=[vi.TorsionSpring("spring", joint="joint 1", stiffness=1.0)]
    )
    assert not same_arrangement(sprung, one)
    assert not same_description(sprung, one)
    soft = replace(one, joints=[replace(one.joints[0], compliance=1e-6), *one.joints[1:]])
    assert not same_arrangement(soft, soft)
    assert same_description(soft, soft)


@pytest.mark.slow
def test_a_spare_workspace_is_as_fresh_as_a_new_one():
    mechanism = vi.mechanisms.double_pendulum(angle=0.3)
    plan = mechanism.compiled.plan
    vi.simulate(mechanism, 0.1, 0.01)
    gc.collect()
    assert SPARES
    spare = spare_workspace(plan, stages=1, functions=mechanism.compiled.functions)
    assert spare not in SPARES
    assert not [
        name
        for name in same_bits(spare.ws, workspace(plan, 1, mechanism.compiled.functions))
        if not name.endswith((".function", ".mapped"))
    ]
    spare.put_back()
    assert spare in SPARES


@pytest.mark.slow
def test_a_workspace_in_use_is_nobody_else_s():
    compiled = vi.mechanisms.double_pendulum(angle=0.3).compiled
    marches = [March(compiled, scheme(2, None), 0.01, 1e-10, 1) for _ in range(3)]
    assert len({id(march.ws) for march in marches}) == 3
    kept = marches[0].ws
    del marches[0]
    gc.collect()
    assert any(spare.ws is kept for spare in SPARES)


def test_large_workspaces_are_not_kept():
    plan = vi.mechanisms.n_pendulum(n=200).compiled.plan
    spare = spare_workspace(plan)
    spare.put_back()
    assert spare not in SPARES


@pytest.mark.parametrize("name", CASES)
def test_members_move_as_single_runs_to_the_bit(name):
    build = Builder(getattr(vi.mechanisms, name))
    for parameters in (*CASES[name], *CASES[name][::-1]):
        alone = vi.simulate(getattr(vi.mechanisms, name)(**parameters), 0.2, 0.005, on_unresolved="ignore")
        SPARES.clear()
        member = vi.simulate(build(**parameters), 0.2, 0.005, on_unresolved="ignore")
        for own in ("position", "quat_wxyz", "velocity", "angular_velocity"):
            assert getattr(member, own).tobytes() == getattr(alone, own).tobytes()


@pytest.mark.slow
def test_the_file_of_an_ended_run_has_one_checkpoint_by_two_names_and_goes_on(tmp_path):
    mechanism, path = vi.mechanisms.double_pendulum(), tmp_path / "run.h5"
    vi.simulate(mechanism, 0.1, 0.01).save(path)
    longer = vi.simulate(mechanism, 0.3, 0.01, output=path, resume=True)
    assert longer.position.tobytes() == vi.simulate(mechanism, 0.3, 0.01).position.tobytes()
    assert vi.load(path).position.tobytes() == longer.position.tobytes()


def test_a_spare_joint_workspace_is_as_fresh_as_a_new_one():
    plan = vi.mechanisms.escapement().compiled.plan
    spare = spare_workspace(plan, inactive=range(plan.constraints.row.size))
    assert not same_bits(spare.ws, joint_workspace(plan))


def test_a_spare_coupled_workspace_is_as_fresh_as_a_new_one():
    compiled = vi.mechanisms.slider_crank().compiled
    with borrowed_coupled_workspace(compiled.plan, compiled.functions) as ws:
        assert not same_bits(ws, coupled_workspace(compiled.plan, compiled.functions))
        ws.velocity[:] = 1.0
    with borrowed_coupled_workspace(compiled.plan, compiled.functions) as again:
        assert again is ws
        assert not again.velocity.any()


def test_members_of_the_catalogue_with_the_same_arguments_are_one_mechanism():
    build = Builder(vi.mechanisms.double_pendulum)
    one = build(angle=1.0)
    assert build(angle=1.0) is one
    assert build(angle=1) is not one
    assert build(angle=2.0) is not one


def test_functions_of_users_are_called_for_each_member():
    calls = []
    build = Builder(lambda: calls.append(1) or vi.mechanisms.double_pendulum())
    assert build() is not build()
    assert len(calls) == 2
