"""Whether a reply only supposes an option, or doubts it, where it names it in its own words.

``A cooking show would include food`` says what would be seen, ``This could make one think it's
indoors`` what others would think, ``He might be singing, but I can't tell`` what nobody can say,
and ``Earlier there's a logo; at the end a person`` what is over. All texts are those of ``tokens``.
"""

from reelbench.evaluate.parse.vocabulary import pattern

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
