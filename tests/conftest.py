"""What several tests need: items, benchmarks on disk, a small demo, the command line."""

import fcntl
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import NEVER
from hypothesis import HealthCheck, settings
from support import reelbench

from reelbench.base import progress
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
        # The workers fill the cores: threads of each would wait for one another, and spin.
        # What must not depend on their number sets it (test_intervals.py, test_scores_file.py).
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ.setdefault(name, "1")
        # Who starts this in the background lets it ignore Ctrl-C, and all that it starts inherits
        # that; what tests stop that way would go on.
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for nothing to free while tests are collected, nor ever again among what that left.

    Each process does it, and half of its time went into walking through objects that all stay.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


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
    return demo_of(6, tmp_path_factory)


@pytest.fixture(scope="session")
def tiny_demo(small_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo of the first two videos of the small one. Read it, do not write to it."""
    return demo_of(2, tmp_path_factory, small_demo / "benchmark")


def demo_of(
    videos: int, tmp_path_factory: pytest.TempPathFactory, larger: Path | None = None
) -> Path:
    """Make a demo that all test processes share; from the videos of a larger one, if there is one."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    out = shared / f"demo of {videos}"
    with (shared / f"demo-{videos}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out / "run" / "report.html").exists():
            for part in ("media", "truth") if larger else ():
                shutil.copytree(larger / part, out / "benchmark" / part)
            for name in ("items.jsonl", "benchmark.yaml") if larger else ():
                shutil.copy(larger / name, out / "benchmark")
            done = reelbench("demo", "--videos", videos, "--out", out)
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


@pytest.fixture(scope="module")
def chrome(chromium: str) -> Iterator[Any]:
    """The system's Chromium, driven by Playwright, for the tests of a module.

    Not for longer: while Playwright is on, nothing else in this thread can use asyncio.
    """
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)  # a page that is as it should be is not waited for
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--autoplay-policy=no-user-gesture-required"]  # fmt: skip
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=quiet)
        for name in ("new_context", "new_page"):
            setattr(browser, name, patient(getattr(browser, name)))
        yield browser
        browser.close()


def patient(opening: Callable[..., Any]) -> Callable[..., Any]:
    """Let what is opened in a browser wait for a busy machine as long as everything else does."""

    def opened(**options: Any) -> Any:
        made = opening(**options)
        made.set_default_timeout(120_000)
        return made

    return opened


# How fast a machine is decides nothing: nor what commands say, which are silent for ten seconds.
progress._LINE_SECONDS = NEVER
settings.register_profile("calm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calm")
