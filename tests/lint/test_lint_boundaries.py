"""The constants of the linter: on their value, and one step beside it."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy import stats
from support import make_item
from videos import make_video

from reelbench.data.items import Media
from reelbench.lint import lint_benchmark
from reelbench.lint.duplicates import duplicate_findings
from reelbench.lint.evenness import EXACT, SIMULATIONS, at_least, binomial_p, evenness_of
from reelbench.lint.options import standing_out

Save = Callable[..., Path]


def prefixed(length: int, *words: str) -> tuple[str, ...]:
    return tuple(
        "the camera moves along the wall until the lamp goes out"[:length] + w for w in words
    )


class TestPrefixes:
    def tags(self, save: Save, *options: str) -> list[str]:
        root = save(make_item(99), make_item(1, options=options))
        return [finding.tag for finding in lint_benchmark(root, check_media=False).findings]

    def test_fifty_equal_characters_are_a_prefix_and_forty_nine_are_none(self, save: Save) -> None:
        assert self.tags(save, *prefixed(50, "x", "y", "z")) == ["ALL_SAME_PREFIX"]
        assert self.tags(save, *prefixed(49, "x", "y", "z")) == []

    def test_a_prefix_may_be_all_there_is(self, save: Save) -> None:
        """An option of 50 characters that others begin with, too."""
        assert self.tags(save, *prefixed(50, "", "y", "z")) == ["ALL_SAME_PREFIX"]

    def test_half_of_the_pairs_are_not_most_of_them(self, save: Save) -> None:
        three_of_six = *prefixed(50, "x", "y", "z"), "a dog barks"
        six_of_ten = *prefixed(50, "w", "x", "y", "z"), "a dog barks"
        assert self.tags(save, *three_of_six) == []
        assert self.tags(save, *six_of_ten) == ["MANY_OPTS_SIMILAR"]


class TestEvenness:
    def test_two_keys_of_an_item_exclude_each_other(self) -> None:
        """Any two of four places are as even as one item can be: on average its freedom, 3."""
        figure = evenness_of({(4, 2): Counter({0: 1, 1: 1})})
        assert figure is not None
        assert (figure["chi_square"], figure["degrees_of_freedom"]) == (3.0, 3)

    def test_five_expected_keys_a_place_are_enough_for_the_law(self) -> None:
        twenty = evenness_of({(4, 1): Counter({0: 9, 1: 5, 2: 4, 3: 2})})
        assert twenty is not None
        assert twenty["p"] == pytest.approx(stats.chisquare([9, 5, 4, 2]).pvalue, rel=1e-9)
        nineteen = evenness_of({(4, 1): Counter({0: 8, 1: 5, 2: 4, 3: 2})})
        assert nineteen is not None
        draws = nineteen["p"] * (1 + SIMULATIONS)
        assert draws == pytest.approx(round(draws), abs=1e-6), "below that it is simulated"
        assert nineteen["p"] == pytest.approx(stats.chisquare([8, 5, 4, 2]).pvalue, rel=0.1)

    @pytest.mark.parametrize("bets", [EXACT, EXACT + 1])
    def test_many_bets_are_corrected_for_whole_numbers(self, bets: int) -> None:
        wins = bets // 4 + 10
        exact = stats.binom.sf(wins - 1, bets, 0.25)
        assert at_least(wins, [0.25] * bets) == pytest.approx(exact, rel=0.03)

    @pytest.mark.parametrize(("hits", "of", "chance"), [(8, 10, 0.5), (0, 3, 0.5), (30, 90, 0.25)])
    def test_rarer_counts_on_both_sides_are_counted(
        self, hits: int, of: int, chance: float
    ) -> None:
        exact = stats.binomtest(hits, of, chance).pvalue
        assert binomial_p(hits, of, chance) == pytest.approx(exact, rel=1e-9)

    def test_few_bets_with_different_chances_are_exact(self) -> None:
        assert at_least(2, [0.5, 0.25, 0.2]) == pytest.approx(0.225, rel=1e-12)
        assert at_least(3, [0.5, 0.25, 0.2]) == pytest.approx(0.025, rel=1e-12)


class TestLengths:
    @pytest.mark.parametrize(
        ("key", "others", "stands_out"),
        [
            (40, 20, True),
            (39, 20, False),
            (20, 10, True),
            (19, 10, False),
            (10, 20, True),
            (11, 20, False),
        ],
        ids=["twice", "nearly", "10 longer", "9 longer", "10 shorter", "9 shorter"],
    )
    def test_twice_the_others_and_ten_characters(
        self, key: int, others: int, stands_out: bool
    ) -> None:
        options = ("k" * key, "x" * others, "y" * others, "z" * others)
        assert bool(standing_out(make_item(options=options, answer=("A",)))) is stands_out

    def test_where_options_tie_a_bet_wins_its_share(self, save: Save) -> None:
        clear = make_item(
            1, question="What is it?", options=("a dog barks", "a cat"), answer=("A",)
        )
        tied = make_item(2, question="Who is it?", options=("a man", "a boy", "I"), answer=("A",))
        figures = lint_benchmark(save(clear, tied), check_media=False).figures
        assert figures["key_lengths"]["longest"]["accuracy"] == 0.75


def test_four_of_five_word_pairs_are_alike() -> None:
    def found(words: str) -> list[str]:
        media = (Media("media/a.mp4"),)
        texts = (words, f"{words} twice")
        items = [make_item(n, question=text, media=media) for n, text in enumerate(texts)]
        return [finding.tag for finding in duplicate_findings(list(enumerate(items, 1)))]

    assert found("Which tall lamp blinks brightly") == ["NEAR_DUPLICATE"]
    assert found("Which lamp blinks brightly") == []


def test_a_tenth_of_a_second_past_the_end_is_rounding(save: Save, tmp_path: Path) -> None:
    root = save(
        make_item(1, media=(Media("media/a.mp4", 0.0, 1.1),)),
        make_item(2, question="And then?", media=(Media("media/a.mp4", 0.0, 1.2),)),
    )
    (root / "media").mkdir(exist_ok=True)
    make_video(root / "media" / "a.mp4", seconds=1.0, rate=5)
    late = [f.item for f in lint_benchmark(root).findings if f.tag == "WINDOW_PAST_END"]
    assert late == ["q-2"]
