"""Whether what is said of a letter is the reply's own statement, and whether it is a label at all.

It is not where it is denied ("I don't think the answer is B"), supposed ("If he is the father, the
answer is B"), what others or a first look would say ("Many would say the answer is A"), or where
another letter stands right behind it as an alternative.
"""

import re
from collections.abc import Callable

from reelbench.evaluate.parse.vocabulary import IN_WORD, lowered, pattern

_SEEN = 200  # characters of the sentence before
_NEAR = 6  # words before, in the same clause, among which a denial counts
_END = pattern(r"[.!?](?=\s)|[\n。।؟！？]")
_CONTRAST = pattern(
    r"\b(?:but|however|yet|nevertheless|aber|mais|pero|mas|ma)\b|(?<!\w)но(?!\w)|但是?"
)
_CLAUSE = pattern(
    r"[,;:()–—،、]\s{0,2}(?!(?:that|dass|que|che|что)\b)"
    r"|\b(?:so|thus|therefore|hence|because|since|while|and|which|making|daher|donc|quindi)\b|所以"
    r"|因此|因为|而"
)
_NEGATION = pattern(r"‹negation›|n't\b|\b(?:wrong|least|worst|doubt\w*|improbable|refuse|reject)\b")
_NEGATED_SIGN = pattern(r"(?:不|没|沒|非|未|别|勿|無|无)[^\sA-Za-z]{0,3}$")
_AFFIRMS = pattern(
    r"\b(?:(?:no|without(?: an?y?)?|beyond(?: an?y?)?|leaves no) (?:doubt|question)|not only"
    r"|if anything"
    r"|more (?:likely )?than (?:likely|not)|why not|can't help but|no,)"
)
_CONDITION = pattern(
    r"(?:^|[.!?]\s)\s*(?:had|were)\s(?:he|she|it|they|i|we|you|the|this|that)\b|"
    r"\b(?:if|unless|suppose|supposing|assuming|provided that|in case|wenn|falls|si"
    r"|nếu|jika|kalau|eğer|jeśli|gdyby|indien)\b"
    r"|(?<!\w)если(?!\w)|如果|若|もし|たら、?|หาก|ถ้า|якби|якщо|اگر|만약|अगर|यदि|إذا|(?<!\w)لو(?!\w)"
)
_NO_CONDITION = pattern(
    r"\b(?:if|assuming|suppose) (?:we|you|one|i) (?:\w+ )?(?:look|watch|see|consider|examine|focus"
    r"|observe|had"
    r"|have|must|need|want|were|was|let|take|use|assume|am|compare|follow|apply|think|count|pay"
    r"|read)\b"
    r"|\b(?:as|even|see|check|determine|know|asks?|asked|asking|tell|decide|verify|out|only"
    r"|matter) if\b"
)
_SO = pattern(r"\b(?:so|therefore|thus|hence)\b[,\s]{1,3}(?:\w+\s){0,2}$")
_OTHERS = pattern(
    r"\b(?:(?:many|some|most|several|others?|few)\s(?:\w+\s){0,2}?(?:would|might|may|could|will"
    r"|think|say"
    r"|believe|argue|choose|pick|assume)|(?:one|you|people|someone|viewers?|students?)\s(?:might"
    r"|may|could)"
    r"|(?:is|be|seems?|looks?)\s(?:tempting|easy)\sto|common\s(?:mistake"
    r"|misconception|error)|distractor|(?:hard|difficult)\sto\s(?:say|tell|believe|argue)"
    r"|(?:they|he|she|people|others|classmates|friends|experts|critics|viewers|students)\s(?:say"
    r"|claim|think|believe)s?"
    r"|let's\s(?:say|assume|suppose)|previous(?:ly)?|i\sthought)\b"
    r"|\bconsider(?:ed|ing)?\s(?:option\s|choice\s)?[\"'(]?$"
)
FIRST_LOOK = pattern(
    r"\bat\sfirst(?:\s(?:glance|sight|look))?\b|\bon\sfirst\s(?:glance|sight)\b|\b(?:i"
    r"|we)\s(?:initially|first"
    r"|originally)\s(?:thought|guess\w*|said|assumed|believed|chose|picked|considered)\b"
    r"|\b(?:initially|originally|first|at\sfirst),?\s(?:i|we)\b|\bmy\s(?:first|initial)\s(?:guess|thought"
    r"|impression|instinct)\b"
)
_DENIED_BEHIND = pattern(
    r"\s?(?:で|と)(?:は|も)?\s?(?:ありません|ない|なく|言え|限ら)|とは(?:言|思|限)|(?:이|가|은"
    r"|는)?\s?(?:아니|아닙|아닌)"
    r"|\s?(?:を|は)\s?選(?:び|択し)ません|\s?(?:을|를)?\s?(?:선택하지|고르지)|\s?(?:उत्तर|विकल्प"
    r"|जवाब|को)?\s?नहीं|,?\s(?:but|though|although|yet)\s(?:it\s|actually\s"
    r"|really\s){0,2}"
    r"(?:is\s?n't|is\snot|not|was\s?n't|is\swrong)|[^.!\n]{0,30}\?\s{0,2}(?:no|non|nein)\b"
    r"|,?\sif\s(?!we|you)"
)
_LETTER = r"[(\[\"']{0,2}([A-Z])[)\]\"']{0,2}"
_ALONE = rf"(?!{IN_WORD}|')"
_HEDGE = (
    r"(?:or|alternatively|possibly|maybe|perhaps|otherwise|else|could(?! it)|might(?! it)|also"
    r"|oder|ou"
    r"|oppure|или|或者?)"
)
_RIVAL = pattern(
    rf"\W{{0,4}}(?:(?i:‹option›)\s)?{_LETTER}{_ALONE}(?:\s?\([^()\n]{{0,40}}\))?"
    rf"(?:[\s,.;:!?/(-]{{1,4}}(?i:{_HEDGE})\b"
    rf"(?:[\s,]{{1,3}}(?!not\b)[a-z']{{1,16}}){{0,4}}[\s,]{{1,3}}{_LETTER}{_ALONE}"
    rf"|\s?\?\s{{0,2}}{_LETTER}{_ALONE}"
    rf"|[\s,.;–—-]{{1,5}}(?i:but|although|though|however,?|yet)\s(?:option\s)?{_LETTER}\s"
    r"(?:is|could|may|might|seems|would|looks)\s(?!not|wrong|incorrect|n't|unlikely)"
    # "although A might also be considered" concedes no more than that.
    r"(?!(?:also\s|perhaps\s|well\s)?(?:be\s(?:considered|argued|tempting|mistaken|confused)"
    r"|seem|look|appear|sound)\b))"
)
_CONDITIONAL = pattern(r"\W{0,4}[A-Z]\)?\s?\(?(?:if|when|for the first|assuming)\b")


