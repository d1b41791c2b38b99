"""A few frames show each damage in its quality, and more of it where it is more severe."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy import ndimage
from scipy.stats import spearmanr
from support import SHARED

from reelbench.media.decode.stream import scan_frames
from reelbench.media.edit.degrade import DEGRADATIONS, degrade_images
from reelbench.media.edit.write import even
from reelbench.media.measure import metrics as measures
from reelbench.media.measure.quality import CORNERS, DAMAGES, all_qualities, course, part_of

SEVERITIES = (0.0, 0.25, 0.5, 0.75, 1.0)
CLIPS = ("single_face.mp4", "video2.mp4", "carphone_pristine.mp4")
KINDS = [(name, kind) for name, damage in DAMAGES.items() for kind in damage.kinds]
# Blocks show in steps, and a few frames cannot tell one lost frame from two.
LEAST = {"compression": 0.8, "shake": 0.85, "stutter": 0.85, "dropped frames": 0.7}
DIP = {
    "compression": 0.45,
    "shake": 0.15,
}  # by which more severity may show less, in shares of the worst
REACH = {"dropped frames": 0.2, "defocus": 0.35}  # what the worst comes to, at least
SHOWN = 16


@cache
def _frames(name: str) -> tuple[np.ndarray, ...]:
    """All frames of the first seconds, so small that the tests are quick."""
    path = SHARED / "data" / "video" / name
    if not path.exists():
        pytest.skip("needs the clips of ../shared")
    return tuple(even(image) for _, image in scan_frames(path, None, 192, end=3.0))


def _shown(images: tuple[np.ndarray, ...] | list[np.ndarray]) -> list[np.ndarray]:
    return [images[int((n + 0.5) * len(images) / SHOWN)] for n in range(SHOWN)]


@cache
def _before(clip: str) -> dict[str, float]:
    return all_qualities(_shown(_frames(clip)))


def _quality(clip: str, name: str, kind: str, severity: float) -> float:
    damage = DAMAGES[name]
    if damage.in_time:
        return course(_shown(degrade_images(_frames(clip), kind, severity, 1)))[damage.quality]
    few = degrade_images(_shown(_frames(clip))[::3], kind, severity, 1)
    return float(np.mean([_of_one(image, damage.quality) for image in few]))


def _of_one(image: np.ndarray, quality: str) -> float:
    of_colours = quality in ("cast", "colourfulness")
    return float(getattr(measures, quality)(image if of_colours else measures.luma(image)))


@cache
def _course(clip: str, name: str, kind: str) -> tuple[float, ...]:
    return tuple(_quality(clip, name, kind, severity) for severity in SEVERITIES)


@pytest.mark.parametrize("clip", CLIPS)
class TestRealClips:
    @pytest.mark.parametrize(("name", "kind"), KINDS)
    def test_a_quality_follows_its_damage(self, clip: str, name: str, kind: str) -> None:
        damage = DAMAGES[name]
        values = [damage.worse * value for value in _course(clip, name, kind)]
        assert spearmanr(SEVERITIES, values).statistic >= LEAST.get(kind, 0.95), values
        for less, more in pairwise(values):
            assert (less - more) / damage.full <= DIP.get(kind, 0.02), values

    @pytest.mark.parametrize(("name", "kind"), KINDS)
    def test_extent_and_level_grow_with_it(self, clip: str, name: str, kind: str) -> None:
        damage = DAMAGES[name]
        clean, *_, worst = ({damage.quality: value} for value in _course(clip, name, kind))
        extent = damage.extent(clean, worst)
        assert REACH.get(kind, 0.4) < extent < 2, "1 is what the worst does to an ordinary clip"
        assert damage.extent(clean, clean) == 0
        assert damage.extent(worst, clean) == pytest.approx(-extent)
        assert damage.level(worst) - damage.level(clean) == pytest.approx(extent)

    def test_what_is_clean_is_not_far_from_ordinary(self, clip: str) -> None:
        levels = {name: damage.level(_before(clip)) for name, damage in DAMAGES.items()}
        assert max(levels.values()) < 0.8, levels

    def test_damage_in_one_corner_shows_there_most(self, clip: str) -> None:
        image = _frames(clip)[0]
        for corner, region in CORNERS.items():
            (noisy,) = degrade_images([image], "noise", 0.6, 1, region)
            values = {name: _of_one(part_of(noisy, name), "noise") for name in CORNERS}
            assert max(values, key=lambda name: values[name]) == corner
            assert sorted(values.values())[-1] > sorted(values.values())[-2] + 5


class TestTheTable:
    def test_it_speaks_of_damages_and_qualities_that_there_are(self) -> None:
        kinds = [kind for damage in DAMAGES.values() for kind in damage.kinds]
        assert len(kinds) == len(set(kinds))
        assert set(kinds) <= set(DEGRADATIONS)
        seen = all_qualities([np.full((32, 32, 3), 90, np.uint8)] * 3)
        assert {damage.quality for damage in DAMAGES.values()} == set(seen)
        for damage in DAMAGES.values():
            assert damage.full > 0
            assert damage.worse in (-1, 1)
            assert damage.level({damage.quality: damage.usual}) == 0

    def test_what_a_single_frame_shows_is_not_in_time(self) -> None:
        in_time = {name for name, damage in DAMAGES.items() if damage.in_time}
        assert in_time == {"shake", "flicker", "stutter"}
        of_many = set(course([np.zeros((32, 32, 3), np.uint8)] * 3))
        assert all((DAMAGES[name].quality in of_many) == (name in in_time) for name in DAMAGES)


def _still(image: np.ndarray) -> dict[str, float]:
    return all_qualities([image])


def _texture(height: int = 128, width: int = 192) -> np.ndarray:
    grain = np.random.default_rng(3).random((height + 40, width + 40, 1))
    soft = ndimage.gaussian_filter(grain, (4, 4, 0)) * 3000 - 1380
    return np.asarray(soft.clip(20, 230).astype(np.uint8).repeat(3, 2))


def _window(down: int, right: int) -> np.ndarray:
    return np.ascontiguousarray(_texture()[20 - down : 148 - down, 20 - right : 212 - right])


class TestMadeUpPictures:
    def test_shake_is_how_far_a_picture_goes_to_and_fro(self) -> None:
        moved = [_window(0, 4 * (number % 2)) for number in range(9)]
        # Each is 4 pixels of 128 from halfway between its neighbours.
        assert course(moved)["shake"] == pytest.approx(1000 * 4 / 128, rel=0.1)
        slanted = [_window(3 * (number % 2), 4 * (number % 2)) for number in range(9)]
        assert course(slanted)["shake"] == pytest.approx(1000 * 5 / 128, rel=0.1)

    def test_a_steady_pan_is_no_shake(self) -> None:
        assert course([_window(0, 3 * number - 10) for number in range(8)])["shake"] < 1.5

    def test_cuts_are_no_shake(self) -> None:
        chance = np.random.default_rng(7)
        scenes = [chance.integers(0, 255, (64, 96, 3)).astype(np.uint8) for _ in range(8)]
        assert course(scenes)["shake"] == 0

    def test_flicker_is_how_far_brightness_jumps_in_hundredths_of_itself(self) -> None:
        pictures = [np.full((40, 60, 3), 100 + 20 * (n % 2), np.uint8) for n in range(10)]
        expected = np.mean([20 / (101 + 20 * (n % 2)) * 100 for n in range(1, 9)])
        assert course(pictures)["flicker"] == pytest.approx(expected, rel=1e-4)

    def test_a_fade_is_no_flicker(self) -> None:
        fade = [np.full((40, 60, 3), 20 + 15 * n, np.uint8) for n in range(10)]
        assert course(fade)["flicker"] == pytest.approx(0, abs=1e-4)

    def test_repeats_are_the_share_of_frames_like_the_one_before(self) -> None:
        numbers = [0, 0, 0, 1, 2, 2, 3, 4, 5]  # 3 of 8 steps show nothing new
        assert course([_window(0, 4 * n - 8) for n in numbers])["repeats"] == 3 / 8
        assert course([_window(0, 0)] * 5)["repeats"] == 1
        assert course([_window(0, 4 * n - 8) for n in range(6)])["repeats"] == 0

    def test_a_repeat_that_was_encoded_anew_is_still_one(self) -> None:
        chance = np.random.default_rng(1)
        anew = [
            np.clip(_window(0, 0) + chance.integers(-2, 3, (128, 192, 1)), 0, 255) for _ in "abc"
        ]
        assert course([image.astype(np.uint8) for image in anew])["repeats"] == 1

    @pytest.mark.parametrize("level", [0, 60, 128, 255])
    def test_grey_has_no_colour_and_no_cast(self, level: int) -> None:
        seen = _still(np.full((48, 64, 3), level, np.uint8))
        assert seen["cast"] == seen["colourfulness"] == 0
        assert seen["brightness"] == pytest.approx(level / 255, abs=1e-6)
        assert seen["contrast"] == pytest.approx(0, abs=1e-6)

    def test_cast_is_of_the_whole_and_colours_that_cancel_out_are_none(self) -> None:
        red = np.full((48, 64, 3), (140, 100, 100), np.uint8)
        assert _still(red)["cast"] == pytest.approx(np.hypot(40, 20))
        both = red.copy()
        both[:, 32:] = (100, 140, 140)  # as far to the other side
        assert _still(both)["cast"] == pytest.approx(0, abs=1e-4)
        assert _still(both)["colourfulness"] > 30

    @pytest.mark.parametrize("size", [(64, 96), (96, 64), (90, 160), (50, 70)])
    def test_a_part_is_the_right_quarter_and_begins_on_the_grid(
        self, size: tuple[int, int]
    ) -> None:
        height, width = size
        image = np.zeros((height, width, 3), np.uint8)
        image[..., 0], image[..., 1] = np.arange(height)[:, None], np.arange(width)
        for corner, (left, top, right, bottom) in CORNERS.items():
            part = part_of(image, corner)
            assert {left, top, right, bottom} <= {0.0, 0.5, 1.0}
            assert ("left" in corner) == (left == 0)
            assert ("top" in corner) == (top == 0)
            assert part[..., 0].min() in range(round(top * height), round(top * height) + 8)
            assert part[..., 1].min() in range(round(left * width), round(left * width) + 8)
            assert part[..., 0].min() % 8 == part[..., 1].min() % 8 == 0
            assert part[..., 0].max() == round(bottom * height) - 1
            assert part[..., 1].max() == round(right * width) - 1
        assert part_of(image, None) is image

    @pytest.mark.parametrize("count", [1, 2])
    def test_too_few_frames_move_nothing(self, count: int) -> None:
        seen = all_qualities([_window(0, 4 * n) for n in range(count)])
        assert seen["shake"] == seen["flicker"] == seen["repeats"] == 0

    @pytest.mark.parametrize("size", [(1, 1), (2, 2), (3, 50), (9, 9), (16, 2)])
    def test_tiny_pictures_have_qualities_too(self, size: tuple[int, int]) -> None:
        chance = np.random.default_rng(2)
        pictures = [chance.integers(0, 255, (*size, 3)).astype(np.uint8) for _ in range(4)]
        assert np.isfinite(list(all_qualities(pictures).values())).all()

    def test_of_stills_the_mean_counts(self) -> None:
        dark, bright = (np.full((32, 32, 3), level, np.uint8) for level in (51, 204))
        assert all_qualities([dark, bright])["brightness"] == pytest.approx(0.5)
        assert all_qualities([dark, dark, bright])["brightness"] == pytest.approx(0.4)
