"""Files of questions for MMOU: exported items, CSV or JSON lines, one shape for all.

Nothing is raised: what is wrong is returned, so that all can be listed at once.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reelbench.base.files import digest_of
from reelbench.base.spelling import perhaps
from reelbench.base.times import seconds_of
from reelbench.data.benchmark import ITEMS_FILE, read_items
from reelbench.data.fields import found_as
from reelbench.data.items import Item, Problem, Span
from reelbench.interop.csv_tables import Place, read_table
from reelbench.interop.json_lines import read_json_lines
from reelbench.interop.mmou.taxonomy import SKILLS, is_every_item, skill_named

FILES = (ITEMS_FILE, "questions.jsonl", "questions.csv")
COLUMNS = ("video", "question", "answer", "start_time", "end_time", "skills")


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question as a person wrote it, its times and skills checked."""

    place: Place
    id: str
    video: str
    question: str
    answer: str
    span: Span
    skills: tuple[str, ...]
    domain: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)


def read_questions(source: Path) -> tuple[list[WrittenQuestion], list[Problem]]:
    """Return the questions of the one file that a folder has, and all that is wrong in it."""
    names = [name for name in FILES if (source / name).exists()]
    if len(names) != 1:
        found = " and ".join(names) or "no questions"
        expected = f"one of {', '.join(FILES)}"
        return [], [Problem("UNREADABLE", "file", found, expected, str(source))]
    path = source / names[0]
    records, problems = _records(path)
    questions = []
    for place, record in records:
        question, faults = _question(place, record)
        problems += faults
        if question is not None:
            questions.append(question)
    return questions, [*problems, *_repeated(questions)]


def _records(path: Path) -> tuple[list[tuple[Place, Any]], list[Problem]]:
    """Return the objects of a file by the names of ``COLUMNS``, whatever its format."""
    if path.name == ITEMS_FILE:
        file = read_items(path)
        problems = [each for each in file.problems if not each.is_warning]
        pairs = zip(file.lines, file.items, strict=True)
        return [(Place(str(path), line), _record_of(item)) for line, item in pairs], problems
    if path.suffix == ".csv":
        table, problems = read_table(path, COLUMNS)
        rows = [(Place(str(path), line), _from_csv(row)) for line, row in table.rows]
        return list(rows), problems
    return read_json_lines(path, "a file of questions")


def _record_of(item: Item) -> dict[str, Any]:
    """Return an exported item by the names that files of questions have."""
    span = item.evidence[0] if item.evidence else (None, None)
    return {
        "id": item.id,
        "video": item.media[0].path,
        "question": item.question,
        "answer": item.reference or "",
        "start_time": span[0],
        "end_time": span[1],
        "skills": list(item.tag("skills")),
        "domain": (item.tag("domain") or ("",))[0],
        "provenance": dict(item.provenance),
    }


def _from_csv(row: Mapping[str, str]) -> dict[str, Any]:
    skills = [part.strip() for part in row["skills"].split(";") if part.strip()]
    times = {name: row[name] or None for name in ("start_time", "end_time")}
    return {**row, **times, "skills": skills}


def _question(place: Place, record: Any) -> tuple[WrittenQuestion | None, list[Problem]]:
    if not isinstance(record, Mapping):
        expected = f"an object with {', '.join(COLUMNS)}"
        return None, [place.problem("BAD_FIELD", "line", found_as(record), expected)]
    problems = list(_faults(place, record))
    if problems:
        return None, problems
    start, end = _seconds(record["start_time"]), _seconds(record["end_time"])
    assert start is not None
    assert end is not None
    named = [skill_named(each) for each in record["skills"] if not is_every_item(each)]
    author = {"author": record["author"]} if record.get("author") else {}
    texts = {name: record[name].strip() for name in ("video", "question", "answer")}
    asked = digest_of([texts["video"], texts["question"]])[:12]
    return WrittenQuestion(
        place,
        id=str(record.get("id") or f"mmou-{asked}"),
        span=(start, end),
        skills=tuple(dict.fromkeys(filter(None, named))),
        domain=str(record.get("domain") or ""),
        provenance={**(record.get("provenance") or {}), **author},
        **texts,
    ), []


def _faults(place: Place, record: Mapping[str, Any]) -> Iterator[Problem]:
    for name in ("video", "question", "answer"):
        if not isinstance(record.get(name), str) or not record[name].strip():
            yield place.problem("MISSING_FIELD", name, found_as(record.get(name)), "a text")
    if not isinstance(record.get("provenance") or {}, Mapping):
        yield place.problem("BAD_FIELD", "provenance", found_as(record["provenance"]), "an object")
    yield from _time_faults(place, record)
    skills = record.get("skills")
    if not isinstance(skills, list) or not [s for s in skills if not _is_tag_of_all(s)]:
        yield place.problem("MISSING_FIELD", "skills", found_as(skills), "one skill or more")
        return
    for skill in skills:
        if not _is_tag_of_all(skill) and (not isinstance(skill, str) or not skill_named(skill)):
            hint = perhaps(str(skill), list(SKILLS))
            expected = f"one of {', '.join(SKILLS)}{hint}"
            yield place.problem("BAD_FIELD", "skills", found_as(skill), expected)


def _is_tag_of_all(skill: Any) -> bool:
    return isinstance(skill, str) and is_every_item(skill)


def _time_faults(place: Place, record: Mapping[str, Any]) -> Iterator[Problem]:
    times = {name: record.get(name) for name in ("start_time", "end_time")}
    for name, value in times.items():
        if value is None or value == "":
            yield place.problem("MISSING_FIELD", name, "nothing", "when the evidence is there")
        elif _seconds(value) is None:
            yield place.problem("BAD_FIELD", name, found_as(value), 'seconds, or "mm:ss"')
    start, end = (_seconds(value) for value in times.values())
    if start is not None and end is not None and start > end:
        found = f"{times['end_time']}, before start_time {times['start_time']}"
        yield place.problem("BAD_FIELD", "end_time", found, "the later time: the two are reversed")


def _seconds(value: Any) -> int | float | None:
    """Return a time in seconds, given as a number or as text; None where it is none."""
    if isinstance(value, str):
        try:
            return seconds_of(value) if ":" in value else _seconds(float(value))
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _repeated(questions: list[WrittenQuestion]) -> Iterator[Problem]:
    first: dict[str, WrittenQuestion] = {}
    for each in questions:
        if each.id in first:
            found = f"{each.id!r}, as in line {first[each.id].place.line}"
            yield each.place.problem("DUPLICATE_ID", "id", found, "an id, or question, of its own")
        first.setdefault(each.id, each)
