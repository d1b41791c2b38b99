"""What results are analysed by beside the task: how many people are seen, and who speaks (4.3, H).

No rule of a task reads this; it becomes tags, by which the tables of the benchmark choose items.
"""

import re
from typing import Any

from msgspec import structs

from reelbench.data.items import Item
from reelbench.interop.humanvbench.taxonomy import human_tags
from reelbench.make.pipeline.context import StageContext
from reelbench.recipes.humanvbench.drafts import TASK
from reelbench.recipes.humanvbench.rows import PERSON, Candidate

COUNTED, SPEAKING = "people", "speaking"  # facts of a candidate, which its item keeps


async def note_people(row: Candidate, ctx: StageContext) -> list[Candidate]:
    """Note how many people are in a clip, and whether the one asked about speaks, where known."""
    if row.subject != PERSON:
        return [row]
    labels = ctx.labels(row)
    facts: dict[str, Any] = {COUNTED: labels.get("count", {}).get("people")}
    if row.target:
        people = {each["id"]: each for each in labels.get("speaker", {}).get("people", ())}
        facts[SPEAKING] = people.get(row.target, {}).get("speaks")
    known = {name: value for name, value in facts.items() if value is not None}
    return [structs.replace(row, facts={**row.facts, **known})]


async def analysed(item: Item, _ctx: StageContext, *, medium: int, high: int) -> list[Item]:
    """Give an item the tags of its density and of who speaks; people's own count goes first."""
    facts = item.provenance.get("select", {})
    people = facts.get(COUNTED)
    if item.tags[TASK] == "HC" and item.answer:
        number = re.search(r"\d+", item.correct[0])
        people = int(number[0]) if number else people
    tags = human_tags(
        str(item.tags[TASK]),
        people=people,
        speaking=facts.get(SPEAKING),
        medium=medium,
        high=high,
    )
    return [item.replace(tags={**item.tags, **tags})]
