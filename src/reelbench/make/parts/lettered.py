"""Options in one lettered list: A is the key, then those from the video, then those that are not.

``{"correct_option_letter": "A", "correct_mcq_option_text": ..., "options": {"A": ...},
"option_explanations": {"A": ...}}``, as MMOU has them written (its Figure 8).
"""

from collections.abc import Mapping
from typing import Any

from reelbench.data.items import LETTERS
from reelbench.make.parts.shape import TEXT, closed
from reelbench.make.parts.wording import (
    alike_fault,
    light_polish_fault,
    self_contained_fault,
    share_supported,
)
from reelbench.score.rounding import percent

SUPPORTED = 0.5  # of the own words of an option from the video that its caption must have
ABSENT = 0.8  # of those of an option that is not in the video: so many make it one that is


def lettered_schema(wrong: int) -> dict[str, Any]:
    """Return the JSON schema of a key and so many wrong options by letter."""
    by_letter = closed(dict.fromkeys(LETTERS[: wrong + 1], TEXT))
    return closed(
        {
            "correct_option_letter": {"enum": ["A"]},
            "correct_mcq_option_text": TEXT,
            "options": by_letter,
            "option_explanations": by_letter,
        }
    )


def as_listed(reply: Mapping[str, Any], inside: int) -> dict[str, Any]:
    """Return a lettered reply as the lists of answers and distractors that others give."""
    options, why = reply["options"], reply["option_explanations"]
    letters = LETTERS[1 : len(options)]
    return {
        "answers": [{"text": options["A"], "explanation": why["A"]}],
        "distractors": [
            {"text": options[each], "from_context": place < inside, "explanation": why[each]}
            for place, each in enumerate(letters)
        ],
    }


def lettered_fault(
    reply: Mapping[str, Any], inside: int, key: str, question: str, caption: str
) -> str:
    """Return what is wrong with a reply that fits its schema; empty where nothing is."""
    options = reply["options"]
    if reply["correct_mcq_option_text"].strip() != options["A"].strip():
        return "correct_mcq_option_text is not the text of option A"
    texts = [text.strip() for text in options.values()]
    return (
        light_polish_fault(key, options["A"].strip())
        or self_contained_fault(texts)
        or alike_fault(texts)
        or _origin_fault(options, inside, question, caption)
    )


def _origin_fault(options: Mapping[str, str], inside: int, question: str, caption: str) -> str:
    """Return which option is not where it is said to be from, as far as words tell."""
    for place, letter in enumerate(LETTERS[1 : len(options)]):
        share = share_supported(options[letter], question, caption)
        if share is None:
            continue
        if place < inside and share < SUPPORTED:
            return (
                f"option {letter}, {options[letter]!r}, must be about what is in the video, but "
                f"the material has only {percent(share)} of its words"
            )
        if place >= inside and share >= ABSENT:
            return (
                f"option {letter}, {options[letter]!r}, must be about what is not in the video, "
                f"but the material has {percent(share)} of its words"
            )
    return ""
