"""Limits on the depth, length and size of what we read; more than that is refused.

What others wrote (a benchmark, a card, a reply) may be malicious, or broken in a way that has the
same effect. The limits are far above what any real file has, and far below what a machine can hold.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.json_faults import JsonError

MOST_DEPTH = 64  # lists and mappings within each other
MOST_LINE = 16 * 2**20  # bytes of a line of JSON
MOST_FILE = 2 * 2**30  # bytes of a file of lines
MOST_TABLE = 256 * 2**20  # bytes of a file that is held whole
MOST_TEXT = 4 * 2**20  # bytes of a file that people write, such as YAML
MOST_TOKENS = 10**9  # that one call may have taken: more is no count


class LimitError(ReelbenchError, ValueError):
    """Input that is nested too deeply, too long or too large; the message names the limit."""


def check_depth(text: str | bytes) -> None:
    """Raise ``LimitError`` for JSON that is nested too deeply, before it is parsed."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if data.count(b"[") + data.count(b"{") <= MOST_DEPTH:
        return
    depth = 0
    for match in _BRACKETS.finditer(data):
        sign = match[0][0]
        if sign in b"[{":
            depth += 1
            if depth > MOST_DEPTH:
                raise LimitError(f"nesting deeper than {MOST_DEPTH} levels")
        elif sign in b"]}":
            depth -= 1


# A quote that is never closed takes all behind it, so that the time stays linear.
_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)


def decode_json(text: str | bytes) -> Any:
    """Decode JSON from outside; raise ``ValueError`` if it is invalid or nested too deeply."""
    check_depth(text)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise JsonError(error.msg, error.doc, error.pos) from None


def check_line(line: bytes, most: int = MOST_LINE) -> None:
    """Raise ``LimitError`` for a line of JSON that is too long or nested too deeply."""
    if len(line) > most:
        raise LimitError(f"a line of more than {most >> 20} MiB")
    check_depth(line)


def bounded_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file; a line over the limit is cut one byte beyond it."""
    read = os.fstat(file.fileno()).st_size  # 0 for a pipe, which is counted as it comes
    pipe, new = read == 0, True
    while read <= MOST_FILE and (line := file.readline(MOST_LINE + 1)):
        if new:
            yield line
        new = line.endswith(b"\n")
        read += len(line) if pipe else 0
    if read > MOST_FILE:
        raise LimitError(f"{file.name} is larger than {MOST_FILE >> 30} GiB: split it.")


def bounded_text(path: Path, encoding: str = "utf-8-sig") -> str:
    """Return the text of a file that a person wrote; raise ``LimitError`` if it is too large."""
    return bounded_bytes(path, MOST_TEXT).decode(encoding)


def bounded_bytes(path: Path, most: int = MOST_TABLE) -> bytes:
    """Return the bytes of a regular file; raise ``LimitError`` if it has more than ``most``."""
    if path.exists() and not path.is_file():  # a pipe might never end
        raise LimitError(f"{path} is not a regular file")
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise LimitError(f"{path} is larger than {most >> 20} MiB")
    return data
