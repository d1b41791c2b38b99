"""How sure the label ``objects`` is of what a thing is, and when it says nothing."""

from pathlib import Path
from typing import Any

import pytest

from reelbench.annotate.operator import Clip
from reelbench.annotate.registry import load_operator
from reelbench.media.decode.probe import MediaInfo


def track(name: str, scores: list[float | None], side: float = 100.0, **parameters: Any) -> Any:
    """The only track of a thing that stands still in a picture of 1000x1000, by its scores."""
    frames = [
        {
            "time": number * 0.4,
            "found": []
            if score is None
            else [{"class": name, "box": [0.0, 0.0, side, side], "score": score}],
        }
        for number, score in enumerate(scores)
    ]
    detections = {"rate": 2.5, "classes": [name, "other"], "frames": frames}
    info = MediaInfo("mp4", 4.0, 4.0, width=1000, height=1000)
    operator = load_operator("objects", classes=name, **parameters)
    (only,) = operator(Clip(Path("a.mp4"), "", info), {"detections": detections})["tracks"]
    return only


def test_what_is_seen_often_and_clearly_is_believed() -> None:
    dog = track("dog", [0.9] * 10)
    assert dog["class"] == dog["guess"] == "dog"
    assert 0.9 < dog["confidence"] < 1


def test_below_its_limit_the_class_is_null_and_the_guess_stays() -> None:
    chair = track("chair", [0.58, 0.55, 0.6])
    assert (chair["class"], chair["guess"], chair["id"]) == (None, "chair", "chair-1")
    assert chair["confidence"] < 0.6
    assert track("chair", [0.58, 0.55, 0.6], least_confidence=0.3)["class"] == "chair"


@pytest.mark.parametrize(
    ("surer", "less"),
    [
        ({"scores": [0.9] * 4}, {"scores": [0.6] * 4}),
        ({"scores": [0.6] * 9}, {"scores": [0.6] * 4}),
        ({"scores": [0.7] * 5}, {"scores": [0.7, None, 0.7, None, 0.7, None, 0.7, 0.7]}),
        ({"scores": [0.7] * 4, "side": 100}, {"scores": [0.7] * 4, "side": 20}),
    ],
    ids=["higher scores", "more looks", "without gaps", "larger"],
)
def test_confidence_grows_with_what_speaks_for_it(
    surer: dict[str, Any], less: dict[str, Any]
) -> None:
    assert track("dog", **surer)["confidence"] > track("dog", **less)["confidence"]


def test_what_is_often_confused_is_believed_only_over_long_agreement() -> None:
    assert track("toilet", [0.94] * 5)["class"] is None
    long = track("toilet", [0.94] * 12)
    assert long["class"] == "toilet"
    assert long["confidence"] < track("dog", [0.94] * 12)["confidence"]
