"""The statistics of a make: Table 1, the intervals, the pairs, the questions."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.data.items import Item
from reelbench.interop.qbench_video.taxonomy import CONCERNS, CONTENT, PAIR, QUESTION_TYPES, SINGLE
from reelbench.recipes.qbench_video.pairing import COARSE, FINE
from reelbench.recipes.qbench_video.reviewing import agreement
from reelbench.recipes.qbench_video.rows import ScoredVideo


def quality_statistics(rows: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the statistics that the paper has, and the shortfalls of the sampling."""
    videos: Sequence[ScoredVideo] = rows.get("sample", ())
    datasets: dict[str, list[ScoredVideo]] = defaultdict(list)
    for video in sorted(videos, key=lambda video: video.id):
        datasets[video.dataset].append(video)
    paired: Sequence[ScoredVideo] = rows.get("pair", ())
    items = _last_items(rows)
    found: dict[str, Any] = {
        "datasets": {name: _dataset(members) for name, members in sorted(datasets.items())},
        "pairs": _pairs(paired),
        "questions": _questions(items),
        "agreement": agreement(rows.get("review", ())),
    }
    found = {name: value for name, value in found.items() if value}
    if not found:
        return {}
    distributions = {
        **{f"Scores of {name}": [v.score for v in each] for name, each in sorted(datasets.items())},
        **{
            f"Differences in pairs of {name}": values
            for name, values in _differences(paired).items()
        },
    }
    return {"numbers": _numbers(found), "distributions": distributions, **found}


def _last_items(rows: Mapping[str, Sequence[Any]]) -> Sequence[Item]:
    """Return the items of the last stage that made some."""
    made = [each for each in rows.values() if any(isinstance(row, Item) for row in each)]
    return made[-1] if made else ()


def _dataset(videos: Sequence[ScoredVideo]) -> dict[str, Any]:
    intervals = videos[0].intervals
    there, drawn = (sum(getattr(i, name) for i in intervals) for name in ("there", "drawn"))
    return {
        "type": videos[0].content,
        "asked": videos[0].sample,
        "there": there,
        "drawn": drawn,
        "intervals": [
            {
                "from": each.low,
                "to": each.high,
                "there": each.there,
                "wanted": each.wanted,
                "drawn": each.drawn,
                "shortfall": max(0, each.wanted - each.drawn),
            }
            for each in intervals
        ],
    }


def _differences(videos: Sequence[ScoredVideo]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for video in sorted(videos, key=lambda video: video.id):
        for partner in video.partners:
            found[video.dataset].append(partner.difference)
    return dict(sorted(found.items()))


def _pairs(videos: Sequence[ScoredVideo]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in _differences(videos):
        partners = [p for video in videos if video.dataset == name for p in video.partners]
        grains = Counter(partner.grain for partner in partners)
        found[name] = {
            "asked": next(video.pairs for video in videos if video.dataset == name),
            "drawn": len(partners),
            "median": partners[0].median,
            COARSE: grains[COARSE],
            FINE: grains[FINE],
        }
    return found


def _questions(items: Sequence[Item]) -> dict[str, dict[str, int]]:
    """How many there are of each type, concern, context and content; of concerns, several each."""
    known = {
        "question_type": QUESTION_TYPES,
        "concern": CONCERNS,
        "context": (*SINGLE, *PAIR),
        "content": CONTENT,
    }
    counts = {tag: Counter(value for item in items for value in item.tag(tag)) for tag in known}
    return {
        tag: {value: counts[tag][value] for value in values if counts[tag][value]}
        for tag, values in known.items()
        if counts[tag]
    }


def _numbers(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers for the page, shortfalls among them."""
    numbers: dict[str, Any] = {}
    for name, dataset in found.get("datasets", {}).items():
        numbers[f"videos of {name}, of {dataset['there']:,}"] = dataset["drawn"]
        drawn = " / ".join(str(each["drawn"]) for each in dataset["intervals"])
        there = " / ".join(str(each["there"]) for each in dataset["intervals"])
        numbers[f"drawn of each interval of {name}, where there are {there}"] = drawn
        if lacking := sum(each["shortfall"] for each in dataset["intervals"]):
            numbers[f"videos that the thin intervals of {name} lack"] = lacking
    for name, pairs in found.get("pairs", {}).items():
        numbers[f"pairs of {name}, coarse above a difference of {pairs['median']:.4g}"] = pairs[
            "drawn"
        ]
    for values in found.get("questions", {}).values():
        numbers |= values
    for agree, count in found.get("agreement", {}).items():
        numbers[f"questions on which {agree} agree"] = count
    return numbers
