"""A detector of 80 kinds of things: SSD MobileNet v2, trained on COCO, through OpenCV.

With a detector of the user's in its place, the things that this one knows.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from reelbench.annotate.common.crops import opencv
from reelbench.annotate.common.detectors import OnnxDetector
from reelbench.annotate.common.tracking import Detection
from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.decode import Image
from reelbench.weights import from_weights, weights_file

WEIGHTS = ("coco", "coco_layout")
_SIDE = 300  # pixels of the square that it was trained on
# In the order of their numbers in COCO, which begin at 1 and have gaps.
_NAMES = """
    person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light,
    fire hydrant, , stop sign, parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant,
    bear, zebra, giraffe, , backpack, umbrella, , , handbag, tie, suitcase, frisbee, skis,
    snowboard, sports ball, kite, baseball bat, baseball glove, skateboard, surfboard,
    tennis racket, bottle, , wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich,
    orange, broccoli, carrot, hot dog, pizza, donut, cake, chair, couch, potted plant, bed, ,
    dining table, , , toilet, , tv, laptop, mouse, remote, keyboard, cell phone, microwave, oven,
    toaster, sink, refrigerator, , book, clock, vase, scissors, teddy bear, hair drier, toothbrush
"""
_NUMBERED = [name.strip() for name in _NAMES.split(",")]
CLASSES = tuple(name for name in _NUMBERED if name)


def detect(
    image: Image, classes: Collection[str] | None = None, least_score: float = 0.3
) -> list[Detection]:
    """Return the objects of some classes in a picture; boxes are in pixels and inside it."""
    detector = _detector()
    if unknown := sorted(set(classes or ()) - set(detector.names)):
        raise ReelbenchError(
            f"The detector has no class {' and no class '.join(map(repr, unknown))}; it has "
            f"{', '.join(detector.names)}."
        )
    found = detector.detect(image, least_score)
    return [each for each in found if classes is None or each.name in classes]


def class_names() -> tuple[str, ...]:
    """Return the classes of the detector: COCO's, or those of the one that a user brings."""
    return _detector().names


class _Detector(Protocol):
    @property
    def names(self) -> tuple[str, ...]: ...

    def detect(self, image: Image, least_score: float) -> list[Detection]: ...


class _CocoDetector:
    """The detector of the registry, which OpenCV reads together with its layout."""

    names = CLASSES

    def __init__(self, path: Path) -> None:
        cv2 = opencv()
        self._net = cv2.dnn.readNetFromTensorflow(str(path), str(weights_file(WEIGHTS[1])))

    def detect(self, image: Image, least_score: float) -> list[Detection]:
        """Return what is found in a picture, in its pixels."""
        cv2 = opencv()
        self._net.setInput(cv2.dnn.blobFromImage(image, size=(_SIDE, _SIDE)))
        height, width = image.shape[:2]
        found = []
        for _, number, score, left, top, right, bottom in self._net.forward()[0, 0].tolist():
            name = _NUMBERED[int(number) - 1] if 1 <= number <= len(_NUMBERED) else ""
            if score < least_score or not name:
                continue
            xs = [min(max(x, 0.0), 1.0) * width for x in (left, right)]
            ys = [min(max(y, 0.0), 1.0) * height for y in (top, bottom)]
            if xs[0] < xs[1] and ys[0] < ys[1]:
                found.append(Detection((xs[0], ys[0], xs[1], ys[1]), score, name))
        return found


@from_weights(WEIGHTS[0])
def _detector(path: Path) -> _Detector:
    if path.suffix.lower() == ".onnx":
        return OnnxDetector(path, CLASSES, _NUMBERED)
    return _CocoDetector(path)
