"""What models are shown of people: their faces for what they express, their bodies for their looks."""

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annotating import Given
from parts import Studio, recipe_of
from PIL import Image
from servers import Server, completion
from support import make_item
from videos import make_video

from reelbench.annotate.common.pictures import CroppedPictures, TimedBox
from reelbench.annotate.operator import Clip
from reelbench.data.items import Media
from reelbench.make.parts.label import label
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.run import Pipeline, StageResult
from reelbench.make.pipeline.stage import Undecided
from reelbench.media.decode.probe import probe
from reelbench.media.digests import media_digest

FACES = {"p1": (40.0, 20.0, 100.0, 100.0), "p2": (200.0, 30.0, 216.0, 50.0)}  # large, and small
TIMES = [n / 5 for n in range(10)]
POINTS = [[0.3, 0.4], [0.7, 0.4], [0.5, 0.6], [0.35, 0.8], [0.65, 0.8]]


def face(box: tuple[float, ...]) -> dict[str, Any]:
    left, top, right, bottom = box
    points = [[left + x * (right - left), top + y * (bottom - top)] for x, y in POINTS]
    return {"box": list(box), "points": points}


LABELS: dict[str, Any] = {
    "faces": {"frames": [{"time": t, "faces": [face(box) for box in FACES.values()]} for t in TIMES]},
    "tracks": {
        "people": [
            {"id": who, "tracks": [{"boxes": [{"time": t, "box": list(box), "score": 0.9} for t in TIMES]}]}
            for who, box in FACES.items()
        ]
    },
}  # fmt: skip


def labelled(
    folder: Path, labels: dict[str, Any] = LABELS, **card: Any
) -> tuple[StageResult, Any, Server]:
    """Let a model tell what faces express, on a clip whose other labels are known."""
    make_video(folder / "a.mp4", seconds=2, rate=5)
    item = make_item(1, media=(Media("a.mp4"),))

    async def through(ctx: StageContext) -> Any:
        ctx.media = folder
        ctx.clip_labels["a.mp4"] = dict(labels)
        ctx.labelled["a.mp4"] = set(labels)
        recipe = recipe_of(label(["expression"], role="captioner"))
        (passed,) = await Pipeline(recipe, ctx, ctx.store).take([item])
        return passed, ctx.clip_labels["a.mp4"].get("expression")

    studio = Studio(
        folder / "made",
        lambda _body, number: completion(f"Face {number}."),
        {"captioner": [{"name": "seer", **card}]},
    )
    (passed, value), server = studio.with_context(through)
    return passed, value, server


def shown(body: dict[str, Any]) -> list[Image.Image]:
    parts = [part for message in body["messages"] for part in message["content"]]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) for url in urls]


class TestExpression:
    def test_a_face_is_shown_alone_at_several_moments_in_order(self, tmp_path: Path) -> None:
        passed, value, server = labelled(tmp_path)
        assert len(passed.out) == 1
        (body,) = server.requests
        pictures = shown(body)
        assert len(pictures) == 8
        assert {picture.size for picture in pictures} == {(118 - 22, 124)}, "a third around it"
        (person,) = value["people"]
        assert (value["model"], person["id"], person["text"]) == ("seer", "p1", "Face 0.")
        assert person["times"] == sorted(person["times"])
        assert len(person["times"]) == 8
        prompt = body["messages"][0]["content"][-1]["text"]
        assert ", ".join(f"{time:.1f} s" for time in person["times"]) in prompt

    def test_nobody_is_told_of_whose_face_is_too_small(self, tmp_path: Path) -> None:
        only_small = {**LABELS, "tracks": {"people": LABELS["tracks"]["people"][1:]}}
        passed, value, server = labelled(tmp_path, only_small)
        assert (len(passed.out), value, server.requests) == (1, None, [])

    def test_who_does_not_see_is_not_asked(self, tmp_path: Path) -> None:
        passed, _, server = labelled(tmp_path, sees=False)
        (result,) = passed.results
        assert isinstance(result, Undecided)
        assert "its card does not have `sees: true`" in result.error
        assert not server.requests

    def test_no_model_is_a_sentence(
        self, given: Given, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from reelbench.annotate.operators.expression import Expression

        monkeypatch.setattr(Expression, "needs", ())
        given.add("a.mp4")
        assert given.command("expression") in (1, 2)
        told = capsys.readouterr().err
        assert "The label expression needs a model: add --model captioner=NAME." in told


def test_a_crop_is_what_lies_in_the_picture_of_a_box(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mp4", seconds=1, rate=5)
    clip = Clip(path, media_digest(path), probe(path))
    boxes = {
        (-20.0, -10.0, 30.0, 40.0): (30, 40),
        (300.0, 100.0, 400.0, 300.0): (20, 80),
        (500.0, 500.0, 600.0, 600.0): (1, 1),
        (0.0, 0.0, 320.0, 180.0): (160, 90),
    }
    crops = CroppedPictures(clip, tuple(TimedBox(0.4, box) for box in boxes), "long:160")
    for drawn in (crops.render(), crops.placeholders()):
        sizes = [Image.open(io.BytesIO(part.data)).size for part in drawn.parts]  # type: ignore[union-attr]
        assert sizes == list(boxes.values())
    record = crops.record()
    assert record["media"] == [clip.digest]
    assert record["people"][0] == [0.4, [-20.0, -10.0, 30.0, 40.0]]


def test_who_has_a_body_is_shown_by_it(tmp_path: Path) -> None:
    from reelbench.annotate.common.crops import FaceView
    from reelbench.annotate.operators.appearance import _shown

    view = FaceView("p1", 0.2, FACES["p1"], 0.9, np.zeros((5, 2)))
    body = {("p1", 0.2): (20.0, 10.0, 120.0, 170.0)}
    assert _shown(view, body) == pytest.approx((15.0, 2.0, 125.0, 178.0))
    assert _shown(view, {}) == pytest.approx((-20.0, -20.0, 160.0, 500.0))
