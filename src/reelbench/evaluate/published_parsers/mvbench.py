"""How lmms-eval reads replies to MVBench."""

import re

from reelbench.data.items import LETTERS
from reelbench.evaluate.published_parsers.reading import Choices, ParserReading, chosen

_PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'
_PERIODS = 32  # the flag re.UNICODE was meant, and stands where re.sub has its count
_THOUSANDS = re.compile(r"\d,\d")
_PERIOD = re.compile(r"\.(?!\d)")


def read_mvbench(reply: str, choices: Choices) -> ParserReading:
    """MVBench, and tasks whose scoring is called mcq_acc.

    1. A letter and a full stop at the start of a reply of one line ("b. a door") is the answer.
    2. Else punctuation is removed or made a space (removed where that mark stands beside a space,
       or where a comma stands between digits anywhere), and the first letter from A to E that
       stands alone is the answer, small ones and the article "a" among them.
    3. Else what is left, if it is no more than one letter: so "(F)" is F.
    4. Without one, there is no answer.
    """
    text = reply.strip()
    before, _, _ = text[2:].rpartition("\n")
    if text[:1].upper() in tuple("ABCDE") and text[1:2] == "." and text[2:] and not before.strip():
        return chosen(text[0].upper(), choices, "leading letter")
    text = _without_punctuation(text.replace("\n", " ").replace("\t", " ").strip())
    for mark in "'\")(":
        text = text.strip(mark)
    text = text.strip().lower()
    if letter := re.search(r"\b[a-e]\b", text):
        return chosen(letter[0].upper(), choices, "first letter alone")
    if text.upper() in tuple(LETTERS):
        return chosen(text.upper(), choices, "one letter")
    return ParserReading(None, "no letter alone")


def _without_punctuation(text: str) -> str:
    thousands = _THOUSANDS.search(text) is not None
    spaced = {mark: f"{mark} " in text or f" {mark}" in text for mark in _PUNCTUATION}
    removed: dict[str, str | int | None] = {
        mark: "" if thousands or spaced[mark] else " " for mark in _PUNCTUATION
    }
    return _PERIOD.sub("", text.translate(str.maketrans(removed)), count=_PERIODS)
