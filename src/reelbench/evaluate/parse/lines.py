"""Answers by how they stand: the whole reply, a line, a label, a sentence that is little else."""

from collections.abc import Iterator

from reelbench.evaluate.parse.assertion import before_others, has_rival, is_asserted
from reelbench.evaluate.parse.question import (
    NOTHING,
    SEVERAL,
    LocatedReading,
    Places,
    Reading,
    UnclearError,
    agreed,
)
from reelbench.evaluate.parse.reader import Reader
from reelbench.evaluate.parse.segments import ReplyText
from reelbench.evaluate.parse.statements import DENIED, LOOKBACK
from reelbench.evaluate.parse.vocabulary import lowered, occurrences, pattern, words

_LABEL = pattern(
    r"[\s\"'•▪►➤→+–—-]{0,8}(?:(?i:‹option›)\s?)?"
    r"[(\[]?([A-Za-z])\s?(?:\.(?![A-Za-z]\.|\s?[A-Z]\.\s?[A-Z])|:(?![\\/])|[)\]])"
)
_INLINE = pattern(
    r"(?<![A-Za-z0-9])[(\[]?([A-Z])\s?(?:\.(?![A-Za-z]\.|\s?[A-Z]\.\s?[A-Z])|:(?![\\/])"
    r"|[)\]])\s{0,3}"
)
_REJECTED = pattern(r"(?:‹negation›|n't)\s(?:[\w']{1,10}\s){0,2}[\"'(]{0,2}$")
_NUMBER = pattern(r"\s*\d{1,2}[.)]\s+(?=[(\[]?[A-Z]\s?[.):\]])")
# What opens a look at every option: the label behind it is where that begins, not an answer.
_ANALYSIS = pattern(
    r"\b(?:each|every|all|the|these)\s(?:of\s)?(?:the\s)?(?:given\s|answer\s"
    r"|possible\s)?(?:options?|choices?|answers?"
    r"|captions?|statements?)(?:\s(?:one by one|carefully|individually|again|below"
    r"|in turn))?\s?[.:]?\s*$|step by step\s?[.:]?\s*$"
)
_OPENS_ANALYSIS = pattern(
    r"\b(?:analy[sz]\w*|consider\w*|go(?:ing)? through|examin\w+|evaluat\w+|look\w* at"
    r"|break\w* down|review\w*|check\w*"
    r"|assess\w*|compare|discuss)\b"
)
_NOT_SHOWN = pattern(
    r"(?:does|do|did)(?:n't| not) (?:show|look|match|appear|fit|contain|depict|mention|correspond"
    r"|support|have|describe)"
)
_PAIR = 2
_WORD = pattern(r"[^\W\d_]{4}")
_LABELLED = pattern(r"\W{0,4}[A-Z]\s?[.):]")
_SHORT = 3  # characters; a shorter text may stand behind a letter by chance
_BRACKETED = pattern(r"\(([A-Z])\)")
_SO = pattern(
    r"[\s,:]{1,3}(?:it's |it is |option |answer |must be ){0,2}\(?([A-Z])\)?\s?(?:[.!\n]|$)"
)
_UNFIT = pattern(r"\s?(?:is|are|does|do|did|can|could|would)\s?(?:not|n't|incorrect|wrong)|cannot")
_ARROW = pattern(  # that is no link of a chain: "D -> A -> B"
    r"(?<![A-Z])(?<![A-Z][\s)])(?<![A-Z]\)\s)(?:→|=>|⇒|-{1,2}>)"
    r"[ \t]{0,4}\(?([A-Z])\)?[ \t.]{0,4}(?:$|\n)"
)


def whole(reply: ReplyText, reader: Reader) -> Places:
    """The reply is letters, the text of an option, or both: and nothing else."""
    reading = reader.only(reply.bare)
    if reading.failure:
        raise UnclearError(reading.failure)
    return reading.places


def lettered_lines(reply: ReplyText, reader: Reader) -> Places:
    """Several lines such as ``B. the text of option B``; not the whole list again."""
    if reader.question.kind != "multi":
        return ()
    lines = [line for _, line in reply.lines]
    lines = lines[1:] if len(lines) > 2 and lines[0].rstrip().endswith(":") else lines
    if len(lines) > len(reader.question.options):
        return ()
    readings = [reader.label(_NUMBER.sub("", line)) for line in lines]
    if not all(reading.places for reading in readings):
        return ()
    found = tuple(sorted({place for reading in readings for place in reading.places}))
    return found if len(found) < len(reader.question.options) else ()


def line_of_its_own(reply: ReplyText, reader: Reader) -> Places:
    """``B`` alone on a line, before, after or amid an explanation."""
    found = [LocatedReading(at, at + len(line), reader.letters(line)) for at, line in reply.lines]
    found = [each for each in found if each.reading.places]  # an x alone on a line may be anything
    if len(found) == 1 and begins_analysis(reply, found[0].start):
        return ()
    return agreed(found, reply.bare, reader.question.kind)


def line_of_text(reply: ReplyText, reader: Reader) -> Places:
    """An option's text alone on the first or the last line, and no other option's on any."""
    found = [
        LocatedReading(at, at + len(line), Reading(places))
        for at, line in reply.lines
        if (places := reader.question.places_of_text(line))
    ]
    at_an_end = found and (
        found[0].start == reply.lines[0][0] or found[-1].start == reply.lines[-1][0]
    )
    return agreed(found, reply.bare, reader.question.kind) if at_an_end else ()


