"""Five classes of models, and accuracy over all items beside that of what was answered."""

from typing import Any

import pytest

from reelbench.report.classes import class_table, model_class

BOTH = {"name": "omni", "sees": True, "hears": True}
CAPTIONS = {**BOTH, "name": "trio", "parameters": {"captioners": ["eye", "ear"]}}


@pytest.mark.parametrize(
    ("model", "modalities", "expected"),
    [
        (BOTH, "V+A+T", "audio-visual"),
        (BOTH, "V+T", "video-only"),
        (BOTH, "A+T", "audio-only"),
        (BOTH, "T", "text-only"),
        ({"name": "vl", "sees": True}, "V+A+T", "video-only"),
        ({"name": "reader", "sees": False}, "V+A+T", "text-only"),
        (CAPTIONS, "V+A+T", "cascaded"),
        (CAPTIONS, "T", "text-only"),
    ],
)
def test_a_class_is_what_was_taken_in(model: Any, modalities: str, expected: str) -> None:
    assert model_class(model, {"modalities": modalities}) == expected


def test_a_table_has_both_accuracies_and_only_where_classes_differ() -> None:
    def row(model: str, condition: str, accuracy: float) -> dict[str, Any]:
        shares = {"coverage": 0.5, "accuracy_of_answered": 2 * accuracy}
        return {"model": model, "condition": condition, "accuracy": accuracy, **shares}

    conditions = [
        {"name": "protocol", "modalities": "V+A+T"},
        {"name": "text-only", "modalities": "T"},
    ]
    run = {"models": [BOTH, CAPTIONS], "conditions": conditions}
    scores = {"results": [row("trio", "protocol", 0.3), row("omni", "text-only", 0.1)]}
    scores["results"].append(row("omni", "protocol", 0.4))
    assert class_table(scores, run).rows == [
        ["Audio-visual", "omni", "protocol", "40.0%", "50.0%", "80.0%"],
        ["Text-only", "omni", "text-only", "10.0%", "50.0%", "20.0%"],
        ["Cascaded", "trio", "protocol", "30.0%", "50.0%", "60.0%"],
    ]
    assert class_table({"results": scores["results"][2:]}, run).rows == []
