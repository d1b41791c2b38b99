"""Foreign formats, read and written."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "CsvTable",
    "Place",
    "draft_item",
    "quality_manifest",
    "questions_in",
    "read_described_file",
    "read_table",
]

if TYPE_CHECKING:
    from reelbench.interop.csv_tables import CsvTable, Place, read_table
    from reelbench.interop.described_file import read_described_file
    from reelbench.interop.foreign_items import draft_item
    from reelbench.interop.qbench_video.source import questions_in
    from reelbench.interop.qbench_video.taxonomy import quality_manifest

_HOMES = {
    "CsvTable": "csv_tables",
    "Place": "csv_tables",
    "draft_item": "foreign_items",
    "quality_manifest": "qbench_video.taxonomy",
    "questions_in": "qbench_video.source",
    "read_described_file": "described_file",
    "read_table": "csv_tables",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
