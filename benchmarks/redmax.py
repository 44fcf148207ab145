"""Cost of the reduced forward dynamics against the number of links: chains of revolute joints."""

import numpy as np
from common import chain, fastest

from varint.redmax.equations import Equations
from varint.redmax.inverse import InverseDynamics

LENGTHS = (10, 30, 100, 300, 1000, 3000, 10_000)
EXPONENT_LIMIT = 1.1
MICROSECONDS_A_LINK = 1.5  # of long chains, where the call from Python does not count
DENSE = 100


def seconds(equations, work):
    """Of one call of ``work(q, rates)`` at a bent pose in motion."""
    q, rates = 0.1 * np.random.default_rng(0).standard_normal((2, equations.nq))
    calls = max(1, 20_000 // equations.nq)
    return fastest(lambda: [work(q, rates) for _ in range(calls)]) / calls


def measure():
    rows, times = [], []
    for n in LENGTHS:
        equations = Equations(chain(n))
        times.append(seconds(equations, lambda q, rates, e=equations: e.acceleration(0.0, q, rates)))
        rows.append(
            (f"accelerations, n = {n}", f"{times[-1] * 1e6:.1f} us = {times[-1] / n * 1e6:.2f} us a link", "", None)
        )
    a_link = times[-1] / LENGTHS[-1] * 1e6
    rows.append(
        ("a link of the longest", f"{a_link:.2f} us", f"<= {MICROSECONDS_A_LINK}", a_link <= MICROSECONDS_A_LINK)
    )
    exponent = np.polyfit(np.log(LENGTHS), np.log(times), 1)[0]
    rows.append(("exponent of the cost in n", f"{exponent:.3f}", f"<= {EXPONENT_LIMIT}", exponent <= EXPONENT_LIMIT))
    solve = seconds(equations, lambda q, rates: equations.solve(q))
    rows.append((f"M^-1 times a vector, n = {n}", f"{solve / n * 1e6:.2f} us a link", "", None))
    equations = Equations(chain(DENSE))
    inverse = InverseDynamics(equations)

    def newton_matrix(q, rates):
        inverse.evaluate(0.0, q, rates, rates, np.zeros(0))
        inverse.derivatives(1.0, 100.0, 10_000.0)

    newton = seconds(equations, newton_matrix)
    rows.append((f"a Newton matrix of BDF, n = {DENSE}", f"{newton * 1e3:.2f} ms", "", None))
    return rows
