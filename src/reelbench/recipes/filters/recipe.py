"""Run the filters of all recipes on a finished benchmark, ours or anyone's.

What nobody is named to play is left out: ``--model blind=...`` alone runs the filters that need no
model, and context independence.
"""

from reelbench.make.parts.balance_stages import balance_key_positions
from reelbench.make.parts.existing import collect, items_in, same_manifest
from reelbench.make.parts.filters import (
    filter_blind,
    filter_context,
    filter_ensemble,
    filter_modality,
)
from reelbench.make.parts.shortcuts import filter_shortcuts
from reelbench.make.parts.static_filters import (
    filter_key_length,
    filter_lint,
    filter_near_duplicates,
)
from reelbench.make.pipeline.stage import Recipe, Role

# Of finished questions, HumanVBench removed about 6 % as answerable without the video (3.3).
NOT_BLIND = 0.94

RECIPE = Recipe(
    name="filters",
    description="a benchmark without what is broken, repeated or answerable by a shortcut",
    sources=items_in,
    stages=(
        filter_lint(media=True),
        filter_near_duplicates(),
        filter_key_length(),
        filter_blind(optional=True, baselines_aside=True, version=2, expected_pass_rate=NOT_BLIND),
        filter_ensemble(optional=True),
        filter_context(optional=True),
        filter_modality("visual", optional=True),
        filter_modality("audio", optional=True),
        filter_shortcuts(),
        # Last, for where keys go depends on all that are left: before, one item more would change
        # every question that models are asked.
        balance_key_positions(if_uneven=True),
        collect(),
    ),
    roles={
        "blind": Role("answers from the words alone, five times", many=True, verifies=True),
        "ensemble": Role("several that answer from the words alone", many=True, verifies=True),
        "veracity": Role("answers from the item's context", verifies=True),
        "watcher": Role("answers from pictures alone", many=True, verifies=True),
        "listener": Role("answers from sound alone", many=True, verifies=True),
    },
    manifest=same_manifest,
    media="source",
)
