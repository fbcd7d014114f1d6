"""Fetching from a real server on this machine that misbehaves on request."""

import contextlib
import hashlib
import http.server
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from compactlearn.datasets._catalogue.files import FetchError, Patience, digest, fetch_file
from compactlearn.datasets._catalogue.known_sets import File

CONTENT = bytes(range(256)) * 2000
SHA = hashlib.sha256(CONTENT).hexdigest()
HALF = len(CONTENT) // 2
QUICK = Patience(attempts=3, pause=0.01, timeout=0.5)


class Server(http.server.ThreadingHTTPServer):
    """The path of a request names what goes wrong; each request is noted with its range."""

    daemon_threads = True
    block_on_close = False

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, str | None]] = []
        self.go_on = threading.Event()
        self.secret = Path("/nowhere")

    def address(self, path):
        return f"http://127.0.0.1:{self.server_port}/{path}"

    def handle_error(self, request, client_address):
        """A client that was killed is no error."""


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_):
        pass

    def do_GET(self):
        kind, wanted = self.path.strip("/"), self.headers.get("Range")
        earlier = [path for path, _ in self.server.requests].count(kind)
        self.server.requests.append((kind, wanted))
        getattr(self, f"do_{kind}")(wanted, earlier)

    def content(self, content=CONTENT, wanted=None):
        """The head of a good answer, and the bytes that should follow."""
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted else 0
        if start >= len(content):
            self.send_error(416)
            return b""
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        return content[start:]

    def do_good(self, wanted, _earlier):
        self.wfile.write(self.content(wanted=wanted))

    def do_whole(self, _wanted, _earlier):  # a server that knows no ranges
        self.wfile.write(self.content())

    def do_wrong(self, wanted, _earlier):
        self.wfile.write(self.content(CONTENT[::-1], wanted))

    def do_short(self, wanted, _earlier):  # another, shorter file
        self.wfile.write(self.content(CONTENT[:HALF], wanted))

    def redirected(self, address):
        self.send_response(302)
        self.send_header("Location", address)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_round(self, _wanted, _earlier):  # a redirection to itself
        self.redirected(self.server.address("round"))

    def do_local(self, _wanted, _earlier):
        self.redirected(f"file://{self.server.secret}")

    def do_longer(self, _wanted, _earlier):  # less than its head promises
        self.send_response(200)
        self.send_header("Content-Length", str(2 * len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:HALF])

    def do_endless(self, _wanted, _earlier):
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(CONTENT)

    def do_truncated(self, wanted, earlier):  # the first connection breaks in the middle
        body = self.content(wanted=wanted)
        self.wfile.write(body if earlier else body[:HALF])

    def do_missing(self, _wanted, _earlier):
        self.send_error(404)

    def do_busy(self, wanted, earlier):  # 500 twice, then good
        if earlier < 2:
            self.send_error(500)
        else:
            self.do_good(wanted, earlier)

    def do_broken(self, _wanted, _earlier):
        self.send_error(503)

    def do_slow(self, wanted, _earlier):
        body = self.content(wanted=wanted)
        for start in range(0, len(body), HALF // 10):
            self.wfile.write(body[start : start + HALF // 10])
            time.sleep(0.05)

    def do_stalling(self, wanted, earlier):  # half of it, then silence; the rest when asked again
        body = self.content(wanted=wanted)
        self.wfile.write(body if earlier else body[:HALF])
        if not earlier:
            self.wfile.flush()
            self.server.go_on.wait(20)

    def do_moved(self, _wanted, _earlier):
        self.send_response(302)
        self.send_header("Location", self.server.address("good"))
        self.end_headers()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.go_on.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "toy"


def wanted(server, *paths):
    addresses = tuple(server.address(path) for path in paths)
    return File("toy.arff", "rows", len(CONTENT), SHA, addresses)


def visible(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


@pytest.mark.parametrize(
    ("path", "requests"),
    [
        ("good", [("good", None)]),
        ("moved", [("moved", None), ("good", None)]),
        ("busy", [("busy", None)] * 3),
        ("slow", [("slow", None)]),
        ("truncated", [("truncated", None), ("truncated", f"bytes={HALF}-")]),
        ("stalling", [("stalling", None), ("stalling", f"bytes={HALF}-")]),
    ],
)
def test_what_arrives_in_the_end_is_whole(server, folder, path, requests):
    assert fetch_file(wanted(server, path), folder, QUICK).read_bytes() == CONTENT
    assert visible(folder) == ["toy.arff"]
    assert server.requests == requests
    assert not list(folder.glob(".*.part"))


@pytest.mark.parametrize(
    ("path", "reason", "n_requests"),
    [
        ("wrong", f"has the SHA-256 .* instead of {SHA}", 1),
        ("endless", f"has the SHA-256 .* instead of {SHA}", 1),
        ("missing", "answered 404 Not Found", 1),
        ("broken", r"answered 503 Service Unavailable \(3 attempts\)", 3),
        ("short", f"ended after {HALF} of {len(CONTENT)} bytes", 3),
    ],
)
def test_what_is_not_the_file_is_never_used(server, folder, path, reason, n_requests):
    with pytest.raises(FetchError, match=reason) as caught:
        fetch_file(wanted(server, path), folder, QUICK)
    assert server.address(path) in str(caught.value)
    assert visible(folder) == []
    assert len(server.requests) == n_requests


def test_other_schemes_are_not_opened(folder):
    file = File("toy.arff", "rows", 3, SHA, (Path(__file__).as_uri(),))
    with pytest.raises(FetchError, match="unknown url type: file"):
        fetch_file(file, folder, QUICK)


def test_mirrors_are_tried_in_order(server, folder):
    file = wanted(server, "missing", "wrong", "good", "slow")
    assert fetch_file(file, folder, QUICK).read_bytes() == CONTENT
    assert [path for path, _ in server.requests] == ["missing", "wrong", "good"]


@pytest.mark.parametrize("path", ["good", "whole"])
def test_remains_are_continued_where_the_server_can(server, folder, path):
    folder.mkdir()
    (folder / ".toy.arff.part").write_bytes(CONTENT[:1000])
    assert fetch_file(wanted(server, path), folder, QUICK).read_bytes() == CONTENT
    assert server.requests == [(path, "bytes=1000-")]


@pytest.mark.parametrize(
    "remains",
    [b"not the beginning", CONTENT + b"more", CONTENT[:-1] + b"?"],
    ids=["other", "too long", "last byte"],
)
def test_wrong_remains_are_thrown_away(server, folder, remains):
    folder.mkdir()
    (folder / ".toy.arff.part").write_bytes(remains)
    assert fetch_file(wanted(server, "good"), folder, QUICK).read_bytes() == CONTENT


def test_a_finished_transfer_is_only_renamed(server, folder):
    folder.mkdir()
    (folder / ".toy.arff.part").write_bytes(CONTENT)
    assert fetch_file(wanted(server, "good"), folder, QUICK).read_bytes() == CONTENT
    assert server.requests == []


def test_the_final_name_appears_only_when_the_file_is_whole(server, folder):
    seen, done = [], threading.Event()

    def watch():
        while not done.is_set():
            with contextlib.suppress(FileNotFoundError):
                seen.append(digest(folder / "toy.arff"))
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    fetch_file(wanted(server, "slow"), folder, QUICK)
    time.sleep(0.05)
    done.set()
    watcher.join()
    assert set(seen) == {SHA}


def test_another_file_in_its_place_is_left_alone(server, folder):
    folder.mkdir()
    (folder / "toy.arff").write_text("mine")
    with pytest.raises(ValueError, match="must have the content that the registry knows"):
        fetch_file(wanted(server, "good"), folder, QUICK)
    assert (folder / "toy.arff").read_text() == "mine"


def test_a_folder_that_cannot_be(server, tmp_path):
    (tmp_path / "toy").write_text("a file, not a folder")
    with pytest.raises(FetchError, match="toy cannot be used"):
        fetch_file(wanted(server, "good"), tmp_path / "toy", QUICK)


CHILD = """
import sys
from pathlib import Path
from compactlearn.datasets._catalogue.files import Patience, fetch_file
from compactlearn.datasets._catalogue.known_sets import File
address, size, sha, folder = sys.argv[1:]
file = File("toy.arff", "rows", int(size), sha, (address,))
print(fetch_file(file, Path(folder), Patience(timeout=30)))
"""


def child(server, path, folder):
    arguments = [server.address(path), str(len(CONTENT)), SHA, str(folder)]
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_of_two_processes_one_fetches_and_both_have_the_file(server, folder):
    children = [child(server, "slow", folder) for _ in range(2)]
    answers = [one.communicate(timeout=60) for one in children]
    assert [one.returncode for one in children] == [0, 0], answers
    assert (folder / "toy.arff").read_bytes() == CONTENT
    assert server.requests == [("slow", None)]
    assert visible(folder) == ["toy.arff"]


def test_what_a_killed_process_left_is_continued(server, folder):
    killed, part = child(server, "stalling", folder), folder / ".toy.arff.part"
    deadline = time.monotonic() + 60
    while not (part.exists() and part.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.01)
    killed.kill()
    killed.communicate()
    assert visible(folder) == []
    kept = part.stat().st_size
    assert 0 < kept < len(CONTENT)
    assert fetch_file(wanted(server, "stalling"), folder, QUICK).read_bytes() == CONTENT
    assert server.requests == [("stalling", None), ("stalling", f"bytes={kept}-")]
    assert visible(folder) == ["toy.arff"]
    assert not part.exists()


@pytest.mark.parametrize("path", ["round", "local", "longer"])
def test_redirections_lead_neither_in_circles_nor_into_this_machine(server, folder, path, tmp_path):
    """Even if the file that a redirection names is the very one that is wanted."""
    server.secret = tmp_path / "secret"
    server.secret.write_bytes(CONTENT)
    with pytest.raises(FetchError):
        fetch_file(wanted(server, path), folder, QUICK)
    assert not (folder / "toy.arff").exists()
    assert len(server.requests) <= 60


def test_a_link_in_the_place_of_the_remains_is_not_written_through(server, folder, tmp_path):
    """Who may write into the folder could otherwise have any file of the user's overwritten."""
    folder.mkdir()
    victim = tmp_path / "victim"
    for content in (b"precious", b""):
        victim.write_bytes(content)
        (folder / ".toy.arff.part").symlink_to(victim)
        assert fetch_file(wanted(server, "good"), folder, QUICK).read_bytes() == CONTENT
        assert victim.read_bytes() == content
        (folder / "toy.arff").unlink()
    (folder / ".toy.arff.part").symlink_to(tmp_path / "new")
    fetch_file(wanted(server, "good"), folder, QUICK)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["toy.arff", ".toy.arff.part"])
def test_a_pipe_in_the_folder_is_not_waited_for(server, folder, name):
    folder.mkdir()
    os.mkfifo(folder / name)
    assert fetch_file(wanted(server, "good"), folder, QUICK).read_bytes() == CONTENT
