"""VI Fig. 4c, one Newton step by the sparse and by a dense solver, and 4d, the increments of Newton's method."""

import numpy as np
from experiment import Experiment, curves, in_turns, slope
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

import varint as vi
from varint.base.numba import njit
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme
from varint.step.ldu import solve_newton
from varint.step.newton import evaluate_step, newton_increment
from varint.step.step import _kick

LENGTHS = (2, 5, 10, 30, 100, 300, 1000)  # links
CHAINS, DT, MOST = (1, 10, 100), 0.01, 7  # links, s, increments


def marched(n, angle=np.pi / 4, steps=20, tol=1e-10):
    """A march of a chain after some steps."""
    march = March(vi.mechanisms.n_pendulum(n=n, angle=angle).compiled, scheme(2), DT, tol, 1 << 40)
    march.start(vi.mechanisms.n_pendulum(n=n, angle=angle).state())
    march.advance(steps)
    return march


@njit
def many(plan, ws, D, body, row, start, end, repeats):
    """Factor and solve so many times."""
    for _ in range(repeats):
        for i in range(body.shape[0]):
            for a in range(6):
                body[i, a] = 1.0
                for k in range(6):
                    ws.ldu.D[i, a, k] = D[i, a, k]
        for r in range(row.size):
            row[r] = 1.0
        solve_newton(plan, ws, body, row, start, end)


def entries(march, D):
    """Rows, columns and values of Newton's matrix of the chain."""
    plan, jacobian, nb = march.compiled.plan, march.ws.jacobian, len(D)
    rows, columns, values = [], [], []
    for i in range(nb):
        a, k = np.indices((6, 6))
        rows.append(6 * i + a.ravel()), columns.append(6 * i + k.ravel()), values.append(D[i].ravel())
    sides = np.repeat(plan.joints.side, np.diff(plan.joints.rows), axis=0)
    for s in range(2):
        r = np.flatnonzero(sides[:, s] < nb)
        body = (6 * sides[r, s][:, None] + np.arange(6)).ravel()
        row = np.repeat(6 * nb + r, 6)
        rows += [body, row]
        columns += [row, body]
        values += [-jacobian[march.pose, r, s].ravel(), jacobian[1 - march.pose, r, s].ravel()]
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def solvers(n):
    """Name to a function that solves one system, and the repeats in it."""
    march = marched(n)
    plan, ws = march.compiled.plan, march.ws
    nb, nr = plan.bodies.mass.size, plan.rows.role.size
    D = np.zeros((nb, 6, 6))
    D[:, range(3), range(3)] = plan.bodies.mass[:, None]
    D[:, 3:, 3:] = plan.bodies.inertia
    body, row, repeats = np.empty((nb, 6)), np.empty(nr), max(1, 5000 // n)
    i, j, values = entries(march, D)
    size = 6 * nb + nr
    right = np.ones(size)

    def ours():
        many(plan, ws, D, body, row, march.pose, 1 - march.pose, repeats)

    def sparse():
        return splu(csc_matrix((values, (i, j)), shape=(size, size))).solve(right)

    def dense():
        matrix = np.zeros((size, size))
        matrix[i, j] = values
        return np.linalg.solve(matrix, right)

    ours()
    residual = csc_matrix((values, (i, j)), shape=(size, size)) @ np.concatenate([body.ravel(), row]) - right
    assert np.abs(residual).max() < 1e-7 * max(1.0, np.abs(row).max()), np.abs(residual).max()
    return {"block LDU": (ours, repeats), "SuperLU": (sparse, 1), "dense": (dense, 1)}


def measure_solvers():
    """Processor time of one solution, s, of each solver and length."""
    measured = {"links": list(LENGTHS), "block LDU": [], "SuperLU": [], "dense": []}
    for n in LENGTHS:
        works = solvers(n)
        best = in_turns({name: work for name, (work, _) in works.items()})
        for name, (_, repeats) in works.items():
            measured[name].append(best[name] / repeats)
    return measured


def draw_solvers(measured, figure):
    """Time against links."""
    panel = {name: (measured["links"], measured[name]) for name in ("block LDU", "SuperLU", "dense")}
    curves(figure, {"one Newton step, revolute chain": panel}, "links", "time (s)")


def seen_solvers(measured):
    """Exponents, and the ratio at the end."""
    last = len(measured["links"]) - 1
    exponents = {name: slope(measured["links"][-3:], measured[name][-3:]) for name in ("block LDU", "dense")}
    return (
        f"From {measured['links'][-3]} to {measured['links'][-1]} links the block LDU grows with the power"
        f" {exponents['block LDU']:.2f} of their number, a dense solution with {exponents['dense']:.2f}; at"
        f" {measured['links'][-1]} links it takes {measured['dense'][last] / measured['block LDU'][last]:.3g} times as"
        f" long, SuperLU {measured['SuperLU'][last] / measured['block LDU'][last]:.3g} times."
    )


@njit
def iterate(plan, ws, start, end, h, sizes):
    """Take full increments of Newton's method; the norm of each, of velocities and multipliers, to ``sizes``."""
    _kick(ws, 0.5 * h)
    ws.multiplier[:] = 0.0
    evaluate_step(plan, ws, start, end, h, start, math_inf)
    for k in range(sizes.size):
        newton_increment(plan, ws, end, h, start, False)
        total = 0.0
        for i in range(ws.velocity.shape[0]):
            for a in range(6):
                ws.velocity[i, a] += ws.increment_body[i, a]
                total += ws.increment_body[i, a] ** 2
        for r in range(ws.multiplier.size):
            ws.multiplier[r] += ws.increment_row[r]
            total += 0.0 if k == 0 else ws.increment_row[r] ** 2
        sizes[k] = total**0.5
        evaluate_step(plan, ws, start, end, h, start, math_inf)


math_inf = float("inf")


def measure_increments():
    """Norms of the increments of one step in motion, from the velocities of the step before."""
    measured = {}
    for n in CHAINS:
        march, sizes = marched(n, steps=100), np.empty(MOST)
        iterate(march.compiled.plan, march.ws, march.pose, 1 - march.pose, DT, sizes)
        measured[str(n)] = sizes.tolist()
    return measured


def draw_increments(measured, figure):
    """Norm against the number of the increment."""
    panel = {f"{n} links": (list(range(1, MOST + 1)), sizes) for n, sizes in measured.items()}
    curves(figure, {"one step of 10 ms": panel}, "increment", "norm", "linear-log")


def seen_increments(measured):
    """The norms, as far as they fall."""
    texts = []
    for n, sizes in measured.items():
        fall = next((k for k in range(1, len(sizes)) if sizes[k] > 0.1 * sizes[k - 1]), len(sizes))
        texts.append(f"{n}: {', '.join(f'{size:.1g}' for size in sizes[:fall])}")
    return f"Norms of the increments until round-off, by the number of links: {'; '.join(texts)}."


EXPERIMENTS = [
    Experiment(
        "vi_4c",
        "Sparse and dense solution (VI Fig. 4c)",
        "the time of a sparse Newton step is linear in the number of links, that of a dense one is cubic.",
        measure_solvers,
        draw_solvers,
        seen_solvers,
    ),
    Experiment(
        "vi_4d",
        "Convergence of Newton's method (VI Fig. 4d)",
        "in one step of pendulums of 1, 10 and 100 links the digits double with each increment.",
        measure_increments,
        draw_increments,
        seen_increments,
    ),
]
