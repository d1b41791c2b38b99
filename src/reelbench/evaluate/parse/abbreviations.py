"""Whether a letter and a full stop are part of a name: ``E. coli``, or a speaker's: ``A: Hi``."""

import re

from reelbench.evaluate.parse.vocabulary import lowered, pattern

_SMALL_WORD = pattern(r"[a-z]+(?=[\s,.;:!?-]|$)")
_GREETING = pattern(
    r"\W*(?:hello|hi|hey|good (?:morning|evening|day)|thanks?|welcome)\b", re.IGNORECASE
)
_WORDS_AHEAD = 60  # characters behind a label in which a word of its option may come
_PLAIN_WORDS = frozenset({  # with which an explanation may begin
    "it", "he", "she", "they", "the", "this", "that", "these", "those", "there", "because",
    "since", "as", "a", "an", "based", "given", "due", "i", "we", "you", "in", "to", "is", "are",
    "was", "from", "on", "at", "by", "for", "with", "of", "and", "or", "so", "not", "no", "only",
    "both", "all", "his", "her", "their", "its", "one", "two", "three", "when", "while", "sorry",
    "please", "which", "where", "who", "if", "has",
})  # fmt: skip


def abbreviates(text: str, own: str, dotted: bool) -> bool:
    """Whether what follows a label goes on as a name does; ``own`` is the text of its option."""
    word = _SMALL_WORD.match(text) if dotted else None
    if not word:
        return bool(_GREETING.match(text))
    begin = set(re.findall(r"\w+", lowered(text[:_WORDS_AHEAD])))
    return word[0] not in _PLAIN_WORDS and not set(re.findall(r"\w+", own)) & (begin - _PLAIN_WORDS)
