"""``varint info``: the catalogue, a mechanism, or a recorded run."""

from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varint import mechanisms
from varint.cli.facts import LISTED, Data, Fact, FactColumn, Facts, Listing, Report, ReportPart
from varint.cli.parser import COMMANDS
from varint.cli.shared import RUN_FILES, Commands, add_mechanism, all_parsed

if TYPE_CHECKING:
    from rich.console import Console

    from varint.mechanism.mechanism import Mechanism
    from varint.model.forces.base import Force
    from varint.model.state import State


ABOUT = "Describe a mechanism or a recorded run, or list the catalogue."
LARGEST_LOOPS = 200  # bodies in one cluster of loops, to be diagnosed within seconds
OF_FILES = "the reference configuration, in which the bodies are described"
OF_PARAMETERS = (
    FactColumn("name", "parameter"),
    FactColumn("default", "default"),
    FactColumn("unit", "unit"),
    FactColumn("kind", "kind"),
    FactColumn("what", "what it is"),
)
OF_FILE_PARAMETERS = (
    FactColumn("name", "parameter"),
    FactColumn("default", "in the file"),
    FactColumn("value", "value"),
    FactColumn("what", "what it is"),
)


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser("info", help=COMMANDS["info"], description=ABOUT)
    help_text = "name in the catalogue, file of a mechanism, .h5 file of a run; lists the catalogue without"
    add_mechanism(parser, help_text, nargs="?")
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> Report:
    """Report on a mechanism, a run or the catalogue."""
    from varint.base.errors import ArgumentError
    from varint.cli.shared import find_mechanism

    of_run = args.mechanism is not None and Path(args.mechanism).suffix.lower() in RUN_FILES
    if (args.param or args.repair or args.packages) and (args.mechanism is None or of_run):
        reason = f"'{args.mechanism}' is a run" if of_run else "none is named"
        option = "--repair" if args.repair else "--packages"
        option, use = (
            ("-p", "parameters are for mechanisms") if args.param else (option, f"{option} is for files of mechanisms")
        )
        raise ArgumentError(f"{use}, {reason}: leave out {option}")
    if args.mechanism is None:
        return Report([Catalogue()])
    if of_run:
        return _run(args.mechanism)
    mechanism = find_mechanism(args.mechanism, args.param, args.repair, args.packages)
    return _mechanism(mechanism, args)


@dataclass(frozen=True)
class Catalogue:
    """All mechanisms: in the object with their parameters, which takes their import; in the table with a line.

    The scenes of REDMAX are one line of the table.
    """

    def data(self) -> dict[str, Any]:
        from varint.cli.listed_mechanisms import entry

        entries = [entry(name) for name in (*mechanisms.NAMES, *mechanisms.SCENES)]
        whole = [each._asdict() | {"parameters": [one._asdict() for one in each.parameters]} for each in entries]
        return {"mechanisms": whole}

    def show(self, console: "Console") -> None:
        from varint.cli.listed_mechanisms import first_line

        scenes = mechanisms.SCENES
        folded = f"The {len(scenes)} scenes of the reference implementation of REDMAX, each with a name of its own."
        rows = [(name, first_line(name)) for name in mechanisms.NAMES]
        rows.append((f"{scenes[0]} to {scenes[-1].rpartition('_')[2]}", folded))
        columns = FactColumn("name", "name"), FactColumn("what", "what it is")
        Listing("mechanisms", columns, rows, most=len(rows)).show(console)


def _run(path: str) -> Report:
    from varint import load
    from varint.cli.summary import summary

    return summary(load(path))


def _mechanism(mechanism: "Mechanism", args: Namespace) -> Report:
    """Return the report on the mechanism that ``args`` name."""
    from varint.results.inputs.replaced_rates import replaced_rates, with_prescribed_rates

    mechanism, refused = _with_start(mechanism)
    state = mechanism.state()
    started = with_prescribed_rates(mechanism, state)
    refused += replaced_rates(mechanism, state, started)
    facts = [*_of_topology(mechanism), *_mobility(mechanism, state), *_looks_wrong(mechanism, refused)]
    facts += [*_prescribed(mechanism, started), *_at_the_start(mechanism, started)]
    return Report([*_described(mechanism, args), *_listings(mechanism, state), *_imported(mechanism), Facts(facts)])


