"""The videos of the decoding benchmark: 720p, a camera that moves over a landscape of noise."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

WIDTH, HEIGHT = 1280, 720
_CUT_EVERY = 12  # seconds between two shots


@dataclass(frozen=True, slots=True)
class Video:
    """One file to make: how long, how fast, and how it is encoded."""

    name: str
    seconds: int
    rate: int
    group: int  # pictures to a key frame
    between: int  # B-frames

    @property
    def frames(self) -> int:
        """Its number of pictures."""
        return self.seconds * self.rate


VIDEOS = (
    Video("20 min, GOP 150, no B-frames", 1200, 25, 150, 0),
    Video("20 min, GOP 250, B-frames", 1200, 25, 250, 3),
    Video("10 min at 1 fps", 600, 1, 250, 3),
)


def make(video: Video, folder: Path) -> Path:
    """Write a file unless it is there."""
    path = folder / f"{video.seconds}s-{video.rate}fps-g{video.group}-b{video.between}.mp4"
    if path.exists():
        return path
    ground = [_landscape(seed) for seed in range(4)]
    partial = path.with_suffix(".partial.mp4")
    with av.open(str(partial), "w", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=video.rate)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        group = {"g": str(video.group), "keyint_min": str(video.group), "sc_threshold": "0"}
        stream.options = {
            "preset": "veryfast", "crf": "23", "bf": str(video.between), "threads": "1", **group,
        }  # fmt: skip
        for number in range(video.frames):
            time = number / video.rate
            frame = av.VideoFrame.from_ndarray(_shot(ground, time), "yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, video.rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return partial.rename(path)


def _landscape(seed: int) -> NDArray[np.uint8]:
    """Noise of many sizes, larger than the picture: soft hills with fine grain."""
    generator = np.random.default_rng(seed)
    shape = (HEIGHT + 400, WIDTH + 400)
    total = np.zeros(shape)
    for octave in range(1, 8):
        small = generator.standard_normal((shape[0] // 2**octave + 3, shape[1] // 2**octave + 3))
        large = ndimage.zoom(small, 2**octave, order=1)[: shape[0], : shape[1]]
        total += large * 1.6**octave
    hills: NDArray[np.uint8] = np.clip(128 + 45 * total / total.std(), 16, 235).astype(np.uint8)
    return hills


def _shot(ground: list[NDArray[np.uint8]], time: float) -> NDArray[np.uint8]:
    """The picture at a time: a pan that differs from shot to shot, and two things that move."""
    shot, into = divmod(time, _CUT_EVERY)
    scene = ground[int(shot) % len(ground)]
    down = int(200 + 190 * np.sin(0.5 * into + shot)) // 2 * 2
    right = int(200 + 190 * np.cos(0.4 * into + 2 * shot)) // 2 * 2
    luma = scene[down : down + HEIGHT, right : right + WIDTH].copy()
    for number, speed in enumerate((90, -140)):
        left = int(600 + speed * into + 70 * shot) % (WIDTH - 200)
        top = 120 + 260 * number
        luma[top : top + 160, left : left + 120] = scene[:160, 40 * number : 40 * number + 120]
    chroma = np.concatenate([luma[::2, ::2] // 2 + 64, 192 - luma[1::2, ::2] // 2])
    return np.concatenate([luma, chroma.reshape(HEIGHT // 2, WIDTH)])
