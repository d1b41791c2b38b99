"""Items from candidates: by a template where a rule knows the answer, open where it does not yet.

What a draft lacks, people or models add: a closed task whose truth comes from people has an open
question until they have answered it, a descriptive one until several models have.
"""

from collections.abc import Callable, Mapping
from typing import Any

from reelbench.data.items import NOTHING, Item, Media
from reelbench.interop.humanvbench.taxonomy import human_tags
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.funnel import CATEGORY
from reelbench.recipes.humanvbench.closed import CLOSED
from reelbench.recipes.humanvbench.descriptive import IN_WORDS
from reelbench.recipes.humanvbench.marks import media_path
from reelbench.recipes.humanvbench.rows import Candidate

TASK = CATEGORY  # the tag of an item's task
DRAFTS: Mapping[str, Callable[[Candidate], dict[str, Any]]] = {**CLOSED, **IN_WORDS}


async def draft(row: Candidate, _ctx: StageContext) -> list[Item]:
    """Return the item of a candidate, complete or with an open question."""
    return [new_item(row, **DRAFTS[row.task](row))]


def new_item(
    row: Candidate, question: str, tags: Mapping[str, str] = NOTHING, **fields: object
) -> Item:
    """Return an item about the video of a candidate, with the tags and facts that all have."""
    item = Item(id=row.id, kind="open", media=(Media(media_path(row.video)),), question=question)
    facts = {
        "source": row.source,
        "seconds": row.seconds,
        "confidence": row.confidence,
        **row.facts,
    }
    models = row.texts.get("models")
    return item.replace(
        tags={**human_tags(row.task), "subject": row.subject, **tags},
        provenance={"select": facts, **({"describe": {"models": models}} if models else {})},
        **fields,
    )
