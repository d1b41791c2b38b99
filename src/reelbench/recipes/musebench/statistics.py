"""The statistics of a make: Table 4, the vocabulary of B.4, and shares that the recipe aims at.

Tokens are estimated as in forecasts: four characters of English each. Of what was drafted and what
is left, the share of multi-select questions has an interval by essay, since essays are the sample.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from reelbench.base.text import words
from reelbench.base.yaml_files import load_yaml
from reelbench.data.items import Item
from reelbench.interop.musebench.taxonomy import CATEGORIES, CATEGORY, SUBDOMAIN, SUBDOMAINS
from reelbench.make.parts.drafts import Draft
from reelbench.make.parts.shares import share_by
from reelbench.models.tokens import text_tokens
from reelbench.recipes.musebench.vocabulary import vocabulary
from reelbench.score.rounding import percent

DRAFTED, DISTRACTED = "write", "distract"  # the stages whose rows and notes are counted
_FREQUENT = 20  # words of a category

Table = Mapping[str, Any]  # title, columns, and rows of as many cells


def musebench_statistics(rows: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the statistics that the paper has, of the items of the last stage."""
    last = list(rows.values())[-1] if rows else ()
    items = [row for row in last if isinstance(row, Item)]
    if not items:
        return {"tables": [_keywords()]}
    drafts = [row for row in rows.get(DRAFTED, ()) if isinstance(row, Draft)]
    return {
        "numbers": _numbers(items),
        "distributions": {
            "Evidence (s)": [_seconds(item) for item in items],
            "Options per question": [len(item.options) for item in items],
            "Tokens per question with its options (about)": [_tokens(item) for item in items],
            "Questions per essay": [*Counter(map(_essay, items)).values()],
        },
        "tables": [
            _coverage(items),
            _kinds(items, drafts),
            _options(items),
            *([strategies] if (strategies := _strategies(items))["rows"] else []),
            _vocabulary(items),
            _keywords(),
        ],
    }


def _essay(item: Item) -> str:
    return str(item.provenance.get("essay", item.media[0].path))


def _seconds(item: Item) -> float:
    medium = item.media[0]
    return float((medium.end or 0.0) - (medium.start or 0.0))


def _tokens(item: Item) -> int:
    return text_tokens("\n".join([item.question, *item.options]))


def _numbers(items: Sequence[Item]) -> dict[str, float]:
    """Return Table 4, and the means of what it gives ranges for."""
    evidence = [_seconds(item) for item in items]
    options = [len(item.options) for item in items]
    essays = Counter(map(_essay, items))
    return {
        "questions": len(items),
        "categories": len({value for item in items for value in item.tag(CATEGORY)}),
        "sub-domains": len({value for item in items for value in item.tag(SUBDOMAIN)}),
        "source essays": len(essays),
        "fewest questions per essay": min(essays.values()),
        "most questions per essay": max(essays.values()),
        "fewest options": min(options),
        "most options": max(options),
        "mean options": _mean(options),
        "mean evidence (s)": _mean(evidence),
        "median evidence (s)": round(statistics.median(evidence), 2),
        "mean tokens of a question with its options (about)": _mean([_tokens(i) for i in items]),
        "mean words of a question": _mean([len(words(item.question)) for item in items]),
        "mean words of an option": _mean([len(words(o)) for item in items for o in item.options]),
    }


def _mean(values: Sequence[float]) -> float:
    return round(statistics.fmean(values), 2)


def _coverage(items: Sequence[Item]) -> Table:
    """Return the questions of each sub-domain, by kind, and the essays that they are from."""
    found = []
    for category, parts in SUBDOMAINS.items():
        for part in parts:
            some = [i for i in items if category in i.tag(CATEGORY) and part in i.tag(SUBDOMAIN)]
            kinds = Counter(item.kind for item in some)
            essays = len({_essay(item) for item in some})
            found.append([category, part, essays, kinds["single"], kinds["multi"], len(some)])
    return {
        "title": "Questions by category and sub-domain",
        "columns": ["Category", "Sub-domain", "Essays", "Single", "Multi", "Questions"],
        "rows": found,
    }


