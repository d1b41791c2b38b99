"""Answers that are stated: ``Answer: B``, ``The answer is B``, ``B is correct``."""

import re
from collections.abc import Iterator
from functools import cache

from reelbench.evaluate.parse.assertion import denied_behind, has_rival, is_asserted
from reelbench.evaluate.parse.question import (
    CALLED,
    ORDINALS,
    SEVERAL,
    WORDS,
    LocatedReading,
    Places,
    Reading,
    agreed,
)
from reelbench.evaluate.parse.reader import Reader
from reelbench.evaluate.parse.segments import ReplyText
from reelbench.evaluate.parse.vocabulary import ends_of, lowered, pattern, words

_THINGS = {"caption", "sentence", "statement", "description"}
_BEFORE_COLON = ("correct", "richtig", "correcta", "correta", "corretta", "верно", "правильно")
_PLURALS = {
    "options",
    "choices",
    "letters",
    "optionen",
    "opciones",
    "opções",
    "opzioni",
    "варианты",
}
_CHOSEN = pattern(
    r"(?:‹right›|final|chosen|selected|suitable|appropriate|likely|my|richtige\w?"
    r"|beste\w?"
    r"|korrekte\w?|bonne|meilleure|правильн\w{1,3}|верн\w{1,3}|सही|正确的?|最佳|正しい"
    r"|올바른)\s{0,2}(?:answer\s)?$"
)
_ADJECTIVE = r"(?:\s?(?:‹right›|final\w?|النهائية|\(s\)))?"
# "Answer (one letter): B", but not "Answer (B): it is blue".
_REMARK = r"(?:\s?[(\[](?![a-z][)\]])[^()\[\]\n]{1,40}[)\]])?"
_TO_COLON = pattern(rf"[\"']?{_REMARK}{_ADJECTIVE}[\"']?\s{{0,3}}(?:‹be›)?\s{{0,3}}[:=]\s*(?=\S)")
_TO_LETTER = pattern(rf"{_ADJECTIVE}[ \t]{{0,3}},?[ \t]?(?:‹be›)\s{{0,3}}")
_TO_DENIED = pattern(rf"{_ADJECTIVE}\s{{0,3}}(?:‹deny›)\s{{0,3}}")
_QUALIFIED = pattern(
    r",?\s(?:to|for|here|among|amongst|from|of|in|based|given|that|which|according|with|would|,)\b"
)
_IS = (
    " is ",
    " are ",
    " is: ",
    " would be ",
    " should be ",
    " ist ",
    " est ",
    " es ",
    " é ",
    " è ",
)
_STOP = pattern(r"[.!?;\n]")
_IN_BRACKETS = pattern(r"\s?\(([A-Z])\)")
_RIGHT_BEHIND = pattern(r"\s?[(]?([A-Z])[)]?(?![A-Za-z0-9])")
DENIED = pattern(
    r"[)\]\"'\s]{0,4}(?:(?:is|are|was)\s(?:not|incorrect|wrong|false|unlikely)\b|isn't)"
)
_LINE_LABEL = pattern(r"\s*[-*•]?\s{0,3}(?:option\s)?\(?([A-Z])(?:[.):]|\s\()", re.IGNORECASE)
_PROVISIONAL = pattern(r"\b(?:preliminary|provisional|tentative|interim|initial|first|working)\s$")
_FINAL = pattern(r"final\w{0,2}\s$")
_STRICT = pattern(
    r"(?:^|\n|[.!?。]\s)[-\s>\"'({]{0,6}"
    r"(?:(?:the|my|your|final|correct|best|so|thus|therefore|and)[\s,]{1,2}){0,4}$"
)
_QUOTED = pattern(r"(?<!\w)[\"']\s?(?:\w{1,12}\s){0,4}$")
_PLACEHOLDER = pattern(r"\W{0,3}[XYZ](?:\W{1,3}[XYZ])*\W{0,3}")

