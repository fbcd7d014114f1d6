"""`compactlearn doctor`: versions, machine, and the content of a model file."""

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
from compactlearn.core._machine import (
    BRINGS,
    devices,
    host,
    optional_packages,
    required_packages,
    threads,
)
from compactlearn.core._memory import available_bytes, human_bytes
from compactlearn.core._shown import shown
from compactlearn.datasets import data_folder
from compactlearn.io._columns import columns_of, last_step
from compactlearn.io._model_file import about, load_model

__all__ = ["doctor"]

_SHOWN = 5  # names


def doctor(
    model_file: Annotated[
        Path | None, typer.Argument(metavar="[MODEL]", help="A model file to check and describe.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON record instead.")] = False,
) -> None:
    """Show versions, threads, devices, memory and the content of a model file.

    With MODEL, every byte of the file is checked: a damaged file is reported.
    """
    record: dict[str, Any] = {
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
            record["model"] = _model(model_file)
    if as_json:
        typer.echo(json.dumps(record, indent=2))
        return
    for heading, value in _lines(record):
        typer.echo(f"{heading + ':':<16} {shown(value)}")


def _model(path: Path) -> dict[str, Any]:
    model = load_model(path, verify=True)
    last, columns = last_step(model), columns_of(model)
    names = names_of(last)
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        **about(path),
        "checksums": "verified",
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


def _lines(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    machine = record["machine"]
    yield "compactlearn", record["compactlearn"]
    yield "Python", f"{record['python']} in {record['environment']}"
    yield "machine", f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}"
    free = record["memory"]["available_bytes"]
    yield "memory", "unknown" if free is None else f"{human_bytes(free)} available"
    for pool in record["threads"]["libraries"]:
        yield "threads", f"{pool['library']} uses {pool['threads']}"
    for name, value in record["threads"]["variables"].items():
        yield "  set by", f"{name}={value}"
    for name, value in record["devices"].items():
        yield name, ", ".join(value) or "none" if isinstance(value, list) else str(value or "none")
    for name, version in record["required"].items():
        yield name, version or "missing, but required"
    for extra, packages in record["optional"].items():
        absent = [name for name, version in packages.items() if version is None]
        here = ", ".join(f"{name} {v}" for name, v in packages.items() if v is not None)
        missing = ""
        if absent:
            install = f"pip install 'compactlearn[{extra}]'"
            brings = f" for {BRINGS[extra]}" if extra in BRINGS else ""
            missing = f"no {', '.join(absent)} ({install}{brings})"
        yield f"extra {extra}", "; ".join(filter(None, [here, missing]))
    yield "data folder", record["data folder"]
    for name, value in record.get("model", {}).items():
        if value is not None:
            text = ", ".join(value) if isinstance(value, list) else str(value)
            text = {"True": "yes", "False": "no"}.get(text, text)
            words = name.removeprefix("n_").replace("_", " ")
            yield "model" if name == "file" else f"model {words}", text
