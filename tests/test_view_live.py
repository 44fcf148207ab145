"""The server of ``varint view``: frames of a run while it is computed, and nothing else."""

import contextlib
import http.client
import json
import threading
import time

import numpy as np
import pytest
from test_view import decoded

import varint as vi
from varint.cli.live import BATCH, FIRST, Growing, Live, OfFile, serve
from varint.files.runs.lock import is_locked, locked
from varint.runs.running import followed


@contextlib.contextmanager
def served(live):
    """Answers of a server: a function of the path and the host that is asked for."""
    server = serve(live)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    host, port = server.server_address[:2]
    assert host == "127.0.0.1"

    def ask(path, asked_for=None):
        connection = http.client.HTTPConnection(host, port, timeout=30)
        connection.request("GET", path, headers={"Host": asked_for or f"{host}:{port}"})
        answer = connection.getresponse()
        return answer.status, answer.read()

    try:
        yield ask
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def all_frames(ask):
    """Chunks until the run is done."""
    chunks, count, ends = [], 0, time.monotonic() + 60
    while time.monotonic() < ends:
        status, body = ask(f"/frames?from={count}")
        assert status == 200
        chunk = json.loads(body)
        if chunk["count"]:
            chunks.append(chunk)
            count += chunk["count"]
        if chunk["done"]:
            return chunks
        time.sleep(0.0 if chunk["more"] else 0.02)
    raise AssertionError("not done within a minute")


def positions(chunks, bodies):
    return np.concatenate([decoded(c["position"], "<f4", c["count"], bodies, 3) for c in chunks])


def curve(chunks, number, curves):
    """Values of a curve of all frames."""
    found = []
    for chunk in chunks:
        levels = decoded(chunk["curves"]["levels"], "<u2", chunk["count"], curves)[:, number]
        low, high = (chunk["curves"][end][number] for end in ("low", "high"))
        found.append(low + levels / 65535 * (high - low))
    return np.concatenate(found)


@pytest.fixture
def growing():
    """Runs that grow as they are asked for their frames, stopped at the end."""
    made = []

    def make(**options):
        mech = options.pop("mechanism", None) or vi.mechanisms.four_bar()
        source = Growing(lambda progress: vi.simulate(mech, **options, progress=progress))
        made.append(source)
        source.begin()
        return source

    yield make
    for source in made:
        source.stop()


@pytest.mark.slow
def test_frames_come_while_the_run_is_computed_and_are_those_of_the_run(growing):
    """Coordinates go on counting turns from chunk to chunk."""
    four, options = vi.mechanisms.four_bar(rate=20.0), {"duration": 6.0, "dt": 0.002}
    source = growing(mechanism=four, **options)
    whole = vi.simulate(four, **options)
    live = Live(source, 1000)
    assert live.every == 3
    with served(live) as ask:
        status, page = ask("/")
        assert status == 200
        assert b'"live":true' in page
        chunks = all_frames(ask)
    assert chunks[0]["count"] <= FIRST
    assert max(chunk["count"] for chunk in chunks) <= BATCH
    assert chunks[-1]["share"] == pytest.approx(1.0)
    assert positions(chunks, 3) == pytest.approx(whole.position[::3], rel=1e-6, abs=1e-9)
    turns = curve(chunks, 3, 3 + 4 + 4)
    assert turns[-1] > 6 * np.pi
    assert turns == pytest.approx(whole.coordinates["crank pivot"][::3], abs=1e-3)


@pytest.mark.slow
def test_a_run_in_reduced_coordinates_grows_too():
    four = vi.mechanisms.four_bar()
    source = Growing(lambda progress: vi.redmax.simulate(four, 0.2, dt=0.01, progress=progress))
    source.begin()
    with served(Live(source, 1000)) as ask:
        chunks = all_frames(ask)
    assert sum(chunk["count"] for chunk in chunks) == 21
    source.stop()


@pytest.mark.slow
def test_a_run_ends_when_it_is_told_to(growing):
    source = growing(duration=1e5, dt=0.001, every=1000)
    assert not source.latest()[1]
    source.stop()
    trajectory, ended = source.latest()
    assert ended
    assert trajectory.t[-1] < 1e5
    assert isinstance(source.failure, KeyboardInterrupt)


@pytest.mark.parametrize(("duration", "words"), [(-1.0, "duration must be positive"), (1e9, "memory")])
def test_what_a_run_refuses_is_raised_at_once(duration, words):
    source = Growing(lambda progress: vi.simulate(vi.mechanisms.four_bar(), duration, 0.01, progress=progress))
    with pytest.raises(vi.ArgumentError, match=words):
        source.begin()


def test_a_run_that_stops_early_says_why():
    body = vi.mechanisms.free_body(spin=1000)
    source = Growing(lambda progress: vi.simulate(body, 30.0, 3.0, progress=progress))
    source.begin()
    live = Live(source, 1000)
    source.stop()
    answer = live.frames(0)
    assert answer["done"]
    assert "could not be solved" in answer["message"]
    assert isinstance(source.failure, vi.ConvergenceError)


@pytest.mark.slow
def test_nothing_else_is_handed_out(growing):
    source = growing(duration=0.1, dt=0.01)
    with served(Live(source, 100)) as ask:
        for path in ("/etc/passwd", "/../", "/frames", "/frames?from=-1", "/frames?from=x", "/frames?from=1e3", "/?a"):
            assert ask(path)[0] == 404, path
        assert ask("/", "elsewhere.example")[0] == 403
        assert ask("/frames?from=0", "elsewhere.example:80")[0] == 403
        assert json.loads(ask("/frames?from=99999999999")[1])["count"] == 0


@pytest.mark.slow
def test_a_file_is_read_again_while_it_is_written(tmp_path):
    path = tmp_path / "run.h5"
    four = vi.mechanisms.four_bar()
    vi.simulate(four, 0.1, 0.01, output=path)
    assert OfFile(path).latest()[1]
    assert not is_locked(path)
    with locked(path):
        assert is_locked(path)
        source = OfFile(path)
        assert source.latest()[1]  # its own end counts
    vi.simulate(four, 0.2, 0.01, output=path, resume=True)
    with served(Live(OfFile(path), 1000)) as ask:
        assert sum(chunk["count"] for chunk in all_frames(ask)) == 21


@pytest.mark.slow
def test_a_run_tells_its_blocks_to_who_follows_it(tmp_path):
    """In memory, in a file, and the last state that is no node; nobody else is told."""
    four, taken = vi.mechanisms.four_bar(), []
    for output in (None, tmp_path / "run.h5"):
        with followed(taken.append):
            run = vi.simulate(four, 0.105, 0.01, every=3, output=output)
        times = np.concatenate([record.nodes["t"] for record in taken])
        assert times == pytest.approx(run.t)
        taken.clear()
    vi.simulate(four, 0.1, 0.01)
    assert not taken
