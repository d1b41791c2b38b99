"""Q-Bench-Video (arXiv 2409.20063) as its authors published it, or questions written in its form.

Nothing is made up: files of questions (3.3) become items, yes and no are evened out by opposite
questions (3.3) where a writer is named, and questions without a split are divided between dev and
test (4.1). The format of the files is in ``source.py``.
"""

from collections.abc import Sequence
from pathlib import Path

from reelbench.data.items import Item
from reelbench.data.manifest import Manifest
from reelbench.interop.qbench_video.source import questions_in
from reelbench.interop.qbench_video.taxonomy import SPLITS, published_manifest
from reelbench.make.parts.balance_stages import balance_yes_no, choose_negations, negate, split
from reelbench.make.parts.existing import collect
from reelbench.make.pipeline.stage import Recipe, Role


def _manifest(items: Sequence[Item], _source: Path) -> Manifest:
    return published_manifest("qbench-video", "Q-Bench-Video: video quality", items)


RECIPE = Recipe(
    name="qbench-published",
    description="Q-Bench-Video's own files, or questions written like them, as a benchmark",
    sources=questions_in,
    stages=(
        # Without a writer, nothing is negated, and so nothing is to be marked.
        choose_negations(roles=("writer",), optional=True),
        negate(optional=True),
        balance_yes_no(),
        # What a file does not tell the split of; its videos take their other questions along.
        split(SPLITS, by=("question_type", "context"), keep=True),
        collect(),
    ),
    roles={"writer": Role("rewrites yes/no questions to their opposite")},
    manifest=_manifest,
    media="source",
)
