"""Build sdist and wheel of both distributions, and use each in an environment of its own.

``python tools/release_check.py [FOLDER]`` leaves them in FOLDER, by default dist. It needs the
packages of the extra `dev`, and a registry from which pip may install the required packages.
"""

import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "compactlearn"
BENCH = ROOT / "bench" / "src" / "compactlearn_bench"


def version() -> str:
    """The version, from the one place that has it."""
    text = (SOURCE / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "(.+)"$', text, flags=re.MULTILINE)[0]


def build(folder: Path) -> tuple[Path, Path, Path]:
    """sdist, a wheel that is built from the sdist alone, and the wheel of the workshop."""
    for project in (ROOT, ROOT / "bench"):
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
        subprocess.run([*command, str(project)], check=True, stdout=subprocess.DEVNULL)
    name, rest = f"compactlearn-{version()}", f"{version()}-py3-none-any.whl"
    return (
        folder / f"{name}.tar.gz",
        folder / f"{name}-py3-none-any.whl",
        (folder / f"compactlearn_bench-{rest}"),
    )


def package_files(source: Path = SOURCE) -> set[str]:
    """Return the names that the files of a package must have in a wheel."""
    return {
        path.relative_to(source.parent).as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def check_wheel(wheel: Path, source: Path = SOURCE) -> None:
    """Check that a wheel has the whole package and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    if inside != package_files(source):
        raise SystemExit(
            f"The wheel must hold exactly the files of {source.relative_to(ROOT)}; the difference "
            f"is {sorted(inside ^ package_files(source))}. Look at [tool.hatch.build] in "
            "pyproject.toml."
        )


def check_sdist(sdist: Path) -> None:
    """Check that the sdist has the package and the files that the tests read."""
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    needed = {f"src/{name}" for name in package_files()} | {
        "pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE",
        "Makefile", "tests/makers.py", "docs/conf.py", "docs/methods/index.md", "tools/smoke.py",
        "bench/tables.py", "bench/pages/shared.py", "bench/paper/records.jsonl.xz",
    }  # fmt: skip
    if needed - inside:
        raise SystemExit(
            "The sdist must have every file that building and testing need; it lacks "
            f"{sorted(needed - inside)}. Look at [tool.hatch.build.targets.sdist] in "
            "pyproject.toml."
        )
    unwanted = [name for name in inside if name.startswith(("build/", "dist/", ".venv"))]
    if unwanted:
        raise SystemExit(f"The sdist must hold no build output, and has {unwanted[:5]}.")


def use(artefact: Path, folder: Path, bench: Path | None = None) -> None:
    """Install into an empty environment, required packages alone, and run the smoke test there.

    After it the workshop, if one is given, whose command must be found.
    """
    venv.create(folder / "env", with_pip=True)
    python = str(folder / "env" / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, str(artefact)], check=True)
    smoke = str(ROOT / "tools" / "smoke.py")
    subprocess.run([python, "-I", smoke, version()], check=True, cwd=folder)
    if bench is not None:
        subprocess.run([*install, str(artefact), str(bench)], check=True)
        command = [python, "-I", "-m", "compactlearn", "bench", "--help"]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)


def main(folder: Path) -> None:
    """Build, look inside, install and use."""
    folder.mkdir(parents=True, exist_ok=True)
    sdist, wheel, bench = build(folder)
    check_wheel(wheel)
    check_wheel(bench, BENCH)
    check_sdist(sdist)
    for artefact, workshop in ((wheel, bench), (sdist, None)):
        print(f"installing {artefact.name} into an empty environment")
        with tempfile.TemporaryDirectory() as place:
            use(artefact, Path(place), workshop)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist")
