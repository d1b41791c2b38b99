"""Letters in sentences that do not name the answer: ``The diagnosis is (C).``, ``It's B.``."""

from collections.abc import Iterator

from reelbench.evaluate.parse.agreement import LocatedReading, agreed
from reelbench.evaluate.parse.asserted import has_rival, is_asserted
from reelbench.evaluate.parse.letters import NOTHING, SEVERAL, Reader
from reelbench.evaluate.parse.lines import begins_analysis
from reelbench.evaluate.parse.question import Places
from reelbench.evaluate.parse.statements import DENIED, LOOKBACK
from reelbench.evaluate.parse.text import ReplyText
from reelbench.evaluate.parse.vocabulary import pattern

_STOP = pattern(r"[.!?;\n]")
_IS_BRACKETED = pattern(r"(?<!\w)(?:is|be|it's|ist|est|es|é|è)\s?:?\s?\(([A-Z])\)")
_BRACKETS = pattern(r"\([A-Z]\)")
_VERBS = "matches|fits|describes|captures|suits|represents|reflects|aligns"
_NAMED = r"(?i:‹option›)\s[(\"']?([A-Z]|\d)[)\"']?\s"
_FITS = pattern(
    rf"{_NAMED}(?:(?:{_VERBS})\b[^.\n]{{0,50}}|(?:is|seems)\s(?:a\s|the\s)?)?$"
    rf"|(?:^|[,;.]\s)([A-Z])\s(?:{_VERBS})\s$"
)
# "B best matches": the verb stands behind.
_BARE = pattern(r"(?:^|[,;.:]\s|\b(?:so|that|but|and|think)\s)[(\"']?([A-Z])[)\"']?\s$")
_FITS_BEHIND = pattern(rf"\s(?:{_VERBS})\b")
_FITTING = (
    "better", "best", "more accurately", "most accurately", "accurately", "more closely",
    "more accurate", "more suitable",
)  # fmt: skip
_REASONED = pattern(
    r"\W{0,4}([A-Z])\W{0,4}"
    r"(?:because|since|weil|parce que|porque|perché|потому что|因为|क्योंकि|لأن)(?!\w)"
)
# "A while ago" is no answer: there is a comma.
_REASONED_ASIDE = pattern(
    r"\W{0,4}([A-Z])\W{0,3},\s(?:while|whereas|as|although|though|unlike)(?!\w)"
    r"(?![^.\n]{0,80},\s(?:is|isn't|was|are|does|doesn't|did|fails?|lacks?|has|would|can|cannot"
    r"|can't|happens?|occurs?)\b)"
)
_ITS = pattern(r"(?<!\w)(?:[Ii]t's|[Ii]t is|must be)\s\(?([A-Z])\)?,?\s(?:because|since)\b")
_LISTED = 200  # characters in which another letter in brackets makes a list
_BRIEF = 60
_WORDY = 12


def stated(reply: ReplyText, reader: Reader) -> Places:
    """``The diagnosis is (C).``, ``Caption B matches better.``, ``It's B.``."""
    found = [*_bracketed(reply, reader), *_fitting(reply, reader), *_brief(reply, reader)]
    return agreed(found, reply.bare, reader.question.kind)


def _bracketed(reply: ReplyText, reader: Reader) -> Iterator[LocatedReading]:
    """``The most likely diagnosis is (C) ...``."""
    for match in _IS_BRACKETED.finditer(reply.bare):
        listed = _BRACKETS.search(reply.bare, match.end(), match.end() + _LISTED)
        place = reader.question.place(match[1])
        own = place is not None and reader.owns(place, reply.bare[match.end() : match.end() + 400])
        if listed and own:  # "is (C) the text. ... whereas (B) ...": the other is not in a list
            listed = None if _STOP.search(reply.bare, match.end(), listed.start()) else listed
        if (
            not listed
            and match[1] not in reader.question.names
            and not DENIED.match(reply.low, match.end())
            and is_asserted(reply.low, match.start())
        ):
            yield LocatedReading(match.start(1), match.end(1), reader.letters(match[1]))


def _fitting(reply: ReplyText, reader: Reader) -> Iterator[LocatedReading]:
    """``Caption B matches the video better.``."""
    for start, end in reply.places_of(_FITTING):
        before = reply.bare[max(0, start - LOOKBACK) : start]
        match = _FITS.search(before)
        if not match and _FITS_BEHIND.match(reply.low, end):
            match = _BARE.search(before)
        if match and is_asserted(reply.low, start - len(before) + match.start()):
            letter = match[match.lastindex or 1]
            if letter == "I" or letter in reader.question.names:
                continue
            yield LocatedReading(start, end, reader.read_answer(f"Option {letter}"))


def _brief(reply: ReplyText, reader: Reader) -> Iterator[LocatedReading]:
    """``So it's B.``: a sentence of a letter and words that say no more."""
    if match := _REASONED.match(reply.bare):
        yield LocatedReading(0, match.end(), reader.letters(match[1]))
    if match := _REASONED_ASIDE.match(reply.bare):
        rival = has_rival(reply.bare)
        yield LocatedReading(0, match.end(), SEVERAL if rival else reader.letters(match[1]))
    for match in _ITS.finditer(reply.bare):
        if is_asserted(reply.low, match.start()):
            yield LocatedReading(match.start(), match.end(), reader.letters(match[1]))
    before = 0
    for start, sentence in reply.sentences:
        last = start + len(sentence) >= len(reply.bare) and before > _WORDY
        before = len(sentence)
        if begins_analysis(reply, start) or "|" in sentence:
            continue
        if len(sentence) <= _BRIEF and (last or " " in sentence.strip()):
            reading = reader.letters(sentence)
            if reading != NOTHING and len(reading.places) == 1:
                yield LocatedReading(start, start + len(sentence), reading)