def _with_start(mechanism: "Mechanism") -> tuple["Mechanism", list[str]]:
    """Return the mechanism, at rest or in its reference configuration if its start is refused, and the reasons."""
    from varint.base.errors import StateError

    refused = []
    poses = {key: values for key, values in mechanism.start.items() if key in ("coordinates", "position", "quat_wxyz")}
    for start in (poses, {}):
        try:
            mechanism.state()
            break
        except StateError as problem:
            if not mechanism.start:
                raise
            instead = "its poses at rest are" if start else "the reference configuration is"
            refused.append(f"the start is refused, {instead} described here: {problem}")
            mechanism = mechanism.replace(start=start)
    return mechanism, refused


def _looks_wrong(mechanism: "Mechanism", refused: list[str]) -> list[Fact]:
    """Return the oddities of the description, and why its start was ``refused``."""
    from varint.kinematics.oddities import oddities

    sentences = [*refused, *oddities(mechanism.rigid_twin, mechanism.rigid_twin.compiled)]
    return [Fact("oddities", "looks wrong" if sentences else "", sentences, text="\n".join(sentences))]


def _described(mechanism: "Mechanism", args: Namespace) -> list[ReportPart]:
    """Return the description of a mechanism: text, zero of its coordinates, and parameters."""
    from varint import mechanisms
    from varint.cli.listed_mechanisms import entry

    name, facts, zero = args.mechanism, [Fact("mechanism", "", mechanism.name)], OF_FILES
    columns: tuple[FactColumn, ...] = OF_PARAMETERS
    rows: list[tuple] = []
    if name in mechanisms.ALL:
        known = entry(name)
        zero = known.zero
        rows = [(one.name, one.default, one.unit, one.kind, one.what) for one in known.parameters]
        facts += [Fact("what", "what it is", known.what), Fact("text", "what is built", known.text)]
    else:
        columns, rows = OF_FILE_PARAMETERS, _parameters(args)
    facts.append(Fact("zero", "zero of the coordinates", zero))
    return [Facts(facts, title=mechanism.name), Listing("parameters", columns, rows)]


def _parameters(args: Namespace) -> list[tuple]:
    """Return the rows of the parameters of a file."""
    from varint.files.own.mechanism_file import parameters_in

    return list(parameters_in(args.mechanism, all_parsed(args.param), bool(args.repair), args.packages or ()))


def _listings(mechanism: "Mechanism", state: "State") -> list[ReportPart]:
    topology = mechanism.compiled.topology
    cuts = {joint for _, joints in topology.clusters for joint in joints}
    bodies = [
        (body.name, float(body.mass), *map(float, position))
        for body, position in zip(mechanism.bodies, state.position, strict=True)
    ]
    joints = [
        (joint.name, type(joint).__name__, joint.body_a, joint.body_b, len(joint.rigid), joint.dof, number in cuts)
        for number, joint in enumerate(mechanism.joints)
    ]
    forces = [
        (force.name, type(force).__name__, list(force.acts_on(mechanism)), _input(mechanism, force))
        for force in mechanism.forces
    ]
    hidden = mechanism.rotors
    name, kind, input_column = FactColumn("name", "name"), FactColumn("type", "type"), FactColumn("input", "input")
    places = (FactColumn(axis, axis, "m", number=True) for axis in "xyz")
    ends = FactColumn("body_a", "body a"), FactColumn("body_b", "body b")
    counts = FactColumn("rows", "rows", number=True), FactColumn("coordinates", "coordinates", number=True)
    return [
        Listing(
            "bodies",
            (name._replace(label="body"), FactColumn("mass", "mass", "kg", True), *places),
            bodies,
            hidden=hidden,
        ),
        Listing(
            "joints",
            (name._replace(label="joint"), kind, *ends, *counts, FactColumn("cut", "cut")),
            joints,
            hidden=hidden,
        ),
        Listing(
            "forces",
            (name._replace(label="force"), kind, FactColumn("acts_on", "acts on"), input_column),
            forces,
            hidden=hidden,
        ),
        *_shapes(mechanism),
    ]


