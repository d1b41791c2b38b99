"""Whether a file is complete and undamaged, by the sizes and checksums in its container.

A length in seconds is rounded and often wrong; the sizes of boxes, chunks and pages are exact. So a
truncated file is detected by them, however little is missing, and a complete one is not suspected
because its header declares a second more than it has. Only headers are read, except where there
are checksums to compare.
"""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from reelbench.media.decode.structure import ebml_elements, ebml_head, gif_end, jpeg_end, ogg_crc

_TS_PACKETS = (188, 192, 204)  # bytes; plain, with a time in front, with a correction behind
_BOXES = frozenset(
    {b"ftyp", b"moov", b"mdat", b"moof", b"mfra", b"sidx", b"ssix", b"styp", b"prft", b"emsg",
     b"free", b"skip", b"wide", b"uuid", b"meta", b"udta", b"pnot", b"pdin"}
)  # fmt: skip
_STREAMED = 0xFFFF_0000  # a RIFF that claims this much or more was written without knowing
_SLOPPY = 8  # bytes by which a RIFF may be too long, for some programs count its head
# What a segment of Matroska is made of: seek heads, facts, tracks, clusters, cues, chapters, tags,
# attachments, and nothing.
_SEGMENT = 0x18538067
_LEVEL_1 = frozenset(
    {0x114D9B74, 0x1549A966, 0x1654AE6B, 0x1F43B675, 0x1C53BB6B, 0x1043A770, 0x1254C367,
     0x1941A469, 0xEC, 0xBF}
)  # fmt: skip
_PIECE = 2**20  # bytes to hold at a time
_TAIL = 128 * 1024  # bytes; a page of Ogg has 64 K at most


def integrity_fault(path: Path | str) -> str:
    """Return what is missing at the end of a file or damaged in it; "" where nothing is found."""
    path = Path(path)
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(1024)
        for recognises, check in _CHECKS:
            if recognises(head):
                return check(file, size)
    return ""


def cut_by(needed: int, size: int) -> str:
    """Return the message that a file of ``size`` bytes lacks some of those needed; or ""."""
    return f"is cut: {needed - size} of its {needed} bytes are missing" if needed > size else ""


def _boxes(file: BinaryIO, size: int) -> str:
    """MP4 and QuickTime: boxes one after the other, each with its size."""
    place = 0
    while place + 8 <= size:
        file.seek(place)
        head = file.read(16)
        length, kind = int.from_bytes(head[:4], "big"), head[4:8]
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        if length == 0:
            return ""  # "to the end", wherever that is
        # Some programs leave other things behind the last box.
        if length < 8 or kind not in _BOXES:
            return ""
        if place + length > size:
            return cut_by(place + length, size)
        place += length
    return ""


def _matroska(file: BinaryIO, size: int) -> str:
    """Matroska and WebM: elements within elements, some with a checksum as their first."""
    for kind, begin, length in ebml_elements(file, 0, size):
        if length is not None and begin + length > size:
            return cut_by(begin + length, size)
        if length is not None and kind == _SEGMENT:
            return _checksums(file, begin, begin + length)
    return ""


def _checksums(file: BinaryIO, begin: int, end: int) -> str:
    checked = False
    for kind, place, length in ebml_elements(file, begin, end):
        if length is None or place + length > end or kind not in _LEVEL_1:
            # Of who writes checksums, one does not expect mistakes.
            return f"is damaged at byte {place}" if checked and length is not None else ""
        file.seek(place)
        if length > 6 and ebml_head(file) == (0xBF, 4):
            checked = True
            stored = int.from_bytes(file.read(4), "little")
            if _crc_of(file, length - 6) != stored:
                return f"is damaged between bytes {place} and {place + length}"
    return ""


def _crc_of(file: BinaryIO, length: int) -> int:
    crc = 0
    while piece := file.read(min(length, _PIECE)):
        crc, length = zlib.crc32(piece, crc), length - len(piece)
    return crc


def _riff(file: BinaryIO, size: int) -> str:
    """AVI, WAV and WebP: chunks, of which a large AVI has several at the top."""
    place = 0
    while place + 12 <= size:
        file.seek(place)
        head = file.read(12)
        length = int.from_bytes(head[4:8], "little")
        if head[:4] != b"RIFF" or not 4 <= length < _STREAMED:
            return ""
        if place + 8 + length > size + _SLOPPY:
            return cut_by(place + 8 + length, size)
        place += 8 + length + length % 2
    return ""


