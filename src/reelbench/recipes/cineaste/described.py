"""A folder per movie, each with a ``movie.yaml``, read and checked.

The layout is told in ``source.py``.
"""

import difflib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from reelbench.item_rules import path_escapes
from reelbench.items import Problem, shown
from reelbench.manifest import load_yaml
from reelbench.media.subtitles import ENDINGS
from reelbench.recipes.cineaste.condensed import USABLE_ID, USABLE_ID_SAID, YEARS, Clip, Film, Told
from reelbench.recipes.cineaste.tables import Place

MOVIE_FILE = "movie.yaml"
_MOST_BYTES = 4 * 2**20


def read_described(source: Path) -> Told:
    """Read the movies of a source; nothing is raised, all that is wrong is listed."""
    told = Told()
    for folder in sorted(path for path in source.iterdir() if os.path.isdir(path)):
        hidden = folder.name.startswith(".")
        if hidden and not os.path.lexists(folder / MOVIE_FILE):
            continue  # such as .git
        film = _film(source, folder, told.problems)
        if film:
            told.films.append(film)
    if not told.films and not told.problems:
        found, expected = "no folders in it", f"a folder per movie with {MOVIE_FILE}, or clips.csv"
        told.problems.append(Place(str(source)).problem("NO_ITEMS", "source", found, expected))
    return told


def _film(source: Path, folder: Path, problems: list[Problem]) -> Film | None:
    """Read one movie; None where so much is wrong that nothing more can be looked at."""
    place = Place(str(folder / MOVIE_FILE))
    if not _is_usable(source, folder, problems):
        return None
    read = _read(folder / MOVIE_FILE, problems)
    if read is None:
        return None
    record, lines, scene_lines = read
    if not isinstance(record, dict):
        found, expected = _found(record), "a mapping with title, summary and scenes"
        problems.append(place.problem("BAD_FIELD", "file", found, expected))
        return None
    for code, name, found, expected in _faults(record, _MOVIE):
        problems.append(Problem(code, name, found, expected, place.file, lines.get(name, 0)))
    scenes, clips = record.get("scenes"), []
    for number, scene in enumerate(scenes if isinstance(scenes, list) else ()):
        at = Place(place.file, scene_lines.get(number, 0), f"scenes[{number}]")
        clips.append(_clip(folder.name, scene, at, problems))
    kept = tuple(clip for clip in clips if clip is not None)
    problems += _said_twice(kept)
    title, summary = (_text(record.get(name)) for name in ("title", "summary"))
    year = record["year"] if _is_year(record.get("year")) else None
    return Film(folder.name, title, summary, kept, year, folder.name)


def _is_usable(source: Path, folder: Path, problems: list[Problem]) -> bool:
    place = Place(str(folder))
    if not USABLE_ID.fullmatch(folder.name):
        found = shown(folder.name)
        problems.append(place.problem("BAD_FIELD", "folder", found, USABLE_ID_SAID))
    real, root = os.path.realpath(folder), os.path.realpath(source)
    inside = os.path.commonpath([real, root]) == root
    if not inside:
        found, expected = f"a link to {real}", "a folder in the source: copy it there, or mount it"
        problems.append(place.problem("MEDIA_PATH", "folder", found, expected))
    return inside


