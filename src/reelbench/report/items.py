"""The item browser of a report: each item with its video and what every model replied."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.data.items import PAIR, Item
from reelbench.report.item_replies import EarlierRun, ReplyFacts
from reelbench.report.item_videos import item_pictures, item_videos
from reelbench.score.predictions import Asked, ItemOutcome
from reelbench.score.run_names import RunNames
from reelbench.score.score import ScoredRuns, outcomes_of

ITEM_SCRIPTS = (
    "items-text.js",
    "items-filter.js",
    "items-player.js",
    "items-detail.js",
    "items-list.js",
    "items-print.js",
    "items.js",
)
_MOST_VALUES = 2000  # of a tag that one can pick items by: one with more is an id, not a tag


@dataclass(frozen=True, slots=True)
class ItemPage:
    """The data of the item browser, and the files that are to be inside the page, as Base64."""

    data: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)


def item_page(
    scored: ScoredRuns, page: Path, embed: float | None = None, since: Path | None = None
) -> ItemPage:
    """Return what the item browser of the page at this path shows.

    ``embed`` is how many megabytes of video may be put into the page; without it, videos are played
    from the benchmark's folder. ``since`` is an earlier run of the same models, so that items can
    be picked whose outcome has changed.
    """
    benchmark, scores, outcomes = scored.benchmark, scored.scores, scored.outcomes
    ranked = [(row["model"], row["condition"]) for row in scores["results"]]
    asked = ranked or list(outcomes)  # where nothing is scored, nothing is ranked
    facts = ReplyFacts(scored)
    before = _since(scored, since) if since else _runs_before(scored)
    tags = _tags(benchmark.items)
    counterparts = _counterparts(benchmark.items)
    items = [
        _item(item, tags, counterparts, asked, outcomes, facts, before) for item in benchmark.items
    ]
    videos, files = item_videos(benchmark, page, embed)
    data = {
        "columns": _columns(asked),
        "tags": [{"name": name, "values": list(values)} for name, values in tags.items()],
        "items": items,
        "methods": facts.methods,
        "prompts": facts.prompts,
        "frames": item_pictures(benchmark),
        "videos": videos,
        "ties": scores["ties"],
        "since": since.resolve().name if since else "the run before" if before else "",
    }
    return ItemPage(data, files)


def _since(scored: ScoredRuns, since: Path) -> dict[Asked, EarlierRun]:
    """Return the outcomes of an earlier run, by the names that its models have on this page."""
    if not (since / "run.json").is_file():
        raise ReelbenchError(
            f"{since} is not a run folder: there is no run.json in it. Name an earlier run of the "
            "same models with --since."
        )
    found = outcomes_of(scored.benchmark, since)
    names = scored.names.values() or [RunNames({}, {})]
    before: dict[Asked, EarlierRun] = {
        each.of(asked): (since.resolve().name, found[asked])
        for each in names
        for asked in found
        if each.of(asked) in scored.outcomes
    }
    if not before:
        raise ReelbenchError(
            f"{since} asked none of these models under the same condition: name another run with "
            "--since."
        )
    return before


def _runs_before(scored: ScoredRuns) -> dict[Asked, EarlierRun]:
    """Return, of models that several runs on the page have, the outcomes in the run before."""
    latest: dict[Asked, EarlierRun] = {}
    before: dict[Asked, EarlierRun] = {}
    for out, names in scored.names.items():
        models = {new: old for old, new in names.models.items()}
        for model in (each["name"] for each in scored.runs[out]["models"]):
            for condition in (each["name"] for each in scored.runs[out]["conditions"]):
                asked, known = (model, condition), (models.get(model, model), condition)
                if asked not in scored.outcomes:
                    continue
                if known in latest:
                    before[asked] = latest[known]
                latest[known] = (out.name, scored.outcomes[asked])
    return before


def _columns(asked: Sequence[Asked]) -> list[dict[str, Any]]:
    """Return a name for each model, with the condition where there are several."""
    several = len({condition for _, condition in asked}) > 1
    return [
        {
            "name": f"{model}, {condition}" if several else model,
            "model": model,
            "condition": condition,
            "several": several,
        }
        for model, condition in asked
    ]


def _tags(items: Sequence[Item]) -> dict[str, dict[str, int]]:
    """Return the tags that tell items apart, each with its values by their number."""
    found: dict[str, dict[str, int]] = {}
    for item in items:
        for name in item.tags:
            values = found.setdefault(name, {})
            values.update(dict.fromkeys(item.tag(name), 0))
    kept = {
        name: {value: number for number, value in enumerate(sorted(values))}
        for name, values in found.items()
        if len(values) <= _MOST_VALUES
    }
    return dict(sorted(kept.items()))


def _counterparts(items: Sequence[Item]) -> dict[str, list[str]]:
    """Return the other items of the same ``pair``, by the item's id."""
    linked: dict[str, list[Item]] = {}
    for item in items:
        if isinstance(item.extra.get(PAIR), str):
            linked.setdefault(item.extra[PAIR], []).append(item)
    return {
        item.id: [other.id for other in together if other is not item]
        for together in linked.values()
        for item in together
    }


def _item(
    item: Item,
    tags: Mapping[str, Mapping[str, int]],
    counterparts: Mapping[str, Sequence[str]],
    asked: Sequence[Asked],
    outcomes: Mapping[Asked, Mapping[str, ItemOutcome]],
    facts: ReplyFacts,
    before: Mapping[Asked, EarlierRun],
) -> dict[str, Any]:
    calls, replies = facts.replies(item, asked, outcomes, before)
    maybe = {
        "options": item.options,
        "answer": item.answer,
        "reference": item.reference,
        "evidence": item.evidence,
        "pair": counterparts.get(item.id),
        "calls": calls,
    }
    return {
        "id": item.id,
        "kind": item.kind,
        "question": item.question,
        "tags": [[numbers[value] for value in item.tag(name)] for name, numbers in tags.items()],
        "media": [_medium(media.path, media.start, media.end) for media in item.media],
        "replies": replies,
        **{name: value for name, value in maybe.items() if value},
    }


def _medium(path: str, start: float | None, end: float | None) -> dict[str, Any]:
    spans = {"start": start, "end": end}
    return {"path": path, **{name: time for name, time in spans.items() if time is not None}}
