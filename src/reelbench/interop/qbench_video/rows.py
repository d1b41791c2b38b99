"""Files of questions: a list, lists by split, or an object per line.

Nothing is raised for what is wrong in a file; all problems are added to ``Notes``.
"""

import codecs
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reelbench.base.json_faults import json_fault
from reelbench.base.limits import MOST_TABLE, decode_json
from reelbench.data.fields import found_as
from reelbench.data.item_rules import decode_strictly
from reelbench.data.items import Problem
from reelbench.interop.csv_tables import Place, read_raw
from reelbench.interop.qbench_video.notes import Notes
from reelbench.interop.qbench_video.taxonomy import SPLITS

LINES = ".jsonl"
ENDINGS = (".json", LINES)
_DEEPEST = 32  # levels of lists and objects, which no question needs
_A_LIST = "a list of questions, lists of them by split, or one a line"
_ELSEWHERE = "move the file into another folder if it holds none"
_NO_SPLIT = frozenset({"data", "questions", "items", "annotations", "samples", "all"})


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One object of a file, with its split where the file tells it."""

    place: Place
    file: str  # its name, which begins the ids of its questions
    split: str
    record: dict[str, Any]


def read_rows(path: Path, notes: Notes) -> list[PublishedRow]:
    """Return the objects of one file, whatever their fields; problems are added to ``notes``."""
    raw, problems = read_raw(path, "a file of questions")
    if problems:
        notes.problems += problems
        return []
    found = list(_entries(path, raw.removeprefix(codecs.BOM_UTF8), notes))
    if not found and not any(problem.file == str(path) for problem in notes.problems):
        expected = f"at least one question; {_ELSEWHERE}"
        notes.problems.append(Problem("NO_ITEMS", "file", "no questions", expected, str(path)))
    rows = []
    for place, split, record in found:
        fault = _fault(record)
        if fault:
            name = place.prefix.rstrip(".") or "line"
            notes.problems.append(Problem("BAD_FIELD", name, *fault, place.file, place.line))
        else:
            rows.append(PublishedRow(place, path.name, split or split_in(path.stem), record))
    return rows


def split_in(name: str) -> str:
    """Return the split in a name such as ``qbench_video_dev``; "" where it has none."""
    words = set(re.findall(r"[a-z]+", name.casefold().replace("set", "")))
    named = [split for split in SPLITS if split in words]
    return named[0] if len(named) == 1 else ""


Entry = tuple[Place, str, Any]  # where it is, its split, and what stands there


def _entries(path: Path, raw: bytes, notes: Notes) -> Iterator[Entry]:
    file = str(path)
    if path.suffix.lower() == LINES:
        yield from _lines(file, raw, notes)
        return
    content, problems = decode_strictly(raw, MOST_TABLE)
    if not problems:
        yield from _listed(file, content, notes)
        return
    alone = Notes()
    entries = list(_lines(file, raw, alone))
    if len(entries) > 1 and not alone.problems:  # lines of JSON under another name
        yield from entries
    else:
        notes.problems.append(_located(file, raw, problems[0]))


def _lines(file: str, raw: bytes, notes: Notes) -> Iterator[Entry]:
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        record, problems = decode_strictly(line.strip())
        for problem in problems:
            notes.problems.append(replace(problem, file=file, line=number))
        if not problems:
            yield Place(file, number), "", record


def _listed(file: str, content: Any, notes: Notes) -> Iterator[Entry]:
    if isinstance(content, dict) and "question" in content:
        content = [content]
    if isinstance(content, list):
        for number, record in enumerate(content):
            yield Place(file, prefix=f"[{number}]."), "", record
        return
    lists = content if isinstance(content, dict) else {}
    lists = {name: part for name, part in lists.items() if isinstance(part, list)}
    if not lists:
        expected = f"{_A_LIST}; {_ELSEWHERE}"
        notes.problems.append(Problem("BAD_FIELD", "file", found_as(content), expected, file))
    for name, part in lists.items():
        split = split_in(name)
        for number, record in enumerate(part):
            label = name if name.isidentifier() else repr(name)
            place = Place(file, prefix=f"{label}[{number}].")
            if not split and name.casefold() not in _NO_SPLIT:
                notes.odd(
                    place, f"The list {name!r} is not called dev or test, so it gives no split"
                )
            yield place, split, record


def _located(file: str, raw: bytes, problem: Problem) -> Problem:
    """Return the problem with the line at which a file stops being JSON, if that is known."""
    try:
        decode_json(raw.decode())
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return Problem("ENCODING", "file", f"byte 0x{raw[error.start]:02X}", "UTF-8", file, line)
    except json.JSONDecodeError as error:
        fault, line, column = json_fault(error)
        found = f"{fault} at column {column}" if raw.strip() else "an empty file"
        return Problem("NOT_JSON", "file", found, f"JSON: {_A_LIST}", file, line)
    except (ValueError, RecursionError):
        pass
    return Problem("NOT_JSON", "file", problem.found, problem.expected, file)


def _fault(record: Any) -> tuple[str, str] | None:
    """Return why an entry cannot be a question, whatever its fields; None where it can."""
    if not isinstance(record, dict):
        return found_as(record), "an object with video_name and question"
    level: Sequence[Any] = [record]
    for _ in range(_DEEPEST):
        if any(isinstance(part, float) and not math.isfinite(part) for part in level):
            return "an infinite number, or NaN", "a finite number"
        level = [inner for part in level for inner in _parts(part)]
    return ("too many levels of nesting", f"at most {_DEEPEST}") if level else None


def _parts(value: Any) -> Sequence[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()
