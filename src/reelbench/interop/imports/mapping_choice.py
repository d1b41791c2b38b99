"""Which mapping a source is read by, and what each of its columns is then taken for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import NOTHING, freeze, shown
from reelbench.interop.imports.answers import AnswerReading
from reelbench.interop.imports.mapping import ImportMapping, check_columns, several
from reelbench.interop.imports.media_index import index_folder
from reelbench.interop.imports.overrides import with_settings
from reelbench.interop.imports.profile import looks_like_a_row
from reelbench.interop.imports.recognise import recognise
from reelbench.interop.imports.recogniser import ColumnUse
from reelbench.interop.imports.sources import ImportSource
from reelbench.interop.imports.values import text_of
from reelbench.interop.records import SourceRecord
from reelbench.score.rounding import percent


def mapping_for(
    records: Sequence[SourceRecord],
    columns: Sequence[str],
    given: ImportMapping | None,
    read: ImportSource,
    settings: Mapping[str, Any],
    media: Path | None = None,
) -> tuple[ImportMapping, list[ColumnUse]]:
    """Return the mapping to use, and what each column is taken for.

    Where no column is like a video's, one whose values are the names of files in ``media`` is.
    """
    if given is None and not settings and looks_like_a_row(columns):
        raise ReelbenchError(
            f"{read.path}: its names of columns ({', '.join(map(shown, columns[:4]))}, ...) look "
            "like a row: put a first line with names into the file, such as "
            "video,question,A,B,C,D,answer."
        )
    if given is None:
        fixed = with_settings(read.mapping or ImportMapping(), settings)
        check_columns(fixed, columns, str(read.path))
        chosen, uses = recognise(records, columns, fixed)
        if media and media.is_dir() and not {"video"} & {*chosen.fields, *chosen.constants}:
            taken = {use.column for use in uses if use.field.partition(" ")[0] not in _FREE}
            free = [column for column in columns if column not in taken]
            if found := _names_files(records, free, media):
                column, why = found
                chosen, uses = recognise(records, columns, with_settings(fixed, {"video": column}))
                uses = [replace(use, why=why) if use.column == column else use for use in uses]
    else:
        chosen = with_settings(given, settings)
        chosen = replace(chosen, tags=freeze({**read.tags, **chosen.tags}))
        if chosen.name:  # a published form, of which a file need not have every column
            chosen = chosen.without_missing(columns)
        check_columns(chosen, columns, str(read.path))
        uses = list(_uses_of(chosen, columns, records))
    for name, hint in (("question", "question=COLUMN"), ("video", "video=COLUMN")):
        if name not in chosen.fields and name not in chosen.constants:
            raise ReelbenchError(
                f"{read.path}: no column was found for the {name} of the items. Say which it is "
                f"with --set {hint}; the columns: {', '.join(map(shown, columns))}."
                + (_NESTED if any(_is_nested(record) for record in records[:50]) else "")
            )
    return chosen, uses


def _names_files(
    records: Sequence[SourceRecord], columns: Sequence[str], media: Path
) -> tuple[str, str] | None:
    """Return the column whose values are names of files in a folder, and how many are."""
    files = index_folder(media).files
    shares: dict[str, float] = {}
    for column in columns:
        texts = {text for r in records if (text := text_of(r.values.get(column)))}
        named = sum(bool(files.of_other_kinds(text)) for text in texts)
        shares[column] = named / len(texts) if texts else 0.0
    best = max(shares, key=lambda column: shares[column], default="")
    if not best or shares[best] < _LEAST_NAMED:
        return None
    return best, f"{percent(shares[best], 0)} of its values are names of files in {media}"


_FREE = ("", "id", "tag")  # what a column may be taken for that has the names of videos
_LEAST_NAMED = 0.5  # share of a column's values
_NESTED = " Rows may lie deeper in the file: say where with --rows, such as data/[]/questions/[]."


def _is_nested(record: SourceRecord) -> bool:
    values = [v[0] if isinstance(v, list) and v else v for v in record.values.values()]
    return any(isinstance(value, Mapping) for value in values)


def with_needed_columns(mapping: ImportMapping, columns: Sequence[str]) -> ImportMapping:
    """Return a mapping that was found with the columns by which its files are known again."""
    if mapping.columns:
        return mapping
    named = replace(mapping, tags=NOTHING).named_columns()
    known = dict.fromkeys(name if name in columns else name.partition(".")[0] for name in named)
    return replace(mapping, columns=tuple(name for name in known if name in columns))


def _uses_of(
    mapping: ImportMapping, columns: Sequence[str], records: Sequence[SourceRecord]
) -> Iterator[ColumnUse]:
    """What each column is by a mapping that was written down."""
    uses: dict[str, list[str]] = {}
    sources = [(n, part) for n, s in mapping.fields.items() for part in several(s)]
    sources += [(f"tag {name}", source) for name, source in mapping.tags.items()]
    sources += [("kind", mapping.kind_column)] if mapping.kind_column else []
    for name, source in sources:
        for column in replace(
            mapping, fields={name: source}, tags=NOTHING, kind_column=""
        ).named_columns():
            if name not in uses.setdefault(column, []):
                uses[column].append(name)
    why = f"the form {mapping.name}" if mapping.name else "the mapping"
    for column in columns:
        example = next((text for r in records[:50] if (text := text_of(r.values.get(column)))), "")
        found = ", ".join(uses.get(column, ()))
        yield ColumnUse(column, found, why if found else "left out", shown(example, 40))


def with_evidence(
    uses: Sequence[ColumnUse], mapping: ImportMapping, reading: AnswerReading | None
) -> list[ColumnUse]:
    """What columns are taken for, with how answers are read beside the column that has them."""
    column = mapping.fields.get("answer")
    if reading is None or not isinstance(column, str):
        return list(uses)
    return [
        replace(
            use, field=f"{use.field} as {mapping.answer_as}", why=f"{use.why}: {reading.evidence}"
        )
        if use.column == column
        else use
        for use in uses
    ]


def doubts_about(reading: AnswerReading | None, mapping: ImportMapping) -> Iterator[str]:
    """Yield a sentence for what can be read in two ways, with what decides it."""
    if reading and reading.doubt:
        column = mapping.fields.get("answer", "answer")
        others = "letter, index, index1 or text"
        yield (
            f"The answers in {shown(str(column))}: {reading.doubt}. --set answer_as=... decides "
            f"({others}), or the line `answer_as:` of a mapping."
        )
