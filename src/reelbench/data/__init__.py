"""Items, their rules, the manifest, and the benchmark folder."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "SOUND_ENDINGS",
    "SUBTITLE_ENDINGS",
    "VIDEO_ENDINGS",
    "Benchmark",
    "BenchmarkError",
    "Folder",
    "Item",
    "Manifest",
    "Media",
    "Problem",
    "Protocol",
    "Sources",
    "field_faults",
    "freeze",
    "inner_path",
    "link_outside",
    "path_escapes",
    "read_items",
    "read_manifest",
]

if TYPE_CHECKING:
    from reelbench.data.benchmark import Benchmark, BenchmarkError, read_items
    from reelbench.data.fields import field_faults
    from reelbench.data.items import Item, Media, Problem, freeze
    from reelbench.data.manifest import Manifest, Protocol, read_manifest
    from reelbench.data.paths import (
        SOUND_ENDINGS,
        SUBTITLE_ENDINGS,
        VIDEO_ENDINGS,
        Folder,
        inner_path,
        link_outside,
        path_escapes,
    )
    from reelbench.data.sources import Sources

_HOMES = {
    "Benchmark": "benchmark",
    "BenchmarkError": "benchmark",
    "Folder": "paths",
    "Item": "items",
    "Manifest": "manifest",
    "Media": "items",
    "Problem": "items",
    "Protocol": "manifest",
    "SOUND_ENDINGS": "paths",
    "SUBTITLE_ENDINGS": "paths",
    "Sources": "sources",
    "VIDEO_ENDINGS": "paths",
    "field_faults": "fields",
    "freeze": "items",
    "inner_path": "paths",
    "link_outside": "paths",
    "path_escapes": "paths",
    "read_items": "benchmark",
    "read_manifest": "manifest",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
