"""Which method simulates: the options that choose it, and the `Method` that they make."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varint.base.errors import ArgumentError

if TYPE_CHECKING:
    from varint.runs.method import Method

DT, AUTO = 0.01, "auto"  # s, default step; a step that is chosen
OPTIONS = {  # option to the argument of a method that it gives
    "--order": "order",
    "--scheme": "scheme",
    "--tol": "tol",
    "--energy-error": "energy_error",
    "--adaptive": "adaptive",
    "--substep": "on_unresolved",
    "--integrator": "integrator",
    "--rtol": "rtol",
    "--stages": "stages",
    "--contact-solver": "contact_solver",
    "--stabilisation": "stabilisation",
    "--peer": "simulator",
}


def add_method(parser: ArgumentParser) -> None:
    """Add the options of a scheme, an integrator or a method, and its tolerance."""
    from varint.extras.peers.base import simulators
    from varint.extras.rivals.maximal import STABILISATIONS
    from varint.methods.reduced.contact_solvers import CONTACT_SOLVERS
    from varint.methods.variational.lobatto import ORDERS as ORDERS_OF_LOBATTO
    from varint.methods.variational.schemes import ORDERS, SCHEMES
    from varint.runs.method import methods_by_integrator

    orders, nodes = (", ".join(map(str, each)) for each in (ORDERS, ORDERS_OF_LOBATTO))
    order = f"order of the scheme: {orders}, default 2; with --lobatto: {nodes}, default 8"
    parser.add_argument("--order", type=int, metavar="N", help=order)
    method = parser.add_mutually_exclusive_group()
    method.add_argument("--scheme", choices=SCHEMES, help="name of the scheme, instead of its order")
    by_name = "use this integrator: in reduced coordinates, or of varint.Maximal (docs/rivals.md)"
    method.add_argument("--integrator", type=str.lower, choices=methods_by_integrator(), help=by_name)
    collocation = "use collocation, the most precise method for its time (docs/runs.md)"
    method.add_argument("--lobatto", dest="collocation", action="store_true", help=collocation)
    rival = "use your own method: a script that registers it (docs/own_methods.md)"
    method.add_argument("--method", metavar="FILE.py", type=Path, help=rival)
    peer = f"use another simulator: {', '.join(simulators())}; NAME:INTEGRATOR selects its integrator, as mujoco:rk4"
    method.add_argument("--peer", dest="simulator", metavar="NAME", help=peer)
    held = "stabilisation of the joints, for integrators of varint.Maximal; default: none"
    parser.add_argument("--stabilisation", choices=STABILISATIONS, help=held)
    parser.add_argument("--rtol", type=float, help="relative tolerance of integrators with error control, default 1e-8")
    tol = "tolerance of a step, m/s, default 1e-10; for schemes, and variational integrators in reduced coordinates"
    parser.add_argument("--tol", type=float, metavar="M_S", help=tol)
    parser.add_argument("--stages", type=int, help="stages of integrator gauss, 1 to 6, default 3")
    solver = "solver of hard contacts for integrator euler (docs/redmax.md), default cones"
    parser.add_argument("--contact-solver", choices=CONTACT_SOLVERS, help=solver)


def add_adaptive(parser: ArgumentParser) -> None:
    """Add ``--adaptive``."""
    follow = (
        "adapt the steps to the motion: the fastest body turns by about RAD in a step, default 0.1, or 0.05 at order 2;"
        " steps are at most about --dt"
    )
    parser.add_argument("--adaptive", type=float, nargs="?", const=True, metavar="RAD", help=follow)


def formulation_of(args: Namespace) -> str:
    """Return the formulation that the options choose; a script of a method is executed."""
    from varint.extras.peer_method import Peer
    from varint.methods.variational.lobatto import Lobatto
    from varint.methods.variational.method import Variational
    from varint.runs.method import methods_by_integrator

    if args.method is not None:
        return registered_by(args.method)
    if args.collocation:
        return Lobatto.formulation
    if args.simulator is not None:
        return Peer.formulation
    method = Variational if args.integrator is None else methods_by_integrator()[args.integrator]
    return method.formulation


def registered_by(path: Path) -> str:
    """Return the formulation of the method that a script registers. Raises ArgumentError, FileError."""
    from varint.files.formats.script import executed
    from varint.runs.method import REGISTERED, registered

    before = dict(REGISTERED)
    try:
        with executed(path):
            new = [name for name in registered() if before.get(name) is not REGISTERED[name]]
        if len(new) != 1:
            raise ArgumentError(f"'{path}' must register one method, by @varint.formulations.register, not {len(new)}")
    except BaseException:
        REGISTERED.clear()
        REGISTERED.update(before)
        raise
    return new[0]


def arguments_of_method(args: Namespace, formulation: str) -> dict[str, Any]:
    """Return the arguments of a method that options give, by name. Raises ArgumentError for one that it lacks."""
    from varint.methods.reduced.integrators import INTEGRATORS
    from varint.runs.method import method_class, names

    kind = method_class(formulation)
    options = {name: (option, getattr(args, name, None)) for option, name in OPTIONS.items()}
    options["on_unresolved"] = "--substep", "substep" if getattr(args, "substep", False) else None
    arguments = {name: value for name, (_, value) in options.items() if value is not None}
    for name in arguments:
        if name not in kind.arguments():
            owner = next(each.option for each in map(method_class, names()) if name in each.arguments())
            raise ArgumentError(f"{options[name][0]} belongs to {owner}, not to {kind.option}: leave one of them out")
    if args.rtol is not None and INTEGRATORS[args.integrator].fixed:
        raise ArgumentError(f"--rtol needs an integrator with error control, '{args.integrator}' has fixed steps")
    if args.tol is not None and args.integrator is not None and not INTEGRATORS[args.integrator].tol:
        solved = ", ".join(name for name, integrator in INTEGRATORS.items() if integrator.tol)
        raise ArgumentError(f"--tol belongs to the schemes and to --integrator {solved}, not to '{args.integrator}'")
    if arguments.get("energy_error") is not None and args.dt not in (AUTO, None):
        raise ArgumentError("--energy-error chooses the step: leave out --dt, or give --dt auto")
    if args.scheme is not None and args.order is not None:
        raise ArgumentError("--scheme has an order of its own: leave out --order")
    return arguments


def method_of(args: Namespace) -> "Method":
    """Return the method that the options ask for, in steps of ``args.dt``. Raises ArgumentError, FileError."""
    from varint.runs.method import method_class

    formulation = formulation_of(args)
    dt = args.dt
    if dt is None:
        dt = DT if args.energy_error is None else AUTO
    return method_class(formulation)(**{"dt": dt, **arguments_of_method(args, formulation)})
