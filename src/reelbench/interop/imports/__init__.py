"""Benchmarks of anyone, imported: their rows, their media."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "ImportMapping",
    "ImportResult",
    "ImportSource",
    "import_benchmark",
    "published_forms",
    "read_mapping",
]

if TYPE_CHECKING:
    from reelbench.interop.imports.form_files import published_forms
    from reelbench.interop.imports.importing import ImportResult, import_benchmark
    from reelbench.interop.imports.mapping import ImportMapping, read_mapping
    from reelbench.interop.imports.sources import ImportSource

_HOMES = {
    "ImportMapping": "mapping",
    "ImportResult": "importing",
    "ImportSource": "sources",
    "import_benchmark": "importing",
    "published_forms": "form_files",
    "read_mapping": "mapping",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
