"""What a run would refuse of the media, lint has said before: both take the same way."""

import random
from pathlib import Path
from typing import Any

import pytest
from servers import completion, serving
from support import blind_benchmark, make_item
from videos import make_video

from reelbench.data.benchmark import Benchmark
from reelbench.data.items import Item, Media
from reelbench.evaluate.run import run_benchmark
from reelbench.lint.lint import lint_benchmark


def benchmark_of(root: Path, *media: Media, **protocol: Any) -> Benchmark:
    items = (make_item(number, media=(one,)) for number, one in enumerate(media, 1))
    return blind_benchmark(root, *items, **{"sampling": "uniform:4", **protocol})


def refused(benchmark: Benchmark, out: Path) -> set[str]:
    """The questions that a run could not ask."""
    with serving(lambda *_: completion("A")) as server:
        card = out.with_suffix(".yaml")
        card.write_text(f"{{name: far, endpoint: '{server.url}', hears: true, retries: 0}}")
        failures = run_benchmark(benchmark, [str(card)], out).failures
    return {failure["id"] for failure in failures}


def found(root: Path) -> set[str]:
    tags = {"MISSING_MEDIA", "UNREADABLE_MEDIA", "WINDOW_PAST_END"}
    return {finding.item for finding in lint_benchmark(root).findings if finding.tag in tags}


def damaged(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data))
    if rng.random() < 0.3:
        return data[:place]
    noise = rng.randbytes(rng.choice([1, 16, 400]))
    return data[:place] + noise + data[place + len(noise) :]


@pytest.mark.parametrize("modalities", ["V+T", "A+T"])
def test_every_medium_that_a_run_refuses_is_found(modalities: str, tmp_path: Path) -> None:
    root = tmp_path / "b"
    (root / "media").mkdir(parents=True)
    for name in ("a.mp4", "b.avi"):
        codec = "libx264" if name == "a.mp4" else "mpeg4"
        path = make_video(root / "media" / name, codec, {"g": "10"}, seconds=1, sound=1)
        for number in range(12):
            broken = damaged(path.read_bytes(), random.Random(f"{name} {number}"))
            (root / "media" / f"{number}-{name}").write_bytes(broken)
    (root / "media" / "list.mp4").write_text("#EXTM3U\n#EXTINF:1,\na.mp4\n")
    (root / "media" / "empty.mp4").touch()
    paths = sorted(f"media/{path.name}" for path in (root / "media").iterdir())
    media = [*map(Media, paths), Media("media/absent.mp4"), Media("media/a.mp4", 0.2, 9.0)]
    benchmark = benchmark_of(root, *media, modalities=modalities)
    lost = refused(benchmark, tmp_path / "run")
    assert 10 < len(lost) < len(media)
    told = found(root)
    assert lost <= told
    # Nothing is wrong with the two whole files, each used once for all it holds.
    whole = {f"q-{paths.index(f'media/{name}') + 1}" for name in ("a.mp4", "b.avi")}
    assert not whole & told


@pytest.mark.parametrize("text", ["Dear diary.", "\xff\xfe".encode("latin-1")])
def test_broken_subtitles_are_found_by_every_item_that_has_them(
    text: str | bytes, tmp_path: Path
) -> None:
    root = tmp_path / "b"
    (root / "media").mkdir(parents=True)
    make_video(root / "media" / "a.mp4", seconds=1)
    (root / "media" / "a.srt").write_bytes(text if isinstance(text, bytes) else text.encode())
    benchmark_of(root, Media("media/a.mp4"), Media("media/a.mp4", 0.0, 0.5))
    findings = [f for f in lint_benchmark(root).findings if f.tag == "UNREADABLE_MEDIA"]
    assert [finding.item for finding in findings] == ["q-1", "q-2"]
    assert all("media/a.srt: " in finding.message for finding in findings)


def test_what_lint_decoded_a_run_need_not_decode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "b"
    (root / "media").mkdir(parents=True)
    make_video(root / "media" / "a.mp4", seconds=1)
    benchmark = benchmark_of(root, Media("media/a.mp4"))
    assert found(root) == set()
    monkeypatch.setattr("reelbench.media.decode.frames._decode", None)  # whoever calls it fails
    assert refused(benchmark, tmp_path / "run") == set()


def test_a_file_that_is_cut_is_told_even_where_it_is_accepted(tmp_path: Path) -> None:
    root = tmp_path / "b"
    (root / "media").mkdir(parents=True)
    options = {"movflags": "+faststart"}
    path = make_video(root / "media" / "a.mp4", seconds=1, container=options)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    item: Item = make_item(1, media=(Media("media/a.mp4"),))
    benchmark = blind_benchmark(root, item, sampling="uniform:2", accept_damage=True)
    assert refused(benchmark, tmp_path / "run") == set()
    assert found(root) == {"q-1"}
