"""MMOU's own rows, as they are published: a JSON list, or an object per line, and the videos.

A source is a folder. In it are files ``*.json`` or ``*.jsonl``, and the videos, anywhere in it or
below. A row is::

    {"question_id": "...", "video_url": "https://www.youtube.com/watch?v=ID", "domain": "News",
     "question": "...", "question_type": ["Needle", "Counting"], "options": {"A": "...", ...},
     "start_time": "01:05", "end_time": "01:12", "video_duration": 711,
     "correct_option_letter": "J"}

- The video is the file whose name, without its ending, is the id in ``video_url``.
- Skills and domains are taken in any spelling that is known, and what was read as what is
  reported. What is not known is kept as it is written, and warned about.
- ``answer`` or ``correct_answer``, the author's own words, become the reference, if a row has one.
  Without, the text of the key does, unless that is "None of the above".
- Rows that break the instructions for annotators, and times that are missing or reversed, are
  warned about and never refused. A row without a key cannot be scored, and one without its video
  cannot be asked: both are left out by name. Fields that are not ours are kept.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.base.text import is_none_of_them
from reelbench.base.times import seconds_of
from reelbench.data.benchmark import BenchmarkError
from reelbench.data.fields import found_as
from reelbench.data.items import LETTERS, Item, Media, Span, freeze
from reelbench.data.paths import VIDEO_ENDINGS, link_outside
from reelbench.data.question_rules import asks_yes_no, lists_options
from reelbench.data.sources import Sources
from reelbench.interop.csv_tables import Place
from reelbench.interop.mmou.taxonomy import (
    domain_named,
    duration_bin,
    is_every_item,
    position_bin,
    skill_named,
)
from reelbench.interop.qbench_video.notes import Notes
from reelbench.interop.qbench_video.rows import ENDINGS, read_rows
from reelbench.media.decode.durations import duration_of

_OURS = frozenset(
    {"question_id", "question", "options", "video_url", "domain", "subcategory", "question_type"}
    | {"start_time", "end_time", "video_duration", "correct_option_letter", "answer"}
    | {"correct_answer"}
)
NO_KEY = "no correct_option_letter, so no reply can be scored"


def published_rows_in(source: Path, media: Path | None = None, strict: bool = True) -> Sources:
    """Return the published rows of a folder, or of one file, as items.

    ``media`` is where the videos are, if not in the folder. Rows that are no questions raise
    ``BenchmarkError`` with all faults where ``strict``, and are left out by name else.
    """
    media = media or (source.parent if source.is_file() else source)
    files = [source] if source.is_file() and not strict else _files(source)
    notes, videos = Notes(), _videos(media)
    items: list[Item] = []
    broken: list[tuple[str, str]] = []
    for row in (row for path in files for row in read_rows(path, notes)):
        if not _is_question(row.place, row.record, notes):
            continue
        item, reason = _read(media, row.place, row.record, videos, notes)
        if item is None:
            broken.append((str(row.record["question_id"]), reason))
        else:
            items.append(item)
    notes.problems += _repeated(items, files)
    if notes.problems and strict:
        raise BenchmarkError(notes.problems)
    warnings = [*notes.warnings, *_left_out(broken)]
    return Sources(tuple(items), (*broken, *notes.broken), tuple(warnings))


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        raise ReelbenchError(f"{source} is not a folder: name the folder with MMOU.json in it.")
    files = sorted(p for p in source.iterdir() if p.suffix.lower() in ENDINGS and p.name[0] != ".")
    if not files:
        raise ReelbenchError(f"{source} has no *.json or *.jsonl: put MMOU.json there.")
    return files


def _videos(source: Path) -> dict[str, str]:
    """Return the paths of the videos in a folder and below, by their names without endings."""
    found: dict[str, str] = {}
    for folder, _, names in sorted(os.walk(source)):
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix.lower() in VIDEO_ENDINGS and not link_outside(source, path):
                found.setdefault(path.stem, path.relative_to(source).as_posix())
    return found


def _is_question(place: Place, record: Mapping[str, Any], notes: Notes) -> bool:
    """Whether a row has what no question can be without; what it lacks is noted."""
    faults = []
    for name in ("question_id", "question", "video_url"):
        value = record.get(name)
        if not isinstance(value, str | int) or not str(value).strip():
            faults.append((name, found_as(value), "a text"))
    options = record.get("options")
    letters = LETTERS[: len(options)] if isinstance(options, dict) else ""
    if not isinstance(options, dict) or len(options) < 2 or "".join(sorted(options)) != letters:
        faults.append(("options", found_as(options), 'an object such as {"A": "...", "B": "..."}'))
    elif not all(isinstance(text, str) and text.strip() for text in options.values()):
        faults.append(("options", "an option without text", "a text under each letter"))
    key = record.get("correct_option_letter")
    if key and (not isinstance(key, str) or key.strip().upper() not in set(letters)):
        expected = "a letter of the options"
        faults.append(("correct_option_letter", found_as(key), expected))
    for fault in faults:
        notes.wrong(place, *fault)
    return not faults


def _read(
    source: Path, place: Place, record: Mapping[str, Any], videos: Mapping[str, str], notes: Notes
) -> tuple[Item | None, str]:
    """Return the item of a row, or why there is none."""
    name = video_name(str(record["video_url"]))
    key = str(record.get("correct_option_letter") or "").strip().upper()
    missing = "" if name in videos else f"no video called {name} for {record['video_url']}"
    if missing or not key:
        return None, "; ".join(filter(None, (missing, "" if key else NO_KEY)))
    options = {letter: record["options"][letter].strip() for letter in sorted(record["options"])}
    _note_instructions(place, str(record["question"]), notes)
    path = videos[name]
    seconds = _seconds(record.get("video_duration")) or duration_of(source / path) or 0.0
    span = _span(place, record, seconds, notes)
    tags = {
        "skills": _skills(place, record.get("question_type"), notes),
        "domain": _domain(place, record.get("domain"), notes),
        "subcategory": str(record.get("subcategory") or ""),
        "duration": duration_bin(seconds) if seconds else "",
        "evidence_position": position_bin(*span, seconds) if span and seconds else "",
    }
    others = {name: value for name, value in record.items() if name not in _OURS}
    video = {"url": record["video_url"], "seconds": seconds}
    return Item(
        id=str(record["question_id"]),
        kind="single",
        media=(Media(path),),
        question=str(record["question"]).strip(),
        options=tuple(options.values()),
        answer=(key,),
        reference=_reference(record, options[key]),
        evidence=(span,) if span else (),
        tags=freeze({tag: value for tag, value in tags.items() if value}),
        provenance=freeze({"video": video, **({"fields": others} if others else {})}),
    ), ""


def video_name(url: str) -> str:
    """Return what a video's file is called: the id in its address, or the name at its end."""
    try:
        parts = urlparse(url)
    except ValueError:  # no address: no file is called so
        return url
    query = parse_qs(parts.query).get("v")
    last = parts.path.rstrip("/").rpartition("/")[2]
    return query[0] if query else re.sub(r"\.\w{2,4}$", "", last)


