"""SQLite files: what was written survives a crash, and damage is detected and reported."""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import json_line
from reelbench.base.limits import decode_json


def checksum(*fields: str) -> str:
    """Return the checksum that is stored with a row, by which damage to it is detected."""
    return hashlib.sha256("\x1f".join(fields).encode()).hexdigest()


def damaged(path: Path, what: str) -> ReelbenchError:
    """Return the error for a row whose checksum does not match."""
    return ReelbenchError(
        f"{path}: {what} is damaged (its checksum does not match). Restore the file from a copy, "
        "or move it away and run again."
    )


@contextmanager
def open_durable(path: Path, schema: str, reading: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file: exclusively for this process, or with ``reading`` only to read it."""
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
    """Open an empty database in memory, in place of a file that does not exist."""
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as connection:
        connection.executescript(schema)
        yield connection


def _writer(path: Path, schema: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=0.2, check_same_thread=False)
    # Locked until it is closed: a second run on the same folder fails at once.
    modes = "locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL"
    pragmas = "".join(f"PRAGMA {mode};" for mode in modes)
    return prepared(connection, f"{pragmas}{schema};BEGIN IMMEDIATE; COMMIT;")


def prepared(connection: sqlite3.Connection, script: str) -> sqlite3.Connection:
    """Run a script on a connection and return it; it is closed where that fails."""
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
    """JSON values under keys, each the hash of everything that decides the value."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path, self._connection = path, connection

    def get(self, key: str) -> Any | None:
        """Return the value of a key; None where there is none."""
        row = self._connection.execute(
            "SELECT key, maker, body, checksum FROM results WHERE key = ?", (key,)
        ).fetchone()
        if row is None:
            return None
        if checksum(*row[:3]) != row[3]:
            raise damaged(self._path, f"the result {key[:12]} of {row[1]}")
        return decode_json(row[2])

    def put(self, key: str, maker: str, value: Any, replaced: Sequence[str] = ()) -> None:
        """Store a value; when this returns, it survives a crash of the machine.

        The values under the keys ``replaced`` are removed.
        """
        row = (key, maker, json_line(value))
        with self._connection:
            self._connection.executemany(
                "DELETE FROM results WHERE key = ?", [(each,) for each in replaced]
            )
            self._connection.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", (*row, checksum(*row))
            )


@contextmanager
def open_result_store(path: Path) -> Iterator[ResultStore]:
    """Open a result store exclusively for this process."""
    with open_durable(path, RESULT_SCHEMA) as connection:
        yield ResultStore(path, connection)
