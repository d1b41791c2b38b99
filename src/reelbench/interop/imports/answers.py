"""Answers of anyone's file: letters, numbers from 0 or from 1, texts, and several of them.

How the answers of a file are to be read is decided over all its rows, never row by row: a 2 alone
may be the second option or the third.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from reelbench.base.progress import counted
from reelbench.base.text import plain
from reelbench.data.items import LETTERS, shown
from reelbench.interop.imports.alphabets import OTHER_LETTERS, half_width
from reelbench.interop.imports.values import (
    OptionList,
    even,
    is_blank,
    label_of,
    literal_of,
    text_of,
    without_braces,
)

AnswerForm = Literal["letter", "text", "index", "index1"]
ANSWER_FORMS: tuple[AnswerForm, ...] = get_args(AnswerForm)  # the first among equals is taken
IN_WORDS: dict[AnswerForm, str] = {
    "letter": "letters of options",
    "text": "texts of options",
    "index": "numbers of options from 0",
    "index1": "numbers of options from 1",
}


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """How the answers of a file are read, by which evidence, and the doubt where there is one."""

    form: AnswerForm
    evidence: str
    doubt: str = ""
    share: float = 0.0  # of the answers that can be read so


def read_answer(value: Any, options: OptionList, form: AnswerForm) -> tuple[str, ...]:
    """Return the letters of the right options; raise ``ValueError`` where the cell names none."""
    if is_blank(value):
        raise ValueError("no answer")
    letters = tuple(_READERS[form](value, options))
    if len(set(letters)) < len(letters):
        raise ValueError(f"the answer {shown(text_of(value))} names an option twice")
    return tuple(sorted(letters))


def answer_form(rows: Sequence[tuple[Any, OptionList]], words: Sequence[str] = ()) -> AnswerReading:
    """Return how all answers of a file are to be read, each row with its options.

    ``words`` has the right option in words for each row, where the file has them beside its key.
    """
    words = [text for text, (value, _) in zip(words, rows, strict=False) if not is_blank(value)]
    rows = [(value, options) for value, options in rows if not is_blank(value)]
    fits = {form: [_fits(*row, form) for row in rows] for form in ANSWER_FORMS}
    counts = {form: sum(fits[form]) for form in ANSWER_FORMS}
    best = max(counts.values(), default=0)
    if not best:
        example = f" (such as {shown(text_of(rows[0][0]))})" if rows else ""
        return AnswerReading("letter", f"no answer names an option{example}")
    equal = [form for form in ANSWER_FORMS if counts[form] == best]
    if agreeing := _agreeing(equal, rows, words):
        return AnswerReading(*agreeing, share=counts[agreeing[0]] / len(rows))
    share = f"{best:,} of {len(rows):,}"
    if len(equal) == 1:
        evidence = f"{share} are {IN_WORDS[equal[0]]}{_ends(equal[0], rows)}"
        doubt = _other_count(equal[0], rows) if best < len(rows) else ""
        return AnswerReading(equal[0], evidence, doubt, best / len(rows))
    if equal == ["index", "index1"]:
        return replace(_numbered(rows, share), share=best / len(rows))
    form = equal[0]
    others = " and as ".join(IN_WORDS[other] for other in equal[1:])
    doubt = ""
    if any(_differ(row, form, other) for row in rows for other in equal[1:]):
        doubt = f"they can be read as {IN_WORDS[form]}, and as {others}: read as {IN_WORDS[form]}"
    return AnswerReading(form, f"{share} are {IN_WORDS[form]}", doubt, best / len(rows))


def _numbered(rows: Sequence[tuple[Any, OptionList]], share: str) -> AnswerReading:
    """Decide between numbers from 0 and from 1 where both fit: by the options' own numbers."""
    firsts = {options.first_number for _, options in rows}
    if firsts == {1}:
        return AnswerReading("index1", f"{share} are numbers, and options are numbered from 1")
    if firsts == {0}:
        return AnswerReading("index", f"{share} are numbers, and options are numbered from 0")
    if any(text_of(value) == "0" for value, _ in rows):
        doubt = "0 occurs, but numbers beyond the last option do as well: counted from 0"
        return AnswerReading("index", f"{share} are numbers", doubt)
    return AnswerReading(
        "index",
        f"{share} are numbers",
        "neither 0 nor the number of the last option occurs, so that they may be counted from 0 or "
        "from 1: counted from 0",
    )


