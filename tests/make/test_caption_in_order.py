"""Captions of clips in their order: each is told what is said in it and what came before."""

import json
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from actors import said_to
from msgspec import Struct, structs
from parts import Studio, pictures, recipe_of
from servers import Reply, Server, completion
from videos import make_video

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Span
from reelbench.make.parts.caption_in_order import CaptionPlan, caption_in_order, narrative
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.forecast import DryRunClient, DryRunContext, DryRunPipeline
from reelbench.make.pipeline.stage import Rejected, Undecided

CLIPS: tuple[Span, ...] = ((0.0, 2.0), (2.0, 4.0), (4.0, 4.8))
SPEECH = (
    {"start": 0.2, "end": 1.0, "text": "Look at the fog."},
    {"start": 1.5, "end": 3.0, "text": "Here it lifts."},
    {"start": 4.0, "end": 4.5, "text": " "},
)


class Film(Struct, frozen=True):
    """A row with clips."""

    id: str
    clips: tuple[Span, ...] = CLIPS
    captions: str = ""


def plan(film: Film, ctx: StageContext) -> CaptionPlan:
    return CaptionPlan(ctx.out / f"{film.id}.mp4", film.clips, SPEECH, "Look for fog above all.")


def keep(film: Film, digest: str) -> Film:
    return structs.replace(film, captions=digest)


STAGE = caption_in_order(plan, keep, Film, size="long:64")
CAPTIONER = {"captioner": [{"name": "eye", "backoff": 0.01}]}


def number_of(prompt: str) -> int:
    return int(re.findall(r"frames of clip (\d+) of \d+", prompt)[0])


def telling(body: dict[str, Any], _: int) -> Reply:
    """Tell of each clip by its number."""
    prompt = said_to(body)
    text = f"The view of number {number_of(prompt)} is of a tower in the fog."
    return completion(json.dumps({"caption": text}))


def captioned(
    folder: Path,
    answer: Callable[..., Reply | None] = telling,
    films: Sequence[Film] = (Film("a"),),
    models: Any = CAPTIONER,
) -> tuple[Any, Server, list[Any]]:
    """Caption films; return also what is kept of those that passed."""
    folder.mkdir(exist_ok=True)
    for place, film in enumerate(films):
        make_video(folder / f"{film.id}.mp4", seconds=4.8 + place / 5, rate=5)
    studio = Studio(folder, answer, models)
    passed, server = studio.take(films, STAGE)

    async def kept(ctx: StageContext) -> list[Any]:
        return [json.loads(ctx.kept(film.captions)) for film in passed[0].out]

    return passed[0], server, studio.with_context(kept)[0]


def test_each_clip_is_shown_with_its_speech_and_all_captions_before(tmp_path: Path) -> None:
    _, server, (kept,) = captioned(tmp_path)
    first, second, third = map(said_to, server.requests)
    assert [number_of(prompt) for prompt in (first, second, third)] == [1, 2, 3]
    assert "Look at the fog.\nHere it lifts." in first
    assert "It is the first clip" in first
    assert "<narrative>" not in first
    assert "Look at the fog." not in second
    assert "Here it lifts." in second
    assert "<narrative>\nClip 1: The view of number 1" in second
    assert "Clip 1: The view of number 1" in third
    assert "Clip 2: The view of number 2" in third
    assert "(nothing is said)" in third
    assert all("Look for fog above all." in prompt for prompt in (first, second, third))
    assert [pictures(body) for body in server.requests] == [2, 2, 1]  # one a second
    assert [(each["clip"], each["start"], each["end"]) for each in kept] == [
        (number, *span) for number, span in enumerate(CLIPS, 1)
    ]
    assert kept[2]["caption"] == "The view of number 3 is of a tower in the fog."


def test_clips_of_one_video_wait_for_each_other_and_videos_do_not(tmp_path: Path) -> None:
    both = threading.Barrier(2, timeout=100)

    def answer(body: dict[str, Any], number: int) -> Reply:
        if number_of(said_to(body)) == 1:
            both.wait()  # breaks unless the other video is asked about meanwhile
        return telling(body, number)

    passed, server, kept = captioned(tmp_path, answer, [Film("a"), Film("b")])
    assert len(passed.out) == len(kept) == 2
    assert len(server.requests) == 6


