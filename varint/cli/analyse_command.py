"""``varint analyse``: studies of a recorded run, and of a mechanism by several runs."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from varint.cli.parser import COMMANDS
from varint.cli.shared import RUN_FILES, Commands, add_import_options, find_mechanism, print_repairs

if TYPE_CHECKING:
    from varint.cli.facts import Report
    from varint.studies.study import Study

ABOUT = "Study a recorded run, or a mechanism by runs of its own: tables, and where asked for a picture."
DURATION, DT, STEPS = 10.0, 0.01, [0.02, 0.01, 0.005, 0.0025]  # s
WAYS = {"rising": 1, "falling": -1, "either": 0}


class Verb(NamedTuple):
    """A study. ``of_run``: whether it is of a recorded run, else of a mechanism; ``options``: those that it takes."""

    summary: str
    of_run: bool
    options: tuple[str, ...]


VERBS = {
    "energy-trend": Verb("slope of the energy, with its standard error", True, ("quantity",)),
    "poincare": Verb("states at which a coordinate takes a value", True, ("of", "value", "direction", "show")),
    "spectrum": Verb("power over frequency, and its lines", True, ("what", "of", "segments")),
    "phase": Verb("a coordinate against its rate", True, ("of", "wrapped")),
    "lyapunov": Verb(
        "largest Lyapunov exponent",
        False,
        ("param", "repair", "packages", "duration", "dt", "order", "scheme", "interval", "separation"),
    ),
    "exponents": Verb(
        "all Lyapunov exponents",
        False,
        ("param", "repair", "packages", "duration", "dt", "order", "scheme", "interval", "count"),
    ),
    "order": Verb(
        "order of accuracy of schemes", False, ("param", "repair", "packages", "duration", "dt", "order", "reference")
    ),
    "reversal": Verb(
        "a motion forward and back", False, ("param", "repair", "packages", "duration", "dt", "order", "scheme")
    ),
}
OPTIONS = tuple(dict.fromkeys(option for verb in VERBS.values() for option in verb.options))


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser("analyse", help=COMMANDS["analyse"], description=ABOUT)
    studies = "; ".join(f"{name}: {verb.summary}" for name, verb in VERBS.items())
    parser.add_argument("study", metavar="STUDY", help=studies)
    of_runs, of_names = ([name for name, verb in VERBS.items() if verb.of_run == of] for of in (True, False))
    parser.add_argument(
        "source", metavar="RUN_OR_NAME",
        help=f"of {', '.join(of_runs)}: a run, .h5; of {', '.join(of_names)}: name in the catalogue, or file of a"
        " mechanism",
    )  # fmt: skip
    picture = "picture, .png, .pdf or .svg"
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help=picture)
    parser.add_argument("--force", action="store_true", help="replace the picture if it exists")
    _add_options_of_runs(parser)
    _add_options_of_mechanisms(parser)
    parser.set_defaults(execute=execute)


def _add_options_of_runs(parser: ArgumentParser) -> None:
    of = (
        "of poincare and phase a joint, or JOINT:NUMBER of its coordinate; of spectrum a body, joint or force, as often"
        " as needed"
    )
    parser.add_argument("--of", action="append", metavar="NAME", help=of)
    quantity = "of energy-trend: energy, energy_balance, drift ..., or NAME:PART of a vector; default energy"
    parser.add_argument("--quantity", metavar="NAME", help=quantity)
    parser.add_argument("--value", type=float, metavar="X", help="of poincare: m or rad, default 0")
    parser.add_argument("--direction", choices=WAYS, help="of poincare, default rising")
    parser.add_argument("--show", metavar="JOINT", help="of poincare: what is shown, default the first other joint")
    columns_text = "of spectrum: coordinates, rates, velocity, energy ..., default coordinates"
    parser.add_argument("--what", metavar="GROUP", help=columns_text)
    parser.add_argument("--segments", type=int, metavar="N", help="of spectrum: averaged over so many, default 1")
    parser.add_argument("--wrapped", action="store_true", default=None, help="of phase: angles without whole turns")


def _add_options_of_mechanisms(parser: ArgumentParser) -> None:
    from varint.cli.compare_command import numbers, whole_numbers
    from varint.methods.variational.schemes import ORDERS, SCHEMES
    from varint.studies.order_study import REFERENCES

    parser.add_argument(
        "-p", "--param", action="append", metavar="KEY=VALUE",
        help="parameter of a mechanism of the catalogue or a file, as often as needed; Python literals or text",
    )  # fmt: skip
    add_import_options(parser)
    parser.add_argument("--duration", type=float, metavar="S", help=f"s, default {DURATION:g}")
    steps = f"s, default {DT:g}; of order from the largest to the smallest, default {','.join(map(str, STEPS))}"
    parser.add_argument("--dt", type=numbers, metavar="S,...", help=steps)
    orders = f"{', '.join(map(str, ORDERS))}; of order also several, N,N; default 2"
    parser.add_argument("--order", type=whole_numbers, metavar="N", help=orders)
    parser.add_argument("--scheme", choices=SCHEMES, help="in place of the order, not of order")
    interval = (
        "of lyapunov and exponents: s, after which neighbours are set back, or changes made orthogonal again, default"
        " 1/400 of the duration"
    )
    parser.add_argument("--interval", type=float, metavar="S", help=interval)
    parser.add_argument("--separation", type=float, metavar="X", help="of lyapunov: of neighbours, default 1e-6")
    parser.add_argument("--count", type=int, metavar="N", help="of exponents: so many from the largest on, default all")
    parser.add_argument("--reference", choices=REFERENCES, help="of order: what errors are from, default reduced")


def execute(args: Namespace) -> "Report":
    """Run the study and draw; return the report with the numbers."""
    from varint.base.errors import FileError
    from varint.cli.facts import Fact, Facts, Files, Report
    from varint.cli.shared import check_picture
    from varint.cli.studied import parts
    from varint.drawing.picture import SUFFIXES

    options = _checked(args)
    if args.output is not None:
        source = Path(args.source) if VERBS[args.study].of_run else None
        picture = check_picture(args.output, source, SUFFIXES)
        if picture.exists() and not args.force:
            raise FileError(f"'{picture}' exists: use --force to replace it, or give the picture another name")
    result = _studied(args.study, args.source, options)
    if args.output is not None:
        result.plot(args.output)
    files = [Files("output", [args.output] if args.output else [])]
    return Report([Facts([Fact("study", "", args.study)]), *parts(result), *files])


def _checked(args: Namespace) -> dict[str, Any]:
    """Return the given options. Raises ArgumentError for an unknown study, useless options, and the wrong source."""
    from varint.base.checks import choice
    from varint.base.errors import ArgumentError

    verb = VERBS[choice(args.study, VERBS, "the study", ArgumentError)]
    options = {name: value for name in OPTIONS if (value := getattr(args, name)) is not None}
    for name in options:
        if name not in verb.options:
            owners = ", ".join(verb_name for verb_name, other in VERBS.items() if name in other.options)
            raise ArgumentError(f"--{name} has no effect on {args.study}: it belongs to {owners}")
    if args.force and args.output is None:
        raise ArgumentError("--force replaces a picture: it needs -o")
    if verb.of_run != (Path(args.source).suffix in RUN_FILES):
        wanted = "a run, .h5 or .hdf5" if verb.of_run else "a mechanism, by its name or file"
        raise ArgumentError(f"{args.study} is of {wanted}, got '{args.source}'")
    return options


def _studied(study: str, source: str, options: dict[str, Any]) -> "Study":
    if VERBS[study].of_run:
        return _of_run(study, source, options)
    return _of_mechanism(study, source, options)


def _of_run(study: str, source: str, arguments: dict[str, Any]) -> "Study":
    import varint

    options = dict(arguments)
    if study == "energy-trend":
        quantity = _numbered(options.pop("quantity", "energy"))
        return varint.energy_trend(varint.load(source), quantity)
    if study == "spectrum":
        return varint.power_spectrum(varint.load(source), options.pop("what", "coordinates"), **options)
    of = _one(options.pop("of", []), study)
    if study == "phase":
        return varint.phase_portrait(varint.load(source), of, **options)
    if "direction" in options:
        options["direction"] = WAYS[options["direction"]]
    if "show" in options:
        options["show"] = _numbered(options["show"])
    return varint.poincare_section(varint.load(source), of, **options)


def _of_mechanism(study: str, source: str, arguments: dict[str, Any]) -> "Study":
    import varint

    options = dict(arguments)
    of_file = options.pop("repair", False), options.pop("packages", None)
    mechanism = find_mechanism(source, options.pop("param", []), *of_file)
    print_repairs(mechanism)
    duration = options.pop("duration", DURATION)
    if study == "order":
        return varint.order_study(mechanism, duration, options.pop("dt", STEPS), **options)
    for name in ("dt", "order"):
        if name in options:
            options[name] = _alone(options[name], name)
    dt = options.pop("dt", DT)
    if study == "lyapunov":
        return varint.lyapunov_exponent(mechanism, duration, dt, **options)
    if study == "exponents":
        return varint.lyapunov_spectrum(mechanism, duration, dt, **options)
    return varint.time_reversal(mechanism, duration, dt, **options)


def _one(names: list[str], study: str) -> "str | tuple[str, int]":
    from varint.base.errors import ArgumentError

    if len(names) != 1:
        raise ArgumentError(f"{study} is of one coordinate: --of JOINT, or --of JOINT:NUMBER, once")
    return _numbered(names[0])


def _alone(values: list, name: str) -> Any:
    from varint.base.errors import ArgumentError

    if len(values) != 1:
        raise ArgumentError(f"--{name} is one number here, got {len(values)}: several are for the study of the order")
    return values[0]


def _numbered(text: str) -> "str | tuple[str, int]":
    """Return a name, or a name and a number behind a colon."""
    name, colon, number = text.rpartition(":")
    return (name, int(number)) if colon and number.isdecimal() else text
