"""A folder per movie, each with a ``movie.yaml``, read and checked.

``source.py`` describes the layout.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reelbench.data.fields import Rule, field_faults, found_as, is_path, is_text
from reelbench.data.items import Problem, shown
from reelbench.data.paths import SUBTITLE_ENDINGS, link_outside
from reelbench.interop.csv_tables import Place
from reelbench.interop.described_file import read_described_file
from reelbench.recipes.cineaste.condensed import (
    USABLE_ID,
    USABLE_ID_RULE,
    YEARS,
    Film,
    ListedScene,
    ReadFilms,
)

MOVIE_FILE = "movie.yaml"
_HOLDS = "a file with title, summary and scenes"
_PATHS = frozenset({"video", "captions"})


def read_described(source: Path) -> ReadFilms:
    """Return the movies of a source, with all problems listed; nothing is raised."""
    read = ReadFilms()
    for folder in sorted(path for path in source.iterdir() if os.path.isdir(path)):
        hidden = folder.name.startswith(".")
        if hidden and not os.path.lexists(folder / MOVIE_FILE):
            continue  # such as .git
        film = _film(source, folder, read.problems)
        if film:
            read.films.append(film)
    if not read.films and not read.problems:
        found, expected = "no folders in it", f"a folder per movie with {MOVIE_FILE}, or clips.csv"
        read.problems.append(Place(str(source)).problem("NO_ITEMS", "source", found, expected))
    return read


def _film(source: Path, folder: Path, problems: list[Problem]) -> Film | None:
    """Return one movie; None where its folder or file cannot be read."""
    place = Place(str(folder / MOVIE_FILE))
    if not _is_usable(source, folder, problems):
        return None
    read = read_described_file(folder / MOVIE_FILE, "scenes", _HOLDS)
    if isinstance(read, Problem):
        problems.append(read)
        return None
    record, lines = read.record, read.lines
    if not isinstance(record, dict):
        found, expected = found_as(record), "a mapping with title, summary and scenes"
        problems.append(place.problem("BAD_FIELD", "file", found, expected))
        return None
    for code, name, found, expected in field_faults(record, _MOVIE):
        problems.append(Problem(code, name, found, expected, place.file, lines.get(name, 0)))
    scenes, clips = record.get("scenes"), []
    for number, scene in enumerate(scenes if isinstance(scenes, list) else ()):
        at = Place(place.file, read.entries.get((number, ""), 0), f"scenes[{number}]")
        clips.append(_clip(folder.name, scene, at, problems))
    kept = tuple(clip for clip in clips if clip is not None)
    problems += _repeated_videos(kept)
    title, summary = (_text(record.get(name)) for name in ("title", "summary"))
    year = record["year"] if _is_year(record.get("year")) else None
    return Film(folder.name, title, summary, kept, year, folder.name)


def _is_usable(source: Path, folder: Path, problems: list[Problem]) -> bool:
    place = Place(str(folder))
    if not USABLE_ID.fullmatch(folder.name):
        found = shown(folder.name)
        problems.append(place.problem("BAD_FIELD", "folder", found, USABLE_ID_RULE))
    real = link_outside(source, folder)
    if real:
        found, expected = f"a link to {real}", "a folder in the source: copy it there, or mount it"
        problems.append(place.problem("MEDIA_PATH", "folder", found, expected))
    return not real


def _repeated_videos(clips: Sequence[ListedScene]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for clip in clips:
        earlier = seen.setdefault(clip.video, clip.place.prefix)
        if earlier != clip.place.prefix:
            found = f"{clip.video}, as in {earlier}video"
            yield clip.place.problem("DUPLICATE_ID", "video", found, "each video once")


def _clip(folder: str, scene: Any, at: Place, problems: list[Problem]) -> ListedScene | None:
    """Return one scene; None where its paths are wrong."""
    if not isinstance(scene, dict):
        expected = "a mapping with video, title and logline"
        problems.append(at.problem("BAD_FIELD", "", found_as(scene), expected))
        return None
    place = Place(at.file, at.line, f"{at.prefix}.")
    faults = list(field_faults(scene, _SCENE, paths=_PATHS))
    problems += [place.problem(*fault) for fault in faults]
    if any(name in ("video", "captions") for _, name, _, _ in faults):
        return None
    captions, uploaded = scene.get("captions"), scene.get("upload_year")
    return ListedScene(
        f"{folder}/{scene['video']}",
        _text(scene.get("title")),
        _text(scene.get("logline")),
        place,
        f"{folder}/{captions}" if captions is not None else "",
        uploaded=uploaded if _is_year(uploaded) else None,
    )


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _is_year(value: Any) -> bool:
    return type(value) is int and value in YEARS


def _is_captions(value: Any) -> bool:
    return is_path(value) and value.lower().endswith(SUBTITLE_ENDINGS)


def _are_scenes(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


_TEXT: Rule = (True, is_text, 'text (put a number in quotes: "1917")')
_INSIDE = "a relative path in the movie's folder, such as scenes/01"
_YEAR: Rule = (False, _is_year, f"a year from {YEARS.start} to {YEARS.stop - 1}")
_MOVIE: dict[str, Rule] = {
    "title": _TEXT,
    "summary": _TEXT,
    "scenes": (True, _are_scenes, "a list of at least one scene"),
    "year": _YEAR,
}
_SCENE: dict[str, Rule] = {
    "video": (True, is_path, f"{_INSIDE}.mp4"),
    "title": _TEXT,
    "logline": _TEXT,
    "captions": (False, _is_captions, f"{_INSIDE}.srt or .vtt"),
    "upload_year": _YEAR,
}
