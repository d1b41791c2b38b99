"""Catalogues: videos with public metadata, of which a recipe chooses some.

``--source`` names one of these:

- **A folder with videos** and, beside each, its metadata as JSON: ``VIDEO.info.json``, as yt-dlp
  writes it, or ``VIDEO.json``. Read are ``id``, ``title``, ``channel`` or ``uploader``,
  ``description``, ``view_count``, ``webpage_url`` and, of our own, ``category``. A video without
  metadata goes by the name of its file. Metadata without a video are of one to be downloaded.
- **A catalogue**, ``NAME.csv`` or ``NAME.jsonl``, or a folder with ``catalogue.csv`` or
  ``catalogue.jsonl``: ``video_id``, ``title``, ``channel``, ``description``, ``view_count``,
  ``url`` and/or ``file`` (a path from the catalogue's folder) and ``category``. What is not known
  is left empty. Lines that ``yt-dlp --dump-json`` prints are understood.
- **A search**, ``NAME.yaml``: see ``web.py``.

``category``, where it is there, names one of the recipe's, and the video is considered for that
alone.
What cannot be read is listed all at once, and nothing is made. A video that is there twice, whose
file is missing and that has no address, or that lies outside of the folder, is left out with the
reason.
"""

import json
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of, whole_data
from reelbench.base.json_faults import json_fault
from reelbench.base.limits import LimitError, decode_json
from reelbench.base.progress import counted
from reelbench.data.benchmark import BenchmarkError
from reelbench.data.fields import Rule, field_faults, found_as, is_path, is_text
from reelbench.data.items import Problem
from reelbench.data.paths import VIDEO_ENDINGS, link_outside
from reelbench.interop.csv_tables import Place, read_raw, read_table
from reelbench.interop.json_lines import read_json_lines

CATALOGUES = ("catalogue.csv", "catalogue.jsonl")
FIELDS = ("video_id", "title", "channel", "description", "view_count", "url", "file", "category")
_SIDECAR = ".info.json"
CategoryNamed = Callable[[str], str | None]  # the category that a text names; None where it is none


class VideoCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A video that may be chosen, by its public metadata."""

    video_id: str
    title: str
    channel: str = ""
    description: str = ""
    view_count: int | None = None
    url: str = ""
    file: str = ""  # its path from the folder of the source
    category: str = ""  # where the metadata name one


def file_id(video_id: str) -> str:
    """Return a name for the files of a video: its id, with a hash where signs had to go."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", video_id)[:60]
    return plain if plain == video_id else f"{plain.strip('-')}-{digest_of(video_id)[:8]}"


@dataclass(slots=True)
class Catalogue:
    """The videos of a source, and what is wrong with others."""

    root: Path  # where their files are
    candidates: list[VideoCandidate] = field(default_factory=list)
    broken: list[tuple[str, str]] = field(default_factory=list)  # names and reasons
    warnings: list[str] = field(default_factory=list)


def source_folder(source: Path) -> Path:
    """Return the folder that the files of a source are in."""
    return source if source.is_dir() else source.parent


def read_catalogue(source: Path, categories: Sequence[str], named: CategoryNamed) -> Catalogue:
    """Return the videos of a folder or catalogue; raise ``BenchmarkError`` with all problems.

    ``categories`` are those that videos may be of, and ``named`` knows their other spellings.
    """
    files = [source / name for name in CATALOGUES if (source / name).exists()]
    if len(files) > 1:
        names = " and ".join(path.name for path in files)
        raise ReelbenchError(f"{source} has {names}: name one of them in --source.")
    if not source.is_dir() and source.suffix not in (".csv", ".jsonl"):
        raise ReelbenchError(
            f"{source} is not a folder, a catalogue (.csv or .jsonl) or a search (.yaml): name one "
            "of these in --source."
        )
    catalogue = Catalogue(source_folder(source))
    if source.is_dir() and not files:
        records, problems = _sidecars(source, catalogue)
    else:
        records, problems = _lines(files[0] if files else source)
    seen: dict[str, Place] = {}
    rules = {**_RULES, "category": _category_rule(categories, named)}
    for place, record in records:
        candidate, faults = _candidate(place, record, rules, named)
        problems += faults
        if candidate is not None:
            _add(catalogue, candidate, place, seen)
    if problems:
        raise BenchmarkError(problems)
    return catalogue


def _add(
    catalogue: Catalogue, candidate: VideoCandidate, place: Place, seen: dict[str, Place]
) -> None:
    """Add a candidate, or say why it cannot be used."""
    first = seen.setdefault(candidate.video_id, place)
    reason = ""
    if first is not place:
        reason = f"the same video_id as {_shown(first)}"
    elif candidate.file and not (catalogue.root / candidate.file).is_file():
        if candidate.url:
            candidate = msgspec.structs.replace(candidate, file="")
        else:
            reason = f"{candidate.file} is not there, and no url is known"
    elif candidate.file and (
        target := link_outside(catalogue.root, catalogue.root / candidate.file)
    ):
        reason = f"{candidate.file} is a link to {target}, outside of {catalogue.root}"
    if reason:
        catalogue.broken.append((candidate.video_id, f"{_shown(place)}: {reason}"))
    else:
        catalogue.candidates.append(candidate)


def _shown(place: Place) -> str:
    name = os.path.basename(place.file)
    return f"{name}:{place.line}" if place.line else name


Records = tuple[list[tuple[Place, Any]], list[Problem]]


