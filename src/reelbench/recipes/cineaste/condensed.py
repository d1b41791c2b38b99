"""The CSV files of CondensedMovies, or of the same layout, read and checked.

``source.py`` describes the files and their columns.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from reelbench.data.items import Problem, shown
from reelbench.data.paths import VIDEO_ENDINGS
from reelbench.interop.csv_tables import CsvTable, Place, read_table

Value = TypeVar("Value")

CLIPS = "clips.csv"
YEARS = range(1870, 2101)
_NEEDED = {
    CLIPS: ("videoid", "imdbid", "clip_idx", "clip_name"),
    "descriptions.csv": ("videoid", "description"),
    "durations.csv": ("videoid", "duration"),
    "summaries.csv": ("imdbid",),
    "movie_info.csv": ("imdbid",),
    "movies.csv": ("imdbid",),
}
_SUMMARY_FILES = ("summaries.csv", "movie_info.csv", "movies.csv")
_SUMMARY_COLUMNS = ("summary", "plot")
_NAMED = 10  # how many a warning names

USABLE_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
USABLE_ID_RULE = "at most 100 of the characters A-Z a-z 0-9 . _ - (no dot first)"


@dataclass(frozen=True, slots=True)
class ListedScene:
    """A scene as its source lists it, before any of its files is opened."""

    video: str  # relative to the source, as is the path of the captions
    title: str
    logline: str
    place: Place
    captions: str = ""  # empty: those beside the video, if any
    listed: float | None = None  # seconds that durations.csv gives it


@dataclass(frozen=True, slots=True)
class Film:
    """A movie as its source describes it; its files must be in ``folder``."""

    id: str
    title: str
    summary: str
    clips: tuple[ListedScene, ...]
    year: int | None = None
    folder: str = ""


@dataclass(slots=True)
class ReadFilms:
    """The films of a source, with all problems and warnings."""

    films: list[Film] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def metadata_folder(source: Path) -> Path | None:
    """Return where the CSV files are: in the folder, or in its ``metadata``."""
    places = (source, source / "metadata")
    return next((place for place in places if os.path.lexists(place / CLIPS)), None)


def read_condensed(source: Path, folder: Path) -> ReadFilms:
    """Return the movies in the CSV files, with all problems listed; nothing is raised."""
    read = ReadFilms()
    tables = {name: _table(folder / name, read) for name in _NEEDED}
    rows = list(_clip_rows(tables[CLIPS], read))
    if not rows and not read.problems:
        place = Place(str(folder / CLIPS))
        read.problems.append(place.problem("NO_ITEMS", "file", "no clips", "a line for each clip"))
    _refuse_duplicates(rows, read)
    videos = _videos(source)
    _refuse_missing(rows, videos, folder, read)
    films = _by_film(rows)
    facts = _Facts(folder, tables, read)
    if films and not facts.summaries:
        read.problems.append(_no_summary(folder, "", f"none for any of {len(films)} movies"))
    read.films = [_film(imdbid, clips, videos, facts, read) for imdbid, clips in films.items()]
    _warn_undescribed(rows, facts, read)
    return read


def _table(path: Path, read: ReadFilms) -> CsvTable:
    """Read one of the files, if it is there."""
    if not os.path.lexists(path):
        return CsvTable(path)
    table, problems = read_table(path, _NEEDED[path.name])
    read.problems += problems
    return table


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of clips.csv that is right in itself."""

    place: Place
    videoid: str
    imdbid: str
    index: int
    name: str
    title: str
    year: int | None


def _clip_rows(table: CsvTable, read: ReadFilms) -> Iterator[_Row]:
    for line, row in table.rows:
        place = Place(str(table.path), line)
        problems = [
            place.problem("MISSING_FIELD", name, "nothing", "text")
            for name in ("videoid", "clip_name")
            if not row[name]
        ]
        imdbid = row["imdbid"]
        if not USABLE_ID.fullmatch(imdbid):
            found = shown(imdbid) if imdbid else "nothing"
            problems.append(place.problem("BAD_FIELD", "imdbid", found, USABLE_ID_RULE))
        index = _whole(row["clip_idx"])
        if index is None or index < 0:  # the dataset has -1 for a number that is not known
            found, expected = shown(row["clip_idx"]), "a whole number from 0"
            problems.append(place.problem("BAD_FIELD", "clip_idx", found, expected))
        year = _year(row.get("year", ""), place, problems)
        read.problems += problems
        if not problems and index is not None:
            title = row.get("title", "")
            yield _Row(place, row["videoid"], imdbid, index, row["clip_name"], title, year)


