"""The contract of the roles of a step: their functions, and what kernels call of those that a plan has."""

from inspect import signature

import numpy as np
import pytest

import varint as vi
from varint.base.numba import in_turn, njit
from varint.step.roles import HOOKS, ROLES, roles_of


def test_functions_of_a_hook_have_one_signature():
    for role in ROLES:
        for hook, function in role.functions.items():
            assert list(signature(function.py_func).parameters) == ["plan", *HOOKS[hook].split(", ")], function.__name__


def test_a_plan_has_the_roles_of_its_forces():
    chain = vi.mechanisms.n_pendulum(n=2)
    spring = vi.TorsionSpring("spring", joint=chain.joints[0].name, stiffness=1.0)
    rope = vi.PathMass("rope", path=[vi.At(body.name, body.position) for body in chain.bodies], mass=0.1)
    counts = [
        len(roles_of(vi.Mechanism("chain", chain.bodies, chain.joints, forces=forces).compiled.plan))
        for forces in ([], [spring], [rope], [spring, rope])
    ]
    assert counts == [0, 1, 1, 2]


@pytest.mark.slow
def test_what_acts_is_called_in_turn():
    first = njit(lambda plan: plan[0] > 0)
    second = njit(lambda plan: plan[1] > 0)
    add, double = njit(lambda plan, x, y: x.fill(x[0] + y)), njit(lambda plan, x, y: x.fill(2.0 * x[0]))
    called = in_turn("called", "x, y", [(first, add), (second, double)])
    for plan, wanted in (((0, 0), 1.0), ((1, 0), 4.0), ((0, 1), 2.0), ((1, 1), 8.0)):
        x = np.ones(1)
        called(plan, x, 3.0)
        assert x[0] == wanted
