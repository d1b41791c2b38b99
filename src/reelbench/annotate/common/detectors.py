"""Detectors of things in the ONNX format, which a user puts in the place of the COCO detector.

Two forms are recognised by the shapes of their outputs. YOLO (version 8 and later): [1, 4 +
classes, boxes], centre and size in pixels of the input, then a score for each class; the picture is
scaled to 0 to 1 and padded to the input. SSD: [1, 1, boxes, 7], each a picture, a class counted
from 1, a score and the sides in shares; the picture is stretched to the input and keeps its 0 to
255.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.annotate.common.crops import opencv
from reelbench.annotate.common.sessions import open_session, shapes_of
from reelbench.annotate.common.tracking import Detection
from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.decode import Image
from reelbench.weights.own import NAMES_ENDINGS, names_beside

_GREY = 114  # what YOLO pads with
_SAME = 0.5  # overlap from which on two boxes of one class are one thing
_SIDES = {"yolo": 640, "ssd": 300}  # of the input, where the file leaves it open


class OnnxDetector:
    """A detector in a file; ``usual`` are the names of its classes if no file lists them."""

    def __init__(self, path: Path, usual: Sequence[str], numbered: Sequence[str]) -> None:
        """Open a file; SSD numbers its classes by ``numbered``, whose gaps are empty names."""
        self._session = open_session(path)
        inputs = shapes_of(self._session.get_inputs())
        shapes = list(shapes_of(self._session.get_outputs()).values())
        self._form = _form(shapes)
        if not self._form or len(inputs) != 1 or len(next(iter(inputs.values()))) != 4:
            raise ReelbenchError(
                "it is no detector of a known form: expected one picture as input and an output "
                "[1, 4 + classes, boxes] as of YOLO version 8, or [1, 1, boxes, 7] as of SSD; its "
                f"outputs are {', '.join(str(list(shape)) for shape in shapes)}."
            )
        self._input, shape = next(iter(inputs.items()))
        self._channels_last = shape[3] == 3
        sides = shape[1:3] if self._channels_last else shape[2:4]
        self._height, self._width = (side or _SIDES[self._form] for side in sides)
        self._type = np.uint8 if "uint8" in self._session.get_inputs()[0].type else np.float32
        self._names = self._read_names(path, shapes[0], usual, numbered)
        self.names = tuple(name for name in self._names if name)

    def _read_names(
        self, path: Path, shape: Sequence[int | None], usual: Sequence[str], numbered: Sequence[str]
    ) -> Sequence[str]:
        beside = names_beside(path)
        listed = None if beside is None else _lines(beside)
        if self._form == "ssd":
            return listed or numbered
        names, count = listed or usual, (shape[1] or 0) - 4
        if len(names) != count:
            where = "in COCO" if beside is None else f"in {beside.name}"
            raise ReelbenchError(
                f"it knows {count} classes, and there are {len(names)} names {where}: write the "
                f"names, one a line, into {path.with_suffix(NAMES_ENDINGS[0])}."
            )
        return names

    def detect(self, image: Image, least_score: float) -> list[Detection]:
        """Return what is found in a picture, in its pixels."""
        found = self._yolo(image, least_score) if self._form == "yolo" else self._ssd(image)
        height, width = image.shape[:2]
        kept = []
        for score, number, box in found:
            left, top, right, bottom = np.clip(box, 0, (width, height, width, height)).tolist()
            name = self._names[number] if 0 <= number < len(self._names) else ""
            if score >= least_score and name and left < right and top < bottom:
                kept.append(Detection((left, top, right, bottom), score, name))
        return kept

    def _yolo(
        self, image: Image, least_score: float
    ) -> list[tuple[float, int, NDArray[np.float64]]]:
        cv2 = opencv()
        height, width = image.shape[:2]
        scale = min(self._width / width, self._height / height)
        size = max(1, round(width * scale)), max(1, round(height * scale))
        padded = np.full((self._height, self._width, 3), _GREY, np.uint8)
        left, top = (self._width - size[0]) // 2, (self._height - size[1]) // 2
        padded[top : top + size[1], left : left + size[0]] = cv2.resize(image, size)
        rows = np.asarray(self._run(padded / np.float32(255))[0], np.float64).T
        numbers, scores = rows[:, 4:].argmax(1), rows[:, 4:].max(1)
        rows, numbers, scores = (each[scores >= least_score] for each in (rows, numbers, scores))
        centres, halves = rows[:, :2] - (left, top), rows[:, 2:4] / 2
        boxes = np.concatenate([centres - halves, centres + halves], axis=1) / scale
        sizes = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)
        lists = sizes.tolist(), scores.tolist(), numbers.tolist()
        kept = cv2.dnn.NMSBoxesBatched(*lists, least_score, _SAME) if len(rows) else ()
        return [(float(scores[n]), int(numbers[n]), boxes[n]) for n in np.ravel(kept).astype(int)]

    def _ssd(self, image: Image) -> list[tuple[float, int, NDArray[np.float64]]]:
        cv2 = opencv()
        height, width = image.shape[:2]
        rows = self._run(cv2.resize(image, (self._width, self._height)))[0, 0]
        full = np.array((width, height, width, height), np.float64)
        return [(float(row[2]), int(row[1]) - 1, row[3:7] * full) for row in rows]

    def _run(self, picture: NDArray[Any]) -> NDArray[Any]:
        planes = picture if self._channels_last else picture.transpose(2, 0, 1)
        given = np.ascontiguousarray(planes[None], self._type)
        return np.asarray(self._session.run(None, {self._input: given})[0])


def _form(shapes: Sequence[Sequence[int | None]]) -> str:
    """Return the form of a detector by the shapes of its outputs; empty for an unknown one."""
    first = shapes[0]
    if len(shapes) == 1 and len(first) == 4 and first[3] == 7:
        return "ssd"
    rows = first[1] if len(first) == 3 else None
    boxes = first[2] if len(first) == 3 else None
    # Fewer rows than boxes: the other way round it would be the form of earlier versions.
    return "yolo" if rows is not None and rows > 4 and (boxes is None or boxes > rows) else ""


def _lines(path: Path) -> list[str]:
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return lines[: max((n + 1 for n, line in enumerate(lines) if line), default=0)]
