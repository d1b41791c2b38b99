"""Imports a benchmark: from anyone's rows to a folder that lints and runs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import file_part
from reelbench.base.progress import counted, working
from reelbench.data.items import NOTHING, Item
from reelbench.data.manifest import Manifest
from reelbench.interop.imports.drafting import (
    answers_of,
    checked_drafts,
    doubts_about_open,
    drafts_of,
    kinds_in_words,
    letters_alone,
    with_unique_ids,
)
from reelbench.interop.imports.file_choice import choose_files
from reelbench.interop.imports.form_files import form_named, lacking_columns
from reelbench.interop.imports.http_files import FetchRules
from reelbench.interop.imports.import_manifest import import_manifest
from reelbench.interop.imports.items import ItemDraft, OddRow, RowReader
from reelbench.interop.imports.joins import with_more_columns
from reelbench.interop.imports.key_files import key_beside
from reelbench.interop.imports.mapping import ImportMapping, read_mapping
from reelbench.interop.imports.mapping_choice import (
    doubts_about,
    mapping_for,
    with_evidence,
    with_needed_columns,
)
from reelbench.interop.imports.output import begin_import, check_out, write_import
from reelbench.interop.imports.placing import (
    MediaPlan,
    MediaRules,
    folders_for,
    plan_media,
    put_media,
)
from reelbench.interop.imports.published_files import PAPERS
from reelbench.interop.imports.recogniser import ColumnUse
from reelbench.interop.imports.sheet_times import sheet_times
from reelbench.interop.imports.sources import LOADERS, ImportSource, own_importer, read_source
from reelbench.interop.imports.wide_rows import one_question_a_row
from reelbench.interop.records import RecordFile, SourceRecord, read_records


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import made of a source: the items, and everything there is to say about it."""

    items: tuple[Item, ...]
    manifest: Manifest
    mapping: ImportMapping  # that was used, with all that was found
    columns: tuple[ColumnUse, ...]
    odd_rows: tuple[OddRow, ...]
    notes: tuple[str, ...]  # choices that were made
    doubts: tuple[str, ...]  # what can be read in two ways, and what decides it
    rows: int
    plan: MediaPlan  # which files go where
    findings: tuple[OddRow, ...] = ()  # rows that became items, and probably the wrong ones
    written: bool = True

    @property
    def remarks(self) -> list[OddRow]:
        """Rows that became items, with what was evened out or is odd in them."""
        kept = {item.id for item in self.items}
        return [row for row in (*self.findings, *self.plan.remarks) if row.id in kept]

    @property
    def kinds(self) -> list[tuple[str, int]]:
        """The kinds of the items and how many each has, the most first."""
        return Counter[str](item.kind for item in self.items).most_common()


def import_benchmark(
    source: Path,
    out: Path,
    *,
    form: str = "",
    mapping: Path | None = None,
    media: Path | None = None,
    name: str = "",
    rows: str = "",
    settings: Mapping[str, Any] = NOTHING,
    keep_missing: bool = False,
    look_into_archives: bool = True,
    download: FetchRules | None = None,
    dry_run: bool = False,
) -> ImportResult:
    """Make a benchmark of a file or folder in any form; nothing is written by a dry run.

    ``settings`` are fields of the mapping that a person says, such as ``{"answer_as": "index1"}``.
    """
    source, out = Path(source), Path(out)
    rules = MediaRules(media, keep_missing, look_into_archives, download, dry_run)
    if not dry_run:
        check_out(out, source)
    given = _given_mapping(form, mapping)
    with working(f"Reading {source}"):
        read = _read(source, out, rows, form, given)
    named = [*settings.values(), *(given.named_columns() if given else ())]
    split, wide = one_question_a_row(read.files, named)
    read = replace(read, files=tuple(split))
    files, given, notes = choose_files(read, given)
    if given is None and (join := key_beside(files, read.files)):
        read = replace(read, mapping=replace(read.mapping or ImportMapping(), join=join))
        files = with_more_columns(files, read.mapping or ImportMapping())
        notes = [f"The answers were taken from {join.files[0]}, by the column {join.by!r}."]
    try:
        if given is not None and given.reader:
            result = _of_paper(given, source, out, rules, name or out.name)
        else:
            files = with_more_columns(files, given) if given else files
            result = _of_rows(read, files, given, settings, out, rules, name or out.name)
    except ReelbenchError as error:
        lacking = lacking_columns(files, given) if given and form else []
        if not lacking:
            raise
        raise ReelbenchError(
            f"{source} is not of the form {form}: it lacks {', '.join(lacking)}. Leave --as {form} "
            f"out, so that its columns are found. ({error})"
        ) from None
    result = replace(result, notes=(*wide, *notes, *result.notes), written=not dry_run)
    if not dry_run:
        write_import(result, out, source, read.prompts)
    return result


def _given_mapping(form: str, mapping: Path | None) -> ImportMapping | None:
    if mapping is not None:
        return read_mapping(Path(mapping))
    if form and form not in LOADERS and own_importer(form) is None:
        return form_named(form)
    return None


def _read(
    source: Path, out: Path, rows: str, form: str, given: ImportMapping | None
) -> ImportSource:
    """Read a source; along the paths that a mapping names, where it names several one by one."""
    paths = [rows] if rows else list(given.rows if given else ())
    if len(paths) < 2:
        return read_source(source, paths[0] if paths else "", form if given is None else "", out)
    parts = [read_source(source, path, skip=out) for path in paths]
    return replace(parts[0], files=tuple(file for part in parts for file in part.files))


