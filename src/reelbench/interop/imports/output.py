"""The folder that an import writes: the benchmark, and ``import/`` with how it was made."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import check_output_folder, pretty_json, write_atomically
from reelbench.base.limits import bounded_text
from reelbench.data.benchmark import Benchmark
from reelbench.data.items import NOTHING
from reelbench.pages.table import Table

if TYPE_CHECKING:
    from reelbench.interop.imports.importing import ImportResult

FOLDER = "import"
MAPPING = "mapping.yaml"
ODD_ROWS = "odd_rows.csv"
MISSING = "missing_media.csv"
MISSING_SUBTITLES = "missing_subtitles.csv"
LINKS = "links.txt"
SOURCE = "source.json"
PROMPTS = "prompts/imported"


def check_out(out: Path, source: Path) -> None:
    """Raise an error for a folder that holds anything but an import of the same source."""
    if source.resolve() == out.resolve():
        raise ReelbenchError(f"{out} is the source itself: name another folder in --out.")
    check_output_folder(out, "import", [f"{FOLDER}/{SOURCE}"])
    record = out / FOLDER / SOURCE
    if record.is_file() and bounded_text(record) != _source_text(source):
        raise ReelbenchError(
            f"{out} holds an import of another source ({record} says which): name another folder."
        )


def begin_import(out: Path, source: Path) -> None:
    """Write down whose import a folder is, before anything else is put into it.

    An import that is killed can then be repeated.
    """
    (out / FOLDER).mkdir(parents=True, exist_ok=True)
    write_atomically(out / FOLDER / SOURCE, _source_text(source))


def write_import(
    result: "ImportResult", out: Path, source: Path, prompts: Mapping[str, str] = NOTHING
) -> None:
    """Write the benchmark and the records of its import; the same import, the same bytes."""
    folder = out / FOLDER
    begin_import(out, source)
    write_atomically(folder / MAPPING, result.mapping.to_yaml())
    noted = sorted([*result.odd_rows, *result.remarks], key=lambda row: (row.file, row.line))
    rows = [(row.file, str(row.line), row.id, row.reason) for row in noted]
    write_table(folder / ODD_ROWS, ("file", "line", "id", "reason"), rows)
    for kind, text in prompts.items():
        path = out / PROMPTS / f"{kind}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    missing = [(one.id, one.wanted, one.reason, one.why) for one in result.plan.missing]
    write_table(folder / MISSING, ("id", "wanted", "reason", "why"), missing)
    absent = [(one.id, one.wanted, one.why) for one in result.plan.missing_subtitles]
    write_table(folder / MISSING_SUBTITLES, ("id", "wanted", "why"), absent)
    links = dict.fromkeys(result.plan.links.values())
    _write_or_remove(folder / LINKS, "".join(f"{link}\n" for link in links))
    Benchmark(out, result.manifest, result.items).save(out)


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file, or remove it where there are no rows."""
    table = Table(path.stem, path.stem, columns, list(rows))
    _write_or_remove(path, table.to_csv() if table.rows else "")


def _write_or_remove(path: Path, text: str) -> None:
    if text:
        write_atomically(path, text.encode("utf-8", "backslashreplace"))
    else:
        path.unlink(missing_ok=True)


def _source_text(source: Path) -> str:
    place = hashlib.sha256(str(source.resolve()).encode()).hexdigest()
    return pretty_json({"source": source.resolve().name, "place": place})
