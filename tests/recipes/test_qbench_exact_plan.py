"""Exact questions are dealt, not drawn: evenly at any length, and by the seed alone."""

import random
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from msgspec import structs

from reelbench.make.pipeline.stage import Rejected
from reelbench.media.measure.quality import DAMAGES
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.plan import (
    FAMILIES,
    HOME,
    WORDS,
    QuestionPlan,
    SegmentPlan,
    plan,
)

STILL = {
    "blur", "noise", "compression", "over-exposure", "under-exposure", "low contrast",
    "colour cast", "oversaturation",
}  # fmt: skip
FINE = STILL - {"compression"}
LOCAL = {"noise", "over-exposure", "under-exposure", "low contrast"}
ABLE = {  # the damages of a family; the others have any
    "when": STILL, "where": STILL, "place": STILL, "first": STILL, "times": STILL,
    "odd": FINE, "copy": FINE, "worse": FINE, "together": {"blur", "noise"}, "spot": LOCAL, "hidden": LOCAL,
}  # fmt: skip
SHARES = {
    "what": 9, "strength": 6, "when": 4, "where": 5, "is": 9, "place": 5, "which": 5,
    "compare": 5, "more": 5, "both": 3, "shared": 3, "explain": 3, "better": 2,
    "first": 5, "times": 4, "odd": 5, "copy": 5, "worse": 5,
    "together": 4, "spot": 4, "hidden": 4,
}  # fmt: skip
KEYS = {  # how many answers each family has, and whether it is asked both ways
    "what": (1, 1), "strength": (3, 1), "when": (4, 1), "where": (4, 1), "is": (2, 2),
    "place": (2, 2), "which": (2, 2), "compare": (4, 1), "more": (2, 2), "both": (2, 2),
    "shared": (1, 1), "explain": (2, 1), "better": (2, 1),
    "first": (2, 2), "times": (4, 1), "odd": (4, 2), "copy": (4, 2), "worse": (2, 2),
    "together": (2, 1), "spot": (9, 1), "hidden": (4, 1),
}  # fmt: skip
TWO_SEGMENTS = {"both", "shared"}  # the others show one segment twice
PAIRS = {"both", "shared", "which", "compare", "more", "better"}


def segments(number: int) -> list[Segment]:
    return [
        Segment(f"{n // 4}.mp4#{n % 4:04d}", f"{n // 4}.mp4", f"{n // 4:064d}", n % 4, n % 4 + 1)
        for n in range(number)
    ]


def dealt(
    given: list[Segment], items: int, seed: int = 0, margins: tuple[float, ...] = (0.15,)
) -> list[QuestionPlan]:
    """All orders, in the order in which they were dealt."""
    rows: list[Any] = plan(given, SimpleNamespace(seed=seed), items=items, margin=margins)  # type: ignore[arg-type]
    orders = [order for row in rows if isinstance(row, SegmentPlan) for order in row.orders]
    return sorted(orders, key=lambda order: order.id)


ORDERS = dealt(segments(40), 2000)


@cache
def dealt_by(seed: int) -> list[QuestionPlan]:
    """What a seed deals from few segments; every family is looked for in the same."""
    return dealt(segments(5), 2000, seed)


def of(family: str) -> list[QuestionPlan]:
    return [order for order in ORDERS if order.family == family]


class TestTheWords:
    def test_every_damage_has_its_words_and_every_family_its_share(self) -> None:
        assert set(WORDS) == set(DAMAGES)
        assert {name: family["share"] for name, family in FAMILIES.items()} == SHARES
        assert sum(SHARES.values()) == 100, "shares are hundredths"

    def test_every_question_can_be_written_for_every_damage(self) -> None:
        for family in yaml.safe_load((HOME / "questions.yaml").read_text("utf-8")).values():
            for damage in WORDS.values():
                for way in ("question", "opposite"):
                    text = family.get(way, "?").format(**damage, corner="top left")
                    assert text.endswith("?")
                    assert "{" not in text

    def test_both_ways_of_asking_are_said_with_other_words(self) -> None:
        for words in WORDS.values():
            assert words["is"] != words["is_not"]
            assert words["more"] != words["less"]
            assert words["concern"] in ("Technical", "Aesthetic", "Temporal")


