"""Filters that ask no model: repeated questions, lint findings, keys that stand out by length."""

from collections.abc import Sequence
from typing import Any

from reelbench.base.progress import counted
from reelbench.base.text import words
from reelbench.data.items import LETTERS, Item
from reelbench.lint.duplicates import duplicate_findings
from reelbench.lint.findings import Severity
from reelbench.lint.media import media_findings
from reelbench.lint.options import answer_findings, option_findings
from reelbench.make.parts.embed import load_embedder
from reelbench.make.parts.near_duplicates import near_duplicates
from reelbench.make.parts.notes import Kept, batch_filter
from reelbench.make.parts.shortcuts import Bet, beyond_chance
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.stage import BatchStage, Rejected
from reelbench.media.digests import media_digest


def filter_near_duplicates(
    alike: float = 0.92, within: str = "media", *, drop: bool = True, name: str = "near-duplicates"
) -> BatchStage:
    """Return the stage that keeps one of the questions that ask the same in other words.

    ``alike`` is the least cosine of duplicates; ``within`` compares questions about the same
    ``"media"``, or ``"all"``. With ``drop=False``, as in all filters, items that fail are kept and
    flagged in their provenance.
    """
    return batch_filter(
        name,
        _near_duplicates,
        {"alike": alike, "within": within},
        drop,
        validate=lambda values: (
            ""
            if values["within"] in ("media", "all")
            else f"within is {values['within']!r}: expected media or all"
        ),
    )


def _near_duplicates(
    items: Sequence[Item], _ctx: StageContext, *, alike: float, within: Any
) -> Kept:
    found = near_duplicates(items, load_embedder(), alike, within) if items else []
    duplicates = {each.item: each for each in found}
    return [
        Rejected("asks the same as another", f"repeats {other.repeats} (cosine {other.cosine:.2f})")
        if (other := duplicates.get(item.id))
        else item
        for item in items
    ]


def filter_lint(
    tier: str = "HIGH", media: bool = False, *, drop: bool = True, name: str = "lint"
) -> BatchStage:
    """Return the stage that drops items with a lint finding of this tier or a higher one.

    With ``media``, their files are opened too, and items with missing or broken media dropped.
    """
    tiers = list(Severity.__members__)
    return batch_filter(
        name,
        _lint,
        {"tier": tier, "media": media},
        drop,
        reads=_media_digests,
        validate=lambda values: (
            ""
            if values["tier"] in Severity.__members__
            else f"tier is {values['tier']!r}: expected one of {', '.join(tiers)}"
        ),
    )


def _media_digests(items: Sequence[Item], ctx: StageContext) -> dict[str, str | None]:
    """Return the hashes of all media, so that a file that was missing is checked again."""
    digests: dict[str, str | None] = {}
    for path in sorted({media.path for item in items for media in item.media}):
        file = ctx.media / path
        digests[path] = media_digest(file) if file.is_file() else None
    return digests


def _lint(items: Sequence[Item], ctx: StageContext, *, tier: str, media: bool) -> Kept:
    numbered = list(enumerate(items, 1))
    findings = [
        finding
        for number, item in numbered
        for finding in (*option_findings(item, number), *answer_findings(item, number))
    ]
    findings += duplicate_findings(numbered)
    findings += media_findings(ctx.media, numbered) if media else ()
    found: dict[str, list[Any]] = {}
    for finding in findings:
        if finding.severity >= Severity[tier]:
            found.setdefault(finding.item, []).append(finding)
    return [
        Rejected(f"lint {found[item.id][0].tag}", "; ".join(f.message for f in found[item.id]))
        if item.id in found
        else item
        for item in items
    ]


def filter_key_length(
    factor: float = 1.5, *, drop: bool = True, name: str = "key-length"
) -> BatchStage:
    """Return the stage that drops items whose key is much longer or shorter than its other options.

    An option stands out if it has more than ``factor`` times the words of the next one, or fewer
    by that factor. Only as many items are dropped as have a key that stands out beyond chance:
    otherwise the option that stands out would always be wrong.
    """
    return batch_filter(name, _key_length, {"factor": factor}, drop, version=2)


def _key_length(items: Sequence[Item], _ctx: StageContext, *, factor: float) -> Kept:
    faults: dict[str, str] = {}
    for longer in (True, False):
        bets, ratios = [], {}
        for item in items:
            found = _outstanding(item, factor, longer)
            if found is not None:
                place, ratio = found
                bets.append(Bet(item, LETTERS[place] in item.answer, 1 / len(item.options)))
                ratios[item.id] = ratio
        order = sorted(bets, key=lambda bet: (-ratios[bet.item.id], bet.item.id))
        faults |= {item.id: _lengths(item) for item in beyond_chance(order)}
    return [
        Rejected("the key's length gives it away", faults[item.id]) if item.id in faults else item
        for item in items
    ]


def _outstanding(item: Item, factor: float, longer: bool) -> tuple[int, float] | None:
    """Return the option that stands out by its length, and by which factor; None if none does."""
    if item.kind != "single" or len(set(item.options)) < 3:
        return None
    lengths = [len(words(option)) for option in item.options]
    first, second = sorted(lengths, reverse=longer)[:2]
    long, short = max(first, second), min(first, second)
    if long - short <= 2 or long <= factor * short:
        return None
    return lengths.index(first), long / max(1, short)


def _lengths(item: Item) -> str:
    (key,) = item.correct
    others = [len(words(option)) for option in item.options if option != key]
    return (
        f"the key has {counted(len(words(key)), 'word')}, the others {min(others)} to {max(others)}"
    )