def _whole(text: str) -> int | None:
    """Read a whole number, which pandas writes as 3.0 where the column has gaps."""
    match = re.fullmatch(r"(-?[0-9]{1,9})(?:\.0*)?", text)
    return int(match[1]) if match else None


def _year(text: str, place: Place, problems: list[Problem]) -> int | None:
    """Read a year; nothing, or the dataset's -1, where it is not known."""
    year = _whole(text)
    if text.lower() in ("", "nan") or year == -1:
        return None
    if year not in YEARS:
        expected = f"a year from {YEARS.start} to {YEARS.stop - 1}, or nothing"
        problems.append(place.problem("BAD_FIELD", "year", shown(text), expected))
    return year


def _refuse_duplicates(rows: Iterable[_Row], read: ReadFilms) -> None:
    videos: dict[str, int] = {}
    places: dict[tuple[str, int], int] = {}
    for row in rows:
        earlier = videos.setdefault(row.videoid, row.place.line)
        if earlier != row.place.line:
            found = f"{shown(row.videoid)}, as on line {earlier}"
            read.problems.append(
                row.place.problem("DUPLICATE_ID", "videoid", found, "each videoid once")
            )
            continue
        earlier = places.setdefault((row.imdbid, row.index), row.place.line)
        if earlier != row.place.line:
            found = f"{row.index}, as on line {earlier}"
            expected = f"a number of its own among the clips of {row.imdbid}"
            read.problems.append(row.place.problem("DUPLICATE_ID", "clip_idx", found, expected))


def _videos(source: Path) -> dict[str, list[str]]:
    """Find the videos by the id that is their name, in ``videos`` and the folders in it."""
    found: dict[str, list[str]] = defaultdict(list)
    top = source / "videos"
    inner = sorted(path for path in top.glob("*") if os.path.isdir(path))
    for folder in (top, *inner):
        for path in sorted(folder.glob("*")):
            if path.suffix.lower() in VIDEO_ENDINGS and os.path.isfile(path):
                found[path.stem].append(path.relative_to(source).as_posix())
    return found


def _refuse_missing(
    rows: Sequence[_Row], videos: dict[str, list[str]], folder: Path, read: ReadFilms
) -> None:
    """List the clips without a video, movie by movie, and those with two."""
    expected = f"videos/<videoid>.mp4 or videos/<year>/<videoid>.mp4 ({', '.join(VIDEO_ENDINGS)})"
    if rows and not any(row.videoid in videos for row in rows):
        found = f"no video for any of its {len(rows)} clips"
        read.problems.append(
            Place(str(folder / CLIPS)).problem("NO_VIDEO", "videoid", found, expected)
        )
        return
    for imdbid, clips in _by_film(rows).items():
        lacking = [row for row in clips if row.videoid not in videos]
        if lacking:
            named = ", ".join(f"{row.videoid} (line {row.place.line})" for row in lacking)
            found = f"no video for {len(lacking)} of the {len(clips)} clips of {imdbid}: {named}"
            instead = f"{expected}, or {CLIPS} without those lines"
            first = lacking[0].place
            read.problems.append(first.problem("NO_VIDEO", "videoid", found, instead))
    for row in rows:
        if len(files := videos.get(row.videoid, [])) > 1:
            found = f"{len(files)} videos: {', '.join(files)}"
            read.problems.append(row.place.problem("NO_VIDEO", "videoid", found, "one video"))


def _by_film(rows: Iterable[_Row]) -> dict[str, list[_Row]]:
    """The clips of each movie, the movies by id and the clips in order."""
    films: dict[str, list[_Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.imdbid, row.index, row.place.line)):
        films[row.imdbid].append(row)
    return films


