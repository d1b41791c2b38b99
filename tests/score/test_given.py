"""What models were given, as tables tell it: modalities, and frames as a paper writes them."""

from typing import Any

import pytest

from reelbench.score.given import given_in


def frames(sampling: str | None, condition: dict[str, Any] | None = None, **card: Any) -> str:
    asked = {"name": "c", **({"sampling": sampling} if sampling else {}), **(condition or {})}
    (found,) = given_in([{"models": [{"name": "m", **card}], "conditions": [asked]}]).values()
    return found.frames


@pytest.mark.parametrize(("sampling", "card", "words"), [
    ("uniform:32", {}, "32"),
    ("uniform:64", {"frames": 32}, "32"),
    ("uniform:16", {"frames": 32}, "16"),
    ("uniform:16,start", {}, "uniform:16,start"),
    ("fps:0.1", {}, "0.1 fps"),
    ("fps:0.1", {"frames": 20}, "0.1 fps, at most 20"),
    ("fps:2,max=64", {}, "2 fps, at most 64"),
    ("fps:2,evidence=only", {}, "fps:2,evidence=only"),
    ("uniform:8,evidence=only", {}, "uniform:8,evidence=only"),
    ("keyframes:8", {}, "keyframes:8"),
    ("times:1.5,3,10", {"frames": 2}, "times:1.5,3,10"),  # which nobody could ask: no reason to stop
    ("uniform:32", {"video": "file"}, "video"),
    ("uniform:32", {"video": "frames"}, "32"),
    ("uniform:32", {"sees": False}, ""),
    (None, {}, ""),  # a record of an earlier version
])  # fmt: skip
def test_frames_are_told_as_they_were_shown(
    sampling: str | None, card: dict[str, Any], words: str
) -> None:
    assert frames(sampling, **card) == words


def test_text_alone_has_no_frames() -> None:
    assert frames("uniform:32", {"modalities": "T"}) == ""
    assert frames("uniform:32", {"modalities": "A+T"}, hears=True) == ""


def test_conditions_that_ask_the_same_are_equal() -> None:
    conditions = [
        {"name": "protocol", "sampling": "uniform:32", "prompt": "default", "changes": {}},
        {"name": "frames/32", "sampling": "uniform:32", "prompt": "default", "changes": {"s": 1}},
        {"name": "more", "sampling": "uniform:64", "prompt": "default", "changes": {}},
        {"name": "timed", "sampling": "uniform:32", "prompt": "default", "timestamps": True},
    ]
    models = [{"name": "wide"}, {"name": "narrow", "frames": 8}]
    found = given_in([{"models": models, "conditions": conditions}])
    assert found["wide", "protocol"] == found["wide", "frames/32"] != found["wide", "more"]
    assert found["wide", "protocol"] != found["wide", "timed"]
    assert found["narrow", "protocol"] == found["narrow", "more"]  # both are cut down to 8
