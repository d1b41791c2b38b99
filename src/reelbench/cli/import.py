"""``reelbench import``."""  # noqa: N999 - a command is called as its module is

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import counted
from reelbench.cli.say import (
    command,
    named_values,
    printable,
    put,
    put_table,
    settings,
    tell,
    tell_table,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reelbench.interop.imports import ImportResult
    from reelbench.interop.imports.items import OddRow

FIRST_ITEMS = 3  # that a dry run shows
_MOST_GIGABYTES = 1e6
FIRST_ODD = 10  # rows that are named in the terminal
MOST_COLUMNS = 60  # that are all listed; of more, those that were taken for something


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "examples:\n"
        "  reelbench import questions.csv --media videos --out my-benchmark\n"
        "  reelbench import questions.csv --dry-run\n"
        "  reelbench import questions.csv --out my-benchmark --set answer_as=index1\n"
        "  reelbench import val.csv --as next-qa --out next-qa\n"
        "  reelbench import --list\n\n"
        "exit status: 0 all rows were imported, 1 some were not, or look wrong (listed), 2 wrong "
        "usage"
    )
    parser.add_argument(
        "source", nargs="?", metavar="SOURCE",
        help="file or folder with the questions, or the name of a dataset on the Hugging Face Hub",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="BENCH", help="output folder of the benchmark")
    parser.add_argument(
        "--as", dest="form", default="", metavar="FORM",
        help="format: a published one (see --list), or FILE.py:NAME (default: detected)",
    )  # fmt: skip
    parser.add_argument("--map", type=Path, metavar="FILE", help="your own column mapping, in YAML")
    parser.add_argument(
        "--set", action="append", default=[], metavar="FIELD=COLUMN",
        help="map a field to a column, such as question=COLUMN or answer_as=index1; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--media",
        type=Path,
        metavar="FOLDER",
        help="folder with the videos (default: that of SOURCE)",
    )
    parser.add_argument(
        "--keep-missing", action="store_true", help="keep items whose videos are missing"
    )
    parser.add_argument(
        "--no-unpack", action="store_true", help="do not unpack videos from archives"
    )
    parser.add_argument(
        "--download",
        action="store_true",
        help="download videos that SOURCE links to (never done otherwise)",
    )
    parser.add_argument(
        "--download-limit", type=_gigabytes, default=10.0, metavar="GB",
        help="maximum size of a download (default: 10)",
    )  # fmt: skip
    parser.add_argument(
        "--name", default="", help="name of the benchmark (default: that of the folder)"
    )
    parser.add_argument(
        "--rows",
        default="",
        metavar="PATH",
        help="path to the rows in nested JSON, such as data/[]",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the first items, write nothing"
    )
    parser.add_argument("--list", action="store_true", help="list the published formats")


def _gigabytes(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= _MOST_GIGABYTES:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of gigabytes above 0")
    return number


def main(options: argparse.Namespace) -> int:
    """Import, and say what was made of each column and row."""
    from reelbench.interop.imports import import_benchmark
    from reelbench.interop.imports.http_files import FetchRules
    from reelbench.interop.imports.hub import fetched

    if options.list:
        put_forms()
        return 0
    if options.source is None:
        raise ReelbenchError("Name the file or folder to import, or --list.")
    if options.out is None and not options.dry_run:
        raise ReelbenchError("Name the benchmark's folder with --out, or look with --dry-run.")
    source = fetched(options.source, options.download, tell)
    rules = FetchRules(most_bytes=int(options.download_limit * 1e9))
    result = import_benchmark(
        source,
        options.out or Path(source.stem),
        form=options.form,
        mapping=options.map,
        media=options.media,
        keep_missing=options.keep_missing,
        look_into_archives=not options.no_unpack,
        download=rules if options.download else None,
        name=options.name,
        rows=options.rows,
        settings=column_settings(options.set),
        dry_run=options.dry_run,
    )
    tell_result(result, options.out)
    if options.out is not None and result.written:
        tell(f"Next: {command('lint', options.out)}")
    if options.dry_run:
        for item in result.items[:FIRST_ITEMS]:
            put(item.to_line())
    return 1 if result.odd_rows or result.findings else 0


def column_settings(words: list[str]) -> dict[str, object]:
    """Read ``FIELD=COLUMN`` as often as it is said; ``[a, b]`` are several columns."""
    found: dict[str, object] = dict(named_values(words, "--set FIELD=COLUMN"))
    lists = [word for word in words if "=[" in word and word.endswith("]")]
    return found | settings(lists, "--set FIELD=[COLUMN, COLUMN]")


def put_forms() -> None:
    """Write the forms that are known: published ones, other layouts, and those of packages."""
    from reelbench.interop.imports.form_files import known_forms

    put_table(("form", "title", "paper", "licence"), known_forms())


def tell_result(result: "ImportResult", out: Path | None) -> None:
    """Say what each column was taken for, what was found, and which rows are odd."""
    used = [u for u in result.columns if u.field or len(result.columns) <= MOST_COLUMNS]
    rows = [(u.column, u.field or "-", u.example, u.why) for u in used]
    if rows:
        tell_table(("column", "taken for", "first value", "why"), rows)
    if more := len(result.columns) - len(used):
        tell(f"{more:,} more columns are left out.")
    for note in result.notes:
        tell(printable(note))
    for doubt in result.doubts:
        tell(f"warning: {printable(doubt)}")
    _tell_rows(result.remarks, "rows that are items all the same")
    _tell_rows(result.odd_rows, "rows that are no items")
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in result.kinds)
    tell(f"{counted(len(result.items), 'item')} ({kinds}) of {counted(result.rows, 'row')}.")
    if out is not None and result.written and (result.odd_rows or result.remarks):
        what = "Rows that are no items" if result.odd_rows else "Rows that were evened out"
        tell(f"{what}: {out / 'import' / 'odd_rows.csv'}.")


def _tell_rows(rows: "Sequence[OddRow]", what: str) -> None:
    for odd in rows[:FIRST_ODD]:
        named = f" ({odd.id})" if odd.id else ""
        place = f"{odd.file}:{odd.line}" if odd.line else odd.file
        tell(printable(f"{place}{named}: {odd.reason}"))
    if len(rows) > FIRST_ODD:
        tell(f"and {len(rows) - FIRST_ODD:,} more {what}")
