"""Every function, class and method for users, with an argument that is right for each of its parameters."""

import inspect
from functools import cache

import numpy as np
from fuzz._call import Call, always, reduced_run, rights, short_run
from fuzz._calls_of_descriptions import body_calls, force_calls, joint_calls, mechanism_calls
from fuzz._calls_of_runs import run_calls
from fuzz._calls_of_studies import file_calls, study_calls
from fuzz._wrong import a_run
from random_mechanisms import random_joint

import varint as vi


def _lookups() -> dict[str, Call]:
    """Of trajectories by the names of joints and forces."""
    found = {}
    names = {
        "force": "motor",
        "power": "motor",
        "law_state": "motor",
        "force_potential": "motor",
        "dissipated": "motor",
    }
    names |= {"coordinates": "track", "reactions": "track"}
    for formulation, run in (("", a_run()), ("reduced ", reduced_run())):
        for what, name in names.items():
            mapping = getattr(run, what)
            found[f"{formulation}{what}[]"] = Call(mapping.__getitem__, rights(name=name))
            found[f"{formulation}{what} in"] = Call(mapping.__contains__, rights(present=name))
    return found


def _catalogue_calls() -> dict[str, Call]:
    found = {"mechanisms.module": Call(vi.mechanisms.module, rights(key="four_bar"))}
    for name in vi.mechanisms.NAMES:
        build = getattr(vi.mechanisms, name)
        given = {key: parameter.default for key, parameter in inspect.signature(build).parameters.items()}
        if given:
            found[f"mechanisms.{name}"] = Call(build, {key: always(value) for key, value in given.items()}, short_run)
    curve, surface = (random_joint(np.random.default_rng(2), kind, "j", "world", "b", np.zeros(3)) for kind in SPLINES)
    found["SplineCurve.pose"] = Call(vi.SplineCurve.pose, rights(frames=curve.frames, q=1.0, closed=True))
    found["SplineSurface.pose"] = Call(vi.SplineSurface.pose, rights(controls=surface.controls, q=np.array([0.5, 0.5])))
    return found


SPLINES = ("SplineCurve", "SplineSurface")


@cache
def calls() -> dict[str, Call]:
    """By their names."""
    parts = (
        joint_calls,
        force_calls,
        body_calls,
        mechanism_calls,
        run_calls,
        study_calls,
        file_calls,
        _lookups,
        _catalogue_calls,
    )
    return {name: call for part in parts for name, call in part().items()}
