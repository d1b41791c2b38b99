"""A real vision-language model, tiny and made of chance, in a folder."""

from pathlib import Path

import pytest
from support import blind_benchmark, make_item
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Media


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tiny import make_tiny  # which imports transformers: not before it may

    folder = tmp_path_factory.mktemp("model")
    make_tiny(folder)
    return folder


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    """Twelve questions about two videos."""
    root = tmp_path / "b"
    (root / "media").mkdir(parents=True)
    for name in ("a", "b"):
        make_video(root / "media" / f"{name}.mp4")
    items = [
        make_item(
            n, question=f"What happens {n} times?", media=(Media(f"media/{'ab'[n % 2]}.mp4"),)
        )
        for n in range(12)
    ]
    return blind_benchmark(root, *items, sampling="uniform:3", frame_size="long:64")
