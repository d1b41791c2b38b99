"""Files of quality scores as the datasets have them: CSV, plain lists and JSON.

Each is read as names of videos, each with its score as text and the place in the file.
``source.py`` decides what a score means.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.files import json_fault
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


def read_scores(path: Path, columns: Columns) -> tuple[list[WrittenScore], list[Problem]]:
    """Return the scores in a file, read by its ending and content, and all problems."""
    text, problems = read_text(path, "a file of scores")
    if problems:
        return [], problems
    ending, start = path.suffix.lower(), text.lstrip()[:1]
    if ending == ".json" or (ending not in (".csv", ".tsv") and start in ("[", "{")):
        return _from_json(path, text, columns)
    records, problems = _records(path, text, ending)
    return ([], problems) if problems else _from_records(path, records, columns)


def _records(path: Path, text: str, ending: str) -> tuple[list[Record], list[Problem]]:
    """Split lines at what the first has most of: commas, semicolons, tabs, or else spaces."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter in first or ending == ".csv":
        return csv_records(path, text, delimiter)
    lines = enumerate(text.splitlines(), 1)
    return [(number, line.split()) for number, line in lines if line.strip()], []


def _from_records(
    path: Path, records: Sequence[Record], columns: Columns
) -> tuple[list[WrittenScore], list[Problem]]:
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
        return [], problems
    header = [name.strip() for name in records[0][1]]
    places: dict[str, int] = {}
    for name, column in declared.items():
        assert column is not None
        found_at = _place_of(Place(str(path), records[0][0]), header, column)
        if isinstance(found_at, Problem):
            problems.append(found_at)
        else:
            places[name] = found_at
    problems += uneven(path, records)
    if problems:
        return [], problems
    rows = records if isinstance(columns.score, int) else records[1:]
    return [
        WrittenScore(
            row[places["video"]].strip(), row[places["score"]].strip(), Place(str(path), line)
        )
        for line, row in rows
    ], []


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


def _from_json(path: Path, text: str, columns: Columns) -> tuple[list[WrittenScore], list[Problem]]:
    """Read a list of objects, or a mapping from names to scores or to objects."""
    place = Place(str(path))
    try:
        # Numbers stay as they are written, and NaN, which JSON has not, is a word like others.
        data = json.loads(
            text, object_pairs_hook=_Fields, parse_float=str, parse_int=str, parse_constant=str
        )
    except json.JSONDecodeError as error:
        fault, line, _ = json_fault(error)
        return [], [Place(place.file, line).problem("UNREADABLE", "file", fault, "JSON")]
    except RecursionError:
        return [], [place.problem("UNREADABLE", "file", "too many levels of nesting", "JSON")]
    scores: list[WrittenScore] = []
    problems: list[Problem] = []
    entries = _listed(data) if not isinstance(data, _Fields) else iter(data)
    if entries is None:
        expected = "a list of objects, or a mapping from the names of videos"
        return [], [place.problem("BAD_FIELD", "file", _found(data), expected)]
    for name, entry in entries:
        at = Place(place.file, prefix=f"{name}.")
        made = _entry(name, entry, columns, at, isinstance(data, _Fields))
        if isinstance(made, Problem):
            problems.append(made)
        else:
            scores.append(made)
    if not scores and not problems:
        problems.append(place.problem("NO_ITEMS", "file", "no scores", "a score per video"))
    return scores, _once(problems)


def _listed(data: Any) -> Iterator[tuple[str, Any]] | None:
    if not isinstance(data, list):
        return None
    return ((f"[{number}]", entry) for number, entry in enumerate(data))


def _entry(
    name: str, entry: Any, columns: Columns, at: Place, mapped: bool
) -> WrittenScore | Problem:
    """Return the score of one entry, or the first thing that is wrong with it."""
    if not mapped:
        if not isinstance(entry, _Fields):
            return at.problem("BAD_FIELD", "", _found(entry), "an object")
        video = _field(entry, "video", columns.video, columns, at)
        if isinstance(video, Problem):
            return video
        name = video
    if not isinstance(entry, _Fields):
        return _scalar(entry, "score", at, name)
    score = _field(entry, "score", columns.score, columns, at)
    return score if isinstance(score, Problem) else WrittenScore(name, score, at)


def _field(
    entry: _Fields, what: str, named: Column | None, columns: Columns, at: Place
) -> str | Problem:
    if not isinstance(named, str):
        return columns.lacking(what, "the name of a field")
    values = [value for name, value in entry if name == named]
    if len(values) == 1:
        made = _scalar(values[0], named, at, "")
        return made if isinstance(made, Problem) else made.score
    found = f"{len(values)} fields of that name" if values else "no such field"
    names = shown(", ".join(name for name, _ in entry), 120)
    return at.problem("BAD_FIELD", named, f"{found} among {names}", "one field of that name")


def _scalar(value: Any, field: str, at: Place, name: str) -> WrittenScore | Problem:
    if value is None or isinstance(value, str):
        return WrittenScore(name, (value or "").strip(), at)
    return at.problem("BAD_FIELD", field, _found(value), "a number or text")


def _found(value: Any) -> str:
    if isinstance(value, _Fields):
        return "an object"
    return str(value).lower() if isinstance(value, bool) else found_as(value)


def _once(problems: Sequence[Problem]) -> list[Problem]:
    """Return each problem once: one of the declaration comes with every entry."""
    return list(dict.fromkeys(problems))
