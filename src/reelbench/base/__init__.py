"""What everything rests on: errors, seeds, files, durable SQLite, caches, progress, workers."""

from typing import TYPE_CHECKING

from reelbench.base.lazy import lazily

__all__ = [
    "LimitError",
    "ReelbenchError",
    "ResultStore",
    "WorkerError",
    "WorkerPool",
    "YamlError",
    "announce",
    "bounded_lines",
    "cache_folder",
    "canonical_json",
    "counted",
    "decode_json",
    "digest_of",
    "digest_of_file",
    "json_line",
    "open_durable",
    "open_result_store",
    "pretty_json",
    "read_yaml",
    "rng_for",
    "seed_for",
    "track",
    "write_atomically",
]

if TYPE_CHECKING:
    from reelbench.base.cache import cache_folder
    from reelbench.base.durable import ResultStore, open_durable, open_result_store
    from reelbench.base.errors import ReelbenchError
    from reelbench.base.files import (
        canonical_json,
        digest_of,
        digest_of_file,
        json_line,
        pretty_json,
        write_atomically,
    )
    from reelbench.base.limits import LimitError, bounded_lines, decode_json
    from reelbench.base.progress import announce, counted, track
    from reelbench.base.seeds import rng_for, seed_for
    from reelbench.base.workers import WorkerError, WorkerPool
    from reelbench.base.yaml_files import YamlError, read_yaml

_HOMES = {
    "LimitError": "limits",
    "ReelbenchError": "errors",
    "ResultStore": "durable",
    "WorkerError": "workers",
    "WorkerPool": "workers",
    "YamlError": "yaml_files",
    "announce": "progress",
    "bounded_lines": "limits",
    "cache_folder": "cache",
    "canonical_json": "files",
    "counted": "progress",
    "decode_json": "limits",
    "digest_of": "files",
    "digest_of_file": "files",
    "json_line": "files",
    "open_durable": "durable",
    "open_result_store": "durable",
    "pretty_json": "files",
    "read_yaml": "yaml_files",
    "rng_for": "seeds",
    "seed_for": "seeds",
    "track": "progress",
    "write_atomically": "files",
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
