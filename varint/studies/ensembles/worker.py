"""A worker process: it reads members from its standard input, a line each, and answers each with a line.

The first line says how many bytes of the `MemberTask` follow it. They are the one thing that is unpickled, and come
from the process that started this one. Where that ends, however it does, so does this.
"""

import gc
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

import cloudpickle

from varint.studies.ensembles.figures import error_row
from varint.studies.ensembles.source import Builder, opened
from varint.studies.ensembles.work import MemberTask, run_member


def main() -> None:
    """Serve members until the standard input ends. Output of the user's functions goes to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    size = json.loads(inbox.readline())["task"]
    try:
        task: MemberTask = cloudpickle.loads(inbox.read(size))
        with opened(task.source) as function:
            build = Builder(function)
            gc.freeze()  # present objects stay: collections would take 0.1 s each
            _answer(outbox, {"ready": True})
            members: queue.SimpleQueue[dict] = queue.SimpleQueue()
            threading.Thread(target=_read, args=(inbox, members), daemon=True).start()
            while True:
                member = members.get()
                row = run_member(task, build, member["number"], member["parameters"])
                _answer(outbox, row)
    except Exception as problem:  # any error of the task is sent to the process that gave it
        _answer(outbox, {"failed": error_row(problem)["message"]})
        sys.exit(1)


def _read(inbox: BinaryIO, members: queue.SimpleQueue) -> None:
    """Put the members that arrive into ``members``; end the process with the input. Files are whole at any instant."""
    for line in inbox:
        members.put(json.loads(line))
    os._exit(0)


def _answer(outbox: BinaryIO, row: Mapping[str, Any]) -> None:
    sys.stdout.flush()  # printed output of functions: the next member may end the process
    outbox.write(json.dumps(row).encode() + b"\n")
    outbox.flush()
