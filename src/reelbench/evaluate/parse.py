"""Read an answer from a reply: options or the reason why not, never a guess."""

import re
from dataclasses import dataclass

from reelbench.items import LETTERS, Kind

_THOUGHTS = re.compile(r"<(think|thinking)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_STATED = re.compile(
    r"\b(?:final answer|answers?|correct options?)\b\s*(?:is|are)?\s*[:=]?\s*(?P<said>[^\n]+)",
    re.IGNORECASE,
)
_MARKS = " \t\n.,;:!*_`'\"()[]{}<>$\\"


@dataclass(frozen=True, slots=True)
class Parsed:
    """The places of the chosen options and how they were read, or why nothing was."""

    places: tuple[int, ...] | None
    method: str = ""
    failure: str = ""


def parse_answer(reply: str, kind: Kind, options: tuple[str, ...]) -> Parsed:
    """Read a reply to a closed question whose options were shown in this order."""
    text = _THOUGHTS.sub("", reply).strip()
    if not text:
        return Parsed(None, failure="empty reply")
    stated = [match["said"] for match in _STATED.finditer(text)]
    for method, said in [("whole reply", text), *(("stated answer", s) for s in stated[-1:])]:
        places = _letters(said, len(options)) or _option_text(said, options)
        if places and (kind == "multi" or len(places) == 1):
            return Parsed(places, method)
        if places:
            return Parsed(None, failure=f"{len(places)} answers to a question with one")
    return Parsed(None, failure="no option in it")


def _letters(said: str, count: int) -> tuple[int, ...]:
    """Read ``B``, ``(B)``, ``B. the text``, ``A, C`` or ``A and C``; nothing else is letters."""
    letters = LETTERS[:count]
    bare = said.strip(_MARKS)
    head = re.match(rf"\(?([{letters}])[.):](?:\s|$)", said.strip(" *_`"))
    parts = re.split(r"\s*(?:,|;|&|/|\band\b|\s)\s*", bare)
    marks = [part.strip(_MARKS) for part in parts if part.strip(_MARKS)]
    if marks and all(len(mark) == 1 and mark in letters for mark in marks):
        return tuple(sorted({letters.index(mark) for mark in marks}))
    return (letters.index(head[1]),) if head else ()


def _option_text(said: str, options: tuple[str, ...]) -> tuple[int, ...]:
    plain = _plain(said)
    return tuple(place for place, option in enumerate(options) if _plain(option) == plain)


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(_MARKS).split())