def _kinds(items: Sequence[Item], drafts: Sequence[Draft]) -> Table:
    """Return the share of multi-select questions as drafted and in the end, by category."""
    drafted = [(d.category, d.task.id, _kind_of(d) == "multi") for d in drafts]
    final = [(_first(item, CATEGORY), _essay(item), item.kind == "multi") for item in items]
    found = []
    for name in (*CATEGORIES, ""):
        cells: list[Any] = [name or "All"]
        for some in (drafted, final):
            cells += _share([each[1:] for each in some if name in ("", each[0])])
        found.append(cells)
    return {
        "title": "Share of multi-select questions, with 95% intervals",
        "columns": ["Category", "Drafted", "Multi", "Interval", "Final", "Multi", "Interval"],
        "rows": found,
    }


def _kind_of(draft: Draft) -> str:
    form = draft.task.form_of(draft.reply)
    return form.kind if form else ""


def _first(item: Item, tag: str) -> str:
    return next(iter(item.tag(tag)), "")


def _share(kinds: Sequence[tuple[str, bool]]) -> list[Any]:
    """Return how many there are, the share that is multi-select, and its interval by essay."""
    found = share_by([essay for essay, _ in kinds], [multi for _, multi in kinds])
    low, high = found.interval
    if found.rate is None or low is None or high is None:
        return [0, "-", "-"]
    return [found.of, percent(found.rate), f"{percent(low)} to {percent(high)}"]


def _options(items: Sequence[Item]) -> Table:
    """Return how many questions have how many options and right ones."""
    counts = Counter((item.kind, len(item.options), len(item.answer)) for item in items)
    return {
        "title": "Options and right ones per question",
        "columns": ["Kind", "Options", "Right", "Questions"],
        "rows": [[*key, count] for key, count in sorted(counts.items())],
    }


def _strategies(items: Sequence[Item]) -> Table:
    """Return how many distractors follow each strategy, and in how many questions."""
    uses: Counter[str] = Counter()
    questions: Counter[str] = Counter()
    for item in items:
        note = item.provenance.get(DISTRACTED, {})
        made = note.get("distractors", ()) if isinstance(note, Mapping) else ()
        used = [str(each["strategy"]) for each in made if each.get("strategy")]
        uses.update(used)
        questions.update(set(used))
    total = uses.total()
    return {
        "title": "Strategies of distractors (C.6)",
        "columns": ["Strategy", "Distractors", "Share", "Questions"],
        "rows": [[n, c, percent(c / total), questions[n]] for n, c in uses.most_common()],
    }


def _vocabulary(items: Sequence[Item]) -> Table:
    """Return the most frequent words of questions, options and intents, by category (Figure 7)."""
    columns = {name: _frequent(i for i in items if name in i.tag(CATEGORY)) for name in CATEGORIES}
    columns = {"All": _frequent(items), **{name: some for name, some in columns.items() if some}}
    longest = max(map(len, columns.values()))
    return {
        "title": "Most frequent words of questions, options and intents (B.4, Figure 7)",
        "columns": ["Rank", *columns],
        "rows": [
            [place + 1, *(some[place] if place < len(some) else "" for some in columns.values())]
            for place in range(longest)
        ],
    }


def _frequent(items: Iterable[Item]) -> list[str]:
    counts: Counter[str] = Counter()
    for item in items:
        texts = [item.question, *item.options, str(item.context.get("core_intent", ""))]
        counts.update(word for text in texts for word in words(text) if _counts(word))
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [f"{word} ({count})" for word, count in ranked[:_FREQUENT]]


def _counts(word: str) -> bool:
    return len(word) > 1 and not word.isdigit() and word not in _common()


@cache
def _common() -> frozenset[str]:
    path = files(__package__) / "common-words.yaml"
    content: Mapping[str, str] = load_yaml(path.read_text(encoding="utf-8"))[0]
    return frozenset(word for text in content.values() for word in text.split())


def _keywords() -> Table:
    """Return the keywords for searching by block (Table 5); their sum is that of the blocks."""
    found: list[list[Any]] = [
        [category, block, len(keywords), ", ".join(keywords[:3])]
        for category in CATEGORIES
        for block, keywords in vocabulary(category).blocks.items()
    ]
    total = sum(row[2] for row in found)
    return {
        "title": "Keywords for searching without a model, by block (Table 5)",
        "columns": ["Category", "Block", "Keywords", "Such as"],
        "rows": [*found, ["All", "", total, ""]],
    }
