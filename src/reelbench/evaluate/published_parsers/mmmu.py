"""The parser that MMMU published, which many tasks of lmms-eval have: options in brackets first."""

from collections.abc import Mapping

from reelbench.data.items import LETTERS
from reelbench.evaluate.published_parsers.reading import Choices, ParserReading, chosen


def read_nextqa(reply: str, choices: Choices) -> ParserReading:
    """NExT-QA, MMMU, MMMU-Pro and others in lmms-eval: the parser of MMMU, which guesses.

    1. Commas, full stops and the like are taken off both ends.
    2. Options as "(B)"; else letters with a space behind them ("B ", but "DNA " is A too); else
       with a full stop ("B.").
    3. Without any, and in a reply of more than five words, options whose text stands in it.
    4. Of several, the one that comes last; of letters without brackets, the last with a space on
       both sides, and the first in the alphabet where none has.
    5. Without any, an option is drawn by chance.
    """
    return mmmu_candidates(reply, choices) or ParserReading(None, "a guess", draw=len(choices))


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
