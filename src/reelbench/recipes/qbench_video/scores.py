"""Files of quality scores as the datasets have them: CSV, plain lists and JSON.

Each is read as names of videos, each with its score as text and the place in the file. A row that
cannot be read is kept apart from what is wrong with the file as a whole. ``source.py`` decides what
a score means, and how many bad rows a file may have.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reelbench.base.json_faults import json_fault
from reelbench.data.fields import found_as
from reelbench.data.items import Problem, shown
from reelbench.interop.csv_tables import (
    Place,
    Record,
    csv_records,
    no_column,
    read_text,
    uneven,
)

Column = str | int  # by its name, or by its number from 1 where there is no first line of names
_DELIMITERS = ",;\t"


@dataclass(frozen=True, slots=True)
class WrittenScore:
    """A score as it is written, and where."""

    name: str
    score: str
    place: Place


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a file has the videos and their scores; ``place`` is where that is declared."""

    video: Column | None
    score: Column | None
    place: Place

    def lacking(self, name: str, expected: str) -> Problem:
        """Return the problem that one of the two is not declared."""
        return self.place.problem("MISSING_FIELD", name, "nothing", expected)


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be used: the video it names, if any, why, and the problem with its place.

    The reason does not tell the line: the order of rows decides nothing, not even what is said.
    """

    name: str
    reason: str
    problem: Problem

    @classmethod
    def of(cls, name: str, place: Place, problem: Problem) -> "BadRow":
        """Return the row of a problem, which is the reason too."""
        what = problem.field.removeprefix(place.prefix)
        text = f"{what}: found {problem.found}, expected {problem.expected}"
        return cls(name, f"{text.removeprefix(': ')} in {Path(place.file).name}", problem)


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """What a file of scores holds; with problems of the file as a whole, it holds nothing."""

    scores: list[WrittenScore] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    rows: int = 0  # that the file has, good and bad


def read_scores(path: Path, columns: Columns) -> ScoreFile:
    """Return the scores in a file, read by its ending and content, and all that is wrong."""
    text, problems = read_text(path, "a file of scores")
    if problems:
        return ScoreFile(problems=problems)
    ending, start = path.suffix.lower(), text.lstrip()[:1]
    if ending == ".json" or (ending not in (".csv", ".tsv") and start in ("[", "{")):
        return _from_json(path, text, columns)
    records, problems = _records(path, text, ending)
    return ScoreFile(problems=problems) if problems else _from_records(path, records, columns)


def _records(path: Path, text: str, ending: str) -> tuple[list[Record], list[Problem]]:
    """Split lines at what the first has most of: commas, semicolons, tabs, or else spaces."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter in first or ending == ".csv":
        return csv_records(path, text, delimiter)
    lines = enumerate(text.splitlines(), 1)
    return [(number, line.split()) for number, line in lines if line.strip()], []


def _from_records(path: Path, records: Sequence[Record], columns: Columns) -> ScoreFile:
    declared = {"video": columns.video, "score": columns.score}
    expected = "the name of a column, or its number where there is no first line of names"
    problems = [
        columns.lacking(name, expected) for name, column in declared.items() if column is None
    ]
    if len({type(column) for column in declared.values()}) > 1 and not problems:
        found = f"video {columns.video!r} and score {columns.score!r}"
        both = "two names, or two numbers: a file has a first line of names or it has none"
        problems.append(columns.place.problem("BAD_FIELD", "score", found, both))
    if not records and not problems:
        found, wanted = "an empty file", "a line for each video"
        problems.append(Place(str(path)).problem("NOT_CSV", "file", found, wanted))
    if problems:
        return ScoreFile(problems=problems)
    header = [name.strip() for name in records[0][1]]
    places: dict[str, int] = {}
    for name, column in declared.items():
        assert column is not None
        found_at = _place_of(Place(str(path), records[0][0]), header, column)
        if isinstance(found_at, Problem):
            problems.append(found_at)
        else:
            places[name] = found_at
    if problems:
        return ScoreFile(problems=problems)
    rows = records if isinstance(columns.score, int) else records[1:]
    uneven_rows = {problem.line: problem for problem in uneven(path, records)}
    read = ScoreFile()
    for line, row in rows:
        place = Place(str(path), line)
        name = row[places["video"]].strip() if places["video"] < len(row) else ""
        if line in uneven_rows:
            read.bad.append(BadRow.of(name, place, uneven_rows[line]))
        else:
            read.scores.append(WrittenScore(name, row[places["score"]].strip(), place))
    return replace(read, rows=len(rows))


