"""Models of a user in the place of ours: small ones of random numbers, as ONNX files."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_files import write_onnx, write_ssd, write_yolo
from videos import make_video

from reelbench.annotate.common.sessions import one_thread_session
from reelbench.annotate.operator import Clip
from reelbench.annotate.registry import load_operator
from reelbench.base.errors import ReelbenchError
from reelbench.media.decode.probe import probe
from reelbench.weights import replacing


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Clip:
    """Two seconds of 128x96."""
    path = make_video(tmp_path_factory.mktemp("clip") / "a.mp4", seconds=2.0, rate=10)
    return Clip(path, "", probe(path))


def yolo_rows(classes: int, number: int, boxes: int = 200) -> Any:
    """Random boxes of low score, and one in the middle that is surely of a class, twice."""
    rows = np.random.default_rng(0).random((4 + classes, boxes)) * 0.2
    rows[:4, :2] = [[32, 33], [32, 32], [16, 16], [16, 16]]
    rows[4 + number, :2] = [0.95, 0.9]
    return rows


def tracks_of(clip: Clip, model: str, classes: object = ()) -> list[dict[str, Any]]:
    found = load_operator("detections", model=model)(clip, {})
    objects = load_operator("objects", classes=classes)
    return list(objects(clip, {"detections": found})["tracks"])


def test_a_detector_of_the_form_of_yolo_finds_what_it_finds(clip: Clip, tmp_path: Path) -> None:
    model = write_yolo(tmp_path / "yolo.onnx", yolo_rows(80, 16))
    (track,) = tracks_of(clip, model=str(model))
    assert track["class"] == "dog"
    width, height = clip.info.width, clip.info.height
    scale = max(width, height) / 64
    expected = [width / 2 - 8 * scale, height / 2 - 8 * scale,
                width / 2 + 8 * scale, height / 2 + 8 * scale]  # fmt: skip
    assert track["boxes"][0]["box"] == pytest.approx(expected, abs=0.2)
    assert track["boxes"][0]["score"] == pytest.approx(0.95)
    assert tracks_of(clip, model=str(model), classes="cat") == []


def test_the_names_of_its_classes_are_in_a_file_beside_it(clip: Clip, tmp_path: Path) -> None:
    model = write_yolo(tmp_path / "own.onnx", yolo_rows(3, 1))
    with pytest.raises(
        ReelbenchError, match=r"knows 3 classes, and there are 80 names in COCO: .*own\.txt"
    ):
        tracks_of(clip, model=str(model))
    (tmp_path / "own.txt").write_text("mast\nheron\nbuoy\n")
    (track,) = tracks_of(clip, model=str(model))
    assert track["id"] == "heron-1"
    with pytest.raises(ReelbenchError, match="no class 'dog'; write some of mast, heron, buoy"):
        tracks_of(clip, model=str(model), classes=["dog"])


def test_a_detector_of_the_form_of_ssd(clip: Clip, tmp_path: Path) -> None:
    rows = np.array([[0, 18, 0.9, 0.25, 0.25, 0.75, 0.5], [0, 1, 0.1, 0, 0, 1, 1]], np.float32)
    (track,) = tracks_of(clip, model=str(write_ssd(tmp_path / "ssd.onnx", rows)))
    width, height = clip.info.width, clip.info.height
    assert track["class"] == "dog"  # the 18th of COCO, whose numbers have gaps
    box = [width * 0.25, height * 0.25, width * 0.75, height * 0.5]
    assert track["boxes"][0]["box"] == pytest.approx(box, abs=0.2)


def test_any_other_form_is_a_sentence(clip: Clip, tmp_path: Path) -> None:
    old = write_yolo(tmp_path / "old.onnx", np.zeros((300, 85)))
    sentence = r"old\.onnx cannot take the place of coco: it is no detector of a known form: .* \[1, 300, 85\]"
    with pytest.raises(ReelbenchError, match=sentence):
        tracks_of(clip, model=str(old))
    (tmp_path / "text.onnx").write_text("no model")
    with pytest.raises(
        ReelbenchError, match=r"text\.onnx cannot take the place of coco \(people, dogs"
    ):
        tracks_of(clip, model=str(tmp_path / "text.onnx"))
    with pytest.raises(ReelbenchError, match=r"text\.onnx cannot take the place of face \(faces"):
        load_operator("faces", model=str(tmp_path / "text.onnx"))(clip, {})


def age_model(path: Path, side: int, ages: int) -> Path:
    columns = np.random.default_rng(1).random((3, ages)).astype(np.float32)
    return write_onnx(
        path,
        {"images": (0, 3, side, side)},
        [
            ("ReduceMean", ["images"], "means", {"axes": [2, 3], "keepdims": 0}),
            ("MatMul", ["means", "columns"], "sums", {}),
            ("Softmax", ["sums"], "probabilities", {"axis": 1}),
        ],
        {"columns": columns},
        {"probabilities": (0, ages)},
    )


def test_an_onnx_model_must_take_and_give_what_ours_does(tmp_path: Path) -> None:
    fits = age_model(tmp_path / "fits.onnx", 64, 81)
    pictures = np.zeros((2, 3, 64, 64), np.float32)
    with replacing({"age": str(fits)}):
        (found,) = one_thread_session("age").run(None, {"images": pictures})
    assert found.shape == (2, 81)
    with replacing({"age": str(age_model(tmp_path / "large.onnx", 96, 81))}):
        expected = "takes images [any, 3, 96, 96] and gives probabilities [any, 81], expected images [any, 3, 64, 64]"
        with pytest.raises(ReelbenchError, match=re.escape(expected)):
            one_thread_session("age")
    with (
        replacing({"age": str(age_model(tmp_path / "short.onnx", 64, 8))}),
        pytest.raises(ReelbenchError, match=r"outputs of the shape \[any, 81\]: export it with"),
    ):
        one_thread_session("age")
