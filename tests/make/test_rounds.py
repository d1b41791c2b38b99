"""Rounds go on until a quota is full or nothing new comes; what they asked is not asked again."""

import asyncio
import json
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from parts import Studio, never, recipe_of
from servers import Reply, completion
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.client.client import Stopped
from reelbench.data.items import Item
from reelbench.make.parts.rounds import RoundOutcome, RoundState, rounds
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline
from reelbench.make.pipeline.stage import BatchStage, Rejected, Undecided
from reelbench.make.pipeline.store import RowResult

WORDS = {"type": "object", "properties": {"words": {"type": "array"}}, "required": ["words"]}
MODELS = {"writer": ["pen"]}


class Category(msgspec.Struct, frozen=True):
    id: str


class Video(msgspec.Struct, frozen=True):
    id: str
    by: str


async def expand(
    rows: Sequence[Category], ctx: StageContext, state: RoundState, *, most_words: int
) -> RoundOutcome:
    """Ask for words that are not among the last ones; each finds the video of its name."""
    (category,) = rows
    prompt = f"{most_words} words of {category.id}, not {state.memory}"
    reply = await ctx.json("writer", prompt, WORDS, round=state.number)
    found = {video.id: video for video in state.made.get(category.id, ())}
    for word in reply.data["words"]:
        found.setdefault(word, Video(id=word, by=f"round {state.number}"))
    return RoundOutcome({category.id: list(found.values())}, reply.data["words"])


def searching(one_round: Any = expand, **limits: Any) -> BatchStage:
    return rounds(
        one_round, input=Category, output=Video, name="search", roles=("writer",),
        group=lambda row: row.id, parameters={"most_words": 3}, **limits,
    )  # fmt: skip


def saying(*replies: Sequence[str]) -> Any:
    """Words by round, for each category; none after the last."""
    asked: dict[str, int] = {}

    def answer(body: Any, _number: int) -> Reply:
        prompt = body["messages"][0]["content"][0]["text"]
        name = prompt.split(" of ")[1].split(",")[0]
        asked[name] = asked.get(name, 0) + 1
        words = replies[asked[name] - 1] if asked[name] <= len(replies) else ()
        return completion(json.dumps({"words": [f"{name}-{word}" for word in words]}))

    return answer


ROWS = [Category("art"), Category("film")]


def take(
    folder: Path, answer: Any, stage: BatchStage, rows: Any = ROWS
) -> tuple[Any, list[str], int]:
    """What came of each row, the notes, and how often was asked."""
    notes: list[str] = []

    async def through(ctx: StageContext) -> Any:
        passed = await Pipeline(recipe_of(stage), ctx, ctx.store).take(rows)
        notes.extend(ctx.notes)
        return passed[0]

    passed, server = Studio(folder, answer, MODELS).with_context(through)
    return passed, notes, len(server.requests)


class TestRounds:
    def test_end_when_the_quota_is_full(self, tmp_path: Path) -> None:
        passed, notes, asked = take(tmp_path, saying("ab", "cd", "ef"), searching(quota=3))
        assert [row.id for row in passed.out] == [
            "art-a", "art-b", "art-c", "art-d", "film-a", "film-b", "film-c", "film-d",
        ]  # fmt: skip
        assert asked == 4
        assert notes == []

    def test_end_when_nothing_new_comes_and_say_what_lacks(self, tmp_path: Path) -> None:
        answer = saying("ab", "a", "bc", "a", "b", "d")
        passed, notes, asked = take(tmp_path, answer, searching(quota={"art": 5}, quiet=2))
        assert [row.id for row in passed.results[0].rows] == ["art-a", "art-b", "art-c"]
        assert passed.out[2] == Video(id="art-c", by="round 3")
        assert asked == 10, "five rounds each: the second is quiet and the third is not"
        assert notes == ["search: 3 of 5 rows of art: 2 rounds in a row brought nothing new"]

    def test_end_after_the_most(self, tmp_path: Path) -> None:
        answer = saying("a", "b", "c", "d")
        passed, notes, asked = take(tmp_path, answer, searching(most=2, quota=9), ROWS[:1])
        assert (len(passed.out), asked) == (2, 2)
        assert notes == ["search: 2 of 9 rows of art: the most rounds (2) were done"]

    def test_end_by_findings_where_rows_are_written_anew(self, tmp_path: Path) -> None:
        """A quality loop: it ends after two rounds without a new kind of failure."""
        kinds = [("narrator",), ("stem", "narrator"), ("stem",), (), ("clips",)]

        async def improve(
            rows: Sequence[Item], _ctx: StageContext, state: RoundState
        ) -> RoundOutcome:
            rules = [*(state.memory or []), *kinds[state.number - 1]]
            made = {row.id: [msgspec.structs.replace(row, question=f"by {rules}")] for row in rows}
            return RoundOutcome(made, rules, kinds[state.number - 1])

        loop = rounds(improve, input=Item, output=Item, quiet=2)
        (passed,), _ = Studio(tmp_path).take([make_item(1), make_item(2)], loop)
        assert [row.id for row in passed.out] == ["q-1", "q-2"]
        assert passed.out[0].question == "by ['narrator', 'stem', 'narrator', 'stem']"

    def test_that_bring_nothing_reject_the_row(self, tmp_path: Path) -> None:
        passed, _, _ = take(tmp_path, saying(), searching(), ROWS[:1])
        assert passed.results[0].rejected.reason == "nothing made"
        assert passed.results[0].rejected.detail == "1 round: 1 round in a row brought nothing new"

    @pytest.mark.parametrize("limits", [{"quiet": 0}, {"most": 0}])
    def test_that_could_never_be_are_refused(self, limits: Any) -> None:
        with pytest.raises(ReelbenchError, match=r"search\.(quiet|most) is 0"):
            searching(**limits)


