"""The final part of a reply: its last sentence, a veto, and what is not whole."""

import re

from reelbench.evaluate.parse.asserted import is_asserted
from reelbench.evaluate.parse.letters import Reader
from reelbench.evaluate.parse.question import Places
from reelbench.evaluate.parse.text import ReplyText
from reelbench.evaluate.parse.vocabulary import lowered, occurrences, pattern, words

# The label of an option ends no sentence: "It is A. a cat."
_SENTENCE_END = pattern(
    r"(?<=[.!?।؟])(?<![^A-Za-z][A-Z]\.)(?<!^[A-Z]\.)[\"')\]]{0,3}\s+|(?<=[。！？])[\"')\]]{0,3}\s*|\n+"
)
_TAIL = 1_500  # characters
_COURTESY = pattern(r"(?![^\n]{0,80}(?<![A-Za-z])[A-Z]{2,9}(?![A-Za-z]))[^?!:\d\n]{2,80}[.!]?")
_CONTRAST = pattern(
    r"\b(?:but|however|although|though|yet|not|no)\b|n't|‹negation but›|‹negating faulty offered›"
)
_LONE_LETTER = pattern(
    r"(?<![A-Za-z0-9'])(?:[B-HJ-Z](?![A-Za-z0-9']|-\w|\.\s?[a-z])|[AI](?![A-Za-z0-9'])(?!-)(?=\W{0,3}$|[)\]}\"'*]|\s?[^\x00-\x7f]))"
)
_NAMED = pattern(
    r"(?<![A-Za-z0-9'])(?:\([A-Za-z]\)|[B-HJ-Z](?![A-Za-z0-9'])|A(?![A-Za-z0-9']|\s[a-z]))"
    r"|(?i:‹option›)\s\(?[A-Za-z](?![\w'])"
)
_VETO = pattern(r"‹negation›|n't\b|‹negating›|‹faulty›")
_OPTION = pattern("‹option answer offered›")
_OFFERED = pattern("‹offered›")
_OTHERS = pattern("‹others›")
_HEADED = pattern(
    r"(?!(?:From|On|In|At|To|The|A|An)\b)[^\W\d_][^\d\n.:,]{1,40}?\s?[:=→]>?\s?\W{0,3}[A-Z]\W{0,3}"
)
_CAPITAL = pattern(r"(?<![A-Za-z0-9'])[A-HJ-Z](?![A-Za-z0-9'])")
_SYMBOL = pattern(r"[^\w\s(\[{\"'*:.,;—–>→-]$")  # an angle D
_CUE = pattern("‹so answer right choose fits›")
_AHEAD = pattern("‹answer option be so right choose fits filler›$")
_OPEN = pattern(r"‹negation supposing either but›|n't\b|‹negating faulty others›|[?？]")
_LAST_WORD = pattern(r"[^\W\d_]+$")
_BRIEF = 120
_NEAR_END = 3  # sentences
_LOOP = 40  # characters that come again
_LOOPS = 5
_LETTERS = 3


def sentences(text: str) -> list[str]:
    """Return the last sentences of a text."""
    return [part for part in _SENTENCE_END.split(text[-_TAIL:]) if part and part.strip()]


def last_sentence(reply: ReplyText, reader: Reader) -> tuple[str, str]:
    """Return what stands before the last sentence, and that sentence, courtesies left out."""
    parts = sentences(reply.bare)
    while len(parts) > 1 and _is_courtesy(parts[-1]) and not reader.only(parts[-1]).places:
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
        and not _CAPITAL.search(sentence)
        and not _CUE.search(low)
        and not any(occurrences(low, words("retraction")))
    )


def is_concluded(sentence: str) -> bool:
    """Whether a sentence says that it is a conclusion."""
    return any(occurrences(lowered(sentence), words("so")))


def letters_named(sentence: str, reader: Reader) -> set[int]:
    """Return the options whose letters stand by themselves."""
    found = {reader.question.place(match[0]) for match in _LONE_LETTER.finditer(sentence)}
    return {place for place in found if place is not None}


def lone_letter(sentence: str, reader: Reader) -> Places:
    """The one letter of a sentence that speaks of an answer, where nothing is denied or left open.

    What stands before a colon and a letter at the end needs no known word: ``Wahl: B``.
    """
    low = lowered(sentence)
    found = list(_LONE_LETTER.finditer(sentence))
    if len(sentence) > _BRIEF or len({match[0] for match in found}) != 1 or _OPEN.search(low):
        return ()
    letter = found[0]
    place = reader.question.place(letter[0])
    if place is None or letter[0] in reader.question.names or not is_asserted(low, letter.start()):
        return ()
    if _SYMBOL.search(sentence[: letter.start()]):
        return ()
    ahead = low[: letter.start()].rstrip(" (\"'*:")
    known = _CUE.search(low) and (_AHEAD.search(ahead) or not _LAST_WORD.search(ahead))
    return (place,) if _HEADED.fullmatch(sentence) or known else ()


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


def denies_options(sentence: str) -> bool:
    """Whether a sentence speaks of an option or an answer, and denies something."""
    low = lowered(sentence)
    return bool(_OPTION.search(low) and _VETO.search(low) and not _OTHERS.search(low))


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