def _shapes(mechanism: "Mechanism") -> list[ReportPart]:
    """Return the collision shapes, [] without any."""
    from varint.model.body import WORLD

    owned = [(body.name, body.collision) for body in mechanism.bodies] + [(WORLD, mechanism.ground)]
    rows = [
        (name, type(shape).__name__, ", ".join(shape._facts()), shape.friction)
        for name, shapes in owned
        for shape in shapes
    ]
    columns = FactColumn("body", "shape of"), FactColumn("type", "type"), FactColumn("what", "sizes")
    return [Listing("shapes", (*columns, FactColumn("friction", "friction", number=True)), rows)] if rows else []


def _input(mechanism: "Mechanism", force: "Force") -> str:
    """Return the input of a motor, load or drive, "effort 2", or the constant rate of a drive, "rate 2 rad/s".

    Else "".
    """
    import numpy as np

    from varint.base.display import value_text
    from varint.model.forces.commanded import Commanded
    from varint.model.forces.driven import Driven
    from varint.model.motion import coordinate_units

    if isinstance(force, Driven) and force.constant_rate is not None:
        unit = coordinate_units(mechanism.joint(force.joint))[force.coordinate] or "1"
        return f"rate {value_text(force.constant_rate)} {unit}/s"
    if not isinstance(force, Commanded):
        return ""
    force_input = force.input
    value = force_input[()] if isinstance(force_input, np.ndarray) and force_input.ndim == 0 else force_input
    return f"{force.command_name} {value_text(value)}"


def _imported(mechanism: "Mechanism") -> list[ReportPart]:
    """Return the fate of the parts of an imported file, with lines for each part that differs from the file."""
    report = mechanism.import_report
    if not report:
        return []
    kinds = {kind.replace("_", " "): entries for kind, entries in report.entries().items()}
    rows = [
        {"how": how, "what": entry.what, "file": entry.file, "line": entry.line or None}
        for how, entries in reversed(kinds.items())
        for entry in entries
    ]
    counts = [f"{len(entries)} {how}" for how, entries in kinds.items()]
    files = {entry.file for entries in kinds.values() for entry in entries}
    facts = [Fact("", "imported", ", ".join([*counts, f"{len(report.shapes)} shapes"]))]
    for how in ("approximated", "not understood", "repaired", "inexact"):
        lines = [f"line {entry.line}: {entry.what}" if len(files) == 1 else str(entry) for entry in kinds[how]]
        shown = [*lines[:LISTED], f"... {len(lines) - LISTED} more"] if len(lines) > LISTED else lines
        facts.append(Fact("", how if lines else "", lines, text="\n".join(shown)))
    return [Facts(facts), Data({"imported": rows})]


def _of_topology(mechanism: "Mechanism") -> list[Fact]:
    from varint.base.display import count_text
    from varint.model.body import WORLD

    loops = []
    for articulation, joints in mechanism.compiled.topology.clusters:
        top = WORLD if articulation < 0 else mechanism.bodies[articulation].name
        loops.append({"from": top, "cut": [mechanism.joints[joint].name for joint in joints]})
    facts = [Fact("loops", "", loops)]
    for number, loop in enumerate(loops[:LISTED], 1):
        count = count_text(len(loop["cut"]), "loop")
        facts.append(
            Fact("", f"loops, group {number}", f"{count} from '{loop['from']}', cut at {', '.join(loop['cut'])}")
        )
    if len(loops) > LISTED:
        facts.append(Fact("", "loops", f"... {len(loops) - LISTED} more"))
    bodies, joints = len(mechanism.bodies), len(mechanism.joints)
    facts += [Fact("", "bodies, joints", bodies), Fact("", "bodies, joints", joints)]
    rotors = sorted(mechanism.rotors)
    text = f"{len(rotors)} of these bodies and joints, neither drawn nor listed; --json lists them"
    facts.append(Fact("rotors", "rotors of armatures" if rotors else "", rotors, text=text))
    facts.append(Fact("freedoms_less_rows", "6 n - rows", 6 * bodies - mechanism.rows))
    label = "" if mechanism.is_closed else "description"
    text = "open: the bodies above were moved to close the joints"
    return [*facts, Fact("closed_as_described", label, mechanism.is_closed, text=text)]


