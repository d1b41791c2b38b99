"""The words that count options: ``the second choice``."""

from reelbench.evaluate.parse.vocabulary import pattern

_SPELLED = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
_FIGURES = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th")
ORDINALS = {word: place for names in (_SPELLED, _FIGURES) for place, word in enumerate(names)}
WORDS = "|".join(ORDINALS)
CALLED = r"(?:option|choice|answer|statement|description|caption)"
_OPENS = pattern(
    rf"\W{{0,4}}(?:the\s)?({WORDS})\s(?:one|{CALLED})"
    r"\s{0,2}(?=$|[.,;:!)(\n]|(?:because|since|as|here)\b)"
)


# "First answer: A. Final answer: B" opens so, too.
_ALONE = pattern(
    rf"\W{{0,4}}(?:the\s)?({WORDS})\s(?:one|{CALLED})"
    r"(?:[.!)\s]{0,4}|,?\s(?:because|since|as)\s[^.!?\n]*[.!]?\s*)$"
)


def opening_ordinal(low: str, alone: bool = False) -> str:
    """Return the word by which a lowered text that opens so, or is no more, counts an option."""
    found = (_ALONE if alone else _OPENS).match(low)
    return found[1] if found else ""
