"""The logs of servers: their names, and their last lines as a terminal may show them."""

import hashlib
import os
import re
from pathlib import Path

from reelbench.models.secrets import redacted

_LINES, _BYTES, _WIDTH = 15, 16_384, 300
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def file_name_of(name: str) -> str:
    """Return a model's name as that of a file; different names stay different."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80]
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def log_tail(path: Path, lines: int = _LINES) -> list[str]:
    """Return the last lines of a log since the last start; what cannot be read has none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    found = [shown_line(line) for line in text.split("\n")]
    starts = [number for number, line in enumerate(found) if re.match(r"# \d{4}-", line)]
    since = found[starts[-1] + 1 :] if starts else found
    return [line for line in since if line][-lines:]


def shown_line(line: str) -> str:
    """Return a line without colours, control characters and keys, and not too long."""
    last = line.rstrip("\r").rpartition("\r")[2]  # of a bar that was drawn again and again
    return redacted(_CONTROL.sub("", _ESCAPES.sub("", last)).rstrip())[:_WIDTH]
