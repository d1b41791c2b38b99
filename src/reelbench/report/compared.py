"""The tables of ``reelbench compare``: the pairs, and the items that changed between the two."""

from reelbench.pages.table import Table
from reelbench.report.comparison import p_value
from reelbench.score.comparing import ComparedEntries, ComparedPair
from reelbench.score.entries import ResultEntry
from reelbench.score.rounding import percent, signed

_COLUMNS = (
    *("First", "Second", "First accuracy", "Second accuracy", "Difference", "95% interval"),
    *("p (Holm)", "Right to wrong", "Wrong to right", "Items needed", "Items"),
)


def compared_table(compared: ComparedEntries) -> Table:
    """Each pair on the same items, the first less the second."""
    rows = [_row(compared, pair) for pair in compared.pairs]
    return Table("compared", "Compared", _COLUMNS, rows)


def compared_by_tag(compared: ComparedEntries) -> Table:
    """Each pair by the values of a tag; it has no rows where none was asked for."""
    rows = [[pair.value, *_row(compared, pair)] for pair in compared.by_tag]
    columns = [compared.tag, *_COLUMNS]
    return Table("compared-by-tag", f"Compared by {compared.tag}", columns, rows)


def _row(compared: ComparedEntries, pair: ComparedPair) -> list[str]:
    found, tested = pair.found, pair.found.pair
    return [
        compared.label(pair.first),
        compared.label(pair.second),
        *(percent(count / found.items) for count in found.correct),
        signed(tested.difference),
        " to ".join(map(signed, tested.interval)),
        p_value(tested.p_holm),
        str(len(found.only_first)),
        str(len(found.only_second)),
        "" if tested.needed_items is None else f"{tested.needed_items:,}",
        str(found.items),
    ]


def changed_items(compared: ComparedEntries) -> Table:
    """The items that are right in one of a pair alone, with both answers and replies."""
    columns = ["Item", "Change", "First", "Second", "Key", "First answer", "Second answer"]
    columns += ["Question", "First reply", "Second reply"]
    rows = []
    for pair in compared.pairs:
        sides = (pair.first, pair.second)
        for name, item, in_first in pair.changed():
            rows.append(
                [
                    name,
                    "right to wrong" if in_first else "wrong to right",
                    *map(compared.label, sides),
                    ", ".join(item.answer),
                    *(_answer(each, name) for each in sides),
                    item.question,
                    *(_reply(each, name) for each in sides),
                ]
            )
    return Table("changed", "Items that changed", columns, rows)


def _answer(entry: ResultEntry, item: str) -> str:
    outcome = entry.source.outcomes[entry.model, entry.condition].get(item)
    return ", ".join(sorted(outcome.answer or ())) if outcome else ""


def _reply(entry: ResultEntry, item: str) -> str:
    outcome = entry.source.outcomes[entry.model, entry.condition].get(item)
    return " | ".join(dict.fromkeys(turn.reply for turn in outcome.turns)) if outcome else ""
