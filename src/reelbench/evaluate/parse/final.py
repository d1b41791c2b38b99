"""The final part of a reply: its last sentence, a veto, and what is not whole."""

import re

from reelbench.evaluate.parse.letters import Reader
from reelbench.evaluate.parse.text import ReplyText
from reelbench.evaluate.parse.vocabulary import lowered, occurrences, pattern, words

# The label of an option ends no sentence: "It is A. a cat."
_SENTENCE_END = pattern(
    r"(?<=[.!?।؟])(?<![^A-Za-z][A-Z]\.)(?<!^[A-Z]\.)[\"')\]]{0,3}\s+|(?<=[。！？])[\"')\]]{0,3}\s*|\n+"
)
_TAIL = 1_500  # characters
_COURTESY = pattern(r"(?![^\n]{0,80}(?<![A-Za-z])[A-Z]{2,9}(?![A-Za-z]))[^?!:\d\n]{2,80}[.!]?")
_CONTRAST = pattern(r"\b(?:but|however|although|though|yet|not|no)\b|n't|‹negation›|‹but›")
_LONE_LETTER = pattern(
    r"(?<![A-Za-z0-9'])(?:[B-HJ-Z](?![A-Za-z0-9'])|[AI](?![A-Za-z0-9'])(?=\W{0,3}$|[)\]}\"'*]))"
)
_NAMED = pattern(
    r"(?<![A-Za-z0-9'])(?:\([A-Za-z]\)|[B-HJ-Z](?![A-Za-z0-9'])|A(?![A-Za-z0-9']|\s[a-z]))"
    r"|(?i:‹option›)\s\(?[A-Za-z](?![\w'])"
)
_VETO = pattern(r"‹negation›|n't\b|‹negating›|‹faulty›")
_OFFERED = pattern("‹offered›")
_OTHERS = pattern("‹others›")
_NEAR_END = 3  # sentences
_LOOP = 40  # characters that come again
_LOOPS = 5
_LETTERS = 3


def sentences(text: str) -> list[str]:
    """Return the last sentences of a text."""
    return [part for part in _SENTENCE_END.split(text[-_TAIL:]) if part and part.strip()]


def last_sentence(reply: ReplyText) -> tuple[str, str]:
    """Return what stands before the last sentence, and that sentence, courtesies left out."""
    parts = sentences(reply.bare)
    while len(parts) > 1 and _is_courtesy(parts[-1]):
        parts.pop()
    if not parts:
        return "", ""
    place = reply.bare.rfind(parts[-1])
    return reply.bare[:place], parts[-1]


def _is_courtesy(sentence: str) -> bool:
    """Whether a sentence says nothing of options: "I hope this helps." """
    low = lowered(sentence)
    plain = bool(_COURTESY.fullmatch(sentence)) and not _CONTRAST.search(low)
    return (
        plain
        and not _LONE_LETTER.search(sentence)
        and not any(occurrences(low, words("retraction")))
    )


def is_concluded(sentence: str) -> bool:
    """Whether a sentence says that it is a conclusion."""
    return any(occurrences(lowered(sentence), words("so")))


def letters_named(sentence: str, reader: Reader) -> set[int]:
    """Return the options whose letters stand by themselves."""
    found = {reader.question.place(match[0]) for match in _LONE_LETTER.finditer(sentence)}
    return {place for place in found if place is not None}


def veto(reply: ReplyText, reader: Reader) -> str | None:
    """Return what stands behind the words that no option is right; None if they are not said."""
    if any(_says_none(text) for text in reader.question.texts):
        return None
    parts = sentences(reply.bare)[-_NEAR_END:]
    for number in range(len(parts) - 1, -1, -1):
        found = _says_none(parts[number])
        if found:
            return " ".join([parts[number][found.end() :], *parts[number + 1 :]])
    return None


def _says_none(sentence: str) -> re.Match[str] | None:
    """Where a sentence has said that all options are wrong, and names none of them."""
    low = lowered(sentence)
    offered = _OFFERED.search(low)
    denied = _VETO.search(low)
    if not offered or not denied or _OTHERS.search(low) or _NAMED.search(sentence):
        return None
    return max(offered, denied, key=lambda found: found.end())


def is_loop(text: str) -> bool:
    """Whether a text ends with words that it has said many times."""
    last = text[-_LOOP:]
    if sum(sign.isalnum() for sign in last) < _LETTERS or len(text) < _LOOP * _LOOPS:
        return False
    start = max(0, len(text) - _TAIL * 4)
    return text.count(last, start) >= _LOOPS


def is_whole(bare: str) -> bool:
    """Whether a text of sentences ends with one."""
    parts = sentences(bare)
    ended = [bool(re.search(r"[.!?。！？।؟…:;)\]\"'|]\s*$", part)) for part in parts]
    return len(parts) < 2 or ended[-1] or not any(ended[:-1])
