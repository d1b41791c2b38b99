"""What people annotate (L.2, L.3): how many there are, and which action starts when."""

from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.data.items import Item
from reelbench.interop.humanvbench.taxonomy import human_tags
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.closed import NO_ACTION
from reelbench.recipes.humanvbench.distractors import ACTIONS, BEGIN
from reelbench.recipes.humanvbench.drafts import TASK
from reelbench.recipes.humanvbench.tasks import TASKS

ANNOTATION = "annotation"  # the stage at which people annotate
ANNOTATED = ("HC", "TSA")  # AST is made of the same annotation as TSA


async def annotated(
    item: Item, _ctx: StageContext, *, tasks: Sequence[str], throughout: float
) -> list[Item]:
    """Turn an annotation into items whose truth is known: a count, or an action and its start.

    An action is ongoing whose evidence covers the share ``throughout`` of the clip. ``tasks`` are
    those to make, all by default.
    """
    task = item.tags[TASK]
    if item.kind != "open" or task not in ANNOTATED:
        return [item]
    if ANNOTATION not in item.provenance:
        raise Rejected("needs people", f"{TASKS[task].title} takes its truth from people.")
    item = item.replace(provenance={**item.provenance, "author": _annotator(item)})
    if task == "HC":
        return [_counted(item)]
    wanted = [name for name in ("AST", "TSA") if name in (tasks or TASKS)]
    return _of_action(item, wanted, throughout)


def _annotator(item: Item) -> str:
    """Return who annotated an item: cross-verification is by someone else."""
    notes: Sequence[Mapping[str, Any]] = item.provenance[ANNOTATION]
    settled = [note for note in notes if note.get("settled")] or notes
    return str(settled[-1]["who"])


def _counted(item: Item) -> Item:
    text = (item.reference or "").strip()
    if not text.isdecimal() or int(text) < 1:
        raise Rejected("not a number", f"The number of people is {text!r}: write it in digits.")
    return item.replace(reference=str(int(text)))


def _of_action(item: Item, tasks: Sequence[str], throughout: float) -> list[Item]:
    """Return the items of an action and its start."""
    if item.reference == NO_ACTION or not item.evidence:
        raise Rejected("no action", "It was accepted without an action and its time.")
    action = (item.reference or "").strip().rstrip(".").removeprefix(BEGIN)
    start, end = item.evidence[0]
    ongoing = end - start >= throughout * float(item.provenance["select"]["seconds"])
    item = item.replace(evidence=())  # which would tell a sampling where to look
    made = []
    if "TSA" in tasks:
        truth = TASKS["TSA"].options[-1] if ongoing else f"{start:g}"
        made.append(item.replace(question=_question("TSA", item, action), reference=truth))
    if "AST" in tasks and not ongoing:
        known = item.provenance["select"].get(ACTIONS, ())
        made.append(
            item.replace(
                id=item.id.replace("TSA", "AST", 1),
                question=_question("AST", item, f"{start:g}"),
                reference=BEGIN + action,
                tags={**item.tags, TASK: "AST", **human_tags("AST")},
                context={**item.context, ACTIONS: list(known)},
            )
        )
    if not made:
        raise Rejected("ongoing action", "An ongoing action has no start to ask about.")
    return made


def _question(task: str, item: Item, description: str) -> str:
    return TASKS[task].question.format(subject=item.tags["subject"], description=description)
