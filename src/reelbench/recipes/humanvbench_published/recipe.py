"""HumanVBench (arXiv 2412.17574) as its authors published it: its rows become items.

Nothing is made up, and nothing is asked of a model. The format is in
``interop/humanvbench/published.py``; how many people make a clip dense (appendix H) are the
parameters ``sources.medium`` and ``sources.high``.
"""

from collections.abc import Sequence
from pathlib import Path

from reelbench.data.items import Item
from reelbench.data.manifest import Manifest
from reelbench.interop.humanvbench.manifest import humanvbench_manifest
from reelbench.interop.humanvbench.published import published_humanvbench
from reelbench.interop.humanvbench.taxonomy import HIGH, MEDIUM
from reelbench.make.parts.existing import collect
from reelbench.make.pipeline.stage import Recipe


def _manifest(items: Sequence[Item], _source: Path) -> Manifest:
    return humanvbench_manifest("HumanVBench: human-centric video understanding", items)


RECIPE = Recipe(
    name="humanvbench-published",
    description="HumanVBench's own rows, as published, as a benchmark",
    sources=published_humanvbench,
    source_parameters={"medium": MEDIUM, "high": HIGH},
    stages=(collect(),),
    roles={},
    manifest=_manifest,
    media="source",
)
