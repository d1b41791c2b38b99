"""Rows with several questions each, such as ``question 1``, ``A1``, ``answer 1``, ``question 2``.

Each question becomes a row of its own under the names without their numbers, so that an option of
one question is never taken for one of another.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reelbench.base.progress import counted
from reelbench.interop.imports import column_names as names
from reelbench.interop.imports.column_names import name_key
from reelbench.interop.imports.mapping import columns_in
from reelbench.interop.imports.values import is_blank
from reelbench.interop.records import RecordFile, SourceRecord

_BEFORE = re.compile(
    r"(?:q|qa|question|frage|pregunta|问题)?[\s_.-]*(\d{1,2})[\s_.:)-]+(\S.*)", re.I
)
_BEHIND = re.compile(r"(?<!\d)(\d{1,2})[)\]]?$")


@dataclass(frozen=True, slots=True)
class WideColumns:
    """The columns of each question of a row by their names without numbers, and the others."""

    by_question: tuple[Mapping[str, str], ...]
    shared: tuple[str, ...]


def one_question_a_row(
    files: Sequence[RecordFile], named: Iterable[str]
) -> tuple[list[RecordFile], list[str]]:
    """Return files in which each question has a row of its own, and a sentence where that is new.

    Nothing is changed where a numbered column is among those that a person has named.
    """
    parts = {column for source in named for column in _columns(source)}
    changed, notes = [], []
    for file in files:
        wide = wide_columns(file.columns)
        if wide is None or parts & {name for each in wide.by_question for name in each.values()}:
            changed.append(file)
            continue
        records = [row for record in file.records for row in _split(record, wide)]
        columns = (*wide.shared, *wide.by_question[0])
        changed.append(replace(file, records=tuple(records), columns=columns))
        asked = [next(iter(each.values())) for each in wide.by_question]
        notes.append(
            f"{file.path.name}: each row has {counted(len(asked), 'question')} "
            f"({', '.join(map(repr, asked))}), which became rows of their own: {len(records):,}."
        )
    return changed, notes


def wide_columns(columns: Sequence[str]) -> WideColumns | None:
    """Return the columns of each of several questions in a row; None where a row asks one."""
    groups: dict[int, dict[str, str]] = {}
    for column in columns:
        stem, number = _numbered(column)
        if stem and stem not in groups.get(number, {}):
            groups.setdefault(number, {})[stem] = column
    asking = sorted(n for n, stems in groups.items() if any(map(_asks, stems)))
    if len(asking) < 2 or asking != list(range(asking[0], asking[0] + len(asking))):
        return None
    stems = sorted(groups[asking[0]], key=lambda stem: not _asks(stem))
    same = all(set(groups[n]) == set(stems) for n in asking)
    beyond = any(set(stems) & set(groups[n]) for n in set(groups) - set(asking))
    if not same or beyond or sum(map(_asks, stems)) != 1 or not any(map(_answers, stems)):
        return None
    by_question = tuple({stem: groups[n][stem] for stem in stems} for n in asking)
    used = {name for each in by_question for name in each.values()}
    shared = tuple(name for name in columns if name not in used)
    return None if set(shared) & set(stems) else WideColumns(by_question, shared)


def _numbered(column: str) -> tuple[str, int]:
    """The name of a column without the number of its question, and that; "" without one."""
    name = column.strip()
    if found := _BEFORE.fullmatch(name):
        return found[2].strip(), int(found[1])
    if found := _BEHIND.search(name, max(0, len(name) - 3)):
        return name[: found.start()].rstrip(" \t\u00a0_.-[("), int(found[1])
    return "", 0


def _asks(stem: str) -> bool:
    return name_key(stem) in names.QUESTION


def _answers(stem: str) -> bool:
    key = name_key(stem)
    return (key in names.ANSWER and len(key) > 1) or names.RIGHT.search(key) is not None


def _split(record: SourceRecord, wide: WideColumns) -> Iterator[SourceRecord]:
    shared = {name: record.values.get(name) for name in wide.shared}
    for each in wide.by_question:
        own = {stem: record.values.get(column) for stem, column in each.items()}
        if not all(map(is_blank, own.values())):
            yield replace(record, values={**shared, **own})


def _columns(source: Any) -> list[str]:
    """The columns that a setting or a mapping names."""
    if not isinstance(source, str | list | tuple):
        return []
    parts = [source] if isinstance(source, str) else map(str, source)
    return [name for part in parts for name in columns_in(part)]
