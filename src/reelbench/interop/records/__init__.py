"""Reads the rows of anyone's file: CSV, TSV, Excel, JSON, JSON lines and Parquet."""

from reelbench.interop.records.cell_times import SheetTime
from reelbench.interop.records.read import read_records, record_files
from reelbench.interop.records.record import RecordFile, SourceRecord

__all__ = ["RecordFile", "SheetTime", "SourceRecord", "read_records", "record_files"]
