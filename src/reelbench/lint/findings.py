"""The findings of the linter in four tiers, and the statistics behind them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from reelbench.data.items import Item, Problem


class Severity(IntEnum):
    """The four tiers of findings. ``--fix`` corrects those of LOW; the others are for people."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4


# Every tag there is, its tier and what it means. The first eight are MuseBench's (Table 6). A
# shortcut is HIGH instead of MEDIUM where a guesser gains much by it (shortcuts.py).
TAGS: dict[str, tuple[Severity, str]] = {
    "INVALID_LABEL": (Severity.CRITICAL, "the answer names an option that does not exist"),
    "EMBEDDED_MISMATCH": (Severity.CRITICAL, "options inside the question differ from the options"),
    "MULTI_0_ANSWER": (Severity.CRITICAL, "a multi-select item without an answer"),
    "ALL_SAME_PREFIX": (Severity.HIGH, "all options begin with the same 50 characters"),
    "DUPLICATE_OPTS": (Severity.HIGH, "two options have the same text"),
    "MULTI_1_ANSWER": (Severity.MEDIUM, "a multi-select item with a single right option"),
    "MANY_OPTS_SIMILAR": (Severity.MEDIUM, "most pairs of options begin with the same characters"),
    "ANSWER_TEXT_MISMATCH": (Severity.LOW, "the answer's text is not exactly the option's"),
    "BAD_FIELD": (Severity.CRITICAL, "a field that breaks the contract of items.jsonl"),
    "MISSING_MEDIA": (Severity.CRITICAL, "the media file does not exist"),
    "UNREADABLE_MEDIA": (Severity.CRITICAL, "the media file cannot be decoded"),
    "WINDOW_PAST_END": (Severity.HIGH, "start or end lies past the end of the media"),
    "EVIDENCE_PAST_END": (Severity.HIGH, "evidence lies past the end of the media"),
    "ANSWER_TEXT_CONTRADICTS": (Severity.HIGH, "the answer's text is that of another option"),
    "CONTRADICTORY_KEYS": (Severity.HIGH, "the same question about the same media, other answers"),
    "LETTER_AS_REFERENCE": (Severity.HIGH, "an open question whose reference is a letter"),
    "NOT_REPLACED": (Severity.HIGH, "text that `reelbench new` wrote for its author to replace"),
    "KEY_POSITION": (Severity.MEDIUM, "the right option's place gives it away"),
    "KEY_LENGTH": (Severity.MEDIUM, "the right option's length gives it away"),
    "KEY_NUMBER": (Severity.MEDIUM, "the rank of the right number gives it away"),
    "KEY_WORDING": (Severity.MEDIUM, "the right option's wording gives it away"),
    "NONE_OF_THE_ABOVE": (Severity.MEDIUM, "'none of the above' is right too often or too rarely"),
    "YES_NO_IMBALANCE": (Severity.MEDIUM, "one of yes and no is right much more often"),
    "NEAR_DUPLICATE": (Severity.MEDIUM, "nearly the same question about the same media"),
    "ANSWER_IN_QUESTION": (Severity.MEDIUM, "the question holds the right option's text"),
    "KEY_STANDS_OUT": (Severity.MEDIUM, "the right option is twice as long as the others, or half"),
    "HTML_IN_TEXT": (
        Severity.MEDIUM,
        "HTML in the question or an option, which models see as text",
    ),
    "EMBEDDED_OPTIONS": (Severity.MEDIUM, "options inside the question: orders cannot be varied"),
    "MULTI_ALL_ANSWERS": (Severity.MEDIUM, "a multi-select item in which every option is right"),
    "ALL_OF_THE_ABOVE": (Severity.MEDIUM, "an option that refers to the others"),
    "NONE_NOT_LAST": (Severity.MEDIUM, "'none of the above' before other options"),
    "UNKNOWN_TAG": (Severity.MEDIUM, "a tag value that the taxonomy does not have"),
    "FOREIGN_FORMAT": (Severity.MEDIUM, "a file of items in another format than items.jsonl"),
    "UNKNOWN_FIELD": (Severity.MEDIUM, "a field that looks misspelt, and is not read"),
    "LOOSE_WHITESPACE": (Severity.LOW, "blanks around the question or an option"),
    "BYTE_ORDER_MARK": (Severity.LOW, "a byte order mark in front of the file"),
    "CRLF": (Severity.LOW, "a line that ends in CR LF"),
    "BLANK_LINE": (Severity.LOW, "a blank line between items"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; without an item it is about the whole benchmark."""

    tag: str
    severity: Severity
    message: str
    item: str = ""
    line: int = 0

    @classmethod
    def of(cls, tag: str, message: str, item: Item | None = None, line: int = 0) -> "Finding":
        """Return a finding with the tier of its tag."""
        return cls(tag, TAGS[tag][0], message, item.id if item else "", line)

    @classmethod
    def from_problem(cls, problem: Problem, item: Item | None = None) -> "Finding":
        """Return the finding that says what is wrong with a field of an item."""
        tag = problem.code if problem.code in TAGS else "BAD_FIELD"
        message = f"{problem.field}: found {problem.found}, expected {problem.expected}"
        return cls.of(tag, message, item, problem.line)

    def to_record(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {
            "tag": self.tag,
            "severity": self.severity.name,
            "item": self.item or None,
            "line": self.line or None,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class LintReport:
    """All findings about one benchmark, the most severe first."""

    path: str
    items: int
    media: int
    findings: tuple[Finding, ...]
    figures: Mapping[str, Any]

    @property
    def worst(self) -> Severity | None:
        """The most severe tier among the findings; None without any."""
        return max((finding.severity for finding in self.findings), default=None)

    def to_record(self) -> dict[str, Any]:
        """Return the report as plain data."""
        tiers = Counter(finding.severity.name for finding in self.findings)
        return {
            "path": self.path,
            "items": self.items,
            "media": self.media,
            "tiers": {severity.name: tiers[severity.name] for severity in Severity},
            "tags": dict(sorted(Counter(finding.tag for finding in self.findings).items())),
            "figures": dict(self.figures),
            "findings": [finding.to_record() for finding in self.findings],
        }
