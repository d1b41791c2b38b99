"""An audit of all items for systemic issues: what no swap of single items would cure.

It reports and flags, and rejects nothing. Code decides where it can; the rest is asked of a model
where one is named for the role.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any

from reelbench.base.progress import counted
from reelbench.base.text import plain, words
from reelbench.data.items import Item
from reelbench.data.question_rules import lists_options
from reelbench.make.parts.filters import context_of
from reelbench.make.parts.notes import with_note
from reelbench.make.parts.pilot_review import Material, item_slots
from reelbench.make.parts.shape import TEXT, closed, listed
from reelbench.make.parts.shares import share_of, stage_table
from reelbench.make.pipeline.context import StageContext, together
from reelbench.make.pipeline.funnel import FLAGGED, category_of
from reelbench.make.pipeline.stage import BatchStage, Rejected, Undecided
from reelbench.score.rounding import percent

ALIKE = "low option discriminability"
WORDY = "academic or verbose language"
VAGUE = "imprecise distractors"
EMBEDDED = "embedded option list"
# MuseBench's other three (C.8), which take someone who understands the question.
ASKED: Mapping[str, str] = {
    "stem not aimed at intent": (
        "the question asks what is there or what happens, not why it was made that way and to "
        "what effect"
    ),
    "text and vision misaligned": (
        "the question or its key describes something else than the clips show or let hear"
    ),
    "visual evidence not required": (
        "the key can be told from the words of question and options, or from general knowledge"
    ),
}
_COLUMNS = ("issue", "category", "decided by", "items", "of", "share", "low", "high")


def audit(
    issues: Mapping[str, str] = ASKED,
    *,
    alike: float = 0.8,
    sentence_words: int = 35,
    long_words: float = 0.3,
    strategies: int = 2,
    distracted: str = "distract",
    material: Material = context_of,
    prompts: Sequence[str] = (),
    name: str = "audit",
    role: str = "reviewer",
    **more: Any,
) -> BatchStage:
    """Return the stage that counts systemic issues over all items, and flags the items.

    By code: two options are ``alike`` by that share of their characters; a sentence has more than
    ``sentence_words`` words, or more than the share ``long_words`` of all words have four syllables
    or more; the distractors that the stage ``distracted`` noted follow fewer than ``strategies``
    strategies; the question lists options. ``issues``, with what each means, are asked of a model,
    which also reads what ``material`` returns for an item, with the ``prompts`` that it uses.
    """

    async def work(
        items: Sequence[Item], ctx: StageContext, *, issues: Mapping[str, str], **limits: Any
    ) -> list[Item]:
        coded = [code_issues(item, **limits) for item in items]
        has_model = bool(ctx.models.get(role)) and bool(issues)
        asked = (
            await together([_asked(item, ctx, role, issues, material) for item in items])
            if has_model
            else [dict.fromkeys(issues) for _ in items]
        )
        found = [{**one, **other} for one, other in zip(coded, asked, strict=True)]
        names = [ALIKE, WORDY, VAGUE, EMBEDDED, *(issues if has_model else ())]
        model = ctx.models[role][0].card.name if has_model else ""
        ctx.tables.append(_table(items, found, names, model))
        if issues and not has_model:
            ctx.notes.append(
                f"{ctx.stage}: {', '.join(issues)} are not checked: name a model with "
                f"--model {role}=NAME"
            )
        elif unread := [i.id for i, one in zip(items, asked, strict=True) if None in one.values()]:
            ctx.notes.append(
                f"{ctx.stage}: {model} gave no audit of {counted(len(unread), 'item')}, which are "
                f"not in its shares: {', '.join(unread[:5])}{' ...' if len(unread) > 5 else ''}"
            )
        return [_flagged(item, ctx.stage, each) for item, each in zip(items, found, strict=True)]

    return BatchStage(
        name=name,
        input=Item,
        output=Item,
        work=work,
        may_ask=(role,),
        prompts=("audit", *prompts),
        parameters={
            "issues": dict(issues),
            "alike": alike,
            "sentence_words": sentence_words,
            "long_words": long_words,
            "strategies": strategies,
            "distracted": distracted,
        },
        **more,
    )


def code_issues(
    item: Item,
    *,
    alike: float,
    sentence_words: int,
    long_words: float,
    strategies: int,
    distracted: str,
) -> dict[str, str | None]:
    """Return what code finds, by issue: what is wrong, empty if nothing, None if not known."""
    return {
        ALIKE: _alike(item, alike),
        WORDY: wordy(item, sentence_words, long_words),
        VAGUE: _vague(item, strategies, distracted),
        EMBEDDED: "the question lists options" if lists_options(item.question) else "",
    }


def _alike(item: Item, least: float) -> str:
    for one, other in combinations(item.options, 2):
        ratio = SequenceMatcher(None, plain(one), plain(other), autojunk=False).ratio()
        if ratio >= least:
            return f"{one!r} and {other!r} are alike ({ratio:.2f})"
    return ""


def wordy(item: Item, sentence_words: int, long_words: float) -> str:
    """Return which text is hard to read by the length of its sentences and words; else empty."""
    for text in (item.question, *item.options):
        longest = max((len(words(part)) for part in re.split(r"[.!?;]+\s", text)), default=0)
        if longest > sentence_words:
            return f"a sentence has {longest} words: {text[:80]!r}"
    every = [word for text in (item.question, *item.options) for word in words(text)]
    share = sum(_syllables(word) >= 4 for word in every) / len(every) if every else 0.0
    return (
        f"{percent(share, 0)} of the words have four syllables or more"
        if share > long_words
        else ""
    )


def _syllables(word: str) -> int:
    """Return about how many syllables an English word has: its groups of vowels, a last e apart."""
    return len(re.findall(r"[aeiouy]+", re.sub(r"(?<=[^aeiouyl])e$|es$|ed$", "", word.casefold())))


def _vague(item: Item, least: int, distracted: str) -> str | None:
    note = item.provenance.get(distracted)
    made = note.get("distractors", ()) if isinstance(note, Mapping) else ()
    used = {each.get("strategy") for each in made} - {None}
    if not used:
        return None
    wanted = min(least, len(made))
    return f"the distractors follow {', '.join(sorted(used))} alone" if len(used) < wanted else ""


async def _asked(
    item: Item, ctx: StageContext, role: str, issues: Mapping[str, str], material: Material
) -> dict[str, str | None]:
    """Return what a model finds, by issue; None for each where it refuses or cannot be read.

    So it is where the reply is cut off: a small model that finds no end costs its own item alone.
    """
    prompt = ctx.prompts.prompt(
        "audit",
        category=category_of(item),
        issues="\n".join(f"- {name}: {meaning}" for name, meaning in issues.items()),
        **item_slots(item, material(item, ctx)),
    )
    schema = closed({"issue": {"enum": list(issues)}, "comment": TEXT})
    try:
        reply = await ctx.json(role, prompt, closed({"issues": listed(schema, 0)}))
    except Rejected:
        return dict.fromkeys(issues)
    except Undecided as undecided:
        if undecided.status != "truncated":
            raise
        note = f"{ctx.stage}: {undecided.error}"
        ctx.notes += [] if note in ctx.notes else [note]
        return dict.fromkeys(issues)
    if reply.data is None:
        return dict.fromkeys(issues)
    found: dict[str, str | None] = dict.fromkeys(issues, "")
    return found | {each["issue"]: each["comment"].strip() for each in reply.data["issues"]}


def _flagged(item: Item, stage: str, found: Mapping[str, str | None]) -> Item:
    wrong = {name: detail for name, detail in found.items() if detail}
    note = {FLAGGED: "; ".join(wrong), "issues": wrong} if wrong else {"issues": {}}
    return with_note(item, stage, note)


def _table(
    items: Sequence[Item],
    found: Sequence[Mapping[str, str | None]],
    names: Sequence[str],
    model: str,
) -> Mapping[str, Any]:
    """Return the share of each issue with its interval, over all items and by category."""
    categories = sorted({category for item in items if (category := category_of(item))})
    rows = []
    for name in names:
        known = [pair for pair in zip(items, found, strict=True) if pair[1][name] is not None]
        for category in ("", *categories):
            cell = [pair for pair in known if not category or category_of(pair[0]) == category]
            share = share_of([item for item, _ in cell], [bool(each[name]) for _, each in cell])
            by = "code" if name in (ALIKE, WORDY, VAGUE, EMBEDDED) else model
            rows.append([name, category or "all", by, *share.cells])
    return stage_table("Audit: systemic issues (shares with 95 % intervals)", _COLUMNS, rows)
