"""Build sdist and wheel, and use each in an environment that has nothing else.

``python tools/release_check.py [FOLDER]`` leaves both in FOLDER, by default dist. It needs the
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


def version() -> str:
    """The version, from the one place that has it."""
    text = (SOURCE / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "(.+)"$', text, flags=re.MULTILINE)[0]


def build(folder: Path) -> tuple[Path, Path]:
    """sdist, and a wheel that is built from the sdist and from nothing else."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    name = f"compactlearn-{version()}"
    return folder / f"{name}.tar.gz", folder / f"{name}-py3-none-any.whl"


def package_files() -> set[str]:
    """Every file of the package, as it must stand in a wheel."""
    return {
        path.relative_to(SOURCE.parent).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def check_contents(sdist: Path, wheel: Path) -> None:
    """The wheel has the whole package and nothing else; the sdist also what the tests read."""
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    if inside != package_files():
        raise SystemExit(
            "The wheel must hold exactly the files of src/compactlearn; the difference is "
            f"{sorted(inside ^ package_files())}. Look at [tool.hatch.build] in pyproject.toml."
        )
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    needed = {f"src/{name}" for name in package_files()} | {
        "pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE",
        "Makefile", "tests/makers.py", "docs/conf.py", "docs/METHODS.md", "tools/smoke.py",
        "bench/tables.py", "bench/pages/shared.py", "bench/paper/records.jsonl.xz",
    }  # fmt: skip
    if needed - held:
        raise SystemExit(
            f"The sdist must hold what it takes to build and to test, and lacks "
            f"{sorted(needed - held)}. Look at [tool.hatch.build.targets.sdist] in pyproject.toml."
        )
    unwanted = [name for name in held if name.startswith(("build/", "dist/", ".venv"))]
    if unwanted:
        raise SystemExit(f"The sdist must hold no build output, and has {unwanted[:5]}.")


def use(artefact: Path, folder: Path) -> None:
    """Install into an empty environment, required packages alone, and run the smoke test there."""
    venv.create(folder / "env", with_pip=True)
    python = str(folder / "env" / "bin" / "python")
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(artefact)]
    subprocess.run([python, *install], check=True)
    smoke = str(ROOT / "tools" / "smoke.py")
    subprocess.run([python, "-I", smoke, version()], check=True, cwd=folder)


def main(folder: Path) -> None:
    """Build, look inside, install and use."""
    folder.mkdir(parents=True, exist_ok=True)
    sdist, wheel = build(folder)
    check_contents(sdist, wheel)
    for artefact in (wheel, sdist):
        print(f"installing {artefact.name} into an empty environment")
        with tempfile.TemporaryDirectory() as place:
            use(artefact, Path(place))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist")
