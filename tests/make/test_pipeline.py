"""Rows go through stages: what decides a result is in its key, and what is kept is not redone."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from parts import Studio, by_turns, never, recipe_of
from servers import Reply, completion
from support import make_item

from reelbench.errors import ReelbenchError
from reelbench.items import Item
from reelbench.make.desk import Desk
from reelbench.make.pipeline import Passed, Pipeline
from reelbench.make.stage import All, Each, Rejected, Stage, Undecided
from reelbench.make.store import Result, open_store
from reelbench.make.wording import Wording
from reelbench.media.errors import MediaError


class Worker:
    """Work that notes on which rows it was done."""

    def __init__(self, make: Callable[[Item], Any] = lambda item: [item]) -> None:
        self.done: list[str] = []
        self._make = make

    async def __call__(self, item: Item, _desk: Desk, **_: Any) -> Any:
        self.done.append(item.id)
        return self._make(item)


def stage(work: Any = None, name: str = "work", **fields: Any) -> Each:
    return Each(name=name, takes=Item, gives=Item, work=work or Worker(), **fields)


def raising(error: BaseException, *ids: str) -> Worker:
    """Work that fails on some rows."""

    def make(item: Item) -> list[Item]:
        if not ids or item.id in ids:
            raise error
        return [item]

    return Worker(make)


ROWS = [make_item(1), make_item(2), make_item(3)]
IDS = ["q-1", "q-2", "q-3"]


def results(folder: Path, *stages: Stage, rows: Sequence[Any] = ROWS) -> Sequence[Any]:
    passed, _ = Studio(folder).take(rows, *stages)
    return passed[-1].results


class TestWhatDecides:
    """Change one thing: the work is done again. Change none: it is not called."""

    STAGE = stage(roles=("writer",), prompts=("ask",), parameters={"count": 3}, version=1)
    STUDIO: ClassVar[Any] = {
        "cast": {"writer": [{"name": "pen", "parameters": {"top_p": 1}}]},
        "wording": Wording({"ask": "a", "other": "b"}, None, {}),
        "seed": 0,
    }

    def done_again(self, folder: Path, work: dict[str, Any], studio: dict[str, Any]) -> list[str]:
        """Ids of the rows that are worked at, after all have been worked at once."""
        rows = [make_item(1), make_item(2)]
        first, second = Worker(), Worker()
        before = Studio(folder, **self.STUDIO)
        before.take(rows, replace(self.STAGE, work=first))
        assert first.done == ["q-1", "q-2"]
        after = Studio(folder, **(self.STUDIO | studio))
        rows = work.pop("rows", rows)
        (passed,), _ = after.take(rows, replace(self.STAGE, work=second, **work))
        assert passed.out == rows
        return second.done

    def test_nothing_changed(self, tmp_path: Path) -> None:
        assert self.done_again(tmp_path, {}, {}) == []

    @pytest.mark.parametrize(("work", "studio"), [
        ({"version": 2}, {}),
        ({"parameters": {"count": 4}}, {}),
        ({"parameters": {"count": 3, "more": 0}}, {}),
        ({"name": "another"}, {}),
        ({}, {"wording": Wording({"ask": "c", "other": "b"}, None, {})}),
        ({}, {"wording": Wording({"ask": "a", "ask.2": "c"}, None, {})}),
        ({}, {"cast": {"writer": [{"name": "quill", "parameters": {"top_p": 1}}]}}),
        ({}, {"cast": {"writer": [{"name": "pen", "parameters": {"top_p": 0.5}}]}}),
        ({}, {"cast": {"writer": [{"name": "pen", "parameters": {"top_p": 1}, "model": "p2"}]}}),
        ({}, {"cast": {"writer": [{"name": "pen", "parameters": {"top_p": 1}}, "also"]}}),
        ({}, {"cast": {"writer": [{"name": "pen", "parameters": {"top_p": 1}, "sees": False}]}}),
        ({}, {"seed": 1}),
    ], ids=["version", "parameter", "new parameter", "name", "prompt", "variant", "model", "temperature", "the server's name for it", "one more model", "whether it sees", "seed"])  # fmt: skip
    def test_one_thing_changed(self, work: Any, studio: Any, tmp_path: Path) -> None:
        assert self.done_again(tmp_path, dict(work), studio) == ["q-1", "q-2"]

    @pytest.mark.parametrize("studio", [
        {"wording": Wording({"ask": "a", "other": "c"}, None, {"Weather": []})},
        {"cast": {**STUDIO["cast"], "blind": ["b"]}},
        {"cast": {"writer": [{"name": "pen", "parameters": {"top_p": 1}, "timeout": 5, "retries": 3, "connections": 2}]}},
    ], ids=["another prompt", "another role", "how it is reached"])  # fmt: skip
    def test_something_else_changed(self, studio: Any, tmp_path: Path) -> None:
        assert self.done_again(tmp_path, {}, studio) == []

    @pytest.mark.parametrize("fields", [
        {"question": "Why?"}, {"answer": ("C",)}, {"tags": {"a": "b"}}, {"extra": {"mine": 1}},
        {"provenance": {"writer": "x"}}, {"id": "q-9"},
    ], ids=lambda fields: next(iter(fields)))  # fmt: skip
    def test_one_row_changed(self, fields: Any, tmp_path: Path) -> None:
        changed = make_item(2, **fields)
        assert self.done_again(tmp_path, {"rows": [make_item(1), changed]}, {}) == [changed.id]

    def test_rows_in_another_order_and_a_new_one(self, tmp_path: Path) -> None:
        rows = [make_item(3), make_item(2), make_item(1)]
        assert self.done_again(tmp_path, {"rows": rows}, {}) == ["q-3"]

    def test_a_change_redoes_what_follows_only_where_it_made_a_difference(
        self, tmp_path: Path
    ) -> None:
        def upper(item: Item) -> list[Item]:
            question = item.question.upper() if item.id == "q-2" else item.question
            return [msgspec.structs.replace(item, question=question)]

        Studio(tmp_path).take(ROWS, stage(name="first"), stage(name="second"))
        first, second = Worker(upper), Worker()
        Studio(tmp_path).take(
            ROWS, stage(first, name="first", version=2), stage(second, name="second")
        )
        assert first.done == IDS
        assert second.done == ["q-2"]

    def test_files_that_are_gone_are_made_again(self, tmp_path: Path) -> None:
        first, second = Worker(), Worker()
        results(tmp_path, stage(first))
        results(tmp_path, stage(second, intact=lambda item, _desk: item.id != "q-2"))
        assert second.done == ["q-2"]


class Clip(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    seconds: float
    parts: tuple[int, ...] = ()


class TestWhatIsKept:
    def test_rows_that_are_not_quite_of_their_type_are_not_worked_at_again(
        self, tmp_path: Path
    ) -> None:
        """A whole number in place of a float, or a list of a tuple, comes back as the type says."""

        async def cut(item: Item, _desk: Desk) -> list[Clip]:
            return [Clip(id=item.id, seconds=3, parts=[1])]  # type: ignore[arg-type]

        async def show(clip: Clip, _desk: Desk) -> list[Item]:
            shown.append(clip.id)
            return [make_item(1, id=clip.id)]

        shown: list[str] = []
        stages = (
            Each(name="cut", takes=Item, gives=Clip, work=cut),
            Each(name="show", takes=Clip, gives=Item, work=show),
        )
        first, _ = Studio(tmp_path).take(ROWS, *stages)
        second, _ = Studio(tmp_path).take(ROWS, *stages)
        assert second[-1].out == first[-1].out
        assert shown == IDS

    def test_rejects_are(self, tmp_path: Path) -> None:
        first = raising(Rejected("dull", "very", ["m: so"], {"n": 1}), "q-2")
        results(tmp_path, stage(first))
        again = Worker()
        one, two, three = results(tmp_path, stage(again))
        assert again.done == []
        assert (one.rows, three.rows) == ([ROWS[0]], [ROWS[2]])
        why = two.rejected
        assert (why.reason, why.detail, why.words, dict(why.facts)) == (
            "dull", "very", ("m: so",), {"n": 1},
        )  # fmt: skip

    def test_what_is_undecided_is_not(self, tmp_path: Path) -> None:
        first = raising(Undecided("timeout", "too slow"), "q-2")
        (passed,), _ = Studio(tmp_path).take(ROWS, stage(first))
        assert isinstance(passed.results[1], Undecided)
        assert passed.results[1].status == "timeout"
        assert [row.id for row in passed.out] == ["q-1", "q-3"]
        again = Worker()
        (passed,), _ = Studio(tmp_path).take(ROWS, stage(again))
        assert again.done == ["q-2"]
        assert [row.id for row in passed.out] == IDS

    def test_a_fault_of_the_media_rejects_and_is_not(self, tmp_path: Path) -> None:
        first = raising(MediaError("a.mp4", "no such file"), "q-2")
        result = results(tmp_path, stage(first))[1]
        assert (result.rejected.reason, result.rejected.detail) == ("media", "a.mp4: no such file")
        again = Worker()
        results(tmp_path, stage(again))
        assert again.done == ["q-2"]

    def test_a_stage_that_gives_nothing_rejects(self, tmp_path: Path) -> None:
        first = Worker(lambda item: [] if item.id == "q-2" else [item])
        assert results(tmp_path, stage(first))[1].rejected.reason == "nothing made"
        again = Worker()
        assert results(tmp_path, stage(again))[1].rejected.reason == "nothing made"
        assert again.done == []

    def test_a_stage_may_give_several(self, tmp_path: Path) -> None:
        def several(item: Item) -> list[Item]:
            return [msgspec.structs.replace(item, id=f"{item.id}{end}") for end in "ab"]

        for _ in range(2):
            (passed,), _ = Studio(tmp_path).take(ROWS[:2], stage(Worker(several)))
            assert [row.id for row in passed.out] == ["q-1a", "q-1b", "q-2a", "q-2b"]

    def test_a_filter_of_all_rows_is_while_the_rows_are_the_same(self, tmp_path: Path) -> None:
        calls: list[int] = []

        def work(items: Sequence[Item], _desk: Desk) -> list[Any]:
            calls.append(len(items))
            return [Rejected("odd", "why", ["w"]) if i.id == "q-2" else i for i in items]

        sieve = All(name="sieve", takes=Item, gives=Item, work=work, filters=True)
        for rows in (ROWS, ROWS, ROWS[:2], ROWS):
            (passed,), _ = Studio(tmp_path).take(rows, sieve)
            assert [row.id for row in passed.out] == [r.id for r in rows if r.id != "q-2"]
            result = passed.results[1]
            assert isinstance(result, Result)
            assert result.rejected is not None
            assert (result.rejected.reason, tuple(result.rejected.words)) == ("odd", ("w",))
        assert calls == [3, 2]


class TestWhatGoesWrong:
    def test_two_rows_of_one_id_are_named_with_the_stage(self, tmp_path: Path) -> None:
        with pytest.raises(ReelbenchError, match="Two rows are called 'q-1' before the stage work"):
            results(tmp_path, stage(), rows=[ROWS[0], ROWS[1], ROWS[0]])

    def test_two_that_a_stage_made_are_named_with_the_next(self, tmp_path: Path) -> None:
        twice = Worker(lambda item: [item, item])
        told = "Two rows are called 'q-1' before the stage next"
        with pytest.raises(ReelbenchError, match=told):
            results(tmp_path, stage(twice), stage(name="next"))

    @pytest.mark.parametrize("error", [ValueError("a bug"), AssertionError("no"), KeyError("x")])
    def test_a_bug_comes_through_and_leaves_the_store_whole(
        self, error: Exception, tmp_path: Path
    ) -> None:
        async def work(item: Item, _desk: Desk) -> list[Item]:
            if item.id == "q-3":
                await asyncio.wait_for(before_it.wait(), 30)
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
        async def work(item: Item, desk: Desk) -> list[Item]:
            done.append(item.id)
            if item.id == "q-2":
                desk.asker.stop()
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
        async def work(item: Item, desk: Desk) -> list[Item]:
            begun.append(item.id)
            desk.asker.stop()
            return [item]

        begun: list[str] = []
        following = Worker()
        rows = [make_item(number) for number in range(200)]
        with pytest.raises(KeyboardInterrupt):
            results(tmp_path, stage(work), stage(following, name="next"), rows=rows)
        assert len(begun) <= 64
        assert following.done == []

    def test_pays_for_no_other_call_and_loses_none(self, tmp_path: Path) -> None:
        async def ask(item: Item, desk: Desk) -> list[Item]:
            stops.append((asyncio.get_running_loop(), desk.asker.stop))
            said = await desk.words("writer", f"About {item.id}")
            return [msgspec.structs.replace(item, question=said)]

        def answer(_: Any, number: int) -> Reply:
            if number == 1:
                loop, stop = stops[0]
                loop.call_soon_threadsafe(stop)
            return completion(f"reply {number}")

        stops: list[tuple[asyncio.AbstractEventLoop, Callable[[], None]]] = []
        cast = {"writer": [{"name": "pen", "connections": 1}]}
        rows = [make_item(number) for number in range(5)]
        asking = stage(ask, roles=("writer",))
        with pytest.raises(KeyboardInterrupt):
            Studio(tmp_path, answer, cast).take(rows, asking)
        (passed,), server = Studio(tmp_path, by_turns("later"), cast).take(rows, asking)
        assert [row.question for row in passed.out] == ["reply 0", "reply 1", *["later"] * 3]
        assert len(server.requests) == 3


class TestOrder:
    def test_of_what_comes_out_is_that_of_what_went_in(self, tmp_path: Path) -> None:
        """Each row waits for the one behind it, so that the last is done first."""

        async def work(item: Item, _desk: Desk) -> list[Item]:
            number = int(item.id.removeprefix("q-"))
            if number + 1 < len(rows):
                await asyncio.wait_for(finished[number + 1].wait(), 30)
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
        async def work(item: Item, _desk: Desk) -> list[Item]:
            inside.add(item.id)
            most.append(len(inside))
            if len(inside) >= 32:
                enough.set()
            await asyncio.wait_for(enough.wait(), 30)
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
        async def each(item: Item, desk: Desk, *, count: int, words: Any) -> list[Item]:
            got.append((count, words, desk.seed))
            return [item]

        def all_of_them(items: Sequence[Item], desk: Desk, *, share: float) -> Sequence[Item]:
            got.append((share, desk.seed))
            return items

        got: list[Any] = []
        Studio(tmp_path, seed=7).take(
            ROWS[:1],
            stage(each, parameters={"count": 3, "words": ("a",)}),
            All(name="b", takes=Item, gives=Item, work=all_of_them, parameters={"share": 0.5}),
        )
        assert got == [(3, ("a",), 7), (0.5, 7)]

    def test_are_told_of_as_they_begin(self, tmp_path: Path) -> None:
        class Telling(Pipeline):
            def begin(self, stage: Stage) -> None:
                begun.append(stage.name)

        async def through(desk: Desk) -> list[Passed]:
            stages = recipe_of(stage(name="a"), stage(name="b"))
            return await Telling(stages, desk, desk.store).take(ROWS)

        begun: list[str] = []
        Studio(tmp_path).at_desk(through)
        assert begun == ["a", "b"]
