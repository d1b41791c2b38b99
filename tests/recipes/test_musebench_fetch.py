"""Essays are brought into the folder within the limits; what cannot be fetched stops no other."""

import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from essays import rejected, take
from parts import Studio, recipe_of
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.forecast import DryRunClient, DryRunContext, DryRunPipeline
from reelbench.make.pipeline.stage import RowStage
from reelbench.media.digests import media_digest
from reelbench.media.errors import MediaError
from reelbench.recipes.musebench.fetch import fetch
from reelbench.recipes.musebench.rows import Essay
from reelbench.recipes.musebench.segments import clips_of, segment

SUBTITLES = "1\n00:00:00,100 --> 00:00:00,900\nSomething.\n"
SECONDS = 3.0


def download(url: str, folder: Path, name: str, _source: Path) -> Path:
    """Fetch a file with its subtitles, as a downloader does."""
    try:
        with urlopen(url) as there:
            (folder / f"{name}.mp4").write_bytes(there.read())
    except URLError as error:
        raise MediaError(url, f"cannot be downloaded: {error.reason}") from error
    (folder / f"{name}.vtt").write_text(f"WEBVTT\n\n{SUBTITLES}")
    return folder / f"{name}.mp4"


def stage(**limits: Any) -> RowStage:
    plain = fetch(download=download)
    return replace(plain, parameters={**plain.parameters, **limits})