def _of_rows(
    read: ImportSource,
    files: Sequence[RecordFile],
    given: ImportMapping | None,
    settings: Mapping[str, Any],
    out: Path,
    rules: MediaRules,
    name: str,
) -> ImportResult:
    """What a mapping makes of rows."""
    records = [record for file in files for record in file.records]
    columns = list(dict.fromkeys(column for file in files for column in file.columns))
    chosen, uses = mapping_for(records, columns, given, read, settings, rules.folder)
    reader = RowReader(chosen)
    reader.reading = answers_of(reader, records)
    reader.times = sheet_times(chosen, records)
    drafts, odd = drafts_of(reader, records)
    drafts, notes = with_unique_ids(drafts)
    folders = folders_for(read.path, rules.folder, chosen.media_folder, read.media)
    plan = plan_media(drafts, folders, out, rules)
    if plan.drafts and not rules.dry_run:
        begin_import(out, read.path)
        plan = put_media(plan, out, rules)
    drafts, more = checked_drafts(plan.drafts)
    unread = _unread(read, files if given else read.files, given)
    odd = sorted([*unread, *odd, *plan.odd, *more], key=lambda row: (row.file, row.line))
    if not drafts:
        doubts = [use.doubt for use in uses if use.doubt]
        if "options" in chosen.fields and not {"answer", "reference"} & set(chosen.fields):
            doubts.append(
                "No column was found for the answers: --set answer=COLUMN names it; where they "
                "are in another file, a mapping with `join:` takes them from there (--map)."
            )
        raise ReelbenchError(" ".join([_nothing(read.path, odd), *doubts]))
    items = tuple(draft.item for draft in drafts)
    used = replace(chosen, answer_as=reader.reading.form if reader.reading else "")
    findings = letters_alone(drafts, chosen)
    notes += [f"{text} ({counted(count, 'row')})." for text, count in reader.notes.items()]
    notes += [*kinds_in_words(items, used), *plan.notes]
    return ImportResult(
        items=items,
        manifest=import_manifest(used, read, items, name),
        mapping=with_needed_columns(used, _own_columns(read, files)),
        columns=tuple(with_evidence(uses, used, reader.reading)),
        odd_rows=tuple(odd),
        notes=(*read.notes, *(n for file in files for n in file.notes), *notes),
        doubts=(
            *(use.doubt for use in uses if use.doubt),
            *doubts_about(reader.reading, used),
            *reader.times.doubts(),
            *doubts_about_open(items, used, uses, len(findings)),
        ),
        rows=len(records),
        plan=plan,
        findings=tuple(findings),
    )


def _own_columns(read: ImportSource, files: Sequence[RecordFile]) -> list[str]:
    """The columns that files have themselves, without those that were joined to them."""
    paths = {file.path for file in files}
    own = [name for file in read.files if file.path in paths for name in file.columns]
    return list(dict.fromkeys(own or (name for file in files for name in file.columns)))


def _of_paper(
    form: ImportMapping, source: Path, out: Path, rules: MediaRules, name: str
) -> ImportResult:
    """What the reader of one paper makes of its files."""
    paper = PAPERS[form.reader]
    found = paper.read(source, rules.folder)
    odd = [OddRow(str(source), 0, place, reason) for place, reason in found.broken]
    if not found.rows:
        raise ReelbenchError(_nothing(source, odd))
    drafts = [
        ItemDraft(item, SourceRecord({}, str(source), 0), tuple(m.path for m in item.media))
        for item in found.rows
    ]
    plan = plan_media(drafts, folders_for(source, rules.folder, "", ()), out, rules)
    if plan.drafts and not rules.dry_run:
        begin_import(out, source)
        plan = put_media(plan, out, rules)
    items = tuple(draft.item for draft in plan.drafts)
    return ImportResult(
        items=items,
        manifest=replace(paper.manifest(form.title, items), name=file_part(name)),
        mapping=form,
        columns=(),
        odd_rows=(*odd, *plan.odd),
        notes=(*found.warnings, *plan.notes),
        doubts=(),
        rows=len(found.rows) + len(found.broken),
        plan=plan,
    )


def _unread(
    read: ImportSource, files: Sequence[RecordFile], form: ImportMapping | None
) -> Iterator[OddRow]:
    """What could not be read of the files with rows, and files that could not be read at all."""
    chosen = {file.path for file in files}
    broken = [file for file in read.files if not file.form and file.path not in chosen]
    if form is not None and form.rows:  # along whose path other files have nothing
        broken = [file for file in broken if not read_records(file.path).form]
    for problem in (problem for file in (*files, *broken) for problem in file.problems):
        reason = f"{problem.field}: found {problem.found}, expected {problem.expected}"
        yield OddRow(problem.file, problem.line, "", reason)


def _nothing(source: Path, odd: Sequence[OddRow]) -> str:
    counts = Counter(row.reason for row in odd)
    reasons = "; ".join(f"{reason} ({counted(n, 'row')})" for reason, n in counts.most_common(5))
    return (
        f"{source}: no row became an item: {reasons or 'there are none'}. `reelbench "
        "import --dry-run` shows what each column is taken for; --set or --map say what it is."
    )