def _lines(path: Path) -> Records:
    """Return the records of a catalogue."""
    if path.suffix == ".jsonl":
        return read_json_lines(path, "a catalogue")
    table, problems = read_table(path, ("video_id", "title"))
    if not problems and not {"url", "file"} & set(table.columns):
        place = Place(str(path), 1)
        problems.append(
            place.problem("MISSING_FIELD", "url", "neither url nor file", "one of these columns")
        )
    return [(Place(str(path), line), _from_csv(row)) for line, row in table.rows], problems


def _from_csv(row: Mapping[str, str]) -> dict[str, Any]:
    record: dict[str, Any] = {name: row[name] for name in FIELDS if row.get(name)}
    views = record.get("view_count", "").removesuffix(".0")  # as tables with gaps are written
    if views.isdecimal():
        record["view_count"] = int(views)
    return record


def candidate_fields(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a candidate from a record of ours or of yt-dlp; None is left out."""
    named = {
        "video_id": ("video_id", "id"),
        "title": ("title", "fulltitle"),
        "channel": ("channel", "uploader"),
        "description": ("description",),
        "view_count": ("view_count",),
        "url": ("webpage_url", "original_url", "url"),
        "file": ("file",),
        "category": ("category",),
    }
    found = {
        name: next((info[each] for each in names if info.get(each) not in (None, "")), None)
        for name, names in named.items()
    }
    return {name: value for name, value in found.items() if value is not None}


def _is_address(value: Any) -> bool:
    return is_text(value) and str(value).startswith(("http://", "https://"))


_RULES: dict[str, Rule] = {
    "video_id": (True, lambda value: is_text(value) and len(value) <= 200, "a short text"),
    "title": (True, is_text, "a text"),
    "channel": (False, lambda value: isinstance(value, str), "a text"),
    "description": (False, lambda value: isinstance(value, str), "a text"),
    "view_count": (False, lambda v: type(v) is int and v >= 0, "a whole number from 0 on"),
    "url": (False, _is_address, "an address that begins with http:// or https://"),
    "file": (False, is_path, "a relative path in the folder of the catalogue"),
}


def _category_rule(categories: Sequence[str], named: CategoryNamed) -> Rule:
    return (
        False,
        lambda value: isinstance(value, str) and named(value) is not None,
        f"one of {', '.join(categories)}",
    )


def _candidate(
    place: Place, record: Any, rules: Mapping[str, Rule], named: CategoryNamed
) -> tuple[VideoCandidate | None, list[Problem]]:
    if not isinstance(record, Mapping):
        expected = f"an object with {', '.join(FIELDS)}"
        return None, [place.problem("BAD_FIELD", "line", found_as(record), expected)]
    fields = candidate_fields(record)
    faults = list(field_faults(fields, rules, paths=frozenset({"file"})))
    if not faults and not fields.keys() & {"url", "file"}:
        faults.append(("MISSING_FIELD", "url", "neither url nor file", "one of them"))
    if faults:
        return None, [place.problem(*fault) for fault in faults]
    if "category" in fields:
        fields["category"] = named(fields["category"])
    texts = {name: v.strip() if isinstance(v, str) else v for name, v in fields.items()}
    return VideoCandidate(**whole_data(texts)), []


def _sidecars(source: Path, catalogue: Catalogue) -> Records:
    """Return the metadata of the videos of a folder, and those that are of no video there."""
    videos, metadata = _files(source)
    beside = {video: name for video in videos if (name := _beside(video, metadata))}
    records: list[tuple[Place, Any]] = []
    problems: list[Problem] = []
    for video in videos:
        name = beside.get(video)
        record, faults = _json(source / name) if name else ({}, [])
        problems += faults
        stem = os.path.splitext(video)[0]
        if isinstance(record, Mapping):
            named = {"id": stem, "title": os.path.basename(stem)}
            record = {**named, **candidate_fields(record), "file": video}
        records += [] if faults else [(Place(str(source / (name or video))), record)]
    for name in sorted(metadata - set(beside.values())):
        record, faults = _json(source / name) if name.endswith(_SIDECAR) else (None, [])
        problems += faults
        if isinstance(record, Mapping) and record.get("_type", "video") == "video":
            records.append((Place(str(source / name)), record))
    if without := len(videos) - len(beside):
        catalogue.warnings.append(
            f"{counted(without, 'video has', 'videos have')} no metadata but the name of the file: "
            f"write VIDEO{_SIDECAR} beside it, as `yt-dlp --write-info-json` does."
        )
    return sorted(records, key=lambda pair: pair[0].file), problems


def _beside(video: str, metadata: Collection[str]) -> str | None:
    """Return the file with the metadata of a video; None where there is none."""
    stem = os.path.splitext(video)[0]
    names = (f"{stem}{_SIDECAR}", f"{stem}.json", f"{video}.json")
    return next((name for name in names if name in metadata), None)


def _files(source: Path) -> tuple[list[str], set[str]]:
    """Return the paths of the videos and of the JSON files of a folder, hidden ones left out."""
    videos, metadata = [], set()
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), source)
            if name.startswith("."):
                continue
            if name.lower().endswith(VIDEO_ENDINGS):
                videos.append(path)
            elif name.endswith(".json"):
                metadata.add(path)
    return videos, metadata


def _json(path: Path) -> tuple[Any, list[Problem]]:
    """Return the content of a JSON file, or the problem that says why it cannot be read."""
    raw, problems = read_raw(path, "metadata as JSON")
    if problems:
        return None, problems
    line, expected = 0, "JSON"
    try:
        return decode_json(raw.decode("utf-8-sig")), []
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found, expected = f"byte 0x{raw[error.start]:02X}", "UTF-8"
    except json.JSONDecodeError as error:
        found, line, _ = json_fault(error)
    except (LimitError, ValueError) as error:
        found = str(error)
    return None, [Place(str(path), line).problem("NOT_JSON", "file", found, expected)]
