"""What happened in the rounds of a quality loop, by category."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reelbench.data.failure_types import split_tag
from reelbench.make.parts.bad_cases import CaseSummary
from reelbench.make.parts.pilot_review import PilotVerdict
from reelbench.make.parts.rules import Rule, RuleSet


@dataclass(frozen=True, slots=True)
class PilotItem:
    """An item of a pilot: the id of the row it was made from, and its id outside of rounds."""

    row: str
    base: str
    item: Any


@dataclass(frozen=True, slots=True)
class LoopRound:
    """One round: the pilot, the rules it was made by, and what came of its verdicts."""

    number: int
    rules: RuleSet
    pilot: Sequence[PilotItem]
    verdicts: Sequence[PilotVerdict] = ()  # as many as the pilot, or none while it waits
    summary: CaseSummary = field(default_factory=lambda: CaseSummary({}))
    new_types: tuple[str, ...] = ()
    suspects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # rules, by new type
    added: tuple[Rule, ...] = ()  # with their ids

    @property
    def types(self) -> set[str]:
        """All failure types that it found."""
        return {tag for own in self.summary.types.values() for tag in own}

    @property
    def bad(self) -> list[PilotItem]:
        """The items that failed."""
        return [
            each
            for each, verdict in zip(self.pilot, self.verdicts, strict=False)
            if verdict.failures
        ]


@dataclass(slots=True)
class LoopHistory:
    """The rounds of one category so far; ``versions`` are its rule sets, the last one holds."""

    category: str
    versions: list[RuleSet]
    rounds: list[LoopRound] = field(default_factory=list)

    @property
    def known(self) -> list[str]:
        """The failure types that rules answer or rounds found, in that order."""
        rules = self.versions[-1].rules(self.category)
        tags = [rule.tag for rule in rules if split_tag(rule.tag)[1]]  # those that name a dimension
        return list(dict.fromkeys([*tags, *(t for each in self.rounds for t in each.new_types)]))

    @property
    def decided(self) -> list[LoopRound]:
        """The rounds whose verdicts are complete."""
        return [each for each in self.rounds if each.verdicts]

    def quiet(self) -> int:
        """How many rounds in a row, up to the last, found no new type."""
        count = 0
        for each in reversed(self.decided):
            if each.new_types:
                break
            count += 1
        return count

    def staying(self, last: int) -> list[str]:
        """The types that were still found in so many of the last rounds."""
        return sorted({tag for each in self.decided[-last:] for tag in each.types})

    def after(self, number: int, case: PilotItem) -> PilotItem | None:
        """Return what the round after one made of a bad case: its item, or another of its row."""
        later = next((each for each in self.rounds if each.number == number + 1), None)
        if later is None:
            return None
        same = [each for each in later.pilot if each.row == case.row]
        return next((each for each in same if each.base == case.base), same[0] if same else None)
