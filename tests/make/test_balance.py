"""Keys come out even, and nothing hangs on the order that items came in."""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.base.text import is_none_of_them
from reelbench.data.items import LETTERS, Item, Media, freeze
from reelbench.lint import lint_benchmark
from reelbench.make.parts.balance import (
    KeyPlacer,
    items_to_negate,
    keep_ratio,
    offer_none_of_the_above,
    split_items,
    spread_key_positions,
)

NONE = "None of the above"
Save = Callable[..., Path]


def option_texts(count: int) -> tuple[str, ...]:
    return tuple(f"text {place}" for place in range(count))


def one_of(number: int, count: int = 4, **fields: object) -> Item:
    plain = {"options": option_texts(count), "answer": ("A",)}
    return make_item(number, **(plain | fields))


def spread(counts: Sequence[int]) -> int:
    return max(counts) - min(counts)


def places(items: Sequence[Item], count: int) -> list[int]:
    keys = Counter(item.answer[0] for item in items)
    assert set(keys) <= set(LETTERS[:count])
    return [keys[letter] for letter in LETTERS[:count]]


@st.composite
def any_items(draw: st.DrawFn) -> list[Item]:
    """Items of all kinds, with option texts that repeat, close the list or come in any script."""
    texts = st.sampled_from(["是", "dog", "Dog", "ein Tor", "😀", "none", NONE, "All of the above"])
    items = []
    for number in range(draw(st.integers(0, 30))):
        kind = draw(st.sampled_from(["single", "single", "multi", "yesno", "open"]))
        fields: dict[str, object] = {"kind": kind, "tags": freeze({"category": number % 3})}
        if kind == "open":
            fields |= {"options": (), "answer": (), "reference": "rain"}
        elif kind == "yesno":
            fields |= {"options": ("Yes", "No"), "answer": (draw(st.sampled_from("AB")),)}
        else:
            options = draw(st.lists(texts, min_size=2, max_size=26))
            letters = st.sampled_from(LETTERS[: len(options)])
            most = len(options) if kind == "multi" else 1
            answer = draw(st.lists(letters, min_size=1, max_size=most, unique=True))
            fields |= {"options": tuple(options), "answer": tuple(answer)}
        paths = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=2))
        items.append(make_item(number, media=tuple(map(Media, paths)), **fields))
    return items


class TestAnyOrder:
    @given(any_items(), st.integers(), st.randoms(use_true_random=False))
    def test_the_order_that_items_came_in_changes_nothing(
        self, items: list[Item], seed: int, rng: random.Random
    ) -> None:
        mixed = rng.sample(items, len(items))
        changes: list[Callable[[Sequence[Item]], Sequence[Item]]] = [
            lambda given: spread_key_positions(given, seed),
            lambda given: offer_none_of_the_above(given, seed, 0.3, 0.4),
            lambda given: split_items(given, seed=seed),
            lambda given: split_items(given, {"a": 0.2, "b": 0.3, "c": 0.5}, seed=seed),
            lambda given: split_items(given, seed=seed, together=False),
        ]
        for change in changes:
            before, after = change(items), change(mixed)
            assert [item.id for item in before] == [item.id for item in items]
            assert [item.id for item in after] == [item.id for item in mixed]
            assert {i.id: i for i in before} == {i.id: i for i in after}
        asked = [item for item in items if item.kind == "yesno"]
        again = [item for item in mixed if item.kind == "yesno"]
        assert items_to_negate(asked, seed) == items_to_negate(again, seed)
        whole = items_to_negate(asked, seed, 0.3, within="category")
        assert whole == items_to_negate(again, seed, 0.3, within="category")
        if len(items) > 3:
            ratio = {"0": 1, "1": 1}
            kept, left_out = keep_ratio(items, "category", ratio, seed)
            assert set(keep_ratio(mixed, "category", ratio, seed)[0]) == set(kept)
            assert sorted([*kept, *left_out], key=items.index) == items

    def test_another_seed_another_draw(self) -> None:
        items = [one_of(n) for n in range(40)]
        assert spread_key_positions(items, 1) != spread_key_positions(items, 2)
        assert offer_none_of_the_above(items, 1) != offer_none_of_the_above(items, 2)
        assert split_items(items, seed=1) != split_items(items, seed=2)

    def test_an_id_twice_is_refused(self) -> None:
        with pytest.raises(ReelbenchError, match="Two items have the id 'q-1'"):
            spread_key_positions([one_of(1), one_of(1)], 0)

    def test_no_items(self) -> None:
        assert (
            spread_key_positions([], 0)
            == offer_none_of_the_above([], 0)
            == split_items([], seed=0)
            == ()
        )
        assert items_to_negate([], 0) == frozenset()


