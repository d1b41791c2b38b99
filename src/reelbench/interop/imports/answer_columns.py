"""Which column of a file has the answers: one whose values name options."""

import shlex
from collections.abc import Iterator, Sequence

from reelbench.data.items import freeze
from reelbench.interop.imports import column_names as names
from reelbench.interop.imports.answers import answer_form, letters_or_none
from reelbench.interop.imports.cells import cell
from reelbench.interop.imports.column_names import last_word, name_key
from reelbench.interop.imports.items import RowReader
from reelbench.interop.imports.mapping import ImportMapping
from reelbench.interop.imports.recogniser import Recogniser
from reelbench.interop.imports.values import OptionList, text_of
from reelbench.interop.records import SourceRecord


def options_by_answer(one: Recogniser) -> None:
    """Take columns without telling names: one with always the text of another is the answer."""
    if "options" in one.fields or "answer" in one.fields or "question" not in one.fields:
        return
    free = [p.name for p in one.free() if p.is_scalar and p.filled > 0.5 and not p.share_of_media]
    for answer in reversed(free):
        for what in ("text", "name"):
            block = _block_with(answer, free, one, by_name=what == "name")
            if len(block) >= 2:
                why = f"{answer!r} always has the {what} of one of them"
                one.take("options", tuple(block), why)
                doubt = _beside(block, [name for name in free if name != answer], one)
                one.use(answer, "answer", f"its text is always the {what} of another column", doubt)
                one.fields["answer"] = answer
                return


def _beside(block: Sequence[str], others: Sequence[str], one: Recogniser) -> str:
    """The doubt where a column beside the options may be one that is never right."""
    first, last = one.columns.index(block[0]), one.columns.index(block[-1])
    near = [*one.columns[max(0, first - 1) : first], *one.columns[last + 1 : last + 2]]
    found = [name for name in near if name in others]
    if not found:
        return ""
    named = ", ".join(map(repr, found))
    return (
        f"The options were taken from {', '.join(map(repr, block))}, whose texts are answers; if "
        f"{named} beside them has options too, name all of them: --set options='[...]'."
    )


def _block_with(answer: str, free: Sequence[str], one: Recogniser, *, by_name: bool) -> list[str]:
    """The adjacent columns of which another column always has the text, or the name."""
    others = [name for name in free if name != answer]
    hits = dict.fromkeys(others, 0)
    for record in one.records[:: max(1, len(one.records) // 500)]:
        wanted = text_of(record.values.get(answer))
        if by_name:
            same = [n for n in others if name_key(wanted) in (name_key(n), name_key(last_word(n)))]
        else:
            same = [n for n in others if wanted and text_of(record.values.get(n)) == wanted]
        if not same:
            return []
        for name in same:
            hits[name] += 1
    hit = [place for place, name in enumerate(one.columns) if hits.get(name)]
    if len(hit) < 2:
        return []
    block = one.columns[hit[0] : hit[-1] + 1]
    return [name for name in block if name != answer] if set(block) <= set(free) else []


def answer_column(one: Recogniser) -> None:
    """Take the column that names the right options."""
    if "answer" in one.fields:
        return
    rows = list(rows_with_options(one))
    named = [p for p in one.free() if p.key in names.ANSWER]
    named.sort(key=lambda p: names.ANSWER.index(p.key))
    if not rows:
        if named:
            one.take("answer", named[0].name, "its name")
        return
    shares = {p.name: share_read(p.name, rows) for p in named}
    fitting = [p for p in named if shares[p.name] >= 0.5] or [p for p in named if shares[p.name]]
    if fitting:
        one.take("answer", fitting[0].name, "its name, and its values name options")
        _compare(one, [p.name for p in fitting], rows)
        return
    others = [p for p in one.free() if p.key not in names.ID and not p.is_number]
    found = [p.name for p in others if share_read(p.name, rows) >= 0.9]
    if found:
        _take_unnamed(one, found, rows)
    elif one.fields.get("options") in _ACCEPTED:
        column = str(one.fields.pop("options"))
        one.uses.pop(column)
        one.take("answer", column, "its name, and no other column names one of its texts")


def _take_unnamed(
    one: Recogniser, columns: Sequence[str], rows: Sequence[tuple[SourceRecord, OptionList]]
) -> None:
    """Take a column that no name tells: of several, only where they name the same options.

    The first of several may have what a model replied, or what one of two people chose.
    """
    known = [name for name in columns if names.RIGHT.search(name_key(name))]
    if len(known) == 1:
        one.take("answer", known[0], "its name, and its values name options")
        _compare(one, [known[0], *(name for name in columns if name != known[0])], rows)
    elif len({tuple(best_letters(name, rows)) for name in columns}) == 1:
        one.take("answer", columns[0], "its values name options")
    else:
        listed = ", ".join(map(repr, columns))
        doubt = f"{listed} name different options: say which is the key with --set answer=COLUMN."
        for name in columns:
            one.use(name, "", "left out: it names options, as others do differently", doubt)
            doubt = ""


_ACCEPTED = ("answers", "Answers")  # all that are right, where there is no other key


def _compare(
    one: Recogniser, columns: Sequence[str], rows: Sequence[tuple[SourceRecord, OptionList]]
) -> None:
    """Say of further columns with answers whether they name the same options as the first."""
    first = best_letters(columns[0], rows)
    for other in columns[1:]:
        pairs = zip(first, best_letters(other, rows), strict=True)
        differ = sum(a != b for a, b in pairs)
        named = f"another option in {differ} of" if differ else "the same option in all"
        doubt = (
            f"The key was taken from {columns[0]!r}; {other!r} names another option in {differ} of "
            f"{len(rows)} rows. If that is the key: --set answer={shlex.quote(other)}."
        )
        why = f"left out: it names {named} {len(rows)} rows, beside {columns[0]!r}"
        one.use(other, "", why, doubt if differ else "")


def best_letters(
    column: str, rows: Sequence[tuple[SourceRecord, OptionList]]
) -> list[tuple[str, ...] | None]:
    """Return the options that a column names in each row, read in the best way."""
    pairs = [(cell(column, record), options) for record, options in rows]
    form = answer_form(pairs).form
    return [letters_or_none(*pair, form) for pair in pairs]


def rows_with_options(one: Recogniser) -> Iterator[tuple[SourceRecord, OptionList]]:
    """Yield a sample of rows that have options."""
    reader = RowReader(ImportMapping(fields=freeze(one.fields), **one.changes))
    step = max(1, len(one.records) // 500)
    for record in one.records[::step]:
        try:
            options = reader.options(record)[1]
        except ValueError:
            continue
        if options:
            yield record, options


def share_read(column: str, rows: Sequence[tuple[SourceRecord, OptionList]]) -> float:
    """Return the share of rows whose option a column names, read in the best way."""
    return answer_form([(cell(column, record), options) for record, options in rows]).share
