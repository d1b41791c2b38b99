"""What a reply says that takes something back: ``Answer: C. Hold on, no field. It's B.``.

What comes after the last correction counts, if it answers. Where it does not, what stood before is
taken back and nothing is in its place, unless the correction comes to the same again. So a reply
that begins to doubt its answer, and leaves it there, has none.
"""

import json
import re
from collections.abc import Callable, Iterator

from reelbench.client.reply_text import without_markup
from reelbench.data.items import LETTERS
from reelbench.evaluate.parse.marks import mark_ends, open_tag
from reelbench.evaluate.parse.question import Parsed, Places
from reelbench.evaluate.parse.reader import Reader
from reelbench.evaluate.parse.segments import ReplyText
from reelbench.evaluate.parse.vocabulary import ends_of, lowered, occurrences, pattern, words

_OPENERS = (
    r"(?:oh|ah|hmm+|hm|um|no|but|well|sorry|and|however|although|then|though|ok|okay"
    r"|aber|pero|mais|ma|mas|但是?)"
)
_STARTS_SENTENCE = pattern(
    rf"(?:^|[.!?;:\n。！？；：—–…]|\s-\s|\.{{2,3}})\s{{0,3}}(?:{_OPENERS}[\s,.…]{{1,3}}){{0,2}}$"
)
_STARTS_CLAUSE = pattern(rf"[,，、(]\s{{0,3}}(?:{_OPENERS}[\s,.…]{{1,3}}){{0,2}}$")
# What stands behind a correction amid a sentence: not "and wait for the train", nor "B, actually."
_CUT_IN = pattern(r"\s{0,2}(?:[,.:;!…—–-](?=\W{0,8}\w)|(?:no|not|it's|it is|i|let|that|that's)\b)")
_PLAIN_NO = pattern(r"(?<=[.…\n])\s{0,3}((?:no|nope|nein|non|нет)),\s")
# "Yes. Well, no: ..."
_WELL = pattern(r"(?<=[.!…\n])\s{0,3}(well),?\s(?=(?:no|yes|not|actually)\b)")
# A word that takes back what was said where a letter alone follows it: "A. No, B."
_INSTEAD = pattern(
    r"[.!?…\n,;-]\s{0,3}(?:oh,?\s|hmm,?\s)?(?:(?:no|nope|nein|non)\s?[,.:—–]|(?:sorry|edit|update"
    r"|rather|i mean|make that|or rather)[\s,.:])"
    r"[\s,.:]{0,2}([^\n]{1,40})\s*\Z"
)
_OPTION_TEXT = "option text"  # how a reply was read that names no letter
_ENDING = 80  # characters
_LEVELS = 2  # corrections of corrections
# They bring the new answer with them, or are no correction: "It is actually raining."
_NAMES_ANOTHER = frozenset({
    "it is actually", "it's actually", "the answer is actually", "it is in fact", "i mean",
})  # fmt: skip
_SUBSTITUTES = frozenset({"or rather", "or more precisely", "or more accurately", "make that"})
_RETURNS = pattern(
    r"(?:^|[.!?…,;:\n—–-]\s{0,3})(?:and\s|so\s)?(?:yes|yep|yeah|indeed|right|correct|ja|oui|sí|да|是的)"
    r"(?=[,.!:;\s。，]|$)"
    r"|\bconfirm(?:s|ed|ing)?\b|\b(?:stick(?:ing)?|stay(?:ing)?|stand(?:ing)?) (?:with|by)\b"
    r"|\b(?:answer|choice|it|that|this) (?:still )?(?:stands|holds|remains|checks out"
    r"|is (?:still )?(?:right|correct|fine|consistent))\b|\bsame (?:answer|conclusion)\b"
    r"|\b(?:i'm|i am|quite|very|pretty|fairly|absolutely) (?:confident|certain|sure)\b"
)
_DENIES = pattern(r"‹negation›|n't\b")
_LETTER = pattern(r"(?<![A-Za-z0-9'])[B-HJ-Z](?![A-Za-z0-9'])")
_BRIEF = 300  # characters
_SENTENCE = pattern(r"[.!?\n。！？]")
_LAST_CLAUSE = pattern(r"[.!?;:,](?:\s+|$)|[\n。！？；：，]\s*|\s[–—-]\s*|…")
_LISTS = pattern(r"(?<![A-Za-z0-9'])(?:[A-Z]|\d+)$")
# With which an option's words are an answer: "Hold on, it is an animated trailer."
_STATES = pattern(
    r"(?:no,?\s|so,?\s)?(?:it is|it's|that is|that's|this is|these are|they are|must be|rather)\s"
)
# Of a second look, that it agrees: "let me check: right", which may be an option's text.
_AGREES = pattern(
    r"(?:let me [^.:!?\n]{1,60}[.:!?…]+\s*)?(?:yes|yep|yeah|right|correct|indeed|sure|fine)"
    r"(?:[\s,.!]+(?:right|correct|indeed))?[\s.!]*"
)
_MAKES = pattern(r"(?:which|this|that)?\s?(?:makes?|making)\s(?:it|this)\s")


