"""The journal: every response that was paid for, on disk before it is acknowledged.

Append-only SQLite. A key may have failures, and then one ``ok``; only ``ok`` is ever served
again. Each row carries a checksum, so that damage is found and named instead of scored.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from reelbench.errors import ReelbenchError
from reelbench.files import json_line, whole_text
from reelbench.models.base import Response

_SCHEMA = """
CREATE TABLE IF NOT EXISTS responses (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    model TEXT NOT NULL,
    status TEXT NOT NULL,
    body TEXT NOT NULL,
    checksum TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS by_key ON responses (key);
"""

_TAKEN = """
SELECT model, COUNT(*),
    SUM(json_extract(body, '$.input_tokens')), SUM(json_extract(body, '$.output_tokens')),
    SUM(json_extract(body, '$.estimate[0]')), SUM(json_extract(body, '$.estimate[1]')),
    SUM(json_extract(body, '$.seconds')),
    json_extract(body, '$.estimate') IS NOT NULL AS guessed
FROM responses WHERE json_valid(body) GROUP BY model, guessed
"""


class Journal:
    """An open journal; make one with ``open_journal``."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    def record(
        self,
        key: str,
        model: str,
        response: Response,
        estimate: tuple[int, int] | None = None,
        seconds: float | None = None,
    ) -> None:
        """Write a response down; when this returns, it survives a crash of the machine.

        ``estimate`` is what it took by our count, where its server gave none; ``seconds`` is how
        long the call took.
        """
        used: dict[str, Any] = {
            "input_tokens": response.input_tokens,
            "output_tokens": response.output_tokens,
            "estimate": estimate,
            "seconds": seconds,
        }
        texts = {"text": response.text, "error": response.error}
        said = {name: text and whole_text(text) for name, text in texts.items()}
        body = json_line(said | {name: count for name, count in used.items() if count is not None})
        row = (key, model, response.status, body)
        with self._connection:
            self._connection.execute(
                "INSERT INTO responses (key, model, status, body, checksum) VALUES (?, ?, ?, ?, ?)",
                (*row, _checksum(*row)),
            )

    def answer(self, key: str) -> Response | None:
        """Return the paid answer to a request, if there is one."""
        return self._last(key, "AND status = 'ok'")

    def outcome(self, key: str) -> Response | None:
        """Return the answer to a request, or its latest failure."""
        return self.answer(key) or self._last(key, "")

    def taken(self) -> list[tuple[str, int, int, int, float, bool]]:
        """Return each model's calls, tokens in and out, seconds, and whether it is an estimate."""
        rows = self._connection.execute(_TAKEN)
        return [
            (
                model,
                count,
                (taken or 0) + (more or 0),
                (given or 0) + (also or 0),
                seconds or 0.0,
                bool(guessed),
            )
            for model, count, taken, given, more, also, seconds, guessed in rows
        ]

    def _last(self, key: str, condition: str) -> Response | None:
        row = self._connection.execute(
            "SELECT key, model, status, body, checksum FROM responses "  # noqa: S608
            f"WHERE key = ? {condition} ORDER BY number DESC LIMIT 1",
            (key,),
        ).fetchone()
        if row is None:
            return None
        try:
            if _checksum(*row[:4]) == row[4]:
                body = json.loads(row[3])
                for name in ("estimate", "seconds"):
                    body.pop(name, None)
                return Response(status=row[2], **body)
        except (TypeError, ValueError):
            pass  # a row that we did not write: named below
        raise ReelbenchError(
            f"{self._path}: the response {key[:12]} of {row[1]} is damaged (its checksum does not "
            "match). Restore the file from a copy, or move it away and run again."
        )


def _checksum(*fields: str) -> str:
    return hashlib.sha256("\x1f".join(fields).encode()).hexdigest()


@contextmanager
def open_journal(path: Path, reading: bool = False) -> Iterator[Journal]:
    """Open a journal for this process alone; or only to read what is in one that is there."""
    try:
        if reading:
            # Where all has been written into the file, nothing need be written to read it.
            behind = path.with_name(f"{path.name}-wal").exists()
            address = f"{path.resolve().as_uri()}?{'mode=ro' if behind else 'immutable=1'}"
            with closing(sqlite3.connect(address, uri=True, timeout=0.2)) as connection:
                connection.execute("SELECT COUNT(*) FROM responses")
                yield Journal(path, connection)
            return
        with closing(sqlite3.connect(path, timeout=0.2, check_same_thread=False)) as connection:
            # Held until closing: a second run on the same folder is told so at once.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.executescript(_SCHEMA)
            connection.execute("BEGIN IMMEDIATE")
            connection.commit()
            yield Journal(path, connection)
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
