"""Every parameter of what is public is explained; the form of docstrings is a matter of ruff's."""

import importlib
import inspect
import re

import pytest

PACKAGES = ("compactlearn.datasets", "compactlearn.records", "compactlearn.report")


def functions(package):
    """The public functions of a package, and the public methods of its classes, by their names."""
    module = importlib.import_module(package)
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isfunction(thing):
            yield f"{package}.{name}", thing
        elif inspect.isclass(thing):
            for method, found in inspect.getmembers(thing, inspect.isroutine):
                ours = (getattr(found, "__module__", None) or "").startswith("compactlearn")
                if ours and not method.startswith("_"):
                    yield f"{package}.{name}.{method}", found


def explained(function):
    """Names in a list of parameters or between backticks, here or where the docstring sends one."""
    text = inspect.getdoc(function) or ""
    heads = re.findall(r"^([\w*]+(?:, \w+)*)(?: :.*)?$", text, flags=re.MULTILINE)
    names = {name.strip(" *") for head in heads for name in head.split(",")}
    names |= {word for code in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", code)}
    for other in re.findall(r"parameters are those of `(\w+)`", text):
        names |= explained(inspect.getmodule(function).__dict__[other])
    return names


FUNCTIONS = {name: found for package in PACKAGES for name, found in functions(package)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_explained(name):
    function = FUNCTIONS[name]
    parameters = set(inspect.signature(function).parameters) - {"self"}
    assert parameters <= explained(function)
