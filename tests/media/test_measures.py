"""Each measure says more of its damage where there is more of it, and nothing of other things."""

from functools import cache

import numpy as np
import pytest
from scipy import ndimage
from scipy.stats import spearmanr
from support import SHARED

from reelbench.media.decode.stream import scan_frames
from reelbench.media.edit.degrade import degrade_images
from reelbench.media.measure import metrics as measures
from reelbench.media.measure.metrics import luma

SEVERITIES = (0, 0.2, 0.4, 0.6, 0.8, 1.0)
CLIPS = ("single_face.mp4", "video1.mp4", "video2.mp4", "video4.mp4", "face_then_none.mov")
# measure, whether it is of grey, damage, the least rank correlation in each clip
STILLS = [
    ("sharpness", True, "gaussian blur", -0.95),
    ("sharpness", True, "motion blur", -0.95),
    ("sharpness", True, "defocus", -0.95),
    ("sharpness", True, "downscale", -0.95),
    ("noise", True, "noise", 0.95),
    ("brightness", True, "over-exposure", 0.95),
    ("too_bright", True, "over-exposure", 0.95),
    ("brightness", True, "under-exposure", -0.95),
    ("too_dark", True, "under-exposure", 0.9),  # none at first in a bright clip
    ("contrast", True, "low contrast", -0.95),
    ("colourfulness", False, "oversaturation", 0.95),
    ("blockiness", True, "compression", 0.6),  # H.264 smooths its blocks' edges
]


@cache
def _frames(name: str) -> tuple[np.ndarray, ...]:
    path = SHARED / "data" / "video" / name
    if not path.exists():
        pytest.skip("needs the clips of ../shared")
    looks = scan_frames(path, None, 360 if name != "single_face.mp4" else None)
    return tuple(image for _, (_, image) in zip(range(9), looks, strict=False))


def _texture(height: int = 96, width: int = 128) -> np.ndarray:
    grain = np.random.default_rng(3).random((height, width))
    return (ndimage.gaussian_filter(grain, 1.5) * 900 - 330).clip(20, 230).astype(np.float32)


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize(("name", "of_grey", "damage", "least"), STILLS)
def test_a_measure_follows_its_damage_on_real_clips(clip, name, of_grey, damage, least):
    measure = getattr(measures, name)
    values = []
    for severity in SEVERITIES:
        image = degrade_images(_frames(clip), damage, severity)[-1]
        values.append(measure(luma(image) if of_grey else image))
    found = spearmanr(SEVERITIES, values).statistic
    assert found * np.sign(least) >= abs(least), values


def test_noise_is_measured_in_levels_and_texture_is_not_taken_for_it():
    smooth = ndimage.gaussian_filter(_texture(), 4)
    smooth[:48, :] += _texture()[:48, :] - 100  # half of it has texture
    clean = measures.noise(smooth)
    grain = np.random.default_rng(1).standard_normal(smooth.shape).astype(np.float32)
    assert clean < 1
    assert measures.noise(smooth + 10 * grain) == pytest.approx(10, rel=0.15)


def test_sharpness_does_not_depend_on_contrast():
    picture = _texture()
    assert measures.sharpness(picture * 0.25 + 80) == pytest.approx(measures.sharpness(picture))


def test_blockiness_sees_blocks_and_not_stripes_elsewhere():
    picture = _texture()
    means = picture.reshape(12, 8, 16, 8).mean(axis=(1, 3)).repeat(8, 0).repeat(8, 1)
    assert measures.blockiness(means) > 5 * measures.blockiness(picture) + 0.5
    assert measures.blockiness(np.roll(means, (3, 3), (0, 1))) == 0


def test_colourfulness_is_0_for_grey_and_as_published_for_colours():
    grey = np.full((8, 8, 3), 90, np.uint8)
    assert measures.colourfulness(grey) == 0
    red = grey.copy()
    red[..., 0] = 190  # r - g = 100, (r + g) / 2 - b = 50, nothing varies
    assert measures.colourfulness(red) == pytest.approx(0.3 * np.hypot(100, 50))


@pytest.mark.parametrize(("right", "down"), [(0, 0), (5, -3), (-7, 2), (0, 11)])
def test_a_shift_is_found_in_shares_of_the_height(right, down):
    picture = _texture(140, 180)
    before, after = (
        picture[20:116, 20:148],
        picture[20 - down : 116 - down, 20 - right : 148 - right],
    )
    assert np.multiply(measures.shift(before, after), 96) == pytest.approx([right, down], abs=0.2)


def test_a_change_of_light_is_no_cut_and_another_picture_is():
    picture = _texture()
    assert measures.likeness(picture, picture * 0.5) == pytest.approx(1)
    assert measures.likeness(picture, picture[::-1, ::-1]) < 0.5
    assert measures.likeness(picture, np.zeros_like(picture)) == 0
    assert measures.likeness(np.zeros_like(picture), np.zeros_like(picture)) == 1


def test_a_small_thing_that_moves_is_a_change_and_grain_is_hardly_one():
    picture = _texture()
    moved = picture.copy()
    moved[40:48, 40:48] += 60
    assert measures.change(picture, moved) > 50
    grain = np.random.default_rng(1).standard_normal(picture.shape).astype(np.float32)
    assert measures.change(picture, picture + grain) < 2


def test_jumps_are_what_is_not_steady():
    assert measures.jumps([1, 2, 3, 4]).tolist() == [0, 0]
    assert measures.jumps([0, 4, 0]).tolist() == [4]
    assert measures.jumps([1, 2]).size == 0


def test_unevenness_is_0_for_even_steps_of_any_length():
    assert measures.unevenness([0.2] * 9) == 0
    assert measures.unevenness([0.04, 0.12]) == pytest.approx(0.5)
    assert measures.unevenness([]) == 0


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 40), (17, 5)])
@pytest.mark.parametrize("level", [0, 128, 255])
def test_tiny_and_plain_pictures_are_measured_too(shape, level):
    image = np.full((*shape, 3), level, np.uint8)
    grey = luma(image)
    for name in ("sharpness", "noise", "contrast", "blockiness"):
        assert getattr(measures, name)(grey) == pytest.approx(0, abs=1e-3)
    assert measures.brightness(grey) == pytest.approx(level / 255)
    assert measures.too_dark(grey) == (level == 0)
    assert measures.too_bright(grey) == (level == 255)
    assert measures.shift(grey, grey) == pytest.approx((0, 0))
