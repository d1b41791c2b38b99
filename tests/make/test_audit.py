"""An audit counts systemic issues over all items, with intervals, and rejects nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from actors import said_to
from parts import Studio, recipe_of
from servers import Reply, completion
from support import make_item

from reelbench.data.items import Item, freeze
from reelbench.make.parts.audit import ASKED, audit
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline


def item(number: int, **fields: Any) -> Item:
    plain: dict[str, Any] = {
        "question": "A lamp fades. Why is it shown for so long?",
        "options": ("It slows the scene.", "A cut hides the room.", "The cast waits outside.", "No sound is left."),
        "tags": freeze({"category": "Game" if number % 2 else "Stage"}),
        "context": freeze({"text": "A caption."}),
    }  # fmt: skip
    return make_item(number, **(plain | fields))


def by(*strategies: str) -> dict[str, Any]:
    made = [{"text": f"{n}", "strategy": each} for n, each in enumerate(strategies)]
    return {"provenance": freeze({"distract": {"distractors": made}})}


LONG = " ".join(["what"] * 40)
ITEMS = {
    "low option discriminability": item(
        1, options=("The red light fades slowly.", "The red light fades slowly!", "A door.", "A car.")
    ),
    "academic or verbose language": item(2, question=f"{LONG}?"),
    "imprecise distractors": item(3, **by("factual error", "factual error", "factual error")),
    "embedded option list": item(4, question="Which is it? A) a lamp B) a door C) a car"),
    "stem not aimed at intent": item(5, question="What colour has the lamp?"),
    "text and vision misaligned": item(6, question="Why does the whale sing?"),
    "visual evidence not required": item(7, question="Why is two and two four?"),
    "": item(8, **by("factual error", "scope error", "partial truth")),
}  # fmt: skip


def auditor(body: dict[str, Any], _number: int) -> Reply:
    prompt = said_to(body)
    found = [
        {"issue": name, "comment": "It is so."} for name in ASKED if ITEMS[name].question in prompt
    ]
    return completion(json.dumps({"issues": found}))


def audited(folder: Path, answer: Any = auditor, **models: Any) -> tuple[Any, StageContext, int]:
    async def take(ctx: StageContext) -> Any:
        passed = await Pipeline(recipe_of(audit()), ctx, ctx.store).take(list(ITEMS.values()))
        return passed[-1].out, ctx

    (out, ctx), server = Studio(folder, answer, models).with_context(take)
    return out, ctx, len(server.requests)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return audited(tmp_path_factory.mktemp("audit"), reviewer=["critic"])


class TestAudit:
    def test_each_planted_issue_is_found_and_nothing_else(self, found: Any) -> None:
        out, _, asked = found
        assert [list(each.provenance["audit"]["issues"]) for each in out] == [
            [name] if name else [] for name in ITEMS
        ]
        assert out[0].provenance["audit"]["flagged"] == "low option discriminability"
        assert asked == len(ITEMS)

    def test_shares_have_intervals_by_category(self, found: Any) -> None:
        (table,) = found[1].tables
        rows = {(row[0], row[1]): row for row in table["rows"]}
        assert len(rows) == 7 * 3
        alike = rows["low option discriminability", "all"]
        assert alike[2:6] == ["code", 1, 8, 0.125]
        assert alike[6] < 0.125 < alike[7]
        assert rows["low option discriminability", "Stage"][3:6] == [0, 4, 0.0]
        assert rows["stem not aimed at intent", "Game"][2:5] == ["critic", 1, 4]
        # Where no strategies were noted, nothing is known.
        assert rows["imprecise distractors", "all"][3:5] == [1, 2]


def test_an_item_that_the_model_refuses_or_garbles_is_not_in_its_shares(tmp_path: Path) -> None:
    def reluctant(body: dict[str, Any], number: int) -> Reply:
        if ITEMS["stem not aimed at intent"].question in said_to(body):
            return completion(None, message={"refusal": "No."})
        if ITEMS["text and vision misaligned"].question in said_to(body):
            return completion("Well.")
        return auditor(body, number)

    out, ctx, _ = audited(tmp_path, reluctant, reviewer=["critic"])
    assert len(out) == len(ITEMS), "nothing is rejected or left undecided"
    shares = {(row[0], row[1]): row[3:5] for row in ctx.tables[0]["rows"]}
    assert shares["visual evidence not required", "all"] == [1, len(ITEMS) - 2]
    assert shares["low option discriminability", "all"] == [1, len(ITEMS)]
    (note,) = ctx.notes
    assert "critic gave no audit of 2 items" in note


def test_a_reply_without_end_costs_its_own_item_alone(tmp_path: Path) -> None:
    def endless(body: dict[str, Any], number: int) -> Reply:
        if ITEMS["stem not aimed at intent"].question in said_to(body):
            return completion('{"issues": [{"issue": "', reason="length")
        return auditor(body, number)

    out, ctx, _ = audited(tmp_path, endless, reviewer=["critic"])
    assert len(out) == len(ITEMS), "nothing is rejected or left undecided"
    shares = {(row[0], row[1]): row[3:5] for row in ctx.tables[0]["rows"]}
    assert shares["visual evidence not required", "all"] == [1, len(ITEMS) - 1]
    cut, unread = ctx.notes
    assert "raise max_tokens" in cut
    assert "critic gave no audit of 1 item" in unread


def test_without_a_model_code_decides_what_it_can_and_the_rest_is_said(tmp_path: Path) -> None:
    out, ctx, asked = audited(tmp_path)
    assert asked == 0
    assert len(out) == len(ITEMS)
    assert len(ctx.tables[0]["rows"]) == 4 * 3
    (note,) = ctx.notes
    assert "stem not aimed at intent" in note
    assert "--model reviewer=NAME" in note
