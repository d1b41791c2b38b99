"""From rows to items: how answers are read, ids, where each comes from, and odd rows."""

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reelbench.base.progress import counted
from reelbench.base.seeds import rng_for
from reelbench.data.items import LETTERS, Item, shown
from reelbench.data.question_rules import are_letters
from reelbench.interop.imports.answers import AnswerReading, answer_form
from reelbench.interop.imports.cells import cell
from reelbench.interop.imports.column_names import OPTIONS, TAGS, name_key
from reelbench.interop.imports.items import ItemDraft, OddRow, RowReader, checked_item
from reelbench.interop.imports.mapping import ImportMapping, several
from reelbench.interop.imports.recogniser import ColumnUse
from reelbench.interop.imports.values import text_of
from reelbench.interop.records import SourceRecord


def answers_of(reader: RowReader, records: Sequence[SourceRecord]) -> AnswerReading | None:
    """How the answers of all rows are to be read; None where no row has options."""
    rows, words = [], []
    for record in records:
        try:
            options = reader.options(record)[1]
        except ValueError:
            continue
        if options:
            rows.append((reader.answer_cell(record), options))
            words.append(reader.reference_cell(record))
    if not rows:
        return None
    if reader.mapping.answer_as:
        return AnswerReading(reader.mapping.answer_as, "as the mapping says")  # type: ignore[arg-type]
    return answer_form(rows, words)


def drafts_of(
    reader: RowReader, records: Sequence[SourceRecord]
) -> tuple[list[ItemDraft], list[OddRow]]:
    """The items of rows, with ids of their own or numbers, and the rows that are none."""
    drafts, odd = [], []
    width = max(4, len(str(len(records))))
    source = reader.mapping.fields.get("id")
    for number, record in enumerate(records, 1):
        own = text_of(cell(several(source)[0], record)) if source else ""
        name = " ".join(own.split()) or f"q-{number:0{width}}"
        try:
            draft = reader.draft(record, name)
        except ValueError as error:
            odd.append(OddRow(record.file, record.line, own, str(error)))
            continue
        drafts.append(_finished(draft, own, reader.mapping))
    return drafts, odd


def _finished(draft: ItemDraft, own: str, mapping: ImportMapping) -> ItemDraft:
    """A draft with where it comes from, and its options shuffled where the file has no order."""
    record, item = draft.record, draft.item
    origin = {"file": Path(record.file).name, "line": record.line}
    item = item.replace(provenance={"import": {**({"id": own} if own else {}), **origin}})
    if mapping.option_order == "shuffled" and item.options:
        places = list(range(len(item.options)))
        rng_for(0, "import", item.id).shuffle(places)
        right = [LETTERS.index(letter) for letter in item.answer]
        item = item.replace(
            options=[item.options[place] for place in places],
            answer=sorted(LETTERS[places.index(place)] for place in right),
        )
    return replace(draft, item=item)


def checked_drafts(drafts: Sequence[ItemDraft]) -> tuple[list[ItemDraft], list[OddRow]]:
    """Return the drafts that a benchmark may hold, and the others as odd rows."""
    kept, odd = [], []
    for draft in drafts:
        try:
            checked_item(draft.item)
            kept.append(draft)
        except ValueError as error:
            odd.append(OddRow(draft.record.file, draft.record.line, draft.item.id, str(error)))
    return kept, odd


def with_unique_ids(drafts: Sequence[ItemDraft]) -> tuple[list[ItemDraft], list[str]]:
    """Return drafts whose ids occur once, and sentences about ids that were changed for that."""
    counts = Counter(draft.item.id for draft in drafts)
    if len(counts) == len(drafts):
        return list(drafts), []
    per_file = {(draft.record.file, draft.item.id) for draft in drafts}
    if len(per_file) == len(drafts):
        named = [(draft, f"{_stem(draft)}-{draft.item.id}") for draft in drafts]
        if len({name for _, name in named}) == len(drafts):
            note = (
                "Ids come again in other files, so that the names of the files stand before them."
            )
            return [_with_id(draft, name) for draft, name in named], [note]
    kept, taken = [], set[str]()
    first: dict[str, int] = {}  # the line of each id
    changed: list[tuple[str, int, int]] = []
    for draft in drafts:
        name, number = draft.item.id, 1
        first.setdefault(name, draft.record.line)
        while name in taken or (number > 1 and name in counts):
            number += 1
            name = f"{draft.item.id}-{number}"
        if number > 1:
            changed.append((draft.item.id, first[draft.item.id], draft.record.line))
        taken.add(name)
        kept.append(_with_id(draft, name))
    return kept, [_changed_ids(changed)]


