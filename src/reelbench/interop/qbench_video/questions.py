"""One object of a published file, read as a question: its text, options, key and tags."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.text import plain
from reelbench.data.fields import found_as
from reelbench.data.item_rules import MAX_OPTIONS, MIN_OPTIONS
from reelbench.data.items import LETTERS, Kind
from reelbench.interop.csv_tables import Place
from reelbench.interop.qbench_video.notes import Notes
from reelbench.interop.qbench_video.rows import PublishedRow
from reelbench.interop.qbench_video.taxonomy import QUESTION_TYPES, SPLITS, TYPE_OF_KIND
from reelbench.interop.qbench_video.words import are_texts, concerns_in, type_in

FIELDS = ("video_name", "question", "answers", "correct_choice", "question_type", "context",
          "quality_concern")  # fmt: skip
_LETTER = re.compile(r"\(?([A-Za-z])\)?\s*[.:]?")  # alone
_LETTERED = re.compile(r"\(?([A-Za-z])\s*[.):]\s*(\S.*)", re.DOTALL)  # before a text


@dataclass(frozen=True, slots=True)
class Question:
    """A question as its file has it, before its videos are found."""

    place: Place
    file: str
    split: str
    video_name: str
    question: str
    kind: Kind
    options: tuple[str, ...]
    answer: tuple[str, ...]  # the letter; none for an open question, or where it is kept back
    reference: str | None
    question_type: str
    context: str
    concerns: tuple[str, ...]
    unknown: Mapping[str, Any]  # fields that mean nothing here, and what was not understood

    @property
    def is_answered(self) -> bool:
        """Whether the file has the answer."""
        return bool(self.answer or self.reference)


def read_question(row: PublishedRow, notes: Notes) -> Question | None:
    """Return one question; None where it has problems, all of which are added to ``notes``."""
    return _Reader(row, notes).read()


class _Reader:
    """The fields of one question, and what is wrong with them."""

    def __init__(self, row: PublishedRow, notes: Notes) -> None:
        self._row, self._record, self._place = row, row.record, row.place
        self._notes = notes
        self._wrong: set[str] = set()  # fields, which need not keep others from being looked at
        self._unknown = {name: part for name, part in row.record.items() if name not in FIELDS}

    def read(self) -> Question | None:
        video = self._text("video_name", "a video's name, or A.mp4_cat_B.mp4.mp4 for two")
        question = self._text("question", "text, not blank")
        choice, context = self._may_be_text("correct_choice"), self._may_be_text("context")
        kind, answers, declared_type = self._shape()
        key = reference = ""
        if self._wrong & {"answers", "question_type", "correct_choice"}:
            pass  # there is no telling what the answer would be
        elif kind == "open":
            answers, reference = (), self._reference(answers, choice)
        else:
            key = self._key(answers, choice) if self._are_options(answers) and choice else ""
        concerns, split = self._concerns(), self._split()
        self._warn_of_misspelt_fields()
        if self._wrong:
            return None
        return Question(
            place=self._place,
            file=self._row.file,
            split=split,
            video_name=video,
            question=question,
            kind=kind,
            options=tuple(answers),
            answer=(key,) if key else (),
            reference=reference or None,
            question_type=declared_type or TYPE_OF_KIND[kind],
            context=context,
            concerns=concerns,
            unknown=self._unknown,
        )

    def _refuse(self, name: str, found: str, expected: str) -> None:
        self._wrong.add(name.partition("[")[0])
        self._notes.wrong(self._place, name, found, expected)

    def _text(self, name: str, expected: str) -> str:
        value = self._record.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        self._refuse(name, found_as(value), expected)
        return ""

    def _may_be_text(self, name: str) -> str:
        value = self._record.get(name)
        if value is not None and not isinstance(value, str):
            self._refuse(name, found_as(value), "text")
        return value.strip() if isinstance(value, str) else ""

    def _shape(self) -> tuple[Kind, Sequence[str], str]:
        """Return the kind, the answers without letters, and the declared type of question."""
        declared_type, answers = self._type(), self._answers()
        closed = bool(answers) and len(answers) >= MIN_OPTIONS
        if declared_type == "Open-ended" or (not declared_type and not closed):
            return "open", answers, declared_type
        words = sorted(plain(answer).strip(" .!") for answer in answers)
        kind: Kind = "yesno" if words == ["no", "yes"] else "single"
        if declared_type and declared_type != TYPE_OF_KIND[kind]:
            options = "Yes and No" if kind == "yesno" else "others than Yes and No"
            self._notes.odd(
                self._place, f"question_type is {declared_type}, but the options are {options}"
            )
        return kind, answers, declared_type

    def _type(self) -> str:
        value = self._record.get("question_type")
        if isinstance(value, bool) or not isinstance(value, str | int | float | None):
            expected = f"one of {', '.join(QUESTION_TYPES)}"
            self._refuse("question_type", found_as(value), expected)
            return ""
        declared_type = type_in(value) if isinstance(value, str) else ""
        if not declared_type:
            shown = "is missing" if value in (None, "") else f"{found_as(value)} is not known"
            self._notes.odd(self._place, f"question_type {shown}, and is taken from the options")
            if value not in (None, ""):
                self._unknown["question_type"] = value
        return declared_type

    def _answers(self) -> Sequence[str]:
        value = self._record.get("answers")
        if value is None or value in ("", []):
            return ()
        if isinstance(value, str):  # as a reference may stand there
            value = [value]
        if not are_texts(value):
            expected = 'a list of texts, none blank (put numbers in quotes: "3")'
            self._refuse("answers", _found_among(value), expected)
            return ()
        texts = [text.strip() for text in value]
        labels = [_LETTERED.fullmatch(text) for text in texts]
        if len(texts) > MAX_OPTIONS or not all(labels):
            return texts
        letters = [label[1].upper() for label in labels if label]
        if letters == list(LETTERS[: len(texts)]):
            return [label[2].strip() for label in labels if label]
        if len(texts) > 1:
            expected = f"the letters A to {LETTERS[len(texts) - 1]} in order, or none"
            self._refuse("answers", f"the letters {', '.join(letters)}", expected)
        return texts

    def _are_options(self, options: Sequence[str]) -> bool:
        if not MIN_OPTIONS <= len(options) <= MAX_OPTIONS:
            expected = f"{MIN_OPTIONS} to {MAX_OPTIONS}, or question_type Open-ended"
            self._refuse("answers", f"{len(options)} options", expected)
        texts = [plain(option) for option in options]
        for place, text in enumerate(texts):
            if text in texts[:place]:
                found = f"{found_as(options[place])}, as in answers[{texts.index(text)}]"
                self._refuse(f"answers[{place}]", found, "an option that differs from the others")
        return "answers" not in self._wrong

    def _key(self, options: Sequence[str], choice: str) -> str:
        """Return the letter of the option that is said to be right, by its letter or its text."""
        places = _places(options, choice)
        if len(places) == 1:
            return LETTERS[places.pop()]
        expected = f"a letter from A to {LETTERS[len(options) - 1]}, or the text of an option"
        both = " (the letter of one option and the text of another)" if places else ""
        self._refuse("correct_choice", f"{found_as(choice)}{both}", expected)
        return ""

    def _reference(self, answers: Sequence[str], choice: str) -> str:
        """Return the answer in words: the choice, the answer that it names, or the only one."""
        places = _places(answers, choice)
        if len(places) == 1:
            choice = answers[places.pop()]
        elif _LETTER.fullmatch(choice):
            self._refuse("correct_choice", found_as(choice), "the text of the answer")
        elif not choice and len(answers) > 1:
            found = f"{len(answers)} texts and no correct_choice"
            self._refuse("answers", found, "one answer to an open question")
        choice = choice or (answers[0] if answers else "")
        if [text for text in answers if plain(text) != plain(choice)]:
            self._unknown["answers"] = list(answers)
        return choice

    def _concerns(self) -> tuple[str, ...]:
        value = self._record.get("quality_concern")
        if value is None or value in ("", []):
            self._notes.odd(self._place, "quality_concern is missing")
            return ()
        if not isinstance(value, str) and not are_texts(value):
            self._refuse("quality_concern", _found_among(value), "text, or a list of texts")
            return ()
        known, others = concerns_in(value)
        for other in others:
            note = f"quality_concern {found_as(other)} is kept, but no table has a column for it"
            self._notes.odd(self._place, note)
        return (*known, *others)

    def _split(self) -> str:
        value = self._record.get("split")
        if not isinstance(value, str) or value not in SPLITS:
            return self._row.split
        del self._unknown["split"]
        return value

    def _warn_of_misspelt_fields(self) -> None:
        """Add a warning for fields whose name is nearly that of a missing one."""
        absent = [name for name in FIELDS if name not in self._record]
        for name in self._unknown:
            for close in difflib.get_close_matches(name.casefold(), absent, n=1, cutoff=0.8):
                note = f"The field {found_as(name)} is not used (perhaps {close} is meant)"
                self._notes.odd(self._place, note)


def _places(options: Sequence[str], choice: str) -> set[int]:
    """Return the places of the options that a choice may mean, by letter, by text or by both."""
    meant = _by_text(options, choice)
    alone, before = _LETTER.fullmatch(choice), _LETTERED.fullmatch(choice)
    if alone and (place := LETTERS.index(alone[1].upper())) < len(options):
        meant.add(place)
    if before:
        meant |= {LETTERS.index(before[1].upper())} & _by_text(options, before[2])
    return meant


def _by_text(options: Sequence[str], text: str) -> set[int]:
    same = plain(text).rstrip(" .")
    return {place for place, option in enumerate(options) if plain(option).rstrip(" .") == same}


def _found_among(value: Any) -> str:
    """Show the first part of a list that is no text."""
    parts = value if isinstance(value, list) else ()
    odd = [part for part in parts if not isinstance(part, str) or not part.strip()]
    return f"{found_as(odd[0])} in it" if odd else found_as(value)