def _mobility(mechanism: "Mechanism", state: "State") -> list[Fact]:
    """Return the mobility at the start; null if that would take too long to compute."""
    from collections import Counter

    clusters = Counter(mechanism.compiled.topology.cluster_of.values())
    largest, label = max(clusters.values(), default=0), "degrees of freedom"
    if largest > LARGEST_LOOPS:
        keys = ("mobility", "generic_mobility", "singular", "redundancy", "redundant_rows", "unique_multipliers")
        why = Fact("", label, f"not counted: {largest} bodies in one cluster of loops")
        return [why, *(Fact(key, "", None) for key in keys)]
    diagnosis = mechanism.diagnose(state)
    generic, lines = diagnosis.generic_mobility, list(diagnosis.redundant_lines)
    nearby = label if diagnosis.singular else ""
    facts = [Fact("mobility", label, diagnosis.mobility)]
    facts.append(Fact("generic_mobility", nearby, generic, text=f"{generic} at neighbouring poses: singular"))
    facts += [Fact("singular", "", diagnosis.singular), Fact("redundancy", "", diagnosis.redundancy)]
    shown = [*lines[:LISTED], f"... {len(lines) - LISTED} more"] if len(lines) > LISTED else lines
    where = f"redundant rows, {diagnosis.redundancy}" if lines else ""
    facts.append(Fact("redundant_rows", where, lines, text="\n".join(shown)))
    alone = "joint reactions are not unique: those of the least norm are reported"
    shown_as = "" if diagnosis.unique_multipliers else "reactions"
    return [*facts, Fact("unique_multipliers", shown_as, diagnosis.unique_multipliers, text=alone)]


def _prescribed(mechanism: "Mechanism", state: "State") -> list[Fact]:
    """Return the rates of joints with a prescribed motion, which a run starts with."""
    from varint.base.display import numbers_text, value_text
    from varint.kinematics.frames import joint_coordinates, joint_rates
    from varint.model.forces.driven import Driven
    from varint.model.motion import coordinate_units

    arrays = state.position, state.quat_wxyz, state.velocity, state.angular_velocity
    x, quat, v, w = (array[None] for array in arrays)
    facts = []
    for name in dict.fromkeys(force.joint for force in mechanism.forces if isinstance(force, Driven)):
        joint = mechanism.joint(name)
        q = joint_coordinates(mechanism, joint, x, quat, state.turns.get(name))
        rates = joint_rates(mechanism, joint, q, x, quat, v, w)[0]
        units = ", ".join(f"{unit or '1'}/s" for unit in dict.fromkeys(coordinate_units(joint)))
        shown = numbers_text(rates) if rates.ndim else value_text(float(rates))
        facts.append(Fact("", "prescribed rates at the start", f"'{name}' {shown} {units}"))
    return facts


def _at_the_start(mechanism: "Mechanism", state: "State") -> list[Fact]:
    import numpy as np

    from varint.kinematics.turns import near_of
    from varint.meshes.mesh_start import state_with_meshes
    from varint.model.forces.path import path_inertias
    from varint.model.forces.soft_mesh import soft_meshes
    from varint.results.forces import forces_at
    from varint.results.mesh_energies import meshes_at
    from varint.results.path_energies import path_pieces
    from varint.results.quantities import kinetic_energy, potential_energy

    kinetic = float(kinetic_energy(mechanism, state.velocity[None], state.angular_velocity[None])[0])
    potential = potential_energy(mechanism, state.position[None])[0]
    nodes = state.position[None], state.quat_wxyz[None], state.velocity[None], state.angular_velocity[None]
    none = np.zeros((1, len(mechanism.forces)))
    potential += forces_at(mechanism, *nodes, none, turns=near_of(mechanism, state)).potential.sum()
    pieces = path_pieces(mechanism, nodes)
    if pieces is not None:
        kinetic += float(pieces.kinetic_energy()[0])
        potential += pieces.potential_energy(mechanism.gravity)[0]
    for mesh in meshes_at(mechanism, state_with_meshes(mechanism, mechanism.compiled, state)):
        kinetic += float(mesh.kinetic_energy()[0])
        potential += mesh.potential_energy(mechanism.gravity)[0]
    label = "energy at the start"
    bodies = (body for body in mechanism.bodies if body.name not in mechanism.rotors)
    mass = float(sum(body.mass for body in bodies) + sum(path.mass for _, path in path_inertias(mechanism)))
    mass += float(sum(soft.mesh.mass.sum() for soft in soft_meshes(mechanism)))
    return [
        Fact("mass", "mass", mass, "kg"),
        Fact("energy", label, float(kinetic + potential), "J"),
        Fact("kinetic_energy", label, kinetic, text=f"{kinetic:.6g} J of it kinetic"),
    ]
