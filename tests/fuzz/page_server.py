"""Requests to the server of a page that were made wrong: methods, paths, headers, bytes.

Whatever comes, the answer is the page, frames, or an error of HTTP; nothing else is handed out or opened, nothing is
printed, and the server answers the next request.
"""

import contextlib
import io
import json
import re
import socket
import threading
from functools import cache
from typing import NamedTuple

from fuzz.json_files import OF_BYTES, pick
from fuzz.kinds import Kind, register
from fuzz.xml_files import OPENED, OWN, WATCHING, watch_files

import varint as vi
from varint.cli.live import Live, serve

PATHS = (
    "/", "//", "/.", "/..", "/../", "/index.html", "/frames", "/frames?from=0", "/frames?from=3", "/frames?from=-1",
    "/frames?from=1e3", "/frames?from=99999999999", "/frames?from=999999999999", "/frames?from=", "/frames?from=0x1",
    "/frames?from=%30", "/frames?from=0&from=1", "/frames?to=1", "/?from=0", "/etc/passwd", "/../../../etc/passwd",
    "/..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "file:///etc/passwd", "/varint/cli/live.py",
    "http://127.0.0.1/", "*", "", "/\x00", "/frames?from=\u0663", "/" + "a" * 70_000, "/frames?from=" + "9" * 5000,
    "/\r\nX: y", "/<script>", "/frames/../", "\\..\\..\\etc\\passwd",
)  # fmt: skip
METHODS = (
    "GET",
    "get",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "PATCH",
    "",
    "G\x00T",
    "X" * 9000,
)
VERSIONS = ("HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/9" + "9" * 5000, "HTTP/1.1.1", "HTTP/x", "", "GET")
HEADERS = (
    "Host: {here}", "Host: localhost:{port}", "Host: elsewhere.example", "Host: {here}.elsewhere.example", "Host:",
    "Host", "host : {here}",
    "Content-Length: 5", "Content-Length: -1", "Content-Length: " + "9" * 400, "Range: bytes=0-3",
    "Transfer-Encoding: chunked", "Connection: keep-alive", "Expect: 100-continue", "Upgrade: websocket",
    "X: " + "y" * 70_000, "X-\u00e9: \u00e9", ": empty", " folded", "Cookie: a=b", "Origin: http://elsewhere.example",
    "X: a\x00b",
)  # fmt: skip
TIME = 5.0  # s for an answer
KINDS = ("text/html; charset=utf-8", "application/json")


class Request(NamedTuple):
    """A request with {here} and {port} of the server in it, in bytes; ``open``: the sender does not end it."""

    names: tuple[str, ...]
    content: bytes
    open: bool


class _Ended:
    """A run that has ended."""

    def __init__(self) -> None:
        self.trajectory = vi.simulate(vi.mechanisms.double_pendulum(), 0.3, 0.01)

    def latest(self) -> tuple[vi.Trajectory, bool]:
        return self.trajectory, True


@cache
def _live() -> Live:
    return Live(_Ended(), 1000)


@cache
def _server():
    watch_files()
    server = serve(_live())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def _asked(content: bytes, keep_open: bool = False) -> bytes:
    """All that the server answers. Raises TimeoutError where it neither answers nor closes the connection."""
    with socket.create_connection(_server().server_address[:2], timeout=TIME) as connection:
        answer = b""
        try:
            connection.sendall(content)
            if not keep_open:
                connection.shutdown(socket.SHUT_WR)
            connection.settimeout(0.02 if keep_open else TIME)
            while more := connection.recv(1 << 16):
                answer += more
        except OSError as problem:  # it may close before it has read all
            if isinstance(problem, TimeoutError) and not keep_open:
                raise
        return answer


@register
class PageServer(Kind):
    """Requests to the server of the page of a run."""

    name = "server"
    count = 20_000
    few = 200
    suffix = ".bin"

    def prepare(self):
        _server()

    def case(self, rng, number, seed):
        usual = rng.random() < 0.7
        method, version = ("GET", "HTTP/1.1") if usual else (pick(rng, METHODS), pick(rng, VERSIONS))
        path = pick(rng, PATHS)
        headers = [HEADERS[0]] if rng.random() < 0.8 else []
        for _ in range(int(rng.integers(0, 4))):
            headers.insert(int(rng.integers(len(headers) + 1)), pick(rng, HEADERS))
        if rng.random() < 0.02:
            headers += ["X: y"] * 300
        end = pick(rng, ["\r\n"] * 8 + ["\n", "\r"])
        text = end.join([" ".join(part for part in (method, path, version) if part), *headers, "", ""])
        content, names = (
            text.encode(errors="replace"),
            [method[:9], path[:40], version[:9], *(h[:30] for h in headers[:5])],
        )
        if rng.random() < 0.2:
            content += pick(rng, [b"12345", rng.bytes(200), content, b"GET / HTTP/1.1\r\n\r\n"])
        if rng.random() < 0.2:
            names.append(pick(rng, sorted(OF_BYTES)))
            content = OF_BYTES[names[-1]](rng, content)
        return Request(tuple(names), content, bool(rng.random() < 0.02))

    def check(self, case, folder):
        here, port = "{}:{}".format(*_server().server_address[:2]), str(_server().server_port)
        content = case.content.replace(b"{here}", here.encode()).replace(b"{port}", port.encode())
        OPENED.clear()
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            WATCHING.append(True)
            try:
                answer = _asked(content, case.open)
            finally:
                WATCHING.clear()
            good = _asked(f"GET /frames?from=0 HTTP/1.1\r\nHost: {here}\r\n\r\n".encode())
        opened = [name for name in OPENED if not name.startswith("socket.") and not name.startswith(OWN)]
        if opened:
            return f"opened {opened[0]}"
        if printed.getvalue():
            return f"printed {printed.getvalue()[-200:]}"
        if not good.startswith(b"HTTP/1.0 200 "):
            return "the next request is not answered"
        return _judged(answer, content, here, port)

    def describe(self, case):
        return ascii(", ".join(case.names))

    def save(self, case, path):
        path.write_bytes(case.content)


def _judged(answer: bytes, content: bytes, here: str, port: str) -> str | None:
    """What is wrong with an answer."""
    if not answer:
        return None  # a connection that was closed
    if answer.startswith(b"<!DOCTYPE HTML>") and b"Error response" in answer:
        return None  # HTTP/0.9 has no head
    head, _, body = answer.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.[01] (\d\d\d) ", head)
    if b"Traceback" in answer or b"root:" in body:
        return "the answer holds a traceback or another file"
    if status is None:
        return _served(b"", answer, content, here, port)
    if int(status[1]) == 200:
        return _served(head, body, content, here, port)
    return None if int(status[1]) in (400, 403, 404, 408, 414, 431, 501, 505) else f"status {status[1].decode()}"


def _served(head: bytes, body: bytes, content: bytes, here: str, port: str) -> str | None:
    """What is wrong with a page or frames that were handed out; ``head`` is empty of HTTP/0.9."""
    hosts = (here.encode(), f"localhost:{port}".encode())
    if not any(host in content for host in hosts):
        return "handed out under another host's name"
    if body == _live().page.encode():
        return None
    try:
        answer = json.loads(body)
    except ValueError:
        return f"handed out {body[:80]!r}"
    if answer["message"]:
        return f"frames say {answer['message']}"
    return None if any(kind.encode() in head for kind in KINDS) or not head else f"another kind: {head[:200]!r}"
