"""SQLite files in which what is acknowledged survives a crash, and damage is found and named."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import json_line
from reelbench.base.limits import decode_json


def checksum(*fields: str) -> str:
    """Return what a row carries so that damage to it is found."""
    return hashlib.sha256("\x1f".join(fields).encode()).hexdigest()


def damaged(path: Path, what: str) -> ReelbenchError:
    """Say that a row is not as it was written."""
    return ReelbenchError(
        f"{path}: {what} is damaged (its checksum does not match). Restore the file from a copy, "
        "or move it away and run again."
    )


@contextmanager
def open_durable(path: Path, schema: str, reading: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a file for this process alone; or only to read what is in one that is there."""
    try:
        with closing(_reader(path) if reading else _writer(path, schema)) as connection:
            yield connection
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise ReelbenchError(
                f"{path} is in use: another run writes to this folder. Wait for it, or name "
                "another folder with --out."
            ) from error
        raise ReelbenchError(f"{path} cannot be written: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise ReelbenchError(
            f"{path} is damaged ({error}). Restore it from a copy, or move it away and run again."
        ) from error


def _reader(path: Path) -> sqlite3.Connection:
    # Where all has been written into the file, nothing need be written to read it.
    behind = path.with_name(f"{path.name}-wal").exists()
    address = f"{path.resolve().as_uri()}?{'mode=ro' if behind else 'immutable=1'}"
    connection = sqlite3.connect(address, uri=True, timeout=0.2)
    return prepared(connection, "SELECT COUNT(*) FROM sqlite_schema;")


@contextmanager
def open_in_memory(schema: str) -> Iterator[sqlite3.Connection]:
    """Stand in for a file that is not there: empty, and in memory alone."""
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as connection:
        connection.executescript(schema)
        yield connection


def _writer(path: Path, schema: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=0.2, check_same_thread=False)
    # Held until closing: a second run on the same folder is told so at once.
    modes = "locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL"
    pragmas = "".join(f"PRAGMA {mode};" for mode in modes)
    return prepared(connection, f"{pragmas}{schema};BEGIN IMMEDIATE; COMMIT;")


def prepared(connection: sqlite3.Connection, script: str) -> sqlite3.Connection:
    """Return a connection on which a script has run; it is closed where that fails."""
    try:
        connection.executescript(script)
    except BaseException:
        connection.close()
        raise
    return connection


RESULT_SCHEMA = """
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY, maker TEXT NOT NULL, body TEXT NOT NULL, checksum TEXT NOT NULL
);
"""


class ResultStore:
    """JSON values under keys: the hash of all that decided a value is where it is found again."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path, self._connection = path, connection

    def get(self, key: str) -> Any | None:
        """Return what lies under a key."""
        row = self._connection.execute(
            "SELECT key, maker, body, checksum FROM results WHERE key = ?", (key,)
        ).fetchone()
        if row is None:
            return None
        if checksum(*row[:3]) != row[3]:
            raise damaged(self._path, f"the result {key[:12]} of {row[1]}")
        return decode_json(row[2])

    def put(self, key: str, maker: str, value: Any) -> None:
        """Keep a value; when this returns, it survives a crash of the machine."""
        row = (key, maker, json_line(value))
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", (*row, checksum(*row))
            )


@contextmanager
def open_result_store(path: Path) -> Iterator[ResultStore]:
    """Open a shelf for this process alone."""
    with open_durable(path, RESULT_SCHEMA) as connection:
        yield ResultStore(path, connection)
