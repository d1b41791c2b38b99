"""The model of what is just noticed, by the properties that its papers give it, and local rises."""

import numpy as np
import pytest
from ordinary import ordinary_frames

from reelbench.media.edit.degrade import degrade_images
from reelbench.media.measure.local import NINTHS, rises, tile_levels, tiles
from reelbench.media.measure.quality import DAMAGES
from reelbench.media.measure.visibility import band, threshold, visibility


def grey(level: float, height: int = 56, width: int = 80) -> np.ndarray:
    return np.full((height, width), level, np.float32)


def picture(level: int, height: int = 140, width: int = 140) -> np.ndarray:
    return np.full((height, width, 3), level, np.uint8)


def spot(side: int, by: int = 6, frames: int = 1, seconds: float = 0.25, scale: int = 1) -> float:
    """JNDs of a square that is brighter, on grey at rest."""
    clean = picture(127, 140 * scale, 140 * scale)
    changed = clean.copy()
    changed[: side * scale, : side * scale] += np.uint8(by)
    return visibility([(clean, changed, clean)] * frames, seconds)


class TestThresholds:
    def test_flat_grounds_have_those_of_the_paper(self) -> None:
        for level, expected in ((127, 3.0), (255, 6.0), (0, 20 + 0.5 - 0.3 * 0.5)):
            assert threshold(grey(level)).mean() == pytest.approx(expected, rel=1e-3)

    def test_the_dark_and_the_bright_hide_more_than_the_middle(self) -> None:
        found = [float(threshold(grey(level)).mean()) for level in (5, 60, 127, 190, 250)]
        assert found[0] > found[1] > found[2] < found[3] < found[4]

    def test_texture_hides_the_more_the_steeper_it_is_in_any_direction(self) -> None:
        row = np.sin(np.arange(80) / 1.5)
        for wave in (np.tile(row, (80, 1)), np.tile(row, (80, 1)).T):
            found = [
                float(threshold((127 + by * wave).astype(np.float32)).mean()) for by in (0, 30, 90)
            ]
            assert found[0] < found[1] < found[2]

    def test_motion_hides_by_the_power_of_its_strength(self) -> None:
        still = float(threshold(grey(127), grey(127)).mean())
        assert still == pytest.approx(float(threshold(grey(127)).mean()))
        for by in (30, 60):
            moved = float(threshold(grey(127), grey(127 - by)).mean())
            assert moved == pytest.approx(still * (by / still) ** 0.6, rel=1e-3)
        assert float(threshold(grey(127), grey(125)).mean()) == pytest.approx(still)


class TestPooling:
    def test_one_degree_at_the_threshold_for_a_quarter_of_a_second_is_one(self) -> None:
        assert spot(10, 3) == pytest.approx(1.0, rel=0.02)

    def test_more_larger_and_longer_is_more_visible(self) -> None:
        one = spot(10)
        assert spot(10, 12) == pytest.approx(2 * one, rel=0.03)
        assert spot(20) == pytest.approx(4**0.25 * one, rel=0.03)
        assert spot(10, frames=2) == pytest.approx(2**0.25 * one)
        assert spot(10, seconds=1.0) == pytest.approx(4**0.25 * one)
        assert spot(10, 0) == 0

    def test_the_number_of_pixels_does_not_matter(self) -> None:
        assert spot(10, scale=2) == pytest.approx(spot(10), rel=0.03)

    def test_a_part_alone_can_be_looked_at(self) -> None:
        clean, changed = picture(127), picture(127)
        changed[:70, :70] += 6
        moments = [(clean, changed, clean)]
        whole, corner = visibility(moments, 0.25), visibility(moments, 0.25, "top left")
        assert corner == pytest.approx(whole, rel=0.03)
        assert visibility(moments, 0.25, "bottom right") == 0

    def test_bands_have_names(self) -> None:
        assert [band(v) for v in (0.5, 2, 2.1, 4, 7.9, 8.1, 99)] == [
            "up to 2", "up to 2", "2 to 4", "2 to 4", "4 to 8", "over 8", "over 8",
        ]  # fmt: skip


@pytest.mark.parametrize("damage", ["noise", "under-exposure"])
@pytest.mark.parametrize(("ninth", "first", "quarter"), [
    ("upper left", 2, 0), ("centre", 5, 1), ("lower middle", 9, 2), ("middle right", 12, 3),
])  # fmt: skip
def test_a_rise_is_found_where_and_when_it_is(
    damage: str, ninth: str, first: int, quarter: int
) -> None:
    moving = list(ordinary_frames(1, 32))[::2]
    images = moving if damage == "noise" else moving[:1] * 16
    row, column = (3 * place for place in NINTHS[ninth])
    span = slice(first, first + 2)
    images[span] = degrade_images(images[span], damage, 0.5, 1, tiles(row, column, 3))
    found = rises(tile_levels(DAMAGES[damage], images))
    assert found.shape == (9, 4)
    assert np.unravel_index(found.argmax(), found.shape) == (list(NINTHS).index(ninth), quarter)


def test_few_frames_have_no_rise() -> None:
    images = list(ordinary_frames(1, 2))
    assert rises(tile_levels(DAMAGES["noise"], images)).max() == -np.inf
