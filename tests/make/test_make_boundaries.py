"""The constants that papers give, on both sides of each: a filter at its limit, a rule at its end."""

from pathlib import Path
from typing import Any

import pytest
from parts import Studio
from servers import Answer, Reply, completion
from support import make_item

from reelbench.data.items import Item, freeze
from reelbench.make.parts.filters import (
    filter_above_chance,
    filter_blind,
    filter_context,
    filter_ensemble,
    filter_modality,
)
from reelbench.make.parts.rule_checks import Asked, no_shared_prefix, similar_length
from reelbench.make.parts.shortcuts import Bet, beyond_chance
from reelbench.make.parts.static_filters import filter_key_length
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.recipes import load_recipe

KEY = "a door opens"
QUESTION = make_item(
    1,
    options=(KEY, "a dog barks", "it snows", "a bell rings"),
    answer=("A",),
    context=freeze({"text": "A door opens."}),
)


def right_so_often(**times: int) -> Answer:
    """Models that are right the first so many times that they are asked, then wrong."""
    asked = dict.fromkeys(times, 0)

    def answer(body: Any, _: int) -> Reply:
        name = body["model"]
        asked[name] += 1
        text = body["messages"][0]["content"][-1]["text"]
        lines = [line for line in text.splitlines() if line[1:3] == ". "]
        is_right = asked[name] <= times[name]
        return completion(next(line[0] for line in lines if (KEY in line) == is_right))

    return answer


def is_kept(folder: Path, stage: RowStage, **times: int) -> bool:
    """Whether a filter keeps a question that models get right so many times."""
    models = {stage.roles[0]: [{"name": name, "connections": 1} for name in times]}
    result, _ = Studio(folder, right_so_often(**times), models).work(stage, QUESTION)
    return not isinstance(result, Rejected)


class TestFilters:
    @pytest.mark.parametrize(("right", "kept"), [(4, True), (5, False)])
    def test_independence_drops_at_five_of_five(
        self, right: int, kept: bool, tmp_path: Path
    ) -> None:
        """Cinéaste 3.3."""
        assert is_kept(tmp_path, filter_blind(), m=right) == kept

    def test_and_what_one_of_several_models_knows_goes(self, tmp_path: Path) -> None:
        assert is_kept(tmp_path / "a", filter_blind(), m=4, n=4)
        assert not is_kept(tmp_path / "b", filter_blind(), m=0, n=5)

    @pytest.mark.parametrize(("right", "kept"), [(3, False), (4, True), (5, True)])
    def test_veracity_keeps_at_four_of_five(self, right: int, kept: bool, tmp_path: Path) -> None:
        """Cinéaste, equation 1: V is at least 0.8."""
        assert is_kept(tmp_path, filter_context(), m=right) == kept

    @pytest.mark.parametrize(("right", "kept"), [
        ({"a": 0, "b": 0, "c": 0, "d": 0}, True),
        ({"a": 1, "b": 0, "c": 0, "d": 0}, True),
        ({"a": 1, "b": 1, "c": 0, "d": 0}, False),  # exactly half of them
        ({"a": 1, "b": 1, "c": 1, "d": 0}, False),
    ], ids=["0 of 4", "1 of 4", "2 of 4", "3 of 4"])  # fmt: skip
    def test_an_ensemble_drops_at_exactly_its_limit(
        self, right: dict[str, int], kept: bool, tmp_path: Path
    ) -> None:
        """HumanVBench removes what is often right blind, and gives no limit: one half, declared."""
        assert is_kept(tmp_path, filter_ensemble(drop_at=0.5), **right) == kept

    @pytest.mark.parametrize(("right", "kept"), [
        ({"a": 3}, True),  # three of five by guessing: 10.4 %
        ({"a": 4}, False),  # four of five: 1.6 %
        ({"a": 3, "b": 2}, True),  # five of ten: 7.8 %
        ({"a": 3, "b": 3}, False),  # six of ten: 2.0 %
    ], ids=["3 of 5", "4 of 5", "5 of 10", "6 of 10"])  # fmt: skip
    def test_beyond_chance_is_what_guesses_hardly_reach(
        self, right: dict[str, int], kept: bool, tmp_path: Path
    ) -> None:
        assert is_kept(tmp_path, filter_above_chance(), **right) == kept

    @pytest.mark.parametrize(("limit", "kept"), [(0.3, False), (1 / 3, False), (0.34, True)])
    def test_a_third_is_a_third(self, limit: float, kept: bool, tmp_path: Path) -> None:
        assert is_kept(tmp_path, filter_ensemble(drop_at=limit), a=1, b=0, c=0) == kept

    @pytest.mark.parametrize(("right", "kept"), [(1, True), (2, False)])
    def test_one_modality_drops_at_its_number(self, right: int, kept: bool, tmp_path: Path) -> None:
        stage = filter_modality("audio", seeds=3, drop_at=2)
        models = {"listener": [{"name": "m", "connections": 1}]}
        row = make_item(1, options=QUESTION.options, answer=("A",), media=())
        result, _ = Studio(tmp_path, right_so_often(m=right), models).work(stage, row)
        assert (not isinstance(result, Rejected)) == kept

    def test_the_recipe_has_the_numbers_of_the_paper(self) -> None:
        parameters = {stage.name: stage.parameters for stage in load_recipe("cineaste").stages}
        assert parameters["independence"]["seeds"] == parameters["independence"]["drop_at"] == 5
        assert (parameters["veracity"]["seeds"], parameters["veracity"]["keep_at"]) == (5, 0.8)
        assert parameters["writing-tasks"]["distractors"] == 4
        assert parameters["write"]["count"] == 12
        assert parameters["describe"]["frames"] == 32


