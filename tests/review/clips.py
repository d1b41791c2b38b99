"""Videos for tests of the player: the number of each frame can be read off its pixels."""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from reelbench.media.edit.audio import write_wav
from reelbench.media.edit.write import AudioTrack, video_writer

BITS, BLOCK = 8, 24  # a frame's number in binary, in blocks that survive any encoder
EVEN = [n * 1001 / 30000 for n in range(60)]  # 29.97 frames a second
UNEVEN = [0.0]
for _step in (0.02, 0.1, 0.04, 0.033, 0.25, 0.017) * 8:
    UNEVEN.append(UNEVEN[-1] + _step)

# What the browser shows: the number in the picture of the player's video.
READ = """() => {
  const video = [...document.querySelectorAll(".player video")].find((each) => !each.hidden);
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: video.videoWidth, height: video.videoHeight });
  const picture = canvas.getContext("2d");
  picture.drawImage(video, 0, 0);
  const bit = (n) => (picture.getImageData(n * 24 + 12, 16, 1, 1).data[0] > 127 ? 1 : 0);
  return [0, 1, 2, 3, 4, 5, 6, 7].reduce((sum, n) => sum + bit(n) * 2 ** n, 0);
}"""


def numbered(number: int) -> Any:
    """A picture that says its number."""
    bits = [255 * (number >> bit & 1) for bit in range(BITS)]
    row = np.repeat(np.array(bits, np.uint8), BLOCK)
    return np.repeat(np.tile(row, (32, 1))[..., None], 3, axis=2)


def write_clip(path: Path, times: Sequence[float], sound: bool = False) -> None:
    """Write a video that browsers play, with a frame at each of these times."""
    track = None
    if sound:
        tone = np.sin(np.arange(int(times[-1] * 48_000)) / 20).astype(np.float32)[None] * 0.1
        track = AudioTrack([tone], 48_000)
    with video_writer(path, 30, sound=track) as writer:
        for number, time in enumerate(times):
            writer.show(numbered(number), time)


def write_foreign_clip(path: Path, frames: int, rate: int = 10) -> None:
    """Write MPEG-4 part 2 in AVI, which no browser plays."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=rate)
        stream.width, stream.height, stream.pix_fmt = BITS * BLOCK, 32, "yuv420p"
        stream.bit_rate = 2_000_000
        stream.time_base = Fraction(1, rate)
        for number in range(frames):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(numbered(number), "rgb24")))
        container.mux(stream.encode(None))


def write_tone(path: Path, seconds: float) -> None:
    """Write a sound."""
    wave = np.sin(np.arange(int(seconds * 16_000)) / 10).astype(np.float32)[None] * 0.1
    write_wav(path, wave, 16_000)


def write_items(root: Path, items: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Write a benchmark whose items have these media, by their ids."""
    lines = [
        {"id": name, "kind": "open", "media": media, "question": "What?", "reference": "That."}
        for name, media in items.items()
    ]
    (root / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
