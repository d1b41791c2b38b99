"""What is wanted of videos makes the key right, by the margin; what came out otherwise is refused."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product

import pytest
from exact_orders import CASES, PAIRS, TAKE, USUAL, asked, order, showing
from exactness import Seen, holds

from reelbench.base.errors import ReelbenchError
from reelbench.media.measure.quality import CORNERS, DAMAGES
from reelbench.recipes.qbench_exact.degraded import WrittenVideo
from reelbench.recipes.qbench_exact.footage import DamageTarget, UnfitError
from reelbench.recipes.qbench_exact.plan import FAMILIES, STILL
from reelbench.recipes.qbench_exact.recipe import RECIPE
from reelbench.recipes.qbench_exact.targets import QuestionTargets, are_alike
from reelbench.recipes.qbench_exact.videos import MadeQuestion, MadeVideo

MARGINS = (0.02, 0.1, 0.2)
MIDDLE = 0.35  # between what is there and what is not


def shows(target: DamageTarget, place: float) -> WrittenVideo:
    """Where a level or an extent may be, so far between the ends of what is wanted."""
    low, high = max(target.low, target.least), min(target.high, target.most)
    assert low <= high
    level = low + place * (high - low)
    if target.corner:
        levels = tuple(level if corner == target.corner else 0.0 for corner in CORNERS)
        return showing(target.damage, level, levels=levels)
    if target.begin and not DAMAGES[target.damage].in_time:
        first = next(n for n in range(16) if (n + 0.5) / 16 >= target.begin)
        levels = tuple(level if n >= first else 0.0 for n in range(16))
        return showing(target.damage, level, levels=levels, begin=first)
    return showing(target.damage, level)


def filmed(targets: QuestionTargets, places: Sequence[float]) -> MadeQuestion:
    target: list[DamageTarget] = []
    shown: list[WrittenVideo] = []
    for number, place in zip(range(len(targets.order.segments[0])), places, strict=False):
        target.append(targets.video(number, shown, 0.0))
        shown.append(shows(target[-1], place))
    fits = targets.check(target, shown)
    videos = [
        MadeVideo(f"{n}.mp4", "", TAKE, w, s)
        for n, (w, s) in enumerate(zip(target, shown, strict=True))
    ]
    return MadeQuestion("x", targets.order, tuple(videos), 4.0, fits, targets.named_corner)


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
                targets = QuestionTargets(order(family, goal, turned, damage, margin=margin), seed)
                try:
                    question = filmed(targets, places)
                except UnfitError:  # of an ordinary segment, where two draws do not go together
                    continue
                done += 1
                item = asked(question)
                seen = [
                    Seen(v.shown.after, v.shown.extent, v.target.corner, v.shown.begin / 16)
                    for v in question.videos
                ]
                assert holds(item, seen) >= least - 1e-3, (damage, item.question, item.correct)
        assert done >= 0.8 * len(able) * 2 * 2**number

    @pytest.mark.parametrize(("family", "goal", "turned"), CASES)
    def test_the_key_has_the_place_that_was_ordered(
        self, family: str, goal: int, turned: bool
    ) -> None:
        question = filmed(QuestionTargets(order(family, goal, turned, margin=0.1), 3), (0.5, 0.5))
        item = asked(question)
        begin = question.videos[0].target.begin * 4.0
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
        begins = [
            QuestionTargets(order("when", goal, margin=0.1), seed).video(0, (), 0.0).begin
            for seed in range(50)
        ]
        assert all(goal / 4 + 0.07 < begin < (goal + 1) / 4 - 0.07 for begin in begins)
        assert max(begins) - min(begins) > 0.05

    def test_a_video_without_the_damage_is_damaged_in_another_way(self) -> None:
        """Or "it is clean" would tell the key."""
        able = {name for name in DAMAGES if name != "noise" and not are_alike(name, "noise")}
        assert len(able) > 7
        for family, goal, turned in (("is", 0, False), ("is", 1, True), ("strength", 0, False)):
            every = [
                QuestionTargets(order(family, goal, turned, margin=0.1), n).video(0, (), 0.0)
                for n in range(80)
            ]
            assert {target.damage for target in every} == able
            assert all(target.low > MIDDLE for target in every)

    def test_of_two_videos_either_may_be_the_one_without(self) -> None:
        spared = set()
        for seed in range(20):
            targets = QuestionTargets(order("both", 0, margin=0.1), seed)
            without = [targets.video(number, (), 0.0).damage != "noise" for number in (0, 1)]
            assert sum(without) == 1
            spared.add(tuple(without))
        assert len(spared) == 2

    def test_corners_that_are_named_wrongly_are_any_of_the_others(self) -> None:
        pairs = {
            (targets.corner, targets.named_corner)
            for targets in (
                QuestionTargets(order("place", 0, margin=0.1), seed) for seed in range(200)
            )
        }
        assert pairs == set(product(CORNERS, CORNERS)) - {(c, c) for c in CORNERS}

    def test_draws_belong_to_the_order(self) -> None:
        """Another seed wants something else of the same order, the same one never does."""
        for family in ("what", "when", "where", "which", "is"):
            targets = [
                QuestionTargets(order(family, 0, margin=0.1), seed).video(0, (), 0.0)
                for seed in (1, 1, 2)
            ]
            assert targets[0] == targets[1]
            assert targets[0] != targets[2]


class TestMargins:
    @pytest.mark.parametrize("margin", [0.019, 0.0, -0.1, 0.201, 0.3, 1.0])
    def test_one_that_cannot_be_kept_is_refused(self, margin: float) -> None:
        with pytest.raises(ReelbenchError) as told:
            RECIPE.changed({"plan.margin": margin})
        assert str(told.value) == f"plan.margin is {margin}: give a number from 0.02 to 0.2."

    @pytest.mark.parametrize("words", ["0.2,0.1", [0.2, 0.1]])
    def test_several_may_be_set_in_words(self, words: object) -> None:
        assert RECIPE.changed({"plan.margin": words}).parameters["plan.margin"] == (0.2, 0.1)

    @pytest.mark.parametrize("margin", MARGINS)
    def test_neighbouring_strengths_are_the_margin_apart(self, margin: float) -> None:
        assert RECIPE.changed({"plan.margin": margin})
        targets = [
            QuestionTargets(order("strength", goal, margin=margin), 0).video(0, (), 0.0)
            for goal in (1, 2)
        ]
        for each in targets:
            assert (each.low, each.high) == (each.least, each.most), "seen, and done"
        for weaker, stronger in pairwise(targets):
            assert stronger.low - weaker.high >= margin - 1e-9
        none = QuestionTargets(order("strength", 0, margin=margin), 0)
        assert targets[0].low - 0.2 >= margin
        self.check_absent(none, 0.2)

    @pytest.mark.parametrize("margin", MARGINS)
    @pytest.mark.parametrize("family", ["is", "both"])
    def test_there_and_not_there_are_the_margin_apart(self, family: str, margin: float) -> None:
        there, absent = (QuestionTargets(order(family, goal, margin=margin), 0) for goal in (1, 0))
        assert min(there.video(0, (), 0.0).low for _ in range(9)) >= MIDDLE + margin / 2
        if family == "is":
            self.check_absent(absent, min(0.2, MIDDLE - margin / 2))

    @staticmethod
    def check_absent(targets: QuestionTargets, most: float) -> None:
        target = [targets.video(0, (), 0.0)]
        assert target[0].damage != "noise"
        assert targets.check(target, [showing("noise", most - 0.001)]) == ()
        with pytest.raises(UnfitError, match="though it should be absent"):
            targets.check(target, [showing("noise", most + 0.001)])

    @pytest.mark.parametrize("margin", MARGINS)
    def test_much_and_slightly_are_the_margin_apart(self, margin: float) -> None:
        apart = [
            QuestionTargets(order("compare", goal, margin=margin), 0).difference
            for goal in range(4)
        ]
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
            targets = QuestionTargets(order(family, goal, margin=0.1), seed)
            least, most = targets.difference
            assert least >= 0.1
            target = [DamageTarget("noise", "noise")] * 2
            tries = (
                (least + 0.01, True),
                (least - 0.01, False),
                (most + 0.01, False),
                (-least, False),
            )
            for apart, fits in tries:
                shown = [showing("noise", 0.4), showing("noise", 0.4 + apart)]
                shown = shown[::-1] if targets.first_is_worse else shown
                if fits:
                    assert targets.check(target, shown) == ()
                else:
                    with pytest.raises(UnfitError, match="videos differ by"):
                        targets.check(target, shown)

    def test_what_looks_worse_must_be_more_severe(self) -> None:
        targets = QuestionTargets(order("which", 1, margin=0.1), 0)
        assert not targets.first_is_worse
        milder, worse = showing("noise", 0.1), showing("noise", 0.1 + targets.difference[0] + 0.01)
        target = [DamageTarget("noise", "noise")] * 2
        assert targets.check(target, [milder, worse]) == ()
        with pytest.raises(UnfitError):
            targets.check(target, [replace(milder, severity=0.9), replace(worse, severity=0.9)])

    def test_the_worse_of_two_is_seen_to_be_bad(self) -> None:
        """What is merely less good is not "noisier", and what is too dark not "better exposed"."""
        for damage, seed, family in product(DAMAGES, range(5), ("which", "more", "better")):
            targets = QuestionTargets(order(family, 0, damage=damage, margin=0.1), seed)
            first = targets.video(0, (), 0.0)
            second = targets.video(1, [shows(first, 0.5)], 0.0)
            worse, milder = (first, second) if targets.first_is_worse else (second, first)
            assert worse.low >= MIDDLE + 0.05 - 1e-9
            if damage in ("over-exposure", "under-exposure", "oversaturation"):
                assert milder.low >= 0

    @pytest.mark.parametrize("family", ["which", "more", "better", "compare"])
    @pytest.mark.parametrize("own", [-0.3, 0.1, 0.4])
    def test_the_milder_of_two_may_be_the_segment_as_it_is(self, family: str, own: float) -> None:
        """And the levels of the worse one leave room to be hit."""
        for seed, goal in product(range(10), range(FAMILIES[family]["keys"])):
            targets = QuestionTargets(order(family, goal, margin=0.15), seed)
            first = targets.video(0, (), own)
            second = targets.video(1, [shows(first, 0.5)], own)
            worse, milder = (first, second) if targets.first_is_worse else (second, first)
            assert milder.high >= own
            least, most = targets.difference
            assert worse.high - worse.low >= (most - least) / 2 - 1e-9

    @pytest.mark.parametrize("family", ["where", "place"])
    def test_a_damage_is_seen_in_its_corner_alone(self, family: str) -> None:
        targets = QuestionTargets(order(family, 1, margin=0.1), 0)
        target = [targets.video(0, (), 0.0)]
        place = list(CORNERS).index(targets.corner)
        for own, other, fits in ((0.41, 0.19, True), (0.39, 0.1, False), (0.8, 0.21, False)):
            levels = [0.0, 0.0, 0.0, 0.0]
            levels[place], levels[place - 1] = own, other
            self.check_levels(targets, target, tuple(levels), 0, fits)

    def test_a_damage_is_seen_from_its_beginning_on_and_not_before(self) -> None:
        targets = QuestionTargets(order("when", 2, margin=0.1), 0)
        target = [targets.video(0, (), 0.0)]
        for levels, begin, fits in (
            ((0.19, 0.1, 0.41, 0.9), 2, True),
            ((0.19, 0.21, 0.41, 0.9), 2, False),
            ((0.19, 0.1, 0.41, 0.39), 2, False),
            ((0.19, 0.1, 0.41, 0.9), 1, False),
            ((0.19, 0.1, 0.41, 0.9), 3, False),
        ):
            self.check_levels(targets, target, levels, begin, fits)

    @staticmethod
    def check_levels(
        targets: QuestionTargets,
        target: list[DamageTarget],
        levels: tuple[float, ...],
        begin: int,
        fits: bool,
    ) -> None:
        shown = [showing("noise", 0.5, levels=levels, begin=begin)]
        if fits:
            assert targets.check(target, shown) == ()
        else:
            with pytest.raises(
                UnfitError,
                match=r"is not visible everywhere|elsewhere|another quarter than planned",
            ):
                targets.check(target, shown)


class TestWrongOptions:
    def test_only_what_is_not_seen_may_be_one(self) -> None:
        targets = QuestionTargets(order("what", margin=0.1), 0)
        target = [targets.video(0, (), 0.0)]
        rest = {name for name in DAMAGES if name != "noise" and not are_alike(name, "noise")}
        own = showing("noise", 0.6)

        def beside(flicker: float) -> WrittenVideo:
            after = own.after | {"flicker": 0.45 + 32 * flicker}
            return WrittenVideo(USUAL, after, 0.6, 0.6, 0.6)

        assert set(targets.check(target, [beside(0.19)])) == rest
        assert set(targets.check(target, [beside(0.21)])) == rest - {"flicker"}
        # Of two videos, neither may show it.
        shared = QuestionTargets(order("shared", margin=0.1), 0)
        assert "flicker" not in shared.check(target * 2, [beside(0.1), beside(0.21)])
        assert "flicker" in shared.check(target * 2, [beside(0.1), beside(0.19)])

    def test_in_prose_nothing_may_be_as_apparent(self) -> None:
        targets = QuestionTargets(order("explain", margin=0.1), 0)
        own = showing("noise", 0.6)
        target = [targets.video(0, (), 0.0)]
        for blocks, fits in ((0.49, True), (0.51, False)):
            after = own.after | {"blockiness": 0.1 + 0.5 * blocks}
            shown = [WrittenVideo(USUAL, after, 0.6, 0.6, 0.6)]
            if fits:
                assert targets.check(target, shown)
            else:
                with pytest.raises(UnfitError, match="as visible as"):
                    targets.check(target, shown)

    def test_too_few_are_refused(self) -> None:
        targets = QuestionTargets(order("what", margin=0.1), 0)
        worst = {d.quality: d.usual + d.worse * d.full for n, d in DAMAGES.items() if n != "noise"}
        everything = WrittenVideo(USUAL, USUAL | worst | {"noise": 20.0}, 0.8, 0.8, 0.8)
        with pytest.raises(UnfitError, match="too many other damages"):
            targets.check([targets.video(0, (), 0.0)], [everything])

    def test_what_is_taken_for_the_damage_is_never_one(self) -> None:
        for damage in DAMAGES:
            targets = QuestionTargets(order("what", damage=damage, margin=0.1), 0)
            fits = targets.check([targets.video(0, (), 0.0)], [showing(damage, 0.7)])
            assert len(fits) >= 3
            assert not any(are_alike(damage, other) for other in fits)
        assert are_alike("blur", "compression")
        assert not are_alike("blur", "noise")
