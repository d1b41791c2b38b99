"""Yes against no, ratios and splits: counts are what was asked for, of all and within each part."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from support import make_item

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item, Media, freeze
from reelbench.make.parts.balance import items_to_negate, keep_ratio, negated, split_items
from reelbench.make.parts.balance.shares import apportion, apportion_within


def yes_no(number: int, answer: str, **fields: object) -> Item:
    plain = {"kind": "yesno", "options": ("Yes", "No"), "question": f"Does it rain in {number}?"}
    return make_item(number, **(plain | fields), answer=("A" if answer == "yes" else "B",))


def tagged(number: int, **tags: object) -> Item:
    return make_item(number, tags=freeze(tags))


class TestYesNo:
    @given(
        st.lists(st.tuples(st.sampled_from(["yes", "no"]), st.integers(0, 5)), max_size=80),
        st.sampled_from([0.5, 0.25, 1 / 3, 0.0, 1.0]),
        st.integers(),
    )
    def test_the_share_holds_for_all_and_within_each_value(
        self, asked: list[tuple[str, int]], share: float, seed: int
    ) -> None:
        items = [
            yes_no(n, side, tags=freeze({"event": value})) for n, (side, value) in enumerate(asked)
        ]
        for within in (None, "event"):
            chosen = items_to_negate(items, seed, share, within=within)
            after = [negated(i, f"Not so: {i.question}") if i.id in chosen else i for i in items]
            yes = sum(item.correct == ("Yes",) for item in after)
            assert abs(yes - share * len(items)) <= (0.5 if share == 0.5 else 1)
            by_value: dict[str, list[bool]] = defaultdict(list)
            for item in after:
                by_value[item.tag("event")[0]].append(item.correct == ("Yes",))
            for there in by_value.values() if within else ():
                assert abs(sum(there) - share * len(there)) < 1

    def test_no_more_are_negated_than_need_be(self) -> None:
        even = [yes_no(n, "yes" if n % 2 else "no") for n in range(21)]
        assert items_to_negate(even, 0) == frozenset()
        lone = [yes_no(n, "yes" if n < 70 else "no", tags=freeze({"n": n})) for n in range(100)]
        assert len(items_to_negate(lone, 0)) == len(items_to_negate(lone, 0, within="n")) == 20

    def test_items_with_several_values_or_none(self) -> None:
        tags = [{"e": "a"}, {"e": ["a", "b"]}, {"e": ["b", "a"]}, {}, {}, {"e": "a"}]
        items = [yes_no(n, "yes", tags=freeze(tag)) for n, tag in enumerate(tags)]
        chosen = items_to_negate(items, 0, within="e")
        assert [
            len(chosen & set(pair)) for pair in (("q-0", "q-5"), ("q-1", "q-2"), ("q-3", "q-4"))
        ] == [1, 1, 1]

    def test_negating(self) -> None:
        item = yes_no(
            1, "yes", options=("no.", "YES"), reference="No.", provenance=freeze({"by": 1})
        )
        new = negated(item, "Bleibt es trocken?")
        assert (new.question, new.correct, new.reference) == ("Bleibt es trocken?", ("YES",), "YES")
        assert new.options == item.options
        assert new.provenance == {"by": 1, "negate": {"negated_from": "Does it rain in 1?"}}
        back = negated(new, item.question)
        assert (back.question, back.answer) == (item.question, item.answer)

    @pytest.mark.parametrize(
        "item",
        [
            make_item(1),
            yes_no(1, "yes", options=("Yes", "Yes")),
            yes_no(1, "yes", options=("Yes", "Maybe")),
            yes_no(1, "yes", options=("Yes, on Monday", "No")),
            make_item(1, options=("Yes", "No")),
        ],
    )
    def test_what_cannot_be_negated_gets_a_sentence(self, item: Item) -> None:
        with pytest.raises(ReelbenchError, match=r"Item 'q-1' is of kind .* only a yesno item"):
            negated(item, "Does it not?")
        with pytest.raises(ReelbenchError, match=r"Item 'q-1' is of kind .* only a yesno item"):
            items_to_negate([yes_no(2, "no"), item], 0)

    @pytest.mark.parametrize("question", ["", " \n", "does it  rain in 1?"])
    def test_no_opposite_gets_a_sentence(self, question: str) -> None:
        with pytest.raises(ReelbenchError, match="give its opposite"):
            negated(yes_no(1, "yes"), question)

    def test_no_share_gets_a_sentence(self) -> None:
        with pytest.raises(ReelbenchError, match=r"share is 1\.5"):
            items_to_negate([], 0, share=1.5)


class TestRatio:
    @given(
        st.lists(st.sampled_from("abcx"), min_size=1, max_size=60),
        st.lists(st.integers(1, 4), min_size=1, max_size=3),
        st.sampled_from([1, 0.1, 1 / 3, 7]),
    )
    def test_the_largest_exact_subset(
        self, values: list[str], parts: list[int], scale: float
    ) -> None:
        items = [tagged(n, mood=value) for n, value in enumerate(values)]
        common = math.gcd(*parts)
        whole = {value: part // common for value, part in zip("abc", parts, strict=False)}
        times = min(values.count(value) // part for value, part in whole.items())
        ratio = {value: part * scale for value, part in zip("abc", parts, strict=False)}
        if times == 0:
            with pytest.raises(ReelbenchError, match=r"The ratio .* of the mood needs"):
                keep_ratio(items, "mood", ratio, 0)
            return
        kept, left_out = keep_ratio(items, "mood", ratio, 0)
        counts = Counter(item.tag("mood")[0] for item in kept)
        assert counts == {value: times * part for value, part in whole.items()}
        for some in (kept, left_out):
            assert list(some) == [item for item in items if item in some]
        assert len(kept) + len(left_out) == len(items)

    def test_items_with_several_values_or_none_are_left_out(self) -> None:
        tags = [{"mood": ["a", "b"]}, {}, {"mood": ["a"]}, {"mood": "b"}]
        items = [tagged(n, **tag) for n, tag in enumerate(tags)]
        assert keep_ratio(items, "mood", {"a": 0.5, "b": 0.5}, 0) == (
            (items[2], items[3]),
            (items[0], items[1]),
        )

    @pytest.mark.parametrize(
        ("ratio", "sentence"),
        [
            ({"a": 1, "忧": 1}, "needs 1 of '忧' at least, and there are 0"),
            (
                {"a": 1, "b": 3},
                "The ratio 1:3 of the mood needs 3 of 'b' at least, and there are 1",
            ),
            ({"a": 1, "b": 0}, "gives 'b' the part 0: give a number above 0"),
            ({"a": math.nan}, "the part nan"),
            ({"a": math.inf}, "the part inf"),
            ({"a": 1, "b": math.sqrt(2)}, "which no count can follow"),
            ({}, "is empty"),
        ],
    )
    def test_wrong_use_gets_a_sentence(self, ratio: dict[str, float], sentence: str) -> None:
        items = [tagged(1, mood="a"), tagged(2, mood="b")]
        with pytest.raises(ReelbenchError, match=sentence):
            keep_ratio(items, "mood", ratio, 0)


SHARES = st.sampled_from(
    [
        {"dev": 0.5, "test": 0.5},
        {"train": 0.8, "dev": 0.1, "test": 0.1},
        {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3},
        {"a": 0.25, "b": 0.25, "c": 0.5},
        {"a": 1 / 6, "b": 1 / 3, "c": 1 / 2},
        {"all": 1.0},
    ]
)


def sizes_of(items: Sequence[Item]) -> Counter[str]:
    return Counter(item.tags["split"] for item in items)


class TestSplit:
    @given(st.lists(st.sampled_from("aaabcd"), max_size=80), SHARES, st.booleans(), st.integers())
    def test_each_on_its_own_media(
        self, values: list[str], shares: dict[str, float], together: bool, seed: int
    ) -> None:
        items = [tagged(n, category=value) for n, value in enumerate(values)]
        split = split_items(items, shares, seed=seed, together=together)
        exact = {name: Fraction(share).limit_denominator(100) for name, share in shares.items()}
        assert sizes_of(split) == +Counter(apportion(len(items), exact))
        for value in set(values):
            there = sizes_of([item for item in split if item.tags["category"] == value])
            for name, share in shares.items():
                assert abs(there[name] - share * values.count(value)) < 1 + 1e-9
        assert [
            structs.replace(i, tags=old.tags) for i, old in zip(split, items, strict=True)
        ] == items

    @given(
        st.lists(st.lists(st.sampled_from("abcdefghü"), min_size=1, max_size=2), max_size=30),
        SHARES,
        st.integers(),
    )
    def test_items_that_share_media_stay_together(
        self, files: list[list[str]], shares: dict[str, float], seed: int
    ) -> None:
        items = [make_item(n, media=tuple(map(Media, paths))) for n, paths in enumerate(files)]
        where: dict[str, set[str]] = defaultdict(set)
        for item in split_items(items, shares, seed=seed):
            for media in item.media:
                where[media.path].add(item.tags["split"])
        assert all(len(names) == 1 for names in where.values())

    @given(st.lists(st.integers(1, 9), min_size=1, max_size=40), st.integers())
    def test_sizes_are_as_near_as_the_groups_allow(self, groups: list[int], seed: int) -> None:
        items = [
            make_item(1000 * group + n, media=(Media(f"{group}.mp4"),))
            for group, size in enumerate(groups)
            for n in range(size)
        ]
        counts = sizes_of(split_items(items, seed=seed))
        assert abs(counts["dev"] - counts["test"]) <= max(groups)

    def test_videos_with_nine_questions_each(self) -> None:
        rng = random.Random(0)
        items = [
            make_item(
                n, media=(Media(f"{n // 9}.mp4"),), tags=freeze({"category": rng.choice("abc")})
            )
            for n in range(9 * 100)
        ]
        split = split_items(items, {"dev": 0.2, "test": 0.8}, seed=0)
        assert sizes_of(split) == {"dev": 180, "test": 720}
        for value in "abc":
            there = sizes_of([item for item in split if item.tags["category"] == value])
            assert there["dev"] / there.total() == pytest.approx(0.2, abs=0.02)

    def test_another_part_of_the_same_file_is_the_same_media(self) -> None:
        items = [make_item(n, media=(Media("a.mp4", n, n + 1),)) for n in range(8)]
        assert sizes_of(split_items(items, {"dev": 0.1, "test": 0.9}, seed=3)) == {"test": 8}

    def test_two_media_join_what_is_on_either(self) -> None:
        chain = [
            make_item(n, media=(Media(f"{n}.mp4"), Media(f"{n + 1}.mp4"))) for n in range(2000)
        ]
        assert len(sizes_of(split_items(chain, seed=0))) == 1

    def test_one_item(self) -> None:
        assert sizes_of(split_items([make_item(1)], seed=0)) == {"dev": 1}

    def test_strata_by_several_tags_and_by_lists(self) -> None:
        tags = [{"category": c, "skills": s} for c in "ab" for s in (["x", "y"], ["y", "x"])]
        items = [tagged(n, **tags[n % 4]) for n in range(40)]
        split = split_items(items, by=("category", "skills"), seed=0)
        for value in "ab":
            there = sizes_of([item for item in split if item.tags["category"] == value])
            assert there == {"dev": 10, "test": 10}
        assert split_items(items, by="skills", seed=0) == split_items(items, by=["skills"], seed=0)

    def test_fifteen_thousand_items_of_as_many_strata(self) -> None:
        lone = [tagged(n, category=n) for n in range(15_000)]
        assert sizes_of(split_items(lone, seed=0)) == {"dev": 7500, "test": 7500}
        pairs = [
            structs.replace(item, media=(Media(f"{n // 2}.mp4"),)) for n, item in enumerate(lone)
        ]
        assert sizes_of(split_items(pairs, seed=0)) == {"dev": 7500, "test": 7500}

    @pytest.mark.parametrize(
        ("shares", "sentence"),
        [
            ({}, "are none: give each one above 0"),
            ({"dev": 0, "test": 1}, "dev 0, test 1: give each one above 0"),
            ({"dev": -0.5, "test": 1.5}, "above 0"),
            ({"dev": math.nan, "test": 1}, "above 0"),
            ({"dev": 0.5, "test": 0.4}, r"sum to 0\.9: give shares that sum to 1"),
            ({"dev": 0.5, "test": 0.5 + 1e-8}, "sum to 1"),
        ],
    )
    def test_wrong_shares_get_a_sentence(self, shares: dict[str, float], sentence: str) -> None:
        with pytest.raises(ReelbenchError, match=sentence):
            split_items([make_item(1)], shares, seed=0)


class TestShares:
    @given(
        st.lists(st.integers(0, 30), max_size=12),
        st.lists(st.integers(1, 12), min_size=1, max_size=5),
        st.integers(),
    )
    def test_sums_are_those_of_the_whole_and_parts_near(
        self, sizes: list[int], weights: list[int], seed: int
    ) -> None:
        shares = {f"s{n}": Fraction(w, sum(weights)) for n, w in enumerate(weights)}
        now = {((str(n),),): {"": size} for n, size in enumerate(sizes)}
        parts = apportion_within(now, shares, seed)
        total: Counter[str] = Counter()
        for stratum, counts in parts.items():
            total.update(counts)
            size = now[stratum][""]
            assert sum(counts.values()) == size
            assert all(abs(counts[name] - size * share) <= 1 for name, share in shares.items())
        assert total == Counter(apportion(sum(sizes), shares))
