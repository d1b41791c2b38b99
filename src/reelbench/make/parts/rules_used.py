"""The rule set of a row: one that was kept for it, or else the recipe's."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from reelbench.data.items import Item
from reelbench.make.parts.rules import RuleSet, load_rules
from reelbench.make.pipeline.context import StageContext

_KEPT = "kept"  # in the record of a rule set on an item: the digest under which its text is kept


def keep_rules(rules: RuleSet, ctx: StageContext) -> str:
    """Keep a rule set in the store; return the digest for ``WritingTask.rules``."""
    return ctx.store.keep(rules.to_yaml())


def kept_rules(digest: str, ctx: StageContext) -> RuleSet:
    """Return the rule set that was kept under a digest."""
    return _read(ctx.kept(digest))


def rules_of(row: Any, ctx: StageContext) -> RuleSet | None:
    """Return the rules that hold for a row: those kept for it, or else those of the recipe.

    A row that is no item has the digest in ``rules``; an item, in what ``write`` noted on it.
    """
    digest = _noted(row) if isinstance(row, Item) else str(getattr(row, "rules", ""))
    return kept_rules(digest, ctx) if digest else ctx.prompts.rules


@lru_cache(maxsize=16)
def _read(text: str) -> RuleSet:
    return load_rules(text, place="A kept rule set")


def rules_note(row: Any, ctx: StageContext) -> dict[str, Any]:
    """Return what an item records about the rules of its row: name, version and hashes."""
    rules = rules_of(row, ctx)
    if rules is None:
        return {}
    digest = str(getattr(row, "rules", ""))
    return {"rules": {**rules.record, **({_KEPT: digest} if digest else {})}}


def _noted(item: Item) -> str:
    for note in item.provenance.values():
        rules = note.get("rules") if isinstance(note, Mapping) else None
        if isinstance(rules, Mapping) and rules.get(_KEPT):
            return str(rules[_KEPT])
    return ""
