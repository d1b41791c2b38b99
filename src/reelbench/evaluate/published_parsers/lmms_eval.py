"""How tasks of lmms-eval read multiple-choice replies: five parsers, by the task they stand in."""

import re
from collections.abc import Mapping, Sequence

from reelbench.data.items import LETTERS
from reelbench.evaluate.published_parsers.reading import (
    Choices,
    ParserReading,
    chosen,
    letters_for,
)

# The two last pairs lack a comma between them in the source, so that they never occur in a reply.
_VIDEO_MME = (
    "The best answer is", "The correct answer is", "The answer is", "The answer",
    "The best option isThe correct option is", "Best answer:Best option:",
)  # fmt: skip
_LONG_VIDEO_BENCH = (
    "The best answer is", "The correct answer is", "The answer is", "The answer",
    "The best option is", "The correct option is", "Best answer:", "Best option:",
)  # fmt: skip


def read_videomme(reply: str, choices: Choices) -> ParserReading:
    """Video-MME and those that took it over (MLVU and others), the one most often met.

    1. Phrases such as "The answer is" are cut out, wherever they stand.
    2. The first capital letter from A to D is the answer, be it a label, the article "A" or the
       beginning of a word ("Based on the video" is B).
    3. Without one, there is no answer.
    """
    return first_capital(reply, choices, _VIDEO_MME, 4)


def read_longvideobench(reply: str, choices: Choices) -> ParserReading:
    """LongVideoBench: as Video-MME, with A to E, more phrases, and a guess at the end.

    1. Phrases such as "The best option is" are cut out, wherever they stand.
    2. The first capital letter from A to E is the answer, wherever it stands.
    3. Without one, an option is drawn by chance.
    """
    found = first_capital(reply, choices, _LONG_VIDEO_BENCH, 5)
    if found.rule == NO_CAPITAL:
        return ParserReading(None, "a guess", draw=len(choices))
    return found


NO_CAPITAL = "no capital letter of an option"


def first_capital(
    reply: str, choices: Choices, phrases: Sequence[str], least: int
) -> ParserReading:
    """Return the first letter of an option once phrases are cut out."""
    text = reply.strip()
    for phrase in phrases:
        text = text.replace(phrase, "")
    wanted = frozenset(letters_for(choices, least))
    letter = next((character for character in text if character in wanted), "")
    return chosen(letter, choices, "first capital") if letter else ParserReading(None, NO_CAPITAL)


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
    3. Without one, there is no answer.
    """
    wanted = letters_for(choices, 5)
    text = reply.strip()
    before, _, _ = text[2:].rpartition("\n")
    if text[:1].upper() in tuple(wanted) and text[1:2] == "." and text[2:] and not before.strip():
        return chosen(text[0].upper(), choices, "leading letter")
    text = _without_punctuation(text.replace("\n", " ").replace("\t", " ").strip())
    for mark in "'\")(":
        text = text.strip(mark)
    letter = re.search(rf"\b([{wanted}])\b", text.strip().lower(), re.IGNORECASE)
    if letter is None:
        return ParserReading(None, "no letter alone")
    return chosen(letter[1].upper(), choices, "first letter alone")


def _without_punctuation(text: str) -> str:
    thousands = _THOUSANDS.search(text) is not None
    spaced = {mark: f"{mark} " in text or f" {mark}" in text for mark in _PUNCTUATION}
    removed: dict[str, str | int | None] = {
        mark: "" if thousands or spaced[mark] else " " for mark in _PUNCTUATION
    }
    return _PERIOD.sub("", text.translate(str.maketrans(removed)), count=_PERIODS)


def read_nextqa(reply: str, choices: Choices) -> ParserReading:
    """NExT-QA, and MMMU until 2025: the parser of MMMU, which guesses.

    1. Commas, full stops and the like are taken off both ends.
    2. Options as "(B)"; else letters with a space behind them ("B ", but "DNA " is A too); else
       with a full stop ("B.").
    3. Without any, and in a reply of more than five words, options whose text stands in it.
    4. Of several, the one that comes last; of letters without brackets, the last with a space on
       both sides, and the first in the alphabet where none has.
    5. Without any, an option is drawn by chance.
    """
    return mmmu_candidates(reply, choices) or ParserReading(None, "a guess", draw=len(choices))


_MARKER = re.compile(r"(?i:answer)\s*[:：]\s*[*(\[]*([A-Z])\b")


def read_mmmu(reply: str, choices: Choices) -> ParserReading:
    """MMMU and MMMU-Pro since: the last "Answer: B" first, and no guess at the end.

    1. The last "Answer:" that has an option's letter behind it, brackets and stars aside.
    2. Else as NExT-QA, rules 1 to 4.
    3. Without any, there is no answer.
    """
    letters = [found for found in _MARKER.findall(reply) if found in LETTERS[: len(choices)]]
    if letters:
        return chosen(letters[-1], choices, "answer marker")
    return mmmu_candidates(reply, choices) or ParserReading(None, "no candidate")


def mmmu_candidates(reply: str, choices: Choices) -> ParserReading | None:
    """Return what MMMU's parser takes from a reply; None where it finds nothing."""
    for mark in ",.!?;:'":
        reply = reply.strip(mark)
    text = f" {reply} "
    letters = LETTERS[: len(choices)]
    for form, looked_for in (("({})", "({})"), ("{} ", " {} "), ("{}.", " {} ")):
        found = [letter for letter in letters if form.format(letter) in text]
        if found:
            places = {letter: text.rfind(looked_for.format(letter)) for letter in found}
            return chosen(_last(places), choices, f"letter as {form.format('X')!r}")
    if len(text.split()) <= _FEW_WORDS:
        return None
    low = text.lower()
    texts = dict(zip(letters, map(str.lower, choices), strict=True))
    places = {letter: low.rfind(choice) for letter, choice in texts.items() if choice in low}
    return chosen(_last(places), choices, "option's text") if places else None


_FEW_WORDS = 5


def _last(places: Mapping[str, int]) -> str:
    """The letter that stands last; of equals, the first in the alphabet."""
    return max(places, key=places.__getitem__)
