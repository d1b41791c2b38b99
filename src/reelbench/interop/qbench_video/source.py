"""What is published of Q-Bench-Video, or written like it: files of questions, and videos.

A source is a folder. In it are files ``*.json`` (or ``*.jsonl``, an object per line), and the
videos, anywhere in it or below. A file holds a list of objects, or lists of them by split,
``{"dev": [...], "test": [...]}``::

    {
      "video_name": "A.mp4",              a pair: "A.mp4_cat_B.mp4.mp4", or "A.mp4_cat_B.mp4"
      "question": "Is this video of high clarity?",
      "answers": ["Yes", "No"],           or "A. Yes", "B. No"; none for an open question
      "correct_choice": "B",              "B.", "No" or "B. No"; of an open one, the answer in words
      "question_type": "Yes-or-No",       What-How, Open-ended; told by the answers if not said
      "context": "Global",                Referring; of a pair Joint, Compare-fine, Compare-coarse
      "quality_concern": "Technical, Temporal"          Aesthetic, AIGC; a list as well
    }

- Case, hyphens and spaces do not matter, nor do short forms such as Tech. and Aes. What is not
  known is kept as it is written and warned about. Other fields are kept in ``provenance.fields``.
- The split is what the object says in ``split``, the name of its list, or a file called like
  ``dev.json`` or ``qbench_test.json``. Questions without one are divided by the recipe.
- A question without ``correct_choice``, as in the published test file, cannot be scored by anyone
  who has not got the answers: it is left out, and so is one whose video is not there. Both are
  named in the funnel with the reason.
- An id is the name of the file and a hash of video, question and options, so that it stays what it
  is wherever the question stands. What is there twice is taken once; the same question with two
  different answers is a problem.

All that is wrong in the files is listed at once, before anything is written.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.base.progress import counted
from reelbench.data.benchmark import BenchmarkError
from reelbench.data.fields import found_as
from reelbench.data.items import Item, Media, freeze
from reelbench.data.sources import Sources
from reelbench.interop.qbench_video.notes import Notes, place_of
from reelbench.interop.qbench_video.questions import Question, read_question
from reelbench.interop.qbench_video.rows import ENDINGS, read_rows
from reelbench.interop.qbench_video.videos import VideoMatch, Videos
from reelbench.interop.qbench_video.words import UNGRADED, contexts_in, is_of_one_video

KEPT_BACK = "no correct_choice, so no reply can be scored (the published test file has none)"


def questions_in(source: Path, media: Path | None = None, strict: bool = True) -> Sources:
    """Return the questions of a folder, or of one file, as items.

    ``media`` is where the videos are, if not in the folder. What is wrong raises ``BenchmarkError``
    with all problems where ``strict``; else such questions are left out by name.
    """
    files, notes = [source] if source.is_file() and not strict else _files(source), Notes()
    media = media or (source.parent if source.is_file() else source)
    questions = [
        question
        for path in files
        for row in read_rows(path, notes)
        if (question := read_question(row, notes)) is not None
    ]
    videos, items, broken = Videos(media), [], []
    for question in _each_once(questions, notes):
        contexts = contexts_in(question.context)
        found = videos.find(question.video_name, _says_pair(contexts))
        if found.unclear:
            notes.wrong(question.place, "video_name", *found.unclear)
        reasons = [found.missing, "" if question.is_answered else KEPT_BACK]
        if any(reasons):
            broken.append((_id_of(question), "; ".join(filter(None, reasons))))
        elif found.paths:
            context = _context(question, contexts, found, notes)
            items.append(_item(question, found, context))
    if notes.problems and strict:
        raise BenchmarkError(notes.problems)
    if not items:
        raise ReelbenchError(_nothing_left(source, broken, len(videos)))
    items.sort(key=lambda item: item.id)
    warnings = (*notes.warnings, *_left_out(broken))
    return Sources(tuple(items), (*sorted(broken), *notes.broken), warnings)


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        raise ReelbenchError(
            f"{source} is not a folder: name the folder with the files of questions (*.json) and, "
            "in it or below, the videos in --source."
        )
    paths = sorted(source.iterdir())
    files = [path for path in paths if path.suffix.lower() in ENDINGS and path.name[0] != "."]
    if not files:
        raise ReelbenchError(
            f"{source} has no *.json or *.jsonl with questions: put these files there, not into a "
            "subfolder."
        )
    return files


def _says_pair(contexts: Sequence[str]) -> bool | None:
    """Whether contexts are of pairs; None where they are of both, or of nothing known."""
    kinds = {not is_of_one_video(context) for context in contexts}
    return kinds.pop() if len(kinds) == 1 else None


def _asked(question: Question) -> str:
    return digest_of([question.video_name, question.question, question.options])


def _id_of(question: Question) -> str:
    stem = "".join(c if c.isalnum() or c in "._-" else "-" for c in Path(question.file).stem)
    return f"{stem}-{_asked(question)[:12]}"


def _each_once(questions: Iterable[Question], notes: Notes) -> list[Question]:
    """Return each question once, the most complete copy; copies that differ are problems."""
    copies: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        copies[_asked(question)].append(question)
    kept = []
    for same in copies.values():
        first, *others = sorted(same, key=_says_less)
        for other in others:
            if differing := _contradiction(first, other):
                notes.wrong(other.place, *differing)
            else:
                notes.odd(other.place, "A question that repeats another is left out")
        kept.append(first)
    return kept


def _says_less(question: Question) -> tuple[Any, ...]:
    """Return the sort key of copies of a question: the most complete first."""
    lacking = (not question.is_answered, not question.split, not question.context)
    rest = [question.context, question.concerns, question.reference, question.unknown]
    return *lacking, not question.concerns, question.file, digest_of(rest)


def _contradiction(first: Question, other: Question) -> tuple[str, str, str] | None:
    """Return the field in which two copies of a question contradict; None where none does."""
    pairs: list[tuple[str, Any, Any]] = [
        ("correct_choice", first.answer or first.reference, other.answer or other.reference),
        ("split", first.split, other.split),
        ("question_type", first.question_type, other.question_type),
        ("context", contexts_in(first.context), contexts_in(other.context)),
        ("quality_concern", first.concerns, other.concerns),
    ]
    for name, one, two in pairs:
        if one and two and one != two:
            there, here = (found_as(v if isinstance(v, str) else ", ".join(v)) for v in (one, two))
            found = f"{here}, but {there} for the same question in {place_of(first.place)}"
            return name, found, "the same in both"
    return None


def _context(question: Question, contexts: Sequence[str], found: VideoMatch, notes: Notes) -> str:
    """Return the context's tag, which must fit the number of videos."""
    place, alone = question.place, len(found.paths) == 1
    fitting = [context for context in contexts if is_of_one_video(context) == alone]
    if contexts and not fitting:
        expected = "Global or Referring of one video" if alone else "Joint or Compare of two videos"
        notes.wrong(place, "context", found_as(question.context), expected)
    elif not question.context:
        notes.odd(place, "context is missing")
    elif len(fitting) != 1 or fitting == [UNGRADED]:
        shown = found_as(UNGRADED if fitting == [UNGRADED] else question.context)
        notes.odd(place, f"context {shown} is kept, but no table has a column for it")
    return fitting[0] if len(fitting) == 1 else question.context


