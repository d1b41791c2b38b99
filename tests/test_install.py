"""The core stays light, and what is locked is locked whole."""

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.markers import Marker
from support import REPOSITORY

LOCKS = sorted((REPOSITORY / "requirements").glob("*.txt"))
MOST_PACKAGES, MOST_BYTES = 35, 480_000_000
# What a fresh virtual environment brings along.
FRESH = {"pip", "setuptools"} & {package.name for package in metadata.distributions()}


def locked(path: Path) -> dict[str, str]:
    """The packages of a lock file that this Python would install, with their versions."""
    lines = re.findall(r"^([\w.-]+)==(\S+)(?: ; (.*?))? \\$", path.read_text(), re.MULTILINE)
    return {
        name: version for name, version, marker in lines if not marker or Marker(marker).evaluate()
    }


def size_of(package: str) -> int:
    """The bytes of an installed package, with the bytecode that pip compiles."""
    files = metadata.files(package) or []
    return sum(
        Path(file.locate()).stat().st_size for file in files if Path(file.locate()).is_file()
    )


def test_the_core_is_small() -> None:
    core = locked(REPOSITORY / "requirements" / "core.txt")
    assert "torch" not in core
    assert len({*core, *FRESH, "reelbench"}) <= MOST_PACKAGES
    assert sum(map(size_of, [*core, *FRESH])) <= MOST_BYTES


def test_this_environment_is_the_locked_one() -> None:
    for name, version in locked(REPOSITORY / "requirements" / "dev.txt").items():
        assert metadata.version(name) == version


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_every_locked_package_has_hashes_and_no_address(path: Path) -> None:
    text = path.read_text()
    blocks = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(blocks) >= 15
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text
    assert "index-url" not in text


def test_no_source_file_is_left_out_of_the_repository() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "src"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is not a git checkout")
    here = {
        str(path.relative_to(REPOSITORY))
        for path in (REPOSITORY / "src").rglob("*")
        if path.is_file()
    }
    assert {path for path in here if "__pycache__" not in path} <= set(listed.stdout.splitlines())


def test_there_is_a_lock_for_every_extra() -> None:
    extras = set(metadata.metadata("reelbench").get_all("Provides-Extra") or ())
    assert extras == {
        "annotate",
        "embed",
        "figures",
        "hf",
        "hub",
        "local",
        "parquet",
        "ray",
        "web",
        "train",
        "inspect",
    }
    assert {path.stem for path in LOCKS} == extras | {"core", "dev", "models"}


def test_the_locks_know_what_the_project_asks_for() -> None:
    core = locked(REPOSITORY / "requirements" / "core.txt")
    asked = [
        re.match(r"[\w-]+", need)[0]
        for need in metadata.requires("reelbench") or []
        if "extra ==" not in need
    ]
    assert set(asked) <= set(core)
    assert sys.version_info >= (3, 11)