def _agreeing(
    forms: Sequence[AnswerForm], rows: Sequence[tuple[Any, OptionList]], words: Sequence[str]
) -> tuple[AnswerForm, str] | None:
    """The one form by which answers name the options that the file has in words beside them."""
    worded = [
        (row, letters)
        for row, text in zip(rows, words, strict=False)
        if (letters := letters_or_none(text, row[1], "text"))
    ]
    for form in ANSWER_FORMS:
        same = sum(letters_or_none(*row, form) == letters for row, letters in worded)
        if worded and same >= 0.9 * len(worded) and forms != [form]:
            return form, f"{same:,} are {IN_WORDS[form]}, as the answers in words show"
    return None


def _other_count(form: AnswerForm, rows: Sequence[tuple[Any, OptionList]]) -> str:
    """The doubt where numbers fit best counted in one way, and some rows fit the other alone."""
    other: AnswerForm | None = {"index": "index1", "index1": "index"}.get(form)  # type: ignore[assignment]
    alone = [row for row in rows if other and _fits(*row, other) and not _fits(*row, form)]
    if not other or not alone:
        return ""
    return (
        f"they are read as {IN_WORDS[form]}, but {shown(text_of(alone[0][0]))} "
        f"({counted(len(alone), 'row')}) would be one of the {IN_WORDS[other]}"
    )


def _ends(form: AnswerForm, rows: Sequence[tuple[Any, OptionList]]) -> str:
    """What shows where numbers are counted from."""
    if form == "index":
        zeros = sum(text_of(value) == "0" for value, _ in rows)
        return f"; 0 occurs in {counted(zeros, 'row')}" if zeros else ""
    if form == "index1":
        lasts = sum(text_of(value) == str(len(options.texts)) for value, options in rows)
        return f"; that of the last option occurs in {counted(lasts, 'row')}" if lasts else ""
    return ""


def letters_or_none(value: Any, options: OptionList, form: AnswerForm) -> tuple[str, ...] | None:
    """Return the letters of the right options; None where the cell names none."""
    try:
        return read_answer(value, options, form)
    except ValueError:
        return None


def _fits(value: Any, options: OptionList, form: AnswerForm) -> bool:
    return letters_or_none(value, options, form) is not None


def _differ(row: tuple[Any, OptionList], one: AnswerForm, other: AnswerForm) -> bool:
    if not _fits(*row, one) or not _fits(*row, other):
        return False
    return read_answer(*row, one) != read_answer(*row, other)


_AROUND = re.compile(
    r"^\W*(?:(?:the\s+)?(?:correct\s+)?(?:answer|option|choice)s?\b\s*(?:is)?\W*)*", re.I
)
_BETWEEN = re.compile(r"\s*(?:[,;/&+|、，；]|\band\b|\s)\s*", re.I)


def _letters(value: Any, options: OptionList) -> Iterator[str]:
    """Letters as "B", "(b)", "B. text", "A,C", "A and C", "AC", ["A", "C"]; or labels."""
    for part in _parts(value):
        text = text_of(part)
        if isinstance(part, bool | int | float) or text.isdecimal():
            raise ValueError(f"the answer {shown(text)} is no letter")
        if letter := _own_label(text, options) or _spelled_out(text, options):
            yield letter
            continue
        core = _AROUND.sub("", half_width(text)).strip(" .:()[]{}<>'\"*")
        names = [name for name in _BETWEEN.split(core) if name]
        names = [name.strip("().[]'\"") for name in names]
        if len(names) == 1 and re.fullmatch(r"[A-Z]{2,26}", names[0]):
            names = list(names[0])
        if names and all(len(name) == 1 and name.isascii() and name.isalpha() for name in names):
            yield from (_within(name.upper(), options, text) for name in names)
            continue
        yield _labelled(text, options)


def _spelled_out(text: str, options: OptionList) -> str:
    """The letter of "C) z", where z is the text of option C; "" for any other answer."""
    label, rest = label_of(text)
    letter = label.upper()
    if not letter or letter not in options.letters:
        return ""
    return letter if even(rest) == even(options.texts[LETTERS.index(letter)]) else ""


def _own_label(text: str, options: OptionList) -> str:
    """The letter of the option whose label or column, other than "B" and "2", is the answer."""
    wanted = plain(text)
    for labels in (options.names, options.labels):
        longer = [plain(label) for label in labels]
        long = any(len(label) > 1 for label in (wanted, *longer))  # i beside ii is no letter
        if long and not wanted.isdecimal() and longer.count(wanted) == 1:
            return LETTERS[longer.index(wanted)]
    sign = text.strip(" .:()[]（）")  # א or ②, where options are labelled so
    other = len(sign) == 1 and sign in OTHER_LETTERS and list(options.labels).count(sign) == 1
    return LETTERS[options.labels.index(sign)] if other else ""


def _within(letter: str, options: OptionList, text: str) -> str:
    if letter not in options.letters:
        last = options.letters[-1:] or "none"
        raise ValueError(f"the answer {shown(text)} is beyond the last option, {last}")
    return letter


