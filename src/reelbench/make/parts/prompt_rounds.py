"""The rounds of prompts: what each version of a prompt gave, and how much of it passed a filter."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from reelbench.base.files import digest_of, json_line, write_atomically
from reelbench.data.items import Item
from reelbench.evaluate.prompt import slots_of
from reelbench.make.parts.prompt_changes import (
    CHANGES_FOLDER,
    PromptChange,
    PromptRound,
    ReviewedDraft,
    read_records,
)
from reelbench.make.parts.shares import csv_text, share_of, stage_table
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.funnel import RowOutcome, row_outcomes
from reelbench.make.pipeline.prompts import shown_examples
from reelbench.make.pipeline.run import StageResult
from reelbench.make.pipeline.stage import Undecided
from reelbench.make.pipeline.store import RowResult

PROMPT_ROUNDS = f"{CHANGES_FOLDER}/rounds.jsonl"
_TABLE = f"{CHANGES_FOLDER}/rounds.csv"  # a quality loop has its own beside the items
_COLUMNS = (
    "prompt", "category", "round", "version", "drafts", "answered blind", "passed", "pass rate",
    "low", "high", "changes",
)  # fmt: skip


@dataclass(slots=True)
class PromptDrafts:
    """What came of one prompt: its drafts, and which of them were tested with what outcome."""

    prompt: str
    category: str  # whose rules and examples it was filled with
    drafts: int = 0
    tested: list[tuple[Item, ReviewedDraft]] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)  # reasons for which others were rejected
    undecided: int = 0

    def count(self, outcome: RowOutcome) -> None:
        """Count a draft that did not reach the test, where it did not."""
        self.undecided += outcome.undecided is not None
        if outcome.rejected:
            self.broken[outcome.rejected.reason] += 1

    def test(self, outcome: RowOutcome) -> None:
        """Count a draft that was tested."""
        if outcome.undecided:
            self.undecided += 1
            return
        item, (right, of) = outcome.row, outcome.answered or (0, 0)
        draft = ReviewedDraft(
            id=item.id,
            question=item.question,
            options=tuple(item.options),
            answer=tuple(item.answer),
            right=right,
            of=of,
            passed=not outcome.failed,
        )
        self.tested.append((item, draft))


def drafts_by_prompt(
    written: StageResult, tested: StageResult, passed: Sequence[StageResult]
) -> list[PromptDrafts]:
    """Return the drafts of each prompt, by category and name as the tasks have them."""
    found: dict[str, PromptDrafts] = {}
    of_row: dict[str, PromptDrafts] = {}  # by the id of what became of its drafts
    for task, result in zip(written.rows, written.results, strict=True):
        category = task.rules_for or task.category
        own = found.setdefault(task.prompt, PromptDrafts(task.prompt, category))
        if isinstance(result, Undecided):
            own.undecided += 1
            continue
        own.drafts += len(result.rows)
        of_row |= {draft.id: own for draft in result.rows}
    for each in passed[passed.index(written) + 1 : passed.index(tested)]:
        for outcome, result in zip(row_outcomes(each), each.results, strict=True):
            own = of_row[outcome.row.id]
            own.count(outcome)
            if isinstance(result, RowResult):
                of_row |= {row.id: own for row in result.rows}
    for outcome in row_outcomes(tested):
        of_row[outcome.row.id].test(outcome)
    return list(found.values())


def measured_rounds(found: Sequence[PromptDrafts], ctx: StageContext) -> list[PromptRound]:
    """Return all rounds so far, the last of each prompt measured anew or added."""
    rounds = read_records(ctx.out / PROMPT_ROUNDS, PromptRound)
    for drafts in found:
        version = _version(drafts, ctx)
        own = [each for each in rounds if each.prompt == drafts.prompt]
        if own and own[-1].version == version:
            rounds[rounds.index(own[-1])] = _round(drafts, own[-1].number, version)
        else:
            rounds.append(_round(drafts, len(own) + 1, version))
    return rounds


def _version(drafts: PromptDrafts, ctx: StageContext) -> str:
    """Return the hash of what a writer is told beside its material."""
    prompts = ctx.prompts
    text = prompts.texts[drafts.prompt]
    shared = {slot: prompts.texts[slot] for slot in slots_of(text) if slot in prompts.texts}
    rules = prompts.rules.text(drafts.category) if prompts.rules else ""
    examples = shown_examples(prompts.examples.get(drafts.category, ()))
    return digest_of([text, shared, rules, examples])


def _round(drafts: PromptDrafts, number: int, version: str) -> PromptRound:
    share = share_of(
        [item for item, _ in drafts.tested], [draft.passed for _, draft in drafts.tested]
    )
    return PromptRound(
        prompt=drafts.prompt,
        category=drafts.category,
        number=number,
        version=version,
        drafts=drafts.drafts,
        asked=share.of,
        passed=share.count,
        rate=share.rate,
        interval=share.interval,
    )


def publish_rounds(
    ctx: StageContext, rounds: Sequence[PromptRound], changes: Sequence[PromptChange]
) -> None:
    """Write the files of the rounds, and show their table."""
    lines = [json_line(msgspec.to_builtins(each)) for each in rounds]
    write_atomically(ctx.out / PROMPT_ROUNDS, "".join(lines))
    ordered = sorted(rounds, key=lambda each: (each.prompt, each.number))
    rows = [_row(each, changes) for each in ordered]
    write_atomically(ctx.out / _TABLE, csv_text(_COLUMNS, rows))
    title = "Rounds of the prompts (share that passes, with its 95 % interval)"
    ctx.tables.append(stage_table(title, _COLUMNS, rows))


def _row(each: PromptRound, changes: Sequence[PromptChange]) -> list[Any]:
    own = [c for c in changes if (c.prompt, c.round.number) == (each.prompt, each.number)]
    states = ", ".join(change.state for change in own)
    measured = [each.drafts, each.asked, each.passed, each.rate, *each.interval]
    return [each.prompt, each.category, each.number, each.version[:12], *measured, states]
