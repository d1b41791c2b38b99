"""Reads anyone's predictions into our form, and says what was taken for what."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import Benchmark, BenchmarkError
from reelbench.interop.predictions.answers import PREDICTION_FORMS
from reelbench.interop.predictions.conversion import Conversion, ReadOptions
from reelbench.interop.predictions.matching import ItemIndex
from reelbench.interop.predictions.names import file_name, is_samples_log
from reelbench.interop.records import record_files
from reelbench.interop.records.raw import first_bytes
from reelbench.score.predictions import PredictionFile, Rows, checked_rows, prediction_lines

if TYPE_CHECKING:
    from reelbench.data.items import Problem

ROLES = ("id", "prediction", "model", "condition", "row")  # of columns that one may name
_BLANK = 2**16  # bytes that show that a file is empty
_SEEN = 200  # lines that decide whether a file is in our form


def read_anyones(
    paths: Path | Sequence[Path],
    benchmark: Benchmark,
    *,
    answers_as: str = "",
    columns: Mapping[str, str] | None = None,
    skip_unmatched: bool = False,
) -> tuple[Rows, list[str]]:
    """Return the predictions in files of any form, and sentences that say how they were read.

    ``answers_as`` is one of ``PREDICTION_FORMS`` and ``columns`` names columns by one of ``ROLES``;
    both are found where they are not given. Rows of unknown items are problems, which are all
    listed, unless ``skip_unmatched`` leaves them out. Files in our own form are read as
    ``score.predictions.read_rows`` does.
    """
    reading = _checked(ReadOptions(answers_as, dict(columns or {}), skip_unmatched))
    index = ItemIndex(benchmark.whole.items)
    files: list[PredictionFile] = []
    notes: list[str] = []
    problems: list[Problem] = []
    foreign: list[Conversion] = []
    for path in prediction_files([paths] if isinstance(paths, Path) else paths):
        if reading == ReadOptions() and _is_ours(path, index):
            files.append(PredictionFile(path))
            continue
        converted = Conversion(path, index, reading)
        foreign.append(converted)
        files.append(PredictionFile(path, file_name(path), converted.rows))
        notes += [f"{path}: {note}" for note in converted.notes]
        problems += converted.problems
    notes += _told_apart(foreign)
    return _checked_together(files, benchmark, problems), notes


def _checked_together(
    files: Sequence[PredictionFile], benchmark: Benchmark, problems: Sequence["Problem"]
) -> Rows:
    """Return the rows of files; raise one error for what is wrong with ids, lines and answers."""
    readable = [file for file in files if file.rows != [] or not problems]
    rows: Rows = {}
    found = list(problems)
    try:
        rows = checked_rows(readable, benchmark) if readable else {}
    except BenchmarkError as error:
        found += error.problems
    if found:
        raise BenchmarkError(_in_order(found, [str(file.path) for file in files]))
    return rows


def _in_order(problems: Sequence["Problem"], files: Sequence[str]) -> list["Problem"]:
    """Problems by file, of which sheets are parts, and by line."""
    places = {file: place for place, file in enumerate(files)}
    return sorted(
        problems, key=lambda each: (places.get(each.file.partition("#")[0], 0), each.line)
    )


def _told_apart(files: Sequence[Conversion]) -> list[str]:
    """Name models after their files where one folder has several of the same items; say so."""
    by_folder: dict[str, list[Conversion]] = defaultdict(list)
    for file in files:
        if file.folder_model and any(row.get("model") == file.folder_model for _, row in file.rows):
            by_folder[file.folder_model].append(file)
    notes: list[str] = []
    for folder, group in by_folder.items():
        names = [{row["id"] for _, row in file.rows} for file in group]
        if len(set[str]().union(*names)) == sum(map(len, names)):
            continue  # logs of one model on several tasks
        for file in group:
            file.name_after_file()
        notes.append(
            f"{len(group):,} files of the folder {folder!r} are about the same items: their models "
            "are called by the names of the files."
        )
    return notes


def _checked(reading: ReadOptions) -> ReadOptions:
    if reading.answers_as not in ("", *PREDICTION_FORMS):
        raise ReelbenchError(f"--answers-as takes one of {', '.join(PREDICTION_FORMS)}.")
    if unknown := [role for role in reading.columns if role not in ROLES]:
        raise ReelbenchError(f"--column takes {', '.join(ROLES)}, and not {unknown[0]!r}.")
    if {"id", "row"} <= set(reading.columns):
        raise ReelbenchError("--column takes id or row, and not both: rows are found by one alone.")
    return reading


def prediction_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files, and of folders the logs of samples in them."""
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
        elif logs := [each for each in record_files(path) if is_samples_log(each)]:
            found += logs
        else:
            raise ReelbenchError(
                f"{path} is a folder without samples_*.jsonl: name the files of predictions in it."
            )
    return found


def _is_ours(path: Path, index: ItemIndex) -> bool:
    """Whether lines have ids of items, and replies or letters; numbers for answers are others'."""
    if not path.is_file():  # a pipe can be read once, and a missing file is told of
        return True
    lines = (row for _, row in islice(prediction_lines(path, []), _SEEN))
    rows = [row for row in lines if isinstance(row, dict)]
    if not rows and not first_bytes(path, _BLANK).strip():
        return True  # nothing is in it, which is told as of any file of ours
    known = [row for row in rows if isinstance(row.get("id"), str) and row["id"] in index.by_id]
    if any(_OURS_ALONE & set(row) for row in known):
        return any(not isinstance(row.get("parsed"), str | int) for row in known)
    replies = [row["response"] for row in known if isinstance(row.get("response"), str)]
    numbers = [each for each in replies if each.strip().removeprefix("-").isdecimal()]
    others = any(set(row) - _OURS for row in known)
    return len(replies) > len(numbers) and not others


_OURS_ALONE = {"parsed", "permutation", "status", "round"}
_OURS = {"id", "response", "model", "condition", "order", "error", *_OURS_ALONE}
