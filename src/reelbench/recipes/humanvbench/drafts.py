"""Items from candidates: by a template where a rule knows the answer, open where it does not yet.

What a draft lacks, people or models add: a closed task whose truth comes from people has an open
question until they have answered it, a descriptive one until several models have.
"""

from collections.abc import Callable, Mapping

from reelbench.data.items import LETTERS, Item, Media
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.marks import letter_of, media_path
from reelbench.recipes.humanvbench.rows import Candidate
from reelbench.recipes.humanvbench.tasks import TASKS

TASK = "task"  # the tag of an item's task


async def draft(row: Candidate, _ctx: StageContext) -> list[Item]:
    """Return the item of a candidate, complete or with an open question."""
    lacking = [name for name in TASKS[row.task].models if name not in row.texts.get("models", ())]
    if row.task not in DRAFTS:
        raise Rejected("needs models", f"Add {' '.join(f'--model {r}=NAME' for r in lacking)}.")
    return [DRAFTS[row.task](row)]


def new_item(row: Candidate, question: str, **fields: object) -> Item:
    """Return an item about the video of a candidate, with the tags and facts that all have."""
    task = TASKS[row.task]
    item = Item(id=row.id, kind="open", media=(Media(media_path(row.video)),), question=question)
    facts = {"source": row.source, "confidence": row.confidence, **row.facts}
    return item.replace(
        tags={TASK: row.task, "dimension": task.dimension, "subject": row.subject},
        provenance={"select": facts},
        **fields,
    )


def _active_speaker(row: Candidate) -> Item:
    question = "Who is speaking in the video? The people are marked with letters."
    return new_item(
        row,
        question,
        kind="single",
        options=[
            *LETTERS[: len(row.people)],
            "There are more than one active speaker in the video.",
            "There is no active speaker in the video.",
        ],
        answer=[letter_of(row, row.key)],
    )


DRAFTS: Mapping[str, Callable[[Candidate], Item]] = {"ASD": _active_speaker}