def _with_id(draft: ItemDraft, name: str) -> ItemDraft:
    return draft if name == draft.item.id else replace(draft, item=draft.item.replace(id=name))


def _stem(draft: ItemDraft) -> str:
    file, _, sheet = draft.record.file.partition("#")
    return sheet or Path(file.removesuffix(".gz")).stem


def _changed_ids(changed: Sequence[tuple[str, int, int]]) -> str:
    examples = ", ".join(f"{shown(name)} in {a} and {b}" for name, a, b in changed[:3])
    return (
        f"{counted(len(changed), 'id')} occurred before and got a number at the end "
        f"(lines: {examples}): --set id='{{video}}_{{id}}' makes ids of two columns."
    )


def letters_alone(drafts: Sequence[ItemDraft], mapping: ImportMapping) -> list[OddRow]:
    """Return the rows that became open questions although their answers are letters of options."""
    if mapping.kind or mapping.kind_column:
        return []
    reason = "open: the answer {} is a letter, but the row has no options"
    return [
        OddRow(draft.record.file, draft.record.line, draft.item.id, reason.format(shown(text)))
        for draft in drafts
        if are_letters(text := draft.item.reference or "") and draft.item.kind == "open"
    ]


def doubts_about_open(
    items: Sequence[Item], mapping: ImportMapping, uses: Sequence[ColumnUse], letters: int
) -> Iterator[str]:
    """Say where questions became open ones although they may have had options, or yes and no."""
    answers = {item.reference or "" for item in items if item.kind == "open"}
    if not answers or mapping.kind or mapping.kind_column:
        return
    free = {"", *(f"tag {name}" for name in mapping.tags if name_key(name) not in TAGS)}
    left = [use for use in uses if use.example and use.field in free]
    named = next((use.column for use in left if name_key(use.column) in OPTIONS), "")
    if named:
        yield (
            f"{named!r} has no options that could be read, so that the questions are open: "
            "--set separator=... says what stands between them."
        )
    elif letters or _are_numbers_up_to(len(left), answers):
        columns = [use.column for use in left] or ["COLUMN", "COLUMN"]
        listed = columns[0] if len(columns) == 1 else f"[{', '.join(columns)}]"
        yield (
            f"The answers of {counted(letters or len(items), 'open question')} look like "
            f"{'letters' if letters else 'numbers'} of options, but these have none. --set "
            f"options={shlex.quote(listed)} takes them from these columns; --set kind=open says "
            "that the questions are open."
        )
    if answers == {"0", "1"}:
        yield "All answers are 0 or 1. If they mean no and yes: --set kind=yesno."


def _are_numbers_up_to(most: int, answers: Collection[str]) -> bool:
    """Whether answers may be the numbers of ``most`` options, such as 1 to 4."""
    return most > 1 and all(
        text.isdecimal() and len(text) < 3 and int(text) <= most for text in answers
    )


def kinds_in_words(items: Sequence[Item], mapping: ImportMapping) -> Iterator[str]:
    """Say where kinds were found row by row and one may have been meant for all."""
    kinds = Counter[str](item.kind for item in items)
    if mapping.kind or mapping.kind_column:
        return
    if kinds["multi"] and kinds["single"]:
        yield (
            f"Kind multi: {counted(kinds['multi'], 'row')} with several right options. Kind "
            f"single: {kinds['single']:,} with one. If several may be chosen everywhere, "
            "--set kind=multi."
        )
    if kinds["open"] and kinds["yesno"]:
        yield (
            f"Kind yesno: {counted(kinds['yesno'], 'row')} whose answer is yes or no. Kind open: "
            "the others without options. --set kind=open makes all open."
        )
