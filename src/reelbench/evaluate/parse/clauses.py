"""Whether what stands in a sentence is stated there: words between single spaces, and clauses."""

import re

from reelbench.client.reply_text import without_markup
from reelbench.evaluate.parse.asserted import FIRST_LOOK
from reelbench.evaluate.parse.suppositions import is_doubted, is_supposed
from reelbench.evaluate.parse.vocabulary import (
    JOINED_SIGNS,
    UNSPACED,
    lowered,
    pattern,
    words,
)

ENDS = frozenset(".!?。।؟\n")  # of sentences
_TOKEN = pattern(
    rf"(?:(?<![\w)%])[-−])?\d+(?:[.,:/]\d+)*%?|[{UNSPACED}]"
    rf"|(?:(?![{UNSPACED}_])[\w{JOINED_SIGNS}])+(?:'\w+)?"
    r"|\.{2,}|[.!?](?=[\s\"')]|$)|[。।؟\n,;:()،、؛–—]|[^\s\w\"'-]"
)
_WRAPPED_LINE = pattern(r"(?<=[^\n.!?:])\n(?=[a-z])")


_LETTER_A = pattern(r"(?<=\w )A\b(?!\s[A-Z]|['’])")  # "vitamin A": an article is not capital there


def tokens(text: str) -> list[str]:
    """Return the words and marks of a text, without articles; unspaced scripts sign by sign."""
    kept: list[str] = []
    articles = words("article")
    text = _LETTER_A.sub("ⓐ", text)
    for token in _TOKEN.findall(_WRAPPED_LINE.sub(" ", lowered(text).casefold())):
        mark = "." if token.startswith("..") else token
        if mark in articles or (mark in ENDS and not _ends_sentence(mark, kept)):
            continue
        kept.append(mark)
    return kept


def _ends_sentence(mark: str, before: list[str]) -> bool:
    """Whether a mark ends a sentence: not the full stop of ``B.``, nor a line's end after one."""
    if not before or before[-1] in ENDS:
        return False
    last = before[-1]
    return mark == "\n" or not (len(last) == 1 and last.isascii() and last.isalpha())


_LAST_A = pattern(r"(?<=\w )a$")


def needle(option: str) -> str:
    """Return an option as it is looked for among tokens, spaces around it; empty if it is none."""
    found = tokens(_LAST_A.sub("A", without_markup(option)))
    while found and (found[-1] in ENDS or found[-1] in ",;:"):
        found.pop()
    return f" {' '.join(found)} " if found else ""


_COMMA = "(?: ,)?"


def searched(words: str) -> str:
    """Return the expression that finds an option among tokens, but for the space behind it.

    A comma within need not be there, nor need it be missing before "and".
    """
    expression = ""
    for word in words.split():
        if word == "," or (word == "and" and expression and not expression.endswith("?")):
            expression += _COMMA
        if word != ",":
            expression += f" {re.escape(word)}"
    return expression + "(?= )"


CONCLUDES = pattern("‹spaced so›")
EXPLAINS = pattern("‹spaced why›")
NEGATION = pattern(r"‹spaced negation negating›|n't ")
_OTHERWISE = (
    "but|while|whereas|although|though|however|because|since|so|aber|sondern|während|obwohl|weil"
    "|mais"
    "|tandis que|parce que|pero|sino|mientras|porque|mas|enquanto|ma|bensì|mentre|perché|но|а|хотя"
    "|потому что|लेकिन|बल्कि|क्योंकि|لكن|بل|بينما|لأن|但 是|而 是|而|因 为"
)
_BREAK = pattern(rf" (?:[,;:()–—،、؛]|{_OTHERWISE}|which|who|where|when|and|as|then) ")
_NO_LIST = pattern(rf" (?:[;:–—]|{_OTHERWISE}) $")
_AHEAD = pattern(
    r" (?:without|rather than|instead of|unlike|too|than|if|unless|whether|assuming|suppose) "
)  # they deny what follows
_EITHER = (
    "or|either|oder|entweder|ou|soit|oppure|или|либо|أو|إما|या|अथवा|或|或 者|还 是|또 는|혹 은"
    "|ま た は|も し く は|あ る い は"
)
_NEAR = 3  # an alternative stands right behind: not "a bike down the road or path"
BEYOND = pattern(r" (?:over|under|above|below|beyond|exceeding|at least|at most) $")
_ALL_BUT = pattern(r" (?:anything but|everything but|all but) $")
_OTHERS = pattern(
    r" (?:some|many|others|one|you|people) (?:might|may|could) | (?:i|we) (?:had )?considered "
)
_ONLY = pattern(r"\s?(?:only|just|instead|rather|but)\b")
EITHER = pattern(rf" (?:{_EITHER}) ")
_EITHER_BESIDE = pattern(r" [ou] ")  # of Spanish and Italian; in Portuguese an article
_EITHER_NEXT = pattern(rf"[,;:] (?:{_EITHER}) ")


def is_stated(before: str, after: str, following: str = "") -> bool:
    """Whether what stands between these parts of its sentence is stated.

    It is not where it is asked, denied in its clause, supposed, doubted here or in the sentence
    that follows, or one of alternatives.
    """
    if after.rstrip().endswith(("?", "؟")):
        return False
    clause, rest = _last_clause(before), _first_clause(after)
    if NEGATION.search(clause) or NEGATION.search(_AHEAD.sub(" ", rest)) or " too " in before:
        return False
    if is_supposed(before, clause, rest, after) or is_doubted(before, after + following):
        return False
    if EITHER.search(clause) or EITHER.search(" ".join(rest.split(" ")[:_NEAR]) + " "):
        return False
    if _ALL_BUT.search(before) or FIRST_LOOK.search(before) or _OTHERS.search(clause):
        return False
    if _EITHER_BESIDE.match(after) or _EITHER_NEXT.match(after, len(rest)):
        return False
    return not _denied_on(before, clause)


def _last_clause(before: str) -> str:
    place = end = 0
    while found := _BREAK.search(before, place):
        place = found.end() - 1
        if not EITHER.match(before, place):  # ", or a dog" belongs to what is before it
            end = place
    return before[end:]


def _first_clause(after: str) -> str:
    found = _BREAK.search(after)
    return after[: found.start() + 1] if found else after


def _denied_on(before: str, clause: str) -> bool:
    """Whether a denial before the last break holds on: "not a red door and a dog"."""
    head = before[: len(before) - len(clause) + 1]
    if _ONLY.match(clause):
        return False
    if len(clause) == len(before) or len(clause.split()) > 1 or _NO_LIST.search(head):
        return False
    earlier = head[: head.rstrip().rfind(" ") + 1]
    return bool(NEGATION.search(_last_clause(earlier)))