def labelled_line(reply: ReplyText, reader: Reader) -> Places:
    """``B. its text`` alone on the first line or between blank ones, where no other line is so."""
    if reader.question.kind == "multi" or len(reply.lines) < _PAIR:
        return ()
    found = [(at, line) for at, line in reply.lines if _LABELLED.match(line)]
    found = [(at, line) for at, line in found if len(reader.only(line).places) == 1]
    if len(found) != 1 or begins_analysis(reply, found[0][0]):
        return ()
    at, line = found[0]
    apart = at == reply.lines[0][0] or reply.bare[at + len(line) :].startswith("\n\n")
    return reader.only(line).places if apart else ()


def label(reply: ReplyText, reader: Reader) -> Places:
    """``B. because it is blue``, first or last, and no other: several labels are a list."""
    lines = [line for _, line in reply.lines]
    labels = [line for line in lines if _names_option(line, reader)]
    if len(labels) != 1 or labels[0] not in (lines[0], lines[-1]):
        return ()
    at = next(start for start, line in reply.lines if line == labels[0])
    if _is_part(labels[0], reader):
        return ()
    if begins_analysis(reply, at) or _is_unfit(labels[0], reader):
        return ()
    return _clear(reader.label(labels[0]))


def _names_option(line: str, reader: Reader) -> bool:
    found = _LABEL.match(line)
    return found is not None and reader.question.place(found[1]) is not None


def _is_part(line: str, reader: Reader) -> bool:
    """Whether a label in brackets or in lower case is a part of an argument: "(a) First we ..." """
    found = _LABEL.match(line)
    place = reader.question.place(found[1]) if found else None
    if found is None or place is None or (found[1].isupper() and ")" not in found[0]):
        return False
    own = set(lowered(reader.question.options[place]).split())
    rest = set(lowered(line[found.end() : found.end() + 400]).strip(" .").split())
    words_of = any(_WORD.search(word) for word in rest)
    return words_of and len(own & rest) * 2 < len(own)


def begins_analysis(reply: ReplyText, at: int) -> bool:
    """Whether the line before this place opens a look at every option."""
    before = reply.low[max(0, at - 200) : at].rstrip().rpartition("\n")[2]
    return bool(_ANALYSIS.search(before) and _OPENS_ANALYSIS.search(before))


def unfinished_analysis(reply: ReplyText, reader: Reader) -> bool:
    """Whether the reply opens a look at every option and gets no further than one label."""
    labels = [at for at, line in reply.lines if _names_option(line, reader)]
    return len(labels) == 1 and begins_analysis(reply, labels[0])


def _is_unfit(line: str, reader: Reader) -> bool:
    """Whether a label's line says that the video does not show it, and names no other option."""
    low = before_others(lowered(line))
    reason = any(word in low for word in ("because", "since", " as "))
    others = sum(text in low for text in reader.question.texts)
    return not reason and others <= 1 and bool(_NOT_SHOWN.search(low))


def label_within(reply: ReplyText, reader: Reader) -> Places:
    """``The speed is C. time-lapse.``: one label amid a text, with its option's own words."""
    chosen: set[int] = set()
    window = reader.question.longest + 40
    labels = [
        found
        for found in _INLINE.finditer(reply.bare)
        if reader.question.place(found[1]) is not None
    ]
    # Three labels are a list that the reply goes through: then the last line counts alone.
    if len({found[1] for found in labels}) > _PAIR:
        if len(reply.lines) > 1 and all(
            _names_option(line, reader) for _, line in reply.lines[-2:]
        ):
            return ()
        labels = [found for found in labels if found.start() >= reply.lines[-1][0]]
    for found in labels:
        place = reader.question.place(found[1])
        if (
            place is None
            or place in chosen
            or not reader.owns(place, reply.bare[found.end() : found.end() + window])
        ):
            continue
        if len(reader.question.texts[place]) < _SHORT and found.start() < reply.lines[-1][0]:
            continue
        text = reply.bare[found.end() : found.end() + window + 120]
        denied = _REJECTED.search(reply.low[max(0, found.start() - 40) : found.start()])
        if (
            not denied
            and not begins_analysis(reply, found.start())
            and not reader.rejected(place, text)
            and not _is_unfit(text.partition("\n")[0], reader)
            and is_asserted(reply.low, found.start())
        ):
            chosen.add(place)
    return tuple(chosen) if len(chosen) == 1 else ()


def concluded(reply: ReplyText, reader: Reader) -> Places:
    """``... so (B)``, ``=> B``."""
    found = [
        LocatedReading(m.start(), m.end(), reader.letters(m[1]))
        for m in _ARROW.finditer(reply.bare)
    ]
    for start, end in reply.places_of(words("so")):
        if match := _SO.match(reply.bare, end):
            found.append(LocatedReading(start, match.end(), reader.letters(match[1])))
    for start, sentence in reply.sentences:
        if "(" not in sentence:
            continue
        low = reply.low[start : start + len(sentence)]
        so = next(occurrences(low, words("so")), None)
        match = _BRACKETED.search(sentence, so[1]) if so else None
        if match and match[1] in reader.question.names:
            continue
        if match and not _UNFIT.match(low, match.end()):
            found.append(LocatedReading(start, start + len(sentence), reader.letters(match[1])))
    return agreed(found, reply.bare, reader.question.kind)


def _clear(reading: Reading) -> Places:
    if reading.failure:
        raise UnclearError(reading.failure)
    return reading.places if reading != NOTHING else ()


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
