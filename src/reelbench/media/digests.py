"""Hashes of media files, each computed once: a large video takes seconds to read."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from reelbench.cache import cache_folder
from reelbench.files import digest_of_file

_RECENT = (
    2_000_000_000  # nanoseconds: a file this young may yet change within one tick of its clock
)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS digests (
    device INTEGER, inode INTEGER, size INTEGER, modified INTEGER, digest TEXT,
    PRIMARY KEY (device, inode)
)
"""


def media_digest(path: Path) -> str:
    """Return the sha256 of a file, remembered while its place, size and time of change stay."""
    status = path.stat()
    identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    known = _recall(identity)
    if known:
        return known
    digest = digest_of_file(path)
    if time.time_ns() - status.st_mtime_ns > _RECENT:
        _remember(identity, digest)
    return digest


def _connect() -> sqlite3.Connection:
    connection = sqlite3.connect(cache_folder("digests") / "digests.sqlite", timeout=10)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(_SCHEMA)
    return connection


def _recall(identity: tuple[int, int, int, int]) -> str | None:
    question = (
        "SELECT digest FROM digests WHERE device = ? AND inode = ? AND size = ? AND modified = ?"
    )
    try:
        with closing(_connect()) as connection:
            row = connection.execute(question, identity).fetchone()
    except sqlite3.Error:
        return None  # a memory that is lost or full costs time, nothing else
    return str(row[0]) if row else None


def _remember(identity: tuple[int, int, int, int], digest: str) -> None:
    try:
        with closing(_connect()) as connection, connection:
            row = (*identity, digest)
            connection.execute("INSERT OR REPLACE INTO digests VALUES (?, ?, ?, ?, ?)", row)
    except sqlite3.Error:
        return  # as above