class TestPlaces:
    @given(st.lists(st.integers(2, 26), max_size=120), st.integers())
    def test_keys_are_even_for_each_number_of_options(self, counts: list[int], seed: int) -> None:
        items = [one_of(number, count) for number, count in enumerate(counts)]
        dealt = spread_key_positions(items, seed)
        for count in set(counts):
            assert spread(places([i for i in dealt if len(i.options) == count], count)) <= 1

    @given(any_items(), st.integers())
    def test_no_text_is_lost_and_every_key_stays_right(self, items: list[Item], seed: int) -> None:
        dealt = spread_key_positions(items, seed)
        for before, after in zip(items, dealt, strict=True):
            assert sorted(after.options) == sorted(before.options)
            assert sorted(after.correct) == sorted(before.correct)
            assert list(after.answer) == sorted(after.answer) or after == before
            rest = structs.replace(after, options=before.options, answer=before.answer)
            assert rest == before
            if before.kind in ("yesno", "open"):
                assert after == before
        assert spread_key_positions(dealt, seed) == dealt  # as often as one likes

    def test_ids_and_a_seed_do_not_tell_them(self) -> None:
        """Seeds are often 0: who knows questions and options must not work out the places."""
        true = [one_of(number, answer=("ABCD"[number % 4],)) for number in range(200)]
        other = [one_of(0, answer=("D",)), *true[1:]]  # all but one guessed right
        pairs = zip(spread_key_positions(true, 0), spread_key_positions(other, 0), strict=True)
        same = sum(a.answer == b.answer for a, b in pairs)
        assert 20 < same < 80  # 50 by chance

    def test_wrong_options_do_not_keep_an_order_that_the_key_breaks(self) -> None:
        items = [one_of(n, options=("1", "2", "3", "4"), answer=("B",)) for n in range(200)]
        orders = {i.options for i in spread_key_positions(items, 0)}
        assert len(orders) == math.factorial(4)

    def test_none_of_the_above_stays_last(self) -> None:
        texts = ("rain", "snow", NONE, "hail")
        items = [one_of(n, options=texts, answer=("ABD"[n % 3],)) for n in range(31)]
        dealt = spread_key_positions(items, 0)
        assert {item.options[-1] for item in dealt} == {NONE}
        assert spread(places(dealt, 3)) <= 1

    def test_an_item_whose_key_is_none_of_the_above_is_left_alone(self) -> None:
        items = [one_of(n, options=("rain", "snow", NONE), answer=("C",)) for n in range(9)]
        assert list(spread_key_positions(items, 0)) == items

    @given(st.integers(0, 40), st.integers(0, 40), st.integers())
    def test_with_and_without_it_are_even_apart_and_in_the_linter_s_count(
        self, free: int, closed: int, seed: int
    ) -> None:
        items = [one_of(n) for n in range(free)]
        items += [one_of(100 + n, options=(*option_texts(4), NONE)) for n in range(closed)]
        dealt = spread_key_positions(items, seed)
        for some in (dealt, dealt[:free], dealt[free:]):
            assert spread(places(some, 4)) <= 1

    def test_options_that_name_places_stay_where_they_are(self) -> None:
        for odd in ("All of the above", "Both A and B"):
            items = [one_of(n, options=("rain", "snow", odd)) for n in range(9)]
            assert list(spread_key_positions(items, 0)) == items

    def test_orders_of_events_are_no_such_options(self) -> None:
        texts = ("A, B, C", "B, A, C", "C, B, A", NONE)
        dealt = spread_key_positions([one_of(n, options=texts) for n in range(9)], 0)
        assert places(dealt, 3) == [3, 3, 3]

    def test_a_key_that_says_the_same_as_a_wrong_option(self) -> None:
        dealt = spread_key_positions([one_of(n, options=("dog",) * 4) for n in range(8)], 0)
        assert places(dealt, 4) == [2, 2, 2, 2]

    def test_what_is_written_about_options_is_left_alone(self) -> None:
        notes = freeze({"distractors": ["hard", "easy"]})
        (dealt,) = spread_key_positions([one_of(1, provenance=notes, extra=notes)], 0)
        assert (dealt.provenance, dealt.extra) == (notes, notes)

    @pytest.mark.parametrize("answer", [(), ("E",), ("A", "B"), ("AB",)])
    def test_a_key_that_is_none_gets_a_sentence(self, answer: tuple[str, ...]) -> None:
        with pytest.raises(ReelbenchError, match=r"Item 'q-1' has the answer .* must be one"):
            spread_key_positions([one_of(1, answer=answer)], 0)


def stands_for(item: Item) -> Any:
    """What the option replaced: the key or a distractor."""
    return item.provenance.get("none-of-the-above", {}).get("none_of_the_above")


