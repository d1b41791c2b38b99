"""What several tests need: items, benchmarks on disk, a small demo, the command line."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support import reelbench

from reelbench.data.benchmark import items_text
from reelbench.data.items import Item
from reelbench.data.manifest import Manifest

pytest.register_assert_rewrite("filming", "writing")  # they assert for several tests


MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 4 * 2**30  # a whole run has held less than a tenth of it at a time


def in_memory() -> bool:
    """Whether the files of tests can be in memory, where no write waits for a disk.

    A process that is killed loses nothing of them; only a power cut would, which no test is about.
    """
    if not os.access(MEMORY, os.W_OK):
        return False
    found = os.statvfs(MEMORY)
    return found.f_bavail * found.f_frsize >= ENOUGH_BYTES and not found.f_flag & os.ST_NOEXEC


def pytest_configure(config: pytest.Config) -> None:
    """Give the whole test run a cache and a store of videos; the workers inherit them."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        if in_memory():
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
        where = os.environ.get("PYTEST_DEBUG_TEMPROOT")
        folder = tempfile.mkdtemp(prefix="reelbench-test-", dir=where)
        for name in ("CACHE", "TEST_VIDEOS"):
            os.environ[f"REELBENCH_{name}"] = os.path.join(folder, name.lower())
            os.mkdir(os.environ[f"REELBENCH_{name}"])
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Write a benchmark with these items into a fresh folder, and return the folder."""

    def save_items(*items: Item, **manifest: object) -> Path:
        root = tmp_path / "benchmark"
        root.mkdir(exist_ok=True)
        facts = {"name": "test", "version": "1"} | manifest
        # Not by Benchmark.save, which refuses what some tests are about.
        (root / "benchmark.yaml").write_text(Manifest(**facts).to_yaml())
        (root / "items.jsonl").write_text(items_text(items))
        return root

    return save_items


@pytest.fixture(scope="session")
def small_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo of six videos, made once for all test processes. Read it, do not write to it."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    out = shared / "small demo"
    with (shared / "small-demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out / "run" / "report.html").exists():
            done = reelbench("demo", "--videos", 6, "--out", out)
            assert done.returncode == 0, done.stderr
    return out


@pytest.fixture
def own_demo(small_demo: Path, tmp_path: Path) -> Path:
    """A copy of the small demo that a test may change, in a folder with an awkward name."""
    return Path(shutil.copytree(small_demo, tmp_path / "a démo with blanks"))


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser; `make test` installs it where it can."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("Chromium is not installed (on Debian: apt-get install chromium)")


# How fast a machine is decides nothing.
settings.register_profile("calm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calm")