class TestDealing:
    def test_there_are_some_to_spare(self) -> None:
        assert len(ORDERS) == 2300
        assert len({order.id for order in ORDERS}) == 2300
        assert len(dealt(segments(3), 1)) == 2

    @pytest.mark.parametrize("length", [11, 20, 50, 100, 333, 1000, 2300])
    def test_families_come_in_their_shares_at_any_length(self, length: int) -> None:
        counts = Counter(order.family for order in ORDERS[:length])
        for family, share in SHARES.items():
            assert abs(counts[family] - length * share / 100) <= 0.8, family

    @pytest.mark.parametrize("family", SHARES)
    def test_keys_are_even_after_any_number_of_orders(self, family: str) -> None:
        goals, ways = KEYS[family]
        damages = ("blur", "noise") if family == "together" else ("",)
        keys = set(product(range(goals), (False, True)[:ways], damages))
        counts = dict.fromkeys(keys, 0)
        for order in of(family):
            damage = order.damage if family == "together" else ""
            counts[order.goal, order.turned, damage] += 1
            assert max(counts.values()) - min(counts.values()) <= 1

    @pytest.mark.parametrize("family", SHARES)
    def test_every_damage_comes_about_equally_often(self, family: str) -> None:
        able = ABLE.get(family, set(DAMAGES))
        orders = [o for seed in range(4) for o in dealt_by(seed) if o.family == family]
        counts = Counter(order.damage for order in orders)
        assert set(counts) == able
        mean = len(orders) / len(able)
        assert all(abs(count - mean) < 4.5 * mean**0.5 for count in counts.values()), counts

    @pytest.mark.parametrize("family", ["what", "is", "strength", "where"])
    def test_what_came_does_not_tell_what_comes(self, family: str) -> None:
        """Or who has seen half of the answers could count cards."""
        again = same = 0
        for seed in range(6):
            orders = [o for o in dealt_by(seed) if o.family == family]
            for one, other in pairwise(orders):
                again += 1
                same += one.damage == other.damage
        expected = again / (8 if family == "where" else len(DAMAGES))
        assert abs(same - expected) < 4 * expected**0.5

    def test_keys_come_in_no_fixed_order(self) -> None:
        for family, (goals, ways) in KEYS.items():
            block = goals * ways
            keys = [(order.goal, order.turned) for order in of(family)]
            blocks = {tuple(keys[n : n + block]) for n in range(0, len(keys) - block, block)}
            assert len(blocks) > 1 or block == 1, family

    def test_a_kind_belongs_to_its_damage_and_all_kinds_come(self) -> None:
        kinds = defaultdict(set)
        for order in ORDERS:
            kinds[order.damage].add(order.kind)
        assert kinds == {name: set(damage.kinds) for name, damage in DAMAGES.items()}

    def test_what_is_tried_instead_is_another_damage_that_the_family_may_have(self) -> None:
        for order in ORDERS:
            able = ABLE.get(order.family, set(DAMAGES))
            assert order.damage in able
            if order.family == "together":  # another damage would be another key
                assert not order.instead
                continue
            assert min(2, len(able) - 1) <= len(order.instead) <= 3
            for name, kind in order.instead:
                assert name in able - {order.damage}
                assert kind in DAMAGES[name].kinds


