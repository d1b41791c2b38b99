"""Whether what stands around a label says that it is not the answer.

``A. is impossible`` calls it wrong. ``..., since A. ...`` and ``(Not D. ...)`` name it as a reason,
or as what is not chosen: the label belongs to no list with the one before it.
"""

import re

from reelbench.evaluate.parse.vocabulary import lowered, pattern

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
_SEEN = 80  # characters before a label


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
    low = lowered(before[-_SEEN:])
    return bool(_UNLIKE.search(low) or (not several and _ASIDE.search(low)))


def is_unfit(text: str) -> bool:
    """Whether what stands behind a further label says what it lacks: ``(C) has no field``."""
    return bool(_LACKS.match(lowered(text)))


def before_others(low: str) -> str:
    """Return what a lowered text says before it turns to the other options."""
    return _OF_OTHERS.split(low, maxsplit=1)[0]
