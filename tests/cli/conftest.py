"""The command line in an empty folder, with a wide terminal without colours."""

from typing import NamedTuple

import pytest

from compactlearn.cli import main


class Output(NamedTuple):
    """Output of a command."""

    out: str
    err: str


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COMPACTLEARN_DATA", str(tmp_path / "home"))


@pytest.fixture
def run(capsysbinary):
    """Run a command; a mistake (status 2) must be one sentence, and print nothing else."""

    def run(*typed, status=0):
        capsysbinary.readouterr()
        found = main([str(one) for one in typed])
        output = Output(*(part.decode() for part in capsysbinary.readouterr()))
        assert found == status, output.err
        assert "Traceback" not in output.err
        if status == 2:
            assert output.out == ""
            sentences = output.err.splitlines()
            assert sentences[-1].startswith("compactlearn: ")
            assert sentences[-1].endswith((".", "?", "'", ")"))
        return output

    return run