def _labelled(text: str, options: OptionList) -> str:
    """The letter of "B. text", whose text must not be that of another option."""
    label, rest = label_of(text)
    if len(label) != 1 or not label.isalpha():
        raise ValueError(f"the answer {shown(text)} is no letter")
    letter = _within(label.upper(), options, text)
    written = (even(without_braces(rest)), even(without_braces(text)))  # "B. Lee" may be a name
    same = [LETTERS[n] for n, each in enumerate(options.texts) if even(each) in written]
    if same and letter not in same:
        raise ValueError(
            f"the answer {shown(text)} has the letter of one option and the text of another"
        )
    return letter


def _texts(value: Any, options: OptionList) -> Iterator[str]:
    """Texts of options: one, a list, or one text of several with a separator."""
    if not isinstance(value, list | tuple):
        found = _one_text(value, options)
        if found:
            yield found
            return
    for part in _parts(value):
        found = _one_text(part, options)
        if found:
            yield found
        else:
            yield from _several_texts(text_of(part), options)


def _one_text(value: Any, options: OptionList) -> str:
    """The letter of the option with this text; "" where none has it."""
    spelled = {True: ("yes", "true"), False: ("no", "false")}
    texts = spelled[value] if isinstance(value, bool) else (text_of(value),)
    same = sorted({letter for text in texts for letter in _same(text, options)})
    if len(same) > 1:
        raise ValueError(f"the answer {shown(text_of(value))} is the text of several options")
    return same[0] if same else ""


def _several_texts(text: str, options: OptionList) -> Iterator[str]:
    for mark in ("\n", "|", ";", ",", "、", " and "):
        parts = [part for part in text.split(mark) if part.strip()] if mark in text else []
        found = [_one_text(part, options) for part in parts]
        if len(parts) > 1 and all(found):
            yield from found
            return
    raise ValueError(f"the answer {shown(text)} is no option")


def _same(text: str, options: OptionList) -> list[str]:
    """The letters of the options with this text; exactly this one before one that is alike."""
    exact = [n for n, option in enumerate(options.texts) if option == text.strip()]
    if len(exact) == 1:
        return [LETTERS[exact[0]]]
    wanted, (label, rest) = even(without_braces(text)), label_of(text)
    same = [LETTERS[n] for n, option in enumerate(options.texts) if even(option) == wanted]
    if same or not label:
        return same
    wanted = even(without_braces(rest))
    same = [LETTERS[n] for n, option in enumerate(options.texts) if even(option) == wanted]
    return [letter for letter in same if not label.isalpha() or letter == label.upper()]


def _numbers(value: Any, options: OptionList, first: int) -> Iterator[str]:
    for part in _parts(value):
        for text in _BETWEEN.split(text_of(part)) if isinstance(part, str) else [text_of(part)]:
            number = re.fullmatch(r"[(\[]?(\d{1,4})(?:\.0+)?[)\].]?", text.strip())
            if isinstance(part, bool) or number is None:
                raise ValueError(f"the answer {shown(text_of(value))} is no number of an option")
            place = int(number[1]) - first
            if not 0 <= place < len(options.texts):
                last = first + len(options.texts) - 1
                raise ValueError(
                    f"the answer {shown(text_of(value))} is no number from {first} to {last}"
                )
            yield LETTERS[place]


def _parts(value: Any) -> list[Any]:
    """The parts of a list, or of a text that spells one; any other value alone."""
    if isinstance(value, str):
        literal = literal_of(value)
        value = literal if isinstance(literal, list) else value
    return list(value) if isinstance(value, list | tuple) else [value]


_READERS: dict[AnswerForm, Callable[[Any, OptionList], Iterator[str]]] = {
    "letter": _letters,
    "text": _texts,
    "index": lambda value, options: _numbers(value, options, 0),
    "index1": lambda value, options: _numbers(value, options, 1),
}

# How yes and no are written, in the words that the two options then get.
_YES_NO = (
    ("Yes", "No"), ("True", "False"), ("Ja", "Nein"), ("Sí", "No"), ("Oui", "Non"), ("是", "否"),
    ("对", "错"), ("はい", "いいえ"), ("Да", "Нет"), ("예", "아니요"),
)  # fmt: skip
_SHORT = {"y": "yes", "n": "no", "t": "true", "f": "false"}


def yes_no(value: Any) -> tuple[tuple[str, str], str] | None:
    """Return the two options and the letter of an answer that is yes or no; None for any other."""
    if isinstance(value, bool):
        return _YES_NO[0], "A" if value else "B"
    text = even(text_of(value))
    text = _SHORT.get(text, text)
    for pair in _YES_NO:
        for letter, word in zip("AB", pair, strict=True):
            if text == word.casefold():
                return pair, letter
    return None