_ONE = r"[(\"']?[A-Z][)\"']?"
_JOINT = r"\s?(?:[,&、،]|,?\s?‹joint›)\s?"
_LIST = rf"(?<![A-Za-z0-9'])({_ONE}(?:{_JOINT}(?:(?i:‹option›)\s)?{_ONE}){{0,25}})"
_DETERMINER = (
    r"(?:(?:both|all|also|the|die|der|la|le|les|el|los|las|a|o|as|il|clearly|indeed|most|probably"
    r"|therefore)\s){0,3}"
)
_WITH_VERB = pattern(rf"{_LIST}\s(?:‹be›)\s{_DETERMINER}$")
_WITHOUT_VERB = pattern(
    rf"{_LIST}\s{{0,2}}(?:‹option›)?\s{{0,2}}(?:‹be›|विकल्प|—|-)?\s{{0,2}}(?:الإجابة|الجواب"
    rf"|الخيار)?\s{{0,2}}$"
)
_BEST = frozenset({
    "best", "closest", "the answer", "my answer", "my choice", "most likely", "more likely",
    "most plausible", "more plausible", "most probable", "more probable", "more accurate",
    "most convincing", "more convincing", "most reasonable", "most consistent", "most fitting",
    "better fit", "better match", "better choice", "better answer", "better option", "stronger",
    "strongest",
})  # fmt: skip
_RIGHT_TAIL = pattern(
    r"-\w|\s?(?:\?|only|if|next|beside|behind|above|below|of|in|on|at|before|after|side|hand|now"
    r"|about|here|there|away|handed|foot|arm|leg|hand|turn|नहीं|지\s?않)\b|नहीं|지"
)
_BEST_TAIL = pattern(
    r"\s{0,2}(?:$|[.,;:!)\n]|(?:option|answer|choice|match|fit|one|description|caption|sentence|as"
    r"|because|since|candidate|explanation|interpretation|conclusion|here|overall|to me|given"
    r"|based on|considering|among|in my|of (?:the|these|those|all|them))\b)"
)
# What may stand before a letter that is called right: "Hepatitis B is correct" is not about B.
_OPENS = pattern(
    r"(?:^|[.!?,;:\n\"'(*-]\s{0,3}"
    r"|(?i:‹option answer so joint either filler›"
    r"|\b(?:that|think|believe|only|both|is|because|since|but|while|que|che|что))\s)[(\"']?$"
)
_OPTION_AHEAD = pattern(r"‹option answer›\s[(\"']?$")
_ONE_OF = pattern(r"(?i:‹either›)\s(?:(?i:‹option›)\s)?[(\"']?$")
_SUPPOSED = pattern(
    r"\b(?:if|whether|unless|suppose|assuming|neither|nor|why|how)\s(?:that\s)?(?:the\s|an?\s)?"
    r"(?:correct\s|right\s|best\s|final\s)?(?:option\s|answer\s)?[(\"']?$"
)
_ASKS = pattern(r"[^.!\n]{0,80}\?")
_PAIR = 2
_COPULAS = frozenset({"is option", "is choice"})
LOOKBACK = 90  # characters


def answer_line(reply: ReplyText, reader: Reader) -> Places:
    """``Answer: B``; one that is called final outweighs the others, then one that opens a line."""
    found: list[LocatedReading] = []
    strict: list[LocatedReading] = []
    final: list[LocatedReading] = []
    for start, end in reply.places_of((*_nouns(), *_BEFORE_COLON)):
        match = _TO_COLON.match(reply.low, end)
        if match and _is_noun(reply, start, end, match) and is_asserted(reply.low, start):
            quoted = bool(_QUOTED.search(reply.bare, max(0, start - 40), start))
            quoted = quoted and reply.bare[end : end + 1] not in ("'", '"')
            lines = list(_readings_from(reply, reader, match, quoted))
            if reply.low[start:end] in _PLURALS and reader.question.kind != "multi":
                lines = [line for line in lines if len(line.reading.places) != 1]
            found += lines
            strict += lines if _STRICT.search(reply.low, max(0, start - 40), start) else []
            final += lines if _is_final(reply, start, match) else []
    kind = reader.question.kind
    return next(
        (text for each in (final, strict, found) if (text := agreed(each, reply.bare, kind))), ()
    )


@cache
def _nouns() -> tuple[str, ...]:
    return words("answer", "option")


