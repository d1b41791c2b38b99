"""A row of anyone's file, and the file it is from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.data.items import Problem


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """One row of a file: its values by column, and where it stands."""

    values: Mapping[str, Any]
    file: str  # the path as it was named; with "#sheet" for a spreadsheet
    line: int  # from 1 on: the line, or the row where a file has no lines


@dataclass(frozen=True, slots=True)
class RecordFile:
    """The rows of a file, and what is wrong with those that could not be read."""

    path: Path
    form: str  # csv, tsv, excel, json, jsonl, parquet or arrow; "" where the file cannot be read
    columns: tuple[str, ...]  # of all rows, in the order in which they appear
    records: tuple[SourceRecord, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()  # choices that were made while reading, as sentences


@dataclass(frozen=True, slots=True)
class Found:
    """What a reader of one form found in a file."""

    records: Sequence[SourceRecord] = ()
    problems: Sequence[Problem] = ()
    notes: Sequence[str] = ()
    columns: Sequence[str] = ()  # where the file names them itself


class UnreadableError(Exception):
    """A file that cannot be read at all: what was found, what was expected, and the line."""

    def __init__(self, found: str, expected: str, line: int = 0) -> None:
        super().__init__(found, expected, line)
        self.found, self.expected, self.line = found, expected, line

    def problem(self, path: Path) -> Problem:
        """Return the problem of the file that this error is about."""
        return Problem("UNREADABLE", "file", self.found, self.expected, str(path), self.line)


def columns_of(records: Sequence[SourceRecord]) -> tuple[str, ...]:
    """Return the names of all columns in the order in which they appear."""
    return tuple(dict.fromkeys(_names(records)))


def _names(records: Sequence[SourceRecord]) -> Iterator[str]:
    for record in records:
        yield from record.values
