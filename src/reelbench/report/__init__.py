"""One self-contained HTML page from a run: it works offline, prints, and needs no server."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "report_run",
    "write_report",
    "write_tables",
]

if TYPE_CHECKING:
    from reelbench.report.report import report_run, write_report
    from reelbench.report.tables import write_tables

_HOMES = {
    "report_run": "report",
    "write_report": "report",
    "write_tables": "tables",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
