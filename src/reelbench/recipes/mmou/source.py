"""What MMOU is made from: videos with sound, and open questions that people wrote about them.

A source is a folder with the videos and two files.

- ``videos.csv`` says what each video is: ``video`` (its path in the folder), ``domain`` and
  ``subcategory`` (names of Table 5, whatever their case) and ``url``. Other columns are ignored.
- The questions are in ``items.jsonl``, as the review exports them: open items with ``reference``,
  one ``evidence`` and the tag ``skills``. Or they are in ``questions.csv`` or ``questions.jsonl``,
  with ``video``, ``question``, ``answer``, ``start_time`` and ``end_time`` (seconds or "mm:ss"),
  ``skills`` (a list, in CSV with ``;`` between) and, where known, ``id`` and ``author``.

What cannot be read, names that do not exist and times that are missing or reversed are listed all
at once, and nothing is made. A question that breaks the instructions, or whose video cannot be
used, is left out by name with the reason. Too few questions for a video's length, videos without
questions, sub-categories without any and videos that are not 720p are warned about.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.base.spelling import perhaps
from reelbench.data.benchmark import BenchmarkError
from reelbench.data.items import Item, Media, Problem, freeze
from reelbench.data.question_rules import asks_yes_no, evidence_outside, lists_options
from reelbench.data.sources import Sources
from reelbench.interop.csv_tables import read_table
from reelbench.interop.mmou.taxonomy import (
    DOMAINS,
    domain_named,
    duration_bin,
    fewest_questions,
    position_bin,
    subcategory_named,
)
from reelbench.media.decode.isolated import run_isolated
from reelbench.media.decode.probe import MediaInfo, probe
from reelbench.media.errors import MediaError
from reelbench.recipes.mmou.questions import WrittenQuestion, read_questions

VIDEOS_FILE, VIDEO_COLUMNS = "videos.csv", ("video", "domain", "subcategory", "url")
HEIGHT = 720  # 3.2
_NAMED = 5  # of a list in a warning


@dataclass(frozen=True, slots=True)
class ListedVideo:
    """A video as the manifest has it, and what its file holds; a fault where it cannot be used."""

    path: str
    domain: str
    subcategory: str
    url: str
    info: MediaInfo | None = None
    fault: str = ""


def questions_in_folder(source: Path) -> Sources:
    """Return the questions of a folder as open items; raise ``BenchmarkError`` with all faults."""
    if not source.is_dir():
        raise ReelbenchError(
            f"{source} is not a folder: name one with {VIDEOS_FILE} and questions in --source."
        )
    videos, problems = _videos(source)
    questions, more = read_questions(source)
    problems += more
    for each in questions:
        if each.video not in videos:
            known = perhaps(each.video, list(videos))
            expected = f"a video that {VIDEOS_FILE} lists{known}"
            problems.append(each.place.problem("MEDIA_PATH", "video", repr(each.video), expected))
        elif each.domain and domain_named(each.domain) != videos[each.video].domain:
            expected = f"{videos[each.video].domain}, as in {VIDEOS_FILE}"
            problems.append(each.place.problem("BAD_FIELD", "domain", repr(each.domain), expected))
    if problems:
        raise BenchmarkError(problems)
    rows, broken = [], []
    for each in questions:
        video = videos[each.video]
        reason = video.fault or _forbidden(each, video)
        if reason:
            broken.append((each.id, f"{each.video}: {reason}" if video.fault else reason))
        else:
            rows.append(_item(each, video))
    return Sources(tuple(rows), tuple(broken), tuple(_warnings(rows, videos)))


def _videos(source: Path) -> tuple[dict[str, ListedVideo], list[Problem]]:
    """Return the videos of the manifest by path, measured, and what is wrong with their lines."""
    table, problems = read_table(source / VIDEOS_FILE, VIDEO_COLUMNS)
    found: dict[str, ListedVideo] = {}
    for line, row in table.rows:
        faults = list(_row_faults(source, row))
        if row["video"] in found:
            faults.append(("video", f"{row['video']!r} twice", "each video once"))
        problems += [
            Problem("BAD_FIELD", name, what, expected, str(table.path), line)
            for name, what, expected in faults
        ]
        if not faults:
            domain = str(domain_named(row["domain"]))
            part = str(subcategory_named(domain, row["subcategory"]))
            info, fault = _measured(source / row["video"])
            found[row["video"]] = ListedVideo(row["video"], domain, part, row["url"], info, fault)
    return found, problems


def _row_faults(source: Path, row: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    if not (source / row["video"]).is_file():
        yield "video", f"{row['video']!r}, no such file", f"a file in {source}"
    domain = domain_named(row["domain"])
    if domain is None:
        hint = perhaps(row["domain"], list(DOMAINS))
        yield "domain", repr(row["domain"]), f"one of {', '.join(DOMAINS)}{hint}"
    elif subcategory_named(domain, row["subcategory"]) is None:
        hint = perhaps(row["subcategory"], DOMAINS[domain])
        expected = f"one of {', '.join(DOMAINS[domain])}{hint}, as its domain is {domain}"
        yield "subcategory", repr(row["subcategory"]), expected


def _measured(path: Path) -> tuple[MediaInfo | None, str]:
    """Return what a file holds, and why it cannot be used; every item is audio-visual."""
    try:
        info = run_isolated(probe, path, False)
    except MediaError as error:
        return None, error.reason
    if not info.has_video or info.is_image:
        return info, "no moving picture, and every item needs pictures and sound"
    if not info.has_audio:
        return info, "no sound, and every item needs pictures and sound"
    return info, info.cut or ""


def _forbidden(question: WrittenQuestion, video: ListedVideo) -> str:
    """Return what the instructions (appendix C) forbid in a question; "" where all is well."""
    assert video.info is not None
    if asks_yes_no(question.question):
        return "yes or no answers it: ask an open question"
    if lists_options(question.question):
        return "it lists options: ask without them"
    return evidence_outside([question.span], video.info.duration)


def _item(question: WrittenQuestion, video: ListedVideo) -> Item:
    assert video.info is not None
    seconds = video.info.duration
    tags = {
        "skills": list(question.skills),
        "domain": video.domain,
        "subcategory": video.subcategory,
        "duration": duration_bin(seconds),
        "evidence_position": position_bin(*question.span, seconds),
    }
    provenance: dict[str, Any] = {
        **question.provenance,
        "video": {"url": video.url, "seconds": round(seconds, 3), "height": video.info.height},
    }
    return Item(
        id=question.id,
        kind="open",
        media=(Media(video.path),),
        question=question.question,
        reference=question.answer,
        evidence=(question.span,),
        tags=freeze(tags),
        provenance=freeze(provenance),
    )


def _warnings(items: Sequence[Item], videos: Mapping[str, ListedVideo]) -> Iterator[str]:
    """Yield what is thin: questions per video, sub-categories, and videos of another size."""
    asked = Counter(item.media[0].path for item in items)
    usable = {path: each.info for path, each in videos.items() if each.info and not each.fault}
    if without := [path for path in usable if not asked[path]]:
        yield f"{counted(len(without), 'video has', 'videos have')} no questions: {_some(without)}."
    few = [
        f"{path} has {asked[path]} of {least}"
        for path, info in usable.items()
        if 0 < asked[path] < (least := fewest_questions(info.duration))
    ]
    if few:
        yield f"{counted(len(few), 'video has', 'videos have')} few questions: {_some(few)}."
    if other := [p for p, info in usable.items() if min(info.width, info.height) != HEIGHT]:
        number = counted(len(other), "video is", "videos are")
        yield f"{number} not {HEIGHT}p, as MMOU's are: {_some(other)}."
    found = {each.subcategory for path, each in videos.items() if asked[path]}
    lacking = [part for parts in DOMAINS.values() for part in parts if part not in found]
    if lacking:
        total = sum(map(len, DOMAINS.values()))
        yield f"{len(lacking)} of {total} sub-categories have no questions: {_some(lacking)}."


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
