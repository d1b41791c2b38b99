"""Read an answer from a reply: options, or the reason why there are none. Never a guess.

The forms are tried from the surest to the least sure, and the first that is there decides: if it
names two options where one is asked for, a less sure form is not asked for a better answer.
"""

import re
from collections.abc import Callable, Sequence

from reelbench.client.reply_text import unclosed_reasoning, without_reasoning, without_tokens
from reelbench.data.items import Kind
from reelbench.evaluate.parse.corrections import before_cut, corrected, goes_on, last_word
from reelbench.evaluate.parse.lines import (
    concluded,
    label,
    label_within,
    labelled_line,
    lettered_lines,
    line_of_its_own,
    line_of_text,
    stated,
    whole,
)
from reelbench.evaluate.parse.marks import (
    boxed,
    bracketed,
    json_answer,
    mark_ends,
    open_tag,
    tagged,
    verdicts,
)
from reelbench.evaluate.parse.option_text import option_text, yes_or_no, yes_or_no_opens
from reelbench.evaluate.parse.question import (
    ClosedQuestion,
    Options,
    Parsed,
    Places,
    UnclearError,
    without_labels,
)
from reelbench.evaluate.parse.reader import Reader
from reelbench.evaluate.parse.segments import (
    ReplyText,
    before_next_turn,
    behind_contrast,
    denies_options,
    is_concluded,
    is_loop,
    is_undecided,
    is_whole,
    last_sentence,
    letter_behind,
    letters_named,
    lone_letter,
    rejects_letters,
    reply_of,
    veto,
    within_limit,
)
from reelbench.evaluate.parse.statements import answer_line, named, named_final, pointed_at
from reelbench.evaluate.parse.vocabulary import lowered, occurrences, pattern, words

Form = Callable[[ReplyText, Reader], Places]


def _of_text(form: Callable[[str, Reader], Places]) -> Form:
    """A form that looks at the text as it came, marks and all."""
    return lambda reply, reader: form(reply.text, reader)


_SURE: Sequence[tuple[str, Form]] = (
    ("json", _of_text(json_answer)),
    ("boxed answer", _of_text(boxed)),
    ("bracketed answer", _of_text(bracketed)),
    ("tagged answer", _of_text(tagged)),
    ("whole reply", whole),
    ("answer line", answer_line),
    ("named answer", named),
)
_FORMS: Sequence[tuple[str, Form]] = (
    *_SURE[:6],
    ("label", labelled_line),
    *_SURE[6:],
    ("stated answer", stated),
    ("what reasons point to", pointed_at),
    ("verdicts", verdicts),
    ("lettered lines", lettered_lines),
    ("line of its own", line_of_its_own),
    ("line of an option's text", line_of_text),
    ("label", label),
    ("label with its text", label_within),
    ("conclusion", concluded),
    ("yes or no", yes_or_no),
    ("option text", option_text),
)


# What may be read in a reply that was cut off: an option's words there may be a thought on the way.
_BEFORE_CUT: Sequence[tuple[str, Form]] = (
    *((method, form) for method, form in _SURE if form is not whole),
    ("line of its own", line_of_its_own),
    ("yes or no", yes_or_no),
)


# After a correction a letter may end a sentence: "Wait, there is no field, so B."
_AFTER_CORRECTION: Sequence[tuple[str, Form]] = (
    *_SURE,
    ("stated answer", stated),
    ("what reasons point to", pointed_at),
    ("line of its own", line_of_its_own),
    ("last word", last_word),
    *_FORMS[_FORMS.index(("label", label)) :],
)
# How the last sentence may answer; behind the first three only where it is a conclusion.
_FINAL_WORDS: Sequence[tuple[str, Form]] = (
    ("final statement", whole),
    ("answer line", answer_line),
    ("named answer", named_final),
    ("named answer", named),
    ("stated answer", stated),
    ("what reasons point to", pointed_at),
    ("conclusion", concluded),
)
_EXPLICIT = _FINAL_WORDS[:3]
_WEAK = ("label", "label with its text", "option text", "line of an option's text")
_LISTED = pattern(r"(?:^|\n)\W{0,4}(?:\d{1,2}|[A-Za-z])\s?[.):][^\n]{0,400}\n[\s\d.)]*$")  # a list
_PARTS = pattern(r"(?:^|[.!?\n])\s{0,3}\([a-z]\)\s(?=\w)")  # of an argument: "(a) First ..."
_PART = pattern(r"\([a-z]\)\s(\w+)\W{0,3}")  # that has just begun: "(b) Then"
_HEADING = pattern(r"(?:^|\n)\W{0,6}(?:\w+\s)?‹answer›\W{0,4}$")
_LONG = 400  # characters before a last sentence that decides whatever they say
_LAST_LINE = 2_000  # characters
_JOINED = 8  # characters that may join an option's text to the next
_LAST_WORDS = pattern(r"[^?]{0,60}", re.DOTALL)  # that may stand behind a mark
_MARKED = frozenset(method for method, _ in _SURE[:4])


