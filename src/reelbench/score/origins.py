"""Where wrong choices come from: options made of the video's content, or of none of it.

``distract`` notes of every wrong option whether it was written from the video's content. Who picks
those has mixed something up; who picks the others has hardly watched or listened.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.base.text import is_none_of_them
from reelbench.data.items import LETTERS, Item
from reelbench.score.results import ModelResult
from reelbench.score.rounding import rounded

ORIGINS = ("in the video", "not in the video", "none of the above")


def wrong_by_origin(results: Sequence[ModelResult]) -> list[dict[str, Any]]:
    """Return, for each result, which wrong options were chosen, beside how many were offered.

    Only single-choice items whose options have a known origin count; empty where there are none.
    """
    rows = []
    for result in results:
        items = [item for item in result.items if _origins(item)]
        if not items:
            continue
        offered = Counter(o for item in items for o in _origins(item).values())
        total = sum(offered.values())
        chosen = Counter(
            origin
            for item in items
            for letter in result.answers.get(item.id) or ()
            if (origin := _origins(item).get(letter))
        )
        wrong = sum(chosen.values())
        rows.append(
            {
                "model": result.model,
                "condition": result.condition,
                "items": len(items),
                "wrong": wrong,
                "origins": {
                    name: {
                        "chosen": chosen[name],
                        "share": rounded(chosen[name] / wrong) if wrong else None,
                        "offered": rounded(offered[name] / total),
                    }
                    for name in ORIGINS
                },
            }
        )
    return rows


def _origins(item: Item) -> dict[str, str]:
    """Return the origin of each wrong option by its letter; empty where it is not known."""
    if item.kind != "single":
        return {}
    inside = {
        each["text"]: each["from_context"]
        for note in item.provenance.values()
        if isinstance(note, Mapping)
        for each in note.get("distractors", ())
        if isinstance(each, Mapping) and {"text", "from_context"} <= set(each)
    }
    found = {}
    for letter, text in zip(LETTERS, item.options, strict=False):
        if letter in item.answer:
            continue
        if text in inside:
            found[letter] = ORIGINS[0] if inside[text] else ORIGINS[1]
        elif inside and is_none_of_them(text):
            found[letter] = ORIGINS[2]
    return found