class TestWhatRoundsAsked:
    def test_is_kept_with_what_was_said(self, tmp_path: Path) -> None:
        stage = searching(quota=9)
        first = take(tmp_path, saying("ab"), stage)
        again = take(tmp_path, never, stage)
        assert again[0].out == first[0].out
        assert again[1] == first[1] != []

    def test_is_in_the_journal_when_a_later_round_fails(self, tmp_path: Path) -> None:
        working = saying("ab", "cd")

        def failing(body: Any, number: int) -> Reply:
            return working(body, number) if number < 3 else (500, {}, b"{}")

        passed, _, asked = take(tmp_path, failing, searching(quota=4))
        assert asked == 4
        fates = [type(result) for result in passed.results]
        assert set(fates) == {RowResult, Undecided}, "one group alone is undecided"
        passed, _, asked = take(
            tmp_path, lambda *_: completion('{"words": ["y", "z"]}'), searching(quota=4)
        )
        assert asked == 1
        assert len(passed.out) == 8

    def test_is_in_the_journal_when_another_group_is_stopped(self, tmp_path: Path) -> None:
        """One group would ask again and is stopped; the other one's call is under way."""
        stops: list[tuple[asyncio.AbstractEventLoop, Any]] = []
        stopped, working = threading.Event(), saying("ab")

        async def one_round(rows: Any, ctx: StageContext, state: Any, **more: Any) -> RoundOutcome:
            stops.append((asyncio.get_running_loop(), ctx.client.stop))
            try:
                return await expand(rows, ctx, state, **more)
            except Stopped:
                stopped.set()
                raise

        def answer(body: Any, number: int) -> Reply:
            if " of film," in body["messages"][0]["content"][0]["text"]:
                assert stopped.wait(100)
                time.sleep(0.1)  # in which nobody may give it up
            else:
                loop, stop = stops[0]
                loop.call_soon_threadsafe(stop)
            return working(body, number)

        with pytest.raises(KeyboardInterrupt):
            take(tmp_path, answer, searching(one_round, quota=3))
        passed, _, asked = take(tmp_path, never, searching(quota=2))
        assert (asked, len(passed.out)) == (0, 4)

    def test_is_asked_again_where_a_parameter_is_another(self, tmp_path: Path) -> None:
        take(tmp_path, saying("ab"), searching(quota=2))
        assert take(tmp_path, never, searching(quota=1))[0].out
        stage = searching(quota=2)
        other = replace(stage, parameters={**stage.parameters, "most_words": 4})
        assert take(tmp_path, saying("ab"), other)[2] == 2


class TestABatchStageThatAsks:
    async def _ask(self, items: Sequence[Item], ctx: StageContext) -> list[Any]:
        said = await ctx.json("writer", f"about {len(items)}", WORDS)
        return [
            Rejected("odd", said.data["words"][0])
            if item.id == "q-2"
            else [item, msgspec.structs.replace(item, id=f"{item.id}b")]
            for item in items
        ]

    def test_is_kept_whole(self, tmp_path: Path) -> None:
        rows = [make_item(1), make_item(2)]
        stage = BatchStage(name="b", input=Item, output=Item, work=self._ask, roles=("writer",))
        for answer in (lambda *_: completion('{"words": ["w"]}'), never):
            (passed,), _ = Studio(tmp_path, answer, MODELS).take(rows, stage)
            assert [row.id for row in passed.out] == ["q-1", "q-1b"]
            result = passed.results[1]
            assert isinstance(result, RowResult)
            assert result.rejected is not None
            assert result.rejected.detail == "w"
        again = Studio(tmp_path / "other", lambda *_: completion('{"words": ["w"]}'), MODELS)
        assert len(again.take(rows, stage)[1].requests) == 1

    def test_that_fails_leaves_all_undecided_and_nothing_kept(self, tmp_path: Path) -> None:
        stage = BatchStage(name="b", input=Item, output=Item, work=self._ask, roles=("writer",))
        (passed,), _ = Studio(tmp_path, lambda *_: (500, {}, b"{}"), MODELS).take(
            [make_item(1)], stage
        )
        assert isinstance(passed.results[0], Undecided)
        (passed,), _ = Studio(tmp_path, lambda *_: completion('{"words": ["w"]}'), MODELS).take(
            [make_item(1)], stage
        )
        assert len(passed.out) == 2
