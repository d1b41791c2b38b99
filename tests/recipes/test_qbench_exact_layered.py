"""Questions about several damages: what their key says is measured again in the written video."""

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from exact_orders import SEVERAL, asked
from exactness import layers_hold
from msgspec import structs
from ordinary import ordinary_clip, shown

from reelbench.data.items import Item
from reelbench.media.measure.quality import CORNERS, DAMAGES
from reelbench.recipes.qbench_exact.clips import Segment
from reelbench.recipes.qbench_exact.degraded import SeenLayer, WrittenVideo
from reelbench.recipes.qbench_exact.footage import DamageTarget, UnfitError
from reelbench.recipes.qbench_exact.layered import check_layers, layers_of
from reelbench.recipes.qbench_exact.plan import FAMILIES, QuestionPlan
from reelbench.recipes.qbench_exact.recipe import RECIPE
from reelbench.recipes.qbench_exact.targets import QuestionTargets
from reelbench.recipes.qbench_exact.videos import MadeQuestion, write_videos

CASES = [
    (family, goal, turned)
    for family in SEVERAL
    for goal in range(FAMILIES[family]["keys"])
    for turned in (
        (False, True) if FAMILIES[family]["keys"] == 2 else (family != "times" and goal > 1,)
    )
]
SEGMENT = Segment("clip.mp4#0000", "clip.mp4", "0" * 64, 0.0, 1.0)


def targets(family: str, goal: int = 0, turned: bool = False, margin: float = 0.1, **more: object):
    order = QuestionPlan("x", family, "noise", "noise", goal, turned, ((SEGMENT,),), margin)
    seed = more.pop("seed", 0)
    return QuestionTargets(structs.replace(order, **more), seed)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ordinary_clip(tmp_path_factory.mktemp("layered") / "clip.mp4", 1, 1.0, 20)


def made(clip: Path, out: Path, wanted: QuestionTargets) -> Item:
    question = write_videos([clip], [SEGMENT], wanted, [out], 128)
    assert isinstance(question, MadeQuestion), question
    return asked(question)


class TestKeys:
    @pytest.mark.parametrize(("family", "goal", "turned"), CASES)
    def test_they_are_right_in_the_frames_of_the_file(
        self, clip: Path, tmp_path: Path, family: str, goal: int, turned: bool
    ) -> None:
        item = made(clip, tmp_path / "out.mp4", targets(family, goal, turned))
        least = {"first": 0.05, "times": 1.0}.get(family, 0.1 - 0.01)
        assert layers_hold(item, shown(tmp_path / "out.mp4", 1)) >= least
        key = item.correct[0]
        if "options" in FAMILIES[family]:
            assert key == FAMILIES[family]["options"][goal]
        wrong = next(option for option in item.options if option != key)
        letter = item.letters[item.options.index(wrong)]
        assert layers_hold(item.replace(answer=(letter,)), shown(tmp_path / "out.mp4", 1)) < 0

    @pytest.mark.parametrize(("family", "damage"), [
        ("odd", "low contrast"), ("copy", "oversaturation"), ("worse", "colour cast"), ("times", "under-exposure"),
    ])  # fmt: skip
    def test_so_they_are_for_other_damages(
        self, clip: Path, tmp_path: Path, family: str, damage: str
    ) -> None:
        wanted = targets(family, 1, damage=damage, kind=DAMAGES[damage].kinds[0], seed=1)
        item = made(clip, tmp_path / "out.mp4", wanted)
        assert layers_hold(item, shown(tmp_path / "out.mp4", 1)) > 0.08

    def test_when_it_is_seen_is_the_evidence(self, clip: Path, tmp_path: Path) -> None:
        item = made(clip, tmp_path / "out.mp4", targets("times", 2))
        assert len(item.evidence) == 3
        assert all(0 < start < end < 1 for start, end in item.evidence)
        layers = item.provenance["exact"]["videos"][0]["layers"]
        assert [(each["begin"], each["end"]) for each in layers] == [
            pytest.approx(span, abs=2e-3) for span in item.evidence
        ]

    def test_the_same_order_gives_the_same_bytes(self, clip: Path, tmp_path: Path) -> None:
        for name in ("one.mp4", "two.mp4"):
            made(clip, tmp_path / name, targets("copy", 1))
        assert (tmp_path / "one.mp4").read_bytes() == (tmp_path / "two.mp4").read_bytes()


