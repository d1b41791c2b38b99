"""Video whose pixels are not square is shown as a player shows it, in frames and in sizes."""

from io import BytesIO
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from videos import X264, make_video

from reelbench.media.decode.decode import every_frame, frames_at
from reelbench.media.decode.frames import FrameSpec, frames_of, planned_frames
from reelbench.media.decode.probe import probe
from reelbench.media.decode.stream import scan_frames
from reelbench.media.edit.clip import cut_exactly

# 320 x 180 pixels of this aspect -> what is shown
ASPECTS = {"4:3": (427, 180), "3:4": (320, 240), "16:15": (341, 180), "1:1": (320, 180)}
NEGLIGIBLE = ["404:405", "1:50"]  # what rounding leaves, and what cannot be meant


def made(folder: Path, aspect: str, name: str = "a.mp4", rotation: int = 0) -> Path:
    options = {**X264, "x264-params": f"sar={aspect.replace(':', '/')}:keyint=10"}
    return make_video(folder / name, "libx264", options, seconds=1, rotation=rotation)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.ts"])
@pytest.mark.parametrize("aspect", ASPECTS)
def test_frames_and_sizes_are_as_a_player_shows_them(
    aspect: str, name: str, tmp_path: Path
) -> None:
    path = made(tmp_path, aspect, name)
    width, height = ASPECTS[aspect]
    info = probe(path)
    assert (info.width, info.height) == (width, height)
    plan = planned_frames(path, FrameSpec("uniform:2"))
    assert (plan.width, plan.height) == (width, height)
    sizes = {frame.image.shape for frame in frames_at(path, [0.1, 0.5])}
    sizes |= {image.shape for _, image in every_frame(path)}
    sizes |= {image.shape for _, image in scan_frames(path)}
    picture = frames_of(path, FrameSpec("uniform:2", encoding="png")).pictures[0]
    sizes.add(np.asarray(Image.open(BytesIO(picture.data))).shape)
    assert sizes == {(height, width, 3)}


@pytest.mark.parametrize("aspect", NEGLIGIBLE)
def test_what_nobody_would_see_or_mean_changes_nothing(aspect: str, tmp_path: Path) -> None:
    path = made(tmp_path, aspect)
    assert (probe(path).width, probe(path).height) == (320, 180)
    with av.open(str(path)) as container:
        plain = next(container.decode(video=0)).to_ndarray(format="rgb24")
    assert np.array_equal(frames_at(path, [0.0])[0].image, plain)


def test_it_is_stretched_before_it_is_turned(tmp_path: Path) -> None:
    path = made(tmp_path, "4:3", "a.mov", rotation=90)
    assert (probe(path).width, probe(path).height) == (180, 427)
    assert frames_at(path, [0.0])[0].image.shape == (427, 180, 3)


def test_the_content_is_stretched_with_it(tmp_path: Path) -> None:
    """The square of the test picture, 40 pixels from 20 on, is 53 wide from 27 on."""
    square, plain = (frames_at(made(tmp_path, a), [0.0])[0].image for a in ("4:3", "1:1"))
    assert np.abs(square[40, 30:76].astype(int) - plain[40, 30].astype(int)).max() < 30
    assert np.abs(square[40, 120:].mean(0) - plain[40, 90:].mean(0)).max() < 8


def test_a_cut_has_square_pixels(tmp_path: Path) -> None:
    cut_exactly(made(tmp_path, "4:3"), 0.2, 0.8, tmp_path / "b.mp4")
    info = probe(tmp_path / "b.mp4")
    assert (info.width, info.height, info.pixel_aspect) == (426, 180, 1.0)
