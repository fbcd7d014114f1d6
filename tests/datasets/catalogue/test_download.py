"""Downloads from a local server that fails on request."""

import contextlib
import hashlib
import http.server
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from compactlearn.datasets._catalogue import files
from compactlearn.datasets._catalogue.files import FetchError, fetch_file
from compactlearn.datasets._catalogue.known_sets import File

CONTENT = bytes(range(256)) * 2000
SHA = hashlib.sha256(CONTENT).hexdigest()
HALF = len(CONTENT) // 2


class Handler(http.server.BaseHTTPRequestHandler):
    """Handler of requests, whose path selects the fault; each request is recorded."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        kind = self.path.strip("/")
        earlier = self.server.requests.count(kind)
        self.server.requests.append(kind)
        if kind in ("moved", "round", "local"):
            targets = {"moved": "good", "round": "round"}
            local = f"file://{self.server.secret}"
            address = self.server.address(targets[kind]) if kind in targets else local
            self.answer(b"", 302, Location=address)
        elif kind in ("missing", "broken") or (kind == "busy" and earlier < 2):
            self.send_error(404 if kind == "missing" else 503)
        elif kind == "endless":
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                while True:
                    self.wfile.write(CONTENT)
        elif kind == "slow":
            self.answer(b"", length=len(CONTENT))
            with contextlib.suppress(OSError):
                for start in range(0, len(CONTENT), HALF // 10):
                    self.wfile.write(CONTENT[start : start + HALF // 10])
                    time.sleep(0.05)
        else:
            cut = kind == "short" or (kind in ("truncated", "stalling") and not earlier)
            content = CONTENT[::-1] if kind == "wrong" else CONTENT
            self.answer(content[:HALF] if cut else content, length=len(CONTENT))
            if kind == "stalling" and not earlier:
                self.wfile.flush()
                self.server.released.wait(20)

    def answer(self, content, status=200, length=None, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.setenv("no_proxy", "*")
    for name, value in (("_ATTEMPTS", 3), ("_PAUSE", 0.01), ("_TIMEOUT", 0.5)):
        monkeypatch.setattr(files, name, value)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        server.requests, server.released = [], threading.Event()
        server.address = lambda path: f"http://127.0.0.1:{server.server_port}/{path}"
        server.handle_error = lambda *_: None  # a client that was killed is no error
        server.secret = tmp_path / "secret"
        server.secret.write_bytes(CONTENT)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.released.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "toy"


def wanted(server, path):
    return File("toy.arff", "rows", len(CONTENT), SHA, server.address(path))


@pytest.mark.parametrize(
    ("path", "n_requests"),
    [("good", 1), ("moved", 2), ("busy", 3), ("slow", 1), ("truncated", 2), ("stalling", 2)],
)
def test_a_fetched_file_is_complete(server, folder, path, n_requests):
    seen, done = set(), threading.Event()

    def watch():
        while not done.is_set():
            with contextlib.suppress(FileNotFoundError):
                seen.add(files.digest(folder / "toy.arff"))
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        assert fetch_file(wanted(server, path), folder).read_bytes() == CONTENT
    finally:
        done.set()
        watcher.join()
    assert seen <= {SHA}, "the final name appears only when the file is whole"
    assert os.listdir(folder) == ["toy.arff"]
    assert len(server.requests) == n_requests


@pytest.mark.parametrize(
    ("path", "reason", "n_requests"),
    [
        ("wrong", f"has the SHA-256 .* instead of {SHA}", 1),
        ("endless", f"has the SHA-256 .* instead of {SHA}", 1),
        ("missing", "answered 404 Not Found", 1),
        ("broken", "answered 503 Service Unavailable", 3),
        ("short", f"ended after {HALF} of {len(CONTENT)} bytes", 3),
        ("local", "answered 302", 1),  # even if it is the very file that is wanted
        ("round", "answered 302", 11),
    ],
)
def test_a_wrong_file_is_never_used(server, folder, path, reason, n_requests):
    with pytest.raises(FetchError, match=reason) as caught:
        fetch_file(wanted(server, path), folder)
    assert server.address(path) in str(caught.value)
    assert os.listdir(folder) == []
    assert len(server.requests) <= n_requests


def test_a_folder_that_cannot_be_created(server, tmp_path):
    (tmp_path / "toy").write_text("a file, not a folder")
    with pytest.raises(FetchError, match="toy"):
        fetch_file(wanted(server, "good"), tmp_path / "toy")


def test_several_that_fetch_together(server, folder):
    with ThreadPoolExecutor(3) as pool:
        found = pool.map(lambda _: fetch_file(wanted(server, "slow"), folder), range(3))
        assert {path.read_bytes() for path in found} == {CONTENT}
    assert os.listdir(folder) == ["toy.arff"]
