"""What captions are sorted by before questions are written (L.1): polarity, and change."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from reelbench.make.parts.balance import keep_ratio_where_possible
from reelbench.make.parts.shape import closed
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import Rejected
from reelbench.recipes.humanvbench.captions import CAPTION, YES_NO
from reelbench.recipes.humanvbench.rows import Candidate, with_texts

POLARITIES = ("positive", "neutral", "negative")
_POLARITY = closed({"polarity": {"type": "string", "enum": list(POLARITIES)}})
_CHANGE = closed({"emotion_change": YES_NO})


async def sort(row: Candidate, ctx: StageContext) -> list[Candidate]:
    """Give ER its polarity; let through those of ETA whose emotion changes."""
    if CAPTION not in row.texts:
        return [row]
    if row.task == "ER":
        polarity = await _sorted(row, ctx, "sort-polarity", _POLARITY, "polarity")
        return [with_texts(row, polarity=polarity)]
    if row.task == "ETA":
        changes = await _sorted(row, ctx, "sort-change", _CHANGE, "emotion_change")
        if changes not in (True, "True"):
            raise Rejected("emotion does not change", row.texts[CAPTION])
    return [row]


async def _sorted(
    row: Candidate, ctx: StageContext, prompt: str, schema: Mapping[str, object], field: str
) -> bool | str:
    words = ctx.prompts.prompt(prompt, caption=row.texts[CAPTION])
    reply = await ctx.json("writer", words, schema)
    if reply.data is None:
        raise Rejected("not sorted", reply.failure, [reply.words])
    found: bool | str = reply.data[field]
    return found


def balance(
    rows: Sequence[Candidate], ctx: StageContext, *, polarity: Mapping[str, float]
) -> list[Candidate | Rejected]:
    """Keep the polarities of ER in a ratio, as far as there are candidates for it."""
    sorted_rows = [row for row in rows if row.task == "ER" and row.texts.get("polarity")]
    if not sorted_rows:
        return list(rows)
    kept, left_out = keep_ratio_where_possible(
        sorted_rows, lambda row: str(row.texts["polarity"]), "polarity", polarity, ctx.seed
    )
    there = Counter(row.texts["polarity"] for row in sorted_rows)
    chosen = Counter(row.texts["polarity"] for row in kept)
    if any(
        chosen[each] * sum(polarity.values()) != len(kept) * polarity[each] for each in polarity
    ):
        ctx.notes.append(
            f"{ctx.stage}: the ratio {_colons(polarity.values())} of {_colons(polarity)} cannot be "
            f"kept; there are {_colons(there[each] for each in polarity)}, and "
            f"{_colons(chosen[each] for each in polarity)} are used: add videos of what is lacking"
        )
    dropped = {row.id for row in left_out}
    return [
        Rejected("more than the ratio takes", f"It is {row.texts['polarity']}.")
        if row.id in dropped
        else row
        for row in rows
    ]


def _colons(values: Iterable[object]) -> str:
    return ":".join(map(str, values))
