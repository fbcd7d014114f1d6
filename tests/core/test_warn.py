"""Warnings point at the user's line, and nothing changes the filters of the process."""

import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import compactlearn
from compactlearn.cli import main
from compactlearn.core._warn import quiet
from compactlearn.metrics import average_precision


def test_warnings_point_at_the_caller_and_quiet_is_for_one_thread():
    Y, scores = np.zeros((2, 3)), np.ones((2, 3)) / 2
    with pytest.warns(UserWarning, match="average_precision need") as caught:
        average_precision(Y, scores)
    assert [warning.filename for warning in caught] == [__file__]
    with quiet(), ThreadPoolExecutor(1) as other, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        average_precision(Y, scores)
        other.submit(average_precision, Y, scores).result()
    assert len(caught) == 1


def users_of(pattern):
    """Files of what reads, runs and commands in which a pattern occurs."""
    source = Path(compactlearn.__file__).parent
    return {
        path.relative_to(source).as_posix()
        for folder in ("datasets", "cli")
        for path in (source / folder).rglob("*.py")
        if re.search(pattern, path.read_text(encoding="utf-8"))
    }


def test_no_reader_and_no_command_changes_the_filters_of_the_process():
    assert users_of(r"catch_warnings|simplefilter|filterwarnings|np\.seterr") == set()


def test_the_program_alone_decides_how_warnings_look(capsys):
    assert users_of(r"showwarning\b") == {"cli/__init__.py"}
    before = warnings.showwarning, list(warnings.filters)
    assert main(["no-such-command"]) == 2
    assert (warnings.showwarning, list(warnings.filters)) == before
    assert "no-such-command" in capsys.readouterr().err