def corrected(
    reply: ReplyText, reader: Reader, read: Callable[[str, bool], Parsed]
) -> Parsed | None:
    """Return what a reply comes to that takes something back; None where it does not.

    ``read`` reads a part of the reply: what stands after a correction, or not.
    """
    if parsed := _instead(reply, reader):
        return parsed
    stop = len(reply.bare)
    for start, end in _corrections(reply, reader)[: -_LEVELS - 1 : -1]:
        after = reply.bare[end:stop].lstrip(" ,.:;!…—–-\n。，：")
        if not reader.question.yes_and_no and _AGREES.fullmatch(lowered(after)):
            stop = start
            continue
        parsed = read(after, True) if after else None
        if parsed and parsed.places is not None:
            is_recap = parsed.method == _OPTION_TEXT and not _STATES.match(lowered(after))
            if is_recap and _is_other_than_stated(parsed, reply.bare[:start], read):
                return Parsed(None, "correction", "no answer")
            return parsed
        if not after and stop < len(reply.bare):
            stop = start  # "Wait, let me check ... yes": one look that came to the same
            continue
        if _needs_answer(reply, start, end):
            continue
        earlier = read(reply.bare[:start], False).places if reply.bare[:start].strip() else None
        if earlier is None:
            continue  # there is nothing that it could take back
        if not _returns(reply.low[end:stop]) and not _names_same(reply.bare[end:stop], earlier):
            return Parsed(None, "correction", "no answer")
        stop = start
    return read(reply.bare[:stop], False) if stop < len(reply.bare) else None


def _is_other_than_stated(parsed: Parsed, before: str, read: Callable[[str, bool], Parsed]) -> bool:
    """Whether words of an option recount what happens, behind an answer that was given as such."""
    earlier = read(before, False) if before.strip() else None
    if earlier is None or not earlier.places:
        return False
    return earlier.method != _OPTION_TEXT and earlier.places != parsed.places


def last_word(reply: ReplyText, reader: Reader) -> Places:
    """``There is no field, so B.``: a last clause that is nothing but an answer."""
    bare = reply.bare.rstrip(" .!。\n")
    *ahead, clause = _LAST_CLAUSE.split(bare)
    if ahead and _LISTS.search(ahead[-1]):
        return _whole_list(ahead, clause, reader) if reader.question.kind == "multi" else ()
    found = _MAKES.match(clause)
    return reader.only(clause[found.end() :] if found else clause).places


def _whole_list(ahead: list[str], clause: str, reader: Reader) -> Places:
    """``So A, C, D``: every clause that is nothing but letters, from the last one back."""
    chosen = set(reader.only(clause).places)
    for each in reversed(ahead):
        places = reader.only(each).places
        if not chosen or not places:
            break
        chosen |= set(places)
    return tuple(sorted(chosen))


def _instead(reply: ReplyText, reader: Reader) -> Parsed | None:
    found = _INSTEAD.search(reply.low, max(0, len(reply.low) - _ENDING))
    if not found or not reply.bare[: found.start()].strip():
        return None
    text = reply.bare[found.start(1) :]
    reading = reader.letters(text) if reader.question.yes_and_no else reader.only(text)
    return Parsed(reading.places, "correction") if len(reading.places) == 1 else None


def _corrections(reply: ReplyText, reader: Reader) -> list[tuple[int, int]]:
    """Where the reply takes something back, in order; of words that overlap, the longest."""
    found = sorted(_retractions(reply, reader), key=lambda each: (each[0], -each[1]))
    kept: list[tuple[int, int]] = []
    for each in found:
        if not kept or each[0] >= kept[-1][1]:
            kept.append(each)
    return kept


def _retractions(reply: ReplyText, reader: Reader) -> Iterator[tuple[int, int]]:
    low = reply.low
    for start, end in ends_of(sorted(occurrences(low, words("retraction")))):
        head = max(0, start - 16)
        begins = _STARTS_SENTENCE.search(low, head, start) or (
            _STARTS_CLAUSE.search(low, head, start)
            and not low.startswith("hm", start)
            and (low[start:end] in _SUBSTITUTES | _NAMES_ANOTHER or _CUT_IN.match(low, end))
        )
        if begins and not _is_of_option(low, start, end, reader):
            # "Let me check each option" says what follows it: that is left to the forms.
            yield start, start if low.startswith("let me", start) else end
    plain = _PLAIN_NO if reader.question.yes_and_no is None else _WELL
    for found in ends_of(list(plain.finditer(low))):
        if not _is_of_option(low, *found.span(1), reader):
            yield found.span(1)


