"""Emotions against those that one sees, where they are clear over the whole clip."""

from collections.abc import Iterable, Mapping
from typing import Any

from labelling.clips import Entry
from labelling.people import same_people
from labelling.statements import Statement

NEEDS = ("emotion",)


def statements(labels: Mapping[str, Any], entry: Entry) -> Iterable[Statement]:
    """Yield what is said of each person whose emotion is clear."""
    if "emotion" not in labels:
        return
    who = same_people(labels, entry)
    for person in labels["emotion"]["people"]:
        true = who.get(person["id"], {}).get("emotion")
        if true and person["guess"] is not None:
            kept = person["emotion"] is not None
            yield Statement(
                entry.name, "emotion", person["guess"], true, person["confidence"], kept
            )
