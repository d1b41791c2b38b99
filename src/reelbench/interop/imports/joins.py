"""Rows whose parts stand in two files, and columns that follow from others by a table of values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from reelbench.base.progress import counted
from reelbench.interop.imports.cells import cell
from reelbench.interop.imports.mapping import OTHERS, Derived, ImportMapping, Join
from reelbench.interop.imports.values import is_blank, text_of
from reelbench.interop.records import RecordFile, SourceRecord, read_records

_VALUE = "value"  # the column of a partner that is no object


def with_more_columns(files: Sequence[RecordFile], mapping: ImportMapping) -> list[RecordFile]:
    """Return files with the columns that a mapping joins and derives."""
    join = mapping.join
    found = [joined(file, join) for file in files] if join else list(files)
    return [
        replace(file, records=tuple(with_derived(file.records, mapping.derived)))
        for file in found
    ]  # fmt: skip


def partners_of(path: Path, join: Join) -> list[Path]:
    """Return the other files of a join that lie beside a file, sorted."""
    beside = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
    return [p for p in beside if p != path and any(fnmatch(p.name, each) for each in join.files)]


def joined(file: RecordFile, join: Join) -> RecordFile:
    """Return a file whose rows have the columns of the other files; its own values win."""
    partners = partners_of(file.path, join)
    names = ", ".join(path.name for path in partners) or " or ".join(join.files)
    found: dict[str, Mapping[str, Any]] = {}
    problems = list(file.problems)
    for path in partners:
        other = _read_partner(path, join)
        problems += other.problems
        for record in other.records:
            found.setdefault(text_of(record.values.get(join.by)), record.values)
    matched = [record for record in file.records if _key(record, join) in found]
    rows = [
        replace(record, values=_merged(record.values, found.get(_key(record, join), {})))
        for record in (matched if partners and join.others == "skip" else file.records)
    ]
    notes = list(file.notes)
    if (missing := len(file.records) - len(matched)) and partners:
        end = "left out" if join.others == "skip" else "kept as they are"
        number = f"{missing:,} of {counted(len(file.records), 'row')}"
        notes.append(f"{file.path.name}: {number} not in {names}, {end}.")
    elif not partners and not any(join.column in r.values for r in file.records if join.column):
        notes.append(f"{file.path.name}: there is no {names} beside it, which has the answers.")
    columns = dict.fromkeys([*file.columns, *(name for row in rows for name in row.values)])
    return replace(
        file, columns=tuple(columns), records=tuple(rows), problems=tuple(problems),
        notes=tuple(notes),
    )  # fmt: skip


def _key(record: SourceRecord, join: Join) -> str:
    return text_of(record.values.get(join.by))


def _read_partner(path: Path, join: Join) -> RecordFile:
    """The rows of the other file: a table, or an object from the key to one value."""
    if not join.column:
        return read_records(path)
    other = read_records(path, f"{{{join.by}}}")
    rows = [
        replace(
            record, values={join.by: record.values[join.by], join.column: record.values[_VALUE]}
        )
        for record in other.records
        if _VALUE in record.values and join.by in record.values
    ]
    return replace(other, records=tuple(rows)) if rows else read_records(path)


def _merged(own: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {**other, **{name: value for name, value in own.items() if not is_blank(value)}}


def with_derived(
    records: Sequence[SourceRecord], derived: Mapping[str, Derived]
) -> list[SourceRecord]:
    """Return rows with more columns: what a table of values has for another column's value."""
    return [
        replace(
            record,
            values={**record.values, **{n: _derived(record, each) for n, each in derived.items()}},
        )
        for record in records
    ]


def _derived(record: SourceRecord, derived: Derived) -> str | None:
    value = text_of(cell(derived.column, record))
    return derived.values.get(value, derived.values.get(OTHERS))
