"""Stages that balance: places of keys, yes against no."""

from collections.abc import Sequence

from msgspec import structs

from reelbench.items import Item, freeze
from reelbench.make.balance import deal_places, to_turn, turned
from reelbench.make.desk import Desk
from reelbench.make.lint.text import plain
from reelbench.make.shape import TEXT, closed
from reelbench.make.stage import All, Each, Rejected


def dealing_places() -> All:
    """Return the stage that puts right options equally often into every place."""
    return All(name="places", takes=Item, gives=Item, work=_dealt)


def _dealt(items: Sequence[Item], desk: Desk) -> Sequence[Item]:
    return deal_places(items, desk.seed)


def choosing_to_turn() -> All:
    """Return the stage that marks which yes/no questions are to be asked the other way round."""
    return All(name="yes or no", takes=Item, gives=Item, work=_marked)


_MARK = "to_turn"


def _marked(items: Sequence[Item], desk: Desk) -> list[Item]:
    chosen = to_turn([item for item in items if item.kind == "yesno"], desk.seed)
    return [
        structs.replace(item, provenance=freeze({**item.provenance, _MARK: True}))
        if item.id in chosen
        else item
        for item in items
    ]


def turning() -> Each:
    """Return the stage that has marked questions rewritten to their opposite, the key flipped."""
    return Each(
        name="turn",
        takes=Item,
        gives=Item,
        work=_turned,
        roles=("writer",),
        prompts=("opposite",),
    )


async def _turned(item: Item, desk: Desk) -> list[Item]:
    if not item.provenance.get(_MARK):
        return [item]
    prompt = desk.wording.prompt("opposite", question=item.question)

    def unchanged(reply: dict[str, str]) -> str:
        asks_the_same = plain(reply["question"]) == plain(item.question)
        return "the question has not been changed" if asks_the_same else ""

    reply = await desk.json("writer", prompt, closed({"question": TEXT}), check=unchanged)
    if reply.data is None:
        raise Rejected("no opposite question", reply.failure, [reply.words])
    return [turned(item, reply.data["question"].strip())]
