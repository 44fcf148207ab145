"""A server of one page and its data, on this machine alone; other users of the machine can read the page too."""

import io
import json
import os
import shutil
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, BinaryIO, NamedTuple

from varint.base.errors import VarintError
from varint.base.printable import printable_data

HOST = "127.0.0.1"
LONGEST = 1 << 20  # bytes of a request's content
HTML = "text/html; charset=utf-8"
JSON = "application/json"
FILE = "application/octet-stream"
LOCAL = "http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:*"
HEADERS = {  # of every answer: notebooks of this machine alone may hold the page, and no other page reads what it has
    "Content-Security-Policy": f"frame-ancestors 'self' {LOCAL} vscode-webview:",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Server(ThreadingHTTPServer):
    """A server that ignores pages which were closed before their answer came."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Answer(NamedTuple):
    """Content, bytes or an open file, and its type; ``name`` of the file that a browser saves it as."""

    body: bytes | BinaryIO
    kind: str
    name: str = ""


def json_answer(data: dict[str, Any]) -> Answer:
    """Return ``data`` as an answer in JSON."""
    return Answer(json.dumps(printable_data(data), allow_nan=False).encode(), JSON)


def problem_text(problem: Exception) -> str:
    """Return the message of an error for the page; of one that is not varint's, with its type."""
    return str(problem) if isinstance(problem, VarintError) else f"{type(problem).__name__}: {problem}"


def page_server(
    get: Callable[[str], Answer | None], post: Callable[[str, dict], Answer | None] | None = None, port: int = 0
) -> Server:
    """Return a server at a free port unless one is given; its `serve_forever` answers.

    ``get``: answer to a path, None if there is none; ``post``: to a path and an object of JSON, which only the page
    itself can send. Requests under another host's name are refused.
    """

    class Handler(BaseHTTPRequestHandler):
        """Answers for the page and its data, and for nothing else."""

        def do_GET(self) -> None:
            if self._is_own():
                self._send(get(self.path))

        def _is_own(self) -> bool:
            at = self.server.server_port  # type: ignore[attr-defined]  # of an HTTPServer
            hosts = (f"{HOST}:{at}", f"localhost:{at}")
            origin = self.headers.get("Origin")
            # a page from elsewhere, whose name leads to this machine or which sends a request here
            is_own = self.headers.get("Host") in hosts and (
                origin is None or origin in [f"http://{each}" for each in hosts]
            )
            if not is_own:
                self.send_error(403)
            return is_own

        def _posted(self) -> None:
            if post is None or not self._is_own():
                return
            length = self.headers.get("Content-Length", "")
            if self.headers.get("Content-Type") != JSON:  # a form of another page cannot send this type
                self.send_error(415)
            elif not (length.isascii() and length.isdigit() and len(length) < 9 and int(length) <= LONGEST):
                self.send_error(413)
            else:
                try:
                    request = json.loads(self.rfile.read(int(length)))
                except (ValueError, RecursionError):
                    request = None
                if isinstance(request, dict):
                    self._send(post(self.path, request))
                else:
                    self.send_error(400)

        if post is not None:
            do_POST = _posted

        def _send(self, answer: Answer | None) -> None:
            if answer is None:
                self.send_error(404)
                return
            content = io.BytesIO(answer.body) if isinstance(answer.body, bytes) else answer.body
            self.send_response(200)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(content.seek(0, os.SEEK_END)))
            self.send_header("Cache-Control", "no-store")
            if answer.name:
                self.send_header("Content-Disposition", f'attachment; filename="{answer.name}"')
            self.end_headers()
            with content:
                content.seek(0)
                shutil.copyfileobj(content, self.wfile)

        def end_headers(self) -> None:
            for header, value in HEADERS.items():
                self.send_header(header, value)
            super().end_headers()

        def log_message(self, *_: object) -> None:
            """Do nothing."""

    return Server((HOST, port), Handler)
