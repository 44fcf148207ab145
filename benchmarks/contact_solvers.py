"""Hard contacts by the contact solvers of reduced coordinates, beside Coulomb's law: the table of docs/redmax.md.

    python benchmarks/contact_solvers.py

A box of 0.4 by 0.3 by 0.2 m and 2 kg on its four lower corners, mu = 0.5.
"""

import itertools
import time

import numpy as np

import varint as vi
from varint.methods.reduced.contact_solvers import CONTACT_SOLVERS

MU, G, DT = 0.5, 9.81, 0.01
STEPS_TO_STOP, SLOPE = 40, 0.15  # the second in rad
OBLIQUE = np.pi / 4
COLUMNS = (
    "`contact_solver=`",
    "way to a stop, 0°",
    "45°",
    "lift from rest, mm",
    "thrown up, mm",
    "slides in 1 s below the cone, 0°",
    "45°",
    "ms a step",
)


def box(slope: float, downhill: float) -> vi.Mechanism:
    """The box on a plane that leans by ``slope`` towards ``downhill``, rad: the plane is level, gravity leans."""
    feet = np.array(list(itertools.product((-0.2, 0.2), (-0.15, 0.15), (0.0,))))
    body = vi.Body.box("box", (0.4, 0.3, 0.2), 2.0, position=(0, 0, 0.1))
    floor = vi.HardContact("floor", "box", points=feet, friction=MU)
    gravity = G * np.append(np.sin(slope) * direction(downhill)[:2], -np.cos(slope))
    return vi.Mechanism("box", [body], [vi.Free("base", "world", "box")], forces=[floor], gravity=gravity)


def direction(angle: float) -> np.ndarray:
    """In the plane; tangents of contacts are the axes."""
    return np.array([np.cos(angle), np.sin(angle), 0.0])


def run(solver: str, duration: float, slope: float, downhill: float = 0.0, speed: float = 0.0) -> vi.Trajectory:
    """The motion of the box, sliding downhill at ``speed``."""
    mechanism = box(slope, downhill)
    state = mechanism.state(velocity={"box": speed * direction(downhill)})
    return vi.simulate(vi.Problem(mechanism, duration, state), vi.Reduced("euler", dt=DT, contact_solver=solver))


def measured(solver: str) -> list[str]:
    """The cells of a row."""
    cells = [f"`{solver}`"]
    slowing = G * (MU * np.cos(SLOPE) - np.sin(SLOPE))
    speed = slowing * DT * STEPS_TO_STOP
    coulomb = speed**2 / (2 * slowing) - 0.5 * speed * DT
    for angle in (0.0, OBLIQUE):
        stopping = run(solver, 3 * DT * STEPS_TO_STOP, SLOPE, angle, speed)
        way = (stopping.position[-1, 0] - stopping.position[0, 0]) @ direction(angle)
        cells.append(f"{way / coulomb:.3f}")
    steep = run(solver, 0.5, 0.8)
    cells.append(f"{lift(steep)[-1]:.2f}")
    cells.append(f"{lift(run(solver, 0.5, 0.0, 0.0, 4.0)).max():.1f}")
    below = np.arctan(0.85 * MU)
    for angle in (0.0, OBLIQUE):
        resting = run(solver, 1.0, below, angle)
        cells.append(f"{np.linalg.norm(resting.position[-1, 0] - resting.position[0, 0]):.1g} m")
    began = time.process_time()
    run(solver, 0.5, 0.8)
    cells.append(f"{(time.process_time() - began) / 0.5 * DT * 1e3:.1f}")
    return cells


def lift(trajectory: vi.Trajectory) -> np.ndarray:
    """Distance of the box from the height at which it began, mm."""
    return 1e3 * np.abs(trajectory.position[:, 0, 2] - trajectory.position[0, 0, 2])


def main() -> None:
    """Print the table."""
    rows = [COLUMNS, ["---"] * len(COLUMNS), *map(measured, CONTACT_SOLVERS)]
    print(*(f"| {' | '.join(row)} |" for row in rows), sep="\n")


if __name__ == "__main__":
    main()
