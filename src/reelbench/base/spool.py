"""Lines that come in any order and are read in order, on disk instead of in memory."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from reelbench.base.files import partial_file

_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE lines (number INTEGER PRIMARY KEY, line TEXT NOT NULL);
BEGIN;
"""


class LineSpool:
    """Numbered lines; make one with ``open_spool``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def put(self, number: int, line: str) -> None:
        """Keep a line under its number."""
        self._connection.execute("INSERT INTO lines VALUES (?, ?)", (number, line))

    def __iter__(self) -> Iterator[str]:
        """Yield the lines by their numbers."""
        for (line,) in self._connection.execute("SELECT line FROM lines ORDER BY number"):
            yield line


@contextmanager
def open_spool(folder: Path) -> Iterator[LineSpool]:
    """Open an empty spool in a file of the folder, which is removed in the end."""
    with (
        partial_file(folder) as (_, name),
        closing(sqlite3.connect(name, check_same_thread=False)) as connection,
    ):
        connection.executescript(_SCHEMA)
        yield LineSpool(connection)
