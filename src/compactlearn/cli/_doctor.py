"""`compactlearn doctor`: what this program runs on, and what is in a model file."""

import json
import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from compactlearn import __version__
from compactlearn.cli._mistakes import refusals_are_mistakes
from compactlearn.compact._any_classifier import names_of
from compactlearn.core._machine import devices, host, optional_packages, required_packages, threads
from compactlearn.core._memory import available_bytes, human_bytes
from compactlearn.core._shown import shown
from compactlearn.datasets import data_folder
from compactlearn.io._columns import columns_of, last_step
from compactlearn.io._model_file import about, load_model

__all__ = ["doctor"]

_SHOWN = 5  # names


def doctor(
    model_file: Annotated[
        Path | None, typer.Argument(metavar="[MODEL]", help="A model file to look into as well.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON record instead.")] = False,
) -> None:
    """Show versions, threads, devices and memory, and what is in a model file.

    Of a model file every byte is held against its digest.
    """
    told: dict[str, Any] = {
        "compactlearn": __version__,
        "python": platform.python_version(),
        "environment": sys.prefix,
        "machine": host(),
        "memory": {"available_bytes": available_bytes()},
        "threads": threads(),
        "devices": devices(),
        "required": required_packages(),
        "optional": optional_packages(),
        "data folder": str(data_folder(None)),
    }
    if model_file is not None:
        with refusals_are_mistakes():
            told["model"] = _model(model_file)
    if as_json:
        typer.echo(json.dumps(told, indent=2))
        return
    for heading, value in _lines(told):
        typer.echo(f"{heading + ':':<16} {shown(value)}")


def _model(path: Path) -> dict[str, Any]:
    model = load_model(path, verify=True)
    last, columns = last_step(model), columns_of(model)
    names = names_of(last)
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        **about(path),
        "digests": "verified",
        "type": " > ".join(type(step).__name__ for _, step in getattr(model, "steps", ()))
        or type(model).__name__,
        "features": getattr(last, "n_features_in_", None),
        "labels": len(names),
        "first labels": names[:_SHOWN],
        "n_parameters": getattr(last, "n_parameters_", None),
        "probabilities": hasattr(model, "predict_proba"),
        "text column": getattr(columns, "text", None),
        "why": getattr(last, "why_", None),
    }


def _lines(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    machine = told["machine"]
    yield "compactlearn", told["compactlearn"]
    yield "Python", f"{told['python']} in {told['environment']}"
    yield "machine", f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}"
    free = told["memory"]["available_bytes"]
    yield "memory", "unknown" if free is None else f"{human_bytes(free)} available"
    for pool in told["threads"]["libraries"]:
        yield "threads", f"{pool['threads']} of {pool['library']} ({pool['for']})"
    for name, value in told["threads"]["variables"].items():
        yield "  decided by", f"{name}={value}"
    for name, value in told["devices"].items():
        yield name, ", ".join(value) or "none" if isinstance(value, list) else str(value)
    for name, version in told["required"].items():
        yield name, version or "absent, though it is needed"
    for extra, packages in told["optional"].items():
        absent = [name for name, version in packages.items() if version is None]
        here = ", ".join(f"{name} {v}" for name, v in packages.items() if v is not None)
        missing = f"no {', '.join(absent)} (pip install 'compactlearn[{extra}]')" if absent else ""
        yield f"extra {extra}", "; ".join(filter(None, [here, missing]))
    yield "data folder", told["data folder"]
    for name, value in told.get("model", {}).items():
        if value is not None:
            shown = ", ".join(value) if isinstance(value, list) else str(value)
            yield f"model {name}" if name != "file" else "model", shown
