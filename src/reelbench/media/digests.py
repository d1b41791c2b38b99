"""Hashes of media files, each computed once: a large video takes seconds to read."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Literal

from reelbench.base.cache import cache_folder
from reelbench.base.durable import prepared
from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of, digest_of_file

Identity = tuple[int, int, int, int, int]  # device, inode, size, time of writing, time of change
_RECENT = 2_000_000_000  # nanoseconds: within them, a file may change without a new time
_SCHEMA = """
CREATE TABLE IF NOT EXISTS {table} (
    device INTEGER, inode INTEGER, size INTEGER, written INTEGER, changed INTEGER, fact TEXT,
    PRIMARY KEY (device, inode)
)
"""


def identity_of(path: Path) -> Identity:
    """Return what identifies a file's content while it is not modified."""
    status = path.stat()
    return (
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )  # fmt: skip


def media_digest(path: Path) -> str:
    """Return the sha256 of a file, cached while the file is not modified."""
    return remembered("sha256", path, digest_of_file)


def folder_digest(folder: Path) -> str:
    """Return the hash of all files of a folder with their names; each is cached like media."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return digest_of([[file.relative_to(folder).as_posix(), media_digest(file)] for file in files])


def remembered(table: Literal["sha256", "seconds"], path: Path, find: Callable[[Path], str]) -> str:
    """Return ``find(path)``, cached while the file is not modified."""
    identity = identity_of(path)
    known = _lookup(table, identity)
    if known is not None:
        return known
    fact = find(path)
    if time.time_ns() - identity[-1] > _RECENT:
        _store(table, identity, fact)
    return fact


# A fork while another thread is within SQLite would leave the child waiting for that thread.
_fork_lock = threading.Lock()
os.register_at_fork(
    before=_fork_lock.acquire, after_in_parent=_fork_lock.release, after_in_child=_fork_lock.release
)


def _connect(table: str) -> sqlite3.Connection:
    connection = sqlite3.connect(cache_folder("digests") / "facts.sqlite", timeout=10)
    return prepared(connection, f"PRAGMA journal_mode = WAL; {_SCHEMA.format(table=table)};")


def _lookup(table: str, identity: Identity) -> str | None:
    question = (
        f"SELECT fact FROM {table} WHERE "  # noqa: S608 - a name of ours
        "device = ? AND inode = ? AND size = ? AND written = ? AND changed = ?"
    )
    try:
        with _fork_lock, closing(_connect(table)) as connection:
            row = connection.execute(question, identity).fetchone()
    except (sqlite3.Error, ReelbenchError):
        return None  # a memory that is lost, full or not allowed costs time, nothing else
    return str(row[0]) if row else None


def _store(table: str, identity: Identity, fact: str) -> None:
    try:
        with _fork_lock, closing(_connect(table)) as connection, connection:
            row = (*identity, fact)
            statement = f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608
            connection.execute(statement, row)
    except (sqlite3.Error, ReelbenchError):
        return  # as above
