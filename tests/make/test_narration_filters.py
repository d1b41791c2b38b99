"""Questions that only the narration answers are found, and models without it never read it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from actors import said_to
from muse_writers import NARRATION, MuseWriters, make_clip, studio
from parts import Studio, pictures
from servers import Server
from support import make_item

from reelbench.data.items import Item, Media
from reelbench.make.page.facts import answerability
from reelbench.make.parts.filters import filter_above_chance
from reelbench.make.parts.narration_filters import filter_narrated, filter_transcript
from reelbench.make.pipeline.funnel import funnel_record
from reelbench.make.pipeline.run import StageResult

Chooser = Callable[[dict[str, str]], str]
KEY = "a dog barks"
READ, SEE = filter_transcript(lambda *_: NARRATION), filter_narrated(sampling="fps:1")


def item(number: int = 1, **fields: Any) -> Item:
    media = (Media("media/essay-1.mp4", 2.0, 4.0),)
    plain = {"media": media, "tags": {"category": "Game Arts"}, "context": {"text": NARRATION}}
    return make_item(number, **(plain | fields))


def right(options: Mapping[str, str]) -> str:
    return next(letter for letter, text in options.items() if text == KEY)


def mistaken(options: Mapping[str, str]) -> str:
    return next(letter for letter, text in options.items() if text != KEY)


def answered(
    folder: Path, reader: Chooser, watcher: Chooser, *stages: Any, hears: bool = False
) -> tuple[list[StageResult], Server]:
    make_clip(folder)
    models: dict[str, Any] = {
        "reader": ["reader"],
        "watcher": [{"name": "watcher", "hears": hears}],
        "blind": ["blind"],
    }
    writers = MuseWriters(answers={"reader": reader, "watcher": watcher, "blind": reader})
    place: Studio = studio(folder, writers, models=models)
    return place.take([item()], *(stages or (READ, SEE)))


class TestNarratorDependent:
    def test_known_from_the_narration_and_missed_with_the_clip(self, tmp_path: Path) -> None:
        passed, _ = answered(tmp_path, right, mistaken)
        (result,) = passed[-1].results
        assert result.rejected.reason == "narrator-dependent"
        assert result.rejected.detail == "0 of 5 answers are right"
        (flagged,) = passed[0].out
        assert flagged.provenance["transcript-only"]["flagged"] == "answered from the narration"

    @pytest.mark.parametrize(
        ("reader", "watcher"), [(right, right), (mistaken, mistaken), (mistaken, right)]
    )
    def test_anything_else_is_kept(self, tmp_path: Path, reader: Chooser, watcher: Chooser) -> None:
        passed, _ = answered(tmp_path, reader, watcher)
        assert len(passed[-1].out) == 1

    def test_reported_where_nothing_is_to_be_dropped(self, tmp_path: Path) -> None:
        stages = (READ, filter_narrated(drop=False))
        passed, _ = answered(tmp_path, right, mistaken, *stages)
        (kept,) = passed[-1].out
        assert kept.provenance["clip-only"]["flagged"] == "narrator-dependent"

    def test_nothing_fails_where_nobody_read_the_narration(self, tmp_path: Path) -> None:
        passed, _ = answered(tmp_path, right, mistaken, SEE)
        (kept,) = passed[-1].out
        assert kept.provenance["clip-only"]["right"] == 0

    def test_right_answers_that_guesses_would_give_are_no_knowledge(self, tmp_path: Path) -> None:
        passed, _ = answered(tmp_path, right, mistaken, filter_transcript(lambda *_: "", 1), SEE)
        assert len(passed[-1].out) == 1, "one right answer of four options is luck"

    @pytest.mark.parametrize(("missed", "kept"), [(0.4, 0), (0.39, 1)])
    def test_the_threshold_is_where_it_says(self, tmp_path: Path, missed: float, kept: int) -> None:
        asked: list[None] = []

        def twice(options: Mapping[str, str]) -> str:
            asked.append(None)
            return right(options) if len(asked) <= 2 else mistaken(options)

        passed, _ = answered(tmp_path, right, twice, READ, filter_narrated(missed=missed))
        assert len(passed[-1].out) == kept


class TestWhatIsShown:
    @pytest.mark.parametrize("hears", [False, True])
    def test_with_the_clip_nothing_of_the_narrator_is_sent(
        self, tmp_path: Path, hears: bool
    ) -> None:
        _, server = answered(tmp_path, right, right, hears=hears)
        bodies = [body for body in server.requests if body["model"] == "watcher"]
        assert len(bodies) == 5
        for body in bodies:
            assert pictures(body) == 2, "a frame a second of the item's two"
            assert "Quartz" not in str(body)
            assert ("A bell is heard" in said_to(body)) != hears, "words for who does not hear"

    def test_with_the_narration_no_picture_is(self, tmp_path: Path) -> None:
        _, server = answered(tmp_path, right, right)
        bodies = [body for body in server.requests if body["model"] == "reader"]
        assert all(NARRATION in said_to(body) and not pictures(body) for body in bodies)

    def test_another_transcript_of_the_clip_asks_again(self, tmp_path: Path) -> None:
        answered(tmp_path, right, right, SEE)
        make_clip(tmp_path)
        path = tmp_path / "media" / "essay-1.vtt"
        text = path.read_text()
        _, server = answered(tmp_path, right, right, SEE)
        assert server.requests == []
        path.write_text(text.replace("bell", "gong"))
        models: dict[str, Any] = {"watcher": ["watcher"]}
        writers = MuseWriters(answers={"watcher": right})
        _, server = studio(tmp_path, writers, models=models).take([item()], SEE)
        assert len(server.requests) == 5


def test_the_blind_rate_is_reported_with_its_interval_beside_chance(tmp_path: Path) -> None:
    rows = [
        item(number, media=(Media(f"media/{number}.mp4"),), question=f"A lamp {number}; why?")
        for number in range(12)
    ]
    first = MuseWriters(answers={"blind": lambda _: "A"})
    stage = filter_above_chance(4, drop=False)
    passed, _ = studio(tmp_path, first, models={"blind": ["blind"]}).take(rows, stage)
    (record,) = funnel_record(passed, ())["stages"]
    shown = record["answers"]
    assert shown["chance"] == 0.25
    low, high = shown["interval"]
    assert low < shown["right"] < high
    assert low < 0.25 < high, "always the same letter is right at chance level"
    assert record["by_category"]["Game Arts"]["answers"] == shown
    (page,) = answerability(passed)
    assert page.histograms[0].interval == (low, high)
