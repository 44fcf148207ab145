"""Other simulators in a comparison: which of them run the mechanism, and why the others do not."""

from collections.abc import Sequence
from typing import NamedTuple

from varint.base.checks import is_alone, of_type, sequence_of
from varint.base.errors import ArgumentError, PeerError
from varint.extras.peer_method import Peer
from varint.mechanism.mechanism import Mechanism


class PeerLine(NamedTuple):
    """A simulator of a comparison.

    title : simulator and integrator, which is the name of its `Series`
    version : of its package, empty where it is not installed
    integrator, loops : in a few words
    refusal : why it did not run, empty where it did
    """

    title: str
    version: str
    integrator: str
    loops: str
    refusal: str


def known_peers(
    mechanism: Mechanism, peers: str | Peer | Sequence[str | Peer], dt: float
) -> tuple[tuple[PeerLine, ...], tuple[Peer, ...]]:
    """Return a line for each simulator, and the simulators that can run the mechanism, in steps of ``dt``, s.

    Raises ArgumentError for unknown names, and for two of the same name and integrator.
    """
    alone = is_alone(peers) or isinstance(peers, Peer)
    listed = (peers,) if alone else sequence_of(peers, "peers", "names of simulators", ArgumentError)
    lines: list[PeerLine] = []
    running: list[Peer] = []
    for one in listed:
        peer = Peer(one) if isinstance(one, str) else of_type(one, Peer, "peers", ArgumentError)
        method = Peer(peer.simulator, peer.integrator, dt=dt)
        kind, refusal = method.kind, ""
        if any(line.title == method.title for line in lines):
            raise ArgumentError(f"peers: '{method.title}' is named twice")
        try:
            method.model(mechanism)
            running.append(method)
        except PeerError as problem:
            refusal = str(problem)
        words = kind.integrators[str(method.integrator)]
        lines.append(PeerLine(method.title, kind.version(), words, kind.loops, refusal))
    return tuple(lines), tuple(running)