def _ogg(file: BinaryIO, size: int) -> str:
    """Ogg: pages, each with its length and a checksum."""
    place = 0
    while place + 27 <= size:
        file.seek(place)
        head = file.read(27)
        if head[:4] != b"OggS":
            return f"is damaged at byte {place}" if place + _TAIL < size else ""
        table = file.read(head[26])
        page = head + table + file.read(sum(table))
        if len(page) < 27 + head[26] + sum(table) or len(table) < head[26]:
            return cut_by(place + 27 + head[26] + sum(table), size)
        stored = int.from_bytes(page[22:26], "little")
        if ogg_crc(page[:22] + bytes(4) + page[26:]) != stored:
            return f"is damaged between bytes {place} and {place + len(page)}"
        place += len(page)
    return cut_by(place + 27, size) if 0 < size - place < 27 else ""


def _transport(file: BinaryIO, size: int) -> str:
    """A transport stream: packets of one size. Without a length, only a partial packet shows."""
    file.seek(0)
    head = file.read(8 * max(_TS_PACKETS))
    step = next(step for step in _TS_PACKETS if _ticks(head, step))
    file.seek(size // step * step)
    rest = file.read(step)
    begins = rest[4 if step == 192 else 0 :][:1] in (b"G", b"")
    return f"is cut: its last packet has {len(rest)} of {step} bytes" if rest and begins else ""


def _ticks(head: bytes, step: int) -> bool:
    first = 4 if step == 192 else 0
    return len(head) > 3 * step and set(head[first::step][:4]) == {0x47}


def _flash(file: BinaryIO, size: int) -> str:
    """FLV: each tag is followed by its own size, so the last one can be found from the end."""
    if size < 32:
        return ""
    file.seek(size - 4)
    length = int.from_bytes(file.read(4), "big")
    if not 11 <= length <= size - 4:
        return "is cut: it does not end with a whole tag"
    file.seek(size - 4 - length)
    tag = file.read(4)
    whole = tag[0] & 31 in (8, 9, 18) and int.from_bytes(tag[1:4], "big") == length - 11
    return "" if whole else "is cut: it does not end with a whole tag"


def _asf(file: BinaryIO, size: int) -> str:
    """Windows Media: its header tells how large the file is, unless it was broadcast."""
    file.seek(0)
    head = file.read(64 * 1024)
    place = head.find(bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365"))
    if place < 0 or len(head) < place + 92:
        return ""
    needed = int.from_bytes(head[place + 40 : place + 48], "little")
    broadcast = head[place + 88] & 1
    return cut_by(needed, size) if needed > size and not broadcast else ""


def _aiff(file: BinaryIO, size: int) -> str:
    file.seek(4)
    needed = 8 + int.from_bytes(file.read(4), "big")
    return cut_by(needed, size) if needed > size + _SLOPPY else ""


def _ivf(file: BinaryIO, size: int) -> str:
    """IVF: a head, then frames, each behind its size and its time."""
    place = 32
    while place < size:
        file.seek(place)
        head = file.read(12)
        place += 12 + int.from_bytes(head[:4], "little")
    return cut_by(place, size)


def _gif(file: BinaryIO, _size: int) -> str:
    return "" if gif_end(file) else "is cut: it lacks the end of a GIF"


def _jpeg(file: BinaryIO, _size: int) -> str:
    return "" if jpeg_end(file) else "is cut: it lacks the end of a JPEG"


_CHECKS: tuple[tuple[Callable[[bytes], bool], Callable[[BinaryIO, int], str]], ...] = (
    (lambda head: head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"), _boxes),
    (lambda head: head[:4] == b"\x1a\x45\xdf\xa3", _matroska),
    (lambda head: head[:4] == b"RIFF", _riff),
    (lambda head: head[:4] == b"FORM", _aiff),
    (lambda head: head[:4] == b"DKIF", _ivf),
    (lambda head: head[:4] == b"OggS", _ogg),
    (lambda head: head[:3] == b"FLV", _flash),
    (lambda head: head[:4] == b"\x30\x26\xb2\x75", _asf),
    (lambda head: head[:4] == b"GIF8", _gif),
    (lambda head: head[:3] == b"\xff\xd8\xff", _jpeg),
    (lambda head: any(_ticks(head, step) for step in _TS_PACKETS), _transport),
)
