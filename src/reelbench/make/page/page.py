"""The pages of a make: the funnel as a picture, and all that it says as one page.

The funnel is drawn as SVG, not by Plotly: ``funnel.svg`` is also a file of its own, for papers and
viewers that run no script, and the page stays some hundred kilobytes small.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from reelbench.base.files import write_atomically
from reelbench.make.page.examples import examples
from reelbench.make.page.facts import (
    MOST_CATEGORIES,
    MOST_WORDS,
    Answerability,
    answerability,
)
from reelbench.make.page.svg import category_colours, picture_of
from reelbench.make.pipeline.funnel import RowOutcome, row_outcomes
from reelbench.make.pipeline.run import StageResult
from reelbench.pages import (
    Distribution,
    distribution,
    number,
    page,
    plural,
    render,
    shortened,
    units,
)
from reelbench.pages.text import table_cell

SVG_FILE, PAGE_FILE = "funnel.svg", "made.html"
_EXAMPLES = 5  # of each reason
_MOST_REASONS = 40  # of each stage
_MOST_FAILURES = 20


def write_pages(
    out: Path,
    recipe: str,
    record: Mapping[str, Any],
    funnel: Mapping[str, Any],
    statistics: Mapping[str, Any],
    passed: Sequence[StageResult],
    tables: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write ``funnel.svg`` and ``made.html``; the same make gives the same bytes."""
    svg = render(__package__, "funnel.svg.j2", it=picture_of(recipe, funnel))
    write_atomically(out / SVG_FILE, svg)
    text = page(
        __package__,
        "made.html.j2",
        title=recipe,
        styles=["made.css"],
        scripts=["elements.js", "tables.js", "made.js"],
        media=True,
        facts=_facts(record, funnel),
        examples=examples(out, passed),
        svg=Markup(svg),  # noqa: S704 - escaped when it was made
        record=record,
        stages=funnel["stages"],
        most_categories=MOST_CATEGORIES,
        balance=balance(funnel),
        colours=category_colours(funnel),
        measured=answerability(passed),
        reasons=[found for each in passed if (found := _reasons(each))],
        undecided=_undecided(funnel),
        numbers=statistics.get("numbers") or {},
        distributions=_distributions(statistics),
        tables=(*tables, *(statistics.get("tables") or ())),
        provenance=_provenance(record),
        number=number,
        table_cell=table_cell,
        order_of=_order_of,
        plural=plural,
        units=units,
    )
    write_atomically(out / PAGE_FILE, text)


def _facts(record: Mapping[str, Any], funnel: Mapping[str, Any]) -> list[str]:
    """Return the key facts for the head of the page."""
    stages, sources = funnel["stages"], funnel["sources"]
    unit = stages[0]["input"] if stages else "source"
    found = units(sources["in"], unit)
    entries = [f"{sources['out']:,} of {found}" if sources["rejected"] else found]
    if stages:
        entries.append(f"{units(stages[-1]['out'], stages[-1]['output'])} left")
    lost = sum(stage["undecided"] for stage in stages)
    entries += [f"{lost:,} undecided"] if lost else []
    entries.append(f"seed {record.get('seed', 0)}")
    rules = record.get("rules")
    entries += [f"rules {rules['name']} {rules['version']}"] if rules else []
    entries += [f"at most {record['limit']:,} sources"] if "limit" in record else []
    entries += [f"ended with {record['until']}"] if "until" in record else []
    return entries


@dataclass(frozen=True, slots=True)
class Balance:
    """How many items there are of each category, before the filters and after."""

    before: Mapping[str, int]
    after: Mapping[str, int]

    @property
    def sums(self) -> tuple[int, int]:
        """All together."""
        return sum(self.before.values()), sum(self.after.values())


