"""HumanVBench's own rows, as they are published: a file of lines for each task, and the videos.

A source is a folder. In it or below are files ``*.jsonl``, each called after its task, and the
videos, where a row says, or anywhere below. A row is::

    {"Question_id": "...", "Video": "Emotion_Recognition/12.mp4", "Question": "...",
     "choices": "\\n\\nOption A: {...}\\n\\nOption B: {...}", "Answer": "B"}

- The task is that of the file's name, or of a field ``task``, in any spelling that is known. A task
  that is none of the sixteen is kept by its name, and warned about.
- Names of fields may have any case; options may be a list or an object, the key an option's text.
- A file with the questions alone whose person speaks marks these, and the others of its task.
- How many people are seen is a field ``people``, or follows from the options of four tasks.
- A row that is no question, or whose video is not there, is left out by name, with the reason. It
  never stops the others. Fields that are not ours are kept.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.data.items import LETTERS, Item, Media, freeze
from reelbench.data.paths import VIDEO_ENDINGS, link_outside
from reelbench.data.sources import Sources
from reelbench.interop.humanvbench.choices import read_choices, read_key
from reelbench.interop.humanvbench.taxonomy import HIGH, MEDIUM, TASK, TASKS, human_tags, task_named
from reelbench.interop.qbench_video.notes import Notes, place_of
from reelbench.interop.qbench_video.rows import ENDINGS, PublishedRow, read_rows

# The names that a field may have, whatever their case; the first is the authors'.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("question_id", "id", "qid"),
    "video": ("video", "video_path", "videos", "video_name"),
    "question": ("question",),
    "choices": ("choices", "options", "candidates"),
    "answer": ("answer", "correct_answer", "ground_truth"),
    "task": ("task", "task_name", "task_type"),
    "people": ("people", "human_count", "num_people"),
    "speaking": ("speaking", "is_speaking"),
}
_EXTRA_SPEAKERS = 2  # options of ASD that are no person: more than one speaks, and nobody does


@dataclass
class _Reading:
    """What has been read so far."""

    videos: Sequence[str]
    medium: int
    high: int
    notes: Notes = field(default_factory=Notes)
    items: dict[str, Item] = field(default_factory=dict)
    broken: list[tuple[str, str]] = field(default_factory=list)
    speaking: dict[str, set[tuple[str, str]]] = field(default_factory=dict)  # by task


def published_humanvbench(
    source: Path, medium: int = MEDIUM, high: int = HIGH, media: Path | None = None
) -> Sources:
    """Return the published rows of a folder, or of one file, as items.

    ``medium`` and ``high`` are the numbers of people from which on a clip is dense; ``media`` is
    where the videos are, if not in the folder.
    """
    media = media or (source.parent if source.is_file() else source)
    if not source.exists():
        raise ReelbenchError(f"{source} is not a folder: name the one with the tasks' *.jsonl.")
    files = [source] if source.is_file() else [*_files(source, ENDINGS)]
    files = sorted(path for path in files if path.name[0] != ".")
    if not files:
        raise ReelbenchError(f"{source} has no *.jsonl: put HumanVBench's files there, by task.")
    videos = [path.relative_to(media).as_posix() for path in _files(media, VIDEO_ENDINGS)]
    reading = _Reading(videos, medium, high)
    for path in files:
        for row in read_rows(path, reading.notes):
            _take(row, path.stem, reading)
    reading.broken += [
        (f"{Path(problem.file).name}:{problem.line}", f"{problem.field}: found {problem.found}, "
         f"expected {problem.expected}")
        for problem in reading.notes.problems
    ]  # fmt: skip
    items = [_with_speech(item, reading) for item in reading.items.values()]
    warnings = [*reading.notes.warnings, *_left_out(reading.broken)]
    return Sources(tuple(items), tuple(reading.broken), tuple(warnings))


def _files(source: Path, endings: Sequence[str] | frozenset[str]) -> Iterator[Path]:
    for folder, _, names in sorted(os.walk(source)):
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix.lower() in endings and not link_outside(source, path):
                yield path


def _take(row: PublishedRow, stem: str, reading: _Reading) -> None:
    """Read a row into an item, or note why there is none."""
    record = _fields(row.record)
    named = str(record.get("task") or stem)
    known = task_named(named) or task_named(stem)
    task, is_subset = (known[0].short, known[1]) if known else (named, False)
    if not known:
        reading.notes.odd(row.place, f"The task {named!r} is not known, and kept as it is")
    given = str(record.get("id") if record.get("id") is not None else "").strip()
    name = f"{task}-{given}" if given else place_of(row.place)
    try:
        item = _item(name, task, bool(known), record, reading)
    except ValueError as error:
        reading.broken.append((name, f"{place_of(row.place)}: {error}"))
        return
    if is_subset:
        reading.speaking.setdefault(task, set()).add(_same(item))
        if any(_same(other) == _same(item) for other in reading.items.values()):
            return
    earlier = reading.items.get(item.id)
    if earlier is None:
        reading.items[item.id] = item
    elif _same(earlier) != _same(item) or not (is_subset or task in reading.speaking):
        reading.broken.append((name, f"{place_of(row.place)}: the id {given!r} comes twice"))


def _fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a row by our names, and under ``others`` those that are not ours."""
    by_case = {name.casefold(): name for name in record}
    theirs = {
        ours: next((by_case[name] for name in names if name in by_case), None)
        for ours, names in FIELDS.items()
    }
    found = {ours: record[name] for ours, name in theirs.items() if name is not None}
    used = set(theirs.values())
    others = {name: value for name, value in record.items() if name not in used}
    return found | {"others": others}


