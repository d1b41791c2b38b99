"""Letters that are explained in brackets: ``A (smoke) and B (fire). The others are not seen.``."""

import re
from collections.abc import Callable

from reelbench.evaluate.parse.vocabulary import pattern

_GLOSS = pattern(r"(?<![A-Za-z0-9])([A-Z])\s?\(([^()\n]{1,200})\)")
_SENTENCE = pattern(r"[.;!](?=\s|$)")


def first_list(text: str, is_of: Callable[[str, str], bool]) -> str:
    """Return the first sentence without brackets that hold the text of the letter before them."""

    def letter_alone(found: re.Match[str]) -> str:
        return found[1] if is_of(found[1], found[2]) else found[0]

    return _SENTENCE.split(_GLOSS.sub(letter_alone, text), maxsplit=1)[0]
