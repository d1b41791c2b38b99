"""Rows go through stages in order, many at once; a fault or a stop loses nothing that was done."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from parts import Studio, by_turns, never, recipe_of
from servers import Reply, completion
from stages import IDS, ROWS, Worker, raising, results, stage
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline, StageResult
from reelbench.make.pipeline.stage import BatchStage, Rejected, Stage, Undecided
from reelbench.make.pipeline.store import open_store


class TestWhatGoesWrong:
    def test_two_rows_of_one_id_are_named_with_the_stage(self, tmp_path: Path) -> None:
        with pytest.raises(
            ReelbenchError, match="Two rows have the id 'q-1' before the stage work"
        ):
            results(tmp_path, stage(), rows=[ROWS[0], ROWS[1], ROWS[0]])

    def test_two_that_a_stage_made_are_named_with_the_next(self, tmp_path: Path) -> None:
        twice = Worker(lambda item: [item, item])
        told = "Two rows have the id 'q-1' before the stage next"
        with pytest.raises(ReelbenchError, match=told):
            results(tmp_path, stage(twice), stage(name="next"))

    @pytest.mark.parametrize("error", [ValueError("a bug"), AssertionError("no"), KeyError("x")])
    def test_a_bug_comes_through_and_leaves_the_store_whole(
        self, error: Exception, tmp_path: Path
    ) -> None:
        async def work(item: Item, _ctx: StageContext) -> list[Item]:
            if item.id == "q-3":
                await asyncio.wait_for(before_it.wait(), 100)
                raise error
            finished.append(item.id)
            if len(finished) == 2:
                before_it.set()
            return [item]

        finished: list[str] = []
        before_it = asyncio.Event()
        with pytest.raises(type(error)):
            results(tmp_path, stage(work))
        again = Worker()
        assert [row.rows[0].id for row in results(tmp_path, stage(again))] == IDS
        assert again.done == ["q-3"]

    def test_a_sentence_of_a_stage_ends_the_make(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match="no context"):
            results(tmp_path, stage(raising(ReelbenchError("no context"), "q-2")))

    def test_rows_that_json_does_not_have_leave_the_store_whole(self, tmp_path: Path) -> None:
        bad = Worker(lambda item: [msgspec.structs.replace(item, extra={"n": float("nan")})])
        with pytest.raises(ValueError, match="JSON"):
            results(tmp_path, stage(bad))
        again = Worker()
        results(tmp_path, stage(again))
        assert again.done == IDS


class TestStopping:
    def test_keeps_what_was_done_and_goes_on_from_there(self, tmp_path: Path) -> None:
        async def work(item: Item, ctx: StageContext) -> list[Item]:
            done.append(item.id)
            if item.id == "q-2":
                ctx.client.stop()
            return [item]

        done: list[str] = []
        with pytest.raises(KeyboardInterrupt):
            results(tmp_path, stage(work))
        with open_store(tmp_path / "rows.sqlite"):
            pass  # it was closed in order
        again = Worker()
        assert len(results(tmp_path, stage(again))) == 3
        assert sorted(again.done + done) == IDS

    def test_begins_no_other_rows_and_no_other_stage(self, tmp_path: Path) -> None:
        async def work(item: Item, ctx: StageContext) -> list[Item]:
            begun.append(item.id)
            ctx.client.stop()
            return [item]

        begun: list[str] = []
        following = Worker()
        rows = [make_item(number) for number in range(200)]
        with pytest.raises(KeyboardInterrupt):
            results(tmp_path, stage(work), stage(following, name="next"), rows=rows)
        assert len(begun) <= 64
        assert following.done == []

    def test_pays_for_no_other_call_and_loses_none(self, tmp_path: Path) -> None:
        async def ask(item: Item, ctx: StageContext) -> list[Item]:
            stops.append((asyncio.get_running_loop(), ctx.client.stop))
            said = await ctx.text("writer", f"About {item.id}")
            return [msgspec.structs.replace(item, question=said)]

        def answer(_: Any, number: int) -> Reply:
            if number == 1:
                loop, stop = stops[0]
                loop.call_soon_threadsafe(stop)
            return completion(f"reply {number}")

        stops: list[tuple[asyncio.AbstractEventLoop, Callable[[], None]]] = []
        models = {"writer": [{"name": "pen", "connections": 1}]}
        rows = [make_item(number) for number in range(5)]
        asking = stage(ask, roles=("writer",))
        with pytest.raises(KeyboardInterrupt):
            Studio(tmp_path, answer, models).take(rows, asking)
        (passed,), server = Studio(tmp_path, by_turns("later"), models).take(rows, asking)
        assert [row.question for row in passed.out] == ["reply 0", "reply 1", *["later"] * 3]
        assert len(server.requests) == 3


class TestOrder:
    def test_of_what_comes_out_is_that_of_what_went_in(self, tmp_path: Path) -> None:
        """Each row waits for the one behind it, so that the last is done first."""

        async def work(item: Item, _ctx: StageContext) -> list[Item]:
            number = int(item.id.removeprefix("q-"))
            if number + 1 < len(rows):
                await asyncio.wait_for(finished[number + 1].wait(), 100)
            order.append(number)
            finished[number].set()
            return [item]

        rows = [make_item(number) for number in range(10)]
        finished = [asyncio.Event() for _ in rows]
        order: list[int] = []
        (passed,), _ = Studio(tmp_path).take(rows, stage(work))
        assert order == list(range(9, -1, -1))
        assert passed.out == rows
        assert list(passed.rows) == rows

    def test_holds_beside_what_is_known_rejected_and_undecided(self, tmp_path: Path) -> None:
        results(tmp_path, stage(), rows=ROWS[1:2])

        def make(item: Item) -> list[Item]:
            if item.id == "q-3":
                raise Rejected("dull")
            if item.id == "q-4":
                raise Undecided("error", "gone")
            return [item]

        rows = [make_item(number) for number in (5, 4, 3, 2, 1)]
        (passed,), _ = Studio(tmp_path).take(rows, stage(Worker(make)))
        kinds = ["U" if isinstance(r, Undecided) else "R" if r.rejected else "ok" for r in passed.results]  # fmt: skip
        assert kinds == ["ok", "U", "R", "ok", "ok"]
        assert [row.id for row in passed.out] == ["q-5", "q-2", "q-1"]

    def test_many_rows_are_worked_at_together_and_not_all(self, tmp_path: Path) -> None:
        async def work(item: Item, _ctx: StageContext) -> list[Item]:
            inside.add(item.id)
            most.append(len(inside))
            if len(inside) >= 32:
                enough.set()
            await asyncio.wait_for(enough.wait(), 100)
            inside.remove(item.id)
            return [item]

        inside: set[str] = set()
        most: list[int] = []
        enough = asyncio.Event()
        rows = [make_item(number) for number in range(150)]
        (passed,), _ = Studio(tmp_path).take(rows, stage(work))
        assert passed.out == rows
        assert 32 <= max(most) <= 64


class TestStages:
    def test_of_no_rows_do_nothing(self, tmp_path: Path) -> None:
        worker = Worker()
        passed, _ = Studio(tmp_path, never).take([], stage(worker), stage(worker, name="b"))
        assert [each.out for each in passed] == [[], []]
        assert worker.done == []

    def test_are_handed_their_parameters_by_name(self, tmp_path: Path) -> None:
        async def each(item: Item, ctx: StageContext, *, count: int, words: Any) -> list[Item]:
            got.append((count, words, ctx.seed))
            return [item]

        def all_of_them(
            items: Sequence[Item], ctx: StageContext, *, share: float
        ) -> Sequence[Item]:
            got.append((share, ctx.seed))
            return items

        got: list[Any] = []
        Studio(tmp_path, seed=7).take(
            ROWS[:1],
            stage(each, parameters={"count": 3, "words": ("a",)}),
            BatchStage(
                name="b", input=Item, output=Item, work=all_of_them, parameters={"share": 0.5}
            ),
        )
        assert got == [(3, ("a",), 7), (0.5, 7)]

    def test_are_told_of_as_they_begin(self, tmp_path: Path) -> None:
        class Telling(Pipeline):
            def begin(self, stage: Stage) -> None:
                begun.append(stage.name)

        async def through(ctx: StageContext) -> list[StageResult]:
            stages = recipe_of(stage(name="a"), stage(name="b"))
            return await Telling(stages, ctx, ctx.store).take(ROWS)

        begun: list[str] = []
        Studio(tmp_path).with_context(through)
        assert begun == ["a", "b"]
