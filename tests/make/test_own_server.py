"""A make starts the servers of its roles: one for those that share a command, and none uncalled for."""

from pathlib import Path
from typing import Any

import pytest
from own_cards import all_gone, asked, card, started
from parts import a_recipe
from stages import ROWS

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.data.sources import Sources
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.make import MakeOptions, forecast, make_benchmark
from reelbench.make.pipeline.stage import Role, RowStage


async def ask_both(item: Item, ctx: StageContext, **_: Any) -> list[Item]:
    for role in ("writer", "blind"):
        reply = await ctx.client.ask_prompt(ctx.models[role][0], f"{role}: {item.question}")
        assert reply.text
    return [item]


def test_roles_share_a_server_that_only_those_start_who_name_it(tmp_path: Path) -> None:
    stage = RowStage(name="ask", input=Item, output=Item, work=ask_both, roles=("writer", "blind"))
    roles = {"writer": Role("writes"), "blind": Role("answers blind")}
    rows = ROWS[:1]
    recipe = a_recipe(stage, sources=lambda _: Sources(rows), roles=roles, media="source")
    (tmp_path / "source").mkdir()
    models = {name: [card(tmp_path, name=name, model=name)] for name in roles}
    options = MakeOptions([tmp_path / "source"], models)
    forecast(recipe, tmp_path / "out", options)
    assert started(tmp_path) == []
    assert make_benchmark(recipe, tmp_path / "out", options).counts.asked == 2
    assert len(started(tmp_path)) == 1
    assert [name for _, name, _ in asked(tmp_path)] == ["writer", "blind"]
    assert all_gone(tmp_path)
    # The same folder in other hands: nothing is to be asked, and then something is.
    again = MakeOptions([tmp_path / "source"])
    make_benchmark(recipe, tmp_path / "out", again)
    rows.append(ROWS[1])
    with pytest.raises(ReelbenchError, match="only a card that you name may do so"):
        make_benchmark(recipe, tmp_path / "out", again)
    assert len(started(tmp_path)) == 1
