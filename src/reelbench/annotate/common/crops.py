"""The faces of tracked people: where they are, and crops of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.operator import Clip, Labels, NotApplicable, Value
from reelbench.media.decode.decode import Image, iterate_frames
from reelbench.weights import import_extra

Points = NDArray[np.float64]  # one row a point: x, y
Box = tuple[float, float, float, float]  # left, top, right, bottom
_LATE = 1e-4  # seconds; labels round times, and a moment before a frame shows the one before it


@dataclass(frozen=True, slots=True)
class FaceView:
    """One detected face at one time, in pixels of the full picture."""

    person: str
    time: float
    box: Box
    score: float
    points: Points  # eyes, tip of the nose, corners of the mouth; of each pair, the left one first

    @property
    def height(self) -> float:
        """The height of the face, from the forehead to the chin."""
        return self.box[3] - self.box[1]

    @property
    def goodness(self) -> float:
        """How usable the face is, 0 to 1: large, detected with confidence, turned to the camera."""
        left, right, nose = self.points[:3, 0].tolist()
        eyes = abs(right - left) or 1.0
        middle = float(self.points[[0, 1, 3, 4], 0].mean())
        turned = min(1.0, abs(nose - middle) / eyes)
        return float(self.score * (1 - turned) * min(1.0, self.height / 96))


def face_views(labels: Labels) -> list[list[list[FaceView]]]:
    """Return the detected faces of each track of each person, in the order of time.

    Boxes that tracking interpolated are not among them.
    """
    points = {
        (frame["time"], tuple(face["box"])): face["points"]
        for frame in labels["faces"]["frames"]
        for face in frame["faces"]
    }
    people = people_in(labels)
    return [
        [
            [
                FaceView(person["id"], at[0], at[1], box["score"], np.array(points[at], np.float64))
                for box in track["boxes"]
                if (at := (box["time"], tuple(box["box"]))) in points and box["score"] is not None
            ]
            for track in person["tracks"]
        ]
        for person in people
    ]


def people_in(labels: Labels) -> list[Value]:
    """Return the people of the ``tracks`` label; raise ``NotApplicable`` if there are none."""
    people: list[Value] = labels["tracks"]["people"]
    if not people:
        raise NotApplicable("The clip has no tracked people to describe.")
    return people


def best_of(views: Sequence[FaceView], most: int) -> list[FaceView]:
    """Return at most ``most`` faces, spread over time: the best of each of as many equal parts."""
    parts = np.array_split(np.arange(len(views)), min(most, len(views))) if views else []
    return [views[max(part.tolist(), key=lambda n: (views[n].goodness, -n))] for part in parts]


def thinned(views: Sequence[FaceView], rate: float) -> list[FaceView]:
    """Return at most ``rate`` faces a second: the first of each interval."""
    ticks = groupby(views, key=lambda view: int(view.time * rate + _LATE))
    return [next(same) for _, same in ticks]


class _Timed(Protocol):
    @property
    def time(self) -> float: ...


TimedView = TypeVar("TimedView", bound=_Timed)


def with_frames(clip: Clip, views: Sequence[TimedView]) -> Iterator[tuple[TimedView, Image]]:
    """Yield each face, or whatever has a time, with its whole frame; the video is decoded once.

    Those in damaged frames are left out.
    """
    by_time = sorted(views, key=lambda view: view.time)
    moments = [(time, list(same)) for time, same in groupby(by_time, key=lambda view: view.time)]
    frames = iterate_frames(clip.path, [time + _LATE for time, _ in moments], skip_damage=True)
    waiting = {time + _LATE: same for time, same in moments}
    for frame in frames:
        image = as_labelled(frame.image, clip)
        for view in waiting[frame.time]:
            yield view, image


def as_labelled(image: Image, clip: Clip) -> Image:
    """Return a picture in the size that labels refer to: some videos change theirs midway."""
    size = clip.info.width, clip.info.height
    if image.shape[1::-1] == size:
        return image
    resized: Image = opencv().resize(image, size)
    return resized


def aligned(image: Image, points: Points, layout: Points, size: int) -> Image:
    """Return the square crop of a face, rotated and scaled to fit its points to a layout's.

    The layout is in shares of the square; what is beyond the picture repeats its edge.
    """
    matrix = similarity(points, layout * size)
    shrinks = 1 / max(1e-6, float(np.hypot(*matrix[0, :2])))
    return cut(image, matrix, size, max(1, round(shrinks)))


def cut(image: Image, matrix: NDArray[np.float64], size: int, finer: int = 1) -> Image:
    """Return a square crop of a picture by an affine matrix, drawn ``finer`` times larger first."""
    cv2 = opencv()
    finer = min(finer, 16)  # of a face that fills 8K, every pixel need not count
    whole = size * finer
    # The middle of the first pixel stays where it is, not its corner.
    large = matrix * finer + np.array([[0, 0, 1], [0, 0, 1]]) * (finer - 1) / 2
    edge = cv2.BORDER_REPLICATE
    drawn = cv2.warpAffine(image, large, (whole, whole), flags=cv2.INTER_LINEAR, borderMode=edge)
    small: Image = cv2.resize(drawn, (size, size), interpolation=cv2.INTER_AREA)
    return small


def similarity(source: Points, target: Points) -> NDArray[np.float64]:
    """Return the 2x3 similarity matrix (rotation, scale, translation) that best fits points."""
    # With points as complex numbers it is one factor and one summand.
    a, b = source @ (1, 1j), target @ (1, 1j)
    centred = a - a.mean()
    spread = float((np.abs(centred) ** 2).sum()) or 1.0
    factor = complex((centred.conj() * (b - b.mean())).sum() / spread)
    moved = complex(b.mean() - factor * a.mean())
    return np.array(
        [[factor.real, -factor.imag, moved.real], [factor.imag, factor.real, moved.imag]]
    )


def opencv() -> Any:
    """Return OpenCV, limited to one thread so that results are reproducible."""
    cv2 = import_extra("cv2", "annotate")
    cv2.setNumThreads(1)  # the same bytes each time; clips share the cores
    return cv2
