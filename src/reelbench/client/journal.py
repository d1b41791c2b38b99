"""The journal: every response that was paid for, on disk before it is acknowledged.

Append-only SQLite. A key may have failures, and then one reply; only a reply is ever served
again. A reply that was asked for without a seed, as by earlier versions, is also served where the
same request would now carry one, and the other way round: it is a draw like any other. Each row
carries a checksum, so that damage is found and named instead of scored.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reelbench.base.durable import checksum, damaged, open_durable, open_in_memory
from reelbench.base.files import json_line, whole_text
from reelbench.base.limits import MOST_TOKENS, decode_json
from reelbench.models.base import REPLIED, Response
from reelbench.models.seeds import seed_in, without_seed

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

# Sums of what a server may have said: one that is no count is cut, or it would be too much to add.
_TAKEN = """
SELECT model, COUNT(*),
    SUM(MIN(json_extract(body, '$.input_tokens'), :most)),
    SUM(MIN(json_extract(body, '$.output_tokens'), :most)),
    SUM(MIN(json_extract(body, '$.estimate[0]'), :most)),
    SUM(MIN(json_extract(body, '$.estimate[1]'), :most)),
    SUM(MIN(json_extract(body, '$.cached_tokens'), :most)),
    SUM(json_extract(body, '$.seconds')),
    json_extract(body, '$.estimate') IS NOT NULL AS guessed
FROM responses WHERE json_valid(body) GROUP BY model, guessed
"""

_FIRST = "ORDER BY key = :key DESC, number DESC LIMIT 1"


def _under(key: str) -> str:
    """Return the condition for what was asked under a key, or else as it would be otherwise.

    That is without its seed, or with whichever seed where it has none: "." is what follows "-".
    """
    if seed_in(key) is None:
        return "key >= :key AND key < :key || '.'"
    return "key IN (:key, :unseeded)"


def _keys(key: str) -> dict[str, Any]:
    return {"key": key, "unseeded": without_seed(key)}


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
        frames: Sequence[Sequence[float]] = (),
    ) -> None:
        """Write a response down; when this returns, it survives a crash of the machine.

        ``estimate`` is what it took by our count, where its server gave none; ``seconds`` is how
        long the call took, and ``frames`` are the times of the frames that were sent, by video.
        """
        used: dict[str, Any] = {
            "input_tokens": response.input_tokens,
            "output_tokens": response.output_tokens,
            "cached_tokens": response.cached_tokens,
            "estimate": estimate,
            "seconds": seconds,
            "frames": [[round(time, 3) for time in each] for each in frames] or None,
            "seed": seed_in(key),
        }
        texts = {"text": response.text, "error": response.error}
        fields = {name: text and whole_text(text) for name, text in texts.items()}
        body = json_line(
            fields | {name: count for name, count in used.items() if count is not None}
        )
        row = (key, model, response.status, body)
        with self._connection:
            self._connection.execute(
                "INSERT INTO responses (key, model, status, body, checksum) VALUES (?, ?, ?, ?, ?)",
                (*row, checksum(*row)),
            )

    def answer(self, key: str) -> Response | None:
        """Return the reply that was paid for, if there is one."""
        found = self._last(key, f"AND status IN {REPLIED}")
        # Older journals hold replies without a word as final.
        blank = found is not None and found.status == "ok" and not (found.text or "").strip()
        return None if blank else found

    def outcome(self, key: str) -> Response | None:
        """Return the answer to a request, or its latest failure."""
        return self.answer(key) or self._last(key, "")

    @property
    def last_number(self) -> int:
        """The number of the latest response; 0 where there is none. Later ones are higher."""
        number = self._connection.execute("SELECT MAX(number) FROM responses").fetchone()[0]
        return int(number or 0)

    def is_recorded_after(self, number: int, key: str) -> bool:
        """Whether a response under a key has a higher number."""
        query = f"SELECT 1 FROM responses WHERE {_under(key)} AND number > :number LIMIT 1"  # noqa: S608
        found = self._connection.execute(query, {**_keys(key), "number": number})
        return found.fetchone() is not None

    def taken(self) -> list[tuple[str, int, int, int, int | None, float, bool]]:
        """Return each model's calls, tokens in, out and cached, seconds, and whether by estimate.

        Cached tokens are None where no server has said how many there were.
        """
        rows = self._connection.execute(_TAKEN, {"most": MOST_TOKENS})
        return [
            (
                model,
                count,
                (taken or 0) + (more or 0),
                (given or 0) + (also or 0),
                cached,
                seconds or 0.0,
                bool(guessed),
            )
            for model, count, taken, given, more, also, cached, seconds, guessed in rows
        ]

    def taken_by(self, key: str) -> dict[str, float | None] | None:
        """Return the seconds, tokens and seed of the reply under a key; None where there is none.

        Tokens are by our count where the server gave none; cached ones are its own count.
        """
        row = self._connection.execute(
            "SELECT json_extract(body, '$.seconds'), json_extract(body, '$.seed'), "  # noqa: S608
            "json_extract(body, '$.cached_tokens'), "
            "json_extract(body, '$.input_tokens'), json_extract(body, '$.estimate[0]'), "
            "json_extract(body, '$.output_tokens'), json_extract(body, '$.estimate[1]') "
            f"FROM responses WHERE {_under(key)} AND status IN {REPLIED} AND json_valid(body) "
            f"{_FIRST}",
            _keys(key),
        ).fetchone()
        if row is None:
            return None
        seconds, seed, cached, *tokens = row
        pairs = {"input_tokens": tokens[:2], "output_tokens": tokens[2:]}
        counted = {
            name: None if count is None and guess is None else min(count or guess or 0, MOST_TOKENS)
            for name, (count, guess) in pairs.items()
        }
        return {"seconds": seconds, "seed": seed, **counted, "cached_tokens": cached}

    def frames_of(self, key: str) -> list[list[float]] | None:
        """Return the times of the frames that a reply was given for; None where nobody knows."""
        row = self._connection.execute(
            "SELECT json_extract(body, '$.frames') FROM responses "  # noqa: S608
            f"WHERE {_under(key)} AND status IN {REPLIED} AND json_valid(body) {_FIRST}",
            _keys(key),
        ).fetchone()
        return decode_json(row[0]) if row and row[0] else None

    def _last(self, key: str, condition: str) -> Response | None:
        row = self._connection.execute(
            "SELECT key, model, status, body, checksum FROM responses "  # noqa: S608
            f"WHERE {_under(key)} {condition} {_FIRST}",
            _keys(key),
        ).fetchone()
        if row is None:
            return None
        try:
            if checksum(*row[:4]) == row[4]:
                body = decode_json(row[3])
                for name in ("estimate", "seconds", "frames", "seed"):
                    body.pop(name, None)
                return Response(status=row[2], **body)
        except (TypeError, ValueError):
            pass  # a row that we did not write: named below
        raise damaged(self._path, f"the response {key[:12]} of {row[1]}")


@contextmanager
def open_journal(path: Path, reading: bool = False) -> Iterator[Journal]:
    """Open a journal for this process alone; or only to read what is there, if anything is."""
    nothing = reading and not path.exists()
    opened = open_in_memory(_SCHEMA) if nothing else open_durable(path, _SCHEMA, reading)
    with opened as connection:
        yield Journal(path, connection)
