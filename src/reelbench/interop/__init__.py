"""Foreign formats, read and written."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "CsvTable",
    "Place",
    "RecordFile",
    "SourceRecord",
    "draft_item",
    "import_benchmark",
    "quality_manifest",
    "questions_in",
    "read_described_file",
    "read_records",
    "read_table",
    "record_files",
]

if TYPE_CHECKING:
    from reelbench.interop.csv_tables import CsvTable, Place, read_table
    from reelbench.interop.described_file import read_described_file
    from reelbench.interop.foreign_items import draft_item
    from reelbench.interop.imports.importing import import_benchmark
    from reelbench.interop.qbench_video.source import questions_in
    from reelbench.interop.qbench_video.taxonomy import quality_manifest
    from reelbench.interop.records import (
        RecordFile,
        SourceRecord,
        read_records,
        record_files,
    )

_HOMES = {
    "CsvTable": "csv_tables",
    "Place": "csv_tables",
    "RecordFile": "records",
    "SourceRecord": "records",
    "draft_item": "foreign_items",
    "import_benchmark": "imports.importing",
    "quality_manifest": "qbench_video.taxonomy",
    "questions_in": "qbench_video.source",
    "read_described_file": "described_file",
    "read_records": "records",
    "read_table": "csv_tables",
    "record_files": "records",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
