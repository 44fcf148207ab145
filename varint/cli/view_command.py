"""``varint view``: a run in space, in the browser, while it is computed or as a page by itself."""

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from varint.cli.method import method_of
from varint.cli.parser import COMMANDS
from varint.cli.shared import RUN_FILES, Commands
from varint.cli.shown import add_shown, check_kept, check_looks, fill_stepping, is_run, shown_run

if TYPE_CHECKING:
    from varint.cli.facts import Report
    from varint.cli.live import LiveSource
    from varint.extras.live.page_server import Server
    from varint.runs.trajectory import Trajectory
    from varint.views.page import Page

FRAMES = 1000
ABOUT = (
    "Show a run in space in the browser, while it is computed: a server on this machine alone, until Ctrl-C. With"
    " --html a page by itself is written, which opens without a network."
)


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser("view", help=COMMANDS["view"], description=ABOUT)
    add_shown(parser)
    others = "other recorded runs, shown translucent over the first, which is a recorded run then"
    parser.add_argument("others", nargs="*", metavar="RUN.h5", help=others)
    parser.add_argument("--html", type=Path, metavar="FILE.html", help="write a page by itself, and serve nothing")
    frames = f"frames after the first, at most, taken evenly from the recorded nodes; default {FRAMES}"
    parser.add_argument("--frames", type=int, metavar="N", help=frames)
    live = "step the mechanism from the page, in real time: pause, single steps, sliders of joints and inputs"
    parser.add_argument("--live", action="store_true", help=live)
    parser.add_argument("--no-open", action="store_true", help="leave the browser alone; the address is printed")
    parser.add_argument("--force", action="store_true", help="replace the page if it exists")
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> "Report":
    """Write the page, or serve it."""
    from varint.base.errors import ArgumentError
    from varint.views.page import check_page, checked_frames

    frames = args.frames
    args.frames = checked_frames(FRAMES if frames is None else frames, "--frames")
    looks = check_looks(args)
    if args.live:
        _check_live(args, frames)
        return _stepped(args, looks)
    if args.others:
        _check_others(args)
    if args.html is None:
        if args.force:
            raise ArgumentError("--force replaces a page: it needs --html")
        return _compared(args, looks) if args.others else _served(args, looks)
    check_page(args.html)
    check_kept(args.html, "page", args.force)
    return _written(args, looks)


def _written(args: Namespace, looks: dict) -> "Report":
    from varint.cli.facts import Fact, Facts, Report
    from varint.files.runs.space import size_text

    if args.others:
        trajectory, page, failure = *_overlaid(args, looks), None
        page.save(args.html)
    else:
        trajectory, failure = shown_run(args)
        page = trajectory.view(args.html, frames=args.frames, **looks)
    size = args.html.stat().st_size
    facts = [
        Fact("output", "page", args.html, text=f"{args.html}, {size_text(size)}"),
        Fact("bytes", "", size),
        Fact("frames", "frames", page.frames, text=f"{page.frames} of {page.nodes} recorded nodes"),
        Fact("recorded_nodes", "", page.nodes),
    ]
    return Report([Facts(facts, title=trajectory.mechanism.name)], failure=failure)


def _check_others(args: Namespace) -> None:
    """Raise ArgumentError unless all that is named are recorded runs."""
    from varint.base.errors import ArgumentError

    is_run(args)
    for name in (args.mechanism, *args.others):
        if Path(name).suffix.lower() not in RUN_FILES:
            raise ArgumentError(f"recorded runs are shown over one another, .h5: '{name}' is none")


def _overlaid(args: Namespace, looks: dict) -> "tuple[Trajectory, Page]":
    """Return the first run, and the page of all."""
    import varint

    files = [args.mechanism, *args.others]
    runs = [varint.load(name) for name in files]
    return runs[0], varint.show(*runs, names=[Path(name).name for name in files], frames=args.frames, **looks)


def _compared(args: Namespace, looks: dict) -> "Report":
    from varint.cli.facts import Fact, Facts, Report
    from varint.extras.live.page_server import HTML, Answer, page_server

    trajectory, page = _overlaid(args, looks)
    answer = Answer(page.html.encode(), HTML)
    _serve(page_server(lambda path: answer if path == "/" else None), args.no_open)
    return Report([Facts([Fact("recorded_nodes", "recorded nodes", len(trajectory))])])


def _serve(server: "Server", no_open: bool) -> None:
    """Print the address, open the browser and answer until Ctrl-C."""
    from varint.extras.live.page_server import HOST

    address = f"http://{HOST}:{server.server_address[1]}/"
    print(f"{address}  Ctrl-C ends", file=sys.stderr, flush=True)
    if not no_open:
        import webbrowser

        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


def _served(args: Namespace, looks: dict) -> "Report":
    from varint.cli.facts import Fact, Facts, Report
    from varint.cli.live import Growing, Live, serve

    source = _source(args)
    try:
        live = Live(source, args.frames, **looks)
        _serve(serve(live), args.no_open)
        trajectory, _ = source.latest()
    finally:
        if isinstance(source, Growing):
            source.stop()
    failure = source.failure if isinstance(source, Growing) and isinstance(source.failure, Exception) else None
    return Report([Facts([Fact("recorded_nodes", "recorded nodes", len(trajectory))])], failure=failure)


def _check_live(args: Namespace, frames: int | None) -> None:
    """Raise ArgumentError for options that have no effect beside ``--live``."""
    from varint.base.errors import ArgumentError

    if is_run(args):
        raise ArgumentError(f"--live steps a mechanism: '{args.mechanism}' is recorded already")
    if args.others:
        raise ArgumentError("--live steps one mechanism: leave out the other runs")
    options = {"html": args.html, "force": args.force or None, "frames": frames, "duration": args.duration}
    for name, value in options.items():
        if value is not None:
            raise ArgumentError(f"--live has no end and writes no page: leave out --{name}")


def _stepped(args: Namespace, looks: dict) -> "Report":
    from varint.cli.facts import Fact, Facts, Report
    from varint.cli.shared import named_mechanism
    from varint.extras.live.live_view import DT, live

    every, args.dt = args.every, DT if args.dt is None else args.dt
    fill_stepping(args)
    view = live(named_mechanism(args), method_of(args), every=every, browser=not args.no_open, **looks)
    print(f"{view.address}  Ctrl-C ends", file=sys.stderr, flush=True)
    view.wait()
    return Report([Facts([Fact("recorded_nodes", "recorded nodes", len(view.trajectory()))])])


def _source(args: Namespace) -> "LiveSource":
    """Return the run in the file, or one that begins now; errors before its first node are raised."""
    from varint.cli.live import Growing, OfFile
    from varint.cli.shared import named_mechanism
    from varint.cli.stepping import simulated

    if is_run(args):
        return OfFile(Path(args.mechanism))
    fill_stepping(args)
    mechanism = named_mechanism(args)
    source = Growing(lambda progress: simulated(args, mechanism, progress, {}))
    source.begin()
    return source