class TestTakes:
    def test_takes_are_used_alike(self) -> None:
        counts = Counter(order.segments[0][0].id for order in ORDERS)
        assert len(counts) == 40
        assert max(counts.values()) - min(counts.values()) <= 1

    def test_a_pair_is_of_two_takes_or_of_one_twice(self) -> None:
        for order in ORDERS:
            assert len(order.segments) == 6
            for tried in order.segments:
                assert len(tried) == (2 if order.family in PAIRS else 1)
                assert len(set(tried)) == (2 if order.family in TWO_SEGMENTS else 1)

    def test_one_take_is_enough(self) -> None:
        (segment,) = segments(1)
        orders = dealt([segment], 40)
        assert len(orders) == 46
        assert {order.family for order in orders} == set(SHARES)
        for order in orders:
            for tried in order.segments:
                assert tried == (segment,) * (2 if order.family in PAIRS else 1)

    def test_takes_without_a_question_are_not_needed(self) -> None:
        given = segments(30)
        rows: list[Any] = plan(given, SimpleNamespace(seed=0), items=10, margin=[0.15])  # type: ignore[arg-type]
        assert len(rows) == 30
        used = [row for row in rows if isinstance(row, SegmentPlan)]
        spare = [row for row in rows if isinstance(row, Rejected)]
        assert (len(used), len(spare)) == (12, 18)
        assert {row.reason for row in spare} == {"not needed"}
        for row, segment in zip(rows, given, strict=True):
            if isinstance(row, SegmentPlan):
                assert row.id == segment.id
                assert [order.segments[0][0].id for order in row.orders] == [segment.id]


class TestSeeds:
    @pytest.mark.parametrize("mix", [1, 2])
    def test_the_order_of_takes_does_not_matter(self, mix: int) -> None:
        given = segments(17)
        mixed = random.Random(mix).sample(given, len(given))
        assert mixed != given
        assert dealt(mixed, 60) == dealt(given, 60)

    def test_the_same_seed_deals_the_same_and_another_does_not(self) -> None:
        first, again, other = (dealt(segments(9), 60, seed) for seed in (4, 4, 5))
        assert first == again
        for what in ("damage", "kind", "goal", "segments", "instead", "family"):
            assert [getattr(o, what) for o in first] != [getattr(o, what) for o in other], what

    def test_other_clips_under_the_same_names_are_dealt_otherwise(self) -> None:
        """Or who knows the seed would know the keys, without the clips."""
        others = [structs.replace(segment, sha256=f"{1:064d}") for segment in segments(9)]
        first, other = dealt(segments(9), 60), dealt(others, 60)
        assert [(o.damage, o.goal) for o in first] != [(o.damage, o.goal) for o in other]

    def test_more_items_keep_those_there_were(self) -> None:
        """So that a larger benchmark costs only what is new."""
        assert dealt(segments(9), 200)[:60] == dealt(segments(9), 60)[:60]


class TestMargins:
    MARGINS = (0.2, 0.1, 0.05)

    def test_several_are_dealt_to_equally_many_questions_of_each_family(self) -> None:
        found = dealt(segments(40), 600, margins=self.MARGINS)
        for family in FAMILIES:
            counts = Counter(order.margin for order in found if order.family == family)
            assert set(counts) == set(self.MARGINS)
            assert max(counts.values()) - min(counts.values()) <= 1

    def test_they_change_nothing_else(self) -> None:
        one, several = (dealt(segments(40), 100, margins=m) for m in ((0.15,), self.MARGINS))
        assert {order.margin for order in one} == {0.15}
        assert [structs.replace(order, margin=0.15) for order in several] == one

    @pytest.mark.parametrize("seed", range(6))
    def test_yes_is_as_often_right_at_each_of_them(self, seed: int) -> None:
        """Or who always says yes would be at another accuracy in each column of the table."""
        found = dealt(segments(40), 300, seed, self.MARGINS)
        closed = [order for order in found if FAMILIES[order.family]["kind"] == "yesno"]
        for margin in self.MARGINS:
            yes = [order.goal for order in closed if order.margin == margin]
            assert len(yes) > 15
            assert abs(sum(yes) - len(yes) / 2) <= 2
