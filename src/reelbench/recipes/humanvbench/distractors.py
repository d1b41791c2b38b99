"""Wrong options of closed tasks that are sentences (L.2): of actions (AST) and of speech (SCM)."""

from collections.abc import Sequence
from typing import Any

from reelbench.base.text import plain
from reelbench.data.items import Item
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.shape import (
    TEXT,
    closed,
    data_of,
    drawn_lengths,
    listed,
    same,
    with_options,
)
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.funnel import category_of
from reelbench.make.pipeline.stage import Rejected, RowStage
from reelbench.recipes.humanvbench.tasks import TASKS

ACTIONS = "actions"  # in the context of an AST item: what the person does in the video
WORDED = ("AST", "SCM")
_COUNT = 3
BEGIN = "begin to "


def distract_closed() -> RowStage:
    """Return the stage that writes three wrong options for an action, or for a sentence."""
    return RowStage(
        name="distract",
        input=Item,
        output=Item,
        work=_distract,
        roles=("distractor",),
        prompts=("wrong-actions", "wrong-sentences"),
        parameters={"length": 1.5},
        version=3,
        optional=True,
    )


async def _distract(item: Item, ctx: StageContext, *, length: float) -> list[Item]:
    """Give an open item its key and wrong options; ``length`` is how much longer one may be."""
    if item.kind != "open":
        return [item]
    key = str(item.reference)
    is_action = category_of(item) == "AST"
    if is_action:
        key = key if key.startswith(BEGIN) else BEGIN + key
    lengths = drawn_lengths(ctx.seed, item.id, key, _COUNT, length)
    if is_action:
        known = [str(each) for each in item.context.get(ACTIONS, ())]
        actions = "\n".join(f"- {each}" for each in known) or "(none are known)"
        slots = {"action": key, "actions": actions, "lengths": _asked(lengths)}
        prompt = ctx.prompts.prompt("wrong-actions", **slots)
    else:
        prompt = ctx.prompts.prompt("wrong-sentences", sentence=key, lengths=_asked(lengths))

    def fault(reply: Any) -> str:
        wrong = [written_like(key, text) for text in reply["options"]]
        return options_fault(key, wrong, BEGIN if is_action else "", length, lengths)

    schema = closed({"options": listed(TEXT, _COUNT, _COUNT)})
    reply = data_of(await ctx.json("distractor", prompt, schema, check=fault))
    wrong = [written_like(key, text) for text in reply["options"]]
    made = with_options(item.replace(reference=None), ctx.seed, [key], wrong)
    return [with_note(made, ctx.stage, {"model": ctx.model("distractor").card.name})]


def _asked(lengths: Sequence[tuple[int, int]]) -> str:
    if not lengths:
        return "They are about as long as the right one."
    ranges = ", ".join(f"{low} to {high}" for low, high in lengths)
    return f"Their lengths in characters, from the shortest to the longest, are {ranges}."


def options_fault(
    key: str,
    wrong: Sequence[str],
    begins: str,
    length: float,
    lengths: Sequence[tuple[int, int]] = (),
) -> str:
    """Return what is wrong with wrong options, or an empty string."""
    if same([key, *wrong]):
        return "two options say the same, or one is the right answer"
    if begins and not all(plain(text).startswith(begins) for text in wrong):
        return f"every option must begin with {begins.strip()!r}"
    if not begins and not lengths:
        odd = [text for text in wrong if not 1 / length <= len(text) / len(key) <= length]
        if odd:
            return f"this is much longer or shorter than the sentence: {odd[0]!r}"
    found = sorted(map(len, wrong))
    if lengths and not all(low <= n <= high for n, (low, high) in zip(found, lengths, strict=True)):
        return f"they have {', '.join(map(str, found))} characters. {_asked(lengths)}"
    return ""


def written_like(key: str, text: str) -> str:
    """Return a wrong option with the first letter and the full stop of the key.

    A model that writes "Begin to" beside a person's "begin to" would tell which one is right.
    """
    text = text.strip()
    first = text[:1].upper() if key[:1].isupper() else text[:1].lower()
    whole = (first + text[1:]).rstrip(".")
    return f"{whole}." if key.endswith(".") and whole[-1:] not in "?!" else whole


async def closed_question(item: Item, _ctx: StageContext) -> list[Item]:
    """Let through items that can be answered; others wait for models that were not named."""
    if item.kind != "open":
        return [item]
    task = TASKS[category_of(item)]
    flags = " ".join(f"--model {role}=NAME" for role in task.models)
    raise Rejected("needs models", f"{task.title} needs options: add {flags}.")
