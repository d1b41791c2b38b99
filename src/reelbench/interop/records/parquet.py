"""Parquet files, row by row; bytes such as pictures and videos are left where they are."""

import datetime
import decimal
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from reelbench.base.extras import install_command
from reelbench.base.limits import MOST_TABLE
from reelbench.data.items import shown
from reelbench.interop.records.record import Found, SourceRecord, UnreadableError

PARQUET = b"PAR1"
_MOST_DECODED = 2 * MOST_TABLE
_BATCH = 256
_MOST_TEXT_BYTES = 4096  # of bytes that may be text: larger ones are media


def read_parquet(source: Path | Any, file: str) -> Found:
    """Return the records of a Parquet file; bytes that are no text are None."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        expected = f"pyarrow, which reads it: {install_command('parquet')}"
        raise UnreadableError("a Parquet file", expected) from None
    try:
        with parquet.ParquetFile(source) as table:
            return _read(table, file)
    except (ArrowException, OSError, ValueError) as error:
        found = f"broken Parquet ({shown(str(error), 120)})"
        raise UnreadableError(found, "a whole file") from None


def _read(table: Any, file: str) -> Found:
    columns = tuple(map(str, table.schema_arrow.names))
    large = _large_bytes(table)
    wanted = [name for name in _leaves(table) if name not in large]
    emptied = [name.split(".")[0] for name in large]
    return rows_in(table.iter_batches(_BATCH, columns=wanted), columns, file, emptied)


def rows_in(
    batches: Iterable[Any], columns: Sequence[str], file: str, emptied: Iterable[str] = ()
) -> Found:
    """Return the records of batches of rows; ``emptied`` are columns that were left out before."""
    plain = _PlainValues(emptied)
    records: list[SourceRecord] = []
    for batch in batches:
        for row in batch.to_pylist():
            values = {name: plain.of(row.get(name), name) for name in columns}
            records.append(SourceRecord(values, file, len(records) + 1))
        if plain.size > _MOST_DECODED:
            found = f"rows of more than {_MOST_DECODED >> 20} MiB"
            raise UnreadableError(found, "a smaller file, such as one of its parts")
    notes = []
    if plain.emptied:
        names = ", ".join(map(shown, sorted(plain.emptied)))
        notes.append(f"Bytes such as pictures and videos were left out, in {names}.")
    return Found(records, (), notes, tuple(columns))


def _leaves(table: Any) -> list[str]:
    return [table.schema.column(place).path for place in range(len(table.schema.names))]


def _large_bytes(table: Any) -> set[str]:
    """The columns of bytes that are too large on average to be text."""
    about = table.metadata
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    large = set()
    for place, name in enumerate(_leaves(table)):
        kind = table.schema.column(place)
        if kind.physical_type == "BYTE_ARRAY" and str(kind.logical_type) == "None":
            size = sum(group.column(place).total_uncompressed_size for group in groups)
            if size > _MOST_TEXT_BYTES * max(1, about.num_rows):
                large.add(name)
    return large


class _PlainValues:
    """Makes values such as JSON has them: times as text, bytes as text or None."""

    def __init__(self, emptied: Iterable[str]) -> None:
        self.emptied = set(emptied)  # columns without their bytes
        self.size = 0  # of all values so far, roughly

    def of(self, value: Any, column: str) -> Any:
        """Return a value as plain data."""
        self.size += 8
        if isinstance(value, str):
            self.size += len(value)
            return value
        if isinstance(value, bytes):
            return self._text(value, column)
        if isinstance(value, dict):
            return {str(k): self.of(v, column) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.of(each, column) for each in value]
        return _scalar(value)

    def _text(self, value: bytes, column: str) -> str | None:
        try:
            text = value.decode()
        except UnicodeDecodeError:
            text = "\0"
        if "\0" not in text and len(value) <= _MOST_TEXT_BYTES:
            return text
        self.emptied.add(column)
        return None


def _scalar(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value