class _Facts:
    """The facts about clips and movies in the files beside clips.csv."""

    def __init__(self, folder: Path, tables: dict[str, CsvTable], read: ReadFilms) -> None:
        self.folder = folder
        self.has_descriptions = bool(tables["descriptions.csv"].columns)
        self.descriptions = _column(tables["descriptions.csv"], "description", read)
        self.durations = _numbers(tables["durations.csv"], read)
        self.titles = _column(tables["movies.csv"], "title", read)
        self.years = _column(tables["movies.csv"], "year", read)
        self.summaries: dict[str, str] = {}
        for name in _SUMMARY_FILES:
            for column in _SUMMARY_COLUMNS:
                self.summaries = _column(tables[name], column, read) | self.summaries


def _column(table: CsvTable, column: str, read: ReadFilms) -> dict[str, str]:
    """Return the values of a column by id; two different values for one id are a problem."""
    values: dict[str, str] = {}
    if column not in table.columns:
        return values
    key = _NEEDED[table.path.name][0]
    for line, row in table.rows:
        if row[key] and row[column] and values.setdefault(row[key], row[column]) != row[column]:
            place, found = Place(str(table.path), line), f"a second one for {shown(row[key])}"
            read.problems.append(place.problem("DUPLICATE_ID", column, found, f"one per {key}"))
    return values


def _numbers(table: CsvTable, read: ReadFilms) -> dict[str, float]:
    """The durations, in seconds."""
    seconds = {}
    for videoid, text in _column(table, "duration", read).items():
        if re.fullmatch(r"[0-9]{1,6}(\.[0-9]*)?", text):
            seconds[videoid] = float(text)
        else:
            place, found = Place(str(table.path)), f"{shown(text)} for {shown(videoid)}"
            read.problems.append(place.problem("BAD_FIELD", "duration", found, "seconds"))
    return seconds


def _film(
    imdbid: str, rows: Sequence[_Row], videos: dict[str, list[str]], facts: _Facts, read: ReadFilms
) -> Film:
    """Put together one movie, of the clips whose videos are there."""
    first = rows[0].place
    # The channel has called a film now by one name, now by another.
    title = facts.titles.get(imdbid) or _most_usual(row.title for row in rows if row.title)
    if not title:
        found = f"none for {imdbid}"
        expected = f"a title in {CLIPS} or movies.csv"
        read.problems.append(first.problem("MISSING_FIELD", "title", found, expected))
    summary = facts.summaries.get(imdbid, "")
    if not summary and facts.summaries:
        read.problems.append(_no_summary(facts.folder, imdbid, f"none for {imdbid}"))
    place = Place(str(facts.folder / "movies.csv"))
    year = _year(facts.years.get(imdbid, ""), place, read.problems)
    clips = tuple(
        ListedScene(
            videos[row.videoid][0],
            row.name,
            facts.descriptions.get(row.videoid, ""),
            row.place,
            listed=facts.durations.get(row.videoid),
        )
        for row in rows
        if row.videoid in videos
    )
    usual = _most_usual(row.year for row in rows if row.year)
    return Film(imdbid, title or "", summary, clips, year or usual)


def _most_usual(values: Iterable[Value]) -> Value | None:
    """The value that comes most often; of several, the first."""
    return next((value for value, _ in Counter(values).most_common(1)), None)


def _no_summary(folder: Path, imdbid: str, found: str) -> Problem:
    expected = (
        "summaries.csv with imdbid and summary, or a column summary or plot in movie_info.csv"
    )
    name = f"summary of {imdbid}" if imdbid else "summary"
    return Place(str(folder)).problem("MISSING_FIELD", name, found, expected)


def _warn_undescribed(rows: Sequence[_Row], facts: _Facts, read: ReadFilms) -> None:
    lacking = [row.videoid for row in rows if row.videoid not in facts.descriptions]
    if lacking and facts.has_descriptions:
        read.warnings.append(
            f"{len(lacking)} of {len(rows)} clips have no description in descriptions.csv, so "
            f"their log-lines are empty: {some_of(lacking)}."
        )
    elif lacking:
        read.warnings.append(f"{facts.folder} has no descriptions.csv, so all log-lines are empty.")


def some_of(names: Sequence[str]) -> str:
    """Return the first few names as text, with the number of the others."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
