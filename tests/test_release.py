"""The release: one version, a complete sdist and wheel, and a citation."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import compactlearn
from tools import oldest, release_check

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_is_defined_once():
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    assert release_check.version() == compactlearn.__version__
    bench = tomllib.loads((ROOT / "bench" / "pyproject.toml").read_text(encoding="utf-8"))
    assert bench["project"]["version"] == compactlearn.__version__
    assert f"compactlearn[cli]=={compactlearn.__version__}" in bench["project"]["dependencies"]


def test_the_changelog_begins_with_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(.+?)\]", text, flags=re.MULTILINE)
    assert versions[0] == compactlearn.__version__


def test_the_citation_names_the_software_and_the_paper():
    yaml = pytest.importorskip("yaml")
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert found["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(found)  # what the format asks for
    assert found["license"] == PROJECT["license"]
    (paper,) = found["references"]
    assert [author["family-names"] for author in paper["authors"]] == [
        "Lv", "Wu", "Peng", "Liu", "Xu", "Geng",
    ]  # fmt: skip
    assert "2009.08607" in paper["url"]


def test_the_workflow_runs_targets_that_exist():
    yaml = pytest.importorskip("yaml")
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert set(jobs) == {"test", "oldest", "docs", "build"}
    targets = re.findall(r"make ([\w-]+)", text)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets == ["test", "test-oldest", "docs", "release-check"]
    assert all(re.search(rf"^{target}:", makefile, flags=re.MULTILINE) for target in targets)
    supported = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if ":: 3." in line]
    assert jobs["test"]["strategy"]["matrix"]["python"] == [supported[0], supported[-1]]
    assert PROJECT["requires-python"] == f">={supported[0]}"


def test_the_oldest_versions_are_those_that_the_project_allows():
    found = oldest.oldest(PROJECT, ["cli", "data"])
    assert "numpy==2.0" in found
    assert any(line.startswith("pyarrow==") for line in found)
    assert len(found) == len(PROJECT["dependencies"]) + 3
    assert not any(">" in line for line in found)


def test_a_requirement_without_a_minimum_is_refused():
    project = {"dependencies": ["numpy"], "optional-dependencies": {}}
    with pytest.raises(ValueError, match=r"needs a minimum.*'numpy'.*oldest version"):
        oldest.oldest(project, [])


@pytest.mark.slow
def test_sdist_and_wheel_hold_what_they_must_and_the_wheel_works(tmp_path):
    """`make release-check` also installs both into empty environments, from a registry."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    sdist, wheel, bench = release_check.build(tmp_path)
    release_check.check_wheel(wheel)
    release_check.check_wheel(bench, release_check.BENCH)
    release_check.check_sdist(sdist)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); import compactlearn; "
        f"assert compactlearn.__file__.startswith({str(tmp_path)!r}), compactlearn.__file__; "
        f"sys.path.insert(0, {str(ROOT / 'tools')!r}); import smoke; "
        f"smoke.main({compactlearn.__version__!r}, alone=False)"
    )
    subprocess.run([sys.executable, "-I", "-c", code], check=True, cwd=tmp_path)


def test_what_is_missing_is_said(tmp_path):
    wheel = tmp_path / "compactlearn-0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("compactlearn/__init__.py", "")
    with pytest.raises(SystemExit, match=r"exactly the files of src/compactlearn.*registry\.toml"):
        release_check.check_wheel(wheel)