def _is_noun(reply: ReplyText, start: int, end: int, match: re.Match[str]) -> bool:
    """Whether it is the answer that is named, not the options: "Options: A. ..."."""
    noun = reply.low[start:end]
    if _PROVISIONAL.search(reply.low, max(0, start - 24), start):
        return False
    if noun in _THINGS and not _CHOSEN.search(reply.low, max(0, start - 24), start):
        return False
    if noun in words("answer") or _CHOSEN.search(reply.low, max(0, start - 24), start):
        return True
    if noun in _PLURALS:
        return False
    alone = start == 0 or reply.low[start - 1] == "\n"
    return bool(match[0].strip(" \n:='\"")) or (alone and "\n" not in match[0])


def _is_final(reply: ReplyText, start: int, match: re.Match[str]) -> bool:
    return bool(_FINAL.search(reply.low, max(0, start - 12), start) or "final" in match[0])


def _readings_from(
    reply: ReplyText, reader: Reader, match: re.Match[str], quoted: bool
) -> Iterator[LocatedReading]:
    """What follows a colon: the line, and lines of labels below it where they are a list."""
    start = match.end()
    text = _line_from(reply.bare, start)
    if quoted:
        text = text[: next((i for i, sign in enumerate(text) if sign in "\"'"), len(text))]
        if _PLACEHOLDER.fullmatch(text):
            return
    first, second = _LINE_LABEL.match(text), _LINE_LABEL.match(reply.bare, start + len(text))
    if reader.question.kind != "multi" and first and second and first[1] != second[1]:
        return  # a list that the reply goes through
    reading = SEVERAL if has_rival(text) else reader.read_answer(text)
    yield LocatedReading(start, start + len(text), reading, quoted)
    if reader.question.kind != "multi" and "\n" not in match[0]:
        return
    place = start + len(text)
    while place < len(reply.bare) and (line := _line_from(reply.bare, place + 1).rstrip()):
        reading = reader.only(line)
        if not reading.places:
            return
        yield LocatedReading(place + 1, place + 1 + len(line), reading, quoted)
        place += 1 + len(line)


def _line_from(text: str, start: int, limit: int = 4000) -> str:
    end = text.find("\n", start, start + limit)
    return text[start : end if end >= 0 else start + limit]


def named(reply: ReplyText, reader: Reader) -> Places:
    """``The answer is B because ...``, ``选B``, ``Option B is correct``."""
    right = list(_called_right(reply, reader))
    if reader.question.kind == "multi":  # "A is correct. C is correct."
        right = _together(right)
    found = [*_answers(reply, reader), *_choices(reply, reader), *right, *ordinals(reply, reader)]
    return agreed(found, reply.bare, reader.question.kind)


def named_final(reply: ReplyText, reader: Reader) -> Places:
    """``The answer is B.``, ``I choose B.``: what the last sentence names, however it stands."""
    found = [*_answers(reply, reader), *_choices(reply, reader), *ordinals(reply, reader)]
    return agreed(found, reply.bare, reader.question.kind)


def _together(found: list[LocatedReading]) -> list[LocatedReading]:
    """Several that are each called right, as one list."""
    if len(found) < _PAIR or not all(each.reading.places for each in found):
        return found
    places = {place for each in found for place in each.reading.places}
    return [LocatedReading(found[0].start, found[-1].end, Reading(tuple(sorted(places))))]


def _answers(reply: ReplyText, reader: Reader) -> Iterator[LocatedReading]:
    for start, end in reply.places_of(_nouns()):
        place, denied = _behind_is(reply.low, end)
        plural = reply.low[start:end] in _PLURALS
        if (plural or reply.low[start:end] in _THINGS) and not _CHOSEN.search(
            reply.low, max(0, start - 24), start
        ):
            continue
        if _SUPPOSED.search(reply.low, max(0, start - 40), start) or not is_asserted(
            reply.low, start
        ):
            continue
        if place is not None:
            text = "not " * denied + _line_from(reply.bare, place, 400)
            if _ASKS.match(text):
                continue
            quoted = bool(_QUOTED.search(reply.bare, max(0, start - 40), start))
            reading = SEVERAL if has_rival(text) else reader.read_answer(text)
            if not plural or reader.question.kind == "multi" or len(reading.places) > 1:
                yield LocatedReading(place, place + len(text), reading, quoted)
            continue
        english = reply.low[start:end].isascii()
        direct = (_IN_BRACKETS if english else _RIGHT_BEHIND).match(reply.bare, end)
        if direct and not DENIED.match(reply.low, direct.end()):
            if not _noun_of_answer(reply, start, end):
                continue
            text = direct[1] if english else _line_from(reply.bare, direct.start(), 400)
            yield LocatedReading(direct.start(1), direct.end(1), reader.read_answer(text))