def essay(name: str = "e1", file: str = "films/a.mp4", **fields: Any) -> Essay:
    return Essay(**{"id": name, "file": file, "category": "Game Arts", **fields})


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder, with a source of one video."""
    source = tmp_path / "source" / "films"
    source.mkdir(parents=True)
    make_video(source / "a.mp4", seconds=SECONDS, sound=SECONDS, rate=5)
    return tmp_path


def results(out: Path, *rows: Essay, **limits: Any) -> list[Any]:
    (passed,), _ = take(out, rows, stage(**limits))
    return list(passed.results)


def fetched(out: Path, **limits: Any) -> Essay:
    (made,) = results(out, essay(), **limits)
    assert made.rejected is None, made.rejected.detail
    (row,) = made.rows
    assert isinstance(row, Essay)
    return row


def test_a_file_is_linked_with_the_subtitles_beside_it(out: Path) -> None:
    there = out / "source" / "films" / "a.srt"
    there.write_text(SUBTITLES)
    made = fetched(out)
    assert made.file == made.clip == "make/essays/e1.mp4"
    assert (out / made.file).samefile(out / "source" / "films" / "a.mp4")
    assert (out / "make" / "essays" / "e1.srt").read_text() == SUBTITLES
    assert made.sha256 == media_digest(out / made.file)
    assert (made.seconds, made.flags) == (SECONDS, ())
    there.unlink()
    fetched(out)
    assert not (out / "make" / "essays" / "e1.srt").exists(), "it is no longer in the source"


def test_where_links_cannot_be_made_the_file_is_copied(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("another disk")

    monkeypatch.setattr(os, "link", refuse)
    made = fetched(out)
    there = out / "source" / "films" / "a.mp4"
    assert (out / made.file).read_bytes() == there.read_bytes()
    assert not (out / made.file).samefile(there)
    assert os.listdir((out / made.file).parent) == ["e1.mp4"]


def test_what_was_fetched_is_fetched_again_only_where_it_is_gone(out: Path) -> None:
    made = fetched(out)
    (out / made.file).unlink()
    assert fetched(out) == made
    assert (out / made.file).is_file()


def test_dead_links_and_missing_files_are_left_out_by_name_and_tried_again(out: Path) -> None:
    url = (out / "source" / "films" / "a.mp4").as_uri()
    rows = [
        essay("dead", "", url=url.replace("a.mp4", "b.mp4")),
        essay("absent", "films/none.mp4"),
        essay("outside", "../a.mp4"),
        essay("nowhere", ""),
        essay("alive", "", url=url),
    ]
    left = out / "make" / "essays" / ".download-alive"  # by a process that was killed
    left.mkdir(parents=True)
    (left / "alive.srt").write_text(SUBTITLES)
    *lost, alive = results(out, *rows)
    whys = [rejected(each) for each in lost]
    assert {reason for reason, _ in whys} == {"media"}
    for (_, detail), words in zip(
        whys, ("cannot be downloaded", "no such file", "not inside the source", "neither"),
        strict=True,
    ):  # fmt: skip
        assert words in detail
    assert [row.file for row in alive.rows] == ["make/essays/alive.mp4"]
    assert sorted(os.listdir(out / "make" / "essays")) == ["alive.mp4", "alive.vtt"]
    make_video(out / "source" / "films" / "b.mp4", seconds=1, sound=1, rate=5)
    (again, *_) = results(out, *rows)
    assert [row.id for row in again.rows] == ["dead"]


@pytest.mark.parametrize(("longest", "flags"), [
    (SECONDS, ()),
    (SECONDS + 0.001, ()),
    (SECONDS - 0.001, ("truncated at 2.999 s",)),
    (2.0, ("truncated at 2 s",)),
])  # fmt: skip
def test_what_is_over_the_longest_duration_is_truncated_or_refused(
    longest: float, flags: tuple[str, ...], out: Path
) -> None:
    made = fetched(out, longest=longest)
    assert (made.seconds, made.flags) == (min(SECONDS, longest), flags)
    assert made.curation["fetched"]["seconds"] == SECONDS
    (refused,) = results(out, essay(), longest=longest, over="refuse")
    if not flags:
        assert refused.rejected is None
        return
    assert rejected(refused) == ("too long", f"3 s, and {longest:g} s are allowed")
    assert refused.rejected.facts == {"seconds": SECONDS}


@pytest.mark.parametrize(("limits", "why"), [
    ({"least_height": 180, "most_height": 180}, ""),
    ({"least_height": 181}, "height is 180, and 181 to 4320 are allowed"),
    ({"most_height": 179}, "height is 180, and 144 to 179 are allowed"),
    ({"least_channels": 2}, "channels is 1, and 2 to 8 are allowed"),
    ({"most_channels": 0, "least_channels": 0}, "channels is 1, and 0 to 0 are allowed"),
])  # fmt: skip
def test_resolution_and_channels_have_limits(limits: dict[str, Any], why: str, out: Path) -> None:
    (made,) = results(out, essay(), **limits)
    assert (rejected(made)[1] if made.rejected else "") == why


def test_a_video_without_sound_is_refused(out: Path) -> None:
    make_video(out / "source" / "films" / "a.mp4", seconds=1, rate=5)
    (made,) = results(out, essay())
    assert rejected(made)[1] == "channels is 0, and 1 to 8 are allowed"


@pytest.mark.parametrize(("limits", "why"), [
    ({"over": "cut"}, r"fetch\.over is 'cut': give truncate or refuse"),
    ({"longest": 0.0}, r"fetch\.longest must be more than 0"),
    ({"least_height": 721, "most_height": 720}, r"fetch\.least_height must be from 0 to most"),
])  # fmt: skip
def test_limits_that_cannot_be_are_refused_before_anything(
    limits: dict[str, Any], why: str
) -> None:
    with pytest.raises(ReelbenchError, match=why):
        stage(**limits)


def test_a_forecast_knows_the_clips_of_what_is_not_fetched_yet(out: Path) -> None:
    async def through(ctx: StageContext) -> Any:
        client = DryRunClient(ctx.client.journal, {})
        dry = DryRunContext(ctx.source, ctx.out, ctx.store, client, {}, ctx.prompts, 0)
        recipe = recipe_of(stage(longest=2.5), segment(seconds=1.0, least=0.5))
        pipeline = DryRunPipeline(recipe, dry, ctx.store, client, {})
        url = essay("later", "", url="https://videos.example/1")
        return await pipeline.take([essay(), url]), dry.notes

    (passed, notes), _ = Studio(out).with_context(through)
    assert [row.clips for row in passed[-1].out] == [((0.0, 1.0), (1.0, 2.0), (2.0, 2.5))]
    assert notes == ["essays that are still to be downloaded are not in the forecast of calls"]
    assert not (out / "make").exists()


@pytest.mark.parametrize(("seconds", "count", "last"), [
    (1800.0, 180, (1790.0, 1800.0)),
    (1800.9, 180, (1790.0, 1800.0)),
    (20.999, 2, (10.0, 20.0)),
    (21.0, 3, (20.0, 21.0)),
    (29.99, 3, (20.0, 29.99)),
    (9.5, 1, (0.0, 9.5)),
])  # fmt: skip
def test_clips_have_ten_seconds_and_the_last_what_is_left(
    seconds: float, count: int, last: tuple[float, float]
) -> None:
    clips = clips_of(seconds, 10.0, 1.0)
    assert (len(clips), clips[-1]) == (count, last)
    assert all(before[1] == after[0] for before, after in pairwise(clips))


def test_an_essay_shorter_than_a_clip_is_rejected(tmp_path: Path) -> None:
    (passed,), _ = take(tmp_path, [Essay(id="e1", seconds=0.9)], segment())
    assert rejected(passed.results[0])[0] == "too short"
