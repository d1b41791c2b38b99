"""Versioned rule sets that every item of a benchmark must follow.

A rule set is a YAML file. Its red lines apply to every item, its other rules to one category. The
text of a rule goes into the prompt of its destination; a rule that names a check is also checked on
the reply. Rules are not removed but withdrawn: a later version says what held before, and why it
no longer does.
"""

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import digest_of
from reelbench.base.yaml_files import YamlError, read_yaml
from reelbench.data.fields import Rule as FieldRule
from reelbench.data.fields import field_faults, found_as, is_text, one_of
from reelbench.data.items import shown
from reelbench.make.parts.rule_checks import CHECKS, Asked

DESTINATIONS = ("question", "distractor", "clip-match", "vetting")  # prompts that rules go to
WRITING = ("question", "distractor")  # those of a rule that names none
ACTIVE, WITHDRAWN = "active", "withdrawn"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its text for a prompt, its checks with their settings, and why there is one."""

    id: str
    text: str
    checks: tuple[tuple[str, Any], ...] = ()
    tag: str = ""  # the short name of the failure that it answers
    destination: str = (
        ""  # the prompt that it goes to; those for questions and distractors if empty
    )
    reason: str = ""
    state: str = ACTIVE
    since: str = ""  # the version that it came with

    def is_for(self, destination: str) -> bool:
        """Whether it is active and goes to the prompt of a destination."""
        goes = destination in WRITING if not self.destination else destination == self.destination
        return self.state == ACTIVE and goes


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
    content: Mapping[str, Any] = field(repr=False, compare=False)  # as in its file

    @property
    def record(self) -> dict[str, str]:
        """Name, version and hash; the hash is of the content, not of the layout of the file."""
        return {"name": self.name, "version": self.version, "sha256": self.sha256}

    def rules(self, category: str) -> tuple[Rule, ...]:
        """Return the rules of a category, withdrawn ones too: the red lines, then its own."""
        return (*self.red_lines, *self.categories.get(category, ()))

    def text(self, category: str, destination: str = "question") -> str:
        """Return the active rules of a category as a Markdown list, for the prompt they go to."""
        rules = [rule for rule in self.rules(category) if rule.is_for(destination)]
        return "\n".join(f"- {rule.id}. {rule.text}" for rule in rules)

    def broken(
        self,
        category: str,
        question: str,
        options: Sequence[str],
        key: str | Collection[str],
        names: Sequence[str] = (),
    ) -> list[Broken]:
        """Return the active rules that a draft breaks; ``key`` is the right option, or several.

        ``names`` are the proper nouns in the texts about its source.
        """
        keys = (key,) if isinstance(key, str) else tuple(key)
        if options and not (keys and set(keys) <= set(options)):
            raise ValueError(f"The key {keys!r} has to be among the options {tuple(options)!r}.")
        asked = Asked(question, tuple(options), keys, tuple(names))
        return [
            Broken(rule.id, what)
            for rule in self.rules(category)
            if rule.state == ACTIVE
            for name, setting in rule.checks
            if (what := CHECKS[name].held(asked, setting))
        ]

    def with_rules(
        self,
        added: Sequence[Rule] = (),
        withdrawn: Mapping[str, str] | None = None,
        *,
        category: str = "",
        name: str = "",
    ) -> "RuleSet":
        """Return the next version: with further rules, and without those withdrawn.

        ``added`` become rules of ``category``, or red lines if it is empty; one without an id gets
        the next free one. ``withdrawn`` has the reason by id. The version counts up, or gets a
        number after a point where it is not one.
        """
        gone = dict(withdrawn or {})
        version = _next_version(self.version)
        content: dict[str, Any] = {**self.content, "version": version}
        content["name"] = name or self.name
        own = dict(self.content.get("categories", {}))
        content["red_lines"] = _without(self.content.get("red_lines", []), gone, version)
        own = {each: _without(rules, gone, version) for each, rules in own.items()}
        known = {rule["id"] for rules in (content["red_lines"], *own.values()) for rule in rules}
        if absent := sorted(set(gone) - known):
            raise ReelbenchError(
                f"The rule set {self.name} {self.version} has no rule {', '.join(absent)}."
            )
        records = []
        for rule in added:
            records.append(_record_of(rule, rule.id or _free_id(known), version))
            known.add(records[-1]["id"])
        if category:
            own[category] = [*own.get(category, []), *records]
        else:
            content["red_lines"] += records
        return _rule_set({**content, **({"categories": own} if own else {})}, None, "The rule set")

    def to_yaml(self) -> str:
        """Return the rule set as the text of a file, which ``load_rules`` reads as the same."""
        return yaml.safe_dump(dict(self.content), sort_keys=False, allow_unicode=True, width=100)


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
    return _rule_set(record, categories, place)


def rules_diff(old: RuleSet, new: RuleSet) -> str:
    """Return what differs between two versions: in a sentence for each rule, then as a diff."""
    before = {rule.id: rule for rules in _lists(old) for rule in rules}
    lines = []
    for rule in (rule for rules in _lists(new) for rule in rules):
        known = before.get(rule.id)
        why = f" because {rule.reason}" if rule.reason else ""
        if known is None:
            where = rule.destination or " and ".join(WRITING)
            lines.append(f"{rule.id} added to the {where} prompt{why}: {rule.text}")
        elif known.state != rule.state:
            verb = "withdrawn" if rule.state == WITHDRAWN else "active again"
            lines.append(f"{rule.id} {verb}{why}: {rule.text}")
        elif known != rule:
            lines.append(f"{rule.id} changed{why}: {rule.text}")
    diff = difflib.unified_diff(
        old.to_yaml().splitlines(),
        new.to_yaml().splitlines(),
        f"{old.name} {old.version}",
        f"{new.name} {new.version}",
        lineterm="",
    )
    return "\n".join([*lines, "", *diff]).strip() + "\n"


def _lists(rules: RuleSet) -> Iterator[Sequence[Rule]]:
    yield rules.red_lines
    yield from rules.categories.values()


def _next_version(version: str) -> str:
    head, point, last = version.rpartition(".")
    return f"{head}{point}{int(last) + 1}" if last.isdecimal() else f"{version}.2"


def _free_id(known: Collection[str]) -> str:
    """Return the id after the highest of the form R1, R2 and so on."""
    numbers = [int(each[1:]) for each in known if each[:1] == "R" and each[1:].isdecimal()]
    return f"R{max(numbers, default=0) + 1}"


def _without(
    rules: Sequence[Mapping[str, Any]], withdrawn: Mapping[str, str], version: str
) -> list[Mapping[str, Any]]:
    """Return the records of rules, some of them withdrawn in a version for a reason."""
    return [
        {**rule, "state": WITHDRAWN, "reason": f"{withdrawn[rule['id']]} (since {version})"}
        if rule["id"] in withdrawn
        else rule
        for rule in rules
    ]


def _record_of(rule: Rule, id_: str, version: str) -> dict[str, Any]:
    """Return a rule as a file has it; what says nothing is left out."""
    checks = [name if setting is None else {name: setting} for name, setting in rule.checks]
    record = {
        "id": id_,
        "tag": rule.tag,
        "destination": rule.destination,
        "text": rule.text,
        "reason": rule.reason,
        "since": rule.since or version,
        "check": checks,
    }
    return {name: value for name, value in record.items() if value}


def _rule_set(record: Any, categories: Collection[str] | None, place: str) -> RuleSet:
    if problems := list(_problems(record, categories)):
        listed = "\n".join(f"- {problem}" for problem in problems)
        raise ReelbenchError(f"{place} has these faults:\n{listed}")
    red_lines = tuple(map(_rule, record.get("red_lines", ())))
    own = {name: tuple(map(_rule, part)) for name, part in record.get("categories", {}).items()}
    return RuleSet(record["name"], record["version"], red_lines, own, digest_of(record), record)


def _rule(record: Mapping[str, Any]) -> Rule:
    texts = {name: record[name] for name in _ABOUT if name in record}
    return Rule(
        record["id"],
        " ".join(record["text"].split()),
        tuple(_checks(record.get("check", []))),
        **{name: " ".join(text.split()) for name, text in texts.items()},
    )


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
_SOME_TEXT: FieldRule = (False, is_text, _TEXT[2])


_ABOUT = {
    "tag": _SOME_TEXT,
    "destination": one_of(DESTINATIONS),
    "reason": _SOME_TEXT,
    "state": one_of((ACTIVE, WITHDRAWN)),
    "since": _SOME_TEXT,
}
_RULE = {"id": _TEXT, "text": _TEXT, "check": _ANY, **_ABOUT}


def _field_problems(record: Any, rules: Mapping[str, FieldRule]) -> Iterator[str]:
    for _, name, found, expected in field_faults(record, rules, strict=True, closed=True):
        yield f"{name}: found {found}, expected {expected}"