class TestMargins:
    """What the margin turns, in each family."""

    @pytest.mark.parametrize(("family", "seed"), [*product(("odd", "copy", "worse"), range(5))])
    def test_two_levels_are_as_far_apart(self, family: str, seed: int) -> None:
        for margin in (0.02, 0.2):
            first, *others = layers_of(targets(family, 0, margin=margin, seed=seed))
            assert first.low - max(other.high for other in others) == pytest.approx(margin)
            assert first.high - min(other.low for other in others) <= 1.4 * margin + 0.07
            assert min(layer.low for layer in (first, *others)) >= 0.35 + margin / 2

    @pytest.mark.parametrize("seed", range(5))
    def test_what_comes_and_goes_is_shorter_and_fainter(self, seed: int) -> None:
        for family in ("first", "times"):
            hard, easy = (layers_of(targets(family, 1, margin=m, seed=seed)) for m in (0.02, 0.2))
            for one, other in zip(hard, easy, strict=True):
                assert one.end - one.begin < other.end - other.begin
                assert one.high < other.low
                assert one.low > 0.35, "there all the same"

    @pytest.mark.parametrize(("family", "goal", "margin"), [*product(SEVERAL, (0, 1), (0.02, 0.2))])
    def test_times_and_places_do_not_overlap(self, family: str, goal: int, margin: float) -> None:
        for seed in range(10):
            layers = layers_of(targets(family, goal, margin=margin, seed=seed))
            spans = sorted((layer.begin, layer.end, layer.corner or "") for layer in layers)
            for n, (begin, end, corner) in enumerate(spans):
                assert 0 <= begin < end <= 1
                for other, _, place in spans[n + 1 :]:
                    assert other >= end - 1e-9 or corner != place
            if family in ("first", "times"):
                assert spans[0][0] >= 1 / 16
                assert spans[-1][1] <= 15 / 16

    def test_four_times_fit_and_are_seen_apart_at_any_margin(self) -> None:
        for margin, seed in product((0.02, 0.1, 0.2), range(20)):
            spans = [
                (t.begin, t.end) for t in layers_of(targets("times", 3, margin=margin, seed=seed))
            ]
            assert all(later - end >= 1 / 16 for (_, end), (later, _) in pairwise(spans))
            assert all(end - begin >= 1 / 16 for begin, end in spans)


def seen(
    levels: tuple[float, ...], frames: tuple[int, int], severity: float = 0.0, **more: object
) -> SeenLayer:
    target = DamageTarget("noise", "noise", **more)  # type: ignore[arg-type]
    level = float(np.mean(levels[slice(*frames)]))
    return SeenLayer(target, severity or level, 0.5, level, levels, frames)


def check(wanted: QuestionTargets, *layers: SeenLayer, elsewhere: float = 0.0) -> None:
    check_layers(wanted, WrittenVideo({}, {}, layers=layers, elsewhere=elsewhere))


class TestWhatEncodingSwallowed:
    """A video whose frames do not show what the key says is refused, with the reason."""

    def test_a_damage_that_is_lost_in_a_frame(self) -> None:
        levels = (0.0, 0.5, 0.34, 0.0, 0.0, 0.5, 0.0)
        with pytest.raises(UnfitError, match="noise is not visible in every frame"):
            check(targets("times", 1), seen(levels, (1, 3)), seen(levels, (5, 6)))

    def test_one_that_is_seen_at_other_times(self) -> None:
        levels = (0.0, 0.5, 0.4, 0.21, 0.0, 0.5, 0.0)
        with pytest.raises(UnfitError, match="also visible at other times"):
            check(targets("times", 1), seen(levels, (1, 3)), seen(levels, (5, 6)))

    @pytest.mark.parametrize("spans", [((1, 3), (3, 5)), ((0, 2), (3, 5)), ((1, 3), (4, 6))])
    def test_two_that_no_frame_parts(self, spans: tuple[tuple[int, int], ...]) -> None:
        levels = tuple(0.5 if any(a <= n < b for a, b in spans) else 0.0 for n in range(6))
        with pytest.raises(UnfitError, match="no frame is shown between"):
            check(targets("times", 1), *(seen(levels, span) for span in spans))

    def test_two_that_are_too_near(self) -> None:
        corners = list(CORNERS)
        layers = [
            seen((level,), (0, 1), corner=c) for c, level in zip(corners, (0.5, 0.45), strict=False)
        ]
        with pytest.raises(UnfitError, match=r"differs by 0\.05, not by 0\.1 or more"):
            check(targets("worse", 0), *layers)
        check(targets("worse", 0, margin=0.04), *layers)
        with pytest.raises(UnfitError, match="also visible elsewhere"):
            check(targets("worse", 0, margin=0.04), *layers, elsewhere=0.3)

    @pytest.mark.parametrize("family", ["copy", "odd", "worse"])
    def test_what_looks_worse_and_was_damaged_less(self, family: str) -> None:
        """As where it is dark by itself."""
        levels = dict(zip(CORNERS, (0.6, 0.4, 0.4, 0.4), strict=True))
        places = list(CORNERS)[:2] if family == "worse" else CORNERS
        layers = [seen((levels[c],), (0, 1), 0.5, corner=c) for c in places]
        with pytest.raises(UnfitError, match="the severities are not in the order"):
            check(targets(family, 0), *layers)
        check(targets(family, 0), seen((0.6,), (0, 1), 0.51, corner="top left"), *layers[1:])

    def test_every_part_that_differs_is_our_doing(self) -> None:
        for family in ("copy", "odd", "worse"):
            assert {layer.least for layer in layers_of(targets(family, margin=0.1))} == {0.1}


class TestSize:
    def test_full_size_can_be_had_and_shrinking_is_said(self, clip: Path, tmp_path: Path) -> None:
        for longest, size in ((0, [128, 96]), (512, [128, 96]), (64, [64, 48])):
            wanted = targets("worse", 0)
            question = write_videos([clip], [SEGMENT], wanted, [tmp_path / "o.mp4"], longest)
            if isinstance(question, MadeQuestion):
                (video,) = question.videos
                assert list(video.shown.size) == size
                assert video.shown.smaller == (longest == 64)

    def test_a_length_of_no_use_is_refused(self) -> None:
        for longest in (0, 64, 4000):
            RECIPE.changed({"damage.longest": longest})
        with pytest.raises(Exception, match="give 64 pixels or more, or 0 for the size that clips"):
            RECIPE.changed({"damage.longest": 63})
