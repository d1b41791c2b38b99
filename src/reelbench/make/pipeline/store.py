"""The results of stages, kept under the hash of everything that decided them.

A second make finds them here; a change redoes the rows that it affects and what follows from them.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from reelbench.base.durable import RESULT_SCHEMA, ResultStore, damaged, open_durable, open_in_memory
from reelbench.base.files import digest_of, json_line, whole_text
from reelbench.data.item_rules import item_from_line
from reelbench.data.items import Item
from reelbench.make.pipeline.stage import Rejected

_SCHEMA = f"""{RESULT_SCHEMA}
CREATE TABLE IF NOT EXISTS texts (digest TEXT PRIMARY KEY, text TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class RowResult:
    """The result of a stage for one row: rows, or why it was rejected."""

    rows: Sequence[Any] = ()
    rejected: Rejected | None = None


class RowStore:
    """An open store; make one with ``open_store``."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path, self._connection = path, connection
        self._results = ResultStore(path, connection)

    def get(self, key: str, kind: type) -> RowResult | None:
        """Return the result kept under a key, with rows of type ``kind``, or None."""
        body = self._results.get(key)
        if body is None:
            return None
        if "rejected" in body:
            return RowResult(rejected=Rejected(**body["rejected"]))
        return RowResult([row_of(record, kind) for record in body["rows"]])

    def put(self, key: str, stage: str, result: RowResult) -> None:
        """Keep a result; when this returns, it survives a crash of the machine."""
        if result.rejected:
            body: Mapping[str, Any] = {"rejected": rejected_record(result.rejected)}
        else:
            body = {"rows": [record_of(row) for row in result.rows]}
        self._results.put(key, stage, body)

    def keep(self, text: str) -> str:
        """Store a text that many rows refer to; return its digest, for ``StageContext.kept``."""
        text = whole_text(text)
        digest = digest_of(text)
        with self._connection:
            self._connection.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest, text))
        return digest

    def kept(self, digest: str) -> str | None:
        """Return the text stored under a digest; None where there is none."""
        row = self._connection.execute("SELECT text FROM texts WHERE digest = ?", (digest,))
        found = row.fetchone()
        if found is not None and digest_of(found[0]) != digest:
            raise damaged(self._path, f"the text {digest[:12]}")
        return found and str(found[0])


@contextmanager
def open_store(path: Path) -> Iterator[RowStore]:
    """Open a store for this process alone."""
    with open_durable(path, _SCHEMA) as connection:
        yield RowStore(path, connection)


@contextmanager
def copied_store(path: Path) -> Iterator[RowStore]:
    """Open a copy of a store in memory: what is written to it is forgotten."""
    with open_in_memory(_SCHEMA) as connection:
        if path.exists():
            with open_durable(path, _SCHEMA, reading=True) as there:
                there.backup(connection)
        yield RowStore(path, connection)


def record_of(row: Any) -> Any:
    """Return a row as plain data."""
    return row.to_record() if isinstance(row, Item) else msgspec.to_builtins(row)


def row_of(record: Any, kind: type) -> Any:
    """Return the row of a type that ``record_of`` gave this record for."""
    if kind is not Item:
        return msgspec.convert(record, kind)
    item, _ = item_from_line(json_line(record).strip().encode())
    assert item is not None, "a stage gave an item that cannot be read back"
    return item


def rejected_record(rejected: Rejected) -> dict[str, Any]:
    """Return why a row was rejected as plain data."""
    record = {"reason": rejected.reason, "detail": rejected.detail, "words": list(rejected.words)}
    return {**record, **({"facts": dict(rejected.facts)} if rejected.facts else {})}
