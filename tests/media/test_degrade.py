"""Each degradation does nothing at 0, more and more up to 1, and the same on every machine."""

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from videos import fingerprint, make_video

from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.decode import every_frame
from reelbench.media.decode.probe import probe
from reelbench.media.edit.degrade import DEGRADATIONS, degrade_images, degrade_video

Images = list[np.ndarray]
SEVERITIES = (0.2, 0.4, 0.6, 0.8, 1.0)


TEXTURE = np.random.default_rng(2).normal(0, 12, (180, 400, 1))


def scene() -> Images:
    """Soft shapes that move on a gradient, in colours neither black nor white."""
    y, x = np.mgrid[0:180, 0:320]
    made = []
    for number in range(48):
        ground = np.stack([60 + x / 4, 90 + y / 3, 140 - x / 6], axis=2)
        for colour, speed, size in (
            ((200, 60, 50), 3, 26),
            ((50, 70, 190), -2, 34),
            ((70, 170, 80), 1, 18),
        ):
            disc = (
                np.hypot(
                    x - (160 + speed * (number - 24)), y - 90 - 20 * np.sin(speed + number / 9)
                )
                < size
            )
            ground[disc] = colour
        made.append(np.clip(ground + TEXTURE[:, number : number + 320], 0, 255).astype(np.uint8))
    return made


CLEAN = scene()


def fidelity(images: Images) -> float:
    """PSNR against the clean scene, in decibels."""
    error = np.mean([(a.astype(np.float64) - b) ** 2 for a, b in zip(images, CLEAN, strict=True)])
    return 10 * np.log10(255**2 / max(error, 1e-9))


def levels(images: Images) -> float:
    return float(np.mean([len(np.unique(image)) for image in images]))


def new_pictures(images: Images) -> float:
    return sum(not np.array_equal(a, b) for a, b in pairwise(images)) / len(images)


def steadiness(images: Images) -> float:
    return -float(np.std([image.mean() for image in images]))


# What each one takes away, measured: it must fall with every step of severity.
MEASURES: dict[str, Callable[[Images], float]] = dict.fromkeys(DEGRADATIONS, fidelity) | {
    "banding": levels,
    "dropped frames": new_pictures,
    "stutter": new_pictures,
    "freeze": new_pictures,
    "flicker": steadiness,
}


@pytest.mark.parametrize("kind", MEASURES)
def test_more_severity_is_more_damage(kind: str) -> None:
    values = [MEASURES[kind](CLEAN)] + [
        MEASURES[kind](degrade_images(CLEAN, kind, s)) for s in SEVERITIES
    ]
    assert all(b < a for a, b in pairwise(values)), values


@pytest.mark.parametrize("kind", DEGRADATIONS)
def test_nothing_at_all_at_zero(kind: str) -> None:
    same = degrade_images(CLEAN, kind, 0.0)
    assert all(np.array_equal(a, b) for a, b in zip(same, CLEAN, strict=True))


@pytest.mark.parametrize("kind", DEGRADATIONS)
def test_a_seed_decides_all_and_the_pictures_stay_their_number(kind: str) -> None:
    one, two = (list(map(fingerprint, degrade_images(CLEAN, kind, 0.7, seed=3))) for _ in range(2))
    assert one == two
    assert len(one) == len(CLEAN)
    assert all(image.shape == CLEAN[0].shape for image in degrade_images(CLEAN[:2], kind, 0.7))


@pytest.mark.parametrize("kind", ["noise", "shake", "flicker", "dropped frames", "freeze"])
def test_another_seed_is_other_damage(kind: str) -> None:
    one, two = (degrade_images(CLEAN, kind, 0.7, seed=seed) for seed in (1, 3))
    assert any(not np.array_equal(a, b) for a, b in zip(one, two, strict=True))


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("v") / "a.mp4", seconds=2, sound=2)


def error_of(
    path: Path,
    clean: Path,
    frames: slice = slice(None),
    window: tuple[slice, slice] = (slice(None),) * 2,
) -> float:
    """The mean squared error of a video against another, of some frames and a part of them."""
    both = ([image for _, image in every_frame(video)][frames] for video in (path, clean))
    pairs = zip(*both, strict=True)
    return float(np.mean([(a.astype(float)[window] - b[window]) ** 2 for a, b in pairs]))


@pytest.mark.parametrize("kind", [
    "gaussian blur", "motion blur", "defocus", "downscale", "low contrast", "colour cast", "shake",
])  # fmt: skip
@pytest.mark.parametrize("severity", [0.1, 1.0])
def test_a_part_is_damaged_as_it_is_with_the_whole(kind: str, severity: float) -> None:
    """Though less is looked at: what is near enough to matter, at the edges of the picture too."""
    dots = np.random.default_rng(1).integers(0, 2, (60, 107, 3), np.uint8) * 255
    # Where what is near matters most.
    images = [*CLEAN[:2], np.kron(dots, np.ones((3, 3, 1), np.uint8))[:, : CLEAN[0].shape[1]]]
    whole = degrade_images(images, kind, severity, 3)
    height, width = images[0].shape[:2]
    for left, top, right, bottom in ((0.0, 0.0, 0.5, 0.5), (0.35, 0.4, 0.6, 0.7)):
        part = degrade_images(images, kind, severity, 3, (left, top, right, bottom))
        rows = slice(round(top * height), round(bottom * height))
        inside = np.zeros((height, width), bool)
        inside[rows, round(left * width) : round(right * width)] = True
        for image, all_of_it, damaged in zip(images, whole, part, strict=True):
            apart = np.abs(damaged.astype(int) - all_of_it)[inside]
            # A transform of another size rounds otherwise.
            assert apart.max() <= (1 if kind == "defocus" else 0)
            assert np.array_equal(damaged[~inside], image[~inside])


