"""`live`: a mechanism in the browser that is stepped as it is looked at."""

from __future__ import annotations

import html
import threading
import webbrowser
from dataclasses import replace
from typing import Any

from varint.base.checks import flag, whole_number
from varint.base.display import Shown
from varint.base.errors import ArgumentError
from varint.extras.live.live_session import LiveSession
from varint.extras.live.page_server import FILE, HOST, HTML, Answer, json_answer, page_server, problem_text
from varint.extras.live.pull import PulledStepper
from varint.extras.stepper import Stepper
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.states import ReducedState
from varint.methods.variational.method import Variational
from varint.model.state import State
from varint.runs.method import Method
from varint.runs.problem import MOST_STEPS
from varint.runs.trajectory import Trajectory
from varint.views.page import HEIGHT

DT = 0.002  # s
PATIENCE = 0.02  # s between two looks whether to close
FRAME = 1 / 60  # s, about, between recorded nodes


def live(
    mechanism: Mechanism,
    dt: float | Method = DT,
    *,
    state: State | ReducedState | None = None,
    order: int | None = None,
    scheme: str | None = None,
    every: int | None = None,
    trace: object = None,
    plane: str | None = None,
    browser: bool = True,
) -> LiveView:
    """Step a mechanism in the browser in real time: pause, speed, sliders, bodies that are dragged.

    A server on this machine alone steps the mechanism with a `Stepper` as the page asks for it. A script calls ``wait``
    of the result, or it ends at once; a notebook shows the page inline.

    Parameters
    ----------
    mechanism, dt, state, order, scheme
        See `Stepper`.
    every : int, optional
        A frame of the page, and a node of the run, each ``every``-th step; by default about 60 a second.
    trace, plane
        See `Trajectory.view`.
    browser : bool
        Whether the browser is opened.

    Raises
    ------
    ArgumentError, StateError
    """
    shown = flag(browser, "browser", ArgumentError)
    if every is not None:
        whole_number(every, "every", 1, ArgumentError, MOST_STEPS)
    method = Stepper(mechanism, dt, state=state, order=order, scheme=scheme).method
    if isinstance(method, Variational) and method.on_unresolved == "warn":
        method = replace(method, on_unresolved="raise")  # for the page to show
    each = every or max(1, round(FRAME / vars(method)["dt"]))
    stepper = PulledStepper(mechanism, method, state=state, every=each)
    view = LiveView(LiveSession(stepper, each, state, trace, plane))
    if shown:
        webbrowser.open(view.address)
    return view


class LiveView(Shown):
    """The page of a mechanism that is stepped as it is looked at, see `live`.

    Attributes
    ----------
    address : str
        Address of the page, for a browser on this machine.
    """

    def __init__(self, session: LiveSession) -> None:
        self._session = session
        self._server = page_server(self._get, self._post)
        self.address = f"http://{HOST}:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(PATIENCE,), daemon=True)
        self._thread.start()

    def trajectory(self) -> Trajectory:
        """Return the `Trajectory` since the start, or since a slider of a joint made another start."""
        return self._session.trajectory()

    def wait(self) -> None:
        """Wait until Ctrl-C, and close."""
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """End the server; the page keeps its frames."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _get(self, path: str) -> Answer | None:
        if path == "/":
            return Answer(self._session.page.encode(), HTML)
        if path == "/run.h5":
            return Answer(self._session.file(), FILE, "run.h5")
        return None

    def _post(self, path: str, request: dict[str, Any]) -> Answer | None:
        if path != "/step":
            return None
        try:
            return json_answer(self._session.answer(request))
        except Exception as problem:  # the page shows it
            return json_answer({"count": 0, "more": False, "message": problem_text(problem)})

    def _facts(self) -> tuple[str, ...]:
        return f"'{self._session.stepper.mechanism.name}'", self.address

    def _repr_html_(self) -> str:
        look = f"width:100%;height:{HEIGHT}px;border:1px solid #ddd"
        return f'<iframe style="{look}" src="{html.escape(self.address)}"></iframe>'
