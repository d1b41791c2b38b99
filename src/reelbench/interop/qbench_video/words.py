"""Spellings of the terms of Q-Bench-Video: types of question, contexts, quality concerns."""

import re
from typing import Any

from reelbench.interop.qbench_video.taxonomy import COMPARE, CONCERNS, SINGLE

UNGRADED = "Compare"  # a comparison that does not say whether it is a coarse or a fine one
_CONCERN = {"tech": "Technical", "aes": "Aesthetic", "temp": "Temporal", "ai": "AIGC"}
_BETWEEN = re.compile(r"[,;&/|+\n]|\band\b", re.IGNORECASE)


def type_in(text: str) -> str:
    """Return the type of question that a text names in any spelling; "" for none of the three."""
    words = set(re.findall(r"[a-z]+", text.casefold()))
    if any(word.startswith("open") for word in words):
        return "Open-ended"
    if words & {"yes", "yesno", "yesorno"}:
        return "Yes-or-No"
    return "What-How" if words & {"what", "how", "whathow"} else ""


def contexts_in(text: str) -> tuple[str, ...]:
    """Return the contexts that a text names: of ``Single-Global`` and ``pair compare (fine)``."""
    text = text.casefold()
    found = [name for name, sign in zip(SINGLE, ("global", "refer"), strict=True) if sign in text]
    if "joint" in text:
        found.append("Joint")
    fine, coarse = "fine" in text, "coarse" in text
    if fine != coarse:
        found.append(COMPARE[0] if fine else COMPARE[1])
    elif fine or "compar" in text:
        found.append(UNGRADED)
    return tuple(found)


def is_of_one_video(context: str) -> bool:
    """Whether a context is one of questions about a single video."""
    return context in SINGLE


def concerns_in(value: str | list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the known concerns that are named, in the paper's order, and the others."""
    parts = [part for text in ([value] if isinstance(value, str) else value)
             for part in _BETWEEN.split(text)]  # fmt: skip
    named: set[str] = set()
    others: set[str] = set()
    for part in filter(None, map(str.strip, parts)):
        letters = re.sub(r"[^a-z]", "", part.casefold())
        known = [name for sign, name in _CONCERN.items() if letters.startswith(sign)]
        (named if known else others).update(known or [part])
    return tuple(name for name in CONCERNS if name in named), tuple(sorted(others))


def are_texts(value: Any) -> bool:
    """Whether a value is a list of texts, none of them blank."""
    return isinstance(value, list) and all(isinstance(v, str) and v.strip() for v in value)