def _item(name: str, task: str, known: bool, record: Mapping[str, Any], reading: _Reading) -> Item:
    if record.get("id") is None or not str(record["id"]).strip():
        raise ValueError("no Question_id")
    question = record.get("question")
    if not isinstance(question, str) or not question.strip():
        raise ValueError("no Question")
    options = read_choices(record.get("choices"))
    key = read_key(record.get("answer"), options)
    path = _video(record.get("video"), task, reading.videos)
    people = _people(record, task, options, key)
    speaking = record.get("speaking")
    speaks = speaking if isinstance(speaking, bool) else None
    bounds = {"medium": reading.medium, "high": reading.high}
    tags = human_tags(task, people=people, speaking=speaks, **bounds) if known else {TASK: task}
    source = {"question_id": record["id"], "video": record["video"]}
    counted_people = {} if people is None else {"people": people}
    others = {"fields": record["others"]} if record["others"] else {}
    return Item(
        id=name,
        kind="single",
        media=(Media(path),),
        question=question.strip(),
        options=options,
        answer=(key,),
        tags=freeze(tags),
        provenance=freeze({"published": {**source, **counted_people, **others}}),
    )


def _video(value: Any, task: str, videos: Sequence[str]) -> str:
    """Return the path of a row's video: where it says, or the one file that is called so."""
    given = value[0] if isinstance(value, list) and len(value) == 1 else value
    if not isinstance(given, str) or not given.strip():
        raise ValueError("no Video")
    wanted = given.strip().replace("\\", "/").removeprefix("./").lstrip("/")
    if wanted in videos:
        return wanted
    found = [path for path in videos if path.endswith(f"/{wanted}")]
    found = found or [path for path in videos if path.split("/")[-1] == wanted.split("/")[-1]]
    if len(found) > 1:  # each task has a folder of its own
        own = [path for path in found if any(_is_task(part, task) for part in path.split("/"))]
        found = own or found
    if len(found) == 1:
        return found[0]
    raise ValueError(f"{'no video' if not found else 'several videos'} called {wanted}")


def _is_task(folder: str, task: str) -> bool:
    known = task_named(folder)
    return known is not None and known[0].short == task


def _people(record: Mapping[str, Any], task: str, options: Sequence[str], key: str) -> int | None:
    """Return how many people are seen, where the row or the rule of its task tells it."""
    given = record.get("people")
    if type(given) is int and given >= 0:
        return given
    if task == "HC":
        number = re.search(r"\d+", options[LETTERS.index(key)])
        return int(number[0]) if number else None
    letters = {"T2H": len(options), "AVSM": len(options), "ASD": len(options) - _EXTRA_SPEAKERS}
    return letters[task] if letters.get(task, 0) > 0 else None


def _same(item: Item) -> tuple[str, str]:
    """What is the same in a task's file and in that of its subset."""
    return item.media[0].path.split("/")[-1], item.question


def _with_speech(item: Item, reading: _Reading) -> Item:
    """Mark whether the person speaks, in tasks that have a file of those who do."""
    task = item.tag(TASK)[0]
    if task not in reading.speaking or "speaking" in item.tags or task not in TASKS:
        return item
    speaks = "yes" if _same(item) in reading.speaking[task] else "no"
    return item.replace(tags={**item.tags, "speaking": speaks})


def _left_out(broken: Sequence[tuple[str, str]]) -> Iterator[str]:
    if broken:
        number = counted(len(broken), "row is", "rows are")
        yield f"{number} left out; the first: {broken[0][0]}, {broken[0][1]}."
