"""The files and tables of a quality loop: rule sets with diffs, bad cases, and the rounds."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from reelbench.base.files import file_part, json_line, write_atomically
from reelbench.base.progress import counted
from reelbench.data.items import Item
from reelbench.make.parts.bad_cases import answers
from reelbench.make.parts.loop_history import LoopHistory, LoopRound, PilotItem
from reelbench.make.parts.pilot_review import PilotVerdict, item_slots
from reelbench.make.parts.rules import Rule, rules_diff
from reelbench.make.parts.shares import csv_text, share_of, stage_table
from reelbench.make.pipeline.context import StageContext
from reelbench.make.pipeline.store import record_of

FOLDER, ROUNDS_FILE = "rules", "rounds.csv"
_COLUMNS = (
    "category", "round", "rules", "items", "passed", "pass rate", "low", "high",
    "new failure types", "rules added", "rules withdrawn", "verdicts by",
)  # fmt: skip
_TYPES = ("failure type", "category", "first round", "rounds", "items", "rules", "suspects")


def publish(histories: Sequence[LoopHistory], ctx: StageContext, quiet: int, most: int) -> None:
    """Write the files of a loop, and show its tables and what failures stay."""
    for history in histories:
        write_history(history, ctx.out)
    rows = [_round_row(history, each) for history in histories for each in history.rounds]
    write_atomically(ctx.out / ROUNDS_FILE, csv_text(_COLUMNS, rows))
    title = "Rounds of the quality loop (pass rate with its 95 % interval)"
    ctx.tables.append(stage_table(title, _COLUMNS, rows))
    types = [row for history in histories for row in _type_rows(history)]
    if types:
        ctx.tables.append(stage_table("Failure types of the pilots", _TYPES, types))
    alike: dict[str, list[str]] = {}  # categories by what is said of them
    for each in histories:
        alike.setdefault(ending(each, quiet, most), []).append(each.category)
    for words, names in alike.items():
        who = names[0] if len(names) == 1 else f"each of {', '.join(names)}"
        ctx.notes.append(f"{ctx.stage}: {who} {words}")


def ending(history: LoopHistory, quiet: int, most: int) -> str:
    """Return why a category left the loop, and which failure types stay."""
    left = history.quiet() >= quiet
    done = len(history.decided)
    if not left and done < most:
        waits = len(history.rounds) > done
        what = "waits for verdicts" if waits else "could not be summarised, see what is undecided,"
        return f"{what} in round {done + 1}"
    stays = history.staying(quiet if left else 1)
    words = (
        f"left the loop after {counted(quiet, 'round')} without a new failure type"
        if left
        else f"did not become clean in {counted(most, 'round')}"
    )
    if not stays and not left:
        words += ", though the last one found nothing"
    still = f"; these failure types stay: {', '.join(stays)}" if stays else ""
    return f"{words}{still}"


def write_history(history: LoopHistory, out: Path) -> None:
    """Write the rule sets of a category with their diffs, and its bad cases."""
    folder = out / FOLDER / file_part(history.category or "all")
    folder.mkdir(parents=True, exist_ok=True)
    for rules in history.versions:
        write_atomically(folder / f"v{rules.version}.yaml", rules.to_yaml())
    for old, new in pairwise(history.versions):
        name = f"v{old.version}-v{new.version}.diff"
        write_atomically(folder / name, rules_diff(old, new))
    write_atomically(folder / "cases.md", _cases(history))
    write_atomically(folder / "pilots.jsonl", "".join(_pilot_lines(history)))


def _pilot_lines(history: LoopHistory) -> Iterator[str]:
    """Yield all items of pilots with what was decided about each, why and by whom."""
    for each in history.rounds:
        verdicts = {verdict.item.id: verdict for verdict in each.verdicts}
        for case in each.pilot:
            facts = {"round": each.number, "rules": dict(each.rules.record), "row": case.row}
            decision = _decision(verdicts.get(case.item.id))
            types = {"types": list(each.summary.types.get(case.item.id, ()))}
            yield json_line({**facts, **decision, **types, "item": record_of(case.item)})


def _decision(verdict: PilotVerdict | None) -> dict[str, Any]:
    if verdict is None:
        return {"decision": "waiting"}
    return {
        "decision": "reject" if verdict.failures else "accept",
        "by": verdict.by,
        "failures": [{"tag": each.tag, "comment": each.comment} for each in verdict.failures],
    }


def _round_row(history: LoopHistory, each: LoopRound) -> list[Any]:
    start = [history.category, each.number, each.rules.version, len(each.pilot)]
    if not each.verdicts:
        return [*start, "waiting", "", "", "", "", "", "", ""]
    passed = [not verdict.failures for verdict in each.verdicts]
    share = share_of([item.item for item in each.pilot], passed)
    return [
        *start,
        sum(passed),
        share.rate,
        *share.interval,
        "; ".join(each.new_types),
        ", ".join(rule.id for rule in each.added),
        ", ".join(each.summary.withdrawn or ()),
        ", ".join(dict.fromkeys(verdict.by for verdict in each.verdicts)),
    ]


def _type_rows(history: LoopHistory) -> list[list[Any]]:
    rows = []
    rules = history.versions[-1].rules(history.category)
    for first in history.decided:
        for tag in first.new_types:
            found = [each for each in history.decided if tag in each.types]
            items = sum(tag in own for each in found for own in each.summary.types.values())
            rows.append(
                [
                    tag,
                    history.category,
                    first.number,
                    ", ".join(str(each.number) for each in found),
                    items,
                    ", ".join(_named(rule) for rule in rules if answers(rule.tag, tag)),
                    ", ".join(first.suspects.get(tag, ())),
                ]
            )
    return rows


def _named(rule: Rule) -> str:
    return rule.id if rule.state == "active" else f"{rule.id} ({rule.state})"


def _cases(history: LoopHistory) -> str:
    """Return the bad cases as Markdown: before, the rules, and after."""
    parts = [f"# Bad cases: {history.category}"]
    parts += [_one_case(history, each, case) for each in history.decided for case in each.bad]
    if len(parts) == 1:
        parts.append("No item of a pilot has failed.")
    return "\n\n".join(parts) + "\n"


def _one_case(history: LoopHistory, each: LoopRound, case: PilotItem) -> str:
    verdict = next(found for found in each.verdicts if found.item.id == case.item.id)
    types = each.summary.types.get(case.item.id, ())
    lines = [f"## Round {each.number}: {case.item.id}", "", f"Rules: version {each.rules.version}"]
    lines += [
        f"- {failure.tag or 'fails'} ({verdict.by})"
        + (f": {failure.comment}" if failure.comment else "")
        for failure in verdict.failures
    ]
    for tag in types:
        suspects = each.suspects.get(tag)
        lines += [f"- {tag}: a new type; suspected: {', '.join(suspects)}"] if suspects else []
    lines += ["", "### Before", "", _shown(case.item), "", "### Rule", ""]
    rules = history.versions[-1].rules(history.category)
    answering = [rule for rule in rules if any(answers(rule.tag, tag) for tag in types)]
    lines += [
        f"- {_named(rule)}, since version {rule.since or each.rules.version}, {rule.destination}: "
        f"{rule.text}" + (f" (because {rule.reason})" if rule.reason else "")
        for rule in answering
    ] or ["(none yet)"]
    after = history.after(each.number, case)
    lines += ["", "### After", "", _shown(after.item) if after else "(not regenerated)"]
    return "\n".join(lines)


def _shown(item: Item) -> str:
    slots = item_slots(item, "")
    ends = f"Key: {slots['key']}", f"Clips: {slots['clips']}"
    return "\n\n".join(part for part in (slots["question"], slots["options"], *ends) if part)