def _place_of(head: Place, header: Sequence[str], column: Column) -> int | Problem:
    """Return where a column stands, or why that cannot be told."""
    if isinstance(column, int):
        if 1 <= column <= len(header):
            return column - 1
        expected = f"a number from 1 to {len(header)}, as the first line has so many fields"
        return head.problem("MISSING_FIELD", f"column {column}", "no such column", expected)
    places = [place for place, name in enumerate(header) if name == column.strip()]
    if not places:
        return no_column(head, column, header, header)
    if len(places) > 1:
        found, expected = f"{len(places)} columns of that name", "one: rename the others"
        return head.problem("BAD_FIELD", column, found, expected)
    return places[0]


class _Fields(list[tuple[str, Any]]):
    """An object of JSON, with names that come twice kept twice."""


def _from_json(path: Path, text: str, columns: Columns) -> ScoreFile:
    """Read a list of objects, or a mapping from names to scores or to objects."""
    place = Place(str(path))
    try:
        # Numbers stay as they are written, and NaN, which JSON has not, is a word like others.
        data = json.loads(
            text, object_pairs_hook=_Fields, parse_float=str, parse_int=str, parse_constant=str
        )
    except json.JSONDecodeError as error:
        fault, line, _ = json_fault(error)
        broken = Place(place.file, line).problem("UNREADABLE", "file", fault, "JSON")
        return ScoreFile(problems=[broken])
    except RecursionError:
        deep = place.problem("UNREADABLE", "file", "too many levels of nesting", "JSON")
        return ScoreFile(problems=[deep])
    mapped = isinstance(data, _Fields)
    if not isinstance(data, list):
        expected = "a list of objects, or a mapping from the names of videos"
        return ScoreFile(problems=[place.problem("BAD_FIELD", "file", _found(data), expected)])
    if problems := list(_undeclared(data, mapped, columns)):
        return ScoreFile(problems=problems)
    read = ScoreFile()
    entries = data if mapped else [(f"[{number}]", entry) for number, entry in enumerate(data)]
    for name, entry in entries:
        at = Place(place.file, prefix=f"{name}.")
        made = _entry(name if mapped else None, entry, columns, at)
        if isinstance(made, BadRow):
            read.bad.append(made)
        else:
            read.scores.append(made)
    if not entries:
        read.problems.append(place.problem("NO_ITEMS", "file", "no scores", "a score per video"))
    return replace(read, rows=len(entries))


def _undeclared(data: list[Any], mapped: bool, columns: Columns) -> Iterator[Problem]:
    """Yield a problem for each field that objects must have and that is not named."""
    needed = {"video": columns.video, "score": columns.score}
    if mapped:
        objects = any(isinstance(entry, _Fields) for _, entry in data)
        needed = {"score": columns.score} if objects else {}
    for what, named in needed.items():
        if not isinstance(named, str):
            yield columns.lacking(what, "the name of a field")


def _entry(name: str | None, entry: Any, columns: Columns, at: Place) -> WrittenScore | BadRow:
    """Return the score of one entry, or the first thing that is wrong with it.

    It is that of a mapping where it has a name, else one of a list.
    """
    if name is None:
        if not isinstance(entry, _Fields):
            return BadRow.of("", at, at.problem("BAD_FIELD", "", _found(entry), "an object"))
        video = _field(entry, columns.video, at)
        if isinstance(video, Problem):
            return BadRow.of("", at, video)
        name = video
    score = (
        _field(entry, columns.score, at)
        if isinstance(entry, _Fields)
        else _scalar(entry, "score", at)
    )
    if isinstance(score, Problem):
        return BadRow.of(name, at, score)
    return WrittenScore(name, score, at)


def _field(entry: _Fields, named: Column | None, at: Place) -> str | Problem:
    values = [value for name, value in entry if name == named]
    if len(values) == 1:
        return _scalar(values[0], str(named), at)
    found = f"{len(values)} fields of that name" if values else "no such field"
    names = shown(", ".join(name for name, _ in entry), 120)
    return at.problem("BAD_FIELD", str(named), f"{found} among {names}", "one field of that name")


def _scalar(value: Any, field_name: str, at: Place) -> str | Problem:
    if value is None or isinstance(value, str):
        return (value or "").strip()
    return at.problem("BAD_FIELD", field_name, _found(value), "a number or text")


def _found(value: Any) -> str:
    if isinstance(value, _Fields):
        return "an object"
    return str(value).lower() if isinstance(value, bool) else found_as(value)
