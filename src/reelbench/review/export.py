"""From events to files, the same bytes for the same events: what a review gives to others."""

import io
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import link_or_copy, write_atomically
from reelbench.data.benchmark import ITEMS_FILE, MANIFEST_FILE, items_text, read_items
from reelbench.data.items import Item
from reelbench.data.paths import Folder, beside
from reelbench.data.verdicts import VERDICTS_FILE
from reelbench.review.agreements import manual_work_csv
from reelbench.review.apply import decided_benchmark, manifest_of
from reelbench.review.database import DATABASE_FILE, FOLDER, ReviewDatabase, sqlite_url
from reelbench.review.decisions import decisions
from reelbench.review.protocol import read_protocol
from reelbench.review.rating_results import rating_results
from reelbench.review.records import event_lines, events_csv, prediction_lines, rating_sets
from reelbench.review.review import Review
from reelbench.review.verdict_file import verdict_lines

BENCHMARK = "benchmark"  # the folder of the decided benchmark among the exports
_OLD = (1980, 1, 1, 0, 0, 0)  # the time of all files in an archive: the same bytes each time


def export_files(review: Review) -> dict[str, str]:
    """Return all files by name; those without content are left out."""
    with review.reading() as state:
        made = decided_benchmark(review)
        files = {
            VERDICTS_FILE: "".join(verdict_lines(review)),
            "rejects.jsonl": made.rejects_text,
            "predictions.jsonl": "".join(prediction_lines(review)),
            "events.jsonl": "".join(event_lines(state)),
            "events.csv": events_csv(state) if state.ids else "",
            "manual-work.csv": manual_work_csv(list(decisions(review))),
        }
        if made.items:
            files[f"{BENCHMARK}/{MANIFEST_FILE}"] = _manifest_text(review.root)
            files[f"{BENCHMARK}/{ITEMS_FILE}"] = items_text(made.items)
        for each in rating_sets(review):
            files[_unused(each.file, files)] = each.to_csv()
        for results in rating_results(review):
            files[_unused(results.file, files)] = results.to_csv()
            files[_unused(results.summary_file, files)] = results.summary_csv()
    return {name: text for name, text in sorted(files.items()) if text}


def _manifest_text(root: Path) -> str:
    path = root / MANIFEST_FILE
    return path.read_text("utf-8") if path.exists() else manifest_of(root).to_yaml()


def _unused(name: str, files: dict[str, str]) -> str:
    """Return a name for a file that no other has: two axes may differ in a sign alone."""
    stem, number = name.removesuffix(".csv"), 1
    while name in files:
        number += 1
        name = f"{stem}-{number}.csv"
    return name


def export_archive(review: Review) -> bytes:
    """Return all files in one archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in export_files(review).items():
            archive.writestr(zipfile.ZipInfo(name, _OLD), text.encode(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def write_export(review: Review, out: Path) -> list[Path]:
    """Write all files into a folder, the videos of the benchmark with it; return their paths."""
    files = export_files(review)
    if not files:
        raise ReelbenchError(f"Nobody has done anything in the review of {review.root} yet.")
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    items = out / BENCHMARK / ITEMS_FILE
    if items.exists():
        _bring_media(review.root, items.parent, read_items(items).items)
    return [out / name for name in files]


def _bring_media(root: Path, out: Path, items: tuple[Item, ...]) -> None:
    """Give videos and their subtitles a second name in the new folder; nothing from outside."""
    folder = Folder(root)
    media = {medium.path for item in items for medium in item.media}
    names = {name for path in media for name in (path, *beside(path))}
    for name in sorted(names):
        if (root / name).is_file() and not folder.outside(name):
            link_or_copy(root / name, out / name)


@contextmanager
def reading_review(root: Path, url: str = "") -> Iterator[Review]:
    """Open the review of a folder to read it alone, also while a server writes.

    Where nobody has begun one, it has no event.
    """
    path = root / FOLDER / DATABASE_FILE
    protocols = [read_protocol(each) for each in sorted((root / FOLDER).glob("*.yaml"))]
    with tempfile.TemporaryDirectory() as empty:
        begun = bool(url) or path.exists()
        database = ReviewDatabase(url or sqlite_url(path if begun else Path(empty) / path.name))
        try:
            if not begun:
                database.create(root.name)
            review = Review(root, protocols, database)
            review.catch_up()
            yield review
        finally:
            database.close()
