"""The rows of a source: a file, a folder of files, or what a loader of another layout gives."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.extensions import load_from_file, load_registered, registered, split_file
from reelbench.data.items import NOTHING, Problem
from reelbench.interop.imports.mapping import ImportMapping
from reelbench.interop.records import RecordFile, SourceRecord, read_records, record_files

GROUP = "reelbench.importers"  # of entry points
# Modules of this package for layouts that are more than files of rows. Each has
# ``recognises(source) -> bool`` and ``load(source) -> ImportSource``.
LOADERS: dict[str, str] = {
    "lmms-eval": "reelbench.interop.imports.lmms_eval",
    "hugging-face": "reelbench.interop.imports.hf_folder",
}


@dataclass(frozen=True, slots=True)
class ImportSource:
    """The files of rows of a source, and what is known about them beside."""

    path: Path
    files: tuple[RecordFile, ...]
    notes: tuple[str, ...] = ()  # choices that were made, as sentences
    title: str = ""
    licence: str = ""
    mapping: ImportMapping | None = None  # what the source itself says about its columns
    media: tuple[Path, ...] = ()  # folders with its videos, beside those of its files
    tags: Mapping[str, str] = NOTHING  # that the layout gives, by column, whatever the form
    prompts: Mapping[str, str] = NOTHING  # by kind of question

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The lines and files that cannot be read."""
        return tuple(problem for file in self.files for problem in file.problems)


Importer = Callable[[Path], Iterable[Mapping[str, Any]]]  # a user's own: the rows of a source


def read_source(
    source: Path, rows: str = "", form: str = "", skip: Path | None = None
) -> ImportSource:
    """Return the rows of a source; ``form`` may name a loader, or an importer of a user's own.

    What lies below ``skip``, such as the folder that is made, is left out.
    """
    if own := own_importer(form):
        return ImportSource(source, (_own_rows(own, source, form),))
    if not source.exists():
        raise ReelbenchError(f"{source} does not exist: name a file of rows, or a folder of them.")
    for name, module in LOADERS.items():
        loader = import_module(module)
        if form == name or (not form and not rows and loader.recognises(source)):
            loaded: ImportSource = loader.load(source)
            return loaded
    made = skip.resolve() if skip else None
    paths = [p for p in record_files(source) if not (made and p.resolve().is_relative_to(made))]
    if not paths:
        raise ReelbenchError(
            f"{source} has no file of rows in it (CSV, TSV, Excel, JSON, JSONL or Parquet)."
        )
    return ImportSource(source, tuple(read_records(path, rows) for path in paths))


def own_importer(form: str) -> Importer | None:
    """Return the importer of ``FILE.py:NAME``, or of an entry point; None for other names."""
    if own := split_file(form):
        found: Importer = load_from_file(*own, callable, "an importer, a function of a path")
        return found
    points = registered(GROUP)
    if form not in points:
        return None
    loaded: Importer = load_registered(points[form])
    return loaded


def _own_rows(importer: Importer, source: Path, form: str) -> RecordFile:
    records: list[SourceRecord] = []
    columns: dict[str, None] = {}
    for number, row in enumerate(importer(source), 1):
        if not isinstance(row, Mapping):
            raise ReelbenchError(
                f"{form} gives {type(row).__name__} as row {number}: an importer yields mappings "
                "of columns to values."
            )
        values = {str(name): value for name, value in row.items()}
        columns |= dict.fromkeys(values)
        records.append(SourceRecord(values, str(source), number))
    return RecordFile(source, "own", tuple(columns), tuple(records), ())
