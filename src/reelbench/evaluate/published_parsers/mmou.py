"""How MMOU is read: its paper describes a parser, and lmms-eval's task of that name has one."""

import re

from reelbench.evaluate.published_parsers.reading import Choices, ParserReading, chosen

_LETTERS = frozenset("ABCDEFGHIJ")
_ANNOUNCEMENTS = ("the answer is", "answer:", "the option is", "final answer:")


def read_mmou(reply: str, choices: Choices) -> ParserReading:
    """The task `mmou` of lmms-eval; of the paper's own code no parser is published.

    1. What stands behind the last "the answer is"; or else behind the last "answer:", "the option
       is" or "final answer:", whatever the case; or else the whole reply.
    2. The first letter from A to J in round brackets.
    3. Else the first capital letter from A to J that stands alone: "I'm sorry" is option I.
    4. Else the first letter from A to J at all, small or not, in any word.
    5. A reply without any such letter has no answer.
    """
    text = reply.strip()
    for words in _ANNOUNCEMENTS:
        start = text.lower().rfind(words)
        if start >= 0:
            text = text[start + len(words) :].strip()
            break
    for pattern, rule in (
        (r"\(([A-J])\)", "letter in brackets"),
        (r"\b([A-J])\b", "letter alone"),
    ):
        if found := re.search(pattern, text):
            return chosen(found[1], choices, rule)
    letter = next((each for each in map(str.upper, text) if each in _LETTERS), "")
    if not letter:
        return ParserReading(None, "no letter of an option")
    return chosen(letter, choices, "first letter of any word")