def _said_twice(clips: Sequence[Clip]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for clip in clips:
        earlier = seen.setdefault(clip.video, clip.place.prefix)
        if earlier != clip.place.prefix:
            found = f"{clip.video}, as in {earlier}video"
            yield clip.place.problem("DUPLICATE_ID", "video", found, "each video once")


def _clip(folder: str, scene: Any, at: Place, problems: list[Problem]) -> Clip | None:
    """Read one scene; None where its files cannot be looked for."""
    if not isinstance(scene, dict):
        expected = "a mapping with video, title and logline"
        problems.append(at.problem("BAD_FIELD", "", _found(scene), expected))
        return None
    place = Place(at.file, at.line, f"{at.prefix}.")
    faults = list(_faults(scene, _SCENE))
    problems += [place.problem(*fault) for fault in faults]
    if any(name in ("video", "captions") for _, name, _, _ in faults):
        return None
    captions = scene.get("captions")
    return Clip(
        f"{folder}/{scene['video']}",
        _text(scene.get("title")),
        _text(scene.get("logline")),
        place,
        f"{folder}/{captions}" if captions is not None else "",
    )


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


Read = tuple[Any, dict[str, int], dict[int, int]]


def _read(path: Path, problems: list[Problem]) -> Read | None:
    """Return what a file holds, the line of each field and the line of each scene."""
    place, line = Place(str(path)), 0
    try:
        if not os.path.isfile(path):  # a pipe would never end
            raise OSError("no plain file" if os.path.lexists(path) else "no such file")
        if path.stat().st_size > _MOST_BYTES:
            raise OSError(f"more than {_MOST_BYTES >> 20} MiB")
        text = path.read_text(encoding="utf-8-sig")
        record, lines = load_yaml(text)
        return record, lines, _scene_lines(text)
    except OSError as error:
        found, expected = str(error), "a file with title, summary and scenes"
    except UnicodeDecodeError as error:
        found, expected = f"byte 0x{error.object[error.start]:02X}", "UTF-8"
        line = error.object.count(b"\n", 0, error.start) + 1
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 0
        found = getattr(error, "problem", None) or " ".join(str(error).split())
        expected = "YAML"
    except (ValueError, RecursionError) as error:  # a date that is none; too deep a nesting
        found, expected = str(error), "plain YAML"
    problems.append(Place(place.file, line).problem("UNREADABLE", "file", found, expected))
    return None


def _scene_lines(text: str) -> dict[int, int]:
    """Return the line of each scene; a field said twice in one is an error, as a dash forgotten
    makes one scene of two.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    lines: dict[int, int] = {}
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        if key.value != "scenes" or not isinstance(value, yaml.SequenceNode):
            continue
        for number, scene in enumerate(value.value):
            lines[number] = scene.start_mark.line + 1
            seen: set[str] = set()
            for name, _ in scene.value if isinstance(scene, yaml.MappingNode) else ():
                if str(name.value) in seen:
                    said = f"scenes[{number}].{name.value} twice (is a dash missing?)"
                    raise yaml.MarkedYAMLError(problem=said, problem_mark=name.start_mark)
                seen.add(str(name.value))
    return lines


# Whether it must be there, what it must be, and how that is said.
Rule = tuple[bool, Callable[[Any], bool], str]
Fault = tuple[str, str, str, str]


def _is_text(value: Any) -> bool:
    """Whether it is text that says something and can be written to a file."""
    halves = isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value)
    return isinstance(value, str) and bool(value.strip()) and not halves


def _is_year(value: Any) -> bool:
    return type(value) is int and value in YEARS


def _is_path(value: Any) -> bool:
    return _is_text(value) and path_escapes(value) is None


def _is_captions(value: Any) -> bool:
    return _is_path(value) and value.lower().endswith(ENDINGS)


def _are_scenes(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


_TEXT: Rule = (True, _is_text, 'text (put a number in quotes: "1917")')
_INSIDE = "a relative path in the movie's folder, such as scenes/01"
_MOVIE: dict[str, Rule] = {
    "title": _TEXT,
    "summary": _TEXT,
    "scenes": (True, _are_scenes, "a list of at least one scene"),
    "year": (False, _is_year, f"a year from {YEARS.start} to {YEARS.stop - 1}"),
}
_SCENE: dict[str, Rule] = {
    "video": (True, _is_path, f"{_INSIDE}.mp4"),
    "title": _TEXT,
    "logline": _TEXT,
    "captions": (False, _is_captions, f"{_INSIDE}.srt or .vtt"),
}


def _faults(record: Mapping[Any, Any], rules: Mapping[str, Rule]) -> Iterator[Fault]:
    for name, (needed, right, expected) in rules.items():
        value = record.get(name)
        if value is None and needed:
            yield "MISSING_FIELD", name, "nothing", expected
        elif value is not None and not right(value):
            is_path = right in (_is_path, _is_captions) and isinstance(value, str)
            reason = path_escapes(value) if is_path else None
            found = _found(value) + (f" ({reason})" if reason else "")
            yield "BAD_FIELD", name, found, expected
    for name in record:
        if name not in rules and isinstance(name, str):
            close = difflib.get_close_matches(name, rules, n=1, cutoff=0.7)
            if close:
                said = name if name.isidentifier() else shown(name)
                yield "UNKNOWN_FIELD", said, "an unknown field", f"perhaps {close[0]}"


def _found(value: Any) -> str:
    """Show a value that may be anything, without going into it: it may be endless."""
    if value is None:
        return "nothing"
    if isinstance(value, list | dict):
        kind = "list" if isinstance(value, list) else "mapping"
        return f"a {kind}" if value else f"an empty {kind}"
    if isinstance(value, int) and value.bit_length() > 64:
        return "a very large number"
    return str(value) if isinstance(value, int | float) else shown(str(value))