def is_asserted(low: str, start: int, *, copula: bool = False) -> bool:
    """Whether what stands here in a lowered text is stated by the reply, and is so.

    ``copula``: a denial before it belongs to its subject, "what is not shown is option B".
    """
    head = _head(low, start)
    if not head:
        return True
    if FIRST_LOOK.search(head):
        return False
    condition = _CONDITION.search(_NO_CONDITION.sub(" ", head))
    if condition and not _SO.search(head):
        return False
    clause = head[max([0, *(found.end() for found in _CLAUSE.finditer(head))]) :]
    if _OTHERS.search(clause) or _NEGATED_SIGN.search(clause):
        return False
    near = " ".join(_AFFIRMS.sub(" ", clause).split()[-_NEAR:])
    return copula or not _NEGATION.search(near)


def _head(low: str, start: int) -> str:
    """The sentence up to a place, without what a contrast takes back."""
    head = low[max(0, start - _SEEN) : start]
    head = head[max([0, *(found.end() for found in _END.finditer(head))]) :]
    return head[max([0, *(found.end() for found in _CONTRAST.finditer(head))]) :]


def has_rival(text: str) -> bool:
    """Whether another letter stands behind the first as an alternative: ``A. Or maybe C.``."""
    rival = _RIVAL.match(text)
    if rival:
        letters = {letter for letter in rival.groups() if letter}
        return len(letters) > 1
    return bool(_CONDITIONAL.match(text))


