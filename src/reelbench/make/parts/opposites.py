"""Whether a yes/no question is the opposite of another, and no mere negation of it.

"Is the clarity not high?" flips the answer, but it is no opposite: models stumble over the negation
and not over the video, and where turned questions alone have one it gives their key away. "Is the
clarity low?" is one. These are rules of thumb about English words; in other languages they find a
question to which words are only added, and no more.
"""

import re
from collections import Counter

from reelbench.base.text import plain, word_set, words
from reelbench.make.parts.negations import negations
from reelbench.make.parts.wording import content_words

# "Is it wrong to say that": a frame around the same question. To turn one that is there is fine.
_FRAME = re.compile(
    r"\b(?:(?:un|in|im)?(?:true|correct|accurate|possible|likely)|right|wrong|false|mistaken)"
    r"(?: \w+)? (?:that|to|if|whether)\b"
)
# "Is there noise", "is it free of noise" are opposites; of both videos or of some they are not.
_PRESENCE = re.compile(r"(?:is|are) there (?:any |an? )?(.+)")
_ABSENCE = re.compile(r"\b(?:free (?:of|from)|without)\b(?: any\b| an?\b)?")
_OF_SEVERAL = word_set(
    "a all always an any both each either entire every few least many most one only several some "
    "sometimes three throughout two whole"
)
_SMALL = word_set("are at clip in is it of on the this video")
# A question about another moment is another question, unless it compares the two.
_MOMENT = re.compile(
    r"\b(?:start|beginning|opening|middle|end|ending"
    r"|(?:first|second|third|fourth|last)(?= (?:half|third|quarter|part|minute|seconds?)\b))\b"
)
_COMPARES = re.compile(r"\b(?:than|more|less|better|worse)\b")
_TELLING = 3  # words of a question, of which its opposite has one at least


def opposite_fault(question: str, opposite: str) -> str:
    """Return why a question is not the opposite of another, as a writer is told; "" where it is."""
    before, after = _read(question), _read(opposite)
    if before == after:
        return "the question has not been changed"
    if _asks_for_absence(before, after):
        return ""
    there, added = negations(before), negations(after)
    if len(added) > len(there):
        return _negation_fault(next((each for each in added if each not in there), added[0]))
    frames = [found[0] for found in _FRAME.finditer(after)]
    if len(frames) > len(_FRAME.findall(before)):
        return _negation_fault(frames[0])
    own, its = content_words(before), content_words(after)
    if (own and own < its) or Counter(words(before)) < Counter(words(after)):
        return _negation_fault(" ".join(word for word in words(after) if word not in words(before)))
    if len(own) >= _TELLING and not own & its:
        return "it does not ask about the same: keep names, things and moments as they are"
    if _asks_of_another_moment(before, after):
        return (
            "it asks about another moment: keep the moment as it is, and turn what is asked about "
            "it into its opposite"
        )
    return ""


def _asks_for_absence(before: str, after: str) -> bool:
    """Whether one asks if something is there, and the other if the same is free of it."""
    asked, parts = _PRESENCE.match(before), _ABSENCE.split(after)
    if not asked or len(parts) != 2 or _OF_SEVERAL & {*words(asked[1])}:
        return False
    there, absent, rest = map(_telling_words, (asked[1], parts[1], " ".join(parts)))
    # What is asked for comes next in both: "noise in the sky", "noise".
    same = Counter(there) == Counter(rest) and there[:1] == absent[:1]
    return same and not negations(f"{asked[1]} {' '.join(parts)}")


def _asks_of_another_moment(before: str, after: str) -> bool:
    moments = _MOMENT.findall(before), _MOMENT.findall(after)
    one, other = (Counter(_telling_words(_MOMENT.sub("", text))) for text in (before, after))
    return moments[0] != moments[1] and one == other and not _COMPARES.search(before)


def _telling_words(text: str) -> list[str]:
    return [word for word in words(text) if word not in _SMALL]


def _read(question: str) -> str:
    return plain(question).replace("’", "'")


def _negation_fault(added: str) -> str:
    return (
        f'it only adds "{added}" to the question: turn a word into its opposite instead, such as '
        "high into low or steady into shaky"
    )
