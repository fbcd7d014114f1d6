"""Whatever a user may call says what it does and what its parameters are (numpydoc's checks)."""

import dataclasses
import importlib
import inspect

import pytest
from numpydoc.validate import validate

PACKAGES = (
    "compactlearn",
    "compactlearn.datasets",
    "compactlearn_bench",
    "compactlearn.decoding",
    "compactlearn.embeddings",
    "compactlearn.metrics",
    "compactlearn.model_selection",
    "compactlearn.inspection",
    "compactlearn.plots",
    "compactlearn_bench.records",
    "compactlearn.related",
    "compactlearn_bench.report",
)
# GL08: no docstring; SS03: a summary without a full stop; PR01 and PR02: parameters that are not
# documented, and documented ones that are not there. Others are left out: a section for what is
# returned (the summary says it), examples and references everywhere.
CHECKS = {"GL08", "SS03", "PR01", "PR02"}


def public_objects():
    """Public functions and classes, and the methods and properties that these have from us."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing
            if inspect.isclass(thing):
                found |= dict(members_of(thing))
    return found


def members_of(cls):
    for name in dir(cls):
        owner = next(base for base in cls.__mro__ if name in vars(base))
        if name.startswith("_") or not owner.__module__.startswith("compactlearn"):
            continue
        member = vars(owner)[name]
        if not callable(member) and not isinstance(member, property | classmethod | staticmethod):
            continue
        inherits = not member.__doc__ and inspect.getdoc(getattr(cls, name))
        if not inherits:  # what it does is said by the method it stands in for
            yield f"{owner.__module__}.{owner.__qualname__}.{name}", member


OBJECTS = public_objects()


@pytest.mark.parametrize("path", sorted(OBJECTS))
def test_it_is_documented(path):
    # The fields of a dataclass are described by comments, and a protocol has none.
    thing = OBJECTS[path]
    plain = dataclasses.is_dataclass(thing) or getattr(thing, "_is_protocol", False)
    checks = CHECKS - ({"PR01"} if plain else set())
    errors = [(code, text) for code, text in validate(path)["errors"] if code in checks]
    assert not errors


def test_there_is_something_to_check():
    assert len(OBJECTS) > 100
