"""Findings about single items, and the eight tags without which MuseBench was released."""

from collections.abc import Iterator
from dataclasses import replace

from reelbench.base.files import json_line
from reelbench.data.item_rules import item_from_line
from reelbench.data.items import Item
from reelbench.lint.findings import TAGS, Finding
from reelbench.lint.options import answer_findings, option_findings

RELEASE_TAGS = tuple(TAGS)[:8]  # of Table 6


def release_tags(item: Item) -> list[str]:
    """Return which of the eight tags an item has, the most severe first."""
    found = {finding.tag for finding in item_findings(item)}
    return sorted(found & set(RELEASE_TAGS), key=lambda tag: (-TAGS[tag][0], tag))


def item_findings(item: Item, line: int = 0) -> Iterator[Finding]:
    """Yield all findings about one item, valid or not, that need neither media nor other items."""
    _, problems = item_from_line(json_line(item.to_record()).strip().encode())
    yield from (Finding.from_problem(replace(problem, line=line), item) for problem in problems)
    yield from option_findings(item, line)
    if all(problem.is_warning for problem in problems):
        yield from answer_findings(item, line)
