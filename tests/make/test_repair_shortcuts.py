"""Shortcuts over a whole set are measured, and repaired by options that are written anew."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, recipe_of
from rewriting import Rewriter, hedged_keys, keys_first, long_keys, middle_numbers
from servers import Reply, json_reply
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import SOURCE_CLIPS, Item, Media, freeze
from reelbench.lint.shortcuts import shortcut_findings
from reelbench.make.parts.filters import filter_blind, filter_context
from reelbench.make.parts.repair_shortcuts import repair_shortcuts
from reelbench.make.parts.shortcut_choice import items_to_repair, wanted_options
from reelbench.make.parts.shortcut_measures import shortcut_measures
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline
from reelbench.make.pipeline.stage import Stage, Undecided
from reelbench.make.pipeline.store import RowResult

NAME = "repair-shortcuts"
FILTERS = (filter_blind(1, 1), filter_context(1))
ROLES = {role: [role] for role in ("writer", "blind", "veracity")}


class Repaired:
    """What came of a repair: the items, what was said and shown, and who was asked how often."""

    def __init__(
        self,
        folder: Path,
        items: Sequence[Item],
        actor: Any = None,
        stages: Sequence[Stage] = FILTERS,
        **parameters: Any,
    ) -> None:
        self.folder, self.before, self.actor = folder, items, actor or Rewriter(items)
        stage = repair_shortcuts(FILTERS, **parameters)

        async def work(ctx: StageContext) -> Any:
            passed = await Pipeline(recipe_of(*stages, stage), ctx, ctx.store).take(items)
            return passed, ctx.notes, ctx.tables

        made, self.server = Studio(folder, self.actor, ROLES).with_context(work)
        (*_, self.passed), self.notes, self.tables = made
        self.items: list[Item] = self.passed.out

    @property
    def rewritten(self) -> list[Item]:
        return [i for i in self.items if i.provenance.get(NAME, {}).get("rewritings")]

    @property
    def table(self) -> dict[str, Mapping[str, Any]]:
        (shown,) = [t for t in self.tables if "before and after" in t["title"]]
        names = ["rule", "items", "chance", "before", "low", "high", "p",
                 "after", "low after", "high after", "p after"]  # fmt: skip
        return {row[0]: dict(zip(names, row, strict=True)) for row in shown["rows"]}

    @property
    def outcomes(self) -> dict[str, int]:
        (shown,) = [t for t in self.tables if t["title"] == "Options rewritten"]
        return dict(shown["rows"])


def tied_keys() -> list[Item]:
    """Items of two videos. In that of the first, "key" is right and what the other teaches wrong.

    The second teaches words that are too rare in the first to count, so that there options tie.
    """
    rare = [f"w{one}{other}" for one in "abcde" for other in "abcdefgh"]
    every = " ".join(rare)
    of_first = [("key", f"{rare[n % 40]} {rare[(n + 1) % 40]}") for n in range(80)]
    of_second = [("key", "") if n % 5 < 3 else ("", "key") for n in range(40)]
    of_second += [(f"key {every}", f"{every} key")] * 40
    return [
        tied_item(n, right, wrong, video)
        for video, pairs in (("1.mp4", of_first), ("2.mp4", of_second))
        for n, (right, wrong) in enumerate(pairs)
    ]


def tied_item(number: int, right: str, wrong: str, video: str) -> Item:
    """An item whose options are equally long, the right one in each position in turns."""
    long = max(map(len, (right, wrong))) + 1
    texts = (right, wrong, "", "")
    filled = [
        f"it {text}{sign * (long - len(text))}" for text, sign in zip(texts, ".!,;", strict=True)
    ]
    place = number % 4
    return make_item(
        id=f"{video}-{number}",
        media=(Media(f"media/{video}"),),
        options=tuple(filled[-place:] + filled[:-place]),
        answer=("ABCD"[place],),
        context=freeze({"text": "it"}),
    )


def greater(item: Item) -> int:
    """How many wrong numbers are greater than the right one."""
    right, *others = (int(re.sub(r"\D", "", t)) for t in (*item.correct, *item.options))
    return sum(number > right for number in others)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Repaired:
    """Keys are the longest option in 64 % of the items, and no filter sees it."""
    return Repaired(tmp_path_factory.mktemp("long"), long_keys(100, 0.53))


class TestLongKeys:
    def test_are_right_as_often_as_chance_afterwards(self, long: Repaired) -> None:
        cell = long.table["the longest option"]
        assert (cell["items"], cell["chance"], cell["before"]) == (100, 0.2, 0.64)
        assert cell["low"] > 0.5
        assert cell["low after"] < 0.2 < cell["high after"]
        assert cell["after"] <= 0.23
        assert shortcut_findings(long.before)[0]
        assert shortcut_findings(long.items)[0] == []

    def test_take_the_fewest_changes(self, long: Repaired) -> None:
        excess = shortcut_measures(long.before)["longest"].excess
        unused = sum(n for what, n in long.outcomes.items() if what.startswith("rewritings"))
        assert len(long.rewritten) + unused == ceil(excess)
        assert unused <= 3

    def test_fill_up_the_lengths_that_were_too_rare(self, long: Repaired) -> None:
        cell = long.table["the shortest option"]
        assert cell["before"] < 0.15
        assert 0.15 <= cell["after"] <= 0.25

    def test_all_else_of_an_item_stays_as_it_was(self, long: Repaired) -> None:
        ids = {item.id for item in long.rewritten}
        for old, new in zip(long.before, long.items, strict=True):
            assert (old.id, old.question, old.answer) == (new.id, new.question, new.answer)
            assert old.correct == new.correct
            assert (old.options != new.options) == (old.id in ids)
            for change in new.provenance[NAME]["rewritings"][0]["options"] if old.id in ids else ():
                assert new.options.index(change["text"]) == old.options.index(change["was"])

    def test_are_said_before_and_after(self, long: Repaired) -> None:
        note = next(note for note in long.notes if "the longest option" in note)
        assert "was right in 64.0% (" in note
        assert "of 100 items, where chance gives 20.0%; now it is in " in note
        assert f"({len(long.rewritten)} items rewritten in 1 round)" in note
        assert not any("still" in note for note in long.notes)

    def test_each_rewritten_item_passes_the_filters_again(self, long: Repaired) -> None:
        asked = long.actor.asked
        assert asked["blind"] == asked["veracity"] == 100 + len(long.rewritten)
        for item in long.rewritten:
            assert item.provenance["independence"]["right"] == 0
            assert item.provenance["veracity"]["right"] == 1

    def test_a_second_time_costs_nothing(self, long: Repaired) -> None:
        again = Repaired(long.folder, long.before)
        assert not again.server.requests
        assert [*again.items] == [*long.items]
        assert (again.notes, again.tables) == (long.notes, long.tables)


@pytest.mark.parametrize(
    ("items", "rule"),
    [
        (long_keys(100, 0.4, "fresh-s", min), "the shortest option"),
        (middle_numbers(100, 0.4, "fresh-n"), "the middle number"),
        (hedged_keys(120, 0.6, "fresh-h"), "what a blind baseline trained on the other half picks"),
        (keys_first(100, 0.35, "fresh-p"), "the most frequent position"),
    ],
    ids=["shortest", "middle number", "wording", "position"],
)
def test_other_habits_of_a_writer_are_repaired_too(
    items: Sequence[Item], rule: str, tmp_path: Path
) -> None:
    """These were held apart: nothing was tuned on them."""
    made = Repaired(tmp_path, items, stages=FILTERS[:1])
    cell = made.table[rule]
    assert cell["before"] > 0.4
    assert cell["p"] == "<0.001"
    assert cell["low after"] < 0.2 < cell["high after"]
    assert float(cell["p after"]) >= 0.05
    assert len(made.items) == len(items)
    assert not shortcut_findings(made.items)[0]


def test_right_numbers_get_the_ranks_that_are_too_rare_whatever_stands_beside_them() -> None:
    numbers = middle_numbers(60, 0.6)
    items = [*numbers, *long_keys(60, 0.0, "beside")]
    beyond = {"number": shortcut_measures(items)["number"]}
    chosen = items_to_repair(beyond, {})
    assert len(chosen) == 38 - 60 / 5
    wanted = wanted_options(items, chosen, beyond, 0)
    ranks = Counter(wanted[item.id].greater for item in numbers if item.id in chosen)
    ranks += Counter(greater(item) for item in numbers if item.id not in chosen)
    assert ranks == dict.fromkeys(range(5), 12)


class TestVerified:
    def test_what_does_not_pass_again_is_not_used(self, tmp_path: Path) -> None:
        items = long_keys(60, 1.0)
        known, lost = (frozenset(i.id for i in items[n::4]) for n in (0, 1))
        actor = Rewriter(items, known_anew=known, lost_anew=lost)
        made = Repaired(tmp_path, items, actor)
        assert made.rewritten
        assert not {item.id for item in made.rewritten} & (known | lost)
        old = {item.id: item for item in items}
        for item in made.items:
            unused = item.provenance.get(NAME, {}).get("unused", ())
            if unused and not item.provenance[NAME].get("rewritings"):
                assert item.options == old[item.id].options
                why = "independence: answerable" if item.id in known else "veracity: context"
                assert unused[0].startswith((why, f"{NAME}: no good options"))
        assert made.outcomes["rewritings not used: independence: answerable without context"]
        assert made.outcomes["rewritings not used: veracity: context contradicts the key"]

    def test_filters_that_are_left_out_are_not_asked_and_that_is_said(self, tmp_path: Path) -> None:
        made = Repaired(tmp_path, long_keys(40, 1.0), stages=FILTERS[1:])
        assert made.actor.asked["blind"] == 0
        assert any("not held against independence, left out" in note for note in made.notes)


class TestShortfall:
    def test_of_a_writer_who_repeats_himself_is_said(self, tmp_path: Path) -> None:
        items = long_keys(40, 1.0)
        made = Repaired(tmp_path, items, Rewriter(items, stubborn=True))
        assert [item.options for item in made.items] == [item.options for item in items]
        still = next(note for note in made.notes if "the longest option is still right" in note)
        assert "where chance gives 20.0%" in still
        assert f"{NAME}: no good options" in still
        # Two rounds after the first bring nothing, each with two tries and a repair of each.
        assert made.outcomes["rewritings not used: repair-shortcuts: no good options"] == 3 * 32
        assert made.actor.asked["writer"] == 3 * 32 * 4

    def test_is_dropped_where_that_is_wanted(self, tmp_path: Path) -> None:
        items = long_keys(80, 0.5)
        made = Repaired(tmp_path, items, Rewriter(items, stubborn=True), quiet=1, drop=True)
        assert shortcut_measures(made.items)["longest"].p >= 0.05
        gone = [r.rejected for r in made.passed.results if isinstance(r, RowResult) and r.rejected]
        assert len(gone) == len(items) - len(made.items) == made.outcomes["items dropped"]
        assert {why.reason for why in gone} == {"a shortcut is right too often"}
        assert "the longest option is right in" in gone[0].detail

    def test_ties_that_win_beyond_chance_leave_nothing_to_drop(self, tmp_path: Path) -> None:
        """A baseline that wins in one half and by ties, and loses as often in the other half."""
        items = tied_keys()
        measure = shortcut_measures(items)["wording"]
        assert measure.p < 0.05
        assert measure.excess > 0
        made = Repaired(tmp_path, items, Rewriter(items, stubborn=True), (), drop=True, most=1)
        assert [item.options for item in made.items] == [item.options for item in items]
        assert any("is still right beyond chance" in note for note in made.notes)


class TestNothingToDo:
    def test_what_chance_would_do_is_shown_and_let_be(self, tmp_path: Path) -> None:
        made = Repaired(tmp_path, long_keys(60, 0.0, "fair"))
        assert [item.options for item in made.items] == [item.options for item in made.before]
        assert made.table["the longest option"]["before"] == pytest.approx(0.2, abs=0.1)
        assert (made.actor.asked["writer"], made.notes) == (0, [])

    def test_other_kinds_few_items_and_none_pass(self, tmp_path: Path) -> None:
        rows = [
            make_item(1, kind="open", options=(), answer=(), reference="so"),
            make_item(2, kind="yesno", options=("Yes", "No"), answer=("A",)),
            make_item(3, kind="multi", answer=("A", "B")),
            make_item(4, options=("a long one indeed", "b", "A and B"), answer=("A",)),
        ]
        assert Repaired(tmp_path / "a", rows, stages=()).items == rows
        assert Repaired(tmp_path / "b", [], stages=()).items == []


def test_a_failed_call_leaves_all_undecided_and_the_next_time_pays_for_the_rest(
    tmp_path: Path,
) -> None:
    items = long_keys(40, 1.0)

    class Failing(Rewriter):
        broken = True

        def __call__(self, body: dict[str, Any], number: int) -> Reply:
            if self.broken and self.asked["writer"] >= 9:
                return json_reply({"error": {"message": "out of order"}}, 500)
            return super().__call__(body, number)

    actor = Failing(items)
    made = Repaired(tmp_path / "broken", items, actor)
    assert made.items == []
    assert all(isinstance(result, Undecided) for result in made.passed.results)
    actor.broken = False
    made = Repaired(tmp_path / "broken", items, actor)
    whole = Repaired(tmp_path / "whole", items)
    assert made.items == whole.items
    assert actor.asked == whole.actor.asked


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({"quiet": 0}, "quiet is 0: give a number from 1 on"),
        ({"most": 0}, "most is 0"),
        ({"unlikely": 1.0}, "unlikely is 1.0: give a probability"),
        ({"longest": 0.5}, "longest is 0.5: give 1 or more"),
    ],
)
def test_parameters_that_cannot_be_are_a_sentence(parameters: dict[str, Any], fault: str) -> None:
    with pytest.raises(ReelbenchError, match=fault):
        repair_shortcuts(FILTERS, **parameters)


def test_the_interval_of_a_measure_counts_items_of_one_clip_as_one_draw() -> None:
    made_from = [f"{n // 4 % 10}.mp4" for n in range(80)]
    of_clips = [
        make_item(n, answer=("ABCD"[n // 4 % 2],), extra=freeze({SOURCE_CLIPS: [clip]}))
        for n, clip in enumerate(made_from)
    ]
    of_files = [
        make_item(n, answer=item.answer, media=(Media(f"media/{clip}"),))
        for n, (item, clip) in enumerate(zip(of_clips, made_from, strict=True))
    ]
    one, other = (shortcut_measures(items)["position"] for items in (of_clips, of_files))
    assert one.interval == other.interval
