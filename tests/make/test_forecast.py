"""A forecast imagines replies: calls that depend on others are counted, and rates seen here count."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from msgspec import structs
from parts import a_recipe, by_turns
from servers import Answer, Reply, completion, serving
from stages import stage
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.client.forecast import CallForecast
from reelbench.data.items import Item
from reelbench.data.sources import Sources
from reelbench.make.parts.filters import filter_blind
from reelbench.make.parts.verdicts import verdicts
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.example_reply import imagined_json, imagined_text
from reelbench.make.pipeline.make import MakeOptions, forecast, make_benchmark
from reelbench.make.pipeline.run import StageResult
from reelbench.make.pipeline.stage import BatchStage, Recipe, Rejected, RowStage

TEXT = {"type": "string", "minLength": 1}
SCORES = {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 10}, "minItems": 3}
ANSWER = {"type": "object", "properties": {"answer": TEXT}, "required": ["answer"]}
SCORED = {"type": "object", "properties": {"scores": SCORES}, "required": ["scores"]}


async def ensemble(item: Item, ctx: StageContext) -> list[Item]:
    """Three answer, and all rank the three different answers."""
    asked = [ctx.json("many", item.question, ANSWER, model=m) for m in ctx.models["many"]]
    answers = {reply.data["answer"] for reply in await together(asked)}
    if len(answers) < 3:
        raise Rejected("too few different answers")
    prompt = f"{item.question}: {sorted(answers)}"
    await together([ctx.json("many", prompt, SCORED, model=m) for m in ctx.models["many"]])
    return [item]


async def narrate(item: Item, ctx: StageContext) -> list[Item]:
    """Eighteen parts, each told with what was told before."""
    story = item.question
    for part in range(18):
        story += "\n" + await ctx.text("one", f"Part {part} after {story}")
    return [structs.replace(item, question=story)]


async def judge(item: Item, ctx: StageContext) -> list[Item]:
    reply = await ctx.json(
        "one", f"judge {item.question}", ANSWER, check=lambda d: d.get("bad", "")
    )
    if reply.data is None or reply.data["answer"] == "no":
        raise Rejected("dull")
    return [item]


async def ask_again(item: Item, ctx: StageContext) -> list[Item]:
    await ctx.text("one", f"again {item.question}")
    return [item]


def asking(work: Any, role: str = "one", name: str = "work", **fields: Any) -> RowStage:
    return stage(work, name=name, roles=(role,), **fields)


class Place:
    """A folder in which a recipe is forecast and made, with a server for its models."""

    def __init__(self, folder: Path, *stages: Any, items: int = 10) -> None:
        self.folder, self.asked = folder, 0
        rows = [make_item(number, question=f"What of {number}?") for number in range(items)]
        self.recipe: Recipe = a_recipe(*stages, sources=lambda _: Sources(rows))

    def options(self, url: str) -> MakeOptions:
        cards = []
        for name in ("a", "b", "c"):
            card = self.folder / f"{name}.yaml"
            card.write_text(json.dumps({"name": name, "endpoint": url, "retries": 0}))
            cards.append(str(card))
        named = {"many": cards, "one": cards[:1]}
        models = {role: named[role] for role in self.recipe.roles}
        return MakeOptions(sources=[self.folder / "source"], models=models)

    def forecast(self) -> tuple[list[CallForecast], list[StageResult], list[str]]:
        return forecast(self.recipe, self.folder / "out", self.options("http://127.0.0.1:9/v1"))

    def count(self, name: str = "work") -> int:
        return sum(row.requests for row in self.forecast()[0] if row.step == name)

    def make(self, answer: Answer) -> int:
        """Make it; return how often was asked."""
        with serving(answer) as server:
            make_benchmark(self.recipe, self.folder / "out", self.options(server.url))
            return len(server.requests)


def replying(body: Any, number: int) -> Reply:
    """As each prompt wants it."""
    text = body["messages"][0]["content"][0]["text"]
    if body.get("response_format") and "[" in text:
        return completion('{"scores": [1, 2, 3]}')
    return completion(json.dumps({"answer": f"{body['model']} {number}"}))


class TestDependentCalls:
    def test_of_an_ensemble_are_counted(self, tmp_path: Path) -> None:
        place = Place(tmp_path, asking(ensemble, "many"))
        assert place.count() == 60
        assert place.make(replying) == 60
        assert place.count() == 0

    def test_of_a_running_narrative_are_counted(self, tmp_path: Path) -> None:
        place = Place(tmp_path, asking(narrate, expected_tokens=40))
        (row,) = place.forecast()[0]
        assert (row.requests, row.output_tokens) == (180, 180 * 40)
        assert row.input_tokens > 180 * 9 * 30, "each part is told with the parts before"
        assert place.make(by_turns("So it goes.")) == 180

    def test_that_are_equal_are_one(self, tmp_path: Path) -> None:
        async def same(item: Item, ctx: StageContext) -> list[Item]:
            await ctx.text("one", "the same for all")
            return [item]

        place = Place(tmp_path, asking(same))
        assert place.count() == place.make(by_turns("yes")) == 1

    def test_of_a_stage_over_all_rows_are_counted(self, tmp_path: Path) -> None:
        async def batch(items: Sequence[Item], ctx: StageContext) -> Sequence[Item]:
            for item in items:
                first = await ctx.text("one", f"about {item.question}")
                await ctx.text("one", f"more of {first}")
            return items

        work = BatchStage(name="work", input=Item, output=Item, work=batch, roles=("one",))
        place = Place(tmp_path, work)
        assert place.count() == 20
        assert place.make(lambda _, n: completion(f"reply {n}")) == 20

    def test_after_people_decide_are_counted_as_if_they_accepted(self, tmp_path: Path) -> None:
        place = Place(tmp_path, verdicts(), asking(narrate), verdicts(name="final"), items=2)
        rows, passed, notes = place.forecast()
        assert [len(each.out) for each in passed] == [2, 2, 2]
        assert sum(row.requests for row in rows) == 36
        assert len([note for note in notes if "waits for people" in note]) == 1

    def test_that_are_partly_known_are_counted_for_the_rest(self, tmp_path: Path) -> None:
        place = Place(tmp_path, asking(narrate), items=2)

        def answer(body: Any, number: int) -> Reply:
            """Ten parts of each row: which row is ahead does not change the count."""
            known = body["messages"][0]["content"][0]["text"].count("\n")
            return completion(f"part {number}") if known < 10 else (500, {}, b"{}")

        asked = place.make(answer)
        assert place.count() == 36 - 20
        assert asked == 22, "both rows failed at their next part"


class TestRates:
    def test_of_the_recipe_count_until_rows_were_seen(self, tmp_path: Path) -> None:
        stages = (
            asking(judge, name="judge", expected_pass_rate=0.5),
            asking(ask_again, name="after"),
        )
        place = Place(tmp_path, *stages, items=200)
        assert place.count("judge") == 200
        assert 80 <= place.count("after") <= 120

        def answer(body: Any, _number: int) -> Reply:
            text = body["messages"][0]["content"][0]["text"]
            digit = text.rstrip("?")[-1]
            return completion('{"answer": "no"}' if digit != "0" else '{"answer": "yes"}')

        place.make(answer)
        more = Place(tmp_path, *stages, items=600)
        passed = more.forecast()[1][0]
        assert more.count("judge") == 400
        assert 20 + 20 <= len(passed.out) <= 20 + 60, "one in ten was let through"

    def test_of_a_filter_that_only_reports_are_those_of_no_filter(self, tmp_path: Path) -> None:
        async def report(item: Item, ctx: StageContext, *, drop: bool) -> list[Item]:
            return await (judge if drop else ask_again)(item, ctx)

        filtering = asking(
            report, name="judge", filters=True, expected_pass_rate=0.0, parameters={"drop": False}
        )
        place = Place(tmp_path, filtering, asking(narrate, name="after"), items=2)
        assert place.count("after") == 36

    def test_of_a_filter_without_a_figure_are_those_of_random_answers(self, tmp_path: Path) -> None:
        """One in four is right by chance about four options, and dropped for it."""
        blind = filter_blind(1, 1, role="one")
        place = Place(tmp_path, blind, asking(ask_again, name="after"), items=200)
        assert place.count("independence") == 200
        assert 130 <= place.count("after") <= 170

    def test_that_were_not_seen_here_are_named(self, tmp_path: Path) -> None:
        stages = (asking(judge, name="judge", expected_pass_rate=0.25), asking(ask_again))
        place = Place(tmp_path, *stages, items=10)
        (note,) = place.forecast()[2]
        assert "pass judge is not known here yet, so the recipe's figure of 25% is used" in note
        assert "--limit" in note
        place.make(by_turns('{"answer": "yes"}'))
        assert Place(tmp_path, *stages, items=20).forecast()[2] == []

    def test_of_repairs_are_those_seen_here(self, tmp_path: Path) -> None:
        place = Place(tmp_path, asking(judge), items=20)
        assert place.count() == 20

        def at_the_second_try(body: Any, _number: int) -> Reply:
            is_repair = len(body["messages"]) > 1
            return completion('{"answer": "yes"}' if is_repair else "no JSON at all")

        assert place.make(at_the_second_try) == 40
        more = Place(tmp_path, asking(judge), items=50)
        assert more.count() == 60, "thirty new rows, each with a repair"

    def test_that_are_missing_or_damaged_are_none(self, tmp_path: Path) -> None:
        place = Place(tmp_path, asking(judge), items=12)
        place.make(by_turns('{"answer": "yes"}'))
        (tmp_path / "out" / "make" / "rates.json").write_text("{")
        assert Place(tmp_path, asking(judge), items=13).count() == 1

    def test_known_replies_are_still_checked(self, tmp_path: Path) -> None:
        place = Place(tmp_path, asking(judge), items=1)
        replies = by_turns('{"answer": "x", "bad": "wrong"}', (500, {}, b"{}"))
        place.make(replies)
        assert place.count() == 1, "the repair that failed is to be asked"


class TestImagined:
    SCHEMA = {  # noqa: RUF012
        "type": "object",
        "properties": {
            "kind": {"enum": ["x", "y"]},
            "questions": {
                "type": "array",
                "x-count": 4,
                "minItems": 1,
                "items": ANSWER,
            },
            "score": {"type": "integer", "minimum": 2, "maximum": 5},
            "sure": {"type": "boolean"},
            "maybe": {"anyOf": [{"type": "null"}, TEXT]},
        },
        "required": ["kind", "questions", "score", "sure", "maybe"],
        "additionalProperties": False,
    }

    def test_json_fits_its_schema_with_as_many_entries_as_are_expected(self) -> None:
        value = json.loads(imagined_json(self.SCHEMA, Random(1)))
        jsonschema.validate(value, self.SCHEMA)
        assert len({each["answer"] for each in value["questions"]}) == 4

    @pytest.mark.parametrize("tokens", [100, 1000])
    def test_replies_are_about_as_long_as_expected(self, tokens: int) -> None:
        for text in (
            imagined_json(self.SCHEMA, Random(1), tokens),
            imagined_text(Random(1), tokens),
        ):
            assert tokens * 0.6 <= len(text.split()) / 0.75 <= tokens * 1.4


def test_rows_that_a_stage_estimates_alike_are_asked_about_one_by_one(tmp_path: Path) -> None:
    def twelve(item: Item, _ctx: StageContext) -> list[Item]:
        return [structs.replace(item, id=f"{item.id}-{n}", question="the same") for n in range(12)]

    written = asking(ask_again, name="write", estimate=twelve)
    place = Place(tmp_path, written, asking(ask_again, name="after"))
    assert place.count("after") == 120


def test_a_forecast_needs_no_key_and_a_make_asks_for_it_before_any_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    recipe = a_recipe(
        stage(judge, roles=("one",)), sources=lambda: Sources([make_item()]), needs_source=False
    )
    order = MakeOptions(models={"one": ["openai:gpt-4o"]})
    (found,), *_ = forecast(recipe, tmp_path / "out", order)
    assert found.card.name == "openai:gpt-4o"
    with pytest.raises(ReelbenchError, match="put it in the environment variable OPENAI_API_KEY"):
        make_benchmark(recipe, tmp_path / "out", order)
    assert not (tmp_path / "out").exists()
