"""Rows of anyone's file to items, by a mapping; a row that cannot be one has its reason."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reelbench.base.files import whole_data, whole_text
from reelbench.data.item_rules import item_from_line
from reelbench.data.items import LETTERS, Item, Kind, Media, Seconds, Span, freeze, shown
from reelbench.interop.imports.alphabets import OTHER_LETTERS
from reelbench.interop.imports.answers import (
    AnswerForm,
    AnswerReading,
    letters_or_none,
    read_answer,
    yes_no,
)
from reelbench.interop.imports.cells import cell, path_of
from reelbench.interop.imports.column_names import last_word
from reelbench.interop.imports.mapping import OTHERS, ImportMapping, several
from reelbench.interop.imports.sheet_times import TIME_FIELDS, SheetTimes
from reelbench.interop.imports.spans import read_seconds, read_spans
from reelbench.interop.imports.values import (
    OptionList,
    checked_options,
    is_blank,
    label_of,
    literal_of,
    read_options,
    split_question,
    text_of,
)
from reelbench.interop.records import SourceRecord


@dataclass(frozen=True, slots=True)
class OddRow:
    """A row that became no item: where it stands, its id, and why."""

    file: str
    line: int
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class ItemDraft:
    """An item of a row, with the files that the row names, before these are looked for."""

    item: Item
    record: SourceRecord
    wanted: tuple[str, ...]  # a file for each medium, as the row names it
    subtitles: tuple[str, ...] = ()
    subtitles_start: float = 0.0  # the second of these at which the video begins


@dataclass(slots=True)
class RowReader:
    """Reads rows by a mapping, once it is known how the answers of all rows are to be read."""

    mapping: ImportMapping
    reading: AnswerReading | None = None
    times: SheetTimes = field(default_factory=SheetTimes)
    notes: Counter[str] = field(default_factory=Counter)  # small things, and in how many rows
    read: dict[int, tuple[str, OptionList | None]] = field(
        default_factory=dict
    )  # rows, by identity

    def options(self, record: SourceRecord) -> tuple[str, OptionList | None]:
        """Return the question of a row and its options; None where it has none."""
        if id(record) not in self.read:
            self.read[id(record)] = self._options(record)
        return self.read[id(record)]

    def _options(self, record: SourceRecord) -> tuple[str, OptionList | None]:
        question = whole_text(text_of(self._cell("question", record)))
        question = question or self.mapping.constants.get("question", "")
        source = self.mapping.fields.get("options")
        if source is None:
            return question, None
        if source == self.mapping.fields.get("question"):
            return split_question(question)
        values = [whole_data(cell(name, record)) for name in several(source)]
        values = [None if text_of(value) in self.mapping.blank else value for value in values]
        if all(map(_holds_nothing, values)):
            return question, None
        if len(values) == 1:
            return question, read_options(values[0], self.mapping.separator)
        return question, options_of_columns(several(source), values)

    def draft(self, record: SourceRecord, number: str) -> ItemDraft:
        """Return the item of a row; raise ``ValueError`` where it cannot be one."""
        question, options = self.options(record)
        if not question:
            raise ValueError("no question")
        wanted = self._wanted(record)
        if not wanted:
            raise ValueError("no video")
        if len(wanted) > 2:
            raise ValueError(f"{len(wanted)} videos, where an item has 1 or 2")
        kind, texts, answer, reference = self._answer(record, options)
        media = tuple(
            Media(name, *self._window(record, place)) for place, name in enumerate(wanted)
        )
        item = Item(
            id=number,
            kind=kind,
            media=media,
            question=question,
            options=texts,
            answer=answer,
            reference=reference,
            evidence=self._evidence(record, media),
            tags=freeze(self._tags(record)),
        )
        subtitles = [path_of(value) for value in self._cells("subtitles", record)]
        named = tuple(filter(None, subtitles))[: len(wanted)]
        start = read_seconds(self._cell("subtitles_start", record)) or 0.0
        return ItemDraft(item, record, wanted, named, start)

    def answer_cell(self, record: SourceRecord) -> Any:
        """Return what a row has for its answer."""
        return self._cell("answer", record)

    def reference_cell(self, record: SourceRecord) -> str:
        """Return the answer in words that a row has beside its key; "" where it has none."""
        return text_of(self._cell("reference", record))

    def _cell(self, name: str, record: SourceRecord) -> Any:
        return next(iter(self._cells(name, record)[:1]), None)

    def _cells(self, name: str, record: SourceRecord) -> list[Any]:
        source = self.mapping.fields.get(name)
        if source is None:
            return []
        read = self.times.in_seconds(record) if name in TIME_FIELDS else record
        return [cell(part, read) for part in several(source)]

    def _wanted(self, record: SourceRecord) -> tuple[str, ...]:
        found: list[str] = []
        for value in self._cells("video", record):
            if isinstance(value, str) and isinstance(literal := literal_of(value), list):
                value = literal
            parts = value if isinstance(value, list | tuple) else [value]
            found += [path for part in parts if (path := path_of(part))]
        return tuple(found)

    def _window(self, record: SourceRecord, place: int) -> tuple[float | None, float | None]:
        span = self._cells("span", record)
        if span:
            spans = read_spans(span[min(place, len(span) - 1)])
            return (spans[0][0], spans[-1][1]) if spans else (None, None)
        times = []
        for name in ("start", "end"):
            values = self._cells(name, record)
            times.append(read_seconds(values[min(place, len(values) - 1)]) if values else None)
        if not {"start", "end"} & set(self.mapping.fields):
            times = self._window_of_file(record, place)
        start, end = times
        if start == 0 and end == 0:
            return None, None
        if end is not None and (start or 0) >= end:
            raise ValueError(f"the video ends at {end} s, but begins at {start or 0} s")
        return start, end

    def _window_of_file(self, record: SourceRecord, place: int) -> list[Seconds | None]:
        """The part of a video that stands beside its path, where a file is an object."""
        for value in self._cells("video", record):
            parts = value if isinstance(value, list | tuple) else [value]
            part = parts[place] if place < len(parts) else None
            if isinstance(part, Mapping):
                return [read_seconds(part.get(name)) for name in ("start", "end")]
        return [None, None]

    def _evidence(self, record: SourceRecord, media: Sequence[Media]) -> tuple[Span, ...]:
        values = self._cells("evidence", record)
        value = values[0] if len(values) == 1 else values
        try:
            spans = () if all(map(is_blank, values)) else read_spans(value)
        except ValueError:
            self.notes["evidence that is no span of time is left out"] += 1
            return ()
        inside = [
            span
            for span in spans
            if any(span[0] >= (m.start or 0) and (m.end is None or span[1] <= m.end) for m in media)
        ]
        if len(inside) < len(spans):
            self.notes["evidence outside of the part of the video is left out"] += 1
        return tuple(inside)

    def _tags(self, record: SourceRecord) -> dict[str, Any]:
        tags: dict[str, Any] = {}
        for name, source in self.mapping.tags.items():
            value = whole_data(cell(source, record))
            if isinstance(value, str) and isinstance(literal := literal_of(value), list):
                value = literal
            parts = value if isinstance(value, list | tuple) else [value]
            texts = list(dict.fromkeys(text for part in parts if (text := text_of(part))))
            if texts:
                tags[name] = texts if isinstance(value, list | tuple) else texts[0]
        for name, text in self.mapping.constants.items():
            if name.startswith("tags."):
                tags[name.removeprefix("tags.")] = text
        return tags

    def _answer(
        self, record: SourceRecord, options: OptionList | None
    ) -> tuple[Kind, tuple[str, ...], tuple[str, ...], str | None]:
        """Kind, options, letters and reference of a row."""
        named, value = self._named_kind(record), self._cell("answer", record)
        reference = whole_text(text_of(self._cell("reference", record))) or None
        if options is None or named == "open":
            return self._without_options(named, value, reference)
        if is_blank(value) and reference:
            value = reference
        letters = self._letters(value, options)
        if reference:
            self._compare(options, letters, reference)
        if named:
            return named, options.texts, letters, reference
        words = sorted(text.strip(" .").casefold() for text in options.texts)
        kind: Kind = "yesno" if words in (["no", "yes"], ["false", "true"]) else "single"
        return "multi" if len(letters) > 1 else kind, options.texts, letters, reference

    def _compare(self, options: OptionList, letters: Sequence[str], reference: str) -> None:
        """Raise where the answer in words is the text of another option than the answer."""
        others = letters_or_none(reference, options, "text")
        if others and len(others) == 1 and not set(others) & set(letters):
            named = " and ".join(letters)
            raise ValueError(f"the answer is {named}, but {shown(reference)} is option {others[0]}")

    def _letters(self, value: Any, options: OptionList) -> tuple[str, ...]:
        form: AnswerForm = self.reading.form if self.reading else "letter"
        try:
            return read_answer(value, options, form)
        except ValueError as error:
            letters = () if form == "text" else letters_or_none(value, options, "text") or ()
            if len(letters) != 1:
                raise
            # A single sign, or a number, may be a slip of the key.
            if len(text_of(value)) < 2 or text_of(value).isdecimal():
                raise ValueError(f"{error}; it is the text of option {letters[0]}") from None
            self.notes["the answer is the text of an option, unlike in most rows"] += 1
            return letters

    def _without_options(
        self, named: Kind | None, value: Any, reference: str | None
    ) -> tuple[Kind, tuple[str, ...], tuple[str, ...], str | None]:
        if named != "open" and (found := yes_no(value)):
            return "yesno", found[0], (found[1],), reference
        if named == "yesno" and text_of(value) in ("0", "1"):
            return "yesno", ("Yes", "No"), ("A" if text_of(value) == "1" else "B",), reference
        if named and named != "open":
            raise ValueError(f"no options, which a question of kind {named} needs")
        literal = literal_of(value) if isinstance(value, str) else value
        if isinstance(literal, list | tuple):
            value = "; ".join(filter(None, map(text_of, literal)))
        answer = reference or whole_text(text_of(value))
        if not answer:
            raise ValueError("neither options nor an answer")
        return "open", (), (), answer

    def _named_kind(self, record: SourceRecord) -> Kind | None:
        if self.mapping.kind:
            return self.mapping.kind  # type: ignore[return-value]
        if not self.mapping.kind_column:
            return None
        value = text_of(cell(self.mapping.kind_column, record))
        if value not in self.mapping.kind_values and OTHERS in self.mapping.kind_values:
            value = OTHERS
        if value not in self.mapping.kind_values:
            known = ", ".join(self.mapping.kind_values)
            raise ValueError(f"the kind {shown(value)} is none of {known}")
        return self.mapping.kind_values[value]  # type: ignore[return-value]


def _holds_nothing(value: Any) -> bool:
    """Whether a cell for options is blank, as are an object and a list of blank options."""
    parts = value.values() if isinstance(value, Mapping) else value
    return is_blank(value) or (isinstance(value, Mapping | list) and all(map(is_blank, parts)))


def options_of_columns(names: Sequence[str], values: Sequence[Any]) -> OptionList:
    """Return the options that stand in columns of their own, labelled as the columns are."""
    texts = ["" if is_blank(value) else text_of(value) for value in values]
    filled = [text for text in texts if text]
    pairs = [label_of(text) for text in filled]
    if len(filled) > 1 and [label for label, _ in pairs] == list(LETTERS[: len(filled)]):
        texts = [rest for _, rest in pairs]  # "A. dog" in the column of A
    ends = [re.search(rf"(\d+|[A-Za-z{OTHER_LETTERS}])$", name) for name in names]
    labels = tuple(end[1] if end else "" for end in ends)
    if len(set(labels)) < len(labels):  # the i of i, ii and iii
        labels = tuple(map(last_word, names))
    return checked_options(OptionList(tuple(texts), labels if all(labels) else (), tuple(names)))


def checked_item(item: Item) -> Item:
    """Return an item that a benchmark may hold; raise ``ValueError`` with all that is wrong."""
    _, problems = item_from_line(item.to_line().encode())
    faults = [p for p in problems if not p.is_warning]
    if faults:
        raise ValueError(
            "; ".join(f"{p.field}: found {p.found}, expected {p.expected}" for p in faults)
        )
    return item


def tag_values(items: Sequence[Item]) -> Mapping[str, tuple[str, ...]]:
    """Return the values of each tag that items have, sorted."""
    found: dict[str, set[str]] = {}
    for item in items:
        for name in item.tags:
            found.setdefault(name, set()).update(item.tag(name))
    return {name: tuple(sorted(values)) for name, values in found.items()}
