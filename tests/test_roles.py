"""The contract of the roles of a step: their functions, and what kernels call of those that a plan has."""

from collections import namedtuple
from inspect import signature

import numpy as np
import pytest

import varint as vi
from varint.base.numba import in_turn, njit
from varint.step.roles import DERIVATIVES, HOOKS, ROLES, roles_of


def test_functions_of_a_hook_have_one_signature():
    for role in ROLES:
        for functions, hooks in ((role.functions, HOOKS), (role.derivatives, DERIVATIVES)):
            for hook, function in functions.items():
                count = len(["plan", "ws", *filter(None, hooks[hook].split(", "))])
                assert len(signature(function.py_func).parameters) == count, function.__name__


def test_functions_of_a_hook_have_one_type():
    """A caller of a hook may have any of them."""
    for hook in {**HOOKS, **DERIVATIVES}:
        having = [{**role.functions, **role.derivatives} for role in ROLES]
        types = {functions[hook].arguments for functions in having if hook in functions}
        assert len(types) <= 1, hook


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
    add, double = njit(lambda plan, ws, x, y: x.fill(x[0] + y)), njit(lambda plan, ws, x, y: x.fill(2.0 * x[0]))
    called = in_turn("called", "x, y", {0: add, 2: double})
    acting = namedtuple("Acting", "acts")
    for acts, wanted in ((0, 1.0), (1, 4.0), (2, 1.0), (4, 2.0), (5, 8.0), (7, 8.0)):
        x = np.ones(1)
        called(None, acting(np.array([acts])), x, 3.0)
        assert x[0] == wanted
