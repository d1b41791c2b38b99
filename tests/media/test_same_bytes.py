"""What we write has the same bytes on any machine: the hashes below hold for every PyAV.

They were the same with PyAV 18.1 (FFmpeg 8.1) and 19.0 (FFmpeg 9), on Debian 12 and 13. Where one of them fails with a
newer PyAV, its encoder or container has changed, and every hash of a made video with it.
"""

import hashlib
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from reelbench.media.edit.clip import cut_exactly, join
from reelbench.media.edit.write import AudioTrack, video_writer
from reelbench.world.compose import compose
from reelbench.world.render import synthesize


def film(path: Path, rate: Fraction | int, heard: bool = False) -> Path:
    """A disc that moves over a gradient, so that frames are stored out of order; and a tone."""
    tone = np.sin(np.arange(88_200) / 16).astype(np.float32)[None] / 4
    down, right = np.mgrid[0:96, 0:128]
    with video_writer(path, rate, 20, AudioTrack([tone], 44_100) if heard else None) as writer:
        for number in range(40):
            disc = (right - 3 * number) ** 2 + (down - 48) ** 2 < 400
            image = np.stack([disc * 200, right, down], axis=-1).astype(np.uint8)
            writer.show(image, float(number / rate))
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


@pytest.mark.parametrize(("name", "rate", "heard", "expected"), [
    ("a.mp4", 25, True, "dcb0229d61f3f790"),
    ("b.mov", Fraction(30_000, 1001), True, "87d7808bd13c1509"),
    ("c.m4v", 10, True, "c68fa2c887890d03"),
    ("d.mkv", 12, False, "f3b00321588956a0"),
])  # fmt: skip
def test_a_written_video(
    name: str, rate: Fraction | int, heard: bool, expected: str, tmp_path: Path
) -> None:
    path = film(tmp_path / name, rate, heard)
    assert not re.search(rb"Lav[cf]\d", path.read_bytes())
    assert digest(path) == expected


def test_a_video_of_the_made_world_and_its_truth(tmp_path: Path) -> None:
    synthesize(tmp_path / "a.mp4", compose(1, "scene"), tmp_path / "a.json")
    assert digest(tmp_path / "a.mp4") == "14eb8568f487150b"
    assert digest(tmp_path / "a.json") == "ddc9170a27f01548"


def test_clips_cut_from_one(tmp_path: Path) -> None:
    source = film(tmp_path / "a.mp4", 25, heard=True)
    cut_exactly(source, 0.4, 1.2, tmp_path / "b.mp4")
    join([source, tmp_path / "b.mp4"], tmp_path / "d.mp4")
    found = {name: digest(tmp_path / f"{name}.mp4") for name in "bd"}
    assert found == {"b": "ad8bc05f52e033dd", "d": "d6c44060e052dc4c"}
