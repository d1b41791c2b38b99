"""What Q-Bench-Video is made from: videos of quality assessment datasets, with people's scores.

A source is a folder with a ``datasets.yaml``::

    datasets:
      - name: konvid                    # begins the ids of items: letters, digits, . _ -
        type: natural                   # or AIGC, or CG (Table 1)
        scores: KONVID_1K_metadata.csv  # inside the folder: CSV, a plain list, or JSON
        video: flickr_id                # the column of the videos' names
        score: mos                      # the one column of scores; higher is better
        videos: KoNViD_1k_videos        # the folder of the files; without it nothing is asked
        sample: 600                     # how many videos to draw
        pairs: 200                      # how many pairs to draw of those

- A dataset with several scores per video declares one of them, as the paper does: the overall score
  of MaxWell, the visual quality of VideoFeedback (8).
- A list without a first line of names has its columns by number: ``video: 1``, ``score: 2``. Fields
  are parted by commas, semicolons or tabs, whichever the first line has most of, or by spaces.
- JSON is a list of objects, a mapping from names to scores, which needs no ``video`` and ``score``,
  or a mapping from names to objects, which needs ``score``.
- A name may be a path inside ``videos``, and may lack the ending of the file.
- Without ``sample``, five times as many are drawn as the thinnest of the five intervals of scores
  has, so that all are equal; without ``pairs``, a third as many pairs as videos.

What is wrong with files, columns and scores is listed all at once. Real files have rows that cannot
be used: one without a score, or whose video is not there, is set apart with the reason. So is a bad
row, such as a word for a score or a second score of a video, as long as at most a tenth of a file's
rows are bad; beyond that the file is not what it is taken for, and each is an error with its line.
"""

import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import some_of
from reelbench.data.benchmark import BenchmarkError
from reelbench.data.fields import Rule, field_faults, found_as, is_path, is_text
from reelbench.data.items import Problem, shown
from reelbench.data.paths import VIDEO_ENDINGS, link_outside, path_escapes
from reelbench.data.sources import Sources
from reelbench.interop.csv_tables import Place
from reelbench.interop.described_file import read_described_file
from reelbench.interop.qbench_video.taxonomy import CONTENT
from reelbench.recipes.qbench_video.rows import ScoredVideo
from reelbench.recipes.qbench_video.scores import (
    BadRow,
    Columns,
    ScoreFile,
    WrittenScore,
    read_scores,
)

DATASETS = "datasets.yaml"
_NO_SCORE = frozenset({"", "nan", "na", "n/a", "null", "none"})
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
_MOST_BAD = Fraction(1, 10)  # of the rows of a file


class ScoreSourceError(BenchmarkError):
    """Sources that cannot be read as they are; every problem in them is listed."""


