"""Colours of clothes and tones of hair against what one would call them."""

from collections.abc import Iterable, Mapping
from typing import Any

from labelling.clips import Entry
from labelling.people import same_people
from labelling.statements import Statement

NEEDS = ("appearance",)
_TONES = {"dark": "dark", "light": "light", "grey": "light"}  # red hair may be called either


def statements(labels: Mapping[str, Any], entry: Entry) -> Iterable[Statement]:
    """Yield what is said of each person's clothes and hair; any of the colours given is right."""
    if "appearance" not in labels:
        return
    who = same_people(labels, entry)
    for person in labels["appearance"]["people"]:
        truth, guess, sure = who.get(person["id"], {}), person["guess"], person["confidence"]
        if "top" in truth and guess["clothes"]:
            said = guess["clothes"][0]["colour"].removeprefix("dark ")
            true = said if said in truth["top"] else truth["top"][0]
            kept = " clothes" in person["text"]
            yield Statement(entry.name, "clothes", said, true, sure["clothes"], kept)
        if truth.get("hair") in _TONES and guess["hair"] and guess["hair"]["tone"] != "medium":
            said, true = guess["hair"]["tone"], _TONES[truth["hair"]]
            yield Statement(entry.name, "hair", said, true, sure["hair"], " hair" in person["text"])