def _is_of_option(low: str, start: int, end: int, reader: Reader) -> bool:
    """Whether a word stands in an option's own text: ``D. Wait for the bus``."""
    for text in reader.question.texts:
        place = text.find(low[start:end])
        if place >= 0 and low.startswith(text, max(0, start - place)):
            return True
    return False


def _needs_answer(reply: ReplyText, start: int, end: int) -> bool:
    """Whether words are a correction only where an answer follows them."""
    word = reply.low[start:end]
    amid = word in _SUBSTITUTES and bool(
        _STARTS_CLAUSE.search(reply.low, max(0, start - 16), start)
    )
    return amid or word in _NAMES_ANOTHER


def _returns(low: str) -> bool:
    """Whether a second look comes to the same: ``let me check ... yes``."""
    for found in _RETURNS.finditer(low):
        sentences = _SENTENCE.split(low[max(0, found.start() - 200) : found.start() + 1])
        if not _DENIES.search(sentences[-1]):
            return True
    return False


def _names_same(text: str, places: Places) -> bool:
    """Whether what follows names the one option again and no other: ``B has the titles``."""
    low = lowered(text)
    if len(text) > _BRIEF or "?" in text or len(places) != 1 or _DENIES.search(low):
        return False
    return set(_LETTER.findall(text)) == {LETTERS[places[0]]}


_FENCE = pattern(r"\s*```[a-z]*\s*")
_END = pattern(r"(?<![\d.])(?<!\n[A-Z])(?<!^[A-Z])[.!?](?=\s|\Z)|[。।؟\n]")
_LETTER_LINE = pattern(r"[^\n:=]{0,40}[:=]\s{0,3}(\(?[A-Za-z]\)?)[.]?")
_LIST_GOES_ON = pattern(r"[\s\W\d]*(?:[A-Za-z](?![A-Za-z])|\Z)")


def before_cut(text: str, reader: Reader) -> str:
    """Return the sentences, lines and marks of a text that were finished; nothing if in doubt."""
    start = _FENCE.match(text)
    if text[start.end() if start else 0 :].startswith(("{", "[{", '["')):
        return _whole_json(text[start.end() if start else 0 :])
    text = _closed(text)
    lines = text.rstrip().rpartition("\n")
    last = without_markup(lines[2])
    single = reader.question.kind != "multi"
    if single and (_is_letter(without_markup(text), reader) or _is_letter_line(last, reader)):
        return text
    end = max([0, *(found.end() for found in _END.finditer(text)), *mark_ends(text)])
    head, tail = text[:end], text[end:]
    if next(occurrences(lowered(tail), words("retraction")), None):
        return ""
    if not single and (_LIST_GOES_ON.match(tail) or "\n" not in head):
        return head.rpartition("\n\n")[0]
    return head


def _whole_json(text: str) -> str:
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return ""
    return text[:end]


def _closed(text: str) -> str:
    """Leave out what begins with a brace or a tag that is never closed."""
    for opened, closed in (("{", "}"), ("[[", "]]")):
        if text.rfind(opened) > text.rfind(closed):
            text = text[: text.rfind(opened)].removesuffix("\\boxed")
    tag = open_tag(text)
    return text if tag is None else text[:tag]


def _is_letter(bare: str, reader: Reader) -> bool:
    """Whether a text is one letter, what it stands in closed."""
    balanced = all(bare.count(a) == bare.count(b) for a, b in ("()", "[]", "{}"))
    return len(bare) <= 12 and balanced and bool(reader.letters(bare).places)


def _is_letter_line(line: str, reader: Reader) -> bool:
    found = _LETTER_LINE.fullmatch(line)
    return bool(found and reader.letters(found[1]).places)


_DOUBT = pattern(
    r"[.!?\n]\s{0,3}(?:so,?\s|and\s)?(?:but|however|wait|hmm|hold on|let(?: me|'s| us)"
    r"(?! look at why| explain)|although"
    r"|on the other hand"
    r"|alternatively|then again|i need to|i should|to be sure|to confirm|aber|mais|pero|但"
    r"|しかし)(?!\w)"
)


def goes_on(text: str, places: Places) -> bool:
    """Whether a reply that was cut off had begun to think again behind the letter of its answer."""
    letters = "".join(LETTERS[place] for place in places)
    low = lowered(text)
    named = [found.start() for found in re.finditer(rf"(?<!\w)[{letters}](?!\w)", text)]
    return bool(_DOUBT.search(low, named[-1] if named else 0))