def denied_behind(low: str, end: int) -> bool:
    """Whether what ends here is denied by what follows: ``Aは正解ではありません``."""
    return bool(_DENIED_BEHIND.match(low, end))


_CALLED_WRONG = pattern(
    r"\b(?:is|are|was|were|seems?) (?:both |all |clearly |simply |also )?(?:wrong|incorrect|false"
    r"|unlikely|ruled out|eliminated|impossible|implausible|excluded|out\b|not shown|not visible"
    r"|not seen|not possible|not supported|not consistent|not plausible|inconsistent)"
    r"|\bcan(?:not be| be (?:ruled out|excluded|dismissed|eliminated|discarded))\b"
    r"|\b(?:do|does|did)(?:n't| not) (?:apply|match|fit|hold|appear|work|correspond|describe)\b"
    r"|\b(?:is|are) not (?:correct|right|the)\b|\b(?:ist|sind) (?:falsch|nicht richtig)\b"
    r"|\best (?:faux|fausse|incorrecte)\b|\b(?:es incorrecta|é incorreta|è errata)\b"
    r"|неверн|неправильн|错误|不正确|不符合|間違|틀렸|गलत है|خطأ"
)
_REJECTS = pattern(r"[\s-]{0,3}(?:is |are )?(?:not|wrong|incorrect|false|no,|eliminated)\b")
_LACKS = pattern(r"\s?no\b|[^.!?\n]{0,40}?\b(?:(?:has|have|had|shows?|with|is|are) no\b|lacks?\b)")
_SUPPOSES = pattern(
    r"\s{0,2}(?:would|should|usually|typically|normally|generally|requires?|needs?)\b"
    r"(?!\sbe\s(?:the|my|best|correct|right|a good))"
)
_ASIDE = pattern(
    r"\b(?:since|because|(?<!well )as(?! well\b)|while|whereas|although|though|even if)\b"
    r"[^.!?\n,;)]{0,40}$"
)
_UNLIKE = pattern(
    r"\b(?:unlike|not|neither|nor|than|instead of)\b[^.!?\n,;)]{0,40}$"
    r"|\b(?:others?|remaining|rest|excluding|except|without)\b[^.!?\n]{0,40}$"
    r"|其他|其余|其它|ander\w{0,2}\b[^.!?\n]{0,40}$|autres\b[^.!?\n]{0,40}$|otr[oa]s\b[^.!?\n]{0,40}$"
)
_OF_OTHERS = pattern(r"\b(?:others?|remaining|rest)\b")
_AROUND = 80  # characters before a label


def is_rejected(text: str, own: int) -> bool:
    """Whether a label is called wrong, or what it would be is told.

    The first ``own`` characters of the text behind it are those of its option.
    """
    low = lowered(text)
    if _SUPPOSES.match(low, own):
        return True
    sentence = before_others(re.split(r"[.!?\n]", low[own:], maxsplit=1)[0])
    return bool(_CALLED_WRONG.search(sentence) or (not own and _REJECTS.match(low)))


def is_aside(before: str, several: bool) -> bool:
    """Whether a label behind a text is no more of a list: ``..., since A. ...``.

    Where several options may be right, each may come with its reason: ``A. a cat as seen, C. ...``.
    """
    low = lowered(before[-_AROUND:])
    return bool(_UNLIKE.search(low) or (not several and _ASIDE.search(low)))


def is_unfit(text: str) -> bool:
    """Whether what stands behind a further label says what it lacks: ``(C) has no field``."""
    return bool(_LACKS.match(lowered(text)))


def before_others(low: str) -> str:
    """Return what a lowered text says before it turns to the other options."""
    return _OF_OTHERS.split(low, maxsplit=1)[0]


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


_GLOSS = pattern(r"(?<![A-Za-z0-9])([A-Z])\s?\(([^()\n]{1,200})\)")
_SENTENCE = pattern(r"[.;!](?=\s|$)")


def first_list(text: str, is_of: Callable[[str, str], bool]) -> str:
    """Return the first sentence without brackets that hold the text of the letter before them."""

    def letter_alone(found: re.Match[str]) -> str:
        return found[1] if is_of(found[1], found[2]) else found[0]

    return _SENTENCE.split(_GLOSS.sub(letter_alone, text), maxsplit=1)[0]