def _reference(record: Mapping[str, Any], key: str) -> str | None:
    for name in ("answer", "correct_answer"):
        if isinstance(record.get(name), str) and record[name].strip():
            return str(record[name]).strip()
    return None if is_none_of_them(key) else key


def _note_instructions(place: Place, question: str, notes: Notes) -> None:
    if asks_yes_no(question):
        notes.odd(place, "Yes or no answers what is asked")
    if lists_options(question):
        notes.odd(place, "The question lists options")


def _skills(place: Place, given: Any, notes: Notes) -> list[str]:
    """Return the skills of a row by our names; what was read otherwise than written is noted."""
    found = []
    for text in given if isinstance(given, list) else [given] if given else []:
        skill = skill_named(str(text))
        if skill is None and is_every_item(str(text)):
            continue
        if skill is None:
            notes.odd(place, f"The skill {text!r} is not known, and kept as it is")
        elif skill != text:
            notes.odd(place, f"The skill {text!r} is read as {skill!r}")
        found.append(skill or str(text))
    if not found:
        notes.odd(place, "question_type names no skill")
    return list(dict.fromkeys(found))


def _domain(place: Place, given: Any, notes: Notes) -> str:
    text = str(given or "").strip()
    domain = domain_named(text)
    if domain is None:
        notes.odd(place, f"The domain {text!r} is not known, and kept as it is")
    return domain or text


def _span(place: Place, record: Mapping[str, Any], seconds: float, notes: Notes) -> Span | None:
    """Return the evidence of a row; None, with a warning, where its times are of no use."""
    start, end = (_seconds(record.get(name)) for name in ("start_time", "end_time"))
    if start is None or end is None:
        notes.odd(place, "start_time or end_time is missing or no time")
    elif start > end:
        notes.odd(place, "end_time is before start_time")
    elif seconds and end > seconds + 1:
        notes.odd(place, "The evidence ends after the video")
    else:
        return start, end
    return None


def _seconds(value: Any) -> int | float | None:
    """Return seconds, given as a number, as its text, or as "mm:ss"; None where it is no time."""
    if isinstance(value, str):
        clock = seconds_of(value)
        number = re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", value)
        return clock if clock is not None else float(value) if number else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and value >= 0 else None


def _repeated(items: Sequence[Item], files: Sequence[Path]) -> Iterator[Any]:
    count: dict[str, int] = defaultdict(int)
    for item in items:
        count[item.id] += 1
    place = Place(str(files[0]))
    for name, times in count.items():
        if times > 1:
            yield place.problem("DUPLICATE_ID", "question_id", f"{name!r} {times} times", "once")


def _left_out(broken: Sequence[tuple[str, str]]) -> Iterator[str]:
    unscored = sum(NO_KEY in reason for _, reason in broken)
    missing = [reason for _, reason in broken if reason != NO_KEY]
    if missing:
        number = counted(len(missing), "row is", "rows are")
        yield f"{number} left out for a missing video; the first: {missing[0]}."
    if unscored:
        yield f"{counted(unscored, 'row has', 'rows have')} {NO_KEY}: left out."