@pytest.mark.parametrize("kind", DEGRADATIONS)
def test_a_part_without_a_pixel_changes_nothing(kind: str) -> None:
    images = [np.full((2, 2, 3), level, np.uint8) for level in (10, 200)]
    damaged = degrade_images(images, kind, 0.7, 3, (0.1, 0.1, 0.2, 0.2))
    assert all(map(np.array_equal, damaged, images))


class TestVideos:
    @pytest.mark.parametrize("kind", ["noise", "compression"])
    def test_within_a_span_of_time(self, kind: str, video: Path, tmp_path: Path) -> None:
        degrade_video(video, tmp_path / "a.mp4", kind, 0.8, span=(0.8, 1.2))
        inside, outside = (
            error_of(tmp_path / "a.mp4", video, slice(21, 29)),
            error_of(tmp_path / "a.mp4", video, slice(0, 19)),
        )
        assert inside > 10 * outside
        info = probe(tmp_path / "a.mp4")
        assert info.has_audio
        assert info.frame_count == 50

    def test_a_span_of_a_broadcast_that_begins_in_the_middle(self, tmp_path: Path) -> None:
        source = make_video(tmp_path / "a.ts", seconds=4)
        data = source.read_bytes()
        source.write_bytes(data[188 * (len(data) // 8 // 188) :])
        degrade_video(source, tmp_path / "b.mp4", "under-exposure", 1.0, span=(1.0, 2.0))
        dark = [time for time, image in every_frame(tmp_path / "b.mp4") if image.mean() < 40]
        assert dark[0] == pytest.approx(1.0, abs=0.05)
        assert dark[-1] == pytest.approx(1.96, abs=0.05)

    def test_within_a_region(self, video: Path, tmp_path: Path) -> None:
        degrade_video(video, tmp_path / "a.mp4", "under-exposure", 0.8, region=(0.5, 0.0, 1.0, 1.0))
        left = error_of(tmp_path / "a.mp4", video, window=(slice(None), slice(0, 150)))
        right = error_of(tmp_path / "a.mp4", video, window=(slice(None), slice(170, 320)))
        assert right > 5 * left

    def test_the_same_bytes_again(self, video: Path, tmp_path: Path) -> None:
        """Whatever was in memory before: encoders have been seen to read what they never wrote."""
        program = (
            "import sys, pathlib\nfrom reelbench.media.edit.degrade import degrade_video\n"
            "from reelbench.media.decode.decode import every_frame\n"
            "from reelbench.media.edit.write import FAST, video_writer\n"
            "video, out, fast = map(pathlib.Path, sys.argv[1:])\n"
            "degrade_video(video, out, 'shake', 0.5, 4)\n"
            "with video_writer(fast, 25, encoder=FAST) as writer:\n"
            "    for time, image in every_frame(out):\n"
            "        writer.show(image, time)\n"
        )
        made = []
        for fill in ("1", "90", "255"):
            out, fast = tmp_path / f"{fill}.mp4", tmp_path / f"{fill} fast.mp4"
            command = [sys.executable, "-c", program, str(video), str(out), str(fast)]
            subprocess.run(command, check=True, env={**os.environ, "MALLOC_PERTURB_": fill})
            made.append((out.read_bytes(), fast.read_bytes()))
        assert made[0] == made[1] == made[2]


def test_pictures_of_odd_sizes() -> None:
    odd = [image[:61, :83] for image in CLEAN[:9]]
    for kind in DEGRADATIONS:
        assert {image.shape for image in degrade_images(odd, kind, 0.5)} == {(61, 83, 3)}


@pytest.mark.parametrize(
    ("kind", "severity", "words"),
    [("melting", 0.5, "the known ones: gaussian blur"), ("noise", 1.5, "from 0 to 1")],
)
def test_wrong_words(kind: str, severity: float, words: str) -> None:
    with pytest.raises(ReelbenchError, match=words):
        degrade_images(CLEAN[:1], kind, severity)


@pytest.mark.parametrize("kind", DEGRADATIONS)
def test_pictures_that_are_needed_are_as_among_all(kind: str) -> None:
    images = [image[:64, :96] for image in CLEAN[:14]]
    whole = degrade_images(images, kind, 0.6, 3, (0.0, 0.0, 0.5, 1.0))
    few = degrade_images(images, kind, 0.6, 3, (0.0, 0.0, 0.5, 1.0), needed={4, 11})
    assert len(few) == len(whole)
    for number in (4, 11):
        assert np.array_equal(few[number], whole[number])
