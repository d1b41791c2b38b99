"""Numbers that may be ids of items as well as numbers of rows: which they are, and what is said."""

from collections.abc import Sequence

from reelbench.interop.predictions.columns import Values, plain_name, text_of
from reelbench.interop.predictions.evidence import FileEvidence
from reelbench.interop.predictions.matching import (
    FROM_ZERO,
    ItemIndex,
    Match,
    whole_numbers,
)


def ids_or_rows(
    match: Match,
    rows: Sequence[Values],
    index: ItemIndex,
    evidence: FileEvidence,
    come_again: bool = False,
) -> tuple[Match, str]:
    """Return the match by ids, or by rows where the file shows that; and what is to be said.

    A file with an answer to each item is about these ids. Where it lacks some, its numbers may be
    those of rows from 0, without the first one: every answer would be moved by one. Numbers that
    come again are not advised to be taken for rows, since they would be refused.
    """
    if len(set(match.items)) == len(index.items):
        return match, ""
    others = index.other_readings(rows, match)
    if not others:
        return match, ""
    if found := evidence.decide([match, *others]):
        chosen, sign = found
        rows_meant = f"{_both(match)}: {sign} show that they are rows."
        return chosen, "" if chosen is match else rows_meant
    name = plain_name(match.column)
    if name.endswith("id") and name not in FROM_ZERO:
        return match, ""  # as it says
    advice = "" if come_again else f" If they are rows: --column row={match.column}."
    return match, (
        f"warning: {_both(match)}, and nothing in the file tells which: they were taken for ids."
        f"{advice}"
    )


def _both(match: Match) -> str:
    return f"The numbers in {match.column!r} fit ids of items, and numbers of rows as well"


def as_rows(
    column: str, rows: Sequence[Values], index: ItemIndex, evidence: FileEvidence
) -> tuple[Match, str]:
    """Return the match by numbers of rows, as a user says they are; and what is to be said.

    Without a 0 they may be counted from 1, which the file decides. Where it does not, they are
    counted from 0, with a warning.
    """
    readings = index.by_row(rows, column)
    if len(readings) < 2:
        return (readings[0] if readings else Match([None] * len(rows), column, "")), ""
    if found := evidence.decide(readings):
        return found[0], ""
    others = ", or ".join(each.rule for each in readings[1:])
    return readings[0], (
        f"warning: rows can be counted in {len(readings)} ways, and nothing in the file tells "
        f"which: {readings[0].rule}, and not {others}."
    )


def repeated_numbers(
    column: str, rows: Sequence[Values], apart: Sequence[str]
) -> list[tuple[int, int]]:
    """Return the places of rows with the number of another row before, and the place of that.

    ``apart`` are the columns that tell predictions for one item apart, such as the model. Within
    them a number that comes again in other words is that of no row: it begins anew on each video.
    """
    first: dict[tuple[int | str, ...], int] = {}
    again = []
    for place, number in enumerate(whole_numbers(rows, column)):
        beside = [text_of(rows[place].get(name)) for name in apart]
        before = first.setdefault((number, *beside), place)
        if rows[before] != rows[place]:
            again.append((place, before))
    return again
