"""Answers that lie in a file of their own, beside the one with the questions."""

from collections.abc import Sequence

from reelbench.interop.imports import column_names as names
from reelbench.interop.imports.column_names import name_key
from reelbench.interop.imports.mapping import Join
from reelbench.interop.imports.recognise import recognise
from reelbench.interop.imports.values import text_of
from reelbench.interop.records import RecordFile


def key_beside(files: Sequence[RecordFile], others: Sequence[RecordFile]) -> Join | None:
    """Return how the answers of a file without any are joined from another; None without such."""
    if len(files) != 1:
        return None
    file = files[0]
    found, _ = recognise(file.records, file.columns)
    if "options" not in found.fields or {"answer", "reference"} & set(found.fields):
        return None
    joins = [_join(file, other) for other in others if other.path != file.path]
    fitting = [join for join in joins if join]
    return fitting[0] if len(fitting) == 1 else None


def _join(file: RecordFile, other: RecordFile) -> Join | None:
    ids = [name for name in file.columns if name_key(name) in names.ID]
    answers = [name for name in other.columns if name_key(name) in names.ANSWER]
    name = other.path.name
    for own in ids:
        if own in other.columns and answers and _covers(file, own, other, own):
            return Join((name,), own)
        if other.columns == ("id", "value") and _covers(file, own, other, "id"):
            return Join((name,), own, "answer")
    return None


def _covers(file: RecordFile, own: str, other: RecordFile, by: str) -> bool:
    """Whether nearly all ids of a file are those of the other, where each occurs once."""
    wanted = [text_of(record.values.get(own)) for record in file.records]
    there = [text_of(record.values.get(by)) for record in other.records]
    known = set(there) if len(set(there)) == len(there) else set()
    same = sum(one in known for one in wanted)
    return same >= 0.9 * len(wanted) and len(set(wanted)) == len(wanted)