class TestNoneOfTheAbove:
    def test_the_shares_of_mmou(self) -> None:
        items = offer_none_of_the_above([one_of(n, 10) for n in range(15_000)], seed=0)
        roles = Counter(stands_for(item) for item in items)
        assert roles == {None: 11_000, "key": 2_000, "distractor": 2_000}

    @given(any_items(), st.integers(), st.fractions(0, 1), st.fractions(0, 1))
    def test_counts_are_exact_and_keys_right(
        self, items: list[Item], seed: int, one: Fraction, other: Fraction
    ) -> None:
        as_key, as_distractor = float(one * other), float(one * (1 - other))
        everywhere = offer_none_of_the_above(items, seed, 1.0, 0.0)
        eligible = sum(new != old for new, old in zip(everywhere, items, strict=True))
        changed = offer_none_of_the_above(items, seed, as_key, as_distractor)
        roles = Counter(stands_for(item) for item in changed)
        assert abs(roles["key"] - as_key * eligible) < 1
        assert abs(roles["distractor"] - as_distractor * eligible) < 1
        for old, new in zip(items, changed, strict=True):
            role = stands_for(new)
            if role is None:
                assert new == old
                continue
            assert len(new.options) == len(old.options) >= 3
            assert [is_none_of_them(text) for text in new.options].index(True) + 1 == len(
                old.options
            )
            kept = Counter(old.options) - Counter(new.options)
            assert kept.total() == 1
            assert (set(kept) == set(old.correct)) == (role == "key")
            assert new.correct == ((NONE,) if role == "key" else old.correct)

    @pytest.mark.parametrize(
        "fields",
        [
            {"options": ("rain", "snow")},
            {"options": ("rain", "snow", "none of these")},
            {"options": ("rain", "snow", "Both A and B")},
            {"options": ("Rain", "snow", "rain ")},
            {"kind": "multi"},
            {"kind": "yesno", "options": ("Yes", "No")},
            {"kind": "open", "options": (), "answer": (), "reference": "rain"},
        ],
    )
    def test_who_cannot_have_it(self, fields: dict[str, object]) -> None:
        items = [one_of(1, **fields)]
        assert list(offer_none_of_the_above(items, 0, as_key=1, as_distractor=0)) == items

    def test_in_another_language_it_is_known_again(self) -> None:
        items = [one_of(n) for n in range(12)]
        closed = offer_none_of_the_above(items, 0, as_key=0.5, as_distractor=0.5, text="以上都不是")
        dealt = spread_key_positions(closed, 0)
        assert {item.options[-1] for item in dealt} == {"以上都不是"}
        assert places([i for i in dealt if i.answer != ("D",)], 3) == [2, 2, 2]
        assert (
            offer_none_of_the_above(dealt, 1, as_key=1, as_distractor=0, text="以上都不是") == dealt
        )

    def test_the_reference_stays_what_its_author_answered(self) -> None:
        items = [one_of(1, reference="Text 0", provenance=freeze({"by": "us"}))]
        (changed,) = offer_none_of_the_above(items, 0, as_key=1, as_distractor=0)
        assert (changed.correct, changed.reference) == ((NONE,), "Text 0")
        assert changed.provenance == {
            "by": "us",
            "none-of-the-above": {"none_of_the_above": "key"},
        }

    @pytest.mark.parametrize(
        ("wrong", "sentence"),
        [
            ({"as_key": -0.1}, "as_key is -0.1"),
            ({"as_distractor": math.nan}, "as_distractor is nan"),
            ({"as_key": 0.6, "as_distractor": 0.5}, "sum to 1 at most"),
            ({"text": " "}, "is empty"),
        ],
    )
    def test_wrong_use_gets_a_sentence(self, wrong: dict[str, float], sentence: str) -> None:
        with pytest.raises(ReelbenchError, match=sentence):
            offer_none_of_the_above([one_of(1)], 0, **wrong)


class TestTogether:
    def test_the_linter_finds_nothing_in_what_was_balanced(self, save: Save) -> None:
        words = ("rain", "snow", "wind", "hail", "fog", "sun")
        items = [one_of(n, options=words, question=f"What is it in {n}?") for n in range(120)]
        items = [structs.replace(item, answer=(LETTERS[n % 6],)) for n, item in enumerate(items)]
        closed = offer_none_of_the_above(items, 0, as_key=1 / 12, as_distractor=5 / 12)
        report = lint_benchmark(save(*spread_key_positions(closed, 0)), check_media=False)
        assert [finding.message for finding in report.findings] == []

    def test_a_dealer_gives_every_place_once_before_any_again(self) -> None:
        placer = KeyPlacer(0)
        for count in (4, 5, 4):
            assert sorted(placer.position(count) for _ in range(count)) == list(range(count))