def test_a_failed_call_leaves_the_video_undecided_and_the_rest_paid(tmp_path: Path) -> None:
    def fails(body: dict[str, Any], number: int) -> Reply:
        failing = number_of(said_to(body)) == 2
        return (500, {}, b"{}") if failing else telling(body, number)

    passed, server, _ = captioned(tmp_path, fails)
    (why,) = passed.results
    assert isinstance(why, Undecided)
    assert why.error.startswith("clip 2: ")
    assert len(server.requests) == 2
    _, server, (kept,) = captioned(tmp_path)
    assert [number_of(said_to(body)) for body in server.requests] == [2, 3]
    assert len(kept) == 3
    _, server, _ = captioned(tmp_path)
    assert not server.requests


def test_words_that_are_no_caption_reject_with_the_number_of_the_clip(tmp_path: Path) -> None:
    def answer(body: dict[str, Any], number: int) -> Reply:
        second = number_of(said_to(body)) == 2
        return completion("I see nothing.") if second else telling(body, number)

    passed, _, _ = captioned(tmp_path, answer)
    (result,) = passed.results
    assert isinstance(result.rejected, Rejected)
    assert result.rejected.reason == "no usable caption"
    assert result.rejected.detail.startswith("clip 2: ")


def test_who_does_not_see_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReelbenchError, match=r"blind cannot be the captioner.*sees: true"):
        captioned(tmp_path, models={"captioner": [{"name": "blind", "sees": False}]})


def test_a_forecast_counts_a_call_for_each_clip(tmp_path: Path) -> None:
    make_video(tmp_path / "a.mp4", seconds=4.8, rate=5)

    async def through(ctx: StageContext) -> Any:
        client = DryRunClient(ctx.client.journal, {})
        dry = DryRunContext(ctx.source, ctx.out, ctx.store, client, ctx.models, ctx.prompts, 0)
        pipeline = DryRunPipeline(recipe_of(STAGE), dry, ctx.store, client, {})
        await pipeline.take([Film("a")])
        return client.found

    ((found,), server) = Studio(tmp_path, models=CAPTIONER).with_context(through)
    assert (found.requests, server.requests) == (3, [])
    assert found.output_tokens == 3 * STAGE.expected_tokens


def words(number: int, count: int) -> str:
    return " ".join(f"w{number}-{place}" for place in range(count))


class TestTheNarrative:
    def test_holds_all_captions_while_they_fit(self) -> None:
        text = narrative([words(1, 30), words(2, 30)], 60)
        assert text == f"Clip 1: {words(1, 30)}\nClip 2: {words(2, 30)}"

    def test_shortens_the_oldest_first_and_only_as_many_as_it_must(self) -> None:
        lines = narrative([words(number, 30) for number in (1, 2, 3)], 80).splitlines()
        assert lines[0] == f"Clip 1: {words(1, 12)} ..."
        assert lines[1:] == [f"Clip {number}: {words(number, 30)}" for number in (2, 3)]

    def test_leaves_the_oldest_out_where_that_is_not_enough(self) -> None:
        lines = narrative([words(number, 30) for number in range(1, 6)], 60).splitlines()
        assert lines[0] == "(Clips 1 to 2 are left out.)"
        assert [line.split(":")[0] for line in lines[1:]] == ["Clip 3", "Clip 4", "Clip 5"]
        assert lines[-1] == f"Clip 5: {words(5, 30)}"

    @pytest.mark.parametrize("most", [1, 7, 29, 30, 31, 100, 500])
    def test_never_has_more_words_than_it_may(self, most: int) -> None:
        text = narrative([words(number, 30) for number in range(1, 12)], most)
        assert 1 <= len(re.findall(r"w\d+-\d+", text)) <= most
        assert "Clip 11: w11-0" in text
