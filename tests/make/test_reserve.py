"""What is released has none of the eight lint tags; the reserve stands in, and a shortfall is said."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from parts import Studio, recipe_of
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item, freeze
from reelbench.lint.items import RELEASE_TAGS, release_tags
from reelbench.make.parts.reserve import proportional, release
from reelbench.make.parts.verdicts import verdicts
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline
from reelbench.make.pipeline.stage import BatchStage, RowStage, Undecided
from reelbench.make.pipeline.store import RowResult

LONG = "The camera stays on the empty chair until the light "  # more than 50 characters
OPTIONS = ("It slows the scene.", "A cut hides the room.", "The cast waits.", "No sound is left.")
SAME = tuple(f"{LONG}{end}" for end in ("dims.", "goes.", "falls.", "turns."))


def item(number: int, **fields: Any) -> Item:
    plain: dict[str, Any] = {
        "question": f"A lamp fades {number} times. Why?", "options": OPTIONS, "answer": ("A",),
        "tags": freeze({"category": "Game", "subdomain": "CG"}),
    }  # fmt: skip
    return make_item(number, **(plain | fields))


def multi(number: int, *answer: str) -> Item:
    return item(number, kind="multi", answer=answer)


PLANTED = {
    "INVALID_LABEL": item(1, answer=("F",)),
    "EMBEDDED_MISMATCH": item(2, question="Why? A) It slows. B) It cuts. C) It waits."),
    "MULTI_0_ANSWER": multi(3),
    "ALL_SAME_PREFIX": item(4, options=SAME),
    "DUPLICATE_OPTS": item(5, options=(*OPTIONS[:3], OPTIONS[2])),
    "MULTI_1_ANSWER": multi(6, "A"),
    "MANY_OPTS_SIMILAR": item(7, options=(*SAME, "It slows the scene.")),
    "ANSWER_TEXT_MISMATCH": item(8, extra=freeze({"correct_answer": "It slows the scenes"})),
}
FINE = [*(item(number) for number in range(20, 40)), *(multi(n, "A", "B") for n in range(40, 50))]


async def again(item: Item, ctx: StageContext) -> list[Item]:
    """Make the options again; those of a multi-select item stay as they are."""
    ctx.notes.append(f"again {item.id} in round {ctx.round}")
    return [item if item.kind == "multi" else structs.replace(item, options=OPTIONS)]


AGAIN = RowStage(name="again", input=Item, output=Item, work=again)


def released(
    folder: Path, items: list[Item], stage: BatchStage
) -> tuple[list[Item], dict[str, str], StageContext]:
    """What is released, why the others are not, and the context."""

    async def take(ctx: StageContext) -> Any:
        passed = await Pipeline(recipe_of(stage), ctx, ctx.store).take(items)
        return passed[-1], ctx

    (passed, ctx), _ = Studio(folder).with_context(take)
    pairs = zip(passed.rows, passed.results, strict=True)
    reasons = {
        row.id: result.rejected.reason
        for row, result in pairs
        if isinstance(result, RowResult) and result.rejected
    }
    return passed.out, reasons, ctx


@pytest.mark.parametrize("tag", RELEASE_TAGS)
def test_each_planted_tag_is_seen(tag: str) -> None:
    assert release_tags(PLANTED[tag]) == [tag]
    assert all(not release_tags(each) for each in FINE)


class TestPlanted:
    def test_no_released_item_has_one_of_the_tags(self, tmp_path: Path) -> None:
        items = [*PLANTED.values(), *FINE]
        out, reasons, ctx = released(tmp_path, items, release({"Game": 26}, regenerate=[AGAIN]))
        assert len(out) == 26
        assert all(not release_tags(each) for each in out)
        assert {reasons.get(f"q-{n}") for n in range(1, 6)} <= {
            "lint CRITICAL", "lint HIGH", "reserve", "lint in the reserve",
        }  # fmt: skip
        assert not [note for note in ctx.notes if "replace" in note]

    def test_all_are_chosen_where_no_target_is_set(self, tmp_path: Path) -> None:
        items = [*PLANTED.values(), *FINE]
        out, reasons, ctx = released(tmp_path, items, release(regenerate=[AGAIN]))
        assert reasons == {
            "q-1": "lint CRITICAL", "q-2": "lint CRITICAL", "q-3": "lint CRITICAL",
            "q-4": "lint HIGH", "q-5": "lint HIGH", "q-6": "lint MEDIUM",
        }  # fmt: skip
        fixed = {each.id: each for each in out}
        assert fixed["q-7"].options == OPTIONS
        assert fixed["q-8"].extra["correct_answer"] == OPTIONS[0]
        assert [note for note in ctx.notes if "again" in note] == [
            "again q-6 in round 101", "again q-7 in round 101",
        ]  # fmt: skip
        (short,) = [note for note in ctx.notes if "reserve" in note]
        assert "Game has 32 of 38 items, and the reserve none to replace" in short
        assert "2 of Game / CG / multi; 4 of Game / CG / single" in short

    @pytest.mark.parametrize(("share", "kept"), [(0.8, 16), (0.801, 17), (0.01, 1)])
    def test_a_share_without_targets_leaves_the_others_in_reserve(
        self, tmp_path: Path, share: float, kept: int
    ) -> None:
        made, reasons, _ = released(tmp_path, FINE[:20], release(share=share))
        assert len(made) == kept
        assert list(reasons.values()) == ["reserve"] * (20 - kept)

    def test_both_shares_are_reported(self, tmp_path: Path) -> None:
        _, _, ctx = released(tmp_path, [*PLANTED.values(), *FINE], release())
        before = {row[0]: row for row in ctx.tables[0]["rows"]}
        assert before["any of them"][2:5] == [8, 38, 0.210526]
        assert before["CRITICAL and HIGH"][2:5] == [5, 38, 0.131579]
        assert before["INVALID_LABEL"][1:4] == ["CRITICAL", 1, 38]
        assert before["over 30% of pairs share a prefix"][2:4] == [2, 38]
        assert all(row[2] == 0 for row in ctx.tables[1]["rows"])

    def test_medium_is_swapped_where_nothing_can_make_it_again(self, tmp_path: Path) -> None:
        items = [PLANTED["MANY_OPTS_SIMILAR"], *FINE]
        _, reasons, _ = released(tmp_path, items, release())
        assert reasons == {"q-7": "lint MEDIUM"}


class TestReserve:
    def test_a_swap_is_of_the_same_sub_domain_and_kind_or_else_of_the_kind(
        self, tmp_path: Path
    ) -> None:
        other = freeze({"category": "Game", "subdomain": "Interactive"})
        bad = [item(n, answer=("F",)) for n in (1, 2, 3)]
        spare = [item(10), item(11, tags=other), multi(12, "A", "B")]
        # Of seven, five are chosen; what the seed leaves is the reserve.
        fine = [item(n) for n in (20,)]
        out, reasons, ctx = released(tmp_path, [*bad, *spare, *fine], release({"Game": 7}))
        assert {each.id for each in out} == {"q-10", "q-11", "q-12", "q-20"}
        assert "3 of Game / CG / single" in ctx.notes[0]
        out, _, ctx = released(tmp_path, [*bad, *spare, *fine], release({"Game": 3}))
        assert len(out) + sum(row[-1] for row in ctx.tables[2]["rows"]) == 3
        assert all(not release_tags(each) for each in out)
        assert reasons["q-1"] == "lint CRITICAL"

    def test_what_people_rejected_is_replaced_and_the_others_stay(self, tmp_path: Path) -> None:
        stage = release({"Game": 6})
        first, _, _ = released(tmp_path, FINE, stage)
        gone = first[0]
        line = {"item": gone.id, "who": "ann", "decision": "reject", "settled": True}
        (tmp_path / "verdicts.jsonl").write_text(json.dumps(line) + "\n")
        second, reasons, ctx = released(tmp_path, FINE, stage)
        assert reasons[gone.id] == "rejected by people"
        (new,) = {each.id for each in second} - {each.id for each in first}
        assert {each.id for each in first} - {each.id for each in second} == {gone.id}
        assert next(each for each in FINE if each.id == new).kind == gone.kind
        assert ctx.tables[2]["rows"][0][5] == 1
        assert ctx.tables[3]["rows"] == [
            ["Game", "CG", "multi", 2, 8 - (gone.kind == "multi")],
            ["Game", "CG", "single", 4, 16 - (gone.kind == "single")],
        ]

    def test_at_the_final_gate_a_rejected_item_gives_its_place_to_one_that_waits(
        self, tmp_path: Path
    ) -> None:
        def gate() -> tuple[list[str], list[str]]:
            stages = release({"Game": 4}), verdicts(name="final")
            passed, _ = Studio(tmp_path).take(FINE, *stages)
            last = passed[-1]
            waits = [
                row.id
                for row, result in zip(last.rows, last.results, strict=True)
                if isinstance(result, Undecided)
            ]
            return [item.id for item in last.out], waits

        def decide(*lines: tuple[str, str]) -> None:
            with (tmp_path / "verdicts.jsonl").open("a") as file:
                for item, decision in lines:
                    line = {"item": item, "who": "ann", "decision": decision, "settled": True}
                    file.write(json.dumps(line) + "\n")

        out, waits = gate()
        assert (out, len(waits)) == ([], 4)
        decide((waits[0], "reject"), *((item, "accept") for item in waits[1:]))
        out, new = gate()
        assert set(out) == set(waits[1:])
        assert len(new) == 1
        assert new[0] not in waits
        decide((new[0], "accept"))
        assert len(gate()[0]) == 4

    def test_a_category_that_cannot_be_filled_is_said(self, tmp_path: Path) -> None:
        _, _, ctx = released(tmp_path, FINE[:2], release({"Game": 5, "Stage": 2}))
        assert "Game has 2 of 5 items" in ctx.notes[0]
        assert "Stage has 0 of 2 items" in ctx.notes[1]

    def test_targets_are_spread_in_proportion(self) -> None:
        counts = {("G", "a", "single"): 6, ("G", "a", "multi"): 3, ("G", "b", "single"): 1}
        assert proportional(counts, 5) == {
            ("G", "a", "single"): 3, ("G", "a", "multi"): 1, ("G", "b", "single"): 1,
        }  # fmt: skip
        assert proportional(counts, 20) == counts
        with pytest.raises(ReelbenchError, match="targets"):
            release({"Game": -1})
