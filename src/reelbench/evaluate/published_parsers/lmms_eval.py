"""The extractor that tasks of lmms-eval share since April 2026 (its commit 9ca4445d)."""

from reelbench.data.items import LETTERS
from reelbench.evaluate.published_parsers.reading import Choices, ParserReading, chosen

_ENDS = ",.!?;:'\""  # each is taken off both ends in turn, and not again
_CALLED = ("answer", "choice", "correct answer", "correct choice", "correct option",
           "best answer", "best option")  # fmt: skip
_ANNOUNCED = (
    *(f"{the}{called} is" for the in ("the ", "") for called in _CALLED),
    "my answer is", "my choice is", "i choose", "i select", "i pick",
    "옵션", "정답은", "답은", "답:", "答案是", "答案为", "选", "答えは",
)  # fmt: skip
_FORMS = ("({})", "{}.", "{}:", "{})", "{} ", "{}")


def read_shared(reply: str, choices: Choices) -> ParserReading:
    """Video-MME, MLVU, LVBench, VideoMMMU, MMStar, ERQA and others that share it.

    Commas, full stops, quotes and the like are taken off both ends. Then, of the capital letters:

    1. An option's that is the first character, no letter behind it: "A man opens" is A.
    2. One that is the last, no letter before it.
    3. Where a phrase such as "answer is" or "답은" stands, in any case: behind its first occurrence
       each option's letter is looked for, in words too, and the one that is found last is taken
       ("The answer is B, not A" is A).
    4. "(B)"; else "B."; else "B:"; else "B)"; else "B " (in "NASA " too); else any, in words
       too. Of several, the one that comes last.
    5. Without any, there is no answer.
    """
    text = reply.strip()
    for mark in _ENDS:
        text = text.strip(mark)
    bare, text = text.strip(), f" {text} "
    letters = LETTERS[: len(choices)]
    if bare and bare[0] in letters and not bare[1:2].isalpha():
        return chosen(bare[0], choices, "first character")
    if bare and bare[-1] in letters and not bare[-2:-1].isalpha():
        return chosen(bare[-1], choices, "last character")
    low = text.lower()
    behind = [low.find(phrase) + len(phrase) for phrase in _ANNOUNCED if phrase in low]
    found = [(text.find(letter, start), letter) for start in set(behind) for letter in letters]
    if found and max(found)[0] >= 0:
        return chosen(max(found)[1], choices, "letter behind a phrase")
    for form in _FORMS:
        place, letter = max((text.rfind(form.format(each)), each) for each in letters)
        if place >= 0:
            return chosen(letter, choices, f"letter as {form.format('X')!r}")
    return ParserReading(None, "no letter of an option")