@dataclass(slots=True)
class _Found:
    """The videos of a source, with all problems and warnings."""

    videos: list[ScoredVideo] = field(default_factory=list)
    broken: list[tuple[str, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def videos_in(source: Path | str) -> Sources:
    """Return the scored videos of all datasets; raise ``ScoreSourceError`` with all problems."""
    source, found = Path(source), _Found()
    if not source.is_dir():
        raise ReelbenchError(f"{source} is not a folder: name one with a {DATASETS} in --source.")
    for entry, place in _entries(source, found.problems):
        _read_dataset(source, entry, place, found)
    if found.problems:
        raise ScoreSourceError(found.problems)
    found.videos.sort(key=lambda video: video.id)
    return Sources(tuple(found.videos), tuple(sorted(found.broken)), tuple(found.warnings))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(_NAME.fullmatch(value))


def _is_column(value: Any) -> bool:
    return is_text(value) or (type(value) is int and value >= 1)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


_COLUMN = "the name of a column, or its number from 1"
_PATHS = frozenset({"scores", "videos"})
_DATASET: dict[str, Rule] = {
    "name": (True, _is_name, "at most 100 of the characters A-Z a-z 0-9 . _ - (no dot first)"),
    "type": (True, lambda value: value in CONTENT, f"one of {', '.join(CONTENT)}"),
    "scores": (True, is_path, "a relative path in the folder, such as scores.csv"),
    "video": (False, _is_column, _COLUMN),
    "score": (False, _is_column, f"one column of scores: {_COLUMN}"),
    "videos": (False, is_path, "a relative path in the folder, such as videos"),
    "sample": (False, lambda value: _is_count(value) and value > 0, "a whole number from 1 on"),
    "pairs": (False, _is_count, "a whole number from 0 on"),
}


def _entries(source: Path, problems: list[Problem]) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yield the datasets that are right in themselves, each with its place in the file."""
    path = source / DATASETS
    wanted = "`datasets:` and a list, each with name, type, scores, video and score"
    read = read_described_file(path, "datasets", f"a file with {wanted}")
    if isinstance(read, Problem):
        problems.append(read)
        return
    listed = read.record.get("datasets") if isinstance(read.record, dict) else read.record
    if not isinstance(read.record, dict) or not isinstance(listed, list) or not listed:
        problems.append(Place(str(path)).problem("BAD_FIELD", "datasets", found_as(listed), wanted))
        return
    names: set[str] = set()
    for number, entry in enumerate(listed):
        place = Place(str(path), read.entries.get((number, ""), 0), f"datasets[{number}].")
        if not isinstance(entry, dict):
            problems.append(place.problem("BAD_FIELD", "", found_as(entry), "a mapping"))
            continue
        faults = list(field_faults(entry, _DATASET, paths=_PATHS))
        if isinstance(entry.get("name"), str) and entry["name"] in names:
            faults.append(("DUPLICATE_ID", "name", shown(entry["name"]), "each name once"))
        names.add(str(entry.get("name")))
        for code, name, found, expected in faults:
            line = read.entries.get((number, name), place.line)
            at = Place(place.file, line, place.prefix)
            problems.append(at.problem(code, name, found, expected))
        if not faults:
            yield entry, place


def _read_dataset(source: Path, entry: Mapping[str, Any], place: Place, found: _Found) -> None:
    """Read the scores of one dataset, and find its videos."""
    outside = [
        name
        for name in ("scores", "videos")
        if entry.get(name) and link_outside(source, source / entry[name])
    ]
    for name in outside:
        expected = f"a path inside {source}: copy it there, or mount it"
        link = f"{entry[name]}, a link that leads out of {source}"
        found.problems.append(place.problem("MEDIA_PATH", name, link, expected))
    folder = entry.get("videos")
    if folder is not None and not outside and not os.path.isdir(source / folder):
        expected = "a folder with the videos; leave it out to sample and pair without them"
        found.problems.append(
            place.problem("MEDIA_PATH", "videos", f"{folder}, which is not a folder", expected)
        )
        folder = None
    if "scores" in outside:
        return
    path = source / entry["scores"]
    columns = Columns(entry.get("video"), entry.get("score"), place)
    read = read_scores(path, columns)
    found.problems += read.problems
    if not read.problems:
        _add_videos(source, entry, path, _without_repeats(read, entry, found), found)


def _without_repeats(read: ScoreFile, entry: Mapping[str, Any], found: _Found) -> ScoreFile:
    """Return each score once; a row without a name and a video with two scores are bad."""
    named: dict[str, list[WrittenScore]] = defaultdict(list)
    bad = list(read.bad)
    for each in read.scores:
        named[each.name].append(each)
    for each in named.pop("", ()):
        problem = each.place.problem("MISSING_FIELD", "video", "nothing", "a video's name")
        bad.append(BadRow.of("", each.place, problem))
    again: list[str] = []
    once: list[WrittenScore] = []
    for name, (first, *others) in named.items():
        different = [each for each in others if not _same_score(first.score, each.score)]
        if different:
            bad.append(_contradicting(name, first, different))
        else:
            once.append(first)
            again += [name] * len(others)
    if again:
        found.warnings.append(
            f"{entry['name']}: {len(again)} of {read.rows} rows repeat an earlier one and count "
            f"once: {some_of(again)}"
        )
    return replace(read, scores=once, bad=bad)


def _contradicting(name: str, first: WrittenScore, others: Sequence[WrittenScore]) -> BadRow:
    """Return the row of a video that has several scores: none of them is known to be right."""
    last = others[-1]
    conflict = f"{shown(name)} again, with {shown(last.score)}, not {shown(first.score)}"
    problem = last.place.problem("DUPLICATE_ID", "video", conflict, "one score per video")
    scores = " and ".join(sorted({shown(each.score) for each in (first, *others)}))
    return BadRow(name, f"several scores: {scores} in {Path(last.place.file).name}", problem)


def _same_score(one: str, other: str) -> bool:
    if _NUMBER.fullmatch(one) and _NUMBER.fullmatch(other):
        return float(one) == float(other)
    return one.lower() == other.lower()


def _add_videos(
    source: Path, entry: Mapping[str, Any], path: Path, read: ScoreFile, found: _Found
) -> None:
    """Add the videos that can be used and those that cannot; none at all is a problem."""
    files = _files(source, entry.get("videos"))
    bad = list(read.bad)
    broken: list[tuple[str, str]] = []
    videos: list[ScoredVideo] = []
    for each in read.scores:
        name = _id_of(entry, each.name)
        score = _score_of(each, str(entry.get("score") or "score"))
        file, fault = _file_of(source, entry, each, files)
        if isinstance(score, Problem):
            score = _with_hint(score, each, read.scores, entry)
            bad.append(BadRow.of(each.name, each.place, score))
        elif isinstance(fault, Problem):
            bad.append(BadRow.of(each.name, each.place, fault))
        elif isinstance(score, str) or fault:
            broken.append((name, score if isinstance(score, str) else str(fault)))
        else:
            videos.append(
                ScoredVideo(
                    id=name,
                    dataset=entry["name"],
                    content=entry["type"],
                    name=each.name,
                    score=score,
                    path=file,
                    sample=entry.get("sample"),
                    pairs=entry.get("pairs"),
                )
            )
    problems: list[Problem] = []
    if len(bad) > _MOST_BAD * read.rows:
        many, few = f"{len(bad):,} bad rows of {read.rows:,}", "at most a tenth, to be set apart"
        problems = [Place(str(path)).problem("BAD_FIELD", "file", many, few)]
        problems += [row.problem for row in bad]
    elif bad:
        broken += [(_id_of(entry, row.name), row.reason) for row in bad]
        found.warnings.append(_set_apart(entry["name"], path, bad, read.rows))
    if not videos and not problems:
        why = (
            f"none of {read.rows} rows can be used; {broken[0][0]}: {broken[0][1]}"
            if broken
            else ""
        )
        expected = "scores of videos that exist"
        problems.append(Place(str(path)).problem("NO_ITEMS", "file", why or "no rows", expected))
    found.problems += problems
    found.broken += broken
    found.videos += videos


def _id_of(entry: Mapping[str, Any], name: str) -> str:
    return f"{entry['name']}:{quote(name, safe='')}"


def _set_apart(dataset: str, path: Path, bad: Sequence[BadRow], rows: int) -> str:
    """Return the warning that names the bad rows of a file that is used all the same."""
    named = sorted(f"{row.name or 'a row without a name'} ({row.reason})" for row in bad)
    return (
        f"{dataset}: {len(bad)} of {rows:,} rows of {path.name} are bad and set apart: "
        f"{some_of(named)}. Mend them there, or leave them out"
    )


def _score_of(written: WrittenScore, column: str) -> float | str | Problem:
    """Return a score, why there is none, or the problem with what is written."""
    place = written.place
    if written.score.lower() in _NO_SCORE:
        # Without the line: the order of rows decides nothing, not even in what is said of them.
        return f"no score: {column} is {shown(written.score)} in {Path(place.file).name}"
    if _NUMBER.fullmatch(written.score) and math.isfinite(score := float(written.score)):
        return score
    return place.problem("BAD_FIELD", column, shown(written.score), "a number such as 3.5")


def _with_hint(
    problem: Problem, each: WrittenScore, scores: Sequence[WrittenScore], entry: Mapping[str, Any]
) -> Problem:
    if each is not scores[0] or not isinstance(entry.get("score"), int):
        return problem
    expected = f"{problem.expected} (if this is a line of names, give names instead of numbers)"
    return replace(problem, expected=expected)


def _files(source: Path, folder: str | None) -> dict[str, list[str]]:
    """Return the files of a folder by their paths in it, with and without a video's ending."""
    files: dict[str, list[str]] = defaultdict(list)
    if folder is None:
        return files
    root = source / folder
    for place, _, names in os.walk(root):
        for name in names:
            path = os.path.relpath(os.path.join(place, name), root).replace(os.sep, "/")
            files[path].append(path)
            stem, ending = os.path.splitext(path)
            if ending.lower() in VIDEO_ENDINGS:
                files[stem].append(path)
    return files


def _file_of(
    source: Path,
    entry: Mapping[str, Any],
    written: WrittenScore,
    files: Mapping[str, Sequence[str]],
) -> tuple[str, str | Problem]:
    """Return the path of a video in the source, or what is wrong with it."""
    folder = entry.get("videos")
    if folder is None:
        return "", ""
    reason = path_escapes(written.name)
    if reason:
        found, expected = f"{shown(written.name)} ({reason})", f"a path inside {folder}"
        return "", written.place.problem("MEDIA_PATH", "video", found, expected)
    there = sorted(files.get(written.name, ()))
    if written.name in there:
        there = [written.name]
    if not there:
        return "", f"no video: {written.name} is not in {folder}, with or without an ending"
    if len(there) > 1:
        return "", f"several videos: {', '.join(there)} in {folder}; keep one of them"
    path = f"{folder}/{there[0]}"
    if link_outside(source, source / path):
        return "", f"no video: {path} is a link that leads out of the sources"
    return path, ""
