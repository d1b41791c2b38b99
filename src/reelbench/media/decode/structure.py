"""The elements, blocks and markers that some formats are built of."""

import zlib
from collections.abc import Iterator
from typing import BinaryIO

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_UNKNOWN = tuple((1 << 7 * width) - 1 for width in range(1, 9))  # a size of ones: not known
_REFRESH = 5  # the kind of a unit of H.264 that is a slice of such a picture


def ebml_head(file: BinaryIO) -> tuple[int, int | None] | None:
    """Read the kind of an element of Matroska and its length; None where there is no element."""
    kind, length = _number(file, 4), _number(file, 8)
    if kind is None or length is None:
        return None
    width, value = length
    plain = value & ((1 << 7 * width) - 1)
    return kind[1], None if plain == _UNKNOWN[width - 1] else plain


def _number(file: BinaryIO, widest: int) -> tuple[int, int] | None:
    """Read a number whose first bits tell its width; return both, the marking bit still in it."""
    first = file.read(1)
    width = 9 - first[0].bit_length() if first else 9
    rest = file.read(width - 1) if width <= widest else b""
    if width > widest or len(rest) < width - 1:
        return None
    return width, int.from_bytes(first + rest, "big")


def ebml_elements(file: BinaryIO, begin: int, end: int) -> Iterator[tuple[int, int, int | None]]:
    """Yield the elements from one place to another: kind, where the content begins, its length.

    Those in one whose length is not known come after it.
    """
    place = begin
    while place < end:
        file.seek(place)
        head = ebml_head(file)
        if head is None:
            return
        content = file.tell()
        yield head[0], content, head[1]
        place = content + (head[1] or 0)


def ogg_crc(page: bytes) -> int:
    """Return the checksum of a page of Ogg: zlib's, with the bits the other way round."""
    plain = zlib.crc32(page.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int(f"{plain:032b}"[::-1], 2)


def gif_end(file: BinaryIO) -> bool:
    """Whether the blocks of a GIF lead to its end."""
    file.seek(10)
    _skip_colours(file, file.read(3)[:1])
    while kind := file.read(1):
        if kind == b";":
            return True
        if kind == b",":
            _skip_colours(file, file.read(9)[8:])
            file.read(1)
        elif kind == b"!":
            file.read(1)
        else:
            return True  # something else that only a decoder can judge
        while length := file.read(1)[:1]:
            if length == b"\0":
                break
            file.seek(length[0], 1)
    return False


def _skip_colours(file: BinaryIO, flags: bytes) -> None:
    if flags and flags[0] & 0x80:
        file.seek(3 << (flags[0] & 7) + 1, 1)


def jpeg_end(file: BinaryIO) -> bool:
    """Whether the picture in a JPEG ends; what comes before it may hold a smaller one that does."""
    file.seek(2)
    while (marker := file.read(4)) and len(marker) == 4 and marker[0] == 0xFF:
        if marker[1] == 0xDA:
            return b"\xff\xd9" in file.read()
        file.seek(int.from_bytes(marker[2:], "big") - 2, 1)
    return len(marker) == 4  # what this is only a decoder can judge


def has_h264_refresh(packet: bytes, settings: bytes) -> bool:
    """Whether a packet of H.264 holds an instantaneous refresh: nothing after it rests on earlier.

    ``settings`` are the stream's: in MP4 and Matroska, units have their length before them, of as
    many bytes as that says; elsewhere each begins with 0, 0, 1.
    """
    if settings[:1] != b"\1" or len(settings) < 5:
        return any(unit[:1] and unit[0] & 31 == _REFRESH for unit in packet.split(b"\0\0\1")[1:])
    width, place = (settings[4] & 3) + 1, 0
    while place + width < len(packet):
        if packet[place + width] & 31 == _REFRESH:
            return True
        place += width + int.from_bytes(packet[place : place + width], "big")
    return False
