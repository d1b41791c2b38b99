"""What tests of annotating share: small films, workers, operators of our own."""

from collections.abc import Iterator
from pathlib import Path

import operators_for_tests as ours
import pytest
from annotating import Given, Start
from operators_for_tests import perform_with_these
from support import starting
from videos import make_video

from reelbench.annotate import registry
from reelbench.engine.local import LocalEngine


@pytest.fixture(scope="session")
def films(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Small videos, all different; copy them."""
    folder = tmp_path_factory.mktemp("films")
    return [
        make_video(folder / f"{n}.mp4", seconds=0.4 + n / 5, rate=5, sound=0.4) for n in range(8)
    ]


@pytest.fixture(scope="session")
def engine() -> Iterator[LocalEngine]:
    engine = LocalEngine(2)
    yield engine
    engine.close()


@pytest.fixture
def operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let our operators be among those that there are."""
    names = dict(registry.OPERATORS)
    ours.register(names)
    monkeypatch.setattr(registry, "OPERATORS", names)


@pytest.fixture
def given(tmp_path: Path, films: list[Path], engine: LocalEngine, operators: None) -> Given:
    return Given(tmp_path, films, engine)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start commands as processes that begin at once; what they say is in ``told``."""
    with starting(perform_with_these, tmp_path / "told") as started:
        yield started
