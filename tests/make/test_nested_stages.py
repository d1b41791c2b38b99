"""Rows go through stages inside a round, asked anew in each; tables of stages are shown and kept."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, a_recipe, by_turns, ending
from stages import raising, stage
from support import make_item

from reelbench.data.items import Item
from reelbench.data.sources import Sources
from reelbench.make.parts.rules import load_rules
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.make import MakeOptions, make_benchmark
from reelbench.make.pipeline.run import through
from reelbench.make.pipeline.stage import BatchStage, Rejected, RowStage, Undecided

ROWS = [make_item(1), make_item(2)]
RULES = load_rules("name: other\nversion: '2'\nred_lines: [{id: R1, text: Be brief.}]")


async def asking(item: Item, ctx: StageContext) -> list[Item]:
    shown = ctx.prompts.rules.text("") if ctx.prompts.rules else "no rules"
    await ctx.text("writer", f"{item.id} by {shown}")
    return [item]


ASK = RowStage(
    name="ask", input=Item, output=Item, work=asking, roles=("writer",), prompts=("rules",)
)


def test_each_round_asks_anew_and_a_second_time_does_not(tmp_path: Path) -> None:
    studio = Studio(tmp_path, by_turns("Well."), {"writer": ["pen"]})

    async def work(ctx: StageContext) -> None:
        for number, rules in ((0, None), (1, None), (1, RULES), (2, RULES), (2, RULES)):
            result = await through([ASK], ROWS[:1], ctx.derived(rules=rules, round=number))
            assert [row.id for row in result.out] == ["q-1"]
            assert ctx.round == 0
        assert ctx.prompts.rules is None

    _, server = studio.with_context(work)
    assert len(server.requests) == 4
    _, server = studio.with_context(work)
    assert len(server.requests) == 0


def test_rejects_are_returned_and_what_is_undecided_is_raised(tmp_path: Path) -> None:
    async def work(ctx: StageContext) -> Any:
        rejecting = stage(raising(Rejected("dull", "very"), "q-1"), "check")
        result = await through([rejecting, stage(name="next")], ROWS, ctx)
        lost = stage(raising(Undecided("timeout", "too late"), "q-2"), "lost")
        with pytest.raises(Undecided, match="too late"):
            await through([lost], ROWS, ctx)
        assert ctx.stage == ""
        return result

    result, _ = Studio(tmp_path).with_context(work)
    assert [row.id for row in result.out] == ["q-2"]
    ((where, row, why),) = result.rejects
    assert (where, row.id, why.reason) == ("check", "q-1", "dull")


def test_tables_of_stages_are_on_the_page_and_in_a_file_the_second_time_too(
    tmp_path: Path,
) -> None:
    done = []

    def counting(items: Sequence[Item], ctx: StageContext) -> Sequence[Item]:
        done.append(len(items))
        ctx.tables.append({"title": "Counted", "columns": ["what", "n"], "rows": [["all", 2]]})
        return items

    batch = BatchStage(name="count", input=Item, output=Item, work=counting, filters=True)
    recipe = a_recipe(batch, ending(), sources=lambda _: Sources(ROWS), media="source")
    (tmp_path / "source").mkdir()
    for _ in range(2):
        make_benchmark(recipe, tmp_path / "out", MakeOptions([tmp_path / "source"]))
        (shown,) = json.loads((tmp_path / "out" / "tables.json").read_text())
        assert shown == {"title": "Counted", "columns": ["what", "n"], "rows": [["all", 2]]}
        assert "Counted</h3>" in (tmp_path / "out" / "made.html").read_text()
    assert done == [2]