def _noun_of_answer(reply: ReplyText, start: int, end: int) -> bool:
    named = reply.low[start:end] in words("answer")
    return named or bool(_CHOSEN.search(reply.low, max(0, start - 24), start))


def _behind_is(low: str, end: int) -> tuple[int | None, bool]:
    """Where it is said what the answer is, behind the noun that ends here; or what it is not."""
    if match := _TO_LETTER.match(low, end):
        return match.end(), False
    if match := _TO_DENIED.match(low, end):
        return match.end(), True
    if not _QUALIFIED.match(low, end):
        return None, False
    stop = _STOP.search(low, end, end + LOOKBACK)
    limit = stop.start() if stop else end + LOOKBACK
    places = [(place, len(verb)) for verb in _IS if (place := low.find(verb, end, limit)) >= 0]
    return (sum(min(places)) if places else None), False


def _choices(reply: ReplyText, reader: Reader) -> Iterator[LocatedReading]:
    for start, end in reply.places_of(words("choose")):
        text = _line_from(reply.bare, end, 400).lstrip(" :")
        copula = reply.low[start:end] in _COPULAS
        letter = _RIGHT_BEHIND.match(text)
        if letter and denied_behind(lowered(text), letter.end()):
            continue
        if text and is_asserted(reply.low, start, copula=copula):
            yield LocatedReading(
                end, end + len(text), SEVERAL if has_rival(text) else reader.read_answer(text)
            )


def _called_right(reply: ReplyText, reader: Reader) -> Iterator[LocatedReading]:
    for start, end in reply.places_of(words("right", "fits")):
        word = reply.low[start:end]
        if _RIGHT_TAIL.match(reply.low, end) or (
            word in _BEST and not _BEST_TAIL.match(reply.low, end)
        ):
            continue
        romance = word[0] < "\u0250"
        before = reply.bare[max(0, start - LOOKBACK) : start]
        verb = word in words("fits") and not _WITH_VERB.search(before)
        match = (_WITHOUT_VERB if verb or not romance else _WITH_VERB).search(before)
        if match and not _SUPPOSED.search(lowered(before[: match.start(1)])):
            ahead = before[: match.start(1)]
            at = start - len(before) + match.start(1)
            if denied_behind(reply.low, end) or not is_asserted(reply.low, at):
                continue
            if _is_name(match[1], ahead, reader):
                continue
            if romance and not _OPENS.search(ahead):
                continue
            either = _ONE_OF.search(ahead)
            yield LocatedReading(start, end, SEVERAL if either else reader.letters(match[1]))


def _is_name(letter: str, ahead: str, reader: Reader) -> bool:
    """Whether a letter is a person's name in the options, or the pronoun: "C is right-handed"."""
    named = letter == "I" or letter in reader.question.names
    return named and not _OPTION_AHEAD.search(lowered(ahead))


