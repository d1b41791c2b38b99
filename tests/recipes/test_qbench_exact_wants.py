"""What is wanted of videos makes the key right, by the margin; what came out otherwise is refused."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import pytest
from exactness import Seen, holds

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import Item
from reelbench.media.measure.quality import CORNERS, DAMAGES
from reelbench.recipes.qbench_exact.asking import ask
from reelbench.recipes.qbench_exact.clips import Take
from reelbench.recipes.qbench_exact.film import DamageTarget, UnfitError, WrittenVideo
from reelbench.recipes.qbench_exact.plan import FAMILIES, STILL, QuestionPlan
from reelbench.recipes.qbench_exact.recipe import RECIPE
from reelbench.recipes.qbench_exact.shots import MadeQuestion, MadeVideo
from reelbench.recipes.qbench_exact.wants import Wants, are_alike

TAKE = Take("a#0000", "a", "0" * 64, 0.0, 4.0)
MARGINS = (0.02, 0.1, 0.2)
MIDDLE = 0.35  # between what is there and what is not
CASES = [
    (family, goal, turned)
    for family, facts in FAMILIES.items()
    for goal in range(facts["keys"])
    for turned in ((False, True) if facts.get("turns") else (False,))
]
PAIRS = {"both", "shared", "which", "compare", "more", "better"}
USUAL = {damage.quality: damage.usual for damage in DAMAGES.values()}


def order(family: str, goal: int = 0, turned: bool = False, damage: str = "noise") -> QuestionPlan:
    takes = (TAKE,) * (2 if family in PAIRS else 1)
    return QuestionPlan("x", family, damage, DAMAGES[damage].kinds[0], goal, turned, (takes,))


def showing(damage: str, level: float, **more: Any) -> WrittenVideo:
    """What a take that was ordinary shows, with so much of a damage."""
    facts = DAMAGES[damage]
    after = USUAL | {facts.quality: facts.usual + facts.worse * facts.full * level}
    return WrittenVideo(USUAL, after, max(level, 0.0), level, level, **more)


def shows(wanted: DamageTarget, place: float) -> WrittenVideo:
    """Where a level or an extent may be, so far between the ends of what is wanted."""
    low, high = max(wanted.low, wanted.least), min(wanted.high, wanted.most)
    assert low <= high
    level = low + place * (high - low)
    if wanted.corner:
        levels = tuple(level if corner == wanted.corner else 0.0 for corner in CORNERS)
        return showing(wanted.damage, level, levels=levels)
    if wanted.begin and not DAMAGES[wanted.damage].in_time:
        first = next(n for n in range(16) if (n + 0.5) / 16 >= wanted.begin)
        levels = tuple(level if n >= first else 0.0 for n in range(16))
        return showing(wanted.damage, level, levels=levels, begin=first)
    return showing(wanted.damage, level)


def filmed(wants: Wants, places: Sequence[float]) -> MadeQuestion:
    wanted: list[DamageTarget] = []
    shown: list[WrittenVideo] = []
    for number, place in zip(range(len(wants.order.takes[0])), places, strict=False):
        wanted.append(wants.video(number, shown))
        shown.append(shows(wanted[-1], place))
    fits = wants.check(wanted, shown)
    videos = [
        MadeVideo(f"{n}.mp4", "", TAKE, w, s)
        for n, (w, s) in enumerate(zip(wanted, shown, strict=True))
    ]
    return MadeQuestion(
        "x", wants.order, tuple(videos), 4.0, wants.margin, fits, wants.named_corner
    )


def asked(shot: MadeQuestion) -> Item:
    (item,) = ask([shot], SimpleNamespace(seed=0, notes=[]), items=1)  # type: ignore[arg-type]
    assert isinstance(item, Item)
    return item


class TestKeys:
    @pytest.mark.parametrize("margin", MARGINS)
    @pytest.mark.parametrize(("family", "goal", "turned"), CASES)
    def test_what_is_wanted_makes_the_key_right_by_the_margin(
        self, family: str, goal: int, turned: bool, margin: float
    ) -> None:
        least = {"when": 0.05, "where": 1.0, "place": 1.0}.get(family, margin)
        if family in ("is", "both", "strength", "compare"):
            least = margin / 2  # to what divides two answers
        able = STILL if FAMILIES[family]["damages"] == "still" else tuple(DAMAGES)
        number, done = (2 if family in PAIRS else 1), 0
        for damage, seed in product(able, range(2)):
            for places in product((0.01, 0.99), repeat=number):
                wants = Wants(order(family, goal, turned, damage), margin, seed)
                try:
                    shot = filmed(wants, places)
                except UnfitError:  # of an ordinary take, where two draws do not go together
                    continue
                done += 1
                item = asked(shot)
                seen = [
                    Seen(v.shown.after, v.shown.extent, v.wanted.corner, v.shown.begin / 16)
                    for v in shot.videos
                ]
                assert holds(item, seen) >= least - 1e-3, (damage, item.question, item.correct)
        assert done >= 0.8 * len(able) * 2 * 2**number

    @pytest.mark.parametrize(("family", "goal", "turned"), CASES)
    def test_the_key_has_the_place_that_was_ordered(
        self, family: str, goal: int, turned: bool
    ) -> None:
        shot = filmed(Wants(order(family, goal, turned), 0.1, 3), (0.5, 0.5))
        item = asked(shot)
        begin = shot.videos[0].wanted.begin * 4.0
        assert item.evidence == (((round(begin, 3), 4.0),) if begin else ())
        facts = FAMILIES[family]
        if facts["kind"] == "yesno":
            assert item.correct == ("Yes" if goal else "No",)
        elif "options" in facts:
            assert item.correct == (facts["options"][goal],)
        assert (item.kind == "open") == (not item.options) == bool(item.reference)

    @pytest.mark.parametrize("goal", range(4))
    def test_a_beginning_is_well_inside_its_quarter(self, goal: int) -> None:
        """So that the first damaged frame of sixteen is in it too."""
        begins = [Wants(order("when", goal), 0.1, seed).video(0, ()).begin for seed in range(50)]
        assert all(goal / 4 + 0.07 < begin < (goal + 1) / 4 - 0.07 for begin in begins)
        assert max(begins) - min(begins) > 0.05

    def test_a_video_without_the_damage_is_damaged_in_another_way(self) -> None:
        """Or "it is clean" would tell the key."""
        able = {name for name in DAMAGES if name != "noise" and not are_alike(name, "noise")}
        assert len(able) > 7
        for family, goal, turned in (("is", 0, False), ("is", 1, True), ("strength", 0, False)):
            every = [Wants(order(family, goal, turned), 0.1, n).video(0, ()) for n in range(80)]
            assert {wanted.damage for wanted in every} == able
            assert all(wanted.low > MIDDLE for wanted in every)

    def test_of_two_videos_either_may_be_the_one_without(self) -> None:
        spared = set()
        for seed in range(20):
            wants = Wants(order("both", 0), 0.1, seed)
            without = [wants.video(number, ()).damage != "noise" for number in (0, 1)]
            assert sum(without) == 1
            spared.add(tuple(without))
        assert len(spared) == 2

    def test_corners_that_are_named_wrongly_are_any_of_the_others(self) -> None:
        pairs = {
            (wants.corner, wants.named_corner)
            for wants in (Wants(order("place", 0), 0.1, seed) for seed in range(200))
        }
        assert pairs == set(product(CORNERS, CORNERS)) - {(c, c) for c in CORNERS}

    def test_draws_belong_to_the_order(self) -> None:
        """Another seed wants something else of the same order, the same one never does."""
        for family in ("what", "when", "where", "which", "is"):
            wants = [Wants(order(family, 0), 0.1, seed).video(0, ()) for seed in (1, 1, 2)]
            assert wants[0] == wants[1]
            assert wants[0] != wants[2]


class TestMargins:
    @pytest.mark.parametrize("margin", [0.019, 0.0, -0.1, 0.201, 0.3, 1.0])
    def test_one_that_cannot_be_kept_is_refused(self, margin: float) -> None:
        with pytest.raises(ReelbenchError) as told:
            RECIPE.changed({"damage.margin": margin})
        assert str(told.value) == f"damage.margin is {margin}: give a number from 0.02 to 0.2."

    @pytest.mark.parametrize("margin", MARGINS)
    def test_neighbouring_strengths_are_the_margin_apart(self, margin: float) -> None:
        assert RECIPE.changed({"damage.margin": margin})
        wants = [Wants(order("strength", goal), margin, 0).video(0, ()) for goal in (1, 2)]
        for each in wants:
            assert (each.low, each.high) == (each.least, each.most), "seen, and done"
        for weaker, stronger in pairwise(wants):
            assert stronger.low - weaker.high >= margin
        none = Wants(order("strength", 0), margin, 0)
        most = wants[0].low - margin
        self.check_absent(none, most)

    @pytest.mark.parametrize("margin", MARGINS)
    @pytest.mark.parametrize("family", ["is", "both"])
    def test_there_and_not_there_are_the_margin_apart(self, family: str, margin: float) -> None:
        there, absent = (Wants(order(family, goal), margin, 0) for goal in (1, 0))
        assert min(there.video(0, ()).low for _ in range(9)) >= MIDDLE + margin / 2
        if family == "is":
            self.check_absent(absent, min(0.2, MIDDLE - margin / 2))

    @staticmethod
    def check_absent(wants: Wants, most: float) -> None:
        wanted = [wants.video(0, ())]
        assert wanted[0].damage != "noise"
        assert wants.check(wanted, [showing("noise", most - 0.001)]) == ()
        with pytest.raises(UnfitError, match="without being wanted"):
            wants.check(wanted, [showing("noise", most + 0.001)])

    @pytest.mark.parametrize("margin", MARGINS)
    def test_much_and_slightly_are_the_margin_apart(self, margin: float) -> None:
        apart = [Wants(order("compare", goal), margin, 0).difference for goal in range(4)]
        assert (apart[0], apart[1]) == (apart[3], apart[2])
        assert apart[0][0] - apart[1][1] >= margin - 1e-9
        assert 2 * apart[1][0] >= margin - 1e-9, "slightly weaker from slightly stronger"
        assert all(least < most for least, most in apart)

    @pytest.mark.parametrize("family", ["which", "more", "compare", "better"])
    @pytest.mark.parametrize("goal", [0, 1])
    def test_two_videos_nearer_or_further_than_was_wanted_are_refused(
        self, family: str, goal: int
    ) -> None:
        for seed in range(5):
            wants = Wants(order(family, goal), 0.1, seed)
            least, most = wants.difference
            assert least >= 0.1
            wanted = [DamageTarget("noise", "noise")] * 2
            tries = (
                (least + 0.01, True),
                (least - 0.01, False),
                (most + 0.01, False),
                (-least, False),
            )
            for apart, fits in tries:
                shown = [showing("noise", 0.4), showing("noise", 0.4 + apart)]
                shown = shown[::-1] if wants.first_is_worse else shown
                if fits:
                    assert wants.check(wanted, shown) == ()
                else:
                    with pytest.raises(UnfitError, match="apart"):
                        wants.check(wanted, shown)

    def test_what_looks_worse_must_be_more_severe(self) -> None:
        wants = Wants(order("which", 1), 0.1, 0)
        assert not wants.first_is_worse
        milder, worse = showing("noise", 0.1), showing("noise", 0.1 + wants.difference[0] + 0.01)
        wanted = [DamageTarget("noise", "noise")] * 2
        assert wants.check(wanted, [milder, worse]) == ()
        with pytest.raises(UnfitError):
            wants.check(wanted, [replace(milder, severity=0.9), replace(worse, severity=0.9)])

    def test_the_worse_of_two_is_seen_to_be_bad(self) -> None:
        """What is merely less good is not "noisier", and what is too dark not "better exposed"."""
        for damage, seed, family in product(DAMAGES, range(5), ("which", "more", "better")):
            wants = Wants(order(family, 0, damage=damage), 0.1, seed)
            first = wants.video(0, ())
            second = wants.video(1, [shows(first, 0.5)])
            worse, milder = (first, second) if wants.first_is_worse else (second, first)
            assert worse.low >= MIDDLE + 0.05 - 1e-9
            if damage in ("over-exposure", "under-exposure", "oversaturation"):
                assert milder.low >= 0

    @pytest.mark.parametrize("family", ["where", "place"])
    def test_a_damage_is_seen_in_its_corner_alone(self, family: str) -> None:
        wants = Wants(order(family, 1), 0.1, 0)
        wanted = [wants.video(0, ())]
        place = list(CORNERS).index(wants.corner)
        for own, other, fits in ((0.41, 0.19, True), (0.39, 0.1, False), (0.8, 0.21, False)):
            levels = [0.0, 0.0, 0.0, 0.0]
            levels[place], levels[place - 1] = own, other
            self.check_levels(wants, wanted, tuple(levels), 0, fits)

    def test_a_damage_is_seen_from_its_beginning_on_and_not_before(self) -> None:
        wants = Wants(order("when", 2), 0.1, 0)
        wanted = [wants.video(0, ())]
        for levels, begin, fits in (
            ((0.19, 0.1, 0.41, 0.9), 2, True),
            ((0.19, 0.21, 0.41, 0.9), 2, False),
            ((0.19, 0.1, 0.41, 0.39), 2, False),
            ((0.19, 0.1, 0.41, 0.9), 1, False),
            ((0.19, 0.1, 0.41, 0.9), 3, False),
        ):
            self.check_levels(wants, wanted, levels, begin, fits)

    @staticmethod
    def check_levels(
        wants: Wants, wanted: list[DamageTarget], levels: tuple[float, ...], begin: int, fits: bool
    ) -> None:
        shown = [showing("noise", 0.5, levels=levels, begin=begin)]
        if fits:
            assert wants.check(wanted, shown) == ()
        else:
            with pytest.raises(
                UnfitError, match=r"is not seen all the while|elsewhere|shows none of it"
            ):
                wants.check(wanted, shown)


class TestWrongOptions:
    def test_only_what_is_not_seen_may_be_one(self) -> None:
        wants = Wants(order("what"), 0.1, 0)
        wanted = [wants.video(0, ())]
        rest = {name for name in DAMAGES if name != "noise" and not are_alike(name, "noise")}
        own = showing("noise", 0.6)

        def beside(flicker: float) -> WrittenVideo:
            after = own.after | {"flicker": 0.45 + 32 * flicker}
            return WrittenVideo(USUAL, after, 0.6, 0.6, 0.6)

        assert set(wants.check(wanted, [beside(0.19)])) == rest
        assert set(wants.check(wanted, [beside(0.21)])) == rest - {"flicker"}
        # Of two videos, neither may show it.
        shared = Wants(order("shared"), 0.1, 0)
        assert "flicker" not in shared.check(wanted * 2, [beside(0.1), beside(0.21)])
        assert "flicker" in shared.check(wanted * 2, [beside(0.1), beside(0.19)])

    def test_in_prose_nothing_may_be_as_apparent(self) -> None:
        wants = Wants(order("explain"), 0.1, 0)
        own = showing("noise", 0.6)
        wanted = [wants.video(0, ())]
        for blocks, fits in ((0.49, True), (0.51, False)):
            after = own.after | {"blockiness": 0.1 + 0.5 * blocks}
            shown = [WrittenVideo(USUAL, after, 0.6, 0.6, 0.6)]
            if fits:
                assert wants.check(wanted, shown)
            else:
                with pytest.raises(UnfitError, match="as apparent"):
                    wants.check(wanted, shown)

    def test_too_few_are_refused(self) -> None:
        wants = Wants(order("what"), 0.1, 0)
        worst = {d.quality: d.usual + d.worse * d.full for n, d in DAMAGES.items() if n != "noise"}
        everything = WrittenVideo(USUAL, USUAL | worst | {"noise": 20.0}, 0.8, 0.8, 0.8)
        with pytest.raises(UnfitError, match="too much else"):
            wants.check([wants.video(0, ())], [everything])

    def test_what_is_taken_for_the_damage_is_never_one(self) -> None:
        for damage in DAMAGES:
            wants = Wants(order("what", damage=damage), 0.1, 0)
            fits = wants.check([wants.video(0, ())], [showing(damage, 0.7)])
            assert len(fits) >= 3
            assert not any(are_alike(damage, other) for other in fits)
        assert are_alike("blur", "compression")
        assert not are_alike("blur", "noise")
