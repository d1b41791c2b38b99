"""Measures picture quality: sharpness, noise, exposure, blocks, shake, flicker, freezes.

Single frames are measured at their full size, some a second; changes between frames are measured
on every frame, scaled down. Values are measurements, not judgements.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any, ClassVar

import av
import numpy as np

from reelbench.annotate.common.crops import opencv
from reelbench.annotate.operator import Clip, Labels, NotApplicable, PartOperator, Value
from reelbench.data.items import Span
from reelbench.media.decode.decode import Decoded, decoded_from
from reelbench.media.decode.stream import EARLY, tick_after
from reelbench.media.measure import metrics as measures
from reelbench.media.measure.metrics import Grey, Image

_SMALL = 256  # pixels of the longer side of what is compared from frame to frame
_LARGE = 2048  # pixels a side; of larger pictures the middle is measured
_REPEATED = 2.5  # levels; a repeated frame, encoded anew, changes by less, a moving one by over 4
_SAME_SCENE = 0.5  # correlation; cuts lie below
_STANDSTILL = 1.0  # seconds; less is a frame that was dropped, not a freeze
_BRISQUE_FILES = {  # trained on LIVE, part of OpenCV (Apache-2.0); these very files or none
    "brisque_model_live.yml": "4c44c7eec9e5139830c0bb0e4a044c9cd351ba5bbc9e3798beca3243e2782ff4",
    "brisque_range_live.yml": "a18427f4f7ad087524bd0d63389649a3899b51ca6d44a4d5f8d8171f1f914a9c",
}
_BRISQUE_FOLDERS = (  # where Debian's opencv-doc has them, and where people put them
    "/usr/share/doc/opencv-doc/examples/quality",
    "/usr/share/opencv4/quality",
    "/usr/local/share/opencv4/quality",
)


@dataclass(frozen=True)
class Quality(PartOperator):
    """Measures the quality of the picture.

    Of single frames (``rate`` a second), each with its mean and its values over time:
    ``sharpness`` 0 to 1; ``noise`` in levels of 255; ``exposure`` 0 to 1, with the shares that are
    too ``dark`` and too ``bright`` to show anything; ``contrast`` 0 to 1; ``colourfulness``
    from 0; ``cast``, the distance of the mean colour from grey, in levels; ``blockiness`` from 0;
    ``brisque`` 0, good, to 100, where its model is installed.

    Of the sequence of frames: ``shake``, the unsteadiness of the picture's position, in thousandths
    of its height a frame; ``flicker``, the unsteadiness of its brightness, in percent;
    ``freeze``, the ``share`` of time in which nothing changes, and the ``spans`` of over a second;
    ``dropped``, the share of frames ``missing`` by the file's own clock, and the ``unevenness`` of
    the steps from one new picture to the next (0 for even, 1 and more for those of chance).
    """

    name: ClassVar[str] = "quality"
    version: ClassVar[int] = 2
    rate: float = 2.0
    brisque: str = ""  # folder of its two model files; looked for in the usual places if empty

    def part(self, clip: Clip, labels: Labels, span: Span) -> Value:
        """Return the measures of single frames, and what happens from each frame to the next."""
        if not clip.info.has_video:
            raise NotApplicable("The clip has no video whose quality could be measured.")
        score, _ = _brisque_scorer(self.brisque)
        stills: list[tuple[float, dict[str, float]]] = []
        course = _Course()
        tick = 0
        for time, decoded in _frames(clip.path, span):
            if decoded is None:
                course.interrupt()
                continue
            frame = decoded.frame  # as it is: stretching would soften it
            if time < span[0] - EARLY:  # the last one of the part before
                course.begin_with(_small(frame))
                continue
            course.add(time, _small(frame))
            if time >= tick / self.rate - EARLY:
                tick = tick_after(time, self.rate)
                stills.append((time, _measured(frame, score)))
        return {"stills": stills, "course": course.rows}

    def merge(self, clip: Clip, labels: Labels, parts: Sequence[Value]) -> Value:
        """Return all quality measures of a clip."""
        stills = [still for part in parts for still in part["stills"]]
        if not stills:
            raise NotApplicable("No frame of the clip can be decoded.")
        course = _Course([row for part in parts for row in part["course"]])
        value = {"rate": self.rate, **_of_stills(stills), **course.value()}
        note = _brisque_scorer(self.brisque)[1]
        if note:
            value["notes"] = [note]
        return value


def _frames(path: Path, span: Span) -> Iterator[tuple[float, Decoded | None]]:
    """Yield the frames of a span, after the one before it, and None for what is damaged."""
    before: list[tuple[float, Decoded | None]] = []
    back = 1.0  # seconds
    while span[0] > 0 and not before:
        begin = max(0.0, span[0] - back)
        early = takewhile(lambda each: each[0] < span[0] - EARLY, decoded_from(path, begin, True))
        before = list(deque(early, maxlen=1))
        if not begin:
            break
        back *= 4  # the picture stood still for a while
    yield from before
    for time, decoded in decoded_from(path, span[0], True):
        if time >= span[1] - EARLY:
            return
        if time >= span[0] - EARLY:
            yield time, decoded


def _small(frame: av.VideoFrame) -> Grey:
    """The frame in grey and small, not rotated: the measures do not depend on it."""
    scale = min(1.0, _SMALL / max(frame.width, frame.height))
    width, height = (max(2, round(side * scale)) for side in (frame.width, frame.height))
    small = frame.reformat(width, height, "gray", interpolation="AREA")
    return np.asarray(small.to_ndarray(), np.float32)


def _measured(frame: av.VideoFrame, score: Any) -> dict[str, float]:
    """All measures of one picture, not turned upright, for that would move the grid of blocks."""
    image = _middle(np.asarray(frame.to_ndarray(format="rgb24"), np.uint8))
    grey = measures.luma(image)
    values = {
        "sharpness": measures.sharpness(grey),
        "noise": measures.noise(grey),
        "exposure": measures.brightness(grey),
        "dark": measures.too_dark(grey),
        "bright": measures.too_bright(grey),
        "contrast": measures.contrast(grey),
        "colourfulness": measures.colourfulness(image),
        "cast": measures.cast(image),
        "blockiness": measures.blockiness(grey),
    }
    if score:
        upright = np.rot90(image, round(frame.rotation / 90) % 4)
        values["brisque"] = float(score.compute(np.ascontiguousarray(upright[..., ::-1]))[0])
    return values


def _middle(image: Image) -> Image:
    """The middle of a huge picture, on the grid of its blocks."""
    starts = [max(0, side - _LARGE) // 2 // 8 * 8 for side in image.shape[:2]]
    return image[starts[0] : starts[0] + _LARGE, starts[1] : starts[1] + _LARGE]


def _of_stills(stills: Sequence[tuple[float, dict[str, float]]]) -> Value:
    value: Value = {}
    for name in stills[0][1]:
        mean = _rounded(float(np.mean([values[name] for _, values in stills])))
        if name in ("dark", "bright"):
            value["exposure"][name] = mean
        else:
            value[name] = {
                "mean": mean,
                "at": [[_rounded(time), _rounded(values[name])] for time, values in stills],
            }
    return value


class _Course:
    """What happens from frame to frame, gathered as they come.

    A row is plain data: the time, the light, the move from the frame before to the right and down,
    whether the frame begins a scene, and whether it repeats the one before.
    """

    def __init__(self, rows: Sequence[Sequence[Any]] = ()) -> None:
        self.rows = list(rows)
        self._before: Grey | None = None

    @property
    def times(self) -> list[float]:
        return [row[0] for row in self.rows]

    @property
    def repeats(self) -> list[bool]:
        return [row[5] for row in self.rows]

    def begin_with(self, grey: Grey) -> None:
        """Compare the first frame with one that is no part of this."""
        self._before = grey

    def add(self, time: float, grey: Grey) -> None:
        """Take the next frame."""
        before, self._before = self._before, grey
        begins, repeats, move = False, False, (0.0, 0.0)
        if before is None or before.shape != grey.shape:
            begins = True
        elif measures.change(before, grey) < _REPEATED:
            repeats = True
        elif measures.likeness(before, grey) < _SAME_SCENE:
            begins = True
        else:
            move = measures.shift(before, grey)
        light = float(grey.mean(dtype=np.float64))
        self.rows.append((time, light, float(move[0]), float(move[1]), begins, repeats))

    def interrupt(self) -> None:
        """Compare nothing across what is damaged."""
        self._before = None

    def value(self) -> Value:
        """What there is to say of it all."""
        return {
            "shake": self._course(self._shakes()),
            "flicker": self._course(self._flickers()),
            "freeze": self._freeze(),
            "dropped": self._dropped(),
        }

    def _shakes(self) -> list[tuple[float, float]]:
        """Distance of each frame from a steady path, in thousandths of the height.

        Where the camera is after each frame is the sum of all moves; a repeated frame has none, and
        is no shake, so only the frames that are new are looked at.
        """
        new = [number for number, repeated in enumerate(self.repeats) if not repeated]
        shaken = []
        for run in self._runs(new):
            path = np.cumsum([self.rows[number][2:4] for number in run], axis=0)
            path -= path[0]
            right, down = measures.jumps(path[:, 0]), measures.jumps(path[:, 1])
            far = np.hypot(right, down) * 1000
            shaken += [(self.rows[n][0], float(v)) for n, v in zip(run[1:-1], far, strict=True)]
        return shaken

    def _flickers(self) -> list[tuple[float, float]]:
        """How far the light of each frame is from halfway between its neighbours', in percent."""
        flickers = []
        for run in self._runs(range(len(self.rows))):
            lights = np.array([self.rows[number][1] for number in run])
            parts = measures.jumps(lights) / (lights[1:-1] + 1) * 100  # black has no flicker
            flickers += [(self.rows[n][0], float(v)) for n, v in zip(run[1:-1], parts, strict=True)]
        return flickers

    def _runs(self, numbers: Sequence[int]) -> list[list[int]]:
        """Frames of one scene each, of which there are three at least."""
        scenes = list(accumulate(row[4] for row in self.rows))
        runs: dict[int, list[int]] = {}
        for number in numbers:
            runs.setdefault(scenes[number], []).append(number)
        return [run for run in runs.values() if len(run) >= 3]

    def _course(self, values: Sequence[tuple[float, float]]) -> Value:
        """The mean, and the mean of each second."""
        seconds: dict[int, list[float]] = {}
        for time, value in values:
            seconds.setdefault(int(time), []).append(value)
        return {
            "mean": _rounded(float(np.mean([value for _, value in values])) if values else 0.0),
            "at": [[second, _rounded(float(np.mean(of)))] for second, of in seconds.items()],
        }

    def _freeze(self) -> Value:
        """For what share of the time nothing changes, and when for long."""
        spans: list[list[float]] = []
        times, repeats = self.times, self.repeats
        still, begun = 0.0, times[0]
        for number in range(1, len(times)):
            if not repeats[number]:
                begun = times[number]
                continue
            still += times[number] - times[number - 1]
            if spans and spans[-1][0] == begun:
                spans[-1][1] = times[number]
            else:
                spans.append([begun, times[number]])
        whole = times[-1] - times[0]
        return {
            "share": _rounded(still / whole if whole > 0 else 0.0),
            "longest": _rounded(max((end - start for start, end in spans), default=0.0)),
            "spans": [
                [_rounded(time) for time in span]
                for span in spans
                if span[1] - span[0] >= _STANDSTILL
            ],
        }

    def _dropped(self) -> Value:
        """What is missing by the clock, and how unevenly new pictures come; a freeze is no drop."""
        steps = np.diff(self.times)
        usual = float(np.median(steps)) if len(steps) else 0.0
        missing = float(np.maximum(0, np.round(steps / usual) - 1).sum()) if usual > 0 else 0.0
        new = [time for time, same in zip(self.times, self.repeats, strict=True) if not same]
        moving = [float(step) for step in np.diff(new) if step < _STANDSTILL]
        return {
            "missing": _rounded(missing / (missing + len(self.rows))),
            "unevenness": _rounded(measures.unevenness(moving)),
        }


@cache
def _brisque_scorer(folder: str) -> tuple[Any, str]:
    """The BRISQUE scorer, or None and the reason. Its model is never downloaded."""
    for place in map(Path, [folder] if folder else _BRISQUE_FOLDERS):
        files = [place / name for name in _BRISQUE_FILES]
        if all(file.is_file() for file in files):
            digests = [sha256(file.read_bytes()).hexdigest() for file in files]
            if digests != list(_BRISQUE_FILES.values()):
                return None, f"BRISQUE was left out: the model files in {place} are other versions."
            cv2 = opencv()
            return cv2.quality.QualityBRISQUE_create(*map(str, files)), ""
    where = folder or "the usual folders"
    return None, (
        f"BRISQUE was left out: its model is not in {where}. Set quality.brisque to the folder of "
        "its files (on Debian: apt-get install opencv-doc)."
    )


def _rounded(value: float) -> float:
    return round(value, 4)
