"""How MMMU-Pro's published evaluate.py reads a reply: the letters in its published results."""

from reelbench.data.items import LETTERS
from reelbench.evaluate.published_parsers.mmmu import mmmu_candidates
from reelbench.evaluate.published_parsers.reading import Choices, ParserReading, chosen


def read_mmmu_pro(reply: str, choices: Choices) -> ParserReading:
    """The script of MMMU-Pro, an image benchmark of ten options.

    1. Behind the last "Answer:", the one option whose letter stands anywhere in the rest.
    2. Else the rules of MMMU: options as "(B)", "B " or "B.", then texts; of several, the last.
       "I'm sorry, I can't" has "I " in it and is option I.
    3. Without any, an option is drawn by chance.
    """
    _, marker, after = reply.rpartition("Answer:")
    if marker:
        letters = [letter for letter in LETTERS[: len(choices)] if letter in after]
        if len(letters) == 1:
            return chosen(letters[0], choices, "answer marker")
    return mmmu_candidates(reply, choices) or ParserReading(None, "a guess", draw=len(choices))