def _item(question: Question, found: VideoMatch, context: str) -> Item:
    tags = {
        "question_type": question.question_type,
        "context": context,
        "concern": question.concerns,
        "split": question.split,
    }
    provenance = {"file": question.file, "video_name": question.video_name}
    item = Item(
        id=_id_of(question),
        kind=question.kind,
        media=tuple(map(Media, found.paths)),
        question=question.question,
        options=question.options,
        answer=question.answer,
        reference=question.reference,
        tags=freeze({name: value for name, value in tags.items() if value}),
        provenance=freeze(provenance),
    )
    if not question.unknown:
        return item
    return structs.replace(item, provenance=freeze({**provenance, "fields": question.unknown}))


def _left_out(broken: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a warning with the number of questions that cannot be used, by reason."""
    missing = [reason for _, reason in broken if reason != KEPT_BACK]
    unscored = len(broken) - len(missing)
    if missing:
        number = counted(len(missing), "question is", "questions are")
        yield f"{number} left out for a missing video; the first is {missing[0]}."
    if unscored:
        yield f"{counted(unscored, 'question is', 'questions are')} left out: {KEPT_BACK}."


def _nothing_left(source: Path, broken: Sequence[tuple[str, str]], videos: int) -> str:
    """Return why no question can be used, and where videos were looked for."""
    sentences = [
        f"None of {counted(len(broken), 'question')} in {source} can be used.",
        *_left_out(broken),
    ]
    if any(reason != KEPT_BACK for _, reason in broken):
        sentences.append(
            f"Videos were looked for in {source} and all folders below, which hold "
            f"{counted(videos, 'video')}."
        )
    if any(reason.endswith(KEPT_BACK) for _, reason in broken):
        sentences.append("Use a file whose questions have a correct_choice.")
    return " ".join(sentences)
