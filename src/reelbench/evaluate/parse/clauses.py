"""Whether what stands in a sentence is stated there, and not supposed or doubted."""

import re

from reelbench.client.reply_text import without_markup
from reelbench.evaluate.parse.assertion import FIRST_LOOK
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
_ALL_BUT = pattern(
    r" (?:anything but|everything but|all but|stops|stopped|avoids|opposite of|about to"
    r"|titled|sign (?:says|reads)|title (?:says|reads)|caption (?:says|reads)) $"
)
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


_WOULD = r"(?:‹spaced supposing›|(?<=[a-z])'d )"
_WOULD_BE = pattern(_WOULD)
# "A dog would be my answer", "a dog, I'd say": that is an answer.
_ANSWERS = pattern(
    rf"{_WOULD}(?:\w+ ){{0,2}}(?:best|better|correct|right|answer|closest|my|most|choice|option"
    r"|antwort|richtig\w?|réponse|correct[eao]|respuesta|resposta|risposta|ответ\w*)"
    r"|(?: (?:i|we) would|(?:i|we)'d) (?:\w+ )?(?:say|guess|go|choose|pick|call|answer|conclude"
    r"|bet|argue|think|describe|take|vote|select|suggest|conclude)"
)
# What holds of all such things is not said of this one.
_IN_GENERAL = pattern(
    r"(?: \w+){0,1} (?:usually|typically|normally|generally|ordinarily|requires?|needs?"
    r"|tends? to|refers? to|normalerweise|üblicherweise|généralement"
    r"|normalmente|обычно) "
)
_GENERALLY = pattern(r" (?:usually|typically|normally|generally|ordinarily|in general) (?:, )?$")
_WOULD_SHOW = pattern(
    rf"{_WOULD}(?:\w+ )?(?:need|require|expect|see|hear|show|have|include|involve|contain|feature"
    r"|notice|observe|look for) "
)
_OPENER = pattern(r" (?:(?:for|in|with|during|at|on|as|by) )?$")
_AFTER_OPENER = pattern(r" , (?!(?:which|as|that|because|since|so|and|i|we) )[^.]{0,80}?" + _WOULD)
_OTHERS_THINK = pattern(
    r" (?:one|you|someone|anyone|people|us|viewers?|observers?) (?:to |into |might |may |could"
    r" |would ){0,2}(?:think|thinking|believe|believing|assume|assuming|suppose|supposing"
    r"|mistake|conclude) "
)
_HEDGES = pattern(
    r" (?:might|may|could(?! be (?:seen|heard|observed))|perhaps|maybe|possibly|vielleicht|könnte"
    r"|peut-être|pourrait|quizás?|podría|talvez|poderia|forse|potrebbe) "
)
_DOUBTS = pattern(
    r" (?:but|though|although|however|yet|aber|mais|pero|ma) "
    r"| (?:can't|cannot|couldn't|not|n't|isn't|unable|no way|hard|impossible|difficult)"
    r" (?:\w+ ){0,3}(?:tell|sure|certain|say|know|confirm|verify|determine|clear|exclude) "
    r"| (?:unsure|uncertain|unclear) "
)
_EARLIER = pattern(
    r" (?:earlier|previously|beforehand|formerly|before (?:that|this|then)|prior to (?:that|this)"
    r"|until then|up to then) "
)
_LATER = pattern(r" (?:then|later|afterwards?|finally|eventually|now|at end|in end|at last) ")


def is_supposed(before: str, clause: str, rest: str, after: str) -> bool:
    """Whether what stands between ``before`` and ``after`` is supposed and not said.

    ``clause`` and ``rest`` are the parts of its own clause before it and behind it.
    """
    if _GENERALLY.fullmatch(before) or _IN_GENERAL.match(rest):
        return True
    if _OTHERS_THINK.search(before) or _WOULD_SHOW.search(clause):
        return True
    if _WOULD_BE.search(rest) and not _ANSWERS.search(rest):
        return True
    opens = _OPENER.fullmatch(before) and _AFTER_OPENER.match(after)
    return bool(opens) and not _ANSWERS.search(after)


def is_doubted(before: str, beyond: str) -> bool:
    """Whether a sentence says that something may be, or was, and goes on to something else.

    ``beyond`` is what stands behind it in its sentence and in the next.
    """
    if _EARLIER.search(before) and _LATER.search(beyond):
        return True
    return bool(_HEDGES.search(before) and _DOUBTS.search(beyond))
