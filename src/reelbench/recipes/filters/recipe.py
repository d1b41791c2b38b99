"""Run the filters of all recipes on a finished benchmark, ours or anyone's.

What nobody is named to play is left out: ``--model blind=...`` alone runs the filters that need no
model, and context independence.
"""

from reelbench.make.parts.balance_stages import balancing_positions
from reelbench.make.parts.existing import collecting, items_in, same_manifest
from reelbench.make.parts.filters import (
    blind_ensemble,
    context_independence,
    contextual_veracity,
    one_modality,
)
from reelbench.make.parts.shortcuts import without_shortcuts
from reelbench.make.parts.static_filters import (
    without_findings,
    without_outstanding_keys,
    without_twins,
)
from reelbench.make.pipeline.stage import Recipe, Role

RECIPE = Recipe(
    name="filters",
    description="a benchmark without what is broken, repeated or answerable by a shortcut",
    sources=items_in,
    stages=(
        without_findings(media=True),
        without_twins(),
        without_outstanding_keys(),
        context_independence(optional=True, baselines_aside=True, version=2),
        blind_ensemble(optional=True),
        contextual_veracity(optional=True),
        one_modality("watcher", optional=True),
        one_modality("listener", optional=True),
        without_shortcuts(),
        # Last, for where keys go depends on all that are left: before, one item more would change
        # every question that models are asked.
        balancing_positions(),
        collecting(),
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
