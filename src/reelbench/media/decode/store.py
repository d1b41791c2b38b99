"""The frame store: an on-disk cache of decoded frames, shared by all processes of the user.

An entry is one file, named by the hash of all that decides its content, written to a temporary file
and renamed, with a checksum in its first line. What a killed process leaves is never read as an
entry, and an entry that does not match its checksum is deleted and made again.
"""

import functools
import hashlib
import json
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.cache import cache_limit, cache_path

_PARTIAL = ".partial-"
_ABANDONED = 3600  # seconds after which an unfinished file has no writer any more
_TOUCH_EVERY = 60  # seconds: use is remembered this finely
_LOOK_EVERY = 64  # entries written between two looks at the size of the whole


@dataclass(frozen=True, slots=True)
class Entry:
    """The value of one key: some facts, and pieces of binary data."""

    facts: dict[str, Any]
    pieces: tuple[bytes, ...]


class FrameStore:
    """A folder of entries with a size limit: the least recently used are removed first.

    Errors with its files are ignored: they only mean that something has to be decoded again.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self._limit = limit
        self._until_look = 0

    def get(self, key: str) -> Entry | None:
        """Return the entry of a key, or None; a damaged entry is removed."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        entry = _unpacked(data)
        if entry is None:
            _remove(path)
            return None
        self._touch(path)
        return entry

    def put(self, key: str, entry: Entry) -> None:
        """Store an entry."""
        path = self._path(key)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, _packed(entry))
        self._until_look -= 1
        if self._until_look < 0:
            self._until_look = _LOOK_EVERY
            self.trim()

    def trim(self) -> None:
        """Remove the least recently used entries until the store is well within its limit."""
        entries, total = [], 0
        for path in self.folder.glob("??/*"):
            try:
                status = path.stat()
            except OSError:
                continue  # another process trims as well
            if path.name.startswith(_PARTIAL):
                if abs(time.time() - status.st_mtime) > _ABANDONED:
                    _remove(path)
                continue
            entries.append((status.st_mtime, status.st_size, path))
            total += status.st_size
        if total <= self._limit:
            return
        for _, size, path in sorted(entries):
            _remove(path)
            total -= size
            if total <= 0.9 * self._limit:
                return

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key

    def _touch(self, path: Path) -> None:
        with suppress(OSError):  # removed by another process, or a store that may only be read
            if abs(time.time() - path.stat().st_mtime) > _TOUCH_EVERY:
                os.utime(path)


def default_store() -> FrameStore:
    """Return the frame store in the user's cache."""
    return _store_at(cache_path("frames"), cache_limit())


@functools.cache
def _store_at(folder: Path, limit: int) -> FrameStore:
    return FrameStore(folder, limit)


def _remove(path: Path) -> None:
    with suppress(OSError):  # gone already, or not ours to remove
        path.unlink()


def _write(path: Path, data: bytes) -> None:
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=_PARTIAL)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)  # not forced to the disk: half an entry is found by its checksum
        os.replace(partial, path)
    except BaseException:
        _remove(Path(partial))
        raise


def _packed(entry: Entry) -> bytes:
    payload = b"".join(entry.pieces)
    head = {
        "facts": entry.facts,
        "lengths": [len(piece) for piece in entry.pieces],
        "sha256": hashlib.sha256(payload).hexdigest(),
    }
    # A line of its own for the head's checksum: damage can be there as well.
    line = json.dumps(head, sort_keys=True).encode()
    return hashlib.sha256(line).hexdigest().encode() + b"\n" + line + b"\n" + payload


def _unpacked(data: bytes) -> Entry | None:
    checksum, _, rest = data.partition(b"\n")
    line, _, payload = rest.partition(b"\n")
    if hashlib.sha256(line).hexdigest().encode() != checksum:
        return None
    head = json.loads(line)
    if hashlib.sha256(payload).hexdigest() != head["sha256"]:
        return None
    pieces, begin = [], 0
    for length in head["lengths"]:
        pieces.append(payload[begin : begin + length])
        begin += length
    return Entry(head["facts"], tuple(pieces))