class TestRules:
    @pytest.mark.parametrize(("shared", "broken"), [(49, False), (50, True), (51, True)])
    def test_a_prefix_of_fifty_characters(self, shared: int, broken: bool) -> None:
        """MuseBench, Table 6. Two of three options, so that not all begin with four words."""
        begin = ("x" * 60)[:shared]
        options = (f"{begin}a and so on", f"{begin}b and on", "quite another thing")
        assert bool(no_shared_prefix(Asked("", options, options[:1]))) == broken

    def test_an_option_of_exactly_fifty_characters_counts(self) -> None:
        options = ("x" * 50, "x" * 50 + "y", "quite another thing")
        assert no_shared_prefix(Asked("", options, options[:1]))

    @pytest.mark.parametrize(("longest", "broken"), [(10, False), (11, True)])
    def test_twice_as_many_words_are_not_yet_too_many(self, longest: int, broken: bool) -> None:
        lengths = (5, longest, longest)
        options = tuple(" ".join(f"w{n}{k}" for k in range(size)) for n, size in enumerate(lengths))
        assert bool(similar_length(Asked("", options, options[1:2]), 2.0)) == broken

    @pytest.mark.parametrize(("key", "broken"), [(15, False), (16, True)])
    def test_a_key_stands_out_beyond_a_quarter_more(self, key: int, broken: bool) -> None:
        lengths = (key, 12, 12)
        options = tuple(" ".join(f"w{n}{k}" for k in range(size)) for n, size in enumerate(lengths))
        assert bool(similar_length(Asked("", options, options[:1]), 2.0)) == broken


def lengths_of(number: int, *lengths: int) -> Item:
    options = tuple(" ".join(f"w{n}{k}" for k in range(size)) for n, size in enumerate(lengths))
    return make_item(number, options=options, answer=("A",))


@pytest.mark.parametrize(("key", "dropped"), [(12, False), (13, True)])
def test_a_key_of_one_and_a_half_times_the_next_is_not_yet_too_long(
    key: int, dropped: bool, tmp_path: Path
) -> None:
    rows = [lengths_of(number, key, 8, 7, 6) for number in range(4)]
    (passed,), _ = Studio(tmp_path).take(rows, filter_key_length(1.5))
    assert (len(passed.out) < len(rows)) == dropped


@pytest.mark.parametrize(("wins", "dropped"), [(2, 0), (3, 2), (8, 8)])
def test_a_rule_may_win_as_often_as_by_luck(wins: int, dropped: int) -> None:
    """Of eight items with four options, two; each that is left out takes its luck along."""
    bets = [Bet(make_item(number), number < wins, 0.25) for number in range(8)]
    assert len(beyond_chance(bets)) == dropped
