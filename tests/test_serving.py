"""The server of docs/how-to/serve.md, loaded as the page says and asked for labels."""

import asyncio
import contextlib
import json
import re
from pathlib import Path

import httpx
import pytest
from uvicorn.importer import import_from_string

from compactlearn import load_model, predict_labels
from tests.test_documents import blocks_of

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "serve.md"
BLOCKS = blocks_of(PAGE)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the page's model file and the module that serves it."""
    folder = tmp_path_factory.mktemp("serving")
    (first,) = (block for block in BLOCKS if "save_model(" in block.text)
    (served,) = (block for block in BLOCKS if block.directives.get("file") == "serve.py")
    with contextlib.chdir(folder):
        exec(compile(first.text, first.name, "exec"), {})
    (folder / "serve.py").write_text(served.text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def post(folder):
    """Return a function that posts to the application, found as by the command of the page."""
    (application,) = re.findall(r"`uvicorn ([^`]+)`", PAGE.read_text(encoding="utf-8"))
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.syspath_prepend(folder)
        transport = httpx.ASGITransport(import_from_string(application))

    async def ask(path, content):
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
            return await client.post(path, **content)

    return lambda path, **content: asyncio.run(ask(path, content))


def test_the_request_of_the_page_gets_the_answer_of_the_page(post):
    (request,) = (block.text for block in BLOCKS if block.text.startswith("POST "))
    (answer,) = (block.text for block in BLOCKS if block.text.startswith("[["))
    path, content = re.fullmatch(r"POST (\S+) +(\{.*\})\s*", request).groups()
    found = post(path, json=json.loads(content))
    assert found.status_code == 200
    expected = json.loads(answer)
    assert [[name for name, _ in row] for row in found.json()] == [
        [name for name, _ in row] for row in expected
    ]
    for row, shown in zip(found.json(), expected, strict=True):
        for (_, score), (_, rounded) in zip(row, shown, strict=True):
            assert score == pytest.approx(rounded, abs=0.006)


def test_it_is_what_the_model_says(post, folder):
    model, texts = load_model(folder / "tags.model"), ["bake pasta in the rain", "", "goal"]
    for k in (None, 1, 5):
        found = post("/tags", json={"texts": texts, "k": k}).json()
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
def test_a_bad_request_gets_a_sentence(post, content, sentence):
    found = post("/tags", json=content)
    assert found.status_code == 422
    assert sentence in found.text
    assert post("/tags", json={"texts": ["bread"]}).status_code == 200


def test_what_is_no_json_is_refused_too(post):
    assert post("/tags", content=b"texts=bread").status_code == 422