def parse_answer(reply: str, kind: Kind, options: Options) -> Parsed:
    """Read a reply to a closed question whose options were shown in this order."""
    return _parsed(reply, kind, options, cut=False)


def complete_answer(reply: str, kind: Kind, options: Options) -> Parsed:
    """Read a reply that was cut off: what is an answer in full before the cut, and nothing else."""
    return _parsed(reply, kind, options, cut=True)


def _parsed(reply: str, kind: Kind, options: Options, *, cut: bool) -> Parsed:
    if not reply.strip():
        return Parsed(None, failure="empty reply")
    reader = Reader(ClosedQuestion(kind, without_labels(options)))
    text = without_reasoning(reply)
    if not text:
        return _unclosed(unclosed_reasoning(reply), reader, cut)
    text = without_tokens(text)
    text = within_limit(text)
    if cut:
        return _before_cut(text, reader)
    if head := before_next_turn(text):
        parsed = _read(reply_of(head, reader), reader, _FORMS)
        if parsed.places is not None:
            return parsed
    seen = reply_of(text, reader)
    return _whole(seen, reader)


def _unclosed(reasoning: str, reader: Reader, cut: bool) -> Parsed:
    """Read a mark, or a line that answers, with which reasoning ends that is never closed."""
    text = within_limit(without_tokens(reasoning))
    end = max([0, *mark_ends(text)])
    opened = open_tag(text) if not cut else None
    if opened is not None or end:
        start = max(0, (len(text) if opened is None else opened) - _LAST_LINE)
        rest = text[end:] if opened is None else ""
        taken_back = any(occurrences(lowered(rest), words("retraction")))
        is_last = bool(_LAST_WORDS.fullmatch(rest)) and not taken_back
        parsed = _read(reply_of(text[start:], reader), reader, _SURE[1:4] if is_last else ())
    elif "\n" in text and not cut:
        ahead, _, last = text.rstrip().rpartition("\n")
        headed = _HEADING.search(lowered(ahead[-80:]))
        parsed = _read(reply_of(last, reader), reader, _SURE[4 if headed else 5 :])
    else:
        parsed = Parsed(None)
    return Parsed(
        parsed.places, parsed.method, parsed.failure if parsed.method else "unfinished reasoning"
    )


def _before_cut(text: str, reader: Reader) -> Parsed:
    seen = reply_of(before_cut(text, reader), reader)
    parsed = _corrected(seen, reader, _BEFORE_CUT, _SURE) or _read(seen, reader, _BEFORE_CUT)
    if not parsed.method and "\n\n" in seen.bare:
        parsed = _read(seen, reader, (("label", labelled_line),))
    if parsed.places and parsed.method not in _MARKED and goes_on(text, parsed.places):
        return Parsed(None, parsed.method, "no answer")
    return parsed


def _final(seen: ReplyText, reader: Reader) -> Parsed | None:
    """Read the final part by itself, where it decides: the last sentence, or a veto."""
    if reader.question.yes_and_no and yes_or_no_opens(seen):
        return None
    before, last = last_sentence(seen, reader)
    if before.strip():
        parsed, decides = _last_sentence(seen, before, last, reader)
        if decides:
            return parsed
        forms = _EXPLICIT if len(before) <= _LONG else _SURE[4:6]
        if reply_of(last, reader).refuses and not _read(seen, reader, forms).method:
            return Parsed(None, "refusal", "refusal")
    return _vetoed(seen, reader)


def _last_sentence(seen: ReplyText, before: str, last: str, reader: Reader) -> tuple[Parsed, bool]:
    """Return what the last sentence answers, and whether that decides."""
    single = reader.question.kind != "multi"
    concluded = is_concluded(last) or bool(_HEADING.search(lowered(before[-80:])))
    forms = _FINAL_WORDS if concluded and single else _EXPLICIT
    part = _PART.fullmatch(last)
    if part and _PARTS.search(before) and not reader.question.places_of_words(part[1]):
        return Parsed(None, "label", "no answer"), True
    parsed = _read(reply_of(last, reader), reader, forms[1:] if _LISTED.search(before) else forms)
    if single and not parsed.method and (places := lone_letter(seen, last, reader)):
        parsed, concluded = Parsed(places, "final statement"), False
    if not parsed.method and (places := _behind_but(last, reader)):
        return Parsed(places, "correction"), _says_no_other(before, places, reader)
    if single and not parsed.method and is_undecided(last, reader):
        return Parsed(None, "final statement", "several answers"), True
    if not parsed.places:
        several = concluded and parsed.failure == "several answers"
        return parsed, several or parsed.method == "answer line"
    if concluded or len(before) > _LONG:
        return parsed, True
    return parsed, _says_no_other(before, parsed.places, reader)


