"""Rows go through stages: what decides a result is in its key, and what is kept is not redone."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from parts import Studio
from stages import IDS, ROWS, Worker, raising, results, stage
from support import make_item

from reelbench.data.items import Item
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.prompts import Prompts
from reelbench.make.pipeline.stage import BatchStage, Rejected, RowStage, Undecided
from reelbench.make.pipeline.store import RowResult
from reelbench.media.errors import MediaError


class TestWhatDecides:
    """Change one thing: the work is done again. Change none: it is not called."""

    STAGE = stage(roles=("writer",), prompts=("ask",), parameters={"count": 3}, version=1)
    STUDIO: ClassVar[Any] = {
        "models": {"writer": [{"name": "pen", "parameters": {"top_p": 1}}]},
        "prompts": Prompts({"ask": "a", "other": "b"}, None, {}),
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
        ({}, {"prompts": Prompts({"ask": "c", "other": "b"}, None, {})}),
        ({}, {"prompts": Prompts({"ask": "a", "ask.2": "c"}, None, {})}),
        ({}, {"models": {"writer": [{"name": "quill", "parameters": {"top_p": 1}}]}}),
        ({}, {"models": {"writer": [{"name": "pen", "parameters": {"top_p": 0.5}}]}}),
        ({}, {"models": {"writer": [{"name": "pen", "parameters": {"top_p": 1}, "model": "p2"}]}}),
        ({}, {"models": {"writer": [{"name": "pen", "parameters": {"top_p": 1}}, "also"]}}),
        ({}, {"models": {"writer": [{"name": "pen", "parameters": {"top_p": 1}, "sees": False}]}}),
        ({}, {"seed": 1}),
    ], ids=["version", "parameter", "new parameter", "name", "prompt", "variant", "model", "temperature", "the server's name for it", "one more model", "whether it sees", "seed"])  # fmt: skip
    def test_one_thing_changed(self, work: Any, studio: Any, tmp_path: Path) -> None:
        assert self.done_again(tmp_path, dict(work), studio) == ["q-1", "q-2"]

    @pytest.mark.parametrize("studio", [
        {"prompts": Prompts({"ask": "a", "other": "c"}, None, {"Weather": []})},
        {"models": {**STUDIO["models"], "blind": ["b"]}},
        {"models": {"writer": [{"name": "pen", "parameters": {"top_p": 1}, "timeout": 5, "retries": 3, "connections": 2}]}},
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

    def test_the_version_of_one_task_changed(self, tmp_path: Path) -> None:
        """Many tasks in one stage: raising the version of one redoes its rows alone."""
        rows = [make_item(n, tags={"task": task}) for n, task in enumerate("aab", 1)]
        done = []
        for versions in ({"a": 1, "b": 1}, {"a": 1, "b": 1}, {"a": 1, "b": 2}):
            work = Worker()
            by_task = stage(work, version_of=lambda row, now=versions: now[row.tags["task"]])
            Studio(tmp_path).take(rows, by_task)
            done.append(work.done)
        assert done == [IDS, [], ["q-3"]]

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
        results(tmp_path, stage(second, outputs_exist=lambda item, _ctx: item.id != "q-2"))
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

        async def cut(item: Item, _ctx: StageContext) -> list[Clip]:
            return [Clip(id=item.id, seconds=3, parts=[1])]  # type: ignore[arg-type]

        async def show(clip: Clip, _ctx: StageContext) -> list[Item]:
            shown.append(clip.id)
            return [make_item(1, id=clip.id)]

        shown: list[str] = []
        stages = (
            RowStage(name="cut", input=Item, output=Clip, work=cut),
            RowStage(name="show", input=Clip, output=Item, work=show),
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

        def work(items: Sequence[Item], _ctx: StageContext) -> list[Any]:
            calls.append(len(items))
            return [Rejected("odd", "why", ["w"]) if i.id == "q-2" else i for i in items]

        sieve = BatchStage(name="sieve", input=Item, output=Item, work=work, filters=True)
        for rows in (ROWS, ROWS, ROWS[:2], ROWS):
            (passed,), _ = Studio(tmp_path).take(rows, sieve)
            assert [row.id for row in passed.out] == [r.id for r in rows if r.id != "q-2"]
            result = passed.results[1]
            assert isinstance(result, RowResult)
            assert result.rejected is not None
            assert (result.rejected.reason, tuple(result.rejected.words)) == ("odd", ("w",))
        assert calls == [3, 2]
