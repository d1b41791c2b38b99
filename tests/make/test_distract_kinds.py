"""Distractors for one key or several: capped, by strategies that are used, the key polished."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from parts import Studio, by_turns, messages
from servers import Server
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item, freeze
from reelbench.make.parts.distract import STRATEGIES, distract, polish_fault
from reelbench.make.parts.rules import load_rules
from reelbench.make.pipeline.prompts import Prompts, load_prompts
from reelbench.make.pipeline.stage import Rejected

KEYS = ("its mast breaks", "her flag falls", "two ropes snap", "a lamp shatters")
WRONG = [
    *(f"{word} turns {side}" for word in ("a plank", "the bow", "a gull") for side in "ab"),
    *("her wheel jams", "the deck floods", "some cargo shifts"),
]
WHY = ({"explanation": "it is seen"},)


def row(keys: int = 1) -> Item:
    plain: dict[str, Any] = {"options": KEYS[:keys], "answer": tuple("ABCD"[:keys])}
    if keys == 1:
        plain = {"options": (KEYS[0], "old wrong one"), "answer": ("A",)}
    return make_item(
        1,
        kind="single" if keys == 1 else "multi",
        question="What happens to the boat?",
        context=freeze({"text": "A boat leaves the harbour; its mast breaks."}),
        **plain,
    )


def wrong(count: int, inside: int = 0, strategies: int = len(STRATEGIES)) -> list[dict[str, Any]]:
    names = list(STRATEGIES)[:strategies]
    return [
        {
            "text": text,
            "strategy": names[number % len(names)],
            "from_context": number < inside,
            "explanation": f"because of {number}",
        }
        for number, text in enumerate(WRONG[:count])
    ]


def said(distractors: list[dict[str, Any]], answers: Any = WHY) -> str:
    return json.dumps({"answers": list(answers), "distractors": distractors})


def explained(*texts: str) -> list[dict[str, str]]:
    return [{"text": text, "explanation": f"seen: {text}"} for text in texts]


def distracted(folder: Path, reply: str, keys: int = 1, **how: Any) -> tuple[Any, Server]:
    stage = distract(**how)
    result, server = Studio(folder, by_turns(reply), {"distractor": ["wit"]}).work(stage, row(keys))
    return (result[0] if isinstance(result, list) else result), server


class TestMultiSelect:
    def test_keeps_all_its_keys_and_the_writer_is_told_them(self, tmp_path: Path) -> None:
        made, server = distracted(tmp_path, said(wrong(3, 3), WHY * 2), 2, from_context=3)
        assert made.kind == "multi"
        assert set(made.correct) == set(KEYS[:2])
        assert set(made.options) == {*KEYS[:2], *WRONG[:3]}
        assert f"- {KEYS[0]}\n- {KEYS[1]}" in messages(server, 0)[0][1]
        assert set(made.context["explanations"]) == set(made.options)

    def test_an_explanation_of_every_key_is_asked_for(self, tmp_path: Path) -> None:
        why, _ = distracted(tmp_path, said(wrong(3, 3), WHY), 2, from_context=3)
        assert isinstance(why, Rejected)
        assert "answers: " in why.detail

    @pytest.mark.parametrize(("keys", "most"), [(1, 7), (2, 6), (4, 4)])
    def test_three_to_seven_distractors_and_no_more_than_eight_options(
        self, keys: int, most: int, tmp_path: Path
    ) -> None:
        """MuseBench's: four keys and seven distractors would be eleven options."""
        how: dict[str, Any] = {"count": (3, 7), "most_options": 8}
        for count, fits in ((2, False), (3, True), (most, True), (most + 1, False)):
            reply = said(wrong(count), WHY * keys)
            made, server = distracted(tmp_path / f"{count}", reply, keys, **how)
            assert isinstance(made, Item) == fits, count
        assert f"Write 3 to {most} wrong options" in messages(server, 0)[0][1]

    def test_no_room_for_any(self, tmp_path: Path) -> None:
        why, server = distracted(tmp_path, "", 4, count=(1, 3), most_options=4)
        assert isinstance(why, Rejected)
        assert why.reason == "no room for distractors"
        assert server.requests == []

    @pytest.mark.parametrize(("keys", "least"), [(1, 3), (2, 2), (3, 1), (4, 1)])
    def test_an_item_has_the_least_number_of_options_whatever_the_count(
        self, keys: int, least: int, tmp_path: Path
    ) -> None:
        how: dict[str, Any] = {"count": (1, 7), "least_options": 4, "most_options": 8}
        for count in (least - 1, least):
            reply = said(wrong(count), WHY * keys)
            made, server = distracted(tmp_path / f"{count}", reply, keys, **how)
            assert isinstance(made, Item) == (count == least), count
        assert f"Write {least} to {8 - keys} wrong options" in messages(server, 0)[0][1]


