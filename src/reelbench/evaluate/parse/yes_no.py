"""Yes and no in whatever words follow them, where the options are yes and no."""

import re

from reelbench.evaluate.parse.letters import Reader
from reelbench.evaluate.parse.question import Places, UnclearError
from reelbench.evaluate.parse.text import ReplyText
from reelbench.evaluate.parse.vocabulary import lowered, pattern, words

_WORD = r"[\s\"'(*-]{0,6}(?P<word>‹affirmative negative›)"
# What may follow: "No, it ..." and "No it ...", but "No video ..." has no answer in it.
_TAIL = (
    r"(?=\s{0,3}(?:$|[,.;:!)\"'\n。、،।–—]|-\s)"
    r"|\s(?:it|there|he|she|they|the|this|that|i|we|you|because|since|as|based|according)\b)"
)
_OPENING = pattern(_WORD + _TAIL)
_NOT_ONE = pattern(r"\s{0,3}[,/-]?\s?(?:‹joint either›|/)\s?‹affirmative negative›")
_NO_ANSWER = pattern(
    r"[\s,.;:!-]{0,4}(?:‹refusal›)[^.\n]{0,60}"
    r"(?:tell|determine|answer|say|know|help|assist|sure|certain|confirm|provided|given|shown"
    r"|attached"
    r"|available)\b"
)
_CANNOT_TELL = pattern(
    r"[^.!?\n]{0,80}(?:can't|cannot|can not|couldn't|unable to|impossible to|not possible to"
    r"|n't enough|not enough"
    r"|insufficient|no way to)\b[^.!?\n]{0,60}\b(?:tell|determine|answer|say|know|sure|certain"
    r"|confirm|information"
    r"|conclude|verify)\b"
)
_OFFER = pattern(
    r"[\s,.!]{0,4}(?:of course,?\s|sure,?\s)?i (?:can|could|will|would|am able to"
    r"|do)\s(?:\w+\s)?(?:help|assist|do that|understand|answer"
    r"|(?:see|view|watch|analy[sz]e) (?:the|your|this|these) (?:video|image|frame|clip"
    r"|picture)s?)\b[^.!?\n]{0,80}[.!?]?\s{0,3}"
    r"(?:$|please|what|could you|can you|let me|how|which|do you|just|if you)"
)
_CONTRARY = pattern(rf"\s?[.!,]\s{{0,3}}(?:but\s|actually,?\s){{0,3}}{_WORD}\s?(?:[.!]|$)")
_BASED = pattern(
    rf"(?:based on|in|from|according to|judging (?:by|from)|looking at"
    rf"|given)\s[^.,\n]{{1,60}},{_WORD}{_TAIL}"
)
_LAST = pattern(rf"(?:[^,\n]{{1,80}},\s?)?(?:‹but›\s)?{_WORD}[.!。]{{0,2}}\s*")
_AFTER_SO = pattern(rf"[\s,:]{{0,4}}{_WORD}{_TAIL}")

_NO_ANSWERS = (_NOT_ONE, _NO_ANSWER, _CANNOT_TELL, _OFFER)


def yes_or_no(reply: ReplyText, reader: Reader) -> Places:
    """``Yes, it does.``; ``... Therefore, no.``."""
    places = reader.question.yes_and_no
    if not places or reply.refuses_throughout:
        return ()
    claimed = {_place(match, reply, places) for match in _claims(reply)} - {None}
    if len(claimed) > 1:
        raise UnclearError("several answers")
    return tuple(place for place in claimed if place is not None)


def _claims(reply: ReplyText) -> list[re.Match[str]]:
    found = [_OPENING.match(reply.low) or _BASED.match(reply.low)]
    if not any(found) and len(reply.sentences) > 1:
        found.append(_LAST.fullmatch(lowered(reply.sentences[-1][1])))
    for _, end in reply.places_of((*words("so"), "answer is", "answer would be")):
        found.append(_AFTER_SO.match(reply.low, end))
    return [match for match in found if match]


def _place(match: re.Match[str], reply: ReplyText, places: tuple[int, int]) -> int | None:
    end = match.end()
    if any(each.match(reply.low, end) for each in _NO_ANSWERS):
        return None
    contrary = _CONTRARY.match(reply.low, end)
    if contrary and (contrary["word"] in words("affirmative")) != (
        match["word"] in words("affirmative")
    ):
        raise UnclearError("several answers")
    return places[0] if match["word"] in words("affirmative") else places[1]
