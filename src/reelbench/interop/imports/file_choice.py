"""Which files of a source have the rows, and the published form that they have."""

from collections import Counter
from dataclasses import replace

from reelbench.base.errors import ReelbenchError
from reelbench.data.benchmark import grouped
from reelbench.data.items import NOTHING
from reelbench.interop.imports.drafting import answers_of, drafts_of
from reelbench.interop.imports.form_files import fits_form, forms_of, published_forms
from reelbench.interop.imports.items import RowReader
from reelbench.interop.imports.joins import with_more_columns
from reelbench.interop.imports.mapping import ImportMapping
from reelbench.interop.imports.recognise import recognise
from reelbench.interop.imports.sources import ImportSource
from reelbench.interop.records import RecordFile, read_records


def choose_files(
    read: ImportSource, given: ImportMapping | None
) -> tuple[list[RecordFile], ImportMapping | None, list[str]]:
    """Choose the files that have the rows, and find the published form that they have."""
    notes: list[str] = []
    files = [file for file in read.files if file.records]
    if not files:
        raise ReelbenchError("\n".join(grouped(read.problems)) or f"{read.path} has no rows.")
    if given is None and read.mapping is None:
        whole = files
        given, files, notes = _recognised_form(files)
        if given is not None and not _reads_rows(given, files):
            notes = [
                f"It has the columns of {given.name}, but no rows as there: columns are found "
                f"instead (--as {given.name} reads it as that form)."
            ]
            given, files = None, whole
    if given is not None:
        fitting = [file for file in files if fits_form(file, given)]
        files = fitting or files
    elif len(files) > 1:
        files, more = _main_files(files)
        notes += more
    return files, given, notes


def _reads_rows(form: ImportMapping, files: list[RecordFile]) -> bool:
    """Whether a form that was recognised can read at least half of the rows; of many, of some."""
    if form.reader:
        return True
    fitting = with_more_columns([file for file in files if fits_form(file, form)] or files, form)
    columns = list(dict.fromkeys(column for file in fitting for column in file.columns))
    records = [record for file in fitting for record in file.records]
    records = records[:: max(1, len(records) // _SAMPLE)]
    chosen = form.without_missing(columns)
    if not {"question", "video"} <= set(chosen.fields):
        return False
    reader = RowReader(chosen)
    reader.reading = answers_of(reader, records)
    return len(drafts_of(reader, records)[0]) * 2 >= len(records)


_SAMPLE = 200  # rows by which it is seen whether a form fits


def _recognised_form(
    files: list[RecordFile],
) -> tuple[ImportMapping | None, list[RecordFile], list[str]]:
    """The published form of the files, some of which have to be read along a path of it."""
    found = [(file, forms) for file in files if (forms := forms_of(file))]
    if not found:
        nested = [form for form in published_forms().values() if form.rows]
        for form in nested:
            again = [read_records(file.path, path) for file in files for path in form.rows]
            fitting = [file for file in again if fits_form(file, form)]
            if fitting:
                return form, fitting, [f"Recognised as {form.title} (--as {form.name})."]
        return None, files, []
    counts = Counter(forms[0].name for _, forms in found)
    name = max(counts, key=lambda each: (counts[each], each))
    form = published_forms()[name]
    notes = [f"Recognised as {form.title or name} (--as {name})."]
    rivals = [f.name for f in found[0][1][1:] if len(f.columns) == len(form.columns)]
    if rivals:
        notes.append(f"It may as well be {' or '.join(rivals)}: --as decides.")
    if form.rows:
        files = [read_records(file.path, path) for file in files for path in form.rows]
    return form, files, notes


def _main_files(files: list[RecordFile]) -> tuple[list[RecordFile], list[str]]:
    """The files of a folder that have the columns of the largest group of them."""
    groups: dict[frozenset[str], list[RecordFile]] = {}
    for file in files:
        groups.setdefault(frozenset(file.columns), []).append(file)
    ranked = sorted(groups.values(), key=lambda group: -sum(len(f.records) for f in group))
    for group in ranked:
        records = [record for file in group for record in file.records]
        found, _ = recognise(records, group[0].columns)
        if {"question", "video"} <= set(found.fields):
            needed = set(replace(found, tags=NOTHING).named_columns())
            kept = [file for file in files if needed <= set(file.columns)]
            others = [file.path.name for file in files if file not in kept]
            notes = (
                [f"Left out, as they have other columns: {', '.join(others)}."] if others else []
            )
            return kept, notes
    return ranked[0], []
