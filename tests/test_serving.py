"""The server of docs/how-to/serve.md, started as the page says and asked over HTTP."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from compactlearn import load_model, predict_labels
from tests.test_documents import blocks_of, clean_environment

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "how-to" / "serve.md"
BLOCKS = blocks_of(PAGE)
pytestmark = pytest.mark.slow


@contextlib.contextmanager
def serving(folder):
    """The address of a server that runs `serve.py` in a folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (command,) = re.findall(r"`(uvicorn [^`]+)`", PAGE.read_text(encoding="utf-8"))
    line = [sys.executable, "-m", *command.split(), "--host", "127.0.0.1", "--port", str(port)]
    log = (folder / "log.txt").open("w")
    process = subprocess.Popen(
        line,
        cwd=folder,
        env=clean_environment(PYTHONPATH=os.pathsep.join([str(ROOT / "src"), str(folder)])),
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(600):
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"{address}/openapi.json")
                break
            assert process.poll() is None, (folder / "log.txt").read_text()
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)
        log.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the page's model file and the module that serves it."""
    folder = tmp_path_factory.mktemp("serving")
    (first,) = (block for block in BLOCKS if "save_model(" in block.text)
    (served,) = (block for block in BLOCKS if block.directives.get("file") == "serve.py")
    before = Path.cwd()
    os.chdir(folder)
    try:
        exec(compile(first.text, first.name, "exec"), {})
    finally:
        os.chdir(before)
    (folder / "serve.py").write_text(served.text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def address(folder):
    with serving(folder) as address:
        yield address


def test_the_request_of_the_page_gets_the_answer_of_the_page(address):
    (request,) = (block.text for block in BLOCKS if block.text.startswith("POST "))
    (answer,) = (block.text for block in BLOCKS if block.text.startswith("[["))
    path, content = re.fullmatch(r"POST (\S+) +(\{.*\})\s*", request).groups()
    found = httpx.post(f"{address}{path}", json=json.loads(content))
    assert found.status_code == 200
    expected = json.loads(answer)
    assert [[name for name, _ in row] for row in found.json()] == [
        [name for name, _ in row] for row in expected
    ]
    for row, shown in zip(found.json(), expected, strict=True):
        for (_, score), (_, rounded) in zip(row, shown, strict=True):
            assert score == pytest.approx(rounded, abs=0.006)


def test_it_is_what_the_model_says(address, folder):
    model, texts = load_model(folder / "tags.model"), ["bake pasta in the rain", "", "goal"]
    for k in (None, 1, 5):
        found = httpx.post(f"{address}/tags", json={"texts": texts, "k": k}).json()
        pairs = [[(name, score) for name, score in row] for row in found]
        assert pairs == predict_labels(model, texts, k)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"texts": ["bread"], "k": 0}, "k between 1 and the number of labels (5)"),
        ({"texts": ["bread"], "k": 6}, "was given 6"),
        ({"texts": "bread"}, "Input should be a valid list"),
        ({"text": ["bread"]}, "Field required"),
        ({"texts": [3]}, "Input should be a valid string"),
    ],
)
def test_a_bad_request_gets_a_sentence(address, content, sentence):
    found = httpx.post(f"{address}/tags", json=content)
    assert found.status_code == 422
    assert sentence in found.text
    assert httpx.post(f"{address}/tags", json={"texts": ["bread"]}).status_code == 200


def test_what_is_no_json_is_refused_too(address):
    assert httpx.post(f"{address}/tags", content=b"texts=bread").status_code == 422
