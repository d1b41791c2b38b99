"""Whether what is said of an answer is the reply's own statement.

It is not where it is denied ("I don't think the answer is B"), supposed ("If he is the father, the
answer is B"), what others or a first look would say ("Many would say the answer is A"), or where
another letter stands right behind it as an alternative.
"""

from reelbench.evaluate.parse.vocabulary import IN_WORD, pattern

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
    r"\b(?:if|unless|suppose|supposing|assuming|provided that|in case|wenn|falls)\b"
    r"|(?<!\w)если(?!\w)|如果|もし|만약|अगर|यदि|إذا|(?<!\w)لو(?!\w)"
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
