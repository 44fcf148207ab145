"""``varint info``: the catalogue, a mechanism, or a recorded run."""

from argparse import Namespace
from collections.abc import Sized
from pathlib import Path
from typing import TYPE_CHECKING

from varint.cli.common import RUN_FILES, Commands, add_mechanism

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from varint.mechanism import Mechanism
    from varint.model.state import State


LARGEST_LOOPS = 200  # bodies in one cluster of loops, to be diagnosed within seconds
LISTED = 40  # rows of a table that are printed


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser(
        "info", help="describe a mechanism or a run, or list the catalogue", description=__doc__
    )
    what = "name in the catalogue, file of a mechanism, .h5 file of a run; lists the catalogue without"
    add_mechanism(parser, what, nargs="?")
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> None:
    """Print it."""
    from varint.cli.common import find_mechanism, stdout_console

    console = stdout_console()
    if args.mechanism is None:
        _catalogue(console)
    elif Path(args.mechanism).suffix.lower() in RUN_FILES:
        _run(console, args.mechanism)
    else:
        _mechanism(console, find_mechanism(args.mechanism, args.param))


def _catalogue(console: "Console") -> None:
    import ast

    from varint import mechanisms
    from varint.cli.common import new_table

    table = new_table("name", "what it is")
    for name in mechanisms.NAMES:
        source = Path(mechanisms.__path__[0], f"{name}.py").read_text()  # read, not imported: that is slower
        table.add_row(name, (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0])
    console.print(table)


def _run(console: "Console", path: str) -> None:
    from varint import load
    from varint.cli.summary import summary
    from varint.io.run_reader import load_settings

    trajectory, settings = load(path), load_settings(path)
    table = summary(trajectory, settings)
    table.add_row("recorded nodes", f"{len(trajectory.t)}, every {settings['every']}")
    given = {name: settings[name] for name in ("tol", "rtol", "atol", "dt") if settings.get(name) is not None}
    table.add_row(", ".join(given), ", ".join(f"{value:g}" for value in given.values()))
    steps = f", {settings['steps']} steps" if settings["dt"] else ""
    table.add_row("asked for", f"{settings['duration']:g} s{steps}")
    table.add_row("status", trajectory.message)
    console.print(table)


def _mechanism(console: "Console", mechanism: "Mechanism") -> None:
    import numpy as np

    from varint.analysis.forces import forces_at
    from varint.analysis.quantities import kinetic_energy, potential_energy
    from varint.cli.common import new_table
    from varint.model.body import WORLD

    state = mechanism.state()
    kinetic = kinetic_energy(mechanism, state.velocity[None], state.angular_velocity[None])[0]
    potential = potential_energy(mechanism, state.position[None])[0]
    arrays = (state.position, state.quat_wxyz, state.velocity, state.angular_velocity, np.zeros(len(mechanism.forces)))
    potential += forces_at(mechanism, *(array[None] for array in arrays)).potential.sum()

    table = new_table("body", ">mass (kg)", ">x (m)", ">y (m)", ">z (m)", title=mechanism.name)
    for body, position in list(zip(mechanism.bodies, state.position, strict=True))[:LISTED]:
        table.add_row(body.name, f"{body.mass:g}", *(f"{value + 0.0:.6g}" for value in position))
    _say_how_many_more(table, mechanism.bodies)
    console.print(table)

    topology = mechanism.compiled.topology
    cuts = {joint for _, joints in topology.clusters for joint in joints}
    table = new_table("joint", "type", "body a", "body b", ">rows", ">coordinates", "")
    for number, joint in enumerate(mechanism.joints[:LISTED]):
        kind, rows = type(joint).__name__, len(joint.forbidden)
        table.add_row(
            joint.name, kind, joint.body_a, joint.body_b, str(rows), str(joint.dof), "cut" if number in cuts else ""
        )
    _say_how_many_more(table, mechanism.joints)
    console.print(table)

    if mechanism.forces:
        table = new_table("force", "type", "acts on")
        for force in mechanism.forces[:LISTED]:
            table.add_row(force.name, type(force).__name__, " - ".join(force.acts_on(mechanism)))
        _say_how_many_more(table, mechanism.forces)
        console.print(table)

    table = new_table("", "")
    for number, (articulation, joints) in enumerate(topology.clusters[:LISTED], 1):
        top = WORLD if articulation < 0 else mechanism.bodies[articulation].name
        closed = ", ".join(mechanism.joints[joint].name for joint in joints)
        table.add_row(f"loops {number}", f"from '{top}', cut at {closed}")
    _say_how_many_more(table, topology.clusters)
    table.add_row("bodies, joints", f"{len(mechanism.bodies)}, {len(mechanism.joints)}")
    table.add_row("6 n - rows", f"{6 * len(mechanism.bodies) - mechanism.rows}")
    if not mechanism.is_closed:
        table.add_row("description", "open: the bodies above were moved to close the joints")
    _mobility(table, mechanism, state)
    table.add_row("mass", f"{sum(body.mass for body in mechanism.bodies):g} kg")
    table.add_row("energy at the start", f"{kinetic + potential:.6g} J, {kinetic:.6g} J of it kinetic")
    console.print(table)


def _say_how_many_more(table: "Table", items: Sized) -> None:
    if len(items) > LISTED:
        table.add_row(f"... {len(items) - LISTED} more")


def _mobility(table: "Table", mechanism: "Mechanism", state: "State") -> None:
    """Rows on what the joints allow at the start."""
    from collections import Counter

    clusters = Counter(mechanism.compiled.topology.cluster_of.values())
    largest = max(clusters.values(), default=0)
    if largest > LARGEST_LOOPS:
        table.add_row("degrees of freedom", f"not counted: {largest} bodies in one cluster of loops")
        return
    diagnosis = mechanism.diagnose(state)
    nearby = f", {diagnosis.generic_mobility} at neighbouring poses: singular" if diagnosis.singular else ""
    table.add_row("degrees of freedom", f"{diagnosis.mobility}{nearby}")
    for number, line in enumerate(diagnosis.redundant_lines[:LISTED]):
        table.add_row("" if number else f"redundant rows, {diagnosis.redundancy}", line)
    _say_how_many_more(table, diagnosis.redundant_lines)
    if not diagnosis.unique_multipliers:
        table.add_row("", "joint reactions are not unique: those of the least norm are reported")
