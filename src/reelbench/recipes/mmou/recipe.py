"""MMOU: massive multi-task omni understanding and reasoning (Goel, Ghosh and others).

Sections, tables and figures are the paper's. Read the stages beside its Figure 4.

People write the questions (``reelbench review FOLDER --protocol mmou-write``) and check each of
them (``mmou-verify``); models caption the videos and write the wrong options. What waits for people
is named, and the next run goes on where they have decided.
"""

from collections.abc import Sequence
from pathlib import Path

from reelbench.data.items import Item
from reelbench.data.manifest import Manifest
from reelbench.interop.mmou.manifest import mmou_manifest
from reelbench.make.parts.balance_stages import balance_key_positions, none_of_the_above
from reelbench.make.parts.caption import caption_apart
from reelbench.make.parts.counterparts import open_counterparts
from reelbench.make.parts.distract import distract
from reelbench.make.parts.existing import collect
from reelbench.make.parts.filters import filter_ensemble, filter_modality
from reelbench.make.parts.verdicts import verdicts
from reelbench.make.pipeline.stage import Recipe, Role
from reelbench.recipes.mmou.source import questions_in_folder
from reelbench.recipes.mmou.statistics import mmou_statistics

ORDERS = 5  # of the options, in the checks as in the evaluation (4.2)
SOLVED = 0.8  # of all orders and models: what they reliably solve; the paper has people decide
NONE_SHARE = 2_000 / 15_000  # 3.4, step 5

STAGES = (
    # Videos first: who checks questions looks at them in the new folder.
    collect(),
    # 3.4, step 6, and C: a second person checks every question; 20% are audited beside that.
    verdicts(name="quality-control"),
    # 3.4, step 5, and G.4: what is seen and what is heard, told apart and fused.
    caption_apart("uniform:32", size="long:768"),
    # Figure 8: the key, four that are in the video and five that are not, each explained.
    distract(from_context=4, out_of_context=5, lettered=True),
    # 3.4, step 1: what one modality solves; reported, and dropped with --set STAGE.drop=true.
    filter_ensemble(ORDERS, SOLVED, drop=False, name="text-only", role="reader", optional=True),
    filter_modality("visual", ORDERS, drop_share=SOLVED, drop=False, optional=True),
    filter_modality("audio", ORDERS, drop_share=SOLVED, drop=False, optional=True),
    # 3.4, step 5: for the key in 2,000 of 15,000, for a wrong option in another 2,000.
    none_of_the_above(NONE_SHARE, NONE_SHARE),
    # A, Table 6: the others in all positions alike.
    balance_key_positions(),
    # G.1: the same question without options; its reference is what its author answered.
    open_counterparts(),
)


def _manifest(items: Sequence[Item], source: Path) -> Manifest:
    title = "MMOU: omni-modal understanding of videos with sound"
    return mmou_manifest(title, items, made_from=source.name)


RECIPE = Recipe(
    name="mmou",
    description="audio-visual questions with ten options and without, from questions people wrote",
    sources=questions_in_folder,
    stages=STAGES,
    roles={
        "picture-captioner": Role("tells what is seen; hears nothing and reads no transcript"),
        "sound-captioner": Role("tells what is heard; sees nothing"),
        "fuser": Role("joins both captions into one account", stands_in="distractor"),
        "distractor": Role("writes nine wrong options from the account"),
        "reader": Role("answers from the words alone", many=True, verifies=True),
        "watcher": Role("answers from the pictures alone", many=True, verifies=True),
        "listener": Role("answers from the sound alone", many=True, verifies=True),
    },
    manifest=_manifest,
    media="source",
    statistics=mmou_statistics,
)
