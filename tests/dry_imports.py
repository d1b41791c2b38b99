"""What an import makes of a table or of JSON, without writing anything."""

import csv
import json
from pathlib import Path
from typing import Any

from reelbench.data.items import LETTERS
from reelbench.interop.imports import ImportResult, import_benchmark


def write(path: Path, rows: list[list[Any]], delimiter: str = ",") -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path


def imported(folder: Path, rows: Any, **more: Any) -> ImportResult:
    """What a dry run makes of a table, or of JSON."""
    if isinstance(rows, list) and rows and isinstance(rows[0], list):
        path = write(folder / "questions.csv", rows)
    else:
        path = folder / "questions.json"
        path.write_text(json.dumps(rows))
    return import_benchmark(path, folder / "made", dry_run=True, **more)


def taken(result: ImportResult) -> dict[str, str]:
    return {use.column: use.field for use in result.columns if use.field}


def keys(result: ImportResult) -> list[str | None]:
    """The texts of the right options, or the references."""
    return [
        " + ".join(item.options[LETTERS.index(letter)] for letter in item.answer) or item.reference
        for item in result.items
    ]
