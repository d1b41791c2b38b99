"""Files of JSON lines that people or other programs wrote; all problems are listed at once."""

import codecs
from dataclasses import replace
from pathlib import Path
from typing import Any

from reelbench.data.item_rules import decode_strictly
from reelbench.data.items import Problem
from reelbench.interop.csv_tables import Place, read_raw


def read_json_lines(path: Path, kind: str) -> tuple[list[tuple[Place, Any]], list[Problem]]:
    """Return the values of a file with their places, blank lines left out, and all problems.

    ``kind`` says in an error what file was expected.
    """
    raw, problems = read_raw(path, kind)
    found: list[tuple[Place, Any]] = []
    for number, line in enumerate(raw.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        if line.strip():
            value, faults = decode_strictly(line.strip())
            problems += [replace(fault, file=str(path), line=number) for fault in faults]
            found += [] if faults else [(Place(str(path), number), value)]
    return found, problems
