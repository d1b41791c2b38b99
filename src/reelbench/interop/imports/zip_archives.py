"""Zip archives, those in parts included, where offsets are counted from the start of each part."""

import io
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from reelbench.interop.imports.archive_parts import ArchiveParts, JoinedFile

_END = struct.Struct("<4s4H2LH")  # the end of the central directory
_LOCATOR = struct.Struct("<4sLQL")  # of the end of a large one
_LOCAL = struct.Struct("<4s5H3L2H")  # what is before each member
_MOST_COMMENT = 65535
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_ENCRYPTED, _UTF8 = 0x1, 0x800
_UNIX, _REGULAR = 3, 8  # a system, and a kind of file there


@contextmanager
def open_zip(archive: ArchiveParts) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive; raise ``BadZipFile`` where it is cut, or a part is not there."""
    joined = archive.open()
    with io.BufferedReader(joined, 1 << 20) as file:
        end = _end_of(file)
        is_spanned = end is not None and end[1][1] > 0
        offset = _check_parts(file, joined, archive, *end) if end and is_spanned else 0
        with zipfile.ZipFile(file) as opened:
            if is_spanned:
                _count_from_start(opened, joined, offset)
            yield opened


def zip_span(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[int, int] | None:
    """Return where a member lies in its archive, and its size; None where it is compressed."""
    if info.compress_type != zipfile.ZIP_STORED or opened.fp is None:
        return None
    opened.fp.seek(info.header_offset)
    header = opened.fp.read(_LOCAL.size)
    if len(header) < _LOCAL.size:
        return None
    lengths = _LOCAL.unpack(header)[-2:]
    return info.header_offset + _LOCAL.size + sum(lengths), info.file_size


def zip_name(info: zipfile.ZipInfo) -> str:
    """Return the name of a member; UTF-8 without the mark for it is read as such."""
    if info.flag_bits & _UTF8:
        return info.filename
    try:
        return info.filename.encode("cp437").decode()
    except UnicodeError:
        return info.filename


def zip_fault(info: zipfile.ZipInfo) -> str:
    """Return why a member cannot be unpacked; empty where it can be."""
    if info.flag_bits & _ENCRYPTED:
        return "encrypted: unpack the archive yourself, with its password"
    if info.compress_type not in _METHODS:
        return (
            f"compressed by method {info.compress_type}, which Python does not read: unpack the "
            "archive yourself"
        )
    kind = info.external_attr >> 28 if info.create_system == _UNIX else 0
    return "a link or a device, which is not unpacked" if kind not in (0, _REGULAR) else ""


def _end_of(file: IO[bytes]) -> tuple[int, tuple[int, ...]] | None:
    """Return where the end record is, and its fields; None where there is none."""
    size = file.seek(0, io.SEEK_END)
    start = max(0, size - _END.size - _MOST_COMMENT)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        return None
    return start + at, _END.unpack_from(tail, at)


def _check_parts(
    file: IO[bytes],
    joined: JoinedFile,
    archive: ArchiveParts,
    at: int,
    end: tuple[int, ...],
) -> int:
    """Return the offset of the directory in its part; let Python read a large directory."""
    count, offset = end[1] + 1, end[6]
    file.seek(max(0, at - _LOCATOR.size))
    sign, _, _, disks = _LOCATOR.unpack(file.read(_LOCATOR.size))
    if sign == b"PK\x06\x07":
        count = disks
        record = at - _LOCATOR.size - 56
        joined.replace_bytes(at - _LOCATOR.size, _LOCATOR.pack(sign, 0, record, 1))
        file.seek(record + 48)
        offset = int.from_bytes(file.read(8), "little")
        file.seek(0)  # which empties the buffer
    if count != len(archive.parts):
        raise zipfile.BadZipFile(f"it has {count} parts, of which {len(archive.parts)} are there")
    return offset


def _count_from_start(opened: zipfile.ZipFile, joined: JoinedFile, offset: int) -> None:
    """Let the offsets of members count from the start of the first part."""
    added = opened.start_dir - offset  # by zipfile, which takes all of it for one part
    for info in opened.infolist():
        if info.volume >= len(joined.starts) - 1:
            raise zipfile.BadZipFile(f"{info.filename} begins in a part that is not there")
        info.header_offset += joined.starts[info.volume] - added
        if hasattr(info, "_end_offset"):
            info._end_offset = None  # computed from the offsets before
