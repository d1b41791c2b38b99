"""MMOU as its authors published it: rows with ten options become items, with and without options.

Nothing is made up, and nothing is asked of a model. The format is in ``interop/mmou/published.py``.
"""

from collections.abc import Sequence
from pathlib import Path

from reelbench.data.items import Item
from reelbench.data.manifest import Manifest
from reelbench.interop.mmou.manifest import mmou_manifest
from reelbench.interop.mmou.published import published_rows_in
from reelbench.make.parts.counterparts import open_counterparts
from reelbench.make.parts.existing import collect
from reelbench.make.pipeline.stage import Recipe


def _manifest(items: Sequence[Item], _source: Path) -> Manifest:
    return mmou_manifest("MMOU: omni-modal understanding of long videos", items)


RECIPE = Recipe(
    name="mmou-published",
    description="MMOU's own rows, as published, as a benchmark",
    sources=published_rows_in,
    stages=(open_counterparts(), collect()),
    roles={},
    manifest=_manifest,
    media="source",
)