def balance(funnel: Mapping[str, Any]) -> Balance | None:
    """Count categories before the first filter, and in what is left at the end."""
    stages = funnel["stages"]
    first = next((place for place, stage in enumerate(stages) if "rate" in stage), len(stages))
    entries = [stage["by_category"] for stage in stages[first:] if "by_category" in stage]
    if not entries:
        return None
    before, after = entries[0], entries[-1]
    names = [name for name in category_colours(funnel) if name in before or name in after]
    found = Balance(
        {name: before.get(name, {}).get("in", 0) for name in names},
        {name: after.get(name, {}).get("out", 0) for name in names},
    )
    return found if found.sums[0] else None


def _order_of(stage: Answerability) -> str:
    """Return which items of a filter come first, and why, as a sentence."""
    if stage.rejects_answerable:
        return "The most answerable come first."
    return "The least answerable come first: this stage rejects those."


@dataclass(frozen=True, slots=True)
class Example:
    """A row that was rejected."""

    id: str
    category: str
    detail: str
    words: str


@dataclass(frozen=True, slots=True)
class RejectReason:
    """Why rows were rejected: how many in all and by category, and the first few of them."""

    reason: str
    rows: int
    by_category: Mapping[str, int]
    examples: Sequence[Example]


def _reasons(passed: StageResult) -> tuple[str, list[RejectReason]] | None:
    """Why a stage rejected rows, the most usual reason first."""
    rejected: dict[str, list[RowOutcome]] = {}
    for outcome in row_outcomes(passed):
        if outcome.rejected:
            rejected.setdefault(outcome.rejected.reason, []).append(outcome)
    usual = sorted(rejected.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:_MOST_REASONS]
    entries = [
        RejectReason(
            why,
            len(rows),
            Counter(sorted(row.category for row in rows if row.category)),
            [_example(row) for row in rows[:_EXAMPLES]],
        )
        for why, rows in usual
    ]
    return (passed.stage.name, entries) if entries else None


def _example(outcome: RowOutcome) -> Example:
    assert outcome.rejected is not None
    words = shortened("\n".join(text.strip() for text in outcome.rejected.words), MOST_WORDS)
    detail = shortened(outcome.rejected.detail, MOST_WORDS)
    return Example(shortened(str(outcome.row.id), 120), outcome.category, detail, words)


def _undecided(funnel: Mapping[str, Any]) -> list[tuple[str, str, str, int]]:
    """What failed, where and how often, the most usual first."""
    found = Counter(
        (each["stage"], each["status"], shortened(each["error"], MOST_WORDS))
        for each in funnel.get("undecided", ())
    )
    usual = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_FAILURES]
    return [(*which, count) for which, count in usual]


def _distributions(statistics: Mapping[str, Any]) -> list[Distribution]:
    entries = statistics.get("distributions") or {}
    made = [distribution(name, values) for name, values in entries.items()]
    return [each for each in made if each is not None]


def _provenance(record: Mapping[str, Any]) -> dict[str, str]:
    """Return everything that decided the result, as text by name."""
    rules, named = record.get("rules"), record.get("source", "")
    entries = {
        "Recipe": record.get("recipe", ""),
        "Sources": ", ".join([named] if isinstance(named, str) else named),
        "Seed": str(record.get("seed", 0)),
        "Rules": f"{rules['name']} {rules['version']}, sha256 {rules['sha256']}" if rules else "",
        "Own prompts": record.get("prompts", ""),
        **{
            f"Models as {role}": "; ".join(f"{m['name']} {_value(m['parameters'])}" for m in models)
            for role, models in record.get("models", {}).items()
        },
        **{f"Stage {each['name']}": _stage_in_words(each) for each in record.get("stages", ())},
        "Versions": ", ".join(f"{k} {v}" for k, v in record.get("versions", {}).items()),
    }
    return {name: text for name, text in entries.items() if text}


def _stage_in_words(stage: Mapping[str, Any]) -> str:
    parameters = [f"{name} {_value(value)}" for name, value in stage["parameters"].items()]
    prompts = [f"prompt {name} {digest[:12]}" for name, digest in stage["prompts"].items()]
    return ", ".join([f"version {stage['version']}", *parameters, *prompts])


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
