"""The CSV files of CondensedMovies, or of the same layout, read and checked.

``source.py`` describes the files and their columns. Whoever reads the dataset has some of its
films, and some clips of these: the others are left out by name. What is wrong with clips that are
there, or with a file as a whole, is a problem, and all problems are listed.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from reelbench.base.progress import counted, some_of
from reelbench.data.items import Problem, shown
from reelbench.data.paths import VIDEO_ENDINGS
from reelbench.interop.csv_tables import CsvTable, Place, read_table
from reelbench.recipes.cineaste.clip_order import ListedClip, in_one_order

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
    uploaded: int | None = None  # in which year


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
    skipped: list[tuple[str, str]] = field(default_factory=list)  # films, each with the reason
    without: list[tuple[str, str]] = field(default_factory=list)  # clips of the films that are read
    clip_by_clip: bool = False  # whether a video that cannot be used costs its clip, not its film


def metadata_folder(source: Path) -> Path | None:
    """Return where the CSV files are: in the folder, or in its ``metadata``."""
    places = (source, source / "metadata")
    return next((place for place in places if os.path.lexists(place / CLIPS)), None)


def read_condensed(source: Path, folder: Path) -> ReadFilms:
    """Return the movies in the CSV files, with all problems listed; nothing is raised."""
    read = ReadFilms(clip_by_clip=True)
    tables = {name: _table(folder / name, read) for name in _NEEDED}
    place, lines = Place(str(folder / CLIPS)), tables[CLIPS].rows
    if not lines and not read.problems:
        read.problems.append(place.problem("NO_ITEMS", "file", "no clips", "a line for each clip"))
    videos = _videos(source)
    there = [(line, row) for line, row in lines if row["videoid"] in videos]
    if lines and not there:
        found = f"no video for any of its {len(lines)} clips"
        read.problems.append(place.problem("NO_VIDEO", "videoid", found, _VIDEOS))
    clips = list(_clips(there, place.file, videos, read))
    facts = _Facts(folder, tables, read)
    if lines and not facts.summaries:
        read.problems.append(_no_summary(folder, len({row["imdbid"] for _, row in lines})))
    _sort_out(tables[CLIPS], clips, facts, videos, read)
    return read


_VIDEOS = f"videos/<videoid>.mp4 or videos/<year>/<videoid>.mp4 ({', '.join(VIDEO_ENDINGS)})"


def _table(path: Path, read: ReadFilms) -> CsvTable:
    """Read one of the files, if it is there."""
    if not os.path.lexists(path):
        return CsvTable(path)
    table, problems = read_table(path, _NEEDED[path.name])
    read.problems += problems
    return table


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


def _clips(
    rows: Iterable[tuple[int, Mapping[str, str]]],
    file: str,
    videos: Mapping[str, Sequence[str]],
    read: ReadFilms,
) -> Iterator[ListedClip]:
    """Yield the clips whose videos are there, and list what is wrong with them."""
    seen: dict[str, int] = {}
    for line, row in rows:
        place, videoid, imdbid = Place(file, line), row["videoid"], row["imdbid"]
        problems = []
        if not USABLE_ID.fullmatch(imdbid):
            found = shown(imdbid) if imdbid else "nothing"
            problems.append(place.problem("BAD_FIELD", "imdbid", found, USABLE_ID_RULE))
        index = _whole(row["clip_idx"])
        if index is None and not _is_unknown(row["clip_idx"]):
            expected = "a whole number from 0, or nothing"
            problems.append(
                place.problem("BAD_FIELD", "clip_idx", shown(row["clip_idx"]), expected)
            )
        years = [
            _year(row.get(name, ""), name, place, problems) for name in ("year", "upload_year")
        ]
        if (earlier := seen.setdefault(videoid, line)) != line:
            found = f"{shown(videoid)}, as on line {earlier}"
            problems.append(place.problem("DUPLICATE_ID", "videoid", found, "each videoid once"))
        if len(files := videos[videoid]) > 1:
            found = f"{len(files)} videos: {', '.join(files)}"
            problems.append(place.problem("NO_VIDEO", "videoid", found, "one video"))
        read.problems += problems
        if not problems:
            title, total = row.get("title", ""), _whole(row.get("clip_tot", ""))
            yield ListedClip(
                place, videoid, imdbid, index, row["clip_name"], title, years[0], total, years[1]
            )


def _whole(text: str) -> int | None:
    """Read a whole number, which pandas writes as 3.0 where the column has gaps; -1 is none."""
    match = re.fullmatch(r"([0-9]{1,9})(?:\.0*)?", text)
    return int(match[1]) if match else None


def _is_unknown(text: str) -> bool:
    """Whether a number is said not to be known: by nothing, or by the dataset's -1."""
    return bool(re.fullmatch(r"|nan|-1(?:\.0*)?", text.lower()))


