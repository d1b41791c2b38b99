"""The bytes and the text of anyone's file, within limits; what is compressed is opened."""

import codecs
import io
import re
import zlib
from gzip import GzipFile
from pathlib import Path

from reelbench.base.limits import MOST_TABLE, LimitError, bounded_bytes
from reelbench.interop.records.record import UnreadableError

_GZIP = b"\x1f\x8b"
_MARKS = (  # UTF-32 first, as its mark begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def first_bytes(path: Path, count: int = 4) -> bytes:
    """Return the first bytes of a regular file; raise ``UnreadableError`` where there is none."""
    if path.is_dir():
        raise UnreadableError("a folder", "a file")
    if not path.is_file():  # a pipe might never end
        found = "no regular file" if path.exists() else "no such file"
        raise UnreadableError(found, "a file with rows")
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise UnreadableError(error.strerror or str(error), "a readable file") from None


def opened_bytes(path: Path) -> bytes:
    """Return the bytes of a file, uncompressed, or raise ``UnreadableError``."""
    try:
        data = bounded_bytes(path)
    except LimitError as error:
        raise UnreadableError(str(error), "a smaller file, such as one of its parts") from None
    except OSError as error:
        raise UnreadableError(error.strerror or str(error), "a readable file") from None
    return _gunzipped(data) if data.startswith(_GZIP) else data


def _gunzipped(data: bytes) -> bytes:
    try:
        with GzipFile(fileobj=io.BytesIO(data)) as file:
            opened = file.read(MOST_TABLE + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableError(f"a broken .gz ({error})", "a whole one") from None
    if len(opened) > MOST_TABLE:
        found = f"more than {MOST_TABLE >> 20} MiB when unpacked"
        raise UnreadableError(found, "a smaller file, such as one of its parts")
    return opened


def decoded(data: bytes) -> tuple[str, str]:
    """Return the text of bytes, and a note where they are not UTF-8; or ``UnreadableError``."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded_as(data, encoding), ""
    if b"\0" in data[:4096]:
        return _without_mark(data)
    try:
        return _clean(data.decode()), ""
    except UnicodeDecodeError as error:
        return _legacy(data, error)


def _decoded_as(data: bytes, encoding: str) -> str:
    try:
        return _clean(data.decode(encoding))
    except UnicodeDecodeError as error:
        found = f"bytes that are not {encoding.upper().removesuffix('-SIG')}"
        line = data[: error.start].count(b"\n") + 1
        raise UnreadableError(found, "text in one encoding, best UTF-8", line) from None


def _without_mark(data: bytes) -> tuple[str, str]:
    """Text in UTF-16 has a NUL in every other byte where it is mostly Latin."""
    half = min(len(data), 4096) // 2
    for encoding, first in (("utf-16-le", 1), ("utf-16-be", 0)):
        if data[first:4096:2].count(0) > half * 0.6:
            return _decoded_as(data, encoding), "It was read as UTF-16."
    if data.count(b"\0") < len(data) / 20:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise UnreadableError("a NUL character", "text", line)
    raise UnreadableError("bytes that are no text", "a table, JSON, a spreadsheet or Parquet")


def _legacy(data: bytes, error: UnicodeDecodeError) -> tuple[str, str]:
    """Western letters stand alone among ASCII; pairs of bytes throughout are another script."""
    line = data.count(b"\n", 0, error.start) + 1
    runs = [len(run) for run in re.findall(rb"[\x80-\xff]+", data)]
    if sum(length for length in runs if length >= 4) > sum(runs) / 2:
        found = f"byte 0x{data[error.start]:02X}, which is not UTF-8"
        expected = "UTF-8 (save it as such, or try: iconv -f GB18030 -t UTF-8)"
        raise UnreadableError(found, expected, line)
    try:
        text = _clean(data.decode("cp1252"))
    except UnicodeDecodeError:
        found = f"byte 0x{data[error.start]:02X}, which is not UTF-8"
        raise UnreadableError(found, "UTF-8", line) from None
    return text, f"It is not UTF-8 (line {line}) and was read as Windows-1252."


def _clean(text: str) -> str:
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UnreadableError("a NUL character", "text", line)
    return text
