"""The command line as argparse reads it: options in full, mistakes with the nearest word, no help in reST."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from varint.base.checks import suggestion

COMMANDS = {  # each a module, and its line in the help
    "run": "simulate a mechanism",
    "info": "describe a mechanism or a run, or list the catalogue",
    "plot": "draw a run: energy and drift, or what is named",
    "view": "show a run in space, in the browser",
    "film": "film a run: .mp4, .webm or .gif",
    "compare": "compare with reduced coordinates",
    "ensemble": "simulate a mechanism with many parameters",
    "analyse": "study a run, or a mechanism by several runs",
    "convert": "write a mechanism in another format",
    "examples": "list the examples, or copy them",
    "compile": "compile now what runs need",
    "doctor": "report versions, what is compiled, what is missing",
    "completion": "print a script of completions for a shell",
}
ANY = "any"
INTEGRATORS = "--integrators"  # of compare, which has no --method
RESUME_ANY = f"--resume={ANY}"


class UsageError(Exception):
    """A command line that cannot be read; the text ends with the command whose ``--help`` says how it is written."""


def real_number(text: str) -> float:
    """Return the number that ``text`` writes. Raises argparse.ArgumentTypeError."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number: write 0.5 or 2e-3, without a unit") from None


def whole_number(text: str) -> int:
    """Return the whole number that ``text`` writes. Raises argparse.ArgumentTypeError."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None


class Parser(argparse.ArgumentParser):
    """Takes options by their whole names alone: a part of a name would change its meaning with a new option."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)
        self.register("type", float, real_number)
        self.register("type", int, whole_number)
        self.mistakes: list[str] = []  # values that cannot be read

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        try:
            return super()._get_values(action, arg_strings)
        except argparse.ArgumentError as mistake:
            self.mistakes.append(str(mistake))
            return None

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{'; '.join([*self.mistakes, message])} (options: {self.prog} --help)")


def first_word(argv: Sequence[str]) -> str | None:
    """Return the first word that is not an option: the name of a command."""
    return next((word for word in argv if not word.startswith("-")), None)


def joined(argv: Sequence[str]) -> list[str]:
    """Return ``argv`` with ``--resume any`` as one word, so that ``--resume`` alone takes no word after it."""
    words: list[str] = []
    for word in argv:
        if word == ANY and words and words[-1] == "--resume":
            words[-1] = RESUME_ANY
        else:
            words.append(word)
    return words


def parse(parser: Parser, commands: dict[str, Parser], argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments ``argv`` of one of the ``commands``. Raises UsageError."""
    first = first_word(argv)
    if first is not None and first not in commands:
        parser.error(f"no command '{first}'{suggestion(first, commands)}: there are {', '.join(commands)}")
    args, unknown = parser.parse_known_args(joined(argv))
    subparser = commands[args.command] if first else parser
    subparser.mistakes += [_unknown(word.partition("=")[0], subparser) for word in _named(unknown)]
    if subparser.mistakes:
        subparser.error(subparser.mistakes.pop())
    return args


def _named(unknown: list[str]) -> list[str]:
    """Return the unknown options, without the words after them, which may be their values; else the first word."""
    return [word for word in unknown if word.startswith("--")] or unknown[:1]


def _unknown(word: str, parser: Parser) -> str:
    """Return the error for an unknown word, with the nearest option of the command."""
    options = parser._option_string_actions
    hint = suggestion(word, options)
    if word == "--method" and INTEGRATORS in options:
        hint = f": {INTEGRATORS} takes names of integrators and files of methods"
    if word in ("-o", "--output") and "--html" in options:
        hint = ": --html writes a page"
    return f"unknown argument '{word}'{hint}"