def _year(text: str, name: str, place: Place, problems: list[Problem]) -> int | None:
    """Read a year; None where it is not known."""
    if _is_unknown(text):
        return None
    year = _whole(text)
    if year not in YEARS:
        expected = f"a year from {YEARS.start} to {YEARS.stop - 1}, or nothing"
        problems.append(place.problem("BAD_FIELD", name, shown(text), expected))
    return year


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
    """Read the durations."""
    seconds: dict[str, float] = {}
    for videoid, text in _column(table, "duration", read).items():
        if re.fullmatch(r"[0-9]{1,6}(\.[0-9]*)?", text):
            seconds[videoid] = float(text)
        else:
            place, found = Place(str(table.path)), f"{shown(text)} for {shown(videoid)}"
            read.problems.append(place.problem("BAD_FIELD", "duration", found, "seconds"))
    return seconds


def _no_summary(folder: Path, films: int) -> Problem:
    expected = (
        "summaries.csv with imdbid and summary, or a column summary or plot in movie_info.csv"
    )
    found = f"none for any of {films} movies"
    return Place(str(folder)).problem("MISSING_FIELD", "summary", found, expected)


def _sort_out(
    table: CsvTable,
    clips: Sequence[ListedClip],
    facts: _Facts,
    videos: Mapping[str, Sequence[str]],
    read: ReadFilms,
) -> None:
    """Take the films that are there; leave out the others, and the clips that are not there."""
    lines: dict[str, list[tuple[int, str]]] = defaultdict(list)  # of each film, with the video
    for line, row in table.rows:
        lines[row["imdbid"]].append((line, row["videoid"]))
    by_film: dict[str, list[ListedClip]] = defaultdict(list)
    for clip in clips:
        by_film[clip.imdbid].append(clip)
    lacking: Counter[str] = Counter()
    for imdbid in sorted(lines):
        here = by_film[imdbid]
        kept, others = in_one_order(here)
        title = facts.titles.get(imdbid) or _most_usual(clip.title for clip in kept if clip.title)
        without = [(clip.place.line, clip.videoid, why) for clip, why in others]
        reasons = {
            "no video": not here,
            "no clip that can be used": here and not kept,
            "no title": kept and not title,
            "no summary": imdbid not in facts.summaries,
        }
        if lacks := [reason for reason, is_so in reasons.items() if is_so]:
            lacking.update(lacks)
            words = [*lacks, *(f"{videoid}: {why}" for _, videoid, why in without)]
            read.skipped.append((imdbid or "(no imdbid)", "; ".join(words)))
            continue
        without += [(line, v, "it has no video") for line, v in lines[imdbid] if v not in videos]
        read.without += [
            (videoid or "(no videoid)", f"{why} ({CLIPS}:{line}, {imdbid})")
            for line, videoid, why in sorted(without)
        ]
        read.films.append(_film(imdbid, title or "", kept, facts, videos, read))
    _tell_skipped(lacking, len(lines), table, read)
    if unknown := sorted(videos.keys() - {videoid for of in lines.values() for _, videoid in of}):
        read.warnings.append(
            f"{counted(len(unknown), 'video')} in no line of {CLIPS}: {some_of(unknown)}."
        )
    _warn_undescribed(facts, read)


def _film(
    imdbid: str,
    title: str,
    clips: Sequence[ListedClip],
    facts: _Facts,
    videos: Mapping[str, Sequence[str]],
    read: ReadFilms,
) -> Film:
    """Put together one movie, of the clips that are there."""
    place = Place(str(facts.folder / "movies.csv"))
    year = _year(facts.years.get(imdbid, ""), "year", place, read.problems)
    scenes = tuple(
        ListedScene(
            videos[clip.videoid][0],
            clip.name,
            facts.descriptions.get(clip.videoid, ""),
            clip.place,
            listed=facts.durations.get(clip.videoid),
            uploaded=clip.uploaded,
        )
        for clip in clips
    )
    usual = _most_usual(clip.year for clip in clips if clip.year)
    return Film(imdbid, title, facts.summaries[imdbid], scenes, year or usual)


def _most_usual(values: Iterable[Value]) -> Value | None:
    """The value that comes most often; of several, the first."""
    return next((value for value, _ in Counter(values).most_common(1)), None)


def _tell_skipped(lacking: Counter[str], films: int, table: CsvTable, read: ReadFilms) -> None:
    """Say how many films are left out, by reason; that all of them are is a problem."""
    why = ", ".join(f"{reason} ({count:,})" for reason, count in lacking.most_common())
    if not read.films and not read.problems:
        found = f"no film of {films:,} that can be used: {why}"
        expected = "a film with a summary, a title, and clips with a video, a name and a number"
        read.problems.append(Place(str(table.path)).problem("NO_ITEMS", "file", found, expected))
    elif read.skipped:
        count = f"{len(read.skipped):,} of {films:,} films"
        read.warnings.append(f"{count} in {CLIPS} are left out: {why}.")


def _warn_undescribed(facts: _Facts, read: ReadFilms) -> None:
    scenes = [scene for film in read.films for scene in film.clips]
    lacking = [Path(scene.video).stem for scene in scenes if not scene.logline]
    if lacking and facts.has_descriptions:
        read.warnings.append(
            f"{len(lacking)} of {len(scenes)} clips have no description in descriptions.csv, so "
            f"their log-lines are empty: {some_of(lacking)}."
        )
    elif lacking:
        read.warnings.append(f"{facts.folder} has no descriptions.csv, so all log-lines are empty.")
