"""What tests of the review pages need: a browser, a small benchmark, a running server."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from review.databases import PostgresServer, postgresql_programs
from review.serving import ServedReview, served


@pytest.fixture
def page(chrome: Any) -> Iterator[Any]:
    """A fresh page at 1280 x 800; what its scripts complain of fails the test."""
    context = chrome.new_context(viewport={"width": 1280, "height": 800})
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []


@pytest.fixture
def benchmark(small_demo: Path, tmp_path: Path) -> Path:
    """A benchmark with real videos that a test may change."""
    return Path(shutil.copytree(small_demo / "benchmark", tmp_path / "benchmark"))


@pytest.fixture
def review(benchmark: Path) -> Iterator[ServedReview]:
    """A server for one person, with the general protocols."""
    with served(benchmark, "--local") as running:
        yield running


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresServer]:
    """A PostgreSQL server of our own; one for all tests of a process."""
    programs = postgresql_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (on Debian: apt-get install postgresql)")
    # Not among pytest's folders, which are closed to the ordinary user whom it runs as; in memory
    # where that is possible, for a process that is killed loses nothing of it.
    memory = Path("/dev/shm")
    where = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory("reelbench", dir=where, ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        server = PostgresServer(programs, Path(name) / "server")
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_words(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The words that name the database of a server: none for SQLite, or one of PostgreSQL."""
    if request.param == "sqlite":
        return ()
    server: PostgresServer = request.getfixturevalue("postgresql")
    return "--database", server.database()