class TestStrategies:
    def test_no_more_are_asked_for_than_there_is_room_for_distractors(self, tmp_path: Path) -> None:
        how: dict[str, Any] = {"count": (3, 3), "most_options": 4, "min_strategies": 3}
        made, server = distracted(tmp_path, said(wrong(1), WHY * 3), 3, **how)
        assert isinstance(made, Item)
        assert "at least 1 different" in messages(server, 0)[0][1]

    @pytest.mark.parametrize(("least", "fits"), [(1, True), (2, True), (3, False)])
    def test_so_many_different_ones_are_used(self, least: int, fits: bool, tmp_path: Path) -> None:
        reply = said(wrong(4, 4, strategies=2))
        made, _ = distracted(tmp_path, reply, min_strategies=least)
        assert isinstance(made, Item) == fits
        assert fits or "use 2 of the strategies, not 3" in made.detail

    def test_each_that_is_required_is_used(self, tmp_path: Path) -> None:
        reply = said(wrong(4, 4))
        made, server = distracted(tmp_path / "a", reply, required=["factual error"])
        assert isinstance(made, Item)
        assert "Use each of these: factual error." in messages(server, 0)[0][1]
        why, _ = distracted(tmp_path / "b", reply, required=["scope error"])
        assert isinstance(why, Rejected)
        assert why.detail == "no distractor follows scope error"

    @pytest.mark.parametrize(("how", "fault"), [
        ({"required": ["sarcasm"]}, "required has sarcasm, which strategies does not have"),
        ({"required": list(STRATEGIES)}, "more strategies than the 4 distractors"),
        ({"count": (3, 7), "most_options": 7}, "count is 3 to 7: give 1 to 6 distractors"),
        ({"from_context": 0}, "count is 0 to 0"),
        ({"most_options": 27}, "there are 26 letters"),
        ({"count": (1, 2), "least_options": 4}, "least_options is 4: give 2 to 3"),
    ], ids=["unknown", "too many", "too few options", "none", "no letters", "too few distractors"])  # fmt: skip
    def test_what_cannot_be_meant_is_refused_at_once(self, how: Any, fault: str) -> None:
        with pytest.raises(ReelbenchError, match=re.escape(fault)):
            distract(**how)


TEN: dict[str, Any] = {"from_context": 4, "out_of_context": 5, "polish_key": True}


class TestTenOptions:
    """MMOU's: the key lightly polished, four from the video, five plausible and not in it."""

    @pytest.mark.parametrize(("inside", "fits"), [(3, False), (4, True), (5, False)])
    def test_are_exactly_ten(self, inside: int, fits: bool, tmp_path: Path) -> None:
        reply = said(wrong(9, inside), explained("Its mast breaks"))
        made, _ = distracted(tmp_path, reply, **TEN)
        assert isinstance(made, Item) == fits
        if fits:
            assert len(made.options) == 10
            assert made.correct == ("Its mast breaks",)
            assert made.provenance["distract"]["polished_from"] == ("its mast breaks",)
            assert made.context["explanations"]["Its mast breaks"] == "seen: Its mast breaks"

    @pytest.mark.parametrize(("key", "fits"), [
        ("Its mast breaks.", True), ("The mast of it breaks", True),
        ("its mast does not break", False), ("her sail tears apart", False),
        (WRONG[0], False), ("its mast breaks in the storm off the coast", False),
    ])  # fmt: skip
    def test_the_polished_key_says_the_same(self, key: str, fits: bool, tmp_path: Path) -> None:
        made, _ = distracted(tmp_path, said(wrong(9, 4), explained(key)), **TEN)
        assert isinstance(made, Item) == fits

    @pytest.mark.parametrize(("old", "new"), [
        ("three dogs bark at the gate", "four dogs bark at the gate"),
        ("he turns left at the old mill", "he turns right at the old mill"),
    ])  # fmt: skip
    def test_a_number_or_a_side_is_not_polished_into_another(self, old: str, new: str) -> None:
        assert polish_fault(old, old.capitalize()) == ""
        assert "no polished wording" in polish_fault(old, new)

    def test_how_many_words_it_may_gain(self) -> None:
        old = "he puts the cup down there"
        assert polish_fault(old, f"{old} and so on") == ""  # nine of six: one and a half times
        assert "6 words and has 10 now" in polish_fault(old, f"{old} and so on too")


def test_rules_of_the_recipe_hold_for_distractors(tmp_path: Path) -> None:
    rules = """
name: ours
version: "1"
red_lines:
  - {id: R1, text: Name nobody., check: no_proper_nouns}
"""
    words = Prompts(load_prompts(None, None, None).texts, load_rules(rules), {})
    bad = [*wrong(3, 4), {**wrong(4, 4)[3], "text": "poor Anna falls"}]
    answer = by_turns(said(bad), said(wrong(4, 4)))
    made, server = Studio(tmp_path, answer, {"distractor": ["wit"]}, words).work(distract(), row())
    assert set(made[0].options) == {KEYS[0], *WRONG[:4]}
    assert "- R1. Name nobody." in messages(server, 0)[0][1]
    assert "rule R1: option E names 'Anna'" in messages(server, 1)[-1][1]


def test_it_writes_under_its_own_name(tmp_path: Path) -> None:
    made, _ = distracted(tmp_path, said(wrong(4, 4)), name="harder")
    assert "harder" in made.provenance
    assert "distract" not in made.provenance
