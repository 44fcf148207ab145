"""REDMAX Fig. 1 and its integrators: the energy of a swinging chain, and `itype` 1, 2, 3 over all scenes."""

import numpy as np
from experiment import Experiment, curves, timed

import varint as vi

RTOL, CHAIN = 1e-6, "redmax_00"
ITYPES = {"1, recursive, rk45": "rk45", "2, J^T M J, rk45": "matrix", "3, implicit Euler": "euler"}


def method(integrator, facts):
    """As the reference runs a scene: its step and its rate of stabilisation."""
    options = {"rtol": RTOL} if integrator in ("rk45", "matrix") else {}
    return vi.Reduced(integrator, dt=facts["dt"], baumgarte=facts.get("baumgarte", 5.0), **options)


def measure():
    """Energy over time of the chain, and of each scene the energies at the end and times by `itype`."""
    module = vi.mechanisms.module(CHAIN)
    chain = {}
    for name, integrator in ITYPES.items():
        run = vi.simulate(vi.Problem(module.build(), module.EXPECTED["duration"]), method(integrator, module.EXPECTED))
        chain[name] = {"t": run.t.tolist(), "energy": (run.energy - run.energy[0]).tolist()}
    return {"chain": chain, "scenes": {scene: ends(scene) for scene in vi.mechanisms.SCENES}}


def ends(scene):
    """`itype` to [energy at the end, J, largest difference of a centre of mass from that of itype 1, m, time, s]."""
    module, of_each, first = vi.mechanisms.module(scene), {}, None
    for name, integrator in ITYPES.items():
        mechanism = module.build()
        try:
            chosen = method(integrator, module.EXPECTED)
            run, seconds = timed(mechanism, chosen, module.EXPECTED["duration"], vi.Recording())
        except vi.VarintError as problem:
            of_each[name] = str(problem).splitlines()[0][:160]
            continue
        if not run.success:
            of_each[name] = run.message.splitlines()[0][:160]
            continue
        first = run if first is None else first
        apart = float(np.abs(run.position[-1] - first.position[-1]).max())
        of_each[name] = [float(run.energy[-1]), apart, float(seconds)]
    return of_each


def draw(measured, figure):
    """The chain's energy by `itype`."""
    panels = {name: {"chain of scene 0": (curve["t"], curve["energy"])} for name, curve in measured["chain"].items()}
    curves(figure, panels, "time (s)", "energy less that at the start (J)", "linear-linear")


def seen(measured):
    """How far itypes 1 and 2 agree, and what they take."""
    one, two, three = ITYPES
    both = {s: of for s, of in measured["scenes"].items() if isinstance(of[one], list) and isinstance(of[two], list)}
    apart = {scene: of[two][1] for scene, of in both.items()}
    worst = max(apart, key=apart.get)
    ratio = np.exp(np.mean([np.log(of[two][2] / of[one][2]) for of in both.values()]))
    ran = {name: sum(isinstance(of[name], list) for of in measured["scenes"].values()) for name in ITYPES}
    return (
        f"Of {len(measured['scenes'])} scenes itype 1 runs {ran[one]}, itype 2 {ran[two]}, itype 3 {ran[three]}; the"
        f" rest have forces that an explicit method does not take. Ends of itypes 1 and 2 agree within"
        f" {np.median(list(apart.values())):.1g} m (median) and {apart[worst]:.1g} m ({worst}); itype 2 takes"
        f" {ratio:.2g} times as long (geometric mean)."
    )


EXPERIMENTS = [
    Experiment(
        "redmax_1",
        "Energy of a chain and the three integrators (REDMAX Fig. 1)",
        "the matrix form (itype 2) gives numerically the solution of the recursive one (itype 1); linearly implicit"
        " Euler (itype 3) takes all scenes.",
        measure,
        draw,
        seen,
    )
]
