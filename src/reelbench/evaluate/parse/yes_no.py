"""Yes and no in whatever words follow them, where the options are yes and no."""

import re

from reelbench.evaluate.parse.letters import Reader
from reelbench.evaluate.parse.lookup import alternation, words
from reelbench.evaluate.parse.question import Places, UnclearError
from reelbench.evaluate.parse.text import ReplyText

_WORD = rf"[\s\"'(*-]{{0,6}}(?P<word>{alternation('yes', 'no')})"
# What may follow: "No, it ..." and "No it ...", but "No video ..." has no answer in it.
_TAIL = (
    r"(?=\s{0,3}(?:$|[,.;:!)\"'\n。、،।–—]|-\s)"
    r"|\s(?:it|there|he|she|they|the|this|that|i|we|you|because|since|as|based|according)\b)"
)
_OPENING = re.compile(_WORD + _TAIL)
_NOT_ONE = re.compile(
    rf"\s{{0,3}}[,/-]?\s?(?:{alternation('joint', 'either')}|/)\s?{alternation('yes', 'no')}"
)
_NO_ANSWER = re.compile(
    rf"[\s,.;:!-]{{0,4}}(?:{alternation('refusal')})[^.\n]{{0,60}}"
    r"(?:tell|determine|answer|say|know|help|assist|sure|certain|confirm|provided|given|shown|attached"
    r"|available)\b"
)
_AFTER_SO = re.compile(rf"[\s,:]{{0,4}}{_WORD}{_TAIL}")


def yes_or_no(reply: ReplyText, reader: Reader) -> Places:
    """``Yes, it does.``; ``... Therefore, no.``."""
    places = reader.question.yes_and_no
    if not places or reply.refuses:
        return ()
    said = {_place(match, reply, places) for match in _claims(reply)} - {None}
    if len(said) > 1:
        raise UnclearError("several answers")
    return tuple(place for place in said if place is not None)


def _claims(reply: ReplyText) -> list[re.Match[str]]:
    found = [_OPENING.match(reply.low)]
    for _, end in reply.places_of((*words("so"), "answer is", "answer would be")):
        found.append(_AFTER_SO.match(reply.low, end))
    return [match for match in found if match]


def _place(match: re.Match[str], reply: ReplyText, places: tuple[int, int]) -> int | None:
    if _NOT_ONE.match(reply.low, match.end()) or _NO_ANSWER.match(reply.low, match.end()):
        return None
    return places[0] if match["word"] in words("yes") else places[1]
