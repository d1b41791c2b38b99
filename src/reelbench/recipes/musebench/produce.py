"""Phases C and D (3.3): from essays with captions to finished questions, for pilots and for all.

Beside them, the checks that a question needs the clip, and not the narrator.
"""

from reelbench.interop.musebench.taxonomy import CATEGORIES
from reelbench.make.parts.distract import distract
from reelbench.make.parts.filters import filter_above_chance
from reelbench.make.parts.narration_filters import filter_narrated, filter_transcript
from reelbench.make.parts.write import check_drafts, write
from reelbench.make.pipeline.stage import Stage
from reelbench.recipes.musebench.matching import match_clips
from reelbench.recipes.musebench.plan import QUESTIONS, narration_of, plan_questions
from reelbench.recipes.musebench.subdomains import tag_subdomains
from reelbench.recipes.musebench.vocabulary import vocabulary

OPTIONS = (4, 8)  # of single-select and multi-select items, keys included
DISTRACTORS = (3, 7)
STRATEGIES = 3  # different ones at least, of seven

PRODUCE: tuple[Stage, ...] = (
    # C.5: three to five questions of each video, about 30% of them multi-select.
    plan_questions(),
    write(("questions",), count=QUESTIONS, repair_rules=True),
    check_drafts(),
    # C.5: one contiguous range of clips, held against those that the writer cited.
    match_clips(),
    # B.2: one of the category's sub-domains.
    tag_subdomains(),
    # C.6: their number is drawn, so that items have four to eight options.
    distract(
        count=DISTRACTORS,
        least_options=OPTIONS[0],
        most_options=OPTIONS[1],
        min_strategies=STRATEGIES,
        drawn=True,
        guidance={category: vocabulary(category).scope_description for category in CATEGORIES},
    ),
)

NEEDS_THE_CLIP: tuple[Stage, ...] = (
    # 3.4: narrator-dependent is what the narration answers and the clip without it does not.
    filter_transcript(narration_of, optional=True),
    filter_narrated(optional=True),
    # 3.3: options are equally plausible unseen; reported with its interval.
    filter_above_chance(drop=False, optional=True),
)
