"""``varint completion``: a script that completes commands, options and names in a shell, made by shtab."""

from argparse import Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from varint.cli.parser import COMMANDS
from varint.cli.shared import Commands

if TYPE_CHECKING:
    from rich.console import Console

    from varint.cli.facts import Report

SHELLS = ("bash", "zsh", "tcsh")
ABOUT = 'Print a script that completes commands, options and names of mechanisms: eval "$(varint completion bash)".'


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser("completion", help=COMMANDS["completion"], description=ABOUT)
    parser.add_argument("shell", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")
    parser.set_defaults(execute=execute)


@dataclass(frozen=True)
class Script:
    """The script as it is, of lines of any length."""

    text: str

    def data(self) -> dict[str, Any]:
        return {"script": self.text}

    def show(self, console: "Console") -> None:
        console.out(self.text, end="", highlight=False)


def execute(args: Namespace) -> "Report":
    """Write the script."""
    import shtab

    from varint import mechanisms
    from varint.cli import _parser
    from varint.cli.facts import Report

    parser, commands = _parser()
    names = " ".join(mechanisms.ALL)
    for subparser in commands.values():
        for action in subparser._actions:
            if action.metavar in ("NAME_OR_FILE", "RUN_OR_NAME"):
                action.complete = {  # type: ignore[attr-defined]
                    "bash": "_varint_mechanism",
                    "zsh": f"{{_alternative 'names:mechanism:({names})' 'files:file:_files'}}",
                    "tcsh": "f",
                }
            elif action.type is not None and "Path" in str(action.type):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    helper = f'_varint_mechanism() {{ compgen -W "{names}" -- "$1"; compgen -f -- "$1"; }}'
    text = shtab.complete(parser, args.shell, preamble={"bash": helper})  # type: ignore[arg-type]  # one a shell
    return Report([Script(text)])