def _says_no_other(before: str, places: Places, reader: Reader) -> bool:
    return _read(reply_of(before, reader), reader, _EXPLICIT).places in (None, places)


def _behind_but(sentence: str, reader: Reader) -> Places:
    """``I first thought B, but it is D``: what stands behind the last contrast."""
    behind = reply_of(behind_contrast(sentence), reader)
    return _read(behind, reader, _EXPLICIT).places or ()


def _vetoed(seen: ReplyText, reader: Reader) -> Parsed | None:
    """Read what is chosen all the same behind the words that no option is right, or nothing."""
    behind = veto(seen, reader)
    if behind is None:
        return None
    parsed = _read(reply_of(behind, reader), reader, _FINAL_WORDS)
    if not parsed.places and (places := letter_behind(behind, reader)):
        return Parsed(places, "final statement")
    if parsed.places:
        return parsed
    refused = Parsed(None, "refusal", "refusal")
    return refused if seen.refuses else Parsed(None, "none of the options", "no such option")


def _whole(seen: ReplyText, reader: Reader) -> Parsed:
    """Read a whole reply: its marks, its final part, what it takes back, and then all of it."""
    parsed = _read(seen, reader, _SURE[:5])
    if parsed.method:
        return parsed
    if is_loop(seen.bare):
        parsed = _read(seen, reader, _SURE if seen.bare.rstrip()[-200:].count(".") else ())
        return parsed if parsed.places else Parsed(None, "loop", "no answer")
    parsed = (
        _final(seen, reader)
        or _corrected(seen, reader, _FORMS, _AFTER_CORRECTION)
        or _read(seen, reader, _FORMS)
    )
    last = last_sentence(seen, reader)[1]
    if not parsed.method and reader.question.kind != "multi":
        if places := lone_letter(seen, last, reader):
            return Parsed(places, "final statement")
        if places := _behind_but(last, reader):
            return Parsed(places, "correction")
    weak = parsed.method in _WEAK or (
        parsed.method == "named answer" and not _read(seen, reader, _EXPLICIT[2:]).method
    )
    if parsed.places and weak and _is_outweighed(seen, reader, parsed):
        return Parsed(None, parsed.method, "no answer")
    return parsed


def _is_outweighed(seen: ReplyText, reader: Reader, parsed: Parsed) -> bool:
    """Whether the last sentence, unread, may say something else, or is not whole."""
    places = parsed.places or ()
    before, last = last_sentence(seen, reader)
    if reader.only(last).places or reader.only(seen.lines[0][1]).places == places:
        return False
    alone = reply_of(last, reader)
    if before.strip() and _read(alone, reader, _FINAL_WORDS).places == places:
        return False
    if reader.question.kind == "multi" and option_text(alone, reader) == places:
        longest = sum(len(reader.question.texts[place]) + _JOINED for place in places)
        return len(last) > longest  # a list of options, and nothing else
    line = seen.lines[-1][1]
    named = {reader.question.place(sign) for sign in re.findall(r"\b[A-Z]\b", line)}
    if named >= set(places) and parsed.method.startswith("label"):
        return False
    last_named = letters_named(last, reader)
    others = last_named - set(places)
    if others and others == last_named and rejects_letters(last):
        return False  # "A is right. B and C are wrong."
    if before.strip() and (others or denies_options(last)):
        return True
    return parsed.method in _WEAK and not is_whole(seen.bare)


def _read(seen: ReplyText, reader: Reader, forms: Sequence[tuple[str, Form]]) -> Parsed:
    for method, form in forms:
        try:
            places = form(seen, reader)
        except UnclearError as unclear:
            return Parsed(None, method, unclear.failure)
        if places:
            if reader.question.kind != "multi" and len(places) > 1:
                return Parsed(None, method, "several answers")
            return Parsed(places, method)
    return Parsed(None, failure="refusal" if seen.refuses else "no answer")


def _corrected(
    seen: ReplyText,
    reader: Reader,
    forms: Sequence[tuple[str, Form]],
    after: Sequence[tuple[str, Form]],
) -> Parsed | None:
    def read(text: str, is_after: bool) -> Parsed:
        return _read(reply_of(text, reader), reader, after if is_after else forms)

    return corrected(seen, reader, read)
