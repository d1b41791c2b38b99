"""Versioned rule sets that every item of a benchmark must follow.

A rule set is a YAML file. Its red lines apply to every item, its other rules to one category. The
text of the rules goes into the prompt that asks for questions; a rule that names a check is also
checked on the reply.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.data.fields import Rule as FieldRule
from reelbench.data.fields import field_faults, found_as, is_text
from reelbench.data.items import shown
from reelbench.make.parts.rule_checks import CHECKS, Asked


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its text for the prompt, and its checks with their settings."""

    id: str
    text: str
    checks: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that a draft breaks, and how."""

    rule: str
    what: str


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules that questions are written by; the provenance of every item has its ``record``."""

    name: str
    version: str
    red_lines: tuple[Rule, ...]
    categories: Mapping[str, tuple[Rule, ...]]
    sha256: str

    @property
    def record(self) -> dict[str, str]:
        """Name, version and hash; the hash is of the content, not of the layout of the file."""
        return {"name": self.name, "version": self.version, "sha256": self.sha256}

    def rules(self, category: str) -> tuple[Rule, ...]:
        """Return the rules of a category: the red lines, then its own."""
        return (*self.red_lines, *self.categories.get(category, ()))

    def text(self, category: str) -> str:
        """Return the rules of a category as a Markdown list, for a prompt."""
        return "\n".join(f"- {rule.id}. {rule.text}" for rule in self.rules(category))

    def broken(
        self, category: str, question: str, options: Sequence[str], key: str | Collection[str]
    ) -> list[Broken]:
        """Return the rules that a draft breaks; ``key`` is the right option, or several."""
        keys = (key,) if isinstance(key, str) else tuple(key)
        if options and not (keys and set(keys) <= set(options)):
            raise ValueError(f"The key {keys!r} has to be among the options {tuple(options)!r}.")
        asked = Asked(question, tuple(options), keys)
        return [
            Broken(rule.id, what)
            for rule in self.rules(category)
            for name, setting in rule.checks
            if (what := CHECKS[name].held(asked, setting))
        ]


def load_rules(
    source: Path | str, categories: Collection[str] | None = None, place: str = "The rule set"
) -> RuleSet:
    """Return the rule set in a file, or in a text that comes from ``place``.

    With ``categories``, rules for any other category are an error.
    """
    place = str(source) if isinstance(source, Path) else place
    try:
        record, _ = read_yaml(source)
    except YamlError as error:
        raise ReelbenchError(f"{place} cannot be read as a rule set: {error}.") from None
    if problems := list(_problems(record, categories)):
        listed = "\n".join(f"- {problem}" for problem in problems)
        raise ReelbenchError(f"{place} has these faults:\n{listed}")
    red_lines = tuple(map(_rule, record.get("red_lines", ())))
    own = {name: tuple(map(_rule, part)) for name, part in record.get("categories", {}).items()}
    return RuleSet(record["name"], record["version"], red_lines, own, digest_of(record))


def _rule(record: Mapping[str, Any]) -> Rule:
    text = " ".join(record["text"].split())
    return Rule(record["id"], text, tuple(_checks(record.get("check", []))))


def _checks(check: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the checks of a rule, which names one, some with their settings, or a list."""
    for name in check if isinstance(check, list) else [check]:
        yield from name.items() if isinstance(name, dict) else [(name, None)]


def _problems(record: Any, categories: Collection[str] | None) -> Iterator[str]:
    if not isinstance(record, dict):
        yield f"found {found_as(record)}, expected a mapping with name, version and red_lines"
        return
    yield from _field_problems(record, _RULE_SET)
    lists = {"red_lines": record.get("red_lines", [])}
    own = record.get("categories", {})
    if not isinstance(own, dict) or not all(map(is_text, own)):
        yield f"categories: found {found_as(own)}, expected a mapping of categories to their rules"
        own = {}
    for name, rules in own.items():
        lists[f"categories.{name}"] = rules
        if categories is not None and name not in categories:
            yield f"categories.{name}: there is no such category; there are {', '.join(categories)}"
    yield from _list_problems(lists)


def _list_problems(lists: Mapping[str, Any]) -> Iterator[str]:
    first: dict[Any, str] = {}
    for name, rules in lists.items():
        if not isinstance(rules, list):
            yield f"{name}: found {found_as(rules)}, expected a list of rules"
            continue
        for number, rule in enumerate(rules, start=1):
            where = f"{name}, rule {number}"
            yield from (f"{where}: {problem}" for problem in _rule_problems(rule))
            known = rule.get("id") if isinstance(rule, dict) else None
            if is_text(known) and first.setdefault(known, where) != where:
                yield f"{where}: the id {known!r} is already that of {first[known]}"


def _rule_problems(rule: Any) -> Iterator[str]:
    if not isinstance(rule, dict):
        yield f"found {found_as(rule)}, expected a mapping with id and text"
        return
    yield from _field_problems(rule, _RULE)
    for name, setting in _checks(rule.get("check", [])):
        if not isinstance(name, str) or name not in CHECKS:
            yield f"check: there is no check {shown(str(name))}; there are {', '.join(CHECKS)}"
        elif setting is not None and not CHECKS[name].fits(setting):
            yield f"check.{name}: found {found_as(setting)}, expected {CHECKS[name].expected}"


_TEXT: FieldRule = (True, is_text, 'text (put a number in quotes: "1")')
_ANY: FieldRule = (False, lambda _: True, "")  # checked apart
_RULE_SET = {"name": _TEXT, "version": _TEXT, "red_lines": _ANY, "categories": _ANY}
_RULE = {"id": _TEXT, "text": _TEXT, "check": _ANY}


def _field_problems(record: Any, rules: Mapping[str, FieldRule]) -> Iterator[str]:
    for _, name, found, expected in field_faults(record, rules, strict=True, closed=True):
        yield f"{name}: found {found}, expected {expected}"
