"""The statistics of a make: Tables 2, 5 and 6 and Figure 3, with what is lacking."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from reelbench.base.text import words
from reelbench.data.items import LETTERS, Item
from reelbench.interop.mmou.taxonomy import DOMAINS, SKILLS

Table = Mapping[str, Any]  # title, columns, and rows of as many cells


def mmou_statistics(rows: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the statistics that the paper has, of the items of the last stage."""
    items: Sequence[Item] = list(rows.values())[-1] if rows else ()
    closed = [item for item in items if item.kind == "single"]
    asked = closed or list(items)
    if not asked:
        return {}
    return {
        "numbers": _numbers(asked),
        "distributions": {
            "Duration of videos (s)": list(_seconds(asked).values()),
            "Where the evidence lies (share of the video)": _positions(asked),
            "Skills per question": [len(item.tag("skills")) for item in asked],
        },
        "tables": [_coverage(asked), *([_key_positions(closed)] if closed else []), _pairs(asked)],
    }


def _seconds(items: Sequence[Item]) -> dict[str, float]:
    return {item.media[0].path: float(item.provenance["video"]["seconds"]) for item in items}


def _positions(items: Sequence[Item]) -> list[float]:
    """Return the mean of first and last time, over the duration, of each item with evidence."""
    return [
        round(sum(item.evidence[0]) / 2 / item.provenance["video"]["seconds"], 4)
        for item in items
        if item.evidence and item.provenance["video"]["seconds"]
    ]


def _numbers(items: Sequence[Item]) -> dict[str, float]:
    """Return Table 2."""
    lengths = list(_seconds(items).values())
    moments = [sum(item.evidence[0]) / 2 for item in items if item.evidence]
    answers = [item.reference or " ".join(item.correct) for item in items]
    return {
        "videos": len(lengths),
        "domains": len({value for item in items for value in item.tag("domain")}),
        "sub-categories": len({value for item in items for value in item.tag("subcategory")}),
        "mean duration (s)": round(statistics.fmean(lengths), 1),
        "shortest (s)": min(lengths),
        "longest (s)": max(lengths),
        "questions": len(items),
        "skills": len({value for item in items for value in item.tag("skills")}),
        "mean skills per question": _mean([len(item.tag("skills")) for item in items]),
        "mean words of a question": _mean([len(words(item.question)) for item in items]),
        "mean words of an answer": _mean([len(words(text)) for text in answers]),
        "mean answer position (s)": _mean(moments) if moments else 0.0,
    }


def _mean(values: Sequence[float]) -> float:
    return round(statistics.fmean(values), 2)


def _coverage(items: Sequence[Item]) -> Table:
    """Return Table 5 with videos, and what has none."""
    questions = Counter((*item.tag("domain"), *item.tag("subcategory")) for item in items)
    videos: dict[tuple[str, ...], set[str]] = {}
    for item in items:
        part = (*item.tag("domain"), *item.tag("subcategory"))
        videos.setdefault(part, set()).add(item.media[0].path)
    parts = [(domain, part) for domain, parts in DOMAINS.items() for part in parts]
    return {
        "title": "Questions by domain and sub-category (Table 5)",
        "columns": ["Domain", "Sub-category", "Videos", "Questions", "Shortfall"],
        "rows": [
            [*part, len(videos.get(part, ())), questions[part], "" if questions[part] else "none"]
            for part in parts
        ],
    }


def _key_positions(items: Sequence[Item]) -> Table:
    counts = Counter(letter for item in items for letter in item.answer)
    letters = LETTERS[: max(len(item.options) for item in items)]
    return {
        "title": "Right options by position (Table 6)",
        "columns": ["Option", "Questions", "Share (%)"],
        "rows": [
            [each, counts[each], round(100 * counts[each] / len(items), 2)] for each in letters
        ],
    }


def _pairs(items: Sequence[Item]) -> Table:
    """Return how many questions need two skills at once; on the diagonal, each skill alone."""
    together = Counter(
        pair for item in items for pair in product(item.tag("skills"), item.tag("skills"))
    )
    return {
        "title": "Skills that questions need together (Figure 3)",
        "columns": ["Skill", *SKILLS],
        "rows": [[one, *(together[one, other] for other in SKILLS)] for one in SKILLS],
    }
