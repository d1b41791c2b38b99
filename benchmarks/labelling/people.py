"""Which person of the truth a labelled person is, by a point on the face at a time."""

from collections.abc import Mapping
from typing import Any

from labelling.clips import Entry

_NEAR = 0.6  # seconds between the point of the truth and the box
_ROOM = 0.3  # of the box's size, by which a point may lie beside it


def same_people(labels: Mapping[str, Any], entry: Entry) -> dict[str, dict[str, Any]]:
    """Return the person of the truth for each labelled person that is one of them."""
    people = entry.truth.get("people", [])
    if len(people) == 1 and "at" not in people[0]:
        return {person["id"]: people[0] for person in labels["tracks"]["people"]}
    size = labels["faces"]["width"], labels["faces"]["height"]
    found = {}
    for person in labels["tracks"]["people"]:
        boxes = [box for track in person["tracks"] for box in track["boxes"]]
        for one in people:
            if any(_is_at(boxes, time, x * size[0], y * size[1]) for time, x, y in one["at"]):
                found[person["id"]] = one
    return found


def _is_at(boxes: list[dict[str, Any]], time: float, x: float, y: float) -> bool:
    near = [box for box in boxes if abs(box["time"] - time) <= _NEAR]
    if not near:
        return False
    left, top, right, bottom = min(near, key=lambda box: abs(box["time"] - time))["box"]
    wide, high = (right - left) * _ROOM, (bottom - top) * _ROOM
    return bool(left - wide <= x <= right + wide and top - high <= y <= bottom + high)
