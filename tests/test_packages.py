"""What is built from the repository is all of it, and works where the repository is not."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from support import REPOSITORY

BUILD = """
import sys
from flit_core import buildapi
print(buildapi.build_sdist(sys.argv[1]), buildapi.build_wheel(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist and the wheel."""
    folder = tmp_path_factory.mktemp("packages")
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    )  # fmt: skip
    sdist, wheel = done.stdout.split()
    return folder / sdist, folder / wheel


def source_files() -> set[str]:
    """All files of the package, prompts, templates and data among them."""
    source = REPOSITORY / "src"
    paths = (path for path in source.rglob("*") if path.is_file())
    return {str(path.relative_to(source)) for path in paths if "__pycache__" not in path.parts}


def test_both_hold_every_file(packages: tuple[Path, Path]) -> None:
    sdist, wheel = packages
    with zipfile.ZipFile(wheel) as archive:
        assert source_files() <= set(archive.namelist())
    with tarfile.open(sdist) as archive:
        names = {name.partition("/src/")[2] for name in archive.getnames()}
    assert source_files() <= names


def test_the_wheel_works_outside_of_the_checkout(
    packages: tuple[Path, Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(packages[1]) as archive:
        archive.extractall(tmp_path / "site")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}

    def use(*words: str) -> str:
        command = [sys.executable, "-m", "reelbench", *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "baseline:pixels" in use("demo", "--videos", "2", "--out", "demo")
    assert (tmp_path / "demo" / "run" / "report.html").exists()
    place = [sys.executable, "-c", "import reelbench; print(reelbench.__file__)"]
    done = subprocess.run(place, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)
