"""Reads print in pictures: PP-OCR through rapidocr, and recognisers of languages it lacks."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from reelbench.annotate.common.crops import opencv
from reelbench.annotate.common.tracking import Box
from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.decode import Image
from reelbench.weights import import_extra, loaded

# By language, the weights that read it; none for what the usual model reads. Of rendered captions
# it read all 21 Japanese and all 21 traditional Chinese ones, those made for them 16 and 12.
LANGUAGES = {"en": "", "zh": "", "zh-Hant": "", "ja": "", "ko": "text_korean"}
_HANGUL = ("\uac00", "\ud7a3")
_SURE = 0.7  # of a reading with Hangul; of other print it was at most .40
_LEAST_SIDE = 480  # pixels; smaller pictures are enlarged, or small print is not found
_MODELS = {  # inside rapidocr 3.10.0 (PaddleOCR's, Apache-2.0)
    "Det": "PP-OCRv6_det_small.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
}


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line as it was read in one frame."""

    text: str
    box: Box
    score: float


def read_lines(
    image: Image, scale: tuple[float, float], recognisers: Sequence[str] = ()
) -> list[TextLine]:
    """Return the lines of a picture, top to bottom; boxes are in pixels of the full-size video.

    ``recognisers`` are the weights of further languages: a line is theirs where they are sure of
    letters that the usual model does not know.
    """
    bgr = np.ascontiguousarray(image[..., ::-1])
    # Lines are not turned by the classifier of directions: it turns upright lines over as well.
    if not recognisers:
        found = _usual()(bgr, use_cls=False, use_rec=True)
        boxes, readings = found.boxes, list(zip(found.txts or (), found.scores or (), strict=True))
    else:
        boxes, readings = _read_by_several(bgr, recognisers)
    lines = []
    for corners, (text, score) in zip([] if boxes is None else boxes, readings, strict=True):
        points = np.asarray(corners, np.float64) * scale
        (left, top), (right, bottom) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
        words = " ".join(text.split())
        if letters_of(words):
            lines.append(TextLine(words, (left, top, right, bottom), float(score)))
    return sorted(lines, key=lambda line: (line.box[1], line.box[0], line.text))


def letters_of(text: str) -> str:
    """Return letters and digits alone: blanks and stops are what readings differ in most."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _read_by_several(bgr: Image, recognisers: Sequence[str]) -> tuple[Any, list[tuple[str, float]]]:
    """Find lines once, and let each recogniser read them."""
    cut = import_extra("rapidocr.utils.process_img", "annotate").get_rotate_crop_image
    boxes = _usual()(bgr, use_cls=False, use_rec=False).boxes
    if boxes is None or not len(boxes):
        return None, []
    crops = [cut(bgr, np.asarray(box, np.float32)) for box in boxes]
    readings = _recognised(_usual(), crops)
    for name in recognisers:
        others = _recognised(loaded(name, _of_language), crops)
        readings = [
            other if other[1] >= _SURE and _has_hangul(other[0]) else reading
            for reading, other in zip(readings, others, strict=True)
        ]
    return boxes, readings


def _recognised(reader: Any, crops: list[Image]) -> list[tuple[str, float]]:
    found = reader.recognize_txt(crops)
    return [(text, float(score)) for text, score in zip(found.txts, found.scores, strict=True)]


def _has_hangul(text: str) -> bool:
    return any(_HANGUL[0] <= letter <= _HANGUL[1] for letter in text)


@cache
def _usual() -> Any:
    return _reader({})


def _of_language(folder: Path) -> Any:
    return _reader(
        {
            "Rec.model_path": str(folder / "model.onnx"),
            "Rec.rec_keys_path": str(folder / "letters.txt"),
        }
    )


def _reader(more: dict[str, str]) -> Any:
    """The models, on one thread. Their paths are given: else rapidocr might fetch others."""
    rapidocr = import_extra("rapidocr", "annotate")
    opencv()  # on one thread, too
    folder = Path(rapidocr.__file__).parent / "models"
    missing = [name for name in _MODELS.values() if not (folder / name).is_file()]
    if missing:
        raise ReelbenchError(
            f"rapidocr has no {' and no '.join(missing)} in {folder}: this version does not contain"
            " its models. Install the one that does with: pip install 'rapidocr==3.10.0'"
        )
    engine = "EngineConfig.onnxruntime."
    reader = rapidocr.RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Det.limit_side_len": _LEAST_SIDE,
            engine + "intra_op_num_threads": 1,
            engine + "inter_op_num_threads": 1,
            **{f"{part}.model_path": str(folder / name) for part, name in _MODELS.items()},
            **more,
        }
    )
    logging.getLogger("RapidOCR").setLevel(logging.ERROR)  # "no text found" is no warning
    return reader