# What may point to an option. A sign or an arrow that points to B does so in the video.
_REASONS = (
    r"(?:evidence|everything|clues?|cues|indications?|indicators|all signs|observations?|analysis"
    r"|facts|hints?|reasoning|features|details|characteristics|alles|todo|tout|tutto)"
    r"(?:\s\([^()\n]{0,80}\))?(?:\s(?:here|above|in the (?:video|clip|frames)|i see|we see)){0,2}"
)
_POINTS = (
    r"(?:(?:strongly|clearly|all|most|best|together)\s){0,2}"
    r"(?:(?:points?|leads?)\s(?:strongly\s|clearly\s|us\s|me\s)?(?:towards?|to)"
    r"|indicates?|suggests?|supports?|favou?rs?|deutet auf|spricht für|apunta a|indique|indica)"
)
_LEAVES = (
    r"(?:(?:that|this|which|it)\s(?:only\s)?leaves|leaving|we(?:'re| are) left with"
    r"|i(?:'m| am) left with|(?:damit |es |also |so )bleibt)"
    r"(?:\s(?:us|me|with|only|just|nur)){0,3}"
)
_POINTED = pattern(
    r"(?<![\w'])(?<!(?:some|part) of )(?<!(?:some|part) of the )(?<!(?:some|part) of this )"
    r"(?:(?:the|this|these|all)\s)?"
    rf"{_REASONS}\s{_POINTS}\s"
    rf"|(?<![\w']){_LEAVES}\s"
    r"|(?<=只剩下)|(?<=只剩)|(?<=指向)"
)
# A letter behind words that own the reply to be a guess: "If I had to choose: B".
_FORCED = pattern(
    r"(?<![\w'])(?:(?:if|were) (?:i|you) (?:had|have|must|were|am)\s[^.:,\n]{0,40}|forced to \w+"
    r"|(?:if )?pressed|(?:my |best |educated |only ){0,2}guess|(?:based on|judging (?:by|from)"
    r"|given|looking at|considering|going by)\s(?:the|these|this|what)\s[^.:,\n]{1,60}"
    r"|from (?:the |these |this |what |all ){0,2}(?:\w+ )?(?:frames?|video|clip|images?|footage"
    r"|pictures?|evidence|context|titles?|description|scene|captions?|i (?:can )?see))"
    r"[:,]\s{0,3}(?=(?:i'd say |it's |option )?\(?[a-z]\)?\s{0,3}(?:[.!\n]|$))"
)
_DISCARDS = pattern(r"\b(?:eliminat\w+|rule|exclude|discard|drop|reject|wrong|incorrect|least)\b")
_LENGTH = 400  # characters behind


def pointed_at(reply: ReplyText, reader: Reader) -> Places:
    """``The evidence points to B.``, ``This leaves us with B.``, ``If I had to choose: B``."""
    found = [*_evidence(reply, reader), *_forced(reply, reader)]
    return agreed(found, reply.bare, reader.question.kind)


def _evidence(reply: ReplyText, reader: Reader) -> Iterator[LocatedReading]:
    for match in ends_of(list(_POINTED.finditer(reply.low))):
        text = reply.bare[match.end() : match.end() + _LENGTH].partition("\n")[0]
        if is_asserted(reply.low, match.start()):
            reading = SEVERAL if has_rival(text) else reader.read_answer(text)
            yield LocatedReading(match.end(), match.end() + len(text), reading)


def _forced(reply: ReplyText, reader: Reader) -> Iterator[LocatedReading]:
    for match in ends_of(list(_FORCED.finditer(reply.low))):
        sentence = reply.low[max(0, match.start() - 20) : match.end()]
        if _DISCARDS.search(sentence):
            continue
        text = reply.bare[match.end() :].partition("\n")[0].partition(".")[0]
        yield LocatedReading(match.end(), match.end() + len(text), reader.letters(text))


_ORDINAL = pattern(
    rf"(?<!\w)the ({WORDS}) {CALLED} (?:is|seems|appears to be|must be"
    rf"|would be) (?:the )?"
    r"(?:(?:most )?(?:correct|right|best|accurate)|most (?:likely|plausible))(?! \w+ (?:not|wrong))"
    rf"|answer is:? (?:the )?({WORDS}) (?:one|{CALLED})(?!\w)"
    # The trailer (second choice); not "(second choice) is wrong".
    rf"|\((?:the )?({WORDS}) {CALLED}\)(?=\s?(?:[.,;!\n]|$))"
)


def ordinals(reply: ReplyText, reader: Reader) -> Iterator[LocatedReading]:
    """``The second option is correct.``."""
    for match in _ORDINAL.finditer(reply.low):
        word = match[1] or match[2] or match[3]
        if word in reader.question.texts or not is_asserted(reply.low, match.start()):
            continue
        reading = reader.at(ORDINALS[word])
        yield LocatedReading(match.start(), match.end(), reading)
