"""Labels as tables: which rows and columns they have."""

from typing import Any

from reelbench.annotate.parquet import add_rows


def tables_of(label: str, value: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {}
    add_rows(tables, label, {"clip": "a.mp4"}, value)
    return tables


def test_plain_fields_are_columns_and_those_of_objects_have_joined_names() -> None:
    value = {"people": 2, "guess": None, "confidence": {"age": 0.5, "gender": 0.9}}
    assert tables_of("count", value) == {
        "count": [
            {
                "clip": "a.mp4",
                "people": 2,
                "guess": None,
                "confidence_age": 0.5,
                "confidence_gender": 0.9,
            }
        ]
    }


def test_boxes_have_a_row_each_with_the_person_they_are_of() -> None:
    box = {"time": 0.5, "box": [1.0, 2.0, 3.0, 4.0], "score": 0.9}
    track = {"shot": 0, "boxes": [box, {**box, "time": 1.0, "score": None}]}
    found = tables_of("tracks", {"people": [{"id": "p1", "tracks": [track]}]})
    assert list(found) == [
        "tracks", "tracks_people", "tracks_people_tracks", "tracks_people_tracks_boxes"
    ]  # fmt: skip
    assert found["tracks_people"] == [{"clip": "a.mp4", "person": "p1"}]
    assert found["tracks_people_tracks"] == [
        {"clip": "a.mp4", "person": "p1", "track": 0, "shot": 0}
    ]
    first, second = found["tracks_people_tracks_boxes"]
    assert first == {
        "clip": "a.mp4", "person": "p1", "track": 0, "time": 0.5,
        "left": 1.0, "top": 2.0, "right": 3.0, "bottom": 4.0, "score": 0.9,
    }  # fmt: skip
    assert (second["time"], second["score"]) == (1.0, None)


def test_lists_of_numbers_with_a_meaning_have_columns() -> None:
    found = tables_of("quality", {"noise": {"mean": 2.0, "at": [[0.0, 1.5], [0.5, 2.5]]}})
    assert found["quality"] == [{"clip": "a.mp4", "noise_mean": 2.0}]
    assert found["quality_noise_at"] == [
        {"clip": "a.mp4", "time": 0.0, "value": 1.5},
        {"clip": "a.mp4", "time": 0.5, "value": 2.5},
    ]
    spans = tables_of("speaker", {"people": [{"id": "p1", "spans": [[1.0, 2.0]]}]})
    assert spans["speaker_people_spans"] == [
        {"clip": "a.mp4", "person": "p1", "span": 0, "start": 1.0, "end": 2.0}
    ]


def test_other_lists_stay_lists() -> None:
    found = tables_of("shots", {"cuts": [1.0, 2.5], "none": [], "pairs": [[1, 2, 3]]})
    assert found["shots"] == [{"clip": "a.mp4", "cuts": [1.0, 2.5], "none": []}]
    assert found["shots_pairs"] == [
        {"clip": "a.mp4", "pair": 0, "value_0": 1, "value_1": 2, "value_2": 3}
    ]
